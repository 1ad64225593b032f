//! Letters as files: who reads and writes them in a data directory, and what a letter has brought, in words.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, MutexGuard};

use fairdeal_link::letter::{LetterError, MAX_LETTER};
use fairdeal_protocol::seat::Seat;
use fairdeal_session::events::SessionEvent;
use fairdeal_session::header::SavedSeat;
use fairdeal_session::letter::OpenError;
use tokio::runtime::Handle;

use crate::drive::PostBox;
use crate::drive::letters::{Desk, HasRead, PostError, WhoseTurn, news, open_letter, own_seats, whose_turn};
use crate::drive::saved::{ResumeError, short};
use crate::keeper::client::KeeperClient;
use crate::store::{DataDir, DataView, StoreError};

/// Why a letter in a file is not read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("cannot read {}: {why}", path.display())]
    File { path: PathBuf, why: io::Error },
    #[error("{}: {}", .0.display(), LetterError::Form)]
    Form(PathBuf),
    /// None of the player's tables can open it.
    #[error(
        "{}: the letter fits none of your saved games: it is for another player, the game is over here, or the file was \
         changed",
        .0.display()
    )]
    Nobody(PathBuf),
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Post(#[from] PostError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<ResumeError> for ReadError {
    fn from(why: ResumeError) -> Self {
        Self::Post(why.into())
    }
}

/// The tables of a data directory, and who plays there.
#[derive(Clone, Debug)]
pub enum Tables {
    /// This program; at one table perhaps now.
    Own(Arc<DataDir>, Option<PostBox>),
    /// A keeper.
    Kept(DataView, KeeperClient),
}

impl Tables {
    /// The data directory, for reading.
    pub fn view(&self) -> &DataView {
        match self {
            Self::Own(data, _) => data,
            Self::Kept(view, _) => view,
        }
    }

    /// Whether this program plays at the table of a seat now.
    fn plays(&self, own: &SavedSeat) -> bool {
        let here = match self {
            Self::Own(_, post) => post.as_ref().and_then(PostBox::table),
            Self::Kept(..) => None,
        };
        here == Some(own.charter().table())
    }

    /// The desk of a seat at the table of this id, to read this letter or none. What plays elsewhere is asked by `runtime`, from
    /// a thread outside of it.
    ///
    /// # Errors
    /// [`PostError`].
    pub fn desk(
        &self,
        table: &str,
        own: &SavedSeat,
        letter: Option<&[u8]>,
        runtime: Handle,
    ) -> Result<Desk, PostError> {
        match self {
            Self::Own(_, Some(post)) if self.plays(own) => {
                let post = post.clone();
                Ok(Desk::elsewhere(own, move |command| runtime.block_on(post.ask(command))))
            }
            Self::Own(data, _) => {
                let letters: Vec<Vec<u8>> = letter.map(<[u8]>::to_vec).into_iter().collect();
                Desk::at(data, table, &letters)
            }
            Self::Kept(_, keeper) => {
                let (keeper, table) = (keeper.clone(), table.to_owned());
                Ok(Desk::elsewhere(own, move |command| {
                    let asked = runtime.block_on(keeper.letter(&table, command));
                    asked.map_err(|why| PostError::Ended(why.to_string()))
                }))
            }
        }
    }

    /// Writes a letter to a seat at the table of this id.
    ///
    /// # Errors
    /// [`PostError`].
    pub fn write(&self, table: &str, to: Seat, runtime: Handle) -> Result<Vec<u8>, PostError> {
        let found = own_seats(self.view())?.into_iter().find(|(id, _)| id == table);
        let (_, own) = found.ok_or(ResumeError::NoJournal(table.to_owned()))?;
        let _turn = self.turn(&own);
        let mut desk = self.desk(table, &own, None, runtime)?;
        let written = desk.write(to);
        desk.close();
        Ok(written?.sealed)
    }

    /// Waits until nobody else of this program opens the table's journals, unless it plays there.
    fn turn(&self, own: &SavedSeat) -> Option<MutexGuard<'_, ()>> {
        match self {
            Self::Own(data, _) if !self.plays(own) => Some(data.at_desk()),
            _ => None,
        }
    }

    /// Reads a letter at the table that it is for.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn read(&self, file: &Path, runtime: Handle) -> Result<Reading, ReadError> {
        let failed = |why| ReadError::File { path: file.to_owned(), why };
        // Others may never end.
        if !std::fs::metadata(file).map_err(failed)?.is_file() {
            return Err(failed(io::Error::other("it is not a regular file")));
        }
        let sealed = File::open(file).and_then(letter_in).map_err(failed)?;
        self.read_sealed(&sealed, file, runtime)
    }

    /// Reads a letter whose bytes were found there.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn read_sealed(&self, sealed: &[u8], file: &Path, runtime: Handle) -> Result<Reading, ReadError> {
        let nobody = || ReadError::Nobody(file.to_owned());
        let identity = self.view().known_identity()?.ok_or_else(nobody)?;
        let mut why = None;
        for (table, own) in own_seats(self.view())? {
            match open_letter(&own, &identity, sealed) {
                Ok(_) => {
                    let _turn = self.turn(&own);
                    let mut desk = self.desk(&table, &own, Some(sealed), runtime)?;
                    let read = desk.read(sealed);
                    let names = desk.names().to_vec();
                    desk.close();
                    let party = own.charter().charter().player(own.seat()).map(|player| player.party);
                    let seats = own.charter().charter().seated().filter(|(_, player)| Some(player.party) == party);
                    let has_bots = seats.count() > 1;
                    return Ok(Reading { table, names, has_bots, read: read? });
                }
                Err(OpenError::Letter(LetterError::Form)) => return Err(ReadError::Form(file.to_owned())),
                Err(OpenError::Letter(_)) => {}
                Err(other) => why = Some(other),
            }
        }
        Err(why.map_or_else(nobody, ReadError::Open))
    }
}

/// The bytes of a letter, at most as many as it can have and one more.
///
/// # Errors
/// The system's.
pub fn letter_in(from: impl io::Read) -> io::Result<Vec<u8>> {
    let most = u64::try_from(MAX_LETTER).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    from.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A letter that was read.
#[derive(Debug)]
pub struct Reading {
    /// The table's id.
    pub table: String,
    names: Vec<String>,
    /// Whether bots of the player's program have seats, too: they may answer a moment later.
    has_bots: bool,
    read: HasRead,
}

impl Reading {
    /// The seat that wrote it.
    pub fn author(&self) -> Seat {
        self.read.from
    }

    /// The author's name.
    pub fn name(&self) -> &str {
        self.names.get(self.read.from.index()).map_or("", String::as_str)
    }

    /// Why parts of it were not taken, in words.
    pub fn refused(&self) -> impl Iterator<Item = String> {
        self.read.refused.iter().map(|why| format!("a part of the letter was not taken: {why}"))
    }

    /// The news, and what to do. `acts` says how to act, if it is the player's turn.
    pub fn in_words(&self, acts: impl FnOnce(&str) -> String) -> Vec<String> {
        let mut lines = vec![format!("A letter from {}:", self.name())];
        lines.extend(news(&self.names, &self.read.told).into_iter().map(|line| format!("  {line}")));
        let told: Vec<&SessionEvent> = self.read.told.iter().collect();
        lines.extend(whose_turn(&self.names, &told, self.read.asks).map(|turn| match turn {
            WhoseTurn::Asks => format!("{} Write to everybody.", WhoseTurn::Asks.in_words()),
            WhoseTurn::Over => "The game is over. Write back: the others need your last signature.".to_owned(),
            WhoseTurn::Yours => acts(short(&self.table)),
            other if self.read.has_signed => {
                format!("Write back: your program has answered for you. {}", other.in_words())
            }
            other if self.has_bots => {
                format!("Your bots may answer in a moment; write back then. {}", other.in_words())
            }
            other => format!("Nothing new to write. {}", other.in_words()),
        }));
        lines
    }
}
