//! The drawing of one square, character by character.

use std::collections::BTreeMap;

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthChar as _;

/// The drawing of a square: a character for each column and row. The first one put there stays.
pub(super) struct Cell {
    pub(super) size: (u16, u16),
    /// The columns kept free at the left and the right, if the rest is wide enough.
    pub(super) walls: (u16, u16),
    signs: BTreeMap<(u16, u16), (char, Style)>,
}

impl Cell {
    pub(super) fn new(size: (u16, u16)) -> Self {
        Self {
            size,
            walls: (0, 0),
            signs: BTreeMap::new(),
        }
    }

    /// Writes a text from a column on, without overwriting anything.
    pub(super) fn put(&mut self, (x, y): (u16, u16), text: &str, style: Style) {
        for (x, sign) in (x..self.size.0).zip(text.chars()) {
            if sign.width() == Some(1) && y < self.size.1 {
                self.signs.entry((y, x)).or_insert((sign, style));
            }
        }
    }

    /// Writes spans into the middle of a row.
    pub(super) fn centre(&mut self, y: u16, spans: &[Span<'_>]) {
        let width: usize = spans.iter().map(Span::width).sum();
        let width = u16::try_from(width).unwrap_or(u16::MAX);
        let (left, right) = self.walls;
        let room = self.size.0.saturating_sub(left + right);
        let mut x = match room.checked_sub(width) {
            Some(rest) => left + (rest + u16::from(right > 0)) / 2,
            None => self.size.0.saturating_sub(width) / 2,
        };
        for span in spans {
            self.put((x, y), &span.content, span.style);
            x += u16::try_from(span.width()).unwrap_or(0);
        }
    }

    pub(super) fn is_free(&self, (x, y): (u16, u16)) -> bool {
        x < self.size.0 && y < self.size.1 && !self.signs.contains_key(&(y, x))
    }

    /// Puts a sign at the first free one of these places, or else anywhere.
    pub(super) fn squeeze(&mut self, places: &[(u16, u16)], span: &Span<'_>) {
        let (width, height) = self.size;
        let anywhere = (0..height).flat_map(|y| (0..width).rev().map(move |x| (x, y)));
        let mut all = places.iter().copied().chain(anywhere);
        if let Some(place) = all.find(|place| self.is_free(*place)) {
            self.put(place, &span.content, span.style);
        }
    }

    pub(super) fn lines(&self) -> impl Iterator<Item = Line<'static>> {
        (0..self.size.1).map(|y| {
            let mut spans: Vec<Span<'static>> = Vec::new();
            for x in 0..self.size.0 {
                let (sign, style) = self.signs.get(&(y, x)).copied().unwrap_or((' ', Style::new()));
                match spans.last_mut() {
                    Some(last) if last.style == style => last.content.to_mut().push(sign),
                    _ => spans.push(Span::styled(sign.to_string(), style)),
                }
            }
            Line::from(spans)
        })
    }
}
