//! The messages between the scripts of the page and the module, as JSON.

use serde::{Deserialize, Serialize};

/// A message of the scripts, and when it is sent.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// Milliseconds of a clock that never jumps.
    pub up: u64,
    /// Milliseconds since 1970.
    pub wall: u64,
    pub ask: Ask,
}

/// The content of a message.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Ask {
    /// The first message.
    Start(Start),
    /// A key went down.
    Key(Pressed),
    Paste(String),
    /// A press on a button of the row below the frame, by its words.
    Press(String),
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
    /// Another worker has audited a slice of the check with that number: whether all of it holds. Not either if it could
    /// not.
    Slice {
        check: u64,
        slice: usize,
        holds: bool,
    },
    /// The day or the browser's colours may have changed, as in [`Start`], or whether nobody sees the page.
    Refresh {
        today: String,
        light: bool,
        hidden: bool,
    },
    /// Something has happened to the socket with this number.
    Socket(u64, SocketHappened),
    /// The database has carried out the order with this number, or not.
    Stored(u64, Option<NotStored>),
    /// Text was copied, or could not be.
    Copied(bool),
}

/// An event of a socket.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SocketHappened {
    Opened,
    /// Bytes, in base64.
    Heard(String),
    Closed,
}

/// Why the database has not carried out an order.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct NotStored {
    /// Whether there is no room.
    pub full: bool,
    pub why: String,
}

/// An order to the scripts about a socket.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SocketOrder {
    Open {
        id: u64,
        url: String,
    },
    /// Send these bytes, in base64.
    Send {
        id: u64,
        bytes: String,
    },
    Close(u64),
}

/// An order to the database of the browser: one transaction. [`Ask::Stored`] answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StoreOrder {
    pub id: u64,
    /// Keys, and what is to stand there.
    pub put: Vec<(String, String)>,
    /// The beginnings of keys that are to go.
    pub delete: Vec<String>,
    /// Whether this page takes the table over, whichever page had it last.
    pub takes: bool,
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
    /// How many cores the machine has, as far as its browser says: so many slices a check may have.
    #[serde(default)]
    pub cores: usize,
    /// The settings that the page saved, if any: TOML.
    pub settings: Option<String>,
    /// All that the page needs to join tables; `None` on the page that opens no connection.
    #[serde(default)]
    pub table: Option<TableStart>,
}

/// How a page begins that may join tables.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TableStart {
    /// Where the page comes from, as `http://192.168.1.7:4002`; `None` if it is a file.
    pub origin: Option<String>,
    /// The part of its address behind the `#`: a ticket.
    pub ticket: String,
    /// All that the database holds: keys, and what stands there.
    pub kept: Vec<(String, String)>,
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

/// A frame, and what is asked of the scripts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Answer {
    /// The frame; `None` after news of sockets and of the database, which the next tick shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame: Option<Frame>,
    /// When the next tick is due without an input, in milliseconds since the last one.
    pub pace: Option<u64>,
    /// Whether a file is being checked.
    pub busy: bool,
    /// Whether there is work to do on it: send more.
    pub works: bool,
    /// A check of which other workers audit slices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<Split>,
    /// Let the player choose a file.
    pub pick: bool,
    /// Settings to save: TOML.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub save: Option<String>,
    /// Orders about sockets, in their order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sockets: Vec<SocketOrder>,
    /// Orders to the database, in their order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub store: Vec<StoreOrder>,
    /// A game to save as a page: its file name, and the transcript in base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub game: Option<(String, String)>,
    /// A file to save: its name, and its bytes in base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<(String, String)>,
    /// A ticket to begin again with, behind the `#`: the page takes its table over from other tabs as it begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub go: Option<String>,
    /// Text for the clipboard.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copy: Option<String>,
}

impl Answer {
    /// Whether the page itself has something to do: its part comes with a frame.
    pub(crate) fn is_for_page(&self) -> bool {
        let Self { pick, split, save, game, file, go, copy, .. } = self;
        *pick
            || split.is_some()
            || [save, go, copy].iter().any(|text| text.is_some())
            || [game, file].iter().any(|file| file.is_some())
    }
}

/// A check for several workers: each but the first slice is another one's. [`Ask::Slice`] answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Split {
    /// The number of the check.
    pub check: u64,
    /// How many slices it has.
    pub of: usize,
    /// The transcript, which lies in a buffer of its own.
    #[serde(skip)]
    pub file: Vec<u8>,
}

/// A frame, and what the page tells along with it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Frame {
    pub columns: u16,
    pub rows: u16,
    /// The colour of the ground, and one that can be read on it.
    pub ground: String,
    pub ink: String,
    /// Rows that have changed: their number and their markup (SVG).
    pub changed: Vec<(u16, String)>,
    /// The name of the screen.
    pub screen: String,
    /// The thing in focus, and what the screen tells, for a player with a screen reader.
    pub said: String,
    /// The words of the row of buttons for fingers.
    pub buttons: Vec<String>,
    /// Whether the player is typing into a field: a phone shows its keyboard.
    pub types: bool,
    /// The sign of a table of others: something waits for the player, or has not been seen; empty if all is quiet.
    pub sign: String,
    /// Whether the player sits at a table of others whose game is not over.
    pub plays: bool,
}
