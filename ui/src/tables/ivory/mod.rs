//! The table of Ivory Tower: the growing tower, the resource piles, the deck and the draw pile.
//!
//! A player chooses a card by its place, then its destination. The deck is the button that turns cards.

mod draw;
mod faces;
#[cfg(test)]
mod tests;

use fairdeal_games::ivory::cards::{self, CROWN};
use fairdeal_games::ivory::{Ivory, IvoryAction, IvoryEvent, Source, Target, named};
use fairdeal_protocol::card::Face;
use fairdeal_protocol::seat::Seat;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::{Animation, Board, Button, Motion, Spot, ViewContext};
use crate::canvas::Canvas;

/// The deck: choosing it turns cards.
const DECK: Spot = Spot::Button(0);
/// The number of the deck's button.
const TURN: u8 = 0;
/// The button that ends the game.
const RESIGN: u8 = 1;
/// The draw pile; the resource piles follow.
const DRAW: Spot = Spot::Pile(0);
const TOWER: Spot = Spot::Square(0);

/// The spot of a resource pile.
fn pile_spot(pile: u8) -> Spot {
    Spot::Pile(pile.saturating_add(1))
}

/// The spot of a source.
fn source_spot(from: Source) -> Spot {
    match from {
        Source::Draw => DRAW,
        Source::Pile(pile) => pile_spot(pile),
    }
}

/// The source at a spot.
fn source(spot: Spot) -> Option<Source> {
    match spot {
        Spot::Pile(0) => Some(Source::Draw),
        Spot::Pile(pile) => Some(Source::Pile(pile - 1)),
        _ => None,
    }
}

/// The number of piles, which is also the number of the next one.
fn piles(game: &Ivory) -> u8 {
    u8::try_from(game.piles().len()).unwrap_or(u8::MAX)
}

/// The spot of a destination.
fn target_spot(game: &Ivory, to: Target) -> Spot {
    match to {
        Target::Tower => TOWER,
        Target::Pile(pile) => pile_spot(pile),
        Target::New => pile_spot(piles(game)),
    }
}

/// The destination at a spot.
fn target(game: &Ivory, spot: Spot) -> Option<Target> {
    match spot {
        TOWER => Some(Target::Tower),
        Spot::Pile(pile) => {
            let pile = pile.checked_sub(1)?;
            Some(if pile < piles(game) {
                Target::Pile(pile)
            } else {
                Target::New
            })
        }
        _ => None,
    }
}

/// The card of a rank that the tower takes; `None` before its suit is known.
fn needed(game: &Ivory, rank: u8) -> Option<Face> {
    let ace = game.tower().first()?;
    cards::all().find(|card| cards::rank(*card) == rank && cards::share_a_suit(*ace, *card))
}

/// A destination in words.
fn target_words(game: &Ivory, to: Target) -> String {
    match to {
        Target::Tower => "onto the tower".to_owned(),
        Target::New => "begins a new pile".to_owned(),
        Target::Pile(pile) => {
            let last = game.available(Source::Pile(pile));
            let last = last.map_or_else(String::new, cards::name);
            format!("onto {last} of pile {pile}")
        }
    }
}

/// Says where an available card can go.
fn about_plays(game: &Ivory, from: Source) -> String {
    let plays = game.plays().into_iter();
    let targets: Vec<String> = plays
        .filter(|(other, _)| *other == from)
        .map(|(_, to)| target_words(game, to))
        .collect();
    if targets.is_empty() {
        "Nothing takes it now.".to_owned()
    } else {
        format!("It can be played: {}.", targets.join(", or "))
    }
}

fn about_pile(game: &Ivory, number: u8) -> Vec<String> {
    let Some((last, covered)) = game.piles().get(usize::from(number)).and_then(|pile| pile.split_last()) else {
        return vec![
            "A Crown from the draw pile begins a new pile here.".to_owned(),
            "There are at most three piles, so think twice which Crowns begin one.".to_owned(),
        ];
    };
    let mut about = vec![format!("Pile {number} ends with {}.", named(*last))];
    if !covered.is_empty() {
        let names: Vec<String> = covered.iter().rev().map(|card| named(*card)).collect();
        about.push(format!("It covers {}.", names.join(", ")));
    }
    about.push(about_plays(game, Source::Pile(number)));
    let fits =
        cards::all().filter(|card| cards::rank(*card) + 1 == cards::rank(*last) && !cards::share_a_suit(*card, *last));
    let fits: Vec<String> = fits.map(cards::name).collect();
    about.push(if fits.is_empty() {
        "No card can go onto an Ace.".to_owned()
    } else {
        format!(
            "It takes the next lower rank if that shares no suit with it: {}.",
            fits.join(", ")
        )
    });
    about
}

fn about_tower(game: &Ivory) -> Vec<String> {
    let goal = "The tower goes up in one suit, from its Ace by every rank to its Crown. Nothing leaves it.";
    let next = match game.tower() {
        [] => "Any Ace begins it, and makes its suit.".to_owned(),
        [.., top] => match needed(game, cards::rank(*top) + 1) {
            Some(next) => format!("It is {} of {CROWN} high. Next it takes {}.", game.score(), named(next)),
            None => "It is complete.".to_owned(),
        },
    };
    vec![next, goal.to_owned()]
}

/// The spot that a card was played from, as far as the board after the move tells.
fn came_from(game: &Ivory, card: Face, to: Target, uncovered: Option<Face>) -> Spot {
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

impl Board for Ivory {
    fn heading(&self) -> String {
        let deal = self
            .daily()
            .map_or_else(|| "own deal".to_owned(), |day| format!("deal of {day}"));
        let over = match self.recycles() {
            0 => "first time through".to_owned(),
            1 => "turned over once".to_owned(),
            more => format!("turned over {more} times"),
        };
        format!("{deal}, deck {over}")
    }

    fn seat_note(&self, _seat: Seat) -> String {
        if self.is_won() {
            "complete!".to_owned()
        } else {
            format!("tower {}/{CROWN}", self.score())
        }
    }

    fn prompt(&self, _me: Seat) -> String {
        let turn = if self.deck().is_empty() {
            "turn the draw pile over"
        } else {
            "turn cards"
        };
        if self.plays().is_empty() {
            format!("Nothing can be played: {turn}.")
        } else {
            format!("Play a card, or {turn}.")
        }
    }

    fn draw(&self, _look: &ViewContext<'_>, canvas: &mut Canvas<'_>, area: Rect) {
        draw::all(self, canvas, area);
    }

    fn path(&self, action: &IvoryAction, _look: &ViewContext<'_>) -> Vec<Spot> {
        match *action {
            IvoryAction::Turn => vec![DECK],
            IvoryAction::Resign => vec![Spot::Button(RESIGN)],
            IvoryAction::Play { from, to } => vec![source_spot(from), target_spot(self, to)],
        }
    }

    fn words(&self, action: &IvoryAction, _look: &ViewContext<'_>) -> String {
        match *action {
            IvoryAction::Turn => match (self.deck().len(), self.draw_pile().len()) {
                (0, 0) => "turn cards".to_owned(),
                (0, cards) => format!("turn the draw pile over, then {}", turned(cards)),
                (cards, _) => format!("turn {}", turned(cards)),
            },
            IvoryAction::Resign => format!("resign with the tower at {}", self.score()),
            IvoryAction::Play { from, to } => {
                let card = self.available(from);
                let card = card.map_or_else(|| "nothing".to_owned(), named);
                format!("{card} {}", target_words(self, to))
            }
        }
    }

    fn attempts(&self, spot: Spot, view: &ViewContext<'_>) -> Vec<IvoryAction> {
        let play = |from, to| IvoryAction::Play { from, to };
        let picked = view.picked.first().and_then(|spot| source(*spot));
        if let Some(from) = picked {
            let to = target(self, spot);
            return to.map(|to| play(from, to)).into_iter().collect();
        }
        match spot {
            Spot::Button(TURN) => vec![IvoryAction::Turn],
            Spot::Button(RESIGN) => vec![IvoryAction::Resign],
            TOWER => {
                let sources = (0..piles(self)).map(Source::Pile);
                let sources = std::iter::once(Source::Draw).chain(sources);
                sources.map(|from| play(from, Target::Tower)).collect()
            }
            Spot::Pile(_) => {
                let Some(from) = source(spot) else {
                    return Vec::new();
                };
                let card = self.available(from);
                let is_crown = card.is_some_and(|card| cards::rank(card) == CROWN);
                let new = is_crown.then_some(Target::New);
                let others = (0..piles(self)).map(Target::Pile);
                let others = others.filter(|to| target_spot(self, *to) != spot);
                let targets = std::iter::once(Target::Tower).chain(others).chain(new);
                targets.map(|to| play(from, to)).collect()
            }
            _ => Vec::new(),
        }
    }

    fn button(&self, number: u8) -> Button {
        let (key, label) = match number {
            TURN if self.deck().is_empty() => (Some('t'), "turn pile over"),
            TURN => (Some('t'), "turn cards"),
            RESIGN => (Some('r'), "resign"),
            _ => (None, "?"),
        };
        Button { key, label }
    }

    fn question(&self, action: &IvoryAction, _look: &ViewContext<'_>) -> Option<String> {
        (*action == IvoryAction::Resign).then(|| {
            let score = self.score();
            format!("End the game with the tower at {score} of {CROWN}?")
        })
    }

    fn title(&self, spot: Spot, view: &ViewContext<'_>) -> String {
        self.about(spot, view).into_iter().next().unwrap_or_default()
    }

    fn about(&self, spot: Spot, _look: &ViewContext<'_>) -> Vec<String> {
        match spot {
            TOWER => about_tower(self),
            DRAW => match self.top() {
                Some(top) => vec![
                    format!("The draw pile: {} on {} more.", named(top), self.draw_pile().len() - 1),
                    about_plays(self, Source::Draw),
                    "When it is played, the card under it is open to you.".to_owned(),
                ],
                None => vec!["The draw pile is empty. Turn cards from the deck.".to_owned()],
            },
            Spot::Pile(pile) => about_pile(self, pile.saturating_sub(1)),
            Spot::Button(RESIGN) => vec![format!(
                "Ends the game. What you have built counts: {} of {CROWN}.",
                self.score()
            )],
            Spot::Button(_) => vec![
                format!(
                    "{} cards in the deck. Up to three are turned onto the draw pile, one upon the other.",
                    self.deck().len()
                ),
                "When the deck is used up, the draw pile is turned over and is the deck again, in the same order."
                    .to_owned(),
            ],
            _ => Vec::new(),
        }
    }

    fn motions(&self, event: &IvoryEvent, view: &ViewContext<'_>) -> Vec<Motion> {
        let fly = |what: Line<'static>, from, to| Motion::Fly { what, from, to };
        match *event {
            IvoryEvent::Dealt { top } | IvoryEvent::Turned { top, .. } => {
                vec![fly(faces::short(top, view.theme), DECK, DRAW)]
            }
            IvoryEvent::Recycled { .. } => {
                vec![fly(Line::raw("the pile"), DRAW, DECK)]
            }
            IvoryEvent::Played { card, to, uncovered } => {
                let from = came_from(self, card, to, uncovered);
                let to = match to {
                    // The new pile is the last one now.
                    Target::New => pile_spot(piles(self).saturating_sub(1)),
                    _ => target_spot(self, to),
                };
                let mut motions = vec![fly(faces::short(card, view.theme), from, to)];
                if to == TOWER {
                    motions.push(Motion::Flash(TOWER));
                }
                motions
            }
            IvoryEvent::Over { .. } => Vec::new(),
        }
    }

    fn show(&self, event: &IvoryEvent, view: &ViewContext<'_>) -> Option<Animation> {
        let IvoryEvent::Over { won, score } = *event else {
            return None;
        };
        let theme = view.theme;
        let mut lines = Vec::new();
        for row in self.tower().chunks(5) {
            let spans = row.iter().map(|card| {
                let text = format!("{} {}  ", faces::rank(*card), faces::name(*card));
                Span::styled(text, theme.title())
            });
            lines.push(Line::from(spans.collect::<Vec<_>>()));
        }
        lines.push(if won {
            Line::styled("The tower is complete!", theme.good())
        } else if score == 0 {
            Line::styled("No tower was begun.", theme.text())
        } else {
            let text = format!("It stands {score} of {CROWN} high.");
            Line::styled(text, theme.accent())
        });
        Some(Animation {
            title: "Your tower".to_owned(),
            lines,
        })
    }
}

/// The number of cards turned at once, in words.
fn turned(cards: usize) -> String {
    match cards.min(3) {
        1 => "one card".to_owned(),
        cards => format!("{cards} cards"),
    }
}
