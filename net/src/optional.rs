//! A behaviour that a build may omit: without its cargo feature, a dummy takes its place.

/// The behaviour that asks the home's router for a port.
#[cfg(feature = "upnp")]
pub(super) type Upnp = libp2p::upnp::tokio::Behaviour;
/// A dummy: this build does not ask the home's router for a port.
#[cfg(not(feature = "upnp"))]
pub(super) type Upnp = libp2p::swarm::dummy::Behaviour;

/// The router behaviour, if this build has it.
pub(super) fn upnp() -> Option<Upnp> {
    #[cfg(feature = "upnp")]
    return Some(Upnp::default());
    #[cfg(not(feature = "upnp"))]
    return None;
}
