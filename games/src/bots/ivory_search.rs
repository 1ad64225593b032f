//! A searching bot for Ivory Tower. It imagines orders of the cards that it has not seen, and solves each.
//!
//! Looking is free: where a turn loses nothing it first turns through the whole stock. Then it takes the play after
//! which the tower can be won in most of the imagined worlds (perfect-information Monte Carlo). It knows the place of
//! every card that has been on top; all orders of the others fit equally well.

use fairdeal_protocol::card::{Face, Faces, Slot};
use fairdeal_protocol::game::{Game as _, shuffle};
use fairdeal_protocol::seat::Seat;
use rand_core::Rng;

use super::{Bot, IvoryBot};
use crate::ivory::solver::{Goal, Judge, Play, unseen};
use crate::ivory::{Ivory, IvoryAction, Source, Target};

/// The searching bot. It keeps the play that it is turning for, and which piles it has had.
#[derive(Clone, Debug)]
pub struct IvorySearchBot {
    /// Imagined orders a decision.
    worlds: usize,
    /// States that a search visits at most; a world without a verdict counts half.
    states: usize,
    /// The play that the bot turns for, and the number of unseen cards when it was chosen.
    plan: Option<(Play, usize)>,
    /// The piles since the last play from the draw pile or to the tower: moves between piles must not go in circles.
    piles: Vec<Vec<Vec<Face>>>,
    /// The number of cards in draw pile, deck and tower at that play.
    since: (usize, usize),
}

impl Default for IvorySearchBot {
    fn default() -> Self {
        Self::new(24, 3000)
    }
}

impl IvorySearchBot {
    /// A bot that imagines so many worlds a decision, and visits at most so many states in each search.
    pub fn new(worlds: usize, states: usize) -> Self {
        Self {
            worlds,
            states,
            plan: None,
            piles: Vec::new(),
            since: (0, 0),
        }
    }
}

/// What the bot can do: a turn (`None`) or a play, perhaps after turns.
type Choice = Option<Play>;

impl Bot<Ivory> for IvorySearchBot {
    fn choose(&mut self, game: &Ivory, seat: Seat, known: &Faces, rng: &mut dyn Rng) -> Option<IvoryAction> {
        if !game.to_act().contains(seat) {
            return None;
        }
        let stock = game.deck().len() + game.draw_pile().len();
        if self.since != (stock, game.tower().len()) {
            self.since = (stock, game.tower().len());
            self.piles.clear();
        }
        let hidden = unseen(game);
        if let Some((play, _)) = self.plan.filter(|(_, count)| *count == hidden.len()) {
            return Some(self.towards(game, play, hidden.len()));
        }
        self.plan = None;
        let looks = looks(game);
        if looks == Looks::Free {
            return Some(IvoryAction::Turn);
        }
        let Some(choice) = self.best(game, &hidden, looks == Looks::Costly, rng) else {
            return IvoryBot.choose(game, seat, known, rng);
        };
        Some(match choice {
            Some(play) => self.towards(game, play, hidden.len()),
            None => IvoryAction::Turn,
        })
    }
}

/// Whether turns bring cards to the top that the player has not seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Looks {
    None,
    /// They do, and lose nothing.
    Free,
    /// They do, but pass cards that come back only once the draw pile has another size.
    Costly,
}

fn looks(game: &Ivory) -> Looks {
    let turned = game.draw_pile().len();
    let slots = game.draw_pile().iter().chain(game.deck().iter().rev());
    let count = slots.clone().count();
    let is_free = turned.is_multiple_of(3) || turned == count;
    let hidden = slots.zip(1..).filter(|(slot, _)| !game.was_shown(**slot));
    let mut hidden = hidden.map(|(_, place): (_, usize)| place);
    let comes = |place: usize| place.is_multiple_of(3) || place == count || place > turned && (place - turned).is_multiple_of(3);
    match hidden.any(comes) {
        false => Looks::None,
        true if is_free => Looks::Free,
        true => Looks::Costly,
    }
}

impl IvorySearchBot {
    /// The choice that wins most worlds; `None` if none wins any.
    fn best(&self, game: &Ivory, hidden: &[Face], may_turn: bool, rng: &mut dyn Rng) -> Option<Choice> {
        let mut order = hidden.to_vec();
        let mut choices: Vec<(Choice, usize)> = Vec::new();
        let worlds = if hidden.len() < 2 { 1 } else { self.worlds };
        for _ in 0..worlds {
            shuffle(rng, &mut order);
            let mut world = Judge::imagine(game, &order)?;
            let plays = world.plays().into_iter().map(|(play, state)| (Some(play), state));
            let turn = may_turn.then(|| (None, world.turned()));
            for (choice, state) in turn.into_iter().chain(plays) {
                if choice.is_some_and(|play| hidden.contains(&play.card) || self.goes_back(game, play)) {
                    continue;
                }
                let worth = match world.can_win(state, self.states) {
                    Some(true) => 2,
                    Some(false) => 0,
                    None => 1,
                };
                match choices.iter_mut().find(|(known, _)| *known == choice) {
                    Some((_, sum)) => *sum += worth,
                    None => choices.push((choice, worth)),
                }
            }
        }
        let (choice, worth) = choices
            .into_iter()
            .max_by_key(|(choice, worth)| (*worth, liking(game, *choice)))?;
        (worth > 0).then_some(choice)
    }

    /// Whether the play leads to piles that the bot has had.
    fn goes_back(&self, game: &Ivory, play: Play) -> bool {
        let Some(from) = game.piles().iter().position(|pile| pile.last() == Some(&play.card)) else {
            return false;
        };
        let Goal::Onto(under) = play.goal else { return false };
        let mut piles = game.piles().to_vec();
        if let Some(pile) = piles.get_mut(from) {
            pile.pop();
        }
        if let Some(pile) = piles.iter_mut().find(|pile| pile.last() == Some(&under)) {
            pile.push(play.card);
        }
        self.piles.contains(&piles)
    }

    /// The next action towards a play: the play, or a turn.
    fn towards(&mut self, game: &Ivory, play: Play, hidden: usize) -> IvoryAction {
        let last = |card: Face| game.piles().iter().position(|pile| pile.last() == Some(&card));
        let pile = |place: usize| u8::try_from(place).unwrap_or(u8::MAX);
        let from = match last(play.card) {
            Some(place) => Source::Pile(pile(place)),
            None if game.top() == Some(play.card) => Source::Draw,
            None => {
                self.plan = Some((play, hidden));
                return IvoryAction::Turn;
            }
        };
        self.plan = None;
        self.piles.push(game.piles().to_vec());
        let to = match play.goal {
            Goal::Tower => Target::Tower,
            Goal::New => Target::New,
            Goal::Onto(card) => Target::Pile(last(card).map_or(u8::MAX, pile)),
        };
        IvoryAction::Play { from, to }
    }
}

/// The order of choices that win as many worlds: first what builds, then what shows a card.
fn liking(game: &Ivory, choice: Choice) -> u8 {
    let Some(play) = choice else { return u8::MAX };
    let slots: Vec<_> = game.draw_pile().iter().chain(game.deck().iter().rev()).collect();
    let is_it = |slot: &&Slot| slot.face(&Faces::new()) == Some(play.card);
    let place = slots.iter().position(is_it);
    let under = place.and_then(|place| slots.get(place.checked_sub(1)?));
    let shows = under.is_some_and(|slot| !game.was_shown(**slot));
    let rank = match play.goal {
        Goal::Tower => 4,
        Goal::New => 3,
        Goal::Onto(_) if place.is_some() => 2,
        Goal::Onto(_) => 0,
    };
    2 * rank + u8::from(shows)
}
