//! The place of a King, as far as all have seen the cards of the packs.
//!
//! Cards that were turned up stay beside their Pylon; a King that was put back is an open card under its pack. Any other
//! card is equally likely at each place that nobody has seen.

use fairdeal_protocol::card::{Face, Slot};
use fairdeal_protocol::seat::Seat;

use super::board::Pylon;
use super::{Sphinx, cards};

/// The place of a card of the packs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Whereabouts {
    /// It lies beside a Pylon.
    TurnedUp(Pylon),
    /// It was seen and put under this pack; so many cards lie above it.
    Under { pylon: Pylon, above: usize },
    /// It is one of the unseen cards of these packs, of which each has so many.
    Unseen(Vec<(Pylon, usize)>),
}

impl Whereabouts {
    /// The Pylons whose packs may hold the card, and their unseen cards.
    pub fn packs(&self) -> Vec<(Pylon, usize)> {
        match self {
            Self::TurnedUp(_) => Vec::new(),
            Self::Under { pylon, .. } => vec![(*pylon, 0)],
            Self::Unseen(packs) => packs.clone(),
        }
    }
}

impl Sphinx {
    /// The King that a seat seeks.
    pub fn king(&self, seat: Seat) -> Option<Face> {
        let suit = cards::suit(self.jack(seat)?);
        cards::of_ranks(&[cards::KING]).into_iter().find(|king| cards::suit(*king) == suit)
    }

    /// The place of a card of the packs, worked out from the cards that all have seen.
    pub fn whereabouts(&self, card: Face) -> Whereabouts {
        let mut unseen = Vec::new();
        for pylon in Pylon::ALL {
            if self.turned(pylon).contains(&card) {
                return Whereabouts::TurnedUp(pylon);
            }
            let from_the_top = self.pack(pylon).iter().rev();
            if let Some(above) = from_the_top.clone().position(|slot| *slot == Slot::Open(card)) {
                return Whereabouts::Under { pylon, above };
            }
            let sealed = from_the_top.filter(|slot| matches!(slot, Slot::Sealed(_))).count();
            if sealed > 0 {
                unseen.push((pylon, sealed));
            }
        }
        Whereabouts::Unseen(unseen)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use fairdeal_protocol::card::Handle;
    use fairdeal_protocol::game::Game as _;

    use super::*;
    use crate::chance::RefereeChance;
    use crate::registry::rule_set;
    use crate::sphinx::cards::{KING, of_ranks};

    /// A game whose packs have so many sealed cards.
    fn packs(sealed: [usize; 4]) -> Sphinx {
        let mut game = Sphinx::create(&rule_set("sphinxs-paw", 2, &BTreeMap::new()).unwrap()).unwrap();
        let mut chance = RefereeChance::from_seed([1; 32]);
        game.begin(&mut chance, &mut Vec::new()).unwrap();
        for (pack, left) in game.packs.iter_mut().zip(sealed) {
            let handles: Vec<Handle> = pack.iter().filter_map(|slot| slot.handle()).take(left).collect();
            *pack = handles.into_iter().map(Slot::Sealed).collect();
        }
        game
    }

    #[test]
    fn an_unseen_king_is_in_any_pack_with_unseen_cards() {
        let game = packs([4, 0, 1, 3]);
        let king = game.king(Seat::FIRST).unwrap();
        let expected = vec![(Pylon::North, 4), (Pylon::South, 1), (Pylon::West, 3)];
        assert_eq!(game.whereabouts(king), Whereabouts::Unseen(expected.clone()));
        assert_eq!(game.whereabouts(king).packs(), expected);
    }

    #[test]
    fn packs_of_other_kings_alone_hold_no_king() {
        let mut game = packs([1, 0, 0, 2]);
        let own = game.king(Seat::FIRST).unwrap();
        let other = of_ranks(&[KING]).into_iter().find(|king| *king != own).unwrap();
        game.packs[1] = vec![Slot::Open(other)];
        game.turned[2] = vec![Face(0), Face(1)];
        let places = game.whereabouts(own).packs();
        assert_eq!(places, [(Pylon::North, 1), (Pylon::West, 2)]);
    }

    #[test]
    fn a_king_that_was_put_back_is_known() {
        let mut game = packs([2, 4, 4, 4]);
        let king = game.king(Seat::FIRST).unwrap();
        game.packs[0].insert(0, Slot::Open(king));
        let (pylon, above) = (Pylon::North, 2);
        assert_eq!(game.whereabouts(king), Whereabouts::Under { pylon, above });
        assert_eq!(game.whereabouts(king).packs(), [(Pylon::North, 0)]);
    }

    #[test]
    fn a_king_that_was_found_is_in_no_pack() {
        let mut game = packs([3, 4, 4, 4]);
        let king = game.king(Seat::FIRST).unwrap();
        game.turned[0].push(king);
        assert_eq!(game.whereabouts(king), Whereabouts::TurnedUp(Pylon::North));
        assert!(game.whereabouts(king).packs().is_empty());
    }
}
