//! A router that opens ports, Debian's miniupnpd: friends come through, and nothing stays open.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use fairdeal_peers::ticket::Ticket;
use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use serde_json::Value;
use tempfile::TempDir;

use super::all_over;
use super::lab::{Lab, Node, Upnp, wait_until};
use crate::process::{Program, fairdeal};
use crate::screen::terminals_work;

/// A public address at which a router may be; nobody here has it.
const PUBLIC: &str = "11.0.0.11/24";

/// A host whose router has opened a port, and its ticket.
fn host(lab: &Lab, node: Node, root: &Path, name: &str) -> (Program, String) {
    let game = ["bot", "host", "loot", "--option", "target=1", "--seats", "2", "--json"];
    let mut host = lab.start(node, root, name, &game);
    let through = |event: &Value| {
        let ticket = event["ticket"].as_str().and_then(|ticket| ticket.parse::<Ticket>().ok());
        let addresses = ticket.map(|ticket| ticket.addresses().to_vec()).unwrap_or_default();
        addresses.iter().any(|address| address.to_string().starts_with("/ip4/11.0.0.11/tcp/"))
    };
    let event = host.wait_for_matching(through).expect("the router opens a port");
    let ticket = event["ticket"].as_str().unwrap().to_owned();
    (host, ticket)
}

fn is_closed(upnp: &Upnp, what: &str) {
    assert_eq!(upnp.opened(), Vec::<String>::new(), "{what}");
}

#[test]
fn a_friend_comes_through_a_port_that_is_closed_afterwards() {
    let Some(mut lab) = Lab::new() else { return };
    let root = TempDir::new().unwrap();
    let net = lab.switch();
    let Some((home, upnp)) = lab.home_with_upnp(PUBLIC, net) else {
        return;
    };
    let (host, ticket) = host(&lab, home, root.path(), "host");
    assert!(!upnp.opened().is_empty());
    let friend = lab.machine();
    lab.plug(friend, "eth0", "11.0.0.12/24", net);
    let guest = lab.start(friend, root.path(), "guest", &["bot", "join", &ticket, "--json"]);
    all_over(&mut [host, guest]);
    is_closed(&upnp, "after the game");
    let (said, code) = lab.doctor(home, root.path());
    assert_eq!(code, Some(0));
    assert!(said["UPnP"].starts_with("ok the router lets friends through, at /ip4/11.0.0.11/"), "{said:?}");
    is_closed(&upnp, "after the doctor");
}

/// However a program is asked to end.
#[test]
fn signals_leave_no_port_open() {
    let Some(mut lab) = Lab::new() else { return };
    let root = TempDir::new().unwrap();
    let net = lab.switch();
    let Some((home, upnp)) = lab.home_with_upnp(PUBLIC, net) else {
        return;
    };
    for signal in ["INT", "TERM", "HUP"] {
        let (mut host, _) = host(&lab, home, root.path(), signal);
        assert!(!upnp.opened().is_empty(), "{signal}");
        let sent = Instant::now();
        host.signal(signal);
        assert_eq!(host.finish().code(), Some(130), "{signal}");
        assert!(sent.elapsed() < Duration::from_secs(2), "{signal}: {:?}", sent.elapsed());
        is_closed(&upnp, signal);
    }
    let mut doctor = lab.start(home, root.path(), "doctor", &["doctor"]);
    wait_until("the doctor opens a port", || !upnp.opened().is_empty());
    doctor.signal("TERM");
    assert_eq!(doctor.ended().code(), Some(130));
    is_closed(&upnp, "after the doctor was stopped");
    // A relay opens none.
    let mut relay = lab.start(home, root.path(), "relay", &["relay"]);
    while !relay.line().unwrap().contains("/p2p/") {}
    std::thread::sleep(Duration::from_secs(2));
    is_closed(&upnp, "a relay");
    relay.signal("TERM");
    relay.ended();
}

/// The interface closes its table when its terminal is closed.
#[test]
fn an_interface_leaves_no_port_open() {
    let Some(mut lab) = Lab::new() else { return };
    if !terminals_work() {
        return;
    }
    let root = TempDir::new().unwrap();
    let net = lab.switch();
    let Some((home, upnp)) = lab.home_with_upnp(PUBLIC, net) else {
        return;
    };
    for signal in ["HUP", "TERM"] {
        let pair = native_pty_system().openpty(PtySize::default()).unwrap();
        let mut command = CommandBuilder::new("ip");
        command.args(&lab.inside(home)[1..]);
        command.arg(fairdeal().get_program());
        command.args(["--name", "Ada", "host", "loot", "--seats", "2", "--no-lan"]);
        command.env("FAIRDEAL_DATA_DIR", root.path().join(signal));
        command.env("TERM", "xterm-256color");
        let mut child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let mut output = pair.master.try_clone_reader().unwrap();
        std::thread::spawn(move || std::io::copy(&mut output, &mut std::io::sink()));
        wait_until("the table's port is open", || !upnp.opened().is_empty());
        let id = child.process_id().unwrap().to_string();
        let sent = Command::new("kill").args(["-s", signal, &id]).status();
        assert!(sent.unwrap().success());
        child.wait().unwrap();
        is_closed(&upnp, signal);
    }
}

/// Several tables behind one router take a port each, and each closes its own.
#[test]
fn tables_behind_one_router_close_their_own_ports() {
    let Some(mut lab) = Lab::new() else { return };
    let root = TempDir::new().unwrap();
    let net = lab.switch();
    let Some((home, upnp)) = lab.home_with_upnp(PUBLIC, net) else {
        return;
    };
    let (mut first, _) = host(&lab, home, root.path(), "first");
    let (mut second, _) = host(&lab, home, root.path(), "second");
    let both = upnp.opened().len();
    first.signal("TERM");
    first.finish();
    let left = upnp.opened().len();
    assert!(0 < left && left < both, "{left} of {both}");
    second.signal("TERM");
    second.finish();
    is_closed(&upnp, "both");
}

/// The router's own address is one of another LAN: a port there leads nowhere.
#[test]
fn a_router_behind_another_one_is_told() {
    let Some(mut lab) = Lab::new() else { return };
    let root = TempDir::new().unwrap();
    let net = lab.switch();
    let Some((home, upnp)) = lab.home_with_upnp("192.168.200.2/24", net) else {
        return;
    };
    let (said, code) = lab.doctor(home, root.path());
    assert_eq!(code, Some(0));
    assert!(said["UPnP"].starts_with("-- the router is behind another one"), "{said:?}");
    let game = ["bot", "host", "loot", "--seats", "2", "--json"];
    let mut host = lab.start(home, root.path(), "host", &game);
    let told = host.wait_for("reach").unwrap();
    assert!(told["message"].as_str().unwrap().contains("behind another one"), "{told}");
    is_closed(&upnp, "nothing was opened");
}
