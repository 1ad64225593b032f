//! The door for browsers: an HTTP port that serves the page, and carries libp2p over WebSockets.
//!
//! A browser can open no TCP connection, but WebSockets, and pages can be fetched from anywhere. So a listening address
//! that ends in `/ws` answers HTTP: with the page, or by becoming a WebSocket, whose messages are the bytes of an ordinary
//! libp2p connection (Noise, Yamux). All that follows, with its limits, is that of any other connection. One that ends in
//! `/tls/ws` does the same under a certificate, as browsers want it of names.
//!
//! ```text
//! mod          the transport: HTTP connections in, byte streams of WebSockets out
//! certificate  why a door by https has none
//! tls          the certificate of a door by https
//! http         one request: the page, a WebSocket, or a refusal
//! bytes        the messages of a WebSocket as bytes
//! ```
//!
//! The port dials nobody. An HTTP connection counts as an inbound handshake until it is a WebSocket or gets the page
//! ([`super::handshakes`]), and ends after a minute: slow phones load a page for long. Pages on their way are counted by
//! themselves, so that they and handshakes never cut each other off.

mod bytes;
mod certificate;
mod http;
#[cfg(feature = "tls")]
mod tls;

use std::collections::HashSet;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use fairdeal_peers::address::Network;
use futures::future::{AbortHandle, Abortable};
use libp2p::core::transport::{DialOpts, ListenerId, TransportError, TransportEvent};
use libp2p::multiaddr::Protocol;
use libp2p::{Multiaddr, Transport, tcp};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::handshakes::Handshakes;

pub(super) use bytes::Socket;
#[cfg(not(feature = "tls"))]
pub use certificate::Certificate;
pub use certificate::CertificateError;
pub use hyper::body::Bytes;
#[cfg(feature = "tls")]
pub use tls::Certificate;

/// Maximum time of an HTTP connection that does not become a WebSocket.
const VISIT: Duration = Duration::from_secs(60);
/// Maximum time of a handshake of TLS.
#[cfg(feature = "tls")]
const SECURED: Duration = Duration::from_secs(10);

/// The transport.
pub(super) struct Door {
    tcp: tcp::tokio::Transport,
    page: Option<Bytes>,
    certificate: Option<Certificate>,
    /// The listeners by https.
    secure: HashSet<ListenerId>,
    handshakes: Handshakes,
    downloads: Handshakes,
    /// Connections that are still HTTP.
    visits: JoinSet<Option<Visitor>>,
}

/// A browser whose WebSocket is open.
struct Visitor {
    socket: Socket,
    listener: ListenerId,
    local: Multiaddr,
    remote: Multiaddr,
}

impl Door {
    /// A door that serves this page, if it has one, and listens by https with this certificate.
    pub(super) fn new(page: Option<Bytes>, certificate: Option<Certificate>, handshakes: Handshakes) -> Self {
        let tcp = tcp::tokio::Transport::new(tcp::Config::default().nodelay(true));
        Self {
            tcp,
            page,
            certificate,
            secure: HashSet::new(),
            handshakes,
            downloads: Handshakes::downloads(),
            visits: JoinSet::new(),
        }
    }

    /// The address of a listener's door at this TCP address.
    fn at_door(&self, listener: ListenerId, tcp: Multiaddr) -> Multiaddr {
        at_door(tcp, self.secure.contains(&listener))
    }
}

/// The TCP address of a door's address, and whether it is one by https; `None` for any other.
fn beneath(address: &Multiaddr) -> Option<(Multiaddr, bool)> {
    let mut tcp = address.clone();
    if !matches!(tcp.pop(), Some(Protocol::Ws(path)) if path == "/") {
        return None;
    }
    let is_secure = tcp.iter().last() == Some(Protocol::Tls);
    if is_secure {
        tcp.pop();
    }
    Some((tcp, is_secure))
}

fn at_door(tcp: Multiaddr, is_secure: bool) -> Multiaddr {
    let tcp = if is_secure { tcp.with(Protocol::Tls) } else { tcp };
    tcp.with(Protocol::Ws("/".into()))
}

/// Answers a connection, which is encrypted first where there is a certificate. Calls `on_page` before the page is sent.
async fn visit(
    stream: TcpStream,
    page: Option<Bytes>,
    certificate: Option<Certificate>,
    on_page: impl Fn() + Send,
) -> Option<Socket> {
    match certificate {
        None => http::visit(stream, page, false, on_page).await,
        #[cfg(feature = "tls")]
        Some(certificate) => {
            let stream = tokio::time::timeout(SECURED, certificate.acceptor().accept(stream)).await.ok()?;
            let stream =
                stream.inspect_err(|error| tracing::debug!(%error, "a browser does not accept the certificate"));
            http::visit(stream.ok()?, page, true, on_page).await
        }
        #[cfg(not(feature = "tls"))]
        Some(never) => match never {},
    }
}

impl Transport for Door {
    type Output = Socket;
    type Error = io::Error;
    type ListenerUpgrade = std::future::Ready<io::Result<Socket>>;
    type Dial = std::future::Pending<io::Result<Socket>>;

    fn listen_on(&mut self, id: ListenerId, address: Multiaddr) -> Result<(), TransportError<io::Error>> {
        let is_possible = |is_secure: bool| !is_secure || self.certificate.is_some();
        let found = beneath(&address).filter(|(_, is_secure)| is_possible(*is_secure));
        let (tcp, is_secure) = found.ok_or_else(|| TransportError::MultiaddrNotSupported(address))?;
        self.tcp.listen_on(id, tcp)?;
        if is_secure {
            self.secure.insert(id);
        }
        Ok(())
    }

    fn remove_listener(&mut self, id: ListenerId) -> bool {
        self.secure.remove(&id);
        self.tcp.remove_listener(id)
    }

    fn dial(&mut self, address: Multiaddr, _: DialOpts) -> Result<Self::Dial, TransportError<io::Error>> {
        Err(TransportError::MultiaddrNotSupported(address))
    }

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<TransportEvent<Self::ListenerUpgrade, io::Error>> {
        while let Poll::Ready(Some(visited)) = self.visits.poll_join_next(cx) {
            // A visit that served a page, or came to nothing, is over.
            let Ok(Some(Visitor { socket, listener, local, remote })) = visited else { continue };
            return Poll::Ready(TransportEvent::Incoming {
                listener_id: listener,
                upgrade: std::future::ready(Ok(socket)),
                local_addr: local,
                send_back_addr: remote,
            });
        }
        while let Poll::Ready(event) = Pin::new(&mut self.tcp).poll(cx) {
            let TransportEvent::Incoming { listener_id, upgrade, local_addr, send_back_addr } = event else {
                let event = match event {
                    TransportEvent::NewAddress { listener_id, listen_addr } => {
                        let listen_addr = self.at_door(listener_id, listen_addr);
                        TransportEvent::NewAddress { listener_id, listen_addr }
                    }
                    TransportEvent::AddressExpired { listener_id, listen_addr } => {
                        let listen_addr = self.at_door(listener_id, listen_addr);
                        TransportEvent::AddressExpired { listener_id, listen_addr }
                    }
                    other => other.map_upgrade(|_| std::future::ready(Err(io::ErrorKind::Unsupported.into()))),
                };
                return Poll::Ready(event);
            };
            let from = Network::of(&send_back_addr);
            let (slot, registration) = self.handshakes.begin(from);
            let (abort, of_download) = AbortHandle::new_pair();
            let slot = Arc::new(Mutex::new(slot));
            let (downloads, held) = (self.downloads.clone(), Arc::clone(&slot));
            let on_page = move || {
                *held.lock().unwrap_or_else(PoisonError::into_inner) = downloads.enter(from, abort.clone());
            };
            let page = self.page.clone();
            let certificate = self.certificate.clone().filter(|_| self.secure.contains(&listener_id));
            let (local, remote) = (self.at_door(listener_id, local_addr), self.at_door(listener_id, send_back_addr));
            let visit = async move {
                let stream = upgrade.await.ok()?;
                let visit = visit(stream.into(), page, certificate, on_page);
                let socket = tokio::time::timeout(VISIT, visit).await.ok()??;
                Some(Visitor { socket, listener: listener_id, local, remote })
            };
            self.visits.spawn(async move {
                let visited = Abortable::new(Abortable::new(visit, registration), of_download).await;
                drop(slot);
                visited.ok()?.ok().flatten()
            });
            // What was polled before it knows nothing of the new task.
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests;
