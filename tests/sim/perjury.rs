//! The catalogue of forged removal statements: each trick's change to an honest one, and what it signs unprompted.

use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::log::entry::Entry;
use fairdeal_protocol::membership::statement::Accepted;
use fairdeal_protocol::membership::{Says, Statement, Value};
use fairdeal_protocol::seat::{Seat, SeatSet};

use super::cheat::Trick;
use super::forge::flipped;
use super::plan::Dice;

/// Tricks with removal statements.
pub(crate) const TRICKS: [Trick; 13] = [
    Trick::Accuse,
    Trick::TwoConsents,
    Trick::TwoVetoes,
    Trick::VetoAndConsent,
    Trick::TwoPromises,
    Trick::TwoProposals,
    Trick::TwoAccepts,
    Trick::LoneProposal,
    Trick::Hurry,
    Trick::ForgedStatement,
    Trick::NoConsent,
    Trick::NoRelease,
    Trick::GoesOn,
];

/// The statement shown to a seat in place of an honest one.
pub(crate) enum Shown {
    /// The honest statement.
    Same,
    Nothing,
    Other(Says),
}

/// A trick's version of the cheat's own statement, for the seats that see its other face or for all.
pub(crate) fn change(trick: Trick, says: &Says, other_face: bool) -> Shown {
    let other = match (trick, says) {
        (Trick::NoConsent, Says::Consent { .. }) | (Trick::NoRelease | Trick::GoesOn, Says::Release { .. }) => {
            return Shown::Nothing;
        }
        (Trick::LoneProposal, Says::Propose { round, value, .. }) => {
            Says::Propose { round: *round, value: value.clone(), promises: Default::default() }
        }
        _ if !other_face => return Shown::Same,
        (Trick::TwoConsents, Says::Consent { out, counted }) if out.len() > 1 => {
            let mut entries = counted.to_vec();
            if entries.pop().is_none() {
                entries.extend(out.iter().next().map(|seat| (seat, Hash32([9; 32]))));
            }
            Says::Consent { out: *out, counted: entries.try_into().unwrap() }
        }
        (Trick::TwoVetoes, Says::Veto { seat, entry }) => Says::Veto { seat: *seat, entry: flipped(*entry) },
        (Trick::VetoAndConsent, Says::Veto { seat, .. }) => consent(SeatSet::one(*seat)),
        (Trick::VetoAndConsent, Says::Consent { out, .. }) => {
            let Some(seat) = out.iter().next() else {
                return Shown::Same;
            };
            let entry = Hash32([9; 32]);
            Says::Veto { seat, entry }
        }
        (Trick::TwoPromises, Says::Promise { round, accepted }) => Says::Promise {
            round: *round,
            accepted: match accepted {
                Some(_) => None,
                None => Some(Accepted { round: round.saturating_sub(1), proposal: Hash32([9; 32]) }),
            },
        },
        (Trick::TwoProposals, Says::Propose { round, value, promises }) => Says::Propose {
            round: *round,
            value: match value {
                Value::Out { seats, .. } => Value::Keep { seat: seats.iter().next().unwrap(), entry: Hash32([9; 32]) },
                Value::Keep { seat, .. } => removal(SeatSet::one(*seat)),
            },
            promises: promises.clone(),
        },
        (Trick::TwoAccepts, Says::Accept { round, proposal }) => {
            Says::Accept { round: *round, proposal: flipped(*proposal) }
        }
        _ => return Shown::Same,
    };
    Shown::Other(other)
}

/// The situation in which a cheat signs unprompted.
pub(crate) struct Ground<'a> {
    pub(crate) table: Hash32,
    pub(crate) step: u64,
    pub(crate) parent: Hash32,
    pub(crate) me: Seat,
    pub(crate) others: SeatSet,
    /// Entries received from others, oldest first.
    pub(crate) heard: &'a [Entry],
}

/// Statements that a trick signs unprompted in a step: one for each face.
pub(crate) fn invent(trick: Trick, ground: &Ground<'_>, dice: &mut Dice) -> Option<[Statement; 2]> {
    if ground.others.is_empty() {
        return None;
    }
    let target = dice.seat(ground.others);
    let second = dice.seat(ground.others);
    let known = ground.heard.iter().rev().find(|entry| (entry.step(), entry.seat()) == (ground.step, target));
    let entry = known.map_or(Hash32([9; 32]), Entry::hash);
    let statement = |seat, instance, says| Statement {
        table: ground.table,
        step: ground.step,
        parent: ground.parent,
        instance,
        seat,
        release: None,
        says,
    };
    let out = SeatSet::one(target);
    let pair: SeatSet = [target, second].into_iter().collect();
    let keep = Says::Veto { seat: target, entry };
    let propose =
        |value, promises: &[Hash32]| Says::Propose { round: 0, value, promises: promises.to_vec().try_into().unwrap() };
    let accept = |proposal| Says::Accept { round: 0, proposal };
    let promise = |accepted| Says::Promise { round: 0, accepted };
    let (one, other) = match trick {
        Trick::Accuse | Trick::GoesOn => (consent(out), consent(out)),
        Trick::TwoConsents if target == second => return None,
        Trick::TwoConsents => {
            let counted = vec![(target, entry)].try_into().unwrap();
            (consent(pair), Says::Consent { out: pair, counted })
        }
        Trick::TwoVetoes => {
            let entry = flipped(entry);
            let seat = target;
            (keep, Says::Veto { seat, entry })
        }
        Trick::VetoAndConsent => (keep, consent(out)),
        Trick::TwoPromises => {
            let (round, proposal) = (0, Hash32([9; 32]));
            (promise(None), promise(Some(Accepted { round, proposal })))
        }
        Trick::TwoProposals => {
            let keep = Value::Keep { seat: target, entry };
            (propose(removal(out), &[]), propose(keep, &[]))
        }
        Trick::TwoAccepts => (accept(entry), accept(flipped(entry))),
        Trick::LoneProposal => {
            let promises = [Hash32([9; 32])];
            let says = propose(removal(out), &promises[..dice.below(2) as usize]);
            (says.clone(), says)
        }
        Trick::ForgedStatement => {
            let says = if dice.chance(500) { consent(SeatSet::one(ground.me)) } else { consent(SeatSet::one(second)) };
            let forged = statement(target, 0, says);
            return Some([forged.clone(), forged]);
        }
        _ => return None,
    };
    let instance = u16::from(dice.chance(100));
    let me = ground.me;
    Some([statement(me, instance, one), statement(me, instance, other)])
}

fn consent(out: SeatSet) -> Says {
    let counted = Default::default();
    Says::Consent { out, counted }
}

fn removal(seats: SeatSet) -> Value {
    let counted = Default::default();
    Value::Out { seats, counted }
}
