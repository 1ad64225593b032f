//! The effects of legal actions: dealing, taking, discarding, burning.

use fairdeal_protocol::card::{Face, Handle, Slot};
use fairdeal_protocol::game::{Chance, Game as _, Pause};
use fairdeal_protocol::seat::Seat;

use super::cards::{self, DECK_SIZE, GodSet};
use super::{DEALT, LastHand, Loot, LootEvent, Phase, Pile, score};

impl Loot {
    /// Deals the next hand. "A hand": all 54 cards are shuffled. Each seat gets nine, one at a time
    /// clockwise from the starter. The next card starts the discard pile.
    //= T7.6
    pub(super) fn deal_hand(&mut self, chance: &mut dyn Chance, events: &mut Vec<LootEvent>) -> Result<(), Pause> {
        if self.hand_no > 0 {
            chance.next_deal()?;
        }
        self.hand_no += 1;
        self.turn = self.starter;
        self.phase = Phase::Take;
        self.fire = None;
        self.discard.clear();
        self.aside.clear();
        self.hands.iter_mut().for_each(Vec::clear);
        self.turns.iter_mut().for_each(|turns| *turns = 0);

        let deck: Vec<Face> = cards::all().collect();
        let deck = chance.shuffle(&deck)?;
        self.draw.clear();
        self.draw.extend(Handle::all(deck, DECK_SIZE.into()).rev());
        let playing = self.playing();
        let mut to = self.starter;
        for _ in 0..DEALT * playing.len() {
            self.draw_for(to, chance);
            to = playing.after(to).unwrap_or(to);
        }
        let first: Vec<Handle> = self.draw.pop().into_iter().collect();
        self.discard.extend(chance.open(&first)?);
        if let Some(top) = self.discard.last() {
            events.push(LootEvent::Dealt { hand_no: self.hand_no, starter: self.starter, top: *top });
        }
        Ok(())
    }

    /// Moves the draw pile's top card to a seat's hand, sealed to everybody else.
    fn draw_for(&mut self, seat: Seat, chance: &mut dyn Chance) {
        if let (Some(hand), Some(card)) = (self.hands.get_mut(seat.index()), self.draw.pop()) {
            chance.deal(card, seat);
            hand.push(Slot::Sealed(card));
        }
    }

    /// Carries out a legal take.
    //= T7.7
    pub(super) fn take(&mut self, seat: Seat, pile: Pile, chance: &mut dyn Chance, events: &mut Vec<LootEvent>) {
        let open = match pile {
            Pile::Draw => {
                self.draw_for(seat, chance);
                None
            }
            Pile::Discard => {
                let card = self.discard.pop();
                if let (Some(hand), Some(card)) = (self.hands.get_mut(seat.index()), card) {
                    hand.push(Slot::Open(card));
                }
                card
            }
        };
        self.phase = Phase::Discard;
        events.push(LootEvent::Took { seat, open });
    }

    /// Carries out a legal discard, which completes the turn.
    //= T7.7
    pub(super) fn discard(
        &mut self,
        seat: Seat,
        card: Face,
        handle: Option<Handle>,
        chance: &mut dyn Chance,
        events: &mut Vec<LootEvent>,
    ) -> Result<(), Pause> {
        if let Some(hand) = self.hands.get_mut(seat.index()) {
            let slot = handle.map_or(Slot::Open(card), Slot::Sealed);
            if let Some(place) = hand.iter().position(|held| *held == slot) {
                hand.remove(place);
            }
        }
        self.discard.push(card);
        if let Some(turns) = self.turns.get_mut(seat.index()) {
            *turns = turns.saturating_add(1);
        }
        events.push(LootEvent::Discarded { seat, card });
        self.end_turn();
        // "Firing" ▸: a waiting fire takes effect when the turn ends, before any re-shuffle.
        if let Some(fired_by) = self.fire {
            return self.burn(fired_by, chance, events);
        }
        self.reshuffle(chance, events)
    }

    /// Passes the turn to the next seat clockwise that is still in the game.
    pub(super) fn end_turn(&mut self) {
        self.turn = self.playing().after(self.turn).unwrap_or(self.turn);
        self.phase = Phase::Take;
    }

    /// "A hand" ▸: if the draw pile is empty after a discard, the discard pile becomes the new draw
    /// pile. Its top card stays.
    fn reshuffle(&mut self, chance: &mut dyn Chance, events: &mut Vec<LootEvent>) -> Result<(), Pause> {
        if !self.draw.is_empty() || self.discard.len() < 2 {
            return Ok(());
        }
        let top = self.discard.split_off(self.discard.len() - 1);
        let buried = std::mem::replace(&mut self.discard, top);
        let deck = chance.shuffle(&buried)?;
        self.draw.extend(Handle::all(deck, buried.len()).rev());
        let cards = buried.len();
        events.push(LootEvent::Reshuffled { cards });
        Ok(())
    }

    /// "Firing": all hands are shown and scored; the game ends or the next hand is dealt.
    //= T7.8
    pub(super) fn burn(
        &mut self,
        fired_by: Seat,
        chance: &mut dyn Chance,
        events: &mut Vec<LootEvent>,
    ) -> Result<(), Pause> {
        let sealed: Vec<Handle> = self.hands.iter().flatten().filter_map(|slot| slot.handle()).collect();
        let mut opened = chance.open(&sealed)?.into_iter();
        let mut hands = Vec::with_capacity(self.hands.len());
        for hand in &mut self.hands {
            for slot in hand.iter_mut().filter(|slot| slot.handle().is_some()) {
                *slot = opened.next().map_or(*slot, Slot::Open);
            }
            let open = hand.iter().filter_map(|slot| match slot {
                Slot::Open(card) => Some(*card),
                Slot::Sealed(_) => None,
            });
            hands.push(open.collect::<Vec<Face>>());
        }
        // "Gods": those in any shown hand affect everybody's cards; ▸ a hand set aside has none.
        let gods = hands.iter().fold(GodSet::NONE, |gods, hand| gods.and_of(hand));
        let scores: Vec<i64> = hands.iter().map(|hand| score::best_total(hand, gods).into()).collect();
        for (total, score) in self.totals.iter_mut().zip(&scores) {
            *total += score;
        }
        self.fire = None;
        events.push(LootEvent::Burned {
            fired_by,
            hands: hands.clone(),
            scores: scores.clone(),
            totals: self.totals.clone(),
        });
        self.last_hand = Some(LastHand { fired_by, hands, scores });
        if self.totals.iter().any(|total| total.abs() >= self.target) {
            self.end(events);
            return Ok(());
        }
        // "A hand" ▸: each later hand starts with the next seat clockwise.
        self.starter = self.playing().after(self.starter).unwrap_or(self.starter);
        self.deal_hand(chance, events)
    }

    /// Ends the game; piles, hands and phase stay as they are ("View").
    pub(super) fn end(&mut self, events: &mut Vec<LootEvent>) {
        self.over = true;
        self.fire = None;
        events.push(LootEvent::Over { winners: self.winners() });
    }
}
