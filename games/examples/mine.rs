//! Looks for puzzles: positions of bots' games in which exactly one action reaches a goal for certain.
//!
//! - `mine GAME [GAMES [FIRST [OPTION=VALUE…]]]` lists candidates, one a line: seed, number of actions, goal, seat, legal
//!   actions and the one that solves it. `bots=sharp` sets the level of the bots (200 play-outs a decision).
//! - `mine GAME at SEED ACTIONS GOAL [OPTION=VALUE…]` prints one as TOML, for `ui/src/puzzle/GAME.toml`, with the seat's view.
//!
//! Bots play on as they would, but never vote for the end. A tower is built by a line of the solver. In Loot each discard is also tried with a fire that waits.

use std::collections::BTreeMap;

use fairdeal_games::bots::Level;
use fairdeal_games::chance::RefereeChance;
use fairdeal_games::duel::Contestant;
use fairdeal_games::ivory::solver::{MOST_STATES, Verdict, solve};
use fairdeal_games::loot::cards::GodSet;
use fairdeal_games::loot::score::{Combo, best};
use fairdeal_games::loot::{LootAction, Phase};
use fairdeal_games::plutonian::PlutonianAction;
use fairdeal_games::puzzle::{Goal, Position, Setting, seed, solutions, written};
use fairdeal_games::search::Budget;
use fairdeal_games::sphinx::SphinxAction;
use fairdeal_games::{AnyAction, AnyGame, TableGame as _, game_info, rule_set};
use fairdeal_protocol::card::Face;
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::{Seat, SeatSet};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;

type Failure = Box<dyn std::error::Error>;

/// A game is given up after so many actions.
const MOST_ACTIONS: usize = 400;

struct Mine {
    game: String,
    seats: u8,
    level: Level,
    options: BTreeMap<String, String>,
}

impl Mine {
    /// Plays the game of a seed, and shows every position that has one solution to `found`, with that solution.
    fn play(&self, number: u32, mut found: impl FnMut(&Setting, &Position, &AnyAction)) -> Result<(), Failure> {
        let rules = rule_set(&self.game, self.seats, &self.options)?;
        let mut game = AnyGame::create(&rules)?;
        let mut chance = RefereeChance::from_seed(seed(number));
        let mut rng = ChaCha20Rng::from_seed(seed(number.wrapping_add(1 << 31)));
        let all = SeatSet::all(usize::from(self.seats));
        let mut bots: Vec<_> = all.iter().map(|_| Contestant::Level(self.level).bot(Budget::iterations(200))).collect();
        game.begin(&mut chance, &mut Vec::new()).map_err(|_| "no deal")?;
        let mut setting = Setting {
            version: rules.version,
            seats: self.seats,
            options: self.options.clone(),
            seat: Seat::FIRST,
            seed: number,
            moves: Vec::new(),
            goal: Goal::Win,
        };
        while !game.is_over() && setting.moves.len() < MOST_ACTIONS {
            let Some(seat) = game.to_act().iter().next() else { break };
            setting.seat = seat;
            let mut judge = |setting: &mut Setting, game: &AnyGame| {
                for goal in Goal::of(game) {
                    setting.goal = *goal;
                    let position = || Position { game: game.clone(), chance: chance.clone(), seat, goal: *goal };
                    if let Some([only]) = solutions(game, seat, chance.dealt_to(seat), *goal).as_deref() {
                        found(setting, &position(), only);
                    }
                }
            };
            judge(&mut setting, &game);
            if let AnyGame::Loot(loot) = &game
                && loot.phase() == Phase::Discard
                && loot.fire().is_none()
            {
                for by in all.iter() {
                    let fire = AnyAction::Loot(LootAction::Fire);
                    let mut fired = game.clone();
                    if fired.apply(by, &fire, &mut chance.clone(), &mut Vec::new()).is_ok() {
                        let mut setting = setting.clone();
                        setting.moves.push(written(&game, by, &fire, chance.dealt_to(by)));
                        judge(&mut setting, &fired);
                    }
                }
            }
            if let AnyGame::Ivory(tower) = &game {
                // A bot that does not see the cards seldom comes far: this one follows a line that wins.
                let Some(Verdict::Winnable(line)) = solve(tower, chance.faces(), MOST_STATES) else {
                    break;
                };
                let Some(action) = line.into_iter().next().map(AnyAction::Ivory) else {
                    break;
                };
                setting.moves.push(written(&game, seat, &action, chance.dealt_to(seat)));
                game.apply(seat, &action, &mut chance, &mut Vec::new()).map_err(|why| format!("{why:?}"))?;
                continue;
            }
            let others = all.iter().filter(|other| *other != seat);
            let choice = others.chain([seat]).find_map(|seat| {
                let bot = bots.get_mut(seat.index())?;
                let action = bot.choose(&game, seat, chance.dealt_to(seat), &mut rng)?;
                let vote = matches!(
                    action,
                    AnyAction::Plutonian(PlutonianAction::Vote { .. }) | AnyAction::Sphinx(SphinxAction::Vote { .. })
                );
                (!vote).then_some((seat, action))
            });
            // A bot that wants the end does what is first in the list.
            let first = || game.legal(seat, chance.dealt_to(seat)).into_iter().next();
            let Some((seat, action)) = choice.or_else(|| Some((seat, first()?))) else {
                break;
            };
            setting.moves.push(written(&game, seat, &action, chance.dealt_to(seat)));
            game.apply(seat, &action, &mut chance, &mut Vec::new()).map_err(|why| format!("{why:?}"))?;
        }
        Ok(())
    }
}

/// Prints a position as a table of TOML, and what its player sees as comments.
fn print(setting: &Setting, position: &Position, answer: &AnyAction) {
    let known = position.chance.dealt_to(setting.seat);
    println!("[[puzzle]]\nquestion = \"\"\nhint = \"\"");
    println!("answer = '{}'", written(&position.game, setting.seat, answer, known));
    println!("why = \"\"\n\n[puzzle.setting]");
    println!("goal = \"{}\"", name(setting.goal));
    println!("version = {}\nseats = {}\nseat = {}", setting.version, setting.seats, setting.seat.index());
    if !setting.options.is_empty() {
        let options = setting.options.iter().map(|(key, value)| format!("{key} = \"{value}\""));
        println!("options = {{ {} }}", options.collect::<Vec<_>>().join(", "));
    }
    println!("seed = {}\nmoves = [", setting.seed);
    let mut line = String::from("   ");
    for text in &setting.moves {
        if line.len() + text.len() > 115 {
            println!("{line}");
            line = String::from("   ");
        }
        line += &format!(" '{text}',");
    }
    println!("{line}\n]\n");
    eprintln!("{}", position.game.view(Some(setting.seat), known));
    if let AnyGame::Ivory(game) = &position.game {
        eprintln!("{:?}", solve(game, position.chance.faces(), MOST_STATES));
    }
    if let AnyGame::Loot(game) = &position.game {
        for slot in game.hand_of(setting.seat) {
            let hand: Vec<Face> = game
                .hand_of(setting.seat)
                .iter()
                .filter(|other| *other != slot)
                .filter_map(|slot| slot.face(known))
                .collect();
            let scored = best(&hand, GodSet::NONE.and_of(&hand));
            let combos: Vec<String> = scored.combos.iter().map(Combo::in_words).collect();
            let gone = slot.face(known).map(|card| position.game.card_name(card));
            eprintln!("{} without {gone:?}: {combos:?}", scored.total);
        }
    }
    for action in position.game.legal(setting.seat, known) {
        eprintln!("{}", written(&position.game, setting.seat, &action, known));
    }
}

fn name(goal: Goal) -> String {
    let value = serde_json::to_value(goal).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

fn main() -> Result<(), Failure> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (given, words): (Vec<_>, Vec<_>) = words.into_iter().partition(|word| word.contains('='));
    let game = words.first().ok_or("which game?")?.clone();
    let info = game_info(&game)?;
    let mut options: BTreeMap<String, String> = given
        .iter()
        .filter_map(|word| word.split_once('='))
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect();
    let level = options.remove("bots");
    let mine = Mine {
        level: level.and_then(|name| Level::by_name(&name)).unwrap_or_default(),
        seats: info.least_seats,
        game,
        options,
    };
    let number = |place: usize, default: u32| words.get(place).map_or(Ok(default), |word| word.parse());
    if words.get(1).is_some_and(|word| word == "at") {
        let wanted = (usize::try_from(number(3, 0)?)?, words.get(4).cloned().unwrap_or_default());
        return mine.play(number(2, 0)?, |setting, position, answer| {
            if (setting.moves.len(), name(setting.goal)) == wanted {
                print(setting, position, answer);
            }
        });
    }
    let first = number(2, 0)?;
    for seed in first..first + number(1, 100)? {
        mine.play(seed, |setting, position, answer| {
            let known = position.chance.dealt_to(setting.seat);
            let legal = position.game.legal(setting.seat, known).len();
            let text = written(&position.game, setting.seat, answer, known);
            let (made, goal) = (setting.moves.len(), name(setting.goal));
            println!("{seed} {made} {goal} {} {legal} {text}", setting.seat.index());
        })?;
    }
    Ok(())
}
