//! Job control: Ctrl-Z and SIGTSTP stop the program, SIGCONT (`fg`) brings it back. Only a shell can do that, so where
//! there is none, nothing stops. Systems other than Unix have no such thing.

/// A change of the program's job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Job {
    /// Give the terminal back, then stop.
    Stop,
    /// The program runs again. The shell may have changed the terminal meanwhile.
    Continue,
}

#[cfg(unix)]
pub(super) use self::unix::{JobControl, has_shell, stop_job};

#[cfg(not(unix))]
pub(super) use self::none::{JobControl, has_shell, stop_job};

#[cfg(unix)]
mod unix {
    use std::io;
    use std::time::Duration;

    use rustix::process::{Signal, getpgrp, getpid, getsid, kill_current_process_group, kill_process};
    use tokio::signal::unix::{SignalKind, signal};
    use tokio::time::timeout;

    use super::Job;

    /// Receives the signals of job control.
    #[derive(Debug)]
    pub(in crate::tui) struct JobControl {
        stop: tokio::signal::unix::Signal,
        go_on: tokio::signal::unix::Signal,
    }

    impl JobControl {
        /// Takes over SIGTSTP: from now on it does not stop the program by itself. Call it within a tokio runtime.
        ///
        /// # Errors
        /// The system's.
        pub(in crate::tui) fn new() -> io::Result<Self> {
            Ok(Self {
                stop: signal(SignalKind::from_raw(Signal::TSTP.as_raw()))?,
                go_on: signal(SignalKind::from_raw(Signal::CONT.as_raw()))?,
            })
        }

        /// Waits until the program is to stop, or runs again. A stop that no shell could end is not reported.
        pub(in crate::tui) async fn recv(&mut self) -> Job {
            loop {
                tokio::select! {
                    _ = self.stop.recv() => if has_shell() {
                        return Job::Stop;
                    },
                    _ = self.go_on.recv() => return Job::Continue,
                }
            }
        }

        /// Stops the program until SIGCONT.
        ///
        /// # Errors
        /// The system's.
        pub(in crate::tui) async fn stop(&mut self) -> io::Result<()> {
            // An earlier one must not count.
            let _ = timeout(Duration::ZERO, self.go_on.recv()).await;
            kill_process(getpid(), Signal::STOP)?;
            // Another thread may have received the signal, so that this one runs on for a moment.
            self.go_on.recv().await;
            Ok(())
        }
    }

    /// Tells the whole job to stop, as the terminal does for Ctrl-Z outside raw mode. This program then gets
    /// [`Job::Stop`].
    ///
    /// # Errors
    /// The system's.
    pub(in crate::tui) fn stop_job() -> io::Result<()> {
        Ok(kill_current_process_group(Signal::TSTP)?)
    }

    /// Whether a shell can continue this program. A process in the group of its session's leader has none: the system
    /// calls that group orphaned, and does not stop it either.
    pub(in crate::tui) fn has_shell() -> bool {
        getsid(None).is_ok_and(|session| session != getpgrp())
    }
}

#[cfg(not(unix))]
mod none {
    use std::io;

    use super::Job;

    #[derive(Debug)]
    pub(in crate::tui) struct JobControl;

    impl JobControl {
        #[allow(clippy::unnecessary_wraps)]
        pub(in crate::tui) fn new() -> io::Result<Self> {
            Ok(Self)
        }

        pub(in crate::tui) async fn recv(&mut self) -> Job {
            std::future::pending().await
        }

        #[allow(clippy::unused_async, clippy::unnecessary_wraps)]
        pub(in crate::tui) async fn stop(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[allow(clippy::unnecessary_wraps)]
    pub(in crate::tui) fn stop_job() -> io::Result<()> {
        Ok(())
    }

    pub(in crate::tui) fn has_shell() -> bool {
        false
    }
}
