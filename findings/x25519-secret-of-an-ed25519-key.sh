#!/bin/bash
# ed25519-dalek and libsodium turn the same Ed25519 key into an X25519 key with the same public half but other secret bytes:
# the first leaves the five bits that X25519 clamps as they are, the second clamps them.
# Everybody meets this who moves such a secret between programs, stores a hash of it, or compares test vectors.
#
# ed25519-dalek 3.0.0 with x25519-dalek 3.0.0 (Rust), PyNaCl 1.5.0 (libsodium 1.0.18). Both derive valid keys: RFC 7748 lets
# every implementation clamp when it uses the secret, so both agree with any peer. Needs cargo, python3 and the network.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

seed=9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60 # the secret key of RFC 8032's first test
peer=0900000000000000000000000000000000000000000000000000000000000000 # the base point as somebody's public key

mkdir -p rust/src
cat >rust/Cargo.toml <<'TOML'
[package]
name = "convert"
version = "0.0.0"
edition = "2021"
[dependencies]
ed25519-dalek = { version = "=3.0.0", features = ["hazmat"] }
x25519-dalek = { version = "=3.0.0", features = ["static_secrets"] }
TOML
cat >rust/src/main.rs <<'RUST'
fn bytes(text: &str) -> [u8; 32] {
    core::array::from_fn(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap())
}
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let key = ed25519_dalek::SigningKey::from_bytes(&bytes(&args[1]));
    let secret = x25519_dalek::StaticSecret::from(key.to_scalar_bytes());
    println!("secret {}", hex(&key.to_scalar_bytes()));
    println!("public {}", hex(&key.verifying_key().to_montgomery().to_bytes()));
    println!("shared {}", hex(secret.diffie_hellman(&bytes(&args[2]).into()).as_bytes()));
}
RUST
cargo build --quiet --manifest-path rust/Cargo.toml
rust/target/debug/convert "$seed" "$peer" >dalek

python3 -m venv venv
venv/bin/pip install --quiet pynacl==1.5.0
venv/bin/python - "$seed" "$peer" >sodium <<'PY'
import sys
from nacl import bindings
from nacl.signing import SigningKey

key = SigningKey(bytes.fromhex(sys.argv[1]))
secret = bytes(key.to_curve25519_private_key())
print("secret", secret.hex())
print("public", bytes(key.verify_key.to_curve25519_public_key()).hex())
print("shared", bindings.crypto_scalarmult(secret, bytes.fromhex(sys.argv[2])).hex())
PY

paste -d '\n' dalek sodium
# Seen: the secrets differ in the first and the last byte, the rest is the same.
same() { [ "$(grep "^$1 " dalek)" = "$(grep "^$1 " sodium)" ]; }
same public && same shared && ! same secret
