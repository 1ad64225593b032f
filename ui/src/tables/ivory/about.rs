//! The words about a place: its card, where that can go, why not elsewhere, and where the next card of the tower is.

use std::collections::BTreeSet;

use fairdeal_games::counted;
use fairdeal_games::ivory::cards::{self, CROWN};
use fairdeal_games::ivory::{Ivory, Source, Target, named};
use fairdeal_protocol::card::Face;
use ratatui::text::{Line, Span};

use super::spots::{DECK, DRAW, RESIGN, TOWER, source};
use super::{draw, faces};
use crate::canvas::Spot;
use crate::theme::Theme;

/// The most cards that [`coming`] tells of.
const TOLD: usize = 6;

/// A card with its suits: "9 merchant, leaves and knots".
fn in_full(card: Face) -> String {
    match cards::suits(card).as_slice() {
        [one, other] => format!("{}, {} and {}", named(card), one.name(), other.name()),
        _ => named(card),
    }
}

/// The name of a place, which is that of its card.
pub(super) fn title(game: &Ivory, spot: Spot) -> String {
    let card = source(spot).and_then(|from| game.available(from));
    match (spot, card) {
        (_, Some(card)) => in_full(card),
        (TOWER, _) => match game.tower().first().and_then(|ace| cards::suits(*ace).first().copied()) {
            Some(suit) => format!("The tower of {}", suit.name()),
            None => "The tower".to_owned(),
        },
        (DECK, _) => "The deck".to_owned(),
        (Spot::Button(RESIGN), _) => "Resign".to_owned(),
        (DRAW, _) => "The draw pile".to_owned(),
        (Spot::Pile(pile), _) => format!("Pile {pile}"),
        _ => String::new(),
    }
}

/// Facts that help to decide about a place, the most useful first.
pub(super) fn lines(game: &Ivory, spot: Spot) -> Vec<String> {
    let from = source(spot).filter(|from| game.available(*from).is_some());
    match (spot, from) {
        (_, Some(from)) => about_card(game, from),
        (TOWER, _) => about_tower(game),
        (Spot::Button(RESIGN), _) => {
            vec![format!("It ends the game. Your tower counts: {} of {CROWN}.", game.score())]
        }
        (Spot::Button(_), _) => vec![if game.deck().is_empty() {
            "The draw pile is turned over to be the deck again. Nothing is shuffled.".to_owned()
        } else {
            "Up to three cards go from it to the draw pile. Only the last one can be played.".to_owned()
        }],
        (DRAW, _) => vec!["It is empty until you turn cards from the deck.".to_owned()],
        (Spot::Pile(_), _) => vec![
            "A Crown from the draw pile begins a pile. There are at most three.".to_owned(),
            "Onto a pile goes one rank lower, if it shares no suit with the card below it.".to_owned(),
        ],
        _ => Vec::new(),
    }
}

fn about_card(game: &Ivory, from: Source) -> Vec<String> {
    let Some(card) = game.available(from) else {
        return Vec::new();
    };
    let plays = game.plays();
    let plays = plays.iter().filter(|(source, _)| *source == from);
    let fits: Vec<String> = plays
        .map(|(_, to)| match to {
            Target::Tower => "on the tower".to_owned(),
            Target::New => "as a new pile".to_owned(),
            Target::Pile(pile) => format!("on pile {}", u16::from(*pile) + 1),
        })
        .collect();
    let mut about = vec![if fits.is_empty() {
        "Nothing takes it yet.".to_owned()
    } else {
        format!("It fits {}.", fairdeal_games::listed(&fits))
    }];
    about.extend(next_card(game).filter(|_| game.next() != Some(card)));
    for ((number, pile), at) in (1u16..).zip(game.piles()).zip(0u8..) {
        let Some(last) = pile.last().filter(|_| from != Source::Pile(at)) else {
            continue;
        };
        let shared = cards::suits(card).into_iter().find(|suit| cards::has(*last, *suit));
        match (cards::rank(*last) == cards::rank(card) + 1, shared) {
            (true, Some(suit)) => about.push(format!("Pile {number}: {} has {} too.", named(*last), suit.name())),
            (false, _) if cards::rank(*last) > 1 => {
                about.push(format!("Pile {number} takes rank {}.", cards::rank(*last) - 1));
            }
            _ => {}
        }
    }
    let under = match from {
        Source::Draw => {
            let under = game.draw_pile().iter().rev().nth(1);
            under.and_then(|slot| draw::seen(game, *slot))
        }
        Source::Pile(pile) => {
            let pile = game.piles().get(usize::from(pile));
            pile.and_then(|pile| pile.iter().rev().nth(1).copied())
        }
    };
    about.extend(under.map(|card| format!("Under it is {}.", named(card))));
    about
}

fn about_tower(game: &Ivory) -> Vec<String> {
    match game.tower() {
        [] => vec![
            "Any Ace begins it and decides its suit.".to_owned(),
            "Then it takes the next rank of that suit, up to the Crown. Nothing leaves it.".to_owned(),
        ],
        _ => next_card(game).into_iter().collect(),
    }
}

/// The place of the tower's next card, as far as the player can know it.
fn next_card(game: &Ivory) -> Option<String> {
    let next = game.next()?;
    let name = named(next);
    for (number, pile) in (1..).zip(game.piles()) {
        let over = pile.iter().rev().position(|card| *card == next);
        match over {
            Some(0) => return Some(format!("The tower takes {name} next, from pile {number}.")),
            Some(over) => {
                return Some(format!(
                    "The tower takes {name} next: it is in pile {number} under {}.",
                    counted(over, "card")
                ));
            }
            None => {}
        }
    }
    if game.top() == Some(next) {
        return Some(format!("The tower takes {name} next, from the draw pile."));
    }
    if !game.deck().iter().chain(game.draw_pile()).copied().any(|slot| draw::seen(game, slot) == Some(next)) {
        return Some(format!("The tower takes {name} next, which you have not seen yet."));
    }
    let turn = tops(game).position(|top| top == Some(next));
    Some(match turn {
        Some(0) => format!("The tower takes {name} next: it comes with the next turn."),
        Some(turns) => format!("The tower takes {name} next: it comes in {} turns.", turns + 1),
        None => format!("The tower takes {name} next: it is under other cards, which must be played first."),
    })
}

/// The cards that come to the top with each turn, if nothing is played: the rest of this pass, then a whole one.
fn tops(game: &Ivory) -> impl Iterator<Item = Option<Face>> {
    let mut copy = game.clone();
    let most = 2 * (game.deck().len() + game.draw_pile().len()) / 3 + 2;
    (0..most).map_while(move |_| {
        copy.turn_for_thought().then_some(())?;
        copy.draw_pile().last().map(|top| draw::seen(&copy, *top))
    })
}

/// The cards that the next turns bring, as far as the player has seen them.
pub(super) fn coming(game: &Ivory, theme: &Theme) -> Vec<Line<'static>> {
    let mut known = BTreeSet::new();
    let told = (1..).zip(tops(game)).filter_map(|(turn, top)| Some((turn, top?)));
    // A second pass may bring the same cards again.
    let told = told.filter(|(_, card)| known.insert(*card));
    told.take(TOLD)
        .map(|(turn, card)| {
            let lead = Span::styled(format!("turn {turn:<3}"), theme.ink());
            Line::from_iter(std::iter::once(lead).chain(faces::row(card, theme).spans))
        })
        .collect()
}
