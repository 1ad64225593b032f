//! A running audit: each kind of check turns green, and a verdict follows at the end.

use fairdeal_protocol::audit::progress::AuditProgress;
use fairdeal_ui::canvas::{Canvas, Target, wrapped};
use fairdeal_ui::keys::Intent;
use fairdeal_ui::replay::verdict;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};

use super::column;
use crate::tui::event::{Audited, UiEvent};
use crate::tui::screen::{Context, Effect, Request, Requests, Screen};

const CLOSE: Target = Target::Button(0);

#[derive(Debug, Default)]
pub(in crate::tui) struct Audit {
    progress: AuditProgress,
    done: Option<Box<Audited>>,
    failed: Option<String>,
}

impl Audit {
    pub(in crate::tui) fn new() -> Self {
        Self::default()
    }

    fn draw_verdict(&self, canvas: &mut Canvas<'_>, area: Rect) {
        let theme = canvas.theme();
        let width = usize::from(area.width).saturating_sub(2);
        let mut lines: Vec<Line<'_>> = Vec::new();
        match (&self.done, &self.failed) {
            (_, Some(why)) => {
                let rows = wrapped(why, width, 0);
                lines.extend(rows.into_iter().map(|row| Line::styled(format!(" {row}"), theme.bad())));
            }
            (Some(audited), None) => {
                let report = &audited.report;
                match &report.finding {
                    None => {
                        let words = verdict(report, audited.names.len());
                        let sign = theme.glyph("✓", "+");
                        lines.push(Line::styled(format!(" {sign} {words}"), theme.good()));
                        let deals = format!(
                            " {} steps; deals: {}, opened and recomputed: {}",
                            report.steps, report.deals, report.deals_opened
                        );
                        lines.push(Line::raw(deals));
                    }
                    Some(finding) => {
                        let who = finding.seat().and_then(|seat| audited.names.get(seat.index()));
                        let named = who.map_or_else(String::new, |name| format!(" [{name}]"));
                        let sign = theme.glyph("✗", "!");
                        let words = format!("{sign} NOT FAIR: {finding}{named}");
                        let rows = wrapped(&words, width, 2);
                        lines.extend(rows.into_iter().map(|row| Line::styled(format!(" {row}"), theme.bad())));
                    }
                }
                lines.push(Line::styled(format!(" log {}", report.log), theme.accent()));
            }
            (None, None) => lines.push(Line::styled(" reading...", theme.faint())),
        }
        canvas.rows(area, lines);
    }
}

impl Screen for Audit {
    fn name(&self) -> String {
        "audit".to_owned()
    }

    fn draw(&mut self, _context: &Context, canvas: &mut Canvas<'_>, area: Rect) {
        let theme = canvas.theme();
        let page = column(area, 92);
        let [bar, checks, result, foot] = Layout::vertical([
            Constraint::Length(2),
            Constraint::Length(17),
            Constraint::Min(3),
            Constraint::Length(1),
        ])
        .areas(page);
        let AuditProgress { done, total, tally } = self.progress;
        let width = usize::from(bar.width).saturating_sub(24);
        let filled = if self.done.is_some() {
            width
        } else {
            width * done / total.max(1)
        };
        let (full, empty) = (theme.glyph("█", "#"), theme.glyph("░", "."));
        let spans = vec![
            Span::styled(format!(" {}", full.repeat(filled)), theme.good()),
            Span::styled(empty.repeat(width - filled.min(width)), theme.faint()),
            Span::raw(format!(" {done} of {total} entries")),
        ];
        canvas.put(bar, Line::from(spans));
        let inner = canvas.section(checks, "Checks");
        // A count is final only in the report.
        let finished = self.done.as_ref().is_some_and(|audited| audited.report.is_fair());
        let lines = tally.checks().into_iter().map(|(name, count)| {
            let (sign, style) = match (count, finished) {
                (0, true) => (theme.glyph("·", "-"), theme.faint()),
                (0, false) => (" ", theme.faint()),
                _ => (theme.glyph("✓", "+"), theme.good()),
            };
            Line::from(vec![
                Span::styled(format!(" {sign} {count:>7}  "), style),
                Span::raw(name),
            ])
        });
        canvas.rows(inner, lines);
        self.draw_verdict(canvas, result);
        canvas.button((foot.x + 1, foot.y), "Esc", "back", CLOSE);
    }

    fn choose(&mut self, context: &Context, _target: Target, requests: &mut Requests) {
        self.back(context, requests);
    }

    fn intent(&mut self, context: &Context, intent: Intent, requests: &mut Requests) {
        if intent == Intent::Quit {
            self.back(context, requests);
        }
    }

    fn back(&mut self, _context: &Context, requests: &mut Requests) {
        requests.push(Request::Effect(Effect::StopReading));
        requests.push(Request::Leave);
    }

    fn on_event(&mut self, _context: &Context, event: &UiEvent, _wishes: &mut Requests) {
        match event {
            UiEvent::Checking(progress) => self.progress = *progress,
            UiEvent::Audited(audited) => {
                self.progress.tally = audited.report.tally;
                self.progress.done = self.progress.total;
                self.done = Some(audited.clone());
            }
            UiEvent::Failed(why) if self.done.is_none() => self.failed = Some(why.clone()),
            _ => {}
        }
    }
}
