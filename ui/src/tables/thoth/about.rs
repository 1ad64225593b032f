//! Explains cards, houses and piles to players who do not know the rules.

use fairdeal_games::TableGame as _;
use fairdeal_games::counted;
use fairdeal_games::pyramid::Size;
use fairdeal_games::thoth::Thoth;
use fairdeal_games::thoth::cards::{self, Element, Suited};
use fairdeal_games::thoth::house::{CORNERS, Level};
use fairdeal_protocol::card::Face;
use fairdeal_protocol::seat::Seat;

use super::tell::relief_turns;
use super::{names, parts};
use crate::tables::{Spot, ViewContext};

/// Explains a spot.
pub(super) fn about(game: &Thoth, spot: Spot, view: &ViewContext<'_>) -> Vec<String> {
    match spot {
        Spot::Card(slot) => slot.face(view.known).map_or_else(
            || vec!["A sealed card: only its owner knows it.".to_owned()],
            about_card,
        ),
        Spot::Seat(seat) => about_house(game, seat, view),
        Spot::Part(seat, place) => about_trouble(game, seat, place, view),
        parts::BANK => about_bank(game),
        parts::DECK => vec![
            format!("The deck: {}, sealed.", counted(game.deck().len(), "card")),
            "Every turn begins by drawing from it. When it runs out, the discard pile is shuffled into a new one."
                .to_owned(),
        ],
        parts::DISCARDS => {
            let pile = game.discard_pile();
            let mut texts = vec![format!("The discard pile: {}.", counted(pile.len(), "card"))];
            let last: Vec<String> = pile.iter().rev().take(8).map(|card| cards::full_name(*card)).collect();
            if !last.is_empty() {
                texts.push(format!("From the top: {}.", last.join(", ")));
            }
            texts
        }
        parts::POOL => vec!["The revealed bids; players refill their hands from them.".to_owned()],
        Spot::Button(button) => vec![about_deed(button).to_owned()],
        Spot::Pile(_) | Spot::Square(_) => Vec::new(),
    }
}

fn about_deed(button: u8) -> &'static str {
    match button {
        parts::DISCARD => "Discards the card and ends the turn.",
        parts::RELIEVE => "The card takes all Trouble of its element off your house, and goes to the discard pile.",
        parts::END => "When every house is blocked, a card laid face down ends the hand, and everybody scores.",
        parts::DEMOLISH => "Your house goes back to its Foundation and its pyramids to the bank. You keep your turn.",
        parts::TOPPLE => {
            "Knocks over the other house, whose owner takes over yours. It costs 156 points; you keep your turn."
        }
        _ => "",
    }
}

/// A card's name, effect and cost in the hand.
fn about_card(card: Face) -> Vec<String> {
    let mut texts = Vec::new();
    let kind = match cards::suited(card) {
        Some((element, Suited::Court(value))) if element == value => {
            format!("a court card of {}", element.name())
        }
        Some((element, Suited::Court(value))) => {
            format!("a court card of {}, with {} as its value", element.name(), value.name())
        }
        Some((element, Suited::Small(_))) => format!("a card of {}", element.name()),
        None => {
            let planetary = cards::is_planetary(card).then(|| "planetary".to_owned());
            let elemental = cards::elemental(card).map(|element| format!("elemental ({})", element.name()));
            let zodiacal = cards::zodiacal(card).map(|element| format!("zodiacal ({})", element.name()));
            let kinds: Vec<String> = [elemental, planetary, zodiacal].into_iter().flatten().collect();
            format!("trump {}, {}", card.0, fairdeal_games::listed(&kinds))
        }
    };
    let mut name = cards::in_words(card);
    if let Some(first) = name.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    texts.push(format!("{name}: {kind}."));
    let allowed: Vec<Element> = Element::ALL.into_iter().filter(|e| cards::allows(card, *e)).collect();
    let takes = if allowed.len() == Element::ALL.len() {
        "any pyramids".to_owned()
    } else {
        format!("pyramids of {}", names::listed(&allowed, "and"))
    };
    if cards::is_foundation(card) {
        let turn = if cards::elemental(card).is_some() {
            ", and gives an extra turn"
        } else {
            ""
        };
        texts.push(format!("As a Foundation it takes {takes}{turn}."));
    }
    if let Some((element, value)) = cards::redeemed(card) {
        let turn = if cards::redeemed_gives_a_turn(card) {
            ", and gives an extra turn"
        } else {
            ""
        };
        texts.push(format!(
            "Redeemed it raises your top level by up to {} of {}{turn}.",
            counted(usize::from(value), "pip"),
            element.name()
        ));
    }
    if let Some((element, Suited::Court(_))) = cards::suited(card) {
        let element = element.name();
        texts.push(format!(
            "As a Story it goes on a full level with {element}, and takes {takes}."
        ));
    } else if cards::is_planetary(card) {
        texts.push(format!("As a Story it goes on any full level, and takes {takes}."));
    }
    if let Some(element) = cards::roof_element(card) {
        texts.push(format!(
            "As a Roof it goes on a full level with {0}: 5 points, and 1 for each pyramid of {0} in the house.",
            element.name()
        ));
    }
    if let Some(element) = cards::zodiacal(card) {
        texts.push(format!("It makes Trouble of {} for another house.", element.name()));
    }
    if let Some(element) = cards::relieves(card) {
        let turns = match relief_turns(card) {
            0 => String::new(),
            1 => ", with an extra turn".to_owned(),
            many => format!(", with {many} extra turns"),
        };
        texts.push(format!("It relieves Trouble of {}{turns}.", element.name()));
    }
    texts.push(match cards::suited(card) {
        Some((_, Suited::Small(value))) => format!("In hand at the end it costs {value}."),
        Some(_) => "Court cards in hand at the end cost 1, two of them 5, three 25, four or more 50.".to_owned(),
        None => "In hand at the end it costs nothing.".to_owned(),
    });
    texts
}

fn about_level(level: &Level, number: usize) -> String {
    let role = if number == 0 {
        "Foundation".to_owned()
    } else {
        format!("Story {number}")
    };
    let pyramids = level.pyramids.first().map_or_else(
        || "bare".to_owned(),
        |first| {
            let of = Element::ALL.into_iter().filter_map(|element| {
                let count = level.pyramids.iter().filter(|p| p.element == element).count();
                (count > 0).then(|| format!("{count} {}", element.name()))
            });
            let of: Vec<String> = of.collect();
            format!("{} {}", first.size.name(), of.join(", "))
        },
    );
    format!("{role}, {}: {pyramids}.", cards::full_name(level.card))
}

fn about_house(game: &Thoth, seat: Seat, view: &ViewContext<'_>) -> Vec<String> {
    let name = view.name(seat);
    if game.has_left(seat) {
        return vec![format!("{name} has left; the house is cleared.")];
    }
    let total = game.totals().get(seat.index()).copied().unwrap_or(0);
    let Some(house) = game.house(seat).filter(|house| house.stands()) else {
        return vec![
            format!("{name}'s lot, {total} points so far."),
            "A house begins with a Foundation: an Ace, or a planetary or elemental trump.".to_owned(),
        ];
    };
    let mut texts = vec![format!(
        "{name}'s house: worth {} now, plus {total} points so far.",
        house.score()
    )];
    if let Some(roof) = house.roof {
        texts.push(format!("Roof: {}.", cards::full_name(roof)));
    }
    let levels = house.levels.iter().enumerate().rev();
    texts.extend(levels.map(|(number, level)| about_level(level, number)));
    if let Some(top) = house.top().filter(|_| house.roof.is_none()) {
        let free = CORNERS.saturating_sub(top.pyramids.len());
        let allowed: Vec<Element> = Element::ALL
            .into_iter()
            .filter(|e| cards::allows(top.card, *e))
            .collect();
        texts.push(if free == 0 {
            "Its top level is full: a Story or the Roof can go on it.".to_owned()
        } else {
            format!(
                "Its top level has {} free, for {}.",
                counted(free, "corner"),
                names::listed(&allowed, "or")
            )
        });
    }
    let immune = super::scale::immunity(house);
    if !immune.is_empty() {
        texts.push(format!(
            "It is immune against Trouble of {}.",
            names::listed(&immune, "and")
        ));
    }
    for place in 0..house.trouble.len() {
        let place = u8::try_from(place).unwrap_or(u8::MAX);
        texts.extend(about_trouble(game, seat, place, view).into_iter().take(1));
    }
    texts
}

fn about_trouble(game: &Thoth, seat: Seat, place: u8, view: &ViewContext<'_>) -> Vec<String> {
    let trouble = game.house(seat).map(|house| house.trouble.as_slice());
    let card = trouble.and_then(|trouble| trouble.get(usize::from(place))).copied();
    let Some(card) = card else {
        return vec![format!("{}'s house.", view.name(seat))];
    };
    let element = cards::zodiacal(card).map_or("", Element::name);
    vec![
        format!("Trouble of {element} against {}'s house: {}.", view.name(seat), cards::full_name(card)),
        "A house in Trouble cannot grow: its owner may only discard, or relieve the Trouble with a card of its element."
            .to_owned(),
        "A house has at most two; a third replaces one.".to_owned(),
    ]
}

fn about_bank(game: &Thoth) -> Vec<String> {
    let mut texts = vec!["The bank: the unused pyramids, five of each at first.".to_owned()];
    let list = Element::ALL.map(|element| {
        let counts = Size::ALL.map(|size| game.bank().count(element, size).to_string());
        format!("{} {}", element.name(), counts.join("/"))
    });
    texts.push(format!("Small, medium and large: {}.", list.join(", ")));
    texts.push("A small one is 1 pip, a medium one 2, a large one 3.".to_owned());
    texts
}
