//! The board of Ivory Tower: the tower, the resource piles, the deck and the draw pile's top card.

use fairdeal_protocol::card::{Face, Faces};
use fairdeal_protocol::seat::Seat;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Wrap};

use crate::games::ivory::{Ivory, IvoryAction, Source, Target, cards, named};
use crate::tui::board::{Board, Choice, Look};

/// A card in short: its rank and the first letters of its suits.
fn short(card: Face) -> String {
    let suits = cards::suits(card);
    let suits: Vec<&str> = suits
        .iter()
        .filter_map(|suit| suit.name().get(..2))
        .collect();
    let rank = match cards::rank(card) {
        1 => "A".to_owned(),
        cards::CROWN => "C".to_owned(),
        rank => rank.to_string(),
    };
    format!("{rank}{}", suits.join("+"))
}

impl Board for Ivory {
    fn heading(&self) -> String {
        let deal = self
            .daily()
            .map_or_else(|| "own deal".to_owned(), |day| format!("deal of {day}"));
        format!("{deal}, turned over {}x", self.recycles())
    }

    fn seat_note(&self, _seat: Seat) -> String {
        if self.is_won() {
            "complete".to_owned()
        } else {
            format!("of {}", cards::CROWN)
        }
    }

    fn prompt(&self, _me: Seat) -> String {
        if self.plays().is_empty() {
            "turn three cards.".to_owned()
        } else {
            "play a card, or turn.".to_owned()
        }
    }

    fn draw(&self, look: &Look<'_>, frame: &mut Frame<'_>, area: Rect) {
        let theme = look.theme;
        let label = |text: &str| Span::styled(format!(" {text:<8}"), theme.title());
        let listed = |cards: &[Face]| {
            let names: Vec<String> = cards.iter().map(|card| short(*card)).collect();
            names.join(" ")
        };
        let top = self
            .top()
            .map_or_else(|| "nothing; turn cards".to_owned(), named);
        let tower = if self.tower().is_empty() {
            "waits for an Ace".to_owned()
        } else {
            listed(self.tower())
        };
        let mut lines = vec![
            Line::from(vec![label("tower"), Span::styled(tower, theme.good())]),
            Line::raw(""),
        ];
        for pile in 0..3 {
            let cards = self.piles().get(pile).map(|pile| listed(pile));
            let text = cards.unwrap_or_else(|| "waits for a Crown".to_owned());
            let name = format!("pile {pile}");
            lines.push(Line::from(vec![label(&name), Span::raw(text)]));
        }
        lines.extend([
            Line::raw(""),
            Line::from(vec![label("drawn"), Span::styled(top, theme.key())]),
            Line::from(vec![
                label(""),
                Span::raw(format!(
                    "{} in the draw pile, {} in the deck",
                    self.draw_pile().len(),
                    self.deck().len()
                )),
            ]),
            Line::raw(""),
            Line::styled(
                " mo moons  su suns  wa waves  le leaves  wy wyrms  kn knots",
                theme.faint(),
            ),
        ]);
        frame.render_widget(Paragraph::new(lines).wrap(Wrap { trim: false }), area);
    }

    fn choice(&self, action: &IvoryAction, _known: &Faces) -> Choice {
        match *action {
            IvoryAction::Turn => Choice::new("turn", "turn up to three cards"),
            IvoryAction::Resign => Choice::new("resign", "end the game here"),
            IvoryAction::Play { from, to } => {
                let card = self.available(from).map_or_else(String::new, short);
                let from = match from {
                    Source::Draw => card,
                    Source::Pile(pile) => format!("{card} of pile {pile}"),
                };
                let to = match to {
                    Target::Tower => "onto the tower".to_owned(),
                    Target::New => "begin a new pile".to_owned(),
                    Target::Pile(pile) => {
                        let last = self.available(Source::Pile(pile));
                        let last = last.map_or_else(String::new, short);
                        format!("onto {last} of pile {pile}")
                    }
                };
                Choice::new(from, to)
            }
        }
    }
}
