//! Sessions in virtual time, from a ticket to the transcript.

use std::collections::BTreeMap;
use std::time::Duration;

use fairdeal_games::bots::Level;
use fairdeal_games::{AnyGame, rule_set};
use fairdeal_peers::ticket::JoinTarget;
use fairdeal_protocol::audit::auditor::audit;
use fairdeal_protocol::hash::Hash32;

use crate::events::SessionEvent;
use crate::people::Book;
use crate::setup::{Attended, Hands, Pilot, Role};
use crate::testing::house::House;

fn bot() -> Hands {
    Hands::Bot(Pilot { level: Level::Normal, delay: Duration::from_millis(1) })
}

/// Lets time pass until the program is told an event that `wanted` takes something from.
fn until<T>(house: &mut House, program: usize, mut wanted: impl FnMut(&SessionEvent) -> Option<T>) -> Option<T> {
    for _ in 0..100_000 {
        while let Some(event) = house.read(program) {
            if let Some(found) = wanted(&event) {
                return Some(found);
            }
        }
        house.run(house.up() + 10);
    }
    None
}

fn hosts(house: &mut House, name: &str, seats: u8, hands: Hands) -> (usize, JoinTarget) {
    let host = house.add(name);
    let rules = rule_set("loot", seats, &BTreeMap::from([("target".to_owned(), "30".to_owned())])).unwrap();
    let role = Role::Host { rules, hands, program: [1; 16].into(), password: None };
    house.start(host, role, Attended::Nobody, Book::default()).unwrap();
    let ticket = until(house, host, |event| match event {
        SessionEvent::Lobby(view) => view.ticket.clone(),
        _ => None,
    });
    (host, ticket.unwrap().parse().unwrap())
}

fn joins(house: &mut House, name: &str, target: &JoinTarget) -> usize {
    let guest = house.add(name);
    let program = [u8::try_from(guest + 1).unwrap(); 16].into();
    let role = Role::Guest { target: target.clone(), hands: bot(), program, password: None };
    house.start(guest, role, Attended::Nobody, Book::default()).unwrap();
    guest
}

fn over(house: &mut House, program: usize) -> Hash32 {
    let log = until(house, program, |event| match event {
        SessionEvent::Over { log, .. } => Some(*log),
        _ => None,
    });
    log.unwrap_or_else(|| panic!("{program} plays to the end: {:?}", house.programs[program].told.last()))
}

#[test]
fn table_goes_from_a_ticket_to_the_transcript() {
    let mut house = House::new(7);
    let (host, ticket) = hosts(&mut house, "Anna", 3, bot());
    let guests = [joins(&mut house, "Béla", &ticket), joins(&mut house, "Cleo", &ticket)];
    let log = over(&mut house, host);
    for guest in guests {
        assert_eq!(over(&mut house, guest), log);
    }
    house.run(house.up() + 20_000);
    for program in &house.programs {
        assert!(program.disk.journals.is_empty(), "{} needs no journal any more", program.name);
        let (transcript, by_player) = program.disk.transcripts.values().next().unwrap();
        assert!(*by_player);
        assert_eq!(transcript.log_hash(), log);
        assert!(audit::<AnyGame>(transcript).is_fair());
    }
}
