//! The state of a table as a screen shows it, and its wording.

use std::collections::BTreeMap;

use fairdeal_games::calendar::day_in_words;
use fairdeal_games::game_info;
use fairdeal_games::{AnyAction, AnyGame, counted};
use fairdeal_peers::announcement::OpenTable;
use fairdeal_protocol::card::{self, Faces};
use fairdeal_protocol::charter::Charter;
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::log::claim::Ground;
use fairdeal_protocol::party::{Parties, Party, PlayedBy};
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::live::Closing;
use fairdeal_protocol::table::live::Progress;
use fairdeal_protocol::timing::Timing;
use serde::{Deserialize, Serialize};

use crate::people::{Mark, SeatPerson};
use crate::text::clean;

/// A taken seat in the lobby.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LobbySeat {
    /// The name, cleaned for display.
    pub name: String,
    /// The party: all seats run by one program share it.
    pub party: Party,
    /// Person or bot, as the seat's program declares.
    pub played_by: PlayedBy,
    /// Whether it listens nowhere, as seats in browsers do, as far as this program knows: the host does, of its guests.
    pub in_browser: bool,
    /// The address book's word on the player; `None` for this player, and for bots of somebody's program.
    pub person: Option<SeatPerson>,
}

/// The state of the lobby.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LobbyView {
    /// The game's id.
    pub game: String,
    pub options: Vec<(String, String)>,
    /// The seats in order; `None` if free.
    pub seats: Vec<Option<LobbySeat>>,
    /// For each seat, whether its player is ready.
    pub ready: Vec<bool>,
    /// This player's seat, once assigned.
    pub me: Option<Seat>,
    /// The ticket to give to friends; only at the host.
    pub ticket: Option<String>,
    /// The addresses that the host listens on.
    pub addresses: Vec<String>,
}

impl LobbyView {
    /// The note on a taken seat, as [`Seating::note`] writes it.
    pub fn note(&self, seat: Seat) -> Option<String> {
        let taken = |seat: Seat| self.seats.get(seat.index())?.as_ref();
        let of = taken(seat)?;
        let bot = Some(&of.played_by).filter(|by| **by != PlayedBy::Person);
        let first = Some(of.party.lowest()).filter(|first| *first != seat);
        let host = first.and_then(taken).map(|host| host.name.as_str());
        note(bot, host)
    }
}

/// The state of the table, for a screen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// For each card, the seats whose reveal tokens (shares) are in the log, each with its proof. Empty if there is no
    /// log.
    pub shares: BTreeMap<card::Handle, SeatSet>,
    /// The proofs and signatures behind this step.
    pub standing: Standing,
    /// Whether the table waits for this seat to act in turn.
    pub my_turn: bool,
    /// The connected seats, including this one.
    pub connected: SeatSet,
    /// Seats without a direct link for some seconds: other seats relay their moves.
    pub indirect: SeatSet,
    /// The seats that the table waits for, and what this player may do about it.
    pub waits: Waits,
    /// The times of the table; `None` at a table with one party.
    pub timing: Option<Timing>,
    /// The holidays that this player has declared: the first day of each, and the day after its last one.
    pub holidays: Vec<(u32, u32)>,
    /// The days of holiday that this player can still declare.
    pub holidays_left: u32,
}

/// The players in their seats, as the charter declares them: a declaration, not a proof.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seating {
    /// The parties: seats that run in one program.
    pub parties: Parties,
    /// Person or bot, for each seat.
    pub played_by: Vec<PlayedBy>,
    /// Whether keys are not put in escrow ([`fairdeal_protocol::game::RuleSet::strict`]).
    pub strict: bool,
}

impl Seating {
    /// The seating of a table of people, each alone.
    #[cfg(any(test, feature = "testing"))]
    pub fn of_people(seats: usize) -> Self {
        Self { parties: Parties::singles(seats), played_by: vec![PlayedBy::Person; seats], strict: false }
    }

    pub fn of(charter: &Charter) -> Self {
        Self {
            parties: charter.parties(),
            played_by: charter.players.iter().map(|player| player.played_by.clone()).collect(),
            strict: charter.rules().strict,
        }
    }

    /// One person playing alone.
    pub fn alone() -> Self {
        Self { parties: Parties::singles(1), played_by: vec![PlayedBy::Person], strict: false }
    }

    /// A person in the first seat and bots of the same program in the others.
    pub fn of_one_program(played_by: Vec<PlayedBy>) -> Self {
        let declared = played_by.iter().map(|by| (Party::of(Seat::FIRST), by));
        let parties = Parties::new(declared).unwrap_or_else(|_| Parties::singles(played_by.len()));
        Self { parties, played_by, strict: false }
    }

    /// Whether keys are put in escrow. With fewer than three parties nobody could continue after one departs, so there
    /// is no escrow.
    pub fn has_escrow(&self) -> bool {
        !self.strict && self.parties.count(SeatSet::all(self.played_by.len())) > 2
    }

    /// The note on a seat, if any: "bot (normal), in Anna's program".
    pub fn note(&self, seat: Seat, names: &[String]) -> Option<String> {
        let bot = self.played_by.get(seat.index()).filter(|by| **by != PlayedBy::Person);
        let first = self.parties.party_of(seat).map(Party::lowest);
        let host = first.filter(|first| *first != seat).and_then(|first| names.get(first.index()));
        note(bot, host.map(String::as_str))
    }

    /// For each seat, the lowest seat of its party.
    pub fn parties_by_seat(&self) -> Vec<Seat> {
        let seats = Seat::first(self.played_by.len());
        let party = |seat| self.parties.party_of(seat).map_or(seat, Party::lowest);
        seats.map(party).collect()
    }

    /// The notes of all seats in one line, if any: "Ada: bot (normal), in Anna's program; ...".
    pub fn in_words(&self, names: &[String]) -> Option<String> {
        let notes: Vec<String> = Seat::first(names.len())
            .zip(names)
            .filter_map(|(seat, name)| Some(format!("{name}: {}", self.note(seat, names)?)))
            .collect();
        (!notes.is_empty()).then(|| notes.join("; "))
    }
}

fn note(bot: Option<&PlayedBy>, host: Option<&str>) -> Option<String> {
    let bot = bot.map(PlayedBy::to_string);
    let host = host.map(|host| format!("in {host}'s program"));
    let parts: Vec<String> = bot.into_iter().chain(host).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// The seats that a table waits for, and what its player may do about it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Waits {
    /// This player's action that the game does not contain yet: it has waited for the programs of others for a moment.
    pub pending: Option<AnyAction>,
    /// This player's premove.
    pub premove: Option<AnyAction>,
    /// Whether this player is leaving for good, once the others have heard it.
    pub is_leaving: bool,
    /// Whether this player has used its one action out of turn before the next turn.
    pub has_called: bool,
    /// The seats of other parties whose programs have not answered for some seconds.
    pub unanswering: SeatSet,
    /// Seconds until a table that waits for them can do something about it, rounded by [`coarse`].
    pub remedy: Option<(Remedy, u64)>,
    /// The seats that have closed the table for themselves, if too few are left to play on.
    pub closed_by: SeatSet,
    /// The silent seats that the table waits for, and those with a running turn time.
    pub seats: Vec<Waiting>,
    /// How this player may close the table, if at all.
    pub may_claim: Option<Closing>,
    /// Seats whose removal this player may propose: their time has run out.
    pub may_propose: SeatSet,
    /// Seconds left for this player's action, as in [`Waiting`]. Set only in its own turn, at a table with a turn time.
    pub own_turn_left: Option<u64>,
    /// The rest of each seat's bank and of the time that others have given it, in seconds, rounded by [`coarse`]. Empty if
    /// no seat has any.
    pub reserves: Vec<u64>,
}

/// A remedy against seats that do not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Remedy {
    /// The others play on without them.
    PlayOn,
    /// This player may close the table.
    Close,
}

/// A seat whose entry the table waits for. The times are in seconds, rounded down by [`coarse`] to keep screens from
/// changing too often.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    pub seat: Seat,
    /// Seconds since the seat was last heard from, if that is long.
    pub silent: Option<u64>,
    /// Seconds left of its turn time, if the table has one. Then it uses its reserve.
    pub turn_left: Option<u64>,
    /// The last day of its holiday, counted from 1970-01-01, UTC, if it has one now.
    pub holiday: Option<u32>,
}

/// A time in whole seconds, rounded down: to one second below half a minute, to ten below two minutes, then to a
/// minute.
pub fn coarse(milliseconds: u64) -> u64 {
    let seconds = milliseconds / 1000;
    let step = match seconds {
        0..30 => 1,
        30..120 => 10,
        _ => 60,
    };
    seconds / step * step
}

/// A time from [`coarse`] in words: "25 s", "7 min", "2 h 5 min", "3 days".
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

/// A day counted from 1970-01-01, UTC, in words: "24 December".
pub fn date_in_words(day: u32) -> String {
    date_of(day).map_or_else(|| format!("day {day}"), |date| format!("{} {}", date.day(), date.month()))
}

/// Days in words: "24 December to 2 January (UTC)".
pub fn days_in_words(first: u32, days: u32) -> String {
    match days {
        0 | 1 => format!("{} (UTC)", date_in_words(first)),
        _ => format!("{} to {} (UTC)", date_in_words(first), date_in_words(first.saturating_add(days - 1))),
    }
}

/// The same as a date: `2026-12-24`.
pub fn date(day: u32) -> String {
    date_of(day).map_or_else(
        || format!("day {day}"),
        |date| format!("{:04}-{:02}-{:02}", date.year(), u8::from(date.month()), date.day()),
    )
}

fn date_of(day: u32) -> Option<time::Date> {
    time::OffsetDateTime::UNIX_EPOCH.date().checked_add(time::Duration::days(i64::from(day)))
}

/// A claim's words about the seats it is made against: "stayed away".
pub fn ground_in_words(ground: Ground) -> &'static str {
    match ground {
        Ground::Absent => "stayed away",
        Ground::OutOfTime => "ran out of time",
    }
}

/// The option that names the day of a daily deal.
pub(crate) const DAY: &str = "daily";

/// A table option in words: "first to 100", "turn time 2 min".
pub fn option_in_words(key: &str, value: &str) -> String {
    match (key, value) {
        ("target", "1") => return "one hand".to_owned(),
        ("target", points) => return format!("first to {points}"),
        (Timing::TURN_TIME, "none") => return "no turn limit".to_owned(),
        (Timing::BANK, time) => {
            let time = time.parse().map_or_else(|_| time.to_owned(), time_in_words);
            return format!("time bank {time}");
        }
        (Timing::HOLIDAYS, "1") => return "1 day of holiday".to_owned(),
        (Timing::HOLIDAYS, days) => return format!("{days} days of holiday"),
        _ => {}
    }
    let is_time = [Timing::ABSENCE, Timing::TURN_TIME].contains(&key);
    let seconds = value.parse().ok().filter(|_| is_time);
    let value = seconds.map_or_else(|| value.to_owned(), time_in_words);
    format!("{} {value}", key.replace('-', " "))
}

/// Table options in sentences: "First to 100 points. No time limit." Choices that change nothing are left out.
pub fn options_in_sentences(options: &[(String, String)]) -> String {
    let sentence = |(key, value): &(String, String)| {
        let time = || value.parse().map_or_else(|_| value.clone(), time_in_words);
        Some(match (key.as_str(), value.as_str()) {
            ("target", "1") => "One hand.".to_owned(),
            (DAY, day) if day_in_words(day).is_some() => {
                format!("The deal of {}.", day_in_words(day).unwrap_or_default())
            }
            ("target", points) => format!("First to {points} points."),
            (Timing::ABSENCE, _) => format!("Absent players may be removed after {}.", time()),
            (Timing::TURN_TIME, "none") => "No time limit.".to_owned(),
            (Timing::TURN_TIME, _) => format!("{} for each turn.", time()),
            (Timing::BANK, _) => format!("A time bank of {} each.", time()),
            (Timing::HOLIDAYS, _) => format!("{} each.", option_in_words(key, value)),
            ("opening", "auction") => "An auction decides who begins.".to_owned(),
            ("happenstance", "true") => "Houses can fall.".to_owned(),
            ("opening", "dealer-left") | (_, "false" | "none" | "cycle" | "king") => return None,
            _ => format!("Option {}.", option_in_words(key, value)),
        })
    };
    options.iter().filter_map(sentence).collect::<Vec<_>>().join(" ")
}

/// The connection of a seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PeerState {
    /// The seat is connected.
    Connected,
    /// The connection is lost.
    Lost,
    /// The player has closed the program, and means to come back.
    Paused,
    /// The seat has left the game.
    Left,
    /// The other seats removed it because it was absent or out of time.
    Absent,
    /// It was removed for a proven fault.
    Removed,
}

impl PeerState {
    /// A line for the log about the player with this name.
    pub fn in_words(self, name: &str) -> String {
        match self {
            Self::Connected => format!("{name} is connected."),
            Self::Lost => format!("The connection to {name} is lost."),
            Self::Paused => format!("{name} has paused; the game continues when they return."),
            Self::Left => format!("{name} has left the game."),
            Self::Absent => format!("The table plays on without {name}."),
            Self::Removed => format!("{name} was removed; the others play on."),
        }
    }
}

/// The proofs and signatures behind a step of a game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Standing {
    /// A log that every seat signs, and the progress of the protocol.
    Sealed(Progress),
    /// None: a practice game.
    Practice {
        /// How many actions can be undone.
        undo: usize,
        /// The best action for a player who sees all cards; `None` if it is not known.
        advice: Option<Advice>,
    },
    /// None: a position for which the player seeks the best action. Boards do not say what is best.
    Puzzle,
}

/// Advice from a solver that knows every card.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Advice {
    /// The next action of a way to win, and how many of its actions are left, this one included.
    Next { action: AnyAction, left: usize },
    /// The game cannot be won from here, but it could before so many actions.
    Undo(usize),
}

impl Advice {
    /// Advice for a game that cannot be won any more.
    pub fn undo_first(actions: usize) -> String {
        format!("Undo {}, and hints show how.", counted(actions, "action"))
    }
}

/// An open table of a list. The names in it are its host's; the methods clean them for display.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedTable {
    pub table: OpenTable,
    /// Whether it is known from a meeting point alone.
    pub at_point: bool,
    /// The address book's word on its host, whose key the list proves.
    pub mark: Mark,
}

impl ListedTable {
    /// The host's name.
    pub fn host(&self) -> String {
        clean(self.table.announcement().host.as_str())
    }

    /// The name of the game. A host could announce our own words as one, so an unknown game has no name.
    pub fn game(&self) -> &'static str {
        game_info(&clean(self.table.announcement().game.as_str())).map_or("another game", |info| info.name)
    }

    /// The options of the game and the table.
    pub fn options(&self) -> Vec<(String, String)> {
        let options = self.table.announcement().options.iter();
        options.map(|(key, value)| (clean(key.as_str()), clean(value.as_str()))).collect()
    }

    /// Whether there is a seat for somebody who knows a password, or knows none.
    pub fn is_open_to(&self, password: bool) -> bool {
        self.table.announcement().free > 0 && (password || !self.table.announcement().locked)
    }
}

/// The open tables on the local network and at meeting points.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// Tables of favourites come first, then the nearby ones. Tables of blocked hosts are left out.
    pub tables: Vec<ListedTable>,
    /// Whether this machine has no multicast, so no table nearby can be found.
    pub blind: bool,
    /// Whether meeting points are asked.
    pub has_points: bool,
    /// How many of them have not answered lately.
    pub silent_points: usize,
    /// The other persons of the saved games.
    pub others: Others,
}

/// The other programs of each saved game, by the table's id: the lowest seat of each, and whether it answers now.
pub type Others = BTreeMap<String, Vec<(Seat, Presence)>>;

/// Whether somebody's program answers now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Not known yet.
    Sought,
    /// It does.
    Here,
    /// It does not.
    Silent,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_go_into_escrow_where_a_loss_can_be_borne() {
        for (seats, strict, escrow) in [(2, false, false), (3, false, true), (3, true, false), (6, false, true)] {
            let seating =
                Seating { parties: Parties::singles(seats), played_by: vec![PlayedBy::Person; seats], strict };
            assert_eq!(seating.has_escrow(), escrow, "{seats}, {strict}");
        }
    }

    #[test]
    fn options_that_are_times_are_told_in_words() {
        for (key, value, words) in [
            ("target", "100", "first to 100"),
            ("absence", "120", "absence 2 min"),
            ("turn-time", "86400", "turn time 24 h"),
            ("turn-time", "none", "no turn limit"),
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
