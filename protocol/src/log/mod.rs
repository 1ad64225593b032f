//! The lockstep log: signed entries, the steps that chain them, proof of equivocation, fork reports, abandonment claims,
//! and extensions of time.

pub mod body;
pub mod claim;
pub mod entry;
pub mod equivocation;
pub mod extensions;
pub mod fork_report;
pub mod state_request;
