//! The seal as a picture: a deck that each seat shuffles and locks, and a card whose locks open one by one.

use ratatui::text::{Line, Span};

use crate::canvas::cut;
use crate::theme::Theme;

/// How far a seat is with its lock on the deck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lock {
    /// Every seat does this: nothing happens here.
    Told,
    /// The seats before it shuffle.
    Waits,
    Shuffles,
    Closed,
    /// Its seed is revealed, and its shuffle was computed again.
    Checked,
}

/// The card below the deck.
#[derive(Clone, Debug, Default)]
pub(super) struct Shown {
    /// Whether the player sees its face.
    pub(super) is_open: bool,
    /// The words beside it.
    pub(super) words: String,
    /// The owners of its locks, each with whether the lock is open.
    pub(super) keys: Vec<(String, bool)>,
    /// Said instead of the list of locks.
    pub(super) instead: String,
}

/// Rows of the card, with the arrow above it.
const CARD: usize = 5;
/// Columns of a seat's name.
const NAME: usize = 12;

/// The rows of the picture: `locks` in the order of the shuffles, and a card.
pub(super) fn picture(locks: &[(&str, Lock)], card: &Shown, theme: &Theme) -> Vec<Line<'static>> {
    let mut lines = Vec::with_capacity(locks.len() + CARD);
    for (number, (name, lock)) in locks.iter().enumerate() {
        let (bar, ascii, style, words) = match lock {
            Lock::Told | Lock::Closed => ("▒▒▒", "###", theme.back(), theme.ink()),
            Lock::Waits => ("···", "...", theme.faint(), theme.faint()),
            Lock::Shuffles => ("▒··", "#..", theme.accent(), theme.accent()),
            Lock::Checked => ("✓✓✓", "+++", theme.good(), theme.good()),
        };
        let does = match (lock, number) {
            (Lock::Told, 0) => "shuffles, and locks every card",
            (Lock::Told, _) => "shuffles again, and adds a lock",
            (Lock::Waits, _) => "has not shuffled yet",
            (Lock::Shuffles, 0) => "shuffles now, and locks every card",
            (Lock::Shuffles, _) => "shuffles now, and adds a lock",
            (Lock::Closed, 0) => "has shuffled, and locked every card",
            (Lock::Closed, _) => "has shuffled again, and added a lock",
            (Lock::Checked, _) => "seed shown, shuffle computed again",
        };
        lines.push(Line::from(vec![
            Span::raw("   "),
            Span::styled(theme.glyph(bar, ascii), style),
            Span::styled(format!("  {:<NAME$}", cut(name, NAME, theme)), theme.title()),
            Span::styled(does, words),
        ]));
    }
    let edge = |text: &'static str, ascii: &'static str| Span::styled(theme.glyph(text, ascii), theme.back());
    let row = if card.is_open {
        edge("  │     │  ", "  |     |  ")
    } else {
        edge("  │▒▒▒▒▒│  ", "  |#####|  ")
    };
    let (mut above, mut below) = (vec![row.clone()], vec![row]);
    above.push(Span::styled(card.words.clone(), theme.accent()));
    below.extend(keys(card, theme));
    lines.push(Line::raw(format!("    {}", theme.glyph("↓", "v"))));
    lines.push(Line::from(edge("  ╭─────╮", "  +-----+")));
    lines.push(Line::from(above));
    lines.push(Line::from(below));
    lines.push(Line::from(edge("  ╰─────╯", "  +-----+")));
    lines
}

/// The locks of a card: each with its owner, and a sign that does without colours.
fn keys(card: &Shown, theme: &Theme) -> Vec<Span<'static>> {
    if card.keys.is_empty() {
        return vec![Span::raw(card.instead.clone())];
    }
    let open = |open: bool| if open { theme.glyph("✓ ", "+ ") } else { theme.glyph("▒ ", "# ") };
    let key = |(name, is_open): &(String, bool)| {
        let style = if *is_open { theme.good() } else { theme.back() };
        let name = cut(name, NAME, theme);
        [Span::styled(open(*is_open), style), Span::raw(format!("{name}  "))]
    };
    card.keys.iter().flat_map(key).collect()
}
