//! Past games, as the history lists them: their results, statistics, opponents and ratings.

mod counted;
pub mod opponents;
pub mod ratings;
pub mod solitaire;
pub mod statistics;
pub mod summary;

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use fairdeal_games::calendar::day_number;
use fairdeal_games::counted;

use self::summary::{Ending, Summary};

/// The state of a past game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// The game is over, and has a summary.
    Over(Summary),
    /// A saved game, for `fairdeal resume`; its scores are unknown.
    Waits(Summary),
    /// The game is in play, here or in another program.
    Open(Summary),
    /// No summary yet: the transcript has to be audited.
    Unread,
    /// The file is unreadable; holds the reason.
    Unreadable(String),
}

/// A past game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Past {
    /// The table id in lower-case hexadecimal.
    pub table: String,
    /// The transcript; `None` for a saved game.
    pub path: Option<PathBuf>,
    /// When its file was last written.
    pub when: SystemTime,
    /// Size of the transcript in bytes.
    pub bytes: u64,
    pub what: What,
}

impl Past {
    /// The summary, if known.
    pub fn summary(&self) -> Option<&Summary> {
        match &self.what {
            What::Over(summary) | What::Waits(summary) | What::Open(summary) => Some(summary),
            What::Unread | What::Unreadable(_) => None,
        }
    }

    /// The date and time of the file in UTC, as `2026-01-31 09:05`.
    pub fn date(&self) -> String {
        let since = self.when.duration_since(UNIX_EPOCH).unwrap_or_default();
        let seconds = i64::try_from(since.as_secs()).unwrap_or(i64::MAX);
        let date = time::OffsetDateTime::from_unix_timestamp(seconds).unwrap_or(time::OffsetDateTime::UNIX_EPOCH);
        let (year, month, day) = date.to_calendar_date();
        let (month, hour, minute) = (u8::from(month), date.hour(), date.minute());
        format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}")
    }

    /// The day of the file in UTC, as "today", "yesterday", "3 days ago" or `2026-01-31`; `today` is such a date.
    pub fn day_in_words(&self, today: &str) -> String {
        let date = self.date();
        let day = date.split(' ').next().unwrap_or_default();
        let ago = day_number(today).zip(day_number(day)).map(|(today, day)| today - day);
        match ago {
            Some(0) => "today".to_owned(),
            Some(1) => "yesterday".to_owned(),
            Some(days @ 2..7) => format!("{days} days ago"),
            _ => day.to_owned(),
        }
    }

    /// The result from the player's side, such as "won 112 : 110"; else the state in a few words.
    pub fn result(&self) -> String {
        let summary = match &self.what {
            What::Over(summary) if summary.ending == Ending::Finished => summary,
            What::Waits(_) => return "paused".to_owned(),
            What::Open(_) => return "being played".to_owned(),
            _ => return self.in_words(),
        };
        let first = summary.me.or(summary.winners.first().copied());
        let own = first.and_then(|seat| summary.scores.get(seat.index()));
        let won = first.is_some_and(|seat| summary.winners.contains(&seat));
        let (Some(first), Some(own)) = (first, own) else {
            return self.in_words();
        };
        if summary.scores.len() == 1 {
            let points = usize::try_from(*own).map_or_else(|_| own.to_string(), |own| counted(own, "point"));
            return if won { format!("won, {points}") } else { points };
        }
        let others = summary.scores.iter().zip(0..).filter(|(_, seat)| *seat != first.index());
        // In the order of the names.
        let others = others.map(|(score, _)| *score);
        let scores: Vec<String> = std::iter::once(*own).chain(others).map(|score| score.to_string()).collect();
        let scores = scores.join(" : ");
        match (won, summary.me) {
            (_, None) => format!("{} won {scores}", summary.name(first)),
            (true, _) if summary.winners.len() > 1 => format!("shared {scores}"),
            (true, _) => format!("won {scores}"),
            (false, _) => format!("lost {scores}"),
        }
    }

    /// The state in a few words.
    pub fn in_words(&self) -> String {
        let words = match &self.what {
            What::Over(summary) => return summary.ended(),
            What::Waits(_) => "waits: fairdeal resume",
            What::Open(_) => "open in another program",
            What::Unread => "reading...",
            What::Unreadable(_) => "unreadable",
        };
        words.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_date_is_written_for_every_time_that_a_file_can_have() {
        let dated = |when| Past { table: String::new(), path: None, when, bytes: 0, what: What::Unread };
        let day = UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        assert_eq!(dated(day).date(), "2023-11-14 22:13");
        let told = |today| dated(day).day_in_words(today);
        let todays = ["2023-11-14", "2023-11-15", "2023-11-17", "2023-12-01", "no day"];
        assert_eq!(todays.map(told), ["today", "yesterday", "3 days ago", "2023-11-14", "2023-11-14"]);
        let before = UNIX_EPOCH - Duration::from_secs(5);
        assert_eq!(dated(before).date(), "1970-01-01 00:00");
        // Not every system can represent such a time.
        let far = UNIX_EPOCH.checked_add(Duration::from_secs(1 << 60));
        assert_eq!(dated(far.unwrap_or(UNIX_EPOCH)).date(), "1970-01-01 00:00");
    }
}
