//! A player's legal actions, with the spots that choose each of them.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use fairdeal_games::{AnyAction, AnyGame};
use fairdeal_protocol::game::{Game as _, Illegal};

use super::{Spot, ViewContext, attempts, path, question, words, worth};

/// An action on offer, or one that is refused with the reason.
#[derive(Clone, Debug, PartialEq)]
pub struct Offer {
    /// The spots that choose it.
    pub path: Vec<Spot>,
    /// Its effect.
    pub words: String,
    /// The question before it is taken.
    pub question: Option<String>,
    pub action: AnyAction,
    /// Why it is not legal.
    pub refused: Option<String>,
}

/// Every legal action of a player.
#[derive(Clone, Debug, Default)]
pub struct Offers {
    all: Vec<Offer>,
}

impl Offers {
    /// The player's present offers.
    pub fn of(game: &AnyGame, view: &ViewContext<'_>) -> Self {
        let mine = view.me.map(|me| game.legal(me, view.known));
        let offer = |action: AnyAction| Offer {
            path: path(game, &action, view),
            words: words(game, &action, view),
            question: question(game, &action, view),
            action,
            refused: None,
        };
        let mut all: Vec<Offer> = mine.into_iter().flatten().map(offer).collect();
        let worth = |offer: &Offer| worth(game, &offer.action);
        let before_last = |offer: &Offer| offer.path.len().saturating_sub(1);
        let alike = |one: &Offer, other: &Offer| {
            one.path.get(..before_last(one)) == other.path.get(..before_last(other))
                && worth(one).is_some()
                && worth(other).is_some()
        };
        for choice in all.chunk_by_mut(alike).filter(|_| view.advises) {
            choice.sort_by_key(|offer| Reverse(worth(offer)));
        }
        Self { all }
    }

    /// Keeps the offer of this action alone; `None` keeps no offer.
    pub fn retain(&mut self, action: Option<&AnyAction>) {
        self.all.retain(|offer| Some(&offer.action) == action);
    }

    /// Drops the actions that the others have too.
    pub fn drop_all(&mut self, others: &Self) {
        self.all.retain(|offer| others.all.iter().all(|other| other.action != offer.action));
    }

    /// Drops the actions out of turn.
    pub fn drop_calls(&mut self, game: &AnyGame) {
        self.all.retain(|offer| !game.out_of_turn(&offer.action));
    }

    /// Whether the player has no action.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// All offers.
    pub fn all(&self) -> &[Offer] {
        &self.all
    }

    /// Offers whose path starts with these spots.
    pub fn after(&self, picked: &[Spot]) -> impl Iterator<Item = &Offer> + Clone {
        self.all.iter().filter(move |offer| offer.path.starts_with(picked))
    }

    /// The spots that can be chosen next.
    pub fn next(&self, picked: &[Spot]) -> BTreeSet<Spot> {
        let next = self.after(picked).filter_map(|offer| offer.path.get(picked.len()));
        next.copied().collect()
    }
}

/// Illegal actions that a player may have meant with a spot, each with the reason.
pub fn refused(game: &AnyGame, spot: Spot, view: &ViewContext<'_>) -> Vec<Offer> {
    let Some(me) = view.me else {
        return Vec::new();
    };
    attempts(game, spot, view)
        .into_iter()
        .filter_map(|action| {
            let why = match game.check(me, &action) {
                Ok(()) => return None,
                Err(Illegal::NotYourTurn(_)) => {
                    let turn = game.to_act().iter().next();
                    let name = turn.map_or("nobody", |seat| view.name(seat));
                    format!("it is {name}'s turn")
                }
                Err(why) => why.to_string(),
            };
            Some(Offer {
                path: path(game, &action, view),
                words: words(game, &action, view),
                question: None,
                action,
                refused: Some(why),
            })
        })
        .collect()
}
