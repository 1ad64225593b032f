//! The properties that hold in every world.

use std::collections::BTreeSet;
use std::hash::{Hash as _, Hasher as _};
use std::sync::Arc;

use super::Scope;
use super::state::{Local, Moment, World};
use crate::hash::Hash32;
use crate::membership::evidence;
use crate::membership::statement::{Says, Statement};
use crate::seat::{Seat, SeatSet};

impl Scope {
    /// Whether the present seats finish if all but `gone` are present, prompt and honest from now on.
    //= P5.31
    pub(super) fn finishes(&self, world: &World, gone: SeatSet, lost: bool) -> bool {
        let is_gone = |index: &usize| Seat::new(*index).is_some_and(|seat| gone.contains(seat));
        let present: Vec<usize> = self.honest().filter(|index| !is_gone(index)).collect();
        // If `lost`, records of the absent seats that no other holds are lost; otherwise they will reach all.
        let mut sent: BTreeSet<Hash32> = BTreeSet::new();
        if !lost {
            let entries = world.entries.iter().filter(|(_, of)| gone.contains(of.seat));
            sent.extend(entries.map(|(name, _)| *name));
            let statements = world.statements.iter().filter(|(_, of)| gone.contains(of.0.seat()));
            sent.extend(statements.map(|(name, _)| *name));
        }
        // What follows depends on nothing else, so worlds that share it are looked at once.
        let mut key = std::hash::DefaultHasher::new();
        let locals: Vec<_> = present.iter().map(|index| &world.locals[*index]).collect();
        (u8::from(gone), &sent, locals).hash(&mut key);
        let key = key.finish();
        let known = self.finish.lock().unwrap().contains(&key);
        let finishes = known || self.heals(world.clone(), &present, gone, &sent);
        if finishes && !known {
            self.finish.lock().unwrap().insert(key);
        }
        finishes
    }

    fn heals(&self, mut world: World, present: &[usize], gone: SeatSet, sent: &BTreeSet<Hash32>) -> bool {
        let mut moment = Moment::NOW;
        // Time passes in growing steps, each shorter than a round.
        let mut pause: u64 = 2_000;
        for _ in 0..60 {
            pause += pause / 4;
            moment.now += pause;
            // All messages arrive before a round ends.
            for _ in 0..12 {
                let before = world.clone();
                for to in present {
                    self.tell(&mut world, *to, sent, moment);
                    for from in present {
                        self.answer(&mut world, *from, *to, moment);
                    }
                }
                if world == before {
                    break;
                }
            }
            let mut waiting = false;
            for index in present {
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
            for index in present {
                // A seat that has come to the end of the search misses nobody.
                let due = world.locals[*index]
                    .as_ref()
                    .filter(|local| (local.done.len() as u64) < self.steps)
                    .map(|local| self.due(local));
                let timed_out = Moment { overdue: due.unwrap_or_default(), silent: gone, ..moment };
                self.react(&mut world, *index, Vec::new(), timed_out);
            }
        }
        false
    }

    //= P5.26, P5.28
    pub(super) fn agrees(&self, world: &World) -> bool {
        if self.is_proven(world) {
            return true;
        }
        let locals: Vec<(usize, &Arc<Local>)> =
            world.locals.iter().enumerate().filter_map(|(index, local)| Some((index, local.as_ref()?))).collect();
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

    //= P5.30
    pub(super) fn nobody_honest_is_blamed(&self, world: &World) -> bool {
        let bad = self.bad.map_or(SeatSet::EMPTY, SeatSet::one);
        let blamed = world.locals.iter().flatten().flat_map(|local| local.blames.iter());
        let all: Vec<&Statement> = world
            .statements
            .values()
            .map(|sent| sent.0.statement())
            .filter(|statement| !bad.contains(statement.seat))
            .collect();
        let excluded = all.iter().any(|one| all.iter().any(|other| one != other && evidence::exclude(one, other)));
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
