//! The world around one session: its network, its files and its bot.

use fairdeal_net::{DialFailure, NodeEvent, NodeHandle, ReachNews};
use fairdeal_peers::address::Network;
use fairdeal_peers::{Multiaddr, PeerId};
use fairdeal_session::io::{Input, PeerInput, Reach, ReachKind, Transport};
use fairdeal_session::session::Session;
use tokio::sync::mpsc;

use super::files::Files;
use super::people::Acquaintances;
use super::thinking::Thinker;

/// Where sessions without a node say that they can be reached.
const WITHIN: &str = "/memory/1";

/// A session, and what it needs of the world around it.
pub(super) struct Member {
    pub(super) session: Session,
    pub(super) world: World,
    pub(super) people: Acquaintances,
}

/// The world around one session.
pub(super) struct World {
    /// Its network; `None` where the whole table is within this program.
    pub(super) node: Option<(NodeHandle, mpsc::Receiver<NodeEvent>)>,
    pub(super) files: Files,
    pub(super) thinker: Thinker,
    /// Addresses to bind when another session has released them.
    pub(super) awaited: Vec<Multiaddr>,
}

impl World {
    /// Waits for the next input. Nothing is lost if the wait is given up.
    pub(super) async fn hear(&mut self) -> Option<Input> {
        let network = async {
            match &mut self.node {
                Some((_, network)) => network.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            event = network => match event {
                Some(event) => heard(event),
                None => {
                    self.node = None;
                    Some(Input::Failed("the network has ended".to_owned()))
                }
            },
            (id, answer) = self.files.answer() => Some(Input::Stored(id, answer)),
            (id, choice) = self.thinker.answer() => Some(Input::Thought(id, choice)),
        }
    }

    /// Sends a message to peers.
    pub(super) fn send(&self, to: Vec<PeerId>, bytes: &[u8], best_effort: bool) {
        let Some((node, _)) = &self.node else { return };
        for peer in to {
            let bytes = bytes.to_vec();
            let sent = if best_effort { node.send_best_effort(peer, bytes) } else { node.send(peer, bytes) };
            // The next tick resends what is lost.
            if let Err(error) = sent {
                tracing::debug!(%peer, %error, "not sent");
            }
        }
    }

    /// Carries out an order to the transport. Returns the answer to [`Transport::Locate`].
    pub(super) async fn transport(&self, order: Transport) -> Option<Vec<Multiaddr>> {
        let Some((node, _)) = &self.node else {
            return matches!(order, Transport::Locate).then(|| WITHIN.parse().into_iter().collect());
        };
        let done = match order {
            Transport::Keep { peer, at } => node.keep(peer, at),
            Transport::Dial { peer, at } => node.dial(Some(peer), at),
            Transport::Forget(peer) => node.forget(peer),
            Transport::Close { peer, why } => {
                if let Some(why) = why {
                    tracing::warn!(%peer, why, "dropped");
                }
                node.disconnect(peer)
            }
            Transport::Seat(peer) => node.seat(peer),
            Transport::Admit(peer) => node.admit(peer),
            Transport::Dismiss(peer) => node.dismiss(peer),
            Transport::Announce { lan, points } => {
                node.announce(lan).and_then(|()| node.offer(points.map(|points| *points)))
            }
            Transport::Locate => return Some(node.addresses().await.unwrap_or_default()),
        };
        if let Err(error) = done {
            tracing::warn!(%error, "the network does not do what is asked");
        }
        None
    }

    /// Binds the addresses that another session held, if they are free now.
    pub(super) async fn bind_awaited(&mut self) {
        let Some((node, _)) = &self.node else { return };
        for address in std::mem::take(&mut self.awaited) {
            if node.listen(address.clone()).await.is_err() {
                self.awaited.push(address);
            }
        }
    }

    /// Carries out the orders to the store that are left, and closes the network.
    pub(super) async fn close(mut self) {
        self.files.finish().await;
        if let Some((node, _)) = self.node {
            node.shutdown().await;
        }
    }
}

/// An event of the node, as the session hears it.
fn heard(event: NodeEvent) -> Option<Input> {
    let (peer, input) = match event {
        NodeEvent::Connected { peer, address } => (peer, PeerInput::Connected(Network::of(&address))),
        NodeEvent::Disconnected { peer } => (peer, PeerInput::Gone),
        NodeEvent::Message { peer, bytes } => (peer, PeerInput::Frame(bytes)),
        NodeEvent::DialFailed { peer, reason, addresses, .. } => {
            tracing::debug!(?peer, %reason, "dial failed");
            (peer?, PeerInput::Unreachable(in_words(&reason, &addresses)?))
        }
        NodeEvent::PeerInfo { peer, listening, .. } => (peer, PeerInput::ListensAt(listening)),
        NodeEvent::Rtt { peer, millis } => (peer, PeerInput::RoundTrip(millis)),
        NodeEvent::Found { peer, address } => (peer, PeerInput::Found(address)),
        NodeEvent::OtherProtocol { peer } => {
            tracing::debug!(%peer, "speaks another protocol");
            (peer, PeerInput::OtherProtocol)
        }
        NodeEvent::Listening(_) | NodeEvent::ListeningEnded { .. } => return Some(Input::Moved),
        NodeEvent::Reach(news) => {
            tracing::info!(?news, "reach");
            let kind = match &news {
                ReachNews::Relayed(_) | ReachNews::NotRelayed { .. } => ReachKind::Relay,
                ReachNews::Mapped { .. } | ReachNews::Unmapped(_) => ReachKind::Port,
                ReachNews::NoMulticast => ReachKind::Multicast,
                _ => ReachKind::Other,
            };
            return Some(Input::Reach(Reach { kind, words: news.in_words() }));
        }
        NodeEvent::Announcement { .. } | NodeEvent::Listed { .. } => return None,
    };
    Some(Input::Peer(peer, input))
}

/// Describes a failed dial for the player; `None` if it was only aborted.
fn in_words(failure: &DialFailure, addresses: &[Multiaddr]) -> Option<String> {
    let all: Vec<String> = addresses.iter().map(Multiaddr::to_string).collect();
    let at = all.join(", ");
    Some(match failure {
        DialFailure::WrongPeer { .. } => {
            format!("another program answers at {at}, whose address is out of date")
        }
        DialFailure::Unreachable(why) => {
            // An OS error number means nothing to a player.
            let why = why.split(" (os error").next().unwrap_or(why);
            format!("no answer at {at}: {why}")
        }
        DialFailure::Ourselves => "that address is your own".to_owned(),
        DialFailure::NoAddress => "there is no address to dial".to_owned(),
        DialFailure::NotEd25519(_) | DialFailure::TooMany(_) => failure.to_string(),
        DialFailure::Aborted => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_dial_is_told_without_numbers() {
        let refused = DialFailure::Unreachable("Connection refused (os error 111)".to_owned());
        let at = ["/ip4/192.0.2.1/tcp/4".parse().unwrap()];
        let why = "no answer at /ip4/192.0.2.1/tcp/4: Connection refused";
        assert_eq!(in_words(&refused, &at).as_deref(), Some(why));
        assert_eq!(in_words(&DialFailure::Aborted, &[]), None);
    }
}
