//! Browsers and programs on machines of their own: at home, elsewhere, and while cables and programs fail. Skipped without a
//! browser, too.

use std::path::Path;
use std::process::Command;

use fairdeal_peers::Multiaddr;
use fairdeal_peers::ticket::Ticket;
use serde_json::Value;
use tempfile::TempDir;

use super::LAN;
use super::lab::{Lab, Node};
use crate::browser::Browser;
use crate::process::{Program, Relay};
use crate::require;
use crate::web::{certificate, link_through_relay, page, transcript};

/// Games of four, with options that keep them short.
const GAMES: [(&str, &[&str]); 4] = [
    ("loot", &["--option", "target=30"]),
    ("plutonian-poker", &[]),
    ("houses-of-thoth", &["--option", "target=1"]),
    ("sphinxs-paw", &[]),
];

impl Lab {
    async fn browser(&self, node: Node) -> Option<Browser> {
        match Browser::start_on(&self.inside(node), self.forwarded(node)).await {
            Ok(browser) => Some(browser),
            Err(why) => {
                require::skip("browser", why);
                None
            }
        }
    }

    fn with_page(&self, node: Node, page: &Path) -> Command {
        let mut command = self.fairdeal(node);
        command.env("FAIRDEAL_PAGE", page);
        command
    }
}

fn is_peer(seat: u32, state: &'static str) -> impl Fn(&Value) -> bool {
    move |event| event["event"] == "peer" && event["seat"] == seat && event["state"] == state
}

/// Two programs and two browsers on a LAN, the one with the page from the host, the other with the page from its disk. One
/// browser's cable is out for a while. Then the host's machine is gone for good: the others play on without it, through the
/// door of the other program.
#[tokio::test(flavor = "multi_thread")]
async fn browsers_of_a_lan_play_on_without_their_host() {
    let (Some(page), Some(mut lab)) = (page(), Lab::new()) else { return };
    let root = TempDir::new().unwrap();
    let switch = lab.switch();
    let [(hosts, hosts_port), (guests, _), (ones, ones_port), (others, _)] =
        LAN.map(|address| lab.lan_machine(address, switch));
    let (Some(one), Some(other)) = (lab.browser(ones).await, lab.browser(others).await) else { return };
    let host = ["bot", "host", "loot", "--json", "--seats", "4", "--option", "target=60", "--option", "absence=30"];
    let mut host = Program::start_by(lab.with_page(hosts, &page), root.path(), "host", &host);
    let ticket: Ticket = host.ticket().parse().unwrap();
    let guest = ["bot", "join", &ticket.to_string(), "--json"];
    let mut guest = Program::start_by(lab.with_page(guests, &page), root.path(), "guest", &guest);
    guest.wait_for("seated").unwrap();
    let link = ticket.link(true).expect("the host has a door").url;
    assert!(link.starts_with("http://10.0.0.1:"), "{link}");
    one.sits_down(&link, "Ada").await;
    other.sits_down_from_disk(&page, &ticket.to_string(), "Ben").await;
    let (first, second) = tokio::join!(
        async {
            one.acts().await.unwrap();
            lab.cable(&ones_port, false);
            guest.wait_for_matching(is_peer(2, "lost")).expect("a cut is noticed");
            lab.cable(&ones_port, true);
            guest.wait_for_matching(is_peer(2, "connected")).expect("it is back");
            lab.cable(&hosts_port, false);
            one.plays(None).await
        },
        other.plays(None)
    );
    assert!(guest.wait_for_matching(is_peer(0, "removed")).is_some());
    assert!(first == second && first == transcript(&mut guest), "the transcripts differ");
    one.client.clone().close().await.unwrap();
    other.client.clone().close().await.unwrap();
}

/// A host behind its router. A browser in the same home has the page from the host, one in another home from a relay, which
/// carries it; a program plays in that home, too. `FAIRDEAL_ALL_GAMES` plays all games, in minutes.
#[tokio::test(flavor = "multi_thread")]
async fn browsers_of_two_homes_play() {
    let (Some(page), Some(mut lab)) = (page(), Lab::new()) else { return };
    let root = TempDir::new().unwrap();
    let net = lab.switch();
    let public = lab.machine();
    lab.plug(public, "eth0", "203.0.113.1/24", net);
    let (hosts, _) = lab.home("203.0.113.11/24", net);
    let near = lab.beside(hosts);
    let (guests, _) = lab.home("203.0.113.12/24", net);
    let far = lab.beside(guests);
    let (Some(one), Some(other)) = (lab.browser(near).await, lab.browser(far).await) else { return };
    let [chain, key] = certificate(root.path(), "203.0.113.1");
    let options =
        [["--listen", "/ip4/203.0.113.1/tcp/0"], ["--web", "203.0.113.1:443"], ["--cert", &chain], ["--key", &key]];
    let relay = Relay::start_by(lab.with_page(public, &page), root.path(), &options.concat());
    let all = std::env::var_os("FAIRDEAL_ALL_GAMES").is_some();
    for (game, options) in GAMES.into_iter().take(if all { GAMES.len() } else { 1 }) {
        let root = root.path().join(game);
        let host = [&["bot", "host", game, "--json", "--seats", "4", "--relay", &relay.address], options].concat();
        let mut host = Program::start_by(lab.with_page(hosts, &page), &root, "host", &host);
        let link = link_through_relay(&mut host);
        let (door, ticket) = link.split_once("/#").unwrap();
        assert_eq!(door, "https://203.0.113.1");
        let guest = ["bot", "join", ticket, "--json"];
        let mut guest = lab.start(guests, &root, "guest", &guest);
        let ticket: Ticket = ticket.parse().unwrap();
        let own = ticket.addresses().iter().map(Multiaddr::to_string).find_map(|address| {
            let (ip, port) = address.strip_prefix("/ip4/")?.strip_suffix("/ws")?.split_once("/tcp/")?;
            ip.starts_with("192.168.").then(|| format!("http://{ip}:{port}/#{ticket}"))
        });
        one.sits_down(&own.expect("the host has a door"), "Ada").await;
        other.sits_down(&link, "Ben").await;
        let (first, second) = tokio::join!(one.plays(Some(1)), other.plays(Some(1)));
        let (third, fourth) = (transcript(&mut host), transcript(&mut guest));
        assert!(first == second && first == third && first == fourth, "{game}: the transcripts differ");
    }
    one.client.clone().close().await.unwrap();
    other.client.clone().close().await.unwrap();
}
