//! All have signed the charter; the table opens once this seat's journal is on disk, because every seat in it must be able
//! to resume. A host sends the signatures only then. Other guests may open before this one; their frames wait here.

use fairdeal_games::AnyGame;
use fairdeal_peers::{Multiaddr, PeerId};
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::table::journal::Record;
use fairdeal_protocol::table::live::Table;

use super::heard::Heard;
use super::seated::{Arrival, Notes, Seated};
use crate::calling::ONLY_HOST;
use crate::chat::ChatError;
use crate::cx::{Cx, End, Turn};
use crate::events::Command;
use crate::frame::{Frame, Outgoing};
use crate::header::Header;
use crate::io::{Journal, Store, StoreFault, StoreId, Stored, Transport};
use crate::lobby::Agreed;
use crate::spectators::Spectators;

/// Maximum number of frames of one seat that wait for the table: the others may begin first.
const MAX_EARLY: usize = 8;
/// The host's refusal to the guests in its lobby when it closes.
pub(super) const CLOSED: &str = "the host has closed the table";

/// Frames of seats that have opened a table already, in their order.
#[derive(Default)]
pub(super) struct Early {
    frames: Vec<(PeerId, Frame)>,
    /// Addresses at which others on the LAN find seats; they are told once.
    found: Vec<(PeerId, Multiaddr)>,
    /// The addresses that seats name themselves.
    listening: Vec<(PeerId, Vec<Multiaddr>)>,
}

impl Early {
    /// Keeps a frame. If a seat has sent too many it is lost; what matters is repeated.
    pub(super) fn keep(&mut self, peer: PeerId, frame: Frame) {
        if self.frames.iter().filter(|(from, _)| *from == peer).count() < MAX_EARLY {
            self.frames.push((peer, frame));
        }
    }

    /// Keeps an address at which somebody on the LAN finds a seat.
    pub(super) fn find(&mut self, peer: PeerId, address: Multiaddr) {
        let known = self.found.iter().filter(|(of, _)| *of == peer);
        if known.clone().count() < MAX_EARLY && known.clone().all(|(_, other)| *other != address) {
            self.found.push((peer, address));
        }
    }

    /// Keeps the addresses that a seat has named last.
    pub(super) fn listens(&mut self, peer: PeerId, addresses: Vec<Multiaddr>) {
        self.listening.retain(|(of, _)| *of != peer);
        self.listening.push((peer, addresses));
    }

    /// Drops what is of peers that are let go.
    pub(super) fn keep_only(&mut self, is_kept: impl Fn(PeerId) -> bool) {
        self.frames.retain(|(of, _)| is_kept(*of));
        self.found.retain(|(of, _)| is_kept(*of));
        self.listening.retain(|(of, _)| is_kept(*of));
    }

    /// Drops the frames of other tables.
    pub(super) fn forget_all_but(&mut self, table: Option<Hash32>) {
        self.frames.retain(|(_, frame)| frame.table() == table);
    }
}

/// A table that waits for its journal.
pub(crate) struct Opening {
    agreed: Agreed,
    /// Frames for the others, sent once the journal exists.
    outbox: Outgoing,
    /// The host's spectators.
    spectators: Option<Spectators>,
    /// The order to the store; `None` after a full disk, until it is asked again.
    asked: Option<StoreId>,
    early: Early,
    /// The addresses that this player has now, if they have changed since.
    moved: Option<Vec<Multiaddr>>,
}

type Next = Result<Turn<Box<Opening>, Box<Seated>>, End>;

impl Opening {
    /// The table of a host, with its spectators.
    pub(super) fn of_host(agreed: Agreed, outbox: Outgoing, spectators: Spectators, cx: &mut Cx<'_>) -> Self {
        Self::new(agreed, outbox, Some(spectators), Early::default(), cx)
    }

    /// The table of a guest, with what others have said already.
    pub(super) fn of_guest(agreed: Agreed, outbox: Outgoing, early: Early, cx: &mut Cx<'_>) -> Self {
        Self::new(agreed, outbox, None, early, cx)
    }

    fn new(agreed: Agreed, outbox: Outgoing, spectators: Option<Spectators>, early: Early, cx: &mut Cx<'_>) -> Self {
        let mut opening = Self { agreed, outbox, spectators, asked: None, early, moved: None };
        opening.ask(cx);
        opening
    }

    fn ask(&mut self, cx: &mut Cx<'_>) {
        let password = self.spectators.as_ref().and_then(Spectators::password);
        let header = Header::new(&self.agreed, &cx.links.place, cx.own.local_bot.clone(), password).to_bytes();
        let journal = Journal { table: self.agreed.charter.table(), seat: self.agreed.me, header };
        self.asked = Some(cx.out.store(if self.agreed.again { Store::Return(journal) } else { Store::Begin(journal) }));
    }

    pub(crate) fn hear(mut self: Box<Self>, heard: Heard, cx: &mut Cx<'_>) -> Next {
        match heard {
            Heard::Arrived(peer, network) => {
                if let (Some(spectators), Some(network)) = (&mut self.spectators, network) {
                    spectators.arrived(peer, network);
                }
            }
            Heard::Gone(peer) => {
                if let Some(spectators) = self.spectators.as_mut().filter(|spectators| spectators.has(peer)) {
                    spectators.gone(peer);
                    cx.transport(Transport::Dismiss(peer));
                }
            }
            Heard::Frame(peer, frame) if self.has_seat(peer) => self.early.keep(peer, frame),
            Heard::Found(peer, address) if self.has_seat(peer) => self.early.find(peer, address),
            Heard::ListensAt(peer, addresses) if self.has_seat(peer) => self.early.listens(peer, addresses),
            Heard::Addresses(addresses) => self.moved = Some(addresses),
            Heard::Stored(id, answer) if self.asked == Some(id) => return self.stored(answer, cx),
            Heard::Tick if self.asked.is_none() => self.ask(cx),
            Heard::Command(Command::Say(_)) => cx.refuse(ChatError::NoSeat.to_string()),
            Heard::Command(Command::Invite(_)) => cx.refuse(ChatError::NoTable.to_string()),
            Heard::Command(Command::CallBack(_)) => cx.refuse(ONLY_HOST),
            Heard::Command(Command::Leave | Command::Quit) => {
                // The others have at most a promise, so nobody needs the journal that is being begun.
                if self.spectators.is_some() {
                    (cx.files.settled, cx.files.is_dispensable) = (true, true);
                    let all = cx.links.connected.clone();
                    cx.out.send(all, &Frame::refusal(CLOSED));
                }
                return Err(End);
            }
            _ => {}
        }
        Ok(Turn::Stay(self))
    }

    fn has_seat(&self, peer: PeerId) -> bool {
        self.agreed.charter.charter().seated().any(|(_, player)| PeerId::from(player.key) == peer)
    }

    fn stored(mut self: Box<Self>, answer: Result<Stored, StoreFault>, cx: &mut Cx<'_>) -> Next {
        match answer {
            Ok(Stored::Journal { records, is_clean, evidence }) => {
                self.open(records, is_clean, evidence, cx).map(Turn::Next)
            }
            Ok(_) => Err(cx.fail("the store has begun no journal")),
            Err(StoreFault::Full(why)) => {
                self.asked = None;
                cx.disk_is_full(&why);
                Ok(Turn::Stay(self))
            }
            Err(StoreFault::Failed(why)) => Err(cx.fail(why)),
        }
    }

    fn open(
        self: Box<Self>,
        records: Vec<Record>,
        is_clean: bool,
        evidence: usize,
        cx: &mut Cx<'_>,
    ) -> Result<Box<Seated>, End> {
        let Self { agreed, outbox, spectators, early, moved, .. } = *self;
        let (charter, me, key) = (agreed.charter.clone(), agreed.me, cx.own.key.clone());
        let notes = Notes::of(&records);
        let table: Result<Table<AnyGame>, String> = if agreed.again && is_clean {
            Table::reopen(charter, me, key, records, cx.rng).map_err(|error| error.to_string())
        } else if agreed.again {
            Table::restore(charter, me, key, records, cx.rng).map_err(|error| error.to_string())
        } else {
            Table::new(charter, me, key).map_err(|error| error.to_string())
        };
        let table = table.map_err(|why| cx.fail(why))?;
        cx.disk_has_room();
        cx.send_all(&outbox);
        let arrival = Arrival { is_new: !agreed.again, friend: None, spectators, evidence, notes, by_letter: false };
        let mut seated = Box::new(Seated::open(table, agreed, arrival, cx)?);
        if let Some(addresses) = moved {
            seated.hear(Heard::Addresses(addresses), cx)?;
        }
        for (peer, address) in early.found {
            seated.hear(Heard::Found(peer, address), cx)?;
        }
        for (peer, addresses) in early.listening {
            seated.hear(Heard::ListensAt(peer, addresses), cx)?;
        }
        for (peer, frame) in early.frames {
            seated.hear(Heard::Frame(peer, frame), cx)?;
        }
        Ok(seated)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_are_kept_few_and_of_those_who_stay() {
        let peer = |number| PeerId::of(&ed25519_dalek::SigningKey::from_bytes(&[number; 32]));
        let at = |number: u16| -> Multiaddr { format!("/ip4/10.0.0.1/tcp/{number}").parse().unwrap() };
        let mut early = Early::default();
        for number in 0..20 {
            early.find(peer(1), at(number % 10));
            early.find(peer(2), at(1));
            early.listens(peer(1), vec![at(number)]);
        }
        assert_eq!(early.found.iter().filter(|(of, _)| *of == peer(1)).count(), MAX_EARLY);
        assert_eq!(early.found.iter().filter(|(of, _)| *of == peer(2)).count(), 1);
        assert_eq!(early.listening, [(peer(1), vec![at(19)])]);
        early.keep_only(|mate| mate == peer(2));
        assert_eq!((early.found, early.listening.len()), (vec![(peer(2), at(1))], 0));
    }
}
