//! Unit tests of the module above: one for each event that starts or stops a clock.

use super::*;

const SECOND: u64 = 1_000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;
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
    program
        .clocks
        .restore(&Waits { step: 7, seats: vec![Wait { seat: seat(2), due: START, heard: START }].try_into().unwrap() });
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
