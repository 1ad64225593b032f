//! The home screen: the games, and beside them how to learn one, the saved games, and the tables on the LAN.

mod art;
mod draw;
mod presence;

pub use self::presence::arrived;

use fairdeal_games::{GAMES, GameInfo};
use fairdeal_peers::PeerId;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

pub(super) use self::art::picture;
pub(super) use self::draw::list_panel;
use super::history::History;
use super::join::{Join, Purpose};
use super::lesson::{guided_hand, has_guided_hand};
use super::letter::{ReadLetter, is_letter};
use super::people::People;
use super::puzzle::PuzzleScreen;
use super::rules::Rules;
use super::settings::SettingsScreen;
use super::setup::Setup;
use super::table::TableScreen;
use super::table::choosing::sentence;
use super::{KeyHelp, body_and_foot, foot};
use crate::app::event::UiEvent;
use crate::app::library::Library;
use crate::app::screen::{
    Chrome, Context, Corner, Cx, Effect, FocusPolicy, Handled, Question, Screen, ScreenInput, Tone,
};
use crate::canvas::{Canvas, Layer, Target};
use crate::keys::Intent;
use fairdeal_session::people::MarkKind;
use fairdeal_session::view::{ListedTable, options_in_sentences};

/// Everything that can be chosen here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entry {
    Game(usize),
    /// The set-up of the game in focus, at its options.
    Options,
    Guided,
    Puzzles,
    Rules,
    Join,
    Watch,
    /// A transcript to check, on a page.
    Check,
    History,
    People,
    Settings,
    Quit,
    /// A saved game, by index.
    Waiting(usize),
    /// A table on the LAN, by index.
    Lan(usize),
}

/// The entries with a fixed number, and the letters that choose them.
const FIXED: [(Entry, Option<char>, &str); 11] = [
    (Entry::Options, Some('o'), "options of a new table"),
    (Entry::Guided, Some('T'), "play the guided hand"),
    (Entry::Puzzles, Some('p'), "solve a puzzle"),
    (Entry::Rules, None, "read the rules"),
    (Entry::Join, Some('j'), "join with a ticket"),
    (Entry::Watch, Some('w'), "watch a table"),
    (Entry::Check, Some('v'), "verify a game file"),
    (Entry::History, Some('H'), "history: past games"),
    (Entry::People, Some('P'), "people: keys you know"),
    (Entry::Settings, Some(','), "settings"),
    (Entry::Quit, None, "quit fairdeal"),
];

/// Reads a letter; only the palette has it.
const LETTER: Target = Target::Button(0);

/// The games in the order of their plates.
const ORDER: [&str; 5] = ["loot", "ivory-tower", "plutonian-poker", "sphinxs-paw", "houses-of-thoth"];
/// The most saved games, and the most LAN tables, that are listed beside the games.
const LISTED: usize = 4;
/// How many of so many tables have a row: the last row tells of the others.
fn shown(tables: usize) -> usize {
    if tables > LISTED { LISTED - 1 } else { tables }
}

/// Rows of a picture; a plate is as high.
const PLATE: u16 = 5;

/// Whether a screen has room for plates with pictures, and for the pitch of the game in focus.
fn is_big(area: Rect) -> bool {
    area.width >= 110 && area.height >= 5 * PLATE + 4 + 6
}

/// The first screen.
#[derive(Debug, Default)]
pub struct Home {
    focus: Option<Target>,
    /// Index of the game that is or was in focus last.
    game: usize,
    /// The focused thing of those that come and go.
    held: Option<Held>,
    /// Whether the player's games have been read.
    is_listed: bool,
}

/// Something that comes and goes, by what it is rather than by its row.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Held {
    /// A saved game, by its table.
    Waiting(String),
    /// An open table.
    Open((PeerId, [u8; 8])),
}

impl Held {
    fn of(context: &Context, entry: Entry) -> Option<Self> {
        match entry {
            Entry::Waiting(number) => Some(Self::Waiting(context.library.waiting.get(number)?.0.clone())),
            Entry::Lan(number) => Some(Self::Open(context.lan.as_ref()?.tables.get(number)?.table.id())),
            _ => None,
        }
    }
}

/// All entries by number. Saved games and LAN tables come and go, so they are last: the others keep their numbers.
fn entries(context: &Context) -> Vec<Entry> {
    let lan = context.lan.as_ref().map_or(0, |view| view.tables.len());
    let mut all: Vec<Entry> = (0..GAMES.len()).map(Entry::Game).collect();
    all.extend(FIXED.map(|(entry, ..)| entry));
    all.extend((0..context.library.waiting.len()).map(Entry::Waiting));
    all.extend((0..lan).map(Entry::Lan));
    all
}

/// The mark of a table's host in a palette: nothing for a stranger.
fn marked(table: &ListedTable) -> String {
    match table.mark.kind() {
        MarkKind::New => String::new(),
        _ => format!(" ({})", table.mark.short()),
    }
}

/// Whether an entry can be chosen: a page has no files of its own, and may have no network.
fn is_here(context: &Context, entry: Entry) -> bool {
    match entry {
        Entry::Check => context.is_page,
        Entry::Join | Entry::Watch => context.joins,
        Entry::History | Entry::People | Entry::Quit => !context.is_page,
        _ => true,
    }
}

fn target(context: &Context, entry: Entry) -> Target {
    let found = entries(context).iter().position(|other| *other == entry);
    Target::Row(found.unwrap_or(0))
}

/// The games with their indices, in the order of their plates.
fn games() -> impl Iterator<Item = (usize, &'static GameInfo)> {
    ORDER.iter().filter_map(|id| {
        let number = GAMES.iter().position(|info| info.id == *id)?;
        Some((number, *GAMES.get(number)?))
    })
}

/// The saved game that was played today, the last one of several.
fn interrupted(context: &Context) -> Option<Entry> {
    let Library { past, waiting, .. } = &context.library;
    let today = past.iter().filter(|past| past.date().starts_with(&context.today));
    let mut places = today.filter_map(|past| waiting.iter().position(|(table, _)| *table == past.table));
    places.next().map(Entry::Waiting)
}

impl Home {
    /// The game that is or was in focus last.
    fn info(&self) -> &'static GameInfo {
        GAMES.get(self.game).copied().unwrap_or(&fairdeal_games::loot::INFO)
    }

    fn entry(&self, context: &Context) -> Option<Entry> {
        match self.focus {
            Some(Target::Row(number)) => entries(context).get(number).copied(),
            _ => None,
        }
    }

    /// Sentences about the thing in focus, the longest first. A big screen has the pitch of a game elsewhere.
    fn about(&self, context: &Context, is_big: bool) -> Vec<String> {
        let text = match self.entry(context) {
            Some(Entry::Game(_)) => {
                let info = self.info();
                if is_big {
                    let bots = match info.most_seats {
                        1 => "",
                        _ => " against bots",
                    };
                    let keys = &context.keymap;
                    let learn = if has_guided_hand(info) { "T".to_owned() } else { keys.key(Intent::Rules) };
                    return vec![format!(
                        "{}, by {}. Press {learn} to learn it, or {} twice to play{bots} at once.",
                        info.name,
                        info.designer,
                        keys.key(Intent::Choose),
                    )];
                }
                let first = info.pitch.split_inclusive(". ").next().unwrap_or(info.pitch);
                return vec![
                    format!("{} By {}.", info.pitch, info.designer),
                    info.pitch.to_owned(),
                    first.trim().to_owned(),
                ];
            }
            Some(Entry::Lan(number)) => {
                let tables = context.lan.as_ref().map(|view| &view.tables);
                let Some(table) = tables.and_then(|tables| tables.get(number)) else {
                    return Vec::new();
                };
                let options = options_in_sentences(&table.options());
                let announced = table.table.announcement();
                let locked = if announced.locked { "It needs a password. " } else { "" };
                let place = if table.at_point { " at a meeting point" } else { "" };
                let mark = match table.mark.kind() {
                    MarkKind::New => String::new(),
                    MarkKind::OtherKey => format!("Warning: {}. ", table.mark.words()),
                    _ => format!("{}. ", sentence(&table.mark.words()).trim_end_matches('.')),
                };
                let short = format!(
                    "{mark}{}'s table{place}: {} of {} seats free. {locked}",
                    table.host(),
                    announced.free,
                    announced.seats
                );
                return if options.is_empty() { vec![short] } else { vec![format!("{short}{options}"), short] };
            }
            Some(Entry::Waiting(number)) => return presence::resuming(context, number),
            Some(Entry::Options) if context.is_page => "Choose the bots and the options of the game.",
            Some(Entry::Options) if self.info().most_seats < 2 => "Choose the deal and the options of the game.",
            Some(Entry::Options) => {
                "Open a table for friends: choose who can join, the seats, and the options of the game."
            }
            Some(Entry::Guided) => "A short hand with fixed cards: one sentence and one key at a time, no clock.",
            Some(Entry::Puzzles) => {
                "A position with exactly one best action: find it. No clock, and a hint if you want one."
            }
            Some(Entry::Rules) => "The whole rulebook, with examples.",
            Some(Entry::Join) => "Paste a friend's ticket or address.",
            Some(Entry::Watch) => "Paste a table's ticket to watch as a spectator and verify every step.",
            Some(Entry::Check) => {
                "Drop a .fairdeal file on this page or choose one. Every shuffle and every move is checked, and the file \
                 stays on this machine."
            }
            Some(Entry::History) => "Past games: replay one from any seat, and audit every shuffle.",
            Some(Entry::People) => "Who you have played with: names of your own, favourites, and a block list.",
            Some(Entry::Settings) => "Your name, colours, keys, and how fast bots think.",
            Some(Entry::Quit) => "Saved games wait for you here.",
            None => "",
        };
        vec![text.to_owned()]
    }

    fn keys_line(&self, context: &Context) -> Vec<KeyHelp<'static>> {
        let keys = &context.keymap;
        let enter = match self.entry(context) {
            Some(Entry::Game(_)) => "play",
            Some(Entry::Waiting(_)) => "resume",
            Some(Entry::Lan(_)) => "join",
            _ => "choose",
        };
        let opens_to_friends = !context.is_page && self.info().most_seats > 1;
        let of = |entry: Entry| {
            let found = FIXED.iter().find(|(other, ..)| *other == entry);
            found.and_then(|(_, letter, _)| letter.map(Target::Letter))
        };
        let mut line = vec![
            (context.theme.glyph("↑↓", "Up Down").to_owned(), "choose", None),
            (keys.key(Intent::Choose), enter, Some(Target::Key(Intent::Choose))),
            ("o".to_owned(), if opens_to_friends { "host" } else { "options" }, of(Entry::Options)),
            ("H".to_owned(), "history", of(Entry::History)),
            (",".to_owned(), "settings", of(Entry::Settings)),
            (keys.key(Intent::Palette), "commands", Some(Target::Key(Intent::Palette))),
            (keys.key(Intent::Quit), "quit", of(Entry::Quit)),
        ];
        let gone: Vec<_> =
            [Entry::History, Entry::Quit].into_iter().filter(|entry| !is_here(context, *entry)).map(of).collect();
        line.retain(|(.., target)| !gone.contains(target));
        line
    }

    fn open(&self, cx: &mut Cx<'_>, entry: Entry) {
        let context = cx.context;
        match entry {
            Entry::Game(number) => {
                if let Some(info) = GAMES.get(number) {
                    cx.push(Setup::new(info, context));
                }
            }
            Entry::Options => cx.push(Setup::for_friends(self.info(), context)),
            Entry::Guided => {
                if let Some(screen) = guided_hand(self.info(), context) {
                    cx.push(screen);
                }
            }
            Entry::Puzzles => match PuzzleScreen::open(self.info(), None, context) {
                Ok(screen) => cx.push(screen),
                Err(why) => cx.toast(Tone::Bad, why.to_string()),
            },
            Entry::Rules => cx.push(Rules::new(self.info())),
            Entry::Join => cx.push(Join::new(Purpose::Join)),
            Entry::Watch => cx.push(Join::new(Purpose::Watch)),
            Entry::Check => cx.effect(Effect::PickFile),
            Entry::History => cx.push(History::default()),
            Entry::People => cx.push(People::default()),
            Entry::Settings => cx.push(SettingsScreen::new(context)),
            Entry::Quit => cx.leave(),
            Entry::Waiting(number) => {
                if let Some((table, _)) = context.library.waiting.get(number) {
                    if let Some(lobby) = context.library.lobbies.get(table) {
                        return cx.push(ReadLetter::showing(lobby.clone()));
                    }
                    cx.effect(Effect::Resume(table.clone()));
                    cx.push(TableScreen::new("resuming", false));
                }
            }
            Entry::Lan(number) => {
                let tables = context.lan.as_ref().map(|view| &view.tables);
                let Some(table) = tables.and_then(|tables| tables.get(number)) else {
                    return;
                };
                let target = table.table.ticket().to_string();
                if table.table.announcement().locked {
                    cx.push(Join::with(Purpose::Join, &target));
                } else {
                    cx.effect(Effect::Join { target, password: None });
                    cx.push(TableScreen::new("joining", false));
                }
            }
        }
    }

    /// Keeps the focus on what it was on when a list changes. When the games have been read, one that was interrupted
    /// today gets it.
    fn relisted(&mut self, cx: &mut Cx<'_>) {
        let context = cx.context;
        if !self.is_listed && !context.library.past.is_empty() {
            self.is_listed = true;
            if let Some(interrupted) = interrupted(context) {
                return cx.focus(target(context, interrupted));
            }
        }
        let Some(held) = &self.held else { return };
        let place = entries(context).into_iter().find(|entry| Held::of(context, *entry).as_ref() == Some(held));
        // Another thing takes the row of one that is gone, but not its focus.
        let instead = match held {
            Held::Waiting(_) => Entry::Game(self.game),
            Held::Open(_) => Entry::Join,
        };
        cx.focus(target(context, place.unwrap_or(instead)));
    }
}

impl Screen for Home {
    fn name(&self) -> String {
        "home".to_owned()
    }

    fn chrome(&self, context: &Context) -> Chrome {
        let theme = &context.theme;
        let seal = Span::styled(theme.glyph("◈ ", ""), theme.accent());
        let spans =
            vec![seal, Span::raw("no account, no server   "), Span::styled("?", theme.key()), Span::raw(" help")];
        Chrome {
            heading: context.name().to_owned(),
            rulebook: Some((self.info(), "")),
            corner: Corner::Text(Line::from(spans), Some(Target::Key(Intent::Help))),
            ..Chrome::default()
        }
    }

    fn draw(&mut self, context: &Context, canvas: &mut Canvas<'_>, area: Rect) {
        let [body, below] = body_and_foot(area);
        self.draw_body(context, canvas, body);
        let about = self.about(context, is_big(area));
        foot(canvas, below, &about, self.keys_line(context));
    }

    fn focus(&self, layer: &Layer) -> FocusPolicy {
        // Start on the first game, for newcomers, even if older saved games exist.
        let first = games().next().map(|(first, _)| Target::Row(first));
        FocusPolicy { first: first.filter(|first| layer.area(*first).is_some()), ..FocusPolicy::of(layer) }
    }

    fn input(&mut self, cx: &mut Cx<'_>, input: ScreenInput<'_>) -> Handled {
        match input {
            ScreenInput::Choose(Target::Row(number)) => {
                if let Some(entry) = entries(cx.context).get(number) {
                    self.open(cx, *entry);
                }
            }
            ScreenInput::Choose(LETTER) => cx.push(ReadLetter::default()),
            // The list may change at this very moment, so a digit chooses and Enter joins.
            ScreenInput::Letter(letter @ '1'..='9') => {
                let number = letter.to_digit(10).and_then(|digit| usize::try_from(digit).ok()?.checked_sub(1));
                let listed = cx.context.lan.as_ref().map_or(0, |view| shown(view.tables.len()));
                if let Some(number) = number.filter(|number| *number < listed) {
                    cx.focus(target(cx.context, Entry::Lan(number)));
                }
            }
            ScreenInput::Letter(letter) => {
                let mut here = FIXED.iter().filter(|(entry, ..)| is_here(cx.context, *entry));
                if let Some((entry, ..)) = here.find(|(_, key, _)| *key == Some(letter)) {
                    self.open(cx, *entry);
                }
            }
            // A ticket needs no menu.
            ScreenInput::Pasted(text)
                if is_here(cx.context, Entry::Join) && (cx.context.check_target)(text).is_ok() =>
            {
                cx.push(Join::pasted(text));
            }
            ScreenInput::Pasted(text) if !cx.context.is_page && is_letter(text) => {
                let screen = ReadLetter::dropped(text, cx);
                cx.push(screen);
            }
            // A page has nothing behind this screen.
            ScreenInput::Back | ScreenInput::Intent(Intent::Quit) if cx.context.is_page => {}
            // Quitting here loses nothing, but one key press too many should not end the program.
            ScreenInput::Back => cx.ask(Question::sure("Quit fairdeal?")),
            ScreenInput::Answer(0) => cx.leave(),
            ScreenInput::Event(UiEvent::SessionEnded) => cx.effect(Effect::LoadLibrary),
            ScreenInput::Relisted => self.relisted(cx),
            ScreenInput::Focused(target) => {
                self.focus = target;
                self.held = self.entry(cx.context).and_then(|entry| Held::of(cx.context, entry));
                if let Some(Target::Row(number)) = target
                    && number < GAMES.len()
                {
                    self.game = number;
                }
            }
            _ => return Handled::No,
        }
        Handled::Yes
    }

    fn keys(&self, context: &Context) -> Vec<(String, String)> {
        let has_lesson = has_guided_hand(self.info());
        let here = FIXED.iter().filter(|(entry, ..)| is_here(context, *entry));
        let here = here.filter(|(entry, ..)| *entry != Entry::Guided || has_lesson);
        let keys = here.filter_map(|(_, key, words)| Some((key.as_ref()?.to_string(), (*words).to_owned())));
        let digits = 1..=context.lan.as_ref().map_or(0, |view| shown(view.tables.len()));
        let digits = digits.map(|digit| digit.to_string()).collect::<Vec<_>>().join(" ");
        let tables = (!digits.is_empty()).then(|| (digits, "choose an open table".to_owned()));
        keys.chain(tables).collect()
    }

    fn commands(&self, context: &Context) -> Vec<(String, Target)> {
        let words = |entry: &Entry| match entry {
            Entry::Game(number) => GAMES.get(*number).map(|info| format!("play {}", info.name)),
            Entry::Waiting(number) => {
                let waiting = context.library.waiting.get(*number);
                waiting.map(|(table, words)| match context.library.lobbies.get(table) {
                    Some(_) => format!("by letter: {words}"),
                    None => format!("resume: {words}"),
                })
            }
            Entry::Lan(number) => {
                let table = context.lan.as_ref().and_then(|view| view.tables.get(*number));
                table.map(|table| format!("join {}'s table{}: {}", table.host(), marked(table), table.game()))
            }
            Entry::Guided if !has_guided_hand(self.info()) => None,
            entry if !is_here(context, *entry) => None,
            // The palette has an entry for the rulebook of every screen.
            Entry::Rules => None,
            entry => FIXED.iter().find(|(other, ..)| other == entry).map(|(.., words)| (*words).to_owned()),
        };
        let all = entries(context).into_iter().enumerate();
        let all = all.filter_map(|(number, entry)| Some((words(&entry)?, Target::Row(number))));
        all.chain((!context.is_page).then(|| ("read a letter".to_owned(), LETTER))).collect()
    }
}
