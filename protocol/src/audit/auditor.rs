//! The auditor: replays a transcript, checks every proof, and recomputes every random value from the opened seeds.
//!
//! It runs the same [`Replica`] as a live seat. Its [`Report`] says what the audit confirms. The auditor trusts nobody, and
//! nothing in the file that it has not computed itself.
//!
//! # Two passes
//! The first pass only ever says that all is well so far. It replays the log with the costly checks left out, and gives
//! them to its [`Hands`] in [`Piece`]s: reading ahead, the proofs of a deal in one batch each, its opened seeds. If
//! anything is wrong anywhere, whatever it is, the audit starts over and reads everything again in order, each check by
//! itself but for the shuffles, which it folds by deal. That second pass alone makes findings. So a finding depends
//! neither on a batch nor on what was carried out first.
//!
//! Over 600 lines: the audit reads a log in one order, and each check is short.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::pieces::{Alone, Hands, Outcome, Piece};
use super::report::AuditProgress;
pub use super::report::{Departure, Finding, Reason, Report, Tally};
use crate::card::{DeckId, Faces};
use crate::charter::Charter;
use crate::crypto::seed::Seed;
use crate::crypto::share::ShareFold;
use crate::crypto::shuffle::{Fold, ShuffleError, ShufflePlace};
use crate::game::{Game, RuleSetError};
use crate::log::body::Body;
use crate::log::claim::{Claim, Verified};
use crate::log::entry::Entry;
use crate::log::extensions::Extensions;
use crate::log::fork_report::{ForkReport, circle, resolve};
use crate::membership::Value;
use crate::membership::step::{EntryNames, Place};
use crate::seat::{Seat, SeatSet};
use crate::table::abandonment::{Abandonment, closing};
use crate::table::fault::{Fault, FaultKind};
use crate::table::replica::{Deferred, News, OpenedDeal, OpenedSeed, Proofs, Replica, StepKind, Verdict};
use crate::transcript::page::Page;
use crate::transcript::{End, Transcript};

/// The entries that a piece reads.
const READ: usize = 32;
/// How many entries are read ahead at most. Decoded ones take up to six times the room of their bytes.
const AHEAD: usize = 4 * READ;
/// The most pieces that wait for their results. A deal has fewer.
const WAITING: usize = 32;

/// An audit in progress. It advances step by step, so that a screen can show it.
#[derive(Debug)]
pub struct Audit<G: Game> {
    /// Whether this is the second pass.
    in_order: bool,
    /// Whether the last step threw the first pass away.
    started_over: bool,
    hands: Box<dyn Hands>,
    /// The pieces whose results are not here yet.
    waiting: usize,
    /// Whether a piece does not hold.
    fails: bool,
    /// Entries that were read ahead, by their index in the file.
    read: BTreeMap<usize, Entry>,
    /// The first entry that no piece reads yet.
    unread: usize,
    /// Share proofs and opened seeds until the end of their deal.
    shares: ShareFold,
    openings: Vec<OpenedSeed>,
    transcript: Arc<Transcript>,
    replica: Replica<G>,
    next: usize,
    fold: Fold,
    /// The step of each shuffle in the batch, by deal, deck and seat.
    folded: BTreeMap<(u32, DeckId, Seat), u64>,
    tally: Tally,
    deals_opened: u32,
    left: Vec<Departure>,
    next_removal: usize,
    /// The entries of the open step that removal decisions keep.
    kept: EntryNames,
    next_fault: usize,
    next_halted: usize,
    /// Entries that prove the faults of seats removed from the open step.
    proven: Vec<(Seat, Entry)>,
    /// Why each seat is out of the open step.
    reasons: BTreeMap<Seat, Reason>,
    /// Results of the checked steps, until the caller takes them.
    news: Vec<News<G>>,
    /// The deal that the last step opened.
    opened: Option<OpenedDeal>,
    /// The extensions of time.
    extensions: Vec<Extensions>,
    /// The claims that leave the game unfinished.
    claims: Vec<Abandonment>,
    /// Seats that did not open their seeds in a game finished by claims.
    unopened: SeatSet,
}

/// Audits a whole transcript.
pub fn audit<G: Game>(transcript: &Transcript) -> Report {
    match Audit::<G>::new(transcript.clone()) {
        Ok(audit) => {
            let Ok(report) = audit.run(&mut |_| ControlFlow::<Infallible>::Continue(()));
            report
        }
        Err(error) => Report::unplayable(transcript, error),
    }
}

impl<G: Game> Audit<G> {
    /// Starts an audit. Reading the file has already checked the charter's signatures.
    ///
    /// # Errors
    /// [`RuleSetError`] if this program cannot play the charter's rules.
    pub fn new(transcript: impl Into<Arc<Transcript>>) -> Result<Self, RuleSetError> {
        Self::with(transcript, Box::new(Alone::default()))
    }

    /// As [`Self::new`], with hands that carry out its pieces.
    ///
    /// # Errors
    /// [`RuleSetError`] if this program cannot play the charter's rules.
    pub fn with(transcript: impl Into<Arc<Transcript>>, hands: Box<dyn Hands>) -> Result<Self, RuleSetError> {
        let transcript = transcript.into();
        let replica = Replica::new(transcript.charter().clone())?;
        let tally = Tally { charter_signatures: transcript.charter().signatures().len() as u64, ..Tally::default() };
        Ok(Self {
            in_order: false,
            started_over: false,
            hands,
            waiting: 0,
            fails: false,
            read: BTreeMap::new(),
            unread: 0,
            shares: ShareFold::default(),
            openings: Vec::new(),
            transcript,
            replica,
            next: 0,
            fold: Fold::default(),
            folded: BTreeMap::new(),
            tally,
            deals_opened: 0,
            left: Vec::new(),
            next_removal: 0,
            kept: EntryNames::new(),
            next_fault: 0,
            next_halted: 0,
            proven: Vec::new(),
            reasons: BTreeMap::new(),
            news: Vec::new(),
            opened: None,
            extensions: Vec::new(),
            claims: Vec::new(),
            unopened: SeatSet::EMPTY,
        })
    }

    /// Starts with the second pass, which makes the findings.
    ///
    /// # Errors
    /// [`RuleSetError`] if this program cannot play the charter's rules.
    pub fn in_order(transcript: impl Into<Arc<Transcript>>) -> Result<Self, RuleSetError> {
        Ok(Self { in_order: true, ..Self::new(transcript)? })
    }

    /// Whether the last step threw the first pass away: the audit stands at its beginning again, and whatever was noted
    /// of it is void. That happens once at most, and only if something is wrong.
    pub fn started_over(&self) -> bool {
        self.started_over
    }

    /// Checks made so far.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// The fraction of entries read, in thousandths.
    pub fn progress(&self) -> usize {
        (self.next * 1000).checked_div(self.transcript.entries().len()).unwrap_or(1000)
    }

    /// The charter.
    pub fn charter(&self) -> &Charter {
        self.replica.charter()
    }

    /// The progress so far.
    pub fn so_far(&self) -> AuditProgress {
        AuditProgress { done: self.next, total: self.transcript.entries().len(), tally: self.tally }
    }

    /// The replayed state so far.
    pub fn replica(&self) -> &Replica<G> {
        &self.replica
    }

    /// The seats that have left or were removed so far.
    pub fn departures(&self) -> &[Departure] {
        &self.left
    }

    /// The faces of a deal's sealed cards, if the last checked step opened its seeds; else none. Costs one
    /// multiplication per card.
    ///
    /// Cards in the hand of a departed seat stay unknown, since that seat opens no seed. So do all cards of a deck that
    /// a seat shuffled, if it neither opened its seed nor left its shares.
    pub fn opened_faces(&self) -> Faces {
        self.opened.as_ref().map_or_else(Faces::new, OpenedDeal::faces)
    }

    /// Takes the results of the steps checked since the last call.
    pub fn take_news(&mut self) -> Vec<News<G>> {
        std::mem::take(&mut self.news)
    }

    // Methods for a log that still grows.

    /// Appends a page to the transcript; false if the transcript would be too long.
    pub(super) fn extend(&mut self, page: Page) -> bool {
        Arc::make_mut(&mut self.transcript).extend(page)
    }

    /// Whether unread entries remain.
    pub(super) fn has_more(&self) -> bool {
        self.next < self.transcript.entries().len()
    }

    /// Checks everything that was deferred. `Ok(false)` if that made it start over.
    pub(super) fn catch_up(&mut self) -> Result<bool, Finding> {
        self.started_over = false;
        self.check_folded()?;
        self.await_pieces(0);
        if self.fails {
            self.start_over()?;
        }
        Ok(!self.started_over)
    }

    /// The transcript; an unfinished one ends at the last step read.
    pub(super) fn transcript(&mut self) -> &Transcript {
        if self.transcript.end() == End::Unfinished {
            let log = self.replica.parent();
            Arc::make_mut(&mut self.transcript).set_log(log);
        }
        &self.transcript
    }

    /// Checks the rest of the transcript. `each` sees the audit after every step, and when it has
    /// [started over](Self::started_over). It may stop it; its break value is then returned instead of a report.
    ///
    /// # Errors
    /// The value with which `each` stopped the audit.
    pub fn run<B>(mut self, each: &mut dyn FnMut(&mut Self) -> ControlFlow<B>) -> Result<Report, B> {
        let finding = loop {
            match self.step() {
                Ok(goes_on) => {
                    if let ControlFlow::Break(with) = each(&mut self) {
                        return Err(with);
                    }
                    if !goes_on {
                        break None;
                    }
                }
                Err(finding) => break Some(finding),
            }
        };
        Ok(self.report(finding))
    }

    /// Checks the next step, or [starts over](Self::started_over); `Ok(false)` once the end has been checked too.
    ///
    /// # Errors
    /// The [`Finding`] that stops the audit.
    pub fn step(&mut self) -> Result<bool, Finding> {
        self.started_over = false;
        if self.in_order {
            return self.step_in_order();
        }
        self.read_ahead();
        let goes_on = self.next_step();
        self.await_pieces(if goes_on == Ok(false) { 0 } else { WAITING });
        match goes_on {
            Ok(goes_on) if !self.fails => Ok(goes_on),
            _ => {
                self.start_over()?;
                Ok(true)
            }
        }
    }

    /// Gives the next entries to the hands, until those of the open step are there.
    fn read_ahead(&mut self) {
        let all = self.transcript.entries().len();
        while self.unread < all && self.unread < self.next + AHEAD {
            let end = all.min(self.unread + READ);
            self.give(Piece::entries(&self.transcript, self.unread..end));
            self.unread = end;
        }
        let needed = all.min(self.next + self.replica.live().len());
        while !self.fails && (self.next..needed).any(|index| !self.read.contains_key(&index)) {
            let Some(done) = self.hands.take(true) else { break };
            self.note(done.outcome());
        }
    }

    fn give(&mut self, piece: Piece) {
        self.waiting += 1;
        self.hands.give(piece);
    }

    fn note(&mut self, outcome: Outcome) {
        self.waiting = self.waiting.saturating_sub(1);
        match outcome {
            Outcome::Entries { first, entries } => self.read.extend((first..).zip(entries)),
            Outcome::Holds => {}
            Outcome::Fails => self.fails = true,
        }
    }

    /// Takes results of pieces; waits until at most `most` are missing.
    fn await_pieces(&mut self, most: usize) {
        while let Some(done) = self.hands.take(self.waiting > most) {
            self.note(done.outcome());
        }
        // Hands that have lost a piece have not carried it out.
        self.fails |= self.waiting > most;
    }

    /// Throws the first pass away.
    //= P12.12
    fn start_over(&mut self) -> Result<(), RuleSetError> {
        *self = Self { started_over: true, ..Self::in_order(Arc::clone(&self.transcript))? };
        Ok(())
    }

    fn step_in_order(&mut self) -> Result<bool, Finding> {
        let finding = match self.next_step() {
            Ok(goes_on) => return Ok(goes_on),
            Err(finding) => finding,
        };
        // An earlier bad shuffle may have caused this finding. It names the culprit, whatever comes after.
        self.check_folded()?;
        Err(match finding {
            // If a seat equivocates, the other seats' next entries diverge. The proof against that seat explains the
            // finding.
            Finding::Parent { .. } | Finding::Names { .. } => self.equivocation().map_or(finding, Finding::Fault),
            other => other,
        })
    }

    /// The fault that the trailer's evidence proves, if it proves one.
    fn equivocation(&self) -> Option<Fault> {
        let proof = self.transcript.equivocation()?;
        let (seat, step) = proof.culprit(self.replica.signed_charter())?;
        Some(Fault { seat, step, what: FaultKind::Equivocation })
    }

    //= T5.1
    fn next_step(&mut self) -> Result<bool, Finding> {
        self.opened = None;
        while self.read_halted()? {}
        self.read_faults()?;
        self.read_removals()?;
        let entries = self.read_step()?;
        let live = self.replica.live();
        //= T5.17
        let complete = entries.len() == live.len() && self.replica.kind().is_some();
        if self.replica.is_finished() || !complete {
            self.check_folded()?;
            self.check_end(&entries)?;
            return Ok(false);
        }
        self.judge(&entries)?;
        let step = self.replica.step();
        let deal = self.replica.deal();
        self.count(&entries);
        for fault in self.replica.accused(&entries) {
            self.note_fault(fault);
        }
        let live = self.replica.participants();
        if !self.replica.removed().is_empty() {
            // A shuffle run may restart under the same number.
            self.check_folded()?;
        }
        if self.replica.kind() == Some(StepKind::Opening) {
            self.opened = Some(self.replica.opened(seeds_in(&entries)));
        }
        let finished = self.replica.finish(&entries);
        let stays = self.replica.participants();
        let reasons = std::mem::take(&mut self.reasons);
        for seat in live.minus(stays).iter() {
            // Removing a seat removes its whole party.
            let why = reasons
                .get(&seat)
                .or_else(|| self.replica.party(seat).iter().find_map(|seat| reasons.get(&seat)))
                .cloned()
                .unwrap_or(Reason::Left);
            self.left.push(Departure { seat, deal, why });
        }
        match finished {
            Ok(news) => self.news.extend(news),
            Err(broken) => return Err(Finding::broken(step, broken)),
        }
        if self.replica.deal() != deal || self.replica.is_finished() {
            self.check_folded()?;
        }
        Ok(true)
    }

    /// Reads the certificate that removed absent parties from the open step.
    //= T5.36
    fn read_removals(&mut self) -> Result<(), Finding> {
        let step = self.replica.step();
        let transcript = Arc::clone(&self.transcript);
        self.kept.clear();
        let next = transcript.removals().get(self.next_removal);
        let Some(certificate) = next.filter(|certificate| certificate.step == step) else {
            return Ok(());
        };
        if self.replica.is_finished() {
            return Ok(());
        }
        let place = Place { table: self.replica.table(), step, parent: self.replica.parent() };
        let seats = self.replica.participants();
        let values = certificate
            .verify(self.replica.signed_charter(), place, seats, &self.replica.parties())
            .map_err(|_| Finding::Removal { step })?;
        self.next_removal += 1;
        self.tally.removal_statements += certificate.len() as u64;
        for value in values {
            match value {
                Value::Out { seats, counted } => {
                    let all = seats.iter().map(|seat| (seat, Reason::Absent));
                    self.reasons.extend(all);
                    self.replica.remove_absent(seats, &counted);
                }
                Value::Keep { seat, entry } => {
                    self.kept.insert(seat, entry);
                }
            }
        }
        Ok(())
    }

    /// Reads the entries that prove faults of seats removed from the open step. [`Self::judge_proven`] examines them
    /// once the entries they may name have been read.
    //= T5.33
    fn read_faults(&mut self) -> Result<(), Finding> {
        let step = self.replica.step();
        let transcript = Arc::clone(&self.transcript);
        self.proven.clear();
        while let Some(proven) = transcript.faults().get(self.next_fault) {
            let unproven = Finding::Unproven { step, seat: proven.seat };
            let Ok(entry) = proven.entry.verify(self.replica.signed_charter()) else {
                return Err(unproven);
            };
            if entry.step() != step || self.replica.is_finished() {
                break;
            }
            let own = entry.seat() == proven.seat;
            if !own || !self.replica.live().contains(proven.seat) {
                return Err(unproven);
            }
            self.next_fault += 1;
            self.replica.remove_guilty(proven.seat);
            self.proven.push((proven.seat, entry));
        }
        Ok(())
    }

    /// Judges the fault-proving entries against the counted entries of the open step.
    //= T9.5
    fn judge_proven(&mut self, counted: &BTreeMap<Seat, Entry>) -> Result<(), Finding> {
        for (seat, entry) in std::mem::take(&mut self.proven) {
            let examined = self.replica.examine(&entry, counted, Proofs::Verify);
            let fault = match examined {
                Verdict::Fault(what) => Some(Fault::of(&entry, what)),
                Verdict::Broken(broken) => {
                    return Err(Finding::broken(entry.step(), broken));
                }
                Verdict::Counts | Verdict::Waits | Verdict::Desync => None,
            };
            let Some(fault) = fault.filter(|fault| fault.seat == seat) else {
                let step = self.replica.step();
                return Err(Finding::Unproven { step, seat });
            };
            self.note_fault(fault);
        }
        Ok(())
    }

    fn note_fault(&mut self, fault: Fault) {
        self.tally.faults += 1;
        self.reasons.insert(fault.seat, Reason::Fault(fault));
    }

    /// Reads the removal of an equivocating seat at the open step: the proof, and the other seats' fork reports on
    /// where they continue. Returns whether there was one.
    //= T5.31
    fn read_halted(&mut self) -> Result<bool, Finding> {
        let (step, table) = (self.replica.step(), self.replica.table());
        let transcript = Arc::clone(&self.transcript);
        let Some(halted) = transcript.halted().get(self.next_halted) else {
            return Ok(false);
        };
        let fork_reports: Vec<ForkReport> =
            halted.fork_reports.iter().map(|signed| signed.fork_report().clone()).collect();
        let place = resolve(&fork_reports).filter(|place| place.point.step == step);
        let (Some(place), false) = (place, self.replica.is_finished()) else {
            return Ok(false);
        };
        let charter = self.replica.signed_charter();
        let culprit = halted.evidence.culprit(charter);
        let Some((proven, at)) = culprit else {
            return Err(Finding::Trailer("the evidence in it proves nothing"));
        };
        let party = self.replica.party(proven);
        let culprit = party.iter().next().unwrap_or(proven);
        let signed = halted.fork_reports.iter().all(|signed| {
            let fork_report = signed.verify(charter);
            fork_report.is_ok_and(|fork_report| fork_report.culprit == culprit)
        });
        let held = halted.fork_reports.iter().map(|signed| (signed.fork_report().seat, signed.clone()));
        let needed = circle(party, self.replica.participants(), &held.collect());
        if !signed
            || needed.is_none_or(|needed| !needed.into_values().eq(halted.fork_reports.iter().cloned()))
            || place.point.parent != self.replica.parent()
        {
            return Err(Finding::Halted { step, culprit });
        }
        self.next_halted += 1;
        self.tally.fork_reports += fork_reports.len() as u64;
        let deal = self.replica.deal();
        let name = place.name(&table, culprit);
        let live = self.replica.participants();
        for seat in party.iter().filter(|seat| live.contains(*seat)) {
            let why = Reason::Fault(Fault { seat: proven, step: at, what: FaultKind::Equivocation });
            self.left.push(Departure { seat, deal, why });
        }
        match self.replica.resume_without(culprit, place.next, name) {
            Ok(news) => {
                self.news.extend(news);
                Ok(true)
            }
            Err(broken) => Err(Finding::broken(step, broken)),
        }
    }

    /// Reads the open step's entries from the file, as far as they are there.
    //= T9.3
    fn read_step(&mut self) -> Result<BTreeMap<Seat, Entry>, Finding> {
        let step = self.replica.step();
        let mut entries: BTreeMap<Seat, Entry> = BTreeMap::new();
        while entries.len() < self.replica.live().len() && !self.replica.is_finished() {
            let index = self.next;
            let Some(signed) = self.transcript.entries().get(index) else {
                break;
            };
            let entry = match self.read.remove(&index) {
                Some(entry) => entry,
                None => signed.verify(self.replica.signed_charter()).map_err(|error| Finding::Entry {
                    index,
                    step,
                    why: error.to_string(),
                })?,
            };
            let seat = entry.seat();
            let in_order = entries.last_key_value().is_none_or(|(last, _)| *last < seat);
            if entry.step() != step || !in_order || !self.replica.live().contains(seat) {
                return Err(Finding::Order { index, step, claimed: entry.step(), seat });
            }
            self.next += 1;
            self.tally.entry_signatures += 1;
            entries.insert(seat, entry);
        }
        Ok(entries)
    }

    /// Checks that every entry of a complete step counts.
    //= T9.4
    fn judge(&mut self, entries: &BTreeMap<Seat, Entry>) -> Result<(), Finding> {
        let step = self.replica.step();
        let mut counted: BTreeMap<Seat, Entry> = BTreeMap::new();
        loop {
            let before = counted.len();
            for (seat, entry) in entries {
                if counted.contains_key(seat) {
                    continue;
                }
                if entry.content().parent != self.replica.parent() {
                    let before = step.saturating_sub(1);
                    return Err(Finding::Parent { step, before, seat: *seat });
                }
                match self.examine(entry, &counted) {
                    Verdict::Counts => {
                        self.fold_shuffle(entry, &counted)?;
                        counted.insert(*seat, entry.clone());
                    }
                    Verdict::Waits => {}
                    Verdict::Desync => return Err(Fault::of(entry, FaultKind::Digest).into()),
                    Verdict::Fault(what) => return Err(Fault::of(entry, what).into()),
                    Verdict::Broken(broken) => return Err(Finding::broken(step, broken)),
                }
            }
            if counted.len() == before {
                break;
            }
        }
        if let Some(seat) = entries.keys().find(|seat| !counted.contains_key(seat)) {
            return Err(Finding::Names { step, seat: *seat });
        }
        let kept = std::mem::take(&mut self.kept);
        //= T5.40
        let dropped = kept.into_iter().any(|(seat, kept)| {
            let entry = entries.get(&seat);
            entry.is_some_and(|entry| entry.hash() != kept)
        });
        if dropped {
            return Err(Finding::Removal { step });
        }
        self.judge_proven(&counted)
    }

    /// The verdict on an entry. The first pass leaves its costly checks for later.
    fn examine(&mut self, entry: &Entry, counted: &BTreeMap<Seat, Entry>) -> Verdict {
        if self.in_order {
            return self.replica.examine(entry, counted, Proofs::Defer);
        }
        let mut deferred = Vec::new();
        let verdict = self.replica.examine_later(entry, counted, &mut deferred);
        for check in deferred {
            match check {
                Deferred::Shares(claim) => self.shares.push(*claim),
                Deferred::Opening(opening) => self.openings.push(*opening),
            }
        }
        verdict
    }

    fn fold_shuffle(&mut self, entry: &Entry, counted: &BTreeMap<Seat, Entry>) -> Result<(), Finding> {
        let body = entry.body();
        let shuffled = body.shuffled().or_else(|| body.part()?.shuffled());
        let (Some(shuffled), Some(statement)) = (shuffled, self.replica.shuffle_statement(entry, counted)) else {
            return Ok(());
        };
        let place = statement.place;
        self.fold.push(statement, shuffled.proof.clone()).map_err(|error| Fault::of(entry, error.into()))?;
        self.folded.insert(folded_key(&place), entry.step());
        self.tally.shuffle_proofs += 1;
        Ok(())
    }

    /// Verifies all deferred shuffle proofs in one batch. The first pass gives them to its hands, with all else that it has
    /// deferred.
    //= T9.9, P12.3
    fn check_folded(&mut self) -> Result<(), Finding> {
        if !self.in_order {
            self.folded.clear();
            let shuffles = std::mem::take(&mut self.fold);
            if !shuffles.is_empty() {
                self.give(Piece::shuffles(shuffles));
            }
            let (shares, openings) = (std::mem::take(&mut self.shares), std::mem::take(&mut self.openings));
            if !shares.is_empty() || !openings.is_empty() {
                self.give(Piece::deal(shares, openings));
            }
            return Ok(());
        }
        let folded = std::mem::take(&mut self.folded);
        let Err(failed) = std::mem::take(&mut self.fold).verify() else {
            return Ok(());
        };
        let first = failed
            .iter()
            .filter_map(|place| {
                let step = folded.get(&folded_key(place))?;
                Some((place.context.seat, *step))
            })
            .min_by_key(|(_, step)| *step);
        match first {
            Some((seat, step)) => {
                let what = ShuffleError::Equation.into();
                Err(Fault { seat, step, what }.into())
            }
            // The batch fails but every proof holds alone: by chance this would take 2^128 attempts.
            None => Err(Finding::Broken {
                step: self.replica.step(),
                why: "the shuffle proofs fail together, and each alone holds".to_owned(),
            }),
        }
    }

    fn count(&mut self, entries: &BTreeMap<Seat, Entry>) {
        self.tally.steps += 1;
        let mut all_opened = true;
        for (seat, entry) in entries {
            let tally = &mut self.tally;
            tally.digests += 1;
            all_opened &= entry.body().opened().is_some();
            match entry.body() {
                Body::Act { answers, .. } => {
                    tally.actions += 1;
                    tally.answers(answers);
                }
                Body::Interject { .. } => tally.actions += 1,
                Body::Ack { answers, .. } | Body::Effects { answers } | Body::Turn { answers, .. } => {
                    tally.answers(answers);
                }
                Body::Commit { .. } => tally.commitments += 1,
                Body::Key { .. } => tally.key_proofs += 1,
                Body::Yield { .. }
                | Body::Leave
                | Body::Escrow { .. }
                | Body::Accept { .. }
                | Body::Rebuild { .. }
                | Body::Shuffle(_)
                | Body::Tip { .. }
                | Body::Confirm
                | Body::Open { .. }
                | Body::Close => {}
            }
            if entry.body().opened().is_some() {
                tally.openings += 1;
                tally.recomputed += self.replica.made_by(*seat) as u64;
            }
        }
        self.deals_opened += u32::from(all_opened);
    }

    /// Checks that the end of the file matches the log.
    //= T9.6
    fn check_end(&mut self, open: &BTreeMap<Seat, Entry>) -> Result<(), Finding> {
        let transcript = Arc::clone(&self.transcript);
        if let Some(signed) = transcript.entries().get(self.next) {
            let claimed = signed.verify(self.replica.signed_charter()).map_or(u64::MAX, |entry| entry.step());
            let step = self.replica.step();
            return Err(Finding::Entry {
                index: self.next,
                step,
                why: format!("more entries follow the end of the log (step {claimed})"),
            });
        }
        if self.next_removal != transcript.removals().len() {
            return Err(Finding::Trailer("it holds removals of no step"));
        }
        if self.next_fault != transcript.faults().len() {
            return Err(Finding::Trailer("it holds proofs of faults of no step"));
        }
        if self.next_halted != transcript.halted().len() {
            return Err(Finding::Trailer("it holds statements about an equivocating seat that lead nowhere"));
        }
        if transcript.log_hash() != self.replica.parent() {
            return Err(Finding::Trailer("the log hash is not that of the last complete step"));
        }
        self.check_extensions()?;
        match transcript.end() {
            End::Finished if self.replica.is_finished() && transcript.claims().is_empty() => {}
            //= T1.3
            End::Finished | End::Unfinished if !self.replica.is_finished() => {
                // The file includes the entries that a claim was made on, as it does for evidence.
                let counted = self.judge_open(open)?;
                let shown = !transcript.claims().is_empty();
                if counted.len() < open.len() || !(open.is_empty() || shown) {
                    return Err(Finding::Trailer("it holds entries of a step that is not whole"));
                }
                self.judge_proven(&counted)?;
                self.check_abandonment(&counted)?;
            }
            //= T1.4
            End::Stopped if !self.replica.is_finished() => {
                if transcript.equivocation().is_some() {
                    let fault = self.equivocation().map(Finding::Fault);
                    let nothing = Finding::Trailer("the evidence in it proves nothing");
                    return Err(fault.unwrap_or(nothing));
                }
                if !transcript.claims().is_empty() {
                    return Err(Finding::Trailer("it holds a claim beside evidence"));
                }
                let counted = self.judge_open(open)?;
                self.judge_proven(&counted)?;
                let accused = self.replica.accused(&counted).into_iter().next();
                let nothing = Finding::Trailer("it claims a fault, but the log shows none");
                return Err(accused.map_or(nothing, Finding::from));
            }
            _ => return Err(Finding::Trailer("the log does not end as it says")),
        }
        if transcript.equivocation().is_some() {
            return Err(Finding::Trailer("it holds evidence without a stopped table"));
        }
        Ok(())
    }

    /// Checks that the extensions of time are signed by persons at the table and within what the charter allows.
    //= T9.10
    fn check_extensions(&mut self) -> Result<(), Finding> {
        let charter = self.replica.signed_charter();
        let all = self.transcript.extensions();
        let verified = all.iter().map(|signed| signed.verify(charter).cloned());
        let Ok(said) = verified.collect::<Result<Vec<Extensions>, _>>() else {
            return Err(Finding::Trailer("it holds an extension of time that nobody may state"));
        };
        if !said.iter().zip(said.iter().skip(1)).all(|(one, next)| one.seat < next.seat) {
            return Err(Finding::Trailer("its extensions of time are not in order"));
        }
        self.extensions = said;
        Ok(())
    }

    /// Checks the claims that close a table before its end. The game counts as finished if the rules have ended it,
    /// else as unfinished.
    //= T5.45
    fn check_abandonment(&mut self, counted: &BTreeMap<Seat, Entry>) -> Result<(), Finding> {
        let nothing = Finding::Trailer("it holds a claim that closes nothing");
        let finished = self.transcript.end() == End::Finished;
        let charter = self.replica.signed_charter();
        let claims = self.transcript.claims().iter().map(|signed| signed.verify(charter));
        let Ok(claims) = claims.collect::<Result<Vec<Verified>, _>>() else {
            return Err(nothing);
        };
        let groups = closing(&self.replica, claims.iter());
        let claims = claims.iter().map(|verified| verified.claim);
        let closes = |claim: &Claim| {
            let of = |group: &Abandonment| (group.absent, group.ground) == (claim.absent, claim.ground);
            groups.iter().any(of)
        };
        let order = claims.clone().map(|claim| (claim.seat, claim.absent));
        let in_order = order.clone().zip(order.skip(1)).all(|(one, next)| one < next);
        if groups.len() > 2 || !in_order || !claims.clone().all(|claim| closes(&claim)) {
            return Err(nothing);
        }
        match (finished, groups.is_empty()) {
            (true, true) => return Err(Finding::Trailer("the log does not end as it says")),
            (false, false) if self.replica.is_over() => {
                return Err(Finding::Trailer("a claim leaves a game unfinished that is over"));
            }
            (true, false) if !self.replica.is_over() => {
                return Err(Finding::Trailer("a claim finishes a game that is not over"));
            }
            (true, false) => {
                self.unopened = self.replica.unopened(counted.keys().copied().collect());
            }
            (false, _) => self.claims = groups,
        }
        Ok(())
    }

    /// The entries of an incomplete step that count.
    ///
    /// # Errors
    /// The fault of the first entry that is one.
    //= T9.7
    fn judge_open(&mut self, open: &BTreeMap<Seat, Entry>) -> Result<BTreeMap<Seat, Entry>, Finding> {
        let mut counted: BTreeMap<Seat, Entry> = BTreeMap::new();
        // Each round counts at least one more entry, or nothing changes any more.
        for _ in 0..=open.len() {
            for (seat, entry) in open {
                match self.replica.examine(entry, &counted, Proofs::Verify) {
                    Verdict::Counts => {
                        counted.insert(*seat, entry.clone());
                    }
                    Verdict::Waits => {}
                    Verdict::Desync => return Err(Fault::of(entry, FaultKind::Digest).into()),
                    Verdict::Fault(what) => return Err(Fault::of(entry, what).into()),
                    Verdict::Broken(broken) => {
                        return Err(Finding::broken(entry.step(), broken));
                    }
                }
            }
        }
        Ok(counted)
    }

    /// The report on the audit so far, with an optional finding.
    pub fn report(&self, finding: Option<Finding>) -> Report {
        let game = self.replica.game();
        Report {
            table: self.replica.table(),
            end: self.transcript.end(),
            log: self.replica.parent(),
            steps: self.tally.steps,
            deals: self.replica.deals(),
            deals_opened: self.deals_opened,
            tally: self.tally,
            scores: game.scores(),
            winners: game.winners().iter().collect(),
            result: self.replica.result(),
            left: self.left.clone(),
            extensions: self.extensions.clone(),
            claims: self.claims.clone(),
            unopened: self.unopened,
            finding,
        }
    }
}

/// The seeds revealed by the entries of an opening step.
fn seeds_in(entries: &BTreeMap<Seat, Entry>) -> BTreeMap<Seat, Seed> {
    let seeds = entries.iter().filter_map(|(seat, entry)| Some((*seat, Seed::from_opened(entry.body().opened()?))));
    seeds.collect()
}

/// Deal, deck and seat of a shuffle. The key is unique among deferred proofs: the batch is checked before a run
/// restarts.
fn folded_key(place: &ShufflePlace) -> (u32, DeckId, Seat) {
    (place.context.deal, place.deck, place.context.seat)
}
