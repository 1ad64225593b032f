//! Statements of one seat that exclude each other, and records that their signer's consent forbids.

use super::slot::MAX_RELEASES;
use super::statement::{Reason, Says, Statement, Verified};
use super::step::{Consent, EntryNames, StepRemoval};
use crate::hash::Hash32;
use crate::seat::{Seat, SeatSet};

/// Whether an honest seat signs at most one of the two statements.
pub fn exclude(one: &Statement, other: &Statement) -> bool {
    let same = (one.table, one.step, one.seat) == (other.table, other.step, other.seat);
    let parted = one.parent != other.parent;
    same && (parted || directed(one, other) || directed(other, one))
}

fn directed(one: &Statement, other: &Statement) -> bool {
    let same_instance = one.instance == other.instance;
    match (&one.says, &other.says) {
        (Says::Consent { out, counted }, Says::Consent { out: other_out, counted: other_counted }) => {
            same_instance && out == other_out && counted != other_counted
        }
        (Says::Veto { seat, entry }, Says::Veto { seat: other_seat, entry: other_entry }) => {
            seat == other_seat && entry != other_entry
        }
        (Says::Veto { seat, entry }, Says::Consent { out, counted }) => {
            let bars = out.contains(*seat) && !counted.contains(&(*seat, *entry));
            other.instance >= one.instance && bars
        }
        (Says::Promise { round, accepted }, Says::Promise { round: other_round, accepted: other_accepted }) => {
            same_instance && round == other_round && accepted != other_accepted
        }
        (Says::Propose { round, .. }, Says::Propose { round: other_round, .. }) => {
            same_instance && round == other_round && one.says != other.says
        }
        (Says::Accept { round, proposal }, Says::Accept { round: other_round, proposal: other_proposal }) => {
            same_instance && round == other_round && proposal != other_proposal
        }
        (Says::Accept { round, proposal }, Says::Promise { round: promised, accepted }) => {
            let forgets = accepted.is_none_or(|reported| {
                reported.round < *round || (reported.round == *round && reported.proposal != *proposal)
            });
            same_instance && promised > round && forgets
        }
        _ => false,
    }
}

/// The standing of a seat's record with regard to its signer's consents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// No consent forbids it.
    Free,
    /// The release that it names, or a reason in that release, is unknown: its seat is missing.
    Waits,
    /// This consent forbids it, and the release that it names does not list that consent.
    Forbidden(Box<Verified>),
}

impl StepRemoval {
    /// The standing of a record of the next step that `seat` signed and that names `release`.
    ///
    /// `later` is the next step, which may hold the release.
    //= P5.21, P5.28
    pub(super) fn next_record(&self, later: &StepRemoval, seat: Seat, release: Option<Hash32>) -> Standing {
        let Some(outcome) = &self.outcome else {
            return Standing::Free;
        };
        let forbidden =
            self.all_consents().filter(|consent| consent.seat == seat && !is_inside(consent.out, outcome.removed));
        self.standing(forbidden, later, release, &outcome.entries)
    }

    /// The standing of an entry of this step that names other seats' entries of the step.
    //= P5.37
    pub(super) fn entry(
        &self,
        seat: Seat,
        names: &[(Seat, Hash32)],
        release: Option<Hash32>,
        known: &EntryNames,
    ) -> Standing {
        // An entry that a decision has put into the step counts for all seats.
        let fixed = self.fixed();
        let open = |(of, entry): &&(Seat, Hash32)| fixed.get(of) != Some(entry);
        let forbidden = self.all_consents().filter(|consent| {
            let mut named = names.iter().filter(open);
            consent.seat == seat && named.any(|(of, entry)| consent.bars(*of, *entry))
        });
        self.standing(forbidden, self, release, known)
    }

    fn standing<'a>(
        &'a self,
        forbidden: impl Iterator<Item = Consent<'a>>,
        later: &StepRemoval,
        release: Option<Hash32>,
        known: &EntryNames,
    ) -> Standing {
        let mut worst = Standing::Free;
        for consent in forbidden.filter(|consent| self.can_remove(consent)) {
            match self.account(consent, later, release) {
                None => return Standing::Waits,
                Some(None) => {
                    let held = self.named(&consent.hash).cloned();
                    return held.map_or(Standing::Waits, |held| Standing::Forbidden(Box::new(held)));
                }
                Some(Some(reason)) if self.holds(consent, &reason, known) => {}
                Some(Some(_)) => worst = Standing::Waits,
            }
        }
        worst
    }

    /// The reason that the named release, or one that it names in turn, gives for a consent: `None` if a release is
    /// unknown, `Some(None)` if they give no reason.
    fn account(
        &self,
        consent: Consent<'_>,
        later: &StepRemoval,
        mut release: Option<Hash32>,
    ) -> Option<Option<Reason>> {
        // Each release names the previous one, of its own step or the step before.
        for _ in 0..=2 * MAX_RELEASES {
            let Some(name) = release else {
                return Some(None);
            };
            let held = later.named(&name).or_else(|| self.named(&name))?;
            let Says::Release { reasons } = &held.statement().says else {
                return Some(None);
            };
            if held.seat() != consent.seat {
                return Some(None);
            }
            if let Some((_, reason)) = reasons.iter().find(|(of, _)| *of == consent.hash) {
                return Some(Some(reason.clone()));
            }
            release = held.statement().release;
        }
        Some(None)
    }

    /// Whether a reason is true, as far as this seat knows.
    //= P5.19
    fn holds(&self, consent: Consent<'_>, reason: &Reason, known: &EntryNames) -> bool {
        match reason {
            Reason::Decision(proposal) => {
                // Majorities may have accepted the same value in different rounds.
                let decision = self.decisions().get(usize::from(consent.instance));
                let named = self.named(proposal).map(Verified::statement);
                decision.zip(named).is_some_and(|(decision, named)| {
                    let same = matches!(&named.says, Says::Propose { value, .. } if *value == decision.value);
                    let here = named.instance == consent.instance;
                    here && same && !is_inside(consent.out, decision.value.removed())
                })
            }
            Reason::Vetoes(names) => {
                let stays = self.live(consent.instance).minus(consent.out);
                stays.without(consent.seat).iter().any(|seat| {
                    consent.out.iter().all(|target| {
                        let veto = self.veto(seat, target, consent.instance, known);
                        veto.is_some_and(|veto| names.contains(&veto.hash()))
                    })
                })
            }
        }
    }
}

fn is_inside(set: SeatSet, other: SeatSet) -> bool {
    set.minus(other).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::membership::statement::{Accepted, Entries};

    fn statement(instance: u16, says: Says) -> Statement {
        Statement {
            table: Hash32([1; 32]),
            step: 4,
            parent: Hash32([2; 32]),
            instance,
            seat: Seat::new(0).unwrap(),
            release: None,
            says,
        }
    }

    fn entry(byte: u8) -> (Seat, Hash32) {
        (Seat::new(1).unwrap(), Hash32([byte; 32]))
    }

    fn consent(counted: &[(Seat, Hash32)]) -> Says {
        let out = [1, 2].into_iter().filter_map(Seat::new).collect();
        let counted: Entries = counted.to_vec().try_into().unwrap();
        Says::Consent { out, counted }
    }

    fn veto(byte: u8) -> Says {
        let (seat, entry) = entry(byte);
        Says::Veto { seat, entry }
    }

    fn promise(round: u16, accepted: Option<(u16, u8)>) -> Says {
        let accepted = accepted.map(|(round, byte)| Accepted { round, proposal: Hash32([byte; 32]) });
        Says::Promise { round, accepted }
    }

    fn accept(round: u16, byte: u8) -> Says {
        let proposal = Hash32([byte; 32]);
        Says::Accept { round, proposal }
    }

    /// Checks the exclusion in both directions.
    fn excluded(one: (u16, Says), other: (u16, Says)) -> bool {
        let (one, other) = (statement(one.0, one.1), statement(other.0, other.1));
        let found = exclude(&one, &other);
        assert_eq!(found, exclude(&other, &one));
        found
    }

    #[test]
    fn a_consent_has_one_set_of_entries() {
        let (none, one) = (consent(&[]), consent(&[entry(5)]));
        assert!(excluded((0, none.clone()), (0, one.clone())));
        assert!(!excluded((0, none.clone()), (1, one)), "another instance");
        assert!(!excluded((0, none.clone()), (0, none)), "the same again");
    }

    #[test]
    fn a_veto_forbids_later_consents_without_its_entry() {
        let without = || consent(&[]);
        assert!(excluded((1, veto(5)), (1, without())));
        assert!(excluded((1, veto(5)), (2, without())));
        assert!(!excluded((1, veto(5)), (0, without())), "an earlier consent");
        assert!(!excluded((1, veto(5)), (1, consent(&[entry(5)]))));
        assert!(excluded((1, veto(5)), (1, consent(&[entry(6)]))));
        assert!(excluded((0, veto(5)), (3, veto(6))), "two entries");
    }

    #[test]
    fn a_promise_reports_the_last_accept() {
        assert!(excluded((0, accept(2, 7)), (0, promise(3, None))));
        assert!(excluded((0, accept(2, 7)), (0, promise(3, Some((1, 7))))));
        assert!(excluded((0, accept(2, 7)), (0, promise(3, Some((2, 8))))));
        assert!(!excluded((0, accept(2, 7)), (0, promise(3, Some((2, 7))))));
        assert!(!excluded((0, accept(2, 7)), (0, promise(2, None))));
        assert!(!excluded((0, accept(2, 7)), (1, promise(3, None))));
        assert!(excluded((0, accept(2, 7)), (0, accept(2, 8))));
        assert!(excluded((0, promise(1, None)), (0, promise(1, Some((0, 7))))));
    }

    #[test]
    fn one_step_has_one_step_before() {
        let one = statement(0, veto(5));
        let other = Statement { parent: Hash32([9; 32]), ..one.clone() };
        assert!(exclude(&one, &other));
        let elsewhere = Statement { step: 5, ..other };
        assert!(!exclude(&one, &elsewhere));
    }
}
