//! Whole-process and cross-module tests, one binary.

#[cfg(test)]
mod bots;
#[cfg(test)]
mod laws;
