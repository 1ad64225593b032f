#![doc = include_str!("../README.md")]
//!
//! # Modules
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
