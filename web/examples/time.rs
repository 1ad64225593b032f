//! Times the audit and the recording of a replay, as the page does them, without a browser: `time FILE`.

use std::ops::ControlFlow;
use std::time::Instant;

use fairdeal_protocol::transcript::Transcript;
use fairdeal_session::replay::Reading;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: time FILE")?;
    let bytes = std::fs::read(&path)?;
    let began = Instant::now();
    let mut reading = Reading::new(Transcript::from_bytes(&bytes)?)?;
    let replay = loop {
        match reading.step() {
            ControlFlow::Continue(more) => reading = more,
            ControlFlow::Break(replay) => break replay,
        }
    };
    let took = began.elapsed();
    let fair = replay.report().is_fair();
    println!("{path}: {} bytes, fair: {fair}, checked in {} ms", bytes.len(), took.as_millis());
    Ok(())
}
