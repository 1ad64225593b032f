//! The removal statements of one step, and all that follows from them.
//!
//! The state machine keeps signed statements, and no other state that matters. It computes from them which seats are
//! bound, which values are valid and what is decided. A crash, a late message or another order of arrival therefore
//! makes no difference. [`super::sign`] computes this seat's next statement.
//!
//! \\(L_j\\) is the set of live seats in instance j; a *majority* is more than half of their parties
//! ([`Parties::is_majority`]), each with all its live seats.

use std::collections::BTreeMap;

use super::statement::{Reason, Says, Statement, Value, Verified};
use crate::hash::Hash32;
use crate::party::Parties;
use crate::seat::{Seat, SeatSet};

/// The hash of one entry for each of some seats.
pub type EntryNames = BTreeMap<Seat, Hash32>;

/// A step of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The table id.
    pub table: Hash32,
    /// The step.
    pub step: u64,
    /// The hash of the previous step.
    pub parent: Hash32,
}

/// A decided instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The decided value.
    pub value: Value,
    /// The proposal that a majority accepted.
    pub proposal: Hash32,
}

/// How this seat completed the step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The open instance when the step was complete.
    pub instance: u16,
    /// The entries that counted.
    pub entries: EntryNames,
    /// The seats that the step removed.
    pub removed: SeatSet,
}

/// A consent: its signer, the seats that it removes, and which of their entries it counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Consent<'a> {
    pub(super) hash: Hash32,
    pub(super) seat: Seat,
    pub(super) instance: u16,
    pub(super) out: SeatSet,
    pub(super) counted: &'a [(Seat, Hash32)],
}

impl Consent<'_> {
    /// Whether it keeps its signer from counting that entry.
    pub(super) fn bars(&self, seat: Seat, entry: Hash32) -> bool {
        self.out.contains(seat) && !self.counted.contains(&(seat, entry))
    }
}

/// The place of a statement. An honest seat signs one for each, except releases.
//= P5.48
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Slot {
    Consent(u16, Seat, SeatSet),
    Veto(Seat, Seat),
    Promise(u16, u16, Seat),
    Propose(u16, u16, Seat),
    Accept(u16, u16, Seat),
    Release(Seat, Hash32),
}

impl Slot {
    pub(super) fn of(statement: &Statement) -> Self {
        let (seat, instance) = (statement.seat, statement.instance);
        match &statement.says {
            Says::Consent { out, .. } => Self::Consent(instance, seat, *out),
            Says::Veto { seat: target, .. } => Self::Veto(seat, *target),
            Says::Promise { round, .. } => Self::Promise(instance, *round, seat),
            Says::Propose { round, .. } => Self::Propose(instance, *round, seat),
            Says::Accept { round, .. } => Self::Accept(instance, *round, seat),
            Says::Release { .. } => Self::Release(seat, statement.hash()),
        }
    }
}

/// The removal statements of one step, as known to one seat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepRemoval {
    pub(super) place: Place,
    pub(super) me: Seat,
    /// \\(L_0\\).
    pub(super) seats: SeatSet,
    pub(super) parties: Parties,
    pub(super) held: BTreeMap<Slot, Verified>,
    pub(super) decided: Vec<Decision>,
    pub(super) outcome: Option<Outcome>,
    /// When this seat entered its round: instance, round, milliseconds. Not journaled.
    pub(super) entered: Option<(u16, u16, u64)>,
    /// When this seat signed its consents, in milliseconds. Not journaled.
    pub(super) consented_at: BTreeMap<(u16, SeatSet), u64>,
}

impl StepRemoval {
    /// A step without statements.
    pub fn new(place: Place, me: Seat, seats: SeatSet, parties: Parties) -> Self {
        Self {
            place,
            me,
            seats,
            parties,
            held: BTreeMap::new(),
            decided: Vec::new(),
            outcome: None,
            entered: None,
            consented_at: BTreeMap::new(),
        }
    }

    /// The step's place in the log.
    pub fn place(&self) -> Place {
        self.place
    }

    /// The known statements.
    pub fn statements(&self) -> impl Iterator<Item = &Verified> {
        self.held.values()
    }

    /// Whether no seat has signed a statement here.
    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// The decisions so far, by instance.
    pub fn decisions(&self) -> &[Decision] {
        &self.decided
    }

    /// The open instance.
    pub fn instance(&self) -> u16 {
        u16::try_from(self.decided.len()).unwrap_or(u16::MAX)
    }

    /// \\(L_j\\), as far as the earlier decisions are known.
    pub fn live(&self, instance: u16) -> SeatSet {
        let before = self.decided.iter().take(usize::from(instance));
        let removed: SeatSet = before.flat_map(|decision| decision.value.removed().iter()).collect();
        self.seats.minus(removed)
    }

    /// The entries that decisions have put into the step.
    //= P5.15
    pub fn fixed(&self) -> EntryNames {
        let mut fixed = EntryNames::new();
        for (seat, entry) in self.decided.iter().flat_map(|of| of.value.entries()) {
            fixed.entry(seat).or_insert(entry);
        }
        fixed
    }

    /// The statement with that hash.
    pub(super) fn named(&self, hash: &Hash32) -> Option<&Verified> {
        self.held.values().find(|held| held.hash() == *hash)
    }

    // Consents and vetoes.

    /// The consents of an instance that rest on known entries and can lead to a removal.
    //= P5.27, P5.35
    pub(super) fn consents<'a>(&'a self, instance: u16, known: &'a EntryNames) -> impl Iterator<Item = Consent<'a>> {
        self.all_consents().filter(move |consent| {
            consent.instance == instance && self.can_remove(consent) && are_known(known, consent.counted)
        })
    }

    /// Whether a consent's set is valid, so that it can lead to a removal.
    //= P5.41
    pub(super) fn can_remove(&self, consent: &Consent<'_>) -> bool {
        let live = self.live(consent.instance);
        live.contains(consent.seat)
            && self.parties.closed(live, consent.out)
            && self.parties.is_majority(live, live.minus(consent.out))
    }

    pub(super) fn all_consents(&self) -> impl Iterator<Item = Consent<'_>> {
        self.held.values().filter_map(|held| {
            let Says::Consent { out, counted } = &held.statement().says else {
                return None;
            };
            Some(Consent {
                hash: held.hash(),
                seat: held.seat(),
                instance: held.statement().instance,
                out: *out,
                counted,
            })
        })
    }

    /// This seat's consents.
    pub(super) fn own_consents(&self) -> impl Iterator<Item = Consent<'_>> {
        self.all_consents().filter(|consent| consent.seat == self.me)
    }

    /// A seat's veto for another seat's entry, from instance `until` or earlier, if the entry is known.
    pub(super) fn veto(&self, signer: Seat, target: Seat, until: u16, known: &EntryNames) -> Option<&Verified> {
        let held = self.held.get(&Slot::Veto(signer, target))?;
        let Says::Veto { entry, .. } = held.statement().says else {
            return None;
        };
        let counts = held.statement().instance <= until && known.get(&target) == Some(&entry);
        counts.then_some(held)
    }

    /// The vetoes of one remaining seat that release a consent.
    //= P5.8
    pub(super) fn releasing(&self, consent: Consent<'_>, known: &EntryNames) -> Option<Vec<Hash32>> {
        let instance = consent.instance;
        let stays = self.live(instance).minus(consent.out);
        stays.without(consent.seat).iter().find_map(|seat| {
            let vetoes = consent.out.iter().map(|target| {
                let veto = self.veto(seat, target, instance, known);
                veto.map(Verified::hash)
            });
            vetoes.collect()
        })
    }

    /// Why a consent no longer binds its signer; `None` if it still does.
    //= P5.15, P5.21
    pub(super) fn reason(&self, consent: Consent<'_>, known: &EntryNames) -> Option<Reason> {
        if let Some(decision) = self.decided.get(usize::from(consent.instance))
            && !self.is_carried_out(&consent)
        {
            return Some(Reason::Decision(decision.proposal));
        }
        let vetoes = self.releasing(consent, known)?.try_into().ok()?;
        Some(Reason::Vetoes(vetoes))
    }

    /// This seat's consents of the open instance that still bind it.
    //= P5.27
    fn binding<'a>(&'a self, known: &'a EntryNames) -> impl Iterator<Item = Consent<'a>> {
        let open = self.instance();
        self.own_consents().filter(move |consent| consent.instance == open && self.releasing(*consent, known).is_none())
    }

    /// Whether this seat's consents keep it from completing the step.
    pub fn is_bound(&self, known: &EntryNames) -> bool {
        self.binding(known).next().is_some()
    }

    /// Whether this seat's consents keep it from counting an entry.
    //= P5.6
    pub fn holds_back(&self, seat: Seat, entry: Hash32, known: &EntryNames) -> bool {
        self.binding(known).any(|consent| consent.bars(seat, entry))
    }

    /// Whether any consent may still bind its signer, as far as this seat knows: no decision carries it out, and the
    /// signer has given no reason. This includes a consent that another decision frees, because the signer's next
    /// records name that release.
    pub(super) fn binds_somebody(&self) -> bool {
        let mut consents = self.all_consents();
        consents.any(|consent| !self.is_carried_out(&consent) && !self.is_accounted_for(&consent))
    }

    /// Whether the decision of its instance removes all seats that a consent names.
    fn is_carried_out(&self, consent: &Consent<'_>) -> bool {
        let decision = self.decided.get(usize::from(consent.instance));
        decision.is_some_and(|of| consent.out.minus(of.value.removed()).is_empty())
    }

    /// Whether `names` includes a consent of the step.
    pub(super) fn names_consent(&self, names: &[Hash32]) -> bool {
        let mut consents = self.all_consents();
        consents.any(|consent| names.contains(&consent.hash))
    }

    // Releases.

    /// Whether the signer of a consent has given a reason why it no longer binds.
    fn is_accounted_for(&self, consent: &Consent<'_>) -> bool {
        let last = self.last_release(consent.seat);
        last.is_some_and(|held| match &held.statement().says {
            Says::Release { reasons } => reasons.iter().any(|(of, _)| *of == consent.hash),
            _ => false,
        })
    }

    /// The last release of a seat: the one that lists the most consents.
    pub(super) fn last_release(&self, seat: Seat) -> Option<&Verified> {
        self.releases(seat).max_by_key(|held| {
            let Says::Release { reasons } = &held.statement().says else {
                return (0, held.hash());
            };
            (reasons.len(), held.hash())
        })
    }

    pub(super) fn releases(&self, seat: Seat) -> impl Iterator<Item = &Verified> {
        self.held
            .iter()
            .filter(move |(slot, _)| matches!(slot, Slot::Release(of, _) if *of == seat))
            .map(|(_, held)| held)
    }
}

fn are_known(known: &EntryNames, entries: &[(Seat, Hash32)]) -> bool {
    entries.iter().all(|(seat, entry)| known.get(seat) == Some(entry))
}
