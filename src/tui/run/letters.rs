//! Letters as files of the interface: saved in the data directory, and read from anywhere.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use fairdeal_protocol::seat::Seat;
use fairdeal_session::lobby::by_letter::{ByLetter, ByLetterError};
use fairdeal_ui::app::event::{Input, UiEvent};
use fairdeal_ui::app::screen::LetterRead;
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use crate::drive::lobbies::{LobbyFault, Order, id_of};
use crate::drive::saved::short;
use crate::letter_files::{LobbyState, Tables};
use crate::store::{DataView, write_out};

/// The folder for letters.
fn folder(data: &DataView) -> io::Result<PathBuf> {
    let folder = data.path().join("letters");
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// A lobby by letter as it stands, for the screen.
///
/// # Errors
/// [`LobbyFault`].
pub(super) fn shown(lobby: &ByLetter, data: &DataView) -> Result<LetterRead, LobbyFault> {
    let state = LobbyState::of(lobby, data)?;
    let lines = vec![format!("{}.", state.seats_in_words()), state.terms_in_words(), state.next_in_words()];
    Ok(LetterRead { table: id_of(lobby), readers: state.readers().to_vec(), lines })
}

/// Saves a sealed letter for a seat in the folder for letters. A later one takes its place.
///
/// # Errors
/// The system's.
pub(super) fn save(data: &DataView, table: &str, (to, reader): (Seat, &str), sealed: &[u8]) -> io::Result<PathBuf> {
    let folder = folder(data)?;
    let is_plain = |letter: &char| letter.is_alphanumeric();
    let name: String = reader.to_lowercase().chars().filter(is_plain).collect();
    // Two names may have the same letters.
    let path = folder.join(format!("for-{name}-{}-{}.letter", to.number(), short(table)));
    write_out(&path, sealed, Path::new(""), true).map_err(io::Error::other)?;
    Ok(path)
}

/// The letters of an interface: beside it they are read and written, and it is told what comes of it.
pub(super) struct Letters {
    pub(super) tables: Tables,
    /// The player's name.
    pub(super) me: String,
    pub(super) back: mpsc::Sender<Input>,
    /// Reads the data directory again.
    pub(super) rereads: Box<dyn FnOnce() + Send>,
}

impl Letters {
    fn tell(self, event: UiEvent) {
        // The interface may have ended.
        let _ = self.back.blocking_send(Input::UiEvent(event));
        (self.rereads)();
    }

    pub(super) fn read(self, file: PathBuf) {
        let runtime = Handle::current();
        tokio::task::spawn_blocking(move || {
            let read = self.tables.read(&file, &self.me, &runtime).map_err(|why| why.to_string()).map(|reading| {
                let lines = reading.in_words(|_| "It is your turn. Act at the table, then write back.".to_owned());
                LetterRead {
                    table: reading.table.clone(),
                    readers: reading.readers().to_vec(),
                    lines: reading.refused().chain(lines).collect(),
                }
            });
            self.tell(UiEvent::ReadLetter(read));
        });
    }

    /// Opens a lobby by letter, and saves the invitation.
    pub(super) fn invite(self, game: String, seats: u8, options: BTreeMap<String, String>) {
        let runtime = Handle::current();
        tokio::task::spawn_blocking(move || {
            let order = Order::Open { game, seats, options, name: self.me.clone() };
            let invited = self.invited(order, &runtime).map_err(|why| why.to_string());
            self.tell(UiEvent::ReadLetter(invited));
        });
    }

    fn invited(&self, order: Order, runtime: &Handle) -> anyhow::Result<LetterRead> {
        let lobby = self.tables.lobby(order, runtime)?.ok_or(ByLetterError::Invitation)?;
        let invitation = lobby.invitation().ok_or(ByLetterError::Invitation)?;
        let view = lobby.view()?;
        let path = folder(self.tables.view())?.join(format!("{}-{}.invitation", view.game, short(&id_of(&lobby))));
        write_out(&path, &invitation.to_bytes(), Path::new(""), true)?;
        let mut letter = shown(&lobby, self.tables.view())?;
        letter.lines.insert(0, format!("An invitation: {}", path.display()));
        Ok(letter)
    }

    pub(super) fn write(self, table: String, to: Seat, reader: String) {
        let runtime = Handle::current();
        tokio::task::spawn_blocking(move || {
            let written = self.tables.write(&table, to, &runtime).map_err(|why| why.to_string());
            let saved = written.and_then(|sealed| {
                save(self.tables.view(), &table, (to, &reader), &sealed).map_err(|why| why.to_string())
            });
            self.tell(match saved {
                Ok(path) => UiEvent::SavedLetter(reader, path),
                Err(why) => UiEvent::Failed(why),
            });
        });
    }
}
