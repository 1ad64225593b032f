//! The state of a table as a screen shows it, and the words for it.

use std::collections::BTreeMap;

use fairdeal_games::AnyGame;
use fairdeal_protocol::card::{self, Faces};
use fairdeal_protocol::charter::Charter;
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::log::claim::Ground;
use fairdeal_protocol::party::{Parties, Party, PlayedBy};
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::live::Progress;
use fairdeal_protocol::timing::Timing;

/// A taken seat in the lobby.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LobbySeat {
    /// The name, cleaned for display.
    pub name: String,
    /// The party: seats that run in one program have the same.
    pub party: Party,
    /// Player of the seat, person or bot, as its program declares it.
    pub played_by: PlayedBy,
}

/// How the lobby stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LobbyView {
    /// The game's id.
    pub game: String,
    pub options: Vec<(String, String)>,
    /// The taken seats; `None` while one is free.
    pub seats: Vec<Option<LobbySeat>>,
    /// Whether who sits there is ready to begin, for each seat.
    pub ready: Vec<bool>,
    /// This player's seat, once it has one.
    pub me: Option<Seat>,
    /// The ticket to give to friends, at the host.
    pub ticket: Option<String>,
    /// The addresses that the host listens on.
    pub addresses: Vec<String>,
}

impl LobbyView {
    /// Note on a taken seat, as [`Seating::note`] writes it.
    pub fn note(&self, seat: Seat) -> Option<String> {
        let taken = |seat: Seat| self.seats.get(seat.index())?.as_ref();
        let of = taken(seat)?;
        let bot = Some(&of.played_by).filter(|by| **by != PlayedBy::Person);
        let first = Some(of.party.lowest()).filter(|first| *first != seat);
        let host = first.and_then(taken).map(|host| host.name.as_str());
        note(bot, host)
    }
}

/// How the table stands, for a screen.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// The table id.
    pub table: Hash32,
    /// This player's seat; `None` for a spectator.
    pub me: Option<Seat>,
    /// The players' names, cleaned for display, in seat order.
    pub names: Vec<String>,
    /// The players in their seats.
    pub seating: Seating,
    pub game: AnyGame,
    /// The sealed cards that this seat knows.
    pub known: Faces,
    /// The seats whose shares of these cards stand in the log, each with its proof; of none where there is no log.
    pub shares: BTreeMap<card::Handle, SeatSet>,
    /// Proofs and signatures behind this step.
    pub standing: Standing,
    /// Whether the table waits for an action of this seat's turn.
    pub my_turn: bool,
    /// The seats that are connected (this one included).
    pub connected: SeatSet,
    /// The seats without a direct link for some seconds: other seats relay their moves.
    pub indirect: SeatSet,
    /// The last round trip to each seat that is connected or was, in milliseconds.
    pub round_trips: BTreeMap<Seat, u32>,
    /// For whom the table waits, and what this player may do about it.
    pub waits: Waits,
    /// The absence timeout and the turn time; `None` at a table of one party.
    pub timing: Option<Timing>,
}

/// The players in their seats, as the charter declares them: a declaration, not a proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seating {
    /// Which seats run in one program.
    pub parties: Parties,
    /// Player of each seat: person or bot.
    pub played_by: Vec<PlayedBy>,
    /// Whether no key is put in escrow ([`fairdeal_protocol::game::RuleSet::strict`]).
    pub strict: bool,
}

impl Seating {
    pub fn of(charter: &Charter) -> Self {
        let players = charter.players.iter();
        Self {
            parties: charter.parties(),
            played_by: players.map(|player| player.played_by.clone()).collect(),
            strict: charter.rules().strict,
        }
    }

    /// One person alone.
    pub fn alone() -> Self {
        Self {
            parties: Parties::singles(1),
            played_by: vec![PlayedBy::Person],
            strict: false,
        }
    }

    /// Whether keys are put in escrow: with fewer than three parties nobody could go on without another one.
    pub fn has_escrow(&self) -> bool {
        !self.strict && self.parties.count(SeatSet::all(self.played_by.len())) > 2
    }

    /// Note on a seat, if any: "bot (normal), in Anna's program".
    pub fn note(&self, seat: Seat, names: &[String]) -> Option<String> {
        let bot = self.played_by.get(seat.index());
        let bot = bot.filter(|by| **by != PlayedBy::Person);
        let first = self.parties.party_of(seat).map(Party::lowest);
        let host = first.filter(|first| *first != seat);
        let host = host.and_then(|first| names.get(first.index()));
        note(bot, host.map(String::as_str))
    }

    /// For each seat the lowest seat of its party, from 0.
    pub fn parties_by_seat(&self) -> Vec<Seat> {
        let seats = Seat::first(self.played_by.len());
        let party = |seat| self.parties.party_of(seat).map_or(seat, Party::lowest);
        seats.map(party).collect()
    }

    /// The notes of all seats in one line, if there are any: "Ada: bot (normal), in Anna's program; ...".
    pub fn in_words(&self, names: &[String]) -> Option<String> {
        let notes = Seat::first(names.len()).zip(names);
        let notes =
            notes.filter_map(|(seat, name)| Some(format!("{name}: {}", self.note(seat, names)?)));
        let notes: Vec<String> = notes.collect();
        (!notes.is_empty()).then(|| notes.join("; "))
    }
}

fn note(bot: Option<&PlayedBy>, host: Option<&str>) -> Option<String> {
    let bot = bot.map(PlayedBy::to_string);
    let host = host.map(|host| format!("in {host}'s program"));
    let parts: Vec<String> = bot.into_iter().chain(host).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// For whom a table waits, and what its player may do about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// The silent seats for which it waits, and those whose turn time runs.
    pub seats: Vec<Waiting>,
    /// On which ground this player may close the table with a claim, if it may.
    pub may_claim: Option<Ground>,
    /// The seats whose removal this player may propose: their time for the action has run out.
    pub may_propose: SeatSet,
    /// How long this player has left for its action: in seconds as in [`Waiting`], and only while it is its turn at a
    /// table with a turn time.
    pub own_turn_left: Option<u64>,
}

/// A seat for whose entry the table waits. The times are in seconds, in steps as coarse as somebody notices
/// ([`coarse`]), so that a screen has something new to show only now and then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    pub seat: Seat,
    /// For how long nothing was heard of the seat, where that is long.
    pub silent: Option<u64>,
    /// How long it has left for its action, if the table has a turn time.
    pub turn_left: Option<u64>,
}

/// A time in whole seconds: in steps of a second below half a minute, of ten below two minutes, then of a minute.
pub fn coarse(milliseconds: u64) -> u64 {
    let seconds = milliseconds / 1000;
    let step = match seconds {
        0..30 => 1,
        30..120 => 10,
        _ => 60,
    };
    seconds / step * step
}

/// A time of [`coarse`] in words: "25 s", "7 min", "2 h 5 min", "3 days".
pub fn time_in_words(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..3_600 => format!("{} min", seconds / 60),
        3_600..172_800 => match seconds % 3_600 / 60 {
            0 => format!("{} h", seconds / 3_600),
            minutes => format!("{} h {minutes} min", seconds / 3_600),
        },
        _ => format!("{} days", seconds / 86_400),
    }
}

/// A claim's words about the seats against which it is made: "stayed away".
pub fn ground_in_words(ground: Ground) -> &'static str {
    match ground {
        Ground::Absent => "stayed away",
        Ground::OutOfTime => "ran out of time",
    }
}

/// An option of a table in words: "target 100", "turn time 2 min".
pub fn option_in_words(key: &str, value: &str) -> String {
    let is_time = [Timing::ABSENCE, Timing::TURN_TIME].contains(&key);
    let seconds = value.parse().ok().filter(|_| is_time);
    let value = seconds.map_or_else(|| value.to_owned(), time_in_words);
    format!("{} {value}", key.replace('-', " "))
}

/// The connection of a seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerState {
    /// There is a connection.
    Connected,
    /// There is none now.
    Lost,
    /// The seat has left the game.
    Left,
    /// The others have removed the seat: it was absent, or out of time.
    Absent,
    /// The seat was removed for a proven fault.
    Removed,
}

impl PeerState {
    /// A line for the log: what the seat of that name has come to.
    pub fn in_words(self, name: &str) -> String {
        match self {
            Self::Connected => format!("{name} is connected."),
            Self::Lost => format!("The connection to {name} is lost."),
            Self::Left => format!("{name} has left the game."),
            Self::Absent => format!("The others play on without {name}."),
            Self::Removed => format!("{name} was removed; the others play on."),
        }
    }
}

/// Proofs and signatures behind a step of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// A log that every seat signs, and what the protocol is doing.
    Sealed(Progress),
    /// Nothing: a solitaire for practice.
    Practice {
        /// How many actions can be taken back.
        undo: usize,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_go_into_escrow_where_a_loss_can_be_borne() {
        for (seats, strict, escrow) in [
            (2, false, false),
            (3, false, true),
            (3, true, false),
            (6, false, true),
        ] {
            let seating = Seating {
                parties: Parties::singles(seats),
                played_by: vec![PlayedBy::Person; seats],
                strict,
            };
            assert_eq!(seating.has_escrow(), escrow, "{seats}, {strict}");
        }
    }

    #[test]
    fn options_that_are_times_are_told_in_words() {
        for (key, value, words) in [
            ("target", "100", "target 100"),
            ("absence", "120", "absence 2 min"),
            ("turn-time", "86400", "turn time 24 h"),
            ("turn-time", "none", "turn time none"),
        ] {
            assert_eq!(option_in_words(key, value), words);
        }
    }

    #[test]
    fn times_are_as_coarse_as_somebody_notices() {
        let words = [
            (900, "0 s"),
            (29_900, "29 s"),
            (119_000, "110 s"),
            (179_000, "2 min"),
            (3_599_000, "59 min"),
            (3_600_000, "1 h"),
            (7_500_000, "2 h 5 min"),
            (200_000_000, "2 days"),
        ];
        for (milliseconds, text) in words {
            assert_eq!(time_in_words(coarse(milliseconds)), text);
        }
    }
}
