//! An exhaustive search of a tower whose cards are all known: whether it can be won, and how.
//!
//! It follows every play depth first, and no state twice. It leaves out only what cannot win: a play that rests a card
//! on one which the tower needs, where no other card of the deck takes it (`State::cover`). Turns are no steps of the
//! search: they only decide which cards of the stock can be played (`State::turned`).
//!
//! In 100,000 random deals the median search had 1,654 states, the largest 123,363.

use fairdeal_protocol::card::{DeckId, Face, Faces, Handle, Slot};

use super::{Ivory, IvoryAction, MOST_PILES, Source, Target, cards, daily};

mod judge;
mod seen;
mod state;
#[cfg(test)]
mod tests;

pub(crate) use judge::{Judge, unseen};
use seen::Seen;
pub(crate) use state::{Goal, Play};
use state::{State, Table};

/// The states that a search for a player may visit: eight times the most that any of 100,000 random deals needed. As many
/// take about 130 MB.
pub const MOST_STATES: usize = 1_000_000;

/// The answer of the solver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// These actions complete the tower, each legal after those before it. Empty if it is complete already.
    Winnable(Vec<IvoryAction>),
    /// No actions complete the tower.
    Lost,
    /// Neither was shown within the given number of states.
    GaveUp,
}

impl Verdict {
    pub fn is_winnable(&self) -> bool {
        matches!(self, Self::Winnable(_))
    }
}

/// A game that began with this deck, top card first, in the open. `None` if it is not the whole deck.
pub fn laid(deck: &[Face]) -> Option<Ivory> {
    let mut sorted = deck.to_vec();
    sorted.sort_unstable();
    if !sorted.into_iter().eq(cards::all()) {
        return None;
    }
    let mut game = Ivory::empty(None);
    game.deck = deck.iter().rev().map(|card| Slot::Open(*card)).collect();
    game.turn_cards();
    Some(game)
}

/// The game as it was dealt, in the open: for a verdict after the end. `None` if `known` lacks a card of its deck.
pub fn beginning(game: &Ivory, known: &Faces) -> Option<Ivory> {
    if let Some(date) = &game.daily {
        return laid(&daily::deck(date));
    }
    let deck = Handle::all(DeckId(0), usize::from(cards::DECK_SIZE));
    laid(&deck.map(|card| known.get(card)).collect::<Option<Vec<_>>>()?)
}

/// Whether a deck, top card first, can be won, however long the search takes. `None` if it is not the whole deck.
pub fn is_winnable(deck: &[Face]) -> Option<bool> {
    let (table, state) = Table::of(&laid(deck)?)?;
    match search(&table, state, usize::MAX) {
        Found::Win(_) => Some(true),
        Found::Nothing => Some(false),
        Found::TooMany => None,
    }
}

/// Solves a game from its present position, and visits at most so many states. A resigned game is solved as if it went
/// on. `None` if `known` lacks the face of a sealed card, or contradicts the cards in sight.
pub fn solve(game: &Ivory, known: &Faces, most: usize) -> Option<Verdict> {
    let game = opened(game, known)?;
    let (table, state) = Table::of(&game)?;
    Some(match search(&table, state, most) {
        Found::Win(plays) => {
            let line = line(game, &plays);
            debug_assert!(line.is_some(), "the rules forbid a play of the search");
            line.map_or(Verdict::GaveUp, Verdict::Winnable)
        }
        Found::Nothing => Verdict::Lost,
        Found::TooMany => Verdict::GaveUp,
    })
}

/// The game with all its cards in the open.
fn opened(game: &Ivory, known: &Faces) -> Option<Ivory> {
    let mut game = game.clone();
    for slot in game.deck.iter_mut().chain(&mut game.draw) {
        *slot = Slot::Open(slot.face(known)?);
    }
    let mut all: Vec<Face> = game.deck.iter().chain(&game.draw).filter_map(|slot| slot.face(known)).collect();
    all.extend(game.piles.iter().flatten().chain(&game.tower));
    all.sort_unstable();
    (all.into_iter().eq(cards::all()) && game.piles.len() <= MOST_PILES).then_some(game)
}

enum Found {
    Win(Vec<Play>),
    Nothing,
    TooMany,
}

/// A state that waits to be followed or has been, and the play before it.
struct Node {
    state: State,
    /// The index of the state before, and the play that leads here.
    from: Option<(usize, Play)>,
}

/// The states that a search has visited.
struct Visit {
    seen: Seen,
    nodes: Vec<Node>,
}

fn search(table: &Table, start: State, most: usize) -> Found {
    Visit::new(start).search(table, most, |_| None)
}

impl Visit {
    fn new(start: State) -> Self {
        let mut seen = Seen::new();
        seen.insert(start.key());
        let from = None;
        Self { seen, nodes: vec![Node { state: start, from }] }
    }

    /// Searches from the first node. `known` tells of a state, by its key, that it can be won, or that it cannot.
    fn search(&mut self, table: &Table, most: usize, known: impl Fn(u128) -> Option<bool>) -> Found {
        match self.nodes.first().map(|node| node.state) {
            Some(start) if start.is_won() => return Found::Win(Vec::new()),
            Some(start) if !start.is_hopeless() => {}
            _ => return Found::Nothing,
        }
        let mut waiting = vec![0];
        let mut plays = Vec::new();
        while let Some(at) = waiting.pop() {
            let Some(node) = self.nodes.get(at) else { continue };
            plays.clear();
            node.state.plays(table, &mut plays);
            for (_, play, state) in plays.drain(..) {
                let key = state.key();
                let verdict = if state.is_won() { Some(true) } else { known(key) };
                if verdict == Some(true) {
                    return Found::Win(way(&self.nodes, at, play));
                }
                if verdict == Some(false) || !self.seen.insert(key) {
                    continue;
                }
                if self.seen.len() > most {
                    return Found::TooMany;
                }
                waiting.push(self.nodes.len());
                let from = Some((at, play));
                self.nodes.push(Node { state, from });
            }
        }
        Found::Nothing
    }
}

/// The plays up to the state at an index, and the last one.
fn way(nodes: &[Node], mut at: usize, last: Play) -> Vec<Play> {
    let mut plays = vec![last];
    while let Some((before, play)) = nodes.get(at).and_then(|node| node.from) {
        plays.push(play);
        at = before;
    }
    plays.reverse();
    plays
}

/// The actions that make these plays, with the turns between them. `None` if the rules forbid one.
fn line(mut game: Ivory, plays: &[Play]) -> Option<Vec<IvoryAction>> {
    let mut actions = Vec::new();
    for play in plays {
        // Every card of the stock comes to the top within two passes, or never.
        let turns = 2 * (game.deck.len() + game.draw.len());
        for _ in 0..turns {
            if play.source(&game).is_some() {
                break;
            }
            game.turn_for_thought();
            actions.push(IvoryAction::Turn);
        }
        let (from, to) = (play.source(&game)?, play.target(&game)?);
        game.check_play(from, to).ok()?;
        game.move_card(from, to)?;
        actions.push(IvoryAction::Play { from, to });
    }
    game.is_won().then_some(actions)
}

impl Play {
    /// Where its card can be taken: a pile, or the draw pile if it is on top there.
    pub(crate) fn source(self, game: &Ivory) -> Option<Source> {
        let on_top = || (game.top() == Some(self.card)).then_some(Source::Draw);
        pile_with(game, self.card).map(Source::Pile).or_else(on_top)
    }

    /// Where it puts its card; `None` if the card to cover is not the last of a pile.
    pub(crate) fn target(self, game: &Ivory) -> Option<Target> {
        Some(match self.goal {
            Goal::Tower => Target::Tower,
            Goal::New => Target::New,
            Goal::Onto(card) => Target::Pile(pile_with(game, card)?),
        })
    }
}

/// The pile whose last card it is.
fn pile_with(game: &Ivory, card: Face) -> Option<u8> {
    let place = game.piles.iter().position(|pile| pile.last() == Some(&card))?;
    u8::try_from(place).ok()
}
