//! The table of Houses of Thoth: a street of houses that grow from the ground, and the bank above it. Below is the
//! player's hand with the marked use of each card.

mod about;
mod auction;
mod hand;
mod names;
mod parts;
mod show;
mod street;
mod tell;
#[cfg(test)]
mod tests;

use fairdeal_games::thoth::house::House;
use fairdeal_games::thoth::{Phase, Thoth, ThothAction, ThothEvent, Use};
use fairdeal_games::{Hints as _, TableGame as _};
use fairdeal_protocol::card::{Faces, Slot};
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::scale::Scale;
use super::{Animation, Board, Button, Motion, Spot, ViewContext};
use crate::canvas::Canvas;

impl Board for Thoth {
    fn heading(&self) -> String {
        match self.target() {
            1 if self.hand_no() <= 1 => "one hand".to_owned(),
            1 => format!("hand {}, the first point wins", self.hand_no()),
            target => format!("hand {}, first to {target}", self.hand_no()),
        }
    }

    fn seat_note(&self, seat: Seat) -> String {
        if self.has_left(seat) {
            return "has left".to_owned();
        }
        if self.phase() == Phase::Bid && !self.to_act().contains(seat) {
            return "has bid".to_owned();
        }
        let count = self.hand_of(seat).len();
        if self.house(seat).is_some_and(House::in_trouble) {
            return format!("{count}, Trouble");
        }
        fairdeal_games::counted(count, "card")
    }

    fn prompt(&self, me: Seat, known: &Faces) -> String {
        let in_trouble = self.house(me).is_some_and(House::in_trouble);
        // At most 45 columns, for the smallest screens.
        let text = match self.phase() {
            Phase::Bid => "Bid a card: the highest trump begins.",
            Phase::Pick => "Pick a card from the pool of bids.",
            Phase::Play if self.extra_turns() > 0 && !in_trouble => "Play a card: an extra turn follows.",
            Phase::Play => return tell::prompt(self, me, known, in_trouble),
        };
        text.to_owned()
    }

    fn hand_rows(&self, scale: Scale) -> u16 {
        hand::rows(scale)
    }

    fn draw(&self, view: &ViewContext<'_>, canvas: &mut Canvas<'_>, area: Rect) {
        if self.phase() == Phase::Play || self.is_over() {
            street::draw(self, view, canvas, area);
        } else {
            auction::draw(self, view, canvas, area);
        }
    }

    fn draw_hand(&self, view: &ViewContext<'_>, canvas: &mut Canvas<'_>, area: Rect) {
        hand::draw(self, view, canvas, area);
    }

    fn path(&self, action: &ThothAction, view: &ViewContext<'_>) -> Vec<Spot> {
        let home = view.me.map(Spot::Seat);
        match *action {
            ThothAction::Bid { card } => vec![Spot::Card(Slot::Sealed(card))],
            ThothAction::Pick { card } => vec![Spot::Card(Slot::Open(card))],
            ThothAction::End { card } => vec![Spot::Button(parts::END), Spot::Card(card)],
            ThothAction::Demolish => vec![Spot::Button(parts::DEMOLISH)],
            ThothAction::Topple { target } => vec![Spot::Button(parts::TOPPLE), Spot::Seat(target)],
            ThothAction::Play { card, handle, as_ } => {
                let card = Spot::Card(handle.map_or(Slot::Open(card), Slot::Sealed));
                let to = match as_ {
                    Use::Foundation | Use::Raise { .. } | Use::Story | Use::Roof => home,
                    Use::Trouble { target, replace: Some(place) } => Some(Spot::Part(target, place)),
                    Use::Trouble { target, replace: None } => Some(Spot::Seat(target)),
                    Use::Relieve => Some(Spot::Button(parts::RELIEVE)),
                    Use::Discard => Some(Spot::Button(parts::DISCARD)),
                };
                std::iter::once(card).chain(to).collect()
            }
        }
    }

    fn words(&self, action: &ThothAction, view: &ViewContext<'_>) -> String {
        tell::words(self, action, view)
    }

    fn attempts(&self, spot: Spot, view: &ViewContext<'_>) -> Vec<ThothAction> {
        tell::attempts(self, spot, view)
    }

    fn button(&self, number: u8) -> Button {
        let (key, label) = match number {
            parts::DISCARD => ('d', "discard it"),
            parts::RELIEVE => ('r', "relieve with it"),
            parts::END => ('e', "call the end"),
            parts::DEMOLISH => ('m', "demolish"),
            _ => ('t', "topple"),
        };
        Button { key: Some(key), label }
    }

    fn question(&self, action: &ThothAction, view: &ViewContext<'_>) -> Option<String> {
        tell::question(self, action, view)
    }

    fn worth(&self, action: &ThothAction) -> Option<u16> {
        match action {
            ThothAction::Play { as_: Use::Raise { size, count }, .. } => {
                Some(u16::from(size.pips()) * u16::from(*count))
            }
            _ => None,
        }
    }

    fn sections(&self, view: &ViewContext<'_>) -> Vec<(String, Vec<Line<'static>>)> {
        about::sections(self, view)
    }

    fn row(&self, view: &ViewContext<'_>) -> Vec<Spot> {
        let hand = view.me.map_or(&[] as &[Slot], |me| self.hand_of(me));
        hand.iter().map(|slot| Spot::Card(*slot)).collect()
    }

    fn first(&self, view: &ViewContext<'_>) -> Option<Spot> {
        let hint = self.hint(view.me?, view.known).filter(|_| view.picked.is_empty())?;
        self.path(&hint.action, view).first().copied()
    }

    fn title(&self, spot: Spot, view: &ViewContext<'_>) -> String {
        about::title(self, spot, view)
    }

    fn rule(&self, spot: Spot) -> &'static str {
        // Until play begins, the auction explains every card.
        match (self.phase(), spot) {
            (Phase::Bid | Phase::Pick, Spot::Card(_) | Spot::Seat(_)) if !self.is_over() => "the-auction",
            _ => about::rule(spot),
        }
    }

    fn about(&self, spot: Spot, view: &ViewContext<'_>) -> Vec<String> {
        about::about(self, spot, view)
    }

    fn sketch(&self, event: &ThothEvent, view: &ViewContext<'_>) -> Option<Line<'static>> {
        show::sketch(event, view)
    }

    fn motions(&self, event: &ThothEvent, view: &ViewContext<'_>) -> Vec<Motion> {
        show::motions(self, event, view)
    }

    fn stays_marked(&self, spot: Spot) -> bool {
        matches!(spot, Spot::Part(seat, _) if spot != parts::hand(seat))
    }

    fn ends_hand(&self, event: &ThothEvent) -> bool {
        matches!(event, ThothEvent::Scored { .. })
    }

    fn show(&self, event: &ThothEvent, view: &ViewContext<'_>) -> Option<Animation> {
        show::show(self, event, view)
    }
}
