//! The two clocks of this machine, as tables measure time by them.

use std::time::{SystemTime, UNIX_EPOCH};

use fairdeal_protocol::table::clocks::Now;

/// Both clocks now. The monotonic one goes on while the machine sleeps, on every system that has such a clock.
pub(crate) fn now() -> Now {
    Now { up: up(), wall: wall() }
}

/// The wall clock, in milliseconds since 1970.
fn wall() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// Milliseconds since some moment before this program began. Rust's own monotonic clock stops during a sleep on Linux
/// and macOS, so other players would seem to have had less time than they had.
#[cfg(unix)]
fn up() -> u64 {
    use rustix::time::{ClockId, clock_gettime};
    #[cfg(any(target_os = "linux", target_os = "android"))]
    const CLOCK: ClockId = ClockId::Boottime;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    const CLOCK: ClockId = ClockId::Monotonic;
    let time = clock_gettime(CLOCK);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let nanos = u64::try_from(time.tv_nsec).unwrap_or(0);
    seconds.saturating_mul(1000).saturating_add(nanos / 1_000_000)
}

/// Milliseconds since some moment in this program. The counter behind it goes on during a sleep on Windows.
#[cfg(not(unix))]
fn up() -> u64 {
    use std::sync::OnceLock;
    use std::time::Instant;
    static START: OnceLock<Instant> = OnceLock::new();
    let passed = START.get_or_init(Instant::now).elapsed();
    u64::try_from(passed.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_monotonic_clock_does_not_go_back() {
        let moments: Vec<u64> = (0..1000).map(|_| now().up).collect();
        assert!(moments.is_sorted());
    }
}
