//! Houses of Thoth: finds every way to end the hand this turn. Extra turns count; a way must work whatever card they
//! draw.

use fairdeal_protocol::card::{Face, Faces, Slot};
use fairdeal_protocol::game::{ApplyError, Game as _};
use fairdeal_protocol::seat::Seat;

use super::ahead::Ahead;
use super::goal::Goal;
use crate::thoth::house::House;
use crate::thoth::{Phase, Thoth, ThothAction, Use, cards};

/// The most cards that a seat plays in its turn.
const MOST_CARDS: u32 = 3;

pub(super) fn solutions(game: &Thoth, seat: Seat, known: &Faces, goal: Goal) -> Option<Vec<ThothAction>> {
    if game.phase() != Phase::Play || game.has_happenstance() || !matches!(goal, Goal::Win | Goal::Hand) {
        return None;
    }
    let found =
        game.legal(seat, known).into_iter().filter(|action| reaches(game, seat, known, action, goal, MOST_CARDS));
    Some(found.collect())
}

/// Whether the goal is reached by this action, or by more cards of the same turn.
fn reaches(game: &Thoth, seat: Seat, known: &Faces, action: &ThothAction, goal: Goal, cards: u32) -> bool {
    // A discard gives no extra turn: nothing is reached by it.
    if matches!(action, ThothAction::Play { as_: Use::Discard | Use::Trouble { .. } | Use::Story, .. })
        && game.extra_turns() == 0
    {
        return false;
    }
    unseen(game, seat, known).into_iter().all(|face| {
        let mut next = game.clone();
        let mut chance = Ahead::new(known, face, 1);
        let before = game.hand_no();
        match next.apply(seat, action, &mut chance, &mut Vec::new()) {
            Ok(()) if next.is_over() => is_reached(game, &next, seat, goal),
            // The hand is over, and nothing was dealt.
            Err(ApplyError::Pause) if chance.dealt_out => is_reached(game, &next, seat, goal),
            Ok(()) if next.hand_no() == before && next.to_act().contains(seat) && cards > 1 => {
                let known = chance.known;
                let mut legal = next.legal(seat, &known).into_iter().filter(|action| !is_lost(action));
                legal.any(|action| reaches(&next, seat, &known, &action, goal, cards - 1))
            }
            _ => false,
        }
    })
}

/// Calling the end shows nothing of the card until the hand is scored; it is searched like any other.
fn is_lost(action: &ThothAction) -> bool {
    matches!(action, ThothAction::Topple { .. } | ThothAction::Demolish)
}

/// Whether the scored hand reaches the seat's goal. The cards in the others' hands count as 0, the most that any hand is
/// worth.
fn is_reached(before: &Thoth, after: &Thoth, seat: Seat, goal: Goal) -> bool {
    let score = |seat: Seat| after.last_hand().and_then(|hand| hand.scores.get(seat.index())).copied();
    let Some(own) = score(seat) else {
        return false;
    };
    let total = |seat: Seat| before.totals().get(seat.index()).copied().unwrap_or(0);
    let mut others = before.playing().without(seat).iter();
    let most = |other: Seat| before.house(other).map_or(0, House::score);
    match goal {
        Goal::Win => {
            let sum = total(seat) + own;
            sum >= before.target() && others.all(|other| sum > total(other) + most(other))
        }
        _ => others.all(|other| own > most(other)),
    }
}

/// The faces that the next card of the deck may have; any face if the deck is empty.
fn unseen(game: &Thoth, seat: Seat, known: &Faces) -> Vec<Face> {
    let mut seen: Vec<Face> = game.discard_pile().to_vec();
    seen.extend(game.hand_of(seat).iter().filter_map(|slot| slot.face(known)));
    for other in game.playing().iter() {
        seen.extend(game.house(other).into_iter().flat_map(House::cards));
        seen.extend(game.hand_of(other).iter().filter_map(|slot| match slot {
            Slot::Open(face) => Some(*face),
            Slot::Sealed(_) => None,
        }));
    }
    let unseen: Vec<Face> = cards::all().filter(|card| !seen.contains(card)).collect();
    if unseen.is_empty() || game.deck().is_empty() { vec![Face(0)] } else { unseen }
}
