//! The relay: lets friends behind routers connect, and lists their open tables. Any friend with a reachable address can
//! run one. With `--web` it serves the page for browsers and carries them too. Monitors read its metrics and health over
//! HTTP.

mod args;
mod health;
mod http;
mod metrics;
mod open_files;

use std::net::SocketAddr;
use std::time::{SystemTime, UNIX_EPOCH};

use fairdeal_net::everywhere;
use fairdeal_net::{Certificate, Node, NodeConfig, NodeError, NodeEvent, NodeHandle, Reach, Transport};
use fairdeal_peers::address::{door_at, door_url, is_loopback, with_certificate};

use tokio::net::TcpListener;

use super::args::Common;
use super::exit::{Exit, usage};
use super::output::say;
use crate::signals::Signals;
use crate::store::DataDir;
use crate::table_page::table_page;

pub(super) use args::Relay;

/// The default port. A fixed port keeps the address that friends have saved.
const PORT: u16 = 4001;

/// The use of the addresses that follow.
const HEADING: &str = "As a relay: fairdeal host GAME --relay ADDRESS
As a meeting point: fairdeal host GAME --meet ADDRESS; fairdeal join --meet ADDRESS
where ADDRESS is one of";

/// Runs the relay until it is interrupted, or asks a running one for its health.
pub(super) fn relay(common: &Common, relay: Relay) -> anyhow::Result<Exit> {
    if let Some(address) = relay.health {
        return health::ask(address);
    }
    open_files::allow(relay.max_connections())?;
    let data = DataDir::open(common.data_dir.as_deref())?;
    let identity = data.identity()?;
    let mut config = NodeConfig::new(Transport::Sockets);
    config.reach = Reach::Relay;
    config.max_connections = relay.max_connections();
    // One, and another while the first is lost and not yet missed: a network with many reservations leaves room for
    // others.
    config.max_connections_per_peer = 2;
    config.relay = relay.limits();
    // A relay takes part in no game, so it accepts no messages.
    config.max_message = 1;
    config.listen = if relay.listen.is_empty() { everywhere(PORT) } else { relay.listen };
    if !relay.web.is_empty() {
        config.page = table_page();
        if config.page.is_none() {
            say(
                "This build has no page for browsers. Whoever has their own table.html can open it and paste the ticket.",
            )?;
        }
        if let Some((chain, key)) = relay.cert.zip(relay.key) {
            config.certificate = Some(Certificate::read(&chain, &key).map_err(usage)?);
        }
        let is_secure = config.certificate.is_some();
        let doors = relay.web.into_iter().map(door_at);
        config.listen.extend(doors.map(|door| if is_secure { with_certificate(&door) } else { door }));
    }
    let browsers = if config.page.is_some() { "Page for browsers" } else { "Browsers connect at" };
    // Its connections are many, and have nothing to do with each other.
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let (node, mut events) = Node::spawn(&identity.signing_key(), config).map_err(|error| match error {
            NodeError::Listen { .. } => usage(error),
            error => error.into(),
        })?;
        let mut signals = Signals::new()?;
        let me = node.local_peer();
        if let Some(address) = relay.metrics {
            let address = serve_monitors(address, node.clone()).await?;
            say(format!("Metrics: http://{address}/metrics; health: http://{address}/health"))?;
        }
        // Before the first of them.
        let mut heading = Some(HEADING);
        loop {
            tokio::select! {
                event = events.recv() => match event {
                    Some(NodeEvent::Listening(address)) => {
                        let only = if is_loopback(&address) { " (from this machine only)" } else { "" };
                        match door_url(&address) {
                            Some(page) => say(format!("{browsers}: {page}{only}"))?,
                            None => {
                                heading.take().map_or(Ok(()), say)?;
                                say(format!("  {address}/p2p/{me}{only}"))?;
                            }
                        }
                    }
                    Some(NodeEvent::Connected { peer, .. }) => {
                        tracing::info!(%peer, "connected");
                    }
                    Some(_) => {}
                    None => return Ok(Exit::Failed),
                },
                () = signals.recv() => {
                    node.shutdown().await;
                    return Ok(Exit::Interrupted);
                }
            }
        }
    })
}

/// Serves metrics and health while the runtime runs, and returns where.
async fn serve_monitors(address: SocketAddr, node: NodeHandle) -> anyhow::Result<SocketAddr> {
    let unusable = |error| {
        usage(format_args!("cannot serve metrics at {address}: {error}; choose another address with --metrics"))
    };
    let listener = TcpListener::bind(address).await.map_err(unusable)?;
    let address = listener.local_addr()?;
    let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    tokio::spawn(http::serve(listener, http::TIMEOUT, move |page| answer(node.clone(), page, started)));
    Ok(address)
}

async fn answer(node: NodeHandle, page: http::Page, started: u64) -> http::Answer {
    let ended = |error: NodeError| error.to_string();
    match page {
        http::Page::Metrics => Ok(metrics::text(&node.metrics().await.map_err(ended)?, started)),
        http::Page::Health if node.addresses().await.map_err(ended)?.is_empty() => {
            Err("the relay listens on no address".to_owned())
        }
        http::Page::Health => Ok("ok\n".to_owned()),
    }
}
