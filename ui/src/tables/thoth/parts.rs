//! The spots of this table and their numbers.

use fairdeal_protocol::seat::Seat;

use crate::tables::Spot;

/// The pyramids in no house.
pub(super) const BANK: Spot = Spot::Pile(0);
pub(super) const DECK: Spot = Spot::Pile(1);
pub(super) const DISCARDS: Spot = Spot::Pile(2);
/// The open bids.
pub(super) const POOL: Spot = Spot::Pile(3);

/// The picked card goes to the discard pile.
pub(super) const DISCARD: u8 = 0;
/// The picked card relieves the player's own Trouble.
pub(super) const RELIEVE: u8 = 1;
/// The card picked next calls the end.
pub(super) const END: u8 = 2;
/// Pulls down the player's own house.
pub(super) const DEMOLISH: u8 = 3;
/// Knocks over the house picked next.
pub(super) const TOPPLE: u8 = 4;

/// The place of a seat's hand on the board.
const HAND: u8 = 8;
const ROOF: u8 = 15;
/// The Foundation; the Stories follow.
const LEVELS: u8 = 16;

/// A seat's hand, as the others see it.
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
