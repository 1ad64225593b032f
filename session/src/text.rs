//! Cleans text from strangers for a terminal.

use fairdeal_protocol::charter::Charter;
use fairdeal_protocol::wire::bounded::is_shown;
use unicode_security::confusable_detection::skeleton;
use unicode_width::UnicodeWidthChar as _;

/// The most combining marks shown on one letter; no writing system uses more.
const MAX_MARKS: usize = 3;

/// Cleans a name: drops invisible characters and stacks of marks, and cuts it to 64 characters.
pub fn clean(text: &str) -> String {
    clean_to(text, 64)
}

/// Cleans a reason: the same, cut to 200 characters.
pub fn clean_reason(text: &str) -> String {
    clean_to(text, 200)
}

/// Cleans an error about a local file: the same, long enough for its path and for advice.
pub fn clean_error(text: &str) -> String {
    clean_to(text, 1000)
}

/// The longest chat message, in characters.
pub const MAX_SHOWN: usize = 280;

/// Cleans a chat message: the same, on one line and cut to [`MAX_SHOWN`] characters.
pub fn clean_chat(text: &str) -> String {
    // Replace line breaks by spaces, so words on two lines do not run together.
    let line: String = text.chars().map(unbroken).collect();
    clean_to(&line, MAX_SHOWN)
}

fn unbroken(c: char) -> char {
    if c.is_whitespace() { ' ' } else { c }
}

/// Removes invisible characters from lines, for any terminal output, which may contain words or addresses of strangers.
/// In JSON such characters occur only in strings, so it stays valid JSON.
pub fn printable(text: &str) -> String {
    let shows = |c: &char| matches!(c, '\n' | '\t') || is_shown(*c);
    text.chars().filter(shows).collect()
}

/// An error and its causes; skips a cause already in the text.
pub fn reasons(error: &(dyn std::error::Error + 'static)) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let why = error.to_string();
        if !words.contains(&why) {
            words.push_str(": ");
            words.push_str(&why);
        }
        cause = error.source();
    }
    words
}

/// The names of seats in order, cleaned for a screen. Empty names, and names that look like another one shown, get the
/// seat's number.
pub fn display_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut shown: Vec<String> = names.into_iter().map(clean).collect();
    let mut numbered = vec![false; shown.len()];
    loop {
        // A name with a new number may look like one that somebody chose. Numbered names never look alike, so the loop
        // ends at the latest when all have numbers.
        let looks: Vec<String> = shown.iter().map(|name| looks(name)).collect();
        let needs_number = |look: &String| {
            let alike = looks.iter().filter(|other| *other == look).count();
            look.is_empty() || alike > 1
        };
        let mut is_news = false;
        for (seat, (name, has_number)) in shown.iter_mut().zip(&mut numbered).enumerate() {
            if !*has_number && looks.get(seat).is_some_and(needs_number) {
                *name = format!("{name}#{}", seat + 1);
                (*has_number, is_news) = (true, true);
            }
        }
        if !is_news {
            return shown;
        }
    }
}

/// The display names of a charter's players.
pub fn player_names(charter: &Charter) -> Vec<String> {
    display_names(charter.players.iter().map(|player| player.name.as_str()))
}

/// The look of a name at a glance: without case, spaces and lone marks. One letter stands for all its lookalikes
/// (Unicode Technical Standard 39, "Confusable Detection").
pub(crate) fn looks(name: &str) -> String {
    let visible: String = name.chars().filter(|c| !c.is_whitespace()).collect();
    let look: String = skeleton(&visible).collect();
    let folded = look.to_lowercase();
    // A capital I looks like a small l, and lower-cases to i: treat all three as one.
    skeleton(&folded).map(|c| if c == 'i' { 'l' } else { c }).collect()
}

fn clean_to(text: &str, most: usize) -> String {
    let mut marks = 0;
    let shown = text.chars().filter(|c| {
        marks = if c.width() == Some(0) { marks + 1 } else { 0 };
        is_shown(*c) && marks <= MAX_MARKS
    });
    let cleaned: String = shown.take(most).collect();
    cleaned.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn only_visible_characters_remain() {
        assert_eq!(clean(" Anna\u{1b}[31m\u{202e}\n "), "Anna[31m");
        assert_eq!(clean(&"x".repeat(1000)).len(), 64);
        assert_eq!(clean_reason(&"x".repeat(1000)).len(), 200);
        assert_eq!(clean("Bélà 🂡"), "Bélà 🂡");
    }

    #[test]
    fn marks_do_not_pile_up() {
        let pile = format!("e{}", "\u{301}".repeat(50));
        assert_eq!(clean(&pile), "e\u{301}\u{301}\u{301}");
    }

    #[test]
    fn names_that_look_alike_are_told_apart() {
        let names = |all: &[&str]| display_names(all.iter().copied());
        assert_eq!(names(&["Anna", "Ben"]), ["Anna", "Ben"]);
        assert_eq!(names(&["Anna", "", "Anna"]), ["Anna#1", "#2", "Anna#3"]);
        assert_eq!(names(&["anna", "A n na "]), ["anna#1", "A n na#2"]);
        // Cyrillic а; a capital i and a small l; only spaces.
        assert_eq!(names(&["Ann\u{430}", "Anna"]), ["Ann\u{430}#1", "Anna#2"]);
        assert_eq!(names(&["Ali", "AIi", "\u{2003}"]).len(), 3);
        assert_eq!(names(&["AlI", "AIl"]), ["AlI#1", "AIl#2"]);
        assert_eq!(names(&["\u{2003}\u{3000}", "Zoë"]), ["#1", "Zoë"]);
    }

    #[test]
    fn chosen_numbers_are_told_apart_too() {
        let names = |all: &[&str]| display_names(all.iter().copied());
        let shown = names(&["Anna", "Anna", "Anna#1"]);
        assert_eq!(shown, ["Anna#1", "Anna#2", "Anna#1#3"]);
        // A small l instead of the digit.
        let shown = names(&["Anna#l", "Anna", "Ben", "anna"]);
        assert_eq!(shown, ["Anna#l", "Anna#2", "Ben", "anna#4"]);
        let shown = names(&["anna", "ANNA #l", "Anna"]);
        assert_eq!(shown, ["anna#1", "ANNA #l#2", "Anna#3"]);
        // One number leads to the next.
        let shown = names(&["#3", "#3#1", "", "Ben"]);
        assert_eq!(shown, ["#3#1", "#3#1#2", "#3", "Ben"]);
        assert_eq!(names(&["#1", "#2"]), ["#1", "#2"]);
    }

    #[test]
    fn no_two_shown_names_look_alike() {
        use rand_chacha::ChaCha20Rng;
        use rand_core::{Rng as _, SeedableRng as _};

        let parts = ["", "A", "a", "\u{430}", "#", "#1", "#2", "#l", "1", "I", " ", "\u{301}", "#3"];
        let mut rng = ChaCha20Rng::from_seed([7; 32]);
        let mut below = |most: usize| rng.next_u32() as usize % most;
        for _ in 0..5000 {
            let seats = 1 + below(12);
            let names: Vec<String> =
                (0..seats).map(|_| (0..below(4)).map(|_| parts[below(parts.len())]).collect()).collect();
            let shown = display_names(names.iter().map(String::as_str));
            let looks: BTreeSet<String> = shown.iter().map(|name| looks(name)).collect();
            assert_eq!(looks.len(), names.len(), "{names:?}: {shown:?}");
            assert!(!looks.contains(""), "{names:?}: {shown:?}");
        }
    }

    #[test]
    fn lines_stay_lines_and_nothing_leads_a_terminal_astray() {
        let text = "one\n\ttwo\u{9b}2J\u{1b}]0;x\u{7}\u{202e}\r\n";
        assert_eq!(printable(text), "one\n\ttwo2J]0;x\n");
    }

    #[test]
    fn a_reason_is_said_once() {
        #[derive(Debug, thiserror::Error)]
        #[error("cannot listen: {0}")]
        struct Listen(#[source] std::io::Error);
        #[derive(Debug, thiserror::Error)]
        #[error("no table")]
        struct NoTable(#[source] Listen);
        let error = NoTable(Listen(std::io::Error::other("in use")));
        assert_eq!(reasons(&error), "no table: cannot listen: in use");
    }

    #[test]
    fn a_saying_is_one_line() {
        let said = "\u{1b}]0;x\u{7} two\r\nlines\tand \u{202e}backwards\u{2028}too\u{9b}2J";
        assert_eq!(clean_chat(said), "]0;x two  lines and backwards too2J");
        assert_eq!(clean_chat(&"é".repeat(1000)).chars().count(), MAX_SHOWN);
        assert_eq!(clean_chat("\u{200b}\n\u{0}"), "");
    }
}
