//! The walls of docs/architecture.md: which crate may depend on which, and which module of the program on which. Imports
//! go in one direction only, so that each part can be read, tested and replaced without those above it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use toml::Table;

/// Modules of the program from the lowest to the highest. A module imports only lower ones.
const LAYERS: [&str; 11] = [
    "text",
    "markup",
    "signals",
    "appearance",
    "store",
    "summary",
    "session",
    "history",
    "replay",
    "events",
    "tui",
];

/// Crates, their folders, and the crates of ours that they build on.
const CRATES: [(&str, &str, &[&str]); 4] = [
    ("fairdeal-protocol", "protocol", &[]),
    ("fairdeal-games", "games", &["fairdeal-protocol"]),
    ("fairdeal-net", "net", &["fairdeal-protocol"]),
    (
        "fairdeal",
        ".",
        &["fairdeal-games", "fairdeal-net", "fairdeal-protocol"],
    ),
];

/// Libraries, and the only crates whose program code may use them.
const LIBRARIES: [(&str, &[&str]); 5] = [
    ("libp2p", &["fairdeal-net"]),
    ("tokio", &["fairdeal-net", "fairdeal"]),
    ("ratatui", &["fairdeal"]),
    ("bincode", &["fairdeal-protocol"]),
    ("curve25519-dalek", &["fairdeal-protocol"]),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Names of a crate's dependencies in programs; tests may use more.
fn dependencies(folder: &str) -> BTreeSet<String> {
    let text = fs::read_to_string(root().join(folder).join("Cargo.toml")).unwrap();
    let manifest: Table = text.parse().unwrap();
    let dependencies = manifest["dependencies"].as_table().unwrap();
    dependencies.keys().cloned().collect()
}

#[test]
fn crates_depend_downwards() {
    for (name, folder, expected) in CRATES {
        let dependencies = dependencies(folder);
        let ours = dependencies.iter().map(String::as_str);
        let ours: Vec<&str> = ours.filter(|name| name.starts_with("fairdeal")).collect();
        assert_eq!(ours, expected, "the arrows of {name}");
        for (library, users) in LIBRARIES {
            assert!(
                !dependencies.contains(library) || users.contains(&name),
                "{name} uses {library}, which is for {users:?}"
            );
        }
    }
}

/// Rust files under a folder, or that one file.
fn files(path: &Path, found: &mut Vec<PathBuf>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            files(&entry.unwrap().path(), found);
        }
    } else if path.extension().is_some_and(|extension| extension == "rs") {
        found.push(path.to_owned());
    }
}

/// Names after each `crate::` of a source text. A group, `crate::{…}`, gives an empty name.
fn imported(text: &str) -> impl Iterator<Item = &str> {
    text.split("crate::").skip(1).map(|rest| {
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
        &rest[..end.unwrap_or(rest.len())]
    })
}

#[test]
fn modules_import_downwards() {
    let src = root().join("src");
    for (layer, module) in LAYERS.iter().enumerate() {
        let mut sources = Vec::new();
        for path in [src.join(module), src.join(format!("{module}.rs"))] {
            if path.exists() {
                files(&path, &mut sources);
            }
        }
        assert!(!sources.is_empty(), "there is no module {module}");
        for source in sources {
            let text = fs::read_to_string(&source).unwrap();
            for name in imported(&text) {
                let lower = LAYERS.iter().position(|other| *other == name);
                assert!(
                    lower.is_some_and(|lower| lower <= layer),
                    "{} imports crate::{name}; a module imports only those below it: {LAYERS:?}",
                    source.display()
                );
            }
        }
    }
}

#[test]
fn every_module_has_a_layer() {
    let text = fs::read_to_string(root().join("src/lib.rs")).unwrap();
    let modules = text.lines().filter_map(|line| {
        let line = line.trim_start_matches("pub ");
        line.strip_prefix("mod ")?.strip_suffix(';')
    });
    let modules: BTreeSet<&str> = modules.collect();
    // The command line stands above all layers.
    let layers: BTreeSet<&str> = LAYERS.into_iter().chain(["cli"]).collect();
    assert_eq!(modules, layers);
}
