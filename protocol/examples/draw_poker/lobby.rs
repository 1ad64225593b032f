//! The lobby: before the first card, all seats agree on a charter and sign it.
//!
//! A charter names the game, its options and the seats: for each a name, a signing key and a nonce. Its hash is the
//! table's id, which is part of everything that is signed or proved later. The host only collects: it has no power over
//! the cards, and each guest checks the charter before it signs.
//!
//! 1. A guest connects to the host and says hello: name, key, nonce, and where it listens for other guests.
//! 2. When all seats are taken the host sends the charter and those addresses.
//! 3. Each guest sends its signature; the host sends all signatures to all.
//! 4. Each guest connects to the guests before it. These connections carry the game.

use std::collections::BTreeMap;
use std::error::Error;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use ed25519_dalek::SigningKey;
use fairdeal_protocol::charter::{Charter, MAX_CHARTER, Player, SeatKey, SignatureBytes, SignedCharter};
use fairdeal_protocol::game::{Game as _, Protocol, RuleSet};
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::party::{Party, PlayedBy};
use fairdeal_protocol::seat::{MAX_SEATS, Seat};
use fairdeal_protocol::timing::Timing;
use fairdeal_protocol::wire::codec::{decode, encode};
use serde::{Deserialize, Serialize};

use super::rules::{DrawPoker, GAME, VERSION};
use super::tcp::{receive, send};

/// How long a peer may take for its next message in the lobby. Guests wait longer: for the other guests.
const REPLY: Duration = Duration::from_secs(10);
/// The largest message of the lobby, in bytes.
const LIMIT: usize = MAX_CHARTER + 1024;

/// The place of this program at a table that is ready to play.
pub(crate) struct Seated {
    pub(crate) charter: SignedCharter,
    pub(crate) seat: Seat,
    /// Signs the entries of this seat. A program that remembers its players keeps the key on disk.
    pub(crate) key: SigningKey,
    /// One connection to each other seat.
    pub(crate) links: BTreeMap<Seat, TcpStream>,
}

/// A guest as it asks for a seat.
#[derive(Serialize, Deserialize)]
struct Hello {
    name: String,
    key: [u8; 32],
    nonce: [u8; 32],
    /// Where other guests can connect.
    address: SocketAddr,
}

/// The host's proposal.
#[derive(Serialize, Deserialize)]
struct Proposal {
    /// The encoded charter.
    charter: Vec<u8>,
    /// The addresses of the guests, in seat order from seat 1.
    addresses: Vec<SocketAddr>,
}

/// First message on a connection between guests.
#[derive(Serialize, Deserialize)]
struct Greeting {
    table: Hash32,
    seat: Seat,
}

/// A key for one game, and a nonce that keeps this charter from ever being signed twice.
fn secrets() -> (SigningKey, [u8; 32]) {
    (SigningKey::from_bytes(&rand::random()), rand::random())
}

/// Names come from strangers: control characters could write anything on a terminal.
pub(crate) fn clean(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).collect()
}

fn player(seat: Seat, name: &str, key: SeatKey, nonce: [u8; 32]) -> Result<Player, Box<dyn Error>> {
    Ok(Player {
        name: name.to_owned().try_into()?,
        key,
        nonce,
        // All seats of one program are one party. Here each program has one seat.
        party: Party::of(seat),
        played_by: PlayedBy::Person,
    })
}

/// Reads a guest's hello: its player, and where it listens.
fn welcome(stream: &TcpStream, seat: Seat) -> Result<(Player, SocketAddr), Box<dyn Error>> {
    stream.set_read_timeout(Some(REPLY))?;
    let hello: Hello = decode(&receive(stream, LIMIT)?, LIMIT)?;
    let player = player(seat, &hello.name, hello.key.try_into()?, hello.nonce)?;
    Ok((player, hello.address))
}

/// Waits for guests, and seats them in the order in which they come.
pub(crate) fn host(listener: &TcpListener, name: &str, seats: u8, absence: u32) -> Result<Seated, Box<dyn Error>> {
    let rules = RuleSet {
        game: GAME.to_owned(),
        version: VERSION,
        seats,
        options: BTreeMap::new(),
        // With three players or more each key is shared in parts among the others. A hand then survives the loss of one
        // player. `true` turns that off: a lost player voids the hand.
        strict: false,
        // A player who is unreachable for this long may be removed; one who only thinks may not.
        timing: Timing::new(Some(absence), None)?,
        protocol: Protocol::default(),
    };
    DrawPoker::create(&rules)?;
    let (key, nonce) = secrets();
    let mut players = vec![player(Seat::FIRST, name, (&key).into(), nonce)?];
    let mut guests = Vec::new();
    let mut addresses = Vec::new();
    while let Some(seat) = Seat::new(players.len()).filter(|seat| seat.number() < seats) {
        let (stream, from) = listener.accept()?;
        // A stranger that says something else gets no seat, and stops nobody.
        match welcome(&stream, seat) {
            Ok((player, address)) => {
                println!("{} takes {seat}.", clean(player.name.as_str()));
                players.push(player);
                addresses.push(address);
                guests.push((seat, stream));
            }
            Err(error) => println!("{from} is turned away: {error}"),
        }
    }
    let charter = Charter::new(rand::random(), &rules, players)?;
    let proposal = encode(&Proposal { charter: charter.to_bytes(), addresses });
    for (_, stream) in &guests {
        send(stream, &proposal)?;
    }
    let mut signatures = vec![charter.sign(&key)];
    for (_, stream) in &guests {
        signatures.push(decode(&receive(stream, LIMIT)?, LIMIT)?);
    }
    let charter = SignedCharter::assemble(charter, signatures)?;
    for (_, stream) in &guests {
        send(stream, &encode(charter.signatures()))?;
    }
    Ok(Seated { charter, seat: Seat::FIRST, key, links: guests.into_iter().collect() })
}

/// Takes a seat at a host's table.
pub(crate) fn join(host: &str, name: &str) -> Result<Seated, Box<dyn Error>> {
    let stream = TcpStream::connect(host)?;
    // The address by which this machine reaches the host is the one by which other guests reach this machine.
    let listener = TcpListener::bind((stream.local_addr()?.ip(), 0))?;
    let (key, nonce) = secrets();
    let hello =
        Hello { name: name.to_owned(), key: key.verifying_key().to_bytes(), nonce, address: listener.local_addr()? };
    send(&stream, &encode(&hello))?;
    println!("Waiting for the other players.");
    let Proposal { charter, addresses } = decode(&receive(&stream, LIMIT)?, LIMIT)?;

    // Read before signing: the rules can be played here, and this seat has this program's key and nonce. Our nonce makes
    // the table's id new, so nothing signed here is valid at any other table.
    let charter = Charter::from_bytes(&charter)?;
    DrawPoker::create(&charter.rules())?;
    let seat = charter
        .seat_of(&(&key).into())
        .filter(|seat| {
            let player = charter.player(*seat);
            player.is_some_and(|player| player.nonce == nonce)
        })
        .ok_or("the host's charter has no seat for this program")?;
    send(&stream, &encode(&charter.sign(&key)))?;
    let signatures: Vec<SignatureBytes> = decode(&receive(&stream, LIMIT)?, LIMIT)?;
    let charter = SignedCharter::assemble(charter, signatures)?;

    let mut links = BTreeMap::from([(Seat::FIRST, stream)]);
    let table = charter.table();
    for (other, address) in Seat::first(MAX_SEATS).skip(1).zip(addresses) {
        if other < seat {
            let stream = TcpStream::connect(address)?;
            send(&stream, &encode(&Greeting { table, seat }))?;
            links.insert(other, stream);
        }
    }
    while links.len() + 1 < charter.charter().players.len() {
        let (stream, _) = listener.accept()?;
        stream.set_read_timeout(Some(REPLY))?;
        let Ok(bytes) = receive(&stream, LIMIT) else {
            continue;
        };
        match decode(&bytes, LIMIT) {
            Ok(Greeting { table: same, seat: other }) if same == table && other > seat => {
                links.insert(other, stream);
            }
            _ => {}
        }
    }
    Ok(Seated { charter, seat, key, links })
}
