//! Every value of part 10 of `docs/transcript.md` is the computed one.
//!
//! Snapshots hold the computed values, and the tests that part 10 names compute them again. This test compares each row
//! of the page with them, so a changed label changes the page or fails here.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use fairdeal_games::ivory::daily;
use fairdeal_protocol::domain::{Label, REMOVAL_HASH};
use fairdeal_protocol::hash::Hasher;
use regex::{Captures, Regex};
use sha2::{Digest as _, Sha256};

/// The rows of the first table, each with its values in the snapshot.
const DEAL: [(&str, &[&str]); 39] = [
    ("charter, 213 bytes", &["charter"]),
    ("table id", &["table id"]),
    ("genesis", &["genesis"]),
    ("SHA-256 over the layout", &["hash of fields"]),
    ("seed commitment", &["seed commitment"]),
    ("stream for", &["derived stream"]),
    ("coin tip of chain 0", &["coin tip"]),
    ("its first preimage", &["first preimage"]),
    ("flip 0 of that preimage", &["eight rolls of a die"]),
    ("the same flip, Order", &["ten faces in order"]),
    ("the same flip, Columns", &["fifteen columns"]),
    ("key X", &["key"]),
    ("key proof", &["key proof"]),
    ("generator H |", &["generator H"]),
    ("generator H₁", &["generator H_1"]),
    ("point of `card-0`", &["card-0"]),
    ("deck 3,", &["shuffled deck of five"]),
    ("its StagedProof", &["shuffle proof"]),
    ("share of its top card", &["share of the top card"]),
    ("proof of the shares", &["share proof"]),
    ("id of the same charter", &["table id of protocol 1"]),
    ("there, deck 3,", &["deck of five of protocol 1"]),
    ("its WholeProof", &["whole shuffle proof"]),
    ("body of a Shuffle", &["body shuffle of protocol 1"]),
    ("body of an Ack", &["body ack"]),
    ("body of an Escrow", &["body escrow"]),
    ("body of an Accept", &["body acceptance"]),
    ("hash of the entry Close", &["entry hash, closing"]),
    ("hash of step 300", &["step hash"]),
    ("bytes of a statement", &[]),
    ("Consent to remove seat 2", &["consent hash"]),
    ("that SignedStatement", &["signed consent"]),
    ("Veto for entry", &["veto hash"]),
    ("Promise for round 2", &["promise hash"]),
    ("Propose in round 2", &["proposal hash"]),
    ("Accept in round 2", &["accept hash"]),
    ("Release of consent", &["release hash"]),
    ("SignedExtensions of seat 1", &["signed extensions"]),
    ("parent after fork reports", &["parent after a halt"]),
];

/// The same for the second table.
const ESCROW: [(&str, &[&str]); 12] = [
    ("X of seat 1", &["owner's key"]),
    ("X of seat 0", &["key of seat 0"]),
    ("X of seat 2", &["key of seat 2"]),
    ("X of seat 4", &["key of seat 4"]),
    ("escrow context", &["derivation"]),
    ("Xᵢⱼ, yᵢⱼ for seat 0", &["X for seat 0", "y for seat 0"]),
    ("Xᵢⱼ, yᵢⱼ for seat 2", &["X for seat 2", "y for seat 2"]),
    ("Xᵢⱼ, yᵢⱼ for seat 4", &["X for seat 4", "y for seat 4"]),
    ("xᵢⱼ of seat 4", &["x for seat 4"]),
    ("K, proof of a complaint", &["complaint of seat 4"]),
    ("part shares of seat 4", &["part share"]),
    ("their proof", &["part proof"]),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn page() -> String {
    fs::read_to_string(root().join("docs/transcript.md")).unwrap()
}

/// The text of part 10 from one heading in italics to the next.
fn section(name: &str) -> String {
    let page = page();
    let part = page.split("\n## 10. ").nth(1).unwrap();
    let start = part.split(&format!("\n*{name}* (pinned by ")).nth(1).unwrap();
    start.split("\n*").next().unwrap().to_owned()
}

/// The values of a snapshot by name; values of one name are joined.
fn snapshot(file: &str) -> BTreeMap<String, String> {
    let text = fs::read_to_string(root().join(file)).unwrap();
    let mut values: BTreeMap<String, String> = BTreeMap::new();
    for line in text.splitn(3, "---\n").nth(2).unwrap().lines() {
        let (name, value) = line.split_once(": ").unwrap();
        values.entry(name.to_owned()).or_default().push_str(value);
    }
    values
}

fn hex(bytes: impl IntoIterator<Item = u8>) -> String {
    bytes.into_iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn bytes(hex: &str) -> Vec<u8> {
    hex.as_bytes().chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

/// The values of a cell as hexadecimal text: `06×32` is written out, decimal numbers are bytes.
fn cell(text: &str, table: &str) -> Vec<String> {
    let numbers: Option<Vec<u8>> = text.split(' ').map(|number| number.parse().ok()).collect();
    if let Some(numbers) = numbers {
        return vec![hex(numbers)];
    }
    let text = text.replace("table id", table);
    let repeated = Regex::new("([0-9a-f]{2})×32").unwrap();
    let text = repeated.replace_all(&text, |found: &Captures<'_>| found[1].repeat(32));
    let values = text.split(", ").map(|value| value.replace(['`', ' '], ""));
    values.collect()
}

/// A value as the snapshots show it: long ones by length and hash.
fn shown(value: &str) -> String {
    let bytes = bytes(value);
    match bytes.len() {
        0..=160 => value.to_owned(),
        length => {
            let hash = Hasher::new(Label::new("vector\0")).bytes(&bytes).finish();
            format!("{length} bytes, {hash}")
        }
    }
}

/// Compares a table's rows with the snapshot. Every row is known, and every known row is there, in this order.
fn compare(text: &str, rows: &[(&str, &[&str])], values: &BTreeMap<String, String>) {
    let table = &values.get("table id").cloned().unwrap_or_default();
    let mut prefix = String::new();
    let mut seen = Vec::new();
    // The first two lines are the table's head.
    for line in text.lines().filter_map(|line| line.strip_prefix("| ")).skip(2) {
        let known = rows.iter().find(|(name, _)| line.starts_with(name));
        let (name, pins) = known.unwrap_or_else(|| panic!("nothing computes the row {line}"));
        seen.push(*name);
        let found = cell(line.split(" | ").nth(1).unwrap().trim_end_matches(" |"), table);
        let expected: String = pins.iter().map(|pin| values[*pin].as_str()).collect();
        match found.as_slice() {
            _ if pins.is_empty() => prefix.push_str(&found.concat()),
            // What a statement says, and its hash over that.
            [says, hash] if line.contains(": says, hash |") => {
                let statement = bytes(&format!("{prefix}{says}"));
                assert_eq!(Hasher::new(REMOVAL_HASH).bytes(&statement).finish().to_string(), *hash, "{line}");
                assert_eq!(*hash, expected, "{line}");
            }
            [length, hash] if length.ends_with("bytes") => {
                assert_eq!(format!("{}, {hash}", length.replace("bytes", " bytes")), expected, "{line}");
            }
            [one] => assert_eq!(shown(one), expected, "{line}"),
            many => panic!("{} values in {line}", many.len()),
        }
    }
    let known: Vec<&str> = rows.iter().map(|(name, _)| *name).collect();
    assert_eq!(seen, known);
}

//= T4.3
#[test]
fn deal_of_the_page_is_the_computed_one() {
    let values = snapshot("protocol/tests/table/snapshots/table__vectors__values_of_a_fixed_deal.snap");
    compare(&section("A deal"), &DEAL, &values);
}

#[test]
fn escrow_of_the_page_is_the_computed_one() {
    let file = "protocol/src/crypto/escrow/snapshots/fairdeal_protocol__crypto__escrow__tests__vectors.snap";
    compare(&section("An escrow"), &ESCROW, &snapshot(file));
}

#[test]
fn days_of_the_page_are_the_computed_ones() {
    let text = section("A day of Ivory Tower").replace('\n', " ");
    let key = hex(daily::seed("2026-11-21", 0));
    assert!(text.contains(&format!("the key of the stream for 2026-11-21 with k = 0 is `{key}`.")));
    let [first, second] = ["2026-01-03", "2026-01-04"].map(daily::number);
    let days = format!("On 2026-01-03 k is {first}, on 2026-01-04 it is {second}.");
    assert!(text.contains(&days), "{text}");
    // No other value stands there.
    assert_eq!(Regex::new("[0-9a-f]{16,}").unwrap().find_iter(&text).count(), 1);
}

/// `auditor::a_small_whole_transcript` pins the rows; this is the file as a whole.
#[test]
fn file_of_the_page_is_the_one_that_it_describes() {
    let text = section("A whole transcript");
    let file = fs::read(root().join("docs/vectors/poker.fairdeal")).unwrap();
    let words = text.replace('\n', " ");
    let hash = hex(Sha256::digest(&file));
    assert!(words.contains(&format!("{} bytes, SHA-256 `{hash}`.", file.len())), "{hash}");
    let values = Regex::new("`[0-9a-f]{64}`").unwrap();
    let steps = text.lines().filter(|line| line.starts_with("| ") && values.is_match(line));
    assert_eq!(values.find_iter(&text).count(), 1 + steps.count());
}
