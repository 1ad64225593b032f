//! Loot rule by rule, through the JSON that the referee speaks; rulings of the rules page are ▸.

use std::collections::BTreeMap;

use fairdeal_protocol::card::{DeckId, Face, Faces, Handle, Slot};
use fairdeal_protocol::game::{Chance as _, Game as _, Illegal};
use fairdeal_protocol::seat::{Seat, SeatSet};
use serde_json::{Value, json};

use super::{Loot, LootAction, LootEvent, Phase, Pile, cards};
use crate::games::chance::{Need, RefereeChance, Refusal, Stop};
use crate::games::{ActionError, TableGame as _, rule_set};

fn seat(number: usize) -> Seat {
    Seat::new(number).unwrap()
}

fn faces(names: &str) -> Vec<Face> {
    let card = |name| cards::by_name(name).unwrap_or_else(|| panic!("no card {name}"));
    names.split_whitespace().map(card).collect()
}

/// A shuffle that deals these hands in the order of dealing, then these cards; what is not named is
/// filled up in printed order.
fn laid(hands: &[&str], rest: &str) -> Vec<u32> {
    let hands: Vec<_> = hands.iter().map(|hand| faces(hand)).collect();
    let rest = faces(rest);
    let named: Vec<_> = hands.iter().flatten().chain(&rest).collect();
    let mut others = cards::all().filter(|card| !named.contains(&card));
    let mut order = Vec::new();
    for round in 0..9 {
        for hand in &hands {
            order.push(
                hand.get(round)
                    .copied()
                    .unwrap_or_else(|| others.next().unwrap()),
            );
        }
    }
    order.extend(&rest);
    order.extend(others);
    order.into_iter().map(|card| u32::from(card.0)).collect()
}

/// A game with the referee's chance; what its shuffles run out of comes from a seed.
struct Play {
    game: Loot,
    chance: RefereeChance,
}

impl Play {
    /// Seat 0 starts.
    fn new(seats: u8, target: u32, shuffles: Vec<Vec<u32>>) -> Self {
        let options = BTreeMap::from([("target".to_owned(), target.to_string())]);
        let mut game = Loot::create(&rule_set("loot", seats, &options).unwrap()).unwrap();
        let mut chance = RefereeChance::from_seed([1; 32]);
        chance.add(shuffles, [1]);
        game.begin(&mut chance, &mut Vec::new()).unwrap();
        Self { game, chance }
    }

    fn try_act(&mut self, who: usize, action: Value) -> Result<Vec<LootEvent>, String> {
        let known = self.chance.faces();
        let action = self.game.action_from_json(seat(who), &action, known);
        let action = action.map_err(|why| why.to_string())?;
        let mut events = Vec::new();
        let done = self.chance.attempt(&mut self.game, |game, chance| {
            game.apply(seat(who), &action, chance, &mut events)
        });
        match done {
            Ok(()) => Ok(events),
            Err(Refusal::Illegal(why)) => Err(why.to_string()),
            Err(Refusal::Stopped(stop)) => panic!("{stop:?}"),
        }
    }

    fn act(&mut self, who: usize, action: Value) -> Vec<LootEvent> {
        let text = action.to_string();
        self.try_act(who, action)
            .unwrap_or_else(|why| panic!("seat {who} {text}: {why}"))
    }

    fn refused(&mut self, who: usize, action: Value) -> String {
        let before = self.game.clone();
        let why = self.try_act(who, action).expect_err("a refusal");
        assert_eq!(self.game, before, "a refusal changes nothing");
        why
    }

    fn forfeit(&mut self, who: usize) -> Vec<LootEvent> {
        let mut events = Vec::new();
        self.game
            .forfeit(seat(who), &mut self.chance, &mut events)
            .unwrap();
        events
    }

    fn take(&mut self, who: usize, from: &str) {
        self.act(who, json!({"type": "take", "from": from}));
    }

    fn discard(&mut self, who: usize, card: &str) -> Vec<LootEvent> {
        self.act(who, json!({"type": "discard", "card": card}))
    }

    /// Draws and discards the card drawn, which leaves the hand as it was.
    fn pass(&mut self, who: usize) -> Vec<LootEvent> {
        self.take(who, "draw");
        let drawn = self.hand(who).pop().unwrap();
        self.discard(who, &drawn)
    }

    fn fire(&mut self, who: usize) -> Vec<LootEvent> {
        self.act(who, fire())
    }

    fn hand(&self, who: usize) -> Vec<String> {
        let known = self.chance.faces();
        let hand = self.game.hand(seat(who)).into_iter();
        hand.map(|slot| cards::name(slot.face(known).unwrap()))
            .collect()
    }

    fn view(&self, who: impl Into<Option<usize>>) -> Value {
        self.game.view(who.into().map(seat), self.chance.faces())
    }
}

fn nulls(count: usize) -> Value {
    vec![Value::Null; count].into()
}

fn fire() -> Value {
    json!({"type": "fire"})
}

/// A run of all nine ranks: 18 points.
const RUN_OF_NINE: &str = "queen-winds king-flames prince-stones princess-waves warrior-winds \
                           merchant-flames worker-stones magician-waves fool-winds";
/// A colour of nine with a run of nine in it: 36 points.
const LEAVES: &str = "queen-leaves king-leaves prince-leaves princess-leaves warrior-leaves \
                      merchant-leaves worker-leaves magician-leaves fool-leaves";
/// No four ranks in a row, three alike or four of a suit: 43 points lost.
const BAD: &str = "queen-flames king-winds prince-winds prince-flames warrior-flames \
                   merchant-stones worker-waves worker-winds fool-stones";
const PLAIN: [&str; 2] = [RUN_OF_NINE, BAD];

#[test]
fn nine_cards_are_dealt_one_at_a_time_clockwise_from_the_rolled_starter() {
    let mut game = Loot::create(&rule_set("loot", 3, &BTreeMap::new()).unwrap()).unwrap();
    let mut chance = RefereeChance::default();
    chance.add([(0..54).collect()], [2]);
    let mut events = Vec::new();
    game.begin(&mut chance, &mut events).unwrap();
    let hand = |who| {
        let slots = game.hand(seat(who)).into_iter();
        slots
            .map(|slot| slot.face(chance.faces()).unwrap().0)
            .collect::<Vec<_>>()
    };
    assert_eq!(hand(1), [0, 3, 6, 9, 12, 15, 18, 21, 24]);
    assert_eq!(hand(2), [1, 4, 7, 10, 13, 16, 19, 22, 25]);
    assert_eq!(hand(0), [2, 5, 8, 11, 14, 17, 20, 23, 26]);
    assert_eq!(game.discard_pile(), [Face(27)]);
    assert_eq!(game.draw_pile().len(), 26);
    assert_eq!(game.turn(), Some(seat(1)));
    let dealt = LootEvent::Dealt {
        hand_no: 1,
        starter: seat(1),
        top: Face(27),
    };
    assert_eq!(events, [dealt]);
}

#[test]
fn a_turn_is_a_take_and_a_discard_also_of_the_card_taken() {
    let mut play = Play::new(2, 100, vec![laid(&PLAIN, "lady dark-lord")]);
    assert_eq!(
        play.refused(1, json!({"type": "take", "from": "draw"})),
        "it is not seat 1's turn"
    );
    assert_eq!(
        play.refused(0, json!({"type": "discard", "card": "queen-winds"})),
        "a card has to be taken before one is discarded"
    );
    play.take(0, "draw");
    assert_eq!(play.hand(0).last().unwrap(), "dark-lord");
    assert_eq!(
        play.refused(0, json!({"type": "take", "from": "discard"})),
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
fn a_card_from_the_discard_pile_lies_in_the_hand_in_the_open() {
    let mut play = Play::new(2, 100, vec![laid(&PLAIN, "lady")]);
    play.take(0, "discard");
    let lady = faces("lady")[0];
    assert_eq!(play.game.hand_of(seat(0)).last(), Some(&Slot::Open(lady)));
    let discard = json!({"type": "discard", "card": "lady"});
    let action = play.game.action_from_json(seat(0), &discard, &Faces::new());
    let open = LootAction::Discard {
        card: lady,
        handle: None,
    };
    assert_eq!(action, Ok(open));
    assert_eq!(play.game.shown(seat(0), &open), []);
}

#[test]
fn a_sealed_card_is_named_by_its_handle_and_shown() {
    let mut play = Play::new(2, 100, vec![laid(&PLAIN, "lady")]);
    play.take(0, "draw");
    let known = play.chance.dealt_to(seat(0));
    let discard = json!({"type": "discard", "card": "queen-winds"});
    let action = play
        .game
        .action_from_json(seat(0), &discard, known)
        .unwrap();
    let handle = play.game.hand_of(seat(0))[0].handle();
    assert_eq!(
        action,
        LootAction::Discard {
            card: faces("queen-winds")[0],
            handle
        }
    );
    let shown = play.game.shown(seat(0), &action);
    assert_eq!(shown.len(), 1);
    assert_eq!(Some(shown[0].card), handle);
    // Another seat's card is not shown by it.
    assert_eq!(play.game.shown(seat(1), &action), []);
    assert_eq!(
        play.game.action_to_json(seat(0), &action, &Faces::new()),
        discard
    );
}

#[test]
fn a_claim_that_no_hand_bears_out_is_refused() {
    let mut play = Play::new(2, 100, vec![laid(&PLAIN, "lady")]);
    play.take(0, "draw");
    let other = play.game.hand_of(seat(1))[0].handle();
    let own = play.game.hand_of(seat(0))[0].handle();
    let beyond = Some(Handle {
        deck: DeckId(u16::MAX),
        position: u8::MAX,
    });
    for (card, handle) in [
        (Face(0), None),
        (Face(0), other),
        (Face(0), beyond),
        (Face(54), own),
        (Face(u8::MAX), own),
    ] {
        let action = LootAction::Discard { card, handle };
        assert!(play.game.check(seat(0), &action).is_err(), "{action:?}");
    }
    assert_eq!(
        play.game.check(seat(5), &LootAction::Fire),
        Err(Illegal::NotYourTurn(seat(5)))
    );
}

#[test]
fn no_fire_before_every_seat_has_completed_a_turn() {
    let mut play = Play::new(2, 100, vec![laid(&PLAIN, "")]);
    let early = "the village cannot be fired before every seat has completed a turn in this hand";
    assert_eq!(play.refused(0, fire()), early);
    play.pass(0);
    assert_eq!(play.refused(0, fire()), early);
    play.take(1, "draw");
    // A turn half done is not completed.
    assert_eq!(play.refused(1, fire()), early);
    assert_eq!(play.refused(0, fire()), early);
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
        assert_eq!(
            play.refused(who, fire()),
            "the village has been fired: it burns when this turn ends"
        );
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
    assert_eq!(
        (&last["hands"][1], &last["scores"][1]),
        (&json!([]), &json!(0))
    );
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
    assert_eq!(
        (&view["over"], &view["last_hand"]),
        (&json!(true), &Value::Null)
    );
    assert_eq!(
        (&view["fire"], &view["to_act"]),
        (&Value::Null, &Value::Null)
    );
    // ▸ The phase stays as it was.
    assert_eq!(view["phase"], "discard");
    assert_eq!(play.game.winners(), SeatSet::one(seat(1)));
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
    play.chance.add([reversed.clone()], []);
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
fn a_waiting_fire_comes_before_the_reshuffle() {
    let mut play = Play::new(4, 1000, vec![laid(&[""; 4], "")]);
    (0..16).for_each(|turn| drop(play.pass(turn % 4)));
    play.take(0, "draw");
    play.fire(3);
    let last = play.hand(0).pop().unwrap();
    let events = play.discard(0, &last);
    assert!(matches!(events[1], LootEvent::Burned { .. }));
    assert!(
        !events
            .iter()
            .any(|event| matches!(event, LootEvent::Reshuffled { .. }))
    );
}

#[test]
fn nothing_but_a_discard_reshuffles_and_an_empty_pile_cannot_be_taken_from() {
    let mut play = Play::new(4, 1000, vec![laid(&[""; 4], "")]);
    (0..16).for_each(|turn| drop(play.pass(turn % 4)));
    play.take(0, "draw");
    play.forfeit(0);
    assert!(play.game.draw_pile().is_empty());
    assert_eq!(
        play.refused(1, json!({"type": "take", "from": "draw"})),
        "the draw pile is empty"
    );
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
    assert_eq!(
        play.refused(1, json!({"type": "take", "from": "discard"})),
        "the discard pile is empty"
    );
    play.pass(1);
    assert_eq!(play.game.discard_pile().len(), 1);
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
    assert_eq!(
        (&view["hands"][2], &view["forfeited"]),
        (&json!([]), &json!([false, false, true]))
    );
    play.fire(0);
    // Without the lady: a run of nine; a colour of nine with a run of nine in it.
    assert_eq!(play.view(None)["totals"], json!([18, 36, 0]));
    assert_eq!(play.view(None)["last_hand"]["hands"][2], json!([]));
    // The seat is dealt nothing, and 54 − 18 − 1 cards are left to draw.
    assert_eq!(play.game.draw_pile().len(), 35);
    assert_eq!(play.view(None)["hands"][2], json!([]));
    assert!(play.game.set_aside().is_empty());
    // It is never starter: seats 0 and 1 go on by turns.
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
    assert_eq!(
        play.game.check(seat(2), &LootAction::Fire),
        Err(Illegal::NotYourTurn(seat(2)))
    );
    assert_eq!(play.game.legal(seat(2), play.chance.faces()), []);
}

#[test]
fn the_target_ends_the_game_above_and_below() {
    let mut play = Play::new(2, 18, vec![laid(&PLAIN, "")]);
    play.pass(0);
    play.pass(1);
    let events = play.fire(1);
    assert_eq!(
        events.last(),
        Some(&LootEvent::Over {
            winners: SeatSet::one(seat(0))
        })
    );
    let view = play.view(1);
    assert_eq!(
        (&view["over"], &view["to_act"]),
        (&json!(true), &Value::Null)
    );
    assert_eq!((&view["fire"], &view["hand_no"]), (&Value::Null, &json!(1)));
    // The last hand stays as it was scored; the other's cards are null in `hands` all the same.
    assert_eq!(view["hands"][0], nulls(9));
    assert_eq!(view["last_hand"]["scores"][0], 18);
    assert_eq!(play.refused(0, fire()), "the game is over");
    assert_eq!(play.game.legal(seat(0), play.chance.faces()), []);
    let over = play.game.clone();
    assert_eq!(play.forfeit(0), []);
    assert_eq!(play.game, over);

    // −43 reaches a target of 43, and the other seat wins.
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
    let text: Vec<_> = events
        .iter()
        .map(|e| play.game.event_text(e, &names))
        .collect();
    assert_eq!(
        text,
        [
            "Ann has fired the village: Ann +36 (total 36), Bob +36 (total 36).",
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

#[test]
fn a_forfeit_out_of_turn_leaves_the_turn_alone() {
    let mut play = Play::new(3, 1000, vec![]);
    play.take(0, "draw");
    play.forfeit(1);
    assert_eq!(play.game.phase(), Phase::Discard);
    let drawn = play.hand(0).pop().unwrap();
    play.discard(0, &drawn);
    // It is skipped.
    assert_eq!(play.game.turn(), Some(seat(2)));
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
    // The lady was taken in the open, and yet the other seat's view does not show it.
    assert_eq!(play.view(1)["hands"][0], nulls(9));
    let all = play.view(None);
    assert_eq!(
        (&all["draw"][0], &all["draw"][1]),
        (&json!("dark-lord"), &json!("builder"))
    );
    assert_eq!((&all["game"], &all["hand_no"]), (&json!("loot"), &json!(1)));
    assert_eq!(
        (&all["phase"], &all["over"]),
        (&json!("take"), &json!(false))
    );
    assert_eq!(all["last_hand"], Value::Null);
}

#[test]
fn json_that_is_no_action_is_refused_with_the_reason() {
    let mut play = Play::new(2, 100, vec![laid(&PLAIN, "lady")]);
    let why = |value: Value| {
        let known = play.chance.faces();
        play.game
            .action_from_json(seat(0), &value, known)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(why(json!("fire")), "an action is a JSON object");
    assert_eq!(why(json!({})), "the action has no field 'type'");
    assert_eq!(
        why(json!({"type": "burn"})),
        "'type' must be 'take' or 'discard' or 'fire', not 'burn'"
    );
    assert_eq!(
        why(json!({"type": "take", "from": "hand"})),
        "'from' must be 'draw' or 'discard', not 'hand'"
    );
    assert_eq!(
        why(json!({"type": "fire", "card": "lady"})),
        "the action has no use for a field 'card'"
    );
    assert_eq!(
        why(json!({"type": "discard", "card": "joker"})),
        "'card' must be a card of the Viashi deck, not joker"
    );
    assert_eq!(
        why(json!({"type": "discard", "card": "lady"})),
        ActionError::NotInHand {
            card: "lady".to_owned(),
            seat: seat(0)
        }
        .to_string()
    );
    play.take(0, "draw");
}

#[test]
fn legal_actions_come_in_a_fixed_order() {
    let mut play = Play::new(2, 100, vec![laid(&PLAIN, "lady dark-lord")]);
    let legal = |play: &Play, who| -> Vec<Value> {
        let known = play.chance.faces();
        let legal = play.game.legal(seat(who), known);
        legal
            .iter()
            .map(|a| play.game.action_to_json(seat(who), a, known))
            .collect()
    };
    let takes = [
        json!({"type": "take", "from": "draw"}),
        json!({"type": "take", "from": "discard"}),
    ];
    assert_eq!(legal(&play, 0), takes);
    assert_eq!(legal(&play, 1), Vec::<Value>::new());
    play.pass(0);
    play.pass(1);
    assert_eq!(legal(&play, 1), [fire()]);
    play.take(0, "discard");
    let mut all: Vec<_> = play
        .hand(0)
        .iter()
        .map(|card| json!({"type": "discard", "card": card}))
        .collect();
    all.push(fire());
    assert_eq!(legal(&play, 0), all);
}

#[test]
fn a_request_that_runs_out_of_chance_changes_nothing() {
    let mut game = Loot::create(&rule_set("loot", 2, &BTreeMap::new()).unwrap()).unwrap();
    let fresh = game.clone();
    let mut chance = RefereeChance::default();
    let begin = |game: &mut Loot, chance: &mut RefereeChance| {
        chance.attempt(
            game,
            |game, chance| Ok(game.begin(chance, &mut Vec::new())?),
        )
    };
    chance.add([], [2]);
    let needs = Stop::Exhausted(Need::Shuffle(cards::all().collect()));
    assert_eq!(begin(&mut game, &mut chance), Err(Refusal::Stopped(needs)));
    assert_eq!(game, fresh);
    // A list that does not fit is dropped; the roll that was looked at is still there.
    chance.add([vec![1, 2, 3], laid(&PLAIN, "")], []);
    assert!(matches!(
        begin(&mut game, &mut chance),
        Err(Refusal::Stopped(Stop::Bad { given, .. })) if given == [1, 2, 3]
    ));
    assert_eq!(game, fresh);
    assert_eq!(begin(&mut game, &mut chance), Ok(()));
    assert_eq!(game.starter(), seat(1));
    assert_eq!(
        chance.shuffle(&[Face(1)]),
        Err(fairdeal_protocol::game::Pause)
    );
}

#[test]
fn a_bad_roll_is_dropped_too() {
    let mut game = Loot::create(&rule_set("loot", 2, &BTreeMap::new()).unwrap()).unwrap();
    let mut chance = RefereeChance::default();
    chance.add([laid(&PLAIN, "")], [3, 1]);
    let mut begin = || {
        chance.attempt(&mut game, |game, chance| {
            Ok(game.begin(chance, &mut Vec::new())?)
        })
    };
    assert!(matches!(begin(), Err(Refusal::Stopped(Stop::Bad { .. }))));
    assert_eq!(begin(), Ok(()));
}
