//! Forks: proof that a seat equivocates, the fork reports on it, and the states to which the log may go back.

mod guilt;

use std::collections::{BTreeMap, VecDeque};

use crate::game::Game;
use crate::log::equivocation::Equivocation;
use crate::log::fork_report::{EARLIER, SignedForkReport};
use crate::seat::{Seat, SeatSet};
use crate::table::replica::Replica;
use crate::transcript::Halted;

/// An open fork: a seat is proven to equivocate, and not all others have signed a fork report.
#[derive(Clone, Debug)]
pub(super) struct Fork {
    /// The seat's party, named by its lowest seat.
    pub(super) culprit: Seat,
    /// All seats of that party.
    pub(super) party: SeatSet,
    pub(super) proven: Seat,
    pub(super) evidence: Equivocation,
    pub(super) fork_reports: BTreeMap<Seat, SignedForkReport>,
    /// The uptime of this program when it learned of the proof, in milliseconds.
    since: u64,
    /// All others have signed, and some of them do not count this seat: they continue without it.
    pub(super) without_me: bool,
}

/// The forks of a table, as one seat sees them.
pub(super) struct Forks<G: Game> {
    open: Option<Fork>,
    over: Vec<Halted>,
    /// The proof that stopped the table or came after its end.
    evidence: Option<Equivocation>,
    /// The parties proven to equivocate, each by its lowest seat.
    proven: SeatSet,
    /// The states before the last steps, newest last.
    states: VecDeque<Replica<G>>,
}

impl<G: Game> Forks<G> {
    pub(super) fn new() -> Self {
        Self { open: None, over: Vec::new(), evidence: None, proven: SeatSet::EMPTY, states: VecDeque::new() }
    }

    /// The fork that is not resolved yet.
    pub(super) fn open(&self) -> Option<&Fork> {
        self.open.as_ref()
    }

    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// For how long the open fork has been known to this program, by its uptime, in milliseconds.
    pub(super) fn open_for(&self, uptime: u64) -> Option<u64> {
        let fork = self.open.as_ref()?;
        Some(uptime.saturating_sub(fork.since))
    }

    /// Notes a party that is proven to equivocate, by its lowest seat.
    fn note_proof(&mut self, party: Seat) {
        self.proven.insert(party);
    }

    /// The parties that this seat has seen proven to equivocate, each by its lowest seat. Others need not prove that
    /// again.
    fn proven(&self) -> SeatSet {
        self.proven
    }

    /// The forks that the seats have resolved together.
    pub(super) fn over(&self) -> &[Halted] {
        &self.over
    }

    /// Opens a fork. From now on this seat signs only fork reports on it.
    //= P6.5, P6.9
    fn begin(&mut self, proven: Seat, party: SeatSet, evidence: Equivocation, uptime: u64) {
        self.open = Some(Fork {
            culprit: party.iter().next().unwrap_or(proven),
            party,
            proven,
            evidence,
            fork_reports: BTreeMap::new(),
            since: uptime,
            without_me: false,
        });
    }

    /// Inserts a fork report with a valid signature.
    fn insert(&mut self, signed: SignedForkReport) {
        if let Some(fork) = &mut self.open {
            fork.fork_reports.insert(signed.fork_report().seat, signed);
        }
    }

    /// Notes that the others continue without this seat.
    fn pass_over(&mut self) {
        if let Some(fork) = &mut self.open {
            fork.without_me = true;
        }
    }

    /// Takes and ends the open fork.
    fn take(&mut self) -> Option<Fork> {
        self.open.take()
    }

    /// Records a resolved fork. The states before it are obsolete.
    fn go_on(&mut self, halted: Halted) {
        self.over.push(halted);
        self.states.clear();
    }

    /// The fork report of a seat on a party that is or was proven to equivocate.
    pub(super) fn fork_report_of(&self, culprit: Seat, seat: Seat) -> Option<&SignedForkReport> {
        let open =
            self.open.iter().filter(|fork| fork.culprit == culprit).filter_map(|fork| fork.fork_reports.get(&seat));
        let over = self.over.iter().flat_map(|halted| halted.fork_reports.iter());
        let of_both = |signed: &&SignedForkReport| signed.fork_report().place() == (culprit, seat);
        open.chain(over.filter(of_both)).next()
    }

    /// All known fork reports of a seat.
    pub(super) fn halts_of(&self, seat: Seat) -> impl Iterator<Item = &SignedForkReport> {
        let open = self.open.iter().flat_map(|fork| fork.fork_reports.values());
        let over = self.over.iter().flat_map(|halted| halted.fork_reports.iter());
        open.chain(over).filter(move |signed| signed.fork_report().seat == seat)
    }

    // Evidence.

    /// The proof that stopped the table or came after its end.
    pub(super) fn evidence(&self) -> Option<&Equivocation> {
        self.evidence.as_ref()
    }

    fn set_evidence(&mut self, evidence: Equivocation) {
        self.evidence = Some(evidence);
    }

    // States.

    /// Stores the state before a step that completes now. A seat that has signed a fork report may complete one more
    /// step and go back from there.
    pub(super) fn remember(&mut self, state: Replica<G>) {
        if self.states.len() > EARLIER {
            self.states.pop_front();
        }
        self.states.push_back(state);
    }

    /// The state before the last step.
    pub(super) fn last_state(&self) -> Option<&Replica<G>> {
        self.states.back()
    }

    /// The oldest deal whose seeds may still have to be opened: a fork may lead back to a state before the last steps.
    pub(super) fn oldest_deal(&self, open: &Replica<G>) -> u32 {
        let deals = self.states().chain([open]).map(|state| state.turned().unwrap_or(state.deal()));
        deals.min().unwrap_or(0)
    }

    /// The states before the last steps, newest last.
    fn states(&self) -> impl DoubleEndedIterator<Item = &Replica<G>> {
        self.states.iter()
    }
}
