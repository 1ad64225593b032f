//! The referee: one process that runs any game over JSON lines, without network or cryptography.
//!
//! Each request line gets one reply line. `docs/referee.md` defines the shapes, the codes and the
//! order of checks. The referee uses the same engines as a table, with a [`RefereeChance`] instead
//! of sealed decks, and is deterministic. [`Referee::answer`] does no input or output.

use std::collections::BTreeMap;

mod error;
mod request;
#[cfg(test)]
mod tests;

use fairdeal_protocol::game::{ApplyError, Flip, Game as _, RuleSet};
use fairdeal_protocol::seat::Seat;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;
use serde_json::{Value, json};

use self::error::Error;
use self::request::{ChanceLists, Request};
use crate::any::{AnyGame, bot, sharp_bot};
use crate::bots::Level;
use crate::chance::{Need, RefereeChance, Refusal, Stop};
use crate::info::options_from_json;
use crate::interface::{TableEvent as _, TableGame};
use crate::position::Position;
use crate::registry::rule_set;
use crate::search::Budget;

/// A game in progress.
#[derive(Clone)]
struct Running {
    game: AnyGame,
    chance: RefereeChance,
}

/// A referee. See the module documentation.
#[derive(Default)]
pub struct Referee {
    running: Option<Running>,
    slots: BTreeMap<String, Running>,
}

/// The most games that can be saved.
const MOST_SLOTS: usize = 64;

impl std::fmt::Debug for Referee {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The faces of sealed cards must not reach logs.
        let game = self.running.as_ref().map(|running| running.game.info().id);
        write!(f, "Referee({game:?})")
    }
}

impl Referee {
    /// Creates a referee without a game.
    pub fn new() -> Self {
        Self::default()
    }

    /// Answers a line. Neither the line nor the answer has a line ending.
    pub fn answer(&mut self, line: &[u8]) -> String {
        let reply = self.carry_out(line).unwrap_or_else(|error| json!({"ok": false, "error": error.to_json()}));
        reply.to_string()
    }

    /// The answer to an unreadable line, with the reason.
    pub fn refuse(why: &str) -> String {
        let error = Error::BadJson(why.to_owned());
        json!({"ok": false, "error": error.to_json()}).to_string()
    }

    fn carry_out(&mut self, line: &[u8]) -> Result<Value, Error> {
        let value: Value = serde_json::from_slice(line).map_err(|error| Error::BadJson(error.to_string()))?;
        let seats = self.running.as_ref().map(|running| running.game.seats());
        match Request::read(&value, seats)? {
            Request::New { game, seats, options, seed, lists } => {
                let given = options_from_json(game, &options).map_err(|error| Error::BadOptions(error.to_string()))?;
                let rules = rule_set(game.id, seats, &given).map_err(|error| Error::BadOptions(error.to_string()))?;
                self.running = Some(Running::new(&rules, seed, lists)?);
                Ok(json!({"ok": true}))
            }
            Request::Chance(lists) => {
                let Running { game, chance } = self.running.as_mut().ok_or(Error::NoGame)?;
                lists.give(game, chance);
                Ok(json!({"ok": true}))
            }
            Request::Legal(seat) => {
                let Running { game, chance } = self.running()?;
                let known = chance.faces();
                let legal = game.legal(seat, known);
                let actions: Vec<Value> = legal.iter().map(|action| game.action_to_json(seat, action, known)).collect();
                Ok(json!({"ok": true, "actions": actions}))
            }
            Request::Act { seat, action } => self.open()?.act(seat, &action),
            Request::Forfeit(seat) => self.open()?.forfeit(seat),
            Request::View(seat) => {
                let Running { game, chance } = self.running()?;
                let known = seat.map_or(chance.faces(), |seat| chance.dealt_to(seat));
                Ok(json!({"ok": true, "view": game.view(seat, known)}))
            }
            Request::Save(slot) => {
                let running = self.running()?.clone();
                if self.slots.len() >= MOST_SLOTS && !self.slots.contains_key(&slot) {
                    return Err(Error::BadRequest(format!("all {MOST_SLOTS} slots are used; save to one of them")));
                }
                self.slots.insert(slot, running);
                Ok(json!({"ok": true}))
            }
            Request::Load(slot) => {
                let saved =
                    self.slots.get(&slot).ok_or_else(|| Error::BadRequest(format!("nothing is saved as '{slot}'")))?;
                self.running = Some(saved.clone());
                Ok(json!({"ok": true}))
            }
            Request::Determinize { seat, seed } => {
                let running = self.running.as_mut().ok_or(Error::NoGame)?;
                let guess = running.chance.guessed_by(&running.game, seat, seed);
                running.chance = guess.ok_or_else(|| Error::BadRequest("no deal fits this game".to_owned()))?;
                Ok(json!({"ok": true}))
            }
            Request::Guess { position, seed } => {
                let Position { game, seat, known } = *position;
                let chance = RefereeChance::guessed(&game, seat, &known, seed)
                    .ok_or_else(|| Error::BadRequest("no deal fits this position".to_owned()))?;
                self.running = Some(Running { game, chance });
                Ok(json!({"ok": true}))
            }
            Request::Bot { seat, level, seed, iterations } => {
                let action = self.running()?.choice(seat, level, seed, iterations);
                Ok(json!({"ok": true, "action": action}))
            }
            Request::Status => {
                let game = &self.running()?.game;
                let seats = |set: fairdeal_protocol::seat::SeatSet| set.iter().collect::<Vec<_>>();
                Ok(json!({
                    "ok": true,
                    "to_act": seats(game.to_act()),
                    "over": game.is_over(),
                    "scores": game.scores(),
                    "winners": seats(game.winners()),
                }))
            }
        }
    }

    fn running(&self) -> Result<&Running, Error> {
        self.running.as_ref().ok_or(Error::NoGame)
    }

    /// The game in progress, if it is not over.
    fn open(&mut self) -> Result<&mut Running, Error> {
        let running = self.running.as_mut().ok_or(Error::NoGame)?;
        if running.game.is_over() {
            return Err(Error::Over);
        }
        Ok(running)
    }
}

impl Running {
    fn new(rules: &RuleSet, seed: Option<[u8; 32]>, lists: ChanceLists) -> Result<Self, Error> {
        let mut game = AnyGame::create(rules).map_err(|error| Error::BadOptions(error.to_string()))?;
        let mut chance = RefereeChance::new(seed);
        lists.give(&game, &mut chance);
        let begun = chance.attempt(&mut game, |game, chance| Ok(game.begin(chance, &mut Vec::new())?));
        begun.map_err(|refusal| stopped(&game, refusal, Error::Illegal))?;
        Ok(Self { game, chance })
    }

    fn act(&mut self, seat: Seat, action: &Value) -> Result<Value, Error> {
        let Self { game, chance } = self;
        let refused = if game.to_act().contains(seat) { Error::Illegal } else { Error::NotYourTurn };
        let action = game.action_from_json(seat, action, chance.faces()).map_err(|error| refused(error.to_string()))?;
        // At a table, the other seats verify the faces that an action claims. Here the referee
        // does: it knows them all.
        let honest = |shown: &fairdeal_protocol::game::Shown| chance.faces().get(shown.card) == Some(shown.face);
        if game.check(seat, &action).is_ok() && !game.shown(seat, &action).iter().all(honest) {
            return Err(refused("the card is not the one that was named".to_owned()));
        }
        let events = chance
            .attempt(game, |game, chance| {
                let mut events = Vec::new();
                game.apply(seat, &action, chance, &mut events)?;
                Ok(events)
            })
            .map_err(|refusal| stopped(game, refusal, refused))?;
        Ok(self.told(&events))
    }

    fn forfeit(&mut self, seat: Seat) -> Result<Value, Error> {
        let Self { game, chance } = self;
        if game.has_left(seat) {
            return Err(Error::Illegal(format!("{seat} has left already")));
        }
        let events = chance
            .attempt(game, |game, chance| {
                let mut events = Vec::new();
                game.forfeit(seat, chance, &mut events).map_err(ApplyError::from)?;
                Ok(events)
            })
            .map_err(|refusal| stopped(game, refusal, Error::Illegal))?;
        Ok(self.told(&events))
    }

    /// The action of a level's bot; `None` if it stays silent.
    fn choice(&self, seat: Seat, level: Level, seed: [u8; 32], iterations: u32) -> Option<Value> {
        let Self { game, chance } = self;
        let known = chance.dealt_to(seat);
        if game.legal(seat, known).is_empty() {
            return None;
        }
        let mut bot = match level {
            Level::Sharp => sharp_bot(Budget::iterations(iterations)),
            level => bot(level),
        };
        let action = bot.choose(game, seat, known, &mut ChaCha20Rng::from_seed(seed))?;
        Some(game.action_to_json(seat, &action, known))
    }

    fn told(&self, events: &[<AnyGame as fairdeal_protocol::game::Game>::Event]) -> Value {
        let events: Vec<Value> = events.iter().map(|event| event.to_json()).collect();
        json!({"ok": true, "events": events})
    }
}

/// The error for a request that changed nothing.
fn stopped(game: &AnyGame, refusal: Refusal, refused: impl Fn(String) -> Error) -> Error {
    match refusal {
        Refusal::Illegal(why) => refused(why.to_string()),
        Refusal::Stopped(Stop::Exhausted(need)) => Error::ChanceExhausted { needs: needs(game, &need) },
        Refusal::Stopped(Stop::Bad(need)) => Error::BadChance(match &need {
            Need::Flip(Flip::Die(sides)) => {
                format!("the next roll is not from 1 to {sides}; it is dropped")
            }
            _ => "the next shuffle is no order of what is to be shuffled; it is dropped".to_owned(),
        }),
    }
}

/// The chance needed next, as the referee's page writes it.
fn needs(game: &AnyGame, need: &Need) -> Value {
    if let Need::Flip(Flip::Die(sides)) = need {
        return json!({ "roll": sides });
    }
    let named = need.as_flip().items().into_iter().map(|item| game.shuffled_to_json(item));
    json!({ "shuffle": named.collect::<Vec<_>>() })
}
