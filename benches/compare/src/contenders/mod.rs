//! The crates, each with the same work: one shuffle, and its check.

mod curdleproofs;
mod distributed;
mod ducy;
mod fairdeal;
mod ziffle;
mod zshuffle;

/// The bytes of a shuffled deck, and those of its proof.
pub type Shuffled = (Vec<u8>, Vec<u8>);

/// One crate with one size of deck.
pub struct Contender {
    pub name: &'static str,
    pub cards: usize,
    /// Shuffles and proves.
    pub make: Box<dyn FnMut() -> Shuffled>,
    /// Decodes and checks both; panics if they are refused.
    pub check: Box<dyn FnMut(&Shuffled)>,
}

/// All crates, with a deck of 52 cards and one of about a hundred where they can.
pub fn all() -> Vec<Contender> {
    vec![
        fairdeal::contender(52),
        ziffle::contender::<52>(),
        ducy::contender(),
        zshuffle::contender(52),
        curdleproofs::contender(60),
        distributed::contender(52),
        fairdeal::contender(100),
        ziffle::contender::<100>(),
        curdleproofs::contender(124),
        distributed::contender(100),
    ]
}
