//! The referee as a program, and whole games of every kind played through it.

use std::io::{BufRead as _, Write as _};
use std::process::Stdio;

use fairdeal_games::bots::{Bot, Random, play};
use fairdeal_games::chance::RefereeChance;
use fairdeal_games::referee::Referee;
use fairdeal_games::{AnyGame, GAMES, rule_set};
use fairdeal_protocol::game::{Game as _, uniform};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;
use serde_json::{Value, json};

use super::process::fairdeal;

/// Feeds lines to `fairdeal engine` and returns its answers.
fn answers(lines: &[u8]) -> Vec<Value> {
    let mut child = fairdeal().arg("engine").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(lines).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_line_in_a_line_out_whatever_it_is() {
    let seed = "00".repeat(32);
    let new = json!({"op": "new", "game": "loot", "seats": 2, "chance": {"seed": seed}});
    let mut lines = format!("{new}\nrubbish\n\n[1]\n").into_bytes();
    lines.extend([0xff, 0xfe, b'\n']);
    // Longer than the maximum line.
    lines.resize(lines.len() + (17 << 20), b'[');
    lines.extend(b"\n{\"op\":\"status\"}");
    let answers = answers(&lines);
    let codes: Vec<&str> = answers.iter().map(|a| a["error"]["code"].as_str().unwrap_or("ok")).collect();
    assert_eq!(codes, ["ok", "bad_json", "bad_json", "bad_request", "bad_json", "bad_json", "ok"]);
}

#[test]
fn every_game_is_refereed() {
    for info in GAMES {
        let new = json!({
            "op": "new", "game": info.id, "seats": info.most_seats,
            "chance": {"seed": "5a".repeat(32)},
        });
        let lines = format!("{new}\n{}\n", json!({"op": "view", "seat": 0}));
        let answers = answers(lines.as_bytes());
        assert_eq!(answers[1]["view"]["game"], info.id);
    }
}

/// Requests of a search: games are kept, hidden cards are dealt again, and bots choose. Two processes answer alike.
#[test]
fn a_search_gets_the_same_answers() {
    let seed = |digits: &str| digits.repeat(32);
    for info in GAMES {
        let mut lines = vec![
            json!({"op": "new", "game": info.id, "seats": info.most_seats, "chance": {"seed": seed("5a")}}),
            json!({"op": "save", "slot": "truth"}),
        ];
        for level in ["gentle", "normal", "sharp"] {
            for seat in 0..info.most_seats {
                lines.extend([
                    json!({"op": "load", "slot": "truth"}),
                    json!({"op": "view", "seat": seat}),
                    json!({"op": "determinize", "seat": seat, "seed": seed("07")}),
                    json!({"op": "view", "seat": seat}),
                    json!({"op": "bot", "seat": seat, "level": level, "seed": seed("08"), "iterations": 20}),
                ]);
            }
        }
        let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let first = answers(lines.as_bytes());
        assert!(first.iter().all(|answer| answer["ok"] == true), "{}", info.id);
        for five in first[2..].chunks(5) {
            assert_eq!(five[1], five[3], "{}", info.id);
        }
        // Some seat has to act, at every level.
        assert!(first.iter().filter(|answer| answer["action"].is_object()).count() >= 3);
        assert_eq!(answers(lines.as_bytes()), first);
    }
}

/// A thousand whole games of each kind, at any table size and with any options, by random legal actions. Games longer
/// than a thousand actions end because all seats leave.
#[test]
fn a_thousand_whole_games_of_each() {
    let mut rng = ChaCha20Rng::from_seed([8; 32]);
    for info in GAMES {
        let mut ended = 0;
        for number in 0..1000_u32 {
            let spread = u32::from(info.most_seats - info.least_seats) + 1;
            let seats = info.least_seats + u8::try_from(uniform(&mut rng, spread)).unwrap();
            let mut options = std::collections::BTreeMap::new();
            for option in info.options {
                let values = match option.kind {
                    fairdeal_games::OptionKind::Number(..) => &["1", "20"][..],
                    fairdeal_games::OptionKind::Choice(words) => words,
                    fairdeal_games::OptionKind::Flag => &["false", "true"],
                    fairdeal_games::OptionKind::Date => &["none", "2026-11-21"],
                };
                let value = uniform(&mut rng, u32::try_from(values.len()).unwrap()) as usize;
                options.insert(option.key.to_owned(), values[value].to_owned());
            }
            let mut game = AnyGame::create(&rule_set(info.id, seats, &options).unwrap()).unwrap();
            let mut seed = [1; 32];
            seed[..4].copy_from_slice(&number.to_le_bytes());
            let mut chance = RefereeChance::from_seed(seed);
            game.begin(&mut chance, &mut Vec::new()).unwrap();
            let mut bots: Vec<Box<dyn Bot<AnyGame>>> = Vec::new();
            bots.resize_with(usize::from(seats), || Box::new(Random::default()));
            play(&mut game, &mut chance, &mut bots, &mut rng, 1000).unwrap();
            ended += u32::from(game.is_over());
            for seat in fairdeal_protocol::seat::Seat::first(usize::from(seats)) {
                game.forfeit(seat, &mut chance, &mut Vec::new()).unwrap();
            }
            assert!(game.is_over());
        }
        // Random play loses points in Thoth, so few totals reach even a low target.
        let least = if info.id == "houses-of-thoth" { 200 } else { 990 };
        assert!(ended >= least, "{}: {ended} ended by themselves", info.id);
    }
}

/// The same through the referee's lines, with fewer games: listed actions are accepted, refused ones change nothing,
/// and the result is final.
#[test]
fn listed_actions_are_taken_and_others_are_refused() {
    let mut rng = ChaCha20Rng::from_seed([9; 32]);
    let mut referee = Referee::new();
    let mut ask =
        |request: Value| -> Value { serde_json::from_str(&referee.answer(request.to_string().as_bytes())).unwrap() };
    let foreign = [
        json!({"type": "fire"}),
        json!({"type": "turn"}),
        json!({"type": "end"}),
        json!({"type": "take", "tree": 0, "stack": 99}),
        json!({"type": "pick", "card": "fool"}),
        json!({"type": "magician", "to": "a9"}),
    ];
    for info in GAMES {
        for number in 0..6_u8 {
            let seed = format!("{number:02x}").repeat(32);
            let new = json!({
                "op": "new", "game": info.id, "seats": info.most_seats, "chance": {"seed": seed},
            });
            assert_eq!(ask(new)["ok"], true);
            for _ in 0..40 {
                let status = ask(json!({"op": "status"}));
                let Some(seat) = status["to_act"].get(0).and_then(Value::as_u64) else {
                    assert_eq!(status["over"], true);
                    break;
                };
                let legal = ask(json!({"op": "legal", "seat": seat}))["actions"].clone();
                let legal = legal.as_array().unwrap();
                for action in &foreign {
                    if !legal.contains(action) {
                        let before = ask(json!({"op": "view", "seat": null}));
                        let refused = ask(json!({"op": "act", "seat": seat, "action": action}));
                        assert_eq!(refused["error"]["code"], "illegal", "{} {action}", info.id);
                        assert_eq!(ask(json!({"op": "view", "seat": null})), before);
                    }
                }
                let chosen = uniform(&mut rng, u32::try_from(legal.len()).unwrap()) as usize;
                let done = ask(json!({"op": "act", "seat": seat, "action": legal[chosen]}));
                assert_eq!(done["ok"], true, "{} {done}", info.id);
            }
        }
    }
}

/// A client's own buffer cuts its requests anywhere.
#[test]
fn whole_line_is_answered_before_the_next_is_whole() {
    let mut child = fairdeal().arg("engine").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut requests = child.stdin.take().unwrap();
    let (sender, answers) = std::sync::mpsc::channel();
    let output = std::io::BufReader::new(child.stdout.take().unwrap());
    std::thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
    let status = "{\"op\":\"status\"}\n";
    let answer = || answers.recv_timeout(std::time::Duration::from_secs(30));
    // Every cut of the second request, also in the middle of many.
    for whole in [1, 3] {
        for cut in 1..status.len() {
            let (head, tail) = status.split_at(cut);
            write!(requests, "{}{head}", status.repeat(whole)).unwrap();
            for _ in 0..whole {
                answer().expect("an answer to each whole line");
            }
            write!(requests, "{tail}").unwrap();
            answer().expect("an answer to the rest");
        }
    }
    drop(requests);
    assert!(child.wait().unwrap().success());
}
