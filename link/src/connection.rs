//! A connection as its owner sees it: to the peer itself, or through a relay.

use ed25519_dalek::SigningKey;
use fairdeal_peers::PeerId;
use rand_core::CryptoRng;

use crate::LinkError;
use crate::circuit::Circuit;
use crate::direct::Direct;
use crate::messages::StreamName;
use crate::streams::Event;

/// A connection that this end has dialled. It is over with its first error: nothing of it may be used any more.
pub struct Connection {
    /// The way through a relay, if the peer is not dialled itself.
    circuit: Option<Circuit>,
    end: Direct,
}

impl Connection {
    /// Dials this peer under this key. The name is that of the stream of messages; of one program each connection needs a
    /// higher number.
    ///
    /// # Errors
    /// [`LinkError::Encryption`], which is a bug.
    pub fn dial(
        key: &SigningKey,
        peer: PeerId,
        name: StreamName,
        max_message: usize,
        rng: &mut dyn CryptoRng,
    ) -> Result<Self, LinkError> {
        Ok(Self { circuit: None, end: Direct::dial(key, peer, name, max_message, rng)? })
    }

    /// Dials this peer through a relay at which it has a reservation. The relay sees whom it connects, and nothing else.
    ///
    /// # Errors
    /// [`LinkError::Encryption`], which is a bug.
    pub fn dial_through(
        relay: PeerId,
        key: &SigningKey,
        peer: PeerId,
        name: StreamName,
        max_message: usize,
        rng: &mut dyn CryptoRng,
    ) -> Result<Self, LinkError> {
        let circuit = Circuit::dial(key, relay, peer, name, rng)?;
        Ok(Self { circuit: Some(circuit), end: Direct::dial(key, peer, name, max_message, rng)? })
    }

    /// The peer at the other end.
    pub fn peer(&self) -> PeerId {
        self.end.peer()
    }

    pub fn is_open(&self) -> bool {
        self.end.is_open()
    }

    /// Hears bytes that have arrived, in pieces of any length. Returns whether any of them came from the peer: a relay may
    /// go on while the peer is silent.
    ///
    /// # Errors
    /// [`LinkError`]: close the connection.
    pub fn receive(&mut self, bytes: &[u8]) -> Result<bool, LinkError> {
        let Some(circuit) = &mut self.circuit else {
            self.end.receive(bytes)?;
            return Ok(true);
        };
        let heard = circuit.receive(bytes)?;
        let has_ended = circuit.has_ended();
        self.end.receive(&heard)?;
        self.carry()?;
        if has_ended { Err(LinkError::Ended) } else { Ok(!heard.is_empty()) }
    }

    /// Sends a message behind all others; nothing before the connection is open.
    ///
    /// # Errors
    /// [`LinkError`]: close the connection.
    pub fn send(&mut self, message: &[u8]) -> Result<(), LinkError> {
        self.end.send(message)?;
        self.carry()
    }

    /// The owner has accepted the last message.
    ///
    /// # Errors
    /// [`LinkError`]: close the connection.
    pub fn taken(&mut self) -> Result<(), LinkError> {
        self.end.taken()?;
        self.carry()
    }

    /// The number of our messages that the peer has not accepted yet, and of their bytes.
    pub fn unanswered(&self) -> (usize, usize) {
        self.end.unanswered()
    }

    /// Asks the peer for a sign of life.
    ///
    /// # Errors
    /// [`LinkError`]: close the connection.
    pub fn ping(&mut self) -> Result<(), LinkError> {
        self.end.ping()?;
        self.carry()
    }

    /// Bytes to send now, to whoever was dialled; at most [`crate::MAX_PIECE`] of them: call it until nothing is left.
    pub fn take_bytes(&mut self) -> Option<Vec<u8>> {
        match &mut self.circuit {
            Some(circuit) => circuit.take_bytes(),
            None => self.end.take_bytes(),
        }
    }

    pub fn poll(&mut self) -> Option<Event> {
        self.end.poll()
    }

    /// Hands what there is to send to the circuit, if it is one and open.
    fn carry(&mut self) -> Result<(), LinkError> {
        let Some(circuit) = self.circuit.as_mut().filter(|circuit| circuit.is_open()) else { return Ok(()) };
        while let Some(bytes) = self.end.take_bytes() {
            circuit.send(&bytes)?;
        }
        Ok(())
    }
}
