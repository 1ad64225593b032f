//! The search for Houses of Thoth: houses as they stand, with what the hands behind them promise.

use fairdeal_protocol::card::{Face, Faces};
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;
use rand_core::Rng;

use super::{Search, few_best, part_of_win, share};
use crate::bots::{thoth_best, thoth_worth};
use crate::thoth::house::{House, Level};
use crate::thoth::{Thoth, ThothAction, cards};

/// Candidates per decision.
const FEW: usize = 6;
/// The points that a seat usually makes in a hand.
const USUAL: f64 = 20.0;
/// The usual change of a lead in one hand, as a scale of [`share`].
const SWING: f64 = 8.0;
/// The part of what cards in hand would cost now that is not played or discarded in time.
const STUCK: f64 = 0.6;

impl Search for Thoth {
    const ACTIONS: u32 = 16;
    const EXPLORE: f64 = 0.1;

    fn candidates(&self, seat: Seat, known: &Faces, _rng: &mut dyn Rng) -> Vec<Option<ThothAction>> {
        if !self.to_act().contains(seat) {
            return vec![None];
        }
        let rated =
            self.legal(seat, known).into_iter().map(|action| (rating(self, seat, &action, known), Some(action)));
        few_best(rated, FEW)
    }

    fn quick(&self, seat: Seat, guess: &Faces, _rng: &mut dyn Rng) -> Option<ThothAction> {
        thoth_best(self, seat, self.legal(seat, guess), guess)
    }

    fn worth(&self, seat: Seat, guess: &Faces, dealt_out: bool) -> f64 {
        if let Some(part) = part_of_win(self, seat) {
            return part;
        }
        let stand = |seat: Seat| {
            let total = points(self.totals().get(seat.index()).copied().unwrap_or(0));
            total + if dealt_out { 0.0 } else { prospects(self, seat, guess) }
        };
        let others = self.playing().without(seat).iter().map(stand);
        let best = others.fold(f64::NEG_INFINITY, f64::max);
        let own = stand(seat);
        let left = (points(self.target()) - own.max(best)).max(0.0) / USUAL;
        share(own - best, 6.0 + SWING * left.sqrt())
    }
}

fn points(points: i64) -> f64 {
    i32::try_from(points).map_or(0.0, f64::from)
}

fn rating(game: &Thoth, seat: Seat, action: &ThothAction, known: &Faces) -> f64 {
    points(thoth_worth(game, seat, action, known).max(-1_000_000))
}

/// The points that the hand in play may bring a seat: its house and cards as they are, and with what they can become.
fn prospects(game: &Thoth, seat: Seat, guess: &Faces) -> f64 {
    let Some(house) = game.house(seat) else {
        return 0.0;
    };
    let hand = || game.hand_of(seat).iter().filter_map(|slot| slot.face(guess));
    let mut sum = points(house.score()) + points(cards::hand_score(hand())) * STUCK;
    let Some(top) = house.top() else {
        let founds = hand().any(cards::is_foundation);
        return sum - if founds { 5.0 } else { 10.0 };
    };
    if house.in_trouble() {
        let relieved = hand().any(|card| house.is_relieved_by(card));
        sum -= if relieved { 3.0 } else { 6.0 };
    }
    if top.is_full() {
        sum += hand().map(|card| above(house, top, card)).fold(2.0, f64::max);
    }
    sum
}

/// The worth of a card on a full level: the points of a Roof, or the room that a Story opens.
fn above(house: &House, top: &Level, card: Face) -> f64 {
    let elements = top.elements();
    if let Some(element) = cards::roof_element(card).filter(|element| elements.contains(*element)) {
        let matching = house.pyramids().filter(|pyramid| pyramid.element == element).count();
        return 5.0 + f64::from(u32::try_from(matching).unwrap_or(0));
    }
    if cards::fits_as_story(card, elements) { 5.0 } else { 0.0 }
}
