//! Houses, and the bank of pyramids.

use fairdeal_protocol::card::Face;
use serde::{Deserialize, Serialize};

use super::cards::{self, Element, Elements};
use crate::pyramid::Size;

/// Number of pyramids that a level holds.
pub const CORNERS: usize = 4;
/// The maximum number of Trouble cards against a house.
pub const MOST_TROUBLE: usize = 2;
/// Number of pyramids of each element and size.
const EACH: u8 = 5;

/// A pyramid of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pyramid {
    pub element: Element,
    pub size: Size,
}

impl Pyramid {
    /// The name as the referee writes it.
    pub fn name(self) -> String {
        format!("{}-{}", self.element.name(), self.size.name())
    }
}

/// The pyramids that are in no house.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bank([[u8; 3]; 5]);

impl Default for Bank {
    fn default() -> Self {
        Self([[EACH; 3]; 5])
    }
}

impl Bank {
    /// Number of pyramids of that element and size.
    pub fn count(&self, element: Element, size: Size) -> u8 {
        let sizes = self.0.get(element.index());
        sizes.and_then(|sizes| sizes.get(size.index())).copied().unwrap_or(0)
    }

    fn slot(&mut self, pyramid: Pyramid) -> Option<&mut u8> {
        self.0.get_mut(pyramid.element.index())?.get_mut(pyramid.size.index())
    }

    /// Removes a pyramid.
    pub(super) fn give(&mut self, pyramid: Pyramid) {
        if let Some(count) = self.slot(pyramid) {
            *count = count.saturating_sub(1);
        }
    }

    pub(super) fn take_back(&mut self, pyramid: Pyramid) {
        if let Some(count) = self.slot(pyramid) {
            *count = count.saturating_add(1);
        }
    }
}

/// A Foundation or a Story with its pyramids.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Level {
    pub card: Face,
    /// The pyramids, in the order placed.
    pub pyramids: Vec<Pyramid>,
}

impl Level {
    pub(super) fn new(card: Face) -> Self {
        Self { card, pyramids: Vec::with_capacity(CORNERS) }
    }

    /// Whether all four corners are taken.
    pub fn is_full(&self) -> bool {
        self.pyramids.len() >= CORNERS
    }

    /// The elements of its pyramids.
    pub fn elements(&self) -> Elements {
        self.pyramids.iter().map(|pyramid| pyramid.element).collect()
    }

    /// Whether a pyramid of that size and element may be added, regardless of the bank.
    pub fn takes(&self, pyramid: Pyramid) -> bool {
        let size = self.pyramids.first().map(|first| first.size);
        !self.is_full() && size.is_none_or(|size| size == pyramid.size) && cards::allows(self.card, pyramid.element)
    }

    /// Whether the bank has a pyramid that could be added.
    fn can_grow(&self, bank: &Bank) -> bool {
        Element::ALL.into_iter().any(|element| {
            Size::ALL.into_iter().any(|size| bank.count(element, size) > 0 && self.takes(Pyramid { element, size }))
        })
    }
}

/// A seat's house.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct House {
    /// The Foundation, then the Stories upwards.
    pub levels: Vec<Level>,
    pub roof: Option<Face>,
    /// The Trouble against it, in order.
    pub trouble: Vec<Face>,
}

impl House {
    /// Whether it has a Foundation.
    pub fn stands(&self) -> bool {
        !self.levels.is_empty()
    }

    /// Whether Trouble lies against it.
    pub fn in_trouble(&self) -> bool {
        !self.trouble.is_empty()
    }

    /// The top level, on which the seat builds.
    pub fn top(&self) -> Option<&Level> {
        self.levels.last()
    }

    pub fn stories(&self) -> usize {
        self.levels.len().saturating_sub(1)
    }

    pub fn pyramids(&self) -> impl Iterator<Item = &Pyramid> {
        self.levels.iter().flat_map(|level| &level.pyramids)
    }

    /// "Immune": by the top Story's pyramids, or by its suit while it is bare. ▸ A Foundation gives
    /// no immunity, and a Story with pyramids gives none by its suit.
    pub fn is_immune(&self, element: Element) -> bool {
        match self.top() {
            Some(story) if self.stories() > 0 => {
                if story.pyramids.is_empty() {
                    cards::suit_element(story.card) == Some(element)
                } else {
                    story.elements().contains(element)
                }
            }
            _ => false,
        }
    }

    /// "Calling the end" ▸: the house has a Foundation and free corners on the top level, but the bank has nothing for
    /// them; or the top level is four pyramids of spirit, and every card that fits on those is built
    /// (`spirit_is_built`).
    pub fn is_blocked(&self, bank: &Bank, spirit_is_built: impl Fn() -> bool) -> bool {
        self.top().is_some_and(|top| {
            if top.is_full() {
                top.elements() == Elements::from_iter([Element::Spirit]) && spirit_is_built()
            } else {
                !top.can_grow(bank)
            }
        })
    }

    /// Whether the card would relieve Trouble of this house.
    pub fn is_relieved_by(&self, card: Face) -> bool {
        let relieved = cards::relieves(card);
        relieved.is_some() && self.trouble.iter().any(|trouble| cards::zodiacal(*trouble) == relieved)
    }

    /// "Scoring": pips, Stories, the Roof and its matches.
    pub fn score(&self) -> i64 {
        let pips: i64 = self.pyramids().map(|pyramid| i64::from(pyramid.size.pips())).sum();
        let stories = i64::try_from(self.stories()).unwrap_or(0);
        let roof = self.roof.map_or(0, |roof| {
            let element = cards::roof_element(roof);
            let matching = self.pyramids().filter(|pyramid| Some(pyramid.element) == element);
            5 + i64::try_from(matching.count()).unwrap_or(0)
        });
        pips + stories + roof
    }

    /// All its cards: Foundation, Stories upwards, Roof, Trouble in order.
    pub fn cards(&self) -> impl Iterator<Item = Face> {
        let levels = self.levels.iter().map(|level| level.card);
        levels.chain(self.roof).chain(self.trouble.iter().copied())
    }
}
