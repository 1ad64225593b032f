//! The state that all stages of a session share: the identity, the connections, the player, the outbox, and the moment.

use std::collections::BTreeMap;

use ed25519_dalek::SigningKey;
use fairdeal_peers::{Multiaddr, PeerId};
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::table::clocks::Now;
use rand_core::CryptoRng;

use crate::autopilot::Autopilot;
use crate::chat::Chat;
use crate::events::SessionEvent;
use crate::frame::{Frame, Outgoing};
use crate::header::LocalBot;
use crate::io::{ProgramNews, Transport};
use crate::letter::LetterNews;
use crate::outbox::Outbox;
use crate::people::{Book, SeatPerson};
use crate::reaching::{Reaching, Waiting};
use crate::report::{Report, TableFiles};
use crate::setup::{Attended, ListenConfig, Patience};
use crate::view::LobbyView;

/// How long the addresses are given to come up before others are told, in milliseconds.
pub(crate) const SETTLE: u64 = 200;

/// The session ends. The player has been told why, if there is a reason.
#[derive(Debug)]
pub(crate) struct End;

/// A stage after an input: it stays, or the next one begins.
pub(crate) enum Turn<S, N> {
    Stay(S),
    Next(N),
}

/// The identity that a session plays by.
pub(crate) struct Own {
    pub(crate) key: SigningKey,
    pub(crate) peer: PeerId,
    pub(crate) attended: Attended,
    /// A local bot's identity and settings, which its journal and its promise hold.
    pub(crate) local_bot: Option<LocalBot>,
    /// Whether the seat came here in a file.
    pub(crate) has_moved: bool,
}

/// The connections of a session.
pub(crate) struct Links {
    pub(crate) place: ListenConfig,
    pub(crate) connected: Vec<PeerId>,
    /// Number of frames from each connected peer without a seat.
    pub(crate) strangers: BTreeMap<PeerId, u32>,
    /// When this seat dials all others that are not connected yet.
    pub(crate) dial_all_at: Option<u64>,
    /// When the listen addresses are taken to be complete.
    pub(crate) addresses_at: Option<u64>,
    /// Whether the addresses asked for are to be told to others; otherwise they are only compared.
    pub(crate) tells: bool,
    /// The addresses last told to others.
    pub(crate) told: Vec<Multiaddr>,
    /// When to see next whether they have changed.
    pub(crate) look_at: u64,
    /// The host of this guest or spectator, while it is not connected.
    pub(crate) reaching: Option<Reaching>,
    pub(crate) waiting: Waiting,
}

impl Links {
    /// The state before any peer is connected.
    pub(crate) fn new(place: ListenConfig, now: Now) -> Self {
        // A ticket without the circuits would lead to nobody.
        let wait = if place.relays.is_empty() { SETTLE } else { RELAYED };
        Self {
            place,
            connected: Vec::new(),
            strangers: BTreeMap::new(),
            dial_all_at: None,
            addresses_at: Some(now.up.saturating_add(wait)),
            tells: false,
            told: Vec::new(),
            look_at: now.up,
            reaching: None,
            waiting: Waiting { patience: Patience::AMinute, reply: None },
        }
    }

    /// The host is dialled, from now on.
    pub(crate) fn reach(&mut self, now: Now) {
        self.reaching = Some(Reaching::new(self.waiting.patience, now));
    }

    /// Whether this player's addresses are known and signed.
    pub(crate) fn are_told(&self) -> bool {
        self.addresses_at.is_none() && !self.tells
    }

    /// Listen addresses have changed: others will be told.
    pub(crate) fn addresses_change(&mut self, now: Now) {
        self.addresses_at.get_or_insert(now.up.saturating_add(SETTLE));
    }
}

/// How long to wait for the relays before the ticket is written, in milliseconds.
const RELAYED: u64 = 5_000;

/// The player, and what it was told.
pub(crate) struct Told {
    /// The lobby as last reported.
    pub(crate) lobby: Option<LobbyView>,
    /// Chat limits.
    pub(crate) chat: Chat,
    /// The address book.
    pub(crate) book: Book,
    /// Number of messages of each blocked seat that were not shown.
    pub(crate) hidden: BTreeMap<Seat, u32>,
    /// Whether the player knows that the disk is full.
    disk_is_full: bool,
}

impl Told {
    pub(crate) fn new(book: Book) -> Self {
        Self { lobby: None, chat: Chat::default(), book, hidden: BTreeMap::new(), disk_is_full: false }
    }

    pub(crate) fn knows_of_full_disk(&self) -> bool {
        self.disk_is_full
    }

    /// A player's own key at a seat of the lobby, as last reported.
    pub(crate) fn person_at(&self, seat: Seat) -> Option<&SeatPerson> {
        self.lobby.as_ref()?.seats.get(seat.index())?.as_ref()?.person.as_ref()
    }
}

/// Everything that outlives a stage.
pub(crate) struct Shared {
    pub(crate) own: Own,
    pub(crate) links: Links,
    pub(crate) pilot: Autopilot,
    pub(crate) told: Told,
    pub(crate) files: TableFiles,
    pub(crate) out: Outbox<Report>,
    /// When a finished table stops waiting for the others.
    pub(crate) done: Option<u64>,
}

/// The shared state, the moment and the random bytes, for one input of a stage.
pub(crate) struct Cx<'a> {
    pub(crate) shared: &'a mut Shared,
    pub(crate) now: Now,
    pub(crate) rng: &'a mut dyn CryptoRng,
}

impl std::ops::Deref for Cx<'_> {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        self.shared
    }
}

impl std::ops::DerefMut for Cx<'_> {
    fn deref_mut(&mut self) -> &mut Shared {
        self.shared
    }
}

impl Cx<'_> {
    pub(crate) fn tell(&mut self, event: SessionEvent) {
        self.out.tell(event);
    }

    /// Tells the player why the session ends.
    pub(crate) fn fail(&mut self, why: impl Into<String>) -> End {
        self.tell(SessionEvent::Error(why.into()));
        End
    }

    pub(crate) fn refuse(&mut self, why: impl Into<String>) {
        self.tell(SessionEvent::Refused(why.into()));
    }

    /// Answers a command about a letter.
    pub(crate) fn answer_letter(&mut self, news: LetterNews) {
        self.tell(SessionEvent::Letter(Box::new(news)));
    }

    pub(crate) fn send(&mut self, peer: PeerId, frame: &Frame) {
        self.out.send(vec![peer], frame);
    }

    pub(crate) fn send_all(&mut self, outbox: &Outgoing) {
        for (peer, frame) in outbox {
            self.send(*peer, frame);
        }
    }

    pub(crate) fn transport(&mut self, order: Transport) {
        self.out.transport(order);
    }

    pub(crate) fn program(&mut self, news: ProgramNews) {
        if self.pilot.is_program() {
            self.out.program(news);
        }
    }

    /// Disconnects a peer that sends bad messages.
    pub(crate) fn drop_peer(&mut self, peer: PeerId, why: impl Into<String>) {
        self.transport(Transport::Close { peer, why: Some(why.into()) });
    }

    /// Refuses a peer, and disconnects it.
    pub(crate) fn turn_away(&mut self, peer: PeerId, why: &str) {
        self.send(peer, &Frame::refusal(why));
        self.transport(Transport::Close { peer, why: None });
    }

    /// Whether the player has blocked a peer. A local bot blocks nobody.
    pub(crate) fn is_blocked(&self, peer: PeerId) -> bool {
        self.own.local_bot.is_none() && self.told.book.is_blocked(&peer)
    }

    /// Fills in the address book's marks of a lobby, and remembers it. If it has changed, returns it and the lobby before,
    /// for the caller to tell.
    pub(crate) fn note_lobby(&mut self, mut view: LobbyView) -> Option<(LobbyView, LobbyView)> {
        self.mark(&mut view);
        let before = self.told.lobby.clone().unwrap_or_default();
        (view != before).then(|| {
            self.told.lobby = Some(view.clone());
            (view, before)
        })
    }

    /// Fills in the marks of a lobby. The player itself gets none.
    pub(crate) fn mark(&self, view: &mut LobbyView) {
        for taken in view.seats.iter_mut().flatten() {
            taken.person = taken.person.take().filter(|person| person.key != self.own.peer);
            if let Some(person) = &mut taken.person {
                person.mark = self.told.book.mark(&person.key, &person.announced);
            }
        }
    }

    /// Tells the player, once, that the disk is full and therefore nothing is signed.
    pub(crate) fn disk_is_full(&mut self, why: &str) {
        if !std::mem::replace(&mut self.told.disk_is_full, true) {
            let text = format!("The disk is full: {why}. The table waits until there is room.");
            self.tell(SessionEvent::Disk { full: true, text });
        }
    }

    /// Tells the player that a waiting table goes on.
    pub(crate) fn disk_has_room(&mut self) {
        if std::mem::replace(&mut self.told.disk_is_full, false) {
            let text = "There is room on the disk again; the game continues.".to_owned();
            self.tell(SessionEvent::Disk { full: false, text });
        }
    }
}
