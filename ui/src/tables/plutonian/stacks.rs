//! The player's own stacks: upright, with their hands as badges and what they can become.

use fairdeal_games::plutonian::Plutonian;
use fairdeal_games::plutonian::outlook::{Left, Odds, Outlook, Takes};
use fairdeal_games::plutonian::pieces::{Hand, Pyramid};
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;
use ratatui::layout::{Constraint, Flex, Layout, Margin, Rect};
use ratatui::text::{Line, Span};

use super::flow::{flow, heading, rows_of, show_mark};
use super::pieces::{Form, HIGHEST};
use super::spots::{NEW, grown, picked, points, top_of};
use crate::canvas::Canvas;
use crate::tables::{Spot, ViewContext};
use crate::theme::Theme;

/// The length of the labels of a stack say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Words {
    /// The names of its hands, and their points.
    Full,
    /// The name of its hand; points alone of the one that it can become.
    Short,
    /// Points alone.
    Brief,
}

/// A stack of the player, or the place of a new one.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    spot: Spot,
    pile: Vec<Pyramid>,
    /// Its number, or the key of a new one.
    key: String,
    outlook: Outlook,
    /// The pyramid that is being placed.
    top: Option<Pyramid>,
    then: Option<Outlook>,
    /// Its gain here.
    gain: i64,
}

/// The best hand of an outlook, after an arrow.
pub(super) fn arrow(best: Option<(Hand, i64)>, words: Words, theme: &Theme) -> Option<String> {
    let (hand, points) = best?;
    let sign = theme.glyph("→", "->");
    Some(match words {
        Words::Full => format!("{sign} {} {points}", hand.name()),
        _ => format!("{sign}{points}"),
    })
}

/// The player's stacks, then the place of a new one while the game lasts.
pub(super) fn slots(game: &Plutonian, view: &ViewContext<'_>) -> Vec<Slot> {
    let Some(me) = view.me else { return Vec::new() };
    let left = Left::of(game);
    let tree = picked(view);
    let top = tree.and_then(|tree| top_of(game, tree));
    let takes = Takes::of(Odds::Seen, game, me);
    let mut rest = left;
    if let Some(top) = top {
        rest.take(top);
    }
    let slot = |number: Option<u8>, pile: &[Pyramid]| Slot {
        spot: number.map_or(Spot::Button(NEW), |number| Spot::Part(me, number)),
        pile: pile.to_vec(),
        key: number.map_or("n".to_owned(), |number| (number + 1).to_string()),
        outlook: Outlook::of(pile, &left),
        top,
        then: top.map(|top| Outlook::of(&grown(pile, top), &rest)),
        gain: tree.and_then(|tree| takes.gain(tree, number)).unwrap_or(0),
    };
    let mut slots: Vec<Slot> = (0..).zip(game.stacks(me)).map(|(number, pile)| slot(Some(number), pile)).collect();
    if !game.is_over() {
        slots.push(slot(None, &[]));
    }
    slots
}

impl Slot {
    /// Whether it is worth nothing for good, or would be with the pyramid that is being placed.
    fn is_faded(&self) -> bool {
        match &self.then {
            Some(then) => then.is_dead(),
            None => !self.pile.is_empty() && self.outlook.is_dead(),
        }
    }

    /// Its two labels: what it is, and what it can become.
    fn labels(&self, words: Words, theme: &Theme) -> [Line<'static>; 2] {
        let key = Span::styled(self.key.clone(), theme.key());
        let is_new = self.pile.is_empty();
        let now = match (self.outlook.hand, words) {
            (Some(hand), Words::Full | Words::Short) => format!(" {} {}", hand.name(), self.outlook.points),
            (None, Words::Full | Words::Short) if is_new => " new".to_owned(),
            _ => String::new(),
        };
        let now = Line::from(vec![key, Span::styled(now, theme.title())]);
        let gain = |then: &Outlook| then.points - self.outlook.points;
        let faint =
            |full: &'static str, brief| Line::styled(if words == Words::Full { full } else { brief }, theme.faint());
        let next = match &self.then {
            _ if !is_new && self.outlook.is_dead() => faint("ruined", theme.glyph("–", "-")),
            Some(then) if then.is_dead() => faint("ruins it", theme.glyph("×", "x")),
            Some(then) if gain(then) > 0 => {
                let name = then.hand.map_or("", Hand::name);
                let text = match words {
                    Words::Full => format!("+{} {name}", gain(then)),
                    _ => format!("+{}", gain(then)),
                };
                Line::styled(text, theme.good())
            }
            Some(then) => Line::styled(arrow(then.best(), words, theme).unwrap_or_default(), theme.ink()),
            None if is_new => Line::default(),
            None if words == Words::Brief && self.outlook.points > 0 => {
                Line::styled(self.outlook.points.to_string(), theme.title())
            }
            None => Line::styled(arrow(self.outlook.best(), words, theme).unwrap_or_default(), theme.ink()),
        };
        [now, next]
    }

    fn columns(&self, form: Form, words: Words, theme: &Theme) -> u16 {
        let widths = self.labels(words, theme).map(|line| u16::try_from(line.width()).unwrap_or(u16::MAX));
        let [now, next] = widths;
        match form {
            Form::Lying => {
                let pile = self.top.map_or_else(
                    || form.columns(&self.pile, theme),
                    |top| form.columns(&grown(&self.pile, top), theme),
                );
                now + next + pile + u16::from(pile > 0) + u16::from(next > 0) + 2
            }
            _ => form.columns(&self.pile, theme).max(now).max(next) + 2,
        }
    }

    fn draw(&self, form: Form, words: Words, canvas: &mut Canvas<'_>, place: Rect) {
        let theme = canvas.theme();
        let mark = canvas.spot(place, self.spot);
        show_mark(mark, canvas, place);
        let faded = self.is_faded().then(|| theme.faint());
        let pile = match (self.pile.split_last(), self.top) {
            // A pyramid in flight is not here yet.
            (Some((_, under)), _) if mark.hidden => under.to_vec(),
            // In focus, with the pyramid as it would lie.
            (_, Some(top)) if mark.focused => grown(&self.pile, top),
            _ => self.pile.clone(),
        };
        let [now, next] = self.labels(words, theme);
        let inner = place.inner(Margin::new(1, 0));
        if form == Form::Lying {
            let rest = canvas.lead(inner, now.clone());
            let indent = u16::from(!pile.is_empty());
            let rest = Rect { x: rest.x + indent, width: rest.width.saturating_sub(indent), ..rest };
            form.draw(&pile, faded, canvas, rest);
            let wide = u16::try_from(next.width()).unwrap_or(0).min(rest.width);
            let end = Rect { x: rest.right() - wide, width: wide, ..rest };
            return canvas.put(end, next);
        }
        let rows = [Constraint::Min(0), Constraint::Length(1), Constraint::Length(1)];
        let [air, first, second] = Layout::vertical(rows).areas(inner);
        form.draw(&pile, faded, canvas, air);
        if pile.is_empty() {
            let ground = Rect { y: air.bottom().saturating_sub(1), height: air.height.min(1), ..air };
            canvas.put(ground, Line::styled("+", theme.key()).centered());
        }
        canvas.put(first, now.centered());
        canvas.put(second, next.centered());
    }
}

fn widths(slots: &[Slot], form: Form, words: Words, theme: &Theme) -> Vec<u16> {
    slots.iter().map(|slot| slot.columns(form, words, theme)).collect()
}

/// The rows of a place.
fn height(slots: &[Slot], form: Form) -> u16 {
    let highest = slots.iter().map(|slot| slot.pile.len().min(HIGHEST)).max().unwrap_or(0);
    match form {
        Form::Lying => 1,
        // One more may come on top.
        _ => form.rows(highest + 1) + 2,
    }
}

/// The rows of all stacks, and how many stand above each other.
pub(super) fn rows(slots: &[Slot], form: Form, words: Words, room: u16, theme: &Theme) -> (u16, u16) {
    let (places, _) = flow(widths(slots, form, words, theme), room);
    let lines = rows_of(&places);
    (lines.saturating_mul(height(slots, form)), lines)
}

pub(super) fn draw(
    game: &Plutonian,
    me: Seat,
    (slots, (form, words)): (&[Slot], (Form, Words)),
    is_roomy: bool,
    canvas: &mut Canvas<'_>,
    area: Rect,
) {
    let votes = if game.votes().contains(me) { ". You vote to end." } else { "" };
    let title = format!("Your stacks: {} points{votes}", points(game, me));
    let (inner, head) = heading(canvas, area, &title, is_roomy);
    canvas.place(head, Spot::Seat(me));
    let theme = canvas.theme();
    let (places, widest) = flow(widths(slots, form, words, theme), inner.width);
    let rows = height(slots, form);
    let [across] = Layout::horizontal([Constraint::Length(widest)]).flex(Flex::Center).areas(inner);
    let mut order: Vec<_> = slots.iter().zip(places).collect();
    // Tab walks in this order: ruined stacks come last.
    order.sort_by_key(|(slot, _)| -slot.gain);
    for (slot, (x, row)) in order {
        let columns = slot.columns(form, words, theme);
        let place = Rect::new(across.x + x, across.y + row * rows, columns, rows);
        slot.draw(form, words, canvas, place.intersection(inner));
    }
}
