//! Past games and saved games.

use fairdeal_ui::canvas::{Canvas, Target, wrapped};
use fairdeal_ui::keys::Intent;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};

use super::audit::Audit;
use super::replay::ReplayScreen;
use super::table::TableScreen;
use super::{column, first_shown, row};
use crate::history::{Past, What};
use crate::tui::screen::{Context, Effect, Request, Requests, Screen};

const AUDIT: Target = Target::Button(0);

#[derive(Debug, Default)]
pub(in crate::tui) struct History {
    /// Index of the chosen game.
    chosen: usize,
}

/// A game in one line: date, game and players; then how it ended.
fn in_a_line(past: &Past) -> (String, String) {
    let date = past.date();
    match &past.what {
        What::Over(summary) | What::Waits(summary) | What::Open(summary) => {
            let words = format!("{date}  {}: {}", summary.game_name(), summary.players.join(", "));
            (words, past.in_words())
        }
        What::Unread => (format!("{date}  {}", short(&past.table)), "reading...".to_owned()),
        What::Unreadable(_) => (format!("{date}  {}", short(&past.table)), "unreadable".to_owned()),
    }
}

fn short(table: &str) -> &str {
    table.get(..8).unwrap_or(table)
}

impl History {
    fn past<'w>(&self, context: &'w Context) -> Option<&'w Past> {
        context.library.past.get(self.chosen)
    }

    fn draw_about(&self, context: &Context, canvas: &mut Canvas<'_>, area: Rect) {
        let theme = canvas.theme();
        let Some(past) = self.past(context) else {
            return;
        };
        let inner = canvas.section(area, "The game");
        let mut lines = Vec::new();
        match &past.what {
            What::Over(summary) => {
                let winners: Vec<String> = summary.winners.iter().map(|seat| summary.name(*seat)).collect();
                let scores: Vec<String> = summary
                    .players
                    .iter()
                    .zip(&summary.scores)
                    .map(|(name, score)| format!("{name} {score}"))
                    .collect();
                let won = if winners.is_empty() {
                    "no winner".to_owned()
                } else {
                    format!("won by {}", fairdeal_games::listed(&winners))
                };
                lines.push(Line::styled(format!(" {}; {won}", scores.join(", ")), theme.title()));
                lines.push(Line::styled(format!(" log {}", summary.log), theme.faint()));
            }
            What::Waits(_) => lines.push(Line::raw(" You can resume it.")),
            What::Open(_) => lines.push(Line::raw(" It is being played now.")),
            What::Unread => {}
            What::Unreadable(why) => {
                let rows = wrapped(why, usize::from(inner.width).saturating_sub(2), 0);
                lines.extend(rows.into_iter().map(|row| Line::styled(format!(" {row}"), theme.bad())));
            }
        }
        canvas.rows(inner, lines);
        let y = inner.bottom().saturating_sub(1);
        let words = match past.what {
            What::Waits(_) => "resume",
            _ => "replay",
        };
        let spans = vec![
            Span::raw(" ["),
            Span::styled("Enter", theme.key()),
            Span::raw(format!(" {words}]")),
        ];
        let line = Line::from(spans);
        let x = inner.x + u16::try_from(line.width()).unwrap_or(0) + 1;
        canvas.put(Rect { y, height: 1, ..inner }, line);
        if past.path.is_some() {
            canvas.button((x, y), "a", "audit every shuffle", AUDIT);
        }
    }

    fn audit(&self, context: &Context, requests: &mut Requests) {
        if let Some(path) = self.past(context).and_then(|past| past.path.clone()) {
            requests.push(Request::Effect(Effect::Audit(path)));
            requests.push(Request::Push(Box::new(Audit::new())));
        }
    }
}

impl Screen for History {
    fn name(&self) -> String {
        "history".to_owned()
    }

    fn draw(&mut self, context: &Context, canvas: &mut Canvas<'_>, area: Rect) {
        let theme = canvas.theme();
        let page = column(area, 110);
        let [list, about] = Layout::vertical([Constraint::Min(3), Constraint::Length(6)]).areas(page);
        let all = &context.library.past;
        let inner = canvas.section(list, &format!("{} games", all.len()));
        if all.is_empty() {
            canvas.put(inner, Line::styled("   Your past games appear here.", theme.faint()));
            return;
        }
        self.chosen = self.chosen.min(all.len() - 1);
        let rows = usize::from(inner.height);
        let first = first_shown(self.chosen, rows, all.len());
        for ((y, past), number) in (inner.y..inner.bottom()).zip(all.iter().skip(first)).zip(first..) {
            let (words, more) = in_a_line(past);
            let at = Rect { y, height: 1, ..inner };
            row(canvas, at, Target::Row(number), (&words, theme.text()), &more);
        }
        self.draw_about(context, canvas, about);
    }

    fn choose(&mut self, context: &Context, target: Target, requests: &mut Requests) {
        if target == AUDIT {
            return self.audit(context, requests);
        }
        let Some(past) = self.past(context) else {
            return;
        };
        match (&past.what, &past.path) {
            (What::Waits(_), _) => {
                requests.push(Request::Effect(Effect::Resume(past.table.clone())));
                requests.push(Request::Replace(Box::new(TableScreen::new("resuming", false))));
            }
            (_, Some(path)) => {
                requests.push(Request::Effect(Effect::Replay(path.clone())));
                requests.push(Request::Push(Box::new(ReplayScreen::new())));
            }
            _ => {}
        }
    }

    fn intent(&mut self, context: &Context, intent: Intent, requests: &mut Requests) {
        let last = context.library.past.len().saturating_sub(1);
        let to = match intent {
            Intent::Up => self.chosen.saturating_sub(1),
            Intent::Down => self.chosen + 1,
            Intent::PageUp => self.chosen.saturating_sub(10),
            Intent::PageDown => self.chosen + 10,
            Intent::First => 0,
            Intent::Last => last,
            Intent::Quit => return requests.push(Request::Leave),
            _ => return,
        };
        self.chosen = to.min(last);
        requests.push(Request::Focus(Target::Row(self.chosen)));
    }

    /// Up and down select a game, including those outside the visible rows.
    fn steers(&self, intent: Intent) -> bool {
        matches!(intent, Intent::Up | Intent::Down | Intent::First | Intent::Last)
    }

    fn letter(&mut self, context: &Context, letter: char, requests: &mut Requests) -> bool {
        if letter == 'a' {
            self.audit(context, requests);
        }
        letter == 'a'
    }

    fn focused(&mut self, target: Option<Target>) {
        if let Some(Target::Row(number)) = target {
            self.chosen = number;
        }
    }

    fn first_focus(&self, _layer: &fairdeal_ui::canvas::Layer) -> Option<Target> {
        Some(Target::Row(self.chosen))
    }

    fn keys(&self, _context: &Context) -> Vec<(String, String)> {
        vec![("a".to_owned(), "audit this game".to_owned())]
    }

    fn commands(&self, _context: &Context) -> Vec<(String, Target)> {
        vec![("audit this game".to_owned(), AUDIT)]
    }
}
