//! The relay: lets friends behind routers connect, and lists their open tables. Any friend with a reachable address can
//! run one.

use fairdeal_net::everywhere;
use fairdeal_net::{Node, NodeConfig, NodeError, NodeEvent, Reach, Transport, is_loopback};

use super::args::{Common, Relay};
use super::output::say;
use super::table::runtime;
use super::{Exit, usage};
use crate::signals::Signals;
use crate::store::DataDir;

/// The default port. A fixed port keeps the address that friends have saved.
const PORT: u16 = 4001;
/// The maximum number of connections, of all friends together.
const MAX_CONNECTIONS: u32 = 512;

/// Runs the relay until it is interrupted.
pub(super) fn relay(common: &Common, relay: Relay) -> anyhow::Result<Exit> {
    let data = DataDir::open(common.data_dir.as_deref())?;
    let identity = data.identity()?;
    let mut config = NodeConfig::new(Transport::Sockets);
    config.reach = Reach::Relay;
    config.max_connections = MAX_CONNECTIONS;
    // A relay takes part in no game, so it accepts no messages.
    config.max_message = 1;
    config.listen = if relay.listen.is_empty() {
        everywhere(PORT)
    } else {
        relay.listen
    };
    runtime()?.block_on(async {
        let (node, mut events) = Node::spawn(&identity.signing_key(), config).map_err(|error| match error {
            NodeError::Listen { .. } => usage(error),
            error => error.into(),
        })?;
        let mut signals = Signals::new()?;
        let me = node.local_peer();
        say("As a relay: fairdeal host GAME --relay ADDRESS")?;
        say("As a meeting point: fairdeal host GAME --meet ADDRESS; fairdeal join --meet ADDRESS")?;
        say("where ADDRESS is one of")?;
        loop {
            tokio::select! {
                event = events.recv() => match event {
                    Some(NodeEvent::Listening(address)) if !is_loopback(&address) => {
                        say(format!("  {address}/p2p/{me}"))?;
                    }
                    Some(NodeEvent::Listening(address)) => {
                        say(format!("  {address}/p2p/{me} (from this machine only)"))?;
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
