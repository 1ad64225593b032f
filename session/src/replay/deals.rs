//! The deals of a game, collected during its audit.

use fairdeal_games::AnyGame;
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::table::replica::{News, Replica};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DealEnd {
    /// The log ends before the seeds were opened.
    Unopened,
    /// The seeds were opened, and everything was recomputed.
    Opened,
    /// The deal lost a seat it needed and was redealt.
    Voided,
}

impl DealEnd {
    /// Describes the end of the deal.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Unopened => "not opened",
            Self::Opened => "opened and recomputed",
            Self::Voided => "abandoned and redealt",
        }
    }
}

/// The summary of one deal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayedDeal {
    /// Counted from 0.
    pub number: u32,
    /// Its first step in the log.
    pub first_step: u64,
    /// The number of actions taken.
    pub actions: usize,
    /// The number of decks sealed.
    pub decks: usize,
    /// The number of cards in those decks together.
    pub cards: usize,
    pub end: DealEnd,
    /// One score for each seat, at the end of the deal.
    pub scores: Vec<i64>,
}

/// Collects the deals of a game.
#[derive(Debug)]
pub struct Ledger {
    done: Vec<PlayedDeal>,
    open: PlayedDeal,
}

impl Ledger {
    /// Starts before the first step.
    pub fn new(replica: &Replica<AnyGame>) -> Self {
        Self { done: Vec::new(), open: begun(replica.deal(), replica) }
    }

    /// Adds the news of one step; `replica` is the state after it.
    pub fn note(&mut self, news: &[News<AnyGame>], replica: &Replica<AnyGame>) {
        for item in news {
            match item {
                News::Action { .. } => self.open.actions += 1,
                News::Sealed { cards, .. } => {
                    self.open.decks += 1;
                    self.open.cards += cards;
                }
                News::Opened(_) => self.open.end = DealEnd::Opened,
                News::Voided(_) => self.open.end = DealEnd::Voided,
                // The step that opens a deal may also begin the next one.
                News::Deal(number) if *number != self.open.number => self.begin(*number, replica),
                _ => {}
            }
        }
        if self.open.end != DealEnd::Opened {
            self.open.scores = replica.game().scores();
        }
        if replica.turned().is_none() && replica.deal() != self.open.number {
            self.begin(replica.deal(), replica);
        }
    }

    fn begin(&mut self, number: u32, replica: &Replica<AnyGame>) {
        self.done.push(std::mem::replace(&mut self.open, begun(number, replica)));
    }

    /// All deals. The last is the one in which the log ends.
    pub fn into_deals(self) -> Vec<PlayedDeal> {
        let mut deals = self.done;
        // After a deal's closing step, the next deal has a number but no content yet.
        if self.open.actions + self.open.decks > 0 || self.open.end != DealEnd::Unopened || deals.is_empty() {
            deals.push(self.open);
        }
        deals
    }
}

fn begun(number: u32, replica: &Replica<AnyGame>) -> PlayedDeal {
    PlayedDeal {
        number,
        first_step: replica.step(),
        actions: 0,
        decks: 0,
        cards: 0,
        end: DealEnd::Unopened,
        scores: replica.game().scores(),
    }
}
