//! The other guests of a proposed charter: they dial each other while the signatures travel, so that the table opens with
//! its connections.
//!
//! The rule is that of the table: the later seat dials the earlier one, and the host is connected to all. Nobody is found,
//! and nobody dials, whose player is not ready. Those whom the lobby shows no longer are let go. A host that proposes again
//! and again makes a guest dial no more than [`DIALS`].

use fairdeal_peers::{Multiaddr, PeerId};
use fairdeal_protocol::charter::Charter;
use fairdeal_protocol::seat::SeatSet;

use super::opening::Early;
use crate::chat::{Bucket, Rate};
use crate::cx::Cx;
use crate::frame::Frame;
use crate::io::Transport;
use crate::lobby::{GuestLobby, HOST};

/// How many other guests a session dials or awaits before its table opens: so many at once, then one in ten seconds. The
/// table dials those that are left out.
const DIALS: Rate = Rate { at_once: 16, ticks: 20 };

/// The other guests that this one dials or awaits.
pub(super) struct Mates {
    peers: Vec<PeerId>,
    /// Peers among them that have been dialled.
    dialled: Vec<PeerId>,
    early: Early,
    dials: Bucket,
}

impl Default for Mates {
    fn default() -> Self {
        Self { peers: Vec::new(), dialled: Vec::new(), early: Early::default(), dials: Bucket::new(DIALS) }
    }
}

impl Mates {
    pub(super) fn has(&self, peer: PeerId) -> bool {
        self.peers.contains(&peer)
    }

    /// Dials the guests of the proposal that are new, and lets those go that the lobby shows no longer.
    pub(super) fn follow(&mut self, lobby: &GuestLobby, cx: &mut Cx<'_>) {
        self.keep_only(|mate| lobby.shows(mate), cx);
        let Some((proposal, me)) = lobby.proposed() else {
            return;
        };
        for ((seat, player), record) in proposal.charter.seated().zip(proposal.records.iter()) {
            let mate = PeerId::from(player.key);
            if seat == me || seat == HOST || !lobby.shows(mate) {
                continue;
            }
            if !self.has(mate) {
                if !self.dials.take() {
                    continue;
                }
                self.peers.push(mate);
                cx.transport(Transport::Seat(mate));
                self.greet(mate, lobby, cx);
            }
            let Some(record) = record.as_ref().filter(|_| lobby.is_ready() && seat < me) else { continue };
            let at = cx.links.place.ways_to(record.of(mate).unwrap_or_default());
            if !at.is_empty() && !self.dialled.contains(&mate) {
                self.dialled.push(mate);
                cx.transport(Transport::Keep { peer: mate, at });
            }
        }
    }

    /// Tells a connected guest the connections of this one: it begins the stream on which the table's messages follow.
    pub(super) fn greet(&self, mate: PeerId, lobby: &GuestLobby, cx: &mut Cx<'_>) {
        let Some((proposal, _)) = lobby.proposed().filter(|_| self.has(mate) && cx.links.connected.contains(&mate))
        else {
            return;
        };
        let connected = proposal.charter.seated().filter(|(seat, player)| {
            let peer = PeerId::from(player.key);
            *seat == HOST || (self.has(peer) && cx.links.connected.contains(&peer))
        });
        let seats: SeatSet = connected.map(|(seat, _)| seat).collect();
        cx.send(mate, &Frame::Links { table: proposal.charter.table(), seats });
    }

    /// Keeps a frame of a guest that has opened the proposed table already.
    pub(super) fn hear(&mut self, mate: PeerId, frame: Frame, lobby: &GuestLobby) {
        // Nobody can have opened a table that this guest has not signed.
        let table = lobby.signed().map(|(table, _)| table);
        if self.has(mate) && table.is_some() && frame.table() == table {
            self.early.forget_all_but(table);
            self.early.keep(mate, frame);
        }
    }

    /// Keeps an address at which somebody on the LAN finds another guest: it is told once, and the table wants it.
    pub(super) fn found(&mut self, mate: PeerId, address: Multiaddr) {
        if self.has(mate) {
            self.early.find(mate, address);
        }
    }

    /// Keeps the addresses that another guest names.
    pub(super) fn listens(&mut self, mate: PeerId, addresses: Vec<Multiaddr>) {
        if self.has(mate) {
            self.early.listens(mate, addresses);
        }
    }

    /// The time of half a second has passed.
    pub(super) fn tick(&mut self) {
        self.dials.tick();
    }

    /// The table opens: lets those go that have no seat there. Returns what the others have said already.
    pub(super) fn open(mut self, charter: &Charter, cx: &mut Cx<'_>) -> Early {
        self.keep_only(|mate| charter.seated().any(|(_, player)| PeerId::from(player.key) == mate), cx);
        self.early.forget_all_but(Some(charter.table()));
        self.early
    }

    fn keep_only(&mut self, is_kept: impl Fn(PeerId) -> bool, cx: &mut Cx<'_>) {
        self.dialled.retain(|mate| is_kept(*mate));
        self.early.keep_only(&is_kept);
        for mate in self.peers.extract_if(.., |mate| !is_kept(*mate)) {
            cx.transport(Transport::Forget(mate));
            cx.transport(Transport::Dismiss(mate));
            cx.transport(Transport::Close { peer: mate, why: None });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use ed25519_dalek::SigningKey;
    use fairdeal_games::rule_set;
    use fairdeal_peers::record::AddressRecord;
    use fairdeal_peers::ticket::{JoinTarget, Ticket};
    use fairdeal_protocol::party::PlayedBy;
    use fairdeal_protocol::seat::Seat;
    use fairdeal_protocol::table::clocks::Now;
    use fairdeal_protocol::wire::bounded::Text;
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng as _;

    use super::*;
    use crate::frame::Join;
    use crate::io::{Input, Output, PeerInput};
    use crate::lobby::HostLobby;
    use crate::people::Book;
    use crate::session::Session;
    use crate::setup::{Attended, Hands, ListenConfig, Patience, Player, Role, Setup};

    const LOBBY: [u8; 8] = [5; 8];

    fn key(number: u32) -> SigningKey {
        let mut seed = [7; 32];
        seed[..4].copy_from_slice(&number.to_le_bytes());
        SigningKey::from_bytes(&seed)
    }

    /// A dishonest host seats one invented guest after another before the real one, and proposes a charter with each.
    #[test]
    fn host_that_proposes_again_and_again_makes_nobody_dial_without_end() {
        let mut rng = ChaCha20Rng::from_seed([1; 32]);
        let mut now = Now { up: 1000, wall: 1_790_000_000_000 };
        let at = |number: u32| format!("/ip4/10.1.{}.{}/tcp/4001", number / 250, number % 250 + 1).parse().unwrap();
        let wish = |number: u32| Join {
            lobby: Some(LOBBY),
            name: Text::try_from(format!("Guest {number}")).unwrap(),
            nonce: key(number + 1_000_000).to_bytes(),
            record: AddressRecord::sign(&key(number), &[at(number)], 7),
            proof: None,
            program: key(number).to_bytes()[..16].try_into().map(|id: [u8; 16]| id.into()).unwrap(),
            played_by: PlayedBy::Person,
        };
        let peer = |number: u32| PeerId::of(&key(number));
        let (host, guest) = (peer(0), peer(1));
        let target = JoinTarget::Ticket(Ticket::new(LOBBY, host, [at(0)]).unwrap());
        let me = Player { key: key(1), name: "Béla".to_owned(), attended: Attended::Person, book: Book::default() };
        let (hands, program) = (Hands::Person { ready: true }, [1; 16].into());
        let role = Role::Guest { target, hands, program, password: None, patience: Patience::AMinute };
        let place = ListenConfig { listen: vec![at(1)], ..ListenConfig::nowhere() };
        let mut session = Session::start(Setup { me, role, place }, now, &mut rng).unwrap();
        session.handle(Input::Peer(host, PeerInput::Connected(None)), now, &mut rng);

        let rules = rule_set("loot", 3, &BTreeMap::new()).unwrap();
        let mut lobby = HostLobby::new(LOBBY, rules, key(0), wish(0), true);
        let (mut invented, mut kept, mut dialled) = (2_u32, BTreeMap::new(), 0_u32);
        lobby.receive(peer(invented), Frame::Join(wish(invented))).unwrap();
        for _ in 0..400 {
            now.up += 100;
            session.handle(Input::Time, now, &mut rng);
            // Another invented guest, in the seat before the real one.
            let mut outbox = lobby.gone(peer(invented)).unwrap();
            invented += 1;
            outbox.extend(lobby.receive(peer(invented), Frame::Join(wish(invented))).unwrap().0);
            outbox.extend(lobby.receive(peer(invented), Frame::Ready(true)).unwrap().0);
            loop {
                for (_, frame) in outbox.drain(..).filter(|(to, _)| *to == guest) {
                    session.handle(Input::Peer(host, PeerInput::Frame(frame.to_bytes())), now, &mut rng);
                }
                let Some(output) = session.poll() else { break };
                match output {
                    Output::Transport(Transport::Keep { peer, .. }) if peer != host => {
                        dialled += u32::from(kept.insert(peer, true).is_none());
                    }
                    Output::Transport(Transport::Forget(peer)) => drop(kept.insert(peer, false)),
                    Output::Transport(Transport::Locate) => {
                        session.handle(Input::Addresses(vec![at(1)]), now, &mut rng);
                    }
                    Output::Send { bytes, .. } => {
                        let frame = Frame::from_bytes(&bytes).unwrap();
                        if !matches!(frame, Frame::Sign { .. }) {
                            outbox.extend(lobby.receive(guest, frame).unwrap().0);
                        }
                    }
                    _ => {}
                }
            }
        }
        assert_eq!(lobby.seat_of(guest), Seat::new(2), "the invented guests sit before it");
        // Sixteen at once, and one in ten seconds of the forty.
        assert!((17..=21).contains(&dialled), "{dialled}");
        assert!(kept.values().filter(|kept| **kept).count() <= 1, "those who have left are let go");
    }
}
