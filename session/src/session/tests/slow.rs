//! Games over days: everybody's program is up, as with keepers, and its person looks in at random hours.

use rand_core::Rng as _;

use super::*;

const HOUR: u64 = 3_600_000;

/// A game among persons who look in so many times a day each. Returns its days, and the visits with an action and without.
fn days(game: &str, options: &[(&str, &str)], visits: &[u64], seed: u64) -> (f64, usize, usize) {
    let names = ["Anna", "Béla", "Cleo", "Dora"];
    let seats = u8::try_from(visits.len()).unwrap();
    let options = [options, &[("turn-time", "604800")]].concat();
    let mut scene = Scene::opens_in(House::new(seed), game, seats, &options, READY, None);
    let guests: Vec<usize> = names[1..visits.len()].iter().map(|name| scene.joins(name, READY)).collect();
    let all: Vec<usize> = std::iter::once(0).chain(guests).collect();
    for program in &all {
        scene.until(*program, |event| matches!(event, SessionEvent::Started { .. }).then_some(()));
        scene.does(*program, Command::Attend(false));
    }
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    // Some hours or minutes between two visits, the mean as often as the person looks in.
    let mut pause = |program: usize| rng.next_u64() % (2 * 24 * HOUR / visits[program]);
    let begun = scene.house.up();
    let mut next: Vec<(u64, usize)> = all.iter().map(|program| (begun + pause(*program), *program)).collect();
    let mut last: Vec<Option<Box<Snapshot>>> = vec![None; all.len()];
    let mut over = vec![false; all.len()];
    let (mut acted, mut idle) = (0, 0);
    while over.contains(&false) {
        next.sort_unstable();
        let (at, program) = next[0];
        next[0].0 = at + pause(program);
        scene.house.run(at);
        // Whatever the others have done meanwhile.
        let mut hears = |scene: &mut Scene, program: usize| {
            while let Some(event) = scene.house.read(program) {
                match event {
                    SessionEvent::Snapshot(now) => last[program] = Some(now),
                    SessionEvent::Over { .. } => over[program] = true,
                    _ => {}
                }
            }
            last[program].clone().filter(|now| now.my_turn && !over[program])
        };
        let mut actions = 0;
        scene.does(program, Command::Attend(true));
        while let Some(now) = hears(&mut scene, program) {
            scene.acts(program, &now);
            actions += 1;
            // A person looks for a few seconds at what follows.
            scene.later(5);
        }
        scene.does(program, Command::Attend(false));
        all.iter().for_each(|program| drop(hears(&mut scene, *program)));
        if actions > 0 {
            acted += 1;
        } else {
            idle += 1;
        }
        assert!(at < begun + 3000 * 24 * HOUR, "the game does not end");
    }
    scene.later(30);
    assert_eq!(scene.house.faults, [""; 0]);
    for program in &all {
        assert!(scene.report(*program).is_fair());
        // Nobody attends: the sessions end by themselves.
        assert!(!scene.house.is_running(*program), "{program} stays after its table");
    }
    let hours = scene.house.up().saturating_sub(begun) / HOUR;
    (f64::from(u32::try_from(hours).unwrap()) / 24.0, acted, idle)
}

#[test]
fn people_who_look_in_at_random_hours_finish_a_game() {
    let (days, acted, _) = days("loot", &[("target", "1")], &[48, 24, 96], 1);
    assert!(days > 0.02 && acted > 2, "{days} {acted}");
}

/// The figures of docs/performance.md: `FAIRDEAL_SLOW=3 FAIRDEAL_GAME=loot cargo test --release -p fairdeal-session -- slow
/// --nocapture`, each game for some minutes; `FAIRDEAL_EACH=48` for so many visits a day.
#[test]
fn days_of_slow_games_are_measured_on_request() {
    let Some(runs) = std::env::var("FAIRDEAL_SLOW").ok().and_then(|runs| runs.parse::<u64>().ok()) else { return };
    let wanted = std::env::var("FAIRDEAL_GAME").unwrap_or_default();
    let each = std::env::var("FAIRDEAL_EACH").ok().and_then(|each| each.parse::<u64>().ok());
    let habits = each.map_or_else(|| vec![[2; 4], [6; 4], [1, 2, 6, 24]], |each| vec![[each; 4]]);
    let games = [("loot", &[("target", "100")][..]), ("sphinxs-paw", &[]), ("plutonian-poker", &[])];
    for (game, options) in games.into_iter().filter(|(game, _)| wanted.is_empty() || *game == wanted) {
        for visits in &habits {
            let mut all: Vec<f64> = (0..runs).map(|seed| days(game, options, visits, seed).0).collect();
            all.sort_by(f64::total_cmp);
            eprintln!("{game}, visits a day {visits:?}: days {all:?}");
        }
    }
}
