//! The burnt village: gods in force, then every hand scored combination by combination.

use fairdeal_protocol::card::Face;
use ratatui::Frame;
use ratatui::layout::{Constraint, Flex, Layout};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Paragraph};

use super::app::{App, Hit, Overlay, groups};
use super::cards;
use super::style::Theme;
use crate::games::loot::LastHand;
use crate::games::loot::cards::{GodSet, suit};
use crate::games::loot::score::best;

/// How a part of a line looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    Plain,
    Head,
    Good,
    Bad,
    Card(u8),
}

/// One part of a line, which appears in one beat.
#[derive(Clone, Debug)]
struct Part {
    text: String,
    look: Look,
}

/// The lines of a scoring and how much of them is shown.
#[derive(Debug)]
pub(super) struct Burn {
    lines: Vec<Vec<Part>>,
    shown: usize,
    /// How many lines the player looks back, where not all of them have room.
    back: usize,
}

fn part(text: impl Into<String>, look: Look) -> Part {
    Part {
        text: text.into(),
        look,
    }
}

fn card_parts(line: &mut Vec<Part>, faces: &[Face]) {
    line.extend(
        faces
            .iter()
            .map(|f| part(format!("{} ", cards::short(*f)), Look::Card(suit(*f)))),
    );
}

impl Burn {
    pub(super) fn new(last: &LastHand, names: &[String], totals: &[i64]) -> Self {
        let who = |seat: usize| names.get(seat).cloned().unwrap_or_default();
        let gods = last
            .hands
            .iter()
            .fold(GodSet::NONE, |gods, hand| gods.and_of(hand));
        let mut lines = vec![vec![part(
            format!("{} has fired the village.", who(last.fired_by.index())),
            Look::Head,
        )]];
        if gods.iter().next().is_none() {
            lines.push(vec![part("No god is in any hand.", Look::Plain)]);
        }
        for god in gods.iter() {
            lines.push(vec![
                part(format!("{:<12}", god.name()), Look::Card(5)),
                part(god.effect(), Look::Plain),
            ]);
        }
        for (seat, hand) in last.hands.iter().enumerate() {
            let arrangement = best(hand, gods);
            let total = totals.get(seat).copied().unwrap_or(0);
            lines.push(vec![
                part(format!("{:<16}", who(seat)), Look::Head),
                part(
                    format!("{:+}", arrangement.total),
                    if arrangement.total < 0 {
                        Look::Bad
                    } else {
                        Look::Good
                    },
                ),
                part(format!("   total {total}"), Look::Plain),
            ]);
            for group in groups(&arrangement) {
                let mut line = vec![part(format!("  {:<7}", group.label), Look::Plain)];
                card_parts(&mut line, &group.cards);
                line.push(part(format!("{:+}", group.points), Look::Good));
                if group.bonus > 0 {
                    let bonus = format!(" (six suits: +{} of it)", group.bonus);
                    line.push(part(bonus, Look::Plain));
                }
                if group.with_run {
                    line.push(part(" (with the run in it)", Look::Plain));
                }
                lines.push(line);
            }
            if !arrangement.loose.is_empty() {
                let mut line = vec![part("  loose  ", Look::Plain)];
                for (face, points) in &arrangement.loose {
                    card_parts(&mut line, &[*face]);
                    line.push(part(format!("{points:+} "), Look::Bad));
                }
                lines.push(line);
            }
        }
        Self {
            lines,
            shown: 1,
            back: 0,
        }
    }

    fn parts(&self) -> usize {
        self.lines.iter().map(Vec::len).sum()
    }

    pub(super) fn is_moving(&self) -> bool {
        self.shown < self.parts()
    }

    pub(super) fn advance(&mut self) {
        self.shown = (self.shown + 1).min(self.parts());
    }

    pub(super) fn skip(&mut self) {
        self.shown = self.parts();
    }

    /// Looks back by so many lines, or ahead; the hands of four seats may be more than a screen.
    pub(super) fn scroll(&mut self, by: isize) {
        if !self.is_moving() {
            self.back = self.back.saturating_add_signed(by);
        }
    }

    fn text(&self, theme: Theme) -> Vec<Line<'static>> {
        let mut left = self.shown;
        let mut out = Vec::new();
        for line in &self.lines {
            let count = left.min(line.len());
            left -= count;
            let spans: Vec<Span<'static>> = line
                .iter()
                .take(count)
                .map(|part| {
                    let style = match part.look {
                        Look::Plain => Style::new(),
                        Look::Head => theme.title(),
                        Look::Good => theme.good(),
                        Look::Bad => theme.bad(),
                        Look::Card(suit) => theme.suit(suit),
                    };
                    Span::styled(part.text.clone(), style)
                })
                .collect();
            out.push(Line::from(spans));
        }
        out
    }
}

pub(super) fn draw(app: &mut App, frame: &mut Frame<'_>) {
    let Overlay::Burn(burn) = &mut app.overlay else {
        return;
    };
    let lines = burn.text(app.theme);
    let wanted = u16::try_from(lines.len())
        .unwrap_or(u16::MAX)
        .saturating_add(3);
    let [area] = Layout::vertical([Constraint::Length(wanted.min(frame.area().height))])
        .flex(Flex::Center)
        .areas(frame.area());
    let [area] = Layout::horizontal([Constraint::Length(76)])
        .flex(Flex::Center)
        .areas(area);
    let block = Block::bordered()
        .border_set(app.theme.border())
        .title(Span::styled(" The village burns ", app.theme.bad()));
    let inner = block.inner(area);
    // What does not fit is at the top: the last lines are the newest.
    let written = lines.iter().filter(|line| !line.spans.is_empty()).count();
    let over = written.saturating_sub(usize::from(inner.height));
    burn.back = burn.back.min(over);
    let foot = if burn.is_moving() {
        " any key: all at once ".to_owned()
    } else if over > 0 {
        format!(" Up, Down: {over} more lines; any other key: go on ")
    } else {
        " any key: go on ".to_owned()
    };
    let scroll = u16::try_from(over - burn.back).unwrap_or(0);
    frame.render_widget(Clear, area);
    frame.render_widget(block.title_bottom(foot), area);
    frame.render_widget(Paragraph::new(lines).scroll((scroll, 0)), inner);
    app.hits.push((area, Hit::Close));
}
