//! A behaviour that a build may leave out: where its cargo feature is off, one that does nothing stands in.

/// Asks the home's router for a port.
#[cfg(feature = "upnp")]
pub(super) type Upnp = libp2p::upnp::tokio::Behaviour;
/// Asks the home's router for a port: left out of this build.
#[cfg(not(feature = "upnp"))]
pub(super) type Upnp = libp2p::swarm::dummy::Behaviour;

/// The router's side, in a build that has it.
pub(super) fn upnp() -> Option<Upnp> {
    #[cfg(feature = "upnp")]
    return Some(Upnp::default());
    #[cfg(not(feature = "upnp"))]
    return None;
}
