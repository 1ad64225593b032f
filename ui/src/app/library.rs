//! The games in the data directory, as the interface knows them.

use fairdeal_session::past::Past;

/// Games in the data directory.
#[derive(Clone, Debug, Default)]
pub struct Library {
    /// Saved games: id and description.
    pub waiting: Vec<(String, String)>,
    /// Every past game and every saved game, newest first.
    pub past: Vec<Past>,
}
