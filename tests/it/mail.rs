//! Games by mail: seats that are never online together, and meeting points that are killed, forget and drop letters.

use std::path::Path;
use std::process::Output;

use fairdeal::drive::mail::{Remembered, Visit, has_mail, visit};
use fairdeal::store::{DataDir, DataView};
use fairdeal_net::{Node, NodeConfig, NodeEvent, NodeHandle, Transport};
use fairdeal_peers::address::named_peer;
use fairdeal_peers::mail::{KEPT, MailRefusal, MailRequest, MailResponse, Posted, Subject};
use fairdeal_peers::{Multiaddr, PeerId};
use fairdeal_protocol::charter::SeatKey;
use fairdeal_protocol::wire::bounded::Bounded;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng as _, SeedableRng as _};
use tempfile::TempDir;

use super::letters::{Home, are_fair, homes};
use super::process::{Relay, fairdeal};

/// A point whose visitors all come from one machine, and often.
pub(super) fn point(root: &Path) -> Relay {
    Relay::start_with(root, &["--max-boxes-per-network", "1024"])
}

/// A connection to a point under a key.
struct Line(NodeHandle, PeerId);

impl Line {
    async fn open(key: &ed25519_dalek::SigningKey, point: &str) -> Self {
        let address: Multiaddr = point.parse().unwrap();
        let peer = named_peer(&address).unwrap();
        let (node, mut events) = Node::spawn(key, NodeConfig::new(Transport::Sockets)).unwrap();
        node.dial(Some(peer), vec![address]).unwrap();
        while !matches!(events.recv().await.unwrap(), NodeEvent::Connected { .. }) {}
        tokio::spawn(async move { while events.recv().await.is_some() {} });
        Self(node, peer)
    }

    async fn ask(&self, request: MailRequest) -> MailResponse {
        self.0.mail(self.1, request).await.unwrap().unwrap()
    }

    async fn fetch(&self) -> Vec<(u64, Vec<u8>)> {
        let MailResponse::Letters(page) = self.ask(MailRequest::Fetch { after: None }).await else { return Vec::new() };
        page.letters.into_inner().into_iter().map(|came| (came.number, came.letter.into_inner())).collect()
    }
}

fn key_of(home: &Home) -> ed25519_dalek::SigningKey {
    let identity = DataView::of(Some(home.data_dir())).unwrap().known_identity();
    identity.unwrap().unwrap().signing_key()
}

/// Takes half of a reader's letters away, as a point could that drops them.
async fn drop_half(reader: &Line, rng: &mut ChaCha20Rng) -> usize {
    let numbers = reader.fetch().await.into_iter().map(|(number, _)| number);
    let dropped: Vec<u64> = numbers.filter(|_| rng.next_u32().is_multiple_of(2)).collect();
    let count = dropped.len();
    if count > 0 {
        reader.ask(MailRequest::Read { numbers: Bounded::first(dropped) }).await;
    }
    count
}

async fn fetches(home: &Home, points: &[Multiaddr]) {
    let visited = visit(&home.data(), points, &[]).await.unwrap();
    for table in &visited.tables {
        assert!(table.failed.is_none() && table.refused.is_empty(), "{table:?}");
    }
}

/// Nobody is ever online with another. One of the two points drops half of the letters all the time, and the other is
/// killed in the middle of the game, and comes back with nothing. All three programs crash once, and one of them again: they
/// ask by mail.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_finish_a_game_through_two_points_that_fail() {
    let root = TempDir::new().unwrap();
    let options = [("target", "1"), ("turn-time", "604800")];
    let mut homes = homes(root.path(), "loot", &["Anna", "Béla", "Cleo"], &options).await;
    let (mut good, bad) = (Some(point(&root.path().join("good"))), point(&root.path().join("bad")));
    let points: Vec<Multiaddr> = [good.as_ref().unwrap(), &bad].map(|relay| relay.address.parse().unwrap()).into();
    let mut rng = ChaCha20Rng::seed_from_u64(11);
    let mut readers = Vec::new();
    for home in &homes {
        readers.push(Line::open(&key_of(home), &bad.address).await);
    }
    let (mut visits, mut dropped) = (0, 0);
    while homes.iter().any(|home| home.transcript().is_none()) {
        let turn = visits % homes.len();
        dropped += drop_half(&readers[turn], &mut rng).await;
        fetches(&homes[turn], &points).await;
        if homes[turn].acts(&mut rng) {
            fetches(&homes[turn], &points).await;
        }
        visits += 1;
        match visits {
            6 => homes.iter().for_each(Home::came_from_a_copy),
            30 => good = None,
            // It comes back with nothing.
            60 => {
                let (listen, _) =
                    points[0].to_string().split_once("/p2p/").map(|(at, of)| (at.to_owned(), of.to_owned())).unwrap();
                let options = ["--listen", &listen, "--max-boxes-per-network", "1024"];
                good = Some(Relay::start_by(fairdeal(), &root.path().join("good"), &options));
            }
            14 => homes[1].came_from_a_copy(),
            _ => {}
        }
        assert!(visits < 1_500, "the game does not end");
    }
    assert!(visits > 30 && dropped > 20, "{visits} visits, {dropped} letters dropped");
    drop(good);
    are_fair(&homes);
}

fn mail(data: &Path, args: &[&str]) -> (Option<i32>, String) {
    let Output { status, stdout, stderr } =
        fairdeal().arg("--data-dir").arg(data).arg("mail").args(args).output().unwrap();
    (status.code(), String::from_utf8(stdout).unwrap() + &String::from_utf8(stderr).unwrap())
}

/// The commands, as two friends would run them, and a point that is restarted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commands_tell_what_has_come_and_what_waits() {
    let root = TempDir::new().unwrap();
    let mut homes = homes(root.path(), "plutonian-poker", &["Anna", "Béla"], &[("turn-time", "604800")]).await;
    let [anna, bela] = [0, 1].map(|seat: usize| homes[seat].data_dir().to_path_buf());
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    let (code, text) = mail(&anna, &[]);
    assert!(code == Some(2) && text.contains("no meeting point is known; name one with --meet"), "{text}");
    let relay = point(root.path());
    let address = relay.address.clone();
    let meet = ["--meet", &address];
    // Béla's program has not asked for mail yet.
    let (code, text) = mail(&anna, &meet);
    assert!(
        code == Some(0)
            && text
                .contains("No point keeps a letter for Béla: the reader's program has not looked for mail there yet"),
        "{text}"
    );
    let (code, text) = mail(&bela, &meet);
    assert!(
        code == Some(0) && text.contains("A letter for Anna waits since today at your meeting point, until "),
        "{text}"
    );
    let (_, text) = mail(&anna, &meet);
    assert!(text.contains("A letter from Béla:"), "{text}");
    for visits in 0.. {
        if mail(&anna, &meet).1.contains("It is your turn: `fairdeal resume ") {
            break;
        }
        // Either may begin.
        homes[1].acts(&mut rng);
        mail(&bela, &meet);
        assert!(visits < 10, "it does not become Anna's turn");
    }
    assert!(homes[0].acts(&mut rng));
    let (_, text) = mail(&anna, &meet);
    assert!(text.contains("A letter for Béla waits since today"), "{text}");
    let (_, listed) = mail(&anna, &["--list"]);
    assert!(listed.contains("A letter for Béla waits since today"), "{listed}");
    // What the point has forgotten is there again after the next visit.
    let relay = relay.restart_by(fairdeal(), root.path(), &["--max-boxes-per-network", "1024"], || {
        let (code, text) = mail(&anna, &meet);
        assert!(code == Some(1) && text.contains("no meeting point was reached"), "{text}");
    });
    mail(&bela, &meet);
    let (_, text) = mail(&anna, &meet);
    assert!(text.contains("A letter for Béla waits since today"), "{text}");
    let (_, text) = mail(&bela, &meet);
    assert!(text.contains("A letter from Anna:"), "{text}");
    // Whoever has shown that it lacks nothing gets no more letters.
    mail(&anna, &meet);
    mail(&bela, &meet);
    let (_, text) = mail(&anna, &meet);
    assert!(!text.contains("A letter for"), "{text}");
    let remembered = Remembered::of(&DataView::of(Some(&anna)).unwrap());
    assert!(remembered.tables.values().all(|table| table.readers.iter().all(|reader| reader.covered)));
    // To the end, and the last signatures too. The point forgets all once the game is over for one of them.
    let points = [address.parse().unwrap()];
    let mut relay = Some(relay);
    let mut has_forgotten = false;
    for visits in 0.. {
        let turn = visits % 2;
        fetches(&homes[turn], &points).await;
        if homes[turn].acts(&mut rng) {
            fetches(&homes[turn], &points).await;
        }
        match homes.iter().filter(|home| home.transcript().is_some()).count() {
            0 => {}
            1 if !has_forgotten => {
                has_forgotten = true;
                let again = ["--max-boxes-per-network", "1024"];
                relay = relay.map(|relay| relay.restart_by(fairdeal(), root.path(), &again, || {}));
                fetches(&homes[turn], &points).await;
                fetches(&homes[turn], &points).await;
            }
            1 => {}
            _ => break,
        }
        assert!(visits < 500, "the game does not end");
    }
    assert!(has_forgotten);
    are_fair(&homes);
    // What is left is said of nobody, and ends.
    for turn in [0, 1, 0, 1] {
        if has_mail_at(&homes[turn], &points) {
            fetches(&homes[turn], &points).await;
        }
    }
    let (code, text) = mail(&anna, &meet);
    assert!(code == Some(0) && !text.contains("No point keeps"), "{text}");
    for home in &homes {
        for journal in home.data().journals().unwrap() {
            let old = std::time::SystemTime::now() - KEPT - KEPT;
            std::fs::File::options().write(true).open(journal.path).unwrap().set_modified(old).unwrap();
        }
        assert!(!has_mail_at(home, &points));
    }
    drop(relay);
}

fn has_mail_at(home: &Home, points: &[Multiaddr]) -> bool {
    has_mail(&home.data(), points, &[])
}

/// The first screen asks whether there is mail: that gives a new player no identity.
#[test]
fn a_new_player_has_no_mail_and_no_identity() {
    let root = TempDir::new().unwrap();
    let data = DataDir::open(Some(root.path())).unwrap();
    assert!(!has_mail(&data, &["/ip4/192.0.2.1/tcp/1".parse().unwrap()], &[]));
    assert!(data.known_identity().unwrap().is_none());
}

/// Three tables of the same two players: the letters for each come, also while a session plays at one of them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn letters_of_several_tables_share_a_box() {
    let root = TempDir::new().unwrap();
    for game in ["loot", "plutonian-poker"] {
        homes(root.path(), game, &["Anna", "Béla"], &[("turn-time", "604800")]).await;
    }
    let homes = homes(root.path(), "loot", &["Anna", "Béla"], &[("turn-time", "604800")]).await;
    let relay = point(root.path());
    let points = [relay.address.parse().unwrap()];
    for home in &homes {
        fetches(home, &points).await;
    }
    // A session of Béla plays at one of them meanwhile: its letters wait, those for the others come.
    let data = homes[0].data();
    let file = data.journals().unwrap().remove(0);
    let open = data.open_journal(&file).unwrap();
    let came = |visit: &Visit| visit.tables.iter().filter(|table| table.came.len() == 1).count();
    let first = visit(&data, &points, &[]).await.unwrap();
    assert_eq!((first.tables.len(), came(&first)), (2, 2));
    open.0.mark_clean().unwrap();
    drop(open);
    let second = visit(&data, &points, &[]).await.unwrap();
    assert_eq!((second.tables.len(), came(&second)), (3, 1));
}

/// Somebody else at a point: with the key of nobody at the table, and with that of a player who writes rubbish.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn strangers_and_rubbish_do_no_harm() {
    let root = TempDir::new().unwrap();
    let mut homes = homes(root.path(), "plutonian-poker", &["Anna", "Béla"], &[("turn-time", "604800")]).await;
    let relay = point(root.path());
    let points = [relay.address.parse().unwrap()];
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    for turn in [0, 1, 0] {
        fetches(&homes[turn], &points).await;
        homes[turn].acts(&mut rng);
        fetches(&homes[turn], &points).await;
    }
    let owner = SeatKey::from(&key_of(&homes[1]));
    let put = |place: u8, bytes: Vec<u8>| {
        let subject = Subject { place: [place; 8], content: [1; 8] };
        MailRequest::Put(Box::new(Posted { owner, subject, letter: bytes.try_into().unwrap() }))
    };
    let stranger = Line::open(&ed25519_dalek::SigningKey::from_bytes(&[9; 32]), &relay.address).await;
    let none = MailResponse::Refused(MailRefusal::NoBox);
    assert_eq!(stranger.ask(put(1, vec![1; 1024])).await, none);
    assert_eq!(stranger.ask(MailRequest::Look { owner }).await, none);
    assert_eq!(stranger.ask(MailRequest::Fetch { after: None }).await, none);
    // What one of the table writes is nobody's letter, and goes at the next visit.
    let anna = Line::open(&key_of(&homes[0]), &relay.address).await;
    let bela = Line::open(&key_of(&homes[1]), &relay.address).await;
    let real = bela.fetch().await;
    assert_eq!(real.len(), 1);
    let mut changed = real[0].1.clone();
    changed[500] ^= 1;
    for (place, bytes) in [(1, vec![0; 1024]), (2, Vec::new()), (3, changed), (4, b"fdlettr1".to_vec())] {
        assert_eq!(anna.ask(put(place, bytes)).await, MailResponse::Done);
    }
    assert_eq!(bela.fetch().await.len(), 5);
    let visited = visit(&homes[1].data(), &points, &[]).await.unwrap();
    assert_eq!(visited.tables[0].came.len(), 1);
    assert_eq!(bela.fetch().await, []);
}

/// The figures of docs/performance.md: `FAIRDEAL_BOXES=1000 cargo test --test it -- mail::full_boxes --nocapture`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn full_boxes_take_their_size_on_request() {
    let Some(boxes) = std::env::var("FAIRDEAL_BOXES").ok().and_then(|boxes| boxes.parse::<u16>().ok()) else { return };
    let root = TempDir::new().unwrap();
    let limits = ["--max-boxes-per-network", "1024", "--max-mail-mib", "1024"];
    let relay = Relay::start_with(root.path(), &limits);
    let key = |number: u16| {
        let mut seed = [7; 32];
        seed[..2].copy_from_slice(&number.to_le_bytes());
        ed25519_dalek::SigningKey::from_bytes(&seed)
    };
    let owner = |number: u16| SeatKey::from(&key(number + 10));
    let memory = |what: &str| {
        let status = std::fs::read_to_string(format!("/proc/{}/status", relay.id())).unwrap();
        let resident = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        eprintln!("{what}: {resident}");
    };
    memory("no box");
    for number in 0..boxes {
        let line = Line::open(&key(number + 10), &relay.address).await;
        let writers = Bounded::first((0..4).map(|writer| SeatKey::from(&key(writer))));
        assert_eq!(line.ask(MailRequest::Open { writers }).await, MailResponse::Done);
        line.0.shutdown().await;
    }
    memory("empty boxes");
    for writer in 0..4 {
        // A connection has 64 requests at once.
        for from in (0..boxes).step_by(60) {
            let line = Line::open(&key(writer), &relay.address).await;
            for number in from..boxes.min(from + 60) {
                let subject = Subject { place: [1; 8], content: [2; 8] };
                let letter = vec![writer.to_le_bytes()[0]; 128 << 10].try_into().unwrap();
                let put = MailRequest::Put(Box::new(Posted { owner: owner(number), subject, letter }));
                assert_eq!(line.ask(put).await, MailResponse::Done);
            }
            line.0.shutdown().await;
        }
    }
    memory("full boxes");
    let start = std::time::Instant::now();
    let line = Line::open(&key(0), &relay.address).await;
    for number in 0..boxes.min(60) {
        let MailResponse::Waiting(waiting) = line.ask(MailRequest::Look { owner: owner(number) }).await else {
            panic!()
        };
        assert_eq!(waiting.len(), 1);
    }
    eprintln!("60 looks: {} ms", start.elapsed().as_millis());
}
