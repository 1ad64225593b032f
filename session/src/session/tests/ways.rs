//! Ways between players: calls back, seats in browsers, seats that move.

use super::*;

/// Nobody can dial the host: it dials the guest whose reply it is given, and again after a loss.
#[test]
fn host_calls_a_guest_back() {
    let mut scene = Scene::opens("loot", 2, &SHORT, READY, None);
    scene.house.programs[0].is_walled = true;
    let guest = scene.joins("Béla", PERSON);
    let reply = |scene: &mut Scene, guest| {
        scene.until(guest, |event| match event {
            SessionEvent::Reaching { reply: Some(reply), .. } => Some(reply.parse::<Reply>().unwrap()),
            _ => None,
        })
    };
    let first = reply(&mut scene, guest);
    assert_eq!(first.guest(), scene.house.peer(guest).unwrap());
    // Longer than a minute passes until a person has sent it.
    scene.later(240);
    scene.does(guest, Command::CallBack(first.clone()));
    assert!(scene.refusal(guest).contains("only a host"));
    let other = Reply::new([9; 8], first.guest(), first.addresses().iter().cloned()).unwrap();
    scene.does(0, Command::CallBack(other));
    assert!(scene.refusal(0).contains("another table"));
    let own = Reply::new(first.lobby(), scene.house.peer(0).unwrap(), first.addresses().iter().cloned()).unwrap();
    scene.does(0, Command::CallBack(own));
    assert!(scene.refusal(0).contains("your own"));
    scene.does(0, Command::CallBack(first));
    let sits = |view: &LobbyView| view.seats.iter().flatten().count() == 2;
    scene.lobby(0, sits);
    scene.lobby(guest, sits);
    // The two lose each other in the lobby. The guest waits again, and the host calls again.
    scene.house.set_cut([0, guest], true);
    reply(&mut scene, guest);
    scene.later(30);
    scene.house.set_cut([0, guest], false);
    scene.lobby(0, sits);
    scene.does(guest, Command::Ready(true));
    scene.turn(0);
    // At the table both dial.
    scene.house.set_cut([0, guest], true);
    scene.peer(0, PeerState::Lost);
    scene.house.set_cut([0, guest], false);
    scene.peer(0, PeerState::Connected);
}

/// A reply that leads to nobody costs a try each ten seconds for ten minutes, and its player hears why.
#[test]
fn host_gives_a_call_up() {
    let mut scene = Scene::opens("loot", 2, &SHORT, READY, None);
    scene.house.programs[0].is_walled = true;
    let guest = scene.joins("Béla", PERSON);
    let reply = scene.until(guest, |event| match event {
        SessionEvent::Reaching { reply: Some(reply), .. } => Some(reply.parse::<Reply>().unwrap()),
        _ => None,
    });
    scene.house.programs[guest].is_walled = true;
    let before = scene.house.programs[0].dials;
    scene.does(0, Command::CallBack(reply));
    let told = scene.until(0, |event| match event {
        SessionEvent::Reach(words) if words.contains("within ten minutes") => Some(words.clone()),
        _ => None,
    });
    assert!(told.contains("no answer"), "{told}");
    assert_eq!(scene.house.programs[0].dials - before, 60);
    assert!(scene.error(guest).contains("can't reach the host"));
}

/// The host's lobby marks a guest in a browser, everybody else at the table is told, and nobody calls it: not even through
/// a relay, where it has no reservation.
#[test]
fn seat_in_a_browser_is_told() {
    let mut scene = Scene::opens("loot", 3, &SHORT, READY, None);
    let relay = PeerId::of(&SigningKey::from_bytes(&[9; 32]));
    scene.house.relays = vec![format!("/ip4/10.1.0.1/tcp/4001/p2p/{relay}").parse().unwrap()];
    let other = scene.joins("Cleo", READY);
    scene.lobby(0, |view| view.seats.iter().flatten().count() == 2);
    let page = scene.joins("Béla", READY);
    scene.house.programs[page].is_page = true;
    scene.house.set_cut([other, page], true);
    let view = scene.lobby(0, |view| view.seats.iter().flatten().count() == 3);
    let marks: Vec<bool> = view.seats.iter().flatten().map(|taken| taken.in_browser).collect();
    assert_eq!(marks, [false, false, true]);
    for program in [0, other] {
        let told = scene.until(program, |event| match event {
            SessionEvent::Line(line) if line.contains("plays in a browser") => Some(line.clone()),
            _ => None,
        });
        assert!(told.starts_with("Béla"), "{told}");
    }
    scene.later(20);
    let is_told = |event: &SessionEvent| matches!(event, SessionEvent::Line(line) if line.contains("in a browser"));
    assert!(!scene.events(page).any(is_told));
    let peer = scene.house.peer(page).unwrap();
    assert!(!scene.house.calls(other, peer) && scene.house.calls(other, scene.house.peer(0).unwrap()));
}

/// A guest takes its seat with it, to a program of another player with an identity of its own.
#[test]
fn seat_moves_in_a_file() {
    let mut scene = Scene::opens("loot", 2, &[("target", "100")], bot_of(50), None);
    let guest = scene.joins("Béla", bot_of(50));
    scene.turn(guest);
    scene.later(2);
    scene.house.stop(guest);
    let Some(JoinTarget::Ticket(ticket)) = scene.ticket.clone() else { panic!("a host has a ticket") };
    let key = scene.house.key(guest).unwrap().clone();
    let (place, kept) = scene.house.programs[guest].disk.journals.first_key_value().unwrap();
    let (place, kept) = (*place, kept.clone());
    assert!(kept.records.len() > 10, "it has played");
    let whole =
        |key: &SigningKey| SeatFile::new(ticket.clone(), key.clone(), kept.header.clone(), kept.records.clone());
    let bytes = whole(&key).unwrap().to_bytes();
    assert!(matches!(whole(scene.house.key(0).unwrap()), Err(SeatFileError::Mixed)));
    assert!(matches!(SeatFile::from_bytes(b"fairdeal transcript"), Err(SeatFileError::NotASeat)));
    assert!(matches!(SeatFile::from_bytes(b"fairdeal seat 2\n"), Err(SeatFileError::Version)));
    for at in (0..bytes.len()).step_by(97).chain([16, bytes.len() - 1]) {
        let mut damaged = bytes.to_vec();
        damaged[at] ^= 4;
        assert!(SeatFile::from_bytes(&damaged).is_err(), "byte {at}");
        assert!(SeatFile::from_bytes(&bytes[..at]).is_err(), "{at} bytes");
    }

    let file = SeatFile::from_bytes(&bytes).unwrap();
    assert_eq!((file.ticket(), file.key().to_bytes()), (&ticket, key.to_bytes()));
    let elsewhere = scene.house.add("a terminal");
    let place_of = ListenConfig { listen: vec!["/ip4/10.9.9.9/tcp/1".parse().unwrap()], ..ListenConfig::nowhere() };
    let seat = file.seat().unwrap();
    assert!(seat.header_moved(scene.house.key(elsewhere).unwrap(), &place_of).is_none(), "not its key");
    let header = seat.header_moved(file.key(), &place_of).unwrap().to_bytes();
    let moved = Kept { header, records: file.records().to_vec(), ended: false, is_clean: false };
    scene.house.programs[elsewhere].disk.journals.insert(place, moved);
    assert!(scene.house.resume(elsewhere, bot_of(50), Attended::Nobody).unwrap());
    scene.all_over(&[0, elsewhere]);
}

/// The guests of a full table dial each other before it opens, and it opens with its connections.
#[test]
fn guests_of_a_full_table_dial_each_other() {
    let mut scene = Scene::opens("loot", 3, &SHORT, PERSON, None);
    let first = scene.joins("Béla", READY);
    scene.lobby(first, |view| view.me == Some(seat(1)));
    let second = scene.joins("Cleo", READY);
    scene.lobby(second, |view| view.ready == [false, true, true]);
    scene.later(2);
    let peers = [first, second].map(|program| scene.house.peer(program).unwrap());
    let kept = [scene.house.calls(second, peers[0]), scene.house.calls(first, peers[1])];
    assert_eq!(kept, [true, false], "the later seat dials");
    assert_eq!(scene.house.programs[second].dials, 2, "the host, and the other guest once");
    scene.does(0, Command::Ready(true));
    for program in [0, first, second] {
        scene.until(program, |event| matches!(event, SessionEvent::Started { .. }).then_some(()));
    }
    let connected = |event: &SessionEvent| matches!(event, SessionEvent::Peer { state: PeerState::Connected, .. });
    let at_once = scene.events(second).skip_while(|event| !matches!(event, SessionEvent::Started { .. })).skip(1);
    assert_eq!(at_once.take_while(|event| connected(event)).count(), 2);
    assert_eq!(scene.house.programs[second].dials, 2);
}

/// A guest that leaves the lobby is let go by the others, and the next one is dialled in its place.
#[test]
fn guest_that_leaves_the_lobby_is_let_go() {
    let mut scene = Scene::opens("loot", 3, &SHORT, PERSON, None);
    let first = scene.joins("Béla", PERSON);
    scene.lobby(first, |view| view.me == Some(seat(1)));
    let second = scene.joins("Cleo", READY);
    scene.lobby(0, |view| view.ready == [false, false, true]);
    scene.later(2);
    let peer = scene.house.peer(first).unwrap();
    assert!(!scene.house.calls(second, peer), "nobody is found before its player is ready");
    scene.does(first, Command::Ready(true));
    scene.lobby(0, |view| view.ready == [false, true, true]);
    scene.later(2);
    assert!(scene.house.calls(second, peer));
    scene.does(first, Command::Quit);
    scene.lobby(second, |view| taken(view) == 2);
    scene.later(1);
    assert!(!scene.house.calls(second, peer));
    let third = scene.joins("Dora", bot_of(20));
    scene.does(0, Command::Ready(true));
    scene.until(third, |event| matches!(event, SessionEvent::Started { .. }).then_some(()));
    assert_eq!(scene.peer(third, PeerState::Connected), seat(0));
    assert_eq!(scene.peer(third, PeerState::Connected), seat(2));
}
