//! Loot, ruling by ruling; the sentences quoted are those of the rules page.

use std::collections::BTreeMap;

use fairdeal_protocol::card::{Face, Faces, Slot};
use fairdeal_protocol::game::{Game, Halt, Illegal, uniform};
use fairdeal_protocol::seat::{Seat, SeatSet};
use proptest::prelude::*;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;

use super::*;
use crate::games::chance::RefereeChance;
use crate::games::{TableGame, rule_set};

struct Referee {
    game: Loot,
    chance: RefereeChance,
    events: Vec<Event>,
}

fn seat(number: usize) -> Seat {
    Seat::new(number).unwrap()
}

impl Referee {
    fn new(seats: u8, chance: RefereeChance, target: i64) -> Self {
        let options = BTreeMap::from([("target".to_owned(), target.to_string())]);
        let mut game = Loot::create(&rule_set("loot", seats, &options).unwrap()).unwrap();
        let mut chance = chance;
        let mut events = Vec::new();
        game.begin(&mut chance, &mut events).unwrap();
        Self {
            game,
            chance,
            events,
        }
    }

    /// Two seats, seat 0 starts, all cards in printed order.
    fn plain(seats: u8) -> Self {
        let order = || cards::all().collect::<Vec<_>>();
        let shuffles = vec![order(), order(), order()];
        Self::new(
            seats,
            RefereeChance::explicit(shuffles, vec![1], Some([0; 32])),
            100,
        )
    }

    fn act(&mut self, number: usize, action: Action) -> Result<(), Halt> {
        self.game
            .apply(seat(number), &action, &mut self.chance, &mut self.events)
    }

    fn legal(&self, number: usize) -> Vec<Action> {
        self.game.legal(seat(number), self.chance.faces())
    }

    /// Takes from the draw pile and discards the card just taken.
    fn pass(&mut self, number: usize) {
        self.act(number, Action::Take(Pile::Draw)).unwrap();
        let last = *self
            .legal(number)
            .iter()
            .rfind(|a| matches!(a, Action::Discard { .. }))
            .unwrap();
        self.act(number, last).unwrap();
    }

    fn forfeit(&mut self, number: usize) {
        self.game
            .forfeit(seat(number), &mut self.chance, &mut self.events)
            .unwrap();
    }
}

#[test]
fn nine_cards_one_at_a_time_and_the_next_is_turned_up() {
    let table = Referee::plain(2);
    let hand: Vec<u8> = table
        .game
        .hand(seat(1))
        .iter()
        .map(|slot| slot.face(table.chance.faces()).unwrap().0)
        .collect();
    assert_eq!(hand, [1, 3, 5, 7, 9, 11, 13, 15, 17]);
    assert_eq!(table.game.discard_pile(), [Face(18)]);
    assert_eq!(table.game.draw_count(), 54 - 19);
}

#[test]
fn a_turn_is_a_take_and_a_discard() {
    let mut table = Referee::plain(2);
    assert_eq!(
        table.act(1, Action::Take(Pile::Draw)),
        Err(Illegal::NotYourTurn(seat(1)).into())
    );
    let early = Action::Discard {
        face: Face(18),
        handle: None,
    };
    assert!(matches!(
        table.act(0, early),
        Err(Halt::Illegal(Illegal::Rule(_)))
    ));
    table.act(0, Action::Take(Pile::Discard)).unwrap();
    assert!(table.game.hand(seat(0)).contains(&Slot::Open(Face(18))));
    assert!(matches!(
        table.act(0, Action::Take(Pile::Draw)),
        Err(Halt::Illegal(_))
    ));
    // "any card in hand, also the one just taken"
    table.act(0, early).unwrap();
    assert_eq!(table.game.turn(), Some(seat(1)));
    assert_eq!(table.game.turns(seat(0)), 1);
}

#[test]
fn no_fire_before_every_seat_has_completed_a_turn() {
    let mut table = Referee::plain(2);
    assert!(table.act(0, Action::Fire).is_err());
    table.pass(0);
    assert!(table.act(0, Action::Fire).is_err());
    table.pass(1);
    assert!(
        table.legal(1).contains(&Action::Fire),
        "any seat, at any time"
    );
    table.act(1, Action::Fire).unwrap();
    assert_eq!(table.game.last_hand().unwrap().fired_by, seat(1));
    assert_eq!(table.game.hand_no(), 2);
    assert_eq!(
        table.game.turn(),
        Some(seat(1)),
        "the next seat clockwise starts"
    );
}

/// "If a turn is half done the fire waits for that discard … A second `fire` is refused."
#[test]
fn a_fire_waits_for_the_discard() {
    let mut table = Referee::plain(2);
    table.pass(0);
    table.pass(1);
    table.act(0, Action::Take(Pile::Draw)).unwrap();
    table.act(1, Action::Fire).unwrap();
    assert_eq!(table.game.fire(), Some(seat(1)));
    assert!(table.act(0, Action::Fire).is_err());
    assert!(table.act(1, Action::Fire).is_err());
    assert!(table.game.last_hand().is_none());
    let discard = table.legal(0)[0];
    table.act(0, discard).unwrap();
    assert_eq!(table.game.last_hand().unwrap().fired_by, seat(1));
}

/// "A waiting fire takes effect when that turn ends, by discard or by forfeit; it stands if the
/// seat that called it leaves."
#[test]
fn a_waiting_fire_stands() {
    let mut table = Referee::plain(3);
    (0..3).for_each(|number| table.pass(number));
    table.act(0, Action::Take(Pile::Draw)).unwrap();
    table.act(1, Action::Fire).unwrap();
    table.forfeit(1);
    assert_eq!(table.game.fire(), Some(seat(1)));
    table.forfeit(0);
    // One seat is left: the game is over and the fire is not carried out.
    assert!(table.game.is_over());
    assert!(table.game.last_hand().is_none());
    assert_eq!(table.game.fire(), None);
    assert_eq!(table.game.phase(), Phase::Discard);
    assert_eq!(table.game.winners(), SeatSet::one(seat(2)));

    let mut table = Referee::plain(4);
    (0..4).for_each(|number| table.pass(number));
    table.act(0, Action::Take(Pile::Draw)).unwrap();
    table.act(1, Action::Fire).unwrap();
    table.forfeit(0);
    let last = table.game.last_hand().unwrap();
    assert_eq!(
        (last.fired_by, last.hands[0].len(), last.scores[0]),
        (seat(1), 0, 0)
    );
    assert_eq!(table.game.hand(seat(0)), []);
    assert_eq!(table.game.turn(), Some(seat(1)));
}

/// "If after a discard the draw pile is empty, all of the discard pile but its top card is shuffled
/// into a new draw pile at once."
#[test]
fn an_empty_draw_pile_is_made_new() {
    let mut table = Referee::plain(4);
    let left = table.game.draw_count();
    for turn in 0..left - 1 {
        table.pass(turn % 4);
    }
    assert_eq!(table.game.draw_count(), 1);
    table.pass((left - 1) % 4);
    assert_eq!(table.game.discard_pile().len(), 1);
    assert_eq!(table.game.draw_count(), left);
    assert!(table.events.contains(&Event::Reshuffled { cards: left }));
}

/// A fire that waits takes effect before any re-shuffle.
#[test]
fn a_fire_comes_before_the_reshuffle() {
    let mut table = Referee::plain(4);
    let left = table.game.draw_count();
    for turn in 0..left - 1 {
        table.pass(turn % 4);
    }
    let last = (left - 1) % 4;
    table.act(last, Action::Take(Pile::Draw)).unwrap();
    table.act((last + 1) % 4, Action::Fire).unwrap();
    let discard = table.legal(last)[0];
    table.act(last, discard).unwrap();
    assert!(
        !table
            .events
            .iter()
            .any(|event| matches!(event, Event::Reshuffled { .. }))
    );
    assert_eq!(table.game.hand_no(), 2);
}

#[test]
fn the_game_ends_at_the_target_either_way() {
    let order: Vec<Face> = cards::all().collect();
    let chance = RefereeChance::explicit(vec![order], vec![1], None);
    let mut table = Referee::new(2, chance, 1);
    table.pass(0);
    table.pass(1);
    table.act(0, Action::Fire).unwrap();
    assert!(table.game.is_over());
    assert_eq!(table.game.hand_no(), 1);
    let totals = table.game.totals();
    assert!(totals.iter().any(|total| total.abs() >= 1));
    assert_eq!(table.game.to_act(), SeatSet::EMPTY);
    assert!(table.legal(0).is_empty());
    assert_eq!(table.act(0, Action::Fire), Err(Illegal::Over.into()));
    let view = table.game.view(None, table.chance.faces());
    assert_eq!(view["to_act"], serde_json::Value::Null);
    assert_eq!(view["fire"], serde_json::Value::Null);
}

#[test]
fn a_seat_that_has_left_is_dealt_nothing_and_never_starts() {
    let mut table = Referee::plain(3);
    (0..3).for_each(|number| table.pass(number));
    table.forfeit(1);
    table.act(2, Action::Fire).unwrap();
    assert_eq!(
        table.game.turn(),
        Some(seat(2)),
        "seat 1 would start but has left"
    );
    assert_eq!(table.game.hand(seat(1)), []);
    assert_eq!(
        table.act(1, Action::Fire),
        Err(Illegal::NotYourTurn(seat(1)).into())
    );
    assert_eq!(table.game.draw_count(), 54 - 19);
}

#[test]
fn options_are_checked() {
    let given = |key: &str, value: &str| BTreeMap::from([(key.to_owned(), value.to_owned())]);
    assert!(rule_set("loot", 2, &given("target", "1000")).is_ok());
    for bad in ["0", "1001", "+5", "05", "x", ""] {
        assert!(rule_set("loot", 2, &given("target", bad)).is_err(), "{bad}");
    }
    let error = rule_set("loot", 2, &given("speed", "9"))
        .unwrap_err()
        .to_string();
    assert!(error.contains("target"), "{error}");
    assert!(rule_set("loot", 5, &BTreeMap::new()).is_err());
    assert!(rule_set("loot", 1, &BTreeMap::new()).is_err());
}

#[test]
fn actions_survive_their_json() {
    let mut table = Referee::plain(2);
    let faces = table.chance.faces().clone();
    for action in table.legal(0) {
        let json = table.game.action_to_json(&action);
        assert_eq!(
            table.game.action_from_json(seat(0), &json, &faces),
            Ok(action)
        );
    }
    table.act(0, Action::Take(Pile::Discard)).unwrap();
    for action in table.legal(0) {
        let json = table.game.action_to_json(&action);
        assert_eq!(
            table.game.action_from_json(seat(0), &json, &faces),
            Ok(action)
        );
    }
    for bad in [
        "{}",
        "{\"type\":\"fire\",\"x\":1}",
        "{\"type\":\"take\"}",
        "[]",
    ] {
        let value = serde_json::from_str(bad).unwrap();
        assert!(
            table
                .game
                .action_from_json(seat(0), &value, &faces)
                .is_err(),
            "{bad}"
        );
    }
}

#[test]
fn a_seats_view_hides_the_piles_and_the_other_hands() {
    let mut table = Referee::plain(2);
    table.act(0, Action::Take(Pile::Discard)).unwrap();
    let faces = table.chance.faces();
    let view = table.game.view(Some(seat(1)), faces);
    assert!(
        view["hands"][0]
            .as_array()
            .unwrap()
            .iter()
            .all(serde_json::Value::is_null)
    );
    assert!(
        view["draw"]
            .as_array()
            .unwrap()
            .iter()
            .all(serde_json::Value::is_null)
    );
    assert_eq!(view["hands"][1][0], "king-winds");
    let all = table.game.view(None, faces);
    assert_eq!(all["hands"][0][9], "queen-stones");
    assert_eq!(all["draw"][0], "king-stones");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Random games: listed actions are accepted, others are not, cards are conserved, games go on
    /// after any seat leaves.
    #[test]
    fn random_games_keep_the_rules(seed: [u8; 32], seats in 2_u8..=4, leave in 0_usize..200) {
        let mut table = Referee::new(seats, RefereeChance::seeded(seed), 100);
        let mut rng = ChaCha20Rng::from_seed(seed);
        for step in 0..400 {
            if table.game.is_over() {
                prop_assert!(!table.game.winners().is_empty());
                break;
            }
            if step == leave {
                table.forfeit(usize::from(seed[0] % seats));
                continue;
            }
            let number = table.game.turn().unwrap().index();
            let legal = table.legal(number);
            prop_assert!(!legal.is_empty());
            for other in 0..usize::from(seats) {
                for action in [Action::Take(Pile::Draw), Action::Take(Pile::Discard), Action::Fire] {
                    let listed = table.legal(other).contains(&action);
                    prop_assert_eq!(table.game.check(seat(other), &action).is_ok(), listed);
                }
            }
            let pick = uniform(&mut rng, u32::try_from(legal.len()).unwrap()) as usize;
            let before = table.game.hand_no();
            table.act(number, legal[pick]).unwrap();
            let game = &table.game;
            let held: usize = (0..usize::from(seats)).map(|n| game.hand(seat(n)).len()).sum();
            let total = held + game.draw_count() + game.discard_pile().len();
            if game.forfeited().is_empty() || game.hand_no() != before {
                prop_assert_eq!(total, 54);
            }
            prop_assert!(game.discard_pile().iter().all(|face| face.0 < cards::DECK));
        }
        let view = table.game.view(Some(seat(0)), &Faces::new());
        prop_assert_eq!(view["game"].as_str(), Some("loot"));
    }
}
