//! Golden vectors: every hash, proof and wire type of a fixed table, as text.
//!
//! Changing any line changes the wire or file format. It needs a new version of the label or file, and a line under its
//! own heading in the changelog. `docs/transcript.md` specifies how to compute each value.

use std::fmt::Write as _;

use fairdeal_protocol::card::{DeckId, Face, Handle};
use fairdeal_protocol::crypto::coin::{CoinChain, flip_stream};
use fairdeal_protocol::crypto::elgamal::CardPoints;
use fairdeal_protocol::crypto::escrow::split;
use fairdeal_protocol::crypto::key::{KeyProof, SecretKey};
use fairdeal_protocol::crypto::pake::{Door, Guest, Host, Password};
use fairdeal_protocol::crypto::seed::{Context, OpenedSeed, Seed};
use fairdeal_protocol::crypto::share::{ShareOf, SharePlace, ShareProof, share};
use fairdeal_protocol::crypto::shuffle::{Attempt, Generators, ShufflePlace, shuffle, shuffle_whole};
use fairdeal_protocol::domain::Label;
use fairdeal_protocol::game::{Flip, Protocol, RuleSet};
use fairdeal_protocol::hash::{Hash32, Hasher};
use fairdeal_protocol::log::body::{Answers, Body, Part, Shares, Shuffled};
use fairdeal_protocol::log::claim::{Claim, Ground, SignedClaim};
use fairdeal_protocol::log::entry::{Content, Entry, genesis, step_hash};
use fairdeal_protocol::log::extensions::{Extensions, Given, Holiday, SignedExtensions};
use fairdeal_protocol::log::fork_report::{ForkReport, SignedForkReport, resolve};
use fairdeal_protocol::log::state_request::{SignedStateReply, SignedStateRequest, StateReply, StateRequest};
use fairdeal_protocol::membership::statement::{Accepted, Reason as StatementReason};
use fairdeal_protocol::membership::{Says, Statement, Value, Verified};
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::clocks::Used;
use fairdeal_protocol::table::journal::Record;
use fairdeal_protocol::table::message::{Head, Message, Relayed};
use fairdeal_protocol::wire::bounded::Bounded;
use fairdeal_protocol::wire::codec::encode;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng as _, SeedableRng as _};

use fairdeal_testkit::drill::rules;
use fairdeal_testkit::seats;

use super::sim::{Plan, Sim, charter};

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Short values in full, long ones as length and hash.
fn show(bytes: &[u8]) -> String {
    if bytes.len() <= 160 {
        hex(bytes)
    } else {
        format!("{} bytes, {}", bytes.len(), Hasher::new(Label::new("vector\0")).bytes(bytes).finish())
    }
}

#[test]
fn values_of_a_fixed_deal() {
    let signed = charter(&rules(2, 5));
    let context = Context { table: signed.table(), deal: 1, seat: Seat::new(1).unwrap() };
    let seed = Seed::from_opened(OpenedSeed([7; 32]));
    let mut text = String::new();
    let mut line = |name: &str, bytes: &[u8]| {
        let _ = writeln!(text, "{name}: {}", show(bytes));
    };
    line("charter", &signed.charter().to_bytes());
    line("table id", signed.table().as_bytes());
    line("genesis", genesis(&signed.table()).as_bytes());
    line("hash of fields", Hasher::new(Label::new("label\0")).bytes(b"field").number(7).finish().as_bytes());
    line("seed commitment", seed.commitment(&context).as_bytes());
    let mut stream = [0; 32];
    seed.stream(&context, "purpose", b"about").fill_bytes(&mut stream);
    line("derived stream", &stream);

    let chain = CoinChain::derive(&seed, &context, 0);
    line("coin tip", chain.tip().as_bytes());
    line("first preimage", chain.preimage(0).unwrap().as_bytes());
    let parts = [(context.seat, chain.preimage(0).unwrap())];
    let mut flip = flip_stream(&context.table, context.deal, 0, &parts);
    let rolls: Vec<u8> = (0..8).map(|_| u8::try_from(Flip::Die(6).sample(&mut flip)[0]).unwrap()).collect();
    line("eight rolls of a die", &rolls);
    let mut flipped = |name: &str, flip: &Flip| {
        let mut stream = flip_stream(&context.table, context.deal, 0, &parts);
        let values: Vec<u8> = flip.sample(&mut stream).into_iter().map(|value| u8::try_from(value).unwrap()).collect();
        line(name, &values);
    };
    flipped("ten faces in order", &Flip::Order((0..10).map(Face).collect()));
    let columns = Flip::Columns { kinds: 5, each: 3, levels: 3 };
    flipped("fifteen columns", &columns);

    let secret = SecretKey::derive(&seed, &context);
    let key = secret.public();
    line("key", key.as_bytes());
    line("key proof", &encode(&KeyProof::prove(&seed, &context, &secret)));

    let generators = Generators::shared();
    line("generator H", &generators.h.compress().to_bytes());
    line("generator H_1", &generators.columns[0].compress().to_bytes());
    let points = CardPoints::new("drill", (0..5).map(|n| (Face(n), format!("card-{n}"))));
    line("card-0", points.point(Face(0)).unwrap().as_bytes());
    let attempt = Attempt { live: SeatSet::all(3), forks: 1 };
    let place = ShufflePlace { context, deck: DeckId(3), attempt };
    // The same place at a table of the first protocol, whose charter does not name it.
    let first = charter(&RuleSet { protocol: Protocol::One, ..rules(2, 5) });
    line("table id of protocol 1", first.table().as_bytes());
    let of_first = ShufflePlace { context: Context { table: first.table(), ..context }, ..place };
    let first_key = SecretKey::derive(&seed, &of_first.context).public();
    let (whole_deck, whole_proof) = shuffle_whole(&seed, &of_first, "drill", &first_key, &points.fresh()).unwrap();
    line("deck of five of protocol 1", &encode(&*whole_deck));
    line("whole shuffle proof", &encode(&whole_proof));
    let (deck, proof) = shuffle(&seed, &place, &key, &points.fresh()).unwrap();
    line("shuffled deck of five", &encode(&*deck));
    line("shuffle proof", &encode(&proof));

    let place = SharePlace { context, step: 9 };
    let list: Vec<ShareOf> = deck
        .iter()
        .zip(Handle::all(DeckId(3), 2))
        .map(|(card, handle)| ShareOf { handle, card: *card, share: share(&secret, card) })
        .collect();
    line("share of the top card", list[0].share.as_bytes());
    let share_proof = ShareProof::prove(&seed, &place, &secret, &key, &list);
    line("share proof", &encode(&share_proof));

    let shares: Vec<_> = list.iter().map(|of| of.share).collect();
    let shares = Shares { shares: shares.try_into().unwrap(), proof: share_proof };
    let answers = Answers { shares: Some(shares), coin: Some(Hash32([5; 32])), part: None };
    let action = || vec![1, 2, 3].try_into().unwrap();
    let hash = Hash32([6; 32]);
    let shuffled = Shuffled { onto: hash, deck: deck.to_vec().try_into().unwrap(), proof: proof.into() };
    let whole_deck = whole_deck.to_vec().try_into().unwrap();
    let shuffled_whole = Shuffled { onto: hash, deck: whole_deck, proof: whole_proof.into() };
    let holders = [0, 2].map(|holder| (Seat::new(holder).unwrap(), key));
    let parts = split(&seed, &context, &secret, &holders.into()).unwrap();
    let bodies = [
        Body::Commit { seed: hash, tip: hash },
        Body::Key { key, proof: KeyProof::prove(&seed, &context, &secret) },
        Body::Act { action: action(), answers: answers.clone() },
        Body::Yield { to: hash },
        Body::Ack { leader: hash, answers: Answers::default() },
        Body::Interject { action: action() },
        Body::Effects { answers: answers.clone() },
        Body::Shuffle(shuffled.clone()),
        Body::Tip { tip: hash },
        Body::Confirm,
        Body::Open { seed: OpenedSeed([8; 32]) },
        Body::Close,
        Body::Leave,
        Body::Escrow { parts: parts.clone(), shuffled: None },
        Body::Accept { complaints: Bounded::default(), shuffled: Some(shuffled.clone()) },
        Body::Turn { seed: OpenedSeed([8; 32]), answers },
    ];
    let next = [
        Part::Commit { seed: hash, tip: hash },
        Part::Key { key, proof: KeyProof::prove(&seed, &context, &secret) },
        Part::Escrow { parts, shuffled: None },
        Part::Accept { shuffled: None },
        Part::Shuffle(shuffled),
    ];
    for (index, part) in next.into_iter().enumerate() {
        let kind = part.kind();
        // With a coin or without.
        let coin = (index % 2 == 1).then_some(hash);
        let answers = Answers { shares: None, coin, part: Some(Box::new(part)) };
        line(&format!("body ack with a part, {kind}"), &encode(&Body::Ack { leader: hash, answers }));
    }
    let signer = seats::key(context.seat);
    line("body shuffle of protocol 1", &encode(&Body::Shuffle(shuffled_whole)));
    for body in bodies {
        let kind = body.kind();
        line(&format!("body {kind}"), &encode(&body));
        let content = Content {
            table: context.table,
            step: 300,
            seat: context.seat,
            parent: hash,
            digest: hash,
            release: None,
            body,
        };
        let entry = Entry::sign(content, &signer).unwrap();
        line(&format!("entry hash, {kind}"), entry.hash().as_bytes());
        if kind == "closing" {
            line("signed entry", &encode(entry.signed()));
            let hash = step_hash(&context.table, 300, &hash, [&entry].into_iter(), SeatSet::EMPTY);
            line("step hash", hash.as_bytes());
            let entries = vec![entry.signed().clone()].try_into().unwrap();
            line("message entries", &Message::Entries(entries).to_bytes());
        }
    }
    let have = vec![hash].try_into().unwrap();
    line(
        "message head",
        &Message::Head(Head {
            step: 300,
            have,
            statements: vec![Hash32([5; 32])].try_into().unwrap(),
            others: vec![Hash32([7; 32])].try_into().unwrap(),
            hears: SeatSet::one(Seat::new(1).unwrap()),
        })
        .to_bytes(),
    );
    let request = StateRequest {
        table: context.table,
        asker: Seat::new(2).unwrap(),
        nonce: [6; 16],
        number: 1,
        step: 300,
        answered: SeatSet::one(Seat::new(1).unwrap()),
    };
    let request = SignedStateRequest::sign(request, &signer);
    let relayed = Box::new(Relayed { request, hops: 1 });
    line("message state request", &Message::StateRequest(relayed).to_bytes());
    let reply = StateReply {
        table: context.table,
        author: Seat::new(1).unwrap(),
        asker: Seat::new(2).unwrap(),
        nonce: [6; 16],
        complete: true,
        entries: Vec::new().try_into().unwrap(),
        statements: Vec::new().try_into().unwrap(),
        fork_reports: Vec::new().try_into().unwrap(),
    };
    let reply = SignedStateReply::sign(reply, &signer);
    line("message state reply", &Message::StateReply(Box::new(reply)).to_bytes());
    let target = Seat::new(2).unwrap();
    let counted = vec![(target, Hash32([4; 32]))];
    let all = [
        ("consent", Says::Consent { out: SeatSet::one(target), counted: counted.clone().try_into().unwrap() }),
        ("veto", Says::Veto { seat: target, entry: Hash32([4; 32]) }),
        ("promise", Says::Promise { round: 2, accepted: Some(Accepted { round: 1, proposal: Hash32([5; 32]) }) }),
        (
            "proposal",
            Says::Propose {
                round: 2,
                value: Value::Out { seats: SeatSet::one(target), counted: counted.try_into().unwrap() },
                promises: vec![Hash32([6; 32]), Hash32([7; 32])].try_into().unwrap(),
            },
        ),
        ("accept", Says::Accept { round: 2, proposal: Hash32([5; 32]) }),
        (
            "release",
            Says::Release {
                reasons: vec![
                    (Hash32([8; 32]), StatementReason::Vetoes(vec![Hash32([9; 32])].try_into().unwrap())),
                    (Hash32([10; 32]), StatementReason::Decision(Hash32([5; 32]))),
                ]
                .try_into()
                .unwrap(),
            },
        ),
    ];
    for (name, says) in all {
        let statement = Statement {
            table: context.table,
            step: 300,
            parent: Hash32([3; 32]),
            instance: 1,
            seat: context.seat,
            release: Some(Hash32([2; 32])),
            says,
        };
        let verified = Verified::sign(statement, &signer);
        line(&format!("signed {name}"), &encode(verified.signed()));
        line(&format!("{name} hash"), verified.hash().as_bytes());
        let statements = vec![verified.signed().clone()].try_into().unwrap();
        line(&format!("message statements, {name}"), &Message::Statements(statements).to_bytes());
    }
    let fork_report = ForkReport {
        table: context.table,
        culprit: Seat::new(2).unwrap(),
        seat: context.seat,
        step: 300,
        parent: Hash32([7; 32]),
        earlier: vec![Hash32([8; 32]), Hash32([9; 32])].try_into().unwrap(),
        seats: SeatSet::all(3),
    };
    let place = resolve(std::slice::from_ref(&fork_report)).unwrap();
    line("parent after a halt", place.name(&context.table, fork_report.culprit).as_bytes());
    let fork_report = SignedForkReport::sign(fork_report, &signer);
    line("signed halt", &encode(&fork_report));
    let fork_reports = vec![fork_report].try_into().unwrap();
    line("message halts", &Message::ForkReports(fork_reports).to_bytes());
    let claim = Claim {
        table: context.table,
        seat: context.seat,
        step: 300,
        parent: Hash32([7; 32]),
        absent: SeatSet::one(Seat::new(0).unwrap()),
        ground: Ground::Absent,
        entry: None,
    };
    let claim = SignedClaim::sign(claim, None, &signer);
    line("message claim", &Message::Claim(Box::new(claim)).to_bytes());
    let said = Extensions {
        table: context.table,
        seat: context.seat,
        version: 2,
        given: Bounded::one(Given { to: Seat::new(0).unwrap(), seconds: 86_400 }),
        holidays: Bounded::one(Holiday { declared: 20_000, first: 20_001, days: 10 }),
    };
    line("name of extensions", said.hash().as_bytes());
    let said = SignedExtensions::sign(said, &signer);
    line("signed extensions", &encode(&said));
    line("message extensions", &Message::Extensions(Box::new(said.clone())).to_bytes());
    line("journal record, extensions", &Record::Extensions(said).to_bytes());
    let used = Used { seat: context.seat, time: 3_600_000 };
    line("journal record, used", &Record::Used(Bounded::one(used)).to_bytes());
    let kept = Record::Seed { deal: 1, seed: Seed::from_opened(OpenedSeed([8; 32])) };
    line("journal record, seed", &kept.to_bytes());
    insta::assert_snapshot!(text);
}

/// The three messages between a guest and a host with the same password.
#[test]
fn values_of_a_fixed_password() {
    let password = Password::new("Öffne dich, Sesam".to_owned()).unwrap();
    let door = Door { lobby: *b"lobby #1", guest: [1; 32], host: [2; 32] };
    let rng = |number| ChaCha20Rng::from_seed([number; 32]);
    let (guest, login) = Guest::start(&password, &door, &mut rng(3));
    let (host, challenge) = Host::answer(&password, &door, &login, &mut rng(4)).unwrap();
    let proof = guest.finish(&challenge).unwrap();
    host.check(&proof).unwrap();
    let text = format!(
        "knock: {}\nchallenge: {}\nproof: {}\n",
        hex(&encode(&login)),
        hex(&encode(&challenge)),
        hex(&encode(&proof))
    );
    insta::assert_snapshot!(text);
}

/// Seed of the game whose transcript is pinned.
const PINNED: u64 = 77;

/// A whole game from fixed seeds: its transcript never changes.
#[test]
fn the_transcript_of_a_fixed_game() {
    let mut sim = Sim::new(&rules(2, 8), PINNED, Plan::default());
    sim.run(1_000_000);
    let bytes = sim.room[0].table.transcript().to_bytes().unwrap();
    let head = hex(&bytes[..16]);
    let text = format!("log {}\nfile {}\nbegins {head}\n", sim.room[0].table.log_hash(), show(&bytes));
    insta::assert_snapshot!(text);
}
