//! The doctor: checks this machine's network, clock, disk and terminal, and says what to do about each problem.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::stdout;
use std::net::IpAddr;
use std::time::Duration;

use fairdeal_games::joined;
use fairdeal_net::{
    Lan, MulticastFault, Node, NodeConfig, NodeEvent, NodeHandle, Reach, ReachNews, Transport, everywhere, first_ip,
    lan_ip, multicast_fault,
};
use fairdeal_peers::Multiaddr;
use fairdeal_peers::address::{is_example, is_loopback, is_public};
use fairdeal_protocol::charter::SeatKey;
use fairdeal_session::notify::{Notification, Occasion};
use fairdeal_session::spoken::spoken;
use fairdeal_ui::theme::{Depth, Theme};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::exit::Exit;
use super::output::report;
use super::table::runtime;
use crate::herald;
use crate::signals::Signals;
use crate::store::{DataView, IdentityKey};
use crate::tui::answers::{Answers, ask};
use crate::tui::environment::{Holder, check_screen, few_glyphs, variable};
use crate::tui::signs::{Abilities, Signs};

/// How long the network is observed.
const LOOK: Duration = Duration::from_secs(3);
/// How long to wait for the router's word: it may answer late, and refuse several ports.
const ROUTER: Duration = Duration::from_secs(15);
/// How long to wait for more interfaces after the last one reported.
const SETTLE: Duration = Duration::from_millis(300);
/// Free disk space below this, in bytes, may not be enough for an evening.
const LITTLE_ROOM: u64 = 256 << 20;
/// The smallest terminal that a table fits into: columns and rows.
const LEAST_TERMINAL: (u16, u16) = (80, 24);

/// The result of a check.
#[derive(Clone, Copy)]
enum Health {
    /// The check is running.
    Begun,
    /// All is well.
    Good,
    /// Not ideal, but good enough to play.
    Less,
    /// Play is impossible.
    Bad,
}

/// Prints the result of a check, and what to do.
fn say(verdict: Health, what: &str, words: &str) -> anyhow::Result<()> {
    let mark = match verdict {
        Health::Begun => "..",
        Health::Good => "ok",
        Health::Less => "--",
        Health::Bad => "!!",
    };
    report(format!("{mark}  {what:<10} {words}"))
}

/// Runs all checks and prints each result at once. The exit code is a failure if nothing can be stored, the identity
/// cannot be read, or the network is unusable.
pub(super) fn doctor(data: &DataView) -> anyhow::Result<Exit> {
    clock()?;
    terminal(data)?;
    let mut signs = try_signs(data)?;
    let keeps = disk(data)? & identity(data)?;
    let network = runtime()?.block_on(network());
    if let Some(signs) = &mut signs {
        signs.give_back(&mut stdout().lock())?;
    }
    let network = network?;
    Ok(if keeps { network } else { Exit::Failed })
}

/// Checks whether the identity file can be read.
fn identity(data: &DataView) -> anyhow::Result<bool> {
    match data.known_identity() {
        Ok(Some(identity)) => {
            let key = SeatKey::from(&identity.signing_key());
            let words = format!("can be read; your key, spoken: {}", spoken(&key.to_bytes()));
            say(Health::Good, "identity", &words)?;
        }
        Ok(None) => say(Health::Good, "identity", "is created when you first play")?,
        Err(error) => {
            say(Health::Bad, "identity", &error.to_string())?;
            return Ok(false);
        }
    }
    Ok(true)
}

/// Checks whether identity, journals and transcripts can be stored, and where.
fn disk(data: &DataView) -> anyhow::Result<bool> {
    let room = match data.room() {
        Ok(room) => room,
        Err(error) => {
            say(Health::Bad, "data", &error.to_string())?;
            return Ok(false);
        }
    };
    let (verdict, advice) = if room < LITTLE_ROOM {
        let advice = "; free some space, or choose another disk with --data-dir";
        (Health::Less, advice)
    } else {
        (Health::Good, "")
    };
    let words = format!("{}, with {} MiB free on its disk{advice}", data.path().display(), room >> 20);
    say(verdict, "data", &words)?;
    Ok(true)
}

fn clock() -> anyhow::Result<()> {
    let now = time::OffsetDateTime::now_utc();
    // A correct clock cannot show a year before this program was written.
    let (verdict, words) = if now.year() < 2026 {
        (Health::Less, format!("says {}: set it; the deal of the day depends on it", now.date()))
    } else {
        (Health::Good, format!("{} UTC", now.date()))
    };
    say(verdict, "clock", &words)
}

/// Checks whether the terminal shows a table, how large it is, how many colours it has, and which characters are drawn.
fn terminal(data: &DataView) -> anyhow::Result<()> {
    if let Err(why) = check_screen() {
        let words = format!("no screen can be shown: {why}; `fairdeal play GAME --headless` and --help need none");
        return say(Health::Less, "terminal", &words);
    }
    let Ok((columns, rows)) = ratatui::crossterm::terminal::size() else {
        let words = "its size is unknown; tables need 80 by 24";
        return say(Health::Less, "terminal", words);
    };
    let fits = columns >= LEAST_TERMINAL.0 && rows >= LEAST_TERMINAL.1;
    let colours = Depth::from_environment(variable).in_words();
    // The interface reports invalid settings.
    let settings = data.settings().0;
    let few = few_glyphs(variable);
    let unicode = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .find_map(|name| variable(name).filter(|value| !value.is_empty()))
        .is_some_and(|value| value.to_ascii_lowercase().contains("utf"));
    let (verdict, characters) = match (few, settings.draws_ascii(few.is_some())) {
        (Some(few), true) => (Health::Good, format!("; ASCII, because {}", few.in_words())),
        (Some(few), false) => {
            let why = few.in_words();
            (Health::Less, format!("; {why}: remove ascii = false from settings.toml to draw in ASCII"))
        }
        (None, true) => (Health::Good, "; ASCII, because settings.toml says so".to_owned()),
        (None, false) if unicode => (Health::Good, String::new()),
        (None, false) => (Health::Less, "; no UTF-8 locale: if cards look odd, use --ascii".to_owned()),
    };
    let (verdict, size) = if fits { (verdict, "") } else { (Health::Less, "; enlarge it to at least 80 by 24") };
    let words = format!("{columns} by {rows}, {colours}{size}{characters}");
    say(verdict, "terminal", &words)
}

/// Tries the signs for a player who looks elsewhere, and says what the terminal has done with them. The title stays until
/// the end of the checks.
fn try_signs(data: &DataView) -> anyhow::Result<Option<Signs>> {
    let settings = data.settings().0;
    if let Some(command) = settings.notify.filter(|command| !command.trim().is_empty()) {
        match herald::try_out(&command, &sample()) {
            Ok(()) => say(Health::Good, "notify", &format!("the command was run with a sample: {command}"))?,
            Err(why) => say(Health::Less, "notify", &format!("{why}. The command is: {command}"))?,
        }
    }
    if check_screen().is_err() {
        return Ok(None);
    }
    let mut signs = Signs::new(Abilities::of(variable));
    let mut out = stdout().lock();
    signs.entitle(Some(SAMPLE), &Theme::default(), &mut out)?;
    if settings.bell {
        signs.ring(SAMPLE, &mut out)?;
    }
    drop(out);
    let answers = ask().unwrap_or_default();
    let (verdict, words) = signs_in_words(signs.abilities(), &answers, settings.bell);
    say(verdict, "signs", &words)?;
    Ok(Some(signs))
}

/// The text of a sign that tries the terminal.
const SAMPLE: &str = "Your turn: a try of fairdeal doctor";

fn sample() -> Notification {
    let (text, occasion) = (SAMPLE.to_owned(), Occasion::Turn);
    Notification { occasion, text, table: None, game: None, is_reminder: false }
}

/// The signs that were tried, and the terminal's answers, in words.
fn signs_in_words(abilities: &Abilities, answers: &Answers, rings: bool) -> (Health, String) {
    let mut done = Vec::new();
    if rings {
        done.push("rang the bell".to_owned());
        done.extend(abilities.notification.map(|protocol| format!("asked for a notification ({})", protocol.name())));
    }
    let has_title = answers.title.as_ref().is_some_and(|title| title.contains(SAMPLE));
    let title = if has_title { "set the title, which the terminal has" } else { "set the title" };
    done.extend(abilities.has_title.then(|| title.to_owned()));
    let mut words = if done.is_empty() { "nothing can be tried here".to_owned() } else { joined(&done, "and") };
    if let Some(name) = &answers.name {
        let _ = write!(words, "; the terminal is {name}");
    }
    let tells_focus = answers.knows_focus.unwrap_or(abilities.tells_focus) && abilities.tells_focus;
    words.push_str(match (tells_focus, abilities.holder) {
        (true, _) => ". It says when you look elsewhere, and only then are there signs",
        (false, Holder::Tmux) => {
            ". tmux does not say when you look elsewhere: signs come after a minute without a key. In tmux.conf, \
             'set -g focus-events on' changes that"
        }
        (false, _) => ". It does not say when you look elsewhere: signs come after a minute without a key",
    });
    if abilities.holder == Holder::Tmux && abilities.notification.is_none() {
        words.push_str(". For notifications of a terminal that has them: 'set -g allow-passthrough on'");
    }
    if !rings {
        words.push_str(". bell = false in settings.toml keeps it quiet");
    }
    (if tells_focus { Health::Good } else { Health::Less }, words)
}

async fn network() -> anyhow::Result<Exit> {
    let mut config = NodeConfig::new(Transport::Sockets);
    config.listen = everywhere(0);
    config.lan = Lan::Browse;
    config.reach = Reach::Host;
    let mut signals = Signals::new()?;
    let spawned = Node::spawn(&IdentityKey::generate()?.signing_key(), config);
    let (node, mut events) = match spawned {
        Ok(spawned) => spawned,
        Err(error) => {
            say(Health::Bad, "listening", &error.to_string())?;
            return Ok(Exit::Failed);
        }
    };
    // Neither a signal nor an error may leave a port open in the router.
    let observed = tokio::select! {
        observed = observe(&node, &mut events) => Some(observed),
        () = signals.recv() => None,
    };
    node.shutdown().await;
    let Some(observed) = observed.transpose()? else {
        return Ok(Exit::Interrupted);
    };
    let words = "any friend with a public address can run `fairdeal relay`; host with --relay ADDRESS";
    say(Health::Good, "relay", words)?;
    Ok(if observed.listening.iter().all(is_loopback) { Exit::Failed } else { Exit::Done })
}

/// Observations of the network.
#[derive(Default)]
struct Observed {
    listening: Vec<Multiaddr>,
    /// The IP addresses at which the node answers questions of the LAN.
    answered: BTreeSet<IpAddr>,
    /// Whether the system has no multicast at all.
    is_blind: bool,
    /// Number of addresses of other programs.
    programs: usize,
}

/// Observes the network and prints each result. A second node asks the LAN what the first one answers.
async fn observe(node: &NodeHandle, events: &mut mpsc::Receiver<NodeEvent>) -> anyhow::Result<Observed> {
    let words = format!("checking for {} seconds", LOOK.as_secs());
    say(Health::Begun, "network", &words)?;
    let mut config = NodeConfig::new(Transport::Sockets);
    config.lan = Lan::Browse;
    let (_asker, mut heard) = Node::spawn(&IdentityKey::generate()?.signing_key(), config)?;
    let begun = Instant::now();
    let mut observed = Observed::default();
    let (mut said, mut router) = (false, false);
    let mut settled = begun + SETTLE;
    loop {
        let until = match (said, router || !cfg!(feature = "upnp")) {
            (false, _) => settled,
            (true, true) => begun + LOOK,
            (true, false) => begun + ROUTER,
        };
        tokio::select! {
            event = events.recv() => match event {
                Some(NodeEvent::Listening(address)) => {
                    observed.listening.push(address);
                    settled = Instant::now() + SETTLE;
                }
                Some(NodeEvent::Found { .. }) => observed.programs += 1,
                Some(NodeEvent::Reach(ReachNews::NoMulticast)) => observed.is_blind = true,
                Some(NodeEvent::Reach(news)) if !router => router = say_router(Some(&news))?,
                Some(_) => {}
                None => break,
            },
            Some(event) = heard.recv() => {
                if let NodeEvent::Found { peer, address } = event
                    && peer == node.local_peer()
                {
                    observed.answered.extend(first_ip(&address));
                }
            }
            () = sleep_until(until) => {
                if said {
                    break;
                }
                say_listening(&observed.listening)?;
                said = true;
            }
        }
    }
    say_multicast(&observed)?;
    if !router {
        say_router(None)?;
    }
    Ok(observed)
}

fn say_listening(listening: &[Multiaddr]) -> anyhow::Result<()> {
    let outward: Vec<&Multiaddr> = listening.iter().filter(|address| !is_loopback(address)).collect();
    if outward.is_empty() {
        let words = "no network is up: only programs on this machine can connect";
        return say(Health::Bad, "listening", words);
    }
    let all: Vec<String> = outward.iter().map(ToString::to_string).collect();
    say(Health::Good, "listening", &format!("on {}", all.join(", ")))?;
    let public = outward.iter().any(|address| is_public(address) && !is_example(address));
    let (verdict, words) = if public {
        (Health::Good, "friends on the internet can probably connect")
    } else {
        (
            Health::Less,
            "this machine has no public address: on the LAN friends can come; from the internet they need \
             UPnP, a forwarded port, or a relay",
        )
    };
    say(verdict, "NAT", words)
}

fn say_multicast(observed: &Observed) -> anyhow::Result<()> {
    const BY_TICKET: &str = "Until then, join by ticket or address";
    let lan = lan_ip(&observed.listening);
    if let Some(ip) = lan.filter(|ip| observed.answered.contains(ip)) {
        let programs = observed.programs;
        let words = format!("works: a question was answered from {ip}; found {programs} addresses of other programs");
        return say(Health::Good, "multicast", &words);
    }
    let fault = lan.map_or(Some(MulticastFault::NoNetwork), multicast_fault);
    let elsewhere: Vec<String> = observed.answered.iter().map(ToString::to_string).collect();
    let words = match (fault, lan) {
        (Some(MulticastFault::NoNetwork), _) | (None, None) if !observed.listening.iter().all(is_loopback) => {
            format!(
                "does not work: this machine has link-local IPv6 addresses only. Give it another by DHCP or by hand. \
                 {BY_TICKET}"
            )
        }
        (Some(MulticastFault::NoNetwork), _) | (None, None) => {
            "none, since no network is up: connect this machine to one. Tables on this machine can be joined by ticket"
                .to_owned()
        }
        (Some(fault), _) => format!("does not work: {}. {BY_TICKET}", remedy(&fault)),
        (None, Some(ip)) if observed.is_blind => {
            format!("does not work: the system does not tell of the interface of {ip}. {BY_TICKET}")
        }
        (None, Some(ip)) if !elsewhere.is_empty() => format!(
            "works from {} only: no question from {ip} was answered. A firewall on this machine, or the network, drops \
             them: allow mDNS (UDP port 5353) there. {BY_TICKET}",
            elsewhere.join(", ")
        ),
        (None, Some(ip)) => format!(
            "does not work: no question from {ip} was answered. A firewall on this machine drops them: allow mDNS (UDP \
             port 5353) in it. {BY_TICKET}"
        ),
    };
    say(Health::Less, "multicast", &words)
}

/// The fault of multicast in words, and its remedy.
fn remedy(fault: &MulticastFault) -> String {
    match fault {
        MulticastFault::NoNetwork => "no network is up; connect this machine to one".to_owned(),
        MulticastFault::PortTaken => {
            "another program holds UDP port 5353 for itself; end that program, or let it share the port".to_owned()
        }
        MulticastFault::PortRefused(reason) => {
            format!("the system refuses UDP port 5353 ({reason}); allow this program to use it")
        }
        MulticastFault::JoinRefused { ip, reason } => format!(
            "the system refuses to join the group of mDNS at {ip} ({reason}); allow more groups \
             (net.ipv4.igmp_max_memberships on Linux) or end programs that joined them"
        ),
        MulticastFault::NoRoute { ip } => format!(
            "no route leads from {ip} to the LAN's multicast; add one for 224.0.0.0/4 (ff00::/8 for IPv6) on that \
             interface"
        ),
        MulticastFault::SendRefused { ip, reason } => format!(
            "the system refuses to send from {ip} ({reason}); allow outgoing mDNS (UDP port 5353) in this machine's \
             firewall"
        ),
    }
}

/// Prints the router's answer, or at the end that there was none. Returns true if that settles the check.
fn say_router(news: Option<&ReachNews>) -> anyhow::Result<bool> {
    let less = |words: &str| (Health::Less, words.to_owned());
    let (verdict, words) = match news {
        Some(ReachNews::Mapped { address, instead_of }) => {
            let taken =
                instead_of.map(|port| format!("; its port {port} belongs to another device")).unwrap_or_default();
            (Health::Good, format!("the router lets friends through, at {address}{taken}"))
        }
        Some(ReachNews::NoRouterNeeded) => (Health::Good, "not needed: this machine has a public address".to_owned()),
        Some(ReachNews::NoRouter) => less(
            "no router: no IPv4 route leads out of this network. Connect it to the internet, or play with friends on \
             this network",
        ),
        Some(ReachNews::RouterNotPublic(told)) => {
            let its = match told {
                Some(ip) => format!("its own address, {ip}, is not public"),
                None => "it has no address on the internet".to_owned(),
            };
            let words = format!(
                "the router is behind another one, or offline ({its}): use a relay, or connect this machine to the \
                 first router"
            );
            (Health::Less, words)
        }
        Some(ReachNews::PortTaken(port)) => {
            let words = format!(
                "the router has given port {port} to another device: choose another with --listen, or close it there"
            );
            (Health::Less, words)
        }
        Some(ReachNews::RouterRefused(reason)) => {
            let words = format!(
                "the router refuses to open a port ({reason}): allow UPnP port forwarding in its settings, forward a \
                 port, or use a relay"
            );
            (Health::Less, words)
        }
        None if !cfg!(feature = "upnp") => less("not in this build: forward a port, or use a relay"),
        None => less("the router has not said whether it opens a port: forward one, or use a relay"),
        Some(ReachNews::NoUpnp) => less(
            "there is a router, but it does not open ports (no UPnP): enable UPnP on it, forward a port, or use a relay",
        ),
        Some(_) => return Ok(false),
    };
    say(verdict, "UPnP", &words)?;
    Ok(true)
}
