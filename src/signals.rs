//! The signals that ask the program to quit: Ctrl-C, and on Unix SIGTERM and SIGHUP (the terminal was closed).

/// Receives these signals.
#[derive(Debug)]
pub(crate) struct Signals {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    hang_up: tokio::signal::unix::Signal,
}

impl Signals {
    /// Takes over the signals: from now on none of them ends the program by itself. Call it within a tokio runtime.
    ///
    /// # Errors
    /// The system's.
    #[cfg(unix)]
    pub(crate) fn new() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for a signal.
    #[cfg(unix)]
    pub(crate) async fn recv(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.hang_up.recv() => {}
        }
    }

    /// Does nothing yet; [`Self::recv`] takes over Ctrl-C.
    ///
    /// # Errors
    /// None on this platform.
    #[cfg(not(unix))]
    pub(crate) fn new() -> std::io::Result<Self> {
        Ok(Self {})
    }

    /// Waits for Ctrl-C.
    #[cfg(not(unix))]
    pub(crate) async fn recv(&mut self) {
        // Without a handler, Ctrl-C ends the program by itself.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
