//! When a keeper visits the meeting points: soon after it has begun and after its player has gone, again in ten minutes, in a
//! minute if letters have come, and whenever it is asked to.

use std::collections::VecDeque;
use std::time::Duration;

use fairdeal_peers::Multiaddr;
use tokio::time::Instant;

/// How long after a visit the next one is made.
const AGAIN: Duration = Duration::from_secs(600);
/// The same if letters have come: their authors may be there, and programs have answered them.
const ANSWERED: Duration = Duration::from_secs(60);
/// How long a table may take to begin, or to sign what its player has done.
const SOON: Duration = Duration::from_secs(5);

/// The visits of a keeper.
pub(super) struct Visits {
    is_running: bool,
    due: Instant,
    /// The visits that somebody has asked for, with the points that were named.
    pub(super) wanted: VecDeque<(u64, Vec<Multiaddr>)>,
}

impl Visits {
    pub(super) fn new() -> Self {
        Self { is_running: false, due: Instant::now() + SOON, wanted: VecDeque::new() }
    }

    /// When to begin the next one; `None` while one is under way.
    pub(super) fn due(&self) -> Option<Instant> {
        (!self.is_running).then_some(self.due)
    }

    /// Something may have been signed.
    pub(super) fn soon(&mut self) {
        self.due = self.due.min(Instant::now() + SOON);
    }

    /// Begins the next visit, if one is due: returns who has asked for it, and the points that were named.
    pub(super) fn next(&mut self) -> Option<(Option<u64>, Vec<Multiaddr>)> {
        let now = Instant::now();
        if self.is_running || self.wanted.is_empty() && self.due > now {
            return None;
        }
        self.is_running = true;
        let wanted = self.wanted.pop_front();
        Some(match wanted {
            Some((asker, points)) => (Some(asker), points),
            None => {
                self.due = now + AGAIN;
                (None, Vec::new())
            }
        })
    }

    /// A visit has ended; it has brought letters, or none.
    pub(super) fn ended(&mut self, has_brought: bool) {
        self.is_running = false;
        if has_brought {
            self.due = self.due.min(Instant::now() + ANSWERED);
        }
    }
}
