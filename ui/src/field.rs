//! A line of text that the player edits.

use fairdeal_protocol::crypto::pake::{Password, PasswordError};
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};
use zeroize::Zeroize as _;

use crate::canvas::Canvas;
use crate::input::{Key, KeyCode};

/// Something typed into a field.
#[derive(Clone, Copy, Debug)]
pub enum Typed<'a> {
    Key(Key),
    Paste(&'a str),
}

/// See the [module docs](self).
#[derive(Clone, PartialEq, Eq)]
pub struct Field {
    before: String,
    after: String,
    most: usize,
    secret: bool,
}

impl std::fmt::Debug for Field {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.secret { f.write_str("Field(secret)") } else { write!(f, "Field({:?}, {:?})", self.before, self.after) }
    }
}

impl Drop for Field {
    fn drop(&mut self) {
        if self.secret {
            self.before.zeroize();
            self.after.zeroize();
        }
    }
}

impl Field {
    /// An empty field for at most `most` characters.
    pub fn new(most: usize) -> Self {
        Self {
            // Reserve the full capacity now: a text that grew would leave copies of itself in memory.
            before: String::with_capacity(most * size_of::<char>()),
            after: String::with_capacity(most * size_of::<char>()),
            most,
            secret: false,
        }
    }

    /// An empty field that hides its text on the screen.
    pub fn secret(most: usize) -> Self {
        let mut field = Self::new(most);
        field.secret = true;
        field
    }

    pub fn with(mut self, text: &str) -> Self {
        self.insert(text);
        self
    }

    pub fn text(&self) -> String {
        format!("{}{}", self.before, self.after)
    }

    /// The text as a screen may show it: masked if it is secret.
    pub fn shown(&self) -> String {
        self.masked(&self.before) + &self.masked(&self.after)
    }

    fn masked(&self, text: &str) -> String {
        if self.secret { "*".repeat(text.chars().count()) } else { text.to_owned() }
    }

    pub fn is_empty(&self) -> bool {
        self.before.is_empty() && self.after.is_empty()
    }

    /// Takes the text out and leaves the field empty.
    pub fn take(&mut self) -> String {
        self.before.push_str(&self.after);
        self.after.clear();
        std::mem::take(&mut self.before)
    }

    /// Inserts text at the cursor. Control characters, as in pasted text, are dropped.
    pub fn insert(&mut self, text: &str) {
        let written = self.before.chars().count() + self.after.chars().count();
        let room = self.most.saturating_sub(written);
        let shown = text.chars().filter(|c| !c.is_control());
        self.before.extend(shown.take(room));
    }

    /// Takes in what was typed, and returns whether it edits the text.
    pub fn typed(&mut self, typed: Typed<'_>) -> bool {
        match typed {
            Typed::Key(key) => self.key(key),
            Typed::Paste(text) => {
                self.insert(text);
                true
            }
        }
    }

    /// Handles a key, and returns whether it was an editing key.
    pub fn key(&mut self, key: Key) -> bool {
        let command = key.ctrl || key.alt;
        match key.code {
            KeyCode::Char('u') if command => self.before.clear(),
            KeyCode::Char('w') if command => {
                let kept = self.before.trim_end();
                let at = kept.rfind(' ').map_or(0, |at| at + 1);
                self.before.truncate(at);
            }
            KeyCode::Char(c) if !command => self.insert(c.encode_utf8(&mut [0; 4])),
            KeyCode::Backspace => {
                self.before.pop();
            }
            KeyCode::Delete => {
                if !self.after.is_empty() {
                    self.after.remove(0);
                }
            }
            KeyCode::Left => {
                if let Some(c) = self.before.pop() {
                    self.after.insert(0, c);
                }
            }
            KeyCode::Right => {
                if !self.after.is_empty() {
                    self.before.push(self.after.remove(0));
                }
            }
            KeyCode::Home => {
                self.after.insert_str(0, &self.before);
                self.before.clear();
            }
            KeyCode::End => {
                self.before.push_str(&self.after);
                self.after.clear();
            }
            _ => return false,
        }
        true
    }

    /// The password in the field; `None` if the field is empty.
    ///
    /// # Errors
    /// [`PasswordError`] if it is too long.
    pub fn password(&self) -> Result<Option<Password>, PasswordError> {
        if self.is_empty() { Ok(None) } else { Password::new(self.text()).map(Some) }
    }

    /// Draws the field with its cursor. A text wider than the row scrolls to keep the cursor visible.
    pub fn draw(&self, canvas: &mut Canvas<'_>, area: Rect) {
        let (mut before, after) = (self.masked(&self.before), self.masked(&self.after));
        let room = usize::from(area.width).saturating_sub(1);
        while before.width() > room && !before.is_empty() {
            before.remove(0);
        }
        let mut rest = after.chars();
        let under = rest.next().unwrap_or(' ');
        let room = room.saturating_sub(before.width() + under.width().unwrap_or(1) - 1);
        let mut used = 0;
        let rest: String = rest
            .as_str()
            .chars()
            .take_while(|c| {
                used += c.width().unwrap_or(0);
                used <= room
            })
            .collect();
        let cursor = canvas.theme().text().add_modifier(Modifier::REVERSED);
        let spans = vec![Span::raw(before), Span::styled(under.to_string(), cursor), Span::raw(rest)];
        canvas.put(area, Line::from(spans));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(field: &mut Field, keys: &[KeyCode]) {
        for key in keys {
            field.key((*key).into());
        }
    }

    #[test]
    fn a_password_is_told_to_nobody() {
        let field = Field::secret(20).with("open sesame");
        assert_eq!(field.text(), "open sesame");
        assert!(!format!("{field:?}").contains("sesame"));
    }

    #[test]
    fn a_text_is_written_and_changed() {
        let mut field = Field::new(8).with("a\u{7}béc");
        press(&mut field, &[KeyCode::Left, KeyCode::Backspace, KeyCode::Char('x')]);
        assert_eq!(field.text(), "abxc");
        press(&mut field, &[KeyCode::Home, KeyCode::Delete, KeyCode::End]);
        field.insert("0123456789");
        assert_eq!(field.text(), "bxc01234");
        field.key(Key { ctrl: true, ..KeyCode::Char('w').into() });
        assert!(field.is_empty());
        assert!(!field.key(KeyCode::Enter.into()));
        field.insert("gone");
        assert_eq!((field.take().as_str(), field.is_empty()), ("gone", true));
    }
}
