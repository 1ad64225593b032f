//! The limits of a relay that its operator sets. The ones that no operator should change are beside the code that they
//! protect.

use std::num::{NonZeroU32, NonZeroU64};

use super::limits::MAX_STRANGERS;

/// Limits of a relay and meeting point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RelayLimits {
    /// Maximum number of inbound connections of peers without a reservation or circuit, such as those that view the
    /// list of tables.
    pub strangers: NonZeroU32,
    /// Maximum number of circuits; 0 makes the node a meeting point only.
    pub circuits: u32,
    /// Maximum number of circuits of a peer that opens one more.
    pub circuits_per_peer: NonZeroU32,
    /// Bytes that a circuit carries, both ways together, before it is closed.
    pub circuit_bytes: NonZeroU64,
    /// Seconds after which a circuit is closed.
    pub circuit_seconds: NonZeroU32,
    /// Maximum number of reservations; none are granted without circuits.
    pub reservations: u32,
    /// Maximum number of peers of one network that get a reservation within an hour.
    pub reservations_per_network: NonZeroU32,
    /// Maximum number of listed tables; 0 makes the node a relay only.
    pub registrations: u32,
    /// Maximum number of listed tables whose hosts are of one network.
    pub registrations_per_network: NonZeroU32,
    /// Maximum number of boxes for letters; 0 keeps no mail.
    pub boxes: u32,
    /// Maximum number of boxes whose owners are of one network.
    pub boxes_per_network: NonZeroU32,
    /// Maximum size of all letters, in bytes. They are kept in memory.
    pub mail_bytes: NonZeroU64,
}

impl RelayLimits {
    /// Limits for a small machine: more than an evening's games need.
    pub const DEFAULT: Self = Self {
        strangers: nonzero(MAX_STRANGERS),
        circuits: 256,
        circuits_per_peer: nonzero(32),
        circuit_bytes: NonZeroU64::MIN.saturating_add((1 << 30) - 1),
        circuit_seconds: nonzero(24 * 3600),
        reservations: 256,
        // Many guests may share an address with other customers of their provider.
        reservations_per_network: nonzero(48),
        registrations: 1024,
        registrations_per_network: nonzero(32),
        boxes: 1024,
        boxes_per_network: nonzero(32),
        mail_bytes: NonZeroU64::MIN.saturating_add((64 << 20) - 1),
    };

    /// Reservations that may stand: none where no circuit could follow.
    pub(super) fn granted(&self) -> u32 {
        if self.circuits == 0 { 0 } else { self.reservations }
    }
}

impl Default for RelayLimits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// A constant that is not 0; 0 counts as 1.
pub(super) const fn nonzero(number: u32) -> NonZeroU32 {
    NonZeroU32::MIN.saturating_add(number.saturating_sub(1))
}

/// A limit as libp2p and collections count.
pub(super) fn count(limit: u32) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_those_of_the_documentation() {
        let limits = RelayLimits::DEFAULT;
        assert_eq!(limits.circuits_per_peer.get(), 32);
        assert_eq!(limits.circuit_bytes.get(), 1024 * 1024 * 1024);
        assert_eq!(limits.circuit_seconds.get(), 86_400);
        let shares = [limits.reservations_per_network, limits.registrations_per_network, limits.boxes_per_network];
        assert_eq!(shares.map(NonZeroU32::get), [48, 32, 32]);
        assert_eq!(limits.mail_bytes.get(), 64 * 1024 * 1024);
    }
}
