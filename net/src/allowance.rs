//! A rate limit for a peer on one connection: a burst size and a long-term rate.
//!
//! This is the generic cell rate algorithm (ITU-T I.371). One instant holds the whole state: the time at which the
//! allowance is full again. Pure: the owner supplies the time.

use std::time::{Duration, Instant};

/// An allowance that a peer uses up and that refills over time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowance {
    /// Burst size.
    most: u32,
    /// Time to regain one use.
    every: Duration,
    /// Time at which the allowance is full again; `None` if it has not been used.
    whole: Option<Instant>,
}

impl Allowance {
    /// Allows `most` uses at once, and one more after each `every`.
    pub(super) const fn new(most: u32, every: Duration) -> Self {
        Self { most, every, whole: None }
    }

    /// Takes one use at `now`. Returns false if none is left.
    pub(super) fn take(&mut self, now: Instant) -> bool {
        self.take_many(1, now)
    }

    /// Takes so many uses at once, or none. Returns false if fewer are left.
    pub(super) fn take_many(&mut self, uses: u32, now: Instant) -> bool {
        let whole = self.whole.map_or(now, |whole| whole.max(now)) + self.every.saturating_mul(uses);
        let is_left = whole - now <= self.every * self.most;
        if is_left {
            self.whole = Some(whole);
        }
        is_left
    }

    /// Whether nothing has been taken that has not been regained.
    pub(super) fn is_whole(&self, now: Instant) -> bool {
        self.whole.is_none_or(|whole| whole <= now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVERY: Duration = Duration::from_secs(2);

    #[test]
    fn a_few_at_once_and_then_one_by_one() {
        let begin = Instant::now();
        let mut allowance = Allowance::new(3, EVERY);
        let taken = |allowance: &mut Allowance, now| (0..10).filter(|_| allowance.take(now)).count();
        assert_eq!(taken(&mut allowance, begin), 3);
        assert_eq!(taken(&mut allowance, begin + EVERY / 2), 0);
        assert_eq!(taken(&mut allowance, begin + EVERY), 1, "a refusal costs nothing");
        assert_eq!(taken(&mut allowance, begin + EVERY * 3), 2);
        assert!(!allowance.is_whole(begin + EVERY * 4));
        assert!(allowance.is_whole(begin + EVERY * 100));
        assert_eq!(taken(&mut allowance, begin + EVERY * 100), 3, "never more");
        let later = begin + EVERY * 200;
        assert!(!allowance.take_many(4, later) && allowance.take_many(2, later) && !allowance.take_many(2, later));
        assert!(allowance.take_many(1, later) && allowance.take_many(0, later));
    }
}
