//! The spots of the table, and the sources and destinations that they stand for.

use fairdeal_games::ivory::cards;
use fairdeal_games::ivory::{Ivory, Source, Target};
use fairdeal_protocol::card::Face;

use crate::tables::Spot;

/// The deck: choosing it turns cards.
pub(super) const DECK: Spot = Spot::Button(0);
/// The number of the deck's button.
pub(super) const TURN: u8 = 0;
/// The button that ends the game.
pub(super) const RESIGN: u8 = 1;
/// The draw pile; the resource piles follow.
pub(super) const DRAW: Spot = Spot::Pile(0);
pub(super) const TOWER: Spot = Spot::Square(0);
/// The most piles.
pub(super) const PILES: u8 = 3;

/// The spot of a resource pile.
pub(super) fn pile_spot(pile: u8) -> Spot {
    Spot::Pile(pile.saturating_add(1))
}

pub(super) fn source_spot(from: Source) -> Spot {
    match from {
        Source::Draw => DRAW,
        Source::Pile(pile) => pile_spot(pile),
    }
}

pub(super) fn source(spot: Spot) -> Option<Source> {
    match spot {
        Spot::Pile(0) => Some(Source::Draw),
        Spot::Pile(pile) => Some(Source::Pile(pile - 1)),
        _ => None,
    }
}

/// The number of piles, which is also the number of the next one.
pub(super) fn piles(game: &Ivory) -> u8 {
    u8::try_from(game.piles().len()).unwrap_or(u8::MAX)
}

/// The spot of a destination.
pub(super) fn target_spot(game: &Ivory, to: Target) -> Spot {
    match to {
        Target::Tower => TOWER,
        Target::Pile(pile) => pile_spot(pile),
        Target::New => pile_spot(piles(game)),
    }
}

/// The destination at a spot.
pub(super) fn target(game: &Ivory, spot: Spot) -> Option<Target> {
    match spot {
        TOWER => Some(Target::Tower),
        Spot::Pile(pile) => {
            let pile = pile.checked_sub(1)?;
            Some(if pile < piles(game) { Target::Pile(pile) } else { Target::New })
        }
        _ => None,
    }
}

/// The spot that a card was played from, as far as the board after the move tells.
pub(super) fn came_from(game: &Ivory, card: Face, to: Target, uncovered: Option<Face>) -> Spot {
    if uncovered.is_some() || to == Target::New || game.draw_pile().is_empty() {
        return DRAW;
    }
    // It lay on a card of the next rank, or was a Crown alone in a pile that is gone.
    let lay = (0..).zip(game.piles()).find(|(number, pile)| {
        let on = pile.last();
        let fits = on.is_some_and(|on| cards::rank(*on) == cards::rank(card) + 1 && !cards::share_a_suit(*on, card));
        fits && to != Target::Pile(*number)
    });
    pile_spot(lay.map_or_else(|| piles(game), |(number, _)| number))
}
