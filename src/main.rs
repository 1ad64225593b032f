//! The `fairdeal` program: parses its arguments, runs, and says how it ended by its exit code.

fn main() {}
