//! The auction of the first hand (rules page, "Auction"): hidden bids, the pool, and picking from it.

use fairdeal_protocol::card::{Face, Handle, Slot};
use fairdeal_protocol::game::{Chance, Pause};
use fairdeal_protocol::seat::Seat;

use super::{DEALT, Phase, Thoth, ThothEvent, cards};

impl Thoth {
    pub(super) fn bid(
        &mut self,
        seat: Seat,
        card: Handle,
        chance: &mut dyn Chance,
        events: &mut Vec<ThothEvent>,
    ) -> Result<(), Pause> {
        self.lay_down(seat, Slot::Sealed(card));
        if let Some(bid) = self.bids.get_mut(seat.index()) {
            *bid = Some(card);
        }
        events.push(ThothEvent::Bid { seat });
        self.settle_bids(chance, events)
    }

    /// Shows the bids when all seats have bid, and decides the auction unless the highest bids are
    /// tied.
    //= T7.31
    pub(super) fn settle_bids(&mut self, chance: &mut dyn Chance, events: &mut Vec<ThothEvent>) -> Result<(), Pause> {
        let playing: Vec<Seat> = self.playing().iter().collect();
        let bids = playing.iter().map(|seat| self.bids.get(seat.index()).copied().flatten());
        let Some(bids) = bids.collect::<Option<Vec<Handle>>>() else {
            return Ok(());
        };
        let faces = chance.open(&bids)?;
        self.bids.fill(None);
        self.pool.extend(&faces);
        let mut shown = vec![None; self.totals.len()];
        for (seat, face) in playing.iter().zip(&faces) {
            if let Some(bid) = shown.get_mut(seat.index()) {
                *bid = Some(*face);
            }
        }
        let worth = |seat: &Seat| {
            let bid = shown.get(seat.index()).copied().flatten();
            bid.map(cards::bid_worth)
        };
        let best = playing.iter().filter_map(worth).max();
        // ▸ If hands run out on a tie, the tied seat that comes first from the dealer's left wins.
        let order = self.clockwise_from(self.next_after(self.dealer));
        let tied: Vec<Seat> = order.filter(|seat| worth(seat) == best).collect();
        let out = playing.iter().all(|seat| self.hand_of(*seat).is_empty());
        let winner = tied.first().copied().filter(|_| tied.len() == 1 || out);
        events.push(ThothEvent::Bids { bids: shown, winner });
        let Some(winner) = winner else {
            return Ok(());
        };
        self.starter = winner;
        self.phase = Phase::Pick;
        // The seat on the winner's right picks first, the winner last.
        self.pickers = self.clockwise_from(winner).collect();
        self.pickers.reverse();
        self.go_on_picking(chance, events)
    }

    pub(super) fn pick(
        &mut self,
        seat: Seat,
        card: Face,
        chance: &mut dyn Chance,
        events: &mut Vec<ThothEvent>,
    ) -> Result<(), Pause> {
        self.pool.retain(|other| *other != card);
        self.get(seat, card, events);
        self.go_on_picking(chance, events)
    }

    /// Moves a card of the pool to a hand, in the open.
    fn get(&mut self, seat: Seat, card: Face, events: &mut Vec<ThothEvent>) {
        if let Some(hand) = self.hands.get_mut(seat.index()) {
            hand.push(Slot::Open(card));
        }
        events.push(ThothEvent::Picked { seat, card });
    }

    /// Continues until a seat has a choice, or play begins.
    //= T7.31
    pub(super) fn go_on_picking(&mut self, chance: &mut dyn Chance, events: &mut Vec<ThothEvent>) -> Result<(), Pause> {
        while let Some(picker) = self.pickers.first().copied() {
            let lacks = DEALT.saturating_sub(self.hand_of(picker).len());
            if lacks > 0 && self.pool.len() > lacks {
                return Ok(());
            }
            // ▸ A picker that lacks at least as many cards as the pool holds gets them all without
            // picking.
            if lacks > 0 {
                for card in std::mem::take(&mut self.pool) {
                    self.get(picker, card, events);
                }
            }
            self.pickers.remove(0);
        }
        // ▸ Cards that no seat lacks go to the discard pile, in pool order.
        self.discard.append(&mut self.pool);
        self.phase = Phase::Play;
        // If the winner left before play, the next seat clockwise plays first.
        let first = if self.playing().contains(self.starter) { self.starter } else { self.next_after(self.starter) };
        self.begin_turn(first, chance, events)
    }
}
