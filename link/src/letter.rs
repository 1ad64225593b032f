//! Letters: bytes for a peer who is not there. Only that peer can read one, and it sees who wrote it.
//!
//! A letter is one message of Noise X (the Noise Protocol Framework, section 7.4), under the peers' identities: the secret
//! scalar of an Ed25519 key and the Montgomery form of its point are a key pair of X25519 (RFC 7748, section 4.1).
//!
//! ```text
//! ← s
//! → e, es, s, ss    the content
//! ```
//!
//! It is padded: its length, 1, 4 or 16 KiB or a multiple of 64 KiB, tells little of what it holds. Noise limits messages
//! to 64 KiB, so the content is cut into several:
//!
//! ```text
//! letter    "fdlettr1", then pieces of 32 KiB, the last one shorter
//! piece     a Noise message: the handshake's, then those of the transport
//! all their contents together: the length of the content, four bytes, little-endian; the content; zeros
//! ```

use ed25519_dalek::{SigningKey, VerifyingKey};
use fairdeal_peers::PeerId;
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::noise::{TAG, builder, drawn};

const PATTERN: &str = "Noise_X_25519_ChaChaPoly_SHA256";
const MAGIC: &[u8; 8] = b"fdlettr1";
/// The bytes that the first piece has more than its content: `e`, `s` with its tag, and the content's tag.
const FIRST: usize = 32 + 32 + TAG + TAG;
/// The longest piece, in bytes.
const PIECE: usize = 32 << 10;
/// The lengths of short letters; longer ones are multiples of the last.
const LENGTHS: [usize; 4] = [1 << 10, 4 << 10, 16 << 10, 64 << 10];
/// The longest letter, in bytes.
pub const MAX_LETTER: usize = 4 << 20;

/// Why a letter cannot be written or read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LetterError {
    /// More than a letter holds.
    #[error("{0} bytes are more than a letter holds")]
    TooLong(usize),
    /// Not the form of a letter.
    #[error("this is not a whole fairdeal letter")]
    Form,
    /// Sealed for somebody else or in another context, or changed on its way.
    #[error("the letter is for somebody else, or has been changed on its way")]
    Sealed,
    /// Written by nobody of those who may write.
    #[error("no player of this table wrote the letter")]
    Stranger,
    /// The key of a peer is no point of the curve.
    #[error("a player's key is invalid")]
    Key,
}

/// The pieces of a letter of this length, each with how much content it has.
fn pieces(length: usize) -> impl Iterator<Item = (usize, usize)> {
    let mut left = length.saturating_sub(MAGIC.len());
    let mut overhead = FIRST;
    std::iter::from_fn(move || {
        let piece = left.min(PIECE);
        left -= piece;
        let content = piece.checked_sub(std::mem::replace(&mut overhead, TAG)).filter(|_| piece > 0)?;
        Some((piece, content))
    })
}

/// How much content a letter of this length has room for, its own length in four bytes aside.
fn room(length: usize) -> usize {
    pieces(length).map(|(_, content)| content).sum::<usize>().saturating_sub(4)
}

/// The length of a letter with so much content.
fn length_for(content: usize) -> Option<usize> {
    let last = *LENGTHS.last()?;
    let longer = (2..=MAX_LETTER / last).map(|count| count * last);
    LENGTHS.into_iter().chain(longer).find(|length| room(*length) >= content)
}

fn secret(key: &SigningKey) -> Zeroizing<[u8; 32]> {
    Zeroizing::new(key.to_scalar_bytes())
}

fn public(peer: PeerId) -> Result<[u8; 32], LetterError> {
    let key = VerifyingKey::from_bytes(&peer.to_bytes()).map_err(|_| LetterError::Key)?;
    Ok(key.to_montgomery().to_bytes())
}

/// Seals a letter. The reader has to name the same `context`.
///
/// # Errors
/// [`LetterError::TooLong`], [`LetterError::Key`].
pub fn seal(
    from: &SigningKey,
    to: PeerId,
    context: &[u8],
    content: &[u8],
    rng: &mut dyn CryptoRng,
) -> Result<Vec<u8>, LetterError> {
    let too_long = || LetterError::TooLong(content.len());
    let length = length_for(content.len()).ok_or_else(too_long)?;
    let mut plain = Zeroizing::new(Vec::with_capacity(length));
    plain.extend(u32::try_from(content.len()).map_err(|_| too_long())?.to_le_bytes());
    plain.extend(content);
    plain.resize(room(length) + 4, 0);
    let (mine, theirs) = (secret(from), public(to)?);
    let ephemeral = drawn(rng);
    let sealed = || -> Result<Vec<u8>, snow::Error> {
        let state = builder(PATTERN, ephemeral)?.prologue(context)?;
        let mut first = state.local_private_key(&*mine)?.remote_public_key(&theirs)?.build_initiator()?;
        let mut letter = MAGIC.to_vec();
        let (mut rest, mut all) = (plain.as_slice(), pieces(length));
        let mut next = |all: &mut dyn Iterator<Item = (usize, usize)>| {
            let (piece, content) = all.next()?;
            let (content, after) = rest.split_at_checked(content)?;
            rest = after;
            Some((vec![0; piece], content))
        };
        if let Some((mut piece, content)) = next(&mut all) {
            first.write_message(content, &mut piece)?;
            letter.extend(piece);
        }
        let mut more = first.into_transport_mode()?;
        while let Some((mut piece, content)) = next(&mut all) {
            more.write_message(content, &mut piece)?;
            letter.extend(piece);
        }
        Ok(letter)
    };
    sealed().map_err(|_| LetterError::Key)
}

/// Opens a letter to this key. Returns which of the possible authors wrote it, and its content.
///
/// # Errors
/// [`LetterError`] unless one of them sealed exactly this letter for this key and context.
pub fn open(
    to: &SigningKey,
    authors: &[PeerId],
    context: &[u8],
    letter: &[u8],
) -> Result<(PeerId, Zeroizing<Vec<u8>>), LetterError> {
    let (author, content) = open_from_anybody(to, context, letter)?;
    let author = authors.iter().find(|peer| author.is(**peer)).ok_or(LetterError::Stranger)?;
    Ok((*author, content))
}

/// The author of a letter, as the letter itself proves it: a key of X25519, which an Ed25519 key and its negation share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Author([u8; 32]);

impl Author {
    /// Whether this peer, who is one of two at most, wrote the letter.
    pub fn is(self, peer: PeerId) -> bool {
        public(peer).is_ok_and(|key| key == self.0)
    }
}

/// Opens a letter to this key, whoever wrote it.
///
/// # Errors
/// [`LetterError`] unless exactly this letter was sealed for this key and context.
pub fn open_from_anybody(
    to: &SigningKey,
    context: &[u8],
    letter: &[u8],
) -> Result<(Author, Zeroizing<Vec<u8>>), LetterError> {
    let body = letter.strip_prefix(MAGIC).ok_or(LetterError::Form)?;
    let long = LENGTHS.last().is_some_and(|last| letter.len().is_multiple_of(*last));
    if letter.len() > MAX_LETTER || !(long || LENGTHS.contains(&letter.len())) {
        return Err(LetterError::Form);
    }
    let Opened { author, plain } = opened(&secret(to), context, body).map_err(|_| LetterError::Sealed)?;
    let author = author.and_then(|key| key.try_into().ok()).map(Author).ok_or(LetterError::Form)?;
    let (length, rest) = plain.split_first_chunk::<4>().ok_or(LetterError::Form)?;
    let length = usize::try_from(u32::from_le_bytes(*length)).map_err(|_| LetterError::Form)?;
    let (content, padding) = rest.split_at_checked(length).ok_or(LetterError::Form)?;
    // One content has one letter form: nothing can be hidden in it, and no piece is missing.
    if length_for(length) != Some(letter.len()) || padding.iter().any(|byte| *byte != 0) {
        return Err(LetterError::Form);
    }
    Ok((author, Zeroizing::new(content.to_vec())))
}

/// The contents of all pieces, and the key that the first one proves.
struct Opened {
    author: Option<Vec<u8>>,
    plain: Zeroizing<Vec<u8>>,
}

fn opened(secret: &[u8; 32], context: &[u8], body: &[u8]) -> Result<Opened, snow::Error> {
    let mut first = builder(PATTERN, None)?.prologue(context)?.local_private_key(secret)?.build_responder()?;
    let mut plain = Zeroizing::new(Vec::with_capacity(body.len()));
    let mut all = body.chunks(PIECE);
    let mut content = Zeroizing::new(vec![0; PIECE]);
    let read = first.read_message(all.next().unwrap_or_default(), &mut content)?;
    plain.extend(content.get(..read).unwrap_or_default());
    let author = first.get_remote_static().map(<[u8]>::to_vec);
    let mut more = first.into_transport_mode()?;
    for piece in all {
        let read = more.read_message(piece, &mut content)?;
        plain.extend(content.get(..read).unwrap_or_default());
    }
    Ok(Opened { author, plain })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng as _;

    use super::*;

    fn key(number: u8) -> SigningKey {
        SigningKey::from_bytes(&[number; 32])
    }

    fn peer(number: u8) -> PeerId {
        PeerId::of(&key(number))
    }

    fn sealed(content: &[u8]) -> Vec<u8> {
        let mut rng = ChaCha20Rng::from_seed([9; 32]);
        seal(&key(1), peer(2), b"context", content, &mut rng).unwrap()
    }

    /// The smallest and the largest content of each length, and what lies between two pieces.
    #[test]
    fn letters_of_every_length_are_read() {
        let mut contents = vec![0, 1];
        for length in [1 << 10, 4 << 10, 16 << 10, 64 << 10, 128 << 10, MAX_LETTER] {
            contents.extend([room(length), room(length) + 1]);
        }
        let longest = contents.pop().unwrap();
        for length in contents {
            let content: Vec<u8> = (0..length).map(|place| u8::try_from(place % 251).unwrap()).collect();
            let letter = sealed(&content);
            assert_eq!(Some(letter.len()), length_for(length));
            let (author, read) = open(&key(2), &[peer(3), peer(1)], b"context", &letter).unwrap();
            assert_eq!((author, read.as_slice()), (peer(1), content.as_slice()));
        }
        let mut rng = ChaCha20Rng::from_seed([9; 32]);
        let refused = seal(&key(1), peer(2), b"", &vec![0; longest], &mut rng);
        assert_eq!(refused, Err(LetterError::TooLong(longest)));
    }

    #[test]
    fn letter_is_for_one_reader_of_one_context() {
        let letter = sealed(b"take the draw pile");
        assert_eq!(letter.len(), 1024);
        for (reader, authors, context, why) in [
            (3, [peer(1)], &b"context"[..], LetterError::Sealed),
            (1, [peer(1)], b"context", LetterError::Sealed),
            (2, [peer(1)], b"another", LetterError::Sealed),
            (2, [peer(4)], b"context", LetterError::Stranger),
        ] {
            assert_eq!(open(&key(reader), &authors, context, &letter), Err(why));
        }
    }

    /// Every byte counts, the padding too, and so does the end.
    #[test]
    fn changed_letters_are_refused() {
        let letter = sealed(&[5; 70_000]);
        let reads = |letter: &[u8]| open(&key(2), &[peer(1)], b"context", letter).map(|_| ());
        for place in (0..letter.len()).step_by(1999).chain([letter.len() - 1]) {
            let mut changed = letter.clone();
            changed[place] ^= 1;
            assert!(reads(&changed).is_err(), "{place}");
        }
        for length in [0, 1, 8, 1 << 10, 16 << 10, 64 << 10, letter.len() - 1] {
            assert!(reads(&letter[..length]).is_err(), "{length}");
        }
        assert_eq!(reads(&[&letter[..], &[0; 64 << 10]].concat()), Err(LetterError::Sealed));
        // Whole pieces in another order.
        let (head, pieces) = letter.split_at(MAGIC.len() + PIECE);
        let (one, two) = pieces.split_at(PIECE);
        assert!(two.len() > PIECE, "there are pieces to swap");
        let (two, rest) = two.split_at(PIECE);
        assert_eq!(reads(&[head, two, one, rest].concat()), Err(LetterError::Sealed));
    }

    /// The bytes of a letter, for whoever writes another program.
    #[test]
    fn bytes_of_a_letter_stay_the_same() {
        use sha2::{Digest as _, Sha256};
        let digest = Sha256::digest(sealed(b"take the draw pile"));
        assert_eq!(
            data_encoding::HEXLOWER.encode(&digest),
            "181c886ca648b2fc0e3abf2be628e37e337d3845eec016ceeca52ff513a63997"
        );
    }

    proptest! {
        #[test]
        fn garbage_is_refused(garbage in proptest::collection::vec(any::<u8>(), 0..3000), magic in any::<bool>()) {
            let start: &[u8] = if magic { MAGIC } else { b"" };
            let mut letter = [start, &garbage].concat();
            prop_assert!(open(&key(2), &[peer(1)], b"context", &letter).is_err());
            letter.resize(4 << 10, 7);
            prop_assert!(open(&key(2), &[peer(1)], b"context", &letter).is_err());
        }
    }
}
