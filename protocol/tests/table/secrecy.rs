//! In the middle of a deal, the log reveals no card of any hand.

use curve25519_dalek::RistrettoPoint;
use fairdeal_protocol::card::{Face, Handle, Slot};
use fairdeal_protocol::crypto::elgamal::CardPoints;
use fairdeal_protocol::crypto::group::Point;
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;

use fairdeal_testkit::drill::{CARDS, rules};
use fairdeal_testkit::seats::seat;

use super::sim::{ANY_SEED, Plan, Sim};

/// The log leaves every card of the deck possible: for each card there is a missing share that opens it. Only all other
/// seats together could make that share from their escrow parts; one seat that withholds its part protects the hand.
//= P1.1
#[test]
fn the_log_does_not_tell_a_hand() {
    let victim = seat(0);
    // A moment at which the victim holds cards that it knows.
    let mut moments = (1..100).map(|tenths| {
        let mut sim = Sim::new(&rules(3, 1000), ANY_SEED, Plan::default());
        sim.run(tenths * 20);
        sim
    });
    let sealed_of = |sim: &Sim| -> Vec<Handle> {
        let known = sim.room[0].table.known();
        let hand = sim.room[1].table.game().hand(victim).into_iter();
        hand.filter_map(Slot::handle).filter(|card| known.get(*card).is_some()).collect()
    };
    let sim = moments.find(|sim| !sealed_of(sim).is_empty()).expect("cards are dealt");
    let sealed = sealed_of(&sim);
    let known = sim.room[0].table.known();
    let replica = sim.room[1].table.replica();
    let points = CardPoints::new("drill", (0..CARDS).map(|n| (Face(n), format!("card-{n}"))));
    for card in sealed {
        // The owner knows the card …
        let truth = known.get(card).expect("its owner knows it");
        // … no other seat does, and no log contains the owner's share.
        for other in sim.room.tables().skip(1) {
            assert_eq!(other.known().get(card), None);
            assert_eq!(other.replica().share(card, victim), None);
        }
        // All other shares are there; the remainder fits each card equally well.
        let shares: RistrettoPoint = Seat::first(3)
            .filter(|seat| *seat != victim)
            .map(|seat| *replica.share(card, seat).expect("dealt").as_point())
            .sum();
        let rest = replica.card(card).unwrap().b.as_point() - shares;
        let mut candidates = Vec::new();
        for face in (0..CARDS).map(Face) {
            let missing = Point::from(rest - points.point(face).unwrap().as_point());
            assert_eq!(replica.face_with(card, victim, missing), Some(face));
            assert!(!candidates.contains(&missing));
            candidates.push(missing);
        }
        assert_eq!(candidates.len(), usize::from(CARDS));
        assert!(truth.0 < CARDS);
    }
}
