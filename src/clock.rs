//! The time that a search may take, by this machine's clock.

use std::time::{Duration, Instant};

use fairdeal_games::search::Deadline;

/// A time limit for each decision of a bot.
#[derive(Debug)]
pub(crate) struct Clock {
    time: Duration,
    end: Instant,
}

impl Clock {
    pub(crate) fn new(time: Duration) -> Self {
        Self {
            time,
            end: Instant::now(),
        }
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
