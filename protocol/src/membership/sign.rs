//! The next statement of an honest seat in a step.
//!
//! A pure function of the known statements and the [`View`]. A replay of the journal gives the same result, except for
//! the times at which rounds and waits end.

use std::collections::BTreeMap;

use super::statement::{MAX_REASONS, Reason, Says, Value};
use super::step::{EntryNames, StepRemoval};
use crate::hash::Hash32;
use crate::seat::{Seat, SeatSet};
use crate::wire::bounded::Bounded;

/// The duration of the first round of a decision, in milliseconds; each later round takes twice as long.
//= P5.17
const ROUND: u64 = 3_000;
/// The round at which durations stop growing, at over an hour.
//= P5.17
const LONGEST: u16 = 11;
/// The same limit if another party calls for the next round: twelve seconds.
const CALLED: u16 = 2;

/// A seat's view of the open step.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The time, in milliseconds of a clock that never jumps.
    pub now: u64,
    /// The entries that would count if no consent of this seat held them back: their content is valid, and all entries
    /// that they name count.
    pub acceptable: &'a EntryNames,
    /// The entries that count.
    pub counted: &'a EntryNames,
    /// The missing seats that this seat may consent to remove: absent, or proposed by a person.
    pub removable: SeatSet,
    /// The seats that have been silent for the absence timeout.
    pub silent: SeatSet,
    /// The absence timeout, in milliseconds.
    pub absence: u64,
    /// Whether this seat may sign at all.
    pub may_sign: bool,
    /// Whether this seat has closed the table by claim. It continues no further, but still frees others.
    pub closed: bool,
}

impl StepRemoval {
    /// This seat's next statement in the step and its instance, if it has one to sign.
    //= P5.19, P5.32
    pub(super) fn next(&self, view: &View<'_>) -> Option<(u16, Says)> {
        let instance = self.instance();
        if !view.may_sign || !self.live(instance).contains(self.me) {
            return None;
        }
        let known = self.known(view);
        if let Some(release) = self.next_release(known) {
            return Some((instance, release));
        }
        if let Some(veto) = self.next_veto(view) {
            return Some(veto);
        }
        let says = self
            .next_accept(known)
            .or_else(|| self.next_proposal(known))
            .or_else(|| self.next_promise(view, known))
            .or_else(|| self.next_consent(view))?;
        Some((instance, says))
    }

    /// The entries that statements of the step may rest on.
    pub(super) fn known<'a>(&'a self, view: &View<'a>) -> &'a EntryNames {
        self.outcome.as_ref().map_or(view.acceptable, |outcome| &outcome.entries)
    }

    /// The entries that count, including decided ones that are not counted yet.
    fn counted(&self, view: &View<'_>) -> EntryNames {
        let mut counted = self.fixed();
        counted.extend(view.counted);
        counted
    }

    /// Releases every consent of this seat that no longer binds, before the seat signs anything that the consent
    /// forbade. A given reason stands, whatever has been forgotten since, so each release extends the previous one.
    //= P5.19
    fn next_release(&self, known: &EntryNames) -> Option<Says> {
        let given: BTreeMap<Hash32, Reason> = match self.last_release(self.me) {
            Some(release) => match &release.statement().says {
                Says::Release { reasons } => reasons.iter().cloned().collect(),
                _ => BTreeMap::new(),
            },
            None => BTreeMap::new(),
        };
        let mut reasons: Vec<(Hash32, Reason)> = Vec::new();
        for consent in self.own_consents() {
            let before = given.get(&consent.hash).cloned();
            if let Some(reason) = before.or_else(|| self.reason(consent, known)) {
                reasons.push((consent.hash, reason));
            }
        }
        if reasons.len() <= given.len() {
            return None;
        }
        Some(Says::Release { reasons: reasons.try_into().ok()? })
    }

    /// Vetoes others' consents to the removal of seats whose entries this seat counts.
    //= P5.7, P5.36
    fn next_veto(&self, view: &View<'_>) -> Option<(u16, Says)> {
        let (counted, instances) = match &self.outcome {
            Some(outcome) => (&outcome.entries, outcome.instance..=self.instance()),
            None => (&self.counted(view), self.instance()..=self.instance()),
        };
        let known = self.known(view);
        instances
            .flat_map(|instance| self.consents(instance, known))
            .filter(|consent| consent.seat != self.me)
            .flat_map(|consent| consent.out.iter().map(move |target| (consent, target)))
            .find_map(|(consent, target)| {
                let entry = *counted.get(&target)?;
                let excluded =
                    self.own_consents().any(|own| own.instance >= consent.instance && own.bars(target, entry));
                let due = target != self.me && !self.has_vetoed(self.me, target);
                let veto = Says::Veto { seat: target, entry };
                (due && !excluded).then_some((consent.instance, veto))
            })
    }

    //= P5.11
    fn next_accept(&self, known: &EntryNames) -> Option<Says> {
        let instance = self.instance();
        let least = self.own_round(instance).unwrap_or(0);
        let sound = self.proposals(known);
        let mut open = sound
            .into_iter()
            .filter(|(_, (round, _))| *round >= least && !self.has_accepted(instance, *round, self.me));
        open.next().map(|(proposal, (round, _))| Says::Accept { round, proposal })
    }

    //= P5.11, P5.12
    fn next_proposal(&self, known: &EntryNames) -> Option<Says> {
        let instance = self.instance();
        let round = self.promised(instance, self.me)?;
        if self.proposer(instance, round) != Some(self.me) || self.has_proposed(instance, round, self.me) {
            return None;
        }
        let sound = self.proposals(known);
        let (promises, highest) = self.promises(round, &sound);
        let names: Vec<Hash32> = promises.iter().map(|(_, name)| *name).collect();
        let signers: SeatSet = promises.iter().map(|(seat, _)| *seat).collect();
        if !self.parties.is_majority(self.live(instance), signers) {
            return None;
        }
        let value: Value = match highest {
            Some(value) => value.clone(),
            None => self.values(known).into_iter().next()?,
        };
        let promises = Bounded::try_from(names).ok()?;
        Some(Says::Propose { round, value, promises })
    }

    /// Opens the first round, and the next one if a round fails. A single party may call for the next round only after
    /// the current one has lasted for a while. Otherwise one dishonest party could end every round before it decides.
    //= P5.11, P5.18
    fn next_promise(&self, view: &View<'_>, known: &EntryNames) -> Option<Says> {
        let instance = self.instance();
        let own = self.own_round(instance);
        let round = own.map_or(Some(0), |own| own.checked_add(1))?;
        let needs = self.outcome.is_none() && self.is_bound(known);
        let callers = self.callers(instance, round);
        let due = match own {
            None => callers > 0 || (needs && !self.values(known).is_empty()),
            Some(own) => {
                let has_lasted = |longest| self.has_lasted(own, longest, view.now);
                callers > 1 || (callers > 0 && has_lasted(CALLED)) || (needs && has_lasted(LONGEST))
            }
        };
        let accepted = self.accepted(instance, self.me);
        due.then_some(Says::Promise { round, accepted })
    }

    /// Whether this seat's round has lasted for its full time, or for that of round `longest` if that is shorter. A
    /// crash restarts the clock of the round.
    //= P5.17
    fn has_lasted(&self, round: u16, longest: u16, now: u64) -> bool {
        let lasts = ROUND << round.min(longest);
        self.entered.is_some_and(|(instance, entered, since)| {
            (instance, entered) == (self.instance(), round) && now.saturating_sub(since) > lasts
        })
    }

    /// Consents to the removal of a party with a missing entry. Later also consents to the removal of that party with
    /// others that stay silent and do not consent.
    //= P5.5
    fn next_consent(&self, view: &View<'_>) -> Option<Says> {
        if self.outcome.is_some() || self.own_consents().count() >= MAX_REASONS {
            return None;
        }
        let live = self.live(self.instance());
        let of = |seat: Seat| {
            let party = self.parties.party_of(seat)?;
            Some(self.parties.seats_of(party).iter().filter(|seat| live.contains(*seat)).collect())
        };
        let mine: SeatSet = of(self.me)?;
        let counted = self.counted(view);
        let missing = |seat: &Seat| live.contains(*seat) && !mine.contains(*seat) && !counted.contains_key(seat);
        let single = view.removable.iter().filter(missing).filter_map(of);
        let singles: Vec<SeatSet> = single.collect();
        let groups = singles.iter().filter_map(|single| self.group(view, *single));
        singles.iter().copied().chain(groups).find_map(|out| self.consent(&counted, live, out))
    }

    //= P5.5
    fn consent(&self, counted: &EntryNames, live: SeatSet, out: SeatSet) -> Option<Says> {
        let fits =
            self.parties.is_majority(live, live.minus(out)) && !self.has_consented(self.instance(), self.me, out);
        let counted: Vec<(Seat, Hash32)> = out.iter().filter_map(|seat| Some((seat, *counted.get(&seat)?))).collect();
        // An honest seat never takes back a veto.
        let vetoed =
            out.iter().any(|seat| self.has_vetoed(self.me, seat) && !counted.iter().any(|(of, _)| *of == seat));
        if !fits || vetoed || counted.len() >= out.len() {
            return None;
        }
        let counted = counted.try_into().ok()?;
        Some(Says::Consent { out, counted })
    }

    /// A party, together with those that have not consented to its removal and have been silent for a full timeout
    /// since this seat did.
    fn group(&self, view: &View<'_>, single: SeatSet) -> Option<SeatSet> {
        let instance = self.instance();
        let live = self.live(instance);
        let since = *self.consented_at.get(&(instance, single))?;
        if view.now.saturating_sub(since) < view.absence {
            return None;
        }
        let silent = |seat: &Seat| view.silent.contains(*seat) && !self.has_consented(instance, *seat, single);
        let others = live.minus(single).without(self.me).iter().filter(silent);
        let mut out = single;
        for seat in others {
            let party = self.parties.party_of(seat)?;
            let seats: SeatSet = self.parties.seats_of(party).iter().filter(|seat| live.contains(*seat)).collect();
            // A party is removed as a whole or not at all.
            if seats.iter().all(|seat| silent(&seat)) && !seats.contains(self.me) {
                out.extend(seats.iter());
            }
        }
        (out != single).then_some(out)
    }
}
