//! Seats that this one reaches only through others.

use std::collections::BTreeMap;

use fairdeal_protocol::seat::{Seat, SeatSet};

/// How long a link must be missing before the player hears of it, in milliseconds: programs that have just met are still
/// dialing.
const SETTLED: u64 = 5_000;

/// When each seat lost its direct link, and whether the player knows.
#[derive(Debug, Default)]
pub(super) struct Indirect {
    /// By the monotonic clock.
    since: BTreeMap<Seat, u64>,
    told: SeatSet,
}

impl Indirect {
    /// Updates the seats without a direct link `now`; returns those to report to the player.
    pub(super) fn update(&mut self, seats: SeatSet, now: u64) -> SeatSet {
        self.since.retain(|seat, _| seats.contains(*seat));
        for seat in seats.iter() {
            self.since.entry(seat).or_insert(now);
        }
        let lasting = self.since.iter().filter(|(_, since)| now.saturating_sub(**since) >= SETTLED);
        let lasting: SeatSet = lasting.map(|(seat, _)| *seat).collect();
        let new = lasting.minus(self.told);
        self.told = lasting;
        new
    }

    /// The seats that others reach and this one does not, also for a moment. They are heard only through what they sign.
    pub(super) fn seats(&self) -> SeatSet {
        self.since.keys().copied().collect()
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
        let start = 7;
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
