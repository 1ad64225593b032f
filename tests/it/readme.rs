//! The pictures in the README, docs/play.md and docs/slow-play.md match what the program draws.

use std::fs;
use std::path::Path;

use super::pictures::pictures;

#[test]
fn readme_pictures_are_current() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let pages =
        ["README.md", "docs/play.md", "docs/slow-play.md"].map(|page| fs::read_to_string(root.join(page)).unwrap());
    for (name, svg) in pictures() {
        let path = format!("docs/pictures/{name}");
        let shown = format!("pictures/{name})");
        assert!(pages.iter().any(|page| page.contains(&shown)), "no page shows {path}");
        let kept = fs::read_to_string(root.join(&path)).unwrap();
        assert!(kept == svg, "{path} is out of date: cargo run --example pictures -- docs/pictures");
    }
}
