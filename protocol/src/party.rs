//! Parties: which seats run in one program, and whether a person or a bot plays each.
//!
//! A charter declares both for every seat. These are declarations, not proofs: two programs of one owner can declare
//! themselves as two parties. Consent, removal, abandonment and escrow work by party; entries work by seat.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::seat::{MAX_SEATS, Seat, SeatSet};
use crate::wire::bounded::Text;

/// Maximum length of a bot's level, in bytes.
pub const MAX_LEVEL: usize = 16;

const TOO_LONG: &str = "a bot's level is a word of 16 letters at most";

/// A party, identified by its lowest seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Party(Seat);

impl Party {
    /// The party with this lowest seat.
    pub fn of(lowest: Seat) -> Self {
        Self(lowest)
    }

    /// The party's lowest seat.
    pub fn lowest(self) -> Seat {
        self.0
    }
}

/// A bot's strength, named by its program: 1 to [`MAX_LEVEL`] lower-case ASCII letters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "Text<MAX_LEVEL>", into = "Text<MAX_LEVEL>")]
pub struct BotLevel(Text<MAX_LEVEL>);

impl BotLevel {
    /// The level's name.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl TryFrom<Text<MAX_LEVEL>> for BotLevel {
    type Error = &'static str;

    fn try_from(word: Text<MAX_LEVEL>) -> Result<Self, Self::Error> {
        let letters = word.as_str().bytes().all(|byte| byte.is_ascii_lowercase());
        if word.as_str().is_empty() || !letters {
            return Err("a bot's level is a word in lower-case letters");
        }
        Ok(Self(word))
    }
}

impl From<BotLevel> for Text<MAX_LEVEL> {
    fn from(level: BotLevel) -> Self {
        level.0
    }
}

/// Whether a person or a bot plays a seat, as its program declares.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PlayedBy {
    /// A human.
    Person,
    /// A bot with its level.
    Bot(BotLevel),
}

impl PlayedBy {
    /// A bot of this level: 1 to [`MAX_LEVEL`] lower-case ASCII letters.
    ///
    /// # Errors
    /// The reason in words.
    pub fn bot(level: &str) -> Result<Self, &'static str> {
        let text = Text::try_from(level.to_owned()).map_err(|_| TOO_LONG)?;
        BotLevel::try_from(text).map(Self::Bot)
    }
}

impl fmt::Display for PlayedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Person => f.write_str("person"),
            Self::Bot(level) => write!(f, "bot ({})", level.as_str()),
        }
    }
}

/// The parties of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parties {
    /// For each seat, all seats of its party; empty if the table has no such seat.
    of: [SeatSet; MAX_SEATS],
    persons: SeatSet,
}

impl Parties {
    /// Reads the seats' declarations, in seat order.
    ///
    /// # Errors
    /// The first seat whose party is not named by its lowest seat.
    pub fn new<'a>(declared: impl Iterator<Item = (Party, &'a PlayedBy)>) -> Result<Self, Seat> {
        let seated: Vec<_> = Seat::first(MAX_SEATS).zip(declared).collect();
        let mut of = [SeatSet::EMPTY; MAX_SEATS];
        for ((seat, (party, _)), seats) in seated.iter().zip(&mut of) {
            let same = seated.iter().filter(|(_, (other, _))| other == party);
            *seats = same.map(|(seat, _)| *seat).collect();
            if seats.iter().next() != Some(party.lowest()) {
                return Err(*seat);
            }
        }
        let persons = seated.iter().filter(|(_, (_, by))| **by == PlayedBy::Person).map(|(seat, _)| *seat).collect();
        Ok(Self { of, persons })
    }

    /// A table where every seat is a person and a party of its own.
    pub fn singles(seats: usize) -> Self {
        let mut of = [SeatSet::EMPTY; MAX_SEATS];
        for (seat, own) in Seat::first(seats).zip(&mut of) {
            *own = SeatSet::one(seat);
        }
        Self { of, persons: SeatSet::all(seats) }
    }

    /// The party of a seat; `None` if the table has no such seat.
    pub fn party_of(&self, seat: Seat) -> Option<Party> {
        let seats = self.of.get(seat.index())?;
        seats.iter().next().map(Party)
    }

    /// The seats of a party.
    pub fn seats_of(&self, party: Party) -> SeatSet {
        let seats = self.of.get(party.lowest().index());
        let named = seats.filter(|_| self.party_of(party.lowest()) == Some(party));
        named.copied().unwrap_or_default()
    }

    /// The parties with a live seat, ordered by lowest seat.
    pub fn among(&self, live: SeatSet) -> impl DoubleEndedIterator<Item = Party> + Clone {
        Seat::first(MAX_SEATS).map(Party).filter(move |party| self.live_seats(live, *party).next().is_some())
    }

    /// Number of parties with a live seat.
    pub fn count(&self, live: SeatSet) -> usize {
        self.among(live).count()
    }

    /// Whether the set contains only live seats and splits no party: it has all live seats of each of its parties.
    //= T5.38, P5.33
    pub fn closed(&self, live: SeatSet, set: SeatSet) -> bool {
        set.iter().all(|seat| live.contains(seat)) && self.among(set).all(|party| self.whole(live, set, party))
    }

    /// Whether more than half of the parties of `live` have all their live seats in `signers`.
    //= T5.36, P5.33
    pub fn is_majority(&self, live: SeatSet, signers: SeatSet) -> bool {
        let whole = self.among(live).filter(|party| self.whole(live, signers, *party));
        whole.count() * 2 > self.count(live)
    }

    /// Whether the charter declares that a person plays the seat.
    pub fn is_person(&self, seat: Seat) -> bool {
        self.persons.contains(seat)
    }

    fn live_seats(&self, live: SeatSet, party: Party) -> impl Iterator<Item = Seat> + use<> {
        let seats = self.seats_of(party);
        seats.iter().filter(move |seat| live.contains(*seat))
    }

    //= P5.32
    fn whole(&self, live: SeatSet, set: SeatSet, party: Party) -> bool {
        let mut seats = self.live_seats(live, party);
        seats.all(|seat| set.contains(seat))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seat(number: usize) -> Seat {
        Seat::new(number).unwrap()
    }

    fn seats(numbers: &[usize]) -> SeatSet {
        numbers.iter().map(|number| seat(*number)).collect()
    }

    fn bot() -> PlayedBy {
        PlayedBy::bot("normal").unwrap()
    }

    /// Parties, given the lowest seat of each seat's party. The lowest seats are persons, the others bots.
    fn parties(lowest: &[usize]) -> Result<Parties, Seat> {
        let played_by = [PlayedBy::Person, bot()];
        let declared = lowest.iter().enumerate().map(|(number, lowest)| {
            let by = usize::from(number != *lowest);
            (Party::of(seat(*lowest)), &played_by[by])
        });
        Parties::new(declared)
    }

    #[test]
    fn a_party_is_named_by_its_lowest_seat() {
        let host = parties(&[0, 1, 0, 3, 0]).unwrap();
        assert_eq!(host.party_of(seat(2)), Some(Party::of(seat(0))));
        assert_eq!(host.party_of(seat(5)), None);
        assert_eq!(host.seats_of(Party::of(seat(0))), seats(&[0, 2, 4]));
        // Neither seat 2 nor a seat outside the table names a party.
        assert_eq!(host.seats_of(Party::of(seat(2))), SeatSet::EMPTY);
        assert_eq!(host.seats_of(Party::of(seat(5))), SeatSet::EMPTY);
        assert!(host.is_person(seat(3)) && !host.is_person(seat(4)) && !host.is_person(seat(5)));
        // A higher seat, a seat of another party, a seat outside the table.
        assert_eq!(parties(&[0, 2, 2]), Err(seat(1)));
        assert_eq!(parties(&[0, 0, 1]), Err(seat(2)));
        assert_eq!(parties(&[0, 5]), Err(seat(1)));
    }

    #[test]
    fn parties_are_counted_by_their_live_seats() {
        let host = parties(&[0, 0, 2, 3]).unwrap();
        assert_eq!(host.count(SeatSet::all(4)), 3);
        // Seat 1 stays after the seat that names its party has departed.
        assert_eq!(host.count(seats(&[1, 3])), 2);
        let among: Vec<Party> = host.among(seats(&[1, 3])).collect();
        assert_eq!(among, [0, 3].map(|number| Party::of(seat(number))));
        assert_eq!(host.count(SeatSet::EMPTY), 0);
        assert_eq!(Parties::singles(4).count(SeatSet::all(6)), 4);
    }

    #[test]
    fn a_closed_set_splits_no_party() {
        let host = parties(&[0, 0, 2, 3]).unwrap();
        let live = SeatSet::all(4);
        assert!(host.closed(live, seats(&[0, 1])) && host.closed(live, seats(&[0, 1, 3])));
        assert!(host.closed(live, SeatSet::EMPTY));
        assert!(!host.closed(live, seats(&[0])) && !host.closed(live, seats(&[1, 2])));
        // Seat 1 has left, so seat 0 is the rest of its party.
        let left = live.without(seat(1));
        assert!(host.closed(left, seats(&[0])));
        assert!(!host.closed(left, seats(&[0, 1])));
        assert!(!host.closed(live, seats(&[2, 5])));
    }

    #[test]
    fn a_majority_counts_parties_and_not_seats() {
        // A host with two bots, and one guest: two parties.
        let two = parties(&[0, 0, 0, 3]).unwrap();
        let live = SeatSet::all(4);
        assert!(!two.is_majority(live, seats(&[0, 1, 2])));
        assert!(two.is_majority(live, live));
        let three = parties(&[0, 0, 2, 3]).unwrap();
        assert!(three.is_majority(live, seats(&[2, 3])));
        assert!(three.is_majority(live, seats(&[0, 1, 3])));
        // A party counts only if all its live seats sign.
        assert!(!three.is_majority(live, seats(&[0, 3])));
        assert!(three.is_majority(live.without(seat(1)), seats(&[0, 3])));
        let four = Parties::singles(4);
        assert!(!four.is_majority(live, seats(&[0, 1])));
        assert!(four.is_majority(live, seats(&[0, 1, 2])));
        assert!(!four.is_majority(SeatSet::EMPTY, live));
    }

    #[test]
    fn a_level_is_one_short_word() {
        use crate::wire::codec::{decode, encode};
        for (word, good) in [("normal", true), ("", false), ("Sharp", false), ("a b", false)] {
            let read = decode::<BotLevel>(&encode(word), 100);
            assert_eq!(read.is_ok(), good, "{word}");
        }
        assert!(decode::<BotLevel>(&encode("abcdefghijklmnopq"), 100).is_err());
        assert_eq!(bot().to_string(), "bot (normal)");
    }
}
