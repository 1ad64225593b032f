//! Halts: how those who hold the proof that a seat is two-faced agree where to go on without it.
//!
//! A seat that has signed two things for one place may have been answered differently by honest seats. So
//! whoever holds the proof signs nothing more in that part of the log, but one word: how far it has come
//! ([`Halt`]). When all others have said so, every one of them computes the same place from their words
//! ([`resolve`]): the last state that all hold alike. There the seat is removed, and the log goes on at a
//! step for which nobody can have signed anything.
//!
//! ```text
//! m     the least open step of all who signed
//! point m, if all of them hold the same step before it, else m - 1
//! next  m + 2: nobody is further than m + 1, and nobody signs beyond its open step
//! ```
//!
//! Who "all others" are they may see differently too, where one has gone in the last step. So each word names
//! the seats that its signer reckons with, and all whom any of them names must have signed ([`circle`]). Who
//! goes on so, and is itself reckoned with by each of them, has the same circle as every other that does.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use serde::{Deserialize, Serialize};

use crate::charter::{Charter, SignatureBytes};
use crate::domain;
use crate::hash::{Hash32, Hasher};
use crate::seat::{Seat, SeatSet};
use crate::wire::codec::encode;

/// One seat's word on how far it has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Halt {
    /// The table id.
    pub table: Hash32,
    /// Who is two-faced.
    pub culprit: Seat,
    /// Who signs.
    pub seat: Seat,
    /// Its open step.
    pub step: u64,
    /// The hash of the step before that.
    pub parent: Hash32,
    /// The parent of that step; zeros if the log began, or went on after another halt, with it.
    pub before: Hash32,
    /// Who takes part in its open step or took part in the one before.
    pub seats: SeatSet,
}

/// A halt as it travels: its signature is not checked yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedHalt {
    halt: Halt,
    signature: SignatureBytes,
}

/// A halt of a seat that is not at the table, of another table, or not signed by that seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a halt that no seat of this table has signed")]
pub struct HaltError;

impl Halt {
    /// Where it stands: of these an honest seat signs one.
    pub fn place(&self) -> (Seat, Seat) {
        (self.culprit, self.seat)
    }
}

impl SignedHalt {
    /// Signs a halt.
    pub fn sign(halt: Halt, key: &ed25519_dalek::SigningKey) -> Self {
        let signature = SignatureBytes::sign(key, domain::HALT, &encode(&halt));
        Self { halt, signature }
    }

    /// Checks that a seat of this table signed it.
    ///
    /// # Errors
    /// [`HaltError`].
    pub fn verify(&self, charter: &Charter, table: &Hash32) -> Result<Halt, HaltError> {
        let player = charter.player(self.halt.seat).ok_or(HaltError)?;
        let signed = player
            .key
            .verifies(domain::HALT, &encode(&self.halt), &self.signature);
        let ours = self.halt.table == *table;
        (ours && signed).then_some(self.halt).ok_or(HaltError)
    }

    /// What it says, whoever signed it.
    pub fn halt(&self) -> &Halt {
        &self.halt
    }

    /// The hash of what it says.
    pub fn hash(&self) -> Hash32 {
        Hasher::new(domain::HALT)
            .bytes(&encode(&self.halt))
            .finish()
    }
}

/// Where the log goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resolution {
    /// The last open step that all hold alike: what was signed for it and for later ones is void.
    pub point: u64,
    /// The hash of the step before it.
    pub parent: Hash32,
    /// The number of the next step.
    pub next: u64,
}

impl Resolution {
    /// What the entries of the next step name as the step before.
    pub fn name(&self, table: &Hash32, culprit: Seat) -> Hash32 {
        Hasher::new(domain::HALTED)
            .hash(table)
            .number(u64::from(culprit.number()))
            .number(self.point)
            .hash(&self.parent)
            .number(self.next)
            .finish()
    }
}

/// Everybody whose word is needed: `seats` and whomever those name whose words are held, but the culprit;
/// `None` if a word is lacking.
pub fn circle(
    culprit: Seat,
    seats: SeatSet,
    held: &BTreeMap<Seat, SignedHalt>,
) -> Option<BTreeMap<Seat, SignedHalt>> {
    let mut found: BTreeMap<Seat, SignedHalt> = BTreeMap::new();
    let mut waiting = seats.without(culprit);
    while let Some(seat) = waiting.iter().next() {
        waiting.remove(seat);
        if let Entry::Vacant(place) = found.entry(seat) {
            let signed = held.get(&seat)?;
            waiting.extend(signed.halt.seats.without(culprit).iter());
            place.insert(signed.clone());
        }
    }
    Some(found)
}

/// Where those who have signed these halts go on; `None` if they cannot all be true.
pub fn resolve(halts: &[Halt]) -> Option<Resolution> {
    let least = halts.iter().map(|halt| halt.step).min()?;
    let next = least.checked_add(2)?;
    let (behind, ahead): (Vec<&Halt>, Vec<&Halt>) =
        halts.iter().partition(|halt| halt.step == least);
    let parent = behind.first()?.parent;
    let same = behind.iter().all(|halt| halt.parent == parent);
    let follow = |halt: &&Halt| halt.step.checked_sub(1) == Some(least) && halt.before == parent;
    if same && ahead.iter().all(follow) {
        return Some(Resolution {
            point: least,
            parent,
            next,
        });
    }
    // They hold the step before differently: what lies before that they must hold alike.
    let parent = behind.first()?.before;
    let point = least.checked_sub(1)?;
    let alike = ahead.is_empty() && behind.iter().all(|halt| halt.before == parent);
    alike.then_some(Resolution {
        point,
        parent,
        next,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn halt(seat: usize, step: u64, before: u8, parent: u8) -> Halt {
        Halt {
            table: Hash32([1; 32]),
            culprit: Seat::new(5).unwrap(),
            seat: Seat::new(seat).unwrap(),
            step,
            parent: Hash32([parent; 32]),
            before: Hash32([before; 32]),
            seats: SeatSet::all(3),
        }
    }

    #[test]
    fn whoever_is_reckoned_with_has_to_speak() {
        let key = ed25519_dalek::SigningKey::from_bytes(&[1; 32]);
        let culprit = Seat::new(5).unwrap();
        let set = |seats: &[usize]| seats.iter().map(|seat| Seat::new(*seat).unwrap()).collect();
        let signed = |seat, seats: &[usize]| {
            let halt = Halt {
                seats: set(seats),
                ..halt(seat, 7, 1, 2)
            };
            (halt.seat, SignedHalt::sign(halt, &key))
        };
        let names = |held: &BTreeMap<Seat, SignedHalt>| {
            let found = circle(culprit, set(&[0, 5]), held)?;
            Some(found.into_keys().map(Seat::index).collect::<Vec<_>>())
        };
        let mut held = BTreeMap::from([signed(0, &[0, 1, 5])]);
        assert_eq!(names(&held), None);
        held.extend([signed(1, &[0, 1, 2])]);
        assert_eq!(names(&held), None, "seat 1 reckons with seat 2");
        held.extend([signed(2, &[2]), signed(3, &[3])]);
        assert_eq!(names(&held), Some(vec![0, 1, 2]));
    }

    fn found(halts: &[Halt]) -> Option<(u64, u8, u64)> {
        let found = resolve(halts)?;
        Some((found.point, found.parent.0[0], found.next))
    }

    #[test]
    fn all_at_one_place_go_on_from_there() {
        let halts = [halt(0, 7, 1, 2), halt(1, 7, 1, 2), halt(2, 7, 1, 2)];
        assert_eq!(found(&halts), Some((7, 2, 9)));
    }

    #[test]
    fn who_is_a_step_ahead_goes_back() {
        assert_eq!(
            found(&[halt(0, 8, 2, 3), halt(1, 7, 1, 2)]),
            Some((7, 2, 9))
        );
        // It has not completed the step before as the others hold it.
        assert_eq!(found(&[halt(0, 8, 4, 3), halt(1, 7, 1, 2)]), None);
    }

    #[test]
    fn who_holds_the_last_step_differently_goes_back_before_it() {
        assert_eq!(
            found(&[halt(0, 7, 1, 2), halt(1, 7, 1, 3)]),
            Some((6, 1, 9))
        );
        assert_eq!(found(&[halt(0, 7, 1, 2), halt(1, 7, 9, 3)]), None);
    }

    #[test]
    fn what_cannot_be_true_of_honest_seats_leads_nowhere() {
        assert_eq!(found(&[]), None);
        assert_eq!(found(&[halt(0, 9, 1, 2), halt(1, 7, 1, 2)]), None);
        assert_eq!(found(&[halt(0, 0, 0, 2), halt(1, 0, 0, 3)]), None);
        assert_eq!(found(&[halt(0, u64::MAX, 0, 2)]), None);
        let ahead_of_a_fork = [halt(0, 7, 1, 2), halt(1, 7, 1, 3), halt(2, 8, 2, 4)];
        assert_eq!(found(&ahead_of_a_fork), None);
    }
}
