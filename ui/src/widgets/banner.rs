//! Words in large letters of half blocks.

use std::sync::LazyLock;

use super::Pictures;
use crate::theme::Theme;

static LETTERS: LazyLock<Pictures> = LazyLock::new(|| Pictures::parse(include_str!("../../art/letters.txt")));

/// A word in letters of three rows; `None` if it has a letter that is not drawn, is wider than `width`, or the theme is
/// ASCII.
pub fn banner(word: &str, width: u16, theme: &Theme) -> Option<[String; 3]> {
    let mut rows = [const { String::new() }; 3];
    if theme.is_ascii() {
        return None;
    }
    for letter in word.to_uppercase().chars() {
        let name = if letter == ' ' { "blank".to_owned() } else { letter.to_string() };
        let drawn = LETTERS.get(&name)?.rows(theme);
        for (row, part) in rows.iter_mut().zip(drawn) {
            if !row.is_empty() {
                row.push(' ');
            }
            row.push_str(&part);
        }
    }
    let fits = rows.iter().all(|row| row.chars().count() <= usize::from(width));
    fits.then_some(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_drawn_or_left_alone() {
        let theme = Theme::default();
        assert_eq!(
            banner("Al-1", 20, &theme).unwrap(),
            ["▄▀▀▄ █        ▄█ ", "█▀▀█ █    ▀▀▀  █ ", "▀  ▀ ▀▀▀▀     ▀▀▀"]
        );
        assert_eq!(banner("Al-1", 10, &theme), None);
        assert_eq!(banner("Béla", 40, &theme), None);
    }
}
