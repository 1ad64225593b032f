//! Palettes: the colours of a theme, read from its TOML file, and the themes to choose from.

use std::collections::BTreeMap;
use std::slice::from_mut;
use std::sync::LazyLock;

use fairdeal_games::joined;
use toml::{Table, Value};

use crate::appearance::{ThemeChoice, ThemeName};

/// A 24-bit colour.
pub type Rgb = (u8, u8, u8);

/// The keys of a theme file.
const KEYS: [&str; 18] = [
    "base", "ground", "panel", "checker", "paper", "faded", "focus", FOCUS_256, "text", "faint", "strong", "accent",
    "good", "bad", "lit", "suits", "rainbow", "xeno",
];
/// The key of [`Palette::focus_256`].
const FOCUS_256: &str = "focus-256";

/// The colours of a theme.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Palette {
    pub(super) ground: Rgb,
    /// Background of panels.
    pub(super) panel: Rgb,
    /// Background of every other square of a board.
    pub(super) checker: Rgb,
    /// Faces of cards.
    pub(super) paper: Rgb,
    /// Faces of cards that cannot be chosen now.
    pub(super) faded: Rgb,
    /// Background of the focused thing.
    pub(super) focus: Rgb,
    /// The same among the fixed 256 colours, where the nearest one would be hard to see.
    pub(super) focus_256: Option<u8>,
    pub(super) text: Rgb,
    pub(super) faint: Rgb,
    pub(super) strong: Rgb,
    pub(super) accent: Rgb,
    pub(super) good: Rgb,
    pub(super) bad: Rgb,
    /// Frame of the focused thing.
    pub(super) lit: Rgb,
    /// Winds, flames, stones, waves, leaves, gods; also any other six kinds.
    pub(super) suits: [Rgb; 6],
    /// Black, red, blue, yellow, green, orange, in shades readable on the background.
    pub(super) rainbow: [Rgb; 6],
    /// White, orange, cyan, clear, purple, and a sixth.
    pub(super) xeno: [Rgb; 6],
}

/// A theme file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ThemeError {
    #[error("line {line}: {why}")]
    Syntax { line: usize, why: String },
    #[error("there is no key '{0}'; the keys are {keys}", keys = joined(&KEYS, "and"))]
    Key(String),
    #[error("base must be \"dark\", \"light\" or \"high-contrast\"")]
    Base,
    #[error("{0} must be a colour such as \"#14161b\": a hash and six hexadecimal digits in quotation marks")]
    Colour(String),
    #[error("{0} must be six colours: [\"#7fd1e8\", \"#ff8a5c\", …]")]
    Six(String),
    #[error("{FOCUS_256} must be a number from 16 to 255")]
    Index,
}

impl Palette {
    /// Reads a theme file: a base, by default dark, and the colours that differ from it.
    ///
    /// # Errors
    /// [`ThemeError`], which names the key and the allowed values.
    pub fn parse(text: &str) -> Result<Self, ThemeError> {
        let table = parsed(text)?;
        let base = match table.get("base") {
            None => Self::built_in(ThemeName::Dark),
            Some(base) => base.as_str().and_then(ThemeName::of).and_then(Self::built_in),
        };
        base.ok_or(ThemeError::Base)?.with(&table)
    }

    /// The colours of a built-in theme; `None` for mono, which has none.
    pub(super) fn built_in(name: ThemeName) -> Option<Self> {
        static ALL: LazyLock<[Option<Palette>; 3]> = LazyLock::new(|| {
            let texts = [
                include_str!("../../themes/dark.toml"),
                include_str!("../../themes/light.toml"),
                include_str!("../../themes/high-contrast.toml"),
            ];
            texts.map(|text| Palette::default().with(&parsed(text).ok()?).ok())
        });
        let [dark, light, high_contrast] = *ALL;
        match name {
            ThemeName::Dark => dark,
            ThemeName::Light => light,
            ThemeName::HighContrast => high_contrast,
            ThemeName::Mono => None,
        }
    }

    /// The palette with the colours of a file.
    fn with(mut self, table: &Table) -> Result<Self, ThemeError> {
        if table.contains_key("focus") {
            self.focus_256 = None;
        }
        for (key, value) in table {
            match key.as_str() {
                "base" => {}
                FOCUS_256 => {
                    let index = value.as_integer().and_then(|index| u8::try_from(index).ok());
                    self.focus_256 = Some(index.filter(|index| *index >= 16).ok_or(ThemeError::Index)?);
                }
                _ => {
                    let slot = self.slot(key).ok_or_else(|| ThemeError::Key(key.clone()))?;
                    fill(slot, key, value)?;
                }
            }
        }
        Ok(self)
    }

    /// The colours of a key.
    fn slot(&mut self, key: &str) -> Option<&mut [Rgb]> {
        let one = match key {
            "ground" => &mut self.ground,
            "panel" => &mut self.panel,
            "checker" => &mut self.checker,
            "paper" => &mut self.paper,
            "faded" => &mut self.faded,
            "focus" => &mut self.focus,
            "text" => &mut self.text,
            "faint" => &mut self.faint,
            "strong" => &mut self.strong,
            "accent" => &mut self.accent,
            "good" => &mut self.good,
            "bad" => &mut self.bad,
            "lit" => &mut self.lit,
            "suits" => return Some(&mut self.suits),
            "rainbow" => return Some(&mut self.rainbow),
            "xeno" => return Some(&mut self.xeno),
            _ => return None,
        };
        Some(from_mut(one))
    }
}

fn parsed(text: &str) -> Result<Table, ThemeError> {
    toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        let before = text.get(..at).unwrap_or("");
        ThemeError::Syntax { line: before.matches('\n').count() + 1, why: error.message().to_owned() }
    })
}

/// Writes the value of a key, one colour or six, into its place.
fn fill(slot: &mut [Rgb], key: &str, value: &Value) -> Result<(), ThemeError> {
    let values = match value {
        Value::Array(values) if slot.len() > 1 => values.as_slice(),
        value => std::slice::from_ref(value),
    };
    if values.len() != slot.len() {
        return Err(ThemeError::Six(key.to_owned()));
    }
    for (number, (place, value)) in slot.iter_mut().zip(values).enumerate() {
        let of_several = || format!("colour {} of {key}", number + 1);
        let name = || if values.len() > 1 { of_several() } else { key.to_owned() };
        *place = value.as_str().and_then(rgb).ok_or_else(|| ThemeError::Colour(name()))?;
    }
    Ok(())
}

/// A colour written as `#rrggbb`.
fn rgb(text: &str) -> Option<Rgb> {
    let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6)?;
    let two = |from: usize| {
        let pair = digits.get(from..from + 2)?;
        let plain = pair.bytes().all(|byte| byte.is_ascii_hexdigit());
        plain.then(|| u8::from_str_radix(pair, 16).ok()).flatten()
    };
    Some((two(0)?, two(2)?, two(4)?))
}

/// The relative luminance of WCAG 2: black is 0, white is 1.
pub fn luminance((red, green, blue): Rgb) -> f64 {
    let channel = |value: u8| {
        let value = f64::from(value) / 255.0;
        if value <= 0.039_28 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * channel(red) + 0.7152 * channel(green) + 0.0722 * channel(blue)
}

/// The themes to choose from.
#[derive(Clone, Debug, Default)]
pub struct Themes {
    /// The player's own, by the names of their files.
    pub own: BTreeMap<String, Palette>,
    /// Whether the terminal is light: the automatic theme follows it.
    pub is_light: bool,
}

impl Themes {
    /// Every choice, in the order of the settings.
    pub fn choices(&self) -> Vec<ThemeChoice> {
        let built_in = ThemeName::ALL.map(ThemeChoice::BuiltIn);
        let own = self.own.keys().cloned().map(ThemeChoice::Own);
        std::iter::once(ThemeChoice::Auto).chain(built_in).chain(own).collect()
    }

    /// The colours of a choice; `None` without colours. An own theme that is not there is dark.
    pub fn palette(&self, choice: &ThemeChoice) -> Option<Palette> {
        let built_in = match choice {
            ThemeChoice::Auto if self.is_light => ThemeName::Light,
            ThemeChoice::BuiltIn(name) => *name,
            ThemeChoice::Own(name) if self.own.contains_key(name) => return self.own.get(name).copied(),
            ThemeChoice::Auto | ThemeChoice::Own(_) => ThemeName::Dark,
        };
        Palette::built_in(built_in)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLOURED: [ThemeName; 3] = [ThemeName::Dark, ThemeName::Light, ThemeName::HighContrast];

    /// The WCAG 2 contrast ratio.
    fn contrast(a: Rgb, b: Rgb) -> f64 {
        let (a, b) = (luminance(a) + 0.05, luminance(b) + 0.05);
        if a > b { a / b } else { b / a }
    }

    #[test]
    fn built_in_themes_set_every_key() {
        for text in [
            include_str!("../../themes/dark.toml"),
            include_str!("../../themes/light.toml"),
            include_str!("../../themes/high-contrast.toml"),
        ] {
            let table = parsed(text).unwrap();
            Palette::default().with(&table).unwrap();
            let missing: Vec<_> = KEYS.iter().filter(|key| !table.contains_key(**key)).collect();
            assert_eq!(missing, [&"base"]);
        }
        assert_eq!(COLOURED.map(|name| Palette::built_in(name).is_some()), [true; 3]);
        assert_eq!(Palette::built_in(ThemeName::Mono), None);
    }

    #[test]
    fn every_colour_is_readable_on_every_background() {
        for (name, least) in COLOURED.into_iter().zip([4.5, 4.5, 7.0]) {
            let of = Palette::built_in(name).unwrap();
            let single = [of.text, of.faint, of.strong, of.accent, of.good, of.bad, of.lit];
            for ink in single.into_iter().chain(of.suits).chain(of.rainbow).chain(of.xeno) {
                for ground in [of.ground, of.panel, of.checker, of.paper, of.faded, of.focus] {
                    let ratio = contrast(ink, ground);
                    assert!(ratio >= least, "{name:?}: {ink:x?} on {ground:x?}: {ratio:.1}");
                }
            }
        }
    }

    /// CIE 1976 L*a*b* (ISO/CIE 11664-4) of an sRGB colour, with the white of D65.
    fn lab((r, g, b): Rgb) -> [f64; 3] {
        let linear = |c: u8| {
            let c = f64::from(c) / 255.0;
            if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        };
        let [r, g, b] = [r, g, b].map(linear);
        let x = (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.950_47;
        let y = 0.2126 * r + 0.7152 * g + 0.0722 * b;
        let z = (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.088_83;
        let root = |t: f64| if t > 0.008_856 { t.cbrt() } else { 7.787 * t + 16.0 / 116.0 };
        [116.0 * root(y) - 16.0, 500.0 * (root(x) - root(y)), 200.0 * (root(y) - root(z))]
    }

    /// Pyramids of two colours are not taken for the same: their distance in L*a*b* (CIE 1976) is 34 at least.
    #[test]
    fn colours_of_pyramids_differ() {
        for name in COLOURED {
            let [_, colours @ ..] = Palette::built_in(name).unwrap().rainbow;
            for (number, one) in colours.iter().enumerate() {
                for other in colours.iter().take(number) {
                    let [a, b] = [one, other].map(|colour| lab(*colour));
                    let squares: f64 = a.into_iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum();
                    assert!(squares.sqrt() >= 34.0, "{name:?}: {one:x?} and {other:x?}: {:.0}", squares.sqrt());
                }
            }
        }
    }

    #[test]
    fn own_theme_changes_colours_of_its_base() {
        let own = Palette::parse("base = \"light\"\nground = \"#FFFFFF\"\nfocus = \"#c0ffee\"").unwrap();
        let light = Palette::built_in(ThemeName::Light).unwrap();
        let expected = Palette { ground: (255, 255, 255), focus: (0xc0, 0xff, 0xee), focus_256: None, ..light };
        assert_eq!(own, expected);
        assert_eq!(Palette::parse("").ok(), Palette::built_in(ThemeName::Dark));
    }

    #[test]
    fn mistakes_name_the_key_and_what_is_right() {
        let told = |text: &str| Palette::parse(text).unwrap_err().to_string();
        for (text, parts) in [
            ("ground = \"red\"", ["ground must be a colour", "#14161b"]),
            ("ground = [\"#000000\"]", ["ground must be a colour", "six hexadecimal digits"]),
            ("ground = \"#+0+0+0\"", ["ground must be a colour", "#14161b"]),
            ("pnel = \"#000000\"", ["there is no key 'pnel'", "panel"]),
            ("base = \"dusk\"", ["base must be", "high-contrast"]),
            ("base = \"mono\"", ["base must be", "high-contrast"]),
            ("suits = [\"#000000\"]", ["suits must be six colours", "["]),
            ("focus-256 = 3", ["focus-256", "from 16 to 255"]),
            ("text = \"#ffffff\"\nground = ", ["line 2", ""]),
        ] {
            let told = told(text);
            assert!(parts.iter().all(|part| told.contains(part)), "{text}: {told}");
        }
        let six = format!("xeno = [{}3]", "\"#000000\", ".repeat(5));
        assert!(told(&six).contains("colour 6 of xeno must be a colour"));
    }

    #[test]
    fn automatic_theme_follows_the_terminal() {
        let mut themes = Themes::default();
        assert_eq!(themes.palette(&ThemeChoice::Auto), Palette::built_in(ThemeName::Dark));
        themes.is_light = true;
        assert_eq!(themes.palette(&ThemeChoice::Auto), Palette::built_in(ThemeName::Light));
        let absent = ThemeChoice::Own("dusk".to_owned());
        assert_eq!(themes.palette(&absent), Palette::built_in(ThemeName::Dark));
        themes.own.insert("dusk".to_owned(), Palette::default());
        assert_eq!(themes.palette(&absent), Some(Palette::default()));
        assert_eq!(themes.choices().last(), Some(&absent));
    }
}
