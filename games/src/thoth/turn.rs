//! A hand of Houses of Thoth: dealing, drawing, the effects of cards, falling houses, scoring.

use fairdeal_protocol::card::{Face, Handle, Slot};
use fairdeal_protocol::game::{Chance, Flip, Pause};
use fairdeal_protocol::seat::Seat;

use super::cards::{self, Suited};
use super::house::{Bank, House, Level, Pyramid};
use super::{DEALT, LastHand, Phase, Thoth, ThothEvent, Use};

/// Number of sides of the happenstance die.
const SIDES: u32 = 20;
/// The cost of toppling a house, in points.
const TOPPLE: i64 = 156;
/// How often the discard pile becomes the deck in one hand; the next time ends the hand.
const MOST_RESHUFFLES: u8 = 4;

impl Thoth {
    /// "A hand": shuffles and deals five cards to each seat, one at a time from the dealer's left.
    /// That seat starts.
    //= T7.24
    pub(super) fn deal_hand(&mut self, chance: &mut dyn Chance, events: &mut Vec<ThothEvent>) -> Result<(), Pause> {
        self.hand_no = self.hand_no.saturating_add(1);
        self.starter = self.next_after(self.dealer);
        self.extra_turns = 0;
        self.bank = Bank::default();
        self.houses.fill(House::default());
        self.hands.iter_mut().for_each(Vec::clear);
        self.discard.clear();
        self.aside.clear();
        self.face_down = None;
        self.reshuffles = 0;
        let all: Vec<Face> = cards::all().collect();
        let deck = chance.shuffle(&all)?;
        self.deck = Handle::all(deck, all.len()).rev().collect();
        events.push(ThothEvent::Dealt { hand_no: self.hand_no, dealer: self.dealer });
        let order = self.clockwise_from(self.starter);
        for _ in 0..DEALT {
            for seat in order.clone() {
                self.deal_to(seat, chance);
            }
        }
        if self.auction && self.hand_no == 1 {
            self.phase = Phase::Bid;
            return Ok(());
        }
        self.phase = Phase::Play;
        self.begin_turn(self.starter, chance, events)
    }

    /// Deals the deck's top card to a seat. Returns whether there was one.
    fn deal_to(&mut self, seat: Seat, chance: &mut dyn Chance) -> bool {
        let Some(card) = self.deck.pop() else {
            return false;
        };
        if let Some(hand) = self.hands.get_mut(seat.index()) {
            hand.push(Slot::Sealed(card));
        }
        chance.deal(card, seat);
        true
    }

    /// Begins a turn with a draw. ▸ "If the deck is empty … the discard pile is shuffled into a new deck; if that is
    /// empty too, no card is drawn." ▸ "The fifth re-shuffle ends the hand."
    //= T7.25
    pub(super) fn begin_turn(
        &mut self,
        seat: Seat,
        chance: &mut dyn Chance,
        events: &mut Vec<ThothEvent>,
    ) -> Result<(), Pause> {
        self.turn = seat;
        if self.deck.is_empty() && !self.discard.is_empty() {
            if self.reshuffles >= MOST_RESHUFFLES {
                return self.end_hand(None, chance, events);
            }
            self.reshuffles += 1;
            let count = self.discard.len();
            let deck = chance.shuffle(&self.discard)?;
            self.deck = Handle::all(deck, count).rev().collect();
            self.discard.clear();
            events.push(ThothEvent::Reshuffled { cards: count });
        }
        if self.deal_to(seat, chance) {
            events.push(ThothEvent::Drew { seat });
        }
        Ok(())
    }

    /// Ends the play of the turn's card: an extra turn follows, or the next seat's turn.
    //= T7.25
    fn finish_turn(&mut self, seat: Seat, chance: &mut dyn Chance, events: &mut Vec<ThothEvent>) -> Result<(), Pause> {
        if self.extra_turns > 0 {
            self.extra_turns -= 1;
            return self.begin_turn(seat, chance, events);
        }
        self.begin_turn(self.next_after(seat), chance, events)
    }

    /// Removes a card from a hand.
    pub(super) fn lay_down(&mut self, seat: Seat, slot: Slot) {
        if let Some(hand) = self.hands.get_mut(seat.index())
            && let Some(place) = hand.iter().position(|other| *other == slot)
        {
            hand.remove(place);
        }
    }

    fn house_mut(&mut self, seat: Seat) -> Option<&mut House> {
        self.houses.get_mut(seat.index())
    }

    fn give_turns(&mut self, turns: u32) {
        self.extra_turns = self.extra_turns.saturating_add(turns);
    }

    /// Carries out a card's use.
    //= T7.26
    pub(super) fn play(
        &mut self,
        seat: Seat,
        card: Face,
        as_: Use,
        chance: &mut dyn Chance,
        events: &mut Vec<ThothEvent>,
    ) -> Result<(), Pause> {
        events.push(ThothEvent::Played { seat, card, as_ });
        match as_ {
            Use::Foundation => {
                self.add_level(seat, card);
                // "An elemental one gives an extra turn", including the world.
                self.give_turns(u32::from(cards::elemental(card).is_some()));
            }
            Use::Raise { size, count } => {
                self.discard.push(card);
                if let Some((element, _)) = cards::redeemed(card) {
                    for _ in 0..count {
                        let pyramid = Pyramid { element, size };
                        self.bank.give(pyramid);
                        if let Some(top) = self.house_mut(seat).and_then(|h| h.levels.last_mut()) {
                            top.pyramids.push(pyramid);
                        }
                    }
                }
                self.give_turns(u32::from(cards::redeemed_gives_a_turn(card)));
                self.happen(seat, chance, events)?;
            }
            Use::Story => {
                self.add_level(seat, card);
                self.happen(seat, chance, events)?;
            }
            Use::Roof => {
                if let Some(house) = self.house_mut(seat) {
                    house.roof = Some(card);
                }
                return self.end_hand(Some(seat), chance, events);
            }
            Use::Trouble { target, replace } => self.make_trouble(card, target, replace),
            Use::Relieve => self.relieve(seat, card),
            Use::Discard => self.discard.push(card),
        }
        self.finish_turn(seat, chance, events)
    }

    fn add_level(&mut self, seat: Seat, card: Face) {
        if let Some(house) = self.house_mut(seat) {
            house.levels.push(Level::new(card));
        }
    }

    //= T7.27
    fn make_trouble(&mut self, card: Face, target: Seat, replace: Option<u8>) {
        let Some(house) = self.houses.get_mut(target.index()) else {
            return;
        };
        match replace.and_then(|place| house.trouble.get_mut(usize::from(place))) {
            Some(place) => self.discard.push(std::mem::replace(place, card)),
            None => house.trouble.push(card),
        }
    }

    /// "Every Trouble card of that element goes to the discard pile, then the card."
    fn relieve(&mut self, seat: Seat, card: Face) {
        let element = cards::relieves(card);
        if let Some(house) = self.houses.get_mut(seat.index()) {
            let trouble = std::mem::take(&mut house.trouble);
            let (gone, left) = trouble.into_iter().partition(|trouble| cards::zodiacal(*trouble) == element);
            house.trouble = left;
            self.discard.extend::<Vec<Face>>(gone);
        }
        self.discard.push(card);
        self.give_turns(match cards::suited(card) {
            Some((_, Suited::Small(_))) => 0,
            Some((_, Suited::Court(_))) => 1,
            None => 2,
        });
    }

    // Happenstance.

    /// "After a `raise` or `story`, a 20-sided die is rolled if the house has at least one Story."
    //= T7.26
    fn happen(&mut self, seat: Seat, chance: &mut dyn Chance, events: &mut Vec<ThothEvent>) -> Result<(), Pause> {
        let stories = self.house(seat).map_or(0, House::stories);
        if !self.happenstance || stories == 0 {
            return Ok(());
        }
        let roll = *chance.flip(&Flip::Die(SIDES))?.first().ok_or(Pause)?;
        events.push(ThothEvent::Rolled { seat, roll });
        if usize::try_from(roll).is_ok_and(|roll| roll <= stories) {
            self.demolish(seat);
            events.push(ThothEvent::Demolished { seat, fell: true });
        } else if roll == SIDES {
            let victim = self.clockwise_from(seat).filter(|other| *other != seat).find(|other| self.stands(*other));
            if let Some(victim) = victim {
                self.knock_over(seat, victim);
                events.push(ThothEvent::KnockedOver { by: seat, victim, toppled: false });
            }
        }
        Ok(())
    }

    /// "The cards above own Foundation go to the discard pile, all its pyramids to the bank."
    //= T7.29
    pub(super) fn demolish(&mut self, seat: Seat) {
        let Some(house) = self.houses.get_mut(seat.index()) else {
            return;
        };
        for pyramid in house.pyramids() {
            self.bank.take_back(*pyramid);
        }
        let stories = house.levels.iter().skip(1).map(|level| level.card);
        self.discard.extend(stories);
        house.levels.truncate(1);
        house.levels.iter_mut().for_each(|level| level.pyramids.clear());
    }

    //= T7.29
    pub(super) fn topple(&mut self, seat: Seat, victim: Seat, events: &mut Vec<ThothEvent>) {
        if let Some(total) = self.totals.get_mut(seat.index()) {
            *total = total.saturating_sub(TOPPLE);
        }
        self.knock_over(seat, victim);
        events.push(ThothEvent::KnockedOver { by: seat, victim, toppled: true });
    }

    /// "Knocked over": the victim's house goes, and the victim gets the perpetrator's house.
    //= T7.30
    fn knock_over(&mut self, by: Seat, victim: Seat) {
        self.clear_house(victim);
        let house = self.house_mut(by).map(std::mem::take).unwrap_or_default();
        if let Some(place) = self.house_mut(victim) {
            *place = house;
        }
    }

    /// Discards a house's cards and returns its pyramids to the bank.
    fn clear_house(&mut self, seat: Seat) {
        let Some(house) = self.houses.get_mut(seat.index()).map(std::mem::take) else {
            return;
        };
        for pyramid in house.pyramids() {
            self.bank.take_back(*pyramid);
        }
        self.discard.extend(house.cards());
    }

    // The end of a hand.

    /// "Scoring", then the next hand unless a total has reached the target ▸ or has fallen to −2 × target.
    //= T7.28
    pub(super) fn end_hand(
        &mut self,
        ended_by: Option<Seat>,
        chance: &mut dyn Chance,
        events: &mut Vec<ThothEvent>,
    ) -> Result<(), Pause> {
        let sealed: Vec<Handle> = self.hands.iter().flatten().filter_map(|s| s.handle()).collect();
        let mut opened = chance.open(&sealed)?.into_iter();
        let mut hands: Vec<Vec<Face>> = Vec::with_capacity(self.hands.len());
        for hand in &self.hands {
            let faces = hand.iter().filter_map(|slot| match slot {
                Slot::Open(face) => Some(*face),
                Slot::Sealed(_) => opened.next(),
            });
            hands.push(faces.collect());
        }
        let scores: Vec<i64> = self
            .houses
            .iter()
            .zip(&hands)
            .map(|(house, hand)| house.score() + cards::hand_score(hand.iter().copied()))
            .collect();
        for (total, score) in self.totals.iter_mut().zip(&scores) {
            *total = total.saturating_add(*score);
        }
        events.push(ThothEvent::Scored { ended_by, scores: scores.clone(), totals: self.totals.clone() });
        // ▸ Tied for best: the seat that comes first in the hand's order of play.
        let score = |seat: Seat| scores.get(seat.index()).copied();
        let mut order = self.clockwise_from(self.starter);
        let best = order.clone().filter_map(score).max();
        let dealer = order.find(|seat| score(*seat) == best);
        self.last_hand = Some(LastHand { ended_by, hands, houses: self.houses.clone(), scores });
        self.extra_turns = 0;
        let floor = self.target.saturating_mul(-2);
        if self.totals.iter().any(|total| *total >= self.target || *total <= floor) {
            self.end(events);
            return Ok(());
        }
        self.dealer = dealer.unwrap_or(self.dealer);
        chance.next_deal()?;
        self.deal_hand(chance, events)
    }

    pub(super) fn end(&mut self, events: &mut Vec<ThothEvent>) {
        self.over = true;
        self.extra_turns = 0;
        events.push(ThothEvent::Over { winners: fairdeal_protocol::game::Game::winners(self) });
    }

    /// "Forfeit": the hand and the current bid are set aside, and the house is cleared.
    pub(super) fn leave(&mut self, seat: Seat) {
        self.forfeited.insert(seat);
        if let Some(hand) = self.hands.get_mut(seat.index()) {
            self.aside.append(hand);
        }
        let bid = self.bids.get_mut(seat.index()).and_then(Option::take);
        self.aside.extend(bid.map(Slot::Sealed));
        self.clear_house(seat);
    }
}
