//! The same sessions give the same bytes of every message, journal and transcript here and as WebAssembly, which `node`
//! runs. `FAIRDEAL_TABLES=100` compares more evenings. `just page` builds the module.

#![allow(clippy::unwrap_used)]

#[path = "../../tests/fixture/built.rs"]
mod built;
#[path = "../../tests/fixture/require.rs"]
mod require;

use std::process::Command;
use std::time::Instant;

use fairdeal_session::testing::evening::Evening;

/// Evenings in a plain test run.
const EVENINGS: u32 = 6;

/// Prints the digest of each evening as hexadecimal digits, and how many milliseconds it took.
const SCRIPT: &str = "
const bytes = require('fs').readFileSync(process.argv[1]);
WebAssembly.instantiate(bytes, {}).then(({ instance }) => {
    for (let seed = 0; seed < Number(process.argv[2]); seed += 1) {
        const began = performance.now();
        const place = instance.exports.evening(seed);
        const took = performance.now() - began;
        console.log(Buffer.from(instance.exports.memory.buffer, place, 32).toString('hex'), took);
    }
});
";

#[test]
fn evenings_are_the_same_as_webassembly() {
    let module = built::built("wasm32-unknown-unknown/web/fairdeal_evenings.wasm");
    if Command::new("node").arg("--version").output().is_err() {
        return require::skip("node", "it does not start");
    }
    if !module.exists() {
        return require::skip("browser", "just page has built no module");
    }
    let count = std::env::var("FAIRDEAL_TABLES").ok().and_then(|count| count.parse().ok()).unwrap_or(EVENINGS);
    let output = Command::new("node").args(["-e", SCRIPT]).arg(&module).arg(count.to_string()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let there: Vec<&str> = text.lines().collect();
    assert_eq!(there.len(), usize::try_from(count).unwrap(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut times = (0.0, 0.0);
    for (seed, there) in (0..count).zip(there) {
        let (there, took) = there.split_once(' ').unwrap();
        let began = Instant::now();
        let mut evening = Evening::new(seed.into());
        evening.run();
        let here: String = evening.digest().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(here, there, "evening {seed}");
        times.0 += began.elapsed().as_secs_f64() * 1000.0;
        times.1 += took.parse::<f64>().unwrap();
    }
    println!("{count} evenings: {:.0} ms here, {:.0} ms as WebAssembly", times.0, times.1);
}
