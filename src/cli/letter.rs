//! `fairdeal letter`: playing by letters, which are files.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;

use fairdeal_games::listed;
use fairdeal_link::letter::{LetterError, MAX_LETTER};
use fairdeal_protocol::seat::Seat;
use fairdeal_session::events::SessionEvent;
use fairdeal_session::header::SavedSeat;
use fairdeal_session::letter::OpenError;

use super::args::{Common, LetterCommand};
use super::exit::{Exit, usage};
use super::output::{complain, say};
use super::table::runtime;
use crate::drive::letters::{Desk, HasRead, PostError, WhoseTurn, news, open_letter, own_seats, whose_turn};
use crate::drive::saved::short;
use crate::keeper::client::KeeperClient;
use crate::store::{DataDir, DataView, StoreError, write_out};

pub(super) fn run(common: &Common, command: &LetterCommand) -> anyhow::Result<Exit> {
    let home = Home::of(common)?;
    match command {
        LetterCommand::Out { table, to, output, force } => {
            write(&home, table.as_deref(), to.as_deref(), (output, *force))
        }
        LetterCommand::In { file } => read(&home, file),
    }
}

/// The tables of a data directory, and who holds them.
pub(super) enum Home {
    Own(Arc<DataDir>),
    /// A keeper plays there.
    Kept(DataView, KeeperClient),
}

impl Home {
    pub(super) fn of(common: &Common) -> anyhow::Result<Self> {
        match DataDir::open(common.data_dir.as_deref()) {
            Ok(data) => Ok(Self::Own(Arc::new(data))),
            Err(StoreError::InUse { path }) => {
                let view = DataView::of(common.data_dir.as_deref())?;
                match runtime()?.block_on(KeeperClient::find(&view))? {
                    Some(keeper) => Ok(Self::Kept(view, keeper)),
                    None => Err(usage(format!(
                        "another fairdeal program uses {}: close it first, or write and read letters in it",
                        path.display()
                    ))),
                }
            }
            Err(why) => Err(why.into()),
        }
    }

    fn view(&self) -> &DataView {
        match self {
            Self::Own(data) => data,
            Self::Kept(view, _) => view,
        }
    }

    /// The desk of a seat, to read this letter or none.
    fn desk(&self, table: &str, own: &SavedSeat, letter: Option<&[u8]>) -> anyhow::Result<Desk> {
        match self {
            Self::Own(data) => {
                let letters: Vec<Vec<u8>> = letter.map(<[u8]>::to_vec).into_iter().collect();
                Desk::at(data, table, &letters).map_err(|why| match why {
                    PostError::LocalBots => usage(why),
                    why => why.into(),
                })
            }
            Self::Kept(_, keeper) => {
                let (runtime, keeper, table) = (runtime()?, keeper.clone(), table.to_owned());
                Ok(Desk::elsewhere(own, move |command| {
                    let asked = runtime.block_on(keeper.letter(&table, command));
                    asked.map_err(|why| PostError::Ended(why.to_string()))
                }))
            }
        }
    }
}

fn write(home: &Home, table: Option<&str>, to: Option<&str>, (output, force): (&Path, bool)) -> anyhow::Result<Exit> {
    let wanted = table.unwrap_or_default().to_ascii_lowercase();
    let mut tables = own_seats(home.view())?;
    tables.retain(|(id, seat)| id.starts_with(&wanted) && seat.has_others());
    // The others may lack the last signatures of a game that is over here.
    if table.is_none() && tables.iter().any(|(_, seat)| !seat.is_ended()) {
        tables.retain(|(_, seat)| !seat.is_ended());
    }
    if tables.len() > 1 {
        let words: Vec<String> = tables.iter().map(|(_, seat)| seat.in_words()).collect();
        return Err(usage(format!("you have several saved games; choose one: {}", words.join("; "))));
    }
    let (table, own) = tables.pop().ok_or(StoreError::NothingToResume)?;
    let mut desk = home.desk(&table, &own, None)?;
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

fn read(home: &Home, file: &Path) -> anyhow::Result<Exit> {
    let sealed = bytes_of(file).map_err(|why| usage(format!("cannot read {}: {why}", file.display())))?;
    let identity = home.view().known_identity()?.ok_or(StoreError::NothingToResume)?;
    let mut why = None;
    for (table, own) in own_seats(home.view())? {
        match open_letter(&own, &identity, &sealed) {
            Ok(_) => {
                let mut desk = home.desk(&table, &own, Some(&sealed))?;
                let read = desk.read(&sealed);
                let names = desk.names().to_vec();
                desk.close();
                let read = read?;
                for why in &read.refused {
                    complain(format!("a part of the letter was not taken: {why}"));
                }
                return tell(&table, &names, &read);
            }
            Err(OpenError::Letter(LetterError::Form)) => {
                return Err(usage(format!("{}: {}", file.display(), LetterError::Form)));
            }
            Err(OpenError::Letter(_)) => {}
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

/// Shows what is new, and whose turn it is.
fn tell(table: &str, names: &[String], read: &HasRead) -> anyhow::Result<Exit> {
    say(format!("A letter from {}:", names.get(read.from.index()).map_or("", String::as_str)))?;
    for line in news(names, &read.told) {
        say(format!("  {line}"))?;
    }
    let told: Vec<&SessionEvent> = read.told.iter().collect();
    match whose_turn(names, &told, read.asks) {
        Some(WhoseTurn::Asks) => say(format!("{} Write to everybody.", WhoseTurn::Asks.in_words()))?,
        Some(WhoseTurn::Over) => say("The game is over. Write back: the others need your last signature.")?,
        Some(WhoseTurn::Yours) => {
            say(format!("It is your turn: `fairdeal resume {}`, then write back.", short(table)))?;
        }
        Some(other) => {
            let what = if read.has_signed {
                "Write back: your program has answered for you."
            } else {
                "Nothing new to write."
            };
            say(format!("{what} {}", other.in_words()))?;
        }
        None => {}
    }
    Ok(Exit::Done)
}
