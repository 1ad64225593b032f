//! The JSON Schema of every line that `--json` prints.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};

use super::results::{HistoryLine, NotificationLine, PersonLine, RatingsLine, SolveLine, TableLine, VerifyLine};
use super::session::SessionLine;

/// Any line that `--json` prints.
#[derive(JsonSchema)]
#[serde(untagged)]
#[schemars(title = "fairdeal --json, version 1")]
#[expect(dead_code, reason = "only its schema is used")]
enum Line {
    Session(SessionLine),
    History(HistoryLine),
    Table(TableLine),
    Person(PersonLine),
    Verify(VerifyLine),
    Ratings(RatingsLine),
    Solve(SolveLine),
    Notification(NotificationLine),
}

/// The JSON Schema (draft 2020-12) of every line. It allows unknown fields: a later program of the same version may
/// print more.
pub fn schema() -> Schema {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    settings.into_generator().into_root_schema_for::<Line>()
}
