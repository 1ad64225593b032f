//! A premove: an action that the player has chosen ahead. The session signs it when its turn comes, if it is still legal and
//! still means the same, and drops it with a word if not.
//!
//! Nobody else hears of it before, and nothing new is on the wire. The journal has it as a note, so that a program which
//! returns still keeps it.

use fairdeal_games::{AnyAction, AnyGame, TableGame as _};
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::table::journal::{MAX_NOTE, Record};
use fairdeal_protocol::table::live::Table;
use fairdeal_protocol::table::replica::StepKind;
use fairdeal_protocol::wire::codec::{decode, encode};
use serde::{Deserialize, Serialize};

/// An action that was chosen ahead.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Premove {
    /// The deal in which it was chosen: in another one its handles would mean other cards.
    deal: u32,
    action: AnyAction,
    /// The thing that it takes ([`TableGame::object`](fairdeal_games::TableGame::object)).
    object: u32,
}

/// The state of a premove in a position.
#[derive(Debug, PartialEq)]
pub(super) enum Verdict {
    /// Its moment has not come.
    Waits,
    /// It can be signed now.
    Due,
    /// It cannot come about any more, for this reason.
    Gone(String),
}

impl Premove {
    pub(super) fn new(table: &Table<AnyGame>, action: AnyAction) -> Self {
        let object = table.game().object(table.me(), &action);
        Self { deal: table.replica().deal(), action, object }
    }

    pub(super) fn action(&self) -> &AnyAction {
        &self.action
    }

    pub(super) fn judge(&self, table: &Table<AnyGame>) -> Verdict {
        let (game, me, action) = (table.game(), table.me(), &self.action);
        if table.replica().deal() != self.deal {
            return Verdict::Gone("another hand has begun".to_owned());
        }
        // While cards are shuffled or opened, the game stands in the middle of an action.
        if !matches!(table.replica().kind(), Some(StepKind::Action { .. })) {
            return Verdict::Waits;
        }
        if game.object(me, action) != self.object {
            return Verdict::Gone("something else is in that place now".to_owned());
        }
        let checked = game.check(me, action);
        if table.is_my_turn() {
            return checked.map_or_else(|why| Verdict::Gone(why.to_string()), |()| Verdict::Due);
        }
        if game.to_act().contains(me) {
            return Verdict::Waits;
        }
        if game.out_of_turn(action) && checked.is_ok() {
            let may_call = !table.has_called() && table.pending().is_none();
            return if may_call { Verdict::Due } else { Verdict::Waits };
        }
        match game.ahead(me) {
            None => Verdict::Gone("that turn will not come".to_owned()),
            Some(ahead) => {
                ahead.check(me, action).map_or_else(|why| Verdict::Gone(why.to_string()), |()| Verdict::Waits)
            }
        }
    }
}

/// The player's premove, if there is one, and whether the journal has it as it is.
#[derive(Debug, Default)]
pub(crate) struct KeptReady {
    premove: Option<Premove>,
    is_new: bool,
}

impl KeptReady {
    /// The premove that a journal's records end with.
    pub(crate) fn of(records: &[Record]) -> Self {
        let notes = records.iter().rev();
        let note = notes.filter_map(|record| if let Record::Note(note) = record { Some(note) } else { None }).next();
        // What cannot be read is of another version: nothing is kept then.
        let premove = note.and_then(|note| decode::<Option<Premove>>(note, MAX_NOTE).ok()).flatten();
        Self { premove, is_new: false }
    }

    pub(super) fn get(&self) -> Option<&Premove> {
        self.premove.as_ref()
    }

    pub(super) fn set(&mut self, premove: Option<Premove>) {
        self.is_new |= self.premove != premove;
        self.premove = premove;
    }

    /// The record of what has changed.
    pub(super) fn record(&mut self) -> Option<Record> {
        if !std::mem::take(&mut self.is_new) {
            return None;
        }
        encode(&self.premove).try_into().ok().map(Record::Note)
    }
}
