//! `fairdeal verify`: audits a transcript and reports the checks and the findings.

use std::convert::Infallible;
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::sync::Arc;

use fairdeal_games::AnyGame;
use fairdeal_protocol::audit::auditor::{Audit, Finding, Reason, Report};
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::abandonment::Abandonment;
use fairdeal_protocol::table::fault::FaultKind;
use fairdeal_protocol::transcript::End;
use fairdeal_session::replay::deals::Ledger;
use fairdeal_session::replay::meaning::{Check, checks, extensions_in_words, meaning, refusal};
use fairdeal_session::replay::verdict;
use fairdeal_session::spoken::spoken;
use fairdeal_session::terms::Terms;
use fairdeal_session::text::player_names;
use fairdeal_session::view::{Seating, ground_in_words};
use fairdeal_ui::canvas::wrapped;

use super::args::Verify;
use super::exit::{Exit, usage};
use super::output::{complain, print, say};
use super::page;
use crate::events::results::{self, Audited, Claim, Departed, Departure, Extended, ProvenFault, Unreadable, Verdict};
use crate::events::{SeatNumber, VerifyLine, Version, numbers};
use crate::hands::hands;
use crate::store::{piped_transcript, read_transcript, write_out};

/// Width of running text.
const WIDTH: usize = 100;

pub(super) fn verify(args: &Verify) -> anyhow::Result<Exit> {
    let piped = args.file.as_os_str() == "-";
    let unreadable = |why: String| {
        if args.json {
            say_json(Verdict::Unreadable(Unreadable { why: why.clone() }))?;
        }
        if piped {
            complain(format!("standard input: {why}"));
        } else {
            complain(format!("{}: {why}", args.file.display()));
        }
        Ok(Exit::Usage)
    };
    let transcript = if piped { piped_transcript() } else { read_transcript(&args.file) };
    let transcript = match transcript {
        Ok(transcript) => Arc::new(transcript),
        Err(error) => return unreadable(error.to_string()),
    };
    let audit = match Audit::<AnyGame>::with(Arc::clone(&transcript), hands()) {
        Ok(audit) => audit,
        // Nothing counts against such a game; this program just cannot judge it.
        Err(error) => return unreadable(error.to_string()),
    };
    let mut ledger = Ledger::new(audit.replica());
    let Ok(report) = audit.run(&mut |audit| {
        if audit.started_over() {
            ledger = Ledger::new(audit.replica());
        }
        let news = audit.take_news();
        ledger.note(&news, audit.replica());
        ControlFlow::<Infallible>::Continue(())
    });
    let charter = transcript.charter().charter();
    let names = player_names(charter);
    let terms = Terms::of(charter);
    let seating = Seating::of(charter);
    if let Some(file) = &args.html {
        // The encoding is canonical: these are the bytes of the file.
        let game = args.with_game.then(|| transcript.to_bytes()).transpose().map_err(usage)?;
        let audited = page::Audited {
            game: game.as_deref(),
            charter,
            names: &names,
            report: &report,
            deals: &ledger.into_deals(),
            verdict: &verdict(&report, names.len(), &terms),
            meaning: meaning(&report, &names, &seating, &terms, None),
            terms: &terms,
        };
        // A page that cannot be written is a usage error, not a verdict: there must be no verdict without its page.
        write_out(file, audited.page().as_bytes(), &args.file, args.force).map_err(usage)?;
    }
    if args.json {
        say_json(in_json(&report, &names, &seating, &terms))?;
    } else {
        print(in_words(&report, &names, &seating, &terms).as_bytes())?;
    }
    Ok(if report.is_fair() { Exit::Done } else { Exit::Failed })
}

/// The report in words: what it means first, then the result and the checks, then what identifies the log.
fn in_words(report: &Report, names: &[String], seating: &Seating, terms: &Terms) -> String {
    let game = terms.game_name();
    let mut text = format!("{game}, table {}: ", report.table.short());
    match &report.finding {
        None => {
            let _ = writeln!(text, "{}\n", verdict(report, names.len(), terms));
            let sentences = meaning(report, names, seating, terms, None).join(" ");
            for row in wrapped(&sentences, WIDTH, 0) {
                let _ = writeln!(text, "{row}");
            }
            text.push('\n');
            for (name, score) in names.iter().zip(&report.scores) {
                let _ = writeln!(text, "  {score:>6}  {name}");
            }
            exceptions(&mut text, report, names);
        }
        Some(finding) => {
            text.push_str("NOT FAIR\n\n");
            for (what, words) in refusal(finding, names) {
                let _ = writeln!(text, "{what:<6} {words}");
            }
            if let Some(seat) = forfeited_by(finding) {
                let name = names.get(seat.index()).map_or("?", String::as_str);
                let _ = writeln!(text, "\nthe game is forfeited by {name}");
            }
        }
    }
    text.push('\n');
    for Check { name, count, .. } in checks(&report.tally) {
        let sign = if count > 0 { "ok" } else { "--" };
        let _ = writeln!(text, "  {sign}  {count:>6}  {name}");
    }
    let _ = writeln!(text, "\ngame   {game} between {}", names.join(", "));
    let _ = writeln!(text, "rules  {}", terms.options_in_words());
    if let Some(deal) = terms.deal_in_words() {
        let _ = writeln!(text, "deal   {deal}, as the charter names it");
    }
    if let Some(words) = seating.in_words(names) {
        let _ = writeln!(text, "seats  {words} (as their programs declare)");
    }
    let _ = writeln!(
        text,
        "log    {} steps; deals: {}, opened and recomputed: {}",
        report.steps, report.deals, report.deals_opened
    );
    let _ = writeln!(text, "table  {}\nhash   {}", report.table, report.log);
    let _ = writeln!(text, "spoken {}", spoken(&report.log.0));
    text
}

/// The parts that the audit could not recompute, and whose word stands for them.
fn exceptions(text: &mut String, report: &Report, names: &[String]) {
    for gone in &report.left {
        let name = names.get(gone.seat.index()).map_or("", String::as_str);
        let how = match &gone.why {
            Reason::Absent => "was removed as absent by the others".to_owned(),
            Reason::Left => "left".to_owned(),
            Reason::Fault(fault) => {
                format!("was removed for a proven fault (step {}: {})", fault.step, fault.what)
            }
        };
        let _ = writeln!(text, "\n{name} {how} in deal {}: proofs alone vouch for what it sent there", gone.deal + 1);
    }
    let named = |seats: SeatSet| {
        let names = seats.iter().filter_map(|seat| names.get(seat.index()));
        names.map(String::as_str).collect::<Vec<_>>().join(", ")
    };
    for claim in &report.claims {
        let (by, absent) = (named(claim.by), named(claim.absent));
        let why = ground_in_words(claim.ground);
        let _ = writeln!(text, "\nclosed by claim of {by}: {absent} {why}");
    }
    let times = extensions_in_words(report, names);
    if !times.is_empty() {
        text.push('\n');
        for row in wrapped(&times.join(" "), WIDTH, 0) {
            let _ = writeln!(text, "{row}");
        }
    }
    if !report.unopened.is_empty() {
        let names = named(report.unopened);
        let _ = writeln!(text, "\nseeds not revealed: {names}; proofs alone vouch for those shuffles");
    }
}

/// The seat whose wrong digest stopped the table; it forfeits the game.
fn forfeited_by(finding: &Finding) -> Option<Seat> {
    match finding {
        Finding::Fault(fault) if fault.what == FaultKind::Digest => Some(fault.seat),
        _ => None,
    }
}

fn in_json(report: &Report, names: &[String], seating: &Seating, terms: &Terms) -> Verdict {
    let checks = report.tally.checks().into_iter();
    let numbers_of = |seats: &[Seat]| seats.iter().copied().map(SeatNumber::from).collect();
    let finding = report.finding.as_ref().map(|finding| results::Finding {
        what: finding.to_string(),
        seat: finding.seat().map(SeatNumber::from),
        step: finding.step(),
    });
    let left = report.left.iter().map(|gone| {
        let (why, fault) = match &gone.why {
            Reason::Left => (Departure::Left, None),
            Reason::Absent => (Departure::Absent, None),
            Reason::Fault(fault) => (Departure::Fault, Some(fault)),
        };
        Departed {
            seat: gone.seat.into(),
            deal: gone.deal,
            why,
            fault: fault.map(|fault| ProvenFault { step: fault.step, what: fault.what.to_string() }),
        }
    });
    let forfeited_by = report.finding.as_ref().and_then(forfeited_by);
    let audited = Box::new(Audited {
        verdict: report.is_fair().then(|| verdict(report, names.len(), terms)),
        finished: report.end == End::Finished,
        game: terms.game.clone(),
        options: terms.options.iter().cloned().collect(),
        day: terms.day().map(str::to_owned),
        table: report.table.to_string(),
        log: report.log.to_string(),
        seats: names.to_vec(),
        parties: numbers_of(&seating.parties_by_seat()),
        played_by: seating.played_by.iter().map(ToString::to_string).collect(),
        steps: report.steps,
        deals: report.deals,
        deals_opened: report.deals_opened,
        left: left.collect(),
        claims: report.claims.iter().map(claim).collect(),
        extensions: report.extensions.iter().map(Extended::from).collect(),
        unopened: numbers(report.unopened),
        checks: checks.map(|(name, count)| (name.to_owned(), count.into())).collect(),
        scores: report.scores.clone(),
        winners: numbers_of(&report.winners),
        finding,
        forfeited_by: forfeited_by.map(SeatNumber::from),
    });
    if report.is_fair() { Verdict::Fair(audited) } else { Verdict::Unfair(audited) }
}

fn claim(claim: &Abandonment) -> Claim {
    Claim { by: numbers(claim.by), absent: numbers(claim.absent), ground: claim.ground.into() }
}

fn say_json(verdict: Verdict) -> anyhow::Result<()> {
    say(serde_json::to_string(&VerifyLine { v: Version, verdict })?)
}
