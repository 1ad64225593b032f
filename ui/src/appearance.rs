//! The player's choice of colours, by name: stored in the settings, drawn by the interface.

use serde::{Deserialize, Serialize};

/// A theme, by its name in the settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
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

    /// Its name for display.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dark => "dark",
            Self::Light => "light",
            Self::HighContrast => "high contrast",
            Self::Mono => "mono",
        }
    }
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
