//! stub
use fairdeal_protocol::card::Faces;
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;
use rand_core::Rng;
use super::Search;
use crate::loot::{Loot, LootAction};
impl Search for Loot {
    const ACTIONS: u32 = 20;
    const EXPLORE: f64 = 0.05;
    fn determinize(&self, _seat: Seat, known: &Faces, _rng: &mut dyn Rng) -> Faces { known.clone() }
    fn candidates(&self, seat: Seat, known: &Faces, _age: u32, _rng: &mut dyn Rng) -> Vec<Option<LootAction>> {
        self.legal(seat, known).into_iter().map(Some).take(1).collect()
    }
    fn quick(&self, _seat: Seat, _guess: &Faces, _rng: &mut dyn Rng) -> Option<LootAction> { None }
    fn worth(&self, _seat: Seat, _guess: &Faces, _dealt_out: bool) -> f64 { 0.5 }
}
