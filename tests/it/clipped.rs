//! No screen cuts a word: every stored snapshot of a screen is read.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use fairdeal_games::{AnyGame, GAMES, rule_set};
use fairdeal_protocol::card::Face;
use fairdeal_protocol::game::Game as _;
use regex::Regex;

fn snapshots(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            snapshots(&path, found);
        } else if path.extension().is_some_and(|ext| ext == "snap") {
            found.push(path);
        }
    }
}

/// Snapshots with a window over a screen, which cuts the text under it.
const COVERED: [&str; 3] = ["palette", "help", "leaving"];
/// Words besides names that may fill a card from edge to edge.
const USES: [&str; 2] = ["relieve", "trouble"];

/// Every word of a card's or game's name.
fn names() -> BTreeSet<String> {
    let mut words: BTreeSet<String> = USES.map(str::to_owned).into();
    for info in GAMES {
        words.extend(info.name.split(' ').map(str::to_lowercase));
        let rules = rule_set(info.id, info.least_seats, &Default::default()).unwrap();
        let game = AnyGame::create(&rules).unwrap();
        for face in 0..=u8::MAX {
            let name = game.card_name(Face(face));
            words.extend(name.split(['-', ' ']).map(str::to_lowercase));
        }
    }
    words.retain(|word| word.len() > 2);
    words
}

/// The cut word of a line, if there is one.
fn cut<'l>(line: &'l str, names: &BTreeSet<String>, ends: &Regex, dots: &Regex) -> Option<&'l str> {
    // A whole name may fill its card.
    let is_name = |word: &str| names.contains(&word.trim_end_matches(['│', '┃', '║']).to_lowercase());
    let mut ended = ends.find_iter(line).map(|found| found.as_str());
    if let Some(found) = ended.find(|word| !is_name(word)) {
        return Some(found);
    }
    let mut words = dots.captures_iter(line).filter_map(|found| found.get(1)).map(|found| found.as_str());
    words.find(|word| {
        let word = word.to_lowercase();
        names.iter().any(|name| name.len() > word.len() && name.starts_with(&word))
    })
}

#[test]
fn no_screen_cuts_a_word_or_a_name() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in ["src", "ui/src"] {
        snapshots(&root.join(folder), &mut files);
    }
    assert!(files.len() > 50, "{} snapshots", files.len());
    let names = names();
    // A word that runs into a border, and a word before an ellipsis.
    let ends = Regex::new(r"[[:alpha:]]{3,}[│┃║]").unwrap();
    let dots = Regex::new(r"([[:alpha:]]{2,})…").unwrap();
    let mut faults = Vec::new();
    let covered = |file: &PathBuf| COVERED.iter().any(|name| file.to_string_lossy().contains(name));
    for file in files.into_iter().filter(|file| !covered(file)) {
        let text = fs::read_to_string(&file).unwrap();
        for (line, number) in text.lines().zip(1..) {
            if let Some(what) = cut(line, &names, &ends, &dots) {
                faults.push(format!("{}:{number}: '{what}' in: {line}", file.display()));
            }
        }
    }
    assert!(faults.is_empty(), "{} cut words:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn cut_words_are_found() {
    let names = names();
    let ends = Regex::new(r"[[:alpha:]]{3,}[│┃║]").unwrap();
    let dots = Regex::new(r"([[:alpha:]]{2,})…").unwrap();
    let cut = |line| cut(line, &names, &ends, &dots);
    assert_eq!(cut("│ the sorc…  │"), None);
    assert_eq!(cut("│ the magic… │"), Some("magic"));
    assert_eq!(cut("│ the magicia│"), Some("magicia│"));
    assert_eq!(cut("│magician│"), None);
    assert_eq!(cut("│ the magician │ Maximil… "), None);
}
