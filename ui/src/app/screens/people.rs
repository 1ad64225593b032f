//! The address book: the keys that this player has played with, and those at the table behind this screen.

use fairdeal_peers::PeerId;
use ratatui::layout::{Constraint, Layout, Margin, Rect};
use ratatui::text::Line;

use super::list::ListState;
use super::{arrows, column, keys_below, paragraph, row};
use crate::app::screen::{Context, Cx, Effect, FocusPolicy, Handled, Question, Screen, ScreenInput};
use crate::canvas::{Canvas, Layer, Target, wrapped};
use crate::field::Field;
use crate::theme::Theme;
use fairdeal_session::people::{
    Change, MAX_OWN_NAME, MAX_PEOPLE, MarkKind, Person, SeatPerson, games_in_words, readable, words_of,
};

const NAME: Target = Target::Button(0);
const FAVOURITE: Target = Target::Button(1);
const BLOCK: Target = Target::Button(2);
const FORGET: Target = Target::Button(3);

/// Rows of the panel about the chosen person, and of the player's own key.
const ABOUT: u16 = 10;
const OWN: u16 = 2;

/// The people in the book, the ones at the table first.
#[derive(Debug, Default)]
pub struct People {
    /// The players at the table, who may not be in the book.
    here: Vec<SeatPerson>,
    /// Everybody in the order of the first frame, so that a change moves nobody.
    keys: Vec<PeerId>,
    list: ListState,
    /// The name being written.
    field: Option<Field>,
}

/// One key, as far as it is known.
struct Entry<'a> {
    key: PeerId,
    person: Option<&'a Person>,
    /// Its name at the table.
    announced: Option<&'a str>,
}

impl Entry<'_> {
    fn name(&self) -> String {
        let own = self.person.and_then(|person| person.name.as_deref());
        let known = self.person.and_then(|person| person.announced.first());
        let announced = self.announced.or(known.map(String::as_str));
        readable(own, announced).unwrap_or_else(|| self.key.short())
    }
}

impl People {
    /// With the players at a table first, and this one of them chosen.
    pub(super) fn at(here: Vec<SeatPerson>, chosen: Option<PeerId>) -> Self {
        let keys: Vec<PeerId> = here.iter().map(|person| person.key).collect();
        let chosen = keys.iter().position(|key| Some(*key) == chosen).unwrap_or(0);
        Self { here, keys, list: ListState::at(chosen), field: None }
    }

    /// Takes people in who are new in the book, and leaves those out who were forgotten.
    fn sort(&mut self, context: &Context) {
        let here = |key: &PeerId| self.here.iter().any(|person| person.key == *key);
        self.keys.retain(|key| here(key) || context.people.get(key).is_some());
        for person in context.people.listed() {
            if !self.keys.contains(&person.key) {
                self.keys.push(person.key);
            }
        }
        self.list.keep_within(self.keys.len());
    }

    fn entry<'a>(&'a self, context: &'a Context, at: usize) -> Option<Entry<'a>> {
        let key = *self.keys.get(at)?;
        let here = self.here.iter().find(|person| person.key == key);
        Some(Entry { key, person: context.people.get(&key), announced: here.map(|person| person.announced.as_str()) })
    }

    /// The mark of an entry: its sign, and a word or two.
    fn mark(context: &Context, entry: &Entry<'_>) -> (&'static str, String, MarkKind) {
        let announced = entry.announced.unwrap_or_default();
        let mark = context.people.mark(&entry.key, announced);
        let (sign, ascii) = mark.sign();
        let words = match mark.kind() {
            MarkKind::Known => games_in_words(entry.person.map_or(0, |person| person.games)),
            _ => mark.short().to_owned(),
        };
        (context.theme.glyph(sign, ascii), words, mark.kind())
    }

    fn change(&self, cx: &mut Cx<'_>, change: Change) {
        if let Some(entry) = self.entry(cx.context, self.list.chosen()) {
            cx.effect(Effect::People { key: entry.key, announced: entry.announced.map(str::to_owned), change });
        }
    }

    /// Carries out a button or its letter.
    fn act(&mut self, cx: &mut Cx<'_>, target: Target) {
        let Some(entry) = self.entry(cx.context, self.list.chosen()) else {
            return;
        };
        let (is_favourite, is_blocked) = entry.person.map_or((false, false), |one| (one.favourite, one.blocked));
        match target {
            NAME => {
                let name = entry.person.and_then(|person| person.name.clone());
                self.field = Some(Field::new(MAX_OWN_NAME).with(&name.unwrap_or_default()));
            }
            FAVOURITE => self.change(cx, Change::Favourite(!is_favourite)),
            BLOCK => self.change(cx, Change::Blocked(!is_blocked)),
            FORGET if entry.person.is_some() => {
                let name = entry.name();
                let text = format!("Forget {name} and its marks? In the next game this key will be new to you.");
                cx.ask(Question::sure(text));
            }
            _ => {}
        }
    }

    fn draw_about(&self, context: &Context, canvas: &mut Canvas<'_>, area: Rect) {
        let theme = canvas.theme();
        let Some(entry) = self.entry(context, self.list.chosen()) else {
            return;
        };
        let inner = canvas.panel(area, &entry.name());
        let [text, line] = Layout::vertical([Constraint::Min(0), Constraint::Length(1)]).areas(inner);
        if let Some(field) = &self.field {
            let rest = canvas.lead(line, Line::styled("Your name for this key: ", theme.title()));
            canvas.clear(rest);
            canvas.tint(rest, theme.paper(true));
            field.draw(canvas, rest);
        } else {
            draw_buttons(&entry, canvas, line);
        }
        let width = usize::from(text.width);
        let (.., kind) = Self::mark(context, &entry);
        let rows = |words: &str| wrapped(words, width, 0).into_iter();
        let mut lines = Vec::new();
        if kind == MarkKind::OtherKey {
            let mark = context.people.mark(&entry.key, entry.announced.unwrap_or_default());
            let warning = format!(
                "! This is {}. Ask for the eight words of the key, by telephone for example, before you trust it.",
                mark.words()
            );
            lines.extend(rows(&warning).map(|row| Line::styled(row, theme.bad())));
        }
        let words = format!("Key {}, spoken: {}", entry.key.short(), words_of(entry.key));
        lines.extend(rows(&words).map(|row| Line::styled(row, theme.accent())));
        lines.extend(rows(&played(&entry)).map(Line::raw));
        if kind == MarkKind::Blocked {
            let words = "Blocked: not admitted to your tables, not listed, and its chat is not shown.";
            lines.extend(rows(words).map(Line::raw));
        }
        canvas.rows(text, lines);
    }
}

/// The games with a key so far.
fn played(entry: &Entry<'_>) -> String {
    let Some(person) = entry.person.filter(|person| person.games > 0) else {
        return "You have not played with this key yet.".to_owned();
    };
    let games = games_in_words(person.games);
    let days = match (&person.first, &person.last) {
        (Some(first), Some(last)) if first == last => format!(", on {last}"),
        (Some(first), Some(last)) => format!(", from {first} to {last}"),
        _ => String::new(),
    };
    let bot = if person.bot { " A bot played last time." } else { "" };
    let names = match person.announced.as_slice() {
        [] => String::new(),
        names => format!(" Names announced: {}.", names.join(", ")),
    };
    format!("{games}{days}.{bot}{names}")
}

fn draw_buttons(entry: &Entry<'_>, canvas: &mut Canvas<'_>, line: Rect) {
    let (is_favourite, is_blocked) = entry.person.map_or((false, false), |one| (one.favourite, one.blocked));
    let mut x = canvas.button((line.x, line.y), "n", "name", NAME);
    if !is_blocked {
        let label = if is_favourite { "unmark" } else { "favourite" };
        x = canvas.button((x, line.y), "f", label, FAVOURITE);
    }
    let label = if is_blocked { "unblock" } else { "block" };
    x = canvas.button((x, line.y), "b", label, BLOCK);
    if entry.person.is_some() {
        canvas.button((x, line.y), "x", "forget", FORGET);
    }
}

/// The player's own key, for others to compare.
fn draw_own(context: &Context, theme: &Theme, canvas: &mut Canvas<'_>, area: Rect) {
    if let Some(own) = &context.own_key {
        let words = format!("Your own key {}, spoken: {}", own.short(), words_of(*own));
        let rows = wrapped(&words, usize::from(area.width), 0);
        canvas.rows(area, rows.into_iter().map(|row| Line::styled(row, theme.ink())));
    }
}

impl Screen for People {
    fn name(&self) -> String {
        "people".to_owned()
    }

    fn draw(&mut self, context: &Context, canvas: &mut Canvas<'_>, area: Rect) {
        self.sort(context);
        let theme = canvas.theme();
        let page = column(area.inner(Margin::new(2, 1)), 110);
        let rows =
            [Constraint::Min(3), Constraint::Length(ABOUT), Constraint::Length(if area.height > 20 { OWN } else { 0 })];
        let [list, about, own] = Layout::vertical(rows).spacing(u16::from(area.height > 20)).areas(page);
        draw_own(context, theme, canvas, own);
        if self.keys.is_empty() {
            let words = "The people you play with will appear here, by their keys: you see whether a key is the same as \
                         last time. You can give them names, mark favourites, and block somebody.";
            return paragraph(canvas, list, words);
        }
        let inner = canvas.section(list, &format!("{} of {MAX_PEOPLE}", self.keys.len()));
        let rows = usize::from(inner.height);
        let first = self.list.first_shown(rows, self.keys.len());
        for (y, at) in (inner.y..inner.bottom()).zip(first..self.keys.len()) {
            let Some(entry) = self.entry(context, at) else {
                continue;
            };
            let (sign, words, kind) = Self::mark(context, &entry);
            let style = match kind {
                MarkKind::OtherKey => theme.bad(),
                MarkKind::Favourite => theme.accent(),
                MarkKind::Blocked => theme.faint(),
                MarkKind::Known | MarkKind::New => theme.text(),
            };
            let at_table = if entry.announced.is_some() { "at this table, " } else { "" };
            let last =
                entry.person.and_then(|person| person.last.clone()).map_or_else(String::new, |day| format!(", {day}"));
            let name = format!("{sign} {}", entry.name());
            let more = format!("{at_table}{words}{last}");
            row(canvas, Rect { y, height: 1, ..inner }, Target::Row(at), (&name, style), &more);
        }
        self.draw_about(context, canvas, about);
        let key = |letter: &str, words: &'static str, target| (letter.to_owned(), words, Some(target));
        let bar = vec![
            arrows(theme, "choose"),
            key("n", "name", NAME),
            key("f", "favourite", FAVOURITE),
            key("b", "block", BLOCK),
            key("x", "forget", FORGET),
        ];
        keys_below(canvas, area, context, bar);
    }

    fn focus(&self, layer: &Layer) -> FocusPolicy {
        FocusPolicy { writes: self.field.is_some(), ..self.list.focus(layer) }
    }

    fn input(&mut self, cx: &mut Cx<'_>, input: ScreenInput<'_>) -> Handled {
        match input {
            ScreenInput::Choose(Target::Row(_)) | ScreenInput::Letter('n') => self.act(cx, NAME),
            ScreenInput::Choose(target) => self.act(cx, target),
            ScreenInput::Letter('f') => self.act(cx, FAVOURITE),
            ScreenInput::Letter('b') => self.act(cx, BLOCK),
            ScreenInput::Letter('x') => self.act(cx, FORGET),
            ScreenInput::Answer(0) => self.change(cx, Change::Forget),
            ScreenInput::Typed(typed) => {
                if let Some(field) = &mut self.field {
                    field.typed(typed);
                }
            }
            ScreenInput::Submit => {
                if let Some(mut field) = self.field.take() {
                    self.change(cx, Change::Name(field.take()));
                }
            }
            ScreenInput::Back if self.field.is_some() => self.field = None,
            _ => return self.list.input(cx, input, self.keys.len()),
        }
        Handled::Yes
    }

    fn keys(&self, _context: &Context) -> Vec<(String, String)> {
        let all = [
            ("n", "give this key a name of your own"),
            ("f", "mark as a favourite, or not"),
            ("b", "block, or not"),
            ("x", "forget this key"),
        ];
        all.map(|(key, words)| (key.to_owned(), words.to_owned())).to_vec()
    }

    fn commands(&self, context: &Context) -> Vec<(String, Target)> {
        let Some(entry) = self.entry(context, self.list.chosen()) else {
            return Vec::new();
        };
        let name = entry.name();
        let mut all = vec![
            (format!("name {name}"), NAME),
            (format!("{name}: favourite, or not"), FAVOURITE),
            (format!("block {name}, or not"), BLOCK),
        ];
        if entry.person.is_some() {
            all.push((format!("forget {name}"), FORGET));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::event::Input;
    use crate::app::testing::TestApp;
    use crate::input::KeyCode;
    use fairdeal_session::people::Book;

    fn key(seed: u8) -> PeerId {
        fairdeal_peers::testing::peer(seed)
    }

    fn book() -> Book {
        let mut book = Book::default();
        for (seed, name, day) in [(1, "Ada", "2026-01-30"), (2, "Ben", "2026-01-31"), (3, "Eve", "2026-02-01")] {
            book.met(key(seed), name, seed == 2, day, true);
        }
        book.change(key(1), None, &Change::Name("Lady A".to_owned())).unwrap();
        book.change(key(1), None, &Change::Favourite(true)).unwrap();
        book.change(key(3), None, &Change::Blocked(true)).unwrap();
        book
    }

    fn stage(ascii: bool) -> TestApp {
        let mut stage = TestApp::at_home(ascii);
        stage.shell.context_mut().own_key = Some(key(9));
        stage.input(Input::People(book()));
        stage.keys("P");
        stage
    }

    /// The changes that the screen has asked for.
    fn changes(stage: &TestApp) -> Vec<(PeerId, Change)> {
        let changes = stage.effects.iter().filter_map(|effect| match effect {
            Effect::People { key, change, .. } => Some((*key, change.clone())),
            _ => None,
        });
        changes.collect()
    }

    #[test]
    fn people_are_listed_by_their_marks() {
        let mut stage = stage(false);
        insta::assert_snapshot!("people-80x24", stage.draw());
        for size in [(1, 1), (20, 5), (60, 20), (140, 45)] {
            stage.size = size;
            stage.draw();
        }
        let mut plain = self::stage(true);
        let text = plain.draw();
        assert!(text.is_ascii() && text.contains("* Lady A"), "{text}");
    }

    #[test]
    fn person_is_named_marked_blocked_and_forgotten_by_keys() {
        let mut stage = stage(false);
        stage.key(KeyCode::Down);
        assert!(stage.draw().contains("\"Ben\""), "{}", stage.draw());
        stage.keys("nBenny");
        stage.key(KeyCode::Enter);
        stage.keys("fb");
        stage.keys("xy");
        let asked = [Change::Name("Benny".to_owned()), Change::Favourite(true), Change::Blocked(true), Change::Forget];
        assert_eq!(changes(&stage), asked.map(|change| (key(2), change)));
        // Esc closes the field first.
        stage.keys("n");
        stage.key(KeyCode::Esc);
        stage.key(KeyCode::Esc);
        assert_eq!(stage.shell.trail(), ["home"]);
    }

    #[test]
    fn mouse_does_the_same() {
        let mut stage = stage(false);
        stage.click_on("b block");
        stage.click_on("forget");
        stage.keys("y");
        assert_eq!(changes(&stage), [(key(1), Change::Blocked(true)), (key(1), Change::Forget)]);
        stage.input(Input::People(Book::default()));
        assert!(stage.draw().contains("will appear here"), "{}", stage.draw());
    }

    #[test]
    fn page_has_no_address_book() {
        let mut stage = TestApp::at_home(false);
        stage.shell.context_mut().is_page = true;
        stage.keys("P");
        assert_eq!(stage.shell.trail(), ["home"]);
        assert!(!stage.draw().contains("people"), "{}", stage.draw());
    }
}
