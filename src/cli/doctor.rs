//! The doctor: checks this machine's network, clock, disk and terminal, and says what to do about each problem.

use std::time::Duration;

use fairdeal_net::{
    Lan, Multiaddr, Node, NodeConfig, NodeEvent, Reach, ReachNews, Transport, everywhere, is_example, is_loopback,
    is_public,
};
use fairdeal_protocol::charter::SeatKey;
use fairdeal_ui::spoken::spoken;
use fairdeal_ui::theme::Depth;
use tokio::time::{Instant, timeout_at};

use super::Exit;
use super::output::report;
use super::table::runtime;
use crate::store::{DataView, IdentityKey};
use crate::tui::environment::{check_screen, few_glyphs, variable};

/// How long the network is observed.
const LOOK: Duration = Duration::from_secs(3);
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
    let keeps = disk(data)? & identity(data)?;
    let network = runtime()?.block_on(network())?;
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
    let words = format!(
        "{}, with {} MiB free on its disk{advice}",
        data.path().display(),
        room >> 20
    );
    say(verdict, "data", &words)?;
    Ok(true)
}

fn clock() -> anyhow::Result<()> {
    let now = time::OffsetDateTime::now_utc();
    // A correct clock cannot show a year before this program was written.
    let (verdict, words) = if now.year() < 2026 {
        (
            Health::Less,
            format!("says {}: set it; the deal of the day depends on it", now.date()),
        )
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
    let settings = data.settings().unwrap_or_default();
    let few = few_glyphs(variable);
    let unicode = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .find_map(|name| variable(name).filter(|value| !value.is_empty()))
        .is_some_and(|value| value.to_ascii_lowercase().contains("utf"));
    let (verdict, characters) = match (few, settings.draws_ascii(few.is_some())) {
        (Some(few), true) => (Health::Good, format!("; ASCII, because {}", few.in_words())),
        (Some(few), false) => {
            let why = few.in_words();
            (
                Health::Less,
                format!("; {why}: remove ascii = false from settings.toml to draw in ASCII"),
            )
        }
        (None, true) => (Health::Good, "; ASCII, because settings.toml says so".to_owned()),
        (None, false) if unicode => (Health::Good, String::new()),
        (None, false) => (
            Health::Less,
            "; no UTF-8 locale: if cards look odd, use --ascii".to_owned(),
        ),
    };
    let (verdict, size) = match fits {
        true => (verdict, ""),
        false => (Health::Less, "; enlarge it to at least 80 by 24"),
    };
    let words = format!("{columns} by {rows}, {colours}{size}{characters}");
    say(verdict, "terminal", &words)
}

async fn network() -> anyhow::Result<Exit> {
    let mut config = NodeConfig::new(Transport::Sockets);
    config.listen = everywhere(0);
    config.lan = Lan::Browse;
    config.reach = Reach::Host;
    let spawned = Node::spawn(&IdentityKey::generate()?.signing_key(), config);
    let (node, mut events) = match spawned {
        Ok(spawned) => spawned,
        Err(error) => {
            say(Health::Bad, "listening", &error.to_string())?;
            return Ok(Exit::Failed);
        }
    };
    let words = format!("checking for {} seconds", LOOK.as_secs());
    say(Health::Begun, "network", &words)?;
    let begun = Instant::now();
    let mut listening: Vec<Multiaddr> = Vec::new();
    let (mut said, mut router, mut blind, mut programs) = (false, false, false, 0_usize);
    let mut settled = begun + SETTLE;
    loop {
        let until = if said { begun + LOOK } else { settled };
        match timeout_at(until, events.recv()).await {
            Ok(Some(NodeEvent::Listening(address))) => {
                listening.push(address);
                settled = Instant::now() + SETTLE;
            }
            Ok(Some(NodeEvent::Found { .. })) => programs += 1,
            Ok(Some(NodeEvent::Reach(ReachNews::NoMulticast))) => blind = true,
            Ok(Some(NodeEvent::Reach(news))) if !router => router = say_router(Some(&news))?,
            Ok(Some(_)) => {}
            Err(_) if !said => {
                say_listening(&listening)?;
                said = true;
            }
            Ok(None) | Err(_) => break,
        }
    }
    node.shutdown().await;
    say_multicast(blind, programs)?;
    if !router {
        say_router(None)?;
    }
    let words = "any friend with a public address can run `fairdeal relay`; host with --relay ADDRESS";
    say(Health::Good, "relay", words)?;
    Ok(if listening.iter().all(is_loopback) {
        Exit::Failed
    } else {
        Exit::Done
    })
}

fn say_listening(listening: &[Multiaddr]) -> anyhow::Result<()> {
    let outward = listening.iter().filter(|address| !is_loopback(address));
    let outward: Vec<&Multiaddr> = outward.collect();
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
            "this machine is behind a router: on the LAN friends can come; from the internet they need \
             UPnP, a forwarded port, or a relay",
        )
    };
    say(verdict, "NAT", words)
}

fn say_multicast(blind: bool, programs: usize) -> anyhow::Result<()> {
    if blind {
        let words = "none: you can't see tables on the LAN; join by ticket or address";
        return say(Health::Less, "multicast", words);
    }
    let words = format!("works; found {programs} addresses of other programs");
    say(Health::Good, "multicast", &words)
}

/// Prints the router's answer, or at the end that there was none. Returns true if that settles the check.
fn say_router(news: Option<&ReachNews>) -> anyhow::Result<bool> {
    let (verdict, words) = match news {
        Some(ReachNews::Mapped(address)) => (Health::Good, format!("the router lets friends through, at {address}")),
        Some(ReachNews::RouterNotPublic) => (
            Health::Less,
            "the router is behind another one (its address is not public): use a relay".to_owned(),
        ),
        None if !cfg!(feature = "upnp") => (Health::Less, "not in this build".to_owned()),
        None | Some(ReachNews::NoRouter) => (
            Health::Less,
            "no router offered to open a port: enable UPnP on it, forward a port, or use a relay".to_owned(),
        ),
        Some(_) => return Ok(false),
    };
    say(verdict, "UPnP", &words)?;
    Ok(true)
}
