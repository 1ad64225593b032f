//! Events on their way to the node's owner: fair between peers, bounded in bytes and number.
//!
//! Each peer has a queue of its own, so that what is said about it and what it said arrive in the
//! order in which they happened; the queues take turns, so that a peer that sends without end delays
//! the others by one message each and no more.
//!
//! A message beyond its peer's budget, or beyond that of all, is refused and so never acknowledged:
//! its sender is told that it failed. Notices are not refused: while many wait the node asks the
//! network for no more, and while very many wait, which only its owner's own commands can bring
//! about, it takes no commands either.

use std::collections::{BTreeMap, VecDeque};

use super::{NodeEvent, PeerId};

/// Messages of one peer that wait at most.
const MAX_MESSAGES: usize = 64;
/// Bytes of one peer's waiting messages, as a multiple of the longest message.
const PEER_BUDGET: usize = 4;
/// Bytes of all waiting messages, as a multiple of the longest message.
const TOTAL_BUDGET: usize = 64;
/// Notices that wait before the network is asked for no more.
const MANY_NOTICES: usize = 1024;
/// Notices that wait before commands wait too.
const TOO_MANY_NOTICES: usize = 4 * MANY_NOTICES;

/// The waiting events; `A` is what acknowledges a message.
#[derive(Debug)]
pub(super) struct Outbox<A> {
    max_message: usize,
    queues: BTreeMap<Option<PeerId>, Queue<A>>,
    /// The queues that are not empty, in the order of their turns.
    turns: VecDeque<Option<PeerId>>,
    notices: usize,
    bytes: usize,
}

#[derive(Debug)]
struct Queue<A> {
    items: VecDeque<Item<A>>,
    messages: usize,
    bytes: usize,
}

#[derive(Debug)]
enum Item<A> {
    Notice(NodeEvent),
    Message { bytes: Vec<u8>, ack: A },
}

/// What is handed to the owner next.
#[derive(Debug)]
pub(super) struct Delivery<A> {
    pub(super) event: NodeEvent,
    /// Of a message: what acknowledges it, to be used once the event is handed over.
    pub(super) ack: Option<A>,
}

impl<A> Outbox<A> {
    /// An empty one, for messages of at most `max_message` bytes.
    pub(super) fn new(max_message: usize) -> Self {
        Self {
            max_message,
            queues: BTreeMap::new(),
            turns: VecDeque::new(),
            notices: 0,
            bytes: 0,
        }
    }

    /// Whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    /// Whether so many notices wait that no more should be made.
    pub(super) fn is_full(&self) -> bool {
        self.notices >= MANY_NOTICES
    }

    /// Whether so many notices wait that not even commands should make more.
    pub(super) fn is_overfull(&self) -> bool {
        self.notices >= TOO_MANY_NOTICES
    }

    /// Whether something about `peer` waits; `None` is the node itself.
    pub(super) fn has_waiting(&self, peer: Option<PeerId>) -> bool {
        self.queues.contains_key(&peer)
    }

    /// Queues an event about `peer`, or about the node itself.
    pub(super) fn notice(&mut self, peer: Option<PeerId>, event: NodeEvent) {
        self.notices += 1;
        self.queue(peer).items.push_back(Item::Notice(event));
    }

    /// Queues a message of `peer`; false, and `ack` is dropped, if it is beyond a budget.
    pub(super) fn message(&mut self, peer: PeerId, bytes: Vec<u8>, ack: A) -> bool {
        let length = bytes.len();
        let peer_budget = self.max_message.saturating_mul(PEER_BUDGET);
        let total_budget = self.max_message.saturating_mul(TOTAL_BUDGET);
        let (messages, waiting) = self
            .queues
            .get(&Some(peer))
            .map_or((0, 0), |queue| (queue.messages, queue.bytes));
        if messages >= MAX_MESSAGES
            || waiting.saturating_add(length) > peer_budget
            || self.bytes.saturating_add(length) > total_budget
        {
            return false;
        }
        self.bytes += length;
        let queue = self.queue(Some(peer));
        queue.messages += 1;
        queue.bytes += length;
        queue.items.push_back(Item::Message { bytes, ack });
        true
    }

    /// The next event, of the peer whose turn it is.
    pub(super) fn pop(&mut self) -> Option<Delivery<A>> {
        let turn = self.turns.pop_front()?;
        let queue = self.queues.get_mut(&turn)?;
        let item = queue.items.pop_front()?;
        let delivery = match item {
            Item::Notice(event) => {
                self.notices = self.notices.saturating_sub(1);
                Delivery { event, ack: None }
            }
            Item::Message { bytes, ack } => {
                queue.messages = queue.messages.saturating_sub(1);
                queue.bytes = queue.bytes.saturating_sub(bytes.len());
                self.bytes = self.bytes.saturating_sub(bytes.len());
                // Messages are queued under their peer only.
                let peer = turn?;
                Delivery {
                    event: NodeEvent::Message { peer, bytes },
                    ack: Some(ack),
                }
            }
        };
        if queue.items.is_empty() {
            self.queues.remove(&turn);
        } else {
            self.turns.push_back(turn);
        }
        Some(delivery)
    }

    fn queue(&mut self, peer: Option<PeerId>) -> &mut Queue<A> {
        self.queues.entry(peer).or_insert_with(|| {
            self.turns.push_back(peer);
            Queue {
                items: VecDeque::new(),
                messages: 0,
                bytes: 0,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::IdentityKey;

    fn peer(seed: u8) -> PeerId {
        PeerId::of(&IdentityKey::from_seed([seed; 32])).unwrap()
    }

    fn pop(outbox: &mut Outbox<u32>) -> Option<(NodeEvent, Option<u32>)> {
        outbox.pop().map(|delivery| (delivery.event, delivery.ack))
    }

    fn message(peer: PeerId, bytes: &[u8]) -> NodeEvent {
        let bytes = bytes.to_vec();
        NodeEvent::Message { peer, bytes }
    }

    #[test]
    fn a_peers_events_keep_their_order() {
        let one = peer(1);
        let mut outbox = Outbox::new(10);
        outbox.notice(
            Some(one),
            NodeEvent::Rtt {
                peer: one,
                millis: 1,
            },
        );
        assert!(outbox.message(one, b"hi".to_vec(), 7));
        outbox.notice(Some(one), NodeEvent::Disconnected { peer: one });
        assert!(outbox.has_waiting(Some(one)));
        let rtt = NodeEvent::Rtt {
            peer: one,
            millis: 1,
        };
        assert_eq!(pop(&mut outbox), Some((rtt, None)));
        assert_eq!(pop(&mut outbox), Some((message(one, b"hi"), Some(7))));
        let gone = NodeEvent::Disconnected { peer: one };
        assert_eq!(pop(&mut outbox), Some((gone, None)));
        assert_eq!(pop(&mut outbox), None);
        assert!(outbox.is_empty() && !outbox.has_waiting(Some(one)));
    }

    #[test]
    fn peers_take_turns() {
        let (loud, quiet) = (peer(1), peer(2));
        let mut outbox = Outbox::new(10);
        for number in 0..5 {
            assert!(outbox.message(loud, vec![number], 0));
        }
        assert!(outbox.message(quiet, vec![9], 0));
        pop(&mut outbox);
        assert_eq!(pop(&mut outbox), Some((message(quiet, &[9]), Some(0))));
        let rest = std::iter::from_fn(|| pop(&mut outbox)).count();
        assert_eq!(rest, 4);
    }

    #[test]
    fn a_flood_is_refused_by_number_and_by_bytes() {
        let mut outbox = Outbox::new(100);
        let taken = (0..1000).filter(|_| outbox.message(peer(1), vec![0], 0));
        assert_eq!(taken.count(), MAX_MESSAGES);
        let taken = (0..1000).filter(|_| outbox.message(peer(2), vec![0; 100], 0));
        assert_eq!(taken.count(), PEER_BUDGET);
        // What is handed over makes room again.
        while pop(&mut outbox).is_some() {}
        assert!(outbox.message(peer(2), vec![0; 100], 0));
    }

    #[test]
    fn many_peers_have_a_budget_together() {
        let mut outbox = Outbox::new(100);
        let taken = (0..100).filter(|seed| outbox.message(peer(*seed), vec![0; 100], 0));
        assert_eq!(taken.count(), TOTAL_BUDGET);
    }

    #[test]
    fn many_notices_are_noticed() {
        let mut outbox: Outbox<u32> = Outbox::new(100);
        for _ in 0..MANY_NOTICES {
            assert!(!outbox.is_full());
            outbox.notice(None, NodeEvent::Disconnected { peer: peer(1) });
        }
        assert!(outbox.is_full());
        pop(&mut outbox);
        assert!(!outbox.is_full());
    }
}
