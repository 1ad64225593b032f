//! Answers to the search and descriptions, from a small server in this process.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::time::Instant;

use super::*;

/// The usual description of a router, around a service of this type.
fn description(service: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?>\n<root xmlns=\"urn:schemas-upnp-org:device-1-0\"><device><friendlyName>Caf\u{e9} &amp; \
         &#x42;ar</friendlyName><serviceList><service>\
         <serviceType>urn:schemas-upnp-org:service:Layer3Forwarding:1</serviceType><controlURL>/l3f</controlURL>\
         </service></serviceList><deviceList><device><UDN/><serviceList><service><serviceType>{service}</serviceType>\
         <controlURL>ctl?a=1&amp;b=2</controlURL><SCPDURL>/w.xml</SCPDURL></service></serviceList></device></deviceList>\
         </device></root>"
    )
}

/// Elements within each other around a text.
fn nested(depth: usize, text: &str) -> String {
    format!("{}{text}{}", "<a>".repeat(depth), "</a>".repeat(depth))
}

/// Answers every request with this body.
fn serve(body: String) -> Location {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let _ =
                write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len());
        }
    });
    Location { addr, path: "/root.xml".to_owned() }
}

#[tokio::test]
async fn a_router_is_known_by_its_service() {
    for service in SERVICES {
        let location = serve(description(service));
        let expected = Gateway { addr: location.addr, control: "/ctl?a=1&b=2".to_owned(), service };
        assert_eq!(Gateway::described(&location).await, Ok(expected));
    }
    for other in [&description("urn:schemas-upnp-org:service:WANPOTSLinkConfig:1"), "", "<root", "<a></b>"] {
        let found = Gateway::described(&serve(other.to_owned())).await;
        assert_eq!(found, Err(Fault::Unreadable), "{other}");
    }
}

#[tokio::test]
async fn descriptions_are_bounded() {
    let inner = "<service><serviceType>urn:schemas-upnp-org:service:WANIPConnection:1</serviceType>\
                 <controlURL>/c</controlURL></service>";
    for (depth, taken) in [(MAX_DEPTH - 2, true), (MAX_DEPTH - 1, false)] {
        let found = Gateway::described(&serve(nested(depth, inner))).await;
        assert_eq!(found.is_ok(), taken, "{depth} around two");
    }
    let around = nested(1, inner).len();
    for (more, taken) in [(0, true), (1, false)] {
        let padding = "x".repeat(MAX_ANSWER - around + more);
        let found = Gateway::described(&serve(nested(1, &format!("{inner}{padding}")))).await;
        assert_eq!(found.is_ok(), taken, "{more} too many");
    }
}

/// A device that keeps sending does not keep us waiting.
#[tokio::test]
async fn an_answer_has_its_time() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let location = Location { addr: listener.local_addr().unwrap(), path: "/".to_owned() };
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut sent = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        while sent.is_ok() {
            std::thread::sleep(Duration::from_millis(100));
            sent = stream.write_all(b"<a/>");
        }
    });
    let started = Instant::now();
    assert_eq!(Gateway::described(&location).await, Err(Fault::NoAnswer));
    assert!(started.elapsed() < ANSWER + Duration::from_secs(3));
}

#[test]
fn a_device_names_only_itself() {
    let from = |from: &str, url: &str| {
        let answer = format!("HTTP/1.1 200 OK\r\nST: x\r\nLocation:  {url}\r\n\r\n");
        Location::in_answer(answer.as_bytes(), from.parse().unwrap())
    };
    let lan = "192.168.1.1";
    for (url, addr, path) in [
        ("http://192.168.1.1:5000/root.xml?a", "192.168.1.1:5000", "/root.xml?a"),
        ("HTTP://192.168.1.1", "192.168.1.1:80", "/"),
    ] {
        let expected = Location { addr: addr.parse().unwrap(), path: path.to_owned() };
        assert_eq!(from(lan, url), Some(expected), "{url}");
    }
    for url in [
        "http://192.168.1.2:5000/root.xml",
        "http://192.168.1.1@192.168.1.2/root.xml",
        "http://router.lan/root.xml",
        "https://192.168.1.1/root.xml",
        "http://[::1]:5000/root.xml",
        "/root.xml",
        "",
    ] {
        assert_eq!(from(lan, url), None, "{url}");
    }
    assert_eq!(from("11.22.33.44", "http://11.22.33.44/root.xml"), None, "not of the LAN");
    // The same for what a description names.
    let location = from(lan, "http://192.168.1.1:5000/root.xml").unwrap();
    for (url, addr) in [
        ("/ctl", Some("192.168.1.1:5000")),
        ("ctl", Some("192.168.1.1:5000")),
        ("http://192.168.1.1:6000/ctl", Some("192.168.1.1:6000")),
        ("http://192.168.1.2:6000/ctl", None),
        ("/a b", None),
    ] {
        let named = location.reference(url);
        assert_eq!(named.as_ref().map(|named| named.addr.to_string()).as_deref(), addr, "{url}");
        assert!(named.is_none_or(|named| named.path == "/ctl"), "{url}");
    }
}

/// Other devices answer first, and one of them never.
#[tokio::test]
async fn the_router_is_found_among_others() {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = format!("http://{}/", silent.local_addr().unwrap());
    let url = |location: &Location| format!("http://{}{}", location.addr, location.path);
    let router = serve(description(SERVICES[0]));
    let device = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let too_deep = url(&serve(nested(MAX_DEPTH + 1, "")));
    let too_large = url(&serve("x".repeat(MAX_ANSWER + 1)));
    for location in [&silent, &too_deep, &too_large, "http://192.0.2.1/", &url(&router)] {
        let answer = format!("HTTP/1.1 200 OK\r\nLOCATION: {location}\r\n\r\n");
        device.send_to(answer.as_bytes(), socket.local_addr().unwrap()).unwrap();
    }
    let found = timeout(SEARCH, first_described(&socket)).await.unwrap();
    assert_eq!(found.addr, router.addr);
}
