//! Named event counts and greatest values, for the summary of a run of many tables.

use std::collections::BTreeMap;

#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    counts: BTreeMap<String, u64>,
    most: BTreeMap<String, u64>,
}

impl Tally {
    /// Adds to a count.
    pub(crate) fn add(&mut self, name: &str, count: u64) {
        if let Some(known) = self.counts.get_mut(name) {
            *known += count;
        } else {
            self.counts.insert(name.to_owned(), count);
        }
    }

    /// Raises a greatest value.
    pub(crate) fn most(&mut self, name: &str, value: u64) {
        let known = self.most.entry(name.to_owned()).or_default();
        *known = value.max(*known);
    }

    /// Adds the counts of another tally, and keeps the greater of two greatest values.
    pub(crate) fn join(&mut self, other: &Self) {
        for (name, count) in &other.counts {
            self.add(name, *count);
        }
        for (name, value) in &other.most {
            self.most(name, *value);
        }
    }

    pub(crate) fn count(&self, name: &str) -> u64 {
        self.counts.get(name).copied().unwrap_or(0)
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (name, count) in &self.counts {
            writeln!(f, "{count:>10}  {name}")?;
        }
        for (name, value) in &self.most {
            writeln!(f, "{value:>10}  at most: {name}")?;
        }
        Ok(())
    }
}
