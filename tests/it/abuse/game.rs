//! One game between two programs, with or without strangers that attack them or their relay.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::Command;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use fairdeal_peers::ticket::Ticket;
use fairdeal_protocol::hash::Hash32;
use serde_json::Value;
use tempfile::TempDir;

use super::mischief::{Attack, Kind, Victim};
use crate::process::{Program, fairdeal};

const LISTEN: [&str; 2] = ["--listen", "/ip4/127.0.0.1/tcp/0"];
const PASSWORD: &str = "open sesame";
/// Memory limit of a program under attack, in KiB. An idle seat takes 18 MiB; the worst measured attack took it to 52
/// MiB.
const MAX_MEMORY: u64 = 96 * 1024;
/// Strikes before the guest joins.
const BEGUN: usize = 16;
/// Time limit for an attack to begin.
const BEGINNING: Duration = Duration::from_secs(20);

/// The target of the attack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Setting {
    /// Both seats of an open table.
    Open,
    /// Both seats of a table with a password.
    Locked,
    /// The relay through which the guest finds the host. On one machine a direct connection soon replaces the circuit.
    Relayed,
}

/// Measurements of several games.
#[derive(Default)]
pub(super) struct Figures {
    pub(super) games: usize,
    /// Time from each action to the next.
    pub(super) moves: Vec<Duration>,
    /// Time from the start of the guest's program to its seat.
    pub(super) joins: Vec<Duration>,
    /// Peak memory of any program, in KiB.
    pub(super) memory: u64,
    pub(super) strikes: usize,
}

impl Figures {
    pub(super) fn add(&mut self, other: Self) {
        self.games += other.games;
        self.moves.extend(other.moves);
        self.joins.extend(other.joins);
        self.memory = self.memory.max(other.memory);
        self.strikes += other.strikes;
    }
}

/// Plays one game. The attack begins before the guest joins.
///
/// The returned thread waits for the programs to end, and panics if one of them misbehaves.
pub(super) fn play(setting: Setting, target: &str, mut abuse: Option<(Attack, &[Kind])>) -> (Figures, JoinHandle<()>) {
    let folder = TempDir::new().unwrap();
    let root = folder.path();
    let relay = (setting == Setting::Relayed).then(|| relay(root));
    let mut more = vec!["--bot-delay", "0"];
    if let Some((_, address)) = &relay {
        more.extend(["--relay", address]);
    }
    if setting == Setting::Locked {
        more.push("--password");
    }
    let option = format!("target={target}");
    let host = ["bot", "host", "loot", "--seats", "2", "--json", "--option"];
    let host = [&host[..], &[&option], &LISTEN, &more].concat();
    let mut host = Program::start_recorded(program(), root, "host", &host);
    let ticket = host.ticket();
    let found: Ticket = ticket.parse().unwrap();

    let at_relay = relay.as_ref().map(|(relay, _)| victim(relay, None));
    let victim_host = at_relay.clone().unwrap_or_else(|| victim(&host, Some(found.lobby())));
    if let Some((attack, kinds)) = &mut abuse {
        attack.begin(kinds, &victim_host);
        let begins = Instant::now();
        while attack.strikes() < BEGUN {
            assert!(begins.elapsed() < BEGINNING, "no abuse by {kinds:?}");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    let target = if relay.is_some() {
        circuit(&found).unwrap_or_else(|| panic!("no relay in the ticket: {:?}", host.events))
    } else {
        ticket
    };
    let join = ["bot", "join", &target, "--json"];
    let join = [&join[..], &LISTEN, &more].concat();
    let joins = Instant::now();
    let mut guest = Program::start_recorded(program(), root, "guest", &join);
    let started = guest.wait_for("started").expect("the guest is seated");
    let joins = joins.elapsed();
    let table = started["table"].as_str().and_then(Hash32::from_hex);
    *victim_host.table.lock().unwrap() = table;
    if let Some((attack, kinds)) = &mut abuse
        && at_relay.is_none()
    {
        let victim = Victim { table: victim_host.table.clone(), ..victim(&guest, Some(found.lobby())) };
        attack.begin(kinds, &victim);
    }

    let (moves, over, mut memory) = watch(&mut host, &guest);
    if let Some((relay, _)) = &relay {
        memory = memory.max(relay.peak_memory().expect("the relay runs"));
    }
    assert!(memory < MAX_MEMORY, "a program has taken {memory} KiB");
    let strikes = abuse.map_or(0, |(attack, _)| attack.end());
    let figures = Figures { games: 1, moves, joins: vec![joins], memory, strikes };
    let relay = relay.map(|(relay, _)| relay);
    // Programs stay for a few seconds after a game; the next game need not wait for them.
    let ending = std::thread::spawn(move || end(folder, over, host, guest, relay));
    (figures, ending)
}

/// Waits until the programs of a game have ended normally, and audits the game.
fn end(folder: TempDir, over: Value, mut host: Program, mut guest: Program, relay: Option<Program>) {
    let other = guest.wait_for("over").expect("the guest's game ends");
    assert_eq!(over["log"], other["log"]);
    for program in [&mut host, &mut guest] {
        assert!(program.finish().success());
        assert_calm(program);
    }
    if let Some(mut relay) = relay {
        assert!(relay.is_running());
        assert_calm(&relay);
    }
    for over in [over, other] {
        let transcript = over["transcript"].as_str().unwrap();
        let report = fairdeal().arg("verify").arg(transcript).output().unwrap();
        assert_eq!(report.status.code(), Some(0), "{report:?}");
    }
    folder.close().unwrap();
}

/// The program, with the password in its environment.
fn program() -> Command {
    let mut command = fairdeal();
    command.env("FAIRDEAL_PASSWORD", PASSWORD);
    command
}

/// A relay and its address.
fn relay(root: &Path) -> (Program, String) {
    let args = [&["relay"], &LISTEN[..]].concat();
    let mut relay = Program::start_recorded(program(), root, "relay", &args);
    loop {
        let line = relay.line().expect("it says where it listens");
        if let Some(address) = line.split_whitespace().find(|word| word.starts_with("/ip4")) {
            return (relay, address.to_owned());
        }
    }
}

/// The address of the host through its relay, if the ticket contains one.
fn circuit(ticket: &Ticket) -> Option<String> {
    let mut addresses = ticket.addresses().iter().map(ToString::to_string);
    let through = addresses.find(|address| address.ends_with("p2p-circuit"))?;
    Some(format!("{through}/p2p/{}", ticket.host()))
}

/// Reads to the end of the game. Returns the time from each action to the next, the last event, and the peak memory of
/// a seat in KiB.
fn watch(host: &mut Program, guest: &Program) -> (Vec<Duration>, Value, u64) {
    let mut moves = Vec::new();
    let mut last: Option<Instant> = None;
    let mut memory = 0;
    loop {
        let kinds = ["action", "deal", "over"];
        let event = host
            .wait_for_matching(|event| kinds.iter().any(|kind| event["event"] == *kind))
            .expect("the host's game ends");
        let now = Instant::now();
        // The programs may end right after the game, so not every sample succeeds.
        if moves.len().is_multiple_of(8) || event["event"] == "over" {
            let peaks = [&*host, guest].map(|seat| seat.peak_memory().unwrap_or(0));
            memory = peaks.into_iter().fold(memory, u64::max);
        }
        match event["event"].as_str() {
            Some("action") => moves.extend(last.replace(now).map(|then| now - then)),
            Some("over") => return (moves, event, memory),
            // Deals do not count as moves.
            _ => last = None,
        }
    }
}

/// Asserts that no task of a program has panicked.
fn assert_calm(program: &Program) {
    let errors = program.errors();
    assert!(!errors.contains("panicked"), "{errors}");
}

/// The attackers' view of a program.
fn victim(program: &Program, lobby: Option<[u8; 8]>) -> Victim {
    let port = listening_port(program.id()).expect("it listens");
    Victim { address: SocketAddr::from((Ipv4Addr::LOCALHOST, port)), lobby, table: Default::default() }
}

/// The TCP port on which a process listens; a guest does not announce its port.
fn listening_port(id: u32) -> Option<u16> {
    let files = std::fs::read_dir(format!("/proc/{id}/fd")).unwrap();
    let sockets: BTreeSet<String> = files
        .filter_map(|file| std::fs::read_link(file.ok()?.path()).ok())
        .filter_map(|link| {
            let inode = link.to_str()?.strip_prefix("socket:[")?;
            Some(inode.strip_suffix(']')?.to_owned())
        })
        .collect();
    let all = std::fs::read_to_string("/proc/net/tcp").unwrap();
    all.lines().find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let listens = *fields.get(3)? == "0A" && sockets.contains(*fields.get(9)?);
        let (_, port) = fields.get(1)?.split_once(':')?;
        listens.then(|| u16::from_str_radix(port, 16).ok())?
    })
}
