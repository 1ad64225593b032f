//! The terminal around the program: kinds, sizes, signals, panics, the clipboard.

use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use fairdeal::store::DataDir;
use fairdeal::tui::{Data, Interface, Start};
use fairdeal_ui::theme::Depth;
use portable_pty::{CommandBuilder, PtySize, native_pty_system};

use super::{Player, SIZE, end_of, parser, terminals_work};

/// Environment variable with the data directory of an interface that is to panic.
const PANICS_IN: &str = "FAIRDEAL_TEST_PANICS_IN";

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
    command.args(["--exact", "screen::terminals::a_panic_where_it_is_asked_for", "--nocapture"]);
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
        let mut command = crate::process::fairdeal();
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
