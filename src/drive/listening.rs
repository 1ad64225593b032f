//! Where a session's node listens: at its configured addresses or as near to them as possible. Taken addresses are
//! bound when free.

use ed25519_dalek::SigningKey;
use fairdeal_net::{Node, NodeConfig, NodeError, NodeEvent, NodeHandle, Reach, everywhere};
use fairdeal_peers::Multiaddr;
use fairdeal_peers::address::{any_port, door_beside, is_door, is_loopback};
use tokio::sync::mpsc;

use fairdeal_session::frame::MAX_FRAME;
use fairdeal_session::setup::ListenConfig;

use crate::table_page::table_page;

/// Where to listen while another session holds these addresses, and which ones to bind when free.
pub(super) fn elsewhere(place: &ListenConfig) -> (Vec<Multiaddr>, Vec<Multiaddr>) {
    let anywhere: Vec<Multiaddr> = place.listen.iter().map(any_port).collect();
    let named = place.listen.iter().filter(|address| !anywhere.contains(address)).cloned().collect();
    (anywhere, named)
}

pub(super) type Spawned = (NodeHandle, mpsc::Receiver<NodeEvent>);

/// Spawns a node that listens where it did before, or as near as possible. Also returns the addresses to bind when
/// free.
pub(super) fn spawn_near(key: &SigningKey, mut config: NodeConfig) -> Result<(Spawned, Vec<Multiaddr>), NodeError> {
    let wanted = config.listen.clone();
    loop {
        let failed = match Node::spawn(key, config.clone()) {
            Ok(spawned) => return Ok((spawned, still_awaited(&wanted, &config.listen))),
            Err(NodeError::Listen { address, .. }) => address,
            Err(error) => return Err(error),
        };
        let Some(listen) = without(&config.listen, &failed) else {
            // None of the wanted addresses is left: this machine's addresses have changed.
            config.listen = everywhere(0);
            if wanted.iter().any(is_door) {
                config.listen = with_doors(config.listen);
            }
            let spawned = Node::spawn(key, config)?;
            return Ok((spawned, Vec::new()));
        };
        config.listen = listen;
    }
}

/// The addresses to listen on after `failed` could not be bound. Any port replaces its port, since this seat can still
/// dial the others from there. If any port failed too, the address is dropped. `None` if no address is left.
fn without(listen: &[Multiaddr], failed: &Multiaddr) -> Option<Vec<Multiaddr>> {
    let nearby = any_port(failed);
    let mut nearby = (!listen.contains(&nearby)).then_some(nearby);
    let left: Vec<Multiaddr> = listen
        .iter()
        .filter_map(|address| if address == failed { nearby.take() } else { Some(address.clone()) })
        .collect();
    // An address outside the list could fail forever.
    let is_progress = !left.is_empty() && left != listen;
    is_progress.then_some(left)
}

/// Wanted addresses that another program holds, while this node listens on any port there.
fn still_awaited(wanted: &[Multiaddr], listen: &[Multiaddr]) -> Vec<Multiaddr> {
    let is_awaited = |address: &&Multiaddr| !listen.contains(address) && listen.contains(&any_port(address));
    wanted.iter().filter(is_awaited).cloned().collect()
}

/// Addresses to listen on, with a door for browsers beside each that is not of this machine alone.
pub fn with_doors(mut listen: Vec<Multiaddr>) -> Vec<Multiaddr> {
    let doors: Vec<Multiaddr> = listen.iter().filter(|address| !is_loopback(address)).filter_map(door_beside).collect();
    listen.extend(doors);
    listen
}

/// The node configuration of a session.
pub(super) fn config_of(place: &ListenConfig, is_host: bool) -> NodeConfig {
    let mut config = NodeConfig::new(place.transport);
    config.listen.clone_from(&place.listen);
    config.external.clone_from(&place.external);
    config.relays.clone_from(&place.relays);
    config.max_message = MAX_FRAME;
    if place.listen.iter().any(is_door) {
        config.page = table_page();
    }
    config.reach = match (place.is_local(), is_host) {
        (true, _) => Reach::Off,
        (false, true) => Reach::Host,
        (false, false) => Reach::Guest,
    };
    config
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(all: &[&str]) -> Vec<Multiaddr> {
        all.iter().map(|text| text.parse().unwrap()).collect()
    }

    /// The addresses left after these failures in turn, and the awaited ones.
    fn left(wanted: &[&str], failing: &[&str]) -> Option<(Vec<Multiaddr>, Vec<Multiaddr>)> {
        let wanted = addresses(wanted);
        let mut listen = wanted.clone();
        for failed in addresses(failing) {
            listen = without(&listen, &failed)?;
        }
        let awaited = still_awaited(&wanted, &listen);
        Some((listen, awaited))
    }

    const HERE: &str = "/ip4/10.0.0.1/tcp/7";
    const HERE_ANY: &str = "/ip4/10.0.0.1/tcp/0";
    const QUIC: &str = "/ip4/10.0.0.1/udp/7/quic-v1";
    const THERE: &str = "/ip4/10.0.0.2/tcp/7";
    const THERE_ANY: &str = "/ip4/10.0.0.2/tcp/0";

    #[test]
    fn only_unavailable_addresses_are_given_up() {
        let some = |listen: &[&str], awaited: &[&str]| Some((addresses(listen), addresses(awaited)));
        let all = [HERE, QUIC, THERE];
        assert_eq!(left(&all, &[]), some(&all, &[]));
        let busy = left(&all, &[THERE]);
        assert_eq!(busy, some(&[HERE, QUIC, THERE_ANY], &[THERE]));
        let gone = left(&all, &[THERE, THERE_ANY]);
        assert_eq!(gone, some(&[HERE, QUIC], &[]));
        let both = left(&all, &[HERE, THERE, THERE_ANY]);
        assert_eq!(both, some(&[HERE_ANY, QUIC], &[HERE]));
        assert_eq!(left(&[HERE], &[HERE, HERE_ANY]), None, "nothing is left");
    }

    #[test]
    fn one_any_port_stands_for_many() {
        let other = "/ip4/10.0.0.1/tcp/8";
        let (listen, awaited) = left(&[HERE, other], &[HERE, other]).unwrap();
        assert_eq!(listen, addresses(&[HERE_ANY]));
        assert_eq!(awaited, addresses(&[HERE, other]));
        assert_eq!(left(&[HERE], &[THERE]), None, "it would never end");
    }

    #[tokio::test]
    async fn a_good_port_is_kept_beside_a_bad_one() {
        let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let [taken_port, free_port] = [&taken, &free].map(|one| one.local_addr().unwrap().port());
        drop(free);
        let at = |port: u16| format!("/ip4/127.0.0.1/tcp/{port}");
        // A documentation address belongs to no machine.
        let gone = "/ip4/192.0.2.1/tcp/7";
        let mut config = NodeConfig::new(fairdeal_net::Transport::Sockets);
        config.listen = addresses(&[gone, &at(taken_port), &at(free_port)]);
        config.reach = Reach::Off;
        let key = SigningKey::from_bytes(&[1; 32]);
        let ((node, mut events), awaited) = spawn_near(&key, config).unwrap();
        assert_eq!(awaited, addresses(&[&at(taken_port)]));
        let mut heard = Vec::new();
        while heard.len() < 2 {
            if let NodeEvent::Listening(address) = events.recv().await.unwrap() {
                heard.push(address);
            }
        }
        assert!(heard.contains(&addresses(&[&at(free_port)])[0]), "{heard:?}");
        node.shutdown().await;
        drop(taken);
    }
}
