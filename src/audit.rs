//! The audit of a transcript on all cores of this machine.
//!
//! The protocol crate has no threads. Here some decode entries and check signatures ahead, a bounded
//! stretch at a time, while the calling thread replays them.

use std::sync::mpsc::sync_channel;
use std::thread;

use fairdeal_protocol::audit::ahead::{audit_ahead, check_ahead};
use fairdeal_protocol::audit::auditor::Report;
use fairdeal_protocol::audit::transcript::Transcript;

use crate::games::AnyGame;

/// How many entries are handed over at once.
const STRETCH: usize = 32;
/// How many stretches a thread may be ahead: bounds the memory, since points take six times their bytes.
const AHEAD: usize = 4;
/// More threads than these would wait for the one that replays.
const MOST_THREADS: usize = 4;

/// Audits a transcript; the report is that of [`fairdeal_protocol::audit::auditor::audit`].
pub fn audit(transcript: &Transcript) -> Report {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    audit_on(transcript, (cores - 1).min(MOST_THREADS))
}

/// The same with that many threads beside the calling one.
pub fn audit_on(transcript: &Transcript, threads: usize) -> Report {
    thread::scope(|scope| {
        let lanes: Vec<_> = (0..threads)
            .map(|lane| {
                let (sender, receiver) = sync_channel(AHEAD);
                scope.spawn(move || {
                    let firsts = (0..transcript.entries().len()).step_by(STRETCH);
                    for first in firsts.skip(lane).step_by(threads) {
                        let part = check_ahead(transcript, first..first + STRETCH);
                        // The audit has ended before the file does.
                        if sender.send(part).is_err() {
                            return;
                        }
                    }
                });
                receiver
            })
            .collect();
        // The stretches lie on the lanes in turn, so the first lane that is done ends them.
        let parts = lanes.iter().cycle().map_while(|lane| lane.recv().ok());
        audit_ahead::<AnyGame>(transcript, parts)
    })
}
