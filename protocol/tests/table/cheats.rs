//! Messages of a dishonest seat: every honest seat refuses them and names the right seat, and so does a stranger who
//! audits the transcript.

use fairdeal_protocol::card::{DeckId, Face};
use fairdeal_protocol::crypto::elgamal::Ciphertext;
use fairdeal_protocol::crypto::group::Point;
use fairdeal_protocol::crypto::key::{KeyError, SecretKey};
use fairdeal_protocol::crypto::seed::{Context, OpenedSeed, Seed};
use fairdeal_protocol::crypto::shuffle::{Attempt, ShufflePlace, shuffle_whole};
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::log::body::{Answers, Body, Part};
use fairdeal_protocol::log::entry::Content;
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::fault::FaultKind;
use fairdeal_protocol::table::replica::StepKind;
use fairdeal_protocol::wire::codec::{decode, encode};

use fairdeal_testkit::drill::{Action, CARDS, rules};
use fairdeal_testkit::entries;
use fairdeal_testkit::seats::seat;

use super::sim::{ANY_SEED, Plan, Sim, charter, convicted};

/// The cheating seat.
const CHEAT: usize = 1;

/// Plays with a cheat that rewrites its own entries for some or all receivers. `change` gets the receiver and returns
/// whether it changed the content.
fn play_with(seed: u64, mut change: impl FnMut(Seat, &mut Content) -> bool) -> Sim {
    let plan = Plan { interjects: true, ..Plan::cheating(seat(CHEAT)) };
    let mut sim = Sim::new(&rules(3, 20), seed, plan);
    sim.run_rewriting(120_000, |from, to, entry| {
        let mut content = entry.content().clone();
        let own = entry.seat() == seat(CHEAT) && from == entry.seat();
        let changed = own && change(to, &mut content);
        Some(if changed { entries::sign(content) } else { entry })
    });
    sim
}

/// The same for all receivers.
fn play(seed: u64, mut change: impl FnMut(&mut Content) -> bool) -> Sim {
    play_with(seed, |_, content| change(content))
}

/// The fault that every honest seat finds, in the first game that offers an occasion for it.
fn named(what: &str, mut change: impl FnMut(&mut Content) -> bool) -> FaultKind {
    let mut cheated = false;
    // Some games offer no occasion.
    let sim = (3..20)
        .map(|seed| {
            play(seed, |content| {
                let changed = change(content);
                cheated |= changed;
                changed
            })
        })
        .find(|sim| sim.fault(0).is_some())
        .unwrap_or_else(|| panic!("{what}: nobody is blamed, with an occasion: {cheated}"));
    convicted(&sim, seat(CHEAT))
}

/// A cheat's change to its deck.
type ChangeDeck = Box<dyn FnMut(&mut Vec<Ciphertext>)>;

fn answers(body: &mut Body) -> Option<&mut Answers> {
    body.answers_mut()
}

fn part(body: &mut Body) -> Option<&mut Part> {
    body.answers_mut()?.part.as_deref_mut()
}

//= P1.6
#[test]
fn bad_shuffles_are_named_at_once() {
    let mut cases: Vec<(&str, ChangeDeck)> = Vec::new();
    cases.push(("duplicated card", Box::new(|deck: &mut Vec<_>| deck[0] = deck[1])));
    cases.push(("swapped cards", Box::new(|deck: &mut Vec<_>| deck.swap(0, 1))));
    cases.push((
        "foreign card",
        Box::new(|deck: &mut Vec<Ciphertext>| {
            deck[0].b = deck[1].a;
        }),
    ));
    cases.push(("a card less", Box::new(|deck: &mut Vec<_>| deck.truncate(deck.len() - 1))));
    for (what, mut change) in cases {
        let kind = named(what, |content| {
            let shuffled = content.body.shuffled_mut();
            let changed = shuffled.map(|shuffled| {
                let mut deck = shuffled.deck.to_vec();
                change(&mut deck);
                shuffled.deck = deck.try_into().unwrap();
            });
            changed.is_some()
        });
        assert!(matches!(kind, FaultKind::Shuffle(_)), "{what}: {kind}");
    }
}

/// A true shuffle with a true proof, but of the protocol that the table has left behind.
#[test]
fn a_whole_proof_at_a_table_of_staged_ones_is_named() {
    let mut input: Option<Vec<Ciphertext>> = None;
    let kind = named("a whole proof", |content| {
        let Some(shuffled) = content.body.shuffled_mut() else {
            return false;
        };
        let deck = input.get_or_insert_with(|| shuffled.deck.to_vec());
        let context = Context { table: content.table, deal: 0, seat: content.seat };
        let attempt = Attempt { live: SeatSet::all(3), forks: 0 };
        let place = ShufflePlace { context, deck: DeckId(0), attempt };
        let seed = Seed::from_opened(OpenedSeed([3; 32]));
        let key = SecretKey::derive(&seed, &context).public();
        let (_, proof) = shuffle_whole(&seed, &place, "drill", &key, deck).unwrap();
        shuffled.proof = proof.into();
        true
    });
    assert_eq!(kind, FaultKind::OtherProof { staged: false });
    assert_eq!(kind.to_string(), "proved its shuffle as a whole, which is not the protocol of this table");
}

/// Seat 1 sends seat 0's deck as its own, with the proof it made for its real shuffle.
#[test]
fn a_deck_that_was_not_shuffled_is_named() {
    let mut first = None;
    let mut sim = Sim::new(&rules(3, 20), ANY_SEED, Plan::cheating(seat(CHEAT)));
    sim.run_rewriting(120_000, |from, _, entry| {
        let mut content = entry.content().clone();
        let Some(shuffled) = content.body.shuffled_mut() else {
            return Some(entry);
        };
        if from == seat(0) {
            first.get_or_insert_with(|| shuffled.deck.clone());
        }
        match &first {
            Some(deck) if from == seat(CHEAT) && entry.seat() == from => {
                shuffled.deck = deck.clone();
                Some(entries::sign(content))
            }
            _ => Some(entry),
        }
    });
    let kind = convicted(&sim, seat(CHEAT));
    assert!(matches!(kind, FaultKind::Shuffle(_)), "{kind}");
}

#[test]
fn wrong_shares_and_coins_are_named() {
    let kind = named("shares in another order", |content| {
        let Some(shares) = answers(&mut content.body).and_then(|a| a.shares.as_mut()) else {
            return false;
        };
        let mut list = shares.shares.to_vec();
        list.reverse();
        shares.shares = list.try_into().unwrap();
        shares.shares.len() > 1
    });
    assert_eq!(kind, FaultKind::ShareProof);
    let kind = named("no shares", |content| {
        let Some(answers) = answers(&mut content.body) else {
            return false;
        };
        answers.shares.take().is_some()
    });
    assert!(matches!(kind, FaultKind::WrongAnswers { got: 0, .. }));
    let kind = named("another coin", |content| {
        let Some(coin) = answers(&mut content.body).and_then(|a| a.coin.as_mut()) else {
            return false;
        };
        coin.0[0] ^= 1;
        true
    });
    assert_eq!(kind, FaultKind::Coin);
}

/// Parts of the setup of the next deal are judged as entries of a deal are.
//= T5.52
#[test]
fn bad_parts_are_named() {
    let kind = named("another key", |content| match part(&mut content.body) {
        Some(Part::Key { key, .. }) => {
            *key = Point::from(key.as_point() + key.as_point());
            true
        }
        _ => false,
    });
    assert_eq!(kind, FaultKind::Key(KeyError::Equation));
    let kind = named("an escrow with a part less", |content| match part(&mut content.body) {
        Some(Part::Escrow { parts, .. }) => {
            *parts = parts[1..].to_vec().try_into().unwrap();
            true
        }
        _ => false,
    });
    assert!(matches!(kind, FaultKind::Escrow(_)), "{kind}");
    let kind = named("a swapped deck", |content| {
        let Some(Part::Accept { shuffled: Some(shuffled) } | Part::Shuffle(shuffled)) = part(&mut content.body) else {
            return false;
        };
        let mut deck = shuffled.deck.to_vec();
        deck.swap(0, 1);
        shuffled.deck = deck.try_into().unwrap();
        true
    });
    assert!(matches!(kind, FaultKind::Shuffle(_)), "{kind}");
    let kind = named("a shuffle of another deck", |content| {
        let Some(Part::Accept { shuffled: Some(shuffled) } | Part::Shuffle(shuffled)) = part(&mut content.body) else {
            return false;
        };
        shuffled.onto = Hash32([8; 32]);
        true
    });
    assert_eq!(kind, FaultKind::OtherDeck);
    let kind = named("no shuffle in turn", |content| match part(&mut content.body) {
        Some(Part::Accept { shuffled }) => shuffled.take().is_some(),
        _ => false,
    });
    assert_eq!(kind, FaultKind::EarlyShuffle { owed: true });
    let kind = named("a part of another stage", |content| match part(&mut content.body) {
        Some(part @ Part::Key { .. }) => {
            *part = Part::Accept { shuffled: None };
            true
        }
        _ => false,
    });
    assert_eq!(kind, FaultKind::OtherPart { got: "acceptance", wanted: Some("key") });
    assert_eq!(kind.to_string(), "sent an acceptance for the next deal where a key was due");
    let mut accepted = false;
    let kind = named("a part that nobody waits for", |content| match &mut content.body {
        Body::Act { answers, .. } | Body::Ack { answers, .. } if answers.part.is_some() => {
            accepted = matches!(answers.part.as_deref(), Some(Part::Accept { .. }));
            false
        }
        Body::Act { answers, .. } | Body::Ack { answers, .. } if accepted => {
            answers.part = Some(Box::new(Part::Commit { seed: Hash32([1; 32]), tip: Hash32([2; 32]) }));
            true
        }
        _ => false,
    });
    assert_eq!(kind, FaultKind::OtherPart { got: "commitment", wanted: None });
    assert_eq!(kind.to_string(), "sent a commitment for the next deal where none was due");
}

/// A seed that was committed to in the setup of its deal, and another at the end of it.
#[test]
fn a_false_seed_of_a_deal_set_up_is_named() {
    let kind = named("another seed", |content| match &mut content.body {
        Body::Turn { seed, .. } => {
            *seed = OpenedSeed([9; 32]);
            true
        }
        _ => false,
    });
    assert!(matches!(kind, FaultKind::Opening(_)), "{kind}");
    let kind = named("no answers", |content| match content.body {
        Body::Turn { seed, .. } => {
            content.body = Body::Open { seed };
            true
        }
        _ => false,
    });
    assert_eq!(kind, FaultKind::WrongKind { got: "opening", wanted: "opening with answers" });
}

//= P1.14
#[test]
fn bad_openings_are_named() {
    let kind = named("another seed", |content| match &mut content.body {
        Body::Open { seed } => {
            *seed = OpenedSeed([9; 32]);
            true
        }
        _ => false,
    });
    assert!(matches!(kind, FaultKind::Opening(_)));
}

#[test]
fn illegal_actions_are_named() {
    let act = |content: &mut Content, bytes: Vec<u8>| match &mut content.body {
        Body::Act { action, .. } => {
            *action = bytes.try_into().unwrap();
            true
        }
        _ => false,
    };
    let kind = named("no action", |content| act(content, vec![255]));
    assert_eq!(kind, FaultKind::MalformedAction);
    let kind = named("an illegal action", |content| act(content, encode(&Action::Vote { end: false })));
    assert!(matches!(kind, FaultKind::IllegalAction(_)), "{kind}");
    let kind = named("a turn's action out of turn", |content| match &mut content.body {
        Body::Ack { .. } => {
            let action = encode(&Action::Draw).try_into().unwrap();
            content.body = Body::Interject { action };
            true
        }
        _ => false,
    });
    assert_eq!(kind, FaultKind::NotOutOfTurn);
    let kind = named("a closing in the middle", |content| {
        let ack = matches!(content.body, Body::Ack { .. });
        if ack {
            content.body = Body::Close;
        }
        ack
    });
    assert!(matches!(kind, FaultKind::WrongKind { .. }));
}

/// A card shown with a false face: its share does not open it to the claimed face.
#[test]
fn a_false_face_is_named() {
    let kind = named("another face", |content| {
        let Body::Act { action, .. } = &mut content.body else {
            return false;
        };
        let Ok(Action::Play { card, face }) = decode(action, 1000) else {
            return false;
        };
        let face = Face((face.0 + 1) % CARDS);
        *action = encode(&Action::Play { card, face }).try_into().unwrap();
        true
    });
    assert_eq!(kind, FaultKind::WrongFace);
}

/// Two entries for one place: the honest seats exchange theirs and hold the proof.
//= P1.12
#[test]
fn two_faces_are_proved() {
    let sim = play_with(ANY_SEED, |to, content| match &mut content.body {
        Body::Commit { tip, .. } if to == seat(2) => {
            *tip = Hash32([4; 32]);
            true
        }
        _ => false,
    });
    let kind = convicted(&sim, seat(CHEAT));
    assert_eq!(kind, FaultKind::Equivocation);
}

/// An entry with another parent or from another table counts for nobody, and nobody is blamed.
#[test]
fn entries_from_elsewhere_do_not_count() {
    let mut sim = play(ANY_SEED, |content| {
        content.parent = Hash32([8; 32]);
        content.step > 3
    });
    for seat in [0, 2] {
        assert_eq!(sim.room[seat].table.stopped(), None);
        assert!(!sim.room[seat].table.is_finished());
    }
    let content = Content {
        table: Hash32([1; 32]),
        step: sim.room[0].table.replica().step(),
        seat: seat(CHEAT),
        parent: charter(&rules(3, 20)).table(),
        digest: Hash32::default(),
        release: None,
        body: Body::Close,
    };
    let foreign = entries::message(&[entries::sign(content)]);
    assert!(sim.room[0].accept(seat(CHEAT), foreign).is_err());
    assert_eq!(sim.room[0].table.stopped(), None);
}

/// A shuffle that names another entry than the one whose deck it shuffles counts for nobody.
#[test]
fn a_shuffle_that_names_another_deck_does_not_count() {
    let mut cheated = false;
    let mut lying = |content: &mut Content| match &mut content.body {
        Body::Shuffle(shuffled) => {
            shuffled.onto = Hash32([8; 32]);
            cheated = true;
            true
        }
        _ => false,
    };
    // Some games have no second shuffle.
    let mut games = (3..80).map(|seed| play(seed, &mut lying));
    let sim = games.find(|sim| !sim.room[0].table.is_finished()).expect("some game has a shuffle run");
    assert!(cheated);
    for honest in [0, 2] {
        let table = &sim.room[honest].table;
        assert_eq!((table.stopped(), sim.fault(honest)), (None, None));
        let progress = table.progress();
        assert!(matches!(progress.kind, Some(StepKind::Shuffle { .. })));
        assert!(!progress.done.contains(seat(CHEAT)));
    }
}

/// A fault in the last step removes nobody, because other seats have already finished with another entry of that seat.
#[test]
fn a_fault_in_the_last_step_parts_nobody() {
    let honest = play(ANY_SEED, |_| false);
    let whole = &honest.room[0].table;
    let last = whole.replica().step() - 1;
    let mut cheated = false;
    let sim = play_with(ANY_SEED, |to, content| {
        let closes = content.step == last && to == seat(2);
        if closes {
            content.body = Body::Confirm;
        }
        cheated |= closes;
        closes
    });
    assert!(cheated && whole.is_finished());
    for honest in [0, 2] {
        let table = &sim.room[honest].table;
        assert_eq!(table.stopped(), None);
        assert!(table.is_finished(), "{:?}", table.progress());
        assert!(table.transcript() == whole.transcript());
    }
    assert!(sim.fault(2).is_some(), "it is reported");
}
