//! Reading a letter of a player who is not online, from a file.

use std::path::PathBuf;

use ratatui::layout::{Margin, Rect};
use ratatui::text::Line;

use super::{column, field_panel, keys_below};
use crate::app::event::{LetterRead, UiEvent};
use crate::app::screen::{Context, Cx, Effect, FocusPolicy, Handled, Screen, ScreenInput};
use crate::canvas::{Canvas, Layer, Target, wrapped};
use crate::field::Field;

const FILE: Target = Target::Button(0);
const GO: Target = Target::Button(1);
const BACK: Target = Target::Button(2);
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

/// The path in a text that was typed, pasted, or dropped: terminals quote a dropped file, each in its own way.
fn path_of(text: &str) -> Option<PathBuf> {
    let text = text.trim();
    let quoted = |mark: char| text.strip_prefix(mark)?.strip_suffix(mark);
    let path = match quoted('\'').or_else(|| quoted('"')) {
        Some(inside) => inside.to_owned(),
        None if cfg!(windows) => text.to_owned(),
        None => {
            let mut plain = String::new();
            let mut letters = text.strip_prefix("file://").unwrap_or(text).chars();
            while let Some(letter) = letters.next() {
                plain.extend(if letter == '\\' { letters.next() } else { Some(letter) });
            }
            plain
        }
    };
    (!path.is_empty()).then(|| PathBuf::from(path))
}

impl ReadLetter {
    /// Writes to the author of the letter that was read.
    fn write_back(&self, cx: &mut Cx<'_>) {
        if let Some(Ok(LetterRead { table, author, name, .. })) = &self.told {
            cx.effect(Effect::WriteLetter { table: table.clone(), to: *author, reader: name.clone() });
        }
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
        let x = canvas.button((page.x, page.y + 4), "Enter", "read it", GO);
        if let Some(Ok(letter)) = &self.told {
            canvas.button((x + 1, page.y + 4), "", &format!("write back to {}", letter.name), BACK);
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
            ScreenInput::Choose(BACK) => self.write_back(cx),
            ScreenInput::Choose(GO) | ScreenInput::Submit => self.go(cx),
            ScreenInput::Typed(typed) => {
                if self.file.typed(typed) {
                    self.told = None;
                }
            }
            ScreenInput::Focused(target) => self.focus = target.unwrap_or(FILE),
            ScreenInput::Event(UiEvent::ReadLetter(told)) => {
                self.told = Some(told.clone());
                if told.is_ok() {
                    cx.focus(BACK);
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
        }
        assert_eq!((path(""), path("  "), path("''")), (None, None, None));
    }
}
