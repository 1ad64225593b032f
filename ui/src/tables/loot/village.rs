//! The village: houses in pixels of half a row. Its windows light up, torches stand before it, and it burns.
//!
//! `art/loot-village.txt` has the buildings in the order of the street, after the moon: `^` roof, `#` wall, `o` window,
//! `n` door, `@` leaves, `!` trunk, `+` iron, `m` moon. Large pictures have pixels of two columns and a row.

use std::sync::LazyLock;

use ratatui::style::{Color, Style};
use ratatui::text::{Line, Span};

use crate::theme::Theme;

/// The state of the village.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It cannot be fired yet: so many of so many seats have had a turn.
    Safe(usize, usize),
    /// It can be fired: torches stand before it.
    Ready,
    /// It burns: the fire has reached so much of it, in percent.
    Burning(u8),
}

type Sprite = Vec<&'static str>;

static ART: LazyLock<Vec<Sprite>> = LazyLock::new(|| {
    let blocks = include_str!("../../../art/loot-village.txt").split("\n\n");
    let rows = |block: &'static str| block.lines().filter(|line| !line.starts_with("# ")).collect();
    blocks.map(rows).collect()
});

/// The rows and columns from which a pixel is two columns wide.
const LARGE: (usize, usize) = (16, 100);

/// A number that looks random, for stars, windows and flames.
fn scatter(x: usize, y: usize) -> usize {
    let mixed = (x + 11).wrapping_mul(0x9E37_79B1) ^ (y + 7).wrapping_mul(0x85EB_CA6B);
    (mixed ^ (mixed >> 13)).wrapping_mul(0x27D4_EB2F) >> 11
}

/// A picture of letters, each a pixel; `.` is sky.
struct Picture {
    width: usize,
    height: usize,
    dots: Vec<u8>,
}

impl Picture {
    fn get(&self, x: usize, y: usize) -> u8 {
        let dot = self.dots.get(y * self.width + x).copied();
        dot.filter(|_| x < self.width).unwrap_or(b'.')
    }

    fn set(&mut self, x: usize, y: usize, dot: u8) {
        if x < self.width
            && let Some(place) = self.dots.get_mut(y * self.width + x)
        {
            *place = dot;
        }
    }

    /// Draws a building at a column, with its lowest row at `bottom`.
    fn stamp(&mut self, x: usize, bottom: usize, sprite: &Sprite) {
        let top = bottom.saturating_sub(sprite.len());
        for (y, row) in (top..).zip(sprite) {
            for (x, dot) in (x..).zip(row.bytes()).filter(|(_, dot)| *dot != b'.') {
                self.set(x, y, dot);
            }
        }
    }

    /// Lights the windows of `done` of `of` seats.
    fn light(&mut self, done: usize, of: usize) {
        for y in 0..self.height {
            // Both dots of a cell count the same windows.
            let mut number = (self.height - y).div_ceil(2);
            let mut was_window = false;
            for x in 0..self.width {
                let is_window = self.get(x, y) == b'o';
                number += usize::from(is_window && !was_window);
                if is_window && number % of.max(1) < done {
                    self.set(x, y, b'O');
                }
                was_window = is_window;
            }
        }
    }

    /// Sets `percent` of it on fire: embers in roofs, flames above the highest point of each column. The fire takes one
    /// part after the other.
    fn burn(&mut self, percent: u8) {
        let reached = |x: usize| scatter(x / 6, 1) % 100 < usize::from(percent);
        for x in (0..self.width).filter(|x| reached(*x)) {
            let Some(top) = (0..self.height).find(|y| !matches!(self.get(x, *y), b'.' | b'm')) else {
                continue;
            };
            for y in top..self.height {
                let dot = match self.get(x, y) {
                    b'^' | b'@' if scatter(x, y).is_multiple_of(3) => b'f',
                    b'^' | b'@' => b'g',
                    b'o' | b'O' | b'n' => b'y',
                    _ => continue,
                };
                self.set(x, y, dot);
            }
            let high = 1 + scatter(x / 2, 3) % 5 + scatter(x, 9) % 3;
            for up in 1..=high.min(top) {
                let dot = match up * 3 / (high + 1) {
                    0 => b'y',
                    1 => b'g',
                    _ => b'f',
                };
                self.set(x, top - up, dot);
            }
        }
        for y in 0..self.height {
            for x in 0..self.width {
                if self.get(x, y) == b'.' && reached(x) && scatter(x, y).is_multiple_of(41) {
                    self.set(x, y, if y % 2 == 0 { b'f' } else { b'y' });
                }
            }
        }
    }
}

/// A style's colour, mixed with the ground: `percent` of it are the colour's.
pub(super) fn dusk(style: Style, percent: u16, theme: &Theme) -> Option<Color> {
    let level = |index: u8| if index == 0 { 0 } else { 55 + 40 * index };
    let parts = |colour| match colour {
        Color::Rgb(red, green, blue) => Some([red, green, blue]),
        // The cube and the greys of 256 colours.
        Color::Indexed(number @ 16..232) => {
            Some([(number - 16) / 36, (number - 16) / 6 % 6, (number - 16) % 6].map(level))
        }
        Color::Indexed(number @ 232..) => Some([8 + 10 * (number - 232); 3]),
        _ => None,
    };
    let (colour, ground) = (style.fg?, theme.text().bg?);
    let mut mixed = parts(colour)?;
    for (part, ground) in mixed.iter_mut().zip(parts(ground)?) {
        let sum = u16::from(*part) * percent + u16::from(ground) * (100 - percent.min(100));
        *part = u8::try_from(sum / 100).unwrap_or(u8::MAX);
    }
    let [red, green, blue] = mixed;
    Some(match colour {
        Color::Rgb(..) => Color::Rgb(red, green, blue),
        _ => {
            let [red, green, blue] = mixed.map(|part| if part < 48 { 0 } else { part.saturating_sub(35).max(40) / 40 });
            Color::Indexed(16 + 36 * red + 6 * green + blue)
        }
    })
}

/// The colour of a dot; `None` for the sky.
fn colour(dot: u8, theme: &Theme) -> Option<Color> {
    match dot {
        b'^' => dusk(theme.suit(1), 55, theme),
        b'#' => dusk(theme.suit(2), 42, theme),
        b'o' => dusk(theme.suit(3), 16, theme),
        b'n' => dusk(theme.suit(1), 25, theme),
        b'@' => dusk(theme.suit(4), 58, theme),
        b'!' => dusk(theme.suit(1), 35, theme),
        b'+' => theme.suit(2).fg,
        b'm' => dusk(theme.accent(), 85, theme),
        b'O' | b'y' => theme.accent().fg,
        b'g' => theme.suit(1).fg,
        b'f' => dusk(theme.bad(), 80, theme),
        _ => None,
    }
}

/// A cell without colours: the glyph of the lower dot, or of the upper one if that is sky.
fn plain(upper: u8, lower: u8, theme: &Theme) -> &'static str {
    let glyph = |dot| match dot {
        b'^' => theme.glyph("█", "="),
        b'#' => theme.glyph("░", "#"),
        b'O' => theme.glyph("■", "o"),
        b'n' => theme.glyph("▓", "n"),
        b'@' => theme.glyph("▒", "@"),
        b'!' => theme.glyph("│", "|"),
        b'+' => "+",
        b'm' => theme.glyph("█", ")"),
        b'f' => theme.glyph("░", "'"),
        b'g' => "^",
        b'y' => "*",
        _ => " ",
    };
    match (upper, lower) {
        (b'.', b'^' | b'm') => theme.glyph("▄", "_"),
        (b'm', b'.') => theme.glyph("▀", "'"),
        (upper, b'.') => glyph(upper),
        (_, lower) => glyph(lower),
    }
}

/// Sparks in the sky of a burning village.
pub(super) fn sparks((width, height): (usize, usize), theme: &Theme) -> impl Iterator<Item = Line<'static>> {
    let spark = |x: usize, y: usize| match scatter(x, y) % 53 {
        0 => theme.glyph("▘", "'"),
        1 => theme.glyph("▗", "."),
        _ => " ",
    };
    (0..height).map(move |y| Line::styled((0..width).map(|x| spark(x, y)).collect::<String>(), theme.suit(1)))
}

/// Draws the village in `width` columns and `height` rows.
pub(super) fn lines(state: State, (width, height): (usize, usize), theme: &Theme) -> Vec<Line<'static>> {
    let scale = if height >= LARGE.0 && width >= LARGE.1 { 2 } else { 1 };
    let (across, down) = (width / scale, height * 2 / scale);
    let mut picture = Picture { width: across, height: down, dots: vec![b'.'; across * down] };
    let Some((moon, street)) = ART.split_first() else {
        return Vec::new();
    };
    let mut places = Vec::new();
    let mut used = 0;
    for sprite in street.iter().cycle().take(street.len() * 6) {
        let wide = sprite.first().map_or(0, |row| row.len());
        if sprite.len() <= down && used + wide <= across && places.last().is_none_or(|(_, _, last)| *last != sprite) {
            places.push((used, wide, sprite));
            used += wide + 2;
        }
    }
    let margin = (across + 2).saturating_sub(used) / 2;
    let burns = matches!(state, State::Burning(_));
    if down > 22 && !burns {
        picture.stamp(across.saturating_sub(9), 8, moon);
    }
    for (x, _, sprite) in &places {
        picture.stamp(margin + x, down, sprite);
    }
    match state {
        State::Safe(done, of) => picture.light(done, of),
        State::Ready => {
            picture.light(1, 1);
            for (x, wide, _) in &places {
                let x = margin + x + wide;
                for (up, dot) in (1..).zip(*b"!!yy") {
                    picture.set(x, down.saturating_sub(up), dot);
                }
            }
        }
        State::Burning(percent) => picture.burn(percent),
    }
    let cell = |x: usize, y: usize| {
        let at = |half: usize| picture.get(x / scale, (2 * y + half) / scale);
        let (upper, lower) = (at(0), at(1));
        if (upper, lower) == (b'.', b'.') {
            let is_star = !burns && y < height / 2 && scatter(x, y).is_multiple_of(61);
            return if is_star { (theme.glyph("·", "."), theme.faint()) } else { (" ", Style::new()) };
        }
        let fg = |colour: Option<Color>| colour.map_or_else(Style::new, |colour| Style::new().fg(colour));
        if theme.is_ascii() || theme.panel().is_none() {
            let dot = if lower == b'.' { upper } else { lower };
            return (plain(upper, lower, theme), fg(colour(dot, theme)));
        }
        match (colour(upper, theme), colour(lower, theme)) {
            (upper, lower) if upper == lower => ("█", fg(upper)),
            (None, lower) => ("▄", fg(lower)),
            (upper, None) => ("▀", fg(upper)),
            (upper, Some(lower)) => ("▀", fg(upper).bg(lower)),
        }
    };
    let row = |y| {
        let mut spans: Vec<(String, Style)> = Vec::new();
        for (glyph, style) in (0..width).map(|x| cell(x, y)) {
            match spans.last_mut() {
                Some((text, last)) if *last == style => text.push_str(glyph),
                _ => spans.push((glyph.to_owned(), style)),
            }
        }
        Line::from_iter(spans.into_iter().map(|(text, style)| Span::styled(text, style)))
    };
    (0..height).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buildings_are_rectangles_that_stand_on_the_ground() {
        assert_eq!(ART.len(), 12);
        for sprite in ART.iter() {
            assert_eq!(sprite.len() % 2, 0, "{sprite:?}");
            assert!(sprite.iter().all(|row| row.len() == sprite[0].len()), "{sprite:?}");
        }
    }

    #[test]
    fn a_fire_spreads() {
        let burnt = |percent| {
            let rows = lines(State::Burning(percent), (60, 7), &Theme::ascii());
            rows.iter().map(|row| row.to_string().matches('*').count()).sum::<usize>()
        };
        assert_eq!(burnt(0), 0);
        assert!(burnt(0) < burnt(50) && burnt(50) < burnt(100));
    }

    #[test]
    fn windows_light_up_as_seats_play() {
        let lit = |done| {
            let rows = lines(State::Safe(done, 4), (60, 7), &Theme::ascii());
            rows.iter().map(|row| row.to_string().matches('o').count()).sum::<usize>()
        };
        assert_eq!(lit(0), 0);
        assert!((1..=4).all(|done| lit(done) > lit(done - 1)));
    }
}
