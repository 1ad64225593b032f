//! `join` without a ticket: offers the tables on the LAN.

use std::io::IsTerminal as _;

use fairdeal_peers::announcement::OpenTable;
use fairdeal_peers::ticket::JoinTarget;
use tokio::time::timeout;

use super::Exit;
use super::tables::{self, Arranged, Choice, Source, WAIT, next_of, tell_progress};
use crate::drive::lan::Browser;
use crate::drive::people::Acquaintances;
use crate::signals::Signals;

/// Said when no table has appeared for a while.
const ADVICE: &str = "None so far. `fairdeal host GAME` opens one; `fairdeal join TICKET` joins one anywhere by ticket \
                      or address. `fairdeal doctor` checks the network.";

impl Source for Browser {
    async fn changed(&mut self) -> anyhow::Result<()> {
        next_of(self.view()).await
    }

    const AT_POINT: bool = false;

    fn tables(&mut self) -> Vec<OpenTable> {
        self.view().borrow_and_update().tables.clone()
    }

    fn remarks(&mut self) -> Vec<String> {
        let view = self.view().borrow();
        let is_blind = view.blind && view.tables.is_empty();
        let remark = "This machine has no multicast. Join by ticket or address.";
        is_blind.then(|| remark.to_owned()).into_iter().collect()
    }
}

/// Lets a person choose a table; a bot takes the first with a free seat.
///
/// Without a `password`, only tables that need none are considered. With `json`, a bot also reports the search as an
/// event.
pub(super) async fn choose(
    bot: bool,
    password: bool,
    json: bool,
    (people, ascii): (Acquaintances, bool),
) -> anyhow::Result<Choice> {
    let mut browser = Arranged { source: Browser::start()?, people, ascii };
    if bot || !std::io::stdin().is_terminal() {
        let mut signals = Signals::new()?;
        return tokio::select! {
            found = first(&mut browser, password, json) => found,
            () = signals.recv() => Ok(Choice::None(Exit::Interrupted)),
        };
    }
    tables::choose(&mut browser, "Tables on the LAN", ADVICE, password).await
}

/// Waits for the first table with a free seat.
async fn first(browser: &mut Arranged<Browser>, password: bool, json: bool) -> anyhow::Result<Choice> {
    let found = async {
        loop {
            let found = browser.tables().into_iter().find(|listed| listed.is_open_to(password));
            if found.is_some() || browser.source.view().borrow().blind || browser.source.changed().await.is_err() {
                return found;
            }
        }
    };
    tokio::select! {
        found = timeout(WAIT, found) => match found {
            Ok(Some(listed)) => Ok(Choice::Table(JoinTarget::Ticket(listed.table.ticket().clone()))),
            Ok(None) => anyhow::bail!("this machine has no multicast; join by ticket or address"),
            Err(_) => anyhow::bail!(
                "no table on the LAN has a free seat; open one with `fairdeal host`, or join with a ticket"
            ),
        },
        stopped = tell_progress("on this network", json) => Err(stopped),
    }
}
