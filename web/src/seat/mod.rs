//! A seat at a table between programs: a session, with the browser's sockets and its database around it.
//!
//! ```text
//! mod      Seat: what the page does for a session, as `src/drive` does for one of the program
//! sockets  WebSockets to the doors of others, each with a machine of fairdeal-link
//! shelf    what the browser keeps: the key, the journal and the promises of one table
//! ```

mod shelf;
mod sockets;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use ed25519_dalek::SigningKey;
use fairdeal_peers::ticket::{JoinTarget, Ticket};
use fairdeal_protocol::crypto::pake::Password;
use fairdeal_protocol::table::clocks::Now;
use fairdeal_protocol::transcript::Transcript;
use fairdeal_session::events::{Command, SessionEvent};
use fairdeal_session::io::{Input, Output, StoreFault, Transport};
use fairdeal_session::people::Book;
use fairdeal_session::seat_file::SeatFile;
use fairdeal_session::session::{Resumed, Session};
use fairdeal_session::setup::{Attended, Hands, ListenConfig, Patience, Player, Role, Setup, StartError};
use rand_chacha::ChaCha20Rng;
use rand_core::Rng as _;

use crate::message::{SocketHappened, SocketOrder, StoreOrder};
use shelf::Shelf;
use sockets::Sockets;

/// A session and the browser around it.
pub(crate) struct Seat {
    session: Session,
    sockets: Sockets,
    shelf: Shelf,
    has_ended: bool,
}

/// The way to a table, and who goes.
pub(crate) struct Way {
    pub(crate) target: JoinTarget,
    /// The player's name, as others will see it.
    pub(crate) name: String,
    pub(crate) password: Option<Password>,
    /// Where the page comes from, as `http://192.168.1.7:4002`; `None` if it is a file.
    pub(crate) origin: Option<String>,
    /// The number that this seat's orders begin with, far above those of earlier seats of this page.
    pub(crate) first: u64,
}

impl Seat {
    /// Sits down at a table, or comes back to it: a browser that keeps a seat there resumes that one.
    ///
    /// # Errors
    /// In words, if the session cannot start.
    pub(crate) fn take(
        way: Way,
        kept: &BTreeMap<String, String>,
        now: Now,
        rng: &mut ChaCha20Rng,
    ) -> Result<Self, String> {
        let Way { target, name, password, origin, first } = way;
        let lobby = target.lobby().ok_or("a browser joins a table by its ticket, not by an address")?;
        let mut shelf = Shelf::of(lobby, kept, first, rng);
        let key = shelf.key();
        let saved =
            shelf.saved().map_err(|why| format!("what this browser has kept of the table is damaged: {why}"))?;
        if saved.as_ref().is_some_and(|(seat, _)| !seat.knows(&target)) {
            // The number of a table is its host's choice, and another host may have chosen it too.
            return Err(StartError::OtherTable.to_string());
        }
        let sockets = Sockets::new(key.clone(), &target, origin.as_deref(), first, rng);
        let player = Player { key, name, attended: Attended::Person, book: Book::default() };
        let session = match saved {
            Some((seat, records)) => {
                let resumed =
                    Resumed { seat, records, is_clean: false, evidence: 0, friend: Some(target), by_letter: false };
                Session::resume(resumed, player, Hands::Person { ready: true }, now, rng)
            }
            None => {
                let mut program = [0; 16];
                rng.fill_bytes(&mut program);
                let hands = Hands::Person { ready: false };
                let patience = Patience::AMinute;
                let role = Role::Guest { target, hands, program: program.into(), password, patience };
                Session::start(Setup { me: player, role, place: ListenConfig::nowhere() }, now, rng)
            }
        };
        let session = session.map_err(|why| why.to_string())?;
        Ok(Self { session, sockets, shelf, has_ended: false })
    }

    /// Whether the browser keeps a seat at this lobby's table that may be resumed.
    pub(crate) fn is_kept(lobby: [u8; 8], kept: &BTreeMap<String, String>) -> bool {
        Shelf::has_seat(lobby, kept)
    }

    /// A seat as the browser keeps it, to be taken elsewhere; `None` if its game has not begun, or has ended.
    ///
    /// # Errors
    /// In words, if it is damaged.
    pub(crate) fn packed(ticket: &Ticket, kept: &BTreeMap<String, String>) -> Result<Option<SeatFile>, String> {
        Shelf::packed(ticket, kept)
    }

    /// The order to the database by which a browser forgets a seat.
    pub(crate) fn forgotten(file: &SeatFile, id: u64) -> StoreOrder {
        Shelf::forgotten(file, id)
    }

    /// The order to the database by which a seat comes to a browser.
    ///
    /// # Errors
    /// In words, if it cannot be read, or would undo what the browser has, or has given away.
    pub(crate) fn brought(file: &SeatFile, kept: &BTreeMap<String, String>, id: u64) -> Result<StoreOrder, String> {
        Shelf::brought(file, kept, id)
    }

    /// Watches a table, under a key that is nobody's.
    ///
    /// # Errors
    /// In words, if the session cannot start.
    pub(crate) fn watch(way: Way, now: Now, rng: &mut ChaCha20Rng) -> Result<Self, String> {
        let Way { target, password, origin, first, .. } = way;
        let mut secret = [0; 32];
        rng.fill_bytes(&mut secret);
        let key = SigningKey::from_bytes(&secret);
        let sockets = Sockets::new(key.clone(), &target, origin.as_deref(), first, rng);
        let me = Player { key, name: String::new(), attended: Attended::Person, book: Book::default() };
        let setup = Setup { me, role: Role::Watcher { target, password }, place: ListenConfig::nowhere() };
        let session = Session::start(setup, now, rng).map_err(|why| why.to_string())?;
        Ok(Self { session, sockets, shelf: Shelf::of_watcher(first, rng), has_ended: false })
    }

    pub(crate) fn command(&mut self, command: Command, now: Now, rng: &mut ChaCha20Rng) {
        self.session.handle(Input::Command(command), now, rng);
    }

    /// Something has happened to a socket.
    pub(crate) fn socket(&mut self, id: u64, happened: &SocketHappened, now: Now, rng: &mut ChaCha20Rng) {
        self.sockets.happened(id, happened, now.up);
        self.hear_peers(now, rng);
    }

    /// The database has carried out an order, or says why not.
    pub(crate) fn stored(&mut self, id: u64, fault: Option<StoreFault>) {
        self.shelf.stored(id, fault);
    }

    /// Does what is due by now.
    pub(crate) fn time(&mut self, now: Now, rng: &mut ChaCha20Rng) {
        self.sockets.time(now.up, rng);
        self.hear_peers(now, rng);
        if self.session.wake().is_some_and(|wake| wake <= now.up) {
            self.session.handle(Input::Time, now, rng);
        }
    }

    /// When to call [`Self::time`] at the latest.
    pub(crate) fn wake(&self) -> Option<u64> {
        self.session.wake().into_iter().chain(self.sockets.wake()).min()
    }

    /// The page is seen again: a socket that was cut meanwhile is replaced at once.
    pub(crate) fn wakes_up(&mut self, now: Now, rng: &mut ChaCha20Rng) {
        self.sockets.look_again(now.up);
        self.time(now, rng);
        self.command(Command::Hidden(false), now, rng);
    }

    /// Hands over what peers have done. Returns whether there was anything.
    fn hear_peers(&mut self, now: Now, rng: &mut ChaCha20Rng) -> bool {
        let mut is_news = false;
        while let Some((peer, input)) = self.sockets.poll() {
            self.session.handle(Input::Peer(peer, input), now, rng);
            is_news = true;
        }
        is_news
    }

    /// Carries out what the session wants. Returns the next event for the player.
    pub(crate) fn poll(&mut self, now: Now, rng: &mut ChaCha20Rng) -> Option<SessionEvent> {
        loop {
            let Some(output) = self.session.poll() else {
                // An order may have consequences at once, such as an answer or a peer that is gone.
                if let Some((order, answer)) = self.shelf.poll() {
                    self.session.handle(Input::Stored(order, answer), now, rng);
                } else if !self.hear_peers(now, rng) {
                    return None;
                }
                continue;
            };
            match output {
                Output::Send { to, bytes, best_effort } => {
                    to.into_iter().for_each(|peer| self.sockets.send(peer, &bytes, best_effort, now.up));
                }
                // Nobody dials a browser.
                Output::Transport(Transport::Locate) => {
                    self.session.handle(Input::Addresses(Vec::new()), now, rng);
                }
                Output::Transport(order) => self.sockets.order(order, now.up),
                Output::Store(id, order) => self.shelf.order(id, order),
                Output::Tell(event) => return Some(event),
                Output::Think(..) | Output::Program(_) => {}
                Output::Ended => {
                    self.sockets.close_all();
                    self.has_ended = true;
                }
            }
        }
    }

    /// Computes ahead what the session will need; a few milliseconds.
    pub(crate) fn prepare(&mut self) {
        self.session.prepare();
    }

    /// Closes all connections.
    pub(crate) fn close(&mut self) {
        self.sockets.close_all();
    }

    /// Whether the session has ended, and all that it wanted is stored.
    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended && self.shelf.is_idle()
    }

    pub(crate) fn take_sockets(&mut self) -> Vec<SocketOrder> {
        self.sockets.take_orders()
    }

    pub(crate) fn take_store(&mut self) -> Vec<StoreOrder> {
        self.shelf.take_orders()
    }

    /// The finished game under this path, as [`SessionEvent::Over`] names it.
    pub(crate) fn transcript(&self, path: &Path) -> Option<Arc<Transcript>> {
        self.shelf.transcript(path)
    }
}
