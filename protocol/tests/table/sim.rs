//! Simulated tables: seeded players act at random over a bad network, in virtual time, until all tables have ended.
//!
//! A [`Plan`] sets the course of the game. Crashed seats lose everything that is not on their disks. Every message of
//! every seat passes the [`Honesty`] check before a cheat changes it.

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
use fairdeal_testkit::{Cut, Honesty, Letter, Network, Room, Sent, Status, Weather, entries, happens, seats, stream};
use rand_chacha::ChaCha20Rng;
use rand_core::Rng as _;

/// Seed for tests that need no particular one.
pub(crate) const ANY_SEED: u64 = 1;
/// Long enough for every game here, in milliseconds.
pub(crate) const LONG: u64 = 4_000_000;

/// A message filter: it gets sender, receiver and message, and returns the message to send instead.
type Tamper<'a> = dyn FnMut(Seat, Seat, Message) -> Option<Message> + 'a;

/// The course of a game. By default all seats play, on a good network.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    /// The absence timeout in milliseconds [default: two minutes].
    pub(crate) absence: Option<u64>,
    /// A seat with another absence timeout.
    pub(crate) own_absence: Option<(Seat, u64)>,
    pub(crate) weather: Weather,
    pub(crate) cuts: Vec<Cut>,
    /// The first tick of each seat, in milliseconds; later ticks follow every second.
    pub(crate) first_ticks: Vec<u64>,
    /// How many of a thousand outputs crash their seat.
    pub(crate) crashes: u32,
    /// A seat that disappears for good at this output number, counted over all seats.
    pub(crate) doomed: Option<(Seat, u64)>,
    /// A cheating seat: the others propose its removal as soon as they can, and the run does not wait for it.
    pub(crate) cheat: Option<Seat>,
    /// How many of ten thousand looks at the table make a player leave.
    pub(crate) leaves: u32,
    /// Whether all other players think while somebody is leaving.
    pub(crate) thoughtful: bool,
    /// A player that thinks once, at its first turn, for this many milliseconds.
    pub(crate) thinker: Option<(Seat, u64)>,
    /// Whether players also act out of turn.
    pub(crate) interjects: bool,
}

impl Plan {
    /// A short absence timeout.
    pub(crate) fn impatient() -> Self {
        Self { absence: Some(10_000), ..Self::default() }
    }

    /// Players also act out of turn.
    pub(crate) fn interjecting() -> Self {
        Self { interjects: true, ..Self::default() }
    }

    /// One seat cheats.
    pub(crate) fn cheating(cheat: Seat) -> Self {
        Self { cheat: Some(cheat), ..Self::default() }
    }
}

/// A network that loses, repeats and delays this many of a thousand messages.
pub(crate) fn bad_weather(lost: u32, repeated: u32, delayed: u32) -> Weather {
    Weather { lost, repeated, delayed, late: 2_980, latency: None }
}

/// A network on which every message takes this many milliseconds.
pub(crate) fn slow_weather(latency: u64) -> Weather {
    let latency = Some(latency);
    Weather { latency, ..Weather::default() }
}

/// A charter for those rules.
pub(crate) fn charter(rules: &RuleSet) -> SignedCharter {
    seats::charter(rules, seats::LOBBY)
}

/// A table of players and the network between them.
pub(crate) struct Sim {
    pub(crate) room: Room<Drill>,
    pub(crate) network: Network,
    pub(crate) crashes: u64,
    /// The seats silenced by [`Self::run_losing`].
    pub(crate) silent: SeatSet,
    plan: Plan,
    honesty: Honesty,
    /// Random source for crashes.
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

    /// A table with the given charter.
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

    /// The first fault that the seat has found.
    pub(crate) fn fault(&self, seat: usize) -> Option<&Fault> {
        self.room[seat].events.iter().find_map(|event| match event {
            Event::Fault(fault, _) => Some(fault),
            _ => None,
        })
    }

    /// Runs until every table has ended or stopped, or until virtual time `until`.
    pub(crate) fn run(&mut self, until: u64) {
        self.run_with(until, |_, _, message| Some(message));
    }

    /// The same, with messages changed by `tamper`.
    pub(crate) fn run_with(&mut self, until: u64, mut tamper: impl FnMut(Seat, Seat, Message) -> Option<Message>) {
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

    /// The same with a cheat that changes entries: `change` gets the sender and receiver of each.
    pub(crate) fn run_rewriting(&mut self, until: u64, mut change: impl FnMut(Seat, Seat, Entry) -> Option<Entry>) {
        let charter = self.room.charter.clone();
        self.run_with(until, |from, to, message| {
            let change = |entry| change(from, to, entry);
            Some(entries::rewrite(&charter, message, change))
        });
    }

    /// The same, but seats go silent for good. `goes` sees each outgoing entry of its author, and names the seats to
    /// silence.
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

    /// Starts a seat's program, with the shortest turn time a table can have.
    fn begin(&mut self, seat: Seat) {
        let own = self.plan.own_absence.filter(|(of, _)| *of == seat).map(|(_, absence)| absence);
        let place = &mut self.room[seat];
        place.table.set_limits(Limits {
            absence: own.or(self.plan.absence).unwrap_or(120_000),
            turn_time: Some(30_000),
            bank: 0,
        });
        place.begin();
    }

    /// Restarts crashed seats whose downtime is over.
    fn restart(&mut self) {
        for seat in self.room.seats() {
            if matches!(self.room[seat].status, Status::Down(until) if until <= self.now) {
                self.room.restart(seat).unwrap();
                self.begin(seat);
            }
        }
    }

    /// Executes a seat's outputs until it has none left or crashes.
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

    /// Whether no seat has anything left to wait for.
    fn is_over(&self) -> bool {
        self.room.places.iter().all(|place| {
            let table = &place.table;
            let ended = table.all_finished() || table.stopped().is_some() || table.has_left();
            ended || place.status == Status::Gone || self.plan.cheat == Some(place.seat())
        })
    }

    /// Advances to the next event: a thinker wakes, a message arrives, or seats tick.
    fn advance(&mut self) {
        let tick = self.ticks.iter().copied().min().unwrap();
        let arrival = self.network.next_arrival().filter(|at| *at <= tick);
        let next = arrival.unwrap_or(tick);
        let wakes = self.thinks_until.filter(|at| (self.now + 1..next).contains(at));
        self.now = wakes.unwrap_or(next);
        if wakes.is_some() {
            return;
        }
        if arrival.is_none() {
            self.tick();
        } else if let Some(Letter { from, to, bytes }) = self.network.take()
            && self.room[to].is_up()
        {
            // A refused message would cost its sender the connection; here only the message is lost.
            let _ = self.room[to].receive(from, &bytes);
        }
    }

    /// Ticks the seats that are due. Seats that may propose the cheat's removal do so.
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

    /// Whether the seat's player is thinking; thinking starts with its first turn.
    fn is_thinking(&mut self, seat: Seat) -> bool {
        let thinker = self.plan.thinker.filter(|(thinker, _)| *thinker == seat);
        let Some((_, long)) = thinker.filter(|_| self.room[seat].table.is_my_turn()) else {
            return false;
        };
        self.now < *self.thinks_until.get_or_insert(self.now + long)
    }

    /// Whether any staying seat still waits for a leaver to be gone.
    fn is_somebody_leaving(&self) -> bool {
        let stay = |table: &&Table<Drill>| !self.leavers.contains(table.me());
        self.room
            .tables()
            .filter(stay)
            .any(|table| !table.is_finished() && self.leavers.iter().any(|seat| table.replica().live().contains(seat)))
    }

    /// Lets every player look at its table and perhaps act.
    fn act(&mut self) {
        let thoughtful = self.plan.thoughtful && self.is_somebody_leaving();
        for seat in self.room.seats() {
            if !self.room[seat].is_up() || self.is_thinking(seat) {
                continue;
            }
            let place = &mut self.room[seat];
            // Refused only if the table has ended or the seat is the last one.
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
                // Refused only if the seat has interjected before.
                let _ = place.act(legal.swap_remove(choice as usize));
            }
        }
    }
}

/// Checks that every honest seat named the cheat with evidence that convinces a stranger, and that all played on
/// without it to the same end. Returns the fault.
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
        assert!(table.is_finished(), "{table:?} has not played on: {stopped:?}");
        let bytes = table.transcript().to_bytes().unwrap();
        let report = audit::<Drill>(&Transcript::from_bytes(&bytes).unwrap());
        assert_eq!(report.finding, None);
        let left: Vec<_> = report.left.iter().map(|gone| (gone.seat, &gone.why)).collect();
        assert_eq!(left, [(cheat, &Reason::Fault(fault.clone()))]);
        found.push((fault.clone(), bytes));
    }
    let same = found.windows(2).all(|pair| pair[0] == pair[1]);
    assert!(same, "they differ: {:?}", found[0].0);
    found.remove(0).0.what
}
