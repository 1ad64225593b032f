//! Escrow: a seat's key in parts that its neighbours hold, so that its shares can be made without it.
//!
//! # Making one
//! A deal has one escrow, made before anything is dealt. Seat \\(i\\) with \\(X_i = x_iG\\) splits
//! \\(x_i = \sum_j x_{ij}\\) over its *holders* \\(j\\), the seats outside its own party, all parts but the last
//! drawn from its seed. For each \\(j\\) it publishes \\(X_{ij} = x_{ij}G\\) and the masked part
//! \\(y_{ij} = x_{ij} + \\mathrm{HashToScalar}(\text{label} ‖ \text{table} ‖ \text{deal} ‖ i ‖ j ‖ \text{holders}
//! ‖ K_{ij})\\), \\(K_{ij} = x_iX_j = x_jX_i\\): hashed ElGamal under the key \\(X_j\\), with the key \\(X_i\\) in
//! place of a fresh one (Diffie–Hellman 1976, in the form of Bellare and Rogaway, CCS '93). The list of holders is in
//! the mask, because a mask that served two lists would show the difference of two parts.
//!
//! # Checking one
//! Anybody: the parts are for exactly the holders, no \\(X_{ij}\\) is the identity, and
//! \\(\sum_j X_{ij} = X_i\\) ([`check_public`]). Seat \\(j\\) alone: \\(x_{ij}G = X_{ij}\\) for what it
//! unmasks ([`open_part`]). If not, it publishes \\(K_{ij}\\) with a proof that
//! \\(\log_G X_j = \log_{X_i} K_{ij}\\) (Chaum–Pedersen, CRYPTO '92; `equality.rs`), by which anybody
//! unmasks that part and sees which of the two is at fault ([`judge`]).
//!
//! # Using one
//! When \\(i\\) is removed every \\(j\\) publishes \\(x_{ij}A\\) for the cards asked for, with one batched
//! proof against \\(X_{ij}\\), as for shares of its own ([`PartProof`]); these add up to
//! \\(D_i = x_iA\\) ([`combine`]). Neither \\(x_i\\) nor any part of it is shown.
//!
//! # What it rests on, and what it gives away
//! The masks hide the parts as long as Diffie–Hellman is hard in the group, with SHA-512 as a random
//! oracle. *Both keys must have come with their proof of knowledge* ([`super::key`]): else \\(i\\)
//! could name the \\(A\\) of a card as its key, and a complaint would be \\(j\\)'s share of that card.
//! With it, a complaint tells \\(i\\) only what it could compute itself.
//!
//! All holders together know the key; a coalition that lacks one of them knows nothing of it. That is why there is no
//! second escrow in a running deal: one among fewer seats would let fewer read what was dealt before. When all
//! holders open their seeds after the deal, everybody can unmask their parts: then the key of a seat that never opened
//! is public too, with the hand that it left.
//!
//! A complaint gives away \\(K_{ij}\\), and with it *both* parts that the two seats hold of each other,
//! \\(x_{ij}\\) and \\(x_{ji}\\). The caller must therefore give the deal up after a complaint.
//!
//! Silent on whether a part was random: a seat that hands out its own key badly harms itself.

use std::collections::BTreeMap;
use std::fmt;

use curve25519_dalek::RistrettoPoint;
use curve25519_dalek::scalar::Scalar;
use merlin::Transcript;
use serde::{Deserialize, Serialize};
use zeroize::{ZeroizeOnDrop, Zeroizing};

use super::elgamal::Ciphertext;
use super::equality::EqualityProof;
use super::group::{Point, Response, hash_to_scalar, random_scalar};
use super::key::SecretKey;
use super::seed::{Context, Seed};
use super::share::{ShareOf, holds_for_list, prove_list};
use crate::domain;
use crate::hash::{Hash32, Hasher};
use crate::seat::{MAX_SEATS, Seat, SeatSet};
use crate::wire::bounded::Bounded;

/// The most parts a key has: one for every other seat of the largest table.
pub const MAX_PARTS: usize = MAX_SEATS - 1;
/// The fewest: a single holder would be handed the key itself.
pub const MIN_PARTS: usize = 2;

/// One part of a key, as it is published; 65 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// The seat \\(j\\) that holds it.
    pub to: Seat,
    /// \\(X_{ij} = x_{ij}G\\).
    pub point: Point,
    /// \\(y_{ij}\\): the part under the mask that only the two seats know.
    pub masked: Response,
}

/// All parts of a key, in the order of the seats that hold them.
pub type Parts = Bounded<Part, MAX_PARTS>;

/// Where something stands that a holder says of an escrow: a complaint, or part shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HolderPlace {
    /// Table, deal, and the seat \\(i\\) whose key is in escrow.
    pub owner: Context,
    /// The seat \\(j\\) that holds a part of it, and speaks.
    pub holder: Seat,
    /// The step of the log.
    pub step: u64,
}

impl HolderPlace {
    /// Table, deal and the holder.
    fn context(&self) -> Context {
        Context {
            seat: self.holder,
            ..self.owner
        }
    }

    /// A transcript that has absorbed every field.
    fn transcript(&self, label: &'static [u8]) -> Transcript {
        let owner = self.owner.seat;
        let mut transcript = self.context().transcript(label);
        transcript.append_u64(domain::proof::STEP, self.step);
        transcript.append_u64(domain::proof::OWNER, u64::from(owner.number()));
        transcript
    }
}

/// An escrow cannot be made, or one that was published is refused by anybody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EscrowError {
    /// Fewer than [`MIN_PARTS`] holders. In [`check_public`] the caller's mistake, no fault.
    #[error("an escrow with {holders} holders would show the key to one of them")]
    TooFew {
        /// How many holders there are.
        holders: usize,
    },
    /// The parts are not one for each holder, in order.
    #[error("the parts are not for exactly the holders in order")]
    Seats,
    /// A part whose point is the identity: its holder would not be needed.
    #[error("the part for {to} is zero")]
    Identity {
        /// Owner of the escrow.
        to: Seat,
    },
    /// \\(\sum_j X_{ij} \ne X_i\\).
    #[error("the parts do not add up to the key")]
    Sum,
}

/// A holder cannot use its part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PartError {
    /// The list has no part for that seat; never so after [`check_public`].
    #[error("there is no part for {holder}")]
    Missing {
        /// The seat.
        holder: Seat,
    },
    /// The unmasked value is not the logarithm of \\(X_{ij}\\): a reason to complain.
    #[error("the part for {holder} does not open")]
    Wrong {
        /// The seat.
        holder: Seat,
    },
}

/// The part shares do not answer to the part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the proof of the part shares does not hold")]
pub struct PartProofError;

/// Another seat's \\(x_{ij}\\), held for it; zeroized when dropped and never shown.
#[derive(Clone, ZeroizeOnDrop)]
pub struct SecretPart {
    scalar: Scalar,
    #[zeroize(skip)]
    point: Point,
}

impl SecretPart {
    /// \\(X_{ij} = x_{ij}G\\).
    pub fn point(&self) -> &Point {
        &self.point
    }

    /// \\(x_{ij}A\\), this part's summand of the owner's share of a card. Constant time.
    pub fn share(&self, card: &Ciphertext) -> Point {
        (card.a.as_point() * self.scalar).into()
    }
}

impl fmt::Debug for SecretPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretPart(secret)")
    }
}

/// The encoding of \\(K = xY\\), which the owner of \\(x\\) and the owner of \\(Y\\) can compute.
fn shared_key(secret: &SecretKey, other: &Point) -> Zeroizing<[u8; 32]> {
    let point = Zeroizing::new(other.as_point() * secret.scalar());
    Zeroizing::new(point.compress().to_bytes())
}

/// The mask of the part for `to` in an escrow of the owner's key among these holders.
fn mask(owner: &Context, holders: SeatSet, to: Seat, shared: &[u8; 32]) -> Scalar {
    let number = |field: u64| field.to_le_bytes();
    let Context { table, deal, seat } = owner;
    hash_to_scalar(
        domain::ESCROW_MASK,
        &[
            table.as_bytes(),
            &number(u64::from(*deal)),
            &number(u64::from(seat.number())),
            &number(u64::from(to.number())),
            &number(u64::from(u8::from(holders))),
            shared,
        ],
    )
}

/// Context that the parts are derived for: other holders or keys give other parts.
fn derivation(holders: &BTreeMap<Seat, Point>) -> Hash32 {
    let hasher = Hasher::new(domain::ESCROW_CONTEXT).number(holders.len() as u64);
    holders
        .iter()
        .fold(hasher, |hasher, (seat, key)| {
            hasher
                .number(u64::from(seat.number()))
                .bytes(key.as_bytes())
        })
        .finish()
}

fn enough(holders: usize) -> Result<(), EscrowError> {
    if holders < MIN_PARTS {
        return Err(EscrowError::TooFew { holders });
    }
    Ok(())
}

/// Splits the key `secret` of the seat `owner` over its holders, given with their keys.
/// The same arguments always give the same bytes; constant time in the key and its parts.
///
/// # Errors
/// [`EscrowError::TooFew`] holders, or [`EscrowError::Seats`] if the seat itself is one of them.
pub fn split(
    seed: &Seed,
    owner: &Context,
    secret: &SecretKey,
    holders: &BTreeMap<Seat, Point>,
) -> Result<Parts, EscrowError> {
    enough(holders.len())?;
    if holders.contains_key(&owner.seat) {
        return Err(EscrowError::Seats);
    }
    let about = derivation(holders);
    let mut stream = seed.stream(owner, domain::purpose::ESCROW, about.as_bytes());
    let last = holders.last_key_value().map(|(seat, _)| *seat);
    let list: SeatSet = holders.keys().copied().collect();
    let mut rest = Zeroizing::new(*secret.scalar());
    let mut parts = Vec::with_capacity(holders.len());
    for (to, key) in holders {
        let part = Zeroizing::new(if Some(*to) == last {
            *rest
        } else {
            random_scalar(&mut stream)
        });
        *rest -= *part;
        let mask = Zeroizing::new(mask(owner, list, *to, &shared_key(secret, key)));
        parts.push(Part {
            to: *to,
            point: RistrettoPoint::mul_base(&part).into(),
            masked: Response(*part + *mask),
        });
    }
    parts.try_into().map_err(|_| EscrowError::Seats)
}

/// Checks what anybody can check of the parts of a key: that they are for exactly these holders, in order; that none is
/// nothing; and that they add up to `key`.
///
/// # Errors
/// [`EscrowError`]; variable time, public inputs.
pub fn check_public(parts: &[Part], holders: SeatSet, key: &Point) -> Result<(), EscrowError> {
    enough(holders.len())?;
    if !parts.iter().map(|part| part.to).eq(holders.iter()) {
        return Err(EscrowError::Seats);
    }
    if let Some(part) = parts.iter().find(|part| part.point.is_identity()) {
        return Err(EscrowError::Identity { to: part.to });
    }
    let sum: RistrettoPoint = parts.iter().map(|part| part.point.as_point()).sum();
    if sum == *key.as_point() {
        Ok(())
    } else {
        Err(EscrowError::Sum)
    }
}

fn part_for(parts: &[Part], holder: Seat) -> Option<&Part> {
    parts.iter().find(|part| part.to == holder)
}

/// Unmasks one of the parts with the encoding of \\(K_{ij}\\), and compares with \\(X_{ij}\\).
fn unmask(owner: &Context, parts: &[Part], part: &Part, shared: &[u8; 32]) -> Option<SecretPart> {
    let holders = parts.iter().map(|part| part.to).collect();
    let mask = Zeroizing::new(mask(owner, holders, part.to, shared));
    let opened = SecretPart {
        scalar: part.masked.0 - *mask,
        point: part.point,
    };
    (RistrettoPoint::mul_base(&opened.scalar) == *part.point.as_point()).then_some(opened)
}

/// Takes the part of `holder`, whose key `secret` is, out of an escrow of the seat with the key
/// `owner_key`. Constant time in the key and the part.
///
/// # Errors
/// [`PartError::Wrong`] if it is not what the owner said: then the holder complains
/// ([`Complaint::make`]).
pub fn open_part(
    owner: &Context,
    holder: Seat,
    secret: &SecretKey,
    owner_key: &Point,
    parts: &[Part],
) -> Result<SecretPart, PartError> {
    let part = part_for(parts, holder).ok_or(PartError::Missing { holder })?;
    unmask(owner, parts, part, &shared_key(secret, owner_key)).ok_or(PartError::Wrong { holder })
}

/// A holder says that its part does not open, and shows by what: 128 bytes. The head of the module
/// says what it gives away.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Complaint {
    /// \\(K_{ij} = x_jX_i\\).
    shared: Point,
    /// \\(\log_G X_j = \log_{X_i} K_{ij}\\).
    proof: EqualityProof,
}

/// Outcome of a complaint. One of the two seats is always at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComplaintRuling {
    /// The complaint's own proof does not hold: the holder's fault.
    BadProof,
    /// The part opens as it should: the holder's fault.
    Unfounded,
    /// The part does not open: the owner's fault.
    BadPart,
}

impl ComplaintRuling {
    /// The seat at fault.
    pub fn guilty(self, place: &HolderPlace) -> Seat {
        match self {
            Self::BadProof | Self::Unfounded => place.holder,
            Self::BadPart => place.owner.seat,
        }
    }
}

fn complaint_transcript(
    place: &HolderPlace,
    owner_key: &Point,
    holder_key: &Point,
    shared: &Point,
) -> Transcript {
    let mut transcript = place.transcript(domain::proof::COMPLAINT);
    transcript.append_message(domain::proof::PUBLIC_KEY, holder_key.as_bytes());
    transcript.append_message(domain::proof::OWNER_KEY, owner_key.as_bytes());
    transcript.append_message(domain::proof::SHARED_KEY, shared.as_bytes());
    transcript
}

impl Complaint {
    /// Complains of the owner's part for the seat with `secret`. Seed and key are the holder's.
    /// The same arguments always give the same bytes.
    pub fn make(seed: &Seed, place: &HolderPlace, secret: &SecretKey, owner_key: &Point) -> Self {
        let shared = Point::from(owner_key.as_point() * secret.scalar());
        let proof = EqualityProof::prove(
            seed,
            &place.context(),
            domain::purpose::COMPLAINT_PROOF,
            complaint_transcript(place, owner_key, &secret.public(), &shared),
            secret.scalar(),
            owner_key.as_point(),
        );
        Self { shared, proof }
    }

    /// Whether \\(K_{ij}\\) is what it is said to be.
    fn holds(&self, place: &HolderPlace, owner_key: &Point, holder_key: &Point) -> bool {
        // The proof alone refuses it too, since no registered key is the identity.
        if self.shared.is_identity() {
            return false;
        }
        let transcript = complaint_transcript(place, owner_key, holder_key, &self.shared);
        let terms = std::iter::once((Scalar::ONE, owner_key, &self.shared));
        self.proof.holds(transcript, holder_key, terms)
    }
}

/// Judges a complaint about one of `parts`, which have passed [`check_public`], from what everybody
/// knows: the registered keys of both seats and the escrow. Variable time: with the complaint the
/// part is public.
pub fn judge(
    complaint: &Complaint,
    place: &HolderPlace,
    owner_key: &Point,
    holder_key: &Point,
    parts: &[Part],
) -> ComplaintRuling {
    if !complaint.holds(place, owner_key, holder_key) {
        return ComplaintRuling::BadProof;
    }
    // The parts are for the right seats, so whoever has none had none to complain of.
    let Some(part) = part_for(parts, place.holder) else {
        return ComplaintRuling::Unfounded;
    };
    if unmask(&place.owner, parts, part, complaint.shared.as_bytes()).is_some() {
        ComplaintRuling::Unfounded
    } else {
        ComplaintRuling::BadPart
    }
}

/// One proof for all part shares of one entry and one owner, 96 bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartProof(EqualityProof);

fn part_transcript(place: &HolderPlace, point: &Point) -> Transcript {
    let mut transcript = place.transcript(domain::proof::PARTS);
    transcript.append_message(domain::proof::PUBLIC_KEY, point.as_bytes());
    transcript
}

impl PartProof {
    /// Proves that every share of the list is [`SecretPart::share`] of `part`. The seed is the holder's.
    pub fn prove(seed: &Seed, place: &HolderPlace, part: &SecretPart, shares: &[ShareOf]) -> Self {
        Self(prove_list(
            seed,
            &place.context(),
            domain::purpose::PART_PROOF,
            part_transcript(place, &part.point),
            &part.scalar,
            shares,
        ))
    }

    /// Checks that the shares were made with the part of `parts` that the holder has.
    ///
    /// # Errors
    /// [`PartProofError`] if they were not, or there is no such part. Variable time, public inputs.
    pub fn verify(
        &self,
        place: &HolderPlace,
        parts: &[Part],
        shares: &[ShareOf],
    ) -> Result<(), PartProofError> {
        let part = part_for(parts, place.holder).ok_or(PartProofError)?;
        let transcript = part_transcript(place, &part.point);
        if holds_for_list(&self.0, transcript, &part.point, shares) {
            Ok(())
        } else {
            Err(PartProofError)
        }
    }
}

/// The owner's share of one card, \\(D_i = \sum_j x_{ij}A\\), from verified part shares of that card by
/// holder; `None` while one of the holders has not published its own.
pub fn combine(parts: &[Part], shares: &BTreeMap<Seat, Point>) -> Option<Point> {
    let mut sum = RistrettoPoint::default();
    for part in parts {
        sum += shares.get(&part.to)?.as_point();
    }
    Some(sum.into())
}

#[cfg(test)]
mod tests;
