//! Letters as files of the interface: saved in the data directory, and read from anywhere.

use std::io;
use std::path::{Path, PathBuf};

use fairdeal_protocol::seat::Seat;
use fairdeal_ui::app::event::{Input, LetterRead, UiEvent};
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use crate::drive::saved::short;
use crate::letter_files::Tables;
use crate::store::{DataView, write_out};

/// Saves a sealed letter in the folder for letters. A later one takes its place.
///
/// # Errors
/// The system's.
pub(super) fn save(data: &DataView, table: &str, reader: &str, sealed: &[u8]) -> io::Result<PathBuf> {
    let folder = data.path().join("letters");
    std::fs::create_dir_all(&folder)?;
    let is_plain = |letter: &char| letter.is_alphanumeric();
    let name: String = reader.to_lowercase().chars().filter(is_plain).collect();
    let path = folder.join(format!("for-{name}-{}.letter", short(table)));
    write_out(&path, sealed, Path::new(""), true).map_err(io::Error::other)?;
    Ok(path)
}

/// The letters of an interface: beside it they are read and written, and it is told what comes of it.
pub(super) struct Letters {
    pub(super) tables: Tables,
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
            let read = self.tables.read(&file, runtime).map_err(|why| why.to_string()).map(|reading| {
                let lines = reading.in_words(|_| "It is your turn. Act at the table, then write back.".to_owned());
                LetterRead {
                    table: reading.table.clone(),
                    author: reading.author(),
                    name: reading.name().to_owned(),
                    lines: reading.refused().chain(lines).collect(),
                }
            });
            self.tell(UiEvent::ReadLetter(read));
        });
    }

    pub(super) fn write(self, table: String, to: Seat, reader: String) {
        let runtime = Handle::current();
        tokio::task::spawn_blocking(move || {
            let written = self.tables.write(&table, to, runtime).map_err(|why| why.to_string());
            let saved = written
                .and_then(|sealed| save(self.tables.view(), &table, &reader, &sealed).map_err(|why| why.to_string()));
            self.tell(match saved {
                Ok(path) => UiEvent::SavedLetter(reader, path),
                Err(why) => UiEvent::Failed(why),
            });
        });
    }
}
