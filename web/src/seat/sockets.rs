//! WebSockets to the doors of other programs. The scripts of the page own them; here is what is said on them, to whom a
//! socket is opened, and when.
//!
//! A peer is dialled at all its doors at once, and through the doors of its relays, and the first that proves the peer's key
//! is kept. A silent socket is replaced: the pings of both ends make an honest one speak every few seconds.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use data_encoding::BASE64;
use ed25519_dalek::SigningKey;
use fairdeal_link::{Connection, Event, LinkError, StreamName};
use fairdeal_peers::address::{door_url, is_circuit, is_everywhere, is_loopback, relay_of};
use fairdeal_peers::ticket::JoinTarget;
use fairdeal_peers::{Multiaddr, PeerId};
use fairdeal_session::frame::MAX_FRAME;
use fairdeal_session::io::{PeerInput, Transport};
use rand_chacha::ChaCha20Rng;
use rand_core::Rng as _;

use crate::message::{SocketHappened, SocketOrder};

/// Maximum number of doors of one peer that are dialled.
const MAX_DOORS: usize = 8;
/// Maximum time until a peer has proven its key, in milliseconds.
const HANDSHAKE: u64 = 10_000;
/// Pause between one ping and the next.
const PING: u64 = 3_000;
/// Maximum silence of a socket.
const SILENCE: u64 = 10_000;
/// The first pause before a peer is dialled again, and the longest; each is twice the one before.
const REDIAL_FIRST: u64 = 500;
const REDIAL_MOST: u64 = 10_000;
/// The longest pause where a relay has said that the host is not there: it counts the questions.
const REFUSED_MOST: u64 = 60_000;
/// How long a connection must last for the next dial to come at once, in milliseconds.
const LASTING: u64 = 10_000;
/// Above this many bytes that a peer has not accepted, best-effort messages to it are left out.
const BUSY: usize = 4096;
/// Maximum number of messages that wait for a peer to accept them, and of their bytes.
const MAX_WAITING: usize = 64;
const MAX_WAITING_BYTES: usize = 16 * MAX_FRAME;

/// All sockets of a seat.
pub(super) struct Sockets {
    key: SigningKey,
    /// The number of this page in the names of streams.
    program: [u8; 8],
    /// The number of the newest socket.
    newest: u64,
    host: PeerId,
    /// The ways to the host through relays, as the ticket names them. Whoever joins trusts these relays; those of records
    /// are not dialled.
    circuits: Vec<Multiaddr>,
    /// The door that this page comes from, which may be the host's or a relay's.
    origin: Option<String>,
    /// Whether the host's table is one of this machine, so that doors at loopback addresses may be dialled.
    is_local: bool,
    peers: BTreeMap<PeerId, Peer>,
    sockets: BTreeMap<u64, Socket>,
    orders: Vec<SocketOrder>,
    heard: VecDeque<(PeerId, PeerInput)>,
}

/// Where a peer can be dialled.
#[derive(Clone, PartialEq, Eq)]
struct Door {
    url: String,
    /// The relay that answers there, if it is not the peer.
    relay: Option<PeerId>,
}

impl Door {
    /// The door that an address names.
    fn at(address: &Multiaddr) -> Option<Self> {
        let relay = if is_circuit(address) { Some(relay_of(address)?.0) } else { None };
        Some(Self { url: socket_url(&door_url(address)?)?, relay })
    }
}

impl Peer {
    /// The doors to dial in this round.
    fn doors_now(&self) -> Vec<Door> {
        let relays: BTreeSet<PeerId> = self.doors.iter().filter_map(|door| door.relay).collect();
        let of_relay = |relay: PeerId| {
            let doors: Vec<&Door> = self.doors.iter().filter(|door| door.relay == Some(relay)).collect();
            doors.get(self.rounds.wrapping_sub(1) % doors.len().max(1)).copied()
        };
        let own = self.doors.iter().filter(|door| door.relay.is_none());
        own.chain(relays.into_iter().filter_map(of_relay)).cloned().collect()
    }
}

/// Why a socket is given up.
#[derive(Debug, thiserror::Error)]
enum Loss {
    #[error("the connection was closed")]
    Closed,
    #[error("it does not answer")]
    Silent,
    #[error(transparent)]
    Broken(#[from] LinkError),
}

/// A peer that is to be connected.
struct Peer {
    doors: Vec<Door>,
    /// The socket on which it has proven its key.
    open: Option<u64>,
    /// When it is dialled next, if it is not connected or being dialled.
    dial_at: Option<u64>,
    pause: u64,
    /// How often it was dialled; each time at another door of a relay that has several.
    rounds: usize,
    /// Whether a relay has said in this round that the peer is not there.
    is_refused: bool,
}

struct Socket {
    peer: PeerId,
    link: Connection,
    /// Whether the browser has opened it.
    is_open: bool,
    /// When it was dialled, and once the peer has proven its key, when something was heard on it last.
    heard_at: u64,
    /// When the peer has proven its key.
    open_at: u64,
    /// When the next ping is due, and when the last one was sent.
    ping_at: u64,
    pinged_at: Option<u64>,
}

impl Sockets {
    pub(super) fn new(
        key: SigningKey,
        target: &JoinTarget,
        origin: Option<&str>,
        first: u64,
        rng: &mut ChaCha20Rng,
    ) -> Self {
        let mut program = [0; 8];
        rng.fill_bytes(&mut program);
        let (host, _, addresses) = target.clone().into_parts();
        let origin = origin.and_then(socket_url);
        let is_local = !addresses.is_empty() && addresses.iter().all(is_loopback);
        Self {
            key,
            program,
            newest: first,
            host,
            circuits: addresses
                .iter()
                .filter(|address| is_circuit(address) && may_lead(is_local, address))
                .cloned()
                .collect(),
            origin,
            is_local,
            peers: BTreeMap::new(),
            sockets: BTreeMap::new(),
            orders: Vec::new(),
            heard: VecDeque::new(),
        }
    }

    /// Carries out an order of the session, but for [`Transport::Locate`].
    pub(super) fn order(&mut self, order: Transport, now: u64) {
        match order {
            Transport::Keep { peer, at } => self.keep(peer, &at, now),
            Transport::Forget(peer) => {
                if let Some(known) = self.peers.get_mut(&peer) {
                    known.dial_at = None;
                    known.doors.clear();
                }
                self.drop_where(|socket| socket.peer == peer && !socket.link.is_open());
            }
            Transport::Close { peer, .. } => {
                if self.peers.remove(&peer).is_some_and(|peer| peer.open.is_some()) {
                    self.heard.push_back((peer, PeerInput::Gone));
                }
                self.drop_where(|socket| socket.peer == peer);
            }
            // A browser dials and is not dialled: it has no strangers, and announces nothing.
            Transport::Dial { .. }
            | Transport::Seat(_)
            | Transport::Admit(_)
            | Transport::Dismiss(_)
            | Transport::Announce { .. }
            | Transport::Locate => {}
        }
    }

    fn keep(&mut self, peer: PeerId, at: &[Multiaddr], now: u64) {
        let near = at.iter().filter(|address| may_lead(self.is_local, address));
        let through: &[Multiaddr] = if peer == self.host { &self.circuits } else { &[] };
        let there = near.filter(|address| !is_circuit(address)).chain(through).filter_map(Door::at);
        let mut doors: Vec<Door> = Vec::new();
        for door in self.doors_here(peer, at).into_iter().chain(there) {
            if !doors.contains(&door) && doors.len() < MAX_DOORS {
                doors.push(door);
            }
        }
        if doors.is_empty() && peer == self.host {
            let why = "this ticket names no door for browsers; ask the host for a new ticket";
            self.heard.push_back((peer, PeerInput::Unreachable(why.to_owned())));
        }
        let is_dialled = self.sockets.values().any(|socket| socket.peer == peer);
        let known = self.peers.entry(peer).or_insert(Peer {
            doors: Vec::new(),
            open: None,
            dial_at: None,
            pause: REDIAL_FIRST,
            rounds: 0,
            is_refused: false,
        });
        let is_new = known.doors.is_empty();
        known.doors = doors;
        if known.open.is_none() && !is_dialled && (is_new || known.dial_at.is_none()) {
            known.dial_at = Some(now);
        }
    }

    /// The host behind the door that this page comes from: the host's own or that of one of its relays, which may have other
    /// names than the addresses know.
    fn doors_here(&self, peer: PeerId, at: &[Multiaddr]) -> Vec<Door> {
        let Some(url) = self.origin.as_ref().filter(|_| peer == self.host) else { return Vec::new() };
        if at.iter().chain(&self.circuits).filter_map(Door::at).any(|door| door.url == *url) {
            return Vec::new();
        }
        let through = self.circuits.iter().filter_map(|address| Some(relay_of(address)?.0));
        [None].into_iter().chain(through.map(Some)).map(|relay| Door { url: url.clone(), relay }).collect()
    }

    /// Sends a message to a connected peer. What it has not accepted when its socket ends is lost.
    pub(super) fn send(&mut self, peer: PeerId, message: &[u8], best_effort: bool, now: u64) {
        let Some(id) = self.peers.get(&peer).and_then(|peer| peer.open) else { return };
        let Some(socket) = self.sockets.get_mut(&id) else { return };
        let (messages, bytes) = socket.link.unanswered();
        let is_full = messages >= MAX_WAITING || bytes.saturating_add(message.len()) > MAX_WAITING_BYTES;
        if is_full || (best_effort && bytes >= BUSY) {
            return;
        }
        let sent = socket.link.send(message);
        self.settle(id, sent, now);
    }

    pub(super) fn poll(&mut self) -> Option<(PeerId, PeerInput)> {
        self.heard.pop_front()
    }

    pub(super) fn take_orders(&mut self) -> Vec<SocketOrder> {
        std::mem::take(&mut self.orders)
    }

    pub(super) fn close_all(&mut self) {
        self.drop_where(|_| true);
        self.peers.clear();
    }

    fn drop_where(&mut self, is_it: impl Fn(&Socket) -> bool) {
        let all: Vec<u64> = self.sockets.iter().filter(|(_, socket)| is_it(socket)).map(|(id, _)| *id).collect();
        all.into_iter().for_each(|id| self.drop_socket(id));
    }

    /// Something has happened to a socket; nothing if it is given up.
    pub(super) fn happened(&mut self, id: u64, happened: &SocketHappened, now: u64) {
        let Some(socket) = self.sockets.get_mut(&id) else { return };
        match happened {
            SocketHappened::Opened => {
                socket.is_open = true;
                self.settle(id, Ok(()), now);
            }
            SocketHappened::Heard(bytes) => {
                // What is no base64 does not come from the scripts of the page.
                let bytes = BASE64.decode(bytes.as_bytes()).unwrap_or_default();
                let heard = socket.link.receive(&bytes);
                // Until the peer has proven its key, only the time since it was dialled counts.
                if socket.link.is_open() && heard == Ok(true) {
                    socket.heard_at = now;
                }
                self.settle(id, heard.map(|_| ()), now);
            }
            SocketHappened::Closed => self.lose(id, &Loss::Closed, now),
        }
    }

    /// Hears and sends all that a socket's machine has now, or gives the socket up.
    fn settle(&mut self, id: u64, result: Result<(), LinkError>, now: u64) {
        if let Err(why) = result.and_then(|()| self.hear(id, now)) {
            return self.lose(id, &Loss::Broken(why), now);
        }
        let Some(socket) = self.sockets.get_mut(&id).filter(|socket| socket.is_open) else { return };
        while let Some(bytes) = socket.link.take_bytes() {
            self.orders.push(SocketOrder::Send { id, bytes: BASE64.encode(&bytes) });
        }
    }

    fn hear(&mut self, id: u64, now: u64) -> Result<(), LinkError> {
        while let Some(socket) = self.sockets.get_mut(&id) {
            let Some(event) = socket.link.poll() else { break };
            let peer = socket.peer;
            match event {
                Event::Open => self.open(peer, id, now),
                Event::Message(bytes) => {
                    self.heard.push_back((peer, PeerInput::Frame(bytes)));
                    // The session takes it before anything else is heard.
                    socket.link.taken()?;
                }
                Event::Pong => {
                    if let Some(pinged_at) = socket.pinged_at.take() {
                        let millis = u32::try_from(now.saturating_sub(pinged_at)).unwrap_or(u32::MAX);
                        self.heard.push_back((peer, PeerInput::RoundTrip(millis)));
                    }
                }
            }
        }
        Ok(())
    }

    /// A peer has proven its key on a socket: its others are not needed.
    fn open(&mut self, peer: PeerId, id: u64, now: u64) {
        if let Some(socket) = self.sockets.get_mut(&id) {
            (socket.ping_at, socket.heard_at, socket.open_at) = (now, now, now);
        }
        let others: Vec<u64> = self
            .sockets
            .iter()
            .filter(|(other, socket)| **other != id && socket.peer == peer)
            .map(|(id, _)| *id)
            .collect();
        others.into_iter().for_each(|other| self.drop_socket(other));
        if let Some(known) = self.peers.get_mut(&peer) {
            (known.open, known.dial_at) = (Some(id), None);
            self.heard.push_back((peer, PeerInput::Connected(None)));
        }
    }

    fn drop_socket(&mut self, id: u64) {
        if self.sockets.remove(&id).is_some() {
            self.orders.push(SocketOrder::Close(id));
        }
    }

    /// A socket has ended. A peer that was connected for a while is dialled again at once, another one after a pause.
    fn lose(&mut self, id: u64, why: &Loss, now: u64) {
        let Some((peer, open_at)) = self.sockets.get(&id).map(|socket| (socket.peer, socket.open_at)) else { return };
        self.drop_socket(id);
        let is_dialled = self.sockets.values().any(|socket| socket.peer == peer);
        let Some(known) = self.peers.get_mut(&peer) else { return };
        known.is_refused |= matches!(why, Loss::Broken(LinkError::Refused(_)));
        if known.open == Some(id) {
            // Two pages of one seat would take each other's connections without end.
            let lasted = now.saturating_sub(open_at) >= LASTING;
            known.pause = if lasted { REDIAL_FIRST } else { known.pause.saturating_mul(2).min(REDIAL_MOST) };
            known.open = None;
            known.dial_at = Some(if lasted { now } else { now.saturating_add(known.pause) });
            self.heard.push_back((peer, PeerInput::Gone));
        } else if !is_dialled {
            let most = if known.is_refused { REFUSED_MOST } else { REDIAL_MOST };
            known.pause = known.pause.min(most);
            known.dial_at = Some(now.saturating_add(known.pause));
            known.pause = known.pause.saturating_mul(2).min(most);
            let urls: Vec<&str> = known.doors.iter().map(|door| door.url.as_str()).collect();
            self.heard.push_back((peer, PeerInput::Unreachable(format!("no answer from {}: {why}", urls.join(", ")))));
        }
    }

    /// The page is seen again: what was cut meanwhile is noticed, and dialled, at once.
    pub(super) fn look_again(&mut self, now: u64) {
        for socket in self.sockets.values_mut() {
            socket.ping_at = now;
        }
        for peer in self.peers.values_mut() {
            peer.pause = REDIAL_FIRST;
            peer.dial_at = peer.dial_at.map(|at| at.min(now));
        }
    }

    /// Does what is due by now.
    pub(super) fn time(&mut self, now: u64, rng: &mut ChaCha20Rng) {
        // The browser let this page sleep: what has arrived meanwhile is heard after this.
        if self.wake().is_some_and(|due| now.saturating_sub(due) > SILENCE / 2) {
            for socket in self.sockets.values_mut() {
                (socket.heard_at, socket.ping_at) = (now, now);
            }
        }
        for id in self.sockets.keys().copied().collect::<Vec<u64>>() {
            let Some(socket) = self.sockets.get_mut(&id) else { continue };
            let silence = now.saturating_sub(socket.heard_at);
            if silence >= socket.patience() {
                self.lose(id, &Loss::Silent, now);
            } else if socket.link.is_open() && socket.ping_at <= now {
                socket.ping_at = now.saturating_add(PING);
                socket.pinged_at.get_or_insert(now);
                let pinged = socket.link.ping();
                self.settle(id, pinged, now);
            }
        }
        let due: Vec<PeerId> =
            self.peers.iter().filter(|(_, peer)| peer.dial_at.is_some_and(|at| at <= now)).map(|(id, _)| *id).collect();
        due.into_iter().for_each(|peer| self.dial(peer, now, rng));
    }

    /// When to call [`Self::time`] at the latest.
    pub(super) fn wake(&self) -> Option<u64> {
        let sockets = self.sockets.values().flat_map(|socket| {
            let silent = socket.heard_at.saturating_add(socket.patience());
            socket.link.is_open().then_some(socket.ping_at).into_iter().chain([silent])
        });
        sockets.chain(self.peers.values().filter_map(|peer| peer.dial_at)).min()
    }

    /// Opens sockets at all doors of a peer, but at one of each relay: it counts connections and questions.
    fn dial(&mut self, peer: PeerId, now: u64, rng: &mut ChaCha20Rng) {
        let Some(known) = self.peers.get_mut(&peer) else { return };
        known.dial_at = None;
        known.is_refused = false;
        known.rounds += 1;
        for door in known.doors_now() {
            self.newest += 1;
            let (id, name) = (self.newest, StreamName { program: self.program, number: self.newest });
            // The primitives never refuse to begin.
            let link = match door.relay {
                Some(relay) => Connection::dial_through(relay, &self.key, peer, name, MAX_FRAME, rng),
                None => Connection::dial(&self.key, peer, name, MAX_FRAME, rng),
            };
            let Ok(link) = link else { continue };
            let socket =
                Socket { peer, link, is_open: false, heard_at: now, open_at: now, ping_at: now, pinged_at: None };
            self.sockets.insert(id, socket);
            self.orders.push(SocketOrder::Open { id, url: door.url });
        }
    }
}

impl Socket {
    /// How long it may be silent, in milliseconds.
    fn patience(&self) -> u64 {
        if self.link.is_open() { SILENCE } else { HANDSHAKE }
    }
}

/// Whether an address may be dialled: those of this machine only at a table of this machine. An address of every interface
/// is one of this machine too.
fn may_lead(is_local: bool, address: &Multiaddr) -> bool {
    is_local || !(is_loopback(address) || is_everywhere(address))
}

/// The address of a WebSocket at an HTTP address.
fn socket_url(page: &str) -> Option<String> {
    let rest = page.strip_prefix("http").filter(|rest| rest.starts_with("://") || rest.starts_with("s://"))?;
    Some(format!("ws{rest}/"))
}

#[cfg(test)]
mod tests {
    use fairdeal_link::Refused;
    use fairdeal_peers::testing::{key, peer};
    use fairdeal_peers::ticket::Ticket;
    use rand_core::SeedableRng as _;

    use super::*;

    fn address(text: &str) -> Multiaddr {
        text.parse().unwrap()
    }

    /// The sockets of a page that knows a ticket with these addresses.
    fn sockets(addresses: &[&str], origin: Option<&str>) -> (Sockets, ChaCha20Rng) {
        let mut rng = ChaCha20Rng::from_seed([1; 32]);
        let addresses: Vec<Multiaddr> = addresses.iter().map(|text| address(text)).collect();
        let ticket = Ticket::new([7; 8], peer(2), addresses.clone()).unwrap();
        let mut sockets = Sockets::new(key(1), &JoinTarget::Ticket(ticket), origin, 0, &mut rng);
        sockets.order(Transport::Keep { peer: peer(2), at: addresses }, 0);
        sockets.time(0, &mut rng);
        (sockets, rng)
    }

    fn opened(sockets: &mut Sockets) -> Vec<(u64, String)> {
        let orders = sockets.take_orders().into_iter();
        let opened = orders.filter_map(|order| match order {
            SocketOrder::Open { id, url } => Some((id, url)),
            _ => None,
        });
        opened.collect()
    }

    #[test]
    fn doors_alone_are_dialled_and_that_of_the_page_first() {
        let all = ["/ip4/192.168.1.7/tcp/1", "/ip4/192.168.1.7/tcp/2/ws", "/ip6/fd00::7/tcp/3/ws"];
        let (mut near, _) = sockets(&all, Some("http://10.0.0.9:5"));
        let urls: Vec<String> = opened(&mut near).into_iter().map(|(_, url)| url).collect();
        assert_eq!(urls, ["ws://10.0.0.9:5/", "ws://192.168.1.7:2/", "ws://[fd00::7]:3/"]);
        // Loopback addresses lead to this machine: only a table of this machine may name them.
        near.order(Transport::Keep { peer: peer(3), at: vec![address("/ip4/127.0.0.1/tcp/6/ws")] }, 0);
        near.time(0, &mut ChaCha20Rng::from_seed([2; 32]));
        assert_eq!(opened(&mut near), []);
        let (mut local, _) = sockets(&["/ip4/127.0.0.1/tcp/6/ws"], None);
        assert_eq!(opened(&mut local).len(), 1);
    }

    /// The page of a relay finds the host behind it, whatever name the relay has; so does a page from elsewhere.
    #[test]
    fn relays_are_dialled_in_place_of_a_host() {
        let relay = format!("/p2p/{}/p2p-circuit", peer(5));
        let all = [format!("/ip4/93.184.215.14/tcp/4001{relay}"), format!("/ip4/93.184.215.14/tcp/443/tls/ws{relay}")];
        let all = all.each_ref().map(String::as_str);
        let dialled = |origin, all| {
            let (mut sockets, _) = sockets(all, origin);
            let doors = sockets.peers.get(&peer(2)).unwrap().doors.clone();
            assert_eq!(opened(&mut sockets).len(), doors.iter().filter(|door| door.relay.is_none()).count() + 1);
            doors.into_iter().map(|door| (door.url, door.relay)).collect::<Vec<_>>()
        };
        let door = ("wss://93.184.215.14/".to_owned(), Some(peer(5)));
        for origin in [None, Some("https://93.184.215.14")] {
            assert_eq!(dialled(origin, &all[..]), std::slice::from_ref(&door));
        }
        let here = |relay| ("wss://play.example/".to_owned(), relay);
        let found = dialled(Some("https://play.example"), &all[..]);
        assert_eq!(found, [here(None), here(Some(peer(5))), door]);
        assert_eq!(dialled(Some("https://play.example"), &all[..1]), [here(None), here(Some(peer(5)))]);
    }

    /// A relay counts what it is asked: one that says that the host is not there is asked less and less, also while another
    /// door does not answer at all.
    #[test]
    fn relay_without_the_host_is_asked_seldom() {
        let relay = format!("/ip4/93.184.215.14/tcp/443/tls/ws/p2p/{}/p2p-circuit", peer(5));
        let (mut sockets, mut rng) = sockets(&[&relay, "/ip4/192.168.1.7/tcp/2/ws"], None);
        let (mut asked, mut now) = (0, 0);
        while now < 3_600_000 {
            for (id, url) in opened(&mut sockets) {
                if url.starts_with("wss") {
                    asked += 1;
                    sockets.lose(id, &Loss::Broken(LinkError::Refused(Refused::NotThere)), now);
                }
            }
            now = sockets.wake().expect("something is always due").max(now);
            sockets.time(now, &mut rng);
        }
        assert!((40..=70).contains(&asked), "{asked}");
    }

    #[test]
    fn host_without_a_door_is_told() {
        let (mut sockets, _) = sockets(&["/ip4/192.168.1.7/tcp/1"], None);
        let Some((host, PeerInput::Unreachable(why))) = sockets.poll() else { panic!("it is told") };
        assert_eq!(host, peer(2));
        assert!(why.contains("no door"), "{why}");
    }

    /// A door that does not answer is dialled again, after pauses that grow.
    #[test]
    fn silent_door_is_dialled_again_and_again() {
        let (mut sockets, mut rng) = sockets(&["/ip4/192.168.1.7/tcp/2/ws"], None);
        let mut dials = 0;
        let mut now = 0;
        while now < 60_000 {
            for (id, _) in opened(&mut sockets) {
                dials += 1;
                if dials % 2 == 0 {
                    sockets.happened(id, &SocketHappened::Closed, now);
                }
            }
            let wake = sockets.wake().expect("something is always due");
            assert!(wake <= now + HANDSHAKE, "{wake} after {now}");
            now = wake.max(now);
            sockets.time(now, &mut rng);
        }
        assert!((6..=12).contains(&dials), "{dials}");
        assert!(sockets.sockets.len() <= 1);
        let told = std::iter::from_fn(|| sockets.poll()).count();
        assert!(told >= 5, "{told}");
    }

    /// Nonsense from a door ends its socket and nothing else; so does what comes for a socket that is given up.
    #[test]
    fn nonsense_ends_a_socket() {
        let (mut sockets, mut rng) = sockets(&["/ip4/192.168.1.7/tcp/2/ws"], None);
        let (id, _) = opened(&mut sockets).remove(0);
        sockets.happened(id, &SocketHappened::Opened, 1);
        assert!(matches!(sockets.take_orders().as_slice(), [SocketOrder::Send { .. }]));
        for heard in ["AAAA", "", "not base64 at all", "R0VUIC8gSFRUUC8xLjENCg0K/////w=="] {
            sockets.happened(id, &SocketHappened::Heard(heard.to_owned()), 2);
        }
        assert!(matches!(sockets.take_orders().as_slice(), [SocketOrder::Close(closed)] if *closed == id));
        sockets.happened(id, &SocketHappened::Opened, 3);
        sockets.happened(99, &SocketHappened::Closed, 3);
        assert_eq!(sockets.take_orders(), []);
        // Seen again, it is dialled at once.
        sockets.look_again(4);
        sockets.time(4, &mut rng);
        assert_eq!(opened(&mut sockets).len(), 1);
    }
}
