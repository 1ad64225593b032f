//! The sentences of the command line: the help of every command, and the answers of commands that have nothing to do or
//! are given something wrong. A change of words is seen as a change of a snapshot.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::fixture::record;
use super::process::fairdeal;

/// A command as one would type it, with its exit code and all that it printed. What changes from system to system is
/// replaced or left out.
fn said(root: &Path, args: &[&str]) -> String {
    let mut command = fairdeal();
    command.current_dir(root).env("FAIRDEAL_DATA_DIR", root.join("data")).env_remove("COLUMNS");
    let output = command.args(args).output().unwrap();
    let root = root.to_str().unwrap();
    let os_error = regex::Regex::new(r" \(os error \d+\)").unwrap();
    let clean = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes).replace(root, "ROOT");
        os_error.replace_all(&text, "").into_owned()
    };
    let mut text = format!("$ fairdeal {}\n", args.join(" "));
    text.push_str(&clean(&output.stdout));
    text.push_str(&clean(&output.stderr));
    if output.status.code() != Some(0) {
        writeln!(text, "[exit code {:?}]", output.status.code()).unwrap();
    }
    text
}

/// The subcommands that a help page lists.
fn commands(help: &str) -> Vec<String> {
    let Some((_, listed)) = help.split_once("\nCommands:\n") else {
        return Vec::new();
    };
    let names = listed.lines().take_while(|line| !line.is_empty()).filter(|line| !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
    names.map(str::to_owned).collect()
}

fn help(root: &Path, path: &[&str], pages: &mut Vec<String>) {
    let page = said(root, &[path, &["--help"]].concat());
    let inner = commands(&page);
    pages.push(page);
    for name in &inner {
        help(root, &[path, &[name.as_str()]].concat(), pages);
    }
}

#[test]
fn help_of_every_command() {
    let root = TempDir::new().unwrap();
    let mut pages = Vec::new();
    help(root.path(), &[], &mut pages);
    assert!(pages.len() > 25, "{} pages", pages.len());
    insta::assert_snapshot!(pages.join("\n"));
}

#[test]
fn answers_with_nothing_to_tell() {
    let root = TempDir::new().unwrap();
    let cases: &[&[&str]] = &[
        &["history"],
        &["people"],
        &["ratings"],
        &["resume"],
        &["rules"],
        &["puzzle", "--list"],
        &["join", "--meet", "/ip4/127.0.0.1/tcp/1/p2p/12D3KooWPjceQrSwdWXPyLLeABRXmuqt69Rg3sBYbU1Nft9HyQ6X", "--list"],
    ];
    let all: Vec<String> = cases.iter().map(|args| said(root.path(), args)).collect();
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn answers_to_mistakes() {
    let root = TempDir::new().unwrap();
    fs::write(root.path().join("game.fairdeal"), record("loot", 2, &[("target", "5")], 1)).unwrap();
    fs::write(root.path().join("other.fairdeal"), "no game").unwrap();
    fs::write(root.path().join("page.html"), "mine").unwrap();
    let cases: &[&[&str]] = &[
        &["deal"],
        &["play", "poker"],
        &["play", "loot", "--bots", "9"],
        &["play", "ivory-tower", "--bots", "1"],
        &["play", "loot", "--level", "hard"],
        &["play", "loot", "--option", "colour=red"],
        &["play", "loot", "--option", "target=0"],
        &["play", "loot", "--option", "target"],
        &["play", "loot", "--daily"],
        &["play", "ivory-tower", "--daily", "2026-02-30"],
        &["play", "houses-of-thoth", "--practice"],
        &["host", "loot", "--seats", "7"],
        &["host", "loot", "--seats", "2", "--bots", "2"],
        &["host", "loot", "--listen", "here"],
        &["host", "loot", "--relay", "/ip4/10.0.0.1/tcp/4001"],
        &["host", "loot", "--option", "absence=0"],
        &["host", "loot", "--option", "turn-time=5"],
        &["join", "fd1abc"],
        &["join", "somewhere"],
        &["join", "3"],
        &["watch", "/ip4/10.0.0.1/tcp/4001"],
        &["resume", "0123"],
        &["resume", "xyz"],
        &["export", "0123", "-o", "out.fairdeal"],
        &["verify", "missing.fairdeal"],
        &["verify", "other.fairdeal"],
        &["verify", "."],
        &["verify", "game.fairdeal", "--html", "page.html"],
        &["replay", "other.fairdeal", "--plain"],
        &["replay", "game.fairdeal", "--svg", "step.svg", "--step", "9999"],
        &["replay", "game.fairdeal", "--svg", "step.svg", "--seat", "9"],
        &["replay", "game.fairdeal", "--svg", "step.svg", "--seat", "3"],
        &["replay", "game.fairdeal", "--svg", "small.svg", "--size", "1x1"],
        &["replay", "game.fairdeal", "--page", "game.html"],
        &["replay", "game.fairdeal", "--page", "game.html", "--svg", "step.svg"],
        &["ratings", "missing"],
        &["rules", "poker"],
        &["puzzle", "loot", "99"],
        &["solve", "loot"],
        &["people", "name", "Anna", "Ada"],
        &["people", "block", "12D3KooW"],
        &["bot", "duel", "loot", "gentle", "wild"],
        &["bot", "duel", "loot", "gentle", "normal", "--seats", "9"],
        &["bot", "host", "loot", "--exec", ""],
        &["completions", "dos"],
        &["man", "missing/folder"],
        &["relay", "--listen", "here"],
    ];
    let all: Vec<String> = cases.iter().map(|args| said(root.path(), args)).collect();
    insta::assert_snapshot!(all.join("\n"));
}
