//! The table of Sphinx's Paw: the board with its Pylons as gates; beside it the turn, the King that each Magician seeks,
//! and the packs.
//!
//! Magicians are figures with names, Monsters are pyramids of one to three points.

mod side;
mod squares;
#[cfg(test)]
mod tests;
mod words;

use fairdeal_games::pyramid::Size;
use fairdeal_games::sphinx::board::{Pylon, Square, central};
use fairdeal_games::sphinx::{Phase, Sphinx, SphinxAction, SphinxEvent, Status, cards};
use fairdeal_games::{Hints as _, TableGame as _, listed};
use fairdeal_protocol::card::Face;
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthChar as _;

use super::layout::Scale;
use super::{Animation, Board, Button, Motion, Spot, ViewContext};
use crate::canvas::Canvas;
use crate::theme::{Pigment, Theme};

/// The numbers of the buttons.
const END: u8 = 1;
const VOTE: u8 = 2;
const UNVOTE: u8 = 3;

const DIE: Spot = Spot::Pile(7);

/// The spot of the Monsters of a size in the supply.
fn supply_spot(size: Size) -> Spot {
    Spot::Pile(size.pips() - 1)
}

/// The size of a supply spot.
fn size_of(spot: Spot) -> Option<Size> {
    Size::ALL.into_iter().find(|size| supply_spot(*size) == spot)
}

fn pack_spot(pylon: Pylon) -> Spot {
    let number = u8::try_from(pylon.index()).unwrap_or(0);
    Spot::Pile(3 + number)
}

/// The Pylon of a pack's spot.
fn pylon_of(spot: Spot) -> Option<Pylon> {
    Pylon::ALL.into_iter().find(|pylon| pack_spot(*pylon) == spot)
}

/// The spot of a square, numbered from a1 along the files.
fn square_spot(square: Square) -> Spot {
    let number = Square::all().position(|other| other == square);
    Spot::Square(number.and_then(|n| u8::try_from(n).ok()).unwrap_or(0))
}

/// The square of a spot.
fn square_of(spot: Spot) -> Option<Square> {
    match spot {
        Spot::Square(number) => Square::all().nth(usize::from(number)),
        _ => None,
    }
}

/// A Monster in one row, as wide as it is strong.
fn shape(size: Size, theme: &Theme) -> &'static str {
    match size {
        Size::Small => theme.glyph("▲", "^"),
        Size::Medium => theme.glyph("▟▙", "/\\"),
        Size::Large => theme.glyph("▟█▙", "/_\\"),
    }
}

fn monster_style(size: Size, theme: &Theme) -> Style {
    theme.pigment(match size {
        Size::Small => Pigment::Yellow,
        Size::Medium => Pigment::Orange,
        Size::Large => Pigment::Red,
    })
}

/// A seat's name on the table.
fn label<'a>(view: &'a ViewContext<'_>, seat: Seat) -> &'a str {
    if view.me == Some(seat) { "You" } else { view.name(seat) }
}

/// The letter of a seat's Magician: the first of its name, or the seat's number if others start alike.
fn letter(view: &ViewContext<'_>, seat: Seat) -> char {
    let first = |seat: Seat| label(view, seat).chars().next().and_then(|c| c.to_uppercase().next());
    let number = || {
        let number = u32::try_from(seat.index() + 1).unwrap_or(0);
        char::from_digit(number, 10).unwrap_or('?')
    };
    let Some(own) = first(seat) else {
        return number();
    };
    let seats = Seat::first(view.names.len());
    let alike = seats.filter(|seat| first(*seat) == Some(own)).count();
    let fits = own.is_alphabetic() && own.width() == Some(1) && (own.is_ascii() || !view.theme.is_ascii());
    if alike == 1 && fits { own } else { number() }
}

/// The style of a seat's Magician; the player's own stands out.
fn magician_style(view: &ViewContext<'_>, seat: Seat) -> Style {
    if view.me == Some(seat) {
        return view.theme.accent();
    }
    // The other suits are too close to Monsters and to highlighted squares.
    let colours = [0, 5, 4, 2];
    let colour = colours.get(seat.index()).copied().unwrap_or(0);
    view.theme.suit(colour).add_modifier(Modifier::BOLD)
}

/// A card in two columns.
fn card(card: Face, theme: &Theme) -> Span<'static> {
    let name = cards::name(card);
    let rank = name.strip_suffix(['S', 'H', 'D', 'C']).unwrap_or(&name);
    let (suit, is_red) = match cards::suit(card) {
        0 => (theme.sign("♠", "S"), false),
        1 => (theme.sign("♥", "H"), true),
        2 => (theme.sign("♦", "D"), true),
        _ => (theme.sign("♣", "C"), false),
    };
    let style = if is_red { theme.pigment(Pigment::Red) } else { theme.ink() };
    Span::styled(format!("{rank}{suit}"), style.add_modifier(Modifier::BOLD))
}

/// The seats whose Magicians are surrounded once a Monster reaches a square from another square or from the supply.
fn surrounded(game: &Sphinx, from: Option<Square>, to: Square) -> Vec<Seat> {
    let left = |at: Square| {
        let there: u8 = game.monsters_on(at).iter().sum();
        there.saturating_sub(u8::from(from == Some(at)))
    };
    let closed = |at: Square| at == to || left(at) > 0;
    let lost = |seat: &Seat| game.magician(*seat).is_some_and(|at| Pylon::at(at).is_none() && at.around().all(closed));
    Seat::first(game.seats()).filter(lost).collect()
}

/// The seats that lose by a Monster's move or entry.
fn victims(game: &Sphinx, action: &SphinxAction) -> Vec<Seat> {
    match *action {
        SphinxAction::Introduce { at, .. } => surrounded(game, None, at),
        SphinxAction::Monster { from, to, .. } => surrounded(game, Some(from), to),
        _ => Vec::new(),
    }
}

/// The seats whose Magicians stand on a square.
fn magicians_on(game: &Sphinx, square: Square) -> impl Iterator<Item = Seat> {
    let seats = Seat::first(game.seats());
    seats.filter(move |seat| game.magician(*seat) == Some(square))
}

/// The sizes of the Monsters on a square.
fn sizes_on(game: &Sphinx, square: Square) -> impl Iterator<Item = Size> {
    Size::ALL.into_iter().zip(game.monsters_on(square)).filter(|(_, count)| *count > 0).map(|(size, _)| size)
}

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

    fn prompt(&self, me: Seat) -> String {
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
            (Phase::Monsters, _) if self.has_moved() => {
                format!("{points} left: move Monsters, or end your turn.")
            }
            (Phase::Monsters, _) => {
                format!("{points} left: bring Monsters, then move them, or end your turn.")
            }
        }
    }

    fn draw(&self, view: &ViewContext<'_>, canvas: &mut Canvas<'_>, area: Rect) {
        let has_rail = Scale::of(canvas.area()) >= Scale::Normal;
        let grid = squares::Grid::of(area, has_rail);
        squares::draw(self, view, canvas, &grid);
        if has_rail {
            side::draw_supply(self, canvas, grid.below, true);
        } else {
            side::draw_column(self, view, canvas, grid.beside);
        }
    }

    fn sections(&self, view: &ViewContext<'_>) -> Vec<(String, Vec<Line<'static>>)> {
        side::sections(self, view)
    }

    fn row(&self, view: &ViewContext<'_>) -> Vec<Spot> {
        // The digit of a Monster is its price.
        let can_bring = self.turn() == view.me && self.phase() == Phase::Monsters && !self.has_moved();
        let has_any =
            Size::ALL.into_iter().zip(self.supply()).any(|(size, left)| left > 0 && size.pips() <= self.points());
        let sizes = Size::ALL.into_iter().filter(|_| can_bring && has_any);
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
