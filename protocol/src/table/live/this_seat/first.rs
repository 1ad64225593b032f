//! A seat's first entry at a table, which it signs together with the charter.

use ed25519_dalek::SigningKey;

use crate::charter::{Charter, SignedCharter};
use crate::crypto::seed::Seed;
use crate::game::{Game, RuleSetError};
use crate::log::body::Body;
use crate::log::entry::{Content, Entry, SignedEntry};
use crate::seat::Seat;
use crate::table::author::Secrets;
use crate::table::live::Table;
use crate::table::replica::Replica;

impl<G: Game> Table<G> {
    /// The commitment that a seat will publish first at the table of this charter, while the others have still to sign it.
    /// For one charter it is always the same ([`Seed::first`]), so it may leave before anything is on disk.
    ///
    /// # Errors
    /// [`RuleSetError`] if the charter's rules describe no supported game.
    pub fn first_entry(charter: &Charter, me: Seat, key: &SigningKey) -> Result<Option<SignedEntry>, RuleSetError> {
        let replica = Replica::<G>::new(SignedCharter::unsigned(charter.clone()))?;
        let context = replica.context(me);
        let content = Content {
            table: replica.table(),
            step: replica.step(),
            seat: me,
            parent: replica.parent(),
            digest: replica.digest(),
            release: None,
            body: Secrets::new(Seed::first(key, &context), context).commit(),
        };
        Ok(Entry::sign(content, key).ok().map(|entry| entry.signed().clone()))
    }
}

/// Whether a seat has signed an entry as its first at the table of this charter: a commitment. What else is wrong with it is
/// its own fault, which the table finds.
pub fn is_first_entry(entry: &SignedEntry, charter: &Charter, seat: Seat) -> bool {
    let verified = entry.verify(&SignedCharter::unsigned(charter.clone()));
    verified.is_ok_and(|entry| entry.seat() == seat && entry.step() == 0 && matches!(entry.body(), Body::Commit { .. }))
}
