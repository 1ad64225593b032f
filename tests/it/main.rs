//! Whole-process tests: real programs over loopback, and attacks on their files.

// Tests fail by panicking.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, clippy::expect_used)]

mod absent;
#[cfg(target_os = "linux")]
mod abuse;
mod auditor;
mod bots;
#[path = "../fixture/browser.rs"]
mod browser;
#[path = "../fixture/built.rs"]
mod built;
mod by_letter;
mod chat;
mod cheat;
mod citations;
mod clipped;
mod clocks;
mod damage;
#[cfg(target_os = "linux")]
mod disk;
mod draw_poker;
mod engine;
mod errors;
mod events;
#[cfg(unix)]
mod exec;
#[path = "../fixture/record.rs"]
mod fixture;
mod foreign_relay;
mod games;
mod glyphs;
mod history;
mod keep;
mod kept_letters;
mod laws;
mod leave;
mod letters;
mod libraries;
mod mail;
mod meet;
mod models;
#[cfg(target_os = "linux")]
mod namespaces;
mod net;
mod odd_files;
mod old_data;
mod own_game;
mod people;
#[path = "../fixture/pictures.rs"]
mod pictures;
mod pipes;
mod process;
#[path = "../fixture/python.rs"]
mod python;
mod ratings;
mod reach;
mod readme;
#[cfg(unix)]
mod relay;
mod replay;
#[path = "../fixture/require.rs"]
mod require;
mod resume;
mod said;
mod schema;
#[cfg(unix)]
mod screen;
#[cfg(unix)]
mod search_bot;
mod signed_results;
#[cfg(unix)]
mod site;
mod sitting;
mod stored;
#[cfg(target_os = "linux")]
mod torture;
mod transcript;
mod vectors;
mod walls;
mod watch;
mod way;
mod web;
mod words;
mod wrong_day;
