//! A frame as an SVG picture.

use std::fmt::Write as _;

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};

use crate::markup::Escaped;

/// The width and height of a character, in pixels.
const CELL: (f32, f32) = (8.4, 18.0);
/// The ink and ground that stand for the terminal's own colours.
const OWN: (&str, &str) = ("#d0d0d0", "#101010");

/// The frame as an SVG document: one text element for each run of equal style.
pub fn svg(buffer: &Buffer) -> String {
    let (columns, rows) = (buffer.area.width, buffer.area.height);
    let (width, height) = (f32::from(columns) * CELL.0, f32::from(rows) * CELL.1);
    let mut svg = String::new();
    let _ = writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.1} {height:.1}\" width=\"{width:.1}\" \
         height=\"{height:.1}\" font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\" \
         font-size=\"14\">"
    );
    let ground = buffer.cell((0, 0)).map(|cell| CellStyle::of(cell).ground);
    let ground = ground.unwrap_or_else(|| OWN.1.to_owned());
    let _ = writeln!(svg, "<rect width=\"100%\" height=\"100%\" fill=\"{ground}\"/>");
    for y in 0..rows {
        let mut x = 0;
        while x < columns {
            let Some(first) = buffer.cell((x, y)) else {
                break;
            };
            let style = CellStyle::of(first);
            let (from, mut text) = (x, String::new());
            while let Some(cell) = buffer.cell((x, y)).filter(|cell| CellStyle::of(cell) == style) {
                text.push_str(cell.symbol());
                x += 1;
            }
            style.write(&mut svg, &ground, (from, y), x - from, &text);
        }
    }
    svg.push_str("</svg>\n");
    svg
}

/// The look of a character.
#[derive(PartialEq, Eq)]
struct CellStyle {
    ink: String,
    ground: String,
    bold: bool,
    underlined: bool,
}

impl CellStyle {
    fn of(cell: &Cell) -> Self {
        let colour = |colour: Color, own: &str| match colour {
            Color::Rgb(red, green, blue) => format!("#{red:02x}{green:02x}{blue:02x}"),
            // Themes use no other colours at that depth.
            _ => own.to_owned(),
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
    fn write(&self, svg: &mut String, drawn: &str, at: (u16, u16), columns: u16, text: &str) {
        let (x, y) = (f32::from(at.0) * CELL.0, f32::from(at.1) * CELL.1);
        let width = f32::from(columns) * CELL.0;
        if self.ground != drawn {
            let _ = writeln!(
                svg,
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{:.1}\" fill=\"{}\"/>",
                CELL.1, self.ground
            );
        }
        if text.trim().is_empty() {
            return;
        }
        let bold = if self.bold { " font-weight=\"bold\"" } else { "" };
        let line = if self.underlined {
            " text-decoration=\"underline\""
        } else {
            ""
        };
        // The columns keep their places even if the font has other widths.
        let _ = writeln!(
            svg,
            "<text x=\"{x:.1}\" y=\"{:.1}\" fill=\"{}\"{bold}{line} textLength=\"{width:.1}\" \
             lengthAdjust=\"spacingAndGlyphs\" xml:space=\"preserve\">{}</text>",
            y + 13.5,
            self.ink,
            Escaped(text)
        );
    }
}
