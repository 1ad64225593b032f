//! The table of Sphinx's Paw: the board with its Pylons as gates; beside it the turn, the King that each Magician seeks,
//! and the packs.
//!
//! Magicians are figures with names, Monsters are pyramids of one to three points.

mod looks;
mod side;
mod spots;
mod squares;
#[cfg(test)]
mod tests;
mod words;

use fairdeal_games::pyramid::Size;
use fairdeal_games::sphinx::board::{Square, central};
use fairdeal_games::sphinx::{Phase, Sphinx, SphinxAction, SphinxEvent, Status, cards};
use fairdeal_games::{Hints as _, TableGame as _, listed};
use fairdeal_protocol::card::Faces;
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};

use self::looks::{card, die, magician_style, monster_style, shape};
use self::spots::{
    DIE, END, UNVOTE, VOTE, magicians_on, pack_spot, size_of, sizes_on, square_of, square_spot, supply_spot, victims,
};
use self::squares::{Grid, Neighbour};
use super::scale::Scale;
use super::{Animation, Board, Button, Motion, Spot, ViewContext};
use crate::canvas::Canvas;

impl Board for Sphinx {
    const IS_TALL: bool = true;

    fn heading(&self) -> String {
        let seats = Seat::first(self.seats());
        let found = seats.filter(|seat| self.status(*seat) == Status::Won).count();
        let mut heading = match found {
            0 => "no King found".to_owned(),
            1 => "1 King found".to_owned(),
            _ => format!("{found} Kings found"),
        };
        if self.is_diagonal() {
            heading.push_str(", Magicians go diagonally");
        }
        heading
    }

    fn seat_note(&self, seat: Seat) -> String {
        let goal = self.king(seat).map(cards::in_words).unwrap_or_default();
        match self.status(seat) {
            _ if self.forfeited().contains(seat) && self.status(seat) != Status::Won => "left".to_owned(),
            Status::Won => format!("found {goal}"),
            Status::Lost => "was surrounded".to_owned(),
            Status::Playing if self.votes().contains(seat) => format!("seeks {goal}, votes to end"),
            Status::Playing => format!("seeks {goal}"),
        }
    }

    fn prompt(&self, me: Seat, _known: &Faces) -> String {
        let points = match self.points() {
            1 => "1 point".to_owned(),
            points => format!("{points} points"),
        };
        match (self.phase(), self.magician(me)) {
            (Phase::Magician, None) => "Place your Magician on a central square without Monsters.".to_owned(),
            (Phase::Magician, Some(_)) if self.is_diagonal() => {
                "Move your Magician one square diagonally, or choose it to stay.".to_owned()
            }
            (Phase::Magician, Some(_)) => "Move your Magician one square, or choose it to stay.".to_owned(),
            (Phase::Monsters, _) if self.points() == 0 => "No points are left: end your turn.".to_owned(),
            (Phase::Monsters, _) if words::can_bring(self) => {
                // At most 45 columns, for the smallest screens.
                format!("{points}: bring Monsters (1-3), move, or end.")
            }
            (Phase::Monsters, _) => format!("{points} left: move Monsters, or end your turn."),
        }
    }

    fn draw(&self, view: &ViewContext<'_>, canvas: &mut Canvas<'_>, area: Rect) {
        let scale = Scale::of(canvas.area());
        let under = (scale == Scale::Tall).then(|| side::tall_rows(self, view, area.width));
        if let Some(under) = under.filter(|under| area.height > squares::TALL_ROWS + under) {
            let rows = [Constraint::Fill(1), Constraint::Length(under)];
            let [board, column] = Layout::vertical(rows).spacing(1).areas(area);
            squares::draw(self, view, canvas, &Grid::of(board, Neighbour::Nothing));
            side::draw_column(self, view, canvas, column, side::TALL_SUPPLY);
        } else if scale >= Scale::Normal {
            let grid = Grid::of(area, Neighbour::Row);
            squares::draw(self, view, canvas, &grid);
            side::draw_supply(self, canvas, grid.below, true);
        } else {
            let grid = Grid::of(area, Neighbour::Column);
            squares::draw(self, view, canvas, &grid);
            side::draw_column(self, view, canvas, grid.beside, 1);
        }
    }

    fn sections(&self, view: &ViewContext<'_>) -> Vec<(String, Vec<Line<'static>>)> {
        side::sections(self, view)
    }

    fn row(&self, view: &ViewContext<'_>) -> Vec<Spot> {
        // The digit of a Monster is its price.
        let can_bring = self.turn() == view.me && words::can_bring(self);
        let sizes = Size::ALL.into_iter().filter(|_| can_bring);
        sizes.map(supply_spot).collect()
    }

    fn first(&self, view: &ViewContext<'_>) -> Option<Spot> {
        let hint = self.hint(view.me?, view.known)?;
        // Points that are left can be spent, even if a good player would not.
        let is_early = hint.action == SphinxAction::End && self.points() > 0;
        let path = self.path(&hint.action, view);
        path.first().copied().filter(|_| !is_early)
    }

    fn path(&self, action: &SphinxAction, view: &ViewContext<'_>) -> Vec<Spot> {
        match *action {
            SphinxAction::Place { to } | SphinxAction::Magician { to } => vec![square_spot(to)],
            SphinxAction::Introduce { size, at } => vec![supply_spot(size), square_spot(at)],
            SphinxAction::Monster { from, to, .. } => vec![square_spot(from), square_spot(to)],
            SphinxAction::Stay => {
                let own = view.me.and_then(|me| self.magician(me));
                own.map(square_spot).into_iter().collect()
            }
            SphinxAction::End => vec![Spot::Button(END)],
            SphinxAction::Vote { end: true } => vec![Spot::Button(VOTE)],
            SphinxAction::Vote { end: false } => vec![Spot::Button(UNVOTE)],
        }
    }

    fn words(&self, action: &SphinxAction, view: &ViewContext<'_>) -> String {
        words::action(self, action, view)
    }

    fn attempts(&self, spot: Spot, view: &ViewContext<'_>) -> Vec<SphinxAction> {
        match spot {
            Spot::Button(END) => return vec![SphinxAction::End],
            Spot::Button(VOTE) => return vec![SphinxAction::Vote { end: true }],
            Spot::Button(UNVOTE) => return vec![SphinxAction::Vote { end: false }],
            _ => {}
        }
        if let Some(size) = size_of(spot) {
            // Any square without a Magician gives the reason why no Monster of that size may enter now.
            let mut centre = central();
            let at = centre.find(|at| magicians_on(self, *at).next().is_none());
            return at.map(|at| SphinxAction::Introduce { size, at }).into_iter().collect();
        }
        let Some(square) = square_of(spot) else {
            return Vec::new();
        };
        let mine = view.me.and_then(|me| self.magician(me));
        match (self.phase(), view.picked.first().copied()) {
            (Phase::Magician, _) if mine == Some(square) => vec![SphinxAction::Stay],
            (Phase::Magician, _) if mine.is_some() => vec![SphinxAction::Magician { to: square }],
            (Phase::Magician, _) => vec![SphinxAction::Place { to: square }],
            (Phase::Monsters, Some(from)) => match (size_of(from), square_of(from)) {
                (Some(size), _) => vec![SphinxAction::Introduce { size, at: square }],
                (None, Some(from)) => {
                    sizes_on(self, from).map(|size| SphinxAction::Monster { size, from, to: square }).collect()
                }
                (None, None) => Vec::new(),
            },
            (Phase::Monsters, None) if mine == Some(square) => vec![SphinxAction::Stay],
            (Phase::Monsters, None) => {
                let next = square.orthogonal().next();
                let tried =
                    |to| sizes_on(self, square).map(move |size| SphinxAction::Monster { size, from: square, to });
                let mut tried: Vec<_> = next.into_iter().flat_map(tried).collect();
                if tried.is_empty() {
                    let mut fits = Size::ALL
                        .into_iter()
                        .zip(self.supply())
                        .filter(|(size, left)| *left > 0 && size.pips() <= self.points());
                    let size = fits.next().map_or(Size::Small, |(size, _)| size);
                    tried.push(SphinxAction::Introduce { size, at: square });
                }
                tried
            }
        }
    }

    fn button(&self, number: u8) -> Button {
        let (key, label) = match number {
            END => ('e', "end turn"),
            VOTE => ('v', "vote for the end"),
            _ => ('v', "take vote back"),
        };
        Button { key: Some(key), label }
    }

    fn question(&self, action: &SphinxAction, view: &ViewContext<'_>) -> Option<String> {
        let me = view.me?;
        match action {
            SphinxAction::Vote { end: true } => {
                let others =
                    self.still_playing().iter().filter(|seat| *seat != me && !self.votes().contains(*seat)).count();
                Some(if others == 0 {
                    "Yours is the last vote: the game ends, and you do not win. End it?".to_owned()
                } else {
                    "If all who still play vote for the end, nobody of them wins. Vote for it?".to_owned()
                })
            }
            SphinxAction::End if self.points() > 0 => {
                let more = |action: &SphinxAction| {
                    matches!(action, SphinxAction::Introduce { .. } | SphinxAction::Monster { .. })
                };
                let points = match self.points() {
                    1 => "1 point is".to_owned(),
                    points => format!("{points} points are"),
                };
                let useful = self.legal(me, view.known).iter().any(more);
                useful.then(|| format!("{points} left, which will be lost. End your turn?"))
            }
            _ if victims(self, action).contains(&me) => {
                Some("That surrounds your own Magician, and you lose. Do it?".to_owned())
            }
            _ => None,
        }
    }

    fn title(&self, spot: Spot, view: &ViewContext<'_>) -> String {
        words::title(self, spot, view)
    }

    fn rule(&self, spot: Spot) -> &'static str {
        match spot {
            Spot::Seat(_) | Spot::Button(VOTE | UNVOTE) => "losing-and-ending",
            _ => "a-turn",
        }
    }

    fn about(&self, spot: Spot, view: &ViewContext<'_>) -> Vec<String> {
        words::about(self, spot, view)
    }

    fn sketch(&self, event: &SphinxEvent, view: &ViewContext<'_>) -> Option<Line<'static>> {
        let theme = view.theme;
        let monster = |size: Size| Span::styled(shape(size, theme), monster_style(size, theme));
        Some(match *event {
            SphinxEvent::Magician { seat, to, .. } => Span::styled(to.name(), magician_style(view, seat)).into(),
            SphinxEvent::Turned { card: turned, entered, .. } => {
                let rank = cards::rank(turned);
                let size = Size::ALL.into_iter().find(|size| size.pips() == rank);
                let entry = size.zip(entered).map(|(size, at)| [Span::raw(" +"), monster(size), Span::raw(at.name())]);
                std::iter::once(card(turned, theme)).chain(entry.into_iter().flatten()).collect()
            }
            SphinxEvent::Rolled { roll, .. } => die(roll, theme).into(),
            SphinxEvent::Introduced { size, at, .. } => {
                vec![Span::raw("+"), monster(size), Span::raw(at.name())].into()
            }
            SphinxEvent::Moved { size, from, to, .. } => {
                let way = format!("{}{}{}", from.name(), theme.glyph("→", ">"), to.name());
                vec![monster(size), Span::raw(way)].into()
            }
            // The next turn says so.
            SphinxEvent::Ended { .. } => Line::default(),
            _ => return None,
        })
    }

    fn motions(&self, event: &SphinxEvent, view: &ViewContext<'_>) -> Vec<Motion> {
        let monster = |size: Size, from: Spot, to: Square| Motion::Fly {
            what: Line::styled(shape(size, view.theme), monster_style(size, view.theme)),
            from,
            to: square_spot(to),
        };
        match event {
            SphinxEvent::Magician { seat, from, to } => {
                let to = square_spot(*to);
                let flies = from.map(|from| Motion::Fly {
                    what: Line::styled("\\o/", magician_style(view, *seat)),
                    from: square_spot(from),
                    to,
                });
                vec![flies.unwrap_or(Motion::Flash(to))]
            }
            SphinxEvent::Stayed { seat } => {
                let at = self.magician(*seat).map(square_spot);
                at.map(Motion::Flash).into_iter().collect()
            }
            SphinxEvent::Turned { pylon, card, entered, .. } => {
                let rank = cards::rank(*card);
                let size = Size::ALL.into_iter().find(|size| size.pips() == rank);
                let entry = size.zip(*entered).map(|(size, at)| monster(size, supply_spot(size), at));
                let turned = Motion::Flash(pack_spot(*pylon));
                [turned].into_iter().chain(entry).collect()
            }
            SphinxEvent::Rolled { .. } => vec![Motion::Flash(DIE)],
            SphinxEvent::Introduced { size, at, .. } => {
                vec![monster(*size, supply_spot(*size), *at)]
            }
            SphinxEvent::Moved { size, from, to, .. } => {
                vec![monster(*size, square_spot(*from), *to)]
            }
            SphinxEvent::Won { seat }
            | SphinxEvent::Lost { seat }
            | SphinxEvent::Voted { seat, .. }
            | SphinxEvent::Left { seat } => vec![Motion::Flash(Spot::Seat(*seat))],
            SphinxEvent::SetUp { .. } | SphinxEvent::Ended { .. } | SphinxEvent::Over { .. } => Vec::new(),
        }
    }

    fn show(&self, event: &SphinxEvent, view: &ViewContext<'_>) -> Option<Animation> {
        let SphinxEvent::Over { winners } = event else {
            return None;
        };
        let mut lines: Vec<Line<'static>> = Seat::first(self.seats())
            .map(|seat| {
                let (end, style) = words::end(self, seat, view.theme);
                let mut spans = vec![Span::styled(format!("{:<10}", view.name(seat)), magician_style(view, seat))];
                spans.extend(self.king(seat).map(|king| card(king, view.theme)));
                spans.push(Span::styled(format!("  {end}"), style));
                Line::from(spans)
            })
            .collect();
        let names: Vec<String> = winners.iter().map(|seat| view.name(seat).to_owned()).collect();
        let verdict = match names.len() {
            0 => "Nobody has won.".to_owned(),
            1 => format!("{} has won.", listed(&names)),
            _ => format!("{} have won.", listed(&names)),
        };
        lines.push(Line::raw(""));
        lines.push(Line::styled(verdict, view.theme.accent()));
        Some(Animation { title: "The end of the search".to_owned(), lines })
    }
}
