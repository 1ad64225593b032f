//! Answers of routers, from a small one in this process.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use super::gateway::{SERVICES, Transport};
use super::*;

/// A router's answers to requests: the name of an action, and how often it has been asked before.
type Answers = fn(&str, usize) -> Result<String, u16>;

struct Fake {
    gateway: Gateway,
    /// The actions that it was asked for, each with its external port.
    asked: Arc<Mutex<Vec<String>>>,
}

fn text_of(body: &str, name: &str) -> String {
    let after = body.split(&format!("<{name}>")).nth(1).unwrap_or_default();
    after.split('<').next().unwrap_or_default().to_owned()
}

impl Fake {
    fn start(answers: Answers) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::<String>::new()));
        let log = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                let (mut line, mut length, mut action) = (String::new(), 0, String::new());
                while reader.read_line(&mut line).unwrap_or(0) > 2 {
                    let lower = line.to_ascii_lowercase();
                    if let Some(given) = lower.strip_prefix("content-length:") {
                        length = given.trim().parse().unwrap();
                    }
                    if lower.starts_with("soapaction:") {
                        action = line.trim().trim_end_matches('"').rsplit('#').next().unwrap().to_owned();
                    }
                    line.clear();
                }
                if action.is_empty() {
                    // A request that was given up before it was sent.
                    continue;
                }
                let mut body = vec![0; length];
                reader.read_exact(&mut body).unwrap();
                let body = String::from_utf8(body).unwrap();
                let before = {
                    let mut log = log.lock().unwrap();
                    let before = log.iter().filter(|known| known.starts_with(&action)).count();
                    let (port, lease) = (text_of(&body, "NewExternalPort"), text_of(&body, "NewLeaseDuration"));
                    log.push(format!("{action} {port} {lease}").trim_end().to_owned());
                    before
                };
                let (status, inner) = match answers(&action, before) {
                    Ok(inner) => (200, format!("<u:{action}Response xmlns:u=\"x\">{inner}</u:{action}Response>")),
                    Err(code) => (
                        500,
                        format!(
                            "<s:Fault><detail><UPnPError><errorCode>{code}</errorCode><errorDescription>No \
                             way</errorDescription></UPnPError></detail></s:Fault>"
                        ),
                    ),
                };
                let xml =
                    format!("<?xml version=\"1.0\"?><s:Envelope xmlns:s=\"e\"><s:Body>{inner}</s:Body></s:Envelope>");
                let length = xml.len();
                let _ =
                    write!(stream, "HTTP/1.1 {status} X\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{xml}");
            }
        });
        Self { gateway: Gateway { addr, control: "/control".to_owned(), service: SERVICES[0] }, asked }
    }

    fn found(&self) -> Found {
        Found {
            gateway: self.gateway.clone(),
            bound: Ipv4Addr::LOCALHOST,
            local: Ipv4Addr::LOCALHOST,
            external: Ipv4Addr::new(11, 22, 33, 44),
        }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

const PORT: Port = Port { transport: Transport::Tcp, number: 4001 };

fn ports(found: Found) -> (Ports, mpsc::Receiver<ReachNews>) {
    let (news, told) = mpsc::channel(NEWS);
    let ports = Ports { gateway: Some(found), opened: HashMap::new(), told: None, news };
    (ports, told)
}

/// Opens a port at a router that answers like this, and ends. Returns the result, the news, and what was asked.
async fn opens(answers: Answers) -> (Result<(), ReachNews>, Option<ReachNews>, Vec<String>) {
    let fake = Fake::start(answers);
    let (mut ports, mut told) = ports(fake.found());
    let address = "/ip4/127.0.0.1/tcp/4001".parse().unwrap();
    let result = ports.open(&fake.found(), PORT, &address).await;
    ports.close().await;
    drop(ports);
    (result, told.recv().await, fake.asked())
}

#[tokio::test]
async fn what_was_opened_is_closed() {
    let (result, told, asked) = opens(|_, _| Ok(String::new())).await;
    assert_eq!(result, Ok(()));
    let mapped = ReachNews::Mapped { address: "/ip4/11.22.33.44/tcp/4001".parse().unwrap(), instead_of: None };
    assert_eq!(told, Some(mapped));
    assert_eq!(asked, ["AddPortMapping 4001 1200", "DeletePortMapping 4001"]);
}

#[tokio::test]
async fn a_router_without_leases_opens_and_closes_too() {
    let (result, _, asked) = opens(|_, before| if before == 0 { Err(725) } else { Ok(String::new()) }).await;
    assert_eq!(result, Ok(()));
    assert_eq!(asked[1], "AddPortMapping 4001 0");
    assert!(asked.last().unwrap().starts_with("DeletePortMapping 4001"), "{asked:?}");
}

#[tokio::test]
async fn another_port_is_opened_in_place_of_a_taken_one() {
    let (result, told, asked) = opens(|action, before| match (action, before) {
        ("AddPortMapping", 0) => Err(718),
        _ => Ok(String::new()),
    })
    .await;
    assert_eq!(result, Ok(()));
    let Some(ReachNews::Mapped { instead_of, .. }) = told else { panic!("{told:?}") };
    assert_eq!(instead_of, Some(4001));
    let other = asked[1].split(' ').nth(1).unwrap();
    assert_eq!(asked[2..], [format!("DeletePortMapping {other}")], "the other device keeps its own");
}

#[tokio::test]
async fn refusals_are_told_and_close_nothing() {
    let (taken, _, asked) = opens(|_, _| Err(718)).await;
    assert_eq!(taken, Err(ReachNews::PortTaken(4001)));
    assert!(asked.iter().all(|asked| asked.starts_with("Add")), "{asked:?}");
    let (same, ..) = opens(|_, before| Err(if before == 0 { 718 } else { 724 })).await;
    assert_eq!(same, Err(ReachNews::PortTaken(4001)));
    let (refused, _, asked) = opens(|_, _| Err(606)).await;
    assert_eq!(refused, Err(ReachNews::RouterRefused("it is not authorized".to_owned())));
    assert_eq!(asked.len(), 1);
    let (failed, ..) = opens(|_, _| Err(501)).await;
    assert_eq!(failed, Err(ReachNews::RouterRefused("No way, error 501".to_owned())));
}

/// The entry of a router's list that leads to this address.
fn leads_to(ip: &str) -> Result<String, u16> {
    Ok(format!("<NewInternalPort>4001</NewInternalPort><NewInternalClient>{ip}</NewInternalClient>"))
}

/// Ends while the request to open a port is on its way. Returns what the router was asked for afterwards.
async fn ends_without_an_answer(answers: Answers) -> Vec<String> {
    let fake = Fake::start(answers);
    let found = fake.found();
    let (mut ports, _told) = ports(found.clone());
    let address = "/ip4/127.0.0.1/tcp/4001".parse().unwrap();
    tokio::select! {
        biased;
        _ = ports.open(&found, PORT, &address) => panic!("nothing answers at once"),
        () = std::future::ready(()) => {}
    }
    ports.close().await;
    let mut asked = fake.asked();
    asked.retain(|asked| !asked.starts_with("Add"));
    asked
}

/// The router may open the port all the same.
#[tokio::test]
async fn a_port_is_closed_without_an_answer() {
    let asked = ends_without_an_answer(|action, before| match (action, before) {
        // The request to open it arrives later.
        ("GetSpecificPortMappingEntry", 0) => Err(714),
        ("GetSpecificPortMappingEntry", _) => leads_to("127.0.0.1"),
        _ => Ok(String::new()),
    })
    .await;
    let looked_up = "GetSpecificPortMappingEntry 4001";
    assert_eq!(asked, [looked_up, looked_up, "DeletePortMapping 4001"]);
}

#[tokio::test]
async fn the_port_of_another_device_is_never_closed() {
    let others: [Answers; 3] = [
        |action, _| match action {
            "GetSpecificPortMappingEntry" => leads_to("127.0.0.2"),
            _ => Ok(String::new()),
        },
        // Routers that do not tell.
        |action, _| match action {
            "GetSpecificPortMappingEntry" => Err(606),
            _ => Ok(String::new()),
        },
        |_, _| Ok(String::new()),
    ];
    for (number, answers) in others.into_iter().enumerate() {
        let asked = ends_without_an_answer(answers).await;
        assert_eq!(asked, ["GetSpecificPortMappingEntry 4001"], "router {number}");
    }
}

#[tokio::test]
async fn an_answer_that_is_too_deep_or_too_large_is_refused() {
    let too_much: [Answers; 2] =
        [|_, _| Ok(format!("{}{}", "<a>".repeat(40), "</a>".repeat(40))), |_, _| Ok("x".repeat(70_000))];
    for answers in too_much {
        let (result, told, asked) = opens(answers).await;
        let reason = "its answer cannot be read".to_owned();
        assert_eq!(result, Err(ReachNews::RouterRefused(reason)));
        assert_eq!(told, None);
        // The router may have opened it, but does not tell to whom.
        assert_eq!(asked, ["AddPortMapping 4001 1200", "GetSpecificPortMappingEntry 4001"]);
        assert_eq!(external_ip(&Fake::start(answers).gateway).await, Err(ReachNews::NoUpnp));
    }
}

#[tokio::test]
async fn routers_behind_routers_are_known_by_their_address() {
    let nothing = || Err(ReachNews::RouterNotPublic(None));
    let private = |text: &str| Err(ReachNews::RouterNotPublic(Some(text.parse().unwrap())));
    let answers: [(Answers, Result<Ipv4Addr, ReachNews>); 8] = [
        (|_, _| ip("11.22.33.44"), Ok(Ipv4Addr::new(11, 22, 33, 44))),
        (|_, _| ip("192.168.1.5"), private("192.168.1.5")),
        (|_, _| ip("100.64.3.4"), private("100.64.3.4")),
        (|_, _| ip(""), nothing()),
        (|_, _| ip("0.0.0.0"), nothing()),
        (|_, _| Ok(String::new()), nothing()),
        (|_, _| Err(501), nothing()),
        (|_, _| Err(606), Err(ReachNews::RouterRefused("it does not tell its address".to_owned()))),
    ];
    for (number, (answers, expected)) in answers.into_iter().enumerate() {
        let fake = Fake::start(answers);
        assert_eq!(external_ip(&fake.gateway).await, expected, "answer {number}");
    }
}

fn ip(text: &str) -> Result<String, u16> {
    Ok(format!("<NewExternalIPAddress>{text}</NewExternalIPAddress>"))
}

#[test]
fn reserved_addresses_are_not_global() {
    for (ip, global) in [
        ("11.22.33.44", true),
        ("223.255.255.1", true),
        ("0.1.2.3", false),
        ("10.1.2.3", false),
        ("100.127.1.1", false),
        ("127.0.0.1", false),
        ("169.254.1.1", false),
        ("172.31.1.1", false),
        ("192.0.0.8", false),
        ("192.168.1.1", false),
        ("198.19.1.1", false),
        ("203.0.113.1", false),
        ("224.0.0.1", false),
        ("250.1.1.1", false),
        ("255.255.255.255", false),
    ] {
        assert_eq!(is_global(ip.parse().unwrap()), global, "{ip}");
    }
}
