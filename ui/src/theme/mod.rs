//! Themes: the style of each kind of thing on the screen, in as many colours as the terminal supports.
//!
//! Colour never carries information alone: ranks, suits, sizes, turns and choices also show as letters and shapes.
//! Themes are TOML files in 24-bit colours: those of `ui/themes`, and the player's own. A terminal with 256 colours gets
//! the nearest fixed ones; one without colours gets bold, underlined and reversed text. "Mono" below means also a console,
//! whose grounds have no colours ([`Depth::Inks`]).

mod palette;

use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols::border;

pub use self::palette::{Palette, Rgb, ThemeError, Themes, luminance};
use crate::appearance::{Letters, Pyramids, ThemeName};

/// How many colours a terminal supports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Depth {
    /// None.
    Mono,
    /// The 16 of a console, which turns dark grounds into black: colours are for ink only.
    Inks,
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
        let term = set("TERM").unwrap_or_default();
        // Terminals of the VT series take the numbers of colours for blinking and the like.
        let vt = term.strip_prefix("vt");
        let is_vt = vt.is_some_and(|model| model.starts_with(|c: char| c.is_ascii_digit()));
        if set("NO_COLOR").is_some() || term == "dumb" || is_vt || term.ends_with("-m") || term.ends_with("-mono") {
            return Self::Mono;
        }
        if term.split(['.', '-']).any(|part| part == "linux") {
            return Self::Inks;
        }
        // GNU screen takes the parts of a 24-bit colour for attributes too, and hands its terminal's COLORTERM on. tmux
        // may also call itself "screen", but knows them.
        let in_screen = set("STY").is_some() || (term.starts_with("screen") && set("TMUX").is_none());
        match set("COLORTERM").as_deref() {
            Some("truecolor" | "24bit") if !in_screen => Self::True,
            _ => Self::Indexed,
        }
    }

    /// The depth, in words.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Mono => "no colours",
            Self::Inks => "16 colours",
            Self::Indexed => "256 colours",
            Self::True => "true colour",
        }
    }
}

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
    letters: Letters,
    ascii: bool,
}

impl Default for Theme {
    fn default() -> Self {
        Self::new(ThemeName::Dark, Depth::Indexed, Pyramids::Rainbow, false)
    }
}

impl Theme {
    pub fn new(name: ThemeName, depth: Depth, pyramids: Pyramids, ascii: bool) -> Self {
        Self::of(Palette::built_in(name), depth, pyramids, ascii)
    }

    /// The theme with these colours; `None` for a theme without colours.
    pub fn of(palette: Option<Palette>, depth: Depth, pyramids: Pyramids, ascii: bool) -> Self {
        Self { palette: palette.filter(|_| depth != Depth::Mono), depth, pyramids, letters: Letters::default(), ascii }
    }

    /// The theme with letters on pyramids as the player has set.
    pub fn with_letters(self, letters: Letters) -> Self {
        Self { letters, ..self }
    }

    /// Whether pyramids show the letter of their colour, and suits a sign that every font has: always in mono.
    pub fn shows_letters(&self) -> bool {
        self.grounds().is_none() || self.letters == Letters::Always
    }

    /// The colours of grounds, where the terminal shows them.
    fn grounds(&self) -> Option<&Palette> {
        self.palette.as_ref().filter(|_| self.depth != Depth::Inks)
    }

    /// Whether the terminal has colours, whatever the theme makes of them.
    pub fn has_colours(&self) -> bool {
        self.depth != Depth::Mono
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
            Some(palette) => Style::new().fg(self.colour(palette.text)).bg(self.colour(palette.ground)),
            None => Style::new(),
        }
    }

    /// The colour of [`Self::text`] alone, for text on paper.
    pub fn ink(&self) -> Style {
        self.foreground(|palette| palette.text)
    }

    /// Background of a panel: filled, so that it needs no frame. `None` in mono, where it has one.
    pub fn panel(&self) -> Option<Style> {
        let palette = self.grounds()?;
        Some(Style::new().bg(self.colour(palette.panel)))
    }

    /// Background of every other square of a board. Mono has no colour for it; there the board marks its squares by
    /// other means.
    pub fn checker(&self) -> Style {
        match self.grounds() {
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

    /// The lines of a frame with the focus. They are thick, so only mono makes them bold too.
    pub fn focus_edge(&self) -> Style {
        match self.palette {
            Some(_) => self.foreground(|palette| palette.lit),
            None => self.lit(),
        }
    }

    /// The focused target: one flat background. Mono reverses it.
    pub fn focused(&self) -> Style {
        let style = Style::new().add_modifier(Modifier::BOLD);
        match self.grounds() {
            Some(palette) => match palette.focus_256 {
                Some(index) if self.depth == Depth::Indexed => style.bg(Color::Indexed(index)),
                _ => style.bg(self.colour(palette.focus)),
            },
            None => style.add_modifier(Modifier::REVERSED),
        }
    }

    /// A background between the ground and another colour.
    fn tinted(&self, part: u16, pick: impl Fn(&Palette) -> Rgb) -> Style {
        let palette = self.grounds();
        palette
            .map_or_else(Style::new, |palette| Style::new().bg(self.colour(blend(palette.ground, pick(palette), part))))
    }

    /// Background of the squares that a piece can reach. Mono has none.
    pub fn reach(&self) -> Style {
        self.tinted(REACH, |palette| palette.focus)
    }

    /// Background of special squares of a board: stone in the colour of gold. Mono has none.
    pub fn stone(&self) -> Style {
        self.tinted(STONE, |palette| palette.accent)
    }

    /// The face of a card, so that it is an object and not an outline; `can_be_chosen` or not.
    pub fn paper(&self, can_be_chosen: bool) -> Style {
        match self.grounds() {
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

    /// The colour of a pyramid. Its letter is shown too if [`Self::shows_letters`].
    pub fn pigment(&self, pigment: Pigment) -> Style {
        let Some(palette) = &self.palette else {
            return Style::new();
        };
        let set = match self.pyramids {
            Pyramids::Rainbow => &palette.rainbow,
            Pyramids::Xeno => &palette.xeno,
        };
        // Where letters are shown, one colour may stand for two.
        if self.depth == Depth::Indexed {
            return apart(set.iter().take(pigment as usize + 1)).map_or_else(Style::new, |at| Style::new().fg(at));
        }
        self.foreground(|palette| set.get(pigment as usize).copied().unwrap_or(palette.text))
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
        if self.grounds().is_some() { self.border() } else { self.lit_border() }
    }

    /// The border of the focused card.
    pub fn focus_border(&self) -> border::Set<'static> {
        if self.ascii { ASCII_FOCUS } else { border::THICK }
    }

    /// The lattice on the back of a card.
    pub fn back(&self) -> Style {
        self.foreground(|palette| palette.accent)
    }

    /// ASCII without colours.
    pub fn ascii() -> Self {
        Self::new(ThemeName::Mono, Depth::Mono, Pyramids::Rainbow, true)
    }

    /// A sign whose shape says something, such as a suit's: a glyph that many fonts lack, or its ASCII replacement. Where
    /// colours do not say the same, or the player wants letters, the glyph must not be needed.
    pub fn sign(&self, glyph: &'static str, ascii: &'static str) -> &'static str {
        if self.ascii || self.shows_letters() { ascii } else { glyph }
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

/// The levels of the cube among the fixed colours of 256-colour terminals.
const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];
/// The least distance of two pyramids' colours, by [`distance`]: a coral and an orange of the cube are nearer.
const APART: u32 = 9_500;

/// How different two colours look, squared. The eye sees green best and blue worst.
fn distance(one: Rgb, other: Rgb) -> u32 {
    let apart = |a: u8, b: u8| u32::from(a.abs_diff(b)).pow(2);
    2 * apart(one.0, other.0) + 4 * apart(one.1, other.1) + apart(one.2, other.2)
}

/// The fixed colour with a number of the cube, from 16 to 231, or of the greys after it.
fn fixed(number: u8) -> Rgb {
    let level = |at: u8| LEVELS.get(usize::from(at % 6)).copied().unwrap_or_default();
    match number.checked_sub(232) {
        Some(grey) => [8 + 10 * grey; 3].into(),
        None => {
            let number = number.saturating_sub(16);
            (level(number / 36), level(number / 6), level(number))
        }
    }
}

/// The fixed colour for the last of several colours: the nearest that looks different from those of the colours before
/// it, if there is one.
fn apart<'a>(colours: impl Iterator<Item = &'a Rgb>) -> Option<Color> {
    let mut taken: Vec<u8> = Vec::new();
    for colour in colours {
        let is_free = |number: &u8| taken.iter().all(|other| distance(fixed(*number), fixed(*other)) >= APART);
        let near = Some(nearest(*colour)).filter(is_free);
        let next = near.or_else(|| (16..=255).filter(is_free).min_by_key(|number| distance(fixed(*number), *colour)));
        taken.push(next.unwrap_or_else(|| nearest(*colour)));
    }
    taken.last().copied().map(Color::Indexed)
}

/// The nearest of the 240 fixed colours of 256-colour terminals: a cube of six levels, and 24 greys.
fn nearest((red, green, blue): Rgb) -> u8 {
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
        for term in ["dumb", "vt100", "vt220", "xterm-mono", "linux-m"] {
            assert_eq!(depth(&[("TERM", term), ("COLORTERM", "truecolor")]), Depth::Mono, "{term}");
        }
        for term in ["linux", "linux-16color", "screen.linux"] {
            assert_eq!(depth(&[("TERM", term), ("COLORTERM", "truecolor")]), Depth::Inks, "{term}");
        }
        assert_eq!(depth(&[("TERM", "vte-256color"), ("COLORTERM", "truecolor")]), Depth::True);
        let many = ("COLORTERM", "truecolor");
        for term in ["screen", "screen-256color", "screen.xterm-256color"] {
            assert_eq!(depth(&[("TERM", term), many]), Depth::Indexed, "{term}");
            assert_eq!(depth(&[("TERM", term), many, ("TMUX", "/tmp/t,1,0")]), Depth::True, "{term}");
            assert_eq!(depth(&[("TERM", term), many, ("TMUX", "")]), Depth::Indexed, "{term}");
        }
        for term in ["xterm-256color", "tmux-256color", ""] {
            let both = [("TERM", term), many, ("TMUX", "/tmp/t,1,0"), ("STY", "7.pts-0.host")];
            assert_eq!(depth(&both), Depth::Indexed, "{term}");
            assert_eq!(depth(&both[..2]), Depth::True, "{term}");
        }
    }

    /// A console shows dark grounds as black: what they would say is said as in mono.
    #[test]
    fn console_has_coloured_ink_on_one_ground() {
        let theme = Theme::new(ThemeName::Dark, Depth::Inks, Pyramids::Rainbow, true);
        assert!(theme.panel().is_none() && theme.shows_letters() && theme.has_colours());
        let grounds = [theme.checker(), theme.reach(), theme.stone(), theme.paper(true), theme.paper(false)];
        assert!(grounds.iter().all(|style| style.bg.is_none()));
        let focused = theme.focused();
        assert!(focused.bg.is_none() && focused.add_modifier.contains(Modifier::REVERSED));
        assert_eq!(theme.choosable_border(), theme.lit_border());
        assert!(theme.suit(1).fg.is_some() && theme.bad().fg.is_some());
    }

    #[test]
    fn without_colours_nothing_is_coloured() {
        let theme = Theme::new(ThemeName::Light, Depth::Mono, Pyramids::Xeno, false);
        for style in [theme.text(), theme.faint(), theme.bad(), theme.suit(2)] {
            assert_eq!((style.fg, style.bg), (None, None));
        }
        assert!(theme.shows_letters());
        assert_eq!(theme.sign("♣", "&"), "&");
        let coloured = Theme::default();
        assert_eq!(coloured.sign("♣", "&"), "♣");
        assert_eq!(coloured.with_letters(Letters::Always).sign("♣", "&"), "&");
    }

    /// In every theme and depth the pyramids of a set differ, or show letters.
    #[test]
    fn pyramids_differ_or_show_letters() {
        use Pigment::{Black, Blue, Green, Orange, Red, Yellow};

        let alike =
            Palette::parse("rainbow = [\"#b0b4c0\", \"#ff7b72\", \"#ff7c72\", \"#ff7d72\", \"#7fd16f\", \"#ff7e72\"]");
        let own = alike.unwrap();
        let built_in = [ThemeName::Dark, ThemeName::Light, ThemeName::HighContrast].map(Palette::built_in);
        for palette in built_in.into_iter().chain([Some(own)]) {
            for pyramids in [Pyramids::Rainbow, Pyramids::Xeno] {
                for depth in [Depth::Mono, Depth::Inks, Depth::Indexed, Depth::True] {
                    let theme = Theme::of(palette, depth, pyramids, false);
                    if theme.shows_letters() {
                        assert!(matches!(depth, Depth::Mono | Depth::Inks));
                        continue;
                    }
                    let inks = [Black, Red, Blue, Yellow, Green, Orange].map(|pigment| theme.pigment(pigment).fg);
                    for (number, ink) in inks.iter().enumerate() {
                        for other in &inks[..number] {
                            assert_ne!(ink, other, "{depth:?} {pyramids:?}: {inks:?}");
                            if let (Some(Color::Indexed(one)), Some(Color::Indexed(other))) = (*ink, *other) {
                                assert!(distance(fixed(one), fixed(other)) >= APART, "{pyramids:?}: {inks:?}");
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn fixed_colours_have_the_numbers_of_terminals() {
        assert_eq!(
            [16, 196, 209, 231, 232, 255].map(fixed),
            [(0, 0, 0), (255, 0, 0), (255, 135, 95), (255, 255, 255), (8, 8, 8), (238, 238, 238)]
        );
        for number in (16..=255).filter(|number| *number != 16) {
            assert_eq!(fixed(nearest(fixed(number))), fixed(number));
        }
    }
}
