//! The search for a table on the LAN or at meeting points: what it waits for, and what a bot or a script takes.

use std::convert::Infallible;
use std::time::Duration;

use fairdeal_peers::ticket::Ticket;
use fairdeal_protocol::wire::bounded::Text;
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

use super::lines::{failures, json_line, numbered};
use crate::cli::args::Join;
use crate::cli::exit::{Exit, usage};
use crate::cli::output::{complain, remark, report, say};
use crate::drive::finder::{Company, Finder, Sources};
use crate::drive::people::Acquaintances;
use crate::events::{Event, SessionLine, Version};
use crate::signals::Signals;

/// How long a bot or a script waits for a table to appear.
const WAIT: Duration = Duration::from_secs(30);
/// How often it reports that it is waiting.
const PROGRESS: Duration = Duration::from_secs(10);
/// How long the program waits for the lists of all points.
const LISTS: Duration = Duration::from_secs(15);

/// The result of the search.
pub(in crate::cli) enum Choice {
    Table(Ticket),
    /// No table; the exit code of the command.
    None(Exit),
}

/// Where tables are looked for, in words.
pub(super) struct Place {
    pub(super) heading: &'static str,
    /// Said to a person when no table has appeared for a while.
    pub(super) advice: &'static str,
    adverb: &'static str,
    /// Said to a bot or a script in the end.
    none: &'static str,
    /// Whether a bot or a script takes the first of several tables.
    takes_first: bool,
}

const ON_LAN: Place = Place {
    heading: "Tables on the LAN",
    advice: "None so far. `fairdeal host GAME` opens one; `fairdeal join TICKET` joins one anywhere by ticket or address. \
             `fairdeal doctor` checks the network.",
    adverb: "on this network",
    none: "no table on the LAN has a free seat; open one with `fairdeal host`, or join with a ticket",
    takes_first: true,
};

const AT_POINTS: Place = Place {
    heading: "Tables at the meeting point",
    advice: "None so far. `fairdeal host GAME --meet ADDRESS` lists a table there; `fairdeal join TICKET` joins one \
             anywhere by ticket or address.",
    adverb: "at the meeting point",
    none: "no table at the meeting point has a free seat for you; open one with `fairdeal host`",
    takes_first: false,
};

/// A search for a table.
pub(super) struct Search {
    pub(super) finder: Finder,
    pub(super) place: &'static Place,
    /// Whether lines are printed as JSON.
    pub(super) json: bool,
    pub(super) ascii: bool,
}

impl Search {
    pub(super) fn start(join: &Join, json: bool, (people, ascii): (Acquaintances, bool)) -> anyhow::Result<Self> {
        let game = join.game.clone().map(Text::try_from).transpose()?;
        let lan = join.meet.is_empty();
        let (_, company) = watch::channel(Company::new());
        let finder = Finder::start(Sources { lan, points: join.meet.clone(), game, company }, people, None)?;
        Ok(Self { finder, place: if lan { &ON_LAN } else { &AT_POINTS }, json, ascii })
    }

    /// The table with this number in the list.
    pub(super) async fn numbered(mut self, number: usize, password: bool) -> anyhow::Result<Ticket> {
        self.wait_for_lists().await?;
        if !self.is_whole() {
            anyhow::bail!(
                "without the lists of all meeting points a number may mean another table: leave out the points that give \
                 none, or join without a number"
            );
        }
        let tables = self.finder.tables();
        let listed = number.checked_sub(1).and_then(|index| tables.get(index)).ok_or_else(|| {
            usage(format!("no table has the number {number}: the list has {}; `--list` shows it", tables.len()))
        })?;
        if listed.table.announcement().locked && !password {
            return Err(usage("that table needs a password: add --password"));
        }
        if !self.json {
            say(format!("Joining:{}", numbered(number, listed, self.ascii)))?;
        }
        Ok(listed.table.ticket().clone())
    }

    /// Takes a table for a bot or a script, unless it is interrupted first.
    pub(super) async fn take(mut self, password: bool) -> anyhow::Result<Choice> {
        let mut signals = Signals::new()?;
        let progress = tell_progress(self.place.adverb, self.json);
        tokio::select! {
            taken = self.first_or_only(password) => taken.map(Choice::Table),
            () = signals.recv() => Ok(Choice::None(Exit::Interrupted)),
            stopped = progress => stopped.map(|never| match never {}),
        }
    }

    /// Waits until there is a table to join: the first one on the LAN, and the only one at meeting points.
    async fn first_or_only(&mut self, password: bool) -> anyhow::Result<Ticket> {
        let is_found = |finder: &Finder| {
            let is_any_open = || finder.tables().iter().any(|listed| listed.is_open_to(password));
            finder.view().blind || (finder.view().silent.is_empty() && is_any_open())
        };
        self.wait_until(WAIT, is_found).await?;
        let mut open = self.finder.tables().iter().filter(|listed| listed.is_open_to(password));
        match (open.next(), open.next()) {
            (Some(listed), more) if self.place.takes_first || more.is_none() => Ok(listed.table.ticket().clone()),
            (Some(_), _) => {
                self.print()?;
                Err(usage("more than one table is open; add the number of one, as in: fairdeal join --meet ADDRESS 2"))
            }
            (None, _) if self.finder.view().blind => {
                anyhow::bail!("this machine has no multicast; join by ticket or address")
            }
            (None, _) => {
                self.say_failures();
                anyhow::bail!(self.place.none)
            }
        }
    }

    pub(super) fn print(&self) -> anyhow::Result<()> {
        for (number, listed) in (1..).zip(self.finder.tables()) {
            report(if self.json { json_line(number, listed)? } else { numbered(number, listed, self.ascii) })?;
        }
        Ok(())
    }

    /// Waits for the lists of all points, and tells which have given none in time.
    pub(super) async fn wait_for_lists(&mut self) -> anyhow::Result<()> {
        self.wait_until(LISTS, |finder| finder.view().silent.is_empty()).await?;
        self.say_failures();
        Ok(())
    }

    /// Waits until what is found fits, but no longer than this time.
    async fn wait_until(&mut self, time: Duration, fits: impl Fn(&Finder) -> bool) -> anyhow::Result<()> {
        let waiting = async {
            while !fits(&self.finder) {
                self.finder.changed().await?;
            }
            Ok(())
        };
        timeout(time, waiting).await.unwrap_or(Ok(()))
    }

    /// Whether all points have given their lists.
    pub(super) fn is_whole(&self) -> bool {
        let view = self.finder.view();
        view.failed.is_empty() && view.silent.is_empty()
    }

    fn say_failures(&self) {
        let view = self.finder.view();
        failures(view).for_each(complain);
        for point in &view.silent {
            complain(format!("The meeting point {point} gives no list: no answer in time."));
        }
    }
}

/// Reports every [`PROGRESS`] how much longer the search lasts; `place` says where. Returns only if a report cannot be
/// written.
async fn tell_progress(place: &str, json: bool) -> anyhow::Result<Infallible> {
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
        if json {
            let why = Some(format!("no table with a free seat has been found {place} yet"));
            let event = Event::Reaching { seconds, why, reply: None };
            report(serde_json::to_string(&SessionLine { v: Version, event })?)?;
        }
    }
}
