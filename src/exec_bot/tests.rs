//! Programs in the shell's language: quick, late, dead, silent and illegal ones.

#![allow(clippy::unwrap_used)]

use std::sync::mpsc::{Receiver, channel};

use fairdeal_games::bot;
use fairdeal_games::bots::Level;
use fairdeal_games::chance::RefereeChance;
use fairdeal_games::rule_set;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;

use super::*;

/// Answers each `choose` by the rest of the line after its id.
fn answering(rest: &str) -> String {
    format!(
        r#"while read -r line; do case $line in *'"event":"hello"'*) echo '{{"event":"ready","name":"sh"}}';; *'"event":"choose"'*) id=${{line#*'"id":'}}; id=${{id%%,*}}; {rest};; esac; done"#
    )
}

fn rules() -> RuleSet {
    rule_set("loot", 2, &Default::default()).unwrap()
}

/// A bot, and what it tells.
fn started(command: &str, move_ms: u64) -> (ExecBot, Receiver<String>) {
    let (sender, told) = channel();
    let notices = Notices::new(move |line| sender.send(line.to_owned()).unwrap());
    let fallback = (bot(Level::Normal), "normal");
    let bot = ExecBot::start(command, Duration::from_millis(move_ms), fallback, notices).unwrap();
    bot.leash.introduce(&rules(), Seat::FIRST);
    (bot, told)
}

/// A game that waits for its first seat, and what that seat knows.
fn game() -> (AnyGame, Seat, Faces) {
    let mut game = AnyGame::create(&rules()).unwrap();
    let mut chance = RefereeChance::from_seed([1; 32]);
    game.begin(&mut chance, &mut Vec::new()).unwrap();
    let seat = game.to_act().iter().next().unwrap();
    (game, seat, chance.dealt_to(seat).clone())
}

fn chosen(bot: &mut ExecBot) -> Option<AnyAction> {
    let (game, seat, known) = game();
    bot.choose(&game, seat, &known, &mut ChaCha20Rng::from_seed([0; 32]))
}

/// Whether the bot's decision is that of its fallback.
fn falls_back(command: &str, move_ms: u64) -> Receiver<String> {
    let (mut exec, told) = started(command, move_ms);
    let (game, seat, known) = game();
    let ours = bot(Level::Normal).choose(&game, seat, &known, &mut ChaCha20Rng::from_seed([0; 32]));
    assert_eq!(chosen(&mut exec), ours);
    assert_eq!(chosen(&mut exec), ours);
    told
}

#[test]
fn program_chooses_by_index_or_action() {
    let (game, seat, known) = game();
    let legal = game.legal(seat, &known);
    let (mut bot, told) = started(&answering(r#"echo '{"event":"choice","id":'$id',"index":1}'"#), 10_000);
    assert_eq!(chosen(&mut bot).as_ref(), legal.get(1));
    let action = game.action_to_json(seat, legal.first().unwrap(), &known);
    let command = answering(&format!(r#"echo '{{"event":"choice","id":'$id',"action":{action}}}'"#));
    let (mut bot, _) = started(&command, 10_000);
    assert_eq!(chosen(&mut bot).as_ref(), legal.first());
    assert_eq!(told.try_iter().count(), 0);
}

/// Stale answers and unknown events are ignored, and lines that are none are told once.
#[test]
fn stale_answers_are_ignored() {
    let stale = r#"echo '{"event":"choice","id":99,"index":1}'; echo '{"event":"x"}'; "#;
    let right = r#"echo '{"event":"choice","id":'$id',"index":0}'"#;
    let (mut bot, told) = started(&answering(&format!("{stale}{right}")), 10_000);
    let (game, seat, known) = game();
    assert_eq!(chosen(&mut bot), game.legal(seat, &known).into_iter().next());
    assert_eq!(told.try_iter().count(), 0);
    let chatty = format!("echo Loading...; {}", answering(&format!("{right}; echo done")));
    let (mut bot, told) = started(&chatty, 10_000);
    for _ in 0..3 {
        assert_eq!(chosen(&mut bot), game.legal(seat, &known).into_iter().next());
    }
    let told: Vec<String> = told.try_iter().collect();
    assert!(matches!(told.as_slice(), [line] if line.contains("not JSON")), "{told:?}");
}

/// A program that never answers is stopped; then no decision waits for it.
#[test]
fn hung_programs_are_given_up() {
    let told: Vec<String> = {
        let (mut bot, told) = started(&answering(":"), 30);
        (0..5).for_each(|_| assert!(chosen(&mut bot).is_some()));
        told.try_iter().collect()
    };
    let [late, given_up] = told.as_slice() else { unreachable!("{told:?}") };
    assert!(late.contains("did not answer") && given_up.contains("3 times in a row"), "{told:?}");
}

/// Out of turn a program that fails acts no more than a silent one.
#[test]
fn failures_out_of_turn_are_silent() {
    let rules = rule_set("loot", 2, &Default::default()).unwrap();
    let mut game = AnyGame::create(&rules).unwrap();
    let mut chance = RefereeChance::from_seed([1; 32]);
    game.begin(&mut chance, &mut Vec::new()).unwrap();
    let mut rng = ChaCha20Rng::from_seed([0; 32]);
    let mut bots = vec![bot(Level::Gentle), bot(Level::Gentle)];
    let calls = |game: &AnyGame, chance: &RefereeChance| {
        let waiting = Seat::first(2).find(|seat| !game.to_act().contains(*seat)).unwrap();
        (!game.legal(waiting, chance.dealt_to(waiting)).is_empty()).then_some(waiting)
    };
    let caller = loop {
        if let Some(seat) = calls(&game, &chance) {
            break seat;
        }
        fairdeal_games::bots::play(&mut game, &mut chance, &mut bots, &mut rng, 1).unwrap();
    };
    let (mut exec, told) = started(&answering(r#"echo '{"event":"choice","id":'$id',"index":999}'"#), 10_000);
    assert_eq!(exec.choose(&game, caller, chance.dealt_to(caller), &mut rng), None);
    assert_eq!(told.try_iter().count(), 1);
}

#[test]
fn failures_fall_back_and_are_told_once() {
    let cases = [
        (answering(r#"echo '{"event":"choice","id":'$id',"index":999}'"#), 10_000, "not legal"),
        (answering(r#"echo '{"event":"choice","id":'$id',"index":null}'"#), 10_000, "although it is its turn"),
        (answering(r#"echo '{"event":"choice","id":'$id',"action":{"type":"x"}}'"#), 10_000, "not legal"),
        (answering("exit 1"), 10_000, "has ended"),
        (answering(":"), 60, "did not answer within"),
        ("exit 0".to_owned(), 10_000, "has ended"),
        ("no-such-program-at-all".to_owned(), 10_000, "has ended"),
    ];
    for (command, move_ms, words) in cases {
        let told: Vec<String> = falls_back(&command, move_ms).try_iter().collect();
        let [line] = told.as_slice() else { unreachable!("{command}: {told:?}") };
        assert!(line.contains(words), "{line}");
    }
}

/// The session stops a question, and ends a program that thinks; neither is a failure to tell.
#[test]
fn session_stops_and_ends_a_thought() {
    let (mut bot, told) = started(&answering("sleep 100"), 60_000);
    let leash = bot.leash();
    let asked = std::thread::spawn(move || {
        let choice = chosen(&mut bot);
        (bot, choice)
    });
    std::thread::sleep(Duration::from_millis(50));
    leash.stop();
    let (mut bot, choice) = asked.join().unwrap();
    assert_eq!(choice, None);
    leash.resume();
    let asked = std::thread::spawn(move || chosen(&mut bot));
    std::thread::sleep(Duration::from_millis(50));
    drop(leash);
    assert_eq!(asked.join().unwrap(), None);
    assert_eq!(told.try_iter().count(), 0);
}

/// A program that does not read is ended, and what it misses is not held in memory.
#[test]
fn unread_lines_are_bounded() {
    let (mut bot, told) = started("sleep 1000", 60_000);
    let (game, seat, known) = game();
    let mut lines = 0_u32;
    while !bot.leash.has_ended() {
        bot.leash.saw(&game, seat, &known, &Seen::Deal(lines));
        lines += 1;
        assert!(lines < 100_000);
    }
    assert!(chosen(&mut bot).is_some());
    let told: Vec<String> = told.try_iter().collect();
    assert!(told.len() == 1 && told[0].contains("stopped reading"), "{told:?}");
    assert_eq!(bot.fallbacks(), 1);
}

/// The program reads the end of its game; then its own children end with it.
#[test]
fn program_hears_the_end_and_its_children_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let command = format!(
        "sleep 1000 & echo $! > {}; while read -r line; do echo \"$line\" >> {}; done; sleep 1000",
        path("child"),
        path("lines")
    );
    let (bot, _told) = started(&command, 1000);
    let leash = bot.leash();
    leash.over(&game().0);
    leash.finish();
    let lines = std::fs::read_to_string(path("lines")).unwrap();
    let last = r#"{"event":"over","scores":[0,0],"winners":[]}"#;
    assert_eq!(lines.lines().last(), Some(last), "{lines}");
    let child: i32 = std::fs::read_to_string(path("child")).unwrap().trim().parse().unwrap();
    let child = rustix::process::Pid::from_raw(child).unwrap();
    let latest = Instant::now() + Duration::from_secs(10);
    // A killed orphan stays until the system's first process has waited for it; a zombie's command line is empty.
    let is_alive = || {
        let line = std::fs::read(format!("/proc/{}/cmdline", child.as_raw_nonzero()));
        line.is_ok_and(|line| !line.is_empty())
    };
    while is_alive() {
        assert!(Instant::now() < latest, "the program's child lives on");
        std::thread::sleep(Duration::from_millis(10));
    }
}
