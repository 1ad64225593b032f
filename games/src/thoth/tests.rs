//! The rules page of Houses of Thoth, rule by rule.
//!
//! Over 600 lines: a test for each rule of the page, in its order.

use std::collections::BTreeMap;

use fairdeal_protocol::card::{DeckId, Face, Faces, Handle, Slot};
use fairdeal_protocol::game::{Game as _, uniform};
use fairdeal_protocol::seat::Seat;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;
use serde_json::{Value, json};

use super::cards::{self, Element};
use super::house::{House, Level, Pyramid};
use super::{Phase, Thoth, ThothAction, ThothEvent, Use};
use crate::chance::RefereeChance;
use crate::interface::TableGame as _;
use crate::pyramid::Size::{self, Large, Medium, Small};
use crate::registry::rule_set;

fn seat(number: usize) -> Seat {
    Seat::new(number).unwrap()
}

fn card(name: &str) -> Face {
    cards::by_name(name).unwrap()
}

/// A game from explicit chance: the deck begins with these cards, and seat `dealer` deals.
struct Set {
    game: Thoth,
    chance: RefereeChance,
}

fn deck(first: &[&str]) -> Vec<u32> {
    let mut deck: Vec<Face> = first.iter().map(|name| card(name)).collect();
    let rest: Vec<Face> = cards::all().filter(|card| !deck.contains(card)).collect();
    deck.extend(rest);
    deck.into_iter().map(|card| u32::from(card.0)).collect()
}

fn set_up(seats: u8, dealer: u32, options: &[(&str, &str)], first: &[&str]) -> Set {
    let given: BTreeMap<String, String> =
        options.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let rules = rule_set("houses-of-thoth", seats, &given).unwrap();
    let mut chance = RefereeChance::default();
    chance.add([deck(first)], [dealer + 1]);
    let mut game = Thoth::create(&rules).unwrap();
    game.begin(&mut chance, &mut Vec::new()).unwrap();
    Set { game, chance }
}

/// Two seats, seat 0 starts; its hand is the given cards plus fillers.
fn duel(hand: &[&str]) -> Set {
    with_hand(&[], hand)
}

fn with_hand(options: &[(&str, &str)], hand: &[&str]) -> Set {
    let mut set = set_up(2, 1, options, &[]);
    set.give(0, hand);
    set
}

impl Set {
    /// Puts open cards into a hand: they are easy to play, and nothing checks where they came from.
    fn give(&mut self, who: usize, hand: &[&str]) {
        self.game.hands[who] = hand.iter().map(|name| Slot::Open(card(name))).collect();
    }

    fn house(&mut self, who: usize, levels: &[(&str, &[(Element, Size)])]) {
        let levels: Vec<Level> = levels
            .iter()
            .map(|(name, pyramids)| Level {
                card: card(name),
                pyramids: pyramids.iter().map(|(element, size)| Pyramid { element: *element, size: *size }).collect(),
            })
            .collect();
        for pyramid in levels.iter().flat_map(|level| &level.pyramids) {
            self.game.bank.give(*pyramid);
        }
        self.game.houses[who].levels = levels;
    }

    fn trouble(&mut self, who: usize, trouble: &[&str]) {
        self.game.houses[who].trouble = trouble.iter().map(|name| card(name)).collect();
    }

    fn play(name: &str, as_: Use) -> ThothAction {
        ThothAction::Play { card: card(name), handle: None, as_ }
    }

    fn may(&self, name: &str, as_: Use) -> bool {
        self.game.check(self.game.turn, &Self::play(name, as_)).is_ok()
    }

    fn act(&mut self, action: ThothAction) -> Vec<ThothEvent> {
        let mut events = Vec::new();
        let who = self.game.to_act().iter().next().unwrap();
        self.game.apply(who, &action, &mut self.chance, &mut events).unwrap();
        events
    }

    fn do_(&mut self, name: &str, as_: Use) -> Vec<ThothEvent> {
        self.act(Self::play(name, as_))
    }

    fn leave(&mut self, who: usize) {
        self.game.forfeit(seat(who), &mut self.chance, &mut Vec::new()).unwrap();
    }

    fn view(&self, who: Option<usize>) -> Value {
        let who = who.map(seat);
        let known = who.map_or(self.chance.faces(), |who| self.chance.dealt_to(who));
        self.game.view(who, known)
    }
}

fn raise(size: Size, count: u8) -> Use {
    Use::Raise { size, count }
}

fn against(target: usize, replace: Option<u8>) -> Use {
    Use::Trouble { target: seat(target), replace }
}

const FIRE4: &[(Element, Size)] = &[(Element::Fire, Small); 4];

/// "Pieces": names, elements and classes.
#[test]
fn the_deck() {
    assert_eq!(cards::all().count(), 78);
    assert!(cards::all().all(|card| cards::by_name(&cards::name(card)) == Some(card)));
    assert_eq!(cards::name(Face(78)), "");
    assert_eq!(cards::name(Face(0)), "fool");
    assert_eq!(cards::name(Face(22)), "ace-wands");
    assert_eq!(cards::name(Face(77)), "king-disks");
    let trumps = || cards::all().filter(|card| cards::is_trump(*card));
    let count = |of: fn(Face) -> bool| trumps().filter(|card| of(*card)).count();
    assert_eq!(trumps().count(), 22);
    assert_eq!(count(|card| cards::elemental(card).is_some()), 4);
    assert_eq!(count(cards::is_planetary), 7);
    assert_eq!(count(|card| cards::zodiacal(card).is_some()), 12);
    for (name, element) in
        [("emperor", Element::Fire), ("lovers", Element::Air), ("moon", Element::Water), ("devil", Element::Earth)]
    {
        assert_eq!(cards::zodiacal(card(name)), Some(element));
    }
    assert_eq!(cards::elemental(card("hanged-man")), Some(Element::Water));
    assert_eq!(cards::suit_element(card("queen-swords")), Some(Element::Air));
}

/// "A hand": five cards each from the dealer's left; that seat starts with a draw; "View".
#[test]
fn a_hand_is_dealt() {
    let order = [
        "fool",
        "magician",
        "priestess",
        "empress",
        "emperor",
        "hierophant",
        "lovers",
        "chariot",
        "strength",
        "hermit",
        "wheel",
        "justice",
        "hanged-man",
        "death",
        "temperance",
        "devil",
    ];
    let set = set_up(3, 0, &[], &order);
    let view = set.view(None);
    assert_eq!(view["dealer"], 0);
    assert_eq!(view["starter"], 1);
    assert_eq!(view["to_act"], json!([1]));
    assert_eq!(view["hands"][1], json!(["fool", "empress", "lovers", "hermit", "hanged-man", "devil"]));
    assert_eq!(view["hands"][2][0], "magician");
    assert_eq!(view["hands"][0][0], "priestess");
    assert_eq!(view["deck"][0], "tower");
    assert_eq!(view["bank"]["spirit"], json!({"small": 5, "medium": 5, "large": 5}));
    let seen = set.view(Some(2));
    assert_eq!(seen["hands"][2][0], "magician");
    assert_eq!(seen["hands"][1], json!([null, null, null, null, null, null]));
    assert_eq!(seen["deck"][0], json!(null));
    let keys: Vec<&String> = view.as_object().unwrap().keys().collect();
    let page = [
        "game",
        "hand_no",
        "dealer",
        "starter",
        "to_act",
        "phase",
        "extra_turns",
        "deck",
        "discard",
        "bank",
        "hands",
        "bids",
        "pool",
        "houses",
        "face_down",
        "totals",
        "forfeited",
        "last_hand",
        "over",
    ];
    assert_eq!(keys, page);
}

/// "foundation": Aces, planetary and elemental trumps, ▸ also the hanged man. An elemental one gives
/// an extra turn, and so does the world.
#[test]
fn foundations() {
    let fit = [
        "ace-wands",
        "ace-cups",
        "ace-swords",
        "ace-disks",
        "fool",
        "magician",
        "priestess",
        "empress",
        "wheel",
        "tower",
        "sun",
        "judgment",
        "world",
        "hanged-man",
    ];
    let all: Vec<String> = cards::all().map(cards::name).collect();
    for name in &all {
        let set = duel(&[name]);
        assert_eq!(set.may(name, Use::Foundation), fit.contains(&name.as_str()), "{name}");
    }
    for (name, extra) in [("hanged-man", true), ("world", true), ("sun", false), ("ace-cups", false)] {
        let mut set = duel(&[name]);
        set.do_(name, Use::Foundation);
        // The extra turn has already begun, so none is left to come.
        assert_eq!((set.game.turn == seat(0), set.game.extra_turns), (extra, 0), "{name}");
    }
    let mut set = duel(&["fool", "sun"]);
    set.do_("fool", Use::Foundation);
    assert!(!set.may("sun", Use::Foundation), "there is one already");
}

/// "raise": values, sizes, corners, the bank, and what the level allows.
#[test]
fn raising() {
    let mut set = duel(&["7-wands", "ace-wands", "10-wands", "king-wands", "7-cups", "sun", "emperor", "fool"]);
    assert!(!set.may("7-wands", raise(Small, 1)), "no Foundation");
    set.house(0, &[("ace-wands", &[])]);
    assert!(set.may("7-wands", raise(Small, 4)) && set.may("7-wands", raise(Medium, 3)));
    assert!(!set.may("7-wands", raise(Medium, 4)) && !set.may("7-wands", raise(Large, 3)));
    assert!(!set.may("7-wands", raise(Small, 0)) && !set.may("10-wands", raise(Small, 5)));
    assert!(set.may("ace-wands", raise(Small, 1)) && !set.may("ace-wands", raise(Medium, 1)));
    assert!(!set.may("king-wands", raise(Small, 1)), "court cards are not redeemed");
    assert!(!set.may("7-cups", raise(Small, 1)), "an Ace takes its own element alone");
    assert!(!set.may("sun", raise(Small, 1)) && !set.may("emperor", raise(Small, 1)));
    set.do_("7-wands", raise(Medium, 3));
    assert_eq!(set.game.discard, [card("7-wands")]);
    assert_eq!(set.game.bank.count(Element::Fire, Medium), 2);
    set.game.turn = seat(0);
    assert!(set.may("10-wands", raise(Medium, 1)), "one corner is free");
    assert!(!set.may("10-wands", raise(Medium, 2)) && !set.may("10-wands", raise(Small, 1)));
    // The bank.
    set.house(1, &[("magician", &[(Element::Fire, Medium), (Element::Fire, Medium)])]);
    assert!(!set.may("10-wands", raise(Medium, 1)));
}

/// "Allowed": by the level's card. Trumps give spirit, worth 12, 7 and 4; three of them give an
/// extra turn.
#[test]
fn levels_limit_pyramids() {
    let allowed = |level: &str| -> Vec<&str> {
        let level = card(level);
        let all = Element::ALL.into_iter().filter(|element| cards::allows(level, *element));
        all.map(Element::name).collect()
    };
    assert_eq!(allowed("ace-cups"), ["water"]);
    assert_eq!(allowed("fool"), ["air"]);
    assert_eq!(allowed("hanged-man"), ["water"]);
    assert_eq!(allowed("judgment"), ["fire"]);
    assert_eq!(allowed("world"), ["earth"]);
    assert_eq!(allowed("sun"), ["spirit", "fire", "water", "air", "earth"]);
    assert_eq!(allowed("queen-swords"), ["water", "air"]);
    assert_eq!(allowed("king-wands"), ["fire"]);
    for (name, value, extra) in [
        ("emperor", 12, false),
        ("sun", 7, false),
        ("world", 7, false),
        ("fool", 4, true),
        ("judgment", 4, true),
        ("hanged-man", 4, true),
    ] {
        assert_eq!(cards::redeemed(card(name)), Some((Element::Spirit, value)), "{name}");
        let mut set = duel(&[name]);
        set.house(0, &[("magician", &[])]);
        set.do_(name, raise(Small, 4));
        assert_eq!(set.game.turn == seat(0), extra, "{name}");
    }
}

/// "story" and "roof": on four pyramids; ▸ a Roof may also go directly above the Foundation.
#[test]
fn stories_and_roofs() {
    let hand = [
        "sun",
        "world",
        "king-wands",
        "king-cups",
        "10-wands",
        "10-cups",
        "9-wands",
        "emperor",
        "death",
        "judgment",
        "fool",
        "ace-wands",
    ];
    let mut set = duel(&hand);
    set.house(0, &[("ace-wands", &[(Element::Fire, Small); 3])]);
    for name in hand {
        assert!(!set.may(name, Use::Story) && !set.may(name, Use::Roof), "{name}: three pyramids");
    }
    set.house(0, &[("ace-wands", FIRE4)]);
    let fitting = |set: &Set, as_: Use| -> Vec<&str> { hand.into_iter().filter(|name| set.may(name, as_)).collect() };
    assert_eq!(fitting(&set, Use::Story), ["sun", "world", "king-wands"]);
    assert_eq!(fitting(&set, Use::Roof), ["10-wands", "emperor"]);
    // "over" an element: one pyramid of it is enough.
    let mixed = [Element::Fire, Element::Air, Element::Air, Element::Air].map(|element| (element, Small));
    set.house(0, &[("sun", &mixed)]);
    assert_eq!(fitting(&set, Use::Story), ["sun", "world", "king-wands"]);
    assert_eq!(fitting(&set, Use::Roof), ["10-wands", "emperor"]);
    set.house(0, &[("sun", &[(Element::Spirit, Small); 4])]);
    assert_eq!(fitting(&set, Use::Story), ["sun", "world"]);
    assert_eq!(fitting(&set, Use::Roof), ["judgment"]);
    set.do_("sun", Use::Story);
    assert_eq!(set.game.houses[0].stories(), 1);
}

/// "Trouble": against another house with a Foundation, two at most; the new card takes the old
/// one's place.
#[test]
fn making_trouble() {
    let mut set = duel(&["emperor", "death", "moon", "sun"]);
    assert!(!set.may("emperor", against(1, None)), "no Foundation");
    set.house(1, &[("ace-cups", &[])]);
    set.house(0, &[("ace-wands", &[])]);
    assert!(set.may("emperor", against(1, None)));
    assert!(!set.may("emperor", against(0, None)), "not against oneself");
    assert!(!set.may("emperor", against(1, Some(0))) && !set.may("sun", against(1, None)));
    assert!(!set.may("emperor", against(4, None)));
    set.trouble(1, &["devil"]);
    assert!(!set.may("emperor", against(1, Some(0))));
    set.trouble(1, &["devil", "star"]);
    assert!(!set.may("emperor", against(1, None)));
    assert!(set.may("emperor", against(1, Some(0))) && !set.may("emperor", against(1, Some(2))));
    set.do_("emperor", against(1, Some(0)));
    assert_eq!(set.game.houses[1].trouble, [card("emperor"), card("star")]);
    assert_eq!(set.game.discard, [card("devil")]);
}

/// "Immune": a bare Story by its suit, ▸ one with pyramids only by those; a Foundation never.
#[test]
fn immunity() {
    let immune = |levels: &[(&str, &[(Element, Size)])]| -> Vec<&str> {
        let mut set = duel(&[]);
        set.house(1, levels);
        Element::ALL.into_iter().filter(|element| set.game.houses[1].is_immune(*element)).map(Element::name).collect()
    };
    assert_eq!(immune(&[]), [""; 0]);
    assert_eq!(immune(&[("ace-wands", FIRE4)]), [""; 0]);
    assert_eq!(immune(&[("ace-wands", FIRE4), ("king-wands", &[])]), ["fire"]);
    assert_eq!(immune(&[("ace-wands", FIRE4), ("sun", &[])]), [""; 0]);
    assert_eq!(immune(&[("ace-wands", FIRE4), ("world", &[])]), [""; 0]);
    let water = &[(Element::Water, Small)][..];
    assert_eq!(immune(&[("magician", FIRE4), ("queen-wands", water)]), ["water"]);
}

/// "A seat in Trouble may only draw and discard, or relieve". ▸ It may not call the end, and a
/// relieving card can only be played as relief.
#[test]
fn in_trouble() {
    let mut set = duel(&["3-wands", "4-cups", "king-wands", "judgment", "sun", "moon"]);
    set.house(0, &[("ace-wands", &[])]);
    set.house(1, &[("ace-cups", &[])]);
    set.trouble(0, &["emperor"]);
    assert!(!set.may("3-wands", raise(Small, 1)) && !set.may("moon", against(1, None)));
    for (name, relieves) in [
        ("3-wands", true),
        ("king-wands", true),
        ("judgment", true),
        ("4-cups", false),
        ("sun", false),
        ("moon", false),
    ] {
        assert_eq!(set.may(name, Use::Relieve), relieves, "{name}");
        assert_eq!(set.may(name, Use::Discard), !relieves, "{name}");
    }
    let legal = set.game.legal(seat(0), &Faces::new());
    assert_eq!(legal.len(), 6, "each card in one way");
}

/// "Both are also allowed in Trouble": demolish and topple, with happenstance. The rulebook says so.
#[test]
fn in_trouble_houses_may_still_fall() {
    let mut set = duel(&["3-wands"]);
    set.house(0, &[("ace-wands", FIRE4)]);
    set.house(1, &[("ace-cups", &[])]);
    set.trouble(0, &["emperor"]);
    for happenstance in [false, true] {
        set.game.happenstance = happenstance;
        let may = |action| set.game.check(seat(0), &action).is_ok();
        assert_eq!(may(ThothAction::Demolish), happenstance);
        assert_eq!(may(ThothAction::Topple { target: seat(1) }), happenstance);
    }
    let rules = include_str!("../../rules/houses-of-thoth.md").replace('\n', " ");
    assert!(rules.contains("With `happenstance` you may also demolish and topple while in Trouble."));
}

/// The house that the rulebook draws could stand: each level takes its pyramids, and each card fits on the level below.
#[test]
fn drawn_house_keeps_the_rules() {
    let rules = include_str!("../../rules/houses-of-thoth.md");
    let drawing = rules.split("```house\n").nth(1).unwrap().split("```").next().unwrap();
    let name = |words: &str| match words.split_once(" of ") {
        Some((rank, suit)) => card(&format!("{rank}-{suit}")),
        None => card(words),
    };
    let lines: Vec<(&str, &str)> = drawing.lines().map(|line| line.split_once(": ").unwrap()).collect();
    let mut below: Option<cards::Elements> = None;
    let mut level = None;
    for (what, words) in lines.into_iter().rev() {
        match what {
            "Foundation" => {
                assert!(below.is_none() && cards::is_foundation(name(words)), "{words}");
                level = Some(name(words));
            }
            "Story" => {
                assert!(cards::fits_as_story(name(words), below.unwrap()), "{words}");
                level = Some(name(words));
            }
            "Roof" => {
                let element = cards::roof_element(name(words)).unwrap();
                assert!(below.unwrap().contains(element), "{words}");
            }
            _ => {
                let pyramids: Vec<Element> = words
                    .split(", ")
                    .flat_map(|part| {
                        let [count, _, element] = part.split(' ').collect::<Vec<_>>()[..] else { panic!("{part}") };
                        let element = Element::ALL.into_iter().find(|one| one.name() == element).unwrap();
                        vec![element; count.parse().unwrap()]
                    })
                    .collect();
                assert_eq!(pyramids.len(), 4, "{words}");
                assert!(pyramids.iter().all(|element| cards::allows(level.unwrap(), *element)), "{words}");
                below = Some(pyramids.into_iter().collect());
            }
        }
    }
    assert!(below.is_some());
}

/// "relieve": all Trouble of the element goes, then the card; 0, 1 or 2 extra turns.
#[test]
fn relieving() {
    for (name, turns) in [("3-wands", 0), ("king-wands", 1), ("judgment", 2)] {
        let mut set = duel(&[name]);
        set.house(0, &[("ace-wands", &[])]);
        set.trouble(0, &["emperor", "strength"]);
        set.do_(name, Use::Relieve);
        assert!(!set.game.houses[0].in_trouble());
        assert_eq!(set.game.discard, [card("emperor"), card("strength"), card(name)]);
        // One of the extra turns has already begun.
        assert_eq!(set.game.turn == seat(0), turns > 0, "{name}");
        assert_eq!(set.game.extra_turns, u32::saturating_sub(turns, 1));
    }
    let mut set = duel(&["3-wands"]);
    set.house(0, &[("ace-wands", &[])]);
    set.trouble(0, &["moon", "emperor"]);
    set.do_("3-wands", Use::Relieve);
    assert_eq!(set.game.houses[0].trouble, [card("moon")]);
}

/// "Extra turns add up; a seat takes them, each with its draw."
#[test]
fn extra_turns_add_up() {
    let mut set = duel(&["judgment", "fool"]);
    set.house(0, &[("magician", &[])]);
    set.trouble(0, &["emperor"]);
    set.do_("judgment", Use::Relieve);
    assert_eq!((set.game.extra_turns, set.game.hands[0].len()), (1, 2));
    set.do_("fool", raise(Small, 1));
    assert_eq!((set.game.extra_turns, set.game.hands[0].len()), (1, 2));
    set.give(0, &["2-cups", "3-cups"]);
    set.do_("2-cups", Use::Discard);
    assert_eq!((set.game.extra_turns, set.game.turn), (0, seat(0)));
    set.give(0, &["3-cups"]);
    set.do_("3-cups", Use::Discard);
    assert_eq!(set.game.turn, seat(1));
}

/// ▸ The discard pile is shuffled when a card is to be drawn; with both empty, none is drawn.
#[test]
fn decks_run_out() {
    let mut set = duel(&["2-cups", "3-cups"]);
    set.game.deck.clear();
    set.game.discard = vec![card("4-cups")];
    set.chance.add([["3-cups", "4-cups", "2-cups"].iter().map(|n| u32::from(card(n).0)).collect()], []);
    // The wrong cards are refused: the pile holds the 4 and the 2.
    let before = set.game.clone();
    let two = Set::play("2-cups", Use::Discard);
    let mut chance = set.chance.clone();
    let refused = chance.attempt(&mut set.game, |game, chance| game.apply(seat(0), &two, chance, &mut Vec::new()));
    assert!(refused.is_err());
    assert_eq!(set.game, before);
    set.chance = RefereeChance::default();
    set.chance.add([vec![u32::from(card("2-cups").0), u32::from(card("4-cups").0)]], []);
    set.do_("2-cups", Use::Discard);
    assert!(set.game.discard.is_empty());
    assert_eq!(set.game.deck.len(), 1);
    // Both piles are empty.
    let mut set = duel(&["fool"]);
    set.game.deck.clear();
    set.do_("fool", Use::Foundation);
    assert_eq!((set.game.turn, set.game.hands[0].len()), (seat(0), 0));
    assert!(set.game.legal(seat(0), &Faces::new()).is_empty() || set.game.over);
}

/// "Calling the end" ▸: only when every seat still in the game is blocked.
#[test]
fn calling_the_end() {
    let end = ThothAction::End { card: Slot::Open(card("10-cups")) };
    let blocked = || {
        let mut set = with_hand(&[("target", "1000")], &["10-cups", "2-cups"]);
        let small = &[(Element::Fire, Small); 2][..];
        set.house(0, &[("ace-wands", small)]);
        set.house(1, &[("judgment", small)]);
        for _ in 0..5 {
            set.game.bank.give(Pyramid { element: Element::Fire, size: Small });
        }
        set
    };
    let may = |set: &Set| set.game.check(seat(0), &end).is_ok();
    assert!(may(&blocked()));
    let mut set = blocked();
    set.game.bank.take_back(Pyramid { element: Element::Fire, size: Small });
    assert!(!may(&set), "one more would fit");
    let mut set = blocked();
    set.game.bank.take_back(Pyramid { element: Element::Fire, size: Large });
    assert!(may(&set), "of another size than the level's");
    let mut set = blocked();
    set.trouble(0, &["moon"]);
    assert!(!may(&set));
    let mut set = blocked();
    set.house(1, &[("judgment", FIRE4)]);
    assert!(!may(&set), "a full level is not blocked");
    let mut set = blocked();
    set.game.houses[1] = House::default();
    assert!(!may(&set), "nor is a seat without a Foundation");
    let mut set = blocked();
    set.chance.add([deck(&[])], []);
    set.give(1, &["king-cups", "queen-cups"]);
    let events = set.act(end);
    let last = set.game.last_hand.as_ref().unwrap();
    assert_eq!(last.ended_by, Some(seat(0)));
    // The ten is in no hand: 2 pips minus the 2 of cups; 2 pips minus 5 for two court cards.
    assert_eq!(last.scores, [0, -3]);
    assert_eq!(last.hands[0], [card("2-cups")]);
    assert!(matches!(&events[0], ThothEvent::Scored { .. }));
    assert_eq!((set.game.hand_no, set.game.dealer, set.game.turn), (2, seat(0), seat(1)));
    assert_eq!(set.view(None)["face_down"], json!(null), "gone with the next shuffle");
}

/// "Calling the end" ▸: four pyramids of spirit block a house once all that fits on them is built.
#[test]
fn full_levels_of_spirit_can_be_blocked() {
    let end = ThothAction::End { card: Slot::Open(card("10-cups")) };
    let spirit = &[(Element::Spirit, Large); 4][..];
    let stuck = || {
        let mut set = with_hand(&[], &["10-cups"]);
        let bare: &[(Element, Size)] = &[];
        let others = ["magician", "priestess", "empress", "wheel", "tower", "sun", "judgment"];
        let mut levels: Vec<(&str, &[(Element, Size)])> = others.iter().map(|name| (*name, bare)).collect();
        levels.push(("world", spirit));
        set.house(0, &levels);
        set.house(1, &[("magician", &[(Element::Spirit, Small); 4])]);
        set
    };
    let may = |set: &Set| set.game.check(seat(0), &end).is_ok();
    assert!(may(&stuck()));
    let mut set = stuck();
    set.game.houses[0].levels.remove(6);
    assert!(!may(&set), "judgment could be the Roof");
    let mut set = stuck();
    set.game.houses[0].levels.remove(2);
    assert!(!may(&set), "the empress could be a Story");
    let mut set = stuck();
    set.game.houses[1].levels[0].pyramids[0].element = Element::Fire;
    assert!(!may(&set), "a court card of wands could be a Story");
}

/// ▸ "The fifth re-shuffle ends the hand": it is scored as it stands, and nobody ended it.
#[test]
fn the_fifth_reshuffle_ends_the_hand() {
    let mut set = duel(&["2-cups"]);
    let pile = |set: &mut Set, names: &[&str]| {
        set.game.deck.clear();
        set.game.discard = names.iter().map(|name| card(name)).collect();
    };
    for shuffled in 1..=4 {
        let turn = set.game.turn.index();
        set.give(turn, &["2-cups"]);
        pile(&mut set, &["3-cups"]);
        set.chance.add([vec![u32::from(card("3-cups").0), u32::from(card("2-cups").0)]], []);
        set.do_("2-cups", Use::Discard);
        assert_eq!((set.game.reshuffles, set.game.hand_no), (shuffled, 1));
    }
    let turn = set.game.turn.index();
    set.give(turn, &["2-cups"]);
    set.give(1 - turn, &["king-cups"]);
    pile(&mut set, &["3-cups"]);
    set.chance.add([deck(&[])], []);
    let events = set.do_("2-cups", Use::Discard);
    let last = set.game.last_hand.as_ref().unwrap();
    assert_eq!((last.ended_by, last.scores[1 - turn]), (None, -1));
    assert!(!events.iter().any(|event| matches!(event, ThothEvent::Reshuffled { .. })));
    assert_eq!((set.game.hand_no, set.game.reshuffles), (2, 0));
    assert_eq!(set.view(None)["last_hand"]["ended_by"], json!(null));
    // With nothing to shuffle there is no re-shuffle, and the hand goes on.
    set.game.reshuffles = 4;
    let turn = set.game.turn.index();
    set.give(turn, &["fool"]);
    pile(&mut set, &[]);
    set.do_("fool", Use::Foundation);
    assert_eq!(set.game.hand_no, 2);
}

/// ▸ The game is over when a total is −2 × target or lower after a hand is scored.
#[test]
fn a_total_far_below_zero_ends_the_game() {
    // The hand costs five points for two court cards.
    for (before, over) in [(-34, false), (-35, true)] {
        let mut set = with_hand(&[("target", "20")], &["king-cups", "queen-cups"]);
        set.give(1, &["sun"]);
        set.game.totals = vec![before, 0];
        set.chance.add([deck(&[])], []);
        let mut events = Vec::new();
        set.game.end_hand(Some(seat(1)), &mut set.chance, &mut events).unwrap();
        assert_eq!((set.game.totals[0], set.game.over), (before - 5, over), "{events:?}");
    }
}

/// "Scoring": pips, Stories, the Roof with its matches; hands; the target; ▸ the last hand stays.
#[test]
fn scoring_and_the_end() {
    assert_eq!(cards::hand_score([]), 0);
    let hand = |names: &[&str]| cards::hand_score(names.iter().map(|name| card(name)));
    assert_eq!(hand(&["ace-cups", "10-cups", "sun"]), -11);
    for (count, cost) in [(1, -1), (2, -5), (3, -25), (4, -50), (5, -50)] {
        let kings = ["king-cups", "king-wands", "queen-cups", "prince-cups", "princess-cups"];
        assert_eq!(hand(&kings[..count]), cost);
    }
    let mut set = with_hand(&[("target", "20")], &["10-wands", "3-cups"]);
    let mixed = &[(Element::Fire, Large), (Element::Water, Large), (Element::Fire, Large), (Element::Air, Large)][..];
    set.house(0, &[("ace-wands", FIRE4), ("sun", mixed)]);
    set.give(1, &["fool"]);
    let events = set.do_("10-wands", Use::Roof);
    // 4 + 12 pips, a Story, a Roof, six of fire, minus the 3 of cups.
    assert_eq!(set.game.totals, [4 + 12 + 1 + 5 + 6 - 3, 0]);
    assert!(set.game.over);
    assert_eq!(set.game.winners().iter().collect::<Vec<_>>(), [seat(0)]);
    assert!(matches!(events.last(), Some(ThothEvent::Over { .. })));
    let view = set.view(Some(1));
    assert_eq!(view["to_act"], json!([]));
    assert_eq!(view["houses"][0]["roof"], "10-wands");
    assert_eq!(view["hands"][0], json!([null]), "hands stay hidden in seat views");
    assert_eq!(view["last_hand"]["hands"][0], json!(["3-cups"]));
    assert_eq!(view["last_hand"]["ended_by"], 0);
}

/// ▸ "Tied for best: the tied seat that comes first in the hand's order of play" deals next.
#[test]
fn ties_go_to_the_first_in_play() {
    let mut set = set_up(3, 0, &[], &[]);
    // Seat 1 starts; 2 and 0 tie.
    set.give(1, &["9-cups"]);
    set.give(2, &["3-cups"]);
    set.give(0, &["3-wands"]);
    set.chance.add([deck(&[])], []);
    set.game.end_hand(Some(seat(1)), &mut set.chance, &mut Vec::new()).unwrap();
    assert_eq!((set.game.dealer, set.game.starter), (seat(2), seat(0)));
}

fn bid(set: &mut Set, who: usize, name: &str) {
    let faces = set.chance.faces();
    let slot = set.game.hands[who].iter().find(|slot| slot.face(faces) == Some(card(name))).unwrap();
    let action = ThothAction::Bid { card: slot.handle().unwrap() };
    set.game.apply(seat(who), &action, &mut set.chance, &mut Vec::new()).unwrap();
}

/// Three seats, dealer 0; hands are dealt to 1, 2, 0 in turn.
fn auction(rounds: [[&str; 3]; 5]) -> Set {
    let order: Vec<&str> = rounds.into_iter().flatten().collect();
    set_up(3, 0, &[("opening", "auction")], &order)
}

/// "Auction": hidden until all have bid; the highest trump wins. Picks go to the right, the winner
/// last, ▸ without picking where there is no choice.
#[test]
fn an_auction() {
    let mut set = auction([
        ["magician", "world", "king-wands"],
        ["2-cups", "3-cups", "4-cups"],
        ["2-wands", "3-wands", "4-wands"],
        ["2-swords", "3-swords", "4-swords"],
        ["2-disks", "3-disks", "4-disks"],
    ]);
    assert_eq!(set.view(None)["to_act"], json!([0, 1, 2]));
    assert_eq!((set.view(None)["phase"].clone(), set.view(None)["starter"].clone()), (json!("bid"), json!(1)));
    bid(&mut set, 1, "magician");
    assert_eq!(set.view(None)["to_act"], json!([0, 2]));
    assert_eq!(set.view(None)["bids"], json!([null, "magician", null]));
    assert_eq!(set.view(Some(1))["bids"][1], "magician");
    assert_eq!(set.view(Some(0))["bids"][1], json!(null));
    bid(&mut set, 0, "king-wands");
    bid(&mut set, 2, "world");
    // Seat 2 has won; seat 1 on its right picks first.
    let view = set.view(Some(0));
    assert_eq!(view["phase"], "pick");
    assert_eq!(view["to_act"], json!([1]));
    assert_eq!(view["starter"], 2);
    assert_eq!(view["dealer"], 0);
    assert_eq!(view["pool"], json!(["king-wands", "magician", "world"]));
    assert_eq!(view["bids"], json!([null, null, null]));
    set.act(ThothAction::Pick { card: card("world") });
    assert_eq!(set.view(None)["to_act"], json!([0]));
    set.act(ThothAction::Pick { card: card("king-wands") });
    let view = set.view(None);
    assert_eq!((view["phase"].clone(), view["to_act"].clone()), (json!("play"), json!([2])));
    assert_eq!(view["hands"][1][4], "world");
    assert_eq!(view["hands"][2].as_array().unwrap().len(), 6, "with the card drawn");
    assert_eq!(view["hands"][2][4], "magician");
    assert_eq!(view["pool"], json!([]));
}

/// "On a tie for the highest every seat bids again"; the pool grows in seat order, round after round;
/// suits do not matter.
#[test]
fn ties_bid_again() {
    let mut set = auction([
        ["king-cups", "3-cups", "king-wands"],
        ["2-cups", "4-cups", "5-cups"],
        ["2-wands", "3-wands", "4-wands"],
        ["2-swords", "3-swords", "4-swords"],
        ["2-disks", "3-disks", "4-disks"],
    ]);
    bid(&mut set, 0, "king-wands");
    bid(&mut set, 1, "king-cups");
    bid(&mut set, 2, "3-cups");
    assert_eq!(set.view(None)["phase"], "bid");
    assert_eq!(set.view(None)["to_act"], json!([0, 1, 2]));
    bid(&mut set, 2, "4-cups");
    bid(&mut set, 1, "2-cups");
    bid(&mut set, 0, "5-cups");
    let view = set.view(None);
    assert_eq!(view["pool"], json!(["king-wands", "king-cups", "3-cups", "5-cups", "2-cups", "4-cups"]));
    assert_eq!((view["starter"].clone(), view["to_act"].clone()), (json!(0), json!([2])));
    // Seat 2 lacks two cards.
    set.act(ThothAction::Pick { card: card("king-cups") });
    assert_eq!(set.view(None)["to_act"], json!([2]));
    set.act(ThothAction::Pick { card: card("king-wands") });
    set.act(ThothAction::Pick { card: card("2-cups") });
    set.act(ThothAction::Pick { card: card("3-cups") });
    // The winner gets the last two cards, in pool order.
    let hand = set.view(None)["hands"][0].clone();
    assert_eq!((hand[3].clone(), hand[4].clone()), (json!("5-cups"), json!("4-cups")));
}

/// ▸ "If hands run out on a tie, the tied seat that comes first clockwise from the dealer's left
/// wins."
#[test]
fn hands_may_run_out() {
    let mut set = auction([
        ["2-cups", "2-wands", "2-swords"],
        ["3-cups", "3-wands", "3-swords"],
        ["4-cups", "4-wands", "4-swords"],
        ["5-cups", "5-wands", "5-swords"],
        ["6-cups", "6-wands", "6-swords"],
    ]);
    for rank in 2..=6 {
        assert_eq!(set.game.phase, Phase::Bid);
        for (who, suit) in [(0, "swords"), (2, "wands"), (1, "cups")] {
            bid(&mut set, who, &format!("{rank}-{suit}"));
        }
    }
    assert_eq!((set.game.phase, set.game.starter), (Phase::Pick, seat(1)));
    assert_eq!(set.game.pool.len(), 15);
    assert_eq!(set.game.to_act().iter().collect::<Vec<_>>(), [seat(0)]);
}

/// A departed seat takes its current bid with it; its earlier bids stay in the pool. Cards that no
/// seat lacks are discarded in pool order. If the winner leaves, the next seat plays first.
#[test]
fn leaving_an_auction() {
    let rounds = [
        ["king-cups", "3-cups", "king-wands"],
        ["2-cups", "4-cups", "5-cups"],
        ["2-wands", "3-wands", "4-wands"],
        ["2-swords", "3-swords", "4-swords"],
        ["2-disks", "3-disks", "4-disks"],
    ];
    let mut set = auction(rounds);
    bid(&mut set, 0, "king-wands");
    bid(&mut set, 1, "king-cups");
    bid(&mut set, 2, "3-cups");
    bid(&mut set, 1, "2-cups");
    bid(&mut set, 0, "5-cups");
    set.leave(1);
    assert_eq!(set.view(None)["bids"], json!(["5-cups", null, null]));
    assert_eq!(set.game.phase, Phase::Bid);
    // The last seat to bid leaves, which settles the bids.
    let mut other = auction(rounds);
    bid(&mut other, 0, "king-wands");
    bid(&mut other, 1, "2-cups");
    other.leave(2);
    assert_eq!((other.game.phase, other.game.starter), (Phase::Pick, seat(0)));
    // Back to the first table: seat 2 bids, and wins nothing.
    bid(&mut set, 2, "4-cups");
    assert_eq!(set.view(None)["pool"], json!(["king-wands", "king-cups", "3-cups", "5-cups", "4-cups"]));
    assert_eq!((set.game.starter, set.game.pickers.clone()), (seat(0), vec![seat(2), seat(0)]));
    set.leave(0);
    assert!(set.game.over, "one is left");
    // With more seats at the table, the winner leaves while the others pick.
    let mut set = auction(rounds);
    bid(&mut set, 1, "2-cups");
    bid(&mut set, 2, "3-cups");
    bid(&mut set, 0, "king-wands");
    assert_eq!((set.game.starter, set.game.pickers[0]), (seat(0), seat(2)));
    set.leave(0);
    assert_eq!(set.game.starter, seat(0), "the winner is named still");
    set.act(ThothAction::Pick { card: card("2-cups") });
    set.act(ThothAction::Pick { card: card("king-wands") });
    assert_eq!((set.game.phase, set.game.turn), (Phase::Play, seat(1)));
    assert_eq!(set.game.discard, [card("3-cups")]);
}

fn falling(rolls: &[u32]) -> Set {
    let options = [("happenstance", "true"), ("target", "1000")];
    let mut set = set_up(3, 2, &options, &[]);
    set.chance.add([], rolls.iter().copied());
    set.give(0, &["sun", "7-cups", "king-wands", "3-wands"]);
    set
}

/// "After a `raise` or `story` a 20-sided die is rolled if the house has at least one Story". It
/// falls on a roll of at most the number of Stories.
#[test]
fn houses_fall() {
    let mut set = falling(&[1]);
    set.house(0, &[("magician", FIRE4)]);
    set.house(1, &[("ace-cups", &[])]);
    set.trouble(0, &[]);
    let events = set.do_("king-wands", Use::Story);
    assert!(events.contains(&ThothEvent::Rolled { seat: seat(0), roll: 1 }));
    assert_eq!(set.game.houses[0].levels, [Level::new(card("magician"))]);
    assert_eq!(set.game.discard, [card("king-wands")]);
    assert_eq!(set.game.bank.count(Element::Fire, Small), 5);
    let mut set = falling(&[2]);
    set.house(0, &[("magician", FIRE4)]);
    set.do_("king-wands", Use::Story);
    assert_eq!(set.game.houses[0].stories(), 1, "two is more than the Stories");
    // Without a Story, no die is rolled.
    let mut set = falling(&[]);
    set.house(0, &[("magician", &[])]);
    set.do_("7-cups", raise(Small, 4));
}

/// "Otherwise 20": the next house clockwise is knocked over. A raise's own card is discarded first,
/// then Foundation, Stories, Trouble; the victim takes over the house.
#[test]
fn accidents() {
    let mut set = falling(&[20]);
    set.house(0, &[("magician", FIRE4), ("sun", &[])]);
    set.trouble(0, &[]);
    let water = &[(Element::Water, Small); 4][..];
    set.house(2, &[("ace-cups", water), ("king-cups", &[])]);
    set.trouble(2, &["moon", "star"]);
    set.do_("7-cups", raise(Medium, 1));
    let discard: Vec<String> = set.game.discard.iter().map(|card| cards::name(*card)).collect();
    assert_eq!(discard, ["7-cups", "ace-cups", "king-cups", "moon", "star"]);
    assert!(!set.game.houses[0].stands());
    assert_eq!(set.game.houses[2].stories(), 1);
    assert_eq!(set.game.houses[2].levels[0].card, card("magician"));
    assert!(!set.game.houses[2].in_trouble());
    assert_eq!(set.game.bank.count(Element::Water, Small), 5);
    // Without another house, nothing happens.
    let mut set = falling(&[20]);
    set.house(0, &[("magician", FIRE4)]);
    set.do_("king-wands", Use::Story);
    assert_eq!(set.game.houses[0].stories(), 1);
}

/// "demolish" and "topple": before the turn's card, even in Trouble; they do not use up the turn.
#[test]
fn knocking_over_on_purpose() {
    let mut set = falling(&[]);
    let check = |set: &Set, action| set.game.check(seat(0), &action).is_ok();
    let topple = |target| ThothAction::Topple { target: seat(target) };
    set.house(0, &[("magician", &[])]);
    assert!(!check(&set, ThothAction::Demolish), "nothing above the Foundation");
    assert!(!check(&set, topple(1)) && !check(&set, topple(0)));
    set.house(0, &[("magician", FIRE4), ("king-wands", &[(Element::Fire, Large)])]);
    set.house(1, &[("ace-cups", &[])]);
    set.trouble(0, &["moon"]);
    set.act(ThothAction::Demolish);
    assert_eq!(set.game.houses[0].trouble, [card("moon")], "Trouble stays");
    assert_eq!((set.game.houses[0].stories(), set.game.turn), (0, seat(0)));
    assert_eq!(set.game.bank.count(Element::Fire, Large), 5);
    set.act(topple(1));
    assert_eq!(set.game.totals, [-156, 0, 0]);
    assert_eq!(set.game.houses[1].levels[0].card, card("magician"));
    assert_eq!(set.game.houses[1].trouble, [card("moon")]);
    assert!(!set.game.houses[0].stands());
    set.act(topple(1));
    assert_eq!(set.game.totals[0], -312, "it may be done again");
    assert!(!set.game.houses[1].stands(), "there was no house to take over");
    assert_eq!(set.game.turn, seat(0));
    let plain = duel(&["sun"]);
    assert!(plain.game.check(seat(0), &ThothAction::Demolish).is_err());
}

/// "Forfeit": the hand is set aside, house and Trouble are discarded, extra turns are lost. The
/// seat's hand scores 0, and it is dealt nothing.
#[test]
fn leaving_play() {
    let mut set = set_up(3, 2, &[("target", "1000")], &[]);
    set.house(0, &[("magician", FIRE4), ("king-wands", &[])]);
    set.trouble(0, &["moon"]);
    set.game.extra_turns = 2;
    let count = set.game.hands[0].len();
    set.leave(0);
    assert_eq!(set.game.set_aside().len(), count);
    assert_eq!(set.view(None)["hands"][0], json!([]));
    assert_eq!(set.game.discard, ["magician", "king-wands", "moon"].map(card));
    assert_eq!(set.game.bank.count(Element::Fire, Small), 5);
    assert_eq!((set.game.turn, set.game.extra_turns), (seat(1), 0));
    assert_eq!(set.game.hands[1].len(), 6, "the next seat has drawn");
    set.chance.add([deck(&[])], []);
    set.give(1, &[]);
    set.give(2, &["9-cups"]);
    set.game.end_hand(Some(seat(1)), &mut set.chance, &mut Vec::new()).unwrap();
    assert_eq!(set.game.last_hand.as_ref().unwrap().scores, [0, 0, -9]);
    assert_eq!((set.game.dealer, set.game.starter), (seat(1), seat(2)));
    assert_eq!(set.game.hands[0].len(), 0);
    set.leave(2);
    assert!(set.game.over);
    assert_eq!(set.game.winners().iter().collect::<Vec<_>>(), [seat(1)]);
}

#[test]
fn actions_are_read_strictly() {
    let hand = [Slot::Open(card("3-cups"))];
    let read = |value: &Value| ThothAction::from_json(value, seat(0), &hand, &Faces::new());
    for bad in [
        json!({"type": "raise", "card": "3-cups", "size": "small"}),
        json!({"type": "raise", "card": "3-cups", "size": "small", "count": -1}),
        json!({"type": "raise", "card": "3-cups", "size": "small", "count": 1.0}),
        json!({"type": "trouble", "card": "3-cups", "target": 1}),
        json!({"type": "trouble", "card": "3-cups", "target": 9, "replace": null}),
        json!({"type": "trouble", "card": "3-cups", "target": 1, "replace": 2}),
        json!({"type": "discard", "card": "4-cups"}),
        json!({"type": "discard", "card": "joker"}),
        json!({"type": "discard", "card": "3-cups", "target": 1}),
        json!({"type": "bid", "card": "3-cups"}),
        json!({"type": "demolish", "card": "3-cups"}),
        json!({"type": "topple"}),
        json!({"type": "build"}),
    ] {
        assert!(read(&bad).is_err(), "{bad}");
    }
    let hidden = ThothAction::Bid { card: Handle { deck: DeckId(0), position: 3 } };
    assert_eq!(hidden.to_json(&Faces::new()), json!({"type": "bid", "card": null}));
}

/// The uses of cards among some actions.
fn uses_of(legal: &[ThothAction]) -> Vec<(Face, Use)> {
    let play = |action: &ThothAction| match action {
        ThothAction::Play { card, as_, .. } => Some((*card, *as_)),
        _ => None,
    };
    legal.iter().filter_map(play).collect()
}

/// The uses that the rules allow a seat in its turn, of all that can be written down.
fn allowed_uses(game: &Thoth, who: Seat, faces: &Faces) -> Vec<(Face, Use)> {
    if game.phase != Phase::Play {
        return Vec::new();
    }
    let raises = Size::ALL.into_iter().flat_map(|size| (0..=5).map(move |count| Use::Raise { size, count }));
    let targets = Seat::first(game.hands.len());
    let troubles =
        targets.flat_map(|target| [None, Some(0), Some(1), Some(2)].map(|replace| Use::Trouble { target, replace }));
    let builds = [Use::Foundation].into_iter().chain(raises).chain([Use::Story, Use::Roof]);
    let all: Vec<Use> = builds.chain(troubles).chain([Use::Relieve, Use::Discard]).collect();
    let hand = game.hand_of(who).iter().map(|slot| slot.face(faces).unwrap());
    let each = hand.flat_map(|card| all.iter().map(move |as_| (card, *as_)));
    each.filter(|(card, as_)| game.check_use(who, *card, *as_).is_ok()).collect()
}

/// A thousand games of random play with every option, in which seats leave. All cards and pyramids
/// are accounted for, and every seat that is to act can act.
#[test]
fn nothing_is_lost_in_a_thousand_games() {
    let mut rng = ChaCha20Rng::from_seed([7; 32]);
    let mut below = |bound: usize| uniform(&mut rng, u32::try_from(bound).unwrap()) as usize;
    for number in 0..1000_u32 {
        let seats = 2 + below(4);
        let options = [
            ("target", ["1", "20"][below(2)]),
            ("opening", ["dealer-left", "auction"][below(2)]),
            ("happenstance", ["false", "true"][below(2)]),
        ];
        let given = options.map(|(key, value)| (key.to_owned(), value.to_owned()));
        let rules = rule_set("houses-of-thoth", u8::try_from(seats).unwrap(), &given.into()).unwrap();
        let mut seed = [0; 32];
        seed[..4].copy_from_slice(&number.to_le_bytes());
        let mut chance = RefereeChance::from_seed(seed);
        let mut game = Thoth::create(&rules).unwrap();
        game.begin(&mut chance, &mut Vec::new()).unwrap();
        for step in 0..120 {
            let waiting: Vec<Seat> = game.to_act().iter().collect();
            if waiting.is_empty() {
                assert!(game.over);
                break;
            }
            let who = waiting[below(waiting.len())];
            let mut legal = game.legal(who, chance.faces());
            assert_eq!(uses_of(&legal), allowed_uses(&game, who, chance.faces()), "{game:?}");
            // Random play discards too often.
            let better = |action: &ThothAction| {
                !matches!(action, ThothAction::Play { as_: Use::Discard, .. } | ThothAction::Topple { .. })
            };
            if below(8) > 0 && legal.iter().any(better) {
                legal.retain(better);
            }
            assert!(!legal.is_empty(), "{game:?}");
            let action = legal.swap_remove(below(legal.len()));
            game.apply(who, &action, &mut chance, &mut Vec::new()).unwrap();
            if step % 30 == 29 && below(4) == 0 {
                game.forfeit(seat(below(seats)), &mut chance, &mut Vec::new()).unwrap();
            }
            let sealed = game.deck.iter().map(|card| Slot::Sealed(*card));
            let bids = game.bids.iter().flatten().map(|card| Slot::Sealed(*card));
            let held = game.hands.iter().flatten().chain(&game.aside).copied();
            let face_down = game.face_down.iter().map(|(_, slot)| *slot);
            let slots = sealed.chain(bids).chain(held).chain(face_down);
            let mut all: Vec<Face> = slots.map(|slot| slot.face(chance.faces()).unwrap()).collect();
            all.extend(game.discard.iter().chain(&game.pool));
            all.extend(game.houses.iter().flat_map(House::cards));
            all.sort_unstable();
            assert_eq!(all, cards::all().collect::<Vec<_>>());
            for element in Element::ALL {
                for size in Size::ALL {
                    let built = game
                        .houses
                        .iter()
                        .flat_map(House::pyramids)
                        .filter(|p| p.element == element && p.size == size)
                        .count();
                    assert_eq!(built + usize::from(game.bank.count(element, size)), 5);
                }
            }
        }
    }
}
