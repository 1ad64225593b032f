//! The interface of a screen, and the state that all screens share.

use std::path::PathBuf;
use std::time::Duration;

use fairdeal_games::GameInfo;
use fairdeal_net::{JoinTarget, Ticket};
use fairdeal_protocol::crypto::pake::Password;
use fairdeal_ui::canvas::{Canvas, Layer, Marks, Target};
use fairdeal_ui::field::Field;
use fairdeal_ui::keys::{Intent, Keymap};
use fairdeal_ui::theme::{Depth, Theme};
use ratatui::layout::Rect;

use super::event::UiEvent;
use crate::history::Past;
use crate::session::Command;
use crate::session::lan::LanView;
use crate::store::Settings;

/// State that all screens share.
#[derive(Debug)]
pub(super) struct Context {
    /// The player's settings.
    pub(super) settings: Settings,
    /// Commands of keys.
    pub(super) keymap: Keymap,
    /// How things look.
    pub(super) theme: Theme,
    /// How many colours the terminal has.
    pub(super) depth: Depth,
    /// Whether ASCII was asked for on the command line.
    pub(super) ascii: bool,
    /// The name that was asked for on the command line.
    pub(super) given: Option<String>,
    /// The name that is given to others if neither that nor the settings have one.
    pub(super) user: String,
    /// The day, in UTC, as the deal of the day is named by.
    pub(super) today: String,
    /// The tables of the LAN, as long as they are looked for.
    pub(super) lan: Option<LanView>,
    /// Past games and tables that wait.
    pub(super) library: Library,
}

impl Context {
    /// The player's name.
    pub(super) fn name(&self) -> &str {
        let named = self.given.as_deref().or(self.settings.name.as_deref());
        named.unwrap_or(&self.user)
    }

    /// Makes the theme again, after the settings have changed.
    pub(super) fn dress(&mut self) {
        self.theme = Theme::new(
            self.settings.theme,
            self.depth,
            self.settings.pyramids,
            self.ascii || self.settings.ascii,
        );
    }
}

/// Games in the data directory.
#[derive(Clone, Debug, Default)]
pub(super) struct Library {
    /// Saved games: their ids, and each in words.
    pub(super) waiting: Vec<(String, String)>,
    /// Every past game, newest first, and those that wait.
    pub(super) past: Vec<Past>,
}

/// How a toast is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    Plain,
    Good,
    Bad,
}

/// A question over the screen; the answer goes to the screen that asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Question {
    pub(super) text: String,
    /// The answers: a key, a word, what it means. Back is always possible besides.
    pub(super) answers: Vec<(char, String, String)>,
}

impl Question {
    /// One that is answered by yes or no.
    pub(super) fn sure(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            answers: vec![('y', "yes".to_owned(), String::new())],
        }
    }
}

/// Settings of a new table.
#[derive(Clone, Debug)]
pub(super) struct Opening {
    pub game: String,
    pub seats: u8,
    /// How many of them bots take at once.
    pub bots: u8,
    /// The game's options.
    pub options: Vec<(String, String)>,
    /// Whether others can come, or all is within this program.
    pub networked: bool,
    /// Whether it is shown to the LAN.
    pub lan: bool,
    /// The password, if there is one.
    pub password: Option<Password>,
    /// Whether it is a solitaire that is not sealed, for practice.
    pub practice: bool,
}

/// A request to the program around the interface.
#[derive(Clone, Debug)]
pub(super) enum Effect {
    /// Open a table and sit down at it.
    Open(Opening),
    /// Join a table, by a ticket or an address.
    Join {
        /// Which.
        target: JoinTarget,
        /// The password, if there is one.
        password: Option<Password>,
    },
    /// Watch a table.
    Watch {
        /// Which.
        target: JoinTarget,
        /// The password, if there is one.
        password: Option<Password>,
    },
    /// Resume a saved game.
    Resume(String),
    /// Open a table for those who sit at the one that is over, and invite them.
    Rematch(Opening),
    /// Seat one more bot at the table whose lobby this is.
    SeatBot {
        /// The lobby's ticket.
        ticket: Ticket,
        /// Which of the local bots's bots.
        number: usize,
    },
    /// Tell the session something.
    Session(Command),
    /// Close the session; its table can be resumed.
    CloseSession,
    /// Read what lies in the data directory again.
    LoadLibrary,
    /// Put a text where it can be pasted from.
    Copy(String),
    /// Audit a transcript.
    Audit(PathBuf),
    /// Audit a transcript to look at the game again.
    Replay(PathBuf),
    /// Read no further in a transcript.
    StopReading,
    /// Write the settings.
    Save(Settings),
    /// End the program.
    Quit,
}

/// A request by a screen.
#[derive(Debug)]
pub(super) enum Request {
    /// Another screen over this one.
    Push(Box<dyn Screen>),
    /// Another screen in place of this one.
    Replace(Box<dyn Screen>),
    /// This screen is done.
    Leave,
    /// A word at the edge of the screen.
    Toast(Tone, String),
    /// A question over the screen.
    Ask(Question),
    /// The question over the screen is pointless by now.
    Withdraw,
    /// The focus on something.
    Focus(Target),
    /// The focus on what is most likely wanted.
    Unfocus,
    /// Other settings.
    Settings(Box<Settings>),
    /// Something of the program.
    Effect(Effect),
}

/// Requests of a screen while it handles an input.
pub(super) type Requests = Vec<Request>;

/// One place of the interface.
pub(super) trait Screen: std::fmt::Debug {
    /// Its name in the trail at the top.
    fn name(&self) -> String;

    /// Some words after the trail.
    fn heading(&self) -> String {
        String::new()
    }

    /// The game that it is about, whose rulebook can be opened from it.
    fn game(&self) -> Option<&'static GameInfo> {
        None
    }

    /// Draws it below the top row.
    fn draw(&mut self, context: &Context, canvas: &mut Canvas<'_>, area: Rect);

    /// Which places of a table stand out.
    fn marks(&self) -> Marks {
        Marks::default()
    }

    /// A target is chosen, by a key or by a click.
    fn choose(&mut self, context: &Context, target: Target, requests: &mut Requests);

    /// Something is asked for that the shell does not do by itself.
    fn intent(&mut self, context: &Context, intent: Intent, requests: &mut Requests) {
        let _ = (context, intent, requests);
    }

    /// Whether an arrow is for the screen itself and does not move the focus.
    fn steers(&self, intent: Intent) -> bool {
        let _ = intent;
        false
    }

    /// A letter that no intent has; says whether it is one of this screen's.
    fn letter(&mut self, context: &Context, letter: char, requests: &mut Requests) -> bool {
        let _ = (context, letter, requests);
        false
    }

    /// The field that is written in, if one is.
    fn field(&mut self) -> Option<&mut Field> {
        None
    }

    /// The text changes.
    fn written(&mut self, context: &Context, requests: &mut Requests) {
        let _ = (context, requests);
    }

    /// The text is confirmed.
    fn submit(&mut self, context: &Context, requests: &mut Requests) {
        let _ = (context, requests);
    }

    /// One step back; what is written is left as it was.
    fn back(&mut self, context: &Context, requests: &mut Requests) {
        let _ = context;
        requests.push(Request::Leave);
    }

    /// The answer to its question, by its number.
    fn answer(&mut self, context: &Context, answer: usize, requests: &mut Requests) {
        let _ = (context, answer, requests);
    }

    /// UiEvent from outside.
    fn on_event(&mut self, context: &Context, event: &UiEvent, requests: &mut Requests) {
        let _ = (context, event, requests);
    }

    /// The focus has come to a target.
    fn focused(&mut self, target: Option<Target>) {
        let _ = target;
    }

    /// Where the focus is to begin with; the first target if it does not matter.
    fn first_focus(&self, layer: &Layer) -> Option<Target> {
        layer.targets.first().map(|(_, target)| *target)
    }

    /// Whether the focus goes to a target by Tab.
    fn is_stop(&self, target: Target) -> bool {
        let _ = target;
        true
    }

    /// Time has passed.
    fn tick(&mut self, passed: Duration) {
        let _ = passed;
    }

    /// How soon it wants to be drawn again by itself.
    fn pace(&self) -> Option<Duration> {
        None
    }

    /// Receives the drawn targets after each frame.
    fn drawn(&mut self, context: &Context, layer: &Layer) {
        let _ = (context, layer);
    }

    /// The keys of this screen beside those of all screens, with what they do.
    fn keys(&self, context: &Context) -> Vec<(String, String)> {
        let _ = context;
        Vec::new()
    }

    /// Entries of the palette: the words, and the choice that they make.
    fn commands(&self, context: &Context) -> Vec<(String, Target)> {
        let _ = context;
        Vec::new()
    }
}
