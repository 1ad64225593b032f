//! A backend that saves bytes: a blank shows no ink, so it takes over the ink of the cell before it.
//!
//! The terminal is told both colours whenever one of them changes. On a row of words and pictures the ink changes at
//! nearly every gap and back again; colours make up more than half of all bytes, and a slow link is felt.

use ratatui::backend::{Backend, ClearType, WindowSize};
use ratatui::buffer::Cell;
use ratatui::layout::{Position, Size};
use ratatui::style::Modifier;

/// Modifiers that are seen on a blank.
const SEEN: Modifier = Modifier::UNDERLINED.union(Modifier::REVERSED).union(Modifier::CROSSED_OUT);

/// Another backend, which is given less to write.
#[derive(Debug)]
pub(super) struct Frugal<B>(pub(super) B);

/// The cells to write, with other ink for blanks. What is seen stays the same.
fn saved<'a>(content: impl Iterator<Item = (u16, u16, &'a Cell)>) -> Vec<(u16, u16, Cell)> {
    let mut cells: Vec<(u16, u16, Cell)> = Vec::new();
    for (x, y, cell) in content {
        let mut cell = cell.clone();
        if let Some((.., before)) = cells.last()
            && cell.symbol() == " "
            && !(cell.modifier | before.modifier).intersects(SEEN)
        {
            cell.fg = before.fg;
            cell.modifier = before.modifier;
        }
        cells.push((x, y, cell));
    }
    cells
}

impl<B: Backend> Backend for Frugal<B> {
    type Error = B::Error;

    fn draw<'a, I>(&mut self, content: I) -> Result<(), Self::Error>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        let cells = saved(content);
        self.0.draw(cells.iter().map(|(x, y, cell)| (*x, *y, cell)))
    }

    fn append_lines(&mut self, count: u16) -> Result<(), Self::Error> {
        self.0.append_lines(count)
    }

    fn hide_cursor(&mut self) -> Result<(), Self::Error> {
        self.0.hide_cursor()
    }

    fn show_cursor(&mut self) -> Result<(), Self::Error> {
        self.0.show_cursor()
    }

    fn get_cursor_position(&mut self) -> Result<Position, Self::Error> {
        self.0.get_cursor_position()
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> Result<(), Self::Error> {
        self.0.set_cursor_position(position)
    }

    fn clear(&mut self) -> Result<(), Self::Error> {
        self.0.clear()
    }

    fn clear_region(&mut self, clear_type: ClearType) -> Result<(), Self::Error> {
        self.0.clear_region(clear_type)
    }

    fn size(&self) -> Result<Size, Self::Error> {
        self.0.size()
    }

    fn window_size(&mut self) -> Result<WindowSize, Self::Error> {
        self.0.window_size()
    }

    fn flush(&mut self) -> Result<(), Self::Error> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use ratatui::style::Color;

    use super::*;

    fn cell(symbol: &'static str, ink: Color, modifier: Modifier) -> Cell {
        let mut cell = Cell::new(symbol);
        cell.set_fg(ink).set_bg(Color::Blue);
        cell.modifier = modifier;
        cell
    }

    #[test]
    fn only_blanks_change_and_only_where_it_is_not_seen() {
        let row = [
            cell("a", Color::Red, Modifier::BOLD),
            cell(" ", Color::White, Modifier::empty()),
            cell(" ", Color::White, Modifier::UNDERLINED),
            cell(" ", Color::White, Modifier::empty()),
            cell("b", Color::White, Modifier::empty()),
        ];
        let written = saved((0..).zip(&row).map(|(x, cell)| (x, 0, cell)));
        let written: Vec<&Cell> = written.iter().map(|(.., cell)| cell).collect();
        let blank = cell(" ", Color::Red, Modifier::BOLD);
        assert_eq!(written, [&row[0], &blank, &row[2], &row[3], &row[4]]);
    }
}
