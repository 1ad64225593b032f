//! Snapshots of every game's views in mid-game, so nobody changes the referee's JSON by accident.
//!
//! A position is a script of requests that does not depend on bots or on the order of legal actions.
//! Each shows as much as one position can: something hidden, something forfeited, something waiting.
//! The fields are those of the rules pages' "View".

use serde_json::json;

use super::Spoken;

/// Plays a script, whose first line states its purpose. Compares the referee's view and one seat's
/// view.
fn views(name: &str, script: &str, seat: usize) {
    let mut referee = Spoken::default();
    for line in script.lines().filter(|line| !line.starts_with('#')) {
        referee.done(&serde_json::from_str(line).unwrap());
    }
    for (who, seat) in [("referee", json!(null)), ("seat", json!(seat))] {
        let reply = referee.done(&json!({"op": "view", "seat": seat}));
        let text = serde_json::to_string_pretty(&reply["view"]).unwrap();
        insta::assert_snapshot!(format!("{name}-{who}"), text);
    }
}

#[test]
fn ivory_tower() {
    views("ivory-tower", include_str!("ivory-tower.jsonl"), 0);
}

#[test]
fn plutonian_poker() {
    views("plutonian-poker", include_str!("plutonian-poker.jsonl"), 2);
}

#[test]
fn loot() {
    views("loot", include_str!("loot.jsonl"), 0);
}

#[test]
fn sphinxs_paw() {
    views("sphinxs-paw", include_str!("sphinxs-paw.jsonl"), 0);
}

#[test]
fn houses_of_thoth() {
    views("houses-of-thoth", include_str!("houses-of-thoth.jsonl"), 1);
    let auction = include_str!("houses-of-thoth-auction.jsonl");
    views("houses-of-thoth-auction", auction, 0);
}
