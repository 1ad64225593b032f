//! The tables of the games: what each game draws, and how its actions are chosen.
//!
//! The table screen is the same for every game: title, seats, log, what can be done, the seal. A game adds a
//! [`Board`]: it draws its board and the own hand as [`Spot`]s, and says of every legal action by which spots it is
//! chosen, one after the other ([`Board::path`]): a card and then the house that it goes to, a square and then
//! another, a button. From that the screen knows what to light up, what keys and mouse can reach, and what a choice
//! would do; a game has no input code of its own.

pub mod layout;
pub mod offers;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

mod ivory;
mod loot;
mod plutonian;
mod sphinx;
mod thoth;

use fairdeal_games::{AnyAction, AnyEvent, AnyGame, TableGame, match_game};
use fairdeal_protocol::card::Faces;
use fairdeal_protocol::seat::Seat;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::canvas::Canvas;

pub use crate::canvas::Spot;
use crate::theme::Theme;

/// From where a table is looked at.
#[derive(Clone, Copy, Debug)]
pub struct ViewContext<'a> {
    /// The player's own seat; `None` for a spectator.
    pub me: Option<Seat>,
    /// The names at the table by seat, short enough for boards (at most 8 columns) and all different.
    pub names: &'a [String],
    /// The sealed cards that the player knows.
    pub known: &'a Faces,
    /// The spots chosen so far, of an action that needs more of them.
    pub picked: &'a [Spot],
    /// Colours and signs.
    pub theme: &'a Theme,
}

impl ViewContext<'_> {
    pub fn name(&self, seat: Seat) -> &str {
        self.names.get(seat.index()).map_or("?", String::as_str)
    }
}

/// A button for something that has no place on the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Button {
    /// The letter that does it; none if it would be one too many.
    pub key: Option<char>,
    /// Its label, in a word or two.
    pub label: &'static str,
}

/// Something that the eye should see happen.
#[derive(Clone, Debug, PartialEq)]
pub enum Motion {
    /// Something goes from one spot to another; it is drawn on its way as these few letters.
    Fly {
        /// The label: at most 8 columns.
        what: Line<'static>,
        /// From where, as it was before.
        from: Spot,
        /// To where, as it is after.
        to: Spot,
    },
    /// Something happens at a spot.
    Flash(Spot),
}

/// Something that is told step by step over the table, such as the scoring of a hand: in each beat one more
/// span of a line appears.
#[derive(Clone, Debug, PartialEq)]
pub struct Animation {
    /// Its heading.
    pub title: String,
    /// Its lines, of at most 72 columns.
    pub lines: Vec<Line<'static>>,
}

/// A game's part of the table screen.
///
/// All drawing tells by letter and shape what it tells by colour, stays within its area, and uses ASCII alone if
/// the theme says so.
pub trait Board: TableGame {
    /// A few words for the title: the hand, the target.
    fn heading(&self) -> String;

    /// Note beside a seat's name, in at most 12 columns: the number of its cards, whether it has won.
    fn seat_note(&self, seat: Seat) -> String;

    /// Prompt for the player to act, as a sentence.
    fn prompt(&self, me: Seat) -> String;

    /// How many rows under the board the own hand takes, over the whole width of the screen; the screen has
    /// `height` of them. None if the board shows the hand, or if there is none.
    fn hand_rows(&self, height: u16) -> u16 {
        let _ = height;
        0
    }

    /// Draws the board, its choosable places by [`Canvas::spot`] or [`Canvas::card`]. The area is at least
    /// 51 by 16 less the rows of the hand, and on a large screen well over 100 by 30, which are there to be used.
    fn draw(&self, view: &ViewContext<'_>, canvas: &mut Canvas<'_>, area: Rect);

    /// Draws the own hand, if [`Self::hand_rows`] asked for room. The area is at least 80 columns wide.
    fn draw_hand(&self, view: &ViewContext<'_>, canvas: &mut Canvas<'_>, area: Rect) {
        let _ = (view, canvas, area);
    }

    /// By which spots a legal action is chosen, in order; never empty. Actions may share a path: the player
    /// then chooses one of them by its words. No path is the beginning of another one's.
    fn path(&self, action: &Self::Action, view: &ViewContext<'_>) -> Vec<Spot>;

    /// Effect of an action, in words that stand by themselves: "raise 2 small fire on the Queen of Cups".
    fn words(&self, action: &Self::Action, view: &ViewContext<'_>) -> String;

    /// The actions that a player means who chooses `spot` after those picked, legal or not: the screen shows
    /// why those that are not legal are not.
    fn attempts(&self, spot: Spot, view: &ViewContext<'_>) -> Vec<Self::Action>;

    /// Key and label of a button.
    fn button(&self, number: u8) -> Button;

    /// Question before an action that nobody wants to take by mistake.
    fn question(&self, action: &Self::Action, view: &ViewContext<'_>) -> Option<String> {
        let _ = (action, view);
        None
    }

    /// Gain of an action, among those with the same spots that differ only in it: the most is offered first.
    fn worth(&self, action: &Self::Action) -> Option<u16> {
        let _ = action;
        None
    }

    /// Explanation of a spot, in a few short sentences for players who do not know the rules.
    fn about(&self, spot: Spot, view: &ViewContext<'_>) -> Vec<String>;

    /// An action that would be good now, for a player who asks for help in a game played alone.
    fn hint(&self, view: &ViewContext<'_>) -> Option<Self::Action> {
        let _ = view;
        None
    }

    /// Animation of an event. The board is the one after it.
    fn motions(&self, event: &Self::Event, view: &ViewContext<'_>) -> Vec<Motion>;

    /// Step-by-step account of an event, such as a scoring. The board is the one after it.
    fn show(&self, event: &Self::Event, view: &ViewContext<'_>) -> Option<Animation> {
        let _ = (event, view);
        None
    }
}

pub fn path(game: &AnyGame, action: &AnyAction, view: &ViewContext<'_>) -> Vec<Spot> {
    match_game!(game, game, AnyAction(own) = action => game.path(own, view)).unwrap_or_default()
}

pub fn words(game: &AnyGame, action: &AnyAction, view: &ViewContext<'_>) -> String {
    match_game!(game, game, AnyAction(own) = action => game.words(own, view)).unwrap_or_default()
}

pub fn question(game: &AnyGame, action: &AnyAction, view: &ViewContext<'_>) -> Option<String> {
    match_game!(game, game, AnyAction(own) = action => game.question(own, view)).flatten()
}

pub fn worth(game: &AnyGame, action: &AnyAction) -> Option<u16> {
    match_game!(game, game, AnyAction(own) = action => game.worth(own)).flatten()
}

pub fn attempts(game: &AnyGame, spot: Spot, view: &ViewContext<'_>) -> Vec<AnyAction> {
    match_game!(game, game, AnyAction as wrap => game.attempts(spot, view).into_iter().map(wrap).collect())
}

pub fn hint(game: &AnyGame, view: &ViewContext<'_>) -> Option<AnyAction> {
    match_game!(game, game, AnyAction as wrap => game.hint(view).map(wrap))
}

pub fn motions(game: &AnyGame, event: &AnyEvent, view: &ViewContext<'_>) -> Vec<Motion> {
    match_game!(game, game, AnyEvent(own) = event => game.motions(own, view)).unwrap_or_default()
}

pub fn show(game: &AnyGame, event: &AnyEvent, view: &ViewContext<'_>) -> Option<Animation> {
    match_game!(game, game, AnyEvent(own) = event => game.show(own, view)).flatten()
}
