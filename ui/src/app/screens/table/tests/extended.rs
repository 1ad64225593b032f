//! Time given, banks and holidays on the screen.

use fairdeal_protocol::log::extensions::Extension;
use fairdeal_protocol::timing::Timing;

use super::*;

/// A table for three whose limits are extended, with seat 0 to act; `waits` says how it waits.
fn extensible(waits: Waits) -> (TestApp, Snapshot) {
    let mut stage = networked();
    let now = dealt("loot");
    let timing = Timing::new(None, Some(86_400)).unwrap().with(Some(259_200), Some(14)).unwrap();
    let reserves = vec![259_200, 100_800, 0];
    let holidays = vec![(19_000, 19_002)];
    let now = Snapshot {
        me: Some(seat(1)),
        my_turn: false,
        timing: Some(timing),
        holidays,
        holidays_left: 14,
        ..(*now).clone()
    };
    tell(&mut stage, waiting(&now, Waits { reserves, ..waits }, 0));
    (stage, now)
}

fn extended(stage: &TestApp) -> Vec<Extension> {
    let commands = stage.effects.iter().filter_map(|effect| match effect {
        Effect::Session(Command::Extend(extension)) => Some(*extension),
        _ => None,
    });
    commands.collect()
}

/// More time for another player is a line of the palette and one question away.
#[test]
fn another_player_is_given_time() {
    let late = Waiting { seat: seat(0), silent: None, turn_left: Some(0), holiday: None };
    let closing = Some(Closing::Claim(Ground::OutOfTime));
    let (mut stage, now) = extensible(Waits { seats: vec![late], may_claim: closing, ..Waits::default() });
    let name = &now.names[0];
    let words = stage.draw().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(&format!("Or press : to give {name} more time.")), "{words}");
    let buttons: Vec<String> = stage.shell.layer().buttons.iter().map(|(words, _)| words.clone()).collect();
    assert!(buttons.contains(&format!("give {name} time")) && buttons.contains(&"holiday".to_owned()), "{buttons:?}");
    stage.keys(":");
    for letter in format!("give {name}").chars() {
        stage.key(KeyCode::Char(letter));
    }
    stage.key(KeyCode::Enter);
    let shown = stage.draw();
    assert!(shown.contains(&format!("How much extra time for {name}?")), "{shown}");
    assert!(shown.contains("h half a day") && shown.contains("d a day") && shown.contains("t three days"), "{shown}");
    stage.keys("n");
    assert!(extended(&stage).is_empty());
    stage.keys(":");
    for letter in format!("give {name}").chars() {
        stage.key(KeyCode::Char(letter));
    }
    stage.key(KeyCode::Enter);
    stage.keys("d");
    assert_eq!(extended(&stage), [Extension::Give { to: seat(0), seconds: 86_400 }]);
    let line = format!("{name} gives you 24 h of extra time.");
    let extension = Extension::Give { to: seat(1), seconds: 86_400 };
    tell(&mut stage, SessionEvent::Extended { seat: seat(0), extension, line: line.clone() });
    assert!(stage.draw().contains(&line));
}

/// A holiday is declared with keys or clicks; its days and what is left are told before.
#[test]
fn holiday_is_declared() {
    for is_clicked in [false, true] {
        let (mut stage, _) = extensible(Waits::default());
        stage.keys(":");
        for letter in "declare".chars() {
            stage.key(KeyCode::Char(letter));
        }
        stage.key(KeyCode::Enter);
        let shown = stage.draw();
        assert!(shown.contains("tomorrow") && shown.contains("of the 14 that you have left"), "{shown}");
        if is_clicked {
            stage.click_on("first day");
            stage.click_on("days   ");
            stage.click_on("declare this holiday");
        } else {
            insta::assert_snapshot!("holiday-80x24", shown);
            stage.key(KeyCode::Right);
            stage.key(KeyCode::Down);
            stage.key(KeyCode::Right);
            stage.key(KeyCode::Down);
            stage.key(KeyCode::Down);
            stage.key(KeyCode::Enter);
        }
        let all = extended(&stage);
        let [Extension::Holiday { first, days: 8 }] = all[..] else { panic!("{all:?}") };
        let epoch = fairdeal_games::calendar::day_number("1970-01-01").unwrap();
        let today = fairdeal_games::calendar::day_number(&stage.shell.context().today).unwrap() - epoch;
        assert_eq!(i64::from(first), i64::from(today) + 2);
        assert!(!stage.draw().contains("declare this"), "the table is back");
    }
}

/// Others see who is on holiday until when, and what everybody has left beyond the turns.
#[test]
fn holidays_and_reserves_are_shown() {
    let rests = Waiting { seat: seat(0), silent: Some(9000), turn_left: Some(86_400), holiday: Some(20_001) };
    let (mut stage, _) = extensible(Waits { seats: vec![rests], ..Waits::default() });
    stage.size = (120, 40);
    let shown = stage.draw();
    assert!(shown.contains("on holiday until 5 October"), "{shown}");
    stage.keys("s");
    let shown = stage.draw();
    assert!(shown.contains("Time bank") && shown.contains("3 days  ") && shown.contains("28 h  "), "{shown}");
}
