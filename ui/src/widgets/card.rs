//! Cards in four sizes: filled objects with rank, suit, picture and name.
//!
//! ```text
//! mini   small     normal      large
//! 9≈     ╭─────╮   ╭───────╮   ╭───────────╮
//!        │9   ≈│   │9     ≈│   │9         ≈│
//!        │  ≈  │   │ ▄█▀█▄ │   │           │
//!        │    9│   │ █▄▄▄█ │   │  picture  │
//!        ╰─────╯   │ ▀   ▀ │   │           │
//!                  │  fool │   │           │
//!                  ╰───────╯   │    fool   │
//!                              │≈         9│
//!                              ╰───────────╯
//! ```
//!
//! A name that does not fit is left out: picture, suit and rank stand alone, and the inspector names the card.

use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Block;
use unicode_width::UnicodeWidthStr as _;

use super::Picture;
use crate::canvas::Spot;
use crate::canvas::{Canvas, Mark};

/// Cards taller than this many rows stay put in focus.
const TALLEST_THAT_RISES: u16 = 9;

/// The size of a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CardSize {
    Mini,
    Small,
    Normal,
    Large,
    /// As many columns and rows as said, for faces with [lines of their own](Card::lines).
    Sized(u16, u16),
}

impl CardSize {
    /// Columns of a card.
    pub fn columns(self) -> u16 {
        match self {
            Self::Mini => 3,
            Self::Small => 7,
            Self::Normal => 9,
            Self::Large => 13,
            Self::Sized(columns, _) => columns,
        }
    }

    /// Rows of a card.
    pub fn rows(self) -> u16 {
        match self {
            Self::Mini => 1,
            Self::Small => 5,
            Self::Normal => 7,
            Self::Large => 9,
            Self::Sized(_, rows) => rows,
        }
    }

    /// The largest size of which `count` cards fit into a row of `columns`, and that is at most `rows` high.
    pub fn fitting(count: usize, gap: u16, columns: u16, rows: u16) -> Self {
        let count = u16::try_from(count).unwrap_or(u16::MAX);
        let fits = |size: &Self| {
            let wide = count.saturating_mul(size.columns() + gap).saturating_sub(gap);
            wide <= columns && size.rows() <= rows
        };
        let sizes = [Self::Large, Self::Normal, Self::Small];
        sizes.into_iter().find(fits).unwrap_or(Self::Mini)
    }
}

/// A card, face up or face down.
#[derive(Clone, Debug, Default)]
pub struct Card<'a> {
    /// Its rank in at most two columns; empty on the back of a card.
    pub rank: &'a str,
    /// The sign of its suit, in a column or two.
    pub suit: &'a str,
    /// Its name, in full.
    pub name: &'a str,
    pub picture: Option<&'a Picture>,
    /// The colour of its suit.
    pub style: Style,
    /// Lines at the foot of the face, such as name and uses; with them, the face has no name or lower rank.
    pub lines: Vec<Line<'a>>,
    /// Its second suit, drawn beside the first.
    pub second: Option<SecondSuit<'a>>,
    /// Its columns, if not those of its size.
    pub columns: u16,
    /// A note on its lower edge, such as what it is worth.
    pub foot: Option<Line<'a>>,
    /// Whether it came in the last turn.
    pub new: bool,
}

/// The second suit of a card that has two.
#[derive(Clone, Copy, Debug)]
pub struct SecondSuit<'a> {
    pub suit: &'a str,
    pub picture: Option<&'a Picture>,
    pub style: Style,
}

impl Card<'_> {
    /// Draws the card with its corner at the area's; the area is at least as large as `size`. The card rests in the
    /// lowest rows of the area, and rises by a row in focus and by another when it is picked, as far as the area allows.
    pub fn draw(&self, canvas: &mut Canvas<'_>, area: Rect, size: CardSize, spot: Option<Spot>) {
        let mark = spot.map_or_else(Mark::default, |spot| canvas.spot(area, spot));
        if mark.hidden {
            return;
        }
        if size == CardSize::Mini {
            return self.draw_mini(canvas, area, mark);
        }
        let room = area.height.saturating_sub(size.rows());
        // The frame of a very large card is seen without that, and moving its whole face is slow over slow links.
        let focused = mark.focused && size.rows() <= TALLEST_THAT_RISES;
        let lift = (u16::from(focused) + 2 * u16::from(mark.picked)).min(room).min(2);
        let at = Rect {
            y: area.y + room - lift,
            height: size.rows().min(area.height),
            width: match self.columns {
                0 => size.columns(),
                columns => columns,
            }
            .min(area.width),
            ..area
        };
        let theme = canvas.theme();
        let (border, edge) = mark.border(theme);
        let block = Block::bordered().border_set(border).border_style(edge);
        let inner = block.inner(at);
        canvas.clear(at);
        let can_be_chosen = mark.lit || mark.picked || spot.is_none();
        canvas.tint(at, theme.paper(can_be_chosen));
        canvas.render(block, at);
        if !mark.focused && !mark.picked && !self.rank.is_empty() {
            canvas.tint(Rect { width: 1, ..at }, self.style);
        }
        self.draw_face(canvas, inner, size, self.style);
        if let Some(foot) = &self.foot {
            let width = u16::try_from(foot.width()).unwrap_or(0);
            let x = at.x + at.width.saturating_sub(width) / 2;
            canvas.put(Rect::new(x, at.bottom().saturating_sub(1), width, 1), foot.clone());
        }
        if self.new {
            let dot = Span::styled(theme.glyph("●", "*"), theme.accent());
            canvas.put(Rect::new(at.right().saturating_sub(3), at.y, 1, 1), Line::from(dot));
        }
        if mark.picked && lift > 0 {
            let shadow = theme.glyph("▔", "-").repeat(usize::from(at.width));
            canvas.put(Rect { y: at.bottom(), height: 1, ..at }, Line::styled(shadow, theme.faint()));
        }
        if mark.flashing {
            canvas.tint(at, theme.focused());
        }
    }

    fn draw_face(&self, canvas: &mut Canvas<'_>, inner: Rect, size: CardSize, style: Style) {
        let theme = canvas.theme();
        let width = usize::from(inner.width);
        if self.rank.is_empty() {
            let lattice = theme.glyph("▒", "#").repeat(width);
            let lines = (0..inner.height).map(|_| Line::styled(lattice.clone(), theme.back()));
            return canvas.rows(inner, lines);
        }
        // The second suit fades with the first.
        let second = self
            .second
            .map(|second| SecondSuit { style: if style == self.style { second.style } else { style }, ..second });
        let suits = || {
            let second = second.map(|second| Span::styled(second.suit.to_owned(), second.style));
            let first = Span::styled(self.suit.to_owned(), style);
            std::iter::once(first).chain(second).collect::<Vec<_>>()
        };
        let corner = |left: Vec<Span<'static>>, right: Vec<Span<'static>>| {
            let used: usize = left.iter().chain(&right).map(Span::width).sum();
            let gap = Span::raw(" ".repeat(width.saturating_sub(used)));
            Line::from_iter(left.into_iter().chain([gap]).chain(right))
        };
        let word = |text: &str| vec![Span::styled(text.to_owned(), style)];
        let middle = |text: &str| Line::styled(format!("{text:^width$}"), style);
        let fits = self.name.width() <= width;
        if inner.height < 3 && fits {
            // "Ace" and "Crown" say their rank.
            let head = if self.name.starts_with(self.rank) {
                self.name.to_owned()
            } else {
                format!("{} {}", self.rank, self.name)
            };
            return canvas.put(inner, corner(word(&head), suits()));
        }
        let mut lines = vec![corner(word(self.rank), suits())];
        let picture = self.picture.map(|picture| picture.rows(theme));
        match (size, picture) {
            (CardSize::Normal | CardSize::Large | CardSize::Sized(..), Some(rows)) => {
                let used = 1 + rows.len() + self.lines.len();
                let spare = usize::from(inner.height).saturating_sub(used);
                let above = match size {
                    CardSize::Normal => 0,
                    CardSize::Large => 1,
                    _ => spare / 2,
                };
                lines.extend(std::iter::repeat_n(Line::default(), above));
                let second = second.and_then(|second| Some((second.picture?.rows(theme), second.style)));
                lines.extend(rows.iter().enumerate().map(|(at, row)| {
                    match second.as_ref().and_then(|(rows, style)| Some((rows.get(at)?, *style))) {
                        Some((other, other_style)) => {
                            let gap = if row.width() + other.width() < width { " " } else { "" };
                            let spans =
                                [Span::styled(row.clone() + gap, style), Span::styled(other.clone(), other_style)];
                            Line::from_iter(spans).centered()
                        }
                        None => middle(row),
                    }
                }));
            }
            _ if self.second.is_some() => {}
            _ => lines.extend([middle(self.suit)]),
        }
        // A card of its own width has room for its name at any size.
        let last = if (size >= CardSize::Normal || self.columns > 0) && fits {
            middle(self.name)
        } else {
            corner(Vec::new(), word(self.rank))
        };
        let foot = match size {
            _ if !self.lines.is_empty() => self.lines.iter().map(|line| line.clone().centered()).collect(),
            CardSize::Large => vec![if fits { last } else { Line::default() }, corner(suits(), word(self.rank))],
            _ => vec![last],
        };
        let used = lines.len() + foot.len();
        let gap = usize::from(inner.height).saturating_sub(used);
        lines.extend(std::iter::repeat_n(Line::default(), gap));
        lines.extend(foot);
        canvas.rows(inner, lines);
    }

    fn draw_mini(&self, canvas: &mut Canvas<'_>, area: Rect, mark: Mark) {
        let theme = canvas.theme();
        let text = match self.rank {
            "" => theme.glyph("▒▒", "##").to_owned(),
            rank => format!("{rank}{}", self.suit),
        };
        // A line under it says that it can be chosen; its colour stays that of its suit.
        let style = if mark.lit { self.style.add_modifier(Modifier::UNDERLINED) } else { self.style };
        let mark = Mark { lit: false, ..mark };
        let row = Rect { y: area.bottom().saturating_sub(1), height: 1, ..area };
        canvas.put(row, Line::styled(text, mark.over(style, theme)));
    }
}
