//! The searching bot in Python, `examples/bots/search.py`: whole duels, and its lines one by one.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use fairdeal_games::chance::RefereeChance;
use fairdeal_games::position::Position;
use fairdeal_games::{AnyGame, GAMES, TableGame as _, rule_set};
use fairdeal_protocol::game::Game as _;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::process::{Program, fairdeal};
use super::python;

const BOT: &str = "examples/bots/search.py";
/// An answer that takes longer does not come.
const SILENCE: Duration = Duration::from_secs(180);

/// The bot's command line. It writes to the file when it has to play without a search.
fn command(complaints: &Path) -> String {
    format!("python3 -B {BOT} 2>> '{}'", complaints.display())
}

/// No decision falls back or is made without a search, at the largest table of each game.
#[test]
fn searching_bot_plays_every_game() {
    if !python::is_there() {
        return;
    }
    let root = TempDir::new().unwrap();
    let complaints = root.path().join("complaints");
    for info in GAMES.iter().filter(|info| info.most_seats > 1) {
        let seats = info.most_seats.to_string();
        let side = format!("exec:{}", command(&complaints));
        let args = ["bot", "duel", info.id, &side, "gentle", "--json", "--games", "1", "--seats", &seats];
        // It has time for a few play-outs.
        let output = fairdeal().args(args).env("SEARCH_MS", "2").output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && errors.is_empty(), "{}: {errors}", info.id);
        let text = String::from_utf8(output.stdout).unwrap();
        let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        assert_eq!(last["results"]["unfinished"], 0, "{}", info.id);
        assert_eq!(std::fs::read_to_string(&complaints).unwrap(), "", "{}", info.id);
    }
}

/// At a table, where the cards are sealed for real.
#[test]
fn searching_bots_play_over_loopback() {
    if !python::is_there() {
        return;
    }
    let root = TempDir::new().unwrap();
    for game in ["loot", "houses-of-thoth"] {
        let complaints = root.path().join(format!("{game}-complaints"));
        let bot = command(&complaints);
        let folder = root.path().join(game);
        std::fs::create_dir(&folder).unwrap();
        let quick = || {
            let mut command = fairdeal();
            command.env("SEARCH_MS", "2");
            command
        };
        let listen = ["--listen", "/ip4/127.0.0.1/tcp/0"];
        let args = ["bot", "host", game, "--json", "--option", "target=10", "--exec", &bot];
        let mut host = Program::start_recorded(quick(), &folder, "host", &[&args[..], &listen].concat());
        let ticket = host.ticket();
        let args = ["bot", "join", &ticket, "--json", "--exec", &bot];
        let mut guest = Program::start_recorded(quick(), &folder, "guest", &[&args[..], &listen].concat());
        for program in [&mut host, &mut guest] {
            program.wait_for("over").expect("the game ends");
        }
        assert!(host.finish().success() && guest.finish().success());
        assert_eq!((host.errors(), guest.errors()), (String::new(), String::new()), "{game}");
        assert_eq!(std::fs::read_to_string(&complaints).unwrap(), "", "{game}");
    }
}

/// The bot as a child process, which ends with its test.
struct Bot {
    child: Child,
    input: ChildStdin,
    answers: Receiver<Value>,
}

impl Bot {
    /// A bot that may think for so many milliseconds, with the engine of this program.
    fn start(engine: &str, move_ms: u64) -> Self {
        let mut child = Command::new("python3")
            .args(["-B", BOT])
            .env("FAIRDEAL", engine)
            .env("SEARCH_MS", move_ms.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let sent = sender.send(serde_json::from_str(&line).unwrap());
                if sent.is_err() {
                    break;
                }
            }
        });
        let mut bot = Self { child, input, answers };
        bot.tell(&json!({
            "event": "hello", "v": 1, "game": "loot", "seats": 2, "seat": 0, "options": {}, "move_ms": 2 * move_ms,
        }));
        assert_eq!(bot.answer(), json!({"event": "ready", "name": "search"}));
        bot
    }

    fn tell(&mut self, line: &Value) {
        writeln!(self.input, "{line}").unwrap();
    }

    fn answer(&self) -> Value {
        self.answers.recv_timeout(SILENCE).expect("the bot answers")
    }
}

impl Drop for Bot {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A question to the first seat of a game of Loot, and its legal actions.
fn question(id: u64) -> (Value, Vec<Value>) {
    let rules = rule_set("loot", 2, &Default::default()).unwrap();
    let (game, chance, seat) = (0..)
        .find_map(|seed| {
            let mut game = AnyGame::create(&rules).unwrap();
            let mut chance = RefereeChance::from_seed([seed; 32]);
            game.begin(&mut chance, &mut Vec::new()).unwrap();
            let seat = game.to_act().iter().next().filter(|seat| seat.index() == 0)?;
            Some((game, chance, seat))
        })
        .unwrap();
    let known = chance.dealt_to(seat);
    let legal: Vec<Value> =
        game.legal(seat, known).iter().map(|action| game.action_to_json(seat, action, known)).collect();
    let line = json!({
        "event": "choose", "id": id, "must": true, "legal": legal, "view": game.view(Some(seat), known),
        "position": Position::text(&game, seat, known),
    });
    (line, legal)
}

/// It would think for an hour, but the table has gone on.
#[test]
fn searching_bot_obeys_stop() {
    if !python::is_there() {
        return;
    }
    let mut bot = Bot::start(env!("CARGO_BIN_EXE_fairdeal"), 3_600_000);
    let (choose, legal) = question(7);
    bot.tell(&choose);
    bot.tell(&json!({"event": "stop", "id": 7}));
    let answer = bot.answer();
    assert_eq!(answer["id"], 7);
    assert!(legal.contains(&answer["action"]), "{answer}");
}

/// It plays on without its engine, and with one that it cannot use.
#[test]
fn searching_bot_plays_without_its_engine() {
    if !python::is_there() {
        return;
    }
    for engine in ["./there-is-no-engine", "true"] {
        let mut bot = Bot::start(engine, 1000);
        for id in [1, 2] {
            let (mut choose, legal) = question(id);
            bot.tell(&choose);
            assert_eq!(bot.answer(), json!({"event": "choice", "id": id, "action": legal[0]}));
            choose["must"] = json!(false);
            bot.tell(&choose);
            assert_eq!(bot.answer()["action"], Value::Null);
        }
    }
}
