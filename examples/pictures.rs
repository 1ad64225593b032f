//! Draws the pictures of the README as SVG files in a folder.
//!
//! ```sh
//! cargo run --example pictures -- docs/pictures
//! ```

use std::path::PathBuf;

use anyhow::Context as _;

#[allow(clippy::unwrap_used, reason = "its games are fixed")]
#[path = "../tests/fixture/record.rs"]
mod fixture;
#[allow(clippy::unwrap_used, reason = "its games are fixed")]
#[path = "../tests/fixture/pictures.rs"]
mod pictures;

fn main() -> anyhow::Result<()> {
    let folder = std::env::args_os().nth(1).map(PathBuf::from);
    let folder = folder.context("name a folder: cargo run --example pictures -- docs/pictures")?;
    std::fs::create_dir_all(&folder)?;
    for (name, svg) in pictures::pictures() {
        let path = folder.join(name);
        std::fs::write(&path, svg).with_context(|| format!("cannot write {}", path.display()))?;
        println!("{}", path.display());
    }
    Ok(())
}
