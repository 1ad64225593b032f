//! Guided hands: for every game, a few turns with fixed cards, one sentence and one action at a time.
//!
//! A lesson is a script over the real engine. `GAME.toml` in this folder says who sits there, fixes the cards, and lists
//! the steps: what to say, what the others do first, and the action that the learner takes. Without an action, the
//! learner only reads on.
//!
//! ```toml
//! names = ["Ada"]                      # the others
//! seed = 3
//! deck = ["8-waves", "8-flames"]       # on top of the first shuffle; the other cards follow in order
//!
//! [[step]]
//! others = ['{"type":"take","from":"draw"}', '{"type":"discard","card":"9-waves"}']
//! say = "Take Ada's 9: it makes a set with your two."
//! act = '{"type":"take","from":"discard"}'
//! claims = [
//!     { says = "Ada's 9", is = "discard pile brings 3 of rank 9" },
//!     { says = "your two", is = "hand has 2 of rank 9" },
//! ]
//! ```
//!
//! The claims of a sentence are for the tests, which prove them (`tests/claims.rs`).

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use fairdeal_games::chance::{RefereeChance, Refusal};
use fairdeal_games::{AnyAction, AnyEvent, AnyGame, GameInfo, TableEvent as _, TableGame as _, rule_set};
use fairdeal_protocol::card::Face;
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::party::{Parties, PlayedBy};
use fairdeal_protocol::seat::{Seat, SeatSet};
use serde::Deserialize;

use fairdeal_session::events::SessionEvent;
use fairdeal_session::view::{Seating, Snapshot, Standing, Waits};

/// The scripts by game.
const SCRIPTS: [(&str, &str); 5] = [
    ("loot", include_str!("loot.toml")),
    ("ivory-tower", include_str!("ivory-tower.toml")),
    ("plutonian-poker", include_str!("plutonian-poker.toml")),
    ("sphinxs-paw", include_str!("sphinxs-paw.toml")),
    ("houses-of-thoth", include_str!("houses-of-thoth.toml")),
];

/// The name of a player whose own is the learner's.
const INSTEAD: &str = "Carla";

/// A script as its file has it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Script {
    /// The other players; in a lesson that runs, the learner is first.
    names: Vec<String>,
    #[serde(default)]
    seed: u8,
    #[serde(default)]
    options: BTreeMap<String, String>,
    #[serde(default)]
    deck: Vec<String>,
    #[serde(default)]
    rolls: Vec<u32>,
    step: Vec<Step>,
}

/// One step of a lesson.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    say: String,
    /// Actions of the others before it is said, as JSON.
    #[serde(default)]
    others: Vec<String>,
    /// The learner's action, as JSON.
    act: Option<String>,
    /// The proof of `say`, which only the tests read.
    #[cfg(test)]
    #[serde(default)]
    claims: Vec<tests::claims::Claim>,
    #[cfg(not(test))]
    #[serde(default, rename = "claims")]
    _claims: serde::de::IgnoredAny,
}

/// Why a script cannot be played. Scripts are part of the program; tests play them all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LessonError {
    #[error("the lesson's file is not valid: {0}")]
    File(String),
    #[error("step {step} of the lesson: {why}")]
    Step { step: usize, why: String },
}

/// A lesson in progress.
#[derive(Clone, Debug)]
pub struct Lesson {
    script: Script,
    game: AnyGame,
    chance: RefereeChance,
    /// The index of the current step; the number of steps at the end.
    at: usize,
}

impl Lesson {
    /// The lesson of a game, if it has one, and the events of its deal.
    pub fn of(info: &GameInfo, name: &str) -> Option<Result<(Self, Vec<SessionEvent>), LessonError>> {
        let (_, text) = SCRIPTS.iter().find(|(id, _)| *id == info.id)?;
        Some(Self::begin(info.id, text, name))
    }

    /// Whether a game has a lesson.
    pub fn exists(info: &GameInfo) -> bool {
        SCRIPTS.iter().any(|(id, _)| *id == info.id)
    }

    fn begin(id: &str, text: &str, name: &str) -> Result<(Self, Vec<SessionEvent>), LessonError> {
        let file = |why: String| LessonError::File(why);
        let read = |text: &str| toml::from_str::<Script>(text).map_err(|why| file(why.to_string()));
        let mut script = read(text)?;
        // Another player with the learner's name gets one that no script has.
        if script.names.iter().any(|other| other == name) {
            script = read(&text.replace(name, INSTEAD))?;
        }
        script.names.insert(0, name.to_owned());
        let seats = u8::try_from(script.names.len()).map_err(|why| file(why.to_string()))?;
        let rules = rule_set(id, seats, &script.options).map_err(|why| file(why.to_string()))?;
        let mut game = AnyGame::create(&rules).map_err(|why| file(why.to_string()))?;
        let mut chance = RefereeChance::from_seed([script.seed; 32]);
        let deck = deck(&game, &script.deck).map_err(file)?;
        chance.add(deck, script.rolls.iter().copied());
        let mut events = Vec::new();
        let begun = game.begin(&mut chance, &mut events);
        begun.map_err(|why| file(format!("{why:?}")))?;
        let mut lesson = Self { script, game, chance, at: 0 };
        let mut told = lesson.tell(events);
        told.extend(lesson.enter()?);
        Ok((lesson, told))
    }

    /// The learner's seat.
    pub const ME: Seat = Seat::FIRST;

    /// The number of the current step, counted from 1, and of all steps.
    pub fn progress(&self) -> (usize, usize) {
        (self.at + 1, self.script.step.len())
    }

    /// The names of the players.
    pub fn names(&self) -> &[String] {
        &self.script.names
    }

    /// The sentence of the current step; `None` at the end.
    pub fn says(&self) -> Option<&str> {
        self.script.step.get(self.at).map(|step| step.say.as_str())
    }

    /// The action that the learner is to take; `None` if there is only something to read.
    pub fn expects(&self) -> Option<AnyAction> {
        let act = self.script.step.get(self.at)?.act.as_ref()?;
        self.action(Self::ME, act).ok()
    }

    /// Goes on after a step without an action.
    pub fn read_on(&mut self) -> Result<Vec<SessionEvent>, LessonError> {
        match self.expects() {
            Some(_) => Ok(Vec::new()),
            None => self.next(),
        }
    }

    /// The learner has acted. Another action than the expected one changes nothing.
    pub fn act(&mut self, action: &AnyAction) -> Result<Vec<SessionEvent>, LessonError> {
        if self.expects().as_ref() != Some(action) {
            return Ok(Vec::new());
        }
        let mut told = self.apply(Self::ME, action)?;
        told.extend(self.next()?);
        Ok(told)
    }

    fn next(&mut self) -> Result<Vec<SessionEvent>, LessonError> {
        self.at += 1;
        self.enter()
    }

    /// Lets the others do what they do before the current step.
    fn enter(&mut self) -> Result<Vec<SessionEvent>, LessonError> {
        let others = self.script.step.get(self.at).map(|step| step.others.clone());
        let mut told = Vec::new();
        for action in others.unwrap_or_default() {
            let seat = self.game.to_act().iter().next().unwrap_or(Self::ME);
            let action = self.action(seat, &action)?;
            told.extend(self.apply(seat, &action)?);
        }
        Ok(told)
    }

    fn error(&self, why: &dyn std::fmt::Display) -> LessonError {
        LessonError::Step { step: self.at + 1, why: why.to_string() }
    }

    fn action(&self, seat: Seat, text: &str) -> Result<AnyAction, LessonError> {
        let value = serde_json::from_str(text).map_err(|why| self.error(&why))?;
        let known = self.chance.dealt_to(seat);
        let action = self.game.action_from_json(seat, &value, known);
        action.map_err(|why| self.error(&why))
    }

    fn apply(&mut self, seat: Seat, action: &AnyAction) -> Result<Vec<SessionEvent>, LessonError> {
        let mut events = Vec::new();
        let Self { game, chance, .. } = self;
        let done = chance.attempt(game, |game, chance| game.apply(seat, action, chance, &mut events));
        match done {
            Ok(()) => Ok(self.tell(events)),
            Err(Refusal::Illegal(why)) => Err(self.error(&why)),
            Err(Refusal::Stopped(stop)) => Err(self.error(&format!("{stop:?}"))),
        }
    }

    fn tell(&self, events: Vec<AnyEvent>) -> Vec<SessionEvent> {
        let mut told = Vec::new();
        for event in events {
            let line = event.text(&self.script.names);
            told.push(SessionEvent::Game(event));
            if !line.is_empty() {
                told.push(SessionEvent::Line(line));
            }
        }
        let standing = Standing::Practice { undo: 0, advice: None };
        let now = staged(&self.game, &self.chance, Self::ME, &self.script.names, standing);
        told.push(SessionEvent::Snapshot(Box::new(now)));
        told
    }
}

/// The table of a game with fixed cards, as the player in this seat sees it. Bots have the other seats.
pub fn staged(game: &AnyGame, chance: &RefereeChance, me: Seat, names: &[String], standing: Standing) -> Snapshot {
    let bot = PlayedBy::bot("normal").unwrap_or(PlayedBy::Person);
    let player = |seat: Seat| if seat == me { PlayedBy::Person } else { bot.clone() };
    Snapshot {
        table: Hash32::default(),
        me: Some(me),
        names: names.to_vec(),
        seating: Seating {
            parties: Parties::singles(names.len()),
            played_by: Seat::first(names.len()).map(player).collect(),
            strict: false,
        },
        game: game.clone(),
        known: chance.dealt_to(me).clone(),
        shares: BTreeMap::new(),
        standing,
        my_turn: game.to_act().contains(me),
        connected: SeatSet::all(names.len()),
        indirect: SeatSet::EMPTY,
        waits: Waits::default(),
        timing: None,
        holidays: Vec::new(),
        holidays_left: 0,
    }
}

/// The first shuffle: the named cards on top, the others in their order. `None` if no card is named.
fn deck(game: &AnyGame, named: &[String]) -> Result<Option<Vec<u32>>, String> {
    if named.is_empty() {
        return Ok(None);
    }
    let all: Vec<(u32, String)> = (0..=u8::MAX)
        .map(|face| (u32::from(face), game.card_name(Face(face))))
        .take_while(|(_, name)| !name.is_empty())
        .collect();
    let number = |wanted: &String| {
        let found = all.iter().find(|(_, name)| name == wanted);
        found.map(|(number, _)| *number).ok_or_else(|| format!("there is no card '{wanted}'"))
    };
    let mut order = named.iter().map(number).collect::<Result<Vec<u32>, String>>()?;
    let rest: Vec<u32> = all.iter().map(|(number, _)| *number).filter(|number| !order.contains(number)).collect();
    order.extend(rest);
    Ok(Some(order))
}
