//! Sphinx's Paw: what a turn can do to Magicians, exactly. The order of the packs does not matter for it.

use fairdeal_protocol::card::{Face, Faces, Slot};
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;

use super::ahead::Ahead;
use super::goal::Goal;
use crate::pyramid::Size;
use crate::sphinx::board::{Pylon, Square, SquareSet, central};
use crate::sphinx::{Phase, Sphinx, SphinxAction, Status, Whereabouts, cards};

/// The highest number of the die.
const BEST_ROLL: u8 = 6;
/// More points than a seat ever has.
const NEVER: u8 = u8::MAX;

pub(super) fn solutions(game: &Sphinx, seat: Seat, known: &Faces, goal: Goal) -> Option<Vec<SphinxAction>> {
    let mut legal = game.legal(seat, known).into_iter().filter(|action| !matches!(action, SphinxAction::Vote { .. }));
    let playing = game.status(seat) == Status::Playing;
    match (goal, game.phase()) {
        (Goal::King, Phase::Magician) if playing => Some(legal.filter(|action| finds(game, seat, action)).collect()),
        (Goal::Trap, Phase::Monsters) => Some(legal.filter(|action| traps(game, seat, action)).collect()),
        (Goal::Escape, Phase::Magician) if playing && game.still_playing().len() == 2 => {
            let safe = legal.by_ref().filter(|action| is_safe(game, seat, action));
            Some(safe.collect())
        }
        _ => None,
    }
}

/// Whether a step turns up the seat's King for certain: it was put back there, and lies on top.
fn finds(game: &Sphinx, seat: Seat, action: &SphinxAction) -> bool {
    let SphinxAction::Magician { to } = action else {
        return false;
    };
    let top = game.king(seat).map(|king| game.whereabouts(king));
    matches!(top, Some(Whereabouts::Under { pylon, above: 0 }) if Pylon::at(*to) == Some(pylon))
}

/// The game after an action, with this number for the die and this face for a card that nobody knows.
fn after(game: &Sphinx, seat: Seat, action: &SphinxAction, other: Face) -> Option<Sphinx> {
    let mut next = game.clone();
    let mut chance = Ahead::new(&Faces::new(), other, BEST_ROLL.into());
    next.apply(seat, action, &mut chance, &mut Vec::new()).ok()?;
    Some(next)
}

/// Whether another Magician is surrounded by this action or can be by others after it, in this turn.
fn traps(game: &Sphinx, seat: Seat, action: &SphinxAction) -> bool {
    if *action == SphinxAction::End {
        return false;
    }
    let Some(next) = after(game, seat, action, Face(0)) else {
        return false;
    };
    let victims = game.still_playing().without(seat);
    let own = game.still_playing().contains(seat);
    let mut reached = victims.iter().map(|victim| match next.status(victim) {
        Status::Lost => own == next.still_playing().contains(seat),
        _ => cost(&next, victim) <= next.points(),
    });
    reached.any(|reached| reached)
}

/// Whether the next seat cannot surround this seat's Magician, if this seat does no more in its turn.
fn is_safe(game: &Sphinx, seat: Seat, action: &SphinxAction) -> bool {
    let tops = faces(game);
    tops.iter().all(|top| {
        let Some(mut next) = after(game, seat, action, *top) else {
            return false;
        };
        if next.status(seat) == Status::Won {
            return true;
        }
        if next.phase() == Phase::Monsters && next.turn() == Some(seat) {
            let Some(ended) = after(&next, seat, &SphinxAction::End, *top) else {
                return false;
            };
            next = ended;
        }
        let Some(other) = next.turn() else {
            return false;
        };
        if next.phase() == Phase::Monsters {
            return cost(&next, seat) > next.points();
        }
        let mut steps =
            next.legal(other, &Faces::new()).into_iter().filter(|step| !matches!(step, SphinxAction::Vote { .. }));
        steps.all(|step| {
            faces(&next).into_iter().all(|top| {
                let reply = after(&next, other, &step, top);
                reply.is_some_and(|reply| {
                    reply.status(seat) != Status::Lost && (reply.is_over() || cost(&reply, seat) > reply.points())
                })
            })
        })
    })
}

/// The faces of the packs that nobody has seen, one of each kind; any face if there are none.
fn faces(game: &Sphinx) -> Vec<Face> {
    let open = |face: &Face| {
        Pylon::ALL.into_iter().any(|pylon| {
            let mut pack = game.pack(pylon).iter();
            game.turned(pylon).contains(face) || pack.any(|slot| *slot == Slot::Open(*face))
        })
    };
    let mut unseen: Vec<Face> = game.first_deck().unwrap_or_default().into_iter().filter(|face| !open(face)).collect();
    // An Ace of one suit brings the Monster that another brings. Kings differ.
    unseen.sort_by_key(|face| cards::rank(*face));
    unseen.dedup_by_key(|face| (cards::rank(*face), cards::suit(*face) * u8::from(cards::rank(*face) == cards::KING)));
    if unseen.is_empty() { vec![Face(0)] } else { unseen }
}

/// The points that the seat to play needs at least to surround a Magician; [`NEVER`] if it cannot with those it has.
///
/// Monsters do not stand in each other's way, so each needs the same points wherever the others go. The least sum is
/// that of a best assignment of Monsters to the squares around the Magician (dynamic programming over sets of squares).
pub(super) fn cost(game: &Sphinx, victim: Seat) -> u8 {
    let Some(at) = game.magician(victim).filter(|at| Pylon::at(*at).is_none()) else {
        return NEVER;
    };
    let ring: Vec<Square> = at.around().collect();
    // A point brings one Monster to one square at most.
    let free = ring.iter().filter(|square| game.monsters_on(**square) == [0; 3]).count();
    if free > usize::from(game.points()) {
        return NEVER;
    }
    let mut least = vec![NEVER; 1 << ring.len()];
    if let Some(none) = least.first_mut() {
        *none = 0;
    }
    let spade = |pylon: Pylon| game.turned(pylon).iter().any(|card| cards::is_spade(*card));
    let pylons = Pylon::ALL.into_iter().filter(|pylon| spade(*pylon)).flat_map(Pylon::squares);
    let magicians: SquareSet = game.still_playing().iter().filter_map(|seat| game.magician(seat)).collect();
    let entries = central().chain(pylons).collect::<SquareSet>().without(magicians);
    for size in Size::ALL {
        let way = |from: Square| distances(game, from, size);
        for (from, counts) in game.monsters() {
            let count = counts.get(size.index()).copied().unwrap_or(0);
            for _ in 0..count {
                assign(&mut least, &ring, &way(*from), 0);
            }
        }
        let supply = game.supply().get(size.index()).copied().unwrap_or(0);
        if game.has_moved() || supply == 0 {
            continue;
        }
        let ways: Vec<_> = entries.iter().map(way).collect();
        let nearest = |square: &Square| {
            ways.iter().filter_map(|way| way.iter().find(|(to, _)| to == square)).map(|to| to.1).min()
        };
        let nearest: Vec<_> = ring.iter().filter_map(|square| Some((*square, nearest(square)?))).collect();
        for _ in 0..supply {
            assign(&mut least, &ring, &nearest, size.pips());
        }
    }
    least.last().copied().unwrap_or(NEVER)
}

/// The squares that a Monster reaches, and the points for the way: one for every move of as many steps as it has pips.
fn distances(game: &Sphinx, from: Square, size: Size) -> Vec<(Square, u8)> {
    let mut found = vec![(from, 0)];
    let mut reached = SquareSet::from(from);
    // Two moves of one Monster lead wherever one of twice the steps leads.
    for moves in 1..=BEST_ROLL {
        let next = game.reach(from, size.pips().saturating_mul(moves)).without(reached);
        found.extend(next.iter().map(|square| (square, moves)));
        reached = reached.with(next);
    }
    found
}

/// Lets one more Monster go to one of the squares, or to none.
fn assign(least: &mut [u8], ring: &[Square], ways: &[(Square, u8)], entry: u8) {
    let before = least.to_vec();
    for (place, square) in ring.iter().enumerate() {
        let Some((_, points)) = ways.iter().find(|(to, _)| to == square) else {
            continue;
        };
        let bit = 1 << place;
        for (set, now) in before.iter().enumerate().filter(|(set, _)| set & bit == 0) {
            let sum = now.saturating_add(*points).saturating_add(entry);
            if let Some(best) = least.get_mut(set | bit) {
                *best = sum.min(*best);
            }
        }
    }
}
