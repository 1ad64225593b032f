//! Duels: two kinds of bots play many games against each other, and the shares are counted.
//!
//! Every deal is played once from each seat, so luck of the cards and of the first turn favours neither. The same seed
//! gives the same deals. Bots with a budget in iterations then also make the same choices, on the same machine.

use fairdeal_protocol::game::{Game as _, RuleSet, RuleSetError};
use fairdeal_protocol::seat::{Seat, SeatSet};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;
use serde_json::{Value, json};

use crate::any::{AnyGame, baseline_bot, bot, sharp_bot};
use crate::bots::{Bot, Level, Random, Seen, Stuck};
use crate::chance::RefereeChance;
use crate::search::Budget;

/// A game that is not over after so many actions is unfinished.
pub const MOST_ACTIONS: usize = 20_000;

/// A contestant of a duel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contestant {
    Level(Level),
    /// The normal bots as they were when sharp ones were first measured.
    Baseline,
    /// Any legal action, rarely one out of turn.
    Random,
}

impl Contestant {
    /// The contestant with this name, as on the command line.
    pub fn by_name(name: &str) -> Option<Self> {
        match name {
            "baseline" => Some(Self::Baseline),
            "random" => Some(Self::Random),
            _ => Level::by_name(name).map(Self::Level),
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Level(level) => level.name(),
            Self::Baseline => "baseline",
            Self::Random => "random",
        }
    }

    /// All names, for help and errors.
    pub fn names() -> Vec<&'static str> {
        let levels = Level::ALL.into_iter().map(|(_, name)| name);
        levels.chain(["baseline", "random"]).collect()
    }

    /// A bot of this kind; a sharp one thinks within the budget.
    pub fn bot(self, budget: Budget) -> Box<dyn Bot<AnyGame>> {
        match self {
            Self::Level(Level::Sharp) => sharp_bot(budget),
            Self::Level(level) => bot(level),
            Self::Baseline => baseline_bot(),
            Self::Random => Box::new(Random::default()),
        }
    }
}

/// The results of one contestant.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    /// Games that a seat of this contestant has won, alone or with others.
    pub won: u32,
    /// The sum of its shares: a win shared by n seats counts 1/n for each.
    pub shares: f64,
    /// Decisions made, and the microseconds they took: those of a seat that is to act, and each action out of turn. Seats
    /// that are asked out of turn and stay silent do not count.
    pub decisions: u64,
    pub micros: u64,
    /// Decisions that another bot made for one of this contestant.
    pub fallbacks: u64,
}

/// The results of a duel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Results {
    pub games: u32,
    /// Games that were not over after [`MOST_ACTIONS`], or in which a bot got stuck; nobody wins them.
    pub unfinished: u32,
    /// Games that ended without a winner.
    pub nobody: u32,
    pub tallies: [Tally; 2],
    pub actions: u64,
}

/// Why a bot cannot be made.
pub type BotError = Box<dyn std::error::Error + Send + Sync>;

/// Why a duel is broken off.
#[derive(Debug, thiserror::Error)]
pub enum DuelError {
    #[error(transparent)]
    Rules(#[from] RuleSetError),
    #[error(transparent)]
    Bot(BotError),
}

/// One duel. `A` sits in one seat of each game and `B` in all others.
pub struct Duel<'a> {
    pub rules: &'a RuleSet,
    /// Number of games: every deal is played once for each seat of `A`.
    pub games: u32,
    pub seed: u64,
    /// Makes the bots of `A` (0) and of `B` (1), each for a seat of one game.
    pub make: &'a mut dyn FnMut(usize, Seat) -> Result<Box<dyn Bot<AnyGame>>, BotError>,
    /// Microseconds of some clock: time is measured outside this crate.
    pub clock: &'a dyn Fn() -> u64,
}

impl Duel<'_> {
    /// Plays all games, and up to `seats` - 1 more: until the last deal has been played from each seat. `after` sees the
    /// results after each.
    ///
    /// # Errors
    /// [`DuelError`] if the rules are refused or a bot cannot be made.
    pub fn play(&mut self, mut after: impl FnMut(&Results)) -> Result<Results, DuelError> {
        let seats = u32::from(self.rules.seats).max(1);
        let mut results = Results::default();
        let games = self.games.checked_next_multiple_of(seats).unwrap_or(self.games);
        for number in 0..games {
            let (deal, place) = (number / seats, number % seats);
            let place = Seat::first(usize::from(self.rules.seats)).nth(usize::try_from(place).unwrap_or(0));
            self.play_one(deal, place.unwrap_or(Seat::FIRST), &mut results)?;
            after(&results);
        }
        Ok(results)
    }

    /// Plays one deal with `A` at this place.
    fn play_one(&mut self, deal: u32, place: Seat, results: &mut Results) -> Result<(), DuelError> {
        let seats = usize::from(self.rules.seats);
        let mut game = AnyGame::create(self.rules)?;
        let mut chance = RefereeChance::from_seed(seed(self.seed, deal, 0));
        let mut rng = ChaCha20Rng::from_seed(seed(self.seed, deal, 1));
        let side = |seat: Seat| usize::from(seat != place);
        let mut bots = Seat::first(seats)
            .map(|seat| (self.make)(side(seat), seat))
            .collect::<Result<Vec<_>, _>>()
            .map_err(DuelError::Bot)?;
        let mut events = Vec::new();
        // A seeded chance answers everything.
        let _ = game.begin(&mut chance, &mut events);
        tell(&mut bots, &game, &chance, &Seen::Deal(chance.deal_number()));
        for event in &events {
            tell(&mut bots, &game, &chance, &Seen::Event(event));
        }
        let mut made = 0;
        let end = loop {
            if game.is_over() || made >= MOST_ACTIONS {
                break Ok(());
            }
            let to_act = game.to_act();
            let others = SeatSet::all(seats).iter().filter(|seat| !to_act.contains(*seat));
            let choice = others.chain(to_act.iter()).find_map(|seat| {
                let bot = bots.get_mut(seat.index())?;
                let began = (self.clock)();
                let action = bot.choose(&game, seat, chance.dealt_to(seat), &mut rng);
                let counts = action.is_some() || to_act.contains(seat);
                if let Some(tally) = results.tallies.get_mut(side(seat)).filter(|_| counts) {
                    tally.decisions += 1;
                    tally.micros += (self.clock)().saturating_sub(began);
                }
                Some((seat, action?))
            });
            let Some((seat, action)) = choice else {
                break Err(Stuck::Idle(to_act.iter().next().unwrap_or(Seat::FIRST)));
            };
            events.clear();
            let (step, deal) = (made.try_into().unwrap_or(u64::MAX), chance.deal_number());
            let action = &action;
            tell(&mut bots, &game, &chance, &Seen::Action { step, seat, action });
            if let Err(halt) = game.apply(seat, action, &mut chance, &mut events) {
                break Err(Stuck::Halted(seat, halt));
            }
            if chance.deal_number() != deal {
                tell(&mut bots, &game, &chance, &Seen::Deal(chance.deal_number()));
            }
            for event in &events {
                tell(&mut bots, &game, &chance, &Seen::Event(event));
            }
            made += 1;
            results.actions += 1;
        };
        for (seat, bot) in Seat::first(seats).zip(&mut bots) {
            bot.over(&game);
            if let Some(tally) = results.tallies.get_mut(side(seat)) {
                tally.fallbacks += bot.fallbacks();
            }
        }
        results.games += 1;
        let winners = game.winners();
        if end.is_err() || !game.is_over() {
            results.unfinished += 1;
        } else if winners.is_empty() {
            results.nobody += 1;
        }
        for (number, tally) in results.tallies.iter_mut().enumerate() {
            let own = winners.iter().filter(|seat| side(*seat) == number).count();
            tally.won += u32::from(own > 0);
            tally.shares += ratio(own, winners.len());
        }
        Ok(())
    }
}

/// Tells every bot what its seat sees.
fn tell(bots: &mut [Box<dyn Bot<AnyGame>>], game: &AnyGame, chance: &RefereeChance, seen: &Seen<'_, AnyGame>) {
    for (seat, bot) in Seat::first(bots.len()).zip(bots) {
        bot.saw(game, seat, chance.dealt_to(seat), seen);
    }
}

/// The seed of a deal, or of the bots in it.
fn seed(seed: u64, deal: u32, use_: u8) -> [u8; 32] {
    let bytes = seed.to_le_bytes().into_iter().chain(deal.to_le_bytes()).chain([use_]);
    let mut seed = [0; 32];
    for (place, byte) in seed.iter_mut().zip(bytes) {
        *place = byte;
    }
    seed
}

fn ratio(part: usize, whole: usize) -> f64 {
    let number = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    number(part) / number(whole.max(1))
}

/// The 95 % confidence interval of a share over so many games (Wilson 1927), from 0 to 1.
pub fn wilson(share: f64, games: u32) -> (f64, f64) {
    // The 97.5 % quantile of the normal distribution, squared.
    const Z2: f64 = 1.959_964 * 1.959_964;
    let games = f64::from(games.max(1));
    let middle = (share * games + Z2 / 2.0) / (games + Z2);
    let half = (Z2 * (share * (1.0 - share) * games + Z2 / 4.0)).sqrt() / (games + Z2);
    ((middle - half).max(0.0), (middle + half).min(1.0))
}

impl Results {
    /// The share of a contestant in all games, from 0 to 1: what it won alone, and its part of shared wins.
    pub fn share(&self, side: usize) -> f64 {
        let shares = self.tallies.get(side).map_or(0.0, |tally| tally.shares);
        shares / f64::from(self.games.max(1))
    }

    /// The part of the games that a contestant has won, alone or with others.
    pub fn won(&self, side: usize) -> f64 {
        let won = self.tallies.get(side).map_or(0, |tally| tally.won);
        f64::from(won) / f64::from(self.games.max(1))
    }

    /// Milliseconds of a decision of a contestant, on average.
    pub fn ms(&self, side: usize) -> f64 {
        let tally = self.tallies.get(side).copied().unwrap_or_default();
        let micros = tally.micros / tally.decisions.max(1);
        f64::from(u32::try_from(micros).unwrap_or(u32::MAX)) / 1000.0
    }

    /// The summary as one JSON object; percentages have one decimal.
    pub fn to_json(&self, names: [&str; 2]) -> Value {
        let percent = |share: f64| (share * 1000.0).round() / 10.0;
        let interval = |share: f64| {
            let (low, high) = wilson(share, self.games);
            [percent(low), percent(high)]
        };
        let side = |side: usize, name: &str| {
            json!({
                "name": name,
                "share": percent(self.share(side)), "share_95": interval(self.share(side)),
                "won": percent(self.won(side)), "won_95": interval(self.won(side)),
                "ms": (self.ms(side) * 1000.0).round() / 1000.0,
                "fallbacks": self.tallies.get(side).map_or(0, |tally| tally.fallbacks),
            })
        };
        let [a, b] = names;
        json!({
            "games": self.games, "unfinished": self.unfinished, "nobody": self.nobody, "actions": self.actions,
            "a": side(0, a), "b": side(1, b),
        })
    }
}

#[cfg(test)]
mod tests {
    use sha2::{Digest as _, Sha256};

    use super::*;
    use crate::registry::rule_set;

    fn results(game: &str, a: Contestant, b: Contestant, games: u32) -> Results {
        let rules = rule_set(game, 2, &Default::default()).unwrap();
        let mut duel = Duel {
            rules: &rules,
            games,
            seed: 1,
            make: &mut |side, _| Ok(if side == 0 { a } else { b }.bot(Budget::iterations(40))),
            clock: &|| 0,
        };
        let results = duel.play(|_| {}).unwrap();
        assert_eq!((results.games, results.unfinished), (games, 0), "{game}");
        results
    }

    /// The short form of the tables in docs/bots.md: a stronger level is not behind a weaker one.
    #[test]
    fn levels_are_in_order() {
        let (gentle, normal) = (Contestant::Level(Level::Gentle), Contestant::Level(Level::Normal));
        for game in ["loot", "plutonian-poker", "sphinxs-paw", "houses-of-thoth"] {
            for (stronger, weaker) in [(normal, gentle), (gentle, Contestant::Random)] {
                let weak = results(game, stronger, weaker, 20);
                assert!(weak.won(0) > 0.6 && weak.share(0) > weak.share(1), "{game}: {weak:?}");
            }
        }
    }

    /// Sharp bots win more than `baseline`, and at least as much as normal ones.
    #[test]
    fn sharp_is_the_strongest_level() {
        let (sharp, normal) = (Contestant::Level(Level::Sharp), Contestant::Level(Level::Normal));
        for (game, games) in [("loot", 20), ("plutonian-poker", 4), ("sphinxs-paw", 8), ("houses-of-thoth", 8)] {
            let strong = results(game, sharp, Contestant::Baseline, games);
            assert!(strong.share(0) > strong.share(1), "{game}: {strong:?}");
            let strong = results(game, sharp, normal, games);
            assert!(strong.share(0) >= strong.share(1), "{game}: {strong:?}");
        }
    }

    /// The actions of one game of each kind among `baseline` bots, against which the figures in docs/bots.md are
    /// measured: their number, and the start of their hash.
    #[test]
    fn baseline_stays_as_it_is() {
        let actions = |game: &str, seats: u8| {
            let mut game = AnyGame::create(&rule_set(game, seats, &Default::default()).unwrap()).unwrap();
            let mut chance = RefereeChance::from_seed([5; 32]);
            game.begin(&mut chance, &mut Vec::new()).unwrap();
            let mut rng = ChaCha20Rng::from_seed([6; 32]);
            let mut bots: Vec<_> = (0..seats).map(|_| baseline_bot()).collect();
            let (mut made, mut hash) = (0, Sha256::new());
            while !game.is_over() {
                let act = |seat: Seat| {
                    let action = bots[seat.index()].choose(&game, seat, chance.dealt_to(seat), &mut rng)?;
                    Some((seat, action))
                };
                let (seat, action) = SeatSet::all(seats.into()).iter().find_map(act).unwrap();
                hash.update(serde_json::to_vec(&(seat, &action)).unwrap());
                game.apply(seat, &action, &mut chance, &mut Vec::new()).unwrap();
                made += 1;
            }
            (made, data_encoding::HEXLOWER.encode(&hash.finalize())[..16].to_owned())
        };
        let games = [("loot", 3), ("plutonian-poker", 2), ("sphinxs-paw", 2), ("houses-of-thoth", 3)];
        let found = games.map(|(game, seats)| actions(game, seats));
        let known =
            [(95, "1ee8593bad4f9359"), (47, "cfd38277623da60c"), (82, "9f93b63c6094ff99"), (314, "dd90d8599e645c87")];
        assert_eq!(found, known.map(|(made, hash)| (made, hash.to_owned())));
    }

    /// Wilson 1927: of 10 games, 5 won leaves 0.237 to 0.763.
    #[test]
    fn intervals_are_those_of_wilson() {
        let (low, high) = wilson(0.5, 10);
        assert!((low - 0.2366).abs() < 1e-3 && (high - 0.7634).abs() < 1e-3);
        // The figure of Ivory Tower's rules page.
        let (low, high) = wilson(0.837, 2000);
        assert!((low - 0.820).abs() < 0.0005 && (high - 0.853).abs() < 0.0005);
        assert_eq!((wilson(0.0, 10).0, wilson(1.0, 10).1), (0.0, 1.0));
    }

    /// With a clock that ticks at each reading, every counted decision takes one microsecond; and of three seats each has
    /// its turn at a deal.
    #[test]
    fn only_decisions_count_and_every_seat_has_its_turn() {
        let ticks = std::cell::Cell::new(0);
        let rules = rule_set("loot", 3, &Default::default()).unwrap();
        let mut duel = Duel {
            rules: &rules,
            games: 1,
            seed: 1,
            make: &mut |_, _| Ok(Contestant::Random.bot(Budget::default())),
            clock: &|| ticks.replace(ticks.get() + 1),
        };
        let results = duel.play(|_| {}).unwrap();
        assert_eq!(results.games, 3);
        assert_eq!(results.tallies.map(|tally| tally.decisions).iter().sum::<u64>(), results.actions);
        assert_eq!((results.ms(0), results.ms(1)), (0.001, 0.001));
        let long = Tally { decisions: 1 << 33, micros: 3 << 43, ..Tally::default() };
        let tallies = [long; 2];
        assert_eq!(Results { tallies, ..results }.ms(0), 3.072);
    }
}
