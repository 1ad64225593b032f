//! `fairdeal letter`: playing by letters, which are files.

use std::io;
use std::path::Path;
use std::sync::Arc;

use fairdeal_games::{game_info, listed, rule_set};
use fairdeal_protocol::seat::Seat;
use fairdeal_session::lobby::by_letter::{ByLetter, ByLetterError, Stands};
use fairdeal_session::terms::wait_for_letters;

use super::args::{Common, LetterCommand, Options};
use super::exit::{Exit, usage};
use super::output::{complain, say};
use super::table::{name, parse_options, runtime};
use crate::drive::letters::{PostError, own_seats};
use crate::drive::lobbies::{self, LobbyFault, Order, id_of};
use crate::drive::saved::short;
use crate::keeper::client::{KeeperClient, KeeperError};
use crate::letter_files::{LobbyState, ReadError, Tables, letter_in};
use crate::store::{DataDir, DataView, StoreError, write_out};

pub(super) fn run(common: &Common, command: &LetterCommand) -> anyhow::Result<Exit> {
    let tables = tables_of(common)?;
    match command {
        LetterCommand::Out { table, to, output, force } => {
            write(&tables, table.as_deref(), to.as_deref(), (output, *force))
        }
        LetterCommand::In { file } => read(&tables, file, &name(common, tables.view())),
        LetterCommand::Invite { game, seats, options, output, force } => {
            let order = by_letter(game, *seats, options, name(common, tables.view()))?;
            invite(&tables, order, (output, *force))
        }
        LetterCommand::List => list(&tables),
        LetterCommand::Dismiss { table, seat } => dismiss(&tables, table, seat.as_deref()),
        LetterCommand::Withdraw { table } => withdraw(&tables, table),
    }
}

/// A table that begins by letter. Nobody has to hurry there unless the options say so.
fn by_letter(game: &str, seats: Option<u8>, options: &Options, name: String) -> anyhow::Result<Order> {
    let info = game_info(game).map_err(usage)?;
    let seats = seats.unwrap_or_else(|| 2.clamp(info.least_seats, info.most_seats));
    if info.most_seats < 2 {
        return Err(usage(ByLetterError::Alone));
    }
    let mut options = parse_options(options)?;
    wait_for_letters(&mut options);
    rule_set(game, seats, &options).map_err(usage)?;
    Ok(Order::Open { game: game.to_owned(), seats, options, name })
}

fn invite(tables: &Tables, order: Order, (output, force): (&Path, bool)) -> anyhow::Result<Exit> {
    if output.is_file() && !force {
        return Err(usage(StoreError::Exists { path: output.to_owned() }));
    }
    let runtime = runtime()?;
    let lobby = tables.lobby(order, runtime.handle()).map_err(mended)?.ok_or(ByLetterError::Invitation)?;
    let written = invitation(tables, &lobby, (output, force));
    if written.is_err() {
        // Nobody could ever sit down there.
        tables.lobby(Order::Withdraw(lobby.number()), runtime.handle())?;
    }
    written
}

/// Writes the invitation to a lobby.
fn invitation(tables: &Tables, lobby: &ByLetter, (output, force): (&Path, bool)) -> anyhow::Result<Exit> {
    let invitation = lobby.invitation().ok_or(ByLetterError::Invitation)?;
    write_out(output, &invitation.to_bytes(), Path::new(""), force).map_err(usage)?;
    let state = LobbyState::of(lobby, tables.view())?;
    say(format!("An invitation: {}", output.display()))?;
    say(format!("{}. {}", state.seats_in_words(), state.terms_in_words()))?;
    say(state.next_in_words())?;
    Ok(Exit::Done)
}

fn list(tables: &Tables) -> anyhow::Result<Exit> {
    let lobbies = lobbies::open_lobbies(tables.view())?;
    if lobbies.is_empty() {
        say("No table waits for letters to begin.")?;
    }
    for lobby in lobbies {
        let state = LobbyState::of(&lobby, tables.view())?;
        say(format!("{}: {}. {}", short(&id_of(&lobby)), state.seats_in_words(), state.next_in_words()))?;
    }
    Ok(Exit::Done)
}

/// The lobby whose number begins like this.
fn lobby_of(tables: &Tables, table: &str) -> anyhow::Result<ByLetter> {
    let wanted = table.to_ascii_lowercase();
    let mut lobbies = lobbies::open_lobbies(tables.view())?;
    lobbies.retain(|lobby| id_of(lobby).starts_with(&wanted));
    match (lobbies.pop(), lobbies.is_empty()) {
        (Some(lobby), true) => Ok(lobby),
        _ => Err(usage(format!(
            "'{table}' names no table that waits for letters, or several; see `fairdeal letter list`"
        ))),
    }
}

fn dismiss(tables: &Tables, table: &str, seat: Option<&str>) -> anyhow::Result<Exit> {
    let lobby = lobby_of(tables, table)?;
    if !lobby.is_host() {
        return Err(usage("you are a guest of this table; `fairdeal letter withdraw` gives your seat up"));
    }
    let (seat, name) = reader(&lobby.readers().map_err(LobbyFault::from)?, seat, "--seat")?;
    let order = Order::Dismiss { number: lobby.number(), seat };
    let lobby = tables.lobby(order, runtime()?.handle()).map_err(mended)?.ok_or(ByLetterError::NoReader)?;
    let state = LobbyState::of(&lobby, tables.view())?;
    say(format!("{name} no longer has a seat. {}. {}", state.seats_in_words(), state.next_in_words()))?;
    Ok(Exit::Done)
}

fn withdraw(tables: &Tables, table: &str) -> anyhow::Result<Exit> {
    let lobby = lobby_of(tables, table)?;
    tables.lobby(Order::Withdraw(lobby.number()), runtime()?.handle()).map_err(mended)?;
    let host = lobby.readers().map_err(LobbyFault::from)?.into_iter().next().filter(|_| !lobby.is_host());
    let who = host.map_or_else(|| "the friends you invited".to_owned(), |(_, host)| format!("{host}, who invited you"));
    say(format!("The table is given up here. Tell {who}."))?;
    Ok(Exit::Done)
}

/// An error that the player can mend, with another file or at another moment, as one of usage.
fn mended(why: ReadError) -> anyhow::Error {
    match why {
        ReadError::File { .. } | ReadError::Form(_) | ReadError::Nobody(_) => usage(why),
        ReadError::Post(PostError::LocalBots | PostError::Refused(_)) => usage(why),
        ReadError::Lobby(LobbyFault::Letter(_) | LobbyFault::Blocked { .. } | LobbyFault::OtherInvitation(_))
        | ReadError::Keeper(KeeperError::Refused(_)) => usage(why),
        why => why.into(),
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

fn write(
    tables: &Tables,
    table: Option<&str>,
    to: Option<&str>,
    (output, force): (&Path, bool),
) -> anyhow::Result<Exit> {
    let wanted = table.unwrap_or_default().to_ascii_lowercase();
    let mut seats = own_seats(tables.view())?;
    seats.retain(|(id, seat)| id.starts_with(&wanted) && seat.has_others());
    let mut lobbies = lobbies::open_lobbies(tables.view())?;
    lobbies.retain(|lobby| id_of(lobby).starts_with(&wanted));
    // The others may lack the last signatures of a game that is over here.
    if table.is_none() && (!lobbies.is_empty() || seats.iter().any(|(_, seat)| !seat.is_ended())) {
        seats.retain(|(_, seat)| !seat.is_ended());
    }
    if seats.len() + lobbies.len() > 1 {
        let words = seats.iter().map(|(_, seat)| Ok(seat.in_words()));
        let waiting = |lobby: &ByLetter| {
            Ok(format!("{} ({})", short(&id_of(lobby)), LobbyState::of(lobby, tables.view())?.seats_in_words()))
        };
        let words = words.chain(lobbies.iter().map(waiting)).collect::<Result<Vec<_>, LobbyFault>>()?;
        return Err(usage(format!("you have several saved games; choose one: {}", words.join("; "))));
    }
    if let Some(lobby) = lobbies.pop() {
        let readers = lobby.readers().map_err(LobbyFault::from)?;
        if readers.is_empty() && to.is_none() {
            return invitation(tables, &lobby, (output, force));
        }
        let (seat, name) = reader(&readers, to, "--to").map_err(|why| match readers.as_slice() {
            [(_, host)] if !lobby.is_host() => {
                usage(format!("until the game begins, only its host reads your letters: write to {host}"))
            }
            _ => why,
        })?;
        let begins = lobby.stands().map_err(LobbyFault::from)? == Stands::Signed;
        let letter = tables.write(&id_of(&lobby), seat, runtime()?.handle()).map_err(mended)?;
        if begins {
            say("All have signed: the game begins.")?;
        }
        return wrote(&name, &letter, (output, force));
    }
    let (table, own) = seats.pop().ok_or(StoreError::NothingToResume)?;
    let runtime = runtime()?;
    let post = |why: PostError| mended(why.into());
    let mut desk = tables.desk(&table, &own, None, runtime.handle()).map_err(post)?;
    let name = |seat: Seat| desk.names().get(seat.index()).cloned().unwrap_or_default();
    let readers: Vec<(Seat, String)> = desk.readers().iter().map(|(seat, _)| (*seat, name(*seat))).collect();
    let written = reader(&readers, to, "--to").and_then(|to| Ok((to.clone(), desk.write(to.0).map_err(post)?)));
    desk.close();
    let ((seat, name), written) = written?;
    let letter = lobbies::enclosed(tables.view(), &table, seat, written.sealed)?;
    wrote(&name, &letter, (output, force))
}

/// Saves a letter, and says so.
fn wrote(name: &str, letter: &[u8], (output, force): (&Path, bool)) -> anyhow::Result<Exit> {
    write_out(output, letter, Path::new(""), force).map_err(usage)?;
    say(format!(
        "A letter for {name}: {}, {} KiB. {name} reads it with `fairdeal letter in`; nobody else can.",
        output.display(),
        letter.len() / 1024
    ))?;
    Ok(Exit::Done)
}

/// The seat that `to` names, given by this option, or the only one.
fn reader(others: &[(Seat, String)], to: Option<&str>, option: &str) -> anyhow::Result<(Seat, String)> {
    let choices =
        || listed(&others.iter().map(|(seat, name)| format!("{} ({name})", seat.number())).collect::<Vec<_>>());
    match (to, others) {
        (None, [only]) => Ok(only.clone()),
        (_, []) => Err(usage("nobody else has a seat there yet")),
        (None, _) => Err(usage(format!("several others play; choose one with {option}: {}", choices()))),
        (Some(to), _) => {
            let is_it =
                |(seat, name): &&(Seat, String)| seat.number().to_string() == to || name.eq_ignore_ascii_case(to);
            let mut found = others.iter().filter(is_it);
            match (found.next(), found.next()) {
                (Some(reader), None) => Ok(reader.clone()),
                _ => Err(usage(format!("'{to}' names no other seat, or several; choose one of {}", choices()))),
            }
        }
    }
}

fn read(tables: &Tables, file: &Path, me: &str) -> anyhow::Result<Exit> {
    let runtime = runtime()?;
    let is_input = file == Path::new("-");
    let reading = if is_input {
        let sealed = letter_in(io::stdin().lock()).map_err(|why| usage(format!("cannot read the input: {why}")))?;
        tables.read_bytes(&sealed, file, me, runtime.handle())
    } else {
        tables.read(file, me, runtime.handle())
    };
    let reading = reading.map_err(mended)?;
    reading.refused().for_each(complain);
    let lines = reading.in_words(|table| format!("It is your turn: `fairdeal resume {table}`, then write back."));
    lines.into_iter().try_for_each(say)?;
    Ok(Exit::Done)
}
