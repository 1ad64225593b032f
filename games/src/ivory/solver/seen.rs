//! A set of search keys. It only grows, and nothing iterates over it, so its order never shows.

/// A set of nonzero numbers, in a table with linear probing.
#[derive(Debug)]
pub(super) struct Seen {
    /// Its length is a power of two, at least half of it free. 0 marks a free slot.
    slots: Vec<u128>,
    len: usize,
}

impl Seen {
    pub(super) fn new() -> Self {
        Self { slots: vec![0; 1 << 10], len: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn contains(&self, key: u128) -> bool {
        let mask = self.slots.len().wrapping_sub(1);
        let mut at = hash(key) & mask;
        while let Some(slot) = self.slots.get(at).filter(|slot| **slot != 0) {
            if *slot == key {
                return true;
            }
            at = (at + 1) & mask;
        }
        false
    }

    /// Adds a key other than 0. Returns whether it is new.
    pub(super) fn insert(&mut self, key: u128) -> bool {
        if !place(&mut self.slots, key) {
            return false;
        }
        self.len += 1;
        if self.len * 2 > self.slots.len() {
            let mut wider = vec![0; self.slots.len() * 2];
            for key in self.slots.drain(..).filter(|key| *key != 0) {
                place(&mut wider, key);
            }
            self.slots = wider;
        }
        true
    }
}

/// Puts the key into the first free slot from its own. `false` if it is there already.
fn place(slots: &mut [u128], key: u128) -> bool {
    let mask = slots.len().wrapping_sub(1);
    let mut at = hash(key) & mask;
    while let Some(slot) = slots.get_mut(at) {
        if *slot == 0 {
            *slot = key;
            return true;
        }
        if *slot == key {
            return false;
        }
        at = (at + 1) & mask;
    }
    false
}

/// Mixes all bits of the key into the low ones.
#[allow(clippy::cast_possible_truncation, reason = "a hash keeps what fits")]
fn hash(key: u128) -> usize {
    let folded = (key as u64) ^ ((key >> 64) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = folded.wrapping_mul(0xd6e8_feb8_6659_fd93);
    (mixed ^ (mixed >> 32)) as usize
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn agrees_with_an_ordered_set() {
        let (mut seen, mut ordered) = (Seen::new(), BTreeSet::new());
        let mut number = 1_u128;
        for _ in 0..20_000 {
            number = number.wrapping_mul(0x2545_f491_4f6c_dd1d) % ((1 << 100) - 15);
            for key in [number | 1, number % 5000 + 1] {
                assert_eq!(seen.contains(key), ordered.contains(&key));
                assert_eq!(seen.insert(key), ordered.insert(key));
            }
        }
        assert_eq!(seen.len(), ordered.len());
    }
}
