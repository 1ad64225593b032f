//! How often each network may ask something of a relay. A key costs nothing and an address does. Pure: time is an argument.

use std::collections::BTreeMap;
use std::time::Instant;

use fairdeal_peers::address::Network;

use crate::allowance::Allowance;

/// Maximum number of networks whose requests are counted.
const MAX_NETWORKS: usize = 4096;

/// The requests that each network may make.
#[derive(Debug)]
pub(crate) struct Rates {
    /// The allowance of a network that has requested nothing.
    each: Allowance,
    taken: BTreeMap<Network, Allowance>,
}

impl Rates {
    pub(crate) const fn new(each: Allowance) -> Self {
        Self { each, taken: BTreeMap::new() }
    }

    /// Whether a request from that network may be served now. One without an IP address has no limit.
    pub(crate) fn admit(&mut self, network: Option<Network>, now: Instant) -> bool {
        self.admit_many(network, 1, now)
    }

    /// The same for something that counts as so many requests.
    pub(crate) fn admit_many(&mut self, network: Option<Network>, count: u32, now: Instant) -> bool {
        let Some(network) = network else {
            return true;
        };
        if !self.taken.contains_key(&network) && self.taken.len() >= MAX_NETWORKS {
            self.taken.retain(|_, taken| !taken.is_whole(now));
            if self.taken.len() >= MAX_NETWORKS {
                return false;
            }
        }
        self.taken.entry(network).or_insert(self.each).take_many(count, now)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn memory_of_networks_is_bounded() {
        let mut rates = Rates::new(Allowance::new(2, Duration::from_millis(100)));
        let now = Instant::now();
        let admitted = (0..10_000).filter(|n| rates.admit(Some(Network::V6(*n)), now)).count();
        assert_eq!((admitted, rates.taken.len()), (MAX_NETWORKS, MAX_NETWORKS));
        let later = now + Duration::from_secs(1);
        assert!(rates.admit(Some(Network::V6(10_000)), later));
        assert_eq!(rates.taken.len(), 1);
    }
}
