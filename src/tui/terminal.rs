//! The terminal: setup, restoring, and the player's inputs.

use std::io::{Stdout, stdout};
use std::mem::ManuallyDrop;

use fairdeal_ui::app::event::Input;
use fairdeal_ui::input::{Key, KeyCode, UserInput};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{
    self, DisableBracketedPaste, DisableFocusChange, DisableMouseCapture, EnableBracketedPaste, EnableFocusChange,
    EnableMouseCapture, Event, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{EnterAlternateScreen, disable_raw_mode, enable_raw_mode};
use ratatui::layout::{Position, Rect};
use tokio::sync::mpsc;

use super::background::Answer;
use super::frugal::Frugal;
use super::signs::give_back_after_panic;

/// The terminal in raw mode, restored on drop.
pub(super) struct Screen {
    /// Never dropped: ratatui's destructor prints to standard error if the terminal is gone. If standard error was that
    /// terminal, it panics, and a panic in a destructor aborts the program.
    pub(super) terminal: ManuallyDrop<Terminal<Frugal<CrosstermBackend<Stdout>>>>,
}

impl Screen {
    pub(super) fn open() -> std::io::Result<Self> {
        // Prepares the terminal; the one that it returns writes more than it needs to.
        drop(ratatui::try_init()?);
        let terminal = Terminal::new(Frugal(CrosstermBackend::new(stdout())))?;
        // ratatui's own hook restores the screen, but not the modes set here.
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let _ = execute!(stdout(), DisableMouseCapture, DisableBracketedPaste, DisableFocusChange, Show);
            give_back_after_panic(&mut stdout());
            hook(info);
        }));
        let terminal = ManuallyDrop::new(terminal);
        let screen = Self { terminal };
        execute!(stdout(), EnableMouseCapture, EnableBracketedPaste, EnableFocusChange)?;
        Ok(screen)
    }

    /// Gives the terminal back to the shell, as it was before.
    pub(super) fn give_back(&mut self) -> std::io::Result<()> {
        execute!(stdout(), DisableMouseCapture, DisableBracketedPaste, DisableFocusChange, Show)?;
        ratatui::try_restore()
    }

    /// Takes the terminal again, whatever the shell has made of it. The next frame is drawn whole.
    pub(super) fn take_again(&mut self) -> std::io::Result<()> {
        // Raw mode first: a program in the background is stopped here until it may have the terminal. While crossterm
        // takes the mode for raw, it changes nothing.
        disable_raw_mode()?;
        enable_raw_mode()?;
        execute!(stdout(), EnterAlternateScreen, EnableMouseCapture, EnableBracketedPaste, EnableFocusChange)?;
        let size = self.terminal.size()?;
        self.terminal.resize(Rect::from((Position::ORIGIN, size)))
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // The panic hook has restored the terminal and printed the message. Restoring again would let later output
        // overwrite it.
        if std::thread::panicking() {
            return;
        }
        // Ignore errors: the terminal may be gone.
        let _ = execute!(stdout(), DisableMouseCapture, DisableBracketedPaste, DisableFocusChange, Show);
        let _ = ratatui::try_restore();
    }
}

/// A report of the terminal.
#[derive(Debug)]
pub(super) enum Heard {
    Input(Input),
    /// Its window has the focus, or has lost it.
    Focus(bool),
}

/// Reads the terminal in a background thread that ends with the program.
pub(super) fn heard() -> mpsc::Receiver<Heard> {
    let (sender, receiver) = mpsc::channel(64);
    std::thread::spawn(move || {
        let mut answer = Answer::default();
        loop {
            let inputs = if answer.is_open() && !event::poll(answer.patience()).unwrap_or(true) {
                answer.release()
            } else {
                match event::read() {
                    Ok(Event::FocusGained) if sender.blocking_send(Heard::Focus(true)).is_ok() => continue,
                    Ok(Event::FocusLost) if sender.blocking_send(Heard::Focus(false)).is_ok() => continue,
                    Ok(event) => user_input(event).map_or_else(Vec::new, |input| answer.take(input)),
                    Err(_) => return,
                }
            };
            for input in inputs {
                if sender.blocking_send(Heard::Input(input)).is_err() {
                    return;
                }
            }
        }
    });
    receiver
}

fn user_input(event: Event) -> Option<UserInput> {
    match event {
        Event::Key(key) if key.kind == KeyEventKind::Press => pressed(key).map(UserInput::Key),
        Event::Paste(text) => Some(UserInput::Paste(text)),
        Event::Mouse(mouse) => clicked(mouse),
        Event::Resize(..) => Some(UserInput::Redraw),
        _ => None,
    }
}

fn pressed(key: KeyEvent) -> Option<Key> {
    use ratatui::crossterm::event::KeyCode as Code;
    let code = match key.code {
        Code::Char(c) => KeyCode::Char(c),
        Code::F(number) => KeyCode::F(number),
        Code::Up => KeyCode::Up,
        Code::Down => KeyCode::Down,
        Code::Left => KeyCode::Left,
        Code::Right => KeyCode::Right,
        Code::Tab => KeyCode::Tab,
        Code::BackTab => KeyCode::BackTab,
        Code::Home => KeyCode::Home,
        Code::End => KeyCode::End,
        Code::PageUp => KeyCode::PageUp,
        Code::PageDown => KeyCode::PageDown,
        Code::Enter => KeyCode::Enter,
        Code::Esc => KeyCode::Esc,
        Code::Backspace => KeyCode::Backspace,
        Code::Delete => KeyCode::Delete,
        _ => return None,
    };
    Some(Key {
        code,
        ctrl: key.modifiers.contains(KeyModifiers::CONTROL),
        alt: key.modifiers.contains(KeyModifiers::ALT),
    })
}

fn clicked(mouse: MouseEvent) -> Option<UserInput> {
    let at = Position::new(mouse.column, mouse.row);
    Some(match mouse.kind {
        MouseEventKind::Down(MouseButton::Left) => UserInput::Click(at),
        MouseEventKind::Down(MouseButton::Right) => UserInput::SecondaryClick(at),
        MouseEventKind::Moved => UserInput::MouseMoved(at),
        MouseEventKind::ScrollUp => UserInput::ScrollUp,
        MouseEventKind::ScrollDown => UserInput::ScrollDown,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_presses_of_known_keys_are_inputs() {
        let key = KeyEvent::new(event::KeyCode::Char('p'), KeyModifiers::CONTROL);
        let expected = Key { ctrl: true, ..KeyCode::Char('p').into() };
        assert_eq!(user_input(Event::Key(key)), Some(UserInput::Key(expected)));
        let released = KeyEvent { kind: KeyEventKind::Release, ..key };
        assert_eq!(user_input(Event::Key(released)), None);
        let unknown = KeyEvent::new(event::KeyCode::CapsLock, KeyModifiers::NONE);
        assert_eq!(user_input(Event::Key(unknown)), None);
    }
}
