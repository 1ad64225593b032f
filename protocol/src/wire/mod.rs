//! What goes over the wire and into files: the codec and the bounds of every collection.

pub mod bounded;
pub mod codec;
