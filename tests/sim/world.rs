//! A whole table in virtual time: programs, disks, players, and the network between them.

use std::collections::{BTreeMap, BTreeSet};

use fairdeal_games::AnyGame;
use fairdeal_games::bot;
use fairdeal_games::bots::{Bot, Level, Random};
use fairdeal_protocol::audit::auditor::audit;
use fairdeal_protocol::charter::SignedCharter;
use fairdeal_protocol::domain::Label;
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::hash::{Hash32, Hasher};
use fairdeal_protocol::log::claim::{Claim, Ground};
use fairdeal_protocol::log::extensions::Extension;
use fairdeal_protocol::membership::{Says, SignedStatement, Value};
use fairdeal_protocol::party::PlayedBy;
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::clocks::{CALM, Limits, Now};
use fairdeal_protocol::table::fault::FaultKind;
use fairdeal_protocol::table::journal::Record;
use fairdeal_protocol::table::live::{Closing, Event, Output};
use fairdeal_protocol::table::message::Message;
use fairdeal_protocol::table::replica::News;
use fairdeal_testkit::{Fate, Letter, Network, Room, Sent, Status, TestSeat, seats, stream};

use super::cheat::Cheat;
use super::check;
use super::plan::{ClockFault, Dice, Manners, Plan, Role};
use super::spectator::Onlooker;
use super::tally::Tally;
use super::traffic::Traffic;
use super::watch::Watch;

/// Every run ends at this time, in milliseconds: well beyond all timeouts.
const END: u64 = 24 * 3_600_000;
/// How long after the last fault, step and thought a table may take to end, beside the absence timeout and the turn
/// time, in milliseconds.
const ENDS: u64 = 300_000;
/// How often a program ticks, in milliseconds.
const TICK: u64 = 1_000;
/// Turn time of a present person, in milliseconds: the shortest that a table can have.
const TURN_TIME: u64 = 30_000;
/// The wall clocks when a table begins, in milliseconds.
const START: i64 = 1_700_000_000_000;
/// Maximum number of trace lines.
const TRACE: usize = 20_000;

/// A seat's player, and the observations at that seat.
pub(crate) struct Chair {
    pub(crate) role: Role,
    dice: Dice,
    bot: Box<dyn Bot<AnyGame>>,
    cheat: Option<Cheat>,
    outputs: u64,
    /// Whether the disk had all that the seat had signed when its program died.
    is_whole: bool,
    /// Hash of every completed step.
    pub(crate) steps: BTreeMap<u64, Hash32>,
    /// Steps completed before all seats agreed to continue from an earlier one.
    pub(crate) voided: BTreeSet<(u64, Hash32)>,
    /// Seats with proven equivocation.
    pub(crate) proven: SeatSet,
    /// The last step that it took part in, if it has left.
    pub(crate) left: Option<u64>,
    /// The step in which it acts, and the time.
    ready: Option<(u64, u64)>,
    pub(crate) leaving: bool,
    /// Time of the last message from each seat.
    heard: BTreeMap<Seat, u64>,
    /// Step and seat of each removal that its player has proposed.
    proposed: BTreeSet<(u64, Seat)>,
    /// Step and author of each entry that it has refused.
    refused: BTreeSet<(u64, Seat)>,
    /// Seats reported to have closed their tables.
    pub(crate) told_closed: SeatSet,
    /// Number of long thoughts that its player has left.
    thoughts: u32,
    /// How often its player gives another more time yet.
    gifts: u32,
    giving: Dice,
}

/// Whether the table is over for a seat, in any way.
pub(crate) fn is_done(place: &TestSeat<AnyGame>) -> bool {
    let here = place.table.replica().participants();
    place.table.is_finished() || place.table.stopped().is_some() || !here.contains(place.seat())
}

/// A table and its surroundings.
pub(crate) struct World {
    pub(crate) plan: Plan,
    /// Programs and their disks.
    pub(crate) room: Room<AnyGame>,
    pub(crate) chairs: Vec<Chair>,
    pub(crate) watch: Watch,
    /// Present at every eighth table.
    pub(crate) spectator: Option<Onlooker>,
    pub(crate) tally: Tally,
    net: Network,
    dice: Dice,
    pub(crate) now: u64,
    /// Time of the last progress of an honest seat.
    progress: u64,
    /// Time of the last fault.
    fault: u64,
    /// When the last thinking player acts: all waits begin then.
    thought_until: u64,
    /// When the program of each seat ticks next.
    ticks: Vec<u64>,
    /// How far each seat's wall clock is ahead of the time of the simulation, and until when its machine sleeps.
    clocks: Vec<(i64, u64)>,
    /// When each seat's open step began.
    since: BTreeMap<Seat, u64>,
    traffic: Traffic,
    /// Hash of everything that has happened.
    pub(crate) trace: Hash32,
    /// The last trace lines, if tracing is on.
    lines: Option<std::collections::VecDeque<String>>,
    /// Statements sent so far: the trace shows each once.
    told: BTreeSet<(Seat, Hash32)>,
    /// The steps in which seats have shown a draft.
    drafted: BTreeSet<(Seat, u64)>,
    /// When and how letters are written, at every third table, and those on their way: when they come, their writers and
    /// their readers.
    posting: Option<Dice>,
    post: Vec<(u64, Seat, Seat, Vec<Message>)>,
}

impl World {
    pub(crate) fn new(plan: Plan, traced: bool) -> Self {
        let seed = plan.seed;
        let charter = charter(&plan);
        let seats: Vec<Seat> = charter.charter().seats().iter().collect();
        let room = Room::new(charter.clone(), |seat| stream(seed, 30 + u64::from(seat.number())));
        let chairs = seats.iter().map(|seat| {
            let role = plan.roles[seat.index()].clone();
            let number = u64::from(seat.number());
            let cheat = role.cheat.clone();
            Chair {
                dice: Dice::new(seed, 10 + number),
                bot: match role.level {
                    Level::Gentle => Box::new(Random { seldom: Some(16) }),
                    Level::Normal | Level::Sharp => bot(Level::Normal),
                },
                cheat: cheat.map(|habit| Cheat::new(habit, seats::key(*seat), Dice::new(seed, 20 + number))),
                outputs: 0,
                is_whole: false,
                steps: BTreeMap::new(),
                voided: BTreeSet::new(),
                proven: SeatSet::EMPTY,
                left: None,
                ready: None,
                leaving: false,
                heard: BTreeMap::new(),
                proposed: BTreeSet::new(),
                refused: BTreeSet::new(),
                told_closed: SeatSet::EMPTY,
                thoughts: if role.ponders > 0 { 2 } else { 0 },
                gifts: if seed.is_multiple_of(3) { 3 } else { 0 },
                giving: Dice::new(seed, 60 + number),
                role,
            }
        });
        let chairs = chairs.collect();
        let parties = charter.charter().parties();
        let mut net = Network::new(stream(seed, 1), parties, plan.weather);
        net.heals_at = plan.heal;
        net.distance = plan.distance;
        net.cuts.clone_from(&plan.cuts);
        net.apart.clone_from(&plan.apart);
        Self {
            watch: Watch::new(charter.clone(), plan.cheats(), plan.forgetful()),
            spectator: (seed % 8 == 5).then(|| {
                let seat = seats[usize::try_from(seed / 8).unwrap() % seats.len()];
                Onlooker::new(seat, charter.clone())
            }),
            tally: Tally::default(),
            net,
            dice: Dice::new(seed, 2),
            now: 0,
            progress: 0,
            thought_until: 0,
            fault: plan.heal,
            ticks: plan.phases.iter().map(|phase| TICK + phase).collect(),
            clocks: vec![(START, 0); plan.roles.len()],
            since: BTreeMap::new(),
            traffic: Traffic::default(),
            trace: Hash32::default(),
            lines: traced.then(Default::default),
            told: BTreeSet::new(),
            drafted: BTreeSet::new(),
            posting: (seed % 3 == 1).then(|| Dice::new(seed, 70)),
            post: Vec::new(),
            room,
            chairs,
            plan,
        }
    }

    /// The last trace lines.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &String> {
        self.lines.iter().flatten()
    }

    fn say(&mut self, line: impl FnOnce() -> String) {
        let now = self.now;
        if let Some(lines) = &mut self.lines {
            if lines.len() >= TRACE {
                lines.pop_front();
            }
            lines.push_back(format!("{now:>8} {}", line()));
        }
    }

    fn mark(&mut self, what: &[u8]) {
        let trace = Hasher::new(Label::new("sim/trace\0")).hash(&self.trace).number(self.now);
        self.trace = trace.bytes(what).finish();
    }

    fn seats(&self) -> impl Iterator<Item = Seat> + use<> {
        self.room.seats()
    }

    /// Whether a seat's player is thinking, or has just finished.
    fn is_thinking(&self, seat: Seat) -> bool {
        let place = &self.room[seat];
        let open = place.table.replica().step();
        let ready = self.chairs[seat.index()].ready;
        ready.is_some_and(|(step, _)| step == open) && place.is_up() && !is_done(place)
    }

    fn is_honest(&self, seat: Seat) -> bool {
        self.watch.is_honest(seat)
    }

    /// Plays until everything is decided, or nothing changes any more.
    pub(crate) fn run(&mut self) {
        for (place, chair) in self.room.places.iter_mut().zip(&self.chairs) {
            place.table.set_limits(timing(&chair.role));
            place.begin();
        }
        let absence = self.plan.roles.iter().map(|role| role.absence).max();
        let ends = absence.unwrap_or_default() + TURN_TIME + ENDS;
        while self.now < END {
            self.come_back();
            self.fall();
            self.set_clocks();
            self.flush();
            self.write_and_read();
            let thinking = self.seats().filter(|seat| self.is_thinking(*seat));
            let until = thinking.filter_map(|seat| self.chairs[seat.index()].ready).map(|(_, at)| at).max();
            self.thought_until = self.thought_until.max(until.unwrap_or(0));
            let moved = self.progress.max(self.fault);
            let wrong = self.traffic.moved(self.now, moved, &mut self.tally);
            self.is_loud(wrong);
            let since = moved.max(self.thought_until);
            if self.is_decided() || self.now > since + ends {
                break;
            }
            let next =
                (0..self.ticks.len()).min_by_key(|index| self.ticks[*index]).map(|index| (self.ticks[index], index));
            match (self.net.next_arrival(), next) {
                (Some(at), Some((tick, _))) if at <= tick => {
                    self.now = at;
                    self.deliver();
                }
                (_, Some((tick, index))) => {
                    self.now = tick;
                    self.tick(index);
                }
                (_, None) => break,
            }
            self.act();
        }
        self.flush();
        let wrong = self.traffic.judge(self.now, &mut self.tally);
        self.is_loud(wrong);
        self.tally.add("virtual seconds", self.now / 1000);
    }

    /// Invariant 17: nobody keeps sending more than heads when nothing happens. A cheat is a fault that goes on.
    fn is_loud(&mut self, wrong: Option<String>) {
        if let (Some(what), true) = (wrong, self.plan.cheats().is_empty()) {
            self.watch.fail(17, what);
        }
    }

    /// A program's tick, unless its machine sleeps.
    fn tick(&mut self, index: usize) {
        let (ahead, asleep) = self.clocks[index];
        self.ticks[index] = (self.now + TICK).max(asleep + 1);
        let now = Now { up: self.now, wall: u64::try_from(ahead.saturating_add_unsigned(self.now)).unwrap_or(0) };
        let place = &mut self.room.places[index];
        if place.is_up() && self.now > asleep {
            place.tick_at(now);
            let seat = place.seat();
            self.propose(seat);
        }
        self.traffic.tick(self.now);
    }

    /// Sets the clocks that are due to be set, and puts machines to sleep.
    fn set_clocks(&mut self) {
        let now = self.now;
        while let Some(at) = self.plan.clocks.iter().position(|(at, ..)| *at <= now) {
            let (_, seat, what) = self.plan.clocks.remove(at);
            self.fault = self.fault.max(now);
            for seat in self.plan.program_of(seat).iter() {
                let (ahead, asleep) = &mut self.clocks[seat.index()];
                match what {
                    ClockFault::Set(by) => *ahead = ahead.saturating_add(by),
                    ClockFault::Sleep(rest) => {
                        *asleep = (*asleep).max(now + rest);
                        self.fault = self.fault.max(now + rest);
                        self.ticks[seat.index()] = self.ticks[seat.index()].max(now + rest + 1);
                    }
                }
            }
            let name = match what {
                ClockFault::Set(_) => "fault: clock set",
                ClockFault::Sleep(_) => "fault: machine asleep",
            };
            self.tally.add(name, 1);
            self.say(|| format!("{seat} {what:?}"));
        }
    }

    /// Whether a seat's machine sleeps.
    fn is_asleep(&self, seat: Seat) -> bool {
        self.clocks[seat.index()].1 > self.now
    }

    /// Crashes the seats that are due to crash together.
    fn fall(&mut self) {
        let now = self.now;
        let due = self.plan.falls.iter().position(|fall| fall.at <= now);
        let Some(fall) = due.map(|at| self.plan.falls.remove(at)) else {
            return;
        };
        for seat in fall.seats.iter() {
            if self.room[seat].is_up() {
                self.tally.add("fault: falls with others", 1);
                let back = fall.back.map(|rest| Status::Down(now + rest));
                self.crash(seat, back.unwrap_or(Status::Gone));
            }
        }
    }

    /// A player who has lost patience with a present seat proposes its removal.
    fn propose(&mut self, seat: Seat) {
        for target in self.seats() {
            let stuck = self.is_stuck(target);
            let (place, chair) = (&mut self.room[seat], &mut self.chairs[seat.index()]);
            let wants = match chair.role.manners {
                Manners::Patient => stuck,
                Manners::Rude => true,
            };
            if self.plan.is_bot(seat) || !wants || !place.is_up() || !place.table.may_propose_removal(target) {
                continue;
            }
            let step = place.table.replica().step();
            chair.proposed.insert((step, target));
            place.table.propose_removal(target).unwrap();
            self.tally.add("proposals to remove a seat that is there", 1);
            self.say(|| format!("{seat} proposes to remove {target} from step {step}"));
        }
    }

    /// Whether a present seat will never continue: it cheats, has lost what it needs, or its table has stopped.
    fn is_stuck(&self, seat: Seat) -> bool {
        let chair = &self.chairs[seat.index()];
        chair.cheat.is_some() || chair.role.old_disk || self.room[seat].table.stopped().is_some()
    }

    /// Whether an honest seat's table should play on: of three parties or more, at most one is gone or cheats, and the
    /// others have been there, with routes to each other, for a while.
    fn could_go_on(&self, seat: Seat) -> bool {
        let table = &self.room[seat].table;
        let (present, parties) = (table.replica().participants(), table.replica().parties());
        let is_bad = |other: &Seat| {
            let there = &self.room[*other];
            self.is_stuck(*other) || !there.is_up() || self.is_asleep(*other)
        };
        let bad: SeatSet = present.iter().filter(is_bad).collect();
        let fine: Vec<Seat> = present.iter().filter(|other| !bad.contains(*other)).collect();
        let near = check::near(self, &fine, seat);
        let role = &self.chairs[seat.index()].role;
        let settled = self.now > self.fault + role.absence + TURN_TIME + CALM;
        self.is_honest(seat)
            && settled
            && fine.iter().all(|other| near.contains(*other))
            && parties.count(present) > 2
            && parties.count(bad) < 2
            && !role.old_disk
    }

    /// Whether no honest seat that is or will be present waits for anything.
    fn is_decided(&self) -> bool {
        let mut waiting = self.seats().filter(|seat| self.is_honest(*seat));
        waiting.all(|seat| {
            let place = &self.room[seat];
            place.status == Status::Gone || (place.is_up() && is_done(place))
        })
    }

    /// Beside the network some write letters; they come minutes later, in any order, and some of them twice. Programs that
    /// read them may be connected to their writers.
    fn write_and_read(&mut self) {
        let Some(dice) = &mut self.posting else { return };
        let now = self.now;
        if dice.chance(4) {
            let all = self.room.seats().collect::<SeatSet>();
            let (from, to) = (dice.seat(all), dice.seat(all));
            let comes = now + dice.between(0, 300_000);
            let place = &mut self.room[from];
            let asleep = self.clocks[from.index()].1 > now;
            if from != to && place.is_up() && !asleep && self.watch.is_honest(from) {
                // All records are on disk by now.
                let messages = place.table.write_letter(to, None);
                if dice.chance(200) {
                    self.post.push((comes + 60_000, from, to, messages.clone()));
                }
                self.post.push((comes, from, to, messages));
            }
        }
        while let Some(place) = self.post.iter().position(|(at, ..)| *at <= now) {
            let (_, from, to, messages) = self.post.swap_remove(place);
            if !self.room[to].is_up() || self.is_asleep(to) {
                self.tally.add("letters lost", 1);
                continue;
            }
            self.tally.add("letters read", 1);
            for message in messages {
                let read = self.room[to].read_letter(from, message);
                if let (Err(error), true) = (read, self.is_honest(from)) {
                    self.watch.fail(3, format!("{to} refuses a letter of honest {from}: {error}"));
                }
            }
        }
    }

    fn deliver(&mut self) {
        let Some(Letter { from, to, bytes }) = self.net.take() else {
            return;
        };
        let now = self.now;
        if self.is_asleep(to) {
            let until = self.clocks[to.index()].1;
            self.net.delay(Letter { from, to, bytes }, until);
            return;
        }
        let (place, chair) = (&mut self.room[to], &mut self.chairs[to.index()]);
        if !place.is_up() {
            self.tally.add("fault: sent to a seat that is down", 1);
            return;
        }
        if let Some(cheat) = &mut chair.cheat {
            cheat.hear(&place.table, &bytes);
        }
        let taken = place.receive(from, &bytes);
        if taken.is_ok() {
            chair.heard.insert(from, now);
        }
        self.mark(&bytes);
        if let Err(error) = taken {
            self.say(|| format!("{to} refuses what {from} sent: {error}"));
            self.tally.add("messages refused", 1);
            self.net.drop_link(from, to, now);
            if self.is_honest(from) {
                let what = format!("{to} refuses a message of honest {from}: {error}");
                self.watch.fail(3, what);
            }
        }
    }

    /// Restarts seats from their disks when they are due.
    fn come_back(&mut self) {
        for seat in self.seats() {
            let now = self.now;
            let (place, chair) = (&mut self.room[seat], &mut self.chairs[seat.index()]);
            if !matches!(place.status, Status::Down(until) if until <= now) {
                continue;
            }
            if chair.role.old_disk {
                let lost = chair.dice.below(6) as usize;
                let kept = place.disk.len().saturating_sub(lost);
                place.disk.truncate(kept);
                self.tally.add("fault: old disk", 1);
            }
            // Half of those whose disk has all that they have signed were closed in order.
            let is_clean = !chair.role.old_disk && chair.is_whole && chair.outputs % 2 == 0;
            if is_clean {
                self.tally.add("seats that return without asking", 1);
            }
            let back = if is_clean { self.room.reopen(seat) } else { self.room.restart(seat) };
            if let Err(error) = back {
                self.watch.fail(8, format!("{seat} cannot return: {error}"));
                self.room[seat].status = Status::Gone;
                continue;
            }
            let place = &mut self.room[seat];
            place.table.set_limits(timing(&chair.role));
            if chair.leaving {
                // Its player still wants to leave; only an ended table refuses.
                let _ = place.leave();
            }
            place.begin();
            let step = place.table.replica().step();
            self.fault = self.fault.max(now);
            self.say(|| format!("{seat} returns at step {step}"));
        }
    }

    /// A seat's program dies, with all its seats.
    fn crash(&mut self, seat: Seat, status: Status) {
        for seat in self.plan.program_of(seat).iter() {
            if self.room[seat].is_up() {
                self.die(seat, status);
            }
        }
    }

    /// A seat dies and loses its pending outputs.
    fn die(&mut self, seat: Seat, status: Status) {
        let honest = self.is_honest(seat);
        self.chairs[seat.index()].ready = None;
        // All waits that the crash causes begin now.
        self.fault = self.fault.max(self.now);
        let knows = self.room[seat].table.knows_its_own();
        let lost = self.room[seat].crash(status);
        self.chairs[seat.index()].is_whole = knows && !lost.iter().any(|output| matches!(output, Output::Keep(_)));
        for output in lost {
            if let (Output::Keep(Record::Entry(signed)), true) = (output, honest) {
                self.watch.made(&signed);
            }
        }
        let what = match status {
            Status::Gone => "fault: gone for good",
            _ => "fault: crash",
        };
        self.tally.add(what, 1);
        self.say(|| format!("{seat} {what}"));
    }

    /// Carries out the programs' outputs.
    fn flush(&mut self) {
        for seat in self.seats() {
            let mut stepped = false;
            while self.room[seat].is_up() {
                let Some(output) = self.room[seat].poll() else {
                    break;
                };
                let chair = &mut self.chairs[seat.index()];
                chair.outputs += 1;
                if chair.role.gone_at.is_some_and(|at| chair.outputs >= at) {
                    // The output is lost too.
                    self.crash(seat, Status::Gone);
                    break;
                }
                let crashes = chair.role.crashes;
                if self.now < self.plan.heal && crashes > 0 && self.dice.chance(crashes) {
                    let rest = u64::from(self.dice.below(6_000));
                    self.crash(seat, Status::Down(self.now + rest));
                    break;
                }
                stepped |= matches!(output, Output::Event(Event::Step(..)));
                self.carry_out(seat, output);
            }
            self.drafts(seat);
            // Outsiders see only what is on the seat's disk.
            let place = &self.room[seat];
            let mut spectator = self.spectator.iter_mut().filter(|o| o.seat == seat);
            if let Some(spectator) = spectator.next().filter(|_| stepped && place.is_up()) {
                spectator.look(&place.table);
            }
        }
    }

    /// Half of the seats show their shuffles for the next deal before their entries. All that these rest on is on disk by now.
    fn drafts(&mut self, seat: Seat) {
        let sends = (self.plan.seed ^ u64::from(seat.number())).is_multiple_of(2);
        if !sends || !self.room[seat].is_up() || !self.is_honest(seat) {
            return;
        }
        let table = &mut self.room[seat].table;
        table.send_drafts();
        let step = table.replica().step();
        if let Some(deal) = table.draft_due().filter(|_| self.drafted.insert((seat, step))) {
            if let Some(draft) = table.draft() {
                self.watch.drafted(seat, step, &draft);
                self.tally.add("drafts", 1);
            }
            table.has_sent_draft(deal);
        }
    }

    fn carry_out(&mut self, seat: Seat, output: Output<AnyGame>) {
        match &output {
            Output::Keep(record) => self.keeps(seat, record),
            Output::Event(event) => self.note(seat, event),
            Output::Pass(..) | Output::Send(..) => {}
        }
        let Some(sent) = self.room[seat].carry_out(output) else {
            return;
        };
        if let (Message::Statements(statements), Some(_)) = (&sent.message, &self.lines) {
            for signed in statements.iter() {
                if self.told.insert((seat, signed.unverified().hash())) {
                    self.say(|| format!("{seat} sends {}", describe(signed)));
                }
            }
        }
        let bytes = sent.message.to_bytes();
        let honest = self.is_honest(seat);
        if honest {
            self.watch.sent(seat, &sent.message);
        }
        for to in self.seats().filter(|to| sent.is_for(*to)) {
            if honest {
                let (now, seats) = (self.now, self.plan.roles.len());
                let tally = &mut self.tally;
                let wrong = self.traffic.sent(now, &sent, bytes.len(), seats, tally);
                if let Some(what) = wrong {
                    self.watch.fail(18, what);
                }
            }
            self.send(to, &sent, &bytes);
        }
    }

    /// Checks a record before it reaches a seat's disk.
    fn keeps(&mut self, seat: Seat, record: &Record) {
        let honest = self.is_honest(seat);
        if let (Record::Statement(signed), true) = (record, honest) {
            self.is_absent_or_proposed(seat, signed);
        }
        if let (Record::Claim(signed), true) = (record, honest) {
            self.has_had_its_time(seat, signed.claim());
        }
        let (place, chair) = (&self.room[seat], &mut self.chairs[seat.index()]);
        if let Record::Refused(signed) = record
            && let Some(entry) = self.watch.verified(signed)
        {
            chair.refused.insert((entry.step(), entry.seat()));
        }
        if honest {
            let here = place.table.replica().participants();
            self.watch.keeps(seat, record, &place.disk, here);
        }
        if let (Record::Seed { seed, .. }, Some(cheat)) = (record, &mut chair.cheat) {
            cheat.learn_seed(seed.clone());
        }
    }

    /// Invariant 19: nobody is out of time before its time has passed, whatever the clocks of the other show.
    fn has_had_its_time(&mut self, seat: Seat, claim: &Claim) {
        let table = &self.room[seat].table;
        let here = claim.seat == seat && claim.step == table.replica().step();
        let since = self.since.get(&seat).copied().unwrap_or(0);
        if here && claim.ground == Ground::OutOfTime && self.now < since + TURN_TIME {
            let had = self.now - since;
            self.watch.fail(19, format!("{seat} claims that the other is out of time after {had} ms"));
        }
        let own = u64::from(here);
        let name = match claim.ground {
            Ground::Absent => "claims of absence",
            Ground::OutOfTime => "claims that a turn time has run out",
        };
        self.tally.add(name, own);
    }

    /// Invariant 14: a seat consents only to removals with a reason. The removed seat was silent for the absence
    /// timeout, was proposed by the seat's player, has closed its table, or has an entry that cannot count. Such an
    /// entry has a wrong digest, or the seat's own consent forbids it.
    fn is_absent_or_proposed(&mut self, seat: Seat, signed: &SignedStatement) {
        let statement = signed.unverified();
        let Says::Consent { out, .. } = &statement.says else {
            return;
        };
        let chair = &self.chairs[seat.index()];
        if statement.seat != seat || chair.role.old_disk {
            return;
        }
        let bot = self.plan.is_bot(seat);
        let present = |target: Seat| {
            let heard = chair.heard.get(&target);
            let recent = heard.is_some_and(|heard| self.now < heard + chair.role.absence);
            // A bot proposes by itself to remove a program that does not send what no person decides.
            let since = self.since.get(&seat).copied().unwrap_or(0);
            let table = &self.room[seat].table;
            let slow = bot && !table.is_decided_by(target) && self.now >= since + chair.role.absence.max(CALM);
            let proposed =
                chair.proposed.contains(&(statement.step, target)) || (bot && self.is_proposed(statement.step, target));
            // No consent forbids an honest seat's entry, unless its disk has lost the consent.
            let forgets = self.chairs[target.index()].role.old_disk;
            let honest = !self.watch.may_be_blamed(target) && !forgets;
            let open = !chair.told_closed.contains(target);
            let refused = chair.refused.contains(&(statement.step, target));
            recent && !proposed && honest && open && !refused && !slow
        };
        // A party is removed as a whole. The consent written here may come before the party's own removal.
        let live = self.room[seat].table.replica().live();
        let whole =
            |target: &Seat| self.plan.program_of(*target).iter().all(|seat| !live.contains(seat) || present(seat));
        let there: SeatSet = out.iter().filter(|seat| present(*seat) && whole(seat)).collect();
        if !there.is_empty() {
            let what = format!("{seat} hears {there:?}, and nobody proposed what it signs: ");
            self.watch.fail(14, what + &describe(signed));
        }
    }

    /// Whether a person has consented to the removal of a seat that may be present.
    fn is_proposed(&self, step: u64, target: Seat) -> bool {
        let persons = self.seats().filter(|seat| !self.plan.is_bot(*seat));
        let consented = |seat| self.watch.has_consented(seat, step, target);
        persons.into_iter().any(consented)
    }

    fn send(&mut self, to: Seat, Sent { from, message, .. }: &Sent, bytes: &[u8]) {
        let (place, chair) = (&self.room[*from], &mut self.chairs[from.index()]);
        let sent = match &mut chair.cheat {
            None => vec![bytes.to_vec()],
            Some(cheat) => cheat.send(&place.table, to, message.clone(), &mut self.tally),
        };
        for bytes in sent {
            if !self.is_honest(*from) {
                self.watch.forged(&bytes);
            }
            let from = *from;
            let letter = Letter { from, to, bytes };
            self.tally.add("messages", 1);
            for fate in self.net.post(self.now, &letter) {
                self.tally.add(named(fate), 1);
            }
        }
    }

    fn note(&mut self, seat: Seat, event: &Event<AnyGame>) {
        let honest = self.is_honest(seat);
        let (place, chair) = (&self.room[seat], &mut self.chairs[seat.index()]);
        match event {
            Event::Step(step, hash) => {
                let known = chair.steps.get(step).copied();
                let replayed = chair.voided.contains(&(*step, *hash));
                if known != Some(*hash) && !replayed {
                    // All seats agreed to continue from here, or this is the first time here.
                    let undone = chair.steps.split_off(step);
                    chair.voided.extend(undone);
                    chair.steps.insert(*step, *hash);
                    let halted = !place.table.transcript().halted().is_empty();
                    if honest && known.is_some() && !halted && !chair.role.old_disk {
                        let what = format!("{seat} holds another step {step} than before");
                        self.watch.fail(8, what);
                    }
                }
                self.mark(&hash.0);
                if known != Some(*hash) {
                    // A replay begins no step again: the journal has since when it waits.
                    self.since.insert(seat, self.now);
                }
                if honest && known.is_none() {
                    self.progress = self.now;
                }
                let (step, hash) = (*step, hash.short());
                let kind = self.room[seat].table.replica().kind();
                self.say(|| format!("{seat} completes step {step}: {hash}; now {kind:?}"));
            }
            Event::News(News::Left(who)) if *who == seat => {
                chair.left = chair.steps.last_key_value().map(|(step, _)| *step);
            }
            Event::Fault(fault, evidence) => {
                if fault.what == FaultKind::Equivocation {
                    chair.proven.insert(fault.seat);
                }
                self.say(|| format!("{seat} {fault}"));
                self.tally.add("faults proven", 1);
                let finding = audit::<AnyGame>(evidence).finding;
                let named = finding.as_ref().and_then(|finding| finding.seat());
                if honest && !self.watch.may_be_blamed(fault.seat) {
                    let what = format!("{seat} blames honest {}: {fault}", fault.seat);
                    self.watch.fail(3, what);
                } else if honest && named != Some(fault.seat) {
                    let what = format!("{seat} has evidence of \"{fault}\" that shows {finding:?}");
                    self.watch.fail(3, what);
                }
            }
            Event::HasClosed(other) => {
                chair.told_closed.insert(*other);
                self.say(|| format!("{seat} hears that {other} has closed its table"));
            }
            other => self.say(|| format!("{seat} {other:?}")),
        }
        if let Event::Stopped(_) = event
            && honest
        {
            self.progress = self.now;
        }
    }

    /// Lets the players act at their tables.
    fn act(&mut self) {
        for seat in self.seats() {
            let now = self.now;
            let (place, chair) = (&mut self.room[seat], &mut self.chairs[seat.index()]);
            if !place.is_up() || is_done(place) || self.clocks[seat.index()].1 > now {
                continue;
            }
            let step = place.table.replica().step();
            let enough = step > self.plan.enough + 3 * u64::from(seat.number());
            let goes = chair.role.leaves_at.is_some_and(|at| step >= at) || enough;
            if goes && !chair.leaving && place.leave().is_ok() {
                chair.leaving = true;
                self.tally.add("fault: leaver", u64::from(!enough));
            }
            if chair.gifts > 0 && chair.giving.chance(3) {
                chair.gifts -= 1;
                let to = chair.giving.seat(place.table.replica().charter().seats());
                let more = Extension::Give { to, seconds: 1 + chair.giving.below(3) };
                // Refused to bots and to the own party, and while the seat asks what it has signed.
                self.tally.add("gifts of time", u64::from(place.table.extend(more, 19_675).is_ok()));
            }
            // Once nothing more goes wrong, every person closes a table that cannot go on.
            let decides = chair.role.claims || (now > self.fault && !self.plan.is_bot(seat));
            if decides && let Some(closing) = place.table.closing() {
                place.table.claim().unwrap();
                if place.table.stopped().is_some() && self.could_go_on(seat) {
                    let what = format!("{seat} closes a table that could go on: {closing:?}");
                    self.watch.fail(11, what);
                }
                let how = match closing {
                    Closing::Claim(_) => "closings: by a claim",
                    Closing::Fork(_) => "closings: with the evidence of a fork",
                    Closing::Unsigned => "closings: unsigned",
                };
                self.tally.add(how, 1);
                if closing == Closing::Unsigned {
                    // Its program ends, and is not started again.
                    self.crash(seat, Status::Gone);
                }
                continue;
            }
            let turn = place.table.is_my_turn();
            if turn && chair.ready.is_none_or(|(at, _)| at != step) {
                let ponders = chair.thoughts > 0 && chair.dice.chance(200);
                let thinks = if ponders {
                    chair.thoughts -= 1;
                    self.tally.add("long thoughts", 1);
                    chair.role.ponders
                } else {
                    u64::from(chair.dice.below(chair.role.thinks))
                };
                chair.ready = Some((step, now + thinks));
            }
            let due = turn && chair.ready.is_some_and(|(_, at)| at <= now);
            let wish = self.plan.wishes > 0 && chair.dice.chance(self.plan.wishes);
            if !due && !wish {
                continue;
            }
            let game = place.table.game();
            let known = place.table.known();
            let chosen =
                chair.bot.choose(game, seat, known, &mut chair.dice.0).filter(|action| due || game.out_of_turn(action));
            let legal = || {
                let mut legal = game.legal(seat, known);
                legal.retain(|action| game.out_of_turn(action) != due);
                legal
            };
            let action = match chosen {
                Some(action) => action,
                None => {
                    let legal = legal();
                    if legal.is_empty() {
                        continue;
                    }
                    chair.dice.pick(&legal).clone()
                }
            };
            // Refused only if an out-of-turn action was requested before.
            let _ = place.act(action);
            self.tally.add("actions", 1);
        }
    }
}

/// The charter of a plan; its lobby id is the seed.
fn charter(plan: &Plan) -> SignedCharter {
    let player = |seat: Seat| {
        let played_by = if plan.is_bot(seat) { PlayedBy::bot("normal").unwrap() } else { PlayedBy::Person };
        (plan.parties[seat.index()], played_by)
    };
    let players = Seat::first(plan.roles.len()).map(player);
    seats::charter_of(&plan.rules, plan.seed.to_le_bytes(), players)
}

/// Name of a message's fate in the tally.
fn named(fate: Fate) -> &'static str {
    match fate {
        Fate::NoLink => "fault: no direct link",
        Fate::Dropped => "fault: on a dropped connection",
        Fate::Cut => "fault: lost to a partition",
        Fate::CutOneWay => "fault: lost on a one-way link",
        Fate::Repeated => "fault: repeated",
        Fate::Lost => "fault: lost",
        Fate::Delayed => "fault: delayed",
        Fate::Reordered => "fault: reordered",
    }
}

fn timing(role: &Role) -> Limits {
    Limits { absence: role.absence, turn_time: Some(TURN_TIME), bank: 0 }
}

/// A statement as a trace line.
fn describe(signed: &SignedStatement) -> String {
    let statement = signed.unverified();
    let (step, instance) = (statement.step, statement.instance);
    let value = |value: &Value| match value {
        Value::Out { seats, counted } => format!("out {seats:?} with {} entries", counted.len()),
        Value::Keep { seat, .. } => format!("keep {seat}"),
    };
    let what = match &statement.says {
        Says::Consent { out, counted } => {
            format!("consent to {out:?} with {} entries", counted.len())
        }
        Says::Veto { seat, entry } => format!("veto for {seat} {}", entry.short()),
        Says::Promise { round, accepted } => {
            let accepted = accepted.map(|accepted| accepted.round);
            format!("promise {round}, accepted {accepted:?}")
        }
        Says::Propose { round, value: of, promises } => {
            format!("proposal {round}: {}, {} promises", value(of), promises.len())
        }
        Says::Accept { round, .. } => format!("accept {round}"),
        Says::Release { reasons } => format!("release of {}", reasons.len()),
    };
    format!("{} {what} in {step}.{instance}", statement.seat)
}
