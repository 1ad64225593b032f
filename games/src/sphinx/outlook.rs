//! The prospects of Magicians: how far their Kings are, by the unseen cards and the Monsters in the way.
//!
//! It uses only what all have seen. The worth of a Magician falls with the turns that it needs on the best tour of the
//! Pylons that may hold its King.

use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;

use super::board::{Pylon, Square, SquareSet, central};
use super::{Sphinx, SphinxAction, Status, Whereabouts};

/// The part of a King's worth that a turn leaves: e^(−1/14).
const FADE: f64 = 0.931_062_779_704_022_7;
/// A Monster on the way costs this many turns more.
const DETOUR: usize = 4;
/// No way on the board takes longer.
const FAR: usize = 24;
/// The part of the worth of a Pylon that is left when another Magician comes there sooner.
const COMPANY: f64 = 0.85;
/// The part of its prospects at other Pylons that a Magician loses which is shut in on one: it turns up cards there, but
/// the others close each gap that it makes.
const PRISON: f64 = 0.95;

/// The pieces that matter for distances, apart from the rest of a state, so that an action is tried quickly.
#[derive(Clone, Debug)]
pub(crate) struct Board {
    pub(crate) monsters: SquareSet,
    magicians: [Option<Square>; 4],
}

impl Board {
    pub(crate) fn of(game: &Sphinx) -> Self {
        let mut magicians = [None; 4];
        for (place, seat) in magicians.iter_mut().zip(Seat::first(4)) {
            *place = game.magician(seat);
        }
        Self { monsters: game.monsters().keys().copied().collect(), magicians }
    }

    /// The board of this game after an action, without what a Pylon then turns up.
    pub(crate) fn after(mut self, game: &Sphinx, seat: Seat, action: SphinxAction) -> Self {
        match action {
            SphinxAction::Place { to } | SphinxAction::Magician { to } => {
                if let Some(place) = self.magicians.get_mut(seat.index()) {
                    *place = Some(to);
                }
            }
            SphinxAction::Introduce { at, .. } => self.monsters = self.monsters.with(SquareSet::from(at)),
            SphinxAction::Monster { from, to, .. } => {
                if game.monsters_on(from).iter().sum::<u8>() == 1 {
                    self.monsters = self.monsters.without(SquareSet::from(from));
                }
                self.monsters = self.monsters.with(SquareSet::from(to));
            }
            SphinxAction::Stay | SphinxAction::End | SphinxAction::Vote { .. } => {}
        }
        self
    }

    pub(crate) fn magician(&self, seat: Seat) -> Option<Square> {
        self.magicians.get(seat.index()).copied().flatten()
    }

    /// The worth of the whole board for a seat: its own prospects less those of the seats that still play, among which
    /// better ones count more.
    pub(crate) fn worth(&self, game: &Sphinx, seat: Seat) -> f64 {
        let others = game.still_playing().without(seat);
        let squares = others.iter().map(|other| self.prospects(game, other)).map(|worth| worth * worth);
        let (count, sum) = squares.fold((0.0, 0.0), |(count, sum), square| (count + 1.0, sum + square));
        // A square root is rounded the same way on every machine.
        self.prospects(game, seat) - (sum / f64::max(count, 1.0)).sqrt()
    }

    /// The prospects of a seat to find its King, from 0 to 1.
    pub(crate) fn prospects(&self, game: &Sphinx, seat: Seat) -> f64 {
        match game.status(seat) {
            Status::Won => return 1.0,
            Status::Lost => return 0.0,
            Status::Playing if game.is_over() => return 0.0,
            Status::Playing => {}
        }
        let (start, late) = match self.magician(seat) {
            Some(at) => (SquareSet::from(at), 0),
            None => (central().collect(), 1),
        };
        self.tour(game, seat, start, late) * self.safety(seat)
    }

    /// The part of the prospects that is left by the Monsters around a Magician: off the Pylons it has lost once no
    /// square is free.
    fn safety(&self, seat: Seat) -> f64 {
        let Some(at) = self.magician(seat).filter(|at| Pylon::at(*at).is_none()) else {
            return 1.0;
        };
        let free = SquareSet::from(at).around(false).without(self.monsters).len();
        let crowd = 1.0 - f64::from(free) / 8.0;
        1.0 - crowd * crowd * crowd
    }

    /// The Pylon on which a Magician stands, and the part of its prospects elsewhere that the Monsters at the exits leave.
    fn cell(&self, seat: Seat, diagonal: bool) -> Option<(Pylon, f64)> {
        let at = self.magician(seat)?;
        let pylon = Pylon::at(at)?;
        let (own, both) = (SquareSet::from(at), pylon.squares().collect::<SquareSet>());
        let inside = own.with(own.around(diagonal).within(both).without(self.monsters));
        let exits = inside.around(diagonal).without(both);
        let crowd = f64::from(exits.within(self.monsters).len()) / f64::from(exits.len().max(1));
        Some((pylon, 1.0 - PRISON * crowd * crowd))
    }

    /// The steps from a set of squares to each Pylon; Monsters on the way cost more.
    fn distances(&self, start: SquareSet, diagonal: bool) -> [usize; 4] {
        let mut far = [FAR; 4];
        let mut layers = [SquareSet::default(); FAR + 1];
        if let Some(first) = layers.first_mut() {
            *first = start;
        }
        let targets = Pylon::ALL.map(|pylon| pylon.squares().collect::<SquareSet>());
        for steps in 0..FAR {
            let reached = layer(&layers, steps);
            for (far, target) in far.iter_mut().zip(targets) {
                if *far == FAR && !reached.within(target).is_empty() {
                    *far = steps;
                }
            }
            if far.iter().all(|far| *far < FAR) {
                break;
            }
            let next = self.flood(&layers, steps + 1, diagonal);
            if let Some(place) = layers.get_mut(steps + 1) {
                *place = next;
            }
        }
        far
    }

    /// The squares reached after so many steps, from those reached before.
    fn flood(&self, layers: &[SquareSet], steps: usize, diagonal: bool) -> SquareSet {
        let before = layer(layers, steps.saturating_sub(1));
        let free = before.around(diagonal).without(self.monsters);
        let past = steps.checked_sub(1 + DETOUR).map_or(SquareSet::default(), |steps| layer(layers, steps));
        before.with(free).with(past.around(diagonal).within(self.monsters))
    }
}

fn layer(layers: &[SquareSet], steps: usize) -> SquareSet {
    layers.get(steps).copied().unwrap_or_default()
}

/// The worth of a King so many turns away. Products, unlike `exp`, have the same bits on every machine: normal bots play
/// by them.
fn patience(turns: usize) -> f64 {
    const MOST: usize = 64;
    static TABLE: std::sync::LazyLock<[f64; MOST]> = std::sync::LazyLock::new(|| {
        let mut next = 1.0;
        [(); MOST].map(|()| {
            let worth = next;
            next *= FADE;
            worth
        })
    });
    TABLE.get(turns).copied().unwrap_or(0.0)
}

impl Board {
    /// The prospects over the best order in which to visit the packs that may hold the King. The Magician is at
    /// `start`, or will be after `late` turns.
    fn tour(&self, game: &Sphinx, seat: Seat, start: SquareSet, late: usize) -> f64 {
        self.tours(game, seat, start, late).into_iter().map(|(_, worth)| worth).fold(0.0, f64::max)
    }

    /// The prospects over the best tour that begins at each Pylon that may hold the King.
    fn tours(&self, game: &Sphinx, seat: Seat, start: SquareSet, late: usize) -> Vec<(Pylon, f64)> {
        let Some(king) = game.king(seat) else {
            return Vec::new();
        };
        let far = self.distances(start, game.is_diagonal());
        let cell = self.cell(seat, game.is_diagonal());
        // What a ring leaves of whatever comes after the own Pylon, and of a first visit to this one.
        let leaving = cell.map_or(1.0, |(_, part)| part);
        let going = |pylon: Pylon| match cell {
            Some((own, _)) if own == pylon => 1.0,
            _ => leaving,
        };
        let steps = |pylon: Pylon| far.get(pylon.index()).copied().unwrap_or(FAR);
        match game.whereabouts(king) {
            Whereabouts::TurnedUp(_) => Vec::new(),
            Whereabouts::Under { pylon, above } => {
                let turns = late + steps(pylon).max(1) + above;
                vec![(pylon, going(pylon) * patience(turns))]
            }
            Whereabouts::Unseen(packs) => {
                let all: usize = packs.iter().map(|(_, unseen)| unseen).sum();
                // A Magician on a Pylon may be shut in there, so the ways from that very square count.
                let ways = packs.iter().map(|(pylon, _)| {
                    let squares: SquareSet = pylon.squares().collect();
                    let own = squares.within(start);
                    let from = [own, squares.without(self.monsters), squares]
                        .into_iter()
                        .find(|from| !from.is_empty())
                        .unwrap_or(squares);
                    (*pylon, self.distances(from, game.is_diagonal()))
                });
                let ways = Ways(ways.collect());
                // A card of the packs is equally likely at each unseen place.
                let places = f64::from(u32::try_from(all).unwrap_or(u32::MAX).max(1));
                let firsts = packs.iter().map(|(pylon, unseen)| {
                    let (sum, after) = turning(late + steps(*pylon).max(1), *unseen);
                    let others: Vec<_> = packs.iter().copied().filter(|other| other.0 != *pylon).collect();
                    let rest = ways.rest_of_tour(*pylon, after, &others);
                    (*pylon, (going(*pylon) * sum + leaving * rest) / places)
                });
                firsts.collect()
            }
        }
    }
}

impl Board {
    /// A quick step of a Magician towards the best Pylon.
    pub(crate) fn step(&self, game: &Sphinx, seat: Seat) -> Option<SphinxAction> {
        let target = self.target(game, seat).unwrap_or(Pylon::North);
        let first = self.steps_to(game, seat, target).iter().next();
        Some(self.go(seat, first?))
    }

    /// The action that brings a Magician to a square beside its own, or keeps it there.
    pub(crate) fn go(&self, seat: Seat, to: Square) -> SphinxAction {
        match self.magician(seat) {
            None => SphinxAction::Place { to },
            Some(at) if at == to => SphinxAction::Stay,
            Some(_) => SphinxAction::Magician { to },
        }
    }

    /// The squares of a Magician's next step on the shortest ways to a Pylon.
    pub(crate) fn steps_to(&self, game: &Sphinx, seat: Seat, pylon: Pylon) -> SquareSet {
        let Some(at) = self.magician(seat) else {
            let places = || central().filter(|at| game.monsters_on(*at) == [0; 3]);
            let far = |at: Square| pylon.squares().map(|to| at.distance(to)).min();
            let least = places().map(far).min();
            return places().filter(|at| Some(far(*at)) == least).collect();
        };
        let own = SquareSet::from(at);
        // A flood back from the Pylon until it meets the Magician's neighbours.
        let ways = own.around(game.is_diagonal()).without(self.monsters).with(own);
        let mut layers = [SquareSet::default(); FAR + 1];
        if let Some(first) = layers.first_mut() {
            *first = pylon.squares().collect();
        }
        for steps in 0..FAR {
            let met = layer(&layers, steps).within(ways);
            if met.contains(at) {
                return own;
            }
            if !met.is_empty() {
                return met;
            }
            let next = self.flood(&layers, steps + 1, game.is_diagonal());
            if let Some(place) = layers.get_mut(steps + 1) {
                *place = next;
            }
        }
        own
    }

    /// The squares where the Magician is, or may come onto the board.
    fn start(&self, seat: Seat) -> SquareSet {
        self.magician(seat).map_or_else(|| central().collect(), SquareSet::from)
    }

    /// The Pylon to visit first.
    fn target(&self, game: &Sphinx, seat: Seat) -> Option<Pylon> {
        first_best(self.tours(game, seat, self.start(seat), 0))
    }

    /// The Pylon to visit first, rather not one to which another Magician comes sooner: all see what that turns up.
    pub(crate) fn own_target(&self, game: &Sphinx, seat: Seat) -> Option<Pylon> {
        let others = game.still_playing().without(seat).iter().filter(|other| self.magician(*other).is_some());
        let goals: Vec<(Seat, Pylon)> = others.filter_map(|other| Some((other, self.target(game, other)?))).collect();
        let near =
            |of: Seat, pylon: Pylon| self.distances(self.start(of), game.is_diagonal()).get(pylon.index()).copied();
        // Of two that are equally near only one turns away.
        let comes_sooner = |other: Seat, pylon: Pylon| (near(other, pylon), other) < (near(seat, pylon), seat);
        let tours = self.tours(game, seat, self.start(seat), 0).into_iter().map(|(pylon, worth)| {
            let taken = goals.iter().any(|(other, goal)| *goal == pylon && comes_sooner(*other, pylon));
            (pylon, if taken { worth * COMPANY } else { worth })
        });
        first_best(tours)
    }
}

/// The Pylon of the greatest worth, of equal ones the first.
fn first_best(rated: impl IntoIterator<Item = (Pylon, f64)>) -> Option<Pylon> {
    let best = rated.into_iter().reduce(|best, next| if next.1 > best.1 { next } else { best });
    best.map(|(pylon, _)| pylon)
}

/// The sum of the worths of turning up this many cards, the first after so many turns, and the turns after the last.
fn turning(first: usize, cards: usize) -> (f64, usize) {
    let sum = (first..first + cards).map(patience).sum();
    (sum, (first + cards).saturating_sub(1))
}

/// The steps from some Pylons to all.
struct Ways(Vec<(Pylon, [usize; 4])>);

impl Ways {
    fn steps(&self, from: Pylon, to: Pylon) -> usize {
        let ways = self.0.iter().find(|(pylon, _)| *pylon == from);
        ways.and_then(|(_, far)| far.get(to.index()).copied()).unwrap_or(FAR)
    }

    /// The best that can come after a Pylon.
    fn rest_of_tour(&self, from: Pylon, turns: usize, packs: &[(Pylon, usize)]) -> f64 {
        let sums = packs.iter().map(|(pylon, unseen)| {
            let (sum, after) = turning(turns + self.steps(from, *pylon), *unseen);
            let others: Vec<_> = packs.iter().copied().filter(|other| other.0 != *pylon).collect();
            sum + self.rest_of_tour(*pylon, after, &others)
        });
        sums.fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::RefereeChance;
    use crate::registry::rule_set;

    /// A Magician that is shut in on a Pylon still turns up the pack there; little else is left.
    #[test]
    fn a_ring_around_a_pylon_keeps_its_magician_from_the_others() {
        let rules = rule_set("sphinxs-paw", 2, &Default::default()).unwrap();
        let mut game = Sphinx::create(&rules).unwrap();
        game.begin(&mut RefereeChance::from_seed([1; 32]), &mut Vec::new()).unwrap();
        let square = |name: &str| Square::by_name(name).unwrap();
        let prospects = |monsters: &[&str]| {
            let mut board = Board::of(&game);
            board.magicians[0] = Some(square("d8"));
            board.monsters = monsters.iter().map(|name| square(name)).collect();
            board.prospects(&game, Seat::FIRST)
        };
        // Each of the four packs has four unseen cards, and a card here comes each turn.
        let here = turning(1, 4).0 / 16.0;
        let ring = ["c8", "c7", "d7", "e7", "f7", "f8"];
        let [free, gap, shut_in] = [&ring[..0], &ring[1..], &ring].map(prospects);
        assert!(here < shut_in && shut_in < gap && gap < free, "{here} {shut_in} {gap} {free}");
        assert!(shut_in - here < 0.06 * (free - here), "{here} {shut_in} {free}");
        // A Monster on the other square of the Pylon makes the ring smaller.
        assert!(prospects(&["c8", "c7", "d7", "e7", "e8"]) < gap);
    }
    /// Four packs are alike: a Magician leaves a Pylon to another one that comes there sooner, and that one goes on.
    #[test]
    fn magicians_choose_different_pylons() {
        let rules = rule_set("sphinxs-paw", 2, &Default::default()).unwrap();
        let mut game = Sphinx::create(&rules).unwrap();
        game.begin(&mut RefereeChance::from_seed([1; 32]), &mut Vec::new()).unwrap();
        let (own, other) = (Seat::FIRST, Seat::new(1).unwrap());
        let mut board = Board::of(&game);
        board.magicians[0] = Square::by_name("d5");
        assert_eq!(board.own_target(&game, own), Some(Pylon::North));
        board.magicians[1] = Square::by_name("d7");
        assert_eq!(board.target(&game, own), Some(Pylon::North));
        assert_eq!(board.own_target(&game, own), Some(Pylon::West));
        assert_eq!(board.own_target(&game, other), Some(Pylon::North));
    }
}
