//! The lockstep log: signed entries, the steps that chain them, proof of equivocation, fork reports, and abandonment
//! claims.

pub mod body;
pub mod claim;
pub mod entry;
pub mod equivocation;
pub mod fork_report;
pub mod state_request;
