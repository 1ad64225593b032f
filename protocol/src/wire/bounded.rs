//! Collections with a maximum that is checked before anything is allocated.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// A vector of at most `MAX` items.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Bounded<T, const MAX: usize>(Vec<T>);

/// More items than a bounded collection may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{got} items where at most {most} are allowed")]
pub struct TooMany {
    /// How many there are.
    pub got: usize,
    /// How many there may be.
    pub most: usize,
}

impl<T, const MAX: usize> Bounded<T, MAX> {
    /// One item.
    pub fn one(item: T) -> Self {
        const { assert!(MAX > 0) }
        Self(vec![item])
    }

    /// The first items, as many as there may be.
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
            return Err(TooMany {
                got: items.len(),
                most: MAX,
            });
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
                // What is read grows with the input; the claim alone reserves at most a little.
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

        deserializer
            .deserialize_seq(Items::<T, MAX>(PhantomData))
            .map(Self)
    }
}

/// A string of at most `MAX` bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Text<const MAX: usize>(String);

impl<const MAX: usize> Text<MAX> {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<const MAX: usize> TryFrom<String> for Text<MAX> {
    type Error = TooMany;

    fn try_from(text: String) -> Result<Self, TooMany> {
        if text.len() > MAX {
            return Err(TooMany {
                got: text.len(),
                most: MAX,
            });
        }
        Ok(Self(text))
    }
}

impl<'de, const MAX: usize> Deserialize<'de> for Text<MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Within<const MAX: usize>;

        impl<const MAX: usize> Visitor<'_> for Within<MAX> {
            type Value = String;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "at most {MAX} bytes of text")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<String, E> {
                if text.len() > MAX {
                    return Err(E::invalid_length(text.len(), &self));
                }
                Ok(text.to_owned())
            }
        }

        // Not `deserialize_string`: that allocates what the length claims. This one shows a slice
        // of the input, which holds all that is claimed.
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
        // Claims 300,000 bytes, which the codec's limit allows, and has one.
        let cut = [252, 0xe0, 0x93, 4, 0, b'x'];
        let refused = decode::<Text<{ 1 << 20 }>>(&cut, 100).unwrap_err();
        assert_eq!(refused, CodecError::Malformed("cut short".to_owned()));
        // Claims 2³² bytes.
        let huge = [253, 0, 0, 0, 0, 1, 0, 0, 0];
        let refused = decode::<Text<{ usize::MAX }>>(&huge, 100).unwrap_err();
        assert_eq!(
            refused,
            CodecError::Malformed("a length in it is too large".to_owned())
        );
        let refused = decode::<Bounded<Text<3>, 3>>(&huge, 100).unwrap_err();
        assert!(refused.to_string().contains("at most 3 items"), "{refused}");
    }

    /// The codec shows a text where it lies in the input: nothing is allocated for it.
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
