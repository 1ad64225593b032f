//! The reference models in Python, `docs/models`: their quick searches find nothing, and find each planted fault.

use super::python::{is_there, run};

/// Runs a model, which fails if it finds anything else than expected.
fn holds(args: &[&str]) {
    if !is_there() {
        return;
    }
    let (status, output) = run(args);
    assert_eq!(status, Some(0), "{args:?}: {output}");
    assert!(output.contains("all as expected"), "{args:?}: {output}");
}

#[test]
fn removal_rule_holds_in_quick_searches() {
    holds(&["docs/models/removal.py", "--short"]);
}

#[test]
fn endings_hold_in_quick_searches() {
    holds(&["docs/models/endings.py", "--short"]);
}

#[test]
fn broken_endings_are_found() {
    holds(&["docs/models/endings.py", "--planted"]);
}

#[test]
fn shuffle_proof_refuses_what_it_should() {
    holds(&["docs/models/shuffle_proof.py"]);
}

#[test]
fn every_equation_of_the_shuffle_proof_is_needed() {
    holds(&["docs/models/shuffle_proof.py", "--planted"]);
}
