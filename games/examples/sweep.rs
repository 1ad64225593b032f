//! Looks for games of bots that go on for ever: `sweep [GAMES [LEVEL [GAME [SEATS]]]]`, `sweep 5 sharp` for instance.
//!
//! For each game and number of seats it plays with the defaults, then with each other value of each choice and flag
//! alone. Targets keep their defaults. A game is unfinished after 20,000 actions. Sharp bots have 200 play-outs
//! a decision.

use std::collections::BTreeMap;
use std::time::Instant;

use fairdeal_games::bots::Level;
use fairdeal_games::duel::{Contestant, Duel, Results};
use fairdeal_games::search::Budget;
use fairdeal_games::{GAMES, GameInfo, OptionKind, rule_set};

type Options = BTreeMap<String, String>;
type Failure = Box<dyn std::error::Error>;

/// Play-outs of a sharp bot for each decision.
const ITERATIONS: u32 = 200;

/// The defaults, and each other value of each choice and flag alone.
fn variants(info: &GameInfo) -> Vec<Options> {
    let others = info.options.iter().flat_map(|option| {
        let values: &[&str] = match option.kind {
            OptionKind::Choice(words) => words,
            OptionKind::Flag => &["false", "true"],
            OptionKind::Number(..) | OptionKind::Date => &[],
        };
        let others = values.iter().filter(|value| **value != option.default);
        others.map(|value| Options::from([(option.key.to_owned(), (*value).to_owned())]))
    });
    std::iter::once(Options::new()).chain(others).collect()
}

fn play(game: &str, seats: u8, options: &Options, games: u32, level: Level) -> Result<Results, Failure> {
    let mut duel = Duel {
        rules: &rule_set(game, seats, options)?,
        games,
        seed: 1,
        make: &mut |_, _| Ok(Contestant::Level(level).bot(Budget::iterations(ITERATIONS))),
        clock: &|| 0,
    };
    Ok(duel.play(|_| {})?)
}

fn main() -> Result<(), Failure> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let games = words.first().map_or(Ok(40), |word| word.parse())?;
    let levels = match words.get(1).map(String::as_str) {
        None | Some("both") => vec![Level::Gentle, Level::Normal],
        Some(name) => vec![Level::by_name(name).ok_or("no such level")?],
    };
    let only = words.get(2);
    let only_seats = words.get(3).map(|word| word.parse::<u8>()).transpose()?;
    println!("| game | seats | options | level | games | unfinished | nobody | actions a game | s |");
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    let mut unfinished = 0;
    for info in GAMES.iter().filter(|info| only.is_none_or(|id| id == info.id)) {
        let seats = (info.least_seats..=info.most_seats).filter(|seats| only_seats.is_none_or(|only| only == *seats));
        for (seats, options) in seats.flat_map(|seats| variants(info).into_iter().map(move |it| (seats, it))) {
            let given: Vec<String> = options.iter().map(|(key, value)| format!("{key}={value}")).collect();
            for level in &levels {
                let began = Instant::now();
                let done = play(info.id, seats, &options, games, *level)?;
                unfinished += done.unfinished;
                println!(
                    "| {} | {seats} | {} | {} | {} | {} | {} | {} | {:.1} |",
                    info.id,
                    given.join(" "),
                    level.name(),
                    done.games,
                    done.unfinished,
                    done.nobody,
                    done.actions / u64::from(done.games.max(1)),
                    began.elapsed().as_secs_f64()
                );
            }
        }
    }
    if unfinished > 0 {
        return Err(format!("{unfinished} games are unfinished").into());
    }
    Ok(())
}
