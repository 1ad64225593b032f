//! Cards of the Decktet in letters: always rank and suits, and the name where there is room.

use fairdeal_games::ivory::cards::{self, CROWN, Suit};
use fairdeal_protocol::card::Face;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::theme::Theme;

/// The rank as printed on the card.
pub(super) fn rank(card: Face) -> String {
    match cards::rank(card) {
        1 => "A".to_owned(),
        CROWN => "C".to_owned(),
        rank => rank.to_string(),
    }
}

/// A rank in words.
pub(super) fn rank_name(rank: u8) -> String {
    match rank {
        1 => "Ace".to_owned(),
        CROWN => "Crown".to_owned(),
        rank => rank.to_string(),
    }
}

/// The name; for an Ace and a Crown, without the suit.
pub(super) fn name(card: Face) -> String {
    match cards::rank(card) {
        rank @ (1 | CROWN) => rank_name(rank),
        _ => cards::name(card),
    }
}

/// The first two letters of a suit.
pub(super) fn letters(suit: Suit) -> String {
    let mut letters = suit.name().chars().take(2);
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// The colour of a suit.
pub(super) fn style(suit: Suit, theme: &Theme) -> Style {
    theme.suit(match suit {
        Suit::Moons => 0,
        Suit::Suns => 1,
        Suit::Waves => 3,
        Suit::Leaves => 4,
        Suit::Wyrms => 5,
        Suit::Knots => 2,
    })
}

/// The suits, each after a blank, in full or in two letters.
fn suits(card: Face, full: bool, theme: &Theme) -> Vec<Span<'static>> {
    let suits = cards::suits(card).into_iter();
    suits
        .map(|suit| {
            let text = if full { suit.name().to_owned() } else { letters(suit) };
            Span::styled(format!(" {text}"), style(suit, theme))
        })
        .collect()
}

/// Rank and name; the name of an Ace or a Crown is its rank.
fn headline(card: Face) -> String {
    match cards::rank(card) {
        1 | CROWN => name(card),
        _ => format!("{} {}", rank(card), name(card)),
    }
}

/// A card in one row: `8 Mo Su`, with its name and whole suits if all cards fit like that.
pub(super) fn row(card: Face, width: usize, theme: &Theme) -> Line<'static> {
    // The widest are "9 merchant leaves knots", "5 discovery Su Wa" and "9 leaves wyrms".
    let (is_named, full) = match width {
        23.. => (true, true),
        17..23 => (true, false),
        14..17 => (false, true),
        _ => (false, false),
    };
    let head = if is_named { headline(card) } else { rank(card) };
    let line = |full| {
        let mut spans = vec![Span::styled(head.clone(), theme.title())];
        spans.extend(suits(card, full, theme));
        Line::from(spans)
    };
    // A single suit may fit in full where two do not.
    let whole = line(true);
    let is_single = cards::suits(card).len() == 1 && whole.width() <= width;
    if full || is_single { whole } else { line(false) }
}

/// A card of the tower without its rank, which stands beside it: the name, and the suits in full or in letters.
pub(super) fn level(card: Face, full: bool, theme: &Theme) -> Line<'static> {
    let mut spans = vec![Span::styled(name(card), theme.title())];
    spans.extend(suits(card, full, theme));
    Line::from(spans)
}

/// A card in two rows: rank and name, then the suits in full.
pub(super) fn rows(card: Face, theme: &Theme) -> [Line<'static>; 2] {
    let first = Line::styled(headline(card), theme.title());
    [first, Line::from(suits(card, true, theme))]
}

/// A card in flight.
pub(super) fn short(card: Face, theme: &Theme) -> Line<'static> {
    row(card, 8, theme)
}
