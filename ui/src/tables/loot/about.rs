//! Explains each spot to players who do not know the rules.

use fairdeal_games::TableGame as _;
use fairdeal_games::loot::Loot;
use fairdeal_games::loot::cards::{God, GodSet, rank};
use fairdeal_games::loot::score::Kind;
use fairdeal_protocol::card::{Face, Slot};
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;

use super::cards;
use super::worth::{Group, Sight};
use super::{DISCARD_PILE, DRAW_PILE, VILLAGE, god_at, turns_left};
use crate::tables::{Spot, ViewContext};

/// Explains a spot.
pub(super) fn about(loot: &Loot, spot: Spot, view: &ViewContext<'_>) -> Vec<String> {
    match spot {
        Spot::Card(slot) => about_card(loot, slot, view),
        Spot::Seat(seat) | Spot::Part(seat, _) => about_seat(loot, seat, view),
        DRAW_PILE => vec![
            format!("The draw pile: {} hidden cards.", loot.draw_pile().len()),
            "Take its top card and only you see it; then discard one.".to_owned(),
            "When it runs out, the discard pile except its top card is shuffled into a new one.".to_owned(),
        ],
        DISCARD_PILE => about_discards(loot),
        VILLAGE => about_village(loot, view),
        Spot::Pile(_) => god_at(spot).map_or_else(Vec::new, |god| about_god(loot, god, view)),
        Spot::Button(_) => vec![
            "Fires the village: every hand is shown and scored.".to_owned(),
            "Do it while your hand beats theirs.".to_owned(),
        ],
        Spot::Square(_) => Vec::new(),
    }
}

/// A name with a capital initial.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn about_card(loot: &Loot, slot: Slot, view: &ViewContext<'_>) -> Vec<String> {
    let Some(face) = slot.face(view.known) else {
        return vec!["A sealed card: only its owner knows it.".to_owned()];
    };
    let sight = Sight::of(loot, view.me, view.known);
    let (groups, worth) = sight.arranged();
    let mut told = about_face(face);
    let found = groups.iter().find_map(|group| {
        let own = group.cards.iter().find(|(other, _)| *other == face)?;
        Some((group, own.1))
    });
    if let Some((group, points)) = found {
        told.push(in_group(group, points, sight.god_set()));
        let without = sight.without(face);
        told.push(format!("The hand is worth {worth:+}; without this card {without:+}."));
    }
    if matches!(slot, Slot::Open(_)) {
        told.push("Everybody has seen this card.".to_owned());
    }
    told
}

/// Explains a card, wherever it lies.
fn about_face(face: Face) -> Vec<String> {
    let name = capital(&cards::long(face));
    match cards::god_of(face) {
        Some(god) => vec![
            format!("{name}: a god, and rank {} of the suit of gods.", rank(face)),
            format!("While it is in any hand: {}", cards::gospel(god)),
        ],
        None => vec![format!("{name}: rank {} of 9.", rank(face))],
    }
}

/// Explains a card's score in the best arrangement.
fn in_group(group: &Group, points: i32, gods: GodSet) -> String {
    let why = match group.kind {
        Some(Kind::Run) => "ranks in a row, any suits, four at least",
        Some(Kind::Set) => "cards of one rank, three at least",
        Some(_) if gods.has(God::Builder) => "cards of one suit, three at least",
        Some(_) => "cards of one suit, four at least",
        None if points == 0 => return "It is loose, which costs nothing now.".to_owned(),
        None => return format!("It is loose, in no combination, and costs {}.", -points),
    };
    format!("It scores {points} in a {} ({why}).", group.title())
}

fn about_god(loot: &Loot, god: God, view: &ViewContext<'_>) -> Vec<String> {
    let sight = Sight::of(loot, view.me, view.known);
    let holder = sight.gods.iter().find(|(seen, _)| *seen == god);
    let held = match holder {
        Some((_, seat)) if view.me == Some(*seat) => "It is in your hand.".to_owned(),
        Some((_, seat)) => format!("It is in {}'s hand.", view.name(*seat)),
        None => "You see it in no hand; a hidden hand may hold it.".to_owned(),
    };
    vec![
        format!("The {}, a god.", cards::god_name(god)),
        cards::gospel(god).to_owned(),
        "A god affects all hands while any hand holds it.".to_owned(),
        held,
    ]
}

fn about_seat(loot: &Loot, seat: Seat, view: &ViewContext<'_>) -> Vec<String> {
    let name = view.name(seat);
    if loot.has_left(seat) {
        return vec![format!("{name} has left the game; the hand is set aside unseen.")];
    }
    let hand = loot.hand_of(seat);
    let total = loot.totals().get(seat.index()).copied().unwrap_or(0);
    let turns = loot.turns().get(seat.index()).copied().unwrap_or(0);
    let mut told = vec![format!(
        "{name}: total {total}, {} cards, {turns} turns in this hand.",
        hand.len()
    )];
    let open: Vec<String> = hand
        .iter()
        .filter_map(|slot| match slot {
            Slot::Open(face) => Some(cards::long(*face)),
            Slot::Sealed(_) => None,
        })
        .collect();
    if !open.is_empty() && !loot.is_over() {
        told.push(format!("Everybody saw it take {}.", open.join(", ")));
    }
    if loot.fire() == Some(seat) {
        told.push("It has fired the village.".to_owned());
    } else if turns == 0 {
        told.push("The village cannot be fired before this seat has had a turn.".to_owned());
    } else if loot.everyone_has_played() && loot.fire().is_none() && !loot.is_over() {
        told.push("It may fire the village at any time.".to_owned());
    }
    told
}

fn about_discards(loot: &Loot) -> Vec<String> {
    let Some(top) = loot.discard_pile().last() else {
        return vec!["The discard pile is empty.".to_owned()];
    };
    let under = loot.discard_pile().iter().rev().skip(1).take(4);
    let under: Vec<String> = under.map(|face| cards::long(*face)).collect();
    let mut told = vec![format!("The discard pile: {} is on top.", cards::long(*top))];
    told.push("Take it instead of drawing, and everybody knows that you hold it.".to_owned());
    told.extend(cards::god_of(*top).map(|god| format!("In a hand: {}", cards::gospel(god))));
    if !under.is_empty() {
        told.push(format!("Under it: {}.", under.join(", ")));
    }
    told
}

fn about_village(loot: &Loot, view: &ViewContext<'_>) -> Vec<String> {
    let mut told = vec![
        "The village. Firing it ends the hand: all hands are shown and scored, and all gods in them count.".to_owned(),
        "Anybody may fire it once everybody has had a turn.".to_owned(),
    ];
    if loot.fire().is_some() {
        told.push(format!("{}.", capital(&turns_left(loot, view))));
    } else if loot.everyone_has_played() && !loot.is_over() {
        told.push("Everybody has had one: it can be fired now.".to_owned());
    }
    told.push(format!(
        "A total of {} or -{} ends the game; the highest wins.",
        loot.target(),
        loot.target()
    ));
    told
}
