//! `fairdeal keep`: the keeper of a data directory, its list of tables, and its end.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use fairdeal_session::notify::Notification;
use tokio::time::{Instant, sleep};

use super::args::{Common, Keep};
use super::exit::{Exit, usage};
use super::history::SHORT;
use super::output::{complain, report, say};
use super::table::runtime;
use crate::herald::Herald;
use crate::keeper::client::KeeperClient;
use crate::keeper::server::{Ended, Terms, keep};
use crate::keeper::wire::KeptTable;
use crate::store::{DataDir, DataView, StoreError};
use crate::tui::Data;
use crate::tui::kept;

/// How long a keeper that was started may take to answer.
const STARTING: Duration = Duration::from_secs(10);
/// How often it is asked.
const ASKING: Duration = Duration::from_millis(50);

pub(super) fn run(common: &Common, args: &Keep) -> anyhow::Result<Exit> {
    let view = DataView::of(common.data_dir.as_deref())?;
    if args.list || args.stop {
        return runtime()?.block_on(async {
            let Some(keeper) = KeeperClient::find(&view).await? else {
                return Err(usage(format!("no keeper runs in {}", view.path().display())));
            };
            if args.stop {
                keeper.stop().await?;
                say("The keeper has ended. Its tables can be resumed.")?;
            } else {
                list(&keeper.tables().await?)?;
            }
            Ok(Exit::Done)
        });
    }
    let data = DataDir::open(common.data_dir.as_deref()).map_err(|why| match why {
        StoreError::InUse { path } => usage(format!(
            "another fairdeal program uses the data directory {}: close it first, or look at its tables with \
             `fairdeal keep --list` if it is a keeper",
            path.display()
        )),
        why => why.into(),
    })?;
    let settings = data.settings().0;
    let herald = Herald::start(settings.notify.clone(), complain);
    let terms = Terms {
        consents: settings.consent,
        remind: settings.remind(),
        tell: Box::new(move |sign: &Notification| herald.tell(sign)),
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

/// Where a person plays: in this program, or at the keeper of the data directory. With `keeps` one is started if none
/// runs.
pub(super) async fn house(common: &Common, keeps: bool) -> anyhow::Result<Data> {
    let dir = common.data_dir.as_deref();
    let view = DataView::of(dir)?;
    if keeps {
        let keeper = match KeeperClient::find(&view).await? {
            Some(keeper) => keeper,
            None => start(&view).await?,
        };
        return Ok(Data::Kept(view, keeper));
    }
    match Data::of(dir) {
        Err(StoreError::InUse { path }) => match KeeperClient::find(&view).await? {
            Some(keeper) => Ok(Data::Kept(view, keeper)),
            None => Err(StoreError::InUse { path }.into()),
        },
        data => Ok(data?),
    }
}

/// Starts a keeper that outlives this program and its terminal.
async fn start(view: &DataView) -> anyhow::Result<KeeperClient> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("keep").arg("--data-dir").arg(view.path());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    apart(&mut command);
    let mut child = command.spawn()?;
    let until = Instant::now() + STARTING;
    loop {
        if let Some(keeper) = KeeperClient::find(view).await? {
            return Ok(keeper);
        }
        if let Some(status) = child.try_wait()? {
            anyhow::bail!("the keeper does not start ({status}); `fairdeal keep` says why");
        }
        anyhow::ensure!(Instant::now() < until, "the keeper does not answer; `fairdeal keep` says why");
        sleep(ASKING).await;
    }
}

/// In a process group of its own: keys on this terminal do not reach it, nor does the terminal's end.
#[cfg(unix)]
fn apart(command: &mut Command) {
    use std::os::unix::process::CommandExt as _;
    command.process_group(0);
}

#[cfg(windows)]
fn apart(command: &mut Command) {
    use std::os::windows::process::CommandExt as _;
    /// `DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP`
    const APART: u32 = 0x0000_0208;
    command.creation_flags(APART);
}
