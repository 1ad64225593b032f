//! Explanations of cards, houses and piles for players who do not know the rules, and the sections of the rail.

use fairdeal_games::TableGame as _;
use fairdeal_games::counted;
use fairdeal_games::thoth::cards::{self, Element, Suited};
use fairdeal_games::thoth::house::{CORNERS, House, Level};
use fairdeal_games::thoth::{Phase, Thoth};
use fairdeal_protocol::card::Face;
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;
use ratatui::text::Line;

use super::hand::{self, Kind};
use super::tell::relief_turns;
use super::{names, parts};
use crate::canvas::wrapped;
use crate::tables::{Spot, ViewContext};

/// Columns of a line in the rail.
const RAIL: usize = 25;

/// The elements of the pyramids that a level's card takes.
pub(super) fn allowed(card: Face) -> Vec<Element> {
    Element::ALL.into_iter().filter(|e| cards::allows(card, *e)).collect()
}

/// The elements that a house is immune to.
fn immunity(house: &House) -> Vec<Element> {
    Element::ALL.into_iter().filter(|e| house.is_immune(*e)).collect()
}

/// "Ada's", or "Your".
fn whose(seat: Seat, view: &ViewContext<'_>) -> String {
    if view.me == Some(seat) { "Your".to_owned() } else { format!("{}'s", view.name(seat)) }
}

/// The name of a spot, and what it is in a few words.
pub(super) fn title(game: &Thoth, spot: Spot, view: &ViewContext<'_>) -> String {
    match spot {
        Spot::Card(slot) => slot.face(view.known).map_or_else(|| "A sealed card".to_owned(), card_title),
        Spot::Seat(seat) => format!("{} house", whose(seat, view)),
        Spot::Part(seat, place) => {
            let card = trouble_card(game, seat, place);
            let name = card.map_or_else(String::new, |card| format!(": {}", cards::full_name(card)));
            format!("Trouble on {} house{name}", whose(seat, view).replace("Your", "your"))
        }
        parts::BANK => "The bank".to_owned(),
        parts::DECK => format!("The deck: {}", counted(game.deck().len(), "card")),
        parts::DISCARDS => format!("The discard pile: {}", counted(game.discard_pile().len(), "card")),
        parts::POOL => "The pool of bids".to_owned(),
        Spot::Button(parts::DISCARD) => "Discard it".to_owned(),
        Spot::Button(parts::RELIEVE) => "Relieve your Trouble".to_owned(),
        Spot::Button(parts::END) => "Call the end".to_owned(),
        Spot::Button(parts::DEMOLISH) => "Demolish your house".to_owned(),
        Spot::Button(_) => "Topple a house".to_owned(),
        Spot::Pile(_) | Spot::Square(_) => String::new(),
    }
}

/// The heading of the rules for a spot.
pub(super) fn rule(spot: Spot) -> &'static str {
    match spot {
        parts::BANK => "the-pieces",
        parts::DECK | parts::DISCARDS | Spot::Button(parts::DISCARD) => "a-hand",
        Spot::Part(..) | Spot::Button(parts::RELIEVE) => "trouble",
        Spot::Seat(_) | Spot::Button(parts::END) => "the-end-of-a-hand",
        parts::POOL => "the-auction",
        Spot::Button(_) => "options",
        _ => "what-cards-do",
    }
}

/// Explains a spot; the title is not repeated.
pub(super) fn about(game: &Thoth, spot: Spot, view: &ViewContext<'_>) -> Vec<String> {
    let one = |text: &str| vec![text.to_owned()];
    match spot {
        Spot::Card(slot) => match slot.face(view.known) {
            None => one("Only its owner knows it."),
            Some(card) if game.phase() == Phase::Bid && !game.is_over() => about_bid(card),
            Some(card) => about_card(game, card, view),
        },
        Spot::Seat(seat) => about_house(game, seat),
        Spot::Part(seat, place) => about_trouble(game, seat, place),
        parts::BANK => vec![
            "Pyramids that stand in no house; five of each kind at the start.".to_owned(),
            "A small one is 1 pip, a medium one 2, a large one 3.".to_owned(),
        ],
        parts::DECK => one(
            "Every turn begins with a card from it. When it is empty, the discard pile is shuffled into a new deck; the \
             fifth time ends the hand.",
        ),
        parts::DISCARDS => {
            let last: Vec<String> =
                game.discard_pile().iter().rev().take(8).map(|card| cards::full_name(*card)).collect();
            if last.is_empty() {
                one("Nothing is discarded yet.")
            } else {
                vec![format!("From the top: {}.", last.join(", "))]
            }
        }
        parts::POOL => one("Players fill their hands from them, up to five cards."),
        Spot::Button(button) => one(about_button(button)),
        Spot::Pile(_) | Spot::Square(_) => Vec::new(),
    }
}

/// A card as a bid, and what becomes of it.
fn about_bid(card: Face) -> Vec<String> {
    let beats = if cards::is_trump(card) {
        "As a bid it beats lower trumps, and every card that is no trump."
    } else {
        "As a bid it beats lower cards of every suit, but no trump."
    };
    let rest = "The best bid has the first turn. All bids go into a pool: the winner picks from it last, so this card may \
                go to another player. Of two best bids alike none wins, and all bid again.";
    vec![beats.to_owned(), rest.to_owned()]
}

fn about_button(button: u8) -> &'static str {
    match button {
        parts::DISCARD => "The card goes to the discard pile, and your turn ends.",
        parts::RELIEVE => "The card takes all Trouble of its element off your house, and goes to the discard pile.",
        parts::END => "Every house is blocked: a card laid face down ends the hand, and everybody scores.",
        parts::DEMOLISH => "Your house goes back to its Foundation and its pyramids to the bank. You keep your turn.",
        _ => "It knocks over another house, whose owner takes over yours. It costs 156 points; you keep your turn.",
    }
}

/// The name of a card, its kind, and what it is worth.
fn card_title(card: Face) -> String {
    let name = cards::in_words(card);
    let kind = match cards::suited(card) {
        Some((_, Suited::Court(_))) => format!("court card of {}", names::listed(&allowed(card), "and")),
        Some(_) => format!("worth {}", hand::worth(card)),
        None => {
            let kinds = [
                cards::elemental(card).map(|element| format!("elemental ({})", element.name())),
                cards::is_planetary(card).then(|| "planetary".to_owned()),
                cards::zodiacal(card).map(|element| format!("zodiacal ({})", element.name())),
            ];
            let kinds: Vec<String> = kinds.into_iter().flatten().collect();
            format!("{} trump, worth {}", kinds.join(" and "), hand::worth(card))
        }
    };
    format!("{name}: {kind}")
}

/// The uses of a card: those possible now first.
fn about_card(game: &Thoth, card: Face, view: &ViewContext<'_>) -> Vec<String> {
    let extra = |gives: bool| if gives { ", with an extra turn" } else { "" };
    let mut texts: Vec<(Kind, String)> = Vec::new();
    let takes = names::listed(&allowed(card), "and");
    if let Some((element, value)) = cards::redeemed(card) {
        let pips = counted(usize::from(value), "pip");
        let turn = extra(cards::redeemed_gives_a_turn(card));
        let text = format!("It raises your top level by up to {pips} of {}{turn}.", element.name());
        texts.push((Kind::Raise, text));
    }
    if cards::is_foundation(card) {
        let turn = extra(cards::elemental(card).is_some());
        texts.push((Kind::Foundation, format!("As a Foundation it takes {takes}{turn}.")));
    }
    match cards::suited(card) {
        Some((element, Suited::Court(_))) => texts.push((
            Kind::Story,
            format!("As a Story it goes on a full level with {}, and takes {takes}.", element.name()),
        )),
        None if cards::is_planetary(card) => {
            texts.push((Kind::Story, format!("As a Story it goes on any full level, and takes {takes}.")));
        }
        _ => {}
    }
    if let Some(element) = cards::roof_element(card) {
        let element = element.name();
        texts.push((
            Kind::Roof,
            format!("As a Roof it goes on a full level with {element}: 5 points, and 1 for each pyramid of {element}."),
        ));
    }
    if let Some(element) = cards::zodiacal(card) {
        texts.push((Kind::Trouble, format!("It makes Trouble of {} for another house.", element.name())));
    }
    if let Some(element) = cards::relieves(card) {
        let turns = match relief_turns(card) {
            0 => String::new(),
            turns => format!(", with {}", counted(turns, "extra turn")),
        };
        texts.push((Kind::Relieve, format!("It relieves Trouble of {}{turns}.", element.name())));
    }
    texts.push((
        Kind::Discard,
        match cards::suited(card) {
            Some((_, Suited::Small(value))) => format!("In hand at the end it costs {value}."),
            Some(_) => "Court cards in hand at the end: one costs 1, two 5, three 25.".to_owned(),
            None => "In hand at the end it costs nothing.".to_owned(),
        },
    ));
    let uses = view.me.map_or_else(Vec::new, |me| hand::uses(game, me, card));
    texts.sort_by_key(|(kind, _)| *kind == Kind::Discard || !uses.contains(kind));
    let idle = (uses == [Kind::Discard] && game.phase() == Phase::Play && !game.is_over())
        .then(|| "You cannot build with it now.".to_owned());
    idle.into_iter().chain(texts.into_iter().map(|(_, text)| text)).collect()
}

/// A level in words: "2 large fire, 1 large air".
fn pyramids(level: &Level) -> String {
    let of: Vec<String> = Element::ALL
        .into_iter()
        .filter_map(|element| {
            let count = level.pyramids.iter().filter(|p| p.element == element).count();
            let size = level.pyramids.first()?.size.name();
            (count > 0).then(|| format!("{count} {size} {}", element.name()))
        })
        .collect();
    if of.is_empty() { "bare".to_owned() } else { of.join(", ") }
}

/// The levels of a house from the top, and what it is immune to, in words.
fn in_words(house: &House) -> Vec<String> {
    let roof = house.roof.map(|roof| format!("Roof: {}", cards::full_name(roof)));
    let levels =
        house.levels.iter().rev().map(|level| format!("{}: {}", cards::full_name(level.card), pyramids(level)));
    let immune = immunity(house);
    let immune = (!immune.is_empty()).then(|| format!("immune to {}", names::listed(&immune, "and")));
    roof.into_iter().chain(levels).chain(immune).collect()
}

fn about_house(game: &Thoth, seat: Seat) -> Vec<String> {
    if game.has_left(seat) {
        return vec!["Its owner has left, and the house is cleared.".to_owned()];
    }
    let Some(house) = game.house(seat).filter(|house| house.stands()) else {
        return vec!["A house begins with a Foundation: an Ace, or a planetary or elemental trump.".to_owned()];
    };
    let mut texts = Vec::new();
    if house.in_trouble() {
        texts.push("It cannot grow while it is in Trouble.".to_owned());
    }
    if let Some(top) = house.top().filter(|_| house.roof.is_none()) {
        let free = CORNERS.saturating_sub(top.pyramids.len());
        texts.push(match free {
            0 => "Its top level is full: a Story or the Roof can go on it.".to_owned(),
            _ => format!(
                "Its top level has {} free, for {}.",
                counted(free, "corner"),
                names::listed(&allowed(top.card), "or")
            ),
        });
    }
    let words = in_words(house);
    texts.push(format!("From the top: {}.", words.join("; ")));
    texts
}

fn trouble_card(game: &Thoth, seat: Seat, place: u8) -> Option<Face> {
    game.house(seat)?.trouble.get(usize::from(place)).copied()
}

fn about_trouble(game: &Thoth, seat: Seat, place: u8) -> Vec<String> {
    let element = trouble_card(game, seat, place).and_then(cards::zodiacal).map_or("its element", Element::name);
    vec![
        format!("The house cannot grow: its owner may only discard, or relieve it with a card of {element}."),
        "A house has at most two; a third replaces one.".to_owned(),
    ]
}

/// The seats that can end the hand, and each other house in words.
pub(super) fn sections(game: &Thoth, view: &ViewContext<'_>) -> Vec<(String, Vec<Line<'static>>)> {
    if game.phase() != Phase::Play || game.is_over() {
        return Vec::new();
    }
    let theme = view.theme;
    let seats = || game.playing().iter();
    let house = |seat: Seat| game.house(seat).filter(|house| house.stands());
    let can_roof = |house: &House| house.top().is_some_and(Level::is_full) && !house.in_trouble();
    let mut close: Vec<Line<'static>> = Vec::new();
    for seat in seats().filter(|seat| house(*seat).is_some_and(can_roof)) {
        let (name, style) = if view.me == Some(seat) { ("You", theme.good()) } else { (view.name(seat), theme.bad()) };
        close.push(Line::styled(format!("{name}, with a Roof"), style));
    }
    if game.is_blocked() {
        close.push(Line::styled("Anyone: all are blocked", theme.bad()));
    }
    if close.is_empty() {
        let words = "Nobody yet: a Roof needs a level with four pyramids.";
        close.extend(wrapped(words, RAIL, 0).into_iter().map(|row| Line::styled(row, theme.ink())));
    }
    let mut all = vec![("Who can end the hand".to_owned(), close)];
    for seat in seats().filter(|seat| view.me != Some(*seat)) {
        let Some(house) = house(seat) else { continue };
        let rows = in_words(house)
            .into_iter()
            .flat_map(|text| wrapped(&text, RAIL, 2))
            .map(|row| Line::styled(row, theme.ink()))
            .collect();
        all.push((format!("{} house", whose(seat, view)), rows));
    }
    all
}
