//! Ports that the home's router opens by UPnP: they are closed again when the node ends.
//!
//! A task of its own asks the router ([`gateway`]), so that nothing else waits for it. The node tells it where it
//! listens, and hears what the router says ([`ReachNews`]). A port that was asked for is noted before the request leaves,
//! so that it is closed even if the answer never comes.

mod gateway;

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use fairdeal_peers::address::{is_door, is_global};
use libp2p::Multiaddr;
use libp2p::multiaddr::Protocol;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::ReachNews;
use super::interfaces::{Interfaces, first_ip, source_towards};
use gateway::{Fault, Gateway, NO_LEASES, NO_SUCH_ENTRY, NOT_AUTHORIZED, PORT_IN_USE, Port, SAME_PORTS_ONLY};

/// The lease of a port, in seconds: a program that is killed leaves it open until then.
const LEASE: u32 = 1200;
/// A lease without an end, for routers that know no other.
const FOR_GOOD: u32 = 0;
/// Pause before the router is asked again for what it has granted, or looked for again.
const AGAIN: Duration = Duration::from_secs(600);
/// Time for more addresses to come up before the router is asked.
const SETTLE: Duration = Duration::from_millis(100);
/// Time for closing all ports when the node ends.
const CLOSE: Duration = Duration::from_millis(1800);
/// Pause before a port is looked up again of which the router knows nothing yet.
const SOON: Duration = Duration::from_millis(300);
/// Number of ports that are asked for in place of one that another device has.
const OTHERS: usize = 3;
/// Maximum number of ports kept open.
const MAX_PORTS: usize = 8;
/// Maximum number of unread news.
const NEWS: usize = 16;

/// The node's end of the task.
pub(super) struct Router {
    /// Where the node listens; dropped when the ports have to be closed.
    listening: Option<watch::Sender<Vec<Multiaddr>>>,
    news: mpsc::Receiver<ReachNews>,
    task: JoinHandle<()>,
}

impl Router {
    /// Starts the task. Call it within a tokio runtime.
    pub(super) fn start() -> Self {
        let (listening, addresses) = watch::channel(Vec::new());
        let (sender, news) = mpsc::channel(NEWS);
        let task = tokio::spawn(run(addresses, sender));
        Self { listening: Some(listening), news, task }
    }

    /// Tells where the node listens now.
    pub(super) fn listens(&self, addresses: Vec<Multiaddr>) {
        if let Some(listening) = &self.listening {
            listening.send_if_modified(|before| {
                let changed = *before != addresses;
                *before = addresses;
                changed
            });
        }
    }

    /// The next news.
    pub(super) async fn news(&mut self) -> ReachNews {
        match self.news.recv().await {
            Some(news) => news,
            None => std::future::pending().await,
        }
    }

    /// Begins to close all ports.
    pub(super) fn stop(&mut self) {
        self.listening = None;
        self.news.close();
    }

    /// Returns when all ports are closed, or the router has had its time.
    pub(super) async fn stopped(mut self) {
        self.stop();
        if timeout(CLOSE + SOON, &mut self.task).await.is_err() {
            tracing::warn!("the router did not confirm in time that it has closed the ports");
        }
    }
}

async fn run(mut addresses: watch::Receiver<Vec<Multiaddr>>, news: mpsc::Sender<ReachNews>) {
    let mut ports = Ports { gateway: None, opened: HashMap::new(), told: None, news };
    loop {
        let listening = addresses.borrow_and_update().clone();
        tokio::select! {
            changed = addresses.changed() => if changed.is_err() { break },
            () = ports.keep(&listening) => {}
        }
    }
    if timeout(CLOSE, ports.close()).await.is_err() {
        tracing::warn!("the router does not answer: a port may stay open until its lease ends");
    }
}

/// A port that the router was asked to open.
#[derive(Clone, Debug)]
struct Opened {
    /// Its number at the router.
    external: u16,
    /// Whether the router has granted this number. Otherwise it may be another device's.
    granted: bool,
    /// The address that leads to it, if one does.
    address: Option<Multiaddr>,
}

/// A router that opens ports.
#[derive(Clone, Debug)]
struct Found {
    gateway: Gateway,
    /// The address of this machine from which it was found.
    bound: Ipv4Addr,
    /// The address of this machine that it sees.
    local: Ipv4Addr,
    /// Its own address on the internet.
    external: Ipv4Addr,
}

struct Ports {
    /// The last one that answered.
    gateway: Option<Found>,
    opened: HashMap<Port, Opened>,
    /// The last news about the router itself.
    told: Option<ReachNews>,
    news: mpsc::Sender<ReachNews>,
}

impl Ports {
    /// Keeps open what leads to these addresses, and nothing else, until dropped.
    async fn keep(&mut self, listening: &[Multiaddr]) {
        sleep(SETTLE).await;
        loop {
            self.update(listening).await;
            sleep(AGAIN).await;
        }
    }

    /// Asks the router once for everything that is missing, or whose lease is half over.
    async fn update(&mut self, listening: &[Multiaddr]) {
        if listening.iter().all(|address| Port::of(address).is_none()) {
            return self.shut(|_| true).await;
        }
        let found = match self.look().await {
            Ok(found) => found,
            Err(news) => {
                self.lose();
                return self.tell(news);
            }
        };
        let mine = listening.iter().filter(|address| first_ip(address) == Some(found.local.into()));
        let mut wanted: Vec<(Port, Multiaddr)> = Vec::new();
        for address in mine {
            if let Some(port) = Port::of(address)
                && wanted.iter().all(|(other, _)| *other != port)
                && wanted.len() < MAX_PORTS
            {
                wanted.push((port, address.clone()));
            }
        }
        // Most friends come by TCP, and browsers after them: a ticket is of use as soon as programs can follow it.
        wanted.sort_by_key(|(port, address)| (is_door(address), port.transport));
        self.shut(|port| wanted.iter().all(|(wanted, _)| wanted != port)).await;
        for (port, address) in wanted {
            if let Err(news) = self.open(&found, port, &address).await {
                self.tell(news);
            }
        }
    }

    /// The router, and its address on the internet now.
    async fn look(&mut self) -> Result<Found, ReachNews> {
        let bound = Interfaces::now().towards_router().ok_or(ReachNews::NoRouter)?;
        if is_global(bound) {
            return Err(ReachNews::NoRouterNeeded);
        }
        // The last router stays known: ports may have to be closed there.
        let known = self.gateway.clone().filter(|found| found.bound == bound);
        if let Some(known) = known
            && let Ok(external) = external_ip(&known.gateway).await
        {
            self.forget_other(external);
            return Ok(self.gateway.insert(Found { external, ..known }).clone());
        }
        let gateway = Gateway::search(bound).await.ok_or(ReachNews::NoUpnp)?;
        let external = external_ip(&gateway).await?;
        // The router's side of the LAN may be another one than that of the default route.
        let local = match source_towards(gateway.addr.ip()) {
            Some(IpAddr::V4(ip)) => ip,
            _ => bound,
        };
        if self.gateway.as_ref().is_some_and(|old| old.gateway != gateway) {
            // Another network: the new router's ports of these numbers may be of other devices.
            self.lose();
            let _ = timeout(CLOSE, self.close()).await;
        }
        self.forget_other(external);
        let found = Found { gateway, bound, local, external };
        Ok(self.gateway.insert(found).clone())
    }

    /// Opens a port at the router, or renews its lease.
    async fn open(&mut self, found: &Found, port: Port, address: &Multiaddr) -> Result<(), ReachNews> {
        let Port { transport, number: internal } = port;
        let mut external = self.opened.get(&port).map_or(internal, |opened| opened.external);
        let mut lease = LEASE;
        let mut others = OTHERS;
        loop {
            let asked = Opened { external, granted: false, address: None };
            let opened = self.opened.entry(port).or_insert(asked);
            opened.granted &= opened.external == external;
            opened.external = external;
            let local = (found.local, internal);
            let answer = found.gateway.open(transport, external, local, lease).await;
            tracing::debug!(?transport, internal, external, ?answer, "asked the router for a port");
            match answer {
                Ok(()) => break,
                Err(Fault::Refused { code: NO_LEASES, .. }) if lease != FOR_GOOD => lease = FOR_GOOD,
                Err(Fault::Refused { code: PORT_IN_USE, .. }) if others > 0 => {
                    others -= 1;
                    external = any_dynamic().unwrap_or(internal);
                }
                Err(Fault::Refused { code: PORT_IN_USE | SAME_PORTS_ONLY, .. }) => {
                    self.withdraw(port);
                    return Err(ReachNews::PortTaken(internal));
                }
                Err(fault) => {
                    // Without its answer the router may have opened the port.
                    if matches!(fault, Fault::Refused { .. }) {
                        self.withdraw(port);
                    }
                    return Err(ReachNews::RouterRefused(fault.to_string()));
                }
            }
        }
        let there = outside(address, found.external, external);
        let Some(opened) = self.opened.get_mut(&port) else {
            return Ok(());
        };
        opened.granted = true;
        let before = opened.address.replace(there.clone());
        if before.as_ref() == Some(&there) {
            return Ok(());
        }
        if let Some(before) = before {
            self.send(ReachNews::Unmapped(before));
        }
        self.told = None;
        let instead_of = (external != internal).then_some(internal);
        self.send(ReachNews::Mapped { address: there, instead_of });
        Ok(())
    }

    /// Closes the ports of which this is true.
    async fn shut(&mut self, is_over: impl Fn(&Port) -> bool) {
        let over: Vec<Port> = self.opened.keys().filter(|port| is_over(port)).copied().collect();
        for port in over {
            if let (Some(found), Some(opened)) = (&self.gateway, self.opened.get(&port)) {
                let _ = timeout(CLOSE, close_port(found, port, opened)).await;
            }
            self.withdraw(port);
        }
    }

    /// Forgets a port that the router no longer opens.
    fn withdraw(&mut self, port: Port) {
        if let Some(address) = self.opened.remove(&port).and_then(|opened| opened.address) {
            self.send(ReachNews::Unmapped(address));
        }
    }

    /// The router does not answer: nothing leads through it any more. What was opened is still closed in the end.
    fn lose(&mut self) {
        self.forget(|_| true);
    }

    /// The router has this address on the internet now: others lead nowhere.
    fn forget_other(&mut self, external: Ipv4Addr) {
        self.forget(|address| first_ip(address) != Some(external.into()));
    }

    fn forget(&mut self, is_over: impl Fn(&Multiaddr) -> bool) {
        let over: Vec<Multiaddr> =
            self.opened.values_mut().filter_map(|opened| opened.address.take_if(|address| is_over(address))).collect();
        for address in over {
            self.send(ReachNews::Unmapped(address));
        }
    }

    /// Tells something about the router itself, once.
    fn tell(&mut self, news: ReachNews) {
        if self.told.as_ref() != Some(&news) {
            self.told = Some(news.clone());
            self.send(news);
        }
    }

    /// Waits for nobody, so that no news is lost when the addresses change. The node reads them at once.
    fn send(&self, news: ReachNews) {
        if let Err(error) = self.news.try_send(news) {
            tracing::debug!(%error, "news of the router is dropped");
        }
    }

    /// Closes everything that was opened, or may have been. One after the other: small routers mix up what comes at
    /// once.
    async fn close(&mut self) {
        let Some(found) = self.gateway.take() else { return };
        for (port, opened) in std::mem::take(&mut self.opened) {
            close_port(&found, port, &opened).await;
        }
    }
}

/// Closes a port, unless it is another device's.
async fn close_port(found: &Found, port: Port, opened: &Opened) {
    let Port { transport, number } = port;
    let external = opened.external;
    let closed = if opened.granted || is_ours(found, port, external).await {
        found.gateway.close(transport, external).await
    } else {
        return tracing::debug!(?transport, number, external, "a port is not ours to close");
    };
    match closed {
        Ok(()) => tracing::debug!(?transport, number, external, "the router has closed a port"),
        Err(fault) => tracing::debug!(?transport, number, external, %fault, "a port is not closed"),
    }
}

/// Whether the router forwards this number to the port of this machine.
async fn is_ours(found: &Found, Port { transport, number }: Port, external: u16) -> bool {
    let local = (found.local, number);
    let mut leads = found.gateway.leads_to(transport, external, local).await;
    // The request to open it may still be on its way.
    if let Err(Fault::Refused { code: NO_SUCH_ENTRY, .. }) = leads {
        sleep(SOON).await;
        leads = found.gateway.leads_to(transport, external, local).await;
    }
    leads == Ok(true)
}

/// The router's own address on the internet.
async fn external_ip(gateway: &Gateway) -> Result<Ipv4Addr, ReachNews> {
    let answer = gateway.external_ip().await;
    tracing::debug!(gateway = %gateway.addr, ?answer, "asked the router for its address");
    match answer.map(|text| text.parse().ok()) {
        Ok(Some(IpAddr::V4(ip))) if is_global(ip) => Ok(ip),
        Ok(ip) => Err(ReachNews::RouterNotPublic(ip.filter(|ip| !ip.is_unspecified()))),
        Err(Fault::Refused { code: NOT_AUTHORIZED, .. }) => {
            Err(ReachNews::RouterRefused("it does not tell its address".to_owned()))
        }
        // Some routers tell an error in place of an address.
        Err(Fault::Refused { .. }) => Err(ReachNews::RouterNotPublic(None)),
        Err(Fault::NoAnswer | Fault::Unreadable) => Err(ReachNews::NoUpnp),
    }
}

/// The address that leads to a listening address through the router.
fn outside(address: &Multiaddr, ip: Ipv4Addr, external: u16) -> Multiaddr {
    let each = address.iter().map(|part| match part {
        Protocol::Ip4(_) => Protocol::Ip4(ip),
        Protocol::Tcp(_) => Protocol::Tcp(external),
        Protocol::Udp(_) => Protocol::Udp(external),
        other => other.acquire(),
    });
    each.collect()
}

/// A random number of the ports that no service has.
fn any_dynamic() -> Option<u16> {
    let mut bytes = [0; 2];
    getrandom::fill(&mut bytes).ok()?;
    Some(0xc000 | u16::from_le_bytes(bytes))
}

#[cfg(test)]
mod tests;
