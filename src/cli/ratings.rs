//! `fairdeal ratings`: audits transcripts and prints a table of ratings for each game.
//!
//! A transcript has no time that its seats have signed. Games are rated in the order of their log hashes, so the same
//! transcripts give the same table, whatever their files are called.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use fairdeal_games::{GAMES, counted};
use fairdeal_protocol::hash::Hash32;
use fairdeal_session::past::ratings::{Rated, Ratings};
use unicode_width::UnicodeWidthStr as _;

use super::args::{Common, Ratings as RatingsArgs};
use super::exit::Exit;
use super::output::{complain, print, remark};
use crate::events::results::RatedPlayer;
use crate::events::{RatingsLine, Version};
use crate::store::{DataView, read_transcript, transcripts_in};
use crate::summary::{Ending, Player, Summary};

/// The audit of a file.
enum Judged {
    Unreadable(String),
    Audited {
        table: Hash32,
        summary: Box<Summary>,
        /// Why the game does not count for ratings.
        unrated: Option<String>,
    },
}

pub(super) fn ratings(common: &Common, args: &RatingsArgs) -> anyhow::Result<Exit> {
    let mut exit = Exit::Done;
    let mut files = Vec::new();
    if args.paths.is_empty() {
        let own = DataView::of(common.data_dir.as_deref())?.transcripts()?;
        files.extend(own.into_iter().map(|file| file.path));
    }
    for path in &args.paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        match transcripts_in(path) {
            Ok(found) if found.is_empty() => complain(format!("{}: no transcripts (*.fairdeal)", path.display())),
            Ok(found) => files.extend(found),
            Err(error) => {
                complain(error);
                exit = Exit::Usage;
            }
        }
    }
    if files.len() > 1 && std::io::stderr().is_terminal() {
        remark(format!("Auditing {}...", counted(files.len(), "transcript")));
    }
    let judged = judge_all(&files);
    let mut is_unfair = false;
    let mut tables: BTreeMap<Hash32, &Summary> = BTreeMap::new();
    for (_, judged) in &judged {
        let Judged::Audited { table, summary, unrated } = judged else {
            exit = Exit::Usage;
            continue;
        };
        is_unfair |= is_not_fair(summary);
        if unrated.is_none() {
            let known = tables.entry(*table).or_insert(summary);
            // Two logs of one table: all files together decide, not their order. One that was cut after the end may
            // lack a fault.
            let rank = |one: &Summary| (one.ending != Ending::Finished, one.log.clone());
            if rank(summary) < rank(known) {
                *known = summary;
            }
        }
    }
    for (path, judged) in &judged {
        if let Some(why) = complaint(judged, &tables) {
            complain(format!("{}: {why}", path.display()));
        }
    }
    let mut games: Vec<&Summary> = tables.into_values().collect();
    games.sort_by(|one, other| one.log.cmp(&other.log));
    let ratings = Ratings::of(games.iter().copied());
    let mut text = String::new();
    for info in GAMES {
        let table = ratings.table(info.id);
        let rated = games.iter().filter(|summary| summary.game == info.id).count();
        match (args.json, table.is_empty()) {
            (_, true) => {}
            (true, _) => text += &(serde_json::to_string(&line(info.id, rated, &table))? + "\n"),
            (false, _) => in_words(&mut text, info.name, rated, &table),
        }
    }
    if text.is_empty() && !args.json {
        text.push_str("No rated games.\n");
    }
    print(text.as_bytes())?;
    Ok(if is_unfair { Exit::Failed } else { exit })
}

/// Audits files on all cores. The results are in the order of the files.
fn judge_all(files: &[PathBuf]) -> Vec<(&PathBuf, Judged)> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(path) = files.get(number) else { return };
            let judged = judge(path);
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            done.insert(number, (path, judged));
        }
    };
    thread::scope(|scope| {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        for _ in 1..cores.min(files.len()) {
            scope.spawn(work);
        }
        work();
    });
    let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.into_values().collect()
}

fn judge(path: &Path) -> Judged {
    let transcript = match read_transcript(path) {
        Ok(transcript) => Arc::new(transcript),
        Err(error) => return Judged::Unreadable(error.to_string()),
    };
    match Summary::audit(&transcript, None, &mut |_| ControlFlow::Continue(())) {
        Ok(Some(summary)) => Judged::Audited {
            table: transcript.charter().table(),
            unrated: summary.why_unrated_in_words(),
            summary: Box::new(summary),
        },
        Ok(None) => Judged::Unreadable("the audit was cancelled".to_owned()),
        Err(error) => Judged::Unreadable(error.to_string()),
    }
}

fn is_not_fair(summary: &Summary) -> bool {
    matches!(summary.ending, Ending::Unfair { .. } | Ending::Forfeited { .. })
}

/// Why a file is not rated; `None` if its table is, by this file or another.
fn complaint(judged: &Judged, tables: &BTreeMap<Hash32, &Summary>) -> Option<String> {
    let (table, summary, unrated) = match judged {
        Judged::Unreadable(why) => return Some(why.clone()),
        Judged::Audited { table, summary, unrated } => (table, summary, unrated.as_ref()?),
    };
    match &summary.ending {
        Ending::Unfair { why } => Some(format!("NOT FAIR: {why}")),
        Ending::Forfeited { .. } => Some(format!("NOT FAIR: {}", summary.ended())),
        _ if tables.contains_key(table) => None,
        _ => Some(format!("not rated: {unrated}")),
    }
}

fn in_words(text: &mut String, game: &str, rated: usize, table: &[(usize, &Rated)]) {
    if !text.is_empty() {
        text.push('\n');
    }
    let _ = writeln!(text, "{game}: {}", counted(rated, "game"));
    let names: Vec<String> = table.iter().map(|(_, rated)| rated.full_name()).collect();
    let widest = names.iter().map(|name| name.width()).max().unwrap_or(0).max("player".len());
    let mut row = |place: &str, name: &str, games: &str, won: &str, rating: &str| {
        let room = " ".repeat(widest.saturating_sub(name.width()));
        let _ = writeln!(text, "{place:>5}  {name}{room}  {games:>5}  {won:>5}  {rating:>13}");
    };
    row("place", "player", "games", "won", "rating");
    for ((place, rated), name) in table.iter().zip(&names) {
        let (games, won) = (rated.games.to_string(), rated.won.to_string());
        row(&place.to_string(), name, &games, &won, &rated.in_words());
    }
    if table.iter().any(|(_, rated)| rated.is_provisional()) {
        let _ = writeln!(text, "?: provisional, from fewer than five games");
    }
}

fn line(game: &str, tables: usize, table: &[(usize, &Rated)]) -> RatingsLine {
    let players = table.iter().map(|(place, rated)| RatedPlayer {
        place: *place,
        name: rated.name.clone(),
        key: match &rated.player {
            Player::Key(key) => Some(key.clone()),
            Player::LocalBots(_) => None,
        },
        bot: rated.bot.clone(),
        games: rated.games,
        won: rated.won,
        rating: hundredths(rated.rating()),
        deviation: hundredths(rated.deviation()),
    });
    RatingsLine { v: Version, game: game.to_owned(), tables, players: players.collect() }
}

/// To two decimals: the last bits of logarithms differ between machines.
fn hundredths(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}
