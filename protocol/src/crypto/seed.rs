//! Seeds: commit, use, open.
//!
//! For each deal a seat draws 32 bytes σ from the caller's RNG; for a table's first deal it derives them from its
//! identity ([`Seed::first`]). It commits to SHA-256(label ‖ table ‖ deal ‖ seat ‖ σ) before any seat derives anything.
//! Every random choice of the deal comes from ChaCha20 (64-bit counter and stream number from 0) under the key
//! SHA-256(label ‖ σ ‖ table ‖ deal ‖ seat ‖ purpose ‖ context), with one key per use. The context contains everything
//! the choice depends on. So no nonce ever serves two statements, and the same statement always gives the same bytes.

use std::fmt;

use chacha20::ChaCha20Rng;
use ed25519_dalek::SigningKey;
use rand_core::{CryptoRng, SeedableRng as _};
use serde::{Deserialize, Serialize};
use zeroize::{Zeroize as _, ZeroizeOnDrop};

use crate::domain;
use crate::hash::{Hash32, Hasher};
use crate::seat::Seat;

/// Table, deal and seat of a random value; absorbed by every hash and proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Context {
    /// The table id, which is the hash of the charter.
    pub table: Hash32,
    /// The deal number, from 0.
    pub deal: u32,
    /// The seat.
    pub seat: Seat,
}

impl Context {
    /// Absorbs table, deal and seat.
    pub fn absorb(&self, hasher: Hasher) -> Hasher {
        hasher.hash(&self.table).number(u64::from(self.deal)).number(u64::from(self.seat.number()))
    }

    /// A Merlin transcript for one of this seat's proofs in this deal.
    //= T6.1
    pub fn transcript(&self, label: &'static [u8]) -> merlin::Transcript {
        let mut transcript = merlin::Transcript::new(label);
        transcript.append_message(domain::proof::TABLE, self.table.as_bytes());
        transcript.append_u64(domain::proof::DEAL, u64::from(self.deal));
        transcript.append_u64(domain::proof::SEAT, u64::from(self.seat.number()));
        transcript
    }
}

/// A seat's secret seed for one deal; zeroized when dropped and never printed. It is serialized only into its owner's
/// journal.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ZeroizeOnDrop)]
pub struct Seed([u8; 32]);

impl Seed {
    /// Draws a seed. Pass the operating system's RNG; a simulation passes its own.
    pub fn draw(rng: &mut dyn CryptoRng) -> Self {
        let mut seed = [0; 32];
        rng.fill_bytes(&mut seed);
        Self(seed)
    }

    /// The seed of a table's first deal: SHA-256(label ‖ secret key ‖ table ‖ deal ‖ seat). Only whoever holds the key can
    /// tell it from a drawn one. A seat gives its first commitment away with its signature under the charter, before it has
    /// a journal; whatever it forgets in a crash, it can make no other for the same charter.
    pub fn first(key: &SigningKey, context: &Context) -> Self {
        let mut secret = key.to_bytes();
        let mut seed = context.absorb(Hasher::new(domain::FIRST_SEED).bytes(&secret)).finish();
        secret.zeroize();
        let first = Self(seed.0);
        seed.0.zeroize();
        first
    }

    /// The seed from an opening.
    pub fn from_opened(opened: OpenedSeed) -> Self {
        Self(opened.0)
    }

    /// Reveals the seed to everybody, once the deal is over.
    pub fn open(&self) -> OpenedSeed {
        OpenedSeed(self.0)
    }

    /// The commitment, published before anything is derived.
    //= T4.3
    pub fn commitment(&self, context: &Context) -> Hash32 {
        context.absorb(Hasher::new(domain::SEED_COMMITMENT)).bytes(&self.0).finish()
    }

    /// The ChaCha20 stream for one purpose and context.
    //= T4.6
    pub fn stream(&self, context: &Context, purpose: &str, about: &[u8]) -> ChaCha20Rng {
        let hasher = Hasher::new(domain::DERIVE).bytes(&self.0);
        let mut key = context.absorb(hasher).bytes(purpose.as_bytes()).bytes(about).finish().0;
        let stream = ChaCha20Rng::from_seed(key);
        key.zeroize();
        stream
    }

    /// The nonce stream of a proof; its context is everything the transcript has absorbed.
    //= T6.1
    pub fn nonces(&self, context: &Context, purpose: &str, transcript: &merlin::Transcript) -> ChaCha20Rng {
        let mut about = [0_u8; 32];
        transcript.clone().challenge_bytes(domain::proof::NONCE, &mut about);
        self.stream(context, purpose, &about)
    }
}

impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seed(secret)")
    }
}

/// A seed revealed after its deal; public.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenedSeed(pub [u8; 32]);

#[cfg(test)]
mod tests {
    use rand_core::Rng as _;

    use super::*;

    fn context() -> Context {
        Context { table: Hash32([7; 32]), deal: 1, seat: Seat::new(2).unwrap() }
    }

    #[test]
    fn every_use_has_its_own_stream() {
        let seed = Seed([9; 32]);
        let first = |context: &Context, purpose, about: &[u8]| seed.stream(context, purpose, about).next_u64();
        let base = first(&context(), "key", b"0");
        assert_eq!(base, first(&context(), "key", b"0"));
        assert_ne!(base, first(&context(), "key", b"1"));
        assert_ne!(base, first(&context(), "coin", b"0"));
        assert_ne!(base, first(&Context { deal: 2, ..context() }, "key", b"0"));
        let other_seat = Context { seat: Seat::new(3).unwrap(), ..context() };
        assert_ne!(base, first(&other_seat, "key", b"0"));
        let other_table = Context { table: Hash32([8; 32]), ..context() };
        assert_ne!(base, first(&other_table, "key", b"0"));
        assert_ne!(seed.commitment(&context()), seed.commitment(&other_table));
    }

    #[test]
    fn first_seed_is_that_of_its_key_and_place() {
        let key = |number| SigningKey::from_bytes(&[number; 32]);
        let first = Seed::first(&key(1), &context());
        assert_eq!(first, Seed::first(&key(1), &context()));
        assert_ne!(first, Seed::first(&key(2), &context()));
        assert_ne!(first, Seed::first(&key(1), &Context { table: Hash32([8; 32]), ..context() }));
        assert_ne!(first, Seed::first(&key(1), &Context { seat: Seat::FIRST, ..context() }));
    }

    #[test]
    fn a_seed_is_not_printed() {
        assert_eq!(format!("{:?}", Seed([9; 32])), "Seed(secret)");
    }
}
