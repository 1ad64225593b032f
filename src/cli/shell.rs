//! `fairdeal completions` and `fairdeal man`: generated from the arguments themselves.

use std::io;
use std::path::Path;

use anyhow::Context as _;
use clap::{Command, CommandFactory as _};
use clap_complete::{Generator, Shell as Known, generate};
use clap_complete_nushell::Nushell;
use clap_mangen::Man;
use roff::{Roff, bold, roman};

use super::args::Args;
use super::args::Shell;
use super::exit::Exit;
use super::output::print;

pub(super) fn completions(shell: Shell) -> anyhow::Result<Exit> {
    let script = match shell {
        Shell::Bash => script(Known::Bash),
        Shell::Elvish => script(Known::Elvish),
        Shell::Fish => script(Known::Fish),
        Shell::Nushell => script(Nushell),
        Shell::Powershell => script(Known::PowerShell),
        Shell::Zsh => script(Known::Zsh),
    };
    print(&script)?;
    Ok(Exit::Done)
}

fn script(shell: impl Generator) -> Vec<u8> {
    let mut script = Vec::new();
    generate(shell, &mut Args::command(), "fairdeal", &mut script);
    script
}

pub(super) fn man(folder: Option<&Path>) -> anyhow::Result<Exit> {
    // `help` has no page of its own: its text is the other pages.
    let mut program = Args::command().disable_help_subcommand(true);
    program.build();
    match folder {
        Some(folder) => std::fs::create_dir_all(folder)
            .and_then(|()| write_pages(&program, folder))
            .with_context(|| format!("cannot write the pages into {}", folder.display()))?,
        None => print(&page(&program)?)?,
    }
    Ok(Exit::Done)
}

/// Writes the page of a command and those of its subcommands.
fn write_pages(command: &Command, folder: &Path) -> io::Result<()> {
    for subcommand in command.get_subcommands().filter(|one| !one.is_hide_set()) {
        write_pages(subcommand, folder)?;
    }
    let file = folder.join(format!("{}.1", full_name(command)));
    std::fs::write(file, page(command)?)
}

/// The command's name after those of its parent commands: "fairdeal-bot-host".
fn full_name(command: &Command) -> &str {
    let name = command.get_display_name();
    name.unwrap_or_else(|| command.get_name())
}

/// A command's page: its arguments, and the sections that they do not cover.
fn page(command: &Command) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    Man::new(command.clone()).render(&mut page)?;
    page.extend_from_slice(more_sections(full_name(command)).to_roff().as_bytes());
    Ok(page)
}

/// The sections beyond the arguments for a command, by its full name. Only the examples that show the command are
/// included.
fn more_sections(name: &str) -> Roff {
    let mut more = Roff::new();
    let mut section = |title: &str, entries: &[(&str, &str)]| {
        more.control("SH", [title]);
        for (name, what) in entries {
            more.control("TP", []);
            more.text([bold(*name)]).text([roman(*what)]);
        }
    };
    section("EXIT STATUS", &EXIT_STATUS);
    section("FILES", &FILES);
    section("ENVIRONMENT", &ENVIRONMENT);
    let command = name.replace('-', " ");
    let examples: Vec<(&str, &str)> = EXAMPLES.into_iter().filter(|(line, _)| line.starts_with(&command)).collect();
    if !examples.is_empty() {
        section("EXAMPLES", &examples);
    }
    more
}

const EXIT_STATUS: [(&str, &str); 4] = [
    ("0", "Success: the game ended or was saved; for verify, every check passed."),
    ("1", "Failure; for verify and ratings, a game is unfair."),
    ("2", "Usage error, unreadable file, or unwritable output."),
    ("130", "Stopped by a signal."),
];

const FILES: [(&str, &str); 3] = [
    ("DATA_DIR/identity.key", "Your private key, which identifies you to others. Keep it secret and back it up."),
    ("DATA_DIR/journals/", "Saved games, for resume."),
    ("DATA_DIR/transcripts/", "Finished games, for replay, verify and export."),
];

const ENVIRONMENT: [(&str, &str); 5] = [
    ("FAIRDEAL_DATA_DIR", "The data directory, unless --data-dir is given."),
    ("FAIRDEAL_PASSWORD", "The table's password, for --password without a terminal."),
    ("NO_COLOR", "If set, draw without colours."),
    ("COLORTERM", "If truecolor or 24bit, draw with all colours, but not in GNU screen."),
    ("TERM", "If linux or vt220 and the like, draw with ASCII characters; if dumb or unset, show no screen."),
];

const EXAMPLES: [(&str, &str); 4] = [
    ("fairdeal play loot --bots 2", "Play Loot against two bots."),
    ("fairdeal host houses-of-thoth --seats 3", "Open a table for three and print a ticket for your friends."),
    ("fairdeal join TICKET", "Join a friend's table."),
    ("fairdeal verify FILE", "Check that every shuffle of a game was fair."),
];
