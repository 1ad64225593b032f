//! `fairdeal solve`: the share of Ivory Towers that can be won, or the way to win the tower of a day.

use std::fmt::Write as _;
use std::time::Instant;

use anyhow::anyhow;
use fairdeal_games::chance::RefereeChance;
use fairdeal_games::duel::wilson;
use fairdeal_games::ivory::solver::{MOST_STATES, Verdict, laid, solve};
use fairdeal_games::ivory::{Ivory, cards, daily};
use fairdeal_games::{TableEvent as _, rule_set};
use fairdeal_protocol::card::{Face, Faces};
use fairdeal_protocol::game::{Game as _, shuffle};
use fairdeal_protocol::seat::Seat;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;

use super::args::Solve;
use super::exit::{Exit, usage};
use super::output::print;
use crate::clock::today;
use crate::events::{SolveLine, Version};

pub(super) fn run(args: &Solve) -> anyhow::Result<Exit> {
    let text = match &args.daily {
        Some(date) => day(date.clone().unwrap_or_else(today))?,
        None => {
            let line = count(args.deals, args.seed);
            if args.json { format!("{}\n", serde_json::to_string(&line)?) } else { in_words(&line) }
        }
    };
    print(text.as_bytes())?;
    Ok(Exit::Done)
}

/// Solves so many random deals.
fn count(deals: u32, seed: u64) -> SolveLine {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut deck: Vec<Face> = cards::all().collect();
    let (mut winnable, mut gave_up) = (0, 0);
    let mut times = Vec::new();
    for _ in 0..deals {
        shuffle(&mut rng, &mut deck);
        let started = Instant::now();
        let game = laid(&deck);
        let verdict = game.and_then(|game| solve(&game, &Faces::new(), MOST_STATES));
        times.push(u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX));
        match verdict {
            Some(Verdict::Winnable(_)) => winnable += 1,
            Some(Verdict::Lost) => {}
            Some(Verdict::GaveUp) | None => gave_up += 1,
        }
    }
    times.sort_unstable();
    let share = f64::from(winnable) / f64::from(deals.max(1));
    let (low, high) = wilson(share, deals);
    SolveLine {
        v: Version,
        game: "ivory-tower".to_owned(),
        deals,
        seed,
        winnable,
        gave_up,
        share,
        low,
        high,
        median_us: times.get(times.len() / 2).copied().unwrap_or(0),
        worst_us: times.last().copied().unwrap_or(0),
    }
}

fn in_words(line: &SolveLine) -> String {
    let percent = |share: f64| format!("{:.1}", share * 100.0);
    let ms = |us: u64| format!("{}.{} ms", us / 1000, us % 1000 / 100);
    let mut text = format!(
        "{} of {} random deals of Ivory Tower can be won: {} %, 95 % interval {} to {}.\n",
        line.winnable,
        line.deals,
        percent(line.share),
        percent(line.low),
        percent(line.high),
    );
    if line.gave_up > 0 {
        let _ = writeln!(text, "The search gave up on {}.", line.gave_up);
    }
    let _ = writeln!(text, "A deal took {} (median), at most {}.", ms(line.median_us), ms(line.worst_us));
    text
}

/// The winning line of a day's deal, in words.
fn day(date: String) -> anyhow::Result<String> {
    let mut text = format!("The deal of {date} (number {} of that day) can be won like this:\n", daily::number(&date));
    let rules = rule_set("ivory-tower", 1, &[("daily".to_owned(), date)].into()).map_err(usage)?;
    let mut game = Ivory::create(&rules)?;
    // Neither the deal of a day nor its actions ask for chance, and a winning line is legal.
    let (mut chance, mut events) = (RefereeChance::default(), Vec::new());
    let stopped = || anyhow!("the deal cannot be played");
    game.begin(&mut chance, &mut events).map_err(|_| stopped())?;
    let Some(Verdict::Winnable(actions)) = solve(&game, &Faces::new(), MOST_STATES) else {
        return Err(anyhow!("no winning line was found"));
    };
    for action in &actions {
        let done = game.apply(Seat::FIRST, action, &mut chance, &mut events);
        done.map_err(|_| stopped())?;
    }
    for event in events {
        let _ = writeln!(text, "  {}", event.text(&[]));
    }
    Ok(text)
}
