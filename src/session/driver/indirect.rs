//! Seats that this one reaches only through others.

use std::collections::BTreeMap;
use std::time::Duration;

use fairdeal_protocol::seat::{Seat, SeatSet};
use tokio::time::Instant;

/// How long a link must be missing before the player hears of it: programs that have just met are still dialing.
const SETTLED: Duration = Duration::from_secs(5);

/// When each seat lost its direct link, and whether the player knows.
#[derive(Debug, Default)]
pub(super) struct Indirect {
    since: BTreeMap<Seat, Instant>,
    told: SeatSet,
}

impl Indirect {
    /// Updates the seats without a direct link `now`; returns those to report to the player.
    pub(super) fn update(&mut self, seats: SeatSet, now: Instant) -> SeatSet {
        self.since.retain(|seat, _| seats.contains(*seat));
        for seat in seats.iter() {
            self.since.entry(seat).or_insert(now);
        }
        let lasting: SeatSet = self
            .since
            .iter()
            .filter(|(_, since)| now.duration_since(**since) >= SETTLED)
            .map(|(seat, _)| *seat)
            .collect();
        let new = lasting.minus(self.told);
        self.told = lasting;
        new
    }

    /// The seats that have been reported to the player.
    pub(super) fn told(&self) -> SeatSet {
        self.told
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_lasting_lack_is_told_and_once() {
        let seat = Seat::new(1).unwrap();
        let (lost, none) = (SeatSet::one(seat), SeatSet::EMPTY);
        let start = Instant::now();
        let mut indirect = Indirect::default();
        assert_eq!(indirect.update(lost, start), none);
        // A link that comes up in time is not reported. When it drops, the time starts again.
        assert_eq!(indirect.update(none, start + SETTLED / 2), none);
        let again = start + SETTLED;
        assert_eq!(indirect.update(lost, again), none);
        assert_eq!(indirect.update(lost, again + SETTLED), lost);
        assert_eq!(indirect.told(), lost);
        assert_eq!(indirect.update(lost, again + 2 * SETTLED), none);
        assert_eq!(indirect.update(none, again + 2 * SETTLED), none);
        assert_eq!(indirect.told(), none);
    }
}
