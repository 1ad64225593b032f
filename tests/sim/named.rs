//! Failures that the simulator once found. Each is a small fixed table, independent of how plans are drawn.

use std::collections::BTreeMap;

use fairdeal_games::rule_set;
use fairdeal_protocol::party::Party;
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::live::Stop;
use fairdeal_testkit::seats::seat;
use fairdeal_testkit::{Cut, Weather};

use super::cheat::Habit;
use super::check;
use super::plan::{ClockFault, Fall, Manners, Plan};
use super::world::{World, is_done};

/// A table on a perfect network with only honest seats.
fn fair(seed: u64, game: &str, seats: u8) -> Plan {
    let mut plan = Plan::draw(seed);
    plan.rules = rule_set(game, seats, &BTreeMap::new()).unwrap();
    let mut role = plan.roles[0].clone();
    role.cheat = None;
    role.gone_at = None;
    role.leaves_at = None;
    role.old_disk = false;
    role.crashes = 0;
    role.absence = 1_500;
    role.thinks = 1;
    role.ponders = 0;
    role.manners = Manners::Patient;
    plan.roles = vec![role; usize::from(seats)];
    plan.parties = Seat::first(plan.roles.len()).map(Party::of).collect();
    plan.weather = Weather::default();
    plan.cuts = Vec::new();
    plan.apart.clear();
    plan.falls.clear();
    plan.heal = 2_000;
    plan.enough = 300;
    plan.wishes = 0;
    plan.distance = 0;
    plan.phases = vec![0; usize::from(seats)];
    plan.clocks.clear();
    plan
}

fn played(plan: Plan) -> World {
    let what = plan.seed;
    let traced = std::env::var_os("FAIRDEAL_TRACE").is_some();
    let mut world = World::new(plan, traced);
    world.run();
    check::check(&mut world);
    for line in world.lines() {
        println!("{line}");
    }
    assert!(world.watch.failures.is_empty(), "seed {what}: {:#?}", world.watch.failures);
    world
}

/// Some rules let the last seat play on alone: nobody else is there, so it cannot leave. Its request used to wait for
/// its turn, and its Leave entry would have been a fault of its own.
#[test]
fn the_last_one_cannot_leave() {
    for seed in 0..6 {
        let mut plan = fair(seed, "sphinxs-paw", 2);
        // Both want to leave, one of them a step later.
        plan.roles[0].leaves_at = Some(12 + seed);
        plan.roles[1].leaves_at = Some(12);
        plan.enough = 60;
        played(plan);
    }
}

/// A seat lacks an entry of the step in which a third seat leaves, and consents to the removal of that entry's author.
/// The departed seat still vetoes: no other seat can.
#[test]
fn a_leaver_still_vetoes_in_its_last_step() {
    for seed in 0..8 {
        let mut plan = fair(seed, "loot", 3);
        plan.roles[1].leaves_at = Some(7 + seed % 2);
        plan.enough = 30;
        plan.heal = 30_000;
        // From about this time seat 2 hears nobody, for longer than its absence timeout.
        let from = 100 + 20 * seed;
        plan.cuts = vec![Cut { during: from..from + 6_000, links: [(seat(0), seat(2)), (seat(1), seat(2))].into() }];
        played(plan);
    }
}

/// Three seats, two of them without a direct link: a player who thinks for longer than its absence timeout stays.
#[test]
fn a_thinker_without_a_direct_link_stays() {
    for thinker in 0..3 {
        let mut plan = fair(thinker as u64, "plutonian-poker", 3);
        plan.apart = [(seat(1), seat(2)), (seat(2), seat(1))].into();
        plan.roles[thinker].ponders = 600_000;
        plan.enough = 40;
        let world = played(plan);
        assert!(world.tally.count("long thoughts") > 0);
        assert_eq!(world.tally.count("honest seats removed"), 0);
        assert!(world.room.places.iter().all(is_done));
    }
}

/// Each guest of four has a link only to the host. One comes back from a crash and asks all others through the host. It
/// signs again, and the game continues.
#[test]
fn a_returner_asks_by_way_of_the_host() {
    for seed in 0..4 {
        let mut plan = fair(seed, "plutonian-poker", 4);
        for (one, other) in [(1, 2), (1, 3), (2, 3)] {
            plan.apart.insert((seat(one), seat(other)));
            plan.apart.insert((seat(other), seat(one)));
        }
        plan.falls = vec![Fall { at: 300 + 400 * seed, seats: SeatSet::one(seat(2)), back: Some(700) }];
        plan.enough = 40;
        let world = played(plan);
        assert_eq!(world.tally.count("honest seats removed"), 0, "seed {seed}");
        assert!(world.room.places.iter().all(is_done));
    }
}

/// Two of four seats crash, one of them the only link between the other two. Each of those closes the table alone. Both
/// crashed seats come back and close it too, at a later step or with the same claims, even though one is linked only to
/// the other.
#[test]
fn nobody_waits_at_a_closed_table() {
    let mut plan = fair(1, "loot", 4);
    for (one, other) in [(0, 2), (0, 3), (2, 3)] {
        plan.apart.insert((seat(one), seat(other)));
        plan.apart.insert((seat(other), seat(one)));
    }
    plan.falls = vec![Fall { at: 300, seats: [seat(1), seat(2)].into_iter().collect(), back: Some(20_000) }];
    plan.heal = 30_000;
    for role in &mut plan.roles {
        role.claims = true;
    }
    let world = played(plan);
    for table in world.room.tables() {
        let stop = table.stopped();
        assert!(matches!(stop, Some(Stop::Claimed(_))), "{stop:?}");
    }
}

/// Five seats, 250 ms apart, whose programs tick at different moments. One returns while another player thinks for ten
/// minutes: its requests are forwarded, and forwarding ends. They used to chase each other in rings for ever.
#[test]
fn a_return_starts_no_storm() {
    for seed in 0..3 {
        for distance in [0, 100, 250, 400] {
            let mut plan = fair(seed, "plutonian-poker", 5);
            plan.distance = distance;
            plan.phases = vec![0, 170, 430, 610, 890];
            plan.falls = vec![Fall { at: 20_000 + 300 * seed, seats: SeatSet::one(seat(2)), back: Some(700) }];
            for role in &mut plan.roles {
                role.absence = 20_000;
                role.thinks = 4_000;
                role.ponders = 600_000;
            }
            plan.enough = 40;
            let world = played(plan);
            assert!(world.tally.count("rests whose traffic was judged") > 0);
            assert!(world.room.places.iter().all(is_done));
        }
    }
}

/// One of two restarts, and the other is gone for good. The one that is left closes the table: with a claim if it holds
/// its entry of the open step, and otherwise for itself alone, with nothing signed.
#[test]
fn who_has_returned_can_close_a_deserted_table() {
    let mut ways = [0, 0];
    for at in 0..12 {
        let mut plan = fair(at, "loot", 2);
        plan.falls = vec![
            Fall { at: 1_000 + 90 * at, seats: SeatSet::one(seat(1)), back: None },
            Fall { at: 1_200 + 90 * at, seats: SeatSet::one(seat(0)), back: Some(500) },
        ];
        plan.roles.iter_mut().for_each(|role| role.thinks = 300);
        let world = played(plan);
        match world.room[0].table.stopped() {
            Some(Stop::Claimed(_)) => ways[0] += 1,
            Some(Stop::Deserted) => ways[1] += 1,
            other => panic!("{other:?}"),
        }
    }
    assert!(ways[0] > 0 && ways[1] > 0, "{ways:?}");
}

/// A seat shows two faces while another is away for good: the fork report of the absent seat never comes. Those present
/// close the table with the evidence, which names the culprit.
//= P6.12
#[test]
fn a_fork_does_not_freeze_a_table_for_ever() {
    let mut closed = 0;
    for seed in 0..6 {
        let mut plan = fair(seed, "plutonian-poker", 4);
        plan.roles[3].cheat = Some(Habit::two_faces(6 + 2 * seed, SeatSet::one(seat(0))));
        plan.falls = vec![Fall { at: 100 + 50 * seed, seats: SeatSet::one(seat(2)), back: None }];
        plan.roles.iter_mut().for_each(|role| role.absence = 5_000);
        plan.enough = 60;
        let world = played(plan);
        closed += world.tally.count("closings: with the evidence of a fork");
    }
    assert!(closed > 0);
}

/// Two play with a turn time. One thinks for half of it at each turn, the other's clock is set, and its machine sleeps:
/// nobody is out of time.
#[test]
fn clocks_that_are_set_cost_nobody_a_turn() {
    for seed in 0..6 {
        let mut plan = fair(seed, "loot", 2);
        plan.rules = rule_set("loot", 2, &[("turn-time".to_owned(), "30".to_owned())].into()).unwrap();
        plan.distance = 50 * seed;
        plan.phases = vec![0, 400];
        for role in &mut plan.roles {
            role.absence = 120_000;
            role.thinks = 5_000;
            role.claims = true;
        }
        let hours = 3_600_000;
        plan.clocks = (0..20)
            .map(|number| {
                let at = 5_000 + 7_000 * number;
                let what = match number % 4 {
                    0 => ClockFault::Set(3 * hours),
                    1 => ClockFault::Set(-2 * hours),
                    2 => ClockFault::Sleep(12_000),
                    _ => ClockFault::Set(60_000),
                };
                (at, seat(usize::from(number % 3 == 0)), what)
            })
            .collect();
        plan.enough = 40;
        let world = played(plan);
        assert_eq!(world.tally.count("claims that a turn time has run out"), 0);
        assert!(world.room.places.iter().all(is_done), "seed {seed}");
        assert_eq!(world.tally.count("closings: by a claim"), 0);
    }
}

/// Two of five disappear at once: the remaining three remove both and play on.
#[test]
fn two_of_five_are_removed_together() {
    for seed in 0..3 {
        let mut plan = fair(seed, "plutonian-poker", 5);
        plan.falls = vec![Fall { at: 300 + 400 * seed, seats: [seat(1), seat(3)].into_iter().collect(), back: None }];
        plan.enough = 40;
        let world = played(plan);
        for stays in [0, 2, 4] {
            assert!(is_done(&world.room[stays]), "seed {seed}");
        }
        assert_eq!(world.tally.count("honest seats removed"), 2, "seed {seed}");
    }
}

/// All rude players propose to remove a slow player. One patient player does not consent, so the slow player stays.
#[test]
fn one_patient_player_keeps_a_thinker() {
    for (rude, removed) in [(vec![1, 2], 1), (vec![1], 0)] {
        let mut plan = fair(1, "sphinxs-paw", 3);
        plan.roles[0].ponders = 300_000;
        plan.enough = 40;
        for player in &rude {
            plan.roles[*player].manners = Manners::Rude;
        }
        let world = played(plan);
        assert!(world.tally.count("long thoughts") > 0);
        assert_eq!(world.tally.count("honest seats removed"), removed, "{rude:?}");
    }
}

/// A host with two bots dies at a table of three parties. Its three seats are removed as one, and the two guests play
/// on. With only one guest no seat is removed: the guest closes the table.
#[test]
fn a_host_goes_with_its_bots() {
    for (seats, removed) in [(5, 3), (4, 0)] {
        let mut plan = fair(2, "plutonian-poker", seats);
        for bot in [1, 2] {
            plan.parties[bot] = Party::of(seat(0));
        }
        plan.falls = vec![Fall { at: 700, seats: SeatSet::one(seat(0)), back: None }];
        plan.roles[3].claims = true;
        plan.enough = 40;
        let world = played(plan);
        assert_eq!(world.tally.count("honest seats removed"), removed);
        for guest in &world.room.places[3..] {
            assert!(is_done(guest), "{:?}", guest.table.progress());
            let claimed = matches!(guest.table.stopped(), Some(Stop::Claimed(_)));
            assert_eq!(claimed, seats == 4);
        }
    }
}
