//! The auction for the first turn: who has bid, and the open bids, from which hands are filled again.

use fairdeal_games::TableGame as _;
use fairdeal_games::thoth::{Phase, Thoth, cards};
use fairdeal_protocol::card::Slot;
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;
use ratatui::layout::{Constraint, Flex, Layout, Rect};
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use super::{hand, names, parts};
use crate::canvas::{Canvas, wrapped};
use crate::tables::{Spot, ViewContext};
use crate::widgets::CardSize;

/// Columns of a card in words.
const WORDS: u16 = 18;
/// The widest text.
const PROSE: u16 = 100;
const CARD: CardSize = CardSize::Sized(11, 7);

/// The auction explained, in full and in short.
const BIDDING: [&str; 2] = [
    "Everybody bids a card face down. The highest trump, 0 to XXI, has the first turn; without trumps the highest card: \
     king, queen, prince, princess, 10 to ace. Two best bids alike: all bid again. The bids are a pool, from which all \
     pick a card again: first the player on the winner's right, the winner last.",
    "The highest trump wins, 0 to XXI; without trumps the highest card.",
];
/// Where the bids go, in full and in short.
const PICKING: [&str; 2] = [
    "The bids are a pool. Picking starts on the winner's right and ends with the winner, who then has the first turn. Each \
     picks until the hand has five cards.",
    "Picking starts on the winner's right, until all have five cards.",
];

/// Draws the auction.
pub(super) fn draw(game: &Thoth, view: &ViewContext<'_>, canvas: &mut Canvas<'_>, area: Rect) {
    let theme = view.theme;
    let bidding = game.phase() == Phase::Bid;
    let (title, texts) =
        if bidding { ("Auction for the first turn", BIDDING) } else { ("The bids go back to the hands", PICKING) };
    let has_pool = !game.pool().is_empty();
    let needed = if has_pool { pool_rows(game, area) + 1 } else { 0 };
    // The heading, the seats, and a blank row.
    let room = area.height.saturating_sub(needed).saturating_sub(4);
    let columns = usize::from(area.width.min(PROSE));
    let [full, short] = texts.map(|text| wrapped(text, columns, 0));
    let lines = if full.len() <= usize::from(room) { full } else { short };
    let rows = u16::try_from(lines.len()).unwrap_or(1);
    let blank = u16::from(area.height > needed + rows + 3);
    let [head, words, _, seats, _, label, pool] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(rows),
        Constraint::Length(u16::from(area.height > needed + rows + 4)),
        Constraint::Length(2),
        Constraint::Length(blank),
        Constraint::Length(u16::from(has_pool)),
        Constraint::Min(0),
    ])
    .areas(area);
    canvas.put(head, Line::styled(title, theme.title()));
    canvas.rows(words, lines.into_iter().map(|row| Line::styled(row, theme.ink())));
    let columns = Layout::horizontal(vec![Constraint::Fill(1); game.seats()]).spacing(1).split(seats);
    for (seat, place) in Seat::first(game.seats()).zip(columns.iter()) {
        let acts = game.to_act().contains(seat);
        let word = match (game.has_left(seat), bidding, acts) {
            (true, ..) => "has left".to_owned(),
            (_, true, true) => "bids".to_owned(),
            (_, true, false) => own_bid(game, view, (seat, place.width.into())).unwrap_or_else(|| "has bid".to_owned()),
            (_, false, true) => "picks".to_owned(),
            _ => fairdeal_games::counted(game.hand_of(seat).len(), "card"),
        };
        let mark = canvas.spot(*place, Spot::Seat(seat));
        canvas.place(*place, parts::hand(seat));
        let mut line = view.seat_line(seat, acts);
        if line.width() > usize::from(place.width) {
            line.spans.truncate(1);
        }
        canvas.rows(*place, [line, Line::styled(word, theme.ink())]);
        if mark.focused || mark.flashing {
            canvas.tint(*place, theme.focused());
        }
    }
    if has_pool {
        let text = if bidding { "The pool: bids so far" } else { "The pool" };
        canvas.put(label, Line::styled(text, theme.title()));
    }
    canvas.place(pool, parts::POOL);
    draw_pool(game, view, canvas, pool);
}

/// The player's own face-down bid, in so many columns.
fn own_bid(game: &Thoth, view: &ViewContext<'_>, (seat, width): (Seat, usize)) -> Option<String> {
    let bid = game.bid_of(seat).filter(|_| view.me == Some(seat))?;
    let card = view.known.get(bid)?;
    let full = format!("has bid {}", cards::full_name(card));
    let fits = full.width() <= width;
    Some(if fits { full } else { format!("bid {}", names::label(card, width.saturating_sub(4), view.theme)) })
}

/// The columns and rows of the pool's cards in words.
fn in_words(count: u16, area: Rect) -> (u16, u16) {
    let in_row = ((area.width + 1) / (WORDS + 1)).max(1);
    (in_row, count.div_ceil(in_row))
}

/// The rows that the pool needs at least.
fn pool_rows(game: &Thoth, area: Rect) -> u16 {
    in_words(u16::try_from(game.pool().len()).unwrap_or(u16::MAX), area).1
}

/// Draws the cards of the pool, as cards if they fit and else as words.
fn draw_pool(game: &Thoth, view: &ViewContext<'_>, canvas: &mut Canvas<'_>, area: Rect) {
    let cards = game.pool();
    let count = u16::try_from(cards.len()).unwrap_or(u16::MAX);
    let is_wide = count.saturating_mul(CARD.columns() + 1) <= area.width + 1;
    if is_wide && area.height >= CARD.rows() {
        let columns = cards.iter().map(|_| Constraint::Length(CARD.columns()));
        let places = Layout::horizontal(columns).spacing(1).flex(Flex::Center).split(area);
        for (card, place) in cards.iter().zip(places.iter()) {
            let place = Rect { height: place.height.min(CARD.rows() + 1), ..*place };
            let last = Line::styled("pick", view.theme.ink());
            let spot = Some(Spot::Card(Slot::Open(*card)));
            hand::draw_face(view, canvas, (place, CARD), spot, (*card, last, false));
        }
        return;
    }
    let (in_row, _) = in_words(count, area);
    for (number, card) in (0u16..).zip(cards) {
        let place = Rect {
            x: area.x + number % in_row * (WORDS + 1),
            y: area.y.saturating_add(number / in_row),
            width: WORDS,
            height: 1,
        };
        let place = place.intersection(area);
        let mark = canvas.spot(place, Spot::Card(Slot::Open(*card)));
        if place.is_empty() || mark.hidden {
            continue;
        }
        let style = names::card_style(view.theme, *card).add_modifier(Modifier::BOLD);
        canvas.put(place, Span::styled(cards::full_name(*card), mark.over(style, view.theme)));
    }
}
