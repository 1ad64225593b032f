//! Entrances for fuzzers, to the inside of a connection, where its peer speaks already under encryption.

use std::collections::VecDeque;

use crate::circuit::answer;
use crate::messages::StreamName;
use crate::received::Received;
use crate::streams::{Event, Streams};

/// The longest message that is read, in bytes.
const MOST: usize = 1 << 16;
/// Maximum number of bytes that are sent unasked.
const BOUND: usize = 1 << 20;

/// Reads what a peer sends under encryption, in two pieces; the first byte says where the cut is. A message has been sent
/// to the peer before, and each of its messages is accepted at once. Returns whether anything came of it.
///
/// # Panics
/// If more is sent than was heard explains.
pub fn streams(bytes: &[u8]) -> bool {
    let Some((cut, content)) = bytes.split_first() else { return false };
    let mut streams = Streams::new(StreamName { program: [7; 8], number: 1 }, MOST);
    streams.send(b"hello");
    let before = streams.take_frames().len();
    let mut events = VecDeque::new();
    let (first, second) = content.split_at(content.len().min(usize::from(*cut)));
    for piece in [first, second] {
        let heard = streams.receive(piece).and_then(|()| streams.read(&mut events));
        if heard.is_err() {
            return false;
        }
        while let Some(event) = events.pop_front() {
            if matches!(event, Event::Message(_)) {
                streams.taken();
                if streams.read(&mut events).is_err() {
                    return false;
                }
            }
        }
    }
    let sent = streams.take_frames().len();
    assert!(before + sent <= BOUND + 32 * bytes.len(), "{sent} bytes are sent to {}", bytes.len());
    sent > 0
}

/// Reads a relay's answer to the request for a circuit. Returns whether it connects.
pub fn circuit(bytes: &[u8]) -> bool {
    let mut received = Received::default();
    received.push(bytes);
    matches!(answer(&mut received), Ok(Some(())))
}
