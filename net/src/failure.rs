//! Conversion of libp2p's errors to ours: short, clean, and useful to the owner.

use std::io;

use fairdeal_peers::Multiaddr;
use fairdeal_peers::address::{is_circuit, is_quic};
use fairdeal_peers::peer::PeerIdError;
use libp2p::connection_limits;
use libp2p::core::transport::TransportError;
use libp2p::core::upgrade::NegotiationError;
use libp2p::multiaddr::Protocol;
use libp2p::relay::outbound::hop::{ConnectError, ProtocolViolation, ReserveError};
use libp2p::swarm::DialError;

use super::DialFailure;
use super::event::clean;

/// Why a peer lends no address.
const NO_RELAY: &str = "it is not a relay";

/// The reason for a failed dial, as our type. `None` if the peer is connected or being dialled
/// already.
pub(super) fn dial_failure(error: &DialError) -> Option<DialFailure> {
    Some(match error {
        DialError::DialPeerConditionFalse(_) => return None,
        DialError::LocalPeerId { .. } => DialFailure::Ourselves,
        DialError::NoAddresses => DialFailure::NoAddress,
        DialError::Aborted => DialFailure::Aborted,
        DialError::WrongPeerId { obtained, .. } => DialFailure::WrongPeer { found: obtained.to_base58() },
        DialError::Denied { cause } => {
            if let Some(limit) = cause.downcast_ref::<connection_limits::Exceeded>() {
                DialFailure::TooMany(limit.to_string())
            } else if let Some(error) = cause.downcast_ref::<PeerIdError>() {
                DialFailure::NotEd25519(error.clone())
            } else {
                DialFailure::Unreachable(cause.to_string())
            }
        }
        DialError::Transport(errors) => DialFailure::Unreachable(
            errors.first().map_or_else(String::new, |(address, error)| transport_failure(address, error)),
        ),
    })
}

/// The addresses that a dial failure is about. Among several, these are the first to fail and those that failed the
/// same way.
pub(super) fn concerned(error: &DialError, dialled: Vec<Multiaddr>) -> Vec<Multiaddr> {
    match error {
        DialError::WrongPeerId { address, .. } => vec![without_peer(address)],
        DialError::Transport(errors) => {
            let Some((address, first)) = errors.first() else {
                return dialled;
            };
            let first = transport_failure(address, first);
            let same = errors.iter().filter(|(address, error)| transport_failure(address, error) == first);
            same.map(|(address, _)| without_peer(address)).collect()
        }
        _ => dialled,
    }
}

/// Whether the system refused to dial from our listening port because another socket is bound there; Windows may call
/// that a matter of rights. It may refuse as long as that socket exists, so another port is needed.
pub(super) fn is_own_port_taken(error: &DialError) -> bool {
    let DialError::Transport(errors) = error else {
        return false;
    };
    // The layers above keep the system's error only as text.
    let is_taken = |error: &TransportError<io::Error>| {
        let why = innermost(error);
        let code =
            why.rsplit_once("(os error ").map(|(_, code)| code).and_then(|code| code.strip_suffix(')')?.parse().ok());
        let kind = code.map(|code| io::Error::from_raw_os_error(code).kind());
        matches!(kind, Some(io::ErrorKind::AddrInUse | io::ErrorKind::PermissionDenied))
    };
    errors.iter().any(|(_, error)| is_taken(error))
}

/// An address as its owner gave it, without the dialled peer's id that libp2p adds.
fn without_peer(address: &Multiaddr) -> Multiaddr {
    let mut address = address.clone();
    if let Some(Protocol::P2p(_)) = address.iter().last() {
        address.pop();
    }
    address
}

/// Why an address cannot be used by this build, if so.
pub(super) fn unsupported(address: &Multiaddr) -> Option<&'static str> {
    (is_quic(address) && !cfg!(feature = "quic")).then_some("this program is built without QUIC; use a TCP address")
}

fn transport_failure(address: &Multiaddr, error: &TransportError<io::Error>) -> String {
    if let Some(why) = unsupported(address) {
        return why.to_owned();
    }
    if is_circuit(address) {
        return clean(&relay_failure(error));
    }
    let why = innermost(error);
    // The resolver's error for a name without records is a dump of its query.
    if why.contains("Query {") {
        return "no such name is known".to_owned();
    }
    clean(&why)
}

/// The last error of a chain: the system's own message, without the wrappers and the full stop.
pub(super) fn innermost(error: &dyn std::error::Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    let why = error.to_string();
    refusal_of_relay(&why).unwrap_or(why.trim_end_matches('.')).to_owned()
}

/// Whether a peer does not speak a stream's protocol. A stream is used before its peer has agreed to that, so the refusal
/// comes with the first bytes that are read from it.
pub(super) fn is_refusal(error: &io::Error) -> bool {
    error.get_ref().and_then(|inner| inner.downcast_ref()).is_some_and(|why| matches!(why, NegotiationError::Failed))
}

/// Why a relay does not serve: as [`innermost`], or that it is none.
pub(super) fn relay_failure(error: &dyn std::error::Error) -> String {
    let why = innermost(error);
    if why == NegotiationError::Failed.to_string().trim_end_matches('.') { NO_RELAY.to_owned() } else { why }
}

/// A relay's refusal in a player's words. The layers above keep it only as text.
fn refusal_of_relay(why: &str) -> Option<&'static str> {
    let refusals = [
        // The same text for a reservation and a circuit.
        (ReserveError::ResourceLimitExceeded.to_string(), "the relay serves as many players as it can"),
        (ReserveError::Refused.to_string(), "the relay refuses"),
        (ReserveError::Unsupported.to_string(), NO_RELAY),
        // go-libp2p lends only its public addresses.
        (ProtocolViolation::NoAddressesInReservation.to_string(), "the relay has no public address"),
        (ConnectError::NoReservation.to_string(), "the other player has left the relay"),
        (ConnectError::ConnectionFailed.to_string(), "the relay does not reach the other player"),
    ];
    let found = refusals.into_iter().find(|(text, _)| text == why);
    found.map(|(_, words)| words)
}

#[cfg(test)]
mod tests {
    use libp2p::swarm::dial_opts::PeerCondition;

    use super::*;

    #[test]
    fn error_chain_ends_with_the_system_message() {
        let inner = io::Error::new(io::ErrorKind::ConnectionRefused, "connection\u{1b}refused");
        let errors = vec![("/memory/1".parse().unwrap(), TransportError::Other(inner))];
        assert_eq!(
            dial_failure(&DialError::Transport(errors)),
            Some(DialFailure::Unreachable("connectionrefused".to_owned()))
        );
    }

    #[test]
    fn a_build_without_quic_says_so() {
        let [tcp, quic]: [Multiaddr; 2] =
            ["/ip4/127.0.0.1/tcp/1", "/ip4/127.0.0.1/udp/1/quic-v1"].map(|address| address.parse().unwrap());
        assert_eq!(unsupported(&tcp), None);
        assert_eq!(unsupported(&quic).is_some(), !cfg!(feature = "quic"));
        let error = TransportError::MultiaddrNotSupported(quic.clone());
        let told = transport_failure(&quic, &error);
        assert_eq!(told.contains("without QUIC"), !cfg!(feature = "quic"), "{told}");
    }

    #[test]
    fn failure_names_the_addresses_that_failed_so() {
        let failed = |address: &str, why: &str| {
            let error = io::Error::other(why.to_owned());
            (address.parse().unwrap(), TransportError::Other(error))
        };
        let [one, two, three] = ["/memory/1", "/memory/2", "/memory/3"];
        let error =
            DialError::Transport(vec![failed(one, "refused"), failed(two, "no route"), failed(three, "refused")]);
        let all: Vec<Multiaddr> = [one, two, three].map(|it| it.parse().unwrap()).into();
        let refused = vec![all[0].clone(), all[2].clone()];
        assert_eq!(concerned(&error, all.clone()), refused);
        assert_eq!(concerned(&DialError::Aborted, all.clone()), all);
    }

    #[test]
    fn taken_port_of_our_own_is_noticed() {
        let failed = |error: io::Error| {
            let address = "/ip4/127.0.0.1/tcp/1".parse().unwrap();
            DialError::Transport(vec![(address, TransportError::Other(error))])
        };
        // Two sockets on one port give the system's own error.
        let one = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let two = std::net::TcpListener::bind(one.local_addr().unwrap());
        let taken = two.unwrap_err();
        assert!(is_own_port_taken(&failed(io::Error::other(taken))));
        // EACCES, or what Windows says for it.
        let denied = io::Error::from_raw_os_error(if cfg!(windows) { 10013 } else { 13 });
        assert!(is_own_port_taken(&failed(denied)));
        assert!(!is_own_port_taken(&failed(io::Error::other("refused"))));
        assert!(!is_own_port_taken(&DialError::Aborted));
    }

    #[test]
    fn unknown_name_is_told_in_words() {
        let why = "no records found for Query { name: Name(\"x.\"), query_type: A }";
        let error = TransportError::Other(io::Error::other(why));
        assert_eq!(transport_failure(&"/dns/nowhere.example/tcp/1".parse().unwrap(), &error), "no such name is known");
    }

    #[test]
    fn refusal_of_a_relay_is_told_in_words() {
        let error = io::Error::other(ReserveError::ResourceLimitExceeded);
        assert_eq!(innermost(&error), "the relay serves as many players as it can");
        let none = ReserveError::Protocol(ProtocolViolation::NoAddressesInReservation);
        assert_eq!(innermost(&io::Error::other(none)), "the relay has no public address");
    }

    #[test]
    fn a_dial_that_is_not_needed_is_no_failure() {
        let condition = PeerCondition::DisconnectedAndNotDialing;
        let error = DialError::DialPeerConditionFalse(condition);
        assert_eq!(dial_failure(&error), None);
    }

    #[test]
    fn a_peer_with_another_kind_of_key_is_named_as_such() {
        let reason = PeerIdError::OtherKind("Qm".to_owned());
        let cause = libp2p::swarm::ConnectionDenied::new(reason.clone());
        assert_eq!(dial_failure(&DialError::Denied { cause }), Some(DialFailure::NotEd25519(reason)));
    }
}
