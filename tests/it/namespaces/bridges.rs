//! Machines with bridges and tunnels: their tickets and records hold the LAN's own address.

use std::time::{Duration, Instant};

use fairdeal_net::first_ip;
use fairdeal_peers::ticket::Ticket;
use tempfile::TempDir;

use super::lab::{Lab, Node};
use crate::process::Program;

const HOST: [&str; 7] = ["bot", "host", "loot", "--seats", "2", "--json", "--no-lan"];

/// A machine with as many interfaces as Docker and VPNs make, none of which leads to others.
fn machine_with_bridges(lab: &mut Lab, count: u32) -> Node {
    let node = lab.machine();
    for number in 1..=count {
        let name = if number % 2 == 0 { "br-" } else { "vpn" };
        let (interface, subnet) = (format!("{name}{number}"), 16 + number);
        lab.ip(
            node,
            &format!(
                "link add {interface} type veth peer name p{number}\nlink set p{number} up\n\
                 address add 172.{subnet}.0.1/16 dev {interface}\n\
                 address add fd{subnet:02}::1/64 dev {interface} nodad\nlink set {interface} up\n"
            ),
        );
    }
    node
}

/// A cable to the LAN at `eth0`.
fn plug(lab: &Lab, node: Node) {
    lab.ip(
        node,
        "link add eth0 type veth peer name far\nlink set far up\naddress add 192.168.77.1/24 dev eth0\n\
         address add fd77::1/64 dev eth0 nodad\nlink set eth0 up\n",
    );
}

/// Waits for a ticket with both addresses of the LAN, the first of all but IPv6 after IPv4.
fn has_the_lan(host: &mut Program, both: bool) {
    let expected: &[&str] = if both { &["192.168.77.1", "fd77::1"] } else { &["192.168.77.1"] };
    let begun = Instant::now();
    loop {
        let ticket: Ticket = host.ticket().parse().unwrap();
        let ips: Vec<String> =
            ticket.addresses().iter().filter_map(|address| Some(first_ip(address)?.to_string())).collect();
        if ips.starts_with(&expected.iter().map(|ip| (*ip).to_owned()).collect::<Vec<_>>()) {
            return;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{ips:?}");
    }
}

#[test]
fn tickets_hold_the_address_with_the_default_route() {
    let Some(mut lab) = Lab::new() else { return };
    let root = TempDir::new().unwrap();
    let node = machine_with_bridges(&mut lab, 12);
    plug(&lab, node);
    lab.ip(node, "route add default via 192.168.77.254\n");
    has_the_lan(&mut lab.start(node, root.path(), "host", &HOST), true);
}

/// Of an adapter that is plugged in, and gets its route, while the table waits.
#[test]
fn tickets_follow_the_default_route() {
    let Some(mut lab) = Lab::new() else { return };
    let root = TempDir::new().unwrap();
    let node = machine_with_bridges(&mut lab, 8);
    let mut host = lab.start(node, root.path(), "host", &HOST);
    host.ticket();
    plug(&lab, node);
    // Without a route its name alone speaks for it.
    has_the_lan(&mut host, true);
    // The route changes later, and no address with it.
    lab.ip(node, "route add default via 172.18.0.2\n");
    let begun = Instant::now();
    loop {
        let ticket: Ticket = host.ticket().parse().unwrap();
        let first = ticket.addresses().first().and_then(first_ip).unwrap();
        if first.to_string() == "172.18.0.1" {
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{first}");
    }
    lab.ip(node, "route del default\nroute add default via 192.168.77.254\n");
    has_the_lan(&mut host, true);
}

/// A VPN that takes all packets leaves the LAN its place.
#[test]
fn a_tunnel_does_not_hide_the_lan() {
    let Some(mut lab) = Lab::new() else { return };
    let root = TempDir::new().unwrap();
    let node = machine_with_bridges(&mut lab, 8);
    plug(&lab, node);
    lab.ip(
        node,
        "link add wg0 type veth peer name far0\nlink set far0 up\naddress add 10.8.0.2/24 dev wg0\nlink set wg0 up\n\
         route add default via 192.168.77.254\nroute add 0.0.0.0/1 via 10.8.0.1\nroute add 128.0.0.0/1 via 10.8.0.1\n",
    );
    has_the_lan(&mut lab.start(node, root.path(), "host", &HOST), true);
}
