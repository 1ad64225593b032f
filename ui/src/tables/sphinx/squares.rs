//! The board: its squares, the gates of its Pylons, and the pieces on them.
//!
//! Squares touch; every other one is tinted. Where squares have four rows, a gate is a wall around the two squares of a
//! Pylon, with its pack and its open cards on it. Smaller ones have the outer wall alone, outside the board.

use fairdeal_games::pyramid::Size;
use fairdeal_games::sphinx::board::{Pylon, Square, SquareSet, central};
use fairdeal_games::sphinx::{Phase, Sphinx};
use fairdeal_protocol::seat::Seat;
use ratatui::layout::{Constraint, Flex, Layout, Margin, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::symbols::border;
use ratatui::text::{Line, Span};
use ratatui::widgets::Block;
use unicode_width::UnicodeWidthStr as _;

use super::looks::{card, label, letter, magician_style, monster_style, shape};
use super::side::sign;
use super::spots::{magicians_on, pack_spot, sizes_on, square_spot};
use crate::canvas::{Canvas, Mark};
use crate::tables::ViewContext;
use crate::theme::Theme;
use crate::widgets::pyramid;

/// Squares on each side of the board.
const SIDE: u16 = 8;
/// Columns and rows of a square, the best first.
const SIZES: [(u16, u16); 9] = [(9, 5), (7, 4), (6, 3), (5, 3), (6, 2), (5, 2), (4, 2), (3, 2), (3, 1)];
/// The columns left of the board: the number of a rank, a blank and the outer wall of a gate.
const LEFT: u16 = 3;
/// The least and the most columns of the panel beside the board, where the screen has no rail.
const BESIDE: (u16, u16) = (25, 29);
/// The rows that the panel beside the board can use.
const COLUMN_ROWS: u16 = 20;
/// Squares with fewer rows have no room for walls.
const WALLED: u16 = 4;

/// The places of the squares.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    /// All squares; the gates reach a row or a column beyond.
    board: Rect,
    /// Columns and rows of a square.
    square: (u16, u16),
    /// The area beside the board, if the screen has no rail.
    pub(super) beside: Rect,
    /// The row under the board, if the screen has a rail.
    pub(super) below: Rect,
}

/// The neighbour of the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Neighbour {
    /// A row under it; the screen has a rail.
    Row,
    /// A column beside it.
    Column,
    Nothing,
}

/// The rows of a board with squares of two rows, the least that fingers hit.
pub(super) const TALL_ROWS: u16 = 2 * SIDE + 2;

impl Grid {
    pub(super) fn of(area: Rect, by: Neighbour) -> Self {
        let has_column = by == Neighbour::Column;
        let (beside, below) = (if has_column { BESIDE.0 + 2 } else { 0 }, u16::from(by == Neighbour::Row));
        let columns = |width: u16| LEFT + SIDE * width + 1;
        let rows = |height: u16| SIDE * height + 2 + below;
        let fits =
            |(width, height): &(u16, u16)| columns(*width) + beside <= area.width && rows(*height) <= area.height;
        let square = SIZES.into_iter().find(fits).unwrap_or((3, 1));
        let (width, height) = square;
        let beside = if has_column { BESIDE.1 } else { 0 };
        let [stage, beside] = Layout::horizontal([Constraint::Length(columns(width)), Constraint::Max(beside)])
            .spacing(if has_column { 2 } else { 0 })
            .flex(Flex::Center)
            .areas(area);
        let [stage, below] = Layout::vertical([Constraint::Length(rows(height) - below), Constraint::Length(below)])
            .flex(Flex::Center)
            .areas(stage);
        let board = Rect { x: stage.x + LEFT, y: stage.y + 1, width: SIDE * width, height: SIDE * height };
        // Beside the upper edge of the board, if all its rows fit there.
        let lower = (stage.y - area.y).min(area.height.saturating_sub(COLUMN_ROWS));
        let beside = Rect { y: beside.y + lower, height: beside.height - lower, ..beside };
        Self { board: board.intersection(area), square, beside, below }
    }

    fn has_walls(&self) -> bool {
        self.square.1 >= WALLED
    }

    /// The area of a square, by its file and its rank counted from the top.
    fn area(&self, (file, row): (u16, u16)) -> Rect {
        let (width, height) = self.square;
        let at = Rect::new(self.board.x + file * width, self.board.y + row * height, width, height);
        at.intersection(self.board)
    }

    /// The gate of a Pylon, with its outer wall outside the board; without walls, the outer wall alone.
    fn gate(&self, pylon: Pylon) -> Rect {
        let (file, row) = match pylon {
            Pylon::North => (3, 0),
            Pylon::East => (7, 3),
            Pylon::South => (3, 7),
            Pylon::West => (0, 3),
        };
        let first = self.area((file, row));
        let (width, height) = self.square;
        let (x, y) = (first.x.saturating_sub(1), first.y.saturating_sub(1));
        match (pylon, self.has_walls()) {
            (Pylon::North, true) => Rect::new(first.x, y, 2 * width, height + 1),
            (Pylon::South, true) => Rect::new(first.x, first.y, 2 * width, height + 1),
            (Pylon::East, true) => Rect::new(first.x, first.y, width + 1, 2 * height),
            (Pylon::West, true) => Rect::new(x, first.y, width + 1, 2 * height),
            (Pylon::North, false) => Rect::new(first.x, y, 2 * width, 1),
            (Pylon::South, false) => Rect::new(first.x, first.bottom(), 2 * width, 1),
            (Pylon::East, false) => Rect::new(first.right(), first.y, 1, 2 * height),
            (Pylon::West, false) => Rect::new(x, first.y, 1, 2 * height),
        }
    }
}

/// Every square with its file and its rank counted from the top.
fn places() -> impl Iterator<Item = (Square, (u16, u16))> {
    let ranks = (0..SIDE).rev().flat_map(|row| (0..SIDE).map(move |file| (file, row)));
    Square::all().zip(ranks)
}

/// Draws the board.
pub(super) fn draw(game: &Sphinx, view: &ViewContext<'_>, canvas: &mut Canvas<'_>, grid: &Grid) {
    let marks: Vec<(Square, (u16, u16), Mark)> =
        places().map(|(square, place)| (square, place, canvas.spot(grid.area(place), square_spot(square)))).collect();
    let focused = marks.iter().find(|(_, _, mark)| mark.focused);
    let is_picking = !view.picked.is_empty();
    let reach = match focused {
        // What can be chosen next says more than the piece in focus.
        _ if is_picking => marks.iter().filter(|(_, _, mark)| mark.lit).map(|(at, ..)| *at).collect(),
        Some((square, ..)) => reach(game, *square),
        None => SquareSet::default(),
    };
    for (square, place, mark) in marks {
        let area = grid.area(place);
        let is_dark = (place.0 + place.1) % 2 == 1;
        draw_ground(canvas, area, is_dark);
        if Pylon::at(square).is_some() {
            canvas.tint(area, view.theme.stone());
        }
        if reach.contains(square) {
            canvas.tint(area, view.theme.reach());
        }
        let inside = match Pylon::at(square).filter(|_| grid.has_walls()) {
            Some(pylon) => area.intersection(grid.gate(pylon).inner(Margin::new(1, 1))),
            None => area,
        };
        draw_marks(canvas, inside, mark);
        draw_pieces(game, view, canvas, grid, inside, (square, mark));
    }
    for pylon in Pylon::ALL {
        draw_gate(game, canvas, grid, pylon);
    }
    draw_coordinates(canvas, grid);
}

/// The squares that the piece on a square can go to.
fn reach(game: &Sphinx, from: Square) -> SquareSet {
    let steps = sizes_on(game, from).map(Size::pips).max();
    if let Some(steps) = steps {
        return game.reach(from, steps);
    }
    let walks = magicians_on(game, from).next().is_some() && game.phase() == Phase::Magician;
    let around = from.around().filter(|at| game.monsters_on(*at) == [0; 3]);
    let diagonal: SquareSet = from.diagonal().collect();
    around.filter(|at| walks && (!game.is_diagonal() || diagonal.contains(*at))).collect()
}

/// Tints a dark square, or dots it where there are no colours.
fn draw_ground(canvas: &mut Canvas<'_>, area: Rect, is_dark: bool) {
    let theme = canvas.theme();
    if !is_dark {
        return;
    }
    canvas.tint(area, theme.checker());
    if theme.shows_letters() {
        let dots: String = (0..area.width).map(|x| if x % 2 == 0 { theme.glyph("·", ".") } else { " " }).collect();
        let rows = (0..area.height).map(|_| Line::styled(dots.clone(), theme.faint()));
        canvas.rows(area, rows);
    }
}

/// Marks a square: its corners if it can be chosen or is picked, edges and a flat background if it has the focus.
fn draw_marks(canvas: &mut Canvas<'_>, area: Rect, mark: Mark) {
    let theme = canvas.theme();
    let style = match mark {
        Mark { picked: true, .. } => theme.accent(),
        _ => theme.lit(),
    };
    let is_marked = mark.focused || mark.picked;
    let is_flat = area.height < 2;
    if (mark.focused || mark.flashing) && (is_flat || !theme.shows_letters()) {
        canvas.tint(area, theme.focused());
    }
    if !is_marked && !mark.lit {
        return;
    }
    if is_flat {
        // A figure leaves no room beside it, and is underlined instead.
        canvas.put(area, Line::styled("[", style));
        let right = Rect::new(area.right().saturating_sub(1), area.y, 1, 1);
        canvas.put(right, Line::styled("]", style));
        return canvas.tint(area, Style::new().add_modifier(Modifier::UNDERLINED));
    }
    let set = if theme.is_ascii() { theme.border() } else { border::THICK };
    if mark.focused {
        // Upper and lower edge; the sides stay free for names.
        let edge = |left: &str, right: &str| {
            let line = theme.glyph("━", "=").repeat(usize::from(area.width.saturating_sub(2)));
            Line::styled(format!("{left}{line}{right}"), style)
        };
        canvas.put(area, edge(set.top_left, set.top_right));
        let low = area.bottom().saturating_sub(1);
        return canvas.put(Rect { y: low, ..area }, edge(set.bottom_left, set.bottom_right));
    }
    let (right, bottom) = (area.right().saturating_sub(1), area.bottom().saturating_sub(1));
    for (x, y, corner) in [
        (area.x, area.y, set.top_left),
        (right, area.y, set.top_right),
        (area.x, bottom, set.bottom_left),
        (right, bottom, set.bottom_right),
    ] {
        canvas.put(Rect::new(x, y, 1, 1), Line::styled(corner, style));
    }
}

/// Draws the pieces on a square, or the sign of the centre.
fn draw_pieces(
    game: &Sphinx,
    view: &ViewContext<'_>,
    canvas: &mut Canvas<'_>,
    grid: &Grid,
    area: Rect,
    (square, mark): (Square, Mark),
) {
    let theme = view.theme;
    let seats: Vec<Seat> = magicians_on(game, square).collect();
    let monsters: u8 = game.monsters_on(square).iter().sum();
    // A piece in flight is drawn once it lands, but pieces already here stay.
    let flies = mark.hidden && seats.len() + usize::from(monsters) == 1;
    let (lines, is_low) = match seats.as_slice() {
        _ if flies => (Vec::new(), false),
        [] if monsters > 0 => {
            (monster_lines(game, theme, square, (area.width, area.height), grid.square.1 > WALLED), true)
        }
        [] if central().any(|at| at == square) => {
            (vec![Line::styled(theme.glyph("◦", "o"), theme.faint())], area.height > 2)
        }
        seats => (magician_lines(view, seats, (area.width, area.height)), false),
    };
    let rows = u16::try_from(lines.len()).unwrap_or(u16::MAX);
    let room = area.height.saturating_sub(rows);
    let first = area.y + if is_low { room } else { room / 2 };
    if area.height < 2 && rows > 0 {
        canvas.put(area, " ".repeat(usize::from(area.width)));
    }
    for (y, line) in (first..).zip(lines) {
        let width = u16::try_from(line.width()).unwrap_or(u16::MAX).min(area.width);
        let x = area.x + (area.width - width) / 2;
        canvas.put(Rect::new(x, y, width, 1), line);
    }
}

/// Magicians: a figure and its name, if that leaves a column free, or the letters of several.
fn magician_lines(view: &ViewContext<'_>, seats: &[Seat], (width, height): (u16, u16)) -> Vec<Line<'static>> {
    let letters =
        || seats.iter().map(|seat| Span::styled(letter(view, *seat).to_string(), magician_style(view, *seat)));
    match seats {
        [] => Vec::new(),
        [seat] => {
            let style = magician_style(view, *seat);
            if height < 2 {
                return vec![Line::styled(format!("\\{}/", letter(view, *seat)), style)];
            }
            let name = label(view, *seat).to_owned();
            let name = if name.width() < usize::from(width) { name } else { letter(view, *seat).to_string() };
            vec![Line::styled("\\o/", style), Line::styled(name, style)]
        }
        seats if seats.len() > usize::from(width) => {
            vec![Line::styled(format!("\\{}/", seats.len()), view.theme.title())]
        }
        _ if height < 2 => vec![Line::from_iter(letters())],
        _ => vec![Line::styled("\\o/", view.theme.title()), Line::from_iter(letters())],
    }
}

/// Monsters: one as a pyramid, several as a row for each size with its number.
fn monster_lines(
    game: &Sphinx,
    theme: &Theme,
    square: Square,
    (width, height): (u16, u16),
    is_large: bool,
) -> Vec<Line<'static>> {
    let counts = game.monsters_on(square);
    let all = Size::ALL.into_iter().zip(counts).filter(|(_, count)| *count > 0);
    let first = all.clone().next();
    if let Some((size, 1)) = first.filter(|_| counts.iter().sum::<u8>() == 1) {
        let style = monster_style(size, theme);
        let digit = char::from_digit(u32::from(size.pips()), 10).unwrap_or('?');
        return match (height, size) {
            (3.., _) => pyramid(u16::from(size.pips()) + u16::from(is_large), style, digit, theme),
            (2, Size::Large) if width > 3 => {
                vec![Line::styled(theme.glyph("▟▙", "/\\"), style), Line::styled(theme.glyph("▟██▙", "/__\\"), style)]
            }
            _ => vec![Line::styled(shape(size, theme), style)],
        };
    }
    if width < 4 {
        // A heap in the colour of the largest.
        let largest = all.into_iter().next_back().map_or(Size::Small, |(size, _)| size);
        let heap = format!("{}{}", theme.glyph("▲", "^"), counts.iter().sum::<u8>());
        return vec![Line::styled(heap, monster_style(largest, theme))];
    }
    let times = if height > 2 { theme.glyph("×", "x") } else { "" };
    let chip = |(size, count): (Size, u8)| {
        let text = match count {
            1 => shape(size, theme).to_owned(),
            _ => format!("{}{times}{count}", shape(size, theme)),
        };
        Span::styled(text, monster_style(size, theme))
    };
    let mut lines: Vec<Line<'static>> = all.map(chip).map(Line::from).collect();
    while lines.len() > usize::from(height) {
        // The smaller ones share a row.
        let first = lines.remove(0);
        if let Some(second) = lines.first_mut() {
            second.spans.splice(0..0, first.spans);
        }
    }
    lines
}

/// Draws the gate of a Pylon: double walls with its letter and its pack.
fn draw_gate(game: &Sphinx, canvas: &mut Canvas<'_>, grid: &Grid, pylon: Pylon) {
    let theme = canvas.theme();
    let gate = grid.gate(pylon);
    let mark = canvas.place(Rect { height: 1, ..gate }, pack_spot(pylon));
    let set = theme.lit_border();
    let stone = theme.accent();
    let sign = sign(pylon);
    let (pack, turned) = (game.pack(pylon).len(), game.turned(pylon));
    if grid.has_walls() {
        canvas.render(Block::bordered().border_set(set).border_style(stone), gate);
        let room = usize::from(gate.width.saturating_sub(2));
        let backs = theme.glyph("▮", "#").repeat(pack);
        let head = match pack {
            0 => format!("{sign} "),
            _ => format!("{sign} {backs}"),
        };
        let cards: Vec<Span<'static>> = turned.iter().map(|face| card(*face, theme)).collect();
        // The cards that the top wall has no room for hang on the other one.
        let free = room.saturating_sub(head.width() + usize::from(pack > 0)) / 2;
        let is_wide = matches!(pylon, Pylon::North | Pylon::South);
        let above = if is_wide { cards.len() } else { cards.len().saturating_sub(room / 2).min(free) };
        let (above, under) = cards.split_at_checked(above).unwrap_or((&[], &cards));
        let mut line = Line::styled(head, stone);
        let gap = if pack > 0 && !above.is_empty() { " " } else { "" };
        line.push_span(gap);
        let fits_gaps = line.width() + 3 * above.len() <= room + 1;
        for (number, card) in above.iter().enumerate() {
            line.push_span(if number > 0 && fits_gaps { " " } else { "" });
            line.push_span(card.clone());
        }
        if line.width() + 2 <= room {
            line.spans.insert(0, Span::raw(" "));
            line.push_span(" ");
        }
        let inner = Rect { x: gate.x + 1, height: 1, width: gate.width.saturating_sub(2), ..gate };
        canvas.put(inner, line);
        let y = gate.bottom().saturating_sub(1);
        canvas.put(Rect { y, ..inner }, Line::from(under.to_vec()));
    } else if gate.height == 1 {
        let (left, right, wall) = match pylon {
            Pylon::North => (set.top_left, set.top_right, set.horizontal_top),
            _ => (set.bottom_left, set.bottom_right, set.horizontal_bottom),
        };
        let width = usize::from(gate.width.saturating_sub(2));
        let half = wall.repeat(width.saturating_sub(2) / 2);
        canvas.put(gate, Line::styled(format!("{left}{half}{sign}{pack}{half}{right}"), stone));
    } else {
        let (top, bottom, wall) = match pylon {
            Pylon::West => (set.top_left, set.bottom_left, set.vertical_left),
            _ => (set.top_right, set.bottom_right, set.vertical_right),
        };
        let mut rows = vec![wall.to_owned(); usize::from(gate.height.saturating_sub(2)) / 2];
        if let Some(first) = rows.first_mut() {
            *first = top.to_owned();
        }
        let mut low = vec![wall.to_owned(); rows.len()];
        if let Some(last) = low.last_mut() {
            *last = bottom.to_owned();
        }
        let rows = rows.into_iter().chain([sign, pack.to_string()]).chain(low);
        canvas.rows(gate, rows.map(|row| Line::styled(row, stone)));
    }
    if mark.flashing {
        canvas.tint(gate, theme.focused());
    }
}

/// Writes the numbers of the ranks and the letters of the files outside the board.
fn draw_coordinates(canvas: &mut Canvas<'_>, grid: &Grid) {
    let theme = canvas.theme();
    let style: Style = theme.faint();
    let names = (0..SIDE).map(|number| (number, char::from(b'a'.saturating_add(u8::try_from(number).unwrap_or(0)))));
    for (number, file) in names {
        let column = grid.area((number, SIDE - 1));
        let x = column.x + column.width.saturating_sub(1) / 2;
        // The blanks keep the letter clear of a Pylon's edge.
        canvas.put(Rect::new(x.saturating_sub(1), column.bottom(), 3, 1), Line::styled(format!(" {file} "), style));
        let row = grid.area((0, number));
        let y = row.y + row.height.saturating_sub(1) / 2;
        let rank = (SIDE - number).to_string();
        canvas.put(Rect::new(grid.board.x.saturating_sub(LEFT), y, 1, 1), Line::styled(rank, style));
    }
}
