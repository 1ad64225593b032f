//! Players with fixed keys, and charters signed with them.

use ed25519_dalek::SigningKey;
use fairdeal_protocol::charter::{Charter, Player, SignedCharter};
use fairdeal_protocol::game::RuleSet;
use fairdeal_protocol::party::{Party, PlayedBy};
use fairdeal_protocol::seat::{Seat, SeatSet};

/// The lobby for tests that need only one table.
pub const LOBBY: [u8; 8] = [7; 8];

/// The seat with this index.
pub fn seat(index: usize) -> Seat {
    Seat::new(index).unwrap()
}

/// The seats with these indices.
pub fn seats(indices: &[usize]) -> SeatSet {
    indices.iter().map(|index| seat(*index)).collect()
}

/// A seat's key, the same at every table.
pub fn key(seat: Seat) -> SigningKey {
    SigningKey::from_bytes(&[seat.number() + 1; 32])
}

/// A charter of persons, each a party of its own. Different lobbies distinguish tables with the same rules.
pub fn charter(rules: &RuleSet, lobby: [u8; 8]) -> SignedCharter {
    let persons = Seat::first(rules.seats.into()).map(|seat| (Party::of(seat), PlayedBy::Person));
    charter_of(rules, lobby, persons)
}

/// A charter that gives each seat's party, and whether a person or a bot plays it.
pub fn charter_of(
    rules: &RuleSet,
    lobby: [u8; 8],
    players: impl IntoIterator<Item = (Party, PlayedBy)>,
) -> SignedCharter {
    assemble(rules, lobby, players, |seat| format!("player {}", seat.number() + 1))
}

/// A charter of persons with these names.
pub fn charter_by(rules: &RuleSet, lobby: [u8; 8], names: &[&str]) -> SignedCharter {
    let persons = Seat::first(rules.seats.into()).map(|seat| (Party::of(seat), PlayedBy::Person));
    assemble(rules, lobby, persons, |seat| names[seat.index()].to_owned())
}

fn assemble(
    rules: &RuleSet,
    lobby: [u8; 8],
    players: impl IntoIterator<Item = (Party, PlayedBy)>,
    name: impl Fn(Seat) -> String,
) -> SignedCharter {
    let seats = Seat::first(rules.seats.into());
    let player = |(seat, (party, played_by)): (Seat, _)| {
        let number = seat.number() + 1;
        Player { name: name(seat).try_into().unwrap(), key: (&key(seat)).into(), nonce: [number; 32], party, played_by }
    };
    let players = seats.clone().zip(players).map(player).collect();
    let charter = Charter::new(lobby, rules, players).unwrap();
    let signatures = seats.map(|seat| charter.sign(&key(seat))).collect();
    SignedCharter::assemble(charter, signatures).unwrap()
}
