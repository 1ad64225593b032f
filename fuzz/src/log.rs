//! Validly signed entries with arbitrary content: how a replica, an auditor and a returning seat handle them, at every
//! step of real games.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::ops::ControlFlow;
use std::sync::LazyLock;

use fairdeal_games::AnyGame;
use fairdeal_protocol::audit::auditor::{Audit, audit};
use fairdeal_protocol::game::{Game, RuleSet};
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::log::body::Body;
use fairdeal_protocol::log::entry::{Content, Entry, MAX_ENTRY};
use fairdeal_protocol::log::equivocation::Equivocation;
use fairdeal_protocol::log::fork_report::SignedForkReport;
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::table::clocks::Now;
use fairdeal_protocol::table::journal::Record;
use fairdeal_protocol::table::live::{Output, Table};
use fairdeal_protocol::table::message::Message;
use fairdeal_protocol::table::replica::{Proofs, Replica, Verdict};
use fairdeal_protocol::transcript::{End, Transcript};
use fairdeal_protocol::wire::codec::decode;
use fairdeal_testkit::drill::{self, Drill};
use fairdeal_testkit::{entries, seats};

use crate::fixture::{QUICK, TABLE, rng, rules};
use crate::input::Input;
use crate::world::World;

/// Plays a real game without faults; each number chooses an action.
pub fn played<G: Game>(rules: &RuleSet, actions: impl IntoIterator<Item = u8>) -> World<G> {
    let mut world: World<G> = World::new(rules, None);
    for number in actions {
        world.play(usize::from(number));
        world.pump();
        // Every fifth action is followed by an out-of-turn action, if one is legal.
        if number % 5 == 0 {
            let seat = seats::seat(usize::from(number) % world.room.places.len());
            world.act(seat, usize::from(number / 5), false);
            world.pump();
        }
    }
    world.must_come_together();
    world
}

/// Reproducible random choices for a game.
pub fn choices(number: u64, count: usize) -> Vec<u8> {
    use rand_core::Rng as _;
    let mut bytes = vec![0; count];
    rng(4, number).fill_bytes(&mut bytes);
    bytes
}

/// A step of a game, with the entries that completed it.
#[derive(Debug)]
pub(crate) struct Moment<G: Game> {
    /// The state before the step.
    pub(crate) replica: Replica<G>,
    /// One entry per seat.
    pub(crate) entries: BTreeMap<Seat, Entry>,
}

/// Every step of a transcript.
fn moments<G: Game>(transcript: &Transcript) -> Vec<Moment<G>> {
    let mut replica: Replica<G> = Replica::new(transcript.charter().clone()).unwrap();
    let mut moments = Vec::new();
    for step in transcript.entries().chunks(replica.live().len()) {
        let entries: BTreeMap<Seat, Entry> = step
            .iter()
            .map(|signed| entries::verified(transcript.charter(), signed))
            .map(|entry| (entry.seat(), entry))
            .collect();
        moments.push(Moment { replica: replica.clone(), entries: entries.clone() });
        replica.finish(&entries).unwrap();
    }
    moments
}

/// The game whose steps [`body`] uses; it has every kind of step.
pub(crate) static DRILLED: LazyLock<Vec<Moment<Drill>>> = LazyLock::new(|| {
    let world: World<Drill> = played(&drill::rules(3, 14), choices(0, 40));
    let moments = moments(&world.room[0].table.transcript());
    assert!(world.room[0].table.is_finished());
    moments
});

/// Takes bytes as the body of an otherwise valid entry. Input: step (2), seat, the seats whose entries are still
/// missing, body.
///
/// If the entry counts, the step must complete without an internal error.
pub fn body(data: &[u8]) -> bool {
    let mut input = Input::new(data);
    let moment = &DRILLED[input.short() % DRILLED.len()];
    let Moment { replica, entries } = moment;
    let seat = Seat::new(input.place(entries.len()).unwrap()).unwrap();
    let missing = input.byte();
    let Ok(body) = decode::<Body>(input.rest(), MAX_ENTRY) else {
        return false;
    };
    let content = Content {
        table: replica.table(),
        step: replica.step(),
        seat,
        parent: replica.parent(),
        digest: replica.digest(),
        release: None,
        body,
    };
    let Ok(entry) = Entry::sign(content, &seats::key(seat)) else {
        return false;
    };
    let again = entry.signed().verify(replica.signed_charter());
    assert_eq!(again.as_ref(), Ok(&entry));
    let mut held = entries.clone();
    held.retain(|other, _| *other != seat && missing & 1 << other.number() == 0);
    if replica.examine(&entry, &held, Proofs::Verify) == Verdict::Counts {
        // Entries that name the replaced entry no longer count; the rest are examined again.
        held.insert(seat, entry);
        let mut counted = BTreeMap::from([held.remove_entry(&seat).unwrap()]);
        for _ in 0..held.len() {
            for (other, entry) in &held {
                let verdict = replica.examine(entry, &counted, Proofs::Verify);
                if verdict == Verdict::Counts {
                    counted.insert(*other, entry.clone());
                }
            }
        }
        if counted.len() == replica.live().len() {
            let mut next = replica.clone();
            next.finish(&counted).unwrap();
            let _ = next.kind();
        }
    }
    true
}

/// The transcript of a finished game without sealed cards.
pub static FINISHED: LazyLock<Transcript> = LazyLock::new(|| {
    let votes = rules(QUICK, 3);
    let mut world: World<AnyGame> = played(&votes, choices(1, 12));
    end_by_vote(&mut world);
    world.room[0].table.transcript()
});

/// Lets all seats vote to end the game, so that a short game finishes.
pub fn end_by_vote(world: &mut World<AnyGame>) {
    for _ in 0..200 {
        if world.room.tables().all(Table::is_finished) {
            return;
        }
        for seat in world.room.seats() {
            let game = world.room[seat].table.game();
            let legal = game.legal(seat, world.room[seat].table.known());
            let vote = legal.iter().position(|action| game.out_of_turn(action));
            if let Some(vote) = vote {
                world.act(seat, vote, false);
                world.pump();
            }
        }
        world.play(0);
        world.pump();
        world.settle();
    }
    panic!("no vote ends the game");
}

/// One dishonest seat rewrites its entries of a finished game, truncates the log or adds evidence. Input: seat, end,
/// then edits: entry (2), length (2), body; an edit of another seat's entry drops that entry.
///
/// The auditor may blame nobody else, and may accept only the game as it was played.
pub fn forgery(data: &[u8]) -> bool {
    let mut input = Input::new(data);
    let real = &*FINISHED;
    let charter = real.charter();
    let cheat = Seat::new(input.place(charter.signatures().len()).unwrap()).unwrap();
    let end = match input.byte() % 4 {
        0 => End::Unfinished,
        1 => End::Stopped,
        _ => End::Finished,
    };
    let mut log = real.entries().to_vec();
    let mut evidence = None;
    let mut lost = Vec::new();
    let mut decoded = false;
    for _ in 0..8 {
        if input.is_empty() {
            break;
        }
        let place = input.short() % log.len();
        let length = input.short();
        let old = entries::verified(charter, &log[place]);
        if old.seat() != cheat {
            lost.push(place);
            continue;
        }
        let Ok(body) = decode::<Body>(input.take(length), MAX_ENTRY) else {
            continue;
        };
        decoded = true;
        let content = Content { body, ..old.content().clone() };
        if let Ok(entry) = Entry::sign(content, &seats::key(cheat)) {
            evidence = Equivocation::of(&old, &entry).or(evidence);
            log[place] = entry.signed().clone();
        }
    }
    lost.sort_unstable();
    lost.dedup();
    for place in lost.iter().rev() {
        log.remove(*place);
    }
    let same = log == real.entries() && end == End::Finished;
    for evidence in [None, evidence] {
        let end = (end, real.log_hash(), evidence.clone());
        let (removals, faults) = (real.removals(), real.faults());
        let trailer = (end, removals, faults, real.halted(), real.claims());
        let bytes = entries::file(real, &log, trailer);
        let forged = Transcript::from_bytes(&bytes).unwrap();
        assert!(forged.to_bytes().unwrap() == bytes);
        let report = audit::<AnyGame>(&forged);
        let in_order = Audit::<AnyGame>::in_order(forged).unwrap();
        let Ok(in_order) = in_order.run(&mut |_| ControlFlow::<Infallible>::Continue(()));
        assert!(report == in_order, "{:?}, in order {:?}", report.finding, in_order.finding);
        let guilty = report.finding.as_ref().and_then(|finding| finding.seat());
        assert!(guilty.is_none() || guilty == Some(cheat), "{:?}", report.finding);
        assert_eq!(report.is_fair(), same && evidence.is_none(), "{:?}", report.finding);
    }
    decoded
}

/// A seat's journal from an interrupted game.
pub static JOURNAL: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let world: World<AnyGame> = played(&rules(QUICK, 3), choices(2, 6));
    world.room[1].disk.clone()
});

/// Tags of the pieces that [`restore`] builds a journal from.
pub mod piece {
    /// Length (2), bytes of a record.
    pub const BYTES: u8 = 0;
    /// Count: that many next records of a real journal.
    pub const REAL: u8 = 1;
    /// Skips the next record of a real journal.
    pub const SKIP: u8 = 2;
    /// Position (2), mask: the next record of a real journal with one byte changed.
    pub const CHANGED: u8 = 3;
    /// Number of tags.
    pub const COUNT: u8 = 4;
}

/// Restores a journal of real and arbitrary pieces. The result is a table or an error; a restored table signs nothing
/// before the other seats have sent their state.
pub fn restore(data: &[u8]) -> bool {
    let mut input = Input::new(data);
    let mut real = JOURNAL.iter();
    let mut records = Vec::new();
    while !input.is_empty() && records.len() < 512 {
        match input.byte() % piece::COUNT {
            piece::BYTES => {
                let length = input.short();
                records.extend(Record::from_bytes(input.take(length)));
            }
            piece::REAL => {
                let count = usize::from(input.byte());
                records.extend(real.by_ref().take(count).map(|bytes| Record::from_bytes(bytes).unwrap()));
            }
            piece::SKIP => {
                real.next();
            }
            _ => {
                if let Some(mut bytes) = real.next().cloned() {
                    let place = input.short() % bytes.len();
                    bytes[place] ^= input.byte();
                    records.extend(Record::from_bytes(&bytes));
                }
            }
        }
    }
    let me = Seat::new(1).unwrap();
    let known: Vec<Hash32> = records
        .iter()
        .filter_map(|record| match record {
            Record::Entry(signed) => Some(signed.hash()),
            _ => None,
        })
        .collect();
    let fork_reports: Vec<SignedForkReport> = records
        .iter()
        .filter_map(|record| match record {
            Record::ForkReport(signed) => Some(signed.clone()),
            _ => None,
        })
        .collect();
    let mut rng = rng(5, 0);
    let (charter, key) = (TABLE.clone(), seats::key(me));
    let Ok(mut table) = Table::<AnyGame>::restore(charter, me, key, records, &mut rng) else {
        return false;
    };
    table.begin(&mut rng);
    table.tick(Now::default(), &mut rng);
    while let Some(output) = table.poll() {
        match output {
            Output::Send(_, Message::Entries(entries)) => {
                assert!(entries.iter().all(|signed| known.contains(&signed.hash())));
            }
            Output::Send(_, Message::ForkReports(said)) => {
                assert!(said.iter().all(|signed| fork_reports.contains(signed)));
            }
            _ => {}
        }
    }
    true
}
