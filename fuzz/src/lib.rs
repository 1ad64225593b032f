//! Fuzzing of every decoder and of the table: the harnesses.
//!
//! A harness is a function of bytes that panics if something is wrong, and says whether the bytes
//! were of any use: whether they decoded, or led anywhere. libFuzzer calls it through
//! `fuzz_targets/`, which is built only by `cargo fuzz` (feature `libfuzzer`, a nightly compiler);
//! `tests/corpus.rs` calls it on the seeds in `corpus/` and on changes of them, with any compiler.
//! `examples/seeds.rs` writes the seeds.
//!
//! | module | what its harnesses read |
//! | --- | --- |
//! | [`decoders`] | what comes from peers and files |
//! | [`texts`] | what people type |
//! | [`actions`] | actions of every game |
//! | [`log`] | bodies of entries, forged transcripts, the records of journals |
//! | [`journals`] | the files of journals |
//! | [`table`] | operations on whole tables |

// Here a panic is the finding; the lints that keep peers from causing one are for the product.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic
)]

pub mod actions;
pub mod decoders;
pub mod fixture;
pub mod input;
pub mod journals;
pub mod log;
pub mod seeds;
pub mod table;
pub mod texts;
pub mod world;

/// A harness: takes bytes, says whether they were of use, and panics if something is wrong.
pub type Harness = fn(&[u8]) -> bool;

/// Every harness by the name of its target and of its folder in `corpus/`.
pub static HARNESSES: &[(&str, Harness)] = &[
    ("action", actions::action),
    ("announcement", decoders::announcement),
    ("body", log::body),
    ("charter", decoders::charter),
    ("cheat", table::cheat),
    ("entry", decoders::entry),
    ("evidence", decoders::evidence),
    ("forgery", log::forgery),
    ("frame", decoders::frame),
    ("header", decoders::header),
    ("join", texts::join),
    ("journal", journals::journal),
    ("message", decoders::message),
    ("options", texts::options),
    ("record", decoders::record),
    ("referee", texts::referee),
    ("restore", log::restore),
    ("stream", decoders::stream),
    ("table", table::table),
    ("transcript", decoders::transcript),
];
