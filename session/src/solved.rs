//! Answers of the solver of Ivory Tower for a player who may know all the cards: in practice, and after the end.

use fairdeal_games::AnyGame;
use fairdeal_games::ivory::solver::{self, MOST_STATES, Verdict};
use fairdeal_protocol::card::Faces;
use fairdeal_protocol::transcript::Transcript;

use crate::replay::Replay;

/// Whether and how a game can be won from here, given all faces. [`Verdict::GaveUp`] for games that are not solved.
pub fn solve_here(game: &AnyGame, known: &Faces) -> Verdict {
    let AnyGame::Ivory(tower) = game else {
        return Verdict::GaveUp;
    };
    solver::solve(tower, known, MOST_STATES).unwrap_or(Verdict::GaveUp)
}

/// Whether a game that was not won could have been, in words. `None` if it was won, or nobody can say.
pub fn could_have(game: &AnyGame, known: &Faces) -> Option<&'static str> {
    let AnyGame::Ivory(tower) = game else { return None };
    if tower.is_won() {
        return None;
    }
    match solver::solve(&solver::beginning(tower, known)?, known, MOST_STATES)? {
        Verdict::Winnable(_) => Some("This deal could have been won."),
        Verdict::Lost => Some("This deal could not be won, however it was played."),
        Verdict::GaveUp => None,
    }
}

/// As [`could_have`], for a sealed game that is over, whose audit opens its cards. `None` for other games.
pub fn could_have_sealed(transcript: Transcript) -> Option<&'static str> {
    let replay = Replay::open(transcript).ok()?;
    let end = replay.step(replay.last());
    could_have(end.game, replay.faces(end.deal)?)
}
