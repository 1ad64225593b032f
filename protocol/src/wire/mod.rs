//! Encoding for the wire and for files: the codec and the bounds of every collection.

pub mod bounded;
pub mod codec;
