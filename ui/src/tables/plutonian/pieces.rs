//! Pyramids and stacks in letters: their looks, their worth, and what they can still become.

use fairdeal_games::plutonian::Plutonian;
use fairdeal_games::plutonian::pieces::{Colour, Hand, Pyramid, score};
use fairdeal_games::pyramid::Size;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use crate::theme::{Pigment, Theme};

/// The height of the highest hand. Pyramids above it spoil the stack and are not drawn.
pub(super) const HIGHEST: usize = 5;

/// The colour of a pyramid; a star marks a wild one.
pub(super) fn style(pyramid: Pyramid, theme: &Theme) -> Style {
    match pyramid.colour {
        Some(Colour::Blue) => theme.pigment(Pigment::Blue),
        Some(Colour::Red) => theme.pigment(Pigment::Red),
        Some(Colour::Green) => theme.pigment(Pigment::Green),
        Some(Colour::Yellow) => theme.pigment(Pigment::Yellow),
        Some(Colour::Orange) => theme.pigment(Pigment::Orange),
        None => theme.accent(),
    }
}

/// A size as one sign: the larger the pyramid, the higher the bar.
pub(super) fn bar(size: Size, theme: &Theme) -> &'static str {
    match size {
        Size::Small => theme.glyph("▂", "s"),
        Size::Medium => theme.glyph("▄", "m"),
        Size::Large => theme.glyph("█", "l"),
    }
}

/// A pyramid in two columns: its letter and its size.
pub(super) fn sign(pyramid: Pyramid, theme: &Theme) -> Span<'static> {
    let text = format!("{}{}", pyramid.letter(), bar(pyramid.size, theme));
    Span::styled(text, style(pyramid, theme))
}

/// A stack from the bottom, with two columns for each pyramid and a blank between them.
pub(super) fn spelled(stack: &[Pyramid], theme: &Theme) -> Line<'static> {
    let mut line = Line::default();
    for (at, pyramid) in stack.iter().take(HIGHEST).enumerate() {
        if at > 0 {
            line.push_span(" ");
        }
        line.push_span(sign(*pyramid, theme));
    }
    push_rest(&mut line, stack, theme);
    line
}

/// A stack from the bottom, as short as possible. A common part stands once, before the pyramids that share it: the
/// size, if the whole stack has one (`sRG`), else the colours (`RsmGl`).
pub(super) fn packed(stack: &[Pyramid], theme: &Theme) -> Line<'static> {
    let mut line = Line::default();
    let shown = stack.get(..stack.len().min(HIGHEST)).unwrap_or(stack);
    let one_size = stack.windows(2).all(|pair| matches!(pair, [a, b] if a.size == b.size));
    if let ([first, _, ..], true) = (shown, one_size) {
        line.push_span(bar(first.size, theme));
        for pyramid in shown {
            let letter = pyramid.letter().to_string();
            line.push_span(Span::styled(letter, style(*pyramid, theme)));
        }
    } else {
        for run in shown.chunk_by(|a, b| a.colour == b.colour) {
            let Some(first) = run.first() else { continue };
            let sizes = run.iter().map(|pyramid| bar(pyramid.size, theme));
            let mut text = first.letter().to_string();
            text.extend(sizes);
            line.push_span(Span::styled(text, style(*first, theme)));
        }
    }
    push_rest(&mut line, stack, theme);
    line
}

fn push_rest(line: &mut Line<'static>, stack: &[Pyramid], theme: &Theme) {
    if stack.len() > HIGHEST {
        let text = format!("+{}", stack.len() - HIGHEST);
        line.push_span(Span::styled(text, theme.faint()));
    }
}

/// A style for what can be chosen, which keeps the colour.
pub(super) fn lit(style: Style) -> Style {
    style.add_modifier(Modifier::BOLD | Modifier::UNDERLINED)
}

/// Pyramids left in the trees, by colour and size; the last row counts the wilds.
#[derive(Clone, Debug, Default)]
pub(super) struct Left([[u8; 3]; 6]);

impl Left {
    pub(super) fn of(game: &Plutonian) -> Self {
        let mut left = Self::default();
        for pyramid in game.trees().iter().flatten() {
            let row = pyramid.colour.map_or(Colour::ALL.len(), index);
            let row = left.0.get_mut(row);
            if let Some(count) = row.and_then(|row| row.get_mut(pyramid.size.index())) {
                *count = count.saturating_add(1);
            }
        }
        left
    }

    /// Removes a pyramid that is taken.
    pub(super) fn take(&mut self, pyramid: Pyramid) {
        let row = pyramid.colour.map_or(Colour::ALL.len(), index);
        let row = self.0.get_mut(row);
        if let Some(count) = row.and_then(|row| row.get_mut(pyramid.size.index())) {
            *count = count.saturating_sub(1);
        }
    }

    fn count(&self, colour: Colour, size: Size) -> u8 {
        self.at(index(colour), size)
    }

    fn wilds(&self, size: Size) -> u8 {
        self.at(Colour::ALL.len(), size)
    }

    fn at(&self, row: usize, size: Size) -> u8 {
        let row = self.0.get(row);
        row.and_then(|row| row.get(size.index())).copied().unwrap_or(0)
    }

    /// Whether the trees still hold the pyramids that a stack lacks for a hand. The caller has checked that the rules
    /// allow the hand.
    fn has(&self, hand: Hand, stack: &[Pyramid]) -> bool {
        let above = hand.size().saturating_sub(stack.len());
        let Some(first) = stack.first() else {
            return true;
        };
        match hand {
            Hand::Tree | Hand::Nest => {
                let mut order = [Size::Large, Size::Medium, Size::Small];
                if hand == Hand::Nest {
                    order.reverse();
                }
                let missing = order.get(stack.len()..).unwrap_or(&[]);
                self.one_colour(stack, |colour| {
                    missing
                        .iter()
                        .all(|size| self.count(colour, *size) + self.wilds(*size) > 0)
                })
            }
            Hand::Straight | Hand::SubStraight => {
                let fresh = Colour::ALL.into_iter().filter(|colour| {
                    let used = stack.iter().any(|p| p.colour == Some(*colour));
                    !used && self.count(*colour, first.size) > 0
                });
                fresh.count() + usize::from(self.wilds(first.size)) >= above
            }
            Hand::FullHouse | Hand::TwoPair => {
                let (low, high) = (stack.iter().step_by(2), stack.iter().skip(1).step_by(2));
                let places = (stack.len()..hand.size()).partition::<Vec<_>, _>(|at| at % 2 == 0);
                let fits = |one: &Pyramid, colour| one.colour.is_none_or(|own| own == colour);
                let lacks = |colour, places: &[usize]| {
                    let there = usize::from(self.count(colour, first.size));
                    places.len().saturating_sub(there)
                };
                Colour::ALL.into_iter().any(|a| {
                    Colour::ALL.into_iter().any(|b| {
                        a != b
                            && low.clone().all(|one| fits(one, a))
                            && high.clone().all(|one| fits(one, b))
                            && lacks(a, &places.0) + lacks(b, &places.1) <= usize::from(self.wilds(first.size))
                    })
                })
            }
            _ => self.one_colour(stack, |colour| {
                let there = self.count(colour, first.size) + self.wilds(first.size);
                usize::from(there) >= above
            }),
        }
    }

    /// Whether the condition holds for the stack's one colour, or for any colour if the stack is wild.
    fn one_colour(&self, stack: &[Pyramid], is_so: impl Fn(Colour) -> bool) -> bool {
        match stack.iter().find_map(|pyramid| pyramid.colour) {
            Some(colour) => is_so(colour),
            None => Colour::ALL.into_iter().any(is_so),
        }
    }
}

fn index(colour: Colour) -> usize {
    let place = Colour::ALL.iter().position(|known| *known == colour);
    place.unwrap_or(0)
}

/// The worth of a stack, and the hands that it can still become.
#[derive(Clone, Debug)]
pub(super) struct Outlook {
    pub(super) hand: Option<Hand>,
    pub(super) points: i64,
    /// Reachable with the pyramids left in the trees, the most points first.
    pub(super) may_be: Vec<(Hand, i64)>,
}

impl Outlook {
    pub(super) fn of(stack: &[Pyramid], left: &Left) -> Self {
        let size = stack.first().map_or(Size::Small, |first| first.size);
        let higher = Hand::ALL
            .into_iter()
            .filter(|hand| hand.size() > stack.len() && hand.may_become(stack) && left.has(*hand, stack));
        let mut may_be: Vec<_> = higher.map(|hand| (hand, hand.points_of(size))).collect();
        may_be.sort_by_key(|(_, points)| -points);
        Self {
            hand: Hand::of(stack),
            points: score(stack),
            may_be,
        }
    }

    /// Whether it is worth nothing now and for good.
    pub(super) fn is_dead(&self) -> bool {
        self.points == 0 && self.may_be.is_empty()
    }

    /// The hand and its points.
    pub(super) fn now(&self) -> String {
        match self.hand {
            Some(hand) => format!("{} {}", hand.name(), self.points),
            None if self.is_dead() => "ruined".to_owned(),
            None => "nothing yet".to_owned(),
        }
    }

    /// The hands that it can become, as many as fit.
    pub(super) fn later(&self, room: usize, theme: &Theme) -> String {
        let arrow = theme.glyph("→", "->");
        let mut text = String::new();
        for (hand, points) in &self.may_be {
            let lead = if text.is_empty() {
                format!("{arrow} ")
            } else {
                ", ".to_owned()
            };
            let next = format!("{lead}{} {points}", hand.name());
            // Everything but the arrow is ASCII.
            if text.chars().count() + next.chars().count() > room {
                break;
            }
            text.push_str(&next);
        }
        text
    }

    /// The best hand that it can become.
    pub(super) fn best(&self) -> Option<(Hand, i64)> {
        self.may_be.first().copied()
    }
}
