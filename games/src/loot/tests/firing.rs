//! Firing the village, its scoring and the end of the game: "Firing the village", "Gods" and
//! "Forfeit" of the rules page.

use crate::interface::TableEvent as _;

use super::*;

#[test]
fn no_fire_before_every_seat_has_completed_a_turn() {
    let mut play = Play::new(2, 100, vec![laid(&PLAIN, "")]);
    let early = "the village cannot be fired before every seat has completed a turn in this hand";
    assert_eq!(play.refused(0, &fire()), early);
    play.pass(0);
    assert_eq!(play.refused(0, &fire()), early);
    play.take(1, "draw");
    // A half-done turn does not count as completed.
    assert_eq!(play.refused(1, &fire()), early);
    assert_eq!(play.refused(0, &fire()), early);
    let drawn = play.hand(1).pop().unwrap();
    play.discard(1, &drawn);
    play.fire(1);
    assert_eq!(play.game.hand_no(), 2);
}

#[test]
fn a_fire_between_turns_takes_effect_at_once_and_out_of_turn() {
    let mut play = Play::new(2, 100, vec![laid(&PLAIN, "")]);
    play.pass(0);
    play.pass(1);
    assert_eq!(play.game.turn(), Some(seat(0)));
    let events = play.fire(1);
    let scores = vec![18, -43];
    assert!(matches!(
        &events[0],
        LootEvent::Burned { fired_by, scores: shown, .. }
            if *fired_by == seat(1) && *shown == scores
    ));
    let last = &play.view(0)["last_hand"];
    assert_eq!(last["fired_by"], 1);
    assert_eq!(last["scores"], json!(scores));
    let names = |hand: &'static str| hand.split_whitespace().collect::<Vec<_>>();
    assert_eq!(last["hands"], json!([names(RUN_OF_NINE), names(BAD)]));
    assert_eq!(play.view(0)["totals"], json!(scores));
    // ▸ The next seat clockwise starts the next hand.
    assert_eq!(play.view(0)["starter"], 1);
    assert_eq!(play.view(0)["to_act"], 1);
    assert_eq!(play.view(0)["turns"], json!([0, 0]));
}

#[test]
fn a_fire_in_a_half_done_turn_waits_for_the_discard() {
    let mut play = Play::new(2, 100, vec![laid(&PLAIN, "lady")]);
    play.pass(0);
    play.pass(1);
    play.take(0, "draw");
    assert_eq!(play.fire(1), [LootEvent::FireWaits { seat: seat(1) }]);
    assert_eq!(play.view(None)["fire"], 1);
    assert_eq!(play.game.hand_no(), 1);
    // ▸ A second fire while one waits is refused.
    for who in [0, 1] {
        assert_eq!(play.refused(who, &fire()), "the village has been fired: it burns when this turn ends");
    }
    let drawn = play.hand(0).pop().unwrap();
    play.discard(0, &drawn);
    assert_eq!(play.game.hand_no(), 2);
    assert_eq!(play.view(None)["fire"], Value::Null);
    assert_eq!(play.view(None)["last_hand"]["fired_by"], 1);
}

#[test]
fn the_seat_in_its_turn_may_fire_too() {
    let mut play = Play::new(2, 100, vec![laid(&PLAIN, "")]);
    play.pass(0);
    play.pass(1);
    play.take(0, "draw");
    play.fire(0);
    let drawn = play.hand(0).pop().unwrap();
    play.discard(0, &drawn);
    assert_eq!(play.view(None)["last_hand"]["fired_by"], 0);
}

#[test]
fn a_waiting_fire_stands_if_its_caller_leaves() {
    let mut play = Play::new(3, 1000, vec![]);
    (0..3).for_each(|who| drop(play.pass(who)));
    play.take(0, "draw");
    play.fire(1);
    play.forfeit(1);
    assert_eq!(play.view(None)["fire"], 1);
    let drawn = play.hand(0).pop().unwrap();
    play.discard(0, &drawn);
    let last = &play.view(None)["last_hand"];
    assert_eq!(last["fired_by"], 1);
    assert_eq!((&last["hands"][1], &last["scores"][1]), (&json!([]), &json!(0)));
}

#[test]
fn a_waiting_fire_takes_effect_when_the_turn_ends_by_forfeit() {
    let mut play = Play::new(3, 1000, vec![]);
    (0..3).for_each(|who| drop(play.pass(who)));
    play.take(0, "draw");
    play.fire(2);
    let events = play.forfeit(0);
    assert!(matches!(events[0], LootEvent::Left { .. }));
    assert!(matches!(events[1], LootEvent::Burned { .. }));
    assert_eq!(play.game.hand_no(), 2);
    assert_eq!(play.view(None)["last_hand"]["hands"][0], json!([]));
}

#[test]
fn a_waiting_fire_is_not_carried_out_with_one_seat_left() {
    let mut play = Play::new(2, 1000, vec![]);
    play.pass(0);
    play.pass(1);
    play.take(0, "draw");
    play.fire(1);
    play.forfeit(0);
    let view = play.view(None);
    assert_eq!((&view["over"], &view["last_hand"]), (&json!(true), &Value::Null));
    assert_eq!((&view["fire"], &view["to_act"]), (&Value::Null, &Value::Null));
    // ▸ The phase stays as it was.
    assert_eq!(view["phase"], "discard");
    assert_eq!(play.game.winners(), SeatSet::one(seat(1)));
}

#[test]
fn a_waiting_fire_comes_before_the_reshuffle() {
    let mut play = Play::new(4, 1000, vec![laid(&[""; 4], "")]);
    (0..16).for_each(|turn| drop(play.pass(turn % 4)));
    play.take(0, "draw");
    play.fire(3);
    let last = play.hand(0).pop().unwrap();
    let events = play.discard(0, &last);
    assert!(matches!(events[1], LootEvent::Burned { .. }));
    assert!(!events.iter().any(|event| matches!(event, LootEvent::Reshuffled { .. })));
}

#[test]
fn gods_in_any_hand_act_on_all_hands_those_elsewhere_on_none() {
    let lady_among = BAD.replace("queen-flames", "lady");
    let score_of_run = |hands: &[&str], rest: &str| {
        let mut play = Play::new(2, 1000, vec![laid(hands, rest)]);
        play.pass(0);
        play.pass(1);
        play.fire(0);
        play.view(None)["totals"][0].clone()
    };
    assert_eq!(score_of_run(&[RUN_OF_NINE, BAD], ""), 18);
    assert_eq!(score_of_run(&[RUN_OF_NINE, &lady_among], ""), 36);
    // In the discard pile the lady does nothing.
    assert_eq!(score_of_run(&[RUN_OF_NINE, BAD], "lady"), 18);
}

#[test]
fn a_hand_set_aside_has_no_effect_and_comes_back_with_the_next_hand() {
    let lady_aside = "lady";
    let mut play = Play::new(3, 1000, vec![laid(&[RUN_OF_NINE, LEAVES, lady_aside], "")]);
    (0..3).for_each(|who| drop(play.pass(who)));
    play.forfeit(2);
    let view = play.view(None);
    assert_eq!((&view["hands"][2], &view["forfeited"]), (&json!([]), &json!([false, false, true])));
    play.fire(0);
    // Without the lady: a run of nine, and a colour of nine with a run of nine in it.
    assert_eq!(play.view(None)["totals"], json!([18, 36, 0]));
    assert_eq!(play.view(None)["last_hand"]["hands"][2], json!([]));
    // The seat is dealt nothing, and 54 − 18 − 1 cards are left to draw.
    assert_eq!(play.game.draw_pile().len(), 35);
    assert_eq!(play.view(None)["hands"][2], json!([]));
    assert!(play.game.set_aside().is_empty());
    // It never starts a hand: seats 0 and 1 alternate.
    assert_eq!(play.view(None)["starter"], 1);
    play.pass(1);
    play.pass(0);
    play.fire(0);
    assert_eq!(play.view(None)["starter"], 0);
}

#[test]
fn a_seat_that_leaves_lets_the_others_fire() {
    let mut play = Play::new(3, 1000, vec![]);
    play.pass(0);
    play.pass(1);
    assert!(!play.game.everyone_has_played());
    play.forfeit(2);
    assert_eq!(play.game.turn(), Some(seat(0)));
    assert_eq!(play.game.check(seat(0), &LootAction::Fire), Ok(()));
    assert_eq!(play.game.check(seat(2), &LootAction::Fire), Err(Illegal::NotYourTurn(seat(2))));
    assert_eq!(play.game.legal(seat(2), play.chance.faces()), []);
}

#[test]
fn the_target_ends_the_game_above_and_below() {
    let mut play = Play::new(2, 18, vec![laid(&PLAIN, "")]);
    play.pass(0);
    play.pass(1);
    let events = play.fire(1);
    assert_eq!(events.last(), Some(&LootEvent::Over { winners: SeatSet::one(seat(0)) }));
    let view = play.view(1);
    assert_eq!((&view["over"], &view["to_act"]), (&json!(true), &Value::Null));
    assert_eq!((&view["fire"], &view["hand_no"]), (&Value::Null, &json!(1)));
    // The last hand stays as it was scored; the other seat's cards are still null in `hands`.
    assert_eq!(view["hands"][0], nulls(9));
    assert_eq!(view["last_hand"]["scores"][0], 18);
    assert_eq!(play.refused(0, &fire()), "the game is over");
    assert_eq!(play.game.legal(seat(0), play.chance.faces()), []);
    let over = play.game.clone();
    assert_eq!(play.forfeit(0), []);
    assert_eq!(play.game, over);

    // −43 reaches a target of 43, so the other seat wins.
    let mut play = Play::new(2, 43, vec![laid(&PLAIN, "")]);
    play.pass(0);
    play.pass(1);
    play.fire(1);
    assert_eq!(play.game.totals(), [18, -43]);
    assert_eq!(play.game.winners(), SeatSet::one(seat(0)));

    let mut play = Play::new(2, 44, vec![laid(&PLAIN, "")]);
    play.pass(0);
    play.pass(1);
    play.fire(1);
    assert!(!play.game.is_over());
    assert_eq!(play.game.winners(), SeatSet::EMPTY);
}

#[test]
fn equal_totals_share_the_win() {
    let winds = LEAVES.replace("leaves", "winds");
    let mut play = Play::new(2, 36, vec![laid(&[LEAVES, &winds], "")]);
    play.pass(0);
    play.pass(1);
    let events = play.fire(0);
    assert_eq!(play.game.totals(), [36, 36]);
    assert_eq!(play.game.winners(), SeatSet::all(2));
    let names = ["Ann".to_owned(), "Bob".to_owned()];
    let text: Vec<_> = events.iter().map(|e| e.text(&names)).collect();
    assert_eq!(
        text,
        [
            "Ann burns the village: Ann +36 (total 36), Bob +36 (total 36).",
            "The game is over: Ann and Bob share the win."
        ]
    );
}

#[test]
fn the_total_of_a_seat_that_left_stays_but_cannot_win() {
    let mut play = Play::new(3, 1000, vec![laid(&[LEAVES, RUN_OF_NINE, BAD], "")]);
    (0..3).for_each(|who| drop(play.pass(who)));
    play.fire(0);
    play.forfeit(0);
    assert_eq!(play.game.scores()[0], 36);
    play.forfeit(2);
    assert!(play.game.is_over());
    assert_eq!(play.game.scores()[0], 36);
    assert_eq!(play.game.winners(), SeatSet::one(seat(1)));
}
