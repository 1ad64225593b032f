//! Actions and places, in words.

use fairdeal_games::listed;
use fairdeal_games::pyramid::Size;
use fairdeal_games::sphinx::board::{Pylon, Square, central};
use fairdeal_games::sphinx::{Phase, Sphinx, SphinxAction, Status, cards};
use fairdeal_protocol::card::Slot;
use fairdeal_protocol::seat::Seat;
use ratatui::style::Style;

use super::{
    DIE, END, STAY, UNVOTE, VOTE, card, danger, king, letter, magicians_on, pylon_of, size_of, square_of, victims,
};
use crate::tables::{Spot, ViewContext};
use crate::theme::Theme;

/// A number of things, in words.
fn count(number: usize, one: &str, many: &str) -> String {
    match number {
        1 => format!("1 {one}"),
        _ => format!("{number} {many}"),
    }
}

/// The effect of an action.
pub(super) fn action(game: &Sphinx, action: &SphinxAction, view: &ViewContext<'_>) -> String {
    let turns = |at: Square| {
        let pylon = Pylon::at(at).filter(|pylon| !game.pack(*pylon).is_empty());
        pylon.map_or_else(String::new, |pylon| {
            format!(" and turn up a card of the {} Pylon", pylon.name())
        })
    };
    let names: Vec<String> = victims(game, action)
        .into_iter()
        .map(|seat| match view.me == Some(seat) {
            true => "you".to_owned(),
            false => view.name(seat).to_owned(),
        })
        .collect();
    let fate = match names.as_slice() {
        [] => String::new(),
        names => format!(", which surrounds {}", listed(names)),
    };
    match *action {
        SphinxAction::Place { to } => format!("place your Magician on {}", to.name()),
        SphinxAction::Magician { to } => {
            format!("move your Magician to {}{}", to.name(), turns(to))
        }
        SphinxAction::Stay => match view.me.and_then(|me| game.magician(me)) {
            Some(at) => format!("stay on {}{}", at.name(), turns(at)),
            None => "leave the Magician in place".to_owned(),
        },
        SphinxAction::Introduce { size, at } => format!(
            "bring a {} Monster to {} for {}{fate}",
            size.name(),
            at.name(),
            count(usize::from(size.pips()), "point", "points"),
        ),
        SphinxAction::Monster { size, from, to } => format!(
            "move a {} Monster from {} to {}{fate}",
            size.name(),
            from.name(),
            to.name(),
        ),
        SphinxAction::End => match game.points() {
            0 => "end your turn".to_owned(),
            points => format!(
                "end your turn, with {} left",
                count(usize::from(points), "point", "points")
            ),
        },
        SphinxAction::Vote { end: true } => "vote to end the game".to_owned(),
        SphinxAction::Vote { end: false } => "take back your vote to end the game".to_owned(),
    }
}

/// The state of a seat's Magician, in three columns; for one on the board, the number of squares round it with
/// Monsters.
pub(super) fn state(game: &Sphinx, seat: Seat, theme: &Theme) -> (String, Style) {
    match (game.status(seat), game.magician(seat)) {
        (Status::Won, _) => ("won".to_owned(), theme.good()),
        (Status::Lost, _) => ("out".to_owned(), theme.bad()),
        (Status::Playing, None) => ("-".to_owned(), theme.faint()),
        (Status::Playing, Some(at)) if Pylon::at(at).is_some() => ("ok".to_owned(), theme.good()),
        (Status::Playing, Some(at)) => {
            let (closed, all) = danger(game, at);
            (format!("{closed}/{all}"), peril(closed, all, theme))
        }
    }
}

fn peril(closed: usize, all: usize, theme: &Theme) -> Style {
    if closed * 2 >= all { theme.bad() } else { theme.faint() }
}

/// The state of a seat's Magician, in a row.
pub(super) fn place(game: &Sphinx, seat: Seat, view: &ViewContext<'_>) -> (String, Style) {
    let theme = view.theme;
    match (game.status(seat), game.magician(seat)) {
        (Status::Playing, None) => ("not on the board yet".to_owned(), theme.faint()),
        (Status::Playing, Some(at)) => match Pylon::at(at) {
            Some(pylon) => {
                let text = format!("{}, {} Pylon: safe", at.name(), pylon.name());
                (text, theme.good())
            }
            None => {
                let (closed, all) = danger(game, at);
                let text = format!("{}, {closed} of {all} sides shut", at.name());
                (text, peril(closed, all, theme))
            }
        },
        _ => end(game, seat, view),
    }
}

/// The outcome of a seat.
pub(super) fn end(game: &Sphinx, seat: Seat, view: &ViewContext<'_>) -> (String, Style) {
    let theme = view.theme;
    match game.status(seat) {
        Status::Won => ("has found the King".to_owned(), theme.good()),
        Status::Lost if game.forfeited().contains(seat) => ("has left the game".to_owned(), theme.bad()),
        Status::Lost => ("was surrounded".to_owned(), theme.bad()),
        Status::Playing => ("has not found the King".to_owned(), theme.faint()),
    }
}

/// Explains a place.
pub(super) fn about(game: &Sphinx, spot: Spot, view: &ViewContext<'_>) -> Vec<String> {
    if let Some(square) = square_of(spot) {
        return about_square(game, square, view);
    }
    if let Some(size) = size_of(spot) {
        return about_supply(game, size);
    }
    if let Some(pylon) = pylon_of(spot) {
        return about_pack(game, pylon, view.theme);
    }
    match spot {
        DIE => about_die(game),
        Spot::Seat(seat) => about_seat(game, seat, view),
        Spot::Button(STAY) => vec![
            "Your Magician stays where it is.".to_owned(),
            "On a Pylon's square that turns up the next card of its pack.".to_owned(),
        ],
        Spot::Button(END) => vec![
            "Your turn ends; unused points are lost.".to_owned(),
            "Play passes to the right.".to_owned(),
        ],
        Spot::Button(VOTE) => vec![
            "You vote to end the game.".to_owned(),
            "When all players still looking for their King vote so, the game ends and they have not won.".to_owned(),
        ],
        Spot::Button(UNVOTE) => vec!["You take back your vote to end the game.".to_owned()],
        _ => Vec::new(),
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

fn about_square(game: &Sphinx, square: Square, view: &ViewContext<'_>) -> Vec<String> {
    let name = square.name();
    let mut lines = Vec::new();
    if let Some(pylon) = Pylon::at(square) {
        let left = count(game.pack(pylon).len(), "card", "cards");
        lines.push(format!(
            "{name}: a square of the {} Pylon, whose pack has {left}.",
            pylon.name()
        ));
        lines.push(
            "A Magician that goes or stays here turns up a card and cannot be surrounded. Monsters may leave it \
             but not enter."
                .to_owned(),
        );
        if game.turned(pylon).iter().any(|card| cards::is_spade(*card)) {
            lines.push("A spade lies at this Pylon, so Monsters may be brought here.".to_owned());
        }
    } else if central().any(|at| at == square) {
        lines.push(format!(
            "{name}: a square of the centre, where Magicians begin and Monsters are brought."
        ));
    } else {
        lines.push(format!("{name}: an ordinary square."));
    }
    for seat in magicians_on(game, square) {
        let owner = match view.me == Some(seat) {
            true => "Your Magician".to_owned(),
            false => format!("The Magician of {}", view.name(seat)),
        };
        let sign = letter(view, seat);
        lines.push(format!("{owner} (@{sign}) stands here."));
    }
    if magicians_on(game, square).next().is_some() && Pylon::at(square).is_none() {
        let (closed, all) = danger(game, square);
        lines.push(format!(
            "Monsters block {closed} of the {all} squares around it; if they block all, it is lost."
        ));
    }
    if let Some(monsters) = monsters(game, square) {
        lines.push(format!("Here: {monsters}."));
        lines.push("For one point a Monster moves up to its pips in squares, not diagonally.".to_owned());
    }
    lines
}

fn about_supply(game: &Sphinx, size: Size) -> Vec<String> {
    let left = game.supply().get(size.index()).copied().unwrap_or(0);
    let pips = count(usize::from(size.pips()), "pip", "pips");
    let points = count(usize::from(size.pips()), "point", "points");
    vec![
        format!("{left} {} Monsters in the supply, of {pips} each.", size.name()),
        format!("One enters for {points}, on the centre or at a Pylon with a spade turned up."),
        "Once a Monster has moved, none can be brought this turn.".to_owned(),
    ]
}

fn about_pack(game: &Sphinx, pylon: Pylon, theme: &Theme) -> Vec<String> {
    let squares: Vec<String> = pylon.squares().map(Square::name).collect();
    let left = count(game.pack(pylon).len(), "card", "cards");
    let turned: Vec<String> = game
        .turned(pylon)
        .iter()
        .map(|face| card(*face, theme).content.into_owned())
        .collect();
    let turned = match turned.as_slice() {
        [] => "none".to_owned(),
        some => listed(some),
    };
    let mut lines = vec![format!(
        "The {} Pylon, {}: {left} in its pack; turned up: {turned}.",
        pylon.name(),
        listed(&squares),
    )];
    let kings: Vec<String> = game
        .pack(pylon)
        .iter()
        .rev()
        .filter_map(|slot| match slot {
            Slot::Open(face) => Some(card(*face, theme).content.into_owned()),
            Slot::Sealed(_) => None,
        })
        .collect();
    if !kings.is_empty() {
        lines.push(format!("Seen and put back under the pack: {}.", listed(&kings)));
    }
    lines.push(
        "An Ace, 2 or 3 brings a Monster of so many pips to the Pylon's other square. Your own King wins; \
         another goes under the pack."
            .to_owned(),
    );
    lines
}

fn about_die(game: &Sphinx) -> Vec<String> {
    let mut lines = vec![match (game.phase(), game.roll()) {
        (Phase::Monsters, Some(roll)) => format!(
            "The die shows {roll}; {} left in this turn.",
            count(usize::from(game.points()), "point is", "points are")
        ),
        _ => "The die is thrown after the Magician's step.".to_owned(),
    }];
    lines.push("A Monster costs its pips to bring, and one point to move. Unused points are lost.".to_owned());
    lines.push("When all Monsters are on the board, 4, 5 and 6 count as 1, 2 and 3.".to_owned());
    lines
}

fn about_seat(game: &Sphinx, seat: Seat, view: &ViewContext<'_>) -> Vec<String> {
    let goal = king(game, seat).map(|king| card(king, view.theme).content.into_owned());
    let goal = goal.unwrap_or_default();
    let (place, _) = place(game, seat, view);
    let mut lines = vec![
        format!(
            "{} (@{}) looks for {goal}, the King of its Jack's suit.",
            view.name(seat),
            letter(view, seat)
        ),
        format!("Its Magician: {place}."),
    ];
    if game.status(seat) != Status::Playing {
        lines.truncate(1);
        lines.push(format!("{} {}.", view.name(seat), end(game, seat, view).0));
        lines.push("Players who have won or lost still throw the die and move Monsters.".to_owned());
    }
    if game.votes().contains(seat) {
        lines.push("It votes to end the game.".to_owned());
    }
    lines
}
