#!/usr/bin/env bash
# A libp2p relay counts a request for a circuit against the asker's rate limit before it looks whether the other peer has a
# reservation, so requests that were refused because nobody is there use up the limit for the one that would succeed.
# It meets programs that ask again and again until a friend is back: by default after thirty tries, one more every two
# minutes, and then the answer is "resource limit exceeded" although no circuit was ever opened.
#
# libp2p 0.57.1 (libp2p-relay 0.22.0). Needs cargo and the network. Exits 0 while it is so.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/src"
cat > "$folder/Cargo.toml" <<'TOML'
[package]
name = "circuits"
version = "0.0.0"
edition = "2024"

[dependencies]
futures = "=0.3.34"
libp2p = { version = "=0.57.1", features = ["tokio", "tcp", "noise", "yamux", "relay"] }
libp2p-relay = "=0.22.0"
tokio = { version = "1", features = ["rt-multi-thread", "macros", "time"] }
TOML
cat > "$folder/src/main.rs" <<'RUST'
use std::num::NonZeroU32;
use std::time::Duration;

use futures::StreamExt;
use libp2p::identity::Keypair;
use libp2p::multiaddr::Protocol;
use libp2p::swarm::SwarmEvent;
use libp2p::{Multiaddr, PeerId, SwarmBuilder, noise, relay, tcp, yamux};

/// The innermost reason of an error.
fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    error.source().map_or_else(|| error.to_string(), innermost)
}

#[tokio::main]
async fn main() {
    let key = Keypair::generate_ed25519();
    let point = key.public().to_peer_id();
    // Two circuits at once, then one an hour; nothing else is limited.
    let limited = relay::Config { circuit_src_rate_limiters: Vec::new(), ..relay::Config::default() }
        .circuit_src_per_peer(NonZeroU32::new(2).unwrap(), Duration::from_secs(3600));
    let mut server = SwarmBuilder::with_existing_identity(key)
        .with_tokio()
        .with_tcp(tcp::Config::default(), noise::Config::new, yamux::Config::default)
        .unwrap()
        .with_behaviour(|key| {
            let mut relay = relay::Behaviour::new(key.public().to_peer_id(), limited);
            // Without an address of the internet it would stay off.
            relay.set_status(Some(relay::Status::Enable));
            relay
        })
        .unwrap()
        .build();
    server.listen_on("/ip4/127.0.0.1/tcp/0".parse().unwrap()).unwrap();
    let address: Multiaddr = loop {
        if let SwarmEvent::NewListenAddr { address, .. } = server.select_next_some().await {
            break address.with(Protocol::P2p(point));
        }
    };
    tokio::spawn(async move {
        loop {
            server.select_next_some().await;
        }
    });
    let mut client = SwarmBuilder::with_new_identity()
        .with_tokio()
        .with_tcp(tcp::Config::default(), noise::Config::new, yamux::Config::default)
        .unwrap()
        .with_relay_client(noise::Config::new, yamux::Config::default)
        .unwrap()
        .with_behaviour(|_, relayed| relayed)
        .unwrap()
        .build();
    for number in 1..=3 {
        // Nobody has a reservation.
        let absent = PeerId::random();
        let circuit = address.clone().with(Protocol::P2pCircuit).with(Protocol::P2p(absent));
        client.dial(circuit).unwrap();
        let why = loop {
            if let SwarmEvent::OutgoingConnectionError { error, .. } = client.select_next_some().await {
                break format!("{error:?} {}", innermost(&error));
            }
        };
        let said = if why.contains("NoReservation") || why.contains("no reservation") {
            "no reservation"
        } else if why.contains("ResourceLimitExceeded") || why.contains("esource limit exceeded") {
            "resource limit exceeded"
        } else {
            why.as_str()
        };
        println!("{number}: {said}");
    }
}
RUST
said=$(cd "$folder" && cargo run --quiet)
echo "$said"
expected="1: no reservation
2: no reservation
3: resource limit exceeded"
[ "$said" = "$expected" ]
