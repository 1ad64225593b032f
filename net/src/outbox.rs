//! Events on their way to the node's owner, in the order in which they happened; bounded.
//!
//! Of each connection at most one message waits ([`super::streams`]), so a peer that sends without end delays the others
//! by no more than that. While many other events wait the node asks the network for no more, and while very many wait,
//! which only its owner's own commands can bring about, it takes no commands either.

use std::collections::VecDeque;

use super::streams::Receipt;
use super::{NodeEvent, PeerId};

/// Events that wait before the network is asked for no more.
const MANY: usize = 1024;
/// Events that wait before commands wait too.
const TOO_MANY: usize = 4 * MANY;

/// The waiting events.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    events: VecDeque<(NodeEvent, Option<Receipt>)>,
}

impl Outbox {
    /// Whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Whether so many events wait that no more should be made.
    pub(super) fn is_full(&self) -> bool {
        self.events.len() >= MANY
    }

    /// Whether so many events wait that not even commands should make more.
    pub(super) fn is_overfull(&self) -> bool {
        self.events.len() >= TOO_MANY
    }

    /// Whether a round trip to this peer waits to be told.
    pub(super) fn has_rtt(&self, of: PeerId) -> bool {
        let mut events = self.events.iter();
        events.any(|(event, _)| matches!(event, NodeEvent::Rtt { peer, .. } if *peer == of))
    }

    /// Queues an event.
    pub(super) fn push(&mut self, event: NodeEvent) {
        self.events.push_back((event, None));
    }

    /// Queues a message; the receipt is to be used once it is handed over.
    pub(super) fn message(&mut self, peer: PeerId, bytes: Vec<u8>, receipt: Receipt) {
        let message = NodeEvent::Message { peer, bytes };
        self.events.push_back((message, Some(receipt)));
    }

    /// The next event.
    pub(super) fn pop(&mut self) -> Option<(NodeEvent, Option<Receipt>)> {
        self.events.pop_front()
    }
}
