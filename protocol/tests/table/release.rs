//! A round of votes whose one missing word does not come is given up by all others, or by none.

use fairdeal_protocol::log::ballot::{Ballot, SignedBallot};
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::live::{Output, PATIENCE, Stop};
use fairdeal_protocol::wire::message::{Head, Message};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;

use super::drill::{Drill, rules};
use super::sim::{Faults, Sim, charter};

const LATE: usize = 2;
const SILENT: usize = 3;

fn seat(index: usize) -> Seat {
    Seat::new(index).unwrap()
}

/// Four seats at their first step. What a seat sends goes where a test takes it.
struct Scene {
    sim: Sim<Drill>,
    commits: Vec<Message>,
    rng: ChaCha20Rng,
    now: u64,
}

impl Scene {
    /// Seats 0 and 1 have waited for the late one, and signed that it is out, each in the sight of the other.
    fn new() -> Self {
        let mut scene = Self {
            sim: Sim::new(&rules(4, 16), 1, Faults::default()),
            commits: Vec::new(),
            rng: ChaCha20Rng::from_seed([3; 32]),
            now: 0,
        };
        for index in 0..4 {
            scene.sim.tables[index].begin(&mut scene.rng);
            let entries = scene.sent(index).into_iter();
            let mut entries = entries.filter(|message| matches!(message, Message::Entries(_)));
            scene.commits.push(entries.next().unwrap());
        }
        for (to, from) in [(0, 1), (0, SILENT), (1, 0), (1, SILENT)] {
            scene.bring(to, scene.commits[from].clone(), from);
        }
        scene.tick(0, &[0, 1]);
        scene.tick(PATIENCE + 1000, &[0, 1]);
        scene
    }

    /// What a seat has sent since it was last asked.
    fn sent(&mut self, index: usize) -> Vec<Message> {
        let table = &mut self.sim.tables[index];
        std::iter::from_fn(|| table.poll())
            .filter_map(|output| match output {
                Output::Send(_, message) => Some(message),
                _ => None,
            })
            .collect()
    }

    fn bring(&mut self, to: usize, message: Message, from: usize) {
        let table = &mut self.sim.tables[to];
        table.accept(seat(from), message, &mut self.rng).unwrap();
    }

    /// Lets time pass, and these seats hear each other's ballots.
    fn tick(&mut self, wait: u64, awake: &[usize]) {
        self.now += wait;
        for index in awake {
            self.sim.tables[*index].tick(self.now, &mut self.rng);
        }
        for from in awake {
            for message in self.sent(*from) {
                if let Message::Ballots(_) = message {
                    for to in awake.iter().filter(|to| *to != from) {
                        self.bring(*to, message.clone(), *from);
                    }
                }
            }
        }
    }

    /// The late seat's entry comes to both.
    fn late_entry(&mut self) {
        for to in [0, 1] {
            self.bring(to, self.commits[LATE].clone(), LATE);
            assert_eq!(self.step(to), 0, "it counts too early");
        }
    }

    fn step(&self, index: usize) -> u64 {
        self.sim.tables[index].progress().step
    }

    /// Whether the late seat is in the game, as that seat sees it.
    fn has_late(&self, index: usize) -> bool {
        self.sim.tables[index].replica().live().contains(seat(LATE))
    }

    /// The silent seat's ballot in the round: that the late one is out.
    fn missing_word(&self) -> SignedBallot {
        let (charter, keys) = charter(&rules(4, 16));
        let ballot = Ballot {
            table: charter.table(),
            step: 0,
            round: 1,
            seat: seat(SILENT),
            base: SeatSet::EMPTY,
            release: None,
            target: Some(seat(LATE)),
        };
        SignedBallot::sign(ballot, &keys[SILENT])
    }
}

fn ballots(signed: SignedBallot) -> Message {
    Message::Ballots(vec![signed].try_into().unwrap())
}

#[test]
fn a_round_is_given_up_without_the_word_that_does_not_come() {
    let mut scene = Scene::new();
    scene.late_entry();
    scene.tick(PATIENCE / 4, &[0, 1]);
    assert_eq!(scene.step(0), 0, "the silent one still has time");
    for _ in 0..3 {
        scene.tick(PATIENCE, &[0, 1]);
    }
    assert_eq!((scene.step(0), scene.step(1)), (1, 1));
    // Its word comes too late for all.
    let word = ballots(scene.missing_word());
    scene.bring(0, word.clone(), SILENT);
    scene.bring(1, word, SILENT);
    for index in [0, 1] {
        assert!(scene.sim.tables[index].stopped().is_none());
        assert!(scene.has_late(index));
    }
}

#[test]
fn who_has_given_up_a_round_does_not_act_on_it_alone() {
    let mut scene = Scene::new();
    scene.late_entry();
    // Seat 0 signs, and nobody hears it.
    scene.now += 3 * PATIENCE;
    let now = scene.now;
    scene.sim.tables[0].tick(now, &mut scene.rng);
    let word = scene.sent(0).into_iter().find_map(|message| match message {
        Message::Ballots(signed) => signed
            .iter()
            .find(|signed| signed.ballot().release.is_some())
            .cloned(),
        _ => None,
    });
    let word = word.expect("it gives the round up");
    assert_eq!(word.ballot().target, None);
    scene.bring(0, ballots(scene.missing_word()), SILENT);
    assert!(scene.has_late(0));
    // Seat 1 has the missing word before it is asked: it acts, and says so.
    scene.bring(1, ballots(scene.missing_word()), SILENT);
    assert!(!scene.has_late(1));
    scene.bring(1, ballots(word), 0);
    scene.tick(1000, &[0, 1]);
    scene.tick(1000, &[0, 1]);
    assert!(!scene.has_late(0));
}

#[test]
fn whom_the_others_have_gone_on_without_learns_it() {
    let mut scene = Scene::new();
    // The silent seat has voted too, and holds both others' ballots: for it the late one is out.
    for from in [0, 1] {
        scene.bring(SILENT, scene.commits[from].clone(), from);
    }
    let tell = |scene: &mut Scene| {
        for from in [0, 1] {
            scene.now += 1000;
            let now = scene.now;
            scene.sim.tables[from].tick(now, &mut scene.rng);
            for message in scene.sent(from) {
                if let Message::Ballots(_) = message {
                    scene.bring(SILENT, message, from);
                }
            }
        }
    };
    scene.sim.tables[SILENT].tick(0, &mut scene.rng);
    scene.sim.tables[SILENT].tick(PATIENCE + 1000, &mut scene.rng);
    tell(&mut scene);
    assert!(!scene.has_late(SILENT));
    scene.late_entry();
    for _ in 0..3 {
        scene.tick(PATIENCE, &[0, 1]);
    }
    assert_eq!(scene.step(0), 1);
    let head = Message::Head(Head::default());
    scene.bring(0, head, SILENT);
    for message in scene.sent(0) {
        if let Message::Ballots(_) = message {
            scene.bring(SILENT, message, 0);
        }
    }
    assert_eq!(scene.sim.tables[SILENT].stopped(), Some(&Stop::VotedOut(0)));
}
