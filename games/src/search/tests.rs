//! The search sees only what its seat sees, and guesses what fits it.

use fairdeal_protocol::card::Handle;
use fairdeal_protocol::seat::SeatSet;
use rand_chacha::ChaCha20Rng;

use super::*;
use crate::bots::Random;
use crate::chance::RefereeChance;
use crate::loot::{Loot, LootAction};
use crate::plutonian::Plutonian;
use crate::registry::rule_set;
use crate::sphinx::Sphinx;
use crate::thoth::Thoth;

fn rng(number: u8) -> ChaCha20Rng {
    ChaCha20Rng::from_seed([number; 32])
}

/// Plays so many random actions, and returns them.
fn wander<G: Game>(game: &mut G, chance: &mut RefereeChance, actions: usize, number: u8) -> Vec<(Seat, G::Action)> {
    let (mut rng, mut made) = (rng(number), Vec::new());
    while let (true, Some(seat)) = (made.len() < actions, game.to_act().iter().next()) {
        let action = Random { seldom: None }.choose(game, seat, chance.dealt_to(seat), &mut rng).unwrap();
        game.apply(seat, &action, chance, &mut Vec::new()).unwrap();
        made.push((seat, action));
    }
    made
}

/// The order of the deck that a game with this id is dealt from first, and a chance that deals it. Everything else is
/// given too, so another order changes nothing else.
fn dealt<G: Game>(id: &str, order: &[u32]) -> (G, RefereeChance) {
    let mut game = G::create(&rule_set(id, 2, &Default::default()).unwrap()).unwrap();
    let mut chance = RefereeChance::default();
    let of = |ranks: &[u8]| crate::sphinx::cards::of_ranks(ranks).into_iter().map(|card| u32::from(card.0)).collect();
    match id {
        "sphinxs-paw" => {
            chance.add([of(&[11]), order.to_vec(), of(&[4, 5, 6, 7, 8, 9, 10, 12])], [3, 1, 4, 1, 5].repeat(50));
        }
        _ => chance.add([order.to_vec()], [1]),
    }
    game.begin(&mut chance, &mut Vec::new()).unwrap();
    (game, chance)
}

/// The choice is the same whatever the cards are that the seat does not see.
fn sees_only_its_own<G: Search + PartialEq>(id: &str, actions: usize) {
    let seat = Seat::FIRST;
    let deck = G::create(&rule_set(id, 2, &Default::default()).unwrap()).unwrap().first_deck().unwrap();
    for number in 0..4 {
        let mut order: Vec<u32> = deck.iter().map(|card| u32::from(card.0)).collect();
        fairdeal_protocol::game::shuffle(&mut rng(number), &mut order);
        let (mut game, mut chance) = dealt::<G>(id, &order);
        let made = wander(&mut game, &mut chance, actions, number);
        let known = chance.dealt_to(seat).clone();
        let guess = game.determinize(seat, &known, &mut rng(number + 100)).unwrap();
        // Cards that have been seen stay; the others lie as guessed.
        let other: Vec<u32> = Handle::all(fairdeal_protocol::card::DeckId(0), order.len())
            .map(|card| u32::from(guess.get(card).or_else(|| chance.faces().get(card)).unwrap().0))
            .collect();
        assert_ne!(other, order);
        let (mut twin, mut other) = dealt::<G>(id, &other);
        for (seat, action) in &made {
            twin.apply(*seat, action, &mut other, &mut Vec::new()).unwrap();
        }
        assert!(twin == game && *other.dealt_to(seat) == known);
        let choose =
            |game: &G, known: &Faces| SharpBot::new(Budget::iterations(40)).choose(game, seat, known, &mut rng(1));
        let choice = choose(&game, &known);
        assert_eq!(choice, choose(&twin, other.dealt_to(seat)));
        assert!(choice.is_none_or(|action| game.check(seat, &action).is_ok()));
    }
}

#[test]
fn hidden_cards_do_not_change_the_choice() {
    sees_only_its_own::<Loot>("loot", 12);
    sees_only_its_own::<Thoth>("houses-of-thoth", 10);
    sees_only_its_own::<Sphinx>("sphinxs-paw", 30);
}

/// A guess has what the seat knows, and deals the right cards to each deck, also after re-shuffles.
fn guesses_fit<G: Search>(id: &str, seats: u8, actions: usize, step: usize) {
    let mut game = G::create(&rule_set(id, seats, &Default::default()).unwrap()).unwrap();
    let mut chance = RefereeChance::from_seed([7; 32]);
    game.begin(&mut chance, &mut Vec::new()).unwrap();
    let mut most_decks = 0;
    for number in (0..actions).step_by(step) {
        wander(&mut game, &mut chance, step, u8::try_from(number % 256).unwrap());
        for seat in SeatSet::all(seats.into()).iter() {
            let known = chance.dealt_to(seat);
            // A played card is still in the overlay of its seat, but lies open.
            let guess = game.determinize(seat, known, &mut rng(3)).unwrap();
            assert!(known.iter().all(|(card, face)| guess.get(card) == Some(face)));
            let new = || guess.iter().filter(|(card, _)| known.get(*card).is_none());
            let decks = new().map(|(card, _)| card.deck).max();
            most_decks = most_decks.max(decks.map_or(0, |deck| deck.0));
            let sorted = |mut cards: Vec<(u16, u8)>| {
                cards.sort_unstable();
                cards
            };
            let guessed = sorted(new().map(|(card, face)| (card.deck.0, face.0)).collect());
            let truth = new().map(|(card, _)| (card.deck.0, chance.faces().get(card).unwrap().0));
            assert_eq!(guessed, sorted(truth.collect()), "{id} after {number} actions");
        }
    }
    assert!(most_decks > 0 || id == "sphinxs-paw", "no re-shuffle was seen");
}

#[test]
fn guesses_fit_what_a_seat_knows() {
    guesses_fit::<Sphinx>("sphinxs-paw", 2, 300, 20);
    guesses_fit::<Thoth>("houses-of-thoth", 5, 300, 7);
    // Loot improves the other hands, but moves cards only within a deck.
    guesses_fit::<Loot>("loot", 4, 300, 7);
}

#[test]
fn the_same_numbers_give_the_same_choice() {
    let mut game = Thoth::create(&rule_set("houses-of-thoth", 3, &Default::default()).unwrap()).unwrap();
    let mut chance = RefereeChance::from_seed([1; 32]);
    game.begin(&mut chance, &mut Vec::new()).unwrap();
    let seat = game.to_act().iter().next().unwrap();
    let choose = || SharpBot::new(Budget::iterations(60)).choose(&game, seat, chance.dealt_to(seat), &mut rng(9));
    assert_eq!(choose(), choose());
}

#[test]
fn a_stopped_search_answers_at_once() {
    let mut game = Plutonian::create(&rule_set("plutonian-poker", 6, &Default::default()).unwrap()).unwrap();
    let mut chance = RefereeChance::from_seed([1; 32]);
    game.begin(&mut chance, &mut Vec::new()).unwrap();
    let seat = game.to_act().iter().next().unwrap();
    let budget = Budget { stop: Some(Arc::new(AtomicBool::new(true))), ..Budget::iterations(u32::MAX) };
    let first = game.candidates(seat, &Faces::new(), &mut rng(1)).swap_remove(0);
    assert_eq!(SharpBot::new(budget).choose(&game, seat, &Faces::new(), &mut rng(1)), first);
}

/// Out of turn a seat may fire or stay silent: both are candidates.
#[test]
fn silence_is_a_candidate_out_of_turn() {
    let mut game = Loot::create(&rule_set("loot", 2, &Default::default()).unwrap()).unwrap();
    let mut chance = RefereeChance::from_seed([1; 32]);
    game.begin(&mut chance, &mut Vec::new()).unwrap();
    wander(&mut game, &mut chance, 4, 1);
    let seat = SeatSet::all(2).iter().find(|seat| !game.to_act().contains(*seat)).unwrap();
    let candidates = game.candidates(seat, chance.dealt_to(seat), &mut rng(1));
    assert_eq!(candidates, [None, Some(LootAction::Fire)]);
}
