//! Ratings of players and bots in each game, from results that every seat has signed.
//!
//! The rating is Weng and Lin's Bayesian approximation for the Bradley-Terry model (JMLR 12, 2011), also known as
//! OpenSkill: it takes places with ties for any number of seats (docs/decisions/0015-signed-results.md). Games are rated one
//! after another, so their order matters; the caller chooses it.

use std::collections::BTreeMap;

use skillratings::MultiTeamOutcome;
use skillratings::weng_lin::{WengLinConfig, WengLinRating, weng_lin_multi_team};

use crate::past::summary::{Player, SeatResult, Summary};

/// Every rating begins here, on the scale that players know from Elo ratings.
const START: f64 = 1500.0;
/// The model's mean before the first game.
const MEAN: f64 = 25.0;
/// Points a unit of the model: 400 points are odds of ten to one between two players whose ratings are settled. The model
/// gives odds of `exp(d / c)` for a difference `d`, with `c = √2 β` and `β = 25/6`, so this is `400 / (c ln 10)`.
const POINTS: f64 = 400.0 * 6.0 / (25.0 * std::f64::consts::SQRT_2 * std::f64::consts::LN_10);
/// A rating from fewer games is provisional.
const SETTLED: u32 = 5;

/// How many deviations below its rating a player is placed: who has played little must not lead.
const CAUTION: f64 = 3.0;

/// Digits shown of a key.
const DIGITS: usize = 8;

/// A player's rating in one game.
#[derive(Clone, Debug, PartialEq)]
pub struct Rated {
    pub player: Player,
    /// The name in the last of its games; `normal bots` and the like for local bots.
    pub name: String,
    /// The level, if its program declared a bot in the last of its games.
    pub bot: Option<String>,
    /// Games played. For local bots every seat counts as a game.
    pub games: u32,
    pub won: u32,
    rating: WengLinRating,
}

impl Rated {
    fn new(result: &SeatResult) -> Self {
        Self {
            player: result.player.clone(),
            name: String::new(),
            bot: None,
            games: 0,
            won: 0,
            rating: WengLinRating::new(),
        }
    }

    /// The rating; 1500 before the first game. Of two players 120 apart, the better one wins two games of three.
    pub fn rating(&self) -> f64 {
        (self.rating.rating - MEAN).mul_add(POINTS, START)
    }

    /// The standard deviation of the rating; 245.7 before the first game.
    pub fn deviation(&self) -> f64 {
        self.rating.uncertainty * POINTS
    }

    /// Whether the rating rests on fewer than five games.
    pub fn is_provisional(&self) -> bool {
        self.games < SETTLED
    }

    /// The name with the key's first digits and the level: `Anna (1a2b3c4d)`, `Ada (5e6f7a8b), bot (sharp)`,
    /// `normal bots`.
    pub fn full_name(&self) -> String {
        let key = match &self.player {
            Player::Key(key) => key.get(..DIGITS).unwrap_or(key),
            Player::LocalBots(_) => return self.name.clone(),
        };
        match &self.bot {
            None => format!("{} ({key})", self.name),
            Some(level) => format!("{} ({key}), bot ({level})", self.name),
        }
    }

    /// The rating and its deviation, as `1571 ± 98`, with a question mark while it is provisional.
    pub fn in_words(&self) -> String {
        let sign = if self.is_provisional() { " ?" } else { "" };
        format!("{:.0} ± {:.0}{sign}", self.rating(), self.deviation())
    }

    fn cautious(&self) -> f64 {
        CAUTION.mul_add(-self.deviation(), self.rating())
    }
}

/// The ratings of all players in all games.
#[derive(Clone, Debug, Default)]
pub struct Ratings(BTreeMap<String, BTreeMap<Player, Rated>>);

impl Ratings {
    /// Rates games in the given order. Skips those that do not count for ratings.
    pub fn of<'a>(games: impl IntoIterator<Item = &'a Summary>) -> Self {
        let mut all = Self::default();
        for game in games {
            all.add(game);
        }
        all
    }

    fn add(&mut self, game: &Summary) {
        if game.results.is_empty() {
            return;
        }
        let players = self.0.entry(game.game.clone()).or_default();
        let before: Vec<[WengLinRating; 1]> = game
            .results
            .iter()
            .map(|result| players.get(&result.player).map_or_else(WengLinRating::new, |rated| rated.rating))
            .map(|rating| [rating])
            .collect();
        let outcomes = game.results.iter().map(|result| MultiTeamOutcome::new(usize::from(result.place)));
        let teams: Vec<_> = before.iter().map(<[_; 1]>::as_slice).zip(outcomes).collect();
        let after = weng_lin_multi_team(&teams, &WengLinConfig::new());
        // Several local bots of one level are one player, whose new rating is the mean of theirs.
        let mut sums: BTreeMap<&Player, (f64, f64, f64)> = BTreeMap::new();
        for (result, rating) in game.results.iter().zip(after.iter().flatten()) {
            let (seats, sum, deviations) = sums.entry(&result.player).or_default();
            *seats += 1.0;
            *sum += rating.rating;
            *deviations += rating.uncertainty;
        }
        for (seat, result) in game.results.iter().enumerate() {
            let rated = players.entry(result.player.clone()).or_insert_with(|| Rated::new(result));
            rated.games += 1;
            // A winner with a proven fault is last.
            let won = result.place == 1 && game.winners.iter().any(|winner| winner.index() == seat);
            rated.won += u32::from(won);
            rated.bot.clone_from(&result.bot);
            rated.name = match &result.player {
                Player::Key(_) => result.name.clone(),
                Player::LocalBots(level) => format!("{level} bots"),
            };
            if let Some((seats, sum, deviations)) = sums.get(&result.player) {
                rated.rating = WengLinRating { rating: sum / seats, uncertainty: deviations / seats };
            }
        }
    }

    /// The players of a game with their places from 1, by their ratings less three deviations.
    pub fn table(&self, game: &str) -> Vec<(usize, &Rated)> {
        let mut all: Vec<&Rated> = self.0.get(game).into_iter().flat_map(BTreeMap::values).collect();
        all.sort_by(|one, other| other.cautious().total_cmp(&one.cautious()));
        let place = |rated: &Rated| all.partition_point(|other| other.cautious() > rated.cautious()) + 1;
        all.iter().map(|rated| (place(rated), *rated)).collect()
    }

    /// A player's rating in a game.
    pub fn get(&self, game: &str, player: &Player) -> Option<&Rated> {
        self.0.get(game)?.get(player)
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::testing::{game, summary};

    fn rows(ratings: &Ratings) -> Vec<(usize, String, u32, u32)> {
        let table = ratings.table("loot").into_iter();
        let key = |player: &Player| match player {
            Player::Key(key) | Player::LocalBots(key) => key.clone(),
        };
        table.map(|(place, rated)| (place, key(&rated.player), rated.games, rated.won)).collect()
    }

    #[test]
    fn winners_rise_and_losers_fall() {
        let ratings = Ratings::of(&[game(&[("a", 1), ("b", 2), ("c", 3)]), game(&[("b", 2), ("a", 1)])]);
        let expected = [(1, "a", 2, 2), (2, "b", 2, 0), (3, "c", 1, 0)];
        assert_eq!(rows(&ratings), expected.map(|(place, key, games, won)| (place, key.to_owned(), games, won)));
        let rating = |key: &str| ratings.get("loot", &Player::Key(key.to_owned())).unwrap();
        assert!(rating("a").rating() > 1500.0 && rating("c").rating() < 1500.0);
        assert!(rating("a").deviation() < rating("c").deviation() && rating("c").deviation() < 245.7);
        assert_eq!(rating("a").full_name(), "name of a (a)");
    }

    #[test]
    fn equal_results_share_places_and_keep_ratings() {
        let ratings = Ratings::of(&[game(&[("a", 1), ("b", 1)])]);
        let places: Vec<usize> = ratings.table("loot").iter().map(|(place, _)| *place).collect();
        assert_eq!(places, [1, 1]);
        assert!(ratings.table("loot").iter().all(|(_, rated)| (rated.rating() - 1500.0).abs() < 1e-9));
    }

    #[test]
    fn local_bots_of_one_level_are_one_player() {
        let ratings = Ratings::of(&[game(&[("a", 1), ("normal", 2), ("normal", 3)])]);
        let expected = [(1, "a", 1, 1), (2, "normal", 2, 0)];
        assert_eq!(rows(&ratings), expected.map(|(place, key, games, won)| (place, key.to_owned(), games, won)));
        let bots = ratings.get("loot", &Player::LocalBots("normal".to_owned())).unwrap();
        assert!(bots.rating() < 1500.0);
        assert_eq!(bots.full_name(), "normal bots");
    }

    #[test]
    fn four_hundred_points_are_ten_to_one() {
        let apart = 400.0 / POINTS;
        let odds = (apart / (25.0 / 6.0 * std::f64::consts::SQRT_2)).exp();
        assert!((odds - 10.0).abs() < 1e-9);
        let one = Ratings::of(&[game(&[("a", 1), ("b", 2)])]);
        let rated = one.get("loot", &Player::Key("a".to_owned())).unwrap();
        assert!(rated.is_provisional() && rated.in_words().ends_with(" ?"), "{}", rated.in_words());
        let five = Ratings::of(&vec![game(&[("a", 1), ("b", 2)]); 5]);
        assert!(!five.get("loot", &Player::Key("a".to_owned())).unwrap().is_provisional());
    }

    #[test]
    fn games_that_do_not_count_are_skipped() {
        let ratings = Ratings::of(&[summary()]);
        assert!(ratings.table("loot").is_empty());
    }
}
