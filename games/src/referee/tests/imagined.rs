//! Saved games, guesses of what a seat does not know, and the bots' choices.

use fairdeal_protocol::game::{Game as _, uniform};
use fairdeal_protocol::seat::Seat;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;
use serde_json::{Value, json};

use super::{Spoken, deck, explicit, new_game};
use crate::any::{AnyGame, GAMES};
use crate::chance::RefereeChance;
use crate::info::{GameInfo, OptionKind};
use crate::position::Position;
use crate::registry::rule_set;

fn hex(number: u8) -> String {
    format!("{number:02x}").repeat(32)
}

fn save(slot: &str) -> Value {
    json!({"op": "save", "slot": slot})
}

fn load(slot: &str) -> Value {
    json!({"op": "load", "slot": slot})
}

fn determinize(seat: usize, seed: u8) -> Value {
    json!({"op": "determinize", "seat": seat, "seed": hex(seed)})
}

fn bot(seat: usize, level: &str, seed: u8) -> Value {
    json!({"op": "bot", "seat": seat, "level": level, "seed": hex(seed), "iterations": 12})
}

impl Spoken {
    fn view(&mut self, seat: Option<usize>) -> Value {
        self.done(&json!({"op": "view", "seat": seat}))["view"].clone()
    }

    fn legal(&mut self, seat: usize) -> Value {
        self.done(&json!({"op": "legal", "seat": seat}))["actions"].clone()
    }

    /// Plays random legal actions, now and then one out of turn, until chance runs out. Returns the replies.
    fn wander(&mut self, most: usize, rng: &mut ChaCha20Rng) -> Vec<Value> {
        let mut replies = Vec::new();
        for _ in 0..most {
            let status = self.done(&json!({"op": "status"}));
            let seats = status["scores"].as_array().unwrap().len();
            let Some(first) = status["to_act"].get(0) else { break };
            let mut seat = usize::try_from(first.as_u64().unwrap()).unwrap();
            if uniform(rng, 20) == 0 {
                seat = uniform(rng, u32::try_from(seats).unwrap()) as usize;
            }
            let legal = self.legal(seat);
            let legal = legal.as_array().unwrap();
            // Votes and fires would end most games at once.
            let quick = |action: &&Value| ["vote", "fire", "resign"].contains(&action["type"].as_str().unwrap());
            let calm: Vec<&Value> = legal.iter().filter(|action| !quick(action)).collect();
            let choices = if calm.is_empty() || uniform(rng, 40) == 0 { legal.iter().collect() } else { calm };
            if choices.is_empty() {
                continue;
            }
            let action = choices[uniform(rng, u32::try_from(choices.len()).unwrap()) as usize];
            replies.push(self.ask(&json!({"op": "act", "seat": seat, "action": action})));
            if replies.last().unwrap()["ok"] != true {
                break;
            }
        }
        replies
    }

    /// The seats leave one by one until the game is over.
    fn end(&mut self) {
        let seats = self.done(&json!({"op": "status"}))["scores"].as_array().unwrap().len();
        for seat in 0..seats {
            self.ask(&json!({"op": "forfeit", "seat": seat}));
        }
        assert_eq!(self.done(&json!({"op": "status"}))["over"], true);
    }
}

/// A new game with random options and number of seats.
fn any_new(info: &GameInfo, rng: &mut ChaCha20Rng) -> (Value, usize) {
    let spread = u32::from(info.most_seats - info.least_seats) + 1;
    let seats = u32::from(info.least_seats) + uniform(rng, spread);
    let mut options = json!({});
    for option in info.options {
        options[option.key] = match option.kind {
            OptionKind::Choice(words) => json!(words[uniform(rng, u32::try_from(words.len()).unwrap()) as usize]),
            OptionKind::Flag => json!(uniform(rng, 2) == 0),
            OptionKind::Number(..) => json!(30 + uniform(rng, 90)),
            OptionKind::Date => continue,
        };
    }
    let seed = hex(u8::try_from(uniform(rng, 256)).unwrap());
    let new = json!({"op": "new", "game": info.id, "seats": seats, "options": options, "chance": {"seed": seed}});
    (new, usize::try_from(seats).unwrap())
}

/// All texts in a value, sorted.
fn texts(value: &Value) -> Vec<String> {
    fn collect(value: &Value, to: &mut Vec<String>) {
        match value {
            Value::String(text) => to.push(text.clone()),
            Value::Array(list) => list.iter().for_each(|value| collect(value, to)),
            Value::Object(fields) => fields.values().for_each(|value| collect(value, to)),
            _ => {}
        }
    }
    let mut all = Vec::new();
    collect(value, &mut all);
    all.sort_unstable();
    all
}

/// Number of places in a view whose card is hidden from its seat.
fn hidden(view: &Value, whole: &Value) -> usize {
    match (view, whole) {
        (Value::Null, Value::String(_)) => 1,
        (Value::Array(view), Value::Array(whole)) => view.iter().zip(whole).map(|(a, b)| hidden(a, b)).sum(),
        (Value::Object(view), Value::Object(whole)) => {
            whole.iter().map(|(key, value)| hidden(&view[key.as_str()], value)).sum()
        }
        _ => 0,
    }
}

/// The view and the legal actions stay byte for byte, all cards are still there, and the rest comes from the seed alone.
#[test]
fn guess_keeps_the_view_and_draws_the_rest() {
    let mut rng = ChaCha20Rng::from_seed([21; 32]);
    for info in GAMES {
        let (mut places, mut moved) = (0, 0);
        for round in 0..9 {
            let mut referee = Spoken::default();
            let (new, seats) = any_new(info, &mut rng);
            referee.done(&new);
            let actions = uniform(&mut rng, if round % 4 == 3 { 300 } else { 60 }) as usize;
            referee.wander(actions, &mut rng);
            let leaves = round % 5 == 4 && seats > 2;
            if leaves {
                referee.ask(&json!({"op": "forfeit", "seat": 1}));
            }
            referee.done(&save("truth"));
            let truth = referee.view(None);
            for seat in 0..seats {
                referee.done(&load("truth"));
                let (view, legal) = (referee.view(Some(seat)), referee.legal(seat));
                let mut wholes = Vec::new();
                for seed in [1, 2] {
                    referee.done(&load("truth"));
                    referee.done(&determinize(seat, seed));
                    assert_eq!(referee.view(Some(seat)).to_string(), view.to_string());
                    assert_eq!(referee.legal(seat).to_string(), legal.to_string());
                    let whole = referee.view(None);
                    // No view shows the cards of a seat that has left.
                    assert!(leaves || texts(&whole) == texts(&truth), "{new}");
                    wholes.push(whole);
                    referee.done(&save("guess"));
                    // From another deal that looks the same, the guess is the same, and so is all that follows.
                    referee.done(&load("truth"));
                    referee.done(&determinize(seat, 77));
                    referee.done(&determinize(seat, seed));
                    assert_eq!(referee.view(None).to_string(), wholes.last().unwrap().to_string());
                    let mut same = ChaCha20Rng::from_seed([3; 32]);
                    let replies = referee.wander(30, &mut same);
                    referee.done(&load("guess"));
                    assert_eq!(referee.wander(30, &mut ChaCha20Rng::from_seed([3; 32])), replies);
                    let on = referee.wander(200, &mut rng);
                    assert!(on.iter().chain(&replies).all(|reply| reply["ok"] == true), "{on:?}");
                    referee.end();
                }
                if hidden(&view, &truth) > 3 {
                    places += 1;
                    moved += usize::from(wholes[0] != wholes[1]);
                }
            }
        }
        // In Ivory Tower hidden places include cards that the player has seen and has to remember.
        assert!(moved * 10 >= places * 9, "{}: {moved} of {places}", info.id);
        assert!(places > 5 || info.id == "plutonian-poker", "{}: {places}", info.id);
    }
}

/// Two deals with different draw piles, one after the other explicit: seat 0 cannot tell them apart.
#[test]
fn guess_does_not_depend_on_the_true_deal() {
    let mut wholes = Vec::new();
    for reversed in [false, true] {
        let mut referee = Spoken::default();
        let mut new = explicit();
        let mut order = deck();
        if reversed {
            order[25..].reverse();
            // Cards of seat 1.
            order.swap(1, 3);
        }
        new["chance"]["shuffles"] = json!([order, deck()]);
        referee.done(&new);
        let truth = referee.view(None);
        referee.done(&determinize(0, 5));
        let whole = referee.view(None);
        assert_ne!(whole, truth);
        // The explicit chance of the true game is gone: the next deal comes from the seed.
        let replies = referee.wander(400, &mut ChaCha20Rng::from_seed([6; 32]));
        assert!(referee.view(None)["hand_no"].as_u64() > Some(1), "no second hand");
        wholes.push((whole, replies, referee.view(None)));
    }
    assert_eq!(wholes[0], wholes[1]);
}

/// Cards that all have seen stay: those of Ivory Tower that were on top, and the hands of a Thoth game that is over.
#[test]
fn guess_keeps_what_was_seen() {
    let mut referee = Spoken::default();
    let ivory = json!({"op": "new", "game": "ivory-tower", "seats": 1, "chance": {"seed": hex(4)}});
    referee.done(&ivory);
    for _ in 0..11 {
        referee.done(&json!({"op": "act", "seat": 0, "action": {"type": "turn"}}));
    }
    let truth = referee.view(None);
    referee.done(&determinize(0, 9));
    let guess = referee.view(None);
    let cards = |view: &Value| view["draw"].as_array().unwrap().clone();
    // Every third of the 36 cards was on top once.
    let same = cards(&truth).iter().zip(cards(&guess)).filter(|(a, b)| **a == *b).count();
    assert!((12..20).contains(&same), "{same}");

    let thoth = json!({
        "op": "new", "game": "houses-of-thoth", "seats": 2, "options": {"target": 1}, "chance": {"seed": hex(4)},
    });
    referee.done(&thoth);
    let mut rng = ChaCha20Rng::from_seed([1; 32]);
    while referee.done(&json!({"op": "status"}))["over"] != true {
        referee.wander(100, &mut rng);
    }
    let hands = |view: &Value| (view["hands"].clone(), view["last_hand"]["hands"].clone());
    let (open, scored) = hands(&referee.view(None));
    assert_eq!(open, scored);
    referee.done(&determinize(0, 9));
    referee.done(&determinize(1, 8));
    assert_eq!(hands(&referee.view(None)), (open, scored));
}

#[test]
fn saved_games_come_back_with_their_chance() {
    for new in [new_game(), explicit()] {
        let mut referee = Spoken::default();
        referee.done(&new);
        referee.done(&json!({"op": "chance", "shuffles": [deck()], "rolls": [2]}));
        referee.done(&save("a-1"));
        let play = |referee: &mut Spoken| {
            let mut lines = referee.wander(20, &mut ChaCha20Rng::from_seed([2; 32]));
            // Another deal needs the explicit shuffle, then the seed or none.
            for _ in 0..3 {
                lines.push(referee.ask(&json!({"op": "act", "seat": 0, "action": {"type": "fire"}})));
                lines.extend(referee.wander(8, &mut ChaCha20Rng::from_seed([2; 32])));
            }
            lines.push(referee.state());
            lines
        };
        let first = play(&mut referee);
        referee.done(&save("later"));
        referee.done(&json!({"op": "new", "game": "ivory-tower", "seats": 1, "chance": {"seed": hex(1)}}));
        referee.done(&load("a-1"));
        assert_eq!(play(&mut referee), first);
        referee.done(&load("later"));
        assert_eq!(Some(&referee.state()), first.last());
    }
}

#[test]
fn slots_have_names_and_a_number() {
    let mut referee = Spoken::default();
    assert_eq!(referee.code(&save("a")), "no_game");
    assert_eq!(referee.code(&load("a")), "bad_request");
    referee.done(&new_game());
    for name in
        [json!(""), json!("A"), json!("a b"), json!("a_b"), json!("é"), json!("a".repeat(33)), json!(7), json!(null)]
    {
        for op in ["save", "load"] {
            assert_eq!(referee.code(&json!({"op": op, "slot": name})), "bad_request");
        }
    }
    for request in [json!({"op": "save"}), json!({"op": "load"}), json!({"op": "save", "slot": "a", "seat": 0})] {
        assert_eq!(referee.code(&request), "bad_request");
    }
    let longest = "z".repeat(32);
    referee.done(&save(&longest));
    for number in 1..64 {
        referee.done(&save(&format!("-{number}")));
    }
    assert_eq!(referee.code(&save("one-more")), "bad_request");
    assert_eq!(referee.code(&load("one-more")), "bad_request");
    // A slot that is used can be used again.
    let before = referee.state();
    referee.done(&save(&longest));
    referee.done(&json!({"op": "forfeit", "seat": 0}));
    referee.done(&load(&longest));
    assert_eq!(referee.state(), before);
}

#[test]
fn bots_choose_legal_actions_and_the_same_ones() {
    let mut rng = ChaCha20Rng::from_seed([31; 32]);
    for info in GAMES {
        for _ in 0..4 {
            let mut referee = Spoken::default();
            let (new, seats) = any_new(info, &mut rng);
            referee.done(&new);
            referee.wander(uniform(&mut rng, 80) as usize, &mut rng);
            let before = referee.view(None);
            for seat in 0..seats {
                let legal = referee.legal(seat);
                let to_act = referee.done(&json!({"op": "status"}))["to_act"].clone();
                let must = to_act.as_array().unwrap().contains(&json!(seat));
                for level in ["gentle", "normal", "sharp"] {
                    let reply = referee.done(&bot(seat, level, 3));
                    assert_eq!(referee.done(&bot(seat, level, 3)), reply);
                    let action = &reply["action"];
                    let is_legal = legal.as_array().unwrap().contains(action);
                    assert!(is_legal || action.is_null() && !must, "{new} {reply}");
                }
            }
            assert_eq!(referee.view(None), before);
            referee.end();
            assert_eq!(referee.done(&bot(0, "sharp", 3))["action"], Value::Null);
        }
    }
}

/// A bot sees what its seat sees: a guess for that seat changes no choice.
#[test]
fn bots_do_not_see_hidden_cards() {
    let mut rng = ChaCha20Rng::from_seed([32; 32]);
    for info in GAMES {
        let mut referee = Spoken::default();
        let (new, seats) = any_new(info, &mut rng);
        referee.done(&new);
        referee.wander(25, &mut rng);
        referee.done(&save("truth"));
        for seat in 0..seats {
            for level in ["gentle", "normal", "sharp"] {
                referee.done(&load("truth"));
                let reply = referee.done(&bot(seat, level, 3));
                referee.done(&determinize(seat, 1));
                assert_eq!(referee.done(&bot(seat, level, 3)), reply, "{new} {level}");
            }
        }
    }
}

/// A table's position gives the guess that `determinize` makes of the same game, also where no game is.
#[test]
fn position_of_a_table_is_guessed() {
    let rules = rule_set("loot", 2, &[("target".to_owned(), "100".to_owned())].into()).unwrap();
    let mut game = AnyGame::create(&rules).unwrap();
    let mut chance = RefereeChance::from_seed([7; 32]);
    game.begin(&mut chance, &mut Vec::new()).unwrap();
    let position = Position::text(&game, Seat::FIRST, chance.dealt_to(Seat::FIRST));
    let guess = json!({"op": "guess", "position": position, "seed": hex(5)});
    let mut fresh = Spoken::default();
    fresh.done(&guess);
    let mut referee = Spoken::default();
    referee.done(&new_game());
    referee.done(&determinize(0, 5));
    assert_eq!(fresh.state(), referee.state());
    let on = |referee: &mut Spoken| referee.wander(200, &mut ChaCha20Rng::from_seed([6; 32]));
    assert_eq!(on(&mut fresh), on(&mut referee));

    let before = referee.state();
    for (field, value) in [
        ("position", json!("")),
        ("position", json!("AAAA")),
        ("position", json!(null)),
        ("seed", json!("07")),
        ("seat", json!(0)),
    ] {
        let mut wrong = guess.clone();
        wrong[field] = value;
        assert_eq!(referee.code(&wrong), "bad_request", "{wrong}");
    }
    assert_eq!(referee.state(), before);
}

#[test]
fn new_requests_have_their_shape_and_order_of_errors() {
    let mut referee = Spoken::default();
    assert_eq!(referee.code(&determinize(0, 1)), "no_game");
    assert_eq!(referee.code(&bot(0, "normal", 1)), "no_game");
    let wrong = [
        ("seat", json!(null)),
        ("seat", json!(-1)),
        ("seat", json!("0")),
        ("seed", json!("07")),
        ("seed", json!("g".repeat(64))),
        ("seed", json!(7)),
        ("level", json!("easy")),
        ("level", json!(1)),
        ("iterations", json!(0)),
        ("iterations", json!(100_001)),
        ("iterations", json!(1.5)),
        ("iterations", json!("9")),
        ("iterations", json!(null)),
        ("extra", json!(1)),
    ];
    for over in [false, true] {
        referee.done(&new_game());
        if over {
            referee.done(&json!({"op": "forfeit", "seat": 0}));
        }
        let before = referee.state();
        for request in [determinize(0, 1), bot(0, "normal", 1)] {
            for (field, value) in &wrong {
                let mut request = request.clone();
                request[*field] = value.clone();
                assert_eq!(referee.code(&request), "bad_request", "{request}");
            }
            let mut elsewhere = request.clone();
            elsewhere["seat"] = json!(2);
            assert_eq!(referee.code(&elsewhere), "bad_request");
            for field in request.as_object().unwrap().keys() {
                let mut request = request.clone();
                request.as_object_mut().unwrap().remove(field);
                assert_eq!(referee.code(&request), "bad_request", "{request}");
            }
        }
        assert_eq!(referee.state(), before);
    }
    // After the end there is nothing to do, and still something to guess.
    assert_eq!(referee.done(&bot(1, "sharp", 1))["action"], Value::Null);
    let view = referee.view(Some(1));
    referee.done(&determinize(1, 1));
    assert_eq!(referee.view(Some(1)), view);
}
