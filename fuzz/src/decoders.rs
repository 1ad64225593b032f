//! Decoders of data from peers and files. None may panic, and accepted bytes must be their value's only encoding.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use ed25519_dalek::SigningKey;
use fairdeal::store::IdentityKey;
use fairdeal_games::{AnyGame, rule_set};
use fairdeal_net::{LONGEST_MESSAGE, read_frame, write_frame};
use fairdeal_peers::PeerId;
use fairdeal_peers::announcement::{Announcement, MAX_ANNOUNCEMENT};
use fairdeal_peers::listing::{MeetRequest, MeetResponse};
use fairdeal_peers::mail::{MailRequest, MailResponse};
use fairdeal_protocol::audit::auditor::audit;
use fairdeal_protocol::audit::follow::Follower;
use fairdeal_protocol::charter::{Charter, MAX_CHARTER, SignedCharter};
use fairdeal_protocol::crypto::pake::Password;
use fairdeal_protocol::domain;
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::hash::Hasher;
use fairdeal_protocol::log::claim::SignedClaim;
use fairdeal_protocol::log::entry::{MAX_ENTRY, SignedEntry};
use fairdeal_protocol::log::equivocation::Equivocation;
use fairdeal_protocol::log::extensions::SignedExtensions;
use fairdeal_protocol::log::fork_report::{SignedForkReport, resolve};
use fairdeal_protocol::membership::SignedStatement;
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::table::journal::{MAX_RECORD, Record};
use fairdeal_protocol::table::message::{MAX_MESSAGE, Message};
use fairdeal_protocol::transcript::Transcript;
use fairdeal_protocol::wire::codec::{decode, encode};
use fairdeal_session::frame::{Frame, MAX_FRAME};
use fairdeal_session::header::Header;
use fairdeal_session::letter::Letter;
use fairdeal_session::lobby::by_letter::{ByLetter, Invitation};
use fairdeal_session::password_gate::{GuestGate, HostGate};
use fairdeal_session::seat_file::SeatFile;
use futures::executor::block_on;
use futures::io::Cursor;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;

use crate::fixture::TABLE;
use crate::input::Input;

/// Maximum size of a transcript to audit, in bytes; larger ones take a fuzzer too long.
const MAX_AUDITED: usize = 128 << 10;

/// Examines an entry as a table does before it trusts it.
fn look_at(signed: &SignedEntry) {
    let charter = &TABLE;
    assert!(signed.size() <= MAX_ENTRY + 80);
    if let Ok(entry) = signed.verify(charter) {
        assert_eq!(entry.hash(), signed.hash());
        assert_eq!(entry.signed(), signed);
        assert!(charter.charter().player(entry.seat()).is_some());
        // The signed bytes are the content's only encoding, followed by a 64-byte signature.
        let bytes = encode(signed);
        assert!(bytes[..bytes.len() - 64].ends_with(&encode(entry.content())));
    }
}

fn look_at_both(evidence: &Equivocation) {
    let charter = &TABLE;
    if let Some((seat, _)) = evidence.culprit(charter) {
        assert!(charter.charter().player(seat).is_some());
    }
}

fn look_at_statement(signed: &SignedStatement) {
    let charter = &TABLE;
    if let Ok(verified) = signed.verify(charter) {
        assert!(charter.charter().player(verified.seat()).is_some());
    }
}

fn look_at_halt(signed: &SignedForkReport) {
    let charter = &TABLE;
    if let Ok(fork_report) = signed.verify(charter) {
        assert!(charter.charter().player(fork_report.seat).is_some());
        // A single report resolves to its own step, unless no step can follow it.
        let place = resolve(std::slice::from_ref(&fork_report));
        assert_eq!(place.map(|place| place.point.step), (fork_report.step < u64::MAX - 2).then_some(fork_report.step));
    }
}

fn look_at_claim(signed: &SignedClaim) {
    let charter = &TABLE;
    if let Ok(claim) = signed.verify(charter) {
        assert!(charter.charter().player(claim.claim.seat).is_some());
    }
}

fn look_at_extensions(signed: &SignedExtensions) {
    let charter = &TABLE;
    if let Ok(said) = signed.verify(charter) {
        assert!(charter.charter().player(said.seat).is_some() && !said.follows(said));
    }
}

fn look_into(message: &Message) {
    match message {
        Message::Entries(entries) => entries.iter().for_each(look_at),
        Message::StateReply(reply) => {
            let reply = reply.unverified();
            reply.entries.iter().for_each(look_at);
            reply.statements.iter().for_each(look_at_statement);
            reply.fork_reports.iter().for_each(look_at_halt);
        }
        Message::Claim(signed) => look_at_claim(signed),
        Message::Extensions(signed) => look_at_extensions(signed),
        Message::ForkReports(fork_reports) => fork_reports.iter().for_each(look_at_halt),
        Message::Evidence(evidence) => look_at_both(evidence),
        Message::Statements(statements) => statements.iter().for_each(look_at_statement),
        Message::StateRequest(relayed) => {
            let charter = &TABLE;
            if let Ok(request) = relayed.request.verify(charter) {
                assert!(charter.charter().player(request.asker).is_some());
            }
        }
        Message::Head(_) => {}
    }
}

/// A message between seats.
pub fn message(data: &[u8]) -> bool {
    let Ok(message) = Message::from_bytes(data) else {
        return false;
    };
    assert!(data.len() <= MAX_MESSAGE && message.to_bytes() == data);
    look_into(&message);
    true
}

/// An opened letter.
pub fn letter(data: &[u8]) -> bool {
    let Ok(letter) = Letter::from_bytes(data) else {
        return false;
    };
    assert!(letter.to_bytes() == data);
    letter.messages().iter().for_each(look_into);
    true
}

/// The host's side of a lobby by letter, and an invitation to it.
static HOSTED: LazyLock<(Vec<u8>, Invitation)> = LazyLock::new(|| {
    let rules = rule_set("loot", 2, &BTreeMap::new()).expect("rules");
    let key = SigningKey::from_bytes(&[1; 32]);
    let host = ByLetter::host(key, rules, "Ada", [1; 16].into(), 7, &mut ChaCha20Rng::from_seed([1; 32]));
    let host = host.expect("a host");
    (host.to_bytes(), host.invitation().expect("an invitation"))
});

/// An invitation, a kept lobby, or the opened letter of a lobby, which anybody may have written.
pub fn lobby(data: &[u8]) -> bool {
    let key = |number: u8| SigningKey::from_bytes(&[number; 32]);
    let mut is_useful = false;
    if let Ok(invitation) = Invitation::from_bytes(data) {
        assert!(invitation.to_bytes() == data);
        let _ = invitation.view();
        is_useful = true;
    }
    if let Ok(kept) = ByLetter::from_bytes(key(1), data) {
        assert!(kept.to_bytes() == data);
        let _ = (kept.stands(), kept.view(), kept.readers(), kept.content(Seat::FIRST, None));
        is_useful = true;
    }
    let (host, invitation) = &*HOSTED;
    let host = ByLetter::from_bytes(key(1), host).expect("a host");
    let mut dice = ChaCha20Rng::from_seed([2; 32]);
    let guest = ByLetter::invited(key(2), invitation.clone(), "Ben", [2; 16].into(), 7, &mut dice).expect("a guest");
    for mut side in [host, guest] {
        let before = side.to_bytes();
        if side.take(data, |_| true).is_ok() {
            assert!(ByLetter::from_bytes(key(1), &side.to_bytes()).is_ok(), "what is kept can be read");
            is_useful = true;
        } else {
            assert!(side.to_bytes() == before, "an error changes nothing");
        }
    }
    is_useful
}

/// A single signed entry.
pub fn entry(data: &[u8]) -> bool {
    let Ok(signed) = decode::<SignedEntry>(data, MAX_ENTRY + 128) else {
        return false;
    };
    assert!(encode(&signed) == data);
    look_at(&signed);
    true
}

/// A proof of equivocation.
pub fn evidence(data: &[u8]) -> bool {
    let Ok(evidence) = decode::<Equivocation>(data, MAX_RECORD) else {
        return false;
    };
    assert!(encode(&evidence) == data);
    look_at_both(&evidence);
    true
}

/// A charter and the game it names.
pub fn charter(data: &[u8]) -> bool {
    let Ok(charter) = Charter::from_bytes(data) else {
        return false;
    };
    assert!(data.len() <= MAX_CHARTER && charter.to_bytes() == data);
    let rules = charter.rules();
    assert_eq!(usize::from(rules.seats), charter.players.len());
    assert_eq!(rules.written_options().len(), charter.options.len());
    let parties = charter.parties();
    assert_eq!(charter.timing().is_some(), parties.count(charter.seats()) > 1);
    for (seat, player) in charter.seated() {
        assert_eq!(charter.seat_of(&player.key), Some(seat));
    }
    if let Ok(game) = AnyGame::create(&rules) {
        assert_eq!(game.info().check(&rules), Ok(()));
    }
    // A charter without signatures opens no table.
    assert!(SignedCharter::assemble(charter, Vec::new()).is_err());
    true
}

/// A transcript file, and the audit of any readable one.
pub fn transcript(data: &[u8]) -> bool {
    let Ok(transcript) = Transcript::from_bytes(data) else {
        return false;
    };
    assert!(transcript.to_bytes().unwrap() == data);
    if data.len() <= MAX_AUDITED {
        let report = audit::<AnyGame>(&transcript);
        assert!(report.steps <= transcript.entries().len() as u64);
        assert!(report.tally.entry_signatures <= transcript.entries().len() as u64);
    }
    true
}

/// A journal record.
pub fn record(data: &[u8]) -> bool {
    let Ok(record) = Record::from_bytes(data) else {
        return false;
    };
    assert!(data.len() <= MAX_RECORD && record.to_bytes().as_slice() == data);
    match &record {
        Record::Seed { .. } => {}
        Record::Entry(signed) | Record::Refused(signed) => look_at(signed),
        Record::Statement(signed) => look_at_statement(signed),
        Record::Waits(_) | Record::Used(_) | Record::Note(_) | Record::Return(_) => {}
        Record::Evidence(evidence) => look_at_both(evidence),
        Record::Claim(signed) => look_at_claim(signed),
        Record::Extensions(signed) => look_at_extensions(signed),
        Record::ForkReport(signed) => look_at_halt(signed),
    }
    true
}

/// A journal header.
pub fn header(data: &[u8]) -> bool {
    let Ok(header) = Header::from_bytes(data) else {
        return false;
    };
    assert!(header.to_bytes().as_slice() == data);
    true
}

/// A file with a seat. The same bytes are also read as its content with a valid checksum, which fuzzing would never find.
pub fn seat(data: &[u8]) -> bool {
    let framed = [b"fairdeal seat 1\n", data].concat();
    let checksum = Hasher::new(domain::SEAT_FILE).bytes(&framed).finish().0;
    let inside = SeatFile::from_bytes(&[&framed[..], &checksum].concat());
    let whole = SeatFile::from_bytes(data);
    for (file, bytes) in [(&inside, [&framed[..], &checksum].concat()), (&whole, data.to_vec())] {
        match file {
            Ok(file) => assert!(file.to_bytes().as_slice() == bytes && file.seat().is_ok()),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    inside.is_ok() || whole.is_ok()
}

fn password() -> Password {
    Password::new("open sesame".to_owned()).unwrap()
}

fn peer(seed: u8) -> PeerId {
    PeerId::of(&IdentityKey::from_seed([seed; 32]).signing_key())
}

/// Table announcements by strangers on the LAN.
pub fn announcement(data: &[u8]) -> bool {
    let Ok(announcement) = Announcement::from_bytes(data) else {
        return false;
    };
    assert!(data.len() <= MAX_ANNOUNCEMENT && announcement.to_bytes() == data);
    true
}

/// Requests to a meeting point after a 0, and its responses after a 1.
pub fn meet(data: &[u8]) -> bool {
    let point = peer(9);
    match data.split_first() {
        Some((0, data)) => {
            let Ok(request) = MeetRequest::from_bytes(data) else {
                return false;
            };
            assert!(request.to_bytes() == data);
            if let MeetRequest::Register(registration) = request {
                let _ = registration.verify(point);
            }
            true
        }
        Some((1, data)) => {
            let Ok(response) = MeetResponse::from_bytes(data) else {
                return false;
            };
            assert!(response.to_bytes() == data);
            if let MeetResponse::Page(page) = response {
                let _ = page.verify(point);
            }
            true
        }
        _ => false,
    }
}

/// Requests about mail after a 0, and a point's responses after a 1.
pub fn mail(data: &[u8]) -> bool {
    match data.split_first() {
        Some((0, data)) => {
            let Ok(request) = MailRequest::from_bytes(data) else {
                return false;
            };
            assert!(request.to_bytes() == data);
            true
        }
        Some((1, data)) => {
            let Ok(response) = MailResponse::from_bytes(data) else {
                return false;
            };
            assert!(response.to_bytes() == data);
            true
        }
        _ => false,
    }
}

/// Frames between two programs.
pub fn frame(data: &[u8]) -> bool {
    let Ok(frame) = Frame::from_bytes(data) else {
        return false;
    };
    assert!(data.len() <= MAX_FRAME && frame.to_bytes() == data);
    match frame {
        Frame::Table { message, .. } => look_into(&message),
        Frame::Back(back) => {
            let signatures = back.signatures.into_inner();
            let _ = SignedCharter::assemble(back.charter, signatures);
        }
        Frame::Propose(proposal) => {
            let _ = AnyGame::create(&proposal.charter.rules());
        }
        Frame::Login { lobby, login } => {
            let mut rng = ChaCha20Rng::from_seed([1; 32]);
            let mut gate = HostGate::new(password(), peer(1), [3; 8]);
            let _ = gate.login(peer(2), lobby, login, &mut rng);
        }
        Frame::Challenge(challenge) => {
            let mut rng = ChaCha20Rng::from_seed([1; 32]);
            let mut gate = GuestGate::new(&password(), None, peer(2), peer(1), &mut rng);
            let _ = gate.answer(&challenge);
        }
        Frame::Moved { record, .. } => {
            let _ = (record.of(peer(1)), record.time(peer(1)));
        }
        Frame::Join(_)
        | Frame::Roster(_)
        | Frame::Refused(_)
        | Frame::Sign { .. }
        | Frame::Signed { .. }
        | Frame::Links { .. }
        | Frame::Pausing { .. }
        | Frame::Watch(_)
        | Frame::More { .. }
        | Frame::Reset { .. }
        | Frame::Draft { .. }
        | Frame::Spliced { .. }
        | Frame::Ready(_)
        | Frame::Say(_)
        | Frame::Said { .. }
        | Frame::Invite { .. } => {}

        Frame::Show(showing) => {
            let signatures = showing.signatures.into_inner();
            let _ = SignedCharter::assemble(showing.charter, signatures);
        }
        Frame::Page { page, .. } => {
            let follower = Follower::<AnyGame>::new(TABLE.clone());
            let _ = follower.map(|mut follower| follower.take(*page));
        }
    }
    true
}

/// One length-prefixed frame on a stream. The first two bytes of the input are the limit; `0xffff` selects the node's
/// own.
pub fn stream(data: &[u8]) -> bool {
    let mut input = Input::new(data);
    let limit = match input.short() {
        0xffff => LONGEST_MESSAGE,
        limit => limit,
    };
    let bytes = input.rest();
    let Ok(read) = block_on(read_frame(&mut Cursor::new(bytes), limit)) else {
        return false;
    };
    assert!(read.len() <= limit);
    let mut written = Cursor::new(Vec::new());
    block_on(write_frame(&mut written, &read, limit)).unwrap();
    assert!(bytes.starts_with(&written.into_inner()));
    true
}
