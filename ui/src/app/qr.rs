//! A ticket as a QR code: dark modules on a light ground in every theme, because scanners want it so.

use qrcode::{Color as Module, EcLevel, QrCode};
use ratatui::layout::Rect;
use ratatui::style::{Color, Style};
use ratatui::text::{Line, Span};

use crate::canvas::Canvas;

/// Width of the light border, in modules, as the standard asks.
const QUIET: usize = 4;
/// Black and white of the fixed 256 colours.
const DARK: Color = Color::Indexed(16);
const LIGHT: Color = Color::Indexed(231);

#[derive(Clone, Debug)]
pub(super) struct Code {
    modules: Vec<Module>,
    width: usize,
    /// Whether to draw blanks only, two to a module; else half blocks, two modules to a cell.
    ascii: bool,
}

impl Code {
    /// The code of a ticket; `None` if it is too long. Tickets are read in either case, and capitals take less room.
    pub(super) fn of(ticket: &str, ascii: bool) -> Option<Self> {
        let code = QrCode::with_error_correction_level(ticket.to_ascii_uppercase(), EcLevel::L).ok()?;
        Some(Self {
            width: code.width(),
            modules: code.into_colors(),
            ascii,
        })
    }

    /// The columns and rows that the code needs, with its border.
    pub(super) fn size(&self) -> (u16, u16) {
        let all = self.width + 2 * QUIET;
        let (columns, rows) = if self.ascii {
            (2 * all, all)
        } else {
            (all, all.div_ceil(2))
        };
        let number = |size| u16::try_from(size).unwrap_or(u16::MAX);
        (number(columns), number(rows))
    }

    /// The colour of a module; the border begins at (0, 0).
    fn colour(&self, x: usize, y: usize) -> Color {
        let inside = |at: usize| at.checked_sub(QUIET).filter(|at| *at < self.width);
        let module = inside(x)
            .zip(inside(y))
            .and_then(|(x, y)| self.modules.get(y * self.width + x));
        match module {
            Some(Module::Dark) => DARK,
            _ => LIGHT,
        }
    }

    /// Draws the code from the top left of an area that is large enough for it.
    pub(super) fn draw(&self, canvas: &mut Canvas<'_>, area: Rect) {
        let all = self.width + 2 * QUIET;
        let row = |y: usize| -> Line<'static> {
            let cells = (0..all).map(|x| match self.ascii {
                true => Span::styled("  ", Style::new().bg(self.colour(x, y))),
                false => {
                    let (upper, lower) = (self.colour(x, 2 * y), self.colour(x, 2 * y + 1));
                    Span::styled("▀", Style::new().fg(upper).bg(lower))
                }
            });
            cells.collect()
        };
        let (_, rows) = self.size();
        canvas.rows(area, (0..usize::from(rows)).map(row));
    }
}

#[cfg(test)]
mod tests {
    use ratatui::buffer::Buffer;

    use super::*;
    use crate::canvas::{Layer, Marks};
    use crate::theme::Theme;

    const TICKET: &str =
        "fd1ecl5lcqknxxlm6oo2vihel4yswf4cyc6hvor6zaqqdtdtmtoobznvelwex23dtemjbacmaaacaidjudiufh6qaaaaaa";

    /// Pixels to a module.
    const PIXELS: usize = 4;

    /// A scanner reads what stands on the screen.
    #[test]
    fn drawn_code_can_be_scanned() {
        for (ascii, size) in [(false, (41, 21)), (true, (82, 41))] {
            let code = Code::of(TICKET, ascii).unwrap();
            assert_eq!(code.size(), size);
            let area = Rect::new(0, 0, size.0, size.1);
            let mut buffer = Buffer::empty(area);
            let (theme, marks, mut layer) = (Theme::default(), Marks::default(), Layer::default());
            code.draw(&mut Canvas::new(&mut buffer, &theme, &marks, None, &mut layer), area);
            let at = |x: usize, y: usize| {
                let (x, y) = (x / PIXELS, y / PIXELS);
                let (column, row) = if ascii { (2 * x, y) } else { (x, y / 2) };
                let cell = &buffer[(u16::try_from(column).unwrap(), u16::try_from(row).unwrap())];
                let colour = if !ascii && y % 2 == 0 { cell.fg } else { cell.bg };
                if colour == DARK { 0 } else { 255 }
            };
            let side = 41 * PIXELS;
            let mut image = rqrr::PreparedImage::prepare_from_greyscale(side, side, at);
            let grids = image.detect_grids();
            let (_, text) = grids.first().expect("there is a code").decode().unwrap();
            assert_eq!(text.to_ascii_lowercase(), TICKET);
        }
        assert!(Code::of(&"a".repeat(10_000), false).is_none());
    }
}
