//! `join` without a ticket: the tables of the LAN, to choose from.

use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::time::{Instant, sleep_until};

use super::Exit;
use super::output::say;
use crate::games::game_info;
use crate::net::{JoinTarget, PeerId};
use crate::session::lan::{Browser, LanTable, LanView};

/// How long a bot, or a script, waits for a table to appear.
const WAIT: Duration = Duration::from_secs(30);
/// How long a person sees nothing before it is told what else can be done.
const QUIET: Duration = Duration::from_secs(4);

/// What came of looking.
pub(super) enum Choice {
    /// A table to join.
    Table(JoinTarget),
    /// None, and how the command ends.
    None(Exit),
}

/// Lets a person choose a table; a bot takes the first that has a seat for it.
///
/// Without a `password` only tables that need none are taken.
pub(super) async fn choose(bot: bool, password: bool) -> anyhow::Result<Choice> {
    let mut browser = Browser::start()?;
    if bot || !std::io::stdin().is_terminal() {
        return first(&mut browser, password).await;
    }
    say("Tables on the LAN (a number joins, q quits):")?;
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    // Numbers stay with their tables while the list changes.
    let mut listed: BTreeMap<usize, LanTable> = BTreeMap::new();
    let mut numbers: BTreeMap<PeerId, usize> = BTreeMap::new();
    let mut quiet = Some(Instant::now() + QUIET);
    show(
        &browser.view().borrow_and_update().clone(),
        &mut listed,
        &mut numbers,
    )?;
    loop {
        tokio::select! {
            changed = browser.view().changed() => {
                if changed.is_err() {
                    anyhow::bail!("the network has ended; try again");
                }
                let view = browser.view().borrow_and_update().clone();
                show(&view, &mut listed, &mut numbers)?;
            }
            line = lines.next_line() => {
                let Some(line) = line? else {
                    return Ok(Choice::None(Exit::Failed));
                };
                let word = line.trim();
                if word.eq_ignore_ascii_case("q") {
                    return Ok(Choice::None(Exit::Done));
                }
                match word.parse().ok().and_then(|number: usize| listed.get(&number)) {
                    Some(table) if table.locked && !password => {
                        say("That table has a password: fairdeal join --password")?;
                    }
                    Some(table) if table.free > 0 => {
                        return Ok(Choice::Table(JoinTarget::Ticket(table.ticket.clone())));
                    }
                    Some(_) => say("That table is full.")?,
                    None => say("Type the number of a table, or q.")?,
                }
            }
            () = until(quiet), if quiet.is_some() => {
                quiet = None;
                if listed.is_empty() {
                    say("None so far. `fairdeal host GAME` opens one; with a ticket or an address, \
                         `fairdeal join TICKET` joins one anywhere. `fairdeal doctor` checks the network.")?;
                }
            }
            _ = tokio::signal::ctrl_c() => return Ok(Choice::None(Exit::Interrupted)),
        }
    }
}

async fn until(then: Option<Instant>) {
    match then {
        Some(then) => sleep_until(then).await,
        None => std::future::pending().await,
    }
}

/// The first table that has a seat to give.
async fn first(browser: &mut Browser, password: bool) -> anyhow::Result<Choice> {
    let may = |table: &&LanTable| table.free > 0 && (password || !table.locked);
    let free = |view: &LanView| view.tables.iter().find(may).cloned();
    let found = async {
        let view = browser
            .view()
            .wait_for(|view| view.blind || free(view).is_some());
        view.await.ok().and_then(|view| free(&view))
    };
    tokio::select! {
        found = tokio::time::timeout(WAIT, found) => match found {
            Ok(Some(table)) => Ok(Choice::Table(JoinTarget::Ticket(table.ticket))),
            Ok(None) => anyhow::bail!("this machine has no multicast: join with a ticket or an address"),
            Err(_) => anyhow::bail!(
                "no table on the LAN has a free seat; open one with `fairdeal host`, or join with a ticket"
            ),
        },
        _ = tokio::signal::ctrl_c() => Ok(Choice::None(Exit::Interrupted)),
    }
}

/// Says which tables have come, changed or gone.
fn show(
    view: &LanView,
    listed: &mut BTreeMap<usize, LanTable>,
    numbers: &mut BTreeMap<PeerId, usize>,
) -> anyhow::Result<()> {
    let gone: Vec<usize> = listed
        .iter()
        .filter(|(_, table)| {
            view.tables
                .iter()
                .all(|other| other.ticket.host() != table.ticket.host())
        })
        .map(|(number, _)| *number)
        .collect();
    for number in gone {
        if let Some(table) = listed.remove(&number) {
            say(format!("  {number}  is gone ({}'s table)", table.host))?;
        }
    }
    for table in &view.tables {
        let next = numbers.len() + 1;
        let number = *numbers.entry(table.ticket.host()).or_insert(next);
        if listed.get(&number) != Some(table) {
            say(format!("  {number}  {}", in_words(table)))?;
            listed.insert(number, table.clone());
        }
    }
    if view.blind && listed.is_empty() {
        say("This machine has no multicast: join with a ticket or an address.")?;
    }
    Ok(())
}

fn in_words(table: &LanTable) -> String {
    let game = game_info(&table.game).map_or(table.game.as_str(), |info| info.name);
    let options = table.options.iter();
    let options: Vec<String> = options
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    let options = if options.is_empty() {
        String::new()
    } else {
        format!(" ({})", options.join(", "))
    };
    format!(
        "{game}{options}, {}'s table: {} of {} seats free{}",
        table.host,
        table.free,
        table.seats,
        if table.locked {
            ", with a password"
        } else {
            ""
        }
    )
}
