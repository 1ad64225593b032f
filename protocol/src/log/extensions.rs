//! Extensions of time: what players give each other beyond the table's times, and the holidays that they declare.
//!
//! A seat's statement says all that it has given and declared in the game. A later one contains the one before, so only
//! the last of each seat counts, and it does no harm if statements are lost, late or repeated. Nothing of the log rests on
//! them: they move the moment from which the others may continue without a seat, which is the word of those who wait
//! ([`crate::table::clocks`]). Transcripts hold them, so that everybody can read what was agreed.
//!
//! Days are those of UTC, counted from 1970-01-01. That a holiday was declared before it began is its seat's word. Each may
//! have as many days as the charter allows ([`Timing::holidays`](crate::timing::Timing::holidays)), and whoever lies about
//! the day of the declaration has no more of them.

use serde::{Deserialize, Serialize};

use crate::charter::{Charter, SignatureBytes, SignedCharter};
use crate::domain;
use crate::hash::{Hash32, Hasher};
use crate::seat::{MAX_SEATS, Seat};
use crate::timing::Timing;
use crate::wire::bounded::Bounded;
use crate::wire::codec::encode;

/// The most seconds that a seat can give another in a game: four weeks.
pub const MAX_GIVEN: u32 = 2_419_200;
/// The most holidays of a seat in a game.
pub const MAX_HOLIDAYS: usize = 16;
/// The most statements of a seat in a game; bounds what it can make others keep.
pub const MAX_VERSION: u8 = 64;

/// All that a seat has given another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Given {
    /// The other seat.
    pub to: Seat,
    /// In seconds.
    pub seconds: u32,
}

/// Days for which the clocks of a seat stand still. Days are counted from 1970-01-01, UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holiday {
    /// The day of the declaration, by the clock of the seat.
    pub declared: u32,
    /// The first day.
    pub first: u32,
    /// How many days.
    pub days: u16,
}

impl Holiday {
    /// The day after the last one.
    pub fn end(&self) -> u32 {
        self.first.saturating_add(u32::from(self.days))
    }
}

/// All the extensions that a seat has stated in a game.
//= T3.14
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extensions {
    /// The table id.
    pub table: Hash32,
    /// The signer.
    pub seat: Seat,
    /// Which statement of the seat this is, from 1.
    pub version: u8,
    /// Everything that it has given others, by seat.
    pub given: Bounded<Given, MAX_SEATS>,
    /// Its holidays, by day.
    pub holidays: Bounded<Holiday, MAX_HOLIDAYS>,
}

/// One more extension of a seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Extension {
    /// More time for another seat.
    Give {
        /// The other seat.
        to: Seat,
        /// In seconds.
        seconds: u32,
    },
    /// A holiday of its own.
    Holiday {
        /// The first day, counted from 1970-01-01, UTC.
        first: u32,
        /// How many days.
        days: u16,
    },
}

/// Why a seat cannot state an extension, or a statement is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExtensionError {
    /// No seat of this table signed it.
    #[error("no seat of this table signed the extension of time")]
    Signature,
    /// It adds nothing.
    #[error("say how much time you give, or how many days of holiday you take")]
    Nothing,
    /// A bot signed it, or it gives time to a bot or to the signer's own program.
    #[error("only a person can give time, and only to a person who plays in another program")]
    NotForThem,
    /// More time than a seat can give another.
    #[error("nobody can give another player more than 28 days in a game")]
    TooMuch,
    /// More days than the charter allows, or more holidays than a statement holds.
    #[error("this table allows each player {allowed} days of holiday in a game, in at most {MAX_HOLIDAYS} parts")]
    TooManyDays {
        /// The days that the charter allows.
        allowed: u32,
    },
    /// The charter allows no holidays.
    #[error("this table has no holidays: its options allow none")]
    NoHolidays,
    /// A holiday begins on the day of its declaration, or before.
    #[error("a holiday has to be declared before the day on which it begins (UTC)")]
    Begun,
    /// Two holidays overlap.
    #[error("some of these days are in a holiday that you have already declared")]
    Overlap,
    /// Too many statements.
    #[error("you have given time or declared holidays {MAX_VERSION} times in this game, and that is the limit")]
    TooOften,
}

impl Extensions {
    /// The statement of a seat that has stated nothing yet; it is not valid before something is added.
    fn none(table: Hash32, seat: Seat) -> Self {
        Self { table, seat, version: 0, given: Bounded::default(), holidays: Bounded::default() }
    }

    /// The statement that follows `before`, the last one of that seat, if it has any. `today` is the day by its clock.
    ///
    /// # Errors
    /// [`ExtensionError`].
    pub fn with(
        before: Option<&Self>,
        (charter, seat): (&Charter, Seat),
        more: Extension,
        today: u32,
    ) -> Result<Self, ExtensionError> {
        let mut next = before.cloned().unwrap_or_else(|| Self::none(charter.table(), seat));
        next.version = next.version.saturating_add(1);
        match more {
            Extension::Give { to, seconds } => {
                if seconds == 0 {
                    return Err(ExtensionError::Nothing);
                }
                let mut given = next.given.into_inner();
                let at = given.partition_point(|known| known.to < to);
                match given.get_mut(at).filter(|known| known.to == to) {
                    Some(known) => known.seconds = known.seconds.saturating_add(seconds),
                    None => given.insert(at, Given { to, seconds }),
                }
                next.given = Bounded::first(given);
            }
            Extension::Holiday { first, days } => {
                let mut holidays = next.holidays.into_inner();
                let at = holidays.partition_point(|known| known.first < first);
                holidays.insert(at, Holiday { declared: today, first, days });
                let allowed = charter.timing().map_or(0, Timing::holidays);
                next.holidays = holidays.try_into().map_err(|_| ExtensionError::TooManyDays { allowed })?;
            }
        }
        next.check(charter)?;
        Ok(next)
    }

    /// Whether this statement says all that an earlier one of the seat says, and is later.
    pub fn follows(&self, before: &Self) -> bool {
        self.version > before.version && self.contains(before)
    }

    /// Whether this statement says all that another one of the seat says.
    fn contains(&self, other: &Self) -> bool {
        let gives = |known: &Given| self.given_to(known.to) >= known.seconds;
        other.given.iter().all(gives) && other.holidays.iter().all(|holiday| self.holidays.contains(holiday))
    }

    /// The statement that says what this one and another of the seat say, and follows both. `None` if this one is the same
    /// or follows the other, or the charter does not allow it.
    ///
    /// A seat that was restored from an old disk may have signed another statement of a version.
    pub fn joined(&self, other: &Self, charter: &Charter) -> Option<Self> {
        if self == other || self.follows(other) {
            return None;
        }
        let seats = charter.seats();
        let given = seats.iter().map(|to| Given { to, seconds: self.given_to(to).max(other.given_to(to)) });
        let new = other.holidays.iter().filter(|holiday| !self.holidays.contains(holiday));
        let mut holidays: Vec<Holiday> = self.holidays.iter().chain(new).copied().collect();
        holidays.sort_unstable_by_key(|holiday| holiday.first);
        let joined = Self {
            version: self.version.max(other.version).saturating_add(1),
            given: Bounded::first(given.filter(|given| given.seconds > 0)),
            holidays: holidays.try_into().ok()?,
            ..self.clone()
        };
        joined.check(charter).is_ok().then_some(joined)
    }

    /// The time that this seat has given another, in seconds.
    pub fn given_to(&self, to: Seat) -> u32 {
        self.given.iter().find(|given| given.to == to).map_or(0, |given| given.seconds)
    }

    /// Checks everything that follows from the charter and the statement.
    //= T9.10
    fn check(&self, charter: &Charter) -> Result<(), ExtensionError> {
        let parties = charter.parties();
        let is_other = |to: Seat| parties.is_person(to) && parties.party_of(to) != parties.party_of(self.seat);
        if !parties.is_person(self.seat) || !self.given.iter().all(|given| is_other(given.to)) {
            return Err(ExtensionError::NotForThem);
        }
        let in_order = self.given.iter().zip(self.given.iter().skip(1)).all(|(one, next)| one.to < next.to);
        let is_empty = self.given.is_empty() && self.holidays.is_empty();
        if is_empty || !in_order || self.given.iter().any(|given| given.seconds == 0) {
            return Err(ExtensionError::Nothing);
        }
        if self.given.iter().any(|given| given.seconds > MAX_GIVEN) {
            return Err(ExtensionError::TooMuch);
        }
        if !(1..=MAX_VERSION).contains(&self.version) {
            return Err(ExtensionError::TooOften);
        }
        self.check_holidays(charter.timing().map_or(0, Timing::holidays))
    }

    fn check_holidays(&self, allowed: u32) -> Result<(), ExtensionError> {
        if !self.holidays.is_empty() && allowed == 0 {
            return Err(ExtensionError::NoHolidays);
        }
        if self.holidays.iter().any(|holiday| holiday.declared >= holiday.first) {
            return Err(ExtensionError::Begun);
        }
        if self.holidays.iter().any(|holiday| holiday.days == 0) {
            return Err(ExtensionError::Nothing);
        }
        let follow = |(one, next): (&Holiday, &Holiday)| one.end() <= next.first;
        if !self.holidays.iter().zip(self.holidays.iter().skip(1)).all(follow) {
            return Err(ExtensionError::Overlap);
        }
        let days: u32 = self.holidays.iter().map(|holiday| u32::from(holiday.days)).sum();
        if days > allowed {
            return Err(ExtensionError::TooManyDays { allowed });
        }
        Ok(())
    }

    /// The hash of the statement; heads name it by this hash.
    pub fn hash(&self) -> Hash32 {
        Hasher::new(domain::EXTENSIONS_NAME).bytes(&encode(self)).finish()
    }
}

/// A received statement, not yet verified.
//= T3.14
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedExtensions {
    extensions: Extensions,
    signature: SignatureBytes,
}

impl SignedExtensions {
    /// Signs a statement.
    pub fn sign(extensions: Extensions, key: &ed25519_dalek::SigningKey) -> Self {
        let signature = SignatureBytes::sign(key, domain::EXTENSIONS, &encode(&extensions));
        Self { extensions, signature }
    }

    /// Verifies that a person at this table signed it, and that the charter allows what it says.
    ///
    /// # Errors
    /// [`ExtensionError`].
    pub fn verify(&self, charter: &SignedCharter) -> Result<&Extensions, ExtensionError> {
        let said = &self.extensions;
        let ours = said.table == charter.table() && charter.charter().seats().contains(said.seat);
        if !ours || !charter.verifies(said.seat, domain::EXTENSIONS, &encode(said), &self.signature) {
            return Err(ExtensionError::Signature);
        }
        said.check(charter.charter())?;
        Ok(said)
    }

    /// The statement, not yet verified.
    pub fn extensions(&self) -> &Extensions {
        &self.extensions
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::charter::Player;
    use crate::game::{Protocol, RuleSet};
    use crate::party::{Party, PlayedBy};
    use crate::wire::bounded::Text;
    use ed25519_dalek::SigningKey;

    fn seat(index: usize) -> Seat {
        Seat::new(index).unwrap()
    }

    fn key(index: u8) -> SigningKey {
        SigningKey::from_bytes(&[index + 1; 32])
    }

    /// Three people, and a bot in the program of the first one; 10 days of holiday.
    fn charter() -> SignedCharter {
        let timing = Timing::new(None, Some(86_400)).unwrap().with(Some(259_200), Some(10)).unwrap();
        let rules = RuleSet {
            game: "loot".to_owned(),
            version: 1,
            seats: 4,
            strict: false,
            protocol: Protocol::Two,
            timing,
            options: BTreeMap::new(),
        };
        let players = (0..4).map(|index| Player {
            name: Text::try_from(format!("p{index}")).unwrap(),
            key: (&key(index)).into(),
            nonce: [index; 32],
            party: Party::of(seat(if index == 3 { 0 } else { usize::from(index) })),
            played_by: if index == 3 { PlayedBy::bot("gentle").unwrap() } else { PlayedBy::Person },
        });
        let charter = Charter::new([0; 8], &rules, players.collect()).unwrap();
        let signatures = (0..4).map(|index| charter.sign(&key(index))).collect();
        SignedCharter::assemble(charter, signatures).unwrap()
    }

    fn give(to: usize, seconds: u32) -> Extension {
        Extension::Give { to: seat(to), seconds }
    }

    fn holiday(first: u32, days: u16) -> Extension {
        Extension::Holiday { first, days }
    }

    /// The statements of seat 1 after each of these extensions, all made on day 100.
    fn stated(all: &[Extension]) -> Result<Vec<Extensions>, ExtensionError> {
        let charter = charter();
        let mut said: Vec<Extensions> = Vec::new();
        for more in all {
            said.push(Extensions::with(said.last(), (charter.charter(), seat(1)), *more, 100)?);
        }
        Ok(said)
    }

    #[test]
    fn a_later_statement_contains_the_one_before() {
        let said = stated(&[give(2, 60), give(0, 5), holiday(101, 3), give(2, 40), holiday(104, 7)]).unwrap();
        for (index, later) in said.iter().enumerate() {
            for (before, earlier) in said.iter().enumerate() {
                assert_eq!(later.follows(earlier), before < index);
            }
        }
        let last = said.last().unwrap();
        assert_eq!((last.given_to(seat(0)), last.given_to(seat(2)), last.given_to(seat(3))), (5, 100, 0));
        assert_eq!(last.version, 5);
        let signed = SignedExtensions::sign(last.clone(), &key(1));
        assert_eq!(signed.verify(&charter()), Ok(last));
        let less = Extensions { given: Bounded::default(), version: 9, ..last.clone() };
        assert!(!less.follows(last));
        let other =
            Extensions { holidays: Bounded::first(last.holidays.iter().skip(1).copied()), version: 9, ..last.clone() };
        assert!(!other.follows(last));
    }

    #[test]
    fn what_the_charter_does_not_allow_is_refused() {
        use ExtensionError::{Begun, NotForThem, Nothing, Overlap, TooManyDays, TooMuch, TooOften};
        let error = |all: &[Extension]| stated(all).unwrap_err();
        assert_eq!(error(&[give(1, 60)]), NotForThem, "itself");
        assert_eq!(error(&[give(3, 60)]), NotForThem, "a bot");
        assert_eq!(error(&[give(5, 60)]), NotForThem, "nobody");
        assert_eq!(error(&[give(0, 0)]), Nothing);
        assert_eq!(error(&[give(0, MAX_GIVEN), give(0, 1)]), TooMuch);
        assert_eq!(error(&[give(0, 1), give(0, u32::MAX)]), TooMuch);
        assert_eq!(error(&[holiday(100, 1)]), Begun, "today");
        assert_eq!(error(&[holiday(101, 0)]), Nothing);
        assert_eq!(error(&[holiday(101, 5), holiday(105, 5)]), Overlap);
        assert_eq!(error(&[holiday(110, 1), holiday(105, 6)]), Overlap);
        assert!(stated(&[holiday(110, 1), holiday(105, 5)]).is_ok(), "in any order");
        assert_eq!(error(&[holiday(101, 5), holiday(106, 6)]), TooManyDays { allowed: 10 });
        assert_eq!(error(&[holiday(101, u16::MAX)]), TooManyDays { allowed: 10 });
        assert_eq!(error(&[holiday(u32::MAX, 10), holiday(u32::MAX, 1)]), TooManyDays { allowed: 10 });
        assert_eq!(error(&vec![give(0, 1); 65]), TooOften);
        assert!(stated(&vec![give(0, 1); 64]).is_ok());
        let charter = charter();
        let of_bot = Extensions::with(None, (charter.charter(), seat(3)), give(1, 60), 100);
        assert_eq!(of_bot, Err(NotForThem));
    }

    /// From an old disk a seat may state another version that it has stated before: it then says both.
    #[test]
    fn two_statements_of_a_seat_are_joined() {
        let charter = charter();
        let charter = charter.charter();
        let one = stated(&[give(0, 60), holiday(101, 3)]).unwrap().pop().unwrap();
        let other = stated(&[give(0, 5), give(2, 7), holiday(110, 2)]).unwrap().pop().unwrap();
        let joined = one.joined(&other, charter).unwrap();
        assert!(joined.follows(&one) && joined.follows(&other));
        assert_eq!((joined.version, joined.given_to(seat(0)), joined.given_to(seat(2))), (4, 60, 7));
        assert_eq!(joined.holidays.iter().map(|holiday| holiday.first).collect::<Vec<_>>(), [101, 110]);
        assert_eq!(joined.joined(&one, charter), None, "nothing new");
        let (less, more) = (stated(&[give(0, 60)]).unwrap().remove(0), stated(&[give(0, 90)]).unwrap().remove(0));
        let again = more.joined(&less, charter).unwrap();
        assert_eq!((again.version, again.given_to(seat(0))), (2, 90), "others hear only what is later");
        assert_eq!(more.joined(&more, charter), None, "it is the same");
        let overlaps = stated(&[holiday(103, 2)]).unwrap().pop().unwrap();
        assert_eq!(one.joined(&overlaps, charter), None, "not allowed");
    }

    /// Statements that no honest program writes are refused, with valid signatures too.
    #[test]
    fn a_signed_statement_is_checked_whole() {
        let charter = charter();
        let good = stated(&[give(0, 60), give(2, 60), holiday(101, 3)]).unwrap().pop().unwrap();
        let verify =
            |said: &Extensions, by| SignedExtensions::sign(said.clone(), &key(by)).verify(&charter).map(|_| ());
        assert!(verify(&good, 1).is_ok());
        assert_eq!(verify(&good, 2), Err(ExtensionError::Signature));
        let swapped = Bounded::first(good.given.iter().rev().copied());
        let twice = Bounded::first([good.given[0], good.given[0]]);
        let bad = [
            Extensions { table: Hash32::default(), ..good.clone() },
            Extensions { seat: seat(5), ..good.clone() },
            Extensions { version: 0, ..good.clone() },
            Extensions { version: 65, ..good.clone() },
            Extensions { given: swapped, ..good.clone() },
            Extensions { given: twice, ..good.clone() },
            Extensions { given: Bounded::default(), holidays: Bounded::default(), ..good.clone() },
            Extensions { holidays: Bounded::one(Holiday { declared: 101, first: 101, days: 1 }), ..good },
        ];
        for said in bad {
            assert!(verify(&said, 1).is_err(), "{said:?}");
        }
    }
}
