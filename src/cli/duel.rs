//! `fairdeal bot duel`: measures two kinds of bots against each other, without a network.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fairdeal_games::AnyGame;
use fairdeal_games::bots::{Bot, Level};
use fairdeal_games::duel::{Duel, DuelError, Results, wilson};
use fairdeal_games::search::Budget;
use fairdeal_games::{game_info, rule_set};
use fairdeal_protocol::game::RuleSet;
use fairdeal_protocol::seat::Seat;
use serde_json::json;

use super::args::{self, Side};
use super::exit::{Exit, INTERRUPTED, usage};
use super::output::{complain, report, say};
use super::table::{parse_options, runtime};
use crate::clock::Clock;
use crate::exec_bot::{ExecBot, ExecError, Leash, Notices};
use crate::signals::Signals;

/// Milliseconds that a sharp bot thinks, and that a program may take.
const SHARP_MS: u64 = 50;
const EXEC_MS: u64 = 5000;

pub(super) fn duel(args: &args::Duel) -> anyhow::Result<Exit> {
    let info = game_info(&args.game).map_err(usage)?;
    // Alone, the first bot plays every deal by itself.
    let seats = args.seats.unwrap_or(info.least_seats.max(2).min(info.most_seats));
    let rules = rule_set(&args.game, seats, &parse_options(&args.options)?).map_err(usage)?;
    let began = Instant::now();
    let (a, b) = (args.a.name(), args.b.name());
    let names = [a.as_str(), b.as_str()];
    let notices = Notices::new(|line| complain(line));
    let programs = Programs::default();
    if [&args.a, &args.b].iter().any(|side| matches!(side, Side::Exec(_))) {
        programs.end_on_signals()?;
    }
    let mut duel = Duel {
        rules: &rules,
        games: args.games,
        seed: args.seed,
        make: &mut |side, seat| match if side == 0 { &args.a } else { &args.b } {
            Side::Ours(contestant) => Ok(contestant.bot(budget(args))),
            Side::Exec(command) => Ok(exec_bot(command, args, (&rules, seat), &notices, &programs)?),
        },
        clock: &|| u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX),
    };
    let mut printed = Ok(());
    let results = duel.play(|results| {
        if args.json && printed.is_ok() {
            let tallies = results.tallies.map(|tally| tally.shares);
            printed = report(json!({"game": results.games, "shares": tallies, "unfinished": results.unfinished}));
        }
    });
    printed?;
    let results = results.map_err(|error| match error {
        DuelError::Rules(_) => usage(error),
        DuelError::Bot(_) => error.into(),
    })?;
    if args.json {
        report(json!({"results": results.to_json(names)}))?;
        return Ok(Exit::Done);
    }
    say(in_words(&results, names, seats))?;
    Ok(Exit::Done)
}

/// The running programs. They are in process groups of their own, so Ctrl-C does not reach them by itself.
#[derive(Clone, Default)]
struct Programs(Arc<Mutex<Vec<Leash>>>);

impl Programs {
    fn held(&self) -> MutexGuard<'_, Vec<Leash>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts one more, unless they are being ended.
    fn start(&self, start: impl FnOnce() -> Result<ExecBot, ExecError>) -> Result<ExecBot, ExecError> {
        let mut held = self.held();
        held.retain(|leash| !leash.has_ended());
        let bot = start()?;
        held.push(bot.leash());
        Ok(bot)
    }

    /// Ends them and fairdeal on a signal.
    fn end_on_signals(&self) -> anyhow::Result<()> {
        let runtime = runtime()?;
        let mut signals = runtime.block_on(async { Signals::new() })?;
        let programs = self.clone();
        std::thread::spawn(move || {
            runtime.block_on(signals.recv());
            // No other starts while this is held.
            let held = programs.held();
            held.iter().for_each(Leash::finish);
            std::process::exit(INTERRUPTED.into());
        });
        Ok(())
    }
}

fn budget(args: &args::Duel) -> Budget {
    match args.iterations {
        Some(iterations) => Budget::iterations(iterations),
        None => Budget::time(Clock::new(Duration::from_millis(args.move_ms.unwrap_or(SHARP_MS)))),
    }
}

/// A program for one seat of one game, once it is ready. When it fails later, the normal bot plays instead.
fn exec_bot(
    command: &str,
    args: &args::Duel,
    (rules, seat): (&RuleSet, Seat),
    notices: &Notices,
    programs: &Programs,
) -> Result<Box<dyn Bot<AnyGame>>, ExecError> {
    let time = Duration::from_millis(args.move_ms.unwrap_or(EXEC_MS));
    let fallback = (fairdeal_games::bot(Level::Normal), Level::Normal.name());
    let mut bot = programs.start(|| ExecBot::start(command, time, fallback, notices.clone()))?;
    bot.begin(rules, seat)?;
    Ok(Box::new(bot))
}

fn in_words(results: &Results, names: [&str; 2], seats: u8) -> String {
    let line = |side: usize, name: &str| {
        let (share, won) = (results.share(side), results.won(side));
        let (low, high) = wilson(share, results.games);
        let fallbacks = match results.tallies.get(side).map_or(0, |tally| tally.fallbacks) {
            0 => String::new(),
            number => format!("; the normal bot made {number} of its decisions"),
        };
        format!(
            "{name}: {:.1} % of the wins (95 %: {:.1} to {:.1}), won {:.1} % of the games, {:.2} ms a \
             decision{fallbacks}\n",
            share * 100.0,
            low * 100.0,
            high * 100.0,
            won * 100.0,
            results.ms(side),
        )
    };
    let [a, b] = names;
    let (games, nobody, unfinished) = (results.games, results.nobody, results.unfinished);
    let tail = format!("{games} games, {nobody} without a winner, {unfinished} unfinished");
    let others = if seats > 1 { line(1, b) } else { String::new() };
    line(0, a) + &others + &tail
}
