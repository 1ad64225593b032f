//! The canvas of all screens: a clipping buffer, a theme, and the list of targets for keys and mouse.
//!
//! Everything that can be chosen is a [`Target`] with the area that it fills. Arrow keys move between targets by their
//! positions, and a click chooses the target under it: one list serves both.

use std::collections::{BTreeMap, BTreeSet};

use fairdeal_protocol::card::Slot;
use fairdeal_protocol::seat::Seat;
use ratatui::buffer::Buffer;
use ratatui::layout::{Margin, Position, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::symbols::border;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Widget};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::keys::Intent;
use crate::theme::Theme;

/// A place on a table. Each game gives the numbers its own meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Spot {
    /// A card of a hand.
    Card(Slot),
    /// The property of a seat: its house, its stacks, its row.
    Seat(Seat),
    Part(Seat, u8),
    /// A square of a board.
    Square(u8),
    /// A pile, a tree, a stock.
    Pile(u8),
    /// An action that has no place on the board, shown as a button.
    Button(u8),
}

/// Anything that can be chosen on a screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// A place on a table.
    Spot(Spot),
    /// A row of a list, by number.
    Row(usize),
    /// A button of the screen, by a number of the screen's choice.
    Button(u16),
    /// A command that also has a key.
    Key(Intent),
    /// A letter that the screen knows.
    Letter(char),
}

impl Target {
    /// Whether this is a key, drawn with what it does: it can be clicked, and arrows pass it by.
    pub fn is_key(self) -> bool {
        matches!(self, Self::Key(_) | Self::Letter(_))
    }
}

/// The highlights of a target or a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// It can be chosen next.
    pub lit: bool,
    /// It is chosen, but the choice is not complete.
    pub picked: bool,
    /// It has the keyboard focus.
    pub focused: bool,
    /// Something just happened to it.
    pub flashing: bool,
    /// Its content is in flight, and is drawn once it lands.
    pub hidden: bool,
    /// Its newest part is being built: so much of it stands, in percent.
    pub growing: Option<u8>,
}

impl Mark {
    /// Applies the mark to a style: on a flat background if it is focused, underlined if it can be chosen.
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

    /// The border of a card or a place for one: thick with the focus, double if it is picked, and faint otherwise. In mono
    /// a card that can be chosen has a border of its own.
    pub fn border(self, theme: &Theme) -> (border::Set<'static>, Style) {
        match self {
            Self { focused: true, picked: true, .. } => (theme.focus_border(), theme.accent()),
            Self { focused: true, .. } => (theme.focus_border(), theme.focus_edge()),
            Self { picked: true, .. } => (theme.lit_border(), theme.accent()),
            Self { lit: true, .. } => (theme.choosable_border(), theme.faint()),
            _ => (theme.border(), theme.faint()),
        }
    }
}

/// The highlighted places of a table.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    pub lit: BTreeSet<Spot>,
    pub picked: Vec<Spot>,
    pub flashing: BTreeSet<Spot>,
    pub hidden: BTreeSet<Spot>,
    /// How much of the newest part stands, in percent.
    pub growing: BTreeMap<Spot, u8>,
}

/// The drawn targets and their areas.
#[derive(Clone, Debug, Default)]
pub struct Layer {
    /// Targets in drawing order.
    pub targets: Vec<(Rect, Target)>,
    /// All that can be chosen by its words, as a row of real buttons has it beside a frame for fingers: also what had no
    /// room in the row of keys.
    pub buttons: Vec<(String, Target)>,
    /// The places of a table, including those that cannot be chosen.
    pub places: BTreeMap<Spot, Rect>,
    /// Rows that were wider than their place, for tests: nothing may be cut.
    #[cfg(any(test, feature = "testing"))]
    pub cut: Vec<String>,
}

impl Layer {
    /// The topmost target at a position.
    pub fn at(&self, position: Position) -> Option<Target> {
        self.targets.iter().rev().find(|(area, _)| area.contains(position)).map(|(_, target)| *target)
    }

    /// The area of a target.
    pub fn area(&self, target: Target) -> Option<Rect> {
        let found = self.targets.iter().find(|(_, other)| *other == target);
        found.map(|(area, _)| *area)
    }
}

/// See the [module docs](self).
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
        Self { buffer, theme, marks, focus, layer }
    }

    pub fn theme(&self) -> &'a Theme {
        self.theme
    }

    /// The whole screen.
    pub fn area(&self) -> Rect {
        self.buffer.area
    }

    /// Draws a widget, clipped to the screen.
    pub fn render(&mut self, widget: impl Widget, area: Rect) {
        let area = area.intersection(self.buffer.area);
        if !area.is_empty() {
            widget.render(area, self.buffer);
        }
    }

    /// Writes one row, clipped to the area.
    pub fn put<'l>(&mut self, area: Rect, line: impl Into<Line<'l>>) {
        let line = line.into();
        #[cfg(any(test, feature = "testing"))]
        {
            let place = area.intersection(self.buffer.area);
            let text = line.to_string();
            if !place.is_empty() && text.trim_end().width() > usize::from(place.width) {
                self.layer.cut.push(text);
            }
        }
        self.render(line, Rect { height: 1, ..area });
    }

    /// Writes at the start of a row, and returns the rest of the row.
    pub fn lead<'l>(&mut self, area: Rect, line: impl Into<Line<'l>>) -> Rect {
        let line = line.into();
        let used = u16::try_from(line.width()).unwrap_or(u16::MAX).min(area.width);
        self.put(area, line);
        Rect { x: area.x + used, width: area.width - used, height: 1, ..area }
    }

    /// Writes rows from the top down, as many as fit.
    pub fn rows<'l>(&mut self, area: Rect, lines: impl IntoIterator<Item = Line<'l>>) {
        for (y, line) in (area.y..area.bottom()).zip(lines) {
            self.put(Rect { y, height: 1, ..area }, line);
        }
    }

    /// Applies a style to an area that is already drawn.
    pub fn tint(&mut self, area: Rect, style: Style) {
        let area = area.intersection(self.buffer.area);
        self.buffer.set_style(area, style);
    }

    /// Makes everything drawn so far stand back.
    pub fn dim(&mut self) {
        self.tint(self.buffer.area, self.theme.faint().remove_modifier(Modifier::BOLD));
    }

    /// Clears an area.
    pub fn clear(&mut self, area: Rect) {
        self.render(Clear, area);
        self.tint(area, self.theme.text());
    }

    /// Draws a border with a title round an area, and returns the inner area.
    pub fn frame(&mut self, area: Rect, title: &str) -> Rect {
        let block = Block::bordered().border_set(self.theme.border()).border_style(self.theme.faint());
        let block =
            if title.is_empty() { block } else { block.title(Span::styled(format!(" {title} "), self.theme.title())) };
        let inner = block.inner(area);
        self.render(block, area);
        inner
    }

    /// Draws a panel: filled, with its title in the first row; in mono framed. Returns the area inside, two columns and
    /// one row from each edge.
    pub fn panel(&mut self, area: Rect, title: &str) -> Rect {
        self.clear(area);
        match self.theme.panel() {
            Some(fill) => {
                self.tint(area, fill);
                let line = Line::styled(title, self.theme.title());
                self.put(area.inner(Margin::new(2, 0)), line);
            }
            None => {
                self.frame(area, title);
            }
        }
        area.inner(Margin::new(2, 1))
    }

    /// Draws a heading with a rule to the end of the row, and returns the area below.
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
        Rect { y: area.y.saturating_add(1).min(area.bottom()), height: area.height.saturating_sub(1), ..area }
    }

    /// Registers an area as a target, and returns its mark.
    pub fn target(&mut self, area: Rect, target: Target) -> Mark {
        let area = area.intersection(self.buffer.area);
        if !area.is_empty() {
            self.layer.targets.push((area, target));
        }
        Mark { focused: self.focus == Some(target), ..Mark::default() }
    }

    /// Registers an area as a place of the table that can be focused and chosen, and returns its mark. The caller must
    /// show the mark by more than colour, as [`Mark::over`] does.
    pub fn spot(&mut self, area: Rect, spot: Spot) -> Mark {
        let mark = self.place(area, spot);
        let Mark { focused, .. } = self.target(area, Target::Spot(spot));
        Mark { focused, ..mark }
    }

    /// Registers an area as a place that cards fly to and from but that cannot be chosen.
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
            growing: self.marks.growing.get(&spot).copied(),
            focused: false,
        }
    }

    /// Where a place of the table was drawn.
    pub fn area_of(&self, spot: Spot) -> Option<Rect> {
        self.layer.places.get(&spot).copied()
    }

    /// Whether nothing is written in an area.
    pub fn is_blank(&self, area: Rect) -> bool {
        area.positions().all(|at| self.buffer.cell(at).is_none_or(|cell| cell.symbol() == " "))
    }

    /// Whether a letter or a digit is written in a cell.
    pub fn is_letter(&self, x: u16, y: u16) -> bool {
        self.buffer.cell((x, y)).is_some_and(|cell| cell.symbol().chars().any(char::is_alphanumeric))
    }

    /// Whether a place has the focus.
    pub fn is_focused(&self, spot: Spot) -> bool {
        self.focus == Some(Target::Spot(spot))
    }

    /// Removes all targets and buttons registered so far, because something is drawn over them.
    pub fn cover(&mut self) {
        self.layer.targets.clear();
        self.layer.buttons.clear();
    }

    /// Registers a target under words for a real button. A list of keys is nothing for fingers.
    pub fn offer(&mut self, words: &str, target: Target) {
        let is_new = self.layer.buttons.iter().all(|(other, at)| *at != target && other != words);
        if is_new && !words.is_empty() && target != Target::Key(Intent::Help) {
            self.layer.buttons.push((words.to_owned(), target));
        }
    }

    /// Removes the targets inside an area, because something is drawn over it.
    pub fn cover_area(&mut self, area: Rect) {
        let is_inside = |target: &Rect| target.intersection(area) == *target;
        self.layer.targets.retain(|(target, _)| !is_inside(target));
    }

    /// Draws a button `[key label]`, and returns the column after the button and a blank.
    pub fn button(&mut self, (x, y): (u16, u16), key: &str, label: &str, target: Target) -> u16 {
        let text = if key.is_empty() { format!("[{label}]") } else { format!("[{key} {label}]") };
        let width = u16::try_from(text.width()).unwrap_or(u16::MAX);
        let area = Rect::new(x, y, width, 1).intersection(self.buffer.area);
        self.offer(label, target);
        let mark = self.target(area, target);
        let rest = if key.is_empty() { format!("{label}]") } else { format!(" {label}]") };
        let spans = vec![Span::raw("["), Span::styled(key.to_owned(), self.theme.key()), Span::raw(rest)];
        self.put(area, Line::from(spans));
        if mark.focused {
            self.tint(area, self.theme.focused());
        }
        x.saturating_add(width).saturating_add(1)
    }
}

/// Cuts or pads a text to a width.
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

/// Cuts a text to a width, with an ellipsis at the end if anything is missing.
pub fn cut(text: &str, width: usize, theme: &Theme) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let short = fit(text, width.saturating_sub(1));
    short.trim_end().to_owned() + theme.glyph("…", "~")
}

/// Wraps a text at blanks to a width; rows after the first are indented.
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
                // Wider than a row: continue in the next one.
                let room = width.saturating_sub(row.width()).max(1);
                let mut used = 0;
                let fits = word.char_indices().find(|(_, c)| {
                    used += c.width().unwrap_or(0);
                    used > room
                });
                let at = fits.map_or(word.len(), |(at, _)| at);
                let at = if at == 0 { word.chars().next().map_or(0, char::len_utf8) } else { at };
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

/// Wraps a styled line at blanks to a width, like [`wrapped`]. A line that fits stays as it is, columns and all.
pub fn wrapped_line(line: &Line<'static>, width: usize, indent: usize) -> Vec<Line<'static>> {
    if line.width() <= width {
        return vec![line.clone()];
    }
    // The style of every letter but the blanks, in order.
    let styles: Vec<Style> = (line.spans.iter())
        .flat_map(|span| {
            let letters = span.content.chars().filter(|c| !c.is_whitespace());
            letters.map(|_| span.style)
        })
        .collect();
    let mut styles = styles.into_iter();
    let mut style = Style::new();
    let row = |row: String| {
        let spans = row.chars().map(|c| {
            if !c.is_whitespace() {
                style = styles.next().unwrap_or_default();
            }
            Span::styled(c.to_string(), style)
        });
        Line::from(spans.collect::<Vec<_>>())
    };
    wrapped(&line.to_string(), width, indent).into_iter().map(row).collect()
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
    fn a_wrapped_line_keeps_its_styles() {
        let bold = Style::new().bold();
        let line = Line::from(vec![Span::raw("a  bc "), Span::styled("def g", bold)]);
        let rows = wrapped_line(&line, 6, 1);
        let texts: Vec<String> = rows.iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["a bc", " def g"]);
        let is_bold = |c: &Span<'_>| c.style == bold;
        assert!(rows[1].spans.iter().skip(1).all(is_bold) && !rows[0].spans.iter().any(is_bold));
        assert_eq!(wrapped_line(&line, 20, 1), std::slice::from_ref(&line));
    }

    #[test]
    fn nothing_is_drawn_outside() {
        let (theme, marks, mut layer) = (Theme::default(), Marks::default(), Layer::default());
        let mut buffer = Buffer::empty(Rect::new(0, 0, 4, 2));
        let mut canvas = Canvas::new(&mut buffer, &theme, &marks, None, &mut layer);
        let far = Rect::new(2, 1, 50, 50);
        canvas.spot(far, Spot::Button(1));
        canvas.section(far, "A long title");
        canvas.frame(far, "title");
        canvas.button((200, 100), "k", "label", Target::Row(1));
        assert_eq!(layer.targets, [(Rect::new(2, 1, 2, 1), Target::Spot(Spot::Button(1)))]);
        assert_eq!(layer.at(Position::new(3, 1)), Some(Target::Spot(Spot::Button(1))));
        assert_eq!(layer.at(Position::new(0, 0)), None);
    }
}
