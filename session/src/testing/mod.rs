//! For tests: past games, and whole programs in virtual time.

pub mod evening;
pub mod house;

use std::time::{Duration, UNIX_EPOCH};

use fairdeal_games::bots::Level;
use fairdeal_games::rule_set;
use fairdeal_peers::ticket::{JoinTarget, Ticket};
use fairdeal_protocol::seat::Seat;

use crate::events::SessionEvent;
use crate::past::summary::{Ending, Player, SeatResult, Summary, Unrated, VERSION};
use crate::past::{Past, What};
use crate::people::Book;
use crate::seat_file::SeatFile;
use crate::setup::{Attended, Hands, Patience, Pilot, Role};
use house::House;

/// The number of an order to a store.
pub fn store_id(number: u64) -> crate::io::StoreId {
    crate::io::StoreId(number)
}

/// The seat of a guest in the middle of a game of Loot, and the host's key.
///
/// # Panics
/// Never, unless programs cannot play.
#[expect(clippy::expect_used, reason = "for tests")]
pub fn seat_file() -> SeatFile {
    let mut house = House::new(7);
    let hands = Hands::Bot(Pilot { level: Level::Gentle, delay: Duration::from_millis(50) });
    let host = house.add("Anna");
    let rules = rule_set("loot", 2, &[("target".to_owned(), "20".to_owned())].into()).expect("rules");
    let role = Role::Host { rules, hands, program: [1; 16].into(), password: None };
    house.start(host, role, Attended::Nobody, Book::default()).expect("a host");
    house.run(house.up() + 2_000);
    let told = std::iter::from_fn(|| house.read(host));
    let ticket = told.filter_map(|event| match event {
        SessionEvent::Lobby(view) => view.ticket,
        _ => None,
    });
    let ticket: Ticket = ticket.last().and_then(|text| text.parse().ok()).expect("a ticket");
    let guest = house.add("Ada");
    let target = JoinTarget::Ticket(ticket.clone());
    let (program, patience) = ([2; 16].into(), Patience::AMinute);
    let role = Role::Guest { target, hands, program, password: None, patience };
    house.start(guest, role, Attended::Nobody, Book::default()).expect("a guest");
    house.run(house.up() + 5_000);
    house.stop(guest);
    let key = house.key(guest).cloned().expect("a key");
    let kept = house.programs.get(guest).and_then(|program| program.disk.journals.values().next()).expect("a journal");
    SeatFile::new(ticket, key, kept.header.clone(), kept.records.clone()).expect("a seat")
}

/// A game of Loot that was not fair, with characters that no screen may get.
pub fn summary() -> Summary {
    Summary {
        version: VERSION,
        bytes: 7,
        game: "loot".to_owned(),
        options: vec![("target".to_owned(), "20\u{7}".to_owned())],
        players: vec!["Anna\u{1b}[31m".to_owned(), "Béla".to_owned()],
        me: Seat::new(1),
        day: None,
        ending: Ending::Unfair { why: "seat 0\u{7} cheats".to_owned() },
        scores: vec![1, -2],
        winners: Vec::new(),
        results: Vec::new(),
        unrated: Some(Unrated::NotFair),
        log: "00".to_owned(),
    }
}

/// A game of Loot: its players by key (or the level of a local bot) with their places.
pub fn game(results: &[(&str, u8)]) -> Summary {
    let result = |(player, place): &(&str, u8)| {
        let level = ["gentle", "normal", "sharp"].contains(player);
        SeatResult {
            player: if level { Player::LocalBots((*player).to_owned()) } else { Player::Key((*player).to_owned()) },
            name: format!("name of {player}"),
            bot: level.then(|| (*player).to_owned()),
            place: *place,
        }
    };
    let first = results.iter().enumerate().filter(|(_, (_, place))| *place == 1);
    Summary {
        results: results.iter().map(result).collect(),
        winners: first.filter_map(|(seat, _)| Seat::new(seat)).collect(),
        unrated: None,
        ..summary()
    }
}

/// A finished game of Loot that ended so many seconds after the others; the player has the first seat.
pub fn past(results: &[(&str, u8)], seconds: u64) -> Past {
    Past {
        table: String::new(),
        path: Some("/games/transcripts/0707.fairdeal".into()),
        when: UNIX_EPOCH + Duration::from_secs(seconds),
        bytes: 0,
        what: What::Over(Summary {
            me: Seat::new(0),
            ending: Ending::Finished,
            scores: results.iter().map(|(_, place)| 100 - i64::from(*place)).collect(),
            players: results.iter().map(|(name, _)| (*name).to_owned()).collect(),
            ..game(results)
        }),
    }
}
