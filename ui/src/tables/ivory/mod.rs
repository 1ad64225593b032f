//! The table of Ivory Tower: the growing tower, the resource piles, the deck and the draw pile.
//!
//! A player chooses a card by its place, then its destination. The deck is the button that turns cards.

mod about;
mod draw;
mod faces;
mod spots;
#[cfg(test)]
mod tests;
mod tower;

use fairdeal_games::counted;
use fairdeal_games::ivory::cards::{self, CROWN};
use fairdeal_games::ivory::outlook::{Outlook, outlook};
use fairdeal_games::ivory::{Ivory, IvoryAction, IvoryEvent, Source, Target, named};
use fairdeal_protocol::card::Faces;
use fairdeal_protocol::seat::Seat;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use self::spots::{
    DECK, DRAW, PILES, RESIGN, TOWER, TURN, came_from, pile_spot, piles, source, source_spot, target, target_spot,
};
use super::{Animation, Board, Button, Motion, Spot, ViewContext};
use crate::canvas::Canvas;

/// Search limit, in positions, for "can this still be won?". Small, because it runs at every draw.
const LOOKED_AT: usize = 300;

impl Board for Ivory {
    fn heading(&self) -> String {
        let deal = self.daily().unwrap_or("random deal");
        format!("{deal} · pass {}", self.recycles() + 1)
    }

    fn seat_note(&self, _seat: Seat) -> String {
        if self.is_won() { "complete!".to_owned() } else { format!("{} of {CROWN} storeys", self.score()) }
    }

    fn prompt(&self, _me: Seat, _known: &Faces) -> String {
        let score = self.score();
        match outlook(self, LOOKED_AT) {
            Outlook::DeadEnd => {
                return format!("No card can be played any more: {score} of {CROWN}. Resign to end the game.");
            }
            Outlook::Stuck => {
                return format!("The tower cannot grow any more: {score} of {CROWN}. Resign to end the game.");
            }
            Outlook::Open { .. } | Outlook::Unclear => {}
        }
        let turn = match (self.deck().is_empty(), self.draw_pile().is_empty()) {
            (true, true) => return "The deck is used up: play from the piles.".to_owned(),
            (true, false) => "turn the draw pile over".to_owned(),
            _ => format!("turn {}", counted(self.deck().len().min(3), "card")),
        };
        if self.plays().is_empty() { format!("Nothing fits: {turn}.") } else { format!("Play a card, or {turn}.") }
    }

    fn draw(&self, _view: &ViewContext<'_>, canvas: &mut Canvas<'_>, area: Rect) {
        draw::all(self, canvas, area);
    }

    fn sections(&self, view: &ViewContext<'_>) -> Vec<(String, Vec<Line<'static>>)> {
        let coming = Some(about::coming(self, view.theme))
            .filter(|lines| !lines.is_empty())
            .map(|lines| ("Coming to the top".to_owned(), lines));
        let suits = ("Suits".to_owned(), faces::legend(2, view.theme));
        [suits].into_iter().chain(coming).collect()
    }

    fn row(&self, _view: &ViewContext<'_>) -> Vec<Spot> {
        (0..PILES).map(pile_spot).chain([DRAW]).collect()
    }

    fn first(&self, _view: &ViewContext<'_>) -> Option<Spot> {
        if matches!(outlook(self, LOOKED_AT), Outlook::Stuck | Outlook::DeadEnd) {
            return Some(Spot::Button(RESIGN));
        }
        let plays = self.plays();
        let tower = plays.iter().find(|(_, to)| *to == Target::Tower);
        let play = tower.or_else(|| plays.iter().find(|(from, _)| *from == Source::Draw));
        Some(play.map_or(DECK, |(from, _)| source_spot(*from)))
    }

    fn path(&self, action: &IvoryAction, _view: &ViewContext<'_>) -> Vec<Spot> {
        match *action {
            IvoryAction::Turn => vec![DECK],
            IvoryAction::Resign => vec![Spot::Button(RESIGN)],
            IvoryAction::Play { from, to } => vec![source_spot(from), target_spot(self, to)],
        }
    }

    fn words(&self, action: &IvoryAction, _view: &ViewContext<'_>) -> String {
        match *action {
            IvoryAction::Turn if self.deck().is_empty() => "turn the draw pile over".to_owned(),
            IvoryAction::Turn => format!("turn {}", counted(self.deck().len().min(3), "card")),
            IvoryAction::Resign => format!("resign with {} of {CROWN} storeys", self.score()),
            IvoryAction::Play { from, to } => {
                let card = self.available(from).map_or_else(|| "nothing".to_owned(), named);
                match to {
                    Target::Tower => format!("play {card} to the tower"),
                    Target::New => format!("play {card} to a new pile"),
                    Target::Pile(pile) => format!("play {card} to pile {}", u16::from(pile) + 1),
                }
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
                std::iter::once(Source::Draw).chain(sources).map(|from| play(from, Target::Tower)).collect()
            }
            Spot::Pile(_) => {
                let Some(from) = source(spot) else {
                    return Vec::new();
                };
                let card = self.available(from);
                let is_crown = card.is_some_and(|card| cards::rank(card) == CROWN);
                let new = is_crown.then_some(Target::New);
                let others = (0..piles(self)).map(Target::Pile).filter(|to| target_spot(self, *to) != spot);
                std::iter::once(Target::Tower).chain(others).chain(new).map(|to| play(from, to)).collect()
            }
            _ => Vec::new(),
        }
    }

    fn button(&self, number: u8) -> Button {
        let (key, label) = match number {
            TURN if self.deck().is_empty() => (Some('t'), "turn over"),
            TURN => (Some('t'), "turn cards"),
            RESIGN => (Some('r'), "resign"),
            _ => (None, "?"),
        };
        Button { key, label }
    }

    fn question(&self, action: &IvoryAction, _view: &ViewContext<'_>) -> Option<String> {
        (*action == IvoryAction::Resign).then(|| {
            let score = self.score();
            format!("End the game with {score} of {CROWN} storeys?")
        })
    }

    fn title(&self, spot: Spot, _view: &ViewContext<'_>) -> String {
        about::title(self, spot)
    }

    fn rule(&self, spot: Spot) -> &'static str {
        match spot {
            DECK => "how-it-goes",
            Spot::Button(_) => "the-end",
            _ => "where-a-card-can-go",
        }
    }

    fn about(&self, spot: Spot, _view: &ViewContext<'_>) -> Vec<String> {
        about::lines(self, spot)
    }

    fn sketch(&self, event: &IvoryEvent, view: &ViewContext<'_>) -> Option<Line<'static>> {
        let theme = view.theme;
        let arrow = Span::raw(theme.glyph("→", ">"));
        Some(match *event {
            IvoryEvent::Turned { top, .. } => {
                let back = Span::styled(theme.glyph("▒▒", "##"), theme.back());
                [back, arrow].into_iter().chain(faces::short(top, theme)).collect()
            }
            IvoryEvent::Played { card, to, .. } => {
                let place = match to {
                    Target::Tower => "tower".to_owned(),
                    Target::Pile(pile) => format!("pile {}", pile + 1),
                    Target::New => "new pile".to_owned(),
                };
                faces::short(card, theme).into_iter().chain([arrow, Span::raw(place)]).collect()
            }
            _ => return None,
        })
    }

    fn motions(&self, event: &IvoryEvent, view: &ViewContext<'_>) -> Vec<Motion> {
        let fly = |what: Line<'static>, from, to| Motion::Fly { what, from, to };
        match *event {
            IvoryEvent::Dealt { top } | IvoryEvent::Turned { top, .. } => {
                vec![fly(faces::short(top, view.theme), DECK, DRAW)]
            }
            IvoryEvent::Recycled { .. } => {
                vec![fly(Line::styled(view.theme.glyph("▒▒▒", "###"), view.theme.back()), DRAW, DECK)]
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
                    motions.push(Motion::Build(TOWER));
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
                let text = format!("{}   ", faces::headline(*card));
                Span::styled(text, theme.title())
            });
            lines.push(Line::from(spans.collect::<Vec<_>>()));
        }
        lines.push(if won {
            Line::styled("The tower is complete!", theme.good())
        } else if score == 0 {
            Line::styled("No tower was begun.", theme.text())
        } else {
            let text = format!("{score} of {CROWN} storeys stand.");
            Line::styled(text, theme.accent())
        });
        Some(Animation { title: "Your tower".to_owned(), lines })
    }
}
