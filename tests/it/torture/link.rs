//! A bad link between a guest and its host: it delays bytes, stalls and breaks.
//!
//! The guest joins through its address. After a cut, programs may connect to each other's own addresses: `ss --kill`
//! resets those connections if the system supports it.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Polling interval while the link stalls.
const NAP: Duration = Duration::from_millis(5);
/// The most reads on their way in one direction.
const UNDERWAY: usize = 256;

#[derive(Default)]
struct State {
    /// The host's port; 0 while unknown.
    to: u16,
    open: Vec<TcpStream>,
    still_until: Option<Instant>,
    delay: Duration,
    ended: bool,
}

/// The link of one guest; dropping it ends everything.
pub(super) struct Link {
    /// The port on which the guest connects.
    pub(super) port: u16,
    state: Arc<Mutex<State>>,
}

impl Link {
    /// A link without a target yet.
    pub(super) fn new() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let state: Arc<Mutex<State>> = Arc::default();
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for inbound in listener.incoming() {
                if shared.lock().unwrap().ended {
                    return;
                }
                if let Ok(inbound) = inbound {
                    // If no host listens, the guest's connection closes too.
                    let _ = carry(inbound, &shared);
                }
            }
        });
        Self { port, state }
    }

    /// Sets the host's port as the target.
    pub(super) fn lead_to(&self, port: u16) {
        self.state.lock().unwrap().to = port;
    }

    /// Breaks all connections.
    pub(super) fn cut(&self) {
        for stream in self.state.lock().unwrap().open.drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// Carries nothing for this time.
    pub(super) fn stand_still(&self, time: Duration) {
        self.state.lock().unwrap().still_until = Some(Instant::now() + time);
    }

    /// Delays all bytes by this much from now on.
    pub(super) fn slow_down(&self, delay: Duration) {
        self.state.lock().unwrap().delay = delay;
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.cut();
        self.state.lock().unwrap().ended = true;
        // One more connection wakes the accepting thread.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

fn carry(inbound: TcpStream, state: &Arc<Mutex<State>>) -> io::Result<()> {
    let to = state.lock().unwrap().to;
    let outbound = TcpStream::connect(("127.0.0.1", to))?;
    for (from, into) in [(&inbound, &outbound), (&outbound, &inbound)] {
        let (mut from, mut into) = (from.try_clone()?, into.try_clone()?);
        let state = Arc::clone(state);
        std::thread::spawn(move || {
            // Bytes on their way, each with the moment of its arrival: a far link delays, and does not throttle.
            let (sender, underway) = sync_channel::<(Instant, Vec<u8>)>(UNDERWAY);
            let reader = Arc::clone(&state);
            std::thread::spawn(move || {
                let mut buffer = [0; 4096];
                while let Ok(read @ 1..) = from.read(&mut buffer) {
                    let arrives = Instant::now() + reader.lock().unwrap().delay;
                    if sender.send((arrives, buffer[..read].to_vec())).is_err() {
                        break;
                    }
                }
                let _ = from.shutdown(Shutdown::Both);
            });
            for (arrives, bytes) in underway {
                std::thread::sleep(arrives.saturating_duration_since(Instant::now()));
                loop {
                    let until = state.lock().unwrap().still_until;
                    if until.is_none_or(|until| until <= Instant::now()) {
                        break;
                    }
                    std::thread::sleep(NAP);
                }
                if into.write_all(&bytes).is_err() {
                    break;
                }
            }
            let _ = into.shutdown(Shutdown::Both);
        });
    }
    state.lock().unwrap().open.extend([inbound, outbound]);
    Ok(())
}

/// Resets every TCP connection of a process. Returns how many it reset.
pub(super) fn reset(process: u32) -> usize {
    let list = Command::new("ss").args(["-Htnp"]).output();
    let Ok(list) = list else { return 0 };
    let text = String::from_utf8_lossy(&list.stdout).into_owned();
    let mark = format!("pid={process},");
    let mut count = 0;
    for line in text.lines().filter(|line| line.contains(&mark)) {
        let ends: Vec<&str> = line.split_whitespace().skip(3).take(2).collect();
        let [local, peer] = ends.as_slice() else {
            continue;
        };
        let killed = Command::new("ss").args(["-K", "-Htn", "src", local, "dst", peer]).stderr(Stdio::null()).output();
        // `ss` prints the connections that it closed.
        count += usize::from(killed.is_ok_and(|killed| !killed.stdout.is_empty()));
    }
    count
}
