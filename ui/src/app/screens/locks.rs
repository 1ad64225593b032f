//! The seal as a picture: a deck that each seat shuffles and locks, and a card whose locks open one by one.

use fairdeal_games::listed;
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
#[derive(Clone, Debug)]
pub(super) struct Shown {
    /// Whether the player sees its face.
    pub(super) is_open: bool,
    /// The words beside it.
    pub(super) words: String,
    pub(super) below: Below,
}

/// The row below the words.
#[derive(Clone, Debug)]
pub(super) enum Below {
    /// The owners of the card's locks, each with whether the lock is open.
    Locks(Vec<(String, bool)>),
    Words(String),
}

impl Shown {
    /// A card of a player who is alone: nobody else has a lock on it.
    pub(super) fn alone() -> Self {
        Self {
            is_open: false,
            words: "The order is fixed before you see a card.".to_owned(),
            below: Below::Words("You cannot change it later.".to_owned()),
        }
    }
}

/// The seal of a game without hidden cards.
pub(super) fn of_chance(names: &[String], theme: &Theme) -> Vec<Line<'static>> {
    vec![
        Line::raw(" Here nothing is hidden: only chance could be cheated with."),
        Line::raw(format!(" {} each add a secret number to every draw,", listed(names))),
        Line::raw(" and show it only when all numbers are fixed:"),
        Line::styled(" nobody can choose what comes.", theme.accent()),
    ]
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
    below.extend(locks_of(card, theme));
    lines.push(Line::raw(format!("    {}", theme.glyph("↓", "v"))));
    lines.push(Line::from(edge("  ╭─────╮", "  +-----+")));
    lines.push(Line::from(above));
    lines.push(Line::from(below));
    lines.push(Line::from(edge("  ╰─────╯", "  +-----+")));
    lines
}

/// The locks of a card: each with its owner, and a sign that does without colours.
fn locks_of(card: &Shown, theme: &Theme) -> Vec<Span<'static>> {
    let locks = match &card.below {
        Below::Words(words) => return vec![Span::raw(words.clone())],
        Below::Locks(locks) => locks,
    };
    let open = |open: bool| if open { theme.glyph("✓ ", "+ ") } else { theme.glyph("▒ ", "# ") };
    let lock = |(name, is_open): &(String, bool)| {
        let style = if *is_open { theme.good() } else { theme.back() };
        let name = cut(name, NAME, theme);
        [Span::styled(open(*is_open), style), Span::raw(format!("{name}  "))]
    };
    locks.iter().flat_map(lock).collect()
}
