//! The task around a session: it hears the node, the player, the disk, the bot and the clock, and carries out what the
//! session wants.

use fairdeal_net::{DialFailure, NodeEvent, NodeHandle, ReachNews};
use fairdeal_peers::Multiaddr;
use fairdeal_peers::address::Network;
use fairdeal_session::events::{Command, SessionEvent};
use fairdeal_session::io::{Input, Output, PeerInput, Reach, ReachKind, Transport};
use fairdeal_session::session::Session;
use getrandom::SysRng;
use getrandom::rand_core::UnwrapErr;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval, sleep};

use super::clock::now;
use super::files::Files;
use super::people::Acquaintances;
use super::thinking::Thinker;

/// How often the address book is looked at, and addresses that another session held.
const CHORES: Duration = Duration::from_millis(500);

/// A session and the world around it.
pub(super) struct Task {
    pub(super) session: Session,
    pub(super) node: NodeHandle,
    pub(super) files: Files,
    pub(super) thinker: Thinker,
    pub(super) people: Acquaintances,
    /// Addresses to bind when another session has released them.
    pub(super) awaited: Vec<Multiaddr>,
    pub(super) events: mpsc::Sender<SessionEvent>,
    pub(super) rng: UnwrapErr<SysRng>,
}

/// Waits for a moment of the monotonic clock; forever if there is none.
async fn at(up: Option<u64>) {
    match up {
        Some(up) => sleep(Duration::from_millis(up.saturating_sub(now().up))).await,
        None => std::future::pending().await,
    }
}

impl Task {
    pub(super) async fn run(mut self, mut network: mpsc::Receiver<NodeEvent>, mut inbox: mpsc::Receiver<Command>) {
        let mut chores = interval(CHORES);
        chores.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut has_network, mut has_player) = (true, true);
        while self.carry_out().await {
            let input = tokio::select! {
                event = network.recv(), if has_network => match event {
                    Some(event) => heard(event),
                    None => {
                        has_network = false;
                        Some(Input::Failed("the network has ended".to_owned()))
                    }
                },
                command = inbox.recv(), if has_player => {
                    has_player = command.is_some();
                    Some(Input::Command(command.unwrap_or(Command::Quit)))
                }
                (id, answer) = self.files.answer() => Some(Input::Stored(id, answer)),
                (id, choice) = self.thinker.answer() => Some(Input::Thought(id, choice)),
                () = at(self.session.wake()) => Some(Input::Time),
                _ = chores.tick() => self.do_chores().await,
            };
            if let Some(input) = input {
                self.session.handle(input, now(), &mut self.rng);
            }
        }
        self.files.finish().await;
        self.node.shutdown().await;
    }

    /// Carries out all that the session wants. Returns whether it goes on.
    async fn carry_out(&mut self) -> bool {
        while let Some(output) = self.session.poll() {
            match output {
                Output::Send { to, bytes, best_effort } => {
                    for peer in to {
                        let bytes = bytes.clone();
                        let sent = if best_effort {
                            self.node.send_best_effort(peer, bytes)
                        } else {
                            self.node.send(peer, bytes)
                        };
                        // The next tick resends what is lost.
                        if let Err(error) = sent {
                            tracing::debug!(%peer, %error, "not sent");
                        }
                    }
                }
                Output::Transport(order) => self.transport(order).await,
                Output::Store(id, order) => self.files.order(id, order),
                Output::Think(id, question) => self.thinker.ask(id, *question),
                Output::Program(news) => self.thinker.tell(news),
                Output::Tell(event) => {
                    // If the player has dropped its handle, the command channel closes too.
                    let _ = self.events.send(event).await;
                }
                Output::Ended => return false,
            }
        }
        true
    }

    async fn transport(&mut self, order: Transport) {
        let done = match order {
            Transport::Keep { peer, at } => self.node.keep(peer, at),
            Transport::Forget(peer) => self.node.forget(peer),
            Transport::Close { peer, why } => {
                if let Some(why) = why {
                    tracing::warn!(%peer, why, "dropped");
                }
                self.node.disconnect(peer)
            }
            Transport::Seat(peer) => self.node.seat(peer),
            Transport::Admit(peer) => self.node.admit(peer),
            Transport::Dismiss(peer) => self.node.dismiss(peer),
            Transport::Announce { lan, points } => {
                self.node.announce(lan).and_then(|()| self.node.offer(points.map(|points| *points)))
            }
            Transport::Locate => {
                let addresses = self.node.addresses().await.unwrap_or_default();
                self.session.handle(Input::Addresses(addresses), now(), &mut self.rng);
                Ok(())
            }
        };
        if let Err(error) = done {
            tracing::warn!(%error, "the network does not do what is asked");
        }
    }

    /// Binds the addresses that another session held, if they are free now, and reads the address book again if it has
    /// changed.
    async fn do_chores(&mut self) -> Option<Input> {
        for address in std::mem::take(&mut self.awaited) {
            if self.node.listen(address.clone()).await.is_err() {
                self.awaited.push(address);
            }
        }
        self.people.refresh().then(|| Input::Book(self.people.book().clone()))
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
            format!("another program answers at {at}; ask the host for a new ticket")
        }
        DialFailure::Unreachable(why) => {
            // An OS error number means nothing to a player.
            let why = why.split(" (os error").next().unwrap_or(why);
            format!("no answer at {at}: {why}")
        }
        DialFailure::Ourselves => "the ticket is your own".to_owned(),
        DialFailure::NoAddress => "the ticket names no address".to_owned(),
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
