//! Facts of Sphinx's Paw: the fewest points that surround a Magician that stays where it is.
//!
//! # Proof
//! Each square around the Magician needs a Monster of its own. It enters in the Depth for its pips, and a point moves
//! it as many squares as it has pips. The search tries all choices of Monsters for these squares. The engine plays the
//! cheapest choice, which takes exactly as many points.

use std::collections::BTreeMap;

use fairdeal_games::chance::RefereeChance;
use fairdeal_games::pyramid::Size;
use fairdeal_games::rule_set;
use fairdeal_games::sphinx::board::{Pylon, Square, SquareSet, central};
use fairdeal_games::sphinx::{INFO, Sphinx, SphinxAction, Status};
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;

use super::assert_says;

/// Squares that Monsters reach from the Depth, by the number of steps.
fn layers(magician: Square) -> Vec<SquareSet> {
    let closed = Pylon::all_squares().with(magician.into());
    let mut layers = vec![central().collect::<SquareSet>().without(closed)];
    let mut reached = layers[0];
    while let Some(next) = layers.last().map(|last| last.spread().without(closed).without(reached)) {
        if next.is_empty() {
            break;
        }
        reached = reached.with(next);
        layers.push(next);
    }
    layers
}

/// The points that a Monster costs on a square so many steps from the Depth.
fn cost(size: Size, steps: usize) -> u32 {
    u32::from(size.pips()) + u32::try_from(steps).unwrap().div_ceil(u32::from(size.pips()))
}

/// The fewest points that surround a Magician, and the Monster of each square around it. `None` if a square cannot be
/// reached.
fn cheapest(magician: Square, players: u8) -> Option<(u32, Vec<(Square, Size)>)> {
    let layers = layers(magician);
    // The cheapest choices so far, by the Monsters that are left.
    let mut ways = BTreeMap::from([([1, 2, 2].map(|each| each * players), (0, Vec::new()))]);
    for square in magician.around() {
        let steps = layers.iter().position(|layer| layer.contains(square))?;
        let mut next: BTreeMap<[u8; 3], (u32, Vec<_>)> = BTreeMap::new();
        for (left, (points, chosen)) in ways {
            for size in Size::ALL.into_iter().filter(|size| left[size.index()] > 0) {
                let mut left = left;
                left[size.index()] -= 1;
                let points = points + cost(size, steps);
                if next.get(&left).is_none_or(|(known, _)| points < *known) {
                    next.insert(left, (points, [chosen.as_slice(), &[(square, size)]].concat()));
                }
            }
        }
        ways = next;
    }
    ways.into_values().min_by_key(|(points, _)| *points)
}

/// The actions that bring these Monsters to their squares.
fn script(magician: Square, chosen: &[(Square, Size)]) -> Vec<SphinxAction> {
    let layers = layers(magician);
    let mut script = Vec::new();
    for (square, size) in chosen {
        let steps = layers.iter().position(|layer| layer.contains(*square)).unwrap();
        let mut way = vec![*square];
        for layer in layers[..steps].iter().rev() {
            way.push(way[way.len() - 1].orthogonal().find(|from| layer.contains(*from)).unwrap());
        }
        way.reverse();
        script.push(SphinxAction::Introduce { size: *size, at: way[0] });
        let stops: Vec<usize> = (0..steps).step_by(usize::from(size.pips())).chain([steps]).collect();
        let moves = stops.windows(2).map(|stop| (way[stop[0]], way[stop[1]]));
        script.extend(moves.map(|(from, to)| SphinxAction::Monster { size: *size, from, to }));
    }
    script
}

/// Plays a siege in the engine, an action a turn. Returns the points of the besieger's dice.
fn besieged(magician: Square, players: u8, chosen: &[(Square, Size)]) -> u32 {
    let rules = rule_set("sphinxs-paw", players, &Default::default()).unwrap();
    let mut game = Sphinx::create(&rules).unwrap();
    let mut chance = RefereeChance::from_seed([0; 32]);
    game.begin(&mut chance, &mut Vec::new()).unwrap();
    let [victim, besieger] = [0, 1].map(|seat| Seat::new(seat).unwrap());
    let [near, far, away] = ["d4", "e5", "h8"].map(|name| Square::by_name(name).unwrap());
    let (mut script, mut points) = (script(magician, chosen).into_iter(), 0);
    loop {
        let seat = game.turn().unwrap();
        let (start, goal) = if seat == victim { (near, magician) } else { (far, away) };
        let step = match game.magician(seat) {
            None => SphinxAction::Place { to: start },
            Some(at) if at == goal => SphinxAction::Stay,
            Some(at) => SphinxAction::Magician { to: at.around().min_by_key(|to| to.distance(goal)).unwrap() },
        };
        let all_stay = Seat::first(players.into()).all(|seat| {
            let goal = if seat == victim { magician } else { away };
            game.magician(seat) == Some(goal)
        });
        let action = if seat == besieger && all_stay { script.next().unwrap() } else { SphinxAction::End };
        let roll = match action {
            SphinxAction::Introduce { size, .. } => size.pips().into(),
            _ => 1,
        };
        chance.add([], [roll]);
        for action in [step, action] {
            game.apply(seat, &action, &mut chance, &mut Vec::new()).unwrap();
        }
        if action == SphinxAction::End {
            continue;
        }
        points += roll;
        if game.status(victim) == Status::Lost {
            return points;
        }
        game.apply(seat, &SphinxAction::End, &mut chance, &mut Vec::new()).unwrap();
    }
}

/// Files and ranks from the nearest edges, the smaller number first: squares with the same numbers mirror each other.
fn kind(square: Square) -> [u8; 2] {
    let name = square.name();
    let mut steps = [name.as_bytes()[0] - b'a', name.as_bytes()[1] - b'1'].map(|at| at.min(7 - at));
    steps.sort_unstable();
    steps
}

#[test]
fn no_siege_takes_fewer_points() {
    let rows = [
        ("in a corner", "a1"),
        ("at an edge beside a corner", "b1"),
        ("b2, b7, g2, g7", "b2"),
        ("c3, c6, f3, f6", "c3"),
        ("beside the Depth, on c4 and the like", "c4"),
        ("in the Depth", "d4"),
    ];
    let squares = || Square::all().filter(|square| Pylon::at(*square).is_none());
    let (mut seen, mut longest) = (0, Vec::new());
    for (place, name) in rows {
        let square = Square::by_name(name).unwrap();
        let mut row = format!("| {place} |");
        for players in 2..=4 {
            let (points, chosen) = cheapest(square, players).unwrap();
            for mirrored in squares().filter(|other| kind(*other) == kind(square)) {
                assert_eq!(cheapest(mirrored, players).map(|(points, _)| points), Some(points), "{}", mirrored.name());
            }
            assert_eq!(besieged(square, players, &chosen), points, "{name}, {players} players");
            row += &format!(" {points} |");
            longest.push((points, name));
        }
        seen += squares().filter(|other| kind(*other) == kind(square)).count();
        assert_says(&INFO, &row);
    }
    let (_, name) = longest.into_iter().max().unwrap();
    assert_says(&INFO, &format!("The siege of {name} and its mirrors is the longest."));
    // All other squares are beside a Pylon, and nothing reaches all squares around them.
    let beside = Pylon::all_squares().around(false).without(Pylon::all_squares());
    assert_eq!(squares().count(), seen + beside.iter().count());
    for square in beside.iter() {
        assert_eq!(cheapest(square, 4), None, "{}", square.name());
    }
    assert_says(&INFO, &format!("the {} squares beside a Pylon", beside.len()));
}
