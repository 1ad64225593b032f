//! The clients of a relay: peers with a reservation, and both ends of its circuits. Clients are not strangers
//! ([`super::limits`]), so other peers cannot crowd them out.

use std::collections::{BTreeMap, BTreeSet};

use fairdeal_peers::PeerId;
use libp2p::{PeerId as Libp2pPeerId, relay};

/// The peers that a relay serves.
#[derive(Debug, Default)]
pub(super) struct Clients {
    reserved: BTreeSet<PeerId>,
    /// Number of circuits per peer, at either end.
    circuits: BTreeMap<PeerId, usize>,
}

impl Clients {
    /// Records a relay event. Returns each peer concerned and whether the relay serves it now.
    pub(super) fn note(&mut self, event: &relay::Event) -> Vec<(PeerId, bool)> {
        use relay::Event;
        let concerned: Vec<PeerId> = match event {
            Event::ReservationReqAccepted { src_peer_id, .. } => self.reserve(src_peer_id, true).into_iter().collect(),
            Event::ReservationClosed { src_peer_id } | Event::ReservationTimedOut { src_peer_id } => {
                self.reserve(src_peer_id, false).into_iter().collect()
            }
            Event::CircuitReqAccepted { src_peer_id, dst_peer_id } => {
                self.circuit([src_peer_id, dst_peer_id], |count| count.saturating_add(1))
            }
            Event::CircuitClosed { src_peer_id, dst_peer_id, .. } => {
                self.circuit([src_peer_id, dst_peer_id], |count| count.saturating_sub(1))
            }
            _ => Vec::new(),
        };
        let with = |peer: PeerId| (peer, self.has(peer));
        concerned.into_iter().map(with).collect()
    }

    /// Number of peers with a reservation.
    pub(super) fn reserved(&self) -> usize {
        self.reserved.len()
    }

    fn reserve(&mut self, id: &Libp2pPeerId, stands: bool) -> Option<PeerId> {
        let peer = PeerId::try_from(*id).ok()?;
        if stands {
            self.reserved.insert(peer);
        } else {
            self.reserved.remove(&peer);
        }
        Some(peer)
    }

    fn circuit(&mut self, ends: [&Libp2pPeerId; 2], count: fn(usize) -> usize) -> Vec<PeerId> {
        let ends: Vec<PeerId> = ends.into_iter().filter_map(|id| PeerId::try_from(*id).ok()).collect();
        for peer in &ends {
            let circuits = self.circuits.entry(*peer).or_default();
            *circuits = count(*circuits);
        }
        self.circuits.retain(|_, count| *count > 0);
        ends
    }

    fn has(&self, peer: PeerId) -> bool {
        self.reserved.contains(&peer) || self.circuits.contains_key(&peer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ed25519_dalek::SigningKey;

    #[test]
    fn a_peer_is_a_client_while_it_has_a_reservation_or_a_circuit() {
        use relay::Event;
        let peer = |seed| PeerId::of(&SigningKey::from_bytes(&[seed; 32]));
        let (host, guest) = (peer(1), peer(2));
        let (src_peer_id, dst_peer_id) = (guest.into(), host.into());
        let open = || Event::CircuitReqAccepted { src_peer_id, dst_peer_id };
        let close = || Event::CircuitClosed { src_peer_id, dst_peer_id, error: None };
        let mut clients = Clients::default();
        let reserved = Event::ReservationReqAccepted { src_peer_id: dst_peer_id, renewed: false };
        assert_eq!(clients.note(&reserved), [(host, true)]);
        for _ in 0..2 {
            assert_eq!(clients.note(&open()), [(guest, true), (host, true)]);
        }
        assert_eq!(clients.note(&close()), [(guest, true), (host, true)]);
        let ended = Event::ReservationTimedOut { src_peer_id: dst_peer_id };
        assert_eq!(clients.note(&ended), [(host, true)]);
        assert_eq!(clients.note(&close()), [(guest, false), (host, false)]);
        assert!(clients.circuits.is_empty() && clients.reserved.is_empty());
    }
}
