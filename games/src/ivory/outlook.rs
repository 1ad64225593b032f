//! The outlook of a game from the cards that its player has seen: whether the tower can grow, and the way there.

use std::collections::{BTreeSet, VecDeque};

use fairdeal_protocol::card::{Face, Slot};

use super::{Ivory, IvoryAction, Target};

/// The most that turning and playing can still bring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outlook {
    /// Something can come. The shortest way there begins with this action.
    Open {
        action: IvoryAction,
        /// The card that the tower gets; `None` if the way leads to a card that the player has not seen.
        card: Option<Face>,
    },
    /// Cards can be moved, but the tower cannot grow.
    Stuck,
    /// No card can be played in a whole pass through the deck.
    DeadEnd,
    /// There are too many ways to follow them all.
    Unclear,
}

/// Follows every way from here, the shortest first, until `most` positions are known. Faces that the player has not seen
/// are not used: where one comes to the top, the way ends.
pub fn outlook(game: &Ivory, most: usize) -> Outlook {
    let position = |game: &Ivory| (game.deck.clone(), game.draw.clone(), game.piles.clone());
    let mut known = BTreeSet::from([position(game)]);
    let mut queue = VecDeque::from([(game.clone(), None)]);
    let mut can_play = false;
    while let Some((at, first)) = queue.pop_front() {
        let is_unseen = |top: &Slot| !game.was_shown(*top);
        if let (Some(action), true) = (first, at.draw.last().is_some_and(is_unseen)) {
            return Outlook::Open { action, card: None };
        }
        let plays = at.plays();
        can_play |= !plays.is_empty();
        if let Some((from, to)) = plays.iter().find(|(_, to)| *to == Target::Tower).copied() {
            let action = first.unwrap_or(IvoryAction::Play { from, to });
            let card = at.available(from);
            return Outlook::Open { action, card };
        }
        if known.len() > most {
            return Outlook::Unclear;
        }
        let plays = plays.into_iter().map(|(from, to)| IvoryAction::Play { from, to });
        for action in plays.chain([IvoryAction::Turn]) {
            let mut next = at.clone();
            match action {
                IvoryAction::Play { from, to } => drop(next.move_card(from, to)),
                _ if !next.turn_for_thought() => continue,
                _ => {}
            }
            if known.insert(position(&next)) {
                queue.push_back((next, Some(first.unwrap_or(action))));
            }
        }
    }
    if can_play { Outlook::Stuck } else { Outlook::DeadEnd }
}
