//! The plate of a seat: its name, whether it is to act, its score, and what its connection says.

use fairdeal_protocol::seat::Seat;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use super::{Spot, ViewContext};
use crate::canvas::Canvas;
use crate::widgets::bar;

/// A plate; the seat's name and its state are drawn by themselves.
#[derive(Clone, Debug)]
pub struct Plate {
    pub seat: Seat,
    /// Whether the table waits for this seat.
    pub acts: bool,
    /// Its points, and how many end the game; `None` for games without points.
    pub points: Option<(i64, i64)>,
    /// Further lines, as many as fit.
    pub lines: Vec<Line<'static>>,
}

impl Plate {
    /// Draws the plate as a panel that is the seat's spot: the first row is name and state, the second the points.
    pub fn draw(self, view: &ViewContext<'_>, canvas: &mut Canvas<'_>, area: Rect) {
        let theme = canvas.theme();
        let inner = canvas.panel(area, "");
        let mark = canvas.spot(area, Spot::Seat(self.seat));
        let head = Rect { y: area.y, height: 1, ..inner };
        canvas.put(head, view.seat_line(self.seat, self.acts));
        let points = self.points.map(|(points, target)| {
            let words = format!("{points:>4} ");
            let goal = format!(" {target}");
            let used = words.width() + goal.width();
            let room = inner.width.saturating_sub(u16::try_from(used).unwrap_or(u16::MAX)).min(14);
            let mut spans = vec![Span::styled(words, theme.title())];
            spans.extend(bar(points, target, room, theme));
            spans.push(Span::styled(goal, theme.faint()));
            Line::from(spans)
        });
        canvas.rows(inner, points.into_iter().chain(self.lines));
        if mark.focused || mark.flashing {
            canvas.tint(area, theme.focused());
        }
    }
}
