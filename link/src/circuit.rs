//! A stream through a relay to a peer that has a reservation there: libp2p's circuit relay, version 2 (specs,
//! `relay/circuit-v2.md`).
//!
//! On a stream of its own the relay is asked to connect, in one message each way; a message is its length as an unsigned
//! varint and a protobuf. What follows on the stream are the bytes of both ends.

use ed25519_dalek::SigningKey;
use fairdeal_peers::PeerId;
use prost::Message as _;
use rand_core::CryptoRng;

use crate::direct::Direct;
use crate::messages::StreamName;
use crate::multistream::{Proposed, proposal};
use crate::received::Received;
use crate::streams::{Event, Streams};
use crate::{LinkError, Refused};

const HOP: &str = "/libp2p/circuit/relay/0.2.0/hop";
/// The longest answer that is read, in bytes.
const MAX_ANSWER: usize = 4096;

/// A message to or from a relay. What else it may hold is of no use here.
#[derive(Clone, PartialEq, prost::Message)]
struct HopMessage {
    #[prost(int32, optional, tag = "1")]
    kind: Option<i32>,
    #[prost(message, optional, tag = "2")]
    peer: Option<Peer>,
    #[prost(int32, optional, tag = "5")]
    status: Option<i32>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Peer {
    #[prost(bytes = "vec", tag = "1")]
    id: Vec<u8>,
}

const CONNECT: i32 = 1;
const STATUS: i32 = 2;
const OK: i32 = 100;

/// A connection to a relay, and the stream on it.
pub(crate) struct Circuit {
    relay: Direct,
    /// The peer to be reached.
    peer: PeerId,
    stage: Stage,
}

enum Stage {
    /// The relay has not proven its key.
    Reaching,
    /// It is asked to connect; the proposal is gone once it has agreed.
    Asking(Option<Proposed>),
    Open,
}

impl Circuit {
    pub(crate) fn dial(
        key: &SigningKey,
        relay: PeerId,
        peer: PeerId,
        name: StreamName,
        rng: &mut dyn CryptoRng,
    ) -> Result<Self, LinkError> {
        // A relay sends no messages of a table.
        let relay = Direct::dial(key, relay, name, 0, rng)?;
        Ok(Self { relay, peer, stage: Stage::Reaching })
    }

    pub(crate) fn is_open(&self) -> bool {
        matches!(self.stage, Stage::Open)
    }

    /// Hears bytes from the relay. Returns those from the peer.
    pub(crate) fn receive(&mut self, bytes: &[u8]) -> Result<Vec<u8>, LinkError> {
        self.relay.receive(bytes)?;
        while let Some(event) = self.relay.poll() {
            if event == Event::Open {
                let first = [proposal(HOP), connect(self.peer)].concat();
                self.relay.with_streams(|streams| streams.open_bytes(&first))?;
                self.stage = Stage::Asking(Some(Proposed::new(HOP)));
            }
        }
        let Some(received) = self.relay.streams().and_then(Streams::bytes) else { return Ok(Vec::new()) };
        if let Stage::Asking(proposed) = &mut self.stage {
            if let Some(asked) = proposed {
                match asked.answer(received)? {
                    Some(true) => *proposed = None,
                    Some(false) => return Err(LinkError::Refused(Refused::NoRelay)),
                    None => {}
                }
            }
            if proposed.is_none() && answer(received)?.is_some() {
                self.stage = Stage::Open;
            }
        }
        let heard = match self.stage {
            Stage::Open => received.take(received.rest().len()).unwrap_or_default(),
            Stage::Reaching | Stage::Asking(_) => Vec::new(),
        };
        self.relay.with_streams(Streams::has_read_bytes)?;
        Ok(heard)
    }

    /// Whether nothing more comes from the peer.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.relay.streams().is_some_and(|streams| streams.bytes_have_ended())
    }

    /// Sends bytes to the peer.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> Result<(), LinkError> {
        self.relay.with_streams(|streams| streams.send_bytes(bytes))
    }

    pub(crate) fn take_bytes(&mut self) -> Option<Vec<u8>> {
        self.relay.take_bytes()
    }
}

/// The request to be connected with a peer.
fn connect(peer: PeerId) -> Vec<u8> {
    let peer = Some(Peer { id: peer.to_id() });
    HopMessage { kind: Some(CONNECT), peer, status: None }.encode_length_delimited_to_vec()
}

/// The relay's answer to it, if all of that has arrived.
pub(crate) fn answer(received: &mut Received) -> Result<Option<()>, LinkError> {
    let Some(message) = received.message(MAX_ANSWER, "the relay's answer is too long")? else { return Ok(None) };
    let strange = || LinkError::Protocol("the relay answers something else");
    let message = HopMessage::decode(message.as_slice()).map_err(|_| strange())?;
    match (message.kind, message.status) {
        (Some(STATUS), Some(OK)) => Ok(Some(())),
        (Some(STATUS), Some(status)) => Err(LinkError::Refused(Refused::of(status))),
        _ => Err(strange()),
    }
}

#[cfg(test)]
mod tests {
    use fairdeal_peers::testing::peer;

    use super::*;

    fn received(bytes: &[u8]) -> Received {
        let mut received = Received::default();
        received.push(bytes);
        received
    }

    /// The bytes of the specification: type 1, then the peer with its id.
    #[test]
    fn request_has_these_bytes() {
        let bytes = connect(peer(2));
        let (head, key) = bytes.split_at(bytes.len() - 32);
        assert_eq!(head, [44, 8, 1, 18, 40, 10, 38, 0, 36, 8, 1, 18, 32]);
        assert_eq!(key, peer(2).to_bytes());
    }

    #[test]
    fn answers_are_read_whole() {
        // A limit of the relay stands between.
        let yes = [11, 8, 2, 34, 5, 8, 60, 16, 128, 8, 40, 100];
        for cut in 0..yes.len() {
            assert_eq!(answer(&mut received(&yes[..cut])), Ok(None), "{cut}");
        }
        let mut whole = received(&[yes.as_slice(), b"then"].concat());
        assert_eq!(answer(&mut whole), Ok(Some(())));
        assert_eq!(whole.rest(), b"then");
        for (status, why) in [
            (200, Refused::Full),
            (201, Refused::Full),
            (202, Refused::Other(202)),
            (203, Refused::NotThere),
            (204, Refused::NotThere),
        ] {
            let no =
                HopMessage { kind: Some(STATUS), peer: None, status: Some(status) }.encode_length_delimited_to_vec();
            assert_eq!(answer(&mut received(&no)), Err(LinkError::Refused(why)));
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for bytes in [&b"\xff\xff\x01"[..], b"\xff\x7f", b"\x02\x08\x01", b"\x03\x08\x02\xff", b"\x00"] {
            assert!(answer(&mut received(bytes)).is_err(), "{bytes:?}");
        }
    }
}
