//! A table's password: guest and host show each other that they know it, and neither sends it.
//!
//! # Protocol
//! CPace (Haase and Labrique, CHES 2019; draft-irtf-cfrg-cpace) over Ristretto255, with confirmation
//! by both sides. All of it travels over a channel that is encrypted and knows both keys already.
//! \\(\text{door} = \text{lobby} ‖ \text{guest's key} ‖ \text{host's key}\\):
//! 1. Both: \\(g = \\mathrm{HashToGroup}(\text{label} ‖ \text{password} ‖ \text{door})\\).
//! 2. Guest: \\(Y_a = y_ag\\) for a fresh \\(y_a \ne 0\\). Sent: [`Knock`], 32 bytes.
//! 3. Host: \\(Y_b = y_bg\\) for a fresh \\(y_b \ne 0\\), \\(K = y_bY_a\\),
//!    \\(s = \\mathrm{SHA256}(\text{label} ‖ \text{door} ‖ K ‖ Y_a ‖ Y_b)\\) and
//!    \\(t_b = \\mathrm{SHA256}(\text{label of the host} ‖ s)\\). Sent: [`Challenge`]
//!    \\((Y_b, t_b)\\), 64 bytes.
//! 4. Guest: \\(K = y_aY_b\\), and from it \\(s\\) and \\(t_b\\). Only if that is what came,
//!    \\(t_a = \\mathrm{SHA256}(\text{label of the guest} ‖ s)\\). Sent: [`Proof`], 32 bytes.
//! 5. Host: lets the guest in only if that \\(t_a\\) came.
//!
//! The identity is refused in place of \\(Y_a\\) and \\(Y_b\\): with it everybody knows \\(K\\). In a
//! group of prime order it is the only such point. Fields are encoded as everywhere in this crate, the
//! draft's session id is left out (the points and the door are in \\(s\\)) and \\(s\\) serves for
//! nothing but the tags, so this speaks with no other implementation.
//!
//! # One password a try
//! \\(Y_a\\) and \\(Y_b\\) are uniform whatever \\(g\\) is, so they say nothing of the password, and
//! the tags are hashes of \\(K\\). Whoever wants to test a password against a tag must therefore
//! know the \\(K\\) that it leads to, which is the Diffie–Hellman value of the two points *for the
//! generator of that password*. Who only listens chose neither point and knows \\(K\\) for none of
//! them. Who takes part chose one, \\(Y = yg'\\), and knows its logarithm for the \\(g'\\) of one
//! password only: generators are hashes, nobody knows the logarithm of one for another. Abdalla, Haase
//! and Hesse (ASIACRYPT 2021) prove this of CPace if simultaneous Diffie–Hellman is hard and hashes are
//! random oracles, for runs that have agreed on a session id before; the draft recommends one and lets
//! it be empty. Here the fresh points tell two runs through one door apart.
//!
//! - *A false guest* sees the host's tag before it has shown anything, and compares it with that of
//!   its one guess. That is its try, and it may go away without a word. So a host must count the knocks
//!   that it answered and that led to no good proof; counting bad proofs would count nothing.
//! - *A false host* gets \\(Y_a\\) and must send its tag first. If its guess was wrong the guest stops,
//!   and it has learnt just that. [`Guest::finish`] takes the guest away with it, so that no second
//!   challenge is tried on one \\(y_a\\).
//! - *A middleman* has a key of its own on each of its two channels, and so has each side another
//!   \\(g\\): what one of them sends is of no use with the other.
//!
//! In either order each side has one try a run. In this one there are three messages and not four, and
//! only a guest can test its guess in silence, whose tries the host can count and limit. That a host
//! guessed wrong the guest sees, and can tell its owner.
//!
//! # What is lost on the way
//! A guest that hears nothing sends the *same* [`Knock`] again, and later the same [`Proof`]. A host
//! keeps the [`Host`] and the [`Challenge`] of each knock that it answered, and answers the same knock
//! of the same guest with the same challenge. Answering it afresh would leave the guest with a proof for
//! a run that the host has forgotten; each fresh answer is one more try.
//!
//! # What it gives away
//! Whether both know the same password, to both. Silent on how good it is: a host that answers without
//! limit is asked for every word of a list. The password is not stretched; who reads it in the memory
//! of a side has it.

use std::fmt;

use curve25519_dalek::RistrettoPoint;
use curve25519_dalek::scalar::Scalar;
use rand_core::CryptoRng;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;
use zeroize::{ZeroizeOnDrop, Zeroizing};

use super::group::{Point, hash_to_group, random_scalar};
use crate::domain;
use crate::hash::{Hash32, Hasher};

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
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(secret)")
    }
}

/// Who knocks where. Both sides fill it in from what *they* know: the keys are those of the channel that
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
pub struct Knock {
    point: Point,
}

/// The second message, host to guest: \\((Y_b, t_b)\\), 64 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Challenge {
    point: Point,
    tag: Hash32,
}

/// The third message, guest to host: \\(t_a\\), 32 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    tag: Hash32,
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

/// \\(g\\). Who saw it could test any number of passwords, so it is zeroized like the password.
fn generator(password: &Password, door: &Door) -> Zeroizing<RistrettoPoint> {
    Zeroizing::new(hash_to_group(
        domain::PAKE_GENERATOR,
        &[password.0.as_bytes(), &door.lobby, &door.guest, &door.host],
    ))
}

/// A scalar other than 0, which would give the identity.
fn draw(mut rng: &mut dyn CryptoRng) -> Zeroizing<Scalar> {
    loop {
        let scalar = Zeroizing::new(random_scalar(&mut rng));
        if *scalar != Scalar::ZERO {
            return scalar;
        }
    }
}

/// Both tags of a run.
#[derive(ZeroizeOnDrop)]
struct Tags {
    host: [u8; 32],
    guest: [u8; 32],
}

impl Tags {
    /// From \\(K = y_aY_b = y_bY_a\\), of which one side knows the first factor and the other the
    /// second. Constant time.
    fn new(door: &Door, shared: &RistrettoPoint, knock: &Point, answer: &Point) -> Self {
        let shared = Zeroizing::new(shared.compress().to_bytes());
        let session = Zeroizing::new(
            Hasher::new(domain::PAKE_SESSION)
                .bytes(&door.lobby)
                .bytes(&door.guest)
                .bytes(&door.host)
                .bytes(shared.as_ref())
                .bytes(knock.as_bytes())
                .bytes(answer.as_bytes())
                .finish()
                .0,
        );
        let tag = |label| Hasher::new(label).bytes(session.as_ref()).finish().0;
        Self {
            host: tag(domain::PAKE_HOST),
            guest: tag(domain::PAKE_GUEST),
        }
    }
}

/// A guest that has knocked; \\(y_a\\) is zeroized when it is dropped. One run: it cannot be cloned.
#[derive(ZeroizeOnDrop)]
pub struct Guest {
    secret: Scalar,
    #[zeroize(skip)]
    knock: Knock,
    #[zeroize(skip)]
    door: Door,
}

impl Guest {
    /// Begins a run. The RNG must be the operating system's, or in a simulation one of its own.
    ///
    /// The knock may be sent again for as long as no answer came. After an answer, good or bad, the
    /// next try begins here.
    pub fn start(password: &Password, door: &Door, rng: &mut dyn CryptoRng) -> (Self, Knock) {
        let secret = draw(rng);
        let knock = Knock {
            point: (*generator(password, door) * *secret).into(),
        };
        let guest = Self {
            secret: *secret,
            knock,
            door: *door,
        };
        (guest, knock)
    }

    /// Checks that the host knows the password, and only then shows that this guest does. The proof
    /// may be sent again.
    ///
    /// # Errors
    /// [`PakeError`] if the host did not show it; nothing must be sent then. The run is over: another
    /// challenge for the same knock would be another try for a false host.
    pub fn finish(self, challenge: &Challenge) -> Result<Proof, PakeError> {
        if challenge.point.is_identity() {
            return Err(PakeError::Identity);
        }
        let shared = Zeroizing::new(challenge.point.as_point() * self.secret);
        let tags = Tags::new(&self.door, &shared, &self.knock.point, &challenge.point);
        if !bool::from(tags.host.ct_eq(challenge.tag.as_bytes())) {
            return Err(PakeError::Password);
        }
        Ok(Proof {
            tag: Hash32(tags.guest),
        })
    }
}

impl fmt::Debug for Guest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Guest(secret)")
    }
}

/// A host that has answered a knock: the tag that it waits for, zeroized when it is dropped.
#[derive(ZeroizeOnDrop)]
pub struct Host {
    expected: [u8; 32],
}

impl Host {
    /// Answers a knock: from now on the guest has had its try. The RNG as for [`Guest::start`].
    ///
    /// The caller keeps both for as long as this guest may come back, and sends this same challenge if
    /// the same knock comes again.
    ///
    /// # Errors
    /// [`PakeError::Identity`] if the knock is the identity. Then nothing was told and no try was had.
    pub fn answer(
        password: &Password,
        door: &Door,
        knock: &Knock,
        rng: &mut dyn CryptoRng,
    ) -> Result<(Self, Challenge), PakeError> {
        if knock.point.is_identity() {
            return Err(PakeError::Identity);
        }
        let secret = draw(rng);
        let point = Point::from(*generator(password, door) * *secret);
        let shared = Zeroizing::new(knock.point.as_point() * *secret);
        let tags = Tags::new(door, &shared, &knock.point, &point);
        let host = Self {
            expected: tags.guest,
        };
        let tag = Hash32(tags.host);
        Ok((host, Challenge { point, tag }))
    }

    /// Checks that the guest knows the password. A proof that comes twice is checked twice with the same
    /// outcome; there is no telling a tag of 256 bits by trying.
    ///
    /// # Errors
    /// [`PakeError::Password`] if it is not the tag expected.
    pub fn check(&self, proof: &Proof) -> Result<(), PakeError> {
        if bool::from(self.expected.ct_eq(proof.tag.as_bytes())) {
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

    /// What each side has and thinks.
    type Side<'a> = (&'a str, Door);

    fn knock(side: Side<'_>, run: u64) -> (Guest, Knock) {
        Guest::start(&password(side.0), &side.1, &mut rng(2 * run))
    }

    fn answer(side: Side<'_>, knock: &Knock, run: u64) -> (Host, Challenge) {
        Host::answer(&password(side.0), &side.1, knock, &mut rng(2 * run + 1)).unwrap()
    }

    /// Both sides refuse, the host although the guest goes on in spite of a wrong tag.
    fn refuse(guest: Side<'_>, host: Side<'_>) {
        let (asks, knock) = knock(guest, 0);
        let (answers, challenge) = answer(host, &knock, 0);
        let shared = challenge.point.as_point() * asks.secret;
        let tags = Tags::new(&guest.1, &shared, &knock.point, &challenge.point);
        let forced = Proof {
            tag: Hash32(tags.guest),
        };
        assert_eq!(answers.check(&forced), Err(PakeError::Password));
        assert_eq!(asks.finish(&challenge), Err(PakeError::Password));
    }

    #[test]
    fn both_know_it() {
        let (guest, knock) = knock(("open, sesame", DOOR), 0);
        let (host, challenge) = answer(("open, sesame", DOOR), &knock, 0);
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
        let nobody = RistrettoPoint::default();
        let password = password("open, sesame");
        let false_knock = Knock { point: identity };
        let refused = Host::answer(&password, &DOOR, &false_knock, &mut rng(1));
        assert_eq!(refused.err(), Some(PakeError::Identity));

        let (guest, knock) = Guest::start(&password, &DOOR, &mut rng(0));
        let tags = Tags::new(&DOOR, &nobody, &knock.point, &identity);
        let false_challenge = Challenge {
            point: identity,
            tag: Hash32(tags.host),
        };
        assert_eq!(guest.finish(&false_challenge), Err(PakeError::Identity));
    }

    #[test]
    fn only_canonical_points_and_whole_messages() {
        let (guest, knock) = knock(("open, sesame", DOOR), 0);
        let (_, challenge) = answer(("open, sesame", DOOR), &knock, 0);
        let proof = guest.finish(&challenge).unwrap();
        assert_eq!(decode::<Knock>(&encode(&knock), 32), Ok(knock));
        assert_eq!(decode::<Challenge>(&encode(&challenge), 64), Ok(challenge));
        assert_eq!(decode::<Proof>(&encode(&proof), 32), Ok(proof));

        // The field's prime, which is 0 once more; a negative number; no square; too large a number.
        let mut prime = [0xff; 32];
        (prime[0], prime[31]) = (0xed, 0x7f);
        let mut one = [0; 32];
        one[0] = 1;
        let mut two = [0; 32];
        two[0] = 2;
        for bytes in [prime, one, two, [0xff; 32]] {
            assert!(decode::<Knock>(&bytes, 32).is_err());
            assert!(decode::<Challenge>(&[bytes, [0; 32]].concat(), 64).is_err());
        }
        assert!(decode::<Knock>(&encode(&knock)[..31], 32).is_err());
        assert!(decode::<Challenge>(&encode(&challenge)[..63], 64).is_err());
    }

    #[test]
    fn tags_of_another_run() {
        let side = ("open, sesame", DOOR);
        let (guest, first_knock) = knock(side, 0);
        let (other_guest, second_knock) = knock(side, 1);
        assert_ne!(first_knock, second_knock);
        let (host, challenge) = answer(side, &first_knock, 0);
        let (other_host, other_challenge) = answer(side, &second_knock, 1);

        // The tag of one run with the point of the other, too.
        let mixed = Challenge {
            tag: other_challenge.tag,
            ..challenge
        };
        let (again, _) = knock(side, 0);
        assert_eq!(again.finish(&mixed), Err(PakeError::Password));
        let (again, _) = knock(side, 0);
        assert_eq!(again.finish(&other_challenge), Err(PakeError::Password));

        let proof = guest.finish(&challenge).unwrap();
        let other_proof = other_guest.finish(&other_challenge).unwrap();
        assert_eq!(host.check(&other_proof), Err(PakeError::Password));
        assert_eq!(other_host.check(&proof), Err(PakeError::Password));

        // The same knock answered afresh is another run, to which the old proof is none.
        let (fresh, _) = answer(side, &first_knock, 2);
        assert_eq!(fresh.check(&proof), Err(PakeError::Password));
    }

    /// A false host without the password sends back what it got; a false guest, the host's tag.
    #[test]
    fn nothing_is_won_by_echoes() {
        let side = ("open, sesame", DOOR);
        let (guest, first) = knock(side, 0);
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
        let (guest, first) = knock(side, 0);
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
            let (guest, knock) = knock(side, u64::from(run));
            let (host, challenge) = answer(side, &knock, u64::from(run));
            let proof = guest.finish(&challenge);
            prop_assert_eq!(proof.and_then(|proof| host.check(&proof)), Ok(()));
        }

        #[test]
        fn no_bit_may_change(run in any::<u32>(), bit in 0_usize..256, wide in 0_usize..512) {
            let (side, run) = (("open, sesame", DOOR), u64::from(run));
            let (guest, sent) = knock(side, run);
            let (host, challenge) = answer(side, &sent, run);
            if let Some(other) = flip(&sent, bit) {
                let (other_host, other_challenge) = answer(side, &other, run);
                let (again, _) = knock(side, run);
                prop_assert_eq!(again.finish(&other_challenge), Err(PakeError::Password));
                let (again, _) = knock(side, run);
                let proof = again.finish(&challenge).unwrap();
                prop_assert_eq!(other_host.check(&proof), Err(PakeError::Password));
            }
            if let Some(other) = flip(&challenge, wide) {
                let (again, _) = knock(side, run);
                prop_assert_eq!(again.finish(&other), Err(PakeError::Password));
            }
            let proof = guest.finish(&challenge).unwrap();
            let other = flip(&proof, bit).unwrap();
            prop_assert_eq!(host.check(&other), Err(PakeError::Password));
            prop_assert_eq!(host.check(&proof), Ok(()));
        }
    }
}
