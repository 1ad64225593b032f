//! Circles between files: no two files of a crate import each other, directly or by way of others. A file imports another
//! if one of its paths names an item that is defined there.
//!
//! Paths are followed through modules and re-exports to the file of the definition. A re-export alone imports nothing,
//! so a `mod.rs` may hand out what its children define. Methods are not followed: they have no path.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

use super::{CRATES, files, is_test, program_text, root};

/// Imports that would close a circle, and why they stay: the files that begin so, the file that they import, the reason.
const EXCEPTIONS: [(&str, &str, &str); 3] = [
    (
        "games/src/ivory/daily.rs",
        "games/src/ivory/solver/mod.rs",
        "the deal of a day is the first that the solver wins, and the solver plays the engine that deals it",
    ),
    (
        "session/src/stage/seated/whereabouts.rs",
        "session/src/stage/seated/mod.rs",
        "the methods of a stage stand beside the part of its state that they alone use",
    ),
    ("ui/src/app/screens/table/", "ui/src/app/screens/table/mod.rs", "the parts of one screen draw its whole state"),
];

/// The most re-exports that a path goes through.
const FARTHEST: u8 = 12;

static DECLARED: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?m)^(pub(\([^)]*\))? )?mod \w+;").unwrap());
static USED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?m)^([ \t]*)(pub(?:\([^)]*\))?\s+)?use\s+([^;]*);").unwrap());
static ITEM: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b(?:struct|enum|fn|trait|type|const|static|macro_rules!)\s+(\w+)").unwrap());
static PATH: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?:^|[^\w:])((?:\w+::)+\w+)").unwrap());
static WORD: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\w+").unwrap());

/// The path of a module from the top of its crate.
type Module = Vec<String>;

/// A file's code, taken apart.
struct Source {
    /// Its path from the folder of the repository.
    place: String,
    uses: Vec<Use>,
    /// The names of its items.
    items: BTreeSet<String>,
    /// The paths in the rest of its code, without `use` and `mod`.
    paths: Vec<Vec<String>>,
    /// The words there.
    words: BTreeSet<String>,
}

/// A name that a file uses or re-exports.
struct Use {
    is_public: bool,
    path: Vec<String>,
    /// The name in the file.
    name: String,
}

/// The end of a path.
enum Found {
    Module(Module),
    /// An item of the module.
    Item(Module),
}

/// The files of a crate by their modules.
struct Sources(BTreeMap<Module, Source>);

/// The names of a `use`, each with its path.
fn names_of(tree: &str, is_public: bool, found: &mut Vec<Use>, before: &[String]) {
    let parts = |path: &str| -> Vec<String> {
        let parts = path.split("::").map(str::trim).filter(|part| !part.is_empty());
        before.iter().cloned().chain(parts.map(str::to_owned)).collect()
    };
    if let Some((start, rest)) = tree.split_once('{') {
        let (mut depth, mut from) = (0, 0);
        let inside = &rest[..rest.rfind('}').unwrap_or(rest.len())];
        for (at, sign) in inside.char_indices().chain([(inside.len(), ',')]) {
            match sign {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    names_of(&inside[from..at], is_public, found, &parts(start));
                    from = at + 1;
                }
                _ => {}
            }
        }
        return;
    }
    let (path, other_name) = tree.split_once(" as ").map_or((tree, None), |(path, name)| (path, Some(name.trim())));
    let mut path = parts(path);
    if path.last().is_some_and(|last| last == "self") {
        path.pop();
    }
    if !tree.trim().is_empty()
        && let Some(last) = path.last()
    {
        let name = other_name.unwrap_or(last).to_owned();
        found.push(Use { is_public, path, name });
    }
}

impl Source {
    fn of(place: String, text: &str) -> Self {
        let text = DECLARED.replace_all(text, "");
        let mut uses = Vec::new();
        for of in USED.captures_iter(&text) {
            // An indented `super` is that of a module inside the file, which is the file itself.
            let tree = if of[1].is_empty() { of[3].to_owned() } else { of[3].replacen("super", "self", 1) };
            names_of(&tree, of.get(2).is_some(), &mut uses, &[]);
        }
        let body = USED.replace_all(&text, "");
        let items = ITEM.captures_iter(&body).map(|of| of[1].to_owned()).collect();
        let paths = PATH.captures_iter(&body).map(|of| of[1].split("::").map(str::to_owned).collect()).collect();
        let words = WORD.find_iter(&body).map(|of| of.as_str().to_owned()).collect();
        Self { place, uses, items, paths, words }
    }
}

impl Sources {
    /// The sources of a crate, from the paths of its files in `src` and their code.
    fn of<'a>(folder: &str, files: impl IntoIterator<Item = (&'a Path, String)>) -> Self {
        let sources = files.into_iter().map(|(path, text)| {
            let mut module: Module =
                path.with_extension("").iter().map(|part| part.to_str().unwrap().to_owned()).collect();
            module.pop_if(|last| ["mod", "lib"].contains(&last.as_str()));
            (module, Source::of(format!("{folder}{}", path.display()), &text))
        });
        Self(sources.collect())
    }

    fn read(folder: &str) -> Self {
        let src = root().join(folder).join("src");
        let mut paths = Vec::new();
        files(&src, &mut paths);
        let places = paths.iter().map(|path| (path.strip_prefix(&src).unwrap(), path));
        let places = places.filter(|(place, _)| !is_test(place) && *place != Path::new("main.rs"));
        let prefix = if folder == "." { "src/".to_owned() } else { format!("{folder}/src/") };
        Self::of(&prefix, places.map(|(place, path)| (place, program_text(path))))
    }

    fn child(&self, module: &[String], name: &str) -> Option<Module> {
        let child = [module, &[name.to_owned()]].concat();
        self.0.contains_key(&child).then_some(child)
    }

    /// Follows a path that a module names. `None` if it leaves the crate.
    fn resolve(&self, module: &[String], path: &[String], left: u8) -> Option<Found> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => self.walk(&[], rest, left),
            "self" => self.walk(module, rest, left),
            "super" => {
                let ups = path.iter().take_while(|part| *part == "super").count();
                self.walk(&module[..module.len().checked_sub(ups)?], &path[ups..], left)
            }
            name => self.walk(&self.child(module, name)?, rest, left),
        }
    }

    /// Follows a path from a module downwards.
    fn walk(&self, module: &[String], path: &[String], left: u8) -> Option<Found> {
        let source = self.0.get(module)?;
        let Some((name, rest)) = path.split_first() else {
            return Some(Found::Module(module.to_vec()));
        };
        let left = left.checked_sub(1)?;
        if let Some(child) = self.child(module, name) {
            return self.walk(&child, rest, left);
        }
        if source.items.contains(name) {
            return Some(Found::Item(module.to_vec()));
        }
        if let Some(of) = source.uses.iter().find(|of| of.name == *name) {
            return self.resolve(module, &[&of.path, rest].concat(), left);
        }
        // A macro may define it, or all of another module stands behind it.
        Some(Found::Item(module.to_vec()))
    }

    /// The modules that a module imports.
    fn imports(&self, module: &Module, source: &Source) -> BTreeSet<Module> {
        let mut found = BTreeSet::new();
        let mut modules = BTreeMap::new();
        for of in &source.uses {
            match self.resolve(module, &of.path, FARTHEST) {
                Some(Found::Module(to)) => _ = modules.insert(of.name.as_str(), to),
                Some(Found::Item(_)) if of.is_public && !source.words.contains(&of.name) => {}
                Some(Found::Item(to)) => _ = found.insert(to),
                None => {}
            }
        }
        for parts in &source.paths {
            let end = match modules.get(parts[0].as_str()) {
                Some(from) => self.walk(from, &parts[1..], FARTHEST),
                None => self.resolve(module, parts, FARTHEST),
            };
            if let Some(Found::Item(to)) = end {
                found.insert(to);
            }
        }
        found.remove(module);
        found
    }

    /// For each file the files that it imports.
    fn graph(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let of = |(module, source): (&Module, &'_ Source)| {
            self.imports(module, source).iter().map(|to| self.0[to].place.as_str()).collect()
        };
        self.0.iter().map(|all| (all.1.place.as_str(), of(all))).collect()
    }
}

/// Takes away the files that are on no circle, and on no way between two.
fn circles<'a>(mut graph: BTreeMap<&'a str, BTreeSet<&'a str>>) -> BTreeMap<&'a str, BTreeSet<&'a str>> {
    loop {
        let before = graph.len();
        let imported: BTreeSet<&str> = graph.values().flatten().copied().collect();
        graph.retain(|file, imports| !imports.is_empty() && imported.contains(file));
        let left: BTreeSet<&str> = graph.keys().copied().collect();
        graph.values_mut().for_each(|imports| imports.retain(|file| left.contains(file)));
        if graph.len() == before && graph.values().all(|imports| !imports.is_empty()) {
            return graph;
        }
    }
}

#[test]
fn files_import_in_one_direction() {
    let mut needed = BTreeSet::new();
    for (name, folder, _) in CRATES {
        let sources = Sources::read(folder);
        let mut graph = sources.graph();
        assert!(graph.values().flatten().count() > 2, "{name} has imports");
        let on_circles = circles(graph.clone());
        for (file, imports) in &mut graph {
            for (from, to, _) in EXCEPTIONS.iter().filter(|(from, ..)| file.starts_with(from)) {
                if imports.remove(to) && on_circles.get(file).is_some_and(|imports| imports.contains(to)) {
                    needed.insert(*from);
                }
            }
        }
        let left = circles(graph);
        assert!(left.is_empty(), "the files of {name} import each other: {left:#?}");
    }
    for (from, to, reason) in EXCEPTIONS {
        assert!(needed.contains(from), "no circle needs {from} -> {to} any more ({reason})");
    }
}

/// A crate of these files.
fn planted(files: &[(&'static str, &str)]) -> Sources {
    Sources::of("", files.iter().map(|(path, text)| (Path::new(*path), (*text).to_owned())))
}

#[test]
fn a_planted_circle_would_be_found() {
    let found = |files: &[(&'static str, &str)]| -> Vec<String> {
        let sources = planted(files);
        circles(sources.graph()).into_keys().map(str::to_owned).collect()
    };
    let lib = ("lib.rs", "pub mod low;\npub mod high;\npub use high::part::Part;");
    let high = ("high/mod.rs", "mod part;\npub use part::{Part, Other as Another};\npub struct High;");
    let part = ("high/part.rs", "use crate::low;\npub struct Part(low::Low);\npub struct Other;");
    let straight = [lib, high, part, ("low.rs", "pub struct Low;")];
    assert!(found(&straight).is_empty(), "a mod.rs that only hands out is on no circle");
    for text in [
        "use crate::high::Another;\npub struct Low(Another);",
        "use super::{high::{self, High}, Part};\npub struct Low(Part, High);",
        "pub struct Low(crate::Part);",
        "use crate::high;\npub struct Low(high::Part);",
        "use crate::high::part::*;\npub struct Low(Part);",
    ] {
        let planted = [lib, high, part, ("low.rs", text)];
        assert_eq!(found(&planted), ["high/part.rs", "low.rs"], "{text}");
    }
    let using = ("high/mod.rs", "mod part;\nuse part::Part;\npub struct High(Part);");
    let child = ("high/part.rs", "use super::High;\npub struct Part(Box<High>);");
    assert_eq!(found(&[lib, using, child]), ["high/mod.rs", "high/part.rs"]);
    let inner = ("high/part.rs", "pub struct Part;\nmod unix {\n    use super::Part;\n}");
    assert!(found(&[lib, using, inner]).is_empty(), "a module inside a file is the file itself");
}
