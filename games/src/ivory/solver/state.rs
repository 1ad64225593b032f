//! Packed states of the search, and the plays between them.
//!
//! A set of cards is a word with bit `n` for the card of number `n`. Cards are numbered rank by rank and a pile has one
//! card a rank, so the set of a pile's cards tells their order: the last card is the lowest bit.

use fairdeal_protocol::card::{Face, Faces};

use crate::ivory::cards::{self, CROWN, DECK_SIZE, Suit};
use crate::ivory::{Ivory, MOST_PILES, TURNED};

/// The properties of a card that the search needs.
#[derive(Clone, Copy, Debug, Default)]
struct Card {
    /// A bit for each suit.
    suits: u8,
    rank: u8,
    /// The cards that may lie on it in a pile.
    takes: u64,
    /// Whether only one card of the deck takes it: on that card it lies until the tower takes it.
    rests: bool,
}

/// The deck, and the stock of the game that is searched.
#[derive(Debug)]
pub(super) struct Table {
    cards: Vec<Card>,
    /// The cards of each suit, in the order of [`Suit::ALL`].
    of_suit: Vec<u64>,
    /// Draw pile and deck as one sequence, from the bottom of the draw pile to the bottom of the deck.
    stock: Vec<u8>,
}

/// Where a play puts its card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Goal {
    Tower,
    New,
    /// Onto this card, the last of its pile.
    Onto(Face),
}

/// A play, after the turns that bring its card to the top if it comes from the stock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Play {
    pub(crate) card: Face,
    pub(crate) goal: Goal,
}

/// The part of a position that decides the rest of the game.
///
/// Only plays change the order of things: turns go round the stock, whose cards keep their order. So a state stands for
/// all positions that turns lead to from each other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct State {
    /// The places of [`Table::stock`] whose cards are still there.
    stock: u64,
    /// The piles, highest set first; 0 for none. The rules do not mind their order.
    piles: [u64; MOST_PILES],
    /// The suits that the tower can still be completed in. One, once its Ace lies.
    suits: u8,
    /// The rank of the tower's top card.
    height: u8,
    /// The number of cards turned, or 0 where it does not matter: turning reaches every multiple of three and the
    /// whole stock from anywhere, other numbers only before the draw pile is turned over.
    turned: u8,
}

fn lowest(set: u64) -> usize {
    set.trailing_zeros() as usize
}

fn bits(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (set != 0).then(|| lowest(set))?;
        set &= set - 1;
        Some(bit)
    })
}

fn bit(card: usize) -> u64 {
    1_u64.checked_shl(u32::try_from(card).unwrap_or(u32::MAX)).unwrap_or(0)
}

fn face(card: usize) -> Face {
    Face(u8::try_from(card).unwrap_or(u8::MAX))
}

/// The count of turned cards as [`State::turned`] keeps it.
fn phase(turned: usize, stock: usize) -> u8 {
    if turned.is_multiple_of(TURNED) || turned == stock {
        return 0;
    }
    u8::try_from(turned).unwrap_or(0)
}

impl Table {
    /// The table and state of a game whose slots are all open; `None` if any is sealed.
    pub(super) fn of(game: &Ivory) -> Option<(Self, State)> {
        let slots = game.draw.iter().chain(game.deck.iter().rev());
        let stock: Vec<u8> = slots.map(|slot| Some(slot.face(&Faces::new())?.0)).collect::<Option<_>>()?;
        let table = Self::new(stock);
        let set = |pile: &Vec<Face>| pile.iter().fold(0, |set, card| set | bit(card.index()));
        let mut piles = [0; MOST_PILES];
        for (place, pile) in piles.iter_mut().zip(&game.piles) {
            *place = set(pile);
        }
        let mut state = State {
            stock: bit(table.stock.len()) - 1,
            piles,
            suits: game.tower.first().map_or(u8::MAX >> 2, |ace| table.card(ace.index()).suits),
            height: game.score(),
            turned: phase(game.draw.len(), table.stock.len()),
        };
        for pile in &game.piles {
            for (under, card) in pile.iter().zip(pile.iter().skip(1)) {
                state.cover(&table, under.index(), card.index());
            }
        }
        state.piles.sort_unstable_by(|one, other| other.cmp(one));
        Some((table, state))
    }

    fn new(stock: Vec<u8>) -> Self {
        let suits =
            |card: Face| Suit::ALL.iter().rev().fold(0, |set, suit| set << 1 | u8::from(cards::has(card, *suit)));
        let mut table: Vec<Card> =
            cards::all().map(|card| Card { suits: suits(card), rank: cards::rank(card), ..Card::default() }).collect();
        let plain = table.clone();
        let fits = |card: &Card, under: &Card| card.rank + 1 == under.rank && card.suits & under.suits == 0;
        for card in &mut table {
            card.takes = set_of(&plain, |other| fits(other, card));
            card.rests = plain.iter().filter(|under| fits(card, under)).count() == 1;
        }
        let of_suit = (0..Suit::ALL.len()).map(|suit| set_of(&plain, |card| card.suits >> suit & 1 == 1));
        Self { of_suit: of_suit.collect(), cards: table, stock }
    }

    fn card(&self, card: usize) -> Card {
        self.cards.get(card).copied().unwrap_or_default()
    }
}

fn set_of(cards: &[Card], is: impl Fn(&Card) -> bool) -> u64 {
    cards.iter().enumerate().filter(|(_, card)| is(card)).fold(0, |set, (number, _)| set | bit(number))
}

impl State {
    /// A number that only this state has, apart from [`State::suits`], which follows from the rest. Not 0.
    pub(super) fn key(&self) -> u128 {
        let [one, two, three] = self.piles.map(u128::from);
        // Two bits a card tell its pile. The tower's suit and height tell its cards, the rest is the stock.
        let suit = if self.height == 0 { 0 } else { self.suits };
        let small = [suit, self.height, self.turned].into_iter().fold(1, |key, part| key << 8 | u128::from(part));
        small << (2 * DECK_SIZE) | (two | three) << DECK_SIZE | one | three
    }

    /// Whether the tower is complete.
    pub(super) fn is_won(&self) -> bool {
        self.height == CROWN
    }

    /// Whether no tower can be completed, as far as the covered cards tell.
    pub(super) fn is_hopeless(&self) -> bool {
        self.suits == 0
    }

    /// The cards that the tower takes. While it is empty, Aces of lost suits are left out.
    fn wanted(&self, table: &Table) -> u64 {
        let suits = table.of_suit.iter().enumerate().filter(|(suit, _)| self.suits >> suit & 1 == 1);
        let cards = suits.fold(0, |set, (_, cards)| set | cards);
        let rank = match self.height + 1 {
            1 => 0..6,
            CROWN => 30..36,
            // Three cards a rank, from the two.
            rank => 3 * u32::from(rank)..3 * u32::from(rank) + 3,
        };
        cards & ((1 << rank.end) - (1 << rank.start))
    }

    /// Notes that `card` lies on `under`. If it rests there, no tower of a suit of `under` is ever completed: the tower
    /// needs the card beneath, and never takes one of the cards above, which has none of its suits.
    fn cover(&mut self, table: &Table, under: usize, card: usize) {
        let below = table.card(under);
        if table.card(card).rests && below.rank > self.height {
            self.suits &= !below.suits;
        }
    }

    fn build(&mut self, table: &Table, card: usize) {
        self.height += 1;
        if self.height == 1 {
            self.suits = table.card(card).suits;
        }
    }

    /// Appends every play with the state that it leads to, the most promising last. Plays after which nothing can be
    /// won, as far as the covered cards tell, are left out.
    pub(super) fn plays(&self, table: &Table, found: &mut Vec<(u8, Play, Self)>) {
        let wanted = self.wanted(table);
        let from_pile = self.piles.iter().enumerate().filter(|(_, pile)| **pile != 0);
        for (place, pile) in from_pile {
            let card = lowest(*pile);
            let mut without = *self;
            if let Some(pile) = without.piles.get_mut(place) {
                *pile &= !bit(card);
            }
            without.places(table, card, wanted, Some(place), found);
        }
        let count = self.stock.count_ones() as usize;
        let from = usize::from(self.turned);
        for (under, place) in bits(self.stock).enumerate() {
            let turned = under + 1;
            let is_reached = turned.is_multiple_of(TURNED)
                || turned == count
                || (from != 0 && turned >= from && (turned - from).is_multiple_of(TURNED));
            if let (true, Some(card)) = (is_reached, table.stock.get(place)) {
                let mut without = *self;
                without.stock &= !bit(place);
                without.turned = phase(under, count - 1);
                without.places(table, usize::from(*card), wanted, None, found);
            }
        }
        found.sort_by_key(|(rank, _, _)| *rank);
    }

    /// Appends the plays of a card that was taken off this pile, or off the draw pile.
    fn places(&self, table: &Table, card: usize, wanted: u64, pile: Option<usize>, found: &mut Vec<(u8, Play, Self)>) {
        let mut add = |rank: u8, goal, mut next: Self| {
            next.piles.sort_unstable_by(|one, other| other.cmp(one));
            found.push((rank, Play { card: face(card), goal }, next));
        };
        if wanted & bit(card) != 0 {
            let mut next = *self;
            next.build(table, card);
            add(if pile.is_some() { 5 } else { 4 }, Goal::Tower, next);
        }
        if pile.is_none()
            && table.card(card).rank == CROWN
            && let Some(free) = self.piles.iter().position(|pile| *pile == 0)
        {
            let mut next = *self;
            next.add(free, card);
            add(3, Goal::New, next);
        }
        for (place, cards) in self.piles.iter().enumerate() {
            let under = lowest(*cards);
            if pile == Some(place) || table.card(under).takes & bit(card) == 0 {
                continue;
            }
            let mut next = *self;
            next.add(place, card);
            next.cover(table, under, card);
            if !next.is_hopeless() {
                add(if pile.is_some() { 1 } else { 2 }, Goal::Onto(face(under)), next);
            }
        }
    }

    fn add(&mut self, pile: usize, card: usize) {
        if let Some(pile) = self.piles.get_mut(pile) {
            *pile |= bit(card);
        }
    }
}
