//! The public state of one deal: commitments, keys, sealed decks with their shares, coins, and the record of everything
//! that an opened seed must reproduce.
//!
//! Over 600 lines: one type owns everything that a deal has published, so that no other code changes it.

use std::collections::BTreeMap;
use std::sync::Arc;

use curve25519_dalek::RistrettoPoint;

use super::batch::check_deck;
use super::broken::Broken;
use super::fault::OpeningFault;
use crate::card::{DeckId, Face, Faces, Handle};
use crate::crypto::coin::{CoinChain, CoinTip};
use crate::crypto::elgamal::{self, CardPoints, Ciphertext, SealedCards};
use crate::crypto::escrow::{self, HolderPlace, PartProof, Parts};
use crate::crypto::group::Point;
use crate::crypto::key::{KeyProof, SecretKey};
use crate::crypto::reproduce::Reproduction;
use crate::crypto::seed::{Context, Seed};
use crate::crypto::share::{ShareOf, SharePlace, ShareProof, share};
use crate::crypto::shuffle::{self, Attempt, ShufflePlace, ShuffleProof};
use crate::domain;
use crate::hash::{Hash32, Hasher};
use crate::log::body::{MAX_SHARES, Shuffled};
use crate::seat::{Seat, SeatSet};

/// A deck that every seat has shuffled.
#[derive(Clone, Debug)]
struct SealedDeck {
    points: Arc<CardPoints>,
    cards: SealedCards,
    /// The seats whose keys it is sealed under.
    holders: SeatSet,
    /// The shares published so far, by position and seat.
    shares: Vec<Arc<BTreeMap<Seat, Point>>>,
}

/// A deck that the seats are shuffling one after the other.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) deck: DeckId,
    /// The cards of the deck.
    faces: Vec<Face>,
    points: Arc<CardPoints>,
    cards: SealedCards,
    holders: SeatSet,
    attempt: Attempt,
    /// The seats that have shuffled it.
    done: SeatSet,
    /// The last shuffler's entry.
    last: Option<Hash32>,
}

/// A value that a seat published, to be recomputed from its seed.
#[derive(Clone, Debug)]
enum Made {
    Shares {
        place: SharePlace,
        shares: Vec<ShareOf>,
        proof: Box<ShareProof>,
    },
    Shuffle {
        place: ShufflePlace,
        /// The joint key that seals the output.
        key: Point,
        input: SealedCards,
        output: SealedCards,
        proof: ShuffleProof,
    },
    Tip {
        chain: u32,
        tip: Hash32,
    },
    Parts {
        place: HolderPlace,
        owner_key: Point,
        parts: Arc<Parts>,
        shares: Vec<ShareOf>,
        proof: Box<PartProof>,
    },
    Escrow {
        holders: BTreeMap<Seat, Point>,
        parts: Arc<Parts>,
    },
}

/// One deal. Tables remember the states before their last steps, so what is large and never changes is shared by clones.
#[derive(Clone, Debug)]
pub(super) struct Deal {
    table: Hash32,
    number: u32,
    deck_name: &'static str,
    commitments: BTreeMap<Seat, Hash32>,
    keys: BTreeMap<Seat, (Point, KeyProof)>,
    joint: Point,
    /// The escrowed parts of each key.
    escrows: BTreeMap<Seat, Arc<Parts>>,
    /// The seats that have departed since they registered a key.
    gone: SeatSet,
    tips: BTreeMap<Seat, CoinTip>,
    flips: u32,
    decks: Vec<SealedDeck>,
    /// The seat to which each card was dealt.
    owners: BTreeMap<Handle, Seat>,
    made: BTreeMap<Seat, Vec<Arc<Made>>>,
    /// The step in which its first deck was sealed, if that was before the deal began.
    sealed_ahead: Option<u64>,
}

impl Deal {
    pub(super) fn new(table: Hash32, number: u32, deck_name: &'static str) -> Self {
        Self {
            table,
            number,
            deck_name,
            commitments: BTreeMap::new(),
            keys: BTreeMap::new(),
            joint: Point::identity(),
            escrows: BTreeMap::new(),
            gone: SeatSet::EMPTY,
            tips: BTreeMap::new(),
            flips: 0,
            decks: Vec::new(),
            owners: BTreeMap::new(),
            made: BTreeMap::new(),
            sealed_ahead: None,
        }
    }

    pub(super) fn number(&self) -> u32 {
        self.number
    }

    /// The step in which its first deck was sealed, if that was before the deal began.
    pub(super) fn sealed_ahead(&self) -> Option<u64> {
        self.sealed_ahead
    }

    pub(super) fn set_sealed_ahead(&mut self, step: u64) {
        self.sealed_ahead = Some(step);
    }

    pub(super) fn flips(&self) -> u32 {
        self.flips
    }

    pub(super) fn deck_count(&self) -> usize {
        self.decks.len()
    }

    pub(super) fn deck_name(&self) -> &'static str {
        self.deck_name
    }

    pub(super) fn joint(&self) -> &Point {
        &self.joint
    }

    pub(super) fn context(&self, seat: Seat) -> Context {
        Context { table: self.table, deal: self.number, seat }
    }

    // Commitments, keys and coins.

    pub(super) fn commit(&mut self, seat: Seat, seed: Hash32, tip: Hash32) {
        self.commitments.insert(seat, seed);
        self.publish_tip(seat, 0, tip);
    }

    pub(super) fn publish_tip(&mut self, seat: Seat, chain: u32, tip: Hash32) {
        self.tips.insert(seat, CoinTip::new(chain, tip));
        self.record(seat, Made::Tip { chain, tip });
    }

    pub(super) fn tip(&self, seat: Seat) -> Option<&CoinTip> {
        self.tips.get(&seat)
    }

    /// Whether each of `seats` can flip before it needs a new chain.
    pub(super) fn can_flip(&self, seats: SeatSet) -> bool {
        seats.iter().all(|seat| self.tip(seat).is_some_and(|tip| !tip.is_used_up()))
    }

    /// Consumes one flip: advances every chain and returns the number of the flip.
    //= T5.28
    pub(super) fn flip(&mut self, preimages: &BTreeMap<Seat, Hash32>) -> u32 {
        for (seat, preimage) in preimages {
            if let Some(tip) = self.tips.get_mut(seat) {
                tip.advance(*preimage);
            }
        }
        let flip = self.flips;
        self.flips += 1;
        flip
    }

    pub(super) fn register(&mut self, seat: Seat, key: Point, proof: KeyProof) {
        self.keys.insert(seat, (key, proof));
        self.rejoin();
    }

    /// Removes a seat from the joint key: new decks are sealed without it. A seat without a registered key has no part
    /// in this deal.
    pub(super) fn depart(&mut self, seat: Seat) {
        if self.keys.contains_key(&seat) {
            self.gone.insert(seat);
            self.rejoin();
        }
    }

    //= P1.3
    fn rejoin(&mut self) {
        let keys = self.keys.iter().filter(|(seat, _)| !self.gone.contains(**seat));
        let sum: RistrettoPoint = keys.map(|(_, (key, _))| *key.as_point()).sum();
        self.joint = sum.into();
    }

    /// The seats whose keys new decks are sealed under.
    fn holders(&self) -> SeatSet {
        self.keys.keys().copied().filter(|seat| !self.gone.contains(*seat)).collect()
    }

    /// The sealed cards for which a leaver must publish its share: all that are sealed under its key and lack its
    /// share, except those dealt to it.
    pub(super) fn parting(&self, seat: Seat) -> Vec<Handle> {
        let mut handles = Vec::new();
        for (number, deck) in (0..=u16::MAX).zip(&self.decks) {
            let all = Handle::all(DeckId(number), deck.cards.len());
            handles.extend(all.filter(|card| {
                deck.holders.contains(seat) && !self.has_share(*card, seat) && self.owners.get(card) != Some(&seat)
            }));
        }
        handles
    }

    /// The number of cards that are sealed under a seat's key and lack its share.
    fn sealed(&self, seat: Seat) -> usize {
        self.decks
            .iter()
            .filter(|deck| deck.holders.contains(seat))
            .flat_map(|deck| &deck.shares)
            .filter(|shares| !shares.contains_key(&seat))
            .count()
    }

    pub(super) fn key(&self, seat: Seat) -> Option<&Point> {
        self.keys.get(&seat).map(|(key, _)| key)
    }

    // Escrow.

    /// The deal's seats outside a party, with their keys: the holders of the parts of that party's keys.
    pub(super) fn escrow_holders(&self, party: SeatSet) -> BTreeMap<Seat, Point> {
        self.keys.iter().filter(|(seat, _)| !party.contains(**seat)).map(|(seat, (key, _))| (*seat, *key)).collect()
    }

    /// Whether keys are in escrow.
    pub(super) fn has_escrow(&self) -> bool {
        !self.escrows.is_empty()
    }

    /// The escrowed parts of a seat's key.
    pub(super) fn parts(&self, seat: Seat) -> Option<&Parts> {
        self.escrows.get(&seat).map(AsRef::as_ref)
    }

    pub(super) fn put_in_escrow(&mut self, seat: Seat, holders: BTreeMap<Seat, Point>, parts: &Parts) {
        let parts = Arc::new(parts.clone());
        self.escrows.insert(seat, Arc::clone(&parts));
        self.record(seat, Made::Escrow { holders, parts });
    }

    /// Records verified parts of a departed seat's shares from one holder.
    pub(super) fn keep_parts(&mut self, place: HolderPlace, shares: Vec<ShareOf>, proof: PartProof) {
        let owner = place.owner.seat;
        let parts = self.escrows.get(&owner).cloned();
        if let (Some(parts), Some(owner_key)) = (parts, self.key(owner).copied()) {
            let proof = Box::new(proof);
            self.record(place.holder, Made::Parts { place, owner_key, parts, shares, proof });
        }
    }

    /// Publishes the shares of a departed seat, added up from its holders' parts. `parts` has one list for each holder,
    /// with one part for each card.
    //= P1.3
    pub(super) fn rebuild(&mut self, seat: Seat, cards: &[Handle], parts: &BTreeMap<Seat, Vec<Point>>) {
        let Some(escrow) = self.escrows.get(&seat).cloned() else {
            return;
        };
        for (index, card) in cards.iter().enumerate() {
            let of_card = parts.iter().filter_map(|(holder, list)| Some((*holder, *list.get(index)?))).collect();
            if let Some(share) = escrow::combine(&escrow, &of_card) {
                self.publish_share(seat, *card, share);
            }
        }
    }

    /// The seats that have departed since they registered a key.
    pub(super) fn gone(&self) -> SeatSet {
        self.gone
    }

    /// Whether a card is sealed under a seat's key and lacks its share.
    pub(super) fn lacks(&self, card: Handle, seat: Seat) -> bool {
        let sealed = self.position(card);
        sealed.is_some_and(|(deck, _)| deck.holders.contains(seat)) && !self.has_share(card, seat)
    }

    // Sealed decks.

    /// Starts a shuffle run of a fresh deck.
    ///
    /// # Errors
    /// [`Broken`] if these cards make no deck, the deal has too many decks, or the joint key is zero. Also if more
    /// cards would be sealed under one key than one entry can carry shares for, such as a leaver's.
    pub(super) fn start_run(
        &self,
        attempt: Attempt,
        cards: impl IntoIterator<Item = (Face, String)>,
    ) -> Result<Run, Broken> {
        let cards: Vec<(Face, String)> = cards.into_iter().collect();
        let faces: Vec<Face> = cards.iter().map(|(face, _)| *face).collect();
        check_deck(&faces)?;
        let sealed = self.keys.keys().map(|seat| self.sealed(*seat)).max();
        if sealed.unwrap_or(0) + faces.len() > MAX_SHARES {
            return Err(Broken::Batch);
        }
        if self.joint.is_identity() {
            return Err(Broken::Joint);
        }
        let points = Arc::new(CardPoints::new(self.deck_name, cards));
        let deck = DeckId(u16::try_from(self.decks.len()).map_err(|_| Broken::Decks)?);
        Ok(Run {
            deck,
            faces,
            holders: self.holders(),
            attempt,
            cards: points.fresh(),
            points,
            done: SeatSet::EMPTY,
            last: None,
        })
    }

    /// Records one seat's verified shuffle from the entry with that hash.
    pub(super) fn shuffled(&mut self, run: &mut Run, seat: Seat, entry: Hash32, shuffled: &Shuffled) {
        run.done.insert(seat);
        run.last = Some(entry);
        let input = Arc::clone(&run.cards);
        let place = run.place(self.context(seat));
        run.cards = Arc::new(shuffled.deck.to_vec());
        let output = Arc::clone(&run.cards);
        self.record(seat, Made::Shuffle { place, key: self.joint, input, output, proof: shuffled.proof.clone() });
    }

    //= T5.28
    pub(super) fn end_run(&mut self, run: Run) {
        let shares = vec![Arc::default(); run.cards.len()];
        self.decks.push(SealedDeck { points: run.points, cards: run.cards, holders: run.holders, shares });
    }

    fn position(&self, handle: Handle) -> Option<(&SealedDeck, usize)> {
        let deck = self.decks.get(usize::from(handle.deck.0))?;
        let position = usize::from(handle.position);
        (position < deck.cards.len()).then_some((deck, position))
    }

    pub(super) fn card(&self, handle: Handle) -> Option<Ciphertext> {
        let (deck, position) = self.position(handle)?;
        deck.cards.get(position).copied()
    }

    /// The faces that were shuffled into a deck; empty if there is no such deck.
    pub(super) fn faces_of(&self, deck: DeckId) -> Vec<Face> {
        let deck = self.decks.get(usize::from(deck.0));
        deck.map_or_else(Vec::new, |deck| deck.points.faces().collect())
    }

    pub(super) fn share(&self, handle: Handle, seat: Seat) -> Option<Point> {
        let (deck, position) = self.position(handle)?;
        deck.shares.get(position)?.get(&seat).copied()
    }

    pub(super) fn has_share(&self, handle: Handle, seat: Seat) -> bool {
        self.share(handle, seat).is_some()
    }

    /// Whether a card may be dealt to a seat. Dealing it to a second seat would open it to all.
    pub(super) fn may_deal(&self, handle: Handle, to: Seat) -> bool {
        self.owners.get(&handle).is_none_or(|owner| *owner == to)
    }

    /// Records that a card has been dealt.
    pub(super) fn dealt(&mut self, handle: Handle, to: Seat) {
        self.owners.insert(handle, to);
    }

    /// Publishes verified shares.
    pub(super) fn publish_shares(&mut self, seat: Seat, step: u64, shares: Vec<ShareOf>, proof: ShareProof) {
        for ShareOf { handle, share, .. } in &shares {
            self.publish_share(seat, *handle, *share);
        }
        let place = SharePlace { context: self.context(seat), step };
        self.record(seat, Made::Shares { place, shares, proof: Box::new(proof) });
    }

    /// Records what the opening of a seat's seed must reproduce.
    fn record(&mut self, seat: Seat, made: Made) {
        self.made.entry(seat).or_default().push(Arc::new(made));
    }

    fn publish_share(&mut self, seat: Seat, handle: Handle, share: Point) {
        let slot = self
            .decks
            .get_mut(usize::from(handle.deck.0))
            .and_then(|deck| deck.shares.get_mut(usize::from(handle.position)));
        if let Some(slot) = slot {
            Arc::make_mut(slot).insert(seat, share);
        }
    }

    /// The face of a card, once all seats whose keys seal it have published their shares. `extra` adds a share that the
    /// log lacks.
    //= T5.29, P1.3
    pub(super) fn face(&self, handle: Handle, extra: Option<(Seat, Point)>) -> Option<Face> {
        let (deck, position) = self.position(handle)?;
        let card = deck.cards.get(position)?;
        let mut shares = deck.shares.get(position)?.as_ref().clone();
        shares.extend(extra);
        if !deck.holders.iter().all(|seat| shares.contains_key(&seat)) {
            return None;
        }
        deck.points.face(&elgamal::open(card, shares.values()))
    }

    // Opening.

    /// Compares everything that a seat sent in this deal with the output of its seed.
    //= T6.14, P1.14
    pub(super) fn check_opening(&self, seat: Seat, seed: &Seed) -> Result<(), OpeningFault> {
        let (secret, own) = self.opened_key(seat, seed)?;
        if self.reproduction(seat, seed, &secret, &own).is_some_and(Reproduction::holds) {
            return Ok(());
        }
        // The batch check failed, which proves nothing: check item by item.
        for made in self.made.get(&seat).into_iter().flatten() {
            self.check_made(made, seat, seed, &secret, &own)?;
        }
        Ok(())
    }

    /// The keys that a seat's seed gives.
    ///
    /// # Errors
    /// [`OpeningFault`] if it has committed to another seed, or registered another key.
    pub(super) fn opened_key(&self, seat: Seat, seed: &Seed) -> Result<(SecretKey, Point), OpeningFault> {
        let context = self.context(seat);
        //= P1.7
        if self.commitments.get(&seat) != Some(&seed.commitment(&context)) {
            return Err(OpeningFault::Commitment);
        }
        let secret = SecretKey::derive(seed, &context);
        let own = secret.public();
        if self.keys.get(&seat) != Some(&(own, KeyProof::prove(seed, &context, &secret))) {
            return Err(OpeningFault::Key);
        }
        Ok((secret, own))
    }

    /// All shuffles and shares that a seat sent in this deal, to be compared with its seed. Checks the rest at once:
    /// `None` if that does not match. Neither this nor a sum that does not vanish proves anything.
    pub(super) fn reproduction<'a>(
        &'a self,
        seat: Seat,
        seed: &'a Seed,
        secret: &SecretKey,
        own: &Point,
    ) -> Option<Reproduction<'a>> {
        let mut made = self.made.get(&seat).into_iter().flatten();
        made.try_fold(Reproduction::new(seed), |all, made| match made.as_ref() {
            Made::Shuffle { place, key, input, output, proof } => {
                all.shuffle(place, self.deck_name, key, [input, output], proof)
            }
            Made::Shares { place, shares, proof } => all.shares(place, secret, own, shares, proof),
            Made::Tip { .. } | Made::Parts { .. } | Made::Escrow { .. } => {
                self.check_made(made, seat, seed, secret, own).is_ok().then_some(all)
            }
        })
    }

    /// Recomputes one item that a seat sent, and compares it byte for byte.
    fn check_made(
        &self,
        made: &Made,
        seat: Seat,
        seed: &Seed,
        secret: &SecretKey,
        own: &Point,
    ) -> Result<(), OpeningFault> {
        let context = self.context(seat);
        match made {
            Made::Tip { chain, tip } => {
                if CoinChain::derive(seed, &context, *chain).tip() != *tip {
                    return Err(OpeningFault::Tip { chain: *chain });
                }
            }
            Made::Parts { place, owner_key, parts, shares, proof } => {
                let held = escrow::open_part(&place.owner, seat, secret, owner_key, parts).ok();
                let same = held.is_some_and(|part| {
                    shares.iter().all(|of| part.share(&of.card) == of.share)
                        && PartProof::prove(seed, place, &part, shares) == **proof
                });
                if !same {
                    return Err(OpeningFault::Shares { step: place.step });
                }
            }
            Made::Escrow { holders, parts } => {
                if escrow::split(seed, &context, secret, holders).as_ref() != Ok(parts) {
                    return Err(OpeningFault::Escrow);
                }
            }
            Made::Shuffle { place, key, input, output, proof } => {
                let same = match proof {
                    ShuffleProof::Whole(proof) => shuffle::shuffle_whole(seed, place, self.deck_name, key, input)
                        .is_ok_and(|(cards, again)| cards == *output && again == **proof),
                    ShuffleProof::Staged(proof) => shuffle::shuffle(seed, place, key, input)
                        .is_ok_and(|(cards, again)| cards == *output && again == **proof),
                };
                if !same {
                    return Err(OpeningFault::Shuffle { deck: place.deck.0 });
                }
            }
            Made::Shares { place, shares, proof } => {
                let same = shares.iter().all(|of| share(secret, &of.card) == of.share);
                if !same || ShareProof::prove(seed, place, secret, own, shares) != **proof {
                    return Err(OpeningFault::Shares { step: place.step });
                }
            }
        }
        Ok(())
    }

    /// The faces of the sealed cards that these seeds open together with the shares in the log.
    pub(super) fn faces_by(&self, seeds: &BTreeMap<Seat, Seed>) -> Faces {
        let secrets: BTreeMap<Seat, SecretKey> =
            seeds.iter().map(|(seat, seed)| (*seat, SecretKey::derive(seed, &self.context(*seat)))).collect();
        let mut faces = Faces::new();
        for (number, deck) in (0..=u16::MAX).zip(&self.decks) {
            let own = secrets.iter().filter(|(seat, _)| deck.holders.contains(**seat));
            // The sum of the keys needs one multiplication for each card instead of one for each seat.
            let sum = SecretKey::sum(own.map(|(_, secret)| secret));
            let others = deck.holders.iter().filter(|seat| !secrets.contains_key(seat));
            let cards = Handle::all(DeckId(number), deck.cards.len());
            for ((handle, card), shares) in cards.zip(deck.cards.iter()).zip(&deck.shares) {
                let given: Option<Vec<&Point>> = others.clone().map(|seat| shares.get(&seat)).collect();
                let Some(given) = given else { continue };
                let by_seeds = share(&sum, card);
                let point = elgamal::open(card, given.into_iter().chain([&by_seeds]));
                if let Some(face) = deck.points.face(&point) {
                    faces.set(handle, face);
                }
            }
        }
        faces
    }

    /// The number of commitments, keys, tips, shuffles and share entries that the opening reproduces.
    pub(super) fn made_by(&self, seat: Seat) -> usize {
        2 + self.made.get(&seat).map_or(0, Vec::len)
    }
}

impl Run {
    /// Notes that the log has gone on from an earlier state, so many times in all. What is shuffled already stays.
    pub(super) fn repeat(&mut self, forks: u32) {
        self.attempt.forks = forks;
    }

    /// The place of a seat's shuffle in it.
    pub(super) fn place(&self, context: Context) -> ShufflePlace {
        ShufflePlace { context, deck: self.deck, attempt: self.attempt }
    }

    /// The cards of the deck.
    pub(super) fn faces(&self) -> &[Face] {
        &self.faces
    }

    /// The deck after the last shuffle.
    pub(super) fn cards(&self) -> &SealedCards {
        &self.cards
    }

    /// The seats that have shuffled it.
    pub(super) fn done(&self) -> SeatSet {
        self.done
    }

    /// The live seat that shuffles next.
    pub(super) fn turn(&self, live: SeatSet) -> Option<Seat> {
        live.minus(self.done).iter().next()
    }

    /// The hash that names its deck: of the entry with the last shuffle, or for a fresh deck one that follows from the
    /// parent of the open step.
    pub(super) fn before(&self, parent: &Hash32) -> Hash32 {
        let fresh = || {
            Hasher::new(domain::FRESH_DECK)
                .hash(parent)
                .number(u64::from(self.deck.0))
                .number(self.cards.len() as u64)
                .finish()
        };
        self.last.unwrap_or_else(fresh)
    }
}
