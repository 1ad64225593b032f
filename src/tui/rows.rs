//! Fitting what a board has to say into the rows that it has.
//!
//! A board is written as [`Paragraph`]s of words, which are kept in one piece. It offers itself in
//! several forms, from roomy to dense, and [`fitting`] takes the first that there is room for.

use ratatui::text::{Line, Span};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::style::Theme;

/// How wide a name is on a table at most.
pub(super) const NAME: usize = 8;

/// Words that begin on a row of their own.
#[derive(Clone, Debug, Default)]
pub(super) struct Paragraph {
    /// Each in one piece, with its styles.
    words: Vec<Line<'static>>,
    /// How far the rows after the first are indented.
    indent: usize,
}

impl Paragraph {
    pub(super) fn new(indent: usize) -> Self {
        Self {
            words: Vec::new(),
            indent,
        }
    }

    pub(super) fn words<W: Into<Line<'static>>>(
        mut self,
        words: impl IntoIterator<Item = W>,
    ) -> Self {
        self.words.extend(words.into_iter().map(Into::into));
        self
    }

    /// The rows that the words fill, a blank between two of them. A word that is wider than a row
    /// goes on in the next one.
    pub(super) fn rows(self, width: usize) -> Vec<Line<'static>> {
        let indent = if self.indent < width { self.indent } else { 0 };
        let room = (width - indent).max(1);
        let mut rows: Vec<Line<'static>> = Vec::new();
        for piece in self.words.into_iter().flat_map(|word| split(word, room)) {
            match rows.last_mut() {
                Some(row) if row.width() + 1 + piece.width() <= width => {
                    row.push_span(" ");
                    row.spans.extend(piece.spans);
                }
                last => {
                    let mut row = Line::default();
                    if last.is_some() {
                        row.push_span(" ".repeat(indent));
                    }
                    row.spans.extend(piece.spans);
                    rows.push(row);
                }
            }
        }
        rows
    }
}

/// A word in pieces that are no wider than `room`: itself, if it is not.
fn split(word: Line<'static>, room: usize) -> Vec<Line<'static>> {
    if word.width() <= room {
        return vec![word];
    }
    let mut pieces = vec![Line::default()];
    let mut used = 0;
    for span in word.spans {
        for c in span.content.chars() {
            used += c.width().unwrap_or(0);
            if used > room {
                pieces.push(Line::default());
                used = c.width().unwrap_or(0);
            }
            if let Some(piece) = pieces.last_mut() {
                piece.push_span(Span::styled(c.to_string(), span.style));
            }
        }
    }
    pieces
}

/// The rows of several paragraphs, one under the other.
pub(super) fn rows(
    paragraphs: impl IntoIterator<Item = Paragraph>,
    width: usize,
) -> Vec<Line<'static>> {
    let paragraphs = paragraphs.into_iter();
    paragraphs.flat_map(|p| p.rows(width)).collect()
}

/// The first form that fits into `height`. If none does, as much of the last as there is room for,
/// which then ends by saying how much is missing.
pub(super) fn fitting(
    forms: impl IntoIterator<Item = Vec<Line<'static>>>,
    height: usize,
    theme: &Theme,
) -> Vec<Line<'static>> {
    let mut last = Vec::new();
    for form in forms {
        if form.len() <= height {
            return form;
        }
        last = form;
    }
    let missing = (last.len() + 1).saturating_sub(height.max(1));
    last.truncate(height.saturating_sub(1));
    let text = format!("{} {missing} more lines", theme.glyph("…", "..."));
    last.push(Line::styled(text, theme.bad()));
    last
}

/// As many words as a row has room for, with a blank between two, and how many more there are.
pub(super) fn some(words: Vec<Line<'static>>, room: usize, theme: &Theme) -> Vec<Line<'static>> {
    let wide = |words: &[Line<'_>]| words.iter().map(|w| w.width() + 1).sum::<usize>();
    let mut shown = words;
    let all = shown.len();
    let mut more = None;
    while wide(&shown) + more.as_ref().map_or(0, |more: &Line<'_>| more.width() + 1) > room + 1
        && shown.pop().is_some()
    {
        let text = format!("+{}", all - shown.len());
        more = Some(Line::styled(text, theme.bad()));
    }
    shown.extend(more);
    shown
}

/// The names of a table, short enough for boards; those that would look alike have their seat's
/// number, counted from 1 as in names that are alike in full.
pub(super) fn short_names(names: &[String], theme: &Theme) -> Vec<String> {
    let short: Vec<String> = names.iter().map(|n| cut(n, NAME, theme)).collect();
    let alike = |name: &String| short.iter().filter(|other| *other == name).count() > 1;
    let named = names.iter().zip(&short).zip(1..);
    named
        .map(|((name, short), number)| {
            if alike(short) {
                format!("{}#{number}", cut(name, NAME - 2, theme))
            } else {
                short.clone()
            }
        })
        .collect()
}

/// A text that ends with a sign if it had to be cut.
fn cut(text: &str, width: usize, theme: &Theme) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut short = String::new();
    for c in text.chars() {
        if short.width() + c.width().unwrap_or(0) >= width {
            break;
        }
        short.push(c);
    }
    short + theme.glyph("…", "~")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::TuiOptions;

    fn text(rows: &[Line<'_>]) -> Vec<String> {
        rows.iter().map(ToString::to_string).collect()
    }

    fn theme() -> Theme {
        Theme::new(TuiOptions::default())
    }

    #[test]
    fn words_stay_in_one_piece_unless_they_are_wider_than_a_row() {
        let words = Paragraph::new(1).words(["Anna:", "one", "two", "three"]);
        assert_eq!(text(&words.rows(10)), ["Anna: one", " two three"]);
        let wide = Paragraph::new(1).words(["a", "abcdefgh", "b"]);
        assert_eq!(text(&wide.rows(4)), ["a", " abc", " def", " gh", " b"]);
        assert!(Paragraph::new(1).rows(4).is_empty());
    }

    #[test]
    fn the_first_form_that_fits_is_taken_and_what_is_cut_is_counted() {
        let form = |rows: usize| vec![Line::raw("row"); rows];
        let fits = fitting([form(4), form(3), form(2)], 3, &theme());
        assert_eq!(fits.len(), 3);
        let cut = fitting([form(6), form(5)], 3, &theme());
        assert_eq!(text(&cut), ["row", "row", "… 3 more lines"]);
    }

    #[test]
    fn what_a_row_has_no_room_for_is_counted() {
        let words = || ["7Wa", "4*", "1Fl", "2Fl"].map(Line::raw).to_vec();
        let shown = |room| text(&some(words(), room, &theme())).join(" ");
        assert_eq!(shown(14), "7Wa 4* 1Fl 2Fl");
        assert_eq!(shown(13), "7Wa 4* 1Fl +1");
        assert_eq!(shown(12), "7Wa 4* +2");
        assert_eq!(shown(2), "+4");
        assert!(some(Vec::new(), 5, &theme()).is_empty());
    }

    #[test]
    fn names_are_short_and_different() {
        let names = ["Anna", "Maximilian Ada", "Maximilian Bob"].map(str::to_owned);
        let short = short_names(&names, &theme());
        assert_eq!(short, ["Anna", "Maxim…#2", "Maxim…#3"]);
        assert!(short.iter().all(|name| name.width() <= NAME));
    }
}
