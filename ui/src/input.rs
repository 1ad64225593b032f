//! Keys and clicks, as a terminal or a browser reports them.

use ratatui::layout::Position;

/// A key, named or printable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeyCode {
    /// A character, upper case if Shift was held.
    Char(char),
    /// A function key, from 1.
    F(u8),
    Up,
    Down,
    Left,
    Right,
    Tab,
    /// Tab with Shift.
    BackTab,
    Home,
    End,
    PageUp,
    PageDown,
    Enter,
    Esc,
    Backspace,
    Delete,
}

/// A key with its modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    pub code: KeyCode,
    pub ctrl: bool,
    pub alt: bool,
}

impl From<KeyCode> for Key {
    fn from(code: KeyCode) -> Self {
        let (ctrl, alt) = (false, false);
        Self { code, ctrl, alt }
    }
}

/// An input event. Positions are cells of the last drawn frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserInput {
    Key(Key),
    Paste(String),
    Click(Position),
    /// A click with the secondary button.
    SecondaryClick(Position),
    MouseMoved(Position),
    /// A press on a real button beside the frame, by the words of [`crate::canvas::Layer::buttons`].
    Press(String),
    ScrollUp,
    ScrollDown,
    /// The frame was resized or lost.
    Redraw,
}
