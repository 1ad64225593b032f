//! The messages between the scripts of the page and the module, as JSON.

use serde::{Deserialize, Serialize};

/// A message of the scripts.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Ask {
    /// The first message.
    Start(Start),
    /// A key went down.
    Key(Pressed),
    Paste(String),
    /// A click, by column and row of the frame.
    Click(u16, u16),
    /// A click with the secondary button.
    SecondaryClick(u16, u16),
    Move(u16, u16),
    /// Down if positive.
    Scroll(i32),
    /// The frame's columns and rows.
    Size(u16, u16),
    /// Milliseconds have passed.
    Tick(u64),
    /// Check the file in the buffer; its name.
    File(String),
    /// The file with this name cannot be read; why.
    NoFile {
        name: String,
        why: String,
    },
    /// Check so many more steps of the file.
    Work(u32),
    /// The day or the browser's colours may have changed; as in [`Start`].
    Refresh {
        today: String,
        light: bool,
    },
}

/// How the page begins.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Start {
    pub columns: u16,
    pub rows: u16,
    /// 32 random bytes in hexadecimal: all chance of practice games follows from them.
    pub seed: String,
    /// The day in UTC, as `2026-01-31`.
    pub today: String,
    /// Whether the browser prefers light pages.
    pub light: bool,
    /// Whether the browser prefers pages on which nothing moves.
    pub still: bool,
    /// The settings that the page saved, if any: TOML.
    pub settings: Option<String>,
}

/// A key as a browser names it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pressed {
    /// `KeyboardEvent.key`.
    pub key: String,
    #[serde(default)]
    pub shift: bool,
}

/// A frame, and the requests of the page.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Answer {
    pub columns: u16,
    pub rows: u16,
    /// The colour of the ground, and one that can be read on it.
    pub ground: String,
    pub ink: String,
    /// Rows that have changed: their number and their markup (SVG).
    pub changed: Vec<(u16, String)>,
    /// When the next tick is due without an input, in milliseconds.
    pub pace: Option<u64>,
    /// Whether a file is being checked: send more work.
    pub busy: bool,
    /// The name of the screen.
    pub screen: String,
    /// The thing in focus, and what the screen tells, for a player with a screen reader.
    pub said: String,
    /// Let the player choose a file.
    pub pick: bool,
    /// Settings to save: TOML.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub save: Option<String>,
}
