//! Letters at a point, over memory and over TCP on loopback.

use fairdeal_peers::Multiaddr;
use fairdeal_peers::mail::{MAX_POSTED, MailRefusal, MailRequest, MailResponse, Posted, Subject};
use fairdeal_protocol::charter::SeatKey;
use fairdeal_protocol::wire::bounded::Bounded;
use libp2p::multiaddr::Protocol;

use crate::tests::{Side, id, identity, quick, spawn, spawn_listening};
use crate::{NodeEvent, Reach, Transport};

fn key(seed: u8) -> SeatKey {
    SeatKey::from(&identity(seed))
}

async fn point(seed: u8, transport: Transport) -> (Side, Multiaddr) {
    let mut config = quick(transport);
    config.reach = Reach::Relay;
    let (side, address) = spawn_listening(seed, config).await;
    (side, address.with(Protocol::P2p(id(seed).into())))
}

async fn player(seed: u8, transport: Transport, point: u8, address: &Multiaddr) -> Side {
    let mut side = spawn(seed, quick(transport));
    side.handle.dial(Some(id(point)), vec![address.clone()]).unwrap();
    side.connected(id(point)).await;
    side
}

impl Side {
    async fn mail(&self, point: u8, request: MailRequest) -> MailResponse {
        self.handle.mail(id(point), request).await.unwrap().unwrap()
    }
}

fn letter(owner: u8, bytes: &[u8]) -> MailRequest {
    let subject = Subject { place: [1; 8], content: [2; 8] };
    MailRequest::Put(Box::new(Posted { owner: key(owner), subject, letter: bytes.to_vec().try_into().unwrap() }))
}

async fn letters_are_kept_for_their_reader(transport: Transport) {
    let (relay, address) = point(1, transport).await;
    let anna = player(2, transport, 1, &address).await;
    let bela = player(3, transport, 1, &address).await;
    let long = vec![7; MAX_POSTED];
    assert_eq!(bela.mail(1, letter(2, &long)).await, MailResponse::Refused(MailRefusal::NoBox));
    assert_eq!(anna.mail(1, MailRequest::Open { writers: Bounded::one(key(3)) }).await, MailResponse::Done);
    assert_eq!(bela.mail(1, letter(2, &long)).await, MailResponse::Done);
    let MailResponse::Waiting(waiting) = bela.mail(1, MailRequest::Look { owner: key(2) }).await else { panic!() };
    assert_eq!(waiting.len(), 1);
    // She comes again, as another connection of the same key.
    anna.handle.shutdown().await;
    let anna = player(2, transport, 1, &address).await;
    let MailResponse::Letters(page) = anna.mail(1, MailRequest::Fetch { after: None }).await else { panic!() };
    assert_eq!(page.letters[0].letter.to_vec(), long);
    anna.mail(1, MailRequest::Read { numbers: Bounded::one(page.letters[0].number) }).await;
    let MailResponse::Waiting(waiting) = bela.mail(1, MailRequest::Look { owner: key(2) }).await else { panic!() };
    assert_eq!(waiting.len(), 0);
    let metrics = relay.handle.metrics().await.unwrap();
    assert_eq!((metrics.boxes, metrics.letters, metrics.letters_accepted, metrics.letter_pages_sent), (1, 0, 1, 1));
    assert_eq!(metrics.mail_refused.get("no_box"), 1);
}

#[tokio::test]
async fn letters_are_kept_in_memory() {
    letters_are_kept_for_their_reader(Transport::Memory).await;
}

#[tokio::test]
async fn letters_are_kept_over_tcp() {
    letters_are_kept_for_their_reader(Transport::Sockets).await;
}

#[tokio::test]
async fn program_that_is_no_point_is_told_apart() {
    let (_other, address) = spawn_listening(1, quick(Transport::Memory)).await;
    let anna = player(2, Transport::Memory, 1, &address.with(Protocol::P2p(id(1).into()))).await;
    let why = anna.handle.mail(id(1), MailRequest::Fetch { after: None }).await.unwrap().unwrap_err();
    assert!(why.contains("no meeting point"), "{why}");
    let nobody = spawn(4, quick(Transport::Memory));
    assert!(nobody.handle.mail(id(9), MailRequest::Fetch { after: None }).await.unwrap().is_err());
}

#[tokio::test]
async fn requests_without_end_are_cut_off() {
    let (_point, address) = point(1, Transport::Sockets).await;
    let mut anna = player(2, Transport::Sockets, 1, &address).await;
    let mut answered = 0;
    while anna.handle.mail(id(1), MailRequest::Fetch { after: None }).await.unwrap().is_ok() {
        answered += 1;
    }
    // A few more if they took long.
    assert!((64..90).contains(&answered), "{answered}");
    anna.until(|event| matches!(event, NodeEvent::Disconnected { .. }).then_some(())).await;
}
