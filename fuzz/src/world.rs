//! Some seats in one process, and everything between them that can go wrong: messages lost, repeated,
//! reordered, garbled or made up, crashes at any output, and one seat that may cheat.
//!
//! Nothing happens by itself. After each operation of a harness the seats' outputs are carried out
//! ([`World::pump`]), and what must hold at all times is checked.

use std::collections::{BTreeMap, VecDeque};

use fairdeal_protocol::game::{Game, RuleSet};
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::log::entry::Entry;
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::table::live::{Event, Output, Stop, Table};
use fairdeal_testkit::{Honesty, Letter, Room, Sent, Status, entries};

use crate::fixture::{charter, rng};

/// The most messages on their way; the oldest are lost beyond that.
const MAX_QUEUE: usize = 128;
/// The most messages delivered in one go.
const MAX_SETTLE: usize = 256;
/// After so many rounds in which nothing gets lost the seats have come together, or never will.
const MAX_ROUNDS: usize = 60;

/// Seats at one table, and the network between them.
#[derive(Debug)]
pub struct World<G: Game> {
    /// The seats' programs.
    pub room: Room<G>,
    /// Messages on their way, oldest first.
    pub queue: VecDeque<Letter>,
    /// Each seat's time, in milliseconds.
    clocks: Vec<u64>,
    /// After how many more outputs a seat crashes.
    fuses: Vec<Option<u8>>,
    /// The seat whose word counts for nothing, if there is one.
    cheat: Option<Seat>,
    honesty: Honesty,
    /// The last entries that went out, for whoever wants to name one.
    pub seen: VecDeque<Entry>,
    /// The hash of each step, as the first to complete it told.
    pub steps: BTreeMap<u64, Hash32>,
}

impl<G: Game> World<G> {
    /// A table at its start, with everything sent that is sent first.
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
        let _ = self.room[letter.to].receive(letter.from, &letter.bytes);
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
        let place = &mut self.room[seat];
        let table = &place.table;
        let mut legal = table.game().legal(seat, table.known());
        if in_turn {
            legal.retain(|action| !table.game().out_of_turn(action));
        }
        if !legal.is_empty() {
            let action = legal.swap_remove(number % legal.len());
            // Refused where an interjection was made before, or the table is closed.
            let _ = place.act(action);
        }
    }

    /// Everything arrives, and whoever is asked acts.
    pub fn play(&mut self, number: usize) {
        self.settle();
        let asked = self.room.tables().find(|table| table.is_my_turn());
        if let Some(seat) = asked.map(Table::me) {
            self.act(seat, number, true);
        }
    }

    /// A second has passed for one seat.
    pub fn tick(&mut self, seat: Seat) {
        let clock = &mut self.clocks[seat.index()];
        *clock += 1_000;
        self.room[seat].tick(*clock);
    }

    /// Two seats have a connection again.
    pub fn greet(&mut self, seat: Seat, other: Seat) {
        if seat != other {
            self.room[seat].table.greet(other);
        }
    }

    /// A seat will crash after so many more outputs.
    pub fn light_fuse(&mut self, seat: Seat, outputs: u8) {
        self.fuses[seat.index()] = Some(outputs);
    }

    /// A seat's program dies and starts again at once.
    fn crash(&mut self, seat: Seat) {
        self.fuses[seat.index()] = None;
        self.room[seat].crash(Status::Gone);
        self.room.restart(seat).unwrap();
        self.room[seat].begin();
    }

    /// Carries out what the seats have to do, and checks what must hold at all times.
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
        // A cheat can tell each seat another log for one step, until they compare.
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

    // What must come of it.

    fn is_together(&self) -> bool {
        let first = &self.room[0].table;
        self.room.tables().all(|table| {
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
            for seat in self.room.seats() {
                self.tick(seat);
            }
            self.pump();
        }
        let progress: Vec<_> = self.room.tables().map(Table::progress).collect();
        panic!("the seats do not come together: {progress:?}");
    }
}
