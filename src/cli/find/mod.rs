//! `join` without a ticket: finds a table on the LAN, or with `--meet` at meeting points.
//!
//! [`find`] takes the table with the given number, or lets a person choose one (`choice`), or takes one for a bot or a
//! script. [`list`] prints the tables instead. `search` waits for them, and `lines` is how they are written.

mod choice;
mod lines;
mod search;

use std::collections::BTreeSet;
use std::io::IsTerminal as _;

use fairdeal_peers::Multiaddr;
use fairdeal_peers::address::named_peer;
use fairdeal_peers::listing::MAX_POINTS;

pub(super) use self::search::Choice;
use self::search::Search;
use super::args::Join;
use super::exit::{Exit, usage};
use super::output::say;
use crate::drive::people::Acquaintances;

/// Checks the addresses of meeting points.
pub(super) fn check_points(points: &[Multiaddr]) -> anyhow::Result<()> {
    check_named("--meet", points)?;
    let peers: BTreeSet<_> = points.iter().filter_map(named_peer).collect();
    if peers.len() > MAX_POINTS {
        return Err(usage(format!("--meet takes at most {MAX_POINTS} meeting points")));
    }
    Ok(())
}

/// Finds a table: the one with this number, or else a person chooses it, or a bot or a script takes one. Without a
/// `password`, only tables that need none can be joined.
///
/// # Errors
/// If there is no table, or at meeting points more than one and nobody to choose.
pub(super) async fn find(
    join: &Join,
    number: Option<usize>,
    password: bool,
    headless: bool,
    people: (Acquaintances, bool),
) -> anyhow::Result<Choice> {
    let search = Search::start(join, headless && join.seat.json, people)?;
    match number {
        Some(number) => search.numbered(number, password).await.map(Choice::Table),
        None if headless || !std::io::stdin().is_terminal() => search.take(password).await,
        None => choice::choose(search, password).await,
    }
}

/// Prints the tables at meeting points.
///
/// # Errors
/// If no point gives a list.
pub(super) async fn list(join: &Join, people: (Acquaintances, bool)) -> anyhow::Result<Exit> {
    let mut search = Search::start(join, join.seat.json, people)?;
    search.wait_for_lists().await?;
    search.print()?;
    let is_empty = search.finder.tables().is_empty();
    if is_empty && !search.is_whole() {
        return Ok(Exit::Failed);
    }
    if is_empty && !search.json {
        say("No table is open there.")?;
    }
    Ok(Exit::Done)
}

/// Checks the addresses of relays or meeting points, given by this option.
pub(super) fn check_named(option: &str, addresses: &[Multiaddr]) -> anyhow::Result<()> {
    match addresses.iter().find(|address| named_peer(address).is_none()) {
        None => Ok(()),
        Some(address) => Err(usage(format!(
            "{option} takes an address that ends in /p2p/PEER, as `fairdeal relay` prints it, not {address}"
        ))),
    }
}
