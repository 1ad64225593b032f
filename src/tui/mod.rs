//! The terminal interface: a screen over a session.
//!
//! [`app`] is the state and its transitions, without I/O; the other files draw it. This file owns
//! the terminal and gives it back whatever happens: on return, on an error, on a panic and on
//! SIGTERM or SIGHUP.

pub mod app;
mod board;
mod boards;
mod burn;
#[allow(dead_code)]
mod canvas;
mod cards;
#[allow(dead_code)]
mod field;
#[allow(dead_code)]
mod focus;
mod help;
#[allow(dead_code)]
mod keys;
mod lobby;
#[allow(dead_code)]
mod news;
mod plain;
mod rows;
#[allow(dead_code)]
mod screen;
#[allow(dead_code)]
mod screens;
#[allow(dead_code)]
mod shell;
mod style;
mod table;
#[allow(dead_code, unused_macros, unused_imports)]
mod tables;
#[allow(dead_code)]
#[cfg(test)]
mod testing;
pub mod theme;

use std::io::stdout;
use std::time::Duration;

use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{
    self, DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture,
};
use ratatui::crossterm::execute;
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval};

pub use self::app::Ending;
use self::app::{App, Effect, Input};
use crate::session::{Command, Handle};

/// How the interface is drawn.
#[derive(Clone, Copy, Debug, Default)]
pub struct TuiOptions {
    /// ASCII characters alone.
    pub ascii: bool,
    /// No colours; what is selected shows by reverse and bold.
    pub mono: bool,
}

/// The terminal cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the terminal cannot be used: {0}; try --headless")]
pub struct TuiError(#[from] std::io::Error);

/// How often something that moves is drawn again.
const FRAME: Duration = Duration::from_millis(140);

/// Shows a session until it ends or the player leaves; says how it ended.
///
/// # Errors
/// [`TuiError`] if the terminal fails.
pub async fn run(mut handle: Handle, options: TuiOptions) -> Result<Ending, TuiError> {
    let mut screen = Screen::open()?;
    let mut keys = terminal_events();
    let mut ticks = interval(FRAME);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut app = App::new(options);
    let mut dirty = true;
    let mut gone = false;
    let mut signals = Signals::new()?;
    loop {
        if dirty {
            screen.terminal.draw(|frame| app.draw(frame))?;
        }
        let input = tokio::select! {
            event = handle.events.recv(), if !gone => match event {
                Some(event) => Input::Session(event),
                None => {
                    gone = true;
                    Input::SessionEnded
                }
            },
            event = keys.recv() => match event {
                Some(event) => Input::Terminal(event),
                None => break,
            },
            _ = ticks.tick(), if app.is_moving() => Input::Tick,
            () = signals.recv() => break,
        };
        dirty = true;
        let mut leave = false;
        for effect in app.update(input) {
            match effect {
                Effect::Act(action) => {
                    // A session that has ended says so by its events.
                    let _ = handle.commands.send(Command::Act(action)).await;
                }
                Effect::Forfeit => {
                    let _ = handle.commands.send(Command::Leave).await;
                }
                Effect::Claim => {
                    let _ = handle.commands.send(Command::Claim).await;
                }
                Effect::Leave => leave = true,
            }
        }
        if leave {
            break;
        }
    }
    let _ = handle.commands.send(Command::Quit).await;
    drop(screen);
    // The session closes its connections before the program ends.
    while !gone && handle.events.recv().await.is_some() {}
    Ok(app.ending())
}

/// The terminal in raw mode, given back when dropped.
struct Screen {
    terminal: DefaultTerminal,
}

impl Screen {
    fn open() -> std::io::Result<Self> {
        let terminal = ratatui::try_init()?;
        // ratatui's own hook restores the screen, but not what is set here.
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let _ = execute!(stdout(), DisableMouseCapture, DisableBracketedPaste);
            hook(info);
        }));
        let screen = Self { terminal };
        execute!(stdout(), EnableMouseCapture, EnableBracketedPaste)?;
        Ok(screen)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = execute!(stdout(), DisableMouseCapture, DisableBracketedPaste);
        ratatui::restore();
    }
}

/// Reads the terminal in a thread of its own, which ends with the program.
fn terminal_events() -> mpsc::Receiver<event::Event> {
    let (sender, receiver) = mpsc::channel(64);
    std::thread::spawn(move || {
        while let Ok(event) = event::read() {
            if sender.blocking_send(event).is_err() {
                return;
            }
        }
    });
    receiver
}

/// The signals that ask a program to go.
struct Signals {
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    hang_up: tokio::signal::unix::Signal,
}

impl Signals {
    #[cfg(unix)]
    fn new() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    #[cfg(unix)]
    async fn recv(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.hang_up.recv() => {}
        }
    }

    #[cfg(not(unix))]
    fn new() -> std::io::Result<Self> {
        Ok(Self {})
    }

    #[cfg(not(unix))]
    async fn recv(&mut self) {
        std::future::pending::<()>().await;
    }
}
