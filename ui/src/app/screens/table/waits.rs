//! The sentences on what a table waits for, and what the player can do meanwhile.

use fairdeal_games::{TableGame as _, listed};
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::party::Party;
use fairdeal_protocol::seat::SeatSet;
use fairdeal_protocol::table::live::Closing;
use fairdeal_session::view::{Remedy, Snapshot, Standing, time_in_words};

use super::TableScreen;
use super::choosing::AHEAD;
use crate::keys::{Intent, Keymap};
use crate::tables::words;

impl TableScreen {
    /// Whether this player can do nothing at the table now, whatever the rules allow: the table has stopped, or an
    /// action of the player waits for the programs of others.
    pub(super) fn is_held(&self) -> bool {
        let holds = |now: &Snapshot| now.waits.pending.is_some() || now.waits.is_leaving;
        self.is_closed() || self.snapshot.as_ref().is_some_and(holds)
    }

    /// Whether the table has stopped for this player, or the others have closed it.
    pub(super) fn is_closed(&self) -> bool {
        let closed = |now: &Snapshot| !now.waits.closed_by.is_empty();
        self.ending.failed.is_some() || self.snapshot.as_ref().is_some_and(closed)
    }

    /// The players who have closed the table without this one, as a sentence.
    pub(super) fn closed_in_words(&self) -> Option<String> {
        let now = self.snapshot.as_ref()?;
        let names: Vec<String> = self.owners(now.waits.closed_by).iter().map(|seat| self.name_of(seat)).collect();
        let closed = !names.is_empty();
        closed.then(|| format!("{} closed the table while you were away: the game stays unfinished.", listed(&names)))
    }

    /// The state of the table while the programs of others do not answer, and what the player can do; `key` pauses. In
    /// the player's own turn the table does not wait for them yet.
    pub(super) fn unanswering_in_words(&self, key: &str) -> Option<String> {
        let now = self.snapshot.as_ref()?;
        let owners = self.owners(now.waits.unanswering);
        let names: Vec<String> = owners.iter().map(|seat| self.name_of(seat)).collect();
        let (is_one, all) = (names.len() == 1, listed(&names));
        let state = if names.is_empty() {
            return None;
        } else if owners.iter().all(|seat| self.paused.contains(seat)) {
            format!("{all} {} paused", if is_one { "has" } else { "have" })
        } else {
            let programs = self.programs(owners, "do not answer", "does not answer")?;
            programs.strip_prefix("the ").map(|rest| format!("The {rest}")).unwrap_or(programs)
        };
        let is_mine = now.me.is_some_and(|me| now.game.to_act().contains(me)) && now.waits.pending.is_none();
        if is_mine {
            return Some(format!("{state}: your move will wait. The game is saved, and {key} pauses it."));
        }
        let remedy = now.waits.remedy.filter(|(_, left)| *left > 0).map_or_else(String::new, |(remedy, left)| {
            let what = match remedy {
                Remedy::Close => "you may close the table".to_owned(),
                Remedy::PlayOn => format!("the game goes on without {all}"),
            };
            format!(" In {} {what}.", time_in_words(left))
        });
        Some(format!("{state}. The game is saved: {all} can resume it, and {key} pauses it.{remedy}"))
    }

    /// The remedies of the player against those who are late or away, as sentences after others. `says_why` adds the
    /// reason.
    pub(super) fn way_out(&self, keys: &Keymap, says_why: bool) -> String {
        let key = keys.key(Intent::Quit);
        let gift = || self.gift_in_words(&keys.key(Intent::Palette));
        let Some(waits) = self.snapshot.as_ref().map(|now| &now.waits) else {
            return String::new();
        };
        match waits.may_claim {
            Some(Closing::Unsigned) => {
                format!(
                    " Too few of the others are there. Press {key} to pause: the game is saved, and the history can give it up."
                )
            }
            Some(closing) => {
                let why = self.closing_in_words(closing).filter(|_| says_why);
                let why = why.map_or_else(String::new, |why| format!(" {why}."));
                let gift = gift();
                format!("{why} Press {key}, then c, to close the table: the game ends unfinished.{gift}")
            }
            None => waits.may_propose.iter().next().map_or_else(String::new, |seat| {
                format!(" Press x to propose playing on without {}.{}", self.name_of(seat), gift())
            }),
        }
    }

    /// The player's own action that waits for the programs of others, as a sentence.
    pub(super) fn pending_in_words(&self) -> Option<String> {
        let now = self.snapshot.as_ref()?;
        let programs = self.programs(awaited(now), "have heard it", "has heard it");
        if now.waits.is_leaving {
            let heard = programs.unwrap_or_else(|| "the others have heard it".to_owned());
            return Some(format!("You leave for good as soon as {heard}. Stay until then."));
        }
        let action = now.waits.pending.as_ref()?;
        // Those who do not answer have a sentence of their own.
        let silent = self.owners(now.waits.unanswering);
        let thinking = self.owners(awaited(now)).iter().filter(|seat| !silent.contains(*seat)).collect();
        let programs = self.programs(thinking, "", "");
        let waits = programs.map_or_else(String::new, |programs| format!("; it waits for {programs}"));
        if !now.game.out_of_turn(action) {
            return Some(format!("Your move is made{waits}."));
        }
        // What comes after a colon explains an action that is still to be chosen.
        let call = self.view(&[], |view, now| words(&now.game, action, view)).unwrap_or_default();
        let call = call.split(':').next().unwrap_or_default();
        Some(format!("You {call}{waits}."))
    }

    /// The effect of the key for the next turn, if it has one.
    pub(super) fn ahead_in_words(&self) -> Option<&'static str> {
        if self.premove().is_some() {
            return Some("take back your prepared move");
        }
        if self.choice.ahead.is_some() {
            return Some("prepare no move");
        }
        self.next_turn().map(|_| "prepare a move for your next turn")
    }

    /// The same as a label. While the player chooses, the prompt names the key that goes back.
    pub(super) fn ahead_label(&self) -> Option<&'static str> {
        self.ahead_in_words()
            .filter(|_| self.choice.ahead.is_none())
            .map(|_| if self.premove().is_some() { "take back" } else { "prepare" })
    }

    /// The premove, as a sentence.
    pub(super) fn ready_in_words(&self) -> Option<String> {
        let action = self.premove()?;
        let call = self.view(&[], |view, now| {
            let ahead = now.me.and_then(|me| now.game.ahead(me));
            words(ahead.as_ref().unwrap_or(&now.game), action, view)
        });
        Some(format!("Prepared: {}. {AHEAD} takes it back.", call.unwrap_or_default().trim_end_matches('.')))
    }

    /// The players whom a chat message of this moment does not reach, as a sentence: chat is stored nowhere.
    pub(super) fn unread_in_words(&self) -> Option<String> {
        // The host hands a message on to those who are only reached through others.
        let now = self.snapshot.as_ref()?;
        let missing = self.missing.minus(now.connected).minus(now.indirect);
        let missing: Vec<String> = self.owners(missing).iter().map(|seat| self.name_of(seat)).collect();
        let verb = if missing.len() == 1 { "is" } else { "are" };
        (!missing.is_empty())
            .then(|| format!("{} {verb} not connected and will not get this message.", listed(&missing)))
    }

    /// The programs of these seats and what they do, if any is another's: "Béla's program has heard it".
    pub(super) fn programs(&self, seats: SeatSet, many: &str, one: &str) -> Option<String> {
        let names: Vec<String> = self.owners(seats).iter().map(|seat| self.name_of(seat)).collect();
        let text = match names.as_slice() {
            [] => return None,
            [name] => format!("{name}'s program {one}"),
            names => format!("the programs of {} {many}", listed(names)),
        };
        Some(text.trim_end().to_owned())
    }

    /// The first seats of the parties that these seats belong to, without this player's own.
    fn owners(&self, seats: SeatSet) -> SeatSet {
        let Some(now) = &self.snapshot else {
            return SeatSet::EMPTY;
        };
        let parties = &now.seating.parties;
        let own = now.me.and_then(|me| parties.party_of(me));
        let others = seats.iter().filter(|seat| own.is_none() || parties.party_of(*seat) != own);
        others.map(|seat| parties.party_of(seat).map_or(seat, Party::lowest)).collect()
    }
}

/// The seats whose entries the open step lacks.
fn awaited(now: &Snapshot) -> SeatSet {
    match &now.standing {
        Standing::Sealed(progress) => progress.awaited,
        Standing::Practice { .. } | Standing::Puzzle => SeatSet::EMPTY,
    }
}
