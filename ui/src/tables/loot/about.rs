//! The name of each spot, and what helps to decide on it.

use fairdeal_games::loot::cards::{GODS, in_words, rank, suit};
use fairdeal_games::loot::{Loot, Phase};
use fairdeal_games::{TableGame as _, capital, counted};
use fairdeal_protocol::card::{Face, Slot};
use fairdeal_protocol::seat::Seat;

use super::cards;
use super::spots::{DISCARD_PILE, DRAW_PILE, VILLAGE, burns_when};
use super::worth::Sight;
use crate::tables::{Spot, ViewContext};

pub(super) fn title(spot: Spot, view: &ViewContext<'_>) -> String {
    match spot {
        Spot::Card(slot) => match slot.face(view.known) {
            Some(face) if suit(face) == GODS => format!("{} (a god of rank {})", cards::title(face), rank(face)),
            Some(face) => format!("{} ({})", cards::title(face), cards::person(face)),
            None => "a sealed card".to_owned(),
        },
        Spot::Seat(seat) | Spot::Part(seat, _) => view.name(seat).to_owned(),
        DRAW_PILE => "draw pile".to_owned(),
        DISCARD_PILE => "discard pile".to_owned(),
        Spot::Button(_) => "fire the village".to_owned(),
        _ => "the village".to_owned(),
    }
}

pub(super) fn about(loot: &Loot, spot: Spot, view: &ViewContext<'_>) -> Vec<String> {
    let sight = Sight::of(loot, view.me, view.known);
    match spot {
        Spot::Card(slot) => match slot.face(view.known) {
            Some(face) => about_card(loot, face, &sight),
            None => vec!["Only its owner knows it.".to_owned()],
        },
        Spot::Seat(seat) | Spot::Part(seat, _) => about_seat(loot, seat, view),
        DRAW_PILE => vec![
            format!("{} that nobody knows.", counted(loot.draw_pile().len(), "card")),
            "Take the top one and only you see it; then discard a card.".to_owned(),
        ],
        DISCARD_PILE => about_discards(loot, &sight),
        VILLAGE => about_village(loot, view),
        Spot::Button(_) => vec![
            format!("Your hand is worth {:+}, as far as you can see.", sight.if_fired()),
            "Every hand is shown and scored: fire while yours beats theirs.".to_owned(),
        ],
        _ => Vec::new(),
    }
}

/// A card of the player's hand: what it brings, and what the hand is worth without it.
fn about_card(loot: &Loot, face: Face, sight: &Sight) -> Vec<String> {
    let (groups, worth) = sight.arranged();
    let found = groups.iter().find_map(|group| {
        let (_, points) = group.cards.iter().find(|(other, _)| *other == face)?;
        Some((group, *points))
    });
    let Some((group, points)) = found else {
        return vec![format!("{}.", cards::person(face))];
    };
    let mut told = Vec::new();
    told.push(match (group.kind, points) {
        (Some(_), points) => format!("It brings {points} in the {}.", group.title),
        (None, 0) => "It is loose, but loose cards are free.".to_owned(),
        (None, points) => format!("It is loose and costs {}.", -points),
    });
    let without = sight.without(face);
    let discards = sight.me.is_some() && loot.turn() == sight.me && loot.phase() == Phase::Discard;
    told.push(match discards {
        true if without > worth => format!("Discard it and your hand rises from {worth:+} to {without:+}."),
        true if without == worth => format!("Discard it and your hand stays at {without:+}."),
        true => format!("Discard it and your hand falls from {worth:+} to {without:+}."),
        false => format!("Your hand is worth {worth:+}; without it {without:+}."),
    });
    if let Some(god) = cards::god_of(face) {
        told.push(format!("While any hand holds it, {}.", god.effect()));
    }
    let alike = sight.own.iter().filter(|(own, _)| rank(*own) == rank(face)).count();
    if group.kind.is_none() && alike == 2 {
        told.push(format!("You hold two {}s: a third makes a set.", rank(face)));
    }
    told
}

fn about_seat(loot: &Loot, seat: Seat, view: &ViewContext<'_>) -> Vec<String> {
    if loot.has_left(seat) {
        return vec!["Has left the game; the hand is set aside unseen.".to_owned()];
    }
    let open: Vec<String> = loot
        .hand_of(seat)
        .iter()
        .filter_map(|slot| match slot {
            Slot::Open(face) => Some(in_words(*face)),
            Slot::Sealed(_) => None,
        })
        .collect();
    let turns = loot.turns().get(seat.index()).copied().unwrap_or(0);
    let holds = match open.as_slice() {
        [] => format!("All {} cards are hidden.", loot.hand_of(seat).len()),
        open => format!("Everybody has seen {} in this hand.", fairdeal_games::listed(open)),
    };
    let turns = counted(usize::try_from(turns).unwrap_or(usize::MAX), "turn");
    let mut told = vec![holds, format!("{turns} in this hand.")];
    if loot.fire() == Some(seat) {
        told.insert(0, "Has fired the village.".to_owned());
    }
    told.extend(view.last(seat).map(|last| format!("Last: {last}.")));
    told
}

fn about_discards(loot: &Loot, sight: &Sight) -> Vec<String> {
    let Some(top) = loot.discard_pile().last() else {
        return vec!["It is empty.".to_owned()];
    };
    let mut told = Vec::new();
    match sight.with(*top) {
        Some((worth, gone)) if gone != *top => {
            told.push(format!("With {} in place of {} your hand is worth {worth:+}.", in_words(*top), in_words(gone)));
        }
        Some(_) => told.push(format!("{} would not help your hand.", capital(&in_words(*top)))),
        None => told.push(format!("{} is on top.", capital(&in_words(*top)))),
    }
    told.extend(cards::god_of(*top).map(|god| format!("While any hand holds it, {}.", god.effect())));
    let under = loot.discard_pile().iter().rev().skip(1).take(4);
    let under: Vec<String> = under.map(|face| in_words(*face)).collect();
    if !under.is_empty() {
        told.push(format!("Under it: {}.", fairdeal_games::listed(&under)));
    }
    told.push("Everybody sees what you take here.".to_owned());
    told
}

fn about_village(loot: &Loot, view: &ViewContext<'_>) -> Vec<String> {
    let state = if loot.fire().is_some() {
        format!("It is fired: {}.", burns_when(loot, view))
    } else if loot.everyone_has_played() {
        "Anybody may fire it now.".to_owned()
    } else {
        "It can be fired once everybody has had a turn.".to_owned()
    };
    vec![
        state,
        "Fire ends the hand: all hands are shown and scored, and all gods in them count.".to_owned(),
        format!("A total of {0} or -{0} ends the game; the highest wins.", loot.target()),
    ]
}
