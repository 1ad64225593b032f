//! Every requirement of `docs/transcript.md`, and every rule in a list of `docs/protocol.md`, is cited where code or a
//! test carries it out.
//!
//! A mark such as `[T5.12]` in a page names the text before it, back to the mark before or to the heading (where only
//! lists have marks, to the beginning of the item). A comment `//= T5.12` (in Python `#= T5.12`) stands above the item
//! that carries it out. Numbers are never used again, so a text may be reworded, moved or split without touching code
//! that still does what it says.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

/// Folders with code and tests that may cite.
const PLACES: [&str; 7] = ["examples/auditor", "games/src", "protocol", "src", "testkit/src", "tests", "ui/src"];
/// The most words that one mark may name: more than that is several requirements.
const MOST_WORDS: usize = 270;

/// A page with marks. Its parts are numbered from 1.
struct Page {
    path: &'static str,
    /// The letter of its marks.
    letter: char,
    /// The heading of the first part without marks.
    until: &'static str,
    /// Whether marks name list items alone, and not the text around them.
    lists: bool,
}

const PAGES: [Page; 2] = [
    Page { path: "docs/transcript.md", letter: 'T', until: "\n## 10. ", lists: false },
    Page { path: "docs/protocol.md", letter: 'P', until: "\n## 13. ", lists: true },
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The bullet or number of a list item.
fn bullet() -> Regex {
    Regex::new(r"^\s*([-*]|[0-9]+\.) ").unwrap()
}

/// The paragraphs and list items of a text, without its tables and headings.
fn blocks(text: &str) -> Vec<String> {
    let bullet = bullet();
    let mut blocks = vec![String::new()];
    for line in text.lines().filter(|line| !line.trim_start().starts_with(['|', '#'])) {
        if line.trim().is_empty() || bullet.is_match(line) {
            blocks.push(String::new());
        }
        let block = blocks.last_mut().unwrap();
        block.push_str(line.trim());
        block.push(' ');
    }
    blocks
}

impl Page {
    fn mark(&self) -> Regex {
        Regex::new(&format!(r"\[({}[1-9][0-9]*\.[1-9][0-9]*)\]", self.letter)).unwrap()
    }

    /// The parts with marks.
    fn parts<'a>(&self, page: &'a str) -> &'a str {
        let start = page.find("\n## 1. ").expect("part 1");
        let end = page.find(self.until).expect("the first part without marks");
        &page[start..end]
    }

    /// The texts that marks have to name from beginning to end, each after the number of its part.
    fn texts(&self, page: &str) -> Vec<(String, String)> {
        let (bullet, number) = (bullet(), Regex::new(r"^ ([1-9][0-9]*)\. ").unwrap());
        let (mut part, mut found) = (String::new(), Vec::new());
        for section in Regex::new(r"(?m)^#{2,}").unwrap().split(self.parts(page)) {
            let (heading, text) = section.split_once('\n').unwrap_or((section, ""));
            if let Some(number) = number.captures(heading) {
                number[1].clone_into(&mut part);
            }
            if self.lists {
                for block in blocks(text) {
                    let item = bullet.find(&block).map(|bullet| block[bullet.end()..].to_owned());
                    found.extend(item.map(|item| (part.clone(), item)));
                }
            } else {
                found.push((part.clone(), text.to_owned()));
            }
        }
        found
    }

    /// The marks of the page with the number of words that each names, and the texts that have none.
    fn marks(&self, page: &str) -> (BTreeMap<String, usize>, Vec<String>) {
        let mark = self.mark();
        let (mut found, mut bare) = (BTreeMap::new(), Vec::new());
        for (part, text) in self.texts(page) {
            let mut text = text.as_str();
            while let Some(next) = mark.captures(text) {
                let whole = next.get(0).unwrap();
                let words = text[..whole.start()].split_whitespace().filter(|word| *word != "|").count();
                let name = next[1].to_owned();
                assert!(words > 0, "{name} names nothing");
                assert_eq!(
                    name.split('.').next().unwrap(),
                    format!("{}{part}", self.letter),
                    "{name} is a mark of another part"
                );
                assert_eq!(found.insert(name.clone(), words), None, "{name} stands twice");
                text = &text[whole.end()..];
            }
            bare.extend(Some(text.trim().to_owned()).filter(|text| !text.is_empty()));
        }
        let all = mark.find_iter(self.parts(page)).count();
        assert_eq!(all, found.len(), "{}: a mark stands beside the texts to name", self.path);
        (found, bare)
    }

    /// The paragraphs and list items that demand something and have no mark of their own.
    fn unmarked_demands(&self, page: &str) -> Vec<String> {
        let demand = r"(?i)\b(must|may not|at most|at least|exactly|never|refuses|cannot|no two|only|has to|have to)\b";
        let (demand, mark, bullet) = (Regex::new(demand).unwrap(), self.mark(), bullet());
        let mut blocks = blocks(self.parts(page));
        blocks.retain(|block| !self.lists || bullet.is_match(block));
        blocks.retain(|block| demand.is_match(block) && !mark.is_match(block));
        blocks
    }
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
    let mut marks: BTreeMap<String, usize> = BTreeMap::new();
    for page in &PAGES {
        let (text, path) = (fs::read_to_string(root().join(page.path)).unwrap(), page.path);
        let (found, bare) = page.marks(&text);
        assert!(bare.is_empty(), "no mark of {path} names these texts: {bare:#?}");
        let unmarked = page.unmarked_demands(&text);
        assert!(unmarked.is_empty(), "these demands of {path} need a mark of their own: {unmarked:#?}");
        marks.extend(found);
    }
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
    assert!(wrong.is_empty(), "no page has such marks: {wrong:#?}");
    let missing: Vec<&String> = marks.keys().filter(|name| !cited.contains(*name)).collect();
    assert!(missing.is_empty(), "neither code nor a test cites {missing:?}");
}

#[test]
fn marks_and_citations_are_found() {
    let [whole, lists] = &PAGES;
    let page = "x\n## 1. One\n\nIt must. [T1.1]\n\n- a\n- b [T1.7]\n\n### More\n\nBare.\n\n## 10. Values\n\nFree.\n";
    let (marks, bare) = whole.marks(page);
    assert_eq!(marks, [("T1.1".to_owned(), 2), ("T1.7".to_owned(), 4)].into());
    assert_eq!(bare, ["Bare."]);
    let demands = "x\n## 1. One\n\nIt must.\n\n- Only a. [T1.1]\n- Never b.\n\n| must |\n\n## 10. Values\n\nMust.\n";
    let trimmed = |blocks: Vec<String>| blocks.iter().map(|block| block.trim().to_owned()).collect::<Vec<_>>();
    assert_eq!(trimmed(whole.unmarked_demands(demands)), ["It must.", "- Never b."]);

    let page = "x\n## 1. One\n\nIt must.\n\n- a [P1.1] and b. [P1.2]\n- c,\n  d. [P1.4] Bare.\n- Never.\n\n## 12. More\n\n\
                1. e [P12.3]\n\n## 13. Free\n\n- Must.\n";
    let (marks, bare) = lists.marks(page);
    let named = [("P1.1", 1), ("P1.2", 2), ("P1.4", 2), ("P12.3", 1)];
    assert_eq!(marks, named.map(|(name, words)| (name.to_owned(), words)).into());
    assert_eq!(bare, ["Bare.", "Never."]);
    assert_eq!(trimmed(lists.unmarked_demands(page)), ["- Never."]);

    let code = "    //= T1.1, P1.7\n    fn it() {}\n#= T2.3\nlet one //= no\n";
    let names: Vec<String> = citations(code).into_iter().map(|(_, name)| name).collect();
    assert_eq!(names, ["T1.1", "P1.7", "T2.3"]);
}
