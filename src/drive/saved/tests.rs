//! Unit tests of the module above.

use std::collections::BTreeMap;

use fairdeal_games::rule_set;
use fairdeal_peers::record::AddressRecord;
use fairdeal_protocol::charter::Player;
use fairdeal_protocol::party::{Party, PlayedBy};
use fairdeal_protocol::wire::bounded::Text;

use ed25519_dalek::SigningKey;
use fairdeal_games::bots::Level;
use fairdeal_peers::address::Transport;
use fairdeal_protocol::charter::{Charter, SignedCharter};
use fairdeal_protocol::wire::bounded::Bounded;
use fairdeal_session::frame::Join;
use fairdeal_session::header::Header;
use fairdeal_session::lobby::{Agreed, HostLobby};
use fairdeal_session::setup::{ListenConfig, Pilot};
use std::time::Duration;

use super::*;

fn agreed() -> Agreed {
    let rules = rule_set("ivory-tower", 1, &BTreeMap::new()).unwrap();
    let key = SigningKey::from_bytes(&[1; 32]);
    let own = Join {
        lobby: None,
        name: Text::try_from("one".to_owned()).unwrap(),
        nonce: [1; 32],
        record: AddressRecord::sign(&key, &[], 7),
        proof: None,
        program: [1; 16].into(),
        played_by: PlayedBy::Person,
    };
    let mut lobby = HostLobby::new([0; 8], rules, key, own, true);
    lobby.sit_alone().unwrap().1.unwrap()
}

fn header(agreed: &Agreed) -> Vec<u8> {
    let place = ListenConfig { transport: Transport::Memory, ..ListenConfig::nowhere() };
    Header::new(agreed, &place, None, None).to_bytes().to_vec()
}

/// A game that is given up is in no list, and comes back with its file.
#[test]
fn a_game_that_is_given_up_is_moved_aside() {
    let home = tempfile::tempdir().unwrap();
    let data = DataDir::open(Some(home.path())).unwrap();
    let agreed = agreed();
    let (id, me) = (agreed.charter.table().to_string(), agreed.me);
    let journal = data.begin_journal(&id, me, &header(&agreed)).unwrap();
    assert!(matches!(give_up(&data, &id), Err(ResumeError::Store(StoreError::JournalInUse { .. }))), "it is in play");
    drop(journal);
    let file = data.journals().unwrap().remove(0);
    let bytes = std::fs::read(&file.path).unwrap();
    give_up(&data, &id).unwrap();
    assert!(saved_tables(&data, None).unwrap().is_empty());
    assert!(matches!(of_returner(&data, &id, me), Err(ResumeError::NoJournal(_))));
    assert!(matches!(give_up(&data, &id), Err(ResumeError::NoJournal(_))));
    let aside = home.path().join("given-up").join(file.path.file_name().unwrap());
    assert_eq!(std::fs::read(&aside).unwrap(), bytes);
    std::fs::rename(aside, &file.path).unwrap();
    assert_eq!(saved_tables(&data, None).unwrap().len(), 1);
}

/// Only a journal shows what was signed; only a promise shows that nothing was.
#[test]
fn nobody_comes_back_without_a_journal_or_a_promise() {
    let home = tempfile::tempdir().unwrap();
    let data = DataDir::open(Some(home.path())).unwrap();
    let agreed = agreed();
    let (id, me) = (agreed.charter.table().to_string(), agreed.me);
    let back = || of_returner(&data, &id, me);
    assert!(matches!(back(), Err(ResumeError::NoJournal(table)) if table == id));
    data.promise(&id, me, &[]).unwrap();
    assert!(back().unwrap().is_none());
    let journal = data.begin_journal(&id, me, &header(&agreed)).unwrap();
    drop(journal);
    let kept = back().unwrap().expect("there is a journal");
    assert_eq!(kept.seat(), me);
    let journal = Arc::into_inner(kept.journal).unwrap();
    journal.remove().unwrap();
    assert!(matches!(back(), Err(ResumeError::NoJournal(_))));
}

/// The player may have moved its own damaged journal aside.
#[test]
fn bots_wait_until_their_player_has_ended() {
    let home = tempfile::tempdir().unwrap();
    let data = DataDir::open(Some(home.path())).unwrap();
    let rules = rule_set("loot", 2, &BTreeMap::new()).unwrap();
    let keys = [1, 2].map(|n| SigningKey::from_bytes(&[n; 32]));
    let own = Seat::new(0).unwrap();
    let players = keys.iter().zip([1, 2]).map(|(key, n)| Player {
        name: Text::try_from(format!("player {n}")).unwrap(),
        key: key.into(),
        nonce: [n; 32],
        party: Party::of(own),
        played_by: PlayedBy::Person,
    });
    let charter = Charter::new([0; 8], &rules, players.collect()).unwrap();
    let signatures = keys.iter().map(|key| charter.sign(key)).collect();
    let agreed = Agreed {
        charter: SignedCharter::assemble(charter, signatures).unwrap(),
        me: Seat::new(1).unwrap(),
        records: Bounded::first(keys.iter().map(|key| AddressRecord::sign(key, &[], 7))),
        first: Bounded::default(),
        again: false,
    };
    let place = ListenConfig { transport: Transport::Memory, ..ListenConfig::nowhere() };
    let pilot = Pilot { level: Level::Gentle, delay: Duration::ZERO };
    let local_bot = LocalBot::new(&keys[1], pilot);
    let header = Header::new(&agreed, &place, Some(local_bot), None).to_bytes();
    let id = agreed.charter.table().to_string();
    drop(data.begin_journal(&id, agreed.me, &header).unwrap());
    remove_orphans(&data).unwrap();
    assert_eq!(data.journals().unwrap().len(), 1, "its player may come back");
    data.save_transcript(&id, b"the game").unwrap();
    remove_orphans(&data).unwrap();
    assert_eq!(data.journals().unwrap(), []);
}

/// A seat from a file is taken in whole, under its own key, and never again: not after its game, nor once it was given up.
#[test]
fn seat_is_taken_in_once() {
    let home = tempfile::tempdir().unwrap();
    let data = DataDir::open(Some(home.path())).unwrap();
    let seat = fairdeal_session::testing::seat_file();
    let table = take_in(&data, &seat).unwrap();
    let is_refused = || matches!(take_in(&data, &seat), Err(ResumeError::Store(StoreError::SeatIsHere { .. })));
    assert!(is_refused());
    let found = saved_tables(&data, None).unwrap().remove(0);
    assert_eq!(found.0, table);
    let seats = open_seats(&data, found).unwrap();
    assert_eq!(seats.len(), 1);
    assert_eq!(seats[0].own_key().unwrap().to_bytes(), seat.key().to_bytes());
    assert!(seats[0].has_moved() && !seats[0].place().listen.is_empty());
    let records: Vec<_> = seats[0].records.iter().map(Record::to_bytes).collect();
    assert_eq!(records, seat.records());
    assert!(take_in(&data, &seat).is_err(), "while it plays");
    // What a session leaves of a seat that has moved, also if it has left the game.
    seats[0].journal.end().unwrap();
    drop(seats);
    assert!(saved_tables(&data, None).unwrap().is_empty());
    assert!(is_refused(), "after the end");
    let file = data.journals().unwrap().remove(0);
    data.set_aside(&file).unwrap();
    assert!(is_refused(), "given up");

    // Another seat of the player at that table would hide this one.
    let home = tempfile::tempdir().unwrap();
    let data = DataDir::open(Some(home.path())).unwrap();
    let other = data.begin_journal(&table, Seat::FIRST, seat.header()).unwrap();
    assert!(matches!(take_in(&data, &seat), Err(ResumeError::OtherSeat)));
    drop(other);
    assert!(matches!(take_in(&data, &seat), Err(ResumeError::OtherSeat)));
}
