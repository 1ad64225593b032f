//! Small pictures for cards, read from text: two dots above each other are one half block.
//!
//! ```text
//! # flames
//! ...#...
//! ..##...
//! ..###..
//! .#####.
//! .##.##.
//! ..###..
//! ```
//!
//! A picture is named by a line `# name`; `#` sets a dot, anything else leaves it free. Six rows of up to nine dots make
//! three rows of half blocks, which fit on a card of normal size.

use std::collections::BTreeMap;

use crate::theme::Theme;

/// A picture of half blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Dots by row; two rows make one on the screen.
    dots: Vec<Vec<bool>>,
}

impl Picture {
    /// Its rows on the screen, all of the same width. In ASCII each dot of the upper rows is a `#`.
    pub fn rows(&self, theme: &Theme) -> Vec<String> {
        let width = self.dots.iter().map(Vec::len).max().unwrap_or(0);
        let dot =
            |row: Option<&Vec<bool>>, column: usize| row.and_then(|row| row.get(column)).copied().unwrap_or(false);
        let cell = |pair: &[Vec<bool>], column: usize| {
            let (upper, lower) = (dot(pair.first(), column), dot(pair.get(1), column));
            match (upper, lower) {
                (true, true) => theme.glyph("█", "#"),
                (true, false) => theme.glyph("▀", "'"),
                (false, true) => theme.glyph("▄", "."),
                (false, false) => " ",
            }
        };
        self.dots.chunks(2).map(|pair| (0..width).map(|column| cell(pair, column)).collect()).collect()
    }
}

/// Pictures by name.
#[derive(Clone, Debug, Default)]
pub struct Pictures(BTreeMap<String, Picture>);

impl Pictures {
    /// Reads pictures from text, as the head of this file describes it.
    pub fn parse(text: &str) -> Self {
        let mut all: BTreeMap<String, Picture> = BTreeMap::new();
        let mut name = None;
        for line in text.lines() {
            if let Some(title) = line.strip_prefix("# ") {
                name = Some(title.trim());
            } else if let Some(name) = name.filter(|_| !line.trim().is_empty()) {
                let picture = all.entry(name.to_owned()).or_insert_with(|| Picture { dots: Vec::new() });
                picture.dots.push(line.chars().map(|dot| dot == '#').collect());
            }
        }
        Self(all)
    }

    /// The picture with this name.
    pub fn get(&self, name: &str) -> Option<&Picture> {
        self.0.get(name)
    }

    /// All names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_become_half_blocks() {
        let pictures = Pictures::parse("# hill\n.#.\n###\n\n# dot\n#\n");
        let hill = pictures.get("hill").unwrap();
        assert_eq!(hill.rows(&Theme::default()), ["▄█▄"]);
        assert_eq!(hill.rows(&Theme::ascii()), [".#."]);
        assert_eq!(pictures.names().collect::<Vec<_>>(), ["dot", "hill"]);
    }
}
