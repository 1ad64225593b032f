//! Messages on streams: one ordered stream each way, as `fairdeal-net` carries them.
//!
//! Whoever has messages opens a stream of `/fairdeal/table/7` and writes its [`StreamName`], then one frame a message: its
//! length (four bytes, little-endian), and that many bytes. The other end answers one byte for each message that its
//! owner has accepted.

use std::collections::VecDeque;

use crate::LinkError;
use crate::multistream::{Proposed, proposal};
use crate::received::Received;
use crate::yamux::{Mux, StreamId};

/// The protocol's name, that of `fairdeal-net`.
pub const PROTOCOL: &str = "/fairdeal/table/7";
/// The acknowledgement of an accepted message.
const TAKEN: u8 = 1;
/// Bytes of a message's length.
const LENGTH: usize = 4;
/// Bytes of a stream's name.
const NAME: usize = 16;

/// The name of a stream: the program that has opened it, by a number of its own that it draws, and which of its streams
/// it is. Of one program's streams the newest counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamName {
    pub program: [u8; 8],
    pub number: u64,
}

impl StreamName {
    fn to_bytes(self) -> [u8; NAME] {
        let mut bytes = [0; NAME];
        let (program, number) = bytes.split_at_mut(8);
        program.copy_from_slice(&self.program);
        number.copy_from_slice(&self.number.to_le_bytes());
        bytes
    }
}

/// The stream of our messages.
#[derive(Debug)]
pub(crate) struct Outbound {
    id: StreamId,
    /// `None` once the other end has agreed.
    proposed: Option<Proposed>,
    /// The lengths of the messages that the other end has not accepted.
    unanswered: VecDeque<usize>,
}

impl Outbound {
    pub(crate) fn open(mux: &mut Mux, name: StreamName) -> Self {
        let id = mux.open(&[proposal(PROTOCOL), name.to_bytes().to_vec()].concat());
        Self { id, proposed: Some(Proposed::new(PROTOCOL)), unanswered: VecDeque::new() }
    }

    pub(crate) fn id(&self) -> StreamId {
        self.id
    }

    /// The number of messages that the other end has not accepted, and of their bytes.
    pub(crate) fn unanswered(&self) -> (usize, usize) {
        (self.unanswered.len(), self.unanswered.iter().sum())
    }

    pub(crate) fn send(&mut self, mux: &mut Mux, message: &[u8]) {
        self.unanswered.push_back(message.len());
        let length = u32::try_from(message.len()).unwrap_or(u32::MAX);
        mux.send(self.id, &length.to_le_bytes());
        mux.send(self.id, message);
    }

    /// Reads acknowledgements.
    pub(crate) fn read(&mut self, mux: &mut Mux) -> Result<(), LinkError> {
        let Some(received) = mux.arrived(self.id) else { return Ok(()) };
        if let Some(proposed) = &mut self.proposed {
            match proposed.answer(received)? {
                None => return Ok(()),
                Some(true) => self.proposed = None,
                Some(false) => return Err(LinkError::Protocol("it is of another version of fairdeal")),
            }
        }
        let count = received.rest().len();
        let answers = received.take(count).unwrap_or_default();
        mux.has_read(self.id);
        if answers.iter().any(|answer| *answer != TAKEN) {
            return Err(LinkError::Protocol("an acknowledgement is none"));
        }
        if count > self.unanswered.len() {
            return Err(LinkError::Protocol("it accepts messages that were never sent"));
        }
        self.unanswered.drain(..count);
        // What waits to be sent belongs to messages without an answer: the others would wait for ever, and grow.
        let (messages, bytes) = self.unanswered();
        if mux.waiting(self.id) > bytes + messages * LENGTH {
            return Err(LinkError::Protocol("it accepts messages before it has them"));
        }
        Ok(())
    }
}

/// The stream of the other end's messages.
#[derive(Debug)]
pub(crate) struct Inbound {
    id: StreamId,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    /// The name of the stream is awaited.
    Unnamed,
    /// The next message comes.
    Reading(Partial),
    /// A message waits to be accepted.
    Read,
}

/// A message of which a part has arrived. It is kept apart from the stream: a message may be longer than a window.
#[derive(Debug, Default)]
struct Partial {
    length: Option<usize>,
    bytes: Vec<u8>,
}

impl Inbound {
    pub(crate) fn new(id: StreamId) -> Self {
        Self { id, stage: Stage::Unnamed }
    }

    pub(crate) fn id(&self) -> StreamId {
        self.id
    }

    /// Whether a message waits to be accepted.
    pub(crate) fn waits(&self) -> bool {
        matches!(self.stage, Stage::Read)
    }

    /// The next message, if the last one is accepted and all of the next has arrived.
    pub(crate) fn read(&mut self, mux: &mut Mux, max_message: usize) -> Result<Option<Vec<u8>>, LinkError> {
        let Some(received) = mux.arrived(self.id) else { return Ok(None) };
        if matches!(self.stage, Stage::Unnamed) && received.array::<NAME>().is_some() {
            self.stage = Stage::Reading(Partial::default());
        }
        let Stage::Reading(partial) = &mut self.stage else { return Ok(None) };
        let message = partial.read(received, max_message)?;
        if message.is_some() {
            self.stage = Stage::Read;
        }
        mux.has_read(self.id);
        Ok(message)
    }

    /// The owner has accepted the message.
    pub(crate) fn taken(&mut self, mux: &mut Mux) {
        if self.waits() {
            self.stage = Stage::Reading(Partial::default());
            mux.send(self.id, &[TAKEN]);
        }
    }
}

impl Partial {
    /// Reads what has arrived of the message; all of it, once its last byte is there.
    fn read(&mut self, received: &mut Received, max_message: usize) -> Result<Option<Vec<u8>>, LinkError> {
        let length = match self.length {
            Some(length) => length,
            None => {
                let Some(length) = received.array() else { return Ok(None) };
                let length = usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX);
                if length > max_message {
                    return Err(LinkError::TooLong { length, most: max_message });
                }
                *self.length.insert(length)
            }
        };
        let count = received.rest().len().min(length - self.bytes.len());
        self.bytes.extend(received.take(count).unwrap_or_default());
        Ok((self.bytes.len() == length).then(|| std::mem::take(&mut self.bytes)))
    }
}
