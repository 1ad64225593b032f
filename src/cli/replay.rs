//! `fairdeal replay`: shows a past game step by step, prints it, draws one step, records all, or puts it into
//! the page for browsers.

use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::Path;

use fairdeal_protocol::seat::Seat;
use fairdeal_session::replay::{Eyes, Replay, ReplayError};
use fairdeal_ui::app::picture::Picture;
use fairdeal_ui::appearance::ThemeName;

use super::args::{Common, PictureArgs};
use super::cast::cast;
use super::exit::{Exit, usage};
use super::output::{complain, print};
use super::table;
use crate::hands::hands;
use crate::replay_page::with_game;
use crate::store::{read_transcript, transcript_bytes, write_out};
use crate::tui::environment::check_screen;

/// Shows a game on the screen. Prints it if asked to, or if there is no screen.
pub(super) fn replay(common: &Common, file: &Path, plain: bool, picture: &PictureArgs) -> anyhow::Result<Exit> {
    let draws = picture.svg.is_some() || picture.cast.is_some() || picture.page.is_some();
    if !plain && !draws && check_screen().is_ok() {
        // An unreadable file is reported without a screen.
        if read_transcript(file).is_ok() {
            return table::show_replay(common, file);
        }
    }
    let unreadable = |why: &dyn std::fmt::Display| {
        complain(format!("{}: {why}", file.display()));
        Ok(Exit::Usage)
    };
    let transcript = match read_transcript(file) {
        Ok(transcript) => transcript,
        Err(error) => return unreadable(&error),
    };
    let replay = match Replay::open_with(transcript, hands(), &mut |_| ControlFlow::Continue(())) {
        Ok(replay) => replay,
        Err(error @ (ReplayError::Rules(_) | ReplayError::BrokenOff)) => return unreadable(&error),
    };
    let steps = replay.last() + 1;
    let seat = match &picture.seat {
        Some(said) => Some(seat_of(said, replay.names())?),
        None => None,
    };
    if let Some(step) = picture.step.filter(|step| !(1..=steps).contains(step)) {
        return Err(usage(format!("this game has steps 1 to {steps}, not {step}")));
    }
    let eyes = seat.map_or(Eyes::Everybody, Eyes::Seat);
    if let Some(out) = &picture.page {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let page = with_game(&transcript_bytes(file)?, &name).map_err(usage)?;
        write_out(out, page.as_bytes(), file, picture.force).map_err(usage)?;
    } else if let Some(out) = &picture.cast {
        let title = format!("fairdeal: {}", replay.terms().game_name());
        let recorded = cast(&replay, eyes, picture.size, &title)?;
        write_out(out, recorded.as_bytes(), file, picture.force).map_err(usage)?;
    } else if let Some(out) = &picture.svg {
        let step = picture.step.map_or(replay.last(), |step| step.saturating_sub(1));
        let mut drawn = Picture::new(&replay, step, eyes, picture.size, ThemeName::Dark);
        write_out(out, drawn.to_svg().as_bytes(), file, picture.force).map_err(usage)?;
    } else {
        print(in_words(&replay).as_bytes())?;
    }
    Ok(if replay.report().is_fair() { Exit::Done } else { Exit::Failed })
}

/// The seat of this number or name.
fn seat_of(said: &str, names: &[String]) -> anyhow::Result<Seat> {
    let by_name = names.iter().position(|name| name.eq_ignore_ascii_case(said));
    let by_number = || said.parse::<usize>().ok()?.checked_sub(1).filter(|seat| *seat < names.len());
    let seat = by_name.or_else(by_number).and_then(Seat::new);
    let all = names.iter().zip(1..).map(|(name, number)| format!("{number} ({name})")).collect::<Vec<_>>().join(", ");
    seat.ok_or_else(|| usage(format!("this game has no seat '{said}'; its seats are: {all}")))
}

/// Every line of every step, with its deal and its log step.
fn in_words(replay: &Replay) -> String {
    let mut text = format!("{:>4} {:>6}\n", "deal", "step");
    for number in 0..replay.len() {
        let step = replay.step(number);
        let at = step.log_step.map_or_else(String::new, |log_step| log_step.to_string());
        let mut place = format!("{:>4} {at:>6}", u64::from(step.deal) + 1);
        for line in step.lines {
            let _ = writeln!(text, "{place:>11}  {}", line.text);
            place.clear();
        }
    }
    if replay.is_cut() {
        text.push_str("The game is too long to show in full; it was audited to its end.\n");
    }
    text
}
