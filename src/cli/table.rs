//! Tables from the command line: play, host, join, and bots.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fairdeal_games::{game_info, rule_set};
use fairdeal_net::{Transport, everywhere, first_ip};
use fairdeal_peers::Multiaddr;
use fairdeal_peers::address::{any_port, door_at, is_everywhere, is_loopback, named_peer};
use fairdeal_peers::ticket::JoinTarget;
use fairdeal_protocol::crypto::pake::Password;
use fairdeal_protocol::game::RuleSet;
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::timing::Timing;
use fairdeal_ui::theme::Depth;
use tokio::runtime::Runtime;
use zeroize::Zeroizing;

use super::args::{BotHost, BotJoin, Common, ExecArgs, Host, Join, KeepArgs, Options, Play, Resume, SeatArgs, Watch};
use super::exit::{Exit, usage};
use super::find::{Choice, check_named, check_points, find, list};
use super::headless;
use super::house::house;
use super::output::{complain, remark, say};
use crate::clock::today;
use crate::drive::bot;
use crate::drive::listening::with_doors;
use crate::drive::local_bots::BotOf;
use crate::drive::people::Acquaintances;
use crate::drive::practice;
use crate::drive::saved::{self, SHORT, is_known_to, open_seats, saved_tables};
use crate::drive::start::{Me, Place, Returner, Reunion, Setup, draw_program};
use crate::drive::tables::start;
use crate::drive::tables::{self, PlayedTable};
use crate::drive::wish::{Secret, Whereabouts, Wish};
use crate::exec_bot::{ExecBot, Leash, Notices};
use crate::herald::Herald;
use crate::signals::Signals;
use crate::store::{DataDir, DataView, IdentityKey, StoreError, transcript_bytes};
use crate::tui::environment::{check_screen, few_glyphs, variable};
use crate::tui::{self, Data, Interface, LastMail, Start, TableOutcome};
use fairdeal_session::seat_file::SeatFile;
use fairdeal_session::setup::ListenConfig;
use fairdeal_session::setup::{Attended, Hands, Patience, Pilot, Role, StartError};
use fairdeal_session::terms::wait_for_phones;

/// The bot delay at a table with a person, who must be able to follow.
const BOT_DELAY: Duration = Duration::from_millis(700);
/// The bot delay without a person: events that arrive meanwhile are still handled first.
const HEADLESS_BOT_DELAY: Duration = Duration::from_millis(1);
/// The default number of bots, if the game allows it.
const USUAL_BOTS: u8 = 2;

fn bot_delay(seat: &SeatArgs, person: bool) -> Duration {
    let default = if person { BOT_DELAY } else { HEADLESS_BOT_DELAY };
    seat.bot_delay.map_or(default, Duration::from_millis)
}

/// Whether a person is at the screen.
fn attended(headless: bool) -> Attended {
    if headless { Attended::Nobody } else { Attended::Person }
}

pub(super) fn parse_options(options: &Options) -> anyhow::Result<BTreeMap<String, String>> {
    let mut parsed = BTreeMap::new();
    for text in &options.options {
        let (key, value) =
            text.split_once('=').ok_or_else(|| usage(format!("--option takes KEY=VALUE, not '{text}'")))?;
        if parsed.insert(key.to_owned(), value.to_owned()).is_some() {
            return Err(usage(format!("--option {key} is given twice")));
        }
    }
    Ok(parsed)
}

/// The name from the command line, the settings or the system's user name, in this order.
pub(super) fn name(common: &Common, data: &DataView) -> String {
    // The interface reports invalid settings.
    let settings = || data.settings().0.name;
    common.name.clone().or_else(settings).unwrap_or_else(user)
}

/// The system's user name: as the environment has it, or else the name of the home directory.
fn user() -> String {
    let home = || {
        let dirs = directories::BaseDirs::new()?;
        dirs.home_dir().file_name()?.to_str().map(str::to_owned)
    };
    std::env::var("USER")
        .ok()
        .or_else(|| std::env::var("USERNAME").ok())
        .filter(|name| !name.trim().is_empty())
        .or_else(home)
        .unwrap_or_else(|| "player".to_owned())
}

/// A runtime for a table. Its sessions and its node mostly wait for each other: on one thread they do so without waking
/// another for each message. A screen has the calling thread for itself.
pub(super) fn runtime() -> anyhow::Result<Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?)
}

fn pilot(seat: &SeatArgs, person: bool) -> Pilot {
    Pilot { level: seat.level, delay: bot_delay(seat, person) }
}

/// The pilot of a seat without a person. Behind a program it is the fallback.
fn own_pilot(seat: &SeatArgs, exec: Option<&ExecArgs>) -> Pilot {
    let exec = exec.filter(|exec| exec.exec.is_some());
    Pilot { level: exec.map_or(seat.level, |exec| exec.fallback), ..pilot(seat, false) }
}

/// Starts the program that plays the seat, if one does.
fn exec_bot(exec: Option<&ExecArgs>) -> anyhow::Result<Option<ExecBot>> {
    let Some((exec, command)) = exec.and_then(|exec| Some((exec, exec.exec.as_ref()?))) else {
        return Ok(None);
    };
    let fallback = (bot(exec.fallback), exec.fallback.name());
    let time = Duration::from_millis(exec.move_ms);
    let notices = Notices::new(|line| complain(line));
    Ok(Some(ExecBot::start(command, time, fallback, notices)?))
}

/// The settings of a host's session.
struct Opening {
    rules: RuleSet,
    options: BTreeMap<String, String>,
    bots: u8,
    place: Place,
    password: Option<Password>,
}

impl Opening {
    /// The same for a person, who may have a keeper.
    fn wish(self, common: &Common, data: &Data, seat: &SeatArgs) -> Wish {
        Wish::Host {
            name: name(common, data.view()),
            game: self.rules.game,
            seats: self.rules.seats,
            options: self.options,
            bots: vec![BotOf::from(pilot(seat, true)); usize::from(self.bots)],
            // With bots only, there is nobody to wait for.
            ready: self.place.listen.transport == Transport::Memory,
            password: self.password.as_ref().map(Secret::of),
            place: Whereabouts::from(&self.place),
        }
    }
}

/// Opens a table with bots, in which a pilot or a program plays the host's seat.
fn open(
    common: &Common,
    data: &Arc<DataDir>,
    seat: SeatArgs,
    opening: Opening,
    (own, exec): (Pilot, Option<ExecBot>),
) -> anyhow::Result<PlayedTable> {
    let setup = Setup {
        role: Role::Host {
            rules: opening.rules,
            hands: if exec.is_some() { Hands::Program(own) } else { Hands::Bot(own) },
            program: draw_program()?,
            password: opening.password,
        },
        me: Me {
            identity: data.identity()?,
            name: name(common, data),
            attended: Attended::Nobody,
            data: Arc::clone(data),
            program: exec,
        },
        place: opening.place,
    };
    let bots = vec![pilot(&seat, false); usize::from(opening.bots)];
    Ok(tables::open(setup, bots)?)
}

/// Sits down as a person, here or at the keeper, and shows the table.
async fn sit(common: &Common, data: Data, wish: Wish) -> anyhow::Result<Exit> {
    let table = data.sit(wish)?;
    attend(common, None, data, table).await
}

/// Events are printed, not shown on a screen.
struct Print {
    json: bool,
    /// Whether guests may have to be called back.
    is_host: bool,
    /// The program that plays the seat.
    program: Option<Leash>,
}

impl Print {
    /// The output that a seat's arguments ask for; `None` for a screen.
    fn of(seat: &SeatArgs, headless: bool, program: Option<Leash>) -> Option<Self> {
        let json = seat.json;
        headless.then_some(Self { json, is_host: false, program })
    }
}

/// Shows the table, or prints it.
async fn attend(common: &Common, print: Option<Print>, data: Data, table: PlayedTable) -> anyhow::Result<Exit> {
    if let Some(Print { json, is_host, program }) = print {
        let herald = Herald::start(data.view().settings().0.notify, complain);
        let exit = headless::run(table.handle, json, is_host, herald).await;
        if let Some(program) = program {
            program.finish();
        }
        return exit;
    }
    let notify = data.view().settings().0.notify;
    let interface = interface(common, data);
    let (outcome, mail) = tui::run(interface, Start::Table(table)).await?;
    let exit = match outcome {
        TableOutcome::Over { scores, transcript } => {
            for (name, score) in scores {
                say(format!("{score:>6}  {name}"))?;
            }
            if let Some(transcript) = transcript {
                say(format!("transcript: {}", transcript.display()))?;
            }
            Exit::Done
        }
        TableOutcome::Paused(table) => {
            say_paused(table)?;
            Exit::Done
        }
        TableOutcome::Kept(table) => {
            let back = table.map_or_else(|| "fairdeal".to_owned(), |table| format!("fairdeal resume {}", short(table)));
            say(format!("Your keeper holds your seat. Go back with: {back}"))?;
            Exit::Done
        }
        TableOutcome::Left => {
            say("You left the table before the end of the game.")?;
            Exit::Failed
        }
        TableOutcome::Failed(why) => {
            complain(why);
            Exit::Failed
        }
    };
    leave(mail, notify).await?;
    Ok(exit)
}

/// Leaves the player's letters at the meeting points. Ctrl-C ends that.
async fn leave(mail: Option<LastMail>, notify: Option<String>) -> anyhow::Result<()> {
    let Some(mail) = mail else { return Ok(()) };
    // The terminal may be gone; the letters leave all the same.
    let _ = say("Leaving your letters at the meeting points ...");
    let mut signals = Signals::new()?;
    let (told, signs) = tokio::select! {
        left = mail.leave() => left,
        () = signals.recv() => return Ok(()),
    };
    let herald = Herald::start(notify, complain);
    signs.iter().for_each(|sign| herald.tell(sign));
    for line in told {
        say(line)?;
    }
    Ok(())
}

fn say_paused(table: Hash32) -> anyhow::Result<()> {
    say(format!("Game saved. Resume it with: fairdeal resume {}", short(table)))
}

/// The start of a table id, which is enough of it for commands.
fn short(table: Hash32) -> String {
    table.to_string().chars().take(SHORT).collect()
}

fn interface(common: &Common, data: Data) -> Interface {
    Interface {
        data,
        name: common.name.clone(),
        user: user(),
        today,
        depth: Depth::from_environment(variable),
        ascii: common.ascii,
        few_glyphs: few_glyphs(variable).is_some(),
    }
}

/// Shows a past game. The data directory is opened for reading only, because another program may be playing there.
pub(super) fn show_replay(common: &Common, file: &Path) -> anyhow::Result<Exit> {
    let data = Data::Replay(DataView::of(common.data_dir.as_deref())?);
    runtime()?.block_on(async {
        let start = Start::Replay(file.to_path_buf());
        tui::run(interface(common, data), start).await?;
        Ok(Exit::Done)
    })
}

/// The commands for a terminal without a screen.
const LINES: &str = "\
These commands need no screen:
  fairdeal play GAME --headless     a bot plays your seat; host, join and resume take --headless too
  fairdeal watch TICKET --headless  another table in words
  fairdeal replay FILE --plain      a past game in words
  fairdeal verify FILE              whether it was fair
  fairdeal rules, puzzle --list, history, people, engine, --help";

/// Refuses a screen that could not be shown, before anything is started or written; none is needed without a person.
fn need_screen(headless: bool) -> anyhow::Result<()> {
    if headless {
        return Ok(());
    }
    check_screen().map_err(|why| usage(format!("cannot show a screen here: {why}\n{LINES}")))
}

/// Runs the interface from its home screen, or from a puzzle.
pub(super) fn home(common: &Common, start: Start) -> anyhow::Result<Exit> {
    need_screen(false)?;
    runtime()?.block_on(async {
        let data = house(common, false).await?;
        let notify = data.view().settings().0.notify;
        let interface = interface(common, data);
        let (outcome, mail) = tui::run(interface, start).await?;
        if let TableOutcome::Paused(table) = outcome {
            say_paused(table)?;
        }
        leave(mail, notify).await?;
        Ok(Exit::Done)
    })
}

pub(super) fn play(common: &Common, play: &Play) -> anyhow::Result<Exit> {
    let info = game_info(&play.game).map_err(usage)?;
    let (least, most) = (info.least_seats.saturating_sub(1), info.most_seats.saturating_sub(1));
    let bots = play.bots.unwrap_or_else(|| USUAL_BOTS.clamp(least, most));
    if !(least..=most).contains(&bots) {
        return Err(usage(match most {
            0 => format!("{} is for one player, without bots", info.id),
            _ => format!("{} takes {least} to {most} bots, not {bots}", info.id),
        }));
    }
    let seats = bots.saturating_add(1);
    let mut options = parse_options(&play.options)?;
    if let Some(date) = &play.daily {
        options.insert("daily".to_owned(), date.clone().unwrap_or_else(today));
    }
    let rules = rule_set(&play.game, seats, &options).map_err(usage)?;
    if play.practice && seats > 1 {
        return Err(usage(practice::OpenError::Rules(rules.game)));
    }
    need_screen(play.seat.headless)?;
    if play.practice {
        let data = Data::of(common.data_dir.as_deref())?;
        return runtime()?.block_on(async {
            let handle = practice::open(&rules, &name(common, data.view())).map_err(usage)?;
            attend(common, None, data, PlayedTable::new(handle, true)).await
        });
    }
    let place = Place::quiet(ListenConfig::of_local_bot(Transport::Memory));
    let opening = Opening { rules, options, bots, place, password: None };
    if !play.seat.headless {
        return runtime()?.block_on(async {
            let data = house(common, play.keeper.keep).await?;
            let wish = opening.wish(common, &data, &play.seat);
            sit(common, data, wish).await
        });
    }
    let data = Arc::new(DataDir::open(common.data_dir.as_deref())?);
    runtime()?.block_on(async {
        let table = open(common, &data, play.seat, opening, (own_pilot(&play.seat, None), None))?;
        attend(common, Print::of(&play.seat, true, None), Data::Open(data), table).await
    })
}

/// Where browsers find a table.
#[derive(Clone, Copy, Debug)]
enum Doors {
    /// Nowhere.
    None,
    /// At any port, beside each address to listen on.
    Beside,
    At(SocketAddr),
}

impl Doors {
    /// By default there are doors where the LAN may know of the table.
    fn of(web: Option<SocketAddr>, no_web: bool, no_lan: bool) -> Self {
        match web {
            Some(place) => Self::At(place),
            None if no_web || no_lan => Self::None,
            None => Self::Beside,
        }
    }

    /// Adds the doors of somebody who listens there. On this machine alone nobody needs one.
    fn beside(self, mut listen: Vec<Multiaddr>) -> Vec<Multiaddr> {
        match self {
            Self::None => listen,
            Self::Beside => with_doors(listen),
            Self::At(place) => {
                listen.push(door_at(place));
                listen
            }
        }
    }
}

/// Where to listen (by default on every interface), where others find that from outside, through which relays they
/// connect, and where browsers do.
fn place(
    listen: Vec<Multiaddr>,
    external: Vec<Multiaddr>,
    relays: Vec<Multiaddr>,
    doors: Doors,
) -> anyhow::Result<ListenConfig> {
    check_named("--relay", &relays)?;
    check_external(&external)?;
    let has_port = |address: &Multiaddr| any_port(address) != *address;
    if !external.is_empty() && !listen.iter().any(has_port) {
        return Err(usage(
            "--external names a port that leads here: add --listen with that port, as in /ip4/0.0.0.0/tcp/4001",
        ));
    }
    let listen = doors.beside(if listen.is_empty() { everywhere(0) } else { listen });
    Ok(ListenConfig { transport: Transport::Sockets, listen, external, relays })
}

/// Refuses an external address that nobody could dial.
fn check_external(external: &[Multiaddr]) -> anyhow::Result<()> {
    let is_dialled = |address: &&Multiaddr| {
        let outside = first_ip(address).is_some() && !is_everywhere(address) && !is_loopback(address);
        outside && named_peer(address).is_none() && any_port(address) != **address
    };
    match external.iter().find(|address| !is_dialled(address)) {
        None => Ok(()),
        Some(address) => Err(usage(format!(
            "--external {address}: name the IP address and port that friends dial, as in /ip4/93.184.215.14/tcp/4001"
        ))),
    }
}

/// The table's password, if it has one: from the environment, or typed on the terminal.
fn password(wanted: bool) -> anyhow::Result<Option<Password>> {
    if !wanted {
        return Ok(None);
    }
    let text = match std::env::var("FAIRDEAL_PASSWORD") {
        Ok(text) => text,
        Err(_) => rpassword::prompt_password("Table password: ")
            .map_err(|error| usage(format!("cannot prompt for a password here ({error}); set FAIRDEAL_PASSWORD")))?,
    };
    Ok(Some(Password::new(text).map_err(usage)?))
}

fn host_table(common: &Common, host: Host, headless_seat: bool, exec: Option<&ExecArgs>) -> anyhow::Result<Exit> {
    check_keep(host.keeper, headless_seat)?;
    let info = game_info(&host.game).map_err(usage)?;
    let seats = host.seats.unwrap_or_else(|| host.bots.saturating_add(2).clamp(info.least_seats, info.most_seats));
    let is_right = (info.least_seats..=info.most_seats).contains(&seats);
    if is_right && host.bots >= seats {
        return Err(usage(format!("{} bots fill all {seats} seats; leave one for yourself", host.bots)));
    }
    let mut options = parse_options(&host.options)?;
    if host.phones {
        wait_for_phones(&mut options);
    }
    Timing::fill_in(&mut options, seats.saturating_sub(host.bots));
    let rules = rule_set(&host.game, seats, &options).map_err(usage)?;
    check_points(&host.meet)?;
    need_screen(headless_seat)?;
    let password = password(host.password)?;
    let doors = Doors::of(host.web, host.no_web, host.no_lan);
    let opening = Opening {
        rules,
        options,
        bots: host.bots,
        place: Place {
            listen: place(host.listen, host.external, host.relay, doors)?,
            bind_when_free: false,
            lan: !host.no_lan,
            meet: host.meet,
        },
        password,
    };
    if !headless_seat {
        return runtime()?.block_on(async {
            let data = house(common, host.keeper.keep).await?;
            let wish = opening.wish(common, &data, &host.seat);
            sit(common, data, wish).await
        });
    }
    let data = Arc::new(DataDir::open(common.data_dir.as_deref())?);
    complain_of_people(&data);
    runtime()?.block_on(async {
        let own = own_pilot(&host.seat, exec);
        let exec = exec_bot(exec)?;
        let print = Print::of(&host.seat, true, exec.as_ref().map(ExecBot::leash));
        let print = print.map(|print| Print { is_host: true, ..print });
        let table = open(common, &data, host.seat, opening, (own, exec))?;
        attend(common, print, Data::Open(data), table).await
    })
}

/// Refuses a keeper for a bot, which stays by itself.
fn check_keep(keeper: KeepArgs, headless: bool) -> anyhow::Result<()> {
    if keeper.keep && headless {
        return Err(usage("--keep is for a person's seat; a bot stays at its table by itself"));
    }
    Ok(())
}

/// Says if the address book cannot be read: nobody is then blocked. The interface says it on its screen.
fn complain_of_people(data: &DataView) {
    if let Some(complaint) = data.people_complaint() {
        complain(complaint);
    }
}

fn join_table(common: &Common, join: Join, headless_seat: bool, exec: Option<&ExecArgs>) -> anyhow::Result<Exit> {
    check_keep(join.keeper, headless_seat)?;
    check_points(&join.meet)?;
    check_named("--relay", &join.relay)?;
    let (target, number) = if join.meet.is_empty() {
        (join.target().map_err(usage)?, None)
    } else {
        (None, join.number().map_err(usage)?)
    };
    if join.list {
        let data = DataView::of(common.data_dir.as_deref())?;
        complain_of_people(&data);
        return runtime()?.block_on(list(&join, (Acquaintances::of(&data), common.draws_ascii(&data))));
    }
    // At a meeting point the tables are listed first, as lines.
    need_screen(headless_seat || !join.meet.is_empty())?;
    let password = password(join.password)?;
    runtime()?.block_on(async {
        let data = if headless_seat {
            Data::Open(Arc::new(DataDir::open(common.data_dir.as_deref())?))
        } else {
            house(common, join.keeper.keep).await?
        };
        complain_of_people(data.view());
        let people = (Acquaintances::of(data.view()), common.draws_ascii(data.view()));
        let target = match target {
            Some(target) => target,
            None => match find(&join, number, password.is_some(), headless_seat, people).await? {
                Choice::Table(ticket) => JoinTarget::Ticket(ticket),
                Choice::None(exit) => return Ok(exit),
            },
        };
        need_screen(headless_seat)?;
        let doors = Doors::of(join.web, join.no_web, join.no_lan);
        let place = place(join.listen, join.external, join.relay, doors)?;
        let place = Place { lan: !join.no_lan, ..Place::quiet(place) };
        if !headless_seat {
            let (name, password) = (name(common, data.view()), password.as_ref().map(Secret::of));
            let place = Whereabouts::from(&place);
            return sit(common, data, Wish::Join { name, target: target.to_string(), password, place }).await;
        }
        let own = own_pilot(&join.seat, exec);
        let exec = exec_bot(exec)?;
        let print = Print::of(&join.seat, true, exec.as_ref().map(ExecBot::leash));
        let open = Arc::clone(data.open()?);
        let handle = start(Setup {
            role: Role::Guest {
                target,
                hands: if exec.is_some() { Hands::Program(own) } else { Hands::Bot(own) },
                program: draw_program()?,
                password,
                patience: if join.call_back { Patience::ForACall } else { Patience::AMinute },
            },
            me: Me {
                identity: open.identity()?,
                name: name(common, &open),
                attended: Attended::Nobody,
                data: open,
                program: exec,
            },
            place,
        })?;
        attend(common, print, data, PlayedTable::new(handle, false)).await
    })
}

/// Watches a table as a spectator.
pub(super) fn watch(common: &Common, watch: &Watch) -> anyhow::Result<Exit> {
    let target = watch.target().map_err(usage)?;
    let headless = watch.headless || watch.json;
    need_screen(headless)?;
    let password = password(watch.password)?;
    if !headless {
        return runtime()?.block_on(async {
            let data = house(common, false).await?;
            let wish = Wish::Watch { target: target.to_string(), password: password.as_ref().map(Secret::of) };
            sit(common, data, wish).await
        });
    }
    let data = Arc::new(DataDir::open(common.data_dir.as_deref())?);
    runtime()?.block_on(async {
        let handle = start(Setup {
            role: Role::Watcher { target, password },
            me: Me {
                identity: IdentityKey::generate()?,
                name: String::new(),
                attended: Attended::Nobody,
                data: Arc::clone(&data),
                program: None,
            },
            place: Place::quiet(ListenConfig::nowhere()),
        })?;
        let print = Print { json: watch.json, is_host: false, program: None };
        attend(common, Some(print), Data::Open(data), PlayedTable::new(handle, false)).await
    })
}

/// Resumes a saved game, with the bots that played in the same program.
pub(super) fn resume(common: &Common, resume: &Resume) -> anyhow::Result<Exit> {
    if resume.exec.exec.is_some() && !resume.seat.headless {
        return Err(usage("--exec plays without a screen: add --headless"));
    }
    need_screen(resume.seat.headless)?;
    let (prefix, friend) = resume.target().map_err(usage)?;
    check_named("--relay", &resume.relay)?;
    check_named("--meet", &resume.meet)?;
    check_external(&resume.external)?;
    let data = match DataDir::open(common.data_dir.as_deref()) {
        Err(StoreError::InUse { path }) if !resume.seat.headless && resume.seat_file.is_none() => {
            let ways = resume.relay.len() + resume.meet.len() + resume.external.len();
            return resume_kept(common, (prefix, friend.as_ref()), ways > 0 || resume.no_lan, path);
        }
        data => Arc::new(data?),
    };
    let (moved, friend) = match &resume.seat_file {
        Some(path) => {
            if prefix.is_some() {
                return Err(usage("--seat names the table itself; leave the table id out"));
            }
            let (table, way) = take_in(&data, path, friend)?;
            (Some(table), Some(way))
        }
        None => (None, friend),
    };
    let prefix = moved.as_deref().or(prefix);
    let mut tables = saved_tables(&data, prefix)?;
    if let Some(friend) = &friend {
        let had_any = !tables.is_empty();
        tables.retain(|table| is_known_to(table, friend));
        if had_any && tables.is_empty() {
            return Err(StartError::OtherTable.into());
        }
    }
    if tables.len() > 1 {
        let words: Vec<String> =
            tables.iter().filter_map(|(_, seats)| seats.first()).map(|(_, seat)| seat.in_words()).collect();
        return Err(usage(format!("you have several saved games; choose one: {}", words.join("; "))));
    }
    let Some(table) = tables.pop() else {
        let Some(prefix) = prefix else {
            return Err(StoreError::NothingToResume.into());
        };
        let waiting = saved_tables(&data, None)?;
        return Err(StoreError::NoSuchSavedGame {
            prefix: prefix.chars().take(80).collect(),
            waiting: waiting.into_iter().map(|(id, _)| id).collect(),
        }
        .into());
    };
    let seats = open_seats(&data, table)?;
    let identity = data.identity()?;
    runtime()?.block_on(async {
        let own = resume.seat.headless.then(|| own_pilot(&resume.seat, Some(&resume.exec)));
        let exec = exec_bot(Some(&resume.exec))?;
        let print = Print::of(&resume.seat, resume.seat.headless, exec.as_ref().map(ExecBot::leash));
        let who = Returner { identity, attended: attended(resume.seat.headless), pilot: own, program: exec };
        let relays = resume.relay.iter().chain(&resume.meet).cloned().collect();
        let reunion = Reunion { lan: !resume.no_lan, relays, external: resume.external.clone(), friend };
        let table = tables::resume(seats, who, &data, reunion)?;
        attend(common, print, Data::Open(data), table).await
    })
}

/// Attaches to a table of the keeper, or lets it resume one.
fn resume_kept(
    common: &Common,
    (prefix, friend): (Option<&str>, Option<&JoinTarget>),
    has_ways: bool,
    path: PathBuf,
) -> anyhow::Result<Exit> {
    runtime()?.block_on(async {
        let data = house(common, false).await?;
        let Some(keeper) = data.keeper() else {
            return Err(StoreError::InUse { path }.into());
        };
        if has_ways {
            return Err(usage(
                "a keeper holds this data directory, and is at its tables already: --relay, --meet, --external and --no-lan \
                 have no effect on it; `fairdeal keep --stop` ends it",
            ));
        }
        let wish = match (prefix, friend) {
            (Some(table), friend) => Wish::Resume { table: table.to_owned(), friend: friend.map(ToString::to_string) },
            (None, Some(friend)) => {
                let (name, target, password) = (name(common, data.view()), friend.to_string(), None);
                let place = Whereabouts::from(&Place::quiet(ListenConfig::nowhere()));
                Wish::Join { name, target, password, place }
            }
            (None, None) => match keeper.tables().await?.as_slice() {
                [table] => Wish::Resume { table: table.id.clone(), friend: None },
                [] => return Err(StoreError::NothingToResume.into()),
                _ => return Err(usage("the keeper holds several tables; choose one of `fairdeal keep --list`")),
            },
        };
        sit(common, data, wish).await
    })
}

/// Takes over the seat in a file. Returns the id of its table, and the way there: by the friend, or else by the file.
fn take_in(data: &DataDir, path: &Path, friend: Option<JoinTarget>) -> anyhow::Result<(String, JoinTarget)> {
    let in_file = |why: &dyn std::fmt::Display| usage(format!("{}: {why}", path.display()));
    let bytes = Zeroizing::new(transcript_bytes(path).map_err(|why| in_file(&why))?);
    let file = SeatFile::from_bytes(&bytes).map_err(|why| in_file(&why))?;
    let way = friend.unwrap_or_else(|| JoinTarget::Ticket(file.ticket().clone()));
    if !file.seat().is_ok_and(|seat| seat.knows(&way)) {
        return Err(StartError::OtherTable.into());
    }
    let table = saved::take_in(data, &file).map_err(|why| in_file(&why))?;
    remark(format!("The seat is here now. Delete {}: whoever has it could play in your place.", path.display()));
    Ok((table, way))
}

pub(super) fn host(common: &Common, host: Host) -> anyhow::Result<Exit> {
    let headless_seat = host.seat.headless;
    host_table(common, host, headless_seat, None)
}

pub(super) fn join(common: &Common, join: Join) -> anyhow::Result<Exit> {
    let headless_seat = join.seat.headless;
    join_table(common, join, headless_seat, None)
}

pub(super) fn bot_host(common: &Common, bot: BotHost) -> anyhow::Result<Exit> {
    host_table(common, bot.host, true, Some(&bot.exec))
}

pub(super) fn bot_join(common: &Common, bot: BotJoin) -> anyhow::Result<Exit> {
    join_table(common, bot.join, true, Some(&bot.exec))
}
