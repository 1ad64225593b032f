//! `fairdeal history`: past games and saved games, as a table or as JSON lines.

use std::ops::ControlFlow;

use unicode_width::UnicodeWidthStr as _;

use super::args::Common;
use super::exit::Exit;
use super::output::print;
use crate::events::results::Ended;
use crate::events::{HistoryLine, SeatNumber, Version, path_text};
use crate::history::{Past, What, history as past_games, read};
use crate::store::{DataDir, DataView};
use crate::summary::{Ending, Summary};

/// The number of digits shown of a table id; `export` and `resume` accept that many.
pub(super) const SHORT: usize = 8;

pub(super) fn history(common: &Common, json: bool) -> anyhow::Result<Exit> {
    let data = DataView::of(common.data_dir.as_deref())?;
    let mut all = past_games(&data);
    // Save new summaries for the next time, if nobody else plays here and the directory is writable.
    let unread = all.iter().any(|past| past.what == What::Unread);
    let keep = unread.then(|| DataDir::open(Some(data.path())).ok()).flatten();
    for past in &mut all {
        read(past, &data, keep.as_ref(), &mut |_| ControlFlow::Continue(()));
    }
    let text = if json {
        let lines = all.iter().map(|past| Ok(format!("{}\n", serde_json::to_string(&line(past))?)));
        lines.collect::<serde_json::Result<String>>()?
    } else if all.is_empty() {
        "No past games yet.\n".to_owned()
    } else {
        table(&all)
    };
    print(text.as_bytes())?;
    Ok(Exit::Done)
}

/// The games as a table; the last column, the players, is not padded.
fn table(all: &[Past]) -> String {
    let head = ["date (UTC)", "table", "game", "ended", "players"];
    let mut rows = vec![head.map(str::to_owned)];
    rows.extend(all.iter().map(|past| {
        let summary = past.summary();
        let game = summary.map_or_else(|| "-".to_owned(), |summary| summary.terms().in_short());
        let players = match (&past.what, summary) {
            (What::Unreadable(why), _) => why.clone(),
            (_, Some(summary)) => players(summary),
            _ => String::new(),
        };
        [past.date(), past.table.chars().take(SHORT).collect(), game, ended(past), players]
    }));
    let widths: Vec<usize> = (0..head.len() - 1)
        .map(|column| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.width()).max().unwrap_or(0)
        })
        .collect();
    let mut text = String::new();
    for row in &rows {
        for (place, cell) in row.iter().enumerate() {
            text.push_str(cell);
            if let Some(width) = widths.get(place) {
                text.push_str(&" ".repeat(width - cell.width().min(*width) + 2));
            }
        }
        text.push('\n');
    }
    text
}

/// How it ended, and whether a game that is over for its players is not rated.
fn ended(past: &Past) -> String {
    let words = past.in_words();
    let Some(summary) = past.summary() else { return words };
    match (&summary.ending, summary.why_finished_is_unrated()) {
        (Ending::Claimed { .. }, _) => format!("{words}, not rated"),
        (_, Some(why)) => format!("{words}, not rated: {why}"),
        (_, None) => words,
    }
}

/// The players and scores: `Anna 104 (won, you), Béla 87`.
fn players(summary: &Summary) -> String {
    let seats = fairdeal_protocol::seat::Seat::first(summary.players.len());
    let each = seats.zip(&summary.players).map(|(seat, name)| {
        let score = summary.scores.get(seat.index()).map_or_else(String::new, |score| format!(" {score}"));
        let notes = [summary.winners.contains(&seat).then_some("won"), (summary.me == Some(seat)).then_some("you")];
        let notes: Vec<&str> = notes.into_iter().flatten().collect();
        if notes.is_empty() { format!("{name}{score}") } else { format!("{name}{score} ({})", notes.join(", ")) }
    });
    each.collect::<Vec<_>>().join(", ")
}

fn line(past: &Past) -> HistoryLine {
    let ended = match &past.what {
        What::Over(summary) => match summary.ending {
            Ending::Finished => Ended::Finished,
            Ending::Unfinished => Ended::Unfinished,
            Ending::Claimed { .. } => Ended::Claimed,
            Ending::Forfeited { .. } => Ended::Forfeited,
            Ending::Unfair { .. } => Ended::Unfair,
        },
        What::Waits(_) => Ended::Waits,
        What::Open(_) => Ended::Open,
        What::Unread => Ended::Unread,
        What::Unreadable(_) => Ended::Unreadable,
    };
    let why = match &past.what {
        What::Unreadable(why) => Some(why),
        What::Over(Summary { ending: Ending::Unfair { why }, .. }) => Some(why),
        _ => None,
    };
    let summary = past.summary();
    let forfeited_by = summary.and_then(|summary| match summary.ending {
        Ending::Forfeited { by } => Some(by.into()),
        _ => None,
    });
    let winners = |summary: &Summary| summary.winners.iter().copied().map(SeatNumber::from).collect();
    // The log of an unfinished game can still grow.
    let has_ended = matches!(past.what, What::Over(_));
    HistoryLine {
        v: Version,
        table: past.table.clone(),
        date: past.date(),
        game: summary.map(|summary| summary.game.clone()),
        options: summary.map(|summary| summary.options.iter().cloned().collect()),
        day: summary.and_then(|summary| summary.day.clone()),
        players: summary.map(|summary| summary.players.clone()),
        me: summary.and_then(|summary| summary.me).map(SeatNumber::from),
        ended,
        why: why.cloned(),
        forfeited_by,
        unrated: match &past.what {
            What::Over(summary) => summary.why_unrated_in_words(),
            _ => None,
        },
        scores: summary.map(|summary| summary.scores.clone()),
        winners: summary.map(winners),
        log: summary.filter(|_| has_ended).map(|summary| summary.log.clone()),
        bytes: past.bytes,
        transcript: past.path.as_deref().map(path_text),
    }
}
