//! The tables of the games: how each game is drawn, and how its actions are chosen.
//!
//! Every table has the same five places ([`layout`]): stage, hand, rail, inspector, and the prompt with its keys. A game
//! adds a [`Board`], which draws the stage and the player's hand as [`Spot`]s. For every legal action it also lists the spots
//! that choose it, in order ([`Board::path`]). Examples: a card and then a house, a square and then another, a button.
//! From that the screen knows what to highlight, what keys and mouse can reach, and what a choice would do. A game has
//! no input code of its own.

pub mod layout;
pub mod offers;
mod plate;
pub mod scale;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

mod ivory;
mod loot;
mod plutonian;
mod sphinx;
mod thoth;

use fairdeal_games::{AnyAction, AnyEvent, AnyGame, Hint, Hints, TableGame, match_game};
use fairdeal_protocol::card::Faces;
use fairdeal_protocol::seat::Seat;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use self::scale::Scale;
use crate::canvas::Canvas;

pub use self::plate::Plate;
pub use crate::canvas::Spot;
use crate::theme::Theme;

/// The point of view on a table.
#[derive(Clone, Copy, Debug)]
pub struct ViewContext<'a> {
    /// The player's own seat; `None` for a spectator.
    pub me: Option<Seat>,
    /// The names by seat, short enough for boards (at most 10 columns) and all different.
    pub names: &'a [String],
    /// The sealed cards that the player knows.
    pub known: &'a Faces,
    /// Each seat besides its game; empty if nothing is known of them.
    pub seats: &'a [SeatState],
    /// The spots chosen so far, for an action that needs more of them.
    pub picked: &'a [Spot],
    /// Whether the player can act here: not in a replay.
    pub acts: bool,
    /// Whether the table has stopped before its end: nobody is to act, and nothing is to come.
    pub is_closed: bool,
    /// Whether the board may say what is best: not in a puzzle.
    pub advises: bool,
    /// Colours and glyphs.
    pub theme: &'a Theme,
}

impl ViewContext<'_> {
    pub fn name(&self, seat: Seat) -> &str {
        self.names.get(seat.index()).map_or("?", String::as_str)
    }

    /// The name of a seat, whether the table waits for it, and what its connection says: one row of a plate.
    pub fn seat_line(&self, seat: Seat, acts: bool) -> Line<'static> {
        self.seat_line_with(seat, acts, None)
    }

    /// The same with the seat's points behind its name: behind a clock they would look like a part of it.
    pub fn seat_line_with(&self, seat: Seat, acts: bool, points: Option<String>) -> Line<'static> {
        let theme = self.theme;
        let acts = acts && !self.is_closed;
        let style = if acts { theme.accent() } else { theme.title() };
        let sign = if acts { theme.glyph("▶ ", "> ") } else { "" };
        let mut spans = vec![Span::styled(format!("{sign}{}", self.name(seat)), style)];
        if self.me == Some(seat) {
            spans.push(Span::styled(" (you)", style));
        }
        spans.extend(points.map(|points| Span::styled(points, theme.title())));
        if let Some(state) = self.seats.get(seat.index()) {
            spans.extend(state.note.clone().map(|(note, is_bad)| {
                let style = if is_bad { theme.bad() } else { theme.accent() };
                Span::styled(format!("  {note}"), style)
            }));
        }
        Line::from(spans)
    }

    /// The last turn of a seat, as a sentence without its name.
    pub fn last(&self, seat: Seat) -> Option<&str> {
        self.seats.get(seat.index())?.last.as_deref()
    }
}

/// A seat besides its game.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeatState {
    /// Whether a bot plays it.
    pub is_bot: bool,
    /// A note on its connection or its clock, and whether it is bad news.
    pub note: Option<(String, bool)>,
    /// Its last turn, without its name.
    pub last: Option<String>,
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
    /// The newest part of a spot is built, after its stone has flown there.
    Build(Spot),
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
    /// Whether the stage takes the full height of the screen, with the inspector under the rail: for square boards.
    const IS_TALL: bool = false;

    /// A short heading for the title: the hand, the target.
    fn heading(&self) -> String;

    /// A seat in a few words for the score sheet: its number of cards, whether it has won.
    fn seat_note(&self, seat: Seat) -> String;

    /// The prompt for the player to act, as a sentence. It names what the player can do with the cards that it knows.
    fn prompt(&self, me: Seat, known: &Faces) -> String;

    /// The rows for the player's hand, over the whole width. 0 if the stage shows the hand, or if there is none.
    fn hand_rows(&self, scale: Scale) -> u16 {
        let _ = scale;
        0
    }

    /// Draws the stage, with its places registered by [`Canvas::spot`] or a widget. The area is at least 56 by 5; it is
    /// about 85 by 18 on a screen of 120 by 40, and at most 150 wide.
    fn draw(&self, view: &ViewContext<'_>, canvas: &mut Canvas<'_>, area: Rect);

    /// Draws the player's hand, if [`Self::hand_rows`] asked for room. The area is at least 56 columns wide.
    fn draw_hand(&self, view: &ViewContext<'_>, canvas: &mut Canvas<'_>, area: Rect) {
        let _ = (view, canvas, area);
    }

    /// Sections for the rail and the score sheet, the most important first: heading and lines of at most 25 columns.
    fn sections(&self, view: &ViewContext<'_>) -> Vec<(String, Vec<Line<'static>>)> {
        let _ = view;
        Vec::new()
    }

    /// The spots that the digits 1 to 9 and 0 stand for: the player's cards or piles.
    fn row(&self, view: &ViewContext<'_>) -> Vec<Spot> {
        let _ = view;
        Vec::new()
    }

    /// The spot that has the focus first, such as the best discard; by default the first that can be chosen.
    fn first(&self, view: &ViewContext<'_>) -> Option<Spot> {
        let _ = view;
        None
    }

    /// The name of a spot for the inspector: "fool of flames".
    fn title(&self, spot: Spot, view: &ViewContext<'_>) -> String;

    /// The heading in the rulebook that explains a spot, as the slug of its text.
    fn rule(&self, spot: Spot) -> &'static str {
        let _ = spot;
        ""
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

    /// The gain of an action, among those whose spots differ in the last at most. The highest is offered first.
    fn worth(&self, action: &Self::Action) -> Option<u16> {
        let _ = action;
        None
    }

    /// The explanation of a spot, in a few short sentences for players who do not know the rules.
    fn about(&self, spot: Spot, view: &ViewContext<'_>) -> Vec<String>;

    /// An event as a picture for the log, in a few columns; `None` if words say it best, empty if nothing need be said.
    /// Its seat stands before it, and the pictures of a turn stand side by side.
    fn sketch(&self, event: &Self::Event, view: &ViewContext<'_>) -> Option<Line<'static>> {
        let _ = (event, view);
        None
    }

    /// The motions that animate an event. The board is already the one after it.
    fn motions(&self, event: &Self::Event, view: &ViewContext<'_>) -> Vec<Motion>;

    /// Whether what others bring to a spot stays marked until the player acts: a place of the board, not a hand.
    fn stays_marked(&self, spot: Spot) -> bool {
        matches!(spot, Spot::Square(_) | Spot::Part(..))
    }

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

/// A good action for the player, and why.
pub fn hint(game: &AnyGame, view: &ViewContext<'_>) -> Option<Hint<AnyAction>> {
    let me = view.me?;
    match_game!(game, game, AnyAction as wrap => game.hint(me, view.known).map(|hint| Hint {
        action: wrap(hint.action),
        why: hint.why,
    }))
}

/// The game's own sections of the rail.
pub fn sections(game: &AnyGame, view: &ViewContext<'_>) -> Vec<(String, Vec<Line<'static>>)> {
    match_game!(game, game => game.sections(view))
}

pub fn motions(game: &AnyGame, event: &AnyEvent, view: &ViewContext<'_>) -> Vec<Motion> {
    match_game!(game, game, AnyEvent(own) = event => game.motions(own, view)).unwrap_or_default()
}

pub fn sketch(game: &AnyGame, event: &AnyEvent, view: &ViewContext<'_>) -> Option<Line<'static>> {
    match_game!(game, game, AnyEvent(own) = event => game.sketch(own, view)).flatten()
}

pub fn ends_hand(game: &AnyGame, event: &AnyEvent) -> bool {
    match_game!(game, game, AnyEvent(own) = event => game.ends_hand(own)).unwrap_or_default()
}

pub fn show(game: &AnyGame, event: &AnyEvent, view: &ViewContext<'_>) -> Option<Animation> {
    match_game!(game, game, AnyEvent(own) = event => game.show(own, view)).flatten()
}
