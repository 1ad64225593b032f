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
    fn a_saying_is_one_line() {
        let said = "\u{1b}]0;x\u{7} two\r\nlines\tand \u{202e}backwards\u{2028}too\u{9b}2J";
        assert_eq!(clean_saying(said), "]0;x two  lines and backwards too2J");
        assert_eq!(clean_saying(&"é".repeat(1000)).chars().count(), MAX_SHOWN);
        assert_eq!(clean_saying("\u{200b}\n\u{0}"), "");
    }
}
