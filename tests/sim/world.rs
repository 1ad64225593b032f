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
use fairdeal_protocol::membership::{Says, SignedStatement, Value};
use fairdeal_protocol::party::PlayedBy;
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::clocks::Limits;
use fairdeal_protocol::table::fault::FaultKind;
use fairdeal_protocol::table::journal::Record;
use fairdeal_protocol::table::live::{Event, Output};
use fairdeal_protocol::table::message::Message;
use fairdeal_protocol::table::replica::News;
use fairdeal_testkit::{Fate, Letter, Network, Room, Sent, Status, TestSeat, seats, stream};

use super::cheat::Cheat;
use super::plan::{Dice, Manners, Plan, Role};
use super::spectator::Onlooker;
use super::tally::Tally;
use super::watch::Watch;

/// When every run ends, whatever happens, in milliseconds: well beyond all that is waited for.
const END: u64 = 24 * 3_600_000;
/// The time for repairs and for the rounds of a decision that every wait is given on top, in milliseconds.
const REPAIRS: u64 = 150_000;
/// The time that a present person has for an action, in milliseconds: the shortest that a table can have.
const TURN_TIME: u64 = 30_000;
/// How many lines of the trace are kept.
const TRACE: usize = 20_000;

/// The player at a place, and what has been seen there.
pub(crate) struct Chair {
    pub(crate) role: Role,
    dice: Dice,
    bot: Box<dyn Bot<AnyGame>>,
    cheat: Option<Cheat>,
    outputs: u64,
    /// The hash of every step that it has completed.
    pub(crate) steps: BTreeMap<u64, Hash32>,
    /// Steps that it had completed before all agreed to go on from an earlier one.
    pub(crate) voided: BTreeSet<(u64, Hash32)>,
    /// The seats that it has proof of two faces against.
    pub(crate) proven: SeatSet,
    /// The last step that it had a part in, if it has left.
    pub(crate) left: Option<u64>,
    /// In which step it acts, and when.
    ready: Option<(u64, u64)>,
    pub(crate) leaving: bool,
    /// When it last received something from each seat.
    heard: BTreeMap<Seat, u64>,
    /// Seat whose removal its player has proposed, and in which step.
    proposed: BTreeSet<(u64, Seat)>,
    /// Seats whose entries it has refused, and of which step.
    refused: BTreeSet<(u64, Seat)>,
    /// The seats of which it has been told that they have closed their tables.
    pub(crate) told_closed: SeatSet,
    /// How often its player may still think for long.
    thoughts: u32,
}

/// Whether the table is over for a seat, one way or the other.
pub(crate) fn is_done(place: &TestSeat<AnyGame>) -> bool {
    let here = place.table.replica().participants();
    place.table.is_finished() || place.table.stopped().is_some() || !here.contains(place.seat())
}

/// A table, and everything around it.
pub(crate) struct World {
    pub(crate) plan: Plan,
    /// The programs, with their disks.
    pub(crate) room: Room<AnyGame>,
    pub(crate) chairs: Vec<Chair>,
    pub(crate) watch: Watch,
    /// Every eighth table has a spectator.
    pub(crate) spectator: Option<Onlooker>,
    pub(crate) tally: Tally,
    net: Network,
    dice: Dice,
    pub(crate) now: u64,
    /// When an honest seat last got any further.
    progress: u64,
    /// The hash of everything that has happened.
    pub(crate) trace: Hash32,
    /// The last things that happened, in words, if they are wanted.
    lines: Option<std::collections::VecDeque<String>>,
    /// Statements that seats have sent: each is in the trace once.
    told: BTreeSet<(Seat, Hash32)>,
}

impl World {
    pub(crate) fn new(plan: Plan, traced: bool) -> Self {
        let seed = plan.seed;
        let charter = charter(&plan);
        let seats: Vec<Seat> = charter.charter().seats().iter().collect();
        let room = Room::new(charter.clone(), |seat| {
            stream(seed, 30 + u64::from(seat.number()))
        });
        let chairs = seats.iter().map(|seat| {
            let role = plan.roles[seat.index()].clone();
            let number = u64::from(seat.number());
            let cheat = role.cheat.clone();
            Chair {
                dice: Dice::new(seed, 10 + number),
                bot: match role.level {
                    Level::Easy => Box::new(Random { seldom: 16 }),
                    Level::Normal => bot(Level::Normal),
                },
                cheat: cheat.map(|habit| {
                    Cheat::new(habit, seats::key(*seat), Dice::new(seed, 20 + number))
                }),
                outputs: 0,
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
                role,
            }
        });
        let chairs = chairs.collect();
        let parties = charter.charter().parties();
        let mut net = Network::new(stream(seed, 1), parties, plan.weather);
        net.heals_at = plan.heal;
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
            trace: Hash32::default(),
            lines: traced.then(Default::default),
            told: BTreeSet::new(),
            room,
            chairs,
            plan,
        }
    }

    /// The last things that happened.
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
        let trace = Hasher::new(Label::new("sim/trace\0"))
            .hash(&self.trace)
            .number(self.now);
        self.trace = trace.bytes(what).finish();
    }

    fn seats(&self) -> impl Iterator<Item = Seat> + use<> {
        self.room.seats()
    }

    /// Whether a seat's player thinks at its turn, or has just thought.
    fn is_thinking(&self, seat: Seat) -> bool {
        let place = &self.room[seat];
        let open = place.table.replica().step();
        let ready = self.chairs[seat.index()].ready;
        ready.is_some_and(|(step, _)| step == open) && place.is_up() && !is_done(place)
    }

    fn is_honest(&self, seat: Seat) -> bool {
        self.watch.is_honest(seat)
    }

    /// Plays until everything is decided, or nothing moves any more.
    pub(crate) fn run(&mut self) {
        for (place, chair) in self.room.places.iter_mut().zip(&self.chairs) {
            place.table.set_limits(timing(&chair.role));
            place.begin();
        }
        let absence = self.plan.roles.iter().map(|role| role.absence).max();
        // A removal may need one timeout for the calm, one for the seat, and one for each further one of a group.
        let quiet = 8 * absence.unwrap_or_default() + 4 * TURN_TIME + REPAIRS;
        let mut tick = 1000;
        while self.now < END {
            self.come_back();
            self.fall();
            self.flush();
            // When a player acts that thinks, everything begins that waits for it.
            let thinking = self.seats().filter(|seat| self.is_thinking(*seat));
            let until = thinking.filter_map(|seat| self.chairs[seat.index()].ready);
            let until = until.map(|(_, at)| at);
            let since = self
                .progress
                .max(self.plan.heal)
                .max(until.max().unwrap_or(0));
            if self.is_decided() || self.now > since + quiet {
                break;
            }
            match self.net.next_arrival() {
                Some(at) if at <= tick => {
                    self.now = at;
                    self.deliver();
                }
                _ => {
                    self.now = tick;
                    tick += 1000;
                    let now = self.now;
                    let running = self.room.places.iter_mut().filter(|place| place.is_up());
                    running.for_each(|place| place.tick(now));
                    self.propose();
                }
            }
            self.act();
        }
        self.flush();
        self.tally.add("virtual seconds", self.now / 1000);
    }

    /// Seats that fall together do.
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

    /// Players whose patience with one that is there has ended propose its removal.
    fn propose(&mut self) {
        for seat in self.seats() {
            for target in self.seats() {
                let stuck = self.is_stuck(target);
                let (place, chair) = (&mut self.room[seat], &mut self.chairs[seat.index()]);
                let wants = match chair.role.manners {
                    Manners::Patient => stuck,
                    Manners::Rude => true,
                };
                if self.plan.is_bot(seat)
                    || !wants
                    || !place.is_up()
                    || !place.table.may_propose_removal(target)
                {
                    continue;
                }
                let step = place.table.replica().step();
                chair.proposed.insert((step, target));
                place.table.propose_removal(target).unwrap();
                self.tally
                    .add("proposals to remove a seat that is there", 1);
                self.say(|| format!("{seat} proposes to remove {target} from step {step}"));
            }
        }
    }

    /// Whether a seat that is there will never go on: it cheats, has lost what it needs, or its table has stopped.
    fn is_stuck(&self, seat: Seat) -> bool {
        let chair = &self.chairs[seat.index()];
        chair.cheat.is_some() || chair.role.old_disk || self.room[seat].table.stopped().is_some()
    }

    /// Whether nobody honest that is here or will be has anything to wait for.
    fn is_decided(&self) -> bool {
        let mut waiting = self.seats().filter(|seat| self.is_honest(*seat));
        waiting.all(|seat| {
            let place = &self.room[seat];
            place.status == Status::Gone || (place.is_up() && is_done(place))
        })
    }

    fn deliver(&mut self) {
        let Some(Letter { from, to, bytes }) = self.net.take() else {
            return;
        };
        let now = self.now;
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

    /// Seats whose time has come start again from their disks.
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
            if let Err(error) = self.room.restart(seat) {
                self.watch.fail(8, format!("{seat} cannot return: {error}"));
                self.room[seat].status = Status::Gone;
                continue;
            }
            let place = &mut self.room[seat];
            place.table.set_limits(timing(&chair.role));
            if chair.leaving {
                // Its player wants to go still; refused only at a table that has ended.
                let _ = place.leave();
            }
            place.begin();
            let step = place.table.replica().step();
            if self.is_honest(seat) {
                self.progress = now;
            }
            self.say(|| format!("{seat} returns at step {step}"));
        }
    }

    /// A seat's program dies, with all of its seats.
    fn crash(&mut self, seat: Seat, status: Status) {
        for seat in self.plan.program_of(seat).iter() {
            if self.room[seat].is_up() {
                self.die(seat, status);
            }
        }
    }

    /// A seat dies with all that it has not said.
    fn die(&mut self, seat: Seat, status: Status) {
        let honest = self.is_honest(seat);
        self.chairs[seat.index()].ready = None;
        // Only now does everything begin that ends the wait for it.
        self.progress = self.now;
        for output in self.room[seat].crash(status) {
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

    /// Does what the programs ask for.
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
                    // The output is lost with it.
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
            // Nobody outside sees what is not on the seat's disk yet.
            let place = &self.room[seat];
            let mut spectator = self.spectator.iter_mut().filter(|o| o.seat == seat);
            if let Some(spectator) = spectator.next().filter(|_| stepped && place.is_up()) {
                spectator.look(&place.table);
            }
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
        if self.is_honest(seat) {
            self.watch.sent(seat, &sent.message);
        }
        let bytes = sent.message.to_bytes();
        for to in self.seats().filter(|to| sent.is_for(*to)) {
            self.send(to, &sent, &bytes);
        }
    }

    /// A record is about to be on a seat's disk.
    fn keeps(&mut self, seat: Seat, record: &Record) {
        let honest = self.is_honest(seat);
        if let (Record::Statement(signed), true) = (record, honest) {
            self.is_absent_or_proposed(seat, signed);
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

    /// Invariant 14: a seat consents only to the removal of those that it has not heard for its absence timeout, that
    /// its player has proposed, that have closed their tables, or whose entry cannot count: its digest is wrong, or its
    /// own consent forbids it.
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
            let proposed = chair.proposed.contains(&(statement.step, target))
                || (bot && self.is_proposed(statement.step, target));
            // Of honest seats no entry is forbidden by a consent, unless their disks have lost it.
            let forgets = self.chairs[target.index()].role.old_disk;
            let honest = !self.watch.may_be_blamed(target) && !forgets;
            let open = !chair.told_closed.contains(target);
            let refused = chair.refused.contains(&(statement.step, target));
            recent && !proposed && honest && open && !refused
        };
        // A party goes as one. What is kept here may have been followed by its own removal.
        let live = self.room[seat].table.replica().live();
        let whole = |target: &Seat| {
            let mut program = self.plan.program_of(*target).iter();
            program.all(|seat| !live.contains(seat) || present(seat))
        };
        let there: SeatSet = out
            .iter()
            .filter(|seat| present(*seat) && whole(seat))
            .collect();
        if !there.is_empty() {
            let what = format!("{seat} hears {there:?}, and nobody proposed what it signs: ");
            self.watch.fail(14, what + &describe(signed));
        }
    }

    /// Whether a person has consented to the removal of a seat that may be there.
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
                    // All have agreed to go on from here, or have not been here before.
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

    /// The players look at their tables.
    fn act(&mut self) {
        for seat in self.seats() {
            let now = self.now;
            let (place, chair) = (&mut self.room[seat], &mut self.chairs[seat.index()]);
            if !place.is_up() || is_done(place) {
                continue;
            }
            let step = place.table.replica().step();
            let enough = step > self.plan.enough + 3 * u64::from(seat.number());
            let goes = chair.role.leaves_at.is_some_and(|at| step >= at) || enough;
            if goes && !chair.leaving && place.leave().is_ok() {
                chair.leaving = true;
                self.tally.add("fault: leaver", u64::from(!enough));
            }
            if chair.role.claims && place.table.claim().is_ok() {
                self.tally.add("claims", 1);
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
            let chosen = chair.bot.choose(game, seat, known, &mut chair.dice.0);
            let chosen = chosen.filter(|action| due || game.out_of_turn(action));
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
            // Refused only where a wish out of turn was made before.
            let _ = place.act(action);
            self.tally.add("actions", 1);
        }
    }
}

/// The charter of a plan; its lobby is the seed.
fn charter(plan: &Plan) -> SignedCharter {
    let player = |seat: Seat| {
        let played_by = if plan.is_bot(seat) {
            PlayedBy::bot("normal").unwrap()
        } else {
            PlayedBy::Person
        };
        (plan.parties[seat.index()], played_by)
    };
    let players = Seat::first(plan.roles.len()).map(player);
    seats::charter_of(&plan.rules, plan.seed.to_le_bytes(), players)
}

/// The mishap of a message, as the tally calls it.
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
    Limits {
        absence: role.absence,
        turn_time: Some(TURN_TIME),
    }
}

/// A statement in the trace.
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
        Says::Propose {
            round,
            value: of,
            promises,
        } => format!(
            "proposal {round}: {}, {} promises",
            value(of),
            promises.len()
        ),
        Says::Accept { round, .. } => format!("accept {round}"),
        Says::Release { reasons } => format!("release of {}", reasons.len()),
    };
    format!("{} {what} in {step}.{instance}", statement.seat)
}
