//! Removal statements of one step: which are kept, what releases a consent, and what a decision frees.

mod late;

use ed25519_dalek::SigningKey;

use super::slot::Inserted;
use super::statement::{Reason, Says, SignedStatement, Statement, Value, Verified};
use super::step::{EntryNames, Outcome, Place, StepRemoval};
use super::{Effect, Input, Membership, Standing, View};
use crate::hash::Hash32;
use crate::party::Parties;
use crate::seat::{Seat, SeatSet};
use crate::wire::codec::{decode, encode};

fn seat(index: usize) -> Seat {
    Seat::new(index).unwrap()
}

fn seats(indices: &[usize]) -> SeatSet {
    indices.iter().map(|index| seat(*index)).collect()
}

fn place(step: u64) -> Place {
    Place { table: Hash32([1; 32]), step, parent: Hash32([2; 32]) }
}

fn signed(step: u64, by: usize, release: Option<Hash32>, says: Says) -> Verified {
    let place = place(step);
    let statement =
        Statement { table: place.table, step, parent: place.parent, instance: 0, seat: seat(by), release, says };
    Verified::sign(statement, &SigningKey::from_bytes(&[by as u8 + 1; 32]))
}

fn consent(out: &[usize], counted: &[(Seat, Hash32)]) -> Says {
    Says::Consent { out: seats(out), counted: counted.to_vec().try_into().unwrap() }
}

/// The entry of seat 1 in every test.
const ENTRY: Hash32 = Hash32([9; 32]);

/// A step of five seats from seat 4's point of view. Seats 0, 3 and 4 have removed seats 1 and 2 and count seat 1's
/// entry, which seat 0's own consent lacks.
fn group_removed() -> (StepRemoval, Value, EntryNames) {
    let mut step = StepRemoval::new(place(4), seat(4), SeatSet::all(5), Parties::singles(5));
    let entry = (seat(1), ENTRY);
    let known: EntryNames = [entry].into();
    let mut insert = |verified: Verified| {
        let hash = verified.hash();
        assert_eq!(step.insert(verified), Inserted::New);
        hash
    };
    insert(signed(4, 0, None, consent(&[1, 2], &[])));
    let mut promises = Vec::new();
    for by in [3, 4] {
        insert(signed(4, by, None, consent(&[1, 2], &[entry])));
    }
    for by in [0, 3, 4] {
        let says = Says::Promise { round: 0, accepted: None };
        promises.push(insert(signed(4, by, None, says)));
    }
    let value = Value::Out { seats: seats(&[1, 2]), counted: vec![entry].try_into().unwrap() };
    let says = Says::Propose { round: 0, value: value.clone(), promises: promises.try_into().unwrap() };
    let proposal = insert(signed(4, 0, None, says));
    for by in [0, 3, 4] {
        insert(signed(4, by, None, Says::Accept { round: 0, proposal }));
    }
    step.settle(&known);
    assert_eq!(step.decisions().len(), 1);
    (step, value, known)
}

/// A decision puts an entry into the step. All followers must name it, including one that consented without it.
#[test]
fn a_decided_entry_may_be_named() {
    let (step, _, known) = group_removed();
    let names = [(seat(1), ENTRY)];
    assert_eq!(step.entry(seat(0), &names, None, &known), Standing::Free);
    // Another entry of that seat stays forbidden.
    let other = [(seat(1), Hash32([8; 32]))];
    let standing = step.entry(seat(0), &other, None, &known);
    assert!(matches!(standing, Standing::Forbidden(_)), "{standing:?}");
}

/// A consent to too many seats cannot lead to a removal, so it must not silence its signer.
//= P5.41
#[test]
fn a_consent_to_too_many_binds_nobody() {
    let names = [(seat(1), ENTRY)];
    for (out, free) in [(&[1, 2][..], false), (&[1, 2, 3], true)] {
        let mut step = StepRemoval::new(place(4), seat(4), SeatSet::all(5), Parties::singles(5));
        step.insert(signed(4, 0, None, consent(out, &[])));
        let standing = step.entry(seat(0), &names, None, &EntryNames::new());
        assert_eq!(standing == Standing::Free, free, "{out:?}: {standing:?}");
    }
}

/// Others may have decided the same value in a later round, and their releases name that proposal.
//= P5.19, P5.47
#[test]
fn a_later_proposal_of_a_decided_value_is_kept() {
    let (mut step, value, _) = group_removed();
    let propose = |value: Value| Says::Propose { round: 7, value, promises: Default::default() };
    let entry = ENTRY;
    let other = Value::Keep { seat: seat(1), entry };
    let ignored = step.insert(signed(4, 3, None, propose(other)));
    assert_eq!(ignored, Inserted::Ignored);
    let kept = step.insert(signed(4, 3, None, propose(value)));
    assert_eq!(kept, Inserted::New);
}

/// Each release names the previous one, so the first still lists the consent however many follow.
#[test]
fn the_first_of_many_releases_still_accounts() {
    let mut step = StepRemoval::new(place(4), seat(4), SeatSet::all(5), Parties::singles(5));
    let known: EntryNames = [(seat(1), ENTRY)].into();
    let bound = signed(4, 0, None, consent(&[1], &[]));
    let veto = signed(4, 3, None, Says::Veto { seat: seat(1), entry: ENTRY });
    let reason = Reason::Vetoes(vec![veto.hash()].try_into().unwrap());
    let mut reasons = vec![(bound.hash(), reason)];
    step.insert(bound);
    step.insert(veto);
    let mut last = None;
    for count in 0..10 {
        let says = Says::Release { reasons: reasons.clone().try_into().unwrap() };
        let release = signed(4, 0, last, says);
        last = Some(release.hash());
        assert_eq!(step.insert(release), Inserted::New);
        let names = [(seat(1), ENTRY)];
        assert_eq!(step.entry(seat(0), &names, last, &known), Standing::Free);
        // Each later release lists another consent alone.
        let other = Reason::Decision(Hash32([count; 32]));
        reasons = vec![(Hash32([count + 10; 32]), other)];
    }
}

/// An entry that its author's own consent forbids counts by another party's veto, but not by its author's.
//= P5.39
#[test]
fn a_veto_of_another_party_vouches() {
    let mut membership = Membership::new(place(4), seat(4), SeatSet::all(5), Parties::singles(5));
    let veto = Says::Veto { seat: seat(1), entry: ENTRY };
    assert!(!membership.is_vouched_for(seat(1), ENTRY));
    membership.open.insert(signed(4, 3, None, veto));
    assert!(membership.is_vouched_for(seat(1), ENTRY));
    assert!(!membership.is_vouched_for(seat(1), Hash32([8; 32])));
    assert!(!membership.is_vouched_for(seat(3), ENTRY));
}

/// A known statement is not verified again, but the same content under another signature is.
#[test]
fn a_statement_is_held_with_its_signature() {
    let mut membership = Membership::new(place(4), seat(3), SeatSet::all(4), Parties::singles(4));
    let held = signed(4, 0, None, consent(&[1], &[]));
    let mut bytes = encode(held.signed());
    *bytes.last_mut().unwrap() ^= 1;
    let forged: SignedStatement = decode(&bytes, bytes.len()).unwrap();
    assert!(membership.wants(held.signed()));
    membership.open.insert(held.clone());
    assert!(!membership.wants(held.signed()));
    assert!(membership.wants(&forged));
}

/// A decision that keeps a seat puts its entry into the step. No seat consents to its removal again, although the entry
/// is not counted yet.
#[test]
fn a_seat_that_is_kept_is_not_missing() {
    let mut step = StepRemoval::new(place(4), seat(3), SeatSet::all(4), Parties::singles(4));
    let known: EntryNames = [(seat(1), ENTRY)].into();
    let none = EntryNames::new();
    let view = View {
        now: 0,
        acceptable: &known,
        counted: &none,
        removable: seats(&[1]),
        silent: SeatSet::EMPTY,
        absence: 1_000,
        may_sign: true,
        closed: false,
    };
    let again = Some((0, consent(&[1], &[])));
    assert_eq!(step.next(&view), again);
    let mut insert = |verified: Verified| {
        let hash = verified.hash();
        assert_eq!(step.insert(verified), Inserted::New);
        hash
    };
    insert(signed(4, 2, None, consent(&[1], &[])));
    let promise = Says::Promise { round: 0, accepted: None };
    let promises = [0, 1, 2].map(|by| insert(signed(4, by, None, promise.clone())));
    let keep = Says::Propose {
        round: 0,
        value: Value::Keep { seat: seat(1), entry: ENTRY },
        promises: promises.to_vec().try_into().unwrap(),
    };
    let proposal = insert(signed(4, 0, None, keep));
    for by in [0, 1, 2] {
        insert(signed(4, by, None, Says::Accept { round: 0, proposal }));
    }
    step.settle(&known);
    assert_eq!(step.decisions().len(), 1);
    assert_eq!(step.next(&view), None);
    // Seat 2 names its release in its next statement. The consent is relayed until that arrives.
    assert!(step.binds_somebody());
}
