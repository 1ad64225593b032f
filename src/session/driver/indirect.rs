//! The seats that this one reaches through others alone.

use std::collections::BTreeMap;
use std::time::Duration;

use fairdeal_protocol::seat::{Seat, SeatSet};
use tokio::time::Instant;

/// How long a link may be missing before the player is told: programs that have just met are still dialling.
const SETTLED: Duration = Duration::from_secs(5);

/// Since when each seat has been without a direct link, and whether the player knows.
#[derive(Debug, Default)]
pub(super) struct Indirect {
    since: BTreeMap<Seat, Instant>,
    told: SeatSet,
}

impl Indirect {
    /// Takes the seats that are without a direct link `now`; returns those of which the player is to be told.
    pub(super) fn update(&mut self, seats: SeatSet, now: Instant) -> SeatSet {
        self.since.retain(|seat, _| seats.contains(*seat));
        for seat in seats.iter() {
            self.since.entry(seat).or_insert(now);
        }
        let lasting = self.since.iter();
        let lasting = lasting.filter(|(_, since)| now.duration_since(**since) >= SETTLED);
        let lasting: SeatSet = lasting.map(|(seat, _)| *seat).collect();
        let new = lasting.minus(self.told);
        self.told = lasting;
        new
    }

    /// The seats of which the player has been told.
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
        // A link that comes in time is no news, and its loss counts from then on.
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
