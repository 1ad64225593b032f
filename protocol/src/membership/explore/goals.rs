//! Events that a search must reach. Otherwise properties of removals would hold because nothing is removed.

use stateright::Property;

use super::Scope;
use super::state::{World, out_name, place};
use crate::membership::statement::{Reason, Says, Statement, Value};
use crate::membership::step::{Decision, StepRemoval};
use crate::seat::SeatSet;

/// An event that has to happen in some world of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goal {
    Removal,
    Keep,
    Veto,
    LaterRound,
    SecondStep,
    ReleaseAcrossSteps,
    NoticeOfRemoval,
    Ahead,
    Group,
    EntryOfRemoved,
    WholeParty,
    LeaderOut,
    LossThenRemoval,
    LossThenVeto,
    Conviction,
    CheatRemoves,
}

impl Goal {
    /// The property that stands for it.
    pub(super) fn property(self) -> Property<Scope> {
        match self {
            Self::Removal => Property::sometimes("a step is complete without a removed seat", |_, world: &World| {
                removals(world).next().is_some()
            }),
            Self::Keep => Property::sometimes("keep is decided", |_, world: &World| {
                decisions(world).any(|decision| matches!(decision.value, Value::Keep { .. }))
            }),
            Self::Veto => {
                Property::sometimes("a veto releases a consent, and all complete the step", |_, world: &World| {
                    released_by_veto(world) && world.locals.iter().flatten().all(|local| !local.done.is_empty())
                })
            }
            Self::LaterRound => Property::sometimes("a round after the first decides", |_, world: &World| {
                decisions(world).any(|decision| {
                    let proposal = world.statements.get(&decision.proposal);
                    let round = proposal.map(|sent| &sent.0.statement().says);
                    matches!(round, Some(Says::Propose { round: 1.., .. }))
                })
            }),
            Self::SecondStep => Property::sometimes("the step after the first removes a seat", |_, world: &World| {
                world
                    .locals
                    .iter()
                    .flatten()
                    .any(|local| local.done.get(1).is_some_and(|(_, removed)| !removed.is_empty()))
            }),
            Self::ReleaseAcrossSteps => {
                Property::sometimes("a record names a release of the step before", |_, world: &World| {
                    world.entries.values().any(|entry| {
                        let release = entry.release.and_then(|name| world.statements.get(&name));
                        release.is_some_and(|sent| sent.0.statement().step < entry.step)
                    })
                })
            }
            Self::NoticeOfRemoval => Property::sometimes("a removed seat learns of its removal", |_, world: &World| {
                world.locals.iter().flatten().any(|local| local.removed)
            }),
            Self::Ahead => Property::sometimes("a removed seat has completed the step", |_, world: &World| {
                world.locals.iter().flatten().any(|local| local.removed && !local.done.is_empty())
            }),
            Self::Group => Property::sometimes("two parties are removed together", |scope: &Scope, world: &World| {
                decisions(world).any(|decision| scope.parties.count(decision.value.removed()) > 1)
            }),
            Self::EntryOfRemoved => Property::sometimes("an entry of a removed seat stands", |_, world: &World| {
                let stands =
                    |decision: &Decision| matches!(&decision.value, Value::Out { counted, .. } if !counted.is_empty());
                decisions(world).any(stands)
            }),
            Self::WholeParty => {
                Property::sometimes("a party of two seats is removed", |scope: &Scope, world: &World| {
                    let whole = |removed: &SeatSet| removed.len() > 1 && scope.parties.count(*removed) == 1;
                    removals(world).any(|removed| whole(&removed))
                })
            }
            Self::LeaderOut => {
                Property::sometimes("a step is complete without its leader's entry", |_, world: &World| {
                    let out = |step, parent| Some(out_name(place(step, parent)));
                    let named: Vec<_> = world
                        .entries
                        .values()
                        .filter(|entry| entry.names == out(entry.step, entry.parent))
                        .map(super::state::Entry::hash)
                        .collect();
                    let mut done = world.locals.iter().flatten().flat_map(|local| &local.done);
                    done.any(|(entries, _)| entries.values().any(|entry| named.contains(entry)))
                })
            }
            Self::LossThenRemoval => {
                Property::sometimes("a seat loses an entry, and a seat is removed", |_, world: &World| {
                    world.lost && removals(world).next().is_some()
                })
            }
            Self::LossThenVeto => {
                Property::sometimes("a seat loses an entry, and a veto releases", |_, world: &World| {
                    world.lost && released_by_veto(world)
                })
            }
            Self::Conviction => {
                Property::sometimes("an honest seat has a proof against the cheat", |_, world: &World| {
                    world.locals.iter().flatten().any(|local| !local.blames.is_empty())
                })
            }
            Self::CheatRemoves => {
                Property::sometimes("a removal rests on the cheat's consent", |scope: &Scope, world: &World| {
                    let bad = scope.bad.map_or(SeatSet::EMPTY, SeatSet::one);
                    removals(world).any(|removed| !removed.is_empty() && bad.minus(removed) == bad)
                })
            }
        }
    }
}

/// The seats that each complete step has removed.
fn removals(world: &World) -> impl Iterator<Item = SeatSet> {
    let done = world.locals.iter().flatten().flat_map(|local| &local.done);
    done.map(|(_, removed)| *removed).filter(|removed| !removed.is_empty())
}

/// The steps of all seats.
fn steps(world: &World) -> impl Iterator<Item = &StepRemoval> {
    world.locals.iter().flatten().flat_map(|local| local.membership.past.values().chain([local.membership.open()]))
}

/// The decisions that seats know.
fn decisions(world: &World) -> impl Iterator<Item = &Decision> {
    steps(world).flat_map(StepRemoval::decisions)
}

fn released_by_veto(world: &World) -> bool {
    let by_veto = |statement: &Statement| match &statement.says {
        Says::Release { reasons } => reasons.iter().any(|(_, reason)| matches!(reason, Reason::Vetoes(_))),
        _ => false,
    };
    world.statements.values().any(|sent| by_veto(sent.0.statement()))
}
