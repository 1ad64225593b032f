//! The programs of one table, with their disks.
//!
//! A [`TestSeat`] is one seat's program. It executes its table's outputs except sending: the test decides who receives
//! a message, or [`Room::exchange`] delivers everything. A crash loses everything that is not on the disk. Methods
//! named after methods of [`Table`] call them with the seat's random source, and fail like them.

use std::ops::{Index, IndexMut};

use fairdeal_protocol::charter::SignedCharter;
use fairdeal_protocol::game::Game;
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::table::clocks::Now;
use fairdeal_protocol::table::journal::Record;
use fairdeal_protocol::table::live::{ActError, Event, Output, ReceiveError, RestoreError, Table, To};
use fairdeal_protocol::table::message::Message;
use rand_chacha::ChaCha20Rng;

use crate::seats;

/// Whether a seat's program is running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Running.
    Up,
    /// Crashed; restarts at this time, in milliseconds.
    Down(u64),
    /// Never restarts.
    Gone,
}

/// A message sent by a seat.
#[derive(Clone, Debug)]
pub struct Sent {
    /// Its sender.
    pub from: Seat,
    /// Its receivers.
    pub to: To,
    /// Its content.
    pub message: Message,
}

impl Sent {
    /// Whether the seat is one of the receivers.
    pub fn is_for(&self, seat: Seat) -> bool {
        seat != self.from && (self.to == To::All || self.to == To::One(seat))
    }
}

/// One seat's program.
#[derive(Debug)]
pub struct TestSeat<G: Game> {
    /// Its table.
    pub table: Table<G>,
    /// The records of its journal, as bytes.
    pub disk: Vec<Vec<u8>>,
    /// All events of its table, oldest first.
    pub events: Vec<Event<G>>,
    /// Its random source.
    pub rng: ChaCha20Rng,
    /// Whether the program is running.
    pub status: Status,
}

impl<G: Game> TestSeat<G> {
    /// The program's seat.
    pub fn seat(&self) -> Seat {
        self.table.me()
    }

    /// Whether the program is running.
    pub fn is_up(&self) -> bool {
        self.status == Status::Up
    }

    /// [`Table::begin`].
    pub fn begin(&mut self) {
        self.table.begin(&mut self.rng);
    }

    /// [`Table::tick`] with both clocks at this time.
    pub fn tick(&mut self, now: u64) {
        self.tick_at(Now::both(now));
    }

    /// [`Table::tick`].
    pub fn tick_at(&mut self, now: Now) {
        self.table.tick(now, &mut self.rng);
    }

    /// [`Table::act`].
    pub fn act(&mut self, action: G::Action) -> Result<(), ActError> {
        self.table.act(action, &mut self.rng)
    }

    /// [`Table::leave`].
    pub fn leave(&mut self) -> Result<(), ActError> {
        self.table.leave(&mut self.rng)
    }

    /// [`Table::receive`].
    pub fn receive(&mut self, from: Seat, bytes: &[u8]) -> Result<(), ReceiveError> {
        self.table.receive(from, bytes, &mut self.rng)
    }

    /// [`Table::accept`].
    pub fn accept(&mut self, from: Seat, message: Message) -> Result<(), ReceiveError> {
        self.table.accept(from, message, &mut self.rng)
    }

    /// [`Table::read_letter`].
    pub fn read_letter(&mut self, from: Seat, message: Message) -> Result<(), ReceiveError> {
        self.table.read_letter(from, message, &mut self.rng)
    }

    /// The next output. Skips relayed entries of other seats: heads and their answers spread these anyway, and skipping
    /// them saves time.
    pub fn poll(&mut self) -> Option<Output<G>> {
        let next = self.next();
        // Some drivers let a table prepare, others do not: nobody must be able to tell.
        if next.is_none() && self.seat().index() % 2 == 1 {
            self.table.prepare();
        }
        next
    }

    fn next(&mut self) -> Option<Output<G>> {
        std::iter::from_fn(|| self.table.poll()).find(|one| !matches!(one, Output::Pass(..)))
    }

    /// Executes an output: stores a record on the disk or an event in the list, and returns a message.
    pub fn carry_out(&mut self, output: Output<G>) -> Option<Sent> {
        match output {
            Output::Keep(record) => self.disk.push(record.to_bytes().to_vec()),
            Output::Event(event) => self.events.push(event),
            Output::Pass(..) => {}
            Output::Send(to, message) => {
                let from = self.seat();
                return Some(Sent { from, to, message });
            }
        }
        None
    }

    /// Executes all outputs and returns the messages.
    pub fn take_sent(&mut self) -> Vec<Sent> {
        let mut sent = Vec::new();
        while let Some(output) = self.poll() {
            sent.extend(self.carry_out(output));
        }
        sent
    }

    /// Whether a record is on the disk.
    pub fn holds(&self, record: &Record) -> bool {
        let bytes = record.to_bytes();
        // Most queries are about the last records.
        self.disk.iter().rev().any(|held| **held == **bytes)
    }

    /// Stops the program. Returns the outputs lost with it.
    pub fn crash(&mut self, status: Status) -> Vec<Output<G>> {
        self.status = status;
        std::iter::from_fn(|| self.table.poll()).collect()
    }
}

/// All programs of one table.
#[derive(Debug)]
pub struct Room<G: Game> {
    /// The charter, signed by all seats.
    pub charter: SignedCharter,
    /// One program per seat.
    pub places: Vec<TestSeat<G>>,
}

impl<G: Game> Room<G> {
    /// A table before its start, with the keys of [`seats::key`]. `rng` creates each seat's random source.
    pub fn new(charter: SignedCharter, rng: impl Fn(Seat) -> ChaCha20Rng) -> Self {
        let place = |seat| TestSeat {
            table: Table::new(charter.clone(), seat, seats::key(seat)).unwrap(),
            disk: Vec::new(),
            events: Vec::new(),
            rng: rng(seat),
            status: Status::Up,
        };
        let places = charter.charter().seats().iter().map(place).collect();
        Self { charter, places }
    }

    /// All seats.
    pub fn seats(&self) -> impl Iterator<Item = Seat> + use<G> {
        Seat::first(self.places.len())
    }

    /// All tables.
    pub fn tables(&self) -> impl Iterator<Item = &Table<G>> {
        self.places.iter().map(|place| &place.table)
    }

    /// Begins all tables.
    pub fn begin(&mut self) {
        self.places.iter_mut().for_each(TestSeat::begin);
    }

    /// Executes all outputs of the running seats, and returns the messages.
    pub fn take_sent(&mut self) -> Vec<Sent> {
        let running = self.places.iter_mut().filter(|place| place.is_up());
        running.flat_map(TestSeat::take_sent).collect()
    }

    /// Delivers a message to its running receivers.
    ///
    /// # Panics
    /// If a receiver refuses it.
    pub fn deliver(&mut self, sent: &Sent) {
        let running = self.places.iter_mut().filter(|place| place.is_up());
        for place in running.filter(|place| sent.is_for(place.seat())) {
            place.accept(sent.from, sent.message.clone()).unwrap();
        }
    }

    /// Delivers all seats' current messages; answers wait for the next round. False if there were no messages.
    ///
    /// # Panics
    /// If a seat refuses a message.
    pub fn round(&mut self) -> bool {
        let all = self.take_sent();
        all.iter().for_each(|sent| self.deliver(sent));
        !all.is_empty()
    }

    /// Delivers messages until no seat has any more to send.
    ///
    /// # Panics
    /// If a seat refuses a message.
    pub fn exchange(&mut self) {
        while self.round() {}
    }

    /// A seat's table, restored from the first `records` records of its disk.
    pub fn restored(&mut self, seat: Seat, records: usize) -> Result<Table<G>, RestoreError> {
        let TestSeat { disk, rng, .. } = &mut self.places[seat.index()];
        let records = disk[..records].iter().map(|bytes| Record::from_bytes(bytes).unwrap());
        Table::restore(self.charter.clone(), seat, seats::key(seat), records, rng)
    }

    /// Starts a seat's program again that was closed in order. Its table has the charter's timeouts and has not begun.
    ///
    /// # Errors
    /// If the journal does not belong to this table and seat; the program is then unchanged.
    pub fn reopen(&mut self, seat: Seat) -> Result<(), RestoreError> {
        let TestSeat { disk, rng, .. } = &mut self.places[seat.index()];
        let records = disk.iter().map(|bytes| Record::from_bytes(bytes).unwrap());
        let table = Table::reopen(self.charter.clone(), seat, seats::key(seat), records, rng)?;
        let place = &mut self[seat];
        (place.table, place.status) = (table, Status::Up);
        Ok(())
    }

    /// Restarts a seat's program from its disk. Its table has the charter's timeouts and has not begun.
    ///
    /// # Errors
    /// If the journal does not belong to this table and seat; the program is then unchanged.
    pub fn restart(&mut self, seat: Seat) -> Result<(), RestoreError> {
        let table = self.restored(seat, self[seat].disk.len())?;
        let place = &mut self[seat];
        (place.table, place.status) = (table, Status::Up);
        Ok(())
    }
}

impl<G: Game> Index<usize> for Room<G> {
    type Output = TestSeat<G>;

    fn index(&self, index: usize) -> &TestSeat<G> {
        &self.places[index]
    }
}

impl<G: Game> IndexMut<usize> for Room<G> {
    fn index_mut(&mut self, index: usize) -> &mut TestSeat<G> {
        &mut self.places[index]
    }
}

impl<G: Game> Index<Seat> for Room<G> {
    type Output = TestSeat<G>;

    fn index(&self, seat: Seat) -> &TestSeat<G> {
        &self.places[seat.index()]
    }
}

impl<G: Game> IndexMut<Seat> for Room<G> {
    fn index_mut(&mut self, seat: Seat) -> &mut TestSeat<G> {
        &mut self.places[seat.index()]
    }
}
