//! The shape of a request: everything that can be checked without knowing the rules.

use fairdeal_protocol::seat::{MAX_SEATS, Seat};
use serde_json::{Map, Value};

use super::error::Error;
use crate::any::AnyGame;
use crate::bots::Level;
use crate::chance::RefereeChance;
use crate::info::GameInfo;
use crate::interface::TableGame;
use crate::position::Position;
use crate::registry::game_info;

/// A well-formed request.
pub(super) enum Request {
    New {
        game: &'static GameInfo,
        seats: u8,
        options: Map<String, Value>,
        seed: Option<[u8; 32]>,
        lists: ChanceLists,
    },
    Chance(ChanceLists),
    Legal(Seat),
    Act {
        seat: Seat,
        action: Value,
    },
    Forfeit(Seat),
    View(Option<Seat>),
    Save(String),
    Load(String),
    Determinize {
        seat: Seat,
        seed: [u8; 32],
    },
    /// A table as a seat knows it, with the seed of a guess.
    Guess {
        position: Box<Position>,
        seed: [u8; 32],
    },
    Bot {
        seat: Seat,
        level: Level,
        seed: [u8; 32],
        iterations: u32,
    },
    Status,
}

/// The most play-outs that `bot` makes.
const MOST_ITERATIONS: u32 = 100_000;
/// The most characters of a slot's name.
const LONGEST_NAME: usize = 32;

/// Explicit chance as written in the request.
#[derive(Default)]
pub(super) struct ChanceLists {
    shuffles: Vec<Vec<Value>>,
    rolls: Vec<u32>,
}

impl ChanceLists {
    /// Adds the lists to `chance`, with entries numbered as the game numbers them.
    pub(super) fn give(self, game: &AnyGame, chance: &mut RefereeChance) {
        let numbered = |list: Vec<Value>| {
            let entries = list.iter().map(|entry| game.shuffled_from_json(entry));
            entries.collect::<Option<Vec<_>>>()
        };
        chance.add_lists(self.shuffles.into_iter().map(numbered), self.rolls);
    }
}

fn bad(why: impl Into<String>) -> Error {
    Error::BadRequest(why.into())
}

/// The fields of a request.
#[derive(Clone, Copy)]
struct Fields<'a>(&'a Map<String, Value>);

impl<'a> Fields<'a> {
    fn only(self, known: &[&str]) -> Result<(), Error> {
        match self.0.keys().find(|key| !known.contains(&key.as_str())) {
            Some(key) => Err(bad(format!("there is no use for a field '{key}'"))),
            None => Ok(()),
        }
    }

    fn value(self, field: &str) -> Result<&'a Value, Error> {
        self.0.get(field).ok_or_else(|| bad(format!("the field '{field}' is missing")))
    }

    fn text(self, field: &str) -> Result<&'a str, Error> {
        self.value(field)?.as_str().ok_or_else(|| bad(format!("'{field}' must be text")))
    }

    /// A seat of a game with that many seats; without a game, any seat of the largest table.
    fn seat(self, seats: Option<usize>) -> Result<Seat, Error> {
        let number = self
            .value("seat")?
            .as_u64()
            .and_then(|number| usize::try_from(number).ok())
            .ok_or_else(|| bad("'seat' must be the number of a seat, from 0"))?;
        let Some(seats) = seats else {
            // Without a game the valid seats are unknown, and the missing game is the first error.
            return Seat::new(number).ok_or(Error::NoGame);
        };
        Seat::new(number)
            .filter(|_| number < seats)
            .ok_or_else(|| bad(format!("there is no seat {number}; there are {seats}")))
    }

    fn seed(self) -> Result<[u8; 32], Error> {
        seed(self.value("seed")?)
    }

    fn slot(self) -> Result<String, Error> {
        let name = self.text("slot")?;
        let fits = name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'));
        if !fits || name.is_empty() || name.len() > LONGEST_NAME {
            return Err(bad(format!("'slot' must be 1 to {LONGEST_NAME} of a-z, 0-9 and -")));
        }
        Ok(name.to_owned())
    }

    fn level(self) -> Result<Level, Error> {
        Level::by_name(self.text("level")?).ok_or_else(|| bad("'level' must be gentle, normal or sharp"))
    }

    fn iterations(self) -> Result<u32, Error> {
        self.value("iterations")?
            .as_u64()
            .and_then(|number| u32::try_from(number).ok())
            .filter(|number| (1..=MOST_ITERATIONS).contains(number))
            .ok_or_else(|| bad(format!("'iterations' must be a whole number from 1 to {MOST_ITERATIONS}")))
    }

    fn list(self, field: &str) -> Result<&'a [Value], Error> {
        match self.0.get(field) {
            None => Ok(&[]),
            Some(Value::Array(list)) => Ok(list),
            Some(_) => Err(bad(format!("'{field}' must be a list"))),
        }
    }

    fn chance_lists(self) -> Result<ChanceLists, Error> {
        let shuffle = |list: &Value| match list {
            Value::Array(order) => Ok(order.clone()),
            _ => Err(bad("each of 'shuffles' must be a list")),
        };
        let roll = |value: &Value| {
            if value.is_i64() || value.is_u64() {
                // Out-of-range rolls become 0, which the game rejects too.
                let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
                Ok(number.unwrap_or(0))
            } else {
                Err(bad("each of 'rolls' must be a whole number"))
            }
        };
        Ok(ChanceLists {
            shuffles: self.list("shuffles")?.iter().map(shuffle).collect::<Result<_, _>>()?,
            rolls: self.list("rolls")?.iter().map(roll).collect::<Result<_, _>>()?,
        })
    }
}

fn seed(value: &Value) -> Result<[u8; 32], Error> {
    let wrong = || bad("'seed' must be 64 hex digits");
    let text = value.as_str().ok_or_else(wrong)?;
    let bytes = data_encoding::HEXLOWER_PERMISSIVE.decode(text.as_bytes()).map_err(|_| wrong())?;
    bytes.try_into().map_err(|_| wrong())
}

impl Request {
    /// Reads a request; `seats` is the number of seats of the game in progress, if there is one.
    pub(super) fn read(value: &Value, seats: Option<usize>) -> Result<Self, Error> {
        let fields = value.as_object().map(Fields).ok_or_else(|| bad("a request is a JSON object"))?;
        match fields.text("op")? {
            "new" => Self::read_new(fields),
            "chance" => {
                fields.only(&["op", "shuffles", "rolls"])?;
                fields.chance_lists().map(Self::Chance)
            }
            "legal" => {
                fields.only(&["op", "seat"])?;
                fields.seat(seats).map(Self::Legal)
            }
            "act" => {
                fields.only(&["op", "seat", "action"])?;
                let action = fields.value("action")?;
                if !action.is_object() {
                    return Err(bad("'action' must be an object"));
                }
                Ok(Self::Act { seat: fields.seat(seats)?, action: action.clone() })
            }
            "forfeit" => {
                fields.only(&["op", "seat"])?;
                fields.seat(seats).map(Self::Forfeit)
            }
            "view" => {
                fields.only(&["op", "seat"])?;
                if fields.value("seat")?.is_null() {
                    return Ok(Self::View(None));
                }
                fields.seat(seats).map(|seat| Self::View(Some(seat)))
            }
            "save" => {
                fields.only(&["op", "slot"])?;
                fields.slot().map(Self::Save)
            }
            "load" => {
                fields.only(&["op", "slot"])?;
                fields.slot().map(Self::Load)
            }
            // The seat comes last: without a game, it is the first to be refused for that.
            "determinize" => {
                fields.only(&["op", "seat", "seed"])?;
                let seed = fields.seed()?;
                let seat = fields.seat(seats)?;
                Ok(Self::Determinize { seat, seed })
            }
            "guess" => {
                fields.only(&["op", "position", "seed"])?;
                let position = Position::from_text(fields.text("position")?).map_err(|error| bad(error.to_string()))?;
                let seed = fields.seed()?;
                Ok(Self::Guess { position: Box::new(position), seed })
            }
            "bot" => {
                fields.only(&["op", "seat", "level", "seed", "iterations"])?;
                let (level, seed, iterations) = (fields.level()?, fields.seed()?, fields.iterations()?);
                Ok(Self::Bot { seat: fields.seat(seats)?, level, seed, iterations })
            }
            "status" => {
                fields.only(&["op"])?;
                Ok(Self::Status)
            }
            other => Err(bad(format!(
                "there is no op '{other}'; there are new, chance, legal, act, forfeit, view, save, load, determinize, \
                 guess, bot, status"
            ))),
        }
    }

    fn read_new(fields: Fields<'_>) -> Result<Self, Error> {
        fields.only(&["op", "game", "seats", "options", "chance"])?;
        let game = game_info(fields.text("game")?).map_err(|error| bad(error.to_string()))?;
        let seats = fields
            .value("seats")?
            .as_u64()
            .filter(|seats| *seats <= MAX_SEATS as u64)
            .and_then(|seats| u8::try_from(seats).ok())
            .filter(|seats| (game.least_seats..=game.most_seats).contains(seats));
        let seats = seats.ok_or_else(|| {
            bad(format!(
                "'seats' of {} must be a whole number from {} to {}",
                game.id, game.least_seats, game.most_seats
            ))
        })?;
        let options = match fields.0.get("options") {
            None => Map::new(),
            Some(Value::Object(options)) => options.clone(),
            Some(_) => return Err(bad("'options' must be an object")),
        };
        let chance =
            fields.value("chance")?.as_object().map(Fields).ok_or_else(|| bad("'chance' must be an object"))?;
        chance.only(&["seed", "shuffles", "rolls"])?;
        Ok(Self::New {
            game,
            seats,
            options,
            seed: chance.0.get("seed").map(seed).transpose()?,
            lists: chance.chance_lists()?,
        })
    }
}
