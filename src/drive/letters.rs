//! A seat that plays by letter: its session runs for a moment without a network. It reads a letter or writes one, and closes
//! in order.

use std::sync::Arc;

use ed25519_dalek::SigningKey;
use fairdeal_games::listed;
use fairdeal_link::letter::{self, LetterError};
use fairdeal_peers::PeerId;
use fairdeal_peers::mail::Subject;
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::wire::codec::CodecError;
use fairdeal_session::events::{Command, SessionEvent};
use fairdeal_session::header::SavedSeat;
use fairdeal_session::io::{Input, Output, PeerInput, Transport};
use fairdeal_session::letter::Letter;
use fairdeal_session::session::{Resumed, Session};
use fairdeal_session::setup::{Attended, Hands, Player, StartError};
use fairdeal_session::text::player_names;
use fairdeal_session::view::Snapshot;
use getrandom::SysRng;
use getrandom::rand_core::UnwrapErr;
use serde::{Deserialize, Serialize};

use super::files::Disk;
use super::now;
use super::people::Acquaintances;
use super::saved::{Interrupted, ResumeError};
use crate::store::{DataDir, IdentityKey};

/// Why a letter is neither written nor read.
#[derive(Debug, thiserror::Error)]
pub enum PostError {
    #[error(transparent)]
    Resume(#[from] ResumeError),
    #[error(transparent)]
    Start(#[from] StartError),
    #[error(transparent)]
    Letter(#[from] LetterError),
    /// The content of an opened letter makes no sense: its author's program is another version, or lies.
    #[error("the letter of {author} cannot be read: {why}")]
    Content {
        /// The author's name.
        author: String,
        why: CodecError,
    },
    /// The session has ended, for this reason.
    #[error("{0}")]
    Ended(String),
}

/// Opens a letter for a saved seat. Returns the seat that wrote it, and what is in it.
///
/// # Errors
/// [`PostError::Letter`] if it is for another seat, [`PostError::Content`].
pub fn open_letter(seat: &SavedSeat, identity: &IdentityKey, sealed: &[u8]) -> Result<(Seat, Letter), PostError> {
    let charter = seat.charter();
    let others: Vec<(Seat, PeerId)> = others(seat);
    let authors: Vec<PeerId> = others.iter().map(|(_, peer)| *peer).collect();
    let context = Letter::context(charter.table());
    let (author, content) = letter::open(&own_key(seat, identity), &authors, &context, sealed)?;
    let wrote = others.into_iter().find(|(_, peer)| *peer == author);
    let (author, _) = wrote.ok_or(LetterError::Stranger)?;
    let letter = Letter::from_bytes(&content).map_err(|why| {
        let names = player_names(charter.charter());
        PostError::Content { author: names.get(author.index()).cloned().unwrap_or_default(), why }
    })?;
    Ok((author, letter))
}

pub(super) fn own_key(seat: &SavedSeat, identity: &IdentityKey) -> SigningKey {
    seat.own_key().unwrap_or_else(|| identity.signing_key())
}

pub(super) fn others(saved: &SavedSeat) -> Vec<(Seat, PeerId)> {
    let me = saved.seat();
    let seated = saved.charter().charter().seated().filter(|(seat, _)| *seat != me);
    seated.map(|(seat, player)| (seat, PeerId::from(player.key))).collect()
}

/// A sealed letter.
#[derive(Clone, Debug)]
pub struct Written {
    pub reader: PeerId,
    pub subject: Subject,
    /// Whether it says nothing: the session has ended, and nobody needs anything.
    pub is_empty: bool,
    pub sealed: Vec<u8>,
}

/// A seat at its desk.
pub struct Desk {
    session: Session,
    disk: Disk,
    key: SigningKey,
    table: Hash32,
    /// The names, in seat order, and the keys of the others.
    names: Vec<String>,
    others: Vec<(Seat, PeerId)>,
    /// Whatever the session has told since the last look.
    told: Vec<SessionEvent>,
    sent: Vec<(Vec<PeerId>, Vec<u8>)>,
    /// Why the last letter was not taken as it is.
    refused: Option<String>,
    has_ended: bool,
}

impl Desk {
    /// Opens a saved seat, to read these letters or none. [`Self::close`] it whatever happens then: else it has to ask the
    /// others what it has signed. It has to ask, too, if a letter shows that a copy has played on.
    ///
    /// # Errors
    /// [`PostError`].
    pub fn open<'a>(
        data: &Arc<DataDir>,
        interrupted: Interrupted,
        identity: &IdentityKey,
        letters: impl IntoIterator<Item = &'a Letter>,
    ) -> Result<Self, PostError> {
        let Interrupted { saved, records, journal } = interrupted;
        let more = |letter: &Letter| letter.shows_more_of(saved.seat(), saved.charter(), &records);
        let is_clean = journal.was_clean() && !letters.into_iter().any(more);
        let charter = saved.charter();
        let (table, names) = (charter.table(), player_names(charter.charter()));
        let (others, key) = (others(&saved), own_key(&saved, identity));
        let book = Acquaintances::of(data).book().clone();
        let evidence = data.evidence_of(&table.to_string()).map_or(0, |kept| kept.len());
        let resumed = Resumed { seat: saved, records, is_clean, evidence, friend: None, by_letter: true };
        let player = Player { key: key.clone(), name: String::new(), attended: Attended::Person, book };
        let session = Session::resume(resumed, player, Hands::Person { ready: true }, now(), &mut UnwrapErr(SysRng))?;
        let disk = Disk::new(Arc::clone(data), journal);
        let (told, sent) = (Vec::new(), Vec::new());
        let mut desk = Self { session, disk, key, table, names, others, told, sent, refused: None, has_ended: false };
        desk.settle();
        Ok(desk)
    }

    /// Names in seat order, cleaned for display.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The other seats that are still at the table.
    pub fn others(&self) -> impl Iterator<Item = Seat> {
        self.others.iter().map(|(seat, _)| *seat).filter(|seat| !self.session.is_without(*seat))
    }

    fn peer(&self, seat: Seat) -> Option<PeerId> {
        self.others.iter().find(|(other, _)| *other == seat).map(|(_, peer)| *peer)
    }

    /// Whether the seat signs nothing, because it asks the others what it has signed.
    pub fn is_asking(&self) -> bool {
        self.session.is_asking()
    }

    /// Why the last letter was not taken as it is, if so: its author's program is another version, or lies.
    pub fn refused(&self) -> Option<&str> {
        self.refused.as_deref()
    }

    /// Whatever the session has told since the last call. The first call after [`Self::open`] returns the past.
    pub fn told(&mut self) -> Vec<SessionEvent> {
        std::mem::take(&mut self.told)
    }

    /// Does what the player wants.
    ///
    /// # Errors
    /// [`PostError::Ended`].
    pub fn command(&mut self, command: Command) -> Result<(), PostError> {
        self.hear(Input::Command(command));
        self.goes_on()
    }

    /// Writes a letter to a seat, sealed for it: all that it can lack.
    ///
    /// # Errors
    /// [`PostError`].
    pub fn write(&mut self, to: Seat) -> Result<Written, PostError> {
        let Some(peer) = self.peer(to) else { return Err(LetterError::Key.into()) };
        let before = self.sent.len();
        self.hear(Input::Command(Command::WriteLetter(to)));
        self.goes_on()?;
        let to_peer = |sent: &[(Vec<PeerId>, Vec<u8>)]| -> Vec<Vec<u8>> {
            sent.iter().filter(|(to, _)| to.contains(&peer)).map(|(_, frame)| frame.clone()).collect()
        };
        let (earlier, now) = self.sent.split_at(before);
        let letter = Letter::of(self.table, &to_peer(now), &to_peer(earlier));
        let context = Letter::context(self.table);
        let sealed = letter::seal(&self.key, peer, &context, &letter.to_bytes(), &mut UnwrapErr(SysRng))?;
        Ok(Written {
            reader: peer,
            subject: letter.subject(self.table, &self.key, to),
            is_empty: letter.is_empty(),
            sealed,
        })
    }

    /// Whether the letters of a seat that this desk has read show that it lacks nothing.
    pub fn covers(&self, seat: Seat) -> bool {
        self.session.covers(seat)
    }

    /// Takes an opened letter of that seat.
    ///
    /// # Errors
    /// [`PostError::Ended`].
    pub fn read(&mut self, from: Seat, letter: &Letter) -> Result<(), PostError> {
        let Some(author) = self.peer(from) else { return Err(LetterError::Stranger.into()) };
        self.refused = None;
        self.hear(Input::Peer(author, PeerInput::Connected(None)));
        for frame in letter.frames(self.table) {
            self.hear(Input::Peer(author, PeerInput::Frame(frame)));
        }
        self.hear(Input::Peer(author, PeerInput::Gone));
        self.goes_on()
    }

    /// Closes the session in order. Its journal is clean then.
    pub fn close(mut self) {
        self.hear(Input::Command(Command::Quit));
    }

    fn goes_on(&self) -> Result<(), PostError> {
        let why = self.told.iter().rev().find_map(|event| match event {
            SessionEvent::Error(why) | SessionEvent::Disk { full: true, text: why } => Some(why.clone()),
            _ => None,
        });
        match why {
            Some(why) => Err(PostError::Ended(why)),
            None => Ok(()),
        }
    }

    fn hear(&mut self, input: Input) {
        self.session.handle(input, now(), &mut UnwrapErr(SysRng));
        self.settle();
    }

    /// Carries out all that the session wants.
    fn settle(&mut self) {
        while let Some(output) = self.session.poll() {
            let answer = match output {
                Output::Send { to, bytes, .. } => {
                    self.sent.push((to, bytes));
                    None
                }
                Output::Store(id, order) => Some(Input::Stored(id, self.disk.carry_out(order))),
                Output::Transport(Transport::Locate) => Some(Input::Addresses(Vec::new())),
                Output::Tell(event) => {
                    self.told.push(event);
                    None
                }
                Output::Ended => {
                    self.has_ended = true;
                    None
                }
                Output::Transport(Transport::Close { why: Some(why), .. }) => {
                    self.refused = Some(why);
                    None
                }
                // A person plays, and nobody is dialled.
                Output::Transport(_) | Output::Think(..) | Output::Program(_) => None,
            };
            if let Some(answer) = answer.filter(|_| !self.has_ended) {
                self.session.handle(answer, now(), &mut UnwrapErr(SysRng));
            }
        }
    }
}

/// For whom a table waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WhoseTurn {
    /// The seat asks the others what it has signed.
    Asks,
    Over,
    Yours,
    /// The names of the others that are to act, if anybody is.
    Others(Vec<String>),
}

impl WhoseTurn {
    /// In a sentence.
    pub fn in_words(&self) -> String {
        match self {
            Self::Asks => {
                "Your program did not close cleanly, so it asks the others what it has signed before it signs \
                           again."
                    .to_owned()
            }
            Self::Over => "The game is over.".to_owned(),
            Self::Yours => "It is your turn.".to_owned(),
            Self::Others(names) if names.is_empty() => "The other programs have to answer first.".to_owned(),
            Self::Others(names) => format!("{} is to act.", listed(names)),
        }
    }
}

/// For whom the table waits, by all that was told; `None` if nobody knows.
pub fn whose_turn(names: &[String], told: &[&SessionEvent], asks: bool) -> Option<WhoseTurn> {
    if asks {
        return Some(WhoseTurn::Asks);
    }
    let now = last_shown(told.iter().copied())?;
    if now.game.is_over() {
        return Some(WhoseTurn::Over);
    }
    if now.my_turn {
        return Some(WhoseTurn::Yours);
    }
    let others = now.game.to_act().iter().filter(|seat| Some(*seat) != now.me);
    Some(WhoseTurn::Others(others.filter_map(|seat| names.get(seat.index()).cloned()).collect()))
}

/// The table as it was shown last.
pub fn last_shown<'a>(told: impl IntoIterator<Item = &'a SessionEvent>) -> Option<&'a Snapshot> {
    let shown = told.into_iter().filter_map(|event| match event {
        SessionEvent::Snapshot(now) => Some(&**now),
        _ => None,
    });
    shown.last()
}
