//! `join --meet`: lists the tables at meeting points, and joins one of them.

use std::collections::BTreeSet;
use std::io::IsTerminal as _;
use std::time::Duration;

use fairdeal_net::MAX_POINTS;
use fairdeal_peers::Multiaddr;
use fairdeal_peers::address::named_peer;
use fairdeal_peers::announcement::OpenTable;
use fairdeal_peers::ticket::JoinTarget;
use fairdeal_protocol::wire::bounded::Text;
use fairdeal_session::text::clean;
use fairdeal_session::view::ListedTable;
use tokio::time::timeout;

use super::args::Join;
use super::output::{complain, report, say};
use super::table::check_named;
use super::tables::{self, Arranged, Choice, Source, WAIT, next_of, numbered, tell_progress};
use super::{Exit, usage};
use crate::drive::meet::{PointBrowser, PointsView};
use crate::drive::people::Acquaintances;
use crate::events::{Acquaintance, TableLine, Version};
use crate::signals::Signals;

/// How long the program waits for the lists of all points.
const LISTS: Duration = Duration::from_secs(15);
/// Said when no table has appeared for a while.
const ADVICE: &str = "None so far. `fairdeal host GAME --meet ADDRESS` lists a table there; `fairdeal join TICKET` joins \
                      one anywhere by ticket or address.";

/// Checks the addresses of meeting points.
pub(super) fn check_points(points: &[Multiaddr]) -> anyhow::Result<()> {
    check_named("--meet", points)?;
    let peers: BTreeSet<_> = points.iter().filter_map(named_peer).collect();
    if peers.len() > MAX_POINTS {
        return Err(usage(format!("--meet takes at most {MAX_POINTS} meeting points")));
    }
    Ok(())
}

/// Finds a table: the one with this number, or else a person chooses it, or a bot or a script takes the only one.
///
/// # Errors
/// If there is no table, or more than one and nobody to choose.
pub(super) async fn choose(
    join: &Join,
    number: Option<usize>,
    password: bool,
    bot: bool,
    (people, ascii): (Acquaintances, bool),
) -> anyhow::Result<Choice> {
    let search = Search { join, password, json: bot && join.seat.json, people, ascii };
    match number {
        Some(number) => search.numbered(number).await.map(Choice::Table),
        None => search.choose(bot).await,
    }
}

/// Prints the list.
///
/// # Errors
/// If no point gives one.
pub(super) async fn list(join: &Join, (people, ascii): (Acquaintances, bool)) -> anyhow::Result<Exit> {
    let search = Search { join, password: true, json: join.seat.json, people, ascii };
    search.list().await
}

/// A search for a table at meeting points.
struct Search<'a> {
    join: &'a Join,
    /// Whether the player knows a password; without one, only tables that need none can be joined.
    password: bool,
    /// Whether lines are printed as JSON.
    json: bool,
    /// The address book, which arranges every list.
    people: Acquaintances,
    ascii: bool,
}

impl Source for PointBrowser {
    async fn changed(&mut self) -> anyhow::Result<()> {
        next_of(self.view()).await
    }

    const AT_POINT: bool = true;

    fn tables(&mut self) -> Vec<OpenTable> {
        self.view().borrow_and_update().tables.clone()
    }

    fn remarks(&mut self) -> Vec<String> {
        failures(&self.view().borrow())
    }
}

fn failures(view: &PointsView) -> Vec<String> {
    view.failed.iter().map(|(point, why)| format!("The meeting point {point} gives no list: {why}.")).collect()
}

/// Whether all points have given their lists.
fn is_whole(view: &PointsView) -> bool {
    view.failed.is_empty() && view.silent.is_empty()
}

impl Search<'_> {
    fn browser(&self) -> anyhow::Result<PointBrowser> {
        let game = self.join.game.clone().map(Text::try_from).transpose()?;
        Ok(PointBrowser::start(&self.join.meet, game)?)
    }

    /// Lets a person choose a table; a bot or a script takes the only one.
    async fn choose(mut self, bot: bool) -> anyhow::Result<Choice> {
        let mut browser = self.browser()?;
        if !bot && std::io::stdin().is_terminal() {
            let mut browser = Arranged { source: browser, people: self.people, ascii: self.ascii };
            return tables::choose(&mut browser, "Tables at the meeting point", ADVICE, self.password).await;
        }
        let mut signals = Signals::new()?;
        let json = self.json;
        tokio::select! {
            only = self.only(&mut browser) => only.map(Choice::Table),
            () = signals.recv() => Ok(Choice::None(Exit::Interrupted)),
            stopped = tell_progress("at the meeting point", json) => Err(stopped),
        }
    }

    /// Waits until there is a table to join, and takes it if it is the only one.
    async fn only(&mut self, browser: &mut PointBrowser) -> anyhow::Result<JoinTarget> {
        let password = self.password;
        let may = |listed: &&ListedTable| listed.is_open_to(password);
        let people = &mut self.people;
        // A blocked host's table is none.
        let is_found = |view: &PointsView| {
            view.silent.is_empty() && people.arranged(&[], &view.tables, None).iter().any(|listed| may(&listed))
        };
        let view = wait_for(browser, WAIT, is_found).await?;
        let tables = self.people.arranged(&[], &view.tables, None);
        let mut open = tables.iter().filter(may);
        match (open.next(), open.next()) {
            (Some(listed), None) => Ok(JoinTarget::Ticket(listed.table.ticket().clone())),
            (None, _) => {
                say_failures(&view);
                anyhow::bail!("no table at the meeting point has a free seat for you; open one with `fairdeal host`")
            }
            (Some(_), Some(_)) => {
                self.print(&tables)?;
                Err(usage("more than one table is open; add the number of one, as in: fairdeal join --meet ADDRESS 2"))
            }
        }
    }

    /// The table with this number in the list.
    async fn numbered(mut self, number: usize) -> anyhow::Result<JoinTarget> {
        let mut browser = self.browser()?;
        let view = lists(&mut browser).await?;
        let tables = self.people.arranged(&[], &view.tables, None);
        say_failures(&view);
        if !is_whole(&view) {
            anyhow::bail!(
                "without the lists of all meeting points a number may mean another table: leave out the points that give \
                 none, or join without a number"
            );
        }
        let count = tables.len();
        let listed = number.checked_sub(1).and_then(|index| tables.get(index));
        let listed = listed.ok_or_else(|| {
            usage(format!("no table has the number {number}: the list has {count}; `--list` shows it"))
        })?;
        if listed.table.announcement().locked && !self.password {
            return Err(usage("that table needs a password: add --password"));
        }
        if !self.json {
            say(format!("Joining:{}", numbered(number, listed, self.ascii)))?;
        }
        Ok(JoinTarget::Ticket(listed.table.ticket().clone()))
    }

    /// Prints the list.
    async fn list(mut self) -> anyhow::Result<Exit> {
        let mut browser = self.browser()?;
        let view = lists(&mut browser).await?;
        let tables = self.people.arranged(&[], &view.tables, None);
        say_failures(&view);
        self.print(&tables)?;
        if tables.is_empty() && !is_whole(&view) {
            return Ok(Exit::Failed);
        }
        if tables.is_empty() && !self.json {
            say("No table is open there.")?;
        }
        Ok(Exit::Done)
    }

    fn print(&self, tables: &[ListedTable]) -> anyhow::Result<()> {
        for (number, table) in (1..).zip(tables) {
            if self.json {
                report(serde_json::to_string(&line(number, table))?)?;
            } else {
                report(numbered(number, table, self.ascii))?;
            }
        }
        Ok(())
    }
}

/// The lists of all points, or of those that answered in time.
async fn lists(browser: &mut PointBrowser) -> anyhow::Result<PointsView> {
    wait_for(browser, LISTS, |view| view.silent.is_empty()).await
}

/// The first view that fits, or the last one before the time is over.
async fn wait_for(
    browser: &mut PointBrowser,
    time: Duration,
    fits: impl FnMut(&PointsView) -> bool,
) -> anyhow::Result<PointsView> {
    let found = timeout(time, browser.view().wait_for(fits)).await.map(|view| view.map(|view| view.clone()));
    match found {
        Ok(view) => Ok(view?),
        Err(_) => Ok(browser.view().borrow().clone()),
    }
}

/// Tells which points have given no list in time.
fn say_failures(view: &PointsView) {
    for failure in failures(view) {
        complain(failure);
    }
    for point in &view.silent {
        complain(format!("The meeting point {point} gives no list: no answer in time."));
    }
}

fn line(number: usize, listed: &ListedTable) -> TableLine {
    let (announcement, ticket) = (listed.table.announcement(), listed.table.ticket());
    TableLine {
        v: Version,
        number,
        ticket: ticket.to_string(),
        host: listed.host(),
        game: clean(announcement.game.as_str()),
        options: listed.options().into_iter().collect(),
        seats: announcement.seats,
        free: announcement.free,
        password: announcement.locked,
        person: Acquaintance::of(&ticket.host(), &listed.mark),
    }
}
