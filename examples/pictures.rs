//! Draws the pictures of the README: one moment of a game of each kind, played by bots with fixed seeds, as SVG files
//! in a folder.
//!
//! ```sh
//! cargo run --example pictures -- docs/pictures
//! ```

use std::path::PathBuf;

use anyhow::Context as _;
use fairdeal::replay::{Eyes, Replay};
use fairdeal::tui::picture::Picture;
use fairdeal::tui::theme::ThemeName;
use fairdeal_protocol::audit::transcript::Transcript;
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;

#[allow(clippy::unwrap_used, reason = "its games are fixed")]
#[path = "../tests/fixture/record.rs"]
mod fixture;

/// The screen of the pictures: columns and rows.
const SIZE: (u16, u16) = (110, 34);

fn main() -> anyhow::Result<()> {
    let folder = std::env::args_os().nth(1).map(PathBuf::from);
    let folder = folder.context("name a folder: cargo run --example pictures -- docs/pictures")?;
    std::fs::create_dir_all(&folder)?;
    let first = Seat::new(0).context("there is a first seat")?;
    // How far into the game, in hundredths.
    for (game, seats, options, seed, far) in [
        ("houses-of-thoth", 3, &[("target", "30")][..], 2, 30),
        ("sphinxs-paw", 3, &[], 1, 45),
        ("loot", 3, &[("target", "20")], 1, 50),
        ("plutonian-poker", 3, &[], 1, 60),
        ("ivory-tower", 1, &[], 7, 60),
    ] {
        let bytes = fixture::record(game, seats, options, seed);
        let replay = Replay::open(Transcript::from_bytes(&bytes)?)?;
        let from = replay.len() * far / 100;
        let mine = |number: &usize| replay.moment(*number).game.to_act().contains(first);
        let moment = (from..replay.len()).find(mine).unwrap_or(from);
        let mut picture = Picture::new(&replay, moment, Eyes::Seat(first), SIZE, ThemeName::Dark);
        let path = folder.join(format!("{game}.svg"));
        std::fs::write(&path, picture.to_svg())
            .with_context(|| format!("cannot write {}", path.display()))?;
        println!("{}", path.display());
    }
    Ok(())
}
