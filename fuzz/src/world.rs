//! Some seats in one process, and everything between them that can go wrong: messages lost, repeated,
//! reordered, garbled or made up, crashes at any output, and one seat that may cheat.
//!
//! Nothing happens by itself. After each operation of a harness the seats' outputs are carried out
//! ([`World::pump`]), and what must hold at all times is checked.

use std::collections::{BTreeMap, VecDeque};

use ed25519_dalek::SigningKey;
use fairdeal_protocol::charter::SignedCharter;
use fairdeal_protocol::game::{Game, RuleSet};
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::log::entry::{Entry, SignedEntry};
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::table::journal::Record;
use fairdeal_protocol::table::live::{Event, Output, Stop, Table, To};
use fairdeal_protocol::table::message::Message;
use rand_chacha::ChaCha20Rng;

use crate::fixture::{charter, rng};

/// The most messages on their way; the oldest are lost beyond that.
const MAX_QUEUE: usize = 128;
/// The most messages delivered in one go.
const MAX_SETTLE: usize = 256;
/// After so many rounds in which nothing gets lost the seats have come together, or never will.
const MAX_ROUNDS: usize = 60;

/// A message on its way.
#[derive(Clone, Debug)]
pub struct Letter {
    /// Who sends it.
    pub from: Seat,
    /// Whom to.
    pub to: Seat,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// Seats at one table, and the network between them.
#[derive(Debug)]
pub struct World<G: Game> {
    charter: SignedCharter,
    keys: Vec<SigningKey>,
    /// The seats' tables.
    pub tables: Vec<Table<G>>,
    rngs: Vec<ChaCha20Rng>,
    /// Each seat's time, in milliseconds.
    clocks: Vec<u64>,
    /// Messages on their way, oldest first.
    pub queue: VecDeque<Letter>,
    /// What is on each seat's disk.
    pub journals: Vec<Vec<Vec<u8>>>,
    /// After how many more outputs a seat crashes.
    fuses: Vec<Option<u8>>,
    returns: u64,
    /// The seat whose word counts for nothing, if there is one.
    cheat: Option<Seat>,
    /// What each seat has signed for each step, as it went out.
    signed: BTreeMap<(Seat, u64), Hash32>,
    /// The last entries that went out, for whoever wants to name one.
    pub seen: VecDeque<Entry>,
    /// The hash of each step, as the first to complete it told.
    pub steps: BTreeMap<u64, Hash32>,
}

impl<G: Game> World<G> {
    /// A table at its start, with everything sent that is sent first.
    pub fn new(rules: &RuleSet, cheat: Option<Seat>) -> Self {
        let (charter, keys) = charter(rules);
        let seats: Vec<Seat> = charter.charter().seats().iter().collect();
        let table = |(seat, key): (&Seat, &SigningKey)| {
            Table::new(charter.clone(), *seat, key.clone()).unwrap()
        };
        let mut world = Self {
            tables: seats.iter().zip(&keys).map(table).collect(),
            rngs: seats
                .iter()
                .map(|seat| rng(2, u64::from(seat.number())))
                .collect(),
            clocks: vec![0; seats.len()],
            queue: VecDeque::new(),
            journals: vec![Vec::new(); seats.len()],
            fuses: vec![None; seats.len()],
            returns: 0,
            cheat,
            signed: BTreeMap::new(),
            seen: VecDeque::new(),
            steps: BTreeMap::new(),
            charter,
            keys,
        };
        for (table, rng) in world.tables.iter_mut().zip(&mut world.rngs) {
            table.begin(rng);
        }
        world.pump();
        world
    }

    /// The seats.
    pub fn seats(&self) -> impl Iterator<Item = Seat> + use<G> {
        Seat::first(self.tables.len())
    }

    /// The charter.
    pub fn charter(&self) -> &SignedCharter {
        &self.charter
    }

    /// The key of a seat.
    pub fn key(&self, seat: Seat) -> &SigningKey {
        &self.keys[seat.index()]
    }

    // What can happen.

    /// Puts a message on its way.
    pub fn post(&mut self, from: Seat, to: Seat, bytes: Vec<u8>) {
        if from != to {
            self.queue.push_back(Letter { from, to, bytes });
            if self.queue.len() > MAX_QUEUE {
                self.queue.pop_front();
            }
        }
    }

    /// Hands a message to its receiver. One that is refused costs its sender the connection, which
    /// here is the same as nothing.
    pub fn deliver(&mut self, letter: &Letter) {
        let to = letter.to.index();
        let _ = self.tables[to].receive(letter.from, &letter.bytes, &mut self.rngs[to]);
    }

    /// Delivers everything on its way, and what follows from it.
    pub fn settle(&mut self) {
        for _ in 0..MAX_SETTLE {
            let Some(letter) = self.queue.pop_front() else {
                return;
            };
            self.deliver(&letter);
            self.pump();
        }
    }

    /// A seat takes one of the actions that are legal for it, if there is any.
    pub fn act(&mut self, seat: Seat, number: usize, in_turn: bool) {
        let table = &mut self.tables[seat.index()];
        let mut legal = table.game().legal(seat, table.known());
        if in_turn {
            legal.retain(|action| !table.game().out_of_turn(action));
        }
        if !legal.is_empty() {
            let action = legal.swap_remove(number % legal.len());
            // Refused where an interjection was made before, or the table is closed.
            let _ = table.act(action, &mut self.rngs[seat.index()]);
        }
    }

    /// Everything arrives, and whoever is asked acts.
    pub fn play(&mut self, number: usize) {
        self.settle();
        let asked = self
            .seats()
            .find(|seat| self.tables[seat.index()].is_my_turn());
        if let Some(seat) = asked {
            self.act(seat, number, true);
        }
    }

    /// A second has passed for one seat.
    pub fn tick(&mut self, seat: Seat) {
        let index = seat.index();
        self.clocks[index] += 1_000;
        self.tables[index].tick(self.clocks[index], &mut self.rngs[index]);
    }

    /// Two seats have a connection again.
    pub fn greet(&mut self, seat: Seat, other: Seat) {
        if seat != other {
            self.tables[seat.index()].greet(other);
        }
    }

    /// A seat will crash after so many more outputs.
    pub fn light_fuse(&mut self, seat: Seat, outputs: u8) {
        self.fuses[seat.index()] = Some(outputs);
    }

    fn crash(&mut self, seat: Seat) {
        let index = seat.index();
        self.fuses[index] = None;
        self.returns += 1;
        let records = self.journals[index]
            .iter()
            .map(|bytes| Record::from_bytes(bytes).unwrap());
        let key = self.keys[index].clone();
        let mut nonces = rng(3, self.returns);
        let mut table =
            Table::restore(self.charter.clone(), seat, key, records, &mut nonces).unwrap();
        table.begin(&mut self.rngs[index]);
        self.tables[index] = table;
    }

    /// Carries out what the seats have to do, and checks what must hold at all times.
    pub fn pump(&mut self) {
        for seat in self.seats() {
            while let Some(output) = self.tables[seat.index()].poll() {
                match self.fuses[seat.index()] {
                    Some(0) => {
                        self.crash(seat);
                        continue;
                    }
                    Some(left) => self.fuses[seat.index()] = Some(left - 1),
                    None => {}
                }
                self.carry_out(seat, output);
            }
            self.nobody_honest_is_blamed(seat);
        }
    }

    fn carry_out(&mut self, seat: Seat, output: Output<G>) {
        match output {
            Output::Keep(record) => {
                self.journals[seat.index()].push(record.to_bytes().to_vec());
            }
            Output::Send(to, message) => {
                if let Message::Entries(entries) = &message {
                    entries.iter().for_each(|signed| self.watch(seat, signed));
                }
                let bytes = message.to_bytes();
                for other in self.seats() {
                    if to == To::All || to == To::One(other) {
                        self.post(seat, other, bytes.clone());
                    }
                }
            }
            Output::Event(Event::Step(step, hash)) => {
                // A cheat can tell each seat another log for one step, until they compare.
                let first = *self.steps.entry(step).or_insert(hash);
                assert!(
                    self.cheat.is_some() || first == hash,
                    "two logs at step {step}"
                );
            }
            Output::Event(_) | Output::Pass(..) => {}
        }
    }

    /// Nobody signs two entries for one place.
    fn watch(&mut self, from: Seat, signed: &SignedEntry) {
        let table = self.charter.table();
        let entry = signed.verify(self.charter.charter(), &table).unwrap();
        if entry.seat() == from && self.cheat != Some(from) {
            let place = (from, entry.step());
            let first = *self.signed.entry(place).or_insert(entry.hash());
            assert_eq!(first, entry.hash(), "{place:?} was signed twice");
        }
        if self.seen.iter().all(|known| known.hash() != entry.hash()) {
            self.seen.push_back(entry);
            if self.seen.len() > 16 {
                self.seen.pop_front();
            }
        }
    }

    fn nobody_honest_is_blamed(&self, seat: Seat) {
        if self.cheat == Some(seat) {
            return;
        }
        match self.tables[seat.index()].stopped() {
            None => {}
            Some(Stop::Fault(fault)) if self.cheat == Some(fault.seat) => {}
            Some(Stop::Desync(other, _)) if self.cheat == Some(*other) => {}
            Some(stop) => panic!("{seat} has stopped: {stop}"),
        }
    }

    // What must come of it.

    fn is_together(&self) -> bool {
        let first = &self.tables[0];
        self.tables.iter().all(|table| {
            let same = table.replica().step() == first.replica().step();
            same && table.log_hash() == first.log_hash() && !table.is_returning()
        })
    }

    /// Once nothing gets lost any more, all honest seats come to one step and one log.
    pub fn must_come_together(&mut self) {
        self.fuses.fill(None);
        for _ in 0..MAX_ROUNDS {
            self.settle();
            if self.is_together() {
                return;
            }
            for seat in self.seats() {
                self.tick(seat);
            }
            self.pump();
        }
        let progress: Vec<_> = self.tables.iter().map(Table::progress).collect();
        panic!("the seats do not come together: {progress:?}");
    }
}
