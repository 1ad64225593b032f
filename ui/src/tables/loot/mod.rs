//! The table of Loot: the player's cards in their best combinations, piles, seats, gods, and the village.
//!
//! | module | contents |
//! | --- | --- |
//! | `cards` | cards and gods in pictures and words |
//! | `worth` | the worth of a hand, as far as its owner can tell |
//! | `spots` | the spots of piles and cards |
//! | `hand` | the player's own hand |
//! | `stage` | the other seats, the piles, the worth of the hand |
//! | `village` | the picture of the village |
//! | `sections` | gods and the scoring table, for the rail and the score sheet |
//! | `show` | the scoring, step by step |
//! | `about` | the explanation of each spot |
//!
//! The player chooses a card's spot to discard it and a pile's spot to take from it. A button fires the village,
//! because that is possible out of turn.

use fairdeal_games::Hints as _;
use fairdeal_games::TableGame as _;
use fairdeal_games::loot::cards::in_words;
use fairdeal_games::loot::{Loot, LootAction, LootEvent, Phase, Pile};
use fairdeal_protocol::card::{Face, Faces, Slot};
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use self::spots::{DISCARD_PILE, DRAW_PILE, FIRE, VILLAGE, place_of};
use super::scale::Scale;
use super::{Animation, Board, Button, Motion, Spot, ViewContext};
use crate::canvas::Canvas;

mod about;
mod cards;
mod hand;
mod sections;
mod show;
mod spots;
mod stage;
#[cfg(test)]
mod tests;
mod village;
mod worth;

impl Board for Loot {
    fn heading(&self) -> String {
        match self.target() {
            1 => format!("hand {} · one hand", self.hand_no()),
            target => format!("hand {} · first to {target}", self.hand_no()),
        }
    }

    fn seat_note(&self, seat: Seat) -> String {
        if self.has_left(seat) {
            return "has left".to_owned();
        }
        if self.is_over() {
            let won = self.winners().contains(seat);
            return if won { "has won" } else { "" }.to_owned();
        }
        if self.fire() == Some(seat) {
            return "has fired!".to_owned();
        }
        format!("{} cards", self.hand_of(seat).len())
    }

    fn prompt(&self, _me: Seat, _known: &Faces) -> String {
        let fire = self.everyone_has_played() && self.fire().is_none();
        match self.phase() {
            Phase::Take if fire => "Take a card from either pile, or fire the village.",
            Phase::Take => "Take the top card of either pile.",
            Phase::Discard if self.fire().is_some() => {
                "Discard a card; then the village burns and every hand is scored."
            }
            Phase::Discard => "Discard a card of your hand.",
        }
        .to_owned()
    }

    fn hand_rows(&self, scale: Scale) -> u16 {
        hand::rows(scale)
    }

    fn draw(&self, view: &ViewContext<'_>, canvas: &mut Canvas<'_>, area: Rect) {
        let sight = worth::Sight::of(self, view.me, view.known);
        let table = stage::Table { loot: self, view, sight };
        table.draw(canvas, area);
    }

    fn draw_hand(&self, view: &ViewContext<'_>, canvas: &mut Canvas<'_>, area: Rect) {
        hand::draw(self, view, canvas, area);
    }

    fn sections(&self, view: &ViewContext<'_>) -> Vec<(String, Vec<Line<'static>>)> {
        sections::sections(self, view)
    }

    fn row(&self, view: &ViewContext<'_>) -> Vec<Spot> {
        match self.phase() {
            Phase::Take if view.me.is_some() && view.me == self.turn() => vec![DRAW_PILE, DISCARD_PILE],
            _ => hand::row(self, view),
        }
    }

    fn first(&self, view: &ViewContext<'_>) -> Option<Spot> {
        let me = view.me?;
        if self.phase() == Phase::Take {
            let hint = self.hint(me, view.known)?;
            // A fire is not one key press away.
            let is_discard = hint.action == LootAction::Take(Pile::Discard);
            return Some(if is_discard { DISCARD_PILE } else { DRAW_PILE });
        }
        let sight = worth::Sight::of(self, Some(me), view.known);
        let (_, best) = sight.discards().into_iter().next()?;
        let (_, slot) = sight.own.iter().find(|(face, _)| *face == best)?;
        Some(Spot::Card(*slot))
    }

    fn rule(&self, spot: Spot) -> &'static str {
        match spot {
            Spot::Card(_) => "what-a-hand-scores",
            _ => "a-hand",
        }
    }

    fn path(&self, action: &LootAction, _look: &ViewContext<'_>) -> Vec<Spot> {
        vec![match action {
            LootAction::Take(Pile::Draw) => DRAW_PILE,
            LootAction::Take(Pile::Discard) => DISCARD_PILE,
            LootAction::Discard { card, handle } => Spot::Card(handle.map_or(Slot::Open(*card), Slot::Sealed)),
            LootAction::Fire => Spot::Button(FIRE),
        }]
    }

    fn words(&self, action: &LootAction, _look: &ViewContext<'_>) -> String {
        match action {
            LootAction::Take(Pile::Draw) => "draw a card from the draw pile".to_owned(),
            LootAction::Take(Pile::Discard) => self.discard_pile().last().map_or_else(
                || "take the top of the discard pile".to_owned(),
                |top| format!("take {}", in_words(*top)),
            ),
            LootAction::Discard { card, .. } => format!("discard {}", in_words(*card)),
            LootAction::Fire if self.phase() == Phase::Discard => {
                "fire the village: it burns when this turn ends".to_owned()
            }
            LootAction::Fire => "fire the village".to_owned(),
        }
    }

    fn attempts(&self, spot: Spot, view: &ViewContext<'_>) -> Vec<LootAction> {
        match spot {
            DRAW_PILE => vec![LootAction::Take(Pile::Draw)],
            DISCARD_PILE => vec![LootAction::Take(Pile::Discard)],
            VILLAGE | Spot::Button(FIRE) => vec![LootAction::Fire],
            Spot::Card(slot) => {
                let handle = slot.handle();
                let card = slot.face(view.known);
                card.map(|card| LootAction::Discard { card, handle }).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    fn button(&self, _number: u8) -> Button {
        Button { key: Some('f'), label: "fire the village" }
    }

    fn question(&self, action: &LootAction, view: &ViewContext<'_>) -> Option<String> {
        if *action != LootAction::Fire {
            return None;
        }
        if !view.advises {
            return Some("Fire the village? Every hand is shown and scored.".to_owned());
        }
        let worth = worth::Sight::of(self, view.me, view.known).if_fired();
        Some(format!(
            "Fire the village? Every hand is shown and scored; yours is worth {worth:+}, as far as you can see."
        ))
    }

    fn title(&self, spot: Spot, view: &ViewContext<'_>) -> String {
        about::title(spot, view)
    }

    fn about(&self, spot: Spot, view: &ViewContext<'_>) -> Vec<String> {
        about::about(self, spot, view)
    }

    fn sketch(&self, event: &LootEvent, view: &ViewContext<'_>) -> Option<Line<'static>> {
        let theme = view.theme;
        Some(match *event {
            LootEvent::Took { open: Some(card), .. } => vec![Span::raw("+"), cards::short(card, theme)].into(),
            LootEvent::Took { open: None, .. } => {
                vec![Span::raw("+"), Span::styled(theme.glyph("▒▒", "##"), theme.back())].into()
            }
            LootEvent::Discarded { card, .. } => {
                vec![Span::raw(theme.glyph("−", "-")), cards::short(card, theme)].into()
            }
            _ => return None,
        })
    }

    fn motions(&self, event: &LootEvent, view: &ViewContext<'_>) -> Vec<Motion> {
        let theme = view.theme;
        let face = |card: Face| Line::from(cards::short(card, theme));
        let back = || Line::styled(theme.glyph("▒▒▒", "###"), theme.back());
        match event {
            LootEvent::Dealt { .. } => self
                .playing()
                .iter()
                .map(|seat| Motion::Fly { what: back(), from: DRAW_PILE, to: Spot::Seat(seat) })
                .collect(),
            LootEvent::Took { seat, open } => {
                let own = self.hand_of(*seat).last().filter(|_| view.me == Some(*seat));
                let seen = open.or_else(|| own.and_then(|slot| slot.face(view.known)));
                vec![Motion::Fly {
                    what: seen.map_or_else(back, face),
                    from: if open.is_some() { DISCARD_PILE } else { DRAW_PILE },
                    to: own.map_or(Spot::Seat(*seat), |slot| Spot::Card(*slot)),
                }]
            }
            LootEvent::Discarded { seat, card } => vec![Motion::Fly {
                what: face(*card),
                from: if view.me == Some(*seat) { place_of(*card, view) } else { Spot::Seat(*seat) },
                to: DISCARD_PILE,
            }],
            LootEvent::Reshuffled { .. } => {
                vec![Motion::Fly { what: back(), from: DISCARD_PILE, to: DRAW_PILE }, Motion::Flash(DRAW_PILE)]
            }
            LootEvent::FireWaits { seat } => {
                vec![Motion::Flash(Spot::Seat(*seat)), Motion::Flash(VILLAGE)]
            }
            LootEvent::Burned { fired_by, .. } => [Spot::Seat(*fired_by), VILLAGE]
                .map(Motion::Flash)
                .into_iter()
                .chain([Motion::Build(VILLAGE)])
                .collect(),
            LootEvent::Left { seat } => vec![Motion::Flash(Spot::Seat(*seat))],
            LootEvent::Over { winners } => winners.iter().map(|seat| Motion::Flash(Spot::Seat(seat))).collect(),
        }
    }

    fn ends_hand(&self, event: &LootEvent) -> bool {
        matches!(event, LootEvent::Burned { .. })
    }

    fn show(&self, event: &LootEvent, view: &ViewContext<'_>) -> Option<Animation> {
        match event {
            LootEvent::Burned { fired_by, hands, scores, totals } => {
                Some(show::burned(self, view, *fired_by, hands, (scores, totals)))
            }
            _ => None,
        }
    }
}
