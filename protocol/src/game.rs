//! The interface between a game's rules and a table without a dealer.
//!
//! A [`Game`] is a pure state machine over *public* state: hidden cards appear as [`Handle`]s, never as faces. It
//! requests everything random or hidden from a [`Chance`]: a shuffle into a sealed deck, a card dealt to one seat,
//! cards opened to all, or a flip of public randomness. At a table, sealed decks and coins answer these requests; in a
//! referee, explicit lists or a seed; in a search, a guess.
//!
//! # Pausing and replay
//! A request without an answer yet returns [`Pause`], which the engine returns at once. The caller discards the
//! half-done copy (or displays it) and obtains the answer. It then calls the same method again on the *unchanged*
//! state. Earlier requests get the same answers, so the engine gets further each time. An engine is thus straight-line
//! code, and an error changes nothing. All requests up to a pause (or the end) form one *batch*, which the seats answer
//! together.
//!
//! # Determinism
//! The same state, seat, action and answers give the same state, requests and events on every machine. Engines use
//! integers and ordered collections, with no clock and no randomness of their own. [`Game`] states are `Serialize`; the
//! digest that seats compare is a hash of that encoding.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Debug;

use rand_core::Rng;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::card::{DeckId, Face, Faces, Handle, Slot};
use crate::seat::{Seat, SeatSet};
use crate::timing::{Timing, TimingError};

/// The terms of a game: its id, rules version, options and number of seats.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleSet {
    /// The game's id, such as `loot`.
    pub game: String,
    /// The version of the game's rules; all seats of a table must have the same.
    pub version: u16,
    /// Number of seats.
    pub seats: u8,
    /// Every option with its value, including defaults.
    pub options: BTreeMap<String, String>,
    /// Whether the table runs without escrow. A deal that loses a seat is then abandoned unscored; otherwise the other
    /// seats rebuild its shares. The game's rules do not depend on this.
    pub strict: bool,
    /// The table's timeouts. A single-seat table ignores them.
    pub timing: Timing,
    /// The protocol by which the table plays.
    pub protocol: Protocol,
}

/// The option that marks a charter as strict, beside the game's own options.
pub const STRICT: (&str, &str) = ("strict", "true");

/// The protocol by which a table plays. All that its seats sign must agree with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Protocol {
    /// Shuffles have whole proofs ([`WholeProof`](crate::crypto::shuffle::WholeProof)). Its charters do not name it.
    One,
    /// Shuffles have staged proofs ([`StagedProof`](crate::crypto::shuffle::StagedProof)). Its charters have the option
    /// [`Protocol::OPTION`].
    #[default]
    Two,
}

impl Protocol {
    /// The option in a charter of [`Protocol::Two`], beside the game's own options.
    pub const OPTION: (&str, &str) = ("protocol", "2");
}

impl RuleSet {
    /// The options that players choose: those of [`Self::written_options`] but for the protocol.
    pub fn chosen_options(&self) -> BTreeMap<String, String> {
        let mut options = self.written_options();
        options.remove(Protocol::OPTION.0);
        options
    }

    /// The options as written in a charter, by key.
    pub fn written_options(&self) -> BTreeMap<String, String> {
        let mut options = self.options.clone();
        if self.strict {
            options.insert(STRICT.0.to_owned(), STRICT.1.to_owned());
        }
        if self.protocol == Protocol::Two {
            let (key, value) = Protocol::OPTION;
            options.insert(key.to_owned(), value.to_owned());
        }
        if self.seats > 1 {
            let timing = self.timing.written();
            options.extend(timing.map(|(key, text)| (key.to_owned(), text)));
        }
        options
    }
}

/// Why a rule set is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleSetError {
    /// This program does not know the game.
    #[error("there is no game '{0}'")]
    UnknownGame(String),
    /// This program has another version of the rules.
    #[error("{game} is played here by rules version {ours}, not {theirs}: use the same version of the program")]
    Version {
        /// The game.
        game: String,
        /// This program's rules version.
        ours: u16,
        /// The requested version.
        theirs: u16,
    },
    /// Too few or too many seats.
    #[error("{game} is for {least} to {most} seats, not {got}")]
    Seats {
        /// The game.
        game: String,
        /// Minimum number of seats.
        least: u8,
        /// Maximum number of seats.
        most: u8,
        /// The requested number of seats.
        got: u8,
    },
    /// The game has no such option.
    #[error("{game} has no option '{key}'; it has: {known}")]
    UnknownOption {
        /// The game.
        game: String,
        /// The option.
        key: String,
        /// The game's options with their values.
        known: String,
    },
    /// A value that the option does not allow, or a missing option.
    #[error("option '{key}' takes {allowed}, not '{got}'")]
    OptionValue {
        /// The option.
        key: String,
        /// The allowed values.
        allowed: String,
        /// The given value; empty if missing.
        got: String,
    },
}

impl From<TimingError> for RuleSetError {
    fn from(error: TimingError) -> Self {
        Self::OptionValue { key: error.key.to_owned(), allowed: error.allowed, got: error.got }
    }
}

/// A request has no answer yet: return at once (see the module docs).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause;

/// Why an action is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Illegal {
    /// The seat is not to act or has left the game, and the action is not allowed out of turn.
    #[error("it is not {0}'s turn")]
    NotYourTurn(Seat),
    /// The game is over.
    #[error("the game is over")]
    Over,
    /// A rule forbids the action; the text names the rule and the reason.
    #[error("{0}")]
    Rule(Cow<'static, str>),
}

impl Illegal {
    /// The error for an action that a rule forbids.
    pub fn rule(why: impl Into<Cow<'static, str>>) -> Self {
        Self::Rule(why.into())
    }
}

/// Why [`Game::apply`] stopped early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApplyError {
    /// The action is refused; nothing has changed.
    Illegal(Illegal),
    /// An answer is missing. The half-done state may only be displayed.
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

/// A piece of public randomness, expanded from one coin flip.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Flip {
    /// A die: one number from 1 to the number of sides (at least 1).
    Die(u32),
    /// An open shuffle: these faces in random order.
    Order(Vec<Face>),
    /// Columns of pieces, each `levels` high. Every level has `each` pieces of each of `kinds` kinds.
    ///
    /// The lowest level is shuffled once. Each further level starts from the list kind 0 × each, kind 1 × each … and is
    /// shuffled repeatedly until no piece lies on one of its own kind, or [`MOST_TRIES`] is reached. A try ends as soon
    /// as [`shuffle`] puts a piece on its own kind; this leaves all outcomes as likely as complete tries would. A
    /// column is encoded as one number: a leading 1, then its kinds from the bottom as digits in base `kinds`.
    Columns {
        /// Number of kinds of pieces, at least 1.
        kinds: u8,
        /// Number of pieces of each kind per level.
        each: u8,
        /// Height of a column.
        levels: u8,
    },
}

/// Maximum number of shuffles per level of [`Flip::Columns`].
pub const MOST_TRIES: u32 = 1_000_000;

impl Flip {
    /// Samples this flip's values from a random stream, without bias: for a die one value from 1 to its sides, for an
    /// order the face numbers, top first.
    pub fn sample(&self, stream: &mut impl Rng) -> Vec<u32> {
        match self {
            Self::Die(sides) => vec![uniform(stream, (*sides).max(1)) + 1],
            Self::Order(faces) => {
                let mut order: Vec<u32> = faces.iter().map(|face| u32::from(face.0)).collect();
                shuffle(stream, &mut order);
                order
            }
            Self::Columns { kinds, each, levels } => columns(stream, *kinds, *each, *levels),
        }
    }

    /// The values before shuffling; empty for a die.
    pub fn items(&self) -> Vec<u32> {
        match self {
            Self::Die(_) => Vec::new(),
            Self::Order(faces) => faces.iter().map(|face| u32::from(face.0)).collect(),
            Self::Columns { kinds, each, levels } => {
                let kinds = u32::from((*kinds).max(1));
                let column =
                    |kind| (0..*levels).fold(1, |column: u32, _| column.saturating_mul(kinds).saturating_add(kind));
                kind_list(kinds, *each).into_iter().map(column).collect()
            }
        }
    }

    /// Whether a flip could produce these values.
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
            Self::Columns { kinds, each, levels } => {
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

/// Each kind `each` times, in order.
fn kind_list(kinds: u32, each: u8) -> Vec<u32> {
    let times = |kind| std::iter::repeat_n(kind, usize::from(each));
    (0..kinds).flat_map(times).collect()
}

/// Samples [`Flip::Columns`].
//= T4.9
fn columns(stream: &mut impl Rng, kinds: u8, each: u8, levels: u8) -> Vec<u32> {
    let kinds = u32::from(kinds.max(1));
    let list = kind_list(kinds, each);
    let mut columns = vec![1_u32; list.len()];
    for height in 0..levels {
        let mut level = list.clone();
        for _ in 0..MOST_TRIES {
            level.copy_from_slice(&list);
            let fits = |place: usize, kind: &u32| {
                height == 0 || columns.get(place).is_some_and(|below| below % kinds != *kind)
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

/// An unbiased number below `bound` (at least 1), from 64-bit words of a stream.
///
/// Takes the high half of word × bound, and draws again while the low half is below 2⁶⁴ mod bound (Lemire 2019). That
/// remainder is below `bound`, so most words need no division.
//= T4.7
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
//= T4.8
pub fn shuffle<T>(stream: &mut (impl Rng + ?Sized), items: &mut [T]) {
    shuffle_while(stream, items, |_, _| true);
}

/// Shuffles like [`shuffle`], but stops at the first item that does not fit its final place. Returns whether all items
/// fit.
fn shuffle_while<T>(stream: &mut (impl Rng + ?Sized), items: &mut [T], fits: impl Fn(usize, &T) -> bool) -> bool {
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

/// The source of an engine's randomness and hidden cards.
///
/// The engine makes requests in the order of the rules page; see the module docs for [`Pause`].
pub trait Chance {
    /// Ends this deal: its seeds are opened, and a deal with fresh seeds begins. Earlier handles become invalid.
    fn next_deal(&mut self) -> Result<(), Pause>;

    /// Shuffles publicly known cards into a new sealed deck.
    fn shuffle(&mut self, cards: &[Face]) -> Result<DeckId, Pause>;

    /// Deals a sealed card to one seat; only that seat learns the face.
    fn deal(&mut self, card: Handle, to: Seat);

    /// Opens sealed cards to everybody, in the given order.
    fn open(&mut self, cards: &[Handle]) -> Result<Vec<Face>, Pause>;

    /// Flips public randomness; [`Flip::sample`] describes the result.
    fn flip(&mut self, flip: &Flip) -> Result<Vec<u32>, Pause>;
}

/// A sealed card that an action shows, with its claimed face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The sealed card; it must be in the acting seat's hand.
    pub card: Handle,
    /// The claimed face; the table verifies it before the action counts.
    pub face: Face,
}

/// A game's rules over public state.
pub trait Game: Clone + Debug + Serialize + Send + Sync + 'static {
    /// A seat's action. An action that plays a sealed card names its handle, and its face if the card is shown.
    type Action: Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static;
    /// An event for a written log; public information only.
    type Event: Clone + Debug + PartialEq + Send + Sync + 'static;

    /// Sets up the table for a rule set, before anything random happens.
    ///
    /// # Errors
    /// [`RuleSetError`] if the game, version or number of seats does not match, or if the options are not exactly the
    /// game's own.
    fn create(rules: &RuleSet) -> Result<Self, RuleSetError>;

    /// The name of the printed deck, which each card's point absorbs.
    fn deck_name(&self) -> &'static str;

    /// The name of a card in the printed deck; empty if the number has no card.
    fn card_name(&self, face: Face) -> String;

    /// Makes the first shuffles, deals and rolls. Called once, before any action.
    fn begin(&mut self, chance: &mut dyn Chance, events: &mut Vec<Self::Event>) -> Result<(), Pause>;

    /// The seats that the game waits for; empty only when it is over.
    fn to_act(&self) -> SeatSet;

    /// Every legal action of a seat now, in a fixed order. Skips actions that need the face of a card outside `known`.
    fn legal(&self, seat: Seat, known: &Faces) -> Vec<Self::Action>;

    /// Checks whether the action is legal, trusting the faces it claims.
    ///
    /// # Errors
    /// [`Illegal`], with the reason in words.
    fn check(&self, seat: Seat, action: &Self::Action) -> Result<(), Illegal>;

    /// The sealed cards that a legal action shows, all in the seat's hand.
    fn shown(&self, _seat: Seat, _action: &Self::Action) -> Vec<Shown> {
        Vec::new()
    }

    /// Whether seats that are not to act may also take this action (fire, vote).
    fn out_of_turn(&self, action: &Self::Action) -> bool;

    /// Checks and executes an action.
    ///
    /// # Errors
    /// [`ApplyError::Illegal`] exactly if [`Self::check`] refuses the action; [`ApplyError::Pause`] if `chance` paused.
    fn apply(
        &mut self,
        seat: Seat,
        action: &Self::Action,
        chance: &mut dyn Chance,
        events: &mut Vec<Self::Event>,
    ) -> Result<(), ApplyError>;

    /// Removes the seat from the game for good. Does nothing if it has already left or the game is over.
    fn forfeit(&mut self, seat: Seat, chance: &mut dyn Chance, events: &mut Vec<Self::Event>) -> Result<(), Pause>;

    /// The first deck of a deal, for games that flip before it and whose deck does not depend on that flip. Its first
    /// shuffles then travel with the escrow, as in games that request the deck first.
    fn first_deck(&self) -> Option<Vec<Face>> {
        None
    }

    /// The first deck of the deal after this one, if the game may ask for one ([`Chance::next_deal`]) and that deck is
    /// known by now. Its shuffles are then made while this deal is played. If the answer changes before the deal
    /// begins, they are dropped.
    fn next_deck(&self) -> Option<Vec<Face>> {
        None
    }

    /// Whether the game ever requests a sealed deck. If not, the table makes no escrow.
    fn seals_cards(&self) -> bool {
        true
    }

    /// The cards in a seat's hand, in the order received.
    fn hand(&self, _seat: Seat) -> Vec<Slot> {
        Vec::new()
    }

    /// Whether the game is over.
    fn is_over(&self) -> bool;

    /// The scores, one per seat.
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
        assert!(seen.iter().all(|count| (60..140).contains(count)), "{seen:?}");
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
            let flip = Flip::Columns { kinds: 5, each, levels: 3 };
            let built = flip.sample(&mut ChaCha20Rng::from_seed([each; 32]));
            assert!(flip.accepts(&built) && flip.accepts(&flip.items()));
            for column in &built {
                let kinds = [column / 25 - 5, column / 5 % 5, column % 5];
                assert!(kinds[0] < 5 && kinds[0] != kinds[1] && kinds[1] != kinds[2]);
            }
            // One column fewer, one kind too often, one column too high.
            assert!(!flip.accepts(&built[1..]));
            let with_first = |first| [&[first][..], &built[1..]].concat();
            assert!(!flip.accepts(&with_first(built[0] / 5 * 5 + (built[0] + 1) % 5)));
            assert!(!flip.accepts(&with_first(built[0] + 125)));
        }
    }

    #[test]
    fn flip_accepts_possible_values() {
        assert!(Flip::Die(6).accepts(&[6]));
        assert!(!Flip::Die(6).accepts(&[0]) && !Flip::Die(6).accepts(&[7]));
        assert!(!Flip::Die(6).accepts(&[]) && !Flip::Die(6).accepts(&[1, 2]));
        let order = Flip::Order(vec![Face(3), Face(1)]);
        assert!(order.accepts(&[1, 3]) && order.accepts(&[3, 1]));
        assert!(!order.accepts(&[1, 1]) && !order.accepts(&[1]));
    }
}
