//! The seeds of the corpus: valid values, and nearly valid ones.
//!
//! `cargo run -p fairdeal-fuzz --example seeds` writes them to `corpus/`. A name begins with `good` if its harness must
//! find it useful, and with `bad` if the harness must refuse it. The corpus test checks both.

use std::collections::BTreeMap;

use ed25519_dalek::SigningKey;
use fairdeal::store::IdentityKey;
use fairdeal_games::bots::Level;
use fairdeal_games::{AnyAction, AnyGame, GAMES, TableGame as _, rule_set};
use fairdeal_net::Transport;
use fairdeal_peers::announcement::Announcement;
use fairdeal_peers::listing::{MeetPage, MeetRequest, MeetResponse, Offer, Refusal, Registration};
use fairdeal_peers::mail::{Delivered, MailPage, MailRefusal, MailRequest, MailResponse, Posted, Subject, Waiting};
use fairdeal_peers::record::AddressRecord;
use fairdeal_peers::ticket::Ticket;
use fairdeal_peers::ticket::reply::Reply;
use fairdeal_peers::{Multiaddr, PeerId};
use fairdeal_protocol::charter::{Player, SeatKey, SignatureBytes};
use fairdeal_protocol::crypto::pake::Password;
use fairdeal_protocol::crypto::seed::OpenedSeed;
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::log::body::{Answers, Body};
use fairdeal_protocol::log::claim::{Claim, Ground, SignedClaim};
use fairdeal_protocol::log::entry::{Content, Entry, SignedEntry};
use fairdeal_protocol::log::equivocation::Equivocation;
use fairdeal_protocol::log::extensions::{Extension, Extensions, SignedExtensions};
use fairdeal_protocol::log::fork_report::{ForkReport, SignedForkReport};
use fairdeal_protocol::log::state_request::{SignedStateReply, SignedStateRequest, StateReply, StateRequest};
use fairdeal_protocol::membership::{Says, SignedStatement, Statement, Verified};
use fairdeal_protocol::party::{BotLevel, Party, PlayedBy};
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::clocks::Used;
use fairdeal_protocol::table::journal::{Asked, Record};
use fairdeal_protocol::table::message::{Head, Message, Relayed};
use fairdeal_protocol::transcript::page::{Mark, Page};
use fairdeal_protocol::wire::bounded::{Bounded, Text};
use fairdeal_protocol::wire::codec::encode;
use fairdeal_session::frame::{Addresses, Back, Frame, Join, Proposal, Records, Roster, Showing, Taken, Watch};
use fairdeal_session::letter::Letter;
use fairdeal_session::lobby::by_letter::ByLetter;
use fairdeal_session::password_gate::{GuestGate, HostGate};
use fairdeal_session::seat_file::SeatFile;
use fairdeal_testkit::{entries, seats};
use rand_chacha::ChaCha20Rng;
use rand_core::Rng as _;
use rand_core::SeedableRng as _;

use crate::actions::{POSITIONS, form};
use crate::fixture::{QUICK, TABLE, rng, rules};
use crate::journals::{ended, written};
use crate::log::{DRILLED, FINISHED, JOURNAL, choices, end_by_vote, piece, played};
use crate::table::{forged, op};

/// A file of the corpus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seed {
    /// The name of the harness.
    pub target: &'static str,
    /// The file's name.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// The seeds of one harness.
struct Folder<'a> {
    target: &'static str,
    all: &'a mut Vec<Seed>,
}

impl Folder<'_> {
    fn put(&mut self, name: impl Into<String>, bytes: impl Into<Vec<u8>>) {
        self.all.push(Seed { target: self.target, name: name.into(), bytes: bytes.into() });
    }
}

fn text<const MAX: usize>(text: &str) -> Text<MAX> {
    text.to_owned().try_into().unwrap()
}

fn taken(name: &str) -> Taken {
    Taken {
        name: text(name),
        key: (&key(0)).into(),
        party: Party::of(Seat::new(0).unwrap()),
        played_by: PlayedBy::Person,
    }
}

/// The bytes without the last one.
fn cut(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.len() - 1]
}

/// The bytes with one more.
fn more(bytes: &[u8]) -> Vec<u8> {
    [bytes, &[0]].concat()
}

fn key(index: usize) -> SigningKey {
    seats::key(seats::seat(index))
}

/// An entry of seat 0 at the start of the harnesses' table.
fn signed(body: Body, key: &SigningKey) -> Entry {
    let content = Content {
        table: TABLE.table(),
        step: 0,
        seat: Seat::new(0).unwrap(),
        parent: Hash32([1; 32]),
        digest: Hash32([2; 32]),
        release: None,
        body,
    };
    Entry::sign(content, key).unwrap()
}

fn commit(number: u8) -> Entry {
    let (seed, tip) = (Hash32([number; 32]), Hash32([9; 32]));
    signed(Body::Commit { seed, tip }, &key(0))
}

fn equivocation() -> Equivocation {
    Equivocation::of(&commit(1), &commit(2)).unwrap()
}

/// Seat 0's fork report after proof that seat 1 equivocated.
fn fork_report() -> SignedForkReport {
    let fork_report = ForkReport {
        table: TABLE.table(),
        culprit: Seat::new(1).unwrap(),
        seat: Seat::new(0).unwrap(),
        step: 7,
        parent: Hash32([1; 32]),
        earlier: vec![Hash32([2; 32])].try_into().unwrap(),
        seats: fairdeal_protocol::seat::SeatSet::all(3),
    };
    SignedForkReport::sign(fork_report, &key(0))
}

/// Seat 0's consent to removing seat 1.
fn statement() -> SignedStatement {
    let out = fairdeal_protocol::seat::SeatSet::one(Seat::new(1).unwrap());
    let statement = Statement {
        table: TABLE.table(),
        step: 7,
        parent: Hash32([1; 32]),
        instance: 0,
        seat: Seat::new(0).unwrap(),
        release: None,
        says: Says::Consent { out, counted: Vec::new().try_into().unwrap() },
    };
    let signed = Verified::sign(statement, &key(0));
    signed.signed().clone()
}

/// Seat 0's claim that seat 1 is absent.
fn claim() -> SignedClaim {
    let claim = Claim {
        table: TABLE.table(),
        seat: Seat::new(0).unwrap(),
        step: 7,
        parent: Hash32([1; 32]),
        absent: SeatSet::one(Seat::new(1).unwrap()),
        ground: Ground::Absent,
        entry: None,
    };
    SignedClaim::sign(claim, None, &key(0))
}

/// Seat 0 gives seat 1 an hour.
fn extensions() -> SignedExtensions {
    let more = Extension::Give { to: Seat::new(1).unwrap(), seconds: 3600 };
    let said = Extensions::with(None, (TABLE.charter(), Seat::new(0).unwrap()), more, 20_000).unwrap();
    SignedExtensions::sign(said, &key(0))
}

/// A request of the returning seat 1.
fn state_request() -> SignedStateRequest {
    let request = StateRequest {
        table: TABLE.table(),
        asker: Seat::new(1).unwrap(),
        nonce: [4; 16],
        number: 3,
        step: 7,
        answered: SeatSet::one(Seat::new(0).unwrap()),
    };
    SignedStateRequest::sign(request, &key(1))
}

/// Seat 0's reply to the returning seat 1.
fn state_reply(entry: SignedEntry) -> SignedStateReply {
    let reply = StateReply {
        table: TABLE.table(),
        author: Seat::new(0).unwrap(),
        asker: Seat::new(1).unwrap(),
        nonce: [4; 16],
        complete: true,
        entries: vec![entry].try_into().unwrap(),
        statements: vec![statement()].try_into().unwrap(),
        fork_reports: vec![fork_report()].try_into().unwrap(),
    };
    SignedStateReply::sign(reply, &key(0))
}

/// One body of each kind in the drill, with its step and seat.
fn bodies() -> Vec<(u16, Seat, Body)> {
    let mut kinds = Vec::new();
    let mut bodies = Vec::new();
    for (step, moment) in (0..).zip(DRILLED.iter()) {
        for (seat, entry) in &moment.entries {
            let size = encode(entry.body()).len() / 64;
            if !kinds.contains(&(entry.body().kind(), size)) {
                kinds.push((entry.body().kind(), size));
                bodies.push((step, *seat, entry.body().clone()));
            }
        }
    }
    bodies
}

fn addresses() -> Addresses {
    let address: Multiaddr = "/ip4/127.0.0.1/tcp/4001".parse().unwrap();
    vec![address.to_vec().try_into().unwrap()].try_into().unwrap()
}

/// A placeholder of the right format: a real record contains its signing time.
fn places() -> AddressRecord {
    AddressRecord::from_bytes(vec![10, 36, 8, 1, 18, 32, 7]).unwrap()
}

fn records() -> Records {
    vec![places(); 3].try_into().unwrap()
}

/// Every seed.
pub fn all() -> Vec<Seed> {
    let mut all = Vec::new();
    let mut into = |target, fill: fn(&mut Folder<'_>)| {
        fill(&mut Folder { target, all: &mut all });
    };
    into("action", action);
    into("body", body);
    into("charter", charter);
    into("cheat", cheat);
    into("entry", entry);
    into("evidence", evidence);
    into("forgery", forgery);
    into("circuit", circuit);
    into("frame", frame);
    into("announcement", announcement);
    into("header", header);
    into("join", join);
    into("journal", journal);
    into("link", link);
    into("lobby", lobby);
    into("mail", mail);
    into("meet", meet);
    into("letter", letter);
    into("message", message);
    into("options", options);
    into("record", record);
    into("referee", referee);
    into("restore", restore);
    into("seat", seat);
    into("stream", stream);
    into("table", table);
    into("transcript", transcript);
    all
}

fn action(to: &mut Folder<'_>) {
    for (number, positions) in (0..).zip(POSITIONS.iter()) {
        let middle = positions.len() / 2;
        let (game, chance) = &positions[middle];
        let Some(seat) = game.to_act().iter().next() else {
            continue;
        };
        let legal: Vec<AnyAction> = game.legal(seat, chance.faces());
        let (id, seats) = (game.info().id, game.seats());
        let middle = u8::try_from(middle).unwrap();
        let place = |form| vec![number, middle, seat.number(), form];
        for action in [&legal[0], &legal[legal.len() - 1]] {
            let kind = if *action == legal[0] { "first" } else { "last" };
            let name = format!("{id}-{seats}-{kind}");
            let bytes = [place(form::BYTES), encode(action)].concat();
            to.put(format!("good-bytes-{name}"), bytes);
            let json = game.action_to_json(seat, action, chance.faces());
            let json = [place(form::JSON), json.to_string().into_bytes()].concat();
            to.put(format!("good-json-{name}"), json);
        }
        to.put(format!("good-legal-{id}-{seats}"), [place(form::LEGAL), vec![3]].concat());
    }
    to.put("bad-empty", b"");
    to.put("bad-json", [&[0, 0, 0, form::JSON][..], br#"{"type":"take""#].concat());
    to.put("bad-foreign-bytes", [0, 0, 0, form::BYTES, 4, 0]);
}

fn body(to: &mut Folder<'_>) {
    for (step, seat, body) in bodies() {
        let size = encode(&body).len();
        let kind = body.kind().replace(' ', "-");
        let place = [&step.to_le_bytes()[..], &[seat.number(), 0]].concat();
        let bytes = [place, encode(&body)].concat();
        to.put(format!("good-{kind}-{size}"), bytes.clone());
        if size > 1 && kind == "shuffle" {
            to.put(format!("bad-{kind}-cut"), cut(&bytes));
        }
    }
    to.put("good-yield", [&[9, 0, 0, 0][..], &encode(&Body::Yield { to: Hash32([0; 32]) })].concat());
    to.put("good-wrong-kind", [&[0, 0, 0, 0][..], &encode(&Body::Close)].concat());
    to.put("bad-empty", b"");
    to.put("bad-kind", [0, 0, 0, 0, 99]);
}

fn charter(to: &mut Folder<'_>) {
    for info in GAMES {
        let signed = crate::fixture::charter(&rules(info.id, info.most_seats));
        to.put(format!("good-{}", info.id), signed.charter().to_bytes());
    }
    let bytes = TABLE.charter().to_bytes();
    to.put("bad-cut", cut(&bytes));
    to.put("bad-more", more(&bytes));
    let with = |change: &dyn Fn(&mut [Player])| {
        let mut charter = TABLE.charter().clone();
        let mut players = charter.players.to_vec();
        change(&mut players);
        charter.players = players.try_into().unwrap();
        encode(&charter)
    };
    let twice = with(&|players| players[1] = players[0].clone());
    to.put("bad-one-key-twice", twice);
    let host = Party::of(Seat::new(0).unwrap());
    let bots = with(&|players| {
        let level = BotLevel::try_from(text("normal")).unwrap();
        for bot in &mut players[1..] {
            (bot.party, bot.played_by) = (host, PlayedBy::Bot(level.clone()));
        }
    });
    to.put("good-bots", bots);
    let named = with(&|players| players[0].party = Party::of(Seat::new(2).unwrap()));
    to.put("bad-party", named);
    to.put("bad-empty", b"");
}

fn entry(to: &mut Folder<'_>) {
    let own = &key(0);
    to.put("good-commitment", encode(commit(1).signed()));
    to.put("good-closing", encode(signed(Body::Close, own).signed()));
    let action = Body::Act { action: vec![1, 2, 3].try_into().unwrap(), answers: Answers::default() };
    to.put("good-action", encode(signed(action, own).signed()));
    for (_, _, body) in bodies().into_iter().filter(|(_, _, body)| body.kind() == "shuffle") {
        to.put("good-shuffle", encode(signed(body, own).signed()));
    }
    let other = signed(Body::Confirm, &key(1));
    to.put("good-signed-by-another", encode(other.signed()));
    to.put("bad-cut", cut(&encode(commit(1).signed())));
    to.put("bad-empty", b"");
}

fn evidence(to: &mut Folder<'_>) {
    let bytes = encode(&equivocation());
    to.put("good-two-commitments", bytes.clone());
    let one = encode(commit(1).signed());
    // The evidence variant with two entries, containing the same entry twice.
    to.put("good-for-nothing", [vec![0], one.clone(), one].concat());
    to.put("bad-cut", cut(&bytes));
}

fn forgery(to: &mut Folder<'_>) {
    let real = &*FINISHED;
    let charter = real.charter();
    let content = |place: usize| entries::verified(charter, &real.entries()[place]).content().clone();
    let edit = |place: usize, body: &Body| {
        let body = encode(body);
        let numbers = [place, body.len()].map(|n| u16::try_from(n).unwrap().to_le_bytes());
        [numbers.concat(), body].concat()
    };
    let all = || (0..real.entries().len()).map(|place| (place, content(place)));
    let opening = all().find(|(_, c)| matches!(c.body, Body::Open { .. })).unwrap();
    let action = all().find(|(_, c)| matches!(c.body, Body::Act { .. })).unwrap();
    let last = real.entries().len() - 1;
    let start = |seat: Seat, end| vec![seat.number(), end];
    let other_seed = Body::Open { seed: OpenedSeed([1; 32]) };
    to.put("good-another-seed", [start(opening.1.seat, 2), edit(opening.0, &other_seed)].concat());
    let body = &action.1.body;
    to.put("good-unchanged", [start(action.1.seat, 2), edit(action.0, body)].concat());
    to.put("good-confirmation-for-an-action", [start(action.1.seat, 1), edit(action.0, &Body::Confirm)].concat());
    to.put("good-another-end", [start(content(last).seat, 2), edit(last, &Body::Confirm)].concat());
    let shorter = [start(action.1.seat, 0), edit(action.0, body), edit(last, &Body::Close)];
    to.put("good-cut-short", shorter.concat());
    to.put("bad-empty", b"");
}

fn frame(to: &mut Folder<'_>) {
    let mut rng = ChaCha20Rng::from_seed([4; 32]);
    let peer = |seed: u8| PeerId::of(&IdentityKey::from_seed([seed; 32]).signing_key());
    let password = || Password::new("open sesame".to_owned()).unwrap();
    let guest = GuestGate::new(&password(), Some([3; 8]), peer(2), peer(1), &mut rng);
    let login = guest.login().unwrap();
    let mut gate = HostGate::new(password(), peer(1), [3; 8]);
    let challenge = gate.login(peer(2), Some([3; 8]), login, &mut rng).unwrap();
    let table = TABLE.table();
    let signatures = TABLE.signatures().to_vec();
    let option = (text("target"), text("100"));
    let frames = [
        (
            "join",
            Frame::Join(Join {
                lobby: Some([3; 8]),
                name: text("Anna"),
                nonce: [2; 32],
                record: places(),
                proof: None,
                program: [7; 16].into(),
                played_by: PlayedBy::Person,
            }),
        ),
        (
            "roster",
            Frame::Roster(Roster {
                lobby: [3; 8],
                game: text("loot"),
                options: vec![option].try_into().unwrap(),
                seats: vec![Some(taken("Anna")), None].try_into().unwrap(),
                you: Seat::new(1),
                ready: Seat::first(1).collect(),
            }),
        ),
        ("refused", Frame::Refused(text("all seats are taken"))),
        ("proposal", {
            let records = vec![Some(places()), None, Some(places())].try_into().unwrap();
            Frame::Propose(Box::new(Proposal { charter: TABLE.charter().clone(), records }))
        }),
        ("signature", Frame::Sign { table, signature: signatures[0], first: commit(0).signed().clone() }),
        (
            "signatures",
            Frame::Signed {
                table,
                signatures: signatures.clone().try_into().unwrap(),
                records: records(),
                first: vec![commit(0).signed().clone(), commit(1).signed().clone()].try_into().unwrap(),
            },
        ),
        (
            "table",
            Frame::Table { table, message: Message::Entries(vec![commit(1).signed().clone()].try_into().unwrap()) },
        ),
        ("back", {
            let (charter, signatures) = (TABLE.charter().clone(), signatures.try_into().unwrap());
            Frame::Back(Box::new(Back { charter, records: records(), signatures }))
        }),
        ("links", Frame::Links { table, seats: Seat::first(2).collect() }),
        ("pausing", Frame::Pausing { table }),
        ("moved", Frame::Moved { table, seat: Seat::new(1).unwrap(), record: places() }),
        ("draft", Frame::Draft { at: 0, bytes: vec![1; 40].try_into().unwrap() }),
        (
            "spliced",
            Frame::Spliced {
                before: vec![2; 40].try_into().unwrap(),
                draft: Hash32([3; 32]),
                after: vec![4; 40].try_into().unwrap(),
            },
        ),
        ("watch", Frame::Watch(Watch { lobby: Some([3; 8]), proof: None })),
        (
            "show",
            Frame::Show(Box::new(Showing {
                charter: TABLE.charter().clone(),
                signatures: TABLE.signatures().to_vec().try_into().unwrap(),
            })),
        ),
        ("more", Frame::More { table, mark: Mark::default() }),
        (
            "page",
            Frame::Page {
                table,
                page: Box::new(Page {
                    entries: vec![commit(0).signed().clone(), commit(1).signed().clone()].try_into().unwrap(),
                    ..Page::default()
                }),
            },
        ),
        ("anew", Frame::Reset { table }),
        ("ready", Frame::Ready(true)),
        ("say", Frame::Say(text("Good luck!"))),
        ("said", Frame::Said { seat: Seat::new(2).unwrap(), text: text("You too.") }),
        ("invitation", Frame::Invite { ticket: text("fd1abc") }),
        ("knock", Frame::Login { lobby: Some([3; 8]), login }),
        ("challenge", Frame::Challenge(challenge)),
    ];
    for (name, frame) in frames {
        to.put(format!("good-{name}"), frame.to_bytes());
    }
    to.put("bad-kind", [99]);
    to.put("bad-more", more(&Frame::Refused(text("no")).to_bytes()));
    to.put("bad-long-reason", [&[2, 201][..], &[b'x'; 201]].concat());
    // A name of 2⁶⁴−1 bytes.
    to.put("bad-huge-length", [&[0, 0, 253][..], &[0xff; 8]].concat());
}

fn table_announcement() -> Announcement {
    Announcement {
        lobby: [3; 8],
        host: text("Anna"),
        game: text("loot"),
        options: vec![(text("target"), text("100"))].try_into().unwrap(),
        seats: 3,
        free: 2,
        locked: true,
    }
}

fn announcement(to: &mut Folder<'_>) {
    let bytes = table_announcement().to_bytes();
    to.put("good", bytes.clone());
    to.put("bad-cut", cut(&bytes));
    to.put("bad-more", more(&bytes));
    to.put("bad-empty", b"");
}

fn meet(to: &mut Folder<'_>) {
    let offer = Offer { announcement: table_announcement(), record: places() };
    let point = PeerId::of(&IdentityKey::from_seed([9; 32]).signing_key());
    let registration = Registration::sign(&key(0), point, 7, &offer).unwrap();
    let requests = [
        ("register", MeetRequest::Register(Box::new(registration.clone()))),
        ("withdraw", MeetRequest::Withdraw { lobby: [3; 8] }),
        ("list", MeetRequest::List { game: None, after: None }),
        ("list-game", MeetRequest::List { game: Some(text("loot")), after: Some(300) }),
    ];
    for (name, request) in requests {
        to.put(format!("good-{name}"), [&[0], &request.to_bytes()[..]].concat());
    }
    let responses = [
        ("done", MeetResponse::Done),
        ("refused", MeetResponse::Refused(Refusal::Full)),
        ("page", MeetResponse::Page(MeetPage::of([(1, &registration), (2, &registration)].into_iter()))),
    ];
    for (name, response) in responses {
        let bytes = [&[1], &response.to_bytes()[..]].concat();
        to.put(format!("bad-{name}-cut"), cut(&bytes));
        to.put(format!("bad-{name}-more"), more(&bytes));
        to.put(format!("good-{name}"), bytes);
    }
    // A page that claims more registrations than a page may have.
    to.put("bad-page-of-many", [1, 2, 51]);
}

fn mail(to: &mut Folder<'_>) {
    let owner = SeatKey::from(&key(0));
    let subject = Subject { place: *b"theplace", content: *b"contents" };
    let letter = vec![7; 300];
    let posted = Posted { owner, subject, letter: letter.clone().try_into().unwrap() };
    let requests = [
        ("open", MailRequest::Open { writers: vec![owner, SeatKey::from(&key(1))].try_into().unwrap() }),
        ("close", MailRequest::Open { writers: Bounded::default() }),
        ("fetch", MailRequest::Fetch { after: None }),
        ("fetch-more", MailRequest::Fetch { after: Some(300) }),
        ("read", MailRequest::Read { numbers: vec![1, 300, u64::MAX].try_into().unwrap() }),
        ("look", MailRequest::Look { owner }),
        ("put", MailRequest::Put(Box::new(posted))),
    ];
    for (name, request) in requests {
        to.put(format!("good-{name}"), [&[0], &request.to_bytes()[..]].concat());
    }
    let letters = [1, 300].map(|number| Delivered { number, letter: letter.clone().try_into().unwrap() });
    let page = MailPage { letters: letters.to_vec().try_into().unwrap(), next: Some(300) };
    let waiting = vec![Waiting { subject, since: 9, left: u32::MAX }; 2];
    let responses = [
        ("done", MailResponse::Done),
        ("refused", MailResponse::Refused(MailRefusal::BoxFull)),
        ("letters", MailResponse::Letters(page)),
        ("waiting", MailResponse::Waiting(waiting.try_into().unwrap())),
    ];
    for (name, response) in responses {
        let bytes = [&[1], &response.to_bytes()[..]].concat();
        to.put(format!("bad-{name}-cut"), cut(&bytes));
        to.put(format!("bad-{name}-more"), more(&bytes));
        to.put(format!("good-{name}"), bytes);
    }
    // More letters than a page may have, and more writers than a box.
    to.put("bad-page-of-many", [1, 2, 65]);
    to.put("bad-open-for-many", [0, 0, 65]);
}

fn header(to: &mut Folder<'_>) {
    let charter = TABLE.charter();
    let signatures: Vec<SignatureBytes> = TABLE.signatures().to_vec();
    let seat = Seat::new(1).unwrap();
    let places = vec![places(); 3];
    let common = (charter, signatures, seat, places, Transport::Sockets, addresses(), addresses());
    let none: Option<([u8; 32], Level, u64)> = None;
    let open: Option<String> = None;
    to.put("good-own-seat", encode(&(&common, none, &open)));
    let locked = Some("open sesame".to_owned());
    to.put("good-password", encode(&(&common, none, locked)));
    let local_bots = Some(([8_u8; 32], Level::Normal, 250_u64));
    let bytes = encode(&(&common, local_bots, &open));
    to.put("good-house", bytes.clone());
    to.put("bad-cut", cut(&bytes));
    to.put("bad-empty", b"");
}

fn seat(to: &mut Folder<'_>) {
    let charter = TABLE.charter();
    // At one moment, so that the bytes are always the same.
    let records = charter.seated().map(|(seat, _)| AddressRecord::sign(&key(seat.index()), &[], 1));
    let records: Vec<AddressRecord> = records.collect();
    let signatures: Vec<SignatureBytes> = TABLE.signatures().to_vec();
    let me = Seat::new(1).unwrap();
    let nowhere: Vec<Vec<u8>> = Vec::new();
    let none: Option<String> = None;
    let header = encode(&(charter, signatures, me, records, Transport::Sockets, &nowhere, &nowhere, 0_u8, none));
    let host = PeerId::of(&key(0));
    let ticket = Ticket::new(charter.lobby, host, ["/ip4/192.168.1.7/tcp/4002/ws".parse().unwrap()]).unwrap();
    let kept = vec![Record::Claim(claim()).to_bytes(); 2];
    let file = SeatFile::new(ticket, key(me.index()), header.into(), kept).unwrap().to_bytes();
    to.put("good-whole", file.to_vec());
    let content = file[16..file.len() - 32].to_vec();
    to.put("good-content", content.clone());
    to.put("bad-content-cut", cut(&content));
    to.put("bad-cut", cut(&file));
    to.put("bad-version", [b"fairdeal seat 2\n", &content[..]].concat());
    to.put("bad-empty", b"");
}

fn journal(to: &mut Folder<'_>) {
    let appends = [vec![1; 3], vec![2; 900], Vec::new(), vec![4; 40]];
    let whole = written(&appends);
    to.put("good-playing", whole.clone());
    to.put("good-ended", ended(&appends));
    to.put("good-no-records", written(&[]));
    to.put("good-torn", cut(&whole));
    to.put("good-reserved-room", [&whole[..], &[0; 300]].concat());
    to.put("bad-no-header", &whole[..36]);
    let changed = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        bytes
    };
    to.put("bad-version", changed(16));
    to.put("bad-first-append", changed(70));
    to.put("bad-empty", b"");
}

fn join(to: &mut Folder<'_>) {
    let host = PeerId::of(&IdentityKey::from_seed([1; 32]).signing_key());
    let ticket = |list: &[&str]| {
        let list = list.iter().map(|address| address.parse().unwrap());
        Ticket::new(*b"lobby #1", host, list).unwrap().to_string()
    };
    let one = ticket(&["/ip4/192.168.1.7/tcp/4001"]);
    to.put("good-ticket", one.clone());
    let two = ticket(&["/ip6/2001:db8::1/tcp/4001", "/dns/table.example/tcp/9"]);
    to.put("good-ticket-shouted", two.to_uppercase().replace('A', "A-"));
    to.put("good-ticket-no-address", ticket(&[]));
    let reply = Reply::new(*b"lobby #1", host, ["/ip4/192.168.1.7/tcp/4001".parse().unwrap()]).unwrap();
    to.put("good-reply", format!("call me: {reply}"));
    to.put("good-address", format!("/dns4/table.example/tcp/4001/p2p/{host}"));
    to.put("good-memory", format!("/memory/7/p2p/{host}"));
    // The payload of a ticket without its checksum.
    let inside = [&b"lobby #1"[..], &host.to_bytes(), &[8, 4, 10, 0, 0, 1, 6, 15, 161]].concat();
    to.put("good-inside", inside.clone());
    to.put("bad-inside-cut", cut(&inside));
    to.put("bad-typo", one.replacen('a', "b", 1));
    to.put("bad-no-peer", "/ip4/127.0.0.1/tcp/1");
    to.put("bad-version", one.replacen("fd1", "fd2", 1));
}

fn letter(to: &mut Folder<'_>) {
    let one = commit(1).signed().clone();
    let messages = vec![
        Message::StateRequest(Box::new(Relayed { request: state_request(), hops: 1 })),
        Message::Head(Head { step: 300, ..Head::default() }),
        Message::Entries(vec![one.clone()].try_into().unwrap()),
        Message::StateReply(Box::new(state_reply(one))),
    ];
    let letter = Letter::of(messages).to_bytes();
    to.put("bad-cut", cut(&letter));
    to.put("good-letter", letter);
    to.put("good-empty", Letter::default().to_bytes());
    to.put("bad-many", encode(&vec![Message::Head(Head::default()); 65]));
}

fn lobby(to: &mut Folder<'_>) {
    let key = |number: u8| SigningKey::from_bytes(&[number; 32]);
    let mut dice = ChaCha20Rng::from_seed([1; 32]);
    let rules = rule_set("loot", 2, &BTreeMap::new()).unwrap();
    let mut host = ByLetter::host(key(1), rules, "Ada", [1; 16].into(), 7, &mut dice).unwrap();
    let invitation = host.invitation().unwrap();
    to.put("good-invitation", invitation.to_bytes());
    to.put("bad-invitation", cut(&invitation.to_bytes()));
    to.put("good-host", host.to_bytes());
    let mut dice = ChaCha20Rng::from_seed([2; 32]);
    let guest = ByLetter::invited(key(2), invitation, "Ben", [2; 16].into(), 7, &mut dice).unwrap();
    to.put("good-guest", guest.to_bytes());
    let (_, reply) = guest.content(Seat::FIRST, None).unwrap();
    host.take(&reply, |_| true).unwrap();
    host.begin().unwrap().unwrap();
    to.put("good-begun", host.to_bytes());
    to.put("bad-reply", cut(&reply));
    to.put("good-reply", reply);
    to.put("good-answer", host.content(Seat::new(1).unwrap(), Some(vec![7; 100])).unwrap().1);
}

fn message(to: &mut Folder<'_>) {
    let one = commit(1).signed().clone();
    let entries = |list: Vec<SignedEntry>| Message::Entries(list.try_into().unwrap());
    let have = vec![one.hash()].try_into().unwrap();
    let messages = [
        ("entries", entries(vec![one.clone(), one.clone()])),
        ("no-entries", entries(Vec::new())),
        (
            "head",
            Message::Head(Head {
                step: 300,
                have,
                statements: vec![one.hash()].try_into().unwrap(),
                others: vec![one.hash()].try_into().unwrap(),
                hears: SeatSet::one(Seat::new(1).unwrap()),
            }),
        ),
        ("evidence", Message::Evidence(Box::new(equivocation()))),
        ("state-request", Message::StateRequest(Box::new(Relayed { request: state_request(), hops: 1 }))),
        ("state-reply", Message::StateReply(Box::new(state_reply(one)))),
        ("statements", Message::Statements(vec![statement(); 2].try_into().unwrap())),
        ("claim", Message::Claim(Box::new(claim()))),
        ("extensions", Message::Extensions(Box::new(extensions()))),
        ("halts", Message::ForkReports(vec![fork_report(); 2].try_into().unwrap())),
    ];
    for (name, message) in messages {
        to.put(format!("good-{name}"), message.to_bytes());
    }
    let head = Message::Head(Head::default()).to_bytes();
    to.put("bad-cut", cut(&head));
    to.put("bad-more", more(&head));
    to.put("bad-kind", [99]);
    // 2⁶⁴−1 entries, and a head with too many hashes.
    to.put("bad-huge-length", [&[0, 253][..], &[0xff; 8]].concat());
    to.put("bad-long-head", [&[1, 0, 19][..], &[0; 19 * 32]].concat());
}

fn options(to: &mut Folder<'_>) {
    for info in GAMES {
        let mut lines = vec![info.id.to_owned(), info.most_seats.to_string()];
        lines.extend(info.options.iter().map(|option| format!("{}={}", option.key, option.default)));
        to.put(format!("good-{}", info.id), lines.join("\n"));
    }
    to.put("good-number", "loot\n2\ntarget= 0050 ");
    to.put("good-date", "ivory-tower\n1\ndaily=2024-02-29");
    to.put("bad-date", "ivory-tower\n1\ndaily=2023-02-29");
    to.put("bad-number", "loot\n2\ntarget=+5");
    to.put("bad-option", "loot\n2\ngoal=5");
    to.put("bad-seats", "loot\n9");
    to.put("bad-game", "whist\n4");
}

fn record(to: &mut Folder<'_>) {
    let world = played::<AnyGame>(&rules(QUICK, 3), choices(3, 2));
    let mut kinds = Vec::new();
    for bytes in &world.room[0].disk {
        let (kind, size) = match Record::from_bytes(bytes).unwrap() {
            Record::Seed { .. } => ("seed", 0),
            _ => ("entry", bytes.len()),
        };
        if !kinds.contains(&(kind, size)) {
            kinds.push((kind, size));
            to.put(format!("good-{kind}-{size}"), bytes.clone());
        }
    }
    to.put("good-evidence", Record::Evidence(Box::new(equivocation())).to_bytes().to_vec());
    to.put("good-claim", Record::Claim(claim()).to_bytes().to_vec());
    to.put("good-extensions", Record::Extensions(extensions()).to_bytes().to_vec());
    let used = Used { seat: Seat::new(1).unwrap(), time: 90_000 };
    to.put("good-used", Record::Used(vec![used].try_into().unwrap()).to_bytes().to_vec());
    to.put("good-halt", Record::ForkReport(fork_report()).to_bytes().to_vec());
    let statement = Record::Statement(Box::new(statement()));
    to.put("good-statement", statement.to_bytes().to_vec());
    let note = Record::Note(vec![7; 20].try_into().unwrap());
    to.put("good-note", note.to_bytes().to_vec());
    let asked = Asked { nonce: [3; 16], answered: SeatSet::all(2), live: SeatSet::all(3), closed: 1 };
    to.put("good-return", Record::Return(Some(asked)).to_bytes().to_vec());
    to.put("bad-cut", cut(&world.room[0].disk[0]));
    to.put("bad-kind", [99]);
}

fn referee(to: &mut Folder<'_>) {
    for (number, info) in (0..).zip(GAMES.iter()) {
        let seats = info.least_seats;
        let seed = "07".repeat(32);
        let mut lines =
            vec![format!(r#"{{"op":"new","game":"{}","seats":{seats},"chance":{{"seed":"{seed}"}}}}"#, info.id)];
        // The start of a game that the referee itself plays at random.
        let mut referee = fairdeal_games::referee::Referee::new();
        referee.answer(lines[0].as_bytes());
        let ask = |referee: &mut fairdeal_games::referee::Referee, line: &str| {
            let reply = referee.answer(line.as_bytes());
            serde_json::from_str::<serde_json::Value>(&reply).unwrap()
        };
        for choice in choices(10 + number, 8) {
            let status = ask(&mut referee, r#"{"op":"status"}"#);
            let Some(seat) = status["to_act"][0].as_u64() else {
                break;
            };
            let legal = ask(&mut referee, &format!(r#"{{"op":"legal","seat":{seat}}}"#));
            let legal = legal["actions"].as_array().unwrap();
            let action = &legal[usize::from(choice) % legal.len()];
            lines.push(format!(r#"{{"op":"act","seat":{seat},"action":{action}}}"#));
            referee.answer(lines[lines.len() - 1].as_bytes());
        }
        lines.push(r#"{"op":"legal","seat":0}"#.to_owned());
        lines.push(r#"{"op":"view","seat":0}"#.to_owned());
        lines.push(r#"{"op":"forfeit","seat":0}"#.to_owned());
        lines.push(r#"{"op":"status"}"#.to_owned());
        to.put(format!("good-{}", info.id), lines.join("\n"));
    }
    let explicit = r#"{"op":"new","game":"plutonian-poker","seats":2,"chance":{"rolls":[1],"shuffles":[[0,1]]}}
{"op":"chance","rolls":[9,-1],"shuffles":[]}
{"op":"status"}"#;
    to.put("bad-chance", explicit);
    let search = r#"{"op":"new","game":"loot","seats":2,"chance":{"seed":"S"}}
{"op":"save","slot":"a"}
{"op":"determinize","seat":1,"seed":"S"}
{"op":"bot","seat":0,"level":"normal","seed":"S","iterations":9}
{"op":"load","slot":"a"}
{"op":"view","seat":1}"#;
    to.put("good-search", search.replace('S', &"07".repeat(32)));
    to.put("bad-position", format!(r#"{{"op":"guess","position":"AAAAAAAAAAAAAAAA","seed":"{}"}}"#, "07".repeat(32)));
    to.put("bad-json", "{\"op\":\n[[[[\n\u{0}");
    to.put("bad-requests", "{\"op\":\"dance\"}\n{\"op\":\"act\",\"seat\":0,\"action\":{}}\n7");
}

fn restore(to: &mut Folder<'_>) {
    to.put("good-nothing", b"");
    to.put("good-whole", [piece::REAL, 255]);
    to.put("good-beginning", [piece::REAL, 7]);
    let own = |bytes: &[u8]| {
        let length = u16::try_from(bytes.len()).unwrap().to_le_bytes();
        [&[piece::BYTES][..], &length, bytes].concat()
    };
    let again = own(&JOURNAL[2]);
    to.put("bad-record-twice", [vec![piece::REAL, 4], again].concat());
    to.put("bad-gap", [piece::REAL, 3, piece::SKIP, piece::REAL, 99]);
    to.put("bad-changed", [piece::REAL, 3, piece::CHANGED, 40, 0, 1, piece::REAL, 99]);
    let evidence = Record::Evidence(Box::new(equivocation())).to_bytes();
    to.put("good-evidence", [vec![piece::REAL, 5], own(&evidence)].concat());
    let spare = own(&encode(&(0_u8, 3_u32, [5_u8; 32])));
    to.put("good-spare-seed", [spare, vec![piece::REAL, 99]].concat());
}

fn stream(to: &mut Folder<'_>) {
    to.put("good-empty", [10, 0, 0, 0, 0, 0]);
    to.put("good-five", b"\x0a\0\x05\0\0\0hello");
    to.put("good-node", b"\xff\xff\x05\0\0\0hello");
    to.put("bad-too-long", b"\x04\0\x05\0\0\0hello");
    to.put("bad-cut", b"\x0a\0\x05\0\0\0hell");
    to.put("good-followed", b"\x0a\0\x05\0\0\0hello!");
    to.put("bad-huge", b"\xff\xff\xff\xff\xff\xff");
    to.put("bad-no-length", b"\x0a\0\x05");
}

/// Answers of a relay: a status, with a limit that is not read.
fn circuit(to: &mut Folder<'_>) {
    to.put("good-plain", [4, 8, 2, 40, 100]);
    to.put("good-limited", [11, 8, 2, 34, 5, 8, 60, 16, 128, 8, 40, 100]);
    to.put("good-followed", b"\x04\x08\x02\x28\x64and more");
    to.put("bad-not-there", [5, 8, 2, 40, 204, 1]);
    to.put("bad-cut", [4, 8, 2, 40]);
    to.put("bad-kind", [4, 8, 1, 40, 100]);
    to.put("bad-huge", [255, 255, 255, 255, 15]);
}

/// A frame of Yamux: data, with these flags.
fn data_frame(flags: u8, stream: u8, content: &[u8]) -> Vec<u8> {
    let length = u8::try_from(content.len()).unwrap();
    [&[0, 0, 0, flags, 0, 0, 0, stream, 0, 0, 0, length], content].concat()
}

/// The lines with which a stream is opened.
fn opening(protocol: &str) -> Vec<u8> {
    let line = |text: &str| [&[u8::try_from(text.len() + 1).unwrap()], text.as_bytes(), b"\n"].concat();
    [line("/multistream/1.0.0"), line(protocol)].concat()
}

fn link(to: &mut Folder<'_>) {
    let messages = [opening(fairdeal_link::PROTOCOL), vec![1; 16], b"\x02\0\0\0hi".to_vec()].concat();
    let ping = [opening("/ipfs/ping/1.0.0"), vec![9; 32]].concat();
    for (name, cut) in [("whole", 0), ("cut", 40)] {
        to.put(format!("good-message-{name}"), [vec![cut], data_frame(1, 2, &messages)].concat());
        to.put(format!("good-ping-{name}"), [vec![cut], data_frame(1, 2, &ping)].concat());
    }
    let twice = [data_frame(1, 2, &messages), data_frame(1, 4, &messages), data_frame(4, 2, &[])].concat();
    to.put("good-newer-stream", [vec![0], twice].concat());
    to.put("good-other-protocol", [vec![0], data_frame(1, 2, &opening("/ipfs/id/1.0.0"))].concat());
    to.put("good-sign-of-life", [0, 0, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 7]);
    to.put("bad-not-yamux", b"\0GET / HTTP/1.1\r\n\r\n");
    to.put("bad-own-number", [vec![0], data_frame(1, 3, &messages)].concat());
    to.put("bad-end", [0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    to.put("bad-window", [0, 0, 0, 0, 1, 0, 0, 0, 2, 255, 255, 255, 255]);
}

/// An operation sequence for a game; `trouble` of sixteen operations disturb it.
fn sequence(game: u8, trouble: u8, number: u64) -> Vec<u8> {
    let mut stream = rng(6, number);
    let mut byte = || u8::try_from(stream.next_u32() % 256).unwrap();
    let mut bytes = vec![game];
    for _ in 0..40 {
        if byte() % 16 >= trouble {
            bytes.extend([op::PLAY, byte()]);
            continue;
        }
        match byte() % 8 {
            0 => bytes.extend([op::GARBLE, byte(), byte(), 0, 1]),
            1 => bytes.extend([op::CRASH, byte(), byte() % 8]),
            2 => bytes.extend([op::DROP, byte()]),
            3 => bytes.extend([op::REPEAT, byte()]),
            4 => bytes.extend([op::DELIVER, byte()]),
            5 => bytes.extend([op::ACT, byte(), byte()]),
            6 => bytes.extend([op::TICK, byte(), op::GREET, byte(), byte()]),
            _ => bytes.extend([op::CUT, byte(), op::TICKS]),
        }
    }
    bytes
}

fn table(to: &mut Folder<'_>) {
    for (game, name) in [(0, "poker-2"), (1, "poker-3"), (2, "drill-2"), (3, "drill-3")] {
        to.put(format!("good-{name}"), sequence(game, 0, 20));
        to.put(format!("good-{name}-trouble"), sequence(game, 8, 21 + u64::from(game)));
    }
    // Seat 0 crashes at each of its first outputs.
    let crashes: Vec<u8> = (0..12).flat_map(|n| [op::CRASH, 0, n, op::PLAY, n, op::TICKS]).collect();
    to.put("good-crashes", [vec![1], crashes].concat());
    let made_up = [1, op::BYTES, 0, 1, 3, 1, 0, 0, op::BYTES, 0, 1, 1, 99, op::SETTLE, op::TICKS];
    to.put("good-made-up", made_up);
    to.put("bad-empty", b"");
    to.put("bad-nothing-arrives", [1, op::CUT, 0, op::CUT, 1, op::TICKS, op::DROP, 0]);
}

fn cheat(to: &mut Folder<'_>) {
    let played = |game: u8| vec![game, op::PLAY, 1, op::PLAY, 2, op::PLAY, 3];
    let forge = |to: u8, what: &[u8]| [&[op::FORGE, 1, to, 0][..], what].concat();
    let rest = vec![op::SETTLE, op::TICKS, op::SETTLE, op::PLAY, 0, op::TICKS, op::SETTLE];
    for game in 1..4 {
        let mut put = |name: &str, what: &[u8]| {
            // To seat 1 alone, then the same play continues.
            let bytes = [played(game), forge(0b1100, what), rest.clone()].concat();
            to.put(format!("good-{name}-{game}"), bytes);
        };
        put("act", &[forged::ACT, 1]);
        put("interjection", &[forged::INTERJECT, 0]);
        put("ack", &[forged::ACK, 1]);
        put("yield", &[forged::YIELD, 1]);
        put("confirm", &[forged::CONFIRM]);
        put("close", &[forged::CLOSE]);
        put("copy", &[forged::COPY, 3]);
        put("changed", &[forged::CHANGED, 3, 1, 0, 1]);
    }
    let two = [forge(0b100, &[forged::ACT, 0]), forge(0b010, &[forged::ACT, 2])].concat();
    to.put("good-two-faces", [played(1), two, rest.clone()].concat());
    let first = [vec![1], forge(0b100, &[forged::COMMIT, 1]), forge(0b010, &[forged::COMMIT, 2])];
    to.put("good-two-commitments", [first.concat(), rest.clone(), played(1)].concat());
    let crashes = [op::CRASH, 1, 2, op::PLAY, 1];
    to.put("good-crash", [played(1), forge(0, &[forged::INTERJECT, 0]), crashes.to_vec(), rest].concat());
    to.put("bad-empty", b"");
}

fn transcript(to: &mut Folder<'_>) {
    let bytes = FINISHED.to_bytes().unwrap();
    to.put("good-finished", bytes.clone());
    to.put("bad-cut", cut(&bytes));
    to.put("bad-version", [&bytes[..8], &[1], &bytes[9..]].concat());
    to.put("bad-magic", [b"Fairdeal", &bytes[8..]].concat());
    let mut unfinished = played::<AnyGame>(&rules(QUICK, 2), choices(4, 3));
    to.put("good-unfinished", unfinished.room[0].table.transcript().to_bytes().unwrap());
    let more = Extension::Give { to: Seat::new(1).unwrap(), seconds: 60 };
    unfinished.room[0].table.extend(more, 20_000).unwrap();
    let extended = unfinished.room[0].table.transcript().to_bytes().unwrap();
    to.put("good-extended", extended.clone());
    to.put("bad-extended", cut(&extended));
    let mut solo = played::<AnyGame>(&rules("ivory-tower", 1), choices(5, 4));
    if solo.room[0].table.game().is_over() {
        end_by_vote(&mut solo);
    }
    to.put("good-solo", solo.room[0].table.transcript().to_bytes().unwrap());
}
