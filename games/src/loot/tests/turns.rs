//! Dealing, turns, re-shuffling and leaving: "A hand" and "Forfeit" of the rules page.

use super::*;

#[test]
fn nine_cards_are_dealt_one_at_a_time_clockwise_from_the_rolled_starter() {
    let mut game = Loot::create(&rule_set("loot", 3, &BTreeMap::new()).unwrap()).unwrap();
    let mut chance = RefereeChance::default();
    chance.add([(0..54).collect()], [2]);
    let mut events = Vec::new();
    game.begin(&mut chance, &mut events).unwrap();
    let hand =
        |who| game.hand(seat(who)).into_iter().map(|slot| slot.face(chance.faces()).unwrap().0).collect::<Vec<_>>();
    assert_eq!(hand(1), [0, 3, 6, 9, 12, 15, 18, 21, 24]);
    assert_eq!(hand(2), [1, 4, 7, 10, 13, 16, 19, 22, 25]);
    assert_eq!(hand(0), [2, 5, 8, 11, 14, 17, 20, 23, 26]);
    assert_eq!(game.discard_pile(), [Face(27)]);
    assert_eq!(game.draw_pile().len(), 26);
    assert_eq!(game.turn(), Some(seat(1)));
    let dealt = LootEvent::Dealt { hand_no: 1, starter: seat(1), top: Face(27) };
    assert_eq!(events, [dealt]);
}

#[test]
fn a_turn_is_a_take_and_a_discard_also_of_the_card_taken() {
    let mut play = Play::new(2, 100, vec![laid(&PLAIN, "lady dark-lord")]);
    assert_eq!(play.refused(1, &json!({"type": "take", "from": "draw"})), "it is not seat 1's turn");
    assert_eq!(
        play.refused(0, &json!({"type": "discard", "card": "queen-winds"})),
        "a card has to be taken before one is discarded"
    );
    play.take(0, "draw");
    assert_eq!(play.hand(0).last().unwrap(), "dark-lord");
    assert_eq!(
        play.refused(0, &json!({"type": "take", "from": "discard"})),
        "a card has been taken already: one has to be discarded"
    );
    play.discard(0, "dark-lord");
    assert_eq!(play.view(None)["discard"], json!(["lady", "dark-lord"]));
    assert_eq!(play.view(None)["turns"], json!([1, 0]));
    assert_eq!(play.view(None)["to_act"], 1);
    play.take(1, "discard");
    play.discard(1, "queen-flames");
    assert_eq!(play.view(None)["discard"], json!(["lady", "queen-flames"]));
    assert_eq!(play.hand(1).last().unwrap(), "dark-lord");
}

#[test]
fn an_empty_draw_pile_takes_all_of_the_discard_pile_but_its_top() {
    // Four seats leave 17 cards to draw.
    let mut play = Play::new(4, 1000, vec![laid(&[""; 4], "")]);
    (0..16).for_each(|turn| assert_eq!(play.pass(turn % 4).len(), 1));
    play.take(0, "draw");
    assert!(play.game.draw_pile().is_empty());
    let pile = play.game.discard_pile().to_vec();
    let reversed: Vec<_> = pile.iter().rev().map(|card| u32::from(card.0)).collect();
    play.chance.add([reversed], []);
    let last = play.hand(0).pop().unwrap();
    let events = play.discard(0, &last);
    assert_eq!(events[1], LootEvent::Reshuffled { cards: 17 });
    assert_eq!(play.view(None)["discard"], json!([last]));
    let names: Vec<_> = pile.iter().rev().map(|card| cards::name(*card)).collect();
    assert_eq!(play.view(None)["draw"], json!(names));
    play.take(1, "draw");
    assert_eq!(play.hand(1).last(), names.first());
}

#[test]
fn nothing_but_a_discard_reshuffles_and_an_empty_pile_cannot_be_taken_from() {
    let mut play = Play::new(4, 1000, vec![laid(&[""; 4], "")]);
    (0..16).for_each(|turn| drop(play.pass(turn % 4)));
    play.take(0, "draw");
    play.forfeit(0);
    assert!(play.game.draw_pile().is_empty());
    assert_eq!(play.refused(1, &json!({"type": "take", "from": "draw"})), "the draw pile is empty");
    let take = [LootAction::Take(Pile::Discard), LootAction::Fire];
    assert_eq!(play.game.legal(seat(1), play.chance.faces()), take);
    play.take(1, "discard");
    let taken = play.hand(1).pop().unwrap();
    let events = play.discard(1, &taken);
    assert_eq!(events[1], LootEvent::Reshuffled { cards: 16 });
}

#[test]
fn an_empty_discard_pile_cannot_be_taken_from() {
    let mut play = Play::new(3, 1000, vec![]);
    play.take(0, "discard");
    play.forfeit(0);
    assert!(play.game.discard_pile().is_empty());
    assert_eq!(play.refused(1, &json!({"type": "take", "from": "discard"})), "the discard pile is empty");
    play.pass(1);
    assert_eq!(play.game.discard_pile().len(), 1);
}

#[test]
fn a_forfeit_out_of_turn_leaves_the_turn_alone() {
    let mut play = Play::new(3, 1000, vec![]);
    play.take(0, "draw");
    play.forfeit(1);
    assert_eq!(play.game.phase(), Phase::Discard);
    let drawn = play.hand(0).pop().unwrap();
    play.discard(0, &drawn);
    // The departed seat is skipped.
    assert_eq!(play.game.turn(), Some(seat(2)));
}
