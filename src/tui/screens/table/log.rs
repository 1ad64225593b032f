//! The log beside the board: what happened, what the table says, and chat.

/// The number of lines that are kept.
pub(super) const LINES: usize = 500;

/// The source of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Voice {
    /// Events of the game.
    Game,
    /// Events of the table: connections, departures.
    Table,
    Warning,
    /// A chat message.
    Chat,
}

/// Lines in order, of which the last is shown at the bottom.
#[derive(Debug, Default)]
pub(super) struct Log {
    lines: Vec<(Voice, String)>,
    /// How many lines it is scrolled back.
    back: usize,
}

impl Log {
    /// A log of a game's lines.
    pub(super) fn of_game(lines: Vec<String>) -> Self {
        let lines = lines.into_iter().map(|line| (Voice::Game, line)).collect();
        Self { lines, back: 0 }
    }

    /// Adds a line. A log that is scrolled back stays where it is.
    pub(super) fn say(&mut self, voice: Voice, line: String) {
        self.lines.push((voice, line));
        if self.lines.len() > LINES {
            self.lines.remove(0);
        }
        if self.back > 0 {
            self.back += 1;
        }
    }

    /// Scrolls back by so many lines; a negative number scrolls ahead.
    pub(super) fn scroll(&mut self, by: isize) {
        let most = self.lines.len().saturating_sub(1);
        self.back = self.back.saturating_add_signed(by).min(most);
    }

    pub(super) fn is_scrolled_back(&self) -> bool {
        self.back > 0
    }

    /// The lines that fit into so many rows, at one line a row.
    pub(super) fn visible(&self, rows: usize) -> &[(Voice, String)] {
        let until = self.lines.len() - self.back.min(self.lines.len());
        self.lines.get(until.saturating_sub(rows)..until).unwrap_or(&[])
    }
}
