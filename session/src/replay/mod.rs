//! Replays a past game step by step from its transcript: the public view and the events in words. If the seeds of a
//! deal have been opened, it also shows every hand.
//!
//! An audit makes the replay. It shows nothing unverified, and ends where the audit stops. A step here is a log step
//! with something to see; log steps that only carry answers belong to the step before them.
//!
//! # Cost
//! Opening a replay costs little more than its audit. The state after every step is kept, and a jump to any step costs
//! one copy of a state: some microseconds. A state takes a kilobyte or two. At most [`MAX_STEPS`] are kept, so a
//! stranger's file cannot fill the memory; a game of Houses of Thoth to 300 points has some 7000.

pub mod deals;
pub mod meaning;
pub mod page;
mod reading;
mod record;

use std::collections::BTreeMap;
use std::sync::Arc;

use fairdeal_games::{AnyAction, AnyGame};
use fairdeal_protocol::audit::auditor::{Report, Tally};
use fairdeal_protocol::card::{DeckId, Face, Faces, Handle};
use fairdeal_protocol::game::RuleSetError;
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::log::claim::Ground;
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::abandonment::Abandonment;
use fairdeal_protocol::table::live::Progress;
use fairdeal_protocol::transcript::End;

use self::deals::PlayedDeal;
pub use self::reading::Reading;
use crate::narrate::LogLine;
use crate::terms::Terms;
use crate::view::{Seating, Snapshot, Standing, Waits};

/// The most steps of a replay; later ones are audited but not shown.
pub const MAX_STEPS: usize = 1 << 16;

/// The verdict of an audit without findings.
pub fn verdict(report: &Report, seats: usize, terms: &Terms) -> String {
    if let Some(deal) = recomputed_deal(report, terms) {
        return format!("rules followed; {deal}, recomputed");
    }
    let words = match (report.end, seats) {
        _ if report.claims.len() == 1 => {
            let out_of_time = |claim: &Abandonment| claim.ground == Ground::OutOfTime;
            if report.claims.iter().all(out_of_time) {
                "fair so far, unfinished: one player closed the table, claiming that the other ran out of time"
            } else {
                "fair so far, unfinished: closed by players who claim that the others stayed away"
            }
        }
        _ if report.claims.len() > 1 => {
            "fair so far, unfinished: each side claims against the other, so neither claim counts"
        }
        (_, 1) => "rules followed; nobody else vouches for the shuffle",
        (End::Finished, _) if !report.unopened.is_empty() => {
            "fair, finished: some seeds of the last deal were not revealed, so proofs alone vouch for those shuffles"
        }
        (End::Finished, _) => "fair",
        _ => "fair so far, unfinished: the seeds of the last deal were never revealed",
    };
    words.to_owned()
}

/// The deal of a day in words, if the audit has compared it with one that it computed: the first action names the
/// digest of the state with the whole deck.
fn recomputed_deal(report: &Report, terms: &Terms) -> Option<String> {
    terms.deal_in_words().filter(|_| report.tally.actions > 0)
}

/// The point of view of a step. Only deals with opened seeds have visible hands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Eyes {
    /// Public cards only.
    #[default]
    Everybody,
    /// Also the cards dealt to one seat.
    Seat(Seat),
    /// Also the cards dealt to every seat.
    All,
}

/// Why there is no replay.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// The charter's rules are of no game known here.
    #[error(transparent)]
    Rules(#[from] RuleSetError),
    /// The caller cancelled it.
    #[error("broken off")]
    BrokenOff,
}

/// An action and its seat.
#[derive(Clone, Debug, PartialEq)]
pub struct Act {
    pub seat: Seat,
    pub action: AnyAction,
}

/// One step of a game.
#[derive(Clone, Debug)]
pub struct Step<'a> {
    /// Its index in the replay, from 0.
    pub number: usize,
    /// The deal, from 0.
    pub deal: u32,
    /// Its step in the log; `None` before the first.
    pub log_step: Option<u64>,
    /// Its actions: at most one in turn, then those out of turn, all from one step of the log.
    pub acts: &'a [Act],
    /// Its events, as the table's log words them.
    pub lines: &'a [LogLine],
    /// The checks made for it, each with its count. Checks never made are left out.
    pub checks: Vec<(&'static str, u64)>,
    /// The game after this step.
    pub game: &'a AnyGame,
    /// Whether the hands of this deal are visible.
    pub opened: bool,
}

#[derive(Debug)]
struct Kept {
    log_step: Option<u64>,
    deal: u32,
    acts: Vec<Act>,
    lines: Vec<LogLine>,
    game: Arc<AnyGame>,
    progress: Progress,
    here: SeatSet,
    /// The number of cards of the deal dealt so far.
    dealt: usize,
    /// The number of decks of the deal sealed so far.
    sealed: usize,
    /// All checks up to and including this step.
    tally: Tally,
}

/// The sealed cards of a deal.
#[derive(Debug, Default)]
struct Cards {
    /// The cards in dealing order, each with its seat.
    dealt: Vec<(Handle, Seat)>,
    /// The decks in the order of their shuffles, each with the faces that everybody saw go into it.
    sealed: Vec<(DeckId, Vec<Face>)>,
    /// Their faces, if the seeds have been opened.
    faces: Option<Faces>,
}

/// A game to replay.
#[derive(Debug)]
pub struct Replay {
    table: Hash32,
    names: Vec<String>,
    seating: Seating,
    terms: Terms,
    first: Kept,
    rest: Vec<Kept>,
    cards: BTreeMap<u32, Cards>,
    deals: Vec<PlayedDeal>,
    report: Report,
    cut: bool,
}

impl Replay {
    /// The number of steps; at least one.
    // A replay is never empty.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        1 + self.rest.len()
    }

    /// The index of the last step.
    pub fn last(&self) -> usize {
        self.rest.len()
    }

    /// The audit's report.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Whether the game has more steps than a replay can hold.
    pub fn is_cut(&self) -> bool {
        self.cut
    }

    /// The players in their seats, as the charter declares them.
    pub fn seating(&self) -> &Seating {
        &self.seating
    }

    /// The game with its options.
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// The players' names, cleaned for display, in seat order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The deals of the game.
    pub fn deals(&self) -> &[PlayedDeal] {
        &self.deals
    }

    /// A step; the last one if `number` is beyond it.
    pub fn step(&self, number: usize) -> Step<'_> {
        let number = number.min(self.last());
        let kept = self.kept(number);
        let before = number.checked_sub(1).map(|before| self.kept(before).tally);
        Step {
            number,
            deal: kept.deal,
            log_step: kept.log_step,
            acts: &kept.acts,
            lines: &kept.lines,
            checks: made_since(&before.unwrap_or_default(), &kept.tally),
            game: &kept.game,
            opened: self.faces(kept.deal).is_some(),
        }
    }

    /// The first step of a deal; `None` if it is not in the replay.
    pub fn deal_start(&self, deal: u32) -> Option<usize> {
        // Deal numbers only go up.
        let start = if self.first.deal >= deal { 0 } else { 1 + self.rest.partition_point(|kept| kept.deal < deal) };
        (start < self.len() && self.kept(start).deal == deal).then_some(start)
    }

    /// The faces of all cards of a deal, in hands or not, if its seeds have been opened. The hand of a seat that had
    /// departed by then is missing.
    pub fn faces(&self, deal: u32) -> Option<&Faces> {
        self.cards.get(&deal)?.faces.as_ref()
    }

    /// The sealed cards known from a point of view at a step, with what was shuffled into each deck, as a seat remembers it.
    pub fn known(&self, number: usize, eyes: Eyes) -> Faces {
        let mut known = Faces::new();
        let kept = self.kept(number);
        let cards = self.cards.get(&kept.deal);
        let Some((cards, faces)) = cards.and_then(|cards| Some((cards, cards.faces.as_ref()?))) else {
            return known;
        };
        for (card, to) in cards.dealt.iter().take(kept.dealt) {
            let seen = match eyes {
                Eyes::Everybody => false,
                Eyes::Seat(seat) => *to == seat,
                Eyes::All => true,
            };
            if let (true, Some(face)) = (seen, faces.get(*card)) {
                known.set(*card, face);
            }
        }
        if eyes != Eyes::Everybody {
            for (deck, faces) in cards.sealed.iter().take(kept.sealed) {
                known.record_shuffle(*deck, faces);
            }
        }
        known
    }

    /// The steps at which a seat acted, of deals whose seeds have been opened. The step before shows what it had to decide
    /// upon: [`Self::known`] from its eyes is what it knew then.
    pub fn decisions(&self, seat: Seat) -> Vec<usize> {
        let acted = |number: &usize| {
            let (kept, before) = (self.kept(*number), self.kept(number - 1));
            let first = kept.acts.first().is_some_and(|act| act.seat == seat);
            first && kept.deal == before.deal && self.faces(kept.deal).is_some()
        };
        (1..self.len()).filter(acted).collect()
    }

    /// A step as the screen of a table shows it. Nobody can act in it. Seats that take part count as connected.
    pub fn snapshot(&self, number: usize, eyes: Eyes) -> Snapshot {
        let kept = self.kept(number);
        let me = match eyes {
            Eyes::Seat(seat) if seat.index() < self.names.len() => Some(seat),
            _ => None,
        };
        Snapshot {
            shares: BTreeMap::new(),
            table: self.table,
            me,
            names: self.names.clone(),
            seating: self.seating.clone(),
            game: AnyGame::clone(&kept.game),
            known: self.known(number, eyes),
            standing: Standing::Sealed(kept.progress.clone()),
            my_turn: false,
            connected: kept.here,
            indirect: SeatSet::EMPTY,
            waits: Waits::default(),
            timing: None,
            holidays: Vec::new(),
            holidays_left: 0,
        }
    }

    fn kept(&self, number: usize) -> &Kept {
        match number.checked_sub(1) {
            None => &self.first,
            Some(place) => {
                let kept = self.rest.get(place).or(self.rest.last());
                kept.unwrap_or(&self.first)
            }
        }
    }
}

/// The checks made between two counts.
fn made_since(before: &Tally, now: &Tally) -> Vec<(&'static str, u64)> {
    let pairs = before.checks().into_iter().zip(now.checks());
    pairs.map(|((name, before), (_, now))| (name, now.saturating_sub(before))).filter(|(_, made)| *made > 0).collect()
}
