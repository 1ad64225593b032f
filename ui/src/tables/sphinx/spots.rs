//! The spots of the table, and the pieces at them.

use fairdeal_games::TableGame as _;
use fairdeal_games::pyramid::Size;
use fairdeal_games::sphinx::board::{Pylon, Square};
use fairdeal_games::sphinx::{Sphinx, SphinxAction};
use fairdeal_protocol::seat::Seat;

use crate::tables::Spot;

/// The numbers of the buttons.
pub(super) const END: u8 = 1;
pub(super) const VOTE: u8 = 2;
pub(super) const UNVOTE: u8 = 3;
pub(super) const DIE: Spot = Spot::Pile(7);

/// The spot of the Monsters of a size in the supply.
pub(super) fn supply_spot(size: Size) -> Spot {
    Spot::Pile(size.pips() - 1)
}

/// The size of a supply spot.
pub(super) fn size_of(spot: Spot) -> Option<Size> {
    Size::ALL.into_iter().find(|size| supply_spot(*size) == spot)
}

pub(super) fn pack_spot(pylon: Pylon) -> Spot {
    let number = u8::try_from(pylon.index()).unwrap_or(0);
    Spot::Pile(3 + number)
}

/// The Pylon of a pack's spot.
pub(super) fn pylon_of(spot: Spot) -> Option<Pylon> {
    Pylon::ALL.into_iter().find(|pylon| pack_spot(*pylon) == spot)
}

/// The spot of a square, numbered from a1 along the files.
pub(super) fn square_spot(square: Square) -> Spot {
    let number = Square::all().position(|other| other == square);
    Spot::Square(number.and_then(|n| u8::try_from(n).ok()).unwrap_or(0))
}

pub(super) fn square_of(spot: Spot) -> Option<Square> {
    match spot {
        Spot::Square(number) => Square::all().nth(usize::from(number)),
        _ => None,
    }
}

/// The seats whose Magicians stand on a square.
pub(super) fn magicians_on(game: &Sphinx, square: Square) -> impl Iterator<Item = Seat> {
    let seats = Seat::first(game.seats());
    seats.filter(move |seat| game.magician(*seat) == Some(square))
}

/// The sizes of the Monsters on a square.
pub(super) fn sizes_on(game: &Sphinx, square: Square) -> impl Iterator<Item = Size> {
    Size::ALL.into_iter().zip(game.monsters_on(square)).filter(|(_, count)| *count > 0).map(|(size, _)| size)
}

/// The seats whose Magicians are surrounded once a Monster reaches a square from another square or from the supply.
fn surrounded(game: &Sphinx, from: Option<Square>, to: Square) -> Vec<Seat> {
    let left = |at: Square| {
        let there: u8 = game.monsters_on(at).iter().sum();
        there.saturating_sub(u8::from(from == Some(at)))
    };
    let closed = |at: Square| at == to || left(at) > 0;
    let lost = |seat: &Seat| game.magician(*seat).is_some_and(|at| Pylon::at(at).is_none() && at.around().all(closed));
    Seat::first(game.seats()).filter(lost).collect()
}

/// The seats that lose by a Monster's move or entry.
pub(super) fn victims(game: &Sphinx, action: &SphinxAction) -> Vec<Seat> {
    match *action {
        SphinxAction::Introduce { at, .. } => surrounded(game, None, at),
        SphinxAction::Monster { from, to, .. } => surrounded(game, Some(from), to),
        _ => Vec::new(),
    }
}
