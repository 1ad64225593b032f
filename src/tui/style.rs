//! Colours and glyphs: sixteen colours, none at all, or ASCII alone.
//!
//! Colour never says anything by itself: ranks, suits and turns also stand in letters.

use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols::border;

use super::TuiOptions;

/// How things look.
#[derive(Clone, Copy, Debug)]
pub(super) struct Theme {
    options: TuiOptions,
}

/// The suits of the Viashi deck by number, gods last.
const SUIT_COLOURS: [Color; 6] = [
    Color::LightCyan,
    Color::LightRed,
    Color::Gray,
    Color::LightBlue,
    Color::LightGreen,
    Color::LightMagenta,
];

const ASCII_BORDER: border::Set<'static> = border::Set {
    top_left: "+",
    top_right: "+",
    bottom_left: "+",
    bottom_right: "+",
    vertical_left: "|",
    vertical_right: "|",
    horizontal_top: "-",
    horizontal_bottom: "-",
};

impl Theme {
    pub(super) fn new(options: TuiOptions) -> Self {
        Self { options }
    }

    fn coloured(self, colour: Color) -> Style {
        if self.options.mono {
            Style::new()
        } else {
            Style::new().fg(colour)
        }
    }

    pub(super) fn suit(self, suit: u8) -> Style {
        let colour = SUIT_COLOURS
            .get(usize::from(suit))
            .copied()
            .unwrap_or(Color::White);
        self.coloured(colour)
    }

    pub(super) fn title(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    pub(super) fn faint(self) -> Style {
        self.coloured(Color::DarkGray)
    }

    pub(super) fn good(self) -> Style {
        self.coloured(Color::LightGreen)
    }

    pub(super) fn bad(self) -> Style {
        self.coloured(Color::LightRed)
    }

    pub(super) fn key(self) -> Style {
        self.coloured(Color::LightYellow)
            .add_modifier(Modifier::BOLD)
    }

    pub(super) fn selected(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED | Modifier::BOLD)
    }

    pub(super) fn border(self) -> border::Set<'static> {
        if self.options.ascii {
            ASCII_BORDER
        } else {
            border::ROUNDED
        }
    }

    /// One glyph, or its stand-in in ASCII.
    pub(super) fn glyph(self, glyph: &'static str, ascii: &'static str) -> &'static str {
        if self.options.ascii { ascii } else { glyph }
    }
}
