//! A table's password: guest and host show each other that they know it, and neither sends it.
//!
//! # Protocol
//! CPACE-RISTR255-SHA512 of draft-irtf-cfrg-cpace-21 (`cpace.rs`) with the key confirmation of its
//! section 10.4. The guest is the initiator A, the host the responder B. All of it travels over a
//! channel that is encrypted and knows both keys already. The draft's inputs are:
//!
//! | input | value |
//! | --- | --- |
//! | PRS | the password, in UTF-8 |
//! | CI | lv_cat(guest's key, host's key, lobby, [`domain::PAKE`]) |
//! | sid | empty |
//! | ADa, ADb | `guest`, `host`; fixed, so they are not sent |
//!
//! 1. Guest: \\(Y_a = y_ag\\). Sent: [`Login`], 32 bytes.
//! 2. Host: \\(Y_b = y_bg\\), \\(K = y_bY_a\\), ISK, and its tag
//!    \\(T_b = \\mathrm{HMAC}(\text{mac\_key}, \text{lv\_cat}(Y_b, \text{ADb}))\\). Sent: [`Challenge`]
//!    \\((Y_b, T_b)\\), 96 bytes.
//! 3. Guest: \\(K = y_aY_b\\), ISK and \\(T_b\\). Only if that is the tag that came,
//!    \\(T_a = \\mathrm{HMAC}(\text{mac\_key}, \text{lv\_cat}(Y_a, \text{ADa}))\\). Sent: [`Proof`], 64 bytes.
//! 4. Host: lets the guest in only if that \\(T_a\\) came.
//!
//! Bytes that encode no point are no [`Login`] and no [`Challenge`]; the identity ends the run. The ISK
//! serves for the tags alone: the channel has keys of its own.
//!
//! # One password a try
//! \\(Y_a\\) and \\(Y_b\\) are uniform whatever \\(g\\) is, so they say nothing of the password, and
//! the tags are MACs under a hash of \\(K\\). Testing a password against a tag therefore takes
//! the \\(K\\) that it leads to, which is the Diffie–Hellman value of the two points *for the
//! generator of that password*. An eavesdropper chose neither point and knows \\(K\\) for none of
//! them. An active attacker chose one, \\(Y = yg'\\), and knows its logarithm for the \\(g'\\) of one
//! password only: generators are hashes, nobody knows the logarithm of one for another. Abdalla, Haase
//! and Hesse (ASIACRYPT 2021) prove this of CPace if simultaneous Diffie–Hellman is hard and hashes are
//! random oracles, for runs that have agreed on a session id before. The draft lets it be empty, on the
//! proof that it cites as BGHJ24: the fresh points tell two runs apart.
//!
//! - *A false guest* sees the host's tag before it has shown anything, and compares it with that of
//!   its one guess. That is its try, and it may go away without a word. So a host must count the knocks
//!   that it answered and that led to no good proof; counting bad proofs would count nothing.
//! - *A false host* gets \\(Y_a\\) and must send its tag first. If its guess was wrong the guest stops,
//!   and it has learnt just that. [`Guest::finish`] takes the guest away with it, so that no second
//!   challenge is tried on one \\(y_a\\).
//! - *A relay in the middle* has a key of its own on each of its two channels. The keys are in CI, so each
//!   side has another \\(g\\): what one of them sends is of no use with the other.
//! - *An echo* of a tag fails: ADa and ADb make the two tags differ even if the points are equal.
//!
//! In either order each side has one try a run. In this one there are three messages and not four, and
//! only a guest can test its guess in silence, whose tries the host can count and limit. The guest sees
//! that a host guessed wrong, and can tell its owner.
//!
//! # What is lost on the way
//! A guest that hears nothing sends the *same* [`Login`] again, and later the same [`Proof`]. A host
//! keeps the [`Host`] and the [`Challenge`] of each login that it answered, and answers the same login
//! of the same guest with the same challenge. Answering it afresh would leave the guest with a proof for
//! a run that the host has forgotten; each fresh answer is one more try.
//!
//! # What it gives away
//! Whether both know the same password, to both. Silent on how good it is: a host that answers without
//! limit is asked for every word of a list. The password is not stretched; a reader of either side's
//! memory has it.

use std::fmt;

use curve25519_dalek::scalar::Scalar;
use rand_core::CryptoRng;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;
use zeroize::{ZeroizeOnDrop, Zeroizing};

use super::cpace::{self, Share};
use super::group::Point;
use crate::domain;

/// The longest password, in bytes of UTF-8.
pub const MAX_PASSWORD: usize = 128;

/// A table's password; zeroized when dropped and never shown.
///
/// It is its exact bytes of UTF-8: nothing is trimmed, and an é that is one character is not an é that is
/// two. Whoever reads it from a person decides about that.
#[derive(Clone, ZeroizeOnDrop)]
pub struct Password(String);

/// A text is no password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PasswordError {
    /// No bytes: a table without a password asks for none.
    #[error("the password is empty")]
    Empty,
    /// More than [`MAX_PASSWORD`] bytes.
    #[error("the password has {size} bytes, more than the {MAX_PASSWORD} that are allowed")]
    TooLong {
        /// How many it has.
        size: usize,
    },
}

impl Password {
    /// Takes a text of 1 to [`MAX_PASSWORD`] bytes. The text is taken away so that no copy of it stays
    /// behind; it is zeroized if it is refused, too.
    ///
    /// # Errors
    /// [`PasswordError`] if it has no bytes or too many.
    pub fn new(text: String) -> Result<Self, PasswordError> {
        let password = Self(text);
        match password.0.len() {
            0 => Err(PasswordError::Empty),
            size if size > MAX_PASSWORD => Err(PasswordError::TooLong { size }),
            _ => Ok(password),
        }
    }

    /// Its text, for whoever keeps it where only its owner can read it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(secret)")
    }
}

/// The guest and the table of a login attempt. Both sides fill it in from what *they* know: the keys are those of the channel that
/// the messages come by, never some that a message names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Door {
    /// Which of the host's tables.
    pub lobby: [u8; 8],
    /// The guest's Ed25519 public key.
    pub guest: [u8; 32],
    /// The host's Ed25519 public key.
    pub host: [u8; 32],
}

/// The first message, guest to host: \\(Y_a\\), 32 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Login {
    point: Point,
}

/// A tag of 64 bytes, in halves because serde's arrays end at 32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Tag([[u8; 32]; 2]);

impl Tag {
    fn new(bytes: &[u8; 64]) -> Self {
        let mut halves = [[0; 32]; 2];
        halves.as_flattened_mut().copy_from_slice(bytes);
        Self(halves)
    }

    fn is(&self, expected: &[u8; 64]) -> bool {
        expected.ct_eq(self.0.as_flattened()).into()
    }
}

/// The second message, host to guest: \\((Y_b, T_b)\\), 96 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Challenge {
    point: Point,
    tag: Tag,
}

/// The third message, guest to host: \\(T_a\\), 64 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    tag: Tag,
}

/// The other side is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PakeError {
    /// Its point is the identity, which no honest side sends.
    #[error("the other side sent the identity")]
    Identity,
    /// Its tag is wrong: it has another password or another [`Door`], or a message was changed.
    #[error("the other side did not show that it knows the password")]
    Password,
}

/// The draft's `sid`. No id is agreed on before a run; the points tell runs apart.
const SID: &[u8] = b"";
/// The draft's `ADa`.
const GUEST: &[u8] = b"guest";
/// The draft's `ADb`.
const HOST: &[u8] = b"host";

/// \\(y\\) and \\(yg\\) of one side.
fn draw(password: &Password, door: &Door, rng: &mut dyn CryptoRng) -> (Zeroizing<Scalar>, Point) {
    let channel = cpace::lv_cat(&[
        &door.guest,
        &door.host,
        &door.lobby,
        domain::PAKE.as_bytes(),
    ]);
    let generator = cpace::calculate_generator(password.0.as_bytes(), &channel, SID);
    let secret = cpace::sample_scalar(rng);
    let point = cpace::scalar_mult(&secret, &generator);
    (secret, point)
}

/// Both tags of a run.
#[derive(ZeroizeOnDrop)]
struct Tags {
    host: [u8; 64],
    guest: [u8; 64],
}

impl Tags {
    /// From a side's own scalar and the other's point. Constant time.
    fn new(
        secret: &Scalar,
        other: &Point,
        login: &Point,
        answer: &Point,
    ) -> Result<Self, PakeError> {
        let shared = cpace::scalar_mult_vfy(secret, other).ok_or(PakeError::Identity)?;
        Ok(Self::of(&shared, login, answer))
    }

    fn of(shared: &[u8; 32], login: &Point, answer: &Point) -> Self {
        let guest = Share {
            point: login,
            data: GUEST,
        };
        let host = Share {
            point: answer,
            data: HOST,
        };
        let isk = cpace::isk(SID, shared, &cpace::transcript_ir(guest, host));
        let key = cpace::mac_key(SID, &isk);
        Self {
            host: *cpace::tag(&key, host),
            guest: *cpace::tag(&key, guest),
        }
    }
}

/// A guest that has knocked; \\(y_a\\) is zeroized when it is dropped. One run: it cannot be cloned.
#[derive(ZeroizeOnDrop)]
pub struct Guest {
    secret: Scalar,
    #[zeroize(skip)]
    login: Login,
}

impl Guest {
    /// Begins a run. The RNG must be the operating system's, or in a simulation one of its own.
    ///
    /// The login may be sent again for as long as no answer came. After an answer, good or bad, the
    /// next try begins here.
    pub fn start(password: &Password, door: &Door, rng: &mut dyn CryptoRng) -> (Self, Login) {
        let (secret, point) = draw(password, door, rng);
        let login = Login { point };
        let guest = Self {
            secret: *secret,
            login,
        };
        (guest, login)
    }

    /// Checks that the host knows the password, and only then shows that this guest does. The proof
    /// may be sent again.
    ///
    /// # Errors
    /// [`PakeError`] if the host did not show it; nothing must be sent then. The run is over: another
    /// challenge for the same login would be another try for a false host.
    pub fn finish(self, challenge: &Challenge) -> Result<Proof, PakeError> {
        let host = &challenge.point;
        let tags = Tags::new(&self.secret, host, &self.login.point, host)?;
        if !challenge.tag.is(&tags.host) {
            return Err(PakeError::Password);
        }
        Ok(Proof {
            tag: Tag::new(&tags.guest),
        })
    }
}

impl fmt::Debug for Guest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Guest(secret)")
    }
}

/// A host that has answered a login: the tag that it waits for, zeroized when it is dropped.
#[derive(ZeroizeOnDrop)]
pub struct Host {
    expected: [u8; 64],
}

impl Host {
    /// Answers a login: from now on the guest has had its try. The RNG as for [`Guest::start`].
    ///
    /// The caller keeps both for as long as this guest may come back, and sends this same challenge if
    /// the same login comes again.
    ///
    /// # Errors
    /// [`PakeError::Identity`] if the login is the identity. Then nothing was told and no try was had.
    pub fn answer(
        password: &Password,
        door: &Door,
        login: &Login,
        rng: &mut dyn CryptoRng,
    ) -> Result<(Self, Challenge), PakeError> {
        let (secret, point) = draw(password, door, rng);
        let tags = Tags::new(&secret, &login.point, &login.point, &point)?;
        let host = Self {
            expected: tags.guest,
        };
        let tag = Tag::new(&tags.host);
        Ok((host, Challenge { point, tag }))
    }

    /// Checks that the guest knows the password. A proof that comes twice is checked twice with the same
    /// outcome; a tag of 512 bits cannot be guessed.
    ///
    /// # Errors
    /// [`PakeError::Password`] if it is not the tag expected.
    pub fn check(&self, proof: &Proof) -> Result<(), PakeError> {
        if proof.tag.is(&self.expected) {
            Ok(())
        } else {
            Err(PakeError::Password)
        }
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Host(secret)")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng as _;
    use serde::de::DeserializeOwned;

    use super::*;
    use crate::wire::codec::{decode, encode};

    const DOOR: Door = Door {
        lobby: *b"lobby #1",
        guest: [1; 32],
        host: [2; 32],
    };

    fn password(text: &str) -> Password {
        Password::new(text.to_owned()).unwrap()
    }

    fn rng(number: u64) -> ChaCha20Rng {
        ChaCha20Rng::seed_from_u64(number)
    }

    /// State and belief of each side.
    type Side<'a> = (&'a str, Door);

    fn login(side: Side<'_>, run: u64) -> (Guest, Login) {
        Guest::start(&password(side.0), &side.1, &mut rng(2 * run))
    }

    fn answer(side: Side<'_>, login: &Login, run: u64) -> (Host, Challenge) {
        Host::answer(&password(side.0), &side.1, login, &mut rng(2 * run + 1)).unwrap()
    }

    /// Both sides refuse, the host although the guest goes on in spite of a wrong tag.
    fn refuse(guest: Side<'_>, host: Side<'_>) {
        let (asks, login) = login(guest, 0);
        let (answers, challenge) = answer(host, &login, 0);
        let answer = &challenge.point;
        let tags = Tags::new(&asks.secret, answer, &login.point, answer).unwrap();
        let forced = Proof {
            tag: Tag::new(&tags.guest),
        };
        assert_eq!(answers.check(&forced), Err(PakeError::Password));
        assert_eq!(asks.finish(&challenge), Err(PakeError::Password));
    }

    #[test]
    fn both_know_it() {
        let (guest, login) = login(("open, sesame", DOOR), 0);
        let (host, challenge) = answer(("open, sesame", DOOR), &login, 0);
        let proof = guest.finish(&challenge).unwrap();
        assert_eq!(host.check(&proof), Ok(()));
        assert_eq!(host.check(&proof), Ok(()), "a proof that comes again");
        assert_ne!(challenge.tag, proof.tag);
    }

    #[test]
    fn another_password() {
        for other in ["open sesame", "Open, sesame", "open, sesame ", "o", "\0"] {
            refuse((other, DOOR), ("open, sesame", DOOR));
            refuse(("open, sesame", DOOR), (other, DOOR));
        }
    }

    #[test]
    fn another_door() {
        let others = [
            Door {
                lobby: *b"lobby #2",
                ..DOOR
            },
            Door {
                guest: [3; 32],
                ..DOOR
            },
            Door {
                host: [3; 32],
                ..DOOR
            },
            Door {
                guest: DOOR.host,
                host: DOOR.guest,
                ..DOOR
            },
        ];
        for other in others {
            refuse(("open, sesame", DOOR), ("open, sesame", other));
            refuse(("open, sesame", other), ("open, sesame", DOOR));
        }
    }

    /// With the identity the false side knows K without any password.
    #[test]
    fn the_identity_is_refused() {
        let identity = Point::identity();
        let password = password("open, sesame");
        let false_knock = Login { point: identity };
        let refused = Host::answer(&password, &DOOR, &false_knock, &mut rng(1));
        assert_eq!(refused.err(), Some(PakeError::Identity));

        let (guest, login) = Guest::start(&password, &DOOR, &mut rng(0));
        let tags = Tags::of(identity.as_bytes(), &login.point, &identity);
        let false_challenge = Challenge {
            point: identity,
            tag: Tag::new(&tags.host),
        };
        assert_eq!(guest.finish(&false_challenge), Err(PakeError::Identity));
    }

    #[test]
    fn only_canonical_points_and_whole_messages() {
        let (guest, login) = login(("open, sesame", DOOR), 0);
        let (_, challenge) = answer(("open, sesame", DOOR), &login, 0);
        let proof = guest.finish(&challenge).unwrap();
        assert_eq!(decode::<Login>(&encode(&login), 32), Ok(login));
        assert_eq!(decode::<Challenge>(&encode(&challenge), 96), Ok(challenge));
        assert_eq!(decode::<Proof>(&encode(&proof), 64), Ok(proof));

        // The field's prime, which is 0 once more; a negative number; no square; too large a number.
        let mut prime = [0xff; 32];
        (prime[0], prime[31]) = (0xed, 0x7f);
        let mut one = [0; 32];
        one[0] = 1;
        let mut two = [0; 32];
        two[0] = 2;
        for bytes in [prime, one, two, [0xff; 32]] {
            assert!(decode::<Login>(&bytes, 32).is_err());
            assert!(decode::<Challenge>(&[bytes, [0; 32], [0; 32]].concat(), 96).is_err());
        }
        assert!(decode::<Login>(&encode(&login)[..31], 32).is_err());
        assert!(decode::<Challenge>(&encode(&challenge)[..95], 96).is_err());
    }

    #[test]
    fn tags_of_another_run() {
        let side = ("open, sesame", DOOR);
        let (guest, first_knock) = login(side, 0);
        let (other_guest, second_knock) = login(side, 1);
        assert_ne!(first_knock, second_knock);
        let (host, challenge) = answer(side, &first_knock, 0);
        let (other_host, other_challenge) = answer(side, &second_knock, 1);

        // The tag of one run with the point of the other, too.
        let mixed = Challenge {
            tag: other_challenge.tag,
            ..challenge
        };
        let (again, _) = login(side, 0);
        assert_eq!(again.finish(&mixed), Err(PakeError::Password));
        let (again, _) = login(side, 0);
        assert_eq!(again.finish(&other_challenge), Err(PakeError::Password));

        let proof = guest.finish(&challenge).unwrap();
        let other_proof = other_guest.finish(&other_challenge).unwrap();
        assert_eq!(host.check(&other_proof), Err(PakeError::Password));
        assert_eq!(other_host.check(&proof), Err(PakeError::Password));

        // The same login answered afresh is another run, to which the old proof is none.
        let (fresh, _) = answer(side, &first_knock, 2);
        assert_eq!(fresh.check(&proof), Err(PakeError::Password));
    }

    /// A false host without the password sends back what it got; a false guest, the host's tag.
    #[test]
    fn nothing_is_won_by_echoes() {
        let side = ("open, sesame", DOOR);
        let (guest, first) = login(side, 0);
        let (host, challenge) = answer(side, &first, 0);
        let echo = Proof { tag: challenge.tag };
        assert_eq!(host.check(&echo), Err(PakeError::Password));
        let echo = Challenge {
            point: first.point,
            tag: challenge.tag,
        };
        assert_eq!(guest.finish(&echo), Err(PakeError::Password));
    }

    #[test]
    fn how_long_a_password_may_be() {
        let of = |size| Password::new("x".repeat(size)).err();
        assert_eq!(of(0), Some(PasswordError::Empty));
        assert_eq!(of(1), None);
        assert_eq!(of(MAX_PASSWORD), None);
        let size = MAX_PASSWORD + 1;
        assert_eq!(of(size), Some(PasswordError::TooLong { size }));
        // Bytes, not characters.
        let wide = "é".repeat(65);
        assert_eq!(
            Password::new(wide).err(),
            Some(PasswordError::TooLong { size: 130 })
        );
    }

    #[test]
    fn secrets_are_not_printed() {
        let side = ("open, sesame", DOOR);
        let (guest, first) = login(side, 0);
        let (host, _) = answer(side, &first, 0);
        let shown = format!("{:?} {guest:?} {host:?}", password("open, sesame"));
        assert_eq!(shown, "Password(secret) Guest(secret) Host(secret)");
    }

    /// `value` with one bit changed, if that still decodes.
    fn flip<T: Serialize + DeserializeOwned>(value: &T, bit: usize) -> Option<T> {
        let mut bytes = encode(value);
        bytes[bit / 8] ^= 1 << (bit % 8);
        decode(&bytes, bytes.len()).ok()
    }

    proptest! {
        #[test]
        fn every_password_of_every_run(text in ".{1,32}", run in any::<u32>(), lobby in any::<[u8; 8]>()) {
            let side = (text.as_str(), Door { lobby, ..DOOR });
            let (guest, login) = login(side, u64::from(run));
            let (host, challenge) = answer(side, &login, u64::from(run));
            let proof = guest.finish(&challenge);
            prop_assert_eq!(proof.and_then(|proof| host.check(&proof)), Ok(()));
        }

        #[test]
        fn no_bit_may_change(run in any::<u32>(), bit in 0_usize..256, wide in 0_usize..768, tag in 0_usize..512) {
            let (side, run) = (("open, sesame", DOOR), u64::from(run));
            let (guest, sent) = login(side, run);
            let (host, challenge) = answer(side, &sent, run);
            if let Some(other) = flip(&sent, bit) {
                let (other_host, other_challenge) = answer(side, &other, run);
                let (again, _) = login(side, run);
                prop_assert_eq!(again.finish(&other_challenge), Err(PakeError::Password));
                let (again, _) = login(side, run);
                let proof = again.finish(&challenge).unwrap();
                prop_assert_eq!(other_host.check(&proof), Err(PakeError::Password));
            }
            if let Some(other) = flip(&challenge, wide) {
                let (again, _) = login(side, run);
                prop_assert_eq!(again.finish(&other), Err(PakeError::Password));
            }
            let proof = guest.finish(&challenge).unwrap();
            let other = flip(&proof, tag).unwrap();
            prop_assert_eq!(host.check(&other), Err(PakeError::Password));
            prop_assert_eq!(host.check(&proof), Ok(()));
        }
    }
}
