//! Letters of this table: to whom one can be written, and what has become of one.

use fairdeal_protocol::seat::SeatSet;
use fairdeal_session::letter::{LetterNews, Written};
use fairdeal_session::view::{Snapshot, Standing};

use super::TableScreen;
use super::log::Voice;
use crate::app::screen::{Context, Cx, Effect, Tone};

impl TableScreen {
    /// The players to whom a letter can be written: one for each other program, since its bots hear of it there.
    pub(super) fn readers(&self, context: &Context) -> SeatSet {
        let sealed = |now: &&Snapshot| matches!(now.standing, Standing::Sealed(_));
        let Some(now) = self.snapshot.as_ref().filter(sealed).filter(|_| !context.is_page) else {
            return SeatSet::EMPTY;
        };
        let (Some(me), Standing::Sealed(progress)) = (now.me, &now.standing) else { return SeatSet::EMPTY };
        let parties = &now.seating.parties;
        let is_reader = |seat: &_| parties.is_person(*seat) && parties.party_of(*seat) != parties.party_of(me);
        if self.is_closed() { SeatSet::EMPTY } else { progress.live.iter().filter(is_reader).collect() }
    }

    /// A letter was written, or not.
    pub(super) fn hear_of_letter(&mut self, cx: &mut Cx<'_>, news: &LetterNews) {
        match news {
            LetterNews::Written(Written { to, sealed, .. }) => {
                let table = self.snapshot.as_ref().map(|now| now.table.to_string()).unwrap_or_default();
                cx.effect(Effect::SaveLetter { table, to: *to, reader: self.name_of(*to), sealed: sealed.clone() });
            }
            LetterNews::Refused(why) => {
                cx.toast(Tone::Bad, why.clone());
                self.log.say(Voice::Table, why.clone());
            }
            // Whoever has read it tells of it.
            LetterNews::Read { .. } => {}
        }
    }
}
