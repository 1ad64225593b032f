//! The table's cryptography over Ristretto255: keys, sealed cards, shares, shuffles, coins and the table password.
//!
//! This module knows nothing about steps, entries, or seats that join and leave; the log handles those. Every random
//! value of a deal derives from a seat's seed for that deal ([`seed`]), so anyone who sees the opened seed can
//! recompute every byte. Only [`pake`] draws from the caller's RNG itself: it runs before any deal, and nobody may
//! recompute it.

pub mod coin;
mod cpace;
pub mod elgamal;
mod equality;
pub mod escrow;
#[cfg(test)]
mod foreign;
pub mod group;
pub mod key;
pub mod pake;
pub mod reproduce;
pub mod seed;
pub mod share;
pub mod shuffle;
pub mod signature;
mod terms;

/// Compile-time check: secrets, and the states that absorb or expand them, are zeroized on drop. External crates
/// provide this only with their `zeroize` feature.
const _: () = {
    const fn wiped<T: zeroize::ZeroizeOnDrop>() {}
    wiped::<chacha20::ChaCha20Rng>();
    wiped::<sha2::Sha256>();
    wiped::<sha2::Sha512>();
    wiped::<seed::Seed>();
    wiped::<key::SecretKey>();
    wiped::<pake::Password>();
    wiped::<pake::Guest>();
    wiped::<pake::Host>();
};
