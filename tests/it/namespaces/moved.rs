//! Games whose players have got other addresses, several at once: another router, another house, a café.

use std::time::{Duration, Instant};

use fairdeal_peers::ticket::Ticket;
use serde_json::Value;
use tempfile::TempDir;

use super::lab::{Lab, Node};
use super::{LAN, NAMES, all_over};
use crate::process::Program;

/// Arguments for the host of a game that outlasts a move.
const LOOT: [&str; 5] = ["bot", "host", "loot", "--option", "target=40"];
/// Where the machines of [`LAN`] are after the move.
const MOVED: [&str; 3] = ["10.0.0.101/24", "10.0.0.102/24", "10.0.0.103/24"];
const SLOW: [&str; 3] = ["--json", "--bot-delay", "100"];

/// A lab with machines, and where their data is.
struct Homes {
    lab: Lab,
    root: TempDir,
    machines: Vec<Node>,
}

impl Homes {
    fn new(count: usize) -> Option<Self> {
        let mut lab = Lab::new()?;
        let switch = lab.switch();
        let machines = LAN[..count].iter().map(|address| lab.lan_machine(address, switch).0).collect();
        let root = TempDir::new().unwrap();
        Some(Self { lab, root, machines })
    }

    fn start(&self, number: usize, args: &[&str]) -> Program {
        let args = [args, &SLOW].concat();
        self.lab.start(self.machines[number], self.root.path(), NAMES[number], &args)
    }

    fn resume(&self, number: usize, args: &[&str]) -> Program {
        self.start(number, &[&["resume", "--headless"], args].concat())
    }

    fn moves(&self, number: usize) {
        self.lab.move_to(self.machines[number], LAN[number], MOVED[number]);
    }

    /// A game in play between all machines, the first of which is the host; each has the seat of its number.
    fn play(&self, args: &[&str]) -> (Vec<Program>, String) {
        self.play_to("target=40", args)
    }

    fn play_to(&self, target: &str, args: &[&str]) -> (Vec<Program>, String) {
        let seats = self.machines.len().to_string();
        let host = ["bot", "host", "loot", "--option", target, "--seats", &seats];
        let mut all = vec![self.start(0, &[&host[..], args].concat())];
        let ticket = all[0].ticket();
        for number in 1..self.machines.len() {
            let mut guest = self.start(number, &[&["bot", "join", &ticket], args].concat());
            guest.wait_for("seated").expect("there is a seat");
            all.push(guest);
        }
        for program in &mut all {
            program.wait_for("action").expect("the game begins");
        }
        (all, ticket)
    }
}

/// Waits until a program has a connection with a seat.
fn meets(program: &mut Program, seat: u8) {
    let is_it = |event: &Value| event["event"] == "peer" && event["seat"] == seat && event["state"] == "connected";
    let met = program.wait_for_matching(is_it);
    assert!(met.is_some(), "they find each other: {:?}", program.events);
}

#[test]
fn players_who_both_moved_find_each_other_on_the_lan() {
    let Some(homes) = Homes::new(2) else { return };
    let (mut before, _) = homes.play(&[]);
    before.iter_mut().for_each(Program::kill);
    homes.moves(0);
    homes.moves(1);
    let since = Instant::now();
    let mut host = homes.resume(0, &[]);
    let mut guest = homes.resume(1, &[]);
    guest.wait_for("action").expect("the game goes on");
    println!("both moved: goes on after {:?}", since.elapsed());
    assert!(since.elapsed() < Duration::from_secs(40));
    let ticket: Ticket = host.ticket().parse().unwrap();
    assert!(ticket.addresses()[0].to_string().starts_with("/ip4/10.0.0.101/"), "{ticket:?}");
    all_over(&mut [host, guest]);
}

/// A program that keeps running moves too: a laptop that sleeps, and wakes in another network.
#[test]
fn programs_that_run_on_find_each_other_after_a_move() {
    let Some(homes) = Homes::new(2) else { return };
    let (mut programs, _) = homes.play(&[]);
    homes.moves(0);
    homes.moves(1);
    let since = Instant::now();
    for program in &mut programs {
        let is_lost = |event: &Value| event["event"] == "peer" && event["state"] == "lost";
        program.wait_for_matching(is_lost).expect("the move is noticed");
    }
    meets(&mut programs[1], 0);
    println!("both moved while running: connected after {:?}", since.elapsed());
    all_over(&mut programs);
}

/// Without the LAN, one of them needs the other's new ticket. Nobody else gets a seat with it.
#[test]
fn ticket_of_a_resumed_seat_is_for_its_players() {
    let Some(homes) = Homes::new(3) else { return };
    let hidden = ["--no-lan"];
    let seats = ["--seats", "2"];
    let mut host = homes.start(0, &[&LOOT[..], &seats, &hidden].concat());
    let old = host.ticket();
    let mut guest = homes.start(1, &[&["bot", "join", &old], &hidden[..]].concat());
    guest.wait_for("action").unwrap();
    host.kill();
    guest.kill();
    homes.moves(0);
    homes.moves(1);
    let mut guest = homes.resume(1, &hidden);
    let ticket = guest.ticket();
    for (args, reason) in
        [(["bot", "join", &ticket], "already playing"), (["watch", &ticket, "--headless"], "does not admit spectators")]
    {
        let mut stranger =
            homes.lab.start(homes.machines[2], homes.root.path(), "stranger", &[&args[..], &["--json"]].concat());
        let refused = stranger.wait_for("error").unwrap();
        let why = refused["message"].as_str().unwrap();
        assert!(why.contains(reason) || why.contains("not admit"), "{why}");
    }
    let resume = ["resume", &ticket, "--headless"];
    let mut other = homes.lab.start(homes.machines[2], homes.root.path(), "stranger", &resume);
    assert_eq!(other.finish().code(), Some(1), "a stranger has no saved game");
    let host = homes.resume(0, &[&hidden[..], &[&ticket]].concat());
    all_over(&mut [host, guest]);
}

/// Both have moved and know one relay. There they find each other by their keys, and nobody else finds a table.
#[test]
fn players_who_both_moved_meet_at_a_relay() {
    let Some(homes) = Homes::new(3) else { return };
    let mut relay = homes.lab.start(homes.machines[2], homes.root.path(), "relay", &["relay"]);
    let address = loop {
        let line = relay.line().expect("a relay says its addresses");
        if line.trim().starts_with("/ip4/10.0.0.3/tcp/") {
            break line.trim().to_owned();
        }
    };
    let hidden = ["--no-lan"];
    let mut host = homes.start(0, &[&LOOT[..], &["--seats", "2"], &hidden].concat());
    let mut guest = homes.start(1, &["bot", "join", &host.ticket(), "--no-lan"]);
    guest.wait_for("action").unwrap();
    host.kill();
    guest.kill();
    homes.moves(0);
    homes.moves(1);
    let since = Instant::now();
    let host = homes.resume(0, &["--no-lan", "--relay", &address]);
    let mut guest = homes.resume(1, &["--no-lan", "--meet", &address]);
    guest.wait_for("action").expect("the game goes on");
    println!("both moved, with a relay: goes on after {:?}", since.elapsed());
    let list = ["join", "--meet", &address, "--list", "--json"];
    let mut list = homes.lab.start(homes.machines[2], homes.root.path(), "list", &list);
    assert_eq!(list.rest(), Vec::<String>::new(), "the table is not listed");
    all_over(&mut [host, guest]);
}

/// Two seats that have moved find each other through a third one that has not.
#[test]
fn new_addresses_travel_through_a_third_seat() {
    let Some(homes) = Homes::new(3) else { return };
    let hidden = ["--no-lan"];
    let (mut before, _) = homes.play_to("target=200", &hidden);
    let _third = before.pop().unwrap();
    before.iter_mut().for_each(Program::kill);
    homes.moves(0);
    homes.moves(1);
    let since = Instant::now();
    let mut host = homes.resume(0, &hidden);
    let mut second = homes.resume(1, &hidden);
    meets(&mut host, 1);
    meets(&mut second, 0);
    println!("two moved, one did not: connected after {:?}", since.elapsed());
}

/// A ticket, an address or a table that does not fit is refused before anything happens.
#[test]
fn other_tickets_resume_nothing() {
    let Some(homes) = Homes::new(2) else { return };
    let (mut before, _) = homes.play(&[]);
    before.iter_mut().for_each(Program::kill);
    let mut other = homes.lab.start(
        homes.machines[0],
        homes.root.path(),
        "other",
        &[&LOOT[..], &["--seats", "2", "--json"]].concat(),
    );
    let ticket = other.ticket();
    let run = |args: &[&str]| {
        let words = [&homes.lab.inside(homes.machines[1])[1..], &[env!("CARGO_BIN_EXE_fairdeal")], args].concat();
        let output =
            std::process::Command::new("ip").args(words).env("FAIRDEAL_DATA_DIR", &before[1].data).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    for (word, reason) in [
        (ticket.as_str(), "none of the other players"),
        ("fd1nonsense", "no saved game begins with"),
        ("/ip4/10.0.0.9/tcp/1", "/p2p/"),
    ] {
        let (code, text) = run(&["resume", word, "--headless"]);
        assert!(code != Some(0) && text.contains(reason), "{word}: {text}");
    }
    let (code, text) = run(&["resume", "--relay", "/ip4/10.0.0.9/tcp/1", "--headless"]);
    assert_eq!(code, Some(2), "{text}");
    assert!(other.is_running());
}
