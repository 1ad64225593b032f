//! Past games and saved games: statistics, the list with results, and the chosen game.

use std::path::PathBuf;

use fairdeal_games::{counted, listed};
use fairdeal_protocol::seat::Seat;
use ratatui::layout::{Constraint, Layout, Margin, Rect};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use super::audit::Audit;
use super::list::ListState;
use super::opponents::Opponents;
use super::replay::ReplayScreen;
use super::review::Review;
use super::table::TableScreen;
use super::table::choosing::sentence;
use super::{arrows, column, keys_below, paragraph, row};
use crate::app::screen::{Context, Cx, Effect, FocusPolicy, Handled, Question, Screen, ScreenInput};
use crate::canvas::{Canvas, Layer, Target};
use fairdeal_session::past::statistics::{Statistics, statistics};
use fairdeal_session::past::summary::{Ending, Summary};
use fairdeal_session::past::{Past, What};

const AUDIT: Target = Target::Button(0);
/// Replays or resumes the chosen game.
const OPEN: Target = Target::Button(1);
const REVIEW: Target = Target::Button(2);
const OPPONENTS: Target = Target::Button(3);
const GIVE_UP: Target = Target::Button(4);

/// The list of past and saved games.
#[derive(Debug, Default)]
pub struct History {
    list: ListState,
    /// The saved game that the player has been asked about.
    asked: Option<String>,
}

/// Width of the day.
const DAY: usize = 13;
/// Width of a game's name.
const GAME: usize = 17;

/// A game in one line, in so many columns; names only as far as they fit.
fn in_a_line(past: &Past, today: &str, width: usize) -> String {
    let day = past.day_in_words(today);
    let Some(summary) = past.summary() else {
        let table = past.table.get(..8).unwrap_or(&past.table);
        return format!("{day:<DAY$}table {table}");
    };
    let words = format!("{day:<DAY$}{:<GAME$}", summary.game_name());
    let others = summary.others();
    let with = match (others.is_empty(), summary.terms().deal_in_words()) {
        (true, Some(deal)) => deal,
        (true, None) => "alone".to_owned(),
        (false, _) => format!("with {}", listed(&others)),
    };
    if words.width() + with.width() <= width { words + &with } else { words }
}

/// Draws the statistics of all games as a table.
fn draw_statistics(all: &[Statistics], canvas: &mut Canvas<'_>, area: Rect) {
    let theme = canvas.theme();
    let inner = canvas.panel(area, "Your games");
    let is_rated = all.iter().any(|all| all.rating.is_some());
    let rating = if is_rated { "rating" } else { "" };
    let head = format!("{:GAME$}{:>7}{:>6}{:>7}{rating:>14}", "", "played", "won", "best").trim_end().to_owned();
    let mut lines = vec![Line::styled(head, theme.faint())];
    lines.extend(all.iter().map(|all| {
        let rating = all
            .rating
            .as_ref()
            .map(|rating| rating.replace('±', theme.glyph("±", "~")))
            .map_or_else(String::new, |rating| format!("{rating:>14}"));
        let numbers = format!("{:<GAME$}{:>7}{:>6}{:>7}{rating}", all.game, all.played, all.won, all.best);
        let unrated = (all.unrated > 0).then(|| format!("{} not rated", all.unrated));
        let note = all.streak.clone().or(unrated).map_or_else(String::new, |note| format!("   {note}"));
        let room = usize::from(inner.width).saturating_sub(numbers.width());
        let note = if note.width() <= room { note } else { String::new() };
        Line::from(vec![Span::raw(numbers), Span::styled(note, theme.accent())])
    }));
    canvas.rows(inner, lines);
}

/// The transcript and seat of a finished game to look back at; `None` for solitaires and spectators.
fn may_review(past: &Past) -> Option<(PathBuf, Seat)> {
    let What::Over(summary) = &past.what else { return None };
    let finished = summary.ending == Ending::Finished && summary.players.len() > 1;
    Some((past.path.clone()?, summary.me.filter(|_| finished)?))
}

impl History {
    fn past<'w>(&self, context: &'w Context) -> Option<&'w Past> {
        context.library.past.get(self.list.chosen())
    }

    fn draw_about(&self, context: &Context, canvas: &mut Canvas<'_>, area: Rect) {
        let theme = canvas.theme();
        let Some(past) = self.past(context) else {
            return;
        };
        let title = past.summary().map_or("This game", Summary::game_name);
        let inner = canvas.panel(area, title);
        let (words, style) = match &past.what {
            What::Over(summary) => {
                let scores: Vec<String> = summary
                    .players
                    .iter()
                    .zip(&summary.scores)
                    .map(|(name, score)| format!("{name} {score}"))
                    .collect();
                let winners: Vec<String> = summary.winners.iter().map(|seat| summary.name(*seat)).collect();
                let won = if winners.is_empty() { summary.ended() } else { format!("won by {}", listed(&winners)) };
                let terms = summary.terms();
                let played = terms.deal_in_words().map_or_else(|| terms.options_in_words(), |deal| sentence(&deal));
                let unrated =
                    summary.why_finished_is_unrated().map_or_else(String::new, |why| format!(" Not rated: {why}."));
                (format!("{}: {won}. {} UTC. {played}{unrated}", scores.join(", "), past.date()), theme.ink())
            }
            What::Waits(summary) => {
                let others = summary.others();
                let with = if others.is_empty() { String::new() } else { format!(", with {}", listed(&others)) };
                (format!("Paused{with}. You can resume it."), theme.ink())
            }
            What::Open(_) => ("It is being played now.".to_owned(), theme.ink()),
            What::Unread => ("This file is being read.".to_owned(), theme.ink()),
            What::Unreadable(why) => (why.clone(), theme.bad()),
        };
        paragraph(canvas, inner, Line::styled(words, style));
        let y = inner.bottom().saturating_sub(1);
        let words = match past.what {
            What::Waits(_) => "resume",
            _ => "replay",
        };
        let mut x = canvas.button((inner.x, y), "Enter", words, OPEN);
        if past.path.is_some() {
            x = canvas.button((x, y), "a", "audit every shuffle", AUDIT);
        }
        if matches!(past.what, What::Waits(_)) {
            canvas.button((x, y), "x", "give up", GIVE_UP);
        }
        if may_review(past).is_some() {
            x = canvas.button((x, y), "w", "review", REVIEW);
            canvas.button((x, y), "o", "opponents", OPPONENTS);
        }
    }

    fn review(&self, cx: &mut Cx<'_>) {
        if let Some((path, me)) = self.past(cx.context).and_then(may_review) {
            cx.effect(Effect::Review(path, me));
            cx.push(Review::of(me));
        }
    }

    fn audit(&self, cx: &mut Cx<'_>) {
        if let Some(path) = self.past(cx.context).and_then(|past| past.path.clone()) {
            cx.effect(Effect::Audit(path.clone()));
            cx.push(Audit::of(path));
        }
    }

    /// Asks whether to give up the chosen game, if it is a saved one.
    fn ask_to_give_up(&mut self, cx: &mut Cx<'_>) {
        let Some(Past { table, what: What::Waits(summary), .. }) = self.past(cx.context) else {
            return;
        };
        let others = summary.others();
        let with = if others.is_empty() { String::new() } else { format!(" with {}", listed(&others)) };
        self.asked = Some(table.clone());
        cx.ask(Question {
            text: format!(
                "Give up {}{with}? It leaves the list, and you cannot come back to that table. Its file is kept in the \
                 folder given-up of your data directory.",
                summary.game_name()
            ),
            answers: vec![('y', "yes, give up".to_owned(), String::new())],
        });
    }

    /// Carries out a button, or opens the chosen game.
    fn choose(&mut self, cx: &mut Cx<'_>, target: Target) {
        match target {
            AUDIT => return self.audit(cx),
            REVIEW => return self.review(cx),
            OPPONENTS => return cx.push(Opponents::default()),
            GIVE_UP => return self.ask_to_give_up(cx),
            _ => {}
        }
        let Some(past) = self.past(cx.context) else {
            return;
        };
        match (&past.what, &past.path) {
            (What::Waits(_), _) => {
                cx.effect(Effect::Resume(past.table.clone()));
                cx.replace(TableScreen::new("resuming", false));
            }
            (_, Some(path)) => {
                cx.effect(Effect::Replay(path.clone()));
                cx.push(ReplayScreen::seen_by(past.summary().and_then(|summary| summary.me)));
            }
            _ => {}
        }
    }
}

impl Screen for History {
    fn name(&self) -> String {
        "history".to_owned()
    }

    fn draw(&mut self, context: &Context, canvas: &mut Canvas<'_>, area: Rect) {
        let theme = canvas.theme();
        let page = column(area.inner(Margin::new(2, 1)), 110);
        let all = &context.library.past;
        if all.is_empty() {
            let words = "Your games will appear here, with their results: play one, then come back.";
            keys_below(canvas, area, context, Vec::new());
            return paragraph(canvas, page, words);
        }
        let known = statistics(all, &context.today);
        let tall = u16::try_from(known.len()).unwrap_or(u16::MAX).saturating_add(3);
        // On a small screen the list goes first.
        let has_room = !known.is_empty() && page.height >= tall.saturating_add(11);
        let [numbers, list, about] = Layout::vertical([
            Constraint::Length(if has_room { tall } else { 0 }),
            Constraint::Min(3),
            Constraint::Length(5),
        ])
        .spacing(1)
        .areas(page);
        let list = if has_room {
            draw_statistics(&known, canvas, numbers);
            list
        } else {
            Rect { y: page.y, height: list.bottom().saturating_sub(page.y), ..list }
        };
        let inner = canvas.section(list, &counted(all.len(), "game"));
        self.list.keep_within(all.len());
        let rows = usize::from(inner.height);
        let first = self.list.first_shown(rows, all.len());
        for ((y, past), number) in (inner.y..inner.bottom()).zip(all.iter().skip(first)).zip(first..) {
            let at = Rect { y, height: 1, ..inner };
            let result = past.result();
            let room = usize::from(at.width).saturating_sub(result.width() + 6);
            let words = in_a_line(past, &context.today, room);
            row(canvas, at, Target::Row(number), (&words, theme.text()), "");
            let style = match &past.what {
                What::Over(summary) if summary.me.is_some_and(|me| summary.winners.contains(&me)) => theme.good(),
                What::Over(_) | What::Open(_) | What::Unread => theme.text(),
                What::Waits(_) => theme.accent(),
                What::Unreadable(_) => theme.bad(),
            };
            let [_, right] = Layout::horizontal([
                Constraint::Min(0),
                Constraint::Length(u16::try_from(result.width() + 1).unwrap_or(u16::MAX)),
            ])
            .areas(at);
            canvas.put(right, Line::styled(result, style));
        }
        self.draw_about(context, canvas, about);
        keys_below(canvas, area, context, vec![arrows(theme, "choose")]);
    }

    fn focus(&self, layer: &Layer) -> FocusPolicy {
        self.list.focus(layer)
    }

    fn input(&mut self, cx: &mut Cx<'_>, input: ScreenInput<'_>) -> Handled {
        match input {
            ScreenInput::Choose(target) => self.choose(cx, target),
            ScreenInput::Letter('a') => self.audit(cx),
            ScreenInput::Letter('w') => self.review(cx),
            ScreenInput::Letter('o') => cx.push(Opponents::default()),
            ScreenInput::Letter('x') => self.ask_to_give_up(cx),
            ScreenInput::Answer(0) => {
                if let Some(table) = self.asked.take() {
                    cx.effect(Effect::GiveUp(table));
                }
            }
            _ => return self.list.input(cx, input, cx.context.library.past.len()),
        }
        Handled::Yes
    }

    fn keys(&self, _context: &Context) -> Vec<(String, String)> {
        vec![
            ("a".to_owned(), "audit this game".to_owned()),
            ("w".to_owned(), "what the sharp bot would have done".to_owned()),
            ("o".to_owned(), "results and ratings by opponent".to_owned()),
            ("x".to_owned(), "give up a saved game".to_owned()),
        ]
    }

    fn commands(&self, _context: &Context) -> Vec<(String, Target)> {
        vec![
            ("audit this game".to_owned(), AUDIT),
            ("what the sharp bot would have done".to_owned(), REVIEW),
            ("results and ratings by opponent".to_owned(), OPPONENTS),
            ("give up a saved game".to_owned(), GIVE_UP),
        ]
    }
}
