//! An audit as it goes on: how far it is, its checks as lines that turn green one by one, and what they mean. It is shown
//! on a screen of its own and on the result of a game.

use std::path::PathBuf;
use std::time::Duration;

use fairdeal_protocol::audit::progress::AuditProgress;
use fairdeal_protocol::seat::Seat;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use crate::app::event::{Audited, UiEvent};
use crate::app::screen::Context;
use crate::canvas::{cut, fit, wrapped};
use fairdeal_session::replay::meaning::{checks, extensions_in_words, meaning, refusal};
use fairdeal_session::replay::verdict;
use fairdeal_session::spoken::spoken;

/// How long a line takes to turn green once everything is checked.
pub(super) const LINE: Duration = Duration::from_millis(150);
/// Width of a line's bar.
pub(super) const BAR: usize = 12;
/// Shown while the audit runs.
const RUNNING: &str = "Every signature, every shuffle and every move of this game is checked again, as if nobody had \
                       played honestly. A line turns green when all its checks have passed.";

/// Shown once the audit is done.
const REPLAY: &str = "Press Enter to replay the game, step by step.";

/// A line of the list: a check, or something that identifies the log.
pub(super) struct Row {
    pub(super) name: String,
    pub(super) value: String,
    /// Title and text of the panel below.
    pub(super) title: String,
    pub(super) about: String,
    /// How often the check was made; `None` for a line that is no check.
    pub(super) count: Option<u64>,
}

/// The audit of a transcript: its progress, then its result.
#[derive(Clone, Debug, Default)]
pub(super) struct RunningAudit {
    /// The transcript.
    pub(super) path: PathBuf,
    progress: AuditProgress,
    done: Option<Box<Audited>>,
    pub(super) failed: Option<String>,
    /// Time since the result is there.
    passed: Duration,
}

impl RunningAudit {
    /// An audit that has not begun, of the transcript at this path.
    pub(super) fn of(path: PathBuf) -> Self {
        Self { path, ..Self::default() }
    }

    /// Whether there is a result.
    pub(super) fn is_done(&self) -> bool {
        self.done.is_some()
    }

    /// Shows all lines as they will be: nobody has to watch.
    pub(super) fn skip(&mut self) {
        self.passed = Duration::MAX;
    }

    /// The number of checks that passed, if the audit is done and found nothing.
    pub(super) fn made(&self) -> Option<usize> {
        let done = self.done.as_ref().filter(|done| done.report.is_fair())?;
        let all = checks(&done.report.tally);
        Some(all.iter().filter(|check| check.count > 0).count())
    }

    pub(super) fn is_refused(&self) -> bool {
        self.done.as_ref().is_some_and(|done| !done.report.is_fair())
    }

    /// How far a line is, in steps of its bar.
    pub(super) fn filled(&self, number: usize) -> usize {
        if self.done.is_none() {
            return BAR * self.progress.done / self.progress.total.max(1);
        }
        let begun = LINE.saturating_mul(u32::try_from(number).unwrap_or(u32::MAX));
        let passed = self.passed.saturating_sub(begun).as_millis();
        usize::try_from(passed * 12 / LINE.as_millis()).unwrap_or(BAR).min(BAR)
    }

    /// Whether all lines that can turn green have done so.
    pub(super) fn is_shown(&self) -> bool {
        let last = self.made().and_then(|made| made.checked_sub(1));
        self.done.is_some() && last.is_none_or(|last| self.filled(last) == BAR)
    }

    pub(super) fn rows(&self) -> Vec<Row> {
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
    pub(super) fn result(&self, context: &Context) -> ((String, Style), Vec<String>) {
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
                let times = extensions_in_words(&done.report, &done.names).join(" ");
                let texts = [meaning, more.to_owned(), times, REPLAY.to_owned()];
                let texts = texts.into_iter().filter(|text| !text.is_empty());
                ((format!("{} {short}", theme.glyph("✓", "+")), theme.good()), texts.collect())
            }
            None => (("Checking".to_owned(), theme.title()), vec![RUNNING.to_owned()]),
        }
    }

    /// The player's own seat, if the game is in the history.
    pub(super) fn me(&self, context: &Context) -> Option<Seat> {
        let past = context.library.past.iter().find(|past| past.path.as_ref() == Some(&self.path))?;
        past.summary()?.me
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
                // The number last: it is right for one and for many.
                (format!("{sign} {}: {}", row.name, row.value), style)
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
