//! The shape of actions, refusals, views, and requests that run out of chance.

use super::*;

#[test]
fn a_card_from_the_discard_pile_lies_in_the_hand_in_the_open() {
    let mut play = Play::new(2, 100, vec![laid(&PLAIN, "lady")]);
    play.take(0, "discard");
    let lady = faces("lady")[0];
    assert_eq!(play.game.hand_of(seat(0)).last(), Some(&Slot::Open(lady)));
    let discard = json!({"type": "discard", "card": "lady"});
    let action = play.game.action_from_json(seat(0), &discard, &Faces::new());
    let open = LootAction::Discard { card: lady, handle: None };
    assert_eq!(action, Ok(open));
    assert_eq!(play.game.shown(seat(0), &open), []);
}

#[test]
fn a_sealed_card_is_named_by_its_handle_and_shown() {
    let mut play = Play::new(2, 100, vec![laid(&PLAIN, "lady")]);
    play.take(0, "draw");
    let known = play.chance.dealt_to(seat(0));
    let discard = json!({"type": "discard", "card": "queen-winds"});
    let action = play.game.action_from_json(seat(0), &discard, known).unwrap();
    let handle = play.game.hand_of(seat(0))[0].handle();
    assert_eq!(action, LootAction::Discard { card: faces("queen-winds")[0], handle });
    let shown = play.game.shown(seat(0), &action);
    assert_eq!(shown.len(), 1);
    assert_eq!(Some(shown[0].card), handle);
    // It does not reveal another seat's card.
    assert_eq!(play.game.shown(seat(1), &action), []);
    assert_eq!(play.game.action_to_json(seat(0), &action, &Faces::new()), discard);
}

#[test]
fn a_claim_that_no_hand_bears_out_is_refused() {
    let mut play = Play::new(2, 100, vec![laid(&PLAIN, "lady")]);
    play.take(0, "draw");
    let other = play.game.hand_of(seat(1))[0].handle();
    let own = play.game.hand_of(seat(0))[0].handle();
    let beyond = Some(Handle { deck: DeckId(u16::MAX), position: u8::MAX });
    for (card, handle) in [(Face(0), None), (Face(0), other), (Face(0), beyond), (Face(54), own), (Face(u8::MAX), own)]
    {
        let action = LootAction::Discard { card, handle };
        assert!(play.game.check(seat(0), &action).is_err(), "{action:?}");
    }
    assert_eq!(play.game.check(seat(5), &LootAction::Fire), Err(Illegal::NotYourTurn(seat(5))));
}

#[test]
fn the_view_is_that_of_the_rules_page() {
    let mut play = Play::new(2, 100, vec![laid(&PLAIN, "lady dark-lord builder")]);
    play.take(0, "discard");
    play.discard(0, "queen-winds");
    let keys: Vec<_> = play.view(0).as_object().unwrap().keys().cloned().collect();
    assert_eq!(
        keys,
        [
            "game",
            "hand_no",
            "starter",
            "to_act",
            "phase",
            "draw",
            "discard",
            "hands",
            "turns",
            "fire",
            "totals",
            "forfeited",
            "last_hand",
            "over"
        ]
    );
    let own = play.view(0);
    assert_eq!(own["hands"][0][8], "lady");
    assert_eq!(own["hands"][1], nulls(9));
    assert_eq!(own["draw"], nulls(35));
    // The lady was taken openly, but the other seat's view does not show it.
    assert_eq!(play.view(1)["hands"][0], nulls(9));
    let all = play.view(None);
    assert_eq!((&all["draw"][0], &all["draw"][1]), (&json!("dark-lord"), &json!("builder")));
    assert_eq!((&all["game"], &all["hand_no"]), (&json!("loot"), &json!(1)));
    assert_eq!((&all["phase"], &all["over"]), (&json!("take"), &json!(false)));
    assert_eq!(all["last_hand"], Value::Null);
}

#[test]
fn json_that_is_no_action_is_refused_with_the_reason() {
    let mut play = Play::new(2, 100, vec![laid(&PLAIN, "lady")]);
    let why = |value: Value| {
        let known = play.chance.faces();
        play.game.action_from_json(seat(0), &value, known).unwrap_err().to_string()
    };
    assert_eq!(why(json!("fire")), "an action is a JSON object");
    assert_eq!(why(json!({})), "the action has no field 'type'");
    assert_eq!(why(json!({"type": "burn"})), "'type' must be 'take', 'discard' or 'fire', not 'burn'");
    assert_eq!(why(json!({"type": "take", "from": "hand"})), "'from' must be 'draw' or 'discard', not 'hand'");
    assert_eq!(why(json!({"type": "fire", "card": "lady"})), "the action has no use for a field 'card'");
    assert_eq!(why(json!({"type": "discard", "card": "joker"})), "'card' must be a card of the Viashi deck, not joker");
    assert_eq!(
        why(json!({"type": "discard", "card": "lady"})),
        ActionError::NotInHand { card: "lady".to_owned(), seat: seat(0) }.to_string()
    );
    play.take(0, "draw");
}

#[test]
fn legal_actions_come_in_a_fixed_order() {
    let mut play = Play::new(2, 100, vec![laid(&PLAIN, "lady dark-lord")]);
    let legal = |play: &Play, who| -> Vec<Value> {
        let known = play.chance.faces();
        let legal = play.game.legal(seat(who), known);
        legal.iter().map(|a| play.game.action_to_json(seat(who), a, known)).collect()
    };
    let takes = [json!({"type": "take", "from": "draw"}), json!({"type": "take", "from": "discard"})];
    assert_eq!(legal(&play, 0), takes);
    assert_eq!(legal(&play, 1), Vec::<Value>::new());
    play.pass(0);
    play.pass(1);
    assert_eq!(legal(&play, 1), [fire()]);
    play.take(0, "discard");
    let mut all: Vec<_> = play.hand(0).iter().map(|card| json!({"type": "discard", "card": card})).collect();
    all.push(fire());
    assert_eq!(legal(&play, 0), all);
}

#[test]
fn a_request_that_runs_out_of_chance_changes_nothing() {
    let mut game = Loot::create(&rule_set("loot", 2, &BTreeMap::new()).unwrap()).unwrap();
    let fresh = game.clone();
    let mut chance = RefereeChance::default();
    let begin = |game: &mut Loot, chance: &mut RefereeChance| {
        chance.attempt(game, |game, chance| Ok(game.begin(chance, &mut Vec::new())?))
    };
    chance.add([], [2]);
    let needs = Stop::Exhausted(Need::Shuffle(cards::all().collect()));
    assert_eq!(begin(&mut game, &mut chance), Err(Refusal::Stopped(needs)));
    assert_eq!(game, fresh);
    // A list that does not fit is dropped; the roll that was read is still there.
    chance.add([vec![1, 2, 3], laid(&PLAIN, "")], []);
    assert!(matches!(begin(&mut game, &mut chance), Err(Refusal::Stopped(Stop::Bad(Need::Shuffle(_))))));
    assert_eq!(game, fresh);
    assert_eq!(begin(&mut game, &mut chance), Ok(()));
    assert_eq!(game.starter(), seat(1));
    assert_eq!(chance.shuffle(&[Face(1)]), Err(fairdeal_protocol::game::Pause));
}

#[test]
fn a_bad_roll_is_dropped_too() {
    let mut game = Loot::create(&rule_set("loot", 2, &BTreeMap::new()).unwrap()).unwrap();
    let mut chance = RefereeChance::default();
    chance.add([laid(&PLAIN, "")], [3, 1]);
    let mut begin = || chance.attempt(&mut game, |game, chance| Ok(game.begin(chance, &mut Vec::new())?));
    assert!(matches!(begin(), Err(Refusal::Stopped(Stop::Bad(_)))));
    assert_eq!(begin(), Ok(()));
}
