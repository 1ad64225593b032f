//! A few seats at their first step, between which a test carries every message itself.

use fairdeal_protocol::log::ballot::{Ballot, Release, SignedBallot};
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::live::{Event, Output, Stop, Table, To};
use fairdeal_protocol::wire::message::Message;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;

use super::drill::{Drill, rules};
use super::sim::{Faults, Sim, charter};

pub(super) const PATIENCE: u64 = 10_000;

pub(super) fn seat(index: usize) -> Seat {
    Seat::new(index).unwrap()
}

/// Seats at their first step; a test carries every message. One seat, the cheat, has no table that is listened to:
/// the test signs for it.
pub(super) struct Scene {
    pub(super) seats: u8,
    pub(super) tables: Vec<Table<Drill>>,
    pub(super) commits: Vec<Message>,
    pub(super) rng: ChaCha20Rng,
    pub(super) now: u64,
    /// Messages on their way.
    pub(super) way: Vec<(usize, usize, Message)>,
    pub(super) blamed: Vec<Seat>,
    /// The last round in which each seat has voted.
    pub(super) voted: Vec<u16>,
}

impl Scene {
    pub(super) fn new(seats: u8) -> Self {
        let sim: Sim<Drill> = Sim::new(&rules(seats, 16), 1, Faults::default());
        let mut scene = Self {
            seats,
            tables: sim.tables,
            commits: Vec::new(),
            rng: ChaCha20Rng::from_seed([3; 32]),
            now: 0,
            way: Vec::new(),
            blamed: Vec::new(),
            voted: vec![0; usize::from(seats)],
        };
        for index in 0..usize::from(seats) {
            scene.tables[index].set_patience(PATIENCE);
            scene.tables[index].begin(&mut scene.rng);
            scene.gather(index);
            let commit = scene.way.iter().find(|(from, _, message)| {
                *from == index && matches!(message, Message::Entries(_))
            });
            let commit = commit.unwrap().2.clone();
            scene.commits.push(commit);
        }
        scene.way.clear();
        scene
    }

    /// Puts what a seat sends on its way.
    pub(super) fn gather(&mut self, index: usize) {
        while let Some(output) = self.tables[index].poll() {
            match output {
                Output::Send(to, message) => {
                    if let Message::Ballots(signed) = &message {
                        let own = signed.iter().map(SignedBallot::ballot);
                        let own = own.filter(|b| b.seat == seat(index) && b.release.is_none());
                        let last = own.map(|ballot| ballot.round).max().unwrap_or(0);
                        self.voted[index] = self.voted[index].max(last);
                    }
                    for other in (0..usize::from(self.seats)).filter(|other| *other != index) {
                        if to == To::All || to == To::One(seat(other)) {
                            self.way.push((index, other, message.clone()));
                        }
                    }
                }
                Output::Event(Event::Fault(fault, _)) => self.blamed.push(fault.seat),
                _ => {}
            }
        }
    }

    /// A message comes to a seat, whoever brings it.
    pub(super) fn bring(&mut self, to: usize, message: Message) {
        let from = (to + 1) % usize::from(self.seats);
        let _ = self.tables[to].accept(seat(from), message, &mut self.rng);
        self.gather(to);
    }

    /// Carries what is on its way and passes, and what follows; the rest is lost, or waits if `keep`.
    pub(super) fn carry(
        &mut self,
        honest: &[usize],
        keep: bool,
        pass: &dyn Fn(usize, usize, &Message) -> bool,
    ) {
        let mut kept = Vec::new();
        while !self.way.is_empty() {
            for (from, to, message) in std::mem::take(&mut self.way) {
                if !honest.contains(&to) {
                    continue;
                }
                if pass(from, to, &message) {
                    let _ = self.tables[to].accept(seat(from), message, &mut self.rng);
                    self.gather(to);
                } else if keep {
                    kept.push((from, to, message));
                }
            }
        }
        self.way = kept;
    }

    pub(super) fn tick(&mut self, index: usize) {
        let now = self.now;
        self.tables[index].tick(now, &mut self.rng);
        self.gather(index);
    }

    /// A seat waits for as long as the patience lasts, and opens the first round of votes if anybody is missing.
    pub(super) fn wait(&mut self, index: usize) {
        self.tick(index);
        self.now = PATIENCE + 1000;
        self.tick(index);
    }

    /// A good network between honest seats for that long.
    pub(super) fn rest(&mut self, honest: &[usize], millis: u64) {
        let end = self.now + millis;
        while self.now < end {
            self.now += 1000;
            for index in honest {
                self.tick(*index);
            }
            self.carry(honest, false, &|_, _, _| true);
        }
    }

    pub(super) fn word(
        &self,
        by: usize,
        round: u16,
        release: Option<(usize, usize)>,
        target: Option<usize>,
    ) -> SignedBallot {
        let (charter, keys) = charter(&rules(self.seats, 16));
        let ballot = Ballot {
            table: charter.table(),
            step: 0,
            round,
            seat: seat(by),
            base: SeatSet::EMPTY,
            release: release.map(|(target, without)| Release {
                target: seat(target),
                without: seat(without),
            }),
            target: target.map(seat),
        };
        SignedBallot::sign(ballot, &keys[by])
    }

    pub(super) fn stopped(&self, index: usize) -> Option<&Stop> {
        self.tables[index].stopped()
    }

    pub(super) fn step(&self, index: usize) -> u64 {
        self.tables[index].replica().step()
    }

    pub(super) fn has(&self, index: usize, other: usize) -> bool {
        self.tables[index].replica().live().contains(seat(other))
    }
}

pub(super) fn ballots(signed: &[SignedBallot]) -> Message {
    Message::Ballots(signed.to_vec().try_into().unwrap())
}

pub(super) fn is_ballots(message: &Message) -> bool {
    matches!(message, Message::Ballots(_))
}
