//! Tables from the command line: play, host, join, and bots.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use fairdeal_protocol::crypto::pake::Password;
use fairdeal_protocol::game::RuleSet;
use tokio::runtime::Runtime;

use super::args::{Common, Host, Join, Options, Play, Resume, SeatArgs, Watch};
use super::{Exit, headless, lan, usage};
use crate::games::{game_info, rule_set};
use crate::net::{Multiaddr, Transport, names_a_peer};
use crate::session::driver::{Attended, Pilot, Role, Setup, start};
use crate::session::journal::{Interrupted, Place, interrupted};
use crate::session::{Handle, house};
use crate::store::{DataDir, IdentityKey, StoreError};
use crate::tui::{self, app::Ending};

/// How long a bot thinks at a table with a person, so that one can follow.
const PACE: Duration = Duration::from_millis(700);
/// The same without one: just long enough to notice what happens meanwhile.
const HEADLESS_PACE: Duration = Duration::from_millis(1);
/// How many bots play against a person who does not say, where the game takes so many.
const USUAL_BOTS: u8 = 2;

fn pace(seat: &SeatArgs, person: bool) -> Duration {
    let default = if person { PACE } else { HEADLESS_PACE };
    seat.pace.map_or(default, Duration::from_millis)
}

/// How long this player's seats wait for those of other programs.
fn patience(seat: &SeatArgs) -> Duration {
    Duration::from_secs(seat.patience)
}

/// Whether a person is at the screen.
fn attended(headless: bool) -> Attended {
    if headless {
        Attended::Nobody
    } else {
        Attended::Person
    }
}

fn parse_options(options: &Options) -> anyhow::Result<BTreeMap<String, String>> {
    options
        .options
        .iter()
        .map(|text| {
            let (key, value) = text
                .split_once('=')
                .ok_or_else(|| usage(format!("--option takes KEY=VALUE, not '{text}'")))?;
            Ok((key.to_owned(), value.to_owned()))
        })
        .collect()
}

/// The name given, or the system's name for the user.
fn name(common: &Common) -> String {
    let named = common.name.clone();
    named
        .or_else(|| std::env::var("USER").ok())
        .or_else(|| std::env::var("USERNAME").ok())
        .filter(|name| !name.trim().is_empty())
        .unwrap_or_else(|| "player".to_owned())
}

/// The date in UTC, as the deal of the day is named by.
fn today() -> String {
    let date = time::OffsetDateTime::now_utc().date();
    let (year, month, day) = date.to_calendar_date();
    format!("{year:04}-{:02}-{day:02}", u8::from(month))
}

pub(super) fn runtime() -> anyhow::Result<Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?)
}

fn pilot(seat: &SeatArgs, person: bool) -> Pilot {
    Pilot {
        level: seat.level,
        pace: pace(seat, person),
    }
}

/// What the host's session is started with.
struct Opening {
    rules: RuleSet,
    bots: u8,
    place: Place,
    lan: bool,
    password: Option<Password>,
}

/// Opens a table, with bots.
fn open(
    common: &Common,
    data: Arc<DataDir>,
    seat: SeatArgs,
    opening: Opening,
    own_pilot: bool,
) -> anyhow::Result<Handle> {
    let setup = Setup {
        identity: data.identity()?,
        name: name(common),
        role: Role::Host(opening.rules),
        patience: house::patience(opening.place.transport, patience(&seat)),
        place: opening.place,
        lan: opening.lan,
        password: opening.password,
        pilot: own_pilot.then(|| pilot(&seat, false)),
        data,
        house: false,
        ready: true,
        attended: attended(own_pilot),
    };
    let bots = vec![pilot(&seat, !own_pilot); usize::from(opening.bots)];
    Ok(house::open(setup, bots)?)
}

/// Shows the table, or prints it.
async fn attend(
    common: &Common,
    json: bool,
    headless_seat: bool,
    handle: Handle,
) -> anyhow::Result<Exit> {
    if headless_seat {
        return headless::run(handle, json).await;
    }
    let options = tui::TuiOptions {
        ascii: common.ascii,
        mono: std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()),
    };
    Ok(match tui::run(handle, options).await? {
        Ending::Over { scores, transcript } => {
            for (name, score) in scores {
                println!("{score:>6}  {name}");
            }
            println!("transcript: {}", transcript.display());
            Exit::Done
        }
        Ending::Left => Exit::Failed,
        Ending::Failed(why) => {
            eprintln!("fairdeal: {why}");
            Exit::Failed
        }
    })
}

pub(super) fn play(common: &Common, play: &Play) -> anyhow::Result<Exit> {
    let info = game_info(&play.game).map_err(usage)?;
    let bots = play.bots.unwrap_or_else(|| {
        USUAL_BOTS.clamp(
            info.least_seats.saturating_sub(1),
            info.most_seats.saturating_sub(1),
        )
    });
    let seats = bots.checked_add(1).ok_or_else(|| usage("too many bots"))?;
    let mut options = parse_options(&play.options)?;
    if let Some(date) = &play.daily {
        options.insert("daily".to_owned(), date.clone().unwrap_or_else(today));
    }
    let rules = rule_set(&play.game, seats, &options).map_err(usage)?;
    let data = Arc::new(DataDir::open(common.data_dir.as_deref())?);
    runtime()?.block_on(async {
        let opening = Opening {
            rules,
            bots,
            place: Place {
                transport: Transport::Memory,
                listen: vec!["/memory/0".parse()?],
                relays: Vec::new(),
            },
            lan: false,
            password: None,
        };
        let handle = open(common, data, play.seat, opening, play.seat.headless)?;
        attend(common, play.seat.json, play.seat.headless, handle).await
    })
}

/// Where to listen, on every interface unless it is said where, and through which relays others come.
fn place(listen: Vec<Multiaddr>, relays: Vec<Multiaddr>) -> anyhow::Result<Place> {
    if let Some(relay) = relays.iter().find(|relay| !names_a_peer(relay)) {
        return Err(usage(format!(
            "--relay takes an address that ends in /p2p/PEER, as `fairdeal relay` prints it, not {relay}"
        )));
    }
    let listen = if listen.is_empty() {
        everywhere(0)?
    } else {
        listen
    };
    Ok(Place {
        transport: Transport::Sockets,
        listen,
        relays,
    })
}

/// All interfaces, by TCP and, where it is built in, by QUIC; port 0 is any that is free.
pub(super) fn everywhere(port: u16) -> anyhow::Result<Vec<Multiaddr>> {
    let mut all = vec![format!("/ip4/0.0.0.0/tcp/{port}").parse()?];
    // Where there is no IPv6 at all, to listen there is an error.
    if std::net::TcpListener::bind("[::]:0").is_ok() {
        all.push(format!("/ip6/::/tcp/{port}").parse()?);
    }
    if cfg!(feature = "quic") {
        all.push(format!("/ip4/0.0.0.0/udp/{port}/quic-v1").parse()?);
    }
    Ok(all)
}

/// The table's password, if there is to be one: from the environment, or asked for on the terminal.
fn password(wanted: bool) -> anyhow::Result<Option<Password>> {
    if !wanted {
        return Ok(None);
    }
    let text = match std::env::var("FAIRDEAL_PASSWORD") {
        Ok(text) => text,
        Err(_) => rpassword::prompt_password("Password of the table: ").map_err(|error| {
            usage(format!(
                "no password can be asked for here ({error}); set FAIRDEAL_PASSWORD"
            ))
        })?,
    };
    Ok(Some(Password::new(text).map_err(usage)?))
}

fn host_table(common: &Common, host: Host, headless_seat: bool) -> anyhow::Result<Exit> {
    let info = game_info(&host.game).map_err(usage)?;
    let seats = host.seats.unwrap_or_else(|| {
        host.bots
            .saturating_add(2)
            .clamp(info.least_seats, info.most_seats)
    });
    if host.bots >= seats {
        return Err(usage(format!(
            "{} bots do not leave you one of {seats} seats",
            host.bots
        )));
    }
    let rules = rule_set(&host.game, seats, &parse_options(&host.options)?).map_err(usage)?;
    let password = password(host.password)?;
    let data = Arc::new(DataDir::open(common.data_dir.as_deref())?);
    runtime()?.block_on(async {
        let opening = Opening {
            rules,
            bots: host.bots,
            place: place(host.listen, host.relay)?,
            lan: !host.no_lan,
            password,
        };
        let handle = open(common, data, host.seat, opening, headless_seat)?;
        attend(common, host.seat.json, headless_seat, handle).await
    })
}

fn join_table(common: &Common, join: Join, headless_seat: bool) -> anyhow::Result<Exit> {
    let target = join.target().map_err(usage)?;
    let place = place(join.listen, join.relay)?;
    let password = password(join.password)?;
    let data = Arc::new(DataDir::open(common.data_dir.as_deref())?);
    runtime()?.block_on(async {
        let target = match target {
            Some(target) => target,
            None => match lan::choose(headless_seat, password.is_some()).await? {
                lan::Choice::Table(target) => target,
                lan::Choice::None(exit) => return Ok(exit),
            },
        };
        let handle = start(Setup {
            identity: data.identity()?,
            name: name(common),
            role: Role::Guest(target),
            place,
            lan: false,
            password,
            pilot: headless_seat.then(|| pilot(&join.seat, false)),
            data,
            patience: patience(&join.seat),
            house: false,
            ready: true,
            attended: attended(headless_seat),
        })?;
        attend(common, join.seat.json, headless_seat, handle).await
    })
}

/// Looks on at a table.
pub(super) fn watch(common: &Common, watch: &Watch) -> anyhow::Result<Exit> {
    let ticket = watch.ticket().map_err(usage)?;
    let password = password(watch.password)?;
    let data = Arc::new(DataDir::open(common.data_dir.as_deref())?);
    runtime()?.block_on(async {
        let handle = start(Setup {
            // Nobody asks who looks on.
            identity: IdentityKey::generate()?,
            name: String::new(),
            role: Role::Watcher(ticket),
            place: Place {
                transport: Transport::Sockets,
                listen: Vec::new(),
                relays: Vec::new(),
            },
            lan: false,
            password,
            pilot: None,
            data,
            // It votes on nobody.
            patience: Duration::MAX,
            house: false,
            ready: true,
            attended: Attended::Nobody,
        })?;
        let headless = watch.headless || watch.json;
        attend(common, watch.json, headless, handle).await
    })
}

/// Goes on with a table that was interrupted, with the bots that played in the same program.
pub(super) fn resume(common: &Common, resume: &Resume) -> anyhow::Result<Exit> {
    let data = Arc::new(DataDir::open(common.data_dir.as_deref())?);
    let mut tables = interrupted(&data, resume.table.as_deref())?;
    if tables.len() > 1 {
        let words = tables.iter().filter_map(|(_, seats)| seats.first());
        let words: Vec<String> = words.map(Interrupted::in_words).collect();
        return Err(usage(format!(
            "several tables wait, say which: {}",
            words.join("; ")
        )));
    }
    let Some((_, seats)) = tables.pop() else {
        let waiting = interrupted(&data, None)?;
        return Err(StoreError::NothingToResume {
            waiting: waiting.into_iter().map(|(id, _)| id).collect(),
        }
        .into());
    };
    let identity = data.identity()?;
    runtime()?.block_on(async {
        let pilot = resume.seat.headless.then(|| pilot(&resume.seat, false));
        let attended = attended(resume.seat.headless);
        let patience = patience(&resume.seat);
        let own = house::resume(seats, &identity, pilot, &data, patience, attended)?;
        attend(common, resume.seat.json, resume.seat.headless, own).await
    })
}

pub(super) fn host(common: &Common, host: Host) -> anyhow::Result<Exit> {
    let headless_seat = host.seat.headless;
    host_table(common, host, headless_seat)
}

pub(super) fn join(common: &Common, join: Join) -> anyhow::Result<Exit> {
    let headless_seat = join.seat.headless;
    join_table(common, join, headless_seat)
}

pub(super) fn bot_host(common: &Common, host: Host) -> anyhow::Result<Exit> {
    host_table(common, host, true)
}

pub(super) fn bot_join(common: &Common, join: Join) -> anyhow::Result<Exit> {
    join_table(common, join, true)
}
