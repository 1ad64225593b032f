//! The shell: screens on a stack, and what all of them have in common. No I/O.
//!
//! At the top is the trail of screens. Over a screen lie, one at a time, the help, the palette (everything that can
//! be done here, found by its name) and questions; toasts tell news at the edge.

use std::time::Duration;

use fairdeal_ui::canvas::{Canvas, Layer, Marks, Target, wrapped};
use fairdeal_ui::field::Field;
use fairdeal_ui::focus;
use fairdeal_ui::input::{Key, KeyCode, UserInput};
use fairdeal_ui::keys::{Intent, Keymap};
use fairdeal_ui::theme::Theme;
use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use super::event::{Input, UiEvent};
use super::screen::{Context, Effect, Question, Request, Requests, Screen, Tone};
use super::screens::rules::Rules;

/// The smallest screen that everything has room on.
pub(super) const LEAST: (u16, u16) = (80, 24);
/// How long a toast stays.
const TOAST: Duration = Duration::from_secs(6);
/// How long a warning stays.
const WARNING: Duration = Duration::from_secs(15);
/// How many there are at once.
const TOASTS: usize = 3;
/// The longest text that can be searched for.
const MAX_SEARCH: usize = 60;

/// A screen on the stack.
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
    /// With the place of the screen that asks.
    Question(Question, usize),
}

#[derive(Debug)]
struct Toast {
    tone: Tone,
    text: String,
    left: Duration,
}

/// See the module's head.
#[derive(Debug)]
pub(super) struct Shell {
    context: Context,
    stack: Vec<StackedScreen>,
    overlay: Option<Overlay>,
    toasts: Vec<Toast>,
    layer: Layer,
    is_small: bool,
}

impl Shell {
    /// An interface that begins with that screen.
    pub(super) fn new(context: Context, screen: Box<dyn Screen>) -> Self {
        Self {
            context,
            stack: vec![StackedScreen {
                screen,
                focus: None,
            }],
            overlay: None,
            toasts: Vec::new(),
            layer: Layer::default(),
            is_small: false,
        }
    }

    /// State that all screens share.
    pub(super) fn context(&self) -> &Context {
        &self.context
    }

    /// The names of the screens, from the first to the one that is shown.
    #[cfg(test)]
    pub(super) fn trail(&self) -> Vec<String> {
        self.stack.iter().map(|place| place.screen.name()).collect()
    }

    /// The drawn targets and their areas.
    #[cfg(test)]
    pub(super) fn layer(&self) -> &Layer {
        &self.layer
    }

    /// The focused target.
    #[cfg(test)]
    pub(super) fn focus(&self) -> Option<Target> {
        self.stack.last().and_then(|place| place.focus)
    }

    /// How soon it wants to be drawn again without anything coming in.
    pub(super) fn pace(&self) -> Option<Duration> {
        let toast = self.toasts.iter().map(|toast| toast.left).min();
        let screen = self.stack.last().and_then(|place| place.screen.pace());
        toast.into_iter().chain(screen).min()
    }

    // Drawing.

    /// Draws everything, and remembers what is where.
    pub(super) fn draw(&mut self, frame: &mut Frame<'_>) {
        let area = frame.area();
        let buffer = frame.buffer_mut();
        let theme = self.context.theme;
        buffer.set_style(area, theme.text());
        self.layer = Layer::default();
        self.is_small = area.width < LEAST.0 || area.height < LEAST.1;
        if self.is_small {
            return too_small(buffer, area, &theme);
        }
        // Twice if the focus was on something that is not there any more.
        for _ in 0..2 {
            let Some(place) = self.stack.last_mut() else {
                return;
            };
            buffer.reset();
            buffer.set_style(area, theme.text());
            self.layer = Layer::default();
            let marks = place.screen.marks();
            let focus = place.focus.filter(|_| self.overlay.is_none());
            let mut canvas = Canvas::new(buffer, &theme, &marks, focus, &mut self.layer);
            let body = Rect {
                y: 1,
                height: area.height - 1,
                ..area
            };
            place.screen.draw(&self.context, &mut canvas, body);
            let is_there = |target: &Target| self.layer.area(*target).is_some();
            if place.focus.as_ref().is_some_and(is_there) || self.layer.targets.is_empty() {
                break;
            }
            place.focus = place.screen.first_focus(&self.layer);
            place.screen.focused(place.focus);
        }
        if let Some(place) = self.stack.last_mut() {
            place.screen.drawn(&self.context, &self.layer);
        }
        let marks = Marks::default();
        if self.overlay.is_some() {
            // What lies below cannot be clicked.
            self.layer.targets.clear();
        }
        let mut layer = std::mem::take(&mut self.layer);
        let mut canvas = Canvas::new(buffer, &theme, &marks, None, &mut layer);
        self.draw_title(&mut canvas);
        self.draw_toasts(&mut canvas);
        self.draw_overlay(&mut canvas);
        self.layer = layer;
    }

    fn draw_title(&self, canvas: &mut Canvas<'_>) {
        let theme = canvas.theme();
        let area = Rect {
            height: 1,
            ..canvas.area()
        };
        let arrow = format!(" {} ", theme.glyph("›", ">"));
        let mut spans = vec![Span::styled(" fairdeal", theme.accent())];
        for (number, place) in self.stack.iter().enumerate() {
            let last = number + 1 == self.stack.len();
            let style = if last { theme.title() } else { theme.faint() };
            spans.push(Span::styled(arrow.clone(), theme.faint()));
            spans.push(Span::styled(place.screen.name(), style));
        }
        let heading = self.stack.last().map(|place| place.screen.heading());
        if let Some(heading) = heading.filter(|heading| !heading.is_empty()) {
            let dot = theme.glyph("·", "-");
            spans.push(Span::styled(format!("  {dot}  {heading}"), theme.faint()));
        }
        let keys = &self.context.keymap;
        let (help, back) = (keys.key(Intent::Help), "Esc");
        let room = u16::try_from(help.width() + back.len()).unwrap_or(0) + 16;
        let right = area.right().saturating_sub(room);
        let text = Rect {
            width: right.saturating_sub(area.x + 1),
            ..area
        };
        canvas.put(text, Line::from(spans));
        let x = canvas.button((right, area.y), &help, "help", Target::Key(Intent::Help));
        canvas.button((x, area.y), back, "back", Target::Key(Intent::Back));
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
            let area = Rect::new(screen.right().saturating_sub(width), y, width, height);
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
        let found = self.found();
        let helps = self.helps();
        match &mut self.overlay {
            None => {}
            Some(Overlay::Help { back }) => draw_help(canvas, &helps, back),
            Some(Overlay::Palette { field, chosen }) => {
                *chosen = (*chosen).min(found.len().saturating_sub(1));
                draw_palette(canvas, field, &found, *chosen);
            }
            Some(Overlay::Question(question, _)) => draw_question(canvas, question),
        }
    }

    /// The keys of the place that one is in, the place's own first.
    fn helps(&self) -> Vec<(String, String)> {
        let Some(place) = self.stack.last() else {
            return Vec::new();
        };
        let mut helps = place.screen.keys(&self.context);
        let keys = &self.context.keymap;
        let arrows = [Intent::Up, Intent::Down, Intent::Left, Intent::Right];
        let arrows: Vec<String> = arrows.iter().map(|intent| keys.keys(*intent)).collect();
        helps.push((arrows.join(" "), "move the focus".to_owned()));
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
            helps.push((keys.keys(intent), intent.words().to_owned()));
        }
        if place.screen.game().is_some() {
            helps.push((keys.keys(Intent::Rules), Intent::Rules.words().to_owned()));
        }
        helps.push((
            "mouse".to_owned(),
            "click to choose; the wheel scrolls".to_owned(),
        ));
        helps.push(("Ctrl-c".to_owned(), "quit fairdeal".to_owned()));
        helps
    }

    /// Entries of the palette that match its text.
    fn found(&self) -> Vec<(String, Target)> {
        let (Some(Overlay::Palette { field, .. }), Some(place)) =
            (&self.overlay, self.stack.last())
        else {
            return Vec::new();
        };
        let mut all = place.screen.commands(&self.context);
        if place.screen.game().is_some() {
            all.push(("read the rulebook".to_owned(), Target::Key(Intent::Rules)));
        }
        all.push((
            "help: the keys of this screen".to_owned(),
            Target::Key(Intent::Help),
        ));
        all.push(("back".to_owned(), Target::Key(Intent::Back)));
        let wanted = field.text().to_lowercase();
        let fits = |text: &str| {
            let text = text.to_lowercase();
            wanted.split_whitespace().all(|word| text.contains(word))
        };
        all.retain(|(text, _)| fits(text));
        all
    }

    // Input.

    pub(super) fn set_day(&mut self, today: String) {
        self.context.today = today;
    }

    /// Takes something in.
    pub(super) fn update(&mut self, input: Input) -> Vec<Effect> {
        let mut effects = Vec::new();
        match input {
            Input::UiEvent(news) => {
                if let UiEvent::Failed(why) = &news {
                    self.toast(Tone::Bad, why.clone());
                }
                for place in 0..self.stack.len() {
                    self.on(place, &mut effects, |screen, context, requests| {
                        screen.on_event(context, &news, requests);
                    });
                }
            }
            Input::Lan(view) => self.context.lan = view,
            Input::Library(library) => self.context.library = library,
            Input::Tick(passed) => {
                for toast in &mut self.toasts {
                    toast.left = toast.left.saturating_sub(passed);
                }
                self.toasts.retain(|toast| !toast.left.is_zero());
                if let Some(place) = self.stack.last_mut() {
                    place.screen.tick(passed);
                }
            }
            Input::User(input) => self.user_input(input, &mut effects),
        }
        effects
    }

    fn user_input(&mut self, input: UserInput, effects: &mut Vec<Effect>) {
        match input {
            UserInput::Key(key) => self.key(key, effects),
            UserInput::Paste(text) => self.paste(&text, effects),
            UserInput::Click(at) => self.click(at, effects),
            UserInput::SecondaryClick(_) => self.back(effects),
            UserInput::MouseMoved(at) if self.overlay.is_none() => {
                if let Some(target) = self.layer.at(at) {
                    self.focus_on_top(target);
                }
            }
            UserInput::ScrollUp => self.intent(Intent::PageUp, effects),
            UserInput::ScrollDown => self.intent(Intent::PageDown, effects),
            UserInput::MouseMoved(_) | UserInput::Redraw => {}
        }
    }

    /// Says something at the edge of the screen.
    pub(super) fn toast(&mut self, tone: Tone, text: String) {
        self.toasts.retain(|toast| toast.text != text);
        self.toasts.push(Toast {
            tone,
            text,
            left: if tone == Tone::Bad { WARNING } else { TOAST },
        });
        if self.toasts.len() > TOASTS {
            self.toasts.remove(0);
        }
    }

    /// Lets a screen of the stack take something in, and does what it asks for.
    fn on(
        &mut self,
        place: usize,
        effects: &mut Vec<Effect>,
        run: impl FnOnce(&mut dyn Screen, &Context, &mut Requests),
    ) {
        let mut requests = Requests::new();
        if let Some(place) = self.stack.get_mut(place) {
            run(place.screen.as_mut(), &self.context, &mut requests);
        }
        for request in requests {
            self.grant(place, request, effects);
        }
    }

    fn on_top(
        &mut self,
        effects: &mut Vec<Effect>,
        run: impl FnOnce(&mut dyn Screen, &Context, &mut Requests),
    ) {
        self.on(self.stack.len().saturating_sub(1), effects, run);
    }

    fn grant(&mut self, place: usize, request: Request, effects: &mut Vec<Effect>) {
        match request {
            Request::Push(screen) => {
                self.overlay = None;
                self.stack.push(StackedScreen {
                    screen,
                    focus: None,
                });
            }
            Request::Replace(screen) => {
                if let Some(place) = self.stack.get_mut(place) {
                    *place = StackedScreen {
                        screen,
                        focus: None,
                    };
                }
            }
            Request::Leave => {
                // With the screens that were opened from it.
                self.stack.truncate(place);
                self.overlay = None;
                if self.stack.is_empty() {
                    effects.push(Effect::Quit);
                }
            }
            Request::Toast(tone, text) => self.toast(tone, text),
            Request::Ask(question) => self.overlay = Some(Overlay::Question(question, place)),
            Request::Withdraw => {
                let asked =
                    |overlay: &Overlay| matches!(overlay, Overlay::Question(_, by) if *by == place);
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
                    // What is written now counts for more than what was asked for before.
                    self.context.given = None;
                }
                self.context.settings = (*settings).clone();
                self.context.dress();
                effects.push(Effect::Save(*settings));
            }
            Request::Effect(effect) => effects.push(effect),
        }
    }

    fn focus_on_top(&mut self, target: Target) {
        self.set_focus(self.stack.len().saturating_sub(1), target);
    }

    fn set_focus(&mut self, place: usize, target: Target) {
        if let Some(place) = self.stack.get_mut(place)
            && place.focus != Some(target)
        {
            place.focus = Some(target);
            place.screen.focused(Some(target));
        }
    }

    fn key(&mut self, key: Key, effects: &mut Vec<Effect>) {
        if key.ctrl && key.code == KeyCode::Char('c') {
            return self.interrupt(effects);
        }
        match &mut self.overlay {
            Some(Overlay::Question(question, _)) => {
                let KeyCode::Char(c) = key.code else {
                    let wanted = self.context.keymap.intent(key);
                    return match wanted {
                        Some(Intent::Choose) => self.answer(0, effects),
                        Some(Intent::Back) => self.overlay = None,
                        _ => {}
                    };
                };
                let found = question.answers.iter().position(|(key, ..)| *key == c);
                match found {
                    Some(answer) => self.answer(answer, effects),
                    None if c == 'n' => self.overlay = None,
                    None => {}
                }
                return;
            }
            Some(Overlay::Palette { field, chosen }) => {
                let code = key.code;
                match code {
                    KeyCode::Esc => self.overlay = None,
                    KeyCode::Up | KeyCode::BackTab => *chosen = chosen.saturating_sub(1),
                    KeyCode::Down | KeyCode::Tab => *chosen += 1,
                    KeyCode::Enter => {
                        let chosen = *chosen;
                        let found = self.found();
                        self.overlay = None;
                        if let Some((_, target)) = found.get(chosen) {
                            self.choose(*target, effects);
                        }
                    }
                    _ => {
                        field.key(key);
                        *chosen = 0;
                    }
                }
                return;
            }
            Some(Overlay::Help { .. }) | None => {}
        }
        if self.is_small {
            return;
        }
        if self.overlay.is_none() && self.writes(key, effects) {
            return;
        }
        match (self.context.keymap.intent(key), key.code) {
            (Some(intent), _) => self.intent(intent, effects),
            (None, KeyCode::Char(letter)) if self.overlay.is_none() => {
                self.on_top(effects, |screen, context, requests| {
                    screen.letter(context, letter, requests);
                });
            }
            (None, _) => self.overlay = None,
        }
    }

    /// Gives the key to the field that is written in; says whether there is one.
    fn writes(&mut self, key: Key, effects: &mut Vec<Effect>) -> bool {
        let Some(field) = self.stack.last_mut().and_then(|place| place.screen.field()) else {
            return false;
        };
        match key.code {
            KeyCode::Enter => self.on_top(effects, |screen, context, requests| {
                screen.submit(context, requests);
            }),
            KeyCode::Esc => self.back(effects),
            KeyCode::Tab => self.intent(Intent::Next, effects),
            KeyCode::BackTab => self.intent(Intent::Previous, effects),
            KeyCode::Up => self.intent(Intent::Up, effects),
            KeyCode::Down => self.intent(Intent::Down, effects),
            KeyCode::PageUp => self.intent(Intent::PageUp, effects),
            KeyCode::PageDown => self.intent(Intent::PageDown, effects),
            _ => {
                if field.key(key) {
                    self.on_top(effects, |screen, context, requests| {
                        screen.written(context, requests);
                    });
                }
            }
        }
        true
    }

    fn paste(&mut self, text: &str, effects: &mut Vec<Effect>) {
        if let Some(Overlay::Palette { field, .. }) = &mut self.overlay {
            return field.insert(text);
        }
        let field = self.stack.last_mut().and_then(|place| place.screen.field());
        if let Some(field) = field.filter(|_| self.overlay.is_none()) {
            field.insert(text);
            self.on_top(effects, |screen, context, requests| {
                screen.written(context, requests);
            });
        }
    }

    /// Ctrl-C: back, and again and again, out.
    fn interrupt(&mut self, effects: &mut Vec<Effect>) {
        if matches!(self.overlay, Some(Overlay::Question(..))) {
            // A second one is an answer.
            effects.push(Effect::Quit);
            return;
        }
        self.overlay = None;
        let before = self.stack.len();
        self.back(effects);
        if self.overlay.is_none() && before == self.stack.len() && effects.is_empty() {
            effects.push(Effect::Quit);
        }
    }

    fn answer(&mut self, answer: usize, effects: &mut Vec<Effect>) {
        if let Some(Overlay::Question(_, place)) = self.overlay.take() {
            self.on(place, effects, |screen, context, requests| {
                screen.answer(context, answer, requests);
            });
        }
    }

    fn back(&mut self, effects: &mut Vec<Effect>) {
        if self.overlay.take().is_none() {
            self.on_top(effects, |screen, context, requests| {
                screen.back(context, requests);
            });
        }
    }

    fn click(&mut self, at: Position, effects: &mut Vec<Effect>) {
        match (self.layer.at(at), &self.overlay) {
            (Some(target), Some(Overlay::Question(..))) => match target {
                Target::Row(answer) => self.answer(answer, effects),
                Target::Key(_) => self.overlay = None,
                Target::Spot(_) | Target::Button(_) => {}
            },
            (Some(Target::Row(row)), Some(Overlay::Palette { .. })) => {
                let found = self.found();
                self.overlay = None;
                if let Some((_, target)) = found.get(row) {
                    self.choose(*target, effects);
                }
            }
            (_, Some(_)) => self.overlay = None,
            (Some(target), None) => {
                self.focus_on_top(target);
                self.choose(target, effects);
            }
            (None, None) => {}
        }
    }

    fn choose(&mut self, target: Target, effects: &mut Vec<Effect>) {
        match target {
            Target::Key(intent) => self.intent(intent, effects),
            target => self.on_top(effects, |screen, context, requests| {
                screen.choose(context, target, requests);
            }),
        }
    }

    fn intent(&mut self, intent: Intent, effects: &mut Vec<Effect>) {
        if let Some(Overlay::Help { back }) = &mut self.overlay {
            match intent {
                Intent::Up => *back = back.saturating_sub(1),
                Intent::Down => *back += 1,
                Intent::PageUp => *back = back.saturating_sub(10),
                Intent::PageDown => *back += 10,
                Intent::Rules => {
                    self.overlay = None;
                    self.open_rules();
                }
                _ => self.overlay = None,
            }
            return;
        }
        let focus = self.stack.last().and_then(|place| place.focus);
        match intent {
            Intent::Help => self.overlay = Some(Overlay::Help { back: 0 }),
            Intent::Palette => {
                self.overlay = Some(Overlay::Palette {
                    field: Field::new(MAX_SEARCH),
                    chosen: 0,
                });
            }
            Intent::Back => self.back(effects),
            Intent::Rules => self.open_rules(),
            Intent::Up | Intent::Down | Intent::Left | Intent::Right => {
                let steers = self
                    .stack
                    .last()
                    .is_some_and(|place| place.screen.steers(intent));
                let from = focus.filter(|_| !steers);
                let to = from.and_then(|from| focus::towards(&self.layer, from, intent));
                match to {
                    // The title's buttons are for the mouse: their keys are on them.
                    Some(target) if !matches!(target, Target::Key(_)) => self.focus_on_top(target),
                    _ => self.on_top(effects, |screen, context, requests| {
                        screen.intent(context, intent, requests);
                    }),
                }
            }
            Intent::Next | Intent::Previous | Intent::First | Intent::Last => {
                let by = match intent {
                    Intent::Next | Intent::First => 1,
                    _ => -1,
                };
                // The first is the one after none.
                let ends = matches!(intent, Intent::First | Intent::Last);
                let focus = focus.filter(|_| !ends);
                let Some(place) = self.stack.last() else {
                    return;
                };
                if place.screen.steers(intent) {
                    return self.on_top(effects, |screen, context, requests| {
                        screen.intent(context, intent, requests);
                    });
                }
                let stop = |target: Target| {
                    !matches!(target, Target::Key(_)) && place.screen.is_stop(target)
                };
                if let Some(target) = focus::after(&self.layer, focus, by, stop) {
                    self.focus_on_top(target);
                }
            }
            Intent::Choose => {
                if let Some(target) = focus {
                    self.choose(target, effects);
                }
            }
            intent => self.on_top(effects, |screen, context, requests| {
                screen.intent(context, intent, requests);
            }),
        }
    }

    fn open_rules(&mut self) {
        let game = self.stack.last().and_then(|place| place.screen.game());
        if let Some(game) = game {
            self.overlay = None;
            self.stack.push(StackedScreen {
                screen: Box::new(Rules::new(game)),
                focus: None,
            });
        }
    }
}

/// A window in the middle of the screen; gives what is inside.
pub(super) fn window(canvas: &mut Canvas<'_>, title: &str, width: u16, height: u16) -> Rect {
    let screen = canvas.area();
    let (width, height) = (width.min(screen.width), height.min(screen.height));
    let area = Rect::new(
        screen.x + (screen.width - width) / 2,
        screen.y + (screen.height - height) / 2,
        width,
        height,
    );
    canvas.clear(area);
    canvas.frame(area, title)
}

/// How wide the list of keys is, within its frame.
const HELP: usize = 72;
/// How wide its keys are at most, before they go on in the next row.
const HELP_KEYS: usize = 32;

fn draw_help(canvas: &mut Canvas<'_>, helps: &[(String, String)], back: &mut usize) {
    let theme = canvas.theme();
    let column = helps.iter().map(|(keys, _)| keys.width()).max();
    let column = column.unwrap_or(0).min(HELP_KEYS);
    let lines: Vec<(String, String)> = helps
        .iter()
        .flat_map(|(keys, words)| {
            let keys = wrapped(keys, column, 0);
            let words = wrapped(words, HELP - column - 3, 0);
            let rows = keys.len().max(words.len());
            let row = |rows: &[String], row: usize| rows.get(row).cloned().unwrap_or_default();
            let both = (0..rows).map(|at| (row(&keys, at), row(&words, at)));
            both.collect::<Vec<_>>()
        })
        .collect();
    let height = u16::try_from(lines.len())
        .unwrap_or(u16::MAX)
        .saturating_add(4);
    let height = height.min(canvas.area().height.saturating_sub(2));
    let inner = window(canvas, "Keys", 74, height);
    let rows = usize::from(inner.height.saturating_sub(1));
    *back = (*back).min(lines.len().saturating_sub(rows));
    let more = lines.len().saturating_sub(*back + rows);
    let shown = lines.into_iter().skip(*back).take(rows);
    let lines = shown.map(|(keys, words)| {
        let pad = " ".repeat((column + 2).saturating_sub(keys.width()));
        Line::from(vec![
            Span::raw(" "),
            Span::styled(keys, theme.key()),
            Span::raw(pad),
            Span::raw(words),
        ])
    });
    canvas.rows(inner, lines);
    let foot = if more > 0 {
        format!(" Down: {more} more; any other key: close")
    } else {
        " any key: close".to_owned()
    };
    let y = inner.bottom().saturating_sub(1);
    canvas.put(
        Rect {
            y,
            height: 1,
            ..inner
        },
        Line::styled(foot, theme.faint()),
    );
}

fn draw_palette(canvas: &mut Canvas<'_>, field: &Field, found: &[(String, Target)], chosen: usize) {
    let theme = canvas.theme();
    let height = canvas.area().height.saturating_sub(4).min(18);
    let inner = window(canvas, "What do you want to do?", 72, height);
    let prompt = format!(" {} ", theme.glyph("❯", ">"));
    let row = canvas.lead(inner, Line::styled(prompt, theme.accent()));
    field.draw(canvas, row);
    let rows = usize::from(inner.height.saturating_sub(2));
    let first = (chosen + 1).saturating_sub(rows);
    for ((y, (text, _)), number) in (inner.y + 2..inner.bottom())
        .zip(found.iter().skip(first))
        .zip(first..)
    {
        let area = Rect {
            y,
            height: 1,
            ..inner
        };
        canvas.target(area, Target::Row(number));
        let is_chosen = number == chosen;
        let sign = if is_chosen {
            theme.glyph("▸", ">")
        } else {
            " "
        };
        canvas.put(area, Line::raw(format!(" {sign} {text}")));
        if is_chosen {
            canvas.tint(area, theme.focused());
        }
    }
    if found.is_empty() {
        let area = Rect {
            y: inner.y + 2,
            height: 1,
            ..inner
        };
        canvas.put(
            area,
            Line::styled("   no command of that name here", theme.faint()),
        );
    }
}

fn draw_question(canvas: &mut Canvas<'_>, question: &Question) {
    let theme = canvas.theme();
    let text = wrapped(&question.text, 62, 0);
    let rows = u16::try_from(text.len() + question.answers.len()).unwrap_or(u16::MAX);
    let inner = window(canvas, "Sure?", 68, rows.saturating_add(4));
    let lines = text
        .iter()
        .map(|row| Line::styled(format!(" {row}"), theme.title()));
    canvas.rows(inner, lines);
    let mut y = inner.y + u16::try_from(text.len()).unwrap_or(0) + 1;
    for (number, (key, word, meaning)) in question.answers.iter().enumerate() {
        let x = canvas.button(
            (inner.x + 1, y),
            &key.to_string(),
            word,
            Target::Row(number),
        );
        let rest = Rect::new(x, y, inner.right().saturating_sub(x), 1);
        canvas.put(rest, Line::raw(meaning.as_str()));
        y = y.saturating_add(1);
    }
    canvas.button((inner.x + 1, y), "n", "no", Target::Key(Intent::Back));
}

fn too_small(buffer: &mut ratatui::buffer::Buffer, area: Rect, theme: &Theme) {
    let (marks, mut layer) = (Marks::default(), Layer::default());
    let mut canvas = Canvas::new(buffer, theme, &marks, None, &mut layer);
    let text = format!(
        "fairdeal needs {} columns and {} rows. This terminal has {} and {}. Enlarge it; nothing is lost.",
        LEAST.0, LEAST.1, area.width, area.height
    );
    let lines = wrapped(&text, usize::from(area.width).max(1), 0);
    canvas.rows(area, lines.into_iter().map(Line::raw));
}
