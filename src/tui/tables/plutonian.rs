//! The table of Plutonian.

use fairdeal_protocol::seat::Seat;
use ratatui::layout::Rect;

use super::{Board, Deed, Look, Motion, Spot};
use crate::games::plutonian::Plutonian;
use crate::tui::canvas::Canvas;
use fairdeal_protocol::game::Game;

impl Board for Plutonian {
    fn heading(&self) -> String {
        String::new()
    }

    fn seat_note(&self, _seat: Seat) -> String {
        String::new()
    }

    fn prompt(&self, _me: Seat) -> String {
        String::new()
    }

    fn draw(&self, _look: &Look<'_>, _canvas: &mut Canvas<'_>, _area: Rect) {}

    fn path(&self, _action: &<Self as Game>::Action, _look: &Look<'_>) -> Vec<Spot> {
        vec![Spot::Deed(0)]
    }

    fn words(&self, action: &<Self as Game>::Action, _look: &Look<'_>) -> String {
        format!("{action:?}")
    }

    fn attempts(&self, _spot: Spot, _look: &Look<'_>) -> Vec<<Self as Game>::Action> {
        Vec::new()
    }

    fn deed(&self, _number: u8) -> Deed {
        Deed {
            key: None,
            label: "do it",
        }
    }

    fn about(&self, _spot: Spot, _look: &Look<'_>) -> Vec<String> {
        Vec::new()
    }

    fn motions(&self, _event: &<Self as Game>::Event, _look: &Look<'_>) -> Vec<Motion> {
        Vec::new()
    }
}
