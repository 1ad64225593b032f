//! The pictures in the README match what the program draws.

use std::fs;
use std::path::Path;

use super::pictures::pictures;

#[test]
fn readme_pictures_are_current() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    for (name, svg) in pictures() {
        let path = format!("docs/pictures/{name}");
        assert!(readme.contains(&path), "{path} is not in the README");
        let kept = fs::read_to_string(root.join(&path)).unwrap();
        assert!(kept == svg, "{path} is out of date: cargo run --example pictures -- docs/pictures");
    }
}
