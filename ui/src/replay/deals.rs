//! The deals of a game, as an audit goes through them.

use fairdeal_games::AnyGame;
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::table::replica::{News, Replica};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DealEnd {
    /// The log ends before its seeds were opened.
    Unopened,
    /// Its seeds were opened, and everything was computed again.
    Opened,
    /// It lost a seat that it needed, and was redealt.
    Voided,
}

impl DealEnd {
    /// In a few words.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Unopened => "not opened",
            Self::Opened => "opened and recomputed",
            Self::Voided => "abandoned and redealt",
        }
    }
}

/// Summary of one deal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayedDeal {
    /// Its number, from 0.
    pub number: u32,
    /// The step with which it begins.
    pub first_step: u64,
    /// How many actions were taken in it.
    pub actions: usize,
    /// How many decks were sealed.
    pub decks: usize,
    /// How many cards they had together.
    pub cards: usize,
    pub end: DealEnd,
    /// One score a seat, as they stood when it ended.
    pub scores: Vec<i64>,
}

/// Collects the deals of a game.
#[derive(Debug)]
pub struct Ledger {
    done: Vec<PlayedDeal>,
    open: PlayedDeal,
}

impl Ledger {
    /// Begins before the first step.
    pub fn new(replica: &Replica<AnyGame>) -> Self {
        Self {
            done: Vec::new(),
            open: begun(replica),
        }
    }

    /// Takes the news of one step; `replica` is as it stands after it.
    pub fn note(&mut self, news: &[News<AnyGame>], replica: &Replica<AnyGame>) {
        let deal = &mut self.open;
        for item in news {
            match item {
                News::Action { .. } => deal.actions += 1,
                News::Sealed { cards, .. } => {
                    deal.decks += 1;
                    deal.cards += cards;
                }
                News::Opened(_) => deal.end = DealEnd::Opened,
                News::Voided(_) => deal.end = DealEnd::Voided,
                _ => {}
            }
        }
        if deal.end != DealEnd::Opened {
            deal.scores = replica.game().scores();
        }
        if replica.deal() != deal.number {
            let next = begun(replica);
            self.done.push(std::mem::replace(deal, next));
        }
    }

    /// All of them, the one that the log ends in last.
    pub fn into_deals(self) -> Vec<PlayedDeal> {
        let mut deals = self.done;
        // After the closing step of a deal there is the number of the next, and nothing of it yet.
        if self.open.actions + self.open.decks > 0
            || self.open.end != DealEnd::Unopened
            || deals.is_empty()
        {
            deals.push(self.open);
        }
        deals
    }
}

fn begun(replica: &Replica<AnyGame>) -> PlayedDeal {
    PlayedDeal {
        number: replica.deal(),
        first_step: replica.step(),
        actions: 0,
        decks: 0,
        cards: 0,
        end: DealEnd::Unopened,
        scores: replica.game().scores(),
    }
}
