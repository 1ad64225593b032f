//! The home screen: games, saved games, tables on the LAN, and the menu.

use fairdeal_games::{GAMES, GameInfo, game_info};
use fairdeal_net::JoinTarget;
use fairdeal_ui::canvas::{Canvas, Layer, Target, wrapped};
use fairdeal_ui::keys::Intent;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};

use super::history::History;
use super::join::{Join, Purpose};
use super::settings::SettingsScreen;
use super::setup::Setup;
use super::table::TableScreen;
use super::{column, row};
use crate::tui::event::UiEvent;
use crate::tui::screen::{Context, Effect, Question, Request, Requests, Screen};

/// Entries of the menu.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Entry {
    Game(usize),
    /// A saved game, by index.
    Waiting(usize),
    /// A table on the LAN, by index.
    Lan(usize),
    Join,
    Watch,
    History,
    Settings,
    Quit,
}

#[derive(Debug, Default)]
pub(in crate::tui) struct Home {
    focus: Option<Target>,
}

/// Five pyramids, from large to small and back.
const BANNER: [&str; 3] = [
    r"      /\                /\      ",
    r" /\  /  \  fair deal   /  \  /\ ",
    r"/__\/____\            /____\/__\",
];

fn entries(context: &Context) -> Vec<Entry> {
    let lan = context.lan.as_ref().map_or(0, |view| view.tables.len());
    let mut all: Vec<Entry> = (0..GAMES.len()).map(Entry::Game).collect();
    // Saved games and LAN tables come and go, so they are last. The other entries keep their numbers.
    all.extend([Entry::Join, Entry::Watch, Entry::History, Entry::Settings, Entry::Quit]);
    all.extend((0..context.library.waiting.len()).map(Entry::Waiting));
    all.extend((0..lan).map(Entry::Lan));
    all
}

fn seats(info: &GameInfo) -> String {
    if info.least_seats == info.most_seats {
        "alone".to_owned()
    } else {
        format!("{} to {}", info.least_seats, info.most_seats)
    }
}

impl Home {
    fn focused_entry(&self, context: &Context) -> Option<Entry> {
        match self.focus {
            Some(Target::Row(number)) => entries(context).get(number).cloned(),
            _ => None,
        }
    }

    fn draw_about(&self, context: &Context, canvas: &mut Canvas<'_>, area: Rect) {
        let theme = canvas.theme();
        let (title, text) = match self.focused_entry(context) {
            Some(Entry::Game(number)) => {
                let Some(info) = GAMES.get(number) else {
                    return;
                };
                let text = format!("{} By {}.", info.pitch, info.designer);
                (info.name.to_owned(), text)
            }
            Some(Entry::Waiting(_)) => (
                "Saved game".to_owned(),
                "You left it, or were interrupted. Resume at the same step.".to_owned(),
            ),
            Some(Entry::Lan(number)) => {
                let tables = context.lan.as_ref().map(|view| &view.tables);
                let Some(table) = tables.and_then(|tables| tables.get(number)) else {
                    return;
                };
                let options: Vec<String> = table
                    .options
                    .iter()
                    .map(|(key, value)| format!("{key} {value}"))
                    .collect();
                let locked = if table.locked { "It needs a password. " } else { "" };
                let text = format!("{locked}Options: {}.", options.join(", "));
                (format!("{}'s table", table.host), text)
            }
            Some(Entry::Join) => ("Join".to_owned(), "Paste a friend's ticket or address.".to_owned()),
            Some(Entry::Watch) => (
                "Watch".to_owned(),
                "Paste a table's ticket to watch as a spectator and verify every step.".to_owned(),
            ),
            Some(Entry::History) => (
                "History".to_owned(),
                "Past games: replay one from any seat, and audit every shuffle.".to_owned(),
            ),
            Some(Entry::Settings) => (
                "Settings".to_owned(),
                "Your name, colours, keys, and how fast bots think.".to_owned(),
            ),
            Some(Entry::Quit) | None => (String::new(), String::new()),
        };
        let inner = canvas.section(area, &title);
        let width = usize::from(inner.width).saturating_sub(2);
        let rows = wrapped(&text, width, 0);
        canvas.rows(
            inner,
            rows.into_iter()
                .map(|row| Line::styled(format!(" {row}"), theme.faint())),
        );
    }
}

impl Screen for Home {
    fn name(&self) -> String {
        "home".to_owned()
    }

    fn draw(&mut self, context: &Context, canvas: &mut Canvas<'_>, area: Rect) {
        let theme = canvas.theme();
        let page = column(area, 110);
        let roomy = area.height >= 30;
        let [banner, lists, about] = Layout::vertical([
            Constraint::Length(if roomy { 6 } else { 4 }),
            Constraint::Min(8),
            Constraint::Length(if roomy { 6 } else { 4 }),
        ])
        .areas(page);
        let top = banner.y + u16::from(roomy);
        let left = banner.x + banner.width.saturating_sub(32) / 2;
        for (y, line) in (top..).zip(BANNER) {
            canvas.put(Rect::new(left, y, 32, 1), Line::styled(line, theme.accent()));
        }
        let [games, rest] = Layout::horizontal([Constraint::Percentage(46), Constraint::Percentage(54)]).areas(lists);
        let entries = entries(context);
        let number_of = |entry: &Entry| entries.iter().position(|other| other == entry).unwrap_or(0);
        let mut at = canvas.section(games, "Play");
        for (number, info) in GAMES.iter().enumerate() {
            let target = Target::Row(number_of(&Entry::Game(number)));
            row(canvas, at, target, (info.name, theme.title()), &seats(info));
            at.y += 1;
        }
        at.y += 1;
        let ways = [
            (Entry::Join, "join with a ticket"),
            (Entry::Watch, "watch a table"),
            (Entry::History, "history"),
            (Entry::Settings, "settings"),
            (Entry::Quit, "quit"),
        ];
        for (entry, words) in ways {
            let target = Target::Row(number_of(&entry));
            row(canvas, at, target, (words, theme.text()), "");
            at.y += 1;
        }
        let rest = Rect {
            x: rest.x + 2,
            width: rest.width.saturating_sub(2),
            ..rest
        };
        let mut at = rest;
        if !context.library.waiting.is_empty() {
            at = canvas.section(at, "Resume");
            for (number, (_, words)) in context.library.waiting.iter().enumerate().take(4) {
                let target = Target::Row(number_of(&Entry::Waiting(number)));
                row(canvas, at, target, (words, theme.text()), "");
                at.y += 1;
            }
            at.y += 1;
            at.height = rest.bottom().saturating_sub(at.y);
        }
        let inner = canvas.section(at, "On your network");
        let mut at = inner;
        let view = context.lan.as_ref();
        let tables = view.map(|view| view.tables.as_slice()).unwrap_or_default();
        for (number, table) in tables.iter().enumerate() {
            if at.y >= rest.bottom() {
                break;
            }
            let game = game_info(&table.game).map_or(table.game.as_str(), |info| info.name);
            let lock = if table.locked { ", locked" } else { "" };
            let free = format!("{} of {} free{lock}", table.free, table.seats);
            let words = format!("{}: {game}", table.host);
            let target = Target::Row(number_of(&Entry::Lan(number)));
            row(canvas, at, target, (&words, theme.text()), &free);
            at.y += 1;
        }
        if tables.is_empty() {
            let words = match view {
                Some(view) if view.blind => "No multicast on this machine: use tickets.",
                _ => "None yet. Open tables appear here.",
            };
            canvas.put(
                inner,
                Line::from(vec![Span::raw("   "), Span::styled(words, theme.faint())]),
            );
        }
        self.draw_about(context, canvas, about);
    }

    fn choose(&mut self, context: &Context, target: Target, requests: &mut Requests) {
        let Target::Row(number) = target else { return };
        match entries(context).get(number) {
            Some(Entry::Game(number)) => {
                if let Some(info) = GAMES.get(*number) {
                    requests.push(Request::Push(Box::new(Setup::new(info, context))));
                }
            }
            Some(Entry::Waiting(number)) => {
                if let Some((table, _)) = context.library.waiting.get(*number) {
                    requests.push(Request::Effect(Effect::Resume(table.clone())));
                    requests.push(Request::Push(Box::new(TableScreen::new("resuming", false))));
                }
            }
            Some(Entry::Lan(number)) => {
                let tables = context.lan.as_ref().map(|view| &view.tables);
                let Some(table) = tables.and_then(|tables| tables.get(*number)) else {
                    return;
                };
                if table.locked {
                    let ticket = table.ticket.to_string();
                    requests.push(Request::Push(Box::new(Join::with(Purpose::Join, &ticket))));
                } else {
                    let target = JoinTarget::Ticket(table.ticket.clone());
                    requests.push(Request::Effect(Effect::Join { target, password: None }));
                    requests.push(Request::Push(Box::new(TableScreen::new("joining", false))));
                }
            }
            Some(Entry::Join) => requests.push(Request::Push(Box::new(Join::new(Purpose::Join)))),
            Some(Entry::Watch) => requests.push(Request::Push(Box::new(Join::new(Purpose::Watch)))),
            Some(Entry::History) => requests.push(Request::Push(Box::new(History::default()))),
            Some(Entry::Settings) => {
                requests.push(Request::Push(Box::new(SettingsScreen::new(context))));
            }
            Some(Entry::Quit) => requests.push(Request::Leave),
            None => {}
        }
    }

    fn intent(&mut self, _context: &Context, intent: Intent, requests: &mut Requests) {
        if intent == Intent::Quit {
            requests.push(Request::Leave);
        }
    }

    fn back(&mut self, _context: &Context, requests: &mut Requests) {
        // Quitting here loses nothing, but one key press too many should not end the program.
        requests.push(Request::Ask(Question::sure("Quit fairdeal?")));
    }

    fn answer(&mut self, _context: &Context, answer: usize, requests: &mut Requests) {
        if answer == 0 {
            requests.push(Request::Leave);
        }
    }

    fn on_event(&mut self, _context: &Context, event: &UiEvent, requests: &mut Requests) {
        if matches!(event, UiEvent::SessionEnded) {
            requests.push(Request::Effect(Effect::LoadLibrary));
        }
    }

    fn focused(&mut self, target: Option<Target>) {
        self.focus = target;
    }

    fn first_focus(&self, layer: &Layer) -> Option<Target> {
        // Start on the first game, for newcomers, even if saved games exist.
        layer.area(Target::Row(0)).map(|_| Target::Row(0))
    }

    fn game(&self) -> Option<&'static GameInfo> {
        match self.focus {
            Some(Target::Row(number)) => GAMES.get(number).copied(),
            _ => None,
        }
    }

    fn commands(&self, context: &Context) -> Vec<(String, Target)> {
        let words = |entry: &Entry| match entry {
            Entry::Game(number) => GAMES
                .get(*number)
                .map_or_else(String::new, |info| format!("play {}", info.name)),
            Entry::Waiting(number) => {
                let waiting = context.library.waiting.get(*number);
                waiting.map_or_else(String::new, |(_, words)| format!("resume: {words}"))
            }
            Entry::Lan(number) => {
                let table = context.lan.as_ref().and_then(|view| view.tables.get(*number));
                table.map_or_else(String::new, |table| format!("join {}'s table", table.host))
            }
            Entry::Join => "join with a ticket".to_owned(),
            Entry::Watch => "watch a table".to_owned(),
            Entry::History => "history: past games".to_owned(),
            Entry::Settings => "settings".to_owned(),
            Entry::Quit => "quit fairdeal".to_owned(),
        };
        let entries = entries(context).into_iter().enumerate();
        entries
            .map(|(number, entry)| (words(&entry), Target::Row(number)))
            .collect()
    }
}
