//! `fairdeal puzzle`: opens a puzzle on the screen, or lists the puzzles.

use std::fmt::Write as _;

use fairdeal_games::{GAMES, GameInfo, game_info};
use fairdeal_ui::puzzle::puzzles;

use super::args::{Common, Puzzle};
use super::exit::{Exit, usage};
use super::output::print;
use super::table;
use crate::store::{DataView, Settings};
use crate::tui::Start;
use crate::tui::environment::check_screen;

/// Opens the wanted puzzle. Prints the list if asked to, or if there is no screen.
pub(super) fn run(common: &Common, args: &Puzzle) -> anyhow::Result<Exit> {
    let named = args.game.as_deref().map(game_info).transpose().map_err(usage)?;
    let number = args.number.map(usize::from);
    if let (Some(game), Some(number)) = (named, number) {
        let all = puzzles(game)?.len();
        if number > all {
            return Err(usage(format!("{} has puzzles 1 to {all}, not {number}", game.name)));
        }
    }
    // The interface reports invalid settings.
    let settings = DataView::of(common.data_dir.as_deref())?.settings().0;
    if args.list || check_screen().is_err() {
        let games: Vec<&GameInfo> = named.map_or_else(|| GAMES.to_vec(), |game| vec![game]);
        print(list(&games, number, &settings)?.as_bytes())?;
        return Ok(Exit::Done);
    }
    let game = match named {
        Some(game) => game,
        None => first(&settings)?,
    };
    table::home(common, Start::Puzzle { game, number })
}

/// The first game with a puzzle that is not solved; the first game if all are.
fn first(settings: &Settings) -> anyhow::Result<&'static GameInfo> {
    for game in GAMES {
        if (1..=puzzles(game)?.len()).any(|number| !settings.has_solved(game.id, number)) {
            return Ok(game);
        }
    }
    GAMES.first().copied().ok_or_else(|| usage("there is no game"))
}

/// Every puzzle of these games, or the one with this number: its game and number, its difficulty, a mark if it is solved,
/// and its name.
fn list(games: &[&'static GameInfo], only: Option<usize>, settings: &Settings) -> anyhow::Result<String> {
    let mut text = String::new();
    for game in games {
        for (number, puzzle) in (1..).zip(puzzles(game)?) {
            if only.is_none_or(|only| only == number) {
                let mark = if settings.has_solved(game.id, number) { "solved" } else { "" };
                let (level, name) = (puzzle.difficulty.name(), &puzzle.name);
                let _ = writeln!(text, "{:<15} {number}  {level:<6}  {mark:<6}  {name}", game.id);
            }
        }
    }
    Ok(text)
}
