//! More time for others, and holidays: who may have what, the questions, and what is left of each player's time.

use fairdeal_games::listed;
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_session::view::{Snapshot, Standing, date_in_words, time_in_words};
use ratatui::text::Line;

use super::{Asked, TableScreen, button};
use crate::app::screen::{Cx, Question};
use crate::app::screens::holiday::Holiday;
use crate::canvas::{Canvas, Target};

/// The times that can be given at a table with turns of up to an hour: key, words, and seconds.
const SHORT: [(char, &str, u32); 3] = [('m', "a minute", 60), ('f', "five minutes", 300), ('h', "an hour", 3600)];
/// And at others.
const LONG: [(char, &str, u32); 3] =
    [('h', "half a day", 43_200), ('d', "a day", 86_400), ('t', "three days", 259_200)];
/// The longest time of a table where a minute counts, in seconds.
const HOUR: u32 = 3600;

impl TableScreen {
    /// The table, if its times can be extended: it is sealed, in play, and this player sits at it.
    fn extensible(&self) -> Option<(&Snapshot, Seat)> {
        let now = self.snapshot.as_ref().filter(|now| matches!(now.standing, Standing::Sealed(_)))?;
        let is_open = self.ending.outcome.is_none() && !self.is_closed() && !now.waits.is_leaving;
        now.me.filter(|_| is_open && now.timing.is_some()).map(|me| (now, me))
    }

    /// The players to whom this one can give more time: people of other programs, still at the table.
    pub(super) fn may_give(&self) -> SeatSet {
        let Some((now, me)) = self.extensible() else { return SeatSet::EMPTY };
        let Standing::Sealed(progress) = &now.standing else { return SeatSet::EMPTY };
        let parties = &now.seating.parties;
        let is_other = |seat: &Seat| parties.is_person(*seat) && parties.party_of(*seat) != parties.party_of(me);
        progress.live.iter().filter(is_other).collect()
    }

    /// Whether this player can declare a holiday.
    pub(super) fn may_rest(&self) -> bool {
        self.extensible().is_some_and(|(now, _)| now.holidays_left > 0)
    }

    pub(super) fn open_holiday(&self, cx: &mut Cx<'_>) {
        if let Some(now) = self.snapshot.as_ref().filter(|_| self.may_rest()) {
            cx.push(Holiday::new(cx.context, now.holidays_left, now.holidays.clone()));
        }
    }

    /// Asks how much time to give a player.
    pub(super) fn ask_gift(&mut self, cx: &mut Cx<'_>, seat: Seat) {
        if !self.may_give().contains(seat) {
            return;
        }
        let timing = self.snapshot.as_ref().and_then(|now| now.timing);
        let longest = timing.map_or(0, |timing| timing.absence().max(timing.turn_time().unwrap_or(0)));
        let amounts = if longest <= HOUR { SHORT } else { LONG };
        let answers = amounts.into_iter().map(|(key, words, _)| (key, words.to_owned(), String::new()));
        let text = format!("How much extra time for {}? You can't take it back.", self.name_of(seat));
        cx.ask(Question { text, answers: answers.collect() });
        self.asked = Some(Asked::Give(seat, amounts.map(|(.., seconds)| seconds)));
    }

    /// The players for whom the table waits, and to whom this one can give more time.
    fn late(&self) -> SeatSet {
        let waits = self.snapshot.iter().flat_map(|now| &now.waits.seats);
        let may_give = self.may_give();
        waits.map(|waiting| waiting.seat).filter(|seat| may_give.contains(*seat)).collect()
    }

    /// Offers to fingers what keys and the palette do about those who are late, and holidays.
    pub(super) fn offer_times(&self, canvas: &mut Canvas<'_>) {
        let button = |first: u16, seat: Seat| Target::Button(first + u16::from(seat.number()));
        for seat in self.may_propose().iter() {
            canvas.offer(&format!("play on without {}", self.name_of(seat)), button(button::PROPOSE, seat));
        }
        for seat in self.late().iter() {
            canvas.offer(&format!("give {} time", self.name_of(seat)), button(button::GIVE, seat));
        }
        if self.may_rest() {
            canvas.offer("holiday", button::HOLIDAY);
        }
    }

    /// The players for whom the table waits in vain, and the key that gives them more time, as a sentence after others.
    pub(super) fn gift_in_words(&self, palette: &str) -> String {
        let names: Vec<String> = self.late().iter().map(|seat| self.name_of(seat)).collect();
        if names.is_empty() {
            String::new()
        } else {
            format!(" Or press {palette} to give {} more time.", listed(&names))
        }
    }
}

/// The rest of each player's bank and of the time that others have given, for the sheet of scores.
pub(super) fn reserves(now: &Snapshot) -> Vec<Line<'static>> {
    let live = match &now.standing {
        Standing::Sealed(progress) => progress.live,
        Standing::Practice { .. } | Standing::Puzzle => SeatSet::EMPTY,
    };
    let people = live.iter().filter(|seat| now.seating.parties.is_person(*seat));
    let row = |seat: Seat| {
        let name = now.names.get(seat.index()).map_or("", String::as_str);
        Line::raw(format!("{:>10}  {name}", time_in_words(reserve_of(now, seat))))
    };
    if now.waits.reserves.is_empty() { Vec::new() } else { people.map(row).collect() }
}

/// The rest of a player's bank and of the time that others have given, in seconds.
pub(super) fn reserve_of(now: &Snapshot, seat: Seat) -> u64 {
    now.waits.reserves.get(seat.index()).copied().unwrap_or(0)
}

/// The end of a holiday in words.
pub(super) fn holiday_in_words(last: u32) -> String {
    format!("on holiday until {}", date_in_words(last))
}
