//! The lockstep log: signed entries, steps that chain them, proof of equivocation and what follows
//! from it, abandonment claims.

pub mod body;
pub mod claim;
pub mod entry;
pub mod equivocation;
pub mod fork_report;
pub mod state_request;
