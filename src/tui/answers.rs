//! Questions to the terminal whose answers only `fairdeal doctor` reads: its name, and what it has done with a sign.

/// A terminal's answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answers {
    /// Its name and version (XTVERSION).
    pub name: Option<String>,
    /// Whether it knows mode 1004, and so tells its focus (DECRQM).
    pub knows_focus: Option<bool>,
    /// The title of its window. Most terminals keep that to themselves.
    pub title: Option<String>,
}

/// The questions, and last one that every terminal answers (DA1).
#[cfg(unix)]
const QUESTIONS: &[u8] = b"\x1b[>q\x1b[?1004$p\x1b[21t\x1b[c";

/// Asks the terminal on standard input and output, and waits for a second at most.
///
/// # Errors
/// The terminal's.
#[cfg(unix)]
pub fn ask() -> std::io::Result<Answers> {
    use std::io::{Read as _, Write as _, stdin, stdout};
    use std::time::{Duration, Instant};

    use ratatui::crossterm::terminal::{disable_raw_mode, enable_raw_mode};
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    /// The longest answer, in bytes.
    const MOST: usize = 1024;
    enable_raw_mode()?;
    let answers = (|| {
        let mut out = stdout().lock();
        out.write_all(QUESTIONS)?;
        out.flush()?;
        let (mut said, mut input) = (Vec::new(), stdin().lock());
        let until = Instant::now() + Duration::from_secs(1);
        while said.len() < MOST && !is_whole(&said) {
            let left = until.saturating_duration_since(Instant::now());
            let timeout = Timespec::try_from(left).unwrap_or(Timespec { tv_sec: 0, tv_nsec: 0 });
            if poll(&mut [PollFd::new(&input, PollFlags::IN)], Some(&timeout))? == 0 {
                break;
            }
            let mut some = [0; 256];
            match input.read(&mut some)? {
                0 => break,
                count => said.extend(some.iter().take(count)),
            }
        }
        Ok(parsed(&String::from_utf8_lossy(&said)))
    })();
    disable_raw_mode()?;
    answers
}

/// Windows passes no answer on.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub fn ask() -> std::io::Result<Answers> {
    Ok(Answers::default())
}

/// Whether the answer to the last question is there: `CSI ? … c`.
#[cfg(unix)]
fn is_whole(said: &[u8]) -> bool {
    let text = String::from_utf8_lossy(said);
    let rest = text.split("\x1b[?").skip(1);
    rest.into_iter().any(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';').starts_with('c'))
}

#[cfg(unix)]
fn parsed(said: &str) -> Answers {
    let between = |start: &str, ends: &[&str]| {
        let rest = said.split_once(start)?.1;
        let end = ends.iter().filter_map(|end| rest.find(end)).min()?;
        let text: String = rest.get(..end)?.chars().filter(|c| !c.is_control()).collect();
        Some(text).filter(|text| !text.is_empty())
    };
    Answers {
        name: between("\x1bP>|", &["\x1b\\"]),
        knows_focus: between("\x1b[?1004;", &["$y"]).map(|state| state != "0"),
        title: between("\x1b]l", &["\x1b\\", "\x07"]),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn answers_are_found_among_each_other() {
        let said = "\x1bP>|XTerm(390)\x1b\\\x1b[?1004;2$y\x1b]lfairdeal\x1b\\\x1b[?64;1;2c";
        let told = Answers {
            name: Some("XTerm(390)".to_owned()),
            knows_focus: Some(true),
            title: Some("fairdeal".to_owned()),
        };
        assert_eq!(parsed(said), told);
        assert!(is_whole(said.as_bytes()) && !is_whole(b"\x1b[?1004;2$y"));
        assert_eq!(parsed("\x1b[?1004;0$y\x1b[?6c").knows_focus, Some(false));
        assert_eq!(parsed("\x1b[?6c"), Answers::default());
    }
}
