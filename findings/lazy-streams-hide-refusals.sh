#!/bin/bash
# A rust-libp2p swarm whose streams are negotiated lazily, to save a round trip, no longer says that a peer does not speak
# a protocol: a request that nobody understands fails with an input/output error, as if the connection had broken.
# Whoever sets that option meets this and can no longer tell an older version, which wants no second try, from bad luck.
#
# libp2p 0.57.1, request-response over the memory transport; the option is
# Config::with_substream_upgrade_protocol_override. On the wire both are the same. Needs cargo and the network. Exits 0
# while it is so.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

mkdir src
cat >Cargo.toml <<'TOML'
[package]
name = "ask"
version = "0.0.0"
edition = "2021"
[dependencies]
libp2p = { version = "=0.57.1", features = ["tokio", "noise", "yamux", "request-response", "cbor", "macros", "ed25519"] }
tokio = { version = "=1.54.1", features = ["rt", "macros"] }
futures = "=0.3.34"
TOML
cat >src/main.rs <<'RUST'
use futures::StreamExt;
use libp2p::core::{transport::MemoryTransport, upgrade::Version};
use libp2p::request_response::{self, cbor, ProtocolSupport};
use libp2p::swarm::{dummy, Config, NetworkBehaviour, SwarmEvent};
use libp2p::{identity::Keypair, noise, yamux, StreamProtocol, Swarm, Transport};
use std::time::Duration;

fn swarm<B: NetworkBehaviour>(behaviour: B, lazy: bool) -> Swarm<B> {
    let key = Keypair::generate_ed25519();
    let transport = MemoryTransport::new()
        .upgrade(Version::V1)
        .authenticate(noise::Config::new(&key).unwrap())
        .multiplex(yamux::Config::default())
        .boxed();
    let mut config = Config::with_tokio_executor().with_idle_connection_timeout(Duration::from_secs(60));
    if lazy {
        config = config.with_substream_upgrade_protocol_override(Version::V1Lazy);
    }
    Swarm::new(transport, behaviour, key.public().to_peer_id(), config)
}

async fn ask(lazy: bool) -> String {
    // A peer that speaks nothing.
    let mut mute = swarm(dummy::Behaviour, false);
    mute.listen_on("/memory/0".parse().unwrap()).unwrap();
    let address = loop {
        if let SwarmEvent::NewListenAddr { address, .. } = mute.select_next_some().await {
            break address;
        }
    };
    let peer = *mute.local_peer_id();
    tokio::task::spawn_local(async move { while mute.next().await.is_some() {} });
    let protocols = [(StreamProtocol::new("/question/1"), ProtocolSupport::Full)];
    let mut asks = swarm(cbor::Behaviour::<u8, u8>::new(protocols, request_response::Config::default()), lazy);
    asks.dial(address).unwrap();
    loop {
        match asks.select_next_some().await {
            SwarmEvent::ConnectionEstablished { .. } => drop(asks.behaviour_mut().send_request(&peer, 1)),
            SwarmEvent::Behaviour(request_response::Event::OutboundFailure { error, .. }) => {
                return format!("{error:?}").split('(').next().unwrap().to_owned();
            }
            _ => {}
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    tokio::task::LocalSet::new()
        .run_until(async {
            for (name, lazy) in [("eager", false), ("lazy", true)] {
                println!("{name}: {}", ask(lazy).await);
            }
        })
        .await;
}
RUST
said=$(cargo run --quiet | xargs)
echo "$said"
[ "$said" = "eager: UnsupportedProtocols lazy: Io" ]
