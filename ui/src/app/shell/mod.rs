//! The shell: the stack of screens and what they share. No I/O.
//!
//! The top row shows the trail of screens. One overlay at a time covers a screen: the help, a question, or the palette,
//! which finds every command by name. Toasts at the edge report events.

mod inputs;
mod windows;

use std::time::Duration;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Margin, Rect};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

pub use self::windows::{LEAST, window};
use self::windows::{draw_help, draw_palette, draw_question, draw_window_keys, too_small};
use crate::app::event::{Input, UiEvent};
use crate::app::screen::{
    Chrome, Context, Corner, Cx, Effect, FocusPolicy, Handled, Question, Request, Screen, ScreenInput, Tone,
};
use crate::canvas::{Canvas, Layer, Marks, Target, wrapped};
use crate::field::Field;
use crate::keys::{Intent, Keymap};
use fairdeal_session::events::Command;

/// How long a toast stays.
const TOAST: Duration = Duration::from_secs(6);
/// How long a warning stays.
const WARNING: Duration = Duration::from_secs(15);
/// The most toasts at once.
const TOASTS: usize = 3;
/// The longest search text.
const MAX_SEARCH: usize = 60;

#[derive(Debug)]
struct StackedScreen {
    screen: Box<dyn Screen>,
    focus: Option<Target>,
}

/// An overlay on a screen.
#[derive(Debug)]
enum Overlay {
    Help {
        back: usize,
    },
    Palette {
        field: Field,
        chosen: usize,
    },
    /// The question, and the index on the stack of the screen that asks.
    Question(Question, usize),
}

#[derive(Debug)]
struct Toast {
    tone: Tone,
    text: String,
    left: Duration,
}

/// The stack of screens, and what lies over all of them.
#[derive(Debug)]
pub struct Shell {
    context: Context,
    stack: Vec<StackedScreen>,
    overlay: Option<Overlay>,
    toasts: Vec<Toast>,
    layer: Layer,
    is_small: bool,
    /// Requests to the program around the interface, until the end of an update.
    effects: Vec<Effect>,
}

impl Shell {
    /// An interface that begins with `screen`.
    pub fn new(context: Context, screen: Box<dyn Screen>) -> Self {
        Self {
            context,
            stack: vec![StackedScreen { screen, focus: None }],
            overlay: None,
            toasts: Vec::new(),
            layer: Layer::default(),
            is_small: false,
            effects: Vec::new(),
        }
    }

    /// State that all screens share.
    pub fn context(&self) -> &Context {
        &self.context
    }

    #[cfg(any(test, feature = "testing"))]
    pub fn context_mut(&mut self) -> &mut Context {
        &mut self.context
    }

    /// The names of the screens on the stack, bottom first.
    pub fn trail(&self) -> Vec<String> {
        self.stack.iter().map(|place| place.screen.name()).collect()
    }

    /// The drawn targets and their areas.
    pub fn layer(&self) -> &Layer {
        &self.layer
    }

    /// The focused target.
    pub fn focus(&self) -> Option<Target> {
        self.stack.last().and_then(|place| place.focus)
    }

    /// When the next frame is due if no input arrives.
    pub fn pace(&self) -> Option<Duration> {
        let toast = self.toasts.iter().map(|toast| toast.left).min();
        // A table goes on under the rulebook.
        let screens = self.stack.iter().filter_map(|place| place.screen.pace());
        toast.into_iter().chain(screens).min()
    }

    // Drawing.

    /// Draws everything and records where each target is.
    pub fn draw(&mut self, frame: &mut Frame<'_>) {
        let area = frame.area();
        let buffer = frame.buffer_mut();
        let theme = self.context.theme;
        buffer.set_style(area, theme.text());
        self.layer = Layer::default();
        self.is_small = area.width < LEAST.0 || area.height < LEAST.1;
        if self.is_small {
            return too_small(buffer, area, &theme);
        }
        // A second pass is needed if the focused target is gone.
        for _ in 0..2 {
            let Some(place) = self.stack.last_mut() else {
                return;
            };
            buffer.reset();
            buffer.set_style(area, theme.text());
            self.layer = Layer::default();
            let chrome = place.screen.chrome(&self.context);
            let focus = place.focus.filter(|_| self.overlay.is_none());
            let mut canvas = Canvas::new(buffer, &theme, &chrome.marks, focus, &mut self.layer);
            let body = Rect { y: 1, height: area.height - 1, ..area };
            place.screen.draw(&self.context, &mut canvas, body);
            draw_title(place.screen.name(), &chrome, &self.context, &mut canvas);
            if chrome.rulebook.is_some() {
                canvas.offer("rules", Target::Key(Intent::Rules));
            }
            let is_there = |target: &Target| self.layer.area(*target).is_some();
            if place.focus.as_ref().is_some_and(is_there) || self.layer.targets.is_empty() {
                break;
            }
            let first = place.screen.focus(&self.layer).first;
            if first == place.focus {
                break;
            }
            place.focus = first;
            self.on_top(ScreenInput::Focused(first));
        }
        let mut layer = std::mem::take(&mut self.layer);
        self.on_top(ScreenInput::Drawn(&layer));
        let marks = Marks::default();
        if self.overlay.is_some() {
            // The screen below an overlay cannot be clicked.
            layer.targets.clear();
            layer.buttons.clear();
        }
        let mut canvas = Canvas::new(buffer, &theme, &marks, None, &mut layer);
        self.draw_toasts(&mut canvas);
        self.draw_overlay(&mut canvas);
        self.layer = layer;
    }

    fn draw_toasts(&self, canvas: &mut Canvas<'_>) {
        let theme = canvas.theme();
        let screen = canvas.area();
        let width = 56.min(screen.width);
        let mut y = screen.y + 1;
        for toast in &self.toasts {
            let (style, sign) = match toast.tone {
                Tone::Plain => (theme.title(), theme.glyph("•", "*")),
                Tone::Good => (theme.good(), theme.glyph("✓", "+")),
                Tone::Bad => (theme.bad(), theme.glyph("✗", "!")),
            };
            let rows = wrapped(&toast.text, usize::from(width).saturating_sub(6), 0);
            let height = u16::try_from(rows.len().min(8)).unwrap_or(8) + 2;
            // The last columns are the margin of the page below.
            let right = screen.right().saturating_sub(2.min(screen.width - width));
            let area = Rect::new(right.saturating_sub(width), y, width, height);
            canvas.clear(area);
            let inner = canvas.frame(area, "");
            let lines = rows.iter().enumerate().map(|(number, row)| {
                let sign = if number == 0 { sign } else { " " };
                Line::styled(format!(" {sign} {row}"), style)
            });
            canvas.rows(inner, lines);
            y = y.saturating_add(height);
        }
    }

    fn draw_overlay(&mut self, canvas: &mut Canvas<'_>) {
        if self.overlay.is_none() {
            return;
        }
        let found = self.found();
        let helps = self.helps();
        let keys = &self.context.keymap;
        if !matches!(self.overlay, Some(Overlay::Question(..))) {
            canvas.offer("close", Target::Key(Intent::Back));
        }
        match &mut self.overlay {
            None => {}
            Some(Overlay::Help { back }) => {
                let has_more = draw_help(canvas, &helps, back);
                let down = has_more.then(|| ("Down".to_owned(), "read on".to_owned()));
                let words = if has_more { "any other key" } else { "any key" };
                let any = (words.to_owned(), "close".to_owned());
                draw_window_keys(canvas, &down.into_iter().chain([any]).collect::<Vec<_>>());
            }
            Some(Overlay::Palette { field, chosen }) => {
                *chosen = (*chosen).min(found.len().saturating_sub(1));
                draw_palette(canvas, field, &found, *chosen);
                let arrows = self.context.theme.glyph("↑↓", "Up Down").to_owned();
                let keys = [(arrows, "choose"), ("Enter".to_owned(), "go"), (keys.key(Intent::Back), "close")];
                draw_window_keys(canvas, &keys.map(|(key, words)| (key, words.to_owned())));
            }
            Some(Overlay::Question(question, _)) => {
                draw_question(canvas, question);
                let answers = question.answers.iter().map(|(key, word, _)| (key.to_string(), word.clone()));
                let no = ("n".to_owned(), "no".to_owned());
                draw_window_keys(canvas, &answers.chain([no]).collect::<Vec<_>>());
            }
        }
    }

    /// The keys that work here, the screen's own first.
    fn helps(&self) -> Vec<(String, String)> {
        let Some(place) = self.stack.last() else {
            return Vec::new();
        };
        let mut helps = place.screen.keys(&self.context);
        let keys = &self.context.keymap;
        let arrows: Vec<String> =
            [Intent::Up, Intent::Down, Intent::Left, Intent::Right].iter().map(|intent| keys.keys(*intent)).collect();
        // A key means one thing: the screen's own meaning counts.
        let own: Vec<String> = helps.iter().flat_map(|(keys, _)| keys.split(' ')).map(str::to_owned).collect();
        let mut shared = |keys: String, words: &str| {
            let free: Vec<&str> = keys.split(' ').filter(|key| !own.iter().any(|own| own == key)).collect();
            if !free.is_empty() {
                helps.push((free.join(" "), words.to_owned()));
            }
        };
        shared(arrows.join(" "), "move the focus");
        let all = [
            Intent::Choose,
            Intent::Next,
            Intent::Previous,
            Intent::Back,
            Intent::Palette,
            Intent::PageUp,
            Intent::PageDown,
            Intent::Help,
        ];
        for intent in all {
            shared(keys.keys(intent), intent.words());
        }
        if place.screen.chrome(&self.context).rulebook.is_some() {
            shared(keys.keys(Intent::Rules), Intent::Rules.words());
        }
        helps.push(("mouse".to_owned(), "click to choose; the wheel scrolls".to_owned()));
        if self.context.is_page {
            for (keys, _) in &mut helps {
                // A browser keeps these for itself.
                let own = keys.split(' ').filter(|key| !key.starts_with("Ctrl-"));
                *keys = own.collect::<Vec<_>>().join(" ");
            }
            helps.push(("F6".to_owned(), "to the button above and back".to_owned()));
        } else {
            helps.push(("Ctrl-c".to_owned(), "quit fairdeal".to_owned()));
            if self.context.stops {
                helps.push(("Ctrl-z".to_owned(), "to the shell, until fg there".to_owned()));
            }
        }
        helps
    }

    /// Entries of the palette that match its text.
    fn found(&self) -> Vec<(String, Target)> {
        let (Some(Overlay::Palette { field, .. }), Some(place)) = (&self.overlay, self.stack.last()) else {
            return Vec::new();
        };
        let mut all = place.screen.commands(&self.context);
        if place.screen.chrome(&self.context).rulebook.is_some() {
            all.push(("read the rulebook".to_owned(), Target::Key(Intent::Rules)));
        }
        all.push(("help: the keys of this screen".to_owned(), Target::Key(Intent::Help)));
        all.push(("back".to_owned(), Target::Key(Intent::Back)));
        let wanted = field.text().to_lowercase();
        let fits = |text: &str| {
            let text = text.to_lowercase();
            wanted.split_whitespace().all(|word| text.contains(word))
        };
        all.retain(|(text, _)| fits(text));
        // Moves are many, and have their own places on the board.
        all.sort_by_key(|(_, target)| matches!(target, Target::Spot(_)));
        all
    }

    // Input.

    /// The terminal is slow to accept frames.
    pub fn set_slow(&mut self) {
        self.context.is_slow = true;
    }

    /// Sets the day in UTC, as `2026-01-31`.
    pub fn set_day(&mut self, today: String) {
        self.context.today = today;
    }

    /// Handles an input and returns its effects.
    pub fn update(&mut self, input: Input) -> Vec<Effect> {
        match input {
            Input::UiEvent(news) => {
                if let UiEvent::Failed(why) = &news {
                    self.toast(Tone::Bad, why.clone());
                }
                if let UiEvent::SavedLetter(reader, path) = &news {
                    self.toast(Tone::Good, format!("A letter for {reader}: {}", path.display()));
                }
                if let UiEvent::SavedPage(path) = &news {
                    let words = "This page checks and replays the game, without fairdeal and without a network:";
                    self.toast(Tone::Good, format!("{words} {}", path.display()));
                }
                for place in 0..self.stack.len() {
                    self.on(place, ScreenInput::Event(&news));
                }
            }
            Input::Lan(view) => self.relist(|context| context.lan = view),
            Input::Background(is_light) => {
                self.context.themes.is_light = is_light;
                self.context.dress();
            }
            Input::Library(library) => self.relist(|context| context.library = library),
            Input::People(people) => self.context.people = people,
            Input::Tick(passed) => {
                for toast in &mut self.toasts {
                    toast.left = toast.left.saturating_sub(passed);
                }
                self.toasts.retain(|toast| !toast.left.is_zero());
                for place in 0..self.stack.len() {
                    self.on(place, ScreenInput::Tick(passed));
                }
            }
            Input::User(input) => self.user_input(input),
        }
        std::mem::take(&mut self.effects)
    }

    /// Replaces a list. The focus and the chosen row of the palette stay with what they were on.
    fn relist(&mut self, replace: impl FnOnce(&mut Context)) {
        let chosen = match &self.overlay {
            Some(Overlay::Palette { chosen, .. }) => self.found().into_iter().nth(*chosen),
            _ => None,
        };
        replace(&mut self.context);
        for place in 0..self.stack.len() {
            self.on(place, ScreenInput::Relisted);
        }
        let now = chosen.and_then(|(words, _)| self.found().iter().position(|(other, _)| *other == words));
        if let Some(Overlay::Palette { chosen, .. }) = &mut self.overlay {
            *chosen = now.unwrap_or(0);
        }
    }

    /// Whether the player is typing into a field: a phone shows its keyboard then.
    pub fn takes_text(&self) -> bool {
        matches!(self.overlay, Some(Overlay::Palette { .. })) || (self.overlay.is_none() && self.policy().writes)
    }

    /// The text of the newest toast.
    pub fn newest_toast(&self) -> Option<&str> {
        self.toasts.last().map(|toast| toast.text.as_str())
    }

    /// Words for a screen reader, besides the focus: those of the open question, or else of the top screen.
    pub fn spoken(&self) -> String {
        if let Some(Overlay::Question(question, _)) = &self.overlay {
            return question.spoken();
        }
        let top = self.stack.last();
        top.map_or_else(String::new, |place| place.screen.spoken(&self.context))
    }

    /// Opens a screen over the others.
    pub fn push(&mut self, screen: Box<dyn Screen>) {
        self.overlay = None;
        self.stack.push(StackedScreen { screen, focus: None });
    }

    /// Closes all screens but the first.
    pub fn to_first(&mut self) {
        self.overlay = None;
        self.stack.truncate(1);
    }

    /// Shows a toast.
    pub fn toast(&mut self, tone: Tone, text: String) {
        // One remark at a time; warnings stay beside it.
        self.toasts.retain(|toast| toast.text != text && (tone == Tone::Bad || toast.tone == Tone::Bad));
        self.toasts.push(Toast { tone, text, left: if tone == Tone::Bad { WARNING } else { TOAST } });
        if self.toasts.len() > TOASTS {
            self.toasts.remove(0);
        }
    }

    /// Passes an input to a screen of the stack and carries out its requests.
    fn on(&mut self, place: usize, input: ScreenInput<'_>) {
        let Some(stacked) = self.stack.get_mut(place) else {
            return;
        };
        let mut cx = Cx::new(&self.context);
        let handled = stacked.screen.input(&mut cx, input);
        if handled == Handled::No && matches!(input, ScreenInput::Back | ScreenInput::Intent(Intent::Quit)) {
            cx.leave();
        }
        for request in cx.into_requests() {
            self.grant(place, request);
        }
    }

    fn on_top(&mut self, input: ScreenInput<'_>) {
        self.on(self.stack.len().saturating_sub(1), input);
    }

    /// How the focus moves on the top screen.
    fn policy(&self) -> FocusPolicy {
        self.stack.last().map_or_else(FocusPolicy::default, |place| place.screen.focus(&self.layer))
    }

    fn grant(&mut self, place: usize, request: Request) {
        match request {
            Request::Push(screen) => {
                self.overlay = None;
                self.toasts.retain(|toast| toast.tone == Tone::Bad);
                self.stack.push(StackedScreen { screen, focus: None });
            }
            Request::Replace(screen) => {
                if let Some(place) = self.stack.get_mut(place) {
                    *place = StackedScreen { screen, focus: None };
                }
            }
            Request::Leave => {
                // Screens opened from this one close with it.
                self.stack.truncate(place);
                self.overlay = None;
                if self.stack.is_empty() {
                    self.effects.push(Effect::Quit);
                }
            }
            Request::Toast(tone, text) => self.toast(tone, text),
            Request::Ask(question) => self.overlay = Some(Overlay::Question(question, place)),
            Request::Withdraw => {
                let asked = |overlay: &Overlay| matches!(overlay, Overlay::Question(_, by) if *by == place);
                self.overlay = self.overlay.take().filter(|overlay| !asked(overlay));
            }
            Request::Focus(target) => self.set_focus(place, target),
            Request::Unfocus => {
                if let Some(place) = self.stack.get_mut(place) {
                    place.focus = None;
                }
            }
            Request::Settings(settings) => {
                match Keymap::new(&settings.keys) {
                    Ok(keymap) => self.context.keymap = keymap,
                    Err(why) => self.toast(Tone::Bad, why.to_string()),
                }
                if settings.name != self.context.settings.name {
                    // A name changed in the settings overrides the one from the command line.
                    self.context.given = None;
                }
                self.context.settings = (*settings).clone();
                self.context.dress();
                self.effects.push(Effect::Save(*settings));
            }
            Request::Effect(effect) => {
                // A hint or a reminder is spent when the player acts.
                if matches!(effect, Effect::Session(Command::Act(_))) {
                    self.toasts.retain(|toast| toast.tone == Tone::Bad);
                }
                self.effects.push(effect);
            }
        }
    }

    fn focus_on_top(&mut self, target: Target) {
        self.set_focus(self.stack.len().saturating_sub(1), target);
    }

    /// The keys that act on what is in focus never take it themselves: Enter would choose itself, for ever.
    fn set_focus(&mut self, place: usize, target: Target) {
        if matches!(target, Target::Key(Intent::Choose | Intent::Uses)) {
            return;
        }
        if let Some(stacked) = self.stack.get_mut(place)
            && stacked.focus != Some(target)
        {
            stacked.focus = Some(target);
            self.on(place, ScreenInput::Focused(Some(target)));
        }
    }
}

/// The header: the screen's name and heading, and at the right its own text or the keys for help and the way out.
fn draw_title(name: String, chrome: &Chrome, context: &Context, canvas: &mut Canvas<'_>) {
    let theme = canvas.theme();
    let row = Rect { height: 1, ..canvas.area() };
    let area = row.inner(Margin::new(2, 0));
    let spans = vec![
        Span::styled(format!("fairdeal {} ", theme.glyph("▌", ">")), theme.accent()),
        Span::styled(name, theme.title()),
    ];
    let divided = |width: usize| {
        let width = u16::try_from(width).unwrap_or(u16::MAX).min(area.width);
        Layout::horizontal([Constraint::Min(0), Constraint::Length(width)]).areas(area)
    };
    match &chrome.corner {
        Corner::Text(corner, target) => {
            let [text, corner_area] = divided(corner.width());
            canvas.put(text, headed(spans, &chrome.heading, text.width));
            let mark = target.map(|target| canvas.target(corner_area, target)).unwrap_or_default();
            canvas.put(corner_area, corner.clone());
            if mark.focused {
                canvas.tint(corner_area, theme.focused());
            }
        }
        Corner::Ways { out } => {
            let keys = &context.keymap;
            let (help, key) = (keys.key(Intent::Help), keys.key(*out));
            let label = if *out == Intent::Quit { "leave" } else { "back" };
            let [text, buttons] = divided(help.width() + key.width() + label.len() + "[ help] [ ]".len());
            canvas.put(text, headed(spans, &chrome.heading, text.width));
            let x = canvas.button((buttons.x, area.y), &help, "help", Target::Key(Intent::Help));
            canvas.button((x, area.y), &key, label, Target::Key(*out));
        }
    }
}

/// The header's text with as many parts of the heading as fit.
fn headed(mut spans: Vec<Span<'static>>, heading: &str, width: u16) -> Line<'static> {
    let used: usize = spans.iter().map(Span::width).sum();
    let mut room = usize::from(width).saturating_sub(used + 3);
    let mut gap = "  ";
    for part in heading.split(", ").filter(|part| !part.is_empty()) {
        let text = format!("{gap}{part}");
        if text.width() > room {
            break;
        }
        room -= text.width();
        spans.push(Span::raw(text));
        gap = ", ";
    }
    Line::from(spans)
}
