//! Plays compared in one possible world: for bots that guess the cards which their player has not seen.

use std::collections::BTreeSet;

use fairdeal_protocol::card::{Face, Slot};

use super::seen::Seen;
use super::state::{Play, State, Table};
use super::{Found, Visit};
use crate::ivory::{Ivory, cards};

/// A game all of whose cards are known, with what earlier searches of it showed.
#[derive(Debug)]
pub(crate) struct Judge {
    table: Table,
    state: State,
    turned: State,
    won: Seen,
    lost: Seen,
}

impl Judge {
    /// A game with these faces, in order, for the cards that its player has not seen ([`unseen`]).
    pub(crate) fn imagine(game: &Ivory, faces: &[Face]) -> Option<Self> {
        let mut game = game.clone();
        let shown = game.shown.clone();
        let mut faces = faces.iter();
        for slot in game.draw.iter_mut().chain(&mut game.deck) {
            if !matches!(slot, Slot::Open(face) if shown.contains(face)) {
                *slot = Slot::Open(*faces.next()?);
            }
        }
        let (table, state) = Table::of(&game)?;
        game.turn_for_thought();
        let (_, turned) = Table::of(&game)?;
        Some(Self { table, state, turned, won: Seen::new(), lost: Seen::new() })
    }

    /// Every play of a card in a pile or in the stock, as far as turns bring it to the top, with the state after it.
    /// Plays after which nothing can be won may be missing.
    pub(crate) fn plays(&self) -> Vec<(Play, State)> {
        let mut found = Vec::new();
        self.state.plays(&self.table, &mut found);
        found.into_iter().map(|(_, play, state)| (play, state)).collect()
    }

    /// The state after a turn.
    pub(crate) fn turned(&self) -> State {
        self.turned
    }

    /// Whether the tower can be completed from a state of this game; `None` if the search does not tell within so many
    /// states.
    pub(crate) fn can_win(&mut self, state: State, most: usize) -> Option<bool> {
        let known = |key| if self.won.contains(key) { Some(true) } else { self.lost.contains(key).then_some(false) };
        if let Some(verdict) = known(state.key()) {
            return Some(verdict);
        }
        let mut visit = Visit::new(state);
        match visit.search(&self.table, most, known) {
            Found::Win(_) => {
                self.won.insert(state.key());
                Some(true)
            }
            Found::Nothing => {
                for node in &visit.nodes {
                    self.lost.insert(node.state.key());
                }
                Some(false)
            }
            Found::TooMany => None,
        }
    }
}

/// The cards of deck and draw pile that the player has not seen, in the order of their numbers.
pub(crate) fn unseen(game: &Ivory) -> Vec<Face> {
    let placed: BTreeSet<Face> = game.piles.iter().flatten().chain(&game.tower).copied().collect();
    cards::all().filter(|card| !placed.contains(card) && !game.shown.contains(card)).collect()
}
