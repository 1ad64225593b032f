//! Fork reports (fork reports): seats that hold the proof that another equivocated agree where to continue without it.
//!
//! A seat that has signed two things for one place may have been answered differently by honest seats. So
//! whoever holds the proof signs nothing more in that part of the log, but one word: how far it has come, with
//! the last states that it has gone through ([`ForkReport`]). When all others have said so, every one of them computes
//! the same place from their words ([`resolve`]): the last state that all have gone through alike. There the
//! party of the seat is removed, and the log goes on at a step for which nobody can have signed anything.
//!
//! A word names the party and not the seat: several seats of one program may be proved, in another order to each.
//!
//! ```text
//! point  the greatest step that every word names with the same hash before it
//! next   point + 3: nobody's open step is further than point + 2, and nobody signs beyond its open step
//! ```
//!
//! Participants of a step are at most one step apart; but one that has left with the step before need
//! not have it as the others do, who may be two steps further then. So each word names three states.
//!
//! They may also see "all others" differently, where one has gone in the last step. So each word names
//! the seats that its signer reckons with, and all whom any of them names must have signed ([`circle`]). Who
//! goes on so, and is itself reckoned with by each of them, has the same circle as every other that does.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use serde::{Deserialize, Serialize};

use crate::charter::{Charter, SignatureBytes};
use crate::domain;
use crate::hash::{Hash32, Hasher};
use crate::seat::{Seat, SeatSet};
use crate::wire::bounded::Bounded;
use crate::wire::codec::encode;

/// A state that a log has gone through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The step that is open in it.
    pub step: u64,
    /// The hash of the step before.
    pub parent: Hash32,
}

/// One seat's word on how far it has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkReport {
    /// The table id.
    pub table: Hash32,
    /// The equivocating party, by its lowest seat.
    pub culprit: Seat,
    /// Signing seat.
    pub seat: Seat,
    /// Its open step.
    pub step: u64,
    /// The hash of the step before that.
    pub parent: Hash32,
    /// The parents of the steps before the open one, the last one first; none from before the log began, or
    /// went on after another fork report.
    pub earlier: Bounded<Hash32, EARLIER>,
    /// Participants of its open step or of the one before.
    pub seats: SeatSet,
}

/// A fork report as it travels: its signature is not checked yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedForkReport {
    fork_report: ForkReport,
    signature: SignatureBytes,
}

/// A fork report of a seat that is not at the table, of another table, or not signed by that seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a halt that no seat of this table has signed")]
pub struct ForkReportError;

impl ForkReport {
    /// Where it stands: of these an honest seat signs one.
    pub fn place(&self) -> (Seat, Seat) {
        (self.culprit, self.seat)
    }

    /// The states that it names.
    fn states(&self) -> impl Iterator<Item = Position> {
        let parents = std::iter::once(&self.parent).chain(self.earlier.iter());
        let steps = (0..).map_while(|back| self.step.checked_sub(back));
        steps.zip(parents).map(|(step, parent)| Position {
            step,
            parent: *parent,
        })
    }
}

impl SignedForkReport {
    /// Signs a fork report.
    pub fn sign(fork_report: ForkReport, key: &ed25519_dalek::SigningKey) -> Self {
        let signature = SignatureBytes::sign(key, domain::HALT, &encode(&fork_report));
        Self {
            fork_report,
            signature,
        }
    }

    /// Checks that a seat of this table signed it.
    ///
    /// # Errors
    /// [`ForkReportError`].
    pub fn verify(&self, charter: &Charter, table: &Hash32) -> Result<ForkReport, ForkReportError> {
        let player = charter
            .player(self.fork_report.seat)
            .ok_or(ForkReportError)?;
        let signed = player
            .key
            .verifies(domain::HALT, &encode(&self.fork_report), &self.signature);
        let ours = self.fork_report.table == *table;
        (ours && signed)
            .then(|| self.fork_report.clone())
            .ok_or(ForkReportError)
    }

    /// The fork report, before its signature is checked.
    pub fn fork_report(&self) -> &ForkReport {
        &self.fork_report
    }

    /// The hash of what it says.
    pub fn hash(&self) -> Hash32 {
        Hasher::new(domain::HALT)
            .bytes(&encode(&self.fork_report))
            .finish()
    }
}

/// How many states a word names before the open one.
pub const EARLIER: usize = 2;

/// Where the log goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resolution {
    /// The last state that all have gone through: what was signed for its step and for later ones is void.
    pub point: Position,
    /// The number of the next step.
    pub next: u64,
}

impl Resolution {
    /// Parent of the next step's entries.
    pub fn name(&self, table: &Hash32, culprit: Seat) -> Hash32 {
        Hasher::new(domain::HALTED)
            .hash(table)
            .number(u64::from(culprit.number()))
            .number(self.point.step)
            .hash(&self.point.parent)
            .number(self.next)
            .finish()
    }
}

/// Everybody whose word is needed: `seats` and whomever those name whose words are held, but the culprits, which are all
/// seats of the party; `None` if a word is lacking.
pub fn circle(
    culprits: SeatSet,
    seats: SeatSet,
    held: &BTreeMap<Seat, SignedForkReport>,
) -> Option<BTreeMap<Seat, SignedForkReport>> {
    let mut found: BTreeMap<Seat, SignedForkReport> = BTreeMap::new();
    let mut waiting = seats.minus(culprits);
    while let Some(seat) = waiting.iter().next() {
        waiting.remove(seat);
        if let Entry::Vacant(place) = found.entry(seat) {
            let signed = held.get(&seat)?;
            waiting.extend(signed.fork_report.seats.minus(culprits).iter());
            place.insert(signed.clone());
        }
    }
    Some(found)
}

/// Where those who have signed these fork reports go on; `None` if they cannot all be true of one log.
pub fn resolve(fork_reports: &[ForkReport]) -> Option<Resolution> {
    let (first, others) = fork_reports.split_first()?;
    let shared = |place: &Position| {
        others
            .iter()
            .all(|fork_report| fork_report.states().any(|at| at == *place))
    };
    let point = first.states().filter(shared).max()?;
    // Each word names the point, so that none is further than its own earlier states go back.
    let next = point.step.checked_add(EARLIER as u64)?.checked_add(1)?;
    // Whoever takes part is at most one step behind the others; only one that has left, and that those who are
    // two steps further do not reckon with, may be more.
    let together = |fork_report: &ForkReport| {
        let named = fork_reports
            .iter()
            .filter(|other| fork_report.seats.contains(other.seat));
        let mut steps = named.map(|other| other.step);
        steps.all(|step| step.saturating_add(1) >= fork_report.step)
    };
    let true_of_one_log = fork_reports.iter().all(together);
    true_of_one_log.then_some(Resolution { point, next })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At a step, having gone through states with these parents, the last one first.
    fn fork_report(seat: usize, step: u64, parents: &[u8]) -> ForkReport {
        let mut parents = parents.iter().map(|parent| Hash32([*parent; 32]));
        ForkReport {
            table: Hash32([1; 32]),
            culprit: Seat::new(5).unwrap(),
            seat: Seat::new(seat).unwrap(),
            step,
            parent: parents.next().unwrap(),
            earlier: parents.collect::<Vec<Hash32>>().try_into().unwrap(),
            seats: SeatSet::all(3),
        }
    }

    #[test]
    fn whoever_is_reckoned_with_has_to_speak() {
        let key = ed25519_dalek::SigningKey::from_bytes(&[1; 32]);
        let culprit = SeatSet::one(Seat::new(5).unwrap());
        let set = |seats: &[usize]| seats.iter().map(|seat| Seat::new(*seat).unwrap()).collect();
        let signed = |seat, seats: &[usize]| {
            let fork_report = ForkReport {
                seats: set(seats),
                ..fork_report(seat, 7, &[2, 1])
            };
            (fork_report.seat, SignedForkReport::sign(fork_report, &key))
        };
        let names = |held: &BTreeMap<Seat, SignedForkReport>| {
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

    fn found(fork_reports: &[ForkReport]) -> Option<(u64, u8, u64)> {
        let found = resolve(fork_reports)?;
        Some((found.point.step, found.point.parent.0[0], found.next))
    }

    #[test]
    fn all_at_one_place_go_on_from_there() {
        let fork_reports = [0, 1, 2].map(|seat| fork_report(seat, 7, &[2, 1, 0]));
        assert_eq!(found(&fork_reports), Some((7, 2, 10)));
        assert_eq!(
            found(&[fork_report(0, 0, &[2]), fork_report(1, 0, &[2])]),
            Some((0, 2, 3))
        );
    }

    #[test]
    fn who_is_a_step_ahead_goes_back() {
        let fork_reports = [fork_report(0, 8, &[3, 2, 1]), fork_report(1, 7, &[2, 1, 0])];
        assert_eq!(found(&fork_reports), Some((7, 2, 10)));
    }

    #[test]
    fn who_holds_the_last_step_differently_goes_back_before_it() {
        let fork_reports = [fork_report(0, 7, &[2, 1, 0]), fork_report(1, 7, &[3, 1, 0])];
        assert_eq!(found(&fork_reports), Some((6, 1, 9)));
    }

    #[test]
    fn who_has_left_holds_the_last_step_as_nobody_else() {
        let stayers = [fork_report(0, 8, &[4, 2, 1]), fork_report(1, 7, &[2, 1, 0])];
        let leaver = fork_report(2, 7, &[3, 1, 0]);
        let [one, other] = stayers;
        assert_eq!(found(&[one, other, leaver]), Some((6, 1, 9)));
        // One that takes part is not two steps behind: it lies.
        let liar = fork_report(2, 6, &[1, 0]);
        assert_eq!(found(&[fork_report(0, 8, &[4, 2, 1]), liar]), None);
    }

    #[test]
    fn what_cannot_be_true_of_one_log_leads_nowhere() {
        assert_eq!(found(&[]), None);
        assert_eq!(
            found(&[fork_report(0, 7, &[2, 1, 0]), fork_report(1, 7, &[5, 4, 3])]),
            None
        );
        assert_eq!(
            found(&[
                fork_report(0, 10, &[5, 4, 3]),
                fork_report(1, 7, &[2, 1, 0])
            ]),
            None
        );
        assert_eq!(
            found(&[fork_report(0, 0, &[2]), fork_report(1, 0, &[3])]),
            None
        );
        assert_eq!(found(&[fork_report(0, u64::MAX, &[2])]), None);
        assert_eq!(
            found(&[fork_report(0, 7, &[2, 1, 0]), fork_report(1, 9, &[4, 3, 2])]),
            None
        );
    }
}
