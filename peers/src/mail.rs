//! The messages between players and a meeting point that keeps their letters (`/fairdeal/mail/1`), and its limits.
//!
//! An absent player has a box at a point. Its owner names the players whose letters the box takes, and fetches them.
//! Both ends of a connection have proven their keys, so no message is signed. The point sees sealed letters.

use std::time::Duration;

use fairdeal_protocol::charter::SeatKey;
use fairdeal_protocol::wire::bounded::Bounded;
use fairdeal_protocol::wire::codec::{CodecError, decode, encode};
use serde::{Deserialize, Serialize};

/// The longest letter that a box takes, in bytes.
pub const MAX_POSTED: usize = 128 << 10;
/// The bytes of all letters in one box, at most: four of the longest, for a table of five.
pub const BOX_BYTES: usize = 4 * MAX_POSTED;
/// Maximum number of letters in a box.
pub const MAX_LETTERS: usize = 64;
/// Maximum number of players whose letters a box takes.
pub const MAX_WRITERS: usize = 64;
/// How long a letter stays, and a box whose owner does not come.
pub const KEPT: Duration = Duration::from_secs(21 * 24 * 3600);
/// Maximum length of a request, in bytes: the longest letter, and its head.
pub const MAX_MAIL_REQUEST: usize = MAX_POSTED + 256;
/// Maximum length of a response, in bytes: a page of letters. A page ends before it would become longer.
pub const MAX_MAIL_RESPONSE: usize = 2 * MAX_POSTED + 1024;
/// Bytes of a response besides its letters, and of a letter besides its content, at most.
const HEAD: usize = 64;

/// The subject of a letter, chosen by its writer: its place is the same for all letters of one table to one reader, and its
/// content is the same for letters that say the same. A point compares them, and learns no more from them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Subject {
    pub place: [u8; 8],
    pub content: [u8; 8],
}

/// A request to a point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MailRequest {
    /// Of an owner: keep a box that takes letters of these players, in place of those named before. What lies in it stays.
    /// Of nobody: drop the box.
    Open { writers: Bounded<SeatKey, MAX_WRITERS> },
    /// Of an owner: a page of its letters.
    Fetch {
        /// The number from the page before; `None` for the first page.
        after: Option<u64>,
    },
    /// Of an owner: drop these letters, which are read.
    Read { numbers: Bounded<u64, MAX_LETTERS> },
    /// Of a writer: which of its letters wait in that player's box?
    Look { owner: SeatKey },
    /// Of a writer: put this letter into that player's box, in place of its letter with the same place.
    Put(Box<Posted>),
}

/// A letter on its way to a box.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Posted {
    pub owner: SeatKey,
    pub subject: Subject,
    pub letter: Bounded<u8, MAX_POSTED>,
}

/// A response of a point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MailResponse {
    Done,
    Refused(MailRefusal),
    /// A page of the owner's letters.
    Letters(MailPage),
    /// The writer's letters that wait.
    Waiting(Bounded<Waiting, MAX_LETTERS>),
}

/// A letter in a box, as its owner gets it. The number grows with each letter of the point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivered {
    pub number: u64,
    pub letter: Bounded<u8, MAX_POSTED>,
}

/// Letters of a box, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MailPage {
    pub letters: Bounded<Delivered, MAX_LETTERS>,
    /// The number to send for the next page; `None` if this is the last.
    pub next: Option<u64>,
}

/// A letter that waits, as its writer is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    pub subject: Subject,
    /// For how many seconds there has been a letter at this place.
    pub since: u32,
    /// For how many more seconds the point keeps it.
    pub left: u32,
}

/// Why a point refuses a request about mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum MailRefusal {
    #[error("it keeps as many letters as it can")]
    Full,
    #[error("it has too many boxes of your network already")]
    NetworkFull,
    #[error("too many requests in a short time")]
    TooFast,
    /// There is no such box, or it does not take letters of this writer.
    #[error("the reader's program has not looked for mail there yet")]
    NoBox,
    #[error("the reader's box has no room for more of your letters")]
    BoxFull,
}

impl MailPage {
    /// The first of these letters, as many as fit.
    pub fn of<'a>(all: impl Iterator<Item = (u64, &'a Bounded<u8, MAX_POSTED>)>) -> Self {
        let mut letters = Vec::new();
        let (mut last, mut size) = (None, HEAD);
        for (number, letter) in all {
            size = size.saturating_add(letter.len() + HEAD);
            if letters.len() >= MAX_LETTERS || size > MAX_MAIL_RESPONSE {
                return Self { letters: Bounded::first(letters), next: last };
            }
            letters.push(Delivered { number, letter: letter.clone() });
            last = Some(number);
        }
        Self { letters: Bounded::first(letters), next: None }
    }
}

impl MailRequest {
    pub fn to_bytes(&self) -> Vec<u8> {
        encode(self)
    }

    /// Decodes a message from an untrusted program.
    ///
    /// # Errors
    /// [`CodecError`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CodecError> {
        decode(bytes, MAX_MAIL_REQUEST)
    }
}

impl MailResponse {
    pub fn to_bytes(&self) -> Vec<u8> {
        encode(self)
    }

    /// Decodes a message from an untrusted program.
    ///
    /// # Errors
    /// [`CodecError`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CodecError> {
        decode(bytes, MAX_MAIL_RESPONSE)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::key;

    fn owner() -> SeatKey {
        SeatKey::from(&key(1))
    }

    fn subject() -> Subject {
        Subject { place: *b"theplace", content: *b"contents" }
    }

    fn hex(bytes: &[u8]) -> String {
        data_encoding::HEXLOWER.encode(bytes)
    }

    #[test]
    fn requests_have_these_bytes() {
        let owner_hex = hex(&owner().to_bytes());
        let letter = vec![7, 8].try_into().unwrap();
        for (request, bytes) in [
            (MailRequest::Open { writers: Bounded::one(owner()) }, format!("0001{owner_hex}")),
            (MailRequest::Open { writers: Bounded::default() }, "0000".to_owned()),
            (MailRequest::Fetch { after: None }, "0100".to_owned()),
            (MailRequest::Fetch { after: Some(300) }, "0101fb2c01".to_owned()),
            (MailRequest::Read { numbers: vec![1, 2].try_into().unwrap() }, "02020102".to_owned()),
            (MailRequest::Look { owner: owner() }, format!("03{owner_hex}")),
            (
                MailRequest::Put(Box::new(Posted { owner: owner(), subject: subject(), letter })),
                format!("04{owner_hex}{}{}020708", hex(b"theplace"), hex(b"contents")),
            ),
        ] {
            assert_eq!(hex(&request.to_bytes()), bytes, "{request:?}");
            assert_eq!(MailRequest::from_bytes(&request.to_bytes()).as_ref(), Ok(&request));
        }
    }

    #[test]
    fn responses_have_these_bytes() {
        let letters = Bounded::one(Delivered { number: 5, letter: vec![7, 8].try_into().unwrap() });
        let waiting = Bounded::one(Waiting { subject: subject(), since: 1, left: 2 });
        for (response, bytes) in [
            (MailResponse::Done, "00".to_owned()),
            (MailResponse::Refused(MailRefusal::BoxFull), "0104".to_owned()),
            (MailResponse::Letters(MailPage { letters, next: Some(5) }), "0201050207080105".to_owned()),
            (MailResponse::Waiting(waiting), format!("0301{}{}0102", hex(b"theplace"), hex(b"contents"))),
        ] {
            assert_eq!(hex(&response.to_bytes()), bytes, "{response:?}");
            assert_eq!(MailResponse::from_bytes(&response.to_bytes()).as_ref(), Ok(&response));
        }
    }

    #[test]
    fn longest_messages_fit() {
        let letter: Bounded<u8, MAX_POSTED> = vec![1; MAX_POSTED].try_into().unwrap();
        let put = MailRequest::Put(Box::new(Posted { owner: owner(), subject: subject(), letter: letter.clone() }));
        assert!(put.to_bytes().len() <= MAX_MAIL_REQUEST);
        let page = MailPage::of((1..=4).map(|number| (number, &letter)));
        assert_eq!((page.letters.len(), page.next), (2, Some(2)));
        assert!(MailResponse::Letters(page).to_bytes().len() <= MAX_MAIL_RESPONSE);
        let small: Bounded<u8, MAX_POSTED> = vec![1; 1 << 10].try_into().unwrap();
        let page = MailPage::of((1..=64).map(|number| (u64::MAX - number, &small)));
        assert_eq!((page.letters.len(), page.next), (64, None));
        assert!(MailResponse::Letters(page).to_bytes().len() <= MAX_MAIL_RESPONSE);
        let all = vec![Waiting { subject: subject(), since: u32::MAX, left: u32::MAX }; MAX_LETTERS];
        assert!(MailResponse::Waiting(all.try_into().unwrap()).to_bytes().len() <= MAX_MAIL_RESPONSE);
    }

    proptest! {
        #[test]
        fn any_bytes_give_a_message_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            if let Ok(request) = MailRequest::from_bytes(&bytes) {
                prop_assert_eq!(request.to_bytes(), &*bytes);
            }
            if let Ok(response) = MailResponse::from_bytes(&bytes) {
                prop_assert_eq!(response.to_bytes(), bytes);
            }
        }
    }
}
