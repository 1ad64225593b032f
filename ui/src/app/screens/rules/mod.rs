//! The rulebooks: text, tables and drawings, with a contents list and search.

mod drawn;
mod row;
mod table;
#[cfg(test)]
mod tests;
mod text;

use fairdeal_games::GameInfo;
use ratatui::layout::{Constraint, Flex, Layout, Margin, Rect};
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use self::text::{Page, lay_out};
use super::first_shown;
use crate::app::screen::{Context, Cx, FocusPolicy, Handled, Screen, ScreenInput, Tone};
use crate::canvas::{Canvas, Layer, Target};
use crate::field::Field;
use crate::keys::Intent;
use crate::theme::Theme;

/// Columns of text: more are tiring to read.
const WIDTH: u16 = 84;
/// The fewest columns of text beside the contents list; with fewer it opens as a sheet.
const BESIDE: u16 = 70;
/// The longest search text.
const MAX_SEARCH: usize = 60;
const SEARCH: Target = Target::Button(0);
const CONTENTS: Target = Target::Button(1);

/// The anchors of a rulebook's headings, which games may name.
#[cfg(test)]
pub fn anchors(game: &GameInfo) -> Vec<String> {
    let page = lay_out(game.rulebook, usize::from(WIDTH), &Theme::default());
    page.headings.iter().map(text::Heading::slug).collect()
}

/// A part of a match of the search in one row: the row, its first column and its columns.
type Part = (usize, usize, usize);

#[derive(Debug)]
pub struct Rules {
    game: &'static GameInfo,
    /// The heading to open at, until the first layout.
    anchor: String,
    page: Page,
    width: u16,
    /// The first visible row; `room` is how many fit on the screen.
    top: usize,
    room: usize,
    /// The reading position at every width: where the first visible row begins in the Markdown, and how many rows above
    /// it begin there too.
    place: (usize, usize),
    /// The heading that was asked for, until the player scrolls.
    marked: Option<usize>,
    /// Whether there is room for the contents beside the text.
    is_wide: bool,
    /// Whether the contents stand in the text's place.
    sheet: bool,
    search: Option<Field>,
    found: String,
    /// All matches of the search, and the current one.
    matches: Vec<Vec<Part>>,
    current: usize,
}

impl Rules {
    pub fn new(game: &'static GameInfo) -> Self {
        Self::at(game, "")
    }

    /// Opens the rulebook at a heading, by its anchor; at the top if there is no such heading.
    pub fn at(game: &'static GameInfo, anchor: &str) -> Self {
        Self {
            game,
            anchor: anchor.to_owned(),
            page: Page::default(),
            width: 0,
            top: 0,
            room: 1,
            place: (0, 0),
            marked: None,
            is_wide: false,
            sheet: false,
            search: None,
            found: String::new(),
            matches: Vec::new(),
            current: 0,
        }
    }

    /// Lays the rulebook out for a text of this size, and keeps the reading position.
    fn lay_out(&mut self, area: Rect, theme: &Theme) {
        self.room = usize::from(area.height);
        if self.width != area.width {
            self.width = area.width;
            self.page = lay_out(self.game.rulebook, usize::from(area.width), theme);
            self.matches = matches(&self.page, &self.found);
            let (source, below) = self.place;
            let rows = &self.page.rows;
            let last = rows.partition_point(|row| row.source <= source).saturating_sub(1);
            let source = rows.get(last).map_or(0, |row| row.source);
            let first = rows.partition_point(|row| row.source < source);
            self.top = last.min(first + below);
        }
        let anchor = std::mem::take(&mut self.anchor);
        let wanted = (!anchor.is_empty())
            .then(|| self.page.headings.iter().position(|heading| heading.slug() == anchor))
            .flatten();
        if let Some(wanted) = wanted.or(self.marked) {
            self.go_to(wanted);
        }
        self.top = self.top.min(self.most());
    }

    /// The row at the top when the text is scrolled to its end.
    fn most(&self) -> usize {
        self.page.rows.len().saturating_sub(self.room)
    }

    fn show(&mut self, top: usize) {
        self.top = top.min(self.most());
        let source = self.page.rows.get(self.top).map_or(0, |row| row.source);
        let first = self.page.rows.partition_point(|row| row.source < source);
        self.place = (source, self.top.saturating_sub(first));
    }

    fn scroll(&mut self, by: isize) {
        self.marked = None;
        self.show(self.top.saturating_add_signed(by));
    }

    /// Scrolls to a heading and marks it.
    fn go_to(&mut self, heading: usize) {
        if let Some(row) = self.page.headings.get(heading).map(|heading| heading.row) {
            self.show(row);
            self.marked = Some(heading);
        }
    }

    /// The heading of the section that is being read. The eye wanders from the first row to the last as the text
    /// scrolls from its start to its end, so every section has its turn.
    fn section(&self) -> usize {
        let eye = self.top + (self.room * self.top).checked_div(self.most()).unwrap_or(0);
        let before = self.page.headings.partition_point(|heading| heading.row <= eye);
        self.marked.unwrap_or(before.saturating_sub(1))
    }

    /// Goes to the current match.
    fn show_match(&mut self) {
        let Some((row, ..)) = self.matches.get(self.current).and_then(|parts| parts.first()).copied() else {
            return;
        };
        self.marked = None;
        if !(self.top..self.top + self.room).contains(&row) {
            self.show(first_shown(row, self.room, self.page.rows.len()));
        }
    }

    /// Says how many matches there are, and which one is shown.
    fn count(&self) -> String {
        match self.matches.len() {
            0 if self.found.is_empty() => String::new(),
            0 => "not found".to_owned(),
            all => format!("{} of {all}", self.current + 1),
        }
    }

    /// The entries of the contents: the headings below the title, and those of the third level if there is room.
    fn entries(&self, rows: u16) -> Vec<usize> {
        let below = |deepest: usize| -> Vec<usize> {
            let shown =
                self.page.headings.iter().enumerate().filter(|(_, heading)| (2..=deepest).contains(&heading.level));
            shown.map(|(at, _)| at).collect()
        };
        let all = below(3);
        if all.len() <= usize::from(rows) { all } else { below(2) }
    }

    /// Columns of the contents as a panel.
    fn contents_width(&self) -> u16 {
        let widths = self.page.headings.iter().skip(1).map(|heading| heading.title.width() + 2 * heading.level);
        u16::try_from(widths.max().unwrap_or(0)).unwrap_or(0).saturating_add(4)
    }

    /// Draws the contents: beside the text a panel no higher than they need, instead of it a sheet of the same size.
    fn draw_contents(&self, canvas: &mut Canvas<'_>, area: Rect, is_sheet: bool) {
        let theme = canvas.theme();
        let entries = self.entries(area.height.saturating_sub(2));
        let height = u16::try_from(entries.len() + 2).unwrap_or(u16::MAX);
        let height = if is_sheet { area.height } else { height.min(area.height) };
        let [area] = Layout::vertical([Constraint::Length(height)]).areas(area);
        if is_sheet {
            canvas.cover();
        }
        let inner = canvas.panel(area, "Contents");
        let section = self.section();
        // The last entry above: a heading of the third level may not be listed.
        let here = entries.iter().rev().find(|at| **at <= section).or(entries.first());
        for (y, at) in (inner.y..inner.bottom()).zip(&entries) {
            let Some(heading) = self.page.headings.get(*at) else {
                continue;
            };
            let row = Rect { y, height: 1, ..inner };
            let mark = canvas.target(row, Target::Row(*at));
            let is_here = here == Some(at);
            let sign = if is_here || mark.focused { theme.glyph("▌", ">") } else { " " };
            let rest = canvas.lead(row, Span::styled(format!("{sign} "), theme.accent()));
            let style = if is_here { theme.title() } else { theme.ink() };
            let indent = " ".repeat(2 * heading.level.saturating_sub(2));
            canvas.put(rest, Line::styled(format!("{indent}{}", heading.title), style));
            if mark.focused {
                canvas.tint(row, theme.focused());
            }
        }
    }

    /// Draws the visible rows with the marked heading and the matches. The mark stands in the two columns before the
    /// text.
    fn draw_text(&self, canvas: &mut Canvas<'_>, area: Rect) {
        let theme = canvas.theme();
        canvas.rows(area, self.page.rows.iter().skip(self.top).map(|row| row.line.clone()));
        let y = |row: usize| {
            let below = u16::try_from(row.checked_sub(self.top)?).ok()?;
            (below < area.height).then_some(area.y + below)
        };
        let sign = Line::styled(theme.glyph("▌", ">"), theme.accent());
        let before = area.x.saturating_sub(2);
        let marked = self.marked.and_then(|at| self.page.headings.get(at));
        if let Some(y) = marked.and_then(|heading| y(heading.row)) {
            let row = Rect::new(before, y, area.width + 2, 1);
            canvas.put(row, sign.clone());
            canvas.tint(row, theme.focused());
        }
        for (number, parts) in self.matches.iter().enumerate() {
            for (row, column, width) in parts {
                let (Some(y), Ok(column), Ok(width)) = (y(*row), u16::try_from(*column), u16::try_from(*width)) else {
                    continue;
                };
                let here = Rect::new(area.x + column, y, width, 1).intersection(area);
                canvas.tint(here, theme.lit().add_modifier(Modifier::UNDERLINED));
                if number == self.current {
                    canvas.tint(here, theme.focused());
                    canvas.put(Rect::new(before, y, 1, 1), sign.clone());
                }
            }
        }
    }

    /// Draws the reading position as a bar: the part of the text that is visible.
    fn draw_bar(&self, canvas: &mut Canvas<'_>, area: Rect) {
        let theme = canvas.theme();
        let (all, rows) = (self.page.rows.len(), usize::from(area.height));
        if all <= rows {
            return;
        }
        let length = (rows * rows / all).max(1);
        let start = ((rows - length) * self.top).checked_div(self.most()).unwrap_or(0);
        canvas.rows(
            area,
            (0..rows).map(|y| {
                if (start..start + length).contains(&y) {
                    Line::styled(theme.glyph("┃", "#"), theme.accent())
                } else {
                    Line::styled(theme.glyph("│", "|"), theme.faint())
                }
            }),
        );
    }

    fn draw_foot(&self, context: &Context, canvas: &mut Canvas<'_>, area: Rect) {
        let theme = canvas.theme();
        let count = Span::styled(self.count(), theme.accent());
        if let Some(field) = &self.search {
            let room = u16::try_from(count.width()).unwrap_or(0);
            let [text, end] =
                Layout::horizontal([Constraint::Fill(1), Constraint::Length(room)]).spacing(2).areas(area);
            let row = canvas.lead(text, Span::styled("search: ", theme.accent()));
            field.draw(canvas, row);
            canvas.put(end, count);
            return;
        }
        let keys = &context.keymap;
        if self.sheet {
            let key = Span::styled("Enter", theme.key());
            canvas.put(area, Line::from(vec![key, Span::raw(" read this section")]));
            return;
        }
        let mut x = canvas.button((area.x, area.y), &keys.key(Intent::Search), "search", SEARCH);
        if !self.is_wide {
            x = canvas.button((x, area.y), &keys.key(Intent::Chat), "contents", CONTENTS);
        }
        let [_, rest] = Layout::horizontal([Constraint::Length(x.saturating_sub(area.x)), Constraint::Fill(1)])
            .spacing(1)
            .areas(area);
        if self.found.is_empty() {
            let all = self.page.rows.len();
            let read = (self.top + self.room).min(all) * 100;
            let words = format!("{}% read", read.checked_div(all).unwrap_or(100));
            canvas.put(rest, Line::styled(words, theme.ink()).right_aligned());
        } else {
            let rest = canvas.lead(rest, count);
            if !self.matches.is_empty() {
                canvas.put(rest, Line::styled("   n next   N previous", theme.ink()));
            }
        }
    }

    fn open_contents(&mut self, cx: &mut Cx<'_>) {
        if !self.is_wide {
            self.sheet = true;
            cx.unfocus();
        }
    }

    /// Scrolls, or opens the search or the contents.
    fn intent(&mut self, cx: &mut Cx<'_>, intent: Intent) -> Handled {
        let page = isize::try_from(self.room).unwrap_or(1).max(3) - 2;
        match intent {
            _ if self.sheet => return Handled::No,
            Intent::Up => self.scroll(-1),
            Intent::Down => self.scroll(1),
            Intent::PageUp => self.scroll(-page),
            Intent::PageDown => self.scroll(page),
            Intent::First => self.scroll(isize::MIN),
            Intent::Last => self.scroll(isize::MAX),
            Intent::Search => self.search = Some(Field::new(MAX_SEARCH)),
            Intent::Chat | Intent::Next => self.open_contents(cx),
            _ => return Handled::No,
        }
        Handled::Yes
    }

    /// Goes so many matches ahead, and round at the last.
    fn turn_to_match(&mut self, by: usize) {
        self.current = (self.current + by).checked_rem(self.matches.len()).unwrap_or(0);
        self.show_match();
    }

    /// Shows the first match from the reading position on.
    fn find(&mut self) {
        if let Some(field) = &self.search {
            self.found = field.text();
            self.matches = matches(&self.page, &self.found);
            let is_above = |parts: &Vec<Part>| parts.first().is_some_and(|(row, ..)| *row < self.top);
            let above = self.matches.iter().take_while(|parts| is_above(parts)).count();
            self.current = above.checked_rem(self.matches.len()).unwrap_or(0);
            self.show_match();
        }
    }

    /// Ends the search at its current match.
    fn submit(&mut self, cx: &mut Cx<'_>) {
        self.find();
        if self.matches.is_empty() && !self.found.trim().is_empty() {
            let why = format!("'{}' is not in this rulebook", self.found);
            cx.toast(Tone::Plain, why);
            self.found.clear();
        }
        self.search = None;
    }
}

/// The matches of a text on a page, without regard to case and to where the rows end.
fn matches(page: &Page, wanted: &str) -> Vec<Vec<Part>> {
    let lower = |text: &str| -> Vec<char> { text.chars().filter_map(|c| c.to_lowercase().next()).collect() };
    let wanted = lower(wanted.trim());
    let mut letters: Vec<(char, usize, usize)> = Vec::new();
    for (row, text) in page.rows.iter().enumerate() {
        let text = lower(&text.line.to_string());
        let first = text.iter().position(|c| *c != ' ').unwrap_or(text.len());
        let last = text.iter().rposition(|c| *c != ' ').map_or(first, |last| last + 1);
        // Every letter of the rulebooks is one column wide, so columns count letters.
        let inside = text.into_iter().enumerate().take(last).skip(first);
        letters.extend(inside.map(|(column, c)| (c, row, column)));
        letters.push((' ', row, last));
    }
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(rest) = letters.get(from..).filter(|rest| !wanted.is_empty() && !rest.is_empty()) {
        let length = wanted.len();
        let fits = |window: &[(char, usize, usize)]| window.iter().map(|(c, ..)| c).eq(&wanted);
        let Some(at) = rest.windows(length).position(fits) else {
            break;
        };
        let hit = rest.get(at..at + length).unwrap_or_default();
        let parts = hit.chunk_by(|(_, a, _), (_, b, _)| a == b);
        let part = |part: &[(char, usize, usize)]| part.first().map(|(_, row, column)| (*row, *column, part.len()));
        found.push(parts.filter_map(part).collect());
        from += at + length;
    }
    found
}

impl Screen for Rules {
    fn name(&self) -> String {
        format!("Rules of {}", self.game.name)
    }

    fn draw(&mut self, context: &Context, canvas: &mut Canvas<'_>, area: Rect) {
        let theme = *canvas.theme();
        // One blank row above the text and one below it, if there are rows to spare.
        let space = u16::from(area.height > 20);
        let [body, foot] = Layout::vertical([Constraint::Fill(1), Constraint::Length(1)])
            .spacing(space)
            .areas(area.inner(Margin::new(2, 0)));
        let [_, body] = Layout::vertical([Constraint::Length(space), Constraint::Fill(1)]).areas(body);
        if self.page.rows.is_empty() {
            // The width of the contents depends on the headings, and not on the width of the text.
            self.page = lay_out(self.game.rulebook, usize::from(WIDTH), &theme);
        }
        let contents = self.contents_width();
        self.is_wide = body.width >= contents + 2 + 2 + BESIDE + 2;
        self.sheet &= !self.is_wide;
        let beside = if self.is_wide { [contents, 2] } else { [0, 0] };
        let columns = beside.into_iter().chain([2]).map(Constraint::Length);
        let columns = columns.chain([Constraint::Max(WIDTH), Constraint::Length(1), Constraint::Length(1)]);
        let [list, _, mark, text, _, bar] = Layout::horizontal(columns).flex(Flex::Center).areas(body);
        self.lay_out(text, &theme);
        if !self.sheet {
            self.draw_text(canvas, text);
        }
        self.draw_bar(canvas, bar);
        let left = if self.is_wide { list.x } else { mark.x };
        let [_, foot] =
            Layout::horizontal([Constraint::Length(left.saturating_sub(foot.x)), Constraint::Fill(1)]).areas(foot);
        let [foot] = Layout::horizontal([Constraint::Length(bar.right().saturating_sub(left))]).areas(foot);
        self.draw_foot(context, canvas, foot);
        if self.is_wide {
            self.draw_contents(canvas, list, false);
        } else if self.sheet {
            self.draw_contents(canvas, mark.union(text), true);
        }
    }

    fn focus(&self, layer: &Layer) -> FocusPolicy {
        // Nothing has the focus while the player reads.
        let here = Target::Row(self.section().max(1));
        let mut targets = layer.targets.iter().rev().map(|(_, target)| *target);
        let first = targets.find(|target| self.sheet && *target <= here);
        // Arrows, Home and End scroll the text, and Tab opens the contents, instead of moving the focus.
        let steers: &[Intent] = if self.sheet {
            &[]
        } else if self.is_wide || self.search.is_some() {
            &[Intent::Up, Intent::Down, Intent::First, Intent::Last]
        } else {
            &[Intent::Up, Intent::Down, Intent::First, Intent::Last, Intent::Next]
        };
        FocusPolicy { first, steers, writes: self.search.is_some(), ..FocusPolicy::of(layer) }
    }

    fn input(&mut self, cx: &mut Cx<'_>, input: ScreenInput<'_>) -> Handled {
        match input {
            ScreenInput::Choose(SEARCH) => self.search = Some(Field::new(MAX_SEARCH)),
            ScreenInput::Choose(CONTENTS) => self.open_contents(cx),
            ScreenInput::Choose(Target::Row(heading)) => {
                self.sheet = false;
                self.go_to(heading);
                cx.unfocus();
            }
            ScreenInput::Intent(intent) => return self.intent(cx, intent),
            ScreenInput::Letter('n') => self.turn_to_match(1),
            ScreenInput::Letter('N') => self.turn_to_match(self.matches.len().saturating_sub(1)),
            ScreenInput::Typed(typed) => {
                if self.search.as_mut().is_some_and(|field| field.typed(typed)) {
                    self.find();
                }
            }
            ScreenInput::Submit => self.submit(cx),
            ScreenInput::Back if self.sheet => self.sheet = false,
            ScreenInput::Back if self.search.is_some() => {
                self.search = None;
                self.found.clear();
                self.matches.clear();
            }
            _ => return Handled::No,
        }
        Handled::Yes
    }

    fn keys(&self, context: &Context) -> Vec<(String, String)> {
        let keys = &context.keymap;
        let both = |a, b| format!("{} {}", keys.keys(a), keys.keys(b));
        vec![
            (both(Intent::Up, Intent::Down), "scroll".to_owned()),
            (both(Intent::First, Intent::Last), "start and end".to_owned()),
            (both(Intent::Next, Intent::Chat), "contents".to_owned()),
            (keys.keys(Intent::Search), "search".to_owned()),
            ("n N".to_owned(), "next and previous match".to_owned()),
        ]
    }

    fn commands(&self, _context: &Context) -> Vec<(String, Target)> {
        let titles = self
            .page
            .headings
            .iter()
            .enumerate()
            .skip(1)
            .map(|(at, heading)| (format!("read: {}", heading.title), Target::Row(at)));
        let search = ("search the rulebook".to_owned(), SEARCH);
        std::iter::once(search).chain(titles).collect()
    }
}
