//! The doctor: what this machine's network, clock and terminal can do, and what to do about the rest.

use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use super::Exit;
use super::table::runtime;
use crate::net::everywhere;
use crate::net::{
    Lan, Multiaddr, Node, NodeConfig, NodeEvent, Reach, ReachNews, Transport, is_loopback,
};
use crate::store::IdentityKey;

/// How long the router is waited for.
const PATIENCE: Duration = Duration::from_secs(12);
/// The least terminal that a table fits into.
const LEAST_TERMINAL: (u16, u16) = (80, 24);

/// How a check came out.
enum Verdict {
    /// As it should.
    Good,
    /// Less than could be; it can be played all the same.
    Less,
    /// It cannot be played so.
    Bad,
}

/// Prints a check's verdict, and what to do.
fn say(verdict: &Verdict, what: &str, words: &str) -> std::io::Result<()> {
    let mark = match verdict {
        Verdict::Good => "ok",
        Verdict::Less => "--",
        Verdict::Bad => "!!",
    };
    let mut out = std::io::stdout().lock();
    writeln!(out, "{mark}  {what:<10} {words}")?;
    out.flush()
}

/// Makes all checks; it fails if the network cannot be used at all.
pub(super) fn doctor() -> anyhow::Result<Exit> {
    clock()?;
    terminal()?;
    runtime()?.block_on(network())
}

fn clock() -> std::io::Result<()> {
    let now = time::OffsetDateTime::now_utc();
    // Of its own accord no clock runs before this program was written.
    let (verdict, words) = if now.year() < 2026 {
        (
            Verdict::Less,
            format!(
                "says {}: set it; the deal of the day goes by it, the games do not",
                now.date()
            ),
        )
    } else {
        (Verdict::Good, format!("{} UTC", now.date()))
    };
    say(&verdict, "clock", &words)
}

fn terminal() -> std::io::Result<()> {
    if !std::io::stdout().is_terminal() {
        let words = "the output is no terminal; play in one, or with --headless";
        return say(&Verdict::Less, "terminal", words);
    }
    let Ok((columns, rows)) = ratatui::crossterm::terminal::size() else {
        let words = "its size is not known; tables need 80 by 24";
        return say(&Verdict::Less, "terminal", words);
    };
    let fits = columns >= LEAST_TERMINAL.0 && rows >= LEAST_TERMINAL.1;
    let colours = match std::env::var("COLORTERM").as_deref() {
        Ok("truecolor" | "24bit") => "true colour",
        _ => "256 colours or less",
    };
    let unicode = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
        .is_some_and(|value| value.to_ascii_lowercase().contains("utf"));
    let (verdict, rest) = match (fits, unicode) {
        (false, _) => (Verdict::Less, "; make it 80 by 24 at least"),
        (true, false) => (
            Verdict::Less,
            "; no UTF-8 locale: if cards look odd, use --ascii",
        ),
        (true, true) => (Verdict::Good, ""),
    };
    say(
        &verdict,
        "terminal",
        &format!("{columns} by {rows}, {colours}{rest}"),
    )
}

async fn network() -> anyhow::Result<Exit> {
    let mut config = NodeConfig::new(Transport::Sockets);
    config.listen = everywhere(0);
    config.lan = Lan::Browse;
    config.reach = Reach::Host;
    let spawned = Node::spawn(&IdentityKey::generate()?, config);
    let (node, mut events) = match spawned {
        Ok(spawned) => spawned,
        Err(error) => {
            say(&Verdict::Bad, "listening", &error.to_string())?;
            return Ok(Exit::Failed);
        }
    };
    let mut listening: Vec<Multiaddr> = Vec::new();
    let mut router: Option<ReachNews> = None;
    let mut blind = false;
    let mut programs = 0_usize;
    let upnp = cfg!(feature = "upnp");
    let settle = Instant::now() + Duration::from_secs(3);
    let end = Instant::now() + PATIENCE;
    while let Ok(Some(event)) = timeout_at(
        if router.is_some() || !upnp {
            settle
        } else {
            end
        },
        events.recv(),
    )
    .await
    {
        match event {
            NodeEvent::Listening(address) => listening.push(address),
            NodeEvent::Found { .. } => programs += 1,
            NodeEvent::Reach(ReachNews::NoMulticast) => blind = true,
            NodeEvent::Reach(news) => router = router.or(Some(news)),
            _ => {}
        }
    }
    node.shutdown().await;
    let outward: Vec<String> = listening
        .iter()
        .filter(|address| !is_loopback(address))
        .map(Multiaddr::to_string)
        .collect();
    if outward.is_empty() {
        let words = "only this machine itself can come in: no network is up";
        say(&Verdict::Bad, "listening", words)?;
    } else {
        say(
            &Verdict::Good,
            "listening",
            &format!("on {}", outward.join(", ")),
        )?;
    }
    if blind {
        let words = "none: tables on the LAN are not seen; join by ticket or address";
        say(&Verdict::Less, "multicast", words)?;
    } else {
        let words = format!("works; {programs} addresses of other programs heard of");
        say(&Verdict::Good, "multicast", &words)?;
    }
    let (verdict, words) = match &router {
        Some(ReachNews::Mapped(address)) => (
            Verdict::Good,
            format!("the router lets friends through, at {address}"),
        ),
        Some(ReachNews::RouterNotPublic) => (
            Verdict::Less,
            "the router is behind another one (its address is not public): use a relay".to_owned(),
        ),
        _ if !upnp => (Verdict::Less, "left out of this build".to_owned()),
        _ => (
            Verdict::Less,
            "no router opens a port by itself: switch UPnP on there, forward a port, or use a relay".to_owned(),
        ),
    };
    say(&verdict, "UPnP", &words)?;
    let public = outward.iter().any(|address| is_public(address));
    let (verdict, words) = match (&router, public) {
        (Some(ReachNews::Mapped(_)), _) | (_, true) => (
            Verdict::Good,
            "friends can probably come from the internet; a host says so for sure once one has tried",
        ),
        _ => (
            Verdict::Less,
            "this machine is behind a router: on the LAN friends can come; from the internet they need \
             UPnP, a forwarded port, or a relay",
        ),
    };
    say(&verdict, "NAT", words)?;
    say(
        &Verdict::Good,
        "relay",
        "any friend who can be reached may run `fairdeal relay`; host with --relay ADDRESS",
    )?;
    Ok(if outward.is_empty() {
        Exit::Failed
    } else {
        Exit::Done
    })
}

fn is_public(address: &str) -> bool {
    address
        .parse()
        .is_ok_and(|address| crate::net::is_public(&address))
}
