//! Bugs in this program, which a table notices.

/// A bug in this program: an engine that is not deterministic, or a counter that overflowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// The engine made different requests on replay.
    #[error("the rules engine is not deterministic: it asked other things when replayed")]
    Engine,
    /// The engine dealt one seat's card to another, which would reveal it to all.
    #[error("the rules engine dealt one sealed card to two seats")]
    DealtTwice,
    /// A card whose shares, all with valid proofs, open to no card of its deck.
    #[error("a sealed card opened to no card of its deck")]
    Card,
    /// More decks than a deal can number.
    #[error("the deal has more decks than can be numbered")]
    Decks,
    /// The engine requested a deck with no cards, too many cards, or a duplicate.
    #[error("the rules engine asked for a deck of no cards, too many, or one of them twice")]
    Deck,
    /// The engine requested more shares than one entry can carry.
    #[error("the rules engine asked for more shares than an entry can carry")]
    Batch,
    /// A seat owes a coin but has no chain for it.
    #[error("a coin is due that no chain gives")]
    Coin,
    /// The keys of the deal add up to zero: cards sealed under them would be open.
    #[error("the keys of the deal cancel each other")]
    Joint,
    /// This seat's next entry is too large.
    #[error("an entry of this seat is too large")]
    TooLarge,
}
