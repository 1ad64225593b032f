//! A program that deals another tower than the day's: the audit deals the day again, and names the first wrong digest.

use std::path::Path;

use fairdeal::store::DataDir;
use fairdeal::summary::{Summary, keep};
use fairdeal_games::ivory::IvoryAction;
use fairdeal_games::{AnyAction, AnyEvent, AnyGame, rule_set};
use fairdeal_protocol::audit::auditor::audit;
use fairdeal_protocol::card::{Face, Faces};
use fairdeal_protocol::game::{ApplyError, Chance, Game, Illegal, Pause, RuleSet, RuleSetError};
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::fault::FaultKind;
use fairdeal_protocol::transcript::Transcript;
use fairdeal_testkit::{Room, seats};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;
use serde::Serialize;
use serde_json::Value;
use tempfile::TempDir;

use super::process::fairdeal;

/// Plays the tower of 2026-01-03, whatever day the charter names.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
struct OtherTower(AnyGame);

impl Game for OtherTower {
    type Action = AnyAction;
    type Event = AnyEvent;

    fn create(rules: &RuleSet) -> Result<Self, RuleSetError> {
        let mut rules = rules.clone();
        rules.options.insert("daily".to_owned(), "2026-01-03".to_owned());
        AnyGame::create(&rules).map(Self)
    }

    fn deck_name(&self) -> &'static str {
        self.0.deck_name()
    }

    fn card_name(&self, face: Face) -> String {
        self.0.card_name(face)
    }

    fn begin(&mut self, chance: &mut dyn Chance, events: &mut Vec<AnyEvent>) -> Result<(), Pause> {
        self.0.begin(chance, events)
    }

    fn to_act(&self) -> SeatSet {
        self.0.to_act()
    }

    fn legal(&self, seat: Seat, known: &Faces) -> Vec<AnyAction> {
        self.0.legal(seat, known)
    }

    fn check(&self, seat: Seat, action: &AnyAction) -> Result<(), Illegal> {
        self.0.check(seat, action)
    }

    fn out_of_turn(&self, action: &AnyAction) -> bool {
        self.0.out_of_turn(action)
    }

    fn apply(
        &mut self,
        seat: Seat,
        action: &AnyAction,
        chance: &mut dyn Chance,
        events: &mut Vec<AnyEvent>,
    ) -> Result<(), ApplyError> {
        self.0.apply(seat, action, chance, events)
    }

    fn forfeit(&mut self, seat: Seat, chance: &mut dyn Chance, events: &mut Vec<AnyEvent>) -> Result<(), Pause> {
        self.0.forfeit(seat, chance, events)
    }

    fn is_over(&self) -> bool {
        self.0.is_over()
    }

    fn scores(&self) -> Vec<i64> {
        self.0.scores()
    }

    fn winners(&self) -> SeatSet {
        self.0.winners()
    }
}

/// The transcript of a daily tower, resigned at once.
fn played(day: &str) -> Transcript {
    let options = [("daily".to_owned(), day.to_owned())].into();
    let rules = rule_set("ivory-tower", 1, &options).unwrap();
    let mut room = Room::<OtherTower>::new(seats::charter(&rules, [1; 8]), |_| ChaCha20Rng::from_seed([1; 32]));
    room.begin();
    room.exchange();
    room.places[0].act(AnyAction::Ivory(IvoryAction::Resign)).unwrap();
    room.exchange();
    room[0].table.transcript()
}

/// Exit code and output of a command on a file.
fn told(command: &[&str], file: &Path) -> (Option<i32>, String) {
    let output = fairdeal().args(command).arg(file).output().unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

//= T7.10
#[test]
fn another_tower_than_the_days_is_not_fair() {
    assert_eq!(audit::<AnyGame>(&played("2026-01-03")).finding, None);
    let wrong = played("2026-01-04");
    let finding = audit::<AnyGame>(&wrong).finding.unwrap().to_string();
    assert!(finding.contains(&FaultKind::Digest.to_string()), "{finding}");
    let root = TempDir::new().unwrap();
    let file = root.path().join("wrong.fairdeal");
    std::fs::write(&file, wrong.to_bytes().unwrap()).unwrap();
    for command in [&["verify"][..], &["replay", "--plain"], &["verify", "--json"]] {
        let (code, text) = told(command, &file);
        assert_eq!(code, Some(1), "{text}");
        assert!(!text.contains("recomputed\"") && !text.contains(", recomputed\n"), "{text}");
    }
}

/// Everything that tells of a daily deal says which day it was; a day that does not exist is refused.
#[test]
fn day_is_told() {
    let root = TempDir::new().unwrap();
    let file = root.path().join("day.fairdeal");
    let transcript = played("2026-01-03");
    std::fs::write(&file, transcript.to_bytes().unwrap()).unwrap();
    let verdict = "rules followed; the deal of 3 January 2026, recomputed";
    let (code, text) = told(&["verify"], &file);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains(verdict) && text.contains("rules  The deal of 3 January 2026.\n"), "{text}");
    assert!(text.contains("played the deal of 3 January 2026, which is the same for everybody."), "{text}");
    let (code, text) = told(&["verify", "--json"], &file);
    super::events::check_verify_line(text.trim_end());
    let line: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((code, &line["verdict"], &line["day"]), (Some(0), &verdict.into(), &"2026-01-03".into()));
    assert_eq!((&line["game"], &line["options"]["daily"]), (&"ivory-tower".into(), &"2026-01-03".into()));
    let (_, text) = told(&["replay", "--plain"], &file);
    for wanted in ["The deal of 3 January 2026.", "The charter names the deal of 3 January 2026.", verdict] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    let page = root.path().join("page.html");
    let (code, _) = told(&["verify", "--html", page.to_str().unwrap()], &file);
    let page = std::fs::read_to_string(page).unwrap();
    assert!(code == Some(0) && page.contains(verdict), "{page}");

    let data = DataDir::open(Some(root.path())).unwrap();
    let mut room = Room::<AnyGame>::new(transcript.charter().clone(), |_| ChaCha20Rng::from_seed([1; 32]));
    room.begin();
    keep(&data, &transcript, Summary::of_table(&transcript, room[0].table.replica(), Seat::new(0), None)).unwrap();
    drop(data);
    let history = |args: &[&str]| {
        let output = fairdeal().arg("--data-dir").arg(root.path()).args(args).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let text = history(&["history"]);
    assert!(text.contains("Ivory Tower (3 January 2026)"), "{text}");
    let line: Value = serde_json::from_str(&history(&["history", "--json"])).unwrap();
    assert_eq!((&line["day"], &line["options"]["daily"]), (&"2026-01-03".into(), &"2026-01-03".into()));
    assert!(rule_set("ivory-tower", 1, &[("daily".to_owned(), "2023-02-29".to_owned())].into()).is_err());
}
