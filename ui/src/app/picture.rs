//! Pictures of past games: the table as a player saw it at some step, drawn without a terminal.

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;

use super::screen::Context;
use super::screens::table::TableScreen;
use super::shell::{LEAST, Shell};
use crate::appearance::{ThemeChoice, ThemeName};
use crate::settings::Settings;
use crate::svg::svg;
use crate::theme::Depth;
use fairdeal_session::narrate::LogLine;
use fairdeal_session::replay::{Eyes, Replay};

/// Log lines shown beside the table.
const LINES: usize = 100;
/// The largest picture: columns and rows.
const MOST: (u16, u16) = (300, 120);

/// A table at one step of a past game, on a screen of a given size.
#[derive(Debug)]
pub struct Picture {
    shell: Shell,
    screen: Terminal<TestBackend>,
}

impl Picture {
    /// Draws `step`, or the last step if the game has fewer, from the point of view of `eyes`. `size` is in columns and
    /// rows, at least 80 by 24 and at most 300 by 120.
    pub fn new(replay: &Replay, step: usize, eyes: Eyes, size: (u16, u16), theme: ThemeName) -> Self {
        let settings = Settings { theme: ThemeChoice::BuiltIn(theme), motion: false, ..Settings::default() };
        let context = Context::new(settings, Depth::True);
        let step = step.min(replay.last());
        let mut lines: Vec<LogLine> = (0..=step).flat_map(|number| replay.step(number).lines.to_vec()).collect();
        lines.drain(..lines.len().saturating_sub(LINES));
        let table = TableScreen::at(&context, &replay.snapshot(step, eyes), &lines);
        let width = size.0.clamp(LEAST.0, MOST.0);
        let height = size.1.clamp(LEAST.1, MOST.1);
        let Ok(screen) = Terminal::new(TestBackend::new(width, height));
        Self { shell: Shell::new(context, Box::new(table)), screen }
    }

    /// Draws one frame, as a terminal does after every change.
    pub fn draw(&mut self) -> &Buffer {
        let Ok(_) = self.screen.draw(|frame| self.shell.draw(frame));
        self.screen.backend().buffer()
    }

    /// The picture as an SVG document.
    pub fn to_svg(&mut self) -> String {
        svg(self.draw())
    }
}
