//! An exhaustive search of the removal rules, with the real state machine as each honest party's code.
//!
//! A [`World`] holds the state of every honest seat and everything ever signed. A signed record may reach any seat at
//! any time, in any order, or never. Any seat may find another overdue while it does not count that seat's entry. A
//! crash forgets an entry that nothing rests on. One seat may cheat and sign anything.
//!
//! In every world, honest seats agree or there is evidence, and no honest seat is blamed. No seat is removed without
//! the consent of every honest seat that stays, and the remaining seats can finish, whichever seat is gone.

mod cheat;
mod promises;
mod state;
mod world;

use std::sync::Arc;

use stateright::{Checker as _, Model, Property};

use super::statement::{Says, Statement, Value};
use crate::party::Parties;
use crate::seat::{Seat, SeatSet};
use state::{Action, World};

/// The size and kind of a search.
#[derive(Clone, Debug)]
struct Scope {
    parties: Parties,
    seats: usize,
    /// The seats whose entries are not delivered at the start.
    late: SeatSet,
    /// The seats that can be found overdue.
    suspects: SeatSet,
    /// Whether seat 0 leads and the others' entries are acks that name its entry.
    leads: bool,
    steps: u64,
    rounds: u16,
    instances: u16,
    bad: Option<Seat>,
    /// The number of statements that the cheat signs.
    cheats: usize,
    crashes: u8,
    heals: bool,
    /// Whether honest seats answer heads, as in the product, instead of delivering any known record in any order. This
    /// gives fewer worlds, so that a search can finish.
    gossips: bool,
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
}

impl Model for Scope {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        vec![self.start()]
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        for (index, local) in world.locals.iter().enumerate() {
            let Some(local) = local else { continue };
            if local.removed {
                continue;
            }
            let of_bad = |seat: Seat| self.bad == Some(seat);
            let entries = world
                .entries
                .iter()
                .filter(|(_, entry)| !self.gossips || of_bad(entry.seat));
            let statements = world
                .statements
                .iter()
                .filter(|(_, sent)| !self.gossips || of_bad(sent.0.seat()));
            let names = entries.map(|(name, _)| name).chain(statements.map(|(name, _)| name));
            actions.extend(
                names
                    .filter(|name| !local.has.contains(*name))
                    .map(|name| Action::Deliver(index, *name)),
            );
            if self.gossips {
                let others = world
                    .locals
                    .iter()
                    .enumerate()
                    .filter_map(|(other, held)| Some((other, held.as_ref()?)));
                let news = others.filter(|(other, held)| *other != index && !held.has.is_subset(&local.has));
                actions.extend(news.map(|(other, _)| Action::Gossip(other, index)));
            }
            let open = local.membership.open();
            if (local.done.len() as u64) < self.steps && open.instance() < self.instances {
                let due = self
                    .due(local)
                    .iter()
                    .filter(|seat| self.suspects.contains(*seat) && !local.overdue.contains(*seat));
                actions.extend(due.map(|seat| Action::Overdue(index, seat)));
                if open
                    .own_round(open.instance())
                    .is_some_and(|round| round + 1 < self.rounds)
                {
                    actions.push(Action::NextRound(index));
                }
            }
            if world.crashes < self.crashes {
                let own: Vec<&Statement> = world
                    .statements
                    .values()
                    .map(|sent| sent.0.statement())
                    .filter(|s| s.seat.index() == index)
                    .collect();
                for (seat, entry) in &local.entries {
                    let name = entry.hash();
                    let stands = local.entries.get(&open.me).is_some_and(|mine| mine.names == Some(name))
                        || open.fixed().get(seat) == Some(&name)
                        || own.iter().any(|statement| match &statement.says {
                            Says::Consent { counted, .. } => counted.contains(&(*seat, name)),
                            Says::Veto { entry, .. } => *entry == name,
                            Says::Propose {
                                value: Value::Keep { entry, .. },
                                ..
                            } => *entry == name,
                            Says::Accept { .. } => true,
                            _ => false,
                        });
                    if seat.index() != index && !stands {
                        actions.push(Action::Forget(index, *seat));
                    }
                }
            }
        }
        if let Some(bad) = self.bad {
            self.cheats(world, bad, actions);
        }
    }

    fn next_state(&self, world: &World, action: Action) -> Option<World> {
        let mut next = world.clone();
        match action {
            Action::Deliver(index, name) => self.deliver(&mut next, index, name),
            Action::Gossip(from, to) => {
                self.answer(&mut next, from, to);
            }
            Action::Overdue(index, seat) => {
                Arc::make_mut(next.locals[index].as_mut()?).overdue.insert(seat);
                self.react(&mut next, index, Vec::new());
            }
            Action::NextRound(index) => {
                Arc::make_mut(next.locals[index].as_mut()?).now += 1 << 40;
                self.react(&mut next, index, Vec::new());
            }
            Action::Forget(index, seat) => {
                next.crashes += 1;
                let local = Arc::make_mut(next.locals[index].as_mut()?);
                let entry = local.entries.remove(&seat)?;
                local.has.remove(&entry.hash());
            }
            Action::CheatEntry(entry) => {
                next.entries.insert(entry.hash(), entry);
            }
            Action::Cheat(sent) => {
                next.statements.insert(sent.0.hash(), sent);
            }
        }
        (next != *world).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("honest seats agree", |scope: &Self, world: &World| scope.agrees(world)),
            Property::always("nobody honest is blamed", |scope: &Self, world: &World| {
                scope.nobody_honest_is_blamed(world)
            }),
            Property::always("no removal without consent", |scope: &Self, world: &World| {
                scope.is_by_consent(world)
            }),
            Property::always("those who are left can finish", |scope: &Self, world: &World| {
                let gone = match scope.bad {
                    Some(bad) => vec![Some(bad)],
                    None => std::iter::once(None)
                        .chain(
                            scope
                                .parties
                                .among(scope.all())
                                .filter(|party| scope.parties.seats_of(*party).len() == 1)
                                .map(|party| Some(party.lowest())),
                        )
                        .collect(),
                };
                !scope.heals
                    || gone.into_iter().all(|gone| {
                        [false, true]
                            .into_iter()
                            .filter(|lost| gone.is_some() || !lost)
                            .all(|lost| scope.heals(world, gone, lost) || scope.is_proven(world))
                    })
            }),
            Property::sometimes("somebody is removed", |_: &Self, world: &World| {
                world
                    .locals
                    .iter()
                    .flatten()
                    .any(|local| local.done.iter().any(|(_, removed)| !removed.is_empty()))
            }),
            Property::sometimes("a veto ends the matter", |_: &Self, world: &World| {
                let signed =
                    |kind: fn(&Says) -> bool| world.statements.values().any(|sent| kind(&sent.0.statement().says));
                signed(|says| matches!(says, Says::Release { .. }))
                    && world.locals.iter().flatten().all(|local| local.done.len() == 1)
            }),
        ]
    }
}

fn set(seats: &[usize]) -> SeatSet {
    seats.iter().filter_map(|seat| Seat::new(*seat)).collect()
}

fn scope(seats: usize) -> Scope {
    Scope {
        parties: Parties::singles(seats),
        seats,
        late: set(&[0]),
        suspects: set(&[0]),
        leads: false,
        steps: 1,
        rounds: 2,
        instances: 1,
        bad: None,
        cheats: 0,
        crashes: 0,
        heals: true,
        gossips: true,
    }
}

/// Searches until all worlds or `most` of them are visited, and prints their number.
fn search(name: &str, scope: Scope, most: usize) {
    let most = std::env::var("FAIRDEAL_WORLDS")
        .ok()
        .and_then(|most| most.parse().ok())
        .unwrap_or(most);
    let checker = scope.checker().threads(2).target_state_count(most).spawn_bfs().join();
    println!(
        "{name}: {} worlds, {} of them different, depth {}, whole: {}",
        checker.state_count(),
        checker.unique_state_count(),
        checker.max_depth(),
        checker.is_done() && checker.state_count() < most
    );
    for (property, path) in checker.discoveries() {
        if property != "somebody is removed" && property != "a veto ends the matter" {
            let actions: Vec<Action> = path.clone().into_actions();
            let last = path.last_state();
            panic!("{name}: not {property}: {actions:#?}\n{last:#?}");
        }
    }
}

#[test]
fn three_parties() {
    search("three parties", scope(3), 2_000);
    let any_order = Scope {
        gossips: false,
        heals: false,
        ..scope(3)
    };
    search("three parties, any part in any order", any_order, 2_000);
}

#[test]
fn three_parties_with_a_leader() {
    search(
        "three parties, a leader",
        Scope {
            leads: true,
            ..scope(3)
        },
        2_000,
    );
}

#[test]
fn three_parties_one_of_which_cheats() {
    let cheat = Scope {
        bad: Seat::new(2),
        cheats: 4,
        heals: false,
        ..scope(3)
    };
    search("three parties, one cheats", cheat.clone(), 2_000);
    let next = Scope {
        steps: 2,
        suspects: set(&[0, 1]),
        ..cheat
    };
    search("three parties, two steps, one cheats", next, 2_000);
}

#[test]
fn four_parties() {
    search(
        "four parties",
        Scope {
            instances: 2,
            ..scope(4)
        },
        2_000,
    );
}
