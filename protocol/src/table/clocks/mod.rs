//! The clocks of one program at a table: for how long each entry has been due, and each seat silent.
//!
//! The caller passes two clocks with each tick ([`Now`]). The monotonic one never jumps, and measures every wait while
//! the program exists, also while its machine sleeps. The wall clock may jump whenever somebody sets it. It only
//! measures the time during which the program was off, by the moments in the journal. This module reads no clock and
//! signs nothing; it only answers questions.
//!
//! - *Overdue*: a seat whose entry has been due, and which has been silent, for the whole absence timeout. A reachable
//!   seat is never overdue, however long it takes.
//! - *Consent*: a program that has just woken up would find every seat overdue. It may consent only after it has been
//!   awake and in contact with another party for a while without a break.
//! - *Turn time*: a person may propose the removal of a reachable seat that exceeds it.
//! - *Reserve*: what a seat has left of its bank and of what others have given it. A wait beyond a limit uses it up, and
//!   only then is the seat too late. Its use is counted here, while this program could also act on the wait.
//! - *Holidays*: days of the wall clock that count for no wait of a seat.
//! - *Slow*: entries that no person decides have a limit of their own, so that a throttled link costs nobody its seat.
//!
//! The journal keeps both moments of a long wait ([`Clocks::to_keep`]), so that a restart does not restart the wait.

mod extra;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::seat::{MAX_SEATS, Seat, SeatSet};
use crate::timing::Timing;
use crate::wire::bounded::Bounded;
use extra::Extra;

/// The default absence timeout, in milliseconds.
pub const ABSENCE: u64 = 120_000;
/// How long a reachable seat may take for one action if the table sets no turn time, in milliseconds.
const LONG_TURN: u64 = 600_000;
/// The upper bound on how long a program must have been awake and in contact before it consents to a removal, in
/// milliseconds.
pub const CALM: u64 = 120_000;
/// The longest gap between two ticks, or without a message from others, that is not a break, in milliseconds.
const BREAK: u64 = 10_000;
/// A gap of up to this between two ticks is never a break, however short the absence timeout, in milliseconds.
const TICKS: u64 = 1_000;
/// How long an entry must be due before the journal notes it, in milliseconds: a quick move costs no record.
const NOTED: u64 = 15_000;

/// The time at a tick, by two clocks, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Now {
    /// A clock that never jumps, since any fixed moment. It should advance while the machine sleeps; if it does not,
    /// waits are longer by the sleep.
    pub up: u64,
    /// The wall clock, since 1970-01-01, UTC. It may jump.
    pub wall: u64,
}

impl Now {
    /// Both clocks at one value.
    pub const fn both(ms: u64) -> Self {
        Self { up: ms, wall: ms }
    }
}

/// The time limits of a table, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How long a seat must be unreachable before it may be removed.
    pub absence: u64,
    /// How long a reachable seat may take for one action, if the table limits it.
    pub turn_time: Option<u64>,
    /// How long a seat may exceed both in a game.
    pub bank: u64,
}

impl Limits {
    /// The limits of the charter. Without any, no seat is ever absent.
    pub fn of(timing: Option<Timing>) -> Self {
        Self {
            absence: timing.map_or(u64::MAX, Timing::absence_ms),
            turn_time: timing.and_then(Timing::turn_time_ms),
            bank: timing.and_then(Timing::bank).map_or(0, |bank| u64::from(bank) * 1000),
        }
    }
}

impl Limits {
    /// The longest time for any entry.
    pub fn longest(self) -> u64 {
        let turn = self.turn_time.unwrap_or(LONG_TURN);
        turn.max(self.absence).max(CALM)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self { absence: ABSENCE, turn_time: None, bank: 0 }
    }
}

/// A wait for one seat, by the wall clock in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wait {
    /// The seat.
    pub seat: Seat,
    /// When its entry of the open step became due.
    pub due: u64,
    /// When it was last heard. Meaningless for a seat of this program.
    pub heard: u64,
}

/// The waits of one step, as the journal records them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waits {
    /// The step.
    pub step: u64,
    /// One wait for each awaited seat.
    pub seats: Bounded<Wait, MAX_SEATS>,
}

/// How much of its reserve a seat has used, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Used {
    /// The seat.
    pub seat: Seat,
    /// In all steps before the open one.
    pub time: u64,
}

/// How long the table has waited for a seat, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waited {
    /// The seat.
    pub seat: Seat,
    /// For how long its entry of the open step has been due.
    pub due: u64,
    /// For how long it has been silent. Zero for a seat of this program.
    pub silent: u64,
}

/// A moment of the monotonic clock in milliseconds; negative before that clock began.
type Moment = i64;

/// The waits in the journal.
#[derive(Clone, Debug)]
struct Kept {
    step: u64,
    waits: BTreeMap<Seat, (Moment, Moment)>,
    /// The difference of the two clocks when it was written.
    offset: Moment,
    /// The uptime when it was written.
    at: u64,
}

/// The clocks of one program at one table.
#[derive(Clone, Debug)]
pub struct Clocks {
    limits: Limits,
    /// The seats of other parties.
    others: SeatSet,
    /// The clocks at the last tick.
    now: Option<Now>,
    /// How long this program has been awake in total. It never decreases, and stops during a break.
    uptime: u64,
    /// The uptime at the last break.
    awake_from: u64,
    /// The current span of unbroken contact with others.
    contact: Option<Contact>,
    /// When each seat was last heard.
    heard: BTreeMap<Seat, Moment>,
    /// The seats heard since the last tick. After a sleep, a message may arrive before the next tick; the time of the
    /// last tick would be wrong for it.
    fresh: SeatSet,
    /// When the last long silence of each seat ended.
    back: BTreeMap<Seat, Moment>,
    /// When entries of the open step became due.
    due: BTreeMap<Seat, Moment>,
    /// The waits of the journal, until the first tick tells how long the program was off.
    restored: Vec<Wait>,
    /// The waits persisted last.
    kept: Option<Kept>,
    /// The extensions of each seat's times.
    extra: BTreeMap<Seat, Extra>,
}

/// A span of uptime.
#[derive(Clone, Copy, Debug)]
struct Contact {
    since: u64,
    last: u64,
}

fn moment(up: u64) -> Moment {
    Moment::try_from(up).unwrap_or(Moment::MAX)
}

impl Clocks {
    /// The clocks of a program that plays all seats except `others`.
    pub fn new(others: SeatSet, limits: Limits) -> Self {
        Self {
            limits,
            others,
            now: None,
            uptime: 0,
            awake_from: 0,
            contact: None,
            heard: BTreeMap::new(),
            fresh: SeatSet::EMPTY,
            back: BTreeMap::new(),
            due: BTreeMap::new(),
            restored: Vec::new(),
            kept: None,
            extra: BTreeMap::new(),
        }
    }

    // Inputs.

    /// Changes the time limits.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Advances to this time; called about once a second. Returns whether there was a break: the program slept, or
    /// somebody set the wall clock. A set wall clock adds nothing to any wait.
    //= P5.4
    pub fn tick(&mut self, now: Now) -> bool {
        let before = self.now.replace(now);
        let passed = before.and_then(|before| now.up.checked_sub(before.up));
        let longest = self.longest_tick();
        let set = before.is_some_and(|before| offset(now).abs_diff(offset(before)) > longest);
        let unbroken = passed.filter(|passed| *passed <= longest && !set);
        if let Some(passed) = unbroken {
            self.uptime = self.uptime.saturating_add(passed);
        } else {
            self.awake_from = self.uptime;
            self.contact = None;
        }
        let up = moment(now.up);
        for wait in std::mem::take(&mut self.restored) {
            // A moment in the future was noted by another clock: that wait starts again.
            let ago = |then: u64| up.saturating_sub(moment(now.wall.saturating_sub(then)));
            self.due.entry(wait.seat).or_insert(ago(wait.due));
            if self.others.contains(wait.seat) {
                self.heard.entry(wait.seat).or_insert(ago(wait.heard));
            }
        }
        for seat in self.others.iter() {
            let heard = self.heard.entry(seat).or_insert(up);
            if self.fresh.contains(seat) {
                if up.saturating_sub(*heard) > moment(BREAK) {
                    self.back.insert(seat, up);
                }
                *heard = up;
            }
        }
        let uptime = self.uptime;
        let lasts = |contact: &Contact| uptime.saturating_sub(contact.last) <= BREAK;
        self.contact = self.contact.filter(lasts);
        if self.others.iter().any(|seat| self.fresh.contains(seat)) {
            let since = self.contact.map_or(uptime, |contact| contact.since);
            self.contact = Some(Contact { since, last: uptime });
        }
        self.fresh = SeatSet::EMPTY;
        unbroken.is_none()
    }

    /// The longest gap between two ticks that is not a break. A short absence timeout shortens it: a program suspended
    /// for the whole timeout heard no seat in that time, and must not blame them.
    //= P5.4
    fn longest_tick(&self) -> u64 {
        BREAK.min((self.limits.absence / 2).max(TICKS))
    }

    /// Notes an authenticated sign of life from a seat: a message over its own connection, or anything new that it has
    /// signed, even if relayed.
    //= P5.2
    pub fn hear(&mut self, seat: Seat) {
        self.fresh.insert(seat);
    }

    /// Notes that the entries of these seats are due: this program holds everything that they must name. Call it after
    /// each tick with all such seats of the open step, and the one whose entry a player decides.
    pub fn expect(&mut self, seats: SeatSet, decided: Option<Seat>) {
        let Some(now) = self.now else { return };
        for seat in seats.iter() {
            self.due.entry(seat).or_insert(moment(now.up));
        }
        let counts = self.may_claim();
        for seat in seats.iter() {
            if !counts && self.others.contains(seat) {
                // This program may just have woken up: what it has not heard yet is no proof that nothing was said.
                continue;
            }
            let limit = if decided == Some(seat) {
                self.limits.turn_time.unwrap_or(LONG_TURN)
            } else {
                self.limits.absence.max(CALM)
            };
            let limit = if self.is_absent(seat) { limit.min(self.limits.absence) } else { limit };
            let over = self.counted_due(seat).map_or(0, |due| due.saturating_sub(limit));
            let running = over.min(self.reserve(seat));
            if running > 0 || self.extra.contains_key(&seat) {
                self.extra.entry(seat).or_default().run(running);
            }
        }
    }

    /// Starts the next step: no entry is due yet.
    pub fn next_step(&mut self) {
        self.extra.values_mut().for_each(Extra::next_step);
        self.due.clear();
        // The replay has passed the step of these moments.
        self.restored.clear();
    }

    /// Restores the journaled waits of the open step.
    pub fn restore(&mut self, waits: &Waits) {
        self.restored = waits.seats.iter().copied().collect();
    }

    /// Restores how much of their reserves the seats have used.
    pub fn restore_used(&mut self, used: &[Used]) {
        for Used { seat, time } in used {
            self.extra.entry(*seat).or_default().restore(*time);
        }
    }

    /// Sets what others have given a seat, in milliseconds, and its holidays: days counted from the beginning of the wall
    /// clock, the last one excluded.
    pub fn extend(&mut self, seat: Seat, given: u64, holidays: impl IntoIterator<Item = (u32, u32)>) {
        self.extra.entry(seat).or_default().set(given, holidays);
    }

    /// Ends a replay: entries from a journal are no sign of life.
    pub fn end_replay(&mut self) {
        self.fresh = SeatSet::EMPTY;
    }

    // Questions.

    /// The time limits.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// How long this program has been awake in total, in milliseconds: a clock without jumps.
    pub fn uptime(&self) -> u64 {
        self.uptime
    }

    fn since(&self, then: Moment) -> Option<u64> {
        let passed = moment(self.now?.up).saturating_sub(then);
        Some(u64::try_from(passed).unwrap_or(0))
    }

    /// For how long a seat's entry of the open step has been due, in milliseconds.
    pub fn due_for(&self, seat: Seat) -> Option<u64> {
        self.since(*self.due.get(&seat)?)
    }

    /// How much of the last so many milliseconds fell on holidays of a seat.
    fn excused(&self, seat: Seat, time: u64) -> u64 {
        let extra = self.now.zip(self.extra.get(&seat));
        extra.map_or(0, |(now, extra)| extra.excused(time, now.wall))
    }

    /// For how long a seat's entry has been due, without its holidays.
    fn counted_due(&self, seat: Seat) -> Option<u64> {
        let due = self.due_for(seat)?;
        Some(due.saturating_sub(self.excused(seat, due)))
    }

    /// The rest of a seat's bank, and of the time that others have given it, before the open step.
    pub fn reserve(&self, seat: Seat) -> u64 {
        let bank = self.limits.bank;
        self.extra.get(&seat).map_or(bank, |extra| extra.reserve(bank))
    }

    /// The rest of it now, as far as this program has seen.
    pub fn reserve_left(&self, seat: Seat) -> u64 {
        let running = self.extra.get(&seat).map_or(0, Extra::running);
        self.reserve(seat).saturating_sub(running)
    }

    /// The moment of the wall clock at which the holiday of a seat ends, if it has one now.
    pub fn holiday_until(&self, seat: Seat) -> Option<u64> {
        self.extra.get(&seat)?.holiday_until(self.now?.wall)
    }

    /// For how long a seat's entry has been due beyond everything that extends its time: without its holidays, and without
    /// its reserve. It is too late once that exceeds its limit.
    pub fn charged_for(&self, seat: Seat) -> Option<u64> {
        Some(self.counted_due(seat)?.saturating_sub(self.reserve(seat)))
    }

    /// For how long a seat has been silent, in milliseconds.
    pub fn silent_for(&self, seat: Seat) -> Option<u64> {
        if self.fresh.contains(seat) && self.now.is_some() {
            return Some(0);
        }
        self.since(*self.heard.get(&seat)?)
    }

    /// How long the table has waited for a seat, if its entry is due.
    pub fn waited(&self, seat: Seat) -> Option<Waited> {
        let silent = if self.others.contains(seat) { self.silent_for(seat)? } else { 0 };
        Some(Waited { seat, due: self.due_for(seat)?, silent })
    }

    /// How long a seat's turn may last yet before its reserve is used, if turns have a limit.
    pub fn turn_left(&self, seat: Seat) -> Option<u64> {
        let due = self.counted_due(seat).unwrap_or(0);
        Some(self.limits.turn_time?.saturating_sub(due))
    }

    /// How long a seat has to be silent yet until it counts as absent.
    pub fn until_absent(&self, seat: Seat) -> Option<u64> {
        let silent = self.silent_for(seat)?;
        let counted = silent.saturating_sub(self.excused(seat, silent));
        Some(self.limits.absence.saturating_sub(counted))
    }

    /// How long the table has to wait yet until a silent seat is overdue.
    pub fn until_overdue(&self, seat: Seat) -> Option<u64> {
        let limit = self.limits.absence.saturating_add(self.reserve(seat));
        Some(limit.saturating_sub(self.counted_due(seat)?).max(self.until_absent(seat)?))
    }

    /// Whether a seat has been silent for the whole absence timeout, without its holidays.
    pub fn is_absent(&self, seat: Seat) -> bool {
        self.until_absent(seat) == Some(0)
    }

    /// Whether a seat was heard in the last 10 seconds, or in the last absence timeout if that is shorter.
    pub fn hears(&self, seat: Seat) -> bool {
        let recent = BREAK.min(self.limits.absence);
        self.silent_for(seat).is_some_and(|silent| silent < recent)
    }

    /// Whether a seat's entry has been due, and the seat silent, for the whole absence timeout, and its reserve is used up.
    //= P5.2
    pub fn is_overdue(&self, seat: Seat) -> bool {
        let due = self.charged_for(seat);
        self.is_absent(seat) && due.is_some_and(|due| due >= self.limits.absence)
    }

    /// Whether a reachable seat has exceeded its turn time (10 minutes if none is set) and its reserve: a person may
    /// propose its removal.
    pub fn turn_ran_out(&self, seat: Seat) -> bool {
        self.owes_for(seat, self.limits.turn_time.unwrap_or(LONG_TURN))
    }

    /// Whether a reachable seat has exceeded the time for an entry that no person decides: the absence timeout, and
    /// two minutes at the least. Its program does not answer, or its link is too slow for the table. A seat that has just
    /// come back may still be learning what it missed.
    pub fn is_too_slow(&self, seat: Seat) -> bool {
        let back = self.back.get(&seat).and_then(|back| self.since(*back));
        let settled = back.is_none_or(|back| back >= self.calm());
        settled && self.owes_for(seat, self.limits.absence.max(CALM))
    }

    fn owes_for(&self, seat: Seat, allowed: u64) -> bool {
        let due = self.charged_for(seat);
        !self.is_absent(seat) && due.is_some_and(|due| due >= allowed)
    }

    /// How long this program has been awake without a break, in milliseconds.
    pub fn awake(&self) -> u64 {
        self.uptime.saturating_sub(self.awake_from)
    }

    /// How long this program must have been awake before it may act on a wait.
    fn calm(&self) -> u64 {
        CALM.min(self.limits.absence)
    }

    /// Whether this program has been awake for long enough to claim that all others are absent. Contact is not
    /// required: in that case there is no other seat to hear.
    pub fn may_claim(&self) -> bool {
        self.now.is_some() && self.awake() >= self.calm()
    }

    /// Whether this program has been awake and in contact with another party for long enough to consent to a removal.
    //= P5.3
    pub fn may_consent(&self) -> bool {
        let contact = self.contact;
        contact.is_some_and(|contact| self.uptime.saturating_sub(contact.since) >= self.calm())
    }

    // The journal.

    /// How much of their reserves the seats have used, if the journal lacks any of it.
    pub fn used_to_keep(&mut self) -> Option<Bounded<Used, MAX_SEATS>> {
        let new = self.extra.values_mut().map(Extra::tell).fold(false, |any, new| any | new);
        if !new {
            return None;
        }
        let used = self.extra.iter().map(|(seat, extra)| Used { seat: *seat, time: extra.used() });
        Some(Bounded::first(used.filter(|used| used.time > 0)))
    }

    /// The waits for the seats still `missing` in a step, if it is time to journal them. A wait for another party is
    /// journaled once it is long, and again after each eighth of the absence timeout. A wait for a seat of this program
    /// is journaled once, so that its player sees the true time left after a restart.
    pub fn to_keep(&mut self, step: u64, missing: SeatSet) -> Option<Waits> {
        let now = self.now?;
        let rest = (self.limits.absence / 8).max(NOTED);
        let waits: BTreeMap<Seat, (Moment, Moment)> = missing
            .iter()
            .filter_map(|seat| {
                let (due, is_own) = (*self.due.get(&seat)?, !self.others.contains(seat));
                let heard = if is_own { due } else { *self.heard.get(&seat)? };
                let is_long = self.since(due)? >= if is_own { NOTED } else { rest };
                is_long.then_some((seat, (due, heard)))
            })
            .collect();
        // After a restart, this program acts on a wait only after the calm. A timeout that is no longer than the calm
        // has then passed again, so its moments need no update.
        let counts = self.limits.absence > CALM;
        let offset = offset(now);
        let known = |(seat, (due, heard)): (&Seat, &(Moment, Moment))| {
            self.kept.as_ref().is_some_and(|kept| {
                kept.step == step
                    && kept.offset.abs_diff(offset) <= BREAK
                    && kept.waits.get(seat).is_some_and(|(old, before)| {
                        let moved = counts && heard.saturating_sub(*before) >= moment(rest);
                        old == due && !moved
                    })
            })
        };
        let mut new = waits.iter().filter(|wait| !known(*wait)).peekable();
        new.peek()?;
        let rested = |at: u64| self.uptime.saturating_sub(at) >= rest;
        // What was written by another wall clock must not survive until the next restart.
        let set = |kept: &Kept| kept.offset.abs_diff(offset) > BREAK;
        let may_keep = self.kept.as_ref().is_none_or(|kept| rested(kept.at) || set(kept));
        if !may_keep && new.all(|(seat, _)| self.others.contains(*seat)) {
            return None;
        }
        let wall = |then: Moment| now.wall.saturating_sub(self.since(then).unwrap_or(0));
        let seats = waits.iter().map(|(seat, (due, heard))| Wait { seat: *seat, due: wall(*due), heard: wall(*heard) });
        let seats = Bounded::first(seats);
        self.kept = Some(Kept { step, waits, offset, at: self.uptime });
        Some(Waits { step, seats })
    }
}

/// How far the wall clock is ahead of the monotonic one.
fn offset(now: Now) -> Moment {
    moment(now.wall).saturating_sub(moment(now.up))
}

#[cfg(test)]
mod tests;
