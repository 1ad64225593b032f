//! The layout of the table: the richest of several forms that fits.
//!
//! At 51 columns by 16 rows there may be 36 trees, and six seats with up to 18 stacks each. The forest therefore has
//! five forms and stacks have four, from drawn pyramids to a few letters. The form of the forest follows from the
//! initial number of trees, to stay the same through a game for as long as possible.

use fairdeal_games::TableGame as _;
use fairdeal_games::plutonian::Plutonian;
use fairdeal_games::plutonian::pieces::Pyramid;
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;
use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr as _;

use super::stacks::{Shown, label};
use super::trees::letters_wide;
use crate::tables::ViewContext;

/// How trees are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trees {
    /// Two rows for each pyramid, and a number.
    Tall,
    /// One row for each pyramid, and a number.
    Numbered,
    /// One row for each pyramid.
    Plain,
    /// One row for each pyramid, in three columns.
    Slim,
    /// One row for each tree, in letters.
    Letters,
}

/// How stacks are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stacks {
    /// As piles of pyramids.
    Piles,
    /// One row for each stack, with all that it can become.
    Rows,
    /// A few words.
    Words,
    /// A few letters.
    Letters,
}

/// Something on the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// The heading of the forest.
    Forest,
    Tree(usize),
    /// The number of the first tree of a row.
    Number(usize),
    /// The heading of a seat's stacks.
    Heading(Seat),
    /// A seat's label within a row.
    Label(Seat),
    /// A stack, by its place in the list.
    Stack(usize),
    /// The place where a new stack begins.
    New,
}

/// The width of a pile with its words, in columns.
pub(super) const PILE: u16 = 18;
/// The label where a new stack begins.
pub(super) const NEW: &str = "+ new stack";

/// The forms from rich to tight: the player's own stacks, and those of others.
const ROOMY: [(Stacks, Stacks); 8] = [
    (Stacks::Piles, Stacks::Piles),
    (Stacks::Piles, Stacks::Rows),
    (Stacks::Piles, Stacks::Words),
    (Stacks::Rows, Stacks::Rows),
    (Stacks::Rows, Stacks::Words),
    (Stacks::Rows, Stacks::Letters),
    (Stacks::Words, Stacks::Words),
    (Stacks::Words, Stacks::Letters),
];

/// The form of each part of a page.
#[derive(Clone, Copy)]
struct Form {
    trees: Trees,
    own: Stacks,
    others: Stacks,
    /// Whether the forest has a heading.
    heading: bool,
    /// Whether every seat starts a row.
    apart: bool,
}

/// All parts with their places, relative to the page's corner.
#[derive(Clone, Debug)]
pub(super) struct Page {
    pub(super) trees: Trees,
    pub(super) own: Stacks,
    pub(super) others: Stacks,
    pub(super) placed: Vec<(Rect, What)>,
    pub(super) height: u16,
    width: u16,
}

/// The measures of the forest.
struct Grove<'a> {
    trees: &'a [Vec<Pyramid>],
    has_wilds_below: bool,
    /// The tree that may not be touched yet.
    closed: Option<usize>,
}

impl Grove<'_> {
    /// The columns of a tree, and those between trees.
    fn columns(&self, form: Trees) -> (u16, u16) {
        match form {
            Trees::Tall => (7, 2),
            Trees::Numbered | Trees::Plain => (5, 1),
            Trees::Slim => (3, 1),
            Trees::Letters => (3, 1),
        }
    }

    /// The columns of one tree.
    fn wide(&self, form: Trees, number: usize) -> u16 {
        match form {
            Trees::Letters => {
                let tree = self.trees.get(number).map_or(&[][..], Vec::as_slice);
                letters_wide(tree, self.closed == Some(number))
            }
            _ => self.columns(form).0,
        }
    }

    /// The number of trees side by side.
    fn per_row(&self, form: Trees, width: u16) -> usize {
        let (columns, gap) = self.columns(form);
        let room = if form == Trees::Letters {
            width.saturating_sub(3)
        } else {
            width
        };
        usize::from(((room + gap) / (columns + gap)).max(1))
    }

    /// The rows of a tree with that many pyramids.
    fn rows(form: Trees, pyramids: usize) -> u16 {
        let pyramids = u16::try_from(pyramids.max(1)).unwrap_or(u16::MAX);
        match form {
            Trees::Tall => 2 * pyramids + 1,
            Trees::Numbered => pyramids + 1,
            Trees::Plain | Trees::Slim => pyramids,
            Trees::Letters => 1,
        }
    }

    /// The rows of the forest at the start of the game, with its heading.
    fn grown(&self, form: Trees, width: u16) -> u16 {
        let pyramids = if self.has_wilds_below { 4 } else { 3 };
        let rows = self.trees.len().div_ceil(self.per_row(form, width));
        let rows = u16::try_from(rows).unwrap_or(u16::MAX);
        rows.saturating_mul(Self::rows(form, pyramids)) + 1
    }
}

impl Page {
    /// The richest page that fits; if none does, the shortest.
    pub(super) fn of(game: &Plutonian, view: &ViewContext<'_>, shown: &[Shown], area: Rect) -> Self {
        let grove = Grove {
            trees: game.trees(),
            has_wilds_below: game.trees().iter().any(|tree| tree.len() > 3),
            closed: (0..game.trees().len()).find(|tree| !game.may_be_touched(*tree)),
        };
        let most = |form: &Trees| match form {
            Trees::Tall | Trees::Numbered => area.height / 2,
            Trees::Plain | Trees::Slim => area.height / 2 + 1,
            Trees::Letters => u16::MAX,
        };
        let forests = [Trees::Tall, Trees::Numbered, Trees::Plain, Trees::Slim, Trees::Letters]
            .into_iter()
            .filter(|form| grove.grown(*form, area.width) <= most(form));
        let roomy = forests.flat_map(|trees| {
            // On a narrow page, piles would come and go with every stack.
            let stacks = ROOMY.into_iter();
            let stacks = stacks.filter(|(own, _)| *own != Stacks::Piles || area.width >= 90);
            stacks.map(move |(own, others)| Form {
                trees,
                own,
                others,
                heading: true,
                apart: true,
            })
        });
        let letters = Form {
            trees: Trees::Letters,
            own: Stacks::Letters,
            others: Stacks::Letters,
            heading: true,
            apart: true,
        };
        let run_on = Form {
            apart: false,
            ..letters
        };
        for form in roomy.chain([letters, run_on]) {
            let page = Self::laid(game, view, shown, &grove, form, area.width);
            if page.height <= area.height {
                return page;
            }
        }
        let bare = Form {
            heading: false,
            ..run_on
        };
        Self::laid(game, view, shown, &grove, bare, area.width)
    }

    fn laid(
        game: &Plutonian,
        view: &ViewContext<'_>,
        shown: &[Shown],
        grove: &Grove<'_>,
        form: Form,
        width: u16,
    ) -> Self {
        let mut page = Self {
            trees: form.trees,
            own: form.own,
            others: form.others,
            placed: Vec::new(),
            height: 0,
            width,
        };
        if form.heading {
            page.row(What::Forest);
        }
        page.forest(grove);
        let mut running = Vec::new();
        for seat in seats(game, view.me) {
            let is_own = view.me == Some(seat);
            let stacks = if is_own { form.own } else { form.others };
            let of_seat = shown.iter().enumerate().filter(|(_, s)| s.seat == seat);
            let items: Vec<Item> = of_seat
                .map(|(at, stack)| {
                    let (columns, rows) = stack.area(stacks, width, view.theme);
                    (What::Stack(at), columns, rows)
                })
                .collect();
            let new = (What::New, columns(NEW), 1);
            if matches!(stacks, Stacks::Piles | Stacks::Rows) {
                page.row(What::Heading(seat));
                if is_own && !game.is_over() {
                    // At the end of the heading's row.
                    let x = width.saturating_sub(new.1 + 2);
                    let y = page.height.saturating_sub(1);
                    page.placed.push((Rect::new(x, y, new.1, 1), What::New));
                }
                page.flow(&items, if stacks == Stacks::Piles { 1 } else { 2 }, 0);
                continue;
            }
            running.push((What::Label(seat), columns(&label(game, view, seat)), 1));
            running.extend(items);
            if is_own && !game.is_over() {
                running.push(new);
            }
            if form.apart {
                let gap = if stacks == Stacks::Words { 2 } else { 1 };
                page.flow(&running, gap, 1);
                running.clear();
            }
        }
        page.flow(&running, 1, 0);
        page
    }

    /// Places a part that fills a row.
    fn row(&mut self, what: What) {
        let area = Rect::new(0, self.height, self.width, 1);
        self.placed.push((area, what));
        self.height = self.height.saturating_add(1);
    }

    /// Places the trees in rows; a row without trees is left out.
    fn forest(&mut self, grove: &Grove<'_>) {
        let (_, gap) = grove.columns(self.trees);
        let mut rest: &[Vec<Pyramid>] = grove.trees;
        while !rest.is_empty() {
            let first = grove.trees.len() - rest.len();
            let mut items: Vec<Item> = Vec::new();
            if self.trees == Trees::Letters {
                items.push((What::Number(first), 2, 1));
            }
            let mut x: u16 = items.iter().map(|(_, columns, _)| columns + gap).sum();
            let mut count = 0;
            for (tree, number) in rest.iter().zip(first..) {
                let columns = grove.wide(self.trees, number);
                if count > 0 && x + columns > self.width {
                    break;
                }
                x += columns + gap;
                count += 1;
                items.push((What::Tree(number), columns, Grove::rows(self.trees, tree.len())));
            }
            let (row, after) = rest.split_at(count.min(rest.len()));
            if row.iter().any(|tree| !tree.is_empty()) {
                self.flow(&items, gap, 0);
            }
            rest = after;
        }
    }

    /// Places parts side by side, in as many rows as they need, each at the bottom of its row. Rows after the first are
    /// indented.
    fn flow(&mut self, items: &[Item], gap: u16, indent: u16) {
        let mut rest = items;
        let mut start = 0;
        while !rest.is_empty() {
            let mut x = start;
            let fits = rest.iter().take_while(|(_, columns, _)| {
                let end = x + columns;
                x = end + gap;
                end <= self.width
            });
            // A part wider than the page is cut.
            let count = fits.count().max(1);
            let (row, after) = rest.split_at(count.min(rest.len()));
            let rows = row.iter().map(|(_, _, rows)| *rows).max().unwrap_or(0);
            let mut x = start;
            for (what, columns, own) in row {
                let y = self.height.saturating_add(rows - own);
                let columns = (*columns).min(self.width.saturating_sub(x));
                self.placed.push((Rect::new(x, y, columns, *own), *what));
                x += columns + gap;
            }
            self.height = self.height.saturating_add(rows);
            rest = after;
            start = indent;
        }
    }
}

/// A part to be placed, with its columns and rows.
type Item = (What, u16, u16);

/// The seats in order, the player's own first.
pub(super) fn seats(game: &Plutonian, me: Option<Seat>) -> impl Iterator<Item = Seat> + use<> {
    let count = game.seats();
    let first = me.map_or(0, Seat::index);
    (0..count).filter_map(move |place| Seat::new((first + place) % count))
}

pub(super) fn columns(text: &str) -> u16 {
    u16::try_from(text.width()).unwrap_or(u16::MAX)
}
