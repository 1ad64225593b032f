//! Fork reports: seats with proof that another equivocated agree where to continue without it.
//!
//! Honest seats may have answered an equivocating seat differently. A seat that holds the proof therefore signs nothing
//! more in that part of the log except one fork report ([`ForkReport`]). It states how far the seat has come, and the
//! last states of its log. When all others have reported, each computes the same place from the reports ([`resolve`]):
//! the last state that all share. There they remove the equivocating party, and the log continues at a step for which
//! no seat can have signed anything.
//!
//! A report names the party and not the seat: several seats of one program may be proven to equivocate, in a different
//! order for each observer.
//!
//! ```text
//! point  the greatest step that every report names with the same parent hash
//! next   point + 3: no open step is later than point + 2, and no seat signs beyond its open step
//! ```
//!
//! Participants of a step are at most one step apart. But a seat that left with the previous step may hold it
//! differently from the others, who may then be two steps ahead. So each report names three states.
//!
//! Seats may also disagree on who "all others" are, if one left in the last step. So each report names the seats that
//! its signer counts, and all seats named in any of the reports must sign ([`circle`]). If a seat continues and all in
//! its quorum count it, its quorum equals that of every other seat that continues.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use serde::{Deserialize, Serialize};

use crate::charter::{SignatureBytes, SignedCharter};
use crate::domain;
use crate::hash::{Hash32, Hasher};
use crate::seat::{Seat, SeatSet};
use crate::wire::bounded::Bounded;
use crate::wire::codec::encode;

/// A state that a log has passed through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The open step.
    pub step: u64,
    /// The hash of the previous step.
    pub parent: Hash32,
}

/// One seat's report on how far it has come.
//= T3.7
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkReport {
    /// The table id.
    pub table: Hash32,
    /// The equivocating party, named by its lowest seat.
    pub culprit: Seat,
    /// The signer.
    pub seat: Seat,
    /// The signer's open step.
    pub step: u64,
    /// The hash of the step before the open one.
    pub parent: Hash32,
    /// The parents of the steps before the open one, newest first. Excludes steps before the log began, or before it
    /// continued after an earlier fork.
    pub earlier: Bounded<Hash32, EARLIER>,
    /// The participants of its open step or the previous one.
    pub seats: SeatSet,
}

/// A received fork report, not yet verified.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedForkReport {
    fork_report: ForkReport,
    signature: SignatureBytes,
}

/// A fork report of an unknown seat, of another table, or with an invalid signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no seat of this table signed the fork report")]
pub struct ForkReportError;

impl ForkReport {
    /// The report's place: an honest seat signs one fork report for each.
    pub fn place(&self) -> (Seat, Seat) {
        (self.culprit, self.seat)
    }

    /// The states that the report names.
    fn states(&self) -> impl Iterator<Item = Position> {
        let parents = std::iter::once(&self.parent).chain(self.earlier.iter());
        let steps = (0..).map_while(|back| self.step.checked_sub(back));
        steps.zip(parents).map(|(step, parent)| Position { step, parent: *parent })
    }
}

impl SignedForkReport {
    /// Signs a fork report.
    pub fn sign(fork_report: ForkReport, key: &ed25519_dalek::SigningKey) -> Self {
        let signature = SignatureBytes::sign(key, domain::HALT, &encode(&fork_report));
        Self { fork_report, signature }
    }

    /// Checks that a seat of this table signed it.
    ///
    /// # Errors
    /// [`ForkReportError`].
    pub fn verify(&self, charter: &SignedCharter) -> Result<ForkReport, ForkReportError> {
        let seat = self.fork_report.seat;
        let signed = charter.verifies(seat, domain::HALT, &encode(&self.fork_report), &self.signature);
        let ours = self.fork_report.table == charter.table();
        (ours && signed).then(|| self.fork_report.clone()).ok_or(ForkReportError)
    }

    /// The fork report, not yet verified.
    pub fn fork_report(&self) -> &ForkReport {
        &self.fork_report
    }

    /// The hash of the report without its signature.
    pub fn hash(&self) -> Hash32 {
        Hasher::new(domain::HALT).bytes(&encode(&self.fork_report)).finish()
    }
}

/// How many states before the open one a report names.
//= P6.1
pub const EARLIER: usize = 2;

/// Where the log continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resolution {
    /// The last state that all share. Entries for its step and later ones are void.
    pub point: Position,
    /// The number of the next step.
    pub next: u64,
}

impl Resolution {
    /// The parent of the next step's entries.
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

/// The quorum: `seats` and all seats that their reports name in turn, except `culprits`, the seats of the equivocating
/// party. `None` if a report is missing.
//= T5.31, P6.2, P6.9
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

/// Where the signers of these fork reports continue; `None` if the reports contradict each other.
//= T5.30, P6.1
pub fn resolve(fork_reports: &[ForkReport]) -> Option<Resolution> {
    let (first, others) = fork_reports.split_first()?;
    let shared = |place: &Position| others.iter().all(|fork_report| fork_report.states().any(|at| at == *place));
    let point = first.states().filter(shared).max()?;
    // Each report names the point, so no seat is more than [`EARLIER`] steps beyond it.
    let next = point.step.checked_add(EARLIER as u64)?.checked_add(1)?;
    // A participant is at most one step behind the others. Only a departed seat may be further behind, and seats two
    // steps ahead no longer count it.
    let together = |fork_report: &ForkReport| {
        let named = fork_reports.iter().filter(|other| fork_report.seats.contains(other.seat));
        let mut steps = named.map(|other| other.step);
        steps.all(|step| step.saturating_add(1) >= fork_report.step)
    };
    let true_of_one_log = fork_reports.iter().all(together);
    true_of_one_log.then_some(Resolution { point, next })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A report at a step, after states with these parents, newest first.
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

    //= P6.2
    #[test]
    fn counted_seats_must_report() {
        let key = ed25519_dalek::SigningKey::from_bytes(&[1; 32]);
        let culprit = SeatSet::one(Seat::new(5).unwrap());
        let set = |seats: &[usize]| seats.iter().map(|seat| Seat::new(*seat).unwrap()).collect();
        let signed = |seat, seats: &[usize]| {
            let fork_report = ForkReport { seats: set(seats), ..fork_report(seat, 7, &[2, 1]) };
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
        assert_eq!(found(&[fork_report(0, 0, &[2]), fork_report(1, 0, &[2])]), Some((0, 2, 3)));
    }

    #[test]
    fn seat_ahead_rolls_back() {
        let fork_reports = [fork_report(0, 8, &[3, 2, 1]), fork_report(1, 7, &[2, 1, 0])];
        assert_eq!(found(&fork_reports), Some((7, 2, 10)));
    }

    #[test]
    fn diverging_last_step_is_rolled_back() {
        let fork_reports = [fork_report(0, 7, &[2, 1, 0]), fork_report(1, 7, &[3, 1, 0])];
        assert_eq!(found(&fork_reports), Some((6, 1, 9)));
    }

    //= P6.1
    #[test]
    fn departed_seat_alone_holds_the_last_step() {
        let stayers = [fork_report(0, 8, &[4, 2, 1]), fork_report(1, 7, &[2, 1, 0])];
        let leaver = fork_report(2, 7, &[3, 1, 0]);
        let [one, other] = stayers;
        assert_eq!(found(&[one, other, leaver]), Some((6, 1, 9)));
        // A participant is never two steps behind: this one lies.
        let liar = fork_report(2, 6, &[1, 0]);
        assert_eq!(found(&[fork_report(0, 8, &[4, 2, 1]), liar]), None);
    }

    //= P6.14
    #[test]
    fn contradicting_fork_reports_resolve_nowhere() {
        assert_eq!(found(&[]), None);
        assert_eq!(found(&[fork_report(0, 7, &[2, 1, 0]), fork_report(1, 7, &[5, 4, 3])]), None);
        assert_eq!(found(&[fork_report(0, 10, &[5, 4, 3]), fork_report(1, 7, &[2, 1, 0])]), None);
        assert_eq!(found(&[fork_report(0, 0, &[2]), fork_report(1, 0, &[3])]), None);
        assert_eq!(found(&[fork_report(0, u64::MAX, &[2])]), None);
        assert_eq!(found(&[fork_report(0, 7, &[2, 1, 0]), fork_report(1, 9, &[4, 3, 2])]), None);
    }
}
