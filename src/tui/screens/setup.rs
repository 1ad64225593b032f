//! Settings of a new table: seats, bots, options of the game, and who can join.

use fairdeal_games::{GameInfo, OptionInfo, OptionKind, TABLE_OPTION};
use fairdeal_protocol::crypto::pake::MAX_PASSWORD;
use fairdeal_protocol::timing::Timing;
use fairdeal_ui::canvas::{Canvas, Layer, Target, wrapped};
use fairdeal_ui::field::Field;
use fairdeal_ui::keys::Intent;
use fairdeal_ui::view::time_in_words;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::table::TableScreen;
use super::{column, setting};
use crate::history::solitaire::Solitaire;
use crate::tui::screen::{Context, Effect, Opening, Request, Requests, Screen, Tone};

/// Value of the daily option when no day is chosen.
const NO_DAY: &str = "none";

/// One setting, in one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Item {
    /// On this machine only, or over the network.
    Where,
    Seats,
    Bots,
    /// An option by its index: the game's own, then those of all tables.
    Choice(usize),
    /// For a solitaire: which deal, and whether it is sealed.
    Deal,
    Lan,
    Password,
    Start,
}

/// Not given: the table uses its default.
const USUAL: &str = "usual";

/// The times offered here, in seconds. The command line accepts any value.
const TIMES: [OptionInfo; 2] = [
    OptionInfo {
        key: Timing::TURN_TIME,
        default: Timing::NO_TURN_TIME,
        kind: OptionKind::Choice(&[Timing::NO_TURN_TIME, "60", "300", "3600", "86400", "604800"]),
    },
    OptionInfo {
        key: Timing::ABSENCE,
        default: USUAL,
        kind: OptionKind::Choice(&[USUAL, "60", "600", "3600", "86400", "604800"]),
    },
];

#[derive(Debug)]
pub(in crate::tui) struct Setup {
    game: &'static GameInfo,
    networked: bool,
    seats: u8,
    bots: u8,
    options: Vec<(&'static OptionInfo, String)>,
    practice: bool,
    lan: bool,
    password: Field,
    focus: Option<Item>,
    today: String,
}

impl Setup {
    pub(in crate::tui) fn new(game: &'static GameInfo, context: &Context) -> Self {
        let seats = 3.clamp(game.least_seats, game.most_seats);
        let all = game.options.iter();
        let several = game.most_seats > 1;
        let table = std::iter::once(&TABLE_OPTION).chain(&TIMES);
        let table = table.filter(|_| several);
        Self {
            game,
            networked: false,
            seats,
            bots: seats - 1,
            options: all
                .chain(table)
                .map(|option| (option, option.default.to_owned()))
                .collect(),
            practice: false,
            lan: true,
            password: Field::secret(MAX_PASSWORD),
            focus: None,
            today: context.today.clone(),
        }
    }

    /// Whether the option at this index is shown. Times are hidden for tables with bots only.
    fn is_asked(&self, number: usize) -> bool {
        let option = self.options.get(number).map(|(option, _)| option.key);
        self.networked || !TIMES.iter().any(|time| Some(time.key) == option)
    }

    fn items(&self) -> Vec<Item> {
        let several = self.game.most_seats > 1;
        let mut items = Vec::new();
        if several {
            items.push(Item::Where);
        }
        if self.game.least_seats < self.game.most_seats {
            items.push(Item::Seats);
        }
        if several && self.networked {
            items.push(Item::Bots);
        }
        let dated = |number: &usize| self.options.get(*number).is_some_and(is_dated);
        let asked = (0..self.options.len()).filter(|number| self.is_asked(*number));
        items.extend(asked.map(|number| {
            if dated(&number) {
                Item::Deal
            } else {
                Item::Choice(number)
            }
        }));
        if self.networked {
            items.extend([Item::Lan, Item::Password]);
        }
        items.push(Item::Start);
        items
    }

    /// The item's name, value and meaning.
    fn told(&self, item: Item) -> (String, String, String) {
        let yes = |on: bool| if on { "yes" } else { "no" }.to_owned();
        let (name, value, meaning) = match item {
            Item::Where => {
                let value = if self.networked {
                    "with others"
                } else {
                    "with bots, on this machine"
                };
                let meaning = if self.networked {
                    "Friends join with a ticket, or find the table on their network."
                } else {
                    "Sealed and audited like any table."
                };
                ("where", value.to_owned(), meaning.to_owned())
            }
            Item::Seats => {
                let meaning = format!("{} to {}.", self.game.least_seats, self.game.most_seats);
                ("seats", self.seats.to_string(), meaning)
            }
            Item::Bots => (
                "bots",
                self.bots.to_string(),
                "You can add more in the lobby.".to_owned(),
            ),
            Item::Choice(number) => {
                let Some((option, value)) = self.options.get(number) else {
                    return Default::default();
                };
                let meaning = match option.key {
                    key if key == TABLE_OPTION.key => "No keys in escrow: losing a player redeals the hand.".to_owned(),
                    Timing::TURN_TIME => "After this time the others may remove the player, if all agree.".to_owned(),
                    Timing::ABSENCE => {
                        "How long a player may be unreachable. Then the others may go on. Usually 2 min.".to_owned()
                    }
                    _ => format!("{}.", option.kind.allowed()),
                };
                let time = TIMES.iter().any(|time| time.key == option.key);
                let seconds = value.parse().ok().filter(|_| time);
                let value = seconds.map_or_else(|| value.clone(), time_in_words);
                return (option.key.replace('-', " "), value, meaning);
            }
            Item::Deal => {
                let (value, meaning) = match (self.day(), self.practice) {
                    (Some(day), _) => (
                        format!("of {day}"),
                        "The same deal for everybody today. Sealed and saved; one try counts.",
                    ),
                    (None, true) => (
                        "random, for practice".to_owned(),
                        "Not sealed or saved; you can undo every action.",
                    ),
                    (None, false) => (
                        "random, sealed".to_owned(),
                        "Sealed and audited; it counts in your statistics.",
                    ),
                };
                ("deal", value, meaning.to_owned())
            }
            Item::Lan => (
                "announce on the network",
                yes(self.lan),
                "Players on the LAN see the table in their list.".to_owned(),
            ),
            Item::Password => {
                let value = if self.password.is_empty() { "none" } else { "set" };
                let meaning = "Guests need it to sit down; guesses are limited.";
                ("password", value.to_owned(), meaning.to_owned())
            }
            Item::Start => ("", String::new(), String::new()),
        };
        (name.to_owned(), value, meaning)
    }

    fn change(&mut self, item: Item, by: i32) {
        match item {
            Item::Where => {
                self.networked = !self.networked;
                self.bots = if self.networked { 0 } else { self.seats - 1 };
            }
            Item::Seats => {
                self.seats = stepped(self.seats, by, self.game.least_seats, self.game.most_seats);
                self.bots = if self.networked {
                    self.bots.min(self.seats - 1)
                } else {
                    self.seats - 1
                };
            }
            Item::Bots => self.bots = stepped(self.bots, by, 0, self.seats - 1),
            Item::Choice(number) => {
                if let Some((option, value)) = self.options.get_mut(number) {
                    *value = next_value(option.kind, value, by);
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
            Item::Lan => self.lan = !self.lan,
            Item::Password | Item::Start => {}
        }
    }

    /// The day of the chosen daily deal.
    fn day(&self) -> Option<&str> {
        let option = self.options.iter().find(|option| is_dated(option));
        let day = option.map(|(_, day)| day.as_str());
        day.filter(|day| *day != NO_DAY)
    }

    fn start(&self, requests: &mut Requests) {
        let password = match self.password.password() {
            Ok(password) => password.filter(|_| self.networked),
            Err(why) => return requests.push(Request::Toast(Tone::Bad, why.to_string())),
        };
        let opening = Opening {
            game: self.game.id.to_owned(),
            seats: self.seats,
            bots: self.bots,
            options: self
                .options
                .iter()
                .enumerate()
                .filter(|(number, (_, value))| self.is_asked(*number) && value != USUAL)
                .map(|(_, (option, value))| (option.key.to_owned(), value.clone()))
                .collect(),
            networked: self.networked,
            lan: self.lan,
            password,
            practice: self.practice,
        };
        requests.push(Request::Effect(Effect::Open(opening)));
        requests.push(Request::Replace(Box::new(TableScreen::new(
            self.game.name,
            !self.networked,
        ))));
    }

    fn item(&self, target: Target) -> Option<Item> {
        match target {
            Target::Row(number) => self.items().get(number).copied(),
            _ => None,
        }
    }
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

/// Whether the option is the day of the deal.
fn is_dated(option: &(&OptionInfo, String)) -> bool {
    matches!(option.0.kind, OptionKind::Date)
}

impl Screen for Setup {
    fn name(&self) -> String {
        self.game.name.to_owned()
    }

    fn game(&self) -> Option<&'static GameInfo> {
        Some(self.game)
    }

    fn draw(&mut self, context: &Context, canvas: &mut Canvas<'_>, area: Rect) {
        let theme = canvas.theme();
        let page = column(area, 86);
        let mut at = Rect { y: page.y + 1, ..page };
        at = canvas.section(at, "Open a table");
        for (number, item) in self.items().into_iter().enumerate() {
            let target = Target::Row(number);
            if item == Item::Start {
                at.y += 1;
                let words = if self.networked { "open the table" } else { "play" };
                canvas.button((at.x + 3, at.y), "Enter", words, target);
                continue;
            }
            let (name, value, _) = self.told(item);
            setting(canvas, at, target, &name, &value);
            at.y += 1;
        }
        let (_, _, meaning) = self.focus.map(|item| self.told(item)).unwrap_or_default();
        let keys = &context.keymap;
        let [left, right] = [Intent::Left, Intent::Right].map(|intent| keys.keys(intent).replace(' ', "/"));
        let how = match self.focus {
            Some(Item::Password) => "Tab or Down: next field.".to_owned(),
            _ => format!("{left}, {right} or a click changes the value. Enter starts the table."),
        };
        let below = Rect {
            y: at.y + 2,
            height: 5,
            ..page
        };
        let rows = wrapped(&meaning, usize::from(page.width).saturating_sub(4), 0);
        let lines = rows.into_iter().chain([how]);
        canvas.rows(below, lines.map(|row| Line::styled(format!("   {row}"), theme.faint())));
        if self.game.most_seats == 1 {
            let past = Solitaire::of(&context.library.past, self.game.id, &context.today);
            let below = Rect {
                y: below.bottom() + 1,
                height: 6,
                ..page
            };
            let inner = canvas.section(below, "So far");
            let width = usize::from(inner.width).saturating_sub(4);
            let mut words = past.in_words();
            if words.is_empty() {
                words.push("You have not finished a game yet.".to_owned());
            }
            let rows = words.iter().flat_map(|words| wrapped(words, width, 0));
            canvas.rows(inner, rows.map(|row| Line::raw(format!("   {row}"))));
        }
    }

    fn choose(&mut self, _context: &Context, target: Target, requests: &mut Requests) {
        match self.item(target) {
            Some(Item::Start) => self.start(requests),
            Some(item) => self.change(item, 1),
            None => {}
        }
    }

    fn intent(&mut self, _context: &Context, intent: Intent, requests: &mut Requests) {
        let by = match intent {
            Intent::Left => -1,
            Intent::Right => 1,
            Intent::Choose => return self.start(requests),
            Intent::Quit => return requests.push(Request::Leave),
            _ => return,
        };
        if let Some(item) = self.focus {
            self.change(item, by);
        }
    }

    /// Left and right change the focused setting; Enter begins, wherever the focus is.
    fn steers(&self, intent: Intent) -> bool {
        matches!(intent, Intent::Left | Intent::Right | Intent::Choose)
    }

    fn field(&mut self) -> Option<&mut Field> {
        (self.focus == Some(Item::Password)).then_some(&mut self.password)
    }

    fn submit(&mut self, _context: &Context, requests: &mut Requests) {
        self.start(requests);
    }

    fn focused(&mut self, target: Option<Target>) {
        self.focus = target.and_then(|target| self.item(target));
    }

    fn first_focus(&self, _layer: &Layer) -> Option<Target> {
        // Start on the last row: Enter opens the table.
        self.items().len().checked_sub(1).map(Target::Row)
    }

    fn commands(&self, _context: &Context) -> Vec<(String, Target)> {
        let last = self.items().len().saturating_sub(1);
        vec![("start".to_owned(), Target::Row(last))]
    }
}

#[cfg(test)]
mod tests {
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
}
