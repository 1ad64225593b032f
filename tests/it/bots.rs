//! Seeded games between bots.

use std::collections::BTreeMap;

use fairdeal_games::bot;
use fairdeal_games::bots::{Level, play};
use fairdeal_games::chance::RefereeChance;
use fairdeal_games::{AnyGame, GAMES, rule_set};
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;
use serde_json::Value;

use super::process::fairdeal;

/// More actions than any game between bots takes.
const MOST: usize = 20_000;

/// Plays one game to its end, with one level for each seat.
fn played(id: &str, number: u8, levels: &[Level]) -> (AnyGame, usize) {
    let seats = u8::try_from(levels.len()).unwrap();
    let rules = rule_set(id, seats, &BTreeMap::new()).unwrap();
    let mut game = AnyGame::create(&rules).unwrap();
    let mut chance = RefereeChance::from_seed([number; 32]);
    game.begin(&mut chance, &mut Vec::new()).unwrap();
    let mut bots: Vec<_> = levels.iter().map(|level| bot(*level)).collect();
    let mut rng = ChaCha20Rng::from_seed([!number; 32]);
    let made = play(&mut game, &mut chance, &mut bots, &mut rng, MOST).unwrap();
    assert!(game.is_over(), "no end after {made} actions");
    (game, made)
}

#[test]
fn bots_bring_every_game_at_every_table_size_to_its_end() {
    for info in GAMES {
        for seats in info.least_seats..=info.most_seats {
            for level in [Level::Gentle, Level::Normal] {
                for number in 0..3 {
                    played(info.id, number, &vec![level; seats.into()]);
                }
            }
        }
    }
}

#[test]
fn the_same_seeds_give_the_same_game() {
    for info in GAMES {
        let levels = vec![Level::Normal; info.least_seats.into()];
        let text = |(game, made): (AnyGame, usize)| (serde_json::to_string(&game).unwrap(), made);
        assert_eq!(text(played(info.id, 7, &levels)), text(played(info.id, 7, &levels)));
    }
}

#[test]
fn the_normal_loot_bot_beats_the_gentle_one() {
    let mut won = 0;
    for number in 0..30_u8 {
        let place = usize::from(number % 2);
        let mut levels = [Level::Gentle; 2];
        levels[place] = Level::Normal;
        let (game, _) = played("loot", number, &levels);
        won += usize::from(game.winners().contains(Seat::new(place).unwrap()));
    }
    assert!(won >= 27, "{won} of 30");
}

#[test]
fn normal_loot_bots_reach_the_target_in_a_sensible_number_of_hands() {
    for number in 0..20 {
        let (AnyGame::Loot(game), _) = played("loot", number, &[Level::Normal; 3]) else {
            panic!("Loot was asked for")
        };
        assert!(game.totals().iter().any(|total| *total >= game.target()), "{:?}", game.totals());
        assert!((2..=25).contains(&game.hand_no()), "{} hands", game.hand_no());
    }
}

/// The JSON lines of a command that ends by itself.
fn lines(args: &[&str]) -> Vec<Value> {
    let output = fairdeal().args(args).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_duel_ends_with_its_results() {
    let words: Vec<&str> =
        "bot duel sphinxs-paw sharp random --seats 3 --games 3 --iterations 20 --json".split(' ').collect();
    let told = lines(&words);
    assert_eq!(told.len(), 4);
    let results = &told[3]["results"];
    assert_eq!((&results["games"], &results["unfinished"]), (&3.into(), &0.into()));
    assert_eq!(results["a"]["name"], "sharp");
    // Time apart, the same seed gives the same results.
    assert_eq!(lines(&words)[3]["results"]["actions"], results["actions"]);
}

/// Sharp bots think on a blocking thread; a table of theirs comes to its end.
#[test]
fn sharp_bots_play_a_real_table() {
    let root = tempfile::tempdir().unwrap();
    let data = root.path().display().to_string();
    let words: Vec<&str> = "play loot --bots 1 --headless --json --level sharp --option target=20 --data-dir"
        .split(' ')
        .chain([data.as_str()])
        .collect();
    let told = lines(&words);
    assert!(told.iter().any(|line| line["event"] == "over"), "{told:?}");
}
