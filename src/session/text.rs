//! Text from strangers, made fit for a terminal.

/// A name: without control and direction-changing characters, and of at most 64 characters.
pub fn clean(text: &str) -> String {
    clean_to(text, 64)
}

/// A reason: the same, of at most 200 characters.
pub fn clean_reason(text: &str) -> String {
    clean_to(text, 200)
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
}
