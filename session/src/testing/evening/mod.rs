//! Whole programs from a ticket to the transcript, each evening drawn from one seed: lobbies, passwords, chat,
//! spectators, local bots, crashes and returns, full disks, cut links, hidden pages, keepers, letters, players who leave,
//! rematches.
//!
//! Everybody is honest here; cheats sit at the tables of the simulator of single tables. The invariants:
//!
//! 1. No entry leaves before it is stored, and no seat signs two for one place, whatever it crashed over.
//! 2. A seat that somebody was promised is held to the end of the table; whoever gets none is told an error. Who comes
//!    back when all others are done with the table is told so, and the game stays saved.
//! 3. All who play or watch to the end have the same log, but for those who close the table with a claim, and every saved
//!    log is fair; while no seat is removed and nobody claims, each is a prefix of the longest.
//! 4. Nobody is blamed, no evidence is written, and nobody who is blocked or has a wrong password sees anything.
//! 5. Every evening ends, and no program whose game is over keeps a journal to resume.
//! 6. No chat message is shown twice to anybody.
//! 7. No action is told after a view of a later step.
//! 8. Some deal fits every position that a bot is asked about.
//! 9. Nothing is told of a fault or a removal after the end, and no game that has begun is lost.

// It runs in tests only, which fail by panicking; people and their lists are few.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::cast_possible_truncation)]

mod check;
mod keepers;
mod rematch;

use std::collections::BTreeMap;
use std::time::Duration;

use super::house::House;
use crate::events::{Command, Premove, SessionEvent};
use crate::frame::ProgramId;
use crate::people::{Book, Change};
use crate::setup::{Attended, Hands, Patience, Pilot, Role};
use crate::view::{LobbySeat, LobbyView, PeerState, Snapshot};
use fairdeal_games::bots::{Bot, Level};
use fairdeal_games::{AnyAction, AnyGame, TableGame as _, bot, rule_set};
use fairdeal_peers::ticket::JoinTarget;
use fairdeal_protocol::crypto::pake::Password;
use fairdeal_protocol::game::{Game as _, RuleSet};
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::log::extensions::Extension;
use fairdeal_protocol::party::PlayedBy;
use fairdeal_protocol::seat::Seat;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng as _, SeedableRng as _};

/// How often the evening looks at its programs, in milliseconds.
const STEP: u64 = 50;
/// No evening is longer, in milliseconds of its own time.
const LIMIT: u64 = 4 * 3_600_000;
/// Deeds happen within this time, in milliseconds.
const BUSY: u64 = 40_000;
/// How long players stay at a table that is over.
const STAYS: u64 = 15_000;
/// How long somebody stays who has invited the others to another table.
const INVITES: u64 = 3_000;
/// How long somebody waits for the others of a rematch.
const PATIENCE: u64 = 90_000;
/// The table of the evening, and that of a rematch.
const FIRST: usize = 0;
const AGAIN: usize = 1;

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
    /// Its page is hidden for a while; a phone cuts its connections, too.
    Hide {
        long: u64,
        is_cut: bool,
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
    /// A local bot of this program.
    Bot(usize),
}

/// A program's player at one table, and what is known of its evening.
struct Someone {
    part: Part,
    /// [`FIRST`] or [`AGAIN`].
    table: usize,
    /// The way to the host of a rematch, and a host's own ticket.
    target: Option<JoinTarget>,
    hands: Hands,
    /// The moves of a person.
    mind: Box<dyn Bot<AnyGame>>,
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
    /// The seat that has invited it to a rematch, and the ticket.
    invitation: Option<(Seat, String)>,
    /// When it asks for a rematch, if nobody has invited it before.
    asks: Option<u64>,
    /// Its program at the rematch.
    next: Option<usize>,
    /// Its program at the table before a rematch.
    before: Option<usize>,
    /// When it does not wait any more for the others of a rematch.
    gives_up: Option<u64>,
    /// How many persons are in its lobby.
    company: usize,
    /// How often it has tried again.
    tries: u32,
    /// How long it is away once it has crashed.
    crashes: Option<u64>,
}

impl Someone {
    fn new(part: Part, table: usize, hands: Hands, starts: Option<u64>) -> Self {
        Self {
            part,
            table,
            target: None,
            hands,
            mind: bot(Level::Normal),
            knows: true,
            blocked: false,
            starts,
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
            invitation: None,
            asks: None,
            next: None,
            before: None,
            gives_up: None,
            company: 0,
            tries: 0,
            crashes: None,
        }
    }

    fn is_bot(&self) -> bool {
        matches!(self.part, Part::Bot(_))
    }
}

/// The keepers of an evening.
struct Keepers {
    dice: ChaCha20Rng,
    /// The persons who look away, each until when.
    away: Vec<(u64, usize)>,
    /// Letters on their way: when they come, and to whom.
    post: Vec<(u64, usize, Vec<u8>)>,
}

impl Keepers {
    /// Draws whether the persons of an evening have keepers.
    fn of(seed: u64) -> Option<Self> {
        let mut dice = ChaCha20Rng::seed_from_u64(seed ^ 0x6ee9e5);
        (below(&mut dice, 3) == 0).then(|| Self { dice, away: Vec::new(), post: Vec::new() })
    }
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
    game: &'static str,
    options: BTreeMap<String, String>,
    /// How many persons and local bots have a seat.
    seats: usize,
    /// Whether persons want a rematch.
    plays_again: bool,
    /// Draws the premoves of persons, if they make any.
    plans: Option<ChaCha20Rng>,
    /// Draws the times that persons give each other, if they give any.
    gifts: Option<ChaCha20Rng>,
    /// Where persons look away, and write letters.
    keepers: Option<Keepers>,
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

/// A game, and options that end most games after one hand.
fn game(dice: &mut ChaCha20Rng) -> (&'static str, BTreeMap<String, String>) {
    let (game, target) = match dice.next_u32() % 4 {
        0 | 1 => ("loot", Some("20")),
        2 => ("houses-of-thoth", Some("10")),
        _ => ("plutonian-poker", None),
    };
    let absence = ["20", "40", "120"][dice.next_u32() as usize % 3];
    let target = target.map(|target| ("target".to_owned(), target.to_owned()));
    (game, target.into_iter().chain([("absence".to_owned(), absence.to_owned())]).collect())
}

/// An action that a person chooses ahead, now and then: no vote, which would end games early.
fn ahead(view: &Snapshot, me: Seat, dice: &mut ChaCha20Rng) -> Option<AnyAction> {
    let game = view.game.ahead(me).filter(|_| view.waits.premove.is_none() && below(dice, 4) == 0)?;
    let legal = game.legal(me, &view.known).into_iter();
    let mut all: Vec<AnyAction> = legal.filter(|action| !game.out_of_turn(action)).collect();
    let place = usize::try_from(below(dice, all.len() as u64)).ok()?;
    (place < all.len()).then(|| all.swap_remove(place))
}

fn below(dice: &mut ChaCha20Rng, end: u64) -> u64 {
    u64::from(dice.next_u32()) % end.max(1)
}

/// Draws something that happens to one of these programs after a moment; `None` if it would be nothing.
fn deed(dice: &mut ChaCha20Rng, all: &[usize], after: u64) -> Option<(u64, usize, Deed)> {
    let any = |dice: &mut ChaCha20Rng| all.get(below(dice, all.len() as u64) as usize).copied();
    let (at, who) = (after + below(dice, BUSY), any(dice)?);
    let long = 500 + below(dice, 30_000);
    let deed = match below(dice, 8) {
        0 | 1 => {
            let after = (below(dice, 2) == 0).then(|| below(dice, 60) as u32);
            Deed::Crash { after, back: long }
        }
        2 => Deed::Quit { back: long },
        3 => Deed::Full { long },
        4 => Deed::Cut { other: any(dice)?, long },
        5 if below(dice, 4) == 0 => Deed::Leave,
        _ => Deed::Say,
    };
    Some((at, who, deed))
}

/// Draws a page of one of these programs that is hidden for a while.
fn hide(dice: &mut ChaCha20Rng, all: &[usize]) -> Option<(u64, usize, Deed)> {
    let who = all.get(below(dice, all.len() as u64) as usize).copied()?;
    let at = 3_000 + below(dice, BUSY);
    Some((at, who, Deed::Hide { long: 500 + below(dice, 90_000), is_cut: below(dice, 2) == 0 }))
}

/// The id that a host and its local bots share.
fn program(number: usize) -> ProgramId {
    [u8::try_from(number).unwrap() + 1; 16].into()
}

impl Evening {
    /// Draws the evening of a seed.
    pub fn new(seed: u64) -> Self {
        let mut dice = ChaCha20Rng::seed_from_u64(seed ^ 0x5eed);
        let mut house = House::new(seed);
        house.trip = [1, 20, 60, 150, 300][dice.next_u32() as usize % 5];
        house.sync = [0, 2, 10, 100][dice.next_u32() as usize % 4];
        let seats = 2 + u8::try_from(below(&mut dice, 3)).unwrap();
        let (mut game, mut options) = game(&mut dice);
        let password = (below(&mut dice, 3) == 0).then(|| "sésame".to_owned());
        let mut people = Vec::new();
        let hands = |dice: &mut ChaCha20Rng| match below(dice, 3) {
            0 => Hands::Person { ready: false },
            level => Hands::Bot(Pilot {
                level: if level == 1 { Level::Normal } else { Level::Sharp },
                delay: Duration::from_millis(below(dice, 200)),
            }),
        };
        let role = |part, hands, starts| Someone::new(part, FIRST, hands, Some(starts));
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
        let all: Vec<usize> = (0..people.len()).collect();
        let number = below(&mut dice, 14);
        let mut deeds: Vec<_> = (0..number).filter_map(|_| deed(&mut dice, &all, 3_000)).collect();
        let pages = &mut ChaCha20Rng::seed_from_u64(seed ^ 0x9a9e);
        let hidden = if below(pages, 3) == 0 { 1 + below(pages, 4) } else { 0 };
        deeds.extend((0..hidden).filter_map(|_| hide(pages, &all)));
        deeds.sort_by_key(|(at, who, _)| (*at, *who));
        let mut dice_of_more = ChaCha20Rng::seed_from_u64(seed ^ 0xb075);
        let more = &mut dice_of_more;
        if below(more, 8) == 0 {
            game = "sphinxs-paw";
            options.remove("target");
        }
        let bots = if below(more, 3) == 0 { (1 + below(more, 2)).min(4 - u64::from(seats)) } else { 0 };
        let plays_again = below(more, 4) == 0;
        let mut plans = ChaCha20Rng::seed_from_u64(seed ^ 0xa4ead);
        let plans = (below(&mut plans, 3) == 0).then_some(plans);
        let mut gifts = ChaCha20Rng::seed_from_u64(seed ^ 0x91f75);
        let gifts = (below(&mut gifts, 3) == 0).then_some(gifts);
        for number in 0..bots {
            house.add_bot(0, &format!("Bot {number}"));
            people.push(Someone::new(Part::Bot(0), FIRST, Hands::Person { ready: true }, None));
        }
        if plays_again {
            let players = people.iter_mut().filter(|role| matches!(role.part, Part::Host | Part::Guest));
            players.for_each(|role| role.hands = Hands::Person { ready: false });
        }
        Self {
            seed,
            house,
            people,
            drawn: deeds.clone(),
            deeds,
            undo: Vec::new(),
            game,
            options,
            seats: usize::from(seats) + bots as usize,
            plays_again,
            plans,
            gifts,
            keepers: Keepers::of(seed),
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
        let mut lines = vec![format!("trip {}, sync {}, {:?}", self.house.trip, self.house.sync, self.rules())];
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

    /// The rules of a table with all seats of the first one.
    fn rules(&self) -> RuleSet {
        self.rules_for(self.seats)
    }

    fn rules_for(&self, seats: usize) -> RuleSet {
        rule_set(self.game, u8::try_from(seats).unwrap(), &self.options).unwrap()
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
            self.keep(now);
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
                    Deed::Hide { is_cut, .. } => self.shows(who, false, is_cut),
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
        if self.people[number].asks.take_if(|at| *at <= now).is_some() && self.house.is_running(number) {
            self.opens_again(number, now);
        }
        if self.people[number].gives_up.take_if(|at| *at <= now).is_some() {
            self.people[number].starts = None;
            self.people[number].end = Some("gave up");
            self.counts("rematches without the others", 1);
            self.house.command(number, Command::Quit);
        }
        let is_away = self.is_away(number);
        let role = &mut self.people[number];
        if role.acts.take_if(|at| *at <= now && !is_away).is_some()
            && let Some(view) = role.view.take()
            && let Some(me) = view.me
        {
            let action = role.mind.choose(&view.game, me, &view.known, &mut self.dice);
            if let Some(action) = action {
                self.house.command(number, Command::Act(action));
            }
        }
    }

    /// Seats the local bots of a host whose lobby is open.
    fn fill(&mut self, host: usize, ticket: &str) {
        for bot in self.house.bots_of(host) {
            if self.house.is_running(bot) || self.people[bot].seated {
                continue;
            }
            let pilot = Pilot { level: Level::Normal, delay: Duration::from_millis(200) };
            let password = self.password.clone().filter(|_| self.people[host].table == FIRST);
            let password = password.map(|word| Password::new(word).unwrap());
            let setup = Role::LocalBot { ticket: ticket.parse().unwrap(), pilot, program: program(host), password };
            if let Err(error) = self.house.start(bot, setup, Attended::Nobody, Book::default()) {
                self.fails(&format!("bot {bot} cannot start: {error}"));
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
            for bot in self.house.bots_of(number) {
                if let Err(error) = self.house.resume(bot, Hands::Person { ready: true }, Attended::Nobody) {
                    self.fails(&format!("bot {bot} cannot resume: {error}"));
                }
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
        let password = word.filter(|_| role.table == FIRST).map(|word| Password::new(word).unwrap());
        let (hands, program) = (role.hands, program(number));
        let ticket = if role.table == FIRST { self.ticket.clone() } else { role.target.clone() };
        let setup = match (&role.part, ticket) {
            // A host whose lobby is gone opens another one; the others' tickets lead nowhere now.
            (Part::Host, _) if role.table == FIRST => Role::Host { rules: self.rules(), hands, program, password },
            (Part::Host, _) => {
                let players = |role: &&Someone| role.table == FIRST && role.seated && !role.is_bot();
                let persons = self.people.iter().filter(players).count();
                let rules = self.rules_for(persons + self.house.bots_of(number).len());
                Role::Host { rules, hands, program, password }
            }
            (_, None) | (Part::Bot(_), _) => return,
            (Part::Guest, Some(target)) => {
                Role::Guest { target, hands, program, password, patience: Patience::AMinute }
            }
            (Part::Watcher, Some(target)) => Role::Watcher { target, password },
        };
        let mut book = Book::default();
        if role.part == Part::Host && role.table == FIRST {
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
            Deed::Hide { long, is_cut } => {
                self.counts("hidden pages", 1);
                self.shows(who, true, is_cut);
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

    /// A page is hidden or seen again. A phone cuts the connections of one that is hidden.
    fn shows(&mut self, who: usize, hidden: bool, is_cut: bool) {
        let others = (0..self.people.len()).filter(|other| *other != who && !self.people[*other].is_bot());
        for other in others.filter(|_| is_cut).collect::<Vec<_>>() {
            self.house.set_cut([who, other], hidden);
        }
        if self.house.is_running(who) {
            self.house.command(who, Command::Hidden(hidden));
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
            if self.people[number].is_bot() {
                self.look_at_bot(number, event);
                continue;
            }
            let think = 100 + below(&mut self.dice, 1_500);
            let is_away = self.is_away(number);
            let role = &mut self.people[number];
            match event {
                SessionEvent::Lobby(view) => {
                    role.got_in |= view != LobbyView::default();
                    let is_person = |taken: &&LobbySeat| taken.played_by == PlayedBy::Person;
                    role.company = view.seats.iter().flatten().filter(is_person).count();
                    if let (Part::Host, Some(ticket)) = (&role.part, &view.ticket) {
                        let target = ticket.parse().ok();
                        let is_new = std::mem::replace(&mut role.target, target.clone()).is_none();
                        if role.table == FIRST {
                            self.ticket = target;
                        }
                        if let Some(before) = role.before.filter(|_| is_new) {
                            self.people[before].quits = Some(now + INVITES);
                            self.house.command(before, Command::Invite(ticket.clone()));
                        }
                        self.fill(number, ticket);
                    }
                    let role = &mut self.people[number];
                    let mine = view.me.and_then(|me| view.ready.get(me.index()).copied());
                    let waits = role.hands == (Hands::Person { ready: false }) && role.part != Part::Watcher;
                    if waits && mine == Some(false) {
                        self.house.command(number, Command::Ready(true));
                    }
                }
                SessionEvent::Started { me, .. } => {
                    let is_new = !role.seated;
                    role.got_in = true;
                    role.seated |= me.is_some();
                    role.me = me;
                    role.gives_up = None;
                    let begins_again = role.table == AGAIN && role.part == Part::Host && is_new;
                    self.counts("started", 1);
                    if begins_again {
                        self.draw_again(now);
                    }
                }
                SessionEvent::Invited { seat, ticket, .. } if role.table == FIRST => {
                    role.invitation = Some((seat, ticket));
                    self.follows(number, now);
                }
                SessionEvent::Snapshot(view) if view.waits.may_claim.is_some() && role.me.is_some() => {
                    // The others stay away: a person closes the table in the end.
                    self.house.command(number, Command::Claim);
                }
                SessionEvent::Snapshot(view) => {
                    let is_person = matches!(role.hands, Hands::Person { .. });
                    let planner = role.me.filter(|_| is_person).zip(self.plans.as_mut());
                    let ahead = planner.and_then(|(me, plans)| ahead(&view, me, plans));
                    if let Some(action) = ahead {
                        self.house.command(number, Command::Premove(Premove::of(&view, action)));
                        self.counts("premoves", 1);
                    }
                    if let (true, Some(gifts)) = (is_person, self.gifts.as_mut())
                        && below(gifts, 16) == 0
                        && let Some(to) = Seat::new(below(gifts, 4) as usize)
                    {
                        let seconds = 1 + below(gifts, 5) as u32;
                        self.house.command(number, Command::Extend(Extension::Give { to, seconds }));
                    }
                    let role = &mut self.people[number];
                    if is_person && role.me.is_some() && view.my_turn && !view.game.is_over() {
                        role.acts.get_or_insert(now + think);
                        role.view = Some(view);
                    } else {
                        role.acts = None;
                    }
                }
                SessionEvent::Extended { .. } => self.counts("extensions heard of", 1),
                SessionEvent::Line(line) if line == "Your prepared move was played." => {
                    self.counts("premoves played", 1);
                }
                SessionEvent::Refused(_) => {
                    if let (Some(view), true) = (&role.view, role.acts.is_none()) {
                        role.acts = view.my_turn.then_some(now + think);
                    }
                }
                SessionEvent::Over { log, .. } => {
                    role.end = Some("over");
                    role.log = Some(log);
                    role.quits = Some(now + STAYS);
                    let wants = self.plays_again && role.table == FIRST && role.part != Part::Watcher;
                    if wants && role.next.is_none() {
                        role.asks = Some(now + 1_000 + below(&mut self.dice, 8_000));
                    }
                    self.counts("over", 1);
                    self.bots_play_on(number);
                    self.follows(number, now);
                }
                SessionEvent::Claimed { .. } => {
                    role.end = Some("claimed");
                    role.quits = Some(now + STAYS);
                    self.counts("claimed", 1);
                }
                SessionEvent::Peer { seat, state: PeerState::Left } if Some(seat) == role.me => {
                    role.end = Some("left");
                    role.quits = Some(now + STAYS);
                    self.bots_play_on(number);
                }
                SessionEvent::RemovalProposed { out, asks: true, .. } if is_away => {
                    // As keepers do, unless their player is there to be asked.
                    out.into_iter().for_each(|seat| self.house.command(number, Command::ProposeRemoval(seat)));
                }
                SessionEvent::Letter(news) => self.has_letter(number, *news),
                SessionEvent::Error(why) => role.error = Some(why),
                SessionEvent::Fault { what, .. } if role.end.is_some() => {
                    self.fails(&format!("{number} hears after the end: {what}"));
                }
                // The others have voted to play on without this seat, which was away.
                SessionEvent::Fault { stopped: true, seat: None, what, .. } if what.contains("waiting for you") => {
                    role.end = Some("removed");
                    role.quits = Some(now + STAYS);
                    self.counts("removed", 1);
                }
                SessionEvent::Fault { what, .. } => self.fails(&format!("{number} hears of a fault: {what}")),
                _ => {}
            }
        }
        self.has_closed(number);
    }

    /// Local bots play on without their player if anybody else has a seat.
    fn bots_play_on(&mut self, number: usize) {
        let others = |(other, role): (usize, &Someone)| other != number && !role.is_bot() && role.seated;
        let table = self.people[number].table;
        if self.people.iter().enumerate().filter(|(_, role)| role.table == table).any(others) {
            self.house.play_on(number);
        }
    }

    /// Takes in what a local bot is told.
    fn look_at_bot(&mut self, number: usize, event: SessionEvent) {
        let role = &mut self.people[number];
        match event {
            SessionEvent::Started { me, .. } => {
                role.seated = true;
                role.me = me;
                self.counts("local bots", 1);
            }
            SessionEvent::Over { log, .. } => {
                role.end = Some("over");
                role.log = Some(log);
            }
            SessionEvent::Fault { what, stopped, seat, .. } if !(stopped && seat.is_none()) => {
                self.fails(&format!("bot {number} hears of a fault: {what}"));
            }
            _ => {}
        }
    }

    /// A program that has closed by itself before its table ended tries again, as a person would: after a full disk at
    /// the end, or when too few of the others were there.
    fn has_closed(&mut self, number: usize) {
        let now = self.house.up();
        if self.house.is_running(number) || self.people[number].starts.is_some() || self.people[number].is_bot() {
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
        if tries_again && is_welcome && (saved || (role.end.is_none() && role.table == FIRST)) {
            role.tries += 1;
            role.error = None;
            role.end = None;
            role.starts = Some(now + 5_000);
            self.counts("tried again", 1);
        }
    }
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
            Self::Bot(_) => "local bot",
        }
    }
}
