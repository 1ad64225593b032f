//! A past game as a moving picture of text, in asciinema's format, version 2
//! (<https://docs.asciinema.org/manual/asciicast/v2/>): `asciinema play`, and many pages, show it.

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

use fairdeal_session::replay::{Eyes, Replay};
use fairdeal_ui::app::picture::Picture;
use fairdeal_ui::appearance::ThemeName;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::style::force_color_output;
use ratatui::{Terminal, TerminalOptions, Viewport};
use serde_json::json;

/// How long a step is shown, in seconds.
const STEP: f64 = 1.2;
/// How long the last one is shown, in seconds.
const LAST: f64 = 4.0;
/// Clears the screen and hides the cursor.
const BEGIN: &str = "\x1b[2J\x1b[H\x1b[?25l";

/// Bytes for a terminal, until they are taken.
#[derive(Clone, Default)]
struct Sink(Rc<RefCell<Vec<u8>>>);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// All steps of a game from the point of view of `eyes`. `size` is in columns and rows, as for a [`Picture`].
///
/// # Errors
/// Never: the bytes stay in memory.
pub(super) fn cast(replay: &Replay, eyes: Eyes, size: (u16, u16), title: &str) -> io::Result<String> {
    // The file is the same whatever terminal asks for it.
    force_color_output(true);
    let picture = |step: usize| Picture::new(replay, step, eyes, size, ThemeName::Dark).draw().clone();
    let first = picture(0);
    let sink = Sink::default();
    let options = TerminalOptions { viewport: Viewport::Fixed(first.area) };
    let mut terminal = Terminal::with_options(CrosstermBackend::new(sink.clone()), options)?;
    let head = json!({ "version": 2, "width": first.area.width, "height": first.area.height, "title": title });
    let mut text = format!("{head}\n");
    let mut time = 0.0;
    for step in 0..=replay.last() {
        let drawn = picture(step);
        terminal.draw(|frame| frame.buffer_mut().clone_from(&drawn))?;
        let bytes = std::mem::take(&mut *sink.0.borrow_mut());
        let output = String::from_utf8_lossy(&bytes);
        let begin = if step == 0 { BEGIN } else { "" };
        text += &format!("{}\n", json!([time, "o", format!("{begin}{output}")]));
        time += if step == replay.last() { LAST } else { STEP };
    }
    // A player stops at the last event.
    text += &format!("{}\n", json!([time, "o", ""]));
    Ok(text)
}
