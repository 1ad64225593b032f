//! Themes: the style of each kind of thing on the screen, in as many colours as the terminal supports.
//!
//! Colour never carries information alone: ranks, suits, sizes, turns and choices also show as letters and shapes.
//! Themes are defined in 24-bit colours. A terminal with 256 colours gets the nearest fixed ones; one without colours
//! gets bold, underlined and reversed text.

use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols::border;

use crate::appearance::{Pyramids, ThemeName};

/// How many colours a terminal supports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Depth {
    /// None.
    Mono,
    /// The 240 fixed colours of a 256-colour palette.
    #[default]
    Indexed,
    /// 24-bit colours.
    True,
}

impl Depth {
    /// The colours that the terminal advertises in the environment: `NO_COLOR`, `COLORTERM`, `TERM`.
    pub fn from_environment(variable: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        if set("NO_COLOR").is_some() || set("TERM").is_some_and(|term| term == "dumb") {
            return Self::Mono;
        }
        match set("COLORTERM").as_deref() {
            Some("truecolor" | "24bit") => Self::True,
            _ => Self::Indexed,
        }
    }
}

/// A 24-bit colour.
type Rgb = (u8, u8, u8);

/// The colours of a theme.
#[derive(Clone, Copy, Debug)]
struct Palette {
    ground: Rgb,
    /// Background of panels.
    panel: Rgb,
    /// Background of every other square of a board.
    checker: Rgb,
    /// Faces of cards.
    paper: Rgb,
    /// Faces of cards that cannot be chosen now.
    faded: Rgb,
    /// Background of the focused thing, and the same among the fixed 256 colours.
    focus: (Rgb, u8),
    text: Rgb,
    faint: Rgb,
    strong: Rgb,
    accent: Rgb,
    good: Rgb,
    bad: Rgb,
    lit: Rgb,
    /// Winds, flames, stones, waves, leaves, gods; also any other six kinds.
    suits: [Rgb; 6],
    /// Black, red, blue, yellow, green, orange, in shades readable on the background.
    rainbow: [Rgb; 6],
    /// White, orange, cyan, clear, purple, and a sixth.
    xeno: [Rgb; 6],
}

const DARK: Palette = Palette {
    ground: (0x14, 0x16, 0x1b),
    panel: (0x1c, 0x20, 0x28),
    checker: (0x25, 0x28, 0x30),
    paper: (0x2a, 0x2f, 0x3a),
    faded: (0x1e, 0x21, 0x29),
    focus: ((0x23, 0x37, 0x50), 17),
    text: (0xd5, 0xd9, 0xe0),
    faint: (0x9a, 0xa2, 0xb0),
    strong: (0xff, 0xff, 0xff),
    accent: (0xf0, 0xc0, 0x60),
    good: (0x7f, 0xd1, 0x8b),
    bad: (0xff, 0x8a, 0x75),
    lit: (0x6c, 0xc4, 0xff),
    suits: [
        (0x8f, 0xd8, 0xe8),
        (0xff, 0x8a, 0x65),
        (0xb8, 0xb8, 0xc4),
        (0x7a, 0xa8, 0xff),
        (0x8f, 0xd1, 0x6f),
        (0xe0, 0x9c, 0xff),
    ],
    rainbow: [
        (0xb0, 0xb4, 0xc0),
        (0xff, 0x7b, 0x72),
        (0x79, 0xa8, 0xff),
        (0xf2, 0xd0, 0x5c),
        (0x7f, 0xd1, 0x6f),
        (0xff, 0xa6, 0x57),
    ],
    xeno: [
        (0xf4, 0xf4, 0xf4),
        (0xff, 0xa6, 0x57),
        (0x6f, 0xdf, 0xe6),
        (0xb6, 0xbe, 0xcc),
        (0xc7, 0x9b, 0xff),
        (0xf2, 0x8b, 0xc1),
    ],
};

const LIGHT: Palette = Palette {
    ground: (0xf7, 0xf4, 0xec),
    panel: (0xec, 0xe5, 0xd3),
    checker: (0xec, 0xe8, 0xdc),
    paper: (0xff, 0xfd, 0xf6),
    faded: (0xf2, 0xee, 0xe4),
    focus: ((0xe0, 0xec, 0xf9), 189),
    text: (0x26, 0x28, 0x2e),
    faint: (0x5c, 0x5a, 0x52),
    strong: (0x00, 0x00, 0x00),
    accent: (0x85, 0x55, 0x00),
    good: (0x1c, 0x6e, 0x2e),
    bad: (0xa8, 0x1e, 0x16),
    lit: (0x0b, 0x54, 0xa8),
    suits: [
        (0x00, 0x66, 0x78),
        (0xb0, 0x38, 0x10),
        (0x55, 0x55, 0x60),
        (0x1d, 0x4f, 0xb8),
        (0x2c, 0x6a, 0x14),
        (0x7a, 0x28, 0xa8),
    ],
    rainbow: [
        (0x20, 0x20, 0x28),
        (0xb0, 0x20, 0x1c),
        (0x1d, 0x4f, 0xb8),
        (0x7a, 0x5c, 0x00),
        (0x24, 0x6c, 0x18),
        (0xa8, 0x4a, 0x00),
    ],
    xeno: [
        (0x40, 0x40, 0x40),
        (0xa8, 0x4a, 0x00),
        (0x00, 0x68, 0x78),
        (0x5c, 0x64, 0x74),
        (0x6c, 0x2c, 0xb0),
        (0xa0, 0x20, 0x68),
    ],
};

const CONTRAST: Palette = Palette {
    ground: (0x00, 0x00, 0x00),
    panel: (0x12, 0x12, 0x12),
    checker: (0x26, 0x26, 0x26),
    paper: (0x1c, 0x1c, 0x1c),
    faded: (0x00, 0x00, 0x00),
    focus: ((0x00, 0x00, 0x5f), 17),
    text: (0xff, 0xff, 0xff),
    faint: (0xd0, 0xd0, 0xd0),
    strong: (0xff, 0xff, 0xff),
    accent: (0xff, 0xe0, 0x00),
    good: (0x5f, 0xff, 0x87),
    bad: (0xff, 0x9a, 0x8a),
    lit: (0x5f, 0xff, 0xff),
    suits: [
        (0x5f, 0xff, 0xff),
        (0xff, 0xaf, 0x5f),
        (0xff, 0xff, 0xff),
        (0x9f, 0xc8, 0xff),
        (0x87, 0xff, 0x5f),
        (0xff, 0xaf, 0xff),
    ],
    rainbow: [
        (0xff, 0xff, 0xff),
        (0xff, 0x9a, 0x8a),
        (0x9f, 0xc8, 0xff),
        (0xff, 0xff, 0x5f),
        (0x87, 0xff, 0x5f),
        (0xff, 0xaf, 0x5f),
    ],
    xeno: [
        (0xff, 0xff, 0xff),
        (0xff, 0xaf, 0x5f),
        (0x5f, 0xff, 0xff),
        (0xd0, 0xd0, 0xd0),
        (0xd7, 0xaf, 0xff),
        (0xff, 0xaf, 0xd7),
    ],
};

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

const ASCII_DOUBLE: border::Set<'static> = border::Set {
    top_left: "#",
    top_right: "#",
    bottom_left: "#",
    bottom_right: "#",
    vertical_left: "#",
    vertical_right: "#",
    horizontal_top: "=",
    horizontal_bottom: "=",
};

const ASCII_FOCUS: border::Set<'static> = border::Set {
    top_left: "*",
    top_right: "*",
    bottom_left: "*",
    bottom_right: "*",
    vertical_left: "*",
    vertical_right: "*",
    horizontal_top: "*",
    horizontal_bottom: "*",
};

/// The colours of pyramids, as the games name them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pigment {
    /// Spirit.
    Black,
    /// Fire.
    Red,
    /// Water.
    Blue,
    /// Air.
    Yellow,
    /// Earth.
    Green,
    /// The fifth colour if there is no black.
    Orange,
}

/// The styles and glyphs for this terminal.
#[derive(Clone, Copy, Debug)]
pub struct Theme {
    palette: Option<Palette>,
    depth: Depth,
    pyramids: Pyramids,
    ascii: bool,
}

impl Default for Theme {
    fn default() -> Self {
        Self::new(ThemeName::Dark, Depth::Indexed, Pyramids::Rainbow, false)
    }
}

impl Theme {
    pub fn new(name: ThemeName, depth: Depth, pyramids: Pyramids, ascii: bool) -> Self {
        let palette = match name {
            _ if depth == Depth::Mono => None,
            ThemeName::Dark => Some(DARK),
            ThemeName::Light => Some(LIGHT),
            ThemeName::HighContrast => Some(CONTRAST),
            ThemeName::Mono => None,
        };
        Self {
            palette,
            depth,
            pyramids,
            ascii,
        }
    }

    /// Whether to draw ASCII only.
    pub fn is_ascii(&self) -> bool {
        self.ascii
    }

    fn foreground(&self, pick: impl Fn(&Palette) -> Rgb) -> Style {
        match &self.palette {
            Some(palette) => Style::new().fg(self.colour(pick(palette))),
            None => Style::new(),
        }
    }

    fn colour(&self, (red, green, blue): Rgb) -> Color {
        if self.depth == Depth::True {
            Color::Rgb(red, green, blue)
        } else {
            Color::Indexed(nearest((red, green, blue)))
        }
    }

    /// Text on the background; everything is drawn over this.
    pub fn text(&self) -> Style {
        match &self.palette {
            Some(palette) => Style::new()
                .fg(self.colour(palette.text))
                .bg(self.colour(palette.ground)),
            None => Style::new(),
        }
    }

    /// The colour of [`Self::text`] alone, for text on paper.
    pub fn ink(&self) -> Style {
        self.foreground(|palette| palette.text)
    }

    /// Background of a panel: filled, so that it needs no frame. `None` in mono, where it has one.
    pub fn panel(&self) -> Option<Style> {
        let palette = self.palette.as_ref()?;
        Some(Style::new().bg(self.colour(palette.panel)))
    }

    /// Background of every other square of a board. Mono has no colour for it; there the board marks its squares by
    /// other means.
    pub fn checker(&self) -> Style {
        match &self.palette {
            Some(palette) => Style::new().bg(self.colour(palette.checker)),
            None => Style::new(),
        }
    }

    /// Less important text. In mono only its position shows that.
    pub fn faint(&self) -> Style {
        self.foreground(|palette| palette.faint)
    }

    /// Headings.
    pub fn title(&self) -> Style {
        self.foreground(|palette| palette.strong).add_modifier(Modifier::BOLD)
    }

    /// Text to notice first: whose turn it is, the name of the program.
    pub fn accent(&self) -> Style {
        self.foreground(|palette| palette.accent).add_modifier(Modifier::BOLD)
    }

    /// A key to press.
    pub fn key(&self) -> Style {
        self.accent()
    }

    /// Gains, and checks that have passed.
    pub fn good(&self) -> Style {
        self.foreground(|palette| palette.good)
    }

    /// Losses and warnings.
    pub fn bad(&self) -> Style {
        self.foreground(|palette| palette.bad)
    }

    /// Targets that can be chosen next.
    pub fn lit(&self) -> Style {
        self.foreground(|palette| palette.lit).add_modifier(Modifier::BOLD)
    }

    /// The focused target: one flat background. Mono reverses it.
    pub fn focused(&self) -> Style {
        let style = Style::new().add_modifier(Modifier::BOLD);
        match &self.palette {
            Some(palette) if self.depth == Depth::True => style.bg(self.colour(palette.focus.0)),
            Some(palette) => style.bg(Color::Indexed(palette.focus.1)),
            None => style.add_modifier(Modifier::REVERSED),
        }
    }

    /// A background between the ground and another colour.
    fn tinted(&self, part: u16, pick: impl Fn(&Palette) -> Rgb) -> Style {
        let palette = self.palette.as_ref();
        palette.map_or_else(Style::new, |palette| {
            Style::new().bg(self.colour(blend(palette.ground, pick(palette), part)))
        })
    }

    /// Background of the squares that a piece can reach. Mono has none.
    pub fn reach(&self) -> Style {
        self.tinted(REACH, |palette| palette.focus.0)
    }

    /// Background of special squares of a board: stone in the colour of gold. Mono has none.
    pub fn stone(&self) -> Style {
        self.tinted(STONE, |palette| palette.accent)
    }

    /// The face of a card, so that it is an object and not an outline; `can_be_chosen` or not.
    pub fn paper(&self, can_be_chosen: bool) -> Style {
        match &self.palette {
            Some(palette) if can_be_chosen => Style::new().bg(self.colour(palette.paper)),
            Some(palette) => Style::new().bg(self.colour(palette.faded)),
            None => Style::new(),
        }
    }

    /// The colour of one of six suits.
    pub fn suit(&self, suit: u8) -> Style {
        self.foreground(|palette| {
            let suits = &palette.suits;
            suits.get(usize::from(suit)).copied().unwrap_or(palette.text)
        })
    }

    /// The colour of a pyramid. Its letter must be shown too.
    pub fn pigment(&self, pigment: Pigment) -> Style {
        self.foreground(|palette| {
            let set = match self.pyramids {
                Pyramids::Rainbow => &palette.rainbow,
                Pyramids::Xeno => &palette.xeno,
            };
            set.get(pigment as usize).copied().unwrap_or(palette.text)
        })
    }

    /// A thin border.
    pub fn border(&self) -> border::Set<'static> {
        if self.ascii { ASCII_BORDER } else { border::ROUNDED }
    }

    /// The border of a spot that can be chosen.
    pub fn lit_border(&self) -> border::Set<'static> {
        if self.ascii { ASCII_DOUBLE } else { border::DOUBLE }
    }

    /// The border of a card that can be chosen. With colours its paper shows that.
    pub fn choosable_border(&self) -> border::Set<'static> {
        if self.palette.is_some() {
            self.border()
        } else {
            self.lit_border()
        }
    }

    /// The border of the focused card.
    pub fn focus_border(&self) -> border::Set<'static> {
        if self.ascii { ASCII_FOCUS } else { border::THICK }
    }

    /// The lattice on the back of a card.
    pub fn back(&self) -> Style {
        self.foreground(|palette| palette.accent)
    }

    /// Whether pyramids carry their letters, because colours do not tell them apart.
    pub fn shows_letters(&self) -> bool {
        self.palette.is_none()
    }

    /// ASCII without colours.
    pub fn ascii() -> Self {
        Self::new(ThemeName::Mono, Depth::Mono, Pyramids::Rainbow, true)
    }

    /// A glyph, or its ASCII replacement.
    pub fn glyph(&self, glyph: &'static str, ascii: &'static str) -> &'static str {
        if self.ascii { ascii } else { glyph }
    }
}

/// Hundredths of the focus in the tint of squares that can be reached.
const REACH: u16 = 55;
/// Hundredths of the accent in the tint of stone.
const STONE: u16 = 10;

/// A colour with so many hundredths of another one.
fn blend(from: Rgb, to: Rgb, part: u16) -> Rgb {
    let part = part.min(100);
    let mix = |a: u8, b: u8| {
        let mixed = (u16::from(a) * (100 - part) + u16::from(b) * part) / 100;
        u8::try_from(mixed).unwrap_or(a)
    };
    (mix(from.0, to.0), mix(from.1, to.1), mix(from.2, to.2))
}

/// The nearest of the 240 fixed colours of 256-colour terminals: a cube of six levels, and 24 greys.
fn nearest((red, green, blue): Rgb) -> u8 {
    const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    let level = |value: u8| {
        let far = |index: &usize| LEVELS.get(*index).map_or(u8::MAX, |l| l.abs_diff(value));
        (0..LEVELS.len()).min_by_key(far).unwrap_or(0)
    };
    let distance = |to: [u8; 3]| -> u32 {
        let apart = |(a, b): (u8, u8)| u32::from(a.abs_diff(b)).pow(2);
        to.into_iter().zip([red, green, blue]).map(apart).sum()
    };
    let cube = [level(red), level(green), level(blue)];
    let of_cube = cube.map(|index| LEVELS.get(index).copied().unwrap_or(0));
    let mean = (u16::from(red) + u16::from(green) + u16::from(blue)) / 3;
    let step = (mean.saturating_sub(3) / 10).min(23);
    let grey = u8::try_from(8 + 10 * step).unwrap_or(u8::MAX);
    let number = if distance([grey; 3]) < distance(of_cube) {
        232 + usize::from(step)
    } else {
        cube.iter().fold(0, |number, index| number * 6 + index) + 16
    };
    u8::try_from(number).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The WCAG 2 contrast ratio.
    fn contrast(a: Rgb, b: Rgb) -> f64 {
        let channel = |value: u8| {
            let value = f64::from(value) / 255.0;
            if value <= 0.039_28 {
                value / 12.92
            } else {
                ((value + 0.055) / 1.055).powf(2.4)
            }
        };
        let light = |(r, g, b): Rgb| 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b) + 0.05;
        let (a, b) = (light(a), light(b));
        if a > b { a / b } else { b / a }
    }

    #[test]
    fn every_colour_can_be_read_on_its_ground() {
        for (palette, least) in [(DARK, 4.5), (LIGHT, 4.5), (CONTRAST, 7.0)] {
            let Palette {
                ground,
                panel,
                checker,
                paper,
                faded,
                focus,
                text,
                faint,
                strong,
                accent,
                good,
                bad,
                lit,
                suits,
                rainbow,
                xeno,
            } = palette;
            let single = [text, faint, strong, accent, good, bad, lit];
            for colour in single.into_iter().chain(suits).chain(rainbow).chain(xeno) {
                let tints = [blend(ground, focus.0, REACH), blend(ground, accent, STONE)];
                for ground in [ground, panel, checker, paper, faded, focus.0].into_iter().chain(tints) {
                    let ratio = contrast(colour, ground);
                    assert!(ratio >= least, "{colour:x?} on {ground:x?}: {ratio:.1}");
                }
            }
        }
    }

    #[test]
    fn few_colours_are_the_nearest_of_many() {
        assert_eq!(nearest((0, 0, 0)), 16);
        assert_eq!(nearest((255, 255, 255)), 231);
        assert_eq!(nearest((255, 0, 0)), 196);
        assert_eq!(nearest((0x8a, 0x8a, 0x8a)), 245);
    }

    #[test]
    fn the_environment_says_how_many_colours_there_are() {
        let depth = |set: &[(&str, &str)]| {
            Depth::from_environment(|name| {
                let found = set.iter().find(|(key, _)| *key == name);
                found.map(|(_, value)| (*value).to_owned())
            })
        };
        assert_eq!(depth(&[]), Depth::Indexed);
        assert_eq!(depth(&[("COLORTERM", "truecolor")]), Depth::True);
        assert_eq!(depth(&[("NO_COLOR", "1"), ("COLORTERM", "24bit")]), Depth::Mono);
        assert_eq!(depth(&[("NO_COLOR", "")]), Depth::Indexed);
        assert_eq!(depth(&[("TERM", "dumb")]), Depth::Mono);
    }

    #[test]
    fn without_colours_nothing_is_coloured() {
        let theme = Theme::new(ThemeName::Light, Depth::Mono, Pyramids::Xeno, false);
        for style in [theme.text(), theme.faint(), theme.bad(), theme.suit(2)] {
            assert_eq!((style.fg, style.bg), (None, None));
        }
    }
}
