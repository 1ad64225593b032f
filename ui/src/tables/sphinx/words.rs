//! Actions and places, in words.

use fairdeal_games::pyramid::Size;
use fairdeal_games::sphinx::board::{Pylon, Square, central};
use fairdeal_games::sphinx::{Phase, Sphinx, SphinxAction, Status, Whereabouts, cards};
use fairdeal_games::{TableGame as _, counted, listed};
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;
use ratatui::style::Style;

use super::spots::{END, UNVOTE, VOTE, magicians_on, pylon_of, size_of, square_of, victims};
use crate::tables::{Spot, ViewContext};
use crate::theme::Theme;

/// A seat in a sentence.
fn named(view: &ViewContext<'_>, seat: Seat) -> String {
    if view.me == Some(seat) { "you".to_owned() } else { view.name(seat).to_owned() }
}

/// A seat's Magician in a sentence.
fn magician(view: &ViewContext<'_>, seat: Seat) -> String {
    if view.me == Some(seat) { "your Magician".to_owned() } else { format!("{}'s Magician", view.name(seat)) }
}

/// The effect of an action.
pub(super) fn action(game: &Sphinx, action: &SphinxAction, view: &ViewContext<'_>) -> String {
    let turns = |at: Square| {
        let pylon = Pylon::at(at).filter(|pylon| !game.pack(*pylon).is_empty());
        pylon.map_or_else(String::new, |pylon| format!(" and turn up a card of the {} Pylon", pylon.name()))
    };
    let names: Vec<String> = victims(game, action).into_iter().map(|seat| named(view, seat)).collect();
    let fate = match names.as_slice() {
        [] => String::new(),
        names => format!(", which surrounds {}", listed(names)),
    };
    match *action {
        SphinxAction::Place { to } => format!("place your Magician on {}", to.name()),
        SphinxAction::Magician { to } => format!("move your Magician to {}{}", to.name(), turns(to)),
        SphinxAction::Stay => match view.me.and_then(|me| game.magician(me)) {
            Some(at) => format!("stay on {}{}", at.name(), turns(at)),
            None => "leave the Magician in place".to_owned(),
        },
        SphinxAction::Introduce { size, at } => format!(
            "bring a {} Monster to {} for {}{fate}",
            size.name(),
            at.name(),
            counted(usize::from(size.pips()), "point"),
        ),
        SphinxAction::Monster { size, from, to } => {
            format!("move a {} Monster from {} to {}{fate}", size.name(), from.name(), to.name())
        }
        SphinxAction::End => match game.points() {
            0 => "end your turn".to_owned(),
            points => format!("end your turn, with {} left", counted(usize::from(points), "point")),
        },
        SphinxAction::Vote { end: true } => "vote to end the game".to_owned(),
        SphinxAction::Vote { end: false } => "take back your vote to end the game".to_owned(),
    }
}

/// The taken squares around a seat's Magician, and all squares around it; `None` if it cannot be surrounded.
pub(super) fn danger(game: &Sphinx, seat: Seat) -> Option<(usize, usize)> {
    let at = game.magician(seat).filter(|at| Pylon::at(*at).is_none())?;
    let taken = at.around().filter(|at| game.monsters_on(*at) != [0; 3]);
    Some((taken.count(), at.around().count()))
}

/// The outcome of a seat.
pub(super) fn end(game: &Sphinx, seat: Seat, theme: &Theme) -> (&'static str, Style) {
    match game.status(seat) {
        Status::Won => ("found the King", theme.good()),
        Status::Lost if game.forfeited().contains(seat) => ("left the game", theme.bad()),
        Status::Lost => ("was surrounded", theme.bad()),
        Status::Playing => ("did not find the King", theme.ink()),
    }
}

/// The Monsters on a square: "2 large and 1 small Monster".
fn monsters(game: &Sphinx, square: Square) -> Option<String> {
    let counts = Size::ALL.into_iter().zip(game.monsters_on(square));
    let parts: Vec<(u8, String)> = counts
        .rev()
        .filter(|(_, count)| *count > 0)
        .map(|(size, count)| (count, format!("{count} {}", size.name())))
        .collect();
    let (last, _) = parts.last()?;
    let noun = if *last == 1 { "Monster" } else { "Monsters" };
    let texts: Vec<String> = parts.iter().map(|(_, text)| text.clone()).collect();
    Some(format!("{} {noun}", listed(&texts)))
}

/// The name of a place, with what stands there.
pub(super) fn title(game: &Sphinx, spot: Spot, view: &ViewContext<'_>) -> String {
    if let Some(square) = square_of(spot) {
        let place = match Pylon::at(square) {
            Some(pylon) => format!(", {} Pylon", pylon.name()),
            None if central().any(|at| at == square) => ", the centre".to_owned(),
            None => String::new(),
        };
        let seats = magicians_on(game, square).map(|seat| magician(view, seat));
        let pieces: Vec<String> = seats.chain(monsters(game, square)).collect();
        let pieces = match pieces.as_slice() {
            [] => String::new(),
            pieces => format!(": {}", listed(pieces)),
        };
        return format!("{}{place}{pieces}", square.name());
    }
    if let Some(size) = size_of(spot) {
        let left = game.supply().get(size.index()).copied().unwrap_or(0);
        let kind = match size {
            Size::Small => "Small",
            Size::Medium => "Medium",
            Size::Large => "Large",
        };
        return format!("{kind} Monsters: {left} in the supply");
    }
    match spot {
        Spot::Seat(seat) if view.me == Some(seat) => "You".to_owned(),
        Spot::Seat(seat) => view.name(seat).to_owned(),
        Spot::Button(END) => "End of your turn".to_owned(),
        Spot::Button(VOTE | UNVOTE) => "A vote to end the game".to_owned(),
        _ => pylon_of(spot).map_or_else(|| "The die".to_owned(), |pylon| format!("The {} Pylon", pylon.name())),
    }
}

/// Explains a place, the most useful first.
pub(super) fn about(game: &Sphinx, spot: Spot, view: &ViewContext<'_>) -> Vec<String> {
    if let Some(square) = square_of(spot) {
        return about_square(game, square, view);
    }
    if let Some(size) = size_of(spot) {
        let points = counted(usize::from(size.pips()), "point");
        let mut lines = vec![format!("Bring one for {points}, to the centre or to a Pylon with a spade turned up.")];
        lines.push(if game.has_moved() {
            "A Monster has moved, so you can't bring another this turn.".to_owned()
        } else {
            format!("It moves up to {} a point, not diagonally.", counted(usize::from(size.pips()), "square"))
        });
        return lines;
    }
    if let Some(pylon) = pylon_of(spot) {
        return about_pylon(game, pylon, view);
    }
    let lines: &[&str] = match spot {
        Spot::Seat(seat) => return about_seat(game, seat, view),
        Spot::Button(END) => &["Unused points are lost.", "Play passes to the right."],
        Spot::Button(VOTE) => &["When all players still seeking vote so, the game ends and none of them has won."],
        Spot::Button(UNVOTE) => &["You take back your vote to end the game."],
        _ => &[
            "Its points bring Monsters, at their size, and move them, at 1 point a move.",
            "With all Monsters on the board, 4, 5 and 6 count as 1, 2 and 3.",
        ],
    };
    lines.iter().map(|line| (*line).to_owned()).collect()
}

/// Whether the seat in turn can still bring a Monster: there is one that it can pay for, and none has moved.
pub(super) fn can_bring(game: &Sphinx) -> bool {
    let mut sizes = Size::ALL.into_iter().zip(game.supply());
    let has_any = sizes.any(|(size, left)| left > 0 && size.pips() <= game.points());
    game.phase() == Phase::Monsters && !game.has_moved() && has_any
}

/// The digits of the Monsters that the player can bring to a square.
fn brought_to(game: &Sphinx, square: Square, me: Seat) -> Vec<String> {
    let may = |size: &Size| game.check(me, &SphinxAction::Introduce { size: *size, at: square }).is_ok();
    Size::ALL.into_iter().filter(may).map(|size| size.pips().to_string()).collect()
}

fn about_square(game: &Sphinx, square: Square, view: &ViewContext<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    let digits = view.me.filter(|_| view.acts && view.picked.is_empty()).map(|me| brought_to(game, square, me));
    if let Some(digits) = digits.filter(|digits| !digits.is_empty()) {
        lines.push(format!("A Monster can come here: press {} first.", fairdeal_games::joined(&digits, "or")));
    }
    let seats: Vec<Seat> = magicians_on(game, square).collect();
    for seat in &seats {
        lines.extend(danger(game, *seat).map(|(taken, all)| {
            let whose = magician(view, *seat);
            format!("Monsters take {taken} of the {all} squares around {whose}; with all of them taken it is lost.")
        }));
    }
    if game.monsters_on(square) != [0; 3] {
        let most = Size::ALL
            .into_iter()
            .zip(game.monsters_on(square))
            .filter(|(_, count)| *count > 0)
            .map(|(size, _)| size.pips())
            .max();
        let squares = counted(usize::from(most.unwrap_or(1)), "square");
        lines.push(format!("Moves up to {squares} for 1 point, not diagonally, never onto a Magician or a Pylon."));
    }
    let is_empty = seats.is_empty() && game.monsters_on(square) == [0; 3];
    let near: Vec<String> = Seat::first(game.seats())
        .filter(|seat| game.magician(*seat).is_some_and(|at| at.around().any(|near| near == square)))
        .filter(|seat| danger(game, *seat).is_some())
        .map(|seat| magician(view, seat))
        .collect();
    if let Some(pylon) = Pylon::at(square) {
        lines.extend(about_pylon(game, pylon, view));
        return lines;
    }
    lines.extend(match near.len() {
        0 => None,
        1 | 2 => Some(format!("Next to {}.", listed(&near))),
        many => Some(format!("Next to {many} Magicians.")),
    });
    if is_empty && game.phase() == Phase::Magician {
        let around = square.around().count();
        let taken = square.around().filter(|at| game.monsters_on(*at) != [0; 3]).count();
        lines.push(format!("Empty; Monsters take {taken} of the {around} squares around it."));
    }
    if is_empty && central().any(|at| at == square) {
        lines.push("Magicians begin and Monsters are brought at the centre.".to_owned());
    } else if lines.is_empty() {
        lines.push("Empty. Only the centre and Pylons with a spade take new Monsters.".to_owned());
    }
    lines
}

fn about_pylon(game: &Sphinx, pylon: Pylon, view: &ViewContext<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    let left = game.pack(pylon).len();
    let mine = view.me.filter(|me| game.status(*me) == Status::Playing).and_then(|me| game.king(me));
    let place = mine.map(|king| game.whereabouts(king));
    let unseen = |packs: &[(Pylon, usize)]| -> (usize, usize) {
        let here = packs.iter().find(|(at, _)| *at == pylon).map_or(0, |(_, unseen)| *unseen);
        (here, packs.iter().map(|(_, unseen)| unseen).sum())
    };
    match place {
        _ if left == 0 => lines.push("Its pack is empty, but a Magician is safe here.".to_owned()),
        Some(Whereabouts::Under { pylon: at, above }) if at == pylon => {
            let above = match above {
                1 => "1 card lies".to_owned(),
                _ => format!("{above} cards lie"),
            };
            lines.push(format!("Your King is in this pack: {above} above it."));
        }
        Some(Whereabouts::Unseen(packs)) if unseen(&packs).0 > 0 => {
            let (here, all) = unseen(&packs);
            lines.push(format!("Your King may be here: {here} of {all} unseen cards."));
        }
        Some(_) => lines.push("Your King is not in this pack.".to_owned()),
        None => lines.push(format!("Its pack has {}.", counted(left, "card"))),
    }
    if left > 0 {
        lines.push("A Magician that comes or stays turns up a card; nothing can surround it here.".to_owned());
        lines.push("Ace, 2 or 3: a Monster of that size enters beside it.".to_owned());
    }
    if game.turned(pylon).iter().any(|card| cards::is_spade(*card)) {
        lines.push("Its spade lets Monsters be brought here.".to_owned());
    }
    lines
}

fn about_seat(game: &Sphinx, seat: Seat, view: &ViewContext<'_>) -> Vec<String> {
    let king = game.king(seat).map(cards::in_words).unwrap_or_default();
    let is_me = view.me == Some(seat);
    let mut lines = match game.status(seat) {
        Status::Playing if is_me => vec![format!("You seek {king}.")],
        Status::Playing => vec![format!("Seeks {king}.")],
        Status::Won | Status::Lost => {
            let (end, _) = end(game, seat, view.theme);
            let verb = if is_me { end.replacen("was", "were", 1) } else { end.to_owned() };
            vec![
                format!("{} {verb}.", if is_me { "You" } else { view.name(seat) }),
                "Players who have won or lost still roll and move Monsters.".to_owned(),
            ]
        }
    };
    if let Some(king) = game.king(seat).filter(|_| !is_me)
        && let Whereabouts::Under { pylon, .. } = game.whereabouts(king)
    {
        lines.push(format!("That King is in the pack of the {} Pylon.", pylon.name()));
    }
    if let Some((taken, all)) = danger(game, seat) {
        lines.push(format!("Monsters take {taken} of the {all} squares around {}.", magician(view, seat)));
    }
    lines
}
