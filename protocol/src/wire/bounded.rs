//! Collections with a maximum size, checked before anything is allocated.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// A vector of at most `MAX` items.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Bounded<T, const MAX: usize>(Vec<T>);

/// More items than a bounded collection may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{got} items where at most {most} are allowed")]
pub struct TooMany {
    /// Number of items given.
    pub got: usize,
    /// Maximum number of items.
    pub most: usize,
}

impl<T, const MAX: usize> Bounded<T, MAX> {
    /// A collection of one item.
    pub fn one(item: T) -> Self {
        const { assert!(MAX > 0) }
        Self(vec![item])
    }

    /// Takes the first items, up to the maximum.
    pub fn first(items: impl IntoIterator<Item = T>) -> Self {
        Self(items.into_iter().take(MAX).collect())
    }

    /// The items.
    pub fn into_inner(self) -> Vec<T> {
        self.0
    }
}

impl<T, const MAX: usize> Default for Bounded<T, MAX> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T, const MAX: usize> TryFrom<Vec<T>> for Bounded<T, MAX> {
    type Error = TooMany;

    fn try_from(items: Vec<T>) -> Result<Self, TooMany> {
        if items.len() > MAX {
            return Err(TooMany { got: items.len(), most: MAX });
        }
        Ok(Self(items))
    }
}

impl<T, const MAX: usize> Deref for Bounded<T, MAX> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<'de, T: Deserialize<'de>, const MAX: usize> Deserialize<'de> for Bounded<T, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Items<T, const MAX: usize>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>, const MAX: usize> Visitor<'de> for Items<T, MAX> {
            type Value = Vec<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "at most {MAX} items")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Vec<T>, A::Error> {
                let claimed = items.size_hint().unwrap_or(0);
                if claimed > MAX {
                    return Err(A::Error::invalid_length(claimed, &self));
                }
                // Reserve little on the claimed length alone; the vector then grows with the input actually read.
                let mut out = Vec::with_capacity(claimed.min(1024));
                while let Some(item) = items.next_element()? {
                    if out.len() >= MAX {
                        return Err(A::Error::invalid_length(MAX + 1, &self));
                    }
                    out.push(item);
                }
                Ok(out)
            }
        }

        deserializer.deserialize_seq(Items::<T, MAX>(PhantomData)).map(Self)
    }
}

/// A string of at most `MAX` bytes whose characters are all [visible](is_shown).
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Text<const MAX: usize>(String);

impl<const MAX: usize> Text<MAX> {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Why a string is not a valid [`Text`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// The string has too many bytes.
    #[error("{got} bytes of text where at most {most} are allowed")]
    TooLong {
        /// Length of the string, in bytes.
        got: usize,
        /// Maximum length, in bytes.
        most: usize,
    },
    /// The string contains a character that is not allowed to be shown.
    #[error("the character U+{:04X} in a text, which is never shown", u32::from(*.0))]
    Hidden(char),
}

/// Whether a [`Text`] may contain a character. Excludes control characters, which can corrupt a terminal, and
/// characters that are invisible on their own: direction marks, joiners, tags, soft hyphens and fillers. These are
/// Unicode's *default ignorable* code points, except for the selectors U+FE00 to U+FE0F that emoji need, plus line
/// separators, interlinear marks and the blank Braille pattern.
//= T2.4
pub fn is_shown(c: char) -> bool {
    !c.is_control()
        && !matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

fn check<const MAX: usize>(text: &str) -> Result<(), TextError> {
    if text.len() > MAX {
        return Err(TextError::TooLong { got: text.len(), most: MAX });
    }
    match text.chars().find(|c| !is_shown(*c)) {
        Some(hidden) => Err(TextError::Hidden(hidden)),
        None => Ok(()),
    }
}

impl<const MAX: usize> TryFrom<String> for Text<MAX> {
    type Error = TextError;

    fn try_from(text: String) -> Result<Self, TextError> {
        check::<MAX>(&text).map(|()| Self(text))
    }
}

impl<'de, const MAX: usize> Deserialize<'de> for Text<MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Within<const MAX: usize>;

        impl<const MAX: usize> Visitor<'_> for Within<MAX> {
            type Value = String;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "at most {MAX} bytes of text that is shown")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<String, E> {
                match check::<MAX>(text) {
                    Ok(()) => Ok(text.to_owned()),
                    Err(TextError::TooLong { got, .. }) => Err(E::invalid_length(got, &self)),
                    Err(hidden) => Err(E::custom(hidden)),
                }
            }
        }

        // Not `deserialize_string`, which allocates the claimed length. This passes a slice of the input, which cannot
        // be longer than the input.
        deserializer.deserialize_str(Within::<MAX>).map(Self)
    }
}

impl<const MAX: usize> From<Text<MAX>> for String {
    fn from(text: Text<MAX>) -> Self {
        text.0
    }
}

impl<const MAX: usize> fmt::Display for Text<MAX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::codec::{CodecError, decode, encode};

    #[test]
    fn text_holds_only_visible_characters() {
        let text = |text: &str| Text::<16>::try_from(text.to_owned());
        assert_eq!(text("Zoë 🎲\u{fe0f}").unwrap().as_str(), "Zoë 🎲\u{fe0f}");
        let long = TextError::TooLong { got: 17, most: 16 };
        assert_eq!(text(&"x".repeat(17)), Err(long));
        for hidden in ['\u{1b}', '\n', '\u{9b}', '\u{202e}', '\u{200d}', '\u{3164}', '\u{e0041}'] {
            assert_eq!(text(&format!("a{hidden}")), Err(TextError::Hidden(hidden)));
            let bytes = encode(&format!("a{hidden}"));
            assert!(decode::<Text<16>>(&bytes, 64).is_err());
        }
    }

    #[test]
    fn one_too_many_is_refused_before_it_is_read() {
        let four: Vec<u8> = vec![1, 2, 3, 4];
        assert!(decode::<Bounded<u8, 4>>(&encode(&four), 100).is_ok());
        assert!(decode::<Bounded<u8, 3>>(&encode(&four), 100).is_err());
        // Claims 2⁶⁴−1 items.
        let huge = [253, 255, 255, 255, 255, 255, 255, 255, 255];
        assert!(decode::<Bounded<u64, 3>>(&huge, 100).is_err());
        assert!(Text::<3>::try_from("four".to_owned()).is_err());
    }

    #[test]
    fn a_text_is_bounded_before_it_is_owned() {
        let four = encode("four");
        assert_eq!(decode::<Text<4>>(&four, 100).unwrap().as_str(), "four");
        let refused = decode::<Text<3>>(&four, 100).unwrap_err().to_string();
        assert!(refused.contains("at most 3 bytes of text"), "{refused}");
        // Claims 300,000 bytes, which the codec's limit allows, but contains one.
        let cut = [252, 0xe0, 0x93, 4, 0, b'x'];
        let refused = decode::<Text<{ 1 << 20 }>>(&cut, 100).unwrap_err();
        assert_eq!(refused, CodecError::Malformed("cut short".to_owned()));
        // Claims 2³² bytes.
        let huge = [253, 0, 0, 0, 0, 1, 0, 0, 0];
        let refused = decode::<Text<{ usize::MAX }>>(&huge, 100).unwrap_err();
        assert_eq!(refused, CodecError::Malformed("a length in it is too large".to_owned()));
        let refused = decode::<Bounded<Text<3>, 3>>(&huge, 100).unwrap_err();
        assert!(refused.to_string().contains("at most 3 items"), "{refused}");
    }

    /// The codec passes a text as a slice of the input, without allocating.
    #[test]
    fn a_text_is_read_in_place() {
        #[derive(Debug, PartialEq)]
        struct InPlace(usize);

        impl Serialize for InPlace {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                "four".serialize(serializer)
            }
        }

        impl<'de> Deserialize<'de> for InPlace {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Borrowed;

                impl<'de> Visitor<'de> for Borrowed {
                    type Value = InPlace;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str("a slice of the input")
                    }

                    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<InPlace, E> {
                        Ok(InPlace(text.as_ptr().addr()))
                    }
                }

                deserializer.deserialize_str(Borrowed)
            }
        }

        let four = encode("four");
        let place = four[1..].as_ptr().addr();
        assert_eq!(decode::<InPlace>(&four, 100), Ok(InPlace(place)));
    }
}
