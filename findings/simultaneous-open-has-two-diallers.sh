#!/usr/bin/env bash
# Two libp2p nodes that dial each other from their listening ports, as a dial does unless told otherwise, while a firewall
# drops the first packets of one of them, get a single TCP connection that both take for their own dial: the handshake fails
# at both, at every attempt. It meets peers of which one is behind a firewall or a home's IPv6 router, as soon as both dial; a
# dial from any other port succeeds at once.
#
# libp2p 0.57.1 (libp2p-tcp 0.45.0). Needs cargo, the network, and Linux with unshare, ip and nft. Exits 0 while it is so.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/src"
cat > "$folder/Cargo.toml" <<'TOML'
[package]
name = "open"
version = "0.0.0"
edition = "2024"

[dependencies]
futures = "=0.3.34"
libp2p = { version = "=0.57.1", features = ["tokio", "tcp", "noise", "yamux", "ping"] }
tokio = { version = "1", features = ["rt-multi-thread", "macros", "sync", "time"] }
TOML
cat > "$folder/src/main.rs" <<'RUST'
use std::time::Duration;

use futures::StreamExt;
use libp2p::swarm::SwarmEvent;
use libp2p::swarm::dial_opts::DialOpts;
use libp2p::{Multiaddr, Swarm, SwarmBuilder, noise, ping, tcp, yamux};
use tokio::time::sleep;

async fn node(port: u16) -> (Swarm<ping::Behaviour>, Multiaddr) {
    let mut swarm = SwarmBuilder::with_new_identity()
        .with_tokio()
        .with_tcp(tcp::Config::default(), noise::Config::new, yamux::Config::default)
        .unwrap()
        .with_behaviour(|_| ping::Behaviour::default())
        .unwrap()
        .build();
    swarm.listen_on(format!("/ip4/127.0.0.1/tcp/{port}").parse().unwrap()).unwrap();
    loop {
        if let SwarmEvent::NewListenAddr { address, .. } = swarm.select_next_some().await {
            return (swarm, address);
        }
    }
}

/// What becomes of the dial of `own`, once the other node's has begun and its packets are dropped.
async fn dials(own_port: bool) -> String {
    let (mut walled, at_walled) = node(if own_port { 47101 } else { 47103 }).await;
    let (mut open, at_open) = node(if own_port { 47102 } else { 47104 }).await;
    open.dial(DialOpts::unknown_peer_id().address(at_walled).build()).unwrap();
    let (sender, mut outcome) = tokio::sync::mpsc::channel(4);
    tokio::spawn(async move {
        loop {
            let said = match open.select_next_some().await {
                SwarmEvent::OutgoingConnectionError { .. } => "the other's failed",
                SwarmEvent::ConnectionEstablished { .. } => "connected",
                _ => continue,
            };
            let _ = sender.send(said).await;
        }
    });
    sleep(Duration::from_millis(500)).await;
    let options = DialOpts::unknown_peer_id().address(at_open);
    walled.dial(if own_port { options.build() } else { options.allocate_new_port().build() }).unwrap();
    let own = loop {
        match walled.select_next_some().await {
            SwarmEvent::OutgoingConnectionError { .. } => break "own failed",
            SwarmEvent::ConnectionEstablished { .. } => break "connected",
            _ => {}
        }
    };
    format!("{own}, {}", outcome.recv().await.unwrap())
}

#[tokio::main]
async fn main() {
    println!("from the listening port: {}", dials(true).await);
    println!("from another port: {}", dials(false).await);
}
RUST
(cd "$folder" && cargo build --quiet)
said=$(unshare -rn bash -c "
ip link set lo up
nft -f - <<'NFT'
table inet wall {
    chain in {
        type filter hook input priority 0; policy accept;
        tcp dport { 47101, 47103 } tcp flags & (syn | ack) == syn drop
    }
}
NFT
exec '$folder/target/debug/open'")
echo "$said"
expected="from the listening port: own failed, the other's failed
from another port: connected, connected"
[ "$said" = "$expected" ]
