//! The [`Screen`] trait, and the state that all screens share.

use std::collections::BTreeMap;
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
pub use super::library::{Kept, LetterRead, Library, Mailed};
use crate::canvas::{Canvas, Layer, Marks, Target};
use crate::field::Typed;
use crate::keys::{Intent, Keymap};
use crate::settings::Settings;
use crate::theme::{Depth, Theme, Themes};
use fairdeal_session::events::Command;
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
    /// Whether a keeper holds the player's seats: its tables go on when the interface closes.
    pub is_kept: bool,
    /// Whether this is a web page: it has no files of its own, opens no tables, and every game against bots is for practice.
    pub is_page: bool,
    /// Whether tables of others can be joined from here.
    pub joins: bool,
    /// Whether tables that are opened here serve the page, so that friends can join from a browser.
    pub serves_page: bool,
    /// The ticket of the table that this page was opened for.
    pub invited: Option<String>,
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
            is_kept: false,
            is_page: false,
            joins: true,
            serves_page: false,
            invited: None,
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
    /// Give up a saved game, and read the data directory again.
    GiveUp(String),
    /// Read the data directory again.
    LoadLibrary,
    /// Copy a text to the clipboard. A [`UiEvent::Copied`] answers.
    Copy(String),
    /// Write the page for browsers with this transcript inside. A [`UiEvent::SavedPage`] answers.
    SavePage(PathBuf),
    /// Save a sealed letter of the table of this id for a player in a file. A [`UiEvent::SavedLetter`] answers.
    SaveLetter { table: String, to: Seat, reader: String, sealed: Vec<u8> },
    /// Open a lobby by letter, and save the invitation in a file. A [`UiEvent::ReadLetter`] answers.
    Invite { game: String, seats: u8, options: BTreeMap<String, String> },
    /// Read a letter from this file. A [`UiEvent::ReadLetter`] answers.
    ReadLetter(PathBuf),
    /// Write to the seat of this player at a table that need not be open here. A [`UiEvent::SavedLetter`] answers.
    WriteLetter { table: String, to: Seat, reader: String },
    /// Give up the seat in this browser and save it in a file, on a page. A [`UiEvent::SeatTaken`] answers.
    TakeSeat,
    /// Save that file again.
    SaveSeat,
    /// Forget that file.
    DropSeat,
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

/// The shared state, and the requests that a screen makes while it handles an input.
#[derive(Debug)]
pub struct Cx<'a> {
    pub context: &'a Context,
    requests: Vec<Request>,
}

impl<'a> Cx<'a> {
    /// With no requests.
    pub fn new(context: &'a Context) -> Self {
        Self { context, requests: Vec::new() }
    }

    /// The requests, in order.
    pub fn into_requests(self) -> Vec<Request> {
        self.requests
    }

    /// Adds a request, as one that another screen has made.
    pub fn request(&mut self, request: Request) {
        self.requests.push(request);
    }

    /// Opens another screen over this one.
    pub fn push(&mut self, screen: impl Screen + 'static) {
        self.request(Request::Push(Box::new(screen)));
    }

    /// Replaces this screen by another.
    pub fn replace(&mut self, screen: impl Screen + 'static) {
        self.request(Request::Replace(Box::new(screen)));
    }

    /// Closes this screen.
    pub fn leave(&mut self) {
        self.request(Request::Leave);
    }

    /// Shows a short message at the edge of the screen.
    pub fn toast(&mut self, tone: Tone, text: impl Into<String>) {
        self.request(Request::Toast(tone, text.into()));
    }

    /// Asks a question over the screen; its answer is a [`ScreenInput::Answer`].
    pub fn ask(&mut self, question: Question) {
        self.request(Request::Ask(question));
    }

    /// Withdraws the question: it no longer matters.
    pub fn withdraw(&mut self) {
        self.request(Request::Withdraw);
    }

    /// Moves the focus to a target.
    pub fn focus(&mut self, target: Target) {
        self.request(Request::Focus(target));
    }

    /// Moves the focus to the most likely target.
    pub fn unfocus(&mut self) {
        self.request(Request::Unfocus);
    }

    /// Changes the settings.
    pub fn save(&mut self, settings: Settings) {
        self.request(Request::Settings(Box::new(settings)));
    }

    /// Asks the program around the interface.
    pub fn effect(&mut self, effect: Effect) {
        self.request(Request::Effect(effect));
    }

    /// Sends a command to the session.
    pub fn command(&mut self, command: Command) {
        self.effect(Effect::Session(command));
    }
}

/// Everything that a screen can hear.
#[derive(Clone, Copy, Debug)]
pub enum ScreenInput<'a> {
    /// The player chose a target, by key or click.
    Choose(Target),
    /// An intent that the shell does not handle itself. [`Intent::Quit`] leaves a screen that does not handle it.
    Intent(Intent),
    /// A letter without an intent.
    Letter(char),
    /// Something typed into the text field with the cursor ([`FocusPolicy::writes`]).
    Typed(Typed<'a>),
    /// Something pasted where no field has the cursor.
    Pasted(&'a str),
    /// The player confirmed the text in the field.
    Submit,
    /// One step back. It leaves a screen that does not handle it.
    Back,
    /// A click where nothing can be chosen.
    Missed,
    /// The answer to the screen's question, by its index.
    Answer(usize),
    /// An event from outside.
    Event(&'a UiEvent),
    /// The saved games, the past ones or the open tables have changed.
    Relisted,
    /// The focus has moved.
    Focused(Option<Target>),
    /// Time has passed.
    Tick(Duration),
    /// A frame was drawn, with these targets.
    Drawn(&'a Layer),
}

/// Whether a screen handled an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handled {
    Yes,
    No,
}

/// The frame that the shell puts around a screen.
#[derive(Clone, Debug, Default)]
pub struct Chrome {
    /// A few words after the trail.
    pub heading: String,
    /// The rulebook that can be opened from here, and the heading that explains what is in focus, as the slug of its
    /// text.
    pub rulebook: Option<(&'static GameInfo, &'static str)>,
    pub corner: Corner,
    /// Spots of a table to highlight.
    pub marks: Marks,
}

/// The right end of the header.
#[derive(Clone, Debug)]
pub enum Corner {
    /// The keys for help, and for the intent that leaves the screen.
    Ways { out: Intent },
    /// A text, and the target that it opens now, if any.
    Text(Line<'static>, Option<Target>),
}

impl Default for Corner {
    fn default() -> Self {
        Self::Ways { out: Intent::Back }
    }
}

/// How the focus moves on a screen.
#[derive(Clone, Debug, Default)]
pub struct FocusPolicy {
    /// The target that gets the focus when nothing drawn has it.
    pub first: Option<Target>,
    /// The targets at which Tab stops.
    pub stops: Vec<Target>,
    /// The intents that the screen handles itself, where the shell would move the focus or choose the target that has
    /// it.
    pub steers: &'static [Intent],
    /// Whether a text field has the cursor: keys are text then.
    pub writes: bool,
}

impl FocusPolicy {
    /// Begins at the first target, and stops at all.
    pub fn of(layer: &Layer) -> Self {
        let stops: Vec<Target> = layer.targets.iter().map(|(_, target)| *target).collect();
        Self { first: stops.first().copied(), stops, steers: &[], writes: false }
    }

    /// Whether the screen handles this intent itself.
    pub fn steers(&self, intent: Intent) -> bool {
        self.steers.contains(&intent)
    }
}

/// One screen of the interface.
pub trait Screen: std::fmt::Debug {
    /// The screen's name in the trail at the top.
    fn name(&self) -> String;

    /// The frame around the screen.
    fn chrome(&self, context: &Context) -> Chrome {
        let _ = context;
        Chrome::default()
    }

    /// Draws the screen below the top row.
    fn draw(&mut self, context: &Context, canvas: &mut Canvas<'_>, area: Rect);

    /// How the focus moves among the targets of the last frame.
    fn focus(&self, layer: &Layer) -> FocusPolicy {
        FocusPolicy::of(layer)
    }

    /// Handles an input, or leaves it to the shell.
    fn input(&mut self, cx: &mut Cx<'_>, input: ScreenInput<'_>) -> Handled;

    /// When the screen needs its next frame without an input.
    fn pace(&self) -> Option<Duration> {
        None
    }

    /// Words for a screen reader, besides the thing in focus.
    fn spoken(&self, context: &Context) -> String {
        let _ = context;
        String::new()
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
