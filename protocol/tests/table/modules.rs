//! The protocol's modules form no cycle: each can be read with only its dependencies in mind.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

type Uses = BTreeMap<String, BTreeSet<String>>;

/// The crate modules that a source file names outside its comments.
fn named(source: &str) -> impl Iterator<Item = String> {
    let code = source.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.flat_map(|line| line.split("crate::").skip(1)).map(|rest| {
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_'));
        rest[..end.unwrap_or(rest.len())].to_owned()
    })
}

fn read(path: &Path, module: Option<&str>, uses: &mut Uses) {
    for entry in fs::read_dir(path).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap();
        let module = module.unwrap_or(stem);
        if path.is_dir() {
            read(&path, Some(module), uses);
        } else if module != "lib" {
            let used = uses.entry(module.to_owned()).or_default();
            used.extend(named(&fs::read_to_string(&path).unwrap()));
            used.remove(module);
        }
    }
}

#[test]
fn no_two_modules_need_each_other() {
    let mut uses = Uses::new();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    read(&source, None, &mut uses);
    assert!(uses.len() > 10 && uses["table"].contains("log"));
    // Repeatedly removes the modules that need no other, until none is left.
    while !uses.is_empty() {
        let left: BTreeSet<String> = uses.keys().cloned().collect();
        uses.retain(|_, used| used.iter().any(|other| left.contains(other)));
        assert!(uses.len() < left.len(), "a cycle among {left:?}");
    }
}
