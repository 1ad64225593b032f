//! Secret permutations whose memory accesses do not depend on the permutation.
//!
//! Indexing an array with a secret would leak through the cache. Each look-up here reads every item and selects one by
//! masking. For a hundred cards that costs a few tenths of a millisecond.

use rand_core::Rng;
use subtle::{ConditionallySelectable, ConstantTimeEq as _};
use zeroize::ZeroizeOnDrop;

use crate::game::uniform;

/// A secret permutation \\(\pi\\) of at most 256 items.
#[derive(Clone, ZeroizeOnDrop)]
pub(super) struct Permutation(Vec<u8>);

/// The numbers below `size` (at most 256) as bytes.
fn numbers(size: usize) -> impl Iterator<Item = u8> {
    (0..=u8::MAX).take(size)
}

impl Permutation {
    /// A uniform permutation: Fisher–Yates from the last position down.
    pub(super) fn random(size: usize, stream: &mut impl Rng) -> Self {
        let mut items: Vec<u8> = numbers(size).collect();
        for last in (1..items.len()).rev() {
            let bound = u32::try_from(last + 1).unwrap_or(u32::MAX);
            let other = u8::try_from(uniform(stream, bound)).unwrap_or(0);
            let Some((top, rest)) = items.get_mut(..=last).and_then(<[u8]>::split_last_mut) else {
                continue;
            };
            // If `other == last`, no item in the rest matches and nothing is swapped.
            for (place, item) in numbers(256).zip(rest) {
                u8::conditional_swap(top, item, place.ct_eq(&other));
            }
        }
        Self(items)
    }

    /// Number of items.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    #[cfg(test)]
    pub(super) fn from_items(items: Vec<u8>) -> Self {
        Self(items)
    }

    /// \\(\pi^{-1}\\).
    pub(super) fn inverse(&self) -> Self {
        let mut inverse = vec![0_u8; self.0.len()];
        for (from, to) in numbers(256).zip(&self.0) {
            for (place, item) in numbers(256).zip(&mut inverse) {
                item.conditional_assign(&from, place.ct_eq(to));
            }
        }
        Self(inverse)
    }

    /// Like [`Self::gather`], but for an opened permutation: variable time, without copying items.
    pub(super) fn pick<'a, T>(&self, items: &'a [T]) -> impl Iterator<Item = &'a T> + use<'_, 'a, T> {
        self.0.iter().filter_map(|wanted| items.get(usize::from(*wanted)))
    }

    /// The items in the order of \\(\pi\\): the `i`-th is `items[π(i)]`.
    pub(super) fn gather<T: ConditionallySelectable + Default>(&self, items: &[T]) -> Vec<T> {
        self.0
            .iter()
            .map(|wanted| {
                let mut found = T::default();
                for (place, item) in numbers(256).zip(items) {
                    found.conditional_assign(item, place.ct_eq(wanted));
                }
                found
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng as _;

    use super::*;

    #[test]
    fn a_permutation_is_one_and_its_inverse_undoes_it() {
        let mut stream = ChaCha20Rng::from_seed([4; 32]);
        for size in [0, 1, 2, 54, 100] {
            let pi = Permutation::random(size, &mut stream);
            let mut sorted = pi.0.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, numbers(size).collect::<Vec<_>>());
            let items: Vec<u64> = (0..size as u64).map(|n| n * n).collect();
            assert_eq!(pi.inverse().gather(&pi.gather(&items)), items);
            let picked: Vec<u64> = pi.pick(&items).copied().collect();
            assert_eq!(picked, pi.gather(&items));
        }
    }

    /// Matches the plain shuffle that a referee computes from the same stream.
    #[test]
    fn it_is_the_plain_fisher_yates() {
        let pi = Permutation::random(54, &mut ChaCha20Rng::from_seed([6; 32]));
        let mut plain: Vec<u8> = numbers(54).collect();
        crate::game::shuffle(&mut ChaCha20Rng::from_seed([6; 32]), &mut plain);
        assert_eq!(pi.0, plain);
    }
}
