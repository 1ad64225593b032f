//! Facts of Houses of Thoth: the quickest house, and the one that is worth most.
//!
//! # Proofs
//! No house is finished in one turn: the engine plays every card in every way, and all cards of the extra turns that
//! follow. No house is worth more than its levels allow, however many of each size it has. The engine plays a hand that
//! reaches each bound.

use std::collections::BTreeMap;

use fairdeal_games::chance::RefereeChance;
use fairdeal_games::pyramid::Size;
use fairdeal_games::rule_set;
use fairdeal_games::thoth::cards::{self, Element, Suited};
use fairdeal_games::thoth::house::{Bank, CORNERS};
use fairdeal_games::thoth::{INFO, LastHand, Thoth, ThothAction, Use};
use fairdeal_protocol::card::Face;
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;

use super::assert_says;

/// Number of cards dealt to each player.
const DEALT: usize = 5;

/// A hand of two players, whose first begins.
#[derive(Clone)]
struct Table {
    game: Thoth,
    chance: RefereeChance,
    /// The cards that the first player draws, one a turn, while no extra turns come.
    draws: Vec<Face>,
}

fn card(name: &str) -> Face {
    cards::by_name(name).unwrap_or_else(|| panic!("no card {name}"))
}

fn builder() -> Seat {
    Seat::FIRST
}

/// These cards for the first player, each followed by one of the others for the second; then the rest of the others.
fn dealt_in_turn(first: &[Face], others: &[Face]) -> Vec<u32> {
    let mut others = others.iter();
    let mut order = Vec::new();
    for card in first {
        order.push(card);
        order.extend(others.next());
    }
    order.extend(others);
    order.into_iter().map(|card| u32::from(card.0)).collect()
}

/// The cards of a pile that the first player does not draw.
fn without<'a>(pile: impl IntoIterator<Item = Face> + 'a, draws: &'a [Face]) -> Vec<Face> {
    pile.into_iter().filter(|card| !draws.contains(card)).collect()
}

impl Table {
    /// The first player holds the first five cards and draws the others.
    fn new(first: &[Face]) -> Self {
        // Any points end the game, so no second hand is dealt.
        let one_hand = BTreeMap::from([("target".to_owned(), "1".to_owned())]);
        let mut game = Thoth::create(&rule_set("houses-of-thoth", 2, &one_hand).unwrap()).unwrap();
        let mut chance = RefereeChance::default();
        // Those that come before the deck is used up; the others come after it.
        let now = &first[..first.len().min(DEALT + (usize::from(cards::DECK_SIZE) - 2 * DEALT) / 2)];
        // The second player keeps five cards that the first one never needs, and discards the others.
        let others = without(cards::all(), now).into_iter();
        let (needed, spare): (Vec<_>, Vec<_>) = others.partition(|card| first.contains(card));
        let others = [&spare[..DEALT], &needed, &spare[DEALT..]].concat();
        chance.add([dealt_in_turn(now, &others)], [2]);
        game.begin(&mut chance, &mut Vec::new()).unwrap();
        Self { game, chance, draws: first[now.len()..].to_vec() }
    }

    fn is_builders_turn(&self) -> bool {
        self.game.to_act().contains(builder())
    }

    /// Plays a card of the seat whose turn it is.
    fn play(&mut self, card: Face, as_: Use) {
        let seat = self.game.to_act().iter().next().unwrap();
        let slots = self.game.hand_of(seat);
        let slot = slots.iter().find(|slot| slot.face(self.chance.faces()) == Some(card)).unwrap();
        let action = ThothAction::Play { card, handle: slot.handle(), as_ };
        if self.game.deck().is_empty() {
            let pile = self.game.discard_pile().iter().copied().chain([card]);
            let order = dealt_in_turn(&self.draws, &without(pile, &self.draws));
            self.chance.add([order], []);
        }
        self.game.apply(seat, &action, &mut self.chance, &mut Vec::new()).unwrap();
    }

    /// The first player's turns: each a card, as what it is played, and the extra turns after it. The second player
    /// discards whatever comes.
    fn build(&mut self, plays: &[(Face, Use)]) -> &LastHand {
        for (card, as_) in plays {
            while !self.is_builders_turn() {
                let other = self.game.to_act().iter().next().unwrap();
                let drawn = self.game.hand_of(other).last().and_then(|slot| slot.face(self.chance.faces())).unwrap();
                self.play(drawn, Use::Discard);
            }
            self.play(*card, *as_);
        }
        self.game.last_hand().expect("the hand is over")
    }
}

/// Whether a house can be finished in its player's first turn, after these plays in it.
fn ends_in_one_turn(played: &[(Face, Use)]) -> bool {
    let held: Vec<Face> = played.iter().map(|(card, _)| *card).collect();
    without(cards::all(), &held).into_iter().any(|next| {
        let mut table = Table::new(&[held.as_slice(), &[next]].concat());
        for (card, as_) in played {
            table.play(*card, *as_);
        }
        let legal = table.game.legal(builder(), table.chance.faces());
        legal.into_iter().any(|action| match action {
            ThothAction::Play { card, as_, .. } if card == next => {
                let mut after = table.clone();
                after.play(card, as_);
                let further = || ends_in_one_turn(&[played, &[(card, as_)]].concat());
                after.game.last_hand().is_some() || after.is_builders_turn() && further()
            }
            _ => false,
        })
    })
}

fn raise(size: Size, count: u8) -> Use {
    Use::Raise { size, count }
}

#[test]
fn no_house_is_finished_in_one_turn() {
    assert!(!ends_in_one_turn(&[]));
    let plays = [("fool", Use::Foundation), ("8-swords", raise(Size::Medium, 4)), ("10-swords", Use::Roof)];
    let plays = plays.map(|(name, as_)| (card(name), as_));
    let mut table = Table::new(&plays.map(|(card, _)| card));
    let house = table.build(&plays).houses[0].clone();
    assert_eq!(table.game.discard_pile().len(), 2, "one of each player: the second one had one turn");
    assert_says(
        &INFO,
        &format!(
            "A house can get its Roof in its player's second turn, never in the first. This one took the fool with its \
             extra turn, the 8 of swords and the 10 of swords, and is worth {} points.",
            house.score()
        ),
    );
}

/// The most points of a house, from its levels alone.
fn bound() -> i64 {
    let bank = Bank::default();
    let stories = cards::all()
        .filter(|card| cards::is_planetary(*card) || matches!(cards::suited(*card), Some((_, Suited::Court(_)))))
        .count();
    let of_size =
        |size: Size| -> usize { Element::ALL.iter().map(|element| usize::from(bank.count(*element, size))).sum() };
    let most = Size::ALL.map(|size| of_size(size) / CORNERS);
    let pips = |size: Size, count: usize| usize::from(size.pips()) * count;
    let mut best = 0;
    for small in 0..=most[0] {
        for medium in 0..=most[1] {
            for large in 0..=most[2] {
                let full = [small, medium, large];
                let levels: usize = full.iter().sum();
                if levels == 0 || levels > stories + 1 {
                    continue;
                }
                let on_full: usize =
                    Size::ALL.into_iter().zip(full).map(|(size, count)| pips(size, count * CORNERS)).sum();
                let matching = |element: Element| -> usize {
                    let of = |(size, count): (Size, usize)| usize::from(bank.count(element, size)).min(count * CORNERS);
                    Size::ALL.into_iter().zip(full).map(of).sum()
                };
                let matches = Element::ALL.into_iter().map(matching).max().unwrap_or(0);
                best = best.max(on_full + levels - 1 + 5 + matches);
                // Without a Roof there may be one more level, which is not full.
                for (size, count) in Size::ALL.into_iter().zip(full) {
                    let more = (of_size(size) - count * CORNERS).min(CORNERS - 1);
                    best = best.max(on_full + levels.min(stories) + pips(size, more));
                }
            }
        }
    }
    i64::try_from(best).unwrap()
}

/// The plays of the house that is worth most. Each size has four levels of one element, one of spirit and one of the
/// four others.
fn richest() -> Vec<(Face, Use)> {
    use Size::{Large, Medium, Small};
    use Use::{Foundation, Roof, Story};
    let four =
        |rank: u8, size| ["wands", "cups", "swords", "disks"].map(|suit| (format!("{rank}-{suit}"), raise(size, 1)));
    let one = |name: &str, as_| vec![(name.to_owned(), as_)];
    let level = |name: &str, raises: &[(&str, Size, u8)]| {
        let raises = raises.iter().map(|(name, size, count)| ((*name).to_owned(), raise(*size, *count)));
        one(name, Story).into_iter().chain(raises).collect::<Vec<_>>()
    };
    let plays = [
        one("ace-wands", Foundation),
        one("4-wands", raise(Small, 4)),
        level("queen-wands", &[("4-cups", Small, 4)]),
        level("prince-cups", &[("4-swords", Small, 4)]),
        level("princess-swords", &[("4-disks", Small, 4)]),
        level("magician", &[("emperor", Small, 4)]),
        level("priestess", &[]),
        four(2, Small).to_vec(),
        level("king-wands", &[("8-wands", Medium, 4)]),
        level("prince-wands", &[("8-swords", Medium, 4)]),
        level("queen-swords", &[("8-cups", Medium, 4)]),
        level("princess-cups", &[("8-disks", Medium, 4)]),
        level("empress", &[("strength", Medium, 4)]),
        level("wheel", &[]),
        four(3, Medium).to_vec(),
        level("king-disks", &[("9-wands", Large, 3), ("5-wands", Large, 1)]),
        level("princess-wands", &[("9-disks", Large, 3), ("5-disks", Large, 1)]),
        level("queen-disks", &[("9-cups", Large, 3), ("5-cups", Large, 1)]),
        level("sun", &[("temperance", Large, 4)]),
        level("tower", &[]),
        four(6, Large).to_vec(),
        level("king-swords", &[("9-swords", Large, 3), ("5-swords", Large, 1)]),
        one("10-swords", Roof),
    ];
    plays.into_iter().flatten().map(|(name, as_)| (card(&name), as_)).collect()
}

#[test]
fn no_house_is_worth_more() {
    let plays = richest();
    // Trumps in hand cost nothing at the end.
    let held = ["fool", "hanged-man", "judgment", "world", "devil"].map(card);
    let cards: Vec<Face> = held.into_iter().chain(plays.iter().map(|(card, _)| *card)).collect();
    let mut table = Table::new(&cards);
    let hand = table.build(&plays);
    let (house, points) = (&hand.houses[0], bound());
    assert_eq!((house.score(), hand.scores[0]), (points, points));
    let pips: u32 = house.pyramids().map(|pyramid| u32::from(pyramid.size.pips())).sum();
    let matching = house.pyramids().filter(|pyramid| Some(pyramid.element) == cards::roof_element(card("10-swords")));
    assert_says(
        &INFO,
        &format!(
            "No house is worth more than {points} points, and one can be: {} full levels with {pips} pips, {} Stories, \
             and a Roof that matches {} pyramids.",
            house.levels.len(),
            house.stories(),
            matching.count()
        ),
    );
}
