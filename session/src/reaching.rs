//! Reaching the host: how long to keep dialing, and why it does not answer.

use fairdeal_protocol::table::clocks::Now;

use crate::events::SessionEvent;

/// How long a session keeps dialing its host, in milliseconds.
const REACH: u64 = 60_000;

/// A host that is being dialed.
#[derive(Debug)]
pub(crate) struct Reaching {
    /// By the monotonic clock.
    until: u64,
    /// Why the last attempt failed.
    why: Option<String>,
    /// Why no attempt is likely to succeed, known beforehand.
    doubt: Option<String>,
    /// The last report to the player.
    told: Option<(u64, Option<String>)>,
}

impl Reaching {
    pub(crate) fn new(now: Now) -> Self {
        Self { until: now.up.saturating_add(REACH), why: None, doubt: None, told: None }
    }

    /// From here no address leads to the host, for a reason in a player's words. Each attempt would only say that
    /// nobody answers.
    pub(crate) fn doubt(&mut self, words: String) {
        self.doubt = Some(words);
    }

    /// An attempt has failed.
    pub(crate) fn failed(&mut self, why: String) {
        self.why = Some(why);
    }

    /// A report for the player if anything has changed; an error once the time is over.
    pub(crate) fn news(&mut self, now: Now) -> Result<Option<SessionEvent>, String> {
        let left = self.until.checked_sub(now.up).ok_or_else(|| self.given_up())?;
        let seconds = left.div_ceil(1000);
        let why = self.doubt.as_ref().or(self.why.as_ref()).cloned();
        let news = (seconds, why.clone());
        let new = self.told.replace(news.clone()) != Some(news);
        Ok(new.then_some(SessionEvent::Reaching { seconds, why }))
    }

    /// The error for the player once the time is over.
    fn given_up(&self) -> String {
        let why = self.why.as_deref().unwrap_or("nobody answers");
        if let Some(doubt) = &self.doubt {
            return format!("can't reach the host ({why}): {doubt}");
        }
        format!(
            "can't reach the host ({why}); check the ticket, that the host's program still runs, and that no firewall \
             blocks it"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(up: u64) -> Now {
        Now { up, wall: 0 }
    }

    #[test]
    fn the_time_left_and_the_reason_are_told_when_they_change() {
        let mut reaching = Reaching::new(at(7));
        let told = |seconds, why: Option<&str>| {
            let why = why.map(str::to_owned);
            Ok(Some(SessionEvent::Reaching { seconds, why }))
        };
        assert_eq!(reaching.news(at(7)), told(60, None));
        assert_eq!(reaching.news(at(7)), Ok(None));
        assert_eq!(reaching.news(at(7 + 59_001)), told(1, None));
        assert!(reaching.given_up().contains("(nobody answers)"));
        reaching.failed("no answer at /ip4/192.0.2.1/tcp/4: Connection refused".to_owned());
        assert_eq!(reaching.news(at(7)), told(60, Some("no answer at /ip4/192.0.2.1/tcp/4: Connection refused")));
        assert!(reaching.given_up().contains("(no answer at /ip4/192.0.2.1/tcp/4: Connection refused)"));
        assert_eq!(reaching.news(at(7 + REACH + 1)), Err(reaching.given_up()));
    }

    #[test]
    fn a_doubt_is_told_at_once_and_outlasts_the_attempts() {
        let mut reaching = Reaching::new(at(7));
        reaching.doubt("the ticket leads elsewhere".to_owned());
        let told = |seconds| {
            let why = Some("the ticket leads elsewhere".to_owned());
            Ok(Some(SessionEvent::Reaching { seconds, why }))
        };
        assert_eq!(reaching.news(at(7)), told(60));
        reaching.failed("no answer at /ip4/192.0.2.1/tcp/4: Connection refused".to_owned());
        assert_eq!(reaching.news(at(7)), Ok(None));
        let last = "no answer at /ip4/192.0.2.1/tcp/4: Connection refused";
        assert_eq!(reaching.given_up(), format!("can't reach the host ({last}): the ticket leads elsewhere"));
    }
}
