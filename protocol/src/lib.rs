//! A card table without a dealer: seats that do not trust each other shuffle sealed decks, deal, draw and open cards, and
//! can prove afterwards that nobody cheated.
//!
//! The crate has no sockets, clocks, threads, files or randomness of its own. Its caller hands in bytes, ticks and an RNG,
//! and sends what comes out. The same inputs give the same bytes on every machine.
//!
//! # Tour
//! | module | contents |
//! | --- | --- |
//! | [`game`], [`card`], [`seat`] | the interface that the rules of a game implement |
//! | [`charter`], [`party`], [`timing`] | the terms that all seats sign before the first deal |
//! | [`crypto`] | ElGamal over Ristretto255: keys, masked (sealed) cards, verifiable shuffles, reveal tokens (shares), coins |
//! | [`log`] | signed entries in lockstep: each step's hash is the parent of the next step's entries |
//! | [`membership`] | the removal of absent seats, by a quorum of the others |
//! | [`table`] | one seat at a table: [`table::live::Table`] takes messages and returns messages and events |
//! | [`transcript`], [`audit`] | the file of a whole game, and the audit of every signature, proof and rule in it |
//! | [`wire`], [`hash`], [`domain`] | the only codec, labelled hashing, and the label of every hash, proof and signature |
//!
//! A table plays a whole game with these; `examples/own_game.rs` does so for a game of twenty lines. Below is the core of
//! it by hand.
//!
//! # One card, sealed and opened
//! Two seats shuffle a deck. Neither knows the top card until both have given their share of it.
//!
//! ```
//! use fairdeal_protocol::card::{DeckId, Face, Handle};
//! use fairdeal_protocol::crypto::elgamal::{CardPoints, open};
//! use fairdeal_protocol::crypto::group::Point;
//! use fairdeal_protocol::crypto::key::{KeyProof, SecretKey};
//! use fairdeal_protocol::crypto::seed::{Context, Seed};
//! use fairdeal_protocol::crypto::share::{ShareOf, SharePlace, ShareProof, share};
//! use fairdeal_protocol::crypto::shuffle::{ShufflePlace, Statement, shuffle, verify};
//! use fairdeal_protocol::{hash::Hash32, seat::Seat};
//! # use rand_core::SeedableRng as _;
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let mut rng = rand_chacha::ChaCha20Rng::from_seed([7; 32]);
//! // Each seat draws a seed for the deal and derives its key from it. A proof of knowledge stops a seat from choosing
//! // its key so that it cancels another's.
//! let deck = DeckId(0);
//! let mut seats = Vec::new();
//! let mut joint = *Point::identity().as_point();
//! for seat in Seat::first(2) {
//!     let context = Context { table: Hash32([1; 32]), deal: 0, seat };
//!     let seed = Seed::draw(&mut rng);
//!     let secret = SecretKey::derive(&seed, &context);
//!     KeyProof::prove(&seed, &context, &secret).verify(&context, &secret.public())?;
//!     joint += secret.public().as_point();
//!     seats.push((context, seed, secret));
//! }
//! let joint = Point::from(joint);
//!
//! // One seat after the other permutes and re-encrypts the deck, and proves that it is still the same cards.
//! let points = CardPoints::new("tarot", (0..78).map(|n| (Face(n), format!("card {n}"))));
//! let mut cards = points.fresh();
//! for (context, seed, _) in &seats {
//!     let place = ShufflePlace { context: *context, deck };
//!     let (output, proof) = shuffle(seed, &place, "tarot", &joint, &cards)?;
//!     verify(Statement { place, key: joint, input: cards, output: output.clone() }, &proof)?;
//!     cards = output;
//! }
//!
//! // To open the top card, each seat gives its share with a proof that it used its registered key.
//! let (card, handle) = (cards[0], Handle { deck, position: 0 });
//! let mut shares = Vec::new();
//! for (context, seed, secret) in &seats {
//!     let place = SharePlace { context: *context, step: 1 };
//!     let given = [ShareOf { handle, card, share: share(secret, &card) }];
//!     let proof = ShareProof::prove(seed, &place, secret, &secret.public(), &given);
//!     proof.verify(&place, &secret.public(), &given)?;
//!     shares.push(given[0].share);
//! }
//! assert!(points.face(&open(&card, &shares)).is_some(), "some card of the deck");
//! assert_eq!(points.face(&open(&card, &shares[..1])), None, "one share opens nothing");
//! # Ok(())
//! # }
//! ```
//!
//! # Trust
//! A card stays hidden while one seat of its deal keeps its key secret. Fairness of a shuffle needs one honest shuffler.
//! Colluding seats see each other's cards, as at any table. `docs/protocol.md` has the rules, `docs/security.md` the
//! assumptions, `docs/notation.md` the symbols.

#![warn(missing_docs)]

// Points are capitals and scalars lower case in the papers; in code both are lower case, and the
// equations stand in the documentation.
pub mod audit;
pub mod card;
pub mod charter;
pub mod crypto;
pub mod domain;
pub mod game;
pub mod hash;
pub mod log;
pub mod membership;
pub mod party;
pub mod seat;
pub mod table;
pub mod timing;
pub mod transcript;
pub mod wire;
