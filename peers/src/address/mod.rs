//! Kinds of addresses, the choice of those to share or to dial, and addresses as text.

use core::net::{Ipv4Addr, SocketAddr};

use multiaddr::Protocol;

use crate::{Multiaddr, PeerId};

mod network;
mod text;
mod transport;

pub use network::Network;
pub use text::{AddressError, MAX_ADDRESS_TEXT, parse_address};
pub use transport::Transport;

/// Whether an address leads back to this machine.
pub fn is_loopback(address: &Multiaddr) -> bool {
    match address.iter().next() {
        Some(Protocol::Ip4(ip)) => ip.is_loopback(),
        Some(Protocol::Ip6(ip)) => ip.is_loopback(),
        Some(Protocol::Memory(_)) => true,
        _ => false,
    }
}

/// The peer whose id ends an address.
pub fn named_peer(address: &Multiaddr) -> Option<PeerId> {
    match address.iter().last() {
        Some(Protocol::P2p(peer)) => PeerId::try_from(peer).ok(),
        _ => None,
    }
}

/// Whether an address leads through a relay.
pub fn is_circuit(address: &Multiaddr) -> bool {
    address.iter().any(|part| part == Protocol::P2pCircuit)
}

/// The address of this node behind a relay.
pub fn circuit(relay: &Multiaddr) -> Multiaddr {
    relay.clone().with(Protocol::P2pCircuit)
}

/// The relay of an address, either through it or its own: the relay's peer id, and the address up to it.
pub fn relay_of(address: &Multiaddr) -> Option<(PeerId, Multiaddr)> {
    let own = |part: &Protocol<'_>| *part != Protocol::P2pCircuit;
    let relay: Multiaddr = address.iter().take_while(own).collect();
    match relay.iter().last()? {
        Protocol::P2p(id) => Some((PeerId::try_from(id).ok()?, relay)),
        _ => None,
    }
}

/// Whether an address is in the space that a provider shares among its customers (RFC 6598).
fn is_shared(ip: Ipv4Addr) -> bool {
    matches!(ip.octets(), [100, 64..=127, _, _])
}

/// Whether the internet routes to an address: it is in none of the ranges for other uses (RFC 6890).
pub fn is_global(ip: Ipv4Addr) -> bool {
    let reserved = matches!(ip.octets(), [0 | 240..=255, ..] | [192, 0, 0, _] | [198, 18 | 19, ..]);
    let local = ip.is_private() || ip.is_loopback() || ip.is_link_local() || is_shared(ip);
    !(reserved || local || ip.is_documentation() || ip.is_multicast())
}

/// Whether an address is useful only on the same link or network.
fn is_private(address: &Multiaddr) -> bool {
    match address.iter().next() {
        Some(Protocol::Ip4(ip)) => ip.is_private() || ip.is_loopback() || ip.is_link_local() || is_shared(ip),
        Some(Protocol::Ip6(ip)) => ip.is_unique_local() || ip.is_loopback(),
        _ => false,
    }
}

pub fn is_public(address: &Multiaddr) -> bool {
    !is_private(address) && !needs_zone(address)
}

/// From where the addresses of one program can be dialled, as far as they tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// From the program's own machine.
    Machine,
    /// From its network.
    Network,
    /// From its network, and by IPv6 from wherever its router lets connections in: home routers mostly do not.
    Ipv6,
    /// From anywhere: through a relay, or at a public IPv4 address.
    Anywhere,
}

impl Scope {
    /// The widest scope of an address; `None` without addresses.
    pub fn of(addresses: &[Multiaddr]) -> Option<Self> {
        let each = addresses.iter().map(|address| match address.iter().next() {
            _ if is_loopback(address) => Self::Machine,
            Some(Protocol::Ip4(ip)) if !is_global(ip) => Self::Network,
            _ if !is_public(address) || is_example(address) => Self::Network,
            Some(Protocol::Ip6(_)) if !is_circuit(address) => Self::Ipv6,
            _ => Self::Anywhere,
        });
        each.max()
    }
}

/// Whether an address leads nowhere without the name of an interface, which libp2p cannot dial.
pub fn needs_zone(address: &Multiaddr) -> bool {
    matches!(address.iter().next(), Some(Protocol::Ip6(ip)) if ip.is_unicast_link_local())
}

/// Whether an address is reserved for examples (RFC 5737, RFC 3849) and leads nowhere.
pub fn is_example(address: &Multiaddr) -> bool {
    match address.iter().next() {
        Some(Protocol::Ip4(ip)) => ip.is_documentation(),
        Some(Protocol::Ip6(ip)) => matches!(ip.segments(), [0x2001, 0xdb8, ..]),
        _ => false,
    }
}

/// Whether an address is one for QUIC.
pub fn is_quic(address: &Multiaddr) -> bool {
    address.iter().any(|part| matches!(part, Protocol::QuicV1 | Protocol::Quic))
}

/// Whether an address is a door for browsers: it answers HTTP and opens WebSockets.
pub fn is_door(address: &Multiaddr) -> bool {
    address.iter().any(|part| matches!(part, Protocol::Ws(_) | Protocol::Wss(_)))
}

/// A door at the same interface as a TCP address, at any port; `None` beside other addresses.
pub fn door_beside(address: &Multiaddr) -> Option<Multiaddr> {
    let mut parts = address.iter();
    match (parts.next(), parts.next(), parts.next()) {
        (Some(ip @ (Protocol::Ip4(_) | Protocol::Ip6(_))), Some(Protocol::Tcp(_)), None) => {
            Some(door(Multiaddr::empty().with(ip), 0))
        }
        _ => None,
    }
}

/// A door at an IP address's port; 0 is any free one.
fn door(ip: Multiaddr, port: u16) -> Multiaddr {
    ip.with(Protocol::Tcp(port)).with(Protocol::Ws("/".into()))
}

/// The door at this socket; port 0 is any free one.
pub fn door_at(place: SocketAddr) -> Multiaddr {
    door(Multiaddr::from(place.ip()), place.port())
}

/// The same door, by https.
pub fn with_certificate(door: &Multiaddr) -> Multiaddr {
    let parts = door.iter().flat_map(|part| match part {
        Protocol::Ws(path) => [Some(Protocol::Tls), Some(Protocol::Ws(path))],
        other => [Some(other), None],
    });
    parts.flatten().collect()
}

/// Where a browser finds a door, by HTTP: `http://192.168.1.7:4002`, or `https://relay.example` with a certificate. Of an
/// address through a relay it is the relay's door. `None` for other addresses, and for names without a certificate: a name
/// may be made to lead anywhere.
pub fn door_url(address: &Multiaddr) -> Option<String> {
    let mut parts = address.iter().take_while(|part| !matches!(part, Protocol::P2p(_)));
    let (host, is_name) = match parts.next()? {
        Protocol::Ip4(ip) => (ip.to_string(), false),
        Protocol::Ip6(ip) => (format!("[{ip}]"), false),
        Protocol::Dns(name) | Protocol::Dns4(name) | Protocol::Dns6(name) => (name.into_owned(), true),
        _ => return None,
    };
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || ".-".contains(letter);
    if is_name && !host.chars().all(is_plain) {
        return None;
    }
    let Some(Protocol::Tcp(port)) = parts.next() else { return None };
    let (scheme, usual) = match (parts.next(), parts.next(), parts.next()) {
        (Some(Protocol::Ws(path)), None, None) if !is_name && path == "/" => ("http", 80),
        (Some(Protocol::Tls), Some(Protocol::Ws(path)), None) | (Some(Protocol::Wss(path)), None, None)
            if path == "/" =>
        {
            ("https", 443)
        }
        _ => return None,
    };
    // As a browser writes it.
    let port = if port == usual { String::new() } else { format!(":{port}") };
    Some(format!("{scheme}://{host}{port}"))
}

/// The door of a relay with this address, if it listens at one: it is where the relay is reached, at the door's port. The
/// relay says only which port that is, for which version of IP, and whether it has a certificate.
pub fn door_of(relay: &Multiaddr, listening: &[Multiaddr]) -> Option<Multiaddr> {
    let host = relay.iter().next()?;
    let own = relay.iter().last().filter(|last| matches!(last, Protocol::P2p(_)))?;
    let is_there = |ip: &Protocol<'_>| match (&host, ip) {
        (Protocol::Ip4(_), Protocol::Ip4(_)) | (Protocol::Ip6(_), Protocol::Ip6(_)) => true,
        (host, Protocol::Ip4(_) | Protocol::Ip6(_)) => !matches!(host, Protocol::Ip4(_) | Protocol::Ip6(_)),
        _ => false,
    };
    let door_at = |door: &Multiaddr| {
        let mut parts = door.iter();
        let (ip, Some(Protocol::Tcp(port))) = (parts.next()?, parts.next()) else { return None };
        let is_secure = match (parts.next()?, parts.next()) {
            (Protocol::Ws(_), None) => false,
            (Protocol::Tls, Some(Protocol::Ws(_))) | (Protocol::Wss(_), None) => true,
            _ => return None,
        };
        // Behind a web server that answers elsewhere, perhaps: nobody else gets there.
        let is_hidden = is_loopback(door) && !is_loopback(relay);
        (is_there(&ip) && !is_hidden && parts.next().is_none()).then_some((!is_secure, port))
    };
    // With a certificate first.
    let mut doors: Vec<(bool, u16)> = listening.iter().filter_map(door_at).collect();
    doors.sort_unstable();
    doors.into_iter().find_map(|(is_plain, port)| {
        let door = door(Multiaddr::empty().with(host.clone()), port);
        let door = if is_plain { door } else { with_certificate(&door) };
        door_url(&door).map(|_| door.with(own.clone()))
    })
}

/// Whether an address is every interface of this machine.
pub fn is_everywhere(address: &Multiaddr) -> bool {
    match address.iter().next() {
        Some(Protocol::Ip4(ip)) => ip.is_unspecified(),
        Some(Protocol::Ip6(ip)) => ip.is_unspecified(),
        _ => false,
    }
}

/// Maximum number of addresses shared with others, besides doors.
const MAX_PRESENTED: usize = 6;
/// The share of each class: public, relayed and private addresses.
const OF_A_CLASS: usize = MAX_PRESENTED / 3;
/// Maximum number of doors for browsers shared with others.
const DOORS: usize = 2;

/// The addresses to share, most useful first, then doors for browsers. Loopback addresses are shared only if there are no
/// others. Addresses that need an interface's name are left out, and private ones use only TCP. The number is limited,
/// since a ticket has to fit into a chat.
pub fn presentable(addresses: &[Multiaddr]) -> Vec<Multiaddr> {
    let (doors, others): (Vec<Multiaddr>, Vec<Multiaddr>) = addresses.iter().cloned().partition(is_door);
    let mut chosen = chosen(&others);
    let mut doors = self::chosen(&doors);
    // A relay's door leads anywhere for sure. Of each kind the first, for many homes have several addresses of IPv6.
    let rank = |door: &Multiaddr| match Scope::of(std::slice::from_ref(door)) {
        _ if is_circuit(door) => 0,
        Some(Scope::Anywhere) => 1,
        Some(Scope::Network) => 2,
        Some(Scope::Ipv6) => 3,
        Some(Scope::Machine) | None => 4,
    };
    doors.sort_by_key(rank);
    doors.dedup_by_key(|door| rank(door).max(1));
    doors.truncate(DOORS);
    chosen.extend(doors);
    chosen
}

/// The addresses of one kind to share.
fn chosen(addresses: &[Multiaddr]) -> Vec<Multiaddr> {
    let link_local = |address: &Multiaddr| match address.iter().next() {
        Some(Protocol::Ip4(ip)) => ip.is_link_local(),
        _ => needs_zone(address),
    };
    let is_udp = |address: &Multiaddr| address.iter().any(|part| matches!(part, Protocol::Udp(_)));
    let only_loopback = addresses.iter().all(is_loopback);
    let has_tcp = addresses.iter().any(|address| !is_udp(address));
    let mut chosen: Vec<Multiaddr> = Vec::new();
    for address in addresses {
        let of_use = (only_loopback || !is_loopback(address)) && !link_local(address);
        let twice = is_udp(address) && is_private(address) && has_tcp;
        if of_use && !twice && !chosen.contains(address) {
            chosen.push(address.clone());
        }
    }
    // Circuits come before further interfaces of this machine: a container bridge is useless to
    // others.
    let class = |address: &Multiaddr| match (is_circuit(address), is_private(address)) {
        (false, false) => 0,
        (true, _) => 1,
        (false, true) => 2,
    };
    // Each class keeps its share, however many addresses another has.
    let mut before = [0_usize; 3];
    let mut ranked: Vec<(bool, usize, Multiaddr)> = Vec::new();
    for address in chosen {
        let class = class(&address);
        if let Some(count) = before.get_mut(class) {
            ranked.push((*count >= OF_A_CLASS, class, address));
            *count += 1;
        }
    }
    ranked.sort_by_key(|(further, class, _)| (*further, *class));
    ranked.truncate(MAX_PRESENTED);
    ranked.sort_by_key(|(_, class, _)| *class);
    ranked.into_iter().map(|(_, _, address)| address).collect()
}

fn port(protocol: &Protocol<'_>) -> Option<u64> {
    match protocol {
        Protocol::Tcp(port) | Protocol::Udp(port) => Some(u64::from(*port)),
        Protocol::Memory(port) => Some(*port),
        _ => None,
    }
}

/// The address with its ports replaced by `choose`, which gets each protocol that has one.
fn with_ports(address: &Multiaddr, choose: impl Fn(Protocol<'_>) -> Protocol<'static>) -> Multiaddr {
    let each = address.iter().map(|protocol| match port(&protocol) {
        Some(_) => choose(protocol),
        None => protocol.acquire(),
    });
    each.collect()
}

/// Maximum number of another seat's addresses that are dialled.
const MAX_DIALLED: usize = 8;

/// The addresses of another seat that may be dialled: those by number, or through one of our own relays. Names and
/// other relays would let a seat choose our dial targets. Loopback leads to ourselves, so it is useful only where all
/// play on one machine (`local`).
pub fn dialable(addresses: impl IntoIterator<Item = Multiaddr>, relays: &[Multiaddr], local: bool) -> Vec<Multiaddr> {
    let own: Vec<PeerId> = relays.iter().filter_map(|relay| Some(relay_of(relay)?.0)).collect();
    let leads_there = |address: &Multiaddr| {
        if is_circuit(address) {
            return relay_of(address).is_some_and(|(relay, _)| own.contains(&relay));
        }
        match address.iter().next() {
            Some(Protocol::Ip4(_) | Protocol::Ip6(_)) => local || !is_loopback(address),
            first => matches!(first, Some(Protocol::Memory(_))),
        }
    };
    let all = addresses.into_iter().filter(leads_there);
    all.take(MAX_DIALLED).collect()
}

/// The addresses of a peer that has a reservation at one of these relays, each with its peer id at the end.
pub fn behind(relays: &[Multiaddr]) -> Vec<Multiaddr> {
    relays.iter().map(circuit).collect()
}

/// The address with a port of the system's choice.
pub fn any_port(address: &Multiaddr) -> Multiaddr {
    with_ports(address, |protocol| match protocol {
        Protocol::Tcp(_) => Protocol::Tcp(0),
        Protocol::Udp(_) => Protocol::Udp(0),
        _ => Protocol::Memory(0),
    })
}

/// Whether an address leads to a port of one of the listening addresses, on any interface.
pub fn leads_to(address: &Multiaddr, listening: &[Multiaddr]) -> bool {
    let ports = |address: &Multiaddr| -> Vec<Protocol<'static>> {
        let kept = address.iter().filter(|protocol| port(protocol).is_some());
        kept.map(Protocol::acquire).collect()
    };
    let own = ports(address);
    !own.is_empty() && listening.iter().any(|other| ports(other) == own)
}

/// The address with its actual port, if it left the choice to the system and one of these concrete addresses shows it.
/// The last such counts: a router may forward another port, and what it forwards comes first.
pub fn at_port_of(address: &Multiaddr, concrete: &[Multiaddr]) -> Multiaddr {
    let alike = |other: &&Multiaddr| {
        let kinds = |address: &Multiaddr| -> Vec<_> {
            address.iter().map(|protocol| std::mem::discriminant(&protocol.acquire())).collect()
        };
        kinds(address) == kinds(other)
    };
    let found: Vec<Protocol<'static>> = concrete.iter().rev().find(alike).map_or_else(Vec::new, |other| {
        let ports = other.iter().filter(|protocol| port(protocol).is_some());
        ports.map(Protocol::acquire).collect()
    });
    with_ports(address, |protocol| {
        let same_kind = |other: &&Protocol<'static>| {
            std::mem::discriminant(*other) == std::mem::discriminant(&protocol.clone().acquire())
        };
        let left_open = port(&protocol) == Some(0);
        let chosen = found.iter().find(same_kind).filter(|_| left_open);
        chosen.cloned().unwrap_or_else(|| protocol.acquire())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::peer;

    fn address(text: &str) -> Multiaddr {
        text.parse().unwrap()
    }

    #[test]
    fn many_addresses_of_a_class_leave_the_others_their_places() {
        let public = (1..=6).map(|n| address(&format!("/ip6/2001:db8::{n}/tcp/4001")));
        let relay = "/ip4/198.51.100.9/tcp/4001/p2p/12D3KooWD3eckifWpRn9wQpMG9R9hX3sD158z7EqHWmweQAJU5SA";
        let circuit = address(&format!("{relay}/p2p-circuit"));
        let own = address("/ip4/192.168.1.7/tcp/4001");
        let shared = address("/ip4/100.64.0.9/tcp/4001");
        let mut all: Vec<Multiaddr> = public.collect();
        all.extend([shared.clone(), own.clone(), circuit.clone()]);
        let told = presentable(&all);
        let mut expected = all[..3].to_vec();
        expected.extend([circuit, shared, own]);
        assert_eq!(told, expected);
    }

    #[test]
    fn widest_address_says_from_where_a_program_can_be_dialled() {
        let relay = |ip: &str| format!("/ip4/{ip}/tcp/1/p2p/12D3KooWD3eckifWpRn9wQpMG9R9hX3sD158z7EqHWmweQAJU5SA");
        let through = |ip: &str| format!("{}/p2p-circuit", relay(ip));
        let [near, far] = [through("192.168.1.9"), through("93.184.215.9")];
        let lan = "/ip4/192.168.1.7/tcp/1";
        for (texts, scope) in [
            (vec![], None),
            (vec!["/ip4/127.0.0.1/tcp/1"], Some(Scope::Machine)),
            (vec!["/ip4/127.0.0.1/tcp/1", lan, "/ip6/fd00::7/tcp/1"], Some(Scope::Network)),
            (vec![lan, &near, "/ip4/192.0.2.7/tcp/1"], Some(Scope::Network)),
            (vec!["/ip6/2606:2800::7/tcp/1", lan], Some(Scope::Ipv6)),
            (vec![lan, "/ip4/93.184.215.14/tcp/1"], Some(Scope::Anywhere)),
            (vec![lan, &far], Some(Scope::Anywhere)),
        ] {
            let addresses: Vec<Multiaddr> = texts.iter().map(|text| address(text)).collect();
            assert_eq!(Scope::of(&addresses), scope, "{texts:?}");
        }
    }

    #[test]
    fn addresses_of_examples_lead_nowhere() {
        for (text, example) in [
            ("/ip4/192.0.2.7/tcp/1", true),
            ("/ip4/198.51.100.7/tcp/1", true),
            ("/ip4/203.0.113.7/tcp/1", true),
            ("/ip6/2001:db8::7/tcp/1", true),
            ("/ip4/93.184.215.14/tcp/1", false),
            ("/ip6/2606:2800::7/tcp/1", false),
        ] {
            assert_eq!(is_example(&address(text)), example, "{text}");
        }
    }

    #[test]
    fn other_seats_do_not_choose_our_dials() {
        let relay = "/ip4/198.51.100.9/tcp/1/p2p/12D3KooWD3eckifWpRn9wQpMG9R9hX3sD158z7EqHWmweQAJU5SA";
        let other = "/ip4/198.51.100.8/tcp/1/p2p/12D3KooWP6JwhY3qTuDRwDX5P2exdEmJG5MecELg5ES2U2TM9nZq";
        let circuit = |relay: &str| address(&format!("{relay}/p2p-circuit"));
        let own = address("/ip4/192.168.1.7/tcp/4001");
        let loopback = address("/ip4/127.0.0.1/tcp/4001");
        let all = [loopback.clone(), address("/dns4/example.org/tcp/80"), circuit(other), circuit(relay), own.clone()];
        let relays = [address(relay)];
        let found = dialable(all.clone(), &relays, false);
        assert_eq!(found, [circuit(relay), own.clone()]);
        assert_eq!(dialable(all, &[], true), [loopback, own.clone()]);
        assert_eq!(dialable(vec![own; 20], &[], false).len(), MAX_DIALLED);
    }

    #[test]
    fn a_place_is_known_by_its_port() {
        let listening = [address("/ip4/0.0.0.0/tcp/4001"), address("/ip4/0.0.0.0/udp/4002/quic-v1")];
        for (given, leads) in [
            ("/ip4/198.51.100.7/tcp/4001", true),
            ("/ip4/198.51.100.7/udp/4002/quic-v1", true),
            ("/ip4/198.51.100.7/tcp/4002", false),
            ("/ip4/198.51.100.7", false),
        ] {
            assert_eq!(leads_to(&address(given), &listening), leads, "{given}");
        }
        assert!(!leads_to(&address("/ip4/127.0.0.1/tcp/4001"), &[]));
    }

    #[test]
    fn a_port_is_found_again_and_let_go() {
        // The first one is what a router forwards.
        let concrete =
            ["/ip4/93.184.215.14/tcp/9", "/ip6/::1/tcp/7", "/ip4/127.0.0.1/tcp/4001", "/memory/99"].map(address);
        for (given, again, any) in [
            ("/ip4/0.0.0.0/tcp/0", "/ip4/0.0.0.0/tcp/4001", "/ip4/0.0.0.0/tcp/0"),
            ("/ip4/127.0.0.1/tcp/80", "/ip4/127.0.0.1/tcp/80", "/ip4/127.0.0.1/tcp/0"),
            ("/ip6/::/tcp/0", "/ip6/::/tcp/7", "/ip6/::/tcp/0"),
            ("/memory/0", "/memory/99", "/memory/0"),
            ("/ip4/0.0.0.0/udp/0/quic-v1", "/ip4/0.0.0.0/udp/0/quic-v1", "/ip4/0.0.0.0/udp/0/quic-v1"),
        ] {
            let found = at_port_of(&address(given), &concrete);
            assert_eq!(found, address(again));
            assert_eq!(any_port(&found), address(any));
        }
    }

    #[test]
    fn relays_door_and_that_of_the_network_are_shared() {
        let relay = format!("/ip4/93.184.215.9/tcp/443/tls/ws/p2p/{}/p2p-circuit", peer(2));
        let all = ["/ip6/2606:2800::7/tcp/2/ws", "/ip6/2606:2800::8/tcp/2/ws", "/ip4/192.168.1.7/tcp/1/ws", &relay];
        let shared = |all: &[&str]| presentable(&all.iter().map(|text| address(text)).collect::<Vec<_>>());
        assert_eq!(shared(&all), [address(&relay), address(all[2])]);
        assert_eq!(shared(&all[..3]), [address(all[2]), address(all[0])]);
    }

    #[test]
    fn doors_are_shared_beside_the_others() {
        let all: Vec<Multiaddr> = (1..=4)
            .flat_map(|n| [format!("/ip4/192.168.1.{n}/tcp/4001"), format!("/ip4/192.168.1.{n}/tcp/4002/ws")])
            .chain(["/ip4/93.184.215.14/tcp/9/ws".to_owned(), "/ip4/127.0.0.1/tcp/4002/ws".to_owned()])
            .map(|text| address(&text))
            .collect();
        let told = presentable(&all);
        let expected = ["/ip4/93.184.215.14/tcp/9/ws", "/ip4/192.168.1.1/tcp/4002/ws"].map(address);
        assert_eq!(told.get(4..), Some(&expected[..]), "{told:?}");
    }

    #[test]
    fn door_has_an_address_for_browsers() {
        let beside = |text: &str| door_beside(&address(text)).map(|door| door.to_string());
        assert_eq!(beside("/ip4/192.168.1.7/tcp/4001").as_deref(), Some("/ip4/192.168.1.7/tcp/0/ws"));
        assert_eq!(beside("/ip4/192.168.1.7/udp/4001/quic-v1"), None);
        assert_eq!(beside("/ip4/192.168.1.7/tcp/4001/ws"), None);
        for (place, url) in
            [("192.168.1.7:4002", "http://192.168.1.7:4002"), ("[fd00::7]:4002", "http://[fd00::7]:4002")]
        {
            let door = door_at(place.parse().unwrap());
            assert!(is_door(&door));
            assert_eq!(door_url(&door).as_deref(), Some(url));
        }
        assert_eq!(door_url(&address("/ip4/192.168.1.7/tcp/4001")), None);
        assert_eq!(door_url(&address("/dns4/example.org/tcp/1/ws")), None);
        let relay = "/p2p/12D3KooWNZNvdLz2nHqBe1JW6TyZnb8XF4ktNkR2K8oAs1bQEMqH";
        for (door, url) in [
            ("/ip4/93.184.215.14/tcp/80/ws", "http://93.184.215.14"),
            ("/ip4/93.184.215.14/tcp/443/tls/ws", "https://93.184.215.14"),
            ("/dns4/relay.example/tcp/443/tls/ws", "https://relay.example"),
            ("/dns/relay.example/tcp/8443/tls/ws", "https://relay.example:8443"),
        ] {
            assert_eq!(door_url(&address(door)).as_deref(), Some(url));
            let plain = address("/ip4/0.0.0.0/tcp/443/ws");
            assert_eq!(with_certificate(&plain), address("/ip4/0.0.0.0/tcp/443/tls/ws"));
            let circuit = address(&format!("{door}{relay}/p2p-circuit"));
            assert_eq!((door_url(&circuit).as_deref(), is_door(&circuit)), (Some(url), true));
        }
        let named = address(&format!("/dns4/play.example/tcp/4001{relay}"));
        let listening = ["/ip4/10.0.0.1/tcp/1/ws", "/ip4/10.0.0.1/tcp/8443/tls/ws"].map(address);
        assert_eq!(door_of(&named, &listening), Some(address(&format!("/dns4/play.example/tcp/8443/tls/ws{relay}"))));
        assert_eq!(door_of(&named, &listening[..1]), None, "a name needs a certificate");
        let listening = [address("/ip4/10.0.0.1/tcp/4001"), address("/ip4/127.0.0.1/tcp/8080/ws")];
        let public = address(&format!("/ip4/93.184.215.14/tcp/4001{relay}"));
        assert_eq!(door_of(&public, &listening), None, "a web server stands before it");
        let here = address(&format!("/ip4/127.0.0.1/tcp/4001{relay}"));
        assert_eq!(door_of(&here, &listening), Some(address(&format!("/ip4/127.0.0.1/tcp/8080/ws{relay}"))));
        let listening = ["/ip4/10.0.0.1/tcp/8080/ws", "/ip6/fd00::1/tcp/8081/ws"].map(address);
        assert_eq!(door_of(&public, &listening), Some(address(&format!("/ip4/93.184.215.14/tcp/8080/ws{relay}"))));
        assert_eq!(door_of(&public, &listening[1..]), None, "it listens by the other version of IP");
        assert_eq!(door_of(&address("/ip4/93.184.215.14/tcp/4001"), &listening), None);
        // What else a relay may say goes into no ticket.
        let long = format!("/ip4/10.0.0.1/tcp/80/x-parity-ws/{}", "a".repeat(300));
        let more = format!("/ip4/10.0.0.1/tcp/80/ws{relay}/dns4/{}", "a".repeat(200));
        for door in [long, more, format!("/ip4/10.0.0.1/tcp/80/ws{relay}/p2p-circuit"), "/dns4/a/tcp/80/ws".to_owned()]
        {
            let found = door_of(&public, &[address(&door)]);
            assert!(
                found.is_none_or(|door| door == address(&format!("/ip4/93.184.215.14/tcp/80/ws{relay}"))),
                "{door}"
            );
        }
    }

    #[test]
    fn kinds_are_told_apart() {
        let quic = "/ip4/0.0.0.0/udp/7/quic-v1";
        assert!(is_quic(&address(quic)) && !is_quic(&address("/ip4/0.0.0.0/tcp/7")));
        assert!(is_everywhere(&address(quic)) && !is_everywhere(&address("/ip4/192.0.2.1/udp/7/quic-v1")));
    }
}
