//! Several seats in one process, and everything that can go wrong between them: messages lost, repeated, reordered,
//! garbled or forged, crashes at any output, and optionally one cheating seat.
//!
//! Nothing happens by itself. After each operation of a harness, [`World::pump`] executes the seats' outputs and checks
//! the invariants.

use std::collections::{BTreeMap, VecDeque};

use fairdeal_protocol::game::{Game, RuleSet};
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::log::entry::Entry;
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::table::live::{Event, Output, Stop, Table};
use fairdeal_testkit::{Honesty, Letter, Room, Sent, Status, entries};

use crate::fixture::{charter, rng};

/// Maximum number of queued messages; beyond that the oldest are lost.
const MAX_QUEUE: usize = 128;
/// Maximum number of messages that one `settle` delivers.
const MAX_SETTLE: usize = 256;
/// Number of lossless rounds within which the seats must agree.
const MAX_ROUNDS: usize = 60;

/// The seats of one table, and the network between them.
#[derive(Debug)]
pub struct World<G: Game> {
    /// The seats' programs.
    pub room: Room<G>,
    /// Queued messages, oldest first.
    pub queue: VecDeque<Letter>,
    /// Each seat's clock, in milliseconds.
    clocks: Vec<u64>,
    /// Number of outputs until each seat crashes, if it will.
    fuses: Vec<Option<u8>>,
    /// The cheating seat, if any.
    cheat: Option<Seat>,
    honesty: Honesty,
    /// The last entries sent, so that forged entries can name them.
    pub seen: VecDeque<Entry>,
    /// The hash of each step, as reported by the first seat to complete it.
    pub steps: BTreeMap<u64, Hash32>,
}

impl<G: Game> World<G> {
    /// A table at its start, with its first messages sent.
    pub fn new(rules: &RuleSet, cheat: Option<Seat>) -> Self {
        let room = Room::new(charter(rules), |seat| rng(2, seat.number().into()));
        let count = room.places.len();
        let mut world = Self {
            honesty: Honesty::new(room.charter.clone()),
            room,
            queue: VecDeque::new(),
            clocks: vec![0; count],
            fuses: vec![None; count],
            cheat,
            seen: VecDeque::new(),
            steps: BTreeMap::new(),
        };
        world.room.begin();
        world.pump();
        world
    }

    // Operations.

    /// Queues a message.
    pub fn post(&mut self, from: Seat, to: Seat, bytes: Vec<u8>) {
        if from != to {
            self.queue.push_back(Letter { from, to, bytes });
            if self.queue.len() > MAX_QUEUE {
                self.queue.pop_front();
            }
        }
    }

    /// Delivers a message. A refused message would cost its sender the connection; here nothing happens.
    pub fn deliver(&mut self, letter: &Letter) {
        let _ = self.room[letter.to].receive(letter.from, &letter.bytes);
    }

    /// Delivers all queued messages, and those that follow from them.
    pub fn settle(&mut self) {
        for _ in 0..MAX_SETTLE {
            let Some(letter) = self.queue.pop_front() else {
                return;
            };
            self.deliver(&letter);
            self.pump();
        }
    }

    /// Lets a seat take one of its legal actions, if there is any.
    pub fn act(&mut self, seat: Seat, number: usize, in_turn: bool) {
        let place = &mut self.room[seat];
        let table = &place.table;
        let mut legal = table.game().legal(seat, table.known());
        if in_turn {
            legal.retain(|action| !table.game().out_of_turn(action));
        }
        if !legal.is_empty() {
            let action = legal.swap_remove(number % legal.len());
            // Refused if the seat has interjected before, or if the table is closed.
            let _ = place.act(action);
        }
    }

    /// Delivers everything, then lets the seat whose turn it is act.
    pub fn play(&mut self, number: usize) {
        self.settle();
        let asked = self.room.tables().find(|table| table.is_my_turn());
        if let Some(seat) = asked.map(Table::me) {
            self.act(seat, number, true);
        }
    }

    /// Advances one seat's clock by a second.
    pub fn tick(&mut self, seat: Seat) {
        let clock = &mut self.clocks[seat.index()];
        *clock += 1_000;
        self.room[seat].tick(*clock);
    }

    /// Tells a seat that another is connected again.
    pub fn greet(&mut self, seat: Seat, other: Seat) {
        if seat != other {
            self.room[seat].table.greet(other);
        }
    }

    /// Makes a seat crash after this many more outputs.
    pub fn light_fuse(&mut self, seat: Seat, outputs: u8) {
        self.fuses[seat.index()] = Some(outputs);
    }

    /// Crashes a seat's program and restarts it immediately.
    fn crash(&mut self, seat: Seat) {
        self.fuses[seat.index()] = None;
        self.room[seat].crash(Status::Gone);
        self.room.restart(seat).unwrap();
        self.room[seat].begin();
    }

    /// Executes all outputs of the seats, and checks the invariants.
    pub fn pump(&mut self) {
        for seat in self.room.seats() {
            while let Some(output) = self.room[seat].poll() {
                match &mut self.fuses[seat.index()] {
                    Some(0) => {
                        self.crash(seat);
                        continue;
                    }
                    Some(left) => *left -= 1,
                    None => {}
                }
                if let Output::Event(Event::Step(step, hash)) = output {
                    self.completes(step, hash);
                }
                if let Some(sent) = self.room[seat].carry_out(output) {
                    self.send(&sent);
                }
            }
            self.nobody_honest_is_blamed(seat);
        }
    }

    fn completes(&mut self, step: u64, hash: Hash32) {
        // A cheat can give each seat a different log for one step, until they compare.
        let first = *self.steps.entry(step).or_insert(hash);
        let same = self.cheat.is_some() || first == hash;
        assert!(same, "two logs at step {step}");
    }

    fn send(&mut self, sent: &Sent) {
        if self.cheat != Some(sent.from) {
            self.honesty.check(&self.room[sent.from], &sent.message);
        }
        for entry in entries::carried(&self.room.charter, &sent.message) {
            if self.seen.iter().all(|known| known.hash() != entry.hash()) {
                self.seen.push_back(entry);
                if self.seen.len() > 16 {
                    self.seen.pop_front();
                }
            }
        }
        let bytes = sent.message.to_bytes();
        for to in self.room.seats().filter(|seat| sent.is_for(*seat)) {
            self.post(sent.from, to, bytes.clone());
        }
    }

    fn nobody_honest_is_blamed(&self, seat: Seat) {
        if self.cheat == Some(seat) {
            return;
        }
        match self.room[seat].table.stopped() {
            None => {}
            Some(Stop::Fault(fault)) if self.cheat == Some(fault.seat) => {}
            Some(Stop::Desync(other, _)) if self.cheat == Some(*other) => {}
            Some(stop) => panic!("{seat} has stopped: {stop}"),
        }
    }

    // Outcomes.

    fn is_together(&self) -> bool {
        let first = &self.room[0].table;
        self.room.tables().all(|table| {
            let same = table.replica().step() == first.replica().step();
            same && table.log_hash() == first.log_hash() && !table.is_returning()
        })
    }

    /// Checks that without further losses all honest seats reach the same step and log.
    pub fn must_come_together(&mut self) {
        self.fuses.fill(None);
        for _ in 0..MAX_ROUNDS {
            self.settle();
            if self.is_together() {
                return;
            }
            for seat in self.room.seats() {
                self.tick(seat);
            }
            self.pump();
        }
        let progress: Vec<_> = self.room.tables().map(Table::progress).collect();
        panic!("the seats do not come together: {progress:?}");
    }
}
