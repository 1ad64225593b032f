//! A ticket as a QR code: dark modules on a light ground in every theme, and without colours, because scanners want it so.

use qrcode::{Color as Module, EcLevel, QrCode};
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};

use crate::canvas::Canvas;

/// Width of the light border, in modules, as the standard asks.
const QUIET: usize = 4;
/// Where there is no room for that: phones read it.
const NARROW: usize = 2;
/// Black and white of the fixed 256 colours.
const DARK: Color = Color::Indexed(16);
const LIGHT: Color = Color::Indexed(231);

/// The ink of the modules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ink {
    /// Black and white.
    Colours,
    /// The terminal's own two colours: without others, they have to be told apart by characters. `light_ground` says which
    /// of the two is lighter.
    Own { light_ground: bool },
}

#[derive(Clone, Debug)]
pub(super) struct Code {
    modules: Vec<Module>,
    width: usize,
    quiet: usize,
    /// Whether to draw blanks only, two to a module; else half blocks, two modules to a cell.
    ascii: bool,
    ink: Ink,
}

impl Code {
    /// The code of a ticket; `None` if it is too long. Tickets are read in either case, and capitals take less room.
    pub(super) fn of(ticket: &str, ascii: bool, ink: Ink) -> Option<Self> {
        let code = QrCode::with_error_correction_level(ticket.to_ascii_uppercase(), EcLevel::L).ok()?;
        Some(Self { width: code.width(), modules: code.into_colors(), quiet: QUIET, ascii, ink })
    }

    /// With a narrower border, if only that fits into so many columns and rows.
    pub(super) fn fitted(self, columns: u16, rows: u16) -> Self {
        let fits = |code: &Self| {
            let (wide, high) = code.size();
            wide <= columns && high <= rows
        };
        let narrow = Self { quiet: NARROW, ..self.clone() };
        if !fits(&self) && fits(&narrow) { narrow } else { self }
    }

    /// The columns and rows that the code needs, with its border.
    pub(super) fn size(&self) -> (u16, u16) {
        let all = self.width + 2 * self.quiet;
        let (columns, rows) = if self.ascii { (2 * all, all) } else { (all, all.div_ceil(2)) };
        let number = |size| u16::try_from(size).unwrap_or(u16::MAX);
        (number(columns), number(rows))
    }

    /// Whether a module is dark; the border begins at (0, 0).
    fn is_dark(&self, x: usize, y: usize) -> bool {
        let inside = |at: usize| at.checked_sub(self.quiet).filter(|at| *at < self.width);
        let module = inside(x).zip(inside(y)).and_then(|(x, y)| self.modules.get(y * self.width + x));
        module == Some(&Module::Dark)
    }

    /// One module as two blanks.
    fn blanks(&self, x: usize, y: usize) -> Span<'static> {
        let is_dark = self.is_dark(x, y);
        let style = match self.ink {
            Ink::Colours => Style::new().bg(colour(is_dark)),
            Ink::Own { light_ground } if is_dark == light_ground => Style::new().add_modifier(Modifier::REVERSED),
            Ink::Own { .. } => Style::new(),
        };
        Span::styled("  ", style)
    }

    /// Two modules, one above the other, as one character.
    fn halves(&self, x: usize, y: usize) -> Span<'static> {
        let (upper, lower) = (self.is_dark(x, y), self.is_dark(x, y + 1));
        match self.ink {
            Ink::Colours => Span::styled("▀", Style::new().fg(colour(upper)).bg(colour(lower))),
            Ink::Own { light_ground } => Span::raw(match (upper == light_ground, lower == light_ground) {
                (true, true) => "█",
                (true, false) => "▀",
                (false, true) => "▄",
                (false, false) => " ",
            }),
        }
    }

    /// Draws the code from the top left of an area that is large enough for it.
    pub(super) fn draw(&self, canvas: &mut Canvas<'_>, area: Rect) {
        let all = self.width + 2 * self.quiet;
        let row = |y: usize| -> Line<'static> {
            let cells = (0..all).map(|x| if self.ascii { self.blanks(x, y) } else { self.halves(x, 2 * y) });
            cells.collect()
        };
        let (_, rows) = self.size();
        canvas.rows(area, (0..usize::from(rows)).map(row));
    }
}

fn colour(is_dark: bool) -> Color {
    if is_dark { DARK } else { LIGHT }
}

#[cfg(test)]
mod tests {
    use ratatui::buffer::{Buffer, Cell};

    use super::*;
    use crate::appearance::{Pyramids, ThemeName};
    use crate::canvas::{Layer, Marks};
    use crate::theme::{Depth, Theme};

    const TICKET: &str =
        "fd1ecl5lcqknxxlm6oo2vihel4yswf4cyc6hvor6zaqqdtdtmtoobznvelwex23dtemjbacmaaacaidjudiufh6qaaaaaa";

    /// Pixels to a module.
    const PIXELS: usize = 4;

    /// The brightness of half of a cell, as a terminal shows it whose own ground is light or not.
    fn brightness(cell: &Cell, lower: bool, light_ground: bool) -> u8 {
        let own = |colour, is_ground: bool| match colour {
            DARK => 0,
            LIGHT => 255,
            _ if is_ground == light_ground => 255,
            _ => 0,
        };
        let (mut ink, mut ground) = (own(cell.fg, false), own(cell.bg, true));
        if cell.modifier.contains(Modifier::REVERSED) {
            std::mem::swap(&mut ink, &mut ground);
        }
        match (cell.symbol(), lower) {
            ("█", _) | ("▀", false) | ("▄", true) => ink,
            _ => ground,
        }
    }

    /// In a window of 80 by 24 the code of a link has a narrower border; where even that does not fit, it keeps the whole
    /// one, of which the screen tells the size.
    #[test]
    fn border_is_narrower_where_there_is_no_room() {
        let link = format!("http://192.168.1.7:40123/#fd1{}", "a".repeat(150));
        let code = || Code::of(&link, false, Ink::Colours).unwrap();
        let (columns, rows) = code().size();
        assert_eq!(code().fitted(columns, rows).size(), (columns, rows));
        assert_eq!(code().fitted(80, rows - 1).size(), (columns - 4, rows - 2));
        assert_eq!(code().fitted(80, rows - 3).size(), (columns, rows));
    }

    /// A scanner reads what stands on the screen, with colours and without, on dark terminals and light ones.
    #[test]
    fn drawn_code_can_be_scanned() {
        let theme = Theme::new(ThemeName::Dark, Depth::Mono, Pyramids::Rainbow, false);
        assert!(!theme.has_colours() && Theme::default().has_colours());
        for (ascii, size) in [(false, (41, 21)), (true, (82, 41))] {
            for (ink, light_ground) in [
                (Ink::Colours, false),
                (Ink::Colours, true),
                (Ink::Own { light_ground: false }, false),
                (Ink::Own { light_ground: true }, true),
            ] {
                let code = Code::of(TICKET, ascii, ink).unwrap();
                assert_eq!(code.size(), size);
                let area = Rect::new(0, 0, size.0, size.1);
                let mut buffer = Buffer::empty(area);
                let (marks, mut layer) = (Marks::default(), Layer::default());
                code.draw(&mut Canvas::new(&mut buffer, &theme, &marks, None, &mut layer), area);
                let at = |x: usize, y: usize| {
                    let (x, y) = (x / PIXELS, y / PIXELS);
                    let (column, row) = if ascii { (2 * x, y) } else { (x, y / 2) };
                    let cell = &buffer[(u16::try_from(column).unwrap(), u16::try_from(row).unwrap())];
                    brightness(cell, !ascii && y % 2 == 1, light_ground)
                };
                let side = 41 * PIXELS;
                let mut image = rqrr::PreparedImage::prepare_from_greyscale(side, side, at);
                let grids = image.detect_grids();
                let (_, text) = grids.first().expect("there is a code").decode().unwrap();
                assert_eq!(text.to_ascii_lowercase(), TICKET, "{ascii} {ink:?}");
            }
        }
        assert!(Code::of(&"a".repeat(10_000), false, Ink::Colours).is_none());
    }
}
