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
//!
//! Over 600 lines with its tests, one for each event that starts or stops a clock.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::seat::{MAX_SEATS, Seat, SeatSet};
use crate::timing::Timing;
use crate::wire::bounded::Bounded;

/// The default absence timeout, in milliseconds.
pub const ABSENCE: u64 = 120_000;
/// How long a reachable seat may take for one action if the table sets no turn time, in milliseconds.
const LONG_TURN: u64 = 600_000;
/// The upper bound on how long a program must have been awake and in contact before it consents to a removal, in
/// milliseconds.
pub const CALM: u64 = 120_000;
/// The longest gap between two ticks, or without a message from others, that is not a break, in milliseconds.
const BREAK: u64 = 10_000;
/// One day, in milliseconds.
const DAY: u64 = 86_400_000;
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

/// The extensions of a seat's times, and how much of them is used, in milliseconds.
#[derive(Clone, Debug, Default)]
struct Extra {
    /// The time that others have given it.
    given: u64,
    /// Its holidays by the wall clock: from, and before.
    holidays: Vec<(u64, u64)>,
    /// How much of its reserve it has used in the steps before the open one.
    used: u64,
    /// And in the open one.
    running: u64,
    /// How much of it the journal has.
    kept: u64,
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
                self.extra.entry(seat).or_default().running = running;
            }
        }
    }

    /// Starts the next step: no entry is due yet.
    pub fn next_step(&mut self) {
        for extra in self.extra.values_mut() {
            extra.used = extra.used.saturating_add(std::mem::take(&mut extra.running));
        }
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
            let extra = self.extra.entry(*seat).or_default();
            (extra.used, extra.kept) = (*time, *time);
        }
    }

    /// Sets what others have given a seat, in milliseconds, and its holidays: days counted from the beginning of the wall
    /// clock, the last one excluded.
    pub fn extend(&mut self, seat: Seat, given: u64, holidays: impl IntoIterator<Item = (u32, u32)>) {
        let of = |day: u32| u64::from(day).saturating_mul(DAY);
        let extra = self.extra.entry(seat).or_default();
        extra.given = given;
        let before = std::mem::take(&mut extra.holidays);
        extra.holidays = holidays.into_iter().map(|(first, end)| (of(first), of(end))).collect();
        if extra.holidays != before {
            // It may have been on a holiday of which this program had not heard.
            extra.running = 0;
        }
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
        let (Some(now), Some(extra)) = (self.now, self.extra.get(&seat)) else {
            return 0;
        };
        let then = now.wall.saturating_sub(time);
        let within = |(from, end): &(u64, u64)| (*end).min(now.wall).saturating_sub((*from).max(then));
        extra.holidays.iter().map(within).sum()
    }

    /// For how long a seat's entry has been due, without its holidays.
    fn counted_due(&self, seat: Seat) -> Option<u64> {
        let due = self.due_for(seat)?;
        Some(due.saturating_sub(self.excused(seat, due)))
    }

    /// The rest of a seat's bank, and of the time that others have given it, before the open step.
    pub fn reserve(&self, seat: Seat) -> u64 {
        let extra = self.extra.get(&seat);
        let (given, used) = extra.map_or((0, 0), |extra| (extra.given, extra.used));
        self.limits.bank.saturating_add(given).saturating_sub(used)
    }

    /// The rest of it now, as far as this program has seen.
    pub fn reserve_left(&self, seat: Seat) -> u64 {
        let running = self.extra.get(&seat).map_or(0, |extra| extra.running);
        self.reserve(seat).saturating_sub(running)
    }

    /// The moment of the wall clock at which the holiday of a seat ends, if it has one now.
    pub fn holiday_until(&self, seat: Seat) -> Option<u64> {
        let (now, extra) = (self.now?, self.extra.get(&seat)?);
        let holidays = extra.holidays.iter();
        // One may follow another.
        let end = holidays.fold(now.wall, |at, (from, end)| if (*from..*end).contains(&at) { *end } else { at });
        (end > now.wall).then_some(end)
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
        let new = self.extra.values_mut().filter(|extra| extra.used != extra.kept);
        if new.map(|extra| extra.kept = extra.used).count() == 0 {
            return None;
        }
        let used = self.extra.iter().filter(|(_, extra)| extra.used > 0);
        Some(Bounded::first(used.map(|(seat, extra)| Used { seat: *seat, time: extra.used })))
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
mod tests {
    use super::*;

    const SECOND: u64 = 1_000;
    const MINUTE: u64 = 60 * SECOND;
    const HOUR: u64 = 60 * MINUTE;
    /// An arbitrary wall-clock time.
    const START: u64 = 1_700_000_000_000;

    fn seat(index: usize) -> Seat {
        Seat::new(index).unwrap()
    }

    /// A program that plays seat 0 of three.
    struct Program {
        clocks: Clocks,
        now: u64,
        /// How far somebody has set the wall clock.
        set: i64,
    }

    impl Program {
        fn new(absence: u64, turn_time: Option<u64>) -> Self {
            let limits = Limits { absence, turn_time, bank: 0 };
            let others = [seat(1), seat(2)].into_iter().collect();
            let mut program = Self { clocks: Clocks::new(others, limits), now: START, set: 0 };
            program.clocks.tick(program.time());
            program
        }

        /// The clocks: the monotonic one begins with the program.
        fn time(&self) -> Now {
            let wall = self.now.checked_add_signed(self.set).unwrap();
            Now { up: self.now - START, wall }
        }

        /// Ticks each second for `time`, and hears these seats before each tick.
        fn pass(&mut self, time: u64, heard: &[usize]) {
            let end = self.now + time;
            while self.now < end {
                self.now += SECOND;
                heard.iter().for_each(|at| self.clocks.hear(seat(*at)));
                self.clocks.tick(self.time());
            }
        }

        /// Sleeps until then.
        fn jump(&mut self, now: u64) {
            self.now = now;
            self.clocks.tick(self.time());
        }
    }

    #[test]
    fn a_silent_seat_is_overdue_after_the_timeout() {
        let mut program = Program::new(2 * MINUTE, None);
        program.clocks.expect(SeatSet::one(seat(2)), None);
        program.pass(2 * MINUTE - SECOND, &[1]);
        assert!(!program.clocks.is_overdue(seat(2)) && !program.clocks.may_consent());
        program.pass(2 * SECOND, &[1]);
        assert!(program.clocks.is_overdue(seat(2)) && program.clocks.may_consent());
        assert!(!program.clocks.is_overdue(seat(1)), "nothing of it is due");
        program.clocks.hear(seat(2));
        assert!(!program.clocks.is_overdue(seat(2)), "at once");
    }

    #[test]
    fn a_heard_seat_is_never_overdue() {
        let mut program = Program::new(2 * MINUTE, None);
        program.clocks.expect(SeatSet::one(seat(2)), None);
        for _ in 0..100 {
            program.pass(2 * MINUTE - SECOND, &[1]);
            program.pass(SECOND, &[1, 2]);
            assert!(!program.clocks.is_overdue(seat(2)));
        }
        program.pass(2 * MINUTE, &[1]);
        assert!(program.clocks.is_overdue(seat(2)), "the whole timeout again");
    }

    //= P5.2
    #[test]
    fn the_wait_begins_when_the_entry_is_due() {
        let mut program = Program::new(2 * MINUTE, None);
        program.pass(HOUR, &[1]);
        program.clocks.expect(SeatSet::one(seat(2)), None);
        assert!(program.clocks.is_absent(seat(2)) && !program.clocks.is_overdue(seat(2)));
        program.pass(2 * MINUTE, &[1]);
        assert!(program.clocks.is_overdue(seat(2)));
        program.clocks.next_step();
        program.clocks.expect(SeatSet::one(seat(2)), None);
        assert!(!program.clocks.is_overdue(seat(2)), "another step");
    }

    //= P5.3
    #[test]
    fn nobody_consents_just_after_waking() {
        let mut program = Program::new(2 * MINUTE, None);
        program.clocks.expect(SeatSet::one(seat(2)), None);
        program.pass(3 * MINUTE, &[1, 2]);
        assert!(program.clocks.may_consent() && program.clocks.may_claim());
        program.jump(program.now + HOUR);
        assert!(program.clocks.is_overdue(seat(2)));
        assert!(!program.clocks.may_consent() && !program.clocks.may_claim());
        program.pass(2 * MINUTE - SECOND, &[1]);
        assert!(!program.clocks.may_consent() && !program.clocks.may_claim());
        program.pass(2 * SECOND, &[1]);
        assert!(program.clocks.may_consent() && program.clocks.may_claim());
        assert!(program.clocks.is_overdue(seat(2)), "it was silent all the time");
    }

    //= P5.4
    #[test]
    fn stopped_program_blames_nobody_when_it_goes_on() {
        let mut program = Program::new(2 * SECOND, None);
        program.clocks.expect(SeatSet::one(seat(2)), None);
        program.pass(MINUTE, &[1, 2]);
        assert!(program.clocks.may_consent() && program.clocks.may_claim());
        program.jump(program.now + 5 * SECOND);
        assert!(program.clocks.is_overdue(seat(2)));
        assert!(!program.clocks.may_consent() && !program.clocks.may_claim());
        program.pass(SECOND, &[1]);
        assert!(!program.clocks.may_consent() && !program.clocks.may_claim());
        program.pass(SECOND, &[1]);
        assert!(program.clocks.may_claim());
    }

    #[test]
    fn a_message_before_the_waking_tick_counts_as_new() {
        let mut program = Program::new(2 * MINUTE, None);
        program.clocks.expect(SeatSet::one(seat(2)), None);
        program.clocks.hear(seat(2));
        program.jump(program.now + HOUR);
        assert!(!program.clocks.is_absent(seat(2)));
    }

    //= P5.4
    #[test]
    fn a_set_clock_adds_nothing_to_a_wait() {
        for set in [-60 * 60_000, -11_000, 11_000, 60 * 60_000, 1_000_000_000_000] {
            let mut program = Program::new(2 * MINUTE, Some(10 * MINUTE));
            program.clocks.expect(SeatSet::all(3), None);
            program.pass(MINUTE, &[1]);
            program.set = set;
            program.pass(SECOND, &[1]);
            let waited = program.clocks.waited(seat(2)).unwrap();
            assert_eq!((waited.due, waited.silent), (MINUTE + SECOND, MINUTE + SECOND), "{set}");
            assert!(!program.clocks.is_overdue(seat(2)) && !program.clocks.turn_ran_out(seat(1)));
            assert_eq!(program.clocks.awake(), 0, "it is as careful as after a sleep");
            program.pass(MINUTE - SECOND, &[1]);
            assert!(program.clocks.is_overdue(seat(2)), "no later either");
            assert!(!program.clocks.may_consent() && !program.clocks.may_claim());
            program.pass(MINUTE + SECOND, &[1]);
            assert!(program.clocks.may_consent() && program.clocks.may_claim());
        }
    }

    #[test]
    fn a_slowly_drifting_clock_is_no_break() {
        let mut program = Program::new(2 * MINUTE, None);
        for _ in 0..600 {
            program.set += 500;
            program.pass(SECOND, &[1]);
        }
        assert_eq!(program.clocks.awake(), 10 * MINUTE);
    }

    #[test]
    fn a_clock_that_was_set_is_journaled_anew() {
        let missing = SeatSet::one(seat(2));
        let mut program = Program::new(2 * MINUTE, None);
        program.clocks.expect(missing, None);
        program.pass(MINUTE, &[1]);
        assert!(program.clocks.to_keep(7, missing).is_some());
        program.pass(MINUTE, &[1]);
        assert_eq!(program.clocks.to_keep(7, missing), None);
        program.set = -10 * 60 * 60_000;
        program.pass(MINUTE, &[1]);
        let kept = program.clocks.to_keep(7, missing).unwrap();
        let due = kept.seats.iter().next().unwrap().due;
        assert_eq!(due, START - 10 * HOUR);
        // A clock set back while the program is off starts the wait again.
        for (wall, waited) in [(START - 9 * HOUR, HOUR), (START - 11 * HOUR, 0)] {
            let mut later = Clocks::new(program.clocks.others, program.clocks.limits);
            later.restore(&kept);
            later.tick(Now { up: 5, wall });
            assert_eq!(later.due_for(seat(2)), Some(waited));
        }
    }

    #[test]
    fn a_set_clock_is_journaled_at_once_however_long_the_timeout() {
        let missing = SeatSet::one(seat(2));
        let mut program = Program::new(24 * HOUR, Some(24 * HOUR));
        program.clocks.expect(missing, None);
        program.pass(4 * HOUR, &[1]);
        assert!(program.clocks.to_keep(7, missing).is_some());
        program.set = 9 * 60 * 60_000;
        program.pass(SECOND, &[1]);
        let kept = program.clocks.to_keep(7, missing).unwrap();
        assert_eq!(kept.seats.iter().next().unwrap().due, START + 9 * HOUR);
        program.pass(SECOND, &[1]);
        assert_eq!(program.clocks.to_keep(7, missing), None, "once");
    }

    #[test]
    fn a_seat_that_has_just_come_back_is_not_slow() {
        let mut program = Program::new(MINUTE, None);
        program.clocks.expect(SeatSet::all(3), None);
        program.pass(119 * SECOND, &[1]);
        program.pass(5 * SECOND, &[1, 2]);
        assert!(program.clocks.is_too_slow(seat(1)) && !program.clocks.is_too_slow(seat(2)));
        program.pass(MINUTE, &[1, 2]);
        assert!(program.clocks.is_too_slow(seat(2)));
    }

    #[test]
    fn an_entry_that_no_person_decides_has_its_own_limit() {
        for (absence, allowed) in [(5 * SECOND, 2 * MINUTE), (5 * MINUTE, 5 * MINUTE)] {
            let mut program = Program::new(absence, Some(30 * SECOND));
            program.clocks.expect(SeatSet::all(3), None);
            program.pass(allowed - SECOND, &[2]);
            assert!(!program.clocks.is_too_slow(seat(2)));
            program.pass(SECOND, &[2]);
            assert!(program.clocks.is_too_slow(seat(2)));
            assert!(!program.clocks.is_too_slow(seat(1)), "it is absent");
        }
    }

    //= P5.3
    #[test]
    fn nobody_consents_without_contact() {
        let mut program = Program::new(2 * MINUTE, None);
        program.pass(HOUR, &[]);
        assert!(!program.clocks.may_consent() && program.clocks.may_claim());
        program.pass(2 * MINUTE + SECOND, &[1]);
        assert!(program.clocks.may_consent());
        program.pass(BREAK, &[]);
        assert!(program.clocks.may_consent(), "a short silence is no break");
        program.pass(SECOND, &[]);
        program.pass(2 * MINUTE, &[1]);
        assert!(!program.clocks.may_consent(), "it begins again");
        program.pass(SECOND, &[1]);
        assert!(program.clocks.may_consent());
    }

    #[test]
    fn seats_of_the_own_party_are_no_contact() {
        let mut program = Program::new(2 * MINUTE, None);
        program.clocks.expect(SeatSet::all(3), None);
        program.pass(HOUR, &[0]);
        assert!(!program.clocks.may_consent());
        assert!(!program.clocks.is_overdue(seat(0)));
    }

    #[test]
    fn a_long_timeout_needs_no_longer_calm() {
        let mut program = Program::new(24 * HOUR, None);
        program.clocks.expect(SeatSet::one(seat(2)), None);
        program.jump(START + 25 * HOUR);
        program.pass(2 * MINUTE + SECOND, &[1]);
        assert!(program.clocks.may_consent() && program.clocks.is_overdue(seat(2)));
    }

    #[test]
    fn turn_time_runs_only_for_a_reachable_seat() {
        for (turn_time, allowed) in [(None, 10 * MINUTE), (Some(30 * SECOND), 30 * SECOND)] {
            let mut program = Program::new(2 * MINUTE, turn_time);
            program.clocks.expect(SeatSet::all(3), None);
            program.pass(allowed - SECOND, &[2]);
            assert!(!program.clocks.turn_ran_out(seat(2)));
            program.pass(SECOND, &[2]);
            assert!(program.clocks.turn_ran_out(seat(2)));
            program.pass(2 * MINUTE, &[1]);
            assert!(!program.clocks.turn_ran_out(seat(2)), "it is absent");
            program.clocks.next_step();
            assert!(!program.clocks.turn_ran_out(seat(1)));
        }
    }

    #[test]
    fn a_kept_wait_goes_on_after_a_restart() {
        let mut program = Program::new(24 * HOUR, None);
        let missing = SeatSet::one(seat(2));
        program.clocks.expect(missing, None);
        let mut kept = Vec::new();
        for _ in 0..20 * 60 {
            program.pass(MINUTE, &[1]);
            kept.extend(program.clocks.to_keep(7, missing));
        }
        assert_eq!(kept.len(), 1, "the wait has not changed");
        let mut later = Program::new(24 * HOUR, None);
        later.clocks = Clocks::new(later.clocks.others, later.clocks.limits);
        later.clocks.restore(&kept[0]);
        later.jump(START + 25 * HOUR);
        later.clocks.expect(missing, None);
        assert!(later.clocks.is_overdue(seat(2)) && !later.clocks.may_consent());
        later.pass(2 * MINUTE + SECOND, &[1]);
        assert!(later.clocks.is_overdue(seat(2)) && later.clocks.may_consent());
    }

    /// A player who thinks for long and restarts the program gets no more time than the others grant.
    #[test]
    fn own_wait_is_kept_once_and_goes_on_after_a_restart() {
        let mut program = Program::new(24 * HOUR, Some(24 * HOUR));
        let own = SeatSet::one(seat(0));
        program.clocks.expect(SeatSet::one(seat(2)), None);
        program.pass(4 * HOUR, &[1]);
        let others = program.clocks.to_keep(6, SeatSet::one(seat(2)));
        assert!(others.is_some());
        program.clocks.next_step();
        program.clocks.expect(own, None);
        let due = program.now;
        let mut kept = Vec::new();
        for _ in 0..60 {
            program.pass(MINUTE, &[1, 2]);
            kept.extend(program.clocks.to_keep(7, own));
        }
        assert_eq!(kept.len(), 1);
        let mut later = Program::new(24 * HOUR, Some(24 * HOUR));
        later.clocks = Clocks::new(later.clocks.others, later.clocks.limits);
        later.clocks.restore(&kept[0]);
        later.jump(due + 30 * HOUR);
        later.clocks.expect(own, None);
        assert_eq!(later.clocks.due_for(seat(0)), Some(30 * HOUR));
        assert!(!later.clocks.is_absent(seat(0)) && !later.clocks.is_overdue(seat(0)));
    }

    #[test]
    fn a_kept_wait_of_an_older_step_is_forgotten() {
        let mut program = Program::new(2 * MINUTE, None);
        program.clocks = Clocks::new(program.clocks.others, program.clocks.limits);
        program.clocks.restore(&Waits {
            step: 7,
            seats: vec![Wait { seat: seat(2), due: START, heard: START }].try_into().unwrap(),
        });
        program.clocks.next_step();
        program.jump(START + HOUR);
        program.clocks.expect(SeatSet::one(seat(2)), None);
        assert!(!program.clocks.is_absent(seat(2)) && !program.clocks.is_overdue(seat(2)));
    }

    #[test]
    fn waits_are_kept_sparsely() {
        let missing = SeatSet::one(seat(2));
        for (absence, most) in [(2 * MINUTE, 1), (24 * HOUR, 8)] {
            let mut program = Program::new(absence, None);
            for step in 0..100 {
                program.clocks.next_step();
                program.clocks.expect(missing, None);
                program.pass(10 * SECOND, &[1, 2]);
                let kept = program.clocks.to_keep(step, missing);
                assert_eq!(kept, None, "a quick move costs no record");
            }
            program.clocks.next_step();
            program.clocks.expect(missing, None);
            let kept = (0..24 * 60)
                .filter(|_| {
                    program.pass(MINUTE, &[1, 2]);
                    program.clocks.to_keep(100, missing).is_some()
                })
                .count();
            assert!(kept > 0 && kept <= most, "{kept} of {most}");
        }
    }

    /// A program at a table with a turn of an hour and a bank of two; seat 1 decides.
    fn banked() -> Program {
        let mut program = Program::new(HOUR, Some(HOUR));
        program.clocks.set_limits(Limits { bank: 2 * HOUR, ..program.clocks.limits() });
        program.expect();
        program
    }

    impl Program {
        fn expect(&mut self) {
            self.clocks.expect(SeatSet::one(seat(1)), Some(seat(1)));
        }

        /// Lets hours pass in which seat 1 is heard and decides nothing.
        fn ponder(&mut self, hours: u64) {
            for _ in 0..hours * 60 {
                self.pass(MINUTE, &[1]);
                self.expect();
            }
        }
    }

    //= P7.1
    #[test]
    fn a_wait_beyond_the_turn_time_uses_up_the_bank() {
        let mut program = banked();
        program.ponder(2);
        assert!(!program.clocks.turn_ran_out(seat(1)), "an hour of the bank is left");
        program.clocks.next_step();
        assert_eq!(program.clocks.reserve(seat(1)), HOUR);
        program.expect();
        program.ponder(1);
        program.clocks.next_step();
        assert_eq!(program.clocks.reserve(seat(1)), HOUR, "a turn in time takes nothing");
        program.expect();
        program.ponder(2);
        assert!(program.clocks.turn_ran_out(seat(1)), "and now it is used up");
        assert_eq!(program.clocks.reserve(seat(2)), 2 * HOUR);
        program.clocks.extend(seat(1), 30 * MINUTE, []);
        assert!(!program.clocks.turn_ran_out(seat(1)), "somebody gives it more");
        program.ponder(1);
        assert!(program.clocks.turn_ran_out(seat(1)));
        program.clocks.next_step();
        assert_eq!(program.clocks.reserve(seat(1)), 0, "never less than nothing");
        let kept = program.clocks.used_to_keep().unwrap();
        assert_eq!(&*kept, &[Used { seat: seat(1), time: 2 * HOUR + 30 * MINUTE }]);
        assert_eq!(program.clocks.used_to_keep(), None);
        let mut later = Clocks::new(program.clocks.others, program.clocks.limits);
        later.restore_used(&kept);
        assert_eq!((later.reserve(seat(1)), later.used_to_keep()), (0, None));
    }

    /// A look of a moment after a week charges nobody for the days between: what was sent meanwhile may still be on its way.
    #[test]
    fn only_a_program_that_is_awake_counts_what_is_used() {
        let mut program = banked();
        program.jump(program.now + 7 * 24 * HOUR);
        program.expect();
        assert!(program.clocks.is_overdue(seat(1)));
        program.clocks.next_step();
        assert_eq!(program.clocks.reserve(seat(1)), 2 * HOUR, "its entry was on the way");
    }

    #[test]
    fn an_absent_seat_uses_its_bank_too() {
        let mut program = banked();
        for _ in 0..2 * 60 {
            program.pass(MINUTE, &[2]);
            program.expect();
        }
        assert!(program.clocks.is_absent(seat(1)) && !program.clocks.is_overdue(seat(1)));
        for _ in 0..60 {
            program.pass(MINUTE, &[2]);
            program.expect();
        }
        assert!(program.clocks.is_overdue(seat(1)));
    }

    /// The bank of an absent seat is used from the limit on after which the others may go on without it.
    #[test]
    fn absence_uses_the_bank_before_the_turn_time_is_over() {
        let mut program = Program::new(HOUR, Some(10 * HOUR));
        program.clocks.set_limits(Limits { bank: 5 * HOUR, ..program.clocks.limits() });
        program.expect();
        for _ in 0..3 * 60 {
            program.pass(MINUTE, &[2]);
            program.expect();
        }
        // It comes back with its entry.
        program.clocks.next_step();
        assert_eq!(program.clocks.reserve(seat(1)), 3 * HOUR);
        program.expect();
        program.ponder(4);
        program.clocks.next_step();
        assert_eq!(program.clocks.reserve(seat(1)), 3 * HOUR, "it was there");
    }

    /// A holiday may be heard of when it has long begun: it takes nothing from the bank then.
    #[test]
    fn late_news_of_a_holiday_gives_the_bank_back() {
        let today = u32::try_from(START / DAY).unwrap();
        let mut program = Program::new(HOUR, Some(HOUR));
        program.clocks.set_limits(Limits { bank: 9 * HOUR, ..program.clocks.limits() });
        program.expect();
        program.ponder(4);
        assert_eq!(program.clocks.reserve_left(seat(1)), 6 * HOUR);
        // With its entry, or before it.
        program.clocks.extend(seat(1), 0, [(today, today + 9)]);
        assert_eq!(program.clocks.reserve_left(seat(1)), 9 * HOUR);
        program.clocks.next_step();
        assert_eq!((program.clocks.reserve(seat(1)), program.clocks.used_to_keep()), (9 * HOUR, None));
    }

    //= P7.2
    #[test]
    fn holidays_count_for_no_wait() {
        let today = u32::try_from(START / DAY).unwrap();
        let mut program = Program::new(24 * HOUR, Some(24 * HOUR));
        program.clocks.extend(seat(1), 0, [(today + 1, today + 4)]);
        program.expect();
        program.jump(program.now + 4 * DAY);
        let waited = program.clocks.waited(seat(1)).unwrap();
        assert_eq!((waited.due, waited.silent), (4 * DAY, 4 * DAY));
        assert_eq!(program.clocks.until_overdue(seat(1)), Some(0));
        assert_eq!(program.clocks.charged_for(seat(1)), Some(DAY));
        assert!(program.clocks.is_overdue(seat(1)), "the day before its holidays and the hours after them");
        let mut program = Program::new(24 * HOUR, Some(24 * HOUR));
        program.clocks.extend(seat(1), 0, [(today, today + 4), (today + 4, today + 5)]);
        program.expect();
        let until = u64::from(today + 5) * DAY;
        assert_eq!(program.clocks.holiday_until(seat(1)), Some(until));
        assert_eq!(program.clocks.holiday_until(seat(2)), None);
        program.jump(program.now + 4 * DAY);
        assert!(!program.clocks.is_absent(seat(1)) && !program.clocks.is_overdue(seat(1)));
        assert!(program.clocks.is_absent(seat(2)));
        program.jump(program.now + 2 * DAY);
        assert!(program.clocks.is_overdue(seat(1)) && program.clocks.holiday_until(seat(1)).is_none());
    }
}
