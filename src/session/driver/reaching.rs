//! Reaching the host: how long to keep dialing, and why it does not answer.

use std::time::Duration;

use fairdeal_net::DialFailure;
use fairdeal_peers::{Multiaddr, PeerId};
use fairdeal_protocol::game::Game as _;
use tokio::time::Instant;

use super::{Driver, SessionState};
use crate::session::SessionEvent;
use fairdeal_session::frame::Frame;

/// How long a session keeps dialing its host.
const REACH: Duration = Duration::from_secs(60);
/// The host's refusal to the guests in its lobby when it closes.
const CLOSED: &str = "the host has closed the table";

/// The error for a host that answers in another protocol.
const OTHER_VERSION: &str = concat!(
    "the host runs another version, or not fairdeal; use the same version as the host (this one is ",
    env!("CARGO_PKG_VERSION"),
    ")"
);

/// A host that is being dialed.
#[derive(Debug)]
pub(super) struct Reaching {
    until: Instant,
    /// Why the last attempt failed.
    why: Option<String>,
    /// The last report to the player.
    told: Option<(u64, Option<String>)>,
}

impl Reaching {
    pub(super) fn new(now: Instant) -> Self {
        Self { until: now + REACH, why: None, told: None }
    }

    /// Seconds left, rounded up; `None` once the time is over.
    fn left(&self, now: Instant) -> Option<u64> {
        let left = self.until.checked_duration_since(now)?;
        Some(left.as_millis().div_ceil(1000).try_into().unwrap_or(0))
    }

    /// A report for the player if anything has changed; an error once the time is over.
    fn news(&mut self, now: Instant) -> Result<Option<SessionEvent>, String> {
        let seconds = self.left(now).ok_or_else(|| self.given_up())?;
        let news = (seconds, self.why.clone());
        let new = self.told.replace(news.clone()) != Some(news);
        let why = self.why.clone();
        Ok(new.then_some(SessionEvent::Reaching { seconds, why }))
    }

    /// The error for the player once the time is over.
    fn given_up(&self) -> String {
        let why = self.why.as_deref().unwrap_or("nobody answers");
        format!(
            "can't reach the host ({why}); check the ticket, that the host's program still runs, and that no firewall \
             blocks it"
        )
    }
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

impl Driver {
    /// The host that this guest or spectator connects to.
    fn looked_for(&self) -> Option<PeerId> {
        match &self.stage {
            SessionState::Guest(lobby) => Some(lobby.host()),
            SessionState::Watch(watching) => Some(watching.host),
            _ => None,
        }
    }

    /// Stops looking for a host that has answered.
    pub(super) async fn has_reached(&mut self, peer: PeerId) {
        if self.looked_for() != Some(peer) || self.links.reaching.take().is_none() {
            return;
        }
        let seen = match &self.stage {
            SessionState::Watch(watching) => watching.snapshot(),
            _ => None,
        };
        // After a lost connection the table may be unchanged, so show it again.
        if let Some(snapshot) = seen {
            self.tell(SessionEvent::Snapshot(Box::new(snapshot))).await;
        } else if let Some(view) = self.player.told.clone() {
            self.tell(SessionEvent::Lobby(view)).await;
        }
    }

    /// Reports a failed dial to the player.
    pub(super) async fn dial_failed(&mut self, peer: Option<PeerId>, failure: &DialFailure, addresses: &[Multiaddr]) {
        tracing::debug!(?peer, reason = %failure, "dial failed");
        let looked_for = self.looked_for();
        let Some(reaching) = self.links.reaching.as_mut().filter(|_| peer == looked_for) else {
            return;
        };
        if let Some(why) = in_words(failure, addresses) {
            reaching.why = Some(why);
            self.reaches().await;
        }
    }

    /// A peer speaks another protocol. If it is the host, give up: it will not change.
    pub(super) async fn other_protocol(&mut self, peer: PeerId) {
        tracing::debug!(%peer, "speaks another protocol");
        if self.looked_for() == Some(peer) {
            self.fail(OTHER_VERSION.to_owned()).await;
        }
    }

    /// Whether the host is connected. If not, reports to the player how long dialing goes on.
    pub(super) async fn reaches(&mut self) -> bool {
        let Some(reaching) = &mut self.links.reaching else {
            return true;
        };
        match reaching.news(Instant::now()) {
            Ok(None) => {}
            Ok(Some(news)) => self.tell(news).await,
            Err(why) => self.fail(why).await,
        }
        false
    }

    /// Tells the other seats that this program closes and its player means to come back.
    pub(super) fn announce_pause(&mut self) {
        let SessionState::Table(seated) = &self.stage else {
            return;
        };
        if seated.table.game().is_over() {
            return;
        }
        let frame = Frame::Pausing { table: seated.id };
        let peers: Vec<PeerId> = seated
            .connected(&self.links.connected)
            .iter()
            .filter_map(|seat| seated.peers.get(&seat).copied())
            .collect();
        for peer in peers {
            self.send(peer, &frame);
        }
    }

    /// A host that quits tells the guests and spectators in its lobby that the table will not open.
    pub(super) fn close_lobby(&mut self) {
        let peers: Vec<PeerId> = match &mut self.stage {
            SessionState::Host { lobby, .. } => {
                let guests: Vec<PeerId> = lobby.guests().collect();
                guests.into_iter().chain(lobby.spectators().peers()).collect()
            }
            // The host still waits for disk space for its journal; the others have at most a promise.
            SessionState::Opening(opening) if opening.spectators.is_some() => self.links.connected.clone(),
            _ => return,
        };
        for peer in peers {
            self.send(peer, &Frame::refusal(CLOSED));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_and_the_reason_are_told_when_they_change() {
        let now = Instant::now();
        let mut reaching = Reaching::new(now);
        assert_eq!(reaching.left(now), Some(60));
        assert_eq!(reaching.left(now + Duration::from_millis(59_001)), Some(1));
        assert_eq!(reaching.left(now + REACH + Duration::from_millis(1)), None);
        assert!(reaching.given_up().contains("(nobody answers)"));
        let refused = DialFailure::Unreachable("Connection refused (os error 111)".to_owned());
        let told = |why: Option<&str>| {
            let why = why.map(str::to_owned);
            Ok(Some(SessionEvent::Reaching { seconds: 60, why }))
        };
        assert_eq!(reaching.news(now), told(None));
        assert_eq!(reaching.news(now), Ok(None));
        reaching.why = in_words(&refused, &["/ip4/192.0.2.1/tcp/4".parse().unwrap()]);
        let why = "no answer at /ip4/192.0.2.1/tcp/4: Connection refused";
        assert_eq!(reaching.news(now), told(Some(why)));
        let over = reaching.news(now + REACH * 2);
        assert_eq!(over, Err(reaching.given_up()));
        let words = "(no answer at /ip4/192.0.2.1/tcp/4: Connection refused)";
        assert!(reaching.given_up().contains(words));
        assert_eq!(in_words(&DialFailure::Aborted, &[]), None);
    }
}
