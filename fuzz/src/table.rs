//! Operation sequences on whole tables: bytes are read as operations on a [`World`], one after the
//! other. The first byte says which game and how many seats.
//!
//! In [`table`] all seats are honest, and none may ever be blamed, sign twice or be left behind. In
//! [`cheat`] seat 0 signs what the input says, and nobody else may be blamed for it.

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

/// The most operations of one sequence.
pub const MAX_OPERATIONS: usize = 200;

/// The numbers of the operations, so that seeds and harness agree. Each is followed by its operands.
pub mod op {
    /// Message: deliver it.
    pub const DELIVER: u8 = 0;
    /// Deliver the oldest message.
    pub const NEXT: u8 = 1;
    /// Message: deliver it and keep it on its way.
    pub const REPEAT: u8 = 2;
    /// Message: lose it.
    pub const DROP: u8 = 3;
    /// Message, place (2), change: deliver a copy with one byte changed.
    pub const GARBLE: u8 = 4;
    /// From, to, length, bytes: deliver them.
    pub const BYTES: u8 = 5;
    /// Message, from, to: deliver it as another seat's or to another seat.
    pub const ASTRAY: u8 = 6;
    /// Seat: a second passes.
    pub const TICK: u8 = 7;
    /// Seat, action: act in turn or out of it.
    pub const ACT: u8 = 8;
    /// Seat, seat: greet.
    pub const GREET: u8 = 9;
    /// Seat, outputs: crash after so many.
    pub const CRASH: u8 = 10;
    /// Deliver everything.
    pub const SETTLE: u8 = 11;
    /// Action: deliver everything, then whoever is asked acts.
    pub const PLAY: u8 = 12;
    /// Seat: everything on its way to it is lost.
    pub const CUT: u8 = 13;
    /// A second passes for all.
    pub const TICKS: u8 = 14;
    /// The action and its details: the cheat signs and sends it; at an honest table, one second passes for all.
    pub const FORGE: u8 = 15;
    /// How many there are.
    pub const COUNT: u8 = 16;
}

/// Messages that the cheat can sign.
pub mod forged {
    /// Length, bytes of a body.
    pub const BODY: u8 = 0;
    /// Entry, place, change: the body of an entry seen, with a byte changed.
    pub const CHANGED: u8 = 1;
    /// Action: act in turn or out of it, with no answers.
    pub const ACT: u8 = 2;
    /// Action: interject it.
    pub const INTERJECT: u8 = 3;
    /// Entry: ack it, with no answers.
    pub const ACK: u8 = 4;
    /// Entry: yield to it.
    pub const YIELD: u8 = 5;
    /// Nothing.
    pub const CONFIRM: u8 = 6;
    /// Nothing.
    pub const CLOSE: u8 = 7;
    /// A byte: commit to it.
    pub const COMMIT: u8 = 8;
    /// Entry: what somebody else said there.
    pub const COPY: u8 = 9;
    /// How many there are.
    pub const COUNT: u8 = 10;
}

/// Takes the message that the input names off its way, or a copy of it.
fn letter<G: Game>(world: &mut World<G>, input: &mut Input<'_>, keep: bool) -> Option<Letter> {
    let place = input.place(world.queue.len())?;
    if keep {
        world.queue.get(place).cloned()
    } else {
        world.queue.remove(place)
    }
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

/// Signs something as the cheat, at the place where one honest seat is, and sends it to some.
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
        forged::ACT => action(input).map(|action| Body::Act {
            action,
            answers: Answers::default(),
        }),
        forged::INTERJECT => action(input).map(|action| Body::Interject { action }),
        forged::ACK => Some(Body::Ack {
            leader: named(input),
            answers: Answers::default(),
        }),
        forged::YIELD => Some(Body::Yield { to: named(input) }),
        forged::CONFIRM => Some(Body::Confirm),
        forged::CLOSE => Some(Body::Close),
        forged::COMMIT => {
            let seed = Hash32([input.byte(); 32]);
            Some(Body::Commit { seed, tip: seed })
        }
        _ => input
            .place(world.seen.len())
            .map(|place| world.seen[place].body().clone()),
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
    // Keys were exchanged, so that something was played for, or somebody was found out.
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

/// The same, and seat 0 cheats.
pub fn cheat(data: &[u8]) -> bool {
    run_any(data, Seat::new(0))
}
