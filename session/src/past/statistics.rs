//! A player's statistics of all games: games played and won, the best result, the rating, and the streak of daily deals.

use fairdeal_games::{GAMES, GameInfo, counted};

use super::counted::{counted_games, own_rating};
use super::solitaire::Solitaire;
use super::{Past, What};
use crate::past::ratings::Ratings;
use crate::past::summary::Ending;

/// The statistics of one game's finished games.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statistics {
    /// The game's name.
    pub game: &'static str,
    pub played: usize,
    pub won: usize,
    /// The player's highest score.
    pub best: i64,
    /// The player's rating with its deviation, from finished games for several seats; as in `1571 ± 98`.
    pub rating: Option<String>,
    /// Finished games for several seats that do not count for ratings.
    pub unrated: usize,
    /// The streak of daily deals in words, if the game has them and one was played.
    pub streak: Option<String>,
}

/// The statistics of every game that was played, in the order of [`GAMES`]. `today` is the day in UTC, as `2026-01-31`.
pub fn statistics(past: &[Past], today: &str) -> Vec<Statistics> {
    let games = counted_games(past);
    let ratings = Ratings::of(games.iter().map(|game| game.summary));
    let each =
        GAMES.iter().map(|info| Statistics { rating: own_rating(&ratings, &games, info.id), ..of(info, past, today) });
    each.filter(|all| all.played > 0).collect()
}

fn of(info: &GameInfo, past: &[Past], today: &str) -> Statistics {
    let mut all =
        Statistics { game: info.name, played: 0, won: 0, best: i64::MIN, rating: None, unrated: 0, streak: None };
    if info.most_seats == 1 {
        let solitaire = Solitaire::of(past, info.id, today);
        let streak = || {
            let days = counted(solitaire.streak, "day");
            format!("daily: {days} in a row, {} at most", solitaire.longest)
        };
        return Statistics {
            played: solitaire.games,
            won: solitaire.won,
            best: solitaire.best,
            streak: (solitaire.days > 0).then(streak),
            ..all
        };
    }
    for past in past {
        let What::Over(summary) = &past.what else { continue };
        let Some(me) = summary.me.filter(|_| summary.game == info.id && summary.ending == Ending::Finished) else {
            continue;
        };
        all.played += 1;
        all.won += usize::from(summary.winners.contains(&me));
        all.unrated += usize::from(summary.why_finished_is_unrated().is_some());
        all.best = all.best.max(summary.scores.get(me.index()).copied().unwrap_or(i64::MIN));
    }
    all
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use fairdeal_protocol::seat::Seat;

    use super::*;
    use crate::past::summary::Summary;
    use crate::testing::summary;

    fn game(game: &str, scores: &[i64], winner: usize, me: Option<usize>) -> Past {
        Past {
            table: String::new(),
            path: None,
            when: UNIX_EPOCH,
            bytes: 0,
            what: What::Over(Summary {
                game: game.to_owned(),
                me: me.and_then(Seat::new),
                ending: Ending::Finished,
                scores: scores.to_vec(),
                winners: Seat::new(winner).into_iter().collect(),
                day: (game == "ivory-tower").then(|| "2026-03-01".to_owned()),
                ..summary()
            }),
        }
    }

    #[test]
    fn own_finished_games_count() {
        let past = [
            game("loot", &[112, 104], 0, Some(0)),
            game("loot", &[125, 95], 0, Some(1)),
            game("loot", &[300, 1], 0, None),
            game("ivory-tower", &[10], 0, Some(0)),
        ];
        let all = statistics(&past, "2026-03-02");
        let short: Vec<_> = all.iter().map(|all| (all.game, all.played, all.won, all.best)).collect();
        assert_eq!(short, [("Loot", 2, 1, 112), ("Ivory Tower", 1, 1, 10)]);
        assert_eq!(all[0].streak, None);
        assert_eq!(all[1].streak.as_deref(), Some("daily: 1 day in a row, 1 at most"));
        assert!(statistics(&[], "2026-03-02").is_empty());
    }

    #[test]
    fn results_are_told_from_the_players_side() {
        let told = |past: &Past| past.result();
        assert_eq!(told(&game("loot", &[112, 110, 58], 0, Some(0))), "won 112 : 110 : 58");
        assert_eq!(told(&game("loot", &[58, 110, 112], 2, Some(1))), "lost 110 : 58 : 112");
        assert_eq!(told(&game("loot", &[58, 110], 1, None)), "B\u{e9}la won 110 : 58");
        assert_eq!(told(&game("ivory-tower", &[10], 0, Some(0))), "won, 10 points");
        assert_eq!(told(&game("ivory-tower", &[1], 5, Some(0))), "1 point");
    }
}
