//! The worth of stacks, for players who do not know it by heart.

use fairdeal_games::plutonian::pieces::Hand;
use fairdeal_games::pyramid::Size;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::canvas::{Canvas, wrapped};

/// The hands in a few sentences.
pub(super) const HANDS: [&str; 4] = [
    "A stack counts as a whole, from the bottom up; points for small / medium / large:",
    "pair 2/4/6, trio 4/8/12, quartet 10/20/30, quintet 12/24/36: one size, one colour.",
    "sub-straight 6/12/18, straight 8/16/24: one size, four or five colours. two pair 3/6/9, full house 5/10/15: \
     one size, four or five pyramids of two colours in turn.",
    "tree (large, medium, small) or nest (small, medium, large) of one colour: 20.",
];

/// The hands for a page with hardly any room.
const BRIEF: &str = "In smalls: quintet 12, quartet 10, straight 8, sub-straight 6, full house 5, trio 4, two pair 3, \
                     pair 2. Mediums count double, larges triple. Tree or nest: 20.";

const TITLE: &str = "What a whole stack is worth";

/// The look of a hand.
fn pattern(hand: Hand) -> &'static str {
    match hand {
        Hand::Tree => "large, medium, small of one colour",
        Hand::Nest => "small, medium, large of one colour",
        Hand::Quintet => "five of one size and one colour",
        Hand::Quartet => "four of one size and one colour",
        Hand::Straight => "five of one size in all five colours",
        Hand::SubStraight => "four of one size in four colours",
        Hand::FullHouse => "five of one size, two colours in turn",
        Hand::Trio => "three of one size and one colour",
        Hand::TwoPair => "four of one size, two colours in turn",
        Hand::Pair => "two of one size and one colour",
    }
}

/// The table of the rules.
fn table(canvas: &Canvas<'_>) -> Vec<Line<'static>> {
    let theme = canvas.theme();
    let head = format!("{:<13}{:<39}{:>5}{:>8}{:>7}", "", "", "small", "medium", "large");
    let mut rows = vec![Line::styled(head, theme.faint())];
    rows.extend(Hand::ALL.map(|hand| {
        let points = Size::ALL.map(|size| hand.points_of(size));
        let [small, medium, large] = points;
        let points = if small == large {
            format!("{small:>5}")
        } else {
            format!("{small:>5}{medium:>8}{large:>7}")
        };
        Line::from(vec![
            Span::styled(format!("{:<13}", hand.name()), theme.text()),
            Span::styled(format!("{:<39}{points}", pattern(hand)), theme.faint()),
        ])
    }));
    rows
}

/// Draws as much of the help as fits, at the bottom.
pub(super) fn draw(canvas: &mut Canvas<'_>, area: Rect) {
    let theme = canvas.theme();
    let width = usize::from(area.width);
    let brief = || {
        let rows = wrapped(BRIEF, width, 0).into_iter();
        rows.map(|row| Line::styled(row, theme.faint())).collect()
    };
    let forms: [(u16, Vec<Line<'static>>); 2] = [(73, table(canvas)), (40, brief())];
    for (least, rows) in forms {
        let height = u16::try_from(rows.len()).unwrap_or(u16::MAX);
        if area.width >= least && height < area.height {
            let place = Rect {
                y: area.bottom() - height - 1,
                height: height + 1,
                ..area
            };
            let below = canvas.section(place, TITLE);
            canvas.rows(below, rows);
            return;
        }
    }
}
