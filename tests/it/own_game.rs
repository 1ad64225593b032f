//! The example of a custom game: it plays, its audit is fair, and its rules hold beyond what its three seats show.

use std::collections::BTreeMap;

use fairdeal_games::chance::RefereeChance;
use fairdeal_protocol::card::Slot;
use fairdeal_protocol::game::{ApplyError, Game as _, Illegal, Protocol, RuleSet};
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::timing::Timing;

#[path = "../../protocol/examples/own_game.rs"]
mod example;

use example::{Action, HighCard};

/// A game after the deal.
fn dealt(seats: u8, number: u8) -> (HighCard, RefereeChance) {
    let rules = RuleSet {
        game: "high-card".to_owned(),
        version: 1,
        seats,
        options: BTreeMap::new(),
        strict: false,
        timing: Timing::default(),
        protocol: Protocol::default(),
    };
    let mut game = HighCard::create(&rules).unwrap();
    let mut chance = RefereeChance::from_seed([number; 32]);
    game.begin(&mut chance, &mut Vec::new()).unwrap();
    (game, chance)
}

#[test]
fn it_plays_and_is_fair_at_every_size() {
    for seats in 2..=4 {
        let mut told = Vec::new();
        let report = example::play(seats, &mut told).unwrap();
        let told = String::from_utf8(told).unwrap();
        assert!(report.is_fair(), "{told}");
        assert_eq!(report.deals_opened, 1);
        let best = report.scores.iter().max().unwrap();
        let winner = report.winners[0].index();
        assert_eq!((report.scores[winner], report.winners.len()), (*best, 1));
        // Each seat is asked once, and sees only its own card.
        let views: Vec<&str> = told.lines().filter(|line| line.contains("sees")).collect();
        assert_eq!(views.len(), usize::from(seats));
        for view in views {
            assert_eq!(view.matches("sealed").count(), usize::from(seats) - 1);
        }
    }
}

#[test]
fn nobody_swaps_the_card_of_another_or_acts_twice() {
    let (mut game, mut chance) = dealt(2, 1);
    let first = game.to_act().iter().next().unwrap();
    let second = SeatSet::all(2).without(first).iter().next().unwrap();
    let Slot::Sealed(card) = game.hand(second)[0] else {
        panic!("a hand is sealed");
    };
    let face = chance.faces().get(card).unwrap();
    let swap = Action::Swap { card, face };
    assert!(matches!(game.check(first, &swap), Err(Illegal::Rule(_))));
    assert!(game.legal(second, chance.faces()).is_empty());
    assert_eq!(game.legal(first, chance.dealt_to(first)).len(), 2);
    assert_eq!(game.legal(first, chance.dealt_to(second)), [Action::Keep]);
    let events = &mut Vec::new();
    game.apply(first, &Action::Keep, &mut chance, events).unwrap();
    let again = game.apply(first, &Action::Keep, &mut chance, events);
    assert_eq!(again, Err(ApplyError::Illegal(Illegal::NotYourTurn(first))));
    assert!(!game.is_over() && game.winners().is_empty());
}

/// Any seat leaves at any turn: the others play on, and its card is not opened.
#[test]
fn the_others_go_on_without_a_seat_that_leaves() {
    for (turns, gone) in (0..3).flat_map(|turns| Seat::first(3).map(move |gone| (turns, gone))) {
        let (mut game, mut chance) = dealt(3, 2);
        let events = &mut Vec::new();
        for _ in 0..turns {
            let seat = game.to_act().iter().next().unwrap();
            game.apply(seat, &Action::Keep, &mut chance, events).unwrap();
        }
        game.forfeit(gone, &mut chance, events).unwrap();
        while let Some(seat) = game.to_act().iter().next() {
            assert_ne!(seat, gone);
            game.apply(seat, &Action::Keep, &mut chance, events).unwrap();
        }
        assert!(game.is_over());
        assert!(game.hand(gone).is_empty() && !game.winners().contains(gone));
        assert_eq!(game.scores()[gone.index()], 0);
        for seat in SeatSet::all(3).without(gone).iter() {
            assert!(matches!(game.hand(seat)[..], [Slot::Open(_)]));
        }
    }
    // With one seat left, no more cards are opened.
    let (mut game, mut chance) = dealt(2, 3);
    let (gone, left) = (Seat::new(0).unwrap(), Seat::new(1).unwrap());
    game.forfeit(gone, &mut chance, &mut Vec::new()).unwrap();
    assert!(game.is_over() && matches!(game.hand(left)[..], [Slot::Sealed(_)]));
    assert_eq!(game.winners(), SeatSet::one(left));
}
