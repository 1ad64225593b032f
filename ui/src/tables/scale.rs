//! The scale at which a table is drawn.

use ratatui::layout::Rect;

/// The scale at which a table is drawn: cards and boards have a size for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scale {
    /// From 60 columns and 20 rows.
    Mini,
    /// A phone held upright: fewer than 80 columns, and 36 rows or more. Cards are for fingers, in several rows.
    Tall,
    /// From 80 columns and 24 rows.
    Small,
    /// From 110 columns and 36 rows: the first with a rail.
    Normal,
    /// From 160 columns and 50 rows.
    Large,
}

impl Scale {
    /// The scale for a screen of this size.
    pub fn of(screen: Rect) -> Self {
        match (screen.width, screen.height) {
            (160.., 50..) => Self::Large,
            (110.., 36..) => Self::Normal,
            (80.., 24..) => Self::Small,
            (_, 36..) => Self::Tall,
            _ => Self::Mini,
        }
    }
}
