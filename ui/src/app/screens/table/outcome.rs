//! The end of a game: who won, by how much, and what comes next.

use fairdeal_games::{AnyGame, listed};
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use super::{Outcome, TableScreen, button};
use crate::app::screen::Context;
use crate::app::shell::window;
use crate::canvas::{Canvas, Target, fit, wrapped};
use crate::tables::ViewContext;
use crate::widgets::{banner, bar};
use fairdeal_session::past::solitaire::Solitaire;
use fairdeal_session::past::summary::departed_from;
use fairdeal_session::view::Snapshot;

/// The most columns of the sheet's text.
const COLUMNS: usize = 72;
/// Rows of the sheet round its text: its frame, its buttons and a blank row.
const FRAME: usize = 5;
/// From so many rows on, the sheet has a banner, and blank rows between bars.
const ROOMY: u16 = 24;
/// Shown if the transcript could not be written.
const UNSAVED: &str = "The game is not saved yet: fairdeal resume saves it once there is room.";

/// Each seat's largest gain of points at once.
#[derive(Debug, Default)]
pub(super) struct Gains(Vec<i64>);

impl Gains {
    /// Compares the scores before and after.
    pub(super) fn note(&mut self, before: &[i64], after: &[i64]) {
        self.0.resize(after.len().max(self.0.len()), 0);
        for (most, (before, after)) in self.0.iter_mut().zip(before.iter().zip(after)) {
            *most = (*most).max(after.saturating_sub(*before));
        }
    }

    /// The largest gain of all, if it stands out: the seat and its points.
    pub(super) fn largest(&self) -> Option<(usize, i64)> {
        let gains = self.0.iter().copied().enumerate().filter(|(_, points)| *points > 0);
        gains.max_by_key(|(_, points)| *points).filter(|_| self.0.len() > 1)
    }
}

pub(super) fn who_wins(names: &[String]) -> String {
    match names {
        [] => "Nobody wins.".to_owned(),
        [one] => format!("{one} wins."),
        several => format!("{} win together.", listed(several)),
    }
}

/// The winners and everybody's points, as sentences.
pub(super) fn in_words(game: &AnyGame, view: &ViewContext<'_>) -> Vec<String> {
    let winners: Vec<String> = game.winners().iter().map(|seat| view.name(seat).to_owned()).collect();
    let scores = game.scores();
    let points: Vec<String> =
        Seat::first(scores.len()).zip(&scores).map(|(seat, score)| format!("{} {score}", view.name(seat))).collect();
    vec![who_wins(&winners), format!("{}.", points.join(", "))]
}

/// A choice after the end: key, label and target.
type Choice = (String, String, Target);

/// Where the players can go from here.
pub(super) fn ways_on(table_screen: &TableScreen) -> impl Iterator<Item = Choice> {
    let ending = &table_screen.ending;
    let follows = ending.invitation.as_ref().filter(|_| table_screen.may_follow());
    let again = match follows {
        Some((name, _)) => Some(("r".to_owned(), format!("follow {name}"), button::FOLLOW)),
        None => table_screen.may_rematch().then(|| ("r".to_owned(), "rematch".to_owned(), button::REMATCH)),
    };
    let review = table_screen.may_review().map(|_| ("w".to_owned(), "review".to_owned(), button::REVIEW));
    again.into_iter().chain(review)
}

/// The uses of the game that is over.
pub(super) fn keepsakes(table_screen: &TableScreen, context: &Context) -> impl Iterator<Item = Choice> {
    let outcome = table_screen.ending.outcome.as_ref();
    let share = outcome.map(|_| ("y".to_owned(), "copy".to_owned(), button::SHARE));
    let saved = outcome.is_some_and(|outcome| outcome.transcript.is_some());
    let audit = saved.then(|| ("a".to_owned(), "audit".to_owned(), button::AUDIT));
    // A program without a page inside has none to put the game into.
    let page = (saved && (context.is_page || context.serves_page))
        .then(|| ("b".to_owned(), "save as a web page".to_owned(), button::PAGE));
    audit.into_iter().chain(share).chain(page)
}

/// Lines on the game's fairness, as the audit goes on.
fn fairness(
    table_screen: &TableScreen,
    context: &Context,
    snapshot: &Snapshot,
    outcome: &Outcome,
    (columns, room): (usize, usize),
) -> Vec<Line<'static>> {
    let theme = &context.theme;
    let said = |words: String| wrapped(&words, columns, 0).into_iter().map(Line::raw).collect::<Vec<_>>();
    let sealed = theme.glyph("◈", "#");
    match (&table_screen.ending.audit, &outcome.transcript) {
        _ if table_screen.is_practice() => said("Practice: nothing was sealed, and nothing is saved.".to_owned()),
        (_, None) => said(UNSAVED.to_owned()),
        (None, Some(_)) if snapshot.game.seals_cards() => {
            said(format!("{sealed} sealed: the audit computes every shuffle again"))
        }
        (None, Some(_)) => said(format!("{sealed} sealed: the audit computes every draw again")),
        (Some(audit), Some(_)) => {
            let mut lines = audit.in_short(context, columns, room.saturating_sub(1));
            let kept = if context.is_page {
                "The game is here until you close this page: save it with b."
            } else {
                "The game is saved, and stays in the history."
            };
            lines.push(Line::styled(kept, theme.faint()));
            lines
        }
    }
}

/// The players who left before the end, or were removed, as a sentence.
fn departed_in_words(table_screen: &TableScreen, snapshot: &Snapshot) -> Option<String> {
    let gone: Vec<String> = departed_from(&snapshot.game).iter().map(|seat| table_screen.name_of(seat)).collect();
    (!gone.is_empty()).then(|| format!("{} did not play to the end.", listed(&gone)))
}

/// The result sheet: the winner, the ranking with bars, and what can be done next.
pub(super) fn draw(table_screen: &TableScreen, context: &Context, snapshot: &Snapshot, canvas: &mut Canvas<'_>) {
    let theme = canvas.theme();
    let Some(outcome) = &table_screen.ending.outcome else {
        return;
    };
    let mut ranking: Vec<(&String, i64)> = table_screen.names.iter().zip(outcome.scores.iter().copied()).collect();
    ranking.sort_by_key(|(name, score)| std::cmp::Reverse((outcome.winners.contains(name), *score)));
    let columns = COLUMNS.min(usize::from(canvas.area().width).saturating_sub(6));
    let is_roomy = canvas.area().height >= ROOMY;
    let most = ranking.iter().map(|(_, score)| *score).max().unwrap_or(0).max(1);
    let name_columns = ranking.iter().map(|(name, _)| name.width()).max().unwrap_or(0).min(24);
    let so_far = match table_screen.names.len() {
        1 => Solitaire::of(&context.library.past, snapshot.game.info().id, &context.today).in_words(),
        _ => Vec::new(),
    };
    let mut lines = vec![Line::default()];
    let large = match outcome.winners.as_slice() {
        [one] if table_screen.names.len() > 1 && is_roomy => banner(one, 68, theme),
        _ => None,
    };
    match large {
        Some(rows) => {
            lines.extend(rows.map(|row| Line::styled(row, theme.accent())));
            lines.push(Line::styled("wins", theme.good()));
        }
        None => lines.push(Line::styled(who_wins(&outcome.winners), theme.good())),
    }
    lines.push(Line::default());
    let has_bars = most > 1;
    for (name, score) in ranking {
        let mut spans =
            vec![Span::styled(format!("{score:>6}  "), theme.title()), Span::raw(fit(name, name_columns + 2))];
        if has_bars {
            spans.extend(bar(score, most, 24, theme));
        }
        lines.push(Line::from(spans));
        if has_bars && is_roomy {
            // Bars that touch would be one block.
            lines.push(Line::default());
        }
    }
    lines.push(Line::default());
    let largest = table_screen.ending.gains.largest().filter(|_| has_bars);
    let decided = largest.and_then(|(seat, points)| {
        let name = table_screen.names.get(seat)?;
        Some(format!("The largest gain at once: {name}, +{points}."))
    });
    let left = departed_in_words(table_screen, snapshot);
    let notes: Vec<&String> = left.iter().chain(&decided).chain(&so_far).collect();
    let has_notes = !notes.is_empty();
    lines.extend(notes.into_iter().flat_map(|words| wrapped(words, columns, 0)).map(Line::raw));
    if has_notes {
        lines.push(Line::default());
    }
    let room = usize::from(canvas.area().height).saturating_sub(lines.len() + FRAME);
    lines.extend(fairness(table_screen, context, snapshot, outcome, (columns, room)));
    let rows = u16::try_from(lines.len()).unwrap_or(u16::MAX).saturating_add(5);
    let inner = window(canvas, "The game is over", 76, rows);
    let text = inner.inner(ratatui::layout::Margin::new(1, 0));
    // The last two rows are the buttons'.
    canvas.rows(Rect { height: text.height.saturating_sub(2), ..text }, lines);
    let quit = crate::keys::Intent::Quit;
    let table = ("Enter".to_owned(), "table".to_owned(), button::CLOSE);
    let leave = (context.keymap.key(quit), "leave".to_owned(), Target::Key(quit));
    let below: Vec<Choice> = std::iter::once(table).chain(ways_on(table_screen)).chain([leave]).collect();
    // The lower row first, because the first target gets the focus: Enter shows the table.
    for (from_below, choices) in [(1, below), (2, keepsakes(table_screen, context).collect())] {
        let mut x = text.x;
        for (key, label, target) in choices {
            x = canvas.button((x, inner.bottom().saturating_sub(from_below)), &key, &label, target);
        }
    }
}
