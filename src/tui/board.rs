//! What a game's table shows and asks beside what all tables have: its board, and its actions as
//! choices in words.
//!
//! The plain table (title, seats, log, choices, seal) is the same for every game; a game adds a
//! [`Board`]. Its actions are offered in two steps, a group and then one of its choices, so that
//! every legal action can be reached by arrow keys or mouse alone.

use fairdeal_protocol::card::Faces;
use fairdeal_protocol::seat::Seat;
use ratatui::Frame;
use ratatui::layout::Rect;

use super::style::Theme;
use crate::games::{AnyAction, AnyGame, TableGame};

/// From where a board is looked at.
pub(super) struct Look<'a> {
    /// The player's own seat.
    pub(super) me: Option<Seat>,
    /// The names at the table, by seat.
    pub(super) names: &'a [String],
    /// The sealed cards that the player knows.
    pub(super) known: &'a Faces,
    /// Colours and signs.
    pub(super) theme: &'a Theme,
}

/// A legal action, as it is offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    /// What it belongs to: a card, a piece, a kind of action.
    pub(super) group: String,
    /// What it does, in words.
    pub(super) words: String,
}

impl Choice {
    pub(super) fn new(group: impl Into<String>, words: impl Into<String>) -> Self {
        Self {
            group: group.into(),
            words: words.into(),
        }
    }
}

/// A game's part of the screen.
pub(super) trait Board: TableGame {
    /// A few words for the title: the hand, the target.
    fn heading(&self) -> String;

    /// What stands beside a seat's name, in at most 13 columns: how many cards it holds, whether it
    /// has won or left.
    fn seat_note(&self, seat: Seat) -> String;

    /// What the player is asked for when it is to act.
    fn prompt(&self, me: Seat) -> String;

    /// Draws the board. The area is at least 48 by 11 and may be larger; what is in it must be
    /// told by shape or letter, never by colour alone, and in ASCII if the theme says so.
    fn draw(&self, look: &Look<'_>, frame: &mut Frame<'_>, area: Rect);

    /// A legal action in words. Actions of one group stand together in [`Self::legal`]'s order.
    fn choice(&self, action: &Self::Action, known: &Faces) -> Choice;
}

/// Runs something on the game inside if it has a [`Board`]; Loot has a table of its own.
macro_rules! on_board {
    ($any:expr, $game:ident => $run:expr) => {
        match $any {
            $crate::games::AnyGame::Loot(_) => None,
            $crate::games::AnyGame::Ivory($game) => Some($run),
            $crate::games::AnyGame::Plutonian($game) => Some($run),
            $crate::games::AnyGame::Sphinx($game) => Some($run),
            $crate::games::AnyGame::Thoth($game) => Some($run),
        }
    };
}
pub(super) use on_board;

/// A legal action of any game with a board, in words.
pub(super) fn choice(game: &AnyGame, action: &AnyAction, known: &Faces) -> Option<Choice> {
    match (game, action) {
        (AnyGame::Ivory(game), AnyAction::Ivory(action)) => Some(game.choice(action, known)),
        (AnyGame::Plutonian(game), AnyAction::Plutonian(action)) => {
            Some(game.choice(action, known))
        }
        (AnyGame::Sphinx(game), AnyAction::Sphinx(action)) => Some(game.choice(action, known)),
        (AnyGame::Thoth(game), AnyAction::Thoth(action)) => Some(game.choice(action, known)),
        _ => None,
    }
}
