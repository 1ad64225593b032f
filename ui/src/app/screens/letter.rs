//! Reading a letter of a player who is not online, or an invitation, from a file; and what there is to write.

use std::path::PathBuf;

use percent_encoding::percent_decode_str;
use ratatui::layout::{Margin, Rect};
use ratatui::text::Line;

use super::{column, field_panel, keys_below};
use crate::app::event::UiEvent;
use crate::app::screen::{Context, Cx, Effect, FocusPolicy, Handled, LetterRead, Screen, ScreenInput};
use crate::canvas::{Canvas, Layer, Target, wrapped};
use crate::field::Field;

const FILE: Target = Target::Button(0);
const GO: Target = Target::Button(1);
/// The first of the buttons that write to a seat.
const WRITE: u16 = 2;
/// The longest path, in characters.
const MAX_PATH: usize = 1024;

/// The file of a letter, and what the letter has brought.
#[derive(Debug)]
pub struct ReadLetter {
    file: Field,
    focus: Target,
    /// The letter, or what is wrong; `None` before one is read.
    told: Option<Result<LetterRead, String>>,
}

impl Default for ReadLetter {
    fn default() -> Self {
        Self { file: Field::new(MAX_PATH), focus: FILE, told: None }
    }
}

/// Whether a pasted text is a path, perhaps that of a letter or an invitation.
pub(super) fn is_letter(text: &str) -> bool {
    let ends = |path: &PathBuf| path.extension().is_some_and(|end| end == "letter" || end == "invitation");
    path_of(text).is_some_and(|path| path.is_absolute() || ends(&path))
}

/// The path in a text that was typed, pasted, or dropped: terminals quote a dropped file, each in its own way.
fn path_of(text: &str) -> Option<PathBuf> {
    let text = text.trim();
    let quoted = |mark: char| text.strip_prefix(mark)?.strip_suffix(mark);
    let inside = quoted('\'').or_else(|| quoted('"'));
    let (text, is_quoted) = (inside.unwrap_or(text), inside.is_some());
    let path = match text.strip_prefix("file://") {
        Some(url) => percent_decode_str(url).decode_utf8_lossy().into_owned(),
        None if is_quoted || cfg!(windows) => text.to_owned(),
        None => {
            let mut plain = String::new();
            let mut letters = text.chars();
            while let Some(letter) = letters.next() {
                plain.extend(if letter == '\\' { letters.next() } else { Some(letter) });
            }
            plain
        }
    };
    (!path.is_empty()).then(|| PathBuf::from(path))
}

impl ReadLetter {
    /// With a letter that was read before, or a lobby by letter.
    pub fn showing(letter: LetterRead) -> Self {
        Self { told: Some(Ok(letter)), ..Self::default() }
    }

    /// Writes to one of the seats that may be written to.
    fn write(&self, cx: &mut Cx<'_>, number: usize) {
        if let Some(Ok(LetterRead { table, readers, .. })) = &self.told
            && let Some((to, reader)) = readers.get(number)
        {
            cx.effect(Effect::WriteLetter { table: table.clone(), to: *to, reader: reader.clone() });
        }
    }

    /// Reads the file that was dropped elsewhere.
    pub(super) fn dropped(text: &str, cx: &mut Cx<'_>) -> Self {
        let mut screen = Self::default();
        if let Some(path) = path_of(text) {
            screen.file = Field::new(MAX_PATH).with(&path.to_string_lossy());
            cx.effect(Effect::ReadLetter(path));
        }
        screen
    }

    fn go(&mut self, cx: &mut Cx<'_>) {
        match path_of(&self.file.text()) {
            Some(path) => cx.effect(Effect::ReadLetter(path)),
            None => self.told = Some(Err("Drop the letter's file here first, or type where it is.".to_owned())),
        }
    }
}

impl Screen for ReadLetter {
    fn name(&self) -> String {
        "a letter".to_owned()
    }

    fn draw(&mut self, context: &Context, canvas: &mut Canvas<'_>, area: Rect) {
        let theme = canvas.theme();
        let page = column(area.inner(Margin::new(2, 1)), 90);
        keys_below(canvas, area, context, Vec::new());
        let panel = Rect { height: 3, ..page }.intersection(page);
        field_panel(canvas, panel, FILE, ("The letter's file", &self.file));
        let has_read = matches!(self.told, Some(Ok(_)));
        let mut x = canvas.button((page.x, page.y + 4), if has_read { "" } else { "Enter" }, "read it", GO);
        let readers = self.told.iter().flatten().flat_map(|letter| &letter.readers);
        for ((_, name), button) in readers.zip(WRITE..) {
            x = canvas.button((x + 1, page.y + 4), "", &format!("write to {name}"), Target::Button(button));
        }
        let hint = "Drop the file here, or type where it is. Your program answers for you what programs answer.";
        let (lines, style) = match &self.told {
            None => (vec![hint.to_owned()], theme.ink()),
            Some(Ok(letter)) => (letter.lines.clone(), theme.ink()),
            Some(Err(why)) => (vec![why.clone()], theme.bad()),
        };
        let width = usize::from(page.width);
        let lines = lines.iter().flat_map(|line| {
            let indent = line.len() - line.trim_start().len();
            let rows = wrapped(line.trim_start(), width.saturating_sub(indent), 0).into_iter();
            rows.map(move |row| Line::styled(format!("{}{row}", " ".repeat(indent)), style))
        });
        let below = Rect { y: page.y + 6, height: page.height.saturating_sub(6), ..page };
        canvas.rows(below, lines);
    }

    fn focus(&self, layer: &Layer) -> FocusPolicy {
        FocusPolicy { first: Some(self.focus), writes: self.focus == FILE, ..FocusPolicy::of(layer) }
    }

    fn spoken(&self, _context: &Context) -> String {
        match &self.told {
            Some(Ok(letter)) => letter.lines.join(" "),
            Some(Err(why)) => why.clone(),
            None => "The file of the letter.".to_owned(),
        }
    }

    fn input(&mut self, cx: &mut Cx<'_>, input: ScreenInput<'_>) -> Handled {
        match input {
            ScreenInput::Choose(Target::Button(button)) if button >= WRITE => {
                self.write(cx, usize::from(button - WRITE));
            }
            ScreenInput::Choose(GO) | ScreenInput::Submit => self.go(cx),
            ScreenInput::Typed(typed) => {
                if self.file.typed(typed) {
                    self.told = None;
                }
            }
            ScreenInput::Focused(target) => self.focus = target.unwrap_or(FILE),
            ScreenInput::Event(UiEvent::ReadLetter(told)) => {
                self.told = Some(told.clone());
                if told.as_ref().is_ok_and(|letter| !letter.readers.is_empty()) {
                    cx.focus(Target::Button(WRITE));
                }
            }
            _ => return Handled::No,
        }
        Handled::Yes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropped_files_are_found() {
        let path = |text: &str| path_of(text).map(|path| path.to_string_lossy().into_owned());
        for text in ["/tmp/for ada.letter", " '/tmp/for ada.letter' ", "\"/tmp/for ada.letter\""] {
            assert_eq!(path(text).as_deref(), Some("/tmp/for ada.letter"), "{text}");
        }
        if cfg!(unix) {
            assert_eq!(path("/tmp/for\\ ada.letter").as_deref(), Some("/tmp/for ada.letter"));
            assert_eq!(path("file:///tmp/a.letter\n").as_deref(), Some("/tmp/a.letter"));
            assert_eq!(path("'file:///tmp/for%20B%C3%A9la.letter'").as_deref(), Some("/tmp/for Béla.letter"));
        }
        assert_eq!((path(""), path("  "), path("''")), (None, None, None));
        assert!(is_letter("'/tmp/for ada.letter'") && is_letter("/tmp/loot.invitation") && !is_letter("fd1abc"));
        assert!(is_letter("for-ben.letter") && (is_letter("/tmp/download") || cfg!(windows)));
    }
}
