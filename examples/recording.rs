//! Records each game from the running program, as an animated SVG file in a folder.
//!
//! ```sh
//! cargo build && cargo run --example recording -- docs/recordings
//! ```
//!
//! The program runs in a terminal of its own and plays against bots. The player at its keyboard asks for a hint and does
//! what it says. To record only some games, name them after the folder.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use fairdeal_games::GAMES;
use fairdeal_ui::svg::film;
use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};

/// Columns and rows of the terminal.
const SIZE: (u16, u16) = (120, 40);
/// Time between two looks at the screen.
const LOOK: Duration = Duration::from_millis(100);
/// The length of a recording.
const LENGTH: Duration = Duration::from_secs(24);
/// The longest wait for the first turn.
const PATIENCE: Duration = Duration::from_secs(60);
/// The largest file, in bytes.
const MOST: usize = 500_000;

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments
        .next()
        .map(PathBuf::from)
        .context("name a folder: cargo run --example recording -- docs/recordings")?;
    let wanted: Vec<String> = arguments.collect();
    if let Some(id) = wanted.iter().find(|id| GAMES.iter().all(|info| info.id != id.as_str())) {
        anyhow::bail!("there is no game '{id}'");
    }
    std::fs::create_dir_all(&folder)?;
    for info in GAMES.iter().filter(|info| wanted.is_empty() || wanted.iter().any(|id| id == info.id)) {
        let recording = record(info.id, info.most_seats.min(3) - 1)?;
        let path = folder.join(format!("{}.svg", info.id));
        std::fs::write(&path, &recording).with_context(|| format!("cannot write {}", path.display()))?;
        println!("{}: {} kB", path.display(), recording.len() / 1000);
    }
    Ok(())
}

/// The program beside this example.
fn program() -> anyhow::Result<PathBuf> {
    let own = std::env::current_exe()?;
    let folder = own.parent().and_then(Path::parent).context("this example is not in a target folder")?;
    let program = folder.join(format!("fairdeal{}", std::env::consts::EXE_SUFFIX));
    anyhow::ensure!(program.exists(), "build the program first: cargo build");
    Ok(program)
}

fn record(game: &str, bots: u8) -> anyhow::Result<String> {
    let data = tempfile::tempdir()?;
    let (cols, rows) = SIZE;
    let size = PtySize { rows, cols, ..PtySize::default() };
    let pair = native_pty_system().openpty(size)?;
    let mut command = CommandBuilder::new(program()?);
    command.args(["play", game, "--bots", &bots.to_string(), "--name", "Jo"]);
    command.env("FAIRDEAL_DATA_DIR", data.path());
    command.env("TERM", "xterm-256color");
    command.env("COLORTERM", "truecolor");
    let mut child = pair.slave.spawn_command(command)?;
    drop(pair.slave);
    let parser = vt100::Parser::new(rows.try_into()?, cols.try_into()?, 0);
    let screen = Arc::new(Mutex::new(parser));
    let mut output = pair.master.try_clone_reader()?;
    let shown = Arc::clone(&screen);
    let reader = thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = output.read(&mut bytes) {
            let Some(bytes) = bytes.get(..count) else { break };
            shown.lock().unwrap_or_else(PoisonError::into_inner).process(bytes);
        }
    });
    let mut keyboard = pair.master.take_writer()?;
    let look = || frame(screen.lock().unwrap_or_else(PoisonError::into_inner).screen());
    // The first shuffles are not worth watching.
    let started = Instant::now();
    while !text(&look()).contains("YOUR TURN") {
        if started.elapsed() > PATIENCE {
            child.kill()?;
            anyhow::bail!("{game} does not begin");
        }
        sleep(LOOK);
    }
    let mut frames: Vec<(u32, Buffer)> = Vec::new();
    let (since, mut next_key) = (Instant::now(), Duration::from_millis(1200));
    let mut hinted = false;
    while since.elapsed() < LENGTH {
        let (now, frame) = (since.elapsed(), look());
        let words = text(&frame);
        if frames.last().is_none_or(|(_, last)| *last != frame) {
            let at = if frames.is_empty() { 0 } else { u32::try_from(now.as_millis())? };
            frames.push((at, frame));
        }
        if now >= next_key {
            let key: &[u8] = match hinted {
                _ if !words.contains("YOUR TURN") && !words.contains("Enter") => b"",
                false if words.contains("YOUR TURN") => b"h",
                _ => b"\r",
            };
            hinted = key == b"h";
            // A program that has ended takes no keys; the recording then ends too.
            if keyboard.write_all(key).and_then(|()| keyboard.flush()).is_err() {
                break;
            }
            next_key = now + Duration::from_millis(1400);
        }
        sleep(LOOK);
    }
    child.kill()?;
    child.wait()?;
    drop(keyboard);
    drop(pair.master);
    let _ = reader.join();
    // A film that is too large ends earlier.
    let mut end = u32::try_from(LENGTH.as_millis())?;
    loop {
        let recording = film(&frames, end);
        if recording.len() <= MOST || frames.len() < 2 {
            return Ok(recording);
        }
        if let Some((at, _)) = frames.pop() {
            end = at;
        }
    }
}

fn text(frame: &Buffer) -> String {
    frame.content.iter().map(ratatui::buffer::Cell::symbol).collect()
}

/// The terminal's screen as a frame.
fn frame(screen: &vt100::Screen) -> Buffer {
    let (cols, rows) = SIZE;
    let mut buffer = Buffer::empty(Rect::new(0, 0, cols, rows));
    let colour = |colour| match colour {
        vt100::Color::Rgb(red, green, blue) => Color::Rgb(red, green, blue),
        _ => Color::Reset,
    };
    for (y, x) in (0..rows).flat_map(|y| (0..cols).map(move |x| (y, x))) {
        let Some(cell) = screen.cell(y, x) else { continue };
        let mut style = Style::new().fg(colour(cell.fgcolor())).bg(colour(cell.bgcolor()));
        for (is_set, modifier) in [
            (cell.bold(), Modifier::BOLD),
            (cell.underline(), Modifier::UNDERLINED),
            (cell.inverse(), Modifier::REVERSED),
        ] {
            if is_set {
                style = style.add_modifier(modifier);
            }
        }
        let symbol = if cell.has_contents() { cell.contents() } else { " " };
        buffer.set_string(x, y, symbol, style);
    }
    buffer
}
