#!/bin/bash
# Of three multiaddr libraries, Rust's refuses peer ids that are written as a CID and slashes at the end, and Python's
# refuses /ipfs/; JavaScript's takes all three, but prints two texts for addresses that it holds for equal.
# Everybody meets this who pastes an address of one libp2p program into another one, or compares addresses as text.
#
# multiaddr 0.19.1 (Rust), @multiformats/multiaddr 13.0.3 (JavaScript), multiaddr 0.2.0 (Python). All texts are valid:
# libp2p's specification of peer ids says that implementations must read both forms, and /ipfs/ is the former name of
# /p2p/. Needs cargo, node, npm, python3 and the network.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

peer=12D3KooWD3eckifWpRn9wQpMG9R9hX3sD158z7EqHWmweQAJU5SA
# The same peer as CIDv1 with the codec libp2p-key, in base32 and base36.
base32=bafzaajaiaejcal72gwuz2or47oyxxn6b3rkwdmmkrxgkjxzy3rqt5kczyn7lcm3l
base36=k51qzi5uqu5dhdmyb9bd18pypu2wp5lpv2xnskfmrqa4lb5knqryrotb05e7or
place=/ip4/192.0.2.7/tcp/4001
texts=("$place/p2p/$peer" "$place/p2p/$base32" "$place/p2p/$base36" "$place/p2p/$peer/" "$place/ipfs/$peer")

mkdir -p rust/src
cat >rust/Cargo.toml <<'TOML'
[package]
name = "read"
version = "0.0.0"
edition = "2021"
[dependencies]
multiaddr = "=0.19.1"
TOML
cat >rust/src/main.rs <<'RUST'
fn main() {
    for text in std::env::args().skip(1) {
        println!("{}", if text.parse::<multiaddr::Multiaddr>().is_ok() { "yes" } else { "no" });
    }
}
RUST
cargo build --quiet --manifest-path rust/Cargo.toml

npm install --silent --no-audit --no-fund @multiformats/multiaddr@13.0.3 >/dev/null
cat >read.mjs <<'JS'
import { multiaddr } from '@multiformats/multiaddr'
const read = text => { try { return multiaddr(text) } catch { return undefined } }
const texts = process.argv.slice(2)
for (const text of texts) console.log(read(text) === undefined ? 'no' : 'yes')
const [one, other] = texts.map(read)
console.log(one.equals(other) ? 'equal' : 'different', String(one) === String(other) ? 'same' : 'other')
JS

python3 -m venv python
python/bin/pip install --quiet multiaddr==0.2.0
cat >read.py <<'PY'
import sys
from multiaddr import Multiaddr
for text in sys.argv[1:]:
    try:
        Multiaddr(text)
        print("yes")
    except ValueError:
        print("no")
PY

rust=$(rust/target/debug/read "${texts[@]}" | xargs)
js=$(node read.mjs "${texts[@]}" | xargs)
python=$(python/bin/python read.py "${texts[@]}" | xargs)
echo "base58, CID in base32, CID in base36, slash at the end, /ipfs/"
echo "Rust:       $rust"
echo "JavaScript: $js (base58 and CID compared: as addresses, as text)"
echo "Python:     $python"
[ "$rust" = "yes no no no yes" ]
[ "$js" = "yes yes yes yes yes equal other" ]
[ "$python" = "yes yes yes yes no" ]
