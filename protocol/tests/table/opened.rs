//! Progress of an audit: the faces that opened seeds reveal, and the progress reports.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use fairdeal_protocol::audit::auditor::{Audit, audit};
use fairdeal_protocol::audit::pieces::Alone;
use fairdeal_protocol::audit::progress::{AuditProgress, audit_with};
use fairdeal_protocol::card::{DeckId, Face, Faces, Handle};
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::table::replica::News;
use fairdeal_protocol::transcript::Transcript;

use fairdeal_testkit::drill::{CARDS, Drill, rules};

use super::sim::{LONG, Plan, Sim};

/// Plays a game to its end; returns it with its transcript as read from the file.
fn played(seats: u8, seed: u64, leaves: u32) -> (Sim, Transcript) {
    let plan = Plan { leaves, ..Plan::interjecting() };
    let mut sim = Sim::new(&rules(seats, 20), seed, plan);
    sim.run(LONG);
    let stayed = sim.room.tables().find(|table| table.is_finished());
    let bytes = stayed.unwrap().transcript().to_bytes().unwrap();
    (sim, Transcript::from_bytes(&bytes).unwrap())
}

/// A deal as the audit sees it.
#[derive(Default)]
struct SeenDeal {
    dealt: BTreeMap<Handle, Seat>,
    /// Number of cards in each deck.
    decks: Vec<usize>,
    gone: BTreeSet<Seat>,
    faces: Faces,
}

/// All opened deals.
fn deals(transcript: &Transcript) -> Vec<SeenDeal> {
    let mut audit = Audit::<Drill>::new(transcript.clone()).unwrap();
    let (mut deals, mut deal) = (Vec::new(), SeenDeal::default());
    while audit.step().unwrap() {
        for news in audit.take_news() {
            match news {
                News::Deal(_) => deal = SeenDeal::default(),
                News::Dealt { card, to } => {
                    deal.dealt.insert(card, to);
                }
                News::Sealed { cards, .. } => deal.decks.push(cards),
                News::Left(seat) => {
                    deal.gone.insert(seat);
                }
                News::Opened(_) => {
                    deal.faces = audit.opened_faces();
                    deals.push(std::mem::take(&mut deal));
                }
                _ => {}
            }
        }
        let opening = deals.len();
        if opening == 0 {
            assert_eq!(audit.opened_faces(), Faces::new(), "nothing is open yet");
        }
    }
    deals
}

fn count(faces: &Faces) -> usize {
    faces.iter().count()
}

//= P1.14
#[test]
fn opened_seeds_give_every_card_of_a_deal() {
    for seats in 1..=4 {
        let (sim, transcript) = played(seats, 70 + u64::from(seats), 0);
        let deals = deals(&transcript);
        for deal in &deals {
            assert_eq!(count(&deal.faces), deal.decks.iter().sum::<usize>());
            // The first deck contains each card once.
            let first: BTreeSet<Face> =
                deal.faces.iter().filter(|(handle, _)| handle.deck.0 == 0).map(|(_, face)| face).collect();
            assert_eq!(first, (0..CARDS).map(Face).collect());
        }
        // These are the faces that their owners have seen.
        let last = deals.last().unwrap();
        let mut compared = 0;
        for table in sim.room.tables() {
            // Every seat knows what each deck was sealed from, also where it holds none of its cards.
            for deck in (0..).map(DeckId).take(last.decks.len()) {
                let mut faces: Vec<Face> =
                    last.faces.iter().filter(|(handle, _)| handle.deck == deck).map(|(_, face)| face).collect();
                faces.sort_unstable();
                assert_eq!(table.known().shuffled(deck), faces);
            }
            for (handle, face) in table.known().iter() {
                assert_eq!(last.dealt.get(&handle), Some(&table.me()));
                assert_eq!(last.faces.get(handle), Some(face));
                compared += 1;
            }
        }
        assert_eq!(compared, last.dealt.len());
    }
}

/// A seat that leaves opens no seed: its hand stays sealed, and everything else opens.
#[test]
fn hand_of_a_departed_seat_stays_sealed() {
    let mut kept = 0;
    for seed in 0..3 {
        let (_, transcript) = played(4, 300 + seed, 15);
        for deal in deals(&transcript) {
            for (card, to) in &deal.dealt {
                if !deal.gone.contains(to) {
                    assert!(deal.faces.get(*card).is_some());
                }
            }
            let missing = deal.decks.iter().sum::<usize>() - count(&deal.faces);
            let theirs = deal.dealt.values().filter(|to| deal.gone.contains(to));
            assert!(missing <= theirs.count());
            kept += missing;
        }
    }
    assert!(kept > 0, "nobody left with a card in the hand");
}

#[test]
fn an_audit_says_how_far_it_is_and_stops_when_it_is_told_to() {
    let (_, transcript) = played(3, 80, 0);
    let whole = audit::<Drill>(&transcript);
    let mut told: Vec<AuditProgress> = Vec::new();
    let report = audit_with::<Drill>(transcript.clone(), Box::new(Alone::default()), &mut |so_far| {
        told.push(so_far);
        ControlFlow::Continue(())
    });
    assert_eq!(report.as_ref(), Some(&whole));
    let last = told.last().unwrap();
    assert_eq!((last.done, last.tally), (last.total, whole.tally));
    assert_eq!(last.total, transcript.entries().len());
    assert!(told.is_sorted_by_key(|so_far| so_far.done));
    let counted = |so_far: &AuditProgress| so_far.tally.checks().map(|(_, count)| count);
    for (one, next) in told.iter().zip(&told[1..]) {
        assert!(counted(one).into_iter().zip(counted(next)).all(|(before, after)| before <= after));
    }

    let mut calls = 0;
    let broken_off = audit_with::<Drill>(transcript, Box::new(Alone::default()), &mut |_| {
        calls += 1;
        if calls == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!((broken_off, calls), (None, 3));
}
