//! fairdeal: a terminal table for five games, played between peers with no server and no dealer.

pub mod cli;
mod clock;
pub mod drive;
pub mod events;
pub mod exec_bot;
pub mod hands;
mod herald;
pub mod history;
pub mod keeper;
pub mod letter_files;
pub mod replay_page;
mod shell;
mod signals;
pub mod store;
pub mod summary;
mod table_page;
pub mod tui;
