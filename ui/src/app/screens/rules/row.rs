//! Words, and the rows that they wrap into.

use ratatui::text::{Line, Span};

/// A row on the screen.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) line: Line<'static>,
    /// Where the row begins in the Markdown. It stays the same at every width.
    pub(super) source: usize,
}

impl Row {
    pub(super) fn new(line: Line<'static>, source: usize) -> Self {
        Self { line, source }
    }
}

/// A word, perhaps in several styles, which is not broken.
#[derive(Clone, Debug)]
pub(super) struct Word {
    pub(super) spans: Vec<Span<'static>>,
    pub(super) source: usize,
}

impl Word {
    pub(super) fn width(&self) -> usize {
        self.spans.iter().map(Span::width).sum()
    }
}

/// The columns of words with blanks between them.
pub(super) fn width(words: &[Word]) -> usize {
    words.iter().map(Word::width).sum::<usize>() + words.len().saturating_sub(1)
}

pub(super) fn wrap(words: &[Word], width: usize) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let mut used = 0;
    for word in words {
        let wide = word.width();
        match rows.last_mut().filter(|_| used + 1 + wide <= width) {
            Some(row) => {
                row.line.push_span(" ");
                row.line.spans.extend(word.spans.iter().cloned());
                used += 1 + wide;
            }
            None => {
                rows.push(Row::new(Line::from(word.spans.clone()), word.source));
                used = wide;
            }
        }
    }
    rows
}
