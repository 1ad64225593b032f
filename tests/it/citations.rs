//! Every requirement of `docs/transcript.md` is cited where code or a test carries it out.
//!
//! A mark such as `[T5.12]` in the page names the text before it, back to the mark before or to the heading. A comment
//! `//= T5.12` (in Python `#= T5.12`) stands above the item that carries it out. Numbers are never used again, so a text
//! may be reworded, moved or split without touching code that still does what it says.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

/// Folders with code and tests that may cite.
const PLACES: [&str; 6] = ["examples/auditor", "games/src", "protocol", "src", "tests", "ui/src"];
/// The most words that one mark may name: more than that is several requirements.
const MOST_WORDS: usize = 270;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The marks of the page with the number of words that each names, and the texts of parts 1 to 9 that have none.
fn marks(page: &str) -> (BTreeMap<String, usize>, Vec<String>) {
    let mark = Regex::new(r"\[(T[1-9]\.[1-9][0-9]*)\]").unwrap();
    let number = Regex::new(r"^ ([1-9])\. ").unwrap();
    let (mut found, mut bare) = (BTreeMap::new(), Vec::new());
    let start = page.find("\n## 1. ").expect("part 1");
    let end = page.find("\n## 10. ").expect("part 10");
    let mut part = String::new();
    for section in Regex::new(r"(?m)^#{2,}").unwrap().split(&page[start..end]) {
        let (heading, mut text) = section.split_once('\n').unwrap_or((section, ""));
        let number = number.captures(heading);
        part = number.map_or(part, |number| number[1].to_owned());
        while let Some(next) = mark.captures(text) {
            let whole = next.get(0).unwrap();
            let words = text[..whole.start()]
                .split_whitespace()
                .filter(|word| *word != "|")
                .count();
            let name = next[1].to_owned();
            assert!(words > 0, "{name} names nothing");
            assert_eq!(
                name.split('.').next().unwrap(),
                format!("T{part}"),
                "{name} is a mark of another part"
            );
            assert_eq!(found.insert(name.clone(), words), None, "{name} stands twice");
            text = &text[whole.end()..];
        }
        bare.extend(Some(text.trim().to_owned()).filter(|text| !text.is_empty()));
    }
    (found, bare)
}

/// The paragraphs and list items of parts 1 to 9 that demand something and have no mark of their own.
fn unmarked_demands(page: &str) -> Vec<String> {
    let demand = r"(?i)\b(must|may not|at most|at least|exactly|never|refuses|cannot|no two|only|has to|have to)\b";
    let (demand, mark) = (Regex::new(demand).unwrap(), Regex::new(r"\[T[1-9]\.").unwrap());
    let begins = Regex::new(r"^\s*([-*]|[0-9]+\.) ").unwrap();
    let mut blocks = vec![String::new()];
    let lines = page[page.find("\n## 1. ").unwrap()..page.find("\n## 10. ").unwrap()].lines();
    for line in lines.filter(|line| !line.trim_start().starts_with(['|', '#'])) {
        if line.trim().is_empty() || begins.is_match(line) {
            blocks.push(String::new());
        }
        let block = blocks.last_mut().unwrap();
        block.push_str(line.trim());
        block.push(' ');
    }
    blocks.retain(|block| demand.is_match(block) && !mark.is_match(block));
    blocks
}

fn sources(path: &Path, found: &mut Vec<PathBuf>) {
    if path.is_dir() {
        if path.ends_with("target") {
            return;
        }
        for entry in fs::read_dir(path).unwrap() {
            sources(&entry.unwrap().path(), found);
        }
    } else if path.extension().is_some_and(|kind| kind == "rs" || kind == "py") {
        found.push(path.to_owned());
    }
}

/// The marks that a file cites, each with its line.
fn citations(text: &str) -> Vec<(usize, String)> {
    let line = Regex::new(r"^\s*(?://|#)= (.*)$").unwrap();
    let mut found = Vec::new();
    for (number, text) in (1..).zip(text.lines()) {
        if let Some(cited) = line.captures(text) {
            found.extend(cited[1].split(", ").map(|name| (number, name.trim().to_owned())));
        }
    }
    found
}

#[test]
fn every_requirement_is_cited_and_every_citation_leads_to_one() {
    let page = fs::read_to_string(root().join("docs/transcript.md")).unwrap();
    let (marks, bare) = marks(&page);
    assert!(
        bare.is_empty(),
        "no mark of docs/transcript.md names these texts: {bare:#?}"
    );
    let unmarked = unmarked_demands(&page);
    assert!(
        unmarked.is_empty(),
        "these demands need a mark of their own: {unmarked:#?}"
    );
    let long: Vec<_> = marks.iter().filter(|(_, words)| **words > MOST_WORDS).collect();
    assert!(long.is_empty(), "more than {MOST_WORDS} words for one mark: {long:?}");

    let mut files = Vec::new();
    PLACES.iter().for_each(|place| sources(&root().join(place), &mut files));
    let (mut cited, mut wrong) = (BTreeSet::new(), Vec::new());
    for file in files {
        for (line, name) in citations(&fs::read_to_string(&file).unwrap()) {
            if !marks.contains_key(&name) {
                wrong.push(format!("{}:{line}: {name}", file.display()));
            }
            cited.insert(name);
        }
    }
    assert!(wrong.is_empty(), "docs/transcript.md has no such marks: {wrong:#?}");
    let missing: Vec<&String> = marks.keys().filter(|name| !cited.contains(*name)).collect();
    assert!(missing.is_empty(), "neither code nor a test cites {missing:?}");
}

#[test]
fn marks_and_citations_are_found() {
    let page = "x\n## 1. One\n\nIt must. [T1.1]\n\n- a\n- b [T1.7]\n\n### More\n\nBare.\n\n## 10. Values\n\nFree.\n";
    let (marks, bare) = marks(page);
    assert_eq!(marks, [("T1.1".to_owned(), 2), ("T1.7".to_owned(), 4)].into());
    assert_eq!(bare, ["Bare."]);
    let demands = "x\n## 1. One\n\nIt must.\n\n- Only a. [T1.1]\n- Never b.\n\n| must |\n\n## 10. Values\n\nMust.\n";
    let found = unmarked_demands(demands);
    assert_eq!(
        found.iter().map(|block| block.trim()).collect::<Vec<_>>(),
        ["It must.", "- Never b."]
    );
    let code = "    //= T1.1, T1.7\n    fn it() {}\n#= T2.3\nlet one //= no\n";
    let names: Vec<String> = citations(code).into_iter().map(|(_, name)| name).collect();
    assert_eq!(names, ["T1.1", "T1.7", "T2.3"]);
}
