//! Escrow: a seat's deal key, split among the other seats so they can compute its shares without it.
//!
//! # Making an escrow
//! A deal has one escrow, made before any card is dealt. Seat \\(i\\) with \\(X_i = x_iG\\) splits
//! \\(x_i = \sum_j x_{ij}\\) over its *holders* \\(j\\), the seats outside its own party. It draws all parts but the
//! last from its seed. For each \\(j\\) it publishes \\(X_{ij} = x_{ij}G\\) and the masked part \\(y_{ij} = x_{ij} +
//! \\mathrm{HashToScalar}(\text{label} ‖ \text{table} ‖ \text{deal} ‖ i ‖ j ‖ \text{holders} ‖ K_{ij})\\), where
//! \\(K_{ij} = x_iX_j = x_jX_i\\). This is hashed ElGamal under the key \\(X_j\\), with the key \\(X_i\\) in place of
//! an ephemeral one (Diffie–Hellman 1976, in the form of Bellare and Rogaway, CCS '93). The mask absorbs the list of
//! holders, because a mask reused for two lists would reveal the difference of two parts.
//!
//! # Checking an escrow
//! Anyone can check that the parts are for exactly the holders, that no \\(X_{ij}\\) is the identity, and that
//! \\(\sum_j X_{ij} = X_i\\) ([`check_public`]). Only seat \\(j\\) can unmask its part and check \\(x_{ij}G = X_{ij}\\)
//! ([`open_part`]). If that fails, it publishes \\(K_{ij}\\) with a proof that \\(\log_G X_j = \log_{X_i} K_{ij}\\)
//! (Chaum–Pedersen, CRYPTO '92; `equality.rs`). Anyone can then unmask that part and see which of the two seats is at
//! fault ([`judge`]).
//!
//! # Using an escrow
//! When \\(i\\) is removed, every \\(j\\) publishes \\(x_{ij}A\\) for the requested cards, with one batched proof
//! against \\(X_{ij}\\), as for its own shares ([`PartProof`]). These add up to \\(D_i = x_iA\\) ([`combine`]). Neither
//! \\(x_i\\) nor any part of it is revealed.
//!
//! # Assumptions and leakage
//! The masks hide the parts as long as Diffie–Hellman is hard in the group, with SHA-512 as a random oracle. *Both keys
//! must come with their proof of knowledge* ([`super::key`]). Otherwise \\(i\\) could register the \\(A\\) of a card as
//! its key, and a complaint would be \\(j\\)'s share of that card. With the proof, a complaint tells \\(i\\) only what
//! it could compute itself.
//!
//! All holders together know the key; a coalition that lacks one of them knows nothing of it. A running deal therefore
//! never makes a second escrow: with fewer holders, fewer seats could read the cards dealt before. After the deal, once
//! all holders open their seeds, anyone can unmask their parts. The key of a seat that never opened is then public too,
//! along with the hand it left.
//!
//! A complaint reveals \\(K_{ij}\\), and with it *both* parts that the two seats hold of each other, \\(x_{ij}\\) and
//! \\(x_{ji}\\). The caller must therefore abandon the deal after a complaint.
//!
//! The proofs do not show that a part was random: a seat that splits its own key badly harms only itself.

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

/// Maximum number of parts: one for every other seat of the largest table.
pub const MAX_PARTS: usize = MAX_SEATS - 1;
/// Minimum number of parts: a single holder would receive the key itself.
pub const MIN_PARTS: usize = 2;

/// One published part of a key; 65 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// The seat \\(j\\) that holds the part.
    pub to: Seat,
    /// \\(X_{ij} = x_{ij}G\\).
    pub point: Point,
    /// \\(y_{ij}\\): the part under a mask that only the two seats know.
    pub masked: Response,
}

/// All parts of a key, ordered by holder seat.
pub type Parts = Bounded<Part, MAX_PARTS>;

/// Identifies a holder's statement about an escrow: a complaint, or part shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HolderPlace {
    /// Table, deal, and the seat \\(i\\) whose key is in escrow.
    pub owner: Context,
    /// The seat \\(j\\) that holds a part and makes the statement.
    pub holder: Seat,
    /// The step of the log.
    pub step: u64,
}

impl HolderPlace {
    /// Table, deal and holder.
    fn context(&self) -> Context {
        Context { seat: self.holder, ..self.owner }
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

/// An escrow cannot be made, or a published one fails the public checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EscrowError {
    /// Fewer than [`MIN_PARTS`] holders. In [`check_public`] this is the caller's mistake, not a fault.
    #[error("an escrow with {holders} holders would show the key to one of them")]
    TooFew {
        /// Number of holders.
        holders: usize,
    },
    /// The parts do not match the holders one to one, in order.
    #[error("the parts are not for exactly the holders in order")]
    Seats,
    /// A part's point is the identity, so the other holders would not need this one.
    #[error("the part for {to} is zero")]
    Identity {
        /// The holder of that part.
        to: Seat,
    },
    /// \\(\sum_j X_{ij} \ne X_i\\).
    #[error("the parts do not add up to the key")]
    Sum,
}

/// A holder cannot use its part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PartError {
    /// The list has no part for that seat; impossible after [`check_public`].
    #[error("there is no part for {holder}")]
    Missing {
        /// The holder.
        holder: Seat,
    },
    /// The unmasked value is not the logarithm of \\(X_{ij}\\), so the holder may complain.
    #[error("the part for {holder} does not open")]
    Wrong {
        /// The holder.
        holder: Seat,
    },
}

/// The part shares do not match the part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the proof of the part shares does not hold")]
pub struct PartProofError;

/// A part \\(x_{ij}\\) of another seat's key; zeroized when dropped and never printed.
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

    /// The part share \\(x_{ij}A\\): this part's contribution to the owner's share of a card. Constant time.
    pub fn share(&self, card: &Ciphertext) -> Point {
        (card.a.as_point() * self.scalar).into()
    }
}

impl fmt::Debug for SecretPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretPart(secret)")
    }
}

/// The encoding of \\(K = xY\\), which the owners of \\(x\\) and \\(Y\\) can both compute.
fn shared_key(secret: &SecretKey, other: &Point) -> Zeroizing<[u8; 32]> {
    let point = Zeroizing::new(other.as_point() * secret.scalar());
    Zeroizing::new(point.compress().to_bytes())
}

/// The mask for the part of `to`, in an escrow of the owner's key among `holders`.
//= P3.1
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

/// The derivation context of the parts: other holders or keys give other parts.
fn derivation(holders: &BTreeMap<Seat, Point>) -> Hash32 {
    let hasher = Hasher::new(domain::ESCROW_CONTEXT).number(holders.len() as u64);
    holders
        .iter()
        .fold(hasher, |hasher, (seat, key)| hasher.number(u64::from(seat.number())).bytes(key.as_bytes()))
        .finish()
}

fn enough(holders: usize) -> Result<(), EscrowError> {
    if holders < MIN_PARTS {
        return Err(EscrowError::TooFew { holders });
    }
    Ok(())
}

/// Splits the key `secret` of the seat `owner` among its holders; `holders` maps each to its public key. The same
/// arguments always give the same bytes. Constant time in the key and its parts.
///
/// # Errors
/// [`EscrowError::TooFew`] if there are too few holders, or [`EscrowError::Seats`] if the owner is one of them.
//= T6.8, P1.2
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
        let part = Zeroizing::new(if Some(*to) == last { *rest } else { random_scalar(&mut stream) });
        *rest -= *part;
        let mask = Zeroizing::new(mask(owner, list, *to, &shared_key(secret, key)));
        parts.push(Part { to: *to, point: RistrettoPoint::mul_base(&part).into(), masked: Response(*part + *mask) });
    }
    parts.try_into().map_err(|_| EscrowError::Seats)
}

/// Runs the public checks on the parts of a key: they match the holders in order, none is the identity, and they add up
/// to `key`.
///
/// # Errors
/// [`EscrowError`]; variable time, public inputs.
//= T6.8
pub fn check_public(parts: &[Part], holders: SeatSet, key: &Point) -> Result<(), EscrowError> {
    enough(holders.len())?;
    if !parts.iter().map(|part| part.to).eq(holders.iter()) {
        return Err(EscrowError::Seats);
    }
    if let Some(part) = parts.iter().find(|part| part.point.is_identity()) {
        return Err(EscrowError::Identity { to: part.to });
    }
    let sum: RistrettoPoint = parts.iter().map(|part| part.point.as_point()).sum();
    if sum == *key.as_point() { Ok(()) } else { Err(EscrowError::Sum) }
}

fn part_for(parts: &[Part], holder: Seat) -> Option<&Part> {
    parts.iter().find(|part| part.to == holder)
}

/// Unmasks one part with the encoding of \\(K_{ij}\\), and checks it against \\(X_{ij}\\).
fn unmask(owner: &Context, parts: &[Part], part: &Part, shared: &[u8; 32]) -> Option<SecretPart> {
    let holders = parts.iter().map(|part| part.to).collect();
    let mask = Zeroizing::new(mask(owner, holders, part.to, shared));
    let opened = SecretPart { scalar: part.masked.0 - *mask, point: part.point };
    (RistrettoPoint::mul_base(&opened.scalar) == *part.point.as_point()).then_some(opened)
}

/// Unmasks the part of `holder`, whose key is `secret`, from the escrow of the seat with key `owner_key`. Constant time
/// in the key and the part.
///
/// # Errors
/// [`PartError::Wrong`] if the part does not match its point; the holder then complains ([`Complaint::make`]).
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

/// A holder's claim that its part does not open, with proof; 128 bytes. The module docs say what it reveals.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Complaint {
    /// \\(K_{ij} = x_jX_i\\).
    shared: Point,
    /// \\(\log_G X_j = \log_{X_i} K_{ij}\\).
    proof: EqualityProof,
}

/// The ruling on a complaint. One of the two seats is always at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComplaintRuling {
    /// The complaint's own proof does not hold: the holder's fault.
    BadProof,
    /// The part opens correctly: the holder's fault.
    Unfounded,
    /// The part does not open: the owner's fault.
    BadPart,
}

impl ComplaintRuling {
    /// The seat at fault.
    //= P3.4
    pub fn guilty(self, place: &HolderPlace) -> Seat {
        match self {
            Self::BadProof | Self::Unfounded => place.holder,
            Self::BadPart => place.owner.seat,
        }
    }
}

fn complaint_transcript(place: &HolderPlace, owner_key: &Point, holder_key: &Point, shared: &Point) -> Transcript {
    let mut transcript = place.transcript(domain::proof::COMPLAINT);
    transcript.append_message(domain::proof::PUBLIC_KEY, holder_key.as_bytes());
    transcript.append_message(domain::proof::OWNER_KEY, owner_key.as_bytes());
    transcript.append_message(domain::proof::SHARED_KEY, shared.as_bytes());
    transcript
}

impl Complaint {
    /// Makes a complaint about the owner's part for the holder. `seed` and `secret` belong to the holder. The same
    /// arguments always give the same bytes.
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

    /// Whether \\(K_{ij}\\) is the shared key of the two seats.
    fn holds(&self, place: &HolderPlace, owner_key: &Point, holder_key: &Point) -> bool {
        // The proof alone would also refuse it, since no registered key is the identity.
        if self.shared.is_identity() {
            return false;
        }
        let transcript = complaint_transcript(place, owner_key, holder_key, &self.shared);
        let terms = std::iter::once((Scalar::ONE, owner_key, &self.shared));
        self.proof.holds(transcript, holder_key, terms)
    }
}

/// Rules on a complaint from public data: the registered keys of both seats and the escrow. `parts` must have passed
/// [`check_public`]. Variable time: the complaint makes the part public.
//= T6.9
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
    // The parts match the holders, so a seat without a part has nothing to complain about.
    let Some(part) = part_for(parts, place.holder) else {
        return ComplaintRuling::Unfounded;
    };
    if unmask(&place.owner, parts, part, complaint.shared.as_bytes()).is_some() {
        ComplaintRuling::Unfounded
    } else {
        ComplaintRuling::BadPart
    }
}

/// One proof for all part shares in one entry for one owner; 96 bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartProof(EqualityProof);

//= T6.10
fn part_transcript(place: &HolderPlace, point: &Point) -> Transcript {
    let mut transcript = place.transcript(domain::proof::PARTS);
    transcript.append_message(domain::proof::PUBLIC_KEY, point.as_bytes());
    transcript
}

impl PartProof {
    /// Proves that every share in the list is [`SecretPart::share`] of `part`. `seed` belongs to the holder.
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

    /// Checks that the shares were made with the holder's part in `parts`.
    ///
    /// # Errors
    /// [`PartProofError`] if they were not, or if there is no such part. Variable time, public inputs.
    pub fn verify(&self, place: &HolderPlace, parts: &[Part], shares: &[ShareOf]) -> Result<(), PartProofError> {
        let part = part_for(parts, place.holder).ok_or(PartProofError)?;
        let transcript = part_transcript(place, &part.point);
        if holds_for_list(&self.0, transcript, &part.point, shares) { Ok(()) } else { Err(PartProofError) }
    }
}

/// Adds up the owner's share of one card, \\(D_i = \sum_j x_{ij}A\\), from verified part shares keyed by holder.
/// Returns `None` while a holder's part share is missing.
//= P1.2
pub fn combine(parts: &[Part], shares: &BTreeMap<Seat, Point>) -> Option<Point> {
    let mut sum = RistrettoPoint::default();
    for part in parts {
        sum += shares.get(&part.to)?.as_point();
    }
    Some(sum.into())
}

#[cfg(test)]
mod tests;
