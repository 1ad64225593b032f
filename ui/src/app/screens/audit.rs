//! An audit: what it means in three sentences, then each check as it turns green, then what identifies the log.

use std::path::PathBuf;
use std::time::Duration;

use fairdeal_games::counted;
use ratatui::layout::{Constraint, Layout, Margin, Rect};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use super::list::ListState;
use super::replay::ReplayScreen;
use super::running_audit::{BAR, Row, RunningAudit};
use super::table::choosing::sentence;
use super::{arrows, column, keys_below, paragraph};
use crate::app::screen::{Context, Cx, Effect, FocusPolicy, Handled, Screen, ScreenInput};
use crate::canvas::{Canvas, Layer, Target, cut, wrapped};
use crate::keys::Intent;

/// The audit of a transcript on a screen of its own.
#[derive(Debug, Default)]
pub struct Audit {
    audit: RunningAudit,
    list: ListState,
}

impl Audit {
    /// An audit that has not begun, of the transcript at this path.
    pub fn of(path: PathBuf) -> Self {
        Self::with(RunningAudit::of(path))
    }

    /// An audit that may have begun.
    pub(super) fn with(audit: RunningAudit) -> Self {
        Self { audit, list: ListState::default() }
    }

    fn draw_row(&self, canvas: &mut Canvas<'_>, area: Rect, number: usize, row: &Row) {
        let theme = canvas.theme();
        let mark = canvas.target(area, Target::Row(number));
        let bar = match (row.count, self.audit.made()) {
            (None, _) | (Some(0), Some(_)) => None,
            (Some(_), Some(_)) => Some(self.audit.filled(number)),
            (Some(0), None) => Some(0),
            // A count is final only in a report without findings.
            (Some(_), None) if self.audit.is_done() => None,
            (Some(_), None) => Some(self.audit.filled(number)),
        };
        let passed = self.audit.made().is_some() && bar == Some(BAR);
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
            None if self.audit.is_refused() && row.count.is_some_and(|count| count > 0) => {
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
}

impl Screen for Audit {
    fn name(&self) -> String {
        "audit".to_owned()
    }

    fn draw(&mut self, context: &Context, canvas: &mut Canvas<'_>, area: Rect) {
        let theme = canvas.theme();
        let page = column(area.inner(Margin::new(2, 1)), 104);
        let (headline, text) = self.audit.result(context);
        let width = usize::from(page.width).saturating_sub(4);
        let text: Vec<String> = text.iter().flat_map(|text| wrapped(text, width, 0)).collect();
        let tall = u16::try_from(text.len()).unwrap_or(u16::MAX).saturating_add(2);
        let rows = self.audit.rows();
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
        let green = (0..rows.len()).find(|number| self.audit.filled(*number) < BAR);
        let watched = green.filter(|_| self.audit.is_done() && !self.audit.is_shown());
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
        let replay = self.audit.is_done() && self.audit.is_shown();
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
        if self.audit.failed.is_none() && !self.audit.is_shown() {
            return "Checking".to_owned();
        }
        let ((headline, _), text) = self.audit.result(context);
        [headline].into_iter().chain(text).map(|part| sentence(&part)).collect::<Vec<_>>().join(" ")
    }

    fn focus(&self, layer: &Layer) -> FocusPolicy {
        self.list.focus(layer)
    }

    fn input(&mut self, cx: &mut Cx<'_>, input: ScreenInput<'_>) -> Handled {
        match input {
            ScreenInput::Choose(_) => {
                if self.audit.is_done() && self.audit.is_shown() {
                    cx.effect(Effect::Replay(self.audit.path.clone()));
                    cx.push(ReplayScreen::default());
                }
                // Nobody has to watch.
                self.audit.skip();
            }
            ScreenInput::Event(event) => self.audit.on_event(cx.context, event),
            ScreenInput::Tick(passed) => self.audit.advance(passed),
            ScreenInput::Back | ScreenInput::Intent(Intent::Quit) => {
                cx.effect(Effect::StopReading);
                cx.leave();
            }
            _ => return self.list.input(cx, input, self.audit.rows().len()),
        }
        Handled::Yes
    }

    fn pace(&self) -> Option<Duration> {
        self.audit.beat()
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use fairdeal_games::AnyGame;
    use fairdeal_protocol::audit::auditor::audit;
    use fairdeal_protocol::hash::Hash32;
    use fairdeal_protocol::log::extensions::{Extensions, Given, Holiday};
    use fairdeal_protocol::seat::Seat;
    use fairdeal_protocol::wire::bounded::Bounded;

    use super::*;
    use crate::app::event::{Audited, Input, UiEvent};
    use crate::app::screens::running_audit::LINE;
    use crate::app::shell::Shell;
    use crate::app::testing::{TestApp, context, transcript};
    use crate::input::KeyCode;
    use fairdeal_session::terms::Terms;
    use fairdeal_session::text::player_names;
    use fairdeal_session::view::Seating;

    fn done() -> Audited {
        let transcript = transcript("docs/vectors/poker.fairdeal");
        let charter = transcript.charter().charter();
        Audited {
            report: audit::<AnyGame>(&transcript),
            names: player_names(charter),
            seating: Seating::of(charter),
            terms: Terms::of(charter),
        }
    }

    fn audited(change: impl Fn(&mut Audited)) -> TestApp {
        let mut done = done();
        change(&mut done);
        let mut stage = TestApp::with(Shell::new(
            context(false),
            Box::new(Audit::of(PathBuf::from("docs/vectors/poker.fairdeal"))),
        ));
        stage.input(Input::UiEvent(UiEvent::Audited(Box::new(done))));
        stage
    }

    /// A number before the words of a check would be wrong for one, or for many.
    #[test]
    fn short_form_counts_after_the_words() {
        let mut running = RunningAudit::of(PathBuf::from("docs/vectors/poker.fairdeal"));
        running.on_event(&context(false), &UiEvent::Audited(Box::new(done())));
        let lines = running.in_short(&context(false), 72, 20);
        let text = lines.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        assert!(text.contains("everybody signed the table: 2"), "{text}");
        assert!(text.contains("random numbers revealed: 1"), "{text}");
    }

    #[test]
    fn agreements_on_time_are_told() {
        let mut stage = audited(|done| {
            let (seat, to) = (Seat::new(0).unwrap(), Seat::new(1).unwrap());
            done.report.extensions = vec![Extensions {
                table: Hash32::default(),
                seat,
                version: 2,
                given: Bounded::one(Given { to, seconds: 86_400 }),
                holidays: Bounded::one(Holiday { declared: 20_000, first: 20_001, days: 2 }),
            }];
        });
        stage.size = (120, 40);
        stage.rest();
        let words = stage.draw().split_whitespace().collect::<Vec<_>>().join(" ");
        for told in
            ["24 h of extra time.", "a holiday on 4 October: 5 October to 6 October (UTC).", "Nothing proves how much"]
        {
            assert!(words.contains(told), "{told}: {words}");
        }
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
            ..crate::app::screen::Library::default()
        }));
        let shown = stage.draw();
        assert!(shown != told && shown.to_lowercase().contains("you"), "{shown}");
    }
}
