//! The size at which houses are drawn, and their notes in few columns or many.

use fairdeal_games::thoth::cards::{self, Element};
use fairdeal_games::thoth::house::{House, Level};
use unicode_width::UnicodeWidthStr as _;

use super::art::Art;
use super::{hand, names};
use crate::canvas::fit;
use crate::theme::Theme;

/// The size at which houses are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scale {
    pub(super) art: Art,
    /// The form of the cards under their pyramids.
    pub(super) floor: Floor,
    /// Whether levels without pyramids have rows for their corners too.
    corners: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Floor {
    /// In three rows.
    Card,
    /// In one row.
    Plank,
    /// Beside the pyramids.
    Beside,
}

/// All scales, from roomy to dense.
pub(super) const SCALES: [Scale; 7] = [
    Scale::new(Art::Grand, Floor::Card, true),
    Scale::new(Art::Grand, Floor::Plank, true),
    Scale::new(Art::Fair, Floor::Card, true),
    Scale::new(Art::Fair, Floor::Plank, true),
    Scale::new(Art::Plain, Floor::Plank, true),
    Scale::new(Art::Plain, Floor::Plank, false),
    Scale::new(Art::Plain, Floor::Beside, true),
];

impl Scale {
    const fn new(art: Art, floor: Floor, corners: bool) -> Self {
        Self { art, floor, corners }
    }

    pub(super) fn floor_rows(self) -> u16 {
        match self.floor {
            Floor::Card => 3,
            Floor::Plank => 1,
            Floor::Beside => 0,
        }
    }

    pub(super) fn level_rows(self, level: &Level) -> u16 {
        let corners = self.corners || !level.pyramids.is_empty();
        self.floor_rows() + if corners { self.art.rows() } else { 0 }
    }

    pub(super) fn roof_rows(self) -> u16 {
        match (self.art, self.floor) {
            (Art::Grand, _) => 4,
            (Art::Fair, _) => 3,
            (Art::Plain, Floor::Beside) => 1,
            (Art::Plain, _) => 2,
        }
    }

    /// The minimum columns of a house.
    pub(super) fn least(self) -> u16 {
        match self.art {
            Art::Grand => 24,
            Art::Fair => 14,
            Art::Plain => 9,
        }
    }

    /// The columns of a house's walls on a ground of `ground` columns.
    pub(super) fn walls(self, ground: u16) -> u16 {
        let most = match (self.art, self.floor) {
            (Art::Grand, _) => 28,
            (Art::Fair, _) => 19,
            (Art::Plain, Floor::Beside) => return ground.min(20),
            (Art::Plain, _) => 15,
        };
        // Trouble lies across the house and sticks out on both sides, if there is room.
        let inner = ground.saturating_sub(2).min(most);
        inner.max(self.least().min(ground))
    }

    pub(super) fn rows(self, house: &House) -> u16 {
        if !house.stands() {
            return 1;
        }
        let above = if house.roof.is_some() {
            self.roof_rows()
        } else {
            u16::from(!immunity(house).is_empty())
        };
        let levels: u16 = house.levels.iter().map(|level| self.level_rows(level)).sum();
        let trouble = u16::try_from(house.trouble.len()).unwrap_or(u16::MAX);
        levels.saturating_add(above).saturating_add(trouble)
    }
}

/// The elements that a house is immune against.
pub(super) fn immunity(house: &House) -> Vec<Element> {
    Element::ALL
        .into_iter()
        .filter(|element| house.is_immune(*element))
        .collect()
}

/// The needs of a house, from long to short.
pub(super) fn needs(house: &House, theme: &Theme) -> Vec<String> {
    let Some(top) = house.top() else {
        return vec!["needs a Foundation".to_owned(), String::new()];
    };
    if house.roof.is_some() {
        return vec!["under its Roof".to_owned(), "finished".to_owned()];
    }
    if house.in_trouble() {
        let wanted = hand::wanted(house);
        let elements: Vec<Element> = house.trouble.iter().filter_map(|card| cards::zodiacal(*card)).collect();
        return vec![
            format!("in Trouble: relieve with {}", names::listed(&elements, "or")),
            format!("relieve with {}", names::listed(&elements, "or")),
            format!("relieve {wanted}"),
            format!("needs {wanted}"),
        ];
    }
    if top.is_full() {
        return vec![
            "full: Story or Roof next".to_owned(),
            "Story or Roof next".to_owned(),
            "full level".to_owned(),
            "full".to_owned(),
        ];
    }
    let (size, word) = top
        .pyramids
        .first()
        .map_or(("", ""), |p| (names::sign(theme, p.size), p.size.name()));
    let elements: Vec<Element> = Element::ALL
        .into_iter()
        .filter(|e| cards::allows(top.card, *e))
        .collect();
    let (long, close, short) = if elements.len() == Element::ALL.len() {
        ("any element".to_owned(), "any".to_owned(), "any".to_owned())
    } else {
        let each: Vec<&str> = elements.iter().map(|element| element.name()).collect();
        (
            names::listed(&elements, "or"),
            each.join("/"),
            names::letters(&elements),
        )
    };
    let gap = if word.is_empty() { "" } else { " " };
    vec![
        format!("takes {word}{gap}{long}"),
        format!("takes {size}{gap}{close}"),
        format!("takes {size}{gap}{short}"),
        format!("takes {size}{short}"),
    ]
}

/// The first text that fits. On narrow ground, one column stays free on either side.
pub(super) fn fitting(texts: Vec<String>, width: u16) -> String {
    let width = usize::from(width);
    let room = if width < 12 { width.saturating_sub(2) } else { width };
    let last = texts.last().map(|text| fit(text, width)).unwrap_or_default();
    let fits = texts.into_iter().find(|text| text.width() <= room);
    fits.unwrap_or_else(|| last.trim_end().to_owned())
}
