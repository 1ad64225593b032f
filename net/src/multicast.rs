//! Obstacles to multicast: the steps of an mDNS question, one by one, for a diagnosis.
//!
//! It takes the steps that libp2p's mDNS takes, which only logs what fails. That all succeed does not show that
//! multicast works: a firewall drops packets silently. Only an answer shows that.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use socket2::{Domain, Socket, Type};

/// The port and the groups of mDNS (RFC 6762).
const PORT: u16 = 5353;
const GROUP_V4: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 251);
const GROUP_V6: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 0xfb);
/// A question for the names of services, to which any mDNS responder may answer.
const QUESTION: &[u8] = b"\0\0\0\0\0\x01\0\0\0\0\0\0\x09_services\x07_dns-sd\x04_udp\x05local\0\0\x0c\0\x01";

/// A step of a multicast question that fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MulticastFault {
    /// This machine has no address but those to itself.
    NoNetwork,
    /// Another program holds mDNS's port for itself.
    PortTaken,
    /// The port cannot be opened for another reason, which the system tells.
    PortRefused(String),
    /// The system does not let this program listen to the group on this address, for the reason that it tells.
    JoinRefused { ip: IpAddr, reason: String },
    /// No route leads from this address to the group.
    NoRoute { ip: IpAddr },
    /// The system refuses to send, as a firewall makes it do.
    SendRefused { ip: IpAddr, reason: String },
}

/// The first step of a question from `ip` that fails; `None` if the question was sent.
pub fn multicast_fault(ip: IpAddr) -> Option<MulticastFault> {
    if ip.is_loopback() {
        return Some(MulticastFault::NoNetwork);
    }
    ask(ip).err()
}

fn ask(ip: IpAddr) -> Result<(), MulticastFault> {
    let bound = |error: io::Error| match error.kind() {
        io::ErrorKind::AddrInUse => MulticastFault::PortTaken,
        _ => MulticastFault::PortRefused(in_words(&error)),
    };
    let heard = listener(ip).map_err(bound)?;
    let reason = |error: &io::Error| in_words(error);
    match ip {
        IpAddr::V4(own) => heard.join_multicast_v4(&GROUP_V4, &own),
        IpAddr::V6(_) => heard.join_multicast_v6(&GROUP_V6, 0),
    }
    .map_err(|error| MulticastFault::JoinRefused { ip, reason: reason(&error) })?;
    match send(ip) {
        Ok(()) => Ok(()),
        Err(error) => Err(not_sent(ip, &error, cfg!(target_os = "macos"))),
    }
}

/// The reason why a question cannot be sent.
fn not_sent(ip: IpAddr, error: &io::Error, on_macos: bool) -> MulticastFault {
    // macOS answers so, too, where it keeps a program from the LAN.
    let reason = if on_macos && error.kind() == io::ErrorKind::HostUnreachable {
        "no route leads to the LAN's multicast, or your terminal is not allowed in System Settings → Privacy & Security → \
         Local Network"
            .to_owned()
    } else if is_no_route(error) {
        return MulticastFault::NoRoute { ip };
    } else {
        in_words(error)
    };
    MulticastFault::SendRefused { ip, reason }
}

/// A socket on mDNS's port, which programs share.
fn listener(ip: IpAddr) -> io::Result<Socket> {
    let any = SocketAddr::from((unspecified(ip), PORT));
    let socket = Socket::new(Domain::for_address(any), Type::DGRAM, None)?;
    socket.set_reuse_address(true)?;
    #[cfg(unix)]
    socket.set_reuse_port(true)?;
    if any.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    socket.bind(&any.into())?;
    Ok(socket)
}

fn send(ip: IpAddr) -> io::Result<()> {
    // libp2p names no interface for IPv6.
    let (from, to): (IpAddr, IpAddr) = match ip {
        IpAddr::V4(own) => (own.into(), GROUP_V4.into()),
        IpAddr::V6(_) => (unspecified(ip), GROUP_V6.into()),
    };
    let socket = std::net::UdpSocket::bind(SocketAddr::from((from, 0)))?;
    socket.send_to(QUESTION, SocketAddr::from((to, PORT)))?;
    Ok(())
}

fn unspecified(ip: IpAddr) -> IpAddr {
    match ip {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    }
}

fn is_no_route(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NetworkUnreachable | io::ErrorKind::HostUnreachable | io::ErrorKind::AddrNotAvailable
    )
}

/// The system's words without its number, which means nothing to a player.
fn in_words(error: &io::Error) -> String {
    let words = error.to_string();
    words.split(" (os error").next().unwrap_or(&words).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macos_may_keep_a_program_from_the_lan() {
        let ip = IpAddr::from([192, 168, 1, 5]);
        let unreachable = io::Error::from(io::ErrorKind::HostUnreachable);
        assert_eq!(not_sent(ip, &unreachable, false), MulticastFault::NoRoute { ip });
        let MulticastFault::SendRefused { reason, .. } = not_sent(ip, &unreachable, true) else {
            panic!("a route may be there")
        };
        assert!(reason.contains("Privacy & Security → Local Network"), "{reason}");
        let no_route = io::Error::from(io::ErrorKind::NetworkUnreachable);
        assert_eq!(not_sent(ip, &no_route, true), MulticastFault::NoRoute { ip });
    }
}
