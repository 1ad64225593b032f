//! The normal bot for Sphinx's Paw: it takes the action that is best for its prospects to find its King and worst for
//! the others'. Hints are its choices. The bot that sharp ones are measured against uses simpler rules: walk to Pylons
//! that may hold the King, and surround the other Magicians with Monsters.

use std::collections::BTreeMap;

use fairdeal_protocol::card::Faces;
use fairdeal_protocol::game::{Game as _, uniform};
use fairdeal_protocol::seat::Seat;
use rand_core::Rng;

use super::{Bot, SphinxStamina};
use crate::hint::{Hint, Hints};
use crate::sphinx::board::{Pylon, Square};
use crate::sphinx::outlook::Board;
use crate::sphinx::{Phase, Sphinx, SphinxAction, Status, Whereabouts, cards};

/// The normal bot for Sphinx's Paw. See the module documentation.
#[derive(Clone, Copy, Debug, Default)]
pub struct SphinxBot {
    stamina: SphinxStamina,
    /// Whether it is the bot that sharp ones are measured against.
    baseline: bool,
}

impl SphinxBot {
    /// The bot that sharp ones are measured against.
    pub const BASELINE: Self = Self { stamina: SphinxStamina::NEW, baseline: true };

    /// A vote for the end, if it wants one: [`SphinxStamina::vote`].
    pub(crate) fn vote(&mut self, game: &Sphinx, seat: Seat) -> Option<SphinxAction> {
        self.stamina.vote(game, seat)
    }
}

impl Bot<Sphinx> for SphinxBot {
    fn choose(&mut self, game: &Sphinx, seat: Seat, known: &Faces, rng: &mut dyn Rng) -> Option<SphinxAction> {
        if self.baseline {
            baseline_vote(game, seat, rng).or_else(|| best(game, seat, known))
        } else {
            self.vote(game, seat).or_else(|| best_prospects(game, seat, known))
        }
    }
}

/// The vote of the bot that sharp ones are measured against: about once in 400 decisions, and once in 40 when another seat
/// votes.
fn baseline_vote(game: &Sphinx, seat: Seat, rng: &mut dyn Rng) -> Option<SphinxAction> {
    let asked = !game.votes().is_empty() && uniform(rng, 40) == 0;
    let tired = asked || uniform(rng, 400) == 0;
    let vote = SphinxAction::Vote { end: true };
    (tired && game.check(seat, &vote).is_ok()).then_some(vote)
}

/// A step towards the best Pylon, or the Monster after which the prospects of a seat in turn compare best with the
/// others'; never a vote.
pub(crate) fn best_prospects(game: &Sphinx, seat: Seat, known: &Faces) -> Option<SphinxAction> {
    match game.phase() {
        _ if game.turn() != Some(seat) => None,
        Phase::Magician => best_step(game, seat).map(|(action, _)| action),
        Phase::Monsters => Some(best_monster(game, seat, known).0),
    }
}

/// The best step of a Magician, and the Pylon to which it leads; `None` if there is no place for it on the board.
fn best_step(game: &Sphinx, seat: Seat) -> Option<(SphinxAction, Pylon)> {
    let board = Board::of(game);
    let pylon = board.own_target(game, seat).unwrap_or(Pylon::North);
    let rated = board.steps_to(game, seat, pylon).iter().map(|to| {
        let action = board.go(seat, to);
        let shared = game.still_playing().without(seat).iter().any(|other| board.magician(other) == Some(to));
        ((board.clone().after(game, seat, action).prospects(game, seat), !shared), action)
    });
    let best = rated.reduce(|best, next| if next.0 > best.0 { next } else { best });
    best.map(|(_, action)| (action, pylon))
}

/// The best Monster, and the same with the end of its whole way, which may need more points of this turn. Twice the end
/// of the turn if no Monster gains.
fn best_monster(game: &Sphinx, seat: Seat, known: &Faces) -> (SphinxAction, SphinxAction) {
    let board = Board::of(game);
    let legal = game
        .legal(seat, known)
        .into_iter()
        .filter(|action| !matches!(action, SphinxAction::Vote { .. }))
        .filter(|action| !shuts_itself_in(&board, game, seat, *action));
    let rated: Vec<_> =
        legal.map(|action| (board.clone().after(game, seat, action).worth(game, seat), action)).collect();
    // Ties go to the last: to end the turn.
    match rated.iter().max_by(|one, other| one.0.total_cmp(&other.0)) {
        Some((_, SphinxAction::End)) | None => best_way(game, seat, &board, &rated),
        Some((_, action)) => (*action, *action),
    }
}

/// The Monster that gains most after more than one action of this turn: the first of them, and the whole way.
fn best_way(game: &Sphinx, seat: Seat, board: &Board, rated: &[(f64, SphinxAction)]) -> (SphinxAction, SphinxAction) {
    let now = board.worth(game, seat);
    let mut ends = BTreeMap::new();
    let mut best = (now, now, SphinxAction::End, SphinxAction::End);
    // A stop on the way costs nothing, so that no later point is worth a way back.
    for (at_stop, action) in rated.iter().filter(|(worth, _)| *worth >= now) {
        let (size, from, stop, cost) = match *action {
            SphinxAction::Introduce { size, at } => (size, None, at, size.pips()),
            SphinxAction::Monster { size, from, to } => (size, Some(from), to, 1),
            _ => continue,
        };
        let left = game.points().saturating_sub(cost);
        for to in game.reach(stop, size.pips().saturating_mul(left)).iter() {
            let whole = match from {
                None => SphinxAction::Introduce { size, at: to },
                Some(from) => SphinxAction::Monster { size, from, to },
            };
            // The size makes no difference at the end.
            let at_end = *ends.entry((from, to)).or_insert_with(|| {
                if shuts_itself_in(board, game, seat, whole) {
                    return f64::NEG_INFINITY;
                }
                board.clone().after(game, seat, whole).worth(game, seat)
            });
            if at_end > now && (at_end, *at_stop) > (best.0, best.1) {
                best = (at_end, *at_stop, *action, whole);
            }
        }
    }
    (best.2, best.3)
}

/// Whether a Monster would come beside the seat's own Magician to its cost, without beating another one.
fn shuts_itself_in(board: &Board, game: &Sphinx, seat: Seat, action: SphinxAction) -> bool {
    let (SphinxAction::Introduce { at: to, .. } | SphinxAction::Monster { to, .. }) = action else {
        return false;
    };
    if board.magician(seat).is_none_or(|own| own.distance(to) != 1) {
        return false;
    }
    let after = board.clone().after(game, seat, action);
    let beats = game.still_playing().without(seat).iter().any(|other| after.prospects(game, other) <= 0.0);
    !beats && after.prospects(game, seat) < board.prospects(game, seat)
}

/// The best action of a seat in turn that this bot knows; never a vote.
fn best(game: &Sphinx, seat: Seat, known: &Faces) -> Option<SphinxAction> {
    if game.turn() != Some(seat) {
        return None;
    }
    let legal = game.legal(seat, known).into_iter().filter(|action| !matches!(action, SphinxAction::Vote { .. }));
    match game.phase() {
        Phase::Magician => legal.rev().max_by_key(|action| magician_worth(game, seat, *action)),
        Phase::Monsters => {
            let before = danger(game, seat, |square| game.monsters().contains_key(&square));
            legal
                .rev()
                .map(|action| (monster_worth(game, seat, action, before), action))
                .max_by_key(|(worth, _)| *worth)
                .map(|(_, action)| action)
        }
    }
}

impl Hints for Sphinx {
    fn hint(&self, seat: Seat, known: &Faces) -> Option<Hint<SphinxAction>> {
        if self.turn() != Some(seat) {
            return None;
        }
        if self.phase() == Phase::Magician {
            let (action, pylon) = best_step(self, seat)?;
            let at = match action {
                SphinxAction::Place { to } | SphinxAction::Magician { to } => Some(to),
                _ => self.magician(seat),
            };
            return Some(Hint { action, why: at.map(|at| why_go(self, seat, at, pylon)).unwrap_or_default() });
        }
        let (action, whole) = best_monster(self, seat, known);
        let (from, to) = match whole {
            SphinxAction::Introduce { at, .. } => (None, at),
            SphinxAction::Monster { from, to, .. } => (Some(from), to),
            _ if self.points() == 0 => {
                return Some(Hint { action, why: "You have no points left for Monsters.".to_owned() });
            }
            _ => return Some(Hint { action, why: "No Monster makes your chances better.".to_owned() }),
        };
        let why = why_monster(self, seat, whole, from, to);
        let why = if whole == action { why } else { format!("On its way to {}. {why}", to.name()) };
        Some(Hint { action, why })
    }
}

/// The reason to stand on a square: the Pylon that it leads to.
fn why_go(game: &Sphinx, seat: Seat, at: Square, pylon: Pylon) -> String {
    let Some(king) = game.king(seat) else {
        return String::new();
    };
    let name = |pylon: Pylon| {
        let name = pylon.name();
        let (first, rest) = name.split_at(1);
        first.to_uppercase() + rest
    };
    let place = game.whereabouts(king);
    let Some((_, unseen)) = place.packs().into_iter().find(|(pack, _)| *pack == pylon) else {
        return String::new();
    };
    let mut why = match (place, unseen) {
        (Whereabouts::Under { above: 0, .. }, _) => format!("{} has your King on top of its pack.", name(pylon)),
        (Whereabouts::Under { above: 1, .. }, _) => {
            format!("{} holds your King: one card lies above it.", name(pylon))
        }
        (Whereabouts::Under { above, .. }, _) => {
            format!("{} holds your King: {above} cards lie above it.", name(pylon))
        }
        (_, 1) => format!("{} may hold your King: its pack has an unseen card.", name(pylon)),
        _ => format!("{} may hold your King: its pack has {unseen} unseen cards.", name(pylon)),
    };
    match steps(at, pylon) {
        0 => {}
        1 => why.push_str(" It is one step from there."),
        far => why.push_str(&format!(" It is {far} steps from there.")),
    }
    why
}

/// The reason for an action that brings a Monster to a square: the Magician whose danger or way it changes.
fn why_monster(game: &Sphinx, me: Seat, action: SphinxAction, from: Option<Square>, to: Square) -> String {
    let stands = |square: Square| {
        let left: u8 = game.monsters_on(square).iter().sum();
        square == to || left > u8::from(from == Some(square))
    };
    let change = |seat: Seat| {
        let at = game.magician(seat).filter(|at| Pylon::at(*at).is_none())?;
        let before = at.around().filter(|square| game.monsters().contains_key(square)).count();
        let after = at.around().filter(|square| stands(*square)).count();
        Some((before, after, at.around().count()))
    };
    for seat in Seat::first(game.scores().len()).filter(|seat| *seat != me) {
        match (change(seat), game.king(seat).map(cards::in_words)) {
            (Some((before, after, all)), Some(king)) if after > before => {
                return match all - after {
                    0 => format!("It surrounds the Magician that seeks {king}."),
                    1 => format!("It leaves one free square around the Magician that seeks {king}."),
                    _ => format!("It closes in on the Magician that seeks {king}: {after} of {all} squares are taken."),
                };
            }
            _ => {}
        }
    }
    if let Some((before, after, all)) = change(me)
        && after < before
    {
        return format!("It frees a square beside your Magician: {after} of {all} are then taken.");
    }
    let before = Board::of(game);
    let after = before.clone().after(game, me, action);
    let hindered = Seat::first(game.scores().len())
        .filter(|seat| *seat != me && after.prospects(game, *seat) < before.prospects(game, *seat))
        .find_map(|seat| game.king(seat).map(cards::in_words));
    match hindered {
        _ if after.prospects(game, me) > before.prospects(game, me) => "It clears your Magician's way.".to_owned(),
        Some(king) => format!("It stands in the way of the Magician that seeks {king}."),
        None => "Unused points are lost, and this Monster can close in on the others later.".to_owned(),
    }
}

fn steps(from: Square, pylon: Pylon) -> u8 {
    pylon.squares().map(|to| from.distance(to)).min().unwrap_or(0)
}

/// The number of steps to the nearest Pylon that is worth a visit.
fn to_king(game: &Sphinx, seat: Seat, from: Square) -> i64 {
    let packs = game.king(seat).map(|king| game.whereabouts(king).packs());
    let squares = packs.into_iter().flatten().flat_map(|(pylon, _)| pylon.squares());
    // Monsters on the square are in the way.
    let steps = squares.map(|to| {
        let blocked = i64::from(to != from && game.monsters().contains_key(&to));
        i64::from(from.distance(to)) + 2 * blocked
    });
    steps.min().unwrap_or(9)
}

fn magician_worth(game: &Sphinx, seat: Seat, action: SphinxAction) -> i64 {
    let to = match action {
        SphinxAction::Place { to } | SphinxAction::Magician { to } => Some(to),
        _ => game.magician(seat),
    };
    let Some(to) = to else { return 0 };
    let crowd = to.around().filter(|square| game.monsters().contains_key(square)).count();
    -10 * to_king(game, seat, to) - i64::try_from(crowd).unwrap_or(8)
}

/// How close the Magicians are to being surrounded: positive for the others, negative for its own.
fn danger(game: &Sphinx, me: Seat, occupied: impl Fn(Square) -> bool) -> i64 {
    let seats = Seat::first(game.scores().len());
    let playing = seats.filter(|seat| game.status(*seat) == Status::Playing);
    let each = playing.filter_map(|seat| {
        let at = game.magician(seat).filter(|at| Pylon::at(*at).is_none())?;
        let around = at.around().count();
        let taken = at.around().filter(|square| occupied(*square)).count();
        let near = i64::try_from(taken * 12 / around).unwrap_or(0);
        let worth = near * near + if taken == around { 1000 } else { 0 };
        Some(if seat == me { -2 * worth } else { worth })
    });
    each.sum()
}

fn monster_worth(game: &Sphinx, me: Seat, action: SphinxAction, before: i64) -> i64 {
    let stands = |square: Square| game.monsters().contains_key(&square);
    let after = match action {
        SphinxAction::Introduce { at, .. } => danger(game, me, |sq| sq == at || stands(sq)),
        SphinxAction::Monster { from, to, .. } => {
            let alone = game.monsters_on(from).iter().sum::<u8>() == 1;
            danger(game, me, |sq| sq == to || (stands(sq) && !(alone && sq == from)))
        }
        _ => return 0,
    };
    // A new Monster is worth a little in itself. A move is worth only its gain.
    let fresh = i64::from(matches!(action, SphinxAction::Introduce { .. }));
    after - before + fresh - 1
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng as _;

    use super::*;
    use crate::bots::{Random, play};
    use crate::chance::RefereeChance;
    use crate::registry::rule_set;

    #[test]
    fn it_beats_chance_and_games_end() {
        let rules = rule_set("sphinxs-paw", 2, &Default::default()).unwrap();
        let mut balance = 0;
        for number in 0..30_u8 {
            let place = usize::from(number % 2);
            let mut bots: [Box<dyn Bot<Sphinx>>; 2] = [Box::new(Random::default()), Box::new(Random::default())];
            bots[place] = Box::new(SphinxBot::default());
            let mut game = Sphinx::create(&rules).unwrap();
            let mut chance = RefereeChance::from_seed([number; 32]);
            game.begin(&mut chance, &mut Vec::new()).unwrap();
            let mut rng = ChaCha20Rng::from_seed([1; 32]);
            play(&mut game, &mut chance, &mut bots, &mut rng, 20_000).unwrap();
            assert!(game.is_over());
            let scores = game.scores();
            balance += scores[place] - scores[1 - place];
        }
        assert!(balance >= 15, "{balance} of 30");
        for seats in 2..=4 {
            for number in 0..10_u8 {
                let rules = rule_set("sphinxs-paw", seats, &Default::default()).unwrap();
                let mut game = Sphinx::create(&rules).unwrap();
                let mut chance = RefereeChance::from_seed([number; 32]);
                game.begin(&mut chance, &mut Vec::new()).unwrap();
                let mut bots: Vec<Box<dyn Bot<Sphinx>>> = Vec::new();
                bots.resize_with(usize::from(seats), || Box::new(SphinxBot::default()));
                let mut rng = ChaCha20Rng::from_seed([2; 32]);
                let made = play(&mut game, &mut chance, &mut bots, &mut rng, 20_000).unwrap();
                assert!(game.is_over(), "{made}");
            }
        }
    }

    /// A Magician that still plays gets nothing from the end, so no young bot votes; nor does it crowd its own Magician.
    #[test]
    fn it_neither_gives_up_nor_shuts_itself_in() {
        let rules = rule_set("sphinxs-paw", 2, &Default::default()).unwrap();
        let (mut rng, known) = (ChaCha20Rng::from_seed([3; 32]), Faces::new());
        for number in 0..3_u8 {
            let mut game = Sphinx::create(&rules).unwrap();
            let mut chance = RefereeChance::from_seed([number; 32]);
            game.begin(&mut chance, &mut Vec::new()).unwrap();
            let mut bots = [SphinxBot::default(), SphinxBot::default()];
            for _ in 0..400 {
                let Some(seat) = game.turn() else { break };
                let action = bots[seat.index()].choose(&game, seat, &known, &mut rng).unwrap();
                assert!(!matches!(action, SphinxAction::Vote { .. }));
                assert!(!shuts_itself_in(&Board::of(&game), &game, seat, action));
                game.apply(seat, &action, &mut chance, &mut Vec::new()).unwrap();
            }
        }
    }

    #[test]
    fn hints_are_legal_steady_and_have_reasons() {
        let mut on_the_way = 0;
        for seats in 2..=4 {
            let rules = rule_set("sphinxs-paw", seats, &Default::default()).unwrap();
            let mut game = Sphinx::create(&rules).unwrap();
            let mut chance = RefereeChance::from_seed([seats; 32]);
            game.begin(&mut chance, &mut Vec::new()).unwrap();
            let known = Faces::new();
            for _ in 0..600 {
                let Some(seat) = game.turn() else { break };
                let hint = game.hint(seat, &known).unwrap();
                assert_eq!(game.hint(seat, &known), Some(hint.clone()));
                let why = &hint.why;
                assert!(why.ends_with('.') && why.len() > 20 && why.len() < 110, "{why}");
                on_the_way += u32::from(why.starts_with("On its way to "));
                game.apply(seat, &hint.action, &mut chance, &mut Vec::new()).unwrap();
            }
            assert!(game.still_playing().len() < usize::from(seats), "hints find no King");
        }
        assert!(on_the_way > 0, "no hint needs more than one point");
    }

    #[test]
    fn a_hint_names_the_pylon_that_may_hold_the_king() {
        let rules = rule_set("sphinxs-paw", 2, &Default::default()).unwrap();
        let mut game = Sphinx::create(&rules).unwrap();
        let mut chance = RefereeChance::from_seed([1; 32]);
        game.begin(&mut chance, &mut Vec::new()).unwrap();
        let hint = game.hint(game.turn().unwrap(), &Faces::new()).unwrap();
        assert!(matches!(hint.action, SphinxAction::Place { .. }));
        assert!(hint.why.contains("may hold your King: its pack has 4 unseen cards. It is 3 steps"), "{}", hint.why);
    }
}
