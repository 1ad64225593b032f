//! Keepers: a small resident program that holds the seats of a data directory while its player is away, and the
//! interfaces that attach to it.
//!
//! | module | contents |
//! | --- | --- |
//! | [`wire`] | the messages between a keeper and its interfaces, and their frames |
//! | `socket` | the local socket of the owner alone |
//! | `memory` | what an interface that attaches has to be told of a table |
//! | `visits` | when it visits meeting points |
//! | [`server`] | the keeper |
//! | [`client`] | an interface's end |

pub mod client;
mod memory;
pub mod server;
mod socket;
mod visits;
pub mod wire;
