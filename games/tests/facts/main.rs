//! The facts at the end of each rulebook: found by search, and compared with what the rulebook says.

// Tests fail by panicking.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, clippy::expect_used)]

mod ivory;
mod loot;
mod plutonian;
mod sphinx;
mod thoth;

use std::collections::BTreeSet;

use fairdeal_games::{GAMES, GameInfo};

/// Asserts that the facts of a rulebook hold this text, however its lines are wrapped.
fn assert_says(game: &GameInfo, text: &str) {
    let (_, facts) = game.rulebook.split_once("\n## Facts\n").expect("a heading of facts");
    let facts = facts.split("\n## ").next().unwrap_or_default();
    let facts = facts.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(facts.contains(text), "the facts of {} do not say: {text}\n{facts}", game.name);
}

/// The sentence that the score sheet shows has no number but those of the facts.
#[test]
fn sentences_have_the_numbers_of_the_facts() {
    for game in GAMES {
        let (_, facts) = game.rulebook.split_once("\n## Facts\n").expect("a heading of facts");
        let numbers = |text: &str| -> BTreeSet<String> {
            let words = text.split(|c: char| !c.is_ascii_alphanumeric());
            words.filter(|word| word.chars().any(|c| c.is_ascii_digit())).map(str::to_owned).collect()
        };
        assert!(numbers(game.fact).is_subset(&numbers(facts)), "{}: {}", game.name, game.fact);
        assert!(game.fact.ends_with('.'), "{}", game.fact);
    }
}

/// A number as the rulebooks write it: 1,674.
fn written(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[test]
fn numbers_are_written_with_commas() {
    assert_eq!([0, 999, 1000, 1_234_567].map(written), ["0", "999", "1,000", "1,234,567"]);
}
