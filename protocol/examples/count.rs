//! Makes shuffles of 78 cards, for a tool that counts instructions: `count whole|staged|ahead [HOW_MANY]`.
//!
//! `whole` makes and proves the shuffle when its deck is there. `ahead` makes what is made before that, `staged` makes the
//! same and then the shuffle: the difference is what the others wait for.

use fairdeal_protocol::card::{DeckId, Face};
use fairdeal_protocol::crypto::elgamal::CardPoints;
use fairdeal_protocol::crypto::key::SecretKey;
use fairdeal_protocol::crypto::seed::{Context, Seed};
use fairdeal_protocol::crypto::shuffle::{Attempt, Preparation, ShufflePlace, shuffle_whole};
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::seat::{Seat, SeatSet};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let form = words.next().filter(|form| ["whole", "staged", "ahead"].contains(&form.as_str()));
    let form = form.ok_or("usage: count whole|staged|ahead [HOW_MANY]")?;
    let how_many: u16 = words.next().map_or(Ok(1), |word| word.parse())?;
    let seed = Seed::draw(&mut ChaCha20Rng::from_seed([1; 32]));
    let context = Context { table: Hash32([2; 32]), deal: 0, seat: Seat::FIRST };
    let key = SecretKey::derive(&seed, &context).public();
    let deck = CardPoints::new("cards", (0..78).map(|number| (Face(number), format!("card {number}")))).fresh();
    for number in 0..how_many {
        let attempt = Attempt { live: SeatSet::all(5), forks: 0 };
        let place = ShufflePlace { context, deck: DeckId(number), attempt };
        if form == "whole" {
            std::hint::black_box(shuffle_whole(&seed, &place, "cards", &key, &deck)?);
            continue;
        }
        let mut preparation = Preparation::new(&seed, &place, deck.len())?;
        preparation.learn_key(&key);
        if form == "staged" {
            std::hint::black_box(preparation.shuffle(&seed, &key, &deck)?);
        }
    }
    Ok(())
}
