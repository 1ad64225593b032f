//! Whole programs from a ticket to the transcript, each evening drawn from one seed: lobbies, passwords, chat,
//! spectators, crashes and returns, full disks, cut links, players who leave.
//!
//! Everybody is honest here; cheats sit at the tables of the simulator of single tables. The invariants:
//!
//! 1. No entry leaves before it is stored, and no seat signs two for one place, whatever it crashed over.
//! 2. A seat that somebody was promised is held to the end of the table; whoever gets none is told an error. Who comes
//!    back when all others are done with the table is told so, and the game stays saved.
//! 3. All who play or watch to the end have the same log, and every saved log is fair; while no seat is removed and nobody
//!    closes the table with a claim, each is a prefix of the longest.
//! 4. Nobody is blamed, no evidence is written, and nobody who is blocked or has a wrong password sees anything.
//! 5. Every evening ends, and no program whose game is over keeps a journal to resume.
//! 6. No chat message is shown twice to anybody.
//! 7. No action is told after a view of a later step.
//! 8. Some deal fits every position that a bot is asked about.
//! 9. Nothing is told of a fault or a removal after the end, and no game that has begun is lost.

// It runs in tests only, which fail by panicking; people and their lists are few.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::cast_possible_truncation)]

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::house::House;
use crate::events::{Command, SessionEvent};
use crate::people::{Book, Change};
use crate::setup::{Attended, Hands, Pilot, Role};
use crate::view::{LobbyView, PeerState, Snapshot, Standing};
use fairdeal_games::bots::Level;
use fairdeal_games::{AnyGame, bot, rule_set};
use fairdeal_peers::ticket::JoinTarget;
use fairdeal_protocol::audit::auditor::audit;
use fairdeal_protocol::crypto::pake::Password;
use fairdeal_protocol::game::{Game as _, RuleSet};
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::seat::Seat;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng as _, SeedableRng as _};

/// How often the evening looks at its programs, in milliseconds.
const STEP: u64 = 50;
/// No evening is longer, in milliseconds of its own time.
const LIMIT: u64 = 4 * 3_600_000;
/// Deeds happen within this time, in milliseconds.
const BUSY: u64 = 40_000;

/// Something that is done to a program.
#[derive(Clone, Debug)]
enum Deed {
    /// It crashes, now or after so many more outputs, and comes back after a while.
    Crash {
        after: Option<u32>,
        back: u64,
    },
    /// Its player closes it, and comes back after a while.
    Quit {
        back: u64,
    },
    /// Its disk is full for a while.
    Full {
        long: u64,
    },
    /// It cannot reach another program for a while.
    Cut {
        other: usize,
        long: u64,
    },
    Say,
    Leave,
}

/// A program's part in the evening.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Host,
    Guest,
    Watcher,
}

/// A program's player, and what is known of its evening.
struct Someone {
    part: Part,
    hands: Hands,
    /// Whether it knows the password.
    knows: bool,
    /// Whether the host has blocked it.
    blocked: bool,
    /// When it starts, or comes back.
    starts: Option<u64>,
    /// Whether it has a seat at a table that has begun.
    seated: bool,
    /// Whether it has seen a lobby or a table.
    got_in: bool,
    me: Option<Seat>,
    /// How its table has ended for it, in a word.
    end: Option<&'static str>,
    log: Option<Hash32>,
    /// Why it was told that it cannot go on.
    error: Option<String>,
    left: bool,
    acts: Option<u64>,
    view: Option<Box<Snapshot>>,
    quits: Option<u64>,
    /// How often it has tried again.
    tries: u32,
    /// How long it is away once it has crashed.
    crashes: Option<u64>,
}

/// So often somebody tries again before giving up.
const MAX_TRIES: u32 = 12;

/// An evening of whole programs.
pub struct Evening {
    seed: u64,
    house: House,
    people: Vec<Someone>,
    deeds: Vec<(u64, usize, Deed)>,
    /// All deeds, as they were drawn.
    drawn: Vec<(u64, usize, Deed)>,
    /// Deeds to undo later.
    undo: Vec<(u64, Deed, usize)>,
    rules: RuleSet,
    password: Option<String>,
    ticket: Option<JoinTarget>,
    dice: ChaCha20Rng,
    said: u64,
    /// How often each thing has happened, and the greatest values.
    pub counts: BTreeMap<&'static str, u64>,
    pub most: BTreeMap<&'static str, u64>,
    /// The invariants that were broken.
    pub failures: Vec<String>,
}

fn rules(dice: &mut ChaCha20Rng, seats: u8) -> RuleSet {
    // Targets that end most games after one hand.
    let (game, target) = match dice.next_u32() % 4 {
        0 | 1 => ("loot", Some("20")),
        2 => ("houses-of-thoth", Some("10")),
        _ => ("plutonian-poker", None),
    };
    let absence = ["20", "40", "120"][dice.next_u32() as usize % 3];
    let target = target.map(|target| ("target".to_owned(), target.to_owned()));
    let options = target.into_iter().chain([("absence".to_owned(), absence.to_owned())]).collect();
    rule_set(game, seats, &options).unwrap()
}

fn below(dice: &mut ChaCha20Rng, end: u64) -> u64 {
    u64::from(dice.next_u32()) % end.max(1)
}

impl Evening {
    /// Draws the evening of a seed.
    pub fn new(seed: u64) -> Self {
        let mut dice = ChaCha20Rng::seed_from_u64(seed ^ 0x5eed);
        let mut house = House::new(seed);
        house.trip = [1, 20, 60, 150, 300][dice.next_u32() as usize % 5];
        house.sync = [0, 2, 10, 100][dice.next_u32() as usize % 4];
        let seats = 2 + u8::try_from(below(&mut dice, 3)).unwrap();
        let rules = rules(&mut dice, seats);
        let password = (below(&mut dice, 3) == 0).then(|| "sésame".to_owned());
        let mut people = Vec::new();
        let hands = |dice: &mut ChaCha20Rng| match below(dice, 3) {
            0 => Hands::Person { ready: false },
            level => Hands::Bot(Pilot {
                level: if level == 1 { Level::Normal } else { Level::Sharp },
                delay: Duration::from_millis(below(dice, 200)),
            }),
        };
        let role = |part: Part, hands: Hands, starts: u64| Someone {
            part,
            hands,
            knows: true,
            blocked: false,
            starts: Some(starts),
            seated: false,
            got_in: false,
            me: None,
            end: None,
            log: None,
            error: None,
            left: false,
            acts: None,
            view: None,
            quits: None,
            tries: 0,
            crashes: None,
        };
        people.push(role(Part::Host, hands(&mut dice), 1_000));
        for _ in 1..seats {
            let starts = 2_000 + below(&mut dice, 3_000);
            people.push(role(Part::Guest, hands(&mut dice), starts));
        }
        for _ in 0..below(&mut dice, 3) {
            let starts = 2_000 + below(&mut dice, 30_000);
            people.push(role(Part::Watcher, Hands::Person { ready: true }, starts));
        }
        if below(&mut dice, 4) == 0 {
            let part = if below(&mut dice, 2) == 0 { Part::Guest } else { Part::Watcher };
            let starts = 1_500 + below(&mut dice, 20_000);
            let stranger = role(part, Hands::Bot(Pilot { level: Level::Normal, delay: Duration::ZERO }), starts);
            let (blocked, knows) =
                if password.is_some() && below(&mut dice, 2) == 0 { (false, false) } else { (true, true) };
            people.push(Someone { blocked, knows, ..stranger });
        }
        for number in 0..people.len() {
            house.add(&format!("Player {number}"));
        }
        let count = people.len();
        let mut deeds = Vec::new();
        for _ in 0..below(&mut dice, 14) {
            let (at, who) = (3_000 + below(&mut dice, BUSY), below(&mut dice, count as u64) as usize);
            let long = 500 + below(&mut dice, 30_000);
            let deed = match below(&mut dice, 8) {
                0 | 1 => {
                    let after = (below(&mut dice, 2) == 0).then(|| below(&mut dice, 60) as u32);
                    Deed::Crash { after, back: long }
                }
                2 => Deed::Quit { back: long },
                3 => Deed::Full { long },
                4 => Deed::Cut { other: below(&mut dice, count as u64) as usize, long },
                5 if below(&mut dice, 4) == 0 => Deed::Leave,
                _ => Deed::Say,
            };
            deeds.push((at, who, deed));
        }
        deeds.sort_by_key(|(at, who, _)| (*at, *who));
        Self {
            seed,
            house,
            people,
            drawn: deeds.clone(),
            deeds,
            undo: Vec::new(),
            rules,
            password,
            ticket: None,
            dice,
            said: 0,
            counts: BTreeMap::new(),
            most: BTreeMap::new(),
            failures: Vec::new(),
        }
    }

    /// The hash of all messages, journals and transcripts.
    pub fn digest(&self) -> [u8; 32] {
        self.house.digest()
    }

    /// The evening in words: what was drawn, and what everybody was told.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!("trip {}, sync {}, {:?}", self.house.trip, self.house.sync, self.rules)];
        lines.extend(self.drawn.iter().map(|(at, who, deed)| format!("{at:>8} {who} {deed:?}")));
        for (number, program) in self.house.programs.iter().enumerate() {
            let someone = &self.people[number];
            lines.push(format!("{number} {} {:?} {:?}", someone.part.word(), someone.hands, someone.end));
            for (at, event) in &program.told {
                let quiet = matches!(
                    event,
                    SessionEvent::Snapshot(_)
                        | SessionEvent::Game(_)
                        | SessionEvent::Action { .. }
                        | SessionEvent::RoundTrip { .. }
                        | SessionEvent::Lobby(_)
                        | SessionEvent::Seal { .. }
                        | SessionEvent::Reaching { .. }
                );
                if !quiet {
                    lines.push(format!("{at:>8} {}", short(event)));
                }
            }
        }
        lines
    }

    fn counts(&mut self, what: &'static str, count: u64) {
        *self.counts.entry(what).or_default() += count;
    }

    fn fails(&mut self, why: &str) {
        self.failures.push(format!("at {}: {why}", self.house.up()));
    }

    /// Plays until everybody has gone home.
    pub fn run(&mut self) {
        while self.house.up() < LIMIT {
            self.house.run(self.house.up() + STEP);
            let now = self.house.up();
            for number in 0..self.people.len() {
                self.look(number);
                self.serve(number, now);
            }
            while let Some((_, who, deed)) = self.deeds.first().filter(|(at, ..)| *at <= now).cloned() {
                self.deeds.remove(0);
                self.does(who, deed, now);
            }
            let (due, later) = std::mem::take(&mut self.undo).into_iter().partition(|(at, ..)| *at <= now);
            self.undo = later;
            for (_, deed, who) in due {
                match deed {
                    Deed::Full { .. } => self.house.programs[who].disk.is_full = false,
                    Deed::Cut { other, .. } => self.house.set_cut([who, other], false),
                    _ => {}
                }
            }
            let idle = (0..self.people.len()).all(|n| !self.house.is_running(n) && self.people[n].starts.is_none());
            if idle {
                break;
            }
        }
        self.check();
    }

    /// Starts a program again when it is time, acts for its person, and closes it at the end.
    fn serve(&mut self, number: usize, now: u64) {
        if self.people[number].starts.is_some_and(|at| at <= now) {
            self.start(number);
        }
        if self.people[number].quits.is_some_and(|at| at <= now) {
            self.people[number].quits = None;
            self.house.command(number, Command::Quit);
        }
        let role = &mut self.people[number];
        if role.acts.take_if(|at| *at <= now).is_some()
            && let Some(view) = role.view.take()
            && let Some(me) = view.me
        {
            let action = bot(Level::Normal).choose(&view.game, me, &view.known, &mut self.dice);
            if let Some(action) = action {
                self.house.command(number, Command::Act(action));
            }
        }
    }

    fn start(&mut self, number: usize) {
        let role = &self.people[number];
        let attended = if role.hands == (Hands::Person { ready: false }) { Attended::Person } else { Attended::Nobody };
        if role.part != Part::Watcher && self.house.saved(number).is_some() {
            self.people[number].starts = None;
            self.counts("resumed", 1);
            let resumed = self.house.resume(number, self.people[number].hands, attended);
            if let Err(error) = resumed {
                self.fails(&format!("{number} cannot resume: {error}"));
            }
            return;
        }
        if role.seated {
            // It crashed once its game was saved, before it said so: the player finds the game in the history.
            let saved = self.house.programs[number].disk.transcripts.values().next();
            let log = saved.map(|(transcript, _)| transcript.log_hash());
            let role = &mut self.people[number];
            (role.starts, role.log) = (None, log);
            return match log {
                Some(_) => role.end = Some("over"),
                None => self.fails(&format!("{number} has lost its game")),
            };
        }
        let word = if role.knows { self.password.clone() } else { Some("wrong".to_owned()) };
        let password = word.map(|word| Password::new(word).unwrap());
        let hands = role.hands;
        let program = [u8::try_from(number).unwrap() + 1; 16].into();
        let setup = match (&role.part, self.ticket.clone()) {
            (Part::Host, _) => {
                // A host whose lobby is gone opens another one; the others' tickets lead nowhere now.
                Role::Host { rules: self.rules.clone(), hands, program, password }
            }
            (_, None) => return,
            (Part::Guest, Some(target)) => Role::Guest { target, hands, program, password },
            (Part::Watcher, Some(target)) => Role::Watcher { target, password },
        };
        let mut book = Book::default();
        if role.part == Part::Host {
            for (other, role) in self.people.iter().enumerate().filter(|(_, role)| role.blocked) {
                let _ = book.change(self.house.peer(other).unwrap(), Some(role.part.word()), &Change::Blocked(true));
            }
        }
        let attended = if role.part == Part::Watcher { Attended::Nobody } else { attended };
        self.people[number].starts = None;
        if let Err(error) = self.house.start(number, setup, attended, book) {
            self.fails(&format!("{number} cannot start: {error}"));
        }
    }

    fn does(&mut self, who: usize, deed: Deed, now: u64) {
        if !self.house.is_running(who) && !matches!(deed, Deed::Full { .. } | Deed::Cut { .. }) {
            return;
        }
        // A lobby that closes takes its ticket with it; here only tables that have begun are left and found again.
        let in_lobby = self.people[who].part == Part::Host && !self.people[who].seated;
        match deed {
            Deed::Crash { after: Some(outputs), back } if !in_lobby => {
                self.counts("crashes between two outputs", 1);
                self.house.programs[who].fuse = Some(outputs);
                self.people[who].crashes = Some(back);
            }
            Deed::Crash { after: None, back } if !in_lobby => {
                self.counts("crashes", 1);
                self.house.stop(who);
                self.goes_home(who, now + back);
            }
            Deed::Quit { back } if !in_lobby && self.people[who].part != Part::Watcher => {
                self.counts("pauses", 1);
                self.house.command(who, Command::Quit);
                self.goes_home(who, now + back);
            }
            Deed::Full { long } => {
                self.counts("full disks", 1);
                self.house.programs[who].disk.is_full = true;
                self.undo.push((now + long, deed, who));
            }
            Deed::Cut { other, long } if other != who => {
                self.counts("cuts", 1);
                self.house.set_cut([who, other], true);
                self.undo.push((now + long, deed, who));
            }
            Deed::Say => {
                self.said += 1;
                self.house.command(who, Command::Say(format!("word {}", self.said)));
            }
            Deed::Leave if self.people[who].seated => {
                self.people[who].left = true;
                self.counts("left", 1);
                self.house.command(who, Command::Leave);
            }
            _ => {}
        }
    }

    /// A program is closed, and starts again later unless its evening is over.
    fn goes_home(&mut self, who: usize, back: u64) {
        let role = &mut self.people[who];
        role.acts = None;
        role.view = None;
        if role.end.is_none() && !role.left {
            role.starts = Some(back);
            role.error = None;
        }
    }

    /// Takes in what a program's player is told.
    fn look(&mut self, number: usize) {
        while let Some(event) = self.house.read(number) {
            let now = self.house.up();
            let think = 100 + below(&mut self.dice, 1_500);
            let role = &mut self.people[number];
            match event {
                SessionEvent::Lobby(view) => {
                    role.got_in |= view != LobbyView::default();
                    if let (Part::Host, Some(ticket)) = (&role.part, &view.ticket) {
                        self.ticket = ticket.parse().ok();
                    }
                    let mine = view.me.and_then(|me| view.ready.get(me.index()).copied());
                    let waits = role.hands == (Hands::Person { ready: false }) && role.part != Part::Watcher;
                    if waits && mine == Some(false) {
                        self.house.command(number, Command::Ready(true));
                    }
                }
                SessionEvent::Started { me, .. } => {
                    role.got_in = true;
                    role.seated |= me.is_some();
                    role.me = me;
                    self.counts("started", 1);
                }
                SessionEvent::Snapshot(view) if view.waits.may_claim.is_some() && role.me.is_some() => {
                    // The others stay away: a person closes the table in the end.
                    self.house.command(number, Command::Claim);
                }
                SessionEvent::Snapshot(view) => {
                    let is_person = matches!(role.hands, Hands::Person { .. });
                    if is_person && role.me.is_some() && view.my_turn && !view.game.is_over() {
                        role.acts.get_or_insert(now + think);
                        role.view = Some(view);
                    } else {
                        role.acts = None;
                    }
                }
                SessionEvent::Refused(_) => {
                    if let (Some(view), true) = (&role.view, role.acts.is_none()) {
                        role.acts = view.my_turn.then_some(now + think);
                    }
                }
                SessionEvent::Over { log, .. } => {
                    role.end = Some("over");
                    role.log = Some(log);
                    role.quits = Some(now + 15_000);
                    self.counts("over", 1);
                }
                SessionEvent::Claimed { .. } => {
                    role.end = Some("claimed");
                    role.quits = Some(now + 15_000);
                    self.counts("claimed", 1);
                }
                SessionEvent::Peer { seat, state: PeerState::Left } if Some(seat) == role.me => {
                    role.end = Some("left");
                    role.quits = Some(now + 15_000);
                }
                SessionEvent::Error(why) => role.error = Some(why),
                SessionEvent::Fault { what, .. } if role.end.is_some() => {
                    self.fails(&format!("{number} hears after the end: {what}"));
                }
                // The others have voted to play on without this seat, which was away.
                SessionEvent::Fault { stopped: true, seat: None, what, .. } if what.contains("waiting for you") => {
                    role.end = Some("removed");
                    role.quits = Some(now + 15_000);
                    self.counts("removed", 1);
                }
                SessionEvent::Fault { what, .. } => self.fails(&format!("{number} hears of a fault: {what}")),
                _ => {}
            }
        }
        self.has_closed(number);
    }

    /// A program that has closed by itself before its table ended tries again, as a person would: after a full disk at
    /// the end, or when too few of the others were there.
    fn has_closed(&mut self, number: usize) {
        let now = self.house.up();
        if self.house.is_running(number) || self.people[number].starts.is_some() {
            return;
        }
        if let Some(back) = self.people[number].crashes.take() {
            // A program that has closed by itself before the crash does not crash any more.
            self.house.programs[number].fuse = None;
            return self.goes_home(number, now + back);
        }
        let saved = self.house.saved(number).is_some();
        let role = &mut self.people[number];
        let tries_again = role.error.is_some() && !role.left && role.tries < MAX_TRIES;
        let is_welcome = !role.blocked && role.knows;
        if tries_again && is_welcome && (saved || role.end.is_none()) {
            role.tries += 1;
            role.error = None;
            role.end = None;
            role.starts = Some(now + 5_000);
            self.counts("tried again", 1);
        }
    }

    fn check(&mut self) {
        let seed = self.seed;
        for why in std::mem::take(&mut self.house.faults) {
            self.fails(&why);
        }
        for number in 0..self.people.len() {
            let role = &self.people[number];
            let (name, last) =
                (role.part.word(), self.house.programs[number].told.last().map(|(_, event)| short(event)));
            if (role.blocked || !role.knows) && (role.got_in || role.end.is_some()) {
                self.fails(&format!("{name} {number} got in"));
            } else if role.seated && role.end.is_none() && !role.left && !self.is_too_late(number) {
                self.fails(&format!("{name} {number} was promised a seat: {last:?}"));
            } else if !role.seated && role.end.is_none() && role.error.is_none() {
                self.fails(&format!("{name} {number} hears no word: {last:?}"));
            }
        }
        self.check_logs();
        self.check_chat();
        self.check_order();
        if self.house.up() >= LIMIT {
            self.fails(&format!("evening {seed} does not end"));
        }
        self.most.insert("minutes", self.house.up() / 60_000);
        self.most.insert("KB sent", self.house.traffic / 1000);
    }

    /// Whether a program has come back when all others were done with the table, was told so, and has its game.
    fn is_too_late(&self, number: usize) -> bool {
        let others = self.people.iter().enumerate().filter(|(other, role)| *other != number && role.seated);
        let all_done = others.map(|(_, role)| role).all(|role| role.end.is_some() || role.left);
        all_done && self.people[number].error.is_some() && self.house.saved(number).is_some()
    }

    /// Whether others play on without a seat. If that is in the last step, its log is another one than theirs.
    fn is_removed(&self, number: usize) -> bool {
        let is_it = |event: &SessionEvent| {
            let gone = match event {
                SessionEvent::Peer { seat, state: PeerState::Absent } => Some(*seat),
                _ => None,
            };
            gone.is_some() && gone == self.people[number].me
        };
        self.house.programs.iter().any(|program| program.told.iter().any(|(_, event)| is_it(event)))
    }

    /// All logs of the seats are the same, those of spectators too, and they are fair.
    fn check_logs(&mut self) {
        let present = (0..self.people.len()).filter(|number| !self.is_removed(*number));
        let logs: BTreeSet<Hash32> = present.filter_map(|number| self.people[number].log).collect();
        if logs.len() > 1 {
            let all: Vec<_> = self.people.iter().map(|role| (role.part.word(), role.end, role.log)).collect();
            self.fails(&format!("{} logs: {all:?}", logs.len()));
        }
        let mut longest: Vec<Vec<u8>> = Vec::new();
        let mut wrong = Vec::new();
        for (number, program) in self.house.programs.iter().enumerate() {
            for (transcript, _) in program.disk.transcripts.values() {
                let report = audit::<AnyGame>(transcript);
                if report.finding.is_some() {
                    wrong.push(format!("the transcript of {number} is not fair: {:?}", report.finding));
                }
                longest.push(transcript.entries().iter().flat_map(|entry| entry.hash().0).collect());
            }
            if !program.disk.evidence.is_empty() {
                wrong.push(format!("{number} has written evidence"));
            }
            let open = program.disk.journals.values().filter(|kept| !kept.ended).count();
            if open > 0 && self.people[number].end == Some("over") {
                wrong.push(format!("{number} keeps a journal of a table that is over"));
            }
        }
        longest.sort_by_key(Vec::len);
        for pair in longest.windows(2) {
            if (0..self.people.len()).all(|number| !self.is_removed(number))
                && self.people.iter().all(|role| role.end != Some("claimed"))
                && !pair[1].starts_with(&pair[0])
            {
                wrong.push("one log is no prefix of the other".to_owned());
            }
        }
        for why in wrong {
            self.fails(&why);
        }
    }

    fn check_order(&mut self) {
        let mut late = Vec::new();
        for (number, program) in self.house.programs.iter().enumerate() {
            let mut shown = 0;
            for (at, event) in &program.told {
                match event {
                    SessionEvent::Started { .. } => shown = 0,
                    SessionEvent::Snapshot(view) => {
                        if let Standing::Sealed(progress) = &view.standing {
                            shown = progress.step;
                        }
                    }
                    SessionEvent::Action { step, .. } if *step < shown => {
                        late.push(format!("{number} hears of step {step} at {at}, after a view of step {shown}"));
                    }
                    _ => {}
                }
            }
        }
        for why in late {
            self.fails(&why);
        }
    }

    fn check_chat(&mut self) {
        let mut twice = Vec::new();
        for (number, program) in self.house.programs.iter().enumerate() {
            let mut seen = BTreeSet::new();
            for (_, event) in &program.told {
                if let SessionEvent::Chat { text, .. } = event
                    && !seen.insert(text.clone())
                {
                    twice.push(format!("{number} reads twice: {text}"));
                }
            }
        }
        let heard: usize = self.house.programs.iter().map(|p| chats(&p.told)).sum();
        self.counts("chat lines read", heard as u64);
        for why in twice {
            self.fails(&why);
        }
    }
}

fn chats(told: &[(u64, SessionEvent)]) -> usize {
    told.iter().filter(|(_, event)| matches!(event, SessionEvent::Chat { .. })).count()
}

fn short(event: &SessionEvent) -> String {
    let text = format!("{event:?}");
    text.chars().take(160).collect()
}

impl Part {
    fn word(&self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Guest => "guest",
            Self::Watcher => "spectator",
        }
    }
}
