//! The other seats, as one seat knows them: when it heard them, how far they are, and their answers after its return.

use std::collections::BTreeMap;

use super::requests::Requests;
use crate::log::state_request::Nonce;
use crate::party::Parties;
use crate::seat::{Seat, SeatSet};
use crate::table::clocks::Clocks;

/// How many heads of one seat are answered between two ticks: one for each of its own ticks and one
/// for its greeting. A head is small and its answer is not, so a flood of them must not pay.
const ANSWERS_A_TICK: u8 = 2;

/// A seat that has come back and has not heard from all others yet.
#[derive(Clone, Debug)]
struct Return {
    nonce: Nonce,
    /// The seats whose answers this one knows in full.
    heard: SeatSet,
    /// Whether it has been awake for the absence timeout, and waits for a silent minority no longer.
    impatient: bool,
}

/// The other seats, as this one knows them.
#[derive(Debug)]
pub(super) struct Peers {
    clocks: Clocks,
    /// The furthest open step that each seat has told.
    heads: BTreeMap<Seat, u64>,
    /// How many heads of each seat were answered since the last tick.
    answered: BTreeMap<Seat, u8>,
    /// State requests of other seats.
    requests: Requests,
    /// Set from a return until enough others have answered.
    returning: Option<Return>,
}

impl Peers {
    pub(super) fn new(clocks: Clocks) -> Self {
        Self {
            clocks,
            heads: BTreeMap::new(),
            answered: BTreeMap::new(),
            requests: Requests::default(),
            returning: None,
        }
    }

    /// When the others were heard, and for whom the table waits.
    pub(super) fn clocks(&self) -> &Clocks {
        &self.clocks
    }

    pub(super) fn clocks_mut(&mut self) -> &mut Clocks {
        &mut self.clocks
    }

    /// State requests of other seats.
    pub(super) fn requests(&mut self) -> &mut Requests {
        &mut self.requests
    }

    /// Begins a return: nothing is signed before enough others have answered.
    pub(super) fn begin_return(&mut self, nonce: Nonce) {
        self.returning = Some(Return {
            nonce,
            heard: SeatSet::EMPTY,
            impatient: false,
        });
    }

    /// Takes a head; whether it is to be answered.
    pub(super) fn take_head(&mut self, from: Seat, step: u64) -> bool {
        let best = self.heads.entry(from).or_default();
        *best = step.max(*best);
        let answered = self.answered.entry(from).or_default();
        let more = *answered < ANSWERS_A_TICK;
        *answered += u8::from(more);
        more
    }

    /// The furthest open step that a seat has told.
    pub(super) fn head(&self, seat: Seat) -> Option<u64> {
        self.heads.get(&seat).copied()
    }

    /// It is `now` by the wall clock, and the table waits for the `missing` seats.
    pub(super) fn tick(&mut self, now: u64, missing: SeatSet) {
        self.clocks.tick(now);
        self.clocks.expect(missing);
        self.answered.clear();
        self.requests.tick();
        if let Some(back) = &mut self.returning {
            back.impatient |= self.clocks.awake() >= self.clocks.limits().absence;
        }
    }

    /// The nonce of this seat's return, until enough others have answered.
    pub(super) fn returning(&self) -> Option<Nonce> {
        self.returning.as_ref().map(|back| back.nonce)
    }

    /// Whether this seat returns, and has waited in vain for a silent minority.
    pub(super) fn is_impatient(&self) -> bool {
        self.returning.as_ref().is_some_and(|back| back.impatient)
    }

    /// Notes that this seat holds everything of its own that another does.
    pub(super) fn note_answer(&mut self, author: Seat) {
        if let Some(back) = &mut self.returning {
            back.heard.insert(author);
        }
    }

    /// Ends the return if all others have answered, or after an absence timeout a majority, this seat included.
    pub(super) fn settle_return(&mut self, me: Seat, live: SeatSet, parties: Parties) {
        let Some(back) = &self.returning else { return };
        let mut heard = back.heard;
        heard.insert(me);
        let all = live.iter().all(|seat| heard.contains(seat));
        if all || (back.impatient && parties.is_majority(live, heard)) {
            self.returning = None;
        }
    }
}
