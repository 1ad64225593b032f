//! The cryptography of a table: keys, sealed cards, shares, shuffles, coins and the password at its door,
//! over Ristretto255.
//!
//! Nothing in here knows of steps, entries or seats that come and go; that is the log's work. Every
//! random value of a deal is derived from a seat's seed of that deal ([`seed`]), so that whoever is
//! shown the seed afterwards can compute every byte again. Only [`pake`] draws from the caller's RNG
//! itself: it comes before any deal, and nobody may compute it again.

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

/// Secrets, and the states that absorb or expand them, are wiped when they are dropped: a feature of
/// their crates, which this line does not compile without.
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
