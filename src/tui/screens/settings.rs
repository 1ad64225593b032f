//! The settings.

use fairdeal_games::bots::Level;
use fairdeal_ui::appearance::{Pyramids, ThemeName};
use fairdeal_ui::canvas::{Canvas, Target, wrapped};
use fairdeal_ui::field::Field;
use fairdeal_ui::keys::Intent;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::{column, label, setting};
use crate::store::Settings;
use crate::tui::screen::{Context, Request, Requests, Screen};

/// The longest name.
pub(super) const MAX_NAME: usize = 32;
/// The choices of bot delay, in milliseconds.
const BOT_DELAYS: [u64; 6] = [0, 200, 400, 700, 1200, 2000];

/// One setting, in one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Item {
    Name,
    Theme,
    Pyramids,
    Ascii,
    Motion,
    Level,
    BotDelay,
}

const ITEMS: [Item; 7] = [
    Item::Name,
    Item::Theme,
    Item::Pyramids,
    Item::Ascii,
    Item::Motion,
    Item::Level,
    Item::BotDelay,
];

#[derive(Debug)]
pub(in crate::tui) struct SettingsScreen {
    name: Field,
    focus: Option<Item>,
}

impl SettingsScreen {
    pub(in crate::tui) fn new(context: &Context) -> Self {
        Self {
            name: Field::new(MAX_NAME).with(context.name()),
            focus: None,
        }
    }

    fn change(&self, context: &Context, item: Item, by: i32, requests: &mut Requests) {
        let mut settings = context.settings.clone();
        match item {
            Item::Name => return,
            Item::Theme => settings.theme = turned(&ThemeName::ALL, settings.theme, by),
            Item::Pyramids => {
                settings.pyramids = turned(&[Pyramids::Rainbow, Pyramids::Xeno], settings.pyramids, by);
            }
            Item::Ascii => settings.ascii = !settings.ascii,
            Item::Motion => settings.motion = !settings.motion,
            Item::Level => {
                settings.bot_level = turned(&Level::ALL.map(|(level, _)| level), settings.bot_level, by);
            }
            Item::BotDelay => settings.bot_delay = turned(&BOT_DELAYS, settings.bot_delay, by),
        }
        requests.push(Request::Settings(Box::new(settings)));
    }

    /// Saves the name if it has changed; a name once given is never empty.
    fn keep_name(&self, context: &Context, requests: &mut Requests) {
        let name = self.name.text().trim().to_owned();
        if !name.is_empty() && name != context.name() {
            let settings = Settings {
                name: Some(name),
                ..context.settings.clone()
            };
            requests.push(Request::Settings(Box::new(settings)));
        }
    }
}

/// The value `by` steps after `now`, wrapping at the ends.
pub(super) fn turned<T: Copy + PartialEq>(all: &[T], now: T, by: i32) -> T {
    let at = all.iter().position(|one| *one == now).unwrap_or(0);
    let count = all.len().max(1);
    let next = if by > 0 { at + 1 } else { at + count - 1 } % count;
    all.get(next).copied().unwrap_or(now)
}

fn told(settings: &Settings, item: Item) -> (&'static str, String, &'static str) {
    let yes = |on: bool| if on { "yes" } else { "no" }.to_owned();
    match item {
        Item::Name => ("name", String::new(), "Your name at tables."),
        Item::Theme => (
            "theme",
            settings.theme.name().to_owned(),
            "None of them relies on colour alone.",
        ),
        Item::Pyramids => {
            let (name, meaning) = match settings.pyramids {
                Pyramids::Rainbow => ("Rainbow", "Black, red, blue, yellow and green."),
                Pyramids::Xeno => ("Xeno", "White, orange, cyan, clear and purple."),
            };
            ("pyramids", name.to_owned(), meaning)
        }
        Item::Ascii => (
            "ASCII alone",
            yes(settings.ascii),
            "For terminals or fonts without box-drawing characters.",
        ),
        Item::Motion => (
            "motion",
            yes(settings.motion),
            "Cards move, and scores appear step by step.",
        ),
        Item::Level => ("bots play", settings.bot_level.name().to_owned(), "For new tables."),
        Item::BotDelay => (
            "bots think",
            format!("{} ms", settings.bot_delay),
            "Wait before each action, at new tables.",
        ),
    }
}

impl Screen for SettingsScreen {
    fn name(&self) -> String {
        "settings".to_owned()
    }

    fn draw(&mut self, context: &Context, canvas: &mut Canvas<'_>, area: Rect) {
        let theme = canvas.theme();
        let page = column(area, 86);
        let mut at = Rect { y: page.y + 1, ..page };
        at = canvas.section(at, "Settings");
        for (number, item) in ITEMS.into_iter().enumerate() {
            let (name, value, _) = told(&context.settings, item);
            let target = Target::Row(number);
            if item == Item::Name {
                let area = Rect { height: 1, ..at };
                let mark = canvas.target(area, target);
                let rest = label(canvas, area, name, mark.focused);
                if mark.focused {
                    self.name.draw(canvas, rest);
                } else {
                    canvas.put(rest, Line::styled(self.name.text(), theme.accent()));
                }
            } else {
                setting(canvas, at, target, name, &value);
            }
            at.y += 1;
        }
        let meaning = self.focus.map_or("", |item| told(&context.settings, item).2);
        let file = "These settings and your keys are in settings.toml in the data directory. For example, up = [\"w\"] in its \
                    section [keys] makes w move up. fairdeal reports mistakes in the file when it starts.";
        let width = usize::from(page.width).saturating_sub(4);
        let lines = wrapped(meaning, width, 0).into_iter().chain([String::new()]);
        let lines = lines.chain(wrapped(file, width, 0));
        let below = Rect {
            y: at.y + 1,
            height: 8,
            ..page
        };
        canvas.rows(below, lines.map(|row| Line::styled(format!("   {row}"), theme.faint())));
    }

    fn choose(&mut self, context: &Context, target: Target, requests: &mut Requests) {
        if let Target::Row(number) = target
            && let Some(item) = ITEMS.get(number)
        {
            self.change(context, *item, 1, requests);
        }
    }

    fn intent(&mut self, context: &Context, intent: Intent, requests: &mut Requests) {
        match (intent, self.focus) {
            (Intent::Left, Some(item)) => self.change(context, item, -1, requests),
            (Intent::Right, Some(item)) => self.change(context, item, 1, requests),
            (Intent::Quit, _) => self.back(context, requests),
            _ => {}
        }
    }

    /// Left and right change the focused setting.
    fn steers(&self, intent: Intent) -> bool {
        matches!(intent, Intent::Left | Intent::Right)
    }

    fn field(&mut self) -> Option<&mut Field> {
        (self.focus == Some(Item::Name)).then_some(&mut self.name)
    }

    fn submit(&mut self, context: &Context, requests: &mut Requests) {
        self.keep_name(context, requests);
        requests.push(Request::Focus(Target::Row(1)));
    }

    fn back(&mut self, context: &Context, requests: &mut Requests) {
        self.keep_name(context, requests);
        requests.push(Request::Leave);
    }

    fn focused(&mut self, target: Option<Target>) {
        self.focus = match target {
            Some(Target::Row(number)) => ITEMS.get(number).copied(),
            _ => None,
        };
    }

    fn first_focus(&self, _layer: &fairdeal_ui::canvas::Layer) -> Option<Target> {
        Some(Target::Row(1))
    }
}
