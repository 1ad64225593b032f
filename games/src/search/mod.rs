//! A search for sharp bots: a flat bandit over guesses of the hidden cards.
//!
//! A seat does not know the sealed cards of the others. The search deals them at random, among all that fit what the
//! seat knows, and plays each candidate action on from many such guesses. UCB1 (Auer, Cesa-Bianchi and Fischer 2002)
//! shares the play-outs among the candidates. All candidates meet the same guesses and the same dice, so chance favours
//! none of them. A play-out stops early, and the state it reached is rated by rules of thumb.
//!
//! The search sees only what [`Bot::choose`] gives it: the public state and the seat's own overlay. A budget in
//! iterations gives the same choice for the same random numbers, on one machine: `ln` and `exp` may differ in the last
//! bit between platforms. There is no clock here: a [`Deadline`] comes from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fairdeal_protocol::card::Faces;
use fairdeal_protocol::game::{ApplyError, Game};
use fairdeal_protocol::seat::Seat;
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng as _};

use crate::bots::Bot;
use crate::chance::guess;
use crate::interface::TableGame;

mod chance;
mod loot;
mod plutonian;
mod sphinx;
#[cfg(test)]
mod tests;
mod thoth;

use chance::Guess;

/// The knowledge of a game that the search needs besides its rules.
pub trait Search: TableGame {
    /// Actions after the candidate before a play-out is cut off.
    const ACTIONS: u32;

    /// Play-outs of one candidate after which another tells nothing new.
    const PLAYS: u32 = u32::MAX;

    /// How strongly UCB1 explores: about the spread of the worths of one candidate.
    const EXPLORE: f64;

    /// The overlay of the seat with a face for every sealed card in play: a guess among all that fit what it knows.
    /// `None` if none fits.
    fn determinize(&self, _seat: Seat, known: &Faces, rng: &mut dyn Rng) -> Option<Faces> {
        guess(self, known, rng)
    }

    /// How much better than the first candidate another one has to do, so that noise alone does not choose it.
    fn margin(&self) -> f64 {
        0.0
    }

    /// The few actions worth a search, the most promising first. `None` is to stay silent, out of turn.
    fn candidates(&self, seat: Seat, known: &Faces, rng: &mut dyn Rng) -> Vec<Option<Self::Action>>;

    /// A quick choice of a seat that is to act, for play-outs.
    fn quick(&self, seat: Seat, guess: &Faces, rng: &mut dyn Rng) -> Option<Self::Action>;

    /// The worth of a cut-off state for a seat, from 0 (lost) to 1 (won). `dealt_out`: the state stopped where the
    /// next deal would begin.
    fn worth(&self, seat: Seat, guess: &Faces, dealt_out: bool) -> f64;
}

/// A time limit, which reads a clock outside this crate.
pub trait Deadline: Send + Sync {
    /// A decision begins.
    fn start(&mut self);

    /// Whether the time for this decision is over.
    fn is_over(&self) -> bool;
}

/// The limits of one decision. The first that is reached ends it.
pub struct Budget {
    /// Maximum number of play-outs.
    pub iterations: u32,
    pub deadline: Option<Box<dyn Deadline>>,
    /// Ends the decision early when set.
    pub stop: Option<Arc<AtomicBool>>,
}

impl Budget {
    /// The play-outs of a sharp bot for which nobody sets a time.
    pub const ITERATIONS: u32 = 1000;

    /// A budget of play-outs alone, which makes choices reproducible.
    pub fn iterations(iterations: u32) -> Self {
        Self { iterations, deadline: None, stop: None }
    }

    /// A budget of time alone.
    pub fn time(deadline: impl Deadline + 'static) -> Self {
        Self { iterations: u32::MAX, deadline: Some(Box::new(deadline)), stop: None }
    }

    fn is_spent(&self, iterations: u32) -> bool {
        let stopped = self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed));
        let over = || self.deadline.as_ref().is_some_and(|deadline| deadline.is_over());
        iterations >= self.iterations || stopped || over()
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self::iterations(Self::ITERATIONS)
    }
}

/// A bot that searches. See the module documentation.
#[derive(Default)]
pub struct SharpBot {
    budget: Budget,
}

impl SharpBot {
    pub fn new(budget: Budget) -> Self {
        Self { budget }
    }
}

impl<G: Search> Bot<G> for SharpBot {
    fn choose(&mut self, game: &G, seat: Seat, known: &Faces, rng: &mut dyn Rng) -> Option<G::Action> {
        if let Some(deadline) = &mut self.budget.deadline {
            deadline.start();
        }
        let mut candidates = game.candidates(seat, known, rng);
        if candidates.len() < 2 {
            return candidates.pop().flatten();
        }
        let mut seed = [0; 32];
        rng.fill_bytes(&mut seed);
        let mut arms = search(game, seat, known, candidates, seed, &self.budget);
        if let Some(first) = arms.first_mut() {
            first.sum += game.margin() * f64::from(first.plays);
        }
        favourite(arms).and_then(|arm| arm.action)
    }
}

/// A candidate and its play-outs.
#[derive(Clone, Debug)]
pub struct Arm<A> {
    /// `None` is to stay silent, out of turn.
    pub action: Option<A>,
    pub plays: u32,
    /// The sum of the worths that its play-outs reached.
    pub sum: f64,
}

impl<A> Arm<A> {
    /// The mean worth, from 0 (lost) to 1 (won). 0 without a play-out.
    pub fn mean(&self) -> f64 {
        self.sum / f64::from(self.plays.max(1))
    }

    /// The upper confidence bound after so many play-outs of all candidates, of at most `most` each.
    fn bound(&self, all: u32, explore: f64, most: u32) -> f64 {
        match self.plays {
            0 => return f64::INFINITY,
            plays if plays >= most => return f64::NEG_INFINITY,
            _ => {}
        }
        self.mean() + explore * (f64::from(all).ln() / f64::from(self.plays)).sqrt()
    }
}

/// Shares the budget's play-outs among candidates, which may be more than [`Search::candidates`] names. The arms are in
/// the order of the candidates; none is played out if nothing fits what the seat knows. The deadline of the budget has to
/// run already.
pub fn search<G: Search>(
    game: &G,
    seat: Seat,
    known: &Faces,
    candidates: Vec<Option<G::Action>>,
    seed: [u8; 32],
    budget: &Budget,
) -> Vec<Arm<G::Action>> {
    let start = |action| Arm { action, plays: 0, sum: 0.0 };
    let mut arms: Vec<_> = candidates.into_iter().map(start).collect();
    let mut guesses: Vec<Faces> = Vec::new();
    let mut events = Vec::new();
    let mut made = 0;
    while !budget.is_spent(made) && arms.iter().any(|arm| arm.plays < G::PLAYS) {
        let next = best(&arms, |arm| arm.bound(made, G::EXPLORE, G::PLAYS));
        let Some(arm) = next.and_then(|next| arms.get_mut(next)) else {
            break;
        };
        // A candidate's n-th play-out meets the n-th guess, with the same random numbers for all candidates.
        let number = usize::try_from(arm.plays).unwrap_or(usize::MAX);
        let mut rng = stream(seed, arm.plays);
        if guesses.len() <= number {
            let Some(guess) = game.determinize(seat, known, &mut rng) else {
                break;
            };
            guesses.push(guess);
        }
        let guess = guesses.get(number).cloned().unwrap_or_default();
        let rng = stream(seed, arm.plays | 1 << 31);
        arm.sum += play_out(game, seat, arm.action.as_ref(), guess, rng, &mut events);
        arm.plays += 1;
        made += 1;
    }
    arms
}

/// The arm with the highest mean, of those with a play-out. Ties go to the first; without any play-out it is the first.
pub fn favourite<A>(mut arms: Vec<Arm<A>>) -> Option<Arm<A>> {
    let place = best(&arms, |arm| if arm.plays == 0 { -1.0 } else { arm.mean() })?;
    (place < arms.len()).then(|| arms.swap_remove(place))
}

/// The position of the arm with the highest value; the first of equals.
fn best<A>(arms: &[Arm<A>], value: impl Fn(&Arm<A>) -> f64) -> Option<usize> {
    let rated = arms.iter().map(value).enumerate();
    let better = |best: (usize, f64), next: (usize, f64)| if next.1 > best.1 { next } else { best };
    rated.reduce(better).map(|best| best.0)
}

/// The random numbers of one play-out.
fn stream(mut seed: [u8; 32], number: u32) -> ChaCha8Rng {
    for (byte, extra) in seed.iter_mut().zip(number.to_le_bytes()) {
        *byte ^= extra;
    }
    ChaCha8Rng::from_seed(seed)
}

/// Plays an action and some more on a guess, and returns the worth of the state reached.
fn play_out<G: Search>(
    game: &G,
    seat: Seat,
    action: Option<&G::Action>,
    guess: Faces,
    mut rng: ChaCha8Rng,
    events: &mut Vec<G::Event>,
) -> f64 {
    let mut game = game.clone();
    let mut chance = Guess::new(guess, &mut rng);
    let mut step = |game: &mut G, seat: Seat, action: &G::Action, chance: &mut Guess| {
        events.clear();
        game.apply(seat, action, chance, events)
    };
    if let Some(action) = action {
        match step(&mut game, seat, action, &mut chance) {
            Ok(()) => {}
            Err(ApplyError::Pause) => return game.worth(seat, chance.faces(), chance.is_dealt_out()),
            Err(ApplyError::Illegal(_)) => return 0.0,
        }
    }
    for _ in 0..G::ACTIONS {
        let Some(next) = game.to_act().iter().next() else { break };
        let Some(action) = game.quick(next, chance.faces(), &mut rng) else {
            break;
        };
        match step(&mut game, next, &action, &mut chance) {
            Ok(()) => {}
            Err(ApplyError::Pause) => return game.worth(seat, chance.faces(), chance.is_dealt_out()),
            Err(ApplyError::Illegal(_)) => break,
        }
    }
    game.worth(seat, chance.faces(), false)
}

/// The few best of these actions by their ratings, the best first; the first of equals.
fn few_best<T>(rated: impl IntoIterator<Item = (f64, T)>, few: usize) -> Vec<T> {
    let mut rated: Vec<(f64, T)> = rated.into_iter().collect();
    rated.sort_by(|one, other| other.0.total_cmp(&one.0));
    rated.truncate(few);
    rated.into_iter().map(|(_, item)| item).collect()
}

/// A seat's part of the win of a game that is over, from 0 to 1.
fn part_of_win(game: &impl Game, seat: Seat) -> Option<f64> {
    let winners = game.winners();
    let count = u32::try_from(winners.len()).unwrap_or(u32::MAX).max(1);
    let part = if winners.contains(seat) { 1.0 / f64::from(count) } else { 0.0 };
    game.is_over().then_some(part)
}

/// A number mapped smoothly to between 0 and 1: one half at 0, and 73 % at one `scale`.
fn share(lead: f64, scale: f64) -> f64 {
    1.0 / (1.0 + (-lead / scale).exp())
}
