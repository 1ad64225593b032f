//! Tables of a rulebook: columns as wide as their content and the room allow, or a list where they do not fit.

use ratatui::text::{Line, Span};

use super::row::{Row, Word, width, wrap};
use crate::theme::Theme;

/// Columns between two columns of a table.
const GAP: usize = 2;

/// The most rows of a cell: columns with more are too narrow to read.
const HIGHEST: usize = 5;

pub(super) type Cell = Vec<Word>;

/// Draws a table, its head first, in `room` columns.
pub(super) fn rows(table: &[Vec<Cell>], room: usize, theme: &Theme) -> Vec<Row> {
    let columns = table.iter().map(Vec::len).max().unwrap_or(0);
    let most = |measure: fn(&Cell) -> usize| -> Vec<usize> {
        let column = |at: usize| table.iter().filter_map(move |row| row.get(at));
        (0..columns).map(|at| column(at).map(measure).max().unwrap_or(0)).collect()
    };
    let longest = |cell: &Cell| cell.iter().map(Word::width).max().unwrap_or(0);
    let gaps = GAP * columns.saturating_sub(1);
    let widths = fit(most(|cell| width(cell)), &most(longest), room.saturating_sub(gaps));
    let wrapped = widths.map(|widths| (wrapped(table, &widths), widths));
    match wrapped {
        Some((wrapped, widths)) if wrapped.iter().all(|row| height(row) <= HIGHEST) => grid(&wrapped, &widths, theme),
        _ => records(table, room, theme),
    }
}

/// Narrows the widest columns until all fit in the room. `None` if a word would have to be broken.
fn fit(mut widths: Vec<usize>, least: &[usize], room: usize) -> Option<Vec<usize>> {
    while widths.iter().sum::<usize>() > room {
        let wide = widths.iter_mut().zip(least).filter(|(width, least)| **width > **least);
        let (widest, _) = wide.max_by_key(|(width, _)| **width)?;
        *widest -= 1;
    }
    Some(widths)
}

/// The rows of each cell, row by row.
fn wrapped(table: &[Vec<Cell>], widths: &[usize]) -> Vec<Vec<Vec<Row>>> {
    let cells = |row: &Vec<Cell>| row.iter().zip(widths).map(|(cell, width)| wrap(cell, *width)).collect();
    table.iter().map(cells).collect()
}

fn height(row: &[Vec<Row>]) -> usize {
    row.iter().map(Vec::len).max().unwrap_or(0)
}

fn grid(wrapped: &[Vec<Vec<Row>>], widths: &[usize], theme: &Theme) -> Vec<Row> {
    let wide = widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1);
    // Many rows of several lines need rules between them: otherwise their lines run together.
    let broken = wrapped.iter().skip(1).filter(|row| height(row) > 1).count();
    let is_ruled = broken * 2 >= wrapped.len();
    let mut rows: Vec<Row> = Vec::new();
    for (number, row) in wrapped.iter().enumerate() {
        let source = row.iter().flatten().map(|line| line.source).min().unwrap_or(0);
        let rule = match number {
            0 => None,
            1 => Some(theme.glyph("━", "=")),
            _ => is_ruled.then(|| theme.glyph("─", "-")),
        };
        rows.extend(rule.map(|rule| Row::new(Line::styled(rule.repeat(wide), theme.faint()), source)));
        for y in 0..height(row) {
            let mut line = Line::default();
            let mut end = 0;
            for (cell, width) in row.iter().zip(widths) {
                line.push_span(" ".repeat(end - line.width().min(end)));
                let spans = cell.get(y).map(|row| row.line.spans.clone()).unwrap_or_default();
                line.spans.extend(spans);
                end += width + GAP;
            }
            if number == 0 {
                line.spans.iter_mut().for_each(|span| span.style = theme.title());
            }
            rows.push(Row::new(line, source));
        }
    }
    rows
}

/// Each row as a small list: its first cell as a title, below it the other cells after their heads.
fn records(table: &[Vec<Cell>], room: usize, theme: &Theme) -> Vec<Row> {
    const INDENT: usize = 2;
    let Some((heads, body)) = table.split_first() else {
        return Vec::new();
    };
    let mut rows = Vec::new();
    for cells in body {
        let titles = cells.iter().take(1).flat_map(|cell| wrap(cell, room));
        rows.extend(titles.map(|mut row| {
            row.line.spans.iter_mut().for_each(|span| span.style = theme.title());
            row
        }));
        for (cell, head) in cells.iter().zip(heads).skip(1).filter(|(cell, _)| !cell.is_empty()) {
            let mut words = head.clone();
            if let Some(word) = words.last_mut() {
                word.spans.push(Span::raw(":"));
            }
            words.extend(cell.iter().cloned());
            for (y, mut row) in wrap(&words, room.saturating_sub(2 * INDENT)).into_iter().enumerate() {
                let indent = if y == 0 { INDENT } else { 2 * INDENT };
                row.line.spans.insert(0, Span::raw(" ".repeat(indent)));
                row.source = cell.first().map_or(row.source, |word| word.source);
                rows.push(row);
            }
        }
    }
    rows
}
