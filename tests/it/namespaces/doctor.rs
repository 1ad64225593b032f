//! The doctor's words on the LAN and on the router, on machines where one thing is wrong.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use super::lab::{Lab, Node};
use crate::require::skip;

/// A machine with an address on a LAN, and a default route.
fn machine(lab: &mut Lab) -> Node {
    let switch = lab.switch();
    let (node, _) = lab.lan_machine("10.7.7.1/24", switch);
    lab.ip(node, "route add default via 10.7.7.254\n");
    node
}

/// The doctor's words on multicast, on a machine that was changed like this.
fn says(change: impl FnOnce(&Lab, Node)) -> Option<String> {
    let mut lab = Lab::new()?;
    let root = TempDir::new().unwrap();
    let node = machine(&mut lab);
    change(&lab, node);
    let (said, code) = lab.doctor(node, root.path());
    assert_eq!(code, Some(0));
    said.get("multicast").cloned()
}

/// The beginning of a firewall's rules, for a hook.
fn drops(hook: &str, rule: &str) -> String {
    format!(
        "table inet firewall {{\n chain filtered {{\n type filter hook {hook} priority 0;\n {rule} drop;\n }}\n}}\n"
    )
}

#[test]
fn multicast_works_on_a_plain_machine() {
    let Some(said) = says(|_, _| {}) else { return };
    assert!(said.starts_with("ok works") && said.contains("10.7.7.1"), "{said}");
}

#[test]
fn a_firewall_that_drops_multicast_is_seen() {
    for rule in ["meta l4proto udp", "udp dport 5353", "ct state new iifname eth0"] {
        let Some(said) = says(|lab, node| lab.exec(node, &["nft", "-f", "-"], &drops("input", rule))) else {
            return;
        };
        assert!(said.starts_with("-- ") && said.contains("firewall"), "{rule}: {said}");
    }
}

#[test]
fn a_firewall_that_refuses_to_send_is_seen() {
    let rules = drops("output", "udp dport 5353");
    let Some(said) = says(|lab, node| lab.exec(node, &["nft", "-f", "-"], &rules)) else {
        return;
    };
    assert!(said.starts_with("-- ") && said.contains("refuses to send from 10.7.7.1"), "{said}");
}

/// A bridge that lets everything through says nothing about the LAN.
#[test]
fn a_firewall_on_the_lan_alone_is_seen() {
    let said = says(|lab, node| {
        lab.ip(
            node,
            "link add docker0 type veth peer name far\nlink set far up\naddress add 172.17.0.1/16 dev docker0\n\
             link set docker0 up\n",
        );
        lab.exec(node, &["nft", "-f", "-"], &drops("input", "iifname eth0 udp dport 5353"));
    });
    let Some(said) = said else { return };
    assert!(said.starts_with("-- works from 172.17.0.1 only"), "{said}");
}

#[test]
fn groups_that_are_refused_are_told() {
    let none = ["sysctl", "-qw", "net.ipv4.igmp_max_memberships=0"];
    let Some(said) = says(|lab, node| lab.exec(node, &none, "")) else {
        return;
    };
    assert!(said.starts_with("-- ") && said.contains("refuses to join"), "{said}");
    assert!(said.contains("net.ipv4.igmp_max_memberships"), "{said}");
}

/// A program that does not share mDNS's port.
#[test]
fn a_taken_port_is_told() {
    const HOLD: &str = "import socket, sys\n\
                        held = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n\
                        held.bind(('', 5353))\nprint('held', flush=True)\nsys.stdin.read()\n";
    if let Err(error) = Command::new("python3").arg("--version").output() {
        return skip("python", error.to_string());
    }
    let mut holder = None;
    let said = says(|lab, node| {
        let [ip, words @ ..] = lab.inside(node);
        let mut child = Command::new(ip)
            .args(words)
            .args(["python3", "-c", HOLD])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "held\n");
        holder = Some(child);
    });
    if let Some(mut child) = holder {
        drop(child.stdin.take());
        child.wait().unwrap();
    }
    let Some(said) = said else { return };
    assert!(said.starts_with("-- ") && said.contains("holds UDP port 5353"), "{said}");
}

#[test]
fn a_machine_without_a_network_is_told() {
    let Some(mut lab) = Lab::new() else { return };
    let root = TempDir::new().unwrap();
    let alone = lab.machine();
    let (said, code) = lab.doctor(alone, root.path());
    assert_eq!(code, Some(1));
    assert!(said["listening"].starts_with("!! no network is up"), "{said:?}");
    assert!(said["multicast"].starts_with("-- none, since no network is up"), "{said:?}");
    // An address of the link alone leads nowhere.
    let switch = lab.switch();
    let node = lab.machine();
    lab.plug(node, "eth0", "fe80::7/64", switch);
    let (said, _) = lab.doctor(node, root.path());
    assert!(said["multicast"].contains("link-local"), "{said:?}");
}

/// Without a router, and with one that opens no ports, two sentences.
#[test]
fn a_router_that_is_missing_or_opens_no_ports_is_told() {
    let Some(mut lab) = Lab::new() else { return };
    let root = TempDir::new().unwrap();
    let net = lab.switch();
    let (alone, _) = lab.lan_machine("10.7.7.1/24", net);
    let (said, _) = lab.doctor(alone, root.path());
    assert!(said["UPnP"].starts_with("-- no router"), "{said:?}");
    let (home, _) = lab.home("11.0.0.12/24", net);
    let (said, _) = lab.doctor(home, root.path());
    assert!(said["UPnP"].starts_with("-- there is a router, but"), "{said:?}");
    let public = lab.machine();
    lab.plug(public, "eth0", "11.0.0.13/24", net);
    lab.ip(public, "route add default via 11.0.0.1\n");
    let (said, _) = lab.doctor(public, root.path());
    assert!(said["UPnP"].starts_with("ok not needed"), "{said:?}");
}
