//! `fairdeal keep`: the keeper of a data directory, its list of tables, and its end.

use std::cell::RefCell;
use std::sync::Arc;

use fairdeal_session::notify::Notification;

use super::args::{Common, Keep};
use super::exit::{Exit, usage};
use super::output::{complain, report, say};
use super::table::runtime;
use crate::drive::saved::SHORT;
use crate::herald::Herald;
use crate::keeper::client::{KeeperClient, stop};
use crate::keeper::server::{Ended, Terms, keep};
use crate::keeper::wire::KeptTable;
use crate::store::{DataDir, DataView, StoreError};
use crate::tui::kept;

pub(super) fn run(common: &Common, args: &Keep) -> anyhow::Result<Exit> {
    let view = DataView::of(common.data_dir.as_deref())?;
    let none = || usage(format!("no keeper runs in {}", view.path().display()));
    if args.stop {
        if !runtime()?.block_on(stop(&view))? {
            return Err(none());
        }
        say("The keeper has ended. Its tables can be resumed.")?;
        return Ok(Exit::Done);
    }
    if args.list {
        let tables = runtime()?.block_on(async {
            let keeper = KeeperClient::find(&view).await?.ok_or_else(none)?;
            anyhow::Ok(keeper.tables().await?)
        })?;
        list(&tables)?;
        return Ok(Exit::Done);
    }
    let data = DataDir::open(common.data_dir.as_deref()).map_err(|why| match why {
        StoreError::InUse { path } => usage(format!(
            "another fairdeal program uses the data directory {}: close it first, or look at its tables with \
             `fairdeal keep --list` if it is a keeper",
            path.display()
        )),
        why => why.into(),
    })?;
    // The settings may change while the keeper runs.
    let (asked, reminded, told) = (view.clone(), view.clone(), view.clone());
    let herald = RefCell::new((None, Herald::start(None, complain)));
    let terms = Terms {
        consents: Box::new(move || asked.settings().0.consent),
        remind: Box::new(move || reminded.settings().0.remind()),
        tell: Box::new(move |sign: &Notification| {
            let (command, mut herald) = (told.settings().0.notify, herald.borrow_mut());
            if herald.0 != command {
                let before = std::mem::replace(&mut *herald, (command.clone(), Herald::start(command, complain)));
                // It may still run, and the tables must not wait for it.
                std::thread::spawn(move || drop(before));
            }
            herald.1.tell(sign);
        }),
        complain: Box::new(complain),
    };
    let ended = runtime()?.block_on(keep(Arc::new(data), terms, |tables| {
        let many = match tables {
            0 => "no tables yet".to_owned(),
            1 => "one table".to_owned(),
            tables => format!("{tables} tables"),
        };
        // Nobody may read it any more.
        let _ = report(format!("Keeping {many}. `fairdeal` shows them; `fairdeal keep --stop` or Ctrl-C ends this."));
    }))?;
    Ok(match ended {
        Ended::Asked => Exit::Done,
        Ended::Signal => Exit::Interrupted,
    })
}

fn list(tables: &[KeptTable]) -> anyhow::Result<()> {
    if tables.is_empty() {
        return say("The keeper holds no table.");
    }
    for table in tables {
        let id: String = table.id.chars().take(SHORT).collect();
        let state = format!("{} {}", kept::state(table), kept::since(table));
        say(format!("{id:SHORT$}  {}: {}", kept::in_words(table), state.trim_end()))?;
    }
    Ok(())
}
