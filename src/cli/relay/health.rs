//! Asks a running relay whether it is healthy: for the health check of a container, which has no other program.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use super::super::output::{complain, say};
use crate::cli::exit::Exit;

/// Maximum time for connecting, and for each part of the answer; a healthy relay needs milliseconds.
const PATIENCE: Duration = Duration::from_secs(5);
/// Maximum size of the answer in bytes.
const LONGEST: u64 = 1024;

/// Prints one line.
pub(super) fn ask(address: SocketAddr) -> anyhow::Result<Exit> {
    let why = match answer(address) {
        Ok(text) => match text.split_once("\r\n\r\n") {
            Some((head, _)) if head.split(' ').nth(1) == Some("200") => {
                say(format!("The relay with metrics at {address} is healthy."))?;
                return Ok(Exit::Done);
            }
            Some((_, why)) if !why.trim().is_empty() => why.trim().to_owned(),
            _ => "it gives no answer".to_owned(),
        },
        Err(error) => error.to_string(),
    };
    complain(format!(
        "the relay with metrics at {address} is not healthy: {why}. Check that it runs with --metrics {address}."
    ));
    Ok(Exit::Failed)
}

fn answer(address: SocketAddr) -> io::Result<String> {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    write!(stream, "GET /health HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
    let mut answer = Vec::new();
    stream.take(LONGEST).read_to_end(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}
