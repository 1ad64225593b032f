//! The lockstep log: signed entries, steps that chain them, ballots, proof of two-facedness, and
//! what follows from it.

pub mod ballot;
pub mod body;
pub mod entry;
pub mod equivocation;
pub mod halt;
