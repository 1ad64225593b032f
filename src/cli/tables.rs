//! Lists of open tables, on the LAN or at meeting points, and the choice of a table from them.

use std::collections::BTreeMap;
use std::time::Duration;

use fairdeal_peers::PeerId;
use fairdeal_peers::announcement::OpenTable;
use fairdeal_peers::ticket::JoinTarget;
use fairdeal_session::people::MarkKind;
use fairdeal_session::view::ListedTable;
use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use super::Exit;
use super::output::{remark, report, say};
use crate::drive::people::Acquaintances;
use crate::events::session::Reaching;
use crate::events::{Event, SessionLine, Version};
use crate::signals::Signals;

/// How long a bot or a script waits for a table to appear.
pub(super) const WAIT: Duration = Duration::from_secs(30);
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

/// A source whose list the address book has arranged.
pub(super) struct Arranged<S> {
    pub(super) source: S,
    pub(super) people: Acquaintances,
    pub(super) ascii: bool,
}

/// Where a list of tables comes from.
pub(super) trait Source {
    /// Waits until the list changes.
    ///
    /// # Errors
    /// The network has stopped.
    async fn changed(&mut self) -> anyhow::Result<()>;

    fn tables(&mut self) -> Vec<OpenTable>;

    /// Whether its tables are at meeting points.
    const AT_POINT: bool;

    /// Remarks for the person, such as that a point does not answer.
    fn remarks(&mut self) -> Vec<String>;
}

/// Waits for the next change of a source's view.
///
/// # Errors
/// Its task has ended.
pub(super) async fn next_of<T>(view: &mut watch::Receiver<T>) -> anyhow::Result<()> {
    let changed = view.changed().await;
    changed.map_err(|_| anyhow::anyhow!("the network stopped; try again"))
}

/// A list that has been shown. A table keeps its number while the list changes.
#[derive(Default)]
struct Shown {
    tables: BTreeMap<usize, ListedTable>,
    numbers: BTreeMap<(PeerId, [u8; 8]), usize>,
    remarks: Vec<String>,
}

impl<S: Source> Arranged<S> {
    pub(super) fn tables(&mut self) -> Vec<ListedTable> {
        let tables = self.source.tables();
        let (near, far) = if S::AT_POINT { (vec![], tables) } else { (tables, vec![]) };
        self.people.arranged(&near, &far, None)
    }
}

/// Lets a person choose a table by its number. Without a `password`, only tables that need none can be chosen.
///
/// # Errors
/// If the network stops, or the terminal fails.
pub(super) async fn choose<S: Source>(
    source: &mut Arranged<S>,
    heading: &str,
    advice: &str,
    password: bool,
) -> anyhow::Result<Choice> {
    let mut signals = Signals::new()?;
    say(format!("{heading} (a number joins, q quits):"))?;
    let mut typed = next_line();
    let mut shown = Shown::default();
    let mut quiet = Some(Instant::now() + QUIET);
    shown.show(source)?;
    loop {
        tokio::select! {
            changed = source.source.changed() => {
                changed?;
                shown.show(source)?;
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
                match word.parse().ok().and_then(|number: usize| shown.tables.get(&number)) {
                    Some(listed) if listed.table.announcement().locked && !password => {
                        say("That table needs a password: start again with --password.")?;
                    }
                    Some(listed) if listed.is_open_to(password) => {
                        return Ok(Choice::Table(JoinTarget::Ticket(listed.table.ticket().clone())));
                    }
                    Some(_) => say("That table is full.")?,
                    None => say("Type the number of a table, or q.")?,
                }
                typed = next_line();
            }
            () = until(quiet), if quiet.is_some() => {
                quiet = None;
                if shown.tables.is_empty() {
                    say(advice)?;
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

/// Reports every [`PROGRESS`] how much longer the search lasts; `place` says where. Returns only if a report cannot be
/// written.
pub(super) async fn tell_progress(place: &str, json: bool) -> anyhow::Error {
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
        remark(format!("Looking for a table {place} for another {seconds} s..."));
        if json && let Err(error) = report_search(place, seconds) {
            return error;
        }
    }
}

/// Prints the event that no host has been found yet.
fn report_search(place: &str, seconds: u64) -> anyhow::Result<()> {
    let why = Some(format!("no table with a free seat has been found {place} yet"));
    let event = Event::Reaching(Reaching { seconds, why });
    report(serde_json::to_string(&SessionLine { v: Version, event })?)
}

impl Shown {
    /// Prints the tables that appeared, changed or went away, and new remarks.
    fn show<S: Source>(&mut self, source: &mut Arranged<S>) -> anyhow::Result<()> {
        let ascii = source.ascii;
        let tables = source.tables();
        let stays = |old: &ListedTable| tables.iter().any(|listed| listed.table.id() == old.table.id());
        for (number, table) in self.tables.iter().filter(|(_, old)| !stays(old)) {
            say(format!("  {number}  closed ({}'s table)", table.host()))?;
        }
        self.tables.retain(|_, old| stays(old));
        for table in tables {
            let next = self.numbers.len() + 1;
            let number = *self.numbers.entry(table.table.id()).or_insert(next);
            if self.tables.get(&number) != Some(&table) {
                say(numbered(number, &table, ascii))?;
                self.tables.insert(number, table);
            }
        }
        let remarks = source.source.remarks();
        for remark in &remarks {
            if !self.remarks.contains(remark) {
                say(remark)?;
            }
        }
        self.remarks = remarks;
        Ok(())
    }
}

/// A line of a list.
pub(super) fn numbered(number: usize, table: &ListedTable, ascii: bool) -> String {
    format!("  {number}  {}{}", marked(table, ascii), in_words(table))
}

/// The address book's word on a host, before anything that the host announces: nothing of a stranger.
fn marked(table: &ListedTable, ascii: bool) -> String {
    if table.mark.kind() == MarkKind::New {
        return String::new();
    }
    let (sign, plain) = table.mark.sign();
    let sign = if ascii { plain } else { sign };
    format!("{sign} {}: ", table.mark.words())
}

fn in_words(table: &ListedTable) -> String {
    let announced = table.table.announcement();
    let options: Vec<String> = table.options().iter().map(|(key, value)| format!("{key}={value}")).collect();
    let options = if options.is_empty() { String::new() } else { format!(" ({})", options.join(", ")) };
    format!(
        "{}{options}, {}'s table: {} of {} seats free{}",
        table.game(),
        table.host(),
        announced.free,
        announced.seats,
        if announced.locked { ", with a password" } else { "" }
    )
}
