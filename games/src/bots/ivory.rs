//! The normal bot for Ivory Tower: it builds the tower first and resigns when no useful play can come.

use fairdeal_protocol::card::{Face, Faces};
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;
use rand_core::Rng;

use super::Bot;
use crate::hint::{Hint, Hints};
use crate::ivory::cards::{CROWN, has, rank, suits};
use crate::ivory::outlook::{Outlook, outlook};
use crate::ivory::{Ivory, IvoryAction, Source, Target, named};

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
        Some(match coming(game) {
            Some(_) => IvoryAction::Turn,
            None => IvoryAction::Resign,
        })
    }
}

/// The positions that a hint follows at most.
const FOLLOWED: usize = 4000;

impl Hints for Ivory {
    /// The bot's choice with its reason. Where the bot gives up, it looks for a way to the tower over plays that seem
    /// useless, and advises to resign only if it finds none.
    ///
    /// Following the hints ends every game: plays from the draw pile, new cards and storeys are never undone, and
    /// between two of them each hint is one step on the shortest way to the next.
    fn hint(&self, seat: Seat, _known: &Faces) -> Option<Hint<IvoryAction>> {
        if !self.to_act().contains(seat) {
            return None;
        }
        let hint = |action, why| Some(Hint { action, why });
        if let Some((from, to)) = best_play(self) {
            let why = reason(self, from, to).unwrap_or_default();
            return hint(IvoryAction::Play { from, to }, why);
        }
        if let Some((turns, card)) = coming(self) {
            let after = match turns {
                1 => "It brings".to_owned(),
                turns => format!("No play helps now; {turns} turns bring"),
            };
            let card = card.map_or_else(|| "a card that you have not seen".to_owned(), named);
            return hint(IvoryAction::Turn, format!("{after} {card}."));
        }
        match outlook(self, FOLLOWED) {
            Outlook::Open { action, card: None } => {
                let why = "This brings up a card that you have not seen.";
                hint(action, why.to_owned())
            }
            Outlook::Open { action, card: Some(card) } => {
                hint(action, format!("It is the shortest way to {}, which the tower takes.", named(card)))
            }
            Outlook::Stuck | Outlook::DeadEnd => {
                let why = format!("The tower cannot grow any more: it stays at {} of {CROWN}.", self.score());
                hint(IvoryAction::Resign, why)
            }
            Outlook::Unclear => {
                let why = format!("No way on was found; {} of {CROWN} storeys stand.", self.score());
                hint(IvoryAction::Resign, why)
            }
        }
    }
}

/// The reason for one of the bot's plays.
fn reason(game: &Ivory, from: Source, to: Target) -> Option<String> {
    let card = game.available(from)?;
    let under = |cards: &[Face]| cards.len().checked_sub(2).and_then(|at| cards.get(at).copied());
    let last = |pile: u8| game.piles().get(usize::from(pile))?.last().copied();
    let frees = || match game.draw_pile().iter().rev().nth(1) {
        Some(slot) if game.was_shown(*slot) => {
            let next = slot.face(&Faces::new()).map(named);
            format!("It uncovers {}.", next.unwrap_or_default())
        }
        Some(_) => "It uncovers a card that you have not seen.".to_owned(),
        None => "The draw pile is then empty.".to_owned(),
    };
    Some(match (from, to) {
        (_, Target::Tower) if rank(card) == CROWN => "It completes the tower.".to_owned(),
        (_, Target::Tower) if game.tower().is_empty() => {
            let suit = suits(card).first()?.name();
            format!("An Ace begins the tower: from here on it takes {suit}.")
        }
        (_, Target::Tower) => format!("The tower takes it: {} of {CROWN} storeys stand.", rank(card)),
        (_, Target::New) => format!("A new pile has room for other cards. {}", frees()),
        (Source::Pile(pile), Target::Pile(_)) => {
            let next = under(game.piles().get(usize::from(pile))?)?;
            format!("It uncovers {}, which the tower takes next.", named(next))
        }
        (Source::Draw, Target::Pile(onto)) => match (is_needed(game, last(onto)?), is_needed(game, card)) {
            (true, true) => {
                format!("The tower takes {} before {}, so it may lie on it.", named(card), named(last(onto)?))
            }
            (true, false) => format!("The tower takes {} last, so it may be covered. {}", named(last(onto)?), frees()),
            (false, _) => format!("It fits there, and leaves the draw pile for good. {}", frees()),
        },
    })
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

/// The turns until a card comes to the top that is unseen or can be played, and that card if it was seen. `None` if a
/// pass through the cards brings none. Every play leaves fewer cards to turn, so passes end.
fn coming(game: &Ivory) -> Option<(usize, Option<Face>)> {
    let mut copy = game.clone();
    let cards = game.deck().len() + game.draw_pile().len();
    // The rest of this pass, then a whole one.
    for turns in 1..=(2 * cards / 3 + 4) {
        if !copy.turn_for_thought() {
            return None;
        }
        match copy.draw_pile().last() {
            Some(top) if !game.was_shown(*top) => return Some((turns, None)),
            Some(_) if best_play(&copy).is_some() => return Some((turns, copy.top())),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng as _;

    use super::*;
    use crate::bots::{Random, play};
    use crate::chance::RefereeChance;
    use crate::ivory::cards;
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

    fn dealt(seed: u8, chance: &mut RefereeChance) -> Ivory {
        let rules = rule_set("ivory-tower", 1, &Default::default()).unwrap();
        let mut game = Ivory::create(&rules).unwrap();
        *chance = RefereeChance::from_seed([seed; 32]);
        game.begin(chance, &mut Vec::new()).unwrap();
        game
    }

    /// Follows the hints to the end, and returns the score.
    fn followed(mut game: Ivory, chance: &mut RefereeChance) -> i64 {
        let seat = Seat::new(0).unwrap();
        for _ in 0..400 {
            let Some(Hint { action, why }) = game.hint(seat, &Faces::new()) else {
                return game.scores()[0];
            };
            assert!(why.ends_with('.'), "{why}");
            assert_eq!(game.hint(seat, &Faces::new()).unwrap().action, action);
            if action == IvoryAction::Resign {
                assert!(!matches!(outlook(&game, FOLLOWED), Outlook::Open { .. }));
            }
            game.apply(seat, &action, chance, &mut Vec::new()).unwrap();
        }
        panic!("the hints go on for ever");
    }

    #[test]
    fn hints_come_to_an_end() {
        let mut chance = RefereeChance::from_seed([0; 32]);
        let (mut advised, mut alone) = (0, 0);
        for seed in 0..200 {
            let game = dealt(seed, &mut chance);
            advised += followed(game, &mut chance);
            let mut game = dealt(seed, &mut chance);
            let mut rng = ChaCha20Rng::from_seed([1; 32]);
            play(&mut game, &mut chance, &mut [Box::new(IvoryBot)], &mut rng, 5000).unwrap();
            alone += game.scores()[0];
        }
        assert!(advised >= alone, "{advised} {alone}");
    }

    #[test]
    fn hints_come_to_an_end_from_any_state() {
        let mut chance = RefereeChance::from_seed([0; 32]);
        let seat = Seat::new(0).unwrap();
        for seed in 0..200 {
            let mut game = dealt(seed, &mut chance);
            let mut number = usize::from(seed);
            for _ in 0..(20 + seed % 80) {
                // Any action but to resign, which is the last one.
                let legal = game.legal(seat, &Faces::new());
                number = number.wrapping_mul(25_173).wrapping_add(13_849) % 65_536;
                let action = legal[number / 7 % (legal.len() - 1).max(1)];
                if game.apply(seat, &action, &mut chance, &mut Vec::new()).is_err() || game.is_over() {
                    break;
                }
            }
            followed(game, &mut chance);
        }
    }

    /// The state after a deal with these cards on top, and so many turns.
    fn stacked(top: &[&str], turns: usize) -> Ivory {
        let card = |name: &str| cards::all().find(|card| cards::name(*card) == name).unwrap();
        let top: Vec<Face> = top.iter().map(|name| card(name)).collect();
        let rest = cards::all().filter(|card| !top.contains(card));
        let deck = top.iter().copied().chain(rest);
        let mut chance = RefereeChance::default();
        chance.add([deck.map(|card| u32::from(card.0)).collect()], []);
        let rules = rule_set("ivory-tower", 1, &Default::default()).unwrap();
        let mut game = Ivory::create(&rules).unwrap();
        game.begin(&mut chance, &mut Vec::new()).unwrap();
        for _ in 0..turns {
            game.apply(Seat::new(0).unwrap(), &IvoryAction::Turn, &mut chance, &mut Vec::new()).unwrap();
        }
        game
    }

    /// Twelve packets of three whose last cards cannot be played.
    const DEAD: [&str; 36] = [
        "ace-moons",
        "ace-suns",
        "author",
        "ace-waves",
        "ace-leaves",
        "desert",
        "ace-wyrms",
        "ace-knots",
        "origin",
        "crown-moons",
        "crown-suns",
        "painter",
        "crown-waves",
        "crown-leaves",
        "savage",
        "crown-wyrms",
        "crown-knots",
        "journey",
        "mountain",
        "sailor",
        "battle",
        "forest",
        "soldier",
        "discovery",
        "market",
        "lunatic",
        "penitent",
        "castle",
        "cave",
        "meeting",
        "mill",
        "diplomat",
        "betrayal",
        "darkness",
        "merchant",
        "pact",
    ];

    #[test]
    fn a_dead_end_is_known_after_a_whole_pass() {
        // A pass has twelve turns, the first of which is the deal.
        let early = stacked(&DEAD, 10);
        assert!(matches!(outlook(&early, 400), Outlook::Open { card: None, .. }));
        for turns in [11, 12, 20] {
            let late = stacked(&DEAD, turns);
            assert_eq!(outlook(&late, 400), Outlook::DeadEnd);
            let hint = late.hint(Seat::new(0).unwrap(), &Faces::new()).unwrap();
            assert_eq!(hint.action, IvoryAction::Resign);
        }
    }

    #[test]
    fn an_ace_that_comes_is_no_dead_end() {
        let mut cards = DEAD;
        cards.swap(1, 2);
        let late = stacked(&cards, 11);
        let Outlook::Open { action, card } = outlook(&late, 400) else {
            panic!("the Ace of suns can be played");
        };
        assert_eq!((action, card.map(named).as_deref()), (IvoryAction::Turn, Some("Ace of suns")));
        let hint = late.hint(Seat::new(0).unwrap(), &Faces::new()).unwrap();
        assert_eq!(hint.why, "It brings Ace of suns.");
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
            let games =
                [rule_set("ivory-tower", 1, &options), rule_set("ivory-tower", 1, &Default::default())].map(|rules| {
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
