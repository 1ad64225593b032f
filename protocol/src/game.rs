//! The interface between a game's rules and a table without a dealer.
//!
//! A [`Game`] is a pure state machine over *public* state: what is hidden is a
//! [`Handle`], never a face. Whatever is random or hidden it asks of a
//! [`Chance`]: a shuffle into a sealed deck, a card dealt to one seat, cards opened to all, a flip
//! of public randomness. At a table the answers come from sealed decks and coins; in a referee
//! from explicit lists or a seed; in a search from a guess.
//!
//! # Pausing and replay
//! A request whose answer is not there yet returns [`Pause`]; the engine hands it up at once. The
//! caller throws the half-done copy away (or shows it), obtains the answer, and calls the same
//! method again on the *unchanged* state: every request answered before is answered alike, and the
//! engine goes further. So an engine is straight-line code and an error changes nothing. All
//! requests made up to a pause (or the end) are one *batch*, answered by the seats together.
//!
//! # Determinism
//! The same state, seat, action and answers give the same state, requests and events, on every
//! machine: integers, ordered collections, no clock, no randomness of its own. [`Game`] states are
//! `Serialize`; the digest that seats compare is a hash of that encoding.

use std::collections::BTreeMap;
use std::fmt::Debug;

use rand_core::Rng;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::card::{DeckId, Face, Faces, Handle, Slot};
use crate::seat::{Seat, SeatSet};
use crate::timing::{Timing, TimingError};

/// Terms of a game: its id, rules version, options and number of seats.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleSet {
    /// The game's id, such as `loot`.
    pub game: String,
    /// The version of its rules; seats play together only if it is the same.
    pub version: u16,
    /// How many seats.
    pub seats: u8,
    /// Every option with its value, none left out.
    pub options: BTreeMap<String, String>,
    /// Whether the table keeps no keys in escrow: a deal that has lost a seat is given up, unscored, where
    /// else the others would rebuild its shares. The rules themselves know nothing of it.
    pub strict: bool,
    /// How long the seats wait for each other. A table for one waits for nobody.
    pub timing: Timing,
}

/// How a charter writes that its table is strict: an option beside those of the game.
pub const STRICT: (&str, &str) = ("strict", "true");

impl RuleSet {
    /// The options as a charter has them, by key.
    pub fn written_options(&self) -> BTreeMap<String, String> {
        let mut options = self.options.clone();
        if self.strict {
            options.insert(STRICT.0.to_owned(), STRICT.1.to_owned());
        }
        if self.seats > 1 {
            let timing = self.timing.written();
            options.extend(timing.map(|(key, text)| (key.to_owned(), text)));
        }
        options
    }
}

/// Why a rule set makes no game.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleSetError {
    /// No such game is known here.
    #[error("there is no game '{0}'")]
    UnknownGame(String),
    /// Another version of the rules.
    #[error(
        "{game} is played here by rules version {ours}, not {theirs}: use the same version of the program"
    )]
    Version {
        /// The game.
        game: String,
        /// Our version of its rules.
        ours: u16,
        /// The version asked for.
        theirs: u16,
    },
    /// Too few or too many seats.
    #[error("{game} is for {least} to {most} seats, not {got}")]
    Seats {
        /// The game.
        game: String,
        /// The fewest it can be played by.
        least: u8,
        /// The most it can be played by.
        most: u8,
        /// The game's id as given.
        got: u8,
    },
    /// An option that the game does not have.
    #[error("{game} has no option '{key}'; it has: {known}")]
    UnknownOption {
        /// The game.
        game: String,
        /// The option.
        key: String,
        /// The options it has, with their values.
        known: String,
    },
    /// A value that the option cannot have, or an option left out.
    #[error("option '{key}' takes {allowed}, not '{got}'")]
    OptionValue {
        /// The option.
        key: String,
        /// Its possible values.
        allowed: String,
        /// The value given (empty if none).
        got: String,
    },
}

impl From<TimingError> for RuleSetError {
    fn from(error: TimingError) -> Self {
        Self::OptionValue {
            key: error.key.to_owned(),
            allowed: error.allowed,
            got: error.got,
        }
    }
}

/// The answer to a request is not there yet: return at once (see the module's head).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause;

/// Why an action is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Illegal {
    /// The seat is not to act, or has left the game, and this is no out-of-turn action it may take.
    #[error("it is not {0}'s turn")]
    NotYourTurn(Seat),
    /// The game is over.
    #[error("the game is over")]
    Over,
    /// The rules forbid it; the text says which and why.
    #[error("{0}")]
    Rule(String),
}

impl Illegal {
    /// A rule that forbids the action.
    pub fn rule(why: impl Into<String>) -> Self {
        Self::Rule(why.into())
    }
}

/// Why [`Game::apply`] did not finish.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApplyError {
    /// The action is refused; nothing has changed.
    Illegal(Illegal),
    /// An answer is missing; the state is half done and only good for showing.
    Pause,
}

impl From<Pause> for ApplyError {
    fn from(_: Pause) -> Self {
        Self::Pause
    }
}

impl From<Illegal> for ApplyError {
    fn from(why: Illegal) -> Self {
        Self::Illegal(why)
    }
}

/// A piece of public randomness: one coin flip, expanded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Flip {
    /// A die: one number from 1 to that many sides (at least 1).
    Die(u32),
    /// Faces to be put in random order, in the open.
    Order(Vec<Face>),
    /// Columns of pieces, each `levels` high, built from `each` pieces of each of `kinds` kinds at
    /// every level.
    ///
    /// The lowest level is shuffled once; every further one again and again from the list of kind 0
    /// × each, kind 1 × each …, until no piece lies on one of its own kind (after
    /// [`MOST_TRIES`] as it is then). A try ends with the first piece of [`shuffle`] that comes to lie
    /// on its own kind, which leaves all outcomes as likely as whole tries would. A column is written
    /// as one number: a leading 1, then its kinds from the bottom as digits to base `kinds`.
    Columns {
        /// How many kinds of pieces there are, at least 1.
        kinds: u8,
        /// How many of each kind a level has.
        each: u8,
        /// How high a column is.
        levels: u8,
    },
}

/// How often a level of [`Flip::Columns`] is shuffled at most.
pub const MOST_TRIES: u32 = 1_000_000;

impl Flip {
    /// Expands a stream of random bits into the values of this flip, without bias: for a die one
    /// value from 1 to its sides; for an order the faces' numbers, first = top.
    pub fn sample(&self, stream: &mut impl Rng) -> Vec<u32> {
        match self {
            Self::Die(sides) => vec![uniform(stream, (*sides).max(1)) + 1],
            Self::Order(faces) => {
                let mut order: Vec<u32> = faces.iter().map(|face| u32::from(face.0)).collect();
                shuffle(stream, &mut order);
                order
            }
            Self::Columns {
                kinds,
                each,
                levels,
            } => columns(stream, *kinds, *each, *levels),
        }
    }

    /// The values before they are put in order; empty for a die.
    pub fn items(&self) -> Vec<u32> {
        match self {
            Self::Die(_) => Vec::new(),
            Self::Order(faces) => faces.iter().map(|face| u32::from(face.0)).collect(),
            Self::Columns {
                kinds,
                each,
                levels,
            } => {
                let kinds = u32::from((*kinds).max(1));
                let column = |kind| {
                    (0..*levels).fold(1, |column: u32, _| {
                        column.saturating_mul(kinds).saturating_add(kind)
                    })
                };
                kind_list(kinds, *each).into_iter().map(column).collect()
            }
        }
    }

    /// Whether a flip could have come out as these values.
    pub fn accepts(&self, values: &[u32]) -> bool {
        match self {
            Self::Die(sides) => matches!(values, [roll] if (1..=(*sides).max(1)).contains(roll)),
            Self::Order(faces) => {
                let mut wanted: Vec<u32> = faces.iter().map(|face| u32::from(face.0)).collect();
                let mut given = values.to_vec();
                wanted.sort_unstable();
                given.sort_unstable();
                wanted == given
            }
            Self::Columns {
                kinds,
                each,
                levels,
            } => {
                let kinds = u32::from((*kinds).max(1));
                let mut level: Vec<u32> = values.to_vec();
                let wanted = kind_list(kinds, *each);
                for _ in 0..*levels {
                    let mut given: Vec<u32> = level.iter().map(|rest| rest % kinds).collect();
                    given.sort_unstable();
                    if given != wanted {
                        return false;
                    }
                    level.iter_mut().for_each(|rest| *rest /= kinds);
                }
                level.iter().all(|rest| *rest == 1)
            }
        }
    }
}

/// Every kind so many times, in order.
fn kind_list(kinds: u32, each: u8) -> Vec<u32> {
    let times = |kind| std::iter::repeat_n(kind, usize::from(each));
    (0..kinds).flat_map(times).collect()
}

/// See [`Flip::Columns`].
fn columns(stream: &mut impl Rng, kinds: u8, each: u8, levels: u8) -> Vec<u32> {
    let kinds = u32::from(kinds.max(1));
    let list = kind_list(kinds, each);
    let mut columns = vec![1_u32; list.len()];
    for height in 0..levels {
        let mut level = list.clone();
        for _ in 0..MOST_TRIES {
            level.copy_from_slice(&list);
            let fits = |place: usize, kind: &u32| {
                height == 0
                    || columns
                        .get(place)
                        .is_some_and(|below| below % kinds != *kind)
            };
            if shuffle_while(stream, &mut level, fits) {
                break;
            }
        }
        for (column, kind) in columns.iter_mut().zip(&level) {
            *column = column.saturating_mul(kinds).saturating_add(*kind);
        }
    }
    columns
}

/// An unbiased number below `bound` (at least 1) from 64-bit words of a stream.
///
/// The high half of word × bound, with the word drawn again while the low half is below
/// 2⁶⁴ mod bound (Lemire 2019). That remainder is below `bound`: most words need no division.
pub fn uniform(stream: &mut (impl Rng + ?Sized), bound: u32) -> u32 {
    let bound = u64::from(bound.max(1));
    loop {
        let product = u128::from(stream.next_u64()) * u128::from(bound);
        let low = u64::try_from(product & u128::from(u64::MAX)).unwrap_or(0);
        if low >= bound || low >= bound.wrapping_neg() % bound {
            // The high half is below `bound`, which is a u32.
            return u32::try_from(product >> 64).unwrap_or(0);
        }
    }
}

/// Fisher–Yates from the last position down, with [`uniform`] samples.
pub fn shuffle<T>(stream: &mut (impl Rng + ?Sized), items: &mut [T]) {
    shuffle_while(stream, items, |_, _| true);
}

/// Shuffles as [`shuffle`] does, until an item does not fit in the place that it has got; says whether
/// all fit.
fn shuffle_while<T>(
    stream: &mut (impl Rng + ?Sized),
    items: &mut [T],
    fits: impl Fn(usize, &T) -> bool,
) -> bool {
    for last in (1..items.len()).rev() {
        let bound = u32::try_from(last + 1).unwrap_or(u32::MAX);
        let other = usize::try_from(uniform(stream, bound)).unwrap_or(0);
        items.swap(last, other);
        if items.get(last).is_some_and(|item| !fits(last, item)) {
            return false;
        }
    }
    items.first().is_none_or(|item| fits(0, item))
}

/// Where an engine's randomness and hidden cards come from.
///
/// Requests are made in the order of the rules page; see the module's head for [`Pause`].
pub trait Chance {
    /// Ends this deal: its seeds are opened and a deal with fresh ones begins. Handles from before
    /// mean nothing afterwards.
    fn next_deal(&mut self) -> Result<(), Pause>;

    /// Shuffles cards whose faces everybody knows into a new sealed deck.
    fn shuffle(&mut self, cards: &[Face]) -> Result<DeckId, Pause>;

    /// Deals a sealed card to one seat: it alone learns the face.
    fn deal(&mut self, card: Handle, to: Seat);

    /// Opens sealed cards to everybody, in the order given.
    fn open(&mut self, cards: &[Handle]) -> Result<Vec<Face>, Pause>;

    /// Flips public randomness; see [`Flip::sample`] for what comes back.
    fn flip(&mut self, flip: &Flip) -> Result<Vec<u32>, Pause>;
}

/// A sealed card that an action shows, and the face it is claimed to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The sealed card; it must lie in the acting seat's hand.
    pub card: Handle,
    /// Its face, as claimed; the table checks it before the action counts.
    pub face: Face,
}

/// A game's rules over public state.
pub trait Game: Clone + Debug + Serialize + Send + Sync + 'static {
    /// A seat's action. An action that plays a sealed card names its handle and, where the face
    /// is shown, the face.
    type Action: Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static;
    /// An event, for a log in words; public knowledge only.
    type Event: Clone + Debug + PartialEq + Serialize + Send + Sync + 'static;

    /// Sets the table up for a rule set, before anything random has happened.
    ///
    /// # Errors
    /// [`RuleSetError`] if it names another game, another version, a number of seats that the game
    /// is not for, or options other than exactly the game's own.
    fn create(rules: &RuleSet) -> Result<Self, RuleSetError>;

    /// The name of the printed deck, which goes into each card's point.
    fn deck_name(&self) -> &'static str;

    /// The name of a card of the printed deck; empty for a number that no card has.
    fn card_name(&self, face: Face) -> String;

    /// Makes the first shuffles, deals and rolls. Called once, before any action.
    fn begin(
        &mut self,
        chance: &mut dyn Chance,
        events: &mut Vec<Self::Event>,
    ) -> Result<(), Pause>;

    /// The seats whose decision the game waits for; empty only when it is over.
    fn to_act(&self) -> SeatSet;

    /// Every legal action of a seat now, in a fixed order, for a holder of `known`. Cards that
    /// `known` does not cover are passed over.
    fn legal(&self, seat: Seat, known: &Faces) -> Vec<Self::Action>;

    /// Whether the action is legal, taking the faces that it claims at their word.
    ///
    /// # Errors
    /// [`Illegal`], with the reason in words.
    fn check(&self, seat: Seat, action: &Self::Action) -> Result<(), Illegal>;

    /// The sealed cards that a legal action shows, each lying in the seat's hand.
    fn shown(&self, seat: Seat, action: &Self::Action) -> Vec<Shown>;

    /// Whether the action may also be taken by a seat that is not to act (fire, vote).
    fn out_of_turn(&self, action: &Self::Action) -> bool;

    /// Checks and carries out an action.
    ///
    /// # Errors
    /// [`ApplyError::Illegal`] exactly if [`Self::check`] refuses it; [`ApplyError::Pause`] if `chance` paused.
    fn apply(
        &mut self,
        seat: Seat,
        action: &Self::Action,
        chance: &mut dyn Chance,
        events: &mut Vec<Self::Event>,
    ) -> Result<(), ApplyError>;

    /// The seat leaves the game for good. Nothing happens if it has left or the game is over.
    fn forfeit(
        &mut self,
        seat: Seat,
        chance: &mut dyn Chance,
        events: &mut Vec<Self::Event>,
    ) -> Result<(), Pause>;

    /// The deck that a deal asks for first of all, if it flips before that and the deck is the same whatever comes of it:
    /// its first shuffles go along with the escrow then, as they do where a deal asks for nothing before.
    fn first_deck(&self) -> Option<Vec<Face>> {
        None
    }

    /// Whether it ever asks for a sealed deck. Where it does not, nothing is put in escrow.
    fn seals_cards(&self) -> bool {
        true
    }

    /// The cards in a seat's hand, in the order they came.
    fn hand(&self, seat: Seat) -> Vec<Slot>;

    /// Whether the game is over.
    fn is_over(&self) -> bool;

    /// One score a seat.
    fn scores(&self) -> Vec<i64>;

    /// The winners; empty until the game is over.
    fn winners(&self) -> SeatSet;
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng as _;

    use super::*;

    #[test]
    fn samples_stay_in_bounds_and_reach_every_value() {
        let mut stream = ChaCha20Rng::from_seed([1; 32]);
        let mut seen = [0_u32; 6];
        for _ in 0..600 {
            seen[uniform(&mut stream, 6) as usize] += 1;
        }
        assert!(
            seen.iter().all(|count| (60..140).contains(count)),
            "{seen:?}"
        );
        assert_eq!(uniform(&mut stream, 1), 0);
    }

    #[test]
    fn an_order_is_a_permutation() {
        let faces: Vec<Face> = (0..10).map(Face).collect();
        let mut order = Flip::Order(faces).sample(&mut ChaCha20Rng::from_seed([2; 32]));
        assert_ne!(order, (0..10).collect::<Vec<_>>());
        order.sort_unstable();
        assert_eq!(order, (0..10).collect::<Vec<_>>());
    }

    #[test]
    fn columns_have_every_kind_at_every_level_and_no_two_alike_touch() {
        for each in 1..=7 {
            let flip = Flip::Columns {
                kinds: 5,
                each,
                levels: 3,
            };
            let built = flip.sample(&mut ChaCha20Rng::from_seed([each; 32]));
            assert!(flip.accepts(&built) && flip.accepts(&flip.items()));
            for column in &built {
                let kinds = [column / 25 - 5, column / 5 % 5, column % 5];
                assert!(kinds[0] < 5 && kinds[0] != kinds[1] && kinds[1] != kinds[2]);
            }
            // One column less, a kind too often, a column too high.
            assert!(!flip.accepts(&built[1..]));
            let with_first = |first| [&[first][..], &built[1..]].concat();
            assert!(!flip.accepts(&with_first(built[0] / 5 * 5 + (built[0] + 1) % 5)));
            assert!(!flip.accepts(&with_first(built[0] + 125)));
        }
    }

    #[test]
    fn a_flip_accepts_what_it_could_have_been() {
        assert!(Flip::Die(6).accepts(&[6]));
        assert!(!Flip::Die(6).accepts(&[0]) && !Flip::Die(6).accepts(&[7]));
        assert!(!Flip::Die(6).accepts(&[]) && !Flip::Die(6).accepts(&[1, 2]));
        let order = Flip::Order(vec![Face(3), Face(1)]);
        assert!(order.accepts(&[1, 3]) && order.accepts(&[3, 1]));
        assert!(!order.accepts(&[1, 1]) && !order.accepts(&[1]));
    }
}
