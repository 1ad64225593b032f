//! What the simulator has found, each as a small table of its own that does not change when the drawing does.

use std::collections::BTreeMap;

use fairdeal::games::rule_set;
use fairdeal_protocol::seat::Seat;

use super::check;
use super::plan::{Cut, Plan, Weather};
use super::world::World;

/// A table in fair weather, with nobody but honest seats.
fn fair(seed: u64, game: &str, seats: u8) -> Plan {
    let mut plan = Plan::draw(seed);
    plan.rules = rule_set(game, seats, &BTreeMap::new()).unwrap();
    let mut role = plan.roles[0].clone();
    role.cheat = None;
    role.gone_at = None;
    role.leaves_at = None;
    role.old_disk = false;
    role.crashes = 0;
    role.patience = 1_500;
    role.thinks = 1;
    plan.roles = vec![role; usize::from(seats)];
    plan.weather = Weather::default();
    plan.cuts = Vec::new();
    plan.heal = 2_000;
    plan.enough = 300;
    plan.wishes = 0;
    plan
}

fn played(plan: Plan) -> World {
    let what = plan.seed;
    let mut world = World::new(plan, false);
    world.run();
    check::check(&mut world);
    assert!(
        world.watch.failures.is_empty(),
        "seed {what}: {:#?}",
        world.watch.failures
    );
    world
}

/// The last seat of a game that its rules let it play on alone has nobody to leave it to: its wish to leave
/// waited for its turn, and its farewell would have been its own fault.
#[test]
fn the_last_one_cannot_leave() {
    for seed in 0..6 {
        let mut plan = fair(seed, "sphinxs-paw", 2);
        // Both wish to go, and one is a step later.
        plan.roles[0].leaves_at = Some(12 + seed);
        plan.roles[1].leaves_at = Some(12);
        plan.enough = 60;
        played(plan);
    }
}

/// A seat that lacks another's entry of the very step in which a third one leaves, and votes on it: the one
/// that has left still says that the entry stands, for nobody else is there who can.
#[test]
fn who_has_left_still_answers_ballots_of_its_last_step() {
    let seat = |number| Seat::new(number).unwrap();
    for seed in 0..8 {
        let mut plan = fair(seed, "loot", 3);
        plan.roles[1].leaves_at = Some(7 + seed % 2);
        plan.enough = 30;
        plan.heal = 30_000;
        // Seat 2 hears nobody from about then on, for longer than its patience.
        let from = 100 + 20 * seed;
        plan.cuts = vec![Cut {
            from,
            until: from + 6_000,
            links: vec![(seat(0), seat(2)), (seat(1), seat(2))],
            one_way: true,
        }];
        played(plan);
    }
}
