//! Whole games of bots, measured.

mod sphinx_table;
