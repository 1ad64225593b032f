//! A replay shows what the table showed: the same states, lines and hands.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::LazyLock;

use data_encoding::BASE64;
use fairdeal_games::{AnyGame, TableGame as _};
use fairdeal_protocol::audit::pieces::Alone;
use fairdeal_protocol::card::Faces;
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::transcript::Transcript;
use fairdeal_session::replay::deals::DealEnd;
use fairdeal_session::replay::{Eyes, Replay, ReplayError};
use fairdeal_session::view::Standing;
use tempfile::TempDir;

use super::fixture::{play, record};
use super::process::fairdeal;

/// A short game of at least two hands for three seats.
static LOOT: LazyLock<Vec<u8>> = LazyLock::new(|| record("loot", 3, &[("target", "60")], 3));

fn transcript(bytes: &[u8]) -> Transcript {
    Transcript::from_bytes(bytes).unwrap()
}

/// The table at its opened steps: the game, and what each seat knew.
type Stands = BTreeMap<u64, (AnyGame, Vec<Faces>)>;

fn watched(game: &str, seats: u8, options: &[(&str, &str)], seed: u8) -> (Replay, Stands) {
    let mut stands = Stands::new();
    let room = play(game, seats, options, seed, &mut |room| {
        let table = &room[0].table;
        let known = room.tables().map(|table| table.known().clone());
        let stand = (table.game().clone(), known.collect());
        stands.insert(table.progress().step, stand);
    });
    let transcript = room[0].table.transcript();
    (Replay::open(transcript).unwrap(), stands)
}

#[test]
fn every_moment_is_as_the_seats_saw_it() {
    for (game, seats, options) in [
        ("loot", 3, &[("target", "60")][..]),
        ("houses-of-thoth", 2, &[("target", "1"), ("opening", "auction")]),
        ("sphinxs-paw", 2, &[]),
        ("plutonian-poker", 3, &[]),
        ("ivory-tower", 1, &[]),
    ] {
        let (replay, stands) = watched(game, seats, options, 5);
        assert!(replay.report().is_fair(), "{game}");
        assert!(!replay.is_cut());
        let mut compared = 0;
        for number in 0..replay.len() {
            let step = replay.step(number);
            assert!(!step.lines.is_empty(), "{game}: {:?}", step.acts);
            let open = replay.snapshot(number, Eyes::Everybody);
            assert_eq!((open.me, open.known), (None, Faces::new()));
            assert!(!open.my_turn && open.waits.may_claim.is_none());
            let Standing::Sealed(progress) = &open.standing else {
                panic!("{game} is not sealed");
            };
            let Some((game, known)) = stands.get(&progress.step) else {
                continue;
            };
            assert_eq!(step.game, game);
            assert!(step.opened, "every deal of a whole game is open");
            for (seat, known) in Seat::first(known.len()).zip(known) {
                let snapshot = replay.snapshot(number, Eyes::Seat(seat));
                assert_eq!(snapshot.me, Some(seat));
                assert_eq!(snapshot.known, *known);
                let all = replay.known(number, Eyes::All);
                assert!(known.iter().all(|(card, face)| all.get(card) == Some(face)));
            }
            compared += 1;
        }
        for seat in Seat::first(seats.into()) {
            let decisions = replay.decisions(seat);
            let acted = |number: usize| replay.step(number).acts.first().map(|act| act.seat);
            assert!(decisions.iter().all(|number| acted(*number) == Some(seat)));
            let legal = |number: &usize| {
                let (before, step) = (replay.step(number - 1), replay.step(*number));
                before.game.check(seat, &step.acts[0].action).is_ok()
            };
            assert!(decisions.iter().all(legal), "{game}");
            assert!(!decisions.is_empty(), "{game}");
        }
        // Almost every position with a seat to act has a step. Those that a vote or an interjection leaves unchanged
        // have none.
        assert!(compared * 10 >= stands.len() * 8, "{game}: {compared} of {}", stands.len());
        let last = replay.step(replay.last());
        assert!(last.game.is_over());
        assert_eq!(last.game.scores(), replay.report().scores);
    }
}

#[test]
fn deals_can_be_found() {
    let replay = Replay::open(transcript(&LOOT)).unwrap();
    let deals = replay.deals();
    assert_eq!(deals.len(), usize::try_from(replay.report().deals).unwrap());
    assert!(deals.len() > 1);
    let mut acts = 0;
    for deal in deals {
        assert_eq!(deal.end, DealEnd::Opened);
        assert!(deal.decks > 0 && deal.cards > 0 && deal.actions > 0);
        let start = replay.deal_start(deal.number).unwrap();
        assert_eq!(replay.step(start).deal, deal.number);
        assert!(start == 0 || replay.step(start - 1).deal < deal.number);
        assert_eq!(replay.faces(deal.number).unwrap().iter().count(), deal.cards);
        acts += deal.actions;
    }
    let steps = (0..replay.len()).map(|number| replay.step(number));
    assert_eq!(acts, steps.map(|step| step.acts.len()).sum::<usize>());
    assert_eq!(deals.last().unwrap().scores, replay.report().scores);
    assert_eq!(replay.deal_start(replay.report().deals), None);
    // Numbers past the end give the last step.
    assert_eq!(replay.step(usize::MAX).number, replay.last());
    // The steps' checks add up to those of the audit.
    let checks = |name: &str| -> u64 {
        let each = (0..replay.len()).flat_map(|number| replay.step(number).checks);
        each.filter(|(made, _)| *made == name).map(|(_, count)| count).sum()
    };
    assert_eq!(checks("shuffle proofs"), replay.report().tally.shuffle_proofs);
}

/// Cards that were never opened stay hidden, and so do the hands of departed seats.
#[test]
fn hands_that_nobody_opened_stay_hidden() {
    let leaver = Seat::new(1).unwrap();
    let mut looks = 0;
    let room = play("loot", 3, &[("target", "60")], 8, &mut |room| {
        looks += 1;
        if looks == 5 {
            room[leaver].leave().unwrap();
        }
    });
    let replay = Replay::open(room[0].table.transcript()).unwrap();
    assert!(replay.report().is_fair(), "{:?}", replay.report().finding);
    let left = (0..replay.len())
        .find(|number| {
            let lines = replay.step(*number).lines;
            lines.iter().any(|line| line.text == "player 2 has left the game.")
        })
        .unwrap();
    let step = replay.step(left - 1);
    assert!(step.opened);
    let hand = step.game.hand(leaver);
    assert!(!hand.is_empty());
    let known = replay.known(left - 1, Eyes::Seat(leaver));
    assert!(hand.iter().all(|slot| slot.face(&known).is_none()));
    let other = Seat::new(0).unwrap();
    let all = replay.known(left - 1, Eyes::All);
    let others = step.game.hand(other);
    assert!(!others.is_empty() && others.iter().all(|slot| slot.face(&all).is_some()));
    assert!(!replay.snapshot(left, Eyes::All).connected.contains(leaver));
    assert!(replay.step(left).game.has_left(leaver));
}

#[test]
fn a_log_that_is_cut_or_changed_is_shown_as_far_as_it_is_good() {
    // A seat's own transcript in the middle of the second hand.
    let mut middle = None;
    play("loot", 2, &[("target", "60")], 3, &mut |room| {
        let table = &room[0].table;
        if table.progress().deal == 1 {
            middle.get_or_insert_with(|| table.transcript());
        }
    });
    let replay = Replay::open(middle.unwrap()).unwrap();
    assert!(replay.report().is_fair());
    let last = replay.step(replay.last());
    assert!(!last.opened && replay.step(replay.deal_start(0).unwrap()).opened);
    assert_eq!(replay.known(replay.last(), Eyes::All), Faces::new());
    assert_eq!(last.lines.len(), 1);
    assert!(last.lines[0].text.contains("the log ends here") || last.lines[0].text.contains("The log ends"));

    let mut changed = LOOT.clone();
    let place = changed.len() / 2;
    changed[place] ^= 1;
    let replay = Replay::open(transcript(&changed)).unwrap();
    assert!(!replay.report().is_fair());
    let last = replay.step(replay.last());
    assert!(last.lines[0].text.starts_with("NOT FAIR: "), "{:?}", last.lines);
    assert!(replay.len() > 3);
}

#[test]
fn it_can_be_broken_off() {
    let mut calls = 0;
    let broken = Replay::open_with(transcript(&LOOT), Box::new(Alone::default()), &mut |so_far| {
        calls += 1;
        assert!(so_far.done <= so_far.total);
        if calls == 4 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!(broken.err(), Some(ReplayError::BrokenOff));
    assert_eq!(calls, 4);
}

fn run(args: &[&str], file: &Path) -> (Option<i32>, String) {
    let output = fairdeal().args(args).arg(file).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(text).unwrap())
}

#[test]
fn the_command_prints_every_line() {
    let root = TempDir::new().unwrap();
    let file = root.path().join("game.fairdeal");
    std::fs::write(&file, &*LOOT).unwrap();
    let (code, text) = run(&["replay", "--plain"], &file);
    assert_eq!(code, Some(0), "{text}");
    let replay = Replay::open(transcript(&LOOT)).unwrap();
    let mut printed = text.lines();
    for number in 0..replay.len() {
        for line in replay.step(number).lines {
            assert!(printed.any(|printed| printed.ends_with(&line.text)), "{}", line.text);
        }
    }

    let mut changed = LOOT.clone();
    let place = changed.len() / 2;
    changed[place] ^= 1;
    std::fs::write(&file, &changed).unwrap();
    let (code, text) = run(&["replay"], &file);
    assert_eq!(code, Some(1));
    assert!(text.contains("NOT FAIR: "), "{text}");
    std::fs::write(&file, &changed[..100]).unwrap();
    assert_eq!(run(&["replay"], &file).0, Some(2));
}

#[test]
fn verify_writes_a_page() {
    let root = TempDir::new().unwrap();
    let (file, page) = (root.path().join("game.fairdeal"), root.path().join("page.html"));
    std::fs::write(&file, &*LOOT).unwrap();
    let html = ["verify", "--html", page.to_str().unwrap()];
    assert_eq!(run(&html, &file).0, Some(0));
    let text = std::fs::read_to_string(&page).unwrap();
    let report = Replay::open(transcript(&LOOT)).unwrap().report().clone();
    for wanted in ["✓ fair", "player 3", "shuffle proofs", &report.log.to_string()] {
        assert!(text.contains(wanted), "{wanted} is not in {text}");
    }
    assert!(!text.contains("base64"), "the game is there only on request");
    let with_game = [&html[..], &["--force", "--with-game"]].concat();
    assert_eq!(run(&with_game, &file).0, Some(0));
    let carrying = std::fs::read_to_string(&page).unwrap();
    let (_, data) = carrying.split_once(";base64,").unwrap();
    let (data, _) = data.split_once('"').unwrap();
    assert_eq!(BASE64.decode(data.as_bytes()).unwrap(), *LOOT);
    std::fs::write(&page, &text).unwrap();

    let deals = text.matches("<td>opened and recomputed</td>").count();
    assert_eq!(deals, usize::try_from(report.deals_opened).unwrap());

    let mut changed = LOOT.clone();
    let place = changed.len() / 2;
    changed[place] ^= 1;
    std::fs::write(&file, &changed).unwrap();
    let (code, said) = run(&html, &file);
    assert_eq!(code, Some(2), "{said}");
    assert_eq!(std::fs::read_to_string(&page).unwrap(), text);
    let force = [&html[..], &["--force"]].concat();
    assert_eq!(run(&force, &file).0, Some(1));
    let text = std::fs::read_to_string(&page).unwrap();
    assert!(text.contains("✗ NOT FAIR") && text.contains("<th>why</th>"));

    std::fs::remove_file(&page).unwrap();
    std::fs::write(&file, b"no transcript").unwrap();
    assert_eq!(run(&html, &file).0, Some(2));
    assert!(!page.exists());
    let onto = ["verify", "--force", "--html", file.to_str().unwrap()];
    std::fs::write(&file, &*LOOT).unwrap();
    assert_eq!(run(&onto, &file).0, Some(2));
    assert_eq!(std::fs::read(&file).unwrap(), *LOOT);
    let nowhere = root.path().join("no folder").join("page.html");
    std::fs::write(&file, &*LOOT).unwrap();
    let (code, text) = run(&["verify", "--html", nowhere.to_str().unwrap()], &file);
    assert_eq!(code, Some(2), "{text}");
}

/// A recording is played back: one event a step, later and later, to the end of the game.
#[test]
fn recording_plays_back() {
    let root = TempDir::new().unwrap();
    let (file, out) = (root.path().join("game.fairdeal"), root.path().join("game.cast"));
    std::fs::write(&file, &*LOOT).unwrap();
    let record = |more: &[&str]| run(&[&["replay", "--cast", out.to_str().unwrap()], more].concat(), &file);
    let (code, said) = record(&["--size", "100x30"]);
    assert_eq!(code, Some(0), "{said}");
    let text = std::fs::read_to_string(&out).unwrap();
    let mut lines = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let head = lines.next().unwrap();
    assert_eq!((&head["version"], &head["width"], &head["height"]), (&2.into(), &100.into(), &30.into()));
    let mut parser = vt100::Parser::new(30.try_into().unwrap(), 100.try_into().unwrap(), 0);
    let (mut before, mut screens) = (-1.0, Vec::new());
    for line in lines {
        assert_eq!(line[1], "o");
        let time = line[0].as_f64().unwrap();
        assert!(time > before, "{time} after {before}");
        before = time;
        parser.process(line[2].as_str().unwrap().as_bytes());
        screens.push(parser.screen().contents());
    }
    let (_, steps) = run(&["replay", "--plain"], &file);
    assert!(screens.len() > 5 && screens.len() <= steps.lines().count() + 2, "{} screens", screens.len());
    assert!(screens[0].contains("Loot") && !screens[0].contains("The game is over"), "{}", screens[0]);
    assert!(screens.last().unwrap().contains("The game is over"), "{}", screens.last().unwrap());
    let mut different = screens.clone();
    different.dedup();
    assert!(different.len() * 2 > screens.len(), "it moves");
    // It is written as a picture is.
    let (code, said) = record(&[]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("--force"), "{said}");
    assert_eq!(record(&["--force", "--seat", "2"]).0, Some(0));
    assert_ne!(std::fs::read_to_string(&out).unwrap(), text);
}

/// The page takes the whole file; where there is no page, the program says how to get one and writes nothing.
#[test]
fn page_has_the_game_inside() {
    let root = TempDir::new().unwrap();
    let (file, out) = (root.path().join("game.fairdeal"), root.path().join("game.html"));
    std::fs::write(&file, &*LOOT).unwrap();
    let write = |page: &str| {
        let mut command = fairdeal();
        command.env("FAIRDEAL_PAGE", page).args(["replay", "--page"]).args([&out, &file]);
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    for (page, words) in [("", "just page"), ("no such page", "cannot read the page"), ("Cargo.toml", "no place for")] {
        let (code, said) = write(page);
        assert!(code == Some(2) && said.contains(words) && !out.exists(), "{said}");
    }
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/web/page/page.html");
    assert_eq!(write(page).0, Some(0));
    let written = std::fs::read_to_string(&out).unwrap();
    let game = r#"<script type="text/plain" id="game" data-name="game.fairdeal">"#;
    let (_, game) = written.split_once(game).unwrap();
    let (game, _) = game.split_once("</script>").unwrap();
    assert_eq!(BASE64.decode(game.as_bytes()).unwrap(), *LOOT);
    let (code, said) = write(page);
    assert!(code == Some(2) && said.contains("--force"), "{said}");
}

/// A picture is written like an export: complete, beside existing files, and never over the transcript.
#[test]
fn picture_is_never_written_over_a_file() {
    let root = TempDir::new().unwrap();
    let (file, picture) = (root.path().join("game.fairdeal"), root.path().join("picture.svg"));
    std::fs::write(&file, &*LOOT).unwrap();
    let draw = |out: &Path, more: &[&str]| {
        let args = ["replay", "--svg", out.to_str().unwrap()];
        run(&[&args[..], more].concat(), &file)
    };
    assert_eq!(draw(&picture, &[]).0, Some(0));
    let drawn = std::fs::read_to_string(&picture).unwrap();
    assert!(drawn.starts_with("<svg"), "{drawn}");

    std::fs::write(&picture, b"other").unwrap();
    let (code, said) = draw(&picture, &[]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("--force"), "{said}");
    assert_eq!(std::fs::read(&picture).unwrap(), b"other");
    assert_eq!(draw(&picture, &["--force"]).0, Some(0));
    assert_eq!(std::fs::read_to_string(&picture).unwrap(), drawn);

    for force in [&[][..], &["--force"]] {
        let (code, said) = draw(&file, force);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains("the transcript itself"), "{said}");
    }
    #[cfg(unix)]
    {
        let link = root.path().join("link.svg");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert_eq!(draw(&link, &["--force"]).0, Some(2));
    }
    assert_eq!(std::fs::read(&file).unwrap(), *LOOT);
    let nowhere = root.path().join("no folder").join("picture.svg");
    assert_eq!(draw(&nowhere, &[]).0, Some(2));
    let alone = run(&["replay", "--force"], &file);
    assert_eq!(alone.0, Some(2), "without a picture it means nothing");
}

#[test]
fn shells_and_man_are_told_every_command() {
    let told = |args: &[&str]| {
        let output = fairdeal().args(args).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    for shell in ["bash", "zsh", "fish", "nushell", "powershell", "elvish"] {
        let script = told(&["completions", shell]);
        assert!(script.contains("history") && script.contains("data-dir"), "{shell}");
    }
    let page = told(&["man"]);
    assert!(page.contains(".TH fairdeal") && page.contains("replay"));
    for section in ["EXIT STATUS", "FILES", "ENVIRONMENT", "EXAMPLES"] {
        assert!(page.contains(&format!(".SH \"{section}\"")) || page.contains(&format!(".SH {section}")));
    }
    let root = TempDir::new().unwrap();
    told(&["man", "--output", root.path().to_str().unwrap()]);
    let written = |name: &str| std::fs::read_to_string(root.path().join(name)).unwrap();
    assert!(written("fairdeal-verify.1").contains("html"));
    assert_eq!(written("fairdeal.1"), page);
    for file in std::fs::read_dir(root.path()).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        let page = written(&name);
        for section in ["EXIT STATUS", "FILES", "ENVIRONMENT"] {
            assert!(page.contains(section), "{name} has no {section}");
        }
    }
    let examples = |name: &str| {
        let page = written(name);
        let (_, examples) = page.split_once(".SH EXAMPLES").unwrap_or_default();
        examples.matches(".TP").count()
    };
    assert_eq!(examples("fairdeal.1"), 4);
    assert_eq!(examples("fairdeal-play.1"), 1);
    assert_eq!(examples("fairdeal-bot-join.1"), 0);
}

/// Whatever a stranger changes in a file, the result is a replay of what is left or an error.
#[test]
fn a_changed_file_is_shown_or_refused() {
    let whole = record("loot", 2, &[("target", "10")], 2);
    let mut read = 0;
    for number in 0..24 {
        let mut bytes = whole.clone();
        let place = 1 + number * (bytes.len() - 2) / 23;
        bytes[place] ^= 1 << (number % 8);
        let Ok(changed) = Transcript::from_bytes(&bytes) else {
            continue;
        };
        let Ok(replay) = Replay::open(changed) else {
            continue;
        };
        assert!(!replay.report().is_fair());
        for number in 0..replay.len() {
            let seat = Seat::new(number % 6).unwrap();
            replay.snapshot(number, Eyes::Seat(seat));
        }
        read += 1;
    }
    assert!(read > 10, "{read}");
}
