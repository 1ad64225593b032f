//! Invariants of a table at rest.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use fairdeal_games::AnyGame;
use fairdeal_protocol::audit::auditor::audit;
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::membership::{Says, SignedStatement, Value};
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::fault::FaultKind;
use fairdeal_protocol::table::journal::Record;
use fairdeal_protocol::table::live::{Event, Stop};
use fairdeal_protocol::table::replica::StepKind;
use fairdeal_protocol::transcript::{End, Transcript};
use fairdeal_testkit::TestSeat;

use super::plan::Dice;
use super::replay;
use super::world::{Chair, World, is_done};

/// Number of journal prefixes to try.
const PREFIXES: usize = 3;

/// Checks all invariants, and counts the outcome.
pub(crate) fn check(world: &mut World) {
    let honest = honest(world);
    let removed = removed(world, &honest);
    stops(world, &honest);
    forks(world, &honest, &removed);
    decisions(world, &honest);
    drops(world, &honest, &removed);
    learned(world, &honest, &removed);
    liveness(world, &honest, &removed);
    transcripts(world, &honest, &removed);
    claims(world, &honest);
    journals(world, &honest);
    spectators(world, &honest);
    world.watch.check_rounds();
    world.watch.count(&mut world.tally);
    outcome(world, &honest);
}

/// Seats of programs that do not cheat.
fn honest(world: &World) -> Vec<Seat> {
    world.room.seats().filter(|seat| world.watch.is_honest(*seat)).collect()
}

/// Writes the final transcripts and evidence of honest seats to a directory, for another auditor. Each file name
/// contains the verdict.
pub(crate) fn keep(world: &World, directory: &Path) {
    for seat in honest(world) {
        let here = place(world, seat);
        keep_one(world, &seat.number().to_string(), &here.table.transcript(), directory);
        let evidence = here.events.iter().filter_map(|event| match event {
            Event::Fault(_, evidence) => Some(evidence),
            _ => None,
        });
        for (number, evidence) in evidence.enumerate() {
            let whose = format!("{}-evidence-{number}", seat.number());
            keep_one(world, &whose, evidence, directory);
        }
    }
}

fn keep_one(world: &World, whose: &str, transcript: &Transcript, directory: &Path) {
    let finding = audit::<AnyGame>(transcript).finding;
    let verdict = match finding.as_ref().map(|finding| finding.seat()) {
        None => "fair".to_owned(),
        Some(Some(guilty)) => format!("guilty-{}", guilty.number()),
        Some(None) => "unfair".to_owned(),
    };
    let name = format!("{}-{whose}.{verdict}.fairdeal", world.plan.seed);
    std::fs::write(directory.join(name), transcript.to_bytes().unwrap()).unwrap();
}

/// A follower of an honest seat sees what that seat sees.
fn spectators(world: &mut World, honest: &[Seat]) {
    let Some(mut spectator) = world.spectator.take() else {
        return;
    };
    let here = place(world, spectator.seat);
    if honest.contains(&spectator.seat) && here.is_up() {
        if let Some(what) = spectator.wrong(&here.table) {
            world.watch.fail(4, what);
        }
        world.tally.add("tables followed from outside", 1);
        world.tally.add("followers that began again", spectator.anew);
    }
}

fn chair(world: &World, seat: Seat) -> &Chair {
    &world.chairs[seat.index()]
}

fn place(world: &World, seat: Seat) -> &TestSeat<AnyGame> {
    &world.room[seat]
}

/// The step at which each seat was removed. The sources are the seat itself and the logs of honest seats, up to their
/// own removal.
fn removed(world: &World, honest: &[Seat]) -> BTreeMap<Seat, u64> {
    let mut removed: BTreeMap<Seat, u64> = BTreeMap::new();
    let mut note = |seat: Seat, step: u64| {
        let known = removed.entry(seat).or_insert(step);
        *known = step.min(*known);
    };
    for seat in honest {
        let table = &place(world, *seat).table;
        let mut until = u64::MAX;
        if let Some(Stop::Removed(step)) = table.stopped() {
            note(*seat, *step);
            until = *step;
        }
        for (step, seats) in removals(&table.transcript()) {
            seats.iter().filter(|_| step < until).for_each(|seat| note(seat, step));
        }
        // Removals of the open step are not in the transcript yet.
        let step = table.replica().step();
        let open = table.replica().removed();
        open.iter().filter(|_| step < until).for_each(|seat| note(seat, step));
    }
    removed
}

/// Seats removed by the decisions of each step.
fn removals(transcript: &Transcript) -> impl Iterator<Item = (u64, SeatSet)> {
    transcript.removals().iter().map(|certificate| {
        let values = certificate.decisions.iter().filter_map(|proof| value(&proof.proposal));
        let removed = values.flat_map(|value| value.removed().iter());
        (certificate.step, removed.collect())
    })
}

fn value(proposal: &SignedStatement) -> Option<&Value> {
    match &proposal.unverified().says {
        Says::Propose { value, .. } => Some(value),
        _ => None,
    }
}

/// Invariant 3: every blamed seat has cheated.
fn stops(world: &mut World, honest: &[Seat]) {
    for seat in honest {
        let blamed = match place(world, *seat).table.stopped() {
            Some(Stop::Fault(fault)) => Some((fault.seat, fault.to_string())),
            Some(Stop::Desync(who, step)) => Some((*who, format!("desync at {step}"))),
            Some(Stop::Broken(broken)) => {
                let what = format!("{seat} is broken: {broken}");
                world.watch.fail(3, what);
                None
            }
            Some(Stop::Removed(_) | Stop::Claimed(_) | Stop::Unopened(_) | Stop::Deserted) | None => None,
        };
        if let Some((who, what)) = blamed
            && !world.watch.may_be_blamed(who)
        {
            let step = place(world, *seat).table.replica().step();
            world.watch.fail(3, format!("{seat} at step {step} blames honest {who}: {what}"));
        }
    }
}

/// Invariant 2: no two honest seats that stay hold different hashes for one confirmed step.
fn forks(world: &mut World, honest: &[Seat], removed: &BTreeMap<Seat, u64>) {
    let mut by_step: BTreeMap<u64, BTreeMap<Seat, Hash32>> = BTreeMap::new();
    // A seat whose disk lost its own statements may end up on another log.
    let whole = honest.iter().filter(|seat| !chair(world, **seat).role.old_disk);
    for seat in whole {
        let until = removed.get(seat).copied().unwrap_or(u64::MAX);
        // A departed seat follows the log, and nothing waits for it.
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
            let what = format!("step {step} differs and nobody equivocated: {holders:?}");
            world.watch.fail(2, what);
        }
        // A seat removed from the next step confirms this one to nobody.
        let stays = |seat: &Seat| removed.get(seat).is_none_or(|until| *until > step + 1);
        let staying: BTreeSet<&Hash32> = hashes.iter().filter(|(seat, _)| stays(seat)).map(|(_, hash)| hash).collect();
        if staying.len() < 2 || world.watch.has_two_halts() {
            continue;
        }
        let next = by_step.get(&(step + 1));
        if let Some(ahead) = next.and_then(|next| next.keys().find(|s| hashes.contains_key(s))) {
            let what = format!("{ahead} went on after step {step}, which differs: {holders:?}");
            world.watch.fail(2, what);
        }
        for (seat, own) in hashes {
            let here = place(world, *seat);
            // A seat that hears others only through the cheat hears what the cheat chooses.
            let near = near(world, honest, *seat);
            let mut others = near.iter().filter_map(|other| hashes.get(&other));
            if !others.any(|other| other != own) {
                continue;
            }
            let parties: BTreeSet<_> = world.plan.parties.iter().collect();
            let settled = is_done(here) || !here.is_up() || parties.len() < 3;
            let proven = !chair(world, *seat).proven.is_empty();
            let here = here.table.replica().participants();
            if !settled && !proven && world.watch.cheats_here(here) < 2 {
                let what = format!("the evidence of the fork at step {step} never reached {seat}");
                world.watch.fail(2, what);
            }
        }
        break;
    }
}

/// Invariant 5: each instance has one decision. No removal happens without the consent of every honest seat that stays.
fn decisions(world: &mut World, honest: &[Seat]) {
    let mut decided: BTreeMap<(u64, Hash32, usize), (Value, Seat)> = BTreeMap::new();
    let mut failures = Vec::new();
    for seat in honest {
        let transcript = place(world, *seat).table.transcript();
        let mut present: BTreeMap<u64, SeatSet> = BTreeMap::new();
        for signed in transcript.entries() {
            if let Some(entry) = world.watch.verified(signed) {
                present.entry(entry.step()).or_default().insert(entry.seat());
            }
        }
        for certificate in transcript.removals() {
            let step = certificate.step;
            let mut stays = present.get(&step).copied().unwrap_or_default();
            for (instance, proof) in certificate.decisions.iter().enumerate() {
                let Some(value) = value(&proof.proposal) else {
                    failures.push(format!("{seat} shows a decision of step {step} without a value"));
                    continue;
                };
                let place = (step, proof.proposal.unverified().parent, instance);
                let known = decided.entry(place).or_insert_with(|| (value.clone(), *seat));
                if known.0 != *value && !world.watch.has_excluded(step) {
                    let other = known.1;
                    failures.push(format!(
                        "{other} and {seat} hold two decisions of {step}.{instance}: {known:?}, {value:?}"
                    ));
                }
                stays = stays.minus(value.removed());
                let consents: SeatSet = proof.consents.iter().map(|consent| consent.unverified().seat).collect();
                let mut bound = stays.iter().filter(|seat| honest.contains(seat));
                if let (Some(other), Value::Out { seats, .. }) = (bound.find(|other| !consents.contains(*other)), value)
                {
                    failures.push(format!("{seats:?} removed from {step}.{instance} without the consent of {other}"));
                }
            }
        }
        world.tally.add("removals in honest logs", transcript.removals().len() as u64);
    }
    for what in failures {
        world.watch.fail(5, what);
    }
}

/// Invariant 5: no seat drops an entry that another seat counts.
fn drops(world: &mut World, honest: &[Seat], removed: &BTreeMap<Seat, u64>) {
    let mut counted: BTreeMap<(u64, Seat), Seat> = BTreeMap::new();
    let mut dropped: BTreeMap<(u64, Seat), Seat> = BTreeMap::new();
    // A seat that lost its own statements may act against them.
    let whole: Vec<Seat> = honest.iter().filter(|seat| !chair(world, **seat).role.old_disk).copied().collect();
    for seat in whole {
        let transcript = place(world, seat).table.transcript();
        let until = removed.get(&seat).copied().unwrap_or(u64::MAX).min(place(world, seat).table.replica().step());
        // A departed seat follows the log, and nothing waits for it.
        let until = until.min(chair(world, seat).left.map_or(until, |left| left + 1));
        let entries: Vec<_> = transcript
            .entries()
            .iter()
            .filter_map(|signed| world.watch.verified(signed))
            .filter(|entry| entry.step() < until)
            .collect();
        let places: BTreeSet<(u64, Seat)> = entries.iter().map(|entry| (entry.step(), entry.seat())).collect();
        for (step, seats) in removals(&transcript).filter(|(step, _)| *step < until) {
            let out = seats.iter().map(|out| (step, out));
            dropped.extend(out.filter(|place| !places.contains(place)).map(|place| (place, seat)));
        }
        counted.extend(places.into_iter().map(|place| (place, seat)));
    }
    for (place, by) in &dropped {
        let other = counted.get(place);
        if let Some(other) = other.filter(|_| !world.watch.two_faced_until(place.0)) {
            let what = format!("{by} has dropped {place:?}, which {other} counts");
            world.watch.fail(5, what);
        }
    }
}

/// Whether an honest seat with a route to `seat` knows of its removal.
fn told(world: &World, honest: &[Seat], seat: Seat, step: u64) -> bool {
    let knows = |other: &Seat| {
        let table = &place(world, *other).table;
        let complete = removals(&table.transcript()).any(|(at, seats)| at == step && seats.contains(seat));
        let open = table.replica().step() == step && table.replica().removed().contains(seat);
        *other != seat && (complete || open)
    };
    let near = near(world, honest, seat);
    honest.iter().filter(|other| near.contains(**other)).any(knows)
}

/// Honest running seats with a route to `seat`: directly or through each other.
pub(super) fn near(world: &World, honest: &[Seat], seat: Seat) -> SeatSet {
    let mut near = SeatSet::one(seat);
    loop {
        let before = near;
        let linked = |other: &&Seat| {
            let mut links = before.iter().map(|one| (one, **other));
            place(world, **other).is_up() && links.any(|link| !world.plan.apart.contains(&link))
        };
        near.extend(honest.iter().filter(linked).copied());
        if near == before {
            return near;
        }
    }
}

/// Invariant 7: a removed honest seat knows it, and is at most one step ahead.
fn learned(world: &mut World, honest: &[Seat], removed: &BTreeMap<Seat, u64>) {
    for seat in honest {
        let Some(step) = removed.get(seat).copied() else {
            continue;
        };
        world.tally.add("honest seats removed", 1);
        let (here, chair) = (place(world, *seat), chair(world, *seat));
        let table = &here.table;
        let open = table.replica().step();
        let told = told(world, honest, *seat, step);
        let knows = is_done(here) || !chair.proven.is_empty();
        // A seat that lost its own statements may be at a step where the others' statements mean nothing.
        if here.is_up() && told && !knows && !chair.role.old_disk {
            let what = format!(
                "{seat} was removed from step {step} and has not learned it: {:?}, returning: {}",
                table.progress(),
                table.is_returning()
            );
            world.watch.fail(7, what);
        }
        if open > step + 1 {
            let what = format!("{seat}, removed from step {step}, is at step {open}");
            world.watch.fail(7, what);
        }
    }
}

/// Invariant 16: every table ends. Only a reachable player may take any time, if the table has agreed on no turn time,
/// and a seat whose disk has lost what it signed may wait for its player.
fn liveness(world: &mut World, honest: &[Seat], removed: &BTreeMap<Seat, u64>) {
    let mut rests = false;
    for seat in honest {
        let here = place(world, *seat);
        let person = world.plan.program_of(*seat).iter().next().unwrap_or(*seat);
        // A bot ends with the table of its player.
        let followed = is_done(place(world, person)) && person != *seat;
        if !here.is_up() || is_done(here) || chair(world, *seat).role.old_disk || followed {
            continue;
        }
        rests = true;
        let table = &here.table;
        let timed = table.replica().charter().rules().timing.turn_time().is_some();
        let leader = match table.replica().kind() {
            Some(StepKind::Action { leader }) => Some(leader).filter(|leader| leader != seat),
            _ => None,
        };
        let there = |leader: Seat| place(world, leader).is_up() && place(world, leader).table.stopped().is_none();
        if leader.is_some_and(there) && !timed {
            world.tally.add("rests for a reachable player, with no turn time", 1);
            continue;
        }
        let what = format!(
            "{seat} rests: {:?}, returning: {}, removed: {:?}, absence {}",
            table.progress(),
            table.is_returning(),
            removed.get(seat),
            chair(world, *seat).role.absence
        );
        world.watch.fail(16, what);
    }
    // Evidence may stop one seat after another has finished only for equivocation in the last steps.
    let stopped = honest.iter().find_map(|seat| match place(world, *seat).table.stopped() {
        Some(Stop::Fault(fault)) => Some(fault.what.clone()),
        Some(Stop::Desync(..)) => Some(FaultKind::Digest),
        _ => None,
    });
    let finished = honest.iter().any(|seat| {
        let table = &place(world, *seat).table;
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

/// Finished transcripts are fair and identical for all seats that stayed. Transcripts of stopped tables name the cheat.
fn transcripts(world: &mut World, honest: &[Seat], removed: &BTreeMap<Seat, u64>) {
    let mut ends: BTreeMap<Hash32, Transcript> = BTreeMap::new();
    let mut stopped: Option<(Seat, Transcript)> = None;
    let mut played: Option<Transcript> = None;
    for seat in honest {
        let table = &place(world, *seat).table;
        if table.is_finished() && !removed.contains_key(seat) {
            ends.entry(table.log_hash()).or_insert_with(|| table.transcript());
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
            world.watch.fail(3, "a deal of a finished game is not opened");
        }
    }
    if let Some((seat, transcript)) = &stopped {
        let report = audit::<AnyGame>(transcript);
        let named = report.finding.as_ref().and_then(|finding| finding.seat());
        if named.is_none_or(|named| !world.watch.may_be_blamed(named)) {
            let what = format!("the audit of {seat}'s stopped table finds {:?}, not its cheat", report.finding);
            world.watch.fail(3, what);
        }
    }
    let stopped = stopped.map(|(_, transcript)| transcript);
    if let Some(transcript) = ends.into_values().next().or(stopped).or(played) {
        replay::check(world, &transcript);
    }
}

/// A table closed by claims shows who is present and who is absent. Other present seats at the same step learn of it.
/// Invariant 15: a game that the rules have ended is finished in every file.
fn claims(world: &mut World, honest: &[Seat]) {
    for seat in honest {
        let table = &place(world, *seat).table;
        let over = match table.stopped() {
            Some(Stop::Claimed(_)) => false,
            Some(Stop::Unopened(_)) => true,
            _ => continue,
        };
        let (step, is_over) = (table.replica().step(), table.replica().is_over());
        let report = audit::<AnyGame>(&table.transcript());
        let (live, parties) = (table.replica().live(), table.replica().parties());
        let right = report.claims.iter().all(|group| group.by == live.minus(group.absent));
        let shown = over || !report.claims.is_empty();
        if report.finding.is_some() || !shown || !right {
            let what = format!("{seat}'s table was closed by claim, and its audit is {report:?}");
            world.watch.fail(3, what);
        }
        if over != is_over || (over && report.end != End::Finished) {
            let what = format!("{seat}'s game is over: {is_over}, its file {:?}", report.end);
            world.watch.fail(15, what);
        }
        let old_disk = chair(world, *seat).role.old_disk;
        // A removed seat passes on nothing of a later step.
        let others: Vec<Seat> = honest.iter().copied().filter(|other| live.contains(*other)).collect();
        for other in others.iter().filter(|_| !old_disk) {
            let (there, chair) = (place(world, *other), chair(world, *other));
            // Seats that differ over a proven fault count different live seats, and judge claims by them.
            let as_far = there.table.replica().step() == step && there.table.replica().live() == live;
            let here = place(world, *seat).is_up() && there.is_up();
            let linked = near(world, &others, *other).contains(*seat);
            let closes = !over && report.claims.iter().any(|group| group.closes_for(*other, &parties, live));
            // A majority plays on if it can, and knows which seats have closed. So do seats that are bound to a game
            // that is over.
            let mut by: SeatSet = report.claims.iter().flat_map(|of| of.by.iter()).collect();
            if over {
                by.insert(*seat);
            }
            let knows = !closes && by.iter().any(|by| chair.told_closed.contains(by));
            let settled = is_done(there) || knows;
            if here && as_far && linked && !settled && !chair.role.old_disk {
                let what = format!("{seat} knows of claims {:?}, {other} does not", report.claims);
                world.watch.fail(11, what);
            }
        }
        world.tally.add("finished without all seeds", u64::from(over));
    }
}

/// Invariant 8: every prefix of a journal restores a table on the same log.
fn journals(world: &mut World, honest: &[Seat]) {
    let mut dice = Dice::new(world.plan.seed, 3);
    let mut failures = Vec::new();
    let watch = &mut world.watch;
    for seat in honest {
        let chair = &world.chairs[seat.index()];
        if chair.role.old_disk {
            continue;
        }
        let whole = world.room[*seat].disk.len();
        let mut prefixes: Vec<usize> =
            (1..PREFIXES).map(|_| dice.below(u32::try_from(whole).unwrap().max(1)) as usize).collect();
        prefixes.push(whole);
        for records in prefixes {
            let table = match world.room.restored(*seat, records) {
                Ok(table) => table,
                Err(error) => {
                    failures.push(format!("{records} records of {seat} give no table: {error}"));
                    continue;
                }
            };
            let last = table.replica().step().checked_sub(1);
            let known = last.and_then(|last| chair.steps.get(&last));
            // The journal may end with a step that the program completed but did not report before its crash.
            let undone = last.is_some_and(|last| chair.voided.contains(&(last, table.log_hash())));
            if !undone && known.is_some_and(|known| *known != table.log_hash()) {
                failures.push(format!("{records} records of {seat} give another log"));
            }
            let next = world.room[*seat].disk.get(records).map(|bytes| Record::from_bytes(bytes));
            if let Some(Ok(Record::Entry(signed))) = next
                && let Some(entry) = watch.verified(&signed)
                && entry.seat() == *seat
                && (entry.content().parent, entry.content().digest) != (table.log_hash(), table.replica().digest())
            {
                failures.push(format!("{seat}'s entry of step {} follows from more than its journal", entry.step()));
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
        let table = &place(world, *seat).table;
        finished |= table.is_finished();
        stopped |= matches!(table.stopped(), Some(Stop::Fault(_) | Stop::Desync(..)));
        claimed |= matches!(table.stopped(), Some(Stop::Claimed(_)));
        finished |= matches!(table.stopped(), Some(Stop::Unopened(_)));
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
    world.tally.add("seats whose old disk made them sign twice", forgot);
}
