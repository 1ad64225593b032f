//! Whole-process and cross-module tests, one binary.

fn main() {}
