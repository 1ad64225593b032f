//! Reads every screen back from terminals, cell by cell, and compares it with the frame that was meant.
//!
//! Two terminals run in this process (vt100, alacritty_terminal). tmux, GNU screen, Neovim's terminal and xterm.js run
//! only where they are installed (`just terminals`). The first three draw into a terminal of their own, which vt100 reads.

// A panic is a failed test.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

use std::cell::RefCell;
use std::fmt;
use std::io::{Read as _, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use alacritty_terminal::event::VoidListener;
use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::cell::Flags;
use alacritty_terminal::term::test::TermSize;
use alacritty_terminal::term::{Config, Term};
use alacritty_terminal::vte::ansi::{self, NamedColor};
use fairdeal_games::GAMES;
use fairdeal_ui::app::screens::samples::screens;
use fairdeal_ui::app::testing::TestApp;
use fairdeal_ui::appearance::{ThemeChoice, ThemeName};
use fairdeal_ui::theme::Depth;
use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use ratatui::backend::CrosstermBackend;
use ratatui::buffer::Buffer;
use ratatui::crossterm::style::force_color_output;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};
use ratatui::{Terminal, TerminalOptions, Viewport};
use serde_json::Value;

use self::require::skip;
use super::frugal::Frugal;
use super::gallery::table;

#[path = "../../tests/fixture/require.rs"]
mod require;

/// Columns and rows.
const SIZE: (u16, u16) = (120, 40);
/// How long a terminal may take to show a frame.
const PATIENCE: Duration = Duration::from_secs(20);
/// The bytes before the first frame: no cursor, and a clean screen.
const BEGIN: &[u8] = b"\x1b[?25l\x1b[2J\x1b[H";

/// A colour as a terminal knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ink {
    Own,
    Indexed(u8),
    Rgb(u8, u8, u8),
}

/// A cell of a screen.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Look {
    text: String,
    ink: Ink,
    ground: Ink,
    bold: bool,
    underlined: bool,
    reversed: bool,
}

impl Look {
    /// The visible part of a cell: a blank has no ink.
    fn seen(mut self) -> Self {
        if self.text.is_empty() {
            self.text.push(' ');
        }
        if self.text == " " && !self.underlined && !self.reversed {
            self.ink = Ink::Own;
            self.bold = false;
        }
        self
    }
}

/// The cells of a screen, row by row; `None` behind a wide character.
type Cells = Vec<Vec<Option<Look>>>;

/// A frame as it is written and as it is meant.
struct Frame {
    name: String,
    bytes: Vec<u8>,
    meant: Cells,
}

/// Keeps what the backend writes.
#[derive(Clone, Default)]
struct Tap(Rc<RefCell<Vec<u8>>>);

impl Write for Tap {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Every screen and a table of every game, drawn one over the other as a player sees them.
fn frames(depth: Depth, ascii: bool) -> Vec<Frame> {
    // The environment of the test run may forbid colours.
    force_color_output(true);
    let tap = Tap::default();
    let viewport = Viewport::Fixed(Rect::new(0, 0, SIZE.0, SIZE.1));
    let backend = Frugal(CrosstermBackend::new(tap.clone()));
    let mut terminal = Terminal::with_options(backend, TerminalOptions { viewport }).unwrap();
    let mut all: Vec<(String, TestApp)> =
        (screens(ascii).into_iter()).map(|(name, stage)| (name.to_owned(), stage)).collect();
    all.extend(GAMES.iter().enumerate().map(|(number, info)| (info.id.to_owned(), table(number, 6).0)));
    let drawn = all.into_iter().map(|(name, mut stage)| {
        let context = stage.shell.context_mut();
        (context.depth, context.ascii) = (depth, ascii);
        context.settings.theme = ThemeChoice::BuiltIn(ThemeName::Dark);
        context.dress();
        let frame = terminal.draw(|frame| stage.shell.draw(frame)).unwrap();
        Frame { name, meant: meant(frame.buffer), bytes: tap.0.take() }
    });
    let mut frames: Vec<Frame> = drawn.collect();
    frames[0].bytes.splice(0..0, BEGIN.iter().copied());
    frames
}

fn meant(buffer: &Buffer) -> Cells {
    let ink = |colour| match colour {
        Color::Rgb(red, green, blue) => Ink::Rgb(red, green, blue),
        Color::Indexed(index) => Ink::Indexed(index),
        Color::Reset => Ink::Own,
        other => panic!("no theme uses {other:?}"),
    };
    let row = |y: u16| {
        let mut wide = 0;
        let cells = (0..buffer.area.width).map(|x| {
            let cell = &buffer[(x, y)];
            if wide > 0 {
                wide -= 1;
                return None;
            }
            wide = fairdeal_ui::svg::columns(cell) - 1;
            let look = Look {
                text: cell.symbol().to_owned(),
                ink: ink(cell.fg),
                ground: ink(cell.bg),
                bold: cell.modifier.contains(Modifier::BOLD),
                underlined: cell.modifier.contains(Modifier::UNDERLINED),
                reversed: cell.modifier.contains(Modifier::REVERSED),
            };
            Some(look.seen())
        });
        cells.collect()
    };
    (0..buffer.area.height).map(row).collect()
}

/// The cells where two screens differ, in words.
struct Differences<'a>(&'a Cells, &'a Cells);

impl Differences<'_> {
    fn all(&self) -> impl Iterator<Item = (usize, usize, &Option<Look>, &Option<Look>)> {
        self.0
            .iter()
            .zip(self.1)
            .enumerate()
            .flat_map(|(y, (meant, shown))| {
                meant.iter().zip(shown).enumerate().map(move |(x, (meant, shown))| (x, y, meant, shown))
            })
            .filter(|(.., meant, shown)| meant != shown)
    }
}

impl fmt::Display for Differences<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} cells differ:", self.all().count())?;
        for (x, y, meant, shown) in self.all().take(8) {
            writeln!(f, "  column {x}, row {y}: {meant:?} is shown as {shown:?}")?;
        }
        Ok(())
    }
}

fn read_vt100(screen: &vt100::Screen) -> Cells {
    let ink = |colour| match colour {
        vt100::Color::Default => Ink::Own,
        vt100::Color::Idx(index) => Ink::Indexed(index),
        vt100::Color::Rgb(red, green, blue) => Ink::Rgb(red, green, blue),
    };
    let look = |y, x| {
        let cell = screen.cell(y, x).unwrap();
        let look = Look {
            text: cell.contents().to_owned(),
            ink: ink(cell.fgcolor()),
            ground: ink(cell.bgcolor()),
            bold: cell.bold(),
            underlined: cell.underline(),
            reversed: cell.inverse(),
        };
        (!cell.is_wide_continuation()).then(|| look.seen())
    };
    (0..SIZE.1).map(|y| (0..SIZE.0).map(|x| look(y, x)).collect()).collect()
}

fn read_alacritty(term: &Term<VoidListener>) -> Cells {
    let ink = |colour| match colour {
        ansi::Color::Named(NamedColor::Foreground | NamedColor::Background) => Ink::Own,
        ansi::Color::Named(other) => panic!("no theme uses {other:?}"),
        ansi::Color::Indexed(index) => Ink::Indexed(index),
        ansi::Color::Spec(rgb) => Ink::Rgb(rgb.r, rgb.g, rgb.b),
    };
    let look = |y: usize, x: usize| {
        let cell = &term.grid()[Line(i32::try_from(y).unwrap())][Column(x)];
        let look = Look {
            text: std::iter::once(&cell.c).chain(cell.zerowidth().unwrap_or_default().iter()).collect(),
            ink: ink(cell.fg),
            ground: ink(cell.bg),
            bold: cell.flags.contains(Flags::BOLD),
            underlined: cell.flags.contains(Flags::UNDERLINE),
            reversed: cell.flags.contains(Flags::INVERSE),
        };
        (!cell.flags.contains(Flags::WIDE_CHAR_SPACER)).then(|| look.seen())
    };
    let (rows, columns) = (term.screen_lines(), term.columns());
    (0..rows).map(|y| (0..columns).map(|x| look(y, x)).collect()).collect()
}

#[test]
fn terminals_in_this_process_show_what_was_meant() {
    for (depth, ascii) in [
        (Depth::True, false),
        (Depth::Indexed, false),
        (Depth::Indexed, true),
        (Depth::Inks, true),
        (Depth::Mono, false),
        (Depth::Mono, true),
    ] {
        let mut vt100 = vt100::Parser::new(SIZE.1.try_into().unwrap(), SIZE.0.try_into().unwrap(), 0);
        let size = TermSize::new(SIZE.0.into(), SIZE.1.into());
        let mut alacritty = Term::new(Config::default(), &size, VoidListener);
        let mut processor: ansi::Processor = ansi::Processor::new();
        for Frame { name, bytes, meant } in frames(depth, ascii) {
            vt100.process(&bytes);
            processor.advance(&mut alacritty, &bytes);
            for (reader, shown) in [("vt100", read_vt100(vt100.screen())), ("alacritty", read_alacritty(&alacritty))] {
                assert!(meant == shown, "{reader}, {depth:?}, {name}: {}", Differences(&meant, &shown));
            }
        }
    }
}

/// Writes each frame into a file, and a script that shows one after each line that it reads.
fn script(folder: &Path, frames: &[Frame]) -> (PathBuf, Vec<PathBuf>) {
    let files = frames
        .iter()
        .enumerate()
        .map(|(number, frame)| {
            let path = folder.join(format!("{number:03}"));
            std::fs::write(&path, &frame.bytes).unwrap();
            path
        })
        .collect();
    let path = folder.join("show.sh");
    let text = format!("stty -echo\nfor file in {}/[0-9]*; do cat \"$file\"; read -r _; done\n", folder.display());
    std::fs::write(&path, text).unwrap();
    (path, files)
}

/// Shows the frames in a terminal inside a terminal, and reads back the outer one. `spare` rows belong to the inner
/// terminal itself.
fn shows(inner: &str, command: CommandBuilder, spare: u16, frames: &[Frame]) {
    let (cols, rows) = (SIZE.0, SIZE.1 + spare);
    let size = PtySize { rows, cols, ..PtySize::default() };
    let pair = match native_pty_system().openpty(size) {
        Ok(pair) => pair,
        Err(reason) => return skip("pty", reason),
    };
    let mut child = pair.slave.spawn_command(command).unwrap();
    drop(pair.slave);
    let parser = vt100::Parser::new(rows.try_into().unwrap(), cols.try_into().unwrap(), 0);
    let screen = Arc::new(Mutex::new(parser));
    let (shown, mut output) = (Arc::clone(&screen), pair.master.try_clone_reader().unwrap());
    thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = output.read(&mut bytes) {
            shown.lock().unwrap().process(&bytes[..count]);
        }
    });
    let mut keyboard = pair.master.take_writer().unwrap();
    let mut wrong = Vec::new();
    for frame in frames {
        let since = Instant::now();
        let shown = loop {
            let shown = read_vt100(screen.lock().unwrap().screen());
            if shown == frame.meant || since.elapsed() > PATIENCE {
                break shown;
            }
            thread::sleep(Duration::from_millis(20));
        };
        if shown != frame.meant {
            wrong.push(format!("{}: {}", frame.name, Differences(&frame.meant, &shown)));
            break;
        }
        keyboard.write_all(b"\r").unwrap();
    }
    let _ = child.kill();
    let _ = child.wait();
    assert!(wrong.is_empty(), "{inner}: {}", wrong.join("\n"));
}

/// Whether a program is installed; asked for its version.
fn has(program: &str, argument: &str) -> bool {
    let found = Command::new(program).arg(argument).output();
    found.map_err(|reason| skip("terminals", format!("{program}: {reason}"))).is_ok()
}

fn in_terminal(program: &str, folder: &Path) -> CommandBuilder {
    let mut command = CommandBuilder::new(program);
    command.env("TERM", "xterm-256color");
    command.env("LC_ALL", "C.UTF-8");
    command.env("TMUX_TMPDIR", folder);
    command.env("SCREENDIR", folder.join("screens"));
    for name in ["TMUX", "STY", "COLORTERM", "NVIM"] {
        command.env_remove(name);
    }
    command
}

#[test]
fn tmux_shows_what_was_meant() {
    if !has("tmux", "-V") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let frames = frames(Depth::True, false);
    let (script, _) = script(folder.path(), &frames);
    let settings = folder.path().join("tmux.conf");
    let text =
        "set -g status off\nset -g default-terminal tmux-256color\nset -as terminal-features ',xterm-256color:RGB'\n";
    std::fs::write(&settings, text).unwrap();
    let mut command = in_terminal("tmux", folder.path());
    command.args(["-u", "-L", "fairdeal", "-f"]);
    command.arg(&settings);
    command.args(["new-session", "sh"]);
    command.arg(&script);
    shows("tmux", command, 0, &frames);
}

/// GNU screen knows 256 colours: the environment of a program in it says so ([`Depth::from_environment`]).
#[test]
fn gnu_screen_shows_what_was_meant() {
    if !has("screen", "-v") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let inside = |name: &str| (name == "STY" || name == "COLORTERM").then(|| "truecolor".to_owned());
    let frames = frames(Depth::from_environment(inside), false);
    let (script, _) = script(folder.path(), &frames);
    let settings = folder.path().join("screenrc");
    let text = "startup_message off\nterm screen-256color\ndefutf8 on\nvbell off\n";
    std::fs::write(&settings, text).unwrap();
    let sockets = folder.path().join("screens");
    std::fs::create_dir(&sockets).unwrap();
    let private = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    std::fs::set_permissions(&sockets, private).unwrap();
    let mut command = in_terminal("screen", folder.path());
    command.args(["-U", "-c"]);
    command.arg(&settings);
    command.arg("sh");
    command.arg(&script);
    shows("GNU screen", command, 0, &frames);
}

#[test]
fn neovim_shows_what_was_meant() {
    if !has("nvim", "--version") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let frames = frames(Depth::True, false);
    let (script, _) = script(folder.path(), &frames);
    let mut command = in_terminal("nvim", folder.path());
    let settings = "set laststatus=0 noruler noshowcmd noshowmode termguicolors shortmess+=F";
    let open = format!("terminal sh {}", script.display());
    command.args(["-u", "NONE", "-i", "NONE", "-n", "--cmd", settings, "-c", &open, "-c", "startinsert"]);
    shows("Neovim", command, 1, &frames);
}

#[test]
fn xterm_js_shows_what_was_meant() {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/xterm-js");
    if !program.join("node_modules").exists() {
        return skip("terminals", "`npm ci --prefix tests/xterm-js` has not been run");
    }
    if !has("node", "--version") {
        return;
    }
    for depth in [Depth::True, Depth::Indexed, Depth::Mono] {
        let folder = tempfile::tempdir().unwrap();
        let frames = frames(depth, false);
        let (_, files) = script(folder.path(), &frames);
        let output = Command::new("node")
            .arg(program.join("read.js"))
            .args([SIZE.0.to_string(), SIZE.1.to_string()])
            .args(&files)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(text.lines().count(), frames.len());
        for (line, frame) in text.lines().zip(&frames) {
            let shown = read_json(&serde_json::from_str(line).unwrap(), &frame.meant);
            assert!(shown == frame.meant, "xterm.js, {depth:?}, {}: {}", frame.name, Differences(&frame.meant, &shown));
        }
    }
}

/// The cells of `tests/xterm-js/read.js`. Behind a wide character it has an empty cell, as for a blank.
fn read_json(screen: &Value, meant: &Cells) -> Cells {
    let ink = |text: &str| match text.split_at(1) {
        ("d", _) => Ink::Own,
        ("i", index) => Ink::Indexed(index.parse().unwrap()),
        (_, digits) => {
            let part = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
            Ink::Rgb(part(0), part(2), part(4))
        }
    };
    let look = |cell: &Value, meant: &Option<Look>| {
        let flag = |at: usize| cell[at].as_bool().unwrap();
        let text = cell[0].as_str().unwrap().to_owned();
        if text.is_empty() && meant.is_none() {
            return None;
        }
        let look = Look {
            text,
            ink: ink(cell[1].as_str().unwrap()),
            ground: ink(cell[2].as_str().unwrap()),
            bold: flag(3),
            underlined: flag(4),
            reversed: flag(5),
        };
        Some(look.seen())
    };
    let rows = screen.as_array().unwrap().iter().zip(meant);
    let row = |(shown, meant): (&Value, &Vec<Option<Look>>)| {
        let cells = shown.as_array().unwrap().iter().zip(meant);
        cells.map(|(cell, meant)| look(cell, meant)).collect()
    };
    rows.map(row).collect()
}
