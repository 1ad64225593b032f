//! The squares: their places, and the drawing on each.
//!
//! With enough room there are lines between the squares. In a small terminal the squares touch and are four columns by
//! two rows, just enough to show everything that can stand on one.

use fairdeal_games::pyramid::Size;
use fairdeal_games::sphinx::board::{Pylon, Square, central};
use fairdeal_games::sphinx::{Sphinx, cards};
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::cell::Cell;
use super::{figure, letter, magician, magician_style, magicians_on, monster_style, shape, sign, square_spot, stone};
use crate::canvas::{Canvas, Mark, cut};
use crate::tables::ViewContext;
use crate::theme::Theme;

/// Squares on each side of the board.
const SIDE: u16 = 8;
/// The columns left of the board, for the numbers of the ranks.
const MARGIN: u16 = 2;
/// The minimum columns beside the board, for the short form of the panel.
const BESIDE: u16 = 16;
/// The columns beside the board that the panel fills well.
const BESIDE_WELL: u16 = 28;
/// The maximum columns of the panel: related parts must not be too far apart.
const BESIDE_MOST: u16 = 36;

/// The places of the squares.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    /// The board with its lines, without coordinates.
    board: Rect,
    /// The columns and rows from one square to the next.
    pitch: (u16, u16),
    /// Whether there are lines between the squares.
    lined: bool,
    /// Whether the letters of the files have a row of their own.
    letters: bool,
    /// The free area beside the board.
    pub(super) beside: Rect,
    /// The free area below the board.
    pub(super) below: Rect,
}

impl Grid {
    pub(super) fn of(area: Rect) -> Self {
        // The columns of a square that leave `beside` columns free beside the board.
        let wide = |beside: u16| area.width.saturating_sub(MARGIN + 2 + beside) / SIDE;
        // One row for the last line, and one for the letters of the files.
        let high = area.height.saturating_sub(2) / SIDE;
        let columns = match wide(BESIDE_WELL) {
            roomy @ 6.. => roomy,
            _ => wide(BESIDE),
        };
        let lined = high >= 3 && columns >= 5;
        let (pitch, edge) = if lined {
            ((columns.min(2 * high + 2), high), 1)
        } else {
            ((wide(BESIDE).clamp(4, 6), 2), 0)
        };
        let board = Rect {
            x: area.x.saturating_add(MARGIN),
            y: area.y,
            width: pitch.0 * SIDE + edge,
            height: pitch.1 * SIDE + edge,
        };
        let letters = area.height > board.height;
        let right = board.right().saturating_add(1);
        // The row of letters and a blank one come between.
        let under = board.bottom().saturating_add(1 + u16::from(letters));
        Self {
            board,
            pitch,
            lined,
            letters,
            beside: Rect {
                x: right.min(area.right()),
                width: area.right().saturating_sub(right).min(BESIDE_MOST),
                ..area
            },
            below: Rect {
                y: under.min(area.bottom()),
                width: (board.width + MARGIN).min(area.width),
                height: area.bottom().saturating_sub(under),
                ..area
            },
        }
    }

    /// The first column of a file.
    fn x(&self, file: u16) -> u16 {
        self.board.x.saturating_add(file * self.pitch.0)
    }

    /// The first row of a rank, counted from the top.
    fn y(&self, row: u16) -> u16 {
        self.board.y.saturating_add(row * self.pitch.1)
    }

    /// The inside of a square, by its file and its rank counted from the top.
    fn inside(&self, (file, row): (u16, u16)) -> Rect {
        let edge = u16::from(self.lined);
        Rect {
            x: self.x(file) + edge,
            y: self.y(row) + edge,
            width: self.pitch.0 - edge,
            height: self.pitch.1 - edge,
        }
    }
}

/// Every square with its file and its rank counted from the top, in reading order.
fn places() -> impl Iterator<Item = (Square, (u16, u16))> {
    let ranks = Square::all().zip((0..SIDE).flat_map(|rank| (0..SIDE).map(move |file| (file, rank))));
    ranks.map(|(square, (file, rank))| (square, (file, SIDE - 1 - rank)))
}

/// The start and end of a Pylon's two squares, in files and ranks from the top.
fn extent(pylon: Pylon) -> (u16, u16, u16, u16) {
    match pylon {
        Pylon::North => (3, 0, 5, 1),
        Pylon::East => (7, 3, 8, 5),
        Pylon::South => (3, 7, 5, 8),
        Pylon::West => (0, 3, 1, 5),
    }
}

fn file_letter(file: u16) -> char {
    let offset = u8::try_from(file).unwrap_or(0);
    char::from(b'a'.saturating_add(offset))
}

/// Draws the board.
pub(super) fn draw(game: &Sphinx, view: &ViewContext<'_>, canvas: &mut Canvas<'_>, grid: &Grid) {
    let theme = view.theme;
    for (square, place) in places() {
        let area = grid.inside(place);
        let mark = canvas.spot(area, square_spot(square));
        if is_dark(place) {
            canvas.tint(area, theme.checker());
        }
        let cell = cell(game, view, grid, (square, place), mark);
        canvas.rows(area, cell.lines());
        if mark.focused || mark.flashing {
            canvas.tint(area, theme.focused());
        }
    }
    if grid.lined {
        draw_lines(canvas, grid, theme);
        for pylon in Pylon::ALL {
            draw_walls(canvas, grid, theme, pylon);
        }
    }
    draw_coordinates(canvas, grid, theme);
}

fn is_dark((file, row): (u16, u16)) -> bool {
    (file + row) % 2 == 1
}

fn draw_lines(canvas: &mut Canvas<'_>, grid: &Grid, theme: &Theme) {
    let line = theme.glyph("─", "-").repeat(usize::from(grid.pitch.0 - 1));
    let across = |left: &str, middle: &str, right: &str, between: &str| {
        let all = vec![between; usize::from(SIDE)].join(middle);
        format!("{left}{all}{right}")
    };
    let glyph = |glyph, ascii| theme.glyph(glyph, ascii);
    let plus = "+";
    for row in 0..=SIDE {
        let text = match row {
            0 => across(glyph("┌", plus), glyph("┬", plus), glyph("┐", plus), &line),
            SIDE => across(glyph("└", plus), glyph("┴", plus), glyph("┘", plus), &line),
            _ => across(glyph("├", plus), glyph("┼", plus), glyph("┤", plus), &line),
        };
        let area = Rect {
            y: grid.y(row),
            height: 1,
            ..grid.board
        };
        canvas.put(area, Line::styled(text, theme.faint()));
    }
    let upright = theme.glyph("│", "|");
    for file in 0..=SIDE {
        for row in 0..SIDE {
            for y in grid.y(row) + 1..grid.y(row + 1) {
                let area = Rect::new(grid.x(file), y, 1, 1);
                canvas.put(area, Line::styled(upright, theme.faint()));
            }
        }
    }
}

/// Draws the walls of a Pylon on a board with lines: thick, and open to the middle of the board.
fn draw_walls(canvas: &mut Canvas<'_>, grid: &Grid, theme: &Theme, pylon: Pylon) {
    let (left, top, right, bottom) = extent(pylon);
    let (x0, x1) = (grid.x(left), grid.x(right));
    let (y0, y1) = (grid.y(top), grid.y(bottom));
    let mut put = |x: u16, y: u16, glyph: &'static str| {
        let text = Line::styled(theme.glyph(glyph, "#"), stone(theme));
        canvas.put(Rect::new(x, y, 1, 1), text);
    };
    // Where thick walls meet or end on thin lines, a glyph that has both keeps the lines whole.
    let (middle, ends) = match pylon {
        Pylon::North => ("┯", ["┲", "┱", "╀", "╀"]),
        Pylon::East => ("┨", ["┾", "┪", "┾", "┩"]),
        Pylon::South => ("┷", ["╁", "╁", "┺", "┹"]),
        Pylon::West => ("┠", ["┢", "┽", "┡", "┽"]),
    };
    for x in x0 + 1..x1 {
        let glyph = if x == grid.x(left + 1) { middle } else { "━" };
        match pylon {
            Pylon::North => put(x, y0, glyph),
            Pylon::South => put(x, y1, glyph),
            Pylon::East | Pylon::West => {
                put(x, y0, "━");
                put(x, y1, "━");
            }
        }
    }
    for y in y0 + 1..y1 {
        let glyph = if y == grid.y(top + 1) { middle } else { "┃" };
        match pylon {
            Pylon::West => put(x0, y, glyph),
            Pylon::East => put(x1, y, glyph),
            Pylon::North | Pylon::South => {
                put(x0, y, "┃");
                put(x1, y, "┃");
            }
        }
    }
    let [top_left, top_right, bottom_left, bottom_right] = ends;
    put(x0, y0, top_left);
    put(x1, y0, top_right);
    put(x0, y1, bottom_left);
    put(x1, y1, bottom_right);
}

fn draw_coordinates(canvas: &mut Canvas<'_>, grid: &Grid, theme: &Theme) {
    for row in 0..SIDE {
        let inside = grid.inside((0, row));
        let area = Rect {
            x: grid.board.x.saturating_sub(MARGIN),
            y: inside.y + (inside.height - 1) / 2,
            width: 1,
            height: 1,
        };
        let number = (SIDE - row).to_string();
        canvas.put(area, Line::styled(number, theme.faint()));
    }
    if !grid.lined && !grid.letters {
        return;
    }
    for file in 0..SIDE {
        let inside = grid.inside((file, SIDE - 1));
        let area = Rect {
            x: inside.x + (inside.width - 1) / 2,
            y: inside.bottom() + u16::from(grid.lined && grid.letters),
            width: 1,
            height: 1,
        };
        let letter = file_letter(file).to_string();
        canvas.put(area, Line::styled(letter, theme.faint()));
    }
}

/// Draws the signs of a square, the most important first: nothing overwrites it.
fn cell(game: &Sphinx, view: &ViewContext<'_>, grid: &Grid, (square, place): (Square, (u16, u16)), mark: Mark) -> Cell {
    let theme = view.theme;
    let inside = grid.inside(place);
    let mut cell = Cell::new((inside.width, inside.height));
    if let Some(pylon) = Pylon::at(square).filter(|_| !grid.lined) {
        let (left, _, right, _) = extent(pylon);
        let at_left = place.0 == left && pylon != Pylon::East;
        let at_right = place.0 + 1 == right && pylon != Pylon::West;
        cell.walls = (u16::from(at_left), u16::from(at_right));
    }
    let (right, low) = (inside.width - 1, inside.height - 1);
    let seats = magicians_on(game, square).count();
    let monsters: u8 = game.monsters_on(square).iter().sum();
    // A piece in flight is drawn once it lands, but pieces already here stay.
    let alone = seats + usize::from(monsters) == 1;
    let empty = seats + usize::from(monsters) == 0 || (mark.hidden && alone);
    if !empty {
        put_magicians(game, view, square, &mut cell);
        put_monsters(game, theme, square, &mut cell);
    }
    let pylon = Pylon::at(square);
    let middle = (right / 2, low / 2);
    if let Some(pylon) = pylon.filter(|_| empty) {
        put_pack(game, theme, grid, pylon, place, &mut cell);
    }
    if let Some(sign) = sign(mark, theme) {
        let places = match (empty, pylon) {
            (true, None) => [middle, (right, 0)],
            (true, Some(_)) => [(right / 2, 0), (right / 2, low)],
            (false, _) => [(right, 0), (right, low)],
        };
        if empty && pylon.is_none() && inside.width >= 7 {
            // On so large a square, a sign alone is easily overlooked.
            cell.put((middle.0 - 1, middle.1), "[", sign.style);
            cell.put((middle.0 + 1, middle.1), "]", sign.style);
        }
        cell.squeeze(&places, &sign);
    }
    let in_square = !grid.lined && !grid.letters;
    if in_square && place.1 == SIDE - 1 {
        let letter = file_letter(place.0).to_string();
        cell.put((right, low), &letter, theme.faint());
    }
    if let Some(pylon) = pylon.filter(|_| !grid.lined) {
        put_walls(pylon, place, theme, &mut cell);
    }
    if empty && central().any(|at| at == square) {
        cell.put((right / 2, low), theme.glyph("◦", "o"), theme.faint());
    }
    // Lines and walls already separate the squares.
    if is_dark(place) && !grid.lined && pylon.is_none() {
        let dots = theme.glyph("·", ".").repeat(usize::from(inside.width));
        for y in 0..inside.height {
            cell.put((0, y), &dots, theme.faint());
        }
    }
    cell
}

/// Writes the number of cards in a Pylon's pack, and whether a spade lets Monsters in.
fn put_pack(game: &Sphinx, theme: &Theme, grid: &Grid, pylon: Pylon, (_, row): (u16, u16), cell: &mut Cell) {
    let (_, top, ..) = extent(pylon);
    let count = game.pack(pylon).len();
    let spade = game.turned(pylon).iter().any(|card| cards::is_spade(*card));
    let spade = if spade { theme.glyph("♠", "S") } else { "" };
    let text = format!("{}{count}{spade}", theme.glyph("Π", "P"));
    let y = match pylon {
        _ if grid.lined => (cell.size.1 - 1) / 2,
        // Away from the walls, which take a row at one edge.
        Pylon::South => 0,
        _ if row == top => cell.size.1 - 1,
        _ => 0,
    };
    cell.centre(y, &[Span::styled(text, stone(theme))]);
}

/// Draws the walls of a Pylon on a board without lines: thin, along the edges of its squares.
fn put_walls(pylon: Pylon, (_, row): (u16, u16), theme: &Theme, cell: &mut Cell) {
    let (_, top, _, bottom) = extent(pylon);
    let (width, height) = cell.size;
    for y in 0..height {
        for x in 0..width {
            let at_left = cell.walls.0 > 0 && x == 0;
            let at_right = cell.walls.1 > 0 && x + 1 == width;
            let at_top = row == top && y == 0 && pylon != Pylon::South;
            let at_bottom = row + 1 == bottom && y + 1 == height && pylon != Pylon::North;
            let glyph = match (at_left, at_right, at_top, at_bottom) {
                (true, _, true, _) => theme.glyph("▛", "+"),
                (_, true, true, _) => theme.glyph("▜", "+"),
                (true, _, _, true) => theme.glyph("▙", "+"),
                (_, true, _, true) => theme.glyph("▟", "+"),
                (true, ..) => theme.glyph("▌", "|"),
                (_, true, ..) => theme.glyph("▐", "|"),
                (_, _, true, _) => theme.glyph("▀", "-"),
                (_, _, _, true) => theme.glyph("▄", "-"),
                _ => continue,
            };
            cell.put((x, y), glyph, stone(theme));
        }
    }
}

/// Draws the Magicians on a square: `@A`, with the name if there is room; two in a row if there are several.
fn put_magicians(game: &Sphinx, view: &ViewContext<'_>, square: Square, cell: &mut Cell) {
    let seats: Vec<_> = magicians_on(game, square).collect();
    let (width, height) = cell.size;
    if let [seat] = seats.as_slice() {
        let y = height.saturating_sub(1) / 2;
        cell.centre(y, &[magician(view, *seat)]);
        if width >= 7 && height >= 3 {
            let name = cut(view.name(*seat), usize::from(width), view.theme);
            cell.centre(y + 1, &[Span::styled(name, magician_style(view, *seat))]);
        }
        return;
    }
    for (y, pair) in (0..height).zip(seats.chunks(2)) {
        let mut spans = Vec::new();
        for seat in pair {
            let text = if spans.is_empty() {
                magician(view, *seat)
            } else {
                Span::styled(letter(view, *seat).to_string(), magician_style(view, *seat))
            };
            spans.push(text);
        }
        cell.centre(y, &spans);
    }
}

/// Draws the Monsters on a square: the large ones above the others, each size with its number.
fn put_monsters(game: &Sphinx, theme: &Theme, square: Square, cell: &mut Cell) {
    let (width, height) = cell.size;
    let drawn = width >= 7 && height >= 3;
    let [small, medium, large] = game.monsters_on(square);
    let span = |size: Size, sign: &str, count: u8| {
        let text = if count > 1 {
            format!("{sign}{count}")
        } else {
            sign.to_owned()
        };
        Span::styled(text, monster_style(size, theme))
    };
    let below: Vec<Span<'_>> = [(Size::Medium, medium), (Size::Small, small)]
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(size, count)| match figure(size, theme) {
            [sign] if drawn => span(size, sign, count),
            _ => span(size, shape(size, theme), count),
        })
        .collect();
    cell.centre(height - 1, &below);
    if large == 0 {
        return;
    }
    if !drawn {
        cell.centre(0, &[span(Size::Large, shape(Size::Large, theme), large)]);
        return;
    }
    // Its two rows stand on the others or on the ground; the number is beside the lower row.
    let top = height - 2 - u16::from(!below.is_empty());
    for (y, row) in (top..).zip(figure(Size::Large, theme)) {
        let row = span(Size::Large, row, if y == top { 1 } else { large });
        let left = Span::raw(if y == top && large > 1 { " " } else { "" });
        cell.centre(y, &[row, left]);
    }
}
