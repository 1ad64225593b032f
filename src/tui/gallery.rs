//! Every screen at every size, in both usual themes: each has room for what it says. `cargo run --example pictures --
//! FOLDER --all` keeps the pictures.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use fairdeal_games::{AnyGame, GAMES};
use fairdeal_protocol::audit::progress::audit_with;
use fairdeal_protocol::transcript::Transcript;
use fairdeal_session::events::Command;
use fairdeal_session::replay::Replay;
use fairdeal_session::terms::Terms;
use fairdeal_session::text::player_names;
use fairdeal_session::view::Seating;
use fairdeal_ui::app::event::{Audited, Input, UiEvent};
use fairdeal_ui::app::screen::Effect;
use fairdeal_ui::app::screens::samples::screens;
use fairdeal_ui::app::testing::TestApp;
use fairdeal_ui::appearance::ThemeName;
use fairdeal_ui::canvas::Target;
use fairdeal_ui::input::KeyCode;

use crate::hands::hands;

#[path = "../../tests/fixture/record.rs"]
mod fixture;

const SIZES: [(u16, u16); 6] = [(60, 20), (60, 36), (60, 46), (80, 24), (120, 40), (200, 60)];
const THEMES: [ThemeName; 2] = [ThemeName::Dark, ThemeName::Light];
/// More actions than the longest game has.
const MAX_ACTIONS: usize = 3000;

/// The table of a game, and its first sheet, after a number of the player's actions. Returns how many there were too.
pub(super) fn table(game: usize, actions: usize) -> (TestApp, Option<TestApp>, usize) {
    let sit_down = || {
        let mut stage = TestApp::at_home(false);
        (0..game).for_each(|_| stage.key(KeyCode::Down));
        stage.key(KeyCode::Enter);
        stage.key(KeyCode::Enter);
        stage.rest();
        stage
    };
    let mut stage = sit_down();
    let mut first_sheet = None;
    for number in 0..actions {
        if stage.is_over() {
            return (stage, first_sheet.map(|number| table(game, number).0), number);
        }
        if is_covered(&stage) {
            first_sheet.get_or_insert(number);
            stage.key(KeyCode::Enter);
            stage.rest();
        }
        let action = stage.advice().expect("it is the player's turn");
        stage.carry_out(Effect::Session(Command::Act(action)));
        stage.rest();
    }
    (stage, None, actions)
}

/// Whether a sheet covers the table: there is nothing to choose on it.
fn is_covered(stage: &TestApp) -> bool {
    let targets = &stage.shell.layer().targets;
    !targets.iter().any(|(_, target)| matches!(target, Target::Spot(_)))
}

/// Every screen by name.
fn all() -> Vec<(String, TestApp)> {
    let mut all: Vec<(String, TestApp)> =
        screens(false).into_iter().map(|(name, stage)| (name.to_owned(), stage)).collect();
    for (number, info) in GAMES.iter().enumerate() {
        let (end, sheet, actions) = table(number, MAX_ACTIONS);
        all.push((format!("{}-1-begin", info.id), table(number, 0).0));
        all.push((format!("{}-2-middle", info.id), table(number, actions / 2).0));
        all.extend(sheet.map(|sheet| (format!("{}-3-sheet", info.id), sheet)));
        all.push((format!("{}-4-end", info.id), end));
    }
    let transcript = Transcript::from_bytes(&fixture::record("loot", 3, &[("target", "20")], 1)).unwrap();
    let names = player_names(transcript.charter().charter());
    let seating = Seating::of(transcript.charter().charter());
    let terms = Terms::of(transcript.charter().charter());
    let report = audit_with::<AnyGame>(transcript.clone(), hands(), &mut |_| ControlFlow::Continue(())).unwrap();
    let replay = Arc::new(Replay::open(transcript).unwrap());
    for (name, mut stage) in screens(false) {
        match name {
            "audit" => {
                let report = report.clone();
                let audited =
                    Box::new(Audited { report, names: names.clone(), seating: seating.clone(), terms: terms.clone() });
                stage.input(Input::UiEvent(UiEvent::Audited(audited)));
                all.push(("audit-done".to_owned(), stage));
            }
            "history" => {
                stage.key(KeyCode::Enter);
                stage.input(Input::UiEvent(UiEvent::Replay(Arc::clone(&replay))));
                (0..replay.len() / 2).for_each(|_| stage.key(KeyCode::Right));
                all.push(("replay".to_owned(), stage));
            }
            _ => {}
        }
    }
    all
}

/// Every screen is drawn at every size and in both usual themes, and no row of it is cut. With a folder in
/// `FAIRDEAL_PICTURES` the pictures are kept there, with a page of them.
#[test]
fn every_screen_has_room_at_every_size() {
    let folder = std::env::var_os("FAIRDEAL_PICTURES").map(PathBuf::from);
    let keep = |file: &str, text: &str| {
        if let Some(folder) = &folder {
            std::fs::write(folder.join(file), text).unwrap();
        }
    };
    let mut page = "<!doctype html>\n<meta charset=\"utf-8\">\n<title>The screens of fairdeal</title>\n\
                    <style>body { background: #888; font-family: sans-serif } \
                    figure { display: inline-block; margin: 8px; vertical-align: top } \
                    img { max-width: 100%; width: 840px }</style>\n"
        .to_owned();
    let mut cut = Vec::new();
    for (name, mut stage) in all().into_iter().collect::<BTreeMap<_, _>>() {
        writeln!(page, "<h2>{name}</h2>").unwrap();
        for (size, theme) in SIZES.into_iter().flat_map(|size| THEMES.map(|theme| (size, theme))) {
            stage.size = size;
            let file = format!("{name}-{}x{}-{}.svg", size.0, size.1, theme.name());
            keep(&file, &stage.draw_svg(theme));
            cut.extend(stage.shell.layer().cut.iter().map(|row| format!("{file}: {row}")));
            writeln!(page, "<figure><img loading=\"lazy\" src=\"{file}\"><figcaption>{file}</figcaption></figure>")
                .unwrap();
        }
    }
    keep("index.html", &page);
    assert!(cut.is_empty(), "{} rows are cut:\n{}", cut.len(), cut.join("\n"));
}
