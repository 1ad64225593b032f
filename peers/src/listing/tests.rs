use proptest::prelude::*;

use super::*;
use crate::Multiaddr;
use crate::testing::{key, peer, text};

fn announcement() -> Announcement {
    let options = vec![(text("target"), text("100"))].try_into().unwrap();
    Announcement { options, locked: true, ..crate::testing::announcement(3) }
}

fn offer(seed: u8) -> Offer {
    let address: Multiaddr = "/ip4/192.0.2.1/tcp/4001".parse().unwrap();
    Offer { announcement: announcement(), record: AddressRecord::sign(&key(seed), &[address], 7) }
}

const POINT: u8 = 9;

fn signed(seed: u8, offer: &Offer) -> Registration {
    Registration::sign(&key(seed), peer(POINT), 7, offer).unwrap()
}

#[test]
fn registration_tells_what_its_host_signed() {
    let offer = offer(1);
    let table = signed(1, &offer).verify(peer(POINT)).unwrap();
    assert_eq!((table.table.id(), table.number), ((peer(1), [3; 8]), 7));
    assert_eq!(*table.table.announcement(), offer.announcement);
    assert_eq!(table.table.ticket().addresses(), offer.record.of(peer(1)).unwrap());
}

#[test]
fn registration_counts_at_its_own_point_only() {
    let registration = signed(1, &offer(1));
    assert_eq!(registration.verify(peer(8)), Err(RegistrationError::NotSigned));
}

#[test]
fn changed_registration_is_refused() {
    let bytes = encode(&signed(1, &offer(1)));
    for place in 0..bytes.len() {
        let mut bytes = bytes.clone();
        bytes[place] ^= 1;
        let changed = decode::<Registration>(&bytes, MAX_REQUEST);
        assert!(changed.is_err() || changed.unwrap().verify(peer(POINT)).is_err(), "byte {place}");
    }
}

#[test]
fn addresses_of_another_peer_are_refused() {
    let error = signed(1, &offer(2)).verify(peer(POINT));
    assert_eq!(error, Err(RegistrationError::Record(RecordError::OtherPeer)));
}

#[test]
fn table_without_a_free_seat_is_refused() {
    for (seats, free) in [(3, 0), (3, 3), (3, 4), (0, 0)] {
        let mut full = offer(1);
        (full.announcement.seats, full.announcement.free) = (seats, free);
        let error = signed(1, &full).verify(peer(POINT));
        assert_eq!(error, Err(RegistrationError::NoFreeSeat));
    }
}

#[test]
fn longest_registration_fits_in_a_request() {
    let registration = Registration {
        host: (&key(1)).into(),
        number: u64::MAX,
        announcement: vec![255; MAX_ANNOUNCEMENT].try_into().unwrap(),
        record: AddressRecord::from_bytes(vec![255; crate::record::MAX_RECORD]).unwrap(),
        signature: SignatureBytes([255; 64]),
    };
    let request = MeetRequest::Register(Box::new(registration.clone()));
    let bytes = request.to_bytes();
    assert!(bytes.len() <= MAX_REQUEST);
    assert_eq!(MeetRequest::from_bytes(&bytes), Ok(request));

    let many = vec![registration; 2 * MAX_PAGE];
    let page = MeetPage::of((u64::MAX - 100..).zip(&many));
    assert_eq!(page.next, Some(u64::MAX - 100 + page.registrations.len() as u64 - 1));
    let bytes = MeetResponse::Page(page).to_bytes();
    assert!(bytes.len() <= MAX_RESPONSE && bytes.len() + MAX_REQUEST > MAX_RESPONSE);
    assert!(MeetResponse::from_bytes(&bytes).is_ok());
}

#[test]
fn page_has_at_most_its_number_of_tables() {
    let registration = signed(1, &offer(1));
    let count = |all: usize| {
        let all = vec![registration.clone(); all];
        let page = MeetPage::of((1..).zip(&all));
        (page.registrations.len(), page.next)
    };
    assert_eq!(count(0), (0, None));
    assert_eq!(count(MAX_PAGE), (MAX_PAGE, None));
    assert_eq!(count(MAX_PAGE + 1), (MAX_PAGE, Some(50)));
}

#[test]
fn page_leaves_out_what_no_host_signed() {
    let good = signed(1, &offer(1));
    let bad = Registration { number: 8, ..good.clone() };
    let all = [bad, good];
    let page = MeetPage::of((1..).zip(&all)).verify(peer(POINT));
    assert_eq!(page.tables.len(), 1);
    assert_eq!(page.tables[0].number, 7);
}

fn hex(bytes: &[u8]) -> String {
    data_encoding::HEXLOWER.encode(bytes)
}

/// A registration with the same bytes every time: a real record holds the time of its signature.
fn fixed() -> Registration {
    let offer =
        Offer { announcement: announcement(), record: AddressRecord::from_bytes(vec![4, 192, 0, 2, 1]).unwrap() };
    signed(1, &offer)
}

const ANNOUNCEMENT: &str = "030303030303030304416e6e61046c6f6f74010674617267657403313030030201";

/// Golden vectors of every message: a change here changes the wire format.
#[test]
fn messages_have_fixed_bytes() {
    assert_eq!(hex(&announcement().to_bytes()), ANNOUNCEMENT);
    let host = hex(&key(1).verifying_key().to_bytes());
    let signature = hex(&fixed().signature.0);
    assert_eq!(signature, SIGNATURE);
    let registration = format!("{host}0721{ANNOUNCEMENT}0504c0000201{signature}");
    let requests = [
        (MeetRequest::Register(Box::new(fixed())), format!("00{registration}")),
        (MeetRequest::Withdraw { lobby: [3; 8] }, "010303030303030303".to_owned()),
        (MeetRequest::List { game: None, after: None }, "020000".to_owned()),
        (MeetRequest::List { game: Some(text("loot")), after: Some(50) }, "0201046c6f6f740132".to_owned()),
    ];
    for (request, bytes) in requests {
        assert_eq!(hex(&request.to_bytes()), bytes, "{request:?}");
        assert_eq!(MeetRequest::from_bytes(&request.to_bytes()), Ok(request));
    }
    let page = MeetPage { registrations: vec![fixed()].try_into().unwrap(), next: Some(1) };
    let responses = [
        (MeetResponse::Done, "00".to_owned()),
        (MeetResponse::Refused(Refusal::Full), "0100".to_owned()),
        (MeetResponse::Refused(Refusal::NetworkFull), "0101".to_owned()),
        (MeetResponse::Refused(Refusal::TooFast), "0102".to_owned()),
        (MeetResponse::Refused(Refusal::Invalid), "0103".to_owned()),
        (MeetResponse::Refused(Refusal::Outdated), "0104".to_owned()),
        (MeetResponse::Page(MeetPage::default()), "020000".to_owned()),
        (MeetResponse::Page(page), format!("0201{registration}0101")),
    ];
    for (response, bytes) in responses {
        assert_eq!(hex(&response.to_bytes()), bytes, "{response:?}");
        assert_eq!(MeetResponse::from_bytes(&response.to_bytes()), Ok(response));
    }
}

/// The signature of [`fixed`], over the label, the point's key, and the fields before it.
const SIGNATURE: &str = concat!(
    "3ce6fe9d65a2898851a237a284426784b8dc2ba1f1f6df37ff0f9ddb09c22c94",
    "38b7e377fde4e6b7effb839659ad51dcd55e96a4843aae288737ad8e7292f90c",
);

proptest! {
    #[test]
    fn any_bytes_give_a_message_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        if let Ok(request) = MeetRequest::from_bytes(&bytes) {
            prop_assert_eq!(&request.to_bytes(), &bytes);
            if let MeetRequest::Register(registration) = request {
                prop_assert!(registration.verify(peer(POINT)).is_err());
            }
        }
        if let Ok(response) = MeetResponse::from_bytes(&bytes) {
            prop_assert_eq!(response.to_bytes(), bytes);
        }
    }

    /// Nearly valid messages: a few bytes of good ones are changed, and the end is cut off.
    #[test]
    fn changed_messages_are_refused_or_harmless(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        end in any::<prop::sample::Index>(),
        as_page in any::<bool>(),
    ) {
        let page = MeetPage { registrations: vec![fixed(); 2].try_into().unwrap(), next: None };
        let mut bytes = if as_page {
            MeetResponse::Page(page).to_bytes()
        } else {
            MeetRequest::Register(Box::new(fixed())).to_bytes()
        };
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        bytes.truncate(end.index(bytes.len()) + 1);
        if let Ok(MeetResponse::Page(page)) = MeetResponse::from_bytes(&bytes) {
            // The record of these registrations is not signed.
            prop_assert_eq!(page.verify(peer(POINT)).tables, vec![]);
        }
        if let Ok(MeetRequest::Register(registration)) = MeetRequest::from_bytes(&bytes) {
            prop_assert!(registration.verify(peer(POINT)).is_err());
        }
    }

    #[test]
    fn too_many_registrations_are_refused_unread(count in MAX_PAGE + 1..10_000) {
        // A page that claims `count` registrations and has none.
        let mut bytes = vec![2];
        match u8::try_from(count) {
            Ok(count) if count < 251 => bytes.push(count),
            _ => {
                bytes.push(251);
                bytes.extend(u16::try_from(count).unwrap().to_le_bytes());
            }
        }
        bytes.push(0);
        prop_assert!(MeetResponse::from_bytes(&bytes).is_err());
    }
}

#[test]
fn table_that_nobody_can_join_is_not_listed() {
    let elsewhere: Multiaddr = format!("/ip4/192.0.2.2/tcp/1/p2p/{}", peer(2)).parse().unwrap();
    let offer = Offer { record: AddressRecord::sign(&key(1), &[elsewhere], 7), ..offer(1) };
    let error = signed(1, &offer).verify(peer(POINT)).unwrap_err();
    assert!(matches!(error, RegistrationError::Ticket(_)), "{error}");
}
