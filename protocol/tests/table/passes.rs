//! The two passes of an audit: whatever is wrong with a transcript, and whoever carries out its pieces in which order, the
//! report is that of an audit that reads it in order.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::ops::ControlFlow;

use fairdeal_protocol::audit::auditor::{Audit, Finding, Report};
use fairdeal_protocol::audit::pieces::{Alone, Done, Hands, Piece};
use fairdeal_protocol::crypto::group::Point;
use fairdeal_protocol::domain;
use fairdeal_protocol::hash::{Hash32, Hasher};
use fairdeal_protocol::log::body::{Answers, Body};
use fairdeal_protocol::log::entry::{Content, Entry, MAX_ENTRY, SignedEntry, genesis, step_hash};
use fairdeal_protocol::log::equivocation::Equivocation;
use fairdeal_protocol::seat::SeatSet;
use fairdeal_protocol::table::fault::FaultKind;
use fairdeal_protocol::transcript::{End, Transcript};
use fairdeal_protocol::wire::codec::{decode, encode};

use fairdeal_testkit::drill::{CARDS, Drill, rules};
use fairdeal_testkit::entries::{self, verified};

use super::forgeries::file;
use super::sim::{LONG, Plan, Sim};

/// Carries out the piece that came last, and says nothing before it is asked to wait.
#[derive(Debug, Default)]
struct Backwards(Vec<Piece>);

impl Hands for Backwards {
    fn give(&mut self, piece: Piece) {
        self.0.push(piece);
    }

    fn take(&mut self, wait: bool) -> Option<Done> {
        let last = if wait { self.0.pop() } else { None };
        last.map(Piece::carry_out)
    }
}

/// Carries out each piece as soon as it has it.
#[derive(Debug, Default)]
struct AtOnce(Vec<Done>);

impl Hands for AtOnce {
    fn give(&mut self, piece: Piece) {
        self.0.push(piece.carry_out());
    }

    fn take(&mut self, _: bool) -> Option<Done> {
        self.0.pop()
    }
}

/// Loses every third piece.
#[derive(Debug, Default)]
struct Careless(Alone, usize);

impl Hands for Careless {
    fn give(&mut self, piece: Piece) {
        self.1 += 1;
        if !self.1.is_multiple_of(3) {
            self.0.give(piece);
        }
    }

    fn take(&mut self, wait: bool) -> Option<Done> {
        self.0.take(wait)
    }
}

/// Cannot carry out anything.
#[derive(Debug, Default)]
struct Idle(usize);

impl Hands for Idle {
    fn give(&mut self, _: Piece) {
        self.0 += 1;
    }

    fn take(&mut self, wait: bool) -> Option<Done> {
        let left = if wait { self.0.checked_sub(1) } else { None };
        left.map(|left| {
            self.0 = left;
            Done::failed()
        })
    }
}

/// The report of an audit, and how often it started over.
fn run(audit: Audit<Drill>) -> (Report, usize) {
    let mut times = 0;
    let Ok(report) = audit.run(&mut |audit| {
        times += usize::from(audit.started_over());
        assert!(!audit.started_over() || audit.so_far().done == 0);
        ControlFlow::<Infallible>::Continue(())
    });
    (report, times)
}

/// The report on a transcript, after comparing what all audits make of it.
fn report(transcript: &Transcript) -> Report {
    let (in_order, times) = run(Audit::in_order(transcript.clone()).unwrap());
    assert_eq!(times, 0);
    let hands: [Box<dyn Hands>; 3] =
        [Box::new(Alone::default()), Box::new(Backwards::default()), Box::new(AtOnce::default())];
    for hands in hands {
        let what = format!("{hands:?}");
        let (report, times) = run(Audit::with(transcript.clone(), hands).unwrap());
        assert_eq!(report, in_order, "{what}");
        assert_eq!(times, usize::from(!in_order.is_fair()), "{what}");
    }
    in_order
}

fn played(seats: u8, seed: u64) -> Transcript {
    let mut sim = Sim::new(&rules(seats, 20), seed, Plan::interjecting());
    sim.run(LONG);
    sim.room[0].table.transcript()
}

/// The hashes that later entries may name, after an entry was changed: old ones with those in their place.
#[derive(Default)]
struct Renamed(BTreeMap<[u8; 32], [u8; 32]>);

impl Renamed {
    fn note(&mut self, old: Hash32, new: Hash32) {
        self.0.insert(old.0, new.0);
    }

    /// A step's hash, and the names of fresh decks that follow from it.
    fn step(&mut self, old: Hash32, new: Hash32) {
        self.note(old, new);
        for deck in 0..4 {
            for cards in 1..=u64::from(CARDS) {
                let name =
                    |parent: &Hash32| Hasher::new(domain::FRESH_DECK).hash(parent).number(deck).number(cards).finish();
                self.note(name(&old), name(&new));
            }
        }
    }

    fn apply(&self, content: &Content) -> Content {
        let mut bytes = encode(content);
        for place in 0..bytes.len().saturating_sub(31) {
            let found = self.0.get(&bytes[place..place + 32]).copied();
            if let Some(new) = found {
                bytes[place..place + 32].copy_from_slice(&new);
            }
        }
        decode(&bytes, MAX_ENTRY).unwrap()
    }
}

/// The transcript with one entry changed, and all that follow signed again, so that they name it.
fn forged(like: &Transcript, index: usize, change: impl FnOnce(&mut Content)) -> Transcript {
    let (seats, table) = (like.charter().charter().players.len(), like.charter().table());
    let mut change = Some(change);
    let mut renamed = Renamed::default();
    let (mut old_parent, mut new_parent) = (genesis(&table), genesis(&table));
    let mut all: Vec<SignedEntry> = Vec::new();
    for (number, step) in like.entries().chunks(seats).enumerate() {
        let old: Vec<Entry> = step.iter().map(|signed| verified(like.charter(), signed)).collect();
        let mut new: BTreeMap<usize, Entry> = BTreeMap::new();
        // An entry may name any other of its step, so they are signed again until nothing changes.
        for _ in 0..seats {
            for (place, entry) in old.iter().enumerate() {
                let mut content = renamed.apply(entry.content());
                if number * seats + place == index {
                    let change = change.take();
                    match (change, new.get(&place)) {
                        (Some(change), _) => change(&mut content),
                        (None, Some(changed)) => {
                            content = Content { parent: content.parent, ..changed.content().clone() };
                        }
                        (None, None) => {}
                    }
                }
                let signed = entries::sign(content);
                renamed.note(entry.hash(), signed.hash());
                new.insert(place, signed);
            }
        }
        let hash =
            |parent, entries: &[Entry]| step_hash(&table, number as u64, &parent, entries.iter(), SeatSet::EMPTY);
        let new: Vec<Entry> = new.into_values().collect();
        let (old_hash, new_hash) = (hash(old_parent, &old), hash(new_parent, &new));
        renamed.step(old_hash, new_hash);
        (old_parent, new_parent) = (old_hash, new_hash);
        all.extend(new.iter().map(|entry| entry.signed().clone()));
    }
    file(like, &all, (End::Finished, new_parent, None::<Equivocation>, [0_u8; 4]))
}

fn answers(body: &mut Body) -> Option<&mut Answers> {
    match body {
        Body::Act { answers, .. } | Body::Ack { answers, .. } | Body::Effects { answers } => Some(answers),
        _ => None,
    }
}

fn kind(finding: &Finding) -> String {
    match finding {
        Finding::Fault(fault) => match &fault.what {
            FaultKind::ShareProof => "shares".to_owned(),
            FaultKind::Shuffle(_) => "shuffle".to_owned(),
            FaultKind::Opening(_) => "opening".to_owned(),
            what => format!("{what:?}").chars().take_while(|sign| sign.is_alphabetic()).collect(),
        },
        other => format!("{other:?}").chars().take_while(|sign| sign.is_alphabetic()).collect(),
    }
}

/// Every third entry with shares, every shuffle and every opened seed is forged, one at a time. The log goes on from it,
/// so that the first pass meets what follows from a wrong share before it has checked its proof.
#[test]
fn a_forged_entry_gives_the_report_of_an_audit_in_order() {
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for (seats, seed) in [(2, 1), (3, 2)] {
        let whole = played(seats, seed);
        assert!(report(&whole).is_fair());
        let same = forged(&whole, 0, |_| {});
        assert_eq!(same, whole, "signing again changes nothing by itself");
        let mut with_shares = 0;
        for (index, signed) in whole.entries().iter().enumerate() {
            let entry = verified(whole.charter(), signed);
            let mut body = entry.body().clone();
            let mut wrong = Vec::new();
            if let Some(sent) = answers(&mut body).and_then(|answers| answers.shares.as_mut()) {
                let mut shares = sent.shares.to_vec();
                shares[0] = Point::from(shares[0].as_point() + shares[0].as_point());
                sent.shares = shares.try_into().unwrap();
                with_shares += 1;
                if with_shares % 3 == 1 {
                    wrong.push(body);
                }
            }
            match entry.body().clone() {
                Body::Open { mut seed } => {
                    seed.0[0] ^= 1;
                    wrong.push(Body::Open { seed });
                }
                Body::Shuffle(mut shuffled) => {
                    let mut deck = shuffled.deck.to_vec();
                    deck.swap(0, 1);
                    shuffled.deck = deck.try_into().unwrap();
                    wrong.push(Body::Shuffle(shuffled));
                }
                _ => {}
            }
            for body in wrong {
                let forged = forged(&whole, index, |content| content.body = body);
                let finding = report(&forged).finding.expect("a forgery is found");
                assert_eq!(finding.seat(), Some(entry.seat()), "{finding}");
                assert_eq!(finding.step(), Some(entry.step()), "{finding}");
                *found.entry(kind(&finding)).or_default() += 1;
            }
        }
    }
    for (kind, least) in [("shares", 8), ("opening", 4), ("shuffle", 4)] {
        assert!(found.get(kind).is_some_and(|count| *count >= least), "{kind}: {found:?}");
    }
}

/// Bits of a file flipped one at a time, of whatever it has.
#[test]
fn a_damaged_file_gives_the_report_of_an_audit_in_order() {
    let bytes = played(3, 5).to_bytes().unwrap();
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for place in (0..bytes.len()).step_by(bytes.len() / 100) {
        let mut damaged = bytes.clone();
        damaged[place] ^= 1 << (place % 8);
        let Ok(transcript) = Transcript::from_bytes(&damaged) else { continue };
        let finding = report(&transcript).finding.expect("damage is found");
        *found.entry(kind(&finding)).or_default() += 1;
    }
    assert!(found.get("Entry").is_some_and(|count| *count > 50), "{found:?}");
}

/// A piece that nobody has carried out holds nothing up, and lets nothing pass.
#[test]
fn lost_pieces_are_made_up_for_in_order() {
    let fair = played(3, 7);
    let is_opening = |signed| matches!(verified(fair.charter(), signed).body(), Body::Open { .. });
    let index = fair.entries().iter().position(is_opening).unwrap();
    let unfair = forged(&fair, index, |content| {
        let Body::Open { seed } = &mut content.body else { unreachable!() };
        seed.0[7] ^= 1;
    });
    for transcript in [fair, unfair] {
        let (in_order, _) = run(Audit::in_order(transcript.clone()).unwrap());
        let hands: [Box<dyn Hands>; 2] = [Box::new(Careless::default()), Box::new(Idle::default())];
        for hands in hands {
            assert_eq!(run(Audit::with(transcript.clone(), hands).unwrap()), (in_order.clone(), 1));
        }
    }
}
