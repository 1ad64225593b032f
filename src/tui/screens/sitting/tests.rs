//! Whole games at the table, by keys alone and by mouse alone, and what lies over it.

use fairdeal_protocol::seat::SeatSet;
use ratatui::crossterm::event::KeyCode;

use crate::session::SessionEvent;
use crate::tui::canvas::Target;
use crate::tui::news::{Input, News};
use crate::tui::testing::Stage;

/// Sits down to a game from the first screen, by keys alone.
fn seated(game: usize) -> Stage {
    let mut stage = Stage::at_home(false);
    for _ in 0..game {
        stage.key(KeyCode::Down);
    }
    stage.key(KeyCode::Enter);
    stage.key(KeyCode::Enter);
    assert!(
        stage.scene.is_some(),
        "no game was opened:\n{}",
        stage.draw()
    );
    stage
}

/// What the player sees and can reach is what is chosen, one thing after the other; every so often another one.
fn by_keys(game: usize, most: usize) -> Stage {
    let mut stage = seated(game);
    let mut turn = 0_usize;
    while !stage.is_over() && turn < most {
        turn += 1;
        stage.rest();
        for _ in 0..turn % 5 {
            stage.key(KeyCode::Tab);
        }
        stage.key(KeyCode::Enter);
        if stage.draw().contains("Sure?") {
            stage.keys("y");
        }
    }
    stage
}

fn by_mouse(game: usize, most: usize) -> Stage {
    let mut stage = Stage::at_home(false);
    stage.click(Target::Row(game));
    let last = stage
        .shell
        .layer()
        .targets
        .iter()
        .rev()
        .find(|(_, target)| matches!(target, Target::Row(_)))
        .map(|(_, target)| *target);
    let last = last.unwrap();
    stage.click(last);
    // The last row is the button that begins.
    let mut turn = 0_usize;
    while !stage.is_over() && turn < most {
        turn += 1;
        stage.rest();
        let layer = stage.shell.layer();
        let stops: Vec<Target> = layer
            .targets
            .iter()
            .map(|(_, target)| *target)
            .filter(|target| stage.shell.is_stop(*target))
            .collect();
        let Some(target) = stops.get(turn * 7 % stops.len().max(1)) else {
            panic!("nothing can be clicked:\n{}", stage.draw());
        };
        stage.click(*target);
        if stage.draw().contains("Sure?") {
            stage.click(Target::Row(0));
        }
    }
    stage
}

#[test]
fn every_game_is_played_to_its_end_by_keys_alone() {
    for game in 0..5 {
        let mut stage = by_keys(game, 4000);
        assert!(stage.is_over(), "game {game} has no end:\n{}", stage.draw());
        stage.rest();
        stage.key(KeyCode::Enter);
        stage.keys("q");
        assert_eq!(stage.shell.trail(), ["home"]);
    }
}

#[test]
fn every_game_is_played_to_its_end_by_mouse_alone() {
    for game in 0..5 {
        let mut stage = by_mouse(game, 4000);
        assert!(stage.is_over(), "game {game} has no end:\n{}", stage.draw());
    }
}

#[test]
fn the_seal_is_explained() {
    let mut stage = seated(0);
    stage.rest();
    stage.keys("S");
    insta::assert_snapshot!("seal", stage.draw());
    stage.key(KeyCode::Esc);
    assert!(!stage.draw().contains("The seal "));
}

#[test]
fn leaving_a_game_that_is_not_over_is_asked_about() {
    let mut stage = seated(0);
    stage.rest();
    stage.keys("q");
    insta::assert_snapshot!("leaving", stage.draw());
    stage.keys("n");
    assert_eq!(stage.shell.trail().len(), 2);
    stage.keys("qy");
    assert_eq!(stage.shell.trail(), ["home"]);
}

#[test]
fn news_of_peers_are_told() {
    let mut stage = seated(0);
    let lost = SessionEvent::Peer {
        seat: SeatSet::all(2).iter().last().unwrap(),
        state: crate::session::PeerState::Lost,
    };
    stage.input(Input::News(News::Session(lost)));
    assert!(stage.draw().contains("has lost the connection"));
}
