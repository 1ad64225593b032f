//! Games, lists and settings on the screen, two programs at one table.

use std::thread;
use std::time::{Duration, Instant};

use fairdeal::store::{DataDir, DataView};
use fairdeal_peers::PeerId;
use fairdeal_session::people::Change;
use portable_pty::CommandBuilder;

use super::{DOWN, ENTER, PATIENCE, Player, RIGHT, UP, terminals_work};
use crate::net::LISTEN;
use crate::process::{Program, Relay};

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

    // A terminal that goes away sends SIGHUP, and the program takes its leave. (The library's `kill` lets it a quarter of a
    // second for that, whatever the disk does.)
    let pid = ben.child.process_id().unwrap().to_string();
    assert!(std::process::Command::new("kill").args(["-HUP", &pid]).status().unwrap().success());
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
    ben.reads("one hand");
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
    player.reads("1  Loot, ");
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
    for _ in 0..3 {
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
    // What was listed before the game is not listed after it. A table whose seats are all taken is listed nowhere once its
    // host has told the meeting point: it tells it one thing a second.
    player.presses("r");
    player.reads("seal");
    player.presses("q");
    player.reads("Leave the table?");
    player.presses("y");
    player.sees("no table with a free seat", |shown| {
        shown.contains("people") && shown.contains("Open tables") && !shown.contains("1 free")
    });
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
            let output = crate::process::fairdeal().arg("--data-dir").arg(data).args(args).output().unwrap();
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
