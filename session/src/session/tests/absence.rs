//! Players that leave, stay away, crash or have no room on their disk.

use super::*;

/// The host leaves at its first turn; the others play on to a fair end without it.
#[test]
fn others_play_on_without_a_seat_that_leaves() {
    for (game, seats) in [("loot", 2), ("loot", 3), ("sphinxs-paw", 4), ("plutonian-poker", 3), ("houses-of-thoth", 3)]
    {
        let mut scene = Scene::opens(game, seats, &[], READY, None);
        let guests: Vec<usize> = (1..seats).map(|n| scene.joins(&format!("guest {n}"), bot_of(1))).collect();
        scene.turn(0);
        scene.does(0, Command::Leave);
        assert_eq!(scene.peer(0, PeerState::Left), seat(0), "{game}");
        let log = scene.all_over(&guests);
        scene.later(20);
        assert!(scene.house.saved(0).is_none(), "{game}: nothing waits");
        assert!(!scene.house.is_running(0), "{game}");
        let report = scene.report(guests[0]);
        assert_eq!((report.finding.clone(), report.left.len()), (None, 1), "{game}");
        assert_eq!(scene.transcript(guests[0]).log_hash(), log);
        let winners = scene.events(guests[0]).find_map(|event| match event {
            SessionEvent::Over { winners, .. } => Some(winners.clone()),
            _ => None,
        });
        assert!(!winners.unwrap().contains(&seat(0)), "{game}");
    }
}

/// Whoever acts and closes the program at once has acted all the same: it ends once its action is stored and sent.
#[test]
fn action_leaves_before_the_program_ends() {
    let mut scene = Scene::opens("loot", 3, &SHORT, bot_of(5), None);
    scene.house.sync = 200;
    let goes = scene.joins("Béla", READY);
    scene.lobby(goes, |view| view.me.is_some());
    scene.joins("Cleo", bot_of(5));
    let view = scene.turn(goes);
    scene.acts(goes, &view);
    scene.does(goes, Command::Quit);
    let me = view.me.unwrap();
    scene.until(0, |event| matches!(event, SessionEvent::Action { seat, .. } if *seat == me).then_some(()));
    assert!(!scene.house.is_running(goes) && scene.house.saved(goes).is_some());
}

/// One of two seats closes its program for good. The other's bot closes the table with a claim.
#[test]
fn last_seat_present_claims() {
    let mut scene = Scene::opens("loot", 2, &[("absence", "1")], bot_of(1), None);
    let guest = scene.joins("Béla", READY);
    scene.turn(guest);
    scene.does(guest, Command::Quit);
    let (by, absent) = scene.until(0, |event| match event {
        SessionEvent::Claimed { by, absent, .. } => Some((by.clone(), absent.clone())),
        _ => None,
    });
    assert_eq!((by, absent), (vec![seat(0)], vec![seat(1)]));
    let report = scene.report(0);
    assert_eq!((report.finding, report.end, report.claims.len()), (None, End::Unfinished, 1));
}

/// The other program dies in the player's own turn: the action stays visible while it waits, and so does the time until
/// the table may be closed.
#[test]
fn own_action_is_told_while_others_do_not_answer() {
    let mut scene = Scene::opens("loot", 2, &[("absence", "60")], READY, None);
    let guest = scene.joins("Béla", bot_of(1));
    let view = scene.turn(0);
    scene.acts(0, &view);
    let view = scene.turn(0);
    assert_eq!(view.waits.unanswering, SeatSet::EMPTY);
    // An action that is done at once is never told as one that waits.
    let waits = |event: &&SessionEvent| matches!(event, SessionEvent::Snapshot(view) if view.waits.pending.is_some());
    assert_eq!(scene.events(0).filter(waits).count(), 0);
    scene.house.stop(guest);
    scene.acts(0, &view);
    let made = scene.until(0, |event| match event {
        SessionEvent::Snapshot(view) if view.waits.pending.is_some() => Some(view.clone()),
        _ => None,
    });
    assert!(!made.my_turn && made.game == view.game);
    let waits = scene.until(0, |event| match event {
        SessionEvent::Snapshot(view) if !view.waits.unanswering.is_empty() => Some(view.waits.clone()),
        _ => None,
    });
    assert!(waits.pending.is_some());
    assert_eq!(waits.unanswering, SeatSet::one(seat(1)));
    let Some((Remedy::Close, left)) = waits.remedy else { panic!("{waits:?}") };
    assert!((40..60).contains(&left), "{left} s");
    let later = scene.until(0, |event| match event {
        SessionEvent::Snapshot(view) if view.waits.may_claim.is_some() => Some(view.waits.clone()),
        _ => None,
    });
    assert_eq!(later.remedy, None);
}

/// Anna acts and then closes the table while Béla is away. Her claim carries her action, so Béla's table goes on when
/// he comes back; he is told that it is over for him.
#[test]
fn closed_out_player_is_told() {
    let mut scene = Scene::opens("loot", 2, &[("absence", "2")], READY, None);
    let guest = scene.joins("Béla", READY);
    let view = scene.turn_while(0, guest);
    scene.house.stop(guest);
    scene.acts(0, &view);
    scene.until(0, |event| match event {
        SessionEvent::Snapshot(view) => view.waits.may_claim,
        _ => None,
    });
    scene.does(0, Command::Claim);
    scene.until(0, |event| matches!(event, SessionEvent::Claimed { .. }).then_some(()));
    assert!(scene.house.resume(guest, READY, Attended::Person).unwrap());
    let told = scene.until(guest, |event| match event {
        SessionEvent::Snapshot(view) if !view.waits.closed_by.is_empty() => Some(view.clone()),
        _ => None,
    });
    assert_eq!(told.waits.closed_by, SeatSet::one(seat(0)));
}

/// Two of three programs die: the person of the third is told of both, and closes the table.
#[test]
fn person_closes_a_table_that_all_others_have_left() {
    let mut scene = Scene::opens("loot", 3, &[("absence", "2")], bot_of(1), None);
    let guest = scene.joins("Béla", READY);
    let other = scene.joins("Cleo", bot_of(1));
    let view = scene.turn(guest);
    scene.house.stop(0);
    scene.house.stop(other);
    scene.acts(guest, &view);
    let alone = scene.until(guest, |event| match event {
        SessionEvent::Snapshot(view) if view.waits.may_claim.is_some() => Some(view.clone()),
        _ => None,
    });
    assert_eq!(alone.connected, SeatSet::one(view.me.unwrap()));
    let lost = scene.events(guest).filter(|e| matches!(e, SessionEvent::Peer { state: PeerState::Lost, .. }));
    assert_eq!(lost.count(), 2);
    scene.does(guest, Command::Claim);
    scene.until(guest, |event| matches!(event, SessionEvent::Claimed { .. }).then_some(()));
}

/// A host and its bot return to a table that their guest has closed. Whatever arrives first, the two go on together: once
/// the guest is due, the host closes the table with a claim, which the bot signs too.
#[test]
fn bot_goes_on_with_its_player_after_a_claim() {
    let mut scene = Scene::opens("loot", 3, &[("absence", "2")], bot_of(50), None);
    scene.house.trip = 1;
    scene.house.sync = 20;
    let guest = scene.joins("Béla", READY);
    scene.lobby(0, |view| taken(view) == 2);
    let bot = scene.local_bot("Cleo");
    let draws = scene.turn(guest);
    scene.acts(guest, &draws);
    let view = scene.turn(guest);
    // The host is the only one who does not answer the end of the guest's turn. The bot is next.
    scene.house.programs[0].disk.is_full = true;
    scene.acts(guest, &view);
    scene.later(1);
    scene.house.stop(0);
    scene.house.programs[0].disk.is_full = false;
    let claim = |scene: &mut Scene, program: usize| {
        scene.until(program, |event| match event {
            SessionEvent::Claimed { by, absent, .. } => Some((by.clone(), absent.clone())),
            _ => None,
        })
    };
    scene.until(guest, |event| match event {
        SessionEvent::Snapshot(view) if view.waits.may_claim.is_some() => Some(()),
        _ => None,
    });
    scene.does(guest, Command::Claim);
    assert_eq!(claim(&mut scene, guest), (vec![seat(1)], vec![seat(0), seat(2)]));
    assert!(scene.house.resume(0, bot_of(50), Attended::Nobody).unwrap());
    assert!(scene.house.resume(bot, READY, Attended::Nobody).unwrap());
    for program in [0, bot] {
        assert_eq!(claim(&mut scene, program), (vec![seat(0), seat(2)], vec![seat(1)]), "{program}");
    }
    let report = scene.report(0);
    assert_eq!((report.finding, report.end, report.claims.len()), (None, End::Unfinished, 1));
    assert_eq!(scene.house.faults, [""; 0]);
}

/// A host returns with its bot, and the table is closed for it by its guest's claim. The bot may have gone on meanwhile; it
/// ends with its player. If both have gone on before they heard of the claim, they close the table themselves.
#[test]
fn bot_ends_with_its_player_after_a_claim() {
    let by: Vec<Vec<Seat>> = (0..6).map(closed_behind_a_bot).collect();
    assert!(by.iter().all(|by| *by == [seat(1)] || *by == [seat(0), seat(2)]), "{by:?}");
    assert!(by.contains(&vec![seat(1)]), "{by:?}");
}

/// The seats whose claim closes the table of that test.
fn closed_behind_a_bot(seed: u64) -> Vec<Seat> {
    let mut scene = Scene::opens_in(House::new(seed), "loot", 3, &[("absence", "2")], bot_of(50), None);
    let guest = scene.joins("Béla", READY);
    scene.lobby(0, |view| taken(view) == 2);
    let bot = scene.local_bot("Cleo");
    let view = scene.turn(guest);
    scene.house.stop(0);
    scene.acts(guest, &view);
    scene.until(guest, |event| match event {
        SessionEvent::Snapshot(view) if view.waits.may_claim.is_some() => Some(()),
        _ => None,
    });
    scene.does(guest, Command::Claim);
    assert!(scene.house.resume(0, bot_of(50), Attended::Nobody).unwrap());
    assert!(scene.house.resume(bot, READY, Attended::Nobody).unwrap());
    let by = scene.until(0, |event| match event {
        SessionEvent::Claimed { by, .. } => Some(by.clone()),
        _ => None,
    });
    assert_eq!(scene.report(0).finding, None);
    scene.later(20);
    assert!([0, bot].iter().all(|program| !scene.house.is_running(*program)));
    by
}

/// The same once the rules have ended the game: the bot stays for the others when its player goes, and ends too.
#[test]
fn bot_ends_after_its_player_has_finished_without_the_others() {
    let mut scene = Scene::opens("loot", 3, &[("target", "20"), ("absence", "2")], bot_of(50), None);
    let guest = scene.joins("Béla", bot_of(50));
    scene.lobby(0, |view| taken(view) == 2);
    let bot = scene.local_bot("Cleo");
    scene.until(guest, |event| match event {
        SessionEvent::Snapshot(view) if view.game.is_over() => Some(()),
        _ => None,
    });
    scene.house.stop(0);
    let (_, winners) = scene.over(guest);
    assert!(scene.house.resume(0, bot_of(50), Attended::Nobody).unwrap());
    assert!(scene.house.resume(bot, READY, Attended::Nobody).unwrap());
    assert_eq!(scene.over(0).1, winners);
    scene.house.play_on(0);
    scene.later(600);
    assert_eq!(scene.report(0).end, End::Finished);
    assert!([0, guest, bot].iter().all(|program| !scene.house.is_running(*program)));
}

/// A bot whose player has left plays on for the others, and ends once they have closed the table.
#[test]
fn bot_without_a_player_ends_when_the_others_have_closed() {
    let mut scene = Scene::opens("plutonian-poker", 3, &[("absence", "2")], bot_of(50), None);
    let guest = scene.joins("Béla", READY);
    scene.lobby(0, |view| taken(view) == 2);
    let bot = scene.local_bot("Cleo");
    scene.house.play_on(0);
    let view = scene.turn_while(guest, 0);
    scene.does(0, Command::Leave);
    assert_eq!(scene.peer(guest, PeerState::Left), seat(0));
    scene.later(15);
    assert!(!scene.house.is_running(0));
    scene.house.set_cut([0, guest], true);
    scene.acts(guest, &view);
    scene.later(20);
    scene.does(guest, Command::Claim);
    scene.later(2);
    assert!(scene.house.is_running(bot), "it waits for the other");
    scene.house.set_cut([0, guest], false);
    scene.later(10);
    scene.house.stop(guest);
    scene.later(600);
    assert!(!scene.house.is_running(bot));
}

/// One of three programs is killed for good. After the absence timeout the others remove it and play to the end; when it
/// comes back it is told so.
#[test]
fn program_that_stays_away_is_removed() {
    for game in ["loot", "plutonian-poker"] {
        let mut scene = Scene::opens(game, 3, &[("absence", "2")], bot_of(20), None);
        let stays = scene.joins("stays", bot_of(20));
        scene.lobby(0, |view| taken(view) == 2);
        let goes = scene.joins("goes", bot_of(20));
        scene.turn(goes);
        scene.house.stop(goes);
        assert_eq!(scene.peer(0, PeerState::Absent), seat(2), "{game}");
        assert_eq!(scene.peer(stays, PeerState::Absent), seat(2), "{game}");
        assert!(scene.house.resume(goes, bot_of(20), Attended::Nobody).unwrap());
        let told = scene.until(goes, |event| match event {
            SessionEvent::Fault { stopped: true, what, .. } => Some(what.clone()),
            _ => None,
        });
        assert!(told.contains("play on"), "{told}");
        scene.all_over(&[0, stays]);
        assert_eq!(scene.report(0).left.len(), 1, "{game}");
    }
}

/// Programs crash after every few outputs, wherever that is, and come back: nothing is signed twice, nothing is lost.
#[test]
fn programs_that_crash_after_any_output_come_back() {
    let mut scene = Scene::opens("loot", 2, &[("target", "100")], bot_of(5), None);
    let guest = scene.joins("Béla", bot_of(5));
    scene.turn(0);
    let mut crashes = 0;
    for fuse in (0..120).map(|n| n * 7 % 23) {
        let which = if fuse % 2 == 0 { 0 } else { guest };
        if scene.house.is_running(which) {
            scene.house.programs[which].fuse = Some(fuse);
        }
        scene.house.run(scene.house.up() + 400);
        for program in [0, guest] {
            if !scene.house.is_running(program) && scene.house.saved(program).is_some() {
                crashes += 1;
                scene.house.resume(program, bot_of(5), Attended::Nobody).unwrap();
            }
        }
    }
    scene.later(200);
    assert!(crashes > 20, "{crashes} crashes");
    assert_eq!(scene.house.faults, [""; 0]);
    let logs = [0, guest].map(|program| scene.transcript(program).log_hash());
    assert_eq!(logs[0], logs[1]);
    assert!(scene.report(0).is_fair());
}

/// Guests crash after every output between the ticket and the first turn, and come back by their ticket: at one table, with
/// the first entry that they gave away with their signature.
#[test]
fn guests_that_crash_while_a_table_begins_come_back_to_it() {
    let mut back = 0;
    for fuse in 1..60 {
        let mut scene = Scene::opens("loot", 3, &SHORT, bot_of(5), None);
        let first = scene.joins("Béla", bot_of(5));
        scene.lobby(first, |view| view.me == Some(seat(1)));
        let second = scene.joins("Cleo", bot_of(5));
        scene.house.programs[second].fuse = Some(fuse);
        scene.later(1);
        if !scene.house.is_running(second) {
            let promised = !scene.house.programs[second].disk.promises.is_empty();
            if !scene.house.resume(second, bot_of(5), Attended::Nobody).unwrap() {
                back += u32::from(promised);
                let (target, program) = (scene.ticket.clone().unwrap(), [9; 16].into());
                let (hands, patience) = (bot_of(5), Patience::AMinute);
                let role = Role::Guest { target, hands, program, password: None, patience };
                scene.house.start(second, role, Attended::Nobody, Book::default()).unwrap();
            }
        }
        for program in [0, first, second] {
            scene.until(program, |event| matches!(event, SessionEvent::Action { .. }).then_some(()));
        }
        assert_eq!(scene.house.faults, [""; 0], "after {fuse} outputs");
    }
    assert!(back > 2, "{back} came back by their promise");
}

/// A full disk stops signing and nothing else: the others wait, chat passes, and nobody is removed.
#[test]
fn full_disk_stops_signing_and_nothing_else() {
    let mut scene = Scene::opens("loot", 3, &[("target", "20"), ("absence", "3")], bot_of(5), None);
    let guests = [scene.joins("Béla", bot_of(5)), scene.joins("Cleo", bot_of(5))];
    scene.turn(0);
    scene.house.programs[guests[0]].disk.is_full = true;
    let disk = |full: bool| {
        move |event: &SessionEvent| matches!(event, SessionEvent::Disk { full: is, .. } if *is == full).then_some(())
    };
    scene.until(guests[0], disk(true));
    // Many absence timeouts pass.
    scene.later(30);
    scene.does(guests[0], Command::Say("no space here".to_owned()));
    assert_eq!(scene.hears(0).2, "no space here");
    scene.house.programs[guests[0]].disk.is_full = false;
    scene.until(guests[0], disk(false));
    scene.all_over(&[0, guests[0], guests[1]]);
    assert!(scene.report(0).left.is_empty());
}

/// A guest whose disk is full promises nothing and signs nothing; a host whose disk is full opens nothing. Both go on.
#[test]
fn table_opens_once_every_disk_has_room() {
    let mut scene = Scene::opens("loot", 2, &SHORT, bot_of(1), None);
    let guest = scene.house.add("Béla");
    scene.house.programs[guest].disk.is_full = true;
    let (target, program) = (scene.ticket.clone().unwrap(), [2; 16].into());
    let role = Role::Guest { target, hands: bot_of(1), program, password: None, patience: Patience::AMinute };
    scene.house.start(guest, role, Attended::Nobody, Book::default()).unwrap();
    scene.later(5);
    assert!(scene.house.programs[guest].disk.promises.is_empty());
    scene.house.programs[0].disk.is_full = true;
    scene.house.programs[guest].disk.is_full = false;
    scene.later(5);
    assert!(!scene.events(0).any(|event| matches!(event, SessionEvent::Started { .. })));
    scene.house.programs[0].disk.is_full = false;
    scene.all_over(&[0, guest]);
}

/// The guest is gone for good, and the host has been restarted since: it closes the table with a claim, or for itself,
/// and the game stays saved.
#[test]
fn returned_program_closes_a_deserted_table() {
    let mut ends = Vec::new();
    for pause in [1, 40, 400, 1200] {
        let mut scene = Scene::opens("loot", 2, &[("absence", "2")], bot_of(300), None);
        let guest = scene.joins("Béla", bot_of(300));
        scene.turn(0);
        scene.house.run(scene.house.up() + pause);
        scene.house.stop(guest);
        scene.house.stop(0);
        assert!(scene.house.resume(0, bot_of(300), Attended::Nobody).unwrap());
        let end = scene.until(0, |event| match event {
            SessionEvent::Claimed { by, .. } => Some(by.len().to_string()),
            SessionEvent::Error(why) => Some(why.clone()),
            _ => None,
        });
        if end != "1" {
            assert!(end.contains("fairdeal resume"), "{end}");
            assert!(scene.house.saved(0).is_some());
        }
        ends.push(end == "1");
    }
    assert!(ends.contains(&true), "{ends:?}");
}

/// One program dies once the rules have ended the game. It finishes for the other after the absence timeout, and
/// for the dead one when it comes back.
#[test]
fn finished_game_stays_finished_when_a_program_dies() {
    let mut scene = Scene::opens("loot", 2, &[("target", "20"), ("absence", "2")], bot_of(1), None);
    let guest = scene.joins("Béla", bot_of(1));
    scene.until(0, |event| match event {
        SessionEvent::Snapshot(view) if view.game.is_over() => Some(()),
        _ => None,
    });
    scene.house.stop(guest);
    let (_, winners) = scene.over(0);
    assert_eq!((scene.report(0).finding, scene.report(0).end), (None, End::Finished));
    assert!(scene.house.resume(guest, bot_of(1), Attended::Nobody).unwrap());
    assert_eq!(scene.over(guest).1, winners);
    assert_eq!(scene.report(guest).end, End::Finished);
}
