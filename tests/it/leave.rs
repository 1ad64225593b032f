//! A seat leaves for good, and the others play to the end.

use std::sync::Arc;
use std::time::Duration;

use fairdeal::drive::Handle;
use fairdeal::drive::tables::start;
use fairdeal::history::history;
use fairdeal::store::{DataDir, DataView};
use fairdeal_games::rule_set;
use fairdeal_protocol::audit::auditor::audit;
use fairdeal_protocol::transcript::Transcript;
use fairdeal_session::events::{Command, SessionEvent};
use fairdeal_session::setup::{Attended, Role};
use fairdeal_session::view::PeerState;
use tempfile::TempDir;

use super::sitting::{as_guest, as_host, data, person, pilot, played, ticket_of};

fn sit(data: &Arc<DataDir>, name: &str, role: Role, plays: bool) -> Handle {
    let mut setup = person(data, name, played(role, plays.then(pilot)));
    setup.me.attended = Attended::Nobody;
    start(setup).unwrap()
}

/// All events of a session.
async fn all(mut handle: Handle) -> Vec<SessionEvent> {
    let mut events = Vec::new();
    while let Some(event) = handle.events.recv().await {
        events.push(event);
    }
    events
}

/// A host and bots play; the host leaves at its first turn.
async fn leaves(game: &str, seats: u8) {
    let root = TempDir::new().unwrap();
    let data = |name: &str| data(root.path(), name);
    let rules = rule_set(game, seats, &Default::default()).unwrap();
    let house = data("host");
    let mut host = sit(&house, "host", as_host(rules), false);
    let ticket = ticket_of(&mut host, |_| true).await;
    let guests: Vec<_> = (1..seats)
        .map(|number| {
            let name = format!("guest{number}");
            let role = as_guest(ticket.parse().unwrap());
            tokio::spawn(all(sit(&data(&name), &name, role, true)))
        })
        .collect();
    loop {
        if let SessionEvent::Snapshot(snapshot) = host.events.recv().await.unwrap()
            && snapshot.my_turn
        {
            break;
        }
    }
    host.commands.send(Command::Leave).await.unwrap();
    let events = all(host).await;
    let gone = |event: &SessionEvent| matches!(event, SessionEvent::Peer { seat, state: PeerState::Left } if seat.index() == 0);
    assert!(events.iter().any(gone), "{game}: the host hears of its leave");
    assert_eq!(house.journals().unwrap(), [], "{game}: nothing waits");
    let mut files = Vec::new();
    for guest in guests {
        let events = guest.await.unwrap();
        assert!(events.iter().any(gone), "{game}: a guest hears of it");
        let over = events.iter().find_map(|event| match event {
            SessionEvent::Over { winners, transcript, .. } => Some((winners, transcript)),
            _ => None,
        });
        let (winners, transcript) = over.expect("the others play on to the end");
        assert!(winners.iter().all(|seat| seat.index() != 0), "{game}");
        files.push(std::fs::read(transcript.as_ref().unwrap()).unwrap());
    }
    assert!(files.windows(2).all(|pair| pair[0] == pair[1]), "{game}");
    let report = audit::<fairdeal_games::AnyGame>(&Transcript::from_bytes(&files[0]).unwrap());
    assert_eq!(report.finding, None, "{game}");
    assert_eq!(report.left.len(), 1, "{game}");
    // For ratings it is last, behind everybody.
    let past = history(&DataView::of(Some(&root.path().join("guest1"))).unwrap());
    let results = &past[0].summary().unwrap().results;
    assert_eq!((results.len(), results[0].place), (seats.into(), seats), "{game}");
    assert!(results[1..].iter().any(|result| result.place == 1), "{game}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_one_wins() {
    tokio::time::timeout(Duration::from_secs(60), leaves("loot", 2)).await.unwrap();
}
