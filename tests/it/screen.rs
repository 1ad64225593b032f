//! The interface as a player meets it: whole programs in their own terminals, two of them at one table.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use super::net::LISTEN;
use super::process::{Program, Relay};
use super::require::skip;
use fairdeal::store::{DataDir, DataView};
use fairdeal::tui::{Data, Interface, Start};
use fairdeal_peers::PeerId;
use fairdeal_session::people::Change;
use fairdeal_ui::theme::Depth;
use portable_pty::{Child, CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};

/// Environment variable with the data directory of an interface that is to panic.
const PANICS_IN: &str = "FAIRDEAL_TEST_PANICS_IN";
/// Time limit for each wait in these tests.
const PATIENCE: Duration = Duration::from_secs(90);

fn parser(rows: u16, cols: u16) -> vt100::Parser {
    vt100::Parser::new(rows.try_into().unwrap(), cols.try_into().unwrap(), 0)
}

/// A program in a terminal.
pub(super) struct Player {
    child: Box<dyn Child + Send + Sync>,
    keyboard: Box<dyn std::io::Write + Send>,
    screen: Arc<Mutex<vt100::Parser>>,
    /// Everything that the terminal received.
    bytes: Arc<Mutex<Vec<u8>>>,
    _terminal: Box<dyn MasterPty + Send>,
}

/// Waits for a program to end.
fn end_of(child: &mut dyn Child) -> ExitStatus {
    let since = Instant::now();
    loop {
        if let Some(ended) = child.try_wait().unwrap() {
            return ended;
        }
        assert!(since.elapsed() < PATIENCE, "it does not end");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Size of the terminals.
const SIZE: PtySize = PtySize { rows: 32, cols: 100, pixel_width: 0, pixel_height: 0 };

/// Whether this machine opens pseudo-terminals.
pub(super) fn terminals_work() -> bool {
    let opened = native_pty_system().openpty(SIZE);
    opened.map_err(|reason| skip("pty", reason)).is_ok()
}

impl Player {
    /// Starts the interface with a data directory and a player's name.
    fn sits_down(data: &Path, name: &str) -> Self {
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_fairdeal"));
        command.args(["--name", name]);
        Self::starts(data, command)
    }

    /// Starts any program in a terminal.
    pub(super) fn starts(data: &Path, command: CommandBuilder) -> Self {
        Self::starts_with(data, command, &[])
    }

    /// The same with variables of the environment besides or instead of the usual ones; an empty value removes one.
    fn starts_with(data: &Path, mut command: CommandBuilder, environment: &[(&str, &str)]) -> Self {
        let pair = native_pty_system().openpty(SIZE).unwrap();
        command.env("FAIRDEAL_DATA_DIR", data);
        command.env("TERM", "xterm-256color");
        command.env("LC_ALL", "C.UTF-8");
        for name in ["NO_COLOR", "COLORTERM", "TMUX", "STY"] {
            command.env_remove(name);
        }
        for (name, value) in environment {
            if value.is_empty() {
                command.env_remove(name);
            } else {
                command.env(name, value);
            }
        }
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let mut output = pair.master.try_clone_reader().unwrap();
        let screen = Arc::new(Mutex::new(parser(SIZE.rows, SIZE.cols)));
        let shown = Arc::clone(&screen);
        let all: Arc<Mutex<Vec<u8>>> = Arc::default();
        let received = Arc::clone(&all);
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count) = output.read(&mut bytes) {
                if count == 0 {
                    return;
                }
                shown.lock().unwrap().process(&bytes[..count]);
                received.lock().unwrap().extend(&bytes[..count]);
            }
        });
        Self { bytes: all, child, keyboard: pair.master.take_writer().unwrap(), screen, _terminal: pair.master }
    }

    fn shown(&self) -> String {
        self.screen.lock().unwrap().screen().contents()
    }

    fn presses(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
        self.keyboard.flush().unwrap();
    }

    /// Waits until the screen matches.
    pub(super) fn sees(&self, what: &str, is_so: impl Fn(&str) -> bool) -> String {
        let since = Instant::now();
        loop {
            let shown = self.shown();
            if is_so(&shown) {
                return shown;
            }
            assert!(since.elapsed() < PATIENCE, "no {what}:\n{shown}");
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn reads(&self, text: &str) -> String {
        self.sees(text, |shown| shown.contains(text))
    }

    /// Presses a key until the focused line contains these words.
    fn goes_to(&mut self, words: &str, key: &str) {
        for _ in 0..30 {
            let shown = self.shown();
            if shown.lines().any(|line| line.contains('▌') && line.contains(words)) {
                return;
            }
            self.presses(key);
            // A frame arrives in parts: the focus has moved once as many rows as before have a mark, and others.
            let marked = |shown: &str| -> Vec<String> {
                shown.lines().filter(|line| line.contains('▌')).map(str::to_owned).collect()
            };
            let before = marked(&shown);
            let has_moved = |now: Vec<String>| now.len() == before.len() && now != before;
            let since = Instant::now();
            while !has_moved(marked(&self.shown())) && since.elapsed() < Duration::from_secs(2) {
                thread::sleep(Duration::from_millis(10));
            }
        }
        panic!("'{words}' cannot be reached:\n{}", self.shown());
    }

    /// Answers no to a question, such as whether to fire the village.
    fn declines(&mut self) {
        if self.shown().contains("Sure?") {
            self.presses("n");
            self.sees("table without a question", |shown| !shown.contains("Sure?"));
        }
    }

    /// Searches the command palette for an entry.
    fn asks_for(&mut self, words: &str) {
        self.presses(":");
        self.reads("What do you want to do?");
        self.presses(words);
        let row = format!("▌  {words}");
        self.reads(&row);
        self.presses(ENTER);
    }

    /// Waits until the program has restored its terminal: the last output may still be on its way.
    fn has_its_terminal_back(&self) {
        self.sees("other screen", |_| {
            let parser = self.screen.lock().unwrap();
            let screen = parser.screen();
            let mouse = screen.mouse_protocol_mode() == vt100::MouseProtocolMode::None;
            let cursor = !screen.hide_cursor();
            !screen.alternate_screen() && mouse && !screen.bracketed_paste() && cursor
        });
    }

    /// Waits until a shell has the terminal: it may ask for bracketed paste itself.
    fn shows_its_shell(&self) {
        self.sees("shell", |_| {
            let parser = self.screen.lock().unwrap();
            let screen = parser.screen();
            let mouse = screen.mouse_protocol_mode() == vt100::MouseProtocolMode::None;
            !screen.alternate_screen() && mouse && !screen.hide_cursor()
        });
    }

    /// Sends the program a signal, named without SIG.
    fn is_told(&self, signal: &str) {
        let id = self.child.process_id().unwrap().to_string();
        let mut kill = std::process::Command::new("kill");
        let sent = kill.args(["-s", signal, &id]).status();
        assert!(sent.unwrap().success());
    }

    /// Waits for the program to end.
    fn ends(&mut self) -> ExitStatus {
        end_of(self.child.as_mut())
    }

    fn is_gone(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const ENTER: &str = "\r";
const UP: &str = "\x1b[A";
const DOWN: &str = "\x1b[B";
const RIGHT: &str = "\x1b[C";

/// The ticket on a lobby screen: the rows under its heading.
fn ticket(shown: &str) -> String {
    let rows = shown
        .lines()
        .skip_while(|row| !row.contains("The ticket in full"))
        .skip(1)
        .take_while(|row| !row.trim().is_empty());
    rows.map(str::trim).collect()
}

/// The player whose turn it is takes the focused action, `turns` times in all.
fn play(players: &mut [&mut Player], turns: usize) {
    for _ in 0..turns {
        let since = Instant::now();
        let (player, before) = loop {
            for player in players.iter_mut() {
                player.declines();
            }
            let mine = |player: &&mut &mut Player| player.shown().contains("YOUR TURN");
            if let Some(player) = players.iter_mut().find(mine) {
                let before = player.shown();
                break (player, before);
            }
            assert!(since.elapsed() < PATIENCE, "nobody is to act:\n{}", players[0].shown());
            thread::sleep(Duration::from_millis(20));
        };
        player.presses(ENTER);
        player.sees("other screen", |shown| shown != before);
    }
}

#[test]
fn two_play_from_their_screens_one_is_killed_and_the_game_is_audited() {
    if !terminals_work() {
        return;
    }
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut anna = Player::sits_down(one.path(), "Anna");
    anna.reads("Open tables near you");
    anna.goes_to("Loot", UP);
    anna.presses("o");
    anna.reads("friends nearby");
    anna.reads("‹ 2 ›");
    anna.asks_for("start");
    anna.reads("[a details]");
    anna.presses("a");
    let lobby = anna.reads("The ticket in full");
    anna.presses("a");

    let mut ben = Player::sits_down(other.path(), "Ben");
    ben.reads("Open tables near you");
    ben.asks_for("join with a ticket");
    ben.reads("Ticket or address");
    // Bracketed paste, as a terminal sends it.
    ben.presses(&format!("\x1b[200~{}\x1b[201~", ticket(&lobby)));
    ben.presses(ENTER);
    ben.reads("first to 100");
    ben.presses("r");
    anna.sees("word that Ben is ready", |shown| {
        shown.lines().any(|row| row.contains("Ben") && row.contains("✓ ready"))
    });
    anna.presses("c");
    anna.presses("good luck");
    anna.presses(ENTER);
    ben.reads("Anna: good luck");
    anna.presses("r");
    anna.reads("◈ sealed");
    ben.reads("◈ sealed");
    play(&mut [&mut anna, &mut ben], 6);

    // A terminal that goes away sends SIGHUP first, and the program takes its leave.
    ben.child.kill().unwrap();
    anna.reads("Ben has paused");
    drop(ben);
    let mut ben = Player::sits_down(other.path(), "Ben");
    ben.reads("Resume");
    ben.asks_for("resume");
    ben.reads("◈ sealed");
    play(&mut [&mut anna, &mut ben], 4);

    // Ben leaves, which ends a game of two.
    ben.declines();
    ben.presses("q");
    ben.reads("Leave the table?");
    ben.presses("f");
    // The current action is finished first: it is Anna's turn, or was.
    let since = Instant::now();
    while !anna.shown().contains("[a audit]") {
        assert!(since.elapsed() < PATIENCE, "no end:\n{}", anna.shown());
        let shown = anna.shown();
        if ["YOUR TURN", "[Enter show all]", "[Enter continue]"].iter().any(|text| shown.contains(text)) {
            anna.presses(ENTER);
        }
        thread::sleep(Duration::from_millis(300));
    }
    // The sheet ignores keys at first.
    while anna.shown().contains("[a audit]") {
        assert!(since.elapsed() < PATIENCE, "no audit:\n{}", anna.shown());
        anna.presses("a");
        thread::sleep(Duration::from_millis(300));
    }
    anna.sees("verdict", |shown| shown.contains("✓ fair"));
    anna.presses("\x1b");
    anna.reads("a audit");
    anna.presses("q");
    anna.reads("Open tables near you");
    anna.asks_for("history: past games");
    anna.reads("with Ben");
    anna.presses(ENTER);
    anna.reads("Step 1 of");
    anna.presses(RIGHT);
    anna.reads("Step 2 of");
}

/// Both press `r` at the end, before either hears of it, and sit at one table with the host's bot.
#[test]
fn two_who_want_a_rematch_meet() {
    if !terminals_work() {
        return;
    }
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut host = CommandBuilder::new(env!("CARGO_BIN_EXE_fairdeal"));
    host.args(["--name", "Anna", "host", "loot", "--bots", "1", "--bot-delay", "1", "--option", "target=1"]);
    host.args(["--listen", "/ip4/127.0.0.1/tcp/0", "--no-lan"]);
    let mut anna = Player::starts_with(one.path(), host, &[]);
    anna.reads("[a details]");
    anna.presses("a");
    let ticket = ticket(&anna.reads("The ticket in full"));
    anna.presses("a");
    let mut guest = CommandBuilder::new(env!("CARGO_BIN_EXE_fairdeal"));
    guest.args(["--name", "Ben", "join", &ticket]);
    let mut ben = Player::starts_with(other.path(), guest, &[]);
    ben.reads("first to 1");
    ben.presses("r");
    anna.reads("Ben");
    anna.presses("r");
    let since = Instant::now();
    let is_over = |player: &Player| ["[r rematch]", "[r follow"].iter().any(|text| player.shown().contains(text));
    while !(is_over(&anna) && is_over(&ben)) {
        for player in [&mut anna, &mut ben] {
            let shown = player.shown();
            assert!(since.elapsed() < PATIENCE, "no end:\n{shown}");
            if ["[Enter show all]", "[Enter continue]"].iter().any(|text| shown.contains(text)) {
                player.presses(ENTER);
            } else if shown.contains("Sure?") {
                player.presses("y");
            } else if shown.contains("YOUR TURN") {
                player.presses("h");
                player.presses(ENTER);
            }
        }
        thread::sleep(Duration::from_millis(100));
    }
    // The sheet ignores keys at first.
    while is_over(&anna) || is_over(&ben) {
        assert!(since.elapsed() < PATIENCE, "no rematch:\n{}\n{}", anna.shown(), ben.shown());
        for player in [&mut anna, &mut ben] {
            if is_over(player) {
                player.presses("r");
            }
        }
        thread::sleep(Duration::from_millis(50));
    }
    for player in [&anna, &ben] {
        player.sees("one lobby", |shown| ["Anna ", "Ben ", "Ada ", "bot"].iter().all(|text| shown.contains(text)));
    }
    // Whoever has opened it is ready.
    for player in [&mut anna, &mut ben] {
        if player.shown().contains("[r ready]") {
            player.presses("r");
        }
    }
    for player in [&anna, &ben] {
        player.reads("◈ sealed");
    }
}

#[cfg(unix)]
#[test]
fn the_terminal_is_given_back_when_the_program_is_told_to_go() {
    if !terminals_work() {
        return;
    }
    for signal in ["TERM", "HUP"] {
        let data = tempfile::tempdir().unwrap();
        let mut player = Player::sits_down(data.path(), "Anna");
        player.asks_for("play Loot");
        player.asks_for("start");
        player.reads("◈ sealed");
        assert!(player.screen.lock().unwrap().screen().alternate_screen());
        player.is_told(signal);
        player.ends();
        player.has_its_terminal_back();
        player.reads("Resume it with: fairdeal resume ");
    }
}

/// The list of LAN tables ends the same way.
#[cfg(unix)]
#[test]
fn the_list_of_tables_ends_when_it_is_told_to() {
    if !terminals_work() {
        return;
    }
    for signal in ["TERM", "HUP", "INT"] {
        let data = tempfile::tempdir().unwrap();
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_fairdeal"));
        command.arg("join");
        let mut player = Player::starts(data.path(), command);
        player.reads("Tables on the LAN");
        player.is_told(signal);
        let ended = player.ends();
        assert_eq!(ended.exit_code(), 130, "SIG{signal}: {}", player.shown());
    }
}

/// Tables at a meeting point are listed in the same way, and chosen by their numbers.
#[test]
fn table_at_a_meeting_point_is_chosen() {
    if !terminals_work() {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    let relay = Relay::start(root.path());
    let args = ["bot", "host", "loot", "--seats", "2", "--json", "--no-lan"];
    let meet = ["--meet", &relay.address];
    let mut host = Program::start(root.path(), "host", &[&args[..], &meet, &LISTEN].concat());
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_fairdeal"));
    command.args([&["join"][..], &meet, &LISTEN].concat());
    let mut player = Player::starts(&root.path().join("guest"), command);
    player.reads("Tables at the meeting point (a number joins, q quits):");
    player.reads("1  Loot (");
    player.presses("7\r");
    player.reads("Type the number of a table, or q.");
    player.presses("1\r");
    host.wait_for("seated").expect("the player joins");
}

/// The first screen lists tables of the meeting points in the settings, joins one, and offers to list its own.
#[test]
fn first_screen_shows_tables_of_meeting_points() {
    if !terminals_work() {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    let relay = Relay::start(root.path());
    let args = ["bot", "host", "loot", "--seats", "2", "--json", "--no-lan", "--name", "Dora"];
    let meet = ["--meet", &relay.address];
    let mut host = Program::start(root.path(), "host", &[&args[..], &meet, &LISTEN].concat());
    let data = root.path().join("guest");
    std::fs::create_dir(&data).unwrap();
    let settings = format!("name = \"Cleo\"\nmeet = [\"{}\", \"nowhere\"]\n", relay.address);
    std::fs::write(data.join("settings.toml"), settings).unwrap();
    host.ticket();
    let identity = DataView::of(Some(&host.data)).unwrap().known_identity().unwrap().unwrap().signing_key();
    let key = PeerId::of(&identity);
    let book = DataView::of(Some(&data)).unwrap();
    let favourite = book.change_people(|book| {
        book.change(key, None, &Change::Name("Dorothy".to_owned()))?;
        book.change(key, None, &Change::Favourite(true))
    });
    favourite.unwrap();
    let command = CommandBuilder::new(env!("CARGO_BIN_EXE_fairdeal"));
    let mut player = Player::starts(&data, command);
    player.reads("nowhere is no address");
    player.sees("favourite's table", |shown| {
        shown.lines().any(|line| line.contains("Loot with Dorothy (Dora)") && line.contains("★ 1 free"))
    });
    player.presses("o");
    player.reads("who can join");
    for _ in 0..2 {
        player.presses(RIGHT);
    }
    player.reads("anybody");
    player.presses("\x1b");
    player.reads("Open tables");
    player.asks_for("join Dora's table");
    host.wait_for("seated").expect("the player joins");
    // A toast still covers the name.
    player.reads("★ favourite");
    player.presses("pf");
    player.sees("change", |_| !book.people().unwrap().get(&key).unwrap().favourite);
    player.presses("\x1b");
    player.reads("✓ known");
}

/// A program whose window is closed exits cleanly and keeps its game as a saved game.
#[cfg(unix)]
#[test]
fn closed_window_ends_the_program() {
    if !terminals_work() {
        return;
    }
    for (args, shows) in [(&["play", "loot", "--bots", "1"][..], "◈ sealed"), (&[], "Open tables near you")] {
        let data = tempfile::tempdir().unwrap();
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_fairdeal"));
        command.args(["--name", "Anna"]);
        command.args(args);
        command.env("FAIRDEAL_DATA_DIR", data.path());
        command.env("TERM", "xterm-256color");
        let pair = native_pty_system().openpty(SIZE).unwrap();
        let mut child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let mut screen = parser(SIZE.rows, SIZE.cols);
        let mut output = pair.master.try_clone_reader().unwrap();
        let mut bytes = [0; 4096];
        while !screen.screen().contents().contains(shows) {
            let count = output.read(&mut bytes).unwrap();
            screen.process(&bytes[..count]);
        }
        drop(output);
        drop(pair.master);
        let ended = end_of(child.as_mut());
        assert_eq!(ended.signal(), None, "{args:?}");
        let store = DataDir::open(Some(data.path())).unwrap();
        let waits = !store.journals().unwrap().is_empty();
        assert_eq!(waits, !args.is_empty(), "{args:?}");
    }
}

/// A replay also works while another program holds the directory, and with broken settings.
#[test]
fn replay_is_shown_beside_a_running_game() {
    if !terminals_work() {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("data");
    let shown = || {
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_fairdeal"));
        let file = std::path::absolute("docs/vectors/poker.fairdeal").unwrap();
        command.arg("replay");
        command.arg(file);
        let player = Player::starts(&path, command);
        player.reads("[e view]");
    };
    shown();
    assert!(!path.exists(), "nothing is made for a replay");
    let data = DataDir::open(Some(&path)).unwrap();
    shown();
    std::fs::write(data.settings_file(), "no settings").unwrap();
    shown();
}

/// After a game against bots the history looks back at it, and has ratings.
#[test]
fn past_game_is_reviewed_and_rated() {
    if !terminals_work() {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    let (game, _) = Program::has_played(root.path(), 1, 30);
    let mut player = Player::sits_down(&game.data, "solo");
    player.reads("Open tables near you");
    player.asks_for("history: past games");
    player.reads("[w review]");
    player.presses("w");
    player.sees("answer", |shown| shown.contains("cost you most") || shown.contains("Well played"));
    player.presses("\x1b");
    player.reads("[o opponents]");
    player.presses("o");
    player.reads("normal bots");
    assert!(player.shown().contains("your rating"), "{}", player.shown());
}

/// Does nothing by itself; the next test runs it in a terminal. Runs the interface, and panics beside it.
#[test]
fn a_panic_where_it_is_asked_for() {
    if !terminals_work() {
        return;
    }
    let Some(data) = std::env::var_os(PANICS_IN) else {
        return;
    };
    let interface = Interface {
        data: Data::Open(Arc::new(DataDir::open(Some(Path::new(&data))).unwrap())),
        name: Some("Anna".to_owned()),
        user: "Anna".to_owned(),
        today: || "2026-11-21".to_owned(),
        depth: Depth::Indexed,
        ascii: false,
        few_glyphs: false,
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let panics = async {
            // The test writes this file after it has seen the first screen.
            let told = Path::new(&data).join("now");
            while std::fs::File::open(&told).is_err() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            panic!("as it was asked to");
        };
        tokio::select! {
            _ = fairdeal::tui::run(interface, Start::Home) => {}
            () = panics => {}
        }
    });
}

#[test]
fn the_terminal_is_given_back_after_a_panic() {
    if !terminals_work() {
        return;
    }
    let data = tempfile::tempdir().unwrap();
    let mut command = CommandBuilder::new(std::env::current_exe().unwrap());
    command.args(["--exact", "screen::a_panic_where_it_is_asked_for", "--nocapture"]);
    command.env(PANICS_IN, data.path());
    // The panic message must fit on the screen.
    command.env("RUST_BACKTRACE", "0");
    let mut player = Player::starts(data.path(), command);
    player.reads("Open tables near you");
    assert!(player.screen.lock().unwrap().screen().alternate_screen());
    std::fs::write(data.path().join("now"), b"").unwrap();
    player.ends();
    player.has_its_terminal_back();
    // On the restored screen.
    player.reads("as it was asked to");
}

#[test]
fn a_practice_game_begins_from_the_command_line_and_leaves_nothing() {
    if !terminals_work() {
        return;
    }
    let data = tempfile::tempdir().unwrap();
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_fairdeal"));
    command.args(["--name", "Anna", "play", "ivory-tower", "--practice"]);
    let mut player = Player::starts(data.path(), command);
    player.reads("◇ practice");
    player.presses("u");
    player.reads("There is nothing to undo");
    player.presses("q");
    let since = Instant::now();
    while !player.is_gone() {
        assert!(since.elapsed() < PATIENCE, "{}", player.shown());
        if player.shown().contains("Sure?") {
            player.presses("y");
        }
        thread::sleep(Duration::from_millis(50));
    }
    // Journals and transcripts would be in folders.
    let mut kept = std::fs::read_dir(data.path()).unwrap().map(|file| file.unwrap().path());
    assert_eq!(kept.find(|path| path.is_dir()), None);
}

/// One mistake costs one setting, and a change in the interface writes that change alone.
#[test]
fn change_of_a_setting_keeps_a_file_with_mistakes() {
    if !terminals_work() {
        return;
    }
    for line in ["letters = \"allways\"", "sound = true", "ascii = 3 # no"] {
        let data = tempfile::tempdir().unwrap();
        let file = data.path().join("settings.toml");
        let text = format!("# mine\nname = \"Ann\"\n{line}\n\n[keys]\nup = [\"w\"]\n\n[solved]\nloot = [1, 2, 3]\n");
        std::fs::write(&file, &text).unwrap();
        let mut player = Player::starts(data.path(), CommandBuilder::new(env!("CARGO_BIN_EXE_fairdeal")));
        player.reads("line 3");
        player.presses(",");
        player.reads("bots think");
        player.goes_to("pyramids", DOWN);
        player.presses(RIGHT);
        let since = Instant::now();
        while std::fs::read_to_string(&file).unwrap() == text {
            assert!(since.elapsed() < PATIENCE, "nothing is saved:\n{}", player.shown());
            thread::sleep(Duration::from_millis(20));
        }
        let new = std::fs::read_to_string(&file).unwrap();
        assert_eq!(new.replace("pyramids = \"xeno\"\n", ""), text, "{line}");
    }
}

/// Where nothing can be written, everything works that needs no writing; a table is refused in words.
#[cfg(unix)]
#[test]
fn interface_starts_where_nothing_can_be_written() {
    if !terminals_work() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let no_lock = folder.path().join("lock-is-a-folder");
    std::fs::create_dir_all(no_lock.join("lock")).unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    // A directory that cannot be created, for no user.
    let not_made = folder.path().join("file").join("data");
    for data in [&no_lock, &not_made] {
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_fairdeal"));
        command.args(["--name", "Ann"]);
        let mut player = Player::starts(data, command);
        player.sees("complaint on the first screen", |shown| {
            shown.contains("Nothing can be saved") && shown.contains("Loot")
        });
        player.presses(",");
        player.reads("pyramids");
        player.presses("\x1b");
        player.sees("first screen", |shown| shown.contains("Loot") && !shown.contains("pyramids"));
        player.presses("H");
        player.reads("history");
        drop(player);
        // A puzzle is solved, and practice is played.
        for args in [&["puzzle", "loot"][..], &["play", "ivory-tower", "--practice"]] {
            let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_fairdeal"));
            command.args(args);
            let player = Player::starts(data, command);
            player.sees("game", |shown| shown.contains("puzzle 1 of") || shown.contains("practice"));
        }
        for args in [&["play", "loot", "--headless"][..], &["host", "loot", "--headless"], &["resume", "--headless"]] {
            let output = super::process::fairdeal().arg("--data-dir").arg(data).args(args).output().unwrap();
            let why = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(!output.status.success() && why.contains("--data-dir"), "{args:?}: {why}");
        }
    }
}

/// A sealed tower's cards are known once its seeds are revealed.
#[test]
fn a_sealed_tower_that_was_resigned_tells_whether_it_could_have_been_won() {
    if !terminals_work() {
        return;
    }
    let data = tempfile::tempdir().unwrap();
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_fairdeal"));
    command.args(["--name", "Anna", "play", "ivory-tower"]);
    let mut player = Player::starts(data.path(), command);
    player.reads("YOUR TURN");
    player.presses("r");
    player.reads("Sure?");
    player.presses("y");
    player.reads("This deal could ");
}

#[test]
fn a_puzzle_is_solved_from_the_command_line_and_remembered() {
    if !terminals_work() {
        return;
    }
    let data = tempfile::tempdir().unwrap();
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_fairdeal"));
    command.args(["--name", "Anna", "puzzle", "loot"]);
    let mut player = Player::starts(data.path(), command);
    player.reads("puzzle 1 of 6");
    player.presses("f");
    player.reads("Fire the village?");
    player.presses("y");
    player.reads("Solved!");
    player.presses("q");
    assert!(player.ends().success());
    let (settings, _) = DataDir::open(Some(data.path())).unwrap().settings();
    assert!(settings.has_solved("loot", 1));
}

#[test]
fn the_terminal_may_change_its_size() {
    if !terminals_work() {
        return;
    }
    let data = tempfile::tempdir().unwrap();
    let mut player = Player::sits_down(data.path(), "Anna");
    player.asks_for("play Houses of Thoth");
    player.asks_for("start");
    player.reads("◈ sealed");
    for (rows, cols, text) in
        [(19, 60, "fairdeal needs"), (20, 60, "◈ sealed"), (50, 160, "◈ sealed"), (24, 80, "◈ sealed")]
    {
        player.screen.lock().unwrap().screen_mut().set_size(rows.try_into().unwrap(), cols.try_into().unwrap());
        let size = PtySize { rows, cols, pixel_width: 0, pixel_height: 0 };
        player._terminal.resize(size).unwrap();
        player.reads(text);
    }
}

/// A shell with job control, which starts the program as its job.
fn shell(data: &Path) -> Player {
    let mut command = CommandBuilder::new("bash");
    command.args(["--norc", "--noprofile", "-i"]);
    let mut player = Player::starts_with(data, command, &[("PS1", "prompt> "), ("HISTFILE", "/dev/null")]);
    player.reads("prompt>");
    player.presses(&format!("{} --name Anna\r", env!("CARGO_BIN_EXE_fairdeal")));
    player.reads("Open tables near you");
    player
}

/// The program's process: the shell's only child.
fn job_of(player: &Player) -> String {
    let shell = player.child.process_id().unwrap();
    let children = std::fs::read_to_string(format!("/proc/{shell}/task/{shell}/children")).unwrap();
    children.split_whitespace().next().unwrap().to_owned()
}

/// Ctrl-Z, SIGTSTP from elsewhere, and SIGSTOP, which gives no warning: each time `fg` brings screen and keys back.
#[cfg(target_os = "linux")]
#[test]
fn stopped_program_gives_the_terminal_back_and_takes_it_again() {
    if !terminals_work() {
        return;
    }
    let data = tempfile::tempdir().unwrap();
    let mut player = shell(data.path());
    for signal in ["", "TSTP", "STOP"] {
        match signal {
            "" => player.presses("\x1a"),
            signal => {
                let mut kill = std::process::Command::new("kill");
                assert!(kill.args(["-s", signal, &job_of(&player)]).status().unwrap().success());
            }
        }
        if signal == "STOP" {
            player.reads("Stopped");
        } else {
            player.shows_its_shell();
            player.reads("Stopped");
            player.presses("echo $((6 * 7)) is typed\r");
            player.reads("42 is typed");
        }
        // The next stop must write its own lines before anything is typed at the shell.
        player.presses("printf '\\033[2J\\033[H'; fg\r");
        player.reads("Open tables near you");
        assert!(player.screen.lock().unwrap().screen().alternate_screen());
        // Raw mode is back: the key is not echoed, and has its effect.
        player.presses("?");
        player.reads("find a command by name");
        player.presses("\x1b");
        player.reads("Open tables near you");
    }
    player.presses("q");
    player.shows_its_shell();
}

/// Where no shell waits, a stopped program could not be continued.
#[test]
fn program_without_a_shell_does_not_stop() {
    if !terminals_work() {
        return;
    }
    let data = tempfile::tempdir().unwrap();
    let mut player = Player::sits_down(data.path(), "Anna");
    player.reads("Open tables near you");
    player.presses("\x1a");
    player.is_told("TSTP");
    player.presses("?");
    let help = player.reads("find a command by name");
    assert!(!help.contains("Ctrl-z"), "{help}");
}

/// Windows reports AltGr as Ctrl and Alt. The sequences are those of terminals that report every modifier.
#[test]
fn characters_with_ctrl_and_alt_are_text() {
    if !terminals_work() {
        return;
    }
    let data = tempfile::tempdir().unwrap();
    let mut player = Player::starts(data.path(), CommandBuilder::new(env!("CARGO_BIN_EXE_fairdeal")));
    player.reads("name");
    player.presses("zq");
    player.reads("zq");
    for c in ['@', '\u{20ac}', '[', 'w', 'u', 'c'] {
        player.presses(&format!("\x1b[{};7u", u32::from(c)));
    }
    player.reads("zq@\u{20ac}[wuc");
}

/// The screens of a table on a terminal whose font has few glyphs, unless the settings want all of them.
#[test]
fn linux_console_gets_ascii_unless_the_settings_say_otherwise() {
    if !terminals_work() {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    for (number, (term, ascii, is_ascii)) in [
        ("linux", "", true),
        ("linux-16color", "", true),
        ("screen.linux", "", true),
        ("linux", "ascii = false", false),
        ("linux", "ascii = true", true),
        ("xterm-256color", "ascii = true", true),
        ("xterm-256color", "", false),
    ]
    .into_iter()
    .enumerate()
    {
        let data = root.path().join(number.to_string());
        std::fs::create_dir(&data).unwrap();
        std::fs::write(data.join("settings.toml"), format!("name = \"Ann\"\n{ascii}\n")).unwrap();
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_fairdeal"));
        command.args(["play", "plutonian-poker", "--bots", "2"]);
        let player = Player::starts_with(&data, command, &[("TERM", term)]);
        player.sees("table", |shown| shown.contains(if is_ascii { "# sealed" } else { "◈ sealed" }));
        let bytes = player.bytes.lock().unwrap().clone();
        assert_eq!(bytes.is_ascii(), is_ascii, "TERM={term} {ascii}");
        drop(player);
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_fairdeal"));
        command.arg("doctor");
        let player = Player::starts_with(&data, command, &[("TERM", term)]);
        let told: String = player
            .sees("terminal", |shown| shown.contains("terminal   100 by 32"))
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        let on_console = term.contains("linux");
        assert_eq!(told.contains("Linux console's fonts have no half blocks"), on_console, "{told}");
        assert_eq!(told.contains("; ASCII"), is_ascii, "{told}");
    }
}

/// GNU screen and the like: 24-bit colours are never sent there.
#[test]
fn gnu_screen_gets_256_colours() {
    if !terminals_work() {
        return;
    }
    let many = ("COLORTERM", "truecolor");
    for (environment, is_true) in [
        (vec![many], true),
        (vec![many, ("STY", "7.pts-0.host")], false),
        (vec![many, ("TERM", "screen.xterm-256color")], false),
        (vec![many, ("TERM", "screen-256color"), ("TMUX", "/tmp/none,1,0")], true),
    ] {
        let data = tempfile::tempdir().unwrap();
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_fairdeal"));
        command.args(["--name", "Anna"]);
        let player = Player::starts_with(data.path(), command, &environment);
        player.reads("Open tables near you");
        let bytes = String::from_utf8_lossy(&player.bytes.lock().unwrap()).into_owned();
        assert_eq!(bytes.contains("8;2;"), is_true, "{environment:?}");
        assert_eq!(bytes.contains("8;5;"), !is_true, "{environment:?}");
    }
}

/// Without a screen every command that needs one says so, writes no control sequence, and starts nothing.
#[test]
fn terminals_without_a_screen_get_lines() {
    if !terminals_work() {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    let commands: [&[&str]; 7] = [
        &[],
        &["play", "loot", "--bots", "1"],
        &["play", "ivory-tower", "--practice"],
        &["host", "loot"],
        &["join", "/ip4/127.0.0.1/tcp/1/p2p/12D3KooWK99VoVxNE7XzyBwXEzW7xhK7Gpv85r9F3V3fyKSUKPH5"],
        &["watch", "/ip4/127.0.0.1/tcp/1/p2p/12D3KooWK99VoVxNE7XzyBwXEzW7xhK7Gpv85r9F3V3fyKSUKPH5"],
        &["resume"],
    ];
    for (number, args) in commands.into_iter().enumerate() {
        for (kind, term) in [("dumb", "dumb"), ("unset", ""), ("unknown", "unknown")] {
            let data = root.path().join(format!("{number}-{kind}"));
            let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_fairdeal"));
            command.args(args);
            let mut player = Player::starts_with(&data, command, &[("TERM", term)]);
            assert_eq!(player.ends().exit_code(), 2, "{args:?} with TERM={term}");
            player.reads("These commands need no screen");
            let bytes = player.bytes.lock().unwrap().clone();
            assert!(!bytes.contains(&0x1b), "{}", String::from_utf8_lossy(&bytes));
            assert!(!data.exists(), "nothing is written for {args:?}");
        }
        // A pipe on either side.
        let data = root.path().join(format!("{number}-pipe"));
        let mut command = super::process::fairdeal();
        let output = command.arg("--data-dir").arg(&data).args(args).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {told}");
        assert!(told.contains("standard output is not a terminal"), "{told}");
        assert!(output.stdout.is_empty() && !told.contains('\x1b') && !data.exists());
        let mut command = CommandBuilder::new("sh");
        let program = env!("CARGO_BIN_EXE_fairdeal");
        command.args(["-c", &format!("{program} {} </dev/null", args.join(" "))]);
        let mut player = Player::starts(&data, command);
        assert_eq!(player.ends().exit_code(), 2, "{args:?} without input");
        player.reads("standard input is not a terminal");
        assert!(!data.exists());
    }
    // These have lines to print instead.
    for (args, text) in [(&["puzzle"][..], "loot"), (&["replay", "docs/vectors/poker.fairdeal"], "deal")] {
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_fairdeal"));
        command.cwd(env!("CARGO_MANIFEST_DIR"));
        command.args(args);
        let mut player = Player::starts_with(root.path(), command, &[("TERM", "dumb")]);
        assert!(player.ends().success(), "{args:?}");
        player.reads(text);
        assert!(!player.bytes.lock().unwrap().contains(&0x1b));
    }
}

/// A check mark appears only where something was copied. tmux is a script here, which keeps what it gets or fails.
#[test]
fn ticket_is_copied_by_tmux_or_by_the_terminal() {
    use std::os::unix::fs::PermissionsExt;

    if !terminals_work() {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    let kept = root.path().join("kept");
    let path = std::env::var("PATH").unwrap();
    for (kind, script, words) in [
        ("new", "[ \"$*\" = 'load-buffer -w -' ] && exec cat", "✓ The ticket is in tmux's buffer"),
        ("old", "[ \"$*\" = 'load-buffer -' ] && exec cat", "✓ The ticket is in tmux's buffer"),
        ("failing", "exit 1", "✗ Nothing was copied"),
        ("none", "", "• This terminal was asked to copy"),
    ] {
        let folder = root.path().join(kind);
        std::fs::create_dir(&folder).unwrap();
        let program = folder.join("tmux");
        std::fs::write(&program, format!("#!/bin/sh\n{script} >{}\n", kept.display())).unwrap();
        std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
        let _ = std::fs::remove_file(&kept);
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_fairdeal"));
        command.args(["--name", "Anna", "host", "loot", "--listen", "/ip4/127.0.0.1/tcp/0", "--no-lan"]);
        let path = format!("{}:{path}", folder.display());
        let tmux = if kind == "none" { "" } else { "/tmp/none,1,0" };
        let data = folder.join("data");
        let mut player = Player::starts_with(&data, command, &[("PATH", &path), ("TMUX", tmux)]);
        player.reads("[y copy]");
        player.presses("y");
        player.reads(words);
        let is_copied = std::fs::read_to_string(&kept).is_ok_and(|text| text.starts_with("fd1"));
        assert_eq!(is_copied, matches!(kind, "new" | "old"), "{kind}");
        let bytes = String::from_utf8_lossy(&player.bytes.lock().unwrap()).into_owned();
        assert_eq!(bytes.contains("\x1b]52;c;"), kind == "none", "{kind}");
    }
}

/// Without colours a QR code needs characters.
#[test]
fn qr_code_is_seen_without_colours() {
    if !terminals_work() {
        return;
    }
    let data = tempfile::tempdir().unwrap();
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_fairdeal"));
    command.args(["--name", "Anna", "host", "loot", "--listen", "/ip4/127.0.0.1/tcp/0", "--no-lan"]);
    let mut player = Player::starts_with(data.path(), command, &[("NO_COLOR", "1")]);
    player.reads("[Q QR code]");
    player.presses("Q");
    player.sees("QR code", |shown| {
        let inked: usize = ["█", "▀", "▄"].map(|block| shown.matches(block).count()).iter().sum();
        inked > 300 && shown.matches(' ').count() > 300
    });
}
