//! The transport: frames over plain TCP, one connection for each pair of seats. Replace this file by your transport.
//!
//! A table asks little of it. A message is bytes for one seat, at most 1 MiB. Messages may be lost, repeated or
//! reordered, for the next tick repairs that. The transport says from which seat a message came; if it lies, the table
//! answers the wrong seat, and a silent seat counts as heard, but no entry can be forged and no card seen.
//!
//! Plain TCP does not encrypt: an eavesdropper sees the moves, but no hidden card, since a card's own owner never sends
//! its share. It does not authenticate either. Use TLS or Noise where strangers can reach the port.

use std::collections::BTreeMap;
use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::{Receiver, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::table::live::To;
use fairdeal_protocol::table::message::MAX_MESSAGE;

/// A peer that takes none of our bytes for this long loses its connection. Otherwise one stuck program would hold up
/// all others.
const STUCK: Duration = Duration::from_secs(10);
/// How long a program that ends waits for the others to close their connections.
const PARTING: Duration = Duration::from_secs(3);

/// Inputs of a program while it plays.
pub(crate) enum Heard {
    Message(Seat, Vec<u8>),
    /// The connection to a seat is closed.
    Lost(Seat),
    /// The player at this program has typed a line.
    Typed(String),
    /// The player will type no more.
    InputEnded,
}

/// Sends a frame: the length as four bytes, then the bytes.
pub(crate) fn send(mut stream: &TcpStream, bytes: &[u8]) -> io::Result<()> {
    let length = u32::try_from(bytes.len()).map_err(io::Error::other)?;
    stream.write_all(&[&length.to_be_bytes(), bytes].concat())
}

/// Receives a frame. The limit comes before the allocation: a stranger's length is not to be trusted.
pub(crate) fn receive(mut stream: &TcpStream, limit: usize) -> io::Result<Vec<u8>> {
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let length = usize::try_from(u32::from_be_bytes(length)).map_err(io::Error::other)?;
    if length > limit {
        return Err(io::Error::other(format!("a frame of {length} bytes; at most {limit} are allowed")));
    }
    let mut bytes = vec![0; length];
    stream.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// The connections of one program to the other seats.
pub(crate) struct Links {
    streams: BTreeMap<Seat, TcpStream>,
}

impl Links {
    /// Starts a thread for each connection that passes what it receives to `inbox`. A full inbox holds up the thread,
    /// and TCP then holds up the sender: a flood fills no memory.
    pub(crate) fn start(streams: BTreeMap<Seat, TcpStream>, inbox: &SyncSender<Heard>) -> io::Result<Self> {
        for (seat, stream) in &streams {
            stream.set_nodelay(true)?;
            stream.set_read_timeout(None)?;
            stream.set_write_timeout(Some(STUCK))?;
            let (seat, stream, inbox) = (*seat, stream.try_clone()?, inbox.clone());
            thread::spawn(move || {
                while let Ok(bytes) = receive(&stream, MAX_MESSAGE) {
                    if inbox.send(Heard::Message(seat, bytes)).is_err() {
                        return;
                    }
                }
                // The program may have ended; then nobody needs to know.
                let _ = inbox.send(Heard::Lost(seat));
            });
        }
        Ok(Self { streams })
    }

    /// Sends a message. Returns the seats whose connections broke.
    pub(crate) fn send(&mut self, to: To, bytes: &[u8]) -> Vec<Seat> {
        let wanted = |seat: Seat| to == To::All || to == To::One(seat);
        let streams = self.streams.iter().filter(|(seat, _)| wanted(**seat));
        let broken: Vec<Seat> =
            streams.filter(|(_, stream)| send(stream, bytes).is_err()).map(|(seat, _)| *seat).collect();
        broken.iter().for_each(|seat| self.close(*seat));
        broken
    }

    /// Closes the connection to a seat.
    pub(crate) fn close(&mut self, seat: Seat) {
        if let Some(stream) = self.streams.remove(&seat) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.streams.is_empty()
    }

    /// Says to all that nothing more will come, and waits until they say so too. A program that ends while bytes of
    /// others arrive resets its connections, and its own last bytes may be lost.
    pub(crate) fn finish(mut self, inbox: &Receiver<Heard>) {
        for stream in self.streams.values() {
            let _ = stream.shutdown(Shutdown::Write);
        }
        let until = Instant::now() + PARTING;
        while let Some(left) = until.checked_duration_since(Instant::now()).filter(|_| !self.is_empty()) {
            if let Ok(Heard::Lost(seat)) = inbox.recv_timeout(left) {
                self.close(seat);
            }
        }
    }
}
