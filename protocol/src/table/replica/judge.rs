//! Judges single entries of the open step: which count, which wait, and which prove a fault.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::deal::Run;
use super::super::fault::{Fault, FaultKind};
use super::{Broken, Owed, Preview, Proofs, Refused, Replica, StepKind, Verdict, shares_of};
use crate::crypto::elgamal::SealedCards;
use crate::crypto::escrow::{self, Complaint, EscrowError};
use crate::crypto::group::Point;
use crate::crypto::seed::Seed;
use crate::crypto::share::{ShareOf, SharePlace};
use crate::crypto::shuffle::{ShufflePlace, Statement};
use crate::domain;
use crate::game::{Game, Shown};
use crate::hash::{Hash32, Hasher};
use crate::log::body::{Answers, Body, PartShares, Shuffled};
use crate::log::entry::Entry;
use crate::seat::Seat;

/// The reason why an entry does not count.
enum Finding {
    Fault(FaultKind),
    Broken(Broken),
}

impl<T: Into<FaultKind>> From<T> for Finding {
    fn from(fault: T) -> Self {
        Self::Fault(fault.into())
    }
}

impl<G: Game> Replica<G> {
    /// The verdict on an entry of the open step, given the `held` entries of this step. Costly only for shuffles, keys,
    /// openings and shares; callers cache which entries count.
    //= P1.9, P1.10, P1.11
    pub fn examine(&self, entry: &Entry, held: &BTreeMap<Seat, Entry>, proofs: Proofs) -> Verdict {
        let content = entry.content();
        if content.step != self.step || content.parent != self.parent {
            return Verdict::Waits;
        }
        let stands = self.departing.get(&entry.seat());
        if stands.is_some_and(|stands| *stands != entry.hash()) {
            return Verdict::Waits;
        }
        if content.digest != self.digest {
            return Verdict::Desync;
        }
        let Some(kind) = self.kind() else {
            return Verdict::Waits;
        };
        match self.judge(kind, entry, held, proofs) {
            Ok(true) => Verdict::Counts,
            Ok(false) => Verdict::Waits,
            Err(Finding::Fault(fault)) => Verdict::Fault(fault),
            Err(Finding::Broken(broken)) => Verdict::Broken(broken),
        }
    }

    /// `Ok(true)` if the entry counts, `Ok(false)` if it names something unknown.
    //= T5.11
    fn judge(
        &self,
        kind: StepKind,
        entry: &Entry,
        held: &BTreeMap<Seat, Entry>,
        proofs: Proofs,
    ) -> Result<bool, Finding> {
        let seat = entry.seat();
        match (kind, entry.body()) {
            (StepKind::Commit, Body::Commit { .. })
            | (StepKind::Tip, Body::Tip { .. })
            | (StepKind::Confirm, Body::Confirm)
            | (StepKind::Closing, Body::Close) => Ok(true),
            (StepKind::Key, Body::Key { key, proof }) => {
                proof.verify(&self.context(seat), key)?;
                Ok(true)
            }
            (StepKind::Action { leader }, Body::Act { action, answers }) if seat == leader => {
                let preview = self.judge_action(seat, action)?;
                self.judge_answers(seat, answers, &self.owed_first(seat, seat, &preview))?;
                self.judge_shown(seat, &preview, answers)?;
                Ok(true)
            }
            (StepKind::Action { leader }, Body::Yield { to }) if seat == leader => {
                match held.values().find(|other| other.hash() == *to) {
                    None => Ok(false),
                    Some(other) if other.body().is_yielded_to() => Ok(true),
                    Some(_) => Err(FaultKind::YieldToNothing.into()),
                }
            }
            (StepKind::Action { leader }, Body::Ack { leader: named, answers }) if seat != leader => {
                if self.out.contains(leader) {
                    // An ack that names another entry of an equivocating leader is no fault.
                    if *named != self.out_name(leader) {
                        return Ok(false);
                    }
                    self.judge_answers(seat, answers, &Owed::default())?;
                    return Ok(true);
                }
                // The leader's entry has been judged first. An ack of one that does not count waits.
                let Some(led) = held.get(&leader).filter(|led| led.hash() == *named) else {
                    return Ok(false);
                };
                let owed = match led.body() {
                    Body::Act { action, .. } => {
                        let preview = self.judge_action(leader, action)?;
                        self.owed_first(seat, leader, &preview)
                    }
                    _ => Owed::default(),
                };
                self.judge_answers(seat, answers, &owed)?;
                Ok(true)
            }
            (StepKind::Action { leader }, Body::Interject { action }) if seat != leader => {
                let action = Self::action(action).ok_or(FaultKind::MalformedAction)?;
                // An interjection carries no shares, so it can show nothing.
                let shows = !self.settled.shown(seat, &action).is_empty();
                if shows || !self.settled.out_of_turn(&action) {
                    return Err(FaultKind::NotOutOfTurn.into());
                }
                if self.interjected.contains(seat) {
                    return Err(FaultKind::SecondInterjection.into());
                }
                Ok(true)
            }
            // A leave names nothing, and no seat may refuse it. Only the last seat must stay, to open its seed.
            (StepKind::Action { .. }, Body::Leave) if self.live.len() > 1 => Ok(true),
            (StepKind::Effects, Body::Effects { answers }) => {
                self.judge_answers(seat, answers, &self.owed(seat))?;
                Ok(true)
            }
            //= P1.5
            (StepKind::Shuffle { .. }, Body::Shuffle(shuffled)) if !self.has_shuffled(seat) => {
                Ok(self.judge_shuffle(seat, shuffled, held, proofs)?)
            }
            (StepKind::Shuffle { .. }, Body::Confirm) if self.has_shuffled(seat) => Ok(true),
            (StepKind::Escrow, Body::Escrow { parts, shuffled }) => {
                let key = self.deal.key(seat).ok_or(EscrowError::Sum)?;
                let holders = self.holders(seat).into_keys().collect();
                escrow::check_public(parts, holders, key)?;
                Ok(self.judge_early(seat, shuffled.as_ref(), held, proofs)?)
            }
            (StepKind::Accept, Body::Accept { complaints, shuffled }) => {
                // A complaint about a seat that is already out is valid, because the order in which faults become known
                // must not matter.
                let unfounded = complaints.iter().find(|(owner, complaint)| !self.is_founded(seat, *owner, complaint));
                if let Some((owner, _)) = unfounded {
                    return Err(FaultKind::FalseComplaint { owner: *owner }.into());
                }
                Ok(self.judge_early(seat, shuffled.as_ref(), held, proofs)?)
            }
            (StepKind::Rebuild { seat: gone }, Body::Rebuild { parts }) => {
                self.judge_parts(seat, gone, parts)?;
                Ok(true)
            }
            (StepKind::Opening, Body::Open { seed }) => {
                self.deal.check_opening(seat, &Seed::from_opened(*seed))?;
                Ok(true)
            }
            (kind, body) => Err(FaultKind::WrongKind {
                got: body.kind(),
                wanted: match kind {
                    StepKind::Shuffle { .. } if self.has_shuffled(seat) => StepKind::Confirm,
                    kind => kind,
                }
                .due(seat),
            }
            .into()),
        }
    }

    //= T5.16, P1.6
    fn judge_shuffle(
        &self,
        seat: Seat,
        shuffled: &Shuffled,
        held: &BTreeMap<Seat, Entry>,
        proofs: Proofs,
    ) -> Result<bool, FaultKind> {
        let Some(statement) = self.statement(seat, shuffled, held) else {
            return Ok(false);
        };
        if proofs == Proofs::Verify {
            crate::crypto::shuffle::verify(statement, &shuffled.proof)?;
        }
        Ok(true)
    }

    /// Judges the shuffle that comes with an escrow or an acceptance: only the seat whose turn it is sends one.
    //= T5.15, P3.6
    fn judge_early(
        &self,
        seat: Seat,
        shuffled: Option<&Shuffled>,
        held: &BTreeMap<Seat, Entry>,
        proofs: Proofs,
    ) -> Result<bool, FaultKind> {
        match (shuffled, self.early_shuffler() == Some(seat)) {
            (None, false) => Ok(true),
            (Some(shuffled), true) => {
                // Its input follows from earlier steps, so there is nothing to wait for.
                if self.judge_shuffle(seat, shuffled, held, proofs)? { Ok(true) } else { Err(FaultKind::OtherDeck) }
            }
            (Some(_), false) => Err(FaultKind::EarlyShuffle { owed: false }),
            (None, true) => Err(FaultKind::EarlyShuffle { owed: true }),
        }
    }

    /// The faults of other seats that the counting entries prove, namely key parts that do not open. At most one for
    /// each seat, in seat order.
    //= T5.34
    pub fn accused(&self, counted: &BTreeMap<Seat, Entry>) -> Vec<Fault> {
        let mut accused: BTreeMap<Seat, Fault> = BTreeMap::new();
        for entry in counted.values() {
            let Body::Accept { complaints, .. } = entry.body() else {
                continue;
            };
            for (owner, _) in complaints.iter() {
                accused.entry(*owner).or_insert_with(|| Fault {
                    seat: *owner,
                    step: entry.step(),
                    what: FaultKind::BadPart { holder: entry.seat() },
                });
            }
        }
        accused.into_values().collect()
    }

    /// Whether the complaint of `holder` about a part from `owner` is justified.
    //= T6.9
    fn is_founded(&self, holder: Seat, owner: Seat, complaint: &Complaint) -> bool {
        let escrow = self.escrowed(holder).find(|(seat, ..)| *seat == owner);
        let (Some((_, owner_key, parts)), Some(holder_key)) = (escrow, self.deal.key(holder)) else {
            return false;
        };
        let place = self.holder_place(owner, holder);
        let verdict = escrow::judge(complaint, &place, owner_key, holder_key, parts);
        verdict == escrow::ComplaintRuling::BadPart
    }

    //= T6.10
    fn judge_parts(&self, holder: Seat, gone: Seat, sent: &PartShares) -> Result<(), FaultKind> {
        let parts = self.deal.parts(gone).ok_or(FaultKind::PartShares)?;
        let list = self.parts_of(sent);
        if list.len() != sent.shares.len() {
            return Err(FaultKind::PartShares);
        }
        let place = self.holder_place(gone, holder);
        sent.proof.verify(&place, parts, &list).map_err(|_| FaultKind::PartShares)
    }

    /// The parts of a holder, each with its card; empty if their number is wrong.
    pub(super) fn parts_of(&self, sent: &PartShares) -> Vec<ShareOf> {
        let Some((_, cards)) = self.rebuilding() else {
            return Vec::new();
        };
        if cards.len() != sent.shares.len() {
            return Vec::new();
        }
        cards
            .into_iter()
            .zip(sent.shares.iter())
            .map(|((handle, card), share)| ShareOf { handle, card, share: *share })
            .collect()
    }

    //= T5.12
    fn judge_action(&self, seat: Seat, bytes: &[u8]) -> Result<Preview<G>, Finding> {
        let action = Self::action(bytes).ok_or(FaultKind::MalformedAction)?;
        if self.settled.out_of_turn(&action) && self.interjected.contains(seat) {
            return Err(FaultKind::SecondInterjection.into());
        }
        self.preview(seat, &action).map_err(|why| match why {
            Refused::Illegal(why) => FaultKind::IllegalAction(why.to_string()).into(),
            Refused::Broken(broken) => Finding::Broken(broken),
        })
    }

    //= T5.8
    fn judge_answers(&self, seat: Seat, answers: &Answers, owed: &Owed) -> Result<(), FaultKind> {
        let got = answers.shares.as_ref().map_or(0, |shares| shares.shares.len());
        let coin = match (answers.coin, owed.coin) {
            (Some(_), false) => " and a coin",
            (None, true) => " and no coin",
            _ => "",
        };
        let empty_list = got == 0 && answers.shares.is_some();
        if got != owed.cards.len() || !coin.is_empty() || empty_list {
            return Err(FaultKind::WrongAnswers { got, wanted: owed.cards.len(), coin });
        }
        if let Some(coin) = &answers.coin {
            let context = self.context(seat);
            if !self.deal.tip(seat).is_some_and(|tip| tip.accepts(&context, coin)) {
                return Err(FaultKind::Coin);
            }
        }
        if let Some(shares) = &answers.shares {
            let key = self.deal.key(seat).ok_or(FaultKind::ShareProof)?;
            let list = shares_of(owed, &shares.shares);
            let place = SharePlace { context: self.context(seat), step: self.step };
            shares.proof.verify(&place, key, &list).map_err(|_| FaultKind::ShareProof)?;
        }
        Ok(())
    }

    /// Checks that every card that the action shows has the face it claims.
    //= T5.12
    fn judge_shown(&self, seat: Seat, preview: &Preview<G>, answers: &Answers) -> Result<(), FaultKind> {
        let owed = self.owed_first(seat, seat, preview);
        let sent = answers.shares.as_ref().map_or(&[][..], |shares| &shares.shares);
        for Shown { card, face } in &preview.shown {
            let share =
                owed.cards.iter().zip(sent).find(|((handle, _), _)| handle == card).map(|(_, share)| (seat, *share));
            if self.deal.face(*card, share) != Some(*face) {
                return Err(FaultKind::WrongFace);
            }
        }
        Ok(())
    }

    /// The base of a seat's shuffle, given the held entries: the hash that its entry must name, and the input deck.
    //= T5.14
    pub fn shuffle_base(&self, seat: Seat, held: &BTreeMap<Seat, Entry>) -> Option<(Hash32, SealedCards)> {
        let run = self.run()?;
        let before = run.last().unwrap_or_else(|| self.fresh_deck_hash(run));
        let mut base = (before, Arc::clone(run.cards()));
        if self.early_shuffler().is_some() {
            return Some(base);
        }
        let mut turns = self.live().iter().filter(|turn| !run.done().contains(*turn));
        while let Some(before) = turns.next().filter(|before| *before < seat) {
            let entry = held.get(&before)?;
            let Body::Shuffle(shuffled) = entry.body() else {
                return None;
            };
            base = (entry.hash(), Arc::new(shuffled.deck.to_vec()));
        }
        Some(base)
    }

    fn fresh_deck_hash(&self, run: &Run) -> Hash32 {
        Hasher::new(domain::FRESH_DECK)
            .hash(&self.parent)
            .number(u64::from(run.deck.0))
            .number(run.cards().len() as u64)
            .finish()
    }

    /// The name of the printed deck.
    pub fn deck_name(&self) -> &'static str {
        self.deal.deck_name()
    }

    /// The joint key of the deal.
    pub fn joint_key(&self) -> &Point {
        self.deal.joint()
    }

    /// The statement that a shuffle entry of the open step proves; `None` if it names an unknown deck.
    pub fn shuffle_statement(&self, entry: &Entry, held: &BTreeMap<Seat, Entry>) -> Option<Statement> {
        let shuffled = entry.body().shuffled()?;
        self.statement(entry.seat(), shuffled, held)
    }

    fn statement(&self, seat: Seat, shuffled: &Shuffled, held: &BTreeMap<Seat, Entry>) -> Option<Statement> {
        let run = self.run()?;
        let (onto, input) = self.shuffle_base(seat, held)?;
        if onto != shuffled.onto {
            return None;
        }
        Some(Statement {
            place: ShufflePlace { context: self.context(seat), deck: run.deck },
            key: *self.deal.joint(),
            input,
            output: Arc::new(shuffled.deck.to_vec()),
        })
    }
}
