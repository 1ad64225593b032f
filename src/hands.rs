//! Threads that carry out the pieces of an audit: one for each free core beside the thread that audits.
//!
//! The auditing thread lends a hand whenever it has to wait. A thread that panics says that its piece has failed; the
//! audit then reads everything in order, where the same panic ends the program as any other.

use std::collections::VecDeque;
use std::fmt;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use fairdeal_protocol::audit::pieces::{Alone, Done, Hands, Piece};

/// The most threads of one audit. More would wait for the replay.
const MOST: usize = 8;

/// Hands for an audit on this machine: threads for its cores, or the caller's alone if it has only one.
pub fn hands() -> Box<dyn Hands> {
    let cores = thread::available_parallelism().map_or(1, NonZero::get).min(MOST);
    if cores > 1 { Box::new(Threads::new(cores - 1)) } else { Box::new(Alone::default()) }
}

/// Threads beside the caller's.
struct Threads {
    queue: Arc<Queue>,
    done: Receiver<Done>,
    /// The pieces whose results were not taken.
    out: usize,
}

/// The pieces that nobody has begun.
#[derive(Default)]
struct Queue {
    pieces: Mutex<Waiting>,
    bell: Condvar,
}

#[derive(Default)]
struct Waiting {
    pieces: VecDeque<Piece>,
    /// Whether the audit is over.
    closed: bool,
}

impl Queue {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        // Nothing panics while it is held.
        self.pieces.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next piece; waits for one until the audit is over.
    fn next(&self) -> Option<Piece> {
        let idle = |waiting: &mut Waiting| waiting.pieces.is_empty() && !waiting.closed;
        let mut waiting = self.bell.wait_while(self.waiting(), idle).unwrap_or_else(PoisonError::into_inner);
        if waiting.closed { None } else { waiting.pieces.pop_front() }
    }
}

impl Threads {
    fn new(count: usize) -> Self {
        let (queue, (tell, done)) = (Arc::new(Queue::default()), channel());
        for _ in 0..count {
            let (queue, tell): (Arc<Queue>, Sender<Done>) = (Arc::clone(&queue), tell.clone());
            // Where no thread can be had, the caller's does it all.
            let _ = thread::Builder::new().name("audit".to_owned()).spawn(move || {
                while let Some(piece) = queue.next() {
                    let done = catch_unwind(AssertUnwindSafe(|| piece.carry_out()));
                    if tell.send(done.unwrap_or_else(|_| Done::failed())).is_err() {
                        return;
                    }
                }
            });
        }
        Self { queue, done, out: 0 }
    }
}

impl Hands for Threads {
    fn give(&mut self, piece: Piece) {
        self.out += 1;
        self.queue.waiting().pieces.push_back(piece);
        self.queue.bell.notify_one();
    }

    fn take(&mut self, wait: bool) -> Option<Done> {
        let finished = self.done.try_recv().ok();
        let done = match finished {
            Some(done) => done,
            None if !wait || self.out == 0 => return None,
            None => {
                let piece = self.queue.waiting().pieces.pop_front();
                match piece {
                    Some(piece) => piece.carry_out(),
                    None => self.done.recv().ok()?,
                }
            }
        };
        self.out -= 1;
        Some(done)
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        let mut waiting = self.queue.waiting();
        waiting.closed = true;
        // What they hold may be the last of a whole log.
        waiting.pieces.clear();
        self.queue.bell.notify_all();
    }
}

impl fmt::Debug for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Threads({} pieces out)", self.out)
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::ops::ControlFlow;

    use fairdeal_games::AnyGame;
    use fairdeal_protocol::audit::auditor::{Audit, Report};
    use fairdeal_protocol::audit::pieces::Slice;
    use fairdeal_protocol::transcript::Transcript;

    use super::*;

    fn report(audit: Audit<AnyGame>) -> Report {
        let Ok(report) = audit.run(&mut |_| ControlFlow::<Infallible>::Continue(()));
        report
    }

    /// With as many threads as there may be, with none at all, and with files that are not as they were.
    #[test]
    fn the_report_does_not_depend_on_threads() {
        let bytes = std::fs::read("tests/it/transcripts/loot.fairdeal").unwrap();
        let mut unfair = 0;
        for place in std::iter::once(None).chain((2000..bytes.len()).step_by(1500).map(Some)) {
            let mut damaged = bytes.clone();
            if let Some(byte) = place.and_then(|place| damaged.get_mut(place)) {
                *byte ^= 4;
            }
            let Ok(transcript) = Transcript::from_bytes(&damaged) else { continue };
            let in_order = report(Audit::in_order(transcript.clone()).unwrap());
            assert_eq!(in_order.is_fair(), place.is_none());
            unfair += usize::from(!in_order.is_fair());
            for threads in [0, 1, 3, MOST] {
                let hands = Box::new(Threads::new(threads));
                let with_threads = report(Audit::with(transcript.clone(), hands).unwrap());
                assert_eq!(with_threads, in_order, "{place:?}, {threads} threads");
            }
            for of in 2..5 {
                let of = NonZero::new(of).unwrap();
                assert!(Slice::new(of.get(), of).is_none());
                let slice = |number| Box::new(Slice::new(number, of).unwrap());
                let reports =
                    (0..of.get()).map(|number| report(Audit::with(transcript.clone(), slice(number)).unwrap()));
                let (fair, unfair): (Vec<Report>, Vec<Report>) = reports.partition(Report::is_fair);
                assert_eq!(unfair.is_empty(), place.is_none(), "{place:?}, {of} slices");
                assert!(
                    unfair.iter().all(|report| *report == in_order)
                        && fair.iter().all(|report| report.log == fair[0].log)
                );
            }
        }
        assert!(unfair > 10, "{unfair}");
    }

    /// Whoever stops an audit waits for no piece that nobody has begun.
    #[test]
    fn an_audit_can_be_dropped_in_the_middle() {
        let bytes = std::fs::read("tests/it/transcripts/houses-of-thoth.fairdeal").unwrap();
        let transcript = Transcript::from_bytes(&bytes).unwrap();
        let hands = Threads::new(2);
        let queue = Arc::downgrade(&hands.queue);
        let mut audit = Audit::<AnyGame>::with(transcript, Box::new(hands)).unwrap();
        for _ in 0..20 {
            audit.step().unwrap();
        }
        drop(audit);
        let left = queue.upgrade().is_none_or(|queue| queue.waiting().pieces.is_empty());
        assert!(left, "pieces are left to do");
    }
}
