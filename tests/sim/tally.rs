//! Named event counts, for the summary of a run of many tables.

use std::collections::BTreeMap;

#[derive(Clone, Debug, Default)]
pub(crate) struct Tally(BTreeMap<String, u64>);

impl Tally {
    /// Adds to a count.
    pub(crate) fn add(&mut self, name: &str, count: u64) {
        if let Some(known) = self.0.get_mut(name) {
            *known += count;
        } else {
            self.0.insert(name.to_owned(), count);
        }
    }

    /// Adds the counts of another tally.
    pub(crate) fn join(&mut self, other: &Self) {
        for (name, count) in &other.0 {
            self.add(name, *count);
        }
    }

    pub(crate) fn count(&self, name: &str) -> u64 {
        self.0.get(name).copied().unwrap_or(0)
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (name, count) in &self.0 {
            writeln!(f, "{count:>10}  {name}")?;
        }
        Ok(())
    }
}
