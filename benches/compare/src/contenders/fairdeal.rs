//! fairdeal-protocol: Terelius–Wikström in two stages, over Ristretto255.

use std::sync::Arc;

use fairdeal_protocol::card::{DeckId, Face};
use fairdeal_protocol::crypto::elgamal::CardPoints;
use fairdeal_protocol::crypto::key::SecretKey;
use fairdeal_protocol::crypto::seed::{Context, Seed};
use fairdeal_protocol::crypto::shuffle::{Attempt, Deck, ShufflePlace, StagedProof, Statement, shuffle, verify};
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::wire::codec::{decode, encode};

use super::Contender;

const DECK: &str = "bench";
const LIMIT: usize = 1 << 20;

pub fn contender(cards: u8) -> Contender {
    let mut rng = rand::rng();
    let context = Context { table: Hash32(rand::random()), deal: 0, seat: Seat::FIRST };
    let attempt = Attempt { live: SeatSet::one(Seat::FIRST), forks: 0 };
    let place = ShufflePlace { context, deck: DeckId(0), attempt };
    let key = SecretKey::derive(&Seed::draw(&mut rng), &context).public();
    let points = CardPoints::new(DECK, (0..cards).map(|n| (Face(n), n.to_string())));
    let (input, _) = shuffle(&Seed::draw(&mut rng), &place, &key, &points.fresh()).unwrap();
    let checked = Arc::clone(&input);
    Contender {
        name: "fairdeal-protocol",
        cards: usize::from(cards),
        make: Box::new(move || {
            let (output, proof) = shuffle(&Seed::draw(&mut rng), &place, &key, &input).unwrap();
            (encode(&Deck::first(output.iter().copied())), encode(&proof))
        }),
        check: Box::new(move |(deck, proof)| {
            let output: Deck = decode(deck, LIMIT).unwrap();
            let proof: StagedProof = decode(proof, LIMIT).unwrap();
            let statement = Statement { place, key, input: Arc::clone(&checked), output: Arc::new(output.to_vec()) };
            verify(statement, &proof.into()).unwrap();
        }),
    }
}
