//! Transcripts that were truncated, reassembled or re-signed, and what an auditor finds in them.

use fairdeal_protocol::audit::auditor::{Finding, audit};
use fairdeal_protocol::audit::follow::{FollowError, Follower};
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::log::body::{Answers, Body};
use fairdeal_protocol::log::entry::{Content, SignedEntry};
use fairdeal_protocol::log::equivocation::Equivocation;
use fairdeal_protocol::log::fork_report::{ForkReport, SignedForkReport, resolve};
use fairdeal_protocol::membership::certificate::{Certificate, Proof};
use fairdeal_protocol::membership::{Says, Statement, Value, Verified};
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::fault::FaultKind;
use fairdeal_protocol::transcript::page::Page;
use fairdeal_protocol::transcript::{End, Transcript};
use fairdeal_protocol::wire::codec::encode;

use fairdeal_testkit::drill::{Action, Drill, rules};
use fairdeal_testkit::entries;
use fairdeal_testkit::seats::{self, seat};
use serde::Serialize;

use super::attacks::{CHEAT, LIMIT, named, play_and_lose_one, reversed, verified, with};
use super::sim::{ANY_SEED, LONG, Plan, Sim};

/// A transcript with the charter of `like`, these entries and this trailer.
pub(super) fn file(like: &Transcript, all: &[SignedEntry], trailer: impl Serialize) -> Transcript {
    Transcript::from_bytes(&entries::file(like, all, trailer)).unwrap()
}

/// A transcript with these entries and this end; the log hash is the one that the audit computes.
fn forge(like: &Transcript, entries: &[SignedEntry], end: End) -> Transcript {
    let build = |log| file(like, entries, (end, log, None::<Equivocation>, [0_u8; 4]));
    build(audit::<Drill>(&build(Hash32::default())).log)
}

/// The audit's finding for a finished transcript with another trailer.
fn finding_with(whole: &Transcript, trailer: impl Serialize) -> Option<Finding> {
    let end = (End::Finished, whole.log_hash(), None::<Equivocation>);
    audit::<Drill>(&file(whole, whole.entries(), (end, trailer))).finding
}

fn finished(seed: u64) -> Transcript {
    let mut sim = Sim::new(&rules(3, LIMIT), seed, Plan::default());
    sim.run(LONG);
    sim.room[0].table.transcript()
}

/// Whole steps may be missing at the end, and the report says so; anything else is refused.
#[test]
fn transcript_cut_short_is_detected() {
    let whole = finished(ANY_SEED);
    let entries = whole.entries();
    for cut in (entries.len() - 7..entries.len()).chain(0..7) {
        for end in [End::Finished, End::Unfinished, End::Stopped] {
            let report = audit::<Drill>(&forge(&whole, &entries[..cut], end));
            let fair = end == End::Unfinished && cut % 3 == 0;
            assert_eq!(report.is_fair(), fair, "{cut} entries, {end:?}");
            assert_eq!(report.finding.and_then(|finding| finding.seat()), None);
        }
    }
    for missing in [0, 4, entries.len() / 2] {
        let mut left = entries.to_vec();
        left.remove(missing);
        assert!(!audit::<Drill>(&forge(&whole, &left, End::Finished)).is_fair());
    }
    let twice = [entries, &entries[..3]].concat();
    assert!(!audit::<Drill>(&forge(&whole, &twice, End::Finished)).is_fair());
}

/// A dishonest seat that re-signs one of its actions in its own file makes the file worthless, but blames no honest
/// seat.
#[test]
fn an_entry_signed_anew_blames_nobody_honest() {
    let mut tried = 0;
    for seed in 0..3 {
        let whole = finished(seed);
        for (index, signed) in whole.entries().iter().enumerate() {
            let entry = verified(signed);
            let Body::Act { .. } = entry.body() else {
                continue;
            };
            let body = Body::Act {
                action: encode(&Action::Vote { end: true }).try_into().unwrap(),
                answers: Answers::default(),
            };
            let anew = entries::sign(with(entry.content(), body).unwrap());
            let mut entries = whole.entries().to_vec();
            entries[index] = anew.signed().clone();
            let step_end = (index / 3 + 1) * 3;
            for (cut, end) in [(entries.len(), End::Finished), (step_end, End::Unfinished), (step_end, End::Stopped)] {
                let finding = audit::<Drill>(&forge(&whole, &entries[..cut], end)).finding.expect("a forgery is found");
                let blamed = finding.seat();
                assert!(blamed.is_none_or(|seat| seat == entry.seat()), "{finding}");
                tried += 1;
            }
        }
    }
    assert!(tried > 20, "{tried}");
}

/// Shuffle proofs are verified in batches, later than they appear. A bad one is still named, whatever errors follow it
/// in the file.
#[test]
fn a_bad_shuffle_is_named_whatever_follows() {
    let whole = finished(ANY_SEED);
    let mut entries = whole.entries().to_vec();
    let last = |signed: &SignedEntry| matches!(verified(signed).body(), Body::Shuffle(_));
    let index = entries.iter().position(last).unwrap();
    let entry = verified(&entries[index]);
    let Body::Shuffle(mut shuffled) = entry.body().clone() else {
        unreachable!();
    };
    let mut deck = shuffled.deck.to_vec();
    deck.swap(0, 1);
    shuffled.deck = deck.try_into().unwrap();
    let anew = entries::sign(with(entry.content(), Body::Shuffle(shuffled)).unwrap());
    entries[index] = anew.signed().clone();
    let until = (index / 3 + 1) * 3;
    let out_of_place = [&entries[..until], &entries[..1]].concat();
    let foreign = {
        let content = Content { table: Hash32([9; 32]), ..entry.content().clone() };
        [&entries[..until], &[entries::sign(content).signed().clone()]].concat()
    };
    for (what, entries) in [
        ("the next step goes on from another", &entries[..]),
        ("the file ends", &entries[..until]),
        ("an entry out of place", &out_of_place),
        ("an entry of another table", &foreign),
    ] {
        for end in [End::Finished, End::Unfinished, End::Stopped] {
            let finding = audit::<Drill>(&forge(&whole, entries, end)).finding;
            let Some(Finding::Fault(fault)) = finding else {
                panic!("{what}: {finding:?}");
            };
            assert_eq!(fault.seat, entry.seat(), "{what}");
            assert!(matches!(fault.what, FaultKind::Shuffle(_)), "{what}: {fault}");
        }
    }
    // A spectator learns of it with the page that contains it.
    let page = Page { entries: entries[..until].to_vec().try_into().unwrap(), ..Page::default() };
    let mut follower = Follower::<Drill>::new(whole.charter().clone()).unwrap();
    match follower.take(page) {
        Err(FollowError::Finding(Finding::Fault(fault))) => assert_eq!(fault.seat, entry.seat()),
        other => panic!("{other:?}"),
    }
}

/// Honest entries in the wrong order blame nobody either.
#[test]
fn entries_out_of_order_blame_nobody() {
    let whole = finished(ANY_SEED);
    let mut entries = whole.entries().to_vec();
    entries.swap(6, 8);
    let finding = audit::<Drill>(&forge(&whole, &entries, End::Finished)).finding;
    assert_eq!(finding.expect("it is found").seat(), None);
}

/// A transcript that removes an absent seat needs consents from all that stay, and accepts from a majority.
#[test]
fn a_removal_without_its_certificate_is_no_removal() {
    let sim = play_and_lose_one(ANY_SEED, |_| ());
    let whole = sim.room[0].table.transcript();
    assert_eq!(audit::<Drill>(&whole).finding, None);
    let certificate = &whole.removals()[0];
    let proof = &certificate.decisions[0];
    assert_eq!((whole.removals().len(), proof.consents.len()), (1, 3));
    let without = forge(&whole, whole.entries(), End::Finished);
    let finding = audit::<Drill>(&without).finding.expect("it is found");
    assert_eq!(finding.seat(), None);
    let with = |change: &dyn Fn(&mut Proof)| {
        let mut changed = proof.clone();
        change(&mut changed);
        let removal = Certificate { step: certificate.step, decisions: vec![changed].try_into().unwrap() };
        finding_with(&whole, (vec![removal], [0_u8; 3]))
    };
    assert_eq!(with(&|_| ()), None);
    // Every statement is signed by its seat and its dependents are updated, but one has different content.
    let resign = |signed: &fairdeal_protocol::membership::SignedStatement, change: &dyn Fn(&mut Statement)| {
        let mut statement = signed.unverified().clone();
        change(&mut statement);
        let key = seats::key(statement.seat);
        Verified::sign(statement, &key).signed().clone()
    };
    let consent = |change: &'static dyn Fn(&mut Statement)| {
        move |proof: &mut Proof| {
            let mut all = proof.consents.to_vec();
            all[1] = resign(&all[1], change);
            proof.consents = all.try_into().unwrap();
        }
    };
    let fewer = |proof: &mut Proof| {
        let all = proof.consents.to_vec();
        proof.consents = all[1..].to_vec().try_into().unwrap();
    };
    let minority = |proof: &mut Proof| {
        let all = proof.accepts.to_vec();
        proof.accepts = all[..2].to_vec().try_into().unwrap();
    };
    let twice = |proof: &mut Proof| {
        let mut all = proof.accepts.to_vec();
        all = vec![all[0].clone(), all[0].clone(), all[1].clone()];
        proof.accepts = all.try_into().unwrap();
    };
    let another = |proof: &mut Proof| {
        proof.proposal = resign(&proof.proposal, &|statement| {
            if let Says::Propose { value, .. } = &mut statement.says {
                *value = Value::Out { seats: SeatSet::one(seat(0)), counted: Vec::new().try_into().unwrap() };
            }
        });
    };
    let other_set = consent(&|statement| {
        if let Says::Consent { out, .. } = &mut statement.says {
            *out = SeatSet::one(seat(2));
        }
    });
    let other_step = consent(&|statement| statement.step += 1);
    let other_parent = consent(&|statement| statement.parent = Hash32([1; 32]));
    let other_instance = consent(&|statement| statement.instance = 1);
    let changes: [&dyn Fn(&mut Proof); 8] =
        [&fewer, &minority, &twice, &another, &other_set, &other_step, &other_parent, &other_instance];
    for (number, change) in changes.into_iter().enumerate() {
        let finding = with(change);
        assert!(matches!(finding, Some(Finding::Removal { .. })), "{number}: {finding:?}");
    }
}

/// A removal for a fault needs the entry that proves it; an entry that proves nothing, or another seat's, is not
/// enough.
#[test]
fn a_removal_without_its_proof_is_no_removal() {
    let mut games = (0..10).map(|seed| play_and_lose_one(seed, reversed));
    let sim = games.find(|sim| sim.fault(0).is_some()).expect("in ten games there is an occasion");
    let whole = sim.room[0].table.transcript();
    assert_eq!(audit::<Drill>(&whole).finding, None);
    let proven = &whole.faults()[0];
    let entry = entries::verified(whole.charter(), &proven.entry);
    let content = entry.content().clone();
    let with =
        |seat: Seat, entry: SignedEntry| finding_with(&whole, (whole.removals(), vec![(seat, entry)], [0_u8; 2]));
    assert_eq!(with(proven.seat, proven.entry.clone()), None);
    let elsewhere = entries::sign(Content { parent: Hash32([1; 32]), ..content.clone() });
    let innocent = seat(0);
    let (step, seat) = (content.step, proven.seat);
    let unproven = Some(Finding::Unproven { step, seat });
    assert_eq!(with(proven.seat, elsewhere.signed().clone()), unproven);
    let other = with(innocent, proven.entry.clone());
    let seat = innocent;
    assert_eq!(other, Some(Finding::Unproven { step, seat }));
}

/// Fork reports that continue the log without an equivocating seat must name the log that precedes them.
#[test]
fn words_on_another_log_do_not_lead_on_from_this_one() {
    let mut faced = None;
    let mut sim = Sim::new(&rules(3, LIMIT), ANY_SEED, Plan::cheating(seat(CHEAT)));
    sim.run_rewriting(240_000, |from, to, entry| {
        let acks = matches!(entry.body(), Body::Ack { .. }) && entry.seat() == from;
        let here = acks && from == seat(CHEAT) && to == seat(2);
        if !here || *faced.get_or_insert(entry.step()) != entry.step() {
            return Some(entry);
        }
        with(entry.content(), Body::Leave).map(entries::sign)
    });
    assert_eq!(named(&sim), FaultKind::Equivocation);
    let whole = sim.room[0].table.transcript();
    let halted = whole.halted()[0].clone();
    let words = |change: &dyn Fn(Hash32) -> Hash32| {
        let words = halted.fork_reports.iter().map(|signed| {
            let mut fork_report = signed.fork_report().clone();
            fork_report.parent = change(fork_report.parent);
            let earlier: Vec<Hash32> = fork_report.earlier.iter().map(|hash| change(*hash)).collect();
            fork_report.earlier = earlier.try_into().unwrap();
            let key = seats::key(fork_report.seat);
            SignedForkReport::sign(fork_report, &key)
        });
        words.collect::<Vec<SignedForkReport>>()
    };
    let with = |change: &dyn Fn(Hash32) -> Hash32| {
        let halted = vec![(&halted.evidence, words(change))];
        finding_with(&whole, ([0_u8; 2], halted, [0_u8; 1]))
    };
    assert_eq!(with(&|hash| hash), None);
    let fork_reports: Vec<ForkReport> = words(&|hash| hash).iter().map(|word| word.fork_report().clone()).collect();
    let step = resolve(&fork_reports).unwrap().point.step;
    let elsewhere = with(&|hash| Hash32([hash.0[0]; 32]));
    let culprit = seat(CHEAT);
    assert_eq!(elsewhere, Some(Finding::Halted { step, culprit }));
}
