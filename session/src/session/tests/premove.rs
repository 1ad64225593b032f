//! Actions that are chosen ahead.

use crate::events::Premove;
use fairdeal_games::plutonian::PlutonianAction;
use fairdeal_games::{AnyAction, TableGame as _};
use rand_core::Rng as _;

use super::*;

const DONE: &str = "Your prepared move was played.";

/// Three persons at Plutonian Poker.
fn poker() -> (Scene, [usize; 3]) {
    let mut scene = Scene::opens("plutonian-poker", 3, &[("turn-time", "604800")], READY, None);
    let all = [0, scene.joins("Béla", READY), scene.joins("Cleo", READY)];
    for program in all {
        scene.until(program, |event| matches!(event, SessionEvent::Snapshot(_)).then_some(()));
    }
    scene.later(20);
    (scene, all)
}

/// The last view of the table that a program has shown.
fn now(scene: &mut Scene, program: usize) -> Box<Snapshot> {
    while scene.house.read(program).is_some() {}
    let shown = scene.events(program).filter_map(|event| match event {
        SessionEvent::Snapshot(now) => Some(now.clone()),
        _ => None,
    });
    shown.last().unwrap()
}

/// The programs in the order of their turns.
fn in_turn(scene: &mut Scene, all: [usize; 3]) -> [usize; 3] {
    let first = all.into_iter().position(|program| now(scene, program).my_turn).unwrap();
    [0, 1, 2].map(|after| all[(first + after) % 3])
}

fn takes(tree: u8) -> AnyAction {
    AnyAction::Plutonian(PlutonianAction::Take { tree, stack: None })
}

/// Keeps an action ready that was chosen in what the program shows.
fn keeps(scene: &mut Scene, program: usize, action: AnyAction) {
    let shown = now(scene, program);
    scene.does(program, Command::Premove(Premove::of(&shown, action)));
}

fn has_been_told(scene: &Scene, program: usize, words: &str) -> bool {
    scene.events(program).any(|event| matches!(event, SessionEvent::Line(line) if line.contains(words)))
}

/// Both others have chosen ahead: one action, and it is the first one's turn again. Nobody was shown a turn that was not
/// one.
#[test]
fn premove_is_played_at_once() {
    let (mut scene, all) = poker();
    let [first, second, third] = in_turn(&mut scene, all);
    keeps(&mut scene, second, takes(1));
    keeps(&mut scene, third, takes(1));
    keeps(&mut scene, third, takes(2));
    scene.later(2);
    assert_eq!(now(&mut scene, third).waits.premove, Some(takes(2)));
    scene.does(first, Command::Act(takes(0)));
    scene.later(5);
    for program in [second, third] {
        let is_turn = |event: &SessionEvent| matches!(event, SessionEvent::Snapshot(now) if now.my_turn);
        assert!(!scene.events(program).any(is_turn));
        assert!(has_been_told(&scene, program, DONE));
        assert_eq!(now(&mut scene, program).waits.premove, None);
    }
    let after = now(&mut scene, first);
    assert!(after.my_turn);
    let AnyGame::Plutonian(game) = &after.game else { panic!("another game") };
    assert_eq!(game.turns(), 3);
    assert_eq!(scene.house.faults, [""; 0]);
}

/// The pyramid that was chosen is gone: another one stands there, and the player decides again.
#[test]
fn premove_with_another_meaning_is_dropped() {
    let (mut scene, all) = poker();
    let [first, second, _] = in_turn(&mut scene, all);
    keeps(&mut scene, second, takes(0));
    scene.does(first, Command::Act(takes(0)));
    scene.later(5);
    assert!(now(&mut scene, second).my_turn);
    assert!(has_been_told(&scene, second, "was dropped: it would mean something else now"));
    assert!(!has_been_told(&scene, second, DONE));
}

#[test]
fn impossible_premove_is_refused() {
    let (mut scene, all) = poker();
    let [_, second, _] = in_turn(&mut scene, all);
    keeps(&mut scene, second, takes(77));
    assert!(scene.refusal(second).contains("no pyramid to take"));
    keeps(&mut scene, second, takes(1));
    scene.does(second, Command::Premove(None));
    scene.later(2);
    assert_eq!(now(&mut scene, second).waits.premove, None);
}

/// A seat has one vote between two turns. The next one waits for its own turn, which is not used up by it.
#[test]
fn second_vote_waits_for_the_own_turn() {
    let (mut scene, all) = poker();
    let [first, second, third] = in_turn(&mut scene, all);
    let votes = |end| AnyAction::Plutonian(PlutonianAction::Vote { end });
    scene.does(third, Command::Act(votes(true)));
    scene.later(5);
    keeps(&mut scene, third, votes(false));
    scene.later(5);
    let before = now(&mut scene, third);
    assert!(before.waits.has_called && before.waits.premove == Some(votes(false)));
    let count = |scene: &mut Scene| {
        let AnyGame::Plutonian(game) = &now(scene, third).game else { panic!("another game") };
        game.votes().len()
    };
    scene.does(first, Command::Act(takes(0)));
    scene.later(5);
    assert_eq!(count(&mut scene), 1);
    scene.does(second, Command::Act(takes(1)));
    scene.later(5);
    assert_eq!(count(&mut scene), 0);
    assert!(now(&mut scene, third).my_turn && has_been_told(&scene, third, DONE));
}

/// Somebody takes the pyramid before the player's program hears what the player has chosen: the one below was not meant.
#[test]
fn premove_means_what_was_shown() {
    let (mut scene, all) = poker();
    let [first, second, _] = in_turn(&mut scene, all);
    let shown = now(&mut scene, second);
    scene.does(first, Command::Act(takes(0)));
    scene.later(5);
    scene.does(second, Command::Premove(Premove::of(&shown, takes(0))));
    assert!(scene.refusal(second).contains("it would mean something else now"));
    assert!(now(&mut scene, second).my_turn);
}

/// The village is not fired in the turn of another.
#[test]
fn prepared_call_waits_for_the_own_turn() {
    let mut scene = Scene::opens("loot", 3, &[("turn-time", "604800")], READY, None);
    let all = [0, scene.joins("Béla", READY), scene.joins("Cleo", READY)];
    scene.later(30);
    let fire = AnyAction::Loot(fairdeal_games::loot::LootAction::Fire);
    let mut planner = None;
    for _ in 0..200 {
        scene.later(2);
        for program in all {
            let shown = now(&mut scene, program);
            let can_wait =
                shown.game.ahead(shown.me.unwrap()).is_some_and(|ahead| ahead.check(shown.me.unwrap(), &fire).is_ok())
                    && shown.game.check(shown.me.unwrap(), &fire).is_err();
            if planner.is_none() && can_wait {
                keeps(&mut scene, program, fire.clone());
                planner = Some(program);
            } else if shown.my_turn {
                scene.acts(program, &shown);
            }
        }
        if let Some(planner) = planner
            && has_been_told(&scene, planner, DONE)
        {
            let fired = scene.events(planner).find_map(|event| match event {
                SessionEvent::Action { seat, action, .. } if *action == fire => Some(*seat),
                _ => None,
            });
            let before = scene.events(planner).filter_map(|event| match event {
                SessionEvent::Action { seat, action, .. } => Some((*seat, action.clone())),
                _ => None,
            });
            let before: Vec<_> = before.take_while(|(_, action)| *action != fire).collect();
            let last = before.last().unwrap().0;
            assert_eq!(fired.map(|seat| seat.index()), Some((last.index() + 1) % 3), "in the own turn");
            return;
        }
    }
    panic!("nobody fires");
}

/// The journal has it: a program that is killed still keeps it, and one that has taken it back does not.
#[test]
fn premove_outlives_a_crash() {
    for is_taken_back in [false, true] {
        let (mut scene, all) = poker();
        let [first, second, _] = in_turn(&mut scene, all);
        keeps(&mut scene, second, takes(1));
        scene.later(5);
        if is_taken_back {
            scene.does(second, Command::Premove(None));
            // Long before anything else is written.
            scene.house.run(scene.house.up() + 150);
        }
        scene.house.stop(second);
        scene.later(1);
        assert!(scene.house.resume(second, READY, Attended::Person).unwrap());
        scene.later(20);
        assert_eq!(now(&mut scene, second).waits.premove, (!is_taken_back).then(|| takes(1)));
        scene.does(first, Command::Act(takes(0)));
        scene.later(5);
        assert_eq!(now(&mut scene, second).my_turn, is_taken_back);
    }
}

/// People who choose ahead whatever they can foresee, at random: some of it is done and some is dropped, and all games end
/// fair.
#[test]
fn whole_games_of_people_who_choose_ahead() {
    let poker = [("order", "snake")];
    let thoth = [("target", "30"), ("happenstance", "true"), ("opening", "auction")];
    let games = [("loot", &[("target", "40")][..]), ("plutonian-poker", &poker), ("houses-of-thoth", &thoth)];
    for (number, (game, options)) in (1..).zip(games) {
        let mut scene = Scene::opens_in(House::new(number), game, 3, options, READY, None);
        let all = [0, scene.joins("Béla", READY), scene.joins("Cleo", READY)];
        let mut rng = ChaCha20Rng::seed_from_u64(number);
        let mut over = [false; 3];
        while over != [true; 3] {
            scene.house.run(scene.house.up() + 50);
            for program in all {
                let mut last = None;
                while let Some(event) = scene.house.read(program) {
                    match event {
                        SessionEvent::Snapshot(now) => last = Some(now),
                        SessionEvent::Over { .. } => over[program] = true,
                        _ => {}
                    }
                }
                let Some(now) = last.filter(|now| !now.game.is_over()) else { continue };
                let me = now.me.unwrap();
                let ahead = now.game.ahead(me).map(|ahead| ahead.legal(me, &now.known)).unwrap_or_default();
                if now.my_turn {
                    scene.acts(program, &now);
                } else if now.waits.premove.is_none() && !ahead.is_empty() {
                    let votes =
                        |action: &AnyAction| now.game.out_of_turn(action) && !matches!(now.game, AnyGame::Loot(_));
                    let place = usize::try_from(rng.next_u32()).unwrap() % ahead.len();
                    if !votes(&ahead[place]) {
                        let premove = Premove::of(&now, ahead[place].clone());
                        scene.does(program, Command::Premove(premove));
                    }
                }
            }
            assert!(scene.house.up() < 20_000_000, "{game} does not end");
        }
        scene.later(5);
        assert_eq!(scene.house.faults, [""; 0]);
        let count = |scene: &Scene, words: &str| -> usize {
            let told = |program| {
                scene
                    .events(program)
                    .filter(|event| matches!(event, SessionEvent::Line(line) if line.contains(words)))
                    .count()
            };
            all.into_iter().map(told).sum()
        };
        let (done, dropped) = (count(&scene, DONE), count(&scene, "was dropped"));
        assert!(done > 5, "{game}: {done} done, {dropped} dropped");
        assert!(dropped > 0, "{game}: {done} done, {dropped} dropped");
        assert!(all.into_iter().all(|program| scene.report(program).is_fair()));
    }
}
