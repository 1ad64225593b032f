//! Calling back: a host dials guests that cannot reach it, at the addresses of their replies.
//!
//! A reply may lead anywhere. It is dialled only because the player pasted it, seldom, and for a while; nothing but a
//! connection with the guest's own key counts.

use std::collections::BTreeMap;

use fairdeal_peers::ticket::reply::Reply;
use fairdeal_peers::{Multiaddr, PeerId};
use fairdeal_protocol::table::clocks::Now;

/// Time from one attempt to the next, in milliseconds.
const EVERY: u64 = 10_000;
/// How long a guest is called that was there, in milliseconds.
const AGAIN: u64 = 60_000;
/// How long a guest is called, in milliseconds.
const MOST: u64 = 600_000;
/// Maximum number of guests that are called back.
const MAX_CALLS: usize = 8;

/// The reason why a guest is not called back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CallError {
    #[error("this reply is to a ticket of another table; ask your friend for the reply to this one")]
    OtherTable,
    #[error("this reply is your own: the host of the table pastes it")]
    Own,
    #[error("this reply names no address to call")]
    NoAddress,
    #[error("you have blocked whoever sends this reply")]
    Blocked,
    #[error("{MAX_CALLS} friends are being called back already")]
    TooMany,
}

/// The answer to whoever has a reply, and no table where guests sit down.
pub(crate) const ONLY_HOST: &str = "only a host can call back, and only before the game begins";

/// The guests that a host calls back.
#[derive(Debug, Default)]
pub(crate) struct Calls(BTreeMap<PeerId, Call>);

#[derive(Debug)]
struct Call {
    at: Vec<Multiaddr>,
    /// While the guest is not connected.
    calling: Option<Calling>,
}

#[derive(Debug)]
struct Calling {
    /// By the monotonic clock.
    next: u64,
    until: u64,
    /// Why the last attempt failed.
    why: Option<String>,
    /// Whether the player hears of it: a guest that has been there may have left.
    is_told: bool,
}

impl Calling {
    /// As the player wants it.
    fn asked(now: Now) -> Self {
        Self { next: now.up, until: now.up.saturating_add(MOST), why: None, is_told: true }
    }

    /// After a loss.
    fn again(now: Now) -> Self {
        Self { next: now.up, until: now.up.saturating_add(AGAIN), why: None, is_told: false }
    }
}

impl Calls {
    /// Calls a guest back; again at other addresses, if it is being called already.
    ///
    /// # Errors
    /// [`CallError::NoAddress`], [`CallError::TooMany`].
    pub(crate) fn begin(&mut self, reply: &Reply, now: Now) -> Result<(), CallError> {
        if reply.addresses().is_empty() {
            return Err(CallError::NoAddress);
        }
        // A guest that came and went makes room.
        let guest = reply.guest();
        if self.0.len() >= MAX_CALLS && !self.0.contains_key(&guest) {
            self.0.retain(|_, call| call.calling.is_some());
        }
        if self.0.len() >= MAX_CALLS && !self.0.contains_key(&guest) {
            return Err(CallError::TooMany);
        }
        self.0.insert(guest, Call { at: reply.addresses().to_vec(), calling: Some(Calling::asked(now)) });
        Ok(())
    }

    /// The guests to dial now.
    pub(crate) fn due(&mut self, now: Now) -> Vec<(PeerId, Vec<Multiaddr>)> {
        let mut due = Vec::new();
        for (guest, call) in &mut self.0 {
            if let Some(calling) = call.calling.as_mut().filter(|calling| calling.next <= now.up) {
                calling.next = now.up.saturating_add(EVERY);
                due.push((*guest, call.at.clone()));
            }
        }
        due
    }

    /// Gives up guests that have been called for long enough. Returns the last failure of each that is told.
    pub(crate) fn given_up(&mut self, now: Now) -> Vec<Option<String>> {
        let mut over = Vec::new();
        self.0.retain(|_, call| match &mut call.calling {
            Some(calling) if calling.until <= now.up => {
                if calling.is_told {
                    over.push(calling.why.take());
                    return false;
                }
                // It may come back with the same reply.
                call.calling = None;
                true
            }
            _ => true,
        });
        over
    }

    /// An attempt has failed. Returns the reason if it is the first of a guest whose call is told.
    pub(crate) fn failed(&mut self, guest: PeerId, why: String) -> Option<String> {
        let calling = self.0.get_mut(&guest)?.calling.as_mut()?;
        let before = calling.why.replace(why);
        calling.why.clone().filter(|_| before.is_none() && calling.is_told)
    }

    /// A guest is connected.
    pub(crate) fn reached(&mut self, guest: PeerId) {
        if let Some(call) = self.0.get_mut(&guest) {
            call.calling = None;
        }
    }

    /// The connection with a guest is lost: it cannot dial this host, so it is called again.
    pub(crate) fn lost(&mut self, guest: PeerId, now: Now) {
        if let Some(call) = self.0.get_mut(&guest) {
            call.calling.get_or_insert_with(|| Calling::again(now));
        }
    }

    /// A guest is sent away.
    pub(crate) fn forget(&mut self, guest: PeerId) {
        self.0.remove(&guest);
    }
}

#[cfg(test)]
mod tests {
    use ed25519_dalek::SigningKey;

    use super::*;

    fn reply(seed: u8, addresses: &[&str]) -> Reply {
        let guest = PeerId::of(&SigningKey::from_bytes(&[seed; 32]));
        Reply::new([7; 8], guest, addresses.iter().map(|text| text.parse().unwrap())).unwrap()
    }

    fn at(up: u64) -> Now {
        Now { up, wall: 0 }
    }

    const ADDRESS: &str = "/ip4/192.0.2.1/tcp/4";

    #[test]
    fn guest_is_dialled_each_ten_seconds_for_ten_minutes() {
        let (mut calls, reply) = (Calls::default(), reply(1, &[ADDRESS]));
        calls.begin(&reply, at(5)).unwrap();
        let mut dials = Vec::new();
        let mut up = 5;
        let over = loop {
            let over = calls.given_up(at(up));
            if !over.is_empty() {
                break over;
            }
            for (guest, to) in calls.due(at(up)) {
                assert_eq!((guest, to.as_slice()), (reply.guest(), reply.addresses()));
                dials.push(up);
                assert_eq!(calls.failed(guest, "no answer".to_owned()).is_some(), dials.len() == 1);
            }
            up += 500;
        };
        assert_eq!(dials, (0..60).map(|n| 5 + n * 10_000).collect::<Vec<_>>());
        assert_eq!((up, over), (600_005, vec![Some("no answer".to_owned())]));
        assert_eq!(calls.due(at(up + 60_000)), []);
    }

    #[test]
    fn guest_that_is_lost_is_called_again() {
        let (mut calls, reply) = (Calls::default(), reply(1, &[ADDRESS]));
        calls.lost(reply.guest(), at(0));
        assert_eq!(calls.due(at(0)), []);
        calls.begin(&reply, at(0)).unwrap();
        calls.reached(reply.guest());
        assert_eq!(calls.due(at(0)), []);
        assert_eq!(calls.failed(reply.guest(), "another of its addresses".to_owned()), None);
        assert_eq!(calls.given_up(at(MOST * 2)), []);
        calls.lost(reply.guest(), at(MOST * 2));
        assert_eq!(calls.due(at(MOST * 2)).len(), 1);
        // It may have left: nobody is told of a call that nobody asked for.
        assert_eq!(calls.failed(reply.guest(), "no answer".to_owned()), None);
        assert_eq!(calls.given_up(at(MOST * 2 + AGAIN)), []);
        assert_eq!(calls.due(at(MOST * 2 + AGAIN)), []);
        calls.lost(reply.guest(), at(MOST * 3));
        calls.forget(reply.guest());
        assert_eq!(calls.due(at(MOST * 4)), []);
    }

    #[test]
    fn number_of_calls_is_bounded() {
        let mut calls = Calls::default();
        assert_eq!(calls.begin(&reply(1, &[]), at(0)), Err(CallError::NoAddress));
        let last = u8::try_from(MAX_CALLS).unwrap();
        for seed in 1..=last {
            calls.begin(&reply(seed, &[ADDRESS]), at(0)).unwrap();
        }
        assert_eq!(calls.begin(&reply(last + 1, &[ADDRESS]), at(0)), Err(CallError::TooMany));
        // The same guest at another address.
        calls.begin(&reply(1, &["/ip4/192.0.2.9/tcp/4"]), at(0)).unwrap();
        assert_eq!(calls.due(at(0)).len(), MAX_CALLS);
        calls.reached(reply(1, &[]).guest());
        calls.begin(&reply(last + 1, &[ADDRESS]), at(0)).unwrap();
    }
}
