//! How a table screen is divided.
//!
//! ```text
//! title
//! board                                  │ side: seats, log and chat
//! own hand, over the whole width
//! available actions
//! status
//! seal
//! ```

use fairdeal_games::AnyGame;
use fairdeal_games::match_game;
use ratatui::layout::{Constraint, Layout, Rect};

use super::Board as _;

/// The parts of a table screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Areas {
    pub title: Rect,
    pub board: Rect,
    pub side: Rect,
    pub hand: Rect,
    pub panel: Rect,
    pub status: Rect,
    pub seal: Rect,
}

/// Divides a screen of at least 80 columns and 24 rows.
pub fn areas(game: &AnyGame, screen: Rect) -> Areas {
    let hand_rows = match_game!(game, game => game.hand_rows(screen.height));
    let panel_rows = match screen.height {
        ..30 => 5,
        30..40 => 7,
        _ => 9,
    };
    let [title, middle, hand, panel, status, seal] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Min(0),
        Constraint::Length(hand_rows),
        Constraint::Length(panel_rows),
        Constraint::Length(1),
        Constraint::Length(1),
    ])
    .areas(screen);
    let side_columns = match screen.width {
        ..100 => 28,
        100..140 => 34,
        _ => 42,
    };
    let [board, _, side] = Layout::horizontal([
        Constraint::Min(0),
        Constraint::Length(1),
        Constraint::Length(side_columns),
    ])
    .areas(middle);
    Areas {
        title,
        board,
        side,
        hand,
        panel,
        status,
        seal,
    }
}
