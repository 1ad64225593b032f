//! The forest: the trees that stand, and the tops that can be taken.

use fairdeal_games::counted;
use fairdeal_games::plutonian::{Plutonian, tree_name};
use ratatui::layout::{Constraint, Flex, Layout, Rect};
use ratatui::text::{Line, Span};

use super::flow::{flow, heading, rows_of, show_mark};
use super::pieces::Form;
use crate::canvas::Canvas;
use crate::tables::Spot;
use crate::theme::Theme;

/// The numbers of the trees with or without pyramids.
pub(super) fn numbers(game: &Plutonian, stands: bool) -> impl Iterator<Item = u8> + '_ {
    (0..).zip(game.trees()).filter(move |(_, tree)| tree.is_empty() != stands).map(|(number, _)| number)
}

/// The columns and rows of a tree's place.
fn size(game: &Plutonian, form: Form, theme: &Theme) -> (u16, u16) {
    let trees = game.trees();
    let highest = trees.iter().map(Vec::len).max().unwrap_or(0);
    let widest = trees.iter().map(|tree| form.columns(tree, theme)).max().unwrap_or(0);
    match form {
        // The letter, a blank, and the pyramids.
        Form::Lying => (widest + 6, 1),
        _ => (widest + 2, form.rows(highest) + 1),
    }
}

/// The places of the trees, in rows that are as even as possible, and the columns of the widest.
fn places(game: &Plutonian, columns: u16, room: u16) -> (Vec<(u16, u16)>, u16) {
    let all = || numbers(game, true).map(|_| columns);
    let (places, widest) = flow(all(), room);
    let count = u16::try_from(places.len()).unwrap_or(u16::MAX);
    let even = count.div_ceil(rows_of(&places).max(1)).saturating_mul(columns);
    flow(all(), even.clamp(columns, widest.max(columns)))
}

/// The rows of the forest.
pub(super) fn rows(game: &Plutonian, form: Form, room: u16, theme: &Theme) -> u16 {
    let (columns, rows) = size(game, form, theme);
    rows_of(&places(game, columns, room).0).saturating_mul(rows)
}

pub(super) fn draw(game: &Plutonian, form: Form, is_roomy: bool, canvas: &mut Canvas<'_>, area: Rect) {
    let theme = canvas.theme();
    let left: usize = game.trees().iter().map(Vec::len).sum();
    let title = format!("The forest: {} left", counted(left, "pyramid"));
    let (inner, head) = heading(canvas, area, &title, is_roomy);
    let taken: Vec<String> = numbers(game, false).map(|tree| tree_name(tree).to_string()).collect();
    if !taken.is_empty() {
        let text = [" ", ""].map(|gap| format!("taken whole: {}", taken.join(gap)));
        let fits = |text: &&String| text.len() + title.len() + 3 <= usize::from(head.width);
        if let Some(text) = text.iter().find(fits) {
            canvas.put(head, Line::styled(text.clone(), theme.ink()).right_aligned());
        }
    }
    let (columns, rows) = size(game, form, theme);
    let (places, widest) = places(game, columns, inner.width);
    let [across] = Layout::horizontal([Constraint::Length(widest)]).flex(Flex::Center).areas(inner);
    let count = rows_of(&places);
    // A row of air between the rows of trees if there is room.
    let air = u16::from((rows + 1) * count <= inner.height + 1);
    let height = (count * (rows + air)).saturating_sub(air);
    let [ground] = Layout::vertical([Constraint::Length(height)]).flex(Flex::Center).areas(across);
    if is_roomy && form != Form::Lying {
        // The ground that a row of trees stands on.
        for row in 0..count {
            let y = ground.y + row * (rows + air) + rows - 1;
            let line = theme.glyph("▔", " ").repeat(usize::from(inner.width));
            canvas.put(Rect { y, height: 1, ..inner }, Line::styled(line, theme.faint()));
        }
    }
    for (tree, (x, row)) in numbers(game, true).zip(places) {
        let place = Rect::new(ground.x + x, ground.y + row * (rows + air), columns, rows);
        draw_tree(game, tree, form, canvas, place.intersection(inner));
    }
}

fn draw_tree(game: &Plutonian, number: u8, form: Form, canvas: &mut Canvas<'_>, place: Rect) {
    let theme = canvas.theme();
    let tree = game.trees().get(usize::from(number)).map_or(&[][..], Vec::as_slice);
    let mark = canvas.spot(place, Spot::Pile(number));
    show_mark(mark, canvas, place);
    let is_closed = !game.may_be_touched(usize::from(number));
    let faded = is_closed.then(|| theme.faint());
    let name = tree_name(number);
    let name = if mark.picked {
        Span::styled(format!("[{name}]"), theme.accent())
    } else if is_closed {
        Span::styled(format!("({name})"), theme.faint())
    } else if mark.lit || mark.focused {
        Span::styled(name.to_string(), theme.title())
    } else {
        Span::styled(name.to_string(), theme.ink())
    };
    if form == Form::Lying {
        let row =
            Rect { x: place.x + u16::from(!mark.picked && !is_closed), width: place.width.saturating_sub(1), ..place };
        canvas.put(row, Line::from(name));
        let pile = Rect { x: place.x + 4, width: place.width.saturating_sub(4), ..place };
        return form.draw(tree, faded, canvas, pile);
    }
    let [pile, foot] = Layout::vertical([Constraint::Min(0), Constraint::Length(1)]).areas(place);
    form.draw(tree, faded, canvas, pile.inner(ratatui::layout::Margin::new(1, 0)));
    let width = foot.width.min(3);
    let [foot] = Layout::horizontal([Constraint::Length(width)]).flex(Flex::Center).areas(foot);
    canvas.put(foot, Line::from("   "));
    canvas.put(foot, Line::from(name).centered());
}
