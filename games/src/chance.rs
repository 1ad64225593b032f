//! The referee's chance: shuffles and rolls from explicit lists first, then from a seed.
//!
//! It holds every face of every sealed deck and each seat's dealt cards, so one process can play
//! all the seats. It pauses when the explicit lists run out and there is no seed, or when the next
//! list does not fit. [`RefereeChance::stop`] then gives the reason. [`RefereeChance::attempt`]
//! runs a request that either succeeds as a whole or changes nothing.

use std::collections::VecDeque;

use fairdeal_protocol::card::{DeckId, Face, Faces, Handle, Slot};
use fairdeal_protocol::game::{ApplyError, Chance, Flip, Game, Illegal, Pause, shuffle};
use fairdeal_protocol::seat::{MAX_SEATS, Seat};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng as _};

use crate::interface::TableGame;

/// A request for chance that nothing can answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Need {
    /// These cards shuffled into a sealed deck.
    Shuffle(Vec<Face>),
    /// A public flip.
    Flip(Flip),
}

impl Need {
    /// The same request without sealing: a sealed deck is a permutation that nobody sees.
    pub fn as_flip(&self) -> Flip {
        match self {
            Self::Shuffle(cards) => Flip::Order(cards.clone()),
            Self::Flip(flip) => flip.clone(),
        }
    }

    /// Whether a roll answers it, rather than a list.
    pub fn is_roll(&self) -> bool {
        matches!(self, Self::Flip(Flip::Die(_)))
    }
}

/// Why the chance paused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Nothing explicit is left and there is no seed.
    Exhausted(Need),
    /// The next list or roll does not fit the request.
    Bad(Need),
}

/// Why [`RefereeChance::attempt`] changed nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The rules forbid it.
    Illegal(Illegal),
    /// Chance ran out or did not fit. If it did not fit, the bad list or roll is dropped.
    Stopped(Stop),
}

/// The current position in the answers; a failed request restores it.
#[derive(Clone, Debug, Default)]
struct Position {
    rng: Option<ChaCha20Rng>,
    shuffles_used: usize,
    rolls_used: usize,
    /// Deals that have ended.
    deals: u32,
    decks: u16,
    faces: Faces,
    dealt: [Faces; MAX_SEATS],
    /// The faces that everybody has seen, also of cards that are sealed in the game's state.
    opened: Faces,
}

/// The decks whose shuffle was recorded, in their order.
fn shuffled_decks(known: &Faces) -> impl DoubleEndedIterator<Item = DeckId> {
    let count = (0..u16::MAX).take_while(|deck| !known.shuffled(DeckId(*deck)).is_empty());
    (0..u16::try_from(count.count()).unwrap_or(u16::MAX)).map(DeckId)
}

/// The overlay of a seat that knows these faces and has seen each deck's shuffle, with a face for every sealed card in
/// play: some order that fits, all equally likely. `None` if a card cannot be in any of the decks.
pub(crate) fn guess(game: &impl TableGame, known: &Faces, rng: &mut dyn Rng) -> Option<Faces> {
    let mut guess = known.clone();
    let mut places = Vec::new();
    let mut seen = [false; 256];
    for (slot, _) in game.cards() {
        match (slot.face(known), slot) {
            (Some(face), _) => *seen.get_mut(face.index())? = true,
            (None, Slot::Sealed(card)) => places.push(card),
            (None, Slot::Open(_)) => {}
        }
    }
    // A face that was shuffled into several decks is in the last of them: to be shuffled again it had to lie open.
    for deck in shuffled_decks(known).rev() {
        let mut faces = known.shuffled(deck).to_vec();
        faces.retain(|face| seen.get(face.index()) == Some(&false));
        shuffle(rng, &mut faces);
        for (card, face) in places.iter().filter(|card| card.deck == deck).zip(faces) {
            guess.set(*card, face);
            *seen.get_mut(face.index())? = true;
        }
    }
    let is_whole = places.iter().all(|card| guess.get(*card).is_some());
    is_whole.then_some(guess)
}

/// Shuffles and rolls for a referee. See the module documentation.
#[derive(Clone, Debug, Default)]
pub struct RefereeChance {
    /// `None` is a list with an entry that is not a card.
    shuffles: VecDeque<Option<Vec<u32>>>,
    rolls: VecDeque<u32>,
    position: Position,
    stop: Option<Stop>,
}

impl RefereeChance {
    /// Creates a source without explicit lists, with the generator of a seed if there is one.
    pub fn new(seed: Option<[u8; 32]>) -> Self {
        let mut chance = Self::default();
        chance.position.rng = seed.map(ChaCha20Rng::from_seed);
        chance
    }

    /// Creates a source that draws everything from a seed.
    pub fn from_seed(seed: [u8; 32]) -> Self {
        Self::new(Some(seed))
    }

    /// One world that fits what a seat knows: the hidden cards are dealt by guess, and later chance comes from `seed`.
    /// `None` if no world fits.
    pub fn guessed(game: &impl TableGame, seat: Seat, known: &Faces, seed: [u8; 32]) -> Option<Self> {
        let mut rng = ChaCha20Rng::from_seed(seed);
        let mut chance = Self::default();
        for deck in shuffled_decks(known) {
            chance.record(deck, known.shuffled(deck));
        }
        let faces = guess(game, known, &mut rng)?;
        for (slot, owner) in game.cards() {
            let Slot::Sealed(card) = slot else { continue };
            let face = faces.get(card)?;
            chance.position.faces.set(card, face);
            let own = known.get(card).map(|_| seat);
            for knows in own.into_iter().chain(owner) {
                chance.position.dealt.get_mut(knows.index())?.set(card, face);
            }
        }
        chance.position.rng = Some(rng);
        Some(chance)
    }

    /// One world that fits what a seat knows of this chance; see [`Self::guessed`]. Explicit chance that is left is
    /// dropped.
    pub fn guessed_by(&self, game: &impl TableGame, seat: Seat, seed: [u8; 32]) -> Option<Self> {
        let mut known = self.dealt_to(seat).clone();
        for (card, face) in self.position.opened.iter() {
            known.set(card, face);
        }
        let mut chance = Self::guessed(game, seat, &known, seed)?;
        chance.position.opened = self.position.opened.clone();
        Some(chance)
    }

    /// Adds explicit shuffles and rolls behind those still queued. A shuffle is the whole resulting
    /// order, top card first; a card is its face's number.
    pub fn add(&mut self, shuffles: impl IntoIterator<Item = Vec<u32>>, rolls: impl IntoIterator<Item = u32>) {
        self.add_lists(shuffles.into_iter().map(Some), rolls);
    }

    /// The same for lists that a request gave: `None` stands for one with an entry that is not a card. It is refused
    /// when its turn comes.
    pub fn add_lists(
        &mut self,
        shuffles: impl IntoIterator<Item = Option<Vec<u32>>>,
        rolls: impl IntoIterator<Item = u32>,
    ) {
        self.shuffles.extend(shuffles);
        self.rolls.extend(rolls);
    }

    /// The faces of all sealed cards of this deal.
    pub fn faces(&self) -> &Faces {
        &self.position.faces
    }

    /// The faces of the sealed cards that this seat has been dealt in this deal.
    #[allow(clippy::indexing_slicing, reason = "a seat is below MAX_SEATS")]
    pub fn dealt_to(&self, seat: Seat) -> &Faces {
        &self.position.dealt[seat.index()]
    }

    /// The number of this deal, from 0.
    pub fn deal_number(&self) -> u32 {
        self.position.deals
    }

    /// The reason for the last pause, until chance answers again.
    pub fn stop(&self) -> Option<&Stop> {
        self.stop.as_ref()
    }

    /// Runs a request on a copy of the game. On success the copy replaces the game, and the lists
    /// and rolls that it used are dropped. Otherwise neither game nor chance changes, except that a
    /// list or roll that did not fit is dropped.
    ///
    /// # Errors
    /// [`Refusal`].
    pub fn attempt<G: Game, T>(
        &mut self,
        game: &mut G,
        request: impl FnOnce(&mut G, &mut Self) -> Result<T, ApplyError>,
    ) -> Result<T, Refusal> {
        let before = self.position.clone();
        let mut copy = game.clone();
        self.stop = None;
        let why = match request(&mut copy, self) {
            Ok(value) => {
                *game = copy;
                self.forget_used();
                return Ok(value);
            }
            Err(why) => why,
        };
        let reached = std::mem::replace(&mut self.position, before);
        match (why, &self.stop) {
            (ApplyError::Illegal(why), _) => Err(Refusal::Illegal(why)),
            (ApplyError::Pause, Some(stop)) => {
                if let Stop::Bad(need) = stop {
                    // The request stopped at the first entry that it did not use.
                    if need.is_roll() {
                        self.rolls.remove(reached.rolls_used);
                    } else {
                        self.shuffles.remove(reached.shuffles_used);
                    }
                }
                Err(Refusal::Stopped(stop.clone()))
            }
            // Only a request for chance pauses. A pause without one is refused.
            (ApplyError::Pause, None) => Err(Refusal::Illegal(Illegal::rule("the game made no step"))),
        }
    }

    /// Drops the lists and rolls already used.
    fn forget_used(&mut self) {
        let used = self.position.shuffles_used.min(self.shuffles.len());
        self.shuffles.drain(..used);
        self.position.shuffles_used = 0;
        let used = self.position.rolls_used.min(self.rolls.len());
        self.rolls.drain(..used);
        self.position.rolls_used = 0;
    }

    /// The next explicit answer of the needed kind, and its numbers if it has any that can fit.
    fn explicit(&self, need: &Need) -> Option<Option<Vec<u32>>> {
        if need.is_roll() {
            let roll = self.rolls.get(self.position.rolls_used)?;
            Some(Some(vec![*roll]))
        } else {
            self.shuffles.get(self.position.shuffles_used).cloned()
        }
    }

    /// Answers from the explicit lists, or else from the seed.
    fn answer(&mut self, need: Need) -> Result<Vec<u32>, Pause> {
        self.stop = None;
        if let Some(given) = self.explicit(&need) {
            let Some(given) = given.filter(|given| need.as_flip().accepts(given)) else {
                self.stop = Some(Stop::Bad(need));
                return Err(Pause);
            };
            if need.is_roll() {
                self.position.rolls_used += 1;
            } else {
                self.position.shuffles_used += 1;
            }
            return Ok(given);
        }
        if let Some(rng) = &mut self.position.rng {
            return Ok(need.as_flip().sample(rng));
        }
        self.stop = Some(Stop::Exhausted(need));
        Err(Pause)
    }

    /// Adds a shuffled deck.
    fn lay(&mut self, order: impl Iterator<Item = Face>) -> DeckId {
        let deck = DeckId(self.position.decks);
        let order: Vec<Face> = order.collect();
        self.record(deck, &order);
        for (position, face) in (0..=u8::MAX).zip(order) {
            self.position.faces.set(Handle { deck, position }, face);
        }
        deck
    }

    /// Counts a deck, and tells all overlays which faces are in it.
    fn record(&mut self, deck: DeckId, faces: &[Face]) {
        self.position.decks = deck.0.saturating_add(1);
        self.position.dealt.iter_mut().for_each(|dealt| dealt.record_shuffle(deck, faces));
        self.position.faces.record_shuffle(deck, faces);
    }
}

impl Chance for RefereeChance {
    fn next_deal(&mut self) -> Result<(), Pause> {
        self.position.deals = self.position.deals.saturating_add(1);
        self.position.decks = 0;
        self.position.faces.clear();
        self.position.dealt.iter_mut().for_each(Faces::clear);
        self.position.opened.clear();
        Ok(())
    }

    fn shuffle(&mut self, cards: &[Face]) -> Result<DeckId, Pause> {
        let listed = self.position.shuffles_used < self.shuffles.len();
        if let (false, Some(rng)) = (listed, &mut self.position.rng) {
            // Random playouts take this path: there is no list to compare or to build.
            self.stop = None;
            let mut order = cards.to_vec();
            shuffle(rng, &mut order);
            return Ok(self.lay(order.into_iter()));
        }
        let order = self.answer(Need::Shuffle(cards.to_vec()))?;
        // An accepted answer is a permutation of faces.
        Ok(self.lay(order.into_iter().filter_map(|n| u8::try_from(n).ok().map(Face))))
    }

    fn deal(&mut self, card: Handle, to: Seat) {
        if let (Some(face), Some(dealt)) = (self.position.faces.get(card), self.position.dealt.get_mut(to.index())) {
            dealt.set(card, face);
        }
    }

    fn open(&mut self, cards: &[Handle]) -> Result<Vec<Face>, Pause> {
        // A handle without a deck is an engine bug. A wrong face would only hide it.
        let faces = cards.iter().map(|c| self.position.faces.get(*c)).collect::<Option<Vec<_>>>().ok_or(Pause)?;
        for (card, face) in cards.iter().zip(&faces) {
            self.position.opened.set(*card, *face);
        }
        Ok(faces)
    }

    fn flip(&mut self, flip: &Flip) -> Result<Vec<u32>, Pause> {
        self.answer(Need::Flip(flip.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cards(numbers: impl IntoIterator<Item = u8>) -> Vec<Face> {
        numbers.into_iter().map(Face).collect()
    }

    fn order(chance: &RefereeChance, deck: DeckId, size: usize) -> Vec<u8> {
        let face = |handle| chance.faces().get(handle).unwrap().0;
        Handle::all(deck, size).map(face).collect()
    }

    #[test]
    fn lists_come_first_then_the_seed_which_they_leave_alone() {
        let five = cards(0..5);
        let mut seeded = RefereeChance::from_seed([7; 32]);
        let mut mixed = RefereeChance::from_seed([7; 32]);
        mixed.add([vec![4, 3, 2, 1, 0]], [2]);
        let listed = mixed.shuffle(&five).unwrap();
        assert_eq!(order(&mixed, listed, 5), [4, 3, 2, 1, 0]);
        assert_eq!(mixed.flip(&Flip::Die(6)), Ok(vec![2]));
        let (own, other) = (mixed.shuffle(&five).unwrap(), seeded.shuffle(&five).unwrap());
        assert_eq!((own, other), (DeckId(1), DeckId(0)));
        assert_eq!(order(&mixed, own, 5), order(&seeded, other, 5));
        assert_eq!(mixed.flip(&Flip::Die(6)), seeded.flip(&Flip::Die(6)));
    }

    #[test]
    fn a_sealed_shuffle_from_a_seed_is_the_order_of_a_public_one() {
        let ten = cards(10..20);
        let mut sealed = RefereeChance::from_seed([8; 32]);
        let deck = sealed.shuffle(&ten).unwrap();
        let public = RefereeChance::from_seed([8; 32]).flip(&Flip::Order(ten)).unwrap();
        let sealed: Vec<_> = order(&sealed, deck, 10).into_iter().map(u32::from).collect();
        assert_eq!(sealed, public);
    }

    #[test]
    fn seat_knows_its_cards_until_the_next_deal() {
        let mut chance = RefereeChance::from_seed([9; 32]);
        let deck = chance.shuffle(&cards(0..3)).unwrap();
        let handles: Vec<_> = Handle::all(deck, 3).collect();
        let (a, b) = (Seat::new(0).unwrap(), Seat::new(1).unwrap());
        chance.deal(handles[0], a);
        assert_eq!(chance.dealt_to(a).iter().count(), 1);
        assert_eq!(chance.dealt_to(b).iter().count(), 0);
        assert_eq!(chance.open(&handles).unwrap().len(), 3);
        chance.next_deal().unwrap();
        assert_eq!(chance.dealt_to(a).iter().count(), 0);
        assert_eq!(chance.open(&handles), Err(Pause));
        assert_eq!(chance.shuffle(&cards(0..3)), Ok(DeckId(0)));
    }

    #[test]
    fn without_a_seed_needs_are_stated() {
        let mut chance = RefereeChance::default();
        assert_eq!(chance.flip(&Flip::Die(4)), Err(Pause));
        let need = Need::Flip(Flip::Die(4));
        assert_eq!(chance.stop(), Some(&Stop::Exhausted(need)));
        chance.add([], [4]);
        assert_eq!(chance.flip(&Flip::Die(4)), Ok(vec![4]));
        assert_eq!(chance.shuffle(&cards([5, 6])), Err(Pause));
        let need = Need::Shuffle(cards([5, 6]));
        assert_eq!(chance.stop(), Some(&Stop::Exhausted(need)));
    }
}
