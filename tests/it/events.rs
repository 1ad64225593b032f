//! The `--json` lines: the schema, the page that describes them, and the output of real programs.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use fairdeal::events::{
    HistoryLine, NotificationLine, PersonLine, RatingsLine, SessionLine, SolveLine, TableLine, VerifyLine, schema,
};
use fairdeal_games::GAMES;
use fairdeal_protocol::transcript::Transcript;
use fairdeal_protocol::wire::codec::encode;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tempfile::TempDir;

use super::net::LISTEN;
use super::process::{Program, fairdeal};
use super::schema::validate;

static SCHEMA: LazyLock<Value> = LazyLock::new(|| schema().into());

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Checks that a line has exactly the fields of its type, in order, and that the schema accepts it.
fn exact<T: Serialize + DeserializeOwned>(line: &str) -> T {
    let read: T = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    assert_eq!(serde_json::to_string(&read).unwrap(), line);
    let value = serde_json::from_str(line).unwrap();
    validate(&SCHEMA, &value).unwrap_or_else(|why| panic!("{why}: {line}"));
    assert_eq!(value["v"], 1);
    read
}

/// Checks a line that a session printed.
pub(crate) fn check_session_line(line: &str) {
    exact::<SessionLine>(line);
    assert!(line.starts_with(r#"{"v":1,"event":""#), "{line}");
}

/// Checks a line that `join --list` printed.
pub(crate) fn check_table_line(line: &str) {
    exact::<TableLine>(line);
}

/// Checks a line that `people` printed.
pub(crate) fn check_person_line(line: &str) {
    exact::<PersonLine>(line);
}

/// Checks a line that `verify` printed.
pub(crate) fn check_verify_line(line: &str) {
    exact::<VerifyLine>(line);
}

/// Checks a line that `ratings` printed.
pub(crate) fn check_ratings_line(line: &str) {
    exact::<RatingsLine>(line);
}

/// Checks a line that the command of the setting `notify` has read.
pub(crate) fn check_notification_line(line: &str) {
    exact::<NotificationLine>(line);
}

#[test]
fn schema_file_is_generated_from_types() {
    let path = root().join("docs/events.schema.json");
    let text = format!("{}\n", serde_json::to_string_pretty(&*SCHEMA).unwrap());
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        fs::write(&path, &text).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == text, "docs/events.schema.json is out of date: `just schema` writes it again");
}

/// The objects of the schema without their `tag` field, by its value: written where they are, or referred to.
fn variants(line: &str, tag: &str) -> Vec<(String, Value)> {
    let all = SCHEMA["$defs"][line]["oneOf"].as_array().unwrap();
    let named = all.iter().map(|variant| {
        let name = variant["properties"][tag]["const"].as_str().unwrap().to_owned();
        let target = variant["$ref"].as_str().map(|target| target.strip_prefix("#/$defs/").unwrap());
        let mut object = target.map_or(variant, |target| &SCHEMA["$defs"][target]).clone();
        object["properties"].as_object_mut().unwrap().remove(tag);
        (name, object)
    });
    named.collect()
}

/// A section of the page: from its heading to the next heading of the same level.
fn section<'a>(page: &'a str, heading: &str) -> &'a str {
    let level = heading.split(' ').next().unwrap();
    let start = page.find(&format!("\n{heading}\n")).unwrap_or_else(|| panic!("the page has no section '{heading}'"));
    let rest = &page[start + heading.len() + 2..];
    let ends = (2..=level.len()).filter_map(|level| rest.find(&format!("\n{} ", "#".repeat(level))));
    &rest[..ends.min().unwrap_or(rest.len())]
}

/// The example lines of a section.
fn examples(section: &str) -> Vec<&str> {
    let blocks = section.split("\n```json\n").skip(1).map(|block| block.split("\n```").next().unwrap());
    blocks.flat_map(str::lines).collect()
}

/// The page has a section for every event, with all its fields and an example.
#[test]
fn page_describes_every_line() {
    let page = fs::read_to_string(root().join("docs/events.md")).unwrap();
    let events = variants("SessionLine", "event");
    for (name, fields) in &events {
        let section = section(&page, &format!("### `{name}`"));
        let fields = fields["properties"].as_object().unwrap();
        for field in fields.keys() {
            assert!(section.contains(&format!("| `{field}` |")), "{name}.{field}");
        }
        let examples = examples(section);
        assert!(!examples.is_empty(), "{name} has no example");
        for line in examples {
            check_session_line(line);
            let start = format!(r#"{{"v":1,"event":"{name}""#);
            assert!(line.starts_with(&start), "{line}");
        }
    }
    let history = section(&page, "## `history`");
    for field in SCHEMA["$defs"]["HistoryLine"]["properties"].as_object().unwrap().keys() {
        assert!(history.contains(&format!("| `{field}` |")), "history.{field}");
    }
    for line in examples(history) {
        exact::<HistoryLine>(line);
    }
    let people = section(&page, "## `people`");
    for field in SCHEMA["$defs"]["PersonLine"]["properties"].as_object().unwrap().keys() {
        assert!(people.contains(&format!("| `{field}` |")), "people.{field}");
    }
    for line in examples(people) {
        check_person_line(line);
    }
    let person = section(&page, "## `person`");
    for field in SCHEMA["$defs"]["Acquaintance"]["properties"].as_object().unwrap().keys() {
        assert!(person.contains(&format!("| `{field}` |")), "person.{field}");
    }
    let list = section(&page, "## `join --list`");
    for field in SCHEMA["$defs"]["TableLine"]["properties"].as_object().unwrap().keys() {
        assert!(list.contains(&format!("| `{field}` |")), "join --list: {field}");
    }
    for line in examples(list) {
        check_table_line(line);
    }
    let verify = section(&page, "## `verify`");
    let mut results = BTreeSet::new();
    for line in examples(verify) {
        exact::<VerifyLine>(line);
        let value: Value = serde_json::from_str(line).unwrap();
        results.insert(value["result"].as_str().unwrap().to_owned());
    }
    for (name, fields) in variants("VerifyLine", "result") {
        assert!(results.contains(&name), "{name} has no example");
        for field in fields["properties"].as_object().unwrap().keys() {
            assert!(verify.contains(&format!("| `{field}` |")), "verify.{field}");
        }
    }
    let solve = section(&page, "## `solve`");
    for field in SCHEMA["$defs"]["SolveLine"]["properties"].as_object().unwrap().keys() {
        assert!(solve.contains(&format!("| `{field}` |")), "solve.{field}");
    }
    for line in examples(solve) {
        exact::<SolveLine>(line);
    }
    let notify = section(&page, "## `notify`");
    for field in SCHEMA["$defs"]["NotificationLine"]["properties"].as_object().unwrap().keys() {
        assert!(notify.contains(&format!("| `{field}` |")), "notify.{field}");
    }
    let occasions = SCHEMA["$defs"]["Occasion"]["oneOf"].as_array().unwrap();
    for occasion in occasions.iter().map(|occasion| occasion["const"].as_str().unwrap()) {
        assert!(notify.contains(&format!("`{occasion}`")), "notify: {occasion}");
    }
    examples(notify).into_iter().for_each(check_notification_line);
    let ratings = section(&page, "## `ratings`");
    for kind in ["RatingsLine", "RatedPlayer"] {
        for field in SCHEMA["$defs"][kind]["properties"].as_object().unwrap().keys() {
            assert!(ratings.contains(&format!("| `{field}` |")), "ratings.{field}");
        }
    }
    for line in examples(ratings) {
        check_ratings_line(line);
    }
    let in_page: usize = examples(&page).len();
    let expected = events.iter().map(|(name, _)| examples(section(&page, &format!("### `{name}`"))).len());
    let commands = [history, people, list, verify, ratings, solve, notify].map(|section| examples(section).len());
    let found = expected.sum::<usize>() + commands.iter().sum::<usize>();
    assert_eq!(in_page, found, "an example stands where no test reads it");
}

#[test]
fn schema_refuses_wrong_lines() {
    for line in [
        r#"{"event":"deal","deal":0}"#,
        r#"{"v":2,"event":"deal","deal":0}"#,
        r#"{"v":1,"event":"deal","deal":-1}"#,
        r#"{"v":1,"event":"dealt","deal":0}"#,
        r#"{"v":1,"event":"peer","seat":6,"state":"lost"}"#,
        r#"{"v":1,"event":"peer","seat":1,"state":"absent"}"#,
        r#"{"v":1,"event":"refused"}"#,
    ] {
        let value = serde_json::from_str(line).unwrap();
        assert!(validate(&SCHEMA, &value).is_err(), "{line}");
        assert!(serde_json::from_str::<SessionLine>(line).is_err(), "{line}");
    }
    // A later program of the same version may print more fields.
    let more = r#"{"v":1,"event":"deal","deal":0,"decks":2}"#;
    validate(&SCHEMA, &serde_json::from_str(more).unwrap()).unwrap();
    serde_json::from_str::<SessionLine>(more).unwrap();
}

/// Plays a game of two seats with one spectator, and returns what each of the three printed.
fn printed(root: &TempDir, game: &str, options: &[&str]) -> [Vec<Value>; 3] {
    let host = ["bot", "host", game, "--seats", "2", "--json", "--bot-delay", "5"];
    let mut host = Program::start(root.path(), "host", &[&host, options, &LISTEN].concat());
    let ticket = host.ticket();
    let mut watcher = Program::start(root.path(), "watcher", &["watch", &ticket, "--json"]);
    let guest = ["bot", "join", &ticket, "--json", "--bot-delay", "5"];
    let mut guest = Program::start(root.path(), "guest", &[&guest, &LISTEN[..]].concat());
    for program in [&mut host, &mut guest, &mut watcher] {
        assert!(program.wait_for("over").is_some(), "the game ends");
        assert!(program.finish().success());
    }
    [&mut host, &mut guest, &mut watcher].map(|program| std::mem::take(&mut program.events))
}

/// A reader of one seat's lines knows its hand, its options and the others' actions, but none of their cards.
#[test]
fn turn_events_suffice_to_play() {
    for (game, options) in [
        ("loot", &["--option", "target=10", "--option", "turn-time=90"][..]),
        ("houses-of-thoth", &["--option", "target=10", "--option", "opening=auction", "--option", "turn-time=none"]),
        ("sphinxs-paw", &["--option", "turn-time=none"]),
    ] {
        let root = TempDir::new().unwrap();
        let [host, guest, watcher] = printed(&root, game, options);
        for (me, events) in [(0, &host), (1, &guest)] {
            let mut turn = &Value::Null;
            let mut own = 0;
            for event in events {
                match event["event"].as_str().unwrap() {
                    "turn" => {
                        turn = event;
                        check_turn(turn, me, game);
                    }
                    "action" if event["seat"] == me => {
                        own += 1;
                        let legal = turn["legal"].as_array().unwrap();
                        assert!(legal.contains(&event["action"]), "{event} is not in {turn}");
                    }
                    "action" if event["action"]["type"] == "bid" => {
                        assert_eq!(event["action"]["card"], Value::Null, "{event}");
                    }
                    _ => {}
                }
            }
            assert!(own > 0, "{game}: seat {me} has acted");
            assert_eq!(turn["view"]["over"], true, "{turn}");
            let count = |kind: &str| events.iter().filter(|event| event["event"] == kind).count();
            let (turns, actions) = (count("turn"), count("action"));
            assert!(turns <= 2 * actions + 10, "{game}: {turns} turns, {actions} actions");
        }
        let turns: Vec<&Value> = watcher.iter().filter(|event| event["event"] == "turn").collect();
        assert!(!turns.is_empty());
        for turn in turns {
            assert_eq!((&turn["me"], &turn["my_turn"]), (&Value::Null, &Value::from(false)));
            assert_eq!((turn["hand"].to_string(), turn["legal"].to_string()), ("[]".into(), "[]".into()));
        }
    }
}

/// Alone or with bots, in every game: the last position comes before the end, and nothing after it.
#[test]
fn over_is_the_last_line_of_every_game() {
    let root = TempDir::new().unwrap();
    for info in GAMES {
        let bots = (info.least_seats - 1).to_string();
        let mut args = vec!["play", info.id, "--bots", &bots, "--headless", "--json", "--bot-delay", "0"];
        if info.options.iter().any(|option| option.key == "target") {
            args.extend(["--option", "target=10"]);
        }
        let mut program = Program::start(root.path(), info.id, &args);
        assert!(program.finish().success());
        let mut events = program.events.iter().rev();
        assert_eq!(events.next().unwrap()["event"], "over", "{}", info.id);
        let turn = events.find(|event| event["event"] == "turn").unwrap();
        assert_eq!(turn["view"]["over"], true, "{turn}");
    }
}

fn check_turn(turn: &Value, me: usize, game: &str) {
    assert_eq!(turn["me"], me);
    assert_eq!(turn["view"]["game"], game);
    let due = &turn["due"];
    if turn["my_turn"] == true {
        assert_eq!(*due, me);
        assert!(turn["legal"][0].is_object(), "{turn}");
    }
    if due.is_null() {
        assert_eq!((turn["to_act"].to_string(), turn["legal"].to_string()), ("[]".into(), "[]".into()));
    } else {
        assert!(turn["to_act"].as_array().unwrap().contains(due), "{turn}");
    }
    if let Some(hands) = turn["view"]["hands"].as_array() {
        assert_eq!(hands[me], turn["hand"], "{turn}");
        let others = hands[1 - me].as_array().unwrap();
        assert!(others.iter().all(Value::is_null), "{turn}");
    }
    let clock = &turn["clock"];
    if game == "loot" {
        assert_eq!((&clock["absence"], &clock["turn_time"]), (&120.into(), &90.into()));
        let left = clock["turn_left"].as_u64();
        assert_eq!(left.is_some(), due.is_u64(), "{turn}");
        assert!(left.is_none_or(|left| left <= 90), "{turn}");
    } else {
        assert_eq!((&clock["turn_time"], &clock["turn_left"]), (&Value::Null, &Value::Null));
    }
}

/// Output lines of a command that ends by itself.
fn lines(data: &Path, args: &[&str]) -> Vec<String> {
    let output = fairdeal().arg("--data-dir").arg(data).args(args).output();
    let text = String::from_utf8(output.unwrap().stdout).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn history_and_verify_print_documented_lines() {
    let root = TempDir::new().unwrap();
    let (program, over) = Program::has_played(root.path(), 1, 10);
    let data = program.data.clone();
    let transcript = over["transcript"].as_str().unwrap();
    let broken = Path::new(transcript).with_file_name("aa.fairdeal");
    fs::write(&broken, b"no transcript").unwrap();

    let all: Vec<HistoryLine> = lines(&data, &["history", "--json"]).iter().map(|line| exact(line)).collect();
    assert_eq!(all.len(), 2);

    let fair = lines(&data, &["verify", "--json", transcript]);
    exact::<VerifyLine>(&fair[0]);
    assert!(fair[0].starts_with(r#"{"v":1,"result":"fair","#), "{}", fair[0]);
    // A byte of a signature: a changed length would make the file unreadable.
    let mut bytes = fs::read(transcript).unwrap();
    let signed = encode(&Transcript::from_bytes(&bytes).unwrap().entries()[4]);
    let place = bytes.windows(signed.len()).position(|some| *some == *signed).unwrap();
    bytes[place + signed.len() - 1] ^= 1;
    fs::write(transcript, &bytes).unwrap();
    for (file, result) in [(Path::new(transcript), "unfair"), (&broken, "unreadable")] {
        let printed = lines(&data, &["verify", "--json", file.to_str().unwrap()]);
        exact::<VerifyLine>(&printed[0]);
        let start = format!(r#"{{"v":1,"result":"{result}","#);
        assert!(printed[0].starts_with(&start), "{}", printed[0]);
    }
}

/// JSON is Unicode; a path need not be.
#[cfg(target_os = "linux")]
#[test]
fn data_directory_need_not_be_unicode() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    let root = TempDir::new().unwrap();
    let data = root.path().join(OsStr::from_bytes(b"d\xff"));
    let args = ["play", "loot", "--bots", "1", "--option", "target=10", "--headless", "--json"];
    let printed = lines(&data, &args);
    let over = printed.iter().find(|line| line.contains(r#""event":"over""#));
    let over: Value = serde_json::from_str(over.expect("the game ends")).unwrap();
    assert!(over["transcript"].as_str().unwrap().contains("d\u{fffd}"));
    let history = lines(&data, &["history", "--json"]);
    exact::<HistoryLine>(&history[0]);
}
