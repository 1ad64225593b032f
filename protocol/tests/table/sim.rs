//! Simulated tables: seeded players act at random, over a bad network in virtual time, until all have come to an end.
//!
//! A [`Plan`] says how the game goes. Seats that crash lose everything that is not on their disks, and every message
//! of every seat passes the [`Honesty`] check before a cheat changes it.

use fairdeal_protocol::audit::auditor::{Finding, Reason, audit};
use fairdeal_protocol::charter::SignedCharter;
use fairdeal_protocol::game::{Game as _, RuleSet, uniform};
use fairdeal_protocol::log::entry::Entry;
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::clocks::Limits;
use fairdeal_protocol::table::fault::{Fault, FaultKind};
use fairdeal_protocol::table::live::{Event, Table};
use fairdeal_protocol::table::message::Message;
use fairdeal_protocol::transcript::Transcript;
use fairdeal_testkit::drill::Drill;
use fairdeal_testkit::{
    Cut, Honesty, Letter, Network, Room, Sent, Status, Weather, entries, happens, seats, stream,
};
use rand_chacha::ChaCha20Rng;
use rand_core::Rng as _;

/// The seed of a test that needs no particular one.
pub(crate) const ANY_SEED: u64 = 1;
/// Time enough for every game here, in milliseconds.
pub(crate) const LONG: u64 = 4_000_000;

/// A filter of messages: it gets sender, receiver and message, and returns what is sent instead.
type Tamper<'a> = dyn FnMut(Seat, Seat, Message) -> Option<Message> + 'a;

/// The course of a game. By default everybody plays on a good network.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    /// The absence timeout, in milliseconds [default: two minutes].
    pub(crate) absence: Option<u64>,
    /// A seat with another absence timeout.
    pub(crate) own_absence: Option<(Seat, u64)>,
    pub(crate) weather: Weather,
    pub(crate) cuts: Vec<Cut>,
    /// When each seat ticks first; then it does every second.
    pub(crate) first_ticks: Vec<u64>,
    /// How many of a thousand outputs of a seat are its last before it crashes.
    pub(crate) crashes: u32,
    /// A seat that is gone for good at an output with that number, counted over all seats.
    pub(crate) doomed: Option<(Seat, u64)>,
    /// A seat that cheats: the others propose its removal when they can, and the run does not wait for it.
    pub(crate) cheat: Option<Seat>,
    /// How many of ten thousand looks at the table make a player leave.
    pub(crate) leaves: u32,
    /// Whether all others think for as long as somebody is leaving.
    pub(crate) thoughtful: bool,
    /// A player that thinks once, at its first turn: for how long, in milliseconds.
    pub(crate) thinker: Option<(Seat, u64)>,
    /// Whether players also act out of turn.
    pub(crate) interjects: bool,
}

impl Plan {
    /// Absent seats are removed soon.
    pub(crate) fn impatient() -> Self {
        Self {
            absence: Some(10_000),
            ..Self::default()
        }
    }

    /// Players also act out of turn.
    pub(crate) fn interjecting() -> Self {
        Self {
            interjects: true,
            ..Self::default()
        }
    }

    /// That seat cheats.
    pub(crate) fn cheating(cheat: Seat) -> Self {
        Self {
            cheat: Some(cheat),
            ..Self::default()
        }
    }
}

/// A network that loses, repeats and delays so many of a thousand messages.
pub(crate) fn bad_weather(lost: u32, repeated: u32, delayed: u32) -> Weather {
    Weather {
        lost,
        repeated,
        delayed,
        late: 2_980,
        latency: None,
    }
}

/// A network on which every message takes that many milliseconds.
pub(crate) fn slow_weather(latency: u64) -> Weather {
    let latency = Some(latency);
    Weather {
        latency,
        ..Weather::default()
    }
}

/// A charter for those rules.
pub(crate) fn charter(rules: &RuleSet) -> SignedCharter {
    seats::charter(rules, seats::LOBBY)
}

/// A table of players, and the network between them.
pub(crate) struct Sim {
    pub(crate) room: Room<Drill>,
    pub(crate) network: Network,
    pub(crate) crashes: u64,
    /// The seats that [`Self::run_losing`] has lost.
    pub(crate) silent: SeatSet,
    plan: Plan,
    honesty: Honesty,
    /// Draws crashes.
    dice: ChaCha20Rng,
    now: u64,
    ticks: Vec<u64>,
    outputs: u64,
    leavers: SeatSet,
    thinks_until: Option<u64>,
}

impl Sim {
    pub(crate) fn new(rules: &RuleSet, seed: u64, plan: Plan) -> Self {
        Self::at(charter(rules), seed, plan)
    }

    /// A table with that charter.
    pub(crate) fn at(charter: SignedCharter, seed: u64, plan: Plan) -> Self {
        let room = Room::new(charter, |seat| stream(seed, 1 + u64::from(seat.number())));
        let parties = room.charter.charter().parties();
        let mut network = Network::new(stream(seed, 0), parties, plan.weather);
        network.cuts.clone_from(&plan.cuts);
        let mut ticks = plan.first_ticks.clone();
        ticks.resize(room.places.len(), 1_000);
        Self {
            honesty: Honesty::new(room.charter.clone()),
            dice: stream(seed, 100),
            room,
            network,
            crashes: 0,
            silent: SeatSet::EMPTY,
            plan,
            now: 0,
            ticks,
            outputs: 0,
            leavers: SeatSet::EMPTY,
            thinks_until: None,
        }
    }

    /// The first fault that a seat has found.
    pub(crate) fn fault(&self, seat: usize) -> Option<&Fault> {
        let mut events = self.room[seat].events.iter();
        events.find_map(|event| match event {
            Event::Fault(fault, _) => Some(fault),
            _ => None,
        })
    }

    /// Runs until every table has ended or stopped, or virtual time is up.
    pub(crate) fn run(&mut self, until: u64) {
        self.run_with(until, |_, _, message| Some(message));
    }

    /// The same with a cheat.
    pub(crate) fn run_with(
        &mut self,
        until: u64,
        mut tamper: impl FnMut(Seat, Seat, Message) -> Option<Message>,
    ) {
        for seat in self.room.seats() {
            self.begin(seat);
        }
        while self.now < until {
            self.restart();
            for seat in self.room.seats() {
                self.flush(seat, &mut tamper);
            }
            if self.is_over() {
                return;
            }
            self.advance();
            self.act();
        }
    }

    /// The same with a cheat that changes entries: `change` gets the sender and the receiver of each.
    pub(crate) fn run_rewriting(
        &mut self,
        until: u64,
        mut change: impl FnMut(Seat, Seat, Entry) -> Option<Entry>,
    ) {
        let charter = self.room.charter.clone();
        self.run_with(until, |from, to, message| {
            let change = |entry| change(from, to, entry);
            Some(entries::rewrite(&charter, message, change))
        });
    }

    /// The same, but seats fall silent for good as soon as an entry of a seat goes out at which `goes` names them.
    pub(crate) fn run_losing(&mut self, until: u64, mut goes: impl FnMut(&Entry) -> SeatSet) {
        let charter = self.room.charter.clone();
        let mut silent = self.silent;
        self.run_with(until, |from, _, message| {
            for entry in entries::carried(&charter, &message) {
                if entry.seat() == from && !silent.contains(from) {
                    silent.extend(goes(&entry).iter());
                }
            }
            (!silent.contains(from)).then_some(message)
        });
        self.silent = silent;
    }

    /// A seat's program begins, with the shortest turn time that a table can have.
    fn begin(&mut self, seat: Seat) {
        let own = self.plan.own_absence.filter(|(of, _)| *of == seat);
        let own = own.map(|(_, absence)| absence);
        let place = &mut self.room[seat];
        place.table.set_limits(Limits {
            absence: own.or(self.plan.absence).unwrap_or(120_000),
            turn_time: Some(30_000),
        });
        place.begin();
    }

    /// Restarts the seats whose time has come.
    fn restart(&mut self) {
        for seat in self.room.seats() {
            if matches!(self.room[seat].status, Status::Down(until) if until <= self.now) {
                self.room.restart(seat).unwrap();
                self.begin(seat);
            }
        }
    }

    /// Carries out what a seat's table asks for, until it is quiet or crashes.
    fn flush(&mut self, from: Seat, tamper: &mut Tamper<'_>) {
        while self.room[from].is_up()
            && let Some(output) = self.room[from].poll()
        {
            self.outputs += 1;
            let doomed = |(seat, at)| seat == from && self.outputs >= at;
            if self.plan.doomed.is_some_and(doomed) {
                self.room[from].crash(Status::Gone);
            } else if happens(&mut self.dice, self.plan.crashes) {
                self.crashes += 1;
                let rest = u64::from(uniform(&mut self.dice, 5_000));
                self.room[from].crash(Status::Down(self.now + rest));
            } else if let Some(sent) = self.room[from].carry_out(output) {
                self.honesty.check(&self.room[from], &sent.message);
                self.post(&sent, tamper);
            }
        }
    }

    fn post(&mut self, sent: &Sent, tamper: &mut Tamper<'_>) {
        for to in self.room.seats().filter(|seat| sent.is_for(*seat)) {
            if let Some(message) = tamper(sent.from, to, sent.message.clone()) {
                let (from, bytes) = (sent.from, message.to_bytes());
                self.network.post(self.now, &Letter { from, to, bytes });
            }
        }
    }

    /// Whether nobody has anything to wait for.
    fn is_over(&self) -> bool {
        self.room.places.iter().all(|place| {
            let table = &place.table;
            let ended = table.all_finished() || table.stopped().is_some() || table.has_left();
            ended || place.status == Status::Gone || self.plan.cheat == Some(place.seat())
        })
    }

    /// Moves on to the next moment: a thinker wakes, a message arrives, or seats tick.
    fn advance(&mut self) {
        let tick = self.ticks.iter().copied().min().unwrap();
        let arrival = self.network.next_arrival().filter(|at| *at <= tick);
        let next = arrival.unwrap_or(tick);
        let wakes = self
            .thinks_until
            .filter(|at| (self.now + 1..next).contains(at));
        self.now = wakes.unwrap_or(next);
        if wakes.is_some() {
            return;
        }
        if arrival.is_none() {
            self.tick();
        } else if let Some(Letter { from, to, bytes }) = self.network.take()
            && self.room[to].is_up()
        {
            // A refused message costs its sender the connection; here only the message is lost.
            let _ = self.room[to].receive(from, &bytes);
        }
    }

    /// A second has passed for the seats that tick now. Those that have waited in vain for a cheat propose its removal.
    fn tick(&mut self) {
        for (place, tick) in self.room.places.iter_mut().zip(&mut self.ticks) {
            if *tick > self.now {
                continue;
            }
            *tick += 1_000;
            if place.is_up() {
                place.tick(self.now);
                let cheat = self.plan.cheat.filter(|cheat| *cheat != place.seat());
                if let Some(cheat) = cheat.filter(|cheat| place.table.may_propose_removal(*cheat)) {
                    place.table.propose_removal(cheat).unwrap();
                }
            }
        }
    }

    /// Whether that seat's player thinks, which began with its first turn.
    fn is_thinking(&mut self, seat: Seat) -> bool {
        let thinker = self.plan.thinker.filter(|(thinker, _)| *thinker == seat);
        let Some((_, long)) = thinker.filter(|_| self.room[seat].table.is_my_turn()) else {
            return false;
        };
        self.now < *self.thinks_until.get_or_insert(self.now + long)
    }

    /// Whether somebody still waits for a leaver to be gone.
    fn is_somebody_leaving(&self) -> bool {
        let stay = |table: &&Table<Drill>| !self.leavers.contains(table.me());
        self.room.tables().filter(stay).any(|table| {
            let mut leavers = self.leavers.iter();
            !table.is_finished() && leavers.any(|seat| table.replica().live().contains(seat))
        })
    }

    /// The players look at their tables.
    fn act(&mut self) {
        let thoughtful = self.plan.thoughtful && self.is_somebody_leaving();
        for seat in self.room.seats() {
            if !self.room[seat].is_up() || self.is_thinking(seat) {
                continue;
            }
            let place = &mut self.room[seat];
            // Refused only at a table that has ended, or to the last seat.
            if !thoughtful
                && self.plan.leaves > 0
                && uniform(&mut place.rng, 10_000) < self.plan.leaves
                && !place.table.has_left()
                && place.leave().is_ok()
            {
                self.leavers.insert(seat);
            }
            let turn = place.table.is_my_turn() && !place.rng.next_u32().is_multiple_of(4);
            let wish = self.plan.interjects && place.rng.next_u32().is_multiple_of(500);
            if thoughtful || !turn && !wish {
                continue;
            }
            let game = place.table.game();
            let mut legal = game.legal(seat, place.table.known());
            legal.retain(|action| game.out_of_turn(action) != turn || wish);
            if !legal.is_empty() {
                let choice = uniform(&mut place.rng, u32::try_from(legal.len()).unwrap());
                // Refused only where an interjection was made before.
                let _ = place.act(legal.swap_remove(choice as usize));
            }
        }
    }
}

/// Every honest seat has named the cheat and shown why to a stranger, and all have played on to the same
/// end without it; what for.
pub(crate) fn convicted(sim: &Sim, cheat: Seat) -> FaultKind {
    let honest = sim.room.places.iter().filter(|place| place.seat() != cheat);
    let mut found: Vec<(Fault, Vec<u8>)> = Vec::new();
    for place in honest {
        let table = &place.table;
        let mut faults = place.events.iter().filter_map(|event| match event {
            Event::Fault(fault, evidence) => Some((fault, evidence)),
            _ => None,
        });
        let Some((fault, evidence)) = faults.next() else {
            panic!("{table:?} blames nobody; stopped: {:?}", table.stopped());
        };
        assert!(faults.next().is_none(), "{table:?} blames twice");
        assert_eq!(fault.seat, cheat, "{fault}");
        let evidence = evidence.to_bytes().unwrap();
        let shown = audit::<Drill>(&Transcript::from_bytes(&evidence).unwrap());
        assert_eq!(shown.finding, Some(Finding::Fault(fault.clone())));
        let stopped = table.stopped();
        assert!(
            table.is_finished(),
            "{table:?} has not played on: {stopped:?}"
        );
        let bytes = table.transcript().to_bytes().unwrap();
        let report = audit::<Drill>(&Transcript::from_bytes(&bytes).unwrap());
        assert_eq!(report.finding, None);
        let left = report.left.iter().map(|gone| (gone.seat, &gone.why));
        let left: Vec<_> = left.collect();
        assert_eq!(left, [(cheat, &Reason::Fault(fault.clone()))]);
        found.push((fault.clone(), bytes));
    }
    let same = found.windows(2).all(|pair| pair[0] == pair[1]);
    assert!(same, "they differ: {:?}", found[0].0);
    found.remove(0).0.what
}
