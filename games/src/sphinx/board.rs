//! The board of Sphinx's Paw: 64 squares, of which four are central and eight belong to Pylons.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

/// Number of squares per side.
const SIDE: u8 = 8;

/// A square, numbered from a1, rank by rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Square(u8);

impl<'de> Deserialize<'de> for Square {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = u8::deserialize(deserializer)?;
        if number >= SIDE * SIDE {
            return Err(serde::de::Error::custom("no square of the board"));
        }
        Ok(Self(number))
    }
}

impl Square {
    pub fn all() -> impl Iterator<Item = Self> {
        (0..SIDE * SIDE).map(Self)
    }

    /// The square with that name, such as `d4`.
    pub fn by_name(name: &str) -> Option<Self> {
        let [file, rank] = name.as_bytes() else {
            return None;
        };
        let file = file.checked_sub(b'a').filter(|file| *file < SIDE)?;
        let rank = rank.checked_sub(b'1').filter(|rank| *rank < SIDE)?;
        Some(Self(rank * SIDE + file))
    }

    pub fn name(self) -> String {
        let file = char::from(b'a' + self.0 % SIDE);
        format!("{file}{}", self.0 / SIDE + 1)
    }

    /// The square that many files and ranks away, if it is on the board.
    fn step(self, files: i8, ranks: i8) -> Option<Self> {
        let file = (self.0 % SIDE).checked_add_signed(files)?;
        let rank = (self.0 / SIDE).checked_add_signed(ranks)?;
        (file < SIDE && rank < SIDE).then_some(Self(rank * SIDE + file))
    }

    /// Its orthogonal neighbours.
    pub fn orthogonal(self) -> impl Iterator<Item = Self> {
        [(0, 1), (1, 0), (0, -1), (-1, 0)].into_iter().filter_map(move |(files, ranks)| self.step(files, ranks))
    }

    /// Its diagonal neighbours.
    pub fn diagonal(self) -> impl Iterator<Item = Self> {
        [(1, 1), (1, -1), (-1, -1), (-1, 1)].into_iter().filter_map(move |(files, ranks)| self.step(files, ranks))
    }

    /// All its neighbours: eight, five at an edge, three in a corner.
    pub fn around(self) -> impl Iterator<Item = Self> {
        self.orthogonal().chain(self.diagonal())
    }

    /// The distance between two squares in king's moves.
    pub fn distance(self, other: Self) -> u8 {
        let files = (self.0 % SIDE).abs_diff(other.0 % SIDE);
        files.max((self.0 / SIDE).abs_diff(other.0 / SIDE))
    }
}

/// A set of squares: one bit per square from a1, rank by rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SquareSet(u64);

impl SquareSet {
    /// The bits of the first file.
    const FIRST_FILE: u64 = u64::from_le_bytes([1; 8]);
    /// The bits of the last file.
    const LAST_FILE: u64 = Self::FIRST_FILE << (SIDE - 1);

    pub fn contains(self, square: Square) -> bool {
        self.0 & Self::from(square).0 != 0
    }

    /// These squares minus the others.
    #[must_use]
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The union of both sets.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The orthogonal neighbours of these squares, which may include some of these squares.
    #[must_use]
    pub fn spread(self) -> Self {
        let ranks = self.0 << SIDE | self.0 >> SIDE;
        let files = (self.0 & !Self::LAST_FILE) << 1 | (self.0 & !Self::FIRST_FILE) >> 1;
        Self(ranks | files)
    }

    /// The neighbours of these squares in all eight directions, or the diagonal ones alone; they may include some of
    /// these squares.
    #[must_use]
    pub fn around(self, diagonal: bool) -> Self {
        let sides = (self.0 & !Self::LAST_FILE) << 1 | (self.0 & !Self::FIRST_FILE) >> 1;
        let row = if diagonal { sides } else { sides | self.0 };
        let straight = if diagonal { 0 } else { sides };
        Self(row << SIDE | row >> SIDE | straight)
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Number of squares.
    pub fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// The squares in both sets.
    #[must_use]
    pub fn within(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The squares in order.
    pub fn iter(self) -> impl Iterator<Item = Square> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let first = u8::try_from(rest.trailing_zeros()).ok()?;
            // Clears the lowest bit; an empty set has no first square.
            rest &= rest.checked_sub(1)?;
            Some(Square(first))
        })
    }
}

impl From<Square> for SquareSet {
    fn from(square: Square) -> Self {
        // A square's number is below 64.
        Self(1_u64.wrapping_shl(u32::from(square.0)))
    }
}

impl FromIterator<Square> for SquareSet {
    fn from_iter<I: IntoIterator<Item = Square>>(squares: I) -> Self {
        let each = squares.into_iter().map(Self::from);
        each.fold(Self::default(), Self::with)
    }
}

/// The four central squares.
pub fn central() -> impl Iterator<Item = Square> {
    ["d4", "e4", "d5", "e5"].into_iter().filter_map(Square::by_name)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Pylon {
    /// d8 and e8.
    North,
    /// h4 and h5.
    East,
    /// d1 and e1.
    South,
    /// a4 and a5.
    West,
}

impl Pylon {
    /// All four, in the order of dealing.
    pub const ALL: [Self; 4] = [Self::North, Self::East, Self::South, Self::West];

    pub fn name(self) -> &'static str {
        match self {
            Self::North => "north",
            Self::East => "east",
            Self::South => "south",
            Self::West => "west",
        }
    }

    /// Its two squares.
    pub fn squares(self) -> impl Iterator<Item = Square> {
        let names = match self {
            Self::North => ["d8", "e8"],
            Self::East => ["h4", "h5"],
            Self::South => ["d1", "e1"],
            Self::West => ["a4", "a5"],
        };
        names.into_iter().filter_map(Square::by_name)
    }

    /// The squares of all four Pylons.
    pub fn all_squares() -> SquareSet {
        static ALL: LazyLock<SquareSet> = LazyLock::new(|| Pylon::ALL.into_iter().flat_map(Pylon::squares).collect());
        *ALL
    }

    /// The Pylon of a square, if any.
    pub fn at(square: Square) -> Option<Self> {
        if !Self::all_squares().contains(square) {
            return None;
        }
        Self::ALL.into_iter().find(|pylon| pylon.squares().any(|own| own == square))
    }

    pub fn other(self, square: Square) -> Option<Square> {
        self.squares().find(|own| *own != square)
    }

    pub fn index(self) -> usize {
        self as usize
    }
}
