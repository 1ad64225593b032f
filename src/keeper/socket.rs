//! The local socket of a keeper: a Unix socket in the data directory, a named pipe on Windows. Only its owner may connect.

use std::io;
use std::path::PathBuf;

use crate::store::DataView;

/// A connection, to be split in two.
pub(super) trait Connection: tokio::io::AsyncRead + tokio::io::AsyncWrite + Send + Unpin + 'static {}

impl<T: tokio::io::AsyncRead + tokio::io::AsyncWrite + Send + Unpin + 'static> Connection for T {}

/// The name in the data directory: the socket itself, or a file with the pipe's name.
fn path(data: &DataView) -> PathBuf {
    data.path().join("keeper.socket")
}

#[cfg(unix)]
mod system {
    use rustix::process::geteuid;
    use tokio::net::{UnixListener, UnixStream};

    use super::{Connection, DataView, PathBuf, io, path};

    /// A keeper's end. The socket goes with it.
    pub(in crate::keeper) struct Listener {
        listener: UnixListener,
        path: PathBuf,
    }

    impl Listener {
        /// Listens in a data directory. The caller holds its lock: a socket that is there is left from a crash.
        pub(in crate::keeper) fn bind(data: &DataView) -> io::Result<Self> {
            let path = path(data);
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            Ok(Self { listener: UnixListener::bind(&path)?, path })
        }

        /// The next connection of the same user; strangers are turned away, whatever the permissions of the directory.
        pub(in crate::keeper) async fn accept(&mut self) -> io::Result<impl Connection + use<>> {
            loop {
                let (stream, _) = self.listener.accept().await?;
                if stream.peer_cred().is_ok_and(|peer| peer.uid() == geteuid().as_raw()) {
                    return Ok(stream);
                }
                tracing::warn!("another user has tried to reach the keeper");
            }
        }
    }

    impl Drop for Listener {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.path);
        }
    }

    /// Connects to the keeper of a data directory.
    pub(in crate::keeper) async fn connect(data: &DataView) -> io::Result<impl Connection + use<>> {
        let stream = UnixStream::connect(path(data)).await?;
        if stream.peer_cred()?.uid() != geteuid().as_raw() {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "this keeper is another user's"));
        }
        Ok(stream)
    }
}

#[cfg(windows)]
mod system {
    use tokio::net::windows::named_pipe::{ClientOptions, NamedPipeServer, ServerOptions};

    use super::{Connection, DataView, PathBuf, io, path};

    /// A keeper's end. Its name is random and in a file of the owner's: nobody else can have taken it before.
    pub(in crate::keeper) struct Listener {
        next: NamedPipeServer,
        name: String,
        path: PathBuf,
    }

    /// `ERROR_PIPE_BUSY`
    const PIPE_BUSY: i32 = 231;
    /// How often a busy pipe is tried, and how far apart.
    const TRIES: u32 = 40;
    const PAUSE: std::time::Duration = std::time::Duration::from_millis(50);

    fn serve(name: &str, first: bool) -> io::Result<NamedPipeServer> {
        // By default only the owner, administrators and the system may write to a pipe.
        ServerOptions::new().first_pipe_instance(first).reject_remote_clients(true).create(name)
    }

    impl Listener {
        pub(in crate::keeper) fn bind(data: &DataView) -> io::Result<Self> {
            let mut drawn = [0_u8; 16];
            getrandom::fill(&mut drawn).map_err(|error| io::Error::other(error.to_string()))?;
            let name = format!(r"\\.\pipe\fairdeal-{}", data_encoding::HEXLOWER.encode(&drawn));
            let next = serve(&name, true)?;
            let path = path(data);
            std::fs::write(&path, &name)?;
            Ok(Self { next, name, path })
        }

        pub(in crate::keeper) async fn accept(&mut self) -> io::Result<impl Connection + use<>> {
            let connected = self.next.connect().await;
            // One that a client has left before is of no more use.
            let server = std::mem::replace(&mut self.next, serve(&self.name, false)?);
            connected.map(|()| server)
        }
    }

    impl Drop for Listener {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.path);
        }
    }

    pub(in crate::keeper) async fn connect(data: &DataView) -> io::Result<impl Connection + use<>> {
        let name = std::fs::read_to_string(path(data))?;
        let mut tries = 0;
        loop {
            // The keeper makes the next instance as soon as it has taken this one.
            match ClientOptions::new().open(&name) {
                Err(error) if error.raw_os_error() == Some(PIPE_BUSY) && tries < TRIES => {
                    tries += 1;
                    tokio::time::sleep(PAUSE).await;
                }
                opened => return opened,
            }
        }
    }
}

pub(super) use self::system::{Listener, connect};
