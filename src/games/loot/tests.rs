//! Loot by rule.
