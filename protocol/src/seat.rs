//! Seats and sets of seats.
//!
//! A table has at most [`MAX_SEATS`] seats, numbered clockwise from 0. A set of seats therefore fits in one byte, and
//! iterates in seat order.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Maximum number of seats of any game.
pub const MAX_SEATS: usize = 6;

/// A seat of the table, numbered clockwise from 0; always below [`MAX_SEATS`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct Seat(u8);

impl Seat {
    /// Seat 0: there is one at every table.
    pub const FIRST: Self = Self(0);

    /// The seat with this number, or `None` if it is out of range.
    pub fn new(number: usize) -> Option<Self> {
        u8::try_from(number).ok().filter(|n| usize::from(*n) < MAX_SEATS).map(Self)
    }

    /// The first `count` seats (at most [`MAX_SEATS`]), in order.
    pub fn first(count: usize) -> impl DoubleEndedIterator<Item = Self> + Clone {
        (0..count.min(MAX_SEATS)).filter_map(Self::new)
    }

    /// The seat number, as an index.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// The seat number as one byte; hashes absorb this.
    pub fn number(self) -> u8 {
        self.0
    }
}

impl TryFrom<u8> for Seat {
    type Error = &'static str;

    fn try_from(number: u8) -> Result<Self, Self::Error> {
        Self::new(usize::from(number)).ok_or("seat number out of range")
    }
}

impl From<Seat> for u8 {
    fn from(seat: Seat) -> Self {
        seat.0
    }
}

impl fmt::Display for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seat {}", self.0)
    }
}

impl fmt::Debug for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A set of seats; iterates in seat order.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct SeatSet(u8);

impl TryFrom<u8> for SeatSet {
    type Error = &'static str;

    fn try_from(bits: u8) -> Result<Self, Self::Error> {
        if bits >> MAX_SEATS == 0 { Ok(Self(bits)) } else { Err("seats that no table has") }
    }
}

impl From<SeatSet> for u8 {
    fn from(set: SeatSet) -> Self {
        set.0
    }
}

impl SeatSet {
    /// The empty set.
    pub const EMPTY: Self = Self(0);

    /// The first `count` seats.
    pub fn all(count: usize) -> Self {
        Self((0..count.min(MAX_SEATS)).fold(0, |bits, _| bits << 1 | 1))
    }

    /// The set of one seat.
    pub fn one(seat: Seat) -> Self {
        Self(1 << seat.0)
    }

    /// Whether the set contains the seat.
    pub fn contains(self, seat: Seat) -> bool {
        self.0 & (1 << seat.0) != 0
    }

    /// Adds a seat.
    pub fn insert(&mut self, seat: Seat) {
        self.0 |= 1 << seat.0;
    }

    /// Removes a seat.
    pub fn remove(&mut self, seat: Seat) {
        self.0 &= !(1 << seat.0);
    }

    /// The set without this seat.
    #[must_use]
    pub fn without(mut self, seat: Seat) -> Self {
        self.remove(seat);
        self
    }

    /// The set difference.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Number of seats in the set.
    pub fn len(self) -> usize {
        // At most eight bits are set.
        usize::try_from(self.0.count_ones()).unwrap_or(0)
    }

    /// Whether the set is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The seats in order.
    pub fn iter(self) -> impl DoubleEndedIterator<Item = Seat> + Clone {
        Seat::first(MAX_SEATS).filter(move |seat| self.contains(*seat))
    }

    /// The next seat of the set clockwise after `seat`; `seat` itself comes last.
    pub fn after(self, seat: Seat) -> Option<Seat> {
        (1..=MAX_SEATS)
            .filter_map(|distance| Seat::new((seat.index() + distance) % MAX_SEATS))
            .find(|candidate| self.contains(*candidate))
    }
}

impl Extend<Seat> for SeatSet {
    fn extend<I: IntoIterator<Item = Seat>>(&mut self, seats: I) {
        seats.into_iter().for_each(|seat| self.insert(seat));
    }
}

impl FromIterator<Seat> for SeatSet {
    fn from_iter<I: IntoIterator<Item = Seat>>(seats: I) -> Self {
        let mut set = Self::EMPTY;
        seats.into_iter().for_each(|seat| set.insert(seat));
        set
    }
}

impl fmt::Display for SeatSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, seat) in self.iter().enumerate() {
            let comma = if number == 0 { "" } else { ", " };
            write!(f, "{comma}{seat}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for SeatSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(Seat::index)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seat(number: usize) -> Seat {
        Seat::new(number).unwrap()
    }

    #[test]
    fn a_set_lists_in_order_and_goes_round() {
        let set: SeatSet = [seat(3), seat(1)].into_iter().collect();
        assert_eq!(set.iter().map(Seat::index).collect::<Vec<_>>(), [1, 3]);
        assert_eq!(set.after(seat(1)), Some(seat(3)));
        assert_eq!(set.after(seat(3)), Some(seat(1)));
        assert_eq!(SeatSet::one(seat(2)).after(seat(2)), Some(seat(2)));
        assert_eq!(SeatSet::EMPTY.after(seat(2)), None);
    }

    #[test]
    fn no_seat_beyond_the_largest_table() {
        assert_eq!(Seat::new(MAX_SEATS), None);
        assert!(Seat::try_from(255).is_err());
    }

    #[test]
    fn a_set_has_one_encoding() {
        use crate::wire::codec::{decode, encode};
        for seats in 0..=MAX_SEATS {
            let set = SeatSet::all(seats);
            assert_eq!(decode::<SeatSet>(&encode(&set), 1), Ok(set));
        }
        for bits in [64, 128, 255] {
            assert!(decode::<SeatSet>(&[bits], 1).is_err(), "{bits}");
        }
    }
}
