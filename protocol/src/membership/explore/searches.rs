//! The searches: their sizes, and what each has to reach.
//!
//! A plain `cargo test` runs the small ones in seconds. Most of them let the suspect be gone after its first entry, which
//! others may still receive at any time. `just explore` runs the large ones, too, where it is slow but present.

use super::Goal::*;
use super::{Action, Goal, Scope, parties, scope, search, set};
use crate::seat::Seat;

/// One party of `seats` is slow. The first round's proposer is another.
fn slow(seats: usize, goals: &[Goal]) -> Scope {
    let last = set(&[seats - 1]);
    Scope { late: last, suspects: last, rounds: 1, ..scope(seats, goals) }
}

/// One party of `seats` is gone after its first entry.
fn gone(seats: usize, goals: &[Goal]) -> Scope {
    let slow = slow(seats, goals);
    Scope { gone: slow.suspects, ..slow }
}

/// Seat 0 is slow, and proposes in the first of two rounds.
#[test]
fn three_parties() {
    let goals = [Removal, Keep, Veto, LaterRound, NoticeOfRemoval, Ahead];
    search("three parties", scope(3, &goals));
}

#[test]
fn any_order() {
    let any_order = Scope { gossips: false, ..gone(3, &[Removal, Keep, Veto]) };
    search("any order", any_order);
}

#[test]
fn crash() {
    let goals = [LossThenRemoval, LossThenVeto, Keep, NoticeOfRemoval];
    let crashes = Scope { crashes: 1, ..slow(3, &goals) };
    search("a crash", crashes);
}

fn without_leader() -> Scope {
    Scope { leads: true, ..scope(3, &[Removal, Keep, Veto, LaterRound, LeaderOut]) }
}

#[test]
fn absent_leader() {
    let gone = Scope { gone: set(&[0]), goals: vec![Removal, Keep, LaterRound, LeaderOut], ..without_leader() };
    search("a leader is gone", gone);
}

/// The cheat signs up to that many records besides its first entry.
fn cheat(cheats: usize, goals: &[Goal]) -> Scope {
    Scope { bad: Seat::new(2), cheats, heals: false, ..scope(3, goals) }
}

#[test]
fn one_cheats() {
    let goals = [Removal, Veto, NoticeOfRemoval, Ahead, Conviction, CheatRemoves];
    search("one cheats", cheat(3, &goals));
}

const IN_TWO_STEPS: [Goal; 5] = [Removal, Keep, Veto, SecondStep, ReleaseAcrossSteps];

#[test]
fn two_steps() {
    let two = Scope { steps: 2, ..gone(3, &IN_TWO_STEPS) };
    search("two steps", two.clone());
    let crash = Scope {
        crashes: 1,
        heals: false,
        goals: vec![SecondStep, ReleaseAcrossSteps, LossThenRemoval, LossThenVeto],
        ..two
    };
    search("two steps and a crash", crash);
}

#[test]
fn four_parties() {
    let four = Scope { heals: false, ..gone(4, &[Removal, Keep, Veto]) };
    search("four parties", four);
}

/// The party of seats 2 and 3 is gone, and seat 2's entry is late.
#[test]
fn party_of_two_is_gone() {
    let party = Scope {
        parties: parties(&[0, 1, 2, 2]),
        late: set(&[2]),
        suspects: set(&[2]),
        gone: set(&[2, 3]),
        ..gone(4, &[Removal, Keep, WholeParty, EntryOfRemoved])
    };
    search("a party of two seats is gone", party);
}

/// Seats 3 and 4 are gone, and seat 3's entry is lost. All others have consented to its removal before the search
/// begins.
#[test]
fn group_is_removed() {
    let consents = (0..3).map(|by| Action::Overdue(by, Seat::new(3).unwrap()));
    let all = (0..3).flat_map(|from| (0..3).map(move |to| Action::Gossip(from, to)));
    let told = all.filter(|action| !matches!(action, Action::Gossip(from, to) if from == to));
    let group = Scope {
        late: set(&[3]),
        lost: set(&[3]),
        suspects: set(&[3]),
        silent: set(&[3, 4]),
        gone: set(&[3, 4]),
        opening: consents.chain(told).collect(),
        ..gone(5, &[Removal, Group, EntryOfRemoved])
    };
    search("a group", group);
}

/// The large searches of `just explore`.
mod large {
    use super::*;

    #[test]
    #[ignore = "large: just explore"]
    fn leader() {
        search("a leader is slow", without_leader());
    }

    #[test]
    #[ignore = "large: just explore"]
    fn crash_in_two_rounds() {
        let crashes =
            Scope { crashes: 1, ..scope(3, &[LossThenRemoval, LossThenVeto, Keep, LaterRound, NoticeOfRemoval]) };
        search("a crash, two rounds", crashes);
    }

    #[test]
    #[ignore = "large: just explore"]
    fn two_steps_with_a_slow_seat() {
        let slow =
            Scope { steps: 2, heals: false, ..slow(3, &[Removal, Keep, Veto, SecondStep, ReleaseAcrossSteps, Ahead]) };
        search("two steps, slow", slow);
    }

    #[test]
    #[ignore = "large: just explore"]
    fn four_parties_finish() {
        search("four parties finish", gone(4, &[Removal, Keep, Veto]));
    }

    #[test]
    #[ignore = "large: just explore"]
    fn cheat_signs_four_records() {
        let goals = [Removal, Keep, Veto, Ahead, Conviction, CheatRemoves];
        search("one cheats, four records", cheat(4, &goals));
    }

    #[test]
    #[ignore = "large: just explore"]
    fn cheat_removes_a_leader() {
        let led = Scope { leads: true, ..cheat(3, &[Removal, Veto, LeaderOut, Conviction, CheatRemoves]) };
        search("one cheats, a leader", led);
    }
}
