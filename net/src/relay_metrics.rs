//! The counters of a relay for its operator: numbers only, of all peers together.

use fairdeal_peers::listing::Refusal;
use fairdeal_peers::mail::{MailRefusal, MailResponse};
use fairdeal_peers::peer::PeerIdError;
use libp2p::relay::{self, StatusCode};
use libp2p::swarm::ListenError;
use libp2p::{connection_limits, core::transport::TransportError};

use super::RelayLimits;

/// A number for each reason, in a fixed order. A reason that never occurred has a zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByReason(Vec<(&'static str, u64)>);

impl ByReason {
    fn new(reasons: &[&'static str]) -> Self {
        Self(reasons.iter().map(|reason| (*reason, 0)).collect())
    }

    fn add(&mut self, reason: &'static str) {
        self.set(reason, self.get(reason).saturating_add(1));
    }

    pub(super) fn set(&mut self, reason: &'static str, number: u64) {
        if let Some((_, count)) = self.0.iter_mut().find(|(known, _)| *known == reason) {
            *count = number;
        }
    }

    /// The reasons with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.0.iter().copied()
    }

    /// The number for a reason.
    pub fn get(&self, reason: &str) -> u64 {
        let found = self.0.iter().find(|(known, _)| *known == reason);
        found.map_or(0, |(_, count)| *count)
    }
}

/// The state of a relay, and what it has done since its start. It names no peer and no address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelayMetrics {
    /// Open connections.
    pub connections: u64,
    pub max_connections: u64,
    /// Inbound connections that completed their handshake within the limits.
    pub connections_accepted: u64,
    /// Inbound connections refused: `limit` (there are too many), `handshake` (it failed, took too long, or made room for
    /// a newer one), `key` (no Ed25519 key), `other`; and accepted ones closed: `crowded` (a stranger made room for a
    /// newer one).
    pub connections_refused: ByReason,
    /// Peers with a reservation.
    pub reservations: u64,
    /// Reservations granted, without renewals.
    pub reservations_granted: u64,
    /// `limit`, `other`.
    pub reservations_refused: ByReason,
    /// Open circuits.
    pub circuits: u64,
    pub circuits_opened: u64,
    /// `limit`, `no_reservation` (the other end has none, or is gone), `unreachable` (it does not answer), `other`.
    pub circuits_refused: ByReason,
    /// `ended` (by one of its ends), `bytes` and `duration` (limits), `broken`.
    pub circuits_closed: ByReason,
    /// Listed tables.
    pub tables: u64,
    /// Registrations accepted, with renewals.
    pub registrations_accepted: u64,
    /// `full`, `network_full`, `too_fast`, `invalid`, `outdated`; `too_fast` counts all kinds of requests.
    pub registrations_refused: ByReason,
    /// Pages of the list sent.
    pub pages_sent: u64,
    /// Boxes, the letters in them, and their size in bytes.
    pub boxes: u64,
    pub letters: u64,
    pub mail_bytes: u64,
    /// Letters put into boxes, and pages of them that their owners have fetched.
    pub letters_accepted: u64,
    pub letter_pages_sent: u64,
    /// `full`, `network_full`, `too_fast`, `no_box`, `box_full`.
    pub mail_refused: ByReason,
    /// Bytes of all streams, of circuits and others, without encryption.
    pub bytes_received: u64,
    pub bytes_sent: u64,
    pub limits: RelayLimits,
}

/// The text of libp2p's error for a circuit that has carried its bytes; it has no kind of its own.
const BYTES_REACHED: &str = "Max circuit bytes reached.";

impl RelayMetrics {
    pub(super) fn new(max_connections: u32, limits: RelayLimits) -> Self {
        Self {
            connections: 0,
            max_connections: max_connections.into(),
            connections_accepted: 0,
            connections_refused: ByReason::new(&["limit", "crowded", "handshake", "key", "other"]),
            reservations: 0,
            reservations_granted: 0,
            reservations_refused: ByReason::new(&["limit", "other"]),
            circuits: 0,
            circuits_opened: 0,
            circuits_refused: ByReason::new(&["limit", "no_reservation", "unreachable", "other"]),
            circuits_closed: ByReason::new(&["ended", "bytes", "duration", "broken"]),
            tables: 0,
            registrations_accepted: 0,
            registrations_refused: ByReason::new(&["full", "network_full", "too_fast", "invalid", "outdated"]),
            pages_sent: 0,
            boxes: 0,
            letters: 0,
            mail_bytes: 0,
            letters_accepted: 0,
            letter_pages_sent: 0,
            mail_refused: ByReason::new(&["full", "network_full", "too_fast", "no_box", "box_full"]),
            bytes_received: 0,
            bytes_sent: 0,
            limits,
        }
    }

    pub(super) fn accepted_connection(&mut self) {
        self.connections_accepted = self.connections_accepted.saturating_add(1);
    }

    pub(super) fn refused_connection(&mut self, error: &ListenError) {
        self.connections_refused.add(match error {
            ListenError::Denied { cause } if cause.downcast_ref::<connection_limits::Exceeded>().is_some() => "limit",
            ListenError::Denied { cause } if cause.downcast_ref::<PeerIdError>().is_some() => "key",
            ListenError::Transport(TransportError::Other(_)) => "handshake",
            _ => "other",
        });
    }

    pub(super) fn relaying(&mut self, event: &relay::Event) {
        use relay::Event;
        match event {
            Event::ReservationReqAccepted { renewed: false, .. } => {
                self.reservations_granted = self.reservations_granted.saturating_add(1);
            }
            Event::ReservationReqDenied { status, .. } => self.reservations_refused.add(match status {
                StatusCode::ResourceLimitExceeded => "limit",
                _ => "other",
            }),
            Event::CircuitReqAccepted { .. } => {
                self.circuits = self.circuits.saturating_add(1);
                self.circuits_opened = self.circuits_opened.saturating_add(1);
            }
            Event::CircuitReqDenied { status, .. } => self.circuits_refused.add(match status {
                StatusCode::ResourceLimitExceeded => "limit",
                StatusCode::NoReservation => "no_reservation",
                StatusCode::ConnectionFailed => "unreachable",
                _ => "other",
            }),
            Event::CircuitClosed { error, .. } => {
                self.circuits = self.circuits.saturating_sub(1);
                self.circuits_closed.add(match error {
                    None => "ended",
                    Some(error) if error.kind() == std::io::ErrorKind::TimedOut => "duration",
                    Some(error) if error.to_string() == BYTES_REACHED => "bytes",
                    Some(_) => "broken",
                });
            }
            _ => {}
        }
    }

    pub(super) fn accepted_registration(&mut self) {
        self.registrations_accepted = self.registrations_accepted.saturating_add(1);
    }

    pub(super) fn refused_registration(&mut self, refusal: Refusal) {
        self.registrations_refused.add(match refusal {
            Refusal::Full => "full",
            Refusal::NetworkFull => "network_full",
            Refusal::TooFast => "too_fast",
            Refusal::Invalid => "invalid",
            Refusal::Outdated => "outdated",
        });
    }

    pub(super) fn sent_page(&mut self) {
        self.pages_sent = self.pages_sent.saturating_add(1);
    }

    pub(super) fn answered_mail(&mut self, is_letter: bool, response: &MailResponse) {
        match response {
            MailResponse::Done if is_letter => self.letters_accepted = self.letters_accepted.saturating_add(1),
            MailResponse::Letters(_) => self.letter_pages_sent = self.letter_pages_sent.saturating_add(1),
            MailResponse::Done | MailResponse::Waiting(_) => {}
            MailResponse::Refused(refusal) => self.mail_refused.add(match refusal {
                MailRefusal::Full => "full",
                MailRefusal::NetworkFull => "network_full",
                MailRefusal::TooFast => "too_fast",
                MailRefusal::NoBox => "no_box",
                MailRefusal::BoxFull => "box_full",
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::num::NonZeroU64;
    use std::time::Duration;

    use libp2p::PeerId as Libp2pPeerId;
    use libp2p::multiaddr::Protocol;

    use super::*;
    use crate::tests::{id, quick, spawn, spawn_listening};
    use crate::{NodeEvent, Reach, ReachNews, Transport};

    #[test]
    fn circuits_are_counted_by_how_they_end() {
        let mut metrics = RelayMetrics::new(8, RelayLimits::DEFAULT);
        let [src_peer_id, dst_peer_id] = [(); 2].map(|()| Libp2pPeerId::random());
        let ends = [
            None,
            Some(io::ErrorKind::TimedOut.into()),
            Some(io::Error::other(BYTES_REACHED)),
            Some(io::ErrorKind::ConnectionAborted.into()),
        ];
        for _ in &ends {
            metrics.relaying(&relay::Event::CircuitReqAccepted { src_peer_id, dst_peer_id });
        }
        assert_eq!((metrics.circuits, metrics.circuits_opened), (4, 4));
        for error in ends {
            metrics.relaying(&relay::Event::CircuitClosed { src_peer_id, dst_peer_id, error });
        }
        let closed: Vec<(&str, u64)> = metrics.circuits_closed.iter().collect();
        assert_eq!(closed, [("ended", 1), ("bytes", 1), ("duration", 1), ("broken", 1)]);
        assert_eq!((metrics.circuits, metrics.circuits_opened), (0, 4));
    }

    #[test]
    fn refusals_are_counted_by_reason() {
        let mut metrics = RelayMetrics::new(8, RelayLimits::DEFAULT);
        for refusal in [Refusal::Full, Refusal::TooFast, Refusal::TooFast] {
            metrics.refused_registration(refusal);
        }
        let counts = ["full", "too_fast", "invalid"].map(|reason| metrics.registrations_refused.get(reason));
        assert_eq!(counts, [1, 2, 0]);
    }

    /// Also pins the error by which libp2p ends a circuit that has carried its bytes.
    #[tokio::test]
    async fn relay_keeps_its_limits_and_counts() {
        let mut config = quick(Transport::Sockets);
        config.reach = Reach::Relay;
        config.relay.circuits = 1;
        config.relay.circuit_bytes = NonZeroU64::MIN.saturating_add(65_535);
        let (relay, address) = spawn_listening(1, config).await;
        let address = address.with(Protocol::P2p(id(1).into()));
        let mut config = quick(Transport::Sockets);
        config.reach = Reach::Host;
        config.relays = vec![address.clone()];
        let mut host = spawn(2, config);
        let relayed = NodeEvent::Reach(ReachNews::Relayed(address.clone()));
        host.until(|event| (event == relayed).then_some(())).await;
        let circuit = address.with(Protocol::P2pCircuit);
        let mut guests = [3, 4].map(|seed| spawn(seed, quick(Transport::Sockets)));
        guests[0].handle.dial(Some(id(2)), vec![circuit.clone()]).unwrap();
        guests[0].connected(id(2)).await;
        guests[1].handle.dial(Some(id(2)), vec![circuit]).unwrap();
        let refused = |event| matches!(event, NodeEvent::DialFailed { .. }).then_some(());
        guests[1].until(refused).await;
        let metrics = relay.handle.metrics().await.unwrap();
        assert_eq!((metrics.reservations, metrics.reservations_granted), (1, 1));
        assert_eq!((metrics.circuits, metrics.circuits_opened), (1, 1));
        assert_eq!(metrics.circuits_refused.get("limit"), 1);
        assert!(metrics.connections >= 2 && metrics.connections_accepted >= 3);

        guests[0].handle.send(id(2), vec![7; 100_000]).unwrap();
        let gone = NodeEvent::Disconnected { peer: id(2) };
        guests[0].until(|event| (event == gone).then_some(())).await;
        let metrics = loop {
            let metrics = relay.handle.metrics().await.unwrap();
            if metrics.circuits == 0 {
                break metrics;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        };
        assert_eq!(metrics.circuits_closed.get("bytes"), 1);
        assert!(metrics.bytes_received > 65_536 && metrics.bytes_sent > 65_536);
    }
}
