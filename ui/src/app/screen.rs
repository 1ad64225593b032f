//! The [`Screen`] trait, and the state that all screens share.

use std::path::PathBuf;
use std::time::Duration;

use fairdeal_games::GameInfo;
use fairdeal_games::bots::Level;
use fairdeal_peers::PeerId;
use fairdeal_protocol::crypto::pake::Password;
use fairdeal_protocol::seat::Seat;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::event::UiEvent;
use crate::canvas::{Canvas, Layer, Marks, Target};
use crate::field::Field;
use crate::keys::{Intent, Keymap};
use crate::settings::Settings;
use crate::theme::{Depth, Theme, Themes};
use fairdeal_session::events::Command;
use fairdeal_session::past::Past;
use fairdeal_session::people::{Book, Change};
use fairdeal_session::view::Listing;

/// State that all screens share.
#[derive(Debug)]
pub struct Context {
    pub settings: Settings,
    /// Maps keys to intents.
    pub keymap: Keymap,
    /// Colours and glyphs.
    pub theme: Theme,
    /// The themes to choose from.
    pub themes: Themes,
    /// How many colours the terminal supports.
    pub depth: Depth,
    /// Whether the command line asks for ASCII.
    pub ascii: bool,
    /// Whether the terminal shows few characters besides ASCII.
    pub few_glyphs: bool,
    /// The name given on the command line.
    pub given: Option<String>,
    /// The operating system's user name: the fallback when `given` and the settings have none.
    pub user: String,
    /// The day in UTC. It names the daily deal.
    pub today: String,
    /// Tables on the LAN; `None` while nobody browses.
    pub lan: Option<Listing>,
    /// Past games and saved games.
    pub library: Library,
    /// The address book; empty on a page.
    pub people: Book,
    /// The player's own key; `None` before the first table.
    pub own_key: Option<PeerId>,
    /// Whether the terminal is slow to accept frames.
    pub is_slow: bool,
    /// Whether this is a web page: it has no network and no files of its own, and every game is for practice.
    pub is_page: bool,
    /// Whether Ctrl-Z stops the program: a shell can continue it.
    pub stops: bool,
    /// Refuses a text that is no ticket and no address, in words.
    pub check_target: fn(&str) -> Result<(), String>,
}

impl Context {
    /// With these settings, where nothing else is known and no table can be joined.
    pub fn new(settings: Settings, depth: Depth) -> Self {
        let mut context = Self {
            // Wrong keys are for the caller to tell; these are the usual ones.
            keymap: Keymap::new(&settings.keys).unwrap_or_default(),
            settings,
            theme: Theme::default(),
            themes: Themes::default(),
            depth,
            ascii: false,
            few_glyphs: false,
            given: None,
            user: String::new(),
            today: String::new(),
            lan: None,
            library: Library::default(),
            people: Book::default(),
            own_key: None,
            is_slow: false,
            is_page: false,
            stops: false,
            check_target: |_| Err("no table can be joined from here".to_owned()),
        };
        context.dress();
        context
    }

    /// The player's name.
    pub fn name(&self) -> &str {
        let named = self.given.as_deref().or(self.settings.name.as_deref());
        named.unwrap_or(&self.user)
    }

    /// Whether things move on the screen.
    pub fn moves(&self) -> bool {
        self.settings.motion && !self.is_slow
    }

    /// Rebuilds the theme after the settings have changed.
    pub fn dress(&mut self) {
        let settings = &self.settings;
        let palette = self.themes.palette(&settings.theme);
        let ascii = self.ascii || settings.draws_ascii(self.few_glyphs);
        self.theme = Theme::of(palette, self.depth, settings.pyramids, ascii).with_letters(settings.letters);
    }
}

/// Games in the data directory.
#[derive(Clone, Debug, Default)]
pub struct Library {
    /// Saved games: id and description.
    pub waiting: Vec<(String, String)>,
    /// Every past game and every saved game, newest first.
    pub past: Vec<Past>,
}

/// The tone of a toast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Plain,
    Good,
    Bad,
}

/// A question over the screen. The answer goes to the screen that asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    pub text: String,
    /// The answers: key, label, meaning. The player can always go back instead.
    pub answers: Vec<(char, String, String)>,
}

impl Question {
    /// A yes/no question.
    pub fn sure(text: impl Into<String>) -> Self {
        Self { text: text.into(), answers: vec![('y', "yes".to_owned(), String::new())] }
    }

    /// The question and the keys that answer it.
    pub(super) fn spoken(&self) -> String {
        let answers: Vec<String> =
            self.answers.iter().map(|(key, word, _)| format!("{key}: {word}")).chain(["n: no".to_owned()]).collect();
        format!("{} {}", self.text, answers.join(", "))
    }
}

/// Settings of a new table.
#[derive(Clone, Debug)]
pub struct Opening {
    pub game: String,
    pub seats: u8,
    /// How many seats bots take at once.
    pub bots: u8,
    /// How well they play.
    pub level: Level,
    /// The game's options: key and value.
    pub options: Vec<(String, String)>,
    /// Whether others can join; otherwise every seat is in this program.
    pub networked: bool,
    /// Whether the table is announced on the LAN.
    pub lan: bool,
    /// Whether the table is listed at the meeting points of the settings.
    pub meet: bool,
    pub password: Option<Password>,
    /// Whether this is an unsealed game, for practice.
    pub practice: bool,
}

/// A request to the program around the interface.
#[derive(Clone, Debug)]
pub enum Effect {
    /// Open a table and sit down at it.
    Open(Opening),
    /// Join a table, by the text of a ticket or an address.
    Join { target: String, password: Option<Password> },
    /// Watch a table as a spectator.
    Watch { target: String, password: Option<Password> },
    /// Resume the saved game with this id.
    Resume(String),
    /// Open a table for the players of the one that is over, and invite them.
    Rematch(Opening),
    /// Seat one more local bot in this lobby.
    SeatBot {
        /// The lobby's ticket.
        ticket: String,
        /// The bot's number among the local bots.
        number: usize,
    },
    /// Send a command to the session.
    Session(Command),
    /// Close the session; its table can be resumed.
    CloseSession,
    /// Read the data directory again.
    LoadLibrary,
    /// Copy a text to the clipboard. A [`UiEvent::Copied`] answers.
    Copy(String),
    /// Stop the program until its shell continues it.
    Suspend,
    /// Audit a transcript.
    Audit(PathBuf),
    /// Audit a transcript, then replay the game.
    Replay(PathBuf),
    /// Audit a transcript, then judge the decisions of the player at this seat.
    Review(PathBuf, Seat),
    /// Let the player choose a transcript, on a page.
    PickFile,
    /// Stop reading the transcript.
    StopReading,
    /// Change what the address book says of a key.
    People {
        key: PeerId,
        /// Its name at the table, if it is at one.
        announced: Option<String>,
        change: Change,
    },
    /// Save the settings.
    Save(Settings),
    /// End the program.
    Quit,
}

/// A request by a screen.
#[derive(Debug)]
pub enum Request {
    /// Open another screen over this one.
    Push(Box<dyn Screen>),
    /// Replace this screen by another.
    Replace(Box<dyn Screen>),
    /// Close this screen.
    Leave,
    /// Show a short message at the edge of the screen.
    Toast(Tone, String),
    /// Ask a question over the screen.
    Ask(Question),
    /// Withdraw the question: it no longer matters.
    Withdraw,
    /// Move the focus to a target.
    Focus(Target),
    /// Move the focus to the most likely target.
    Unfocus,
    /// Change the settings.
    Settings(Box<Settings>),
    /// Ask the program around the interface.
    Effect(Effect),
}

/// Requests that a screen makes while it handles an input.
pub type Requests = Vec<Request>;

/// One screen of the interface.
pub trait Screen: std::fmt::Debug {
    /// The screen's name in the trail at the top.
    fn name(&self) -> String;

    /// A few words after the trail.
    fn heading(&self) -> String {
        String::new()
    }

    /// The screen's game; its rulebook can be opened from here.
    fn game(&self) -> Option<&'static GameInfo> {
        None
    }

    /// The text at the right of the header, and the target that it opens now, if any; `None` for the keys for help and the
    /// way out.
    fn corner(&self, theme: &Theme) -> Option<(Line<'static>, Option<Target>)> {
        let _ = theme;
        None
    }

    /// The heading of the rulebook that explains what is in focus, as the slug of its text.
    fn rule(&self) -> &'static str {
        ""
    }

    /// The intent that leaves the screen, for the button in the top row.
    fn way_out(&self) -> Intent {
        Intent::Back
    }

    /// Draws the screen below the top row.
    fn draw(&mut self, context: &Context, canvas: &mut Canvas<'_>, area: Rect);

    /// Words for a screen reader, besides the thing in focus.
    fn spoken(&self, context: &Context) -> String {
        let _ = context;
        String::new()
    }

    /// Spots of a table to highlight.
    fn marks(&self) -> Marks {
        Marks::default()
    }

    /// The player chose a target, by key or click.
    fn choose(&mut self, context: &Context, target: Target, requests: &mut Requests);

    /// An intent that the shell does not handle itself.
    fn intent(&mut self, context: &Context, intent: Intent, requests: &mut Requests) {
        let _ = (context, intent, requests);
    }

    /// Whether the screen handles this intent itself instead of moving the focus.
    fn steers(&self, intent: Intent) -> bool {
        let _ = intent;
        false
    }

    /// A letter without an intent. Returns whether the screen used it.
    fn letter(&mut self, context: &Context, letter: char, requests: &mut Requests) -> bool {
        let _ = (context, letter, requests);
        false
    }

    /// The text field with the cursor, if there is one.
    fn field(&mut self) -> Option<&mut Field> {
        None
    }

    /// The text in the field has changed.
    fn written(&mut self, context: &Context, requests: &mut Requests) {
        let _ = (context, requests);
    }

    /// The player confirmed the text.
    fn submit(&mut self, context: &Context, requests: &mut Requests) {
        let _ = (context, requests);
    }

    /// Goes one step back; by default, leaves the screen.
    fn back(&mut self, context: &Context, requests: &mut Requests) {
        let _ = context;
        requests.push(Request::Leave);
    }

    /// A click where nothing can be chosen.
    fn missed(&mut self, context: &Context, requests: &mut Requests) {
        let _ = (context, requests);
    }

    /// The answer to the screen's question, by its index.
    fn answer(&mut self, context: &Context, answer: usize, requests: &mut Requests) {
        let _ = (context, answer, requests);
    }

    /// An event from outside.
    fn on_event(&mut self, context: &Context, event: &UiEvent, requests: &mut Requests) {
        let _ = (context, event, requests);
    }

    /// Handles a change of the open tables, given those before.
    fn relisted(&mut self, context: &Context, before: Option<&Listing>, requests: &mut Requests) {
        let _ = (context, before, requests);
    }

    /// The focus has moved.
    fn focused(&mut self, target: Option<Target>) {
        let _ = target;
    }

    /// The initial focus; the first target by default.
    fn first_focus(&self, layer: &Layer) -> Option<Target> {
        layer.targets.first().map(|(_, target)| *target)
    }

    /// Whether Tab stops at a target.
    fn is_stop(&self, target: Target) -> bool {
        let _ = target;
        true
    }

    /// Time has passed.
    fn tick(&mut self, context: &Context, passed: Duration, requests: &mut Requests) {
        let _ = (context, passed, requests);
    }

    /// When the screen needs its next frame without an input.
    fn pace(&self) -> Option<Duration> {
        None
    }

    /// Receives the drawn targets after each frame.
    fn drawn(&mut self, context: &Context, layer: &Layer) {
        let _ = (context, layer);
    }

    /// The screen's own keys and what they do, without those that all screens share.
    fn keys(&self, context: &Context) -> Vec<(String, String)> {
        let _ = context;
        Vec::new()
    }

    /// Entries of the palette: label, and the target to choose.
    fn commands(&self, context: &Context) -> Vec<(String, Target)> {
        let _ = context;
        Vec::new()
    }
}
