//! A frame as an SVG picture, and several as an animated one.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use ratatui::buffer::{Buffer, Cell, CellWidth as _};
use ratatui::style::{Color, Modifier};

use crate::markup::Escaped;

/// The width and height of a character, in pixels.
pub const CELL: (f32, f32) = (8.4, 18.0);
/// The middle of a character, where lines cross, and the widths of lines.
const MIDDLE: (f32, f32) = (CELL.0 / 2.0, CELL.1 / 2.0);
const THIN: f32 = 1.0;
const THICK: f32 = 2.0;
/// The ink and ground that stand for the terminal's own colours.
const OWN: (Rgb, Rgb) = (Rgb(0xd0, 0xd0, 0xd0), Rgb(0x10, 0x10, 0x10));

/// Red, green and blue.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Rgb(u8, u8, u8);

impl fmt::Display for Rgb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(red, green, blue) = self;
        write!(f, "#{red:02x}{green:02x}{blue:02x}")
    }
}

/// The frame as an SVG document: one text element for each run of equal style.
pub fn svg(buffer: &Buffer) -> String {
    let ground = ground(buffer);
    let mut svg = opening(buffer, ground);
    for y in 0..buffer.area.height {
        write_row(&mut svg, buffer, y, ground);
    }
    svg.push_str("</svg>\n");
    svg
}

/// A frame in parts, for a page that draws it again and again: the ground, and the markup of each row whose cells differ
/// from the frame `before`.
pub fn changes(buffer: &Buffer, before: Option<&Buffer>) -> (String, Vec<(u16, String)>) {
    let ground = ground(buffer);
    let before = before.filter(|before| before.area == buffer.area && self::ground(before) == ground);
    let has_changed = |y: &u16| before.is_none_or(|before| !row(before, *y).eq(row(buffer, *y)));
    let rows = (0..buffer.area.height).filter(has_changed).map(|y| {
        let mut markup = String::new();
        write_row(&mut markup, buffer, y, ground);
        (y, markup)
    });
    (ground.to_string(), rows.collect())
}

/// The cells of a row.
fn row(buffer: &Buffer, y: u16) -> impl Iterator<Item = &Cell> {
    let width = usize::from(buffer.area.width);
    buffer.content.iter().skip(usize::from(y) * width).take(width)
}

/// Frames as an animated SVG document that repeats: each with the time at which it appears, in milliseconds; `end` is the
/// time at which the last one goes. A row that several frames share is written once. Where nothing moves, the frame
/// in the middle of that time is seen. Empty without frames.
pub fn film(frames: &[(u32, Buffer)], end: u32) -> String {
    let Some((start, first)) = frames.first() else {
        return String::new();
    };
    let ground = ground(first);
    let middle = start.midpoint(end);
    let mut svg = opening(first, ground);
    // The clock that all rows follow.
    let _ = writeln!(
        svg,
        "<rect width=\"0\" height=\"0\"><animate id=\"t\" attributeName=\"width\" values=\"0;0\" \
         begin=\"0s;t.end\" dur=\"{end}ms\"/></rect>"
    );
    for y in 0..first.area.height {
        let mut shown: BTreeMap<String, Vec<(u32, u32)>> = BTreeMap::new();
        let ends = frames.iter().skip(1).map(|(at, _)| *at).chain([end]);
        for ((from, frame), to) in frames.iter().zip(ends) {
            let mut row = String::new();
            write_row(&mut row, frame, y, ground);
            let times = shown.entry(row).or_default();
            match times.last_mut() {
                Some(last) if last.1 == *from => last.1 = to,
                _ => times.push((*from, to)),
            }
        }
        for (row, times) in shown.into_iter().filter(|(row, _)| !row.is_empty()) {
            if times == [(0, end)] {
                svg.push_str(&row);
                continue;
            }
            let is_still = times.iter().any(|(from, to)| (*from..*to).contains(&middle));
            let (still, then, spans) = if is_still {
                ("visible", "hidden", between(&times, (*start, end)))
            } else {
                ("hidden", "visible", times)
            };
            let _ = write!(svg, "<g visibility=\"{still}\">");
            for (from, to) in spans {
                let _ = write!(
                    svg,
                    "<set attributeName=\"visibility\" to=\"{then}\" begin=\"t.begin+{from}ms\" dur=\"{}ms\"/>",
                    to.saturating_sub(from)
                );
            }
            let _ = writeln!(svg, "\n{row}</g>");
        }
    }
    svg.push_str("</svg>\n");
    svg
}

/// The times between these, from the start to the end.
fn between(times: &[(u32, u32)], (start, end): (u32, u32)) -> Vec<(u32, u32)> {
    let before = std::iter::once(start).chain(times.iter().map(|(_, to)| *to));
    let gaps = before.zip(times.iter().map(|(from, _)| *from).chain([end]));
    gaps.filter(|(from, to)| from < to).collect()
}

/// The ground of the whole frame.
fn ground(buffer: &Buffer) -> Rgb {
    buffer.cell((0, 0)).map_or(OWN.1, |cell| CellStyle::of(cell).ground)
}

fn opening(buffer: &Buffer, ground: Rgb) -> String {
    let (width, height) = (f32::from(buffer.area.width) * CELL.0, f32::from(buffer.area.height) * CELL.1);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.1} {height:.1}\" width=\"{width:.1}\" \
         height=\"{height:.1}\" font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\" \
         font-size=\"14\" shape-rendering=\"crispEdges\">\n<rect width=\"100%\" height=\"100%\" fill=\"{ground}\"/>\n"
    )
}

/// Writes a row of the frame; nothing if it is empty.
fn write_row(svg: &mut String, buffer: &Buffer, y: u16, ground: Rgb) {
    let mut x = 0;
    while x < buffer.area.width {
        let Some(first) = buffer.cell((x, y)) else {
            break;
        };
        let style = CellStyle::of(first);
        let (from, mut text) = (x, String::new());
        while let Some(cell) = buffer.cell((x, y)).filter(|cell| CellStyle::of(cell) == style) {
            text.push_str(cell.symbol());
            x += columns(cell);
            // What follows a wide character keeps its column, whatever the font.
            if columns(cell) > 1 {
                break;
            }
        }
        style.write(svg, ground, (from, y), x - from, &text);
    }
}

/// The columns that a cell's character fills. The cells behind a wide one are no part of the picture: after a change
/// they may still hold earlier text.
pub fn columns(cell: &Cell) -> u16 {
    cell.symbol().cell_width().max(1)
}

/// The look of a character.
#[derive(Clone, Copy, PartialEq, Eq)]
struct CellStyle {
    ink: Rgb,
    ground: Rgb,
    bold: bool,
    underlined: bool,
}

impl CellStyle {
    fn of(cell: &Cell) -> Self {
        let colour = |colour: Color, own: Rgb| match colour {
            Color::Rgb(red, green, blue) => Rgb(red, green, blue),
            // Themes use no other colours at that depth.
            _ => own,
        };
        let (mut ink, mut ground) = (colour(cell.fg, OWN.0), colour(cell.bg, OWN.1));
        if cell.modifier.contains(Modifier::REVERSED) {
            std::mem::swap(&mut ink, &mut ground);
        }
        Self {
            ink,
            ground,
            bold: cell.modifier.contains(Modifier::BOLD),
            underlined: cell.modifier.contains(Modifier::UNDERLINED),
        }
    }

    /// Writes a run of `columns` columns at a column and row. The ground `drawn` is already there.
    fn write(self, svg: &mut String, drawn: Rgb, at: (u16, u16), columns: u16, text: &str) {
        let (x, y) = (f32::from(at.0) * CELL.0, f32::from(at.1) * CELL.1);
        let width = f32::from(columns) * CELL.0;
        if self.ground != drawn {
            let _ = writeln!(
                svg,
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{:.1}\" fill=\"{}\"/>",
                CELL.1, self.ground
            );
        }
        let (drawn, text) = shapes(text, (x, y));
        if !drawn.is_empty() {
            let _ = writeln!(svg, "<path d=\"{drawn}\" fill=\"{}\"/>", self.ink);
        }
        if text.trim().is_empty() {
            return;
        }
        let bold = if self.bold { " font-weight=\"bold\"" } else { "" };
        let line = if self.underlined { " text-decoration=\"underline\"" } else { "" };
        // The columns keep their places even if the font has other widths.
        let _ = writeln!(
            svg,
            "<text x=\"{x:.1}\" y=\"{:.1}\" fill=\"{}\"{bold}{line} textLength=\"{width:.1}\" \
             lengthAdjust=\"spacingAndGlyphs\" xml:space=\"preserve\">{}</text>",
            y + 13.5,
            self.ink,
            Escaped(&text)
        );
    }
}

/// The path of the blocks and lines in a run of text that begins at `(left, top)`, and the text with blanks in their
/// place. Drawn as shapes they fill their cells and meet their neighbours, whatever the font.
fn shapes(text: &str, (left, top): (f32, f32)) -> (String, String) {
    let mut path = String::new();
    let mut rest = String::new();
    let mut x = left;
    // The last part, as long as the next one continues it: its top, height and begin.
    let mut open: Option<(f32, f32, f32)> = None;
    let close = |path: &mut String, open: &mut Option<(f32, f32, f32)>, x: f32| {
        if let Some((y, height, begin)) = open.take() {
            let _ = write!(path, "M{begin:.1} {y:.1}h{:.1}v{height:.1}h-{:.1}z", x - begin, x - begin);
        }
    };
    for letter in text.chars() {
        let width = unicode_width::UnicodeWidthChar::width(letter).unwrap_or(0);
        let across = match letter {
            '█' => Some((0.0, CELL.1)),
            '▀' => Some((0.0, CELL.1 / 2.0)),
            '▄' => Some((CELL.1 / 2.0, CELL.1 / 2.0)),
            '─' => Some((MIDDLE.1 - THIN / 2.0, THIN)),
            '━' => Some((MIDDLE.1 - THICK / 2.0, THICK)),
            _ => None,
        };
        let across = across.map(|(y, height)| (top + y, height));
        if across != open.map(|(y, height, _)| (y, height)) {
            close(&mut path, &mut open, x);
            open = across.map(|(y, height)| (y, height, x));
        }
        let upright = match letter {
            '▌' => Some((0.0, CELL.0 / 2.0)),
            '▐' => Some((CELL.0 / 2.0, CELL.0 / 2.0)),
            '│' => Some((MIDDLE.0 - THIN / 2.0, THIN)),
            '┃' => Some((MIDDLE.0 - THICK / 2.0, THICK)),
            _ => None,
        };
        if let Some((from, width)) = upright {
            let _ = write!(path, "M{:.1} {top:.1}h{width:.1}v{:.1}h-{width:.1}z", x + from, CELL.1);
        }
        let is_corner = corner(&mut path, letter, (x, top));
        let is_drawn = across.is_some() || upright.is_some() || is_corner;
        rest.push(if is_drawn { ' ' } else { letter });
        x += CELL.0 * f32::from(u8::try_from(width).unwrap_or(0));
    }
    close(&mut path, &mut open, x);
    (path, rest)
}

/// Draws a corner of lines; whether the letter is one.
fn corner(path: &mut String, letter: char, (x, y): (f32, f32)) -> bool {
    let (right, down, width) = match letter {
        '╭' | '┌' => (true, true, THIN),
        '╮' | '┐' => (false, true, THIN),
        '╰' | '└' => (true, false, THIN),
        '╯' | '┘' => (false, false, THIN),
        '┏' => (true, true, THICK),
        '┓' => (false, true, THICK),
        '┗' => (true, false, THICK),
        '┛' => (false, false, THICK),
        _ => return false,
    };
    let half = width / 2.0;
    let (from, to) = if right { (MIDDLE.0 - half, CELL.0) } else { (0.0, MIDDLE.0 + half) };
    let (above, below) = if down { (MIDDLE.1 - half, CELL.1) } else { (0.0, MIDDLE.1 + half) };
    let _ = write!(
        path,
        "M{:.1} {:.1}h{:.1}v{width:.1}h-{:.1}zM{:.1} {:.1}h{width:.1}v{:.1}h-{width:.1}z",
        x + from,
        y + MIDDLE.1 - half,
        to - from,
        to - from,
        x + MIDDLE.0 - half,
        y + above,
        below - above,
    );
    true
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use unicode_width::UnicodeWidthStr as _;

    use super::*;

    /// Blocks and lines are shapes over whole cells, the rest is text at its place.
    #[test]
    fn blocks_and_lines_are_drawn() {
        let (path, rest) = shapes("a██▌─│b", (0.0, 18.0));
        assert_eq!(rest, "a     b");
        assert_eq!(
            path,
            "M8.4 18.0h16.8v18.0h-16.8zM25.2 18.0h4.2v18.0h-4.2zM33.6 26.5h8.4v1.0h-8.4zM45.7 18.0h1.0v18.0h-1.0z"
        );
        assert_eq!(
            shapes("╭", (0.0, 0.0)),
            ("M3.7 8.5h4.7v1.0h-4.7zM3.7 8.5h1.0v9.5h-1.0z".to_owned(), " ".to_owned())
        );
        assert_eq!(shapes("plain text", (0.0, 0.0)), (String::new(), "plain text".to_owned()));
    }

    /// ratatui sends no change for the cell behind a wide character.
    #[test]
    fn wide_name_hides_earlier_text() {
        let mut terminal = Terminal::new(TestBackend::new(8, 1)).unwrap();
        for text in ["abcdefgh", "日本─xy", "ab─cdefg"] {
            let Ok(_) = terminal.draw(|frame| frame.render_widget(text, frame.area()));
            let (_, rows) = changes(terminal.backend().buffer(), None);
            let rows = [&rows[0].1];
            let letters: String = rows[0].split('>').filter_map(|part| part.split('<').next()).collect();
            let letters: String = letters.split_whitespace().collect();
            assert_eq!(letters, text.replace('─', ""), "{}", rows[0]);
            // The line is drawn at its column, whatever is before it.
            let at = text.split_once('─').map(|(before, _)| before.width());
            assert!(at.is_none_or(|at| rows[0].contains(&format!("M{:.1} 8.5h8.4", at as f32 * CELL.0))));
        }
    }

    /// A row that looks as before is not written again, unless the ground is another or the frame has another size.
    #[test]
    fn only_changed_rows_are_written() {
        let written = |before: &Buffer, now: &Buffer| -> Vec<u16> {
            changes(now, Some(before)).1.iter().map(|(y, _)| *y).collect()
        };
        let one = Buffer::with_lines(["one", "two"]);
        let mut other = Buffer::with_lines(["one", "six"]);
        assert_eq!(written(&one, &one), [0; 0]);
        assert_eq!(written(&one, &other), [1]);
        assert_eq!(written(&one, &Buffer::with_lines(["one", "two", ""])), [0, 1, 2]);
        other[(0, 0)].bg = Color::Rgb(1, 2, 3);
        assert_eq!(written(&one, &other), [0, 1]);
        assert!(changes(&other, None).0 == "#010203");
    }

    #[test]
    fn a_film_writes_a_shared_row_once() {
        let frame = |lines: [&str; 2]| Buffer::with_lines(lines);
        let frames = [(0, frame(["one", "two"])), (500, frame(["one", "six"])), (900, frame(["one", "two"]))];
        let film = film(&frames, 1500);
        assert_eq!(film.matches(">one<").count(), 1);
        assert_eq!(film.matches(">two<").count(), 1);
        // "two" comes, goes and comes back; "six", which is seen where nothing moves, goes before and after.
        for (then, from, length) in
            [("visible", 0, 500), ("visible", 900, 600), ("hidden", 0, 500), ("hidden", 900, 600)]
        {
            let set = format!("to=\"{then}\" begin=\"t.begin+{from}ms\" dur=\"{length}ms\"");
            assert!(film.contains(&set), "{set}: {film}");
        }
        assert_eq!(film.matches("<set ").count(), 4);
        assert_eq!(super::film(&[], 10), "");
    }

    /// A renderer that cannot animate shows what is visible by itself: the frame in the middle, and nothing else.
    #[test]
    fn middle_frame_of_a_film_stands_still() {
        let frames: Vec<(u32, Buffer)> = [["one", "two"], ["six", "two"], ["six", "ten"], ["one", "ten"]]
            .into_iter()
            .zip([0, 100, 200, 300])
            .map(|(lines, at)| (at, Buffer::with_lines(lines)))
            .collect();
        let film = film(&frames, 400);
        let mut seen = film.clone();
        while let Some(at) = seen.find("<g visibility=\"hidden\">") {
            let length = seen[at..].find("</g>").unwrap();
            seen.replace_range(at..at + length, "");
        }
        for (word, is_seen) in [("one", false), ("two", false), ("six", true), ("ten", true)] {
            let text = format!(">{word}<");
            assert!(film.contains(&text));
            assert_eq!(seen.contains(&text), is_seen, "{word}");
        }
    }
}
