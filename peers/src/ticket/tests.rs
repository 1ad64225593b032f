//! Unit tests for tickets.

use proptest::prelude::*;

use super::*;
use ed25519_dalek::SigningKey;

fn host(seed: u8) -> PeerId {
    PeerId::of(&SigningKey::from_bytes(&[seed; 32]))
}

fn addresses(list: &[&str]) -> Vec<Multiaddr> {
    list.iter().map(|text| text.parse().unwrap()).collect()
}

fn sample() -> Ticket {
    let addresses = addresses(&["/ip4/192.168.1.7/tcp/4001", "/dns/table.example/tcp/9"]);
    Ticket::new(*b"lobby #1", host(1), addresses).unwrap()
}

/// Bytes with a valid checksum, as text.
fn sealed(mut body: Vec<u8>) -> String {
    let sum = way::TICKET.checksum(&body);
    body.extend_from_slice(&sum);
    format!("fd1{}", data_encoding::BASE32_NOPAD.encode(&body))
}

#[test]
fn golden() {
    // Computed independently in Python from the module documentation and RFC 8032.
    let text = "fd1nrxweytzeartdcui4poxicprsx6vfwznhs5f24wkm4e36hmucin7g5eia\
                g2a6324bacmbkaba4da7iisgugxiylcnrss4zlymfwxa3dfayaati3zjkpa";
    assert_eq!(sample().to_string(), text);
    assert_eq!(text.parse(), Ok(sample()));
}

#[test]
fn lengths_are_as_documented() {
    let one = "/ip4/192.168.1.7/tcp/4001";
    let two = "/ip4/10.0.0.1/tcp/4001";
    let length = |list: &[&str]| {
        let ticket = Ticket::new([0; 8], host(1), addresses(list)).unwrap();
        ticket.to_string().len()
    };
    assert_eq!(length(&[one]), 88);
    assert_eq!(length(&[one, two]), 103);
}

#[test]
fn chat_damage_is_ignored() {
    let text = sample().to_string();
    let (start, end) = text.split_at(20);
    let wrapped = format!("  {}-{start}\r\n\t{end} \n", "");
    assert_eq!(wrapped.parse(), Ok(sample()));
    assert_eq!(text.to_uppercase().parse(), Ok(sample()));
    let spaced: String = text.chars().flat_map(|c| [c, '-', '\u{a0}']).collect();
    assert_eq!(spaced.parse(), Ok(sample()));
}

#[test]
fn ticket_is_found_in_pasted_text() {
    let text = sample().to_string();
    let (start, end) = text.split_at(40);
    for pasted in [
        format!("\"{text}\""),
        format!("ticket:{text}"),
        format!("Ticket: `{text}`."),
        format!("<{text}>, see you at 8"),
        format!("({start}\n{end})"),
        format!("> come and play: {start}\n> {end}\n>\n> Anna"),
        format!("fairdeal join {text} now or never"),
        format!("fd1 is what tickets begin with: {text}"),
        format!("\u{201c}{start}\u{200b}{end}\u{201d}"),
        format!("{text}\n{text}"),
    ] {
        assert_eq!(pasted.parse(), Ok(sample()), "{pasted}");
    }
    let newer = text.replacen("fd1", "fd2", 1);
    let error = format!("ticket: {newer}").parse::<Ticket>();
    assert_eq!(error, Err(TicketError::Version('2')));
}

#[test]
fn fault_is_reported() {
    let refuse = |text: &str| text.parse::<Ticket>().unwrap_err();
    let text = sample().to_string();
    assert_eq!(refuse(""), TicketError::NotATicket);
    assert_eq!(refuse("hello"), TicketError::NotATicket);
    assert_eq!(refuse("fd2"), TicketError::NotATicket);
    let newer = text.replacen("fd1", "fd2", 1);
    assert_eq!(refuse(&newer), TicketError::Version('2'));
    assert_eq!(refuse("fd1"), TicketError::Typo);
    assert_eq!(refuse(&text[..text.len() - 1]), TicketError::Typo);
    assert_eq!(refuse(&format!("{text}a")), TicketError::Typo);
    assert_eq!(refuse(&text.replace('a', "1")), TicketError::Typo);
    assert_eq!(refuse(&"fd1a".repeat(1000)), TicketError::TooLong);
    assert_eq!(refuse(&" ".repeat(100_000)), TicketError::TooLong);
}

#[test]
fn a_good_checksum_saves_no_bad_content() {
    let head = sample().0.to_bytes(&way::TICKET)[..40].to_vec();
    let parse = |body: Vec<u8>| sealed(body).parse::<Ticket>();
    assert!(parse(head.clone()).is_ok());
    let off_curve =
        (0..=u8::MAX).map(|byte| [byte; 40]).find(|bytes| PeerId::from_bytes(bytes[8..].try_into().unwrap()).is_err());
    assert_eq!(parse(off_curve.unwrap().to_vec()), Err(TicketError::BadHost));
    assert_eq!(parse(head[..39].to_vec()), Err(TicketError::Typo));
    for tail in [
        vec![0],
        vec![5, 1],
        vec![2, 0xff, 0xff],
        // The address is only the host's own id.
        addresses(&[&format!("/p2p/{}", host(1))])
            .iter()
            .flat_map(|a| std::iter::once(u8::try_from(a.len()).unwrap()).chain(a.to_vec()))
            .collect(),
    ] {
        let body = [head.clone(), tail.clone()].concat();
        let result = parse(body);
        assert!(matches!(result, Err(TicketError::BadAddress { .. })), "{tail:?}");
    }
    let address = Multiaddr::from(std::net::Ipv4Addr::LOCALHOST).to_vec();
    let one = [vec![u8::try_from(address.len()).unwrap()], address].concat();
    let many = [head, one.repeat(9)].concat();
    assert_eq!(parse(many), Err(TicketError::TooManyAddresses(9)));
}

#[test]
fn the_hosts_own_id_is_dropped_and_anothers_refused() {
    let own = format!("/ip4/10.0.0.1/tcp/1/p2p/{}", host(1));
    let ticket = Ticket::new([0; 8], host(1), addresses(&[&own, "/ip4/10.0.0.1/tcp/1"]));
    assert_eq!(ticket.unwrap().addresses(), addresses(&["/ip4/10.0.0.1/tcp/1"]));
    let foreign = format!("/ip4/10.0.0.1/tcp/1/p2p/{}", host(2));
    let ticket = Ticket::new([0; 8], host(1), addresses(&[&foreign]));
    assert!(matches!(ticket, Err(TicketError::BadAddress { .. })));
    // A relay's id within an address stays.
    let relayed = format!("/ip4/10.0.0.1/tcp/1/p2p/{}/p2p-circuit", host(2));
    let ticket = Ticket::new([0; 8], host(1), addresses(&[&relayed])).unwrap();
    assert_eq!(ticket.to_string().parse(), Ok(ticket));
}

#[test]
fn too_many_or_too_long_addresses_are_refused() {
    let many = (1..=9).map(|port| format!("/ip4/10.0.0.1/tcp/{port}").parse().unwrap());
    let ticket = Ticket::new([0; 8], host(1), many);
    assert_eq!(ticket, Err(TicketError::TooManyAddresses(9)));
    let long = format!("/dns/{}/tcp/1", "a".repeat(253));
    let ticket = Ticket::new([0; 8], host(1), addresses(&[&long]));
    assert!(matches!(ticket, Err(TicketError::BadAddress { .. })));
}

#[test]
fn join_targets() {
    let peer = host(1);
    let text = format!(" /ip4/10.0.0.1/tcp/1/p2p/{peer} ");
    let address = "/ip4/10.0.0.1/tcp/1".parse().unwrap();
    assert_eq!(text.parse(), Ok(JoinTarget::Address { peer, address }));
    let ticket = sample().to_string().parse();
    assert_eq!(ticket, Ok(JoinTarget::Ticket(sample())));

    let refuse = |text: &str| text.parse::<JoinTarget>().unwrap_err();
    assert_eq!(refuse("/ip4/10.0.0.1/tcp/1"), JoinError::NoPeer);
    assert!(matches!(refuse("/nonsense"), JoinError::Address(_)));
    assert!(matches!(refuse("/"), JoinError::Address(_) | JoinError::NoPeer));
    assert!(matches!(refuse(&format!("/p2p/{peer}")), JoinError::Address(_)));
    assert!(matches!(refuse(&"/".repeat(10_000)), JoinError::Address(_)));
    assert_eq!(refuse("x"), JoinError::Ticket(TicketError::NotATicket));
}

fn any_address() -> impl Strategy<Value = Multiaddr> {
    let port = any::<u16>();
    prop_oneof![
        (any::<[u8; 4]>(), port)
            .prop_map(|(ip, port)| { Multiaddr::from(std::net::Ipv4Addr::from(ip)).with(Protocol::Tcp(port)) }),
        (any::<[u8; 16]>(), port)
            .prop_map(|(ip, port)| { Multiaddr::from(std::net::Ipv6Addr::from(ip)).with(Protocol::Tcp(port)) }),
        ("[a-z]{1,60}", port)
            .prop_map(|(name, port)| { Multiaddr::empty().with(Protocol::Dns(name.into())).with(Protocol::Tcp(port)) }),
        any::<u64>().prop_map(|port| Multiaddr::empty().with(Protocol::Memory(port))),
    ]
}

fn any_ticket() -> impl Strategy<Value = Ticket> {
    let addresses = proptest::collection::vec(any_address(), 0..=MAX_ADDRESSES);
    (any::<[u8; 8]>(), any::<[u8; 32]>(), addresses).prop_map(|(lobby, seed, addresses)| {
        let host = PeerId::of(&SigningKey::from_bytes(&seed));
        Ticket::new(lobby, host, addresses).unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn there_and_back(ticket in any_ticket()) {
        prop_assert_eq!(ticket.to_string().parse(), Ok(ticket));
    }

    #[test]
    fn a_wrong_character_is_noticed(
        ticket in any_ticket(),
        place in any::<prop::sample::Index>(),
        other in "[a-z0-9]",
    ) {
        let mut text = ticket.to_string();
        let at = place.index(text.len());
        prop_assume!(text[at..=at] != other);
        text.replace_range(at..=at, &other);
        prop_assert!(text.parse::<Ticket>().is_err());
    }

    #[test]
    fn swapped_neighbours_are_noticed(
        ticket in any_ticket(),
        place in any::<prop::sample::Index>(),
    ) {
        let mut text = ticket.to_string().into_bytes();
        let at = place.index(text.len() - 1);
        prop_assume!(text[at] != text[at + 1]);
        text.swap(at, at + 1);
        prop_assert!(String::from_utf8(text).unwrap().parse::<Ticket>().is_err());
    }

    #[test]
    fn garbage_is_refused(text in "\\PC{0,200}") {
        prop_assert!(text.parse::<Ticket>().is_err());
        let prefixed = ["fd1", &text].concat();
        prop_assert!(prefixed.parse::<JoinTarget>().is_err());
    }

    #[test]
    fn garbage_under_a_good_checksum_never_panics(
        body in proptest::collection::vec(any::<u8>(), 0..400),
    ) {
        let _ = sealed(body).parse::<Ticket>();
    }

    #[test]
    fn garbage_addresses_never_panic(
        tail in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        let mut body = sample().0.to_bytes(&way::TICKET)[..40].to_vec();
        body.extend_from_slice(&tail);
        if let Ok(ticket) = sealed(body).parse::<Ticket>() {
            prop_assert_eq!(ticket.to_string().parse(), Ok(ticket));
        }
    }
}

/// A relay serves the page whatever the host's program has.
#[test]
fn link_is_at_the_first_door_with_a_page() {
    let own = "/ip4/192.168.1.7/tcp/4002/ws";
    let relay = format!("/ip4/93.184.215.14/tcp/443/tls/ws/p2p/{}/p2p-circuit", host(2));
    let tcp = format!("/ip4/93.184.215.14/tcp/4001/p2p/{}/p2p-circuit", host(2));
    let link = |all: &[&str], serves_page| {
        let ticket = Ticket::new([0; 8], host(1), addresses(all)).unwrap();
        ticket.link(serves_page).map(|link| (link.url.replace(&ticket.to_string(), "TICKET"), link.scope))
    };
    let near = Some(("http://192.168.1.7:4002/#TICKET".to_owned(), Scope::Network));
    let far = Some(("https://93.184.215.14/#TICKET".to_owned(), Scope::Anywhere));
    assert_eq!(link(&[own], true), near);
    assert_eq!(link(&[own], false), None);
    assert_eq!(link(&[own, &relay], true), near);
    assert_eq!(link(&[own, &relay], false), far);
    assert_eq!(link(&[&tcp, &relay, own], true), far);
    assert_eq!(link(&[&tcp], true), None);
    // Programs take the other way to the relay.
    let ticket = Ticket::new([0; 8], host(1), addresses(&[&tcp, &relay])).unwrap();
    let relays = addresses(&[tcp.strip_suffix("/p2p-circuit").unwrap()]);
    assert_eq!(JoinTarget::Ticket(ticket).relays(), relays);
}
