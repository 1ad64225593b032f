//! A premove: an action that the player has chosen ahead. The session signs it when its turn comes, if it is still legal and
//! still means the same, and drops it with a word if not.
//!
//! Nobody else hears of it before, and nothing new is on the wire. The journal has it as a note, so that a program which
//! returns still keeps it.

use crate::events::Premove;
use fairdeal_games::{AnyGame, TableGame as _};
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::table::live::Table;
use fairdeal_protocol::table::replica::StepKind;

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
            return Verdict::Gone("it would mean something else now".to_owned());
        }
        let checked = game.check(me, action);
        if table.is_my_turn() && game.out_of_turn(action) && table.has_called() {
            return Verdict::Waits;
        }
        if table.is_my_turn() {
            return checked.map_or_else(|why| Verdict::Gone(why.to_string()), |()| Verdict::Due);
        }
        if game.to_act().contains(me) {
            return Verdict::Waits;
        }
        match game.ahead(me) {
            None => Verdict::Gone("you have no turn left in this hand".to_owned()),
            Some(ahead) => {
                ahead.check(me, action).map_or_else(|why| Verdict::Gone(why.to_string()), |()| Verdict::Waits)
            }
        }
    }
}
