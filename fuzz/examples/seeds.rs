//! Writes the seeds of the corpus: `cargo run -p fairdeal-fuzz --example seeds`. Files of other names
//! (what a fuzzer has found) are left alone.

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
