//! Sections of the board that are drawn if there is room: the gods, the player's hand added up, the scoring table.

use fairdeal_games::TableGame as _;
use fairdeal_games::loot::cards::{GODS, God, GodSet, RANKS, SUITS, all, suit};
use fairdeal_protocol::card::Face;
use fairdeal_protocol::seat::Seat;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use super::board::{Table, split};
use super::cards;
use super::god_spot;
use super::worth::{Group, rates_under};
use crate::canvas::{Canvas, cut, fit, wrapped};
use crate::theme::Theme;

/// A section of the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// All nine gods.
    Gods,
    /// The gods in sight.
    GodsInSight,
    /// The player's hand, added up.
    Sum,
    /// The scoring table.
    Scoring,
    /// Every card of the deck, and where it has been seen.
    Deck,
    /// The course of a turn.
    Turn,
    /// The scores of the previous hand.
    Last,
}

/// The narrowest column in which text is wrapped.
const TURN_WIDTH: usize = 42;

impl Part {
    /// The rows it takes, with its heading; 0 if it is empty.
    pub(super) fn rows(self, table: &Table<'_>) -> u16 {
        let rows = match self {
            Self::Gods => God::ALL.len(),
            Self::GodsInSight => table.sight.gods.len().max(1),
            Self::Sum => match table.sight.own.len() {
                0 => return 0,
                _ => groups_at_most(table) + 1,
            },
            Self::Scoring => 5,
            Self::Deck => usize::from(SUITS) + 2,
            Self::Turn => wrapped(&turn_text(table), TURN_WIDTH, 0).len(),
            Self::Last => match table.loot.last_hand() {
                Some(_) => 1,
                None => return 0,
            },
        };
        u16::try_from(rows + 1).unwrap_or(u16::MAX)
    }

    /// Whether it is readable in that many columns.
    pub(super) fn fits(self, columns: u16) -> bool {
        usize::from(columns) >= TURN_WIDTH
    }

    /// Draws it with a heading.
    pub(super) fn draw(self, table: &Table<'_>, canvas: &mut Canvas<'_>, area: Rect) {
        let theme = canvas.theme();
        match self {
            Self::Gods => {
                let inner = canvas.section(area, "Gods: each acts while in any hand");
                draw_gods(table, canvas, inner, &God::ALL);
            }
            Self::GodsInSight => {
                let inner = canvas.section(area, "Gods in sight, which act on every hand");
                let gods: Vec<God> = table.sight.gods.iter().map(|(god, _)| *god).collect();
                if gods.is_empty() {
                    let none = "none; hidden hands may hold some";
                    canvas.put(inner, Line::styled(format!(" {none}"), theme.faint()));
                }
                draw_gods(table, canvas, inner, &gods);
            }
            Self::Sum => draw_sum(table, canvas, area),
            Self::Scoring => {
                let inner = canvas.section(area, "What each card scores");
                let width = usize::from(inner.width);
                canvas.rows(inner, scoring(table.sight.god_set(), width, theme));
            }
            Self::Deck => {
                let inner = canvas.section(area, "The deck, as far as you have seen it");
                canvas.rows(inner, deck(table, usize::from(inner.width), theme));
            }
            Self::Turn => {
                let inner = canvas.section(area, "How to play");
                let text = wrapped(&turn_text(table), usize::from(inner.width), 0);
                let lines = text.into_iter().map(|row| Line::styled(row, theme.faint()));
                canvas.rows(inner, lines);
            }
            Self::Last => draw_last(table, canvas, area),
        }
    }
}

/// The most groups that a hand can have: a combination for every three cards, and the loose ones.
fn groups_at_most(table: &Table<'_>) -> usize {
    table.sight.own.len() / 3 + 1
}

fn turn_text(table: &Table<'_>) -> String {
    let target = table.loot.target();
    format!(
        "Take the top card of a pile, then discard a card. Once everybody has had a turn anybody may fire the \
         village, also out of turn. Then all hands are shown and scored, each in its best combinations, under \
         the gods in all of them. A total of {target} or -{target} ends the game, and the highest wins."
    )
}

/// Draws gods in rows: rank, name, power, and the holder in sight.
fn draw_gods(table: &Table<'_>, canvas: &mut Canvas<'_>, area: Rect, gods: &[God]) {
    let theme = canvas.theme();
    let mut rest = area;
    for god in gods {
        let (row, after) = split(rest, 1);
        let holder = table.sight.gods.iter().find(|(seen, _)| seen == god);
        let holder = holder.map(|(_, seat)| match table.view.me {
            Some(me) if me == *seat => "yours",
            _ => table.view.name(*seat),
        });
        let mark = canvas.spot(row, god_spot(*god));
        let effect = if row.width >= 52 {
            god.effect()
        } else {
            cards::effect(*god)
        };
        let text = format!(
            " {} {} {effect}",
            cards::god_short(*god),
            fit(cards::god_name(*god), 11)
        );
        let style = if holder.is_some() {
            theme.suit(GODS)
        } else {
            theme.faint()
        };
        let who = holder.map_or(String::new(), |who| format!(" {who} "));
        let room = usize::from(row.width).saturating_sub(who.width());
        let text = fit(&cut(&text, room, theme), room);
        let line = Line::from(vec![Span::styled(text, style), Span::styled(who, theme.accent())]);
        canvas.put(row, line);
        if mark.focused || mark.flashing {
            canvas.tint(row, theme.focused());
        }
        rest = after;
    }
}

/// How a group's points add up: `4 x 2 and 4 x 2 in the run`.
fn how(group: &Group, gods: GodSet, theme: &Theme) -> String {
    let times = theme.glyph("×", "x");
    let count = group.cards.len();
    let note = group.note(gods);
    let note = if note.is_empty() { note } else { format!(" ({note})") };
    match group.kind {
        Some(_) if group.runs > 0 => {
            let own = group.points - group.runs;
            format!("{own} and {} for the run{note}", group.runs)
        }
        Some(_) => format!("{count} {times} {}{note}", group.rate),
        None if group.points == 0 => note.trim().to_owned(),
        None => format!("what their ranks cost{note}"),
    }
}

/// Draws the player's hand, added up.
fn draw_sum(table: &Table<'_>, canvas: &mut Canvas<'_>, area: Rect) {
    let theme = canvas.theme();
    let gods = table.sight.god_set();
    let inner = canvas.section(area, "Your hand, added up");
    let (groups, worth) = table.sight.arranged();
    let width = usize::from(inner.width);
    let mut lines: Vec<Line<'static>> = Vec::new();
    for group in &groups {
        let style = if group.points < 0 { theme.bad() } else { theme.good() };
        let mut spans = vec![
            Span::styled(format!("{:>+5} ", group.points), style),
            Span::raw(fit(group.label(), 15)),
        ];
        for (face, _) in &group.cards {
            let word = format!("{} ", cards::short(*face));
            spans.push(Span::styled(word, theme.suit(suit(*face))));
        }
        let line = Line::from(spans);
        let how = how(group, gods, theme);
        let at = line.width().max(56);
        let room = width.saturating_sub(at);
        let mut line = line;
        if how.width() <= room {
            line.push_span(Span::raw(" ".repeat(at - line.width())));
            line.push_span(Span::styled(how, theme.faint()));
        }
        lines.push(line);
    }
    let all = if table.sight.own.len() > 9 {
        "with all ten cards; one has to go"
    } else {
        "if the village burned now"
    };
    lines.push(Line::from(vec![
        Span::styled(format!("{worth:>+5} "), theme.title()),
        Span::styled(all, theme.title()),
    ]));
    canvas.rows(inner, lines);
}

/// The scoring table under these gods.
fn scoring(gods: GodSet, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let [run, set, colour] = rates_under(gods);
    let least = if gods.has(God::Builder) { 3 } else { 4 };
    let loose = if gods.has(God::Thief) {
        "0".to_owned()
    } else {
        "-rank".to_owned()
    };
    let rows = [
        ("run", "4+ ranks in a row, any suits".to_owned(), format!("{run:+}")),
        ("set", "3+ cards of one rank".to_owned(), format!("{set:+}")),
        (
            "colour",
            format!("{least}+ of one suit, runs extra"),
            format!("{colour:+}"),
        ),
        ("loose", "in no combination".to_owned(), loose),
        ("bonus", "a run of 6 ranks in 6 suits".to_owned(), "+5".to_owned()),
    ];
    rows.into_iter()
        .map(|(name, what, points)| {
            let room = width.saturating_sub(15);
            Line::from(vec![
                Span::styled(format!(" {name:<7}"), theme.title()),
                Span::raw(fit(&cut(&what, room, theme), room)),
                Span::styled(format!("{points:>6}"), theme.good()),
            ])
        })
        .collect()
}

/// Every card by suit and rank: the hand it has been seen in, the discard pile, or nowhere.
fn deck(table: &Table<'_>, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let column = if width >= 90 { 9 } else { 4 };
    let unseen = theme.glyph("·", ".");
    let mut lines = vec![Line::styled(
        format!(
            "{:9}{}",
            "",
            (1..=RANKS).map(|rank| format!("{rank:<column$}")).collect::<String>()
        ),
        theme.faint(),
    )];
    let mut holders: Vec<(Face, String)> = Vec::new();
    for seat in Seat::first(table.loot.seats()) {
        let name = if table.view.me == Some(seat) {
            "you".to_owned()
        } else {
            table.view.name(seat).to_owned()
        };
        let faces = table.loot.hand_of(seat).iter();
        let faces = faces.filter_map(|slot| slot.face(table.view.known));
        holders.extend(faces.map(|face| (face, name.clone())));
    }
    for of_suit in 0..SUITS {
        let style = theme.suit(of_suit);
        let mut spans = vec![Span::styled(format!(" {:8}", cards::suit_name(of_suit)), style)];
        for face in all().filter(|face| suit(*face) == of_suit) {
            let holder = holders.iter().find(|(other, _)| *other == face);
            let (text, style) = match holder {
                Some((_, name)) => (name.clone(), style),
                None if table.loot.discard_pile().contains(&face) => ("out".to_owned(), theme.text()),
                None => (unseen.to_owned(), theme.faint()),
            };
            spans.push(Span::styled(fit(&fit(&text, column - 1), column), style));
        }
        lines.push(Line::from(spans));
    }
    let legend = format!(" out: on the discard pile; {unseen} not seen: in the draw pile or a hand");
    lines.push(Line::styled(legend, theme.faint()));
    lines
}

/// Draws the scores of the previous hand.
fn draw_last(table: &Table<'_>, canvas: &mut Canvas<'_>, area: Rect) {
    let Some(last) = table.loot.last_hand() else {
        return;
    };
    let by = table.view.name(last.fired_by);
    let title = format!("The hand before, fired by {by}");
    let inner = canvas.section(area, &title);
    let seats = Seat::first(table.loot.seats()).zip(last.scores.iter().zip(&last.hands));
    let shown = seats.filter(|(_, (_, hand))| !hand.is_empty());
    let told = shown.map(|(seat, (score, _))| format!("{} {score:+}", table.view.name(seat)));
    let told: Vec<String> = told.collect();
    canvas.put(inner, Line::raw(format!(" {}", told.join(", "))));
}
