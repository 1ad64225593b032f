//! Behaviours that a build may leave out: where their cargo feature is off, one that does nothing stands in.

#[cfg(not(all(feature = "autonat", feature = "upnp")))]
use libp2p::swarm::dummy;

/// Asks the home's router for a port.
#[cfg(feature = "upnp")]
pub(super) type Upnp = libp2p::upnp::tokio::Behaviour;
/// Asks the home's router for a port: left out of this build.
#[cfg(not(feature = "upnp"))]
pub(super) type Upnp = dummy::Behaviour;

/// Asks other peers whether this one can be reached (AutoNAT v2).
#[cfg(feature = "autonat")]
pub(super) type Asking = libp2p::autonat::v2::client::Behaviour;
/// Asks other peers whether this one can be reached: left out of this build.
#[cfg(not(feature = "autonat"))]
pub(super) type Asking = dummy::Behaviour;

/// Tells other peers whether they can be reached (AutoNAT v2).
#[cfg(feature = "autonat")]
pub(super) type Telling = libp2p::autonat::v2::server::Behaviour;
/// Tells other peers whether they can be reached: left out of this build.
#[cfg(not(feature = "autonat"))]
pub(super) type Telling = dummy::Behaviour;

/// The router's side, in a build that has it.
pub(super) fn upnp() -> Option<Upnp> {
    #[cfg(feature = "upnp")]
    return Some(Upnp::default());
    #[cfg(not(feature = "upnp"))]
    return None;
}

/// The asking side, in a build that has it.
pub(super) fn asking() -> Option<Asking> {
    #[cfg(feature = "autonat")]
    return Some(Asking::default());
    #[cfg(not(feature = "autonat"))]
    return None;
}

/// The telling side, in a build that has it.
pub(super) fn telling() -> Option<Telling> {
    #[cfg(feature = "autonat")]
    return Some(Telling::default());
    #[cfg(not(feature = "autonat"))]
    return None;
}
