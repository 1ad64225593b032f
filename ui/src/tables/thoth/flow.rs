//! Houses as rows of words, for when they are too tall to stand.

use fairdeal_games::TableGame as _;
use fairdeal_games::thoth::house::House;
use fairdeal_games::thoth::{Thoth, cards};
use fairdeal_protocol::seat::Seat;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::drawing::beside;
use super::scale::immunity;
use super::{names, parts};
use crate::canvas::Canvas;
use crate::tables::{Spot, ViewContext};

/// A word and its spot.
struct Word {
    line: Line<'static>,
    spot: Option<Spot>,
}

impl Word {
    fn new(line: impl Into<Line<'static>>) -> Self {
        Self {
            line: line.into(),
            spot: None,
        }
    }
}

/// Places words in rows without breaking them. Returns them with their places, and the position after the last.
fn placed(words: Vec<Word>, area: Rect, from: (u16, u16)) -> (Vec<(Word, Rect)>, (u16, u16)) {
    let (mut x, mut y) = from;
    let mut out = Vec::new();
    for word in words {
        let width = u16::try_from(word.line.width()).unwrap_or(u16::MAX);
        if x > area.x && x.saturating_add(width) > area.right() {
            // Rows after a name are indented.
            (x, y) = (area.x + 1, y + 1);
        }
        let place = Rect {
            x,
            y,
            width: width.min(area.right().saturating_sub(x)),
            height: 1,
        };
        x = x.saturating_add(width).saturating_add(1);
        out.push((word, place));
    }
    (out, (x, y))
}

fn words(game: &Thoth, view: &ViewContext<'_>, seat: Seat, house: &House) -> Vec<Word> {
    let theme = view.theme;
    let style = if view.me == Some(seat) {
        theme.good()
    } else {
        theme.title()
    };
    let name = view.name(seat).to_owned();
    let score = house.score();
    let mut words = vec![Word {
        spot: Some(Spot::Seat(seat)),
        ..Word::new(Line::from(vec![
            Span::styled(name, style.add_modifier(Modifier::BOLD)),
            Span::styled(format!(" {score}"), theme.text()),
        ]))
    }];
    if !house.stands() {
        let text = if game.has_left(seat) { "has left" } else { "empty lot" };
        words.push(Word::new(Line::styled(text, theme.faint())));
    }
    for (number, level) in house.levels.iter().enumerate() {
        let mut spans = vec![Span::styled(
            names::brief(level.card),
            names::card_style(theme, level.card),
        )];
        spans.extend(beside(level, theme));
        words.push(Word {
            spot: Some(parts::level(seat, number)),
            ..Word::new(spans)
        });
    }
    if let Some(roof) = house.roof {
        let style = names::card_style(theme, roof).add_modifier(Modifier::BOLD);
        words.push(Word::new(Line::styled(format!("/{}\\", names::brief(roof)), style)));
    }
    let immune = immunity(house);
    if !immune.is_empty() && house.roof.is_none() {
        let text = format!("safe {}", names::letters(&immune));
        words.push(Word::new(Line::styled(text, theme.good())));
    }
    for (number, card) in house.trouble.iter().enumerate() {
        let element = cards::zodiacal(*card).map_or("", names::letter);
        let text = format!("{}{} {element}", theme.glyph("╳", "X"), names::brief(*card));
        words.push(Word {
            spot: Some(parts::trouble(seat, number)),
            ..Word::new(Line::styled(text, theme.bad()))
        });
    }
    words
}

/// Draws all houses, each in rows of its own; if there are too few rows, one right after another.
pub(super) fn draw(game: &Thoth, view: &ViewContext<'_>, canvas: &mut Canvas<'_>, area: Rect) {
    for apart in [true, false] {
        let mut all = Vec::new();
        let mut at = (area.x, area.y);
        for seat in Seat::first(game.seats()) {
            let Some(house) = game.house(seat) else {
                continue;
            };
            let (words, end) = placed(words(game, view, seat, house), area, at);
            all.push(words);
            at = if apart { (area.x, end.1 + 1) } else { end };
        }
        let last = all.iter().flatten().last();
        let fits = last.is_some_and(|(_, place)| place.bottom() <= area.bottom());
        if fits || !apart {
            for (word, place) in all.into_iter().flatten() {
                word.draw(view, canvas, place, area);
            }
            return;
        }
    }
}

impl Word {
    fn draw(self, view: &ViewContext<'_>, canvas: &mut Canvas<'_>, place: Rect, area: Rect) {
        let place = place.intersection(area);
        if place.is_empty() {
            return;
        }
        let Some(spot) = self.spot else {
            canvas.put(place, self.line);
            return;
        };
        let mark = if parts::is_choosable(spot) {
            canvas.spot(place, spot)
        } else {
            canvas.place(place, spot)
        };
        if mark.hidden && !matches!(spot, Spot::Seat(_)) {
            return;
        }
        canvas.put(place, self.line);
        let style = mark.over(ratatui::style::Style::new(), view.theme);
        canvas.tint(place, style);
    }
}
