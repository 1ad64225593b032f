//! Events queued for the node's owner, in the order in which they happened; bounded.
//!
//! At most one message per connection waits ([`super::streams`]), so a peer that sends without end barely delays the
//! others. While many other events wait, the node stops reading from the network. While very many wait, it also stops
//! accepting commands; only the owner's own commands can cause that.

use std::collections::VecDeque;

use fairdeal_peers::PeerId;

use super::NodeEvent;
use super::streams::Receipt;

/// Number of waiting events at which the node stops reading from the network.
const MANY: usize = 1024;
/// Number of waiting events at which the node stops accepting commands.
const TOO_MANY: usize = 4 * MANY;

/// The waiting events.
#[derive(Debug, Default)]
pub(super) struct EventQueue {
    events: VecDeque<(NodeEvent, Option<Receipt>)>,
}

impl EventQueue {
    /// Whether no event waits.
    pub(super) fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Whether the network should add no more events.
    pub(super) fn is_full(&self) -> bool {
        self.events.len() >= MANY
    }

    /// Whether even commands should add no more events.
    pub(super) fn is_overfull(&self) -> bool {
        self.events.len() >= TOO_MANY
    }

    /// Whether a round trip to this peer is queued.
    pub(super) fn has_rtt(&self, of: PeerId) -> bool {
        self.events.iter().any(|(event, _)| matches!(event, NodeEvent::Rtt { peer, .. } if *peer == of))
    }

    /// Queues an event.
    pub(super) fn push(&mut self, event: NodeEvent) {
        self.events.push_back((event, None));
    }

    /// Queues a message; use the receipt once the message is handed over.
    pub(super) fn message(&mut self, peer: PeerId, bytes: Vec<u8>, receipt: Receipt) {
        let message = NodeEvent::Message { peer, bytes };
        self.events.push_back((message, Some(receipt)));
    }

    /// The next event.
    pub(super) fn pop(&mut self) -> Option<(NodeEvent, Option<Receipt>)> {
        self.events.pop_front()
    }
}
