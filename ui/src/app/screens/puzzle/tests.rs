use fairdeal_games::GAMES;

use super::*;
use crate::app::screen::Effect;
use crate::app::shell::Shell;
use crate::app::testing::{TestApp, context};
use crate::input::KeyCode;

fn stage(game: &'static GameInfo, number: usize, ascii: bool) -> TestApp {
    let context = context(ascii);
    let screen = PuzzleScreen::open(game, Some(number), &context).expect("the puzzle is valid");
    TestApp::with(Shell::new(context, Box::new(screen)))
}

fn solved(stage: &TestApp) -> &Settings {
    &stage.shell.context().settings
}

/// The answer of every puzzle can be taken by keys, on the smallest screen and on common ones; then the next one opens.
#[test]
fn answer_of_every_puzzle_is_taken_by_keys() {
    for size in [(60, 20), (80, 24), (120, 40)] {
        for info in GAMES {
            let all = puzzles(info).unwrap().len();
            let mut stage = stage(info, 1, false);
            stage.size = size;
            for number in 1..=all {
                let shown = stage.draw();
                assert!(shown.contains(&format!("puzzle {number} of {all}")), "{shown}");
                stage.keys("hh");
                for _ in 0..8 {
                    let shown = stage.draw();
                    if shown.contains("The answer") {
                        break;
                    }
                    if shown.contains("[y yes]") {
                        stage.keys("y");
                    } else {
                        stage.key(KeyCode::Enter);
                    }
                }
                let shown = stage.draw();
                assert!(shown.contains("The answer"), "{} {number}: {shown}", info.id);
                stage.key(KeyCode::Enter);
            }
            // After the last one a real game can be set up. An answer that was shown counts for nothing.
            assert!(!stage.draw().contains("puzzle"), "{}", info.id);
            assert!(solved(&stage).solved.is_empty());
        }
    }
}

#[test]
fn another_action_is_refused_kindly_and_changes_nothing() {
    let mut stage = stage(&fairdeal_games::loot::INFO, 2, false);
    let before = stage.draw();
    // The first card of the row is not the answer.
    stage.keys("1");
    stage.key(KeyCode::Enter);
    let shown = stage.draw();
    assert!(shown.contains("There is a better action"), "{shown}");
    assert!(!shown.contains("Solved"));
    stage.keys("h");
    assert!(stage.draw().contains("Nine of your ten cards"));
    assert!(before.contains("Find the discard that scores the most."));
    assert!(solved(&stage).solved.is_empty());
}

#[test]
fn solved_puzzles_are_remembered_and_the_next_unsolved_one_opens() {
    let info = &fairdeal_games::loot::INFO;
    let mut stage = stage(info, 1, false);
    stage.keys("fy");
    let shown = stage.draw();
    assert!(shown.contains("✓ Solved!") && shown.contains("✓ puzzle 1 of 6"), "{shown}");
    assert!(solved(&stage).has_solved("loot", 1) && !solved(&stage).has_solved("loot", 2));
    let saved =
        stage.effects.iter().any(|effect| matches!(effect, Effect::Save(settings) if settings.has_solved("loot", 1)));
    assert!(saved);
    let context = stage.shell.context();
    assert_eq!(PuzzleScreen::open(info, None, context).unwrap().guide.at, 1);
    assert_eq!(in_words(info, &context.settings, &context.theme), "1 of 6");
    let mut settings = context.settings.clone();
    settings.solved.insert("loot".to_owned(), (1..=6).collect());
    assert_eq!(in_words(info, &settings, &context.theme), "✓ 6 of 6");
}

#[test]
fn puzzle_is_solved_by_the_mouse_alone() {
    let mut stage = stage(&fairdeal_games::plutonian::INFO, 1, false);
    stage.click_on("h: hint");
    assert!(stage.draw().contains("18 points behind"));
    stage.click_on("show the answer");
    // Like Enter, a click takes one step: the pyramid, then its stack.
    stage.click_on("Enter: do it");
    stage.click_on("Enter: do it");
    let shown = stage.draw();
    assert!(shown.contains("The answer"), "{shown}");
    stage.click_on("next puzzle");
    assert!(stage.draw().contains("puzzle 2 of 5"));

    let mut stage = self::stage(&fairdeal_games::loot::INFO, 1, false);
    stage.click_on("f fire the");
    stage.click_on("[y yes]");
    let shown = stage.draw();
    assert!(shown.contains("Solved!"), "{shown}");
}

#[test]
fn brackets_turn_the_pages_and_back_shows_the_position_again() {
    let mut stage = stage(&fairdeal_games::loot::INFO, 1, false);
    stage.keys("]]");
    assert!(stage.draw().contains("puzzle 3 of 6"));
    stage.keys("[[[");
    assert!(stage.draw().contains("puzzle 1 of 6"));
    stage.keys("fy");
    stage.key(KeyCode::Esc);
    let shown = stage.draw();
    assert!(!shown.contains("Solved") && shown.contains("Find the action"), "{shown}");
    stage.key(KeyCode::Esc);
    assert!(stage.effects.iter().any(|effect| matches!(effect, Effect::Quit)), "it was the only screen");
}

#[test]
fn puzzle_says_nothing_about_the_worth_of_the_hand() {
    let mut stage = stage(&fairdeal_games::loot::INFO, 6, false);
    for size in [(60, 20), (80, 24), (120, 40)] {
        stage.size = size;
        let shown = stage.draw();
        assert!(!shown.contains("drop ") && !shown.contains("worth") && !shown.contains("loose"), "{shown}");
    }
}

#[test]
fn every_game_as_it_is_drawn() {
    for info in GAMES {
        let mut drawn = stage(info, 2, false);
        insta::assert_snapshot!(format!("{}-80x24", info.id), drawn.draw());
        let mut plain = stage(info, 2, true);
        let text = plain.draw();
        assert!(text.is_ascii(), "{text}");
        insta::assert_snapshot!(format!("{}-ascii", info.id), text);
    }
}
