#!/bin/bash
# A child that SIGINT ends in a terminal has exit code 1 by Rust's portable-pty, as an ordinary failure has, 0 by
# JavaScript's node-pty, as a success has, and none by Python's pexpect; portable-pty also gives no number of the signal.
# Everybody meets this who runs a program in a terminal and tells by its exit code whether it failed, was stopped or is done.
#
# portable-pty 0.9.0 (Rust), @lydell/node-pty 1.1.0 (the published build of Microsoft's node-pty), pexpect 4.9.0 (Python), on
# Linux. Needs cargo, node, npm, python3 and the network.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

mkdir -p rust/src
cat >rust/Cargo.toml <<'TOML'
[package]
name = "codes"
version = "0.0.0"
edition = "2021"
[dependencies]
portable-pty = "=0.9.0"
TOML
cat >rust/src/main.rs <<'RUST'
use portable_pty::{CommandBuilder, PtySize, native_pty_system};
fn main() {
    for script in std::env::args().skip(1) {
        let pair = native_pty_system().openpty(PtySize::default()).unwrap();
        let mut command = CommandBuilder::new("sh");
        command.args(["-c", &script]);
        let status = pair.slave.spawn_command(command).unwrap().wait().unwrap();
        println!("{} {}", status.exit_code(), status.signal().unwrap_or("-"));
    }
}
RUST
cargo build --quiet --manifest-path rust/Cargo.toml

npm install --silent --no-audit --no-fund @lydell/node-pty@1.1.0 >/dev/null
cat >codes.mjs <<'JS'
import pty from '@lydell/node-pty'
for (const script of process.argv.slice(2)) {
  const child = pty.spawn('sh', ['-c', script], {})
  const { exitCode, signal } = await new Promise(done => child.onExit(done))
  console.log(exitCode, signal === undefined || signal === 0 ? '-' : signal)
}
process.exit()
JS

python3 -m venv python
python/bin/pip install --quiet pexpect==4.9.0
cat >codes.py <<'PY'
import sys, pexpect
for script in sys.argv[1:]:
    child = pexpect.spawn("sh", ["-c", script])
    child.expect(pexpect.EOF)
    child.close()
    print(child.exitstatus if child.exitstatus is not None else "none", child.signalstatus or "-")
PY

scripts=('exit 0' 'exit 1' 'kill -INT $$' 'kill -HUP $$')
{
    echo "portable-pty: $(rust/target/debug/codes "${scripts[@]}" | paste -sd';')"
    echo "node-pty: $(node codes.mjs "${scripts[@]}" | paste -sd';')"
    echo "pexpect: $(python/bin/python codes.py "${scripts[@]}" | paste -sd';')"
} | tee seen
cat >expected <<'TEXT'
portable-pty: 0 -;1 -;1 Interrupt;1 Hangup
node-pty: 0 -;1 -;0 2;0 1
pexpect: 0 -;1 -;none 2;none 1
TEXT
diff expected seen
