//! The traffic of honest seats: bytes of heads and of everything else.

use std::collections::{BTreeMap, VecDeque};

use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::table::live::{BURST, RATE, To};
use fairdeal_protocol::table::message::{MAX_MESSAGE, Message};
use fairdeal_testkit::Sent;

use super::tally::Tally;

/// How long after the last fault and the last step only heads may be left, in milliseconds.
const SETTLED: u64 = 120_000;
/// Bytes that a table at rest may send beside heads: a sleeper has much to catch up with.
const SLACK: u64 = 16 << 10;
/// The shortest time over which the traffic of a table at rest is judged, in milliseconds.
const SPAN: u64 = 60_000;
const MINUTE: u64 = 60_000;

/// The bytes that one seat has sent.
#[derive(Default)]
struct Sender {
    /// Messages to single seats of the last minute: when, and how many bytes.
    answers: VecDeque<(u64, u64)>,
    answered: u64,
    /// Bytes of heads, and of everything else, since the table has been at rest.
    heads: u64,
    others: u64,
}

/// The traffic of a table.
#[derive(Default)]
pub(crate) struct Traffic {
    senders: BTreeMap<Seat, Sender>,
    /// When the rest began that is being judged.
    rests_since: Option<u64>,
}

impl Traffic {
    /// Counts a message of an honest seat to one receiver, at a table of `seats`. Returns what is wrong.
    pub(crate) fn sent(
        &mut self,
        now: u64,
        Sent { from, to, message }: &Sent,
        size: usize,
        seats: usize,
        tally: &mut Tally,
    ) -> Option<String> {
        let size = size as u64;
        let sender = self.senders.entry(*from).or_default();
        match message {
            Message::Head(_) => sender.heads += size,
            _ => sender.others += size,
        }
        if *to == To::All {
            return None;
        }
        sender.answers.push_back((now, size));
        sender.answered += size;
        while let Some((_, old)) = sender.answers.front().copied().filter(|(at, _)| at + MINUTE < now) {
            sender.answers.pop_front();
            sender.answered -= old;
        }
        tally.most("bytes of answers from one seat in a minute", sender.answered);
        let most = (seats * seats) as u64 * (BURST + 60 * RATE + MAX_MESSAGE as u64);
        (sender.answered > most).then(|| format!("{from} answers with {} bytes in a minute", sender.answered))
    }

    /// Tells when the table last moved, or a fault last happened. Returns what was wrong with a rest that this ends.
    pub(crate) fn moved(&mut self, now: u64, since: u64, tally: &mut Tally) -> Option<String> {
        let begins = since + SETTLED;
        if self.rests_since == Some(begins) {
            return None;
        }
        let wrong = self.judge(now, tally);
        self.rests_since = Some(begins);
        self.clear();
        wrong
    }

    fn clear(&mut self) {
        for sender in self.senders.values_mut() {
            (sender.heads, sender.others) = (0, 0);
        }
    }

    /// Drops what was counted before the rest began.
    pub(crate) fn tick(&mut self, now: u64) {
        if self.rests_since.is_some_and(|begins| now <= begins) {
            self.clear();
        }
    }

    /// Judges a rest that ends now.
    pub(crate) fn judge(&mut self, now: u64, tally: &mut Tally) -> Option<String> {
        let begins = self.rests_since?;
        if now < begins + SPAN {
            return None;
        }
        tally.add("rests whose traffic was judged", 1);
        let loud = self.senders.iter().find(|(_, sender)| sender.others > sender.heads + SLACK);
        loud.map(|(seat, sender)| {
            let (heads, others, span) = (sender.heads, sender.others, (now - begins) / 1000);
            format!("{seat} sends {others} bytes beside {heads} of heads in {span} s of rest")
        })
    }
}
