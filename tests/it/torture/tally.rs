//! Event counts by name.

use std::collections::BTreeMap;
use std::fmt;

/// Counts by name, printed in alphabetical order.
#[derive(Default)]
pub(super) struct Tally(BTreeMap<String, usize>);

impl Tally {
    /// Adds one.
    pub(super) fn one(&mut self, name: impl Into<String>) {
        self.add(name, 1);
    }

    /// Adds `count`; a name is listed even with zero.
    pub(super) fn add(&mut self, name: impl Into<String>, count: usize) {
        *self.0.entry(name.into()).or_default() += count;
    }

    /// Adds the counts of another tally.
    pub(super) fn join(&mut self, other: &Self) {
        for (name, count) in &other.0 {
            self.add(name.clone(), *count);
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let each = self.0.iter().map(|(name, count)| format!("{name} {count}"));
        f.write_str(&each.collect::<Vec<_>>().join(", "))
    }
}
