//! A game that is over, step by step, from its transcript: what everybody saw, what happened in words, and,
//! where the seeds of a deal have been opened, every hand.
//!
//! A replay is made by an audit: nothing is shown that was not checked, and where the audit stops the replay ends.
//! A step here is a step of the log with something to see; those that only carry answers
//! belong to the step before them.
//!
//! # Cost
//! Opening a replay costs its audit and little more. The state after every step is kept, so that going to any of
//! them costs a copy of it, some microseconds. A state takes a kilobyte or two, and at most [`MAX_STEPS`] are
//! kept, so a file from a stranger cannot fill the memory; a game of Houses of Thoth to 300 points has some 7000.

pub mod deals;
mod record;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use fairdeal_games::{AnyAction, AnyGame};
use fairdeal_protocol::audit::auditor::{Audit, Report, Tally};
use fairdeal_protocol::audit::progress::AuditProgress;
use fairdeal_protocol::card::{Faces, Handle};
use fairdeal_protocol::game::RuleSetError;
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::log::claim::Ground;
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::abandonment::Abandonment;
use fairdeal_protocol::table::live::Progress;
use fairdeal_protocol::transcript::{End, Transcript};

use self::deals::PlayedDeal;
use self::record::Recorder;
use crate::view::{Seating, Snapshot, Standing, Waits};

/// The most steps of a replay; what follows is checked and not shown.
pub const MAX_STEPS: usize = 1 << 16;

/// Verdict of an audit without findings.
pub fn verdict(report: &Report, seats: usize) -> &'static str {
    match (report.end, seats) {
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
    }
}

/// Point of view of a step. Hands can be seen in deals whose seeds have been opened, and nowhere else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Eyes {
    /// Public cards only.
    #[default]
    Everybody,
    /// With the cards that had been dealt to a seat.
    Seat(Seat),
    /// With the cards that had been dealt to anybody.
    All,
}

/// Why there is no replay.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// The charter's rules make no game here.
    #[error("{0}")]
    Rules(#[from] RuleSetError),
    /// It was broken off by whoever waited for it.
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
    /// Its place in the replay, from 0.
    pub number: usize,
    /// The deal, from 0.
    pub deal: u32,
    /// The step of the log that brought it; `None` before the first.
    pub log_step: Option<u64>,
    /// Its actions: at most one in turn, then those out of turn, all in one step.
    pub acts: &'a [Act],
    /// Its events, in the words of the table's log.
    pub lines: &'a [String],
    /// Which checks were made for it, and how often each: all that were made at all.
    pub checks: Vec<(&'static str, u64)>,
    /// The game after it.
    pub game: &'a AnyGame,
    /// Whether the hands of this deal can be seen.
    pub opened: bool,
}

#[derive(Debug)]
struct Kept {
    log_step: Option<u64>,
    deal: u32,
    acts: Vec<Act>,
    lines: Vec<String>,
    game: Arc<AnyGame>,
    progress: Progress,
    here: SeatSet,
    /// How many cards of the deal have been dealt by then.
    dealt: usize,
    /// All checks up to the end of it.
    tally: Tally,
}

/// The sealed cards of a deal.
#[derive(Debug, Default)]
struct Cards {
    /// To whom they were dealt, in order.
    dealt: Vec<(Handle, Seat)>,
    /// Their faces, if the seeds have been opened.
    faces: Option<Faces>,
}

/// A game to be looked at again.
#[derive(Debug)]
pub struct Replay {
    table: Hash32,
    names: Vec<String>,
    seating: Seating,
    first: Kept,
    rest: Vec<Kept>,
    cards: BTreeMap<u32, Cards>,
    deals: Vec<PlayedDeal>,
    report: Report,
    cut: bool,
}

impl Replay {
    /// Audits a transcript and keeps its steps.
    ///
    /// # Errors
    /// [`ReplayError::Rules`] if it is of a game that cannot be played here.
    pub fn open(transcript: impl Into<Arc<Transcript>>) -> Result<Self, ReplayError> {
        Self::open_with(transcript, &mut |_| ControlFlow::Continue(()))
    }

    /// The same, telling `tell` after every step how far it is.
    ///
    /// # Errors
    /// [`ReplayError::BrokenOff`] if `tell` says so, else as for [`Self::open`].
    pub fn open_with(
        transcript: impl Into<Arc<Transcript>>,
        tell: &mut dyn FnMut(AuditProgress) -> ControlFlow<()>,
    ) -> Result<Self, ReplayError> {
        let audit = Audit::<AnyGame>::new(transcript)?;
        let mut recorder = Recorder::new(&audit);
        let report = audit.run(&mut |audit| {
            recorder.note(audit);
            tell(audit.so_far())
        });
        let report = report.map_err(|()| ReplayError::BrokenOff)?;
        Ok(recorder.finish(report))
    }

    /// How many steps there are; at least one.
    // So it is never empty.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        1 + self.rest.len()
    }

    /// The number of the last step.
    pub fn last(&self) -> usize {
        self.rest.len()
    }

    /// The audit's report.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Whether the game is longer than a replay can be.
    pub fn is_cut(&self) -> bool {
        self.cut
    }

    /// The players' names, cleaned for display, in seat order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The deals of the game.
    pub fn deals(&self) -> &[PlayedDeal] {
        &self.deals
    }

    /// A step; the last one for a number beyond it.
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

    /// The step with which a deal begins; `None` if it is not in the replay.
    pub fn deal_start(&self, deal: u32) -> Option<usize> {
        // Deals only go up.
        let start = if self.first.deal >= deal {
            0
        } else {
            1 + self.rest.partition_point(|kept| kept.deal < deal)
        };
        (start < self.len() && self.kept(start).deal == deal).then_some(start)
    }

    /// The faces of all cards of a deal, in hands or not, if its seeds have been opened. The hand of a seat that
    /// had gone by then is not among them.
    pub fn faces(&self, deal: u32) -> Option<&Faces> {
        self.cards.get(&deal)?.faces.as_ref()
    }

    /// The sealed cards that are known with those eyes at a step.
    pub fn known(&self, number: usize, eyes: Eyes) -> Faces {
        let mut known = Faces::new();
        let kept = self.kept(number);
        let cards = self.cards.get(&kept.deal);
        let Some((cards, faces)) = cards.and_then(|cards| Some((cards, cards.faces.as_ref()?)))
        else {
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
        known
    }

    /// A step as the screen of a table shows it. Nobody can act in it; who is connected is who takes part.
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
            round_trips: BTreeMap::new(),
            waits: Waits::default(),
            timing: None,
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

/// The checks that one count has more than another.
fn made_since(before: &Tally, now: &Tally) -> Vec<(&'static str, u64)> {
    let pairs = before.checks().into_iter().zip(now.checks());
    pairs
        .map(|((name, before), (_, now))| (name, now.saturating_sub(before)))
        .filter(|(_, made)| *made > 0)
        .collect()
}
