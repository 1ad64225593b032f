//! The tables of the games: how each game is drawn, and how its actions are chosen.
//!
//! The table screen is the same for every game: title, seats, log, available actions, the seal. A game adds a
//! [`Board`], which draws its board and the player's hand as [`Spot`]s. For every legal action it also lists the spots
//! that choose it, in order ([`Board::path`]). Examples: a card and then a house, a square and then another, a button.
//! From that the screen knows what to highlight, what keys and mouse can reach, and what a choice would do. A game has
//! no input code of its own.

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

/// The point of view on a table.
#[derive(Clone, Copy, Debug)]
pub struct ViewContext<'a> {
    /// The player's own seat; `None` for a spectator.
    pub me: Option<Seat>,
    /// The names by seat, short enough for boards (at most 8 columns) and all different.
    pub names: &'a [String],
    /// The sealed cards that the player knows.
    pub known: &'a Faces,
    /// The spots chosen so far, for an action that needs more of them.
    pub picked: &'a [Spot],
    /// Whether the player can act here: not in a replay.
    pub acts: bool,
    /// Colours and glyphs.
    pub theme: &'a Theme,
}

impl ViewContext<'_> {
    pub fn name(&self, seat: Seat) -> &str {
        self.names.get(seat.index()).map_or("?", String::as_str)
    }
}

/// A button for an action that has no place on the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Button {
    /// Its letter; `None` if another letter would be one too many.
    pub key: Option<char>,
    /// Its label, in a word or two.
    pub label: &'static str,
}

/// A change on the board that catches the eye.
#[derive(Clone, Debug, PartialEq)]
pub enum Motion {
    /// Something flies from one spot to another, drawn as a short label.
    Fly {
        /// The label: at most 8 columns.
        what: Line<'static>,
        /// The start, placed as before the move.
        from: Spot,
        /// The end, placed as after the move.
        to: Spot,
    },
    /// Something happens at a spot.
    Flash(Spot),
}

/// A sequence shown step by step over the table, such as the scoring of a hand. Each beat reveals one more span of a
/// line.
#[derive(Clone, Debug, PartialEq)]
pub struct Animation {
    /// Its heading.
    pub title: String,
    /// Its lines, of at most 72 columns.
    pub lines: Vec<Line<'static>>,
}

/// A game's part of the table screen.
///
/// All drawing shows by letter and shape what it shows by colour, stays within its area, and uses ASCII alone if the
/// theme says so.
pub trait Board: TableGame {
    /// A short heading for the title: the hand, the target.
    fn heading(&self) -> String;

    /// A note beside a seat's name, in at most 12 columns: its number of cards, whether it has won.
    fn seat_note(&self, seat: Seat) -> String;

    /// The prompt for the player to act, as a sentence.
    fn prompt(&self, me: Seat) -> String;

    /// The rows under the board for the player's hand, over the whole width of a screen of `height` rows. 0 if the
    /// board shows the hand, or if there is none.
    fn hand_rows(&self, height: u16) -> u16 {
        let _ = height;
        0
    }

    /// Draws the board, with its places registered by [`Canvas::spot`] or [`Canvas::card`]. The area is at least 51 by
    /// 16 less the rows of the hand. On a large screen it is well over 100 by 30, which the board should use.
    fn draw(&self, view: &ViewContext<'_>, canvas: &mut Canvas<'_>, area: Rect);

    /// Draws the player's hand, if [`Self::hand_rows`] asked for room. The area is at least 80 columns wide.
    fn draw_hand(&self, view: &ViewContext<'_>, canvas: &mut Canvas<'_>, area: Rect) {
        let _ = (view, canvas, area);
    }

    /// The spots that choose a legal action, in order; never empty. Actions may share a path: the player then chooses
    /// one of them by its words. No path is a prefix of another.
    fn path(&self, action: &Self::Action, view: &ViewContext<'_>) -> Vec<Spot>;

    /// The effect of an action, in words that stand by themselves: "raise 2 small fire on the Queen of Cups".
    fn words(&self, action: &Self::Action, view: &ViewContext<'_>) -> String;

    /// The actions, legal or not, that a player may mean by choosing `spot` after those picked. The screen explains why
    /// an illegal one is not legal.
    fn attempts(&self, spot: Spot, view: &ViewContext<'_>) -> Vec<Self::Action>;

    /// The key and label of a button.
    fn button(&self, number: u8) -> Button;

    /// The question before an action that nobody wants to take by mistake.
    fn question(&self, action: &Self::Action, view: &ViewContext<'_>) -> Option<String> {
        let _ = (action, view);
        None
    }

    /// The gain of an action, among those with the same spots that differ only in it. The highest is offered first.
    fn worth(&self, action: &Self::Action) -> Option<u16> {
        let _ = action;
        None
    }

    /// The explanation of a spot, in a few short sentences for players who do not know the rules.
    fn about(&self, spot: Spot, view: &ViewContext<'_>) -> Vec<String>;

    /// A good action for now, for a player who asks for help in a game played alone.
    fn hint(&self, view: &ViewContext<'_>) -> Option<Self::Action> {
        let _ = view;
        None
    }

    /// The motions that animate an event. The board is already the one after it.
    fn motions(&self, event: &Self::Event, view: &ViewContext<'_>) -> Vec<Motion>;

    /// Whether the event ends a hand, and another begins at once unless the game is over.
    fn ends_hand(&self, event: &Self::Event) -> bool {
        let _ = event;
        false
    }

    /// A step-by-step account of an event, such as a scoring. The board is already the one after it.
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

pub fn ends_hand(game: &AnyGame, event: &AnyEvent) -> bool {
    match_game!(game, game, AnyEvent(own) = event => game.ends_hand(own)).unwrap_or_default()
}

pub fn show(game: &AnyGame, event: &AnyEvent, view: &ViewContext<'_>) -> Option<Animation> {
    match_game!(game, game, AnyEvent(own) = event => game.show(own, view)).flatten()
}
