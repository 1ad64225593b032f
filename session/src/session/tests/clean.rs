//! Programs that were closed in order sign while they are alone. Others ask first what they have signed.

use super::*;

/// A table of three at which the others are closed, and the person whose turn it is.
fn alone() -> (Scene, usize, [usize; 2]) {
    let mut scene = Scene::opens("loot", 3, &[("target", "20"), ("turn-time", "604800")], READY, None);
    let all = [0, scene.joins("Béla", READY), scene.joins("Cleo", READY)];
    for program in all {
        scene.until(program, |event| matches!(event, SessionEvent::Snapshot(_)).then_some(()));
    }
    scene.later(20);
    let is_turn = |scene: &Scene, program: usize| {
        let shown = scene.events(program).filter_map(|event| match event {
            SessionEvent::Snapshot(now) => Some(now.my_turn),
            _ => None,
        });
        shown.last() == Some(true)
    };
    all.into_iter().for_each(|program| while scene.house.read(program).is_some() {});
    let player = all.into_iter().find(|program| is_turn(&scene, *program)).unwrap();
    let others: Vec<usize> = all.into_iter().filter(|program| *program != player).collect();
    for program in all {
        scene.does(program, Command::Quit);
    }
    scene.later(5);
    assert!(all.into_iter().all(|program| !scene.house.is_running(program)));
    (scene, player, others.try_into().unwrap())
}

fn comes_back(scene: &mut Scene, program: usize) {
    assert!(scene.house.resume(program, READY, Attended::Person).unwrap());
}

/// Shows the player its turn within some seconds, if it may act.
fn turn_soon(scene: &mut Scene, program: usize) -> Option<Box<Snapshot>> {
    scene.later(10);
    let mut turn = None;
    while let Some(event) = scene.house.read(program) {
        if let SessionEvent::Snapshot(now) = event {
            turn = Some(now).filter(|now| now.my_turn);
        }
    }
    turn
}

/// The player acts and closes. One of the others takes the action, the third does not: the step stays open.
fn acts_before_one(scene: &mut Scene, player: usize, other: usize) {
    comes_back(scene, player);
    let turn = turn_soon(scene, player).unwrap();
    scene.acts(player, &turn);
    scene.later(2);
    comes_back(scene, other);
    scene.later(5);
    scene.does(player, Command::Quit);
    scene.later(2);
}

/// Nobody else is there: after a pause the player acts and closes again, and the others find the action in their own time.
#[test]
fn a_program_closed_in_order_acts_alone() {
    let (mut scene, player, others) = alone();
    comes_back(&mut scene, player);
    let turn = turn_soon(&mut scene, player).expect("it knows what it has signed");
    scene.acts(player, &turn);
    scene.later(2);
    scene.does(player, Command::Quit);
    scene.later(5);
    // It is signed and on disk; the player cannot act twice.
    comes_back(&mut scene, player);
    assert!(turn_soon(&mut scene, player).is_none());
    others.into_iter().for_each(|program| comes_back(&mut scene, program));
    scene.until(others[0], |event| matches!(event, SessionEvent::Action { .. }).then_some(()));
    assert_eq!(scene.house.faults, [""; 0]);
}

/// After a crash, and from a copy of its disk, a program signs nothing before the others have answered.
#[test]
fn a_program_that_crashed_asks_first() {
    for is_copied in [false, true] {
        let (mut scene, player, others) = alone();
        if is_copied {
            scene.house.programs[player].disk.journals.values_mut().for_each(|kept| kept.is_clean = false);
        } else {
            comes_back(&mut scene, player);
            assert!(turn_soon(&mut scene, player).is_some());
            scene.house.stop(player);
        }
        comes_back(&mut scene, player);
        assert!(turn_soon(&mut scene, player).is_none());
        // One that closes while it asks goes on asking.
        scene.does(player, Command::Quit);
        scene.later(5);
        comes_back(&mut scene, player);
        assert!(turn_soon(&mut scene, player).is_none());
        others.into_iter().for_each(|program| comes_back(&mut scene, program));
        assert!(turn_soon(&mut scene, player).is_some());
        assert_eq!(scene.house.faults, [""; 0]);
    }
}

/// The player acts while the program asks, and closes it: the move is kept, and played once the others have answered.
#[test]
fn a_move_that_is_chosen_while_asking_is_kept() {
    let (mut scene, player, others) = alone();
    comes_back(&mut scene, player);
    let turn = turn_soon(&mut scene, player).unwrap();
    scene.house.stop(player);
    comes_back(&mut scene, player);
    assert!(turn_soon(&mut scene, player).is_none());
    scene.acts(player, &turn);
    scene.later(2);
    let is_told = |event: &SessionEvent, word: &str| matches!(event, SessionEvent::Line(line) if line.contains(word));
    assert!(
        scene
            .events(player)
            .any(|event| is_told(event, "Your move is kept, and played as soon as they have answered."))
    );
    scene.does(player, Command::Quit);
    scene.later(5);
    [player, others[0], others[1]].into_iter().for_each(|program| comes_back(&mut scene, program));
    scene.until(others[0], |event| matches!(event, SessionEvent::Action { .. }).then_some(()));
    assert!(scene.events(player).any(|event| is_told(event, "Your prepared move was played.")));
    assert_eq!(scene.house.faults, [""; 0]);
}

/// The limit: whoever turns back the whole disk, the mark with it, signs a place twice. The others have the proof, remove
/// the seat and play on; nobody else is blamed.
#[test]
fn a_disk_that_is_turned_back_with_its_mark_signs_twice() {
    let (mut scene, player, others) = alone();
    let snapshot = scene.house.programs[player].disk.clone();
    let mut deeds = Vec::new();
    for is_turned_back in [false, true] {
        if is_turned_back {
            scene.house.programs[player].disk = snapshot.clone();
        }
        comes_back(&mut scene, player);
        let turn = turn_soon(&mut scene, player).unwrap();
        let me = turn.me.unwrap();
        let legal = turn.game.legal(me, &turn.known);
        let action = legal[usize::from(is_turned_back)].clone();
        deeds.push(action.clone());
        scene.does(player, Command::Act(action));
        scene.later(2);
        if !is_turned_back {
            // One of the others takes the first action, and closes.
            comes_back(&mut scene, others[0]);
            scene.later(5);
            scene.does(others[0], Command::Quit);
            scene.later(2);
            scene.does(player, Command::Quit);
            scene.later(5);
        }
    }
    assert_ne!(deeds[0], deeds[1]);
    others.into_iter().for_each(|program| comes_back(&mut scene, program));
    for program in others {
        let guilty = scene.until(program, |event| match event {
            SessionEvent::Fault { seat, .. } => Some(*seat),
            _ => None,
        });
        assert_eq!(guilty, Some(seat(player)));
        assert!(!scene.house.programs[program].disk.evidence.is_empty() || scene.house.is_running(program));
    }
}

/// An old copy that is shown its own later entries keeps asking until they are on its disk, however often it is closed
/// meanwhile: an entry that does not count yet is not there, and the mark would say that it is.
#[test]
fn entries_that_others_show_are_no_reason_to_sign() {
    let (mut scene, player, others) = alone();
    let old = scene.house.programs[player].disk.clone();
    acts_before_one(&mut scene, player, others[0]);
    scene.does(others[0], Command::Quit);
    scene.later(5);
    scene.house.programs[player].disk = old;
    scene.house.programs[player].disk.journals.values_mut().for_each(|kept| kept.is_clean = false);
    // It asks both, one after the other, and closes each time.
    for _ in 0..2 {
        for other in others {
            comes_back(&mut scene, player);
            comes_back(&mut scene, other);
            assert!(turn_soon(&mut scene, player).is_none());
            scene.does(other, Command::Quit);
            scene.does(player, Command::Quit);
            scene.later(5);
        }
    }
    comes_back(&mut scene, player);
    assert!(turn_soon(&mut scene, player).is_none());
    others.into_iter().for_each(|program| comes_back(&mut scene, program));
    scene.until(others[1], |event| matches!(event, SessionEvent::Action { .. }).then_some(()));
    scene.later(10);
    assert_eq!(scene.house.faults, [""; 0]);
}

/// A copy has played on elsewhere, and the original comes back with its mark: it asks whom it meets before it signs.
#[test]
fn an_original_whose_copy_has_played_on_asks() {
    let (mut scene, player, others) = alone();
    let original = scene.house.programs[player].disk.clone();
    acts_before_one(&mut scene, player, others[0]);
    scene.house.programs[player].disk = original;
    // The other is there, and has the action.
    comes_back(&mut scene, player);
    scene.later(5);
    assert!(turn_soon(&mut scene, player).is_none());
    comes_back(&mut scene, others[1]);
    scene.until(others[1], |event| matches!(event, SessionEvent::Action { .. }).then_some(()));
    scene.later(10);
    assert_eq!(scene.house.faults, [""; 0]);
}
