//! The rulebooks, with search.

use fairdeal_games::GameInfo;
use fairdeal_ui::canvas::{Canvas, Target, wrapped};
use fairdeal_ui::field::Field;
use fairdeal_ui::keys::Intent;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::column;
use crate::tui::screen::{Context, Request, Requests, Screen};

/// Maximum width of the text.
const WIDTH: u16 = 84;
/// The longest search text.
const MAX_SEARCH: usize = 60;
const SEARCH: Target = Target::Button(0);

/// The kind of a line in a rulebook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Heading,
    Item,
    Table,
    Text,
}

#[derive(Debug)]
pub(in crate::tui) struct Rules {
    game: &'static GameInfo,
    /// The first visible row.
    top: usize,
    search: Option<Field>,
    found: String,
    /// The rows of the last layout; `room` is how many fit on the screen.
    rows: Vec<(Kind, String)>,
    width: usize,
    room: usize,
}

impl Rules {
    pub(in crate::tui) fn new(game: &'static GameInfo) -> Self {
        Self {
            game,
            top: 0,
            search: None,
            found: String::new(),
            rows: Vec::new(),
            width: 0,
            room: 1,
        }
    }

    /// Lays the rulebook out in rows of `width`. Joins the lines of each Markdown paragraph first.
    fn lay_out(&mut self, width: usize) {
        if self.width == width {
            return;
        }
        self.width = width;
        let mut paragraphs: Vec<(Kind, String)> = Vec::new();
        let mut joins = false;
        for line in self.game.rulebook.lines() {
            let text = line.trim().replace("**", "").replace('`', "");
            let kind = match text.as_str() {
                text if text.starts_with('#') => Kind::Heading,
                text if text.starts_with("- ") || text.starts_with("* ") => Kind::Item,
                text if text.starts_with('|') => Kind::Table,
                _ => Kind::Text,
            };
            let is_rule = kind == Kind::Table && text.chars().all(|c| "|-: ".contains(c));
            match paragraphs.last_mut() {
                _ if is_rule => continue,
                Some((_, last)) if joins && kind == Kind::Text && !text.is_empty() => {
                    last.push(' ');
                    last.push_str(&text);
                }
                _ => paragraphs.push((kind, text.trim_start_matches('#').trim().to_owned())),
            }
            joins = matches!(kind, Kind::Item | Kind::Text) && !text.is_empty();
        }
        self.rows = paragraphs
            .into_iter()
            .flat_map(|(kind, text)| {
                let indent = if kind == Kind::Item { 2 } else { 0 };
                let rows = wrapped(&text, width.max(1), indent);
                rows.into_iter().map(move |row| (kind, row))
            })
            .collect();
    }

    fn scroll(&mut self, by: isize) {
        let most = self.rows.len().saturating_sub(self.room);
        self.top = self.top.saturating_add_signed(by).min(most);
    }

    /// Scrolls to the next row from `from` on that contains the search text, wrapping at the end.
    fn find(&mut self, from: usize) -> bool {
        let wanted = self.found.to_lowercase();
        if wanted.is_empty() {
            return true;
        }
        let has = |at: &usize| {
            let row = self.rows.get(*at % self.rows.len().max(1));
            row.is_some_and(|(_, row)| row.to_lowercase().contains(&wanted))
        };
        let all = self.rows.len();
        let found = (from..from + all).find(has).map(|at| at % all.max(1));
        if let Some(at) = found {
            self.top = at.min(all.saturating_sub(self.room));
        }
        found.is_some()
    }
}

impl Screen for Rules {
    fn name(&self) -> String {
        format!("rules of {}", self.game.name)
    }

    fn draw(&mut self, context: &Context, canvas: &mut Canvas<'_>, area: Rect) {
        let theme = canvas.theme();
        let page = column(area, WIDTH);
        let [text, foot] = [
            Rect {
                height: page.height.saturating_sub(1),
                ..page
            },
            Rect {
                y: page.bottom().saturating_sub(1),
                height: 1,
                ..page
            },
        ];
        self.lay_out(usize::from(text.width).saturating_sub(2));
        self.room = usize::from(text.height);
        self.scroll(0);
        let wanted = self.found.to_lowercase();
        let lines = self.rows.iter().skip(self.top).map(|(kind, row)| {
            let style = match kind {
                Kind::Heading => theme.accent(),
                Kind::Table => theme.faint(),
                Kind::Item | Kind::Text => theme.text(),
            };
            let lower = row.to_lowercase();
            let hit = Some(&wanted).filter(|wanted| !wanted.is_empty());
            // Highlight only if lower case has the same length: otherwise the byte positions differ.
            let hit = hit.and_then(|wanted| Some((lower.find(wanted.as_str())?, wanted.len())));
            let parts = hit.filter(|_| lower.len() == row.len()).and_then(|(at, length)| {
                let (before, rest) = row.split_at_checked(at)?;
                let (here, after) = rest.split_at_checked(length)?;
                Some((before, here, after))
            });
            match parts {
                Some((before, here, after)) => Line::from(vec![
                    Span::styled(format!(" {before}"), style),
                    Span::styled(here.to_owned(), style.add_modifier(Modifier::REVERSED)),
                    Span::styled(after.to_owned(), style),
                ]),
                None => Line::styled(format!(" {row}"), style),
            }
        });
        canvas.rows(text, lines);
        if let Some(field) = &self.search {
            let row = canvas.lead(foot, Line::styled(" search: ", theme.accent()));
            field.draw(canvas, row);
            return;
        }
        let keys = &context.keymap;
        let x = canvas.button((foot.x + 1, foot.y), &keys.key(Intent::Search), "search", SEARCH);
        let shown = (self.top + self.room).min(self.rows.len());
        let words = format!("row {shown} of {}", self.rows.len());
        let rest = Rect {
            x,
            width: foot.right().saturating_sub(x),
            ..foot
        };
        canvas.put(rest, Line::styled(words, theme.faint()));
    }

    fn choose(&mut self, _context: &Context, target: Target, _wishes: &mut Requests) {
        if target == SEARCH {
            self.search = Some(Field::new(MAX_SEARCH));
        }
    }

    /// Home and End scroll to the ends of the text instead of moving the focus.
    fn steers(&self, intent: Intent) -> bool {
        matches!(intent, Intent::First | Intent::Last)
    }

    fn intent(&mut self, _context: &Context, intent: Intent, requests: &mut Requests) {
        let page = isize::try_from(self.room).unwrap_or(1).max(2) - 1;
        match intent {
            Intent::Up | Intent::Left => self.scroll(-1),
            Intent::Down | Intent::Right => self.scroll(1),
            Intent::PageUp => self.scroll(-page),
            Intent::PageDown => self.scroll(page),
            Intent::First => self.top = 0,
            Intent::Last => self.scroll(isize::MAX),
            Intent::Search => self.search = Some(Field::new(MAX_SEARCH)),
            Intent::Quit => requests.push(Request::Leave),
            _ => {}
        }
    }

    fn letter(&mut self, _context: &Context, letter: char, requests: &mut Requests) -> bool {
        if letter != 'n' {
            return false;
        }
        if !self.find(self.top + 1) {
            let why = format!("'{}' is not in this rulebook", self.found);
            requests.push(Request::Toast(crate::tui::screen::Tone::Plain, why));
        }
        true
    }

    fn field(&mut self) -> Option<&mut Field> {
        self.search.as_mut()
    }

    fn written(&mut self, _context: &Context, _wishes: &mut Requests) {
        if let Some(field) = &self.search {
            self.found = field.text();
            self.find(self.top);
        }
    }

    fn submit(&mut self, context: &Context, requests: &mut Requests) {
        self.written(context, requests);
        if !self.find(self.top) {
            let why = format!("'{}' is not in this rulebook", self.found);
            requests.push(Request::Toast(crate::tui::screen::Tone::Plain, why));
        }
        self.search = None;
    }

    fn back(&mut self, _context: &Context, requests: &mut Requests) {
        if self.search.take().is_none() {
            requests.push(Request::Leave);
        }
    }

    fn keys(&self, context: &Context) -> Vec<(String, String)> {
        let keys = &context.keymap;
        vec![
            (keys.keys(Intent::Search), "search".to_owned()),
            ("n".to_owned(), "next match".to_owned()),
        ]
    }

    fn commands(&self, _context: &Context) -> Vec<(String, Target)> {
        vec![("search the rulebook".to_owned(), SEARCH)]
    }
}
