//! The extensions of one seat's times, and how much of them it has used.

/// One day, in milliseconds.
const DAY: u64 = 86_400_000;

/// The extensions of a seat, in milliseconds.
#[derive(Clone, Debug, Default)]
pub(super) struct Extra {
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

impl Extra {
    /// Sets what others have given, and the holidays: days counted from the beginning of the wall clock, the last one
    /// excluded.
    pub(super) fn set(&mut self, given: u64, holidays: impl IntoIterator<Item = (u32, u32)>) {
        let of = |day: u32| u64::from(day).saturating_mul(DAY);
        let holidays = holidays.into_iter().map(|(first, end)| (of(first), of(end))).collect();
        self.given = given;
        if self.holidays != holidays {
            // It may have been on a holiday of which this program had not heard.
            self.running = 0;
            self.holidays = holidays;
        }
    }

    /// How much of the last so many milliseconds before that moment of the wall clock fell on holidays.
    pub(super) fn excused(&self, time: u64, wall: u64) -> u64 {
        let then = wall.saturating_sub(time);
        let within = |(from, end): &(u64, u64)| (*end).min(wall).saturating_sub((*from).max(then));
        self.holidays.iter().map(within).sum()
    }

    /// The end of the holiday at that moment of the wall clock, if it falls on one. One may follow another.
    pub(super) fn holiday_until(&self, wall: u64) -> Option<u64> {
        let on = |at: u64, (from, end): &(u64, u64)| if (*from..*end).contains(&at) { *end } else { at };
        let end = self.holidays.iter().fold(wall, on);
        (end > wall).then_some(end)
    }

    /// The rest of a bank and of what was given, before the open step.
    pub(super) fn reserve(&self, bank: u64) -> u64 {
        bank.saturating_add(self.given).saturating_sub(self.used)
    }

    /// How much of that the open step uses.
    pub(super) fn running(&self) -> u64 {
        self.running
    }

    pub(super) fn run(&mut self, time: u64) {
        self.running = time;
    }

    /// Ends the open step: what it has used is gone.
    pub(super) fn next_step(&mut self) {
        self.used = self.used.saturating_add(std::mem::take(&mut self.running));
    }

    /// How much it has used in the steps before the open one.
    pub(super) fn used(&self) -> u64 {
        self.used
    }

    pub(super) fn restore(&mut self, used: u64) {
        (self.used, self.kept) = (used, used);
    }

    /// Whether the journal lacks what it has used; it is told now.
    pub(super) fn tell(&mut self) -> bool {
        self.used != std::mem::replace(&mut self.kept, self.used)
    }
}
