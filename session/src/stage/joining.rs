//! A guest on the way to its seat: it reaches the host, asks for a seat, and signs the charter.
//!
//! **A promise comes before a signature.** From a guest's signature on, the others can begin the table; without a
//! promise on disk, a guest that crashes then could not return to its seat.

use fairdeal_peers::address::is_door;
use fairdeal_peers::record::MAX_RECORDED;
use fairdeal_peers::ticket::reply::Reply;
use fairdeal_peers::{Multiaddr, PeerId};
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::seat::Seat;

use super::heard::Heard;
use super::lobbies::{has_reached, look_at_addresses, mark_again, reaches, show_again, tell_lobby};
use super::mates::Mates;
use super::opening::Opening;
use super::talk::{self, Room};
use crate::calling::ONLY_HOST;
use crate::chat::ChatError;
use crate::cx::{Cx, End, Turn};
use crate::events::{Command, SessionEvent};
use crate::frame::{Frame, Outgoing};
use crate::header::promise;
use crate::io::{Store, StoreFault, StoreId, Stored};
use crate::lobby::{GuestLobby, HOST};
use crate::setup::Patience;

/// A guest without a table.
pub(crate) struct Joining {
    lobby: GuestLobby,
    /// The table and seat of the promise on disk.
    promised: Option<(Hash32, Seat)>,
    /// A promise on its way to the disk.
    promising: Option<(StoreId, (Hash32, Seat))>,
    /// The other guests of the proposed charter.
    mates: Mates,
}

type Next = Result<Turn<Box<Joining>, Box<Opening>>, End>;

impl Joining {
    pub(crate) fn new(lobby: GuestLobby) -> Self {
        Self { lobby, promised: None, promising: None, mates: Mates::default() }
    }

    pub(crate) fn host(&self) -> PeerId {
        self.lobby.host()
    }

    /// Whether a peer is the host, or another guest of the proposed charter.
    pub(crate) fn knows(&self, peer: PeerId) -> bool {
        peer == self.host() || self.mates.has(peer)
    }

    pub(crate) fn hear(mut self: Box<Self>, heard: Heard, cx: &mut Cx<'_>) -> Next {
        let host = self.lobby.host();
        match heard {
            Heard::Arrived(peer, _) => {
                if has_reached(host, peer, cx) {
                    show_again(cx);
                }
                if peer == host && cx.links.are_told() {
                    self.speak(cx);
                }
                self.mates.greet(peer, &self.lobby, cx);
            }
            Heard::Gone(peer) if peer == host => {
                self.lobby.lost(cx.rng);
                self.mates.follow(&self.lobby, cx);
                // The host may or may not come back.
                let now = cx.now;
                cx.links.reach(now);
            }
            Heard::Frame(peer, frame) => return self.frame(peer, frame, cx),
            Heard::Found(peer, address) => self.mates.found(peer, address),
            Heard::ListensAt(peer, addresses) => self.mates.listens(peer, addresses),
            Heard::Command(Command::Ready(ready)) => {
                let outbox = self.lobby.set_ready(ready).map_err(|error| cx.fail(error.to_string()))?;
                self.changed(&outbox, cx);
                self.mates.follow(&self.lobby, cx);
            }
            Heard::Command(Command::Say(text)) => talk::say(&*self, &text, cx),
            Heard::Command(Command::Invite(_)) => cx.refuse(ChatError::NoTable.to_string()),
            Heard::Command(Command::CallBack(_)) => cx.refuse(ONLY_HOST),
            Heard::RoundTrip(peer, milliseconds) if peer == host => {
                cx.tell(SessionEvent::RoundTrip { seat: HOST, milliseconds });
            }
            Heard::Addresses(addresses) => {
                self.located(&addresses, cx);
                self.speak(cx);
            }
            Heard::Stored(id, answer) => self.stored(id, answer, cx)?,
            Heard::Book => mark_again(cx),
            Heard::Tick => {
                look_at_addresses(cx);
                self.mates.tick();
                self.mates.follow(&self.lobby, cx);
                if reaches(cx)? && cx.links.are_told() {
                    self.speak(cx);
                }
            }
            Heard::Command(Command::Leave | Command::Quit) => return Err(End),
            _ => {}
        }
        Ok(Turn::Stay(self))
    }

    fn frame(mut self: Box<Self>, peer: PeerId, frame: Frame, cx: &mut Cx<'_>) -> Next {
        match frame {
            Frame::Say(text) => talk::heard(&*self, peer, None, &text, cx),
            Frame::Said { seat, text } => talk::heard(&*self, peer, Some(seat), &text, cx),
            frame if peer != self.lobby.host() => self.mates.hear(peer, frame, &self.lobby),
            frame => match self.lobby.receive(peer, frame) {
                Ok((outbox, None)) => {
                    self.changed(&outbox, cx);
                    self.mates.follow(&self.lobby, cx);
                }
                Ok((outbox, Some(agreed))) => {
                    tell_lobby(self.lobby.view(), cx);
                    let early = self.mates.open(agreed.charter.charter(), cx);
                    return Ok(Turn::Next(Box::new(Opening::of_guest(agreed, outbox, early, cx))));
                }
                Err(error) => return Err(cx.fail(error.to_string())),
            },
        }
        Ok(Turn::Stay(self))
    }

    /// The lobby has answered an input: the frames go out, and the player sees what is new.
    fn changed(&mut self, outbox: &Outgoing, cx: &mut Cx<'_>) {
        self.say(outbox, cx);
        tell_lobby(self.lobby.view(), cx);
    }

    fn located(&mut self, addresses: &[Multiaddr], cx: &mut Cx<'_>) {
        let told = addresses.get(..MAX_RECORDED).unwrap_or(addresses);
        self.lobby.set_addresses(told, cx.now.wall / 1000);
        if let (Patience::ForACall, Some(table)) = (cx.links.waiting.patience, self.lobby.table()) {
            // No program dials the doors for browsers.
            let dialled = told.iter().filter(|address| !is_door(address)).cloned();
            let reply = Reply::new(table, cx.own.peer, dialled).ok();
            cx.links.waiting.reply = reply.filter(|reply| !reply.addresses().is_empty());
        }
    }

    /// Sends the frames that the host may lack.
    fn speak(&mut self, cx: &mut Cx<'_>) {
        let outbox = self.lobby.tick();
        self.say(&outbox, cx);
    }

    /// Sends frames, which may include this guest's signature, once its promise is on disk. While the disk is full the
    /// guest sends nothing.
    fn say(&mut self, outbox: &Outgoing, cx: &mut Cx<'_>) {
        let Some((table, me)) = self.lobby.signed().filter(|signed| self.promised != Some(*signed)) else {
            return cx.send_all(outbox);
        };
        // One at a time, whatever the host proposes meanwhile. The answer, or the next tick, repeats the frames.
        if self.promising.is_none() {
            let content = promise(cx.own.local_bot.as_ref());
            let instead_of = self.promised;
            let id = cx.out.store(Store::Promise { table, seat: me, content, instead_of });
            self.promising = Some((id, (table, me)));
        }
    }

    fn stored(&mut self, id: StoreId, answer: Result<Stored, StoreFault>, cx: &mut Cx<'_>) -> Result<(), End> {
        let Some((_, promised)) = self.promising.take_if(|(asked, _)| *asked == id) else {
            return Ok(());
        };
        match answer {
            Ok(_) => {
                cx.disk_has_room();
                self.promised = Some(promised);
                // The host may have proposed another charter meanwhile, or the player is no longer ready.
                self.speak(cx);
                Ok(())
            }
            Err(StoreFault::Full(why)) => {
                cx.disk_is_full(&why);
                Ok(())
            }
            Err(StoreFault::Failed(why)) => Err(cx.fail(why)),
        }
    }
}

impl Room for Joining {
    fn voice(&self) -> Result<Seat, ChatError> {
        self.lobby.seat().ok_or(ChatError::NoSeat)
    }

    fn listeners(&self, _: &[PeerId]) -> Vec<PeerId> {
        vec![self.lobby.host()]
    }

    fn speaker(&self, peer: PeerId, of: Option<Seat>, _: &[PeerId]) -> Option<Seat> {
        let seat = of.unwrap_or(HOST);
        // Ignore our own message when it comes back.
        let me = self.lobby.seat().filter(|me| *me != seat);
        me.filter(|_| peer == self.lobby.host()).map(|_| seat)
    }

    fn cut_off_from(&self, _: Seat, _: &[PeerId]) -> Vec<PeerId> {
        Vec::new()
    }

    fn name(&self, _: Seat) -> Option<String> {
        None
    }

    fn key(&self, _: Seat) -> Option<PeerId> {
        None
    }
}
