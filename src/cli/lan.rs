//! `join` without a ticket: offers the tables on the LAN.

use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::time::Duration;

use fairdeal_games::game_info;
use fairdeal_net::{JoinTarget, PeerId};
use tokio::sync::oneshot;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until, timeout};

use super::Exit;
use super::output::{remark, report, say};
use crate::events::session::Reaching;
use crate::events::{Event, SessionLine, Version};
use crate::session::lan::{Browser, LanTable, LanView};
use crate::signals::Signals;

/// How long a bot or a script waits for a table to appear.
const WAIT: Duration = Duration::from_secs(30);
/// How often it reports that it is waiting.
const PROGRESS: Duration = Duration::from_secs(10);
/// How long a person sees no table before the program suggests something else.
const QUIET: Duration = Duration::from_secs(4);

/// The result of the search.
pub(super) enum Choice {
    Table(JoinTarget),
    /// No table; the exit code of the command.
    None(Exit),
}

/// Lets a person choose a table; a bot takes the first with a free seat.
///
/// Without a `password`, only tables that need none are considered. With `json`, a bot also reports the search as an
/// event.
pub(super) async fn choose(bot: bool, password: bool, json: bool) -> anyhow::Result<Choice> {
    let mut signals = Signals::new()?;
    let mut browser = Browser::start()?;
    if bot || !std::io::stdin().is_terminal() {
        return tokio::select! {
            found = first(&mut browser, password, json) => found,
            () = signals.recv() => Ok(Choice::None(Exit::Interrupted)),
        };
    }
    say("Tables on the LAN (a number joins, q quits):")?;
    let mut typed = next_line();
    // A table keeps its number while the list changes.
    let mut listed: BTreeMap<usize, LanTable> = BTreeMap::new();
    let mut numbers: BTreeMap<PeerId, usize> = BTreeMap::new();
    let mut quiet = Some(Instant::now() + QUIET);
    show(&browser.view().borrow_and_update().clone(), &mut listed, &mut numbers)?;
    loop {
        tokio::select! {
            changed = browser.view().changed() => {
                if changed.is_err() {
                    anyhow::bail!("the network stopped; try again");
                }
                let view = browser.view().borrow_and_update().clone();
                show(&view, &mut listed, &mut numbers)?;
            }
            line = &mut typed => {
                // The sender is gone: the thread has ended, and with it the input.
                let Some(line) = line.ok().transpose()?.flatten() else {
                    return Ok(Choice::None(Exit::Failed));
                };
                let word = line.trim();
                if word.eq_ignore_ascii_case("q") {
                    return Ok(Choice::None(Exit::Done));
                }
                match word.parse().ok().and_then(|number: usize| listed.get(&number)) {
                    Some(table) if table.locked && !password => {
                        say("That table needs a password: fairdeal join --password")?;
                    }
                    Some(table) if table.free > 0 => {
                        return Ok(Choice::Table(JoinTarget::Ticket(table.ticket.clone())));
                    }
                    Some(_) => say("That table is full.")?,
                    None => say("Type the number of a table, or q.")?,
                }
                typed = next_line();
            }
            () = until(quiet), if quiet.is_some() => {
                quiet = None;
                if listed.is_empty() {
                    say("None so far. `fairdeal host GAME` opens one; `fairdeal join TICKET` joins one anywhere by \
                         ticket or address. `fairdeal doctor` checks the network.")?;
                }
            }
            () = signals.recv() => return Ok(Choice::None(Exit::Interrupted)),
        }
    }
}

/// Reads a line of standard input; `None` at its end. Unlike tokio's input, a thread that waits for a line does not
/// keep the program from ending. It also reads nothing that is typed for the table.
fn next_line() -> oneshot::Receiver<std::io::Result<Option<String>>> {
    let (tell, told) = oneshot::channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        let read = std::io::stdin().read_line(&mut line);
        let _ = tell.send(read.map(|count| (count > 0).then_some(line)));
    });
    told
}

async fn until(then: Option<Instant>) {
    match then {
        Some(then) => sleep_until(then).await,
        None => std::future::pending().await,
    }
}

/// Waits for the first table with a free seat.
async fn first(browser: &mut Browser, password: bool, json: bool) -> anyhow::Result<Choice> {
    let may = |table: &&LanTable| table.free > 0 && (password || !table.locked);
    let free = |view: &LanView| view.tables.iter().find(may).cloned();
    let found = async {
        let view = browser.view().wait_for(|view| view.blind || free(view).is_some());
        view.await.ok().and_then(|view| free(&view))
    };
    tokio::select! {
        found = timeout(WAIT, found) => match found {
            Ok(Some(table)) => Ok(Choice::Table(JoinTarget::Ticket(table.ticket))),
            Ok(None) => anyhow::bail!("this machine has no multicast; join by ticket or address"),
            Err(_) => anyhow::bail!(
                "no table on the LAN has a free seat; open one with `fairdeal host`, or join with a ticket"
            ),
        },
        stopped = tell_progress(json) => Err(stopped),
    }
}

/// Reports every [`PROGRESS`] how much longer the search lasts. Returns only if a report cannot be written.
async fn tell_progress(json: bool) -> anyhow::Error {
    let begun = Instant::now();
    let mut ticks = interval(PROGRESS);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let left = WAIT.saturating_sub(begun.elapsed());
        // Round up: a second that has begun counts in full.
        let seconds = left.as_millis().div_ceil(1000);
        let seconds = u64::try_from(seconds).unwrap_or(u64::MAX);
        if seconds == 0 {
            continue;
        }
        remark(format!(
            "Looking for a table on this network for another {seconds} s..."
        ));
        if json && let Err(error) = report_search(seconds) {
            return error;
        }
    }
}

/// Prints the event that no host has been found yet.
fn report_search(seconds: u64) -> anyhow::Result<()> {
    let why = "no table with a free seat has been found on this network yet";
    let why = Some(why.to_owned());
    let event = Event::Reaching(Reaching { seconds, why });
    report(serde_json::to_string(&SessionLine { v: Version, event })?)
}

/// Prints the tables that appeared, changed or went away.
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
            say(format!("  {number}  closed ({}'s table)", table.host))?;
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
        say("This machine has no multicast. Join by ticket or address.")?;
    }
    Ok(())
}

fn in_words(table: &LanTable) -> String {
    let game = game_info(&table.game).map_or(table.game.as_str(), |info| info.name);
    let options = table.options.iter();
    let options: Vec<String> = options.map(|(key, value)| format!("{key}={value}")).collect();
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
        if table.locked { ", with a password" } else { "" }
    )
}
