//! The other seats from the point of view of one: when each was last heard, how far it has come, and its answer after
//! this seat's return.

pub(super) mod back;
mod requests;

use std::collections::BTreeMap;

use super::To;
use crate::log::state_request::Nonce;
use crate::party::Parties;
use crate::seat::{Seat, SeatSet};
use crate::table::clocks::{Clocks, Now};
use crate::table::journal::Asked;
use crate::table::message::Head;
use requests::Requests;

/// The most heads of one seat answered between two ticks: one for its own tick and one for its greeting. A head is
/// small and its answer is large, so without a limit a flood of heads would be cheap and harmful.
const ANSWERS_A_TICK: u8 = 2;
/// The longest pause, in ticks, between two answers to a head that says the same as the last one, while this seat has
/// nothing new: the last answer was lost, or could not help.
const PATIENT: u32 = 64;
/// How many bytes this seat sends on account of one other seat before it has to wait: a whole answer to a head.
pub const BURST: u64 = 512 << 10;
/// How many bytes a second it sends on account of one other seat in the long run.
pub const RATE: u64 = 32 << 10;
/// After how many requests in a row a returning seat asks less often.
const SOON: u32 = 8;
/// How many ticks pass then between two requests.
const SELDOM: u32 = 8;
/// More requests than a program sends between two starts.
const REQUESTS: u32 = 1 << 20;

/// A token bucket: what a seat makes this one send over one link, in answers, forwarded requests and replies. The seat
/// pays that caused it by its signature or over its own connection, never one that only carried it. Each link has a
/// bucket of its own: a peer that replays what another seat has signed uses up nothing that the seat itself needs.
/// Everything paid from a budget is best effort: it is asked for again.
#[derive(Clone, Copy, Debug)]
struct Budget {
    /// In bytes; the last message may exceed it.
    left: i64,
    /// The uptime of the last refill, in milliseconds.
    at: u64,
}

impl Budget {
    const FULL: i64 = BURST as i64;

    fn refill(&mut self, uptime: u64) {
        let passed = uptime.saturating_sub(self.at);
        let earned = passed.saturating_mul(RATE) / 1000;
        let earned = i64::try_from(earned).unwrap_or(Self::FULL);
        self.left = self.left.saturating_add(earned).min(Self::FULL);
        self.at = uptime;
    }
}

/// The state of a returning seat that waits for the others' answers.
#[derive(Clone, Debug)]
struct Return {
    nonce: Nonce,
    /// The number of the next request.
    number: u32,
    /// Ticks since the last request to all.
    rested: u32,
    /// The seats whose answers hold nothing unknown to this one.
    heard: SeatSet,
    /// Whether this seat has been awake for the absence timeout, and no longer waits for a silent minority.
    impatient: bool,
    /// How many times its program was closed meanwhile.
    closed: u32,
    /// The live seats when an answer last came.
    live: Option<SeatSet>,
    /// Whether the journal is surely the last one that this seat wrote here.
    is_clean: bool,
    /// The seats that have been heard since.
    met: SeatSet,
    /// The uptime at which it began, if that was not at the start of the program.
    since: Option<u64>,
}

/// The last head of a seat that was answered, and how often and when to answer it again.
#[derive(Clone, Debug)]
struct Answered {
    /// Without whom the seat hears.
    head: Head,
    /// The head of this seat then, without whom it heard.
    own: Head,
    /// Ticks until the next answer, and the pause after that.
    rest: u32,
    pause: u32,
}

/// The other seats, as this one knows them.
#[derive(Debug)]
pub(super) struct Peers {
    clocks: Clocks,
    /// The highest open step that each seat has announced.
    heads: BTreeMap<Seat, u64>,
    /// The last head of each seat since this program woke up.
    latest: BTreeMap<Seat, Head>,
    /// The last head of each seat in a letter.
    written: BTreeMap<Seat, Head>,
    /// How many heads of each seat were answered since the last tick.
    answered: BTreeMap<Seat, u8>,
    /// The last answer to each seat.
    last_answers: BTreeMap<Seat, Answered>,
    /// The budget of each seat, for what it causes by way of each peer.
    budgets: BTreeMap<(Seat, Seat), Budget>,
    /// State requests of other seats.
    requests: Requests,
    /// Set after a return until enough others have answered.
    returning: Option<Return>,
    /// The return as the journal has it.
    kept_return: Option<Asked>,
}

impl Peers {
    pub(super) fn new(clocks: Clocks) -> Self {
        Self {
            clocks,
            heads: BTreeMap::new(),
            latest: BTreeMap::new(),
            written: BTreeMap::new(),
            answered: BTreeMap::new(),
            last_answers: BTreeMap::new(),
            budgets: BTreeMap::new(),
            requests: Requests::default(),
            returning: None,
            kept_return: None,
        }
    }

    /// When the others were last heard, and since when the table waits for them.
    pub(super) fn clocks(&self) -> &Clocks {
        &self.clocks
    }

    pub(super) fn clocks_mut(&mut self) -> &mut Clocks {
        &mut self.clocks
    }

    /// State requests of other seats.
    fn requests(&mut self) -> &mut Requests {
        &mut self.requests
    }

    /// Notes a new connection to a seat: the last answer may have been lost with the old one.
    pub(super) fn forget_answer(&mut self, seat: Seat) {
        self.last_answers.remove(&seat);
    }

    /// Begins a return: this seat signs nothing until enough others have answered.
    fn begin_return(&mut self, nonce: Nonce) {
        self.returning = Some(Return {
            nonce,
            number: 0,
            rested: 0,
            heard: SeatSet::EMPTY,
            impatient: false,
            closed: 0,
            live: None,
            is_clean: false,
            met: SeatSet::EMPTY,
            since: None,
        });
    }

    /// Takes up a return that was under way when its program was closed in order.
    fn continue_return(&mut self, asked: Asked) {
        let Asked { nonce, answered, live, closed } = asked;
        let closed = closed.saturating_add(1);
        // Others may have seen requests of this return: these are later ones.
        let number = closed.saturating_mul(REQUESTS);
        let live = Some(live);
        let back = Return {
            nonce,
            number,
            rested: 0,
            heard: answered,
            impatient: false,
            closed,
            live,
            is_clean: false,
            met: SeatSet::EMPTY,
            since: None,
        };
        self.returning = Some(back);
    }

    /// The journal is clean: only those that this seat meets have to answer.
    fn trust_journal(&mut self) {
        self.returning = self.returning.take().map(|back| Return { is_clean: true, ..back });
    }

    /// The journal is not the last one after all: everybody is asked, and what was answered before does not count. Returns
    /// whether that is news.
    pub(super) fn distrust_journal(&mut self) -> bool {
        let Some(back) = self.returning.as_mut().filter(|back| back.is_clean) else { return false };
        (back.is_clean, back.heard, back.impatient) = (false, SeatSet::EMPTY, false);
        back.since = Some(self.clocks.uptime());
        true
    }

    /// Notes the head in a letter. It may be old, and says nothing of what the seat holds now but that it holds as much.
    pub(super) fn read_head(&mut self, from: Seat, head: Head) {
        let best = self.heads.entry(from).or_default();
        *best = head.step.max(*best);
        if self.written.get(&from).is_none_or(|before| before.step <= head.step) {
            self.written.insert(from, head);
        }
    }

    /// The last heads of a seat: over a connection since this program woke up, and in a letter.
    pub(super) fn all_heads(&self, seat: Seat) -> impl Iterator<Item = &Head> {
        self.latest.get(&seat).into_iter().chain(self.written.get(&seat))
    }

    /// Whether this seat may sign although it asks: its journal is clean, and all live seats that it has met have answered. A
    /// copy of it may have played on, and they would know.
    fn trusts_journal(&self, live: SeatSet) -> bool {
        let silent = |back: &Return| live.minus(back.heard).iter().any(|seat| back.met.contains(seat));
        self.returning.as_ref().is_some_and(|back| back.is_clean && !silent(back))
    }

    /// Notes that a seat is there: it can be asked.
    pub(super) fn meet(&mut self, seat: Seat) {
        if let Some(back) = &mut self.returning {
            back.met.insert(seat);
        }
    }

    /// Notes what the journal says of this seat's return.
    fn returned_as(&mut self, asked: Option<Asked>) {
        self.kept_return = asked;
    }

    /// The return as the journal has it.
    fn kept_return(&self) -> Option<Asked> {
        self.kept_return
    }

    /// The state of this seat's return, if the journal does not have it.
    fn news_of_return(&mut self) -> Option<Option<Asked>> {
        // After a clean journal comes another one: nothing of it need be kept.
        let asking = self.returning.as_ref().filter(|back| !back.is_clean);
        let now = asking.map(|back| Asked {
            nonce: back.nonce,
            answered: back.heard,
            live: back.live.unwrap_or_default(),
            closed: back.closed,
        });
        (std::mem::replace(&mut self.kept_return, now) != now).then_some(now)
    }

    /// Takes a head. Returns whether to answer it: at once if it is new, or if this seat's `own` head is, and less and
    /// less often while neither changes. Whom they hear does not count: that may flicker, and changes no answer.
    //= P12.9
    pub(super) fn take_head(&mut self, from: Seat, head: &Head, own: Head) -> bool {
        let best = self.heads.entry(from).or_default();
        *best = head.step.max(*best);
        self.latest.insert(from, head.clone());
        let held = |head: Head| Head { hears: SeatSet::EMPTY, ..head };
        let (head, own) = (held(head.clone()), held(own));
        let same = self.last_answers.get_mut(&from);
        match same.filter(|last| last.head == head && last.own == own) {
            Some(last) if last.rest > 0 => return false,
            Some(last) => {
                last.pause = PATIENT.min(2 * last.pause);
                last.rest = last.pause;
            }
            None => {
                let (rest, pause) = (1, 1);
                self.last_answers.insert(from, Answered { head, own, rest, pause });
            }
        }
        let answered = self.answered.entry(from).or_default();
        let more = *answered < ANSWERS_A_TICK;
        *answered += u8::from(more);
        more
    }

    /// The highest open step that a seat has announced.
    pub(super) fn head(&self, seat: Seat) -> Option<u64> {
        self.heads.get(&seat).copied()
    }

    /// The last head of a seat since this program woke up.
    pub(super) fn latest(&self, seat: Seat) -> Option<&Head> {
        self.latest.get(&seat)
    }

    /// Takes so many bytes from what a seat may make this one send by way of a peer. Returns whether there were any left.
    //= P12.10
    fn pay(&mut self, seat: Seat, way: Seat, bytes: usize) -> bool {
        let uptime = self.clocks.uptime();
        let full = Budget { left: Budget::FULL, at: uptime };
        let budget = self.budgets.entry((seat, way)).or_insert(full);
        budget.refill(uptime);
        let pays = budget.left > 0;
        if pays {
            budget.left = budget.left.saturating_sub(i64::try_from(bytes).unwrap_or(i64::MAX));
        }
        pays
    }

    /// Advances to this time; the table waits for the `missing` seats, and a player decides the entry of `decided`.
    pub(super) fn tick(&mut self, now: Now, missing: SeatSet, decided: Option<Seat>) {
        if self.clocks.tick(now) {
            // What the others held before a sleep says nothing of what they hold now.
            self.latest.clear();
        }
        self.clocks.expect(missing, decided);
        self.answered.clear();
        for last in self.last_answers.values_mut() {
            last.rest = last.rest.saturating_sub(1);
        }
        if let Some(back) = &mut self.returning {
            let since = back.since.map_or(u64::MAX, |since| self.clocks.uptime().saturating_sub(since));
            back.impatient |= self.clocks.awake().min(since) >= self.clocks.limits().absence;
            back.rested = back.rested.saturating_add(1);
        }
    }

    /// The next request of this seat's return: its nonce and number, and the seats that have answered. `None` if it is
    /// not returning. A request to all rests longer when the first ones have brought too little.
    fn next_request(&mut self, to: To) -> Option<(Nonce, u32, SeatSet)> {
        let back = self.returning.as_mut()?;
        if to == To::All {
            if back.number > SOON && back.rested < SELDOM {
                return None;
            }
            back.rested = 0;
        }
        let number = back.number;
        back.number = number.saturating_add(1);
        Some((back.nonce, number, back.heard))
    }

    /// The nonce of this seat's return, until enough others have answered.
    pub(super) fn returning(&self) -> Option<Nonce> {
        self.returning.as_ref().map(|back| back.nonce)
    }

    /// Whether this seat is returning and has waited in vain for a silent minority.
    pub(super) fn is_impatient(&self) -> bool {
        self.returning.as_ref().is_some_and(|back| back.impatient)
    }

    /// Notes that this seat knows all of its own records that another seat holds.
    fn note_answer(&mut self, author: Seat) {
        if let Some(back) = &mut self.returning {
            back.heard.insert(author);
        }
    }

    /// Ends the return when all others have answered, or after an absence timeout when a majority has, this seat
    /// included.
    fn settle_return(&mut self, me: Seat, live: SeatSet, parties: Parties) {
        let Some(back) = &mut self.returning else { return };
        if back.live.replace(live).is_some_and(|before| before != live) {
            // What a seat has answered is old by now, and a removed one may have known more.
            back.heard = SeatSet::EMPTY;
        }
        let mut heard = back.heard;
        heard.insert(me);
        let all = live.iter().all(|seat| heard.contains(seat));
        if all || (back.impatient && parties.is_majority(live, heard)) {
            self.returning = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::clocks::Limits;

    //= P12.10
    #[test]
    fn a_seat_that_asks_for_everything_is_sent_little() {
        let [a, b]: [Seat; 2] = std::array::from_fn(|n| Seat::new(n).unwrap());
        let mut peers = Peers::new(Clocks::new(SeatSet::all(2), Limits::default()));
        let mut sent = 0;
        for second in 0..600 {
            peers.tick(Now::both(second * 1000), SeatSet::EMPTY, None);
            sent += (0..1000).filter(|_| peers.pay(a, a, 60_000)).count() as u64 * 60_000;
        }
        let most = BURST + 600 * RATE + 60_000;
        assert!(sent > 590 * RATE && sent <= most, "{sent} of {most}");
        assert!(peers.pay(b, b, 1), "another seat has its own");
        assert!(peers.pay(a, b, 1), "and so has another link");
    }

    #[test]
    fn a_head_that_flickers_is_answered_ever_more_seldom() {
        let seats: [Seat; 3] = std::array::from_fn(|n| Seat::new(n).unwrap());
        let mut peers = Peers::new(Clocks::new(SeatSet::all(3), Limits::default()));
        let mut head = Head::default();
        let mut own = Head::default();
        let mut answers = 0;
        for second in 0..256 {
            peers.tick(Now::both(second * 1000), SeatSet::EMPTY, None);
            let flicker = |on| {
                if on { seats[2..].iter().copied().collect() } else { SeatSet::EMPTY }
            };
            (head.hears, own.hears) = (flicker(second % 2 == 0), flicker(second % 3 == 0));
            answers += u32::from(peers.take_head(seats[1], &head, own.clone()));
        }
        assert!((6..=10).contains(&answers), "{answers}");
        head.step += 1;
        assert!(peers.take_head(seats[1], &head, own), "another step is news");
    }
}
