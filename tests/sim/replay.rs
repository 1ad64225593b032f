//! Reads a table's log again by the public rules alone, and checks each step against invariants 9, 10 and 12.

use std::collections::{BTreeMap, BTreeSet};

use fairdeal_games::AnyGame;
use fairdeal_protocol::card::Handle;
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::log::body::{Body, Part};
use fairdeal_protocol::log::entry::Entry;
use fairdeal_protocol::log::fork_report::{ForkReport, Resolution, resolve};
use fairdeal_protocol::membership::{Says, Value};
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::replica::{Ahead, Owed, Replica, StepKind};
use fairdeal_protocol::transcript::Transcript;

use super::world::World;

/// State carried from step to step.
struct Reader {
    replica: Replica<AnyGame>,
    /// Requested reveal tokens by deal, card and seat.
    asked: BTreeSet<(u32, Handle, Seat)>,
    /// Yields since the last action in turn, except in steps with a Leave entry.
    yields: usize,
    /// Number of seats to yield to at the first yield.
    others: usize,
    before: Option<StepKind>,
    /// Whether the deal's escrow has been accepted.
    secured: bool,
    /// The seats that have accepted the escrow of a deal that is set up, by its number.
    accepted: BTreeMap<u32, SeatSet>,
    /// The highest number of a deal so far, played or set up.
    highest: u32,
    /// Seats that have departed during the deal.
    gone: SeatSet,
    failures: Vec<(u8, String)>,
}

/// Checks the complete steps of a transcript.
pub(crate) fn check(world: &mut World, transcript: &Transcript) {
    let mut by_step: BTreeMap<u64, BTreeMap<Seat, Entry>> = BTreeMap::new();
    for signed in transcript.entries() {
        if let Some(entry) = world.watch.verified(signed) {
            let step = by_step.entry(entry.step()).or_default();
            step.insert(entry.seat(), entry);
        }
    }
    let replica: Replica<AnyGame> = Replica::new(world.room.charter.clone()).unwrap();
    let mut reader = Reader {
        replica,
        asked: BTreeSet::new(),
        yields: 0,
        others: 0,
        before: None,
        secured: false,
        accepted: BTreeMap::new(),
        highest: 0,
        gone: SeatSet::EMPTY,
        failures: Vec::new(),
    };
    let table = world.room.charter.table();
    let mut halted = transcript.halted().iter();
    for (step, entries) in &by_step {
        if *step != reader.replica.step()
            && let Some(next) = halted.next()
        {
            let words: Vec<ForkReport> = next.fork_reports.iter().map(|word| word.fork_report().clone()).collect();
            let culprit = next.evidence.culprit(&world.room.charter);
            let party = culprit.and_then(|(seat, _)| reader.replica.party(seat).iter().next());
            if let (Some(place), Some(culprit)) = (resolve(&words), party) {
                reader.resume(place, place.name(&table, culprit), culprit);
            }
        }
        for certificate in transcript.removals().iter().filter(|certificate| certificate.step == *step) {
            for proof in certificate.decisions.iter() {
                if let Says::Propose { value: Value::Out { seats, counted }, .. } = &proof.proposal.unverified().says {
                    reader.replica.remove_absent(*seats, counted);
                }
            }
        }
        for proven in transcript.faults() {
            let entry = world.watch.verified(&proven.entry);
            if entry.is_some_and(|entry| entry.step() == *step) {
                reader.replica.remove_guilty(proven.seat);
            }
        }
        let live = reader.replica.live();
        let whole = live.iter().all(|seat| entries.contains_key(&seat));
        // The last step of a stopped table is incomplete, or contains the fault.
        let stopped = *step + 1 == by_step.len() as u64 && !replica_ends(transcript);
        if !whole || stopped || reader.replica.kind().is_none() {
            break;
        }
        reader.read(entries);
    }
    for (invariant, what) in reader.failures {
        world.watch.fail(invariant, what);
    }
}

fn replica_ends(transcript: &Transcript) -> bool {
    use fairdeal_protocol::transcript::End;
    transcript.end() == End::Finished
}

impl Reader {
    fn fail(&mut self, invariant: u8, what: &str) {
        let step = self.replica.step();
        self.failures.push((invariant, format!("step {step}: {what}")));
    }

    fn read(&mut self, entries: &BTreeMap<Seat, Entry>) {
        let Some(kind) = self.replica.kind() else {
            return;
        };
        match kind {
            StepKind::Effects => self.effects(entries),
            StepKind::Opening if self.replica.turned().is_some() => {
                if self.before != Some(StepKind::Confirm) {
                    self.fail(20, "a deal begins before the end of the one before is confirmed");
                }
                self.effects(entries);
            }
            StepKind::Action { leader } => self.action(leader, entries),
            StepKind::Confirm if self.before == Some(StepKind::Confirm) => {
                self.fail(9, "a step that confirms is confirmed by another");
            }
            _ => {}
        }
        let answers = matches!(kind, StepKind::Action { .. } | StepKind::Effects | StepKind::Shuffle { .. });
        let needs_keys = answers || self.replica.turned().is_some();
        let seals = self.replica.game().seals_cards() && !self.replica.game().is_over();
        let strict = self.replica.charter().rules().strict;
        let parties = self.replica.parties();
        let many = parties.count(self.replica.participants()) >= 3 && !strict;
        if needs_keys && seals && many && !self.secured {
            self.fail(12, "cards are dealt before all keys are in escrow");
        }
        if kind == StepKind::Escrow && self.secured {
            self.fail(12, "a second escrow in one deal");
        }
        if let StepKind::Rebuild { seat } = kind
            && parties.count(self.gone) > 1
        {
            self.fail(12, &format!("shares of {seat} are made after a second departure"));
        }
        let here = self.replica.participants();
        let deal = self.replica.deal();
        let entries: BTreeMap<Seat, Entry> = entries
            .iter()
            .filter(|(seat, _)| self.replica.live().contains(**seat))
            .map(|(seat, entry)| (*seat, entry.clone()))
            .collect();
        let coins = self.coins(here);
        let gave = |seat: &Seat| {
            let answers = entries.get(seat).and_then(|entry| entry.body().answers());
            answers.is_some_and(|answers| answers.coin.is_some())
        };
        let given: Vec<Seat> = here.iter().filter(gave).collect();
        let numbers = self.numbers();
        if let Some(number) = self.replica.ahead().map(Ahead::number) {
            let accepts = |entry: &Entry| matches!(entry.body().part(), Some(Part::Accept { .. }));
            let accepting = entries.iter().filter(|(_, entry)| accepts(entry)).map(|(seat, _)| *seat);
            self.accepted.entry(number).or_default().extend(accepting);
        }
        if let Err(broken) = self.replica.finish(&entries) {
            self.fail(9, &broken.to_string());
        }
        self.check_numbers(numbers);
        if self.replica.deal() == deal {
            self.check_coins(&coins, &given);
        }
        self.gone.extend(here.minus(self.replica.participants()).iter());
        if kind == StepKind::Accept {
            self.secured = true;
        }
        if self.replica.deal() != deal {
            self.begin_deal();
        }
        self.before = Some(kind);
    }

    /// The numbers of the open deal and of the one that is set up.
    fn numbers(&self) -> [Option<u32>; 2] {
        [Some(self.replica.deal()), self.replica.ahead().map(Ahead::number)]
    }

    /// No deal, played or only set up, has the number of another. `before` are the numbers before a step.
    fn check_numbers(&mut self, before: [Option<u32>; 2]) {
        self.highest = before.into_iter().flatten().fold(self.highest, u32::max);
        let now = self.numbers();
        if now.into_iter().flatten().any(|number| !before.contains(&Some(number)) && number <= self.highest) {
            self.fail(20, "the number of a deal is used again");
        }
    }

    fn begin_deal(&mut self) {
        self.secured = self.accepted.get(&self.replica.deal()) == Some(&self.replica.participants());
        self.gone = SeatSet::EMPTY;
        self.yields = 0;
    }

    /// Continues the log after a fork report: with a re-deal, unless the game was over.
    fn resume(&mut self, place: Resolution, name: Hash32, culprit: Seat) {
        let deal = self.replica.deal();
        let numbers = self.numbers();
        let resumed = self.replica.resume_without(culprit, place.next, name);
        self.check_numbers(numbers);
        if let Err(broken) = resumed {
            self.fail(9, &broken.to_string());
        }
        if self.replica.deal() != deal {
            self.begin_deal();
        }
        self.before = None;
        self.asked.retain(|(of, ..)| *of != deal);
    }

    /// Each seat's coin chain and number of used links.
    fn coins(&self, seats: SeatSet) -> BTreeMap<Seat, (u32, u32)> {
        let coin = |seat: Seat| Some((seat, self.replica.coin(seat)?));
        seats.iter().filter_map(coin).collect()
    }

    /// Each preimage is used once. A chain moves by one link when its coin is given, or when the flip that needed it is
    /// done.
    fn check_coins(&mut self, before: &BTreeMap<Seat, (u32, u32)>, given: &[Seat]) {
        for (seat, (chain, used)) in before {
            let Some((now_chain, now_used)) = self.replica.coin(*seat) else {
                continue;
            };
            if now_chain == *chain && now_used > used + 1 && !given.is_empty() {
                self.fail(9, "one coin has served more than one flip");
            }
        }
    }

    fn effects(&mut self, entries: &BTreeMap<Seat, Entry>) {
        let live = self.replica.live();
        let owed: Vec<(Seat, Owed)> =
            self.replica.participants().iter().map(|seat| (seat, self.replica.owed(seat))).collect();
        if owed.iter().all(|(_, owed)| owed.cards.is_empty() && !owed.coin) {
            self.fail(9, "an effects step in which nobody owes anything");
        }
        for (seat, owed) in owed.iter().filter(|(seat, _)| live.contains(*seat)) {
            self.answered(*seat, owed, entries);
        }
    }

    fn action(&mut self, leader: Seat, entries: &BTreeMap<Seat, Entry>) {
        let says_farewell = entries.values().any(|entry| matches!(entry.body(), Body::Leave));
        match entries.get(&leader).map(Entry::body) {
            // Each departure makes the table smaller, so these yields need no bound.
            Some(Body::Yield { .. }) if says_farewell => {}
            Some(Body::Yield { .. }) => {
                if self.yields == 0 {
                    // A seat removed meanwhile may have spoken.
                    self.others = self.replica.participants().len() - 1;
                }
                self.yields += 1;
                if self.yields > self.others {
                    self.fail(10, "more yields than other seats between two turns");
                }
            }
            Some(Body::Act { action, .. }) => {
                let Some(action) = Replica::<AnyGame>::action(action) else {
                    return self.fail(9, "an action that does not decode stands in the log");
                };
                if !self.replica.game().out_of_turn(&action) {
                    self.yields = 0;
                }
                let Ok(preview) = self.replica.preview(leader, &action) else {
                    return self.fail(9, "an illegal action stands in the log");
                };
                for seat in self.replica.live().iter() {
                    let answers = entries.get(&seat).map(Entry::body);
                    if let Some(Body::Act { .. } | Body::Ack { .. }) = answers {
                        let owed = self.replica.owed_first(seat, leader, &preview);
                        self.answered(seat, &owed, entries);
                    }
                }
            }
            _ => {}
        }
    }

    /// A seat answers exactly what it owes, and owes nothing twice.
    fn answered(&mut self, seat: Seat, owed: &Owed, entries: &BTreeMap<Seat, Entry>) {
        let answers = entries.get(&seat).and_then(|entry| entry.body().answers());
        let shares = answers.and_then(|answers| answers.shares.as_ref());
        let count = shares.map_or(0, |shares| shares.shares.len());
        let coin = answers.is_some_and(|answers| answers.coin.is_some());
        if count != owed.cards.len() || coin != owed.coin {
            self.fail(9, "a seat has answered something else than it was asked");
        }
        let deal = self.replica.deal();
        for (handle, _) in &owed.cards {
            if !self.asked.insert((deal, *handle, seat)) {
                self.fail(9, "a share is asked for that was given before");
            }
        }
    }
}
