//! Whole tables over a simulated network: agreement, audit, and cheats named.

mod agreement;
mod drill;
mod sim;
