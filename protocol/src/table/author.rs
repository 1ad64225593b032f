//! Writes the contents of a seat's entries: functions of the public state and the seat's seed alone.

use super::replica::{Broken, Owed, Replica};
use crate::card::{Face, Handle};
use crate::crypto::coin::CoinChain;
use crate::crypto::escrow::{self, Complaint, PartProof};
use crate::crypto::key::{KeyProof, SecretKey};
use crate::crypto::seed::{Context, Seed};
use crate::crypto::share::{ShareOf, SharePlace, ShareProof, share};
use crate::crypto::shuffle::{self, ShufflePlace};
use crate::game::Game;
use crate::hash::Hash32;
use crate::log::body::{Answers, Body, PartShares, Shares, Shuffled};
use crate::seat::Seat;

use std::collections::BTreeMap;

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
}

impl Secrets {
    pub(super) fn new(seed: Seed, context: Context) -> Self {
        let key = SecretKey::derive(&seed, &context);
        let chain = CoinChain::derive(&seed, &context, 0);
        Self { seed, context, key, chain_number: 0, chain }
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
    pub(super) fn escrow<G: Game>(&self, replica: &Replica<G>) -> Option<Body> {
        let holders = replica.holders(self.context.seat);
        let parts = escrow::split(&self.seed, &self.context, &self.key, &holders).ok()?;
        let shuffled = self.shuffle_early(replica)?;
        Some(Body::Escrow { parts, shuffled })
    }

    /// Accepts the parts of the others' keys, with a complaint about each part that does not open.
    pub(super) fn accept<G: Game>(&self, replica: &Replica<G>) -> Option<Body> {
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
    fn shuffle_early<G: Game>(&self, replica: &Replica<G>) -> Option<Option<Shuffled>> {
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

    pub(super) fn open(&self) -> Body {
        Body::Open { seed: self.seed.open() }
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
        Ok(Answers { shares, coin })
    }

    /// This seat's part of a shuffle run; `None` until the seat before it has shuffled.
    pub(super) fn shuffle<G: Game>(&self, replica: &Replica<G>, held: &BTreeMap<Seat, Entry>) -> Option<Shuffled> {
        let (onto, input): (Hash32, _) = replica.shuffle_base(self.context.seat, held)?;
        let place = ShufflePlace { context: self.context, deck: replica.deck_on_its_way()? };
        let key = replica.joint_key();
        let (output, proof) = shuffle::shuffle(&self.seed, &place, replica.deck_name(), key, &input).ok()?;
        let deck = output.to_vec().try_into().ok()?;
        Some(Shuffled { onto, deck, proof: Box::new(proof) })
    }

    /// The face of a card dealt to this seat.
    pub(super) fn face<G: Game>(&self, replica: &Replica<G>, card: Handle) -> Option<Face> {
        let sealed = replica.card(card)?;
        replica.face_with(card, self.context.seat, share(&self.key, &sealed))
    }
}
