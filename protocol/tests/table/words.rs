//! What one dishonest seat can do with words on giving rounds up, on having acted, on halts, and what a claim shows.
//! Each test states what should hold.

use fairdeal_protocol::audit::auditor::audit;
use fairdeal_protocol::audit::transcript::Transcript;
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::log::ballot::{Ballot, Release, SignedBallot};
use fairdeal_protocol::log::body::Body;
use fairdeal_protocol::log::entry::{Content, Entry, SignedEntry};
use fairdeal_protocol::log::equivocation::Equivocation;
use fairdeal_protocol::seat::SeatSet;
use fairdeal_protocol::table::journal::Record;
use fairdeal_protocol::table::live::{Output, Stop};
use fairdeal_protocol::table::replica::StepKind;
use fairdeal_protocol::wire::message::Message;

use super::drill::{Drill, rules};
use super::scene::{PATIENCE, Scene, ballots, is_ballots, seat};
use super::sim::charter;

/// Three seats, a perfect network. Seat 2 never sends its commitment. Before each round it signs in it that seat 0
/// is out, and gives the round up without seat 1: seat 0 joins in that, "as the target", and so the round in which
/// the two honest ones vote seat 2 out is dead before it begins.
#[test]
fn a_silent_seat_is_voted_out_whatever_it_gives_up() {
    assert!(voted_out_in_the_end(false), "it says nothing");
    assert!(voted_out_in_the_end(true), "it is still in");
}

fn voted_out_in_the_end(gives_up_too: bool) -> bool {
    let mut scene = Scene::new(3);
    let honest = [0, 1];
    for (to, from) in [(0, 1), (1, 0)] {
        scene.bring(to, scene.commits[from].clone());
    }
    let mut round = 0;
    for _ in 0..40 * PATIENCE / 1000 {
        scene.rest(&honest, 1000);
        if !scene.has(0, 2) || scene.step(0) > 0 {
            break;
        }
        if gives_up_too && (scene.now == 1000 || scene.voted[0] >= round) {
            round = scene.voted[0] + 1;
            let vote = scene.word(2, round, None, Some(0));
            let gives_up = [0, 2].map(|of| scene.word(2, round, Some((of, 1)), None));
            let [first, second] = gives_up;
            scene.bring(0, ballots(&[vote, first, second]));
        }
    }
    !scene.has(0, 2) && !scene.has(1, 2)
}

/// Three seats; seat 2 is silent. Seats 0 and 1 vote it out; the ballot of seat 1 takes half a second to seat 0.
/// Seat 1 acts. Seat 2 has seat 0 give the round up without seat 1 at once, without any patience.
#[test]
fn who_votes_out_a_silent_seat_is_not_thrown_out_for_it() {
    let mut scene = Scene::new(3);
    let honest = [0, 1];
    for (to, from) in [(0, 1), (1, 0)] {
        scene.bring(to, scene.commits[from].clone());
    }
    for index in honest {
        scene.tick(index);
    }
    scene.carry(&honest, false, &|_, _, _| true);
    scene.now = PATIENCE + 1000;
    scene.tick(1);
    // What seat 1 says is on its way for half a second. The cheat has heard it.
    let vote = scene.word(2, 1, None, Some(0));
    let [first, second] = [0, 2].map(|of| scene.word(2, 1, Some((of, 1)), None));
    scene.bring(0, ballots(&[vote, first, second]));
    scene.now += 500;
    scene.tick(0);
    // Everything arrives now.
    scene.carry(&honest, false, &|_, _, _| true);
    // Only now the cheat sends its entry.
    scene.bring(0, scene.commits[2].clone());
    scene.rest(&honest, 10 * PATIENCE);
    assert_eq!(scene.stopped(1), None);
}

/// Three seats: seat 1 is late, seats 0 and 2 vote it out, and seat 0 acts. Seat 2 then gives the round up without
/// seat 0. Seat 1 holds the ballots of both, and seat 0's word that it has acted.
#[test]
fn a_target_that_holds_the_ballot_does_not_drop_its_voter() {
    let mut scene = Scene::new(3);
    let honest = [0, 1];
    scene.bring(0, scene.commits[2].clone());
    scene.wait(0);
    scene.bring(0, ballots(&[scene.word(2, 1, None, Some(1))]));
    assert!(!scene.has(0, 1));
    // Seat 1 is back, and hears everything that seat 0 says.
    scene.bring(1, scene.commits[0].clone());
    scene.bring(1, scene.commits[2].clone());
    scene.tick(1);
    scene.carry(&honest, false, &|_, _, _| true);
    scene.rest(&honest, 3000);
    assert_eq!(scene.stopped(0), None);
    scene.bring(1, ballots(&[scene.word(2, 1, Some((1, 0)), None)]));
    scene.rest(&honest, 3000);
    assert_eq!(scene.stopped(0), None);
}

/// Five seats: 4 is late; 0, 1, 2 and the cheat 3 vote it out. The ballot of seat 2 does not come to 0 and 1 for a
/// while, who give the round up. The cheat tells seat 0 that it has acted, and seat 1 that it gives up as well.
#[test]
fn a_word_of_having_acted_does_not_part_two_voters() {
    let mut scene = Scene::new(5);
    let honest = [0, 1, 2, 4];
    for to in [0, 1, 2] {
        for from in [0, 1, 2, 3].into_iter().filter(|from| *from != to) {
            scene.bring(to, scene.commits[from].clone());
        }
    }
    for index in [0, 1, 2] {
        scene.tick(index);
    }
    scene.way.clear();
    scene.now = PATIENCE + 1000;
    for index in [0, 1, 2] {
        scene.tick(index);
        scene.bring(index, ballots(&[scene.word(3, 1, None, Some(4))]));
    }
    // Nothing of seat 2 comes through yet, and nothing to the late one.
    let blocked = |from: usize, to: usize, _: &Message| from != 2 && to != 4;
    scene.carry(&honest, false, &blocked);
    assert!(!scene.has(2, 4), "seat 2 has acted");
    for index in [0, 1] {
        scene.bring(index, scene.commits[4].clone());
    }
    for _ in 0..2 {
        scene.now += PATIENCE;
        for index in [0, 1] {
            scene.tick(index);
        }
        scene.carry(&[0, 1], false, &blocked);
    }
    // They vote on the silent seat, too; the cheat says that it stands.
    for to in [0, 1] {
        scene.bring(to, ballots(&[scene.word(3, 2, None, None)]));
    }
    assert!(scene.has(0, 4) && scene.step(0) == 0 && scene.step(1) == 0);
    // The cheat has an old ballot of seat 2 for seat 0, and its own two words.
    let missing = scene.word(2, 1, None, Some(4));
    scene.bring(
        0,
        ballots(&[scene.word(3, 1, Some((4, 4)), Some(4)), missing]),
    );
    scene.way.clear();
    scene.bring(1, ballots(&[scene.word(3, 1, Some((4, 2)), None)]));
    for from in [0, 1, 2, 3] {
        scene.bring(4, scene.commits[from].clone());
    }
    // A good network from now on.
    scene.carry(&honest, false, &|_, _, _| true);
    scene.rest(&honest, 60 * PATIENCE);
    let up: Vec<usize> = honest
        .into_iter()
        .filter(|i| scene.stopped(*i).is_none())
        .collect();
    let parted = up
        .windows(2)
        .any(|two| scene.has(two[0], 4) != scene.has(two[1], 4));
    assert!(
        !parted,
        "two who stay hold the step differently, and nobody is blamed: {:?}",
        scene.blamed
    );
}

/// Five seats: 4 is late, and the others vote it out. The ballot of seat 3 does not come to seat 0, who gives the round
/// up without it. Seats 1 and 2 have gone on, too many steps ahead to sign against that: two words on having acted are
/// as much, one is not.
#[test]
fn two_words_on_having_acted_free_who_has_given_the_round_up() {
    let mut scene = Scene::new(5);
    for from in [1, 2, 3] {
        scene.bring(0, scene.commits[from].clone());
    }
    scene.wait(0);
    let votes = [1, 2].map(|by| scene.word(by, 1, None, Some(4)));
    scene.bring(0, ballots(&votes));
    scene.bring(0, scene.commits[4].clone());
    scene.way.clear();
    scene.now += PATIENCE + 1;
    scene.tick(0);
    let gave_up = |(_, _, message): &(usize, usize, Message)| match message {
        Message::Ballots(signed) => signed.iter().map(SignedBallot::ballot).any(|word| {
            let (target, without) = (seat(4), seat(3));
            word.release == Some(Release { target, without }) && word.gives_up()
        }),
        _ => false,
    };
    assert!(scene.way.iter().any(gave_up));
    // It has voted on the silent seat as well, in vain.
    let stands = scene.word(1, 2, None, None);
    scene.bring(0, ballots(&[scene.word(3, 1, None, Some(4)), stands]));
    assert!(scene.has(0, 4), "it has given the round up");
    for by in [1, 2] {
        assert!(scene.has(0, 4), "one word may be a cheat's");
        scene.bring(0, ballots(&[scene.word(by, 1, Some((4, 4)), Some(4))]));
    }
    assert!(!scene.has(0, 4), "one of the two is honest, and has acted");
}

/// Four seats: 3 is late; 0, 1 and the cheat 2 vote it out, seat 0 acts; its ballot does not come to seat 1 for a
/// while, who gives the round up, with the cheat. The cheat tells the late one that it has acted.
#[test]
fn who_acts_and_gives_up_at_once_is_proved() {
    let mut scene = Scene::new(4);
    let honest = [0, 1, 3];
    for to in [0, 1] {
        for from in [0, 1, 2].into_iter().filter(|from| *from != to) {
            scene.bring(to, scene.commits[from].clone());
        }
    }
    for index in [0, 1] {
        scene.tick(index);
    }
    scene.way.clear();
    scene.now = PATIENCE + 1000;
    for index in [0, 1] {
        scene.tick(index);
        scene.bring(index, ballots(&[scene.word(2, 1, None, Some(3))]));
    }
    // Nothing from seat 0 comes to seat 1.
    let blocked = |from: usize, to: usize, _: &Message| !(from == 0 && to == 1) && to != 3;
    scene.carry(&honest, true, &blocked);
    assert!(!scene.has(0, 3), "seat 0 has acted");
    scene.bring(1, scene.commits[3].clone());
    for _ in 0..3 {
        scene.now += PATIENCE;
        scene.tick(1);
    }
    // The late one hears all that was said on the round, from seat 0 and the cheat.
    let mine: Vec<_> = scene
        .way
        .iter()
        .filter(|(from, _, m)| *from == 0 && is_ballots(m))
        .map(|(.., m)| m.clone())
        .collect();
    for from in [0, 1, 2] {
        scene.bring(3, scene.commits[from].clone());
    }
    for message in mine {
        scene.bring(3, message);
    }
    let all = [
        scene.word(2, 1, None, Some(3)),
        scene.word(1, 1, None, Some(3)),
        scene.word(2, 1, Some((3, 3)), Some(3)),
    ];
    scene.bring(3, ballots(&all));
    scene.bring(1, ballots(&[scene.word(2, 1, Some((3, 0)), None)]));
    for round in 2..5 {
        // Seat 0, which was counted, is voted on in these.
        scene.bring(1, ballots(&[scene.word(2, round, None, None)]));
    }
    assert!(
        scene.has(1, 3) && scene.step(1) > 0,
        "seat 1 goes on with the late one"
    );
    scene.rest(&honest, 60 * PATIENCE);
    // Whom it has set against each other cannot be put together again; but everybody can see who did it.
    assert!(!scene.blamed.is_empty() && scene.blamed.iter().all(|seat| seat.index() == 2));
}

/// Four seats; seat 2 leaves, and goes when it may. The cheat, seat 3, withholds its next entry until then, and
/// shows two faces.
fn two_faces_when_a_leaver_is_gone(goes: bool) -> [u64; 2] {
    let mut scene = Scene::new(4);
    let (signed, keys) = charter(&rules(4, 16));
    let id = signed.table();
    for to in 0..4 {
        for from in 0..4 {
            if to != from {
                scene.bring(to, scene.commits[from].clone());
            }
        }
    }
    let all = [0, 1, 2, 3];
    scene.carry(&all, false, &|_, _, _| true);
    scene.rest(&all, 2000);
    let leader = match scene.tables[0].progress().kind {
        Some(StepKind::Action { leader }) => leader,
        other => panic!("{other:?}"),
    };
    let played = scene.step(0);
    scene.tables[2].leave(&mut scene.rng).unwrap();
    scene.gather(2);
    let table = &mut scene.tables[leader.index()];
    if leader != seat(2) {
        let legal = table.game().legal(leader, table.known());
        let action = legal
            .into_iter()
            .find(|action| !table.game().out_of_turn(action));
        table.act(action.unwrap(), &mut scene.rng).unwrap();
        scene.gather(leader.index());
    }
    // The cheat's next escrow is not sent.
    let next_escrow = |message: &Message| match message {
        Message::Entries(entries) => entries.iter().find_map(|signed_entry: &SignedEntry| {
            let entry = signed_entry.verify(signed.charter(), &id).unwrap();
            let found = entry.seat() == seat(3)
                && entry.step() > played
                && matches!(entry.body(), Body::Escrow { .. });
            found.then_some(entry)
        }),
        _ => None,
    };
    let held = std::cell::RefCell::new(None);
    let pass = |from: usize, _: usize, message: &Message| {
        let found = next_escrow(message).filter(|_| from == 3);
        let none = found.is_none();
        if found.is_some() {
            *held.borrow_mut() = found;
        }
        none
    };
    for _ in 0..10 {
        scene.carry(&all, false, &pass);
        scene.now += 1000;
        for index in all {
            scene.tick(index);
        }
    }
    scene.carry(&all, false, &pass);
    let held: Entry = held
        .into_inner()
        .expect("the cheat has signed the next escrow");
    let content = Content {
        body: Body::Close,
        ..held.content().clone()
    };
    let other = Entry::sign(content, &keys[3]).unwrap();
    let evidence = Equivocation::of(&held, &other).unwrap();
    // Its driver ends the program as soon as that is so.
    let gone = goes && scene.tables[2].has_left();
    let honest: &[usize] = if gone { &[0, 1] } else { &[0, 1, 2] };
    for index in [0, 1] {
        scene.bring(index, Message::Evidence(Box::new(evidence.clone())));
    }
    scene.rest(honest, 60 * PATIENCE);
    [0, 1].map(|index| scene.step(index) - held.step())
}

#[test]
fn a_halt_does_not_wait_for_one_that_has_left() {
    assert!(
        two_faces_when_a_leaver_is_gone(false)[0] > 0,
        "while the leaver is there"
    );
    assert!(
        two_faces_when_a_leaver_is_gone(true)[0] > 0,
        "when the leaver has gone"
    );
}

/// Four seats: 3 is late, and the others vote it out. The cheat, seat 2, has signed two commitments: `other` is what
/// seat 1 gets of it. Seats 0 and 1 come to the next step, and the late one is back.
fn voted_out_beside_a_two_faced_seat(forks: bool) -> (Scene, Equivocation) {
    let mut scene = Scene::new(4);
    let (signed, keys) = charter(&rules(4, 16));
    let Message::Entries(entries) = &scene.commits[2] else {
        panic!();
    };
    let first = entries[0]
        .verify(signed.charter(), &signed.table())
        .unwrap();
    let Body::Commit { seed, .. } = first.body() else {
        panic!();
    };
    let body = Body::Commit {
        seed: *seed,
        tip: fairdeal_protocol::hash::Hash32([5; 32]),
    };
    let content = Content {
        body,
        ..first.content().clone()
    };
    let other = Entry::sign(content, &keys[2]).unwrap();
    let other_commit = Message::Entries(vec![other.signed().clone()].try_into().unwrap());
    let other_commit = if forks {
        other_commit
    } else {
        scene.commits[2].clone()
    };
    for (to, message) in [
        (0, scene.commits[1].clone()),
        (0, scene.commits[2].clone()),
        (1, scene.commits[0].clone()),
        (1, other_commit),
    ] {
        scene.bring(to, message);
    }
    for index in [0, 1] {
        scene.tick(index);
    }
    scene.way.clear();
    scene.now = PATIENCE + 1000;
    for index in [0, 1] {
        scene.tick(index);
        scene.bring(index, ballots(&[scene.word(2, 1, None, Some(3))]));
    }
    // Nothing but ballots is in time, and nothing comes to the late one.
    scene.carry(&[0, 1], false, &|_, to, message| {
        to != 3 && is_ballots(message)
    });
    assert_eq!((scene.step(0), scene.step(1)), (1, 1));
    let evidence = Equivocation::of(&first, &other).unwrap();
    (scene, evidence)
}

/// The cheat has parted seats 0 and 1 in the step from which the late one was voted out. All three are there, and
/// see it.
#[test]
fn two_faces_beside_a_vote_end_the_table_with_evidence() {
    let (mut scene, _) = voted_out_beside_a_two_faced_seat(true);
    let honest = [0, 1, 3];
    scene.rest(&honest, 30 * PATIENCE);
    for index in [0, 1] {
        let stopped = scene.stopped(index);
        assert!(matches!(stopped, Some(Stop::Fault(fault)) if fault.seat == seat(2)));
    }
}

/// Two have acted on the vote against seat 3, which hears of the two-faced seat before it hears that.
#[test]
fn who_has_said_its_word_learns_that_it_is_out() {
    let (mut scene, evidence) = voted_out_beside_a_two_faced_seat(false);
    let honest = [0, 1, 3];
    for from in [0, 1] {
        scene.bring(3, scene.commits[from].clone());
    }
    scene.bring(3, Message::Evidence(Box::new(evidence)));
    scene.rest(&honest, 30 * PATIENCE);
    assert!(
        !scene.has(0, 3) && scene.step(0) > 3,
        "the others have gone on"
    );
    assert_eq!(scene.stopped(3), Some(&Stop::VotedOut(0)));
}

/// Six seats wait for an entry, and nobody has voted. The cheat says once that five rounds are given up which nobody
/// has signed in.
#[test]
fn what_one_says_once_is_not_said_again_for_ever() {
    let mut scene = Scene::new(6);
    let honest = [0, 1, 2, 3, 4];
    for to in honest {
        for from in honest.into_iter().filter(|from| *from != to) {
            scene.bring(to, scene.commits[from].clone());
        }
    }
    scene.way.clear();
    let words: Vec<SignedBallot> = honest
        .iter()
        .map(|without| scene.word(5, 1, Some((usize::from(*without == 0), *without)), None))
        .collect();
    scene.bring(0, ballots(&words));
    let mut sent = Vec::new();
    for _ in 0..40 {
        scene.now += 100;
        for index in honest {
            scene.tick(index);
        }
        sent.push(
            scene
                .way
                .iter()
                .filter(|(.., message)| is_ballots(message))
                .count(),
        );
        scene.carry(&honest, false, &|_, _, _| true);
    }
    assert_eq!(sent.last(), Some(&0));
}

/// At a table of six nobody has voted. A ballot that calls three seats out that are not makes its target give up a
/// round in which nobody has said anything.
#[test]
fn nobody_gives_up_a_round_in_which_nobody_has_voted() {
    let mut scene = Scene::new(6);
    let (signed, keys) = charter(&rules(6, 16));
    let base: SeatSet = [2, 3, 4].into_iter().map(seat).collect();
    let ballot = Ballot {
        table: signed.table(),
        step: 0,
        round: 1,
        seat: seat(5),
        base,
        release: None,
        target: Some(seat(0)),
    };
    let vote = SignedBallot::sign(ballot, &keys[5]);
    scene.bring(0, ballots(&[vote, scene.word(5, 1, Some((0, 1)), None)]));
    scene.tick(0);
    let own = scene.way.iter().any(|(.., message)| match message {
        Message::Ballots(signed) => signed.iter().any(|s| s.ballot().seat == seat(0)),
        _ => false,
    });
    assert!(!own, "it gives the round up");
}

/// Three seats: the others have voted seat 0 out of a step that it has not come to. It goes by their word, and signs
/// against giving that up, whatever it is asked; that it has is on disk before it is sent.
#[test]
fn who_goes_by_the_word_of_both_gives_up_neither() {
    let mut scene = Scene::new(3);
    let (charter, keys) = charter(&rules(3, 16));
    let later = |by: usize, without: Option<usize>, round, target: Option<usize>| {
        let ballot = Ballot {
            table: charter.table(),
            step: 1,
            round,
            seat: seat(by),
            base: SeatSet::EMPTY,
            release: without.map(|without| Release {
                target: seat(0),
                without: seat(without),
            }),
            target: target.map(seat),
        };
        SignedBallot::sign(ballot, &keys[by])
    };
    let both = [later(1, None, 2, Some(0)), later(2, None, 2, Some(0))];
    scene.bring(0, ballots(&both));
    assert_eq!(scene.stopped(0), Some(&Stop::VotedOut(1)));
    scene.way.clear();
    let mut kept = Vec::new();
    let mut said = Vec::new();
    for _ in 0..2 {
        for round in 1..60 {
            let asks = ballots(&[later(1, Some(2), round, None)]);
            let table = &mut scene.tables[0];
            table.accept(seat(1), asks, &mut scene.rng).unwrap();
        }
        scene.now += 1000;
        let now = scene.now;
        scene.tables[0].tick(now, &mut scene.rng);
        while let Some(output) = scene.tables[0].poll() {
            match output {
                Output::Keep(record) => kept.push((said.len(), record)),
                Output::Send(_, Message::Ballots(signed)) => {
                    said.extend(signed.iter().map(|signed| *signed.ballot()));
                }
                _ => {}
            }
        }
    }
    let own = |word: &&Ballot| word.seat == seat(0);
    assert!(said.iter().filter(own).all(|word| !word.gives_up()));
    // The rounds up to that of the vote, and no others; both times.
    assert_eq!(said.iter().filter(own).count(), 4);
    let before = kept.iter().filter(|(said, _)| *said == 0);
    let words = before.filter(|(_, record)| matches!(record, Record::Ballot(_)));
    assert_eq!(
        (words.count(), kept.len()),
        (1, 1),
        "before it is sent, once"
    );
}

/// Three seats: one is put out of the open step, and the other is silent from then on. The claim of seat 0 comes with
/// what put that one out: else nobody could see that two were left.
#[test]
fn a_claim_shows_that_two_were_left() {
    for guilty in [false, true] {
        let mut scene = Scene::new(3);
        let (signed, keys) = charter(&rules(3, 16));
        if guilty {
            let Message::Entries(entries) = &scene.commits[2] else {
                panic!();
            };
            let commit = entries[0].verify(signed.charter(), &signed.table());
            let content = Content {
                body: Body::Close,
                ..commit.unwrap().content().clone()
            };
            let wrong = Entry::sign(content, &keys[2]).unwrap();
            let wrong = vec![wrong.signed().clone()].try_into().unwrap();
            scene.bring(0, Message::Entries(wrong));
        } else {
            // Of both it holds a ballot at most, and no entry.
            scene.tick(0);
            scene.now = PATIENCE + 1000;
            scene.tick(0);
            for (by, target) in [(1, 2), (2, 1)] {
                scene.bring(0, ballots(&[scene.word(by, 1, None, Some(target))]));
            }
        }
        assert_eq!(
            (scene.tables[0].replica().live().len(), scene.step(0)),
            (2, 0)
        );
        scene.tick(0);
        scene.now += 2 * PATIENCE;
        scene.tick(0);
        scene.tables[0].claim().unwrap();
        let transcript = scene.tables[0].transcript();
        let bytes = transcript.to_bytes().unwrap();
        let report = audit::<Drill>(&Transcript::from_bytes(&bytes).unwrap());
        assert_eq!(report.finding, None);
        assert_eq!(report.claims, [seat(0)]);
    }
}

/// Four seats; seat 3 is gone for good after its first entry. Seats 0, 1 and 2 vote it out in round 1; seat 1 alone
/// lacks seat 0's ballot and, when the entry has come to it, gives the round up without that. The others, who have
/// acted, miss it in the next step and vote it out there, and are steps ahead when it hears from them again.
#[test]
fn who_could_not_act_on_a_round_learns_that_it_is_out() {
    let mut scene = Scene::new(4);
    let honest = [0, 1, 2];
    for to in honest {
        for from in honest.into_iter().filter(|from| *from != to) {
            scene.bring(to, scene.commits[from].clone());
        }
    }
    let apart = |from: usize, to: usize, _: &Message| (from == 1) == (to == 1);
    for index in honest {
        scene.tick(index);
    }
    scene.carry(&honest, false, &|_, _, _| true);
    scene.now = PATIENCE + 1000;
    scene.tick(1);
    scene.carry(&honest, false, &|_, _, _| true);
    for index in [0, 2] {
        scene.tick(index);
    }
    scene.carry(&honest, false, &apart);
    assert!(
        !scene.has(0, 3) && !scene.has(2, 3),
        "two of them have acted"
    );
    scene.bring(1, ballots(&[scene.word(2, 1, None, Some(3))]));
    scene.bring(1, scene.commits[3].clone());
    while scene.step(0) < 3 || scene.step(2) < 3 || scene.now < 4 * PATIENCE {
        scene.now += 1000;
        for index in honest {
            scene.tick(index);
        }
        scene.carry(&honest, false, &apart);
    }
    assert_eq!(scene.step(1), 0);
    scene.rest(&honest, 2 * PATIENCE);
    assert_eq!(scene.stopped(1), Some(&Stop::VotedOut(1)));
}

/// Four seats; 0, 1 and 2 vote seat 3 out in two rounds, and it holds its step complete. Seat 0 sees the second round
/// carried first, seat 1 the first one, and seat 2 goes before it says anything: seat 0 says that it stands by the first
/// round as well, and the two are enough.
#[test]
fn who_has_acted_on_another_round_stands_by_this_one() {
    let mut scene = Scene::new(4);
    for from in [1, 2] {
        scene.bring(0, scene.commits[from].clone());
    }
    scene.tick(0);
    for _ in 0..4 {
        scene.now += PATIENCE;
        scene.tick(0);
    }
    assert!(scene.voted[0] >= 2);
    let votes = |round| [0, 1, 2].map(|by| scene.word(by, round, None, Some(3)));
    let (first, second) = (votes(1), votes(2));
    scene.bring(0, ballots(&second));
    assert_eq!((scene.has(0, 3), scene.step(0)), (false, 1));
    scene.way.clear();
    scene.bring(0, ballots(&first));
    scene.now += 1000;
    scene.tick(0);
    let acted = |scene: &Scene, by: usize, round| scene.word(by, round, Some((3, 3)), Some(3));
    let word = acted(&scene, 0, 1);
    let says = |(_, _, message): &(usize, usize, Message)| match message {
        Message::Ballots(signed) => signed.contains(&word),
        _ => false,
    };
    assert!(scene.way.iter().any(says));
    for from in [0, 1, 2] {
        scene.bring(3, scene.commits[from].clone());
    }
    assert_eq!(scene.step(3), 1);
    let told = [acted(&scene, 0, 2), acted(&scene, 1, 1)];
    for message in [ballots(&first), ballots(&second), ballots(&told)] {
        scene.bring(3, message);
    }
    assert_eq!(scene.stopped(3), None, "each round could be given up yet");
    scene.bring(3, ballots(std::slice::from_ref(&word)));
    assert_eq!(scene.stopped(3), Some(&Stop::VotedOut(0)));
}
