//! The router's task, which a build may omit: without its cargo feature, a value that cannot exist takes its place.

#[cfg(feature = "upnp")]
pub(super) use super::router::Router;

/// Starts asking the home's router for ports, if this build can.
pub(super) fn router() -> Option<Router> {
    #[cfg(feature = "upnp")]
    return Some(Router::start());
    #[cfg(not(feature = "upnp"))]
    return None;
}

/// This build does not ask the home's router for ports.
#[cfg(not(feature = "upnp"))]
pub(super) enum Router {}

#[cfg(not(feature = "upnp"))]
impl Router {
    pub(super) fn listens(&self, _: Vec<libp2p::Multiaddr>) {
        match *self {}
    }

    pub(super) async fn news(&mut self) -> super::ReachNews {
        match *self {}
    }

    pub(super) fn stop(&mut self) {
        match *self {}
    }

    pub(super) async fn stopped(self) {
        match self {}
    }
}
