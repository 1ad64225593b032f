//! Time that players give each other, banks and holidays.

use fairdeal_protocol::log::extensions::Extension;

use super::*;

const HOUR: u64 = 3_600_000;
const DAY: u64 = 24 * HOUR;

/// The last snapshot that a program was shown.
fn shown(scene: &mut Scene, program: usize) -> Box<Snapshot> {
    scene.later(2);
    while scene.house.read(program).is_some() {}
    let last = scene.events(program).filter_map(|event| match event {
        SessionEvent::Snapshot(now) => Some(now.clone()),
        _ => None,
    });
    last.last().unwrap()
}

/// The lines on extensions that a program was told.
fn lines(scene: &Scene, program: usize) -> Vec<String> {
    let told = scene.events(program).filter_map(|event| match event {
        SessionEvent::Extended { line, .. } => Some(line.clone()),
        _ => None,
    });
    told.collect()
}

/// A table of two persons with these options, where the guest is to act.
fn guest_to_act(options: &[(&str, &str)]) -> (Scene, usize) {
    let mut scene = Scene::opens("loot", 2, options, READY, None);
    let guest = scene.joins("Béla", READY);
    for program in [0, guest] {
        scene.until(program, |event| matches!(event, SessionEvent::Snapshot(_)).then_some(()));
    }
    loop {
        let now = shown(&mut scene, 0);
        if !now.my_turn && shown(&mut scene, guest).my_turn {
            return (scene, guest);
        }
        scene.acts(0, &now);
    }
}

/// Nobody can close the table while the other has time left of what was given.
#[test]
fn given_time_keeps_a_table_open() {
    let (mut scene, guest) = guest_to_act(&[("turn-time", "60"), ("absence", "60")]);
    scene.does(0, Command::Extend(Extension::Give { to: seat(1), seconds: 3600 }));
    scene.later(5);
    let now = shown(&mut scene, 0);
    assert_eq!(now.waits.reserves, [0, 3600]);
    shown(&mut scene, guest);
    assert_eq!(lines(&scene, 0), ["You give Béla 1 h of extra time."]);
    assert_eq!(lines(&scene, guest), ["Anna gives you 1 h of extra time."]);
    scene.house.stop(guest);
    scene.later(3400);
    let now = shown(&mut scene, 0);
    assert_eq!(now.waits.may_claim, None);
    assert_eq!((now.waits.seats[0].turn_left, now.waits.reserves[1] / 60), (Some(0), 4));
    assert!(matches!(now.waits.remedy, Some((Remedy::Close, 180 | 240))), "{:?}", now.waits.remedy);
    scene.later(400);
    assert!(shown(&mut scene, 0).waits.may_claim.is_some());
    scene.does(0, Command::Claim);
    scene.until(0, |event| matches!(event, SessionEvent::Claimed { .. }).then_some(()));
    let report = scene.report(0);
    assert_eq!((report.finding, report.extensions.len()), (None, 1));
}

/// Time of the bank that is used is gone, also after the other program was off.
#[test]
fn a_bank_is_used_once() {
    let (mut scene, guest) = guest_to_act(&[("turn-time", "60"), ("absence", "60"), ("bank", "1h")]);
    assert_eq!(shown(&mut scene, 0).waits.reserves, [3600, 3600]);
    scene.later(60 + 1800);
    let now = shown(&mut scene, 0);
    assert!((1740..1860).contains(&now.waits.reserves[1]) && now.waits.reserves[0] == 3600, "{:?}", now.waits.reserves);
    let turn = shown(&mut scene, guest);
    assert_eq!(turn.waits.own_turn_left, Some(0));
    assert!((1740..1860).contains(&turn.waits.reserves[1]), "{:?}", turn.waits);
    scene.acts(guest, &turn);
    scene.later(5);
    scene.house.stop(0);
    assert!(scene.house.resume(0, READY, Attended::Person).unwrap());
    scene.later(20);
    let now = shown(&mut scene, 0);
    assert!((1740..1860).contains(&now.waits.reserves[1]) && now.waits.reserves[0] == 3600, "{:?}", now.waits.reserves);
}

/// No time of a player runs on a holiday, whether its program is on or off.
#[test]
fn nobody_is_late_on_a_holiday() {
    let (mut scene, guest) = guest_to_act(&[("turn-time", "10h"), ("absence", "10h"), ("holidays", "3")]);
    // It is the afternoon of 21 September.
    let first = u32::try_from(scene.house.wall() / DAY).unwrap() + 1;
    scene.does(guest, Command::Extend(Extension::Holiday { first, days: 4 }));
    scene.does(guest, Command::Extend(Extension::Holiday { first: first - 1, days: 1 }));
    let refused: Vec<String> = (0..2)
        .map(|_| {
            scene.until(guest, |event| match event {
                SessionEvent::Refused(why) => Some(why.clone()),
                _ => None,
            })
        })
        .collect();
    assert_eq!(
        refused,
        [
            "this table allows each player 3 days of holiday in a game, in at most 16 parts",
            "a holiday has to be declared before the day on which it begins (UTC)",
        ]
    );
    for first in [first + 9, first] {
        scene.does(guest, Command::Extend(Extension::Holiday { first, days: 1 }));
    }
    scene.later(5);
    let now = shown(&mut scene, guest);
    assert_eq!((now.holidays_left, now.holidays), (1, vec![(first, first + 1), (first + 9, first + 10)]));
    scene.house.stop(guest);
    shown(&mut scene, 0);
    let line = |day: &str| format!("Béla declares a holiday: {day} (UTC). Béla's clock stops on those days.");
    assert_eq!(lines(&scene, 0), ["1 October", "22 September"].map(line));
    scene.house.run(scene.house.up() + 20 * HOUR);
    let now = shown(&mut scene, 0);
    assert_eq!((now.waits.may_claim, now.waits.seats[0].holiday), (None, Some(first)));
    assert_eq!(now.waits.remedy, None, "nothing comes nearer");
    scene.house.run(scene.house.up() + 15 * HOUR);
    let now = shown(&mut scene, 0);
    assert!(now.waits.may_claim.is_some(), "{:?}", now.waits);
    assert_eq!(now.waits.seats[0].holiday, None);
}

/// A bot can neither get nor give time, and a table without holidays says so.
#[test]
fn what_the_table_does_not_allow_is_refused_in_words() {
    let mut scene = Scene::opens("loot", 2, &[], READY, None);
    let guest = scene.joins("Béla", bot_of(5));
    scene.until(0, |event| matches!(event, SessionEvent::Snapshot(_)).then_some(()));
    for (extension, why) in [
        (Extension::Give { to: seat(0), seconds: 60 }, "only a person can give time"),
        (Extension::Holiday { first: u32::MAX, days: 1 }, "this table has no holidays"),
    ] {
        scene.does(0, Command::Extend(extension));
        let refused = scene.until(0, |event| match event {
            SessionEvent::Refused(why) => Some(why.clone()),
            _ => None,
        });
        assert!(refused.starts_with(why), "{refused}");
    }
    assert!(lines(&scene, guest).is_empty());
}
