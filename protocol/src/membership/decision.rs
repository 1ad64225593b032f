//! The one decision of an instance: which values are valid, which proposals and promises are sound, and what a majority
//! has accepted.
//!
//! Single-decree Paxos, computed from the known statements. A proposal is sound if it follows from the promises that it
//! names, and those from the accepts that they report.

use std::collections::BTreeMap;

use super::statement::{Accepted, Entries, Says, Value, Verified};
use super::step::{Decision, EntryNames, Slot, StepRemoval};
use crate::hash::Hash32;
use crate::seat::{Seat, SeatSet};

impl StepRemoval {
    /// The valid values of the open instance: first entries to keep, then removals, smallest first.
    //= P5.9, P5.12
    pub(super) fn values(&self, known: &EntryNames) -> Vec<Value> {
        let instance = self.instance();
        let live = self.live(instance);
        let mut by_set: BTreeMap<SeatSet, (SeatSet, EntryNames)> = BTreeMap::new();
        let mut lacking = SeatSet::EMPTY;
        for consent in self.consents(instance, known) {
            let (signers, union) = by_set.entry(consent.out).or_default();
            signers.insert(consent.seat);
            union.extend(consent.counted.iter().copied());
            let lacks = |seat: &Seat| !consent.counted.iter().any(|(of, _)| of == seat);
            lacking.extend(consent.out.iter().filter(lacks));
        }
        let kept: SeatSet = self
            .decided
            .iter()
            .filter_map(|decision| match decision.value {
                Value::Keep { seat, .. } => Some(seat),
                Value::Out { .. } => None,
            })
            .collect();
        //= P5.14
        let keep = lacking.minus(kept).iter().filter_map(|seat| {
            let entry = *known.get(&seat)?;
            Some(Value::Keep { seat, entry })
        });
        let mut out: Vec<(SeatSet, EntryNames)> = by_set
            .into_iter()
            .filter(|(seats, (signers, _))| live.minus(*seats).iter().all(|seat| signers.contains(seat)))
            .map(|(seats, (_, union))| (seats, union))
            .collect();
        out.sort_by_key(|(seats, _)| (seats.len(), *seats));
        let out = out.into_iter().filter_map(|(seats, union)| {
            let counted: Entries = union.into_iter().collect::<Vec<_>>().try_into().ok()?;
            Some(Value::Out { seats, counted })
        });
        keep.chain(out).collect()
    }

    /// The proposer of a round: the first seat of the live party whose turn it is.
    //= P5.16
    pub(super) fn proposer(&self, instance: u16, round: u16) -> Option<Seat> {
        let live = self.live(instance);
        let turn = usize::from(round).checked_rem(self.parties.count(live))?;
        let party = self.parties.among(live).nth(turn)?;
        let seats = self.parties.seats_of(party);
        seats.iter().find(|seat| live.contains(*seat))
    }

    /// The highest round that a seat has promised in an instance.
    pub(super) fn promised(&self, instance: u16, seat: Seat) -> Option<u16> {
        self.held.keys().rev().find_map(|slot| match slot {
            Slot::Promise(at, round, of) if (*at, *of) == (instance, seat) => Some(*round),
            _ => None,
        })
    }

    /// The highest round of an instance in which this seat has promised or accepted.
    pub(super) fn own_round(&self, instance: u16) -> Option<u16> {
        let accepted = self.accepted(instance, self.me).map(|last| last.round);
        self.promised(instance, self.me).max(accepted)
    }

    /// How many other parties have promised a round.
    pub(super) fn callers(&self, instance: u16, round: u16) -> usize {
        let own = self.parties.party_of(self.me);
        let others = self.live(instance).iter().filter(|seat| self.parties.party_of(*seat) != own);
        let promise = |seat: &Seat| Slot::Promise(instance, round, *seat);
        let callers = others.filter(|seat| self.held.contains_key(&promise(seat)));
        self.parties.count(callers.collect())
    }

    /// The proposal of the highest round that a seat has accepted in an instance.
    pub(super) fn accepted(&self, instance: u16, seat: Seat) -> Option<Accepted> {
        self.held.iter().rev().find_map(|(slot, held)| match (slot, &held.statement().says) {
            (Slot::Accept(at, round, of), Says::Accept { proposal, .. }) if (*at, *of) == (instance, seat) => {
                Some(Accepted { round: *round, proposal: *proposal })
            }
            _ => None,
        })
    }

    pub(super) fn has_accepted(&self, instance: u16, round: u16, seat: Seat) -> bool {
        self.held.contains_key(&Slot::Accept(instance, round, seat))
    }

    pub(super) fn has_proposed(&self, instance: u16, round: u16, seat: Seat) -> bool {
        self.held.contains_key(&Slot::Propose(instance, round, seat))
    }

    pub(super) fn has_consented(&self, instance: u16, seat: Seat, out: SeatSet) -> bool {
        self.held.contains_key(&Slot::Consent(instance, seat, out))
    }

    pub(super) fn has_vetoed(&self, signer: Seat, target: Seat) -> bool {
        self.held.contains_key(&Slot::Veto(signer, target))
    }

    /// The sound proposals of the open instance, each with its round.
    //= P5.12, P5.42
    pub(super) fn proposals(&self, known: &EntryNames) -> BTreeMap<Hash32, (u16, &Value)> {
        let instance = self.instance();
        let live = self.live(instance);
        let valid = self.values(known);
        let mut sound: BTreeMap<Hash32, (u16, &Value)> = BTreeMap::new();
        // In round order, because a promise names proposals of lower rounds.
        for (slot, held) in &self.held {
            let (Slot::Propose(at, round, seat), Says::Propose { value, promises, .. }) =
                (slot, &held.statement().says)
            else {
                continue;
            };
            if *at != instance || self.proposer(instance, *round) != Some(*seat) {
                continue;
            }
            let Some((signers, highest)) = self.quorum(instance, *round, promises, &sound) else {
                continue;
            };
            let follows = match highest {
                Some((_, accepted)) => accepted == value,
                None => valid.contains(value),
            };
            if follows && self.parties.is_majority(live, signers) {
                sound.insert(held.hash(), (*round, value));
            }
        }
        sound
    }

    /// The signers of the promises that a proposal names, and the highest value that they report. `None` if a promise
    /// is unknown, is of another round, or reports an unsound proposal.
    fn quorum<'a>(
        &self,
        instance: u16,
        round: u16,
        promises: &[Hash32],
        sound: &BTreeMap<Hash32, (u16, &'a Value)>,
    ) -> Option<(SeatSet, Option<(u16, &'a Value)>)> {
        let mut signers = SeatSet::EMPTY;
        let mut highest: Option<(u16, &Value)> = None;
        for name in promises {
            let (seat, reported) = self.promise(instance, round, name, sound)?;
            signers.insert(seat);
            if let Some(reported) = reported
                && highest.is_none_or(|(best, _)| best < reported.0)
            {
                highest = Some(reported);
            }
        }
        Some((signers, highest))
    }

    /// The signer of a promise for a round, and the accept that it reports. `None` if the name is unknown or is not of
    /// such a promise, or if the promise reports an unsound proposal.
    //= P5.35
    #[allow(clippy::type_complexity)]
    fn promise<'a>(
        &self,
        instance: u16,
        round: u16,
        name: &Hash32,
        sound: &BTreeMap<Hash32, (u16, &'a Value)>,
    ) -> Option<(Seat, Option<(u16, &'a Value)>)> {
        let held = self.named(name)?;
        let statement = held.statement();
        let Says::Promise { round: promised, accepted } = statement.says else {
            return None;
        };
        if statement.instance != instance || promised != round {
            return None;
        }
        let reported = match accepted {
            None => None,
            Some(accepted) => {
                let (at, value) = sound.get(&accepted.proposal)?;
                if *at != accepted.round || *at >= round {
                    return None;
                }
                Some((*at, *value))
            }
        };
        Some((statement.seat, reported))
    }

    /// The promises of a round that its proposer can build on, and the highest value that they report.
    pub(super) fn promises<'a>(
        &self,
        round: u16,
        sound: &BTreeMap<Hash32, (u16, &'a Value)>,
    ) -> (Vec<(Seat, Hash32)>, Option<&'a Value>) {
        let instance = self.instance();
        let live = self.live(instance);
        let mut names = Vec::new();
        let mut highest: Option<(u16, &Value)> = None;
        for seat in live.iter() {
            let Some(held) = self.held.get(&Slot::Promise(instance, round, seat)) else {
                continue;
            };
            let Some((_, reported)) = self.promise(instance, round, &held.hash(), sound) else {
                continue;
            };
            names.push((seat, held.hash()));
            if let Some(reported) = reported
                && highest.is_none_or(|(best, _)| best < reported.0)
            {
                highest = Some(reported);
            }
        }
        (names, highest.map(|(_, value)| value))
    }

    /// Whether another party's proposal names this statement, or another known promise of its signer.
    //= P5.40
    pub(super) fn is_built_on(&self, verified: &Verified) -> bool {
        let (signer, hash) = (verified.seat(), verified.hash());
        let party = self.parties.party_of(signer);
        let held = self.held.values();
        let mut others = held.filter(|held| self.parties.party_of(held.seat()) != party);
        others.any(|other| {
            let Says::Propose { promises, .. } = &other.statement().says else {
                return false;
            };
            let by_signer = |name: &Hash32| self.named(name).is_some_and(|held| held.seat() == signer);
            promises.iter().any(|name| *name == hash || by_signer(name))
        })
    }

    /// The live seats that have accepted a proposal.
    //= P5.10
    pub(super) fn acceptors(&self, instance: u16, round: u16, proposal: Hash32) -> SeatSet {
        self.live(instance)
            .iter()
            .filter(|seat| {
                let held = self.held.get(&Slot::Accept(instance, round, *seat));
                held.is_some_and(
                    |held| matches!(held.statement().says, Says::Accept { proposal: of, .. } if of == proposal),
                )
            })
            .collect()
    }

    /// Records the decisions that follow from the known statements.
    //= P5.10, P5.13
    pub(super) fn settle(&mut self, known: &EntryNames) {
        while !self.held.is_empty() {
            let instance = self.instance();
            let live = self.live(instance);
            let decided = self.proposals(known).into_iter().find(|(hash, (round, _))| {
                let acceptors = self.acceptors(instance, *round, *hash);
                self.parties.is_majority(live, acceptors)
            });
            let Some((proposal, (_, value))) = decided else {
                return;
            };
            let value = value.clone();
            self.decided.push(Decision { value, proposal });
        }
    }

    /// Records the decisions of a step that is complete here.
    pub(super) fn settle_past(&mut self) {
        if let Some(outcome) = self.outcome.take() {
            self.settle(&outcome.entries);
            self.outcome = Some(outcome);
        }
    }
}
