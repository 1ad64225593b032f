//! The street: every seat's house on its own ground, from the Foundation up to the Roof.
//!
//! All houses of a street have one scale, to be comparable at a glance: the largest at which the tallest of them fits.
//! If none fits, houses become rows of words ([`flow`]).

use fairdeal_games::TableGame as _;
use fairdeal_games::thoth::Thoth;
use fairdeal_games::thoth::house::House;
use fairdeal_protocol::seat::Seat;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::drawing::Drawing;
use super::flow;
use super::scale::{SCALES, Scale};
use crate::canvas::Canvas;
use crate::tables::ViewContext;

/// The maximum width of a house's ground.
const WIDEST: u16 = 38;

/// Draws all houses.
pub(super) fn draw(game: &Thoth, view: &ViewContext<'_>, canvas: &mut Canvas<'_>, area: Rect) {
    let seats = u16::try_from(game.seats()).unwrap_or(u16::MAX).max(1);
    let lot = (area.width / seats).min(WIDEST);
    let ground = lot.saturating_sub(1);
    let houses = Seat::first(game.seats()).filter_map(|seat| game.house(seat));
    let houses: Vec<&House> = houses.collect();
    let tallest = |scale: Scale| houses.iter().map(|house| scale.rows(house)).max().unwrap_or(0);
    // Ground and name, with notes below them where these do not shrink the scale.
    let fits = |scale: &Scale, feet: u16| ground >= scale.least() && tallest(*scale) + feet <= area.height;
    let scale = SCALES.into_iter().find_map(|scale| {
        let feet = [4, 3, 2].into_iter().find(|feet| fits(&scale, *feet))?;
        Some((scale, feet))
    });
    let Some((scale, feet)) = scale else {
        flow::draw(game, view, canvas, area);
        return;
    };
    let left = area.x + (area.width - lot * seats) / 2;
    let rows = tallest(scale) + feet;
    let mut sky = area;
    let street = bottom(&mut sky, rows);
    primer(view, canvas, sky);
    for (seat, number) in Seat::first(game.seats()).zip(0..) {
        let lot = Rect {
            x: left + lot * number,
            width: ground,
            ..street
        };
        Drawing {
            game,
            view,
            seat,
            scale,
        }
        .draw(canvas, lot, feet);
    }
}

/// The rules of building, shown in an empty sky.
const PRIMER: [(&str, &str); 6] = [
    (
        "Foundation",
        "an Ace, or a planetary or elemental trump: the first level of a house",
    ),
    (
        "raise",
        "redeem a card for pyramids of one size on the top level, which holds four",
    ),
    (
        "Story",
        "on a full level: a planetary trump, or a court card of an element below it",
    ),
    (
        "Roof",
        "on a full level: a ten, judgment or a zodiacal trump that fits; ends the hand",
    ),
    (
        "Trouble",
        "a zodiacal trump against another house, until its element relieves it",
    ),
    (
        "points",
        "pips, 1 a Story, 5 and more the Roof; the cards left in hand cost some",
    ),
];
const PRIMER_ROWS: u16 = 7;
const PRIMER_COLUMNS: u16 = 92;

/// Draws the rules of building, while there are no houses yet.
pub(super) fn primer(view: &ViewContext<'_>, canvas: &mut Canvas<'_>, area: Rect) {
    if area.height < PRIMER_ROWS + 2 || area.width < PRIMER_COLUMNS {
        return;
    }
    let theme = view.theme;
    let mut place = middle(area, PRIMER_COLUMNS);
    place.y += 1;
    place.height -= 1;
    let place = canvas.section(place, "How houses are built");
    let rows = PRIMER.map(|(word, text)| {
        Line::from(vec![
            Span::styled(format!("  {word:<12}"), theme.text()),
            Span::styled(text, theme.faint()),
        ])
    });
    canvas.rows(place, rows);
}

/// Cuts rows off the bottom of an area, and returns them.
pub(super) fn bottom(area: &mut Rect, rows: u16) -> Rect {
    let rows = rows.min(area.height);
    area.height -= rows;
    Rect {
        y: area.bottom(),
        height: rows,
        ..*area
    }
}

/// The middle columns of an area.
pub(super) fn middle(area: Rect, width: u16) -> Rect {
    let width = width.min(area.width);
    Rect {
        x: area.x + (area.width - width) / 2,
        width,
        ..area
    }
}
