//! Libraries of the lock file that this machine builds. Checks their licences against the list in `deny.toml`, and the
//! Rust they need against the version in `Cargo.toml`. `cargo deny` and a build with the old toolchain check more, but
//! are not on every machine.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use spdx::expression::Expression;
use spdx::{LicenseReq, ParseMode};
use toml::Table;

fn table(name: &str) -> Table {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    fs::read_to_string(path).unwrap().parse().unwrap()
}

fn output(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    String::from_utf8(output.stdout).unwrap()
}

/// Cargo's metadata of each package built on this machine, including our own.
fn packages() -> Vec<Value> {
    let version = output(Command::new("rustc").arg("-vV"));
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let text = output(
        Command::new(env!("CARGO"))
            .args(["metadata", "--locked", "--format-version", "1"])
            .args(["--filter-platform", host])
            .current_dir(env!("CARGO_MANIFEST_DIR")),
    );
    let mut metadata: Value = serde_json::from_str(&text).unwrap();
    let Value::Array(packages) = metadata["packages"].take() else {
        panic!("cargo metadata has packages");
    };
    // The metadata also lists packages that only unused features need.
    let tree = output(
        Command::new(env!("CARGO"))
            .args(["tree", "--locked", "--workspace"])
            .args(["--prefix", "none", "--format", "{p}"])
            .current_dir(env!("CARGO_MANIFEST_DIR")),
    );
    let built: BTreeSet<(&str, &str)> = tree
        .lines()
        .filter_map(|line| {
            let mut words = line.split(' ');
            Some((words.next()?, words.next()?.trim_start_matches('v')))
        })
        .collect();
    let is_built = |package: &Value| {
        let name = package["name"].as_str().unwrap();
        built.contains(&(name, package["version"].as_str().unwrap()))
    };
    let packages: Vec<Value> = packages.into_iter().filter(is_built).collect();
    assert!(packages.len() > 100, "{} packages", packages.len());
    packages
}

/// Licences under one key of `deny.toml`.
fn licences(value: &toml::Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect()
}

/// Whether a package's licence, an SPDX expression, is allowed.
fn may_use(licence: &str, allowed: &[&[String]]) -> bool {
    let parsed = Expression::parse_mode(licence, ParseMode::LAX).unwrap();
    let is_allowed = |required: &LicenseReq| allowed.concat().contains(&required.to_string());
    parsed.evaluate(is_allowed)
}

#[test]
fn every_licence_is_allowed() {
    let deny = table("deny.toml");
    let allowed = licences(&deny["licenses"]["allow"]);
    let mut exceptions = BTreeMap::new();
    for exception in deny["licenses"]["exceptions"].as_array().unwrap() {
        exceptions.insert(exception["crate"].as_str().unwrap(), licences(&exception["allow"]));
    }
    for package in packages() {
        let name = package["name"].as_str().unwrap();
        let licence = package["license"].as_str().unwrap_or_default();
        let excepted = exceptions.get(name).map_or(&[][..], Vec::as_slice);
        assert!(
            may_use(licence, &[&allowed, excepted]),
            "{name} has the licence '{licence}', which deny.toml does not allow"
        );
    }
}

#[test]
fn a_denied_licence_is_refused() {
    let allowed = ["MIT".to_owned()];
    assert!(may_use("GPL-3.0 OR MIT", &[&allowed]));
    assert!(!may_use("GPL-3.0 AND MIT", &[&allowed]));
    assert!(!may_use("AGPL-3.0", &[&allowed]));
}

/// Major and minor version numbers.
fn version(text: &str) -> (u32, u32) {
    let mut numbers = text.split('.').map(|number| number.parse().unwrap());
    (numbers.next().unwrap(), numbers.next().unwrap())
}

#[test]
fn no_library_needs_a_newer_rust() {
    let manifest = table("Cargo.toml");
    let promised = manifest["workspace"]["package"]["rust-version"].as_str().unwrap();
    for package in packages() {
        if let Some(needed) = package["rust_version"].as_str() {
            assert!(
                version(needed) <= version(promised),
                "{} needs Rust {needed}; Cargo.toml promises {promised}",
                package["name"]
            );
        }
    }
}
