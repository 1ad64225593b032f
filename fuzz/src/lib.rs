//! Fuzzing harnesses for every decoder and for the table.
//!
//! A harness is a function of bytes. It panics on a bug, and returns whether the bytes were useful: whether they
//! decoded or had any effect. libFuzzer calls it through `fuzz_targets/`, which only `cargo fuzz` builds (feature
//! `libfuzzer`, nightly compiler). `tests/corpus.rs` calls it on the seeds in `corpus/` and on mutations of them, with
//! any compiler. `examples/seeds.rs` writes the seeds.
//!
//! | module | input of its harnesses |
//! | --- | --- |
//! | [`decoders`] | data from peers and files |
//! | [`links`] | bytes that a browser's connection hears |
//! | [`texts`] | text that people type |
//! | [`actions`] | actions of every game |
//! | [`log`] | bodies of entries, forged transcripts, journal records |
//! | [`journals`] | journal files |
//! | [`table`] | operations on whole tables |

// A panic is a finding here; the lints against panics are for the product.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

pub mod actions;
pub mod decoders;
pub mod fixture;
pub mod input;
pub mod journals;
pub mod links;
pub mod log;
pub mod seeds;
pub mod table;
pub mod texts;
pub mod world;

/// A harness: takes bytes, returns whether they were useful, and panics on a bug.
pub type Harness = fn(&[u8]) -> bool;

/// Every harness by name, which is also the name of its target and its folder in `corpus/`.
pub static HARNESSES: &[(&str, Harness)] = &[
    ("action", actions::action),
    ("announcement", decoders::announcement),
    ("body", log::body),
    ("charter", decoders::charter),
    ("cheat", table::cheat),
    ("circuit", links::circuit),
    ("entry", decoders::entry),
    ("evidence", decoders::evidence),
    ("forgery", log::forgery),
    ("frame", decoders::frame),
    ("header", decoders::header),
    ("join", texts::join),
    ("journal", journals::journal),
    ("letter", decoders::letter),
    ("link", links::link),
    ("lobby", decoders::lobby),
    ("mail", decoders::mail),
    ("meet", decoders::meet),
    ("message", decoders::message),
    ("options", texts::options),
    ("record", decoders::record),
    ("referee", texts::referee),
    ("restore", log::restore),
    ("seat", decoders::seat),
    ("stream", decoders::stream),
    ("table", table::table),
    ("transcript", decoders::transcript),
];
