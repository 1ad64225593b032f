//! A router that speaks UPnP: how it is found, and the requests that it answers.
//!
//! Any device of the LAN may answer in a router's place. So every answer is bounded in size, depth and time, and is read
//! without recursion; and a device can name only itself as the router.

use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use fairdeal_peers::address::is_global;
use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use http_body_util::{BodyExt as _, Limited};
use hyper::client::conn::http1;
use hyper::header::{CONTENT_TYPE, HOST};
use hyper::{Method, Request, Uri};
use hyper_util::rt::TokioIo;
use libp2p::Multiaddr;
use libp2p::multiaddr::Protocol;
use quick_xml::events::Event;
use quick_xml::{Reader, escape};
use tokio::net::{TcpStream, UdpSocket};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::event::clean;

/// Time for answers to the search. A router may answer after the three seconds that the question allows.
const SEARCH: Duration = Duration::from_secs(4);
/// Time for the whole answer to a request.
const ANSWER: Duration = Duration::from_secs(3);
/// Maximum size of an answer and of its head, in bytes each. Descriptions have a few kilobytes.
const MAX_ANSWER: usize = 64 * 1024;
/// Maximum number of elements within each other. A router's own description has ten.
const MAX_DEPTH: usize = 32;
/// Maximum number of devices that are asked whether they are the router.
const MAX_CANDIDATES: usize = 16;
/// Where routers listen for the search.
const SEARCHED: (Ipv4Addr, u16) = (Ipv4Addr::new(239, 255, 255, 250), 1900);
const SEARCH_REQUEST: &str = "M-SEARCH * HTTP/1.1\r\nHost:239.255.255.250:1900\r\n\
                              ST:urn:schemas-upnp-org:device:InternetGatewayDevice:1\r\nMan:\"ssdp:discover\"\r\nMX:3\r\n\r\n";
/// The services that open ports.
pub(super) const SERVICES: [&str; 3] = [
    "urn:schemas-upnp-org:service:WANIPConnection:1",
    "urn:schemas-upnp-org:service:WANIPConnection:2",
    "urn:schemas-upnp-org:service:WANPPPConnection:1",
];
/// The name of an opened port in the router's list.
const DESCRIPTION: &str = "fairdeal";

/// The router's error codes that we know (the service WANIPConnection, 2.4).
pub(super) const NOT_AUTHORIZED: u16 = 606;
pub(super) const NO_SUCH_ENTRY: u16 = 714;
pub(super) const PORT_IN_USE: u16 = 718;
pub(super) const SAME_PORTS_ONLY: u16 = 724;
pub(super) const NO_LEASES: u16 = 725;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Transport {
    Tcp,
    Udp,
}

impl Transport {
    const fn name(self) -> &'static str {
        match self {
            Self::Tcp => "TCP",
            Self::Udp => "UDP",
        }
    }
}

/// A port of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Port {
    pub(super) transport: Transport,
    pub(super) number: u16,
}

impl Port {
    /// The port of a listening address, if a router can forward it.
    pub(super) fn of(address: &Multiaddr) -> Option<Self> {
        let mut parts = address.iter();
        let Some(Protocol::Ip4(_)) = parts.next() else {
            return None;
        };
        let (transport, number) = match parts.next()? {
            Protocol::Tcp(number) => (Transport::Tcp, number),
            Protocol::Udp(number) => (Transport::Udp, number),
            _ => return None,
        };
        Some(Self { transport, number })
    }
}

/// Why a request was not carried out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Fault {
    /// No answer: the router may have done it all the same.
    #[error("it does not answer")]
    NoAnswer,
    /// An answer that is too large, too deep or none of UPnP. The router may have done it all the same.
    #[error("its answer cannot be read")]
    Unreadable,
    /// The router's own error.
    #[error("{}", refusal(*code, text))]
    Refused { code: u16, text: String },
}

fn refusal(code: u16, text: &str) -> String {
    match code {
        NOT_AUTHORIZED => "it is not authorized".to_owned(),
        _ if text.is_empty() => format!("error {code}"),
        _ => format!("{text}, error {code}"),
    }
}

/// A router's service that opens ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Gateway {
    pub(super) addr: SocketAddr,
    /// The path to which requests go.
    pub(super) control: String,
    /// The type of the service, which each request repeats.
    pub(super) service: &'static str,
}

impl Gateway {
    /// Looks for a router from this address of the machine. The first that describes a service of [`SERVICES`] is it.
    pub(super) async fn search(bound: Ipv4Addr) -> Option<Self> {
        let socket = UdpSocket::bind((bound, 0)).await.ok()?;
        socket.send_to(SEARCH_REQUEST.as_bytes(), SEARCHED).await.ok()?;
        timeout(SEARCH, first_described(&socket)).await.ok()
    }

    /// The router that is described there.
    async fn described(location: &Location) -> Result<Self, Fault> {
        let answer = fetch(location, Method::GET, None).await?;
        let mut elements = elements(&answer)?.into_iter();
        let (mut service, mut control) = (None, None);
        loop {
            let (name, text) = elements.next().ok_or(Fault::Unreadable)?;
            match name.as_str() {
                "serviceType" => service = SERVICES.into_iter().find(|known| *known == text),
                "controlURL" => control = location.reference(&text),
                "service" => {
                    if let (Some(service), Some(Location { addr, path })) = (service.take(), control.take()) {
                        return Ok(Self { addr, control: path, service });
                    }
                }
                _ => {}
            }
        }
    }

    /// The router's address on the internet, in its words; empty if it has none.
    pub(super) async fn external_ip(&self) -> Result<String, Fault> {
        let answer = self.ask("GetExternalIPAddress", &[]).await?;
        Ok(value(&answer, "NewExternalIPAddress").to_owned())
    }

    /// Opens the port `external` towards this address, for so many seconds.
    pub(super) async fn open(
        &self,
        transport: Transport,
        external: u16,
        local: (Ipv4Addr, u16),
        lease: u32,
    ) -> Result<(), Fault> {
        let (ip, port) = local;
        let arguments = [
            ("NewRemoteHost", String::new()),
            ("NewExternalPort", external.to_string()),
            ("NewProtocol", transport.name().to_owned()),
            ("NewInternalPort", port.to_string()),
            ("NewInternalClient", ip.to_string()),
            ("NewEnabled", "1".to_owned()),
            ("NewPortMappingDescription", DESCRIPTION.to_owned()),
            ("NewLeaseDuration", lease.to_string()),
        ];
        self.ask("AddPortMapping", &arguments).await.map(drop)
    }

    /// Whether the open port `external` leads to this address.
    pub(super) async fn leads_to(
        &self,
        transport: Transport,
        external: u16,
        (ip, port): (Ipv4Addr, u16),
    ) -> Result<bool, Fault> {
        let answer = self.ask("GetSpecificPortMappingEntry", &entry(transport, external)).await?;
        Ok(value(&answer, "NewInternalClient").parse() == Ok(ip)
            && value(&answer, "NewInternalPort").parse() == Ok(port))
    }

    pub(super) async fn close(&self, transport: Transport, external: u16) -> Result<(), Fault> {
        self.ask("DeletePortMapping", &entry(transport, external)).await.map(drop)
    }

    /// Asks for an action. Returns the elements of the answer.
    async fn ask(&self, action: &str, arguments: &[(&str, String)]) -> Result<Vec<Element>, Fault> {
        let service = self.service;
        let arguments: String = arguments.iter().map(|(name, value)| format!("<{name}>{value}</{name}>")).collect();
        let body = format!(
            "<?xml version=\"1.0\"?>\n<s:Envelope xmlns:s=\"http://schemas.xmlsoap.org/soap/envelope/\" \
             s:encodingStyle=\"http://schemas.xmlsoap.org/soap/encoding/\"><s:Body><u:{action} \
             xmlns:u=\"{service}\">{arguments}</u:{action}></s:Body></s:Envelope>\n"
        );
        let control = Location { addr: self.addr, path: self.control.clone() };
        let answer = fetch(&control, Method::POST, Some((format!("\"{service}#{action}\""), body))).await?;
        let answer = elements(&answer)?;
        if answer.iter().any(|(name, _)| name.strip_suffix("Response") == Some(action)) {
            return Ok(answer);
        }
        let code = value(&answer, "errorCode").parse().map_err(|_| Fault::Unreadable)?;
        let text = clean(value(&answer, "errorDescription"));
        Err(Fault::Refused { code, text })
    }
}

/// The arguments that name an open port.
fn entry(transport: Transport, external: u16) -> [(&'static str, String); 3] {
    [
        ("NewRemoteHost", String::new()),
        ("NewExternalPort", external.to_string()),
        ("NewProtocol", transport.name().to_owned()),
    ]
}

/// A place on a device of the LAN.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Location {
    addr: SocketAddr,
    path: String,
}

impl Location {
    /// The place that an answer to the search names: on the device at `from`, which is of the LAN.
    fn in_answer(answer: &[u8], from: IpAddr) -> Option<Self> {
        if !matches!(from, IpAddr::V4(ip) if !is_global(ip)) {
            return None;
        }
        let text = str::from_utf8(answer).ok()?;
        let mut headers = text.lines().filter_map(|line| line.split_once(':'));
        let (_, url) = headers.find(|(name, _)| name.trim().eq_ignore_ascii_case("location"))?;
        Self::on(from, url.trim())
    }

    /// The place of a whole URL, if it is on this device.
    fn on(ip: IpAddr, url: &str) -> Option<Self> {
        let uri: Uri = url.parse().ok()?;
        let named: IpAddr = uri.host()?.parse().ok()?;
        if uri.scheme_str() != Some("http") || named != ip {
            return None;
        }
        Some(Self { addr: SocketAddr::new(ip, uri.port_u16().unwrap_or(80)), path: uri.path_and_query()?.to_string() })
    }

    /// The place that a description at this place names: a path, or a whole URL on the same device.
    fn reference(&self, url: &str) -> Option<Self> {
        let url = url.trim();
        if url.contains("://") {
            return Self::on(self.addr.ip(), url);
        }
        let path = format!("/{}", url.trim_start_matches('/'));
        path.parse::<Uri>().ok()?;
        Some(Self { addr: self.addr, path })
    }
}

/// Waits for the first router that describes itself.
async fn first_described(socket: &UdpSocket) -> Gateway {
    let mut candidates = HashSet::new();
    let mut asked = FuturesUnordered::new();
    let mut answer = [0; 1500];
    loop {
        tokio::select! {
            heard = socket.recv_from(&mut answer) => {
                let Ok((length, from)) = heard else { continue };
                let location = answer.get(..length).and_then(|answer| Location::in_answer(answer, from.ip()));
                if let Some(location) = location
                    && candidates.len() < MAX_CANDIDATES
                    && candidates.insert(location.clone())
                {
                    asked.push(async move { (Gateway::described(&location).await, location) });
                }
            }
            Some((described, location)) = asked.next() => match described {
                Ok(gateway) => return gateway,
                Err(fault) => tracing::debug!(?location, %fault, "a device is not the router"),
            },
        }
    }
}

/// Requests this; with a SOAP action and a body if there are any. Returns the body of the answer.
async fn fetch(location: &Location, method: Method, soap: Option<(String, String)>) -> Result<String, Fault> {
    let request = Request::builder().method(method).uri(&location.path).header(HOST, location.addr.to_string());
    let request = match soap {
        Some((action, body)) => {
            request.header("SOAPAction", action).header(CONTENT_TYPE, "text/xml; charset=\"utf-8\"").body(body)
        }
        None => request.body(String::new()),
    };
    let request = request.map_err(|_| Fault::Unreadable)?;
    timeout(ANSWER, exchange(location.addr, request)).await.unwrap_or(Err(Fault::NoAnswer))
}

async fn exchange(addr: SocketAddr, request: Request<String>) -> Result<String, Fault> {
    let stream = TcpStream::connect(addr).await.map_err(|_| Fault::NoAnswer)?;
    let mut http = http1::Builder::new();
    http.max_buf_size(MAX_ANSWER);
    let (mut sender, connection) = http.handshake(TokioIo::new(stream)).await.map_err(|_| Fault::NoAnswer)?;
    // It ends with this request, answered or not.
    let mut driver = JoinSet::new();
    driver.spawn(connection);
    let answer = sender
        .send_request(request)
        .await
        .map_err(|error| if error.is_parse() { Fault::Unreadable } else { Fault::NoAnswer })?;
    let body = Limited::new(answer.into_body(), MAX_ANSWER).collect().await.map_err(|_| Fault::Unreadable)?.to_bytes();
    // Names of devices may be of any encoding; all that we read is ASCII.
    Ok(String::from_utf8_lossy(&body).into_owned())
}

/// The name of an element and its text.
type Element = (String, String);

/// All elements of a document, in the order in which they end. An element that contains others has no text of use.
fn elements(xml: &str) -> Result<Vec<Element>, Fault> {
    let mut reader = Reader::from_str(xml);
    reader.config_mut().expand_empty_elements = true;
    let mut found = Vec::new();
    let mut text = String::new();
    let mut depth = 0_usize;
    loop {
        match reader.read_event().map_err(|_| Fault::Unreadable)? {
            Event::Start(_) if depth == MAX_DEPTH => return Err(Fault::Unreadable),
            Event::Start(_) => {
                depth += 1;
                text.clear();
            }
            Event::Text(part) => text.push_str(&part),
            Event::CData(part) => text.push_str(&part),
            Event::GeneralRef(entity) => match entity.resolve_char_ref() {
                Ok(Some(char)) => text.push(char),
                Ok(None) => text.push_str(escape::resolve_predefined_entity(&entity).unwrap_or_default()),
                Err(_) => return Err(Fault::Unreadable),
            },
            Event::End(end) => {
                depth = depth.saturating_sub(1);
                let name = end.local_name().as_ref().to_owned();
                found.push((name, std::mem::take(&mut text).trim().to_owned()));
            }
            Event::Eof if depth == 0 => return Ok(found),
            Event::Eof => return Err(Fault::Unreadable),
            Event::Empty(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
    }
}

/// The text of the first element of this name; empty if there is none.
fn value<'a>(elements: &'a [Element], name: &str) -> &'a str {
    let found = elements.iter().find(|(known, _)| known == name);
    found.map_or("", |(_, text)| text)
}

#[cfg(test)]
mod tests;
