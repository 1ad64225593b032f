//! Measures bots against each other: `duel GAME A B [SEATS] [GAMES] [MS|ITERATIONSi] [KEY=VALUE…]`.
//!
//! `50` is 50 milliseconds a move, `300i` is 300 play-outs.

use std::time::{Duration, Instant};

use fairdeal_games::duel::{Contestant, Duel};
use fairdeal_games::rule_set;
use fairdeal_games::search::{Budget, Deadline};

struct Clock {
    time: Duration,
    end: Instant,
}

impl Deadline for Clock {
    fn start(&mut self) {
        self.end = Instant::now() + self.time;
    }

    fn is_over(&self) -> bool {
        Instant::now() >= self.end
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let word = |place: usize, default: &str| words.get(place).map_or(default, String::as_str).to_owned();
    let (game, a, b) = (word(0, "loot"), word(1, "sharp"), word(2, "baseline"));
    let contestant = |name: &str| Contestant::by_name(name).ok_or(format!("no contestant '{name}'"));
    let sides = [contestant(&a)?, contestant(&b)?];
    let (seats, games, budget) = (word(3, "2").parse()?, word(4, "100").parse()?, word(5, "200i"));
    let options = words
        .iter()
        .skip(6)
        .filter_map(|word| word.split_once('='))
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect();
    let rules = rule_set(&game, seats, &options)?;
    let number: u32 = budget.trim_end_matches('i').parse()?;
    let began = Instant::now();
    let micros = || u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
    let mut duel = Duel {
        rules: &rules,
        games,
        seed: std::env::var("SEED").map_or(1, |seed| seed.parse().unwrap_or(1)),
        make: &mut |side, _| {
            let budget = if budget.ends_with('i') {
                Budget::iterations(number)
            } else {
                Budget::time(Clock { time: Duration::from_millis(number.into()), end: Instant::now() })
            };
            let side = if side == 0 { sides[0] } else { sides[1] };
            Ok(side.bot(budget))
        },
        clock: &micros,
    };
    let results = duel.play(|_| {})?;
    println!("{} {:.1}s", results.to_json([&a, &b]), began.elapsed().as_secs_f64());
    Ok(())
}
