//! `fairdeal completions` and `fairdeal man`: what a shell and `man` want to know, from the arguments themselves.

use std::path::Path;

use anyhow::Context as _;
use clap::CommandFactory as _;
use clap_complete::Shell;
use roff::{Roff, bold, roman};

use super::output::print;
use super::{Args, Exit};

pub(super) fn completions(shell: Shell) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "fairdeal", &mut script);
    print(&script)?;
    Ok(Exit::Done)
}

pub(super) fn man(folder: Option<&Path>) -> anyhow::Result<Exit> {
    if let Some(folder) = folder {
        std::fs::create_dir_all(folder)
            .and_then(|()| clap_mangen::generate_to(Args::command(), folder))
            .with_context(|| format!("cannot write the pages into {}", folder.display()))?;
        return Ok(Exit::Done);
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(Args::command()).render(&mut page)?;
    page.extend_from_slice(more_sections().to_roff().as_bytes());
    print(&page)?;
    Ok(Exit::Done)
}

/// The sections beyond the arguments.
fn more_sections() -> Roff {
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
    section("EXAMPLES", &EXAMPLES);
    more
}

const EXIT_STATUS: [(&str, &str); 4] = [
    (
        "0",
        "Done. For verify: every check held. A paused table too.",
    ),
    ("1", "Ended otherwise. For verify: the file is not fair."),
    (
        "2",
        "Wrong usage, a file that cannot be read, or output that cannot be written.",
    ),
    ("130", "Asked to end by a signal."),
];

const FILES: [(&str, &str); 3] = [
    (
        "DATA_DIR/identity.key",
        "The key by which others know this player. Keep it to yourself, and keep a copy of it.",
    ),
    (
        "DATA_DIR/journals/",
        "Tables that are being played, for resume.",
    ),
    (
        "DATA_DIR/transcripts/",
        "Games that have ended, for replay, verify and export.",
    ),
];

const ENVIRONMENT: [(&str, &str); 4] = [
    (
        "FAIRDEAL_DATA_DIR",
        "The data directory, if --data-dir does not name one.",
    ),
    (
        "FAIRDEAL_PASSWORD",
        "The password of a table, for --password without a terminal.",
    ),
    ("NO_COLOR", "No colours on the screen, if it is set."),
    ("COLORTERM", "truecolor or 24bit: all colours."),
];

const EXAMPLES: [(&str, &str); 4] = [
    (
        "fairdeal play loot --bots 2",
        "A game of Loot against two bots.",
    ),
    (
        "fairdeal host houses-of-thoth --seats 3",
        "A table for three, with a ticket to send to friends.",
    ),
    ("fairdeal join TICKET", "A seat at a friend's table."),
    (
        "fairdeal verify FILE",
        "Checks after a game that every shuffle was fair.",
    ),
];
