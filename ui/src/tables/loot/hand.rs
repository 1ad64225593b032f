//! The player's own hand: its cards in their best combinations, the score of each, and the effect of a discard.

use fairdeal_games::TableGame as _;
use fairdeal_games::loot::cards::suit;
use fairdeal_games::loot::score::MAX_HAND;
use fairdeal_games::loot::{Loot, Phase};
use fairdeal_protocol::card::{Face, Slot};
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use super::cards::{self, LARGE, SMALL};
use super::worth::{Group, Sight};
use super::{DISCARD_PILE, turns_left};
use crate::canvas::{Canvas, Target, cut, fit};
use crate::tables::{Spot, ViewContext};
use crate::theme::Theme;

/// The rows that the hand needs: cards, a row of combinations, a row of comments. A high screen adds a row for the
/// worth of the hand without each card; a very high one has larger cards.
pub(super) fn rows(height: u16) -> u16 {
    match height {
        ..30 => SMALL.1 + 2,
        30..45 => SMALL.1 + 3,
        _ => LARGE.1 + 3,
    }
}

/// Whether a spot has the focus, wherever it is drawn.
fn is_focused(canvas: &mut Canvas<'_>, spot: Spot) -> bool {
    canvas.target(Rect::default(), Target::Spot(spot)).focused
}

/// One row of an area, by its number from the top; empty below the end.
fn row(area: Rect, number: u16) -> Rect {
    let area = Rect {
        y: area.y.saturating_add(number),
        height: 1,
        ..area
    }
    .intersection(area);
    Rect {
        height: area.height.min(1),
        ..area
    }
}

/// The layout of a hand: where each card goes.
struct Layout {
    size: (u16, u16),
    /// Columns from one card to the next; less than a card if cards overlap.
    step: u16,
    /// Columns between two groups.
    gap: u16,
    start: u16,
}

impl Layout {
    fn new(area: Rect, cards: usize, groups: usize) -> Self {
        let full = u16::try_from(MAX_HAND).unwrap_or(u16::MAX);
        let roomy = area.width >= full.saturating_mul(LARGE.0) && area.height >= LARGE.1 + 2;
        let size = if roomy { LARGE } else { SMALL };
        let cards = u16::try_from(cards.max(1)).unwrap_or(u16::MAX);
        let gaps = u16::try_from(groups.saturating_sub(1)).unwrap_or(u16::MAX);
        let room = area.width.saturating_sub(size.0) / cards.saturating_sub(1).max(1);
        let step = size.0.min(room).max(1);
        let used = step.saturating_mul(cards - 1).saturating_add(size.0);
        let spare = area.width.saturating_sub(used);
        let gap = spare.checked_div(gaps).unwrap_or(0).min(2);
        let start = area.x + (spare - gap * gaps) / 2;
        Self { size, step, gap, start }
    }
}

/// Draws the player's own hand; for a spectator or a departed seat, the public cards of all hands.
pub(super) fn draw(loot: &Loot, view: &ViewContext<'_>, canvas: &mut Canvas<'_>, area: Rect) {
    let Some(me) = view.me.filter(|me| !loot.has_left(*me)) else {
        return draw_all(loot, view, canvas, area);
    };
    let sight = Sight::of(loot, Some(me), view.known);
    let (groups, worth) = sight.arranged();
    let sealed: Vec<Slot> = loot
        .hand_of(me)
        .iter()
        .filter(|slot| slot.face(view.known).is_none())
        .copied()
        .collect();
    let count = loot.hand_of(me).len();
    let blocks = groups.len() + usize::from(!sealed.is_empty());
    let layout = Layout::new(area, count, blocks);
    let discards = loot.turn() == Some(me) && loot.phase() == Phase::Discard;
    let fresh = loot.hand_of(me).last().copied().filter(|_| discards);
    let slot_of = |face: Face| {
        let found = sight.own.iter().find(|(own, _)| *own == face);
        found.map(|(_, slot)| *slot)
    };
    let previews = discards && area.height >= layout.size.1 + 3;
    let mut x = layout.start;
    for group in &groups {
        let from = x;
        for (face, points) in &group.cards {
            let Some(slot) = slot_of(*face) else { continue };
            let place = Rect::new(x, area.y, layout.size.0, layout.size.1).intersection(area);
            let note = match slot {
                slot if fresh == Some(slot) => "new",
                Slot::Open(_) if !loot.is_over() => "seen",
                _ => "",
            };
            draw_card(canvas, place, layout.size, (*face, slot), (*points, note));
            if previews {
                let below = row(Rect { x, ..area }, layout.size.1 + 1);
                let width = usize::from(layout.size.0);
                let without = sight.without(*face);
                let word = if layout.size == LARGE { "without" } else { "w/o" };
                let text = format!("{:^width$}", format!("{word} {without:+}"));
                canvas.put(below, Line::styled(text, canvas.theme().faint()));
            }
            x = x.saturating_add(layout.step);
        }
        // Where cards overlap, only the last card of the hand shows in full.
        let width = x.saturating_sub(from);
        let label = Rect { x: from, width, ..area }.intersection(area);
        canvas.put(
            row(label, layout.size.1),
            bracket(group, &sight, usize::from(width), canvas.theme()),
        );
        x = x.saturating_add(layout.gap);
    }
    for slot in sealed {
        let place = Rect::new(x, area.y, layout.size.0, layout.size.1).intersection(area);
        let back = cards::back(layout.size, canvas.theme());
        let back: Vec<Line<'_>> = back.into_iter().map(Line::raw).collect();
        canvas.card(place, &back, canvas.theme().faint(), Some(Spot::Card(slot)));
        x = x.saturating_add(layout.step);
    }
    let said = status(loot, view, canvas, &sight, (worth, &groups), area.width);
    // This row stays in place while the row above it comes and goes.
    let below = layout.size.1 + 1 + u16::from(area.height >= layout.size.1 + 3);
    canvas.put(row(area, below.min(area.height.saturating_sub(1))), said);
}

/// Draws a card, with its score on the lower border and a word on the upper one.
fn draw_card(
    canvas: &mut Canvas<'_>,
    place: Rect,
    size: (u16, u16),
    (face, slot): (Face, Slot),
    (points, note): (i32, &str),
) {
    let theme = canvas.theme();
    let lines: Vec<Line<'_>> = cards::lines(face, size, theme).into_iter().map(Line::raw).collect();
    let spot = Spot::Card(slot);
    canvas.card(place, &lines, theme.suit(suit(face)), Some(spot));
    // A card in flight has no borders to write on yet.
    if canvas.place(Rect::default(), spot).hidden || place.height < size.1 {
        return;
    }
    let style = match points {
        ..0 => theme.bad(),
        0 => Style::new(),
        _ => theme.good(),
    };
    let points = if points == 0 {
        " free ".to_owned()
    } else {
        format!(" {points:+} ")
    };
    let width = u16::try_from(points.width()).unwrap_or(u16::MAX);
    let at = Rect {
        x: place.x + size.0.saturating_sub(width).div_ceil(2),
        y: place.bottom().saturating_sub(1),
        width,
        height: 1,
    };
    canvas.put(at.intersection(place), Line::styled(points, style));
    if !note.is_empty() {
        let note = format!(" {note} ");
        let width = u16::try_from(note.width()).unwrap_or(u16::MAX);
        let at = Rect {
            x: place.x + 1,
            width,
            height: 1,
            ..place
        };
        canvas.put(at.intersection(place), Line::styled(note, theme.accent()));
    }
}

/// The bracket under a group, with its name and points.
fn bracket(group: &Group, sight: &Sight, width: usize, theme: &Theme) -> Line<'static> {
    let label = group.label_with_points();
    let note = group.note(sight.god_set());
    let long = if group.kind.is_none() && group.points == 0 {
        format!("loose, {note}")
    } else {
        format!("{label} ({note})")
    };
    let text = if !note.is_empty() && long.width() + 6 <= width {
        long
    } else {
        label
    };
    let style = if group.kind.is_some() {
        theme.good()
    } else {
        theme.bad()
    };
    if text.width() + 4 > width {
        return Line::styled(format!("{:^width$}", fit(&text, width.min(text.width()))), style);
    }
    let rule = theme.glyph("─", "-");
    let dashes = width - text.width() - 4;
    let (left, right) = (dashes / 2, dashes - dashes / 2);
    Line::from(vec![
        Span::styled(
            format!("{}{} ", theme.glyph("╰", "\\"), rule.repeat(left)),
            theme.faint(),
        ),
        Span::styled(text, style),
        Span::styled(
            format!(" {}{}", rule.repeat(right), theme.glyph("╯", "/")),
            theme.faint(),
        ),
    ])
}

/// The worth of the hand, now and with the focused card.
fn status(
    loot: &Loot,
    view: &ViewContext<'_>,
    canvas: &mut Canvas<'_>,
    sight: &Sight,
    (worth, groups): (i32, &[Group]),
    width: u16,
) -> Line<'static> {
    let theme = canvas.theme();
    let me = view.me;
    let mine = me.is_some() && loot.turn() == me;
    let number = |points: i32| {
        let style = if points < 0 { theme.bad() } else { theme.good() };
        Span::styled(format!("{points:+}"), style)
    };
    let focused = sight.own.iter().find(|(_, slot)| is_focused(canvas, Spot::Card(*slot)));
    let mut spans = vec![Span::styled(" Worth ", theme.title()), number(worth)];
    match (focused, loot.phase()) {
        (Some((face, _)), Phase::Discard) if mine => {
            spans.push(Span::raw(format!("; without {} ", cards::long(*face))));
            spans.push(number(sight.without(*face)));
        }
        (Some((face, _)), _) => {
            let group = groups.iter().find_map(|group| {
                let own = group.cards.iter().find(|(other, _)| other == face)?;
                Some((group, own.1))
            });
            if let Some((group, points)) = group {
                let name = cards::long(*face);
                let does = match group.kind {
                    Some(_) => format!("; {name} brings {points} of it in the {}", group.title()),
                    None if points == 0 => format!("; {name} is loose, but free"),
                    None => format!("; {name} is loose and costs {}", -points),
                };
                spans.push(Span::raw(does));
            }
        }
        (None, Phase::Take) if is_focused(canvas, DISCARD_PILE) => {
            let with = loot.discard_pile().last().map(|top| (*top, sight.with(*top)));
            if let Some((top, Some((total, gone)))) = with {
                if gone == top {
                    let name = cards::long(top);
                    spans.push(Span::raw(format!("; {name} would not make it better")));
                } else {
                    let (new, old) = (cards::long(top), cards::long(gone));
                    spans.push(Span::raw(format!("; with {new} for {old} ")));
                    spans.push(number(total));
                }
            }
        }
        _ if loot.is_over() => spans.push(Span::raw(" when the game ended")),
        _ if loot.fire().is_some() => {
            spans.push(Span::raw(format!(" now; {}", turns_left(loot, view))));
        }
        _ => {
            let gods: Vec<String> = sight
                .gods
                .iter()
                .map(|(god, _)| format!("the {}", cards::god_name(*god)))
                .collect();
            let told = match gods.split_last() {
                None => " now; no god is in sight".to_owned(),
                Some((last, [])) => format!(" now, counting {last}"),
                Some((last, more)) => format!(" now, counting {} and {last}", more.join(", ")),
            };
            let used = Line::from(spans.clone()).width();
            if used + told.width() < usize::from(width) {
                spans.push(Span::raw(told));
            } else {
                spans.push(Span::raw(format!(" now, counting {} gods in sight", gods.len())));
            }
        }
    }
    spans.push(Span::raw("."));
    Line::from(spans)
}

/// Draws the visible cards of every hand.
fn draw_all(loot: &Loot, view: &ViewContext<'_>, canvas: &mut Canvas<'_>, area: Rect) {
    let theme = canvas.theme();
    let title = match view.me {
        Some(_) => "You have left; your hand is set aside",
        None => "You are watching: public cards only",
    };
    let inner = canvas.section(area, title);
    let back = theme.glyph("░░", "##");
    let rows = Seat::first(loot.seats()).map(|seat| {
        let name = cut(view.name(seat), 8, theme);
        let mut spans = vec![Span::styled(format!(" {} ", fit(&name, 8)), theme.title())];
        for slot in loot.hand_of(seat) {
            let (text, style) = slot.face(view.known).map_or_else(
                || (back.to_owned(), theme.faint()),
                |face| (cards::short(face), theme.suit(suit(face))),
            );
            spans.push(Span::styled(format!(" {}", fit(&text, 3)), style));
        }
        if loot.has_left(seat) {
            spans.push(Span::styled(" has left", theme.bad()));
        }
        Line::from(spans)
    });
    canvas.rows(inner, rows);
}
