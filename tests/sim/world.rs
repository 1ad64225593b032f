//! A whole table in virtual time: programs, disks, players, and the network between them.

use std::collections::{BTreeMap, BTreeSet};

use fairdeal::bots::{Bot, Level, Random, bot};
use fairdeal::games::AnyGame;
use fairdeal_protocol::audit::auditor::audit;
use fairdeal_protocol::charter::{Charter, Player, SignedCharter};
use fairdeal_protocol::domain::Label;
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::hash::{Hash32, Hasher};
use fairdeal_protocol::membership::{Says, SignedStatement, Value};
use fairdeal_protocol::party::PlayedBy;
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::clocks::Limits;
use fairdeal_protocol::table::fault::FaultKind;
use fairdeal_protocol::table::journal::Record;
use fairdeal_protocol::table::live::{Event, Output, Stop, Table, To};
use fairdeal_protocol::table::message::Message;
use fairdeal_protocol::table::replica::News;

use super::cheat::Cheat;
use super::forge::seat_key;
use super::network::{Letter, Network};
use super::onlooker::Onlooker;
use super::plan::{Dice, Manners, Plan, Role};
use super::tally::Tally;
use super::watch::Watch;

/// When every run ends, whatever happens, in milliseconds: well beyond all that is waited for.
const END: u64 = 24 * 3_600_000;
/// The time for repairs and for the rounds of a decision that every wait is given on top, in milliseconds.
const REPAIRS: u64 = 150_000;
/// The time that a person who is there has for an action, in milliseconds: the shortest that a table can have.
const TURN_TIME: u64 = 30_000;
/// How many lines of the trace are kept.
const TRACE: usize = 20_000;

/// One place at the table: the program that runs there, its disk, and its player.
pub(crate) struct Chair {
    pub(crate) table: Table<AnyGame>,
    /// The records of its journal.
    pub(crate) disk: Vec<Vec<u8>>,
    pub(crate) role: Role,
    dice: Dice,
    bot: Box<dyn Bot<AnyGame>>,
    cheat: Option<Cheat>,
    /// When it comes back from a crash; `u64::MAX` for never.
    pub(crate) down: Option<u64>,
    pub(crate) crashes: u64,
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
    /// Whose removal its player has proposed, and in which step.
    proposed: BTreeSet<(u64, Seat)>,
    /// Whose entries it has refused, and of which step.
    refused: BTreeSet<(u64, Seat)>,
    /// The seats of which it has been told that they have closed their tables.
    pub(crate) told_closed: SeatSet,
    /// How often its player may still think for long.
    thoughts: u32,
}

impl Chair {
    /// Whether it runs.
    pub(crate) fn is_up(&self) -> bool {
        self.down.is_none()
    }

    /// Whether it never comes back.
    pub(crate) fn is_gone(&self) -> bool {
        self.down == Some(u64::MAX)
    }

    /// Whether its player thinks at its turn, or has just thought.
    fn is_thinking(&self) -> bool {
        let open = self.table.replica().step();
        let thinks = self.ready.is_some_and(|(step, _)| step == open);
        thinks && self.is_up() && !self.is_done()
    }

    /// Whether the table is over for it, one way or the other.
    pub(crate) fn is_done(&self) -> bool {
        let here = self.table.replica().participants();
        self.table.is_finished()
            || self.table.stopped().is_some()
            || !here.contains(self.table.me())
    }
}

/// A table, and everything around it.
pub(crate) struct World {
    pub(crate) plan: Plan,
    pub(crate) charter: SignedCharter,
    pub(crate) chairs: Vec<Chair>,
    pub(crate) watch: Watch,
    /// At every eighth table somebody looks on.
    pub(crate) onlooker: Option<Onlooker>,
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
    /// What seats have sent of statements: each is in the trace once.
    told: BTreeSet<(Seat, Hash32)>,
}

impl World {
    pub(crate) fn new(plan: Plan, traced: bool) -> Self {
        let seed = plan.seed;
        let seats: Vec<Seat> = Seat::first(plan.roles.len()).collect();
        let player = |seat: &Seat| Player {
            name: format!("player {}", seat.number()).try_into().unwrap(),
            key: (&seat_key(*seat)).into(),
            nonce: [seat.number(); 32],
            party: plan.parties[seat.index()],
            played_by: if plan.is_bot(*seat) {
                PlayedBy::bot("normal").unwrap()
            } else {
                PlayedBy::Person
            },
        };
        let players = seats.iter().map(player).collect();
        let mut nonce = [7; 8];
        nonce.copy_from_slice(&seed.to_le_bytes());
        let charter = Charter::new(nonce, &plan.rules, players).unwrap();
        let signatures = seats.iter().map(|seat| charter.sign(&seat_key(*seat)));
        let signatures = signatures.collect();
        let charter = SignedCharter::assemble(charter, signatures).unwrap();
        let chairs = seats.iter().map(|seat| {
            let role = plan.roles[seat.index()].clone();
            let number = u64::from(seat.number());
            let cheat = role.cheat.clone();
            Chair {
                table: Table::new(charter.clone(), *seat, seat_key(*seat)).unwrap(),
                disk: Vec::new(),
                dice: Dice::new(seed, 10 + number),
                bot: match role.level {
                    Level::Easy => Box::new(Random { seldom: 16 }),
                    Level::Normal => bot(Level::Normal),
                },
                cheat: cheat
                    .map(|habit| Cheat::new(habit, seat_key(*seat), Dice::new(seed, 20 + number))),
                down: None,
                crashes: 0,
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
        let net = Network::new(Dice::new(seed, 1), &plan);
        Self {
            watch: Watch::new(charter.clone(), plan.cheats(), plan.forgetful()),
            onlooker: (seed % 8 == 5).then(|| {
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
            charter,
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
        Seat::first(self.chairs.len())
    }

    fn is_honest(&self, seat: Seat) -> bool {
        self.chairs[seat.index()].cheat.is_none()
    }

    /// Plays until everything is decided, or nothing moves any more.
    pub(crate) fn run(&mut self) {
        for chair in &mut self.chairs {
            chair.table.set_limits(timing(&chair.role));
            chair.table.begin(&mut chair.dice.0);
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
            let thinking = self.chairs.iter().filter(|chair| chair.is_thinking());
            let until = thinking.filter_map(|chair| chair.ready).map(|(_, at)| at);
            let since = self
                .progress
                .max(self.plan.heal)
                .max(until.max().unwrap_or(0));
            if self.is_decided() || self.now > since + quiet {
                break;
            }
            match self.net.next() {
                Some(at) if at <= tick => {
                    self.now = at;
                    self.deliver();
                }
                _ => {
                    self.now = tick;
                    tick += 1000;
                    let now = self.now;
                    for chair in self.chairs.iter_mut().filter(|chair| chair.is_up()) {
                        chair.table.tick(now, &mut chair.dice.0);
                    }
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
            if self.chairs[seat.index()].is_up() {
                self.tally.add("fault: falls with others", 1);
                self.crash(seat, fall.back.map_or(u64::MAX, |rest| now + rest));
            }
        }
    }

    /// Players whose patience with one that is there has ended propose its removal.
    fn propose(&mut self) {
        for seat in self.seats() {
            for target in self.seats() {
                let stuck = self.is_stuck(target);
                let chair = &mut self.chairs[seat.index()];
                let wants = match chair.role.manners {
                    Manners::Patient => stuck,
                    Manners::Rude => true,
                };
                if self.plan.is_bot(seat)
                    || !wants
                    || !chair.is_up()
                    || !chair.table.may_propose_removal(target)
                {
                    continue;
                }
                let step = chair.table.replica().step();
                chair.proposed.insert((step, target));
                chair.table.propose_removal(target).unwrap();
                self.tally
                    .add("proposals to remove a seat that is there", 1);
                self.say(|| format!("{seat} proposes to remove {target} from step {step}"));
            }
        }
    }

    /// Whether a seat that is there will never go on: it cheats, has lost what it needs, or its table has stopped.
    fn is_stuck(&self, seat: Seat) -> bool {
        let chair = &self.chairs[seat.index()];
        chair.cheat.is_some() || chair.role.old_disk || chair.table.stopped().is_some()
    }

    /// Whether nobody honest that is here or will be has anything to wait for.
    fn is_decided(&self) -> bool {
        let mut waiting = self.seats().filter(|seat| self.is_honest(*seat));
        waiting.all(|seat| {
            let chair = &self.chairs[seat.index()];
            chair.is_gone() || (chair.is_up() && chair.is_done())
        })
    }

    fn deliver(&mut self) {
        let Some(Letter { from, to, bytes }) = self.net.take() else {
            return;
        };
        let now = self.now;
        let chair = &mut self.chairs[to.index()];
        if !chair.is_up() {
            self.tally.add("fault: sent to a seat that is down", 1);
            return;
        }
        if let Some(cheat) = &mut chair.cheat {
            cheat.hear(&chair.table, &bytes);
        }
        let taken = chair.table.receive(from, &bytes, &mut chair.dice.0);
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

    /// Those whose time has come start again from their disks.
    fn come_back(&mut self) {
        for seat in self.seats() {
            let now = self.now;
            let chair = &mut self.chairs[seat.index()];
            if chair.down.is_none_or(|until| until > now) {
                continue;
            }
            chair.down = None;
            if chair.role.old_disk {
                let lost = chair.dice.below(6) as usize;
                let kept = chair.disk.len().saturating_sub(lost);
                chair.disk.truncate(kept);
                self.tally.add("fault: old disk", 1);
            }
            let records = chair
                .disk
                .iter()
                .map(|bytes| Record::from_bytes(bytes).unwrap());
            let key = seat_key(seat);
            let table = Table::restore(self.charter.clone(), seat, key, records, &mut chair.dice.0);
            match table {
                Ok(table) => chair.table = table,
                Err(error) => {
                    self.watch.fail(8, format!("{seat} cannot return: {error}"));
                    chair.down = Some(u64::MAX);
                    continue;
                }
            }
            chair.table.set_limits(timing(&chair.role));
            if chair.leaving {
                // Its player wants to go still; refused only at a table that has ended.
                let _ = chair.table.leave(&mut chair.dice.0);
            }
            chair.table.begin(&mut chair.dice.0);
            let step = chair.table.replica().step();
            if self.is_honest(seat) {
                self.progress = now;
            }
            self.say(|| format!("{seat} returns at step {step}"));
        }
    }

    /// A seat's program dies, with all of its seats.
    fn crash(&mut self, seat: Seat, until: u64) {
        for seat in self.plan.program_of(seat).iter() {
            if self.chairs[seat.index()].is_up() {
                self.die(seat, until);
            }
        }
    }

    /// A seat dies with all that it has not said.
    fn die(&mut self, seat: Seat, until: u64) {
        let honest = self.is_honest(seat);
        let chair = &mut self.chairs[seat.index()];
        chair.crashes += 1;
        chair.down = Some(until);
        chair.ready = None;
        while let Some(output) = chair.table.poll() {
            if let (Output::Keep(Record::Entry(signed)), true) = (output, honest) {
                self.watch.made(&signed);
            }
        }
        let what = if until == u64::MAX {
            "fault: gone for good"
        } else {
            "fault: crash"
        };
        self.tally.add(what, 1);
        self.say(|| format!("{seat} {what}"));
    }

    /// Does what the programs ask for.
    fn flush(&mut self) {
        for seat in self.seats() {
            let mut stepped = false;
            while self.chairs[seat.index()].is_up() {
                let chair = &mut self.chairs[seat.index()];
                let Some(output) = chair.table.poll() else {
                    break;
                };
                // What passes on is a matter of speed: heads have to do here.
                if matches!(output, Output::Pass(..)) {
                    continue;
                }
                chair.outputs += 1;
                if chair.role.gone_at.is_some_and(|at| chair.outputs >= at) {
                    // The output is lost with it.
                    self.crash(seat, u64::MAX);
                    break;
                }
                let crashes = chair.role.crashes;
                if self.now < self.plan.heal && crashes > 0 && self.dice.chance(crashes) {
                    let rest = u64::from(self.dice.below(6_000));
                    self.crash(seat, self.now + rest);
                    break;
                }
                stepped |= matches!(output, Output::Event(Event::Step(..)));
                self.carry_out(seat, output);
            }
            // Nobody outside sees what is not on the seat's disk yet.
            let chair = &self.chairs[seat.index()];
            let mut onlooker = self.onlooker.iter_mut().filter(|o| o.seat == seat);
            if let Some(onlooker) = onlooker.next().filter(|_| stepped && chair.is_up()) {
                onlooker.look(&chair.table);
            }
        }
    }

    fn carry_out(&mut self, seat: Seat, output: Output<AnyGame>) {
        let honest = self.is_honest(seat);
        match output {
            Output::Keep(record) => {
                if let (Record::Statement(signed), true) = (&record, honest) {
                    self.is_absent_or_proposed(seat, signed);
                }
                let chair = &mut self.chairs[seat.index()];
                if let Record::Refused(signed) = &record
                    && let Some(entry) = self.watch.verified(signed)
                {
                    chair.refused.insert((entry.step(), entry.seat()));
                }
                if honest {
                    let here = chair.table.replica().participants();
                    self.watch.keeps(seat, &record, &chair.disk, here);
                }
                if let (Record::Seed { seed, .. }, Some(cheat)) = (&record, &mut chair.cheat) {
                    cheat.learn_seed(seed.clone());
                }
                chair.disk.push(record.to_bytes().to_vec());
            }
            Output::Event(event) => self.note(seat, &event),
            Output::Pass(..) => {}
            Output::Send(to, message) => {
                if let (Message::Statements(statements), Some(_)) = (&message, &self.lines) {
                    for signed in statements.iter() {
                        if self.told.insert((seat, signed.unverified().hash())) {
                            self.say(|| format!("{seat} sends {}", describe(signed)));
                        }
                    }
                }
                if honest {
                    self.watch.sent(seat, &message);
                }
                let others = self.seats().filter(|other| *other != seat);
                let targets: Vec<Seat> = match to {
                    To::All => others.collect(),
                    To::One(one) => vec![one],
                };
                for to in targets {
                    self.send(seat, to, &message);
                }
            }
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
            // Of honest seats no entry is forbidden by a consent.
            let honest = !self.watch.may_be_blamed(target);
            let stopped = self.chairs[target.index()].table.stopped();
            let open = !matches!(stopped, Some(Stop::Claimed(_) | Stop::Unopened(_)));
            let refused = chair.refused.contains(&(statement.step, target));
            recent && !proposed && honest && open && !refused
        };
        // A party goes as one.
        let live = chair.table.replica().live();
        let whole = |target: &Seat| {
            let mut program = self.plan.program_of(*target).iter();
            program.all(|seat| !live.contains(seat) || present(seat))
        };
        let there: SeatSet = out.iter().filter(whole).collect();
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

    fn send(&mut self, from: Seat, to: Seat, message: &Message) {
        let chair = &mut self.chairs[from.index()];
        let sent = match &mut chair.cheat {
            None => vec![message.to_bytes()],
            Some(cheat) => cheat.send(&chair.table, to, message.clone(), &mut self.tally),
        };
        for bytes in sent {
            if !self.is_honest(from) {
                self.watch.forged(&bytes);
            }
            let letter = Letter { from, to, bytes };
            self.net.post(self.now, &letter, &mut self.tally);
        }
    }

    fn note(&mut self, seat: Seat, event: &Event<AnyGame>) {
        let honest = self.is_honest(seat);
        let chair = &mut self.chairs[seat.index()];
        match event {
            Event::Step(step, hash) => {
                let known = chair.steps.get(step).copied();
                let replayed = chair.voided.contains(&(*step, *hash));
                if known != Some(*hash) && !replayed {
                    // All have agreed to go on from here, or have not been here before.
                    let undone = chair.steps.split_off(step);
                    chair.voided.extend(undone);
                    chair.steps.insert(*step, *hash);
                    let halted = !chair.table.transcript().halted().is_empty();
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
                let kind = self.chairs[seat.index()].table.replica().kind();
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
            let chair = &mut self.chairs[seat.index()];
            if !chair.is_up() || chair.is_done() {
                continue;
            }
            let step = chair.table.replica().step();
            let enough = step > self.plan.enough + 3 * u64::from(seat.number());
            let goes = chair.role.leaves_at.is_some_and(|at| step >= at) || enough;
            if goes && !chair.leaving && chair.table.leave(&mut chair.dice.0).is_ok() {
                chair.leaving = true;
                self.tally.add("fault: leaver", u64::from(!enough));
            }
            if chair.role.claims && chair.table.claim().is_ok() {
                self.tally.add("claims", 1);
                continue;
            }
            let turn = chair.table.is_my_turn();
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
            let game = chair.table.game();
            let known = chair.table.known();
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
            let _ = chair.table.act(action, &mut chair.dice.0);
            self.tally.add("actions", 1);
        }
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
