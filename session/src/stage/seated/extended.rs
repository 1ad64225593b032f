//! Extensions of time: more time for another player, holidays, and what the player reads of them.

use fairdeal_protocol::log::extensions::{Extension, Extensions, Holiday};
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::timing::Timing;

use super::Seated;
use crate::cx::Cx;
use crate::events::SessionEvent;
use crate::view::{coarse, days_in_words, time_in_words};

/// One day, in milliseconds.
const DAY: u64 = 86_400_000;

impl Seated {
    /// Gives another player more time, or declares a holiday.
    pub(super) fn extend(&mut self, more: Extension, cx: &mut Cx<'_>) {
        let today = u32::try_from(cx.now.wall / DAY).unwrap_or(u32::MAX);
        if let Err(why) = self.table.extend(more, today) {
            cx.refuse(why.to_string());
        }
    }

    /// The new extensions of a seat, each with a line for the log.
    pub(super) fn extended(&self, before: Option<&Extensions>, said: &Extensions) -> Vec<SessionEvent> {
        let me = self.table.me();
        let name = |seat: Seat| if seat == me { "you".to_owned() } else { self.name(seat) };
        let by = if said.seat == me { "You".to_owned() } else { self.name(said.seat) };
        let gives = said.given.iter().filter_map(|given| {
            let earlier = before.map_or(0, |before| before.given_to(given.to));
            let seconds = given.seconds.checked_sub(earlier).filter(|seconds| *seconds > 0)?;
            let verb = if said.seat == me { "give" } else { "gives" };
            let time = time_in_words(u64::from(seconds));
            let line = format!("{by} {verb} {} {time} of extra time.", name(given.to));
            Some((Extension::Give { to: given.to, seconds }, line))
        });
        let is_new = |holiday: &&Holiday| before.is_none_or(|before| !before.holidays.contains(holiday));
        let rests = said.holidays.iter().filter(is_new).map(|holiday| {
            let (verb, whose) =
                if said.seat == me { ("declare", "Your".to_owned()) } else { ("declares", format!("{by}'s")) };
            let when = days_in_words(holiday.first, holiday.days.into());
            let line = format!("{by} {verb} a holiday: {when}. {whose} clock stops on those days.");
            (Extension::Holiday { first: holiday.first, days: holiday.days }, line)
        });
        let all = gives.chain(rests);
        all.map(|(extension, line)| SessionEvent::Extended { seat: said.seat, extension, line }).collect()
    }

    /// The rest of each seat's bank and of the time that others have given it, in seconds; empty if none has any.
    pub(super) fn reserves(&self) -> Vec<u64> {
        let clocks = self.table.clocks();
        let seats = Seat::first(self.names.len());
        let has_any = clocks.limits().bank > 0 || seats.clone().any(|seat| self.table.given_to(seat) > 0);
        if has_any { seats.map(|seat| coarse(clocks.reserve_left(seat))).collect() } else { Vec::new() }
    }

    /// The days of holiday that this player can still declare.
    pub(super) fn holidays_left(&self) -> u32 {
        let allowed = self.charter.charter().timing().map_or(0, Timing::holidays);
        let taken = self.table.holidays_of(self.table.me()).iter().map(|holiday| u32::from(holiday.days));
        allowed.saturating_sub(taken.sum())
    }

    /// The holidays that this player has declared: the first day of each, and the day after its last one.
    pub(super) fn holidays(&self) -> Vec<(u32, u32)> {
        let declared = self.table.holidays_of(self.table.me()).iter();
        declared.map(|holiday| (holiday.first, holiday.end())).collect()
    }

    /// The last day of a seat's holiday, if it has one now.
    pub(super) fn on_holiday(&self, seat: Seat) -> Option<u32> {
        let end = self.table.clocks().holiday_until(seat)?;
        u32::try_from(end / DAY).ok()?.checked_sub(1)
    }
}
