//! Independent pieces of an audit, and the hands that carry them out.
//!
//! Most of an audit needs no replay: reading entries, with their points and signatures, and the proofs and opened seeds of
//! a deal. An audit gives such [`Piece`]s to its [`Hands`] and goes on. Here nothing runs beside anything else. Whoever
//! has threads implements [`Hands`] with them; [`Alone`] carries out a piece when its result is asked for.
//!
//! A piece says whether all of it holds, and an audit takes no more from it. So neither the order in which pieces are
//! finished nor who carries them out can change a verdict.
//!
//! Where threads share no memory, as in a browser, each has an audit of its own with a [`Slice`] as its hands.

use std::collections::VecDeque;
use std::fmt::Debug;
use std::num::NonZero;
use std::ops::Range;
use std::sync::Arc;

use crate::charter::SignedCharter;
use crate::crypto::share::ShareFold;
use crate::crypto::shuffle::Fold;
use crate::log::entry::{Entry, EntryError, SignedEntry};
use crate::table::replica::OpenedSeed;
use crate::transcript::Transcript;

/// How many kinds of pieces there are.
const KINDS: usize = 3;

/// A piece of an audit that nothing else has to wait for in order.
#[derive(Debug)]
pub struct Piece(Work);

#[derive(Debug)]
enum Work {
    /// Decodes entries and verifies their signatures.
    Entries { transcript: Arc<Transcript>, range: Range<usize> },
    /// All shuffle proofs of a deal.
    Shuffles(Fold),
    /// All share proofs of a deal, and its opened seeds.
    Deal(ShareFold, Vec<OpenedSeed>),
}

/// The result of a piece.
#[derive(Debug)]
pub struct Done(Outcome);

#[derive(Debug)]
pub(super) enum Outcome {
    /// Signed entries, from this index of the transcript on.
    Entries { first: usize, entries: Vec<Entry> },
    /// All of the piece holds.
    Holds,
    /// Something in the piece does not hold.
    Fails,
}

/// Carries out pieces.
pub trait Hands: Debug + Send {
    /// Takes a piece.
    fn give(&mut self, piece: Piece);

    /// The result of a finished piece. If none is finished: `None`, or if `wait`, the next one; then `None` only if no
    /// piece is left.
    fn take(&mut self, wait: bool) -> Option<Done>;
}

/// Hands that carry out each piece in the caller's thread, in the order given.
#[derive(Debug, Default)]
pub struct Alone(VecDeque<Piece>);

impl Hands for Alone {
    fn give(&mut self, piece: Piece) {
        self.0.push_back(piece);
    }

    fn take(&mut self, wait: bool) -> Option<Done> {
        let next = if wait { self.0.pop_front() } else { None };
        next.map(Piece::carry_out)
    }
}

/// The hands of one of several audits of the same transcript. Each of them replays the whole log and carries out its own
/// share of the pieces; it takes those of the others for done. So all is well only if each of them says so. If one of
/// them does not, its own audit reads everything again, in order, as always.
#[derive(Debug)]
pub struct Slice {
    number: usize,
    of: NonZero<usize>,
    /// How many pieces of each kind have been given.
    given: [usize; KINDS],
    queue: VecDeque<(Piece, bool)>,
}

impl Slice {
    /// The slice with this number, from 0, of so many; `None` if there is no such slice.
    pub fn new(number: usize, of: NonZero<usize>) -> Option<Self> {
        (number < of.get()).then(|| Self { number, ..Self::first(of) })
    }

    /// The first slice of so many. It has the least to do.
    pub fn first(of: NonZero<usize>) -> Self {
        Self { number: 0, of, given: [0; KINDS], queue: VecDeque::new() }
    }
}

impl Hands for Slice {
    fn give(&mut self, piece: Piece) {
        let kind = piece.kind();
        let Self { number, of, .. } = *self;
        let is_own = self.given.get_mut(kind).is_none_or(|given| {
            let turn = *given;
            *given += 1;
            match (&piece.0, NonZero::new(of.get() - 1)) {
                // Whoever shows the audit has more to do besides.
                (Work::Entries { .. }, Some(others)) => turn % others + 1 == number,
                // The proofs of a deal fall to different slices.
                _ => (turn + kind) % of == number,
            }
        });
        self.queue.push_back((piece, is_own));
    }

    fn take(&mut self, wait: bool) -> Option<Done> {
        let (piece, is_own) = if wait { self.queue.pop_front() } else { None }?;
        Some(if is_own { piece.carry_out() } else { piece.take_for_done() })
    }
}

impl Piece {
    /// The number of its kind, below [`KINDS`].
    fn kind(&self) -> usize {
        match self.0 {
            Work::Entries { .. } => 0,
            Work::Shuffles(_) => 1,
            Work::Deal(..) => 2,
        }
    }

    /// Its result, as far as the replay needs it, if all of it holds. Whether it does, another audit says.
    fn take_for_done(self) -> Done {
        match self.0 {
            Work::Entries { transcript, range } => Self::read(&transcript, range, SignedEntry::read),
            Work::Shuffles(_) | Work::Deal(..) => Done(Outcome::Holds),
        }
    }

    fn read(
        transcript: &Transcript,
        range: Range<usize>,
        read: fn(&SignedEntry, &SignedCharter) -> Result<Entry, EntryError>,
    ) -> Done {
        let first = range.start;
        let signed = transcript.entries().get(range).unwrap_or_default();
        let entries: Option<Vec<Entry>> = signed.iter().map(|signed| read(signed, transcript.charter()).ok()).collect();
        Done(entries.map_or(Outcome::Fails, |entries| Outcome::Entries { first, entries }))
    }

    pub(super) fn entries(transcript: &Arc<Transcript>, range: Range<usize>) -> Self {
        Self(Work::Entries { transcript: Arc::clone(transcript), range })
    }

    pub(super) fn shuffles(fold: Fold) -> Self {
        Self(Work::Shuffles(fold))
    }

    pub(super) fn deal(shares: ShareFold, openings: Vec<OpenedSeed>) -> Self {
        Self(Work::Deal(shares, openings))
    }

    /// Carries it out.
    pub fn carry_out(self) -> Done {
        let holds = match self.0 {
            Work::Entries { transcript, range } => return Self::read(&transcript, range, SignedEntry::verify),
            Work::Shuffles(fold) => fold.verify().is_ok(),
            Work::Deal(shares, openings) => OpenedSeed::hold_with(&shares, &openings),
        };
        Done(if holds { Outcome::Holds } else { Outcome::Fails })
    }
}

impl Done {
    /// The result of a piece that could not be carried out. The audit then reads everything again, in order.
    pub fn failed() -> Self {
        Self(Outcome::Fails)
    }

    pub(super) fn outcome(self) -> Outcome {
        self.0
    }
}
