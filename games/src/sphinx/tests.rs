//! The rules page of Sphinx's Paw, rule by rule.
//!
//! Over 600 lines: a test for each rule of the page, in its order.

use std::collections::BTreeMap;

use fairdeal_protocol::card::{Face, Faces, Slot};
use fairdeal_protocol::game::{ApplyError, Game as _, uniform};
use fairdeal_protocol::seat::Seat;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;
use serde_json::json;

use super::board::{Pylon, Square, central};
use super::{Phase, Sphinx, SphinxAction, Status, cards};
use crate::chance::{RefereeChance, Stop};
use crate::interface::TableGame as _;
use crate::pyramid::Size;
use crate::registry::rule_set;

fn seat(number: usize) -> Seat {
    Seat::new(number).unwrap()
}

fn sq(name: &str) -> Square {
    Square::by_name(name).unwrap()
}

fn card(name: &str) -> Face {
    (0..52).map(Face).find(|card| cards::name(*card) == name).unwrap()
}

fn numbers(names: &[&str], all: Vec<Face>) -> Vec<u32> {
    let mut order: Vec<Face> = names.iter().map(|name| card(name)).collect();
    let rest: Vec<Face> = all.into_iter().filter(|card| !order.contains(card)).collect();
    order.extend(rest);
    order.into_iter().map(|card| u32::from(card.0)).collect()
}

/// A table whose seats 0 to n−1 hold the Jacks of spades, hearts, diamonds, clubs. The packs begin
/// with these cards, seat 0 has the highest cut, and these dice are rolled.
fn table(seats: u8, option: &str, packs: &[&str], rolls: &[u32]) -> (Sphinx, RefereeChance) {
    let given = BTreeMap::from([("magician".to_owned(), option.to_owned())]);
    let rules = rule_set("sphinxs-paw", seats, &given).unwrap();
    let mut chance = RefereeChance::default();
    let lists = [
        numbers(&["JS", "JH", "JD", "JC"], cards::of_ranks(&[11])),
        numbers(packs, cards::of_ranks(&[1, 2, 3, 13])),
        numbers(&["QS", "QH", "QD", "QC"], cards::of_ranks(&[4, 5, 6, 7, 8, 9, 10, 12])),
    ];
    chance.add(lists, rolls.iter().copied());
    let mut game = Sphinx::create(&rules).unwrap();
    game.begin(&mut chance, &mut Vec::new()).unwrap();
    (game, chance)
}

fn duel(packs: &[&str], rolls: &[u32]) -> (Sphinx, RefereeChance) {
    table(2, "king", packs, rolls)
}

fn act(game: &mut Sphinx, chance: &mut RefereeChance, who: usize, action: SphinxAction) {
    game.apply(seat(who), &action, chance, &mut Vec::new()).unwrap();
}

fn may(game: &Sphinx, who: usize, action: SphinxAction) -> bool {
    game.check(seat(who), &action).is_ok()
}

fn place(to: &str) -> SphinxAction {
    SphinxAction::Place { to: sq(to) }
}

fn go(to: &str) -> SphinxAction {
    SphinxAction::Magician { to: sq(to) }
}

fn bring(size: Size, at: &str) -> SphinxAction {
    SphinxAction::Introduce { size, at: sq(at) }
}

fn walk(size: Size, from: &str, to: &str) -> SphinxAction {
    SphinxAction::Monster { size, from: sq(from), to: sq(to) }
}

fn put(game: &mut Sphinx, size: Size, squares: &[&str]) {
    for square in squares {
        game.enter(size, sq(square));
    }
}

/// "Board".
#[test]
fn squares_and_pylons() {
    assert_eq!(Square::all().count(), 64);
    assert!(Square::all().all(|square| Square::by_name(&square.name()) == Some(square)));
    for bad in ["", "a", "a0", "a9", "i1", "A1", "a1 ", "aa"] {
        assert_eq!(Square::by_name(bad), None, "{bad}");
    }
    let pylons: Vec<String> = Pylon::ALL.into_iter().flat_map(Pylon::squares).map(Square::name).collect();
    assert_eq!(pylons, ["d8", "e8", "h4", "h5", "d1", "e1", "a4", "a5"]);
    assert_eq!(sq("a1").around().count(), 3);
    assert_eq!(sq("a3").around().count(), 5);
    assert_eq!(sq("d4").around().count(), 8);
    assert_eq!(central().count(), 4);
}

/// "Setup": packs of four from the top for north, east, south, west. The highest cut goes first, by
/// rank and then by suit; "View".
#[test]
fn the_table_is_set_up() {
    let (game, chance) = table(3, "king", &["KS", "AS", "2H", "3C", "KH"], &[]);
    let view = game.view(None, chance.faces());
    assert_eq!(view["jacks"], json!(["JS", "JH", "JD"]));
    assert_eq!(view["cuts"], json!(["QS", "QH", "QD"]));
    assert_eq!(view["pylons"]["north"]["pack"], json!(["KS", "AS", "2H", "3C"]));
    assert_eq!(view["pylons"]["east"]["pack"][0], "KH");
    assert_eq!(view["to_act"], 0);
    assert_eq!(view["supply"], json!({"small": 3, "medium": 6, "large": 6}));
    assert_eq!(view["phase"], "magician");
    assert_eq!((view["roll"].clone(), view["points"].clone()), (json!(null), json!(0)));
    let seen = game.view(Some(seat(1)), chance.dealt_to(seat(1)));
    assert_eq!(seen["pylons"]["north"]["pack"], json!([null, null, null, null]));
    let keys: Vec<&String> = view.as_object().unwrap().keys().collect();
    let page = [
        "game",
        "to_act",
        "phase",
        "roll",
        "points",
        "moved",
        "jacks",
        "cuts",
        "status",
        "votes",
        "magicians",
        "monsters",
        "supply",
        "pylons",
        "forfeited",
        "over",
    ];
    assert_eq!(keys, page);
    assert!(cards::cut_order(card("QC")) > cards::cut_order(card("10S")));
    assert!(cards::cut_order(card("7H")) > cards::cut_order(card("7D")));
}

/// "Magician": placed on a central square without Monsters, which is forced if one is free. It moves
/// one square in any direction. Magicians may share a square; ▸ play passes to the right.
#[test]
fn magicians_step() {
    let (mut game, mut chance) = table(3, "king", &[], &[1, 1, 1, 1]);
    assert!(!may(&game, 0, SphinxAction::Stay), "it must be placed");
    assert!(!may(&game, 0, place("d3")));
    assert!(!may(&game, 0, go("d5")));
    act(&mut game, &mut chance, 0, place("d4"));
    assert_eq!((game.phase, game.roll, game.points), (Phase::Monsters, Some(1), 1));
    act(&mut game, &mut chance, 0, SphinxAction::End);
    assert_eq!(game.turn(), Some(seat(2)), "to the right of 0 sits 2");
    act(&mut game, &mut chance, 2, place("d4"));
    act(&mut game, &mut chance, 2, SphinxAction::End);
    act(&mut game, &mut chance, 1, place("e5"));
    act(&mut game, &mut chance, 1, SphinxAction::End);
    put(&mut game, Size::Small, &["c3"]);
    assert!(!may(&game, 0, place("e5")), "it is on the board");
    assert!(!may(&game, 0, go("c3")), "a Monster stands there");
    assert!(!may(&game, 0, go("d6")) && !may(&game, 0, go("d4")));
    assert!(may(&game, 0, go("e5")), "Magicians may share");
    assert!(may(&game, 0, go("d3")) && may(&game, 0, SphinxAction::Stay));
}

/// "Options": `diagonal`.
#[test]
fn magicians_may_go_diagonally_alone() {
    let (mut game, mut chance) = table(2, "diagonal", &[], &[1, 1]);
    act(&mut game, &mut chance, 0, place("d4"));
    act(&mut game, &mut chance, 0, SphinxAction::End);
    act(&mut game, &mut chance, 1, place("e4"));
    act(&mut game, &mut chance, 1, SphinxAction::End);
    assert!(!may(&game, 0, go("d5")));
    assert!(may(&game, 0, go("e5")) && may(&game, 0, SphinxAction::Stay));
}

/// "If none is free the step is skipped". "Where step 1 needs no decision the die is rolled … within
/// the request that ended the turn before". A missing roll therefore fails that request.
#[test]
fn without_a_free_square_the_die_is_rolled_at_once() {
    let (mut game, mut chance) = duel(&[], &[1]);
    act(&mut game, &mut chance, 0, place("d4"));
    put(&mut game, Size::Large, &["e4", "d5", "e5"]);
    assert_eq!(game.places(), [sq("d4")], "a Magician does not keep another out");
    game.magicians[0] = Some(sq("c4"));
    put(&mut game, Size::Medium, &["d4"]);
    let end = SphinxAction::End;
    let before = game.clone();
    let refused = chance.attempt(&mut game, |game, chance| game.apply(seat(0), &end, chance, &mut Vec::new()));
    assert!(refused.is_err());
    assert!(matches!(chance.stop(), Some(Stop::Exhausted(need)) if need.is_roll()));
    assert_eq!(game, before);
    chance.add([], [6]);
    act(&mut game, &mut chance, 0, end);
    assert_eq!((game.turn(), game.phase, game.points), (Some(seat(1)), Phase::Monsters, 6));
}

fn at_north(packs: &[&str], rolls: &[u32]) -> (Sphinx, RefereeChance) {
    let (mut game, chance) = duel(packs, rolls);
    game.magicians = vec![Some(sq("d7")), Some(sq("a1"))];
    (game, chance)
}

/// "Pylon": Ace, 2, 3 bring a Monster of as many pips onto the other square.
#[test]
fn a_low_card_brings_a_monster() {
    let (mut game, mut chance) = at_north(&["3S"], &[2]);
    act(&mut game, &mut chance, 0, go("d8"));
    assert_eq!(game.turned(Pylon::North), [card("3S")]);
    assert_eq!(game.monsters_on(sq("e8")), [0, 0, 1]);
    assert_eq!(game.supply, [2, 4, 3]);
    assert_eq!(game.pack(Pylon::North).len(), 3);
    // ▸ None if that size is used up, or a Magician stands there.
    let (mut game, mut chance) = at_north(&["3S"], &[2]);
    game.supply = [2, 4, 0];
    act(&mut game, &mut chance, 0, go("d8"));
    assert!(game.monsters.is_empty());
    let (mut game, mut chance) = at_north(&["AH"], &[2]);
    game.magicians[1] = Some(sq("e8"));
    act(&mut game, &mut chance, 0, go("d8"));
    assert!(game.monsters.is_empty());
    assert_eq!(game.turned(Pylon::North), [card("AH")]);
}

/// Staying on a Pylon also turns a card; an empty pack gives none.
#[test]
fn staying_turns_a_card_too() {
    let (mut game, mut chance) = at_north(&["AS"], &[2, 2]);
    game.magicians[0] = Some(sq("e8"));
    act(&mut game, &mut chance, 0, SphinxAction::Stay);
    assert_eq!(game.monsters_on(sq("d8")), [1, 0, 0]);
    game.phase = Phase::Magician;
    game.packs[0].clear();
    act(&mut game, &mut chance, 0, SphinxAction::Stay);
    assert_eq!(game.turned(Pylon::North).len(), 1);
}

/// "A King that is not of the suit of the seat's Jack: shown, and put at the bottom of that pack". It
/// stays known and comes up again.
#[test]
fn another_king_goes_under_the_pack_and_stays_known() {
    let (mut game, mut chance) = at_north(&["KH", "KD", "AS", "2S"], &[1, 1, 1, 1, 1]);
    act(&mut game, &mut chance, 0, go("d8"));
    assert_eq!(game.pack(Pylon::North)[0], Slot::Open(card("KH")));
    let seen = game.view(Some(seat(1)), &Faces::new());
    assert_eq!(seen["pylons"]["north"]["pack"], json!([null, null, null, "KH"]));
    assert_eq!(seen["pylons"]["north"]["turned"], json!([]));
    for _ in 0..4 {
        game.phase = Phase::Magician;
        act(&mut game, &mut chance, 0, SphinxAction::Stay);
    }
    let seen = game.view(Some(seat(1)), &Faces::new());
    assert_eq!(seen["pylons"]["north"]["pack"], json!(["KD", "KH"]));
    assert_eq!(seen["pylons"]["north"]["turned"], json!(["AS", "2S"]));
}

/// "The King of the seat's Jack": the seat wins, and the King lies beside the Pylon. The die is still
/// rolled while another seat plays.
#[test]
fn the_own_king_wins() {
    let (mut game, mut chance) = at_north(&["KS"], &[5, 3]);
    act(&mut game, &mut chance, 0, SphinxAction::Vote { end: true });
    act(&mut game, &mut chance, 0, go("e8"));
    assert_eq!(game.status(seat(0)), Status::Won);
    assert_eq!(game.magician(seat(0)), None);
    assert_eq!(game.turned(Pylon::North), [card("KS")]);
    assert_eq!((game.roll, game.over), (Some(5), false));
    assert!(!game.votes.contains(seat(0)), "a vote of a seat that no longer plays is false");
    assert!(!may(&game, 0, SphinxAction::Vote { end: true }));
    assert_eq!(game.scores(), [1, 0]);
    assert!(game.winners().is_empty(), "not before the end");
    act(&mut game, &mut chance, 0, SphinxAction::End);
    act(&mut game, &mut chance, 1, SphinxAction::Stay);
    act(&mut game, &mut chance, 1, SphinxAction::Vote { end: true });
    assert!(game.over);
    assert_eq!(game.winners().iter().collect::<Vec<_>>(), [seat(0)]);
    assert_eq!(game.status(seat(1)), Status::Playing, "neither won nor lost");
    assert_eq!(game.view(None, chance.faces())["to_act"], json!(null));
}

/// "End": "no die is rolled then".
#[test]
fn the_last_to_win_ends_the_game_without_a_die() {
    let (mut game, mut chance) = at_north(&["KS"], &[]);
    game.settle(seat(1), Status::Lost);
    act(&mut game, &mut chance, 0, go("d8"));
    assert!(game.over);
    assert_eq!((game.roll, game.phase), (None, Phase::Magician));
    let refused = game.apply(seat(0), &SphinxAction::End, &mut chance, &mut Vec::new());
    assert!(matches!(refused, Err(ApplyError::Illegal(_))));
}

/// "A seat that has won or lost still takes steps 3 to 5."
#[test]
fn finished_player_still_moves_monsters() {
    let (mut game, mut chance) = duel(&[], &[1, 4]);
    game.settle(seat(1), Status::Lost);
    act(&mut game, &mut chance, 0, place("d4"));
    act(&mut game, &mut chance, 0, SphinxAction::End);
    assert_eq!((game.turn(), game.phase, game.roll), (Some(seat(1)), Phase::Monsters, Some(4)));
    assert!(may(&game, 1, bring(Size::Large, "e5")));
}

/// ▸ "If every Monster is on the board (supply empty) 4, 5, 6 count as 1, 2, 3"; `roll` is the die as
/// rolled.
#[test]
fn high_dice_count_less_without_a_supply() {
    for (roll, points) in [(1, 1), (3, 3), (4, 1), (5, 2), (6, 3)] {
        let (mut game, mut chance) = duel(&[], &[roll]);
        game.supply = [0; 3];
        act(&mut game, &mut chance, 0, place("d4"));
        assert_eq!((game.roll.map(u32::from), game.points), (Some(roll), points));
    }
    let (mut game, mut chance) = duel(&[], &[6]);
    game.supply = [0, 1, 0];
    act(&mut game, &mut chance, 0, place("d4"));
    assert_eq!(game.points, 6);
}

/// "Introduce": costs its pips; on a central square, or a Pylon's with a spade, never on a
/// Magician; ▸ none after the first move.
#[test]
fn monsters_are_brought() {
    let (mut game, mut chance) = duel(&[], &[6]);
    act(&mut game, &mut chance, 0, place("d4"));
    assert!(!may(&game, 0, bring(Size::Small, "d4")));
    assert!(!may(&game, 0, bring(Size::Small, "d3")));
    assert!(!may(&game, 0, bring(Size::Small, "d8")));
    game.turned[0] = vec![card("AH")];
    assert!(!may(&game, 0, bring(Size::Small, "d8")));
    game.turned[0].push(card("2S"));
    assert!(may(&game, 0, bring(Size::Small, "d8")) && may(&game, 0, bring(Size::Small, "e8")));
    assert!(!may(&game, 0, bring(Size::Small, "d1")));
    act(&mut game, &mut chance, 0, bring(Size::Large, "e5"));
    act(&mut game, &mut chance, 0, bring(Size::Medium, "e5"));
    assert_eq!(game.points, 1);
    assert!(!may(&game, 0, bring(Size::Medium, "e5")), "it costs two");
    act(&mut game, &mut chance, 0, bring(Size::Small, "e8"));
    assert_eq!((game.points, game.supply), (0, [1, 3, 3]));
    assert!(!may(&game, 0, walk(Size::Small, "e8", "e7")), "no points");
    game.points = 3;
    act(&mut game, &mut chance, 0, walk(Size::Small, "e8", "e7"));
    assert!(game.moved);
    assert!(!may(&game, 0, bring(Size::Small, "e5")));
    game.moved = false;
    game.supply[0] = 0;
    assert!(!may(&game, 0, bring(Size::Small, "e5")), "none is left");
}

/// "Move": 1 to its pips steps, orthogonal, changing direction freely. It may pass Monsters, but
/// never a Magician's or a Pylon's square. It may leave a Pylon; ▸ it ends on another square.
#[test]
fn monsters_move() {
    let (mut game, mut chance) = duel(&[], &[6]);
    act(&mut game, &mut chance, 0, place("d4"));
    put(&mut game, Size::Large, &["e8", "b1"]);
    put(&mut game, Size::Small, &["b2", "e7"]);
    assert!(may(&game, 0, walk(Size::Large, "b1", "b4")), "through a Monster");
    assert!(may(&game, 0, walk(Size::Large, "b1", "c3")), "round a corner");
    assert!(may(&game, 0, walk(Size::Large, "b1", "b2")), "onto a Monster");
    assert!(!may(&game, 0, walk(Size::Large, "b1", "b1")));
    assert!(!may(&game, 0, walk(Size::Large, "b1", "b5")));
    assert!(!may(&game, 0, walk(Size::Large, "b1", "e1")), "a Pylon");
    assert!(!may(&game, 0, walk(Size::Small, "b1", "c1")), "no small one there");
    assert!(!may(&game, 0, walk(Size::Small, "b2", "b4")), "two steps");
    assert!(!may(&game, 0, walk(Size::Small, "b2", "c3")), "not diagonally");
    assert!(may(&game, 0, walk(Size::Large, "e8", "f8")), "it may leave a Pylon");
    assert!(!may(&game, 0, walk(Size::Large, "e8", "d8")));
    assert!(!may(&game, 0, walk(Size::Large, "e8", "c8")), "not through the Pylon");
    put(&mut game, Size::Medium, &["d5"]);
    assert!(!may(&game, 0, walk(Size::Medium, "d5", "d3")), "not through a Magician");
    assert!(!may(&game, 0, walk(Size::Medium, "d5", "d4")));
    act(&mut game, &mut chance, 0, walk(Size::Small, "b2", "b1"));
    assert_eq!(game.monsters_on(sq("b1")), [1, 0, 1]);
    assert!(!game.monsters.contains_key(&sq("b2")));
    assert_eq!(game.points, 5);
}

/// "Losing" ▸: Monsters on every square around it on the board, unless it stands on a Pylon; at
/// once.
#[test]
fn a_surrounded_magician_is_lost_at_once() {
    let (mut game, mut chance) = table(3, "king", &[], &[6]);
    act(&mut game, &mut chance, 0, place("d4"));
    game.magicians[1] = Some(sq("a1"));
    game.magicians[2] = Some(sq("a5"));
    put(&mut game, Size::Small, &["a2", "b2", "a6", "b4", "b5", "b6", "c1"]);
    put(&mut game, Size::Medium, &["a4"]);
    game.look_for_losers(&mut Vec::new());
    assert_eq!(game.status(seat(2)), Status::Playing, "a Pylon protects");
    assert_eq!(game.status(seat(1)), Status::Playing);
    act(&mut game, &mut chance, 0, walk(Size::Small, "c1", "b1"));
    assert_eq!(game.status(seat(1)), Status::Lost);
    assert_eq!(game.magician(seat(1)), None);
    assert!(!game.over);
}

/// Voting: only by playing seats, only changes. All of them together end the game; a loss recounts
/// the votes.
#[test]
fn unanimous_votes_end_the_game() {
    let (mut game, mut chance) = table(3, "king", &[], &[]);
    assert!(!may(&game, 0, SphinxAction::Vote { end: false }));
    act(&mut game, &mut chance, 1, SphinxAction::Vote { end: true });
    assert!(!may(&game, 1, SphinxAction::Vote { end: true }));
    act(&mut game, &mut chance, 2, SphinxAction::Vote { end: true });
    act(&mut game, &mut chance, 2, SphinxAction::Vote { end: false });
    game.forfeit(seat(2), &mut chance, &mut Vec::new()).unwrap();
    assert!(!game.over);
    game.forfeit(seat(0), &mut chance, &mut Vec::new()).unwrap();
    assert!(game.over, "seat 1 alone still plays and wants the end");
    assert_eq!(game.status(seat(1)), Status::Playing);
    assert!(game.winners().is_empty());
}

/// "Forfeit": the seat loses, or keeps its win. Its turn passes, with the die if the next seat has
/// no decision.
#[test]
fn leaver_loses_unless_it_has_won() {
    let (mut game, mut chance) = table(4, "king", &[], &[3, 2]);
    game.settle(seat(3), Status::Won);
    act(&mut game, &mut chance, 0, place("d4"));
    act(&mut game, &mut chance, 0, bring(Size::Small, "e4"));
    game.forfeit(seat(0), &mut chance, &mut Vec::new()).unwrap();
    assert_eq!((game.turn(), game.roll, game.points), (Some(seat(3)), Some(2), 2));
    assert_eq!(game.status(seat(0)), Status::Lost);
    assert_eq!(game.magician(seat(0)), None);
    assert_eq!(game.legal(seat(0), &Faces::new()), []);
    game.forfeit(seat(3), &mut chance, &mut Vec::new()).unwrap();
    assert_eq!((game.turn(), game.phase), (Some(seat(2)), Phase::Magician));
    game.forfeit(seat(1), &mut chance, &mut Vec::new()).unwrap();
    assert!(!game.over);
    game.forfeit(seat(2), &mut chance, &mut Vec::new()).unwrap();
    assert!(game.over);
    assert_eq!(game.winners().iter().collect::<Vec<_>>(), [seat(3)]);
}

#[test]
fn actions_are_read_strictly() {
    for bad in [
        json!({"type": "place", "to": "d9"}),
        json!({"type": "place"}),
        json!({"type": "place", "to": "d4", "from": "d5"}),
        json!({"type": "stay", "to": "d4"}),
        json!({"type": "introduce", "size": "huge", "at": "d4"}),
        json!({"type": "introduce", "size": 1, "at": "d4"}),
        json!({"type": "monster", "size": "small", "from": "d4"}),
        json!({"type": "vote", "end": null}),
        json!({"type": "pass"}),
    ] {
        assert!(SphinxAction::from_json(&bad).is_err(), "{bad}");
    }
}

/// A thousand games of random play in which seats leave: all cards and Monsters are accounted for.
#[test]
fn nothing_is_lost_in_a_thousand_games() {
    let mut rng = ChaCha20Rng::from_seed([6; 32]);
    let mut below = |bound: usize| uniform(&mut rng, u32::try_from(bound).unwrap()) as usize;
    let (mut won, mut lost) = (0, 0);
    for number in 0..1000_u32 {
        let seats = 2 + below(3);
        let option = ["king", "diagonal"][below(2)];
        let given = BTreeMap::from([("magician".to_owned(), option.to_owned())]);
        let rules = rule_set("sphinxs-paw", u8::try_from(seats).unwrap(), &given).unwrap();
        let mut seed = [0; 32];
        seed[..4].copy_from_slice(&number.to_le_bytes());
        let mut chance = RefereeChance::from_seed(seed);
        let mut game = Sphinx::create(&rules).unwrap();
        game.begin(&mut chance, &mut Vec::new()).unwrap();
        for step in 0..300 {
            let who = match game.turn() {
                Some(turn) if below(12) > 0 => turn,
                Some(_) => seat(below(seats)),
                None => break,
            };
            let mut legal = game.legal(who, &Faces::new());
            if legal.is_empty() {
                continue;
            }
            let action = legal.swap_remove(below(legal.len()));
            game.apply(who, &action, &mut chance, &mut Vec::new()).unwrap();
            if step % 40 == 39 && below(6) == 0 {
                game.forfeit(seat(below(seats)), &mut chance, &mut Vec::new()).unwrap();
            }
            let on_board = game
                .monsters
                .values()
                .fold([0; 3], |sum, counts| [sum[0] + counts[0], sum[1] + counts[1], sum[2] + counts[2]]);
            for (size, each) in super::MONSTERS.into_iter().enumerate() {
                assert_eq!(usize::from(on_board[size] + game.supply[size]), usize::from(each) * seats);
            }
            let packs: usize = game.packs.iter().map(Vec::len).sum();
            let turned: usize = game.turned.iter().map(Vec::len).sum();
            assert_eq!(packs + turned, 16);
        }
        won += game.status.iter().filter(|status| **status == Status::Won).count();
        lost += game.status.iter().filter(|status| **status == Status::Lost).count();
    }
    assert!(won > 5 && lost > 100, "{won} {lost}");
}
