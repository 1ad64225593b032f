//! Table passwords: guest and host prove to each other that they know the password, without sending it.
//!
//! # Protocol
//! CPACE-RISTR255-SHA512 of draft-irtf-cfrg-cpace-21 (`cpace.rs`) with the key confirmation of section 10.4. The guest
//! is the initiator A, the host the responder B. All messages travel over an encrypted channel that has already
//! authenticated both keys. The draft's inputs are:
//!
//! | input | value |
//! | --- | --- |
//! | PRS | the password, in UTF-8 |
//! | CI | lv_cat(guest's key, host's key, lobby, [`domain::PAKE`]) |
//! | sid | empty |
//! | ADa, ADb | `guest`, `host`; fixed, so they are not sent |
//!
//! 1. Guest: \\(Y_a = y_ag\\). Sent: [`Login`], 32 bytes.
//! 2. Host: \\(Y_b = y_bg\\), \\(K = y_bY_a\\), ISK, and its tag \\(T_b = \\mathrm{HMAC}(\text{mac\_key},
//!    \text{lv\_cat}(Y_b, \text{ADb}))\\). Sent: [`Challenge`] \\((Y_b, T_b)\\), 96 bytes.
//! 3. Guest: \\(K = y_aY_b\\), ISK and \\(T_b\\). Only if the received tag matches: \\(T_a =
//!    \\mathrm{HMAC}(\text{mac\_key}, \text{lv\_cat}(Y_a, \text{ADa}))\\). Sent: [`Proof`], 64 bytes.
//! 4. Host: admits the guest only if the received \\(T_a\\) matches.
//!
//! Bytes that encode no point do not decode as a [`Login`] or [`Challenge`]; the identity aborts the run. The ISK is
//! used only for the tags, since the channel has its own keys.
//!
//! # One guess per run
//! \\(Y_a\\) and \\(Y_b\\) are uniform for every \\(g\\), so they reveal nothing about the password. The tags are MACs
//! under a hash of \\(K\\). Testing a password against a tag therefore requires the matching \\(K\\): the
//! Diffie–Hellman value of the two points *for that password's generator*. An eavesdropper chose neither point and
//! knows \\(K\\) for no password. An active attacker chose one point, \\(Y = yg'\\), and knows its logarithm only for
//! one password's \\(g'\\): generators are hashes, and nobody knows the logarithm of one to the base of another.
//! Abdalla, Haase and Hesse (ASIACRYPT 2021) prove this for CPace, if simultaneous Diffie–Hellman is hard and hashes
//! are random oracles, for runs that agreed on a session id beforehand. The draft allows an empty session id, based on
//! the proof it cites as BGHJ24: the fresh points tell two runs apart.
//!
//! - *A false guest* sees the host's tag before proving anything, and compares it with the tag for its one guess. That
//!   uses up its guess, and it may leave silently. A host must therefore count the logins it answered that led to no
//!   valid proof; counting bad proofs would count nothing.
//! - *A false host* gets \\(Y_a\\) and must send its tag first. If its guess is wrong, the guest stops, and the host
//!   learns only that. [`Guest::finish`] consumes the guest, so one \\(y_a\\) never meets a second challenge.
//! - *A relay in the middle* has a different key on each of its two channels. CI contains the keys, so each side has a
//!   different \\(g\\): messages from one side are useless with the other.
//! - *An echoed* tag fails: ADa and ADb make the two tags differ even if the points are equal.
//!
//! In either order, each side gets one guess per run. This order takes three messages instead of four. Only a guest can
//! test its guess silently, and the host can count and limit its guesses. The guest notices a host's wrong guess, and
//! can tell its user.
//!
//! # Lost messages
//! A guest that gets no answer resends the *same* [`Login`], and later the same [`Proof`]. A host keeps the [`Host`]
//! and the [`Challenge`] of each login it answered, and answers the same login from the same guest with the same
//! challenge. A fresh answer would leave the guest with a proof for a run that the host has forgotten, and would grant
//! one more guess.
//!
//! # What it reveals
//! Both sides learn whether they know the same password. The protocol cannot make a weak password strong: a host that
//! answers without limit can be asked for every word in a list. The password is not stretched, so anyone who reads
//! either side's memory has it.

use std::fmt;

use curve25519_dalek::scalar::Scalar;
use rand_core::CryptoRng;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;
use zeroize::{ZeroizeOnDrop, Zeroizing};

use super::cpace::{self, Share};
use super::group::Point;
use crate::domain;

/// Maximum length of a password, in bytes of UTF-8.
pub const MAX_PASSWORD: usize = 128;

/// A table's password; zeroized when dropped and never printed.
///
/// Passwords compare as exact UTF-8 bytes: nothing is trimmed, and a precomposed é differs from e with a combining
/// accent. Normalization is up to the code that reads a password from a person.
#[derive(Clone, ZeroizeOnDrop)]
pub struct Password(String);

/// A text is not a valid password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PasswordError {
    /// The text is empty; a table without a password asks for none.
    #[error("the password is empty")]
    Empty,
    /// More than [`MAX_PASSWORD`] bytes.
    #[error("the password has {size} bytes, more than the {MAX_PASSWORD} that are allowed")]
    TooLong {
        /// Length of the text, in bytes.
        size: usize,
    },
}

impl Password {
    /// Takes a text of 1 to [`MAX_PASSWORD`] bytes. It takes ownership so that no copy stays behind; a refused text is
    /// zeroized too.
    ///
    /// # Errors
    /// [`PasswordError`] if the text is empty or too long.
    pub fn new(text: String) -> Result<Self, PasswordError> {
        let password = Self(text);
        match password.0.len() {
            0 => Err(PasswordError::Empty),
            size if size > MAX_PASSWORD => Err(PasswordError::TooLong { size }),
            _ => Ok(password),
        }
    }

    /// The password's text, for storage that only its owner can read.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(secret)")
    }
}

/// The guest and the table of a login attempt. Each side fills it in from its *own* knowledge: the keys come from the
/// channel that carries the messages, never from a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Door {
    /// The id of the host's table.
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

/// A 64-byte tag, in halves because serde's arrays stop at 32 bytes.
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
    /// The other side sent the identity point; no honest side does.
    #[error("the other side sent the identity")]
    Identity,
    /// The tag is wrong: the other side has another password or another [`Door`], or a message was altered.
    #[error("the other side did not show that it knows the password")]
    Password,
}

/// The draft's `sid`. The sides agree on no id before a run; the points tell runs apart.
const SID: &[u8] = b"";
/// The draft's `ADa`.
const GUEST: &[u8] = b"guest";
/// The draft's `ADb`.
const HOST: &[u8] = b"host";

/// Draws one side's \\(y\\) and computes \\(yg\\).
fn draw(password: &Password, door: &Door, rng: &mut dyn CryptoRng) -> (Zeroizing<Scalar>, Point) {
    let channel = cpace::lv_cat(&[&door.guest, &door.host, &door.lobby, domain::PAKE.as_bytes()]);
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
    /// Computes the tags from one side's scalar and the other's point. Constant time.
    fn new(secret: &Scalar, other: &Point, login: &Point, answer: &Point) -> Result<Self, PakeError> {
        let shared = cpace::scalar_mult_vfy(secret, other).ok_or(PakeError::Identity)?;
        Ok(Self::of(&shared, login, answer))
    }

    fn of(shared: &[u8; 32], login: &Point, answer: &Point) -> Self {
        let guest = Share { point: login, data: GUEST };
        let host = Share { point: answer, data: HOST };
        let isk = cpace::isk(SID, shared, &cpace::transcript_ir(guest, host));
        let key = cpace::mac_key(SID, &isk);
        Self { host: *cpace::tag(&key, host), guest: *cpace::tag(&key, guest) }
    }
}

/// A guest that has sent its login; \\(y_a\\) is zeroized when dropped. It serves one run, so it is not `Clone`.
#[derive(ZeroizeOnDrop)]
pub struct Guest {
    secret: Scalar,
    #[zeroize(skip)]
    login: Login,
}

impl Guest {
    /// Starts a run. Pass the operating system's RNG; a simulation passes its own.
    ///
    /// The guest may resend the login until it gets an answer. After an answer, good or bad, the next attempt must
    /// start here.
    pub fn start(password: &Password, door: &Door, rng: &mut dyn CryptoRng) -> (Self, Login) {
        let (secret, point) = draw(password, door, rng);
        let login = Login { point };
        let guest = Self { secret: *secret, login };
        (guest, login)
    }

    /// Checks that the host knows the password, and only then proves the same for this guest. The proof may be resent.
    ///
    /// # Errors
    /// [`PakeError`] if the host did not prove it; the guest must then send nothing. The run is over: another challenge
    /// for the same login would give a false host another guess.
    pub fn finish(self, challenge: &Challenge) -> Result<Proof, PakeError> {
        let host = &challenge.point;
        let tags = Tags::new(&self.secret, host, &self.login.point, host)?;
        if !challenge.tag.is(&tags.host) {
            return Err(PakeError::Password);
        }
        Ok(Proof { tag: Tag::new(&tags.guest) })
    }
}

impl fmt::Debug for Guest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Guest(secret)")
    }
}

/// A host that has answered a login. Holds the expected tag, zeroized when dropped.
#[derive(ZeroizeOnDrop)]
pub struct Host {
    expected: [u8; 64],
}

impl Host {
    /// Answers a login, which uses up the guest's guess. The RNG is as for [`Guest::start`].
    ///
    /// The caller keeps both results for as long as this guest may retry, and answers the same login with the same
    /// challenge.
    ///
    /// # Errors
    /// [`PakeError::Identity`] if the login is the identity. Nothing was revealed and no guess was used.
    pub fn answer(
        password: &Password,
        door: &Door,
        login: &Login,
        rng: &mut dyn CryptoRng,
    ) -> Result<(Self, Challenge), PakeError> {
        let (secret, point) = draw(password, door, rng);
        let tags = Tags::new(&secret, &login.point, &login.point, &point)?;
        let host = Self { expected: tags.guest };
        let tag = Tag::new(&tags.host);
        Ok((host, Challenge { point, tag }))
    }

    /// Checks that the guest knows the password. Checking a resent proof gives the same result; a 512-bit tag cannot be
    /// guessed.
    ///
    /// # Errors
    /// [`PakeError::Password`] if the tag is not the expected one.
    pub fn check(&self, proof: &Proof) -> Result<(), PakeError> {
        if proof.tag.is(&self.expected) { Ok(()) } else { Err(PakeError::Password) }
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

    const DOOR: Door = Door { lobby: *b"lobby #1", guest: [1; 32], host: [2; 32] };

    fn password(text: &str) -> Password {
        Password::new(text.to_owned()).unwrap()
    }

    fn rng(number: u64) -> ChaCha20Rng {
        ChaCha20Rng::seed_from_u64(number)
    }

    /// One side's password, and the login attempt as that side knows it.
    type Side<'a> = (&'a str, Door);

    fn login(side: Side<'_>, run: u64) -> (Guest, Login) {
        Guest::start(&password(side.0), &side.1, &mut rng(2 * run))
    }

    fn answer(side: Side<'_>, login: &Login, run: u64) -> (Host, Challenge) {
        Host::answer(&password(side.0), &side.1, login, &mut rng(2 * run + 1)).unwrap()
    }

    /// Both sides refuse; the host refuses even if the guest ignores a wrong tag.
    fn refuse(guest: Side<'_>, host: Side<'_>) {
        let (asks, login) = login(guest, 0);
        let (answers, challenge) = answer(host, &login, 0);
        let answer = &challenge.point;
        let tags = Tags::new(&asks.secret, answer, &login.point, answer).unwrap();
        let forced = Proof { tag: Tag::new(&tags.guest) };
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
            Door { lobby: *b"lobby #2", ..DOOR },
            Door { guest: [3; 32], ..DOOR },
            Door { host: [3; 32], ..DOOR },
            Door { guest: DOOR.host, host: DOOR.guest, ..DOOR },
        ];
        for other in others {
            refuse(("open, sesame", DOOR), ("open, sesame", other));
            refuse(("open, sesame", other), ("open, sesame", DOOR));
        }
    }

    /// With the identity, a false side would know K without any password.
    #[test]
    fn the_identity_is_refused() {
        let identity = Point::identity();
        let password = password("open, sesame");
        let false_knock = Login { point: identity };
        let refused = Host::answer(&password, &DOOR, &false_knock, &mut rng(1));
        assert_eq!(refused.err(), Some(PakeError::Identity));

        let (guest, login) = Guest::start(&password, &DOOR, &mut rng(0));
        let tags = Tags::of(identity.as_bytes(), &login.point, &identity);
        let false_challenge = Challenge { point: identity, tag: Tag::new(&tags.host) };
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

        // The field's prime, which is a non-canonical 0; a negative number; a non-square; a number that is too large.
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

        // Also the tag of one run with the point of another.
        let mixed = Challenge { tag: other_challenge.tag, ..challenge };
        let (again, _) = login(side, 0);
        assert_eq!(again.finish(&mixed), Err(PakeError::Password));
        let (again, _) = login(side, 0);
        assert_eq!(again.finish(&other_challenge), Err(PakeError::Password));

        let proof = guest.finish(&challenge).unwrap();
        let other_proof = other_guest.finish(&other_challenge).unwrap();
        assert_eq!(host.check(&other_proof), Err(PakeError::Password));
        assert_eq!(other_host.check(&proof), Err(PakeError::Password));

        // A fresh answer to the same login starts another run, which refuses the old proof.
        let (fresh, _) = answer(side, &first_knock, 2);
        assert_eq!(fresh.check(&proof), Err(PakeError::Password));
    }

    /// A false host without the password echoes the login's point; a false guest echoes the host's tag.
    #[test]
    fn nothing_is_won_by_echoes() {
        let side = ("open, sesame", DOOR);
        let (guest, first) = login(side, 0);
        let (host, challenge) = answer(side, &first, 0);
        let echo = Proof { tag: challenge.tag };
        assert_eq!(host.check(&echo), Err(PakeError::Password));
        let echo = Challenge { point: first.point, tag: challenge.tag };
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
        assert_eq!(Password::new(wide).err(), Some(PasswordError::TooLong { size: 130 }));
    }

    #[test]
    fn secrets_are_not_printed() {
        let side = ("open, sesame", DOOR);
        let (guest, first) = login(side, 0);
        let (host, _) = answer(side, &first, 0);
        let shown = format!("{:?} {guest:?} {host:?}", password("open, sesame"));
        assert_eq!(shown, "Password(secret) Guest(secret) Host(secret)");
    }

    /// `value` with one bit flipped, if that still decodes.
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
