//! The normal bot for Ivory Tower: it builds the tower first and resigns when no useful play can come.

use fairdeal_protocol::card::{Face, Faces};
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;
use rand_core::Rng;

use super::Bot;
use crate::hint::{Hint, Hints, of_bot};
use crate::ivory::cards::{CROWN, has, rank, suits};
use crate::ivory::{Ivory, IvoryAction, Source, Target};

/// The normal bot for Ivory Tower. See the module documentation.
#[derive(Clone, Copy, Debug, Default)]
pub struct IvoryBot;

impl Bot<Ivory> for IvoryBot {
    fn choose(&mut self, game: &Ivory, seat: Seat, _known: &Faces, _rng: &mut dyn Rng) -> Option<IvoryAction> {
        if !game.to_act().contains(seat) {
            return None;
        }
        if let Some((from, to)) = best_play(game) {
            return Some(IvoryAction::Play { from, to });
        }
        Some(if something_may_come(game) {
            IvoryAction::Turn
        } else {
            IvoryAction::Resign
        })
    }
}

impl Hints for Ivory {
    /// The bot's choice; but never to resign while the remaining cards allow any play, helpful or not.
    fn hint(&self, seat: Seat, known: &Faces) -> Option<Hint<IvoryAction>> {
        let chosen = of_bot(IvoryBot, self, seat, known)?;
        let hint = |action, why: &str| {
            let why = why.to_owned();
            Some(Hint { action, why })
        };
        if chosen != IvoryAction::Resign {
            return hint(chosen, "It looks best from here.");
        }
        if let Some((from, to)) = self.plays().first().copied() {
            return hint(
                IvoryAction::Play { from, to },
                "It is the only kind of play that is left.",
            );
        }
        let mut copy = self.clone();
        let passes = 0..(self.deck().len() + self.draw_pile().len());
        let comes = passes
            .into_iter()
            .any(|_| copy.turn_for_thought() && !copy.plays().is_empty());
        match comes {
            true => hint(IvoryAction::Turn, "A card that can be played still comes."),
            false => hint(chosen, "No card can be played any more."),
        }
    }
}

/// Whether the tower still needs the card.
fn is_needed(game: &Ivory, card: Face) -> bool {
    let Some(ace) = game.tower().first() else {
        return false;
    };
    rank(card) > game.score() && suits(*ace).iter().any(|suit| has(card, *suit))
}

/// The most valuable play, if any is worth making.
fn best_play(game: &Ivory) -> Option<(Source, Target)> {
    game.plays()
        .into_iter()
        .filter_map(|play| Some((worth(game, play)?, play)))
        // Ties go to the first.
        .rev()
        .max_by_key(|(worth, _)| *worth)
        .map(|(_, play)| play)
}

fn worth(game: &Ivory, (from, to): (Source, Target)) -> Option<u8> {
    let covered = |pile: u8| game.piles().get(usize::from(pile))?.last().copied();
    match (from, to) {
        (_, Target::Tower) => Some(9),
        // The tower's own Crown would wait there, but moving it frees no other card meanwhile.
        (_, Target::New) => Some(8),
        // From a pile, only a play that uncovers the tower's next card counts.
        (Source::Pile(pile), Target::Pile(onto)) => {
            let cards = game.piles().get(usize::from(pile))?;
            let under = *cards.get(cards.len().checked_sub(2)?)?;
            let next = rank(under) == game.score() + 1 && is_needed(game, under);
            (next && !is_needed(game, covered(onto)?)).then_some(7)
        }
        (Source::Draw, Target::Pile(onto)) => {
            let card = game.top()?;
            match (is_needed(game, covered(onto)?), is_needed(game, card)) {
                // Covering a needed card is worthwhile only with a card that the tower needs
                // earlier.
                (true, true) => Some(3),
                (true, false) if rank(covered(onto)?) == CROWN => Some(2),
                (true, false) => None,
                (false, _) => Some(5),
            }
        }
    }
}

/// Whether a pass through the cards can bring a play: a top card is unseen or can be played now.
/// Every play leaves fewer cards to turn, so passes end.
fn something_may_come(game: &Ivory) -> bool {
    let mut copy = game.clone();
    let cards = game.deck().len() + game.draw_pile().len();
    // The rest of this pass, then a whole one.
    for _ in 0..(2 * cards / 3 + 4) {
        if !copy.turn_for_thought() {
            return false;
        }
        match copy.draw_pile().last() {
            Some(top) if !game.was_shown(*top) || best_play(&copy).is_some() => return true,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng as _;

    use super::*;
    use crate::bots::{Random, play};
    use crate::chance::RefereeChance;
    use crate::registry::rule_set;

    fn total(make: impl Fn() -> Box<dyn Bot<Ivory>>) -> (i64, usize) {
        let rules = rule_set("ivory-tower", 1, &Default::default()).unwrap();
        let (mut sum, mut won) = (0, 0);
        for number in 0..150 {
            let mut game = Ivory::create(&rules).unwrap();
            let mut chance = RefereeChance::from_seed([number; 32]);
            game.begin(&mut chance, &mut Vec::new()).unwrap();
            let mut rng = ChaCha20Rng::from_seed([1; 32]);
            let made = play(&mut game, &mut chance, &mut [make()], &mut rng, 5000).unwrap();
            assert!(made < 5000 && game.is_over(), "it does not turn for ever");
            sum += game.scores()[0];
            won += usize::from(game.is_won());
        }
        (sum, won)
    }

    /// Advice never suggests resigning while something can be played.
    #[test]
    fn advice_gives_up_only_where_nothing_can_be_played() {
        let rules = rule_set("ivory-tower", 1, &Default::default()).unwrap();
        for number in 0..40 {
            let mut game = Ivory::create(&rules).unwrap();
            let mut chance = RefereeChance::from_seed([number; 32]);
            game.begin(&mut chance, &mut Vec::new()).unwrap();
            let seat = Seat::new(0).unwrap();
            for _ in 0..400 {
                let Some(Hint { action, .. }) = game.hint(seat, &Faces::new()) else {
                    break;
                };
                game.check(seat, &action).unwrap();
                if action == IvoryAction::Resign {
                    assert!(game.plays().is_empty());
                }
                game.apply(seat, &action, &mut chance, &mut Vec::new()).unwrap();
            }
        }
    }

    #[test]
    fn it_builds_higher_than_chance_and_wins_now_and_then() {
        let (normal, won) = total(|| Box::new(IvoryBot));
        let (gentle, _) = total(|| Box::new(Random::default()));
        assert!(normal > gentle + 150, "{normal} {gentle}");
        assert!(won > 0);
        println!("normal {normal} won {won}, gentle {gentle}");
    }

    /// The state of a daily deal shows every card. The bot must not use that.
    #[test]
    fn it_plays_the_deal_of_a_day_as_if_it_were_sealed() {
        for day in ["2026-01-01", "2026-01-04", "2026-06-30"] {
            let options = [("daily".to_owned(), day.to_owned())].into();
            let games = [
                rule_set("ivory-tower", 1, &options),
                rule_set("ivory-tower", 1, &Default::default()),
            ]
            .map(|rules| {
                let deck = crate::ivory::daily::deck(day);
                let mut chance = RefereeChance::default();
                chance.add([deck.iter().map(|card| u32::from(card.0)).collect()], []);
                let mut game = Ivory::create(&rules.unwrap()).unwrap();
                game.begin(&mut chance, &mut Vec::new()).unwrap();
                let mut rng = ChaCha20Rng::from_seed([1; 32]);
                let mut bots: [Box<dyn Bot<Ivory>>; 1] = [Box::new(IvoryBot)];
                let made = play(&mut game, &mut chance, &mut bots, &mut rng, 5000).unwrap();
                (made, game.tower().to_vec(), game.piles().to_vec())
            });
            assert_eq!(games[0], games[1], "{day}");
        }
    }
}
