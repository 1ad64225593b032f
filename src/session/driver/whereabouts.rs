//! Where the seats of a table can be found now: by their newest signed addresses, on the LAN, through this player's relays,
//! and at the addresses of a friend's ticket.
//!
//! A seat signs its addresses again whenever they change. The record goes to every connected seat, which keeps the newest
//! one and hands it on; each seat's record is handed on once in [`PAUSE`] at most. On the LAN a program with a seat
//! answers mDNS, which names its peer id and addresses and no table, and dials the peer ids of the other seats when it
//! hears them. The handshake proves both keys.

use std::collections::BTreeMap;
use std::time::Duration;

use fairdeal_peers::address::{behind, dialable};
use fairdeal_peers::record::{AddressRecord, MAX_RECORDED};
use fairdeal_peers::ticket::{JoinTarget, Ticket};
use fairdeal_peers::{Multiaddr, PeerId};
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;
use tokio::time::Instant;

use super::{Driver, Seated, SessionError, SessionState};
use crate::session::SessionEvent;
use crate::session::clock;
use crate::session::journal::{ListenConfig, SavedSeat};
use fairdeal_session::frame::Frame;

/// Least time between two announcements of one seat's addresses.
const PAUSE: Duration = Duration::from_secs(10);
/// Number of a seat's addresses on the LAN that are kept, the newest first.
const MAX_FOUND: usize = 4;
/// Maximum number of relays of a node.
const MAX_RELAYS: usize = 4;

/// How the players of a saved table find each other again, besides the addresses of its journal.
#[derive(Clone, Debug, Default)]
pub struct Reunion {
    /// Whether they find each other on the LAN.
    pub lan: bool,
    /// More relays, each with its peer id at the end.
    pub relays: Vec<Multiaddr>,
    /// A ticket or an address of another player of the table.
    pub friend: Option<JoinTarget>,
}

impl Reunion {
    /// Checks that the friend has a seat at the table, and takes the relays on the way to it.
    pub(super) fn prepare(&mut self, seat: &SavedSeat, place: &mut ListenConfig) -> Result<(), SessionError> {
        if let Some(friend) = &self.friend {
            if !seat.knows(friend) {
                return Err(SessionError::OtherTable);
            }
            self.relays.extend(friend.relays());
        }
        let saved = std::mem::take(&mut place.relays);
        for relay in self.relays.drain(..).chain(saved) {
            if !place.relays.contains(&relay) && place.relays.len() < MAX_RELAYS {
                place.relays.push(relay);
            }
        }
        Ok(())
    }
}

/// The seats' known addresses besides those of their records.
#[derive(Default)]
pub(super) struct Whereabouts {
    /// The addresses of a friend's ticket.
    given: Option<(PeerId, Vec<Multiaddr>)>,
    /// Addresses on the LAN.
    found: BTreeMap<Seat, Vec<Multiaddr>>,
    /// The seats that have signed a record since the table began, this one included.
    news: BTreeMap<Seat, News>,
    /// The last ticket that the player was told.
    ticket: Option<Ticket>,
}

/// A record that is newer than the one that all seats have.
#[derive(Default)]
struct News {
    /// Whether the connected seats lack it.
    is_due: bool,
    told: Option<Instant>,
}

impl Whereabouts {
    pub(super) fn of(friend: Option<JoinTarget>) -> Self {
        let given = friend.map(|friend| {
            let (peer, _, addresses) = friend.into_parts();
            (peer, addresses)
        });
        Self { given, ..Self::default() }
    }
}

impl Seated {
    /// Every address that may lead to a seat, the likeliest first.
    pub(super) fn addresses_of(&self, seat: Seat, place: &ListenConfig) -> Vec<Multiaddr> {
        let Some(peer) = self.peers.get(&seat) else {
            return Vec::new();
        };
        let found = self.whereabouts.found.get(&seat).into_iter().flatten().cloned();
        let heard = self.heard.get(&seat).into_iter().flatten().cloned();
        let signed = self.records.get(seat.index()).and_then(|record| record.of(*peer).ok()).unwrap_or_default();
        let mut known: Vec<Multiaddr> = Vec::new();
        for address in found.chain(signed).chain(heard) {
            if !known.contains(&address) {
                known.push(address);
            }
        }
        let known = dialable(known, &place.relays, place.is_local());
        // The player has typed these: names and other relays are welcome.
        let given = self.whereabouts.given.iter().filter(|(friend, _)| friend == peer);
        let mut all: Vec<Multiaddr> = given.flat_map(|(_, addresses)| addresses.clone()).collect();
        // A seat that has moved too may have a reservation at the same relay.
        for address in known.into_iter().chain(behind(&place.relays)) {
            if !all.contains(&address) {
                all.push(address);
            }
        }
        all
    }

    fn set_record(&mut self, seat: Seat, record: &AddressRecord) {
        let new = self
            .records
            .iter()
            .zip(Seat::first(self.records.len()))
            .map(|(known, at)| if at == seat { record.clone() } else { known.clone() });
        let Ok(new) = new.collect::<Vec<_>>().try_into() else {
            return;
        };
        self.records = new;
        self.whereabouts.news.entry(seat).or_default().is_due = true;
    }

    /// Whether a record of a seat is to replace the known one. Over its own connection a seat may also correct a record
    /// of the future, which a wrong clock has signed.
    fn is_newer(&self, seat: Seat, record: &AddressRecord, from: PeerId) -> bool {
        let (Some(peer), Some(known)) = (self.peers.get(&seat), self.records.get(seat.index())) else {
            return false;
        };
        let Ok(time) = record.time(*peer) else {
            return false;
        };
        known.time(*peer).is_ok_and(|before| before < time) || (from == *peer && record != known)
    }

    fn moved(&self, seat: Seat) -> Option<Frame> {
        let record = self.records.get(seat.index())?.clone();
        let table = self.id;
        Some(Frame::Moved { table, seat, record })
    }
}

impl Driver {
    /// The player's own addresses at a table have changed, or are known for the first time after a return: tells the
    /// other seats, and the player the ticket that leads here.
    pub(super) async fn moved(&mut self, addresses: &[Multiaddr]) {
        if self.links.place.is_local() {
            return;
        }
        let host = self.node.local_peer();
        let told = addresses.get(..MAX_RECORDED).unwrap_or(addresses);
        let SessionState::Table(seated) = &mut self.stage else {
            return;
        };
        let me = seated.charter.charter().seat_of(&(&self.key).into());
        let known = me.and_then(|me| seated.records.get(me.index())?.of(host).ok());
        if let Some(me) = me
            && known.as_deref() != Some(told)
        {
            seated.set_record(me, &AddressRecord::sign(&self.key, told, clock::seconds()));
        }
        if seated.table.game().is_over() {
            // The game's result is the last event.
            return;
        }
        let lobby = seated.charter.charter().lobby;
        let Ok(ticket) = Ticket::new(lobby, host, told.iter().cloned()) else {
            return;
        };
        if seated.whereabouts.ticket.as_ref() != Some(&ticket) {
            let event = SessionEvent::Ticket {
                ticket: ticket.to_string(),
                addresses: told.iter().map(|address| format!("{address}/p2p/{host}")).collect(),
            };
            seated.whereabouts.ticket = Some(ticket);
            self.tell(event).await;
        }
    }

    /// A seat announces an address on the LAN. Nothing is proven until it is connected.
    pub(super) fn found(&mut self, peer: PeerId, address: Multiaddr) {
        let SessionState::Table(seated) = &mut self.stage else {
            return;
        };
        let Some(seat) = seated.seat_of(peer) else {
            return;
        };
        let known = seated.whereabouts.found.entry(seat).or_default();
        known.retain(|other| *other != address);
        known.insert(0, address);
        known.truncate(MAX_FOUND);
        self.dial_seats(|other| other == seat);
    }

    /// A seat sends the record of a seat, its own or another one's.
    pub(super) fn has_moved(&mut self, from: PeerId, seat: Seat, record: &AddressRecord) {
        let SessionState::Table(seated) = &mut self.stage else {
            return;
        };
        if seated.seat_of(from).is_none() || !seated.is_newer(seat, record, from) {
            return;
        }
        seated.set_record(seat, record);
        self.dial_seats(|other| other == seat);
    }

    /// Tells a newly connected seat which records are newer than those that the table began with.
    pub(super) fn tell_moves(&self, to: PeerId) {
        let SessionState::Table(seated) = &self.stage else {
            return;
        };
        for frame in seated.whereabouts.news.keys().filter_map(|seat| seated.moved(*seat)) {
            self.send(to, &frame);
        }
    }

    /// Hands on the records that have changed.
    pub(super) fn hand_on_moves(&mut self, now: Instant) {
        let SessionState::Table(seated) = &mut self.stage else {
            return;
        };
        let mut due = Vec::new();
        for (seat, news) in &mut seated.whereabouts.news {
            let rests = news.told.is_some_and(|told| now.duration_since(told) < PAUSE);
            if news.is_due && !rests {
                (news.is_due, news.told) = (false, Some(now));
                due.push(*seat);
            }
        }
        let SessionState::Table(seated) = &self.stage else {
            return;
        };
        for seat in due {
            let Some(frame) = seated.moved(seat) else { continue };
            for (to, peer) in &seated.peers {
                if *to != seat && self.links.connected.contains(peer) {
                    self.send(*peer, &frame);
                }
            }
        }
    }
}
