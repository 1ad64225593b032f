//! How a table screen is divided: five places, the same in every game.
//!
//! ```text
//! header
//! stage                        │ rail: what happened, and the game's own sections
//! hand, over the whole width
//! inspector: the thing in focus, and its use
//! ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━
//! prompt
//! keys
//! ```
//!
//! Small screens have a ticker of a row or two under the header in place of the rail, an inspector of one row, and no
//! rule. A phone held upright is a small screen with a higher hand. A tall stage, such as a square board, has the
//! inspector under its rail.

use fairdeal_games::AnyGame;
use fairdeal_games::match_game;
use ratatui::layout::{Constraint, Flex, Layout, Rect};

use super::Board;
use super::scale::Scale;

/// The parts of a table screen. Parts without room are empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Areas {
    pub scale: Scale,
    pub ticker: Rect,
    pub stage: Rect,
    pub rail: Rect,
    pub hand: Rect,
    pub inspector: Rect,
    pub rule: Rect,
    pub prompt: Rect,
    pub keys: Rect,
}

/// Columns of the margin on either side, and between two parts.
pub const MARGIN: u16 = 2;
/// The least rows of the stage over the high hand of a phone: cards of its piles are whole.
const STAGE: u16 = 12;
/// The widest stage.
const WIDEST: u16 = 150;

/// Divides a screen of at least 60 columns and 20 rows. The first row is the header.
pub fn areas(game: &AnyGame, screen: Rect) -> Areas {
    let (hand_rows, is_tall) = match_game!(game, game => (game.hand_rows(Scale::of(screen)), is_tall(game)));
    let scale = Scale::of(screen);
    let rail_columns = match (scale, is_tall) {
        (Scale::Large, true) => 80,
        (Scale::Large, false) => 36,
        (Scale::Normal, true) => 52,
        (Scale::Normal, false) => 29,
        _ => 0,
    };
    let has_rail = rail_columns > 0;
    let inspector_rows = match screen.height {
        _ if has_rail => 5,
        28.. => 3,
        _ => 1,
    };
    let hand_rows = match scale {
        // The header, the ticker, the prompt and the keys have five rows.
        Scale::Tall => hand_rows.min(screen.height.saturating_sub(5 + inspector_rows + STAGE)),
        _ => hand_rows,
    };
    let widest = WIDEST.saturating_add(MARGIN).saturating_add(rail_columns);
    let page = screen.inner(ratatui::layout::Margin::new(MARGIN, 0));
    let [page] = Layout::horizontal([Constraint::Max(widest)]).flex(Flex::Center).areas(page);
    let [_, ticker, middle, hand, _, inspector, rule, prompt, keys] = Layout::vertical([
        Constraint::Length(if has_rail { 2 } else { 1 }),
        Constraint::Length(match scale {
            Scale::Mini => 1,
            Scale::Small | Scale::Tall => 2,
            _ => 0,
        }),
        Constraint::Min(0),
        Constraint::Length(hand_rows),
        Constraint::Length(u16::from(has_rail && !is_tall)),
        Constraint::Length(if has_rail && is_tall { 0 } else { inspector_rows }),
        Constraint::Length(u16::from(has_rail)),
        Constraint::Length(1),
        Constraint::Length(1),
    ])
    .areas(page);
    let [stage, rail] = Layout::horizontal([Constraint::Min(0), Constraint::Length(rail_columns)])
        .spacing(if has_rail { MARGIN } else { 0 })
        .areas(middle);
    let (rail, inspector) = if has_rail && is_tall {
        let rows = Constraint::Length(inspector_rows + 2);
        let [rail, under] = Layout::vertical([Constraint::Min(0), rows]).spacing(1).areas(rail);
        (rail, under)
    } else {
        (rail, inspector)
    };
    Areas {
        scale,
        ticker,
        stage,
        rail,
        hand,
        inspector,
        // The rule is as wide as the screen.
        rule: Rect { x: screen.x, width: screen.width, ..rule },
        prompt,
        keys,
    }
}

fn is_tall<G: Board>(_game: &G) -> bool {
    G::IS_TALL
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::testing::Scene;

    #[test]
    fn parts_keep_apart_and_inside() {
        for (game, seats) in [("loot", 4), ("houses-of-thoth", 5), ("sphinxs-paw", 4), ("ivory-tower", 1)] {
            let scene = Scene::new(game, seats, &[], 1);
            for (width, height) in [(60, 20), (60, 36), (60, 52), (80, 24), (100, 30), (120, 40), (200, 60)] {
                let screen = Rect::new(0, 0, width, height);
                let areas = areas(&scene.game, screen);
                let parts =
                    [areas.ticker, areas.stage, areas.rail, areas.hand, areas.inspector, areas.prompt, areas.keys];
                let parts: Vec<Rect> = parts.into_iter().filter(|part| !part.is_empty()).collect();
                for (number, part) in parts.iter().enumerate() {
                    assert!(part.x >= MARGIN && part.right() + MARGIN <= width && part.bottom() <= height);
                    for other in parts.iter().skip(number + 1) {
                        assert!(part.intersection(*other).is_empty(), "{game} {width} {part} {other}");
                    }
                }
                assert!(areas.stage.height >= 5, "{game} {width}x{height}: {}", areas.stage);
            }
        }
    }
}
