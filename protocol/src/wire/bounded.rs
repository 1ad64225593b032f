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
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
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
    use crate::wire::codec::{decode, encode};

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
}
