//! Pyramids of Plutonian Poker, and the values of stacks.

use serde::{Deserialize, Serialize};

use crate::pyramid::Size;

/// A colour of a Treehouse set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Colour {
    Blue,
    Red,
    Green,
    Yellow,
    Orange,
}

impl Colour {
    /// All five, in the order of the digits of a column.
    pub const ALL: [Self; 5] = [Self::Blue, Self::Red, Self::Green, Self::Yellow, Self::Orange];

    pub fn name(self) -> &'static str {
        match self {
            Self::Blue => "blue",
            Self::Red => "red",
            Self::Green => "green",
            Self::Yellow => "yellow",
            Self::Orange => "orange",
        }
    }

    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|colour| colour.name() == name)
    }

    /// Its place in [`Self::ALL`].
    pub(super) fn index(self) -> usize {
        match self {
            Self::Blue => 0,
            Self::Red => 1,
            Self::Green => 2,
            Self::Yellow => 3,
            Self::Orange => 4,
        }
    }

    /// Its letter, for narrow places.
    pub fn letter(self) -> char {
        match self {
            Self::Blue => 'B',
            Self::Red => 'R',
            Self::Green => 'G',
            Self::Yellow => 'Y',
            Self::Orange => 'O',
        }
    }
}

/// A pyramid; without a colour it is wild.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Pyramid {
    /// Its colour; `None` is wild and counts as the best colour.
    pub colour: Option<Colour>,
    /// Its size, which a wild pyramid has too.
    pub size: Size,
}

impl Pyramid {
    pub fn wild(size: Size) -> Self {
        Self { colour: None, size }
    }

    /// The name as the referee writes it.
    pub fn name(self) -> String {
        let colour = self.colour.map_or("wild", Colour::name);
        format!("{colour}-{}", self.size.name())
    }

    /// In words: "small yellow", "large wild".
    pub fn in_words(self) -> String {
        let colour = self.colour.map_or("wild", Colour::name);
        format!("{} {colour}", self.size.name())
    }

    /// Its letter; a star for a wild one.
    pub fn letter(self) -> char {
        self.colour.map_or('*', Colour::letter)
    }
}

/// The hands that a stack can make, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hand {
    /// Large, medium, small of one colour.
    Tree,
    /// Small, medium, large of one colour.
    Nest,
    /// Five of one size and colour.
    Quintet,
    /// Four of one size and colour.
    Quartet,
    /// Five of one size, all colours.
    Straight,
    /// Four of one size, four colours.
    SubStraight,
    /// Five of one size, two colours in turn.
    FullHouse,
    /// Three of one size and colour.
    Trio,
    /// Four of one size, two colours in turn.
    TwoPair,
    /// Two of one size and colour.
    Pair,
}

impl Hand {
    /// All of them, in the order of the rules page.
    pub const ALL: [Self; 10] = [
        Self::Tree,
        Self::Nest,
        Self::Quintet,
        Self::Quartet,
        Self::Straight,
        Self::SubStraight,
        Self::FullHouse,
        Self::Trio,
        Self::TwoPair,
        Self::Pair,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Tree => "tree",
            Self::Nest => "nest",
            Self::Quintet => "quintet",
            Self::Quartet => "quartet",
            Self::Straight => "straight",
            Self::SubStraight => "sub-straight",
            Self::FullHouse => "full house",
            Self::Trio => "trio",
            Self::TwoPair => "two pair",
            Self::Pair => "pair",
        }
    }

    /// Its points in smalls.
    pub fn points(self) -> i64 {
        match self {
            Self::Tree | Self::Nest => 20,
            Self::Quintet => 12,
            Self::Quartet => 10,
            Self::Straight => 8,
            Self::SubStraight => 6,
            Self::FullHouse => 5,
            Self::Trio => 4,
            Self::TwoPair => 3,
            Self::Pair => 2,
        }
    }

    /// The hand of these points with a top pyramid of that size.
    pub fn by_points(top: Size, points: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|hand| {
            hand.points_of(top) == points
                && match hand {
                    Self::Tree => top == Size::Small,
                    Self::Nest => top == Size::Large,
                    _ => true,
                }
        })
    }

    /// Number of pyramids in the hand.
    pub fn size(self) -> usize {
        match self {
            Self::Tree | Self::Nest | Self::Trio => 3,
            Self::Quintet | Self::Straight | Self::FullHouse => 5,
            Self::Quartet | Self::SubStraight | Self::TwoPair => 4,
            Self::Pair => 2,
        }
    }

    /// The points with pyramids of that size: "Trees and nests are never multiplied".
    pub fn points_of(self, size: Size) -> i64 {
        match self {
            Self::Tree | Self::Nest => self.points(),
            _ => self.points() * i64::from(size.pips()),
        }
    }

    /// The sizes of its pyramids from the bottom, if the first one has this size.
    pub(super) fn sizes(self, first: Size) -> [Size; 5] {
        match self {
            Self::Tree => [Size::Large, Size::Medium, Size::Small, Size::Small, Size::Small],
            Self::Nest => [Size::Small, Size::Medium, Size::Large, Size::Large, Size::Large],
            _ => [first; 5],
        }
    }

    /// Whether a stack, from the bottom, is this hand or can become it by adding pyramids on top.
    pub fn may_become(self, stack: &[Pyramid]) -> bool {
        if stack.len() > self.size() {
            return false;
        }
        let Some(first) = stack.first() else {
            return true;
        };
        let sizes = self.sizes(first.size);
        if !stack.iter().zip(sizes).all(|(pyramid, size)| pyramid.size == size) {
            return false;
        }
        let colours = || stack.iter().map(|pyramid| pyramid.colour);
        match self {
            Self::Straight | Self::SubStraight => all_different(colours()),
            Self::FullHouse | Self::TwoPair => {
                let even = one_colour(colours().step_by(2));
                let odd = one_colour(colours().skip(1).step_by(2));
                match (even, odd) {
                    (One(one), One(other)) => one != other,
                    // A wild that is free can become any other colour.
                    (Mixed, _) | (_, Mixed) => false,
                    (Free, _) | (_, Free) => true,
                }
            }
            _ => !matches!(one_colour(colours()), Mixed),
        }
    }

    /// The most valuable hand that a whole stack makes, if any. Wilds take whichever colours they
    /// need, so the first matching hand of the page's table has the most points.
    pub fn of(stack: &[Pyramid]) -> Option<Self> {
        Self::ALL.into_iter().find(|hand| hand.size() == stack.len() && hand.may_become(stack))
    }
}

/// The colours of a group of pyramids, wilds aside.
enum Colours {
    /// None: all of them are wild.
    Free,
    One(Colour),
    /// Several.
    Mixed,
}

use Colours::{Free, Mixed, One};

fn one_colour(colours: impl Iterator<Item = Option<Colour>>) -> Colours {
    colours.flatten().fold(Free, |so_far, colour| match so_far {
        Free => One(colour),
        One(known) if known == colour => One(known),
        One(_) | Mixed => Mixed,
    })
}

/// Whether all colours can differ. Wilds can always take the missing ones: there are five colours,
/// and no such stack is higher.
fn all_different(colours: impl Iterator<Item = Option<Colour>>) -> bool {
    let mut seen = 0_u8;
    colours.flatten().all(|colour| {
        let before = seen;
        seen |= 1 << colour.index();
        seen != before
    })
}

/// The score of a stack: "the whole stack must be exactly the pattern; anything else scores 0".
pub fn score(stack: &[Pyramid]) -> i64 {
    match (Hand::of(stack), stack.first()) {
        (Some(hand), Some(first)) => hand.points_of(first.size),
        _ => 0,
    }
}

/// The name of a tree: a letter. The most trees are 36; those after z have capitals.
pub fn tree_name(tree: u8) -> char {
    let letter = match tree {
        0..26 => b'a' + tree,
        26..52 => b'A' + (tree - 26),
        _ => b'?',
    };
    char::from(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stack from letters and sizes, such as `Bs Rs *s`.
    fn stack(text: &str) -> Vec<Pyramid> {
        let pyramid = |word: &str| {
            let mut chars = word.chars();
            let letter = chars.next().unwrap();
            let size = match chars.next().unwrap() {
                's' => Size::Small,
                'm' => Size::Medium,
                _ => Size::Large,
            };
            let colour = Colour::ALL.into_iter().find(|c| c.letter() == letter);
            Pyramid { colour, size }
        };
        text.split_whitespace().map(pyramid).collect()
    }

    /// "Scoring": the table, with doubled mediums and tripled larges.
    #[test]
    fn every_hand_of_the_table() {
        for (text, points) in [
            ("Bl Bm Bs", 20),
            ("Bs Bm Bl", 20),
            ("Rs Rs Rs Rs Rs", 12),
            ("Rm Rm Rm Rm Rm", 24),
            ("Rl Rl Rl Rl Rl", 36),
            ("Rs Rs Rs Rs", 10),
            ("Bs Rs Gs Ys Os", 8),
            ("Bs Rs Gs Ys", 6),
            ("Ys Gs Ys Gs Ys", 5),
            ("Yl Gl Yl Gl Yl", 15),
            ("Os Os Os", 4),
            ("Bs Rs Bs Rs", 3),
            ("Bm Rm Bm Rm", 6),
            ("Gs Gs", 2),
            ("Gl Gl", 6),
        ] {
            assert_eq!(score(&stack(text)), points, "{text}");
        }
    }

    #[test]
    fn points_and_top_tell_the_hand() {
        for hand in Hand::ALL {
            for top in Size::ALL {
                let is_there = match hand {
                    Hand::Tree => top == Size::Small,
                    Hand::Nest => top == Size::Large,
                    _ => true,
                };
                if is_there {
                    assert_eq!(Hand::by_points(top, hand.points_of(top)), Some(hand));
                }
            }
        }
        assert_eq!(Hand::by_points(Size::Small, 0), None);
    }

    /// ▸ "The whole stack must be exactly the pattern".
    #[test]
    fn anything_else_scores_nothing() {
        for text in [
            "",
            "Bs",
            "Bl Rm Bs",
            "Bl Bs Bm",
            "Bm Bl Bs",
            "Bs Rs",
            "Bs Rs Gs",
            "Bs Bs Rs",
            "Bs Bs Rs Rs",
            "Bs Rs Rs Bs",
            "Bs Rs Bs Rs Rs",
            "Bs Rs Gs Ys Bs",
            "Bs Bs Bm",
            "Bs Bs Bs Bs Bs Bs",
            "Bl Bm Bs Bs",
            "Bs Rs Gs Ys Os Bs",
        ] {
            assert_eq!(score(&stack(text)), 0, "{text}");
        }
    }

    /// "A wild … counts as whichever of the five colours gives its stack the most points": compared
    /// with a search over all colours.
    #[test]
    fn wilds_are_as_good_as_the_best_of_all_colours() {
        fn best(stack: &mut [Pyramid]) -> i64 {
            let Some(at) = stack.iter().position(|pyramid| pyramid.colour.is_none()) else {
                return score(stack);
            };
            let tried = Colour::ALL.map(|colour| {
                stack[at].colour = Some(colour);
                best(stack)
            });
            stack[at].colour = None;
            tried.into_iter().max().unwrap()
        }
        // Every stack of one size up to five high, and every mixed one up to three.
        let letters = [Some(Colour::Blue), Some(Colour::Red), Some(Colour::Green), Some(Colour::Yellow), None];
        let mut tried = 0;
        for height in 0..=5_u32 {
            for code in 0..5_usize.pow(height) {
                let digits = (0..height).map(|place| code / 5_usize.pow(place) % 5);
                let mut pyramids: Vec<Pyramid> =
                    digits.map(|digit| Pyramid { colour: letters[digit], size: Size::Medium }).collect();
                assert_eq!(score(&pyramids), best(&mut pyramids), "{pyramids:?}");
                tried += 1;
                if height == 3 {
                    for sizes in 0..27_usize {
                        for (place, pyramid) in (0_u32..).zip(&mut pyramids) {
                            pyramid.size = Size::ALL[sizes / 3_usize.pow(place) % 3];
                        }
                        assert_eq!(score(&pyramids), best(&mut pyramids), "{pyramids:?}");
                    }
                }
            }
        }
        assert_eq!(tried, 3906);
        // The tree made of wilds only.
        assert_eq!(score(&stack("*l *m *s")), 20);
        assert_eq!(score(&stack("*s Bs")), 2);
    }
}
