//! Whole searches of the removal rules, with the real state machine as each honest party's code.
//!
//! A [`World`] holds the state of every honest seat and everything ever signed. A signed record may reach any seat at
//! any time, in any order, or never. Any seat may find another overdue while it does not count that seat's entry. A
//! crash loses what is not in the journal; the seat returns from its journal, or never. One seat may cheat and sign
//! anything.
//!
//! In every world, honest seats agree or there is evidence, and no honest seat is blamed. No seat is removed without
//! the consent of every honest seat that stays, and the remaining seats can finish, whichever party is gone.
//!
//! A search has to visit every world of its [`Scope`], and has to reach each of its goals ([`goals::Goal`]). Their
//! sizes stand in `docs/protocol.md`, "Why it holds"; the large ones run with `just explore`.
//!
//! Three things make the worlds fewer, and lose none that differs. Time is part of an action and not of a world
//! ([`state::Moment`]): a seat that may act because time has passed may do so in any later world, too. A cheat signs a
//! record when it first reaches somebody: until then nobody's state depends on it. With `gossips` a seat receives all
//! that another one can tell it, as in the product, where each answers the others' heads; without it, any one record.

mod cheat;
mod goals;
mod promises;
mod searches;
mod state;
mod world;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use stateright::{Checker as _, Expectation, Model, Property};

use crate::party::{Parties, Party, PlayedBy};
use crate::seat::{Seat, SeatSet};
use goals::Goal;
use state::{Action, Moment, World};

/// The size and kind of a search.
#[derive(Clone, Debug)]
struct Scope {
    parties: Parties,
    seats: usize,
    /// The seats whose entries are not delivered at the start.
    late: SeatSet,
    /// The late seats whose entries reach nobody.
    lost: SeatSet,
    /// The seats that can be found overdue.
    suspects: SeatSet,
    /// The seats that can all be found silent since a consent, so that a group is removed.
    silent: SeatSet,
    /// The seats that do nothing after their first entry, as if they had crashed for good.
    gone: SeatSet,
    /// Whether seat 0 leads and the others' entries are acks that name its entry.
    leads: bool,
    steps: u64,
    rounds: u16,
    instances: u16,
    bad: Option<Seat>,
    /// The number of records that the cheat signs.
    cheats: usize,
    crashes: u8,
    heals: bool,
    /// Whether honest seats answer heads, as in the product, instead of delivering any known record in any order. This
    /// gives fewer worlds, so that a search can finish.
    gossips: bool,
    /// Actions that have happened before the search begins.
    opening: Vec<Action>,
    goals: Vec<Goal>,
    /// Hashes of situations from which the present seats were found to finish.
    finish: Arc<Mutex<BTreeSet<u64>>>,
}

impl Scope {
    fn all(&self) -> SeatSet {
        SeatSet::all(self.seats)
    }

    fn honest(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.seats).filter(|seat| self.bad.is_none_or(|bad| bad.index() != *seat))
    }

    fn leader(&self) -> Option<Seat> {
        self.leads.then(|| Seat::new(0)).flatten()
    }

    /// Sets of seats without which the others have to finish: nobody, each party, the cheat, or those gone anyway.
    fn absences(&self) -> Vec<SeatSet> {
        if !self.gone.is_empty() {
            return vec![self.gone];
        }
        if let Some(bad) = self.bad {
            return vec![SeatSet::one(bad)];
        }
        let parties = self.parties.among(self.all()).map(|party| self.parties.seats_of(party));
        std::iter::once(SeatSet::EMPTY).chain(parties).collect()
    }

    /// A set of seats without which the others cannot finish, and whether their last records are lost then.
    fn stuck_without(&self, world: &World) -> Option<(SeatSet, bool)> {
        let mut all = self.absences().into_iter().flat_map(|gone| [(gone, false), (gone, true)]);
        all.find(|(gone, lost)| (!lost || !gone.is_empty()) && !self.finishes(world, *gone, *lost))
    }

    fn timers(&self, world: &World, index: usize, actions: &mut Vec<Action>) {
        let Some(local) = &world.locals[index] else { return };
        let open = local.membership.open();
        if local.done.len() as u64 >= self.steps || open.instance() >= self.instances || !local.blames.is_empty() {
            return;
        }
        let due = self.due(local).iter().filter(|seat| self.suspects.contains(*seat));
        actions.extend(due.map(|seat| Action::Overdue(index, seat)));
        if !self.silent.is_empty() {
            actions.push(Action::Silent(index, self.silent));
        }
        if open.own_round(open.instance()).is_some_and(|round| round + 1 < self.rounds) {
            actions.push(Action::NextRound(index));
        }
    }
}

impl Model for Scope {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        let mut world = self.start();
        for action in &self.opening {
            world = self.next_state(&world, action.clone()).expect("an opening that changes nothing");
        }
        vec![world]
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        for (index, local) in world.locals.iter().enumerate() {
            let Some(local) = local else { continue };
            if local.removed || Seat::new(index).is_some_and(|seat| self.gone.contains(seat)) {
                continue;
            }
            let one_by_one = |seat: Seat| !self.gossips || self.bad == Some(seat) || self.gone.contains(seat);
            let entries = world.entries.iter().filter(|(_, entry)| one_by_one(entry.seat));
            let statements = world.statements.iter().filter(|(_, sent)| one_by_one(sent.0.seat()));
            let names = entries.map(|(name, _)| name).chain(statements.map(|(name, _)| name));
            actions.extend(names.filter(|name| !local.has.contains(*name)).map(|name| Action::Deliver(index, *name)));
            if self.gossips {
                let others = world.locals.iter().enumerate().filter_map(|(other, held)| Some((other, held.as_ref()?)));
                let news = others.filter(|(other, held)| {
                    let speaks = *other != index && Seat::new(*other).is_some_and(|seat| !self.gone.contains(seat));
                    speaks && !held.has.is_subset(&local.has)
                });
                actions.extend(news.map(|(other, _)| Action::Gossip(other, index)));
            }
            self.timers(world, index, actions);
            if world.crashes < self.crashes {
                actions.push(Action::Crash(index));
            }
        }
        if let Some(bad) = self.bad {
            self.cheats(world, bad, actions);
        }
    }

    fn next_state(&self, world: &World, action: Action) -> Option<World> {
        let mut next = world.clone();
        let index = match action {
            Action::Deliver(index, name) => {
                self.deliver(&mut next, index, name, Moment::NOW);
                index
            }
            Action::Gossip(from, to) => {
                self.answer(&mut next, from, to, Moment::NOW);
                to
            }
            Action::Overdue(index, seat) => {
                let overdue = SeatSet::one(seat);
                let moment = Moment { overdue, ..Moment::NOW };
                self.react(&mut next, index, Vec::new(), moment);
                index
            }
            Action::Silent(index, silent) => {
                let now = state::ABSENCE;
                // A group is a consent to more: its first seat is still overdue.
                let overdue = self
                    .due(next.locals[index].as_ref()?)
                    .iter()
                    .filter(|seat| self.suspects.contains(*seat))
                    .collect();
                self.react(&mut next, index, Vec::new(), Moment { now, overdue, silent });
                index
            }
            Action::NextRound(index) => {
                let now = 1 << 40;
                self.react(&mut next, index, Vec::new(), Moment { now, ..Moment::NOW });
                index
            }
            Action::Crash(index) => {
                self.crash(&mut next, index);
                index
            }
            Action::CheatEntry(entry, to) => {
                next.entries.insert(entry.hash(), entry);
                self.deliver(&mut next, to, entry.hash(), Moment::NOW);
                to
            }
            Action::Cheat(sent, to) => {
                let name = sent.0.hash();
                next.statements.insert(name, sent);
                self.deliver(&mut next, to, name, Moment::NOW);
                to
            }
        };
        Arc::make_mut(next.locals[index].as_mut()?).rewind();
        // A crash that loses nothing, or a record that nobody receives, changes nothing.
        (next.locals != world.locals).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let always = [
            Property::always("honest seats agree", |scope: &Self, world: &World| scope.agrees(world)),
            Property::always("nobody honest is blamed", |scope: &Self, world: &World| {
                scope.nobody_honest_is_blamed(world)
            }),
            Property::always("no removal without consent", |scope: &Self, world: &World| scope.is_by_consent(world)),
            Property::always("a journal gives back what it holds", |_: &Self, world: &World| !world.restored_otherwise),
            Property::always("those who are left can finish", |scope: &Self, world: &World| {
                !scope.heals || scope.stuck_without(world).is_none() || scope.is_proven(world)
            }),
        ];
        let goals = self.goals.iter().map(|goal| goal.property());
        always.into_iter().chain(goals).collect()
    }
}

fn set(seats: &[usize]) -> SeatSet {
    seats.iter().filter_map(|seat| Seat::new(*seat)).collect()
}

/// Parties, given the lowest seat of each seat's party.
fn parties(lowest: &[usize]) -> Parties {
    let declared = lowest.iter().map(|seat| Party::of(Seat::new(*seat).unwrap()));
    Parties::new(declared.map(|party| (party, &PlayedBy::Person))).unwrap()
}

fn scope(seats: usize, goals: &[Goal]) -> Scope {
    Scope {
        parties: Parties::singles(seats),
        seats,
        late: set(&[0]),
        lost: SeatSet::EMPTY,
        suspects: set(&[0]),
        silent: SeatSet::EMPTY,
        gone: SeatSet::EMPTY,
        leads: false,
        steps: 1,
        rounds: 2,
        instances: 1,
        bad: None,
        cheats: 0,
        crashes: 0,
        heals: true,
        gossips: true,
        opening: Vec::new(),
        goals: goals.to_vec(),
        finish: Arc::default(),
    }
}

/// The number of worlds that `docs/protocol.md` names for a search, in a table's row that begins with its name.
fn documented(name: &str) -> usize {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/protocol.md");
    let page = std::fs::read_to_string(page).unwrap();
    let begins = format!("| {name} | ");
    let row = page.lines().find_map(|line| line.strip_prefix(&begins));
    row.and_then(|row| row.split(' ').next())
        .map(|number| number.replace(',', ""))
        .and_then(|number| number.parse().ok())
        .unwrap_or_else(|| panic!("docs/protocol.md names no size of the search '{name}'"))
}

/// Searches all worlds, and fails unless there are as many as documented and every goal is reached.
fn search(name: &str, scope: Scope) {
    let worlds = documented(name);
    let (model, properties) = (scope.clone(), scope.properties());
    let began = Instant::now();
    // A search that is larger than it is said to be ends after some time, and fails. (The limit counts a world again
    // for each way into it.)
    let most = worlds.saturating_mul(30);
    let checker = scope.checker().threads(2).target_state_count(most).spawn_bfs().join();
    let (all, depth) = (checker.unique_state_count(), checker.max_depth());
    println!("{name}: {all} worlds, at most {depth} actions each, {:.1?}", began.elapsed());
    let found = checker.discoveries();
    let mut missed = Vec::new();
    for property in properties {
        match (property.expectation, found.get(property.name)) {
            (Expectation::Sometimes, None) => missed.push(property.name),
            (Expectation::Always, Some(path)) => {
                let actions: Vec<Action> = path.clone().into_actions();
                let last = path.last_state();
                let statements: Vec<_> = last.statements.values().map(|sent| sent.0.statement()).collect();
                let stuck = model.stuck_without(last);
                let what = property.name;
                panic!("{name}: not {what}: {actions:#?}\n{statements:#?}\nstuck without, records lost: {stuck:?}");
            }
            _ => {}
        }
    }
    assert!(missed.is_empty(), "{name}: never reached: {missed:?}");
    assert_eq!(all, worlds, "{name}: another size than docs/protocol.md names");
}
