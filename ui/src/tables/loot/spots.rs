//! The spots of the piles, the fire button and the player's cards, and when a fire burns.

use fairdeal_games::loot::Loot;
use fairdeal_protocol::card::{Face, Slot};

use crate::tables::{Spot, ViewContext};

pub(super) const DRAW_PILE: Spot = Spot::Pile(0);
pub(super) const DISCARD_PILE: Spot = Spot::Pile(1);
pub(super) const VILLAGE: Spot = Spot::Pile(2);
pub(super) const FIRE: u8 = 0;

/// Says when a village that has been fired burns.
pub(super) fn burns_when(loot: &Loot, view: &ViewContext<'_>) -> String {
    match loot.turn() {
        Some(seat) if view.me == Some(seat) => "it burns when you have discarded".to_owned(),
        Some(seat) => format!("it burns when {} has discarded", view.name(seat)),
        None => "the game is over".to_owned(),
    }
}

/// The former place of a card that the player has discarded.
///
/// A drawn card is known by its handle. If it has since come back from the discard pile, it lay in the open. The board
/// no longer shows which of the two it was, and the newest sealed deck is likelier.
pub(super) fn place_of(card: Face, view: &ViewContext<'_>) -> Spot {
    let sealed = view.known.iter().filter(|(_, face)| *face == card).last();
    Spot::Card(sealed.map_or(Slot::Open(card), |(handle, _)| Slot::Sealed(handle)))
}
