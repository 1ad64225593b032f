//! Whole tables in one process, for tests, benchmarks and fuzzing.
//!
//! | module | contents |
//! | --- | --- |
//! | [`seats`] | players with fixed keys, and charters signed with them |
//! | [`room`] | the programs of one table, with disks, crashes and restarts |
//! | [`network`] | a bad network in virtual time |
//! | [`honesty`] | the check that an honest seat persists before it sends, and signs once |
//! | [`entries`] | rewriting and re-signing a message's entries, as a cheat does |
//! | [`random`] | reproducible random streams |
//! | [`drill`] | a small game that makes every kind of request |
//!
//! A test that needs no network delivers messages immediately:
//!
//! ```
//! use fairdeal_testkit::drill::{Action, Drill, rules};
//! use fairdeal_testkit::{Room, seats, stream};
//!
//! let charter = seats::charter(&rules(2, 20), seats::LOBBY);
//! let mut room: Room<Drill> = Room::new(charter, |seat| stream(1, seat.number().into()));
//! room.begin();
//! room.exchange();
//! let leader = room.seats().find(|seat| room[*seat].table.is_my_turn()).unwrap();
//! room[leader].act(Action::Draw).unwrap();
//! room.exchange();
//! assert_eq!(room[0].table.log_hash(), room[1].table.log_hash());
//! ```
//!
//! A simulator puts a [`Network`] between the places of its room, and decides which seats act, crash or cheat.

// A test whose setup fails must stop.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

pub mod drill;
pub mod entries;
pub mod honesty;
pub mod network;
pub mod random;
pub mod room;
pub mod seats;

pub use honesty::Honesty;
pub use network::{Cut, Fate, Letter, Network, Weather};
pub use random::{happens, stream};
pub use room::{Room, Sent, Status, TestSeat};
