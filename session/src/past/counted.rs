//! The player's own games that count for ratings.

use super::ratings::Ratings;
use super::summary::{SeatResult, Summary};
use super::{Past, What};

/// One of the player's own games that counts for ratings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counted<'a> {
    pub(super) summary: &'a Summary,
    pub(super) mine: &'a SeatResult,
}

/// The player's own games that count for ratings, the oldest first.
pub(super) fn counted_games(past: &[Past]) -> Vec<Counted<'_>> {
    let mut all: Vec<(&Past, Counted<'_>)> = past
        .iter()
        .filter_map(|past| {
            let What::Over(summary) = &past.what else { return None };
            let mine = summary.results.get(summary.me?.index())?;
            Some((past, Counted { summary, mine }))
        })
        .collect();
    all.sort_by(|(one, _), (other, _)| one.when.cmp(&other.when).then_with(|| one.table.cmp(&other.table)));
    all.into_iter().map(|(_, game)| game).collect()
}

/// The player's rating in a game, under the key of the newest one.
pub(super) fn own_rating(ratings: &Ratings, games: &[Counted<'_>], id: &str) -> Option<String> {
    let newest = games.iter().rev().find(|game| game.summary.game == id)?;
    Some(ratings.get(id, &newest.mine.player)?.in_words())
}
