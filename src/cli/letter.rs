//! `fairdeal letter`: playing by letters, which are files.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;

use fairdeal_games::listed;
use fairdeal_link::letter::{LetterError, MAX_LETTER};
use fairdeal_protocol::seat::Seat;
use fairdeal_session::events::SessionEvent;
use fairdeal_session::letter::Letter;
use fairdeal_session::view::{PeerState, Snapshot, Standing, ground_in_words};

use super::args::{Common, LetterCommand};
use super::exit::{Exit, usage};
use super::history::SHORT;
use super::output::{complain, say};
use crate::drive::letters::{Desk, PostError, WhoseTurn, last_shown, open_letter, whose_turn};
use crate::drive::saved::{SavedTable, open_seats, saved_tables};
use crate::store::{DataDir, StoreError, write_out};

pub(super) fn run(common: &Common, command: &LetterCommand) -> anyhow::Result<Exit> {
    let data = Arc::new(data_of(common)?);
    match command {
        LetterCommand::Out { table, to, output, force } => {
            write(&data, table.as_deref(), to.as_deref(), (output, *force))
        }
        LetterCommand::In { file } => read(&data, file),
    }
}

/// The data directory of a player without another program there.
pub(super) fn data_of(common: &Common) -> anyhow::Result<DataDir> {
    DataDir::open(common.data_dir.as_deref()).map_err(|why| match why {
        StoreError::InUse { path } => usage(format!(
            "another fairdeal program uses {}: close it first (`fairdeal keep --stop` ends a keeper)",
            path.display()
        )),
        why => why.into(),
    })
}

fn write(
    data: &Arc<DataDir>,
    table: Option<&str>,
    to: Option<&str>,
    (output, force): (&Path, bool),
) -> anyhow::Result<Exit> {
    // The others may lack the last signatures of a game that is over here.
    let mut tables = saved_tables(data, Some(table.unwrap_or_default()))?;
    if table.is_none() && tables.iter().any(goes_on) {
        tables.retain(goes_on);
    }
    if tables.len() > 1 {
        let words = tables.iter().filter_map(|(_, seats)| seats.first()).map(|(_, seat)| seat.in_words());
        let words: Vec<String> = words.collect();
        return Err(usage(format!("you have several saved games; choose one: {}", words.join("; "))));
    }
    let table = tables.pop().ok_or(StoreError::NothingToResume)?;
    let mut desk = at(data, table, None)?;
    let written = reader(&desk, to).and_then(|seat| Ok((seat, desk.write(seat)?)));
    let names = desk.names().to_vec();
    desk.close();
    let (seat, letter) = written.map(|(seat, written)| (seat, written.sealed))?;
    write_out(output, &letter, Path::new(""), force).map_err(usage)?;
    let name = names.get(seat.index()).map_or("", String::as_str);
    say(format!(
        "A letter for {name}: {}, {} KiB. {name} reads it with `fairdeal letter in`; nobody else can.",
        output.display(),
        letter.len() / 1024
    ))?;
    Ok(Exit::Done)
}

/// Whether the game of a saved table is not over.
fn goes_on((_, seats): &SavedTable) -> bool {
    seats.iter().any(|(_, seat)| !seat.is_local_bot() && !seat.is_ended())
}

/// The reader that `to` names, or the only other seat.
fn reader(desk: &Desk, to: Option<&str>) -> anyhow::Result<Seat> {
    let name = |seat: Seat| desk.names().get(seat.index()).cloned().unwrap_or_default();
    let others: Vec<Seat> = desk.others().collect();
    let choices = || {
        listed(&others.iter().map(|seat| format!("{} ({name})", seat.number(), name = name(*seat))).collect::<Vec<_>>())
    };
    match (to, others.as_slice()) {
        (None, [only]) => Ok(*only),
        (None, _) => Err(usage(format!("several others play; choose the reader with --to: {}", choices()))),
        (Some(to), _) => {
            let is_it = |seat: &&Seat| seat.number().to_string() == to || name(**seat).eq_ignore_ascii_case(to);
            let mut found = others.iter().filter(is_it);
            match (found.next(), found.next()) {
                (Some(seat), None) => Ok(*seat),
                _ => Err(usage(format!("'{to}' names no other seat, or several; choose one of {}", choices()))),
            }
        }
    }
}

fn read(data: &Arc<DataDir>, file: &Path) -> anyhow::Result<Exit> {
    let sealed = bytes_of(file).map_err(|why| usage(format!("cannot read {}: {why}", file.display())))?;
    let identity = data.identity()?;
    let mut why = None;
    for table in saved_tables(data, Some(""))? {
        let Some((_, own)) = table.1.iter().find(|(_, seat)| !seat.is_local_bot()) else { continue };
        match open_letter(own, &identity, &sealed) {
            Ok((author, letter)) => {
                let id = table.0.clone();
                let mut desk = at(data, table, Some(&letter))?;
                let before = desk.told();
                let taken = desk.read(author, &letter);
                let told = desk.told();
                let names = desk.names().to_vec();
                let (asks, refused) = (desk.is_asking(), desk.refused().map(str::to_owned));
                desk.close();
                taken?;
                if let Some(why) = refused {
                    complain(format!("a part of the letter was not taken: {why}"));
                }
                return tell(&id, &names, author, (&before, &told), asks);
            }
            Err(PostError::Letter(LetterError::Form)) => {
                return Err(usage(format!("{}: {}", file.display(), LetterError::Form)));
            }
            Err(PostError::Letter(_)) => {}
            Err(other) => why = Some(other),
        }
    }
    Err(match why {
        Some(why) => why.into(),
        None => usage(format!(
            "{}: the letter fits none of your saved games: it is for another player, the game is over here, or the file \
             was changed",
            file.display()
        )),
    })
}

/// A file of at most a letter's length.
fn bytes_of(file: &Path) -> io::Result<Vec<u8>> {
    let most = u64::try_from(MAX_LETTER).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    if file == Path::new("-") {
        io::stdin().lock().take(most).read_to_end(&mut bytes)?;
    } else {
        File::open(file)?.take(most).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// Opens the player's seat at a saved table, to read this letter or none.
fn at(data: &Arc<DataDir>, table: SavedTable, letter: Option<&Letter>) -> anyhow::Result<Desk> {
    if table.1.iter().any(|(_, seat)| seat.is_local_bot()) {
        return Err(usage("your program's bots play at this table; letters work only without them"));
    }
    let identity = data.identity()?;
    let interrupted = open_seats(data, table)?.into_iter().next().ok_or(StoreError::NothingToResume)?;
    Ok(Desk::open(data, interrupted, &identity, letter)?)
}

/// How many entries the player has signed.
fn own_entries(now: &Snapshot) -> u64 {
    match (&now.standing, now.me) {
        (Standing::Sealed(progress), Some(me)) => progress.step + u64::from(progress.done.contains(me)),
        _ => 0,
    }
}

/// Shows what is new, and whose turn it is.
fn tell(
    table: &str,
    names: &[String],
    author: Seat,
    (before, told): (&[SessionEvent], &[SessionEvent]),
    asks: bool,
) -> anyhow::Result<Exit> {
    say(format!("A letter from {}:", names.get(author.index()).map_or("", String::as_str)))?;
    for line in news(names, told) {
        say(format!("  {line}"))?;
    }
    let short = table.get(..SHORT).unwrap_or(table);
    let all: Vec<&SessionEvent> = before.iter().chain(told).collect();
    let has_signed = own_entries_in(all.iter().copied()) > own_entries_in(before);
    match whose_turn(names, &all, asks) {
        Some(WhoseTurn::Asks) => say(format!("{} Write to everybody.", WhoseTurn::Asks.in_words()))?,
        Some(WhoseTurn::Over) => say("The game is over. Write back: the others need your last signature.")?,
        Some(WhoseTurn::Yours) => say(format!("It is your turn: `fairdeal resume {short}`, then write back."))?,
        Some(other) => {
            let what =
                if has_signed { "Write back: your program has answered for you." } else { "Nothing new to write." };
            say(format!("{what} {}", other.in_words()))?;
        }
        None => {}
    }
    Ok(Exit::Done)
}

/// The news of a letter, a line each.
pub(super) fn news(names: &[String], told: &[SessionEvent]) -> Vec<String> {
    let name = |seat: Seat| names.get(seat.index()).cloned().unwrap_or_default();
    let lines = told.iter().filter_map(|event| match event {
        SessionEvent::Line(line) | SessionEvent::RemovalProposed { line, .. } | SessionEvent::Extended { line, .. } => {
            Some(line.clone())
        }
        SessionEvent::Fault { what, .. } => Some(format!("A fault is proven: {what}")),
        SessionEvent::Claimed { by, absent, ground, .. } => {
            let all = |seats: &[Seat]| listed(&seats.iter().map(|seat| name(*seat)).collect::<Vec<_>>());
            Some(format!("{} closed the table: {} {}.", all(by), all(absent), ground_in_words(*ground)))
        }
        SessionEvent::Peer { seat, state: state @ (PeerState::Left | PeerState::Absent | PeerState::Removed) } => {
            Some(state.in_words(&name(*seat)))
        }
        SessionEvent::Over { winners, transcript, .. } => {
            let file = transcript.as_ref().map_or_else(String::new, |path| format!(" Transcript: {}", path.display()));
            let winners: Vec<String> = winners.iter().map(|seat| name(*seat)).collect();
            Some(format!("The game is over. Winners: {}.{file}", listed(&winners)))
        }
        _ => None,
    });
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() { vec!["nothing new".to_owned()] } else { lines }
}

fn own_entries_in<'a>(told: impl IntoIterator<Item = &'a SessionEvent>) -> u64 {
    last_shown(told).map_or(0, own_entries)
}
