//! `fairdeal letter`: playing by letters, which are files.

use std::io;
use std::path::Path;
use std::sync::Arc;

use fairdeal_games::listed;
use fairdeal_protocol::seat::Seat;

use super::args::{Common, LetterCommand};
use super::exit::{Exit, usage};
use super::output::{complain, say};
use super::table::runtime;
use crate::drive::letters::{Desk, PostError, own_seats};
use crate::keeper::client::KeeperClient;
use crate::letter_files::{ReadError, Tables, letter_in};
use crate::store::{DataDir, DataView, StoreError, write_out};

pub(super) fn run(common: &Common, command: &LetterCommand) -> anyhow::Result<Exit> {
    let tables = tables_of(common)?;
    match command {
        LetterCommand::Out { table, to, output, force } => {
            write(&tables, table.as_deref(), to.as_deref(), (output, *force))
        }
        LetterCommand::In { file } => read(&tables, file),
    }
}

/// The tables of a data directory, and who plays there.
pub(super) fn tables_of(common: &Common) -> anyhow::Result<Tables> {
    match DataDir::open(common.data_dir.as_deref()) {
        Ok(data) => Ok(Tables::Own(Arc::new(data), None)),
        Err(StoreError::InUse { path }) => {
            let view = DataView::of(common.data_dir.as_deref())?;
            match runtime()?.block_on(KeeperClient::find(&view))? {
                Some(keeper) => Ok(Tables::Kept(view, keeper)),
                None => Err(usage(format!(
                    "another fairdeal program uses {}: close it first, or write and read letters in it",
                    path.display()
                ))),
            }
        }
        Err(why) => Err(why.into()),
    }
}

/// An error that the player can mend, with another file or at another moment, as one of usage.
fn mended(why: PostError) -> anyhow::Error {
    match why {
        PostError::LocalBots | PostError::Refused(_) => usage(why),
        why => why.into(),
    }
}

fn write(
    tables: &Tables,
    table: Option<&str>,
    to: Option<&str>,
    (output, force): (&Path, bool),
) -> anyhow::Result<Exit> {
    let wanted = table.unwrap_or_default().to_ascii_lowercase();
    let mut seats = own_seats(tables.view())?;
    seats.retain(|(id, seat)| id.starts_with(&wanted) && seat.has_others());
    // The others may lack the last signatures of a game that is over here.
    if table.is_none() && seats.iter().any(|(_, seat)| !seat.is_ended()) {
        seats.retain(|(_, seat)| !seat.is_ended());
    }
    if seats.len() > 1 {
        let words: Vec<String> = seats.iter().map(|(_, seat)| seat.in_words()).collect();
        return Err(usage(format!("you have several saved games; choose one: {}", words.join("; "))));
    }
    let (table, own) = seats.pop().ok_or(StoreError::NothingToResume)?;
    let runtime = runtime()?;
    let mut desk = tables.desk(&table, &own, None, runtime.handle().clone()).map_err(mended)?;
    let written = reader(&desk, to).and_then(|seat| Ok((seat, desk.write(seat).map_err(mended)?)));
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

/// The reader that `to` names, or the only other seat.
fn reader(desk: &Desk, to: Option<&str>) -> anyhow::Result<Seat> {
    let name = |seat: Seat| desk.names().get(seat.index()).cloned().unwrap_or_default();
    let others: Vec<Seat> = desk.readers().iter().map(|(seat, _)| *seat).collect();
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

fn read(tables: &Tables, file: &Path) -> anyhow::Result<Exit> {
    let runtime = runtime()?;
    let is_input = file == Path::new("-");
    let reading = if is_input {
        let sealed = letter_in(io::stdin().lock()).map_err(|why| usage(format!("cannot read the input: {why}")))?;
        tables.read_sealed(&sealed, file, runtime.handle().clone())
    } else {
        tables.read(file, runtime.handle().clone())
    };
    let reading = reading.map_err(|why| match why {
        ReadError::File { .. } | ReadError::Form(_) | ReadError::Nobody(_) => usage(why),
        ReadError::Post(why) => mended(why),
        why => why.into(),
    })?;
    reading.refused().for_each(complain);
    let lines = reading.in_words(|table| format!("It is your turn: `fairdeal resume {table}`, then write back."));
    lines.into_iter().try_for_each(say)?;
    Ok(Exit::Done)
}
