//! A player's worst decisions in a past game, by the judgement of a sharp bot that knew what the player knew then.

use std::cmp::Reverse;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use fairdeal_games::review::{Better, better};
use fairdeal_protocol::seat::Seat;

use fairdeal_session::replay::{Eyes, Replay};

/// The most mistakes to tell: more would be no advice.
const MOST: usize = 3;

/// A decision that cost something.
#[derive(Clone, Debug, PartialEq)]
pub struct Mistake {
    /// The step of the replay at which the player acted; the decision was made at the step before.
    pub step: usize,
    pub better: Better,
}

/// A game looked back at.
#[derive(Clone, Debug)]
pub struct Reviewed {
    pub replay: Arc<Replay>,
    /// The number of decisions that were judged.
    pub decisions: usize,
    /// The worst first; three at most.
    pub mistakes: Vec<Mistake>,
}

/// Judges all decisions of a seat: about 30 ms each on one core. `tell` hears how many of how many are done, and may break
/// off, as `stop` does; the answer is `None` then.
pub fn review(
    replay: &Arc<Replay>,
    seat: Seat,
    stop: &Arc<AtomicBool>,
    tell: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Option<Reviewed> {
    let decisions = replay.decisions(seat);
    let mut mistakes = Vec::new();
    for (done, step) in decisions.iter().enumerate() {
        if tell(done, decisions.len()).is_break() {
            return None;
        }
        let made = replay.step(*step).acts.first().map(|act| &act.action)?;
        let before = step.saturating_sub(1);
        let known = replay.known(before, Eyes::Seat(seat));
        let found = better(replay.step(before).game, seat, &known, made, seed(*step), stop);
        mistakes.extend(found.map(|better| Mistake { step: *step, better }));
    }
    if tell(decisions.len(), decisions.len()).is_break() {
        return None;
    }
    // A stable sort: of equals the earlier comes first.
    mistakes.sort_by_key(|mistake| Reverse(mistake.better.percent));
    mistakes.truncate(MOST);
    Some(Reviewed { replay: Arc::clone(replay), decisions: decisions.len(), mistakes })
}

/// The same game is judged alike each time.
fn seed(step: usize) -> [u8; 32] {
    let mut seed = [0; 32];
    for (byte, part) in seed.iter_mut().zip(step.to_le_bytes()) {
        *byte = part;
    }
    seed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::transcript;

    fn replay(game: &str) -> Arc<Replay> {
        Arc::new(Replay::open(transcript(&format!("tests/it/transcripts/{game}.fairdeal"))).unwrap())
    }

    #[test]
    fn worst_decisions_come_first_and_alike_each_time() {
        let replay = replay("loot");
        let look = || {
            let mut told = Vec::new();
            let found = review(&replay, Seat::FIRST, &Arc::default(), &mut |done, total| {
                told.push((done, total));
                ControlFlow::Continue(())
            })
            .unwrap();
            assert_eq!(told.last(), Some(&(found.decisions, found.decisions)));
            assert_eq!(told.len(), found.decisions + 1);
            found
        };
        let found = look();
        assert!(found.decisions >= 3 && found.mistakes.len() <= MOST);
        assert!(found.mistakes.is_sorted_by_key(|mistake| Reverse(mistake.better.percent)));
        for mistake in &found.mistakes {
            let act = &replay.step(mistake.step).acts[0];
            assert!(act.seat == Seat::FIRST && mistake.better.action.as_ref() != Some(&act.action));
        }
        assert_eq!(look().mistakes, found.mistakes);
    }

    #[test]
    fn review_can_be_broken_off() {
        let replay = replay("loot");
        let found = review(&replay, Seat::FIRST, &Arc::default(), &mut |_, _| ControlFlow::Break(()));
        assert!(found.is_none());
        let alone = self::replay("ivory-tower");
        let found = review(&alone, Seat::FIRST, &Arc::default(), &mut |_, _| ControlFlow::Continue(()));
        assert!(found.is_some_and(|found| found.mistakes.is_empty()));
    }
}
