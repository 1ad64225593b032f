//! Judges single entries of the open step: which count, which wait, and which prove a fault.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::deal::Deal;
use super::super::fault::{Fault, FaultKind};
use super::{Broken, Owed, Preview, Proofs, Refused, Replica, StepKind, Verdict, shares_of};
use crate::card::Faces;
use crate::crypto::elgamal::SealedCards;
use crate::crypto::escrow::{self, Complaint, EscrowError};
use crate::crypto::group::Point;
use crate::crypto::reproduce::Reproduction;
use crate::crypto::seed::Seed;
use crate::crypto::share::{ShareClaim, ShareFold, ShareOf, SharePlace};
use crate::crypto::shuffle::{ShuffleProof, Statement};
use crate::game::{Game, Protocol, Shown};
use crate::hash::Hash32;
use crate::log::body::{Answers, Body, PartShares, Shuffled};
use crate::log::entry::Entry;
use crate::seat::Seat;

/// The reason why an entry does not count.
enum Finding {
    Fault(FaultKind),
    Broken(Broken),
}

/// Checks that a judgement leaves to its caller.
pub(super) enum Left<'a> {
    Nothing,
    Shuffles,
    All(&'a mut Vec<Deferred>),
}

/// A check of an entry that counts otherwise. It needs nothing that comes later.
#[derive(Debug)]
pub enum Deferred {
    /// The proof of its shares.
    Shares(Box<ShareClaim>),
    /// Whether its seed gives what its seat has sent.
    Opening(Box<OpenedSeed>),
}

/// A seat's opened seed, with everything that the seat has sent in the deal.
#[derive(Debug)]
pub struct OpenedSeed {
    deal: Deal,
    seat: Seat,
    seed: Seed,
}

impl OpenedSeed {
    /// Whether all seeds give all of it and all proofs of shares hold, in one sum. `false` proves nothing.
    pub fn hold_with(shares: &ShareFold, openings: &[Self]) -> bool {
        let opened = openings.iter().map(|Self { deal, seat, seed }| {
            let (secret, own) = deal.opened_key(*seat, seed).ok()?;
            deal.reproduction(*seat, seed, &secret, &own)
        });
        let opened: Option<Vec<Reproduction<'_>>> = opened.collect();
        opened.is_some_and(|opened| Reproduction::hold_with(shares, &opened))
    }
}

/// A deal with the seeds of those that have opened theirs.
#[derive(Debug)]
pub struct OpenedDeal {
    deal: Deal,
    seeds: BTreeMap<Seat, Seed>,
}

impl OpenedDeal {
    /// The faces of the deal's sealed cards, from its seeds and the shares in the log. If the seeds are not verified,
    /// neither are the faces.
    pub fn faces(&self) -> Faces {
        self.deal.faces_by(&self.seeds)
    }
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
        let left = match proofs {
            Proofs::Verify => Left::Nothing,
            Proofs::Defer => Left::Shuffles,
        };
        self.examine_but(entry, held, left)
    }

    /// As [`Self::examine`] with [`Proofs::Defer`], and leaves the costly checks to the caller. If the entry counts and
    /// one of them fails, its true verdict is a fault.
    pub fn examine_later(&self, entry: &Entry, held: &BTreeMap<Seat, Entry>, deferred: &mut Vec<Deferred>) -> Verdict {
        self.examine_but(entry, held, Left::All(deferred))
    }

    /// The deal that the open step opens, with its seeds.
    pub fn opened(&self, seeds: BTreeMap<Seat, Seed>) -> OpenedDeal {
        OpenedDeal { deal: self.opening().clone(), seeds }
    }

    fn examine_but(&self, entry: &Entry, held: &BTreeMap<Seat, Entry>, left: Left<'_>) -> Verdict {
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
        match self.judge(kind, entry, held, left) {
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
        mut left: Left<'_>,
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
                self.judge_answers(seat, answers, &self.owed_first(seat, seat, &preview), &mut left)?;
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
                    self.judge_answers(seat, answers, &Owed::default(), &mut left)?;
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
                self.judge_answers(seat, answers, &owed, &mut left)?;
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
                self.judge_answers(seat, answers, &self.owed(seat), &mut left)?;
                Ok(true)
            }
            //= P1.5
            (StepKind::Shuffle { .. }, Body::Shuffle(shuffled)) if !self.has_shuffled(seat) => {
                Ok(self.judge_shuffle(seat, shuffled, held, &left)?)
            }
            (StepKind::Shuffle { .. }, Body::Confirm) if self.has_shuffled(seat) => Ok(true),
            (StepKind::Escrow, Body::Escrow { parts, shuffled }) => {
                let key = self.deal.key(seat).ok_or(EscrowError::Sum)?;
                let holders = self.holders(seat).into_keys().collect();
                escrow::check_public(parts, holders, key)?;
                Ok(self.judge_early(seat, shuffled.as_ref(), held, &left)?)
            }
            (StepKind::Accept, Body::Accept { complaints, shuffled }) => {
                // A complaint about a seat that is already out is valid, because the order in which faults become known
                // must not matter.
                let unfounded = complaints.iter().find(|(owner, complaint)| !self.is_founded(seat, *owner, complaint));
                if let Some((owner, _)) = unfounded {
                    return Err(FaultKind::FalseComplaint { owner: *owner }.into());
                }
                Ok(self.judge_early(seat, shuffled.as_ref(), held, &left)?)
            }
            (StepKind::Rebuild { seat: gone }, Body::Rebuild { parts }) => {
                self.judge_parts(seat, gone, parts)?;
                Ok(true)
            }
            (StepKind::Opening, Body::Open { seed }) if self.turned.is_none() => {
                self.judge_opening(seat, Seed::from_opened(*seed), &mut left)?;
                Ok(true)
            }
            (StepKind::Opening, Body::Turn { seed, answers }) if self.turned.is_some() => {
                self.judge_answers(seat, answers, &self.owed(seat), &mut left)?;
                self.judge_opening(seat, Seed::from_opened(*seed), &mut left)?;
                Ok(true)
            }
            (kind, body) => Err(FaultKind::WrongKind {
                got: body.kind(),
                wanted: match kind {
                    StepKind::Shuffle { .. } if self.has_shuffled(seat) => StepKind::Confirm.due(seat),
                    StepKind::Opening if self.turned.is_some() => "opening with answers",
                    kind => kind.due(seat),
                },
            }
            .into()),
        }
    }

    /// Judges an opened seed against everything that its seat has sent in the deal.
    fn judge_opening(&self, seat: Seat, seed: Seed, left: &mut Left<'_>) -> Result<(), FaultKind> {
        let deal = self.opening();
        match left {
            Left::All(deferred) => {
                let deal = deal.clone();
                deferred.push(Deferred::Opening(Box::new(OpenedSeed { deal, seat, seed })));
            }
            Left::Nothing | Left::Shuffles => deal.check_opening(seat, &seed)?,
        }
        Ok(())
    }

    //= T5.16, P1.6
    fn judge_shuffle(
        &self,
        seat: Seat,
        shuffled: &Shuffled,
        held: &BTreeMap<Seat, Entry>,
        left: &Left<'_>,
    ) -> Result<bool, FaultKind> {
        self.judge_protocol(&shuffled.proof)?;
        let Some(statement) = self.statement(seat, shuffled, held) else {
            return Ok(false);
        };
        self.judge_statement(statement, &shuffled.proof, left)?;
        Ok(true)
    }

    fn judge_protocol(&self, proof: &ShuffleProof) -> Result<(), FaultKind> {
        let staged = match proof {
            ShuffleProof::Whole(_) => false,
            ShuffleProof::Staged(_) => true,
        };
        if staged == (self.protocol == Protocol::Two) { Ok(()) } else { Err(FaultKind::OtherProof { staged }) }
    }

    /// Judges the proof of a shuffle, unless that is left to the caller.
    pub(super) fn judge_statement(
        &self,
        statement: Statement,
        proof: &ShuffleProof,
        left: &Left<'_>,
    ) -> Result<(), FaultKind> {
        self.judge_protocol(proof)?;
        if matches!(left, Left::Nothing) {
            crate::crypto::shuffle::verify(statement, proof)?;
        }
        Ok(())
    }

    /// Judges the shuffle that comes with an escrow or an acceptance: only the seat whose turn it is sends one.
    //= T5.15, P3.6
    fn judge_early(
        &self,
        seat: Seat,
        shuffled: Option<&Shuffled>,
        held: &BTreeMap<Seat, Entry>,
        left: &Left<'_>,
    ) -> Result<bool, FaultKind> {
        match (shuffled, self.early_shuffler() == Some(seat)) {
            (None, false) => Ok(true),
            (Some(shuffled), true) => {
                // Its input follows from earlier steps, so there is nothing to wait for.
                if self.judge_shuffle(seat, shuffled, held, left)? { Ok(true) } else { Err(FaultKind::OtherDeck) }
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
    fn judge_answers(&self, seat: Seat, answers: &Answers, owed: &Owed, left: &mut Left<'_>) -> Result<(), FaultKind> {
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
            match left {
                Left::All(deferred) => {
                    let proof = shares.proof.clone();
                    let claim = ShareClaim { place, key: *key, shares: list, proof };
                    deferred.push(Deferred::Shares(Box::new(claim)));
                }
                Left::Nothing | Left::Shuffles => {
                    shares.proof.verify(&place, key, &list).map_err(|_| FaultKind::ShareProof)?;
                }
            }
        }
        answers.part.as_ref().map_or(Ok(()), |part| self.judge_part(seat, part, left))
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
        let mut base = (run.before(&self.parent), Arc::clone(run.cards()));
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

    /// The name of the printed deck.
    pub fn deck_name(&self) -> &'static str {
        self.deal.deck_name()
    }

    /// The protocol by which the table plays.
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// The joint key of the deal.
    pub fn joint_key(&self) -> &Point {
        self.deal.joint()
    }

    /// The statement that a shuffle entry of the open step proves; `None` if it names an unknown deck.
    pub fn shuffle_statement(&self, entry: &Entry, held: &BTreeMap<Seat, Entry>) -> Option<Statement> {
        match entry.body().shuffled() {
            Some(shuffled) => self.statement(entry.seat(), shuffled, held),
            None => self.statement_ahead(entry.seat(), entry.body().part()?.shuffled()?),
        }
    }

    fn statement(&self, seat: Seat, shuffled: &Shuffled, held: &BTreeMap<Seat, Entry>) -> Option<Statement> {
        let run = self.run()?;
        let (onto, input) = self.shuffle_base(seat, held)?;
        if onto != shuffled.onto {
            return None;
        }
        Some(Statement {
            place: run.place(self.context(seat)),
            key: *self.deal.joint(),
            input,
            output: Arc::new(shuffled.deck.to_vec()),
        })
    }
}
