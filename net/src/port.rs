//! Where to listen: every interface, and whether a port is free.

use std::io;
use std::net::{IpAddr, SocketAddr};

use libp2p::Multiaddr;
use libp2p::multiaddr::Protocol;
use socket2::{Domain, Socket, Type};

/// All interfaces, by TCP and by QUIC where it is built in; port 0 is any free port.
pub fn everywhere(port: u16) -> Vec<Multiaddr> {
    let any_v4 = Protocol::Ip4(std::net::Ipv4Addr::UNSPECIFIED);
    let any_v6 = Protocol::Ip6(std::net::Ipv6Addr::UNSPECIFIED);
    let tcp = |ip| Multiaddr::empty().with(ip).with(Protocol::Tcp(port));
    let mut all = vec![tcp(any_v4.clone())];
    // Without IPv6 support, listening there is an error.
    if std::net::TcpListener::bind("[::]:0").is_ok() {
        all.push(tcp(any_v6));
    }
    if cfg!(feature = "quic") {
        let udp = Multiaddr::empty().with(any_v4).with(Protocol::Udp(port));
        all.push(udp.with(Protocol::QuicV1));
    }
    all
}

/// Whether a port is free for exclusive use. libp2p shares a port with the same user's other listeners. Each of the
/// two then gets some of the other's peers.
///
/// # Errors
/// The system's error for a socket on that port.
pub(super) fn is_free(address: &Multiaddr) -> io::Result<()> {
    let mut parts = address.iter();
    let ip = match parts.next() {
        Some(Protocol::Ip4(ip)) => IpAddr::V4(ip),
        Some(Protocol::Ip6(ip)) => IpAddr::V6(ip),
        _ => return Ok(()),
    };
    let (kind, port) = match parts.next() {
        Some(Protocol::Tcp(port)) if port != 0 => (Type::STREAM, port),
        Some(Protocol::Udp(port)) if port != 0 => (Type::DGRAM, port),
        _ => return Ok(()),
    };
    let place = SocketAddr::from((ip, port));
    let socket = Socket::new(Domain::for_address(place), kind, None)?;
    if place.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    // Lingering connections of an earlier run must not block the port.
    socket.set_reuse_address(kind == Type::STREAM && cfg!(unix))?;
    socket.bind(&place.into())
}

#[cfg(test)]
mod tests {
    use fairdeal_peers::address::is_everywhere;

    use super::*;

    fn address(text: &str) -> Multiaddr {
        text.parse().unwrap()
    }

    #[test]
    fn everywhere_is_every_interface() {
        let texts: Vec<String> = everywhere(7).iter().map(ToString::to_string).collect();
        assert_eq!(texts.first().map(String::as_str), Some("/ip4/0.0.0.0/tcp/7"));
        let quic = "/ip4/0.0.0.0/udp/7/quic-v1".to_owned();
        assert_eq!(texts.contains(&quic), cfg!(feature = "quic"));
        assert!(everywhere(7).iter().all(is_everywhere));
    }

    #[test]
    fn a_port_is_had_alone_or_not_at_all() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let taken = address(&format!("/ip4/127.0.0.1/tcp/{port}"));
        assert!(is_free(&taken).is_err());
        drop(listener);
        assert!(is_free(&taken).is_ok());
        assert!(is_free(&address("/ip4/127.0.0.1/tcp/0")).is_ok());
        assert!(is_free(&address("/memory/7")).is_ok());
    }
}
