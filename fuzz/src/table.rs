//! Operation sequences on whole tables: the bytes are read as successive operations on a [`World`]. The first byte
//! selects the game and the number of seats.
//!
//! In [`table`] all seats are honest: none may be blamed, sign twice or fall behind for good. In [`cheat`] seat 0 signs
//! whatever the input says, and nobody else may be blamed for it.

use fairdeal_games::plutonian::Plutonian;
use fairdeal_protocol::game::{Game, RuleSet};
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::log::body::{Answers, Body};
use fairdeal_protocol::log::entry::{Content, Entry, MAX_ENTRY};
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::table::message::MAX_MESSAGE;
use fairdeal_protocol::wire::codec::{decode, encode};
use fairdeal_testkit::drill::{self, Drill};
use fairdeal_testkit::{Letter, entries, seats};

use crate::fixture::{QUICK, rules};
use crate::input::Input;
use crate::world::World;

/// Maximum number of operations in one sequence.
pub const MAX_OPERATIONS: usize = 200;

/// Operation codes, shared by seeds and harness; operands follow each code.
pub mod op {
    /// Message: deliver it.
    pub const DELIVER: u8 = 0;
    /// Deliver the oldest message.
    pub const NEXT: u8 = 1;
    /// Message: deliver it, but keep it in the queue.
    pub const REPEAT: u8 = 2;
    /// Message: lose it.
    pub const DROP: u8 = 3;
    /// Message, position (2), mask: deliver a copy with one byte changed.
    pub const GARBLE: u8 = 4;
    /// From, to, length, bytes: deliver them.
    pub const BYTES: u8 = 5;
    /// Message, from, to: deliver it with another sender and receiver.
    pub const ASTRAY: u8 = 6;
    /// Seat: a second passes.
    pub const TICK: u8 = 7;
    /// Seat, action: act, in turn or out of turn.
    pub const ACT: u8 = 8;
    /// Seat, seat: the first greets the second.
    pub const GREET: u8 = 9;
    /// Seat, outputs: crash after that many outputs.
    pub const CRASH: u8 = 10;
    /// Deliver everything.
    pub const SETTLE: u8 = 11;
    /// Action: deliver everything, then the seat whose turn it is acts.
    pub const PLAY: u8 = 12;
    /// Seat: lose all messages on their way to it.
    pub const CUT: u8 = 13;
    /// A second passes for all.
    pub const TICKS: u8 = 14;
    /// A forgery and its operands: the cheat signs and sends it. At an honest table, one second passes for all.
    pub const FORGE: u8 = 15;
    /// Number of operations.
    pub const COUNT: u8 = 16;
}

/// Codes of the entries that the cheat can forge.
pub mod forged {
    /// Length, bytes of a body.
    pub const BODY: u8 = 0;
    /// Entry, position, mask: the body of a seen entry with one byte changed.
    pub const CHANGED: u8 = 1;
    /// Action: act, in turn or out of turn, without answers.
    pub const ACT: u8 = 2;
    /// Action: interject it.
    pub const INTERJECT: u8 = 3;
    /// Entry: ack it, without answers.
    pub const ACK: u8 = 4;
    /// Entry: yield to it.
    pub const YIELD: u8 = 5;
    /// No operands.
    pub const CONFIRM: u8 = 6;
    /// No operands.
    pub const CLOSE: u8 = 7;
    /// A byte: commit to it.
    pub const COMMIT: u8 = 8;
    /// Entry: copy its body.
    pub const COPY: u8 = 9;
    /// Number of codes.
    pub const COUNT: u8 = 10;
}

/// Takes or copies the queued message that the input selects.
fn letter<G: Game>(world: &mut World<G>, input: &mut Input<'_>, keep: bool) -> Option<Letter> {
    let place = input.place(world.queue.len())?;
    if keep { world.queue.get(place).cloned() } else { world.queue.remove(place) }
}

fn seat<G: Game>(world: &World<G>, input: &mut Input<'_>) -> Seat {
    seats::seat(input.place(world.room.places.len()).unwrap())
}

fn operate<G: Game>(world: &mut World<G>, cheat: Option<Seat>, input: &mut Input<'_>) {
    match input.byte() % op::COUNT {
        op::DELIVER => {
            if let Some(letter) = letter(world, input, false) {
                world.deliver(&letter);
            }
        }
        op::NEXT => {
            if let Some(letter) = world.queue.pop_front() {
                world.deliver(&letter);
            }
        }
        op::REPEAT => {
            if let Some(letter) = letter(world, input, true) {
                world.deliver(&letter);
            }
        }
        op::DROP => {
            letter(world, input, false);
        }
        op::GARBLE => {
            if let Some(mut letter) = letter(world, input, true) {
                let place = input.short() % letter.bytes.len();
                letter.bytes[place] ^= input.byte().max(1);
                world.deliver(&letter);
            }
        }
        op::BYTES => {
            let (from, to) = (seat(world, input), seat(world, input));
            let length = usize::from(input.byte());
            let bytes = input.take(length).to_vec();
            world.deliver(&Letter { from, to, bytes });
        }
        op::ASTRAY => {
            if let Some(mut letter) = letter(world, input, true) {
                (letter.from, letter.to) = (seat(world, input), seat(world, input));
                world.deliver(&letter);
            }
        }
        op::TICK => {
            let seat = seat(world, input);
            world.tick(seat);
        }
        op::ACT => {
            let seat = seat(world, input);
            world.act(seat, usize::from(input.byte()), false);
        }
        op::GREET => {
            let (one, other) = (seat(world, input), seat(world, input));
            world.greet(one, other);
        }
        op::CRASH => {
            let seat = seat(world, input);
            world.light_fuse(seat, input.byte() % 16);
        }
        op::SETTLE => world.settle(),
        op::PLAY => world.play(usize::from(input.byte())),
        op::CUT => {
            let seat = seat(world, input);
            world.queue.retain(|letter| letter.to != seat);
        }
        op::FORGE if cheat.is_some() => forge(world, cheat.unwrap(), input),
        _ => world.room.seats().for_each(|seat| world.tick(seat)),
    }
    world.pump();
}

/// Signs an entry as the cheat, based on one honest seat's state, and sends it to some seats.
fn forge<G: Game>(world: &mut World<G>, cheat: Seat, input: &mut Input<'_>) {
    let at = seat(world, input);
    let to = input.byte();
    let ahead = input.byte();
    let table = &world.room[at].table;
    let replica = table.replica();
    let action = |input: &mut Input<'_>| {
        let legal = table.game().legal(cheat, world.room[cheat].table.known());
        let place = input.place(legal.len())?;
        encode(&legal[place]).try_into().ok()
    };
    let named = |input: &mut Input<'_>| {
        let place = input.place(world.seen.len());
        place.map_or(Hash32::default(), |place| world.seen[place].hash())
    };
    let body = match input.byte() % forged::COUNT {
        forged::BODY => {
            let length = usize::from(input.byte());
            decode(input.take(length), MAX_ENTRY).ok()
        }
        forged::CHANGED => input.place(world.seen.len()).and_then(|place| {
            let mut bytes = encode(world.seen[place].body());
            let place = input.short() % bytes.len();
            bytes[place] ^= input.byte();
            decode(&bytes, MAX_ENTRY).ok()
        }),
        forged::ACT => action(input).map(|action| Body::Act { action, answers: Answers::default() }),
        forged::INTERJECT => action(input).map(|action| Body::Interject { action }),
        forged::ACK => Some(Body::Ack { leader: named(input), answers: Answers::default() }),
        forged::YIELD => Some(Body::Yield { to: named(input) }),
        forged::CONFIRM => Some(Body::Confirm),
        forged::CLOSE => Some(Body::Close),
        forged::COMMIT => {
            let seed = Hash32([input.byte(); 32]);
            Some(Body::Commit { seed, tip: seed })
        }
        _ => input.place(world.seen.len()).map(|place| world.seen[place].body().clone()),
    };
    let Some(body) = body else { return };
    let step = match ahead % 8 {
        1 => replica.step().saturating_add(1),
        2 => replica.step().saturating_sub(1),
        3 => u64::from(ahead),
        4 => u64::MAX,
        _ => replica.step(),
    };
    let content = Content {
        table: replica.table(),
        step,
        seat: cheat,
        parent: replica.parent(),
        digest: replica.digest(),
        release: None,
        body,
    };
    let Ok(entry) = Entry::sign(content, &seats::key(cheat)) else {
        return;
    };
    let bytes = entries::message(&[entry]).to_bytes();
    assert!(bytes.len() <= MAX_MESSAGE);
    for seat in world.room.seats() {
        if to & 1 << seat.number() == 0 {
            world.post(cheat, seat, bytes.clone());
        }
    }
}

fn run<G: Game>(rules: &RuleSet, cheat: Option<Seat>, mut input: Input<'_>) -> bool {
    let mut world: World<G> = World::new(rules, cheat);
    for _ in 0..MAX_OPERATIONS {
        if input.is_empty() {
            break;
        }
        operate(&mut world, cheat, &mut input);
    }
    // Useful means that keys were exchanged and something was at stake, or that a table stopped.
    let stopped = world.room.tables().any(|table| table.stopped().is_some());
    let useful = world.steps.len() > 2 || stopped;
    if cheat.is_none() {
        world.must_come_together();
    }
    useful
}

fn run_any(data: &[u8], cheat: Option<Seat>) -> bool {
    let mut input = Input::new(data);
    match input.byte() % 4 {
        0 => run::<Plutonian>(&rules(QUICK, 2), cheat, input),
        1 => run::<Plutonian>(&rules(QUICK, 3), cheat, input),
        2 => run::<Drill>(&drill::rules(2, 10), cheat, input),
        _ => run::<Drill>(&drill::rules(3, 10), cheat, input),
    }
}

/// Honest seats, a bad network and crashes.
pub fn table(data: &[u8]) -> bool {
    run_any(data, None)
}

/// The same with seat 0 cheating.
pub fn cheat(data: &[u8]) -> bool {
    run_any(data, Seat::new(0))
}
