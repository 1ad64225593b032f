//! A rulebook's Markdown as rows of styled text.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::row::{Row, Word, wrap};
use super::{drawn, table};
use crate::theme::Theme;

#[derive(Clone, Debug)]
pub(super) struct Heading {
    /// 1 for the title of the rulebook.
    pub(super) level: usize,
    pub(super) title: String,
    pub(super) row: usize,
}

impl Heading {
    /// 2 for a heading with a rule below it.
    fn rows(&self) -> usize {
        if self.level == 2 { 2 } else { 1 }
    }

    /// The anchor that GitHub gives the heading.
    pub(super) fn slug(&self) -> String {
        let lower = self.title.to_lowercase().replace(' ', "-");
        lower.chars().filter(|c| c.is_alphanumeric() || *c == '-').collect()
    }
}

/// The rows of a rulebook, and where its headings are.
#[derive(Clone, Debug, Default)]
pub(super) struct Page {
    pub(super) rows: Vec<Row>,
    pub(super) headings: Vec<Heading>,
}

/// Text without the signs that are not in ASCII, for terminals without them.
fn shown(text: &str, theme: &Theme) -> String {
    if theme.is_ascii() { text.replace('−', "-").replace('×', "x").replace('…', "...") } else { text.to_owned() }
}

/// Lays out Markdown in rows of `width` columns.
pub(super) fn lay_out(markdown: &str, width: usize, theme: &Theme) -> Page {
    let mut layout = Layout {
        theme,
        width,
        page: Page::default(),
        words: Vec::new(),
        is_joined: false,
        styles: Vec::new(),
        lists: Vec::new(),
        marker: None,
        quotes: 0,
        is_gap_due: false,
        table: Vec::new(),
        code: None,
    };
    for (event, range) in Parser::new_ext(markdown, Options::ENABLE_TABLES).into_offset_iter() {
        layout.event(event, range.start);
    }
    layout.page
}

/// The state between two events of the parser.
struct Layout<'a> {
    theme: &'a Theme,
    width: usize,
    page: Page,
    /// The words of the paragraph, heading or cell so far.
    words: Vec<Word>,
    /// Whether the next text continues the last word.
    is_joined: bool,
    styles: Vec<Style>,
    /// Numbers of the next items; `None` for lists with bullets.
    lists: Vec<Option<u64>>,
    /// The bullet or number before the next row.
    marker: Option<String>,
    /// Block quotes round this.
    quotes: usize,
    is_gap_due: bool,
    table: Vec<Vec<table::Cell>>,
    /// The kind and the text of a fenced block.
    code: Option<(String, String)>,
}

impl Layout<'_> {
    fn event(&mut self, event: Event<'_>, source: usize) {
        match event {
            Event::Start(tag) => self.start(&tag),
            Event::End(tag) => self.end(tag, source),
            Event::Text(text) => match &mut self.code {
                Some((_, code)) => code.push_str(&text),
                None => self.text(&text, Style::new(), source),
            },
            Event::Code(text) => self.text(&text, self.theme.lit(), source),
            Event::SoftBreak => self.is_joined = false,
            Event::HardBreak => self.paragraph(),
            Event::Rule => {
                let rule = Line::styled(self.theme.glyph("─", "-").repeat(self.width), self.theme.faint());
                self.block(vec![Row::new(rule, source)]);
            }
            // The rulebooks have no HTML, footnotes or formulas.
            _ => {}
        }
    }

    fn start(&mut self, tag: &Tag<'_>) {
        match tag {
            Tag::Emphasis => self.styles.push(Style::new().add_modifier(Modifier::ITALIC)),
            Tag::Strong => self.styles.push(self.theme.title()),
            Tag::List(number) => {
                // The text of an item stands before the list inside it.
                self.paragraph();
                self.is_gap_due |= self.lists.is_empty() && !self.is_below_heading();
                self.lists.push(*number);
            }
            Tag::Item => {
                let bullet = self.theme.glyph("•", "-");
                self.marker = Some(match self.lists.last_mut() {
                    Some(Some(number)) => {
                        let marker = format!("{number}. ");
                        *number += 1;
                        marker
                    }
                    _ => format!("{bullet} "),
                });
            }
            Tag::BlockQuote(_) => self.quotes += 1,
            Tag::CodeBlock(kind) => {
                self.paragraph();
                let kind = match kind {
                    CodeBlockKind::Fenced(kind) => kind.to_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                self.code = Some((kind, String::new()));
            }
            Tag::TableHead | Tag::TableRow => self.table.push(Vec::new()),
            _ => {}
        }
        if !matches!(tag, Tag::Emphasis | Tag::Strong | Tag::Link { .. }) {
            self.is_joined = false;
        }
    }

    fn end(&mut self, tag: TagEnd, source: usize) {
        match tag {
            TagEnd::Emphasis | TagEnd::Strong => {
                self.styles.pop();
            }
            TagEnd::Paragraph => {
                self.paragraph();
                self.is_gap_due = true;
            }
            TagEnd::Item => {
                self.paragraph();
                self.marker = None;
            }
            TagEnd::List(_) => {
                self.lists.pop();
                self.is_gap_due |= self.lists.is_empty();
            }
            TagEnd::BlockQuote(_) => self.quotes = self.quotes.saturating_sub(1),
            TagEnd::Heading(level) => self.heading(level as usize, source),
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.words);
                if let Some(row) = self.table.last_mut() {
                    row.push(cell);
                }
            }
            TagEnd::Table => {
                let table = std::mem::take(&mut self.table);
                let rows = table::rows(&table, self.room(), self.theme);
                self.block(rows);
            }
            TagEnd::CodeBlock => {
                let (kind, text) = self.code.take().unwrap_or_default();
                let lines = drawn::lines(&kind, &shown(&text, self.theme), self.room(), self.theme);
                self.block(lines.into_iter().map(|line| Row::new(line, source)).collect());
            }
            _ => {}
        }
    }

    /// Adds text to the paragraph, word by word.
    fn text(&mut self, text: &str, style: Style, source: usize) {
        let style = self.styles.iter().fold(style, |style, outer| style.patch(*outer));
        let mut at = source;
        for part in text.split_inclusive(char::is_whitespace) {
            let word = part.trim();
            if !word.is_empty() {
                let span = Span::styled(shown(word, self.theme), style);
                match self.words.last_mut().filter(|_| self.is_joined) {
                    Some(last) => last.spans.push(span),
                    None => self.words.push(Word { spans: vec![span], source: at }),
                }
            }
            self.is_joined = !part.ends_with(char::is_whitespace);
            at += part.len();
        }
    }

    /// Columns for text, beside the bullets and quotes around it.
    fn room(&self) -> usize {
        self.width.saturating_sub(self.indent() + 2 * self.quotes).max(1)
    }

    fn indent(&self) -> usize {
        let columns = |number: &Option<u64>| if number.is_some() { 3 } else { 2 };
        self.lists.iter().map(columns).sum()
    }

    fn paragraph(&mut self) {
        let words = std::mem::take(&mut self.words);
        let rows = wrap(&words, self.room());
        self.push(rows);
        self.is_joined = false;
    }

    /// Adds rows with a blank row before and after.
    fn block(&mut self, rows: Vec<Row>) {
        // The rule below a heading of the second level is gap enough.
        self.is_gap_due |= !self.is_below_heading() || self.page.headings.last().is_some_and(|last| last.level > 2);
        self.push(rows);
        self.is_gap_due = true;
    }

    fn is_below_heading(&self) -> bool {
        let last = self.page.headings.last();
        last.is_some_and(|heading| heading.row + heading.rows() == self.page.rows.len())
    }

    fn push(&mut self, rows: Vec<Row>) {
        for mut row in rows {
            if std::mem::take(&mut self.is_gap_due) && !self.page.rows.is_empty() {
                self.page.rows.push(Row::new(Line::default(), row.source));
            }
            let marker = self.marker.take().unwrap_or_default();
            let pad = self.indent().saturating_sub(marker.chars().count());
            let edge = self.theme.glyph("▎ ", "| ").repeat(self.quotes);
            row.line.spans.splice(
                0..0,
                [
                    Span::styled(edge, self.theme.accent()),
                    Span::raw(" ".repeat(pad)),
                    Span::styled(marker, self.theme.accent()),
                ],
            );
            self.page.rows.push(row);
        }
    }

    fn heading(&mut self, level: usize, source: usize) {
        let theme = self.theme;
        let style = if level == 2 { theme.accent() } else { theme.title() };
        let words = std::mem::take(&mut self.words);
        let title: Vec<String> =
            words.iter().flat_map(|word| &word.spans).map(|span| span.content.to_string()).collect();
        let title = title.join(" ");
        self.is_gap_due = true;
        self.push(vec![Row::new(Line::styled(title.clone(), style), source)]);
        let row = self.page.rows.len().saturating_sub(1);
        if level == 2 {
            let rule = theme.glyph("─", "-").repeat(self.width);
            self.push(vec![Row::new(Line::styled(rule, theme.faint()), source)]);
        }
        self.page.headings.push(Heading { level, title, row });
        self.is_gap_due = level == 1;
    }
}
