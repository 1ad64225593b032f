//! Games over days: everybody's program is up, as with keepers, and its person looks in at random hours.

use fairdeal_games::AnyAction;
use fairdeal_games::bots::Bot;
use rand_core::Rng as _;

use super::*;

const HOUR: u64 = 3_600_000;

/// A person at a table whose program is always up.
struct Person {
    /// This person's number among the programs.
    program: usize,
    /// How often this person looks in, in a day.
    visits: u64,
    /// The time of the next look.
    comes: u64,
    mind: Box<dyn Bot<AnyGame>>,
    /// The table as it was last told.
    table: Option<Box<Snapshot>>,
    is_over: bool,
}

impl Person {
    /// Hears of everything that the others have done meanwhile.
    fn hears(&mut self, scene: &mut Scene) {
        while let Some(event) = scene.house.read(self.program) {
            match event {
                SessionEvent::Snapshot(now) => self.table = Some(now),
                SessionEvent::Over { .. } => self.is_over = true,
                _ => {}
            }
        }
    }

    /// The next action, or a call out of turn.
    fn chooses(&mut self, dice: &mut ChaCha20Rng) -> Option<AnyAction> {
        let now = self.table.as_ref().filter(|_| !self.is_over)?;
        let action = self.mind.choose(&now.game, now.me?, &now.known, dice)?;
        (now.my_turn || now.game.out_of_turn(&action)).then_some(action)
    }

    /// A visit, with all actions that are this person's to take. Returns their number.
    fn looks_in(&mut self, scene: &mut Scene, dice: &mut ChaCha20Rng) -> usize {
        let mut actions = 0;
        scene.does(self.program, Command::Attend(true));
        self.hears(scene);
        while let Some(action) = self.chooses(dice) {
            scene.does(self.program, Command::Act(action));
            actions += 1;
            // Some seconds to see what follows.
            scene.later(5);
            self.hears(scene);
        }
        scene.does(self.program, Command::Attend(false));
        self.hears(scene);
        actions
    }
}

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
    let mut dice = ChaCha20Rng::seed_from_u64(seed);
    // Some hours or minutes between two visits, the mean as often as the person looks in.
    let pause = |visits: u64, dice: &mut ChaCha20Rng| dice.next_u64() % (2 * 24 * HOUR / visits);
    let begun = scene.house.up();
    let mut people: Vec<Person> = all
        .iter()
        .zip(visits)
        .map(|(program, visits)| Person {
            program: *program,
            visits: *visits,
            comes: begun + pause(*visits, &mut dice),
            mind: bot(Level::Normal),
            table: None,
            is_over: false,
        })
        .collect();
    let (mut acted, mut idle) = (0, 0);
    while people.iter().any(|person| !person.is_over) {
        people.sort_unstable_by_key(|person| (person.comes, person.program));
        let at = people[0].comes;
        scene.house.run(at);
        people[0].comes = at + pause(people[0].visits, &mut dice);
        match people[0].looks_in(&mut scene, &mut dice) {
            0 => idle += 1,
            _ => acted += 1,
        }
        people.iter_mut().for_each(|person| person.hears(&mut scene));
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
