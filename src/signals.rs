//! The signals that ask a program to go: Ctrl-C, and where there are such SIGTERM and SIGHUP (its terminal is closed).

/// Waits for them.
#[derive(Debug)]
pub(crate) struct Signals {
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    hang_up: tokio::signal::unix::Signal,
}

impl Signals {
    /// From now on none of them ends the program by itself; within a tokio runtime.
    ///
    /// # Errors
    /// The system's.
    #[cfg(unix)]
    pub(crate) fn new() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    /// One has come.
    #[cfg(unix)]
    pub(crate) async fn recv(&mut self) {
        tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            _ = self.terminate.recv() => {}
            _ = self.hang_up.recv() => {}
        }
    }

    /// From now on none of them ends the program by itself; within a tokio runtime.
    ///
    /// # Errors
    /// None here.
    #[cfg(not(unix))]
    pub(crate) fn new() -> std::io::Result<Self> {
        Ok(Self {})
    }

    /// One has come.
    #[cfg(not(unix))]
    pub(crate) async fn recv(&mut self) {
        // Where they cannot be heard they end the program.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
