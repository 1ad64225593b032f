//! The other seats from the point of view of one: when each was last heard, how far it has come, and its answer after
//! this seat's return.

use std::collections::BTreeMap;

use super::requests::Requests;
use crate::log::state_request::Nonce;
use crate::party::Parties;
use crate::seat::{Seat, SeatSet};
use crate::table::clocks::Clocks;

/// The most heads of one seat answered between two ticks: one for its own tick and one for its greeting. A head is
/// small and its answer is large, so without a limit a flood of heads would be cheap and harmful.
const ANSWERS_A_TICK: u8 = 2;

/// The state of a returning seat that waits for the others' answers.
#[derive(Clone, Debug)]
struct Return {
    nonce: Nonce,
    /// The seats whose answers hold nothing unknown to this one.
    heard: SeatSet,
    /// Whether this seat has been awake for the absence timeout, and no longer waits for a silent minority.
    impatient: bool,
}

/// The other seats, as this one knows them.
#[derive(Debug)]
pub(super) struct Peers {
    clocks: Clocks,
    /// The highest open step that each seat has announced.
    heads: BTreeMap<Seat, u64>,
    /// How many heads of each seat were answered since the last tick.
    answered: BTreeMap<Seat, u8>,
    /// State requests of other seats.
    requests: Requests,
    /// Set after a return until enough others have answered.
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

    /// When the others were last heard, and since when the table waits for them.
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

    /// Begins a return: this seat signs nothing until enough others have answered.
    pub(super) fn begin_return(&mut self, nonce: Nonce) {
        self.returning = Some(Return {
            nonce,
            heard: SeatSet::EMPTY,
            impatient: false,
        });
    }

    /// Takes a head. Returns whether to answer it.
    pub(super) fn take_head(&mut self, from: Seat, step: u64) -> bool {
        let best = self.heads.entry(from).or_default();
        *best = step.max(*best);
        let answered = self.answered.entry(from).or_default();
        let more = *answered < ANSWERS_A_TICK;
        *answered += u8::from(more);
        more
    }

    /// The highest open step that a seat has announced.
    pub(super) fn head(&self, seat: Seat) -> Option<u64> {
        self.heads.get(&seat).copied()
    }

    /// Advances to the wall-clock time `now`; the table waits for the `missing` seats.
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

    /// Whether this seat is returning and has waited in vain for a silent minority.
    pub(super) fn is_impatient(&self) -> bool {
        self.returning.as_ref().is_some_and(|back| back.impatient)
    }

    /// Notes that this seat knows all of its own records that another seat holds.
    pub(super) fn note_answer(&mut self, author: Seat) {
        if let Some(back) = &mut self.returning {
            back.heard.insert(author);
        }
    }

    /// Ends the return when all others have answered, or after an absence timeout when a majority has, this seat
    /// included.
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
