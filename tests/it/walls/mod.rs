//! The walls of docs/architecture.md: which crates may depend on which, and which modules and files of a crate on which.
//! Imports go one way, so each part can be read, tested and replaced without those above it.

mod circles;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;
use toml::Table;

/// Crates, their folders, and our crates that they build on.
const CRATES: [(&str, &str, &[&str]); 9] = [
    ("fairdeal-protocol", "protocol", &[]),
    ("fairdeal-games", "games", &["fairdeal-protocol"]),
    ("fairdeal-peers", "peers", &["fairdeal-protocol"]),
    ("fairdeal-session", "session", &["fairdeal-games", "fairdeal-link", "fairdeal-peers", "fairdeal-protocol"]),
    ("fairdeal-link", "link", &["fairdeal-peers"]),
    ("fairdeal-net", "net", &["fairdeal-peers", "fairdeal-protocol"]),
    ("fairdeal-ui", "ui", &["fairdeal-games", "fairdeal-peers", "fairdeal-protocol", "fairdeal-session"]),
    (
        "fairdeal-web",
        "web",
        &["fairdeal-games", "fairdeal-link", "fairdeal-peers", "fairdeal-protocol", "fairdeal-session", "fairdeal-ui"],
    ),
    (
        "fairdeal",
        ".",
        &[
            "fairdeal-games",
            "fairdeal-link",
            "fairdeal-net",
            "fairdeal-peers",
            "fairdeal-protocol",
            "fairdeal-session",
            "fairdeal-ui",
        ],
    ),
];

/// Libraries, and the only crates whose non-test code may use them.
const LIBRARIES: [(&str, &[&str]); 5] = [
    ("libp2p", &["fairdeal-net"]),
    ("tokio", &["fairdeal-net", "fairdeal"]),
    ("ratatui", &["fairdeal-ui", "fairdeal-web", "fairdeal"]),
    ("bincode", &["fairdeal-protocol"]),
    ("curve25519-dalek", &["fairdeal-protocol", "fairdeal-link"]),
];

/// Crates whose code has no sockets, clocks, files, threads, `async` or ambient randomness: they run the same in a program,
/// a browser and a simulation.
const PURE: [&str; 6] = ["protocol", "games", "peers", "link", "session", "ui"];

/// Paths and words of what pure crates do without. Types of addresses are in `core::net`.
const IMPURE: &str = r"\b(std::(\{[^}]*)?\b(fs|net|thread|process|env|io::std\w+)\b|rand::rng|elapsed\(\)|Instant::now|SystemTime::now|async|await|tokio|libp2p|getrandom|SysRng|OsRng|thread_rng)\b";

/// The start of a module of tests inside a file.
static TESTS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?m)^#\[cfg\(test\)\]\n(#\[.*\]\n)*(pub(\([^)]*\))? )?mod \w+ \{").unwrap());

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A crate's dependencies outside tests; tests may use more.
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
        let ours: Vec<&str> =
            dependencies.iter().map(String::as_str).filter(|name| name.starts_with("fairdeal")).collect();
        assert_eq!(ours, expected, "the arrows of {name}");
        for (library, users) in LIBRARIES {
            assert!(
                !dependencies.contains(library) || users.contains(&name),
                "{name} uses {library}, which is for {users:?}"
            );
        }
    }
}

/// Rust files under a folder, or the file itself.
fn files(path: &Path, found: &mut Vec<PathBuf>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            files(&entry.unwrap().path(), found);
        }
    } else if path.extension().is_some_and(|extension| extension == "rs") {
        found.push(path.to_owned());
    }
}

/// A source file without comments and unit tests.
fn program_text(source: &Path) -> String {
    let text = fs::read_to_string(source).unwrap();
    let program = TESTS.split(&text).next().unwrap();
    let lines = program.lines().map(|line| match line.find("//") {
        Some(comment) => &line[..comment],
        None => line,
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn is_test(source: &Path) -> bool {
    let names = ["tests", "tests.rs", "testing.rs", "foreign.rs", "explore"];
    source.iter().any(|part| names.iter().any(|name| part == *name))
}

/// Modules that a source imports, named after `crate::` or, at the top of a crate, after `super::`. An item that the
/// crate re-exports counts as its module.
fn imported(text: &str, is_top: bool, exports: &BTreeMap<String, String>) -> BTreeSet<String> {
    let roots = if is_top { r"(?:crate|^use super)" } else { "crate" };
    let path = Regex::new(&format!(r"(?m){roots}::(\w+|\{{[^}}]*\}})")).unwrap();
    let first = Regex::new(r"(?:[{,]\s*|^)(\w+)").unwrap();
    let paths = path.captures_iter(text).map(|found| found[1].to_owned());
    let names = paths.flat_map(|path| {
        let names = first.captures_iter(&path).map(|found| found[1].to_owned());
        names.collect::<Vec<_>>()
    });
    names.map(|name| exports.get(&name).cloned().unwrap_or(name)).collect()
}

/// The module of each name that a crate re-exports at its top.
fn exports(root: &str) -> BTreeMap<String, String> {
    let line = Regex::new(r"(?m)^pub use (\w+)::([^;]*);").unwrap();
    let name = Regex::new(r"\w+").unwrap();
    let mut exports = BTreeMap::new();
    for found in line.captures_iter(root) {
        for name in name.find_iter(&found[2]) {
            exports.insert(name.as_str().to_owned(), found[1].to_owned());
        }
    }
    exports
}

/// For each top-level module of a crate, the modules that it imports.
fn graph(src: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let mut sources = Vec::new();
    files(src, &mut sources);
    let exports = exports(&fs::read_to_string(src.join("lib.rs")).unwrap());
    let mut graph: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for source in sources {
        let place = source.strip_prefix(src).unwrap();
        let top = place.iter().next().unwrap().to_str().unwrap();
        let module = top.trim_end_matches(".rs").to_owned();
        if is_test(place) || ["lib", "main"].contains(&module.as_str()) {
            continue;
        }
        let is_top = place.iter().count() == 1 || place.ends_with(format!("{module}/mod.rs"));
        let names = imported(&program_text(&source), is_top, &exports);
        graph.entry(module).or_default().extend(names);
    }
    let modules: BTreeSet<String> = graph.keys().cloned().collect();
    for (module, names) in &mut graph {
        names.retain(|name| name != module && modules.contains(name));
    }
    graph
}

#[test]
fn pure_crates_have_no_world_around_them() {
    let impure = Regex::new(IMPURE).unwrap();
    let text = Regex::new(r#"(?s)'"'|"([^"\\]|\\.)*""#).unwrap();
    for folder in PURE {
        let mut sources = Vec::new();
        files(&root().join(folder).join("src"), &mut sources);
        assert!(sources.len() > 5, "{folder} has files");
        for source in sources.iter().filter(|source| !is_test(source.strip_prefix(root()).unwrap())) {
            let program = program_text(source);
            let code = text.replace_all(&program, "");
            let found = impure.find(&code).map(|found| found.as_str());
            assert_eq!(found, None, "{}", source.display());
        }
    }
}

/// Repeatedly removes the modules that import no remaining module; none may be left.
#[test]
fn modules_import_in_one_direction() {
    for (name, folder, _) in CRATES {
        let mut graph = graph(&root().join(folder).join("src"));
        assert!(graph.len() > 2, "{name} has modules");
        while !graph.is_empty() {
            let left: BTreeSet<String> = graph.keys().cloned().collect();
            let before = graph.len();
            graph.retain(|_, imports| !imports.is_disjoint(&left));
            assert!(graph.len() < before, "the modules of {name} import each other: {graph:?}");
        }
    }
}

/// Whether a module imports another, itself or by way of others.
fn reaches(graph: &BTreeMap<String, BTreeSet<String>>, from: &str, to: &str) -> bool {
    let (mut seen, mut open) = (BTreeSet::from([from]), vec![from]);
    while let Some(module) = open.pop() {
        if graph[module].contains(to) {
            return true;
        }
        open.extend(graph[module].iter().map(String::as_str).filter(|next| seen.insert(next)));
    }
    false
}

/// The graph in Mermaid, without the arrows that follow from others.
fn draw(name: &str, graph: &BTreeMap<String, BTreeSet<String>>) -> String {
    let mut text = format!("## {name}\n\n```mermaid\nflowchart TD\n");
    for (module, imports) in graph {
        let follows = |import: &str| (imports.iter()).any(|by| by != import && reaches(graph, by, import));
        for import in imports.iter().filter(|import| !follows(import)) {
            text += &format!("    {module} --> {import}\n");
        }
    }
    text + "```\n"
}

/// `UPDATE_IMPORTS=1 cargo test --test it -- walls` draws `docs/imports.md` again.
#[test]
fn imports_are_drawn() {
    let crates = CRATES.map(|(name, _, ours)| {
        let ours = ours.iter().map(|ours| (*ours).to_owned());
        (name.to_owned(), ours.collect())
    });
    let mut drawn = vec![
        "# Imports\n\nDrawn by `tests/it/walls`: which crate, and within a crate which module, imports which. Arrows that \
         follow from\nothers are left out. There are no cycles; the test fails on one. Nor are there between files, but for the few that\n\
         `circles.rs` there lists.\n"
            .to_owned(),
        draw("Crates", &BTreeMap::from(crates)),
    ];
    for (name, folder, _) in CRATES {
        drawn.push(draw(name, &graph(&root().join(folder).join("src"))));
    }
    let (path, drawn) = (root().join("docs/imports.md"), drawn.join("\n"));
    if std::env::var_os("UPDATE_IMPORTS").is_some() {
        fs::write(&path, &drawn).unwrap();
    }
    let stored = fs::read_to_string(&path).unwrap();
    assert_eq!(stored, drawn, "UPDATE_IMPORTS=1 draws {} again", path.display());
}

#[test]
fn a_cycle_would_be_found() {
    let exports = exports("pub use low::{Low, deep};\npub mod low;");
    let text = "use crate::{Low, high::High};\nuse super::side::Side;\nfn f() { crate::deep() }";
    let found = imported(text, true, &exports);
    assert_eq!(found, ["high", "low", "side"].map(str::to_owned).into());
}
