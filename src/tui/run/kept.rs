//! The tables that a keeper holds, among the saved games of the first screen.

use fairdeal_games::listed;
use fairdeal_session::view::time_in_words;
use fairdeal_ui::app::screen::{Kept, Library};

use crate::keeper::wire::{KeptState, KeptTable};

/// The list of the data directory, with the keeper's tables before it.
pub(super) fn with_kept(library: &Library, kept: &[KeptTable]) -> Library {
    let mut all = library.clone();
    all.waiting.retain(|(id, _)| !kept.iter().any(|table| table.id == *id));
    let lines = kept.iter().map(|table| (table.id.clone(), in_words(table)));
    all.waiting = lines.chain(std::mem::take(&mut all.waiting)).collect();
    all.kept = kept.iter().map(|table| (table.id.clone(), Kept { state: state(table), since: since(table) })).collect();
    all
}

/// The table in a few words: its game and its players.
pub fn in_words(table: &KeptTable) -> String {
    match table.others.as_slice() {
        [] => table.game.clone(),
        others => format!("{} with {}", table.game, listed(others)),
    }
}

/// The state of a table, in a few words: "waits for Ada".
pub fn state(table: &KeptTable) -> String {
    match &table.state {
        KeptState::Lobby => "in the lobby".to_owned(),
        KeptState::YourTurn => "your turn".to_owned(),
        KeptState::Waits(names) => format!("waits for {}", listed(names)),
        KeptState::Runs => "goes on by itself".to_owned(),
        KeptState::Over => "over".to_owned(),
    }
}

/// Since when, in words; nothing while it has just begun.
pub fn since(table: &KeptTable) -> String {
    let is_awaited = matches!(table.state, KeptState::YourTurn | KeptState::Waits(_));
    if is_awaited && table.since >= 60 { format!("since {}", time_in_words(table.since)) } else { String::new() }
}
