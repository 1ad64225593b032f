//! Whole tables in one process: seeded players over a network that delays, loses, repeats and
//! reorders, in virtual time; seats crash with the loss of everything that is not in their journals.

use std::collections::BTreeMap;

use ed25519_dalek::SigningKey;
use fairdeal_protocol::audit::auditor::{Finding, Reason, audit};
use fairdeal_protocol::charter::{Charter, Player, SignedCharter};
use fairdeal_protocol::game::{Game, RuleSet, uniform};
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::party::Party;
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::clocks::Limits;
use fairdeal_protocol::table::fault::{Fault, FaultKind};
use fairdeal_protocol::table::journal::Record;
use fairdeal_protocol::table::live::{Event, Output, Table, To};
use fairdeal_protocol::table::message::Message;
use fairdeal_protocol::transcript::Transcript;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng as _, SeedableRng as _};

use super::drill::Drill;
use super::fixture;

/// What the network does, in thousandths of messages.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Faults {
    pub(crate) lost: u32,
    pub(crate) repeated: u32,
    pub(crate) delayed: u32,
    /// How many of a thousand outputs of a seat are its last before it crashes.
    pub(crate) crashes: u32,
}

/// A charter for those rules, signed by fixed keys.
pub(crate) fn charter(rules: &RuleSet) -> (SignedCharter, Vec<SigningKey>) {
    fixture::charter(rules, [7; 8])
}

/// Time limits in milliseconds, with the shortest turn time that a table can have.
fn limits(absence: u64) -> Limits {
    Limits {
        absence,
        turn_time: Some(30_000),
    }
}

/// A filter through which one seat's outgoing messages pass: what a cheat changes, for whom.
pub(crate) type Tamper<'a> = dyn FnMut(Seat, Seat, Message) -> Option<Message> + 'a;

/// A table of seeded players and the network between them.
pub(crate) struct Sim<G: Game> {
    pub(crate) tables: Vec<Table<G>>,
    pub(crate) events: Vec<Vec<Event<G>>>,
    rngs: Vec<ChaCha20Rng>,
    net: ChaCha20Rng,
    faults: Faults,
    now: u64,
    counter: u64,
    /// Messages on their way by arrival: from, to, bytes.
    queue: BTreeMap<(u64, u64), (Seat, Seat, Vec<u8>)>,
    pub(crate) messages: u64,
    pub(crate) charter: SignedCharter,
    keys: Vec<SigningKey>,
    /// What is on each seat's disk.
    pub(crate) journals: Vec<Vec<Vec<u8>>>,
    /// When each seat that has crashed comes back.
    down: Vec<Option<u64>>,
    pub(crate) crashes: u64,
    /// The patience of all tables, in milliseconds.
    pub(crate) patience: u64,
    /// Who crashes at an output with that number, counted over all seats, and never comes back.
    pub(crate) doomed: Option<(Seat, u64)>,
    outputs: u64,
    /// Who cheats: nobody waits for it to come to the end.
    pub(crate) cheat: Option<Seat>,
    /// How many of ten thousand looks at an action step end in a farewell.
    pub(crate) leaves: u32,
    /// Whether all players think, and nobody else leaves, for as long as somebody is leaving.
    pub(crate) thoughtful: bool,
    /// Who has said that it leaves.
    leavers: SeatSet,
    /// What each seat has signed for each step, as it went out.
    signed: BTreeMap<(Seat, u64), Hash32>,
    /// When each seat ticks next: every second, all at one moment unless a test moves them apart.
    pub(crate) ticks: Vec<u64>,
    /// How long every message takes, in milliseconds; drawn if unset.
    pub(crate) latency: Option<u64>,
    /// Links that carry nothing, between any two of these seats: from when and until when.
    pub(crate) cuts: Vec<(SeatSet, u64, u64)>,
    /// Seats that differ from the others in how long they wait, in milliseconds.
    pub(crate) own_patience: BTreeMap<Seat, u64>,
    /// A player that thinks once, at the first turn that is its own: for how long, in milliseconds.
    pub(crate) thinker: Option<(Seat, u64)>,
    /// Until when it thinks.
    thinks_until: Option<u64>,
}

impl<G: Game> Sim<G> {
    /// The first fault that a seat has found.
    pub(crate) fn fault(&self, seat: usize) -> Option<&Fault> {
        self.events[seat].iter().find_map(|event| match event {
            Event::Fault(fault, _) => Some(fault),
            _ => None,
        })
    }

    pub(crate) fn new(rules: &RuleSet, seed: u64, faults: Faults) -> Self {
        Self::at(charter(rules), seed, faults)
    }

    /// A table of parties: for each seat the lowest seat of its own.
    pub(crate) fn of_parties(rules: &RuleSet, seed: u64, parties: &[usize]) -> Self {
        let (signed, keys) = charter(rules);
        let players = signed.charter().seated().zip(parties);
        let players = players.map(|((_, player), lowest)| Player {
            party: Party::of(Seat::new(*lowest).unwrap()),
            ..player.clone()
        });
        let charter = Charter::new([7; 8], rules, players.collect()).unwrap();
        let signatures = keys.iter().map(|key| charter.sign(key)).collect();
        let signed = SignedCharter::assemble(charter, signatures).unwrap();
        Self::at((signed, keys), seed, Faults::default())
    }

    fn at((charter, keys): (SignedCharter, Vec<SigningKey>), seed: u64, faults: Faults) -> Self {
        let seeded = |n: u64| {
            let mut bytes = [0; 32];
            bytes[..8].copy_from_slice(&seed.to_le_bytes());
            bytes[8..16].copy_from_slice(&n.to_le_bytes());
            ChaCha20Rng::from_seed(bytes)
        };
        let seats: Vec<Seat> = charter.charter().seats().iter().collect();
        let tables = seats
            .iter()
            .zip(&keys)
            .map(|(seat, key)| Table::new(charter.clone(), *seat, key.clone()).unwrap())
            .collect();
        Self {
            tables,
            events: seats.iter().map(|_| Vec::new()).collect(),
            rngs: seats
                .iter()
                .map(|seat| seeded(1 + seat.index() as u64))
                .collect(),
            net: seeded(0),
            faults,
            now: 0,
            counter: 0,
            queue: BTreeMap::new(),
            messages: 0,
            journals: vec![Vec::new(); seats.len()],
            down: vec![None; seats.len()],
            crashes: 0,
            leaves: 0,
            thoughtful: false,
            leavers: SeatSet::EMPTY,
            patience: 120_000,
            doomed: None,
            outputs: 0,
            cheat: None,
            signed: BTreeMap::new(),
            ticks: vec![1000; seats.len()],
            latency: None,
            cuts: Vec::new(),
            own_patience: BTreeMap::new(),
            thinker: None,
            thinks_until: None,
            charter,
            keys,
        }
    }

    /// The table of a seat as its journal gives it back.
    pub(crate) fn restored(&self, seat: Seat, records: usize) -> Table<G> {
        let journal = &self.journals[seat.index()];
        let records = journal[..records]
            .iter()
            .map(|bytes| Record::from_bytes(bytes).unwrap());
        let key = self.keys[seat.index()].clone();
        let mut rng = ChaCha20Rng::from_seed([u8::try_from(self.crashes % 256).unwrap(); 32]);
        Table::restore(self.charter.clone(), seat, key, records, &mut rng).unwrap()
    }

    /// Whether a record is on a seat's disk.
    fn is_kept(&self, seat: Seat, record: &Record) -> bool {
        let bytes = record.to_bytes();
        let journal = self.journals[seat.index()].iter().rev();
        journal.into_iter().any(|kept| *kept == *bytes)
    }

    /// Nobody honest signs two entries for one place, or sends what it has signed before it is on its disk.
    fn watch(&mut self, from: Seat, message: &Message) {
        let unkept = match message {
            Message::Statements(statements) => {
                let own = statements.iter();
                let own = own.filter(|signed| signed.unverified().seat == from);
                own.cloned()
                    .map(|signed| Record::Statement(Box::new(signed)))
                    .find(|own| !self.is_kept(from, own))
            }
            Message::Halts(halts) => {
                let own = halts.iter().filter(|signed| signed.halt().seat == from);
                own.cloned()
                    .map(Record::Halt)
                    .find(|own| !self.is_kept(from, own))
            }
            _ => None,
        };
        assert_eq!(unkept, None, "{from} has sent what it has not kept");
        let Message::Entries(entries) = message else {
            return;
        };
        for signed in entries.iter() {
            let table = self.charter.table();
            let entry = signed.verify(self.charter.charter(), &table).unwrap();
            if entry.seat() == from {
                let kept = self.is_kept(from, &Record::Entry(signed.clone()));
                assert!(kept, "{from} has sent what it has not kept: {entry:?}");
                let place = (from, entry.step());
                let first = *self.signed.entry(place).or_insert(entry.hash());
                assert_eq!(first, entry.hash(), "{place:?} was signed twice");
            }
        }
    }

    fn crash(&mut self, seat: Seat) {
        self.crashes += 1;
        let rest = u64::from(uniform(&mut self.net, 5_000));
        self.down[seat.index()] = Some(self.now + rest);
    }

    /// Those whose time has come start again from their disks.
    fn come_back(&mut self) {
        for seat in Seat::first(self.tables.len()) {
            if self.down[seat.index()].is_some_and(|until| until <= self.now) {
                self.down[seat.index()] = None;
                let mut table = self.restored(seat, self.journals[seat.index()].len());
                table.set_limits(limits(self.patience_of(seat)));
                table.begin(&mut self.rngs[seat.index()]);
                self.tables[seat.index()] = table;
            }
        }
    }

    fn patience_of(&self, seat: Seat) -> u64 {
        let own = self.own_patience.get(&seat);
        own.copied().unwrap_or(self.patience)
    }

    /// Whether that seat's player thinks, which began with the first turn of its own.
    fn is_thinking(&mut self, seat: Seat) -> bool {
        let Some((_, long)) = self.thinker.filter(|(thinker, _)| *thinker == seat) else {
            return false;
        };
        if !self.tables[seat.index()].is_my_turn() {
            return false;
        }
        let until = *self.thinks_until.get_or_insert(self.now + long);
        self.now < until
    }

    fn chance(&mut self, thousandths: u32) -> bool {
        uniform(&mut self.net, 1000) < thousandths
    }

    fn post(&mut self, from: Seat, to: Seat, message: &Message) {
        self.messages += 1;
        let copies = 1 + u64::from(self.chance(self.faults.repeated));
        for _ in 0..copies {
            let now = self.now;
            let mut cuts = self.cuts.iter();
            let cut = cuts.any(|(seats, since, until)| {
                (*since..*until).contains(&now) && seats.contains(from) && seats.contains(to)
            });
            if cut || self.chance(self.faults.lost) {
                continue;
            }
            let late = if self.chance(self.faults.delayed) {
                3000
            } else {
                20
            };
            let drawn = 1 + u64::from(uniform(&mut self.net, late));
            let arrival = self.now + self.latency.unwrap_or(drawn);
            self.counter += 1;
            self.queue
                .insert((arrival, self.counter), (from, to, message.to_bytes()));
        }
    }

    /// Sends what the tables have to say.
    fn flush(&mut self, tamper: &mut Tamper<'_>) {
        for from in Seat::first(self.tables.len()) {
            if self.down[from.index()].is_some() {
                continue;
            }
            while let Some(output) = self.tables[from.index()].poll() {
                // What passes on is a matter of speed: heads have to do here.
                if matches!(output, Output::Pass(..)) {
                    continue;
                }
                self.outputs += 1;
                if self
                    .doomed
                    .is_some_and(|(seat, at)| seat == from && self.outputs >= at)
                {
                    self.down[from.index()] = Some(u64::MAX);
                    break;
                }
                if self.faults.crashes > 0 && self.chance(self.faults.crashes) {
                    self.crash(from);
                    break;
                }
                match output {
                    Output::Keep(record) => {
                        self.journals[from.index()].push(record.to_bytes().to_vec());
                    }
                    Output::Event(event) => self.events[from.index()].push(event),
                    Output::Pass(..) => {}
                    Output::Send(to, message) => {
                        self.watch(from, &message);
                        let everybody = Seat::first(self.tables.len()).filter(|to| *to != from);
                        let targets: Vec<Seat> = match to {
                            To::All => everybody.collect(),
                            To::One(seat) => vec![seat],
                        };
                        for to in targets {
                            if let Some(message) = tamper(from, to, message.clone()) {
                                self.post(from, to, &message);
                            }
                        }
                    }
                }
            }
        }
    }

    /// Runs until every table has ended or stopped, or virtual time is up. Players act at random.
    pub(crate) fn run(&mut self, until: u64, out_of_turn: bool, tamper: &mut Tamper<'_>) {
        for seat in Seat::first(self.tables.len()) {
            let patience = self.patience_of(seat);
            let table = &mut self.tables[seat.index()];
            table.set_limits(limits(patience));
            table.begin(&mut self.rngs[seat.index()]);
        }
        while self.now < until {
            self.come_back();
            self.flush(tamper);
            let ended = |table: &Table<G>| {
                table.all_finished() || table.stopped().is_some() || table.has_left()
            };
            let cheat = self.cheat.map(Seat::index);
            let gone = self.down.iter().enumerate();
            let gone = gone.map(|(seat, down)| *down == Some(u64::MAX) || Some(seat) == cheat);
            if self
                .tables
                .iter()
                .zip(gone)
                .all(|(table, gone)| gone || ended(table))
            {
                return;
            }
            let tick = self.ticks.iter().copied().min().unwrap_or(u64::MAX);
            let arrival = self.queue.first_key_value().map(|(key, _)| *key);
            let wakes = self.thinks_until.filter(|at| *at > self.now);
            let next = arrival.map_or(tick, |(at, _)| at.min(tick));
            match (arrival, wakes) {
                (_, Some(at)) if at < next => self.now = at,
                (Some(key), _) if key.0 <= tick => {
                    let (from, to, bytes) = self.queue.remove(&key).unwrap();
                    self.now = key.0;
                    let to = to.index();
                    if self.down[to].is_some() {
                        continue;
                    }
                    // A refused message costs its sender the connection; here it is just dropped.
                    let _ = self.tables[to].receive(from, &bytes, &mut self.rngs[to]);
                }
                _ => {
                    self.now = tick;
                    for index in 0..self.tables.len() {
                        if self.ticks[index] == tick {
                            self.ticks[index] += 1000;
                            if self.down[index].is_none() {
                                self.tables[index].tick(tick, &mut self.rngs[index]);
                                self.propose(index);
                            }
                        }
                    }
                }
            }
            self.act(out_of_turn);
        }
    }

    /// A player that has waited in vain for a cheat that is there proposes its removal.
    fn propose(&mut self, index: usize) {
        if let Some(cheat) = self.cheat
            && cheat.index() != index
            && self.tables[index].may_propose_removal(cheat)
        {
            self.tables[index].propose_removal(cheat).unwrap();
        }
    }

    fn act(&mut self, out_of_turn: bool) {
        let leaving = self.leavers.iter().any(|seat| {
            let mut stayers = self
                .tables
                .iter()
                .filter(|table| !self.leavers.contains(table.me()));
            stayers.any(|table| table.replica().live().contains(seat) && !table.is_finished())
        });
        let thinking = self.thoughtful && leaving;
        for seat in Seat::first(self.tables.len()) {
            if self.down[seat.index()].is_some() || self.is_thinking(seat) {
                continue;
            }
            let table = &mut self.tables[seat.index()];
            let rng = &mut self.rngs[seat.index()];
            // Refused only at a table that has ended, or to the last one.
            if !thinking
                && self.leaves > 0
                && uniform(rng, 10_000) < self.leaves
                && !table.has_left()
                && table.leave(rng).is_ok()
            {
                self.leavers.insert(seat);
            }
            let turn = table.is_my_turn() && !rng.next_u32().is_multiple_of(4);
            let wish = out_of_turn && rng.next_u32().is_multiple_of(500);
            if thinking || !turn && !wish {
                continue;
            }
            let mut legal = table.game().legal(seat, table.known());
            legal.retain(|action| table.game().out_of_turn(action) != turn || wish);
            if legal.is_empty() {
                continue;
            }
            let choice = uniform(rng, u32::try_from(legal.len()).unwrap()) as usize;
            // Refused only where an interjection was made before.
            let _ = table.act(legal.swap_remove(choice), rng);
        }
    }
}

/// Every honest seat has named the cheat and shown why to a stranger, and all have played on to the same
/// end without it; what for.
pub(crate) fn convicted(sim: &Sim<Drill>, cheat: Seat) -> FaultKind {
    let honest = Seat::first(sim.tables.len()).filter(|seat| *seat != cheat);
    let mut found: Vec<(Fault, Vec<u8>)> = Vec::new();
    for seat in honest {
        let table = &sim.tables[seat.index()];
        let mut faults = sim.events[seat.index()]
            .iter()
            .filter_map(|event| match event {
                Event::Fault(fault, evidence) => Some((fault, evidence)),
                _ => None,
            });
        let Some((fault, evidence)) = faults.next() else {
            panic!("{table:?} blames nobody; stopped: {:?}", table.stopped());
        };
        assert!(faults.next().is_none(), "{table:?} blames twice");
        assert_eq!(fault.seat, cheat, "{fault}");
        let evidence = evidence.to_bytes().unwrap();
        let shown = audit::<Drill>(&Transcript::from_bytes(&evidence).unwrap());
        assert_eq!(shown.finding, Some(Finding::Fault(fault.clone())));
        assert!(
            table.is_finished(),
            "{table:?} has not played on: {:?}",
            table.stopped()
        );
        let bytes = table.transcript().to_bytes().unwrap();
        let report = audit::<Drill>(&Transcript::from_bytes(&bytes).unwrap());
        assert_eq!(report.finding, None);
        let left: Vec<_> = report
            .left
            .iter()
            .map(|gone| (gone.seat, &gone.why))
            .collect();
        assert_eq!(left, [(cheat, &Reason::Fault(fault.clone()))]);
        found.push((fault.clone(), bytes));
    }
    assert!(
        found.windows(2).all(|pair| pair[0] == pair[1]),
        "they differ: {:?}",
        found[0].0
    );
    found.remove(0).0.what
}

/// Nobody cheats.
pub(crate) fn honest(_: Seat, _: Seat, message: Message) -> Option<Message> {
    Some(message)
}
