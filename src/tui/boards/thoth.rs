//! The board of Houses of Thoth: every house with its pyramids and Trouble, the bank, the own hand.

use fairdeal_protocol::card::{Face, Faces};
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span, Text};

use crate::games::pyramid::Size;
use crate::games::thoth::cards::{self, Element};
use crate::games::thoth::house::{Bank, House, Level};
use crate::games::thoth::{Phase, Thoth, ThothAction, Use};
use crate::tui::board::{Board, Choice, Look};
use crate::tui::rows::{Paragraph, fitting, rows, short_names};
use crate::tui::style::Theme;

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

/// A card in five letters at most, for where there is little room.
fn brief(card: Face) -> String {
    let name = short(card);
    match name.as_str() {
        // They begin alike.
        "empress" => "emss".to_owned(),
        "emperor" => "emor".to_owned(),
        _ if cards::is_trump(card) && name.len() > 5 => name.chars().take(4).collect(),
        _ => name,
    }
}

/// How the board is told.
#[derive(Clone, Copy)]
struct Form {
    /// What the letters mean; strokes part what may stand on different rows.
    legend: Option<&'static str>,
    /// The bank's elements by name, the levels of houses with strokes between them.
    spelled: bool,
    /// Trumps that do not lie in the hand by their names.
    named: bool,
    /// Every house on a row of its own.
    apart: bool,
    /// How many levels of a house, counted from the top.
    levels: usize,
}

const LEGEND: &str = "[1ff]: two small fire;|s spirit|f fire|w water|a air|e earth;|^ Roof";
const BRIEF: &str = "[1ff] 2 small fire, spirit water air earth ^Roof";

/// From roomy to dense.
fn forms(highest: usize) -> impl Iterator<Item = Form> {
    let roomy = Form {
        legend: Some(LEGEND),
        spelled: true,
        named: true,
        apart: true,
        levels: highest,
    };
    let close = Form {
        legend: Some(BRIEF),
        spelled: false,
        ..roomy
    };
    let bare = Form {
        legend: None,
        ..close
    };
    let brief = Form {
        named: false,
        ..bare
    };
    let packed = Form {
        apart: false,
        ..brief
    };
    let fewer = (1..highest).rev();
    let fewer = fewer.map(move |levels| Form { levels, ..packed });
    [roomy, close, bare, brief, packed].into_iter().chain(fewer)
}

impl Form {
    fn card(self, card: Face) -> String {
        if self.named { short(card) } else { brief(card) }
    }

    /// A level: its card, the size of its pyramids and their elements.
    fn level(self, level: &Level) -> String {
        let card = self.card(level.card);
        let Some(first) = level.pyramids.first() else {
            return card;
        };
        let elements: String = level.pyramids.iter().map(|p| letter(p.element)).collect();
        format!("{card}[{}{elements}]", first.size.pips())
    }

    /// A house from the Foundation up.
    fn house(self, house: &House, theme: &Theme) -> Vec<Line<'static>> {
        if !house.stands() {
            return vec![Line::raw("no Foundation")];
        }
        let mut words = Vec::new();
        let below = house.levels.len().saturating_sub(self.levels);
        if below > 0 {
            let text = format!("{} {below} more /", theme.glyph("…", "..."));
            words.push(Line::styled(text, theme.bad()));
        }
        let stroke = self.spelled.then(|| Line::raw("/"));
        for (number, level) in house.levels.iter().skip(below).enumerate() {
            words.extend(stroke.clone().filter(|_| number > 0));
            words.push(Line::raw(self.level(level)));
        }
        let roof = house.roof.map(|roof| format!("^{}", self.card(roof)));
        words.extend(roof.map(Line::raw));
        if house.in_trouble() {
            let trouble = house.trouble.iter().map(|card| self.card(*card));
            let trouble: Vec<String> = trouble.collect();
            let text = format!("TROUBLE {}", trouble.join(" "));
            words.push(Line::styled(text, theme.bad()));
        }
        words
    }

    fn bank(self, bank: &Bank) -> Vec<String> {
        let of = |element: Element| {
            let counts = Size::ALL.map(|size| bank.count(element, size).to_string());
            let name = if self.spelled {
                format!("{} ", element.name())
            } else {
                letter(element).to_owned()
            };
            format!("{name}{}", counts.join("/"))
        };
        Element::ALL.map(of).to_vec()
    }

    fn rows(self, game: &Thoth, look: &Look<'_>, width: usize) -> Vec<Line<'static>> {
        let theme = look.theme;
        let names = short_names(look.names, theme);
        let houses = Seat::first(names.len()).zip(&names);
        let houses = houses.filter_map(|(seat, name)| {
            let house = game.house(seat)?;
            let style = if Some(seat) == look.me {
                theme.good()
            } else {
                theme.title()
            };
            let name = Line::from(vec![
                Span::styled(name.clone(), style),
                Span::raw(format!(" ({})", house.score())),
            ]);
            let words = self.house(house, theme).into_iter();
            Some(std::iter::once(name).chain(words).collect::<Vec<_>>())
        });
        let mut all = Vec::new();
        if self.apart {
            all.extend(houses.map(|words| Paragraph::new(1).words(words)));
        } else {
            all.push(Paragraph::new(0).words(houses.flatten()));
        }
        let label = |label: &'static str| Paragraph::new(1).words([label_of(label, theme)]);
        all.push(label("bank").words(self.bank(game.bank())));
        let top = game.discard_pile().last();
        let top = top.map_or_else(|| "none".to_owned(), |card| self.card(*card));
        let discards = game.discard_pile().len();
        let piles = format!("{}   discards {discards}, {top} on top", game.deck().len());
        all.push(label("deck").words([piles]));
        if !game.pool().is_empty() {
            let pool = game.pool().iter();
            all.push(label("pool").words(pool.map(|card| self.card(*card))));
        }
        let hand = look.me.map(|me| game.hand(me));
        let hand: Vec<Face> = hand
            .iter()
            .flatten()
            .filter_map(|slot| slot.face(look.known))
            .collect();
        let worth = format!("({:+})", cards::hand_score(hand.iter().copied()));
        // As the choices name them.
        let hand = hand.into_iter().map(short);
        all.push(label("hand").words(hand).words([worth]));
        if let Some(legend) = self.legend {
            let words = legend.split('|');
            let words = words.map(|word| Line::styled(word, theme.faint()));
            all.push(Paragraph::new(0).words(words));
        }
        rows(all, width)
    }
}

fn label_of(label: &'static str, theme: &Theme) -> Line<'static> {
    let style = if label == "hand" {
        theme.good()
    } else {
        theme.key()
    };
    Line::styled(label, style)
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
        let houses = Seat::first(look.names.len()).filter_map(|seat| self.house(seat));
        let highest = houses.map(|house| house.levels.len()).max().unwrap_or(0);
        let width = usize::from(area.width);
        let forms = forms(highest).map(|form| form.rows(self, look, width));
        let rows = fitting(forms, usize::from(area.height), look.theme);
        frame.render_widget(Text::from(rows), area);
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
