//! Draws the pictures of the README as SVG files in a folder; with `--all` a picture of every screen, and a page of them.
//!
//! ```sh
//! cargo run --example pictures -- docs/pictures
//! cargo run --example pictures -- /tmp/screens --all
//! ```

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;

#[allow(clippy::unwrap_used, reason = "its games are fixed")]
#[path = "../tests/fixture/record.rs"]
mod fixture;
#[allow(clippy::unwrap_used, reason = "its games are fixed")]
#[path = "../tests/fixture/pictures.rs"]
mod pictures;

fn main() -> anyhow::Result<()> {
    let folder = std::env::args_os()
        .nth(1)
        .map(PathBuf::from)
        .context("name a folder: cargo run --example pictures -- docs/pictures")?;
    std::fs::create_dir_all(&folder)?;
    if std::env::args_os().any(|argument| argument == "--all") {
        return draw_all(&folder);
    }
    for (name, svg) in pictures::pictures() {
        let path = folder.join(name);
        std::fs::write(&path, svg).with_context(|| format!("cannot write {}", path.display()))?;
        println!("{}", path.display());
    }
    Ok(())
}

/// Draws every screen. The simulated player who reaches them exists in the tests alone: one of them draws the pictures.
fn draw_all(folder: &Path) -> anyhow::Result<()> {
    let folder = folder.canonicalize()?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let drawn = Command::new(cargo)
        .args(["test", "--quiet", "--package", "fairdeal", "--lib", "every_screen_has_room_at_every_size"])
        .env("FAIRDEAL_PICTURES", &folder)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()?;
    anyhow::ensure!(drawn.success(), "the screens cannot be drawn");
    println!("{}", folder.join("index.html").display());
    Ok(())
}
