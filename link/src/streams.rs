//! The streams of an open connection, inside its encryption: one of messages each way, the peer's pings, and for a circuit
//! one of bytes.

use std::collections::VecDeque;

use crate::LinkError;
use crate::messages::{Inbound, Outbound, PROTOCOL, StreamName};
use crate::multistream::Offered;
use crate::received::Received;
use crate::yamux::{Happened, Mux, StreamId};

/// Whatever comes on such a stream goes back.
pub(crate) const PING: &str = "/ipfs/ping/1.0.0";
/// Maximum number of streams of pings; libp2p opens one.
const MAX_PINGS: usize = 4;
/// Maximum number of bytes of pings that wait to go back; a ping has 32.
const MAX_ECHO: usize = 1024;

/// Something for the owner of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The peer has proven its key, and messages can be sent.
    Open,
    /// A message; the next one comes after [`crate::Connection::taken`].
    Message(Vec<u8>),
    /// The peer has answered a [`crate::Connection::ping`].
    Pong,
}

/// All streams.
pub(crate) struct Streams {
    name: StreamName,
    /// The longest message that is read, in bytes.
    max_message: usize,
    mux: Mux,
    outbound: Option<Outbound>,
    /// The stream of the peer's messages, and a newer one that replaces it once its last message is accepted.
    inbound: Option<Inbound>,
    next: Option<Inbound>,
    /// Streams on which no protocol is agreed.
    offered: Vec<(StreamId, Offered)>,
    /// The streams of the peer's pings, oldest first.
    pings: VecDeque<StreamId>,
    /// A stream of bytes that this end has opened, and whether nothing more comes on it.
    bytes: Option<(StreamId, bool)>,
}

impl Streams {
    pub(crate) fn new(name: StreamName, max_message: usize) -> Self {
        Self {
            name,
            max_message,
            mux: Mux::dialling(),
            outbound: None,
            inbound: None,
            next: None,
            offered: Vec::new(),
            pings: VecDeque::new(),
            bytes: None,
        }
    }

    /// Hears what has arrived; [`Self::read`] makes events of it.
    pub(crate) fn receive(&mut self, content: &[u8]) -> Result<(), LinkError> {
        self.mux.receive(content)
    }

    /// Frames to send.
    pub(crate) fn take_frames(&mut self) -> Vec<u8> {
        self.mux.take_frames()
    }

    /// Sends a message behind all others.
    pub(crate) fn send(&mut self, message: &[u8]) {
        let Self { mux, outbound, name, .. } = self;
        outbound.get_or_insert_with(|| Outbound::open(mux, *name)).send(mux, message);
    }

    /// The owner has accepted the last message.
    pub(crate) fn taken(&mut self) {
        if let Some(inbound) = &mut self.inbound {
            inbound.taken(&mut self.mux);
        }
    }

    /// The number of our messages that the peer has not accepted yet, and of their bytes.
    pub(crate) fn unanswered(&self) -> (usize, usize) {
        self.outbound.as_ref().map_or((0, 0), Outbound::unanswered)
    }

    pub(crate) fn ping(&mut self) {
        self.mux.ping();
    }

    /// Opens the stream of bytes, with its first ones.
    pub(crate) fn open_bytes(&mut self, first: &[u8]) {
        self.bytes = Some((self.mux.open(first), false));
    }

    /// The bytes that have arrived on their stream; `None` without one.
    pub(crate) fn bytes(&mut self) -> Option<&mut Received> {
        self.mux.arrived(self.bytes?.0)
    }

    /// Whether nothing more comes on the stream of bytes.
    pub(crate) fn bytes_have_ended(&self) -> bool {
        self.bytes.is_some_and(|(_, has_ended)| has_ended)
    }

    /// Bytes of their stream have been read: more may come.
    pub(crate) fn has_read_bytes(&mut self) {
        if let Some((id, _)) = self.bytes {
            self.mux.has_read(id);
        }
    }

    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        if let Some((id, _)) = self.bytes {
            self.mux.send(id, bytes);
        }
    }

    /// Reads all streams on.
    pub(crate) fn read(&mut self, events: &mut VecDeque<Event>) -> Result<(), LinkError> {
        while let Some(happened) = self.mux.poll() {
            match happened {
                Happened::Opened(id) => self.offered.push((id, Offered::default())),
                Happened::Ended(id) => self.ended(id)?,
                Happened::Pong => events.push_back(Event::Pong),
            }
        }
        if let Some(outbound) = &mut self.outbound {
            outbound.read(&mut self.mux)?;
        }
        self.agree();
        self.echo();
        if self.next.is_some() && !self.inbound.as_ref().is_some_and(Inbound::waits) {
            let before = std::mem::replace(&mut self.inbound, self.next.take());
            before.iter().for_each(|before| self.mux.reset(before.id()));
        }
        if let Some(inbound) = &mut self.inbound
            && let Some(message) = inbound.read(&mut self.mux, self.max_message)?
        {
            events.push_back(Event::Message(message));
        }
        Ok(())
    }

    /// Agrees on the protocols of new streams. The newest one of messages replaces the others: the peer opens another when
    /// the last one broke.
    fn agree(&mut self) {
        for (id, mut offered) in std::mem::take(&mut self.offered) {
            let Some(received) = self.mux.arrived(id) else { continue };
            let answered = offered.answer(received, &[PROTOCOL, PING]);
            if let Ok((answer, _)) = &answered {
                self.mux.send(id, answer);
            }
            match answered {
                Ok((_, None)) => self.offered.push((id, offered)),
                Ok((_, Some(PROTOCOL))) => {
                    if let Some(before) = self.next.replace(Inbound::new(id)) {
                        self.mux.reset(before.id());
                    }
                }
                Ok((_, Some(_))) => {
                    self.pings.push_back(id);
                    if self.pings.len() > MAX_PINGS
                        && let Some(oldest) = self.pings.pop_front()
                    {
                        self.mux.reset(oldest);
                    }
                }
                // A stream's nonsense is no reason to end the others.
                Err(_) => self.mux.reset(id),
            }
        }
    }

    /// Answers the peer's pings.
    fn echo(&mut self) {
        let mux = &mut self.mux;
        self.pings.retain(|id| {
            let Some(received) = mux.arrived(*id) else { return false };
            let count = received.rest().len();
            let bytes = received.take(count).unwrap_or_default();
            mux.has_read(*id);
            mux.send(*id, &bytes);
            let is_fair = mux.waiting(*id) <= MAX_ECHO;
            if !is_fair {
                mux.reset(*id);
            }
            is_fair
        });
    }

    /// Nothing more comes on a stream.
    fn ended(&mut self, id: StreamId) -> Result<(), LinkError> {
        if let Some((_, has_ended)) = self.bytes.as_mut().filter(|(bytes, _)| *bytes == id) {
            *has_ended = true;
        }
        if self.outbound.as_ref().is_some_and(|outbound| outbound.id() == id) {
            return Err(LinkError::Protocol("it does not take our messages"));
        }
        let is_it = |inbound: &mut Inbound| inbound.id() == id;
        let is_left = self.offered.iter().any(|(offered, _)| *offered == id) || self.pings.contains(&id);
        if is_left || self.next.take_if(is_it).is_some() {
            self.offered.retain(|(offered, _)| *offered != id);
            self.pings.retain(|ping| *ping != id);
            self.mux.reset(id);
        }
        // A message that waits to be accepted is whole.
        if self.inbound.as_ref().is_some_and(|inbound| inbound.id() == id && !inbound.waits()) {
            self.inbound = None;
            self.mux.reset(id);
        }
        Ok(())
    }
}
