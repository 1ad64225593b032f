//! The board of Sphinx's Paw: 64 squares with Magicians and Monsters, and the four Pylons.

use fairdeal_protocol::card::{Face, Faces, Slot};
use fairdeal_protocol::seat::Seat;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Wrap};

use crate::games::pyramid::Size;
use crate::games::sphinx::board::{Pylon, Square, central};
use crate::games::sphinx::{Phase, Sphinx, SphinxAction, Status, cards};
use crate::tui::board::{Board, Choice, Look};

/// What stands on a square, in three letters: the Magician's seat, else the pips of Monsters.
fn cell<'a>(game: &Sphinx, look: &Look<'_>, square: Square) -> Span<'a> {
    let theme = look.theme;
    let seats = Seat::first(look.names.len());
    let magicians: String = seats
        .filter(|seat| game.magician(*seat) == Some(square))
        .map(|seat| seat.index().to_string())
        .collect();
    if !magicians.is_empty() {
        let own = game.magician(look.me) == Some(square);
        let style = if own { theme.good() } else { theme.key() };
        return Span::styled(format!("M{magicians:<3}"), style);
    }
    let counts = game.monsters_on(square);
    let pips: String = Size::ALL
        .into_iter()
        .zip(counts)
        .map(|(size, count)| size.pips().to_string().repeat(usize::from(count)))
        .collect();
    if pips.len() > 3 {
        return Span::styled(
            format!("{}+ ", pips.get(..2).unwrap_or_default()),
            theme.bad(),
        );
    }
    if !pips.is_empty() {
        return Span::styled(format!("{pips:<4}"), theme.bad());
    }
    let empty = if Pylon::at(square).is_some() {
        theme.glyph("▯", "P")
    } else if central().any(|at| at == square) {
        theme.glyph("◦", "o")
    } else {
        theme.glyph("·", ".")
    };
    Span::styled(format!("{empty:<4}"), theme.faint())
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
            _ if self.forfeited().contains(seat) => "has left",
            Status::Won => "has won",
            Status::Lost => "has lost",
            Status::Playing if self.votes().contains(seat) => "votes to end",
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
            Layout::horizontal([Constraint::Length(36), Constraint::Min(12)]).areas(area);
        let squares: Vec<Square> = Square::all().collect();
        let mut lines: Vec<Line<'_>> = squares
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
        frame.render_widget(Paragraph::new(lines), left);
        let mut lines = Vec::new();
        for pylon in Pylon::ALL {
            let pack = self.pack(pylon);
            let kings = pack.iter().filter_map(|slot| match slot {
                Slot::Open(card) => Some(*card),
                Slot::Sealed(_) => None,
            });
            let kings: Vec<Face> = kings.collect();
            let name = pylon.name().get(..1).unwrap_or_default().to_uppercase();
            lines.push(Line::from(vec![
                Span::styled(format!("{name} "), theme.title()),
                Span::raw(format!("{} {}", pack.len(), listed(&kings))),
            ]));
            lines.push(Line::styled(
                format!("  {}", listed(self.turned(pylon))),
                theme.key(),
            ));
        }
        lines.push(Line::styled("M Magician", theme.faint()));
        lines.push(Line::styled("1 2 3 pips", theme.faint()));
        frame.render_widget(Paragraph::new(lines).wrap(Wrap { trim: false }), right);
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
