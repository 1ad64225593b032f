//! Whether there is room for a removal statement in its step. A seat keeps no more statements of another than an honest
//! seat signs.

use super::statement::{MAX_REASONS, Says, SignedStatement, Statement, Value, Verified};
use super::step::{Slot, StepRemoval};
use crate::hash::Hash32;
use crate::seat::Seat;

/// The most releases of one seat kept for a step.
pub(super) const MAX_RELEASES: usize = 24;
/// The most proposals of a seat kept for an instance, and the rounds kept by a seat that takes part in none. No seat
/// waits through that many rounds.
const MAX_ROUNDS: u16 = 16;

/// The outcome of inserting a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Inserted {
    /// It has been inserted.
    New,
    /// It was already known.
    Known,
    /// There is no room for it.
    Ignored,
    /// A different statement has its place.
    Differs(Box<Verified>),
}

impl StepRemoval {
    /// Whether this exact statement is known, with the same signature.
    pub(super) fn has(&self, signed: &SignedStatement) -> bool {
        let held = self.held.get(&Slot::of(signed.unverified()));
        held.is_some_and(|held| held.signed() == signed)
    }

    /// Inserts a statement if there is room for it. Reports a different statement that has its place.
    //= P5.47
    pub(super) fn insert(&mut self, verified: Verified) -> Inserted {
        let statement = verified.statement();
        let fits = self.seats.contains(statement.seat)
            && statement.instance <= self.instance().saturating_add(1)
            && self.round_is_near(statement)
            && self.is_well_formed(statement);
        if !fits {
            return Inserted::Ignored;
        }
        let slot = Slot::of(verified.statement());
        if !self.held.contains_key(&slot) && self.is_full(&slot) {
            return Inserted::Ignored;
        }
        match self.held.get(&slot) {
            Some(held) if held.statement().says == statement.says => Inserted::Known,
            Some(held) => Inserted::Differs(Box::new(held.clone())),
            None => {
                self.held.insert(slot, verified);
                Inserted::New
            }
        }
    }

    /// Whether a seat has signed as many statements of a kind as an honest one ever does.
    //= P5.48
    fn is_full(&self, slot: &Slot) -> bool {
        match *slot {
            Slot::Release(seat, _) => self.releases(seat).count() >= MAX_RELEASES,
            Slot::Consent(_, seat, _) => {
                let consents = self.all_consents().filter(|held| held.seat == seat);
                consents.count() >= MAX_REASONS
            }
            Slot::Propose(instance, _, seat) => {
                let all = Slot::Propose(instance, 0, seat)..=Slot::Propose(instance, u16::MAX, seat);
                let of_seat = self.held.range(all).filter(|(_, held)| held.seat() == seat);
                of_seat.count() >= usize::from(MAX_ROUNDS)
            }
            Slot::Veto(..) | Slot::Promise(..) | Slot::Accept(..) => false,
        }
    }

    /// Whether a statement's round is at most one above this seat's own, so that no peer can make it keep endless
    /// rounds. A seat that has completed the step, has left or was removed goes through no rounds, but may be the only
    /// link between others. A release may name a proposal of a decided value in any round.
    //= P5.47
    fn round_is_near(&self, statement: &Statement) -> bool {
        let round = match statement.says {
            Says::Promise { round, .. } | Says::Accept { round, .. } => round,
            Says::Propose { round, ref value, .. } => {
                let decided = self.decided.get(usize::from(statement.instance));
                if decided.is_some_and(|decision| decision.value == *value) {
                    return true;
                }
                round
            }
            Says::Consent { .. } | Says::Veto { .. } | Says::Release { .. } => return true,
        };
        let own = self.own_round(statement.instance);
        let next = own.map_or(1, |own| own.saturating_add(2));
        let needs = self.outcome.is_none() && self.live(statement.instance).contains(self.me);
        round < if needs { next } else { next.max(MAX_ROUNDS) }
    }

    fn is_well_formed(&self, statement: &Statement) -> bool {
        match &statement.says {
            Says::Consent { out, counted } => {
                let inside = counted.iter().all(|(seat, _)| out.contains(*seat));
                !out.contains(statement.seat) && inside && is_sorted(counted) && counted.len() < out.len()
            }
            Says::Veto { seat, .. } => *seat != statement.seat && self.seats.contains(*seat),
            Says::Propose { value: Value::Out { counted, .. }, .. } => is_sorted(counted),
            _ => true,
        }
    }
}

fn is_sorted(entries: &[(Seat, Hash32)]) -> bool {
    let seats = entries.iter().map(|(seat, _)| seat);
    seats.clone().zip(seats.skip(1)).all(|(one, next)| one < next)
}
