//! The settings.

use fairdeal_games::bots::Level;
use fairdeal_peers::address::MAX_ADDRESS_TEXT;
use fairdeal_peers::listing::MAX_POINTS;
use ratatui::layout::{Constraint, Layout, Margin, Rect};
use ratatui::text::Line;

use super::preview::preview;
use super::{arrows, column, keys_below, label, setting};
use crate::app::screen::{Context, Cx, FocusPolicy, Handled, Screen, ScreenInput};
use crate::appearance::{Letters, Pyramids, ThemeChoice};
use crate::canvas::{Canvas, Layer, Target, cut, wrapped};
use crate::field::Field;
use crate::keys::Intent;
use crate::settings::{Settings, points};

/// The longest name.
pub(super) const MAX_NAME: usize = 32;
/// The longest line of meeting points.
const MAX_MEET: usize = MAX_POINTS * (MAX_ADDRESS_TEXT + 1);
/// The choices of bot delay, in milliseconds.
const BOT_DELAYS: [u64; 6] = [0, 200, 400, 700, 1200, 2000];

/// The widest page.
const WIDTH: u16 = 112;
/// The least width of a page with the preview beside the settings.
const WIDE: u16 = 90;
/// The least height with an empty row at the end.
const SHORT: u16 = 22;
/// Rows of the preview below the settings and beside them.
const SAMPLE: (u16, u16) = (7, 15);
/// The note on the files of the settings.
const FILE: &str = "settings.toml in the data directory holds these settings and your keys. themes/NAME.toml beside it is \
                    a theme of your own.";

/// The same on a page.
const KEPT: &str = "This browser keeps these settings, if it keeps anything for this page.";

/// One setting, in one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Item {
    Name,
    Meet,
    Theme,
    Pyramids,
    Letters,
    Ascii,
    Motion,
    Bell,
    Level,
    BotDelay,
}

const ITEMS: [Item; 10] = [
    Item::Name,
    Item::Theme,
    Item::Pyramids,
    Item::Letters,
    Item::Ascii,
    Item::Motion,
    Item::Bell,
    Item::Level,
    Item::BotDelay,
    Item::Meet,
];

/// The row of the meeting points.
const MEET: Target = Target::Row(ITEMS.len() - 1);

/// The settings that have an effect: a page opens no tables for others, and has a button of its own for its signs.
fn items(context: &Context) -> impl Iterator<Item = (usize, Item)> {
    let is_page = context.is_page;
    ITEMS.into_iter().enumerate().filter(move |(_, item)| !(is_page && matches!(item, Item::Meet | Item::Bell)))
}

/// The settings, with a sample of what they change.
#[derive(Debug)]
pub struct SettingsScreen {
    name: Field,
    /// Addresses of meeting points, with blanks between them.
    meet: Field,
    /// The fault of them, in words.
    wrong: Option<String>,
    focus: Option<Item>,
}

impl SettingsScreen {
    /// With the settings as they are.
    pub fn new(context: &Context) -> Self {
        Self {
            name: Field::new(MAX_NAME).with(context.name()),
            meet: Field::new(MAX_MEET).with(&context.settings.meet.join(" ")),
            wrong: None,
            focus: None,
        }
    }

    fn change(&self, cx: &mut Cx<'_>, item: Item, by: i32) {
        let mut settings = cx.context.settings.clone();
        match item {
            Item::Name | Item::Meet => return,
            Item::Theme => settings.theme = turned(&cx.context.themes.choices(), &settings.theme, by),
            Item::Pyramids => {
                settings.pyramids = turned(&[Pyramids::Rainbow, Pyramids::Xeno], &settings.pyramids, by);
            }
            Item::Letters => settings.letters = turned(&[Letters::Auto, Letters::Always], &settings.letters, by),
            Item::Ascii => settings.ascii = turned(&[None, Some(true), Some(false)], &settings.ascii, by),
            Item::Motion => settings.motion = !settings.motion,
            Item::Bell => settings.bell = !settings.bell,
            Item::Level => {
                settings.bot_level = turned(&Level::ALL.map(|(level, _)| level), &settings.bot_level, by);
            }
            Item::BotDelay => settings.bot_delay = turned(&BOT_DELAYS, &settings.bot_delay, by),
        }
        cx.save(settings);
    }

    fn draw_item(&self, context: &Context, canvas: &mut Canvas<'_>, area: Rect, (number, item): (usize, Item)) {
        let (name, value, _) = told(&context.settings, item);
        let target = Target::Row(number);
        let field = match item {
            Item::Name => &self.name,
            Item::Meet => &self.meet,
            _ => return setting(canvas, area, target, name, &value),
        };
        let mark = canvas.target(area, target);
        let rest = label(canvas, area, name, mark.focused);
        let theme = canvas.theme();
        if mark.focused {
            field.draw(canvas, rest);
        } else if item == Item::Meet && field.text().trim().is_empty() {
            canvas.put(rest, Line::styled("none", theme.ink()));
        } else {
            canvas.put(rest, Line::styled(cut(&field.text(), usize::from(rest.width), theme), theme.accent()));
        }
    }

    /// Saves what was typed, if it has changed: a name once given is never empty. Returns whether nothing is wrong with it.
    fn keep(&mut self, cx: &mut Cx<'_>) -> bool {
        let mut settings = cx.context.settings.clone();
        let name = self.name.text().trim().to_owned();
        if !name.is_empty() && name != cx.context.name() {
            settings.name = Some(name);
        }
        let text = self.meet.text();
        // Chats put commas between them.
        let texts = || text.split(|c: char| c.is_whitespace() || c == ',').filter(|text| !text.is_empty());
        self.wrong = None;
        if !texts().eq(settings.meet.iter()) {
            let (points, wrong) = points(texts());
            self.wrong = wrong.first().map(ToString::to_string);
            if wrong.is_empty() {
                settings.meet = points.iter().map(ToString::to_string).collect();
            }
        }
        if settings != cx.context.settings {
            cx.save(settings);
        }
        self.wrong.is_none()
    }
}

/// The value `by` steps after `now`, wrapping at the ends.
pub(super) fn turned<T: Clone + PartialEq>(all: &[T], now: &T, by: i32) -> T {
    let at = all.iter().position(|one| one == now).unwrap_or(0);
    let count = all.len().max(1);
    let next = if by > 0 { at + 1 } else { at + count - 1 } % count;
    all.get(next).unwrap_or(now).clone()
}

fn told(settings: &Settings, item: Item) -> (&'static str, String, &'static str) {
    let yes = |on: bool| if on { "yes" } else { "no" }.to_owned();
    match item {
        Item::Name => ("name", String::new(), "Your name at tables."),
        Item::Meet => (
            "meeting points",
            String::new(),
            "Friends elsewhere reach your tables through them. Addresses that fairdeal relay prints, at most four.",
        ),
        Item::Theme => (
            "theme",
            settings.theme.name().to_owned(),
            match settings.theme {
                ThemeChoice::Auto => "Light where your terminal or browser is light, otherwise dark.",
                ThemeChoice::Own(_) => "Your own, from the folder themes of the data directory.",
                ThemeChoice::BuiltIn(_) => "No theme relies on colour alone.",
            },
        ),
        Item::Pyramids => {
            let (name, meaning) = match settings.pyramids {
                Pyramids::Rainbow => ("Rainbow", "Black, red, blue, yellow and green."),
                Pyramids::Xeno => ("Xeno", "White, orange, cyan, clear and purple."),
            };
            ("pyramids", name.to_owned(), meaning)
        }
        Item::Letters => {
            let (name, meaning) = match settings.letters {
                Letters::Auto => {
                    ("without colours", "Pyramids show letters, and suits plain signs, in the theme mono.")
                }
                Letters::Always => (
                    "always",
                    "Pyramids show letters, and suits plain signs: for players who confuse some colours, or fonts without \
                     suits.",
                ),
            };
            ("letters", name.to_owned(), meaning)
        }
        Item::Ascii => (
            "ASCII only",
            settings.ascii.map_or_else(|| "where needed".to_owned(), yes),
            match settings.ascii {
                None => "On the Linux console, whose fonts lack most other characters.",
                Some(_) => "For terminals or fonts without half blocks, suits and check marks.",
            },
        ),
        Item::Motion => ("motion", yes(settings.motion), "Cards move, and scores appear step by step."),
        Item::Bell => (
            "bell",
            yes(settings.bell),
            "The terminal rings, and notifies you if it can, when a table waits and you look elsewhere.",
        ),
        Item::Level => ("bots play", settings.bot_level.name().to_owned(), "For new tables."),
        Item::BotDelay => {
            ("bots think", format!("{} ms", settings.bot_delay), "Wait before each action, at new tables.")
        }
    }
}

impl Screen for SettingsScreen {
    fn name(&self) -> String {
        "settings".to_owned()
    }

    fn draw(&mut self, context: &Context, canvas: &mut Canvas<'_>, area: Rect) {
        let mut page = column(area, WIDTH).inner(Margin::new(2, 1));
        if area.height < SHORT {
            // The row below is needed for the meaning of the setting.
            page.height = page.height.saturating_add(1);
        }
        let is_wide = page.width >= WIDE;
        let settings = u16::try_from(items(context).count()).unwrap_or(u16::MAX);
        let [list, sample, notes] = if is_wide {
            // A quarter of the free rows is above.
            let parts = [Constraint::Fill(1), Constraint::Length(SAMPLE.1), Constraint::Fill(3)];
            let [_, page, _] = Layout::vertical(parts).areas(page);
            let halves = Layout::horizontal([Constraint::Fill(1); 2]).spacing(2);
            let [left, sample] = halves.areas(page);
            let parts = [Constraint::Length(settings), Constraint::Fill(1)];
            let [list, notes] = Layout::vertical(parts).spacing(1).areas(left);
            [list, sample, notes]
        } else {
            let parts = [Constraint::Length(settings), Constraint::Fill(1), Constraint::Length(SAMPLE.0)];
            let [list, notes, sample] = Layout::vertical(parts).spacing(1).areas(page);
            [list, sample, notes]
        };
        for ((number, item), y) in items(context).zip(list.y..list.bottom()) {
            self.draw_item(context, canvas, Rect { y, height: 1, ..list }, (number, item));
        }
        let wrong = self.wrong.as_deref().filter(|_| self.focus == Some(Item::Meet));
        let meaning = wrong.unwrap_or_else(|| self.focus.map_or("", |item| told(&context.settings, item).2));
        let width = usize::from(notes.width).saturating_sub(3);
        let mut lines = wrapped(meaning, width, 0);
        let file = wrapped(if context.is_page { KEPT } else { FILE }, width, 0);
        // At the smallest size there is no room for it.
        if lines.len() + file.len() < usize::from(notes.height) {
            lines.push(String::new());
            lines.extend(file);
        }
        canvas.rows(notes, lines.into_iter().map(|row| Line::raw(format!("   {row}"))));
        preview(canvas, sample, context.settings.pyramids);
        if area.height >= SHORT {
            let turn = (canvas.theme().glyph("←→", "Left Right").to_owned(), "change", None);
            keys_below(canvas, area, context, vec![arrows(canvas.theme(), "choose"), turn]);
        }
    }

    fn focus(&self, layer: &Layer) -> FocusPolicy {
        FocusPolicy {
            first: Some(Target::Row(1)),
            steers: &[Intent::Left, Intent::Right],
            writes: matches!(self.focus, Some(Item::Name | Item::Meet)),
            ..FocusPolicy::of(layer)
        }
    }

    fn input(&mut self, cx: &mut Cx<'_>, input: ScreenInput<'_>) -> Handled {
        match (input, self.focus) {
            (ScreenInput::Choose(Target::Row(number)), _) => {
                if let Some(item) = ITEMS.get(number) {
                    self.change(cx, *item, 1);
                }
            }
            (ScreenInput::Intent(Intent::Left), Some(item)) => self.change(cx, item, -1),
            (ScreenInput::Intent(Intent::Right), Some(item)) => self.change(cx, item, 1),
            (ScreenInput::Typed(typed), Some(Item::Meet)) => {
                self.meet.typed(typed);
                self.wrong = None;
            }
            (ScreenInput::Typed(typed), _) => {
                self.name.typed(typed);
            }
            (ScreenInput::Submit, _) => {
                let next = if self.keep(cx) { Target::Row(1) } else { MEET };
                cx.focus(next);
            }
            (ScreenInput::Focused(target), _) => {
                self.focus = match target {
                    Some(Target::Row(number)) => ITEMS.get(number).copied(),
                    _ => None,
                };
            }
            (ScreenInput::Back | ScreenInput::Intent(Intent::Quit), _) => {
                // Whoever has read what is wrong leaves without it.
                if self.wrong.is_some() || self.keep(cx) {
                    cx.leave();
                } else {
                    cx.focus(MEET);
                }
            }
            _ => return Handled::No,
        }
        Handled::Yes
    }
}
