//! Text from strangers, made fit for a terminal.

/// A name: without control and direction-changing characters, and of at most 64 characters.
pub fn clean(text: &str) -> String {
    clean_to(text, 64)
}

/// A reason: the same, of at most 200 characters.
pub fn clean_reason(text: &str) -> String {
    clean_to(text, 200)
}

/// The most characters of a saying.
pub const MAX_SHOWN: usize = 280;

/// A saying: the same, of at most [`MAX_SHOWN`] characters, on one line.
pub fn clean_saying(text: &str) -> String {
    // What was on two lines shall not run together.
    let line: String = text.chars().map(unbroken).collect();
    clean_to(&line, MAX_SHOWN)
}

fn unbroken(c: char) -> char {
    if c.is_whitespace() { ' ' } else { c }
}

/// Lines, without control and direction-changing characters: whatever goes to a terminal, for it may hold the words or
/// addresses of strangers. In JSON such characters stand in strings alone, so it stays JSON.
pub fn printable(text: &str) -> String {
    let shows = |c: &char| matches!(c, '\n' | '\t') || !(c.is_control() || changes_direction(*c));
    text.chars().filter(shows).collect()
}

/// An error and what led to it, each once.
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

fn clean_to(text: &str, most: usize) -> String {
    let shown = text
        .chars()
        .filter(|c| !c.is_control() && !changes_direction(*c))
        .take(most);
    let cleaned: String = shown.collect();
    cleaned.trim().to_owned()
}

/// Marks, embeddings, overrides and isolates of bidirectional text, and other invisible formatting.
fn changes_direction(c: char) -> bool {
    matches!(c,
        '\u{061c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_what_can_be_seen() {
        assert_eq!(clean(" Anna\u{1b}[31m\u{202e}\n "), "Anna[31m");
        assert_eq!(clean(&"x".repeat(1000)).len(), 64);
        assert_eq!(clean_reason(&"x".repeat(1000)).len(), 200);
        assert_eq!(clean("Bélà 🂡"), "Bélà 🂡");
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
        assert_eq!(clean_saying(said), "]0;x two  lines and backwards too2J");
        assert_eq!(clean_saying(&"é".repeat(1000)).chars().count(), MAX_SHOWN);
        assert_eq!(clean_saying("\u{200b}\n\u{0}"), "");
    }
}
