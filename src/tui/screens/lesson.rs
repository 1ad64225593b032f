//! The guided hand: a first game with fixed cards, one sentence and one key at a time.

use fairdeal_games::GameInfo;

use crate::tui::screen::Screen;

/// The guided hand of a game; `None` if the game has none.
pub(in crate::tui) fn guided_hand(_info: &'static GameInfo) -> Option<Box<dyn Screen>> {
    None
}
