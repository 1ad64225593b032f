//! The example over TCP: whole games between real processes, with and without a player that is killed, and its rules.
//!
//! This test program contains the example, and starts itself once for each player.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use fairdeal_games::chance::RefereeChance;
use fairdeal_protocol::audit::auditor::audit;
use fairdeal_protocol::card::{Face, Slot};
use fairdeal_protocol::game::{Game as _, Illegal, Protocol, RuleSet};
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::timing::Timing;
use fairdeal_protocol::transcript::Transcript;
use tempfile::TempDir;

#[path = "../../protocol/examples/draw_poker/main.rs"]
mod example;

use example::rules::{DrawPoker, Exchange, GAME, VERSION, value};

/// The variable that turns this program into a player: its arguments, one a line.
const ARGUMENTS: &str = "DRAW_POKER_ARGUMENTS";
/// A player silent for this long hangs.
const SILENCE: Duration = Duration::from_secs(120);

/// The process of one player; no test of its own.
#[test]
fn player() {
    if let Ok(args) = std::env::var(ARGUMENTS) {
        example::run(args.lines().map(str::to_owned).collect()).unwrap();
    }
}

/// A player's process, killed when dropped.
struct Player {
    child: Child,
    lines: Receiver<String>,
    said: Vec<String>,
}

impl Drop for Player {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Player {
    fn start(args: &[&str]) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "draw_poker::player", "--nocapture", "--test-threads=1"])
            .env(ARGUMENTS, args.join("\n"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            let lines = stdout.lines().map_while(Result::ok);
            lines.map(|line| sender.send(line)).take_while(Result::is_ok).count()
        });
        Self { child, lines, said: Vec::new() }
    }

    /// Reads up to a line that contains this text, and returns what follows the text.
    fn wait_for(&mut self, text: &str) -> String {
        loop {
            let line = self
                .lines
                .recv_timeout(SILENCE)
                .unwrap_or_else(|error| panic!("no '{text}' ({error}) after {:#?}", self.said));
            self.said.push(line.clone());
            if let Some((_, rest)) = line.split_once(text) {
                return rest.to_owned();
            }
        }
    }

    /// Waits for the end of a process that succeeds.
    fn finish(&mut self) {
        self.wait_for("test result: ok. 1 passed");
        assert!(self.child.wait().unwrap().success());
    }

    /// Lines that begin so, in order.
    fn lines(&self, beginnings: &[&str]) -> Vec<&String> {
        self.said.iter().filter(|line| beginnings.iter().any(|text| line.starts_with(text))).collect()
    }

    fn says(&self, text: &str) -> bool {
        self.said.iter().any(|line| line.contains(text))
    }
}

/// A host, and the address at which it waits.
fn host(args: &[&str]) -> (Player, String) {
    let mut host = Player::start(args);
    let address = host.wait_for("Waiting at ");
    (host, address.trim_end_matches('.').to_owned())
}

fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap()
}

#[test]
fn three_processes_agree_on_the_result() {
    let root = TempDir::new().unwrap();
    let file = |name: &str| root.path().join(name);
    let save = |name: &str| file(name).to_str().unwrap().to_owned();
    let (host, address) = host(&["host", "3", "Ada", "--auto", "--save", &save("Ada")]);
    let guest = |name: &str| Player::start(&["join", &address, name, "--auto", "--save", &save(name)]);
    let mut players = [host, guest("Ben"), guest("Cleo")];
    players.iter_mut().for_each(Player::finish);
    // Every hand is shown once, and all processes print the same.
    let told: BTreeSet<Vec<&String>> =
        players.iter().map(|player| player.lines(&["Result: won by ", "Log: ", "Audit: fair."])).collect();
    assert_eq!(told.len(), 1, "{told:#?}");
    assert_eq!(told.first().unwrap().len(), 3, "{told:#?}");
    for player in &players {
        assert_eq!(player.said.iter().filter(|line| line.contains(" shows ")).count(), 3);
    }
    // The files are the same too, and a stranger finds every check in them.
    let bytes = read(&file("Ada"));
    assert!(bytes == read(&file("Ben")) && bytes == read(&file("Cleo")));
    let report = audit::<DrawPoker>(&Transcript::from_bytes(&bytes).unwrap());
    assert!(report.is_fair(), "{report:?}");
    assert_eq!((report.deals_opened, report.tally.shuffle_proofs), (1, 3));
    assert!(!report.winners.is_empty() && report.left.is_empty());
    // A changed file is refused.
    let mut changed = bytes;
    let middle = changed.len() / 2;
    changed[middle] ^= 1;
    let fair = Transcript::from_bytes(&changed).is_ok_and(|changed| audit::<DrawPoker>(&changed).is_fair());
    assert!(!fair);
}

#[test]
fn two_play_on_without_a_killed_player() {
    let (mut ada, address) = host(&["host", "3", "Ada", "--auto", "--absence", "3"]);
    let mut ben = Player::start(&["join", &address, "Ben", "--auto"]);
    ada.wait_for("Ben takes seat 1.");
    // Cleo is a person: the table waits for her to type.
    let mut cleo = Player::start(&["join", &address, "Cleo"]);
    cleo.wait_for("Your hand: ");
    cleo.child.kill().unwrap();
    ada.finish();
    ben.finish();
    for player in [&ada, &ben] {
        assert!(player.says("The connection to Cleo (seat 2) is lost."), "{:#?}", player.said);
        assert!(player.says("Cleo (seat 2) is removed, and the others play on."), "{:#?}", player.said);
        assert!(player.says("Cleo (seat 2) did not stay to the end."), "{:#?}", player.said);
        assert_eq!(player.said.iter().filter(|line| line.contains(" shows ")).count(), 2);
        assert!(player.says("Audit: fair."), "{:#?}", player.said);
    }
    let told = ["Result: won by ", "Log: "];
    assert_eq!(ada.lines(&told), ben.lines(&told));
    assert_eq!(ada.lines(&told).len(), 2, "{:#?}", ada.said);
}

#[test]
fn one_of_two_closes_the_table() {
    let (mut ada, address) = host(&["host", "2", "Ada", "--auto", "--absence", "2"]);
    let mut ben = Player::start(&["join", &address, "Ben"]);
    ben.wait_for("Your hand: ");
    ben.child.kill().unwrap();
    ada.finish();
    assert!(ada.says("the table is closed by claim: seat 0 gave up waiting for seat 1"), "{:#?}", ada.said);
    assert!(ada.says("Result: none, the game did not end."), "{:#?}", ada.said);
    assert!(ada.says("Audit: fair."), "{:#?}", ada.said);
}

/// A hand by the names of its cards.
fn hand(cards: &str) -> Vec<Face> {
    let game = dealt(2).0;
    let face = |name: &str| (0..52).map(Face).find(|face| game.card_name(*face) == name).unwrap();
    cards.split(' ').map(face).collect()
}

#[test]
fn hands_rank_by_the_rules_of_poker() {
    let rising = [
        "7♣ 5♣ 4♦ 3♥ 2♠",
        "A♣ K♣ Q♦ J♥ 9♠",
        "2♣ 2♦ 3♥ 4♠ 5♣",
        "2♣ 2♦ 3♥ 4♠ A♣",
        "A♣ A♦ K♥ Q♠ J♣",
        "2♣ 2♦ 3♥ 3♠ A♣",
        "2♣ 2♦ 4♥ 4♠ 3♣",
        "2♣ 2♦ 2♥ 4♠ 3♣",
        "A♣ 2♦ 3♥ 4♠ 5♣",
        "2♦ 3♥ 4♠ 5♣ 6♣",
        "10♣ J♦ Q♥ K♠ A♣",
        "2♣ 3♣ 4♣ 5♣ 7♣",
        "2♣ 2♦ 2♥ A♠ A♣",
        "3♣ 3♦ 3♥ 2♠ 2♣",
        "2♣ 2♦ 2♥ 2♠ 3♣",
        "A♥ 2♥ 3♥ 4♥ 5♥",
        "10♥ J♥ Q♥ K♥ A♥",
    ];
    let values: Vec<_> = rising.iter().map(|cards| value(&hand(cards))).collect();
    assert!(values.is_sorted_by(|one, next| one < next), "{values:?}");
    // Suits do not break a tie, and neither does the order of the cards.
    assert_eq!(value(&hand("2♣ 2♦ 3♥ 4♠ A♣")), value(&hand("A♠ 3♣ 4♦ 2♥ 2♠")));
    // Queen to three is no straight.
    assert_eq!(value(&hand("Q♣ K♦ A♥ 2♠ 3♣")).name(), "high card");
}

/// A game after the deal.
fn dealt(seats: u8) -> (DrawPoker, RefereeChance) {
    let rules = RuleSet {
        game: GAME.to_owned(),
        version: VERSION,
        seats,
        options: Default::default(),
        strict: false,
        timing: Timing::default(),
        protocol: Protocol::default(),
    };
    let mut game = DrawPoker::create(&rules).unwrap();
    let mut chance = RefereeChance::from_seed([seats; 32]);
    game.begin(&mut chance, &mut Vec::new()).unwrap();
    (game, chance)
}

#[test]
fn discards_are_cards_of_the_own_hand() {
    let (mut game, mut chance) = dealt(3);
    let seat = game.to_act().iter().next().unwrap();
    let cards: Vec<_> = game.hand(seat).iter().filter_map(|slot| slot.handle()).collect();
    let foreign = Seat::first(3).find(|other| *other != seat).unwrap();
    let foreign = game.hand(foreign)[0].handle().unwrap();
    for discards in [vec![foreign], vec![cards[0], cards[0]], vec![cards[1], cards[0]]] {
        let refused = game.check(seat, &Exchange { discards });
        assert!(matches!(refused, Err(Illegal::Rule(_))));
    }
    assert_eq!(game.legal(seat, chance.faces()).len(), 32);
    let discards = cards[1..].to_vec();
    game.apply(seat, &Exchange { discards }, &mut chance, &mut Vec::new()).unwrap();
    let after: Vec<_> = game.hand(seat).iter().filter_map(|slot| slot.handle()).collect();
    assert_eq!((after[0], after.len()), (cards[0], 5));
    assert!(cards[1..].iter().all(|card| !after.contains(card)));
}

/// Any seat departs at any turn: the others play on, and its hand stays sealed.
#[test]
fn a_departed_hand_is_not_shown() {
    for (turns, gone) in (0..3).flat_map(|turns| Seat::first(3).map(move |gone| (turns, gone))) {
        let (mut game, mut chance) = dealt(3);
        let keep = Exchange { discards: Vec::new() };
        for _ in 0..turns {
            let seat = game.to_act().iter().next().unwrap();
            game.apply(seat, &keep, &mut chance, &mut Vec::new()).unwrap();
        }
        game.forfeit(gone, &mut chance, &mut Vec::new()).unwrap();
        while let Some(seat) = game.to_act().iter().next() {
            assert_ne!(seat, gone);
            game.apply(seat, &keep, &mut chance, &mut Vec::new()).unwrap();
        }
        assert!(game.is_over() && game.hand(gone).is_empty() && !game.winners().contains(gone));
        for seat in Seat::first(3).filter(|seat| *seat != gone) {
            assert!(game.hand(seat).iter().all(|slot| matches!(slot, Slot::Open(_))));
        }
    }
}
