//! The lockstep log: signed entries, steps that chain them, ballots, proof of two-facedness, and
//! what follows from it; claims of who has waited in vain.

pub mod ballot;
pub mod body;
pub mod claim;
pub mod entry;
pub mod equivocation;
pub mod halt;
