//! This machine's clock: the day, and the time that a search may take.

use std::time::{Duration, Instant};

use fairdeal_games::search::Deadline;

/// The date in UTC (`2026-01-31`), which names the deal of the day.
pub(crate) fn today() -> String {
    let date = time::OffsetDateTime::now_utc().date();
    let (year, month, day) = date.to_calendar_date();
    format!("{year:04}-{:02}-{day:02}", u8::from(month))
}

/// A time limit for each decision of a bot.
#[derive(Debug)]
pub(crate) struct Clock {
    time: Duration,
    end: Instant,
}

impl Clock {
    pub(crate) fn new(time: Duration) -> Self {
        Self { time, end: Instant::now() }
    }
}

impl Deadline for Clock {
    fn start(&mut self) {
        self.end = Instant::now() + self.time;
    }

    fn is_over(&self) -> bool {
        Instant::now() >= self.end
    }
}
