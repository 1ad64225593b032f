//! Where the seats of a table can be found now: by their newest signed addresses, on the LAN, through this player's relays,
//! and at the addresses of a friend's ticket.
//!
//! A seat signs its addresses again whenever they change. The record goes to every connected seat, which keeps the newest
//! one and hands it on; each seat's record is handed on once in [`PAUSE`] at most. On the LAN a program with a seat
//! answers mDNS, which names its peer id and addresses and no table, and dials the peer ids of the other seats when it
//! hears them. The handshake proves both keys.

use std::collections::BTreeMap;

use fairdeal_peers::address::{behind, dialable};
use fairdeal_peers::record::{AddressRecord, MAX_RECORDED};
use fairdeal_peers::ticket::{JoinTarget, Ticket};
use fairdeal_peers::{Multiaddr, PeerId};
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;

use super::Seated;
use crate::cx::Cx;
use crate::events::SessionEvent;
use crate::frame::Frame;
use crate::setup::ListenConfig;

/// Least time between two announcements of one seat's addresses, in milliseconds.
const PAUSE: u64 = 10_000;
/// Number of a seat's addresses on the LAN that are kept, the newest first.
const MAX_FOUND: usize = 4;

/// The seats' known addresses besides those of their records.
#[derive(Default)]
pub(super) struct Whereabouts {
    /// The addresses of a friend's ticket.
    given: Option<(PeerId, Vec<Multiaddr>)>,
    /// Addresses on the LAN.
    found: BTreeMap<Seat, Vec<Multiaddr>>,
    /// The seats that have signed a record since the table began, this one included.
    moved: BTreeMap<Seat, Moved>,
    /// The last ticket that the player was told.
    ticket: Option<Ticket>,
}

/// A record that is newer than the one that all seats have.
#[derive(Default)]
struct Moved {
    /// Whether the connected seats lack it.
    is_due: bool,
    /// When it was last told, by the monotonic clock.
    told: Option<u64>,
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
        let listens = !signed.is_empty();
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
        // A seat that has moved too may have a reservation at the same relay; one that listens nowhere, in a browser, has
        // none, and each question to a relay counts.
        let relays = if listens { behind(&place.relays) } else { Vec::new() };
        for address in known.into_iter().chain(relays) {
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
        self.whereabouts.moved.entry(seat).or_default().is_due = true;
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

    fn record_of(&self, seat: Seat) -> Option<Frame> {
        let record = self.records.get(seat.index())?.clone();
        Some(Frame::Moved { table: self.id, seat, record })
    }

    /// The player's own addresses at a table have changed, or are known for the first time after a return: tells the
    /// other seats, and the player the ticket that leads here.
    pub(super) fn moved(&mut self, addresses: &[Multiaddr], cx: &mut Cx<'_>) {
        if cx.links.place.is_local() {
            return;
        }
        let own = cx.own.peer;
        let told = addresses.get(..MAX_RECORDED).unwrap_or(addresses);
        let me = self.table.me();
        let known = self.records.get(me.index()).and_then(|record| record.of(own).ok());
        if known.as_deref() != Some(told) {
            let record = AddressRecord::sign(&cx.own.key, told, cx.now.wall / 1000);
            self.set_record(me, &record);
        }
        if self.table.game().is_over() {
            // The game's result is the last event.
            return;
        }
        let Ok(ticket) = Ticket::new(self.charter.charter().lobby, own, told.iter().cloned()) else {
            return;
        };
        if self.whereabouts.ticket.as_ref() != Some(&ticket) {
            cx.tell(SessionEvent::Ticket {
                ticket: ticket.to_string(),
                addresses: told.iter().map(|address| format!("{address}/p2p/{own}")).collect(),
            });
            self.whereabouts.ticket = Some(ticket);
        }
    }

    /// A seat announces an address on the LAN. Nothing is proven until it is connected.
    pub(super) fn found(&mut self, peer: PeerId, address: Multiaddr, cx: &mut Cx<'_>) {
        let Some(seat) = self.seat_of(peer) else {
            return;
        };
        let known = self.whereabouts.found.entry(seat).or_default();
        known.retain(|other| *other != address);
        known.insert(0, address);
        known.truncate(MAX_FOUND);
        self.dial(|other| other == seat, cx);
    }

    /// A seat sends the record of a seat, its own or another one's.
    pub(super) fn has_moved(&mut self, from: PeerId, seat: Seat, record: &AddressRecord, cx: &mut Cx<'_>) {
        if self.is_newer(seat, record, from) {
            self.set_record(seat, record);
            self.dial(|other| other == seat, cx);
        }
    }

    /// Tells a newly connected seat which records are newer than those that the table began with.
    pub(super) fn tell_moves(&self, to: PeerId, cx: &mut Cx<'_>) {
        for frame in self.whereabouts.moved.keys().filter_map(|seat| self.record_of(*seat)) {
            cx.send(to, &frame);
        }
    }

    /// Hands on the records that have changed.
    pub(super) fn hand_on_moves(&mut self, cx: &mut Cx<'_>) {
        let now = cx.now.up;
        let mut due = Vec::new();
        for (seat, moved) in &mut self.whereabouts.moved {
            let rests = moved.told.is_some_and(|told| now.saturating_sub(told) < PAUSE);
            if moved.is_due && !rests {
                (moved.is_due, moved.told) = (false, Some(now));
                due.push(*seat);
            }
        }
        for seat in due {
            let Some(frame) = self.record_of(seat) else { continue };
            let own = self.peers.get(&seat);
            let mut peers = self.here(&cx.links.connected);
            peers.retain(|peer| Some(peer) != own);
            cx.out.send(peers, &frame);
        }
    }
}
