//! The order of this machine's addresses: those by which others reach it come before those of bridges and tunnels.
//!
//! A machine with containers or VPNs has many addresses, and a ticket has room for few. The LAN is where the default
//! route leads. Linux says where in `/proc/net`. Elsewhere the source address that the system would take for the
//! internet says so, which a VPN changes. Without a default route the kinds of interfaces decide. The same knowledge
//! tells which addresses of others lead nowhere from here.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use fairdeal_peers::address::{is_door, is_loopback, is_public, needs_zone};
use if_addrs::{IfAddr, IfOperStatus};
use ipnet::IpNet;
use libp2p::Multiaddr;
use libp2p::multiaddr::Protocol;

/// An address of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Own {
    ip: IpAddr,
    /// The network that the interface is in; `None` if the system gives no valid prefix.
    network: Option<IpNet>,
    interface: String,
    kind: Kind,
}

/// Why no packet to an address arrives, as far as one can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OutOfReach {
    /// It belongs to a private network, and this machine is in others.
    OtherNetwork,
    /// No route leads there: this machine has no network, or none of that IP version.
    NoRoute,
}

/// The network that an interface leads to, as far as one can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// An adapter, or a bridge or VLAN on one.
    Adapter,
    Unknown,
    /// A bridge to containers or virtual machines.
    Inner,
    /// A tunnel, such as a VPN's.
    Tunnel,
}

/// How useful an address is to others; the least value is the most useful.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// Not of an interface: the router forwards it.
    Forwarded,
    /// The source address of packets to the internet.
    Source,
    /// Of an interface with a default route of this metric.
    Default(u32),
    /// Of an interface with a default route of the other IP version.
    OtherDefault,
    /// Of another adapter.
    Adapter,
    /// Packets to the internet take this tunnel; the LAN is another interface.
    SourceInTunnel,
    Further(Kind),
}

/// A default route: its interface and metric. The least metric counts first.
type Route = (String, u32);

/// This machine's addresses and default routes at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Interfaces {
    own: Vec<Own>,
    routes_v4: Vec<Route>,
    routes_v6: Vec<Route>,
    /// The source addresses of packets to the internet, by IPv4 and IPv6.
    sources: Vec<IpAddr>,
}

impl Interfaces {
    /// The present state; nothing where the system does not tell.
    pub(super) fn now() -> Self {
        let listed = if_addrs::get_if_addrs()
            .inspect_err(|error| tracing::warn!(%error, "cannot list the network interfaces"))
            .unwrap_or_default();
        let own = listed.into_iter().filter(|one| one.oper_status != IfOperStatus::Down).map(|one| Own {
            ip: one.ip(),
            network: match &one.addr {
                IfAddr::V4(address) => IpNet::new(one.ip(), address.prefixlen).ok(),
                IfAddr::V6(address) => IpNet::new(one.ip(), address.prefixlen).ok(),
            },
            kind: kind_of(&one.name, one.is_p2p, stands_on_adapter(&one.name, MAX_DEPTH)),
            interface: one.name,
        });
        let read = |path| std::fs::read_to_string(path).unwrap_or_default();
        // Nothing is sent. No machine has these addresses, so the default route leads to them.
        let somewhere: [IpAddr; 2] =
            [Ipv4Addr::new(192, 0, 2, 1).into(), Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1).into()];
        Self {
            own: own.collect(),
            routes_v4: routes_v4(&read("/proc/net/route")),
            routes_v6: routes_v6(&read("/proc/net/ipv6_route")),
            sources: somewhere.into_iter().filter_map(source_towards).collect(),
        }
    }

    /// Sorts addresses by their use to others, those of one rank by IPv4 before IPv6.
    pub(super) fn sort(&self, addresses: &mut [Multiaddr]) {
        addresses.sort_by_cached_key(|address| (self.rank(address), first_ip(address).is_some_and(|ip| ip.is_ipv6())));
    }

    fn rank(&self, address: &Multiaddr) -> Rank {
        let Some(ip) = first_ip(address) else {
            return Rank::Forwarded;
        };
        let Some(own) = self.own.iter().find(|own| own.ip == ip) else {
            return Rank::Forwarded;
        };
        self.rank_of(own)
    }

    fn rank_of(&self, own: &Own) -> Rank {
        let (routes, others) =
            if own.ip.is_ipv4() { (&self.routes_v4, &self.routes_v6) } else { (&self.routes_v6, &self.routes_v4) };
        let metric = |routes: &[Route]| {
            let here = routes.iter().filter(|(interface, _)| *interface == own.interface);
            here.map(|(_, metric)| *metric).min()
        };
        let is_source = self.sources.contains(&own.ip);
        match (own.kind, metric(routes)) {
            (Kind::Tunnel, _) if is_source => Rank::SourceInTunnel,
            (Kind::Tunnel, _) => Rank::Further(own.kind),
            (_, _) if is_source => Rank::Source,
            (_, Some(metric)) => Rank::Default(metric),
            (_, None) if metric(others).is_some() => Rank::OtherDefault,
            (Kind::Adapter, None) => Rank::Adapter,
            (_, None) => Rank::Further(own.kind),
        }
    }

    /// Why nothing arrives at an address, where `route` is the source address of packets to another.
    fn out_of_reach(&self, address: &Multiaddr, route: impl Fn(IpAddr) -> Option<IpAddr>) -> Option<OutOfReach> {
        let ip = first_ip(address).filter(|_| !is_loopback(address))?;
        if self.own.iter().any(|own| own.ip == ip && own.kind == Kind::Inner) {
            // Bridges to containers have the same addresses on many machines: this one leads to ourselves.
            return Some(OutOfReach::OtherNetwork);
        }
        let Some(source) = route(ip) else {
            return Some(OutOfReach::NoRoute);
        };
        let outward = self.sources.iter().find(|outward| outward.is_ipv4() == ip.is_ipv4());
        let is_near = self.own.iter().any(|own| own.network.is_some_and(|network| network.contains(&ip)));
        // A tunnel may lead to any private network, and so may a route of its own.
        let is_tunnel = self.own.iter().any(|own| own.ip == source && own.kind == Kind::Tunnel);
        let leads_out = outward == Some(&source) && !is_tunnel;
        (!is_public(address) && !is_near && leads_out).then_some(OutOfReach::OtherNetwork)
    }

    /// The IPv4 address on the LAN, if there is a way out of it: of the interface that a router would be at.
    #[cfg(feature = "upnp")]
    pub(super) fn towards_router(&self) -> Option<Ipv4Addr> {
        self.sources.iter().any(IpAddr::is_ipv4).then(|| self.lan_v4())?
    }

    /// The IPv4 address that is most useful to others.
    #[cfg(feature = "upnp")]
    fn lan_v4(&self) -> Option<Ipv4Addr> {
        let outward = self.own.iter().filter(|own| !own.ip.is_loopback());
        let best = outward.filter(|own| own.ip.is_ipv4()).min_by_key(|own| self.rank_of(own));
        match best?.ip {
            IpAddr::V4(ip) => Some(ip),
            IpAddr::V6(_) => None,
        }
    }
}

/// The address at which others on the LAN find a machine that listens here.
pub fn lan_ip(addresses: &[Multiaddr]) -> Option<IpAddr> {
    let mut outward: Vec<Multiaddr> =
        addresses.iter().filter(|address| !is_loopback(address) && !needs_zone(address)).cloned().collect();
    Interfaces::now().sort(&mut outward);
    first_ip(outward.first()?)
}

/// Why none of these addresses can be reached from here; `None` if one may be, or there is none. A router behind
/// another one may lead to its private network all the same.
pub fn out_of_reach(addresses: &[Multiaddr]) -> Option<OutOfReach> {
    let here = Interfaces::now();
    let each: Option<Vec<OutOfReach>> = addresses
        .iter()
        .filter(|address| !is_door(address))
        .map(|address| here.out_of_reach(address, source_towards))
        .collect();
    each?.into_iter().min()
}

/// The IP address at the beginning of an address.
pub fn first_ip(address: &Multiaddr) -> Option<IpAddr> {
    match address.iter().next() {
        Some(Protocol::Ip4(ip)) => Some(ip.into()),
        Some(Protocol::Ip6(ip)) => Some(ip.into()),
        _ => None,
    }
}

/// The source address of packets to `ip`; `None` if no route leads there.
pub(super) fn source_towards(ip: IpAddr) -> Option<IpAddr> {
    let any: IpAddr = match ip {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind(SocketAddr::from((any, 0))).ok()?;
    socket.connect(SocketAddr::from((ip, 9))).ok()?;
    let source = socket.local_addr().ok()?.ip();
    (!source.is_unspecified()).then_some(source)
}

/// The route is usable.
const RTF_UP: u32 = 0x1;
/// The route refuses packets.
const RTF_REJECT: u32 = 0x200;

fn is_usable(flags: u32) -> bool {
    flags & RTF_UP != 0 && flags & RTF_REJECT == 0
}

/// The IPv4 default routes in the text of `/proc/net/route`.
fn routes_v4(table: &str) -> Vec<Route> {
    let read = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [interface, destination, _, flags, _, _, metric, mask, ..] = fields.as_slice() else {
            return None;
        };
        let flags = u32::from_str_radix(flags, 16).ok()?;
        let is_default = [*destination, *mask] == ["00000000"; 2] && is_usable(flags);
        is_default.then_some(((*interface).to_owned(), metric.parse().ok()?))
    };
    table.lines().skip(1).filter_map(read).collect()
}

/// The IPv6 default routes in the text of `/proc/net/ipv6_route`.
fn routes_v6(table: &str) -> Vec<Route> {
    let read = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [destination, length, _, _, _, metric, _, _, flags, interface] = fields.as_slice() else {
            return None;
        };
        let flags = u32::from_str_radix(flags, 16).ok()?;
        let is_default = destination.bytes().all(|digit| digit == b'0') && *length == "00" && is_usable(flags);
        // A system without any default route lists one that leads nowhere, by the loopback interface.
        let is_default = is_default && *interface != "lo";
        is_default.then_some(((*interface).to_owned(), u32::from_str_radix(metric, 16).ok()?))
    };
    table.lines().filter_map(read).collect()
}

/// How far below a bridge or VLAN its adapter is looked for.
const MAX_DEPTH: u8 = 4;

/// Whether an interface is an adapter, or a bridge, bond or VLAN on one; `None` where the system does not tell.
fn stands_on_adapter(interface: &str, depth: u8) -> Option<bool> {
    let folder = std::path::Path::new("/sys/class/net").join(interface);
    let entries = std::fs::read_dir(&folder).ok()?;
    if folder.join("device").exists() {
        return Some(true);
    }
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let lower: Vec<String> = names.filter_map(|name| Some(name.strip_prefix("lower_")?.to_owned())).collect();
    let stands = depth > 0 && lower.iter().any(|lower| stands_on_adapter(lower, depth - 1) == Some(true));
    // Nothing is known of the other end of a virtual cable. A bridge without an adapter leads to no LAN.
    let is_bridge = folder.join("bridge").exists();
    (stands || is_bridge).then_some(stands)
}

/// Beginnings of the names of adapters: Linux, macOS, Windows.
const ADAPTERS: [&str; 6] = ["en", "eth", "wl", "ww", "Ethernet", "Wi-Fi"];
/// Of bridges to containers and virtual machines.
const BRIDGES: [&str; 11] =
    ["docker", "br-", "veth", "virbr", "lxc", "lxd", "cni", "podman", "vmnet", "vboxnet", "vEthernet"];
/// Of tunnels.
const TUNNELS: [&str; 7] = ["tun", "tap", "wg", "utun", "tailscale", "zt", "nordlynx"];
/// Of links by a modem, which are point-to-point too.
const MODEMS: [&str; 3] = ["ppp", "ww", "rmnet"];

/// The kind of an interface, from its name and from what the system tells: whether it is point-to-point, and whether
/// it stands on an adapter.
fn kind_of(name: &str, is_point_to_point: bool, stands_on_adapter: Option<bool>) -> Kind {
    let begins = |known: &[&str]| known.iter().any(|known| name.starts_with(known));
    if begins(&TUNNELS) || (is_point_to_point && !begins(&MODEMS)) {
        return Kind::Tunnel;
    }
    match stands_on_adapter {
        Some(true) => Kind::Adapter,
        Some(false) => Kind::Inner,
        None if begins(&BRIDGES) => Kind::Inner,
        None if begins(&ADAPTERS) || begins(&MODEMS) => Kind::Adapter,
        None => Kind::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(interface: &str, ip: &str, is_point_to_point: bool) -> Own {
        Own {
            ip: ip.parse().unwrap(),
            network: IpNet::new(ip.parse().unwrap(), if ip.contains(':') { 64 } else { 24 }).ok(),
            interface: interface.to_owned(),
            kind: kind_of(interface, is_point_to_point, None),
        }
    }

    /// The interfaces of a machine with Docker, a VPN and an adapter, in the order in which systems list them.
    fn machine() -> Interfaces {
        Interfaces {
            own: vec![
                own("lo", "127.0.0.1", false),
                own("docker0", "172.17.0.1", false),
                own("br-9f1c", "172.18.0.1", false),
                own("wg0", "10.8.0.2", true),
                own("br0", "10.0.3.1", false),
                own("enp3s0", "192.168.77.1", false),
                own("enp3s0", "fd77::1", false),
                own("docker0", "fd00::1", false),
            ],
            ..Interfaces::default()
        }
    }

    fn sorted(interfaces: &Interfaces, ips: &[&str]) -> Vec<String> {
        let address = |ip: &&str| {
            let version = if ip.contains(':') { 6 } else { 4 };
            format!("/ip{version}/{ip}/tcp/4001").parse::<Multiaddr>().unwrap()
        };
        let mut addresses: Vec<Multiaddr> = ips.iter().map(address).collect();
        interfaces.sort(&mut addresses);
        addresses.iter().filter_map(|one| Some(first_ip(one)?.to_string())).collect()
    }

    const ALL: [&str; 7] = ["172.17.0.1", "172.18.0.1", "10.8.0.2", "10.0.3.1", "fd00::1", "fd77::1", "192.168.77.1"];

    #[test]
    fn default_route_comes_first() {
        let mut interfaces = machine();
        interfaces.routes_v4 = vec![("enp3s0".to_owned(), 100)];
        interfaces.sources = vec!["192.168.77.1".parse().unwrap()];
        let found = sorted(&interfaces, &ALL);
        let expected = ["192.168.77.1", "fd77::1", "10.0.3.1", "172.17.0.1", "172.18.0.1", "fd00::1", "10.8.0.2"];
        assert_eq!(found, expected);
        // What the router forwards leads here from everywhere.
        assert_eq!(sorted(&interfaces, &["192.168.77.1", "93.184.215.14"])[0], "93.184.215.14");
    }

    #[test]
    fn a_bridge_with_the_default_route_is_the_lan() {
        let mut interfaces = machine();
        interfaces.routes_v4 = vec![("br0".to_owned(), 0)];
        assert_eq!(sorted(&interfaces, &ALL)[0], "10.0.3.1");
        interfaces.routes_v4 = vec![("enp3s0".to_owned(), 600), ("br0".to_owned(), 425)];
        assert_eq!(sorted(&interfaces, &ALL)[..2], ["10.0.3.1", "192.168.77.1"]);
    }

    #[test]
    fn a_tunnel_to_the_internet_does_not_hide_the_lan() {
        let mut interfaces = machine();
        // A VPN that takes all packets, beside the default route and in place of it.
        interfaces.sources = vec!["10.8.0.2".parse().unwrap()];
        interfaces.routes_v4 = vec![("enp3s0".to_owned(), 100)];
        assert_eq!(sorted(&interfaces, &ALL)[0], "192.168.77.1");
        interfaces.routes_v4 = vec![("wg0".to_owned(), 0)];
        assert_eq!(sorted(&interfaces, &ALL)[..3], ["192.168.77.1", "fd77::1", "10.8.0.2"]);
    }

    #[test]
    fn adapters_come_first_without_a_default_route() {
        let found = sorted(&machine(), &ALL);
        assert_eq!(found[..3], ["192.168.77.1", "fd77::1", "10.0.3.1"]);
        assert_eq!(found.last().map(String::as_str), Some("10.8.0.2"));
    }

    #[test]
    fn addresses_that_lead_nowhere_are_known() {
        let v4: IpAddr = "192.168.77.1".parse().unwrap();
        let mut here = machine();
        here.sources = vec![v4];
        // The routes of a machine with IPv4 alone, and a VPN to 10.8.0.0/16.
        let route = |ip: IpAddr| match ip {
            IpAddr::V4(ip) if ip.octets().starts_with(&[10, 8]) => "10.8.0.2".parse().ok(),
            IpAddr::V4(_) => Some(v4),
            IpAddr::V6(ip) => ip.segments().starts_with(&[0xfd77]).then(|| "fd77::1".parse().unwrap()),
        };
        let other = Some(OutOfReach::OtherNetwork);
        for (address, expected) in [
            ("/ip4/192.168.77.9/tcp/1", None),
            ("/ip4/192.168.78.9/tcp/1", other),
            ("/ip4/10.8.3.9/tcp/1", None),
            ("/ip4/100.64.0.9/tcp/1", other),
            ("/ip4/172.17.0.1/tcp/1", other),
            ("/ip4/192.168.77.1/tcp/1", None),
            ("/ip4/93.184.215.14/tcp/1", None),
            ("/ip4/127.0.0.1/tcp/1", None),
            ("/ip6/fd77::9/tcp/1", None),
            ("/ip6/2606:4700::9/tcp/1", Some(OutOfReach::NoRoute)),
            ("/dns4/example.org/tcp/1", None),
            ("/ip4/93.184.215.14/tcp/1/p2p/12D3KooWNZNvdLz2nHqBe1JW6TyZnb8XF4ktNkR2K8oAs1bQEMqH/p2p-circuit", None),
        ] {
            let address: Multiaddr = address.parse().unwrap();
            assert_eq!(here.out_of_reach(&address, route), expected, "{address}");
        }
        // Where a VPN takes everything, nothing is known of what lies behind it.
        here.sources = vec!["10.8.0.2".parse().unwrap()];
        let far: Multiaddr = "/ip4/192.168.78.9/tcp/1".parse().unwrap();
        assert_eq!(here.out_of_reach(&far, |_| "10.8.0.2".parse().ok()), None);
    }

    #[test]
    fn kinds_of_interfaces() {
        for (name, point_to_point, on_adapter, kind) in [
            ("br0", false, Some(true), Kind::Adapter),
            ("br0", false, Some(false), Kind::Inner),
            ("virbr0", false, None, Kind::Inner),
            ("wlan0", false, None, Kind::Adapter),
            ("ppp0", true, None, Kind::Adapter),
            ("utun3", true, None, Kind::Tunnel),
            ("foo", true, None, Kind::Tunnel),
            ("tap0", false, Some(false), Kind::Tunnel),
            ("Ethernet 2", false, None, Kind::Adapter),
            ("vEthernet (WSL)", false, None, Kind::Inner),
            ("foo", false, None, Kind::Unknown),
        ] {
            assert_eq!(kind_of(name, point_to_point, on_adapter), kind, "{name}");
        }
    }

    #[test]
    fn linux_tells_default_routes() {
        let table = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n\
                     tun0\t00000000\t0100080A\t0003\t0\t0\t50\t00000080\t0\t0\t0\n\
                     eth0\t00000000\tFE4DA8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n\
                     *\t00000000\t00000000\t0201\t0\t0\t200\t00000000\t0\t0\t0\n\
                     eth0\t004DA8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n";
        assert_eq!(routes_v4(table), [("eth0".to_owned(), 100)]);
        let zero = "00000000000000000000000000000000";
        let line = |length: &str, flags: &str, interface: &str| {
            format!(
                "{zero} {length} {zero} 00 fe800000000000000000000000000001 00000400 00000001 00000000 {flags}     {interface}\n"
            )
        };
        let table = [line("00", "00450003", "wlan0"), line("00", "00200200", "lo"), line("40", "00000001", "eth0")];
        assert_eq!(routes_v6(&table.concat()), [("wlan0".to_owned(), 1024)]);
        assert_eq!((routes_v4("junk\nmore junk"), routes_v6("junk")), (vec![], vec![]));
    }
}
