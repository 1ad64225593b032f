//! The board of Sphinx's Paw: 64 squares with Magicians and Monsters, and the four Pylons.

use fairdeal_protocol::card::{Face, Faces, Slot};
use fairdeal_protocol::seat::Seat;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span, Text};

use crate::games::TableGame as _;
use crate::games::pyramid::Size;
use crate::games::sphinx::board::{Pylon, Square, central};
use crate::games::sphinx::{Phase, Sphinx, SphinxAction, Status, cards};
use crate::tui::board::{Board, Choice, Look};
use crate::tui::rows::{Paragraph, fitting};
use crate::tui::style::Theme;

/// How wide the board is: the number of a rank, and four columns a square.
const BOARD: u16 = 3 + 8 * 4;
/// How much of what stands on a square it can show; a fourth column parts it from the next one.
const SHOWN: usize = 3;

/// What stands on a square: the Magicians' seats after an M, else the pips of the Monsters, small to
/// large. Both never are there together.
fn contents(game: &Sphinx, square: Square) -> String {
    let seats = Seat::first(game.seats());
    let magicians: String = seats
        .filter(|seat| game.magician(*seat) == Some(square))
        .map(|seat| seat.index().to_string())
        .collect();
    if !magicians.is_empty() {
        return format!("M{magicians}");
    }
    let counts = game.monsters_on(square);
    Size::ALL
        .into_iter()
        .zip(counts)
        .map(|(size, count)| size.pips().to_string().repeat(usize::from(count)))
        .collect()
}

fn style(game: &Sphinx, look: &Look<'_>, square: Square) -> Style {
    if look.me.and_then(|me| game.magician(me)) == Some(square) {
        look.theme.good()
    } else if game.monsters().contains_key(&square) {
        look.theme.bad()
    } else {
        look.theme.key()
    }
}

/// A square in four columns.
fn cell(game: &Sphinx, look: &Look<'_>, square: Square) -> Span<'static> {
    let theme = look.theme;
    let contents = contents(game, square);
    if contents.is_empty() {
        let empty = if Pylon::at(square).is_some() {
            theme.glyph("▯", "P")
        } else if central().any(|at| at == square) {
            theme.glyph("◦", "o")
        } else {
            theme.glyph("·", ".")
        };
        return Span::styled(format!("{empty:<4}"), theme.faint());
    }
    let text = match contents.get(..SHOWN - 1) {
        // All of it stands below the board.
        Some(some) if contents.len() > SHOWN => format!("{some}+ "),
        _ => format!("{contents:<4}"),
    };
    Span::styled(text, style(game, look, square))
}

/// The squares that cannot show all that stands on them, and all of it.
fn crowds(game: &Sphinx, look: &Look<'_>) -> Vec<Line<'static>> {
    let all = Square::all().map(|square| (square, contents(game, square)));
    all.filter(|(_, contents)| contents.len() > SHOWN)
        .map(|(square, contents)| {
            let name = Span::styled(format!("{}:", square.name()), look.theme.faint());
            Line::from(vec![
                name,
                Span::styled(contents, style(game, look, square)),
            ])
        })
        .collect()
}

/// A Pylon's pack, top first, with the Kings known to lie in it; below it what has been turned up.
fn pylon_lines(game: &Sphinx, pylon: Pylon, theme: &Theme) -> [Line<'static>; 2] {
    let pack = game.pack(pylon).iter().rev().map(|slot| match slot {
        Slot::Open(card) => cards::name(*card),
        Slot::Sealed(_) => "?".to_owned(),
    });
    let mut pack = pack.collect::<Vec<_>>().join(" ");
    if pack.is_empty() {
        pack.push('-');
    }
    let name = pylon.name().get(..1).unwrap_or_default().to_uppercase();
    [
        Line::from(vec![
            Span::styled(format!("{name} "), theme.title()),
            Span::raw(pack),
        ]),
        Line::styled(format!("  {}", listed(game.turned(pylon))), theme.key()),
    ]
}

fn listed(all: &[Face]) -> String {
    let names: Vec<String> = all.iter().map(|card| cards::name(*card)).collect();
    names.join(" ")
}

impl Board for Sphinx {
    fn heading(&self) -> String {
        let [small, medium, large] = self.supply();
        format!("supply {small}/{medium}/{large}")
    }

    fn seat_note(&self, seat: Seat) -> String {
        let jack = self.jack(seat).map_or_else(String::new, cards::name);
        let state = match self.status(seat) {
            _ if self.forfeited().contains(seat) => "left",
            Status::Won => "won",
            Status::Lost => "lost",
            Status::Playing if self.votes().contains(seat) => "for end",
            Status::Playing => "",
        };
        format!("M{} {jack} {state}", seat.index())
    }

    fn prompt(&self, me: Seat) -> String {
        match (self.phase(), self.magician(me)) {
            (Phase::Magician, None) => "place your Magician.".to_owned(),
            (Phase::Magician, Some(_)) => "move your Magician, or stay.".to_owned(),
            (Phase::Monsters, _) => format!("Monsters, {} points left.", self.points()),
        }
    }

    fn draw(&self, look: &Look<'_>, frame: &mut Frame<'_>, area: Rect) {
        let theme = look.theme;
        let [left, right] =
            Layout::horizontal([Constraint::Length(BOARD), Constraint::Min(13)]).areas(area);
        let squares: Vec<Square> = Square::all().collect();
        let mut lines: Vec<Line<'static>> = squares
            .chunks(8)
            .zip(1..)
            .map(|(rank, number)| {
                let mut spans = vec![Span::styled(format!(" {number} "), theme.faint())];
                spans.extend(rank.iter().map(|square| cell(self, look, *square)));
                Line::from(spans)
            })
            .collect();
        lines.reverse();
        lines.push(Line::styled(
            "   a   b   c   d   e   f   g   h",
            theme.faint(),
        ));
        let room = usize::from(area.height).saturating_sub(lines.len());
        let crowds = Paragraph::new(0).words(crowds(self, look));
        let crowds = crowds.rows(usize::from(BOARD) - 1);
        if !crowds.is_empty() {
            lines.extend(fitting([crowds], room, theme));
        }
        frame.render_widget(Text::from(lines), left);
        let pylons = Pylon::ALL.map(|pylon| pylon_lines(self, pylon, theme));
        let mut lines: Vec<Line<'static>> = pylons.into_iter().flatten().collect();
        lines.extend(
            ["M Magician", "1 2 3 pips", "? hidden card"]
                .map(|text| Line::styled(text, theme.faint())),
        );
        frame.render_widget(Text::from(lines), right);
    }

    fn choice(&self, action: &SphinxAction, _known: &Faces) -> Choice {
        match *action {
            SphinxAction::Place { to } => {
                Choice::new("place", format!("the Magician on {}", to.name()))
            }
            SphinxAction::Magician { to } => Choice::new("Magician", format!("to {}", to.name())),
            SphinxAction::Stay => Choice::new("Magician", "stay"),
            SphinxAction::Introduce { size, at } => Choice::new(
                format!("bring {}", size.name()),
                format!("to {} for {}", at.name(), size.pips()),
            ),
            SphinxAction::Monster { size, from, to } => Choice::new(
                format!("{} on {}", size.pips(), from.name()),
                format!("to {}", to.name()),
            ),
            SphinxAction::End => Choice::new("end", "end the turn"),
            SphinxAction::Vote { end: true } => Choice::new("vote", "vote for the end of the game"),
            SphinxAction::Vote { end: false } => Choice::new("vote", "take the vote back"),
        }
    }
}
