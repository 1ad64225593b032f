//! The sentences on what a table waits for, and what the player can do meanwhile.

use fairdeal_games::listed;
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::party::Party;
use fairdeal_protocol::seat::SeatSet;
use fairdeal_session::view::{Snapshot, Standing};

use super::TableScreen;
use crate::tables::words;

impl TableScreen {
    /// Whether this player can do nothing at the table now, whatever the rules allow: the table has stopped, or an
    /// action of the player waits for the programs of others.
    pub(super) fn is_held(&self) -> bool {
        let holds = |now: &Snapshot| now.waits.pending.is_some() || now.waits.is_leaving;
        self.ending.failed.is_some() || self.snapshot.as_ref().is_some_and(holds)
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
        let programs = self.programs(awaited(now), "", "");
        let waits = programs.map_or_else(String::new, |programs| format!("; it waits for {programs}"));
        if !now.game.out_of_turn(action) {
            return Some(format!("Your move is made{waits}."));
        }
        // What comes after a colon explains an action that is still to be chosen.
        let call = self.view(&[], |view, now| words(&now.game, action, view)).unwrap_or_default();
        let call = call.split(':').next().unwrap_or_default();
        Some(format!("You {call}{waits}."))
    }

    /// The programs of these seats and what they do, if any is another's: "Béla's program has heard it".
    pub(super) fn programs(&self, seats: SeatSet, many: &str, one: &str) -> Option<String> {
        let names = self.program_names(seats);
        let text = match names.as_slice() {
            [] => return None,
            [name] => format!("{name}'s program {one}"),
            names => format!("the programs of {} {many}", listed(names)),
        };
        Some(text.trim_end().to_owned())
    }

    /// The names of those who run the programs of these seats, without this player's own.
    pub(super) fn program_names(&self, seats: SeatSet) -> Vec<String> {
        let Some(now) = &self.snapshot else {
            return Vec::new();
        };
        let parties = &now.seating.parties;
        let own = now.me.and_then(|me| parties.party_of(me));
        let owners: SeatSet = seats
            .iter()
            .filter(|seat| parties.party_of(*seat) != own || own.is_none())
            .map(|seat| parties.party_of(seat).map_or(seat, Party::lowest))
            .collect();
        owners.iter().map(|seat| self.name_of(seat)).collect()
    }
}

/// The seats whose entries the open step lacks.
fn awaited(now: &Snapshot) -> SeatSet {
    match &now.standing {
        Standing::Sealed(progress) => progress.awaited,
        Standing::Practice { .. } | Standing::Puzzle => SeatSet::EMPTY,
    }
}
