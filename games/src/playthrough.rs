//! Playthroughs: a whole game among normal bots, as text.

use std::fmt::Write as _;

use fairdeal_protocol::card::Faces;
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::{Seat, SeatSet};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;
use serde_json::Value;

use crate::any::{AnyGame, bot};
use crate::bots::Level;
use crate::chance::RefereeChance;
use crate::info::{GameInfo, OptionKind};
use crate::interface::{TableEvent as _, TableGame as _};
use crate::registry::rule_set;

/// The seed of chance and bots.
const SEED: [u8; 32] = [21; 32];
/// Number of actions after which the rest is left out.
const MOST: usize = 1500;
/// Number of times the whole table is shown.
const SHOWN: usize = 12;

/// A whole game, from the first shuffle to the end, as text. Each action is one line of the
/// referee's JSON, followed by its events in words. Now and then it shows the referee's view.
pub fn playthrough(info: &'static GameInfo) -> String {
    told(info).unwrap_or_else(|why| format!("no playthrough: {why}\n"))
}

fn told(info: &'static GameInfo) -> Result<String, String> {
    // Three seats where allowed, a low target, and every optional rule.
    let seats = 3_u8.clamp(info.least_seats, info.most_seats);
    let rare = |kind: OptionKind| match kind {
        OptionKind::Number(..) => Some("40"),
        OptionKind::Choice(words) => words.last().copied(),
        OptionKind::Flag => Some("true"),
        OptionKind::Date => None,
    };
    let options = info.options.iter().filter_map(|o| Some((o.key.to_owned(), rare(o.kind)?.to_owned())));
    let rules = rule_set(info.id, seats, &options.collect()).map_err(|e| e.to_string())?;
    let mut game = AnyGame::create(&rules).map_err(|e| e.to_string())?;
    let mut chance = RefereeChance::from_seed(SEED);
    let mut rng = ChaCha20Rng::from_seed(SEED);
    let names: Vec<String> = ["Ann", "Bob", "Cay"].map(str::to_owned).to_vec();
    let mut bot = bot(Level::Normal);
    let mut text = String::new();
    let options: Vec<String> = rules.options.iter().map(|(k, v)| format!("{k}={v}")).collect();
    let _ = writeln!(text, "{}, {seats} at the table, {}\n", info.name, options.join(" "));
    let mut events = Vec::new();
    let begun = game.begin(&mut chance, &mut events);
    begun.map_err(|_| "chance ran out".to_owned())?;
    for event in &events {
        let _ = writeln!(text, "    {}", event.text(&names));
    }
    for made in 0..MOST {
        if made % SHOWN == 0 {
            show(&mut text, &game, chance.faces());
        }
        let to_act = game.to_act();
        let others = SeatSet::all(usize::from(seats)).iter().filter(|seat| !to_act.contains(*seat));
        let choice = others.chain(to_act.iter()).find_map(|seat| {
            let action = bot.choose(&game, seat, chance.dealt_to(seat), &mut rng)?;
            Some((seat, action))
        });
        let Some((seat, action)) = choice else {
            break;
        };
        let json = game.action_to_json(seat, &action, chance.faces());
        let _ = writeln!(text, "{} {json}", name(seat, &names));
        events.clear();
        let done = game.apply(seat, &action, &mut chance, &mut events);
        done.map_err(|halt| format!("{halt:?}"))?;
        for event in &events {
            let _ = writeln!(text, "    {}", event.text(&names));
        }
    }
    show(&mut text, &game, chance.faces());
    Ok(text)
}

fn name(seat: Seat, names: &[String]) -> &str {
    names.get(seat.index()).map_or("", String::as_str)
}

/// Writes the referee's view, one field per line.
fn show(text: &mut String, game: &AnyGame, known: &Faces) {
    text.push('\n');
    if let Value::Object(fields) = game.view(None, known) {
        for (key, value) in fields.iter().filter(|(key, _)| *key != "game") {
            let _ = writeln!(text, "  {key}: {value}");
        }
    }
    text.push('\n');
}
