//! The spots of this table: what their numbers mean.

use fairdeal_protocol::seat::Seat;

use crate::tables::Spot;

/// The pyramids that stand in no house.
pub(super) const BANK: Spot = Spot::Pile(0);
pub(super) const DECK: Spot = Spot::Pile(1);
pub(super) const DISCARDS: Spot = Spot::Pile(2);
/// The bids that lie in the open.
pub(super) const POOL: Spot = Spot::Pile(3);

/// The card picked goes to the discard pile.
pub(super) const DISCARD: u8 = 0;
/// The card picked relieves the own Trouble.
pub(super) const RELIEVE: u8 = 1;
/// A card to be picked calls the end.
pub(super) const END: u8 = 2;
/// The own house is pulled down.
pub(super) const DEMOLISH: u8 = 3;
/// A house to be picked is knocked over.
pub(super) const TOPPLE: u8 = 4;

/// Where the hand of a seat is told on the board.
const HAND: u8 = 8;
const ROOF: u8 = 15;
/// The Foundation, and the Stories after it.
const LEVELS: u8 = 16;

/// A seat's hand as the others see it.
pub(super) fn hand(seat: Seat) -> Spot {
    Spot::Part(seat, HAND)
}

/// A card of Trouble against a seat's house.
pub(super) fn trouble(seat: Seat, number: usize) -> Spot {
    Spot::Part(seat, u8::try_from(number).unwrap_or(u8::MAX))
}

/// A level of a house; the Foundation is 0.
pub(super) fn level(seat: Seat, number: usize) -> Spot {
    let number = u8::try_from(number).unwrap_or(u8::MAX);
    Spot::Part(seat, LEVELS.saturating_add(number))
}

/// The Roof of a house.
pub(super) fn roof(seat: Seat) -> Spot {
    Spot::Part(seat, ROOF)
}

/// Whether a spot of the board can be looked at and chosen, not just flown to.
pub(super) fn is_choosable(spot: Spot) -> bool {
    !matches!(spot, Spot::Part(_, HAND..))
}
