//! Statements of a step that this seat has left, or that is decided without it.

use super::*;

/// A view with no missing or silent seat.
fn idle(entries: &EntryNames) -> View<'_> {
    View {
        now: 0,
        acceptable: entries,
        counted: entries,
        removable: SeatSet::EMPTY,
        silent: SeatSet::EMPTY,
        absence: 1_000,
        may_sign: true,
        closed: false,
    }
}

fn promise(step: u64, by: usize, round: u16) -> Verified {
    let says = Says::Promise { round, accepted: None };
    signed(step, by, None, says)
}

/// Whether a statement is accepted and kept.
fn takes(membership: &mut Membership, view: &View<'_>, verified: &Verified) -> bool {
    let input = Input::Statement(Box::new(verified.clone()));
    let effects = membership.handle(input, view);
    effects.contains(&Effect::Keep(Box::new(verified.clone())))
}

/// A bound seat may be many steps behind, with links to only some of the others. They relay its consent and the vetoes
/// until it announces that it is free.
//= P5.45
#[test]
fn a_consent_of_long_ago_is_handed_on_until_its_signer_is_free() {
    let everyone = SeatSet::all(4);
    let mut membership = Membership::new(place(4), seat(3), everyone, Parties::singles(4));
    let counted: EntryNames = everyone.iter().map(|seat| (seat, ENTRY)).collect();
    membership.complete(counted.clone(), SeatSet::EMPTY, place(5), everyone);
    // The others have removed seat 0 from step 5.
    let others: EntryNames = counted.into_iter().skip(1).collect();
    for step in 6..8 {
        let stay = everyone.without(seat(0));
        membership.complete(others.clone(), seats(&[0]), place(step), stay);
    }
    let none = EntryNames::new();
    let view = idle(&none);
    let take = |membership: &mut Membership, verified: &Verified| takes(membership, &view, verified);
    let lacks = |membership: &Membership, held: &Verified, named: &[Hash32]| {
        let mut all = membership.statements_for(7, named);
        all.any(|other| other.hash() == held.hash())
    };
    let sent = |membership: &Membership, held: &Verified| lacks(membership, held, &[]);
    // A seat that has moved on is not bound.
    assert!(!membership.wants(signed(4, 2, None, consent(&[1], &[])).signed()));
    let bound = signed(4, 0, None, consent(&[1], &[]));
    assert!(take(&mut membership, &bound) && sent(&membership, &bound));
    let veto = signed(4, 2, None, Says::Veto { seat: seat(1), entry: ENTRY });
    assert!(take(&mut membership, &veto));
    assert!(sent(&membership, &bound) && sent(&membership, &veto));
    assert!(membership.names().any(|name| name == veto.hash()));
    // A decision frees a seat, too.
    let promise = promise(4, 2, 0);
    assert!(take(&mut membership, &promise) && sent(&membership, &promise));
    // The signer announces that it is free.
    let reason = Reason::Vetoes(vec![veto.hash()].try_into().unwrap());
    let reasons = vec![(bound.hash(), reason)].try_into().unwrap();
    let release = signed(4, 0, None, Says::Release { reasons });
    assert!(take(&mut membership, &release));
    for held in [&bound, &veto, &promise] {
        assert!(!sent(&membership, held));
    }
    let accept = Says::Accept { round: 0, proposal: ENTRY };
    assert!(!membership.wants(signed(4, 2, None, accept).signed()));
    // A seat that names the consent lacks the release.
    assert!(!sent(&membership, &release));
    assert!(lacks(&membership, &release, &[bound.hash()]));
}

/// Seat 0 was bound and freed in step 4, and seat 1 is bound in step 5. Seat 0's veto in step 5 that frees seat 1 names
/// its release in step 4. Seats that never needed that release now do.
//= P5.45
#[test]
fn a_release_is_handed_on_while_somebody_is_bound_in_the_next_step() {
    let everyone = SeatSet::all(4);
    let mut membership = Membership::new(place(4), seat(3), everyone, Parties::singles(4));
    let counted: EntryNames = everyone.iter().map(|seat| (seat, ENTRY)).collect();
    for step in 5..8 {
        membership.complete(counted.clone(), SeatSet::EMPTY, place(step), everyone);
    }
    let none = EntryNames::new();
    let view = idle(&none);
    let take = |membership: &mut Membership, verified: &Verified| takes(membership, &view, verified);
    let freed = signed(4, 0, None, consent(&[2], &[]));
    let veto = signed(4, 1, None, Says::Veto { seat: seat(2), entry: ENTRY });
    let reason = Reason::Vetoes(vec![veto.hash()].try_into().unwrap());
    let reasons = vec![(freed.hash(), reason)].try_into().unwrap();
    let release = signed(4, 0, None, Says::Release { reasons });
    let chain = [&veto, &release];
    for statement in chain {
        assert!(!membership.wants(statement.signed()));
    }
    // Seat 1 may have completed step 5 without telling this seat. Until that is known, it may be bound.
    let bound = membership.past.get_mut(&5).unwrap();
    assert_eq!(bound.insert(signed(5, 1, None, consent(&[2], &[]))), Inserted::New);
    membership.disputed.insert(5);
    for statement in chain {
        assert!(take(&mut membership, statement));
    }
    // The consent itself is no longer wanted: its signer has completed step 5, so it is free.
    assert!(!membership.wants(freed.signed()));
    let sent: Vec<Hash32> = membership.statements_for(7, &[]).map(Verified::hash).collect();
    for statement in chain {
        assert!(sent.contains(&statement.hash()));
    }
}

/// A seat that has closed the table by claim continues no further, but still vetoes to free others.
#[test]
fn a_seat_that_has_closed_its_table_frees_others() {
    let everyone = SeatSet::all(4);
    let counted: EntryNames = everyone.iter().map(|seat| (seat, ENTRY)).collect();
    let view = View { closed: true, ..idle(&counted) };
    for (step, vetoes) in [(4, true), (5, false)] {
        let mut membership = Membership::new(place(4), seat(3), everyone, Parties::singles(4));
        membership.complete(counted.clone(), SeatSet::EMPTY, place(5), everyone);
        let bound = signed(step, 0, None, consent(&[1], &[]));
        let effects = membership.handle(Input::Statement(Box::new(bound)), &view);
        let veto = |effect: &Effect| match effect {
            Effect::Sign(statement) => matches!(statement.says, Says::Veto { .. }),
            _ => false,
        };
        assert_eq!(effects.iter().any(veto), vetoes, "step {step}");
    }
}

/// A seat acts against its own consent, and only some others know. The rest follow its promise and will not decide
/// again for those who refused it. A statement that another party's proposal builds on therefore counts.
//= P5.40
#[test]
fn a_promise_against_a_consent_counts_where_a_proposal_builds_on_it() {
    let everyone = SeatSet::all(4);
    let mut membership = Membership::new(place(4), seat(3), everyone, Parties::singles(4));
    let counted: EntryNames = everyone.iter().map(|seat| (seat, ENTRY)).collect();
    membership.complete(counted, SeatSet::EMPTY, place(5), everyone);
    let none = EntryNames::new();
    let view = idle(&none);
    let mut take = |verified: &Verified| takes(&mut membership, &view, verified);
    let propose = |by, promises: &[&Verified]| {
        let promises: Vec<Hash32> = promises.iter().map(|held| held.hash()).collect();
        let says = Says::Propose {
            round: 0,
            value: Value::Keep { seat: seat(1), entry: ENTRY },
            promises: promises.try_into().unwrap(),
        };
        signed(5, by, None, says)
    };
    assert!(take(&signed(4, 2, None, consent(&[1], &[]))));
    let refused = promise(5, 2, 0);
    assert!(!take(&refused));
    let proposal = propose(0, &[&promise(5, 0, 0), &promise(5, 1, 0)]);
    let accept = |proposal: &Verified| {
        let proposal = proposal.hash();
        signed(5, 2, None, Says::Accept { round: 0, proposal })
    };
    assert!(take(&proposal) && !take(&refused) && !take(&accept(&proposal)));
    let proposal = propose(1, &[&promise(5, 0, 0), &refused]);
    assert!(take(&proposal) && take(&refused) && take(&accept(&proposal)));
}

/// A participant moves from round to round. A seat that has left or completed the step keeps and relays all that others
/// may need.
//= P5.47
#[test]
fn a_seat_that_takes_part_in_no_round_keeps_those_of_others() {
    let kept = |me: usize, complete: bool, round| {
        let stay = SeatSet::all(4).without(seat(0));
        let mut step = StepRemoval::new(place(4), seat(me), stay, Parties::singles(4));
        step.outcome = complete.then(|| Outcome { instance: 0, entries: EntryNames::new(), removed: SeatSet::EMPTY });
        step.insert(promise(4, 2, round)) == Inserted::New
    };
    assert!(kept(3, false, 0) && !kept(3, false, 1));
    for (me, complete) in [(0, false), (3, true)] {
        assert!([0, 1, 15].iter().all(|round| kept(me, complete, *round)));
        assert!(!kept(me, complete, 16));
    }
}

/// A seat's duty to a completed step ends with the next one. For older steps it signs only statements that free others,
/// and takes part in no rounds.
//= P5.10, P5.46
#[test]
fn a_seat_signs_in_no_round_of_a_step_long_left() {
    let everyone = SeatSet::all(4);
    let counted: EntryNames = everyone.iter().map(|seat| (seat, ENTRY)).collect();
    let view = idle(&counted);
    for in_rounds in [true, false] {
        let mut membership = Membership::new(place(4), seat(3), everyone, Parties::singles(4));
        membership.complete(counted.clone(), SeatSet::EMPTY, place(5), everyone);
        if !in_rounds {
            // Step 5 has removed seat 0, which is still in step 4.
            let others = counted.clone().into_iter().skip(1).collect();
            membership.complete(others, seats(&[0]), place(6), everyone.without(seat(0)));
        }
        let mut signs = |verified: Verified| {
            let effects = membership.handle(Input::Statement(Box::new(verified)), &view);
            let signed = effects.into_iter().find_map(|effect| match effect {
                Effect::Sign(statement) => Some(statement.says),
                _ => None,
            });
            if let Some(says) = signed.clone() {
                let own = Input::Statement(Box::new(super::signed(4, 3, None, says)));
                membership.handle(own, &view);
            }
            signed
        };
        let veto = signs(signed(4, 0, None, consent(&[1], &[])));
        assert!(matches!(veto, Some(Says::Veto { .. })));
        let first = promise(4, 0, 0);
        let joined = signs(first.clone());
        assert_eq!(joined.is_some(), in_rounds);
        let second = promise(4, 2, 0);
        signs(second.clone());
        let value = Value::Keep { seat: seat(1), entry: ENTRY };
        let promises = vec![first.hash(), second.hash(), promise(4, 1, 0).hash()];
        signs(promise(4, 1, 0));
        let proposal = Says::Propose { round: 0, value, promises: promises.try_into().unwrap() };
        let accepted = signs(signed(4, 0, None, proposal));
        assert_eq!(accepted.is_some(), in_rounds, "{accepted:?}");
    }
}
