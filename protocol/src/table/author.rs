//! Writes the contents of a seat's entries: functions of the public state and the seat's seed alone.

use super::replica::{Ahead, AheadStage, Broken, Owed, Replica};
use crate::card::{Face, Handle};
use crate::crypto::coin::CoinChain;
use crate::crypto::elgamal::SealedCards;
use crate::crypto::escrow::{self, Complaint, PartProof};
use crate::crypto::group::Point;
use crate::crypto::key::{KeyProof, SecretKey};
use crate::crypto::seed::{Context, OpenedSeed, Seed};
use crate::crypto::share::{ShareOf, SharePlace, ShareProof, share};
use crate::crypto::shuffle::{Deck, Preparation, ShufflePlace, ShuffleProof, shuffle_whole};
use crate::game::{Game, Protocol};
use crate::hash::Hash32;
use crate::log::body::{Answers, Body, Part, PartShares, Shares, Shuffled};
use crate::seat::Seat;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::log::entry::Entry;

/// A seat's secrets of one deal. Zeroized on drop, never displayed.
#[derive(Debug)]
pub(super) struct Secrets {
    seed: Seed,
    context: Context,
    key: SecretKey,
    /// The coin chain used last, cached because deriving one takes a thousand hashes.
    chain_number: u32,
    chain: CoinChain,
    /// The next shuffle, as far as it can be made before its deck arrives.
    preparation: Option<Preparation>,
    served: Option<Served>,
}

/// The last shuffle of a seat.
#[derive(Debug)]
struct Served {
    place: ShufflePlace,
    /// The deck that it shuffled.
    input: SealedCards,
    deck: Deck,
    proof: ShuffleProof,
}

impl Secrets {
    pub(super) fn new(seed: Seed, context: Context) -> Self {
        let key = SecretKey::derive(&seed, &context);
        let chain = CoinChain::derive(&seed, &context, 0);
        Self { seed, context, key, chain_number: 0, chain, preparation: None, served: None }
    }

    pub(super) fn deal(&self) -> u32 {
        self.context.deal
    }

    pub(super) fn commit(&self) -> Body {
        Body::Commit { seed: self.seed.commitment(&self.context), tip: self.chain.tip() }
    }

    pub(super) fn key(&self) -> Body {
        let proof = KeyProof::prove(&self.seed, &self.context, &self.key);
        Body::Key { key: self.key.public(), proof }
    }

    /// The tip of the chain after the open one.
    pub(super) fn next_tip<G: Game>(&self, replica: &Replica<G>) -> Body {
        let open = replica.coin(self.context.seat);
        let next = open.map_or(0, |(chain, _)| chain.saturating_add(1));
        Body::Tip { tip: CoinChain::derive(&self.seed, &self.context, next).tip() }
    }

    /// The preimage that answers the next flip.
    fn coin<G: Game>(&mut self, replica: &Replica<G>) -> Option<Hash32> {
        let (chain, used) = replica.coin(self.context.seat)?;
        if chain != self.chain_number {
            self.chain_number = chain;
            self.chain = CoinChain::derive(&self.seed, &self.context, chain);
        }
        self.chain.preimage(used)
    }

    /// This seat's key, split into parts for its holders.
    pub(super) fn escrow<G: Game>(&mut self, replica: &Replica<G>) -> Option<Body> {
        let holders = replica.holders(self.context.seat);
        let parts = escrow::split(&self.seed, &self.context, &self.key, &holders).ok()?;
        let shuffled = self.shuffle_early(replica)?;
        Some(Body::Escrow { parts, shuffled })
    }

    /// Accepts the parts of the others' keys, with a complaint about each part that does not open.
    pub(super) fn accept<G: Game>(&mut self, replica: &Replica<G>) -> Option<Body> {
        let me = self.context.seat;
        let mut complaints = Vec::new();
        for (owner, key, parts) in replica.escrowed(me) {
            if escrow::open_part(&replica.context(owner), me, &self.key, key, parts).is_err() {
                let place = replica.holder_place(owner, me);
                let complaint = Complaint::make(&self.seed, &place, &self.key, key);
                complaints.push((owner, complaint));
            }
        }
        let complaints = complaints.try_into().ok()?;
        let shuffled = self.shuffle_early(replica)?;
        Some(Body::Accept { complaints, shuffled })
    }

    /// The early shuffle in the open step, if it is this seat's turn; the outer `None` if it cannot be made.
    fn shuffle_early<G: Game>(&mut self, replica: &Replica<G>) -> Option<Option<Shuffled>> {
        if replica.early_shuffler() != Some(self.context.seat) {
            return Some(None);
        }
        self.shuffle(replica, &BTreeMap::new()).map(Some)
    }

    /// This seat's parts of the shares of a removed seat.
    pub(super) fn rebuild<G: Game>(&self, replica: &Replica<G>, gone: Seat) -> Option<Body> {
        let me = self.context.seat;
        let (key, parts) = (replica.key(gone)?, replica.parts(gone)?);
        let part = escrow::open_part(&replica.context(gone), me, &self.key, key, parts).ok()?;
        let (_, cards) = replica.rebuilding()?;
        let list: Vec<ShareOf> =
            cards.into_iter().map(|(handle, card)| ShareOf { handle, card, share: part.share(&card) }).collect();
        let place = replica.holder_place(gone, me);
        let proof = PartProof::prove(&self.seed, &place, &part, &list);
        let shares = list.iter().map(|of| of.share).collect::<Vec<_>>().try_into().ok()?;
        Some(Body::Rebuild { parts: PartShares { shares, proof } })
    }

    /// The seed of its deal, for everybody.
    pub(super) fn open(&self) -> OpenedSeed {
        self.seed.open()
    }

    /// Answers exactly what this seat owes.
    ///
    /// # Errors
    /// [`Broken`] if it cannot: any other answer would be a fault of this seat.
    pub(super) fn answers<G: Game>(&mut self, replica: &Replica<G>, owed: &Owed) -> Result<Answers, Broken> {
        let place = SharePlace { context: self.context, step: replica.step() };
        let list: Vec<ShareOf> = owed
            .cards
            .iter()
            .map(|(handle, card)| ShareOf { handle: *handle, card: *card, share: share(&self.key, card) })
            .collect();
        let shares = if list.is_empty() {
            None
        } else {
            let proof = ShareProof::prove(&self.seed, &place, &self.key, &self.key.public(), &list);
            let shares = list.iter().map(|of| of.share).collect::<Vec<_>>().try_into().map_err(|_| Broken::Batch)?;
            Some(Shares { shares, proof })
        };
        let coin = if owed.coin { Some(self.coin(replica).ok_or(Broken::Coin)?) } else { None };
        Ok(Answers { shares, coin, part: None })
    }

    /// This seat's part of a shuffle run; `None` until the seat before it has shuffled.
    pub(super) fn shuffle<G: Game>(&mut self, replica: &Replica<G>, held: &BTreeMap<Seat, Entry>) -> Option<Shuffled> {
        let (onto, input): (Hash32, _) = replica.shuffle_base(self.context.seat, held)?;
        let place = replica.shuffle_place(self.context.seat)?;
        let key = replica.joint_key();
        match replica.protocol() {
            Protocol::One => {
                let (output, proof) = shuffle_whole(&self.seed, &place, replica.deck_name(), key, &input).ok()?;
                Some(Shuffled { onto, deck: output.to_vec().try_into().ok()?, proof: ShuffleProof::from(proof) })
            }
            Protocol::Two => self.shuffle_staged(place, key, onto, &input),
        }
    }

    fn shuffle_staged(
        &mut self,
        place: ShufflePlace,
        key: &Point,
        onto: Hash32,
        input: &SealedCards,
    ) -> Option<Shuffled> {
        if let Some(served) = self.served.as_ref().filter(|served| served.place == place) {
            // A second deck for one preparation would show the permutation.
            let is_again = served.input == *input;
            return is_again.then(|| Shuffled { onto, deck: served.deck.clone(), proof: served.proof.clone() });
        }
        self.make(place, input.len(), Some(key));
        let preparation = self.preparation.take_if(|made| made.is_for(&place, input.len()))?;
        let (output, proof) = preparation.shuffle(&self.seed, key, input).ok()?;
        let shuffled = Shuffled { onto, deck: output.to_vec().try_into().ok()?, proof: ShuffleProof::from(proof) };
        let (deck, proof) = (shuffled.deck.clone(), shuffled.proof.clone());
        self.served = Some(Served { place, input: Arc::clone(input), deck, proof });
        Some(shuffled)
    }

    /// This seat's part of the setup of its deal; `None` if none is due, or if a key part for it does not open.
    /// Then the setup rests, and the deal begins with the step in which this seat complains.
    //= P2.4
    pub(super) fn part<G: Game>(&mut self, replica: &Replica<G>) -> Option<Part> {
        let (me, party) = (self.context.seat, replica.party(self.context.seat));
        let ahead = replica.ahead().filter(|ahead| ahead.number() == self.deal() && ahead.waits_for(me))?;
        Some(match ahead.stage() {
            AheadStage::Commit => Part::Commit { seed: self.seed.commitment(&self.context), tip: self.chain.tip() },
            AheadStage::Key => {
                let proof = KeyProof::prove(&self.seed, &self.context, &self.key);
                Part::Key { key: self.key.public(), proof }
            }
            AheadStage::Escrow => {
                let parts = escrow::split(&self.seed, &self.context, &self.key, &ahead.holders(party)).ok()?;
                Part::Escrow { parts, shuffled: self.shuffle_ahead(ahead, &replica.parent())? }
            }
            AheadStage::Accept => {
                for (owner, key, parts) in ahead.escrowed(party) {
                    escrow::open_part(&ahead.context(owner), me, &self.key, key, parts).ok()?;
                }
                Part::Accept { shuffled: self.shuffle_ahead(ahead, &replica.parent())? }
            }
            AheadStage::Shuffle => Part::Shuffle(self.shuffle_ahead(ahead, &replica.parent())??),
            AheadStage::Ready => return None,
        })
    }

    /// The shuffle in this seat's part, if it is its turn; the outer `None` if it cannot be made.
    fn shuffle_ahead(&mut self, ahead: &Ahead, parent: &Hash32) -> Option<Option<Shuffled>> {
        let me = self.context.seat;
        if ahead.turn() != Some(me) {
            return Some(None);
        }
        let (onto, input) = ahead.base(parent)?;
        self.shuffle_staged(ahead.place(me), ahead.joint(), onto, &input).map(Some)
    }

    /// Whether [`Self::prepare`] would make something.
    pub(super) fn can_prepare<G: Game>(&self, replica: &Replica<G>) -> bool {
        self.next_shuffle(replica).is_some_and(|(place, size, key)| {
            if self.served.as_ref().is_some_and(|served| served.place == place) {
                return false;
            }
            let made = self.preparation.as_ref().filter(|made| made.is_for(&place, size));
            made.is_none_or(|made| key.is_some_and(|key| !made.knows_key(key)))
        })
    }

    /// Makes as much of this seat's next shuffle as can be made before its deck arrives.
    pub(super) fn prepare<G: Game>(&mut self, replica: &Replica<G>) {
        if let Some((place, size, key)) = self.next_shuffle(replica) {
            self.make(place, size, key);
        }
    }

    /// The next shuffle of this seat in its deal: the open one, or the one that is set up.
    fn next_shuffle<'a, G: Game>(&self, replica: &'a Replica<G>) -> Option<(ShufflePlace, usize, Option<&'a Point>)> {
        let me = self.context.seat;
        match replica.ahead().filter(|ahead| ahead.number() == self.deal()) {
            Some(ahead) => ahead.next_shuffle(me),
            None => replica.next_shuffle(me).filter(|_| replica.deal() == self.deal()),
        }
    }

    fn make(&mut self, place: ShufflePlace, size: usize, key: Option<&Point>) {
        if self.preparation.as_ref().is_none_or(|made| !made.is_for(&place, size)) {
            self.preparation = Preparation::new(&self.seed, &place, size).ok();
        }
        if let (Some(preparation), Some(key)) = (&mut self.preparation, key) {
            preparation.learn_key(key);
        }
    }

    /// The face of a card dealt to this seat.
    pub(super) fn face<G: Game>(&self, replica: &Replica<G>, card: Handle) -> Option<Face> {
        let sealed = replica.card(card)?;
        replica.face_with(card, self.context.seat, share(&self.key, &sealed))
    }
}
