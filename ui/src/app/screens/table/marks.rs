//! The address book in the lobby: the marks beside the seats, and the way to the people screen.

use fairdeal_protocol::seat::Seat;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;

use super::TableScreen;
use crate::app::screen::Cx;
use crate::app::screens::people::People;
use crate::canvas::{Canvas, Target, wrapped};
use crate::theme::Theme;
use fairdeal_session::people::{Mark, MarkKind, SeatPerson};

impl TableScreen {
    /// The players with programs of their own, other than this one.
    fn people(&self) -> impl Iterator<Item = (usize, &SeatPerson)> {
        self.lobby
            .seats
            .iter()
            .enumerate()
            .filter_map(|(number, taken)| Some((number, taken.as_ref()?.person.as_ref()?)))
    }

    pub(super) fn has_people(&self) -> bool {
        self.people().next().is_some()
    }

    /// Shows the people at this table in the address book, one of them chosen.
    pub(super) fn open_people(&self, cx: &mut Cx<'_>, seat: Option<Seat>) {
        let here: Vec<SeatPerson> = self.people().map(|(_, person)| person.clone()).collect();
        // The one with a warning matters most.
        let warned = || here.iter().find(|person| person.mark.kind() == MarkKind::OtherKey);
        let chosen = match seat {
            Some(seat) => self.people().find(|(number, _)| *number == seat.index()),
            None => None,
        };
        let key = chosen.map(|(_, person)| person.key).or(warned().map(|person| person.key));
        cx.push(People::at(here, key));
    }
}

pub(super) fn mark_in_words(mark: &Mark, theme: &Theme) -> String {
    let (sign, ascii) = mark.sign();
    format!("{} {}", theme.glyph(sign, ascii), mark.words())
}

pub(super) fn mark_in_short(mark: &Mark, theme: &Theme) -> String {
    let (sign, ascii) = mark.sign();
    format!("{} {}", theme.glyph(sign, ascii), mark.short())
}

pub(super) fn mark_style(mark: &Mark, theme: &Theme) -> Style {
    match mark.kind() {
        MarkKind::OtherKey => theme.bad(),
        MarkKind::Favourite => theme.accent(),
        MarkKind::Known => theme.good(),
        MarkKind::Blocked => theme.faint(),
        MarkKind::New => theme.ink(),
    }
}

/// A mark on a plate; choosing it shows the player in the address book.
pub(super) fn draw_mark(canvas: &mut Canvas<'_>, area: Rect, mark: &Mark, target: Target) {
    let theme = canvas.theme();
    let width = usize::from(area.width);
    let mut rows = wrapped(&mark_in_words(mark, theme), width, 0);
    if rows.len() > usize::from(area.height) {
        rows = vec![mark_in_short(mark, theme)];
    }
    let is_focused = canvas.target(area, target).focused;
    canvas.rows(area, rows.into_iter().map(|row| Line::styled(row, mark_style(mark, theme))));
    if is_focused {
        canvas.tint(area, theme.focused());
    }
}
