//! The networks that addresses belong to, as limits count them.

use core::net::{IpAddr, Ipv4Addr};

use multiaddr::Protocol;

use crate::Multiaddr;

/// The part of the internet that belongs to one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Network {
    /// An IPv4 address.
    V4(Ipv4Addr),
    /// The first 56 bits of an IPv6 address.
    V6(u64),
}

impl Network {
    /// The network of an address, or of its relay for a relayed address; `None` without an IP address.
    pub fn of(address: &Multiaddr) -> Option<Self> {
        let ip = address.iter().find_map(|protocol| match protocol {
            Protocol::Ip4(ip) => Some(IpAddr::V4(ip)),
            Protocol::Ip6(ip) => Some(IpAddr::V6(ip).to_canonical()),
            _ => None,
        })?;
        Some(match ip {
            IpAddr::V4(ip) => Self::V4(ip),
            IpAddr::V6(ip) => Self::V6((ip.to_bits() >> 72) as u64),
        })
    }
}
