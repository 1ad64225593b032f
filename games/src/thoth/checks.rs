//! Which uses of a card the rules allow, and why not.

use fairdeal_protocol::card::{Face, Slot};
use fairdeal_protocol::game::Illegal;
use fairdeal_protocol::seat::Seat;

use super::house::Pyramid;
use super::{House, MOST_TROUBLE, Phase, Thoth, Use, cards, house};
use crate::pyramid::Size;

/// The top level, if it is full.
fn full_level(house: &House) -> Result<&house::Level, Illegal> {
    house.top().filter(|top| top.is_full()).ok_or_else(|| Illegal::rule("the top level needs four pyramids first"))
}

impl Thoth {
    pub(super) fn check_use(&self, seat: Seat, card: Face, as_: Use) -> Result<(), Illegal> {
        let rule = |fits: bool, why: &'static str| fits.then_some(()).ok_or_else(|| Illegal::rule(why));
        let default = House::default();
        let house = self.house(seat).unwrap_or(&default);
        if !matches!(as_, Use::Relieve | Use::Discard) {
            rule(!house.in_trouble(), "in Trouble you can only relieve it or discard")?;
        }
        match as_ {
            Use::Foundation => {
                rule(!house.stands(), "your house has its Foundation")?;
                rule(cards::is_foundation(card), "a Foundation is an Ace, or a planetary or elemental trump")
            }
            Use::Raise { size, count } => self.check_raise(house, card, size, count),
            Use::Story => {
                let top = full_level(house)?;
                rule(
                    cards::fits_as_story(card, top.elements()),
                    "a Story is a planetary trump, or a court card of an element below it",
                )
            }
            Use::Roof => {
                let top = full_level(house)?;
                let fits = cards::roof_element(card).is_some_and(|e| top.elements().contains(e));
                rule(fits, "a Roof is a Ten, a zodiacal trump or judgment of an element below it")
            }
            Use::Trouble { target, replace } => self.check_trouble(seat, card, target, replace),
            Use::Relieve => rule(house.is_relieved_by(card), "that card relieves none of your Trouble"),
            // ▸ A card that would relieve the seat's own Trouble can only be played as relief.
            Use::Discard => {
                rule(!house.is_relieved_by(card), "that card relieves your Trouble, so you cannot discard it")
            }
        }
    }

    pub(super) fn check_raise(&self, house: &House, card: Face, size: Size, count: u8) -> Result<(), Illegal> {
        let (element, value) =
            cards::redeemed(card).ok_or_else(|| Illegal::rule("a court card is worth no pyramids"))?;
        let top = house.top().ok_or_else(|| Illegal::rule("you need a Foundation first"))?;
        if !top.takes(Pyramid { element, size }) {
            return Err(Illegal::rule("the top level takes no pyramid of that element and size"));
        }
        let free = house::CORNERS.saturating_sub(top.pyramids.len());
        if count == 0 || usize::from(count) > free {
            return Err(Illegal::rule("the level has fewer corners free"));
        }
        if u32::from(count) * u32::from(size.pips()) > u32::from(value) {
            return Err(Illegal::rule("the card is not worth that many pips"));
        }
        if count > self.bank.count(element, size) {
            return Err(Illegal::rule("the bank has fewer of them"));
        }
        Ok(())
    }

    pub(super) fn check_trouble(
        &self,
        seat: Seat,
        card: Face,
        target: Seat,
        replace: Option<u8>,
    ) -> Result<(), Illegal> {
        let element = cards::zodiacal(card).ok_or_else(|| Illegal::rule("only a zodiacal trump makes Trouble"))?;
        if target == seat || !self.stands(target) {
            return Err(Illegal::rule("Trouble needs another house with a Foundation"));
        }
        let Some(house) = self.house(target) else {
            return Err(Illegal::rule("there is no such house"));
        };
        if house.is_immune(element) {
            return Err(Illegal::rule("that house is immune against the element"));
        }
        let full = house.trouble.len() >= MOST_TROUBLE;
        let named = replace.map(|place| usize::from(place) < house.trouble.len());
        match (full, named) {
            (true, Some(true)) | (false, None) => Ok(()),
            (true, _) => Err(Illegal::rule("two lie there already: one has to be replaced")),
            (false, Some(_)) => Err(Illegal::rule("there is room: none is replaced")),
        }
    }

    pub(super) fn check_happenstance(&self) -> Result<(), Illegal> {
        if self.happenstance {
            return Ok(());
        }
        Err(Illegal::rule("this table plays without happenstance"))
    }

    pub(super) fn check_held(&self, seat: Seat, slot: Slot) -> Result<(), Illegal> {
        if self.hand_of(seat).contains(&slot) {
            return Ok(());
        }
        Err(Illegal::rule("that card is not in your hand"))
    }

    pub(super) fn check_phase(&self, phase: Phase) -> Result<(), Illegal> {
        if self.phase == phase {
            return Ok(());
        }
        Err(Illegal::rule(match self.phase {
            Phase::Bid => "the table is bidding for the first turn",
            Phase::Pick => "a card has to be picked from the pool",
            Phase::Play => "the auction is over",
        }))
    }
}
