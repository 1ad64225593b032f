//! Encoding for the wire and for files: the codec and bounded collections.

pub mod bounded;
pub mod codec;
