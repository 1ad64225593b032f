//! More cheats, each refused and attributed. Forged files are in `forgeries.rs`.
//!
//! The cheat is an honest table whose outgoing entries are rewritten and signed again with its own key. A seat can do
//! no more without breaking a signature.

use std::collections::BTreeMap;

use fairdeal_protocol::audit::auditor::{Finding, Reason, audit};
use fairdeal_protocol::crypto::escrow::{Complaint, EscrowError, Part};
use fairdeal_protocol::crypto::group::Point;
use fairdeal_protocol::crypto::key::KeyError;
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::log::body::{Answers, Body, PartShares, Shares, Shuffled};
use fairdeal_protocol::log::entry::{Content, Entry, SignedEntry};
use fairdeal_protocol::log::equivocation::Equivocation;
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::table::fault::FaultKind;
use fairdeal_protocol::table::live::{ActError, ReceiveError, Stop, To};
use fairdeal_protocol::table::message::{Head, Message};
use fairdeal_protocol::table::replica::StepKind;
use fairdeal_protocol::transcript::End;
use fairdeal_protocol::wire::codec::{decode, encode};
use fairdeal_testkit::drill::{Action, Drill, rules};
use fairdeal_testkit::seats::seat;
use fairdeal_testkit::{Sent, TestSeat, entries};

use super::sim::{ANY_SEED, LONG, Plan, Sim, charter, convicted};

pub(super) const CHEAT: usize = 1;
pub(super) const LIMIT: u32 = 16;

pub(super) fn verified(entry: &SignedEntry) -> Entry {
    entries::verified(&charter(&rules(3, LIMIT)), entry)
}

/// Plays while `change` rewrites the cheat's entries, identically for every receiver.
pub(super) fn play(change: impl FnMut(&Content, &[Entry]) -> Option<Content>) -> Sim {
    play_as(CHEAT, change)
}

/// The same with another seat as the cheat.
fn play_as(cheat: usize, change: impl FnMut(&Content, &[Entry]) -> Option<Content>) -> Sim {
    play_among(3, cheat, ANY_SEED, change)
}

/// The same with a given number of seats and a given seed.
fn play_among(
    seats: u8,
    cheat: usize,
    seed: u64,
    mut change: impl FnMut(&Content, &[Entry]) -> Option<Content>,
) -> Sim {
    let charter = charter(&rules(seats, LIMIT));
    let cheat = seat(cheat);
    let mut sim = Sim::new(&rules(seats, LIMIT), seed, Plan::cheating(cheat));
    let mut sent: BTreeMap<u64, Entry> = BTreeMap::new();
    let mut heard: Vec<Entry> = Vec::new();
    let mut cheated = false;
    sim.run_with(240_000, |from, _, message| {
        if from == cheat && matches!(message, Message::Evidence(_)) {
            return None;
        }
        let rewritten = entries::rewrite(&charter, message, |entry| {
            if entry.seat() != cheat {
                heard.push(entry.clone());
                return Some(entry);
            }
            let first = sent.entry(entry.step()).or_insert_with(|| {
                let changed = change(entry.content(), &heard);
                cheated |= changed.is_some();
                changed.map_or(entry, entries::sign)
            });
            Some(first.clone())
        });
        Some(rewritten)
    });
    assert!(cheated, "there was no occasion to cheat");
    sim
}

pub(super) fn named(sim: &Sim) -> FaultKind {
    convicted(sim, seat(CHEAT))
}

pub(super) fn with(content: &Content, body: Body) -> Option<Content> {
    let content = content.clone();
    Some(Content { body, ..content })
}

/// The content with an escrow of these parts.
fn escrow(content: &Content, parts: Vec<Part>, shuffled: &Option<Shuffled>) -> Option<Content> {
    let parts = parts.try_into().unwrap();
    let shuffled = shuffled.clone();
    with(content, Body::Escrow { parts, shuffled })
}

/// The content with an acceptance that makes these complaints.
fn accept(content: &Content, complaints: Vec<(Seat, Complaint)>, shuffled: &Option<Shuffled>) -> Option<Content> {
    let complaints = complaints.try_into().unwrap();
    let shuffled = shuffled.clone();
    with(content, Body::Accept { complaints, shuffled })
}

fn answers(body: &mut Body) -> Option<&mut Answers> {
    match body {
        Body::Act { answers, .. } | Body::Ack { answers, .. } | Body::Effects { answers } => Some(answers),
        _ => None,
    }
}

/// Changes the answers of an entry, if it has any and `change` accepts them.
fn with_answers(content: &Content, change: impl FnOnce(&mut Answers) -> Option<()>) -> Option<Content> {
    let mut body = content.body.clone();
    change(answers(&mut body)?)?;
    with(content, body)
}

//= P1.4
#[test]
fn keys_that_are_not_ones_own() {
    // Seat 0's key with seat 0's proof. The cheat must send after seat 0, so try several seeds.
    let copied = (0..20)
        .find_map(|seed| {
            let mut done = false;
            let sim = std::panic::catch_unwind(move || {
                play_among(3, CHEAT, seed, |content, heard| {
                    matches!(content.body, Body::Key { .. } if !done).then_some(())?;
                    let key = heard
                        .iter()
                        .find(|entry| entry.seat() == seat(0) && matches!(entry.body(), Body::Key { .. }))?;
                    done = true;
                    with(content, key.body().clone())
                })
            });
            sim.ok()
        })
        .expect("in twenty games the cheat speaks after seat 0 once");
    assert_eq!(named(&copied), FaultKind::Key(KeyError::Equation));
    let identity = play(|content, _| match &content.body {
        Body::Key { proof, .. } => with(content, Body::Key { key: Point::identity(), proof: proof.clone() }),
        _ => None,
    });
    assert_eq!(named(&identity), FaultKind::Key(KeyError::Identity));
}

/// Seed of a game in which the cheat sends the same number of shares twice.
const SHARES_AGAIN: u64 = 2;
/// Seed of a game in which it does so in its acks.
const ACKS_AGAIN: u64 = 1;

#[test]
fn shares_and_proofs_that_served_before() {
    for (seed, acks) in [(SHARES_AGAIN, false), (ACKS_AGAIN, true)] {
        let mut before: Option<Shares> = None;
        let sim = play_among(3, CHEAT, seed, |content, _| {
            if acks && !matches!(content.body, Body::Ack { .. }) {
                return None;
            }
            with_answers(content, |answers| {
                let shares = answers.shares.as_mut()?;
                let Some(old) = before.as_ref().filter(|old| old.shares.len() == shares.shares.len()) else {
                    before = Some(shares.clone());
                    return None;
                };
                *shares = old.clone();
                Some(())
            })
        });
        assert_eq!(named(&sim), FaultKind::ShareProof, "{acks}");
    }
}

#[test]
fn answers_too_many_or_in_the_wrong_order() {
    let reversed = play(|content, _| {
        with_answers(content, |answers| {
            let shares = answers.shares.as_mut()?;
            let mut points = shares.shares.to_vec();
            points.reverse();
            (points.len() > 1).then_some(())?;
            shares.shares = points.try_into().unwrap();
            Some(())
        })
    });
    assert_eq!(named(&reversed), FaultKind::ShareProof);
    let unasked = play(|content, _| {
        with_answers(content, |answers| {
            let none = answers.coin.is_none();
            answers.coin = Some(Hash32([9; 32]));
            none.then_some(())
        })
    });
    assert!(matches!(named(&unasked), FaultKind::WrongAnswers { coin: " and a coin", .. }));
    let missing = play(|content, _| with_answers(content, |answers| answers.coin.take().map(|_| ())));
    assert!(matches!(named(&missing), FaultKind::WrongAnswers { coin: " and no coin", .. }));
}

#[test]
fn entries_of_the_wrong_kind() {
    let ack_as = |body: fn(&Answers) -> Body| {
        let sim = play(|content, _| match &content.body {
            Body::Ack { answers, .. } => with(content, body(answers)),
            _ => None,
        });
        named(&sim)
    };
    assert!(matches!(ack_as(|_| Body::Close), FaultKind::WrongKind { wanted: "ack", .. }));
    let acts =
        ack_as(|answers| Body::Act { action: encode(&Action::Draw).try_into().unwrap(), answers: answers.clone() });
    assert!(matches!(acts, FaultKind::WrongKind { got: "action", .. }));
    let interjects = ack_as(|_| Body::Interject { action: encode(&Action::Draw).try_into().unwrap() });
    assert_eq!(interjects, FaultKind::NotOutOfTurn);
    let malformed = ack_as(|_| Body::Interject { action: vec![200, 200].try_into().unwrap() });
    assert_eq!(malformed, FaultKind::MalformedAction);
    // One extra byte after an action.
    let longer = play(|content, _| match &content.body {
        Body::Act { action, answers } => with(
            content,
            Body::Act { action: [action.to_vec(), vec![0]].concat().try_into().unwrap(), answers: answers.clone() },
        ),
        _ => None,
    });
    assert_eq!(named(&longer), FaultKind::MalformedAction);
}

/// An entry with a wrong digest is missing at once if all others agree: they go on without its seat, without any
/// timeout.
#[test]
fn a_lie_about_the_state() {
    let sim = play(|content, _| {
        matches!(content.body, Body::Ack { .. }).then(|| Content {
            digest: Hash32([1; 32]),
            release: None,
            ..content.clone()
        })
    });
    for table in [&sim.room[0].table, &sim.room[2].table] {
        assert!(table.is_finished(), "{:?}", table.progress());
        let report = audit::<Drill>(&table.transcript());
        assert_eq!(report.finding, None);
        let [gone] = &report.left[..] else {
            panic!("{:?}", report.left);
        };
        assert_eq!((gone.seat, &gone.why), (seat(CHEAT), &Reason::Absent));
    }
}

/// Two seats cannot decide a removal. The table stops, and the replay shows whose digest is wrong.
#[test]
fn of_two_the_wrong_state_is_named() {
    let sim = play_among(2, CHEAT, ANY_SEED, |content, _| {
        matches!(content.body, Body::Ack { .. }).then(|| Content {
            digest: Hash32([1; 32]),
            release: None,
            ..content.clone()
        })
    });
    let table = &sim.room[0].table;
    {
        assert!(matches!(table.stopped(), Some(Stop::Desync(who, _)) if *who == seat(CHEAT)));
        let finding = audit::<Drill>(&table.transcript()).finding.unwrap();
        assert_eq!(finding.seat(), Some(seat(CHEAT)));
        assert!(matches!(finding, Finding::Fault(fault) if fault.what == FaultKind::Digest));
    }
}

#[test]
fn junk_is_refused_without_blame() {
    let mut sim = Sim::new(&rules(3, LIMIT), ANY_SEED, Plan::default());
    let place = &mut sim.room[0];
    for bytes in [&[][..], &[0], &[9, 9, 9], &[0, 251, 255, 255], &[255; 70]] {
        let refused = place.receive(seat(1), bytes);
        assert!(matches!(refused, Err(ReceiveError::Codec(_))), "{bytes:?}");
    }
    // A head far in the future does no harm, and an entry paired with itself is no evidence.
    let head = Message::Head(Head { step: u64::MAX, ..Head::default() });
    assert_eq!(place.accept(seat(1), head), Ok(()));
    let one = entries::sign(close(0));
    assert!(Equivocation::of(&one, &one).is_none());
    let twice = encode(&(2_u8, 0_u8, one.signed(), one.signed()));
    let refused = place.receive(seat(1), &twice);
    assert_eq!(refused, Err(ReceiveError::EmptyEvidence));
    assert_eq!(place.table.stopped(), None);
}

fn close(parent: u8) -> Content {
    Content {
        table: charter(&rules(3, LIMIT)).table(),
        step: 1000,
        seat: seat(CHEAT),
        parent: Hash32([parent; 32]),
        digest: Hash32::default(),
        release: None,
        body: Body::Close,
    }
}

/// A losing seat that equivocates after the end cannot undo the game or spoil its transcript.
//= P12.8
#[test]
fn a_finished_game_stays_finished() {
    let mut sim = Sim::new(&rules(3, LIMIT), ANY_SEED, Plan::default());
    sim.run(LONG);
    let fair = sim.room[0].table.transcript();
    assert!(audit::<Drill>(&fair).is_fair());
    let two = [1, 2].map(|parent| entries::sign(close(parent)));
    let evidence = Equivocation::of(&two[0], &two[1]).unwrap();
    let place = &mut sim.room[0];
    place.accept(seat(CHEAT), Message::Evidence(Box::new(evidence))).unwrap();
    assert_eq!(place.table.stopped(), None);
    assert!(place.table.transcript() == fair);
}

/// The bodies of all entries, by step and seat.
type Bodies = BTreeMap<(u64, Seat), Body>;

/// The honest seats' entries and the step of a fork. The cheat sends acks, but shows seat 0 an interjection in the
/// first step that `occasion` accepts.
fn forked(
    seed: u64,
    interjection: &Action,
    mut occasion: impl FnMut(&Content, &Bodies) -> bool,
) -> Option<(Bodies, u64)> {
    let charter = charter(&rules(3, LIMIT));
    let mut sim = Sim::new(&rules(3, LIMIT), seed, Plan::interjecting());
    let mut forked = None;
    let mut bodies: Bodies = BTreeMap::new();
    sim.run_with(60_000, |from, to, message| {
        for entry in entries::carried(&charter, &message) {
            bodies.insert((entry.step(), entry.seat()), entry.body().clone());
            if from == seat(CHEAT)
                && to == seat(0)
                && entry.seat() == from
                && matches!(entry.body(), Body::Ack { .. })
                && match forked {
                    None => occasion(entry.content(), &bodies),
                    Some(step) => step == entry.step(),
                }
            {
                forked = Some(entry.step());
                let action = encode(interjection).try_into().unwrap();
                let other = with(entry.content(), Body::Interject { action });
                return Some(entries::message(&other.map(entries::sign)));
            }
        }
        Some(message)
    });
    let step = forked?;
    for honest in [0, 2] {
        let stop = sim.fault(honest);
        // The cheat had interjected before. This interjection alone convicts it, and no fork arises.
        if matches!(stop, Some(fault)
            if fault.seat == seat(CHEAT) && fault.what == FaultKind::SecondInterjection)
        {
            return None;
        }
        let convicted = matches!(stop, Some(fault)
            if fault.seat == seat(CHEAT) && fault.what == FaultKind::Equivocation);
        assert!(convicted, "seed {seed}, seat {honest}: {stop:?}");
    }
    Some((bodies, step))
}

/// No entry names an interjection of its own step. An equivocating seat can thus make one honest seat believe that the
/// deal is over, while another plays on. No seat may open its seed on that basis.
#[test]
fn no_seed_is_opened_on_the_word_of_one() {
    let mut forks = 0;
    for seed in 0..40 {
        let end = Action::Vote { end: true };
        let mut voted = None;
        let forked = forked(seed, &end, |content, bodies| {
            let votes = bodies.iter().rev().find_map(|((step, who), body)| {
                let (Body::Interject { action } | Body::Act { action, .. }) = body else {
                    return None;
                };
                match decode(action, 1024) {
                    Ok(Action::Vote { end }) if *who == seat(2) => Some((*step, end)),
                    _ => None,
                }
            });
            voted = votes.filter(|(_, end)| *end).map(|(step, _)| step);
            voted.is_some_and(|step| content.step > step)
        });
        let Some((bodies, step)) = forked else {
            continue;
        };
        let after = |who| bodies.get(&(step + 1, seat(who)));
        forks += usize::from(after(0) == Some(&Body::Confirm));
        // Later seeds belong to the restarted deal.
        let opened = bodies
            .iter()
            .any(|((at, _), body)| (step + 1..=step + 3).contains(at) && matches!(body, Body::Open { .. }));
        assert!(!opened, "seed {seed}: a seed is opened after step {step}");
    }
    assert!(forks > 0, "no fork would have ended the deal");
}

/// Nor may a seat show a card of its hand on that basis.
#[test]
fn no_hand_is_shown_on_the_word_of_one() {
    let mut forks = 0;
    for seed in 0..40 {
        let forked = forked(seed, &Action::Reveal, |content, bodies| {
            let reveal = encode(&Action::Reveal);
            content.step > 5
                && !bodies.values().any(|body| match body {
                    Body::Interject { action } | Body::Act { action, .. } => **action == *reveal,
                    _ => false,
                })
        });
        let Some((bodies, step)) = forked else {
            continue;
        };
        let after = |who| bodies.get(&(step + 1, seat(who)));
        forks += usize::from(after(0) == Some(&Body::Confirm));
        let answered = matches!(after(0), Some(Body::Effects { .. }));
        assert!(
            !answered || matches!(after(2), Some(Body::Effects { .. })),
            "seed {seed}: seat 0 shows its card after step {step}"
        );
    }
    assert!(forks > 0, "no fork would have shown a hand");
}

/// A seat does not answer a flood of heads with a flood of entries.
//= P12.9
#[test]
fn heads_are_answered_twice_a_tick() {
    let mut sim = Sim::new(&rules(3, LIMIT), ANY_SEED, Plan::default());
    sim.run(60_000);
    let place = &mut sim.room[0];
    let mut answers = |heads: u64| {
        place.take_sent();
        place.tick(0);
        for number in 0..100 {
            let step = number % heads;
            let head = Head { step, ..Head::default() };
            place.accept(seat(CHEAT), Message::Head(head)).unwrap();
        }
        let sent = place.take_sent().into_iter();
        let answer = |sent: &Sent| matches!((sent.to, &sent.message), (To::One(_), Message::Entries(_)));
        sent.filter(answer).count()
    };
    assert_eq!((answers(2), answers(2)), (2, 2));
    // A head that stays the same is answered less and less often.
    let repeated: Vec<usize> = (0..24).map(|_| answers(1)).collect();
    let at: Vec<usize> = (0..24).filter(|tick| repeated[*tick] > 0).collect();
    assert_eq!((at, repeated.iter().max()), (vec![0, 1, 3, 7, 15], Some(&1)));
}

/// A second out-of-turn action, while the open step still holds the first.
#[test]
fn a_second_wish_out_of_turn_is_refused_at_once() {
    let charter = charter(&rules(3, LIMIT));
    let mut sim = Sim::new(&rules(3, LIMIT), ANY_SEED, Plan::default());
    // The leader's action is lost, so all seats wait for it.
    sim.run_with(8_000, |_, _, message| {
        let acts =
            entries::carried(&charter, &message).into_iter().any(|entry| matches!(entry.body(), Body::Act { .. }));
        (!acts).then_some(message)
    });
    let follows = |place: &&mut TestSeat<Drill>| {
        let leader = place.seat();
        place.table.replica().kind() != Some(StepKind::Action { leader })
    };
    let place = sim.room.places.iter_mut().find(follows).unwrap();
    assert_eq!(place.act(Action::Reveal), Ok(()));
    let again = place.act(Action::Vote { end: true });
    assert_eq!(again, Err(ActError::OncePerTurn));
}

/// Parts that do not add up to the key, and parts that do not match the seats.
#[test]
fn escrows_that_anybody_refuses() {
    let cheat = |change: fn(&mut Vec<Part>)| {
        let sim = play(|content, _| match &content.body {
            Body::Escrow { parts, shuffled } => {
                let mut parts = parts.to_vec();
                change(&mut parts);
                escrow(content, parts, shuffled)
            }
            _ => None,
        });
        named(&sim)
    };
    let doubled = cheat(|parts| parts[0].point = parts[1].point);
    assert_eq!(doubled, FaultKind::Escrow(EscrowError::Sum));
    let swapped = cheat(|parts| parts.swap(0, 1));
    assert_eq!(swapped, FaultKind::Escrow(EscrowError::Seats));
    let missing = cheat(|parts| parts.truncate(1));
    assert_eq!(missing, FaultKind::Escrow(EscrowError::Seats));
    let nothing = cheat(|parts| parts[1].point = Point::identity());
    assert!(matches!(nothing, FaultKind::Escrow(EscrowError::Identity { .. })));
}

/// In a deal that begins with a deck, the first two seats shuffle with their escrow and acceptance. Three faults are
/// named: a shuffle out of turn, none in turn, and a second shuffle by the same seat.
//= P1.5, P3.6
#[test]
fn shuffles_out_of_turn_are_named() {
    let sim = play(|content, _| match &content.body {
        Body::Accept { shuffled: Some(_), .. } => accept(content, Vec::new(), &None),
        _ => None,
    });
    assert_eq!(named(&sim), FaultKind::EarlyShuffle { owed: true });
    // The first seat sends its own shuffle again, when it has nothing left to shuffle.
    let again = |change: fn(&Content, Shuffled) -> Option<Content>| {
        let mut own = None;
        let sim = play_as(0, |content, _| match &content.body {
            Body::Escrow { shuffled, .. } => {
                own.clone_from(shuffled);
                None
            }
            _ => change(content, own.clone()?),
        });
        convicted(&sim, seat(0))
    };
    let accepting = again(|content, own| match &content.body {
        Body::Accept { .. } => accept(content, Vec::new(), &Some(own)),
        _ => None,
    });
    assert_eq!(accepting, FaultKind::EarlyShuffle { owed: false });
    let confirming = again(|content, own| match &content.body {
        Body::Confirm => with(content, Body::Shuffle(own)),
        _ => None,
    });
    let (got, wanted) = ("shuffle", "confirmation");
    assert_eq!(confirming, FaultKind::WrongKind { got, wanted });
    let sim = play(|content, _| {
        let mut body = content.body.clone();
        let Body::Accept { shuffled, .. } = &mut body else {
            return None;
        };
        shuffled.as_mut()?.onto = Hash32([8; 32]);
        with(content, body)
    });
    assert_eq!(named(&sim), FaultKind::OtherDeck);
    let sim = play_as(2, |content, _| match &content.body {
        Body::Shuffle(_) => with(content, Body::Confirm),
        _ => None,
    });
    let (got, wanted) = (wanted, got);
    assert_eq!(convicted(&sim, seat(2)), FaultKind::WrongKind { got, wanted });
}

/// A part opens for nobody: its holder complains, and everybody sees who is at fault.
#[test]
fn a_part_that_does_not_open_is_named() {
    let sim = play(|content, _| match &content.body {
        Body::Escrow { parts, shuffled } => {
            let mut parts = parts.to_vec();
            parts[1].masked = parts[0].masked;
            escrow(content, parts, shuffled)
        }
        _ => None,
    });
    assert_eq!(named(&sim), FaultKind::BadPart { holder: seat(2) });
}

/// A complaint about an honest seat counts against its author: without proof, and with a proof that the part opens.
#[test]
fn false_complaints_fall_back() {
    // A genuine complaint, from another deal where seat 0 cheats. Elsewhere it proves nothing.
    let sim = play_among(3, 0, ANY_SEED + 1, |content, _| match &content.body {
        Body::Escrow { parts, shuffled } => {
            let mut parts = parts.to_vec();
            parts[0].masked = parts[1].masked;
            escrow(content, parts, shuffled)
        }
        _ => None,
    });
    assert_eq!(convicted(&sim, seat(0)), FaultKind::BadPart { holder: seat(1) });
    let complaint = complaint_in(&sim);
    let sim = play(|content, _| match &content.body {
        Body::Accept { complaints, shuffled } if complaints.is_empty() => {
            let complaints = vec![(seat(0), complaint.clone())];
            accept(content, complaints, shuffled)
        }
        _ => None,
    });
    assert_eq!(named(&sim), FaultKind::FalseComplaint { owner: seat(0) });
    // About the cheat itself, or about a seat that does not exist.
    for owner in [CHEAT, 5] {
        let sim = play(|content, _| match &content.body {
            Body::Accept { shuffled, .. } => {
                let complaints = vec![(seat(owner), complaint.clone())];
                accept(content, complaints, shuffled)
            }
            _ => None,
        });
        let owner = seat(owner);
        assert_eq!(named(&sim), FaultKind::FalseComplaint { owner });
    }
}

/// A complaint with a valid proof also counts against its author if the part opens: the cheat received a different part
/// than the others.
#[test]
fn a_complaint_of_a_part_that_opens_falls_back() {
    let charter = charter(&rules(3, LIMIT));
    let cheat = seat(CHEAT);
    let mut parents: BTreeMap<u64, Hash32> = BTreeMap::new();
    let mut sim = Sim::new(&rules(3, LIMIT), ANY_SEED, Plan::cheating(cheat));
    sim.run_with(240_000, |from, to, message| {
        if from == cheat && matches!(message, Message::Evidence(_) | Message::ForkReports(_)) {
            return None;
        }
        let rewritten = entries::rewrite(&charter, message, |entry| {
            let mut content = entry.content().clone();
            if entry.seat() != cheat {
                (from != cheat).then_some(())?;
                parents.insert(entry.step(), content.parent);
            }
            match &mut content.body {
                Body::Escrow { parts, .. } if to == cheat && entry.seat() == seat(0) => {
                    let mut list = parts.to_vec();
                    list[0].masked = list[1].masked;
                    *parts = list.try_into().unwrap();
                }
                Body::Accept { .. } if from == cheat => {
                    content.parent = *parents.get(&entry.step())?;
                }
                _ => return Some(entry),
            }
            Some(entries::sign(content))
        });
        Some(rewritten)
    });
    assert_eq!(named(&sim), FaultKind::FalseComplaint { owner: seat(0) });
}

/// The complaint that stopped a table.
fn complaint_in(sim: &Sim) -> Complaint {
    let transcript = sim.room[2].table.transcript();
    let complaint = transcript.entries().iter().rev().find_map(|signed| match verified(signed).body() {
        Body::Accept { complaints, .. } => complaints.first().map(|(_, found)| found.clone()),
        _ => None,
    });
    complaint.unwrap()
}

/// A game of four in which seat 3 disappears; `change` rewrites the cheat's part shares.
pub(super) fn play_and_lose_one(seed: u64, change: impl Fn(&mut PartShares)) -> Sim {
    let charter = charter(&rules(4, LIMIT));
    let plan = Plan { absence: Some(10_000), doomed: Some((seat(3), 150)), ..Plan::cheating(seat(CHEAT)) };
    let mut sim = Sim::new(&rules(4, LIMIT), seed, plan);
    sim.run_with(600_000, |from, _, message| {
        let rewritten = entries::rewrite(&charter, message, |entry| {
            let mut content = entry.content().clone();
            Some(match &mut content.body {
                Body::Rebuild { parts } if from == seat(CHEAT) && entry.seat() == from => {
                    change(parts);
                    entries::sign(content)
                }
                _ => entry,
            })
        });
        Some(rewritten).filter(|message| !matches!(message, Message::Evidence(_)))
    });
    sim
}

/// Reverses the order of the shares.
pub(super) fn reversed(parts: &mut PartShares) {
    let mut points = parts.shares.to_vec();
    points.reverse();
    parts.shares = points.try_into().unwrap();
}

/// Part shares for an absent seat that are too few, in the wrong order, or not made with the part.
#[test]
fn bad_parts_of_shares_are_named() {
    let shorter = |parts: &mut PartShares| {
        let mut points = parts.shares.to_vec();
        points.pop();
        parts.shares = points.try_into().unwrap();
    };
    let changes: [&dyn Fn(&mut PartShares); 2] = [&shorter, &reversed];
    for change in changes {
        // In some games nothing is sealed when the seat disappears.
        let found = (0..10).find_map(|seed| {
            let sim = play_and_lose_one(seed, change);
            let fault = sim.fault(0).cloned();
            fault.map(|fault| (sim, fault))
        });
        let (sim, fault) = found.expect("in ten games there is an occasion");
        let what = FaultKind::PartShares;
        assert_eq!((fault.seat, &fault.what), (seat(CHEAT), &what));
        // Two seats are then gone: the deal restarts, and the two that stay play it to the end.
        let whole = sim.room[0].table.transcript();
        assert!(whole == sim.room[2].table.transcript());
        let report = audit::<Drill>(&whole);
        assert_eq!((report.finding, report.end), (None, End::Finished));
        let why: Vec<_> = report.left.iter().map(|gone| (gone.seat, &gone.why)).collect();
        let guilty = Reason::Fault(fault.clone());
        assert_eq!(why.len(), 2);
        assert!(why.contains(&(seat(3), &Reason::Absent)), "{why:?}");
        assert!(why.contains(&(seat(CHEAT), &guilty)), "{why:?}");
    }
}

/// Whatever a departed seat signs stops nobody: neither entries for steps it has no part in, nor second entries for
/// confirmed steps.
#[test]
fn the_last_word_of_a_leaver_stops_nobody() {
    let rules = rules(3, 1000);
    let mut sim = Sim::new(&rules, ANY_SEED, Plan::default());
    sim.room[CHEAT].leave().unwrap();
    sim.run(20_000);
    let place = &mut sim.room[0];
    let replica = place.table.replica();
    let open = replica.step();
    assert!(!replica.participants().contains(seat(CHEAT)) && !place.table.is_finished());
    for step in [0, 1, open - 1, open, open + 1, u64::MAX] {
        let [one, other] =
            [1, 2].map(|parent| entries::sign(Content { table: charter(&rules).table(), step, ..close(parent) }));
        let evidence = Equivocation::of(&one, &other).unwrap();
        for message in [entries::message(&[one]), entries::message(&[other]), Message::Evidence(Box::new(evidence))] {
            place.accept(seat(CHEAT), message).unwrap();
            assert_eq!(place.table.stopped(), None, "step {step}");
        }
    }
    assert_eq!(place.table.replica().step(), open);
}
