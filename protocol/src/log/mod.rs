//! The lockstep log: signed entries, steps that chain them, and proof of two-facedness.

pub mod body;
pub mod entry;
pub mod equivocation;
