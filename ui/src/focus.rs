//! Moves between targets by their positions on the screen.

use ratatui::layout::Rect;

use crate::canvas::{Layer, Target};
use crate::keys::Intent;

/// Twice the centre of an area, to stay with whole numbers.
fn centre(area: Rect) -> (i32, i32) {
    let twice = |at: u16, length: u16| 2 * i32::from(at) + i32::from(length);
    (twice(area.x, area.width), twice(area.y, area.height))
}

/// The distance between two intervals; 0 if they overlap.
fn gap((a, a_end): (u16, u16), (b, b_end): (u16, u16)) -> i32 {
    let apart = i32::from(a.max(b)) - i32::from(a_end.min(b_end));
    apart.max(0)
}

/// The nearest target in a direction; `None` if there is none. Targets straight ahead come before those to the side. To
/// the left and right only targets in the same rows count, and from the last of them the keys go round to the first:
/// they walk a row of cards, whatever is above or below it. Without others in its rows a target is left for the
/// nearest.
pub fn towards(layer: &Layer, from: Target, way: Intent) -> Option<Target> {
    let area = layer.area(from)?;
    let (x, y) = centre(area);
    let across = (area.x, area.right());
    let down = (area.y, area.bottom());
    let cost = |other: Rect| -> Option<(bool, i32)> {
        let (to_x, to_y) = centre(other);
        let (ahead, aside) = match way {
            Intent::Left => (x - to_x, gap(down, (other.y, other.bottom()))),
            Intent::Right => (to_x - x, gap(down, (other.y, other.bottom()))),
            Intent::Up => (y - to_y, gap(across, (other.x, other.right()))),
            Intent::Down => (to_y - y, gap(across, (other.x, other.right()))),
            _ => return None,
        };
        // Cells are twice as high as wide.
        let (ahead, aside, off) = match way {
            Intent::Up | Intent::Down => (ahead * 2, aside, (x - to_x).abs()),
            _ => (ahead, aside * 2, (y - to_y).abs() * 2),
        };
        let leaves_row =
            matches!(way, Intent::Left | Intent::Right) && (other.bottom() <= area.y || area.bottom() <= other.y);
        (ahead > 0).then_some((leaves_row, ahead + aside * 6 + off / 2))
    };
    let others = layer.targets.iter().filter(|(_, target)| *target != from);
    let costs = others.clone().filter_map(|(area, target)| Some((cost(*area)?, *target)));
    let nearest = costs.min_by_key(|(cost, _)| *cost);
    let goes_round =
        matches!(way, Intent::Left | Intent::Right) && nearest.is_none_or(|((leaves_row, _), _)| leaves_row);
    let ends = others
        .filter(|(other, target)| goes_round && !target.is_key() && other.y < area.bottom() && area.y < other.bottom());
    let end = ends.max_by_key(|(other, _)| {
        let (to_x, to_y) = centre(*other);
        let far = if way == Intent::Left { to_x } else { -to_x };
        (far, -(y - to_y).abs())
    });
    end.map(|(_, target)| *target).or(nearest.map(|(_, target)| target))
}

/// The target `by` places after another one in drawing order, among those that `fits` accepts.
pub fn after(layer: &Layer, from: Option<Target>, by: isize, fits: impl Fn(Target) -> bool) -> Option<Target> {
    let mut all: Vec<Target> = Vec::new();
    // A target that is drawn twice is one stop.
    for (_, target) in &layer.targets {
        if !all.contains(target) {
            all.push(*target);
        }
    }
    let here = from.and_then(|from| all.iter().position(|target| *target == from));
    let fitting: Vec<usize> = (0..all.len()).filter(|at| all.get(*at).is_some_and(|target| fits(*target))).collect();
    let next = match (here, by >= 0) {
        (None, true) => fitting.first(),
        (None, false) => fitting.last(),
        (Some(here), true) => fitting.iter().find(|at| **at > here).or(fitting.first()),
        (Some(here), false) => fitting.iter().rev().find(|at| **at < here).or(fitting.last()),
    };
    next.and_then(|at| all.get(*at)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three rows of three, and a wide one below.
    fn layer() -> Layer {
        let mut layer = Layer::default();
        for number in 0..9_u16 {
            let area = Rect::new(number % 3 * 10, number / 3 * 4, 8, 3);
            layer.targets.push((area, Target::Button(number)));
        }
        layer.targets.push((Rect::new(0, 13, 30, 1), Target::Row(0)));
        layer
    }

    #[test]
    fn arrows_go_where_they_point() {
        let layer = layer();
        let go = |from: u16, way| towards(&layer, Target::Button(from), way);
        assert_eq!(go(4, Intent::Left), Some(Target::Button(3)));
        assert_eq!(go(4, Intent::Right), Some(Target::Button(5)));
        assert_eq!(go(4, Intent::Up), Some(Target::Button(1)));
        assert_eq!(go(4, Intent::Down), Some(Target::Button(7)));
        assert_eq!(go(7, Intent::Down), Some(Target::Row(0)));
        assert_eq!(go(0, Intent::Up), None);
        assert_eq!(towards(&layer, Target::Row(0), Intent::Up), Some(Target::Button(7)));
    }

    #[test]
    fn left_and_right_go_round_in_a_row() {
        let layer = layer();
        let go = |from: u16, way| towards(&layer, Target::Button(from), way);
        assert_eq!(go(3, Intent::Left), Some(Target::Button(5)));
        assert_eq!(go(5, Intent::Right), Some(Target::Button(3)));
    }

    #[test]
    fn a_row_is_gone_along_whatever_stands_above_it() {
        let mut layer = Layer::default();
        for number in 0..3 {
            let area = Rect::new(number * 22, 8, 22, 4);
            layer.targets.push((area, Target::Button(number)));
        }
        // It touches the row, and its centre is nearer than that of the next card.
        layer.targets.push((Rect::new(0, 0, 31, 8), Target::Row(0)));
        let go = |from, way| towards(&layer, from, way);
        let card = Target::Button;
        assert_eq!(go(card(0), Intent::Right), Some(card(1)));
        assert_eq!(go(card(1), Intent::Left), Some(card(0)));
        assert_eq!(go(card(0), Intent::Up), Some(Target::Row(0)));
        // Without a target in its rows, the nearest one.
        assert_eq!(go(Target::Row(0), Intent::Right), Some(card(1)));
    }

    #[test]
    fn everything_can_be_reached_and_tab_goes_round() {
        let layer = layer();
        let ways = [Intent::Left, Intent::Right, Intent::Up, Intent::Down];
        let mut reached = vec![Target::Button(0)];
        let mut at = 0;
        while let Some(from) = reached.get(at).copied() {
            for to in ways.iter().filter_map(|way| towards(&layer, from, *way)) {
                if !reached.contains(&to) {
                    reached.push(to);
                }
            }
            at += 1;
        }
        assert_eq!(reached.len(), layer.targets.len());
        let even = |target: Target| matches!(target, Target::Button(n) if n % 2 == 0);
        assert_eq!(after(&layer, None, 1, even), Some(Target::Button(0)));
        assert_eq!(after(&layer, Some(Target::Button(0)), 1, even), Some(Target::Button(2)));
        assert_eq!(after(&layer, Some(Target::Button(8)), 1, even), Some(Target::Button(0)));
        assert_eq!(after(&layer, Some(Target::Button(0)), -1, even), Some(Target::Button(8)));
    }
}
