//! The board of Houses of Thoth: every house with its pyramids and Trouble, the bank, the own hand.

use fairdeal_protocol::card::{Face, Faces};
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Wrap};

use crate::games::pyramid::Size;
use crate::games::thoth::cards::{self, Element};
use crate::games::thoth::house::{House, Level};
use crate::games::thoth::{Phase, Thoth, ThothAction, Use};
use crate::tui::board::{Board, Choice, Look};

/// A card in short: `10-wands` is `10w`, `queen-cups` `Qc`, `princess-disks` `Psd`; trumps in full.
fn short(card: Face) -> String {
    let name = cards::name(card);
    let Some((rank, suit)) = name.split_once('-').filter(|_| !cards::is_trump(card)) else {
        return name;
    };
    let rank = match rank {
        "ace" => "A",
        "princess" => "Ps",
        "prince" => "Pr",
        "queen" => "Q",
        "king" => "K",
        number => number,
    };
    format!("{rank}{}", suit.get(..1).unwrap_or_default())
}

fn letter(element: Element) -> &'static str {
    element.name().get(..1).unwrap_or_default()
}

/// A level: its card, the size of its pyramids and their elements.
fn level_text(level: &Level) -> String {
    let Some(first) = level.pyramids.first() else {
        return short(level.card);
    };
    let elements: String = level.pyramids.iter().map(|p| letter(p.element)).collect();
    format!("{}[{}{elements}]", short(level.card), first.size.pips())
}

fn house_text(house: &House) -> String {
    if !house.stands() {
        return "no Foundation".to_owned();
    }
    let levels: Vec<String> = house.levels.iter().map(level_text).collect();
    let roof = house
        .roof
        .map_or_else(String::new, |roof| format!(" ^{}", short(roof)));
    format!("{}{roof}", levels.join(" / "))
}

fn listed(all: impl IntoIterator<Item = Face>) -> String {
    let names: Vec<String> = all.into_iter().map(short).collect();
    names.join(" ")
}

impl Board for Thoth {
    fn heading(&self) -> String {
        format!("hand {}, to {}", self.hand_no(), self.target())
    }

    fn seat_note(&self, seat: Seat) -> String {
        if self.forfeited().contains(seat) {
            return "has left".to_owned();
        }
        let count = self.hand_of(seat).len();
        if self.house(seat).is_some_and(House::in_trouble) {
            format!("{count}, Trouble")
        } else {
            format!("{count} cards")
        }
    }

    fn prompt(&self, _me: Seat) -> String {
        match self.phase() {
            Phase::Bid => "bid a card for the first turn.".to_owned(),
            Phase::Pick => "pick a card from the pool.".to_owned(),
            Phase::Play if self.extra_turns() > 0 => {
                format!(
                    "play or discard a card ({} extra to come).",
                    self.extra_turns()
                )
            }
            Phase::Play => "play or discard a card.".to_owned(),
        }
    }

    fn draw(&self, look: &Look<'_>, frame: &mut Frame<'_>, area: Rect) {
        let theme = look.theme;
        let mut lines = Vec::new();
        for (seat, name) in Seat::first(look.names.len()).zip(look.names) {
            let Some(house) = self.house(seat) else {
                continue;
            };
            let style = if seat == look.me {
                theme.good()
            } else {
                theme.title()
            };
            let mut spans = vec![
                Span::styled(format!("{name} "), style),
                Span::raw(format!("({}) {}", house.score(), house_text(house))),
            ];
            if house.in_trouble() {
                let trouble = house.trouble.iter().copied();
                let text = format!(" TROUBLE {}", listed(trouble));
                spans.push(Span::styled(text, theme.bad()));
            }
            lines.push(Line::from(spans));
        }
        let bank: Vec<String> = Element::ALL
            .into_iter()
            .map(|element| {
                let counts = Size::ALL.map(|size| self.bank().count(element, size).to_string());
                format!("{} {}", element.name(), counts.join("/"))
            })
            .collect();
        lines.push(Line::from(vec![
            Span::styled("bank ", theme.key()),
            Span::raw(bank.join("  ")),
        ]));
        let top = self
            .discard_pile()
            .last()
            .map_or_else(|| "none".to_owned(), |card| short(*card));
        lines.push(Line::from(vec![
            Span::styled("deck ", theme.key()),
            Span::raw(format!(
                "{}   discards {}, {top} on top",
                self.deck().len(),
                self.discard_pile().len()
            )),
        ]));
        if !self.pool().is_empty() {
            lines.push(Line::from(vec![
                Span::styled("pool ", theme.key()),
                Span::raw(listed(self.pool().iter().copied())),
            ]));
        }
        let hand = self.hand(look.me);
        let hand: Vec<Face> = hand
            .iter()
            .filter_map(|slot| slot.face(look.known))
            .collect();
        lines.push(Line::from(vec![
            Span::styled("hand ", theme.good()),
            Span::raw(format!(
                "{} ({:+})",
                listed(hand.iter().copied()),
                cards::hand_score(hand.iter().copied())
            )),
        ]));
        lines.push(Line::styled(
            "[1ff]: two small fire; s spirit f fire w water a air e earth",
            theme.faint(),
        ));
        frame.render_widget(Paragraph::new(lines).wrap(Wrap { trim: false }), area);
    }

    fn choice(&self, action: &ThothAction, known: &Faces) -> Choice {
        let named = |face: Option<Face>| face.map_or_else(String::new, short);
        match *action {
            ThothAction::Bid { card } => Choice::new("bid", named(known.get(card))),
            ThothAction::Pick { card } => Choice::new("pick", short(card)),
            ThothAction::End { card } => {
                Choice::new(named(card.face(known)), "lay face down and end the hand")
            }
            ThothAction::Demolish => Choice::new("demolish", "pull your house down"),
            ThothAction::Topple { target } => Choice::new(
                "topple",
                format!("the house of seat {}, for 156 points", target.index()),
            ),
            ThothAction::Play { card, as_, .. } => {
                let words = match as_ {
                    Use::Foundation => "lay as your Foundation".to_owned(),
                    Use::Raise { size, count } => {
                        let element = cards::redeemed(card).map_or("", |(e, _)| e.name());
                        format!("raise {count} {} {element}", size.name())
                    }
                    Use::Story => "add as a Story".to_owned(),
                    Use::Roof => "put on as the Roof: ends the hand".to_owned(),
                    Use::Trouble { target, replace } => {
                        let instead = replace
                            .and_then(|place| {
                                let trouble = &self.house(target)?.trouble;
                                trouble.get(usize::from(place)).copied()
                            })
                            .map_or_else(String::new, |old| format!(" for {}", short(old)));
                        format!("Trouble for seat {}{instead}", target.index())
                    }
                    Use::Relieve => "relieve your Trouble".to_owned(),
                    Use::Discard => "discard".to_owned(),
                };
                Choice::new(short(card), words)
            }
        }
    }
}
