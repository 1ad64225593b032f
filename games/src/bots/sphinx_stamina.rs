//! Votes of bots for the end of Sphinx's Paw, at every level.
//!
//! The end makes a seat that still plays win nothing. Without votes, though, seats that only hinder each other would go on
//! for ever. A deadlock shows in turns without a new card.

use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;

use crate::sphinx::board::Pylon;
use crate::sphinx::outlook::Board;
use crate::sphinx::{Phase, Sphinx, SphinxAction};

/// A bot's patience with a game of Sphinx's Paw. See the module documentation.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SphinxStamina {
    /// Its own turns since a card was last turned up.
    turns: u32,
    /// Cards turned up.
    turned: usize,
    /// Whether it was its turn when it was last asked.
    in_turn: bool,
}

impl SphinxStamina {
    pub(super) const NEW: Self = Self { turns: 0, turned: 0, in_turn: false };

    /// A seat joins another's vote after so many own turns without a new card. Of the winners in games among gentle bots,
    /// one in a hundred had to wait longer for a card.
    const COURTESY: u32 = 30;

    /// A seat proposes the end after so many. Of the winners in games among normal bots of two and three seats, one in
    /// thirty had to wait longer for a card.
    const ENOUGH: u32 = 40;

    /// A seat with prospects below this joins a vote at any time. One that is shut in on a Pylon has more: it may get out.
    const HOPELESS: f64 = 0.001;

    /// A vote for the end, or to join another seat's. It has to be asked at each decision, since it counts the seat's
    /// turns.
    pub(crate) fn vote(&mut self, game: &Sphinx, seat: Seat) -> Option<SphinxAction> {
        let in_turn = game.turn() == Some(seat);
        // A turn that has no step for the Magician begins with the Monsters.
        let begins = in_turn && (game.phase() == Phase::Magician || !self.in_turn);
        self.in_turn = in_turn;
        let turned = Pylon::ALL.into_iter().map(|pylon| game.turned(pylon).len()).sum();
        if turned != self.turned {
            (self.turned, self.turns) = (turned, 0);
        }
        self.turns = self.turns.saturating_add(u32::from(begins));
        let asked = !game.votes().without(seat).is_empty();
        let lets_go = || self.turns > Self::COURTESY || Board::of(game).prospects(game, seat) < Self::HOPELESS;
        let wants = self.turns > Self::ENOUGH || asked && lets_go();
        let vote = SphinxAction::Vote { end: true };
        (wants && game.check(seat, &vote).is_ok()).then_some(vote)
    }
}

#[cfg(test)]
mod tests {
    use fairdeal_protocol::card::Faces;
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng as _;

    use super::*;
    use crate::bots::{Bot, SphinxBot, play};
    use crate::chance::RefereeChance;
    use crate::registry::rule_set;
    use crate::sphinx::Status;

    /// Plays a game among normal bots in which the first seat votes from the start, and returns the actions made.
    fn played_with_a_vote(seats: u8, number: u8) -> (Sphinx, usize) {
        let rules = rule_set("sphinxs-paw", seats, &Default::default()).unwrap();
        let mut game = Sphinx::create(&rules).unwrap();
        let mut chance = RefereeChance::from_seed([number; 32]);
        game.begin(&mut chance, &mut Vec::new()).unwrap();
        let end = SphinxAction::Vote { end: true };
        game.apply(Seat::FIRST, &end, &mut chance, &mut Vec::new()).unwrap();
        let mut bots: Vec<Box<dyn Bot<Sphinx>>> = Vec::new();
        bots.resize_with(usize::from(seats), || Box::new(SphinxBot::default()));
        let mut rng = ChaCha20Rng::from_seed([2; 32]);
        let made = play(&mut game, &mut chance, &mut bots, &mut rng, 20_000).unwrap();
        (game, made)
    }

    /// A seat that votes does not wait for long, and yet most games bring a winner.
    #[test]
    fn it_joins_a_vote_when_little_is_left_to_win() {
        for seats in 2..=4 {
            let games = (0..10).map(|number| played_with_a_vote(seats, number));
            let won = games.filter(|(game, made)| {
                // A vote is void once its seat has won or lost.
                let voted = game.status(Seat::FIRST) == Status::Playing;
                assert!(game.is_over() && (!voted || *made < 400 * usize::from(seats)), "{made}");
                !game.winners().is_empty()
            });
            assert!(won.count() >= 7);
        }
    }

    /// Only own turns count, however often a seat is asked, and only those since a card was turned up.
    #[test]
    fn stamina_counts_own_turns() {
        let rules = rule_set("sphinxs-paw", 2, &Default::default()).unwrap();
        let mut stamina = [SphinxStamina::NEW; 2];
        let (mut rng, known) = (ChaCha20Rng::from_seed([3; 32]), Faces::new());
        for number in 0..3_u8 {
            let mut game = Sphinx::create(&rules).unwrap();
            let mut chance = RefereeChance::from_seed([number; 32]);
            game.begin(&mut chance, &mut Vec::new()).unwrap();
            let turned = |game: &Sphinx| Pylon::ALL.into_iter().any(|pylon| !game.turned(pylon).is_empty());
            let mut turns = [0, 0];
            while !turned(&game) {
                let seat = game.turn().unwrap();
                turns[seat.index()] += u32::from(game.phase() == Phase::Magician);
                for other in Seat::first(2).filter(|other| *other != seat) {
                    let asked = (0..100).find_map(|_| stamina[other.index()].vote(&game, other));
                    assert_eq!(asked, None);
                }
                assert_eq!(stamina[seat.index()].vote(&game, seat), None);
                assert_eq!(stamina.map(|one| one.turns), turns);
                let action = SphinxBot::default().choose(&game, seat, &known, &mut rng).unwrap();
                game.apply(seat, &action, &mut chance, &mut Vec::new()).unwrap();
            }
            assert!(turns[0] > 2);
            for seat in Seat::first(2) {
                assert_eq!(stamina[seat.index()].vote(&game, seat), None);
                assert_eq!(stamina[seat.index()].turns, 0);
            }
        }
    }
}
