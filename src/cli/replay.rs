//! `fairdeal replay`: a past game, moment by moment.

use std::fmt::Write as _;
use std::path::Path;

use super::{Exit, print};
use crate::replay::{Replay, ReplayError};
use crate::store::read_transcript;

/// Prints a game. Without a screen for it `plain` makes no difference yet.
pub(super) fn replay(file: &Path, _plain: bool) -> anyhow::Result<Exit> {
    let unreadable = |why: &dyn std::fmt::Display| {
        eprintln!("fairdeal: {}: {why}", file.display());
        Ok(Exit::Usage)
    };
    let transcript = match read_transcript(file) {
        Ok(transcript) => transcript,
        Err(error) => return unreadable(&error),
    };
    let replay = match Replay::open(transcript) {
        Ok(replay) => replay,
        Err(error @ (ReplayError::Rules(_) | ReplayError::BrokenOff)) => return unreadable(&error),
    };
    print(in_words(&replay).as_bytes())?;
    Ok(if replay.report().is_fair() {
        Exit::Done
    } else {
        Exit::Failed
    })
}

/// Every line of every moment, with its deal and step.
fn in_words(replay: &Replay) -> String {
    let mut text = format!("{:>4} {:>6}\n", "deal", "step");
    for number in 0..replay.len() {
        let moment = replay.moment(number);
        let step = moment
            .step
            .map_or_else(String::new, |step| step.to_string());
        let mut place = format!("{:>4} {step:>6}", u64::from(moment.deal) + 1);
        for line in moment.lines {
            let _ = writeln!(text, "{place:>11}  {line}");
            place.clear();
        }
    }
    if replay.is_cut() {
        text.push_str("The game is longer than can be shown; it was checked to its end.\n");
    }
    text
}
