//! More cheats, each refused and attributed; the files that one could make up are in `forgeries.rs`.
//!
//! The cheat is an honest table whose outgoing entries are rewritten and signed again with its own
//! key: the strongest thing that a seat can do without breaking a signature.

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
use fairdeal_protocol::table::live::{ActError, Output, ReceiveError, Stop, Table, To};
use fairdeal_protocol::table::message::{Head, Message};
use fairdeal_protocol::table::replica::StepKind;
use fairdeal_protocol::transcript::End;
use fairdeal_protocol::wire::codec::{decode, encode};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;

use super::drill::{Action, Drill, rules};
use super::sim::{Faults, Sim, charter, convicted, honest};

pub(super) const CHEAT: usize = 1;
pub(super) const LIMIT: u32 = 16;

pub(super) fn seat(number: usize) -> Seat {
    Seat::new(number).unwrap()
}

pub(super) fn resign(content: Content) -> Entry {
    // A seat's key is the same at every table here.
    let (_, keys) = charter(&rules(3, LIMIT));
    let key = &keys[content.seat.index()];
    Entry::sign(content, key).unwrap()
}

pub(super) fn verified(entry: &SignedEntry) -> Entry {
    let (signed, _) = charter(&rules(3, LIMIT));
    entry.verify(signed.charter(), &signed.table()).unwrap()
}

/// Plays with entries of the cheat rewritten by `change`, the same for every receiver.
pub(super) fn play(
    seed: u64,
    change: impl FnMut(&Content, &[Entry]) -> Option<Content>,
) -> Sim<Drill> {
    play_as(CHEAT, seed, change)
}

/// The same with another seat as the cheat.
pub(super) fn play_as(
    cheat: usize,
    seed: u64,
    change: impl FnMut(&Content, &[Entry]) -> Option<Content>,
) -> Sim<Drill> {
    play_among(3, cheat, seed, change)
}

/// The same with one honest seat.
fn play_between_two(
    seed: u64,
    change: impl FnMut(&Content, &[Entry]) -> Option<Content>,
) -> Sim<Drill> {
    play_among(2, CHEAT, seed, change)
}

fn play_among(
    seats: u8,
    cheat: usize,
    seed: u64,
    mut change: impl FnMut(&Content, &[Entry]) -> Option<Content>,
) -> Sim<Drill> {
    let (signed_charter, _) = charter(&rules(seats, LIMIT));
    let mut sim: Sim<Drill> = Sim::new(&rules(seats, LIMIT), seed, Faults::default());
    let mut sent: BTreeMap<u64, SignedEntry> = BTreeMap::new();
    let mut heard: Vec<Entry> = Vec::new();
    let mut cheated = false;
    sim.cheat = Seat::new(cheat);
    sim.run(240_000, false, &mut |from, _, message| {
        let entries = match message {
            Message::Entries(entries) => entries,
            Message::Evidence(_) if from == seat(cheat) => return None,
            other => return Some(other),
        };
        let passed: Vec<SignedEntry> = entries
            .iter()
            .map(|signed| {
                let entry = signed.verify(signed_charter.charter(), &signed_charter.table());
                let entry = entry.unwrap();
                if entry.seat() != seat(cheat) {
                    heard.push(entry);
                    return signed.clone();
                }
                let first = || {
                    let changed = change(entry.content(), &heard);
                    cheated |= changed.is_some();
                    changed.map_or_else(|| signed.clone(), |c| resign(c).signed().clone())
                };
                sent.entry(entry.step()).or_insert_with(first).clone()
            })
            .collect();
        Some(Message::Entries(passed.try_into().unwrap()))
    });
    assert!(cheated, "there was no occasion to cheat");
    sim
}

pub(super) fn named(sim: &Sim<Drill>) -> FaultKind {
    named_as(CHEAT, sim)
}

pub(super) fn named_as(cheat: usize, sim: &Sim<Drill>) -> FaultKind {
    convicted(sim, seat(cheat))
}

pub(super) fn with(content: &Content, body: Body) -> Option<Content> {
    let content = content.clone();
    Some(Content { body, ..content })
}

/// The same with an escrow of these parts.
fn escrow(content: &Content, parts: Vec<Part>, shuffled: &Option<Shuffled>) -> Option<Content> {
    let parts = parts.try_into().unwrap();
    let shuffled = shuffled.clone();
    with(content, Body::Escrow { parts, shuffled })
}

/// The same with an acceptance that complains so.
fn accept(
    content: &Content,
    complaints: Vec<(Seat, Complaint)>,
    shuffled: &Option<Shuffled>,
) -> Option<Content> {
    let complaints = complaints.try_into().unwrap();
    let shuffled = shuffled.clone();
    with(
        content,
        Body::Accept {
            complaints,
            shuffled,
        },
    )
}

fn answers(body: &mut Body) -> Option<&mut Answers> {
    match body {
        Body::Act { answers, .. } | Body::Ack { answers, .. } | Body::Effects { answers } => {
            Some(answers)
        }
        _ => None,
    }
}

/// The first answers that `change` takes are changed.
fn with_answers(
    content: &Content,
    change: impl FnOnce(&mut Answers) -> Option<()>,
) -> Option<Content> {
    let mut body = content.body.clone();
    change(answers(&mut body)?)?;
    with(content, body)
}

#[test]
fn keys_that_are_not_ones_own() {
    // Seat 0's key with seat 0's proof; an earlier seed lets the cheat speak after it.
    let copied = (0..20).find_map(|seed| {
        let mut done = false;
        let sim = std::panic::catch_unwind(move || {
            play(seed, |content, heard| {
                matches!(content.body, Body::Key { .. } if !done).then_some(())?;
                let key = heard.iter().find(|entry| {
                    entry.seat() == seat(0) && matches!(entry.body(), Body::Key { .. })
                })?;
                done = true;
                with(content, key.body().clone())
            })
        });
        sim.ok()
    });
    let copied = copied.expect("in twenty games the cheat speaks after seat 0 once");
    assert_eq!(named(&copied), FaultKind::Key(KeyError::Equation));
    let identity = play(7, |content, _| match &content.body {
        Body::Key { proof, .. } => with(
            content,
            Body::Key {
                key: Point::identity(),
                proof: proof.clone(),
            },
        ),
        _ => None,
    });
    assert_eq!(named(&identity), FaultKind::Key(KeyError::Identity));
}

#[test]
fn shares_and_proofs_that_served_before() {
    for (seed, acks) in [(2, false), (1, true)] {
        let mut before: Option<Shares> = None;
        let sim = play(seed, |content, _| {
            if acks && !matches!(content.body, Body::Ack { .. }) {
                return None;
            }
            with_answers(content, |answers| {
                let shares = answers.shares.as_mut()?;
                let Some(old) = before
                    .as_ref()
                    .filter(|old| old.shares.len() == shares.shares.len())
                else {
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
    let reversed = play(3, |content, _| {
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
    let unasked = play(4, |content, _| {
        with_answers(content, |answers| {
            let none = answers.coin.is_none();
            answers.coin = Some(Hash32([9; 32]));
            none.then_some(())
        })
    });
    assert!(matches!(
        named(&unasked),
        FaultKind::WrongAnswers {
            coin: " and a coin",
            ..
        }
    ));
    let missing = play(4, |content, _| {
        with_answers(content, |answers| answers.coin.take().map(|_| ()))
    });
    assert!(matches!(
        named(&missing),
        FaultKind::WrongAnswers {
            coin: " and no coin",
            ..
        }
    ));
}

#[test]
fn entries_of_the_wrong_kind() {
    let ack_as = |body: fn(&Answers) -> Body| {
        let sim = play(5, |content, _| match &content.body {
            Body::Ack { answers, .. } => with(content, body(answers)),
            _ => None,
        });
        named(&sim)
    };
    assert!(matches!(
        ack_as(|_| Body::Close),
        FaultKind::WrongKind { wanted: "ack", .. }
    ));
    let acts = ack_as(|answers| Body::Act {
        action: encode(&Action::Draw).try_into().unwrap(),
        answers: answers.clone(),
    });
    assert!(matches!(acts, FaultKind::WrongKind { got: "action", .. }));
    let interjects = ack_as(|_| Body::Interject {
        action: encode(&Action::Draw).try_into().unwrap(),
    });
    assert_eq!(interjects, FaultKind::NotOutOfTurn);
    let malformed = ack_as(|_| Body::Interject {
        action: vec![200, 200].try_into().unwrap(),
    });
    assert_eq!(malformed, FaultKind::MalformedAction);
    // One byte after an action.
    let longer = play(6, |content, _| match &content.body {
        Body::Act { action, answers } => with(
            content,
            Body::Act {
                action: [action.to_vec(), vec![0]].concat().try_into().unwrap(),
                answers: answers.clone(),
            },
        ),
        _ => None,
    });
    assert_eq!(named(&longer), FaultKind::MalformedAction);
}

/// A wrong digest is missing at once where the others agree: they go on without its seat, with no timeout.
#[test]
fn a_lie_about_the_state() {
    let sim = play(13, |content, _| {
        matches!(content.body, Body::Ack { .. }).then(|| Content {
            digest: Hash32([1; 32]),
            release: None,
            ..content.clone()
        })
    });
    for table in [&sim.tables[0], &sim.tables[2]] {
        assert!(table.is_finished(), "{:?}", table.progress());
        let report = audit::<Drill>(&table.transcript());
        assert_eq!(report.finding, None);
        let [gone] = &report.left[..] else {
            panic!("{:?}", report.left);
        };
        assert_eq!((gone.seat, &gone.why), (seat(CHEAT), &Reason::Absent));
    }
}

/// Between two nobody can decide: the table stops, and the replay shows whose digest is wrong.
#[test]
fn of_two_the_wrong_state_is_named() {
    let sim = play_between_two(13, |content, _| {
        matches!(content.body, Body::Ack { .. }).then(|| Content {
            digest: Hash32([1; 32]),
            release: None,
            ..content.clone()
        })
    });
    let table = &sim.tables[0];
    {
        assert!(matches!(table.stopped(), Some(Stop::Desync(who, _)) if *who == seat(CHEAT)));
        let finding = audit::<Drill>(&table.transcript()).finding.unwrap();
        assert_eq!(finding.seat(), Some(seat(CHEAT)));
        assert!(matches!(finding, Finding::Fault(fault) if fault.what == FaultKind::Digest));
    }
}

#[test]
fn junk_is_refused_without_blame() {
    let mut sim: Sim<Drill> = Sim::new(&rules(3, LIMIT), 17, Faults::default());
    let mut rng = ChaCha20Rng::from_seed([0; 32]);
    let table = &mut sim.tables[0];
    for bytes in [&[][..], &[0], &[9, 9, 9], &[0, 251, 255, 255], &[255; 70]] {
        let refused = table.receive(seat(1), bytes, &mut rng);
        assert!(matches!(refused, Err(ReceiveError::Codec(_))), "{bytes:?}");
    }
    // A head from the end of time is no harm, and one entry against itself is no evidence.
    let head = Message::Head(Head {
        step: u64::MAX,
        ..Head::default()
    });
    assert_eq!(table.receive(seat(1), &head.to_bytes(), &mut rng), Ok(()));
    let one = resign(close(0));
    assert!(Equivocation::of(&one, &one).is_none());
    let twice = encode(&(2_u8, 0_u8, one.signed(), one.signed()));
    let refused = table.receive(seat(1), &twice, &mut rng);
    assert_eq!(refused, Err(ReceiveError::EmptyEvidence));
    assert_eq!(table.stopped(), None);
}

fn close(parent: u8) -> Content {
    Content {
        table: charter(&rules(3, LIMIT)).0.table(),
        step: 1000,
        seat: seat(CHEAT),
        parent: Hash32([parent; 32]),
        digest: Hash32::default(),
        release: None,
        body: Body::Close,
    }
}

/// Who is beaten cannot unmake a game, or spoil its transcript, by two-faced entries after its end.
#[test]
fn a_finished_game_stays_finished() {
    let mut sim: Sim<Drill> = Sim::new(&rules(3, LIMIT), 16, Faults::default());
    sim.run(4_000_000, false, &mut honest);
    let fair = sim.tables[0].transcript();
    assert!(audit::<Drill>(&fair).is_fair());
    let evidence = Equivocation::of(&resign(close(1)), &resign(close(2))).unwrap();
    let message = Message::Evidence(Box::new(evidence)).to_bytes();
    let mut rng = ChaCha20Rng::from_seed([0; 32]);
    let table = &mut sim.tables[0];
    table.receive(seat(CHEAT), &message, &mut rng).unwrap();
    assert_eq!(table.stopped(), None);
    assert!(table.transcript() == fair);
}

/// The bodies of all entries, by step and seat.
type Bodies = BTreeMap<(u64, Seat), Body>;

/// The entries that the honest seats sign while the cheat, who acks everything else, shows seat 0
/// an interjection in the first step that `occasion` takes; and that step.
fn forked(
    seed: u64,
    interjection: &Action,
    mut occasion: impl FnMut(&Content, &Bodies) -> bool,
) -> Option<(Bodies, u64)> {
    let mut sim: Sim<Drill> = Sim::new(&rules(3, LIMIT), seed, Faults::default());
    let mut forked = None;
    let mut bodies: Bodies = BTreeMap::new();
    sim.run(60_000, true, &mut |from, to, message| {
        let Message::Entries(entries) = &message else {
            return Some(message);
        };
        for signed in entries.iter() {
            let entry = verified(signed);
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
                let other = resign(with(entry.content(), Body::Interject { action }).unwrap());
                let other = vec![other.signed().clone()].try_into().unwrap();
                return Some(Message::Entries(other));
            }
        }
        Some(message)
    });
    let step = forked?;
    for honest in [0, 2] {
        let stop = sim.fault(honest);
        // It had interjected before: then this one alone convicts it, and no fork comes about.
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

/// Interjections are named by nobody in their own step. A seat that shows two faces in one makes
/// an honest seat believe that the deal is over while another plays on: no seed may be opened on
/// that.
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
        // Later ones are of the deal that is begun anew.
        let opened = bodies.iter().any(|((at, _), body)| {
            (step + 1..=step + 3).contains(at) && matches!(body, Body::Open { .. })
        });
        assert!(!opened, "seed {seed}: a seed is opened after step {step}");
    }
    assert!(forks > 0, "no fork would have ended the deal");
}

/// Nor is a card of a hand.
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

/// A flood of heads is not answered by a flood of entries.
#[test]
fn heads_are_answered_twice_a_tick() {
    let mut sim: Sim<Drill> = Sim::new(&rules(3, LIMIT), 16, Faults::default());
    sim.run(60_000, false, &mut honest);
    let mut rng = ChaCha20Rng::from_seed([0; 32]);
    let table = &mut sim.tables[0];
    let head = Message::Head(Head {
        step: 0,
        ..Head::default()
    });
    let mut answers = || {
        while table.poll().is_some() {}
        table.tick(0, &mut rng);
        for _ in 0..100 {
            table.accept(seat(CHEAT), head.clone(), &mut rng).unwrap();
        }
        std::iter::from_fn(|| table.poll())
            .filter(|output| matches!(output, Output::Send(To::One(_), Message::Entries(_))))
            .count()
    };
    assert_eq!((answers(), answers()), (2, 2));
}

/// A second out-of-turn action while the first is in the open step.
#[test]
fn a_second_wish_out_of_turn_is_refused_at_once() {
    let mut sim: Sim<Drill> = Sim::new(&rules(3, LIMIT), 16, Faults::default());
    // The leader's action gets lost, so that everybody waits for it.
    sim.run(8000, false, &mut |_, _, message| match &message {
        Message::Entries(entries) => {
            let acts = |e: &SignedEntry| matches!(verified(e).body(), Body::Act { .. });
            (!entries.iter().any(acts)).then_some(message)
        }
        _ => Some(message),
    });
    let mut rng = ChaCha20Rng::from_seed([0; 32]);
    let leads = |table: &Table<Drill>| {
        table.replica().kind() == Some(StepKind::Action { leader: table.me() })
    };
    let table = sim.tables.iter_mut().find(|table| !leads(table)).unwrap();
    assert_eq!(table.act(Action::Reveal, &mut rng), Ok(()));
    let again = table.act(Action::Vote { end: true }, &mut rng);
    assert_eq!(again, Err(ActError::OncePerTurn));
}

/// Parts of a key that do not add up to it, and parts for others than the seats there are.
#[test]
fn escrows_that_anybody_refuses() {
    let cheat = |change: fn(&mut Vec<Part>)| {
        let sim = play(8, |content, _| match &content.body {
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
    assert!(matches!(
        nothing,
        FaultKind::Escrow(EscrowError::Identity { .. })
    ));
}

/// The first two seats of a deal that begins with a deck shuffle it with their escrow and their acceptance: a shuffle out
/// of turn is named, none in turn, and one by who has shuffled already.
#[test]
fn shuffles_out_of_turn_are_named() {
    let sim = play(12, |content, _| match &content.body {
        Body::Accept {
            shuffled: Some(_), ..
        } => accept(content, Vec::new(), &None),
        _ => None,
    });
    assert_eq!(named(&sim), FaultKind::EarlyShuffle { owed: true });
    // The first seat shows its own shuffle again, where it has nothing to shuffle any more.
    let again = |change: fn(&Content, Shuffled) -> Option<Content>| {
        let mut own = None;
        let sim = play_as(0, 13, |content, _| match &content.body {
            Body::Escrow { shuffled, .. } => {
                own.clone_from(shuffled);
                None
            }
            _ => change(content, own.clone()?),
        });
        named_as(0, &sim)
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
    let sim = play(14, |content, _| {
        let mut body = content.body.clone();
        let Body::Accept { shuffled, .. } = &mut body else {
            return None;
        };
        shuffled.as_mut()?.onto = Hash32([8; 32]);
        with(content, body)
    });
    assert_eq!(named(&sim), FaultKind::OtherDeck);
    let sim = play_as(2, 13, |content, _| match &content.body {
        Body::Shuffle(_) => with(content, Body::Confirm),
        _ => None,
    });
    let (got, wanted) = (wanted, got);
    assert_eq!(named_as(2, &sim), FaultKind::WrongKind { got, wanted });
}

/// A part that opens for nobody: the one that holds it complains, and everybody sees whose fault it is.
#[test]
fn a_part_that_does_not_open_is_named() {
    let sim = play(9, |content, _| match &content.body {
        Body::Escrow { parts, shuffled } => {
            let mut parts = parts.to_vec();
            parts[1].masked = parts[0].masked;
            escrow(content, parts, shuffled)
        }
        _ => None,
    });
    assert_eq!(named(&sim), FaultKind::BadPart { holder: seat(2) });
}

/// Whoever complains of an honest seat is at fault: without proof, and with a proof that the part opens.
#[test]
fn false_complaints_fall_back() {
    // A real complaint, from a table where seat 0 cheats: elsewhere it proves nothing.
    let sim = play_as(0, 10, |content, _| match &content.body {
        Body::Escrow { parts, shuffled } => {
            let mut parts = parts.to_vec();
            parts[0].masked = parts[1].masked;
            escrow(content, parts, shuffled)
        }
        _ => None,
    });
    assert_eq!(named_as(0, &sim), FaultKind::BadPart { holder: seat(1) });
    let complaint = complaint_in(&sim);
    let sim = play(11, |content, _| match &content.body {
        Body::Accept {
            complaints,
            shuffled,
        } if complaints.is_empty() => {
            let complaints = vec![(seat(0), complaint.clone())];
            accept(content, complaints, shuffled)
        }
        _ => None,
    });
    assert_eq!(named(&sim), FaultKind::FalseComplaint { owner: seat(0) });
    // About itself, or a seat that there is not.
    for owner in [CHEAT, 5] {
        let sim = play(11, |content, _| match &content.body {
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

/// Nor does a complaint do whose own proof holds, if the part opens: the cheat complains of another part than the one
/// that all others hold.
#[test]
fn a_complaint_of_a_part_that_opens_falls_back() {
    let mut parents: BTreeMap<u64, Hash32> = BTreeMap::new();
    let mut sim: Sim<Drill> = Sim::new(&rules(3, LIMIT), 9, Faults::default());
    sim.cheat = Seat::new(CHEAT);
    sim.run(240_000, false, &mut |from, to, message| {
        let entries = match message {
            Message::Entries(entries) => entries,
            Message::Evidence(_) | Message::Halts(_) if from == seat(CHEAT) => return None,
            other => return Some(other),
        };
        let passed = entries.iter().filter_map(|signed| {
            let entry = verified(signed);
            let mut content = entry.content().clone();
            if entry.seat() != seat(CHEAT) {
                (from != seat(CHEAT)).then_some(())?;
                parents.insert(entry.step(), content.parent);
            }
            match &mut content.body {
                Body::Escrow { parts, .. } if to == seat(CHEAT) && entry.seat() == seat(0) => {
                    let mut list = parts.to_vec();
                    list[0].masked = list[1].masked;
                    *parts = list.try_into().unwrap();
                }
                Body::Accept { .. } if from == seat(CHEAT) => {
                    content.parent = *parents.get(&entry.step())?;
                }
                _ => return Some(signed.clone()),
            }
            Some(resign(content).signed().clone())
        });
        let passed: Vec<SignedEntry> = passed.collect();
        Some(Message::Entries(passed.try_into().unwrap()))
    });
    assert_eq!(named(&sim), FaultKind::FalseComplaint { owner: seat(0) });
}

/// The complaint that a table was stopped by.
fn complaint_in(sim: &Sim<Drill>) -> Complaint {
    let transcript = sim.tables[2].transcript();
    let complaint =
        transcript
            .entries()
            .iter()
            .rev()
            .find_map(|signed| match verified(signed).body() {
                Body::Accept { complaints, .. } => {
                    complaints.first().map(|(_, found)| found.clone())
                }
                _ => None,
            });
    complaint.unwrap()
}

/// A game of four in which seat 3 goes for good; entries of the cheat are rewritten by `change`.
pub(super) fn play_and_lose_one(seed: u64, change: impl Fn(&mut PartShares)) -> Sim<Drill> {
    let rules = rules(4, LIMIT);
    let (signed, keys) = charter(&rules);
    let mut sim: Sim<Drill> = Sim::new(&rules, seed, Faults::default());
    sim.patience = 10_000;
    sim.doomed = Some((seat(3), 150));
    sim.cheat = Seat::new(CHEAT);
    sim.run(600_000, false, &mut |from, _, message| {
        let Message::Entries(entries) = &message else {
            return Some(message).filter(|message| !matches!(message, Message::Evidence(_)));
        };
        let passed: Vec<SignedEntry> = entries
            .iter()
            .map(|entry| {
                let known = entry.verify(signed.charter(), &signed.table()).unwrap();
                let mut content = known.content().clone();
                match &mut content.body {
                    Body::Rebuild { parts } if from == seat(CHEAT) && known.seat() == from => {
                        change(parts);
                        Entry::sign(content, &keys[CHEAT]).unwrap().signed().clone()
                    }
                    _ => entry.clone(),
                }
            })
            .collect();
        Some(Message::Entries(passed.try_into().unwrap()))
    });
    sim
}

/// Parts of a gone seat's shares that are too few, in another order, or not what the part gives.
#[test]
fn bad_parts_of_shares_are_named() {
    let shorter = |parts: &mut PartShares| {
        let mut points = parts.shares.to_vec();
        points.pop();
        parts.shares = points.try_into().unwrap();
    };
    let reversed = |parts: &mut PartShares| {
        let mut points = parts.shares.to_vec();
        points.reverse();
        parts.shares = points.try_into().unwrap();
    };
    let changes: [&dyn Fn(&mut PartShares); 2] = [&shorter, &reversed];
    for change in changes {
        // In some games nothing is sealed when the seat goes.
        let found = (0..10).find_map(|seed| {
            let sim = play_and_lose_one(seed, change);
            let fault = sim.fault(0).cloned();
            fault.map(|fault| (sim, fault))
        });
        let (sim, fault) = found.expect("in ten games there is an occasion");
        let what = FaultKind::PartShares;
        assert_eq!((fault.seat, &fault.what), (seat(CHEAT), &what));
        // Two are gone then: the deal is begun anew, and the two who stay play it to its end.
        let whole = sim.tables[0].transcript();
        assert!(whole == sim.tables[2].transcript());
        let report = audit::<Drill>(&whole);
        assert_eq!((report.finding, report.end), (None, End::Finished));
        let why: Vec<_> = report
            .left
            .iter()
            .map(|gone| (gone.seat, &gone.why))
            .collect();
        let guilty = Reason::Fault(fault.clone());
        assert_eq!(why.len(), 2);
        assert!(why.contains(&(seat(3), &Reason::Absent)), "{why:?}");
        assert!(why.contains(&(seat(CHEAT), &guilty)), "{why:?}");
    }
}

/// Who has left can sign what it likes: it stops nobody, neither by entries for places that it has no part
/// in nor by other entries for places that all have confirmed.
#[test]
fn the_last_word_of_a_leaver_stops_nobody() {
    let rules = rules(3, 1000);
    let (signed, keys) = charter(&rules);
    let mut rng = ChaCha20Rng::from_seed([0; 32]);
    let mut sim: Sim<Drill> = Sim::new(&rules, 4, Faults::default());
    sim.tables[CHEAT].leave(&mut rng).unwrap();
    sim.run(20_000, false, &mut honest);
    let table = &mut sim.tables[0];
    assert!(!table.replica().participants().contains(seat(CHEAT)) && !table.is_finished());
    let open = table.replica().step();
    let two = |step| {
        [1, 2].map(|parent| {
            let content = Content {
                table: signed.table(),
                step,
                ..close(parent)
            };
            Entry::sign(content, &keys[CHEAT]).unwrap()
        })
    };
    for step in [0, 1, open - 1, open, open + 1, u64::MAX] {
        let [one, other] = two(step);
        let evidence = Equivocation::of(&one, &other).unwrap();
        for message in [
            Message::Entries(vec![one.signed().clone()].try_into().unwrap()),
            Message::Entries(vec![other.signed().clone()].try_into().unwrap()),
            Message::Evidence(Box::new(evidence)),
        ] {
            table
                .receive(seat(CHEAT), &message.to_bytes(), &mut rng)
                .unwrap();
            assert_eq!(table.stopped(), None, "step {step}");
        }
    }
    assert_eq!(table.replica().step(), open);
}
