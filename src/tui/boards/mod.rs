//! The boards of the games, one file each.

mod ivory;
mod plutonian;
mod sphinx;
mod thoth;
