//! The normal bot for Loot: it values a hand by its best arrangement and its prospects.
//!
//! It counts in quarter points. A hand is worth its score now under the gods that the bot knows:
//! its own, and those others took openly. Each uncombined card adds part of its possible gain in
//! the nearest combination. That part grows with the number of cards that would complete the
//! combination.

use fairdeal_protocol::card::{Face, Faces, Slot};
use fairdeal_protocol::game::{Game as _, uniform};
use fairdeal_protocol::seat::Seat;
use rand_core::Rng;

use super::{Bot, Random, fixed};
use crate::common::{capital, listed};
use crate::hint::{Hint, Hints};
use crate::loot::cards::{self, GodSet, RANKS, rank, suit};
use crate::loot::score::{Combo, best, best_total};
use crate::loot::{Loot, LootAction, Phase, Pile};

/// A Loot player by rules of thumb. See the module documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LootBot {
    /// Number of possible draws it samples before it decides to take the discard pile's card
    /// instead.
    pub samples: u32,
    /// The least score of its hand at which it fires the village.
    pub worth_firing: i32,
    /// The least lead over its estimate of the other hands at which it fires, by the turns that everybody has completed:
    /// after one, after two, and so on; the last one holds from then on.
    pub ahead: [i32; 4],
    /// How much better or worse than expected another hand may be. If a fire could then end the game, the bot fires only
    /// to win.
    pub caution: i64,
}

impl LootBot {
    /// The bot that sharp ones are measured against.
    pub const BASELINE: Self = Self {
        samples: 6,
        worth_firing: 8,
        // Lower ones win more often against each other, but most hands then end after one turn.
        ahead: [30, 22, 8, 0],
        caution: 0,
    };
}

impl Default for LootBot {
    fn default() -> Self {
        Self { caution: 10, ..Self::BASELINE }
    }
}

impl Bot<Loot> for LootBot {
    fn choose(&mut self, game: &Loot, seat: Seat, known: &Faces, rng: &mut dyn Rng) -> Option<LootAction> {
        let sight = Sight::new(game, seat, known);
        if game.check(seat, &LootAction::Fire).is_ok() && self.fires(game, seat, &sight) {
            return Some(LootAction::Fire);
        }
        self.turn(game, seat, known, &sight, rng)
    }
}

impl LootBot {
    /// The seat's take or discard, if it is its turn: what it does when it does not fire.
    pub(crate) fn without_fire(&self, game: &Loot, seat: Seat, known: &Faces, rng: &mut dyn Rng) -> Option<LootAction> {
        self.turn(game, seat, known, &Sight::new(game, seat, known), rng)
    }

    fn turn(&self, game: &Loot, seat: Seat, known: &Faces, sight: &Sight, rng: &mut dyn Rng) -> Option<LootAction> {
        if game.turn() != Some(seat) {
            return None;
        }
        match game.phase() {
            Phase::Take => Some(LootAction::Take(self.pile(game, sight, rng))),
            Phase::Discard => {
                let (card, _) = sight.best_discard(&sight.hand)?;
                let mut held = game.hand_of(seat).iter().filter(|slot| slot.face(known) == Some(card));
                let handle = held.next()?.handle();
                Some(LootAction::Discard { card, handle })
            }
        }
    }
}

impl Hints for Loot {
    fn hint(&self, seat: Seat, known: &Faces) -> Option<Hint<LootAction>> {
        let action = fixed(LootBot::default(), self, seat, known)?;
        let why = Sight::new(self, seat, known).why(self, seat, &action);
        Some(Hint { action, why })
    }
}

impl LootBot {
    /// The pile to take from: the discard pile if its top card helps the hand more than the average
    /// draw.
    fn pile(&self, game: &Loot, sight: &Sight, rng: &mut dyn Rng) -> Pile {
        let Some(top) = game.discard_pile().last() else {
            return Pile::Draw;
        };
        if game.draw_pile().is_empty() {
            return Pile::Discard;
        }
        let mut unseen = sight.unseen.clone();
        let (mut drawn, mut looked) = (0, 0);
        while let (true, Ok(left @ 1..)) = (looked < self.samples, u32::try_from(unseen.len())) {
            let place = usize::try_from(uniform(rng, left)).unwrap_or(0);
            drawn += sight.worth_with(unseen.swap_remove(place));
            looked += 1;
        }
        let average = drawn / i32::try_from(looked).unwrap_or(1).max(1);
        // Unlike a drawn card, the top card may not be worth keeping. Then the turn is wasted.
        if sight.worth_with(*top) > average { Pile::Discard } else { Pile::Draw }
    }

    /// Whether to fire: with a good score that is probably ahead of the others', unless that ends
    /// the game in another seat's favour.
    fn fires(&self, game: &Loot, seat: Seat, sight: &Sight) -> bool {
        // With a card just taken, the worst one still goes. A fire would wait for that discard
        // anyway.
        let score = match sight.hand.len() {
            10.. => return false,
            _ => best_total(&sight.hand, sight.gods(&sight.hand)),
        };
        let own = i64::from(score);
        let total = |any: Seat| game.totals().get(any.index()).copied().unwrap_or(0);
        let others = || game.playing().without(seat).iter();
        // The least and the most that another seat probably has after the fire.
        let least = |other: Seat| total(other) + expected(game, other) - self.caution;
        let most = |other: Seat| total(other) + expected(game, other) + self.caution;
        let after = total(seat) + own;
        let target = game.target();
        if after.abs() >= target || others().any(|other| most(other) >= target || least(other) <= -target) {
            return own >= 0 && others().all(|other| after > most(other));
        }
        let turns = game.playing().iter().filter_map(|seat| game.turns().get(seat.index()).copied());
        let round = usize::try_from(turns.min().unwrap_or(0)).unwrap_or(usize::MAX).clamp(1, self.ahead.len());
        let ahead = self.ahead.get(round - 1).copied().unwrap_or(0);
        score >= self.worth_firing && others().all(|o| own - expected(game, o) >= ahead.into())
    }
}

/// The gentle bot for Loot: it plays at random, but fires like the normal one, half as often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GentleLootBot;

impl Bot<Loot> for GentleLootBot {
    fn choose(&mut self, game: &Loot, seat: Seat, known: &Faces, rng: &mut dyn Rng) -> Option<LootAction> {
        let may_fire = game.check(seat, &LootAction::Fire).is_ok();
        if may_fire && LootBot::default().fires(game, seat, &Sight::new(game, seat, known)) && uniform(rng, 2) == 0 {
            return Some(LootAction::Fire);
        }
        Random { seldom: None }.choose(game, seat, known, rng)
    }
}

/// The expected score of another seat's hand, by the number of its turns.
///
/// A long hand means that everybody waits with something worse than usual. The expectation therefore
/// falls again, which makes a seat fire in the end.
pub(crate) fn expected(game: &Loot, seat: Seat) -> i64 {
    let turns = game.turns().get(seat.index()).copied().unwrap_or(0);
    let beyond = i64::from(turns) + 1 - i64::try_from(BY_TURNS.len()).unwrap_or(0);
    let place = usize::try_from(turns).unwrap_or(usize::MAX).min(BY_TURNS.len() - 1);
    BY_TURNS.get(place).copied().unwrap_or(0) - beyond.max(0)
}

/// The average score of this bot's own hands after that many turns, when nobody fires.
const BY_TURNS: [i64; 10] = [-11, 3, 11, 16, 19, 21, 23, 24, 26, 27];

/// The cards that the bot's seat can see.
struct Sight {
    hand: Vec<Face>,
    /// Gods that other seats took openly.
    others: GodSet,
    /// The cards that could still come: not in the hand, not in the discard pile, and not held
    /// openly by another seat.
    unseen: Vec<Face>,
}

impl Sight {
    fn new(game: &Loot, seat: Seat, known: &Faces) -> Self {
        let hand: Vec<Face> = game.hand_of(seat).iter().filter_map(|slot| slot.face(known)).collect();
        let others = game.playing().without(seat);
        let open: Vec<Face> = others
            .iter()
            .flat_map(|other| game.hand_of(other))
            .filter_map(|slot| match slot {
                Slot::Open(card) => Some(*card),
                Slot::Sealed(_) => None,
            })
            .collect();
        let seen = |card: &Face| hand.contains(card) || open.contains(card) || game.discard_pile().contains(card);
        let unseen = cards::all().filter(|card| !seen(card)).collect();
        Self { others: GodSet::NONE.and_of(&open), hand, unseen }
    }

    /// The gods that would act on this hand.
    fn gods(&self, hand: &[Face]) -> GodSet {
        self.others.and_of(hand)
    }

    /// The value of the hand with one more card, after discarding the worst.
    fn worth_with(&self, card: Face) -> i32 {
        let mut hand = self.hand.clone();
        hand.push(card);
        self.best_discard(&hand).map_or(0, |(_, worth)| worth)
    }

    /// The card whose loss leaves the most value, and that value. Among equals the highest rank
    /// goes.
    fn best_discard(&self, hand: &[Face]) -> Option<(Face, i32)> {
        let mut rest = Vec::with_capacity(hand.len());
        let left = hand.iter().map(|card| {
            rest.clear();
            rest.extend(hand.iter().filter(|other| *other != card));
            (*card, self.worth(&rest))
        });
        left.max_by_key(|(card, worth)| (*worth, rank(*card)))
    }

    /// The value of a hand, in quarter points.
    fn worth(&self, hand: &[Face]) -> i32 {
        let arrangement = best(hand, self.gods(hand));
        let loose: Vec<Face> = arrangement.loose.iter().map(|(card, _)| *card).collect();
        let hopes: i32 = arrangement
            .loose
            .iter()
            // Combined, the card would score 2 and no longer cost its current points.
            .map(|(card, points)| (2 - points) * self.hope(*card, &loose) / 25)
            .sum();
        4 * arrangement.total + hopes
    }

    /// The likelihood that an uncombined card is combined soon, in percent.
    fn hope(&self, card: Face, loose: &[Face]) -> i32 {
        let waiting = |wanted: &dyn Fn(Face) -> bool| {
            let outs = self.unseen.iter().filter(|unseen| wanted(**unseen)).count();
            i32::try_from(outs).unwrap_or(0)
        };
        let count = |alike: &dyn Fn(Face) -> bool| loose.iter().filter(|c| alike(**c)).count();
        let same_rank = |other: Face| rank(other) == rank(card);
        let same_suit = |other: Face| suit(other) == suit(card);
        let set = match count(&same_rank) {
            0 | 1 => 0,
            _ => PER_OUT * waiting(&same_rank),
        };
        let colour = match count(&same_suit) {
            0 | 1 => 0,
            2 => waiting(&same_suit),
            _ => PER_OUT * waiting(&same_suit),
        };
        let runs = (1..=RANKS - 3).filter(|low| (*low..low + 4).contains(&rank(card)));
        let run = runs.map(|low| {
            let missing = |at: &u8| !loose.iter().any(|card| rank(*card) == *at);
            let missing: Vec<u8> = (low..low + 4).filter(missing).collect();
            match missing.as_slice() {
                [one] => PER_OUT * waiting(&|other| rank(other) == *one),
                [_, _] => FAR,
                _ => 0,
            }
        });
        set.max(colour).max(run.max().unwrap_or(0)).min(MOST_HOPE)
    }
}

/// Why the bot chooses an action, for a player who learns.
impl Sight {
    fn why(&self, game: &Loot, seat: Seat, action: &LootAction) -> String {
        let now = best_total(&self.hand, self.gods(&self.hand));
        let total = game.totals().get(seat.index()).copied().unwrap_or(0) + i64::from(now);
        match action {
            LootAction::Fire if total.abs() >= game.target() => {
                format!("It brings you to {total}, which ends the game, and you probably lead.")
            }
            LootAction::Fire => format!(
                "Your hand is worth {now:+}, probably more than the other hands, and they improve with every turn."
            ),
            LootAction::Discard { card, .. } => self.why_discard(*card),
            LootAction::Take(pile) => match game.discard_pile().last() {
                Some(top) => self.why_take(*pile, *top, now),
                None => "The discard pile is empty.".to_owned(),
            },
        }
    }

    fn why_discard(&self, card: Face) -> String {
        let cost = best(&self.hand, self.gods(&self.hand));
        let cost = cost.loose.iter().find(|(loose, _)| *loose == card);
        let rest: Vec<Face> = self.hand.iter().copied().filter(|other| *other != card).collect();
        let kept = best(&rest, self.gods(&rest));
        let combos = listed(&kept.combos.iter().map(the).collect::<Vec<_>>());
        let why = match cost {
            Some((_, 0)) => "It is in no combination.".to_owned(),
            Some((_, points)) => format!("It is in no combination and costs {}.", -points),
            None => "Your hand loses least without it.".to_owned(),
        };
        let total = |gone: &Face| {
            let rest: Vec<Face> = self.hand.iter().copied().filter(|other| other != gone).collect();
            best_total(&rest, self.gods(&rest))
        };
        let most = self.hand.iter().map(total).max();
        let later = if most.is_some_and(|most| most > kept.total) {
            " Another discard leaves more now, but this one has better chances."
        } else {
            ""
        };
        if kept.combos.is_empty() {
            format!("{why} Low cards cost less while you wait for a combination.{later}")
        } else {
            format!("{why} You keep {combos}: {:+} in all.{later}", kept.total)
        }
    }

    fn why_take(&self, pile: Pile, top: Face, now: i32) -> String {
        let mut ten = self.hand.clone();
        ten.push(top);
        let gone = self.best_discard(&ten).map(|(gone, _)| gone);
        ten.retain(|card| Some(*card) != gone);
        let with = best(&ten, self.gods(&ten));
        let name = capital(&cards::in_words(top));
        let gain = with.total - now;
        if pile == Pile::Draw {
            return if gone == Some(top) || gain <= 0 {
                format!("{name} does not help your hand; a hidden card may.")
            } else {
                format!("{name} would bring {gain} points; a hidden card brings more on average.")
            };
        }
        let combo = with.combos.iter().find(|combo| combo.cards.contains(&top));
        let makes = match combo {
            Some(combo) => format!("makes the {}", combo.in_words()),
            None if suit(top) == cards::GODS => "is a god whose power helps you".to_owned(),
            None => "costs little and may join a combination".to_owned(),
        };
        format!("{name} {makes}: your hand goes from {now:+} to {:+}.", with.total)
    }
}

/// A combination with its points, for a sentence.
fn the(combo: &Combo) -> String {
    format!("the {} ({:+})", combo.in_words(), combo.points + combo.bonus)
}

/// The likelihood added by each card that would complete a combination, in percent.
const PER_OUT: i32 = 7;

/// The likelihood of a run that misses two cards, in percent.
const FAR: i32 = 4;

/// The cap, in percent: even many suitable cards never make the combination certain.
const MOST_HOPE: i32 = 45;

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng as _;

    use super::*;
    use crate::bots::play;
    use crate::chance::RefereeChance;
    use crate::registry::rule_set;

    /// Plays a game to its end. Returns it with the turns that every seat had completed in each hand.
    fn played(bots: &mut [Box<dyn Bot<Loot>>], number: u16) -> (Loot, Vec<u32>) {
        let seats = u8::try_from(bots.len()).unwrap();
        let mut game = Loot::create(&rule_set("loot", seats, &Default::default()).unwrap()).unwrap();
        let mut seed = [7; 32];
        seed[..2].copy_from_slice(&number.to_be_bytes());
        let mut chance = RefereeChance::from_seed(seed);
        let mut rng = ChaCha20Rng::from_seed(seed);
        game.begin(&mut chance, &mut Vec::new()).unwrap();
        let mut hands = Vec::new();
        for _ in 0..20_000 {
            let (hand, turns) = (game.hand_no(), game.turns().iter().copied().min().unwrap());
            play(&mut game, &mut chance, bots, &mut rng, 1).unwrap();
            if game.hand_no() > hand || game.is_over() {
                hands.push(turns);
            }
            if game.is_over() {
                return (game, hands);
            }
        }
        panic!("the game goes on for ever");
    }

    #[test]
    fn hands_last_some_turns() {
        for seats in 2..=4 {
            let mut hands = Vec::new();
            for number in 0..20 {
                let mut bots: Vec<Box<dyn Bot<Loot>>> = Vec::new();
                bots.resize_with(seats, || Box::new(LootBot::default()));
                hands.extend(played(&mut bots, number).1);
            }
            hands.sort_unstable();
            let median = hands[hands.len() / 2];
            assert!(median >= 3, "{median} turns among {seats}");
        }
    }

    fn sight(hand: &str) -> Sight {
        let hand: Vec<Face> = hand.split(' ').filter_map(cards::by_name).collect();
        let unseen = cards::all().filter(|card| !hand.contains(card)).collect();
        Sight { hand, others: GodSet::NONE, unseen }
    }

    #[test]
    fn hints_say_which_combinations_stay() {
        let sight = sight(
            "magician-winds magician-flames magician-waves prince-winds princess-stones \
                           warrior-leaves merchant-winds queen-leaves king-leaves fool-flames",
        );
        let (card, _) = sight.best_discard(&sight.hand).unwrap();
        assert_eq!(
            sight.why_discard(card),
            "It is in no combination and costs 9. You keep the run 1 to 6 (+12) and the set of 8s (+6): +18 in all."
        );
    }

    #[test]
    fn hints_say_what_a_taken_card_makes() {
        let sight = sight(
            "magician-winds magician-flames prince-winds princess-stones queen-waves lady fool-flames \
                           fool-leaves worker-leaves",
        );
        let top = cards::by_name("magician-waves").unwrap();
        let why = sight.why_take(Pile::Discard, top, -40);
        assert!(why.starts_with("The 8 of waves makes the set of 8s: your hand goes from -40 to "), "{why}");
        let why = sight.why_take(Pile::Draw, cards::by_name("worker-stones").unwrap(), 100);
        assert_eq!(why, "The 7 of stones does not help your hand; a hidden card may.");
    }

    /// Caution keeps some last fires from making another seat win.
    #[test]
    fn caution_gives_fewer_games_away() {
        let gave_away = |bot: LootBot| {
            let games = (2..=4).flat_map(|seats| (0..20).map(move |number| (seats, number)));
            let gave = games.filter(|(seats, number)| {
                let mut bots: Vec<Box<dyn Bot<Loot>>> = Vec::new();
                bots.resize_with(*seats, || Box::new(bot));
                let (game, _) = played(&mut bots, *number);
                !game.winners().contains(game.last_hand().unwrap().fired_by)
            });
            gave.count()
        };
        let (careful, bold) = (gave_away(LootBot::default()), gave_away(LootBot::BASELINE));
        assert!(careful < bold, "{careful} of 60, without caution {bold}");
    }

    /// A gentle bot never fires a hand that is behind.
    #[test]
    fn gentle_bots_fire_only_when_ahead() {
        let (mut hands, mut ahead) = (0, 0);
        for number in 0..20 {
            let mut bots: [Box<dyn Bot<Loot>>; 2] = [Box::new(GentleLootBot), Box::new(GentleLootBot)];
            let (game, all) = played(&mut bots, number);
            let last = game.last_hand().unwrap();
            ahead += usize::from(last.scores[last.fired_by.index()] >= 0);
            hands += all.len();
        }
        assert!(hands > 20 && ahead == 20, "{ahead} of 20 games end with a fire of a good hand");
    }
}
