//! The cryptography of a table: keys, sealed cards, shares, shuffles and coins over Ristretto255.
//!
//! Nothing in here knows of steps, entries or seats that come and go; that is the log's work. Every
//! random value is derived from a seat's seed of the deal ([`seed`]), so that whoever is shown the
//! seed afterwards can compute every byte again.

pub mod coin;
pub mod elgamal;
mod equality;
pub mod escrow;
pub mod group;
pub mod key;
pub mod reproduce;
pub mod seed;
pub mod share;
pub mod shuffle;
