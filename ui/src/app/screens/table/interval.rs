//! The rest between two hands: the table stays as it was until the player goes on.
//!
//! The session is ahead meanwhile: others may play the next hand, or wait for this player. What it tells is kept, and
//! shown when the rest is over.

use std::time::Duration;

use super::log::{LINES, Log, Told};
use fairdeal_session::view::{Snapshot, time_in_words};

/// The longest rest at a table with other people.
pub(super) const LONGEST: Duration = Duration::from_secs(20);

/// Where the screen is between two hands.
#[derive(Debug, Default)]
pub(super) enum Rest {
    /// In a hand.
    #[default]
    Playing,
    /// A hand has ended, and its last snapshot is still to come. The first line tells the end; the others are kept.
    Ending { told: bool, lines: Vec<Told> },
    /// The player looks at the hand that has ended.
    Resting(Box<Interval>),
}

/// A rest, and what has happened since it began.
#[derive(Debug)]
pub(super) struct Interval {
    /// The newest state of the table.
    pub(super) next: Snapshot,
    /// Lines of the next hand's log.
    lines: Vec<Told>,
    /// The time left until the table is shown anyway; `None` if nobody waits.
    left: Option<Duration>,
}

/// Keeps a line, as many as the log does: a rest may last as long as the player likes.
fn keep(lines: &mut Vec<Told>, line: Told) {
    lines.push(line);
    if lines.len() > LINES {
        lines.remove(0);
    }
}

impl Rest {
    /// A hand has ended.
    pub(super) fn end_hand(&mut self) {
        if matches!(self, Self::Playing) {
            *self = Self::Ending { told: false, lines: Vec::new() };
        }
    }

    /// Adds a line of the game's log, at once or when the rest is over.
    pub(super) fn tell(&mut self, log: &mut Log, line: Told) {
        match self {
            Self::Ending { told: true, lines } => keep(lines, line),
            Self::Resting(interval) => keep(&mut interval.lines, line),
            Self::Ending { told, .. } => {
                *told = true;
                log.tell(line);
            }
            Self::Playing => log.tell(line),
        }
    }

    /// Begins the rest of a hand that has ended. `limited` says that others may wait.
    pub(super) fn begin(&mut self, next: Snapshot, limited: bool) {
        let lines = match std::mem::take(self) {
            Self::Ending { lines, .. } => lines,
            Self::Resting(_) | Self::Playing => Vec::new(),
        };
        let left = limited.then_some(LONGEST);
        *self = Self::Resting(Box::new(Interval { next, lines, left }));
    }

    /// Ends the rest: the kept lines go to the log. Returns the newest state of the table, if it was kept.
    pub(super) fn end(&mut self, log: &mut Log) -> Option<Snapshot> {
        let (lines, next) = match std::mem::take(self) {
            Self::Playing => return None,
            Self::Ending { lines, .. } => (lines, None),
            Self::Resting(interval) => (interval.lines, Some(interval.next)),
        };
        for line in lines {
            log.tell(line);
        }
        next
    }

    /// Whether the hand that has ended is still on the screen.
    pub(super) fn is_resting(&self) -> bool {
        matches!(self, Self::Resting(_))
    }

    /// Lets time pass. Returns whether the rest has lasted long enough.
    pub(super) fn advance(&mut self, passed: Duration) -> bool {
        let Self::Resting(interval) = self else {
            return false;
        };
        interval.left = interval.left.map(|left| left.saturating_sub(passed));
        interval.left.is_some_and(|left| left.is_zero())
    }

    /// The seconds until the table is shown anyway.
    pub(super) fn seconds(&self) -> Option<u64> {
        let Self::Resting(interval) = self else {
            return None;
        };
        let left = interval.left?;
        Some(left.as_secs() + u64::from(left.subsec_nanos() > 0))
    }

    /// A line for the sheet: what happens next, and when.
    pub(super) fn in_words(&self) -> String {
        let Self::Resting(interval) = self else {
            return String::new();
        };
        let own = interval.next.waits.seats.iter().filter(|waiting| Some(waiting.seat) == interval.next.me);
        let clock = own.filter_map(|waiting| waiting.turn_left).next();
        let turn = match (interval.next.my_turn, clock) {
            (false, _) => String::new(),
            (true, None) => " It is your turn in the next hand.".to_owned(),
            (true, Some(left)) => format!(" It is your turn in the next hand: {} left.", time_in_words(left)),
        };
        match self.seconds() {
            Some(seconds) => format!("Next hand in {seconds} s.{turn}"),
            None => turn.trim_start().to_owned(),
        }
    }
}
