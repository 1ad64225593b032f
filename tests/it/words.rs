//! Wordings that keep coming back and have a standard name: docs/glossary.md. The list is short and certain; what it does
//! not find is not thereby good.

use std::fs;
use std::path::{Path, PathBuf};

use regex::{Regex, RegexBuilder};

/// A pattern that no text may hold, and what to write instead. Upper and lower case are one.
const RULES: [(&str, &str); 8] = [
    (r"\b(who|whoever|those who|people who) looks? on\b", "a spectator: watching is what spectators do"),
    (r"\b(go|goes|going|gone|went) on with\b", "resume, for a game; continue, for anything else"),
    (r"\banew\b", "again; a hand is redealt"),
    (r"\btwo-faced\b", "equivocating"),
    (r"\bwho is (gone|there|away|out)\b", "an absent or a departed seat"),
    (r"\bto be had\b|\bis had\b", "available, there is"),
    (r"^\s*//[/!] (what|who|whose|whom|that of|those)\b[^?]*$", "a noun: \"/// Seats still in the hand.\""),
    (
        r"^\s*(- |\* |> |/// |//! )?who (has|is|does|was|votes|signs|leaves|holds|goes|gives|acts|plays|cannot|may|wants)\b[^?]*$",
        "a noun as subject: the host, a spectator, the seat that leaves",
    ),
];

/// Folders and files that people read.
const PLACES: [&str; 21] = [
    "benches",
    "docs",
    "examples",
    "fuzz/src",
    "games/src",
    "net/src",
    "peers/src",
    "protocol",
    "session/src",
    "src",
    "testkit/src",
    "tests",
    "ui/src",
    "web/evenings",
    "web/page",
    "web/src",
    "web/tests",
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
];

/// Texts that name the wordings on purpose, or are not ours to change.
const EXEMPT: [&str; 2] = ["docs/glossary.md", "tests/it/words.rs"];

fn texts(path: &Path, found: &mut Vec<PathBuf>) {
    if path.is_dir() {
        if path.ends_with("target") {
            return;
        }
        for entry in fs::read_dir(path).unwrap() {
            texts(&entry.unwrap().path(), found);
        }
    } else if path.extension().is_some_and(|extension| extension == "rs" || extension == "md") {
        found.push(path.to_owned());
    }
}

/// The part of a line that people read: of code its comment, or its strings where they hold words.
fn read_by_people(line: &str, is_code: bool) -> String {
    if !is_code || line.trim_start().starts_with("//") {
        return line.to_owned();
    }
    let sentences: Vec<&str> = line.split('"').skip(1).step_by(2).filter(|text| text.len() >= 12).collect();
    sentences.join(" ")
}

/// Whether a line is a comment that says something or, in Markdown, any text.
fn says_something(line: &str, is_code: bool) -> bool {
    let line = line.trim();
    if is_code { line.starts_with("//") && line.len() > 3 } else { !line.is_empty() }
}

/// Whether a line continues the paragraph before it: it does not start a list item.
fn continues_paragraph(line: &str, is_code: bool) -> bool {
    let text = line.trim_start();
    let text = if is_code { text.trim_start_matches(['/', '!']).trim_start() } else { text };
    !text.starts_with(['-', '*', '>', '|', '#'])
}

#[test]
fn no_text_uses_a_ruled_out_wording() {
    let rules = RULES.map(|(pattern, instead)| {
        let pattern = RegexBuilder::new(pattern).case_insensitive(true).build();
        (pattern.unwrap(), instead)
    });
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for place in PLACES {
        texts(&root.join(place), &mut files);
    }
    assert!(files.len() > 300, "{} files were read", files.len());
    let mut found = Vec::new();
    for path in files {
        let name = path.strip_prefix(root).unwrap();
        if EXEMPT.iter().any(|exempt| name.ends_with(exempt)) {
            continue;
        }
        let is_code = name.extension().is_some_and(|extension| extension == "rs");
        let mut in_paragraph = false;
        for (number, line) in fs::read_to_string(&path).unwrap().lines().enumerate() {
            let mut line = read_by_people(line, is_code);
            // Within a paragraph a line begins in the middle of a sentence, and no rule about beginnings holds.
            let continues = continues_paragraph(&line, is_code);
            if std::mem::replace(&mut in_paragraph, says_something(&line, is_code)) && continues {
                line.insert(0, '~');
            }
            let broken = |(rule, _): &&(Regex, &str)| rule.is_match(&line);
            if let Some((_, instead)) = rules.iter().find(broken) {
                found.push(format!("{}:{}: write {instead}\n    {}", name.display(), number + 1, line.trim()));
            }
        }
    }
    assert!(found.is_empty(), "{} cases:\n{}", found.len(), found.join("\n"));
}

#[test]
fn a_ruled_out_wording_is_found() {
    let line = read_by_people("    let text = \"Who looks on sees all of it.\";", true);
    let rule = RegexBuilder::new(RULES[0].0).case_insensitive(true).build();
    assert!(rule.unwrap().is_match(&line));
}
