//! A look back at decisions: what a sharp bot would have done, and what the difference cost.
//!
//! The search first finds its favourite among its own candidates and the action that was taken. Both then meet the same
//! fresh guesses and dice, pair by pair. The mean of the differences is the loss. The play-outs that chose the favourite do
//! not count in it: they were lucky ones. In a game without chance all play-outs of an action are alike, and their result
//! is all or nothing; there everybody now and then plays at random in the pairs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fairdeal_protocol::card::Faces;
use fairdeal_protocol::game::{Game as _, uniform};
use fairdeal_protocol::seat::Seat;
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng as _};

use crate::any::{AnyAction, AnyGame};
use crate::bots::{Bot as _, Random};
use crate::chance::RefereeChance;
use crate::search::{Budget, Search, favourite, search};

/// Play-outs that find the favourite.
const SEARCH: u32 = 150;
/// Pairs of play-outs that compare it with the action that was taken.
const PAIRS: u32 = 75;
/// In a game without chance, one action in so many is random.
const STRAY: u32 = 8;
/// Actions after which such a play-out is rated as it stands.
const LONG: u32 = 200;
/// A loss counts if it is so many standard errors above nothing.
const ERRORS: f64 = 2.0;
/// The least loss that is worth telling, in hundredths of the win.
const LEAST: f64 = 1.0;

/// A better action than the one that was taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Better {
    /// `None` is to stay silent, out of turn.
    pub action: Option<AnyAction>,
    /// The mean loss, in hundredths of the win.
    pub percent: u8,
}

/// The choice of a sharp bot instead of `made`, from the seat's knowledge then. `None` if it is the same, if the difference
/// is no more than noise, or if `stop` is set. Votes and Ivory Tower, which has no such search, are not judged.
///
/// The same seed gives the same answer, on one machine.
pub fn better(
    game: &AnyGame,
    seat: Seat,
    known: &Faces,
    made: &AnyAction,
    seed: [u8; 32],
    stop: &Arc<AtomicBool>,
) -> Option<Better> {
    if game.check(seat, made).is_err() {
        return None;
    }
    let is_vote = game.out_of_turn(made) && !matches!(game, AnyGame::Loot(_));
    let compared = match (game, made) {
        _ if is_vote => None,
        (AnyGame::Loot(game), AnyAction::Loot(made)) => {
            wrap(compare(game, seat, known, made, seed, stop), AnyAction::Loot)
        }
        (AnyGame::Plutonian(game), AnyAction::Plutonian(made)) => {
            wrap(compare(game, seat, known, made, seed, stop), AnyAction::Plutonian)
        }
        (AnyGame::Sphinx(game), AnyAction::Sphinx(made)) => {
            wrap(compare(game, seat, known, made, seed, stop), AnyAction::Sphinx)
        }
        (AnyGame::Thoth(game), AnyAction::Thoth(made)) => {
            wrap(compare(game, seat, known, made, seed, stop), AnyAction::Thoth)
        }
        _ => None,
    };
    let (action, differences) = compared?;
    let (loss, error) = mean_and_error(&differences)?;
    let is_certain = loss >= LEAST && loss > ERRORS * error;
    is_certain
        .then(|| Better { action, percent: (0..100).find(|percent| f64::from(*percent) + 0.5 > loss).unwrap_or(100) })
}

/// A candidate (`None` is to stay silent), and by how many hundredths it did better than the action that was taken, in
/// each pair of play-outs.
type Compared<A> = (Option<A>, Vec<f64>);

fn wrap<A>(compared: Option<Compared<A>>, wrap: impl Fn(A) -> AnyAction) -> Option<Compared<AnyAction>> {
    compared.map(|(action, differences)| (action.map(wrap), differences))
}

/// `None` if the favourite is the action that was taken.
fn compare<G: Search>(
    game: &G,
    seat: Seat,
    known: &Faces,
    made: &G::Action,
    seed: [u8; 32],
    stop: &Arc<AtomicBool>,
) -> Option<Compared<G::Action>> {
    let mut rng = ChaCha8Rng::from_seed(seed);
    let fresh = |rng: &mut ChaCha8Rng, iterations: u32, candidates: Vec<Option<G::Action>>| {
        let mut seed = [0; 32];
        rng.fill_bytes(&mut seed);
        let budget = Budget { stop: Some(Arc::clone(stop)), ..Budget::iterations(iterations) };
        search(game, seat, known, candidates, seed, &budget)
    };
    let made = Some(made.clone());
    let mut all = game.candidates(seat, known, &mut ChaCha8Rng::from_seed(seed));
    all.retain(|candidate| *candidate != made);
    // Ties go to the first.
    all.insert(0, made.clone());
    let best = favourite(fresh(&mut rng, SEARCH, all))?.action;
    if best == made {
        return None;
    }
    let mut differences = Vec::new();
    for _ in 0..PAIRS {
        let [better, worse] = if G::PLAYS == 1 {
            let mut seed = [0; 32];
            rng.fill_bytes(&mut seed);
            [&best, &made].map(|action| stray(game, seat, known, action.as_ref(), seed))
        } else {
            let arms = fresh(&mut rng, 2, vec![best.clone(), made.clone()]);
            let [better, worse] = arms.as_slice() else { return None };
            [better.mean(), worse.mean()]
        };
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        differences.push(100.0 * (better - worse));
    }
    Some((best, differences))
}

/// The worth that an action reaches in a game without hidden cards and chance, if everybody then plays quickly and now and
/// then at random.
fn stray<G: Search>(game: &G, seat: Seat, known: &Faces, action: Option<&G::Action>, seed: [u8; 32]) -> f64 {
    let (mut game, mut events) = (game.clone(), Vec::new());
    let (mut rng, mut chance) = (ChaCha8Rng::from_seed(seed), RefereeChance::from_seed(seed));
    let mut next = action.cloned().map(|action| (seat, action));
    for _ in 0..LONG {
        if let Some((seat, action)) = next {
            events.clear();
            if game.apply(seat, &action, &mut chance, &mut events).is_err() {
                break;
            }
        }
        let Some(turn) = game.to_act().iter().next() else { break };
        let strays = uniform(&mut rng, STRAY) == 0;
        let action = if strays {
            Random { seldom: None }.choose(&game, turn, known, &mut rng)
        } else {
            game.quick(turn, known, &mut rng)
        };
        next = action.map(|action| (turn, action));
        if next.is_none() {
            break;
        }
    }
    game.worth(seat, known, false)
}

/// The mean and its standard error.
fn mean_and_error(numbers: &[f64]) -> Option<(f64, f64)> {
    let count = f64::from(u32::try_from(numbers.len()).ok().filter(|count| *count > 0)?);
    let mean = numbers.iter().sum::<f64>() / count;
    let squares: f64 = numbers.iter().map(|number| (number - mean).powi(2)).sum();
    Some((mean, (squares / (count - 1.0).max(1.0) / count).sqrt()))
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha20Rng;

    use super::*;
    use crate::bots::{Bot, Level};
    use crate::rule_set;

    fn begun(id: &str, seats: u8) -> (AnyGame, RefereeChance) {
        let mut game = AnyGame::create(&rule_set(id, seats, &Default::default()).unwrap()).unwrap();
        let mut chance = RefereeChance::from_seed([5; 32]);
        game.begin(&mut chance, &mut Vec::new()).unwrap();
        (game, chance)
    }

    /// The losses that `better` sees in the first decisions of seat 0, played by this bot.
    fn losses(id: &str, seats: u8, bot: &mut dyn Bot<AnyGame>, decisions: usize) -> Vec<Option<Better>> {
        let (mut game, mut chance) = begun(id, seats);
        let mut rng = ChaCha20Rng::from_seed([4; 32]);
        let mut found = Vec::new();
        let mut others = crate::bot(Level::Normal);
        while let (true, Some(seat)) = (found.len() < decisions, game.to_act().iter().next()) {
            let known = chance.dealt_to(seat).clone();
            let action = if seat == Seat::FIRST {
                bot.choose(&game, seat, &known, &mut rng).unwrap()
            } else {
                others.choose(&game, seat, &known, &mut rng).unwrap()
            };
            if seat == Seat::FIRST {
                found.push(better(&game, seat, &known, &action, [1; 32], &Arc::default()));
            }
            game.apply(seat, &action, &mut chance, &mut Vec::new()).unwrap();
        }
        found
    }

    #[test]
    fn random_play_loses_much() {
        for (id, seats) in [("loot", 2), ("houses-of-thoth", 2), ("plutonian-poker", 2), ("sphinxs-paw", 2)] {
            let found = losses(id, seats, &mut Random { seldom: None }, 40);
            let most = found.iter().flatten().map(|better| better.percent).max();
            assert!(most >= Some(5), "{id}: {most:?}");
        }
    }

    #[test]
    fn illegal_actions_and_ivory_tower_are_not_judged() {
        let (game, chance) = begun("ivory-tower", 1);
        let made = game.legal(Seat::FIRST, chance.dealt_to(Seat::FIRST)).pop().unwrap();
        let judged = |game: &AnyGame| better(game, Seat::FIRST, &Faces::new(), &made, [2; 32], &Arc::default());
        assert_eq!(judged(&game), None);
        assert_eq!(judged(&begun("loot", 2).0), None);
    }

    #[test]
    fn a_stopped_comparison_answers_nothing() {
        let (game, chance) = begun("houses-of-thoth", 2);
        let seat = game.to_act().iter().next().unwrap();
        let known = chance.dealt_to(seat);
        let stop = Arc::new(AtomicBool::new(true));
        for made in game.legal(seat, known) {
            assert_eq!(better(&game, seat, known, &made, [2; 32], &stop), None);
        }
    }

    #[test]
    fn a_mean_comes_with_its_error() {
        assert_eq!(mean_and_error(&[]), None);
        assert_eq!(mean_and_error(&[7.0]), Some((7.0, 0.0)));
        let (mean, error) = mean_and_error(&[1.0, 3.0]).unwrap();
        assert!((mean - 2.0).abs() < 1e-9 && (error - 1.0).abs() < 1e-9);
    }
}
