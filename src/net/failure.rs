//! Turns libp2p's errors into ours: short, clean, and with what the owner can act on.

use libp2p::connection_limits;
use libp2p::swarm::DialError;

use super::event::clean;
use super::{DialFailure, PeerIdError};

/// Why a dial came to nothing, in our words. None if the peer is connected or being dialled already.
pub(super) fn dial_failure(error: &DialError) -> Option<DialFailure> {
    Some(match error {
        DialError::DialPeerConditionFalse(_) => return None,
        DialError::LocalPeerId { .. } => DialFailure::Ourselves,
        DialError::NoAddresses => DialFailure::NoAddress,
        DialError::Aborted => DialFailure::Aborted,
        DialError::WrongPeerId { obtained, .. } => DialFailure::WrongPeer {
            found: obtained.to_base58(),
        },
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
            errors
                .first()
                .map_or_else(String::new, |(_, error)| clean(&innermost(error))),
        ),
    })
}

/// The last error of a chain: what the system said, without what was made of it.
pub(super) fn innermost(error: &dyn std::error::Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}

#[cfg(test)]
mod tests {
    use std::io;

    use libp2p::core::transport::TransportError;
    use libp2p::swarm::dial_opts::PeerCondition;

    use super::*;

    #[test]
    fn the_systems_own_words_are_what_is_left_of_a_chain() {
        let inner = io::Error::new(io::ErrorKind::ConnectionRefused, "connection\u{1b}refused");
        let errors = vec![("/memory/1".parse().unwrap(), TransportError::Other(inner))];
        assert_eq!(
            dial_failure(&DialError::Transport(errors)),
            Some(DialFailure::Unreachable("connectionrefused".to_owned()))
        );
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
        assert_eq!(
            dial_failure(&DialError::Denied { cause }),
            Some(DialFailure::NotEd25519(reason))
        );
    }
}
