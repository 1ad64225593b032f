//! The desk of a seat, at which its letters are read and written: a session of its own for a moment, without a network, or
//! one that plays at its table now.

use std::fmt;
use std::sync::Arc;

use ed25519_dalek::SigningKey;
use fairdeal_games::listed;
use fairdeal_peers::PeerId;
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;
use fairdeal_session::events::{Command, SessionEvent};
use fairdeal_session::header::SavedSeat;
use fairdeal_session::io::{Input, Output, Transport};
use fairdeal_session::letter::{Letter, LetterNews, OpenError, Written, readers};
use fairdeal_session::session::{Resumed, Session};
use fairdeal_session::setup::{Attended, Hands, Player, StartError};
use fairdeal_session::text::player_names;
use fairdeal_session::view::{PeerState, Snapshot, Standing, ground_in_words};
use getrandom::SysRng;
use getrandom::rand_core::UnwrapErr;
use serde::{Deserialize, Serialize};

use super::files::Disk;
use super::now;
use super::people::Acquaintances;
use super::saved::{self, Interrupted, ResumeError, open_seats, saved_tables};
use crate::store::{DataDir, DataView, IdentityKey};

/// Why a letter is neither written nor read.
#[derive(Debug, thiserror::Error)]
pub enum PostError {
    #[error(transparent)]
    Resume(#[from] ResumeError),
    #[error(transparent)]
    Start(#[from] StartError),
    /// The session has ended, or does not answer, for this reason.
    #[error("{0}")]
    Ended(String),
    /// The session refuses, for this reason.
    #[error("{0}")]
    Refused(String),
    /// Local bots answer nobody who writes: their program has to be at the table.
    #[error(
        "your program's bots play at this table, and answer only while it is open: start `fairdeal keep`, and write or read the \
         letter then"
    )]
    LocalBots,
    /// The game is over for everybody: nobody lacks anything.
    #[error("the game is over for everybody, and nobody needs a letter")]
    Over,
}

pub(super) fn own_key(seat: &SavedSeat, identity: &IdentityKey) -> SigningKey {
    seat.own_key().unwrap_or_else(|| identity.signing_key())
}

/// Opens a letter for a saved seat.
///
/// # Errors
/// [`OpenError`].
pub fn open_letter(seat: &SavedSeat, identity: &IdentityKey, sealed: &[u8]) -> Result<(Seat, Letter), OpenError> {
    Letter::open(seat.charter(), seat.seat(), &own_key(seat, identity), sealed)
}

/// The player's own seats at all tables, in play or not, each with its table's id. A journal that cannot be read hides no
/// other.
///
/// # Errors
/// [`ResumeError`] of the first such journal, if no seat is left.
pub fn own_seats(data: &DataView) -> Result<Vec<(String, SavedSeat)>, ResumeError> {
    let (mut seats, mut first) = (Vec::new(), None);
    for file in data.journals()? {
        // While the promise stands, the journal has not begun.
        if data.has_promised(&file.table, file.seat)? {
            continue;
        }
        match saved::read(data, &file) {
            Ok(seat) if !seat.is_local_bot() => seats.push((file.table, seat)),
            Ok(_) => {}
            Err(why) => {
                tracing::warn!(table = %file.table, %why, "skipping a journal");
                first.get_or_insert(why);
            }
        }
    }
    first.filter(|_| seats.is_empty()).map_or(Ok(seats), Err)
}

/// Everything that a command about a letter has led to; the last event is [`SessionEvent::Letter`].
pub type Answer = Vec<SessionEvent>;

/// A letter that a desk has read.
#[derive(Debug)]
pub struct HasRead {
    /// Its author.
    pub from: Seat,
    /// Why parts of it were not taken: the author's program is another version, or lies.
    pub refused: Vec<String>,
    /// Whether the reader has signed something since.
    pub has_signed: bool,
    /// Whether it asks the others what it has signed.
    pub asks: bool,
    /// The news, in order.
    pub told: Vec<SessionEvent>,
}

/// Passes a command to a session that plays elsewhere, and waits for the answer.
type Ask = Box<dyn FnMut(Command) -> Result<Answer, PostError> + Send>;

enum Place {
    Alone(Box<Alone>),
    Elsewhere(Ask),
}

/// A seat at its desk.
pub struct Desk {
    place: Place,
    /// In seat order.
    names: Vec<String>,
    readers: Vec<(Seat, PeerId)>,
}

impl fmt::Debug for Desk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desk").field("names", &self.names).finish_non_exhaustive()
    }
}

impl Desk {
    /// Opens a saved seat, to read these sealed letters or none. [`Self::close`] it whatever happens then: else it has to ask
    /// the others what it has signed. It has to ask, too, if a letter shows that a copy has played on.
    ///
    /// # Errors
    /// [`PostError`].
    pub fn open(
        data: &Arc<DataDir>,
        interrupted: Interrupted,
        identity: &IdentityKey,
        letters: &[Vec<u8>],
    ) -> Result<Self, PostError> {
        let Interrupted { saved, records, journal } = interrupted;
        let opened = letters.iter().filter_map(|sealed| open_letter(&saved, identity, sealed).ok());
        let shows_more = |letter: Letter| letter.shows_more_of(saved.seat(), saved.charter(), &records);
        let is_clean = journal.was_clean() && !opened.map(|(_, letter)| letter).any(shows_more);
        let (names, readers) = of(&saved);
        let key = own_key(&saved, identity);
        let book = Acquaintances::of(data).book().clone();
        let evidence = data.evidence_of(&saved.charter().table().to_string()).map_or(0, |kept| kept.len());
        let resumed = Resumed { seat: saved, records, is_clean, evidence, friend: None, by_letter: true };
        let player = Player { key, name: String::new(), attended: Attended::Person, book };
        let session = Session::resume(resumed, player, Hands::Person { ready: true }, now(), &mut UnwrapErr(SysRng))?;
        let disk = Disk::new(Arc::clone(data), journal);
        let mut alone = Alone { session, disk, told: Vec::new(), has_ended: false };
        alone.settle();
        let live = last_shown(&alone.told).and_then(|now| match &now.standing {
            Standing::Sealed(progress) => Some(progress.live),
            Standing::Practice { .. } | Standing::Puzzle => None,
        });
        let readers = readers.into_iter().filter(|(seat, _)| live.is_none_or(|live| live.contains(*seat))).collect();
        Ok(Self { place: Place::Alone(Box::new(alone)), names, readers })
    }

    /// Opens the player's seat at the saved table of this id, as [`Self::open`] does.
    ///
    /// # Errors
    /// [`PostError`].
    pub fn at(data: &Arc<DataDir>, table: &str, letters: &[Vec<u8>]) -> Result<Self, PostError> {
        let mut saved = saved_tables(data, Some(table))?.pop().ok_or(ResumeError::NoJournal(table.to_owned()))?;
        let has_bots = saved.1.iter().any(|(_, seat)| seat.is_local_bot());
        saved.1.retain(|(_, seat)| !seat.is_local_bot());
        // Once the game is over the player's own journal has what all have signed.
        if has_bots && saved.1.iter().any(|(_, seat)| !seat.is_ended()) {
            return Err(PostError::LocalBots);
        }
        let identity = data.identity().map_err(ResumeError::from)?;
        let own = open_seats(data, saved)?.into_iter().next();
        Self::open(data, own.ok_or(ResumeError::NoJournal(table.to_owned()))?, &identity, letters)
    }

    /// The desk of a seat that plays at its table now. `ask` passes commands to its session.
    pub fn elsewhere(
        saved: &SavedSeat,
        ask: impl FnMut(Command) -> Result<Answer, PostError> + Send + 'static,
    ) -> Self {
        let (names, readers) = of(saved);
        Self { place: Place::Elsewhere(Box::new(ask)), names, readers }
    }

    /// Names in seat order, cleaned for display.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The seats to write to; some may have left the table.
    pub fn readers(&self) -> &[(Seat, PeerId)] {
        &self.readers
    }

    /// Whatever the session has told since the last call, answers aside. The first call after [`Self::open`] returns the past;
    /// a session that plays elsewhere tells its own player.
    pub fn told(&mut self) -> Vec<SessionEvent> {
        match &mut self.place {
            Place::Alone(alone) => std::mem::take(&mut alone.told),
            Place::Elsewhere(_) => Vec::new(),
        }
    }

    /// Does what the player wants. Only a session of the desk's own tells what comes of it.
    ///
    /// # Errors
    /// [`PostError`].
    pub fn command(&mut self, command: Command) -> Result<(), PostError> {
        match &mut self.place {
            Place::Alone(alone) => {
                alone.hear(Input::Command(command));
                alone.goes_on()
            }
            Place::Elsewhere(_) => Err(PostError::Ended("only the program at this table can act there".to_owned())),
        }
    }

    /// Passes a command about a letter to the session.
    ///
    /// # Errors
    /// [`PostError`] if there is no answer.
    pub fn ask(&mut self, command: Command) -> Result<Answer, PostError> {
        let told = match &mut self.place {
            Place::Alone(alone) => {
                let before = std::mem::take(&mut alone.told);
                alone.hear(Input::Command(command));
                std::mem::replace(&mut alone.told, before)
            }
            Place::Elsewhere(ask) => ask(command)?,
        };
        if matches!(told.last(), Some(SessionEvent::Letter(_))) {
            return Ok(told);
        }
        let before = match &self.place {
            Place::Alone(alone) => alone.told.as_slice(),
            Place::Elsewhere(_) => &[],
        };
        Err(before.iter().chain(&told).rev().find_map(end_of).unwrap_or(PostError::Over))
    }

    /// The same, with the answer apart from all that was told before.
    fn asked(&mut self, command: Command) -> Result<(Vec<SessionEvent>, LetterNews), PostError> {
        let mut told = self.ask(command)?;
        match told.pop() {
            Some(SessionEvent::Letter(news)) => match *news {
                LetterNews::Refused(why) => Err(PostError::Refused(why)),
                news => Ok((told, news)),
            },
            _ => Err(PostError::Over),
        }
    }

    /// Writes a letter to a seat, sealed for it: all that it can lack.
    ///
    /// # Errors
    /// [`PostError`].
    pub fn write(&mut self, to: Seat) -> Result<Written, PostError> {
        match self.asked(Command::WriteLetter(to))? {
            (_, LetterNews::Written(written)) if written.to == to => Ok(written),
            _ => Err(PostError::Ended("the table gave another answer; try again".to_owned())),
        }
    }

    /// Reads a sealed letter.
    ///
    /// # Errors
    /// [`PostError`].
    pub fn read(&mut self, sealed: &[u8]) -> Result<HasRead, PostError> {
        match self.asked(Command::ReadLetter(sealed.to_vec()))? {
            (told, LetterNews::Read { from, refused, has_signed, asks }) => {
                Ok(HasRead { from, refused, has_signed, asks, told })
            }
            _ => Err(PostError::Ended("the table gave another answer; try again".to_owned())),
        }
    }

    /// Closes the session in order, if it is the desk's own. Its journal is clean then.
    pub fn close(self) {
        if let Place::Alone(mut alone) = self.place {
            alone.hear(Input::Command(Command::Quit));
        }
    }
}

/// The names at a saved seat's table, in seat order, and whom to write to.
fn of(saved: &SavedSeat) -> (Vec<String>, Vec<(Seat, PeerId)>) {
    (player_names(saved.charter().charter()), readers(saved.charter(), saved.seat()))
}

/// Why a session goes on no more, if an event says so.
fn end_of(event: &SessionEvent) -> Option<PostError> {
    match event {
        SessionEvent::Error(why) | SessionEvent::Disk { full: true, text: why } => Some(PostError::Ended(why.clone())),
        _ => None,
    }
}

/// A session without a network.
struct Alone {
    session: Session,
    disk: Disk,
    /// Whatever it has told since the last look.
    told: Vec<SessionEvent>,
    has_ended: bool,
}

impl Alone {
    fn goes_on(&self) -> Result<(), PostError> {
        self.told.iter().rev().find_map(end_of).map_or(Ok(()), Err)
    }

    fn hear(&mut self, input: Input) {
        self.session.handle(input, now(), &mut UnwrapErr(SysRng));
        self.settle();
    }

    /// Carries out all that the session wants.
    fn settle(&mut self) {
        while let Some(output) = self.session.poll() {
            let answer = match output {
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
                // A person plays, and nobody is connected.
                Output::Send { .. } | Output::Transport(_) | Output::Think(..) | Output::Program(_) => None,
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

/// The news of a letter without any.
pub const NOTHING_NEW: &str = "nothing new";

/// The news of a letter, a line each.
pub fn news(names: &[String], told: &[SessionEvent]) -> Vec<String> {
    let name = |seat: Seat| names.get(seat.index()).cloned().unwrap_or_default();
    let lines = told.iter().filter_map(|event| match event {
        SessionEvent::Line(line) | SessionEvent::RemovalProposed { line, .. } | SessionEvent::Extended { line, .. } => {
            Some(line.clone())
        }
        SessionEvent::Fault { what, .. } => Some(format!("A fault is proven: {what}")),
        SessionEvent::Claimed { by, absent, ground, .. } => {
            let all = |seats: &[Seat]| listed(&seats.iter().map(|seat| name(*seat)).collect::<Vec<_>>());
            Some(format!("{} closed the table: {} {}.", all(by), all(absent), ground_in_words(*ground)))
        }
        SessionEvent::Peer { seat, state: state @ (PeerState::Left | PeerState::Absent | PeerState::Removed) } => {
            Some(state.in_words(&name(*seat)))
        }
        SessionEvent::Over { winners, transcript, .. } => {
            let file = transcript.as_ref().map_or_else(String::new, |path| format!(" Transcript: {}", path.display()));
            let winners: Vec<String> = winners.iter().map(|seat| name(*seat)).collect();
            Some(format!("The game is over. Winners: {}.{file}", listed(&winners)))
        }
        _ => None,
    });
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() { vec![NOTHING_NEW.to_owned()] } else { lines }
}
