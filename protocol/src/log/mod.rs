//! The lockstep log: signed entries, steps that chain them, ballots, and proof of two-facedness.

pub mod ballot;
pub mod body;
pub mod entry;
pub mod equivocation;
