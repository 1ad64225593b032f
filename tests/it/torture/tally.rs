//! Counts of what happened, by name.

use std::collections::BTreeMap;
use std::fmt;

/// Counts by name, printed in alphabetical order.
#[derive(Default)]
pub(super) struct Tally(BTreeMap<String, usize>);

impl Tally {
    /// Counts one more.
    pub(super) fn one(&mut self, name: impl Into<String>) {
        self.add(name, 1);
    }

    /// Counts so many more; a name is listed even with none.
    pub(super) fn add(&mut self, name: impl Into<String>, count: usize) {
        *self.0.entry(name.into()).or_default() += count;
    }

    /// Adds those of another.
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
