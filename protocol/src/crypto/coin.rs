//! Coins: public randomness that no seat can choose.
//!
//! Each seat builds a SHA-256 chain of [`CHAIN`] links, \\(\ell_i = \\mathrm{SHA256}(\text{label} ‖ \text{table} ‖
//! \text{deal} ‖ \text{seat} ‖ \text{chain} ‖ i ‖ \ell_{i-1})\\), with \\(\ell_0\\) derived from its seed, and
//! publishes the tip \\(\ell_{1024}\\) before the deal. Each flip opens one more preimage from every seat. The value is
//! the hash of all of them, expanded by ChaCha20. A seat cannot change its preimage, and nobody can predict the value
//! until all preimages are open.

use std::fmt;

use chacha20::ChaCha20Rng;
use rand_core::{Rng as _, SeedableRng as _};
use zeroize::{ZeroizeOnDrop, Zeroizing};

use super::seed::{Context, Seed};
use crate::domain;
use crate::hash::{Hash32, Hasher};
use crate::seat::Seat;

/// Number of flips that one chain serves.
pub const CHAIN: u32 = 1024;

fn link(context: &Context, chain: u32, index: u32, previous: &Hash32) -> Hash32 {
    context
        .absorb(Hasher::new(domain::COIN_LINK))
        .number(u64::from(chain))
        .number(u64::from(index))
        .hash(previous)
        .finish()
}

/// A seat's own chain: every link, secret until flipped.
#[derive(ZeroizeOnDrop)]
pub struct CoinChain {
    links: Vec<[u8; 32]>,
    #[zeroize(skip)]
    tip: Hash32,
}

impl CoinChain {
    /// Derives chain number `chain` of a deal.
    pub fn derive(seed: &Seed, context: &Context, chain: u32) -> Self {
        let mut stream = seed.stream(context, domain::purpose::COIN, &chain.to_le_bytes());
        let mut root = Zeroizing::new([0_u8; 32]);
        stream.fill_bytes(root.as_mut());
        let mut links = Vec::with_capacity(1 + CHAIN as usize);
        let mut last = Hash32(*root);
        links.push(last.0);
        for index in 1..=CHAIN {
            last = link(context, chain, index, &last);
            links.push(last.0);
        }
        Self { links, tip: last }
    }

    /// The tip, which is published before the deal.
    pub fn tip(&self) -> Hash32 {
        self.tip
    }

    /// The preimage that flip `used` (from 0) of this chain opens; `None` if it is used up.
    pub fn preimage(&self, used: u32) -> Option<Hash32> {
        let index = CHAIN.checked_sub(used)?.checked_sub(1)?;
        self.links.get(index as usize).copied().map(Hash32)
    }
}

impl fmt::Debug for CoinChain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CoinChain(secret)")
    }
}

/// Public state of a seat's chain: its tip, or the last preimage opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoinTip {
    chain: u32,
    used: u32,
    last: Hash32,
}

impl CoinTip {
    /// A chain that has just been published.
    pub fn new(chain: u32, tip: Hash32) -> Self {
        Self { chain, used: 0, last: tip }
    }

    /// The number of the chain within the deal.
    pub fn chain(&self) -> u32 {
        self.chain
    }

    /// Number of flips the chain has served.
    pub fn used(&self) -> u32 {
        self.used
    }

    /// Whether the chain is used up, so the next one must be published first.
    pub fn is_used_up(&self) -> bool {
        self.used >= CHAIN
    }

    /// Whether `preimage` is the next preimage of the chain.
    //= T6.4, P1.8
    pub fn accepts(&self, context: &Context, preimage: &Hash32) -> bool {
        !self.is_used_up() && link(context, self.chain, CHAIN - self.used, preimage) == self.last
    }

    /// Records an accepted preimage as the latest link.
    pub fn advance(&mut self, preimage: Hash32) {
        self.used += 1;
        self.last = preimage;
    }
}

/// The random stream of flip number `flip` of a deal, counted over all chains. `preimages` lists the participating
/// seats and their preimages in seat order.
pub fn flip_stream(table: &Hash32, deal: u32, flip: u32, preimages: &[(Seat, Hash32)]) -> ChaCha20Rng {
    let mut hasher = Hasher::new(domain::COIN_VALUE)
        .hash(table)
        .number(u64::from(deal))
        .number(u64::from(flip))
        .number(preimages.len() as u64);
    for (seat, preimage) in preimages {
        hasher = hasher.number(u64::from(seat.number())).hash(preimage);
    }
    ChaCha20Rng::from_seed(hasher.finish().0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_opens_backwards_and_only_so() {
        let seed = Seed::draw(&mut ChaCha20Rng::from_seed([3; 32]));
        let context = Context { table: Hash32([1; 32]), deal: 0, seat: Seat::new(0).unwrap() };
        let chain = CoinChain::derive(&seed, &context, 0);
        let mut tip = CoinTip::new(0, chain.tip());
        assert!(!tip.accepts(&context, &chain.preimage(1).unwrap()));
        for used in 0..CHAIN {
            let preimage = chain.preimage(used).unwrap();
            assert!(tip.accepts(&context, &preimage), "flip {used}");
            tip.advance(preimage);
        }
        assert!(tip.is_used_up());
        assert_eq!(chain.preimage(CHAIN), None);
        assert!(!tip.accepts(&context, &Hash32::default()));
    }

    #[test]
    fn a_flip_depends_on_every_part() {
        let seats: Vec<Seat> = Seat::first(2).collect();
        let one = [(seats[0], Hash32([1; 32])), (seats[1], Hash32([2; 32]))];
        let two = [(seats[0], Hash32([1; 32])), (seats[1], Hash32([3; 32]))];
        let table = Hash32([0; 32]);
        let value = |flip, parts| flip_stream(&table, 0, flip, parts).next_u64();
        assert_ne!(value(0, &one), value(0, &two));
        assert_ne!(value(0, &one), value(1, &one));
        assert_ne!(value(0, &one), value(0, &one[..1]));
    }
}
