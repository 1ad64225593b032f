//! The plan drawn from one seed: the game, its players, and what goes wrong.

use std::collections::{BTreeMap, BTreeSet};

use fairdeal_games::bots::Level;
use fairdeal_games::{GAMES, GameInfo, OptionKind, rule_set};
use fairdeal_protocol::game::{RuleSet, uniform};
use fairdeal_protocol::party::Party;
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_testkit::{Cut, Weather, happens, stream};
use rand_chacha::ChaCha20Rng;

use super::cheat::Habit;

/// A stream of random choices.
pub(crate) struct Dice(pub(crate) ChaCha20Rng);

impl Dice {
    /// The numbered stream of a seed.
    pub(crate) fn new(seed: u64, number: u64) -> Self {
        Self(stream(seed, number))
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        uniform(&mut self.0, bound)
    }

    /// A number from `least` to `most`.
    pub(crate) fn between(&mut self, least: u64, most: u64) -> u64 {
        least + u64::from(self.below(u32::try_from(most - least + 1).unwrap()))
    }

    /// True with a probability of `thousandths` in a thousand.
    pub(crate) fn chance(&mut self, thousandths: u32) -> bool {
        happens(&mut self.0, thousandths)
    }

    /// A random item.
    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(u32::try_from(items.len()).unwrap()) as usize]
    }

    /// A random seat of a non-empty set.
    pub(crate) fn seat(&mut self, seats: SeatSet) -> Seat {
        let all: Vec<Seat> = seats.iter().collect();
        *self.pick(&all)
    }
}

/// Seats that crash at the same moment.
#[derive(Clone, Debug)]
pub(crate) struct Fall {
    pub(crate) at: u64,
    pub(crate) seats: SeatSet,
    /// Milliseconds until they come back; `None` means never.
    pub(crate) back: Option<u64>,
}

/// A fault of a program's clocks.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ClockFault {
    /// Somebody sets its wall clock by so many milliseconds.
    Set(i64),
    /// Its machine sleeps for so many milliseconds. What arrives meanwhile waits for it.
    Sleep(u64),
}

/// When a person proposes to remove a present seat that does not act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manners {
    /// Only if the seat never will act.
    Patient,
    /// As soon as the program offers it.
    Rude,
}

/// Occupant of a seat.
#[derive(Clone, Debug)]
pub(crate) struct Role {
    pub(crate) level: Level,
    /// Absence timeout of this seat, in milliseconds. A charter gives all seats the same; some tables here vary it,
    /// because clocks differ.
    pub(crate) absence: u64,
    /// Longest usual thinking time, in milliseconds.
    pub(crate) thinks: u32,
    /// Thinking time at one or two turns of the game, in milliseconds.
    pub(crate) ponders: u64,
    pub(crate) manners: Manners,
    /// Number of outputs after which it disappears for good.
    pub(crate) gone_at: Option<u64>,
    /// Step at which it leaves.
    pub(crate) leaves_at: Option<u64>,
    /// Probability of a crash after each output, in thousandths.
    pub(crate) crashes: u32,
    /// Whether its disk loses its last records in a crash, which no honest disk does.
    pub(crate) old_disk: bool,
    pub(crate) cheat: Option<Habit>,
    /// Whether it claims a two-seat table when the other seat stays away.
    pub(crate) claims: bool,
}

/// Everything drawn before a table opens.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) rules: RuleSet,
    pub(crate) roles: Vec<Role>,
    /// The party of each seat: its program. A person plays the lowest seat of each party, bots the others.
    pub(crate) parties: Vec<Party>,
    pub(crate) weather: Weather,
    pub(crate) cuts: Vec<Cut>,
    /// Pairs of seats without a direct link for the whole game, in both directions.
    pub(crate) apart: BTreeSet<(Seat, Seat)>,
    pub(crate) falls: Vec<Fall>,
    /// When the network heals and crashes end, in milliseconds.
    pub(crate) heal: u64,
    /// From this step on honest seats leave one after another, to end the game.
    pub(crate) enough: u64,
    /// Additional latency of every message, in any weather, in milliseconds.
    pub(crate) distance: u64,
    /// When the program of each seat ticks: so many milliseconds after the others.
    pub(crate) phases: Vec<u64>,
    /// The faults of clocks: when, at which program (named by any of its seats), and which.
    pub(crate) clocks: Vec<(u64, Seat, ClockFault)>,
    /// Probability that a player requests an out-of-turn action, in thousandths.
    pub(crate) wishes: u32,
}

impl Plan {
    /// Draws a seed's plan.
    pub(crate) fn draw(seed: u64) -> Self {
        let mut dice = Dice::new(seed, 0);
        let dice = &mut dice;
        let rules = draw_rules(seed, dice);
        let count = usize::from(rules.seats);
        let heal = dice.between(2_000, 40_000);
        let absence = if dice.chance(30) { 120_000 } else { *dice.pick(&[1_500, 3_000, 5_000, 10_000]) };
        let stormy = dice.chance(650);
        let mut storm = |most: u32| if stormy { dice.below(most) } else { 0 };
        let weather = Weather {
            lost: storm(250),
            repeated: storm(250),
            delayed: storm(300),
            late: 1 + storm(9_000),
            latency: None,
        };
        let crashes = if dice.chance(450) { 1 + dice.below(20) } else { 0 };
        let own_absence = dice.chance(200);
        let mut roles: Vec<Role> = (0..count)
            .map(|_| Role {
                level: if dice.chance(600) { Level::Normal } else { Level::Gentle },
                absence: if own_absence { *dice.pick(&[2_000, 3_000, 5_000, 15_000]) } else { absence },
                thinks: *dice.pick(&[1, 300, 300, 4_000]),
                ponders: 0,
                manners: Manners::Patient,
                gone_at: None,
                leaves_at: None,
                crashes,
                old_disk: false,
                cheat: None,
                claims: false,
            })
            .collect();
        if count > 1 {
            let everyone = SeatSet::all(count);
            let others = u32::from(rules.seats) - 1;
            let cheats = match dice.below(100) {
                0..40 => 0,
                40..88 => 1,
                _ => 1 + dice.below(others),
            };
            for _ in 0..cheats {
                let who = dice.seat(everyone);
                roles[who.index()].cheat = Some(Habit::draw(dice, who, count));
            }
            if dice.chance(250) {
                roles[dice.seat(everyone).index()].gone_at = Some(dice.between(1, 700));
                if dice.chance(150) {
                    roles[dice.seat(everyone).index()].gone_at = Some(dice.between(1, 700));
                }
            }
            if dice.chance(200) {
                roles[dice.seat(everyone).index()].leaves_at = Some(dice.between(0, 80));
            }
            if crashes > 0 && dice.chance(150) {
                roles[dice.seat(everyone).index()].old_disk = true;
            }
        }
        // From a separate stream, as for strict tables.
        let mut claims = Dice::new(seed, 5);
        for role in &mut roles {
            role.claims = claims.chance(500);
        }
        draw_people(&mut Dice::new(seed, 6), &mut roles);
        // A table needs at least one honest, present seat to check.
        let watched = dice.below(rules.seats.into()) as usize;
        roles[watched].cheat = None;
        roles[watched].gone_at = None;
        roles[watched].old_disk = false;
        let parties = draw_parties(&mut Dice::new(seed, 9), &mut roles, watched);
        let cuts = if count > 1 && dice.chance(350) {
            (0..1 + dice.below(3)).map(|_| draw_cut(dice, count, heal)).collect()
        } else {
            Vec::new()
        };
        let falls = draw_falls(&mut Dice::new(seed, 7), &parties, heal, watched);
        let apart = draw_apart(&mut Dice::new(seed, 8), count);
        let enough = if dice.chance(350) { dice.between(8, 90) } else { 300 };
        let wishes = *dice.pick(&[0, 2, 10]);
        let (distance, phases) = draw_distance(&mut Dice::new(seed, 10), count);
        let clocks = draw_clocks(&mut Dice::new(seed, 11), count, heal);
        Self {
            seed,
            rules,
            roles,
            parties,
            weather,
            cuts,
            apart,
            falls,
            heal,
            enough,
            distance,
            phases,
            clocks,
            wishes,
        }
    }

    /// Seats of programs that cheat at any seat: such a program is removed as a whole.
    pub(crate) fn cheats(&self) -> SeatSet {
        let cheats = self.those(|role| role.cheat.is_some());
        let programs = cheats.iter().flat_map(|seat| self.program_of(seat).iter());
        programs.collect()
    }

    /// Seats whose disks lose records, and which may sign twice by accident.
    pub(crate) fn forgetful(&self) -> SeatSet {
        self.those(|role| role.old_disk)
    }

    /// Seats of the program that runs `seat`, including `seat`.
    pub(crate) fn program_of(&self, seat: Seat) -> SeatSet {
        let own = self.parties[seat.index()];
        let seats = Seat::first(self.parties.len());
        seats.filter(|other| self.parties[other.index()] == own).collect()
    }

    /// Whether a bot plays `seat`.
    pub(crate) fn is_bot(&self, seat: Seat) -> bool {
        self.parties[seat.index()].lowest() != seat
    }

    fn those(&self, wanted: impl Fn(&Role) -> bool) -> SeatSet {
        let seats = Seat::first(self.roles.len());
        seats.filter(|seat| wanted(&self.roles[seat.index()])).collect()
    }
}

fn draw_rules(seed: u64, dice: &mut Dice) -> RuleSet {
    // Games with masked decks cost most: two seats of Loot cost as much as six of Plutonian Poker.
    let id = match dice.below(100) {
        0..30 => "loot",
        30..38 => "houses-of-thoth",
        38..70 => "plutonian-poker",
        70..95 => "sphinxs-paw",
        _ => "ivory-tower",
    };
    let info: &GameInfo = GAMES.iter().find(|info| info.id == id).unwrap();
    let span = u64::from(info.most_seats);
    let mut seats = dice.between(info.least_seats.into(), span);
    if id == "houses-of-thoth" && seats > 3 && dice.chance(600) {
        seats -= 2;
    }
    let mut options = BTreeMap::new();
    for option in info.options {
        let value = match option.kind {
            // The number is the target: a low one ends the game after a hand or two.
            OptionKind::Number(least, _) => (least + dice.below(6)).to_string(),
            OptionKind::Choice(words) => (*dice.pick(words)).to_owned(),
            OptionKind::Flag => dice.chance(500).to_string(),
            OptionKind::Date if dice.chance(300) => "2026-02-03".to_owned(),
            OptionKind::Date => option.default.to_owned(),
        };
        options.insert(option.key.to_owned(), value);
    }
    // From a separate stream: tables drawn before strict ones existed stay the same.
    if seats > 1 && Dice::new(seed, 4).chance(100) {
        options.insert("strict".to_owned(), "true".to_owned());
    }
    // Without a turn time, two wait for each other as long as both are there.
    if seats > 1 && Dice::new(seed, 12).chance(600) {
        options.insert("turn-time".to_owned(), "30".to_owned());
    }
    rule_set(id, u8::try_from(seats).unwrap(), &options).unwrap()
}

/// Some people think for long, and some have no patience.
fn draw_people(dice: &mut Dice, roles: &mut [Role]) {
    let (slow, rude) = (dice.chance(150), dice.chance(250));
    for role in roles {
        if slow && dice.chance(500) {
            // Many hours cost many messages, so few players take them.
            let (least, most) = match dice.below(20) {
                0 => (7_200, 20_000),
                1 | 2 => (600, 7_200),
                3..=7 => (60, 600),
                _ => (1, 60),
            };
            role.ponders = 1_000 * dice.between(least, most);
        }
        if rude && dice.chance(700) {
            role.manners = Manners::Rude;
        }
    }
}

/// At some tables a player brings bots: they run in its program, and live and die with it.
fn draw_parties(dice: &mut Dice, roles: &mut [Role], watched: usize) -> Vec<Party> {
    let seats = || Seat::first(roles.len());
    let mut parties: Vec<Party> = seats().map(Party::of).collect();
    if roles.len() < 3 || !dice.chance(200) {
        return parties;
    }
    let everyone = SeatSet::all(roles.len());
    let owner = dice.seat(everyone);
    let guest = dice.seat(everyone.without(owner));
    let bots = seats().filter(|seat| *seat != owner && *seat != guest && dice.chance(600));
    let program: SeatSet = bots.chain([owner]).collect();
    let Some(lowest) = program.iter().next() else {
        return parties;
    };
    let alive = program.iter().any(|seat| seat.index() == watched);
    let person = roles[lowest.index()].clone();
    for seat in program.iter() {
        parties[seat.index()] = Party::of(lowest);
        let role = &mut roles[seat.index()];
        role.absence = person.absence;
        role.gone_at = person.gone_at.filter(|_| !alive);
        role.old_disk = person.old_disk && !alive;
        if seat != lowest {
            role.ponders = 0;
            role.manners = Manners::Patient;
            role.claims = false;
        }
    }
    parties
}

/// At some tables several programs crash at the same moment.
fn draw_falls(dice: &mut Dice, parties: &[Party], heal: u64, watched: usize) -> Vec<Fall> {
    let count = parties.len();
    if count < 3 || !dice.chance(150) {
        return Vec::new();
    }
    let others = Seat::first(count).filter(|seat| seat.index() != watched);
    let fallen: Vec<Party> = others
        .filter(|_| dice.chance(500))
        .map(|seat| parties[seat.index()])
        .filter(|party| *party != parties[watched])
        .collect();
    let seats = Seat::first(count).filter(|seat| fallen.contains(&parties[seat.index()])).collect();
    vec![Fall { at: dice.between(0, heal), seats, back: dice.chance(600).then(|| dice.between(500, 60_000)) }]
}

/// At some tables pairs of seats have no direct link; one seat has a link to everybody.
fn draw_apart(dice: &mut Dice, count: usize) -> BTreeSet<(Seat, Seat)> {
    let mut apart = BTreeSet::new();
    if count < 3 || !dice.chance(200) {
        return apart;
    }
    let hub = dice.seat(SeatSet::all(count));
    let others: Vec<Seat> = Seat::first(count).filter(|seat| *seat != hub).collect();
    for (place, one) in others.iter().enumerate() {
        for other in &others[place + 1..] {
            if dice.chance(500) {
                apart.extend([(*one, *other), (*other, *one)]);
            }
        }
    }
    apart
}

/// Some tables are on slow links, and programs seldom tick at the same moment.
fn draw_distance(dice: &mut Dice, count: usize) -> (u64, Vec<u64>) {
    let distance = if dice.chance(300) { dice.between(50, 400) } else { 0 };
    let together = dice.chance(300);
    let phases = (0..count).map(|_| if together { 0 } else { dice.between(0, 999) });
    (distance, phases.collect())
}

/// At some tables somebody sets clocks, or closes a laptop.
fn draw_clocks(dice: &mut Dice, count: usize, heal: u64) -> Vec<(u64, Seat, ClockFault)> {
    if !dice.chance(250) {
        return Vec::new();
    }
    let faults = (0..1 + dice.below(4)).map(|_| {
        let fault = if dice.chance(600) {
            let by = i64::try_from(dice.between(1, 4_000_000)).unwrap() * 100;
            ClockFault::Set(if dice.chance(500) { by } else { -by })
        } else {
            ClockFault::Sleep(dice.between(1_000, 300_000))
        };
        (dice.between(0, 2 * heal), dice.seat(SeatSet::all(count)), fault)
    });
    faults.collect()
}

fn draw_cut(dice: &mut Dice, count: usize, heal: u64) -> Cut {
    let from = dice.between(0, heal);
    let until = (from + dice.between(500, 20_000)).min(heal);
    let one_way = dice.chance(400);
    let side: SeatSet = Seat::first(count).filter(|_| dice.chance(500)).collect();
    let mut links = BTreeSet::new();
    for a in Seat::first(count) {
        for b in Seat::first(count) {
            let apart = side.contains(a) && !side.contains(b);
            let back = side.contains(b) && !side.contains(a);
            if apart || (back && !one_way) {
                links.insert((a, b));
            }
        }
    }
    Cut { during: from..until, links }
}
