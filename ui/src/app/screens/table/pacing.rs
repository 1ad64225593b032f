//! Keeps the turns of others on the screen long enough to be seen.
//!
//! Events that arrive while a turn is being shown wait here, in order. They wait no longer than [`MOST`], and not at
//! all once it is the player's own turn or the player presses a key.

use std::collections::VecDeque;
use std::time::Duration;

use fairdeal_session::events::SessionEvent;

/// How long an action of another seat stays before the next one.
const ACTION: Duration = Duration::from_millis(450);
/// How long it stays if it ended the seat's turn.
const TURN: Duration = Duration::from_millis(900);
/// The most events that wait.
const HELD: usize = 64;
/// The longest that the screen may be behind.
const MOST: Duration = Duration::from_secs(2);

/// Events that wait, and for how long.
#[derive(Debug, Default)]
pub(super) struct Pacing {
    held: VecDeque<SessionEvent>,
    /// The time until the next event may be shown.
    left: Duration,
    /// How long the oldest event has waited.
    behind: Duration,
}

impl Pacing {
    /// Keeps an event back if one is being shown. Returns it if it can be shown at once.
    pub(super) fn hold(&mut self, event: &SessionEvent) -> bool {
        if self.left.is_zero() && self.held.is_empty() {
            return false;
        }
        self.held.push_back(event.clone());
        let is_mine = matches!(event, SessionEvent::Snapshot(snapshot) if snapshot.my_turn);
        if is_mine || self.held.len() > HELD {
            self.skip();
        }
        true
    }

    /// Another seat has acted; `ended` says that its turn is over.
    pub(super) fn show(&mut self, ended: bool) {
        self.left = if ended { TURN } else { ACTION };
    }

    /// Shows everything at once.
    pub(super) fn skip(&mut self) {
        self.left = Duration::ZERO;
        if !self.held.is_empty() {
            self.behind = MOST;
        }
    }

    /// Whether everything that waits is due.
    pub(super) fn shows_all(&self) -> bool {
        self.behind >= MOST
    }

    /// Lets time pass.
    pub(super) fn advance(&mut self, passed: Duration) {
        self.left = self.left.saturating_sub(passed);
        if !self.held.is_empty() {
            self.behind = self.behind.saturating_add(passed);
        }
    }

    /// The next event that can be shown.
    pub(super) fn next(&mut self) -> Option<SessionEvent> {
        if !self.left.is_zero() && self.behind < MOST {
            return None;
        }
        let event = self.held.pop_front();
        if self.held.is_empty() {
            self.behind = Duration::ZERO;
        }
        event
    }

    /// When the next event can be shown, if one waits.
    pub(super) fn pace(&self) -> Option<Duration> {
        let due = MOST.saturating_sub(self.behind);
        (!self.held.is_empty()).then_some(self.left.min(due))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> SessionEvent {
        SessionEvent::Line(text.to_owned())
    }

    #[test]
    fn a_turn_stays_and_the_next_one_waits() {
        let mut pacing = Pacing::default();
        assert!(!pacing.hold(&line("a")));
        pacing.show(true);
        assert!(pacing.hold(&line("b")) && pacing.hold(&line("c")));
        assert_eq!((pacing.next(), pacing.pace()), (None, Some(TURN)));
        pacing.advance(TURN);
        assert_eq!(pacing.next(), Some(line("b")));
        pacing.show(true);
        assert_eq!(pacing.next(), None);
        // Too far behind: it is shown although the turn before it has just come.
        pacing.advance(Duration::from_millis(800));
        pacing.show(true);
        pacing.advance(Duration::from_millis(300));
        assert_eq!((pacing.next(), pacing.next()), (Some(line("c")), None));
    }

    #[test]
    fn a_key_shows_everything() {
        let mut pacing = Pacing::default();
        pacing.show(false);
        assert!(pacing.hold(&line("b")));
        pacing.skip();
        assert_eq!(pacing.next(), Some(line("b")));
        assert!(!pacing.hold(&line("c")));
    }
}
