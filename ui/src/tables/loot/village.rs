//! The village: houses in rows of text, asleep, with torches before it, on fire, or burnt down.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::theme::Theme;

/// The state of the village.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It cannot be fired yet.
    Asleep,
    /// It can be fired: torches wait before it.
    Ready,
    /// It has been fired, and burns when the turn ends.
    Lit,
    Burning,
    /// It has burnt down.
    Burnt,
}

/// A building or a tree, in block glyphs and in ASCII; all rows have one width.
struct Sprite {
    blocks: &'static [&'static str],
    ascii: &'static [&'static str],
    is_tree: bool,
}

const HUT: Sprite = Sprite {
    blocks: &["▄███▄", " │∩│ "],
    ascii: &[" /^\\ ", " |n| "],
    is_tree: false,
};
const COTTAGE: Sprite = Sprite {
    blocks: &["  ▄▄▄  ", "▄█████▄", " │■ ∩│ "],
    ascii: &["  ___  ", " /___\\ ", " |o n| "],
    is_tree: false,
};
const LONGHOUSE: Sprite = Sprite {
    blocks: &["  ▄▄▄▄▄▄  ", "▄████████▄", " │■ ∩  ■│ "],
    ascii: &["  ______  ", " /______\\ ", " |o n  o| "],
    is_tree: false,
};
const BUSH: Sprite = Sprite {
    blocks: &["▄█▄", " │ "],
    ascii: &["(@)", " | "],
    is_tree: true,
};
const TREE: Sprite = Sprite {
    blocks: &["  ▄  ", " ███ ", "▀███▀", "  │  "],
    ascii: &["  @  ", " @@@ ", "@@@@@", "  |  "],
    is_tree: true,
};
const TOWER: Sprite = Sprite {
    blocks: &["  ▄  ", "▄███▄", " │■│ ", " │ │ ", " │∩│ "],
    ascii: &["  ^  ", " /_\\ ", " |o| ", " | | ", " |n| "],
    is_tree: false,
};
const CHAPEL: Sprite = Sprite {
    blocks: &[" ┼       ", "▄█▄      ", "│■│▄▄▄▄▄ ", "│ │█████▄", "│∩│■ ■ ■│"],
    ascii: &[" +       ", "/_\\      ", "|o|_____ ", "| |_____\\", "|n|o o o|"],
    is_tree: false,
};
const MANOR: Sprite = Sprite {
    blocks: &[
        "    ▄▄▄▄▄    ",
        "  ▄███████▄  ",
        "▄███████████▄",
        " │ ■  ■  ■ │ ",
        " │ ■ ┌─┐ ■ │ ",
        " │   │ │   │ ",
    ],
    ascii: &[
        "     ___     ",
        "   _/   \\_   ",
        " _/_______\\_ ",
        " | o  o  o | ",
        " | o  _  o | ",
        " |   | |   | ",
    ],
    is_tree: false,
};
const MILL: Sprite = Sprite {
    blocks: &[
        "\\     / ",
        " \\▄▄▄/  ",
        "  █X█   ",
        " /│ │\\  ",
        "/ │■│ \\ ",
        "  │ │   ",
        "  │∩│   ",
    ],
    ascii: &[
        "\\     / ",
        " \\___/  ",
        "  \\X/   ",
        " /| |\\  ",
        "/ |o| \\ ",
        "  | |   ",
        "  |n|   ",
    ],
    is_tree: false,
};
const KEEP: Sprite = Sprite {
    blocks: &[
        "▄ ▄ ▄     ▄ ▄ ▄",
        "█████     █████",
        "│ ■ │▄ ▄ ▄│ ■ │",
        "│   │█████│   │",
        "│ ■ │■ ■ ■│ ■ │",
        "│   │ ┌─┐ │   │",
        "│ ■ │ │ │ │ ■ │",
    ],
    ascii: &[
        "_ _ _     _ _ _",
        "|_|_|     |_|_|",
        "| o |_ _ _| o |",
        "|   |_|_|_|   |",
        "| o |o o o| o |",
        "|   |  _  |   |",
        "| o | | | | o |",
    ],
    is_tree: false,
};

/// Buildings of a village from left to right, repeated. Those too high or too wide are skipped.
const STREET: [&Sprite; 14] = [
    &COTTAGE, &BUSH, &CHAPEL, &LONGHOUSE, &TREE, &MANOR, &HUT, &MILL, &COTTAGE, &TOWER, &LONGHOUSE, &BUSH, &KEEP, &TREE,
];
/// The height of the highest building, in rows.
const HIGHEST: usize = 7;

/// The content of a cell, which sets its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Sky,
    Star,
    Roof,
    Wall,
    Window,
    Leaf,
    Torch,
    Flame,
    Smoke,
}

type Cell = (char, Kind);

struct Picture {
    width: usize,
    height: usize,
    cells: Vec<Cell>,
}

impl Picture {
    fn new(width: usize, height: usize) -> Self {
        Self {
            width,
            height,
            cells: vec![(' ', Kind::Sky); width * height],
        }
    }

    fn get(&self, x: usize, y: usize) -> Cell {
        let cell = self.cells.get(y * self.width + x).copied();
        cell.filter(|_| x < self.width).unwrap_or((' ', Kind::Sky))
    }

    fn set(&mut self, x: usize, y: usize, cell: Cell) {
        if x < self.width
            && let Some(place) = self.cells.get_mut(y * self.width + x)
        {
            *place = cell;
        }
    }

    /// Draws a building on the ground at a column.
    fn stamp(&mut self, x: usize, sprite: &Sprite, ascii: bool) {
        let rows = if ascii { sprite.ascii } else { sprite.blocks };
        let top = self.height.saturating_sub(rows.len());
        for (y, row) in (top..).zip(rows) {
            for (x, c) in (x..).zip(row.chars()).filter(|(_, c)| *c != ' ') {
                let kind = match c {
                    '│' | '|' | '┌' | '┐' | '─' => Kind::Wall,
                    _ if sprite.is_tree => Kind::Leaf,
                    '■' | 'o' | '∩' | 'n' => Kind::Window,
                    _ => Kind::Roof,
                };
                self.set(x, y, (c, kind));
            }
        }
    }

    /// Draws a crescent in the sky.
    fn rise(&mut self, x: usize, ascii: bool) {
        let rows = if ascii {
            [" _,", "( (", " `'"]
        } else {
            ["▄█▀", "██ ", "▀█▄"]
        };
        for (y, row) in rows.into_iter().enumerate() {
            for (x, c) in (x..).zip(row.chars()) {
                self.set(x, y, (c, Kind::Star));
            }
        }
    }

    /// The highest row of a column that is not sky.
    fn top(&self, x: usize) -> Option<usize> {
        (0..self.height).find(|y| !matches!(self.get(x, *y).1, Kind::Sky | Kind::Star))
    }

    /// Sets columns on fire: flames above the highest point, embers in roofs, light in windows.
    fn burn(&mut self, columns: std::ops::Range<usize>, ascii: bool) {
        let embers = if ascii { ['#', '%'] } else { ['▓', '▒'] };
        for x in columns {
            let Some(top) = self.top(x) else { continue };
            for y in top..self.height {
                let (c, kind) = self.get(x, y);
                let ember = embers.get((x + y) % 2).copied().unwrap_or('#');
                match kind {
                    Kind::Roof | Kind::Leaf if (x * 2 + y * 3) % 5 < 2 => {
                        self.set(x, y, (ember, Kind::Flame));
                    }
                    Kind::Roof | Kind::Leaf => self.set(x, y, (c, Kind::Flame)),
                    Kind::Window => self.set(x, y, ('*', Kind::Flame)),
                    _ => {}
                }
            }
            let tongues = [')', '(', '^', ')', '\'', '(', '^'];
            for (up, y) in (0..top).rev().take(2).enumerate() {
                let seed = x * 5 + up * 3;
                // The higher, the thinner.
                if seed % (up + 2) == 0 || (up == 0 && x % 3 != 0) {
                    let tongue = tongues.get(seed % tongues.len()).copied();
                    self.set(x, y, (tongue.unwrap_or('^'), Kind::Flame));
                }
            }
            if top >= 3 && x % 4 == 1 {
                let smoke = if ascii { '~' } else { '░' };
                self.set(x, top - 3, (smoke, Kind::Smoke));
            }
        }
    }

    /// Leaves walls without roofs, ashes and smoke.
    fn burn_down(&mut self, ascii: bool) {
        for x in 0..self.width {
            let Some(top) = self.top(x) else { continue };
            for y in top..self.height {
                let ground = y + 1 == self.height;
                match self.get(x, y) {
                    ('│' | '|', Kind::Wall) if ground || (x + y) % 3 != 0 => {}
                    _ if ground && x % 2 == 0 => {
                        let ash = if ascii { '.' } else { '▄' };
                        self.set(x, y, (ash, Kind::Smoke));
                    }
                    (_, Kind::Sky | Kind::Star) => {}
                    _ => self.set(x, y, (' ', Kind::Sky)),
                }
            }
            if (x * 7 + top) % 5 == 0 {
                self.set(x, top, ('~', Kind::Smoke));
            }
        }
    }

    fn lines(&self, theme: &Theme) -> Vec<Line<'static>> {
        let style = |kind| match kind {
            Kind::Sky => Style::new(),
            Kind::Star => theme.suit(0),
            Kind::Smoke | Kind::Wall => theme.faint(),
            Kind::Roof => theme.suit(2),
            Kind::Window | Kind::Torch => theme.accent(),
            Kind::Leaf => theme.suit(4),
            Kind::Flame => theme.bad(),
        };
        let rows = self.cells.chunks(self.width.max(1));
        let line = |row: &[Cell]| {
            let mut spans: Vec<(String, Kind)> = Vec::new();
            for (c, kind) in row {
                match spans.last_mut() {
                    Some((text, last)) if last == kind => text.push(*c),
                    _ => spans.push((c.to_string(), *kind)),
                }
            }
            let spans = spans.into_iter();
            Line::from_iter(spans.map(|(text, kind)| Span::styled(text, style(kind))))
        };
        rows.map(line).collect()
    }
}

/// Draws the village in `width` columns and `height` rows.
pub(super) fn lines(state: State, (width, height): (usize, usize), theme: &Theme) -> Vec<Line<'static>> {
    if height < 2 || width < 8 {
        return Vec::new();
    }
    let ascii = theme.is_ascii();
    let mut picture = Picture::new(width, height);
    // A row above the roofs stays free for flames and stars, if there is one.
    let highest = height.saturating_sub(usize::from(height > 3)).min(HIGHEST);
    let mut street = Vec::new();
    let mut used = 0;
    for sprite in STREET.iter().cycle().take(STREET.len() * 8) {
        let wide = sprite.ascii.first().map_or(0, |row| row.len());
        if sprite.ascii.len() <= highest && used + wide <= width {
            street.push((used, wide, *sprite));
            used += wide + 1;
        }
    }
    let margin = (width + 1).saturating_sub(used) / 2;
    for x in 0..width {
        for y in 0..height.saturating_sub(3) {
            if (x * 7919 + y * 104_729 + x * y * 31) % 47 == 0 {
                picture.set(x, y, (if ascii { '.' } else { '·' }, Kind::Star));
            }
        }
    }
    if height > HIGHEST + 2 && width > 30 {
        picture.rise(width - 9, ascii);
    }
    for (x, _, sprite) in &street {
        picture.stamp(margin + x, sprite, ascii);
    }
    for (number, (x, wide, _)) in street.iter().enumerate() {
        let (from, to) = (margin + x, margin + x + wide);
        if matches!(state, State::Ready | State::Lit) && number % 2 == 0 && to < width {
            picture.set(to, height - 2, ('*', Kind::Torch));
            picture.set(to, height - 1, (if ascii { '|' } else { '│' }, Kind::Wall));
        }
        if state == State::Burning || (state == State::Lit && number % 3 == 0) {
            picture.burn(from..to, ascii);
        }
    }
    if state == State::Burnt {
        picture.burn_down(ascii);
    }
    picture.lines(theme)
}

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_width::UnicodeWidthStr as _;

    #[test]
    fn sprites_are_rectangles_of_one_size() {
        for sprite in STREET {
            assert_eq!(sprite.blocks.len(), sprite.ascii.len());
            assert!(sprite.ascii.len() <= HIGHEST);
            let wide = sprite.ascii[0].len();
            for row in sprite.blocks.iter().chain(sprite.ascii) {
                assert_eq!(row.width(), wide, "{row}");
            }
            assert!(sprite.ascii.iter().all(|row| row.is_ascii()));
        }
    }
}
