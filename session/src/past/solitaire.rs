//! Statistics of a solitaire: totals of the saved games, and the streak of days on which the daily deal was played.

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use fairdeal_games::calendar::day_number;
use fairdeal_games::counted;

use super::{Past, What};
use crate::past::summary::Ending;

/// Statistics of one solitaire's finished games. Only the first try at each daily deal counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Solitaire {
    /// Number of finished games.
    pub games: usize,
    /// Number of games won.
    pub won: usize,
    /// The highest score.
    pub best: i64,
    /// Sum of all scores.
    pub total: i64,
    /// Number of daily deals played.
    pub days: usize,
    /// Number of daily deals won.
    pub days_won: usize,
    /// Days in a row up to today, or up to yesterday until today's deal is played.
    pub streak: usize,
    /// The longest streak, in days.
    pub longest: usize,
    /// Whether today's deal was played.
    pub played_today: bool,
}

impl Solitaire {
    /// Counts all saved games with that id; `today` is the day in UTC, as `2026-01-31`.
    pub fn of<'a>(past: impl IntoIterator<Item = &'a Past>, game: &str, today: &str) -> Self {
        let mut all = Self::default();
        // The first try of each day: when it was saved, whether it was won, its score.
        let mut days: BTreeMap<i32, (SystemTime, bool, i64)> = BTreeMap::new();
        for past in past {
            let What::Over(summary) = &past.what else {
                continue;
            };
            if summary.game != game || summary.me.is_none() || summary.ending != Ending::Finished {
                continue;
            }
            let won = !summary.winners.is_empty();
            let score = summary.scores.first().copied().unwrap_or(0);
            match summary.day.as_deref().and_then(day_number) {
                None => all.count(won, score),
                Some(day) => {
                    let tried = (past.when, won, score);
                    let first = days.entry(day).or_insert(tried);
                    if tried.0 < first.0 {
                        *first = tried;
                    }
                }
            }
        }
        for (_, won, score) in days.values() {
            all.count(*won, *score);
        }
        all.days = days.len();
        all.days_won = days.values().filter(|(_, won, _)| *won).count();
        let days: BTreeSet<i32> = days.into_keys().collect();
        let run = |last: i32| (0..).take_while(|back| days.contains(&(last - back))).count();
        all.longest = days.iter().map(|day| run(*day)).max().unwrap_or(0);
        if let Some(today) = day_number(today) {
            all.played_today = days.contains(&today);
            all.streak = run(if all.played_today { today } else { today - 1 });
        }
        all
    }

    fn count(&mut self, won: bool, score: i64) {
        self.games += 1;
        self.won += usize::from(won);
        self.best = self.best.max(score);
        self.total = self.total.saturating_add(score);
    }

    /// The statistics in a few sentences; none before the first game.
    pub fn in_words(&self) -> Vec<String> {
        let mut words = Vec::new();
        if let Some(mean) = self.mean() {
            words.push(format!(
                "{} played, {} won; the highest {}, {mean} on average.",
                games(self.games),
                self.won,
                self.best
            ));
        }
        if self.days > 0 {
            words.push(format!(
                "The deal of the day: {} played, {} won; {} in a row, {} at the most.",
                counted(self.days, "day"),
                self.days_won,
                counted(self.streak, "day"),
                self.longest
            ));
        }
        if self.days > 0 && !self.played_today {
            words.push("You have not played today's deal.".to_owned());
        }
        words
    }

    /// The average score, to one decimal.
    fn mean(&self) -> Option<String> {
        let games = i64::try_from(self.games).ok().filter(|games| *games > 0)?;
        let tenths = self.total.saturating_mul(10).saturating_add(games / 2) / games;
        Some(format!("{}.{}", tenths / 10, (tenths % 10).abs()))
    }
}

fn games(count: usize) -> String {
    counted(count, "game")
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use fairdeal_protocol::seat::Seat;

    use super::*;
    use crate::past::summary::Summary;
    use crate::testing::summary;

    const GAME: &str = "ivory-tower";

    fn game(day: Option<&str>, score: i64, kept: u64) -> Past {
        let winners = Seat::new(0).filter(|_| score == 10);
        Past {
            table: String::new(),
            path: None,
            when: UNIX_EPOCH + Duration::from_secs(kept),
            bytes: 0,
            what: What::Over(Summary {
                game: GAME.to_owned(),
                me: Seat::new(0),
                ending: Ending::Finished,
                scores: vec![score],
                winners: winners.into_iter().collect(),
                day: day.map(str::to_owned),
                ..summary()
            }),
        }
    }

    fn of(past: &[Past], today: &str) -> Solitaire {
        Solitaire::of(past, GAME, today)
    }

    #[test]
    fn games_add_up() {
        let mut past = vec![game(None, 10, 1), game(None, 3, 2), game(None, 0, 3)];
        let unfinished = Summary { ending: Ending::Unfinished, ..past[0].summary().unwrap().clone() };
        let watched = Summary { me: None, ..past[0].summary().unwrap().clone() };
        for other in [unfinished, watched, summary()] {
            let what = What::Over(other);
            past.push(Past { what, ..past[0].clone() });
        }
        let all = of(&past, "2026-03-01");
        assert_eq!((all.games, all.won, all.best, all.total), (3, 1, 10, 13));
        assert_eq!(all.in_words(), ["3 games played, 1 won; the highest 10, 4.3 on average."]);
        assert!(of(&[], "2026-03-01").in_words().is_empty());
    }

    #[test]
    fn days_in_a_row_go_over_the_end_of_a_month_and_stop_at_a_gap() {
        let days = ["2024-02-27", "2024-02-28", "2024-02-29", "2024-03-01", "2024-03-03"];
        let past: Vec<Past> = days.map(|day| game(Some(day), 4, 1)).into();
        let streak = |today| {
            let all = of(&past, today);
            (all.streak, all.longest, all.played_today)
        };
        assert_eq!(streak("2024-03-03"), (1, 4, true));
        // A streak lasts until the day is over.
        assert_eq!(streak("2024-03-04"), (1, 4, false));
        assert_eq!(streak("2024-03-05"), (0, 4, false));
        assert_eq!(of(&past[..4], "2024-03-01").streak, 4);
        assert_eq!(of(&past, "no day").streak, 0);
    }

    #[test]
    fn the_first_try_of_a_day_counts() {
        let day = Some("2026-03-01");
        let past = [game(day, 10, 9), game(day, 2, 5), game(day, 10, 7)];
        let all = of(&past, "2026-03-01");
        assert_eq!((all.games, all.days, all.days_won, all.best), (1, 1, 0, 2));
        assert_eq!(all.in_words()[1], "The deal of the day: 1 day played, 0 won; 1 day in a row, 1 at the most.");
    }
}
