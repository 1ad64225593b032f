//! Pictures of past games: the table as a player saw it at some step, drawn without a terminal.

use fairdeal_ui::appearance::ThemeName;
use fairdeal_ui::keys::Keymap;
use fairdeal_ui::replay::{Eyes, Replay};
use fairdeal_ui::svg::svg;
use fairdeal_ui::theme::{Depth, Theme};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;

use super::screen::{Context, Library};
use super::screens::table::TableScreen;
use super::shell::{LEAST, Shell};
use crate::store::Settings;

/// How many of the last lines of a game are in its log.
const LINES: usize = 100;
/// The largest picture: columns and rows.
const MOST: (u16, u16) = (300, 120);

/// A table at one step of a past game, on a screen of some size.
#[derive(Debug)]
pub struct Picture {
    shell: Shell,
    screen: Terminal<TestBackend>,
}

impl Picture {
    /// Of a step, or of the last one if there are fewer; with the eyes of whom, on a screen of so many columns and
    /// rows (at least 80 by 24, at most 300 by 120).
    pub fn new(
        replay: &Replay,
        step: usize,
        eyes: Eyes,
        size: (u16, u16),
        theme: ThemeName,
    ) -> Self {
        let settings = Settings {
            theme,
            motion: false,
            ..Settings::default()
        };
        let mut context = Context {
            settings,
            keymap: Keymap::default(),
            theme: Theme::default(),
            depth: Depth::True,
            ascii: false,
            given: None,
            user: String::new(),
            today: String::new(),
            lan: None,
            library: Library::default(),
        };
        context.dress();
        let step = step.min(replay.last());
        let lines = (0..=step).flat_map(|number| replay.step(number).lines.to_vec());
        let mut lines: Vec<String> = lines.collect();
        lines.drain(..lines.len().saturating_sub(LINES));
        let table = TableScreen::at(&context, &replay.snapshot(step, eyes), lines);
        let width = size.0.clamp(LEAST.0, MOST.0);
        let height = size.1.clamp(LEAST.1, MOST.1);
        let Ok(screen) = Terminal::new(TestBackend::new(width, height));
        Self {
            shell: Shell::new(context, Box::new(table)),
            screen,
        }
    }

    /// Draws it, as a terminal is drawn each time that something changes.
    pub fn draw(&mut self) -> &Buffer {
        let Ok(_) = self.screen.draw(|frame| self.shell.draw(frame));
        self.screen.backend().buffer()
    }

    /// The picture as an SVG document.
    pub fn to_svg(&mut self) -> String {
        svg(self.draw())
    }
}
