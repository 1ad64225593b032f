//! A round of votes whose one missing word does not come is given up by all others, or by none.

use fairdeal_protocol::log::ballot::{Ballot, Release, SignedBallot};
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

/// Seats at their first step. What a seat sends goes where a test takes it.
struct Scene {
    sim: Sim<Drill>,
    commits: Vec<Message>,
    rng: ChaCha20Rng,
    now: u64,
}

impl Scene {
    /// Nobody has heard of anybody.
    fn before(seats: u8) -> Self {
        let mut scene = Self {
            sim: Sim::new(&rules(seats, 16), 1, Faults::default()),
            commits: Vec::new(),
            rng: ChaCha20Rng::from_seed([3; 32]),
            now: 0,
        };
        for index in 0..usize::from(seats) {
            scene.sim.tables[index].begin(&mut scene.rng);
            let entries = scene.sent(index).into_iter();
            let mut entries = entries.filter(|message| matches!(message, Message::Entries(_)));
            scene.commits.push(entries.next().unwrap());
        }
        scene
    }

    /// Seats 0 and 1 of four have waited for the late one, and signed that it is out, each in the sight of the other.
    fn new() -> Self {
        let mut scene = Self::before(4);
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

    /// Seat 0 gives the round up, and nobody hears it.
    fn given_up(&mut self) -> SignedBallot {
        self.now += 3 * PATIENCE;
        self.sim.tables[0].tick(self.now, &mut self.rng);
        let word = release_in(self.sent(0)).expect("it gives the round up");
        assert_eq!(word.ballot().target, None);
        word
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

/// Brings it to a table of so many that a seat stands in further rounds: the silent one is voted on there, and was
/// counted before.
fn stands_later(scene: &mut Scene, seats: u8, by: usize, to: &[usize]) {
    let (charter, keys) = charter(&rules(seats, 16));
    for round in 2..5 {
        let ballot = Ballot {
            table: charter.table(),
            step: 0,
            round,
            seat: seat(by),
            base: SeatSet::EMPTY,
            release: None,
            target: None,
        };
        for index in to {
            let word = ballots(SignedBallot::sign(ballot, &keys[by]));
            scene.bring(*index, word, by);
        }
    }
}

/// The first word on giving a round up among these messages.
fn release_in(messages: Vec<Message>) -> Option<SignedBallot> {
    messages.into_iter().find_map(|message| match message {
        Message::Ballots(signed) => signed
            .iter()
            .find(|signed| signed.ballot().release.is_some())
            .cloned(),
        _ => None,
    })
}

/// The same word of another seat, at a table of so many.
fn said_by(seats: u8, by: usize, word: &SignedBallot) -> SignedBallot {
    let (_, keys) = charter(&rules(seats, 16));
    let ballot = Ballot {
        seat: seat(by),
        ..*word.ballot()
    };
    SignedBallot::sign(ballot, &keys[by])
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
    stands_later(&mut scene, 4, LATE, &[0, 1]);
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
    let word = scene.given_up();
    scene.bring(0, ballots(scene.missing_word()), SILENT);
    assert!(scene.has_late(0));
    // Seat 1 has the missing word before it is asked: it acts, and says so.
    scene.bring(1, ballots(scene.missing_word()), SILENT);
    assert!(!scene.has_late(1));
    scene.bring(1, ballots(word), 0);
    // Seat 0 says nothing of having acted: that would be a proof against it.
    let acted = |signed: &SignedBallot| {
        let ballot = signed.ballot();
        ballot.seat == seat(0) && ballot.release.is_some_and(Release::is_acted)
    };
    for (from, to) in [(0, 1), (1, 0), (0, 1)] {
        scene.now += 1000;
        let now = scene.now;
        scene.sim.tables[from].tick(now, &mut scene.rng);
        for message in scene.sent(from) {
            let says = matches!(&message, Message::Ballots(signed) if signed.iter().any(acted));
            assert!(!says);
            scene.bring(to, message, from);
        }
    }
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
    stands_later(&mut scene, 4, LATE, &[0, 1]);
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

/// The entry of a seat that is out stands in no step, although it came before the last ballot.
#[test]
fn a_late_entry_of_a_seat_that_is_out_does_not_count() {
    let mut scene = Scene::new();
    scene.bring(0, scene.commits[LATE].clone(), LATE);
    for index in [0, 1] {
        let word = ballots(scene.missing_word());
        scene.bring(index, word, SILENT);
        assert!(!scene.has_late(index));
        assert_eq!(scene.step(index), 1);
    }
    let [one, other] = [0, 1].map(|index| scene.sim.tables[index].log_hash());
    assert_eq!(one, other, "only one of them holds the entry");
}

/// Who is voted on has no say in whether the round is given up, while two voters can.
#[test]
fn a_round_is_given_up_by_its_voters() {
    let mut scene = Scene::new();
    scene.late_entry();
    let word = scene.given_up();
    scene.bring(0, ballots(said_by(4, LATE, &word)), LATE);
    stands_later(&mut scene, 4, LATE, &[0]);
    assert_eq!(scene.step(0), 0, "by the late one itself");
    scene.bring(0, ballots(said_by(4, 1, &word)), 1);
    stands_later(&mut scene, 4, LATE, &[0]);
    assert_eq!(scene.step(0), 1);
}

/// At a table of three the one voter that is left needs the word of the late seat.
#[test]
fn one_of_three_does_not_give_up_a_round_alone() {
    let (silent, late) = (1, 2);
    let mut scene = Scene::before(3);
    scene.bring(0, scene.commits[silent].clone(), silent);
    scene.tick(0, &[0]);
    scene.tick(PATIENCE + 1000, &[0]);
    scene.bring(0, scene.commits[late].clone(), late);
    assert_eq!(scene.step(0), 0, "it counts too early");
    let word = scene.given_up();
    stands_later(&mut scene, 3, late, &[0]);
    assert_eq!(scene.step(0), 0, "on its own word");
    scene.bring(0, ballots(said_by(3, late, &word)), late);
    assert_eq!(scene.step(0), 1);
}

/// A seat believes that it is out when two of the others have signed that they have acted on it: one alone can
/// still be left behind by those who give the round up.
#[test]
fn who_is_voted_out_believes_two_and_not_one() {
    let (charter, keys) = charter(&rules(4, 16));
    let mut sim: Sim<Drill> = Sim::new(&rules(4, 16), 1, Faults::default());
    let mut rng = ChaCha20Rng::from_seed([3; 32]);
    let table = &mut sim.tables[0];
    table.begin(&mut rng);
    let mut say = |by: usize, acted: bool| {
        let target = seat(0);
        let release = Release {
            target,
            without: target,
        };
        let ballot = Ballot {
            table: charter.table(),
            step: 0,
            round: 1,
            seat: seat(by),
            base: SeatSet::EMPTY,
            release: acted.then_some(release),
            target: Some(target),
        };
        let word = ballots(SignedBallot::sign(ballot, &keys[by]));
        table.accept(seat(by), word, &mut rng).unwrap();
        table.stopped().cloned()
    };
    for by in 1..4 {
        assert_eq!(say(by, false), None, "all have voted, none has acted");
    }
    assert_eq!(say(1, true), None, "one has acted");
    assert_eq!(say(2, true), Some(Stop::VotedOut(0)));
}
