//! The rules page of Ivory Tower, rule by rule.

use std::collections::BTreeSet;

use fairdeal_protocol::card::{Face, Faces, Slot};
use fairdeal_protocol::game::{ApplyError, Game as _, Illegal};
use fairdeal_protocol::seat::Seat;
use serde_json::{Value, json};

use super::{Ivory, IvoryAction, IvoryEvent, Source, Target, cards, daily};
use crate::chance::RefereeChance;
use crate::interface::TableGame as _;
use crate::registry::rule_set;

fn me() -> Seat {
    Seat::new(0).unwrap()
}

fn card(name: &str) -> Face {
    cards::all().find(|card| cards::name(*card) == name).unwrap()
}

/// A game from a deck that begins with these cards.
fn dealt(first: &[&str]) -> (Ivory, RefereeChance) {
    let mut deck: Vec<Face> = first.iter().map(|name| card(name)).collect();
    let rest: Vec<Face> = cards::all().filter(|card| !deck.contains(card)).collect();
    deck.extend(rest);
    let mut chance = RefereeChance::default();
    chance.add([deck.iter().map(|card| u32::from(card.0)).collect()], []);
    let rules = rule_set("ivory-tower", 1, &Default::default()).unwrap();
    let mut game = Ivory::create(&rules).unwrap();
    game.begin(&mut chance, &mut Vec::new()).unwrap();
    (game, chance)
}

fn act(game: &mut Ivory, chance: &mut RefereeChance, action: IvoryAction) -> Vec<IvoryEvent> {
    let mut events = Vec::new();
    game.apply(me(), &action, chance, &mut events).unwrap();
    events
}

fn play(game: &mut Ivory, chance: &mut RefereeChance, from: Source, to: Target) {
    act(game, chance, IvoryAction::Play { from, to });
}

fn may(game: &Ivory, from: Source, to: Target) -> bool {
    game.check(me(), &IvoryAction::Play { from, to }).is_ok()
}

/// "Deck": the table of the page.
#[test]
fn every_suit_stands_once_at_every_rank() {
    assert_eq!(cards::all().count(), 36);
    for rank in 1..=cards::CROWN {
        for suit in cards::Suit::ALL {
            let of_both = |card: &Face| cards::rank(*card) == rank && cards::has(*card, suit);
            assert_eq!(cards::all().filter(of_both).count(), 1, "{rank} {suit:?}");
        }
    }
    let names: BTreeSet<String> = cards::all().map(cards::name).collect();
    assert_eq!(names.len(), 36);
    assert_eq!(cards::name(Face(36)), "");
    assert_eq!(cards::name(Face(255)), "");
    assert!(cards::has(card("pact"), cards::Suit::Suns));
    assert_eq!(cards::rank(card("pact")), 9);
    assert_eq!(cards::rank(card("author")), 2);
    assert_eq!(cards::rank(card("crown-knots")), 10);
}

/// "Setup": the three cards go one after another, so the third lies on top; "View".
#[test]
fn three_are_turned_and_only_the_top_one_is_seen() {
    let (game, chance) = dealt(&["author", "pact", "mill", "cave"]);
    let seen = game.view(Some(me()), chance.dealt_to(me()));
    assert_eq!(seen["draw"], json!([null, null, "mill"]));
    assert_eq!(seen["deck"], json!(vec![Value::Null; 33]));
    let all = game.view(None, chance.faces());
    assert_eq!(all["draw"], json!(["author", "pact", "mill"]));
    assert_eq!(all["deck"][0], "cave");
    let keys: Vec<&String> = all.as_object().unwrap().keys().collect();
    let page = ["game", "deck", "draw", "piles", "tower", "recycles", "over", "won", "score"];
    assert_eq!(keys, page);
    assert!(matches!(game.draw[0], Slot::Sealed(_)), "what is covered stays sealed");
}

/// "Only the top card of the draw pile is available; when it is played the card under it is."
#[test]
fn playing_uncovers_the_next_card() {
    let (mut game, mut chance) = dealt(&["pact", "ace-suns", "crown-moons"]);
    play(&mut game, &mut chance, Source::Draw, Target::New);
    assert_eq!(game.top(), Some(card("ace-suns")));
    play(&mut game, &mut chance, Source::Draw, Target::Tower);
    assert_eq!(game.top(), Some(card("pact")));
    assert_eq!(game.score(), 1);
    // It shares moons with the Crown.
    assert!(!may(&game, Source::Draw, Target::Pile(0)));
}

/// "Turn": recycling, and up to three cards, as many as there are.
#[test]
fn the_draw_pile_is_turned_over_when_the_deck_is_empty() {
    let (mut game, mut chance) = dealt(&["crown-moons", "author", "pact"]);
    for _ in 0..11 {
        act(&mut game, &mut chance, IvoryAction::Turn);
    }
    assert_eq!((game.deck.len(), game.draw.len(), game.recycles), (0, 36, 0));
    let events = act(&mut game, &mut chance, IvoryAction::Turn);
    assert_eq!(events[0], IvoryEvent::Recycled { recycles: 1 });
    assert_eq!((game.deck.len(), game.draw.len()), (33, 3));
    assert_eq!(game.top(), Some(card("pact")));
    // Cards in the deck are hidden in the view, even if seen before.
    let seen = game.view(Some(me()), chance.dealt_to(me()));
    assert_eq!(seen["deck"], json!(vec![Value::Null; 33]));
    // With fewer than three cards left, all of them are turned.
    game.deck.truncate(2);
    act(&mut game, &mut chance, IvoryAction::Turn);
    assert_eq!((game.deck.len(), game.draw.len()), (0, 5));
}

/// "Legal unless deck and draw pile are both empty"; ▸ always allowed otherwise.
#[test]
fn turning_needs_a_card() {
    let (mut game, _) = dealt(&["author", "pact", "ace-suns"]);
    assert!(may(&game, Source::Draw, Target::Tower));
    assert_eq!(game.check(me(), &IvoryAction::Turn), Ok(()));
    game.deck.clear();
    assert_eq!(game.check(me(), &IvoryAction::Turn), Ok(()));
    game.draw.clear();
    assert!(matches!(game.check(me(), &IvoryAction::Turn), Err(Illegal::Rule(_))));
}

/// "To the tower": an Ace fixes the suit; then that suit follows, exactly one rank above.
#[test]
fn the_tower_takes_the_next_rank_of_its_suit() {
    let (mut game, mut chance) = dealt(&["origin", "author", "ace-knots"]);
    assert!(!may(&game, Source::Draw, Target::New));
    play(&mut game, &mut chance, Source::Draw, Target::Tower);
    assert!(may(&game, Source::Draw, Target::Tower));
    play(&mut game, &mut chance, Source::Draw, Target::Tower);
    assert_eq!(game.score(), 2);
    assert!(!may(&game, Source::Draw, Target::Tower));
    // The suit is the Ace's, not the top card's other suit.
    game.draw.push(Slot::Open(card("journey")));
    assert!(!may(&game, Source::Draw, Target::Tower));
    game.draw.push(Slot::Open(card("painter")));
    assert!(may(&game, Source::Draw, Target::Tower));
    game.draw.push(Slot::Open(card("ace-suns")));
    assert!(!may(&game, Source::Draw, Target::Tower));
}

/// "To a pile": one rank below, no suit shared; ▸ an Ace may go on a 2.
#[test]
fn piles_go_down_without_a_common_suit() {
    let (mut game, _) = dealt(&[]);
    game.piles = vec![vec![card("crown-knots")], vec![card("crown-suns"), card("author")]];
    let top = |game: &mut Ivory, name: &str| game.draw.push(Slot::Open(card(name)));
    top(&mut game, "pact");
    assert!(may(&game, Source::Draw, Target::Pile(0)));
    top(&mut game, "merchant");
    assert!(!may(&game, Source::Draw, Target::Pile(0)), "it shares knots");
    top(&mut game, "mill");
    assert!(!may(&game, Source::Draw, Target::Pile(0)), "two ranks below");
    top(&mut game, "ace-suns");
    assert!(may(&game, Source::Draw, Target::Pile(1)));
    top(&mut game, "ace-moons");
    assert!(!may(&game, Source::Draw, Target::Pile(1)));
    assert!(!may(&game, Source::Draw, Target::Pile(2)));
    assert!(!may(&game, Source::Pile(7), Target::Tower));
}

/// "To `new`": a Crown from the draw pile, fewer than three piles. ▸ A Crown alone goes to the tower,
/// not to a new pile; its pile then disappears and later piles move up.
#[test]
fn crowns_begin_piles_and_end_the_tower() {
    let (mut game, mut chance) = dealt(&[]);
    game.draw.push(Slot::Open(card("crown-suns")));
    game.piles = vec![vec![card("crown-moons")], vec![card("crown-leaves"), card("pact")]];
    assert!(may(&game, Source::Draw, Target::New));
    assert!(!may(&game, Source::Pile(0), Target::New));
    assert!(!may(&game, Source::Pile(0), Target::Tower));
    game.tower = ["ace-moons", "author", "journey", "mountain"].map(card).to_vec();
    game.tower.extend(["forest", "lunatic", "meeting", "diplomat"].map(card));
    play(&mut game, &mut chance, Source::Pile(1), Target::Tower);
    assert_eq!((game.score(), game.over), (9, false));
    play(&mut game, &mut chance, Source::Pile(0), Target::Tower);
    assert!(game.over && game.is_won());
    assert_eq!(game.piles, [vec![card("crown-leaves")]]);
    assert_eq!(game.winners().iter().collect::<Vec<_>>(), [me()]);
    assert_eq!(game.scores(), [10]);
    assert!(!game.has_left(me()));
    let refused = game.apply(me(), &IvoryAction::Turn, &mut chance, &mut Vec::new());
    assert_eq!(refused, Err(ApplyError::Illegal(Illegal::Over)));
}

#[test]
fn three_piles_are_the_most() {
    let (mut game, _) = dealt(&["author", "pact", "crown-suns"]);
    game.piles = ["crown-moons", "crown-waves", "crown-knots"].map(|name| vec![card(name)]).to_vec();
    assert!(!may(&game, Source::Draw, Target::New));
}

/// "End": `forfeit` is the same as `resign`; nobody wins.
#[test]
fn resigning_ends_the_game() {
    let (game, mut chance) = dealt(&["author", "pact", "ace-suns"]);
    let mut resigned = game.clone();
    act(&mut resigned, &mut chance, IvoryAction::Resign);
    let mut left = game;
    left.forfeit(me(), &mut chance, &mut Vec::new()).unwrap();
    assert_eq!(resigned, left);
    assert!(left.over && left.winners().is_empty() && left.has_left(me()));
    assert_eq!(left.legal(me(), &Faces::new()), []);
}

#[test]
fn the_deal_of_a_day_is_the_referees_from_its_seed() {
    let day = [("daily".to_owned(), "2026-11-21".to_owned())].into();
    let mut game = Ivory::create(&rule_set("ivory-tower", 1, &day).unwrap()).unwrap();
    game.begin(&mut RefereeChance::default(), &mut Vec::new()).unwrap();
    let rules = rule_set("ivory-tower", 1, &Default::default()).unwrap();
    let mut other = Ivory::create(&rules).unwrap();
    let mut chance = RefereeChance::from_seed(daily::seed("2026-11-21", daily::number("2026-11-21")));
    other.begin(&mut chance, &mut Vec::new()).unwrap();
    let all = Faces::new();
    assert_eq!(game.view(None, &all), other.view(None, chance.faces()));
    let seen = game.view(Some(me()), &all);
    assert_eq!(seen["deck"], json!(vec![Value::Null; 33]));
}

#[test]
fn actions_are_read_strictly() {
    for bad in [
        json!({"type": "play", "from": "draw"}),
        json!({"type": "play", "from": "draw", "to": "pile-00"}),
        json!({"type": "play", "from": "draw", "to": "pile-+1"}),
        json!({"type": "play", "from": "draw", "to": "pile--1"}),
        json!({"type": "play", "from": "new", "to": "tower"}),
        json!({"type": "play", "from": "tower", "to": "draw"}),
        json!({"type": "turn", "by": 3}),
        json!({"type": "pass"}),
        json!({}),
    ] {
        assert!(IvoryAction::from_json(&bad).is_err(), "{bad}");
    }
    let good = json!({"type": "play", "from": "pile-2", "to": "tower"});
    assert_eq!(IvoryAction::from_json(&good).unwrap().to_json(), good);
}

/// No card is lost or duplicated, whatever is played.
#[test]
fn all_36_cards_are_somewhere_in_a_thousand_games() {
    use rand_core::SeedableRng as _;
    let mut rng = rand_chacha::ChaCha20Rng::from_seed([3; 32]);
    let rules = rule_set("ivory-tower", 1, &Default::default()).unwrap();
    for number in 0..1000_u32 {
        let mut seed = [0; 32];
        seed[..4].copy_from_slice(&number.to_le_bytes());
        let mut chance = RefereeChance::from_seed(seed);
        let mut game = Ivory::create(&rules).unwrap();
        game.begin(&mut chance, &mut Vec::new()).unwrap();
        for _ in 0..60 {
            let legal = game.legal(me(), &Faces::new());
            let Some(last) = u32::try_from(legal.len()).unwrap().checked_sub(1) else {
                break;
            };
            // Resigning, the last action, is left out.
            let chosen = fairdeal_protocol::game::uniform(&mut rng, last.max(1));
            act(&mut game, &mut chance, legal[chosen as usize]);
        }
        let mut all: Vec<Face> =
            game.deck.iter().chain(&game.draw).map(|slot| slot.face(chance.faces()).unwrap()).collect();
        all.extend(game.piles.iter().flatten().chain(&game.tower));
        all.sort_unstable();
        assert_eq!(all, cards::all().collect::<Vec<_>>());
    }
}
