//! Whole games between separate machines: on a LAN, behind routers, and over failing links.
//!
//! Each machine is a Linux network namespace. On another system, or without privileges, `ip` or `nft`, the tests say so
//! and pass.

mod bridges;
mod browsers;
mod doctor;
mod lab;
mod moved;
mod upnp;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use fairdeal_peers::Multiaddr;
use fairdeal_peers::ticket::Ticket;
use portable_pty::CommandBuilder;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::process::{Program, fairdeal};
use super::screen::{Player, terminals_work};
use lab::Lab;

const LAN: [&str; 4] = ["10.0.0.1/24", "10.0.0.2/24", "10.0.0.3/24", "10.0.0.4/24"];
/// Arguments for the host of a short game.
const LOOT: [&str; 6] = ["bot", "host", "loot", "--json", "--option", "target=20"];
const NAMES: [&str; 4] = ["host", "second", "third", "fourth"];

/// Every program reports the end of the game with the same log, and the transcript is fair.
fn all_over(programs: &mut [Program]) {
    let overs: Vec<Value> =
        programs.iter_mut().map(|program| program.wait_for("over").expect("the game ends")).collect();
    for (program, over) in programs.iter_mut().zip(&overs) {
        assert_eq!(over["log"], overs[0]["log"]);
        assert_eq!(over["scores"], overs[0]["scores"]);
        assert!(program.finish().success());
    }
    let transcript = overs[0]["transcript"].as_str().unwrap();
    let report = fairdeal().arg("verify").arg(transcript).output().unwrap();
    assert_eq!(report.status.code(), Some(0), "{report:?}");
}

/// A game at a table of `seats` that the guests find on the LAN.
fn on_a_lan(game: &[&str], seats: usize) {
    let Some(mut lab) = Lab::new() else { return };
    let root = TempDir::new().unwrap();
    let switch = lab.switch();
    let machines: Vec<_> = LAN[..seats].iter().map(|address| lab.lan_machine(address, switch).0).collect();
    let count = seats.to_string();
    let host = [&["bot", "host"], game, &["--seats", &count, "--json"]].concat();
    let mut programs = vec![lab.start(machines[0], root.path(), NAMES[0], &host)];
    programs[0].ticket();
    let joins = Instant::now();
    for (machine, name) in machines.iter().zip(NAMES).skip(1) {
        let guest = ["bot", "join", "--json"];
        programs.push(lab.start(*machine, root.path(), name, &guest));
    }
    for _ in 1..seats {
        programs[0].wait_for("seated").unwrap();
        println!("{seats} seats on a LAN: seated after {:?}", joins.elapsed());
    }
    all_over(&mut programs);
    println!("{seats} seats on a LAN: over after {:?}", joins.elapsed());
}

#[test]
fn two_machines_of_a_lan_find_each_other() {
    on_a_lan(&["loot", "--option", "target=1"], 2);
}

#[test]
fn three_machines_of_a_lan_find_each_other() {
    on_a_lan(&["sphinxs-paw"], 3);
}

/// Machines that have no IPv4 address find each other by IPv6, and play.
#[test]
fn machines_without_ipv4_find_each_other() {
    let Some(mut lab) = Lab::new() else { return };
    let root = TempDir::new().unwrap();
    let switch = lab.switch();
    let [host_machine, guest_machine] = ["fd00::1/64", "fd00::2/64"].map(|address| lab.machine_at(&[address], switch));
    let host = ["bot", "host", "loot", "--option", "target=1", "--seats", "2", "--json"];
    let mut host = lab.start(host_machine, root.path(), "host", &host);
    let ticket = host.ticket();
    let joins = Instant::now();
    let guest = lab.start(guest_machine, root.path(), "guest", &["bot", "join", "--json"]);
    host.wait_for("seated").unwrap();
    println!("a LAN without IPv4: seated after {:?}", joins.elapsed());
    let ticket: Ticket = ticket.parse().unwrap();
    let told = |address: &Multiaddr| address.to_string().starts_with("/ip6/fd00::1/");
    assert!(ticket.addresses().iter().all(told), "{ticket:?}");
    all_over(&mut [host, guest]);
}

/// A table that answers by IPv4 and IPv6 is one table.
#[test]
fn table_with_two_addresses_is_listed_once() {
    let Some(mut lab) = Lab::new() else { return };
    if !terminals_work() {
        return;
    }
    let root = TempDir::new().unwrap();
    let switch = lab.switch();
    let [host_machine, guest_machine] = [["10.0.0.1/24", "fd00::1/64"], ["10.0.0.2/24", "fd00::2/64"]]
        .map(|addresses| lab.machine_at(&addresses, switch));
    let mut host = lab.start(host_machine, root.path(), "host", &[&LOOT[..], &["--seats", "2"]].concat());
    host.ticket();
    let log = root.path().join("browser.log");
    let mut browse = CommandBuilder::new("ip");
    browse.args(&lab.inside(guest_machine)[1..]);
    browse.args([fairdeal().get_program().to_str().unwrap(), "-vv", "--log", log.to_str().unwrap(), "join"]);
    let browser = Player::starts(&root.path().join("browser"), browse);
    browser.sees("table", |shown| shown.contains("  1  "));
    // The browser logs each address that it discovers.
    let found = |address: &str| {
        let log = std::fs::read_to_string(&log).unwrap();
        log.lines().any(|line| line.contains("discovered peer") && line.contains(address))
    };
    browser.sees("both addresses", |_| ["/ip4/10.0.0.1/", "/ip6/fd00::1/"].into_iter().all(found));
    std::thread::sleep(Duration::from_millis(1500));
    let shown = browser.sees("table", |_| true);
    assert!(!shown.contains("  2  "), "{shown}");
}

/// The bot reports this as an event, and any termination signal ends it.
#[test]
fn bot_that_finds_no_table_says_so() {
    let Some(mut lab) = Lab::new() else { return };
    let root = TempDir::new().unwrap();
    let switch = lab.switch();
    let machine = lab.lan_machine(LAN[0], switch).0;
    for signal in ["TERM", "HUP", "INT"] {
        let guest = ["bot", "join", "--json"];
        let mut guest = lab.start(machine, root.path(), NAMES[1], &guest);
        let told = guest.wait_for("reaching").unwrap();
        assert_eq!(told["seconds"], 30);
        assert!(told["why"].as_str().unwrap().contains("network"), "{told}");
        guest.signal(signal);
        assert_eq!(guest.finish().code(), Some(130), "{signal}");
    }
}

/// The host's bot listens only on the host's machine, so it dials a guest on another machine.
#[test]
fn a_bot_of_the_host_reaches_a_guest() {
    let Some(mut lab) = Lab::new() else { return };
    let root = TempDir::new().unwrap();
    let switch = lab.switch();
    let [host_machine, guest_machine] = [LAN[0], LAN[1]].map(|address| lab.lan_machine(address, switch).0);
    let slow = ["--bot-delay", "500", "--json"];
    let host = [&["bot", "host", "loot", "--seats", "3", "--bots", "1"], &slow[..]].concat();
    let mut host = lab.start(host_machine, root.path(), NAMES[0], &host);
    let ticket = host.ticket();
    let guest = [&["bot", "join", &ticket], &slow[..]].concat();
    let mut guest = lab.start(guest_machine, root.path(), NAMES[1], &guest);
    let bot = json!({"v": 1, "event": "peer", "seat": 1, "state": "connected"});
    let connected = guest.wait_for_matching(|event| *event == bot || event["event"] == "over");
    assert_eq!(connected, Some(bot));
}

/// A program returns to its table after its machine's address has changed.
#[test]
fn a_seat_resumes_from_another_address() {
    let Some(mut lab) = Lab::new() else { return };
    let root = TempDir::new().unwrap();
    let switch = lab.switch();
    let [host_machine, guest_machine] = [LAN[0], LAN[1]].map(|address| lab.lan_machine(address, switch).0);
    let slow = ["--bot-delay", "50"];
    let host = [&LOOT[..], &["--seats", "2"], &slow].concat();
    let mut host = lab.start(host_machine, root.path(), NAMES[0], &host);
    let ticket = host.ticket();
    let listen = ["--json", "--listen", "/ip4/10.0.0.2/tcp/0"];
    let guest = [&["bot", "join", &ticket], &listen[..], &slow].concat();
    let mut guest = lab.start(guest_machine, root.path(), NAMES[1], &guest);
    guest.wait_for("action").expect("it plays");
    guest.kill();
    lab.move_to(guest_machine, LAN[1], LAN[2]);
    let resume = ["resume", "--headless", "--json"];
    let guest = lab.start(guest_machine, root.path(), NAMES[1], &resume);
    all_over(&mut [host, guest]);
}

/// Two homes play, each behind its router, with the help of a relay that both can reach.
fn behind_routers(apart: bool) {
    let Some(mut lab) = Lab::new() else { return };
    let root = TempDir::new().unwrap();
    let net = lab.switch();
    let public = lab.machine();
    lab.plug(public, "eth0", "203.0.113.1/24", net);
    let (host_machine, host_port) = lab.home("203.0.113.11/24", net);
    let (guest_machine, guest_port) = lab.home("203.0.113.12/24", net);
    if apart {
        lab.part(&[&host_port, &guest_port]);
    }
    let mut relay = lab.start(public, root.path(), "relay", &["relay"]);
    let address = loop {
        let line = relay.line().expect("a relay says its addresses");
        let line = line.trim();
        if line.starts_with("/ip4/203.0.113.1/tcp/") {
            break line.to_owned();
        }
    };
    let logs = ["host", "guest"].map(|name| root.path().join(name).with_extension("log"));
    let [host_log, guest_log] = logs.each_ref().map(|log| log.to_str().unwrap());
    let host = [
        &["bot", "host", "loot", "--option", "target=20", "--seats", "2"],
        &["--relay", &address, "--json", "-v", "--log", host_log][..],
    ];
    let mut host = lab.start(host_machine, root.path(), "host", &host.concat());
    let ticket = host
        .wait_for_matching(|event| event["ticket"].is_string() && event.to_string().contains("p2p-circuit"))
        .expect("the relay takes the host");
    let joins = Instant::now();
    let guest = ["bot", "join", ticket["ticket"].as_str().unwrap(), "--json", "-v", "--log", guest_log];
    let guest = lab.start(guest_machine, root.path(), "guest", &guest);
    host.wait_for("seated").unwrap();
    println!("through a relay (apart: {apart}): seated after {:?}", joins.elapsed());
    all_over(&mut [host, guest]);
    println!("through a relay (apart: {apart}): over after {:?}", joins.elapsed());
    for line in logs.iter().flat_map(lines_of_reach) {
        println!("through a relay (apart: {apart}): {line}");
    }
}

/// Lines of a log about routes to peers.
fn lines_of_reach(log: &PathBuf) -> Vec<String> {
    let text = std::fs::read_to_string(log).unwrap();
    let lines = text.lines().filter(|line| line.contains("reach news="));
    lines.map(str::to_owned).collect()
}

/// Two homes without a relay: the guest reads at once that the ticket leads nowhere from there, and what to ask for.
#[test]
fn a_ticket_of_another_home_is_told_before_the_first_attempt_fails() {
    let Some(mut lab) = Lab::new() else { return };
    let root = TempDir::new().unwrap();
    let net = lab.switch();
    let (host_machine, _) = lab.home("203.0.113.11/24", net);
    let (guest_machine, _) = lab.home("203.0.113.12/24", net);
    let mut host = lab.start(host_machine, root.path(), "host", &["bot", "host", "loot", "--seats", "2", "--json"]);
    let ticket = host.ticket();
    let mut guest = lab.start(guest_machine, root.path(), "guest", &["bot", "join", &ticket, "--json"]);
    let told = guest.wait_for("reaching").expect("it tells what it waits for");
    let why = told["why"].as_str().unwrap_or_default();
    assert!(why.starts_with("this ticket works only in the host's own network"), "{told}");
    assert!(told["seconds"].as_u64() > Some(55), "{told}");
    // On the host's own network there is no doubt.
    let mut near = lab.start(host_machine, root.path(), "near", &["bot", "join", &ticket, "--json"]);
    near.wait_for("seated").expect("it sits down");
    assert!(!near.events.iter().any(|event| event["why"].is_string()), "{:?}", near.events);
}

/// A router without UPnP forwards a port: the host names the address outside, and the ticket holds it.
#[test]
fn a_forwarded_port_is_in_the_ticket() {
    let Some(mut lab) = Lab::new() else { return };
    let root = TempDir::new().unwrap();
    let net = lab.switch();
    let (host_machine, _) = lab.home("203.0.113.11/24", net);
    let (guest_machine, _) = lab.home("203.0.113.12/24", net);
    lab.forward(host_machine, 4001);
    let place = ["--listen", "/ip4/0.0.0.0/tcp/4001", "--external", "/ip4/203.0.113.11/tcp/4001"];
    let host = [&["bot", "host"][..], &LOOT[2..], &["--seats", "2"], &place].concat();
    let mut host = lab.start(host_machine, root.path(), "host", &host);
    let ticket = host.ticket();
    let found: Ticket = ticket.parse().unwrap();
    let outside: Multiaddr = "/ip4/203.0.113.11/tcp/4001".parse().unwrap();
    assert_eq!(found.addresses().first(), Some(&outside));
    let guest = lab.start(guest_machine, root.path(), "guest", &["bot", "join", &ticket, "--json"]);
    all_over(&mut [host, guest]);
}

/// A host behind a router that opens no port calls back a guest that can be reached, and again after the guest's program
/// was killed at the table.
#[test]
fn a_host_that_nobody_reaches_calls_its_guest_back() {
    let Some(mut lab) = Lab::new() else { return };
    let root = TempDir::new().unwrap();
    let net = lab.switch();
    let (host_machine, _) = lab.home("203.0.113.11/24", net);
    let guest_machine = lab.machine();
    lab.plug(guest_machine, "eth0", "203.0.113.12/24", net);
    let host = [&LOOT[..], &["--seats", "2", "--bot-delay", "50"]].concat();
    let mut host = lab.start_reading(host_machine, root.path(), "host", &host);
    let ticket = host.ticket();
    let join = ["bot", "join", &ticket, "--json", "--call-back", "--bot-delay", "50"];
    let mut guest = lab.start(guest_machine, root.path(), "guest", &join);
    let told = guest.wait_for_matching(|event| event["reply"].is_string()).expect("it has a reply");
    assert!(told["seconds"].as_u64() > Some(590), "{told}");
    let reply = told["reply"].as_str().unwrap();
    // As chats break it, after other words.
    let (start, end) = reply.split_at(50);
    host.write(&format!("hello\n{ticket}\nthe reply is {start}\n{end}\n"));
    host.wait_for("seated").expect("the guest sits down");
    guest.wait_for("action").expect("they play");
    guest.kill();
    let resume = ["resume", "--headless", "--json"];
    let guest = lab.start(guest_machine, root.path(), "guest", &resume);
    all_over(&mut [host, guest]);
}

/// A firewall drops what the guest sends, so its attempts last. The host dials it meanwhile, at first and after a cut.
#[test]
fn a_host_behind_a_firewall_calls_its_guest_back() {
    let Some(mut lab) = Lab::new() else { return };
    let root = TempDir::new().unwrap();
    let switch = lab.switch();
    let (host_machine, _) = lab.lan_machine(LAN[0], switch);
    let (guest_machine, port) = lab.lan_machine(LAN[1], switch);
    lab.wall(host_machine);
    let host = [&LOOT[..], &["--seats", "2", "--bot-delay", "100"]].concat();
    let mut host = lab.start_reading(host_machine, root.path(), "host", &host);
    let ticket = host.ticket();
    let join = ["bot", "join", &ticket, "--json", "--call-back", "--bot-delay", "100"];
    let mut guest = lab.start(guest_machine, root.path(), "guest", &join);
    // Its second attempt lasts now. The first one began before the guest listened.
    let told = guest.wait_for_matching(|event| event["seconds"] == 580).expect("it tells what it waits for");
    host.write(&format!("{}\n", told["reply"].as_str().unwrap()));
    let called = |event: &Value| event["message"].as_str().is_some_and(|words| words.starts_with("Calling back: "));
    let seated = host.wait_for_matching(|event| event["event"] == "seated" || called(event)).unwrap();
    assert_eq!(seated["event"], "seated", "{seated}");
    guest.wait_for("action").expect("they play");
    lab.cable(&port, false);
    for program in [&mut host, &mut guest] {
        let lost = |event: &Value| event["event"] == "peer" && event["state"] == "lost";
        program.wait_for_matching(lost).expect("a cut is noticed");
    }
    lab.cable(&port, true);
    all_over(&mut [host, guest]);
}

#[test]
fn two_homes_play_through_a_relay() {
    behind_routers(false);
}

#[test]
fn two_homes_without_any_other_way_play_through_a_relay() {
    behind_routers(true);
}

/// A cable stays unplugged for longer than the idle timeout of a connection. The game continues when it is back.
#[test]
fn a_game_outlives_a_cut_link() {
    const OUT: Duration = Duration::from_secs(20);
    let Some(mut lab) = Lab::new() else { return };
    let root = TempDir::new().unwrap();
    let switch = lab.switch();
    let (one, _) = lab.lan_machine(LAN[0], switch);
    let (other, port) = lab.lan_machine(LAN[1], switch);
    let host = [&LOOT[..], &["--seats", "2", "--bot-delay", "100"]].concat();
    let mut host = lab.start(one, root.path(), "host", &host);
    let ticket = host.ticket();
    let guest = ["bot", "join", &ticket, "--json", "--bot-delay", "100"];
    let mut guest = lab.start(other, root.path(), "guest", &guest);
    guest.wait_for("action").unwrap();
    lab.cable(&port, false);
    std::thread::sleep(OUT);
    lab.cable(&port, true);
    let back = Instant::now();
    for program in [&mut host, &mut guest] {
        let lost = |event: &Value| event["event"] == "peer" && event["state"] == "lost";
        program.wait_for_matching(lost).expect("a cut is noticed");
        program.wait_for("action").expect("the game goes on");
    }
    println!("a cut link: goes on {:?} after it is back", back.elapsed());
    all_over(&mut [host, guest]);
    println!("a cut link: over {:?} after it is back", back.elapsed());
}

/// Every packet is late or slow, and one in twenty is lost.
#[test]
fn a_game_outlives_bad_links() {
    let Some(mut lab) = Lab::new() else { return };
    let root = TempDir::new().unwrap();
    let switch = lab.switch();
    let (one, one_port) = lab.lan_machine(LAN[0], switch);
    let (other, other_port) = lab.lan_machine(LAN[1], switch);
    lab.spoil(switch, &[&one_port, &other_port], "200ms");
    let host = ["bot", "host", "loot", "--option", "target=1", "--seats", "2", "--json"];
    let mut host = lab.start(one, root.path(), "host", &host);
    let ticket = host.ticket();
    let joins = Instant::now();
    let guest = lab.start(other, root.path(), "guest", &["bot", "join", &ticket, "--json"]);
    host.wait_for("seated").unwrap();
    println!("bad links: seated after {:?}", joins.elapsed());
    all_over(&mut [host, guest]);
    println!("bad links: over after {:?}", joins.elapsed());
}

/// Two guests reach the host but not each other.
#[test]
fn a_host_holds_two_guests_together() {
    let Some(mut lab) = Lab::new() else { return };
    let root = TempDir::new().unwrap();
    let switch = lab.switch();
    let (hub, _) = lab.lan_machine(LAN[0], switch);
    let (left, left_port) = lab.lan_machine(LAN[1], switch);
    let (right, right_port) = lab.lan_machine(LAN[2], switch);
    lab.part(&[&left_port, &right_port]);
    let host = [&LOOT[..], &["--seats", "3"]].concat();
    let mut host = lab.start(hub, root.path(), "host", &host);
    let ticket = host.ticket();
    let joins = Instant::now();
    let join = ["bot", "join", &ticket, "--json"];
    let left = lab.start(left, root.path(), "left", &join);
    let right = lab.start(right, root.path(), "right", &join);
    all_over(&mut [host, left, right]);
    println!("a partial mesh: over after {:?}", joins.elapsed());
}
