//! The player's own hand: its cards in their best combinations, each with its score.

use fairdeal_games::TableGame as _;
use fairdeal_games::loot::cards::{rank, suit};
use fairdeal_games::loot::score::MAX_HAND;
use fairdeal_games::loot::{Loot, Phase};
use fairdeal_protocol::card::{Face, Slot};
use ratatui::layout::{Constraint, Flex, Layout, Rect};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use super::cards;
use super::worth::{Group, Sight};
use crate::canvas::Canvas;
use crate::tables::scale::Scale;
use crate::tables::{Spot, ViewContext};
use crate::theme::Theme;
use crate::widgets::{Card, CardSize};

/// The rows of the hand: a card, a row for the card in focus to rise into, and the brackets. Mini cards have their
/// scores below them instead.
pub(super) fn rows(scale: Scale) -> u16 {
    match scale {
        Scale::Mini => 3,
        Scale::Tall => 2 * (CardSize::Normal.rows() + 2),
        Scale::Small => CardSize::Small.rows() + 2,
        Scale::Normal => CardSize::Normal.rows() + 2,
        Scale::Large => CardSize::Large.rows() + 2,
    }
}

/// A card of the hand: its face, and its score where the board may tell, unless the player does not know it yet.
type Held = (Slot, Option<(Face, Option<i32>)>);

/// Cards that are drawn together.
struct Block {
    /// Their combination, if there is one.
    group: Option<Group>,
    cards: Vec<Held>,
    /// Whether more of the group lies in another row, which tells its points.
    is_part: bool,
}

impl Block {
    fn new(group: Option<Group>, cards: Vec<Held>) -> Self {
        Self { group, cards, is_part: false }
    }
}

/// The hand as it is drawn: groups of cards, the last one of unknown cards. Where the board must not say what is best,
/// the cards lie in one row by rank.
fn grouped(loot: &Loot, sight: &Sight, view: &ViewContext<'_>) -> Vec<Block> {
    if !view.advises {
        let mut held = sight.own.clone();
        held.sort_by_key(|(face, _)| (rank(*face), suit(*face)));
        let held = held.into_iter().map(|(face, slot)| (slot, Some((face, None))));
        return vec![Block::new(None, held.collect())];
    }
    let (groups, _) = sight.arranged();
    let slot_of = |face: Face| {
        let own = sight.own.iter().find(|(own, _)| *own == face);
        own.map(|(_, slot)| *slot)
    };
    let mut blocks = Vec::new();
    for group in groups {
        let held = group
            .cards
            .iter()
            .filter_map(|(face, points)| Some((slot_of(*face)?, Some((*face, Some(*points))))))
            .collect();
        blocks.push(Block::new(Some(group), held));
    }
    let hand = sight.me.map_or(&[][..], |me| loot.hand_of(me)).iter();
    let is_known = |slot: &Slot| sight.own.iter().any(|(_, own)| own == slot);
    let unknown: Vec<Held> = hand.filter(|slot| !is_known(slot)).map(|slot| (*slot, None)).collect();
    if !unknown.is_empty() {
        blocks.push(Block::new(None, unknown));
    }
    blocks
}

/// The cards of the hand from left to right.
pub(super) fn row(loot: &Loot, view: &ViewContext<'_>) -> Vec<Spot> {
    let sight = Sight::of(loot, view.me, view.known);
    let groups = grouped(loot, &sight, view);
    let cards = groups.into_iter().flat_map(|block| block.cards);
    cards.map(|(slot, _)| Spot::Card(slot)).collect()
}

/// Draws the hand; for a spectator and a departed player, a word on what there is to see.
pub(super) fn draw(loot: &Loot, view: &ViewContext<'_>, canvas: &mut Canvas<'_>, area: Rect) {
    let Some(me) = view.me.filter(|me| !loot.has_left(*me)) else {
        let text = match view.me {
            Some(_) => "You have left; your hand is set aside.",
            None => "You are watching: public cards alone.",
        };
        return canvas.put(area, Line::styled(text, canvas.theme().ink()).centered());
    };
    let sight = Sight::of(loot, Some(me), view.known);
    let blocks = grouped(loot, &sight, view);
    let discards = loot.turn() == Some(me) && loot.phase() == Phase::Discard;
    let fresh = loot.hand_of(me).last().filter(|_| discards).copied();
    if Scale::of(canvas.area()) == Scale::Tall {
        let halves = Layout::vertical([Constraint::Fill(1); 2]).areas::<2>(area);
        for (blocks, half) in halved(blocks).iter().zip(halves) {
            draw_row(blocks, (&sight, fresh, MAX_HAND.div_ceil(2)), canvas, half);
        }
    } else {
        draw_row(&blocks, (&sight, fresh, MAX_HAND), canvas, area);
    }
}

/// The hand in two rows. A group that lies in both has its points where more of it lies, and its name in both.
fn halved(blocks: Vec<Block>) -> [Vec<Block>; 2] {
    let mut room = blocks.iter().map(|block| block.cards.len()).sum::<usize>().div_ceil(2);
    let (mut upper, mut lower) = (Vec::new(), Vec::new());
    for Block { group, mut cards, .. } in blocks {
        let rest = cards.split_off(room.min(cards.len()));
        room -= cards.len();
        let is_above = cards.len() > rest.len();
        let above = Block { group: group.clone(), cards, is_part: !is_above };
        let below = Block { group, cards: rest, is_part: is_above };
        upper.extend((!above.cards.is_empty()).then_some(above));
        lower.extend((!below.cards.is_empty()).then_some(below));
    }
    [upper, lower]
}

/// Draws groups of cards in one row, in the size in which `most` cards fit; `fresh` is the card that was drawn last.
fn draw_row(
    blocks: &[Block],
    (sight, fresh, most): (&Sight, Option<Slot>, usize),
    canvas: &mut Canvas<'_>,
    area: Rect,
) {
    let rows = area.height.saturating_sub(2);
    let fitting = |gap| CardSize::fitting(most, gap, area.width.saturating_sub(6), rows);
    let loose = fitting(1);
    // Cards that touch are better than smaller ones.
    let (size, gap) = match fitting(0) {
        CardSize::Mini => (CardSize::Mini, 2),
        tight if tight > loose => (tight, 0),
        _ => (loose, 1),
    };
    let wide =
        |cards: usize| u16::try_from(cards).unwrap_or(0).saturating_mul(size.columns() + gap).saturating_sub(gap);
    let used: u16 = blocks.iter().map(|block| wide(block.cards.len())).sum();
    let gaps = u16::try_from(blocks.len().saturating_sub(1)).unwrap_or(0).max(1);
    let between = (area.width.saturating_sub(used) / gaps).clamp(gap, gap + 3);
    let columns = blocks.iter().map(|block| Constraint::Length(wide(block.cards.len())));
    let columns = Layout::horizontal(columns).flex(Flex::Center).spacing(between).split(area);
    for (Block { group, cards, is_part }, column) in blocks.iter().zip(columns.iter()) {
        let mut x = column.x;
        for (slot, known) in cards {
            let lift = u16::from(size != CardSize::Mini);
            let place = Rect::new(x, area.y, size.columns(), size.rows() + lift);
            let spot = Some(Spot::Card(*slot));
            match known {
                Some((face, points)) => {
                    let person = cards::person(*face);
                    let card = Card {
                        foot: points.map(|points| score(points, canvas.theme())),
                        new: Some(*slot) == fresh,
                        ..cards::card(*face, &person, canvas.theme())
                    };
                    card.draw(canvas, place, size, spot);
                    if let (CardSize::Mini, Some(points)) = (size, points) {
                        let below = Rect { y: area.y + 1, width: 4, height: 1, ..place };
                        canvas.put(below, Line::from(score_text(*points, canvas.theme())));
                    }
                }
                None => Card::default().draw(canvas, place, size, spot),
            }
            x = x.saturating_add(size.columns() + gap);
        }
        if let Some(group) = group {
            let below = Rect { y: area.bottom().saturating_sub(1), height: 1, ..*column };
            canvas.put(below, bracket((group, *is_part), sight, usize::from(column.width), canvas.theme()));
        }
    }
}

fn score_text(points: i32, theme: &Theme) -> Span<'static> {
    match points {
        ..0 => Span::styled(points.to_string(), theme.bad()),
        0 => Span::styled("0", theme.ink()),
        _ => Span::styled(format!("+{points}"), theme.good()),
    }
}

/// A card's score for its lower edge.
fn score(points: i32, theme: &Theme) -> Line<'static> {
    let points = score_text(points, theme);
    Line::from(Span::styled(format!(" {} ", points.content), points.style))
}

/// The bracket under a group, with as much about it as fits.
fn bracket((group, is_part): (&Group, bool), sight: &Sight, width: usize, theme: &Theme) -> Line<'static> {
    let points = match (group.kind, group.points) {
        (None, 0) => "free".to_owned(),
        (_, points) => format!("{points:+}"),
    };
    let label = format!("{} {points}", group.label());
    let note = group.note(sight.god_set());
    // The note says "free" by itself.
    let head = if points == "free" { group.label() } else { &label };
    let long = format!("{head}, {note}");
    let style = match group.points {
        ..0 => theme.bad(),
        0 => theme.ink(),
        _ => theme.good(),
    };
    let texts = match is_part {
        true => [group.label(); 3].map(str::to_owned),
        false => [if note.is_empty() { label.clone() } else { long }, label, points],
    };
    let Some(text) = texts.iter().find(|text| text.width() + 4 <= width) else {
        let text = texts.iter().rev().take(1).chain(&texts).find(|text| text.width() <= width);
        let text = text.map_or("", String::as_str);
        return Line::styled(text.to_owned(), style).centered();
    };
    let rule = theme.glyph("─", "-");
    let dashes = width - text.width() - 4;
    let (left, right) = (dashes / 2, dashes - dashes / 2);
    Line::from(vec![
        Span::styled(format!("{}{} ", theme.glyph("╰", "\\"), rule.repeat(left)), theme.faint()),
        Span::styled(text.clone(), style),
        Span::styled(format!(" {}{}", rule.repeat(right), theme.glyph("╯", "/")), theme.faint()),
    ])
}
