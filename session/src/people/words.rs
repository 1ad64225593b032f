//! Keys, names and numbers of games in words.

use fairdeal_games::counted;
use fairdeal_peers::PeerId;

use crate::spoken::spoken;

/// A name for people to read: the player's own name for a key, or else an announced one in quotation marks. Nobody can
/// announce a name without them.
pub fn readable(own: Option<&str>, announced: Option<&str>) -> Option<String> {
    let announced = announced.filter(|name| !name.is_empty());
    own.map(str::to_owned).or_else(|| announced.map(|name| format!("\"{name}\"")))
}

/// The eight words of a key, to compare by voice.
pub fn words_of(key: PeerId) -> String {
    spoken(&key.to_bytes())
}

/// A number of games in words.
pub fn games_in_words(games: u32) -> String {
    counted(usize::try_from(games).unwrap_or(usize::MAX), "game")
}
