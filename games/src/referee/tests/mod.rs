//! The referee's page, line by line: codes, their order, and that an error changes nothing.

use serde_json::{Value, json};

use super::Referee;
use crate::loot::cards;

mod imagined;
mod views;

/// A referee driven by JSON values.
#[derive(Default)]
struct Spoken(Referee);

impl Spoken {
    fn ask(&mut self, request: &Value) -> Value {
        let line = request.to_string();
        serde_json::from_str(&self.0.answer(line.as_bytes())).unwrap()
    }

    fn code(&mut self, request: &Value) -> String {
        let reply = self.ask(request);
        assert_eq!(reply["ok"], false, "{request} {reply}");
        assert!(!reply["error"]["message"].as_str().unwrap().is_empty());
        reply["error"]["code"].as_str().unwrap().to_owned()
    }

    fn done(&mut self, request: &Value) -> Value {
        let reply = self.ask(request);
        assert_eq!(reply["ok"], true, "{request} {reply}");
        reply
    }

    /// Everything visible, for comparison.
    fn state(&mut self) -> Value {
        let views: Vec<Value> = [json!(null), json!(0), json!(1)]
            .into_iter()
            .map(|seat| self.ask(&json!({"op": "view", "seat": seat})))
            .collect();
        json!([self.ask(&json!({"op": "status"})), views])
    }
}

fn seeded() -> Value {
    json!({"seed": "07".repeat(32)})
}

fn new_game() -> Value {
    json!({"op": "new", "game": "loot", "seats": 2, "chance": seeded()})
}

fn deck() -> Vec<String> {
    cards::all().map(cards::name).collect()
}

fn take() -> Value {
    json!({"op": "act", "seat": 0, "action": {"type": "take", "from": "draw"}})
}

/// Loot for two from explicit chance; seat 0 starts.
fn explicit() -> Value {
    json!({"op": "new", "game": "loot", "seats": 2, "chance": {"shuffles": [deck()], "rolls": [1]}})
}

#[test]
fn every_code_of_a_badly_shaped_request() {
    let mut referee = Spoken::default();
    for line in ["", "{", "nonsense", "{\"op\":\"status\"} x", "\u{0}", "{\"op\":1e999}"] {
        let reply: Value = serde_json::from_str(&referee.0.answer(line.as_bytes())).unwrap();
        assert_eq!(reply["error"]["code"], "bad_json", "{line}");
    }
    assert!(referee.0.answer(&[0xff, 0xfe]).contains("bad_json"));
    let deep = "[".repeat(100_000);
    assert!(referee.0.answer(deep.as_bytes()).contains("bad_json"));
    for (field, value) in [
        ("op", json!("dance")),
        ("op", json!(7)),
        ("game", json!("whist")),
        ("game", json!(1)),
        ("seats", json!(5)),
        ("seats", json!(1)),
        ("seats", json!(-2)),
        ("seats", json!("2")),
        ("seats", json!(2.5)),
        ("options", json!([])),
        ("options", json!(null)),
        ("chance", json!(3)),
        ("chance", json!({"seed": "07"})),
        ("chance", json!({"seed": "zz".repeat(32)})),
        ("chance", json!({"seed": null})),
        ("chance", json!({"dice": []})),
        ("chance", json!({"rolls": 1})),
        ("chance", json!({"rolls": ["1"]})),
        ("chance", json!({"rolls": [1.5]})),
        ("chance", json!({"shuffles": ["lady"]})),
        ("extra", json!(1)),
    ] {
        let mut request = new_game();
        request[field] = value;
        assert_eq!(referee.code(&request), "bad_request", "{request}");
    }
    for field in ["op", "game", "seats", "chance"] {
        let mut request = new_game();
        request.as_object_mut().unwrap().remove(field);
        assert_eq!(referee.code(&request), "bad_request", "{request}");
    }
    for request in [json!([]), json!("status"), json!(null), json!({})] {
        assert_eq!(referee.code(&request), "bad_request");
    }
}

#[test]
fn options_are_looked_at_after_the_shape() {
    let mut referee = Spoken::default();
    for options in [json!({"goal": 1}), json!({"target": "100"}), json!({"target": 0})] {
        let mut request = new_game();
        request["options"] = options;
        assert_eq!(referee.code(&request), "bad_options");
    }
    let mut request = new_game();
    request["options"] = json!({"target": 5});
    referee.done(&request);
}

#[test]
fn without_a_game_and_after_its_end() {
    let mut referee = Spoken::default();
    let act = take();
    for request in [
        json!({"op": "status"}),
        json!({"op": "chance", "rolls": [1]}),
        json!({"op": "legal", "seat": 0}),
        json!({"op": "view", "seat": null}),
        json!({"op": "forfeit", "seat": 0}),
        act.clone(),
    ] {
        assert_eq!(referee.code(&request), "no_game");
    }
    // The shape is checked first.
    assert_eq!(referee.code(&json!({"op": "act", "seat": 0})), "bad_request");
    referee.done(&new_game());
    referee.done(&json!({"op": "forfeit", "seat": 0}));
    let status = referee.done(&json!({"op": "status"}));
    assert_eq!(status, json!({"ok": true, "to_act": [], "over": true, "scores": [0, 0], "winners": [1]}));
    assert_eq!(referee.code(&act), "over");
    assert_eq!(referee.code(&json!({"op": "forfeit", "seat": 0})), "over");
    assert_eq!(referee.code(&json!({"op": "act", "seat": 0, "action": {}})), "over");
    for request in [
        json!({"op": "act", "seat": 2, "action": {}}),
        json!({"op": "act", "seat": 0, "action": "take"}),
        json!({"op": "forfeit"}),
        json!({"op": "legal", "seat": -1}),
    ] {
        assert_eq!(referee.code(&request), "bad_request");
    }
    let legal = referee.done(&json!({"op": "legal", "seat": 1}));
    assert_eq!(legal["actions"], json!([]));
}

#[test]
fn refused_actions_are_illegal_in_turn_and_not_your_turn_out_of_it() {
    let mut referee = Spoken::default();
    let mut request = explicit();
    request["seats"] = json!(3);
    referee.done(&request);
    let before = referee.state();
    for action in [
        json!({}),
        json!({"type": "vote", "end": true}),
        json!({"type": "take", "from": "sleeve"}),
        json!({"type": "take", "from": "draw", "extra": 1}),
        json!({"type": "discard", "card": "lady"}),
        json!({"type": "fire"}),
    ] {
        for (seat, code) in [(0, "illegal"), (1, "not_your_turn"), (2, "not_your_turn")] {
            let request = json!({"op": "act", "seat": seat, "action": action});
            assert_eq!(referee.code(&request), code, "{request}");
        }
    }
    assert_eq!(referee.state(), before);
    referee.done(&json!({"op": "forfeit", "seat": 2}));
    assert_eq!(referee.code(&json!({"op": "forfeit", "seat": 2})), "illegal");
    let request = json!({"op": "act", "seat": 2, "action": {"type": "take", "from": "draw"}});
    assert_eq!(referee.code(&request), "not_your_turn");
}

#[test]
fn exhausted_chance_states_needs_and_changes_nothing() {
    let mut referee = Spoken::default();
    let mut request = explicit();
    request["chance"] = json!({});
    let reply = referee.ask(&request);
    assert_eq!(reply["error"]["code"], "chance_exhausted");
    assert_eq!(reply["error"]["needs"], json!({"roll": 2}));
    request["chance"] = json!({"rolls": [2]});
    let reply = referee.ask(&request);
    let mut needs = reply["error"]["needs"]["shuffle"].as_array().unwrap().clone();
    needs.sort_by_key(Value::to_string);
    let mut all: Vec<Value> = deck().into_iter().map(Value::from).collect();
    all.sort_by_key(Value::to_string);
    assert_eq!(needs, all);
    assert_eq!(referee.code(&json!({"op": "status"})), "no_game");
    // A refused `new` keeps the game in progress.
    referee.done(&explicit());
    let before = referee.state();
    assert_eq!(referee.code(&request), "chance_exhausted");
    assert_eq!(referee.state(), before);
}

#[test]
fn bad_chance_is_dropped_and_nothing_else() {
    let mut referee = Spoken::default();
    let mut request = explicit();
    for roll in [json!(0), json!(3), json!(-1), json!(99_999_999_999_u64)] {
        request["chance"]["rolls"] = json!([roll]);
        assert_eq!(referee.code(&request), "bad_chance");
    }
    request = explicit();
    for entry in [json!("lady"), json!("joker"), json!(5), json!(null)] {
        request["chance"]["shuffles"][0][1] = entry;
        assert_eq!(referee.code(&request), "bad_chance");
    }
    request["chance"]["shuffles"][0] = json!([]);
    assert_eq!(referee.code(&request), "bad_chance");

    // In the middle of a game: both seats fire, and the next deal needs a shuffle.
    referee.done(&explicit());
    for seat in [0, 1] {
        let take = json!({"op": "act", "seat": seat, "action": {"type": "take", "from": "draw"}});
        referee.done(&take);
        let legal = referee.done(&json!({"op": "legal", "seat": seat}));
        let discard = legal["actions"][0].clone();
        referee.done(&json!({"op": "act", "seat": seat, "action": discard}));
    }
    let fire = json!({"op": "act", "seat": 1, "action": {"type": "fire"}});
    let before = referee.state();
    assert_eq!(referee.code(&fire), "chance_exhausted");
    referee.done(&json!({"op": "chance", "shuffles": [["lady"], deck()]}));
    assert_eq!(referee.code(&fire), "bad_chance");
    assert_eq!(referee.state(), before);
    let reply = referee.done(&fire);
    assert!(reply["events"].as_array().unwrap().len() >= 2);
    // Seat 1 starts the next hand; nobody has completed a turn in it.
    assert_eq!(referee.code(&fire), "illegal");
}

#[test]
fn the_same_lines_give_the_same_lines() {
    let play = || {
        let mut referee = Spoken::default();
        let mut lines = vec![referee.done(&new_game())];
        for turn in 0..200 {
            let status = referee.done(&json!({"op": "status"}));
            let Some(seat) = status["to_act"].get(0).cloned() else {
                break;
            };
            let legal = referee.done(&json!({"op": "legal", "seat": seat}));
            let actions = legal["actions"].as_array().unwrap();
            let action = actions[turn % actions.len()].clone();
            lines.extend([legal.clone(), status]);
            lines.push(referee.done(&json!({"op": "act", "seat": seat, "action": action})));
            lines.push(referee.state());
        }
        lines
    };
    assert_eq!(play(), play());
}
