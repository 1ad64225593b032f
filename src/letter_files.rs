//! Letters as files: who reads and writes them in a data directory, and what a letter has brought, in words.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, MutexGuard};

use fairdeal_games::{game_info, listed};
use fairdeal_link::letter::{LetterError, MAX_LETTER};
use fairdeal_protocol::seat::Seat;
use fairdeal_session::events::SessionEvent;
use fairdeal_session::header::SavedSeat;
use fairdeal_session::letter::OpenError;
use fairdeal_session::lobby::by_letter::{ByLetter, Invitation, Stands};
use fairdeal_session::terms::Terms;
use fairdeal_session::view::{LobbySeat, LobbyView};
use tokio::runtime::Handle;

use crate::drive::PostBox;
use crate::drive::letters::{Desk, NOTHING_NEW, PostError, WhoseTurn, news, open_letter, own_seats, whose_turn};
use crate::drive::lobbies::{self, LobbyFault, Order, Outcome, id_of};
use crate::drive::people::Acquaintances;
use crate::drive::saved::{ResumeError, short};
use crate::keeper::client::{KeeperClient, KeeperError};
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
        "{}: the letter fits none of your games: it is for another player, its game is over here, or has not begun or was given up \
         here (read the host's letter or the invitation first), or the file was changed",
        .0.display()
    )]
    Nobody(PathBuf),
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Post(#[from] PostError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Lobby(#[from] LobbyFault),
    #[error(transparent)]
    Keeper(#[from] KeeperError),
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
        runtime: &Handle,
    ) -> Result<Desk, PostError> {
        match self {
            Self::Own(_, Some(post)) if self.plays(own) => {
                let (post, runtime) = (post.clone(), runtime.clone());
                Ok(Desk::elsewhere(own, move |command| runtime.block_on(post.ask(command))))
            }
            Self::Own(data, _) => {
                let letters: Vec<Vec<u8>> = letter.map(<[u8]>::to_vec).into_iter().collect();
                Desk::at(data, table, &letters)
            }
            Self::Kept(_, keeper) => {
                let (keeper, table, runtime) = (keeper.clone(), table.to_owned(), runtime.clone());
                Ok(Desk::elsewhere(own, move |command| {
                    let asked = runtime.block_on(keeper.letter(&table, command));
                    asked.map_err(|why| PostError::Ended(why.to_string()))
                }))
            }
        }
    }

    /// Writes a letter to a seat at the table of this id, or in the lobby of this one.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn write(&self, table: &str, to: Seat, runtime: &Handle) -> Result<Vec<u8>, ReadError> {
        let table = self.begun(table, runtime)?;
        let found = own_seats(self.view())?.into_iter().find(|(id, _)| *id == table);
        let Some((_, own)) = found else {
            let lobby = lobbies::open_lobbies(self.view())?.into_iter().find(|lobby| id_of(lobby) == table);
            let lobby = lobby.ok_or_else(|| ResumeError::NoJournal(table.clone()))?;
            return Ok(lobbies::write(&lobby, to)?);
        };
        let _turn = self.turn(&own);
        let mut desk = self.desk(&table, &own, None, runtime)?;
        let written = desk.write(to);
        desk.close();
        Ok(lobbies::enclosed(self.view(), &table, to, written?.sealed)?)
    }

    /// The table of a lobby that has begun, instead of its lobby. The host's begins now, if all guests have signed: its letter is
    /// its consent.
    fn begun(&self, id: &str, runtime: &Handle) -> Result<String, ReadError> {
        let Some(lobby) = lobbies::lobbies(self.view())?.into_iter().find(|lobby| id_of(lobby) == id) else {
            return Ok(id.to_owned());
        };
        let table = match lobby.stands().map_err(LobbyFault::from)? {
            Stands::Signed => self.order(Order::Begin(lobby.number()), runtime)?.begins,
            _ => lobby.table().map(|table| table.to_string()),
        };
        Ok(table.unwrap_or_else(|| id.to_owned()))
    }

    /// Waits until nobody else of this program opens the table's journals, unless it plays there.
    fn turn(&self, own: &SavedSeat) -> Option<MutexGuard<'_, ()>> {
        match self {
            Self::Own(data, _) if !self.plays(own) => Some(data.at_desk()),
            _ => None,
        }
    }

    /// Reads a letter at the table or in the lobby that it is for, or an invitation. `me` is the player's name, for those who
    /// invite.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn read(&self, file: &Path, me: &str, runtime: &Handle) -> Result<Reading, ReadError> {
        let failed = |why| ReadError::File { path: file.to_owned(), why };
        // Others may never end.
        if !std::fs::metadata(file).map_err(failed)?.is_file() {
            return Err(failed(io::Error::other("it is not a regular file")));
        }
        let sealed = File::open(file).and_then(letter_in).map_err(failed)?;
        self.read_bytes(&sealed, file, me, runtime)
    }

    /// Reads a letter or an invitation whose bytes were found there.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn read_bytes(&self, bytes: &[u8], file: &Path, me: &str, runtime: &Handle) -> Result<Reading, ReadError> {
        if Invitation::is_meant(bytes) {
            let order = Order::Take { invitation: bytes.to_vec(), name: me.to_owned() };
            let lobby = self.lobby(order, runtime)?.ok_or_else(|| ReadError::Nobody(file.to_owned()))?;
            return self.in_lobby(&lobby, None);
        }
        match self.read_at_table(bytes, file, runtime) {
            Err(ReadError::Nobody(_)) => self.read_in_lobby(bytes, file, runtime),
            read => read,
        }
    }

    /// Carries out an order about lobbies by letter.
    fn order(&self, order: Order, runtime: &Handle) -> Result<Outcome, ReadError> {
        Ok(match self {
            Self::Own(data, _) => lobbies::carry_out(data, order)?,
            Self::Kept(_, keeper) => runtime.block_on(keeper.lobby(order))?,
        })
    }

    /// Carries out an order about one lobby by letter. Returns it, as it stands then.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn lobby(&self, order: Order, runtime: &Handle) -> Result<Option<ByLetter>, ReadError> {
        let number = self.order(order, runtime)?.number;
        Ok(lobbies::lobbies(self.view())?.into_iter().find(|lobby| Some(lobby.number()) == number))
    }

    fn read_at_table(&self, sealed: &[u8], file: &Path, runtime: &Handle) -> Result<Reading, ReadError> {
        let nobody = || ReadError::Nobody(file.to_owned());
        let identity = self.view().known_identity()?.ok_or_else(nobody)?;
        let mut why = None;
        for (table, own) in own_seats(self.view())? {
            match open_letter(&own, &identity, sealed) {
                Ok(_) => {
                    let turn = self.turn(&own);
                    let mut desk = self.desk(&table, &own, Some(sealed), runtime)?;
                    let read = desk.read(sealed);
                    let names = desk.names().to_vec();
                    let lacking = read.as_ref().map(|_| lacking(&mut desk)).unwrap_or_default();
                    desk.close();
                    drop(turn);
                    let read = read?;
                    if lobbies::is_awaited(self.view(), &table, read.from)? {
                        self.order(Order::Note { table: table.clone(), seat: read.from }, runtime)?;
                    }
                    let told: Vec<&SessionEvent> = read.told.iter().collect();
                    let name = names.get(read.from.index()).cloned().unwrap_or_default();
                    return Ok(Reading {
                        table,
                        heading: format!("A letter from {name}:"),
                        readers: readers(read.from, &names, &lacking),
                        refused: read.refused,
                        news: news(&names, &read.told),
                        next: Next::Table {
                            turn: whose_turn(&names, &told, read.asks),
                            has_signed: read.has_signed,
                            has_bots: has_bots(&own),
                            lacking: named(&names, &lacking),
                        },
                    });
                }
                Err(OpenError::Letter(LetterError::Form)) => return Err(ReadError::Form(file.to_owned())),
                Err(OpenError::Letter(_)) => {}
                Err(other) => why = Some(other),
            }
        }
        Err(why.map_or_else(nobody, ReadError::Open))
    }

    /// Reads a letter of a lobby. If the table begins, it is opened for a moment.
    fn read_in_lobby(&self, sealed: &[u8], file: &Path, runtime: &Handle) -> Result<Reading, ReadError> {
        let Outcome { number, read, begins } = self.order(Order::Read(sealed.to_vec()), runtime)?;
        let lobby = lobbies::lobbies(self.view())?.into_iter().find(|lobby| Some(lobby.number()) == number);
        let (Some(lobby), Some(letter)) = (lobby, read) else { return Err(ReadError::Nobody(file.to_owned())) };
        let Some(table) = letter.table else {
            return self.in_lobby(&lobby, Some(letter.name));
        };
        let enclosed = letter.enclosed.map(|enclosed| self.read_at_table(&enclosed, file, runtime));
        let mut reading = match enclosed {
            Some(Ok(reading)) => reading,
            Some(Err(why)) => {
                Reading { refused: vec![why.to_string()], ..self.look_at(&table, &letter.name, runtime)? }
            }
            None => self.look_at(&table, &letter.name, runtime)?,
        };
        if begins.is_some() {
            reading.news.retain(|line| line != NOTHING_NEW);
            reading.news.insert(0, "All have signed: the game begins.".to_owned());
        }
        Ok(reading)
    }

    /// An invitation, or a letter of this author, in a lobby whose table has not begun.
    fn in_lobby(&self, lobby: &ByLetter, author: Option<String>) -> Result<Reading, ReadError> {
        let state = LobbyState::of(lobby, self.view())?;
        let is_invitation = author.is_none();
        Ok(Reading {
            table: id_of(lobby),
            readers: state.readers.clone(),
            heading: match author {
                None => format!("An invitation from {}:", state.name(0)),
                Some(name) => format!("A letter from {name}:"),
            },
            refused: Vec::new(),
            news: if is_invitation {
                vec![state.seats_in_words(), state.terms_in_words()]
            } else {
                vec![state.seats_in_words()]
            },
            next: Next::Lobby(state.next_in_words()),
        })
    }

    /// A table that has begun, as it stands.
    fn look_at(&self, table: &str, name: &str, runtime: &Handle) -> Result<Reading, ReadError> {
        let found = own_seats(self.view())?.into_iter().find(|(id, _)| id == table);
        let (_, own) = found.ok_or_else(|| ResumeError::NoJournal(table.to_owned()))?;
        let _turn = self.turn(&own);
        let mut desk = self.desk(table, &own, None, runtime)?;
        let told = desk.told();
        let lacking = lacking(&mut desk);
        let reader = desk.readers().first().map(|(seat, _)| *seat);
        let asks = reader.is_some_and(|seat| desk.write(seat).is_ok_and(|written| written.asks));
        let turn = whose_turn(desk.names(), &told.iter().collect::<Vec<_>>(), asks);
        let all: Vec<Seat> = desk.readers().iter().map(|(seat, _)| *seat).collect();
        let names = desk.names().to_vec();
        desk.close();
        let readers = all.iter().copied().zip(named(&names, &all)).collect();
        let lacking = named(&names, &lacking);
        Ok(Reading {
            table: table.to_owned(),
            readers,
            heading: format!("A letter from {name}:"),
            refused: Vec::new(),
            news: vec![NOTHING_NEW.to_owned()],
            next: match turn {
                None => Next::Lobby("Write to everybody: your program has answered for you.".to_owned()),
                turn => Next::Table { turn, has_signed: true, has_bots: has_bots(&own), lacking },
            },
        })
    }
}

/// The seats that lack something, as far as is known here, or have asked a question.
fn lacking(desk: &mut Desk) -> Vec<Seat> {
    let all: Vec<Seat> = desk.readers().iter().map(|(seat, _)| *seat).collect();
    all.into_iter().filter(|seat| desk.write(*seat).is_ok_and(|letter| !letter.covered)).collect()
}

fn named(names: &[String], seats: &[Seat]) -> Vec<String> {
    seats.iter().map(|seat| names.get(seat.index()).cloned().unwrap_or_default()).collect()
}

/// The seats to write to: the author of a letter first, then those who lack something.
fn readers(author: Seat, names: &[String], lacking: &[Seat]) -> Vec<(Seat, String)> {
    let all: Vec<Seat> = [author].into_iter().chain(lacking.iter().copied().filter(|seat| *seat != author)).collect();
    let names = named(names, &all);
    all.into_iter().zip(names).collect()
}

/// Whether bots of the player's program have seats, too.
fn has_bots(own: &SavedSeat) -> bool {
    let party = own.charter().charter().player(own.seat()).map(|player| player.party);
    own.charter().charter().seated().filter(|(_, player)| Some(player.party) == party).count() > 1
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

/// The consequence of a letter.
#[derive(Debug)]
enum Next {
    Table {
        turn: Option<WhoseTurn>,
        /// Whether the reader has signed something since.
        has_signed: bool,
        /// Whether bots of the player's program may answer a moment later.
        has_bots: bool,
        /// The names of those who lack something, as far as is known here.
        lacking: Vec<String>,
    },
    /// Advice in a lobby, in words.
    Lobby(String),
}

/// A letter that was read.
#[derive(Debug)]
pub struct Reading {
    /// The table's id, or that of its lobby.
    pub table: String,
    /// The seats to write to, with their names.
    readers: Vec<(Seat, String)>,
    heading: String,
    /// Why parts of it were not taken.
    refused: Vec<String>,
    news: Vec<String>,
    next: Next,
}

impl Reading {
    /// The seats to write to now, with their names: the author and whoever lacks something, or in a lobby whoever has to sign.
    pub fn readers(&self) -> &[(Seat, String)] {
        &self.readers
    }

    /// Why parts of it were not taken, in words.
    pub fn refused(&self) -> impl Iterator<Item = String> {
        self.refused.iter().map(|why| format!("a part of the letter was not taken: {why}"))
    }

    /// The news, and what to do. `acts` says how to act, if it is the player's turn.
    pub fn in_words(&self, acts: impl FnOnce(&str) -> String) -> Vec<String> {
        let mut lines = vec![self.heading.clone()];
        lines.extend(self.news.iter().map(|line| format!("  {line}")));
        match &self.next {
            Next::Lobby(next) => lines.push(next.clone()),
            Next::Table { turn: Some(turn), has_signed, has_bots, lacking } => lines.push(match turn {
                WhoseTurn::Asks => format!("{} Write to everybody.", WhoseTurn::Asks.in_words()),
                WhoseTurn::Over if lacking.is_empty() => {
                    "The game is over, and nobody needs another letter.".to_owned()
                }
                WhoseTurn::Over => {
                    format!("The game is over. Write to {}: your last signature may be missing there.", listed(lacking))
                }
                WhoseTurn::Yours => acts(short(&self.table)),
                other if *has_signed && !lacking.is_empty() => {
                    format!("Write to {}: your program has answered for you. {}", listed(lacking), other.in_words())
                }
                other if *has_bots => {
                    format!("Your bots may answer in a moment; write back then. {}", other.in_words())
                }
                other if lacking.is_empty() => format!("Nothing new to write. {}", other.in_words()),
                other => {
                    let lacking = listed(lacking);
                    format!(
                        "If you have not yet, write to {lacking}: your last move or answer may be missing there. {}",
                        other.in_words()
                    )
                }
            }),
            Next::Table { turn: None, .. } => {}
        }
        lines
    }
}

/// A lobby by letter as it stands, for its player.
#[derive(Debug)]
pub struct LobbyState {
    is_host: bool,
    view: LobbyView,
    stands: Stands,
    readers: Vec<(Seat, String)>,
}

impl LobbyState {
    /// # Errors
    /// [`LobbyFault`].
    pub fn of(lobby: &ByLetter, data: &DataView) -> Result<Self, LobbyFault> {
        let (stands, mut readers) = (lobby.stands()?, lobby.readers()?);
        // Before all seats are taken there is nothing to sign.
        if matches!(stands, Stands::Gathering(_) | Stands::Begun) {
            readers.clear();
        }
        let mut view = lobby.view()?;
        let people = Acquaintances::of(data);
        for person in view.seats.iter_mut().flatten().filter_map(|seat| seat.person.as_mut()) {
            person.mark = people.book().mark(&person.key, &person.announced);
        }
        Ok(Self { is_host: lobby.is_host(), view, stands, readers })
    }

    /// The seats to write to now, with their names.
    pub fn readers(&self) -> &[(Seat, String)] {
        &self.readers
    }

    /// How the lobby stands, in a few words: "waits for Ben".
    pub fn in_short(&self) -> String {
        match &self.stands {
            Stands::Invited => "invites you".to_owned(),
            Stands::Gathering(1) => "waits for a player".to_owned(),
            Stands::Gathering(free) => format!("waits for {free} players"),
            Stands::Signing(missing) if self.is_host => format!("waits for {}", listed(missing)),
            Stands::Signing(_) => "waits for signatures".to_owned(),
            Stands::Signed => "waits for your letter".to_owned(),
            Stands::Begun => "has begun".to_owned(),
        }
    }

    fn name(&self, seat: usize) -> &str {
        self.view.seats.get(seat).and_then(Option::as_ref).map_or("", |taken| taken.name.as_str())
    }

    /// The game and who plays, with marks of the others: "Loot: Ada, Ben (known), a free seat".
    pub fn seats_in_words(&self) -> String {
        let game = game_info(&self.view.game).map_or(self.view.game.as_str(), |info| info.name);
        let own = self.view.me.map(Seat::index);
        let seats = self.view.seats.iter().enumerate().map(|(index, seat)| match seat {
            None => "a free seat".to_owned(),
            Some(LobbySeat { name, person: Some(person), .. }) if own != Some(index) => {
                format!("{name} ({})", person.mark.short())
            }
            Some(taken) => taken.name.clone(),
        });
        format!("{game}: {}", seats.collect::<Vec<_>>().join(", "))
    }

    /// The options of the game and the table.
    pub fn terms_in_words(&self) -> String {
        Terms { game: self.view.game.clone(), options: self.view.options.clone() }.options_in_words()
    }

    /// The next thing to do.
    pub fn next_in_words(&self) -> String {
        let host = self.name(0);
        let seats = |free: usize| if free == 1 { "one more player".to_owned() } else { format!("{free} more players") };
        match &self.stands {
            Stands::Invited if self.view.seats.len() == 2 => {
                format!("To play, write back: your letter has your signature, and {host} may begin then.")
            }
            Stands::Invited => format!("To take a seat, write back: {host} does not know of you yet."),
            Stands::Gathering(free) if self.is_host => {
                format!("Wait for {}: send them the invitation, and read what they write.", seats(*free))
            }
            Stands::Gathering(free) => format!("{host} waits for {}. Nothing to write.", seats(*free)),
            Stands::Signing(missing) if self.is_host => {
                format!("All seats are taken. Write to {}: they sign when they write back.", listed(missing))
            }
            Stands::Signing(others) => {
                format!(
                    "All seats are taken. To play with {}, write back: your program signs with that letter.",
                    listed(others)
                )
            }
            Stands::Signed => {
                let names: Vec<&str> = self.readers.iter().map(|(_, name)| name.as_str()).collect();
                let have = if names.len() == 1 { "has" } else { "have" };
                format!("{names} {have} signed. To begin the game, write to {names}.", names = listed(&names))
            }
            Stands::Begun => "The game has begun.".to_owned(),
        }
    }
}
