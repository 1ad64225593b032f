//! Writes a text playthrough of every game for people who check the rules: each seat's actions, the events, and the
//! state of the table from time to time.
//!
//! `cargo run --example playthrough` writes `docs/playthroughs/`, and the test `playthroughs_are_up_to_date` compares.
//! Bots play from a fixed seed, so the text changes only when rules or bots do.

fn main() -> std::io::Result<()> {
    for info in fairdeal_games::GAMES {
        let path = format!("docs/playthroughs/{}.txt", info.id);
        std::fs::write(&path, fairdeal_games::playthrough(info))?;
        println!("{path}");
    }
    Ok(())
}
