//! The set-up of a new table: who sits at it, who can join, and the options of the game.

mod draw;

use std::collections::BTreeMap;

use fairdeal_games::bots::Level;
use fairdeal_games::{GameInfo, OptionInfo, OptionKind, TABLE_OPTION};
use fairdeal_protocol::crypto::pake::MAX_PASSWORD;
use fairdeal_protocol::timing::Timing;
use ratatui::layout::Rect;
use serde::Deserialize;

use super::letter::ReadLetter;
use super::settings::turned;
use super::table::TableScreen;
use crate::app::screen::{Chrome, Context, Cx, Effect, FocusPolicy, Handled, Opening, Screen, ScreenInput, Tone};
use crate::canvas::{Canvas, Layer, Target};
use crate::field::Field;
use crate::keys::Intent;
use crate::settings::Settings;
use fairdeal_session::past::Past;
use fairdeal_session::terms::{wait_for_letters, wait_for_phones};
use fairdeal_session::view::time_in_words;

/// Value of the daily option when no day is chosen.
const NO_DAY: &str = "none";
/// The paces of bots, by their delay in milliseconds.
const PACES: [(u64, &str); 3] = [(200, "fast"), (700, "normal"), (1200, "slow")];

/// One setting, in one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Item {
    Who,
    Seats,
    Bots,
    Level,
    Pace,
    Password,
    /// Whether somebody may come with a phone, which stops a page that nobody sees.
    Phones,
    /// An option by its index: the game's own, then those of all tables.
    Choice(usize),
    /// For a solitaire: which deal, and whether it is sealed.
    Deal,
    /// Unfolds the options that few tables need.
    More,
    Start,
}

/// The people who can join a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    /// Every seat is in this program.
    Nobody,
    /// The table is announced on the LAN.
    Near,
    /// Only those who have the ticket find it.
    Invited,
    /// Only those who have the invitation, a file, sit down, by letter; nobody has to be online.
    ByLetter,
    /// The table is listed at the meeting points of the settings, and announced on the LAN.
    Anybody,
}

/// The name of an option on this screen and its meaning: the text, then that of its value.
#[derive(Debug, Default, Deserialize)]
struct OptionText {
    name: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    values: BTreeMap<String, String>,
}

/// The texts of all options, by key.
fn option_texts() -> BTreeMap<String, OptionText> {
    toml::from_str(include_str!("options.toml")).unwrap_or_default()
}

/// The option for the points that end a game.
const TARGET: &str = "target";
/// The points that end a game with the first hand in which somebody scores.
const ONE_HAND: &str = "1";
/// The points offered here, besides the usual ones of the game. The command line accepts any number.
const POINTS: [u32; 8] = [1, 20, 50, 100, 150, 200, 500, 1000];
/// A first game that would take more minutes than this is one hand.
const SHORT: u8 = 20;

/// Not given: the table uses its default.
const USUAL: &str = "usual";

/// The times offered here, in seconds. The command line accepts any value.
const TIMES: [OptionInfo; 4] = [
    OptionInfo {
        key: Timing::TURN_TIME,
        default: USUAL,
        kind: OptionKind::Choice(&[USUAL, "60", "300", "600", "3600", "86400", "604800", Timing::NO_TURN_TIME]),
    },
    OptionInfo {
        key: Timing::ABSENCE,
        default: USUAL,
        kind: OptionKind::Choice(&[USUAL, "60", "600", "3600", "86400", "604800"]),
    },
    OptionInfo {
        key: Timing::BANK,
        default: Timing::NO_TURN_TIME,
        kind: OptionKind::Choice(&[Timing::NO_TURN_TIME, "600", "3600", "86400", "259200", "604800"]),
    },
    OptionInfo {
        key: Timing::HOLIDAYS,
        default: Timing::NO_TURN_TIME,
        kind: OptionKind::Choice(&[Timing::NO_TURN_TIME, "7", "14", "30"]),
    },
];

/// The set-up of a new table.
#[derive(Debug)]
pub struct Setup {
    game: &'static GameInfo,
    who: Who,
    seats: u8,
    bots: u8,
    level: Level,
    options: Vec<(&'static OptionInfo, String)>,
    texts: BTreeMap<String, OptionText>,
    practice: bool,
    /// Whether absent players are waited for as long as a phone in a pocket needs.
    phones: bool,
    /// Whether nobody can join and nothing is sealed ([`Context::is_page`]).
    is_page: bool,
    password: Field,
    is_unfolded: bool,
    /// Whether the focus begins at the first setting, and not at the start.
    at_options: bool,
    focus: Option<Item>,
    today: String,
}

impl Setup {
    /// Of a table for this game, with bots alone.
    pub fn new(game: &'static GameInfo, context: &Context) -> Self {
        let seats = 3.clamp(game.least_seats, game.most_seats);
        let table = std::iter::once(&TABLE_OPTION).chain(&TIMES).filter(|_| game.most_seats > 1 && !context.is_page);
        Self {
            game,
            who: Who::Nobody,
            seats,
            bots: seats - 1,
            level: context.settings.bot_level,
            options: game
                .options
                .iter()
                .chain(table)
                .map(|option| (option, first_value(option, game, context)))
                .collect(),
            texts: option_texts(),
            practice: context.is_page,
            phones: false,
            is_page: context.is_page,
            password: Field::secret(MAX_PASSWORD),
            is_unfolded: false,
            at_options: false,
            focus: None,
            today: context.today.clone(),
        }
    }

    /// Of a table for friends nearby, two at least, with the focus on the first setting. Where nobody can join, of the
    /// same table as [`Self::new`].
    pub fn for_friends(game: &'static GameInfo, context: &Context) -> Self {
        let setup = Self { at_options: true, ..Self::new(game, context) };
        if context.is_page || game.most_seats < 2 {
            return setup;
        }
        Self { who: Who::Near, seats: 2.clamp(game.least_seats, game.most_seats), bots: 0, ..setup }
    }

    fn is_networked(&self) -> bool {
        self.who != Who::Nobody
    }

    /// Whether the option at this index matters. Times do not, for tables with bots only.
    fn is_asked(&self, number: usize) -> bool {
        let option = self.options.get(number).map(|(option, _)| option.key);
        if option == Some(Timing::BANK) && !self.has_turn_time() {
            return false;
        }
        self.is_networked() || !TIMES.iter().any(|time| Some(time.key) == option)
    }

    /// Whether turns have a limit, which a bank extends.
    fn has_turn_time(&self) -> bool {
        let chosen = self.options.iter().find(|(option, _)| option.key == Timing::TURN_TIME);
        match chosen.map(|(_, value)| value.as_str()) {
            Some(Timing::NO_TURN_TIME) | None => false,
            Some(USUAL) => self.usual_turn_time() != Timing::NO_TURN_TIME,
            Some(_) => true,
        }
    }

    fn items(&self) -> Vec<Item> {
        let several = self.game.most_seats > 1;
        let mut items = Vec::new();
        if several && !self.is_page {
            items.push(Item::Who);
        }
        if self.game.least_seats < self.game.most_seats {
            items.push(Item::Seats);
        }
        let is_online = self.is_networked() && self.who != Who::ByLetter;
        if several && is_online {
            items.push(Item::Bots);
        }
        if self.bots > 0 {
            items.extend([Item::Level, Item::Pace]);
        }
        let choice = |number: usize| {
            if self.options.get(number).is_some_and(is_dated) { Item::Deal } else { Item::Choice(number) }
        };
        items.extend(self.options.first().map(|_| choice(0)));
        if is_online {
            items.extend([Item::Password, Item::Phones]);
        }
        if self.options.len() > 1 {
            items.push(Item::More);
        }
        if self.is_unfolded {
            let rest = (1..self.options.len()).filter(|number| self.is_asked(*number));
            items.extend(rest.map(choice));
        }
        items.retain(|item| !self.is_page || *item != Item::Deal);
        items.push(Item::Start);
        items
    }

    /// The item's name, value and meaning.
    fn told(&self, item: Item, settings: &Settings) -> (String, String, String) {
        let (name, value, meaning) = match item {
            Item::Who => match self.who {
                Who::Nobody => (
                    "who can join",
                    "only bots".to_owned(),
                    "You play with bots on this machine, sealed and audited like any table.",
                ),
                Who::Near => (
                    "who can join",
                    "friends nearby".to_owned(),
                    "Players on your network see the table in their list. You also get a ticket for friends elsewhere.",
                ),
                Who::Invited => (
                    "who can join",
                    "friends with a ticket".to_owned(),
                    "You get a ticket to send to friends, wherever they are. Nobody else finds the table.",
                ),
                Who::ByLetter => (
                    "who can join",
                    "friends by letter".to_owned(),
                    "You get an invitation, a file to send. Nobody has to be online at once: you play by files or mail.",
                ),
                Who::Anybody => (
                    "who can join",
                    "anybody".to_owned(),
                    "Your meeting points list the table with your name and address, and relay players who cannot reach you directly.",
                ),
            },
            Item::Seats => {
                let meaning =
                    format!("This game is for {} to {} players.", self.game.least_seats, self.game.most_seats);
                return ("seats".to_owned(), self.seats.to_string(), meaning);
            }
            Item::Bots => (
                "bots",
                self.bots.to_string(),
                "The other seats stay open until somebody joins. You can add more bots in the lobby.",
            ),
            Item::Level => {
                let meaning = match self.level {
                    Level::Gentle => "Gentle bots move mostly at random: good for a first game.",
                    Level::Normal => "Normal bots play sensibly.",
                    Level::Sharp => "Sharp bots look ahead: hard to beat.",
                };
                ("bots play", self.level.name().to_owned(), meaning)
            }
            Item::Pace => {
                let meaning = "How long bots wait before they act, at all your tables.";
                ("bots think", pace(settings.bot_delay).1.to_owned(), meaning)
            }
            Item::Phones => {
                let away = time_in_words(u64::from(self.absence()));
                let meaning = if self.phones {
                    format!("A phone stops a page that nobody looks at: whoever is away may come back for {away}.")
                } else {
                    format!("Browsers can join all the same; whoever is away for {away} may be removed.")
                };
                return ("friends with phones".to_owned(), if self.phones { "yes" } else { "no" }.to_owned(), meaning);
            }
            Item::Choice(number) => return self.option_told(number),
            Item::Deal => {
                let (value, meaning) = match (self.day(), self.practice) {
                    (Some(_), _) => ("today's", "The same deal for everybody today. Sealed and saved; one try counts."),
                    (None, true) => ("for practice", "Not sealed or saved; you can undo every action."),
                    (None, false) => ("random", "Sealed and audited; it counts in your statistics."),
                };
                ("deal", value.to_owned(), meaning)
            }
            Item::Password => {
                let value = if self.password.is_empty() { "none" } else { "set" };
                let meaning = "Type one, and guests need it to sit down; guesses are limited.";
                ("password", value.to_owned(), meaning)
            }
            Item::More => ("", String::new(), "Options that few tables need."),
            Item::Start => ("", String::new(), "Everything is ready. Change what you like above, or begin."),
        };
        (name.to_owned(), value, meaning.to_owned())
    }

    fn option_told(&self, number: usize) -> (String, String, String) {
        let Some((option, value)) = self.options.get(number) else {
            return Default::default();
        };
        let none = OptionText::default();
        let text = self.texts.get(option.key).unwrap_or(&none);
        let of_value = text.values.get(value).map_or("", String::as_str);
        let meaning = format!("{} {of_value}", text.text).trim().to_owned();
        let is_time = option.key != Timing::HOLIDAYS && TIMES.iter().any(|time| time.key == option.key);
        let seconds = value.parse().ok().filter(|_| is_time);
        let shown = match (option.kind, seconds) {
            (_, Some(seconds)) => time_in_words(seconds),
            _ if option.key == Timing::TURN_TIME && value == USUAL => self.usual_turn_time(),
            _ if option.key == TARGET && value == ONE_HAND => "one hand".to_owned(),
            (OptionKind::Flag, _) => if value == "true" { "yes" } else { "no" }.to_owned(),
            _ => value.replace('-', " "),
        };
        (text.name.clone(), shown, meaning)
    }

    /// The turn time of a table that asks for none, in words.
    fn usual_turn_time(&self) -> String {
        let mut options = BTreeMap::new();
        if self.who == Who::ByLetter {
            wait_for_letters(&mut options);
        }
        Timing::fill_in(&mut options, self.seats.saturating_sub(self.bots));
        let timing = Timing::take(&mut options).unwrap_or_default();
        let seconds = timing.turn_time().map(u64::from);
        seconds.map_or_else(|| Timing::NO_TURN_TIME.to_owned(), time_in_words)
    }

    fn change(&mut self, cx: &mut Cx<'_>, item: Item, by: i32) {
        match item {
            Item::Who => {
                let was_networked = self.is_networked();
                let has_points = !cx.context.settings.meet.is_empty();
                // Elsewhere every return asks the others, and letters do not work.
                let letters = cfg!(unix).then_some(Who::ByLetter);
                let all = [Who::Nobody, Who::Near, Who::Invited].into_iter().chain(letters);
                let all: Vec<Who> = all.chain(has_points.then_some(Who::Anybody)).collect();
                self.who = turned(&all, &self.who, by);
                if self.who == Who::ByLetter {
                    (self.bots, self.phones) = (0, false);
                }
                if was_networked != self.is_networked() {
                    self.bots = if self.is_networked() { 0 } else { self.seats - 1 };
                }
            }
            Item::Seats => {
                self.seats = stepped(self.seats, by, self.game.least_seats, self.game.most_seats);
                self.bots = if self.is_networked() { self.bots.min(self.seats - 1) } else { self.seats - 1 };
            }
            Item::Bots => self.bots = stepped(self.bots, by, 0, self.seats - 1),
            Item::Level => self.level = turned(&Level::ALL.map(|(level, _)| level), &self.level, by),
            Item::Pace => cx.save(Settings {
                bot_delay: turned(&PACES, &pace(cx.context.settings.bot_delay), by).0,
                ..cx.context.settings.clone()
            }),
            Item::Choice(number) => {
                if let Some((option, value)) = self.options.get_mut(number) {
                    *value = match option.key {
                        TARGET => next_points(option, value, by),
                        _ => next_value(option.kind, value, by),
                    };
                }
            }
            Item::Deal => {
                // In this order: sealed, daily, practice.
                let now = match (self.day(), self.practice) {
                    (None, false) => 0,
                    (Some(_), _) => 1,
                    (None, true) => 2,
                };
                let next = (now + by).rem_euclid(3);
                self.practice = next == 2;
                let day = if next == 1 { self.today.as_str() } else { NO_DAY };
                if let Some((_, value)) = self.options.iter_mut().find(|option| is_dated(option)) {
                    day.clone_into(value);
                }
            }
            Item::Phones => self.phones = !self.phones,
            Item::More => self.is_unfolded = !self.is_unfolded,
            Item::Password | Item::Start => {}
        }
    }

    /// The day of the chosen daily deal.
    fn day(&self) -> Option<&str> {
        let option = self.options.iter().find(|option| is_dated(option));
        let day = option.map(|(_, day)| day.as_str());
        day.filter(|day| *day != NO_DAY)
    }

    /// The options of the table, those that are not its defaults of time.
    fn chosen(&self) -> BTreeMap<String, String> {
        let options =
            self.options.iter().enumerate().filter(|(number, (_, value))| self.is_asked(*number) && value != USUAL);
        let mut options: BTreeMap<String, String> =
            options.map(|(_, (option, value))| (option.key.to_owned(), value.clone())).collect();
        if self.is_networked() && self.phones {
            wait_for_phones(&mut options);
        }
        if self.who == Who::ByLetter {
            wait_for_letters(&mut options);
        }
        options
    }

    /// How long the table waits for absent players, in seconds.
    fn absence(&self) -> u32 {
        let mut options = self.chosen();
        Timing::fill_in(&mut options, self.seats.saturating_sub(self.bots));
        Timing::take(&mut options).unwrap_or_default().absence()
    }

    fn start(&self, cx: &mut Cx<'_>) {
        let is_networked = self.is_networked();
        let password = match self.password.password() {
            Ok(password) => password.filter(|_| is_networked),
            Err(why) => return cx.toast(Tone::Bad, why.to_string()),
        };
        let options = self.chosen();
        if self.who == Who::ByLetter {
            cx.effect(Effect::Invite { game: self.game.id.to_owned(), seats: self.seats, options });
            return cx.replace(ReadLetter::default());
        }
        let opening = Opening {
            game: self.game.id.to_owned(),
            seats: self.seats,
            bots: self.bots,
            level: self.level,
            options: options.into_iter().collect(),
            networked: is_networked,
            lan: matches!(self.who, Who::Near | Who::Anybody),
            meet: self.who == Who::Anybody,
            password,
            practice: self.practice,
        };
        cx.effect(Effect::Open(opening));
        let table = TableScreen::new(self.game.name, !is_networked);
        cx.replace(table);
    }

    fn item(&self, target: Target) -> Option<Item> {
        match target {
            Target::Row(number) => self.items().get(number).copied(),
            _ => None,
        }
    }

    /// The arrows walk and change the settings; Enter begins, wherever the focus is.
    fn intent(&mut self, cx: &mut Cx<'_>, intent: Intent) -> Handled {
        let by = match intent {
            Intent::Left => -1,
            Intent::Right => 1,
            // The list is longer than the screen: its next row is not drawn yet.
            Intent::Up | Intent::Down => {
                let focus = self.items().iter().position(|item| Some(*item) == self.focus);
                let next = focus
                    .map(|at| if intent == Intent::Up { at.saturating_sub(1) } else { at + 1 })
                    .filter(|at| *at < self.items().len());
                if let Some(at) = next {
                    cx.focus(Target::Row(at));
                }
                return Handled::Yes;
            }
            Intent::Choose if self.focus == Some(Item::More) => 1,
            Intent::Choose => {
                self.start(cx);
                return Handled::Yes;
            }
            _ => return Handled::No,
        };
        if let Some(item) = self.focus {
            self.change(cx, item, by);
        }
        Handled::Yes
    }
}

/// The pace nearest to a delay.
fn pace(delay: u64) -> (u64, &'static str) {
    let nearest = PACES.into_iter().min_by_key(|(pace, _)| pace.abs_diff(delay));
    nearest.unwrap_or_default()
}

/// The next number up or down, wrapping at the ends.
fn stepped(value: u8, by: i32, least: u8, most: u8) -> u8 {
    match (by > 0, value) {
        (true, value) if value >= most => least,
        (true, value) => value + 1,
        (false, value) if value <= least => most,
        (false, value) => value - 1,
    }
}

/// The next value of an option, wrapping at the ends. Wide ranges go in steps of ten.
fn next_value(kind: OptionKind, value: &str, by: i32) -> String {
    match kind {
        OptionKind::Number(least, most) => {
            let step = if most - least > 20 { 10 } else { 1 };
            let now: u32 = value.parse().unwrap_or(least);
            let next = match by > 0 {
                true if now >= most => least,
                true => now.saturating_add(step).min(most),
                false if now <= least => most,
                false => now.saturating_sub(step).max(least),
            };
            next.to_string()
        }
        OptionKind::Choice(words) => {
            let at = words.iter().position(|word| *word == value).unwrap_or(0);
            let count = words.len().max(1);
            let next = if by > 0 { at + 1 } else { at + count - 1 } % count;
            words.get(next).copied().unwrap_or_default().to_owned()
        }
        OptionKind::Flag => (value != "true").to_string(),
        // It is chosen in the row of the deal.
        OptionKind::Date => value.to_owned(),
    }
}

/// The next number of points up or down, wrapping at the ends.
fn next_points(option: &OptionInfo, value: &str, by: i32) -> String {
    let now = value.parse().unwrap_or(0);
    let usual = option.default.parse().ok();
    let mut all: Vec<u32> = POINTS.into_iter().chain(usual).collect();
    all.sort_unstable();
    all.dedup();
    let next = if by > 0 {
        all.iter().find(|points| **points > now).or(all.first())
    } else {
        all.iter().rev().find(|points| **points < now).or(all.last())
    };
    next.map_or_else(|| value.to_owned(), u32::to_string)
}

/// An option's value on a new table: its default, but one hand for the first of long games.
fn first_value(option: &OptionInfo, game: &GameInfo, context: &Context) -> String {
    let is_known = |past: &Past| past.summary().is_some_and(|summary| summary.game == game.id);
    let is_first = game.minutes > SHORT && !context.library.past.iter().any(is_known);
    if option.key == TARGET && is_first { ONE_HAND } else { option.default }.to_owned()
}

/// Whether the option is the day of the deal.
fn is_dated(option: &(&OptionInfo, String)) -> bool {
    matches!(option.0.kind, OptionKind::Date)
}

impl Screen for Setup {
    fn name(&self) -> String {
        self.game.name.to_owned()
    }

    fn chrome(&self, _context: &Context) -> Chrome {
        Chrome { rulebook: Some((self.game, "")), ..Chrome::default() }
    }

    fn draw(&mut self, context: &Context, canvas: &mut Canvas<'_>, area: Rect) {
        self.draw_all(context, canvas, area);
    }

    fn focus(&self, layer: &Layer) -> FocusPolicy {
        // Start on the last row: Enter opens the table.
        let last = self.items().len().checked_sub(1).map(|last| if self.at_options { 0 } else { last });
        FocusPolicy {
            first: last.map(Target::Row),
            steers: &[Intent::Up, Intent::Down, Intent::Left, Intent::Right, Intent::Choose],
            writes: self.focus == Some(Item::Password),
            ..FocusPolicy::of(layer)
        }
    }

    fn input(&mut self, cx: &mut Cx<'_>, input: ScreenInput<'_>) -> Handled {
        match input {
            ScreenInput::Choose(target) => match self.item(target) {
                Some(Item::Start) => self.start(cx),
                Some(item) => self.change(cx, item, 1),
                None => {}
            },
            ScreenInput::Intent(intent) => return self.intent(cx, intent),
            ScreenInput::Typed(typed) => {
                self.password.typed(typed);
            }
            ScreenInput::Submit => self.start(cx),
            ScreenInput::Focused(target) => self.focus = target.and_then(|target| self.item(target)),
            _ => return Handled::No,
        }
        Handled::Yes
    }

    fn commands(&self, _context: &Context) -> Vec<(String, Target)> {
        let last = self.items().len().saturating_sub(1);
        vec![("start".to_owned(), Target::Row(last))]
    }
}

#[cfg(test)]
mod tests {
    use fairdeal_games::GAMES;

    use super::*;

    #[test]
    fn values_go_round() {
        let next = |kind, value: &str, by| next_value(kind, value, by);
        assert_eq!(next(OptionKind::Number(50, 500), "100", 1), "110");
        assert_eq!(next(OptionKind::Number(50, 500), "500", 1), "50");
        assert_eq!(next(OptionKind::Number(1, 3), "1", -1), "3");
        assert_eq!(next(OptionKind::Choice(&["a", "b"]), "a", -1), "b");
        assert_eq!(next(OptionKind::Flag, "false", 1), "true");

        assert_eq!((stepped(5, 1, 2, 5), stepped(2, -1, 2, 5)), (2, 5));
    }

    #[test]
    fn points_go_from_one_hand_to_long_games() {
        let thoth = fairdeal_games::game_info("houses-of-thoth").unwrap();
        let option = thoth.options.iter().find(|option| option.key == TARGET).unwrap();
        let next = |value: &str, by| next_points(option, value, by);
        assert_eq!((next("1", 1), next("50", 1), next("78", 1)), ("20".into(), "78".into(), "100".into()));
        assert_eq!((next("1", -1), next("1000", 1), next("30", -1)), ("1000".into(), "1".into(), "20".into()));
    }

    /// A game that takes long begins with one hand for whoever has not played it.
    #[test]
    fn first_long_game_is_one_hand() {
        let mut context = crate::app::testing::context(false);
        let points = |id: &str, context: &Context| {
            let setup = Setup::new(fairdeal_games::game_info(id).unwrap(), context);
            setup.options.iter().find(|(option, _)| option.key == TARGET).map(|(_, value)| value.clone()).unwrap()
        };
        assert_eq!((points("houses-of-thoth", &context), points("loot", &context)), ("1".into(), "100".into()));
        let mut played = fairdeal_session::testing::past(&[("Anna", 1)], 0);
        if let fairdeal_session::past::What::Over(summary) = &mut played.what {
            summary.game = "houses-of-thoth".to_owned();
        }
        context.library.past = vec![played];
        assert_eq!(points("houses-of-thoth", &context), "78");
    }

    #[test]
    fn every_option_has_a_name_and_meaning() {
        let texts = option_texts();
        let own = GAMES.iter().flat_map(|info| info.options);
        for option in own.chain([&TABLE_OPTION]).chain(&TIMES).filter(|option| option.kind != OptionKind::Date) {
            let text = texts.get(option.key).unwrap_or_else(|| panic!("{}", option.key));
            assert!(!text.name.is_empty() && text.name.len() < 22, "{}", option.key);
            let values: &[&str] = match option.kind {
                OptionKind::Choice(values) => values,
                _ => &["true", "false"],
            };
            assert!(!text.text.is_empty() || values.iter().all(|value| text.values.contains_key(*value)));
        }
    }
}
