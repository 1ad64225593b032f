//! The bank with its pyramids, the deck and the discard pile; the auction with its pool; the meaning of the signs.

use fairdeal_games::TableGame as _;
use fairdeal_games::pyramid::Size;
use fairdeal_games::thoth::cards::Element;
use fairdeal_games::thoth::house::Pyramid;
use fairdeal_games::thoth::{Phase, Thoth};
use fairdeal_protocol::card::{Face, Slot};
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use super::art::Art;
use super::{names, parts, street};
use crate::canvas::{Canvas, wrapped};
use crate::tables::{Spot, ViewContext};

/// The rows of the band above the houses.
pub(super) fn rows(area: Rect) -> u16 {
    match (area.width, area.height) {
        (110.., 32..) => 7,
        (76.., 20..) => 4,
        (_, 10..) => 2,
        _ => 1,
    }
}

/// Draws the band: bank, deck and discard pile.
pub(super) fn draw(game: &Thoth, view: &ViewContext<'_>, canvas: &mut Canvas<'_>, area: Rect) {
    match area.height {
        4.. => boxed(game, view, canvas, area),
        2..4 => table(game, view, canvas, area),
        _ => row(game, view, canvas, area),
    }
}

fn count(game: &Thoth, view: &ViewContext<'_>, element: Element, size: Size) -> Span<'static> {
    let count = game.bank().count(element, size);
    let theme = view.theme;
    let style = if count == 0 {
        theme.faint()
    } else {
        names::style(theme, element).add_modifier(Modifier::BOLD)
    };
    Span::styled(count.to_string(), style)
}

fn top_card(game: &Thoth, width: usize) -> String {
    let top = game.discard_pile().last();
    top.map_or_else(String::new, |card| names::named(*card, width))
}

/// Draws everything in one row, if the houses need the others.
fn row(game: &Thoth, view: &ViewContext<'_>, canvas: &mut Canvas<'_>, area: Rect) {
    let theme = view.theme;
    let mut spans = vec![Span::styled("bank ", theme.title())];
    spans.extend(Size::ALL.map(|size| Span::styled(names::sign(theme, size), theme.faint())));
    for element in Element::ALL {
        let style = names::style(theme, element).add_modifier(Modifier::BOLD);
        spans.push(Span::styled(format!(" {}", names::letter(element)), style));
        spans.extend(Size::ALL.map(|size| count(game, view, element, size)));
    }
    let bank = Line::from(spans);
    let width = u16::try_from(bank.width()).unwrap_or(u16::MAX);
    let piles = [
        (parts::DECK, format!("deck {}", game.deck().len())),
        (parts::DISCARDS, format!("top {}", top_card(game, 4))),
    ];
    let mut x = area.x;
    let texts = piles.map(|(spot, text)| (spot, Line::raw(text)));
    for (spot, line) in std::iter::once((parts::BANK, bank)).chain(texts) {
        let width = if spot == parts::BANK {
            width
        } else {
            u16::try_from(line.width()).unwrap_or(u16::MAX)
        };
        let place = Rect {
            x,
            width,
            height: 1,
            ..area
        }
        .intersection(area);
        let mark = canvas.spot(place, spot);
        canvas.put(place, line);
        if mark.focused || mark.flashing {
            canvas.tint(place, theme.focused());
        }
        x = x.saturating_add(width).saturating_add(1);
    }
}

/// Draws two rows: the names of the elements above the counts of each size.
fn table(game: &Thoth, view: &ViewContext<'_>, canvas: &mut Canvas<'_>, area: Rect) {
    let theme = view.theme;
    let [bank, piles] = Layout::horizontal([Constraint::Length(36), Constraint::Min(0)]).areas(area);
    let mark = canvas.spot(bank, parts::BANK);
    let mut head = vec![Span::styled("bank ", theme.title())];
    let mut signs = String::new();
    for size in Size::ALL {
        signs.push_str(names::sign(theme, size));
    }
    let mut counts = vec![Span::styled(format!("{signs:<5}"), theme.text())];
    for element in Element::ALL {
        let width = element.name().len().max(5);
        let style = names::style(theme, element).add_modifier(Modifier::BOLD);
        head.push(Span::styled(format!("{:<width$} ", element.name()), style));
        for size in Size::ALL {
            counts.push(count(game, view, element, size));
            counts.push(Span::raw(" "));
        }
        counts.push(Span::raw(" ".repeat(width - 5)));
    }
    canvas.rows(bank, [Line::from(head), Line::from(counts)]);
    if mark.focused || mark.flashing {
        canvas.tint(bank, theme.focused());
    }
    let [deck, discards] = [0, 1].map(|row| Rect {
        y: piles.y + row,
        height: 1,
        ..piles
    });
    let count = game.discard_pile().len();
    let room = usize::from(piles.width).saturating_sub(9 + count.to_string().len());
    let texts = [
        (parts::DECK, deck, format!("deck {}", game.deck().len())),
        (
            parts::DISCARDS,
            discards,
            format!("discard {count} {}", top_card(game, room.max(4))),
        ),
    ];
    for (spot, place, text) in texts {
        let mark = canvas.spot(place, spot);
        let style = mark.over(theme.text(), theme);
        canvas.put(place, Line::styled(text, style));
    }
}

/// Draws three boxes; the bank's with drawn pyramids if it has the rows.
fn boxed(game: &Thoth, view: &ViewContext<'_>, canvas: &mut Canvas<'_>, area: Rect) {
    let theme = view.theme;
    let [bank, deck, discards] =
        Layout::horizontal([Constraint::Min(0), Constraint::Length(12), Constraint::Length(18)]).areas(area);
    let mark = canvas.spot(bank, parts::BANK);
    let inside = canvas.frame(bank, "bank");
    let fifth = inside.width / 5;
    let drawn = area.height >= 7;
    for (element, number) in Element::ALL.into_iter().zip(0..) {
        let place = Rect {
            x: inside.x + fifth * number,
            width: fifth,
            ..inside
        };
        let style = names::style(theme, element).add_modifier(Modifier::BOLD);
        let name = Line::styled(element.name(), style).centered();
        let mut rows = Vec::new();
        if drawn {
            let art = Art::Grand;
            for row in 0..3 {
                let shapes = Size::ALL.map(|size| art.row(Pyramid { element, size }, row, theme));
                rows.push(Line::from(shapes.concat()).centered());
            }
            let counts = Size::ALL.map(|size| count(game, view, element, size));
            let counts = counts.map(|count| vec![Span::raw("  "), count, Span::raw("  ")]);
            rows.push(Line::from(counts.concat()).centered());
            rows.push(name);
        } else {
            rows.push(name);
            let counts = Size::ALL.map(|size| {
                let sign = names::sign(theme, size);
                let gap = if size == Size::Large { "" } else { " " };
                vec![
                    Span::styled(sign, style),
                    count(game, view, element, size),
                    Span::raw(gap),
                ]
            });
            rows.push(Line::from(counts.concat()).centered());
        }
        canvas.rows(place, rows);
    }
    if mark.focused || mark.flashing {
        canvas.tint(bank, theme.focused());
    }
    let mut pile = |spot: Spot, place: Rect, title: &str, texts: [String; 2]| {
        let mark = canvas.spot(place, spot);
        let inside = canvas.frame(place, title);
        let [first, second] = texts;
        let rows = [
            Line::styled(first, theme.title()).centered(),
            Line::styled(second, theme.faint()).centered(),
        ];
        let from = inside.height.saturating_sub(2) / 2;
        let inside = Rect {
            y: inside.y + from,
            height: inside.height - from.min(inside.height),
            ..inside
        };
        canvas.rows(inside, rows);
        if mark.focused || mark.flashing {
            canvas.tint(place, theme.focused());
        }
    };
    pile(
        parts::DECK,
        deck,
        "deck",
        [game.deck().len().to_string(), "sealed".to_owned()],
    );
    let count = game.discard_pile().len();
    let under = match count {
        0 => "empty".to_owned(),
        _ => format!("on top of {}", count - 1),
    };
    pile(parts::DISCARDS, discards, "discard", [top_card(game, 16), under]);
}

/// Draws the meaning of the board's signs, in a row.
pub(super) fn legend(view: &ViewContext<'_>, canvas: &mut Canvas<'_>, area: Rect) {
    let theme = view.theme;
    let sizes = Size::ALL.map(|size| {
        let pips = fairdeal_games::counted(usize::from(size.pips()), "pip");
        format!("{} {} {pips}", names::sign(theme, size), size.name())
    });
    let signs = [
        format!("{} free corner", names::corner(theme)),
        format!("{} Trouble", theme.glyph("╳", "X")),
        format!("{} elements", Element::ALL.map(names::letter).join(" ")),
        "a full level can take a Story or the Roof".to_owned(),
    ];
    let mut text = String::new();
    for sign in sizes.into_iter().chain(signs) {
        let gap = if text.is_empty() { "" } else { "   " };
        if text.width() + gap.len() + sign.width() <= usize::from(area.width) {
            text.push_str(gap);
            text.push_str(&sign);
        }
    }
    canvas.put(area, Line::styled(text, theme.faint()).centered());
}

/// Draws the auction: who has bid, and the open bids.
pub(super) fn auction(game: &Thoth, view: &ViewContext<'_>, canvas: &mut Canvas<'_>, area: Rect) {
    let theme = view.theme;
    let bidding = game.phase() == Phase::Bid;
    let title = if bidding {
        "Auction for the first turn"
    } else {
        "The bids go back to the hands"
    };
    let mut left = canvas.section(area, title);
    let text = if bidding {
        "Everybody bids a card, unseen. The highest trump wins, the fool lowest and the world highest; without trumps \
         the highest card of any suit."
    } else {
        "First the player on the winner's right picks, the winner last, until everybody has five cards."
    };
    let width = usize::from(area.width);
    let mut rows: Vec<Line<'_>> = Vec::new();
    rows.extend(
        wrapped(text, width, 0)
            .into_iter()
            .map(|row| Line::styled(row, theme.faint())),
    );
    let used = u16::try_from(rows.len()).unwrap_or(u16::MAX).min(left.height);
    canvas.rows(left, rows);
    left = below(left, used);
    let seats = u16::try_from(game.seats()).unwrap_or(u16::MAX).max(1);
    let column = area.width / seats;
    for (seat, number) in Seat::first(game.seats()).zip(0..) {
        let place = Rect {
            x: area.x + column * number,
            width: column.saturating_sub(1),
            height: 2.min(left.height),
            ..left
        };
        let acts = game.to_act().contains(seat);
        let word = match (game.has_left(seat), bidding, acts) {
            (true, ..) => "has left".to_owned(),
            (_, true, true) => "bids".to_owned(),
            (_, true, false) => "has bid".to_owned(),
            (_, false, true) => "picks".to_owned(),
            _ => format!("{} cards", game.hand_of(seat).len()),
        };
        let style = if acts { theme.accent() } else { theme.title() };
        canvas.spot(place, Spot::Seat(seat));
        canvas.place(place, parts::hand(seat));
        let name = view.name(seat).to_owned();
        canvas.rows(place, [Line::styled(name, style), Line::styled(word, theme.faint())]);
    }
    left = below(left, 2);
    canvas.place(left, parts::POOL);
    if !game.pool().is_empty() {
        left = canvas.section(left, "in the open");
        let used = pool(game.pool(), view, canvas, left);
        left = below(left, used);
    }
    street::primer(view, canvas, left);
}

fn below(area: Rect, rows: u16) -> Rect {
    let rows = rows.min(area.height);
    Rect {
        y: area.y + rows,
        height: area.height - rows,
        ..area
    }
}

/// Draws the cards of the pool, as cards if they fit and else as words, and returns the rows used.
fn pool(cards: &[Face], view: &ViewContext<'_>, canvas: &mut Canvas<'_>, area: Rect) -> u16 {
    let theme = view.theme;
    let wide = if area.width >= 90 { 19 } else { 12 };
    let boxes = usize::from(area.width / wide) * usize::from(area.height / 3);
    let as_cards = cards.len() <= boxes;
    let (wide, high) = if as_cards { (wide, 3) } else { (6, 1) };
    let in_row = (area.width / wide).max(1);
    for (card, number) in cards.iter().zip(0u16..) {
        let place = Rect {
            x: area.x + number % in_row * wide,
            y: area.y.saturating_add(number / in_row * high),
            width: wide,
            height: high,
        };
        let spot = Spot::Card(Slot::Open(*card));
        let style = names::card_style(theme, *card).add_modifier(Modifier::BOLD);
        let place = place.intersection(area);
        if place.is_empty() {
            continue;
        }
        if as_cards {
            let name = names::named(*card, usize::from(wide.saturating_sub(2)));
            canvas.card(place, &[Line::raw(name).centered()], style, Some(spot));
            continue;
        }
        let mark = canvas.spot(place, spot);
        if !mark.hidden {
            let name = names::brief(*card);
            let text = Span::styled(format!("[{name}]"), mark.over(style, theme));
            canvas.put(place, text);
        }
    }
    let rows = cards.len().div_ceil(usize::from(in_row));
    u16::try_from(rows).unwrap_or(u16::MAX).saturating_mul(high)
}
