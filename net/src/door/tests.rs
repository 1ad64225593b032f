//! Browsers at the door: sockets of this machine, with the machine that a page uses at their other end.

use std::net::SocketAddr;

use fairdeal_link::{Connection, Event, LinkError, Refused, StreamName};
use fairdeal_peers::PeerId;
use futures::{SinkExt as _, StreamExt as _};
use getrandom::SysRng;
use getrandom::rand_core::UnwrapErr;
use libp2p::Multiaddr;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{WebSocketStream, client_async};

use super::*;
use crate::tests::{PATIENCE, Side, id, identity, quick, spawn};
use crate::{NodeConfig, NodeEvent, Reach, Transport as Kind};

const PAGE: &str = "<!doctype html><title>the page</title>";
const MOST: usize = 1 << 20;

fn at_a_door() -> NodeConfig {
    let mut config = quick(Kind::Sockets);
    config.listen = vec!["/ip4/127.0.0.1/tcp/0/ws".parse().unwrap()];
    config
}

/// A node with a door, and where the door is.
async fn opened(config: NodeConfig) -> (Side, SocketAddr) {
    let mut side = spawn(1, config);
    let address = side.listening().await;
    let mut parts = address.iter();
    let (Some(Protocol::Ip4(ip)), Some(Protocol::Tcp(port)), Some(Protocol::Ws(_)), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        panic!("{address} is no door")
    };
    (side, (ip, port).into())
}

/// A page's end of a connection.
struct Browser {
    socket: WebSocketStream<TcpStream>,
    link: Connection,
}

async fn socket_at(place: SocketAddr) -> WebSocketStream<TcpStream> {
    let stream = TcpStream::connect(place).await.unwrap();
    client_async(format!("ws://{place}/"), stream).await.unwrap().0
}

impl Browser {
    /// Dials a peer through the relay there.
    async fn dials_through(place: SocketAddr, relay: PeerId, peer: PeerId) -> Self {
        let name = StreamName { program: [9; 8], number: 1 };
        let link = Connection::dial_through(relay, &identity(9), peer, name, MOST, &mut UnwrapErr(SysRng)).unwrap();
        Self { socket: socket_at(place).await, link }
    }

    /// Dials the peer of this number there; `number` is that of its connection.
    async fn dials(seed: u8, place: SocketAddr, peer: PeerId, number: u64) -> Self {
        let name = StreamName { program: [seed; 8], number };
        let link = Connection::dial(&identity(seed), peer, name, MOST, &mut UnwrapErr(SysRng)).unwrap();
        Self { socket: socket_at(place).await, link }
    }

    async fn flush(&mut self) {
        while let Some(bytes) = self.link.take_bytes() {
            self.socket.send(Message::Binary(bytes.into())).await.unwrap();
        }
    }

    /// The next thing that happens, or why the connection ends.
    async fn next(&mut self) -> Result<Event, LinkError> {
        let happens = async {
            loop {
                self.flush().await;
                if let Some(event) = self.link.poll() {
                    return Ok(event);
                }
                match self.socket.next().await {
                    Some(Ok(Message::Binary(bytes))) => {
                        self.link.receive(&bytes)?;
                    }
                    Some(Ok(_)) => {}
                    _ => return Err(LinkError::Ended),
                }
            }
        };
        timeout(PATIENCE, happens).await.expect("waited in vain")
    }
}

#[test]
fn door_is_an_address_that_ends_in_ws() {
    let address = |text: &str| -> Multiaddr { text.parse().unwrap() };
    let tcp = address("/ip4/192.168.1.7/tcp/4002");
    for (is_secure, door) in [(false, "/ip4/192.168.1.7/tcp/4002/ws"), (true, "/ip4/192.168.1.7/tcp/4002/tls/ws")] {
        assert_eq!(at_door(tcp.clone(), is_secure), address(door));
        assert_eq!(beneath(&address(door)), Some((tcp.clone(), is_secure)));
    }
    assert_eq!(beneath(&tcp), None);
    assert_eq!(beneath(&address("/ip4/192.168.1.7/tcp/4002/wss")), None);
}

#[tokio::test]
async fn browser_is_a_peer_like_any_other() {
    let (mut host, place) = opened(at_a_door()).await;
    let mut browser = Browser::dials(2, place, id(1), 1).await;
    assert_eq!(browser.next().await, Ok(Event::Open));
    let address = host
        .until(|event| match event {
            NodeEvent::Connected { peer, address } if peer == id(2) => Some(address),
            _ => None,
        })
        .await;
    assert!(beneath(&address).is_some(), "{address}");
    let long = vec![7; 600_000];
    for message in [b"hello".to_vec(), long.clone()] {
        browser.link.send(&message).unwrap();
        // A long one needs windows from the host, so both have to go on.
        tokio::select! {
            heard = host.message() => assert_eq!(heard, (id(2), message)),
            other = browser.next() => panic!("{other:?}"),
        }
    }
    host.handle.send(id(2), b"good day".to_vec()).unwrap();
    host.handle.send(id(2), long.clone()).unwrap();
    for message in [b"good day".to_vec(), long] {
        assert_eq!(browser.next().await, Ok(Event::Message(message)));
        browser.link.taken().unwrap();
    }
    browser.link.ping().unwrap();
    assert_eq!(browser.next().await, Ok(Event::Pong));
    assert_eq!(browser.link.unanswered(), (0, 0));
    // The node measures too.
    let measured = host.until(|event| matches!(event, NodeEvent::Rtt { peer, .. } if peer == id(2)).then_some(()));
    tokio::select! {
        () = measured => {}
        other = browser.next() => panic!("{other:?}"),
    }
    host.handle.disconnect(id(2)).unwrap();
    assert_eq!(browser.next().await, Err(LinkError::Ended));
    host.disconnected(id(2)).await;
}

/// Messages that the browser has not acknowledged come again on its next socket.
#[tokio::test]
async fn browser_that_reconnects_loses_nothing() {
    let (mut host, place) = opened(at_a_door()).await;
    let mut first = Browser::dials(2, place, id(1), 1).await;
    assert_eq!(first.next().await, Ok(Event::Open));
    host.connected(id(2)).await;
    for message in ["one", "two"] {
        host.handle.send(id(2), message.into()).unwrap();
    }
    assert_eq!(first.next().await, Ok(Event::Message(b"one".to_vec())));
    first.link.taken().unwrap();
    assert_eq!(first.next().await, Ok(Event::Message(b"two".to_vec())));
    let mut second = Browser::dials(2, place, id(1), 2).await;
    assert_eq!(second.next().await, Ok(Event::Open));
    drop(first);
    let mut again = second.next().await;
    if again == Ok(Event::Message(b"one".to_vec())) {
        // Its acknowledgement was still on its way.
        second.link.taken().unwrap();
        again = second.next().await;
    }
    assert_eq!(again, Ok(Event::Message(b"two".to_vec())));
    second.link.send(b"here").unwrap();
    second.flush().await;
    assert_eq!(host.message().await, (id(2), b"here".to_vec()));
}

#[tokio::test]
async fn wrong_host_is_noticed() {
    let (_host, place) = opened(at_a_door()).await;
    let mut browser = Browser::dials(2, place, id(9), 1).await;
    assert_eq!(browser.next().await, Err(LinkError::WrongPeer { found: id(1) }));
}

/// The whole answer to a request.
async fn asks(place: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(place).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    timeout(PATIENCE, stream.read_to_end(&mut answer)).await.expect("it ends").unwrap();
    String::from_utf8(answer).unwrap()
}

#[tokio::test]
async fn page_is_one_file_and_nothing_else_is_there() {
    let config = NodeConfig { page: Some(Bytes::from_static(PAGE.as_bytes())), ..at_a_door() };
    let (_host, place) = opened(config).await;
    let page = asks(place, &format!("GET / HTTP/1.1\r\nHost: {place}\r\n\r\n")).await;
    assert!(page.starts_with("HTTP/1.1 200 OK\r\n") && page.ends_with(PAGE), "{page}");
    for header in ["x-frame-options: DENY", "x-content-type-options: nosniff", "cache-control: no-store"] {
        assert!(page.contains(header), "{page}");
    }
    let head = asks(place, &format!("HEAD / HTTP/1.1\r\nHost: {place}\r\n\r\n")).await;
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && head.ends_with("\r\n\r\n"), "{head}");
    let other = asks(place, &format!("GET /etc/passwd HTTP/1.1\r\nHost: {place}\r\n\r\n")).await;
    assert!(other.starts_with("HTTP/1.1 404 "), "{other}");
    let rebound = asks(place, "GET / HTTP/1.1\r\nHost: example.org\r\n\r\n").await;
    assert!(rebound.starts_with("HTTP/1.1 421 "), "{rebound}");
}

#[tokio::test]
async fn build_without_a_page_says_where_to_get_it_and_has_the_socket() {
    let (mut host, place) = opened(at_a_door()).await;
    let answer = asks(place, &format!("GET / HTTP/1.1\r\nHost: {place}\r\n\r\n")).await;
    assert!(answer.starts_with("HTTP/1.1 404 ") && answer.contains("table.html"), "{answer}");
    let mut browser = Browser::dials(2, place, id(1), 1).await;
    assert_eq!(browser.next().await, Ok(Event::Open));
    host.connected(id(2)).await;
}

/// Strangers that say nothing, nonsense or too much cost a connection, and the door stays open.
#[tokio::test]
async fn rude_visitors_are_shown_out() {
    let (mut host, place) = opened(at_a_door()).await;
    // One network has eight handshakes: the oldest of these gives way to the others.
    let mut silent = Vec::new();
    for _ in 0..24 {
        silent.push(TcpStream::connect(place).await.unwrap());
    }
    let mut first = silent.remove(0);
    assert_eq!(timeout(PATIENCE, first.read(&mut [0; 1])).await.expect("it gives way").unwrap_or(0), 0);
    let nonsense = asks(place, &"\u{1}".repeat(100)).await;
    assert!(nonsense.is_empty() || nonsense.starts_with("HTTP/1.1 400 "), "{nonsense}");
    let long = asks(place, &format!("GET / HTTP/1.1\r\nHost: {place}\r\nX: {}\r\n\r\n", "x".repeat(20_000))).await;
    assert!(long.starts_with("HTTP/1.1 431 "), "{long}");
    for message in [
        Message::Text("hello".into()),
        Message::Binary(vec![0; 100].into()),
        Message::Binary(vec![0; MOST].into()),
        Message::Close(None),
    ] {
        let mut socket = socket_at(place).await;
        // A long one may meet a closed socket.
        let _ = socket.send(message).await;
        let ended = async { while let Some(Ok(_)) = socket.next().await {} };
        timeout(PATIENCE, ended).await.expect("the door closes it");
    }
    let mut browser = Browser::dials(2, place, id(1), 1).await;
    assert_eq!(browser.next().await, Ok(Event::Open));
    host.connected(id(2)).await;
}

/// A half-open upgrade, and a socket that stays silent, end by their time limits.
#[tokio::test]
async fn slow_visitors_have_their_time() {
    let (_host, place) = opened(at_a_door()).await;
    let half = async {
        let answer = asks(place, &format!("GET / HTTP/1.1\r\nHost: {place}\r\nUpgrade: websocket\r\n")).await;
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 408 "), "{answer}");
    };
    let silent = async {
        let mut socket = socket_at(place).await;
        let ended = async { while let Some(Ok(_)) = socket.next().await {} };
        timeout(PATIENCE, ended).await.expect("the door closes it");
    };
    futures::join!(half, silent);
}

/// Pages on their way to many browsers of one network are not cut off by those that come after them.
#[tokio::test]
async fn many_pages_are_on_their_way_at_once() {
    let mut config = at_a_door();
    // More than the buffers of a socket hold.
    let page = vec![b'x'; 16 << 20];
    config.page = Some(page.clone().into());
    let (_host, place) = opened(config).await;
    let mut visits = Vec::new();
    for _ in 0..20 {
        let mut visit = TcpStream::connect(place).await.unwrap();
        visit.write_all(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").await.unwrap();
        let mut first = [0; 12];
        visit.read_exact(&mut first).await.unwrap();
        assert_eq!(&first, b"HTTP/1.1 200");
        visits.push(visit);
    }
    for mut visit in visits {
        let mut rest = Vec::new();
        timeout(PATIENCE, visit.read_to_end(&mut rest)).await.expect("it goes on").unwrap();
        assert!(rest.ends_with(&page), "the page is cut off");
    }
}

/// A relay with a door, a host that has a reservation there, and where the door is.
async fn behind_a_relay() -> (Side, Side, SocketAddr) {
    let mut config = at_a_door();
    config.reach = Reach::Relay;
    config.listen.push("/ip4/127.0.0.1/tcp/0".parse().unwrap());
    config.page = Some(PAGE.into());
    let mut relay = spawn(1, config);
    let addresses = [relay.listening().await, relay.listening().await];
    let (door, tcp) = match &addresses {
        [door, tcp] if beneath(door).is_some() => (door, tcp),
        [tcp, door] => (door, tcp),
    };
    let mut config = quick(Kind::Sockets);
    config.reach = Reach::Host;
    config.listen.clear();
    config.relays = vec![tcp.clone().with(Protocol::P2p(id(1).into()))];
    let mut host = spawn(2, config);
    // It learns of the door from the relay.
    let expected = door.clone().with(Protocol::P2p(id(1).into())).with(Protocol::P2pCircuit);
    while !host.handle.addresses().await.unwrap().contains(&expected) {
        host.until(|event| matches!(event, NodeEvent::Reach(_) | NodeEvent::Listening(_)).then_some(())).await;
    }
    let mut parts = door.iter();
    let (Some(Protocol::Ip4(ip)), Some(Protocol::Tcp(port))) = (parts.next(), parts.next()) else {
        panic!("{door} is no door")
    };
    (relay, host, (ip, port).into())
}

#[tokio::test]
async fn browser_comes_through_a_relay() {
    let (relay, mut host, place) = behind_a_relay().await;
    let mut browser = Browser::dials_through(place, id(1), id(2)).await;
    assert_eq!(browser.next().await, Ok(Event::Open));
    let address = host
        .until(|event| match event {
            NodeEvent::Connected { peer, address } if peer == id(9) => Some(address),
            _ => None,
        })
        .await;
    // Where it sits, the relay tells nobody.
    assert_eq!(address, Multiaddr::empty().with(Protocol::P2p(id(9).into())));
    let long = vec![7; 600_000];
    for message in [b"hello".to_vec(), long.clone()] {
        browser.link.send(&message).unwrap();
        tokio::select! {
            heard = host.message() => assert_eq!(heard, (id(9), message)),
            other = browser.next() => panic!("{other:?}"),
        }
    }
    host.handle.send(id(9), long.clone()).unwrap();
    assert_eq!(browser.next().await, Ok(Event::Message(long)));
    browser.link.taken().unwrap();
    browser.link.ping().unwrap();
    assert_eq!(browser.next().await, Ok(Event::Pong));
    // The relay alone is no sign of life of the host: its ping is answered, and nobody was heard.
    let alone = async {
        loop {
            browser.flush().await;
            if let Some(Ok(Message::Binary(bytes))) = browser.socket.next().await
                && !browser.link.receive(&bytes).unwrap()
            {
                return;
            }
            while browser.link.poll().is_some() {}
        }
    };
    timeout(PATIENCE, alone).await.expect("the relay asks for a sign of life");
    // A host that goes is noticed at once, and then it is not there.
    host.handle.shutdown().await;
    assert_eq!(browser.next().await, Err(LinkError::Ended));
    let mut again = Browser::dials_through(place, id(1), id(2)).await;
    assert_eq!(again.next().await, Err(LinkError::Refused(Refused::NotThere)));
    drop(relay);
}

/// Another relay there, another peer behind it, and a door that is no relay.
#[tokio::test]
async fn browser_is_connected_with_nobody_else() {
    let (_relay, _host, place) = behind_a_relay().await;
    let mut wrong = Browser::dials_through(place, id(7), id(2)).await;
    assert_eq!(wrong.next().await, Err(LinkError::WrongPeer { found: id(1) }));
    let mut unknown = Browser::dials_through(place, id(1), id(8)).await;
    assert_eq!(unknown.next().await, Err(LinkError::Refused(Refused::NotThere)));
    let (_no_relay, place) = opened(at_a_door()).await;
    let mut none = Browser::dials_through(place, id(1), id(2)).await;
    assert_eq!(none.next().await, Err(LinkError::Refused(Refused::NoRelay)));
}

#[cfg(feature = "tls")]
mod by_https {
    use std::path::PathBuf;
    use std::sync::Arc;
    use std::time::SystemTime;

    use rcgen::{CertifiedKey, generate_simple_self_signed};
    use tokio_rustls::TlsConnector;
    use tokio_rustls::client::TlsStream;
    use tokio_rustls::rustls::crypto::ring;
    use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
    use tokio_rustls::rustls::{ClientConfig, RootCertStore};

    use super::*;

    const NAME: &str = "relay.example";

    /// A new certificate of this name in the two files.
    fn issue(files: &[PathBuf; 2], name: &str) -> CertificateDer<'static> {
        let CertifiedKey { cert, key_pair } = generate_simple_self_signed([name.to_owned()]).unwrap();
        std::fs::write(&files[0], cert.pem()).unwrap();
        std::fs::write(&files[1], key_pair.serialize_pem()).unwrap();
        cert.der().clone()
    }

    /// Connects as a browser that trusts this certificate.
    async fn secured(place: SocketAddr, trusted: &CertificateDer<'static>) -> std::io::Result<TlsStream<TcpStream>> {
        let mut roots = RootCertStore::empty();
        roots.add(trusted.clone()).unwrap();
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let builder = builder.with_safe_default_protocol_versions().unwrap();
        let config = builder.with_root_certificates(roots).with_no_client_auth();
        let stream = TcpStream::connect(place).await.unwrap();
        TlsConnector::from(Arc::new(config)).connect(ServerName::try_from(NAME).unwrap(), stream).await
    }

    #[tokio::test]
    async fn page_and_table_come_under_the_certificate_as_it_is_now() {
        let folder = tempfile::tempdir().unwrap();
        let files = ["chain.pem", "key.pem"].map(|name| folder.path().join(name));
        let trusted = issue(&files, NAME);
        let mut config = quick(Kind::Sockets);
        config.listen = vec!["/ip4/127.0.0.1/tcp/0/tls/ws".parse().unwrap()];
        config.page = Some(PAGE.into());
        config.certificate = Some(Certificate::read(&files[0], &files[1]).unwrap());
        let mut host = spawn(1, config);
        let address = host.listening().await;
        let Some((tcp, true)) = beneath(&address) else { panic!("{address} is no door by https") };
        let mut parts = tcp.iter();
        let (Some(Protocol::Ip4(ip)), Some(Protocol::Tcp(port))) = (parts.next(), parts.next()) else {
            panic!("{tcp}")
        };
        let place: SocketAddr = (ip, port).into();

        let mut stream = secured(place, &trusted).await.unwrap();
        let request = format!("GET / HTTP/1.1\r\nHost: {NAME}\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer).await;
        assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with(PAGE), "{answer}");

        let stream = secured(place, &trusted).await.unwrap();
        let (mut socket, _) = client_async(format!("wss://{NAME}/"), stream).await.unwrap();
        let name = StreamName { program: [2; 8], number: 1 };
        let mut link = Connection::dial(&identity(2), id(1), name, MOST, &mut UnwrapErr(SysRng)).unwrap();
        while !link.is_open() {
            while let Some(bytes) = link.take_bytes() {
                socket.send(Message::Binary(bytes.into())).await.unwrap();
            }
            let Some(Ok(Message::Binary(bytes))) = socket.next().await else { panic!("it ends") };
            link.receive(&bytes).unwrap();
        }

        // Without TLS nothing is answered.
        let mut plain = TcpStream::connect(place).await.unwrap();
        plain.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        let _ = plain.read_to_end(&mut answer).await;
        assert!(!answer.starts_with(b"HTTP"), "{answer:?}");

        // A half-written file leaves the former certificate, a new one replaces it.
        let later = |path: &PathBuf, seconds| {
            let time = SystemTime::now() + std::time::Duration::from_secs(seconds);
            std::fs::File::options().append(true).open(path).unwrap().set_modified(time).unwrap();
        };
        std::fs::write(&files[0], "-----BEGIN CERTIFICATE-----\n").unwrap();
        later(&files[0], 5);
        assert!(secured(place, &trusted).await.is_ok());
        let renewed = issue(&files, NAME);
        later(&files[0], 10);
        assert!(secured(place, &renewed).await.is_ok());
        assert!(secured(place, &trusted).await.is_err());
    }

    #[test]
    fn files_that_are_no_certificate_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let files = ["chain.pem", "key.pem"].map(|name| folder.path().join(name));
        let read = |files: &[PathBuf; 2]| Certificate::read(&files[0], &files[1]).map(|_| ()).unwrap_err();
        assert!(matches!(read(&files), CertificateError::File { path, .. } if path == files[0]));
        issue(&files, NAME);
        std::fs::write(&files[1], "no key").unwrap();
        assert!(matches!(read(&files), CertificateError::File { path, .. } if path == files[1]));
        std::fs::write(&files[0], "no certificate").unwrap();
        assert!(matches!(read(&files), CertificateError::File { path, .. } if path == files[0]));
        issue(&files, NAME);
        let other = [folder.path().join("other.pem"), folder.path().join("other-key.pem")];
        issue(&other, NAME);
        let mixed = [files[0].clone(), other[1].clone()];
        assert!(matches!(read(&mixed), CertificateError::Unlike { .. }));
    }
}
