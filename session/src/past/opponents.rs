//! A player's results by game, number of seats and opponent, with everybody's ratings. All of it follows from the summaries
//! of past games.

use std::collections::BTreeMap;

use fairdeal_games::GAMES;

use super::Past;
use super::counted::{Counted, counted_games, own_rating};
use crate::past::ratings::Ratings;
use crate::past::summary::Player;

/// The player's results against everybody in one game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Results {
    /// The game's name.
    pub game: &'static str,
    /// The player's rating with its deviation.
    pub rating: Option<String>,
    /// By number of seats.
    pub tables: BTreeMap<usize, Tables>,
    /// The most frequent first.
    pub opponents: Vec<Opponent>,
}

/// Tables of one size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tables {
    pub played: usize,
    pub won: usize,
}

/// Another player, or all local bots of a level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opponent {
    /// With the first digits of the key, and the level of a bot.
    pub name: String,
    /// The tables played together.
    pub met: usize,
    /// The tables at which the player had a better place; with several bots of a level, than all of them.
    pub ahead: usize,
    /// Its rating with its deviation.
    pub rating: String,
}

/// The player's finished games with others that do not count for ratings.
pub fn unrated(past: &[Past]) -> usize {
    let own = past.iter().filter_map(Past::summary).filter(|summary| summary.me.is_some());
    own.filter(|summary| summary.why_finished_is_unrated().is_some()).count()
}

/// The results in every game that was played to its end with others, in the order of [`GAMES`].
pub fn results(past: &[Past]) -> Vec<Results> {
    let games = counted_games(past);
    let ratings = Ratings::of(games.iter().map(|game| game.summary));
    let each = GAMES.iter().map(|info| {
        let mut tables: BTreeMap<usize, Tables> = BTreeMap::new();
        let mut met: BTreeMap<&Player, (usize, usize)> = BTreeMap::new();
        for Counted { summary, mine } in games.iter().filter(|game| game.summary.game == info.id) {
            let size = tables.entry(summary.results.len()).or_default();
            size.played += 1;
            size.won += usize::from(summary.me.is_some_and(|me| summary.winners.contains(&me)));
            let mut best: BTreeMap<&Player, u8> = BTreeMap::new();
            for other in summary.results.iter().filter(|other| other.player != mine.player) {
                let place = best.entry(&other.player).or_insert(u8::MAX);
                *place = other.place.min(*place);
            }
            for (player, place) in best {
                let (count, ahead) = met.entry(player).or_default();
                *count += 1;
                *ahead += usize::from(mine.place < place);
            }
        }
        let mut opponents: Vec<Opponent> = met
            .into_iter()
            .filter_map(|(player, (met, ahead))| {
                let rated = ratings.get(info.id, player)?;
                Some(Opponent { name: rated.full_name(), met, ahead, rating: rated.in_words() })
            })
            .collect();
        opponents.sort_by(|one, other| other.met.cmp(&one.met).then_with(|| one.name.cmp(&other.name)));
        Results { game: info.name, rating: own_rating(&ratings, &games, info.id), tables, opponents }
    });
    each.filter(|results| !results.tables.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use fairdeal_protocol::seat::Seat;

    use super::*;
    use crate::past::What;
    use crate::past::statistics::statistics;
    use crate::past::summary::Unrated;
    use crate::testing::past;

    #[test]
    fn results_are_counted_by_seats_and_opponents() {
        let games = [
            past(&[("me", 1), ("b", 2)], 3),
            past(&[("me", 2), ("b", 1)], 2),
            past(&[("me", 1), ("normal", 2), ("normal", 3)], 1),
            past(&[("me", 2), ("normal", 3), ("normal", 1)], 4),
        ];
        let all = results(&games);
        let [loot] = all.as_slice() else { panic!("{all:?}") };
        let tables: Vec<_> = loot.tables.iter().map(|(seats, all)| (*seats, all.played, all.won)).collect();
        assert_eq!(tables, [(2, 2, 1), (3, 2, 1)]);
        let met = loot.opponents.iter().map(|one| (one.name.as_str(), one.met, one.ahead));
        assert_eq!(met.collect::<Vec<_>>(), [("name of b (b)", 2, 1), ("normal bots", 2, 1)]);
        let own = statistics(&games, "2026-03-02");
        assert_eq!((own[0].played, own[0].won, &own[0].rating), (4, 2, &loot.rating));
        assert!(loot.rating.is_some());
        // The order in which they are listed does not matter, only when they ended.
        let mut turned = games.to_vec();
        turned.reverse();
        assert_eq!(results(&turned), all);
    }

    #[test]
    fn games_that_do_not_count_have_no_results() {
        let mut watched = past(&[("a", 1), ("b", 2)], 1);
        let What::Over(summary) = &mut watched.what else { unreachable!() };
        summary.me = None;
        let mut unsigned = past(&[("a", 1), ("b", 2)], 1);
        let What::Over(summary) = &mut unsigned.what else { unreachable!() };
        summary.results.clear();
        summary.unrated = Some(Unrated::ByWord { seats: vec![Seat::new(1).unwrap()] });
        assert!(results(&[watched.clone(), unsigned.clone()]).is_empty());
        assert_eq!(super::unrated(&[watched, unsigned.clone()]), 1);
        assert_eq!(statistics(std::slice::from_ref(&unsigned), "2026-03-02")[0].unrated, 1);
        assert_eq!(statistics(&[unsigned], "2026-03-02")[0].rating, None);
    }
}
