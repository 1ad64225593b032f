//! Whole tables over a simulated network: agreement, audits, and cheats that are named.

// A test fails by panicking.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, clippy::expect_used)]

mod absence;
mod agreement;
mod ahead;
mod attacks;
mod cheats;
mod claims;
mod departures;
mod extended;
mod forgeries;
mod intents;
mod letters;
mod modules;
mod opened;
mod overreach;
mod passes;
mod removal;
mod returns;
mod secrecy;
mod sim;
mod twofaced;
mod vectors;
