//! An action that waits for its turn: what it was meant for may have gone by then, and a seat must not
//! be made guilty by its own player.

use fairdeal_protocol::card::Face;
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::table::live::{ActError, Event, Output, Table, To};
use fairdeal_protocol::table::message::Message;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;

use super::drill::{Action, Drill, rules};
use super::sim::charter;

/// Two seats with a network that loses nothing, driven by hand.
struct Pair {
    tables: Vec<Table<Drill>>,
    rng: ChaCha20Rng,
    dropped: Vec<Seat>,
}

impl Pair {
    fn new() -> Self {
        let (charter, keys) = charter(&rules(2, 20));
        let table = |(seat, key)| Table::new(charter.clone(), seat, key).unwrap();
        let mut pair = Self {
            tables: Seat::first(2).zip(keys).map(table).collect(),
            rng: ChaCha20Rng::from_seed([4; 32]),
            dropped: Vec::new(),
        };
        for table in &mut pair.tables {
            table.begin(&mut pair.rng);
        }
        pair.settle();
        pair
    }

    /// Everything sent arrives.
    fn settle(&mut self) {
        loop {
            let mut sent: Vec<(Seat, Message)> = Vec::new();
            for table in &mut self.tables {
                let me = table.me();
                while let Some(output) = table.poll() {
                    match output {
                        Output::Send(To::All | To::One(_), message) => sent.push((me, message)),
                        Output::Event(Event::Dropped(_)) => self.dropped.push(me),
                        Output::Event(_) | Output::Keep(_) | Output::Pass(..) => {}
                    }
                }
            }
            if sent.is_empty() {
                return;
            }
            for (from, message) in sent {
                let other = &mut self.tables[1 - from.index()];
                other.accept(from, message, &mut self.rng).unwrap();
            }
        }
    }

    fn act(&mut self, seat: usize, action: Action) -> Result<(), ActError> {
        self.tables[seat].act(action, &mut self.rng)
    }

    fn leader(&self) -> usize {
        self.tables.iter().position(Table::is_my_turn).unwrap()
    }

    /// Showing the first card that a seat knows.
    fn play(&self, seat: usize) -> Action {
        let (card, face) = self.tables[seat].known().iter().next().unwrap();
        Action::Play { card, face }
    }

    fn nobody_has_stopped(&self) {
        for table in &self.tables {
            assert_eq!(table.stopped(), None, "{table:?}");
        }
    }
}

/// A card of the deal before has its handle again in the next, and another face.
#[test]
fn what_waits_is_dropped_with_its_deal() {
    let mut pair = Pair::new();
    let (leader, other) = (pair.leader(), 1 - pair.leader());
    let old = pair.play(leader);
    pair.act(leader, Action::NextDeal).unwrap();
    // A second key before the answer to the first has come.
    pair.act(leader, old.clone()).unwrap();
    pair.settle();
    assert_ne!(pair.play(leader), old, "another face in the same place");
    pair.act(other, Action::Draw).unwrap();
    pair.settle();
    pair.nobody_has_stopped();
    assert_eq!(pair.dropped, [pair.tables[leader].me()]);
    assert!(pair.tables[leader].is_my_turn(), "and the player is asked");
}

/// What a seat signs must be true whatever its player says: a false face would prove it a cheat.
#[test]
fn a_false_claim_of_the_player_is_not_signed() {
    let mut pair = Pair::new();
    let leader = pair.leader();
    let Action::Play { card, face } = pair.play(leader) else {
        unreachable!()
    };
    let false_claim = Action::Play {
        card,
        face: Face((face.0 + 1) % super::drill::CARDS),
    };
    let refused = pair.act(leader, false_claim);
    assert!(matches!(refused, Err(ActError::Illegal(_))), "{refused:?}");
    pair.settle();
    pair.nobody_has_stopped();
    assert!(pair.tables[leader].is_my_turn());
}
