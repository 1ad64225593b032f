//! Writes the seeds of the corpus: `cargo run -p fairdeal-fuzz --example seeds`. Leaves other files alone, such as a
//! fuzzer's findings.

use std::path::Path;

fn main() -> std::io::Result<()> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    for seed in fairdeal_fuzz::seeds::all() {
        let folder = corpus.join(seed.target);
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join(&seed.name), &seed.bytes)?;
    }
    Ok(())
}
