//! Streams on one connection: Yamux, as its specification has it (hashicorp/yamux, `spec.md`).
//!
//! A frame is a header of twelve bytes, and content after data frames:
//!
//! ```text
//! version  0                      stream  u32, odd if the dialling end has opened it
//! type     0 data, 1 window,      length  u32: of the content, a window's growth, a ping's number,
//!          2 ping, 3 end                  or why the connection ends
//! flags    u16: 1 opens the stream, 2 acknowledges that, 4 no more data, 8 the stream is given up
//! ```
//!
//! Numbers are big-endian. Each direction of a stream begins with a window of 256 KiB.

use std::collections::{BTreeMap, VecDeque};

use crate::LinkError;
use crate::received::Received;

const HEADER: usize = 12;
const DATA: u8 = 0;
const WINDOW: u8 = 1;
const PING: u8 = 2;
const END: u8 = 3;
const SYN: u16 = 1;
const ACK: u16 = 2;
const FIN: u16 = 4;
const RST: u16 = 8;
/// The window of a new stream, in bytes.
const FIRST_WINDOW: u32 = 256 * 1024;
/// The longest content of a data frame that is sent, in bytes.
const MAX_CONTENT: usize = 16 * 1024;
/// Maximum number of streams that the other end may have open. libp2p opens one for each of its protocols now and then.
const MAX_THEIRS: usize = 32;

/// The number of a stream.
pub(crate) type StreamId = u32;

/// Something that has happened to a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Happened {
    /// The other end has opened it.
    Opened(StreamId),
    /// Nothing more comes on it.
    Ended(StreamId),
    /// The other end has answered a ping.
    Pong,
}

/// All streams of a connection.
#[derive(Debug)]
pub(crate) struct Mux {
    /// The next stream to open.
    next: StreamId,
    streams: BTreeMap<StreamId, Stream>,
    received: Received,
    /// Frames to send.
    frames: Vec<u8>,
    happened: VecDeque<Happened>,
}

#[derive(Debug)]
struct Stream {
    inbound: Received,
    /// Bytes that the other end may still send, and those that were read since it was told so.
    window: u32,
    read: u32,
    /// Bytes that wait to be sent, and how many the other end takes.
    outbound: VecDeque<u8>,
    credit: u32,
    /// The flag of the next frame, if that one opens the stream.
    flag: u16,
}

impl Stream {
    fn new(flag: u16) -> Self {
        Self {
            inbound: Received::default(),
            window: FIRST_WINDOW,
            read: 0,
            outbound: VecDeque::new(),
            credit: FIRST_WINDOW,
            flag,
        }
    }
}

impl Mux {
    /// The streams of the end that has dialled.
    pub(crate) fn dialling() -> Self {
        Self::new(1)
    }

    fn new(next: StreamId) -> Self {
        Self {
            next,
            streams: BTreeMap::new(),
            received: Received::default(),
            frames: Vec::new(),
            happened: VecDeque::new(),
        }
    }

    /// Opens a stream, with bytes to send on it.
    pub(crate) fn open(&mut self, bytes: &[u8]) -> StreamId {
        let id = self.next;
        self.next = self.next.wrapping_add(2);
        self.streams.insert(id, Stream::new(SYN));
        self.send(id, bytes);
        id
    }

    /// Sends bytes on a stream, as soon as the other end takes them; nothing if it is gone.
    pub(crate) fn send(&mut self, id: StreamId, bytes: &[u8]) {
        if let Some(stream) = self.streams.get_mut(&id) {
            stream.outbound.extend(bytes);
            self.pump(id);
        }
    }

    fn pump(&mut self, id: StreamId) {
        let Some(stream) = self.streams.get_mut(&id) else { return };
        while !stream.outbound.is_empty() && stream.credit > 0 {
            let credit = usize::try_from(stream.credit).unwrap_or(usize::MAX);
            let count = stream.outbound.len().min(credit).min(MAX_CONTENT);
            let length = u32::try_from(count).unwrap_or(u32::MAX);
            stream.credit -= length;
            let flags = std::mem::take(&mut stream.flag);
            self.frames.extend(header(DATA, flags, id, length));
            self.frames.extend(stream.outbound.drain(..count));
        }
    }

    /// The bytes of a stream that have arrived and are not read yet.
    pub(crate) fn arrived(&mut self, id: StreamId) -> Option<&mut Received> {
        self.streams.get_mut(&id).map(|stream| &mut stream.inbound)
    }

    /// How many bytes wait until the other end takes them.
    pub(crate) fn waiting(&self, id: StreamId) -> usize {
        self.streams.get(&id).map_or(0, |stream| stream.outbound.len())
    }

    /// Tells the other end how much it may send, after bytes have been read.
    pub(crate) fn has_read(&mut self, id: StreamId) {
        let Some(stream) = self.streams.get_mut(&id) else { return };
        let unread = u32::try_from(stream.inbound.rest().len()).unwrap_or(u32::MAX);
        stream.read = FIRST_WINDOW.saturating_sub(stream.window).saturating_sub(unread);
        if stream.read >= FIRST_WINDOW / 2 {
            stream.window += stream.read;
            let flags = std::mem::take(&mut stream.flag);
            self.frames.extend(header(WINDOW, flags, id, stream.read));
        }
    }

    /// Gives a stream up.
    pub(crate) fn reset(&mut self, id: StreamId) {
        if self.streams.remove(&id).is_some() {
            self.frames.extend(header(WINDOW, RST, id, 0));
        }
    }

    /// Asks the other end for a sign of life.
    pub(crate) fn ping(&mut self) {
        self.frames.extend(header(PING, SYN, 0, 0));
    }

    /// Frames to send.
    pub(crate) fn take_frames(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.frames)
    }

    pub(crate) fn poll(&mut self) -> Option<Happened> {
        self.happened.pop_front()
    }

    /// Reads what has arrived.
    ///
    /// # Errors
    /// [`LinkError`] for what is no Yamux, and at the connection's end.
    pub(crate) fn receive(&mut self, bytes: &[u8]) -> Result<(), LinkError> {
        self.received.push(bytes);
        while let Some(&[version, kind, f1, f0, s3, s2, s1, s0, l3, l2, l1, l0]) =
            self.received.rest().first_chunk::<HEADER>()
        {
            if version != 0 {
                return Err(LinkError::Protocol("a frame is of another version"));
            }
            let flags = u16::from_be_bytes([f1, f0]);
            let id = u32::from_be_bytes([s3, s2, s1, s0]);
            let length = u32::from_be_bytes([l3, l2, l1, l0]);
            let content = if kind == DATA { usize::try_from(length).unwrap_or(usize::MAX) } else { 0 };
            // Before its bytes are awaited: the window bounds what is kept.
            let window = self.streams.get(&id).map_or(FIRST_WINDOW, |stream| stream.window);
            if kind == DATA && length > window {
                return Err(LinkError::Protocol("a frame is longer than its stream's window"));
            }
            let Some(frame) = self.received.take(HEADER + content) else { break };
            self.frame(kind, flags, id, length, frame.get(HEADER..).unwrap_or_default())?;
        }
        Ok(())
    }

    fn frame(&mut self, kind: u8, flags: u16, id: StreamId, length: u32, content: &[u8]) -> Result<(), LinkError> {
        match kind {
            DATA | WINDOW => {}
            PING if flags & ACK != 0 => {
                self.happened.push_back(Happened::Pong);
                return Ok(());
            }
            PING => {
                self.frames.extend(header(PING, ACK, 0, length));
                return Ok(());
            }
            END => return Err(LinkError::Ended),
            _ => return Err(LinkError::Protocol("a frame is of an unknown type")),
        }
        if flags & SYN != 0 {
            self.opened(id)?;
        }
        let Some(stream) = self.streams.get_mut(&id) else {
            // Of a stream that this end has given up.
            return Ok(());
        };
        if kind == DATA {
            stream.window -= length;
            stream.inbound.push(content);
        } else {
            let credit = stream.credit.checked_add(length);
            stream.credit = credit.ok_or(LinkError::Protocol("a window is too wide"))?;
        }
        if flags & RST != 0 {
            self.streams.remove(&id);
        }
        if flags & (FIN | RST) != 0 {
            self.happened.push_back(Happened::Ended(id));
        }
        self.pump(id);
        Ok(())
    }

    fn opened(&mut self, id: StreamId) -> Result<(), LinkError> {
        let is_theirs = id != 0 && id % 2 != self.next % 2;
        if !is_theirs || self.streams.contains_key(&id) {
            return Err(LinkError::Protocol("a stream is opened under a number that is not free"));
        }
        let theirs = self.streams.keys().filter(|id| *id % 2 != self.next % 2);
        if theirs.count() >= MAX_THEIRS {
            return Err(LinkError::Protocol("the other end opens streams without end"));
        }
        // At once: some ends wait for it.
        self.frames.extend(header(WINDOW, ACK, id, 0));
        self.streams.insert(id, Stream::new(0));
        self.happened.push_back(Happened::Opened(id));
        Ok(())
    }
}

fn header(kind: u8, flags: u16, id: StreamId, length: u32) -> [u8; HEADER] {
    let ([f1, f0], [s3, s2, s1, s0], [l3, l2, l1, l0]) = (flags.to_be_bytes(), id.to_be_bytes(), length.to_be_bytes());
    [0, kind, f1, f0, s3, s2, s1, s0, l3, l2, l1, l0]
}

#[cfg(test)]
impl Mux {
    /// The streams of the end that was dialled.
    pub(crate) fn answering() -> Self {
        Self::new(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands over what both ends have to send, until nothing is left.
    fn exchange(one: &mut Mux, other: &mut Mux) {
        loop {
            let (there, back) = (one.take_frames(), other.take_frames());
            if there.is_empty() && back.is_empty() {
                return;
            }
            other.receive(&there).unwrap();
            one.receive(&back).unwrap();
        }
    }

    #[test]
    fn a_stream_has_these_bytes() {
        let mut mux = Mux::dialling();
        assert_eq!(mux.open(b"hi"), 1);
        let frames = mux.take_frames();
        assert_eq!(frames, [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 2, b'h', b'i']);
        let mut other = Mux::answering();
        other.receive(&frames).unwrap();
        assert_eq!(other.poll(), Some(Happened::Opened(1)));
        assert_eq!(other.arrived(1).unwrap().rest(), b"hi");
        assert_eq!(other.take_frames(), [0, 1, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0]);
        other.ping();
        assert_eq!(other.take_frames(), [0, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
    }

    /// A long text needs windows again and again, and waits where nobody reads.
    #[test]
    fn windows_bound_what_is_under_way() {
        let (mut one, mut other) = (Mux::dialling(), Mux::answering());
        let text: Vec<u8> = (0..1_000_000_u32).map(|n| n.to_be_bytes()[2]).collect();
        let id = one.open(&text);
        exchange(&mut one, &mut other);
        let window = usize::try_from(FIRST_WINDOW).unwrap();
        assert_eq!(other.arrived(id).unwrap().rest().len(), window);
        let mut read = Vec::new();
        while read.len() < text.len() {
            let count = other.arrived(id).unwrap().rest().len().min(100_000);
            read.extend(other.arrived(id).unwrap().take(count).unwrap());
            other.has_read(id);
            exchange(&mut one, &mut other);
        }
        assert!(read == text);
    }

    #[test]
    fn pieces_make_no_difference() {
        let mut one = Mux::dialling();
        let id = one.open(b"hello");
        one.ping();
        for byte in one.take_frames().chunks(1).collect::<Vec<_>>().concat().chunks(1) {
            let mut other = Mux::answering();
            other.receive(byte).unwrap();
            assert_eq!(other.poll(), None);
        }
        let mut whole = Mux::dialling();
        whole.open(b"hello");
        let frames = whole.take_frames();
        let mut other = Mux::answering();
        frames.chunks(1).for_each(|byte| other.receive(byte).unwrap());
        assert_eq!(other.arrived(id).unwrap().rest(), b"hello");
    }

    #[test]
    fn ends_are_told() {
        let (mut one, mut other) = (Mux::dialling(), Mux::answering());
        let id = one.open(b"x");
        exchange(&mut one, &mut other);
        while other.poll().is_some() {}
        one.reset(id);
        exchange(&mut one, &mut other);
        assert_eq!(other.poll(), Some(Happened::Ended(id)));
        assert!(other.arrived(id).is_none());
        // What still comes for it is passed over.
        other.receive(&[header(DATA, 0, id, 1).as_slice(), &[7]].concat()).unwrap();
        assert_eq!(other.poll(), None);
    }

    #[test]
    fn nonsense_ends_the_connection() {
        let window = header(WINDOW, 0, 2, u32::MAX);
        for bytes in [
            b"GET / HTTP/1.1\r\n\r\n".to_vec(),
            header(DATA, 0, 1, FIRST_WINDOW + 1).to_vec(),
            header(DATA, SYN, 1, 0).to_vec(),
            header(DATA, SYN, 0, 0).to_vec(),
            header(7, 0, 2, 0).to_vec(),
            header(END, 0, 0, 0).to_vec(),
            [header(DATA, SYN, 2, 0), header(DATA, SYN, 2, 0)].concat(),
            [header(DATA, SYN, 2, 0), window, window].concat(),
            (1..=MAX_THEIRS + 1).flat_map(|n| header(DATA, SYN, u32::try_from(2 * n).unwrap(), 0)).collect(),
        ] {
            let mut mux = Mux::dialling();
            assert!(mux.receive(&bytes).is_err(), "{:?}", bytes.get(..12));
        }
    }
}
