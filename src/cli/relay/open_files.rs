//! The number of open files that the system allows: each connection takes one.

#[cfg(unix)]
use crate::cli::exit::usage;

/// Open files beside those of connections: listeners, handshakes, monitors, the log.
#[cfg(unix)]
const OTHERS: u64 = 128;

/// Raises the soft limit to what the connections need.
///
/// # Errors
/// A usage error if the hard limit is too low.
#[cfg(unix)]
pub(super) fn allow(connections: u32) -> anyhow::Result<()> {
    use rustix::process::{Resource, getrlimit, setrlimit};

    let needed = u64::from(connections) + OTHERS;
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= needed) {
        return Ok(());
    }
    let most = limit.maximum.unwrap_or(u64::MAX);
    limit.current = Some(needed.min(most));
    let raised = setrlimit(Resource::Nofile, limit);
    if needed <= most && raised.is_ok() {
        return Ok(());
    }
    Err(usage(format_args!(
        "{connections} connections need {needed} open files, and this system allows {most}; choose fewer with \
         --max-connections, or allow more with ulimit -n, or LimitNOFILE of a systemd unit"
    )))
}

/// Does nothing: this system has no such limit.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub(super) fn allow(_: u32) -> anyhow::Result<()> {
    Ok(())
}
