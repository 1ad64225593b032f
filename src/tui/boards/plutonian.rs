//! The board of Plutonian Poker: the forest, and everybody's stacks with what they are worth.

use fairdeal_protocol::card::Faces;
use fairdeal_protocol::seat::Seat;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span, Text};

use crate::games::plutonian::pieces::{Hand, Pyramid, score};
use crate::games::plutonian::{Plutonian, PlutonianAction};
use crate::tui::board::{Board, Choice, Look};
use crate::tui::rows::{Paragraph, fitting, rows, short_names};
use crate::tui::style::Theme;

/// A tree from the bottom. Its sizes follow from their order, large, medium, small, but for a wild,
/// which may lie under all of them and has its own letter.
fn tree_text(tree: &[Pyramid]) -> String {
    let each = tree.iter().map(|pyramid| match pyramid.colour {
        Some(_) => pyramid.letter().to_string(),
        None => with_size(*pyramid),
    });
    each.collect()
}

fn size_letter(pyramid: Pyramid) -> &'static str {
    pyramid.size.name().get(..1).unwrap_or_default()
}

fn with_size(pyramid: Pyramid) -> String {
    format!("{}{}", pyramid.letter(), size_letter(pyramid))
}

/// A stack from the bottom. What is the same for several in a row stands once before them: the size,
/// if it is one for the whole stack (`sRG`), else the colours (`RsmGl`). Colours are capitals and
/// sizes are not, so that the two cannot be taken for each other.
fn stack_text(stack: &[Pyramid]) -> String {
    let one_size = stack
        .windows(2)
        .all(|pair| matches!(pair, [a, b] if a.size == b.size));
    if let ([first, _, ..], true) = (stack, one_size) {
        let letters: String = stack.iter().map(|pyramid| pyramid.letter()).collect();
        return format!("{}{letters}", size_letter(*first));
    }
    let runs = stack.chunk_by(|a, b| a.colour == b.colour);
    let texts = runs.map(|run| {
        let colour = run.first().map(|pyramid| pyramid.letter());
        let sizes = run.iter().copied().map(size_letter);
        colour
            .into_iter()
            .map(String::from)
            .chain(sizes.map(str::to_owned))
            .collect::<String>()
    });
    texts.collect()
}

/// How wide a tree without wilds is, with a number of two digits.
const PLAIN_TREE: usize = 5;

/// How much of everything is shown. The smallest terminal has 11 rows for 105 pyramids.
#[derive(Clone, Copy)]
struct Form {
    /// What the letters mean.
    legend: Option<&'static str>,
    /// Trees in columns, and every seat on a row of its own.
    apart: bool,
    /// The numbers of other seats' stacks; the own ones are what actions name.
    numbers: bool,
    /// What other seats' stacks are worth each.
    worth: bool,
    /// How many stacks of every other seat.
    most: usize,
}

const LEGEND: &str = "From the bottom. Trees: large, medium, small. Stacks: 0:sRG=2 is stack 0, small \
                      red and green, worth 2; Rsm is small and medium red. * is wild.";
const BRIEF: &str = "trees l m s up; sRG: two smalls; Rsm: two reds";

/// From roomy to dense.
fn forms(highest: usize) -> impl Iterator<Item = Form> {
    let roomy = Form {
        legend: Some(LEGEND),
        apart: true,
        numbers: true,
        worth: true,
        most: highest,
    };
    let brief = Form {
        legend: Some(BRIEF),
        ..roomy
    };
    let bare = Form {
        legend: None,
        ..roomy
    };
    // The totals stand beside the names.
    let totals = Form {
        worth: false,
        ..brief
    };
    let short = Form {
        worth: false,
        ..bare
    };
    let packed = Form {
        apart: false,
        ..short
    };
    let dense = Form {
        numbers: false,
        ..packed
    };
    let fewer = (0..highest).rev().map(move |most| Form { most, ..dense });
    [roomy, brief, bare, totals, short, packed, dense]
        .into_iter()
        .chain(fewer)
}

/// A seat with its stacks.
fn seat_words(
    game: &Plutonian,
    (seat, name): (Seat, &str),
    own: bool,
    form: Form,
    theme: &Theme,
) -> Vec<Line<'static>> {
    let style = if own { theme.good() } else { theme.title() };
    let stacks = game.stacks(seat);
    // If not all can be shown, those that are worth most are.
    let mut order: Vec<usize> = (0..stacks.len()).collect();
    if !own && stacks.len() > form.most {
        let worth = |place: &usize| stacks.get(*place).map_or(0, |stack| score(stack));
        order.sort_by_key(|place| -worth(place));
        order.truncate(form.most);
        order.sort_unstable();
    }
    let shown = order.iter().filter_map(|place| {
        let stack = stacks.get(*place)?;
        let mut word = Line::default();
        if own || form.numbers {
            word.push_span(Span::styled(format!("{place}:"), theme.faint()));
        }
        word.push_span(stack_text(stack));
        let points = score(stack);
        if (own || form.worth) && points > 0 {
            word.push_span(Span::styled(format!("={points}"), theme.key()));
        }
        Some(word)
    });
    let mut words: Vec<Line<'static>> = shown.collect();
    let missing = stacks.len() - order.len();
    if missing > 0 {
        let text = format!("{} {missing} more", theme.glyph("…", "..."));
        words.push(Line::styled(text, theme.bad()));
    }
    // A name is not parted from what comes first.
    let name = Line::styled(format!("{name}:"), style);
    match words.first_mut() {
        Some(first) => {
            let spans = std::mem::take(&mut first.spans);
            first.spans = name.spans;
            first.push_span(" ");
            first.spans.extend(spans);
        }
        None => words.push(name),
    }
    words
}

/// The trees that still stand; one that may not be touched is in brackets.
fn tree_words(game: &Plutonian, theme: &Theme) -> Vec<Line<'static>> {
    let trees = game.trees().iter().enumerate();
    trees
        .filter(|(_, tree)| !tree.is_empty())
        .map(|(index, tree)| {
            let number = Span::styled(index.to_string(), theme.faint());
            let letters = Span::raw(tree_text(tree));
            if game.may_be_touched(index) {
                Line::from(vec![number, letters])
            } else {
                Line::from(vec![Span::raw("("), number, letters, Span::raw(")")])
            }
        })
        .collect()
}

/// In columns of a plain tree's width; wider words take several.
fn aligned(words: Vec<Line<'static>>) -> Vec<Line<'static>> {
    let column = PLAIN_TREE + 1;
    let pad = |mut word: Line<'static>| {
        let width = (word.width() + 1).next_multiple_of(column) - 1;
        word.push_span(" ".repeat(width - word.width()));
        word
    };
    words.into_iter().map(pad).collect()
}

/// The whole board in some form.
fn board_rows(game: &Plutonian, look: &Look<'_>, form: Form, width: usize) -> Vec<Line<'static>> {
    let theme = look.theme;
    let trees = tree_words(game, theme);
    let trees = if form.apart { aligned(trees) } else { trees };
    let mut paragraphs = vec![Paragraph::new(0).words(trees)];
    if let Some(legend) = form.legend {
        let words = legend.split(' ');
        let words = words.map(|word| Line::styled(word, theme.faint()));
        paragraphs.push(Paragraph::new(0).words(words));
    }
    let names = short_names(look.names, theme);
    let named: Vec<(Seat, &str)> = Seat::first(names.len())
        .zip(names.iter().map(String::as_str))
        .collect();
    // The own stacks first: they are what one looks for.
    let (own, others): (Vec<_>, Vec<_>) = named
        .into_iter()
        .partition(|(seat, _)| Some(*seat) == look.me);
    let seats = own.into_iter().chain(others);
    let seats = seats.map(|named| seat_words(game, named, Some(named.0) == look.me, form, theme));
    if form.apart {
        paragraphs.extend(seats.map(|words| Paragraph::new(1).words(words)));
    } else {
        paragraphs.push(Paragraph::new(0).words(seats.flatten()));
    }
    rows(paragraphs, width)
}

impl Board for Plutonian {
    fn heading(&self) -> String {
        let left: usize = self.trees().iter().map(Vec::len).sum();
        format!("{left} left, {} votes end it", self.votes_needed())
    }

    fn seat_note(&self, seat: Seat) -> String {
        if self.forfeited().contains(seat) {
            "has left".to_owned()
        } else if self.votes().contains(seat) {
            "votes to end".to_owned()
        } else {
            String::new()
        }
    }

    fn prompt(&self, _me: Seat) -> String {
        "take the top of a tree.".to_owned()
    }

    fn draw(&self, look: &Look<'_>, frame: &mut Frame<'_>, area: Rect) {
        let highest = Seat::first(look.names.len())
            .map(|seat| self.stacks(seat).len())
            .max();
        let width = usize::from(area.width);
        let forms = forms(highest.unwrap_or(0)).map(|form| board_rows(self, look, form, width));
        let rows = fitting(forms, usize::from(area.height), look.theme);
        frame.render_widget(Text::from(rows), area);
    }

    fn choice(&self, action: &PlutonianAction, _known: &Faces) -> Choice {
        match *action {
            PlutonianAction::Vote { end: true } => Choice::new("vote", "vote for the end"),
            PlutonianAction::Vote { end: false } => Choice::new("vote", "take the vote back"),
            PlutonianAction::Take { tree, stack } => {
                let pyramids = self.trees().get(usize::from(tree));
                let taken = pyramids.and_then(|tree| tree.last()).copied();
                let top = taken.map_or_else(String::new, with_size);
                let words = match (stack, self.turn(), taken) {
                    (Some(stack), Some(seat), Some(taken)) => {
                        let mut after = self
                            .stacks(seat)
                            .get(usize::from(stack))
                            .cloned()
                            .unwrap_or_default();
                        let before = stack_text(&after);
                        after.push(taken);
                        let hand = Hand::of(&after).map_or_else(String::new, |hand| {
                            format!(": {} {}", hand.name(), score(&after))
                        });
                        format!("onto stack {stack} {before}{hand}")
                    }
                    _ => "start a new stack".to_owned(),
                };
                Choice::new(format!("{tree} {top}"), words)
            }
        }
    }
}
