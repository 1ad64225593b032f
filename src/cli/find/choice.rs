//! The choice of a table by a person, from a list that changes meanwhile.

use std::collections::BTreeMap;
use std::pin::pin;
use std::time::Duration;

use fairdeal_peers::PeerId;
use fairdeal_session::view::ListedTable;
use tokio::sync::oneshot;
use tokio::time::sleep;

use super::lines::{failures, numbered};
use super::search::{Choice, Search};
use crate::cli::exit::Exit;
use crate::cli::output::say;
use crate::drive::finder::View;
use crate::signals::Signals;

/// How long a person sees no table before the program suggests something else.
const QUIET: Duration = Duration::from_secs(4);

/// A list that has been shown. A table keeps its number while the list changes.
#[derive(Default)]
struct Shown {
    tables: BTreeMap<usize, ListedTable>,
    numbers: BTreeMap<(PeerId, [u8; 8]), usize>,
    remarks: Vec<String>,
}

/// Lets a person choose a table by its number. Without a `password`, only tables that need none can be chosen.
///
/// # Errors
/// If the network stops, or the terminal fails.
pub(super) async fn choose(mut search: Search, password: bool) -> anyhow::Result<Choice> {
    let place = search.place;
    let mut signals = Signals::new()?;
    say(format!("{} (a number joins, q quits):", place.heading))?;
    let mut typed = next_line();
    let mut shown = Shown::default();
    let mut quiet = pin!(sleep(QUIET));
    let mut is_advised = false;
    shown.show(&search)?;
    loop {
        tokio::select! {
            changed = search.finder.changed() => {
                changed?;
                shown.show(&search)?;
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
                        return Ok(Choice::Table(listed.table.ticket().clone()));
                    }
                    Some(_) => say("That table is full.")?,
                    None => say("Type the number of a table, or q.")?,
                }
                typed = next_line();
            }
            () = &mut quiet, if !is_advised => {
                is_advised = true;
                if shown.tables.is_empty() {
                    say(place.advice)?;
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

impl Shown {
    /// Prints the tables that appeared, changed or went away, and new remarks.
    fn show(&mut self, search: &Search) -> anyhow::Result<()> {
        let tables = search.finder.tables();
        let stays = |old: &ListedTable| tables.iter().any(|listed| listed.table.id() == old.table.id());
        for (number, table) in self.tables.iter().filter(|(_, old)| !stays(old)) {
            say(format!("  {number}  closed ({}'s table)", table.host()))?;
        }
        self.tables.retain(|_, old| stays(old));
        for table in tables {
            let next = self.numbers.len() + 1;
            let number = *self.numbers.entry(table.table.id()).or_insert(next);
            if self.tables.get(&number) != Some(table) {
                say(numbered(number, table, search.ascii))?;
                self.tables.insert(number, table.clone());
            }
        }
        let remarks = remarks(search.finder.view());
        for remark in &remarks {
            if !self.remarks.contains(remark) {
                say(remark)?;
            }
        }
        self.remarks = remarks;
        Ok(())
    }
}

/// Reasons why tables may be missing, such as a point that does not answer.
fn remarks(view: &View) -> Vec<String> {
    let is_blind = view.blind && view.near.is_empty();
    let blind = is_blind.then(|| "This machine has no multicast. Join by ticket or address.".to_owned());
    blind.into_iter().chain(failures(view)).collect()
}
