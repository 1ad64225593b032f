//! What a dishonest seat can send: each is refused by every honest seat, the right seat is named,
//! and a stranger who audits the stopped transcript names it too.

use fairdeal_protocol::crypto::elgamal::Ciphertext;
use fairdeal_protocol::crypto::seed::OpenedSeed;
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::log::body::{Answers, Body};
use fairdeal_protocol::log::entry::{Content, Entry};
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::table::fault::FaultKind;
use fairdeal_protocol::table::live::Event;
use fairdeal_protocol::table::message::Message;
use fairdeal_protocol::table::replica::StepKind;
use fairdeal_protocol::wire::codec::encode;

use super::drill::{Action, Drill, rules};
use super::sim::{Faults, Sim, charter, convicted};

/// The seat that cheats.
const CHEAT: usize = 1;

/// Changes what the cheat signs: `change` says whether it changed the content. `from` limits it to
/// the entries that go to some seats.
struct Cheat<F> {
    change: F,
    only_to: Option<Seat>,
}

impl<F: FnMut(&mut Content) -> bool> Cheat<F> {
    fn filter(&mut self, from: Seat, to: Seat, message: Message) -> Message {
        if from.index() != CHEAT || self.only_to.is_some_and(|only| only != to) {
            return message;
        }
        let Message::Entries(entries) = &message else {
            return message;
        };
        let (signed, keys) = charter(&rules(3, 20));
        let table = signed.table();
        let changed: Vec<_> = entries
            .iter()
            .map(|entry| {
                let known = entry.verify(signed.charter(), &table).unwrap();
                let mut content = known.content().clone();
                if content.seat == from && (self.change)(&mut content) {
                    Entry::sign(content, &keys[CHEAT]).unwrap().signed().clone()
                } else {
                    entry.clone()
                }
            })
            .collect();
        Message::Entries(changed.try_into().unwrap())
    }
}

fn play(seed: u64, only_to: Option<Seat>, change: impl FnMut(&mut Content) -> bool) -> Sim<Drill> {
    let mut sim: Sim<Drill> = Sim::new(&rules(3, 20), seed, Faults::default());
    sim.cheat = Seat::new(CHEAT);
    let mut cheat = Cheat { change, only_to };
    sim.run(120_000, true, &mut |from, to, message| {
        Some(cheat.filter(from, to, message))
    });
    sim
}

/// The fault that every honest seat finds in a game in which there is occasion for it.
fn named(what: &str, mut change: impl FnMut(&mut Content) -> bool) -> FaultKind {
    let mut cheated = false;
    // In some games there is no occasion.
    let sim = (3..20)
        .map(|seed| {
            play(seed, None, |content| {
                let changed = change(content);
                cheated |= changed;
                changed
            })
        })
        .find(|sim| {
            sim.events[0]
                .iter()
                .any(|event| matches!(event, Event::Fault(..)))
        })
        .unwrap_or_else(|| panic!("{what}: nobody is blamed, with an occasion: {cheated}"));
    convicted(&sim, Seat::new(CHEAT).unwrap())
}

/// What a cheat does to its deck.
type ChangeDeck = Box<dyn FnMut(&mut Vec<Ciphertext>)>;

fn answers(body: &mut Body) -> Option<&mut Answers> {
    match body {
        Body::Act { answers, .. } | Body::Ack { answers, .. } | Body::Effects { answers } => {
            Some(answers)
        }
        _ => None,
    }
}

#[test]
fn bad_shuffles_are_named_at_once() {
    let mut cases: Vec<(&str, ChangeDeck)> = Vec::new();
    cases.push((
        "duplicated card",
        Box::new(|deck: &mut Vec<_>| deck[0] = deck[1]),
    ));
    cases.push((
        "swapped cards",
        Box::new(|deck: &mut Vec<_>| deck.swap(0, 1)),
    ));
    cases.push((
        "foreign card",
        Box::new(|deck: &mut Vec<Ciphertext>| {
            deck[0].b = deck[1].a;
        }),
    ));
    cases.push((
        "a card less",
        Box::new(|deck: &mut Vec<_>| deck.truncate(deck.len() - 1)),
    ));
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

/// Seat 0's deck goes out again as seat 1's own, with the proof that seat 1 made for its shuffle.
#[test]
fn a_deck_that_was_not_shuffled_is_named() {
    let (signed, _) = charter(&rules(3, 20));
    let table = signed.table();
    let mut first = None;
    let mut sim: Sim<Drill> = Sim::new(&rules(3, 20), 3, Faults::default());
    sim.cheat = Seat::new(CHEAT);
    sim.run(120_000, false, &mut |from, to, message| {
        if let (0, Message::Entries(entries)) = (from.index(), &message) {
            for entry in entries.iter() {
                let entry = entry.verify(signed.charter(), &table).unwrap();
                if let (Some(shuffled), None) = (entry.body().shuffled(), &first) {
                    first = Some(shuffled.deck.clone());
                }
            }
        }
        let deck = first.clone();
        let mut replace = Cheat {
            change: |content: &mut Content| match (content.body.shuffled_mut(), &deck) {
                (Some(shuffled), Some(deck)) => {
                    shuffled.deck = deck.clone();
                    true
                }
                _ => false,
            },
            only_to: None,
        };
        Some(replace.filter(from, to, message))
    });
    let kind = convicted(&sim, Seat::new(CHEAT).unwrap());
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
    let kind = named("an illegal action", |content| {
        act(content, encode(&Action::Vote { end: false }))
    });
    assert!(matches!(kind, FaultKind::IllegalAction(_)), "{kind}");
    let kind = named(
        "a turn's action out of turn",
        |content| match &mut content.body {
            Body::Ack { .. } => {
                let action = encode(&Action::Draw).try_into().unwrap();
                content.body = Body::Interject { action };
                true
            }
            _ => false,
        },
    );
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

/// A card shown as another one: the share does not open it to the face claimed.
#[test]
fn a_false_face_is_named() {
    let kind = named("another face", |content| {
        let Body::Act { action, .. } = &mut content.body else {
            return false;
        };
        let Ok(Action::Play { card, face }) =
            fairdeal_protocol::wire::codec::decode::<Action>(action, 1000)
        else {
            return false;
        };
        let face = fairdeal_protocol::card::Face((face.0 + 1) % 12);
        *action = encode(&Action::Play { card, face }).try_into().unwrap();
        true
    });
    assert_eq!(kind, FaultKind::WrongFace);
}

/// Two entries for one place: the honest seats find each other's and hold the proof.
#[test]
fn two_faces_are_proved() {
    let to = Seat::new(2).unwrap();
    let sim = play(5, Some(to), |content| match &mut content.body {
        Body::Commit { tip, .. } => {
            *tip = Hash32([4; 32]);
            true
        }
        _ => false,
    });
    let kind = convicted(&sim, Seat::new(CHEAT).unwrap());
    assert_eq!(kind, FaultKind::Equivocation);
}

/// An entry on another parent or from another table counts for nobody, and nobody is blamed.
#[test]
fn entries_from_elsewhere_do_not_count() {
    let mut sim = play(4, None, |content| {
        content.parent = Hash32([8; 32]);
        content.step > 3
    });
    for seat in [0, 2] {
        assert_eq!(sim.tables[seat].stopped(), None);
        assert!(!sim.tables[seat].is_finished());
    }
    let (signed, keys) = charter(&rules(3, 20));
    let content = Content {
        table: Hash32([1; 32]),
        step: sim.tables[0].replica().step(),
        seat: Seat::new(CHEAT).unwrap(),
        parent: signed.table(),
        digest: Hash32::default(),
        release: None,
        body: Body::Close,
    };
    let foreign = Entry::sign(content, &keys[CHEAT]).unwrap().signed().clone();
    let message = Message::Entries(vec![foreign].try_into().unwrap());
    let mut rng = <rand_chacha::ChaCha20Rng as rand_core::SeedableRng>::from_seed([0; 32]);
    let from = Seat::new(CHEAT).unwrap();
    assert!(
        sim.tables[0]
            .receive(from, &message.to_bytes(), &mut rng)
            .is_err()
    );
    assert_eq!(sim.tables[0].stopped(), None);
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
    // In some games nothing is shuffled again.
    let mut games = (3..20).map(|seed| play(seed, None, &mut lying));
    let sim = games.find(|sim| !sim.tables[0].is_finished());
    let sim = sim.expect("some game has a shuffle run");
    assert!(cheated);
    for seat in [0, 2] {
        let table = &sim.tables[seat];
        assert_eq!((table.stopped(), sim.fault(seat)), (None, None));
        let progress = table.progress();
        assert!(matches!(progress.kind, Some(StepKind::Shuffle { .. })));
        assert!(!progress.done.contains(Seat::new(CHEAT).unwrap()));
    }
}

/// A fault in the last step of a game removes nobody: with another entry of that seat others have ended it.
#[test]
fn a_fault_in_the_last_step_parts_nobody() {
    let honest = play(5, None, |_| false);
    let last = honest.tables[0].replica().step() - 1;
    let mut cheated = false;
    let sim = play(5, Seat::new(2), |content| {
        let closes = content.step == last;
        if closes {
            content.body = Body::Confirm;
        }
        cheated |= closes;
        closes
    });
    assert!(cheated && honest.tables[0].is_finished());
    for seat in [0, 2] {
        let table = &sim.tables[seat];
        assert_eq!(table.stopped(), None);
        assert!(table.is_finished(), "{:?}", table.progress());
        assert!(table.transcript() == honest.tables[0].transcript());
    }
    assert!(sim.fault(2).is_some(), "it is reported");
}
