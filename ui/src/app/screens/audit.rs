//! An audit: what it means in three sentences, then each check as it turns green, then what identifies the log.

use std::path::PathBuf;
use std::time::Duration;

use fairdeal_games::counted;
use fairdeal_protocol::audit::progress::AuditProgress;
use fairdeal_protocol::seat::Seat;
use ratatui::layout::{Constraint, Layout, Margin, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use super::list::ListState;
use super::replay::ReplayScreen;
use super::table::choosing::sentence;
use super::{arrows, column, keys_below, paragraph};
use crate::app::event::{Audited, UiEvent};
use crate::app::screen::{Context, Cx, Effect, FocusPolicy, Handled, Screen, ScreenInput};
use crate::canvas::{Canvas, Layer, Target, cut, fit, wrapped};
use crate::keys::Intent;
use fairdeal_session::replay::meaning::{checks, meaning, refusal};
use fairdeal_session::replay::verdict;
use fairdeal_session::spoken::spoken;

/// How long a line takes to turn green once everything is checked.
const LINE: Duration = Duration::from_millis(150);
/// Width of a line's bar.
const BAR: usize = 12;
/// Shown while the audit runs.
const RUNNING: &str = "Every signature, every shuffle and every move of this game is checked again, as if nobody had \
                       played honestly. A line turns green when all its checks have passed.";

/// Shown once the audit is done.
const REPLAY: &str = "Press Enter to replay the game, step by step.";

/// A line of the list: a check, or something that identifies the log.
struct Row {
    name: String,
    value: String,
    /// Title and text of the panel below.
    title: String,
    about: String,
    /// How often the check was made; `None` for a line that is no check.
    count: Option<u64>,
}

/// The audit of a transcript: its progress, then its result.
#[derive(Clone, Debug, Default)]
pub struct Audit {
    /// The transcript.
    path: PathBuf,
    progress: AuditProgress,
    done: Option<Box<Audited>>,
    failed: Option<String>,
    /// Time since the result is there: the lines turn green one by one.
    passed: Duration,
    list: ListState,
}

impl Audit {
    /// An audit that has not begun, of the transcript at this path.
    pub fn of(path: PathBuf) -> Self {
        Self { path, ..Self::default() }
    }

    /// The number of checks that passed, if the audit is done and found nothing.
    fn made(&self) -> Option<usize> {
        let done = self.done.as_ref().filter(|done| done.report.is_fair())?;
        let all = checks(&done.report.tally);
        Some(all.iter().filter(|check| check.count > 0).count())
    }

    fn is_refused(&self) -> bool {
        self.done.as_ref().is_some_and(|done| !done.report.is_fair())
    }

    /// How far a line is, in steps of its bar.
    fn filled(&self, number: usize) -> usize {
        if self.done.is_none() {
            return BAR * self.progress.done / self.progress.total.max(1);
        }
        let begun = LINE.saturating_mul(u32::try_from(number).unwrap_or(u32::MAX));
        let passed = self.passed.saturating_sub(begun).as_millis();
        usize::try_from(passed * 12 / LINE.as_millis()).unwrap_or(BAR).min(BAR)
    }

    /// Whether all lines that can turn green have done so.
    fn is_shown(&self) -> bool {
        let last = self.made().and_then(|made| made.checked_sub(1));
        self.done.is_some() && last.is_none_or(|last| self.filled(last) == BAR)
    }

    fn rows(&self) -> Vec<Row> {
        let tally = self.done.as_ref().map_or(self.progress.tally, |done| done.report.tally);
        let mut rows: Vec<Row> = checks(&tally)
            .into_iter()
            .map(|check| Row {
                name: check.plain.to_owned(),
                title: check.name.to_owned(),
                value: check.count.to_string(),
                about: match (self.is_refused(), check.count) {
                    (true, 1..) => format!("{} of these checks passed before the fault.", check.count),
                    _ => check.proves.to_owned(),
                },
                count: Some(check.count),
            })
            .collect();
        let mut fact = |name: &str, value: String, about: &str| {
            rows.push(Row {
                name: name.to_owned(),
                title: name.to_owned(),
                about: format!("{about} {value}"),
                value,
                count: None,
            });
        };
        if let Some(report) = self.done.as_ref().map(|done| &done.report) {
            fact(
                "hash of the log",
                report.log.to_string(),
                "The same at every player, except perhaps in the last step:",
            );
            fact(
                "the same, spoken",
                spoken(&report.log.0),
                "The first 88 bits of the log's hash as eight words, to be read out to another player:",
            );
            fact("table id", report.table.to_string(), "The full id of this table:");
        }
        if let Some(terms) = self.done.as_ref().map(|done| &done.terms) {
            let name = terms.game_name();
            fact("options", terms.options_in_words(), &format!("What all players of this game of {name} have signed:"));
        }
        let file = self.path.file_name().unwrap_or_default().to_string_lossy();
        fact("file", file.into_owned(), "");
        if let Some(row) = rows.last_mut() {
            row.about = format!("Anybody can audit this file: {}", self.path.display());
        }
        rows
    }

    /// The headline of the result with its style, and the text.
    fn result(&self, context: &Context) -> ((String, Style), Vec<String>) {
        let theme = &context.theme;
        let cross = theme.glyph("✗", "!");
        let Some(done) = &self.done else {
            let AuditProgress { done, total, .. } = self.progress;
            return match &self.failed {
                Some(why) => ((format!("{cross} This file cannot be checked"), theme.bad()), vec![why.clone()]),
                None => ((format!("Checking: {done} of {total} messages"), theme.title()), vec![RUNNING.to_owned()]),
            };
        };
        match &done.report.finding {
            Some(finding) => {
                let rows = refusal(finding, &done.names)
                    .map(|(what, words)| format!("{what}: {words}"))
                    .into_iter()
                    .chain([REPLAY.to_owned()]);
                ((format!("{cross} NOT FAIR"), theme.bad()), rows.collect())
            }
            None if self.is_shown() => {
                let words = verdict(&done.report, done.names.len(), &done.terms);
                let (short, more) = words.split_once(": ").unwrap_or((&words, ""));
                let me = self.me(context);
                let meaning = meaning(&done.report, &done.names, &done.seating, &done.terms, me).join(" ");
                let texts = [meaning, more.to_owned(), REPLAY.to_owned()].into_iter().filter(|text| !text.is_empty());
                ((format!("{} {short}", theme.glyph("✓", "+")), theme.good()), texts.collect())
            }
            None => (("Checking".to_owned(), theme.title()), vec![RUNNING.to_owned()]),
        }
    }

    /// The player's own seat, if the game is in the history.
    fn me(&self, context: &Context) -> Option<Seat> {
        let past = context.library.past.iter().find(|past| past.path.as_ref() == Some(&self.path))?;
        past.summary()?.me
    }

    fn draw_row(&self, canvas: &mut Canvas<'_>, area: Rect, number: usize, row: &Row) {
        let theme = canvas.theme();
        let mark = canvas.target(area, Target::Row(number));
        let bar = match (row.count, self.made()) {
            (None, _) | (Some(0), Some(_)) => None,
            (Some(_), Some(_)) => Some(self.filled(number)),
            (Some(0), None) => Some(0),
            // A count is final only in a report without findings.
            (Some(_), None) if self.done.is_some() => None,
            (Some(_), None) => Some(self.filled(number)),
        };
        let passed = self.made().is_some() && bar == Some(BAR);
        let (sign, style) = match bar {
            Some(_) if passed => (theme.glyph("✓", "+"), theme.good()),
            Some(_) => (" ", theme.ink()),
            None if row.count == Some(0) => (theme.glyph("·", "-"), theme.faint()),
            None => (" ", theme.ink()),
        };
        let focus = if mark.focused { theme.glyph("▌", ">") } else { " " };
        let width = usize::from(area.width).saturating_sub(5);
        let right = match bar {
            Some(filled) => {
                let (full, empty) = (theme.glyph("━", "="), theme.glyph("─", "-"));
                let bar = Span::styled(full.repeat(filled), if passed { theme.good() } else { theme.accent() });
                let rest = Span::styled(empty.repeat(BAR - filled), theme.faint());
                vec![bar, rest, Span::styled(format!("{:>9}", row.value), style)]
            }
            None if self.is_refused() && row.count.is_some_and(|count| count > 0) => {
                vec![Span::styled(format!("{} before that", row.value), theme.ink())]
            }
            None if row.count.is_some() => vec![Span::styled("nothing to check", theme.faint())],
            None => {
                let room = width.saturating_sub(row.name.width() + 2);
                vec![Span::styled(cut(&row.value, room, theme), theme.ink())]
            }
        };
        let used: usize = right.iter().map(Span::width).sum();
        let name = cut(&row.name, width.saturating_sub(used + 1), theme);
        let gap = width.saturating_sub(used + name.width());
        let mut spans = vec![
            Span::styled(focus, theme.accent()),
            Span::styled(format!(" {sign} "), style),
            Span::styled(name, style),
            Span::raw(" ".repeat(gap)),
        ];
        spans.extend(right);
        canvas.put(area, Line::from(spans));
        if mark.focused {
            canvas.tint(area, theme.focused());
        }
    }

    /// Whether there is a result, or never will be.
    pub(super) fn is_over(&self) -> bool {
        self.done.is_some() || self.failed.is_some()
    }

    /// Lets time pass: the lines turn green one by one.
    pub(super) fn advance(&mut self, passed: Duration) {
        if self.done.is_some() {
            self.passed = self.passed.saturating_add(passed);
        }
    }

    /// The time until the next line is green; `None` if nothing moves.
    pub(super) fn beat(&self) -> Option<Duration> {
        (self.done.is_some() && !self.is_shown()).then_some(LINE / 3)
    }

    /// The audit on the sheet of a result: what it has found, and the checks in two columns of at most so many rows.
    pub(super) fn in_short(&self, context: &Context, width: usize, rows: usize) -> Vec<Line<'static>> {
        let theme = &context.theme;
        let ((headline, style), _) = self.result(context);
        let told = match &self.done {
            Some(done) if self.is_shown() && !self.is_refused() => {
                let [who, ..] = meaning(&done.report, &done.names, &done.seating, &done.terms, self.me(context));
                format!("{headline}. {who}")
            }
            Some(_) if self.is_refused() => format!("{headline}: look at the audit"),
            _ => headline,
        };
        let mut lines: Vec<Line<'static>> =
            wrapped(&told, width, 2).into_iter().map(|row| Line::styled(row, style)).collect();
        let checks = self.rows().into_iter().enumerate().filter(|(_, row)| row.count.is_some_and(|count| count > 0));
        let cells: Vec<(String, Style)> = checks
            .map(|(number, row)| {
                let passed = self.made().is_some() && self.filled(number) == BAR;
                let (sign, style) = if passed {
                    (theme.glyph("✓", "+"), theme.good())
                } else {
                    (theme.glyph("·", "-"), theme.faint())
                };
                (format!("{sign} {} {}", row.value, row.name), style)
            })
            .collect();
        // The left column is as wide as its texts, so that both fit.
        let left = cells.iter().step_by(2).map(|(text, _)| text.width() + 2).max().unwrap_or(0);
        for pair in cells.chunks(2).take(rows.saturating_sub(lines.len())) {
            let widths = [left, width.saturating_sub(left)];
            let spans = pair.iter().zip(widths);
            lines.push(
                spans
                    .map(|((text, style), width)| Span::styled(fit(&cut(text, width, theme), width), *style))
                    .collect(),
            );
        }
        lines
    }

    /// The progress of the audit, or its result.
    pub(super) fn on_event(&mut self, context: &Context, event: &UiEvent) {
        match event {
            UiEvent::Checking(progress) => self.progress = *progress,
            UiEvent::Audited(audited) => {
                self.done = Some(audited.clone());
                if !context.settings.motion {
                    self.passed = Duration::MAX;
                }
            }
            UiEvent::Failed(why) if self.done.is_none() => self.failed = Some(why.clone()),
            _ => {}
        }
    }
}

impl Screen for Audit {
    fn name(&self) -> String {
        "audit".to_owned()
    }

    fn draw(&mut self, context: &Context, canvas: &mut Canvas<'_>, area: Rect) {
        let theme = canvas.theme();
        let page = column(area.inner(Margin::new(2, 1)), 104);
        let (headline, text) = self.result(context);
        let width = usize::from(page.width).saturating_sub(4);
        let text: Vec<String> = text.iter().flat_map(|text| wrapped(text, width, 0)).collect();
        let tall = u16::try_from(text.len()).unwrap_or(u16::MAX).saturating_add(2);
        let rows = self.rows();
        let long = u16::try_from(rows.len()).unwrap_or(u16::MAX);
        let [result, list, about] = Layout::vertical([
            Constraint::Length(tall.min(page.height / 2)),
            Constraint::Max(long),
            Constraint::Length(4),
        ])
        .spacing(1)
        .areas(page);
        let (title, style) = headline;
        let inner = canvas.panel(result, &title);
        canvas.tint(Rect { height: 1, ..result }, style);
        canvas.rows(inner, text.into_iter().map(|row| Line::styled(row, theme.ink())));
        self.list.keep_within(rows.len());
        // While lines turn green, the list follows them.
        let green = (0..rows.len()).find(|number| self.filled(*number) < BAR);
        let watched = green.filter(|_| self.done.is_some() && !self.is_shown());
        let first = watched.map_or(self.list, ListState::at).first_shown(usize::from(list.height), rows.len());
        for ((y, row), number) in (list.y..list.bottom()).zip(rows.iter().skip(first)).zip(first..) {
            self.draw_row(canvas, Rect { y, height: 1, ..list }, number, row);
        }
        let hidden = rows.len().saturating_sub(first + usize::from(list.height));
        if hidden > 0 {
            let below = Rect { y: list.bottom(), height: 1, ..list };
            let words = format!("{} below", counted(hidden, "more line"));
            canvas.put(below, Line::styled(words, theme.accent()));
        }
        let keys = &context.keymap;
        let replay = self.done.is_some() && self.is_shown();
        let mut bar = vec![arrows(theme, "choose")];
        bar.extend(replay.then(|| (keys.key(Intent::Choose), "replay", Some(Target::Key(Intent::Choose)))));
        keys_below(canvas, area, context, bar);
        if let Some(row) = rows.get(self.list.chosen()) {
            let inner = canvas.panel(about, &row.title);
            paragraph(canvas, inner, row.about.as_str());
        }
    }

    fn spoken(&self, context: &Context) -> String {
        // The count of a running check changes too often to be heard.
        if self.failed.is_none() && !self.is_shown() {
            return "Checking".to_owned();
        }
        let ((headline, _), text) = self.result(context);
        [headline].into_iter().chain(text).map(|part| sentence(&part)).collect::<Vec<_>>().join(" ")
    }

    fn focus(&self, layer: &Layer) -> FocusPolicy {
        self.list.focus(layer)
    }

    fn input(&mut self, cx: &mut Cx<'_>, input: ScreenInput<'_>) -> Handled {
        match input {
            ScreenInput::Choose(_) => {
                if self.done.is_some() && self.is_shown() {
                    cx.effect(Effect::Replay(self.path.clone()));
                    cx.push(ReplayScreen::default());
                }
                // Nobody has to watch.
                self.passed = Duration::MAX;
            }
            ScreenInput::Event(event) => self.on_event(cx.context, event),
            ScreenInput::Tick(passed) => self.advance(passed),
            ScreenInput::Back | ScreenInput::Intent(Intent::Quit) => {
                cx.effect(Effect::StopReading);
                cx.leave();
            }
            _ => return self.list.input(cx, input, self.rows().len()),
        }
        Handled::Yes
    }

    fn pace(&self) -> Option<Duration> {
        self.beat()
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use fairdeal_games::AnyGame;
    use fairdeal_protocol::audit::auditor::audit;

    use super::*;
    use crate::app::event::Input;
    use crate::app::shell::Shell;
    use crate::app::testing::{TestApp, context, transcript};
    use crate::input::KeyCode;
    use fairdeal_session::terms::Terms;
    use fairdeal_session::text::player_names;
    use fairdeal_session::view::Seating;

    fn audited(change: impl Fn(&mut Audited)) -> TestApp {
        let transcript = transcript("docs/vectors/poker.fairdeal");
        let charter = transcript.charter().charter();
        let mut done = Audited {
            report: audit::<AnyGame>(&transcript),
            names: player_names(charter),
            seating: Seating::of(charter),
            terms: Terms::of(charter),
        };
        change(&mut done);
        let mut stage = TestApp::with(Shell::new(
            context(false),
            Box::new(Audit::of(PathBuf::from("docs/vectors/poker.fairdeal"))),
        ));
        stage.input(Input::UiEvent(UiEvent::Audited(Box::new(done))));
        stage
    }

    #[test]
    fn checks_turn_green_one_by_one_and_then_the_meaning_is_told() {
        let mut stage = audited(|_| {});
        let green = |stage: &mut TestApp| stage.draw().matches("  ✓ ").count() + stage.draw().matches("▌ ✓ ").count();
        assert!(stage.draw().contains("Checking") && green(&mut stage) == 0);
        let mut before = 0;
        for _ in 0..5 {
            stage.input(Input::Tick(LINE));
            assert!(green(&mut stage) > before, "{}", stage.draw());
            before = green(&mut stage);
        }
        stage.rest();
        let shown = stage.draw();
        assert!(shown.contains("✓ fair") && shown.contains("computed again"), "{shown}");
        stage.key(KeyCode::Down);
        let shown = stage.draw();
        assert!(shown.contains("Every message was signed by its seat"), "{shown}");
        stage.size = (120, 40);
        insta::assert_snapshot!("audit-done", stage.draw());
        // Enter goes to the end at once.
        let mut stage = audited(|_| {});
        stage.key(KeyCode::Enter);
        assert!(stage.draw().contains("✓ fair") && stage.shell.pace().is_none());
    }

    #[test]
    fn refused_file_names_who_where_and_why() {
        let fault = fairdeal_protocol::audit::auditor::Finding::Trailer("the log is short");
        let mut stage = audited(|done| done.report.finding = Some(fault.clone()));
        let shown = stage.draw();
        assert!(shown.contains("✗ NOT FAIR") && shown.contains("who: nobody in particular"), "{shown}");
        assert!(shown.contains("the log is short") && !shown.contains("✓"), "{shown}");
        assert!(shown.contains("before that"), "{shown}");
        assert!(stage.shell.pace().is_none());
    }

    /// The reader is "you" if the history knows the seat.
    #[test]
    fn own_seat_is_found_in_the_history() {
        let mut stage = audited(|_| {});
        stage.rest();
        let told = stage.draw();
        let summary =
            fairdeal_session::past::summary::Summary { me: Seat::new(0), ..fairdeal_session::testing::summary() };
        stage.input(Input::Library(crate::app::screen::Library {
            waiting: Vec::new(),
            past: vec![fairdeal_session::past::Past {
                table: String::new(),
                path: Some(PathBuf::from("docs/vectors/poker.fairdeal")),
                when: SystemTime::UNIX_EPOCH,
                bytes: 0,
                what: fairdeal_session::past::What::Over(summary),
            }],
        }));
        let shown = stage.draw();
        assert!(shown != told && shown.to_lowercase().contains("you"), "{shown}");
    }
}
