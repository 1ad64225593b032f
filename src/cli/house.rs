//! Where a person of the command line plays: in this program, or at the keeper of the data directory.

use std::process::{Command, Stdio};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::args::Common;
use crate::keeper::client::KeeperClient;
use crate::store::{DataView, StoreError};
use crate::tui::Data;

/// How long a keeper that was started may take to answer.
const STARTING: Duration = Duration::from_secs(10);
/// How often it is asked.
const ASKING: Duration = Duration::from_millis(50);

/// The data directory, with the keeper that holds it if one does. With `keeps` one is started if none runs.
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
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).env_remove("FAIRDEAL_PASSWORD");
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
    /// `CREATE_NO_WINDOW | CREATE_NEW_PROCESS_GROUP`: what it starts shows no window either.
    const APART: u32 = 0x0800_0200;
    command.creation_flags(APART);
}
