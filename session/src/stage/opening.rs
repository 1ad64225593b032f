//! All have signed the charter; the table opens once this seat's journal is on disk, because every seat in it must be able
//! to resume. A host sends the signatures only then. Other guests may open before this one; their frames wait here.

use fairdeal_games::AnyGame;
use fairdeal_peers::{Multiaddr, PeerId};
use fairdeal_protocol::table::journal::Record;
use fairdeal_protocol::table::live::Table;

use super::heard::Heard;
use super::seated::{Arrival, Seated};
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

/// A table that waits for its journal.
pub(crate) struct Opening {
    agreed: Agreed,
    /// Frames for the others, sent once the journal exists.
    outbox: Outgoing,
    /// The host's spectators.
    spectators: Option<Spectators>,
    /// The order to the store; `None` after a full disk, until it is asked again.
    asked: Option<StoreId>,
    /// Frames of seats that have opened the table already.
    early: Vec<(PeerId, Frame)>,
    /// The addresses that this player has now, if they have changed since.
    moved: Option<Vec<Multiaddr>>,
}

type Next = Result<Turn<Box<Opening>, Box<Seated>>, End>;

impl Opening {
    pub(crate) fn new(agreed: Agreed, outbox: Outgoing, spectators: Option<Spectators>, cx: &mut Cx<'_>) -> Self {
        let mut opening = Self { agreed, outbox, spectators, asked: None, early: Vec::new(), moved: None };
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
            Heard::Frame(peer, frame) => {
                let mut seats = self.agreed.charter.charter().seated();
                let its = self.early.iter().filter(|(from, _)| *from == peer);
                if its.count() < MAX_EARLY && seats.any(|(_, player)| PeerId::from(player.key) == peer) {
                    self.early.push((peer, frame));
                }
            }
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

    fn stored(mut self: Box<Self>, answer: Result<Stored, StoreFault>, cx: &mut Cx<'_>) -> Next {
        match answer {
            Ok(Stored::Journal { records, evidence }) => self.open(records, evidence, cx).map(Turn::Next),
            Ok(_) => Err(cx.fail("the store has begun no journal")),
            Err(StoreFault::Full(why)) => {
                self.asked = None;
                cx.disk_is_full(&why);
                Ok(Turn::Stay(self))
            }
            Err(StoreFault::Failed(why)) => Err(cx.fail(why)),
        }
    }

    fn open(self: Box<Self>, records: Vec<Record>, evidence: usize, cx: &mut Cx<'_>) -> Result<Box<Seated>, End> {
        let Self { agreed, outbox, spectators, early, moved, .. } = *self;
        let (charter, me, key) = (agreed.charter.clone(), agreed.me, cx.own.key.clone());
        let table: Result<Table<AnyGame>, String> = if agreed.again {
            Table::restore(charter, me, key, records, cx.rng).map_err(|error| error.to_string())
        } else {
            Table::new(charter, me, key).map_err(|error| error.to_string())
        };
        let table = table.map_err(|why| cx.fail(why))?;
        cx.disk_has_room();
        cx.send_all(&outbox);
        let arrival = Arrival { is_new: !agreed.again, friend: None, spectators, evidence };
        let mut seated = Box::new(Seated::open(table, agreed, arrival, cx)?);
        if let Some(addresses) = moved {
            seated.hear(Heard::Addresses(addresses), cx)?;
        }
        for (peer, frame) in early {
            seated.hear(Heard::Frame(peer, frame), cx)?;
        }
        Ok(seated)
    }
}
