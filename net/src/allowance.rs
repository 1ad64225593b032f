//! An allowance: how often a peer may do something on one connection, so many times at once and so often on the whole.
//!
//! This is the generic cell rate algorithm (ITU-T I.371): one moment says it all, the one at which the allowance is
//! whole again. Pure: the owner brings the time.

use std::time::{Duration, Instant};

/// A count that a peer uses up and that grows again with time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowance {
    /// How often at once.
    most: u32,
    /// The time after which there is one more.
    every: Duration,
    /// When there is nothing to make good.
    whole: Option<Instant>,
}

impl Allowance {
    /// `most` at once, and one more after each `every`.
    pub(super) const fn new(most: u32, every: Duration) -> Self {
        Self {
            most,
            every,
            whole: None,
        }
    }

    /// Takes one at `now`. False if none is left.
    pub(super) fn take(&mut self, now: Instant) -> bool {
        let whole = self.whole.map_or(now, |whole| whole.max(now)) + self.every;
        let is_left = whole - now <= self.every * self.most;
        if is_left {
            self.whole = Some(whole);
        }
        is_left
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
        let taken =
            |allowance: &mut Allowance, now| (0..10).filter(|_| allowance.take(now)).count();
        assert_eq!(taken(&mut allowance, begin), 3);
        assert_eq!(taken(&mut allowance, begin + EVERY / 2), 0);
        assert_eq!(
            taken(&mut allowance, begin + EVERY),
            1,
            "a refusal costs nothing"
        );
        assert_eq!(taken(&mut allowance, begin + EVERY * 3), 2);
        assert_eq!(taken(&mut allowance, begin + EVERY * 100), 3, "never more");
    }
}
