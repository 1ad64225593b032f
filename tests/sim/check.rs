//! What has to hold when a table has come to rest: the invariants that need its end.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use fairdeal::games::AnyGame;
use fairdeal_protocol::audit::auditor::audit;
use fairdeal_protocol::audit::transcript::Transcript;
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::log::ballot::{Ballot, SignedBallot};
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::table::fault::FaultKind;
use fairdeal_protocol::table::journal::Record;
use fairdeal_protocol::table::live::{Stop, Table};

use super::forge::seat_key;
use super::plan::Dice;
use super::replay;
use super::world::{Chair, World};

/// How many beginnings of each journal are tried.
const PREFIXES: usize = 3;

/// Checks everything, and counts how the table came out.
pub(crate) fn check(world: &mut World) {
    let honest: Vec<Seat> = Seat::first(world.chairs.len())
        .filter(|seat| world.chairs[seat.index()].role.cheat.is_none())
        .collect();
    let removed = removed(world, &honest);
    stops(world, &honest);
    forks(world, &honest, &removed);
    drops(world, &honest, &removed);
    learned(world, &honest, &removed);
    liveness(world, &honest, &removed);
    transcripts(world, &honest, &removed);
    claims(world, &honest);
    journals(world, &honest);
    onlookers(world, &honest);
    for seat in &honest {
        let chair = &world.chairs[seat.index()];
        let (patience, crashes) = (chair.role.patience, chair.crashes);
        world.watch.check_ballots(*seat, patience, crashes);
    }
    outcome(world, &honest);
}

/// Writes what honest seats hold in the end to a directory, with the verdict of the audit in each name: files for
/// another auditor.
pub(crate) fn keep(world: &World, directory: &Path) {
    let honest = Seat::first(world.chairs.len());
    for seat in honest.filter(|seat| chair(world, *seat).role.cheat.is_none()) {
        let transcript = chair(world, seat).table.transcript();
        let finding = audit::<AnyGame>(&transcript).finding;
        let verdict = match finding.as_ref().map(|finding| finding.seat()) {
            None => "fair".to_owned(),
            Some(Some(guilty)) => format!("guilty-{}", guilty.number()),
            Some(None) => "unfair".to_owned(),
        };
        let name = format!("{}-{}.{verdict}.fairdeal", world.plan.seed, seat.number());
        std::fs::write(directory.join(name), transcript.to_bytes().unwrap()).unwrap();
    }
}

/// Who follows an honest seat sees what it sees.
fn onlookers(world: &mut World, honest: &[Seat]) {
    let Some(mut onlooker) = world.onlooker.take() else {
        return;
    };
    let here = chair(world, onlooker.seat);
    if honest.contains(&onlooker.seat) && here.is_up() {
        if let Some(what) = onlooker.wrong(&here.table) {
            world.watch.fail(4, what);
        }
        world.tally.add("tables followed from outside", 1);
        world.tally.add("followers that began anew", onlooker.anew);
    }
}

fn chair(world: &World, seat: Seat) -> &Chair {
    &world.chairs[seat.index()]
}

/// The step at which each seat was voted out, by the word of honest seats' logs and its own.
fn removed(world: &World, honest: &[Seat]) -> BTreeMap<Seat, u64> {
    let mut removed: BTreeMap<Seat, u64> = BTreeMap::new();
    let mut note = |seat: Seat, step: u64| {
        let known = removed.entry(seat).or_insert(step);
        *known = step.min(*known);
    };
    for seat in honest {
        let table = &chair(world, *seat).table;
        let told = match table.stopped() {
            Some(Stop::VotedOut(step)) => Some(*step),
            _ => None,
        };
        let mut until = told.unwrap_or(u64::MAX);
        // Who has closed the table with a claim listens to nobody any more, as if it were gone.
        let closed = matches!(table.stopped(), Some(Stop::Claimed(_)));
        if told.is_some() || closed || !chair(world, *seat).is_up() {
            // The others have gone on without it, by another round than it; or from a round before, which they
            // have given up and it has acted on.
            let transcript = table.transcript();
            let acted = transcript
                .ballots()
                .iter()
                .map(SignedBallot::ballot)
                .filter(|acted| {
                    let all = transcript.ballots().iter().map(SignedBallot::ballot);
                    let same = all.filter(|b| (b.step, b.target) == (acted.step, acted.target));
                    let voters = same.map(|b| b.seat).collect();
                    // A motion that two have acted on is given up by nobody's words, whatever a cheat has signed.
                    let alone = !honest.iter().any(|other| {
                        let transcript = chair(world, *other).table.transcript();
                        let mut theirs = transcript.ballots().iter().map(SignedBallot::ballot);
                        let motion = |b: &Ballot| (b.step, b.round, b.target);
                        other != seat && theirs.any(|b| motion(b) == motion(acted))
                    });
                    alone && world.watch.was_left_behind(*seat, acted, voters)
                });
            let behind = acted.map(|acted| acted.step);
            until = behind.min().map_or(until, |behind| behind.min(until));
        }
        if until < u64::MAX {
            note(*seat, until);
        }
        for signed in table.transcript().ballots() {
            let ballot = signed.ballot();
            if let (Some(target), true) = (ballot.target, ballot.step < until) {
                note(target, ballot.step);
            }
        }
        // Of the open step, no ballot stands in the transcript yet.
        let step = table.replica().step();
        for out in table.replica().out().iter().filter(|_| step < until) {
            note(out, step);
        }
    }
    removed
}

/// Invariant 3: whoever is blamed has cheated.
fn stops(world: &mut World, honest: &[Seat]) {
    for seat in honest {
        let blamed = match chair(world, *seat).table.stopped() {
            Some(Stop::Fault(fault)) => Some((fault.seat, fault.to_string())),
            Some(Stop::Desync(who, step)) => Some((*who, format!("desync at {step}"))),
            Some(Stop::Broken(broken)) => {
                let what = format!("{seat} is broken: {broken}");
                world.watch.fail(3, what);
                None
            }
            Some(Stop::VotedOut(_) | Stop::Claimed(_)) | None => None,
        };
        if let Some((who, what)) = blamed
            && !world.watch.may_be_blamed(who)
        {
            let step = chair(world, *seat).table.replica().step();
            world.watch.fail(
                3,
                format!("{seat} at step {step} blames honest {who}: {what}"),
            );
        }
    }
}

/// Invariant 2: no two honest seats that stay hold different hashes for one confirmed step.
fn forks(world: &mut World, honest: &[Seat], removed: &BTreeMap<Seat, u64>) {
    let mut by_step: BTreeMap<u64, BTreeMap<Seat, Hash32>> = BTreeMap::new();
    // A disk that has forgotten its own ballots may lead its owner elsewhere.
    let whole = honest
        .iter()
        .filter(|seat| !chair(world, **seat).role.old_disk);
    for seat in whole {
        let until = removed.get(seat).copied().unwrap_or(u64::MAX);
        // Who has left looks on, and nothing waits for it.
        let until = until.min(chair(world, *seat).left.map_or(until, |left| left + 1));
        for (step, hash) in chair(world, *seat).steps.range(..until) {
            by_step.entry(*step).or_default().insert(*seat, *hash);
        }
    }
    for (step, hashes) in &by_step {
        let distinct: BTreeSet<&Hash32> = hashes.values().collect();
        if distinct.len() < 2 {
            continue;
        }
        world.tally.add("forks of an unconfirmed step", 1);
        let holders: Vec<(&Seat, String)> = hashes.iter().map(|(s, h)| (s, h.short())).collect();
        if !world.watch.two_faced_until(*step) {
            let what = format!("step {step} differs and nobody was two-faced: {holders:?}");
            world.watch.fail(2, what);
        }
        // Who is removed from the next step confirms this one to nobody.
        let stays = |seat: &Seat| removed.get(seat).is_none_or(|until| *until > step + 1);
        let staying: BTreeSet<&Hash32> = hashes
            .iter()
            .filter(|(seat, _)| stays(seat))
            .map(|(_, hash)| hash)
            .collect();
        if staying.len() < 2 || world.watch.has_two_halts() {
            continue;
        }
        let next = by_step.get(&(step + 1));
        if let Some(ahead) = next.and_then(|next| next.keys().find(|s| hashes.contains_key(s))) {
            let what = format!("{ahead} went on after step {step}, which differs: {holders:?}");
            world.watch.fail(2, what);
        }
        for seat in hashes.keys() {
            let here = chair(world, *seat);
            let settled = here.is_done() || !here.is_up() || world.chairs.len() < 3;
            let proven = !here.proven.is_empty();
            let here = here.table.replica().participants();
            if !settled && !proven && world.watch.cheats_here(here) < 2 {
                let what = format!("the evidence of the fork at step {step} never reached {seat}");
                world.watch.fail(2, what);
            }
        }
        break;
    }
}

/// Invariants 5 and 6: nobody is counted and dropped in one step; one certificate for a step and base.
fn drops(world: &mut World, honest: &[Seat], removed: &BTreeMap<Seat, u64>) {
    let mut certificates: BTreeMap<(u64, Vec<Seat>), Seat> = BTreeMap::new();
    let mut counted: BTreeMap<(u64, Seat), Seat> = BTreeMap::new();
    let mut dropped: BTreeMap<(u64, Seat), Seat> = BTreeMap::new();
    let mut failures = Vec::new();
    for seat in honest {
        let transcript = chair(world, *seat).table.transcript();
        let until = removed.get(seat).copied().unwrap_or(u64::MAX);
        // One that has forgotten its own words may act against them, but not against what it holds.
        let whole = !chair(world, *seat).role.old_disk;
        let mut mine = BTreeSet::new();
        for signed in transcript.ballots() {
            let ballot = signed.ballot();
            let (Some(target), true) = (ballot.target, ballot.step < until) else {
                continue;
            };
            mine.insert((ballot.step, target));
            if !whole {
                continue;
            }
            dropped.insert((ballot.step, target), *seat);
            let place = (ballot.step, ballot.base.iter().collect::<Vec<Seat>>());
            let first = *certificates.entry(place.clone()).or_insert(target);
            if first != target {
                failures.push((
                    5,
                    format!("two certificates for {place:?}: {first}, {target}"),
                ));
            }
        }
        let entries: Vec<_> = transcript
            .entries()
            .iter()
            .filter_map(|signed| world.watch.verified(signed))
            .collect();
        // Whoever has left has no vote, and may count an entry that those who have one drop.
        let own = entries.iter().filter(|entry| entry.seat() == *seat);
        let part = own.map(|entry| entry.step() + 1).max().unwrap_or(0);
        let complete = chair(world, *seat).table.replica().step();
        let complete = complete.min(until).min(part);
        for entry in entries {
            let place = (entry.step(), entry.seat());
            if entry.step() < complete {
                if whole {
                    counted.insert(place, *seat);
                }
                if mine.contains(&place) {
                    failures.push((6, format!("{seat} counts {place:?} and has voted it out")));
                }
            }
        }
    }
    for (place, by) in &dropped {
        // Two ballots of one cheat may part two seats over a step, as two entries do: nobody goes on from it.
        let other = counted.get(place);
        if let Some(other) = other.filter(|_| !world.watch.has_two_ballots(place.0)) {
            failures.push((
                5,
                format!("{by} has dropped {place:?}, which {other} counts"),
            ));
        }
    }
    for (invariant, what) in failures {
        world.watch.fail(invariant, what);
    }
}

/// A known limit of the protocol: this seat has given a round up without one voter, and another goes for good, or cheats,
/// before it has said whether it does so as well.
fn lacks_a_word(world: &World, seat: Seat) -> bool {
    let here = chair(world, seat);
    let mut lacking = here.table.awaited_words().iter();
    let gone = |other: Seat| {
        let other = chair(world, other);
        other.is_gone() || other.role.cheat.is_some()
    };
    here.is_up() && !here.is_done() && lacking.any(gone)
}

/// Whether a seat rests because one rests for such a word: itself, or one that it waits for. Without the ballots of one
/// that has stayed behind nobody is voted out, and nobody believes that it has been.
fn rests_for_a_word(world: &World, honest: &[Seat], seat: Seat) -> bool {
    let here = chair(world, seat).table.replica();
    let waits_for = |other: &Seat| {
        let behind = chair(world, *other).table.replica().step() <= here.step();
        *other == seat || (behind && here.participants().contains(*other))
    };
    let mut all = honest.iter().filter(|other| waits_for(other));
    all.any(|other| lacks_a_word(world, *other))
}

/// Whether two are there who can tell a seat that it is out: it does not believe one alone.
fn told(world: &World, honest: &[Seat], seat: Seat) -> bool {
    let others = honest.iter().filter(|other| {
        let other = chair(world, **other);
        other.is_up() && other.table.me() != seat && other.table.stopped().is_none()
    });
    others.count() >= 2
}

/// Invariant 7: an honest seat that was voted out has learned it, and is at most one step ahead.
fn learned(world: &mut World, honest: &[Seat], removed: &BTreeMap<Seat, u64>) {
    for seat in honest {
        let Some(step) = removed.get(seat).copied() else {
            continue;
        };
        world.tally.add("honest seats voted out", 1);
        let here = chair(world, *seat);
        let table = &here.table;
        let open = table.replica().step();
        let told = told(world, honest, *seat);
        // A voter that shows it another ballot hides its removal, and is proven two-faced by that.
        let knows = here.is_done() || !here.proven.is_empty();
        // One that has forgotten its own words may have gone where no word of the others means anything.
        if here.is_up()
            && told
            && !knows
            && !here.role.old_disk
            && !rests_for_a_word(world, honest, *seat)
        {
            let what = format!(
                "{seat} was voted out of step {step} and has not learned it: {:?}, returning: {}",
                table.progress(),
                table.is_returning()
            );
            world.watch.fail(7, what);
        }
        if open > step + 1 {
            let what = format!("{seat}, voted out of step {step}, is at step {open}");
            world.watch.fail(7, what);
        }
    }
}

/// Invariant 11: with at most one seat gone or cheating, and three or more, everybody gets to the end or
/// to evidence.
fn liveness(world: &mut World, honest: &[Seat], removed: &BTreeMap<Seat, u64>) {
    let mut rests = false;
    for seat in honest {
        let here = chair(world, *seat);
        let out = removed.contains_key(seat) && !told(world, honest, *seat);
        if !here.is_up() || here.is_done() || out {
            continue;
        }
        rests = true;
        let table = &here.table;
        let present = table.replica().participants();
        let absent = |other: &Seat| {
            let chair = chair(world, *other);
            let stopped = chair.table.stopped().is_some();
            chair.role.cheat.is_some() || chair.is_gone() || stopped || chair.role.old_disk
        };
        let bad = present.iter().filter(absent).count();
        let own_disk = here.role.old_disk;
        // "Or shared evidence": who has it waits for the others' words, which those who have finished do not give.
        let evidence = !here.proven.is_empty();
        if evidence {
            world.tally.add("rests with evidence of two faces", 1);
        } else if rests_for_a_word(world, honest, *seat) {
            world.tally.add(
                "rests for the word of one who is gone on giving a round up",
                1,
            );
        } else if !own_disk && (bad == 0 || (bad == 1 && present.len() >= 3)) {
            let progress = table.progress();
            let what = format!(
                "{seat} rests, with {bad} of {} gone or cheating: {progress:?}, returning: {}",
                present.len(),
                table.is_returning()
            );
            world.watch.fail(11, what);
        }
    }
    // One that is stopped by evidence while another has finished: only two-facedness in the last steps.
    let stopped = honest
        .iter()
        .find_map(|seat| match chair(world, *seat).table.stopped() {
            Some(Stop::Fault(fault)) => Some(fault.what.clone()),
            Some(Stop::Desync(..)) => Some(FaultKind::Digest),
            _ => None,
        });
    let finished = honest.iter().any(|seat| {
        let table = &chair(world, *seat).table;
        table.is_finished() && table.replica().participants().contains(*seat)
    });
    if let (Some(what), true) = (stopped, finished)
        && what != FaultKind::Equivocation
    {
        let what = format!("some have finished, others are stopped: {what}");
        world.watch.fail(11, what);
    }
    if rests {
        world.tally.add("outcome: rests", 1);
    }
}

/// Finished transcripts are fair and the same for all who stayed; those of stopped tables name the cheat.
fn transcripts(world: &mut World, honest: &[Seat], removed: &BTreeMap<Seat, u64>) {
    let mut ends: BTreeMap<Hash32, Transcript> = BTreeMap::new();
    let mut stopped: Option<(Seat, Transcript)> = None;
    let mut played: Option<Transcript> = None;
    for seat in honest {
        let table = &chair(world, *seat).table;
        if table.is_finished() && !removed.contains_key(seat) {
            ends.entry(table.log_hash())
                .or_insert_with(|| table.transcript());
        } else if let Some(Stop::Fault(_) | Stop::Desync(..)) = table.stopped() {
            stopped = stopped.or_else(|| Some((*seat, table.transcript())));
        } else if played.is_none() {
            played = Some(table.transcript());
        }
    }
    if ends.len() > 1 {
        let what = format!("finished with different logs: {:?}", ends.keys());
        world.watch.fail(2, what);
    }
    for transcript in ends.values() {
        let bytes = transcript.to_bytes().unwrap();
        let report = audit::<AnyGame>(&Transcript::from_bytes(&bytes).unwrap());
        if let Some(finding) = &report.finding {
            let what = format!("a finished transcript is not fair: {finding}");
            world.watch.fail(3, what);
        }
        if report.left.is_empty() && report.deals != report.deals_opened {
            world
                .watch
                .fail(3, "a deal of a finished game is not opened");
        }
    }
    if let Some((seat, transcript)) = &stopped {
        let report = audit::<AnyGame>(transcript);
        let named = report.finding.as_ref().and_then(|finding| finding.seat());
        if named.is_none_or(|named| !world.watch.may_be_blamed(named)) {
            let what = format!(
                "the audit of {seat}'s stopped table finds {:?}, not its cheat",
                report.finding
            );
            world.watch.fail(3, what);
        }
    }
    let stopped = stopped.map(|(_, transcript)| transcript);
    if let Some(transcript) = ends.into_values().next().or(stopped).or(played) {
        replay::check(world, &transcript);
    }
}

/// A table that a claim has closed is one of two live seats, its transcript says whose word that was, and the other
/// learns it if it is here.
fn claims(world: &mut World, honest: &[Seat]) {
    for seat in honest {
        let table = &chair(world, *seat).table;
        let Some(Stop::Claimed(_)) = table.stopped() else {
            continue;
        };
        let report = audit::<AnyGame>(&table.transcript());
        let live = table.replica().live();
        let right = report.claims.iter().all(|who| live.contains(*who));
        if report.finding.is_some() || report.claims.is_empty() || !right {
            let what = format!("{seat}'s table was closed by a claim, and its audit is {report:?}");
            world.watch.fail(3, what);
        }
        for other in honest.iter().filter(|other| live.contains(**other)) {
            let there = chair(world, *other);
            // One that was not part of the vote before, or has given it up, sees three left still.
            let sees_two = there.table.replica().live().len() == 2;
            if chair(world, *seat).is_up()
                && sees_two
                && there.is_up()
                && !there.is_done()
                && !there.role.old_disk
            {
                let what = format!(
                    "{seat} knows of a claim of {:?}, {other} does not",
                    report.claims
                );
                world.watch.fail(11, what);
            }
        }
    }
}

/// Invariant 8: beginnings of a journal give a table, as far as it goes the same.
fn journals(world: &mut World, honest: &[Seat]) {
    let mut dice = Dice::new(world.plan.seed, 3);
    let mut failures = Vec::new();
    let watch = &mut world.watch;
    for seat in honest {
        let here = &world.chairs[seat.index()];
        if here.role.old_disk {
            continue;
        }
        let mut prefixes: Vec<usize> = (1..PREFIXES)
            .map(|_| dice.below(u32::try_from(here.disk.len()).unwrap().max(1)) as usize)
            .collect();
        prefixes.push(here.disk.len());
        for records in prefixes {
            let prefix = here.disk[..records].iter();
            let prefix = prefix.map(|bytes| Record::from_bytes(bytes).unwrap());
            let charter = world.charter.clone();
            let key = seat_key(*seat);
            let restored = Table::<AnyGame>::restore(charter, *seat, key, prefix, &mut dice.0);
            let table = match restored {
                Ok(table) => table,
                Err(error) => {
                    failures.push(format!(
                        "{records} records of {seat} give no table: {error}"
                    ));
                    continue;
                }
            };
            let last = table.replica().step().checked_sub(1);
            let known = last.and_then(|last| here.steps.get(&last));
            // The end of a journal may hold a step whose completion the crash kept from being told.
            let undone = last.is_some_and(|last| here.voided.contains(&(last, table.log_hash())));
            if !undone && known.is_some_and(|known| *known != table.log_hash()) {
                failures.push(format!("{records} records of {seat} give another log"));
            }
            let next = here
                .disk
                .get(records)
                .map(|bytes| Record::from_bytes(bytes));
            if let Some(Ok(Record::Entry(signed))) = next
                && let Some(entry) = watch.verified(&signed)
                && entry.seat() == *seat
                && (entry.content().parent, entry.content().digest)
                    != (table.log_hash(), table.replica().digest())
            {
                failures.push(format!(
                    "{seat}'s entry of step {} follows from more than its journal",
                    entry.step()
                ));
            }
        }
    }
    for what in failures {
        watch.fail(8, what);
    }
}

fn outcome(world: &mut World, honest: &[Seat]) {
    let (mut finished, mut stopped, mut claimed) = (false, false, false);
    let mut steps = 0;
    for seat in honest {
        let table = &chair(world, *seat).table;
        finished |= table.is_finished();
        stopped |= matches!(table.stopped(), Some(Stop::Fault(_) | Stop::Desync(..)));
        claimed |= matches!(table.stopped(), Some(Stop::Claimed(_)));
        steps = steps.max(table.replica().step());
    }
    world.tally.add("steps", steps);
    if stopped {
        world.tally.add("outcome: stopped by evidence", 1);
    } else if finished {
        world.tally.add("outcome: finished", 1);
        if !world.plan.cheats().is_empty() {
            world.tally.add("outcome: finished with a cheat about", 1);
        }
    } else if claimed {
        world.tally.add("outcome: closed by a claim", 1);
    }
    let everybody = world.plan.rules.seats;
    let game = format!("game: {} for {everybody}", world.plan.rules.game);
    world.tally.add(&game, 1);
    let forgot = world.watch.forgot.len() as u64;
    world
        .tally
        .add("seats whose old disk made them sign twice", forgot);
}
