//! The setup of the next deal while another is played.
//!
//! Seeds, keys, escrow and the first deck of a deal depend on nothing that the deal before it decides
//! ([`Game::next_deck`]). So the seats send their parts of them along with their answers, one a step at most and
//! nobody has to. The deal that follows begins where its setup stands. Nothing else of it happens before: no card
//! is dealt and no coin flipped.
//!
//! If all is there, the deal begins as soon as all have confirmed the end of the one before: its first answers travel
//! with the seeds of that one. If a seat is removed there for a fault, a false seed or another, the new deal is void, so
//! that what was dealt of it is worth nothing.
//!
//! A setup is for the seats that are live when it begins. If one of them departs, the log forks, or the game
//! wants another deck, it is dropped. Its number is not used again, and none of its seeds is opened.

use std::collections::BTreeMap;

use super::judge::Left;
use super::{Broken, News, Replica, Stage, Turned};
use crate::card::MAX_DECK;
use crate::crypto::shuffle::Statement;
use crate::game::{Game, Protocol};
use crate::log::body::{Part, Shuffled};
use crate::log::entry::Entry;
use crate::seat::{Seat, SeatSet};
use crate::table::ahead::{Ahead, AheadStage, Around, SealedAhead};
use crate::table::deal::Deal;
use crate::table::fault::FaultKind;

impl<G: Game> Replica<G> {
    /// The decks that are or were sealed ahead of their deals.
    pub fn sealed_ahead(&self) -> SealedAhead {
        SealedAhead { next: self.ahead().map_or(SeatSet::EMPTY, Ahead::shuffled), this: self.opening().sealed_ahead() }
    }

    /// The deal that is set up, if one is.
    pub fn ahead(&self) -> Option<&Ahead> {
        self.ahead.as_ref()
    }

    /// A new deal with the next number.
    pub(super) fn fresh_deal(&mut self) -> Deal {
        let number = self.next;
        self.next = number.saturating_add(1);
        Deal::new(self.table(), number, self.settled.deck_name())
    }

    /// Drops a setup that no longer suits the table, and begins one where there is none.
    //= T5.51, P2.3
    pub(super) fn look_ahead(&mut self) {
        self.ahead = self.ahead.take().filter(|ahead| self.suits(ahead));
        let plays = self.protocol == Protocol::Two && self.stage == Stage::Play && self.live.len() > 1;
        if self.ahead.is_some() || !plays {
            return;
        }
        if let Some(faces) = self.settled.next_deck().filter(|faces| faces.len() <= MAX_DECK) {
            self.ahead = Some(Ahead::new(self.fresh_deal(), self.live, faces, self.attempt()));
        }
    }

    fn suits(&self, ahead: &Ahead) -> bool {
        ahead.suits(self.live, self.settled.next_deck().as_deref())
    }

    /// Judges a seat's part.
    pub(super) fn judge_part(&self, seat: Seat, part: &Part, left: &Left<'_>) -> Result<(), FaultKind> {
        let nobody = FaultKind::OtherPart { got: part.kind(), wanted: None };
        let ahead = self.ahead.as_ref().ok_or(nobody)?;
        ahead.judge(seat, part, self.party(seat))?;
        let Some(shuffled) = part.shuffled() else {
            return Ok(());
        };
        let statement = ahead.statement(seat, shuffled, &self.parent).ok_or(FaultKind::OtherDeck)?;
        self.judge_statement(statement, &shuffled.proof, left)
    }

    /// The statement that the shuffle in a seat's part proves.
    pub(super) fn statement_ahead(&self, seat: Seat, shuffled: &Shuffled) -> Option<Statement> {
        self.ahead.as_ref()?.statement(seat, shuffled, &self.parent)
    }

    /// Takes the parts of a complete step.
    pub(super) fn take_parts(&mut self, entries: &BTreeMap<Seat, Entry>) -> Result<(), Broken> {
        let Some(mut ahead) = self.ahead.take() else {
            return Ok(());
        };
        let (party, name) = (|seat| self.party(seat), |face| self.settled.card_name(face));
        let around = Around { step: self.step, escrows: self.escrows(), party: &party, name: &name };
        ahead.take(entries, &around)?;
        self.ahead = Some(ahead);
        Ok(())
    }

    /// Begins the next deal along with the opening of this one, if its setup is complete.
    //= T5.56, P2.1
    pub(super) fn turn_over(&mut self) -> Result<(), Broken> {
        let ready = |ahead: &Ahead| ahead.stage() == AheadStage::Ready && self.suits(ahead);
        if self.running.is_none() || !self.ahead.as_ref().is_some_and(ready) {
            return Ok(());
        }
        let deal = self.deal.clone();
        let mut news = Vec::new();
        self.next_deal(&mut news)?;
        self.carry_on(&mut news)?;
        self.turned = Some(Box::new(Turned { deal, news }));
        Ok(())
    }

    /// Undoes [`Self::turn_over`]: the seeds of the deal before are opened first.
    pub(super) fn turn_back(&mut self, turned: Turned<G>) {
        if let Some(checkpoint) = self.checkpoint.clone() {
            self.restore(*checkpoint);
        }
        self.deal = turned.deal;
        self.begun = self.begun.saturating_sub(1);
        self.stage = Stage::Opening;
    }

    /// The number of the deal before, if its seeds are opened along with the first answers of the open one.
    pub fn turned(&self) -> Option<u32> {
        self.turned.as_ref().map(|turned| turned.deal.number())
    }

    /// The deal whose seeds an opening in the open step opens.
    pub(super) fn opening(&self) -> &Deal {
        self.turned.as_ref().map_or(&self.deal, |turned| &turned.deal)
    }

    /// Begins the next deal, from where its setup stands. Parts of a stage that is not complete are void: their
    /// seats send the same again, in steps of the deal.
    //= T5.54
    pub(super) fn next_deal(&mut self, news: &mut Vec<News<G>>) -> Result<(), Broken> {
        let ahead = self.ahead.take().filter(|ahead| self.suits(ahead));
        self.remember();
        self.begun = self.begun.saturating_add(1);
        self.stage = Stage::Commit;
        let Some((deal, stage, run)) = ahead.map(Ahead::into_deal) else {
            self.deal = self.fresh_deal();
            return Ok(());
        };
        self.deal = deal;
        if run.is_some() {
            self.begin_deal(news)?;
            if let Some(running) = &mut self.running {
                running.run = run;
            }
        }
        self.stage = match stage {
            AheadStage::Commit => Stage::Commit,
            AheadStage::Key => Stage::Key,
            AheadStage::Escrow => Stage::Escrow,
            AheadStage::Accept => Stage::Accept,
            AheadStage::Shuffle | AheadStage::Ready => Stage::Play,
        };
        Ok(())
    }
}
