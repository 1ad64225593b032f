//! Proves what the guided hands say: every claim of a sentence is a fact of the position, or a quote of the rulebook.
//!
//! A step of a script lists its claims. `says` is the exact phrase. `is` is a statement that the engine decides at that
//! step (`facts.rs`); `rule` is a heading of the rulebook and a quote from under it, for what holds in every game.
//!
//! ```toml
//! say = "Three of a rank make a set. You have two 8s."
//! claims = [
//!     { says = "Three of a rank make a set", rule = "What a hand scores: three or more cards of one rank" },
//!     { says = "You have two 8s", is = "hand has 2 of rank 8" },
//! ]
//! ```
//!
//! Every *claiming word* of a sentence has to be in a phrase: numbers, squares, letters of keys, superlatives, and the
//! words of [`CLAIMING`]. A statement has to repeat the claiming words of its phrase, and a quote its numbers, so that
//! "you won" is not proved by a mere score, nor "two 8s" by three of them.

use fairdeal_session::events::SessionEvent;
use serde::Deserialize;

use super::facts;
use crate::lesson::{Lesson, LessonError, SCRIPTS};

/// A phrase of a sentence, with its proof.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub(in crate::lesson) enum Claim {
    Fact { says: String, is: String },
    Rule { says: String, rule: String },
}

/// Words that claim something, besides numbers and superlatives.
const CLAIMING: &str = "\
    ahead all alone always any anybody anything behind beside best cannot cost double each ever every everybody \
    everything extra fewer first free half last least less lose lost may more most must never no nobody none \
    nothing only safe same score scored some twice win winner won worse worst worth";

/// Number words; their value is the place. "First" is no number: it is a claiming word.
const NUMBERS: [&str; 13] =
    ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
const ORDINALS: [&str; 6] = ["", "", "second", "third", "fourth", "fifth"];

/// The words of a text, in one form each: lower case, numbers in digits, without the s of a plural or a verb.
fn words(text: &str) -> Vec<String> {
    let parts = text.split(is_between_words);
    parts.filter(|part| !part.is_empty()).map(plain).collect()
}

fn is_between_words(letter: char) -> bool {
    !letter.is_alphanumeric() && letter != '\''
}

fn plain(word: &str) -> String {
    let word = word.to_lowercase();
    let named = |names: &[&str]| names.iter().position(|name| *name == word);
    if let Some(value) = named(&NUMBERS).or_else(|| named(&ORDINALS)) {
        return value.to_string();
    }
    let stem = word.strip_suffix('s').filter(|stem| stem.len() > 2 || is_number(stem));
    stem.unwrap_or(&word).to_owned()
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|letter| letter.is_ascii_digit())
}

/// Whether a word in its plain form needs a proof.
fn is_claiming(word: &str) -> bool {
    let is_superlative = word.len() > 5 && word.ends_with("est") && word != "forest";
    // A letter is a key or a tree, apart from the article.
    let is_letter = word.len() == 1 && word != "a";
    let is_listed = CLAIMING.split_whitespace().any(|claiming| plain(claiming) == word);
    word.contains(|letter: char| letter.is_ascii_digit()) || is_superlative || is_letter || is_listed
}

/// The words of `needed` that `given` lacks; each of them counts once.
fn missing(needed: impl Iterator<Item = String>, mut given: Vec<String>) -> Vec<String> {
    needed
        .filter(|word| match given.iter().position(|other| other == word) {
            Some(place) => {
                given.swap_remove(place);
                false
            }
            None => true,
        })
        .collect()
}

/// The text under a heading of a rulebook, up to the next one, without the marks of Markdown.
fn section(rulebook: &str, heading: &str) -> Option<String> {
    let title = |line: &str| line.starts_with('#').then(|| line.trim_start_matches('#').trim().to_owned());
    let mut lines = rulebook.lines().skip_while(|line| title(line).as_deref() != Some(heading));
    lines.next()?;
    let text: Vec<&str> = lines.take_while(|line| title(line).is_none()).collect();
    Some(spaced(&text.join(" ")))
}

fn spaced(text: &str) -> String {
    let text = text.replace('*', "");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Claim {
    fn says(&self) -> &str {
        match self {
            Self::Fact { says, .. } | Self::Rule { says, .. } => says,
        }
    }

    /// Why the phrase is not proved, if it is not.
    fn fault(&self, lesson: &Lesson, told: &[String]) -> Option<String> {
        let said = words(self.says()).into_iter();
        let (lacks, proof) = match self {
            Self::Fact { is, .. } => {
                match facts::holds(lesson, told, is) {
                    None => return Some(format!("there is no statement '{is}' here")),
                    Some(false) => return Some(format!("'{is}' is false")),
                    Some(true) => {}
                }
                (missing(said.filter(|word| is_claiming(word)), words(is)), is)
            }
            Self::Rule { rule, .. } => {
                let Some((heading, quote)) = rule.split_once(": ") else {
                    return Some(format!("'{rule}' is not a heading, a colon and a quote"));
                };
                let Some(text) = section(lesson.game.info().rulebook, heading) else {
                    return Some(format!("the rulebook has no heading '{heading}'"));
                };
                if !text.contains(&spaced(quote)) {
                    return Some(format!("'{heading}' in the rulebook does not say '{quote}'"));
                }
                (missing(said.filter(|word| is_number(word)), words(quote)), rule)
            }
        };
        (!lacks.is_empty()).then(|| format!("'{proof}' says nothing of: {}", lacks.join(", ")))
    }
}

/// The faults of the current sentence: claims that are not proved, and claiming words in no phrase. `told` is the log
/// since the step before.
fn faults(lesson: &Lesson, told: &[String]) -> Vec<String> {
    let Some(step) = lesson.script.step.get(lesson.at) else {
        return Vec::new();
    };
    let said = words(&step.say);
    let mut open: Vec<bool> = said.iter().map(|word| is_claiming(word)).collect();
    let mut faults = Vec::new();
    for claim in &step.claims {
        let phrase = words(claim.says());
        let is_there = |place: &usize| said.get(*place..place + phrase.len()) == Some(phrase.as_slice());
        let places: Vec<usize> = (0..said.len()).filter(is_there).collect();
        match places.as_slice() {
            [place] if !phrase.is_empty() => {
                open.iter_mut().skip(*place).take(phrase.len()).for_each(|word| *word = false);
            }
            _ => faults.push(format!("'{}' is said {} times", claim.says(), places.len())),
        }
        faults.extend(claim.fault(lesson, told).map(|why| format!("'{}': {why}", claim.says())));
    }
    let unproved = said.iter().zip(open).filter(|(_, open)| *open);
    faults.extend(unproved.map(|(word, _)| format!("no claim proves '{word}'")));
    faults.into_iter().map(|fault| format!("step {}: {fault}", lesson.at + 1)).collect()
}

type Told = Result<(Lesson, Vec<SessionEvent>), LessonError>;

fn lines(told: Vec<SessionEvent>) -> Vec<String> {
    let line = |event| match event {
        SessionEvent::Line(line) => Some(line),
        _ => None,
    };
    told.into_iter().filter_map(line).collect()
}

/// Calls `look` at every step of a lesson.
fn walk(begun: Told, mut look: impl FnMut(&Lesson, &[String])) {
    let (mut lesson, told) = begun.unwrap();
    let mut told = lines(told);
    while lesson.says().is_some() {
        look(&lesson, &told);
        let next = match lesson.expects() {
            Some(action) => lesson.act(&action),
            None => lesson.read_on(),
        };
        told = lines(next.unwrap());
    }
}

fn all_faults(id: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    walk(Lesson::begin(id, text, "Anna"), |lesson, told| found.extend(faults(lesson, told)));
    found
}

#[test]
fn every_claim_of_every_lesson_is_proved() {
    let of = |(id, text)| all_faults(id, text).into_iter().map(move |fault| format!("{id}, {fault}"));
    let found: Vec<String> = SCRIPTS.into_iter().flat_map(of).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// The plain script of a game with other words in it.
fn altered(id: &str, words: &[(&str, &str)]) -> String {
    let mut text = SCRIPTS.into_iter().find(|(other, _)| *other == id).unwrap().1.to_owned();
    for (from, to) in words {
        assert_eq!(text.matches(from).count(), 1, "{id}: {from}");
        text = text.replace(from, to);
    }
    text
}

/// The place and the value of every number in a text.
fn numbers_in(text: &str) -> Vec<(std::ops::Range<usize>, u32)> {
    let bytes = text.as_bytes();
    let is_digit = |place: usize| bytes.get(place).is_some_and(u8::is_ascii_digit);
    let starts = (0..bytes.len()).filter(|place| is_digit(*place) && (*place == 0 || !is_digit(place - 1)));
    let ends = starts.map(|start| start..(start..).find(|place| !is_digit(*place)).unwrap());
    ends.map(|range| (range.clone(), text[range].parse().unwrap())).collect()
}

/// Every number of every proof, two higher: no statement then holds, and no rulebook has the quote. One higher some
/// would hold: the hand of Loot has two 8s, and two 9s.
#[test]
fn a_wrong_number_is_found_in_every_proof() {
    let mut tried = 0;
    for (id, text) in SCRIPTS {
        walk(Lesson::begin(id, text, "Anna"), |lesson, told| {
            for claim in &lesson.script.step[lesson.at].claims {
                let (Claim::Fact { is: proof, .. } | Claim::Rule { rule: proof, .. }) = claim;
                for (range, value) in numbers_in(proof) {
                    let mut wrong = proof.clone();
                    wrong.replace_range(range, &(value + 2).to_string());
                    let is_found = match claim {
                        Claim::Fact { .. } => facts::holds(lesson, told, &wrong) != Some(true),
                        Claim::Rule { says, .. } => {
                            let claim = Claim::Rule { says: says.clone(), rule: wrong.clone() };
                            claim.fault(lesson, told).is_some_and(|why| why.contains("does not say"))
                        }
                    };
                    assert!(is_found, "{id}: {proof}, {wrong}");
                    tried += 1;
                }
            }
        });
    }
    assert!(tried > 80, "{tried}");
}

/// A text with one word in the place of another.
fn swapped(text: &str, from: &str, to: &str) -> String {
    let parts = text.split_inclusive(is_between_words);
    let swap = |part: &str| match part.strip_prefix(from) {
        Some(rest) if rest.is_empty() || rest.starts_with(is_between_words) => format!("{to}{rest}"),
        _ => part.to_owned(),
    };
    parts.map(swap).collect()
}

/// Every claiming word, replaced by another in its sentence and in the phrases, but not in their proofs.
#[test]
fn a_wrong_word_is_found_in_every_sentence() {
    let mut tried = 0;
    for (id, text) in SCRIPTS {
        walk(Lesson::begin(id, text, "Anna"), |lesson, told| {
            let step = &lesson.script.step[lesson.at];
            let written = step.say.split(is_between_words);
            for word in written.filter(|word| !word.is_empty() && is_claiming(&plain(word))) {
                let other = if is_number(&plain(word)) { "eleven" } else { "nobody" };
                // Of a quote only the numbers are compared: its reader sees whether the other words mean the same.
                let quoted =
                    |claim: &Claim| matches!(claim, Claim::Rule { says, .. } if words(says).contains(&plain(word)));
                if other == "nobody" && step.claims.iter().any(quoted) {
                    continue;
                }
                let mut lesson = lesson.clone();
                let step = &mut lesson.script.step[lesson.at];
                step.say = swapped(&step.say, word, other);
                for claim in &mut step.claims {
                    let (Claim::Fact { says, .. } | Claim::Rule { says, .. }) = claim;
                    *says = swapped(says, word, other);
                }
                assert!(!faults(&lesson, told).is_empty(), "{id}: {}", lesson.script.step[lesson.at].say);
                tried += 1;
            }
        });
    }
    assert!(tried > 80, "{tried}");
}

#[test]
fn a_sentence_without_a_claim_is_found() {
    for (said, fault) in [
        ("That was Loot, and it cost 3 points.", "no claim proves '3'"),
        ("That was Loot, the best game.", "no claim proves 'best'"),
        ("That was Loot, and nobody else won.", "no claim proves 'nobody'"),
        ("That was the loudest Loot.", "no claim proves 'loudest'"),
    ] {
        let found = all_faults("loot", &altered("loot", &[("That was Loot.", said)]));
        assert!(found.iter().any(|found| found.ends_with(fault)), "{said}: {found:?}");
    }
}

/// The thief makes loose cards free, and the best of two equal scores is nobody's.
#[test]
fn free_cards_and_a_tie_are_found() {
    let thief = altered("loot", &[("\"king-stones\", \"queen-winds\"", "\"thief\", \"queen-winds\"")]);
    let found = all_faults("loot", &thief);
    let costs = "'2 of rank 9 are loose and cost most' is false";
    assert!(found.iter().any(|fault| fault.ends_with(costs)), "{found:?}");
    let tie = "names = ['Ada']\nseed = 1\nrolls = [1]\n[[step]]\nsay = 'You are ahead.'\n\
               claims = [{ says = 'You are ahead', is = 'ahead with 0' }]\n";
    assert_eq!(all_faults("plutonian-poker", tie), ["step 1: 'You are ahead': 'ahead with 0' is false"]);
}
