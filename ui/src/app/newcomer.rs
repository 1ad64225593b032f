//! A newcomer's first games, played by the keys that the bar names alone: the hint's key, and Enter. The presses are
//! counted, how often the table asks back, and how long it moves.

use std::time::Duration;

use fairdeal_games::GAMES;

use super::event::Input;
use super::testing::TestApp;
use crate::canvas::Target;
use crate::input::{KeyCode, UserInput};

/// A turn takes no more presses of Enter.
const MOST: usize = 6;

/// The effort of a first game.
#[derive(Debug, Default, PartialEq, Eq)]
struct Effort {
    /// Presses from the first start to the table.
    before: usize,
    /// The player's own actions at the table.
    actions: usize,
    /// All presses at the table.
    presses: usize,
    /// Presses of Enter that an action took beyond one.
    questions: usize,
    /// Sheets between hands and at the end.
    sheets: usize,
    /// Time in which the table shows what has happened, if nobody skips it; the bots' own pauses come to that.
    moves: Duration,
}

/// The steps in which movement is measured.
const FRAME: Duration = Duration::from_millis(100);

/// Nothing on the screen can be chosen: a sheet covers the table.
fn is_covered(stage: &TestApp) -> bool {
    !stage.shell.layer().targets.iter().any(|(_, target)| matches!(target, Target::Spot(_)))
}

/// Whether the reason of a hint is on the screen. Sphinx's Paw ticks off the phases of a turn with the same sign.
fn has_hint(stage: &mut TestApp) -> bool {
    stage.draw().split("✓ ").skip(1).any(|after| after.starts_with(char::is_alphanumeric))
}

/// Plays the first game of a new player to its end.
fn plays(game: usize, size: (u16, u16)) -> Effort {
    let mut stage = TestApp::at_first_start(false);
    stage.size = size;
    stage.draw();
    let mut effort = Effort::default();
    let mut moves = Duration::ZERO;
    let mut press = |stage: &mut TestApp, count: &mut usize, key: KeyCode| {
        *count += 1;
        stage.key(key);
        moves += stage.rest_by(FRAME);
    };
    for letter in "Ada".chars() {
        press(&mut stage, &mut effort.before, KeyCode::Char(letter));
    }
    press(&mut stage, &mut effort.before, KeyCode::Enter);
    for _ in 0..game {
        press(&mut stage, &mut effort.before, KeyCode::Down);
    }
    while stage.opened.is_none() {
        press(&mut stage, &mut effort.before, KeyCode::Enter);
    }
    while !stage.is_over() {
        if is_covered(&stage) {
            effort.sheets += 1;
            press(&mut stage, &mut effort.presses, KeyCode::Enter);
            continue;
        }
        let step = stage.step();
        // Whoever follows a hint gets the next one for the rest of the turn.
        if !has_hint(&mut stage) {
            press(&mut stage, &mut effort.presses, KeyCode::Char('h'));
        }
        let mut enters = 0;
        while stage.step() == step {
            assert!(enters < MOST, "{} stands still:\n{}", GAMES[game].id, stage.draw());
            enters += 1;
            // What cannot be taken back asks for a yes.
            let key = if stage.draw().contains("[y yes]") { KeyCode::Char('y') } else { KeyCode::Enter };
            press(&mut stage, &mut effort.presses, key);
        }
        effort.actions += 1;
        effort.questions += enters.saturating_sub(1);
    }
    Effort { moves, ..effort }
}

fn efforts(size: (u16, u16)) -> String {
    let mut lines = vec!["game             to the table  actions  presses  asked back  sheets  moves".to_owned()];
    for (game, info) in GAMES.iter().enumerate() {
        let Effort { before, actions, presses, questions, sheets, moves } = plays(game, size);
        let counts = format!("{before:>12} {actions:>8} {presses:>8} {questions:>11} {sheets:>7}");
        lines.push(format!("{:<16} {counts} {:>4} s", info.id, moves.as_secs()));
    }
    lines.join("\n")
}

#[test]
fn first_games_take_few_presses_on_a_small_screen() {
    insta::assert_snapshot!(efforts((80, 24)));
}

#[test]
fn first_games_take_few_presses_on_a_large_screen() {
    insta::assert_snapshot!(efforts((120, 40)));
}

/// Whoever follows a hint gets the next one while it is still the same turn; another action ends that.
#[test]
fn hints_lead_through_a_turn() {
    let mut stage = opens(0);
    stage.keys("h");
    stage.key(KeyCode::Enter);
    stage.rest();
    assert!(has_hint(&mut stage), "a card is taken, and one is to go:\n{}", stage.draw());
    stage.key(KeyCode::Enter);
    stage.rest();
    assert!(!has_hint(&mut stage), "another turn:\n{}", stage.draw());
    stage.key(KeyCode::Enter);
    stage.rest();
    assert!(!has_hint(&mut stage), "nobody asked in this turn:\n{}", stage.draw());
}

/// The reason of a hint is on the screen, whatever its size: a newcomer would think that the key does nothing.
#[test]
fn hints_are_seen_at_every_size() {
    for (game, info) in GAMES.iter().enumerate() {
        let mut stage = opens(game);
        stage.keys("h");
        for (width, height) in
            (60..=140).step_by(20).flat_map(|width| (20..=44).step_by(4).map(move |height| (width, height)))
        {
            stage.size = (width, height);
            assert!(has_hint(&mut stage), "{} {width}x{height}:\n{}", info.id, stage.draw());
        }
    }
}

/// Starts a game with the usual choices.
fn opens(game: usize) -> TestApp {
    let mut stage = TestApp::at_home(false);
    (0..game).for_each(|_| stage.key(KeyCode::Down));
    while stage.opened.is_none() {
        stage.key(KeyCode::Enter);
        stage.rest();
    }
    stage
}

/// Presses a button for fingers, and waits until nothing moves.
fn presses(stage: &mut TestApp, words: &str) -> String {
    stage.input(Input::User(UserInput::Press(words.to_owned())));
    stage.rest();
    stage.draw()
}

/// Words of buttons that are no move.
const READ: [&str; 11] =
    ["hint", "undo", "other uses", "seal", "chat", "rule", "scores", "log", "leave", "rules", "audit"];

/// On a phone games are played by the buttons for fingers alone: by the first one after a hint, and by the last one as
/// whoever prefers what the hints do not say.
#[test]
fn buttons_for_fingers_lead_through_games() {
    for (game, info) in GAMES.iter().enumerate() {
        for (size, prefers_last) in [((60, 46), false), ((90, 24), true)] {
            let mut stage = opens(game);
            stage.size = size;
            let mut actions = 0;
            while !stage.is_over() && actions < 60 {
                let step = stage.step();
                let mut tries = 0;
                while stage.step() == step && !stage.is_over() {
                    assert!(tries < MOST, "{} stands still at {size:?}:\n{}", info.id, stage.draw());
                    tries += 1;
                    presses(&mut stage, "hint");
                    let buttons = stage.shell.layer().buttons.clone();
                    let mut moves =
                        buttons.iter().map(|(words, _)| words).filter(|words| !READ.contains(&words.as_str()));
                    let is_asked = buttons.iter().any(|(words, _)| words == "yes");
                    let words = if prefers_last && !is_asked { moves.next_back() } else { moves.next() };
                    if let Some(words) = words {
                        presses(&mut stage, words);
                    }
                }
                actions += 1;
            }
        }
    }
}

/// Whoever fires the village with a card taken has one to discard, though the focus was on it before.
#[test]
fn card_in_focus_can_be_discarded_after_a_fire() {
    let mut stage = opens(0);
    for words in ["hint", "take", "discard", "hint", "take", "fire the village"] {
        presses(&mut stage, words);
    }
    let shown = presses(&mut stage, "yes");
    assert!(shown.contains("Enter discard"), "{shown}");
    presses(&mut stage, "hint");
    assert!(has_hint(&mut stage), "{}", stage.draw());
    let shown = presses(&mut stage, "discard");
    assert!(!shown.contains("Discard a card"), "{shown}");
}
