//! Hashes and keys as words, to be compared by voice.
//!
//! Eight words of BIP-39's English list: 2,048 words that differ in their first four letters. Word `i`, from 0, has the
//! number that bits `11 i` to `11 i + 10` form, the most significant first, so the words stand for the first 88 bits.
//!
//! Somebody who has to hit the words of a given value needs about 2⁸⁸ tries. Somebody who chooses both values finds two
//! with the same words after about 2⁴⁴: in a dispute compare all 64 digits.

use bip39::Language;

/// The number of words.
const WORDS: usize = 8;
/// Bits of a word.
const BITS: usize = 11;

/// The words of 32 bytes, with a blank between two.
pub fn spoken(value: &[u8; 32]) -> String {
    let list = Language::English.word_list();
    let bit = |at: usize| value.get(at / 8).map_or(0, |byte| usize::from(byte >> (7 - at % 8) & 1));
    let words = (0..WORDS).map(|word| {
        let bits = (word * BITS..(word + 1) * BITS).map(bit);
        let number = bits.fold(0, |number, bit| number << 1 | bit);
        list.get(number).copied().unwrap_or_default()
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_for_the_first_88_bits() {
        assert_eq!(spoken(&[0; 32]), ["abandon"; 8].join(" "));
        assert_eq!(spoken(&[0xff; 32]), ["zoo"; 8].join(" "));
        // Bit 10 is the lowest of the first word; bit 11 the highest of the second.
        let mut value = [0; 32];
        value[1] = 0b0011_0000;
        assert_eq!(spoken(&value), format!("ability length {}", ["abandon"; 6].join(" ")));
        value = [0; 32];
        value[10] = 1;
        assert!(spoken(&value).ends_with("abandon ability"));
        value[11] = 0xff;
        assert!(spoken(&value).ends_with("abandon ability"), "the rest is not told");
    }
}
