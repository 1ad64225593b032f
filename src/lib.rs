//! fairdeal: a terminal table for five games, played between peers with no server and no dealer.

pub mod bots;
pub mod games;
