//! The records that the dishonest seat may sign, and the proof of its fault.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Scope;
use super::state::{Action, Entry, Sent, TABLE, World, next_parent};
use crate::hash::Hash32;
use crate::membership::evidence;
use crate::membership::statement::{Accepted, Entries, Says, Statement, Value, Verified};
use crate::seat::{Seat, SeatSet};

impl Scope {
    /// All records that the cheat may sign in a world, each with the seat that receives it first. A record that nobody
    /// receives changes nothing.
    pub(super) fn cheats(&self, world: &World, bad: Seat, actions: &mut Vec<Action>) {
        let statements = world.statements.values().filter(|sent| sent.0.seat() == bad).count();
        let entries = world.entries.values().filter(|entry| entry.seat == bad).count();
        // Its first entry was there from the start.
        if statements + entries > self.cheats {
            return;
        }
        let parents: BTreeSet<(u64, Hash32)> = self.parents(world).filter(|(step, _)| *step < self.steps).collect();
        for (step, parent) in parents {
            for variant in 0..2 {
                let led = self.leader().filter(|leader| *leader != bad);
                let mut names = vec![None];
                if let Some(leader) = led {
                    let of = world
                        .entries
                        .values()
                        .filter(|entry| entry.seat == leader && (entry.step, entry.parent) == (step, parent));
                    names = of.map(|entry| Some(entry.hash())).collect();
                }
                for names in names {
                    let entry = Entry { step, parent, seat: bad, variant, names, release: None };
                    if !world.entries.contains_key(&entry.hash()) {
                        actions.extend(self.honest().map(|to| Action::CheatEntry(entry, to)));
                    }
                }
            }
            let mut says = Vec::new();
            let of = |seat: Seat| {
                let here = move |entry: &&Entry| (entry.step, entry.parent, entry.seat) == (step, parent, seat);
                world.entries.values().filter(here).map(Entry::hash)
            };
            for seat in self.suspects.without(bad).iter() {
                says.push(Says::Consent { out: SeatSet::one(seat), counted: Entries::default() });
                let vetoes = of(seat).map(|entry| Says::Veto { seat, entry });
                says.extend(vetoes);
            }
            let statements = || {
                world
                    .statements
                    .values()
                    .map(|sent| &sent.0)
                    .filter(|sent| (sent.statement().step, sent.statement().parent) == (step, parent))
            };
            for round in 0..self.rounds {
                says.push(Says::Promise { round, accepted: None });
                for sent in statements() {
                    if let Says::Propose { round: of, .. } = sent.statement().says {
                        if of < round {
                            let accepted = Some(Accepted { round: of, proposal: sent.hash() });
                            says.push(Says::Promise { round, accepted });
                        }
                        if of == round {
                            says.push(Says::Accept { round, proposal: sent.hash() });
                        }
                    }
                }
                let proposer = usize::from(round) % self.parties.count(self.all());
                if proposer == bad.index() {
                    let promises: Vec<Hash32> = statements()
                        .filter(|sent| matches!(sent.statement().says, Says::Promise { round: of, .. } if of == round))
                        .map(|sent| sent.hash())
                        .collect();
                    let mut values: Vec<Value> = Vec::new();
                    for seat in self.suspects.iter() {
                        values.push(Value::Out { seats: SeatSet::one(seat), counted: Entries::default() });
                        values.extend(of(seat).map(|entry| Value::Keep { seat, entry }));
                    }
                    for bits in 0..1_u32 << promises.len() {
                        if bits.count_ones() as usize != self.seats / 2 + 1 {
                            continue;
                        }
                        let some: Vec<Hash32> =
                            promises.iter().enumerate().filter(|(i, _)| bits >> i & 1 == 1).map(|(_, p)| *p).collect();
                        for value in &values {
                            says.push(Says::Propose {
                                round,
                                value: value.clone(),
                                promises: some.clone().try_into().unwrap(),
                            });
                        }
                    }
                }
            }
            for says in says {
                let statement = Statement { table: TABLE, step, parent, instance: 0, seat: bad, release: None, says };
                let verified = Verified::unsigned(statement);
                if !world.statements.contains_key(&verified.hash()) {
                    let sent = Sent(Arc::new(verified));
                    actions.extend(self.honest().map(|to| Action::Cheat(sent.clone(), to)));
                }
            }
        }
    }

    /// Every state through which an honest seat has passed.
    fn parents(&self, world: &World) -> impl Iterator<Item = (u64, Hash32)> {
        let genesis = Hash32::default();
        let passed = world.locals.iter().flatten().flat_map(move |local| {
            let mut parent = genesis;
            local.done.iter().zip(1..).map(move |((entries, removed), step)| {
                parent = next_parent(parent, entries, *removed);
                (step, parent)
            })
        });
        std::iter::once((0, genesis)).chain(passed)
    }

    /// Whether the cheat has signed two records that exclude each other.
    pub(super) fn is_proven(&self, world: &World) -> bool {
        let Some(bad) = self.bad else { return false };
        let entries: Vec<&Entry> = world.entries.values().filter(|entry| entry.seat == bad).collect();
        let statements: Vec<&Statement> =
            world.statements.values().filter(|sent| sent.0.seat() == bad).map(|sent| sent.0.statement()).collect();
        let two_entries = entries.iter().any(|one| entries.iter().any(|other| one != other && one.step == other.step));
        let two_statements =
            statements.iter().any(|one| statements.iter().any(|other| one != other && evidence::exclude(one, other)));
        let parted = statements
            .iter()
            .any(|one| entries.iter().any(|entry| entry.step == one.step && entry.parent != one.parent));
        two_entries
            || two_statements
            || parted
            || world.locals.iter().flatten().any(|local| local.blames.contains(bad))
            || self.goes_on_forbidden(world, bad)
    }

    /// Whether the cheat consented to a removal, then signed a record of the next step over a hash without that
    /// removal. Both logs together prove that.
    pub(super) fn goes_on_forbidden(&self, world: &World, bad: Seat) -> bool {
        let consents = world.statements.values().filter_map(|sent| match &sent.0.statement().says {
            Says::Consent { out, .. } if sent.0.seat() == bad => Some((sent.0.statement().step, *out)),
            _ => None,
        });
        let done = world.locals.iter().flatten();
        let removed_by: BTreeMap<Hash32, SeatSet> = done
            .flat_map(|local| {
                let mut parent = Hash32::default();
                local
                    .done
                    .iter()
                    .map(|(entries, removed)| {
                        parent = next_parent(parent, entries, *removed);
                        (parent, *removed)
                    })
                    .collect::<Vec<_>>()
            })
            .collect();
        let entries = world.entries.values().filter(|entry| entry.seat == bad).map(|entry| (entry.step, entry.parent));
        let statements = world
            .statements
            .values()
            .filter(|sent| sent.0.seat() == bad)
            .map(|sent| (sent.0.statement().step, sent.0.statement().parent));
        let records: Vec<(u64, Hash32)> = entries.chain(statements).collect();
        consents.into_iter().any(|(step, out)| {
            records.iter().any(|(at, parent)| {
                *at == step + 1 && removed_by.get(parent).is_some_and(|removed| !out.minus(*removed).is_empty())
            })
        })
    }
}
