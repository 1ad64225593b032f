//! Drawing of stacks: their words, and the room that these take.

use fairdeal_games::plutonian::Plutonian;
use fairdeal_games::plutonian::pieces::{Pyramid, score};
use fairdeal_protocol::seat::Seat;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::page::{PILE, Stacks, columns};
use super::pieces::{HIGHEST, Left, Outlook, lit, packed, sign, spelled};
use super::trees;
use crate::canvas::Canvas;
use crate::tables::{Spot, ViewContext};
use crate::theme::Theme;

/// A stack with all its text.
#[derive(Clone, Debug)]
pub(super) struct Shown {
    pub(super) seat: Seat,
    pub(super) number: usize,
    pyramids: Vec<Pyramid>,
    outlook: Outlook,
    /// The outlook with the pyramid that is being placed.
    after: Option<(Pyramid, Outlook)>,
    /// The widths of the pyramids and of the hands of its seat, for alignment.
    tabs: (u16, u16),
}

/// The pyramid that is being placed, if any.
pub(super) fn in_hand(game: &Plutonian, view: &ViewContext<'_>) -> Option<Pyramid> {
    view.picked.iter().find_map(|spot| match spot {
        Spot::Pile(tree) => game.trees().get(usize::from(*tree))?.last().copied(),
        _ => None,
    })
}

/// Everybody's stacks.
pub(super) fn all(game: &Plutonian, view: &ViewContext<'_>) -> Vec<Shown> {
    let left = Left::of(game);
    let placing = in_hand(game, view);
    let mut rest = left.clone();
    if let Some(pyramid) = placing {
        rest.take(pyramid);
    }
    let mut shown = Vec::new();
    for seat in super::page::seats(game, view.me) {
        let own = view.me == Some(seat);
        let from = shown.len();
        for (number, pyramids) in game.stacks(seat).iter().enumerate() {
            let after = placing.filter(|_| own).map(|pyramid| {
                let mut grown = pyramids.clone();
                grown.push(pyramid);
                (pyramid, Outlook::of(&grown, &rest))
            });
            shown.push(Shown {
                seat,
                number,
                pyramids: pyramids.clone(),
                outlook: Outlook::of(pyramids, &left),
                after,
                tabs: (0, 0),
            });
        }
        let of_seat = || shown.iter().skip(from);
        let tabs = (
            of_seat().map(|stack| wide(&spelled(&stack.pyramids, view.theme))),
            of_seat().map(|stack| columns(&stack.outlook.now())),
        );
        let tabs = (tabs.0.max().unwrap_or(0), tabs.1.max().unwrap_or(0));
        for stack in shown.iter_mut().skip(from) {
            stack.tabs = tabs;
        }
    }
    shown
}

/// The label before a seat's stacks.
pub(super) fn label(game: &Plutonian, view: &ViewContext<'_>, seat: Seat) -> String {
    format!("{} {}:", who(view, seat), points(game, seat))
}

/// A seat's name; "You" for the viewer.
pub(super) fn who<'a>(view: &'a ViewContext<'_>, seat: Seat) -> &'a str {
    if view.me == Some(seat) { "You" } else { view.name(seat) }
}

/// The heading of a seat's stacks.
pub(super) fn heading(game: &Plutonian, view: &ViewContext<'_>, seat: Seat) -> String {
    let vote = if game.forfeited().contains(seat) {
        ", has left"
    } else if game.votes().contains(seat) {
        ", votes to end"
    } else {
        ""
    };
    format!("{}: {} points{vote}", who(view, seat), points(game, seat))
}

/// The total worth of a seat's stacks.
pub(super) fn points(game: &Plutonian, seat: Seat) -> i64 {
    game.stacks(seat).iter().map(|stack| score(stack)).sum()
}

/// Registers the heading of a seat as a place, and shows its mark.
pub(super) fn draw_heading(seat: Seat, canvas: &mut Canvas<'_>, area: Rect) {
    let mark = canvas.place(area, Spot::Seat(seat));
    if mark.flashing {
        let focused = canvas.theme().focused();
        canvas.tint(area, focused);
    }
}

fn wide(line: &Line<'_>) -> u16 {
    u16::try_from(line.width()).unwrap_or(u16::MAX)
}

impl Shown {
    /// The columns and rows of the stack.
    pub(super) fn area(&self, form: Stacks, width: u16, theme: &Theme) -> (u16, u16) {
        match form {
            Stacks::Piles => {
                let rows = self.pyramids.len().min(HIGHEST + 1);
                (PILE, u16::try_from(rows).unwrap_or(0) + 2)
            }
            // Two or three side by side if a row has room for them.
            Stacks::Rows => {
                let beside = ((width + 2) / 48).max(1);
                ((width + 2) / beside - 2, 1)
            }
            Stacks::Words => (wide(&self.words(&self.pyramids, theme)), 1),
            Stacks::Letters => (wide(&self.letters(&self.pyramids, theme)), 1),
        }
    }

    /// Draws it at its place on the page.
    pub(super) fn draw(&self, form: Stacks, canvas: &mut Canvas<'_>, area: Rect) {
        let theme = canvas.theme();
        let number = u8::try_from(self.number).unwrap_or(u8::MAX);
        let mark = canvas.spot(area, Spot::Part(self.seat, number));
        // A pyramid in flight is not here yet.
        let pyramids = match self.pyramids.split_last() {
            Some((_, under)) if mark.hidden => under,
            _ => &self.pyramids,
        };
        match form {
            Stacks::Piles => self.draw_pile(pyramids, canvas, area),
            Stacks::Rows => canvas.put(area, self.row(pyramids, area.width, theme)),
            Stacks::Words => canvas.put(area, self.words(pyramids, theme)),
            Stacks::Letters => canvas.put(area, self.letters(pyramids, theme)),
        }
        if mark.lit {
            canvas.tint(area, lit(Style::new()));
        }
        if mark.focused || mark.flashing {
            canvas.tint(area, theme.focused());
        }
    }

    fn draw_pile(&self, pyramids: &[Pyramid], canvas: &mut Canvas<'_>, area: Rect) {
        let theme = canvas.theme();
        let (words, rows) = (area.height.min(2), area.height.saturating_sub(2));
        let ground = area.y.saturating_add(rows);
        for (pyramid, above) in pyramids.iter().take(HIGHEST).zip(1..=rows) {
            let row = Rect {
                y: ground - above,
                height: 1,
                ..area
            };
            canvas.put(row, trees::layer(*pyramid, trees::BROAD, theme));
        }
        if pyramids.len() > HIGHEST {
            let text = format!("  +{}", pyramids.len() - HIGHEST);
            canvas.put(area, Line::styled(text, theme.faint()));
        }
        let mut now = Line::styled(format!("{} ", self.number), theme.faint());
        now.push_span(self.now(theme));
        let room = usize::from(area.width);
        let later = self.then(room, theme);
        let text = Rect {
            y: ground,
            height: words,
            ..area
        };
        canvas.rows(text, [now, later]);
    }

    /// Its present worth.
    fn now(&self, theme: &Theme) -> Span<'static> {
        let style = match self.outlook.hand {
            Some(_) => theme.title(),
            None if self.outlook.is_dead() => theme.bad(),
            None => theme.faint(),
        };
        Span::styled(self.outlook.now(), style)
    }

    /// Its outlook with the pyramid in hand, or else the hands that it can become.
    fn then(&self, room: usize, theme: &Theme) -> Line<'static> {
        match &self.after {
            Some((pyramid, after)) => {
                let mut line = Line::styled("+", theme.faint());
                line.push_span(sign(*pyramid, theme));
                let style = self.change(after, theme);
                let then = match after.best() {
                    Some((hand, points)) if after.hand.is_none() => {
                        let arrow = theme.glyph("→", "->");
                        format!(" {arrow} {} {points}", hand.name())
                    }
                    _ => format!(" {}", after.now()),
                };
                line.push_span(Span::styled(then, style));
                line
            }
            None => Line::styled(self.outlook.later(room, theme), theme.faint()),
        }
    }

    /// The style of a change for better or worse.
    fn change(&self, after: &Outlook, theme: &Theme) -> Style {
        if after.points > self.outlook.points {
            theme.good()
        } else if after.points < self.outlook.points || after.is_dead() {
            theme.bad()
        } else {
            theme.text()
        }
    }

    /// A row, with aligned columns.
    fn row(&self, pyramids: &[Pyramid], width: u16, theme: &Theme) -> Line<'static> {
        let mut line = Line::styled(format!("{:>2} ", self.number), theme.faint());
        let tab = |line: &mut Line<'static>, columns: u16| {
            let missing = usize::from(columns).saturating_sub(line.width());
            line.push_span(" ".repeat(missing));
        };
        line.spans.extend(spelled(pyramids, theme).spans);
        let (pieces, hands) = (3 + self.tabs.0 + 2, self.tabs.1 + 2);
        tab(&mut line, pieces);
        line.push_span(self.now(theme));
        tab(&mut line, pieces + hands);
        let room = usize::from(width).saturating_sub(line.width());
        line.spans.extend(self.then(room, theme).spans);
        line
    }

    /// A few words: its pyramids, its worth, the best hand that it can become.
    fn words(&self, pyramids: &[Pyramid], theme: &Theme) -> Line<'static> {
        let mut line = Line::styled(format!("{} ", self.number), theme.faint());
        line.spans.extend(packed(pyramids, theme).spans);
        line.push_span(" ");
        match (&self.after, self.outlook.best()) {
            (Some(_), _) => {
                let now = Span::styled(self.outlook.points.to_string(), theme.title());
                line.push_span(now);
                line.push_span(" ");
                line.spans.extend(self.then(0, theme).spans);
            }
            (None, Some((hand, points))) => {
                let arrow = theme.glyph("→", "->");
                let next = match self.outlook.hand {
                    Some(_) => format!("{arrow}{points}"),
                    None => format!("{arrow}{} {points}", hand.name()),
                };
                if self.outlook.hand.is_some() {
                    line.push_span(self.now(theme));
                }
                line.push_span(Span::styled(next, theme.faint()));
            }
            (None, None) => line.push_span(self.now(theme)),
        }
        line
    }

    /// A few letters and the points; `×` before a stack that is worth nothing for good.
    fn letters(&self, pyramids: &[Pyramid], theme: &Theme) -> Line<'static> {
        let mut line = Line::default();
        let dead = theme.glyph("×", "x");
        if self.outlook.is_dead() {
            line.push_span(Span::styled(dead, theme.bad()));
        }
        line.spans.extend(packed(pyramids, theme).spans);
        if self.outlook.points > 0 {
            let text = format!("={}", self.outlook.points);
            line.push_span(Span::styled(text, theme.title()));
        }
        if let Some((_, after)) = &self.after {
            let arrow = theme.glyph("→", ">");
            let then = if after.is_dead() {
                format!("{arrow}{dead}")
            } else {
                format!("{arrow}{}", after.points)
            };
            line.push_span(Span::styled(then, self.change(after, theme)));
        }
        line
    }
}
