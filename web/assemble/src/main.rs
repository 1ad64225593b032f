//! Puts the page into HTML files of their own: `assemble MODULE.wasm FOLDER`. `just page` builds the module first.
//!
//! The module is in the page as base64 of gzip, and the browser unpacks it. The content security policy names the one
//! style sheet and the one script by their SHA-256, and forbids everything else. `table.html` differs from `fairdeal.html`
//! in its policy alone: it may open WebSockets, and so sit down at tables.

use std::io::Write as _;
use std::path::PathBuf;
use std::{env, fs};

use data_encoding::BASE64;
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};

const PAGE: &str = include_str!("../../page/page.html");
const STYLE: &str = include_str!("../../page/page.css");
const SCRIPT: &str = include_str!("../../page/page.js");
const WORKER: &str = include_str!("../../page/worker.js");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut paths = env::args().skip(1).map(PathBuf::from);
    let (Some(module), Some(folder)) = (paths.next(), paths.next()) else {
        return Err("usage: assemble MODULE.wasm FOLDER".into());
    };
    let module = fs::read(module)?;
    // Without a time or a name, the same module gives the same page.
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(&module)?;
    let packed = packed.finish()?;
    let packed = BASE64.encode(&packed);
    fs::create_dir_all(&folder)?;
    for (name, connections) in [("fairdeal.html", "'none'"), ("table.html", "ws: wss:")] {
        let policy = format!(
            "default-src 'none'; script-src '{}' 'wasm-unsafe-eval'; style-src '{}'; worker-src blob:; connect-src \
             {connections}; base-uri 'none'; form-action 'none'",
            hash(SCRIPT),
            hash(STYLE),
        );
        let parts = [
            ("{{policy}}", policy.as_str()),
            ("{{style}}", STYLE),
            ("{{script}}", SCRIPT),
            ("{{worker}}", WORKER),
            ("{{module}}", &packed),
        ];
        let html = parts.into_iter().fold(PAGE.to_owned(), |html, (place, part)| html.replacen(place, part, 1));
        let path = folder.join(name);
        fs::write(&path, &html)?;
        let mut sent = GzEncoder::new(Vec::new(), Compression::best());
        sent.write_all(html.as_bytes())?;
        let (path, sent) = (path.display(), sent.finish()?.len());
        println!("{path}: module {} bytes, page {} bytes, by gzip {sent} bytes", module.len(), html.len());
    }
    Ok(())
}

/// A source of the policy: the hash of a script or a style sheet.
fn hash(text: &str) -> String {
    format!("sha256-{}", BASE64.encode(&Sha256::digest(text)))
}
