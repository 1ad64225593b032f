//! Ivory Tower: the tower is solved for every order of the cards that the player has not seen.

use fairdeal_protocol::card::{Face, Faces, Handle};
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;

use super::ahead::Ahead;
use crate::ivory::solver::{MOST_STATES, Verdict, solve, unseen};
use crate::ivory::{Ivory, IvoryAction};

/// The most cards that may be unseen: 24 orders.
const MOST_UNSEEN: usize = 4;

/// The actions after which the tower can be completed in some order of the unseen cards. If there is one, the tower can
/// be completed after it in every order. `None` otherwise, or if too many cards are unseen.
pub(super) fn solutions(game: &Ivory, seat: Seat, known: &Faces) -> Option<Vec<IvoryAction>> {
    let stock = game.deck().iter().chain(game.draw_pile());
    let sealed: Vec<Handle> = stock.filter_map(|slot| slot.handle()).collect();
    let unseen = unseen(game);
    if sealed.len() != unseen.len() || unseen.len() > MOST_UNSEEN || game.daily().is_some() {
        return None;
    }
    let orders = orders(&unseen);
    let mut found = Vec::new();
    for action in game.legal(seat, known) {
        if action == IvoryAction::Resign {
            continue;
        }
        let mut won = 0;
        for order in &orders {
            let mut faces = known.clone();
            sealed.iter().zip(order).for_each(|(card, face)| faces.set(*card, *face));
            let mut next = game.clone();
            let mut chance = Ahead::new(&faces, Face(0), 1);
            next.apply(seat, &action, &mut chance, &mut Vec::new()).ok()?;
            match solve(&next, &faces, MOST_STATES)? {
                Verdict::Winnable(_) => won += 1,
                Verdict::Lost => {}
                Verdict::GaveUp => return None,
            }
        }
        if won > 0 {
            found.push((action, won == orders.len()));
        }
    }
    let actions = found.iter().map(|(action, _)| *action).collect();
    match found.as_slice() {
        [(_, false)] => None,
        _ => Some(actions),
    }
}

/// Every order of some cards.
fn orders(cards: &[Face]) -> Vec<Vec<Face>> {
    let Some((first, rest)) = cards.split_first() else {
        return vec![Vec::new()];
    };
    let mut all = Vec::new();
    for order in orders(rest) {
        for place in 0..=order.len() {
            let mut longer = order.clone();
            longer.insert(place, *first);
            all.push(longer);
        }
    }
    all
}
