//! The command line: the work of each command, and its exit code.
//!
//! Exit codes: 0 done (for `verify`: fair), 1 ended otherwise (for `verify` and `ratings`: not fair), 2 a usage error or
//! an unreadable file, 130 interrupted.

mod args;
mod cast;
mod doctor;
mod duel;
mod engine;
mod exit;
mod find;
mod headless;
mod history;
mod house;
mod keep;
mod letter;
mod mail;
mod output;
mod page;
mod people;
mod puzzle;
mod ratings;
mod relay;
mod replay;
mod replies;
mod shell;
mod solve;
mod table;
mod verify;

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use clap::Parser as _;
use fairdeal_games::{GAMES, TABLE_OPTION, game_info};
use fairdeal_protocol::timing::Timing;

pub use args::Args;
use args::{BotCommand, Command};
use exit::{Exit, Usage, usage};
use output::{complain, output_error, print, remark, say};

use crate::store::{DataView, StoreError, transcript_bytes, write_out};
use crate::tui::Start;
use fairdeal_session::text::reasons;

/// Parses the arguments of this process and runs the command.
pub fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => return end_of(answer(&error)).into(),
    };
    end_of(run(args)).into()
}

/// Prints clap's answer instead of running a command: the help, the version, or the error in the arguments.
fn answer(told: &clap::Error) -> anyhow::Result<Exit> {
    if told.use_stderr() {
        // An error quotes the arguments, so it must not be printed unfiltered.
        remark(told.render().to_string().trim_end());
        return Ok(Exit::Usage);
    }
    let printed = told.print().and_then(|()| std::io::stdout().flush());
    printed.map_err(output_error)?;
    Ok(Exit::Done)
}

/// Reports an error, if there is one, and returns the exit code.
fn end_of(result: anyhow::Result<Exit>) -> Exit {
    match result {
        Ok(exit) => exit,
        // The reader closed the output: it has seen enough.
        Err(error) if is_broken_pipe(&error) => Exit::Done,
        Err(error) => {
            complain(reasons(error.as_ref()));
            match error.downcast_ref::<Usage>() {
                Some(_) => Exit::Usage,
                None => Exit::Failed,
            }
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let io = error.downcast_ref::<std::io::Error>();
    io.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

fn run(args: Args) -> anyhow::Result<Exit> {
    start_log(args.common.log.as_deref(), args.common.verbose)?;
    let common = args.common;
    let Some(command) = args.command else {
        return table::home(&common, Start::Home);
    };
    match command {
        Command::Play(play) => table::play(&common, &play),
        Command::Host(host) => table::host(&common, host),
        Command::Join(join) => table::join(&common, join),
        Command::Watch(watch) => table::watch(&common, &watch),
        Command::Resume(resume) => table::resume(&common, &resume),
        Command::Keep(args) => keep::run(&common, &args),
        Command::Letter { command } => letter::run(&common, &command),
        Command::Mail(mail) => mail::run(&common, mail),
        Command::Bot { command: BotCommand::Host(bot) } => table::bot_host(&common, bot),
        Command::Bot { command: BotCommand::Join(bot) } => table::bot_join(&common, bot),
        Command::Bot { command: BotCommand::Duel(duel) } => duel::duel(&duel),
        Command::People(args) => people::people(&common, args),
        Command::History { json } => history::history(&common, json),
        Command::Replay { file, plain, picture } => replay::replay(&common, &file, plain, &picture),
        Command::Verify(verify) => verify::verify(&verify),
        Command::Ratings(args) => ratings::ratings(&common, &args),
        Command::Rules { game } => rules(game.as_deref()),
        Command::Puzzle(args) => puzzle::run(&common, &args),
        Command::Solve(args) => solve::run(&args),
        Command::Engine => engine::engine(),
        Command::Relay(relay) => relay::relay(&common, relay),
        Command::Doctor => doctor::doctor(&DataView::of(common.data_dir.as_deref())?),
        Command::Export { table, output, force } => {
            let data = DataView::of(common.data_dir.as_deref())?;
            export(&data, &table, &output, force)
        }
        Command::Completions { shell } => shell::completions(shell),
        Command::Man { output } => shell::man(output.as_deref()),
    }
}

/// Prints a rulebook, or the list of games.
fn rules(game: Option<&str>) -> anyhow::Result<Exit> {
    let text = match game {
        Some(id) => game_info(id).map_err(usage)?.rulebook.to_owned(),
        None => games_in_words(),
    };
    print(text.as_bytes())?;
    Ok(Exit::Done)
}

fn games_in_words() -> String {
    let mut text = GAMES.iter().fold(String::new(), |mut text, info| {
        let seats = if info.least_seats == info.most_seats {
            format!("{} seat", info.least_seats)
        } else {
            format!("{} to {} seats", info.least_seats, info.most_seats)
        };
        let _ = writeln!(text, "{} ({seats}), by {}", info.name, info.designer);
        let _ = writeln!(text, "    rules:   fairdeal rules {}", info.id);
        let _ = writeln!(text, "    options: {}", info.options_in_words());
        text
    });
    let _ = writeln!(
        text,
        "Options of every table with two or more seats:\n\
         \x20   strict ({}; default {}): do not keep keys in escrow; a deal that loses a player is redealt\n\
         \x20   absence ({} to {} seconds; default {}, or turn-time): how long a player may be unreachable\n\
         \x20       before the others may remove it\n\
         \x20   turn-time (none, or {} to {} seconds; default none, and {} at a table for two): time for one\n\
         \x20       action; after it the others may remove the player if all agree, and one of two may close\n\
         \x20       the table\n\
         \x20   bank (none, or {} to {} seconds; default none): a time bank; how much longer each player may\n\
         \x20       take in the whole game\n\
         \x20   holidays (none, or {} to {} days; default none): days in a game on which a player's clock\n\
         \x20       stops, declared before they begin\n\
         A time can have a unit: 90s, 5m, 12h, 3d, 1w.",
        TABLE_OPTION.kind.allowed(),
        TABLE_OPTION.default,
        Timing::ABSENCES.start(),
        Timing::ABSENCES.end(),
        Timing::USUAL_ABSENCE,
        Timing::TURN_TIMES.start(),
        Timing::TURN_TIMES.end(),
        Timing::USUAL_OF_TWO,
        Timing::BANKS.start(),
        Timing::BANKS.end(),
        Timing::DAYS.start(),
        Timing::DAYS.end(),
    );
    text
}

/// Copies the transcript of a past table.
fn export(data: &DataView, table: &str, output: &Path, force: bool) -> anyhow::Result<Exit> {
    use anyhow::Context as _;

    let path = match data.find_transcript(table) {
        Err(StoreError::NoSuchTranscript { prefix, known }) => {
            let journals = data.journals()?;
            let mut journals = journals.iter().filter(|file| file.table.starts_with(&prefix));
            return Err(match journals.find(|file| data.is_journal_open(file)) {
                Some(_) => usage(format!("table {prefix} is still being played; export it when the game is over")),
                None => StoreError::NoSuchTranscript { prefix, known }.into(),
            });
        }
        found => found?,
    };
    let bytes = transcript_bytes(&path).with_context(|| format!("cannot read {}", path.display()))?;
    write_out(output, &bytes, &path, force).map_err(usage)?;
    say(output.display())?;
    Ok(Exit::Done)
}

/// Starts logging, only to a file: the terminal belongs to the table.
fn start_log(file: Option<&Path>, verbose: u8) -> anyhow::Result<()> {
    use anyhow::Context as _;
    use tracing_subscriber::filter::{LevelFilter, Targets};
    use tracing_subscriber::prelude::*;

    let Some(path) = file else { return Ok(()) };
    let (own, others) = match verbose {
        0 => (LevelFilter::INFO, LevelFilter::OFF),
        1 => (LevelFilter::DEBUG, LevelFilter::OFF),
        _ => (LevelFilter::TRACE, LevelFilter::DEBUG),
    };
    // The names of all crates of this program start like this.
    let targets = Targets::new().with_default(others).with_target("fairdeal", own);
    let open = crate::store::open_log(path);
    let file = open.with_context(|| format!("cannot open the log file {}", path.display()))?;
    let lines = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(std::sync::Mutex::new(file));
    tracing_subscriber::registry().with(lines.with_filter(targets)).init();
    Ok(())
}
