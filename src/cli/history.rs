//! `fairdeal history`: past games and saved games, as a table or as JSON lines.

use std::ops::ControlFlow;

use fairdeal_games::GAMES;
use unicode_width::UnicodeWidthStr as _;

use super::args::Common;
use super::exit::Exit;
use super::output::print;
use crate::drive::saved::SHORT;
use crate::events::results::Ended;
use crate::events::{HistoryLine, SeatNumber, Version, path_text};
use crate::history::{Past, What, history as past_games, read};
use crate::store::{DataDir, DataView};
use crate::summary::{Ending, Summary};

pub(super) fn history(common: &Common, json: bool) -> anyhow::Result<Exit> {
    let data = DataView::of(common.data_dir.as_deref())?;
    let mut all = past_games(&data);
    // Save new summaries for the next time, if nobody else plays here and the directory is writable.
    let unread = all.iter().any(|past| past.what == What::Unread);
    let keep = unread.then(|| DataDir::open(Some(data.path())).ok()).flatten();
    let read = |past: &mut Past| read(past, &data, keep.as_ref(), &mut |_| ControlFlow::Continue(()));
    list(&mut all, json, read, |text| print(text.as_bytes()))?;
    Ok(Exit::Done)
}

/// Tells each game as soon as it is read: an audit takes a while, and the newest games are read first.
fn list(
    all: &mut [Past],
    json: bool,
    mut read: impl FnMut(&mut Past),
    mut tell: impl FnMut(&str) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    if json {
        for past in all {
            read(past);
            tell(&format!("{}\n", serde_json::to_string(&line(past))?))?;
        }
        return Ok(());
    }
    if all.is_empty() {
        return tell("No past games yet.\n");
    }
    let head = HEAD.map(str::to_owned);
    let widths = widths(&head, all);
    tell(&padded(&head, widths))?;
    for past in all {
        read(past);
        tell(&padded(&row(past), widths))?;
    }
    Ok(())
}

const HEAD: [&str; 5] = ["date (UTC)", "table", "game", "ended", "players"];

fn row(past: &Past) -> [String; 5] {
    let summary = past.summary();
    let game = summary.map_or_else(|| "-".to_owned(), |summary| summary.terms().in_short());
    let players = match (&past.what, summary) {
        (What::Unreadable(why), _) => why.clone(),
        (_, Some(summary)) => players(summary),
        _ => String::new(),
    };
    [past.date(), past.table.chars().take(SHORT).collect(), game, ended(past), players]
}

/// The widths of all columns but the last, which is not padded. Games that are not read yet have the usual ones.
fn widths(head: &[String; 5], all: &[Past]) -> [usize; 4] {
    let is_unread = |past: &&Past| past.what == What::Unread;
    let mut rows: Vec<[String; 5]> = all.iter().filter(|past| !is_unread(past)).map(row).collect();
    rows.extend(all.iter().filter(is_unread).take(1).map(|past| {
        let [date, table, ..] = row(past);
        let longest = GAMES.iter().map(|info| info.name).max_by_key(|name| name.len()).unwrap_or_default();
        [date, table, longest.to_owned(), "unfinished".to_owned(), String::new()]
    }));
    rows.push(head.clone());
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.width()).max();
    std::array::from_fn(|column| width(column).unwrap_or(0))
}

fn padded(row: &[String; 5], widths: [usize; 4]) -> String {
    let mut text = String::new();
    for (place, cell) in row.iter().enumerate() {
        text.push_str(cell);
        if let Some(width) = widths.get(place) {
            text.push_str(&" ".repeat(width - cell.width().min(*width) + 2));
        }
    }
    text.push('\n');
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

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use fairdeal_session::testing::past;

    use super::*;

    /// Sixty unread games take half a minute; the first one is on the screen at once.
    #[test]
    fn each_game_is_told_before_the_next_is_read() {
        for json in [false, true] {
            let unread = |table: &str, seconds| Past {
                table: table.repeat(8),
                what: What::Unread,
                ..past(&[("Anna", 1), ("Ben", 2)], seconds)
            };
            let mut all = [unread("aa", 20), unread("bb", 10)];
            let order = RefCell::new(Vec::new());
            let read = |game: &mut Past| {
                order.borrow_mut().push(format!("read {}", &game.table[..2]));
                game.what = past(&[("Anna", 1), ("Ben", 2)], 0).what;
            };
            let tell = |text: &str| {
                let what = ["aa", "bb", "date"].into_iter().find(|what| text.contains(what)).unwrap();
                order.borrow_mut().push(format!("tell {what}"));
                Ok(())
            };
            list(&mut all, json, read, tell).unwrap();
            let mut wanted = vec!["read aa", "tell aa", "read bb", "tell bb"];
            if !json {
                wanted.insert(0, "tell date");
            }
            assert_eq!(order.into_inner(), wanted);
        }
    }
}
