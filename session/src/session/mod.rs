//! One player at one table, from the ticket to the transcript: a machine without a clock, a socket or a disk.
//!
//! Whoever drives it calls [`Session::handle`] with each input, carries out all that [`Session::poll`] then returns, and
//! calls `handle` with [`Input::Time`] at [`Session::wake`] at the latest. The same inputs at the same times with the
//! same random bytes give the same outputs, on every machine.

use fairdeal_games::AnyGame;
use fairdeal_peers::address::{at_port_of, presentable};
use fairdeal_peers::record::AddressRecord;
use fairdeal_peers::ticket::JoinTarget;
use fairdeal_peers::{Multiaddr, PeerId};
use fairdeal_protocol::crypto::pake::Password;
use fairdeal_protocol::table::clocks::Now;
use fairdeal_protocol::table::journal::Record;
use fairdeal_protocol::table::live::Table;
use fairdeal_protocol::wire::bounded::Text;
use rand_core::CryptoRng;

use crate::autopilot::Autopilot;
use crate::cx::{Cx, End, Links, Own, SETTLE, Shared, Told, Turn};
use crate::events::{Command, SessionEvent};
use crate::frame::{Frame, Join, ProgramId};
use crate::header::{LocalBot, SavedSeat};
use crate::io::{Input, Output, PeerInput, Reach, ReachKind, Store, Transport};
use crate::letter::LetterNews;
use crate::lobby::{GuestLobby, HOST, HostLobby};
use crate::outbox::Outbox;
use crate::password_gate::{GuestGate, HostGate};
use crate::report::TableFiles;
use crate::setup::{Attended, Hands, Player, Role, Setup, StartError};
use crate::spectators::Spectators;
use crate::stage::heard::Heard;
use crate::stage::hosting::Hosting;
use crate::stage::joining::Joining;
use crate::stage::lobbies::reaches;
use crate::stage::opening::Opening;
use crate::stage::seated::{Arrival, LATE, Notes, Seated, TICK};
use crate::stage::watching::Watching;
use crate::text::clean;

/// Maximum number of frames from a connected peer without a seat; a guest repeats its request a few times.
const MAX_SAID: u32 = 128;
/// Maximum number of relays of a session.
const MAX_RELAYS: usize = 4;

/// The error for a host that answers in another protocol.
const OTHER_VERSION: &str = concat!(
    "the host runs another version, or not fairdeal; use the same version as the host (this one is ",
    env!("CARGO_PKG_VERSION"),
    ")"
);

/// A session: a stage, and what all stages share.
pub struct Session {
    stage: Stage,
    shared: Shared,
    /// When the next tick is due, by the monotonic clock.
    tick_at: u64,
    has_ended: bool,
}

enum Stage {
    Hosting(Box<Hosting>),
    Joining(Box<Joining>),
    Opening(Box<Opening>),
    Seated(Box<Seated>),
    Watching(Box<Watching>),
    Ended,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Session({:?})", self.shared.own.peer)
    }
}

/// A saved table to resume.
#[derive(Debug)]
pub struct Resumed {
    pub seat: SavedSeat,
    /// The records of the seat's journal, which is open for writing.
    pub records: Vec<Record>,
    /// Whether the journal was marked as clean, and is surely still that one.
    pub is_clean: bool,
    /// The number of evidence files of this table that are saved already.
    pub evidence: usize,
    /// A ticket or an address of another player of the table.
    pub friend: Option<JoinTarget>,
    /// Whether nobody will connect: all that it says goes into letters.
    pub by_letter: bool,
}

impl Resumed {
    /// Adds relays to the saved place, these and the friend's first, `MAX_RELAYS` at most.
    ///
    /// # Errors
    /// [`StartError::OtherTable`] if the friend has no seat at the table.
    pub fn add_relays(&mut self, relays: Vec<Multiaddr>) -> Result<(), StartError> {
        let mut relays = relays;
        if let Some(friend) = &self.friend {
            if !self.seat.knows(friend) {
                return Err(StartError::OtherTable);
            }
            relays.extend(friend.relays());
        }
        let place = &mut self.seat.place;
        let saved = std::mem::take(&mut place.relays);
        for relay in relays.into_iter().chain(saved) {
            if !place.relays.contains(&relay) && place.relays.len() < MAX_RELAYS {
                place.relays.push(relay);
            }
        }
        Ok(())
    }
}

impl Session {
    /// Opens a table, joins one or watches one.
    ///
    /// # Errors
    /// [`StartError`].
    pub fn start(setup: Setup, now: Now, rng: &mut dyn CryptoRng) -> Result<Self, StartError> {
        let Setup { me, role, place } = setup;
        if let Some(target) = role.target()
            && let Some(person) = me.book.get(&target.host()).filter(|person| person.blocked)
        {
            return Err(StartError::Blocked { name: person.shown(), key: person.key.to_string() });
        }
        let (hands, local_bot) = match &role {
            Role::Host { hands, .. } | Role::Guest { hands, .. } => (*hands, None),
            Role::LocalBot { pilot, .. } => (Hands::Bot(*pilot), Some(LocalBot::new(&me.key, *pilot))),
            Role::Watcher { .. } => (Hands::Person { ready: true }, None),
        };
        let (key, local) = (me.key.clone(), PeerId::of(&me.key));
        let mut out = Outbox::default();
        let mut links = Links::new(place, now);
        if let Role::Guest { patience, .. } = &role {
            links.waiting.patience = *patience;
        }
        let mut reach = |target: JoinTarget| {
            let (host, lobby, at) = target.into_parts();
            links.reach(now);
            out.transport(Transport::Keep { peer: host, at });
            (host, lobby)
        };
        let own = |program: ProgramId, rng: &mut dyn CryptoRng| -> Result<Join, StartError> {
            let mut nonce = [0; 32];
            rng.fill_bytes(&mut nonce);
            Ok(Join {
                lobby: None,
                name: Text::try_from(clean(&me.name)).map_err(|_| StartError::Name)?,
                nonce,
                record: AddressRecord::default(),
                proof: None,
                program,
                played_by: hands.declared()?,
            })
        };
        let stage = match role {
            Role::Host { rules, program, password, .. } => {
                let own = own(program, rng)?;
                let mut id = [0; 8];
                rng.fill_bytes(&mut id);
                let mut lobby = HostLobby::new(id, rules, key, own, hands.is_ready());
                if let Some(password) = password {
                    lobby.spectators().lock(HostGate::new(password, local, id));
                }
                Stage::Hosting(Box::new(Hosting::new(lobby, id)))
            }
            Role::Guest { target, program, password, .. } => {
                let (host, lobby) = reach(target);
                let own = Join { lobby, ..own(program, rng)? };
                let guest = GuestLobby::new(host, key, own, false, hands.is_ready());
                Stage::Joining(Box::new(Joining::new(with_gate(guest, password, lobby, local, rng))))
            }
            Role::LocalBot { ticket, program, password, .. } => {
                let (host, lobby) = reach(JoinTarget::Ticket(ticket));
                let own = Join { lobby, ..own(program, rng)? };
                let guest = GuestLobby::new(host, key, own, true, true);
                Stage::Joining(Box::new(Joining::new(with_gate(guest, password, lobby, local, rng))))
            }
            Role::Watcher { target, password } => {
                let (host, lobby) = reach(target);
                let gate = password.map(|password| GuestGate::new(&password, lobby, local, host, rng));
                Stage::Watching(Box::new(Watching::new(host, lobby, gate)))
            }
        };
        let Player { key, attended, book, .. } = me;
        let shared = Shared {
            own: Own { key, peer: local, attended, local_bot, has_moved: false },
            links,
            pilot: Autopilot::new(hands),
            told: Told::new(book),
            files: TableFiles::default(),
            out,
            done: None,
        };
        Ok(Self { stage, shared, tick_at: now.up, has_ended: false })
    }

    /// Resumes a saved table. `hands` play the player's own seat; a local bot plays by its saved settings. The name of
    /// the player is that of the charter.
    ///
    /// # Errors
    /// [`StartError`].
    pub fn resume(
        resumed: Resumed,
        me: Player,
        hands: Hands,
        now: Now,
        rng: &mut dyn CryptoRng,
    ) -> Result<Self, StartError> {
        let Resumed { seat: saved, records, is_clean, evidence, friend, by_letter } = resumed;
        let hands = saved.bot_pilot().map_or(hands, Hands::Bot);
        let (local_bot, has_moved) = (saved.local_bot().cloned(), saved.has_moved());
        let SavedSeat { agreed, place, password, .. } = saved;
        let Player { key, attended, book, .. } = me;
        if agreed.charter.charter().seat_of(&(&key).into()) != Some(agreed.me) {
            return Err(StartError::OtherIdentity);
        }
        let peer = PeerId::of(&key);
        let notes = Notes::of(&records);
        let charter = agreed.charter.clone();
        let table = if is_clean {
            Table::<AnyGame>::reopen(charter, agreed.me, key.clone(), records, rng)?
        } else {
            Table::<AnyGame>::restore(charter, agreed.me, key.clone(), records, rng)?
        };
        let spectators = (agreed.me == HOST).then(|| {
            let lobby = agreed.charter.charter().lobby;
            let mut spectators = Spectators::new(lobby);
            if let Some(password) = password {
                spectators.lock(HostGate::new(password, peer, lobby));
            }
            spectators
        });
        let mut shared = Shared {
            own: Own { key, peer, attended, local_bot, has_moved },
            links: Links::new(place, now),
            pilot: Autopilot::new(hands),
            told: Told::new(book),
            files: TableFiles::default(),
            out: Outbox::default(),
            done: None,
        };
        let mut cx = Cx { shared: &mut shared, now, rng };
        let arrival = Arrival { is_new: false, friend, spectators, evidence, notes, by_letter };
        let stage = match Seated::open(table, agreed, arrival, &mut cx) {
            Ok(seated) => Stage::Seated(Box::new(seated)),
            Err(End) => Stage::Ended,
        };
        let mut session = Self { stage, shared, tick_at: now.up, has_ended: false };
        session.end_if_done();
        Ok(session)
    }

    /// This program as others know it at the table.
    pub fn peer(&self) -> PeerId {
        self.shared.own.peer
    }

    /// The next thing that the session wants.
    pub fn poll(&mut self) -> Option<Output> {
        self.shared.out.poll()
    }

    /// When to call [`Self::handle`] with [`Input::Time`] at the latest, by the monotonic clock; `None` if never.
    pub fn wake(&self) -> Option<u64> {
        if matches!(self.stage, Stage::Ended) {
            return None;
        }
        let Shared { links, pilot, done, out, .. } = &self.shared;
        // While something that is signed is being written, the end waits for it.
        let done = done.filter(|_| !out.is_writing());
        let due = [links.addresses_at, links.dial_all_at, pilot.acts_at, done, Some(self.tick_at)];
        due.into_iter().flatten().min()
    }

    /// Handles an input. `now` never goes back by its monotonic clock.
    pub fn handle(&mut self, input: Input, now: Now, rng: &mut dyn CryptoRng) {
        let mut cx = Cx { shared: &mut self.shared, now, rng };
        match input {
            Input::Stored(id, answer) => match cx.out.take_report(id) {
                Some(report) => {
                    let events = report.finish(answer, &mut cx.files);
                    cx.out.report(events);
                }
                None => self.stage.hear(Heard::Stored(id, answer), &mut cx),
            },
            _ if matches!(self.stage, Stage::Ended) => {}
            Input::Command(command) => self.stage.command(command, &mut cx),
            Input::Peer(peer, input) => self.stage.peer(peer, input, &mut cx),
            Input::Reach(reach) => self.stage.reach(reach, &mut cx),
            Input::Moved => self.stage.addresses_change(&mut cx),
            Input::Addresses(addresses) => self.stage.located(&addresses, &mut cx),
            Input::Thought(id, choice) => self.stage.hear(Heard::Thought(id, choice), &mut cx),
            Input::Book(book) => {
                cx.told.book = book;
                self.stage.hear(Heard::Book, &mut cx);
            }
            Input::Failed(why) => {
                cx.fail(why);
                self.stage.end();
            }
            Input::Time => self.stage.time(&mut self.tick_at, &mut cx),
        }
        self.end_if_done();
    }

    /// Whether [`Self::prepare`] has something to do.
    pub fn can_prepare(&self) -> bool {
        matches!(&self.stage, Stage::Seated(seated) if seated.can_prepare())
    }

    /// Computes ahead what this seat will need, some milliseconds' work: for drivers with nothing else to do. Nothing that
    /// the session says depends on whether or when it is called.
    pub fn prepare(&mut self) {
        if let Stage::Seated(seated) = &mut self.stage {
            seated.prepare();
        }
    }

    /// Says that the session has ended, once the player has been told everything.
    fn end_if_done(&mut self) {
        let Shared { own, out, files, .. } = &mut self.shared;
        if matches!(self.stage, Stage::Ended) && !self.has_ended && !out.is_waiting() {
            self.has_ended = true;
            if files.settled && files.is_dispensable {
                // The journal of a seat that came in a file shows that it was here: the file must not begin it again.
                out.store(if own.has_moved { Store::End } else { Store::Remove });
            }
            out.end();
        }
    }
}

fn with_gate(
    mut guest: GuestLobby,
    password: Option<Password>,
    lobby: Option<[u8; 8]>,
    local: PeerId,
    rng: &mut dyn CryptoRng,
) -> GuestLobby {
    if let Some(password) = password {
        let host = guest.host();
        guest.login_at(GuestGate::new(&password, lobby, local, host, rng));
    }
    guest
}

impl Stage {
    fn hear(&mut self, heard: Heard, cx: &mut Cx<'_>) {
        let stage = std::mem::replace(self, Self::Ended);
        *self = stage.next(heard, cx).unwrap_or(Self::Ended);
    }

    fn next(self, heard: Heard, cx: &mut Cx<'_>) -> Result<Self, End> {
        Ok(match self {
            Self::Hosting(stage) => match stage.hear(heard, cx)? {
                Turn::Stay(stage) => Self::Hosting(stage),
                Turn::Next(stage) => Self::Opening(stage),
            },
            Self::Joining(stage) => match stage.hear(heard, cx)? {
                Turn::Stay(stage) => Self::Joining(stage),
                Turn::Next(stage) => Self::Opening(stage),
            },
            Self::Opening(stage) => match stage.hear(heard, cx)? {
                Turn::Stay(stage) => Self::Opening(stage),
                Turn::Next(stage) => Self::Seated(stage),
            },
            Self::Seated(mut stage) => {
                stage.hear(heard, cx)?;
                Self::Seated(stage)
            }
            Self::Watching(mut stage) => {
                stage.hear(heard, cx)?;
                Self::Watching(stage)
            }
            Self::Ended => Self::Ended,
        })
    }

    fn end(&mut self) {
        *self = Self::Ended;
    }

    fn command(&mut self, command: Command, cx: &mut Cx<'_>) {
        if command == Command::Undo {
            return cx.refuse("a signed action can't be undone; practice games allow it");
        }
        if matches!(command, Command::WriteLetter(_) | Command::ReadLetter(_)) && !matches!(self, Self::Seated(_)) {
            return cx.answer_letter(LetterNews::Refused("letters need a table that has begun".to_owned()));
        }
        if let Command::Attend(is_attended) = command {
            cx.own.attended = if is_attended { Attended::Person } else { Attended::Nobody };
        }
        self.hear(Heard::Command(command), cx);
    }

    /// The host that this guest or spectator connects to.
    fn host(&self) -> Option<PeerId> {
        match self {
            Self::Joining(joining) => Some(joining.host()),
            Self::Watching(watching) => Some(watching.host()),
            Self::Hosting(_) | Self::Opening(_) | Self::Seated(_) | Self::Ended => None,
        }
    }

    /// Whether a peer has a seat or is to have one, watches, or is this player's host.
    fn knows(&self, peer: PeerId) -> bool {
        match self {
            Self::Hosting(hosting) => hosting.knows(peer),
            Self::Seated(seated) => seated.knows(peer),
            // Seated guests repeat their frames until the table opens; do not count them as strangers.
            Self::Opening(_) => true,
            Self::Joining(joining) => joining.knows(peer),
            Self::Watching(_) | Self::Ended => self.host() == Some(peer),
        }
    }

    fn peer(&mut self, peer: PeerId, input: PeerInput, cx: &mut Cx<'_>) {
        match input {
            PeerInput::Connected(network) => {
                if !cx.links.connected.contains(&peer) {
                    cx.links.connected.push(peer);
                }
                self.hear(Heard::Arrived(peer, network), cx);
            }
            PeerInput::Gone => {
                cx.links.connected.retain(|known| *known != peer);
                cx.links.strangers.remove(&peer);
                self.hear(Heard::Gone(peer), cx);
            }
            PeerInput::Frame(bytes) => self.frame(peer, &bytes, cx),
            PeerInput::RoundTrip(millis) => self.hear(Heard::RoundTrip(peer, millis), cx),
            PeerInput::Unreachable(why) => self.unreachable(peer, why, cx),
            PeerInput::ListensAt(listening) => self.hear(Heard::ListensAt(peer, listening), cx),
            PeerInput::Found(address) => self.hear(Heard::Found(peer, address), cx),
            PeerInput::OtherProtocol => {
                // If it is the host, give up: it will not change.
                if self.host() == Some(peer) {
                    cx.fail(OTHER_VERSION);
                    self.end();
                }
            }
        }
    }

    fn frame(&mut self, peer: PeerId, bytes: &[u8], cx: &mut Cx<'_>) {
        let frame = match Frame::from_bytes(bytes) {
            Ok(frame) => frame,
            Err(error) => return cx.drop_peer(peer, error.to_string()),
        };
        if !self.knows(peer) {
            let said = cx.links.strangers.entry(peer).or_default();
            *said += 1;
            if *said > MAX_SAID {
                return cx.drop_peer(peer, "too many messages from a stranger");
            }
        }
        self.hear(Heard::Frame(peer, frame), cx);
    }

    fn unreachable(&mut self, peer: PeerId, why: String, cx: &mut Cx<'_>) {
        if self.host() != Some(peer) {
            return self.hear(Heard::Unreachable(peer, why), cx);
        }
        if let Some(reaching) = &mut cx.links.reaching {
            reaching.failed(why);
            if reaches(cx).is_err() {
                self.end();
            }
        }
    }

    /// Listen addresses have changed: schedules a rewrite of the ticket and of this seat's own record.
    fn addresses_change(&self, cx: &mut Cx<'_>) {
        if matches!(self, Self::Hosting(_) | Self::Joining(_) | Self::Opening(_) | Self::Seated(_)) {
            let now = cx.now;
            cx.links.addresses_change(now);
        }
    }

    /// Where others can reach this program.
    fn located(&mut self, addresses: &[Multiaddr], cx: &mut Cx<'_>) {
        let presented = presentable(addresses);
        if !std::mem::take(&mut cx.links.tells) {
            if presented != cx.links.told {
                self.addresses_change(cx);
            }
            return;
        }
        for listen in &mut cx.links.place.listen {
            *listen = at_port_of(listen, addresses);
        }
        cx.links.told.clone_from(&presented);
        self.hear(Heard::Addresses(presented), cx);
    }

    /// Reports to the player how others can reach the table.
    fn reach(&self, Reach { kind, words }: Reach, cx: &mut Cx<'_>) {
        match kind {
            ReachKind::Relay => {
                let soon = cx.now.up.saturating_add(SETTLE);
                cx.links.addresses_at = cx.links.addresses_at.map(|at| at.min(soon));
                self.addresses_change(cx);
            }
            ReachKind::Port => self.addresses_change(cx),
            ReachKind::Host => {
                if let (Some(reaching), Some(words)) = (&mut cx.links.reaching, words) {
                    reaching.doubt(words);
                }
                return;
            }
            ReachKind::Multicast | ReachKind::Other => {}
        }
        let matters = match self {
            Self::Hosting(_) => true,
            // Only a host's table is looked for on the LAN.
            Self::Joining(_) => kind != ReachKind::Multicast,
            // Whoever resumes with a relay wants to know whether it works.
            Self::Seated(_) => kind == ReachKind::Relay,
            Self::Opening(_) | Self::Watching(_) | Self::Ended => false,
        };
        if let Some(words) = words.filter(|_| matters) {
            cx.tell(SessionEvent::Reach(words));
        }
    }

    /// Does what is due by now.
    fn time(&mut self, tick_at: &mut u64, cx: &mut Cx<'_>) {
        let up = cx.now.up;
        if cx.links.addresses_at.take_if(|at| *at <= up).is_some() {
            cx.links.tells = true;
            cx.transport(Transport::Locate);
        }
        self.hear(Heard::Time, cx);
        if *tick_at <= up {
            if up.saturating_sub(*tick_at) > LATE && cx.links.reaching.is_some() {
                // The machine was asleep: the time to reach the host begins again. It may be elsewhere now.
                let now = cx.now;
                cx.links.reach(now);
            }
            *tick_at = up.saturating_add(TICK);
            cx.told.chat.tick();
            self.hear(Heard::Tick, cx);
        }
        if cx.done.is_some_and(|done| done <= up) && !cx.out.is_writing() {
            self.end();
        }
    }
}

#[cfg(test)]
mod tests;
