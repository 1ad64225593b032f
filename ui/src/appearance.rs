//! The player's choice of colours, by name: stored in the settings, drawn by the interface.

use serde::{Deserialize, Serialize};

/// A built-in theme.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ThemeName {
    /// Light on dark.
    #[default]
    Dark,
    /// Dark on light.
    Light,
    /// White on black, with few strong colours.
    HighContrast,
    /// The terminal's own two colours.
    Mono,
}

impl ThemeName {
    pub const ALL: [Self; 4] = [Self::Dark, Self::Light, Self::HighContrast, Self::Mono];

    /// Its name in the settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dark => "dark",
            Self::Light => "light",
            Self::HighContrast => "high-contrast",
            Self::Mono => "mono",
        }
    }

    /// The theme with a name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|theme| theme.name() == name)
    }
}

/// The theme that the player has chosen; in the settings, its name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum ThemeChoice {
    /// Light on a light terminal, otherwise dark.
    #[default]
    Auto,
    BuiltIn(ThemeName),
    /// The player's own theme, by the name of its file.
    Own(String),
}

impl ThemeChoice {
    /// Its name in the settings.
    pub fn name(&self) -> &str {
        match self {
            Self::Auto => "auto",
            Self::BuiltIn(name) => name.name(),
            Self::Own(name) => name,
        }
    }
}

impl From<String> for ThemeChoice {
    fn from(name: String) -> Self {
        match ThemeName::of(&name) {
            Some(built_in) => Self::BuiltIn(built_in),
            None if name == Self::Auto.name() => Self::Auto,
            None => Self::Own(name),
        }
    }
}

impl From<ThemeChoice> for String {
    fn from(choice: ThemeChoice) -> Self {
        choice.name().to_owned()
    }
}

/// When pyramids show the letters of their colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Letters {
    /// Without colours.
    #[default]
    Auto,
    /// Always, for players who cannot tell some colours apart.
    Always,
}

/// The colours of the pyramids: one of the two sets on sale.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pyramids {
    /// Black, red, blue, yellow and green.
    #[default]
    Rainbow,
    /// White, orange, cyan, clear and purple.
    Xeno,
}
