//! The canvas of all screens: a buffer that clips, a theme, and the list of what can be
//! chosen on the screen, by keys and by mouse alike.
//!
//! Whatever can be chosen is a [`Target`] with the area that it fills. Arrow keys go from target to target as they
//! lie on the screen, and a click chooses the one under it; so one list serves both.

use std::collections::{BTreeMap, BTreeSet};

use fairdeal_protocol::card::Slot;
use fairdeal_protocol::seat::Seat;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Widget};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::keys::Intent;
use crate::theme::Theme;

/// A place on a table. What the numbers mean is the game's own affair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Spot {
    /// A card of a hand.
    Card(Slot),
    /// A seat's property: its house, its stacks, its row.
    Seat(Seat),
    Part(Seat, u8),
    /// A square of a board.
    Square(u8),
    /// A pile, a tree, a stock.
    Pile(u8),
    /// Something to do that has no place on the board; it is shown as a button.
    Button(u8),
}

/// Something that can be chosen on a screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// A place on a table.
    Spot(Spot),
    /// A line of a list, by its number.
    Row(usize),
    /// A button of the screen, by a number that the screen gives it.
    Button(u16),
    /// Request of a key.
    Key(Intent),
}

/// How a target or a place stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// It can be chosen next.
    pub lit: bool,
    /// It is chosen, and the rest of the choice is open.
    pub picked: bool,
    /// The keys act on it.
    pub focused: bool,
    /// Something has just happened to it.
    pub flashing: bool,
    /// The thing in this place is on its way, and is drawn when it has come.
    pub hidden: bool,
}

impl Mark {
    /// A style with the mark on it: reversed if it is focused, underlined if it can be chosen.
    pub fn over(self, style: Style, theme: &Theme) -> Style {
        let mut style = style;
        if self.lit {
            style = style.patch(theme.lit()).add_modifier(Modifier::UNDERLINED);
        }
        if self.picked {
            style = style.patch(theme.accent());
        }
        if self.focused || self.flashing {
            style = style.patch(theme.focused());
        }
        style
    }
}

/// Which places of a table stand out.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    pub lit: BTreeSet<Spot>,
    pub picked: Vec<Spot>,
    pub flashing: BTreeSet<Spot>,
    pub hidden: BTreeSet<Spot>,
}

/// The drawn targets and their areas.
#[derive(Clone, Debug, Default)]
pub struct Layer {
    /// Targets in drawing order.
    pub targets: Vec<(Rect, Target)>,
    /// Where the places of a table are, those that cannot be chosen too.
    pub places: BTreeMap<Spot, Rect>,
}

impl Layer {
    /// The topmost target at a position.
    pub fn at(&self, position: Position) -> Option<Target> {
        let mut hits = self.targets.iter().rev();
        hits.find(|(area, _)| area.contains(position))
            .map(|(_, target)| *target)
    }

    /// Where a target is.
    pub fn area(&self, target: Target) -> Option<Rect> {
        let found = self.targets.iter().find(|(_, other)| *other == target);
        found.map(|(area, _)| *area)
    }
}

/// See the module's head.
pub struct Canvas<'a> {
    buffer: &'a mut Buffer,
    theme: &'a Theme,
    marks: &'a Marks,
    focus: Option<Target>,
    layer: &'a mut Layer,
}

impl<'a> Canvas<'a> {
    pub fn new(
        buffer: &'a mut Buffer,
        theme: &'a Theme,
        marks: &'a Marks,
        focus: Option<Target>,
        layer: &'a mut Layer,
    ) -> Self {
        Self {
            buffer,
            theme,
            marks,
            focus,
            layer,
        }
    }

    pub fn theme(&self) -> &'a Theme {
        self.theme
    }

    /// The whole screen.
    pub fn area(&self) -> Rect {
        self.buffer.area
    }

    /// Draws a widget, as far as its area is on the screen.
    pub fn render(&mut self, widget: impl Widget, area: Rect) {
        let area = area.intersection(self.buffer.area);
        if !area.is_empty() {
            widget.render(area, self.buffer);
        }
    }

    /// Writes one row, cut at the end of the area.
    pub fn put<'l>(&mut self, area: Rect, line: impl Into<Line<'l>>) {
        self.render(line.into(), Rect { height: 1, ..area });
    }

    /// Writes at the beginning of a row; gives what is left of it.
    pub fn lead<'l>(&mut self, area: Rect, line: impl Into<Line<'l>>) -> Rect {
        let line = line.into();
        let used = u16::try_from(line.width())
            .unwrap_or(u16::MAX)
            .min(area.width);
        self.put(area, line);
        Rect {
            x: area.x + used,
            width: area.width - used,
            height: 1,
            ..area
        }
    }

    /// Writes rows under one another, as many as there is room for.
    pub fn rows<'l>(&mut self, area: Rect, lines: impl IntoIterator<Item = Line<'l>>) {
        for (y, line) in (area.y..area.bottom()).zip(lines) {
            self.put(
                Rect {
                    y,
                    height: 1,
                    ..area
                },
                line,
            );
        }
    }

    /// Lays a style over what is drawn.
    pub fn tint(&mut self, area: Rect, style: Style) {
        let area = area.intersection(self.buffer.area);
        self.buffer.set_style(area, style);
    }

    /// Empties an area.
    pub fn clear(&mut self, area: Rect) {
        self.render(Clear, area);
        self.tint(area, self.theme.text());
    }

    /// A border round an area, with a title; gives what is inside.
    pub fn frame(&mut self, area: Rect, title: &str) -> Rect {
        let block = Block::bordered()
            .border_set(self.theme.border())
            .border_style(self.theme.faint());
        let block = if title.is_empty() {
            block
        } else {
            block.title(Span::styled(format!(" {title} "), self.theme.title()))
        };
        let inner = block.inner(area);
        self.render(block, area);
        inner
    }

    /// A heading with a rule to the end of the row; gives what is below it.
    pub fn section(&mut self, area: Rect, title: &str) -> Rect {
        let rule = self.theme.glyph("─", "-");
        let width = usize::from(area.width);
        let rest = width.saturating_sub(title.width() + 4);
        let line = Line::from(vec![
            Span::styled(format!("{rule} "), self.theme.faint()),
            Span::styled(title.to_owned(), self.theme.title()),
            Span::styled(format!(" {}", rule.repeat(rest)), self.theme.faint()),
        ]);
        self.put(area, line);
        Rect {
            y: area.y.saturating_add(1).min(area.bottom()),
            height: area.height.saturating_sub(1),
            ..area
        }
    }

    /// Makes an area a target; says how it stands.
    pub fn target(&mut self, area: Rect, target: Target) -> Mark {
        let area = area.intersection(self.buffer.area);
        if !area.is_empty() {
            self.layer.targets.push((area, target));
        }
        Mark {
            focused: self.focus == Some(target),
            ..Mark::default()
        }
    }

    /// Makes an area a place of the table that can be looked at and chosen; says how it stands. Whoever
    /// draws the place shows the mark by more than colour ([`Mark::over`] does).
    pub fn spot(&mut self, area: Rect, spot: Spot) -> Mark {
        let mark = self.place(area, spot);
        let Mark { focused, .. } = self.target(area, Target::Spot(spot));
        Mark { focused, ..mark }
    }

    /// Makes an area a place that cards fly to and from, but that cannot be chosen.
    pub fn place(&mut self, area: Rect, spot: Spot) -> Mark {
        let area = area.intersection(self.buffer.area);
        if !area.is_empty() {
            self.layer.places.insert(spot, area);
        }
        Mark {
            lit: self.marks.lit.contains(&spot),
            picked: self.marks.picked.contains(&spot),
            flashing: self.marks.flashing.contains(&spot),
            hidden: self.marks.hidden.contains(&spot),
            focused: false,
        }
    }

    /// Makes everything that was drawn so far unreachable: something is drawn over it.
    pub fn cover(&mut self) {
        self.layer.targets.clear();
    }

    /// A card with a border, which shows how its place stands: double if it can be chosen. A place that is
    /// `None` cannot be.
    pub fn card(&mut self, area: Rect, lines: &[Line<'_>], style: Style, spot: Option<Spot>) {
        let mark = spot.map_or_else(Mark::default, |spot| self.spot(area, spot));
        if mark.hidden {
            return;
        }
        let border = if mark.lit || mark.picked {
            self.theme.lit_border()
        } else {
            self.theme.border()
        };
        let mut edge = if mark.lit { self.theme.lit() } else { style };
        if mark.picked {
            edge = self.theme.accent();
        }
        let block = Block::bordered().border_set(border).border_style(edge);
        let inner = block.inner(area);
        self.clear(area);
        self.render(block, area);
        let lines = lines.iter().map(|line| line.clone().patch_style(style));
        self.rows(inner, lines);
        if mark.focused || mark.flashing {
            self.tint(area, self.theme.focused());
        }
    }

    /// A button `[key label]`; gives the column after it and a blank.
    pub fn button(&mut self, (x, y): (u16, u16), key: &str, label: &str, target: Target) -> u16 {
        let text = if key.is_empty() {
            format!("[{label}]")
        } else {
            format!("[{key} {label}]")
        };
        let width = u16::try_from(text.width()).unwrap_or(u16::MAX);
        let area = Rect::new(x, y, width, 1).intersection(self.buffer.area);
        let mark = self.target(area, target);
        let rest = if key.is_empty() {
            format!("{label}]")
        } else {
            format!(" {label}]")
        };
        let spans = vec![
            Span::raw("["),
            Span::styled(key.to_owned(), self.theme.key()),
            Span::raw(rest),
        ];
        self.put(area, Line::from(spans));
        if mark.focused {
            self.tint(area, self.theme.focused());
        }
        x.saturating_add(width).saturating_add(1)
    }
}

/// Cuts a text to a width and pads it.
pub fn fit(text: &str, width: usize) -> String {
    let mut out = String::new();
    let mut used = 0;
    for c in text.chars() {
        let wide = c.width().unwrap_or(0);
        if used + wide > width {
            break;
        }
        out.push(c);
        used += wide;
    }
    out.extend(std::iter::repeat_n(' ', width - used));
    out
}

/// Cuts a text to a width, with a sign at its end if anything is missing.
pub fn cut(text: &str, width: usize, theme: &Theme) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let short = fit(text, width.saturating_sub(1));
    short.trim_end().to_owned() + theme.glyph("…", "~")
}

/// Breaks a text at blanks into rows of a width; rows after the first are indented.
pub fn wrapped(text: &str, width: usize, indent: usize) -> Vec<String> {
    let mut rows = vec![String::new()];
    let pad = " ".repeat(indent.min(width / 2));
    for word in text.split_whitespace() {
        let mut word = word;
        while let Some(row) = rows.last_mut() {
            let gap = usize::from(!row.trim().is_empty());
            if row.width() + gap + word.width() <= width {
                if gap > 0 {
                    row.push(' ');
                }
                row.push_str(word);
                break;
            }
            if row.trim().is_empty() {
                // Wider than a row: it goes on in the next one.
                let room = width.saturating_sub(row.width()).max(1);
                let mut used = 0;
                let fits = word.char_indices().find(|(_, c)| {
                    used += c.width().unwrap_or(0);
                    used > room
                });
                let at = fits.map_or(word.len(), |(at, _)| at);
                let at = if at == 0 {
                    word.chars().next().map_or(0, char::len_utf8)
                } else {
                    at
                };
                let (head, tail) = word.split_at(at);
                row.push_str(head);
                if tail.is_empty() {
                    break;
                }
                word = tail;
            }
            rows.push(pad.clone());
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_fitted_cut_and_broken() {
        assert_eq!(fit("Béla", 6), "Béla  ");
        assert_eq!(fit("Maximilian", 4), "Maxi");
        assert_eq!(fit("日本", 3), "日 ");
        assert_eq!(cut("Maximilian", 5, &Theme::default()), "Maxi…");
        assert_eq!(wrapped("a bc def", 4, 1), ["a bc", " def"]);
        assert_eq!(wrapped("abcdefgh", 3, 1), ["abc", " de", " fg", " h"]);
        assert_eq!(wrapped("", 3, 1), [""]);
    }

    #[test]
    fn nothing_is_drawn_outside() {
        let (theme, marks, mut layer) = (Theme::default(), Marks::default(), Layer::default());
        let mut buffer = Buffer::empty(Rect::new(0, 0, 4, 2));
        let mut canvas = Canvas::new(&mut buffer, &theme, &marks, None, &mut layer);
        let far = Rect::new(2, 1, 50, 50);
        canvas.card(
            far,
            &[Line::raw("text")],
            Style::new(),
            Some(Spot::Button(1)),
        );
        canvas.section(far, "A long title");
        canvas.frame(far, "title");
        canvas.button((200, 100), "k", "label", Target::Row(1));
        assert_eq!(
            layer.targets,
            [(Rect::new(2, 1, 2, 1), Target::Spot(Spot::Button(1)))]
        );
        assert_eq!(
            layer.at(Position::new(3, 1)),
            Some(Target::Spot(Spot::Button(1)))
        );
        assert_eq!(layer.at(Position::new(0, 0)), None);
    }
}
