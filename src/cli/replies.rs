//! Standard input of a host without a screen: the replies of guests that it shall call back.

use std::io::{BufRead, BufReader, Read as _, stdin};

use fairdeal_peers::ticket::MAX_PASTED;
use fairdeal_peers::ticket::reply::{Reply, ReplyError};
use tokio::sync::mpsc;

use super::output::complain;

/// After so many lines without a reply, whatever writes there does not mean this program.
const MAX_REFUSED: u32 = 16;
/// Maximum number of replies that wait.
const WAITING: usize = 4;

/// Reads replies, in a thread of its own that nobody waits for: a read from a terminal cannot be given up.
pub(super) fn read() -> mpsc::Receiver<Reply> {
    let (sender, replies) = mpsc::channel(WAITING);
    let reader = move || {
        let mut pasted = Pasted::default();
        let mut input = BufReader::new(stdin());
        while is_ours() && pasted.refused < MAX_REFUSED {
            let mut line = Vec::new();
            let most = u64::try_from(MAX_PASTED).unwrap_or(u64::MAX);
            match input.by_ref().take(most).read_until(b'\n', &mut line) {
                Ok(1..) => {}
                Ok(0) | Err(_) => return,
            }
            let Some(read) = pasted.line(&String::from_utf8_lossy(&line)) else { continue };
            match read {
                Ok(reply) => {
                    // Nobody listens once the table is closed.
                    let Ok(()) = sender.blocking_send(reply) else { return };
                }
                Err(ReplyError::Broken) => {
                    complain("this reply has a typo or a missing part; paste the rest of it, or copy it again");
                }
                Err(error) => complain(error),
            }
        }
        if pasted.refused >= MAX_REFUSED {
            complain("standard input has no replies; it is no longer read");
        }
    };
    // Without the thread nobody is called back; the table is there all the same.
    if let Err(error) = std::thread::Builder::new().name("replies".to_owned()).spawn(reader) {
        complain(format!("standard input is not read: {error}"));
    }
    replies
}

/// Waits until there is something to read that is meant for this program. A program in the background of a terminal
/// would be stopped if it read what is typed there.
#[cfg(unix)]
fn is_ours() -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::getpgrp;
    use rustix::termios::{isatty, tcgetpgrp};

    const PAUSE: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };
    let input = stdin();
    if !isatty(&input) {
        return true;
    }
    loop {
        let mut ends = [PollFd::new(&input, PollFlags::IN)];
        let is_ready = poll(&mut ends, Some(&PAUSE)).is_ok_and(|ready| ready > 0);
        match tcgetpgrp(&input) {
            Ok(group) if group == getpgrp() => {
                if is_ready {
                    return true;
                }
            }
            Ok(_) => std::thread::sleep(std::time::Duration::from_secs(1)),
            Err(_) => return false,
        }
    }
}

#[cfg(not(unix))]
fn is_ours() -> bool {
    true
}

/// Lines as they are pasted. A chat may have broken a reply into several.
#[derive(Debug, Default)]
struct Pasted {
    /// The beginning of a reply that is not whole yet.
    begun: String,
    refused: u32,
}

impl Pasted {
    /// Takes a line; `None` for an empty one.
    fn line(&mut self, line: &str) -> Option<Result<Reply, ReplyError>> {
        if line.trim().is_empty() {
            return None;
        }
        let both = [self.begun.as_str(), line].concat();
        // After a broken one, the line may be a reply of its own.
        let read = both.parse().or_else(|error| line.parse().map_err(|_| error));
        self.begun.clear();
        match &read {
            Ok(_) => self.refused = 0,
            Err(error) => {
                self.refused += 1;
                if *error == ReplyError::Broken && both.len() <= MAX_PASTED {
                    self.begun = both;
                }
            }
        }
        Some(read)
    }
}

#[cfg(test)]
mod tests {
    use ed25519_dalek::SigningKey;
    use fairdeal_peers::PeerId;

    use super::*;

    fn reply() -> Reply {
        let guest = PeerId::of(&SigningKey::from_bytes(&[1; 32]));
        Reply::new([7; 8], guest, ["/ip4/192.0.2.1/tcp/4".parse().unwrap()]).unwrap()
    }

    #[test]
    fn reply_may_come_in_several_lines() {
        let text = reply().to_string();
        let mut pasted = Pasted::default();
        assert_eq!(pasted.line(" \n"), None);
        assert_eq!(pasted.line("hello\n"), Some(Err(ReplyError::NotAReply)));
        assert_eq!(pasted.line(&format!("it is {text}, thanks\n")), Some(Ok(reply())));
        let (start, rest) = text.split_at(30);
        let (middle, end) = rest.split_at(20);
        assert_eq!(pasted.line(&format!("{start}\n")), Some(Err(ReplyError::Broken)));
        assert_eq!(pasted.line(&format!("{middle}\n")), Some(Err(ReplyError::Broken)));
        assert_eq!(pasted.line(&format!("{end}\n")), Some(Ok(reply())));
        // After a broken one, a whole one counts for itself.
        assert_eq!(pasted.line(&format!("{start}\n")), Some(Err(ReplyError::Broken)));
        assert_eq!(pasted.line(&format!("{text}\n")), Some(Ok(reply())));
        assert_eq!(pasted.refused, 0);
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut pasted = Pasted::default();
        let start = reply().to_string()[..30].to_owned();
        for _ in 0..MAX_REFUSED {
            let _ = pasted.line(&start);
            let _ = pasted.line(&"a".repeat(MAX_PASTED));
            assert!(pasted.begun.len() <= MAX_PASTED);
        }
        assert!(pasted.refused >= MAX_REFUSED);
    }
}
