//! The lines that `--json` prints: their types, their version and their JSON Schema.
//!
//! | module | contents |
//! | --- | --- |
//! | [`session`] | the events of a session: `play`, `host`, `join`, `watch`, `resume`, `bot` |
//! | [`convert`] | conversion from [`fairdeal_session::events::SessionEvent`] |
//! | [`turn`] | the `turn` event: hand, view, legal actions and clock of a seat |
//! | [`results`] | a line of `history`, `people`, `join --list` and `ratings`, and the lines of `verify`, `solve` and
//!   `notify` |
//!
//! `docs/events.md` describes every field for people, `docs/events.schema.json` is [`schema`]. Every line carries
//! `"v"`: a new field keeps [`VERSION`], any other change raises it.

pub mod convert;
pub mod results;
mod schema;
pub mod session;
pub mod turn;

use std::borrow::Cow;
use std::path::Path;

use fairdeal_protocol::seat::{MAX_SEATS, Seat, SeatSet};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error as _, Unexpected};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use results::{
    Acquaintance, HistoryLine, NotificationLine, PersonLine, RatingsLine, SolveLine, TableLine, VerifyLine,
};
pub use schema::schema;
pub use session::{Event, SessionLine};

/// The version of the format.
pub const VERSION: u8 = 1;

/// The field `v` of a line: always [`VERSION`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Version;

impl Serialize for Version {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(VERSION)
    }
}

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u64::deserialize(deserializer)? {
            version if version == u64::from(VERSION) => Ok(Self),
            version => Err(D::Error::invalid_value(Unexpected::Unsigned(version), &"version 1")),
        }
    }
}

impl JsonSchema for Version {
    fn schema_name() -> Cow<'static, str> {
        "Version".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "The version of the format. A new field keeps it, any other change raises it.",
            "const": VERSION,
        })
    }
}

/// A seat, numbered from 0, clockwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SeatNumber(Seat);

impl From<Seat> for SeatNumber {
    fn from(seat: Seat) -> Self {
        Self(seat)
    }
}

impl JsonSchema for SeatNumber {
    fn schema_name() -> Cow<'static, str> {
        "SeatNumber".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A seat, numbered from 0, clockwise.",
            "type": "integer",
            "minimum": 0,
            "maximum": MAX_SEATS - 1,
        })
    }
}

/// The seats of a set, in order.
pub(crate) fn numbers(seats: SeatSet) -> Vec<SeatNumber> {
    seats.iter().map(SeatNumber).collect()
}

/// A path as JSON can hold it: invalid Unicode becomes U+FFFD.
pub(crate) fn path_text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// The ground of a claim that closed a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ground {
    /// The others stayed away.
    Absent,
    /// The other's turn time ran out.
    OutOfTime,
}

impl From<fairdeal_protocol::log::claim::Ground> for Ground {
    fn from(ground: fairdeal_protocol::log::claim::Ground) -> Self {
        match ground {
            fairdeal_protocol::log::claim::Ground::Absent => Self::Absent,
            fairdeal_protocol::log::claim::Ground::OutOfTime => Self::OutOfTime,
        }
    }
}
