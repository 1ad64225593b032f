//! One HTTP connection at the door: the page, a WebSocket, or a refusal.
//!
//! A page of somebody else must not reach the door through its reader's browser. So the `Host` has to be an IP address:
//! a name of a foreign page may be made to lead here (DNS rebinding), unless the door has a certificate of that name. And
//! a WebSocket is opened only for pages from a door
//! (whose origin is an address of a local network, or this one), and for pages without an origin (`null`): those from a disk,
//! and frames that a page has put into a sandbox. Such a frame is a stranger at the table like any other: it knows no ticket.

use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::upgrade::OnUpgrade;
use hyper::{HeaderMap, Method, Request, Response, StatusCode, Uri};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use super::bytes::{Socket, socket};

/// Maximum size of a request's head in bytes; hyper takes no less.
const HEAD: usize = 8192;
/// Maximum number of headers.
const HEADERS: usize = 64;
/// Maximum time until a request's head has arrived.
const FIRST_WORD: Duration = Duration::from_secs(3);
/// The text in place of a page.
const NO_PAGE: &str = "This build of fairdeal has no page for browsers inside, but it has the table: open your own \
                       table.html, and paste the ticket there. Packages of fairdeal have the page.\n";

/// Why a request gets nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    /// The host's name is no address.
    Misdirected,
    /// The page comes from elsewhere.
    Origin,
    /// Nothing is here.
    NotFound,
    Method,
    /// A WebSocket of another version, or without a key.
    Socket,
    /// There is no page in this build.
    NoPage,
}

/// The answer to a request.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    Page,
    /// A WebSocket, with the answer to its key.
    Socket(String),
    Refused(Refusal),
}

/// Answers one request. Returns the WebSocket, if the connection became one. Calls `on_page` before the page is sent.
pub(super) async fn visit<S>(
    stream: S,
    page: Option<Bytes>,
    is_secure: bool,
    on_page: impl Fn() + Send,
) -> Option<Socket>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let upgrade: Arc<Mutex<Option<OnUpgrade>>> = Arc::default();
    let respond = service_fn(|mut request: Request<Incoming>| {
        let answer = match answer(request.method(), request.uri(), request.headers(), is_secure) {
            Answer::Page if page.is_none() => Answer::Refused(Refusal::NoPage),
            answer => answer,
        };
        if answer == Answer::Page {
            on_page();
        }
        if matches!(answer, Answer::Socket(_)) {
            *upgrade.lock().unwrap_or_else(PoisonError::into_inner) = Some(hyper::upgrade::on(&mut request));
        }
        let response = response(answer, page.as_ref());
        async { Ok::<_, Infallible>(response) }
    });
    let mut http = http1::Builder::new();
    http.max_buf_size(HEAD).max_headers(HEADERS);
    http.timer(TokioTimer::new()).header_read_timeout(FIRST_WORD);
    let connection = http.serve_connection(TokioIo::new(stream), respond).with_upgrades();
    connection.await.inspect_err(|error| tracing::debug!(%error, "a browser's connection failed")).ok()?;
    let upgrade = upgrade.lock().unwrap_or_else(PoisonError::into_inner).take()?;
    Some(socket(upgrade.await.ok()?).await)
}

fn answer(method: &Method, uri: &Uri, headers: &HeaderMap, is_secure: bool) -> Answer {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let host = text(header::HOST).and_then(host_of);
    let Some(host) = host.filter(|host| is_secure || is_address(host)) else {
        return Answer::Refused(Refusal::Misdirected);
    };
    if uri.path() != "/" {
        return Answer::Refused(Refusal::NotFound);
    }
    let upgrade = text(header::UPGRADE).unwrap_or_default();
    if upgrade.is_empty() {
        return match *method {
            Method::GET | Method::HEAD => Answer::Page,
            _ => Answer::Refused(Refusal::Method),
        };
    }
    let key = text(header::SEC_WEBSOCKET_KEY).filter(|key| key.len() == 24);
    let is_current = text(header::SEC_WEBSOCKET_VERSION) == Some("13") && upgrade.eq_ignore_ascii_case("websocket");
    let Some(key) = key.filter(|_| is_current && *method == Method::GET) else {
        return Answer::Refused(Refusal::Socket);
    };
    // A program that is no browser names no origin, and could name any.
    if text(header::ORIGIN).is_some_and(|origin| !is_ours(origin, &host)) || has_odd_origin(headers) {
        return Answer::Refused(Refusal::Origin);
    }
    Answer::Socket(derive_accept_key(key.as_bytes()))
}

/// Whether there is an origin that is no text, or more than one.
fn has_odd_origin(headers: &HeaderMap) -> bool {
    let mut all = headers.get_all(header::ORIGIN).iter();
    all.next().is_some_and(|origin| origin.to_str().is_err()) || all.next().is_some()
}

/// The host of an authority, without its port.
fn host_of(authority: &str) -> Option<String> {
    let authority: hyper::http::uri::Authority = authority.parse().ok()?;
    Some(authority.host().to_owned())
}

/// The IP address that a host is, in brackets if it is one of IPv6.
fn ip_of(host: &str) -> Option<IpAddr> {
    match host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(ip) => ip.parse().map(IpAddr::V6).ok(),
        None => host.parse().map(IpAddr::V4).ok(),
    }
}

fn is_address(host: &str) -> bool {
    ip_of(host).is_some() || host.eq_ignore_ascii_case("localhost")
}

/// Whether pages of this origin may open a WebSocket at this host.
fn is_ours(origin: &str, host: &str) -> bool {
    if origin == "null" {
        return true;
    }
    let Some(theirs) = origin.split_once("://").and_then(|(_, authority)| host_of(authority)) else {
        return false;
    };
    theirs == host || theirs.eq_ignore_ascii_case("localhost") || ip_of(&theirs).is_some_and(is_near)
}

/// Whether an address is one of a local network.
fn is_near(ip: IpAddr) -> bool {
    match ip.to_canonical() {
        IpAddr::V4(ip) => ip.is_private() || ip.is_loopback() || ip.is_link_local(),
        IpAddr::V6(ip) => ip.is_unique_local() || ip.is_loopback() || ip.is_unicast_link_local(),
    }
}

fn response(answer: Answer, page: Option<&Bytes>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    match answer {
        Answer::Page => {
            *response.body_mut() = Full::new(page.cloned().unwrap_or_default());
            put(&mut response, header::CONTENT_TYPE, "text/html; charset=utf-8");
            put(&mut response, header::X_FRAME_OPTIONS, "DENY");
        }
        Answer::Socket(accept) => {
            *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
            put(&mut response, header::UPGRADE, "websocket");
            put(&mut response, header::CONNECTION, "upgrade");
            if let Ok(accept) = accept.try_into() {
                response.headers_mut().insert(header::SEC_WEBSOCKET_ACCEPT, accept);
            }
        }
        Answer::Refused(refusal) => {
            let (status, text) = refusal.told();
            *response.status_mut() = status;
            *response.body_mut() = Full::new(Bytes::from_static(text.as_bytes()));
            put(&mut response, header::CONTENT_TYPE, "text/plain; charset=utf-8");
            if refusal == Refusal::Method {
                put(&mut response, header::ALLOW, "GET, HEAD");
            }
        }
    }
    if response.status() != StatusCode::SWITCHING_PROTOCOLS {
        // One request each. hyper's own switch for that would add the word to the header of an upgrade too, and some
        // clients refuse that.
        put(&mut response, header::CONNECTION, "close");
    }
    put(&mut response, header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    put(&mut response, header::REFERRER_POLICY, "no-referrer");
    put(&mut response, header::CACHE_CONTROL, "no-store");
    response
}

fn put(response: &mut Response<Full<Bytes>>, name: HeaderName, value: &'static str) {
    response.headers_mut().insert(name, HeaderValue::from_static(value));
}

impl Refusal {
    fn told(self) -> (StatusCode, &'static str) {
        match self {
            Self::Misdirected => {
                (StatusCode::MISDIRECTED_REQUEST, "Open this page by its IP address, as the host shows it.\n")
            }
            Self::Origin => (StatusCode::FORBIDDEN, "Only pages of fairdeal may open a connection here.\n"),
            Self::NotFound => (StatusCode::NOT_FOUND, "There is nothing here; the page is at /\n"),
            Self::Method => (StatusCode::METHOD_NOT_ALLOWED, "GET / has the page.\n"),
            Self::Socket => (StatusCode::BAD_REQUEST, "This is no WebSocket of version 13.\n"),
            Self::NoPage => (StatusCode::NOT_FOUND, NO_PAGE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(path: &str, headers: &[(&'static str, &str)]) -> Answer {
        let mut request = Request::get(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(()).unwrap();
        answer(request.method(), request.uri(), request.headers(), false)
    }

    const KEY: (&str, &str) = ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==");

    /// An upgrade at this host, of a page from this origin.
    fn socket(host: &str, origin: &str) -> Answer {
        let all = [("host", host), ("origin", origin), ("upgrade", "websocket"), ("sec-websocket-version", "13"), KEY];
        asked("/", &all)
    }

    #[test]
    fn page_is_served_at_addresses_alone() {
        for host in ["192.168.1.7:4002", "[fd00::7]:4002", "127.0.0.1", "localhost:4002", "93.184.215.14"] {
            assert_eq!(asked("/", &[("host", host)]), Answer::Page, "{host}");
        }
        for host in ["example.org", "example.org:4002", "fairdeal.local", "192.168.1.7.example.org", "", "a b"] {
            assert_eq!(asked("/", &[("host", host)]), Answer::Refused(Refusal::Misdirected), "{host}");
        }
        assert_eq!(asked("/", &[]), Answer::Refused(Refusal::Misdirected));
        for path in ["/index.html", "/favicon.ico", "//", "/?x/../y/"] {
            let found = asked(path, &[("host", "127.0.0.1")]);
            assert_eq!(found, if path.starts_with("/?") { Answer::Page } else { Answer::Refused(Refusal::NotFound) });
        }
    }

    /// The key and its answer are those of RFC 6455, section 1.3.
    #[test]
    fn pages_of_doors_and_disks_may_open_a_socket() {
        let accept = Answer::Socket("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=".to_owned());
        for (host, origin) in [
            ("192.168.1.7:4002", "http://192.168.1.7:4002"),
            ("192.168.1.7:4002", "http://192.168.1.9:5000"),
            ("192.168.1.7:4002", "http://[fd00::9]:5000"),
            ("192.168.1.7:4002", "null"),
            ("127.0.0.1:4002", "http://localhost:4002"),
            ("93.184.215.14:4002", "http://93.184.215.14:4002"),
        ] {
            assert_eq!(socket(host, origin), accept, "{host} {origin}");
        }
        for origin in ["https://example.org", "http://93.184.215.14", "http://192.168.1.9.example.org", "file:", ""] {
            assert_eq!(socket("192.168.1.7:4002", origin), Answer::Refused(Refusal::Origin), "{origin}");
        }
        assert_eq!(socket("example.org", "null"), Answer::Refused(Refusal::Misdirected));
        let twice = [
            ("host", "127.0.0.1"),
            ("origin", "null"),
            ("origin", "https://example.org"),
            ("upgrade", "websocket"),
            ("sec-websocket-version", "13"),
            KEY,
        ];
        assert_eq!(asked("/", &twice), Answer::Refused(Refusal::Origin));
    }

    /// A browser has compared the name with the certificate.
    #[test]
    fn certificate_answers_for_its_names() {
        let all = [
            ("host", "relay.example"),
            ("origin", "https://relay.example"),
            ("upgrade", "websocket"),
            ("sec-websocket-version", "13"),
            KEY,
        ];
        let at = |origin: &str, is_secure| {
            let request = all.iter().fold(Request::get("/"), |request, (name, value)| {
                request.header(*name, if *name == "origin" { origin } else { value })
            });
            let request = request.body(()).unwrap();
            answer(request.method(), request.uri(), request.headers(), is_secure)
        };
        assert!(matches!(at("https://relay.example", true), Answer::Socket(_)));
        assert_eq!(at("https://other.example", true), Answer::Refused(Refusal::Origin));
        assert_eq!(at("https://relay.example", false), Answer::Refused(Refusal::Misdirected));
    }

    #[test]
    fn other_sockets_are_refused() {
        let host = ("host", "127.0.0.1");
        let all: [&[(&str, &str)]; 4] = [
            &[host, ("upgrade", "h2c"), ("sec-websocket-version", "13"), KEY],
            &[host, ("upgrade", "websocket"), ("sec-websocket-version", "8"), KEY],
            &[host, ("upgrade", "websocket"), ("sec-websocket-version", "13")],
            &[host, ("upgrade", "websocket"), ("sec-websocket-version", "13"), ("sec-websocket-key", "short")],
        ];
        for headers in all {
            assert_eq!(asked("/", headers), Answer::Refused(Refusal::Socket), "{headers:?}");
        }
        assert_eq!(
            answer(&Method::POST, &"/".parse().unwrap(), &headers_of("127.0.0.1"), false),
            Answer::Refused(Refusal::Method)
        );
    }

    fn headers_of(host: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(header::HOST, HeaderValue::from_static(host))])
    }
}
