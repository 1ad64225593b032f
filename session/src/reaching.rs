//! Reaching the host: how long to keep dialing, and why it does not answer.

use fairdeal_peers::ticket::reply::Reply;
use fairdeal_protocol::table::clocks::Now;

use crate::events::SessionEvent;
use crate::setup::Patience;

impl Patience {
    /// How long a session keeps dialing its host, in milliseconds.
    fn most(self) -> u64 {
        match self {
            Self::AMinute => 60_000,
            Self::ForACall => 600_000,
        }
    }
}

/// Within this time, in milliseconds, a host answers that can be reached. What a firewall drops fails much later.
const AT_ONCE: u64 = 3_000;

/// How a guest waits for a host that it cannot reach.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) patience: Patience,
    /// The reply by which the host can call this guest back, once its addresses are known.
    pub(crate) reply: Option<Reply>,
}

/// A host that is being dialed.
#[derive(Debug)]
pub(crate) struct Reaching {
    /// By the monotonic clock.
    since: u64,
    until: u64,
    /// Why the last attempt failed.
    why: Option<String>,
    /// Why no attempt is likely to succeed, known beforehand.
    doubt: Option<String>,
    /// The last report to the player.
    told: Option<SessionEvent>,
}

impl Reaching {
    pub(crate) fn new(patience: Patience, now: Now) -> Self {
        Self { since: now.up, until: now.up.saturating_add(patience.most()), why: None, doubt: None, told: None }
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
    ///
    /// The reply is told once an attempt has failed or is likely to, or after a while: most hosts answer at once.
    pub(crate) fn news(&mut self, reply: Option<&Reply>, now: Now) -> Result<Option<SessionEvent>, String> {
        let left = self.until.checked_sub(now.up).ok_or_else(|| self.given_up())?;
        let seconds = left.div_ceil(1000);
        let why = self.doubt.as_ref().or(self.why.as_ref()).cloned();
        let lasts = now.up.saturating_sub(self.since) >= AT_ONCE;
        let reply = reply.filter(|_| lasts || why.is_some()).map(Reply::to_string);
        let news = SessionEvent::Reaching { seconds, why, reply };
        let is_new = self.told.as_ref() != Some(&news);
        if is_new {
            self.told = Some(news.clone());
        }
        Ok(is_new.then_some(news))
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
    use ed25519_dalek::SigningKey;
    use fairdeal_peers::PeerId;

    use super::*;

    fn at(up: u64) -> Now {
        Now { up, wall: 0 }
    }

    fn told(seconds: u64, why: &str, reply: Option<&Reply>) -> Result<Option<SessionEvent>, String> {
        let why = (!why.is_empty()).then(|| why.to_owned());
        Ok(Some(SessionEvent::Reaching { seconds, why, reply: reply.map(Reply::to_string) }))
    }

    #[test]
    fn the_time_left_and_the_reason_are_told_when_they_change() {
        let mut reaching = Reaching::new(Patience::AMinute, at(7));
        assert_eq!(reaching.news(None, at(7)), told(60, "", None));
        assert_eq!(reaching.news(None, at(7)), Ok(None));
        assert_eq!(reaching.news(None, at(7 + 59_001)), told(1, "", None));
        assert!(reaching.given_up().contains("(nobody answers)"));
        reaching.failed("no answer at /ip4/192.0.2.1/tcp/4: Connection refused".to_owned());
        let why = "no answer at /ip4/192.0.2.1/tcp/4: Connection refused";
        assert_eq!(reaching.news(None, at(7)), told(60, why, None));
        assert!(reaching.given_up().contains("(no answer at /ip4/192.0.2.1/tcp/4: Connection refused)"));
        assert_eq!(reaching.news(None, at(7 + 60_001)), Err(reaching.given_up()));
    }

    #[test]
    fn a_doubt_is_told_at_once_and_outlasts_the_attempts() {
        let mut reaching = Reaching::new(Patience::AMinute, at(7));
        reaching.doubt("the ticket leads elsewhere".to_owned());
        assert_eq!(reaching.news(None, at(7)), told(60, "the ticket leads elsewhere", None));
        reaching.failed("no answer at /ip4/192.0.2.1/tcp/4: Connection refused".to_owned());
        assert_eq!(reaching.news(None, at(7)), Ok(None));
        let last = "no answer at /ip4/192.0.2.1/tcp/4: Connection refused";
        assert_eq!(reaching.given_up(), format!("can't reach the host ({last}): the ticket leads elsewhere"));
    }

    #[test]
    fn a_reply_is_told_once_it_is_of_use() {
        let reply = Reply::new([7; 8], PeerId::of(&SigningKey::from_bytes(&[1; 32])), []).unwrap();
        let mut reaching = Reaching::new(Patience::ForACall, at(7));
        assert_eq!(reaching.news(Some(&reply), at(7)), told(600, "", None));
        reaching.failed("no answer".to_owned());
        assert_eq!(reaching.news(Some(&reply), at(7)), told(600, "no answer", Some(&reply)));
        let mut reaching = Reaching::new(Patience::ForACall, at(7));
        assert_eq!(reaching.news(Some(&reply), at(7 + AT_ONCE - 1)), told(598, "", None));
        assert_eq!(reaching.news(Some(&reply), at(7 + AT_ONCE)), told(597, "", Some(&reply)));
    }
}
