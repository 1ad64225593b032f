//! The address book: the keys that this player has played with, and what the player says of them.
//!
//! Nobody vouches for a name; a key proves itself in every handshake. The book therefore remembers keys, as SSH does: a
//! key that was there before is known, and a new key under a known name is a warning. Names are compared as at a table
//! (`text::looks`): case, blanks and lookalike letters make no difference. Other spellings do ("Ada" and "Adda"), and
//! nothing here catches those.

mod mark;
mod words;

pub use mark::{Known, Mark, MarkKind, SeatPerson};
pub use words::{games_in_words, readable, words_of};

use std::cmp::Reverse;

use fairdeal_games::calendar::day_number;
use fairdeal_peers::PeerId;
use fairdeal_peers::peer::PeerIdError;
use serde::{Deserialize, Deserializer, Serialize};

use crate::text::{clean, looks};

/// The most people in the book.
pub const MAX_PEOPLE: usize = 1000;
/// The longest name of the player's own choosing, in characters.
pub const MAX_OWN_NAME: usize = 32;
/// The announced names that are kept of each key.
const MAX_ANNOUNCED: usize = 3;
/// The least number of characters of a key that name it.
const LEAST: usize = 4;

/// A key in the book. A newer version may add more; see [`Person::KEYS`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Person<K = PeerId> {
    pub key: K,
    /// The player's own name for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The names that it announced, the last one first.
    #[serde(default)]
    pub announced: Vec<String>,
    /// Whether it declared a bot at the last table.
    #[serde(default)]
    pub bot: bool,
    /// Games begun together.
    #[serde(default)]
    pub games: u32,
    /// The days of the first game and of the last one, in UTC (`2026-01-31`); `None` without a game.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<String>,
    #[serde(default)]
    pub favourite: bool,
    #[serde(default)]
    pub blocked: bool,
}

/// The address book, as its file holds it: those met last come first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Book {
    /// The version of the file.
    pub version: Version,
    #[serde(default, rename = "person", deserialize_with = "provable")]
    people: Vec<Person>,
}

/// The version of the book's file: always 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "u8", try_from = "u8")]
pub struct Version;

impl From<Version> for u8 {
    fn from(_: Version) -> Self {
        1
    }
}

impl TryFrom<u8> for Version {
    type Error = &'static str;

    fn try_from(version: u8) -> Result<Self, Self::Error> {
        (version == 1).then_some(Self).ok_or("only version 1 is known; a newer fairdeal wrote this file")
    }
}

/// The key of an entry. `None` if it is not on the curve: a typed key may be wrong, and nobody can prove it then.
#[derive(Deserialize)]
#[serde(try_from = "String")]
struct Named(Option<PeerId>);

impl TryFrom<String> for Named {
    type Error = PeerIdError;

    fn try_from(text: String) -> Result<Self, PeerIdError> {
        match text.parse() {
            Ok(key) => Ok(Self(Some(key))),
            Err(PeerIdError::NotAKey) => Ok(Self(None)),
            Err(error) => Err(error),
        }
    }
}

/// The entries whose key somebody may prove.
fn provable<'de, D: Deserializer<'de>>(entries: D) -> Result<Vec<Person>, D::Error> {
    let entries = Vec::<Person<Named>>::deserialize(entries)?;
    let provable = entries.into_iter().filter_map(|entry| {
        let Person { key, name, announced, bot, games, first, last, favourite, blocked } = entry;
        Some(Person { key: key.0?, name, announced, bot, games, first, last, favourite, blocked })
    });
    Ok(provable.collect())
}

/// A change that the player makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A name of the player's own choosing; an empty one removes it.
    Name(String),
    Favourite(bool),
    Blocked(bool),
    /// Remove the entry, with all that it says.
    Forget,
}

/// Why a change is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChangeError {
    #[error("{0} is in use for another key, or looks like a name that is; choose another name, or forget that key")]
    Taken(String),
    #[error("a name has at most {MAX_OWN_NAME} characters")]
    Long,
    #[error("the book is full: {MAX_PEOPLE} people have a name or a mark; forget one of them first")]
    Full,
    #[error("this key is blocked; unblock it first")]
    Blocked,
    #[error("this key is not in the book")]
    Unknown,
}

/// Why a text names nobody.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FindError {
    /// It is a peer id of a key that nobody can have.
    #[error("{0}, so one of its letters is mistyped; copy it again")]
    Key(PeerIdError),
    #[error(
        "nobody in the book has the name or key {0:?}; `fairdeal people` lists them. A name that somebody announces does \
         not count: give the key, or at least {LEAST} characters of its start or end"
    )]
    Nobody(String),
    #[error("{given:?} matches {}; type more of it", .matches.join(", "))]
    Several { given: String, matches: Vec<String> },
}

impl Person {
    /// The keys of an entry in the file.
    pub const KEYS: [&'static str; 9] =
        ["key", "name", "announced", "bot", "games", "first", "last", "favourite", "blocked"];

    fn new(key: PeerId) -> Self {
        Self {
            key,
            name: None,
            announced: Vec::new(),
            bot: false,
            games: 0,
            first: None,
            last: None,
            favourite: false,
            blocked: false,
        }
    }

    /// The player's own name for it, or else the last name that it announced, or its short key.
    pub fn shown(&self) -> String {
        let name = self.name.as_ref().or(self.announced.first());
        name.cloned().unwrap_or_else(|| self.key.short())
    }

    /// The same for people to read: an announced name stands in quotation marks.
    pub fn readable(&self) -> String {
        let announced = self.announced.first().map(String::as_str);
        readable(self.name.as_deref(), announced).unwrap_or_else(|| self.key.short())
    }

    /// The number of the day of the last meeting, if it is a day.
    fn last_day(&self) -> Option<i32> {
        self.last.as_deref().and_then(day_number)
    }

    /// Whether the player has said nothing of it.
    fn is_plain(&self) -> bool {
        self.name.is_none() && !self.favourite && !self.blocked
    }

    fn announces(&mut self, name: &str) {
        let name = clean(name);
        if name.is_empty() {
            return;
        }
        self.announced.retain(|other| *other != name);
        self.announced.insert(0, name);
        self.announced.truncate(MAX_ANNOUNCED);
    }

    /// Whether the player's own name for it has this look.
    fn is_named(&self, look: &str) -> bool {
        self.name.as_ref().is_some_and(|name| looks(name) == look)
    }

    /// Whether a name with this look belongs to this key.
    fn goes_by(&self, look: &str) -> bool {
        self.is_named(look) || self.announced.iter().any(|name| looks(name) == look)
    }
}

impl Book {
    /// The keys of the file.
    pub const KEYS: [&'static str; 2] = ["version", "person"];

    /// Brings a book as its file holds it into order. A hand may have edited it: every key once, with the marks of all its
    /// entries, and names as a screen can show them. Entries keep their place in the file and new ones are added at its
    /// end, so the days of the last meetings tell who was met last; within a day, who was added last.
    #[must_use]
    pub fn from_file(self) -> Self {
        let mut book = Self::default();
        for mut person in self.people {
            if let Some(first) = book.people.iter_mut().find(|first| first.key == person.key) {
                first.favourite |= person.favourite;
                first.blocked |= person.blocked;
                continue;
            }
            let shown = |name: &String| Some(clean(name)).filter(|name| !name.is_empty());
            person.name = person.name.as_ref().and_then(shown);
            person.announced = person.announced.iter().filter_map(shown).take(MAX_ANNOUNCED).collect();
            for day in [&mut person.first, &mut person.last] {
                *day = day.as_ref().and_then(shown);
            }
            book.people.push(person);
        }
        book.people.reverse();
        book.people.sort_by_cached_key(|person| Reverse(person.last_day()));
        book
    }

    /// The people, those met last first, and those never met last.
    pub fn people(&self) -> &[Person] {
        &self.people
    }

    /// The people as a list shows them: favourites first, blocked ones last.
    pub fn listed(&self) -> Vec<&Person> {
        let mut all: Vec<&Person> = self.people.iter().collect();
        all.sort_by_key(|person| (person.blocked, !person.favourite));
        all
    }

    pub fn get(&self, key: &PeerId) -> Option<&Person> {
        self.people.iter().find(|person| person.key == *key)
    }

    pub fn is_blocked(&self, key: &PeerId) -> bool {
        self.get(key).is_some_and(|person| person.blocked)
    }

    /// Takes a person out, or makes one, if there is room.
    fn take(&mut self, key: PeerId) -> Option<Person> {
        if let Some(at) = self.people.iter().position(|person| person.key == key) {
            return Some(self.people.remove(at));
        }
        while self.people.len() >= MAX_PEOPLE {
            let at = self.people.iter().rposition(Person::is_plain)?;
            self.people.remove(at);
        }
        Some(Person::new(key))
    }

    /// Notes that a game with a key begins or goes on. Only a new game is counted. In a full book of people that all have
    /// a name or a mark, a stranger gets no entry.
    pub fn met(&mut self, key: PeerId, announced: &str, is_bot: bool, day: &str, is_new: bool) {
        let Some(mut person) = self.take(key) else {
            return;
        };
        person.announces(announced);
        person.bot = is_bot;
        if is_new || person.games == 0 {
            person.games = person.games.saturating_add(1);
        }
        person.first.get_or_insert_with(|| day.to_owned());
        person.last = Some(day.to_owned());
        self.people.insert(0, person);
    }

    /// Changes what the player says of a key, which need not be in the book. `announced` is its name at a table, if it is
    /// at one.
    ///
    /// # Errors
    /// [`ChangeError`]; the book is then as before.
    pub fn change(&mut self, key: PeerId, announced: Option<&str>, change: &Change) -> Result<(), ChangeError> {
        let name = match change {
            Change::Name(name) => clean(name),
            _ => String::new(),
        };
        if name.chars().count() > MAX_OWN_NAME {
            return Err(ChangeError::Long);
        }
        let look = looks(&name);
        let mut others = self.people.iter().filter(|other| other.key != key);
        if !name.is_empty() && others.any(|other| other.is_named(&look)) {
            return Err(ChangeError::Taken(name));
        }
        match (change, self.get(&key)) {
            (Change::Favourite(true), Some(person)) if person.blocked => return Err(ChangeError::Blocked),
            (Change::Forget, None) => return Err(ChangeError::Unknown),
            _ => {}
        }
        let known = self.people.iter().position(|person| person.key == key);
        let mut person = self.take(key).ok_or(ChangeError::Full)?;
        let place = known.unwrap_or_else(|| self.people.partition_point(|person| person.last_day().is_some()));
        match change {
            Change::Name(_) => person.name = Some(name).filter(|name| !name.is_empty()),
            Change::Favourite(is_favourite) => person.favourite = *is_favourite,
            Change::Blocked(is_blocked) => {
                person.blocked = *is_blocked;
                person.favourite &= !is_blocked;
            }
            Change::Forget => return Ok(()),
        }
        if let Some(announced) = announced.filter(|_| person.announced.is_empty()) {
            person.announces(announced);
        }
        if !person.is_plain() || person.games > 0 {
            self.people.insert(place, person);
        }
        Ok(())
    }

    /// The book's word on a key that announces a name.
    pub fn mark(&self, key: &PeerId, announced: &str) -> Mark {
        let own = self.get(key);
        let look = looks(announced);
        let is_its_own = own.is_some_and(|person| person.goes_by(&look));
        let has_own_name = own.is_some_and(|person| person.name.is_some());
        let mut alike: Vec<&Person> = self.people.iter().filter(|other| other.key != *key).collect();
        // A key may announce the name that it has announced before, but not pass for somebody whom the player has named.
        alike.retain(|other| match is_its_own {
            _ if look.is_empty() => false,
            true => !has_own_name && other.is_named(&look),
            false => other.goes_by(&look),
        });
        // A name that the player chose says more than one that somebody announced.
        let imitated = alike.iter().find(|other| other.name.is_some()).or(alike.first());
        Mark {
            known: own.map(|person| Known {
                name: person.shown(),
                is_own_name: person.name.is_some(),
                games: person.games,
                favourite: person.favourite,
                blocked: person.blocked,
            }),
            imitates: imitated.map(|person| person.shown()),
        }
    }

    /// The key that a text names: a whole peer id, the start or the end of one in the book, or the player's own name for
    /// it.
    ///
    /// # Errors
    /// [`FindError`].
    pub fn find(&self, text: &str) -> Result<PeerId, FindError> {
        let text = text.trim();
        match text.parse() {
            Ok(key) => return Ok(key),
            Err(error @ PeerIdError::NotAKey) => return Err(FindError::Key(error)),
            Err(_) => {}
        }
        let look = looks(text);
        if let Some(person) = self.people.iter().find(|person| person.is_named(&look)) {
            return Ok(person.key);
        }
        let part = |person: &&Person| {
            let id = person.key.to_string();
            text.len() >= LEAST && (id.starts_with(text) || id.ends_with(text))
        };
        let matching: Vec<&Person> = self.people.iter().filter(part).collect();
        match matching.as_slice() {
            [one] => Ok(one.key),
            [] => Err(FindError::Nobody(clean(text))),
            several => Err(FindError::Several {
                given: clean(text),
                matches: several
                    .iter()
                    .take(10)
                    .map(|person| format!("{} ({})", person.key.short(), person.shown()))
                    .collect(),
            }),
        }
    }
}

#[cfg(test)]
mod tests;
