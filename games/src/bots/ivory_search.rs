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
use crate::ivory::{Ivory, IvoryAction};

/// The searching bot. It keeps the play that it is turning for, and which piles it has had.
#[derive(Clone, Debug)]
pub struct IvorySearchBot {
    /// Imagined orders a decision.
    worlds: usize,
    /// States that a search visits at most; a world without a verdict counts half.
    states: usize,
    plan: Option<Plan>,
    /// The piles since the last play from the draw pile or to the tower: moves between piles must not go in circles.
    piles: Vec<Vec<Vec<Face>>>,
    /// The number of cards in draw pile, deck and tower at that play.
    since: (usize, usize),
    /// Actions since that play.
    made: usize,
}

/// Actions that the bot makes at most between two such plays, a few times those of a pass through the stock. Then the
/// normal bot goes on, whose games end.
const PATIENCE: usize = 100;

/// A play that the bot turns for.
#[derive(Clone, Copy, Debug)]
struct Plan {
    play: Play,
    /// The number of unseen cards when it was chosen: a new card in sight is a reason to choose again.
    hidden: usize,
    /// The turns that may still be needed.
    turns: usize,
}

impl Default for IvorySearchBot {
    fn default() -> Self {
        Self::new(24, 3000)
    }
}

impl IvorySearchBot {
    /// A bot that imagines so many worlds a decision, and visits at most so many states in each search.
    pub fn new(worlds: usize, states: usize) -> Self {
        Self { worlds, states, plan: None, piles: Vec::new(), since: (0, 0), made: 0 }
    }
}

/// A turn (`None`), or a play after the turns that it needs.
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
            self.made = 0;
        }
        self.made += 1;
        if self.made > PATIENCE {
            return IvoryBot.choose(game, seat, known, rng);
        }
        if !self.piles.iter().any(|piles| piles == game.piles()) {
            self.piles.push(game.piles().to_vec());
        }
        let hidden = unseen(game);
        let plan = self.plan.take().filter(|plan| plan.hidden == hidden.len());
        if let Some(action) = plan.and_then(|plan| self.towards(game, seat, plan)) {
            return Some(action);
        }
        let looks = looks(game);
        if looks == Looks::Free {
            return Some(IvoryAction::Turn);
        }
        let action = match self.best(game, &hidden, looks == Looks::Costly, rng) {
            Some(Some(play)) => {
                let (hidden, turns) = (hidden.len(), stock);
                self.towards(game, seat, Plan { play, hidden, turns })
            }
            Some(None) => Some(IvoryAction::Turn),
            None => None,
        };
        action.or_else(|| IvoryBot.choose(game, seat, known, rng))
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
    let mut hidden = slots.zip(1..).filter(|(slot, _)| !game.was_shown(**slot)).map(|(_, place): (_, usize)| place);
    let comes = |place: usize| {
        place.is_multiple_of(3) || place == count || place > turned && (place - turned).is_multiple_of(3)
    };
    if !hidden.any(comes) {
        Looks::None
    } else if is_free {
        Looks::Free
    } else {
        Looks::Costly
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
        let (choice, worth) = choices.into_iter().max_by_key(|(choice, worth)| (*worth, liking(game, *choice)))?;
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

    /// The next action of a plan: its play, or a turn. `None` if it cannot be carried out.
    fn towards(&mut self, game: &Ivory, seat: Seat, plan: Plan) -> Option<IvoryAction> {
        let Some(from) = plan.play.source(game) else {
            let turns = plan.turns.checked_sub(1)?;
            self.plan = Some(Plan { turns, ..plan });
            let can_turn = game.check(seat, &IvoryAction::Turn).is_ok();
            return can_turn.then_some(IvoryAction::Turn);
        };
        let to = plan.play.target(game)?;
        let action = IvoryAction::Play { from, to };
        game.check(seat, &action).ok()?;
        Some(action)
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

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng as _;

    use super::*;
    use crate::bots::play;
    use crate::chance::RefereeChance;
    use crate::ivory::daily;
    use crate::registry::rule_set;

    fn dealt(deck: &[Face], day: Option<&str>) -> (Ivory, RefereeChance) {
        let options = day.map(|day| ("daily".to_owned(), day.to_owned()));
        let rules = rule_set("ivory-tower", 1, &options.into_iter().collect()).unwrap();
        let mut game = Ivory::create(&rules).unwrap();
        let mut chance = RefereeChance::default();
        chance.add([deck.iter().map(|card| u32::from(card.0)).collect()], []);
        game.begin(&mut chance, &mut Vec::new()).unwrap();
        (game, chance)
    }

    /// The actions up to the first play of a card from the draw pile, and that one.
    fn opening(deck: &[Face]) -> Vec<IvoryAction> {
        let (mut game, mut chance) = dealt(deck, None);
        let mut bot = IvorySearchBot::new(4, 1000);
        let mut rng = ChaCha20Rng::from_seed([7; 32]);
        let seat = Seat::new(0).unwrap();
        let mut made = Vec::new();
        while game.piles().is_empty() && game.tower().is_empty() && !game.is_over() {
            let action = bot.choose(&game, seat, chance.dealt_to(seat), &mut rng).unwrap();
            game.apply(seat, &action, &mut chance, &mut Vec::new()).unwrap();
            made.push(action);
        }
        made
    }

    /// The first pass shows every third card. The others, in any order, give the same play.
    #[test]
    fn unseen_cards_decide_nothing() {
        for day in ["2026-01-01", "2026-01-03", "2026-06-30"] {
            let deck = daily::deck(day);
            let hidden = (0..deck.len()).filter(|place| place % 3 != 2);
            let mut faces: Vec<Face> = hidden.clone().map(|place| deck[place]).collect();
            faces.reverse();
            let mut other = deck.clone();
            for (place, face) in hidden.zip(faces) {
                other[place] = face;
            }
            let actions = opening(&deck);
            assert!(actions.len() > 12, "it looks first");
            assert_eq!(actions, opening(&other), "{day}");
        }
    }

    /// The state of a daily deal has every face. The bot must not use that.
    #[test]
    fn day_is_played_as_if_it_were_sealed() {
        let day = "2026-01-04";
        let played = [Some(day), None].map(|date| {
            let (mut game, mut chance) = dealt(&daily::deck(day), date);
            let mut bots: [Box<dyn Bot<Ivory>>; 1] = [Box::new(IvorySearchBot::new(4, 1000))];
            let mut rng = ChaCha20Rng::from_seed([1; 32]);
            let made = play(&mut game, &mut chance, &mut bots, &mut rng, 5000).unwrap();
            (made, game.tower().to_vec(), game.piles().to_vec())
        });
        assert_eq!(played[0], played[1]);
    }

    #[test]
    fn games_end_and_some_are_won() {
        let rules = rule_set("ivory-tower", 1, &Default::default()).unwrap();
        let won = (0..20).filter(|seed| {
            let mut game = Ivory::create(&rules).unwrap();
            let mut chance = RefereeChance::from_seed([*seed; 32]);
            game.begin(&mut chance, &mut Vec::new()).unwrap();
            let mut bots: [Box<dyn Bot<Ivory>>; 1] = [Box::new(IvorySearchBot::new(4, 1000))];
            let mut rng = ChaCha20Rng::from_seed([*seed; 32]);
            let made = play(&mut game, &mut chance, &mut bots, &mut rng, 5000).unwrap();
            assert!(made < 5000 && game.is_over(), "deal {seed}");
            game.is_won()
        });
        assert!(won.count() >= 2);
    }
}
