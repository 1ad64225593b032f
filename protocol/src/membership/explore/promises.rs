//! The properties that hold in every world.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Scope;
use super::state::{Local, World};
use crate::hash::Hash32;
use crate::membership::evidence;
use crate::membership::statement::{Says, Statement};
use crate::seat::{Seat, SeatSet};

impl Scope {
    /// Whether the present seats finish if all but `gone` are present, prompt and honest from now on.
    pub(super) fn heals(&self, world: &World, gone: Option<Seat>, lost: bool) -> bool {
        let mut world = world.clone();
        let present: Vec<usize> = self
            .honest()
            .filter(|index| gone.is_none_or(|gone| gone.index() != *index))
            .collect();
        // If `lost`, records of the absent seat that no other holds are lost; otherwise they will reach all.
        let mut sent: BTreeSet<Hash32> = BTreeSet::new();
        if let Some(gone) = gone.filter(|_| !lost) {
            let entries = world.entries.iter().filter(|(_, of)| of.seat == gone);
            sent.extend(entries.map(|(name, _)| *name));
            let statements = world.statements.iter();
            let statements = statements.filter(|(_, of)| of.0.seat() == gone);
            sent.extend(statements.map(|(name, _)| *name));
        }
        // Time passes in growing steps, each shorter than a round.
        let mut pause: u64 = 2_000;
        for _ in 0..60 {
            pause += pause / 4;
            // All messages arrive before a round ends.
            for _ in 0..12 {
                let before = world.clone();
                for to in &present {
                    self.tell(&mut world, *to, &sent);
                    for from in &present {
                        self.answer(&mut world, *from, *to);
                    }
                }
                if world == before {
                    break;
                }
            }
            let mut waiting = false;
            for index in &present {
                let Some(local) = world.locals[*index].as_ref() else {
                    continue;
                };
                if !local.blames.is_empty() {
                    return true;
                }
                if local.removed || local.done.len() as u64 >= self.steps {
                    continue;
                }
                let open = local.membership.open();
                let live = open.live(open.instance());
                if self.parties.count(live) <= 2 {
                    // These can close the table by claim.
                    continue;
                }
                waiting = true;
            }
            if !waiting {
                return true;
            }
            for index in &present {
                if let Some(local) = &mut world.locals[*index] {
                    let local = Arc::make_mut(local);
                    local.overdue = self.all();
                    local.now += pause;
                    let missing = self.due(local);
                    local.overdue = missing;
                }
                self.react(&mut world, *index, Vec::new());
            }
        }
        false
    }

    pub(super) fn agrees(&self, world: &World) -> bool {
        if self.is_proven(world) {
            return true;
        }
        let locals: Vec<(usize, &Arc<Local>)> = world
            .locals
            .iter()
            .enumerate()
            .filter_map(|(index, local)| Some((index, local.as_ref()?)))
            .collect();
        locals.iter().all(|(x, one)| {
            locals.iter().all(|(y, other)| {
                let seats = [Seat::new(*x).unwrap(), Seat::new(*y).unwrap()];
                for (step, (a, b)) in one.done.iter().zip(&other.done).enumerate() {
                    if a == b {
                        continue;
                    }
                    let x_out = b.1.contains(seats[0]);
                    let y_out = a.1.contains(seats[1]);
                    // A removed seat is at most one step ahead, and stops.
                    return (x_out && !y_out && one.done.len() == step + 1)
                        || (y_out && !x_out && other.done.len() == step + 1);
                }
                true
            })
        })
    }

    pub(super) fn nobody_honest_is_blamed(&self, world: &World) -> bool {
        let bad = self.bad.map_or(SeatSet::EMPTY, SeatSet::one);
        let blamed = world.locals.iter().flatten().flat_map(|local| local.blames.iter());
        let all: Vec<&Statement> = world
            .statements
            .values()
            .map(|sent| sent.0.statement())
            .filter(|statement| !bad.contains(statement.seat))
            .collect();
        let excluded = all
            .iter()
            .any(|one| all.iter().any(|other| one != other && evidence::exclude(one, other)));
        blamed.into_iter().all(|seat| bad.contains(seat)) && !excluded
    }

    /// Whether every removal has the consent of every honest seat that stays.
    pub(super) fn is_by_consent(&self, world: &World) -> bool {
        world.locals.iter().flatten().all(|local| {
            let open = local.membership.open();
            open.decisions().iter().enumerate().all(|(instance, decision)| {
                let removed = decision.value.removed();
                let live = open.live(u16::try_from(instance).unwrap());
                let stays = live.minus(removed).iter().filter(|seat| self.bad != Some(*seat));
                removed.is_empty()
                    || stays.into_iter().all(|seat| {
                        world.statements.values().any(|sent| {
                            let of = sent.0.statement();
                            of.seat == seat
                                && usize::from(of.instance) == instance
                                && matches!(of.says, Says::Consent { out, .. } if out == removed)
                        })
                    })
            })
        })
    }
}
