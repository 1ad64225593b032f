//! States extensions of time at a live table, and takes those of others.

use crate::game::Game;
use crate::log::extensions::{Extension, ExtensionError, Extensions, Holiday, SignedExtensions};
use crate::seat::Seat;
use crate::table::journal::Record;
use crate::table::live::{Event, Table};
use crate::table::message::{Head, Message};

/// Why this seat cannot extend times now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExtendError {
    /// The game is over, or this seat has left it.
    #[error("the table is closed")]
    Closed,
    /// It still asks the others what it has signed.
    #[error("your program still asks the others what it has signed; try again once they have answered")]
    Returning,
    /// The other seat has left the game.
    #[error("that player has left the game")]
    Gone,
    /// The table does not allow it.
    #[error(transparent)]
    Refused(#[from] ExtensionError),
}

impl<G: Game> Table<G> {
    /// The extensions of time that seats have stated, by seat.
    pub fn extensions(&self) -> impl Iterator<Item = &Extensions> {
        self.extended.signed().map(SignedExtensions::extensions)
    }

    /// The time that all other seats together have given a seat, in seconds.
    pub fn given_to(&self, seat: Seat) -> u32 {
        self.extensions().map(|said| said.given_to(seat)).fold(0, u32::saturating_add)
    }

    /// The holidays of a seat.
    pub fn holidays_of(&self, seat: Seat) -> &[Holiday] {
        self.extended.of(seat).map_or(&[], |said| &said.holidays)
    }

    /// Gives another seat more time, or declares a holiday of this one. `today` is the day by the wall clock, counted from
    /// 1970-01-01, UTC.
    ///
    /// # Errors
    /// [`ExtendError`]; nothing has been signed then.
    pub fn extend(&mut self, more: Extension, today: u32) -> Result<(), ExtendError> {
        if !self.is_in_play() {
            return Err(ExtendError::Closed);
        }
        // A second statement of one version, made from an older journal, would be heard by nobody.
        if !self.may_sign() {
            return Err(ExtendError::Returning);
        }
        if let Extension::Give { to, .. } = more
            && self.replica.charter().seats().contains(to)
            && !self.replica.live().contains(to)
        {
            return Err(ExtendError::Gone);
        }
        let before = self.extended.of(self.me());
        let said = Extensions::with(before, (self.replica.charter(), self.me()), more, today)?;
        self.state(said);
        Ok(())
    }

    /// Takes a statement of any seat, unless it is known or an older one.
    ///
    /// # Errors
    /// [`ExtensionError`] if no seat of this table has signed it, or none may.
    //= P7.3
    pub(in crate::table::live) fn hold_extensions(&mut self, signed: &SignedExtensions) -> Result<(), ExtensionError> {
        let said = signed.extensions();
        let before = self.extended.of(said.seat);
        let is_new = before.is_none_or(|before| said.follows(before));
        let joined =
            before.filter(|before| !is_new && before.seat == self.me() && self.may_sign() && self.is_in_play());
        let joined = joined.and_then(|before| before.joined(said, self.replica.charter()));
        if !is_new && joined.is_none() {
            return Ok(());
        }
        signed.verify(self.replica.signed_charter())?;
        if let Some(joined) = joined {
            // It was signed before this seat came back from an older disk. The others hear nothing that lacks it.
            self.state(joined);
        } else {
            self.put_extensions(signed);
            self.outbox.keep(Record::Extensions(signed.clone()));
        }
        Ok(())
    }

    /// Whether this seat still plays at the table.
    fn is_in_play(&self) -> bool {
        self.outbox.stopped().is_none() && !self.is_finished() && self.replica.live().contains(self.me())
    }

    /// Signs a statement of this seat.
    fn state(&mut self, said: Extensions) {
        let signed = SignedExtensions::sign(said, self.own.key());
        let message = Message::Extensions(Box::new(signed.clone()));
        self.put_extensions(&signed);
        self.outbox.publish(Record::Extensions(signed), message);
    }

    /// The last statement of a seat, for itself: it may come back from an older disk.
    pub(in crate::table::live) fn statement_of(&self, seat: Seat) -> Option<Message> {
        let mut signed = self.extended.signed();
        let signed = signed.find(|signed| signed.extensions().seat == seat)?;
        Some(Message::Extensions(Box::new(signed.clone())))
    }

    fn put_extensions(&mut self, signed: &SignedExtensions) {
        let said = signed.extensions();
        let before = self.extended.of(said.seat).cloned().map(Box::new);
        self.extended.put(signed.clone());
        for seat in self.replica.charter().seats().iter() {
            let given = u64::from(self.given_to(seat)).saturating_mul(1000);
            let holidays: Vec<(u32, u32)> =
                self.holidays_of(seat).iter().map(|holiday| (holiday.first, holiday.end())).collect();
            self.peers.clocks_mut().extend(seat, given, holidays);
        }
        self.outbox.tell(Event::Extended(before, Box::new(said.clone())));
    }

    /// The statements that a seat with this head lacks, also those of other seats.
    pub(in crate::table::live) fn extensions_lacking(&self, head: &Head) -> Vec<Message> {
        let lacking = self.extended.lacking(&head.others).cloned();
        lacking.map(|signed| Message::Extensions(Box::new(signed))).collect()
    }
}
