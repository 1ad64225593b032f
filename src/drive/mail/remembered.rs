//! Which letters wait where, since when and until when, as the last visit has left it: for the player's eyes. A point can
//! lie about it.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use fairdeal_peers::mail::Subject;
use fairdeal_protocol::seat::Seat;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use crate::drive::letters::WhoseTurn;
use crate::store::{DataDir, DataView, StoreError};

/// Seconds of a day.
const DAY: u64 = 24 * 3600;

/// All tables, by their ids.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remembered {
    pub tables: BTreeMap<String, TableMail>,
}

/// The letters of one table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableMail {
    /// The names in seat order, cleaned for display.
    pub names: Vec<String>,
    /// The journal from which the letters were written, as the system knows its file.
    pub journal: Option<String>,
    /// Whether a letter has come, or has waited at a point: the table plays by mail.
    pub by_mail: bool,
    /// For whom the table waits, by that journal.
    pub turn: Option<WhoseTurn>,
    pub readers: Vec<ReaderMail>,
}

/// The letter for one reader. Times are seconds of Unix time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReaderMail {
    pub seat: Seat,
    pub subject: Subject,
    /// Whether the reader has shown that it lacks nothing: then no letter has to wait.
    pub covered: bool,
    pub since: u64,
    pub until: u64,
    /// How many points keep it, of how many.
    pub at: usize,
    pub of: usize,
    /// Why one of them does not.
    pub why: Option<String>,
}

/// Now, in seconds of Unix time.
pub(super) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

impl Remembered {
    /// The state that the last visit has left; nothing if nobody knows.
    pub fn of(data: &DataView) -> Self {
        serde_json::from_slice(&data.mail()).unwrap_or_default()
    }

    pub(super) fn save(&self, data: &DataDir) -> Result<(), StoreError> {
        data.save_mail(&serde_json::to_vec_pretty(self).unwrap_or_default())
    }
}

impl TableMail {
    /// Whether every reader has shown that it lacks nothing.
    pub(super) fn is_covered(&self) -> bool {
        !self.readers.is_empty() && self.readers.iter().all(|reader| reader.covered)
    }

    /// Since when the oldest letter waits: "Monday".
    pub fn since_in_words(&self) -> Option<String> {
        let waiting = self.readers.iter().filter(|reader| !reader.covered && reader.at > 0);
        waiting.map(|reader| reader.since).min().map(|since| since_in_words(since, now()))
    }

    /// A sentence for each reader who lacks something. At a table that does not play by mail nobody waits for letters.
    pub fn in_words(&self) -> Vec<String> {
        if self.by_mail { self.in_words_at(now()) } else { Vec::new() }
    }

    /// The same, for a player who wants to play by mail.
    pub fn in_words_for_all(&self) -> Vec<String> {
        self.in_words_at(now())
    }

    fn in_words_at(&self, now: u64) -> Vec<String> {
        // Whoever has the end of a game may have no box any more.
        let is_over = self.turn == Some(WhoseTurn::Over);
        let is_told = |reader: &&ReaderMail| if reader.at == 0 { !is_over } else { reader.until > now };
        let lacking = self.readers.iter().filter(|reader| !reader.covered).filter(is_told);
        let told = lacking.map(|reader| {
            let name = self.names.get(reader.seat.index()).map_or("", String::as_str);
            let ReaderMail { at, of, since, until, .. } = reader;
            if *at == 0 {
                let why = reader.why.as_deref().unwrap_or("no point answers");
                return format!("No point keeps a letter for {name}: {why}.");
            }
            let (since, until) = (since_in_words(*since, now), date_in_words(*until));
            let points = if *of == 1 { "your meeting point".to_owned() } else { format!("{at} of {of} points") };
            let why = reader.why.as_ref().map_or_else(String::new, |why| format!(" ({why})"));
            format!("A letter for {name} waits since {since} at {points}, until {until}{why}.")
        });
        told.collect()
    }
}

/// A day in UTC: "today", "Monday" within a week, or "12 December".
fn since_in_words(then: u64, now: u64) -> String {
    match (now / DAY).saturating_sub(then / DAY) {
        0 => "today".to_owned(),
        1 => "yesterday".to_owned(),
        2..=6 => moment(then).weekday().to_string(),
        _ => date_in_words(then),
    }
}

fn date_in_words(then: u64) -> String {
    let date = moment(then).date();
    format!("{} {}", date.day(), date.month())
}

fn moment(seconds: u64) -> OffsetDateTime {
    let seconds = i64::try_from(seconds).unwrap_or_default();
    OffsetDateTime::from_unix_timestamp(seconds).unwrap_or(OffsetDateTime::UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use fairdeal_protocol::seat::Seat;

    use super::*;

    /// 2026-11-30, a Monday, at noon.
    const NOW: u64 = 1_796_040_000;

    fn reader(seat: usize, at: usize, of: usize, ago: u64) -> ReaderMail {
        let subject = Subject { place: [1; 8], content: [2; 8] };
        let seat = Seat::new(seat).unwrap();
        let (since, until) = (NOW - ago, NOW + 12 * DAY);
        ReaderMail { seat, subject, covered: false, since, until, at, of, why: None }
    }

    #[test]
    fn waiting_letters_are_told() {
        let names = ["Me", "Ada", "Ben", "Cleo"].map(str::to_owned).to_vec();
        let away = ReaderMail { why: Some("no answer".to_owned()), ..reader(2, 1, 2, 20 * DAY) };
        let covered = ReaderMail { covered: true, ..reader(3, 0, 2, 0) };
        let readers = vec![reader(1, 2, 2, 4 * DAY), away, covered];
        let mail = TableMail { names: names.clone(), journal: None, by_mail: true, turn: None, readers };
        assert_eq!(
            mail.in_words_at(NOW),
            [
                "A letter for Ada waits since Thursday at 2 of 2 points, until 12 December.",
                "A letter for Ben waits since 10 November at 1 of 2 points, until 12 December (no answer).",
            ]
        );
        let none = ReaderMail {
            why: Some("the reader's program has not looked for mail there yet".to_owned()),
            ..reader(1, 0, 1, 0)
        };
        let readers = vec![none, reader(2, 1, 1, 0), reader(3, 1, 1, DAY)];
        let mail = TableMail { names, journal: None, by_mail: true, turn: None, readers };
        assert_eq!(
            mail.in_words_at(NOW),
            [
                "No point keeps a letter for Ada: the reader's program has not looked for mail there yet.",
                "A letter for Ben waits since today at your meeting point, until 12 December.",
                "A letter for Cleo waits since yesterday at your meeting point, until 12 December.",
            ]
        );
        assert_eq!(mail.in_words_at(NOW + 30 * DAY).len(), 1, "the points keep nothing so long");
    }

    #[test]
    fn file_is_read_back() {
        let mail = TableMail {
            names: vec!["Ada".to_owned()],
            journal: None,
            by_mail: true,
            turn: None,
            readers: vec![reader(1, 2, 2, 0)],
        };
        let all = Remembered { tables: [("ab".to_owned(), mail)].into() };
        let text = serde_json::to_vec(&all).unwrap();
        assert_eq!(serde_json::from_slice::<Remembered>(&text).unwrap(), all);
    }
}
